#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Measures the cost of DNSSEC validation: nailupd beside Unbound and Knot Resolver, over a signed hierarchy on
loopback, each with and without validation.

Usage: bench/validate.py --build BUILD [--peers unbound,knot-resolver] [--zones 240] [--rounds 3] [--saturated]
[--realtime] [--aggressive] [--instructions N] [--quick]

NSD serves a root, four TLDs and the zones below, on port 53 of addresses in a network namespace made for it. Half of
the zones are signed, and the rest is provably unsigned. Each server has one thread, starts again in each round and
gets the same queries, at a fixed rate:

  cold      names of all zones, from an empty cache
  signed    other names of the signed zones: their keys are known
  denied    missing names and types of the signed zones
  unsigned  other names of the unsigned zones, which are known to be unsigned

A small library in each server (preload/count_verifications.c) counts the signatures that it verifies, and the CPU
time inside the cryptography of OpenSSL or GnuTLS. NSD counts the upstream queries.

At a fixed rate each answer wakes the server up, which costs more than its work. With --saturated dnsperf asks each
name once, as fast as the server answers.

With --instructions N only nailupd runs, under callgrind: the first N queries of each phase come in bursts, with and
without validation, and their instructions in user space are counted. A busy machine does not disturb that.

Exits 1 if nailupd verifies more signatures than a peer, spends more than half of a peer's CPU time outside of
cryptography, sends more upstream queries than Unbound, or spends 3 % more in unsigned zones than without
validation. CPU time counts with --saturated only. Exits 2 if it cannot measure.
"""

import argparse
import contextlib
import itertools
import json
import math
import os
import pathlib
import random
import re
import socket
import statistics
import struct
import subprocess
import sys
import time

import instructions
import recursion
import stage_common as stage

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE / "compare"), str(HERE.parent / "tests/system")]
import sandbox  # noqa: E402
from hierarchy.wire import Record  # noqa: E402
from signed_tree.keys import KSK, ZSK, Key  # noqa: E402
from signed_tree.signer import NSEC, Nsec3, Signed, days, ds_records  # noqa: E402

ROOT_IP, TLD_IP, ZONE_IPS = "198.18.0.1", "198.18.1.1", ["198.18.2.1", "198.18.2.2"]
HINTS = f". 3600 NS a.roots.\na.roots. 3600 A {ROOT_IP}\n"
AD = 0x20

# {TLD: (algorithm, denial)}. Two TLDs have opt-out, as com has.
TLDS = {"tld0": (13, Nsec3(0, b"", True)), "tld1": (8, Nsec3(0, b"", True)), "tld2": (13, NSEC), "tld3": (13, Nsec3(0))}
# The algorithm and the denial of a TLD's zones, in turn. None: the zone is unsigned.
KINDS = [(13, NSEC), None, (13, Nsec3(0)), None, (8, Nsec3(0)), None, (13, NSEC), None, (13, Nsec3(0)), None]
PHASES = ("cold", "signed", "denied", "unsigned")

NSD = """\
server:
{listen}  username: ""
  chroot: ""
  zonesdir: "{folder}"
  pidfile: ""
  xfrdfile: ""
  zonelistfile: "{folder}/zone.list"
  xfrdir: "{folder}"
  database: ""
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: yes
  control-interface: "{folder}/control"
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--peers", default="unbound,knot-resolver", help="any of unbound, knot-resolver")
    parser.add_argument("--zones", type=int, default=240, help="zones below the TLDs (240)")
    parser.add_argument("--rate", type=int, default=1000, help="queries a second (1000)")
    parser.add_argument("--seconds", type=float, default=4, help="seconds of each phase (4)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--saturated", action="store_true", help="send queries as fast as the server answers (dnsperf)")
    parser.add_argument("--realtime", action="store_true",
                        help="take precedence over all other programs, for a busy machine (CAP_SYS_NICE)")
    parser.add_argument("--aggressive", action="store_true",
                        help="nailupd answers from denials of all zones (RFC 8198), as Unbound does by default")
    parser.add_argument("--instructions", type=int, metavar="N", help="count the instructions of N queries per phase instead")
    parser.add_argument("--quick", action="store_true", help="only show that the script works")
    args = parser.parse_args()
    args.peers = [one for one in args.peers.split(",") if one and one != "none"]
    unknown = set(args.peers) - set(PEERS)
    if unknown:
        parser.error(f"--peers knows {', '.join(PEERS)} and none, not {', '.join(sorted(unknown))}")
    if args.instructions:
        args.zones, args.rate, args.seconds = 40, args.instructions, 1
    if args.quick:
        args.zones, args.rate, args.seconds, args.rounds = 20, 100, 0.5, 1
    return args


# ---- zones ----


def zone_name(number):
    return f"z{number}.{list(TLDS)[number % len(TLDS)]}."


def keys_of(algorithm):
    bits = 2048 if algorithm == 8 else None
    return [Key(algorithm, KSK, "keys", bits=bits), Key(algorithm, ZSK, "data", bits=bits)]


def soa(zone):
    return Record(zone, "SOA", 300, f"ns1.{zone.lstrip('.')} hostmaster.{zone.lstrip('.')} 1 3600 600 86400 60")


def delegation(zone, addresses):
    servers = [(f"ns{number}.{zone}", ip) for number, ip in enumerate(addresses, 1)]
    return [Record(zone, "NS", 3600, name) for name, _ in servers] + \
        [Record(name, "A", 3600, ip) for name, ip in servers]


class Zones:
    """The files of all zones. by_server: {address: {zone: path}}; questions: {phase: path}."""

    def __init__(self, folder, args):
        self.folder, self.args = folder, args
        self.by_server, self.names = {}, {phase: [] for phase in PHASES}
        tlds = {name: [] for name in TLDS}
        for number in range(args.zones):
            tlds[list(TLDS)[number % len(TLDS)]] += self.make_zone(number)
        root = [record for name, below in tlds.items() for record in self.make_tld(name, below)]
        ds = self.write(".", [Record(".", "NS", 3600, "a.roots."), Record("a.roots.", "A", 3600, ROOT_IP), *root],
                        (8, NSEC), [ROOT_IP])
        self.anchors = [f". 3600 IN DS {shown_ds(one)}" for one in ds]
        self.questions = {phase: self.write_questions(phase) for phase in PHASES}

    def make_zone(self, number):
        """Writes a zone. Returns its delegation."""
        zone, kind, count = zone_name(number), KINDS[number // len(TLDS) % len(KINDS)], self.names_per_zone()
        own = delegation(zone, ZONE_IPS)
        names = [f"w{n}.{zone}" for n in range(2 * count)]
        self.names["cold"] += [(name, "A") for name in names[:count]]
        self.names["signed" if kind else "unsigned"] += [(name, "A") for name in names[count:]]
        if kind:
            self.names["denied"] += [(f"x{n}.{zone}", "A") if n % 2 else (names[n], "AAAA") for n in range(count)]
        records = [*own, *(Record(name, "A", 300, "192.0.2.80") for name in names)]
        return own + self.write(zone, records, kind, ZONE_IPS)

    def make_tld(self, name, below):
        zone = f"{name}."
        own = delegation(zone, [TLD_IP])
        return own + self.write(zone, [*own, *below], TLDS[name], [TLD_IP])

    def names_per_zone(self):
        """Returns how many names a zone needs so that each phase queries each name once. Half of the zones serve three
        phases."""
        return int(2.4 * self.args.rate * self.args.seconds / self.args.zones) + 4

    def write(self, zone, records, kind, addresses):
        """Writes the file of a zone. Returns its DS records."""
        records, ds = [soa(zone), *records], []
        if kind:
            algorithm, denial = kind
            keys = keys_of(algorithm)
            records = Signed(zone, records, keys, denial, days(-1, 30)).records
            ds = ds_records(zone, keys)
        path = self.folder / f"{zone}zone"
        path.write_text("".join(f"{one.name} {one.ttl} IN {one.type} {one.data}\n" for one in records))
        for ip in addresses:
            self.by_server.setdefault(ip, {})[zone] = path
        return ds

    def write_questions(self, phase):
        random.Random(phase).shuffle(self.names[phase])
        path = self.folder / f"{phase}.queries"
        path.write_text("".join(f"{name} {kind}\n" for name, kind in self.names[phase]))
        return path


def shown_ds(record):
    data = bytes.fromhex(record.data.split()[2])
    return f"{int.from_bytes(data[:2], 'big')} {data[2]} {data[3]} {data[4:].hex()}"


# ---- servers ----


class Nsd(stage.Process):
    """NSD at some authoritative addresses, all with the same zones."""

    def __init__(self, folder, addresses, zones, wrapper):
        self.folder, self.address = folder, addresses[0]
        folder.mkdir()
        text = NSD.format(folder=folder, listen="".join(f"  ip-address: {ip}@53\n" for ip in addresses))
        text += "".join(f'zone:\n  name: "{zone}"\n  zonefile: "{path}"\n' for zone, path in zones.items())
        (folder / "conf").write_text(text)
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([*wrapper, stage.find_program("nsd", "nsd"), "-d", "-c", folder / "conf"],
                                            stdout=log, stderr=subprocess.STDOUT)
        self.zone = next(iter(zones))

    def __enter__(self):
        until = time.monotonic() + 20
        while not self.answers():
            if time.monotonic() > until or self.process.poll() is not None:
                self.stop()
                stage.give_up(f"NSD does not start: {(self.folder / 'log').read_text()[-500:]}")
            time.sleep(0.05)
        return self

    def answers(self):
        answer = stage.ask(53, self.zone.rstrip(".") or "a.roots", ip=self.address)
        return answer is not None and answer[3] & 15 == 0

    def queries(self):
        said = subprocess.run([stage.find_program("nsd-control"), "-c", self.folder / "conf", "stats_noreset"],
                              check=True, text=True, capture_output=True).stdout
        return int(next(line for line in said.splitlines() if line.startswith("num.queries=")).partition("=")[2])


class Server(stage.Process):
    """A measured server in its own folder, alone on its CPU."""

    def __init__(self, folder, command, wrapper, library):
        self.port, self.folder, self.counts = stage.free_port(), folder, folder / "verifications"
        self.counts.write_bytes(bytes(16))
        (folder / "hints").write_text(HINTS)
        counted = ["env", f"LD_PRELOAD={library}", f"VERIFICATIONS={self.counts}"]
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([*wrapper, *counted, *command(self.port, folder)], stdout=log,
                                            stderr=subprocess.STDOUT, cwd=folder)

    def __enter__(self):
        if not stage.await_answer(self.port, 20, "a.roots", lambda: self.process.poll() is None):
            self.stop()
            stage.give_up(f"{self.folder.name} does not answer: {(self.folder / 'log').read_text()[-800:]}")
        return self

    def verified(self):
        """Returns (verifications, CPU time in them in us)."""
        count, cpu_ns = struct.unpack("=QQ", self.counts.read_bytes())
        return count, cpu_ns / 1e3

    def is_validating(self):
        """Returns whether the root is secure for the server."""
        query = bytearray(stage.make_query("a.roots"))
        query[3] |= AD
        with stage.socket.socket(stage.socket.AF_INET, stage.socket.SOCK_DGRAM) as client:
            client.settimeout(5)
            client.sendto(query, ("127.0.0.1", self.port))
            return client.recv(65535)[3] & AD != 0


def nailupd(program, anchors, validates, aggressive="tops"):
    def command(port, folder):
        config = {"server": {"workers": 1, "listen": [f"127.0.0.1@{port}"]}, "cache": {"size": "128MiB"},
                  "recursion": {"enabled": "yes", "root-hints": f"{folder}/hints", "do-not-query": [], "prefer-ip": 4},
                  "control": {"socket": f"{folder}/control.sock"}, "log": {"level": "warning"}}
        if validates is not None:
            (folder / "anchors").write_text("".join(f"{one}\n" for one in anchors))
            config["dnssec"] = {"validate": "yes", "trust-anchor-file": f"{folder}/anchors",
                                "aggressive": aggressive} if validates else {"validate": "no"}
        (folder / "nailup.yaml").write_text(json.dumps(config))
        return [program, "-c", f"{folder}/nailup.yaml"]
    return command


def unbound(anchors, validates):
    program = stage.find_program("unbound", "unbound")
    text = recursion.UNBOUND
    if validates:
        text = text.replace('module-config: "iterator"', 'module-config: "validator iterator"')
    more = "".join(f'  trust-anchor: "{one}"\n' for one in anchors if validates)

    def command(port, folder):
        (folder / "conf").write_text(text.format(port=port, folder=folder, hints=folder / "hints", more=more))
        return [sandbox.without_profile(program, folder), "-d", "-c", f"{folder}/conf"]
    return command


def knot_resolver(anchors, validates):
    program = stage.find_program("kresd", "knot-resolver")
    more = "".join(f"trust_anchors.add('{one}')\n" for one in anchors if validates)

    def command(port, folder):
        (folder / "conf").write_text(recursion.KRESD.format(port=port, hints=folder / "hints") + more)
        return [program, "-n", "-c", f"{folder}/conf", str(folder)]
    return command


PEERS = {"unbound": unbound, "knot-resolver": knot_resolver}


def knows_validation(program, folder):
    """Returns whether this nailupd knows the option."""
    conf = pathlib.Path(folder, "knows.yaml")
    conf.write_text(json.dumps({"dnssec": {"validate": "no"}, "control": {"socket": f"{folder}/knows.sock"}}))
    return subprocess.run([program, "-t", "-c", conf], capture_output=True, check=False).returncode == 0


def commands_of(args, programs, anchors, folder):
    """Returns {"name": command} with and without validation, and {name: why it is missing}."""
    found, missing = {}, {}
    if knows_validation(programs.nailupd, folder):
        found["nailupd"] = nailupd(programs.nailupd, anchors, True, "yes" if args.aggressive else "tops")
        found["nailupd, no validation"] = nailupd(programs.nailupd, anchors, False)
    else:
        missing["nailupd"] = "does not validate"
        found["nailupd, no validation"] = nailupd(programs.nailupd, anchors, None)
    for name in args.peers:
        try:
            found[name] = PEERS[name](anchors, True)
            found[f"{name}, no validation"] = PEERS[name](anchors, False)
        except SystemExit:
            missing[name] = "not installed"
    return found, missing


# ---- measuring ----


class Phase:
    """The cost of a load for each answer."""

    def __init__(self, report, upstream, cpu_us, count, crypto_us):
        answered = max(1, report["answered"])
        self.answered, self.lost = report["answered"], report["lost"]
        self.upstream, self.verified = upstream / answered, count / answered
        self.cpu_us, self.crypto_us = cpu_us / answered, crypto_us / answered
        self.rest_us = self.cpu_us - self.crypto_us
        self.p50_us, self.p99_us = (report["latency_us"].get(one, float("nan")) for one in ("p50", "p99"))
        self.good = report["rcodes"].get("NOERROR", 0) + report["rcodes"].get("NXDOMAIN", 0)


def number_behind(words, text):
    found = re.search(re.escape(words) + r"\s+(\d+)", text)
    return int(found.group(1)) if found else 0


class Measurement(recursion.Rounds):
    def __init__(self, args, programs, folder, library):
        super().__init__(args, programs, folder)
        self.library = library
        self.zones, self.authorities = Zones(folder, args), []

    def authority_of(self, number, addresses):
        return Nsd(self.folder / f"nsd-{number}", addresses, self.zones.by_server[addresses[0]], self.other_cpu)

    def start_authorities(self, stack):
        self.authorities = [stack.enter_context(self.authority_of(number, addresses))
                            for number, addresses in enumerate(([ROOT_IP], [TLD_IP], ZONE_IPS))]

    def upstream(self):
        return sum(one.queries() for one in self.authorities)

    def load(self, server, phase):
        return stage.load(self.programs.bench, server.port, "--rate", self.args.rate, "--connections", 4,
                          "--duration", self.args.seconds, "--timeout", 5000, "--queries",
                          self.zones.questions[phase], wrapper=self.other_cpu)

    def load_once(self, server, phase):
        """Runs dnsperf. Returns its report in the form of nailup-bench load."""
        said = subprocess.run([*self.other_cpu, stage.find_program("dnsperf", "dnsperf"), "-s", "127.0.0.1", "-p",
                               str(server.port), "-d", self.zones.questions[phase], "-n", "1", "-q", "64", "-c", "4"],
                              check=True, text=True, capture_output=True).stdout
        return {"answered": number_behind("Queries completed:", said), "lost": number_behind("Queries lost:", said),
                "latency_us": {}, "rcodes": {code: number_behind(code, said) for code in ("NOERROR", "NXDOMAIN")}}

    def ask(self, server, phase):
        upstream, cpu, (count, crypto) = self.upstream(), stage.cpu_us(server.pid), server.verified()
        report = (self.load_once if self.args.saturated else self.load)(server, phase)
        now_count, now_crypto = server.verified()
        return Phase(report, self.upstream() - upstream, stage.cpu_us(server.pid) - cpu, now_count - count,
                     now_crypto - crypto)

    def round_of(self, name, command, number):
        folder = self.folder / f"{name.replace(', ', '-').replace(' ', '-')}-{number}"
        folder.mkdir()
        with Server(folder, command, self.server_cpu, self.library) as server:
            if server.is_validating() == name.endswith("no validation"):
                stage.give_up(f"{name}: the root is {'secure' if server.is_validating() else 'not secure'}")
            self.rounds.setdefault(name, []).append({phase: self.ask(server, phase) for phase in PHASES})

    def median(self, name, phase, field):
        return statistics.median(getattr(one[phase], field) for one in self.rounds[name])


# ---- counting instructions ----

BURST = 32


class CountedServer(instructions.CountedNailupd):
    """A nailupd under callgrind, with these zones."""

    def __init__(self, folder, command):
        self.vgdb, self.out, self.dumps = f"--vgdb-prefix={folder}/vgdb", f"{folder}/callgrind.out", 0
        self.port = stage.free_port()
        folder.mkdir()
        (folder / "hints").write_text(HINTS)
        valgrind = [stage.find_program("valgrind"), "--tool=callgrind", "--quiet", self.vgdb, "--compress-strings=no",
                    "--compress-pos=no", f"--callgrind-out-file={self.out}"]
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([*valgrind, *command(self.port, folder)], stdout=log,
                                            stderr=subprocess.STDOUT, cwd=folder)

    def __enter__(self):
        if not stage.await_answer(self.port, instructions.START_SECONDS, "a.roots", self.is_alive):
            self.stop()
            stage.give_up("nailupd does not answer under valgrind")
        return self

    def __exit__(self, *_):
        self.stop()

    def count(self, queries):
        """Sends queries in bursts. Returns the profile."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(instructions.PATIENCE_SECONDS)
            client.connect(("127.0.0.1", self.port))
            self.zero()
            for at in range(0, len(queries), BURST):
                self.settle()
                self.pause()
                for query in queries[at:at + BURST]:
                    client.send(query)
                self.resume()
                for _ in queries[at:at + BURST]:
                    client.recv(65535)
        return self.dump()


def queries_of(zones, phase, most):
    """Returns the queries of a phase. The cold phase has all zones, so that the later phases find them known."""
    lines = pathlib.Path(zones.questions[phase]).read_text().splitlines()
    pairs = [line.split() for line in itertools.islice(lines, None if phase == "cold" else most)]
    return [stage.make_query(name, 28 if kind == "AAAA" else 1) for name, kind in pairs]


def count_instructions(measured):
    print("| nailupd | phase | queries | instructions per query | in libcrypto | outside |\n|---|---|---|---|---|---|")
    for name, validates in (("validation", True), ("no validation", False)):
        command = nailupd(measured.programs.nailupd, measured.zones.anchors, validates)
        with CountedServer(measured.folder / name.replace(" ", "-"), command) as server:
            for phase in PHASES:
                queries = queries_of(measured.zones, phase, measured.args.instructions)
                profile, count = server.count(queries), len(queries)
                crypto = profile.modules["libcrypto"]
                print(f"| {name} | {phase} | {count} | {profile.total / count:.0f} | {crypto / count:.0f} | "
                      f"{(profile.total - crypto) / count:.0f} |", flush=True)


# ---- the report ----


def shown(value):
    return "-" if math.isnan(value) else f"{value:.0f}"


def row_of(measured, name, phase):
    def median(field):
        return measured.median(name, phase, field)
    rounds = [one[phase] for one in measured.rounds[name]]
    good = 100 * sum(one.good for one in rounds) / max(1, sum(one.answered + one.lost for one in rounds))
    return (f"| {name} | {phase} | {median('verified'):.2f} | {median('crypto_us'):.1f} | {median('rest_us'):.1f} | "
            f"{median('cpu_us'):.1f} | {median('upstream'):.2f} | {shown(median('p50_us'))} | "
            f"{shown(median('p99_us'))} | {median('answered'):.0f} | {good:.2f} |")


def tell(measured, missing):
    print("| server | phase | verifications per query | CPU us in cryptography | CPU us outside | CPU us | upstream "
          "queries per query | p50 us | p99 us | answers | good % |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for phase in PHASES:
        for name in measured.rounds:
            print(row_of(measured, name, phase))
    for name, why in missing.items():
        print(f"| {name} | {why} | - | - | - | - | - | - | - | - | - |")


def judge(measured):
    """Returns sentences about the missed goals."""
    compares_cpu = measured.args.saturated
    if "nailupd" not in measured.rounds:
        return
    for phase in PHASES:
        for name in [one for one in PEERS if one in measured.rounds]:
            def both(field, name=name, phase=phase):
                return (measured.median(one, phase, field) for one in ("nailupd", name))
            ours, theirs = both("verified")
            if ours > theirs + 0.005:
                yield f"{phase}: {ours:.2f} verifications per query, {name} has {theirs:.2f}"
            ours, theirs = both("rest_us")
            if compares_cpu and ours > 0.5 * theirs:
                yield f"{phase}: {ours / theirs:.2f} of the CPU time of {name} outside of cryptography, wanted 0.5"
            ours, theirs = both("upstream")
            if name == "unbound" and ours > theirs:
                yield f"{phase}: {ours / theirs:.3f} of the upstream queries of {name}, wanted no more"
    ours, plain = (measured.median(one, "unsigned", "cpu_us") for one in ("nailupd", "nailupd, no validation"))
    if compares_cpu and ours > 1.03 * plain:
        yield f"unsigned: {ours / plain:.3f} of the CPU time without validation, wanted 1.03"


@contextlib.contextmanager
def measuring(kind, args):
    """Yields a measurement of this kind. Its authoritative servers run until the end."""
    programs = stage.Programs(os.path.abspath(args.build))
    library = stage.Programs.path(os.path.abspath(args.build), "bench/libcount_verifications.so")
    recursion.enter_network(args)
    with sandbox.working_directory() as folder, contextlib.ExitStack() as stack:
        measured = kind(args, programs, pathlib.Path(folder), library)
        measured.start_authorities(stack)
        yield measured


def main():
    args = parse_arguments()
    with measuring(Measurement, args) as measured:
        if args.instructions:
            count_instructions(measured)
            return 0
        commands, missing = commands_of(args, measured.programs, measured.zones.anchors, measured.folder)
        measured.run(commands)
    tell(measured, missing)
    return recursion.tell_missed(list(judge(measured)))


if __name__ == "__main__":
    sys.exit(main())
