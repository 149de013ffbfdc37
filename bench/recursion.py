#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Measures the cost of a recursive resolution: nailupd beside Unbound and Knot Resolver, over a hierarchy on
loopback.

Usage: bench/recursion.py --build BUILD [--peers unbound,knot-resolver] [--delay 1] [--rounds 3] [--realtime]
[--quick]

`nailup-bench responder` plays the root, the TLDs and the servers of thousands of zones, a round trip of 1 ms
away, on port 53 of addresses in its own network namespace. Each server has one thread, starts again in each
round and gets the same queries, with minimisation and without DNSSEC:

  cold       at a fixed rate, from an empty cache
  warm       other names of the same zones, at the same rate: their cuts are known
  saturated  more names, as fast as the server answers

The table has medians of the rounds. The responder counts upstream queries; CPU time is that of the server's
process.

Exits 1 if nailupd sends more upstream queries than Unbound, or spends more CPU time on a miss than any other
server.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

import stage_common as stage

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "compare"))
import sandbox  # noqa: E402

# Loopback is unsuitable, because Knot Resolver ignores glue with loopback addresses. RFC 2544 gives this network to
# benchmarks.
NETWORK = ("198.18.0.1", "255.254.0.0")
LEVELS = {"root": ["198.18.0.1", "198.18.0.2"], "tld": ["198.18.1.1", "198.18.1.2"],
          "near": [f"198.18.2.{n}" for n in range(65, 69)], "far": [f"198.18.3.{n}" for n in range(1, 9)]}
HINTS = "".join(f". 3600 NS ns{n}.\nns{n}. 3600 A {ip}\n" for n, ip in enumerate(LEVELS["root"]))
TLDS = 8
# How many of 100 queries have this form: a name in a zone; more labels below the zone; a further cut; an alias into
# another zone; a missing name.
FORMS = [(60, "w{}.{}"), (15, "w{}.b.a.{}"), (10, "w{}.sub{n}.{}"), (5, "al{}.{}"), (10, "nx{}.{}")]
QUAD_A_SHARE = 0.2

UNBOUND = """\
server:
  interface: 127.0.0.1@{port}
  port: {port}
  directory: "{folder}"
  pidfile: ""
  username: ""
  chroot: ""
  use-syslog: no
  do-daemonize: no
  do-not-query-localhost: no
  do-ip6: no
  module-config: "iterator"
  root-hints: "{hints}"
  qname-minimisation: yes
  num-threads: 1
  msg-cache-size: 64m
  rrset-cache-size: 128m
  msg-cache-slabs: 1
  rrset-cache-slabs: 1
  infra-cache-slabs: 1
  key-cache-slabs: 1
  outgoing-range: 8192
  num-queries-per-thread: 4096
  so-rcvbuf: 4m
  so-sndbuf: 4m
  minimal-responses: yes
{more}remote-control:
  control-enable: no
"""

# The cache is a file, and the folder may be on a disk. 100 MB are small enough to stay in the page cache.
KRESD = """\
net.listen('127.0.0.1', {port}, {{ kind = 'dns' }})
net.ipv6 = false
modules.unload('ta_update')
modules.unload('ta_signal_query')
modules.unload('ta_sentinel')
modules.unload('detect_time_skew')
modules.unload('detect_time_jump')
trust_anchors.remove('.')
modules.load('hints > iterate')
hints.root_file('{hints}')
cache.size = 100 * MB
log_level('err')
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--peers", default="unbound,knot-resolver", help="any of unbound, unbound-lazy, knot-resolver")
    parser.add_argument("--delay", type=float, default=1, help="round trip to every server in ms (1)")
    parser.add_argument("--zones", type=int, default=2000, help="number of zones in the questions (2000)")
    parser.add_argument("--rate", type=int, default=1000, help="queries a second, cold and warm (1000)")
    parser.add_argument("--seconds", type=float, default=6, help="seconds of each of the three phases (6)")
    parser.add_argument("--in-flight", type=int, default=256, help="queries in flight when saturated (256)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="seed of the questions (1)")
    parser.add_argument("--realtime", action="store_true",
                        help="take precedence over all other programs, for a busy machine (CAP_SYS_NICE)")
    parser.add_argument("--keep-log", action="store_true", help="show the output of the servers")
    parser.add_argument("--quick", action="store_true", help="only show that the script works")
    args = parser.parse_args()
    args.peers = [one for one in args.peers.split(",") if one and one != "none"]
    unknown = set(args.peers) - set(PEERS)
    if unknown:
        parser.error(f"--peers knows {', '.join(PEERS)} and none, not {', '.join(sorted(unknown))}")
    if args.quick:
        args.zones, args.rate, args.seconds, args.rounds = 50, 100, 0.5, 1
    return args


# ---- questions ----

def question(rng, zones, number):
    """Returns the question with this number. Each has a different name, so that each is a miss."""
    zone = f"z{(at := rng.randrange(zones))}.far{at % TLDS}"
    form = rng.choices([form for _, form in FORMS], [share for share, _ in FORMS])[0]
    return form.format(f"{number}", zone, n=at % 3), "AAAA" if rng.random() < QUAD_A_SHARE else "A"


def write_questions(path, rng, zones, count, first):
    path.write_text("".join("{} {}\n".format(*question(rng, zones, first + n)) for n in range(count)),
                    encoding="utf-8")
    return path


# ---- servers ----

class Responder(stage.Process):
    """The servers of the hierarchy, on port 53."""

    def __init__(self, bench, folder, delay_ms, wrapper):
        words = [word for level, addresses in LEVELS.items()
                 for word in ("--level", level, *(w for ip in addresses for w in ("--listen", f"{ip}@53")))]
        self.bench, self.control = bench, f"{folder}/responder.sock"
        self.process = subprocess.Popen(
            [*wrapper, bench, "responder", *words, "--delay", str(delay_ms), "--control", self.control],
            stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline().startswith("ready"):
            stage.give_up("the responder did not start")

    def queries(self):
        said = subprocess.run([self.bench, "control", self.control, "stats"], check=True, text=True,
                              capture_output=True).stdout
        stats = json.loads(said)
        return stats["udp_queries"] + stats["tcp_queries"]


class Server(stage.Process):
    """A measured server in its own folder, alone on its CPU. The context begins when it is ready to answer."""

    def __init__(self, folder, command, wrapper):
        self.port, self.folder = stage.free_port(), folder
        (folder / "hints").write_text(HINTS, encoding="utf-8")
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([*wrapper, *command(self.port, folder)], stdout=log,
                                            stderr=subprocess.STDOUT, cwd=folder)

    def __enter__(self):
        if not stage.await_answer(self.port, 20, "w.start.far0", lambda: self.process.poll() is None):
            self.stop()
            stage.give_up(f"{self.folder.name} does not answer: {self.said()}")
        return self

    def said(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-800:]


def nailupd(program):
    def command(port, folder):
        config = {"server": {"workers": 1, "listen": [f"127.0.0.1@{port}"]},
                  "cache": {"size": "128MiB"},
                  "recursion": {"enabled": "yes", "root-hints": f"{folder}/hints", "do-not-query": [],
                                "prefer-ip": 4},
                  "dnssec": {"validate": "no"},
                  "control": {"socket": f"{folder}/control.sock"}, "log": {"level": "warning"}}
        (folder / "nailup.yaml").write_text(json.dumps(config), encoding="utf-8")
        return [program, "-c", f"{folder}/nailup.yaml"]
    return command


def unbound(more=""):
    def find():
        program = stage.find_program("unbound", "unbound")

        def command(port, folder):
            text = UNBOUND.format(port=port, folder=folder, hints=folder / "hints", more=more)
            (folder / "conf").write_text(text, encoding="utf-8")
            return [sandbox.without_profile(program, folder), "-d", "-c", f"{folder}/conf"]
        return command
    return find


def knot_resolver():
    program = stage.find_program("kresd", "knot-resolver")

    def command(port, folder):
        (folder / "conf").write_text(KRESD.format(port=port, hints=folder / "hints"), encoding="utf-8")
        return [program, "-n", "-c", f"{folder}/conf", str(folder)]
    return command


# unbound-lazy fetches no addresses in advance. Unbound's default fetches some.
PEERS = {"unbound": unbound(), "unbound-lazy": unbound('  target-fetch-policy: "0 0 0 0 0"\n'),
         "knot-resolver": knot_resolver}


def find_peers(names):
    """Returns {name: command} and {name: why it is missing}."""
    found, missing = {}, {}
    for name in names:
        try:
            found[name] = PEERS[name]()
        except SystemExit:
            missing[name] = "not installed"
    return found, missing


# ---- measuring ----

class Phase:
    """The report of a load, with the counters of the same time."""

    def __init__(self, report, upstream, cpu_us):
        self.answered, self.lost = report["answered"], report["lost"]
        answered = max(1, self.answered)
        self.upstream, self.cpu_us = upstream / answered, cpu_us / answered
        self.p50_us, self.p99_us = report["latency_us"]["p50"], report["latency_us"]["p99"]
        rcodes = report["rcodes"]
        self.good = rcodes.get("NOERROR", 0) + rcodes.get("NXDOMAIN", 0)


PHASES = ("cold", "warm", "saturated")


class Rounds:
    """Measures each server once a round, with a different one first each time. The subclass has round_of(), which
    measures one."""

    def __init__(self, args, programs, folder):
        self.args, self.programs, self.folder, self.rounds = args, programs, folder, {}
        cpus = sorted(os.sched_getaffinity(0))
        self.server_cpu, self.other_cpu = ["taskset", "-c", str(cpus[0])], ["taskset", "-c", str(cpus[-1])]

    def run(self, commands):
        names = list(commands)
        for number in range(self.args.rounds):
            at = number % len(names)
            for name in names[at:] + names[:at]:
                self.round_of(name, commands[name], number)
            print(f"round {number + 1} of {self.args.rounds} done", file=sys.stderr)


class Measurement(Rounds):
    def __init__(self, args, programs, folder):
        super().__init__(args, programs, folder)
        self.responder = Responder(programs.bench, folder, args.delay, self.other_cpu)
        self.files = self.write_files()

    def write_files(self):
        """Writes enough names for each phase to use each name once. The saturated phase may repeat names."""
        rng, many = random.Random(self.args.seed), int(self.args.rate * self.args.seconds * 1.2) + 100
        counts = {"cold": many, "warm": many, "saturated": int(self.args.seconds * 120000)}
        first, files = 0, {}
        for phase in PHASES:
            files[phase] = write_questions(pathlib.Path(self.folder, phase), rng, self.args.zones, counts[phase], first)
            first += counts[phase]
        return files

    def ask(self, server, phase):
        how = ["--max", "--connections", 4, "--in-flight", max(1, self.args.in_flight // 4)] \
            if phase == "saturated" else ["--rate", self.args.rate, "--connections", 4]
        upstream, cpu = self.responder.queries(), stage.cpu_us(server.pid)
        report = stage.load(self.programs.bench, server.port, *how, "--duration", self.args.seconds, "--timeout", 5000,
                            "--queries", self.files[phase], wrapper=self.other_cpu)
        return Phase(report, self.responder.queries() - upstream, stage.cpu_us(server.pid) - cpu)

    def round_of(self, name, command, number):
        folder = pathlib.Path(self.folder, f"{name}-{number}")
        folder.mkdir()
        with Server(folder, command, self.server_cpu) as server:
            phases = {phase: self.ask(server, phase) for phase in PHASES}
            if self.args.keep_log:
                print(server.said(), file=sys.stderr)
        self.rounds.setdefault(name, []).append(phases)

    def median(self, name, phase, field):
        return statistics.median(getattr(one[phase], field) for one in self.rounds[name])


# ---- the report ----

def row_of(measured, name, phase, ours="nailupd"):
    def median(field):
        return measured.median(name, phase, field)
    to_ours = [median(field) / max(1e-9, measured.median(ours, phase, field)) for field in ("upstream", "cpu_us")]
    answered = sum(one[phase].answered for one in measured.rounds[name])
    lost = sum(one[phase].lost for one in measured.rounds[name])
    good = 100 * sum(one[phase].good for one in measured.rounds[name]) / max(1, answered + lost)
    return (f"| {name} | {phase} | {median('upstream'):.2f} | {to_ours[0]:.2f} | {median('cpu_us'):.1f} | {to_ours[1]:.2f} | "
            f"{median('p50_us'):.0f} | {median('p99_us'):.0f} | {median('answered'):.0f} | {good:.2f} |")


def tell(measured, missing):
    print("| server | phase | upstream queries per query | to ours | CPU us per query | to ours | p50 us | p99 us | "
          "answers | good % |\n|---|---|---|---|---|---|---|---|---|---|")
    for phase in PHASES:
        for name in measured.rounds:
            print(row_of(measured, name, phase))
    for name, why in missing.items():
        print(f"| {name} | {why} | - | - | - | - | - | - | - | - |")


def judge(measured):
    """Returns sentences about the missed goals. A server that answers more when saturated knows more afterwards, so
    upstream queries are compared where all servers had equally many queries."""
    for name in [one for one in measured.rounds if one != "nailupd"]:
        for phase in PHASES:
            ours, theirs = (measured.median(one, phase, "cpu_us") for one in ("nailupd", name))
            if ours > theirs:
                yield f"{phase}: {ours / theirs:.2f} of the CPU time of {name}, wanted less"
            ours, theirs = (measured.median(one, phase, "upstream") for one in ("nailupd", name))
            if name.startswith("unbound") and phase != "saturated" and ours > theirs:
                yield f"{phase}: {ours / theirs:.3f} of the upstream queries of {name}, wanted no more"


def go_first():
    try:
        sandbox.take_precedence()
    except SystemExit:
        stage.give_up("--realtime takes CAP_SYS_NICE")


def enter_network(args):
    if not sandbox.enter_namespace() or not sandbox.add_network(*NETWORK):
        stage.give_up("there is no network namespace, which it needs for port 53")
    if args.realtime:
        go_first()


def tell_missed(missed):
    """Prints the missed goals. Returns the exit code."""
    for sentence in missed:
        print(f"NOT: {sentence}")
    return 1 if missed else 0


def main():
    args = parse_arguments()
    programs = stage.Programs(os.path.abspath(args.build))
    enter_network(args)
    peers, missing = find_peers(args.peers)
    with sandbox.working_directory() as folder, contextlib.ExitStack() as stack:
        measured = Measurement(args, programs, folder)
        stack.enter_context(measured.responder)
        measured.run({"nailupd": nailupd(programs.nailupd), **peers})
    tell(measured, missing)
    return tell_missed(list(judge(measured)))


if __name__ == "__main__":
    sys.exit(main())
