#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Measures what zones that are expensive on purpose do to other clients: nailupd beside Unbound and Knot Resolver,
validating the same tree on loopback.

Usage: bench/zoo.py --build BUILD [--peers unbound,knot-resolver] [--floods keytrap,p384] [--rounds 3] [--seconds 4]
[--realtime] [--quick]

An honest client asks for cached names, 1,000 times a second. An attacker asks for names of a hostile zone that were
never asked before:

  calm      nothing
  keytrap   60 keys with one tag and 60 wrong signatures with that tag (CVE-2023-50387)
  nsec3-50  random names 12 labels deep; the zone has NSEC3 with 50 iterations and a salt of 32 bytes (CVE-2023-50868)
  nsec3-150 the same with 150 iterations
  p384      each name has another right signature, with P-384

Each server has one thread and its own CPU, and starts again in each round. The CPU time of a hostile query is the time
that the hits of "calm" do not explain. "Without a CPU" is how long the server was ready and did not run: other programs
had its CPU, or with --realtime the kernel took back a twentieth of it. Latencies beside many such milliseconds say
little. preload/count_verifications.c counts verifications.

Exits 1 if hits of nailupd wait longer than 5 ms at p99 during "p384", or if an honest query got no answer from it.
Exits 2 if it cannot measure.
"""

import argparse
import contextlib
import json
import pathlib
import random
import statistics
import subprocess
import sys
import time

import recursion
import stage_common as stage
import validate

from hierarchy.wire import Record
from signed_tree import zoo
from signed_tree.keys import KSK, ZSK, Key
from signed_tree.signer import NSEC, Signed, days, ds_records

GOAL_P99_US = 5000
HONEST_RATE, HONEST_NAMES = 1000, 500
TLD, HONEST = "zoo.", "honest.zoo."
RATES = {"calm": 0, "keytrap": 200, "nsec3-50": 2000, "nsec3-150": 2000, "p384": 1500}
DEPTH = 12


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--peers", default="unbound,knot-resolver", help="any of unbound, knot-resolver")
    parser.add_argument("--floods", default=",".join(RATES), help="some of " + ", ".join(RATES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4, help="of each flood (4)")
    parser.add_argument("--share", type=float, default=1, help="of the rates of the floods (1)")
    parser.add_argument("--realtime", action="store_true",
                        help="take precedence over all other programs, for a busy machine (CAP_SYS_NICE)")
    parser.add_argument("--quick", action="store_true", help="only show that the script works")
    args = parser.parse_args()
    args.peers = [one for one in args.peers.split(",") if one and one != "none"]
    args.floods = ["calm"] + [one for one in args.floods.split(",") if one != "calm"]
    unknown = (set(args.peers) - set(validate.PEERS)) | (set(args.floods) - set(RATES))
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if args.quick:
        args.rounds, args.seconds, args.share = 1, 1, 0.1
    return args


# ---- zones ----


class Zones:
    """The files of the tree. by_server: {address: {zone: path}}; questions: {flood: path}."""

    def __init__(self, folder, args):
        self.folder, self.args = folder, args
        self.by_server, self.questions, delegations = {}, {}, []
        names = [Record(f"w{number}.{HONEST}", "A", 3600, "192.0.2.80") for number in range(HONEST_NAMES)]
        delegations += self.sign(HONEST, names)
        self.ask("calm", [one.name for one in names])
        for flood in args.floods[1:]:
            delegations += self.make_hostile(flood)
        tld = self.sign(TLD, delegations, server=validate.TLD_IP)
        root = [Record(".", "NS", 3600, "a.roots."), Record("a.roots.", "A", 3600, validate.ROOT_IP), *tld]
        keys = [Key(8, KSK, "keys", bits=2048), Key(8, ZSK, "data", bits=2048)]
        self.write(".", Signed(".", [validate.soa("."), *root], keys, NSEC, days(-1, 30)).records, validate.ROOT_IP)
        self.anchors = [f". 3600 IN DS {validate.shown_ds(one)}" for one in ds_records(".", keys)]

    def count(self, flood):
        """Returns how many names a flood needs to use each once."""
        return int(RATES[flood] * self.args.share * (self.args.seconds + 1)) + 10

    def make_hostile(self, flood):
        zone, count = f"{flood}.zoo.", self.count(flood)
        own = [validate.soa(zone), *validate.delegation(zone, validate.ZONE_IPS)]
        dice = random.Random(flood)
        names = [f"d{number}.{zone}" for number in range(count)]
        if flood == "keytrap":
            records, keys = zoo.keytrap(zone, own)
        elif flood == "p384":
            records, keys = zoo.costly(zone, own, count)
        else:
            records, keys = zoo.nsec3(zone, own, int(flood.partition("-")[2]))
            names = [".".join(f"{dice.getrandbits(32):x}" for _ in range(DEPTH)) + "." + zone for _ in range(count)]
        self.ask(flood, names)
        return self.publish(zone, records, keys)

    def sign(self, zone, records, server=None):
        keys = zoo.two_keys()
        addresses = [server] if server else validate.ZONE_IPS
        own = [validate.soa(zone), *validate.delegation(zone, addresses)]
        return self.publish(zone, Signed(zone, own + records, keys, NSEC, days(-1, 30)).records, keys, addresses)

    def publish(self, zone, records, keys, addresses=tuple(validate.ZONE_IPS)):
        """Writes the zone. Returns its delegation."""
        self.write(zone, records, *addresses)
        return validate.delegation(zone, addresses) + ds_records(zone, keys[:1])

    def write(self, zone, records, *addresses):
        path = self.folder / f"{zone}zone"
        path.write_text("".join(f"{one.name} {one.ttl} IN {one.type} {one.data}\n" for one in records))
        for ip in addresses:
            self.by_server.setdefault(ip, {})[zone] = path

    def ask(self, flood, names):
        self.questions[flood] = path = self.folder / f"{flood}.queries"
        path.write_text("".join(f"{name} A\n" for name in names))


# ---- measuring ----


def stopped_us(pid):
    """Returns how long the threads of a process were ready to run, but had no CPU (proc_pid_schedstat)."""
    return sum(int(path.read_text().split()[1]) / 1e3 for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"))


class Cell:
    """The figures of a server during one flood."""

    def __init__(self, honest, hostile, spent):
        cpu_us, self.stopped_us, verified, crypto_us = spent
        self.p50_us, self.p99_us = honest["latency_us"]["p50"], honest["latency_us"]["p99"]
        self.good = honest["rcodes"].get("NOERROR", 0)
        self.lost = honest["sent"] - self.good
        self.hostile = hostile["sent"] if hostile else 0
        self.answered = 100 * hostile["answered"] / max(1, hostile["sent"]) if hostile else float("nan")
        self.failed = 100 * hostile["rcodes"].get("SERVFAIL", 0) / max(1, hostile["sent"]) if hostile else float("nan")
        self.cpu_us, self.verified, self.crypto_us = cpu_us, verified, crypto_us


class Measurement(recursion.Rounds):
    def __init__(self, args, programs, folder, library):
        super().__init__(args, programs, folder)
        self.library = library
        self.zones = Zones(folder, args)

    def start_authorities(self, stack):
        for number, ips in enumerate(([validate.ROOT_IP], [validate.TLD_IP], validate.ZONE_IPS)):
            stack.enter_context(validate.Nsd(self.folder / f"nsd-{number}", ips, self.zones.by_server[ips[0]],
                                             self.other_cpu))

    def honest(self, server, seconds):
        with self.loading(server, "calm", HONEST_RATE, seconds, "127.0.0.1") as report:
            return report()

    @contextlib.contextmanager
    def loading(self, server, flood, rate, seconds, source):
        """Yields a function that returns the report of the load when it has ended. A load without a single answer
        fails, and has a report."""
        if not rate:
            yield lambda: None
            return
        command = [*self.other_cpu, self.programs.bench, "load", "--server", f"127.0.0.1@{server.port}", "--rate",
                   str(rate), "--duration", str(seconds), "--connections", "4", "--timeout", "3000",
                   "--source", source, "--queries", str(self.zones.questions[flood]), "--json", "--quiet"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            yield lambda: json.loads(process.communicate(timeout=60)[0])

    def cell(self, server, flood):
        rate, before = RATES[flood] * self.args.share, self.spent(server)
        with self.loading(server, flood, rate, self.args.seconds, "127.0.66.1") as report:
            honest = self.honest(server, self.args.seconds)
            hostile = report()
        time.sleep(0.2)
        return Cell(honest, hostile, [now - then for now, then in zip(self.spent(server), before)])

    def spent(self, server):
        return stage.cpu_us(server.pid), stopped_us(server.pid), *server.verified()

    def round_of(self, name, command, number):
        folder = self.folder / f"{name.replace(' ', '-')}-{number}"
        folder.mkdir()
        with validate.Server(folder, command, self.server_cpu, self.library) as server:
            if not server.is_validating():
                stage.give_up(f"{name}: the root is not secure")
            self.honest(server, 1)  # fills the cache with the honest client's names
            for flood in self.args.floods:
                cell = self.cell(server, flood)
                self.rounds.setdefault((name, flood), []).append(cell)

    def median(self, name, flood, value):
        return statistics.median(map(value, self.rounds[name, flood]))


def commands_of(args, programs, anchors):
    commands, missing = {"nailupd": validate.nailupd(programs.nailupd, anchors, True)}, {}
    for name in args.peers:
        try:
            commands[name] = validate.PEERS[name](anchors, True)
        except SystemExit:
            missing[name] = "not installed"
    return commands, missing


def row_of(measured, name, flood):
    def median(value):
        return measured.median(name, flood, value)
    hit_us = measured.median(name, "calm", lambda one: one.cpu_us / max(1, one.good))
    calm_p99 = measured.median(name, "calm", lambda one: one.p99_us)
    head = (f"| {flood} | {name} | {median(lambda one: one.p50_us):.0f} | {median(lambda one: one.p99_us):.0f} | "
            f"{median(lambda one: one.p99_us) / calm_p99:.2f} | {median(lambda one: one.stopped_us / 1e3):.0f} | "
            f"{median(lambda one: one.lost):.0f} |")
    if flood == "calm":
        return head + " - | - | - | - | - |"
    return head + (f" {median(lambda one: (one.cpu_us - hit_us * one.good) / one.hostile):.0f} | "
                   f"{median(lambda one: one.crypto_us / one.hostile):.0f} | "
                   f"{median(lambda one: one.verified / one.hostile):.2f} | {median(lambda one: one.answered):.0f} | "
                   f"{median(lambda one: one.failed):.0f} |")


def tell(measured, commands, missing):
    print("| flood | server | hit p50 us | hit p99 us | to calm | without a CPU ms | hits lost | CPU us of a hostile query | in cryptography "
          "| verifications | answered % | SERVFAIL % |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
    for flood in measured.args.floods:
        for name in commands:
            print(row_of(measured, name, flood))
    for name, why in missing.items():
        print(f"| all | {name} | {why} | - | - | - | - | - | - | - | - | - |")


def judge(measured):
    """Returns sentences about the missed goals."""
    for flood in measured.args.floods:
        lost = measured.median("nailupd", flood, lambda one: one.lost)
        if lost:
            yield f"{flood}: {lost:.0f} honest queries got no answer"
    if "p384" in measured.args.floods:
        p99 = measured.median("nailupd", "p384", lambda one: one.p99_us)
        if p99 > GOAL_P99_US:
            yield f"p384: hits wait {p99:.0f} us at p99, wanted {GOAL_P99_US}"


def main():
    args = parse_arguments()
    with validate.measuring(Measurement, args) as measured:
        commands, missing = commands_of(args, measured.programs, measured.zones.anchors)
        measured.run(commands)
    tell(measured, commands, missing)
    return recursion.tell_missed(list(judge(measured)))


if __name__ == "__main__":
    sys.exit(main())
