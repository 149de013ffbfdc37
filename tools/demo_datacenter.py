# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Part 6: the datacenter. nailupd recurses from the root of a small hierarchy. Three quarters of the queries are for
zones of the datacenter's own plants, in one /27. The part runs twice: with that prefix nailed, and without."""

import contextlib
import json
import select

from demo_programs import Broken, Program, await_true, free_port, run, start_daemon
from demo_report import ms, table, title
from demo_stage import NEAR_MS

PLANTS, PREFIX = [f"127.0.1.{n}" for n in range(65, 73)], "127.0.1.64/27"
LEVELS = {"root": ["127.0.1.1"], "tld": ["127.0.1.2"], "near": PLANTS, "far": [f"127.0.1.{n}" for n in range(3, 7)]}
ZONES, NAMES = 200, 20000
RATE_PER_S, STEADY_S, SATURATED_S, ROUNDS = 1000, 0.7, 0.6, 2

CONFIG = """\
server: {workers: 1, listen: [127.0.0.1@PORT]}
recursion: {enabled: yes, root-hints: "FOLDER/hints", port: AUTHORITATIVE, do-not-query: []}
dnssec: {validate: no}
control: {socket: "SOCKET"}
log: {level: warning}
"""
NAILED = f"tcp-upstream-keepalive: [{PREFIX}]\n"
NAMED = {"plain": "without nailing", "nailed": "nailed up"}


class Hierarchy(Program):
    """The root, one server for all top-level domains, the plants, and servers of all other zones. Answers have a TTL
    of 0, so each query reaches the server of its zone."""

    def __init__(self, build, folder):
        self.bench, self.control, self.port = build / "bench/nailup-bench", folder / "hierarchy.sock", free_port()
        words = [word for level, addresses in LEVELS.items() for word in
                 ("--level", level, *(w for ip in addresses for w in ("--listen", f"{ip}@{self.port}")))]
        super().__init__(folder / "hierarchy.log", self.bench, "responder", *words, "--ttl", 0, "--delay", NEAR_MS,
                         "--control", self.control)
        select.select([self.process.stdout], [], [], 20)
        if not self.process.stdout.readline().startswith("ready"):
            self.stop()
            raise Broken(f"nailup-bench responder does not start: {self.log.read_text()}")
        (folder / "hints").write_text(". 3600 NS ns0.\nns0. 3600 A 127.0.1.1\n", encoding="utf-8")

    def tell(self, *words):
        return run(self.bench, "control", self.control, *words)

    def counts(self):
        """Returns {"all", "plants", "nailed", "opened"}: all queries, queries at the plants, queries over TCP, and
        connections."""
        rows = {row["listen"].split("@")[0]: row for row in json.loads(self.tell("stats"))["listeners"]}
        plants = [rows[ip] for ip in PLANTS]
        asked = {ip: row["udp_queries"] + row["tcp_queries"] for ip, row in rows.items()}
        return {"all": sum(asked.values()), "plants": sum(asked[ip] for ip in PLANTS),
                "nailed": sum(row["tcp_queries"] for row in plants),
                "opened": sum(row["connections_opened"] for row in plants)}


def name_of(number):
    """Returns a name. Three of four names belong to the plants, some of them below a further zone cut."""
    zone = f"z{number % ZONES}"
    if number % 4 == 0:
        return f"w{number}.{zone}.far{number % 8}"
    return f"w{number}.{'sub.' if number % 8 == 1 else ''}{zone}.near"


def write_questions(path):
    """Writes each name once."""
    path.write_text("".join(f"{name_of(number)} A\n" for number in range(NAMES)), encoding="utf-8")
    return path


class Side:
    """A nailupd and the results of its queries."""

    def __init__(self, stage, stack, hierarchy, name, more, questions):
        self.hierarchy, self.questions, self.steady, self.saturated = hierarchy, questions, [], []
        config = CONFIG.replace("AUTHORITATIVE", str(hierarchy.port)) + more
        self.daemon = stack.enter_context(start_daemon(stage.build, stage.folder, name, config))
        self.counts = dict.fromkeys(hierarchy.counts(), 0)

    def load(self, *words):
        said = run(self.hierarchy.bench, "load", "--server", f"127.0.0.1@{self.daemon.port}", "--queries",
                   self.questions, "--pid", self.daemon.process.pid, "--json", "--quiet", "--timeout", 5000,
                   "--connections", 4, *words)
        return json.loads(said)

    def warm_up(self):
        """Queries a name in every zone, so that the zone cuts are known."""
        self.load("--rate", RATE_PER_S, "--duration", 0.6)

    def ready(self):
        return sum(c["state"] == "ready" for c in self.daemon.connections())

    def play(self):
        self.hierarchy.tell("reset-stats")
        self.steady.append(self.load("--rate", RATE_PER_S, "--duration", STEADY_S))
        self.saturated.append(self.load("--max", "--in-flight", 64, "--duration", SATURATED_S))
        self.counts = {key: self.counts[key] + value for key, value in self.hierarchy.counts().items()}

    def asked(self):
        reports = self.steady + self.saturated
        return sum(r["sent"] for r in reports), sum(r["sent"] - r["rcodes"].get("NOERROR", 0) for r in reports)

    def row(self):
        asked, bad = self.asked()
        latency = min((r["latency_us"] for r in self.steady), key=lambda one: one["p99"])
        return [asked, bad, f"{100 * self.counts['plants'] / max(1, self.counts['all']):.0f}",
                f"{100 * self.counts['nailed'] / max(1, self.counts['plants']):.0f}", ms(latency["p50"] / 1e6),
                ms(latency["p99"] / 1e6), f"{max(r['qps'] for r in self.saturated):.0f}",
                f"{self.cpu_us():.1f}"]

    def cpu_us(self):
        """Returns the CPU time per query under load, from the better round, because the other one was disturbed."""
        return min(r["server_cpu_us_per_query"] for r in self.saturated)


def play(stage, stack):
    hierarchy = stack.enter_context(Hierarchy(stage.build, stage.folder))
    questions = write_questions(stage.folder / "datacenter")
    sides = {"plain": Side(stage, stack, hierarchy, "recursive", "", questions),
             "nailed": Side(stage, stack, hierarchy, "recursive-nailed", NAILED, questions)}
    for side in sides.values():
        side.warm_up()
    await_true(lambda: sides["nailed"].ready() >= len(PLANTS), 10)
    for _ in range(ROUNDS):
        for side in sides.values():
            side.play()
    return sides, sides["nailed"].ready()


def show_datacenter(stage):
    title(f"6. Recursion from the root, three quarters to plants in {PREFIX}; all is {NEAR_MS} ms away. At "
          f"{RATE_PER_S} a second, then as many as it takes")
    with contextlib.ExitStack() as stack:
        sides, ready = play(stage, stack)
        codes = [side.daemon.stop() for side in sides.values()]
    table([PREFIX, "queries", "failed", "% to plants", "% of that nailed", "p50 ms", "p99 ms", "most a second",
           "CPU us each"], [[NAMED[name], *side.row()] for name, side in sides.items()])
    claim_datacenter(stage.claims, sides, ready, codes)


def claim_datacenter(claims, sides, ready, codes):
    bad, plain, nailed = sum(side.asked()[1] for side in sides.values()), sides["plain"], sides["nailed"]
    claims.check(bad == 0, "every name is resolved", f"{bad} failed")
    shares = [side.counts["plants"] / max(1, side.counts["all"]) for side in sides.values()]
    claims.check(all(0.65 < share < 0.8 for share in shares), "three quarters of the queries go to the plants",
                 f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %")
    claims.check(nailed.counts["nailed"] > 0.98 * nailed.counts["plants"] and plain.counts["nailed"] == 0,
                 "with nailing they go over connections that are kept, without by UDP",
                 f"{nailed.counts['nailed']} of {nailed.counts['plants']}, "
                 f"{plain.counts['nailed']} of {plain.counts['plants']}")
    claims.check(ready >= len(PLANTS) and nailed.counts["opened"] <= 4 * len(PLANTS),
                 "each plant is nailed up at first sight and stays it", f"{ready} connections are ready, "
                 f"{nailed.counts['opened']} more were opened")
    ratio = nailed.cpu_us() / plain.cpu_us()
    claims.check(ratio < 1, "nailing saves CPU time", f"{ratio:.2f} of that without")
    claims.check(not any(codes), "both stop cleanly", f"exit codes {codes}")
