#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Measures the effect of a flood of random names from one prefix on other clients: their p99 for cached names.

Usage: bench/flood.py --build BUILD [--rounds 7] [--seconds 3] [--flood-rate 30000] [--realtime] [--quick]

An honest client at 127.0.0.2 asks for cached names at a fixed rate. Four clients of 127.0.66.0/24 ask for new
names, together at --flood-rate. Three cases take turns in rounds, so that a disturbance of the machine affects
all of them alike; the medians of the rounds count:

  elsewhere   the flood goes to a socket that is never read, so the machine only pays for the sending
  unlimited   it goes to a nailupd whose limits are as high as possible
  limited     it goes to a nailupd with rate-limit.queries-per-second and max-waiting-per-client

nailupd has one worker and one CPU; the loads and the upstream have another.

Exits 1 if the p99 of limited is above 1.5 times that of elsewhere, or if an honest query got no answer there.
"""

import argparse
import contextlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile

import stage_common as stage

GOAL = 1.5
HONEST, FLOODERS = "127.0.0.2", [f"127.0.66.{i}" for i in range(1, 5)]  # all flooders are in one /24
NAMES = ["--zipf", "0", "--names", "1000", "--suffix", "honest.example"]
CASES = ("elsewhere", "unlimited", "limited")

# The limit is far above the honest client's rate. A flooder gets a tenth of the room for waiting queries.
LIMITED = {"rate-limit": {"queries-per-second": 2000}, "max-waiting-per-client": 1000, "client-prefix-v4": 24}
UNLIMITED = {"max-waiting-per-client": 1000000}


def on_cpu(cpu):
    return ["taskset", "-c", str(cpu)] if (os.cpu_count() or 1) > 1 else []


class Sink:
    """A UDP port that no program reads."""

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        return self

    def __exit__(self, *_):
        self.socket.close()


class Flood(stage.Process):
    """Sends queries for random names to a port until the end of `with`."""

    def __init__(self, args, programs, port):
        sources = [word for source in FLOODERS for word in ("--source", source)]
        self.command = [*on_cpu(1), programs.bench, "load", "--server", f"127.0.0.1@{port}", *sources,
                        "--rate", str(args.flood_rate), "--unique", "--duration", str(args.seconds + 2),
                        "--connections", "32", "--in-flight", "8192", "--timeout", "200", "--json", "--quiet"]
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)


class Stage:
    def __init__(self, args, programs, folder, stack):
        self.args, self.programs = args, programs
        upstream = stack.enter_context(
            stage.Responder(programs.bench, folder, ["127.0.0.1"], "--delay", "20"))
        zones = [{"name": ".", "upstreams": upstream.servers}]
        self.sink = stack.enter_context(Sink())
        self.daemons = {
            name: stack.enter_context(stage.Nailupd(
                programs.nailupd, folder,
                {"server": {"workers": 1, **server}, "forward-zones": zones},
                nailupctl=programs.nailupctl, wrapper=on_cpu(0)))
            for name, server in (("unlimited", UNLIMITED), ("limited", LIMITED))}
        for daemon in self.daemons.values():
            self.honest(daemon, 1)  # fills the cache with the honest client's names

    def honest(self, daemon, seconds):
        return stage.load(self.programs.bench, daemon.port, "--rate", self.args.rate, *NAMES,
                          "--source", HONEST, "--duration", seconds, "--warmup", 0.5, wrapper=on_cpu(1))

    def measure(self, case):
        daemon = self.daemons["unlimited" if case == "unlimited" else "limited"]
        port = self.sink.port if case == "elsewhere" else daemon.port
        with Flood(self.args, self.programs, port):
            return self.honest(daemon, self.args.seconds)


def median(reports, *path):
    values = []
    for report in reports:
        for key in path:
            report = report[key]
        values.append(report)
    return statistics.median(values)


def answered_percent(reports):
    good = sum(report["rcodes"].get("NOERROR", 0) for report in reports)
    sent = sum(report["sent"] for report in reports)
    return 100 * good / sent


def table(reports):
    lines = ["| the flood is | p50 us | p99 us | p99 to elsewhere | answered % |", "|---|---|---|---|---|"]
    calm = median(reports["elsewhere"], "latency_us", "p99")
    for case in CASES:
        p50, p99 = (median(reports[case], "latency_us", key) for key in ("p50", "p99"))
        lines.append(f"| {case} | {p50:.0f} | {p99:.0f} | {p99 / calm:.2f} | "
                     f"{answered_percent(reports[case]):.2f} |")
    return "\n".join(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build", required=True, help="build folder of nailup")
    add("--rounds", type=int, default=7)
    add("--seconds", type=float, default=3, help="seconds of each measurement")
    add("--rate", type=float, default=1000, help="queries a second of the honest client")
    add("--flood-rate", type=float, default=30000)
    add("--json", help="file for the figures of all rounds")
    add("--realtime", action="store_true",
        help="take precedence over all other programs, for a busy machine; needs CAP_SYS_NICE")
    add("--quick", action="store_true", help="only show that the script works")
    args = parser.parse_args()
    if args.quick:
        args.rounds, args.seconds, args.flood_rate = 1, 1, 5000
    return args


def go_first():
    """Gives processes that start from now on precedence over all others."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        stage.give_up("--realtime takes CAP_SYS_NICE")


def main():
    args = parse_arguments()
    if args.realtime:
        go_first()
    programs = stage.Programs(args.build)
    reports = {case: [] for case in CASES}
    with tempfile.TemporaryDirectory(prefix="flood-") as folder, contextlib.ExitStack() as stack:
        setup = Stage(args, programs, folder, stack)
        for number in range(args.rounds):
            for case in CASES[number % 3:] + CASES[:number % 3]:
                reports[case].append(setup.measure(case))
        cut = setup.daemons["limited"].metrics()['rate_limited_total{action="dropped"}']
    print(table(reports))
    print(f"\nQueries of the flood that were dropped above the limit: {cut}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(reports, indent=1), encoding="utf-8")
    calm, limited = (median(reports[case], "latency_us", "p99") for case in ("elsewhere", "limited"))
    holds = limited <= GOAL * calm and answered_percent(reports["limited"]) == 100
    print(f"{'holds' if holds else 'DOES NOT HOLD'}: p99 under a limited flood is at most {GOAL} times p99 "
          f"without, and all are answered ({limited:.0f} against {calm:.0f} us)")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
