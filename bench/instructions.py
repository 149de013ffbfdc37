#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Counts the instructions of nailupd in user space per query, with callgrind.

The paths are a hit over UDP and TCP, a hit over UDP of a client in a view and with response policy, a miss over
nailed TCP, nailed TLS and UDP, and a recursive resolution in a known zone (one query) and in a new one (two queries).

On a shared machine, time differs by more than the effect of a change; the number of instructions hardly differs.
It ignores the kernel, which takes most of the time, and distant memory; time_split.py measures both.

The cost of a query depends on the number of queries in a turn of the loop. So queries come in bursts of one
size: nailupd is stopped while a burst is sent, and a burst is sent when the turn of the previous one is over.
"""

import argparse
import collections
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import stage_common
import tls_stage

SUFFIX = "bench.example.net"
HIT_NAMES = 256
PATIENCE_SECONDS = 30
START_SECONDS = 90  # five daemons start at the same time under valgrind, on a busy machine
SECONDS_TO_AGE = 1.1  # a younger answer leaves unchanged and costs less: its TTL is not counted down

Path = collections.namedtuple("Path", "name upstream kind client burst share")
PATHS = [
    Path("hit UDP", "udp", "hit", "udp", 32, 1),
    Path("hit UDP, one at a time", "udp", "hit", "udp", 1, 1 / 4),
    Path("hit TCP", "udp", "hit", "tcp", 32, 1),
    Path("hit UDP, in a view", "udp with a view", "hit", "udp", 32, 1),
    Path("hit UDP, rules about names", "udp with rules about names", "hit", "udp", 32, 1),
    Path("hit UDP, rules about addresses", "udp with rules about addresses", "hit", "udp", 32, 1),
    Path("miss nailed TCP", "tcp", "miss", "udp", 32, 1),
    Path("miss nailed TCP, one at a time", "tcp", "miss", "udp", 1, 1 / 4),
    Path("miss nailed TLS", "tls", "miss", "udp", 32, 1),
    Path("miss UDP", "udp", "miss", "udp", 32, 1),
    Path("recursion, known zone", "recursion", "known", "udp", 32, 1),
    Path("recursion, new zone", "recursion", "new", "udp", 32, 1),
    Path("recursion, known zone, nailed", "recursion nailed", "known", "udp", 32, 1),
]

# The addresses of servers in a hierarchy that `nailup-bench responder` generates.
ROOT = "127.61.0.1"
LEVELS = {"root": [ROOT], "tld": ["127.61.0.2"], "near": ["127.61.0.65", "127.61.0.66"],
          "far": ["127.61.0.3", "127.61.0.4"]}
NAILED = "127.61.0.64/27"
KNOWN_ZONES = 64


def hierarchy():
    """Returns the responder's options for the hierarchy."""
    return [word for level, addresses in LEVELS.items()
            for word in ("--level", level, *(w for ip in addresses for w in ("--listen", f"{ip}@PORT")))]


def recursion(responder, hints, nailed):
    """Returns the configuration for recursion. hints: a file to write; nailed: prefixes."""
    pathlib.Path(hints).write_text(f". 3600 NS ns0.\nns0. 3600 A {ROOT}\n", encoding="utf-8")
    return {"server": {"workers": 1}, "cache": {"size": "128MiB"}, "tcp-upstream-keepalive": nailed,
            "recursion": {"enabled": "yes", "root-hints": str(hints), "port": responder.port, "do-not-query": []}}


# These rules match no query of the benchmark, as nearly all rules of a policy zone. Some are about names below "net".
RULES = 4096
RULE_LEVELS = ("{}.net", "{}.com", "{}.org", "www.{}.net", "{}.co.example", "cdn.{}.info")


def policy(folder, is_about_addresses):
    """Writes a policy zone. Returns its configuration."""
    rules = [f"{wild}{RULE_LEVELS[i % len(RULE_LEVELS)].format(f'bad{i}')} CNAME ."
             for i in range(RULES // 2) for wild in ("", "*.")]
    if is_about_addresses:
        rules += [f"24.0.{i % 256}.{51 + i // 256}.198.rpz-ip CNAME ." for i in range(RULES)]
    path = pathlib.Path(folder) / f"policy-{len(rules)}.zone"
    path.write_text("\n".join(["$TTL 60", "@ SOA ns. admin. 1 60 60 60 60", "@ NS ns.", *rules, ""]), encoding="utf-8")
    return {"rpz": [{"name": "policy.example", "file": str(path)}]}


def addition(folder, what):
    """Returns the lines that a path adds to the configuration of its transport. The view has its own answers."""
    if what == "a view":
        forward = [{"name": "view.example", "upstreams": ["127.0.0.1@9"]}]
        return {"views": [{"name": "loopback", "clients": ["127.0.0.0/8"], "forward-zones": forward}]}
    return policy(folder, what.endswith("addresses")) if what else {}


def configuration(responder, upstream):
    is_tls, nailed = upstream == "tls", upstream != "udp"
    port = responder.tls_port if is_tls else responder.port
    return {
        "server": {"workers": 1},
        "cache": {"size": "128MiB"},
        "tcp-upstream-keepalive": ["127.0.0.1"] if nailed else [],
        "upstream": {"ca-bundle": responder.ca, "auth-name": tls_stage.NAME} if is_tls else {},
        "forward-zones": [{"name": ".", "transport": upstream, "upstreams": [f"127.0.0.1@{port}"]}],
    }


class CountedNailupd(stage_common.Nailupd):
    """nailupd under callgrind. It comes in front of the responder and has one worker."""

    def __init__(self, args, folder, responder, upstream):
        self.vgdb, self.out = f"--vgdb-prefix={folder}/vgdb", f"{folder}/{upstream.replace(' ', '-')}.out"
        self.dumps = 0
        transport, _, what = upstream.partition(" with ")
        valgrind = [args.valgrind, "--tool=callgrind", "--quiet", self.vgdb, "--compress-strings=no",
                    "--compress-pos=no", f"--callgrind-out-file={self.out}"]
        recurses, nailed = upstream.startswith("recursion"), [NAILED] if "nailed" in upstream else []
        self.start_name = "w.start.near" if recurses else "start.example"
        config = (recursion(responder, f"{folder}/hints", nailed) if recurses
                  else configuration(responder, transport) | addition(folder, what))
        super().__init__(args.programs.nailupd, folder, config, wrapper=valgrind)

    def await_answer(self):
        if not stage_common.await_answer(self.port, START_SECONDS, self.start_name, self.is_alive):
            stage_common.give_up("nailupd does not answer under valgrind; was it built with a sanitizer?")

    def is_alive(self):
        return self.process.poll() is None

    def tell(self, *words):
        subprocess.run(["vgdb", self.vgdb, f"--pid={self.pid}", *words], check=True, capture_output=True,
                       timeout=PATIENCE_SECONDS)

    def is_asleep(self):
        """Returns whether all threads wait, so that the previous turn is over."""
        return all(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "S"
                   for stat in pathlib.Path(f"/proc/{self.pid}/task").glob("*/stat"))

    def settle(self):
        until = time.monotonic() + PATIENCE_SECONDS
        while not self.is_asleep():
            if time.monotonic() > until:
                stage_common.give_up("nailupd never sleeps")
            time.sleep(0.0002)

    def pause(self):
        """Waits until no thread executes instructions."""
        self.process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            stage_common.give_up("nailupd ended")

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def zero(self):
        self.settle()
        self.tell("zero")

    def dump(self):
        """Returns the counts since zero()."""
        self.settle()
        self.tell("dump")
        self.dumps += 1
        return Profile(f"{self.out}.{self.dumps}")


def module_of(source, function_source, binary):
    """Returns the folder of src, or the library, to which an instruction belongs. An inlined function of a library's
    header belongs to its caller."""
    for place in (source, function_source):
        parts = pathlib.PurePath(place).parts
        if "src" in parts[:-2]:
            return parts[len(parts) - 1 - parts[::-1].index("src") + 1]
    name = pathlib.PurePath(binary).name
    for library in ("libuv", "libcrypto", "libssl", "libxxhash", "liburcu", "ld-linux", "libc", "vdso"):
        if name.startswith(library):
            return library
    return name or "unknown"


class Profile:
    """A dump of callgrind: `total`, counts by module, and counts by function (own, and with callees)."""

    def __init__(self, path):
        self.modules, self.itself = collections.Counter(), collections.Counter()
        self.called = collections.Counter()
        binary = source = function_source = callee = ""
        function, is_call = ("", ""), False
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                key, equals, value = line.rstrip("\n").partition("=")
                if line[0].isdigit():
                    cost = int(line.split()[1])
                    if is_call:
                        self.called[function] += cost if callee != function[1] else 0
                    else:
                        self.modules[module_of(source, function_source, binary)] += cost
                        self.itself[function] += cost
                    is_call = False
                elif not equals:
                    continue
                elif key == "ob":
                    binary = value
                elif key == "fl":
                    source = function_source = value
                elif key in ("fi", "fe"):
                    source = value
                elif key == "fn":
                    function, callee = (module_of(function_source, "", binary), value), ""
                elif key == "cfn":
                    callee = value
                elif key == "calls":
                    is_call = True
        self.total = sum(self.modules.values())

    def functions(self):
        """Returns {(module, function): (own instructions, with callees)}."""
        return {name: (self.itself[name], self.itself[name] + self.called[name])
                for name in set(self.itself) | set(self.called)}


class Client:
    """Sends queries in bursts over one socket, with new names or known ones."""

    def __init__(self, server, path):
        self.server, self.path = server, path
        kind = socket.SOCK_STREAM if path.client == "tcp" else socket.SOCK_DGRAM
        self.socket = socket.socket(socket.AF_INET, kind)
        self.socket.settimeout(PATIENCE_SECONDS)
        self.socket.connect(("127.0.0.1", server.port))
        self.asked, self.rest = 0, b""

    def next_query(self):
        """Returns the next query. All names of a kind have the same length."""
        number = self.asked
        self.asked += 1
        if self.path.kind == "known":
            return stage_common.make_query(f"w{number:07}.z{number % KNOWN_ZONES:02}.near")
        if self.path.kind == "new":
            return stage_common.make_query(f"www.z{number:07}.near")
        name = f"h{number % HIT_NAMES:07}" if self.path.kind == "hit" else f"m{number:07}"
        return stage_common.make_query(f"{name}.{self.path.name.count('one')}.{SUFFIX}")

    def send(self, queries):
        self.server.settle()
        if self.path.client == "tcp":  # the server reads each write in one piece, so there is no need to stop it
            self.socket.sendall(b"".join(len(query).to_bytes(2, "big") + query for query in queries))
            return
        if len(queries) > 1:
            self.server.pause()
        for query in queries:
            self.socket.send(query)
        if len(queries) > 1:
            self.server.resume()

    def receive(self):
        if self.path.client == "udp":
            return self.socket.recv(65535)
        while len(self.rest) < 2 or len(self.rest) < 2 + int.from_bytes(self.rest[:2], "big"):
            self.rest += self.socket.recv(65536) or b"\0\0"
        end = 2 + int.from_bytes(self.rest[:2], "big")
        message, self.rest = self.rest[2:end], self.rest[end:]
        return message

    def ask(self, count):
        for _ in range(0, count, self.path.burst):
            self.send([self.next_query() for _ in range(self.path.burst)])
            for _ in range(self.path.burst):
                answer = self.receive()
                if len(answer) < 12 or answer[3] & 15:
                    stage_common.give_up(f"{self.path.name}: not answered with NOERROR")


def burst_multiple(path, queries):
    return max(1, round(queries * path.share / path.burst)) * path.burst


def measure(path, server, args):
    """Returns the figures of a path: the median of the rounds, and the rounds."""
    client, rounds = Client(server, path), []
    client.ask(2 * HIT_NAMES)
    if path.kind == "hit":
        time.sleep(SECONDS_TO_AGE)
    count = burst_multiple(path, args.queries)
    for _ in range(args.rounds):
        server.zero()
        client.ask(count)
        rounds.append(server.dump())
    client.socket.close()
    totals = [profile.total / count for profile in rounds]
    return {
        "instructions_per_query": statistics.median(totals), "queries": count, "burst": path.burst,
        "rounds": totals, "spread_percent": 100 * (max(totals) - min(totals)) / min(totals),
        "modules": {module: cost / count for module, cost in rounds[-1].modules.most_common()},
        "functions": [{"module": module, "function": name, "self": itself / count, "inclusive": all_ / count}
                      for (module, name), (itself, all_) in rounds[-1].functions().items()
                      if all_ / count >= 1]}


def measure_all(args):
    """Starts all servers, then measures them one by one."""
    with tempfile.TemporaryDirectory(prefix="instructions-") as folder, \
            tls_stage.Responder(args.programs.bench, folder, ["127.0.0.1"], *hierarchy()) as responder:
        servers = {}
        try:
            for path in args.paths:
                if path.upstream not in servers:
                    servers[path.upstream] = CountedNailupd(args, folder, responder, path.upstream)
            for server in servers.values():
                server.await_answer()
            return {path.name: measure(path, servers[path.upstream], args) for path in args.paths}
        finally:
            for server in servers.values():
                server.stop()


def table(paths):
    lines = ["| path | queries at a time | instructions per query | rounds differ by % | most of them in |",
             "|---|---|---|---|---|"]
    for name, figures in paths.items():
        most = ", ".join(f"{module} {cost:.0f}" for module, cost in list(figures["modules"].items())[:6])
        lines.append(f"| {name} | {figures['burst']} | {figures['instructions_per_query']:.0f} "
                     f"| {figures['spread_percent']:.2f} | {most} |")
    return "\n".join(lines)


def function_table(name, figures, key, title):
    lines = [f"\n{name}: {title}", "| module | function | itself | with what it calls | % |",
             "|---|---|---|---|---|"]
    for row in sorted(figures["functions"], key=lambda row: -row[key])[:12]:
        lines.append(f"| {row['module']} | {row['function']} | {row['self']:.0f} | {row['inclusive']:.0f} "
                     f"| {100 * row[key] / figures['instructions_per_query']:.1f} |")
    return "\n".join(lines)


def compare(before, after, limit_percent):
    """Returns (sentences, whether all paths are within the limit). A path that only one side has is not judged."""
    lines, is_good = [], True
    for name, figures in after.items():
        if name not in before:
            continue
        old, new = before[name]["instructions_per_query"], figures["instructions_per_query"]
        change = 100 * (new - old) / old
        verdict = "MORE" if change > limit_percent else "less" if change < -limit_percent else "same"
        is_good = is_good and verdict != "MORE"
        lines.append(f"- {verdict}: {name}: {old:.0f} before, {new:.0f} now ({change:+.1f} %)")
    if not lines:
        return ["- nothing to compare: no path is in both"], False
    return lines, is_good


def chosen_paths(parser, only):
    names = only.split("; ") if only else [path.name for path in PATHS]
    for name in set(names) - {path.name for path in PATHS}:
        parser.error(f"no path is called '{name}'; there are: {'; '.join(path.name for path in PATHS)}")
    return [path for path in PATHS if path.name in names]


def earlier(parser, file):
    """Reads the paths of an earlier run's --json."""
    try:
        paths = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["paths"]
        if all(figures["instructions_per_query"] > 0 for figures in paths.values()):
            return paths
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return parser.error(f"{file} was not written by --json")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--build", required=True, help="folder of an optimised build with -g")
    add("--queries", type=int, default=2048, help="queries per path and round; a quarter of it for one at a time")
    add("--rounds", type=int, default=2)
    add("--quick", action="store_true", help="send few queries, only to show that the script works")
    add("--only", help="only these paths, separated by '; '")
    add("--functions", action="store_true", help="show the twelve most expensive functions of each path")
    add("--json", help="file for all figures")
    add("--compare", help="file of an earlier --json; exit with 1 if a path costs more now")
    add("--limit", type=float, default=3, help="percent from which a path counts as more expensive")
    add("--valgrind", default="valgrind")
    args = parser.parse_args()
    args.programs = stage_common.Programs(args.build)
    for program in (args.valgrind, "vgdb"):
        stage_common.find_program(program, "valgrind")
    if args.quick:
        args.queries = 256
    args.paths = chosen_paths(parser, args.only)
    args.before = earlier(parser, args.compare) if args.compare else None
    return args


def main():
    args = parse_arguments()
    started = time.monotonic()
    paths = measure_all(args)
    print(table(paths))
    if args.functions:
        for name, figures in paths.items():
            print(function_table(name, figures, "self", "by what a function does itself"))
            print(function_table(name, figures, "inclusive", "by what it calls, too"))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"paths": paths}, indent=1), encoding="utf-8")
    print(f"{time.monotonic() - started:.0f} seconds", file=sys.stderr)
    if args.before is None:
        return 0
    lines, is_good = compare(args.before, paths, args.limit)
    print("\n".join(["", *lines]))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
