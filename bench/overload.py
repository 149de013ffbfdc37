#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Measures the goodput under three times the load that the CPU can serve.

Usage: bench/overload.py --build BUILD [--daemon NAILUPD] [--unbound UNBOUND] [--kind miss|hit]
       [--seconds 8] [--times 3] [--nice N | --realtime] [--share PERCENT]

The server has one worker and one CPU; the load and the upstream have another. There they cannot send and answer
three times the queries that a worker can serve, because the sender of a datagram pays for its way through the
kernel. So another process takes a part of the server's CPU, some milliseconds at a time: the server has 20 % of it
for hits and 40 % for misses (--share). The capacity is the highest rate at which clients that wait a quarter of a
second lose less than 1 %. The short wait keeps a queue from counting as capacity. Doubling and halving finds the
capacity. Then --times as many queries come: 99 % from four large clients, and 1 % from a small one. These clients wait
three seconds.

  goodput   queries answered with NOERROR in time, in percent of the capacity
  p99       of all queries that were answered
  small     queries of the small client without an answer, in percent
  late      the p99 of the time by which the generator was late; if it is long, the figures measure the generator

Exits 1 unless goodput is 90 % or more, p99 below 500 ms and the small client loses less than 5 %.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile

import stage_common as stage
from hit_miss import UNBOUND_CONF
from stage_common import free_port

LARGE, SMALL = [f"127.0.66.{i}" for i in range(1, 5)], "127.0.0.2"
PATIENCE_MS, CAPACITY_PATIENCE_MS = 3000, 250
CAPACITY_LOSS = 0.01
SHARES = {"hit": 20, "miss": 40}  # percent of its CPU that the server has
CAPACITY_STEPS = 5  # of halving, after doubling
NAMES = {"miss": ["--unique"], "hit": ["--zipf", "0", "--names", "1000", "--suffix", "hot.example"]}


BURDEN_MS = 5  # how long the burden lets the server run at a time
PRIORITY = 10  # of realtime processes; the burden has one more
SPIN = """
import sys, time
spin, rest = (float(word) / 1e3 for word in sys.argv[1:])
while True:
    until = time.perf_counter() + spin
    while time.perf_counter() < until:
        pass
    time.sleep(rest)
"""


def on_cpu(cpu):
    return ["taskset", "-c", str(cpu)] if (os.cpu_count() or 1) > 1 else []


class Burden(stage.Process):
    """Takes CPU from the server and leaves it only a share."""

    def __init__(self, share, is_realtime):
        rest_ms = BURDEN_MS * share / 100
        self.process = subprocess.Popen([*on_cpu(0), sys.executable, "-c", SPIN, str(BURDEN_MS - rest_ms), str(rest_ms)])
        try:
            if is_realtime:
                os.sched_setscheduler(self.pid, os.SCHED_FIFO, os.sched_param(PRIORITY + 1))
            else:
                os.setpriority(os.PRIO_PROCESS, self.pid, -20)
        except PermissionError:
            self.stop()
            stage.give_up("a share of the CPU takes CAP_SYS_NICE")


class Loads:
    """Loads that run at the same time, with their reports."""

    def __init__(self, bench, port, kind):
        self.command = [*on_cpu(1), bench, "load", "--server", f"127.0.0.1@{port}", "--json", "--quiet",
                        "--connections", "16", "--in-flight", "16384", *NAMES[kind]]

    def run(self, *loads, patience_ms=PATIENCE_MS):
        """Runs loads, each given as (rate, seconds, sources)."""
        running = []
        for rate, seconds, sources in loads:
            words = [word for source in sources for word in ("--source", source)]
            running.append(subprocess.Popen([*self.command, *words, "--rate", str(rate), "--duration", str(seconds),
                                             "--timeout", str(patience_ms)],
                                            stdout=subprocess.PIPE, text=True))
        return [json.loads(process.communicate()[0]) for process in running]


def answered(report):
    return report["rcodes"].get("NOERROR", 0)


def lost(report):
    return 1 - answered(report) / report["sent"]


def capacity(loads, seconds, start):
    """Returns how many queries a second the server answers."""
    def holds_at(rate):
        return lost(loads.run((rate, seconds, LARGE), patience_ms=CAPACITY_PATIENCE_MS)[0]) < CAPACITY_LOSS

    low, high = 0, start
    while holds_at(high):
        low, high = high, 2 * high
    for _ in range(CAPACITY_STEPS):
        rate = (low + high) / 2
        if holds_at(rate):
            low = rate
        else:
            high = rate
    return low


def overload(loads, most, args):
    rate = args.times * most
    large, small = loads.run((rate * 0.99, args.seconds, LARGE), (rate * 0.01, args.seconds, [SMALL]))
    goodput = (answered(large) + answered(small)) / args.seconds
    p99 = max(report["latency_us"]["p99"] for report in (large, small)) / 1e3
    late = max(report["send_lag_us"]["p99"] for report in (large, small)) / 1e3
    return {"late_ms": late, "capacity": most, "goodput_percent": 100 * goodput / most, "p99_ms": p99,
            "small_lost_percent": 100 * lost(small), "large_lost_percent": 100 * lost(large)}


def unbound(args, folder, upstream):
    port = free_port()
    text = UNBOUND_CONF.format(port=port, bundle="", directory=folder, name="Unbound", upstream=upstream.port, hash_name="",
                               tcp="no", tls="no")
    return stage.Peer("Unbound", folder, text, [*args.wrapper, args.unbound, "-d", "-c", "{conf}"], port)


def servers(args, folder, upstream):
    """Yields (name, context). The context starts a server and gives its port."""
    zones = [{"name": ".", "upstreams": upstream.servers}]
    limits = {"workers": 1, "max-waiting": 100000, "max-waiting-per-client": 100000}
    yield "nailupd", lambda: stage.Nailupd(
        args.daemon or args.programs.nailupd, folder, {"server": limits, "forward-zones": zones},
        nailupctl=args.programs.nailupctl, wrapper=args.wrapper)
    if args.unbound:
        yield "Unbound", lambda: unbound(args, folder, upstream)


def measure(args, make, kind):
    share = args.share or SHARES[kind]
    with make() as server, Burden(share, args.realtime) if share < 100 else contextlib.nullcontext():
        loads = Loads(args.programs.bench, server.port, kind)
        if kind == "hit":
            loads.run((2000, 2, LARGE))
        most = capacity(loads, args.capacity_seconds, args.start)
        result = overload(loads, most, args)
    return result


def holds(result):
    return (result["goodput_percent"] >= 90 and result["p99_ms"] < 500 and result["small_lost_percent"] < 5)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build", required=True, help="build folder of nailup")
    add("--daemon", help="another nailupd, for example a slow one that was built with a sanitizer")
    add("--unbound", help="path of an Unbound to measure as well")
    add("--kind", choices=list(NAMES), action="append", help="kind of queries (miss)")
    add("--seconds", type=float, default=8, help="seconds of the overload")
    add("--capacity-seconds", type=float, default=1.5, help="seconds of each step")
    add("--times", type=float, default=3)
    add("--start", type=float, default=2000, help="the first rate, in queries a second")
    add("--nice", type=int, help="nice value of all programs that the script starts; below 0 needs CAP_SYS_NICE")
    add("--realtime", action="store_true",
        help="take precedence over all other programs; needs CAP_SYS_NICE, and the kernel takes back a twentieth of a full CPU")
    add("--share", type=int, help="percent of its CPU that the server gets (hits: 20, misses: 40)")
    add("--json", action="store_true")
    args = parser.parse_args()
    args.programs = stage.Programs(args.build)
    args.wrapper = on_cpu(0)
    if args.nice is not None:
        os.nice(args.nice)
    if args.realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        except PermissionError:
            stage.give_up("--realtime takes CAP_SYS_NICE")
    return args


def main():
    args = parse_arguments()
    rows = []
    with tempfile.TemporaryDirectory(prefix="overload-") as folder, contextlib.ExitStack() as stack:
        upstream = stack.enter_context(stage.Responder(args.programs.bench, folder, ["127.0.0.1"]))
        for kind in args.kind or ["miss"]:
            for name, make in servers(args, folder, upstream):
                rows.append({"server": name, "kind": kind, **measure(args, make, kind)})
    if args.json:
        print(json.dumps(rows, indent=1))
    else:
        print("| server | queries | capacity a second | goodput % of it | p99 ms | small client lost % | large ones % "
              "| generator late ms |\n|---|---|---|---|---|---|---|---|")
        for row in rows:
            print(f"| {row['server']} | {row['kind']} | {row['capacity']:.0f} | {row['goodput_percent']:.0f} | "
                  f"{row['p99_ms']:.0f} | {row['small_lost_percent']:.1f} | {row['large_lost_percent']:.1f} | {row['late_ms']:.0f} |")
    return 0 if all(holds(row) for row in rows if row["server"] == "nailupd") else 1


if __name__ == "__main__":
    sys.exit(main())
