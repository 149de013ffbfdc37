#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""An hour of questions over the hierarchy of tests/system/signed_tree while its keys roll, its signatures end, its
servers die and come back, and two of them lie now and then.

Each answer is compared with the verdict that is right at that moment. An answer without the right verdict is wrong in
either direction: wrong data, AD where nothing proves it, or no AD where everything does. SERVFAIL, or silence, for a
zone without a fault is excused only if a server that the zone needs was down then, or shortly before. The run fails
after one wrong verdict, after more than --unexcused failures, when the resolver ends, or when its memory grows.

| zones | what happens to them | right verdict |
|---|---|---|
| roll0 to roll3 | the keys roll all the time, through all algorithms, as RFC 6781 describes it | secure |
| brief0, brief1 | the signatures end, and are renewed 20 seconds later | bogus in between |
| moody | its only server lies now and then | secure or bogus while it lies, and shortly after |
| halfmoody | one of two servers lies now and then | secure |
| all others | nothing | that of signed_tree/cases.py |

Usage: tests/soak/signed.py --build BUILD [--minutes 60] [--seed N]
"""

import argparse
import contextlib
import dataclasses
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))

import recursion  # noqa: E402
from hierarchy.run import CannotRun, zone_path  # noqa: E402
from signed_tree import cases, compare, run, zones  # noqa: E402
from signed_tree.build import Builder, text_of  # noqa: E402
from signed_tree.keys import KSK, ZSK, Key  # noqa: E402
from signed_tree.signer import Signed, days  # noqa: E402

CLIENTS = 12
BATCH = 4  # each client sends this many queries at the same time
PAUSE_S = 0.3  # the pause between the batches of a client
TIMEOUT_S = 12  # the timeout of one query
MAX_TTL_S = 5  # the bound on TTLs in the resolver's cache, so that it asks again
TTL_S = 2  # the TTL of all records in zones that change
PHASE_S = 10  # the phase of a roll: longer than all TTLs, plus the time in which a server reads its zones
RECOVERY_S = 75  # how long a resolver may remember that a zone was bogus
SKEW_S = 3600  # how long after its end a validator accepts a signature
ENDING_S, ENDED_S, STEADY_S = 15, 20, 110  # the times of a zone whose signatures end
DOWN_S, QUIET_S = (1, 6), (15, 40)  # how long a server is dead, and how long all are up
VICTIMS = ["leaf", "leaf", "other", "other", "tld", "root"]
LIES = ["strips", "forges", "denies", "redirects"]
LIE_S, TRUTH_S = (2, 10), (20, 120)
ALGORITHMS = [13, 8, 15, 14, 10, 16]
READY_S = 120


# ---- zones that change ----


def capped(records):
    return [one._replace(ttl=min(one.ttl, TTL_S)) for one in records]


class Publisher:
    """Signs zones again, and makes their servers read them."""

    def __init__(self, tree, builder):
        self.tree, self.builder, self.serial = tree, builder, 1

    def publish(self, name, keys, validity, limit=capped):
        """Publishes a zone. Returns when the server has it. limit: changes the records before they are signed."""
        zone = zones.ZONES[name]
        below = [record for child in zones.children_of(name)
                 for record in [*zones.delegation(child), *self.builder.ds[child.name]]]
        self.serial += 1
        records = [self.renumbered(one) for one in limit(zones.records_of(zone, below))]
        signed = Signed(name, records, keys, zone.denial, validity, TTL_S if limit is capped else 3600)
        path = self.tree.folder / zone_path(name)
        path.with_suffix(".new").write_text(text_of(signed.records))
        path.with_suffix(".new").rename(path)
        program = self.tree.programs[zone.plant].process
        program.send_signal(signal.SIGHUP)
        self.wait_for(name, zone.plant)

    def renumbered(self, record):
        if record.type != "SOA":
            return record
        words = record.data.split()
        return record._replace(data=" ".join([*words[:2], str(self.serial), *words[3:]]))

    def wait_for(self, name, plant):
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            rows = self.tree.ask((zones.PLANT_IPS[plant], run.PORT), [(name, "SOA")], timeout=1, flags=0)[0]["rows"]
            if any(data.split()[2] == str(self.serial) for _, kind, data in rows if kind == "SOA"):
                return
            time.sleep(0.1)
        raise RuntimeError(f"{plant} does not read {name} again")

    def publish_parent(self, name):
        """Publishes the parent, because the DS set of a zone has changed."""
        parent = zones.ZONES[name].parent
        self.publish(parent, self.builder.keys[parent], days(-1, 30), lambda records: records)


class Roll:
    """A zone whose keys and algorithm roll all the time (RFC 6781 section 4.1.4): new keys appear, both sign, the DS
    set has both and then only the new one, and the old keys go."""

    def __init__(self, publisher, name, number):
        self.publisher, self.name, self.turns, self.rolls = publisher, name, number, 0
        self.old, self.new = self.make(), None
        self.phase, self.next_at = 0, time.monotonic() + number * PHASE_S / 4

    def make(self):
        self.turns += 1
        algorithm = ALGORITHMS[self.turns % len(ALGORITHMS)]
        return Key(algorithm, KSK, "keys"), Key(algorithm, ZSK, "data")

    def set_ds(self, *keys):
        make = zones.ZONES[self.name].ds
        self.publisher.builder.ds[self.name] = [one._replace(ttl=TTL_S) for key in keys for one in make(self.name, [key])]
        self.publisher.publish_parent(self.name)

    def sign(self, *pairs, data_by):
        keys = [key for pair in pairs for key in pair]
        for pair in pairs:
            pair[1].signs = "data" if pair in data_by else "nothing"
        self.publisher.publish(self.name, keys, days(-1, 1))

    def begin(self):
        self.sign(self.old, data_by=[self.old])
        self.set_ds(self.old[0])

    def turn(self):
        if time.monotonic() < self.next_at:
            return
        old, new = self.old, self.new
        if self.phase == 0:
            new = self.new = self.make()
            self.sign(old, new, data_by=[old])
        elif self.phase == 1:
            self.sign(old, new, data_by=[old, new])
        elif self.phase == 2:
            self.set_ds(old[0], new[0])
        elif self.phase == 3:
            self.set_ds(new[0])
        elif self.phase == 4:
            self.sign(old, new, data_by=[new])
        else:
            self.sign(new, data_by=[new])
            self.old, self.new, self.rolls = new, None, self.rolls + 1
        self.phase = (self.phase + 1) % 6
        self.next_at = time.monotonic() + PHASE_S


class Changing:
    """A zone that is right, and now and then is not. right_since: infinity while it is not right; ended_at: when its
    signatures expire, infinity if they do not."""

    def __init__(self, name, rng):
        self.name, self.rng, self.times = name, rng, 0
        self.right_since, self.ended_at = float("-inf"), float("inf")
        self.step, self.next_at = 0, time.monotonic() + rng.uniform(5, 40)

    def verdict(self, one, since, now):
        """Returns the right verdict about a question that was sent at `since` and answered at `now`."""
        if since > self.ended_at + 1.5:
            return cases.BOGUS
        return one.verdict if self.right_since + RECOVERY_S < since else cases.EITHER


class Brief(Changing):
    """A zone whose signatures end. It changes its own state before the server becomes wrong, and after the server is
    right again."""

    def __init__(self, publisher, name, rng):
        super().__init__(name, rng)
        self.publisher, self.keys = publisher, publisher.builder.keys[name]

    def begin(self):
        self.publisher.publish(self.name, self.keys, days(-1, 1))

    def turn(self):
        if time.monotonic() < self.next_at:
            return
        if self.step == 0:
            self.right_since = float("inf")
            end = int(time.time()) - SKEW_S + ENDING_S
            self.publisher.publish(self.name, self.keys, (end - 9 * SKEW_S, end))
            self.ended_at = time.monotonic() + end + SKEW_S + 1 - time.time()
            self.next_at = self.ended_at + ENDED_S
        else:
            self.ended_at = float("inf")
            self.begin()
            self.right_since, self.times = time.monotonic(), self.times + 1
            self.next_at = time.monotonic() + STEADY_S
        self.step = 1 - self.step


class Moody(Changing):
    """A zone whose server lies. The zone stays secure if another server does not lie."""

    def __init__(self, tree, name, rng):
        super().__init__(name, rng)
        self.tree, self.has_other = tree, bool(zones.ZONES[name].second)

    def begin(self):
        self.tree.lie(self.name, "right")

    def turn(self):
        if time.monotonic() < self.next_at:
            return
        if self.step == 0:
            self.right_since = self.right_since if self.has_other else float("inf")
            self.tree.lie(self.name, self.rng.choice(LIES))
            self.next_at = time.monotonic() + self.rng.uniform(*LIE_S)
        else:
            self.begin()
            self.right_since = self.right_since if self.has_other else time.monotonic()
            self.times += 1
            self.next_at = time.monotonic() + self.rng.uniform(*TRUTH_S)
        self.step = 1 - self.step


# ---- servers that die ----


class Deaths:
    """Kills servers and starts them again, one at a time. It knows when each was down."""

    def __init__(self, tree, rng, grace_s):
        self.tree, self.rng, self.grace_s, self.deaths = tree, rng, grace_s, 0
        self.victim, self.next_at = None, time.monotonic() + rng.uniform(*QUIET_S)
        self.back_at = dict.fromkeys(run.PROGRAMS, float("-inf"))

    def turn(self):
        now = time.monotonic()
        if now < self.next_at:
            return
        if self.victim:
            self.bring_back()
            self.next_at = time.monotonic() + self.rng.uniform(*QUIET_S)
        else:
            self.victim = self.rng.choice(VICTIMS)
            self.back_at[self.victim] = float("inf")
            self.tree.kill(self.victim)
            self.deaths += 1
            self.next_at = now + self.rng.uniform(*DOWN_S)

    def bring_back(self):
        deadline = time.monotonic() + READY_S
        self.tree.start(self.victim)
        while not self.tree.is_ready(self.victim):
            if self.tree.programs[self.victim].process.poll() is not None:
                self.tree.start(self.victim)  # its predecessor may have kept the port until now
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.victim} does not come back")
            time.sleep(0.2)
        self.back_at[self.victim], self.victim = time.monotonic(), None

    def were_down(self, since):
        """Returns the servers that were down after `since`, or shortly before."""
        return {name for name, back_at in self.back_at.items() if back_at > since - self.grace_s}


def servers_of(name):
    """Returns the servers of a zone and of the zones above it."""
    zone, found = zones.zone_of(name), set()
    while zone.name != ".":
        found.add(zone.plant)
        zone = zones.ZONES[zone.parent]
    return found | {"root"}


def servers_needed(one):
    """Returns the servers of the name, and of the names to which its aliases lead."""
    names = [one.name, *(data for kind, data in one.rows or () if kind in ("CNAME", "DNAME"))]
    return set().union(*map(servers_of, names))


# ---- the soak ----


class Client(threading.Thread):
    """Sends batches of queries until it is stopped. ended_by: the error that ended it early."""

    def __init__(self, soak, seed):
        super().__init__(daemon=True)
        self.soak, self.rng, self.ended_by = soak, random.Random(seed), None

    def run(self):
        try:
            while not self.soak.is_over.wait(PAUSE_S):
                self.ask_batch()
        except Exception as error:  # if a thread ended silently, the soak would send no queries
            self.ended_by = None if self.soak.is_over.is_set() else repr(error)

    def ask_batch(self):
        asked = [self.rng.choice(self.soak.lively if self.rng.random() < 0.5 else self.soak.cases) for _ in range(BATCH)]
        since = time.monotonic()
        answers = self.soak.tree.ask(self.soak.resolver.address, [one.question for one in asked], parallel=BATCH,
                                     timeout=TIMEOUT_S, dnssec_ok=True)
        self.soak.judge_batch(asked, answers, since)


class Soak:
    def __init__(self, tree, builder, resolver, args):
        self.tree, self.resolver, self.args, rng = tree, resolver, args, random.Random(args.seed)
        publisher = Publisher(tree, builder)
        self.rolls = [Roll(publisher, name, number) for number, name in enumerate(zones.ROLLING)]
        self.changing = [*(Brief(publisher, name, rng) for name in zones.BRIEF),
                         *(Moody(tree, name, rng) for name in (zones.MOODY, zones.HALF_MOODY))]
        self.deaths = Deaths(tree, rng, args.grace)
        self.changing_by_name = {one.name: one for one in self.changing}
        changed = {*zones.ROLLING, *self.changing_by_name}
        self.cases = [*cases.CASES, *cases.CHAOS_CASES]
        self.lively = [one for one in self.cases if zones.zone_of(one.name).name in changed]
        self.right = self.excused = self.explained = self.bogus = 0
        self.unexcused, self.wrong, self.samples = [], [], []
        self.is_over, self.lock = threading.Event(), threading.Lock()

    def run(self):
        """Runs the soak. Returns the faults as sentences."""
        for one in [*self.rolls, *self.changing]:
            one.begin()
        time.sleep(RECOVERY_S / 5)  # until the resolver has forgotten the zones of the start
        clients = [Client(self, self.args.seed + number + 1) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        wrong = self.change_zones()
        self.is_over.set()
        for client in clients:
            client.join(TIMEOUT_S)
        wrong += [f"a client ended: {client.ended_by}" for client in clients if client.ended_by]
        return wrong + self.judge()

    def change_zones(self):
        began, seconds = time.monotonic(), self.args.minutes * 60
        while (now := time.monotonic()) < began + seconds:
            self.deaths.turn()
            if not self.deaths.victim:
                for one in [*self.rolls, *self.changing]:
                    one.turn()
            if self.resolver.process.poll() is not None:
                return [f"the resolver ended with {self.resolver.process.returncode}"]
            if now >= began + seconds * len(self.samples) / recursion.MEMORY_SAMPLES:
                self.sample(began)
            time.sleep(0.05)
        if self.deaths.victim:
            self.deaths.bring_back()
        self.sample(began)
        return []

    def judge_batch(self, asked, answers, since):
        now, down = time.monotonic(), self.deaths.were_down(since)
        with self.lock:
            for one, answer in zip(asked, answers):
                changing = self.changing_by_name.get(zones.zone_of(one.name).name)
                if changing:
                    one = dataclasses.replace(one, verdict=changing.verdict(one, since, now))
                self.judge_one(one, answer, down)

    def judge_one(self, one, answer, down):
        answer["rcode"] = answer["rcode"] or "SERVFAIL"
        fault = compare.judge(one, answer, has_sha1=False)
        said = f"{' '.join(one.question)}: {fault}; {answer['errors']} {sorted(answer['rows'])[:2]}"
        if not fault:
            self.right += 1
            self.bogus += answer["rcode"] == "SERVFAIL"
        elif cases.reason_for("nailupd", one, fault):
            self.explained += 1
        elif answer["rcode"] != "SERVFAIL":
            self.note(self.wrong, said)
        elif servers_needed(one) & down:
            self.excused += 1
        else:
            self.note(self.unexcused, f"{said} while {sorted(down)} were down")

    def note(self, faults, sentence):
        faults.append(sentence)
        if len(faults) <= 20:
            print(f"{time.strftime('%T')} {sentence}", flush=True)

    def sample(self, began):
        self.samples.append(recursion.resident_bytes(self.resolver.process.pid))
        print(f"{(time.monotonic() - began) / 60:5.1f} min  {self.right} right ({self.bogus} bogus), {self.excused} failures "
              f"excused, {len(self.unexcused)} not, {self.explained} known differences, {len(self.wrong)} wrong; "
              f"{sum(one.rolls for one in self.rolls)} rolls, {sum(one.times for one in self.changing)} changes, "
              f"{self.deaths.deaths} deaths; resident {self.samples[-1] // 1024} KiB", flush=True)

    def judge(self):
        wrong = [f"wrong: {one}" for one in self.wrong[:20]]
        if len(self.unexcused) > self.args.unexcused:
            wrong += [f"{len(self.unexcused)} failures that nothing excuses", *self.unexcused[:20]]
        if not self.right or not self.bogus:
            wrong.append("nothing was answered, or nothing was bogus")
        half = self.samples[len(self.samples) // 2]
        if self.args.minutes >= recursion.SHORT_MIN and self.samples[-1] > recursion.GROWTH_LIMIT * half:
            wrong.append(f"memory grew from {half} bytes at half time to {self.samples[-1]}")
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="build folder of nailupd")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--grace", type=float, default=15, help="seconds for which a death excuses failures")
    parser.add_argument("--unexcused", type=int, default=0, help="number of failures without excuse that are tolerated")
    parser.add_argument("--seed", type=int, default=random.getrandbits(32))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    program = pathlib.Path(args.build).resolve() / "src/nailupd"
    with tempfile.TemporaryDirectory(prefix="nailup-soak.") as folder, contextlib.ExitStack() as stack:
        made, own = pathlib.Path(folder, "made"), pathlib.Path(folder, "tree")
        made.mkdir()
        own.mkdir()
        builder = Builder(made)
        try:
            builder.build()
            tree = stack.enter_context(run.Tree(own, stack.enter_context(run.Place()), made))
            more = {"cache": {"max-ttl": f"{MAX_TTL_S}s", "size": "8MiB", "serve-stale": "0s"}}
            resolver = stack.enter_context(run.start_nailupd(tree, program, more=more))
        except CannotRun as error:
            sys.exit(f"cannot run: {error}")
        wrong = Soak(tree, builder, resolver, args).run()
    if resolver.process.returncode:
        wrong.append(f"the resolver ended with {resolver.process.returncode}")
    for sentence in wrong:
        print(f"NOT: {sentence}")
    print("signed: " + ("failed" if wrong else "every verdict was right"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
