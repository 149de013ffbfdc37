#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Checks whether cache hits over UDP scale with workers: CPU per hit with one worker and with two, saturated.

Usage: bench/scaling.py --build BUILD [--rounds 7] [--seconds 2] [--quick]

Two workers answer twice as much as one if a hit costs each of them the same as it costs one alone. So the figure
is 2 * (CPU per hit with one worker) / (CPU per hit with two): it does not need its own CPU for the load.
With four CPUs or more the servers get the lower half of them and the load the upper half, and answers a second
are compared as well. Both daemons run all the time and take turns.

Exits 1 below a ratio of 1.8, or if one of two workers had less than a quarter of the work.
"""

import argparse
import os
import statistics
import sys
import tempfile

import stage_common as stage

GOAL = 1.8
SHARE_MIN = 25  # percent of the CPU time of both workers; the kernel spreads source ports at random
CPUS_FOR_THROUGHPUT = 4
NAMES = 1000


class Side:
    """A daemon with this number of workers, and its measurements."""

    def __init__(self, workers, daemon):
        self.workers, self.daemon, self.rounds = workers, daemon, []

    def median(self, key):
        return statistics.median(one[key] for one in self.rounds)


def start(programs, folder, responder, workers, cpus):
    wrapper = ["taskset", "-c", cpus] if cpus else []
    config = {"server": {"workers": workers},
              "forward-zones": [{"name": ".", "upstreams": responder.servers}]}
    return stage.Nailupd(programs.nailupd, folder, config, wrapper=wrapper)


def measure(args, programs, side, cpus):
    """Measures one round. Returns the report of the load, user and system CPU, and each thread's share."""
    pid = side.daemon.pid
    words = ["--max", "--connections", args.connections, "--in-flight", args.in_flight, "--duration",
             args.seconds, "--warmup", args.warmup, "--zipf", 0, "--names", NAMES, "--pid", pid]
    threads, split = stage.threads_us(pid), stage.user_system_us(pid)
    report = stage.load(programs.bench, side.daemon.port, *words,
                        wrapper=["taskset", "-c", cpus] if cpus else [])
    spent = [after - before for before, after in zip(split, stage.user_system_us(pid))]
    share = [after - threads.get(task, 0) for task, after in stage.threads_us(pid).items()]
    side.rounds.append({
        "cpu": report["server_cpu_us_per_query"], "qps": report["qps"],
        "percent": report["server_cpu_percent"], "lost": report["lost"],
        "user": 100 * spent[0] / max(1, sum(spent)), "share": sorted(share, reverse=True)})


def shares(side):
    """Returns each worker's share of the CPU time over all rounds, in percent, the busiest worker first."""
    sums = [sum(one["share"][i] for one in side.rounds if i < len(one["share"]))
            for i in range(side.workers)]
    return [100 * one / max(1, sum(sums)) for one in sums]


def show(sides):
    print("| workers | CPU us per hit | user % of it | answers/s | CPU % | each worker's share % | lost |\n"
          "|---|---|---|---|---|---|---|")
    for side in sides:
        print(f"| {side.workers} | {side.median('cpu'):.3f} | {side.median('user'):.0f} | "
              f"{side.median('qps'):.0f} | {side.median('percent'):.0f} | "
              f"{' '.join(f'{share:.0f}' for share in shares(side))} | "
              f"{sum(one['lost'] for one in side.rounds)} |")


def judge(one, two, has_cpus):
    by_round = sorted(2 * a["cpu"] / b["cpu"] for a, b in zip(one.rounds, two.rounds))
    ratio = 2 * one.median("cpu") / two.median("cpu")
    print(f"\nratio {ratio:.3f} = 2 * {one.median('cpu'):.3f} / {two.median('cpu'):.3f}; goal {GOAL}; "
          f"by round {by_round[0]:.3f} to {by_round[-1]:.3f}")
    ok = ratio >= GOAL and shares(two)[-1] >= SHARE_MIN
    if has_cpus:
        throughput = two.median("qps") / one.median("qps")
        print(f"throughput {throughput:.3f} times that of one worker")
        ok = ok and throughput >= GOAL
    else:
        print(f"fewer than {CPUS_FOR_THROUGHPUT} CPUs: load and workers share them, so answers/s say nothing")
    return ok


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder of nailup")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2, help="seconds of each measurement")
    parser.add_argument("--warmup", type=float, default=0.5, help="seconds before each measurement, which do not count")
    parser.add_argument("--connections", type=int, default=64, help="number of the load's sockets, each with its source port")
    parser.add_argument("--in-flight", type=int, default=16, help="queries in flight on each socket")
    parser.add_argument("--quick", action="store_true", help="run for one second, only to show that the script works")
    args = parser.parse_args()
    if args.quick:
        args.rounds, args.seconds, args.warmup = 1, 0.3, 0.1
    return args


def main():
    args = parse_arguments()
    programs, cpus = stage.Programs(args.build), sorted(os.sched_getaffinity(0))
    has_cpus, half = len(cpus) >= CPUS_FOR_THROUGHPUT, len(cpus) // 2
    if has_cpus:
        stage.find_program("taskset", "util-linux")
    halves = [",".join(map(str, part)) for part in (cpus[:half], cpus[half:])] if has_cpus else [None, None]
    with tempfile.TemporaryDirectory(prefix="scaling-") as folder, \
            stage.Responder(programs.bench, folder, ["127.0.0.2"], "--ttl", 86400) as responder, \
            start(programs, folder, responder, 1, halves[0]) as first, \
            start(programs, folder, responder, 2, halves[0]) as second:
        sides = [Side(1, first), Side(2, second)]
        for number in range(args.rounds):
            for side in sides if number % 2 == 0 else sides[::-1]:
                measure(args, programs, side, halves[1])
    show(sides)
    return 0 if judge(*sides, has_cpus) else 1


if __name__ == "__main__":
    sys.exit(main())
