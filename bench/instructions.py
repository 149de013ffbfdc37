#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Instructions of nailupd in user space per query, counted by callgrind: a hit over UDP and TCP, a
miss over nailed TCP, nailed TLS and UDP.

Time on a shared machine differs by more than what a change of the code gains or costs; the number of
instructions hardly does. It says nothing of the kernel, which has most of the time, nor of memory
that is far away: profile.py does.

How many queries a turn of the loop takes is a part of their cost. So they come in bursts of one size:
nailupd is stopped while a burst is sent, and a burst is sent when the one before is answered.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import hit_miss
import tls_stage

SUFFIX = "bench.example.net"
HIT_NAMES = 256
PATIENCE_SECONDS = 30

Path = collections.namedtuple("Path", "name upstream kind client burst share")
PATHS = [
    Path("hit UDP", "udp", "hit", "udp", 32, 1),
    Path("hit UDP, one at a time", "udp", "hit", "udp", 1, 1 / 8),
    Path("hit TCP", "udp", "hit", "tcp", 32, 1),
    Path("miss nailed TCP", "tcp", "miss", "udp", 32, 1),
    Path("miss nailed TCP, one at a time", "tcp", "miss", "udp", 1, 1 / 8),
    Path("miss nailed TLS", "tls", "miss", "udp", 32, 1),
    Path("miss UDP", "udp", "miss", "udp", 32, 1),
]


class Nailupd:
    """nailupd under callgrind, in front of the responder. Its worker is one thread."""

    def __init__(self, args, folder, responder, upstream):
        self.name, self.folder, self.port = f"nailupd-{upstream}", folder, tls_stage.free_port()
        is_tls, nailed = upstream == "tls", upstream != "udp"
        conf = pathlib.Path(folder) / f"{self.name}.conf"
        conf.write_text(hit_miss.NAILUPD_CONF.format(
            port=self.port, directory=folder, name=self.name, transport=upstream,
            upstream=responder.tls_port if is_tls else responder.port,
            ca=responder.ca if is_tls else "", name_of_upstream=tls_stage.NAME if is_tls else "",
            keepalive="tcp-upstream-keepalive: [127.0.0.1]" if nailed else ""), encoding="utf-8")
        self.dumps, self.out = 0, f"{folder}/{self.name}.out"
        self.log = open(f"{folder}/{self.name}.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [args.valgrind, "--tool=callgrind", "--quiet", f"--vgdb-prefix={folder}/vgdb",
             "--compress-strings=no", "--compress-pos=no", f"--callgrind-out-file={self.out}",
             args.nailupd, "-c", str(conf)], stdout=self.log, stderr=subprocess.STDOUT)

    def await_answer(self):
        if not hit_miss.await_answer(self.port, PATIENCE_SECONDS):
            words = pathlib.Path(self.log.name).read_text(encoding="utf-8")[-600:]
            raise SystemExit(f"instructions: nailupd does not answer under valgrind\n{words}")

    def tell(self, *words):
        subprocess.run(["vgdb", f"--vgdb-prefix={self.folder}/vgdb", f"--pid={self.process.pid}", *words],
                       check=True, capture_output=True, timeout=PATIENCE_SECONDS)

    def pause(self):
        """Returns when no instruction is executed any more."""
        self.process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            raise SystemExit("instructions: nailupd ended")

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def zero(self):
        self.tell("zero")

    def dump(self):
        """What was counted since zero()."""
        self.tell("dump")
        self.dumps += 1
        return Profile(f"{self.out}.{self.dumps}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def module_of(source, function_source, binary):
    """The folder of src or the library that an instruction belongs to. A header of a library that is
    inlined belongs to the function that it is in."""
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
    """What a dump of callgrind says: `total`, by module, and (itself, with all it calls) by function."""

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
        """(module, function): (instructions of it alone, with all that it calls)"""
        return {name: (self.itself[name], self.itself[name] + self.called[name])
                for name in set(self.itself) | set(self.called)}


class Client:
    """Asks in bursts over one socket, and knows which names are new."""

    def __init__(self, server, path):
        self.server, self.path = server, path
        kind = socket.SOCK_STREAM if path.client == "tcp" else socket.SOCK_DGRAM
        self.socket = socket.socket(socket.AF_INET, kind)
        self.socket.settimeout(PATIENCE_SECONDS)
        self.socket.connect(("127.0.0.1", server.port))
        self.asked, self.rest = 0, b""

    def next_query(self):
        """All names have one length."""
        name = f"h{self.asked % HIT_NAMES:07}" if self.path.kind == "hit" else f"m{self.asked:07}"
        self.asked += 1
        return hit_miss.query(f"{name}.{self.path.name.count('one')}.{SUFFIX}")

    def send(self, queries):
        if self.path.client == "tcp":  # one write is one read of the server, so nothing need be stopped
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
                    raise SystemExit(f"instructions: {self.path.name}: not answered with NOERROR")


def burst_multiple(path, queries):
    return max(1, round(queries * path.share / path.burst)) * path.burst


def measure(path, server, args):
    """The figures of a path: median of the rounds, and what the rounds said."""
    client, rounds = Client(server, path), []
    client.ask(max(HIT_NAMES, path.burst * 4))
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
    """Servers are started side by side, asked one after the other."""
    with tempfile.TemporaryDirectory(prefix="instructions-") as folder, \
            tls_stage.Responder(args.bench, folder, ["127.0.0.1"]) as responder:
        paths = [path for path in PATHS if not args.only or path.name in args.only.split("; ")]
        servers = {}
        try:
            for path in paths:
                if path.upstream not in servers:
                    servers[path.upstream] = Nailupd(args, folder, responder, path.upstream)
            for server in servers.values():
                server.await_answer()
            return {path.name: measure(path, servers[path.upstream], args) for path in paths}
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
    lines = [f"\n{name}: {title}", "| module | function | itself | with what it calls | % |", "|---|---|---|---|---|"]
    for row in sorted(figures["functions"], key=lambda row: -row[key])[:12]:
        lines.append(f"| {row['module']} | {row['function']} | {row['self']:.0f} | {row['inclusive']:.0f} "
                     f"| {100 * row[key] / figures['instructions_per_query']:.1f} |")
    return "\n".join(lines)


def compare(before, after, limit_percent):
    """(sentences, whether all is within the limit). A path that is in one of them only is not judged."""
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


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--build", default=None, help="folder of the build; it must be optimised and have -g")
    add("--queries", type=int, default=2048, help="per path and round; one at a time an eighth")
    add("--rounds", type=int, default=2)
    add("--quick", action="store_true", help="few queries: shows that it works, and little more")
    add("--only", help="names of paths, with '; ' between")
    add("--functions", action="store_true", help="the twelve dearest functions of each path")
    add("--json", help="write all figures there")
    add("--compare", help="an earlier --json; exit 1 when a path costs more now")
    add("--limit", type=float, default=3, help="percent that count as more")
    add("--valgrind", default="valgrind")
    args = parser.parse_args()
    build = pathlib.Path(args.build) if args.build else None
    args.nailupd = str(build / "src/nailupd") if build else hit_miss.find("nailupd", "build/*/src/nailupd")
    args.bench = str(build / "bench/nailup-bench") if build else \
        hit_miss.find("nailup-bench", "build/*/bench/nailup-bench")
    for program in (args.nailupd, args.bench, args.valgrind, "vgdb"):
        if not program or not shutil.which(program):
            parser.error(f"{program or 'nailupd'} is missing")
    if args.quick:
        args.queries = 256
    return args


def main():
    args = parse_arguments()
    started = time.monotonic()
    before = json.loads(pathlib.Path(args.compare).read_text(encoding="utf-8"))["paths"] if args.compare else None
    paths = measure_all(args)
    print(table(paths))
    if args.functions:
        for name, figures in paths.items():
            print(function_table(name, figures, "self", "by what a function does itself"))
            print(function_table(name, figures, "inclusive", "by what it calls, too"))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"paths": paths}, indent=1), encoding="utf-8")
    print(f"{time.monotonic() - started:.0f} seconds", file=sys.stderr)
    if before is None:
        return 0
    lines, is_good = compare(before, paths, args.limit)
    print("\n".join(["", *lines]))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
