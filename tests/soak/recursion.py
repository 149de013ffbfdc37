#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""An hour of random questions over the hierarchy of tests/system/hierarchy while its servers die and come back.

Every answer is compared with the right one (hierarchy/truth.py). SERVFAIL, or silence, is excused for a name whose
zones could not all be reached, and for a while after: a resolver may remember that a server was dead. The run fails
after one wrong answer, after more than --unexcused failures, when the resolver ends, or when its memory grows.

Usage: tests/soak/recursion.py [--resolver unbound|named|nailupd --build BUILD] [--minutes 60] [--seed N]
       tests/soak/recursion.py --resolver IP@PORT --start COMMAND
           COMMAND is started in the namespace of the hierarchy, where port 53 has the authoritative servers; {hints}
           and {folder} in it are the path of the root hints and of its own folder
"""

import argparse
import contextlib
import json
import pathlib
import random
import shlex
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))

from hierarchy import compare, run, truth, wire, zones  # noqa: E402

CLIENTS = 24  # many, because a client that waits for a dead zone must not delay the others
BATCH = 4  # each client sends this many queries at the same time
TIMEOUT_S = 12  # the timeout of one query
MAX_TTL_S = 5  # the bound on TTLs in a resolver's cache, so that it asks again
DOWN_S = (0.5, 8)  # how long a plant is dead
QUIET_S = (0, 4)  # the time between two deaths
MEMORY_SAMPLES = 20
GROWTH_LIMIT = 1.1  # from the sample at half time to that at the end
SHORT_MIN = 10  # a shorter run proves nothing about memory
BAD_CHANGES = ["127.50.2.1", "127.50.2.3", "127.50.2.6", "127.50.2.13"]  # each of these zones has a good server as well
BAD_BEHAVIOURS = ["silent", "refuses", "fails", "upward"]


# ---- dependencies of zones ----


def servers_of(zone):
    return {name for name, plant in zones.PLANTS.items() if zone in plant.zones}


def zones_needed(zone):
    """Returns a zone, the zones above it, and the zones of its servers' names."""
    found, left = set(), [zone]
    while left:
        zone = left.pop()
        if zone in found:
            continue
        found.add(zone)
        left += [zones.zone_of(one.data) for one in zones.records_of(zones.ZONES[zone])
                 if one.type == "NS" and one.name == zone and not wire.is_at_or_below(one.data, zone)]
        left += [zones.zone_of(wire.parent_of(zone))] if zone != "." else []
    return found


NEEDED = {zone: zones_needed(zone) for zone in zones.ZONES}
SERVERS = {zone: servers_of(zone) for zone in zones.ZONES}


class Trouble:
    """Kills plants and starts them again, one at a time. It knows when each was down."""

    def __init__(self, tree, rng, grace_s):
        self.tree, self.rng, self.grace_s = tree, rng, grace_s
        self.victim, self.next_at, self.deaths = None, time.monotonic(), 0
        # {name: when it came back}, or infinity while it is down
        self.back_at = dict.fromkeys(zones.PLANTS, float("-inf"))

    def turn(self):
        """Does the steps that are due."""
        now = time.monotonic()
        if now < self.next_at:
            return
        if self.victim:
            self.bring_back()
            self.next_at = time.monotonic() + self.rng.uniform(*QUIET_S)
        else:
            self.victim = self.rng.choice(sorted(zones.PLANTS))
            self.back_at[self.victim] = float("inf")
            self.tree.kill(self.victim)
            self.tree.behave(self.rng.choice(BAD_CHANGES), self.rng.choice(BAD_BEHAVIOURS))
            self.deaths += 1
            self.next_at = now + self.rng.uniform(*DOWN_S)

    def bring_back(self):
        if self.victim:
            self.tree.start(self.victim)
            self.tree.wait_until_ready([self.victim])
            self.back_at[self.victim], self.victim = time.monotonic(), None

    def were_down(self, since):
        """Returns the plants that were down after `since`, or shortly before."""
        return {name for name, back_at in self.back_at.items() if back_at > since - self.grace_s}


def is_excused(right, down):
    """Returns whether a failure is excused: some zone that the answer needs had no plant that was up all the time.
    Zones with bad servers only are not excused."""
    needed = {one for zone in right.zones for one in NEEDED[zone]}
    return any(SERVERS[zone] and SERVERS[zone] <= down for zone in needed)


# ---- questions ----


class Questions:
    """Names of the hierarchy, and random names."""

    FORMS = ["{}.wild.two.", "{}.wild.good.one.", "{}.alias.good.one.", "{}.good.one.", "{}.one.", "{}.",
             "{}.zero.one.", "{}.moved.good.one.", "{}.x.d3.chain.one.", "{}.a.b.deep.two.", "{}.slow.one.",
             "{}.plant.one.", "{}.tcponly.one."]

    KNOWN = truth.questions()
    GOOD = [one for one in KNOWN if truth.truth(*one).state == zones.GOOD]
    LOST = sorted(set(KNOWN) - set(GOOD))

    def __init__(self, rng):
        self.rng = rng

    def next(self):
        draw = self.rng.random()
        if draw < 0.3:
            label = f"r{self.rng.getrandbits(40):x}"
            return self.rng.choice(self.FORMS).format(label), self.rng.choice(["A", "AAAA", "TXT", "MX"])
        return self.rng.choice(self.LOST if draw > 0.998 else self.GOOD)

    def batch(self):
        return [self.next() for _ in range(BATCH)]


# ---- resolvers ----


def nailupd(tree, build):
    folder = run.resolver_folder(tree, "nailupd")
    config = run.nailupd_config(tree, folder / "control.sock")
    config["cache"] = {"max-ttl": f"{MAX_TTL_S}s", "size": "8MiB", "serve-stale": "0s"}
    (folder / "nailup.yaml").write_text(json.dumps(config))
    command = [pathlib.Path(build).resolve() / "src/nailupd", "-c", folder / "nailup.yaml"]
    return run.Resolver(tree, "nailupd", command, ("127.0.0.1", 5303))


def other(tree, address, command):
    ip, _, port = address.partition("@")
    folder = run.resolver_folder(tree, "resolver")
    return run.Resolver(tree, "resolver", shlex.split(command.format(hints=tree.hints, folder=folder)), (ip, int(port)))


def start_resolver(tree, args):
    if args.resolver in run.RESOLVERS:
        return run.RESOLVERS[args.resolver](tree, max_ttl=MAX_TTL_S)
    if args.resolver == "nailupd":
        return nailupd(tree, args.build)
    return other(tree, args.resolver, args.start)


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


# ---- the soak ----


class Client(threading.Thread):
    """Sends batches of queries until it is stopped. ended_by: the error that ended it early."""

    def __init__(self, soak, seed):
        super().__init__(daemon=True)
        self.soak, self.questions, self.ended_by = soak, Questions(random.Random(seed)), None

    def run(self):
        try:
            while not self.soak.is_over.is_set():
                self.ask_batch()
        except Exception as error:  # if a thread ended silently, the soak would send no queries
            self.ended_by = None if self.soak.is_over.is_set() else repr(error)

    def ask_batch(self):
        asked, since = self.questions.batch(), time.monotonic()
        answers = self.soak.tree.ask(self.soak.resolver.address, asked, parallel=BATCH, timeout=TIMEOUT_S)
        self.soak.judge_batch(asked, answers, self.soak.trouble.were_down(since))


class Soak:
    def __init__(self, tree, resolver, args):
        self.tree, self.resolver, self.args = tree, resolver, args
        self.trouble = Trouble(tree, random.Random(args.seed), args.grace)
        self.right, self.excused, self.explained, self.unexcused, self.wrong, self.samples = 0, 0, 0, [], [], []
        self.is_over, self.lock = threading.Event(), threading.Lock()

    def run(self):
        """Runs the soak. Returns the faults as sentences."""
        clients = [Client(self, self.args.seed + n + 1) for n in range(CLIENTS)]
        for client in clients:
            client.start()
        wrong = self.make_trouble()
        self.is_over.set()
        until = time.monotonic() + 1  # batches that take longer are given up
        for client in clients:
            client.join(max(0, until - time.monotonic()))
        wrong += [f"a client ended: {client.ended_by}" for client in clients if client.ended_by]
        return wrong + self.judge()

    def make_trouble(self):
        began, seconds = time.monotonic(), self.args.minutes * 60
        while (now := time.monotonic()) < began + seconds:
            self.trouble.turn()
            if self.resolver.process.poll() is not None:
                return [f"the resolver ended with {self.resolver.process.returncode}"]
            if now >= began + seconds * len(self.samples) / MEMORY_SAMPLES:
                self.sample(began)
            time.sleep(0.05)
        self.trouble.bring_back()
        self.sample(began)
        return []

    def judge_batch(self, asked, answers, down):
        with self.lock:
            for question, answer in zip(asked, answers):
                self.judge_one(question, answer, truth.truth(*question, self.tree.has_ipv6), down)

    def judge_one(self, question, answer, right, down):
        failed = answer["rcode"] in (None, "SERVFAIL")
        bad = truth.judge(right, answer["rcode"] or "SERVFAIL", answer["rows"])
        if not bad:
            self.right += 1
        elif compare.reason_for(self.args.resolver, question, right, answer):
            self.explained += 1
        elif not failed:
            self.wrong.append(f"{' '.join(question)}: {bad}")
        elif is_excused(right, down):
            self.excused += 1
        else:
            self.unexcused.append(f"{' '.join(question)}: {answer['rcode']} while {sorted(down)} were down")

    def sample(self, began):
        self.samples.append(resident_bytes(self.resolver.process.pid))
        print(f"{(time.monotonic() - began) / 60:5.1f} min  {self.right} right, {self.excused} failures excused, "
              f"{len(self.unexcused)} not, {self.explained} known differences, {len(self.wrong)} wrong, "
              f"{self.trouble.deaths} deaths, resident "
              f"{self.samples[-1] // 1024} KiB", flush=True)

    def judge(self):
        wrong = [f"wrong: {one}" for one in self.wrong[:10]]
        if len(self.unexcused) > self.args.unexcused:
            wrong += [f"{len(self.unexcused)} failures that nothing excuses", *self.unexcused[:10]]
        if not self.right:
            wrong.append("nothing was answered")
        half = self.samples[len(self.samples) // 2]
        if self.args.minutes >= SHORT_MIN and self.samples[-1] > GROWTH_LIMIT * half:
            wrong.append(f"memory grew from {half} bytes at half time to {self.samples[-1]}")
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resolver", default="nailupd", help="unbound, named, nailupd or IP@PORT")
    parser.add_argument("--start", help="the command of a resolver at IP@PORT")
    parser.add_argument("--build", help="build folder of nailupd")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--grace", type=float, default=15, help="seconds for which a death excuses failures")
    parser.add_argument("--unexcused", type=int, default=0, help="number of failures without excuse that are tolerated")
    parser.add_argument("--seed", type=int, default=random.getrandbits(32))
    args = parser.parse_args()
    if args.resolver == "nailupd" and not args.build:
        parser.error("nailupd needs --build")
    if "@" in args.resolver and not args.start:
        parser.error("a resolver at IP@PORT needs --start, as the hierarchy is in its own network namespace")
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory(prefix="nailup-soak.") as folder, contextlib.ExitStack() as stack:
        try:
            tree = stack.enter_context(run.Hierarchy(folder, stack.enter_context(run.Place())))
            resolver = stack.enter_context(start_resolver(tree, args))
        except run.CannotRun as error:
            sys.exit(f"cannot run: {error}")
        wrong = Soak(tree, resolver, args).run()
    if resolver.process.returncode:
        wrong.append(f"the resolver ended with {resolver.process.returncode}")
    for sentence in wrong:
        print(f"NOT: {sentence}")
    print("recursion: " + ("failed" if wrong else "every answer was right"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
