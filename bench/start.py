#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Milliseconds from exec to the first answered query, with 1,000 zones and 10,000 prefixes.

Usage: bench/start.py --build BUILD [--starts 21] [--zones 1000] [--prefixes 10000] [--quick]

nailupd with all zones and prefixes, nailupd with one zone, and Unbound with as many forward zones take turns.
The query is a miss: the server forwards it to a responder at loopback and returns its answer. The script repeats
it each millisecond until then. CPU is that of all threads until the answer; user and system cover the whole life
with the shutdown, from wait4(2).

Exits 1 if the median of nailupd with all zones and prefixes is above 100 ms.
"""

import argparse
import os
import socket
import statistics
import sys
import tempfile
import time

import stage_common as stage

GOAL_MS = 100
RETRY_S = 0.001
PATIENCE_S = 30

UNBOUND_CONF = """\
server:
  interface: 127.0.0.1@{port}
  port: {port}
  num-threads: 1
  module-config: "iterator"
  do-not-query-localhost: no
  use-syslog: no
  username: ""
  chroot: ""
  directory: "{folder}"
  pidfile: ""
remote-control:
  control-enable: no
"""


def zone_names(count):
    return [f"zone{number}.start.example" for number in range(count)]


def upstream_of(number, responder):
    """Returns an upstream. The first zone's is the responder; the others are unused ports on loopback."""
    ip = responder.addresses[0] if number == 0 else f"127.1.{number >> 8 & 255}.{number & 255}"
    return f"{ip}@{responder.port}"


def prefixes(count):
    return [f"10.{number >> 8 & 255}.{number & 255}.0/{24 + (number >> 16)}" for number in range(count)]


def our_config(responder, zones, prefix_count):
    return {
        "tcp-upstream-keepalive": prefixes(prefix_count),
        "forward-zones": [{"name": name, "upstreams": [upstream_of(number, responder)]}
                          for number, name in enumerate(zone_names(zones))]}


def unbound_config(responder, zones, port, folder):
    parts = [UNBOUND_CONF.format(port=port, folder=folder)]
    for number, name in enumerate(zone_names(zones)):
        parts.append(f'forward-zone:\n  name: "{name}"\n  forward-addr: {upstream_of(number, responder)}\n')
    return "".join(parts)


def await_first(port, process):
    """Waits for the first answer. Returns its instant, or None."""
    name, until = f"first.{zone_names(1)[0]}", time.monotonic() + PATIENCE_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", port))
        client.settimeout(RETRY_S)
        while time.monotonic() < until and process.poll() is None:
            try:
                client.send(stage.make_query(name))
                if client.recv(4096)[3] & 15 == 0:
                    return time.monotonic()
            except ConnectionRefusedError:
                time.sleep(RETRY_S)  # the server has not opened the port yet
            except OSError:
                continue
    return None


def measure(server):
    """Starts a new server once. Returns milliseconds: wall, CPU, user, system."""
    process = server.process
    answered_at = await_first(server.port, process)
    if answered_at is None:
        server.stop()
        stage.give_up("a server did not answer")
    cpu_ms = stage.cpu_us(process.pid) / 1e3
    process.terminate()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {"wall": (answered_at - server.started_at) * 1e3, "cpu": cpu_ms,
            "user": usage.ru_utime * 1e3, "system": usage.ru_stime * 1e3}


def cases(args, programs, responder, folder):
    """Returns (name, a function that starts the server) for each case."""
    def ours(zones, prefix_count):
        return lambda: stage.Nailupd(programs.nailupd, folder, our_config(responder, zones, prefix_count))

    yield f"nailupd, {args.zones} zones, {args.prefixes} prefixes", ours(args.zones, args.prefixes)
    yield f"nailupd, {args.zones} zones", ours(args.zones, 0)
    yield f"nailupd, 1 zone, {args.prefixes} prefixes", ours(1, args.prefixes)
    yield "nailupd, 1 zone", ours(1, 0)
    if args.unbound == "none":
        return
    program = args.unbound or stage.find_program("unbound", "unbound")

    def unbound():
        port = stage.free_port()
        return stage.Peer("unbound", folder, unbound_config(responder, args.zones, port, folder),
                          [program, "-d", "-c", "{conf}"], port)
    yield f"Unbound, {args.zones} forward zones", unbound


def show(results):
    print("| server | median ms | max ms | CPU ms to the answer | user ms in all | system ms in all |\n"
          "|---|---|---|---|---|---|")
    for name, starts in results.items():
        medians = {key: statistics.median(one[key] for one in starts) for key in starts[0]}
        print(f"| {name} | {medians['wall']:.1f} | {max(one['wall'] for one in starts):.1f} | "
              f"{medians['cpu']:.1f} | {medians['user']:.1f} | {medians['system']:.1f} |")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder of nailup")
    parser.add_argument("--starts", type=int, default=21, help="starts of each server")
    parser.add_argument("--zones", type=int, default=1000)
    parser.add_argument("--prefixes", type=int, default=10_000)
    parser.add_argument("--unbound", help="path of Unbound, or 'none' to leave it out")
    parser.add_argument("--quick", action="store_true", help="start each server once, only to show that the script works")
    args = parser.parse_args()
    args.starts = 1 if args.quick else args.starts
    return args


def main():
    args = parse_arguments()
    programs = stage.Programs(args.build)
    with tempfile.TemporaryDirectory(prefix="start-") as folder, \
            stage.Responder(programs.bench, folder, ["127.0.0.2"]) as responder:
        servers = list(cases(args, programs, responder, folder))
        results = {name: [] for name, _ in servers}
        for _ in range(args.starts):
            for name, begin in servers:
                results[name].append(measure(begin()))
    show(results)
    wall = statistics.median(one["wall"] for one in next(iter(results.values())))
    print(f"\nfirst answer after {wall:.1f} ms; goal {GOAL_MS} ms")
    return 0 if wall <= GOAL_MS else 1


if __name__ == "__main__":
    sys.exit(main())
