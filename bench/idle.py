#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Latency of queries that come after a pause: over connections kept open, and over connections that must be
dialled.

Usage: bench/idle.py --build BUILD [--delay 1] [--every 10] [--idle-timeout 5] [--upstreams 100]
                     [--rounds 6] [--quick]

Five servers ask each of a hundred upstreams 1 ms away once in ten seconds: over UDP, over nailed TCP and DoT,
and over TCP and DoT with connections that close after five seconds without a query. Answers have a TTL of 0, so
each query is a miss. TLS sessions are resumed.

Exits 1 if the p99 of nailed DoT is above a third of that of DoT on demand.
"""

import argparse
import contextlib
import pathlib
import subprocess
import sys
import tempfile

import stage_common as stage
import tls_stage

GOAL = 1 / 3
WAYS = [("UDP", "udp", False), ("TCP, nailed", "tcp", True), ("DoT, nailed", "tls", True),
        ("TCP, on demand", "tcp", False), ("DoT, on demand", "tls", False)]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--delay", type=float, default=1, help="round trip in ms (1)")
    parser.add_argument("--every", type=float, default=10, help="seconds between two queries to an upstream")
    parser.add_argument("--idle-timeout", type=float, default=5, help="seconds until a connection on demand closes")
    parser.add_argument("--upstreams", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=6, help="queries to each upstream (6)")
    parser.add_argument("--quick", action="store_true", help="only show that the script works")
    args = parser.parse_args()
    if not 1 <= args.upstreams <= 250:
        parser.error("--upstreams must be 1 to 250")
    if args.quick:
        args.every, args.idle_timeout, args.upstreams, args.rounds = 1, 0.5, 10, 2
    return args


def config_of(responder, transport, is_nailed, idle_timeout_s):
    port = responder.tls_port if transport == "tls" else responder.port
    tls = {"ca-bundle": responder.ca, "auth-name": tls_stage.NAME} if transport == "tls" else {}
    return {
        "server": {"workers": 1},
        **({"tcp-upstream-keepalive": ["127.21.0.0/24"]} if is_nailed else {}),
        "upstream": {**tls, "idle-timeout": f"{int(idle_timeout_s * 1000)}ms"},
        "forward-zones": [{"name": f"zone{i}.example", "transport": transport, "upstreams": [f"{ip}@{port}"]}
                          for i, ip in enumerate(responder.addresses)]
        + [{"name": "start.example", "upstreams": [f"{responder.addresses[0]}@{responder.port}"]}],
    }


def measure(args, programs, folder):
    """Measures each way. Returns {way: report of the load}."""
    addresses = [f"127.21.0.{i + 1}" for i in range(args.upstreams)]
    names = pathlib.Path(folder, "names")
    names.write_text("".join(f"zone{i}.example A\n" for i in range(args.upstreams)), encoding="utf-8")
    with contextlib.ExitStack() as stack:
        responder = stack.enter_context(tls_stage.Responder(
            programs.bench, folder, addresses, "--delay", args.delay, "--ttl", 0))
        loads = {}
        for way, transport, is_nailed in WAYS:
            server = stack.enter_context(stage.Nailupd(
                programs.nailupd, folder, config_of(responder, transport, is_nailed, args.idle_timeout)))
            loads[way] = subprocess.Popen(
                [programs.bench, "load", "--server", f"127.0.0.1@{server.port}", "--queries", str(names),
                 "--rate", str(args.upstreams / args.every), "--connections", "1", "--json", "--quiet",
                 "--warmup", str(args.every), "--duration", str(args.every * args.rounds)],
                stdout=subprocess.PIPE, text=True)
        return {way: stage.json.loads(load.communicate()[0]) for way, load in loads.items()}


def main():
    args = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="nailup-idle.") as folder:
        reports = measure(args, stage.Programs(args.build), folder)
    print(f"each of {args.upstreams} upstreams {args.delay:g} ms away is asked every {args.every:g} s; on "
          f"demand: closed after {args.idle_timeout:g} s\n")
    print("| to the upstream | queries | lost | p50 us | p99 us |\n|---|---|---|---|---|")
    for way, report in reports.items():
        latency = report["latency_us"]
        print(f"| {way} | {report['answered']} | {report['lost']} | {latency['p50']:.0f} | {latency['p99']:.0f} |")
    reached = reports["DoT, nailed"]["latency_us"]["p99"] / reports["DoT, on demand"]["latency_us"]["p99"]
    print(f"\np99 of nailed DoT, to that on demand: {reached:.2f}, wanted at most {GOAL:.2f}")
    return 0 if reached <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
