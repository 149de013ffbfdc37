#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Resident bytes per cached answer: nailupd beside Unbound, and other peers with --peers, for the same names and
answers.

Usage: bench/cache_memory.py --build BUILD [--entries 100000] [--answers a,mixed] [--peers all] [--quick]

For each kind of answer each server starts again, warms up with other names, and is asked for all names. The
figure is the growth of its resident memory, divided by the number of names. A second pass asks for all names
again: a query that reaches the upstream is a name that the cache lost. The peers' caches are larger than
necessary; all other settings are those of peers/*.conf of bench/compare. nailupd's cache.size is one and a half times
the need that a probe measures, because buckets fill unevenly. Its table has the configured size.

Exits 1 if an answer costs nailupd as much as Unbound or more, or if one of these two lost names.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import time

import stage_common as stage

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "compare"))
import programs as compare  # noqa: E402

OURS, RIVAL = "nailupd", "unbound"
WARM_NAMES, PROBE_NAMES = 1000, 2000
PASSES_MAX = 5         # passes that repeat the queries for lost names
KEPT_MIN = 99         # percent
SPARE = 1.5            # a margin over the probe's result: buckets of 16 fill unevenly, and a full bucket evicts
TABLE_SHARE = 9 / 8    # a ninth of cache.size is the table
RATE = 10000           # queries a second while the cache fills
RATE_OF_BIG = 1000
FAILURE_TTL_S = 6        # a server may keep a SERVFAIL for this long

# The kinds of answers: (label that requests it from the responder, type, share in percent).
ANSWERS = {
    "a": [("", "A", 100)],
    "aaaa": [("", "AAAA", 100)],
    "cname": [("cname.", "A", 100)],
    "nxdomain": [("nx.", "A", 100)],
    "big": [("big.", "A", 100)],
    "mixed": [("", "A", 50), ("", "AAAA", 20), ("cname.", "A", 15), ("nx.", "A", 13), ("big.", "A", 2)],
}
BIG_IS_FEWER = 10      # each of these answers has 3 to 4 kB, so there are ten times fewer names

# These caches are large enough for all names, unlike those of bench/compare.
LARGER_CACHES = [
    (r"msg-cache-size: \S+", "msg-cache-size: 2g"),
    (r"rrset-cache-size: \S+", "rrset-cache-size: 4g"),
    (r"neg-cache-size: \S+", "neg-cache-size: 64m"),
    (r"max-cache-entries=\d+", "max-cache-entries=20000000"),
    (r"max-packetcache-entries=\d+", "max-packetcache-entries=10000000"),
    (r"cache\.size = \d+ \* MB", "cache.size = 1024 * MB"),
    (r"max-cache-size \S+;", "max-cache-size 1g;"),
    (r"cache-size=10000", "cache-size=2000000"),
]


def write_names(path, kind, count, prefix):
    """Writes a file of queries. In a mix, the kinds alternate as evenly as their shares allow."""
    owed = {row: 0 for row in ANSWERS[kind]}
    with open(path, "w", encoding="ascii") as file:
        for number in range(count):
            for row in owed:
                owed[row] += row[2]
            row = max(owed, key=owed.get)
            owed[row] -= 100
            file.write(f"{prefix}{number:08}.{row[0]}memory.example {row[1]}\n")


class Names:
    """The names in a file, queried in their order."""

    def __init__(self, folder, kind, count, prefix):
        self.path, self.count = f"{folder}/{prefix}-{kind}-{count}.txt", count
        self.rate = RATE_OF_BIG if kind == "big" else RATE
        write_names(self.path, kind, count, prefix)

    def ask(self, programs, port):
        return stage.load(programs.bench, port, "--queries", self.path, "--rate", self.rate, "--duration",
                          self.count / self.rate, "--connections", 4, "--timeout", 5000)


def asked_upstream(responder):
    seen = responder.stats()
    return seen["udp_queries"] + seen["tcp_queries"]


def fill(programs, responder, port, names):
    """Asks until no name is missing. Returns the percentage of names that the cache had in the last pass."""
    names.ask(programs, port)
    for _ in range(PASSES_MAX - 1):
        before = asked_upstream(responder)
        report = names.ask(programs, port)
        failed = report["rcodes"].get("SERVFAIL", 0)
        missing = max(asked_upstream(responder) - before, report["lost"] + failed)
        if not missing:
            break
        time.sleep(FAILURE_TTL_S if failed else 0)
    return 100 * (1 - min(missing, names.count) / names.count)


def start_ours(programs, folder, responder, size_bytes):
    config = {"server": {"workers": 1}, "cache": {"size": f"{size_bytes // 1024}KiB"},
              "forward-zones": [{"name": ".", "upstreams": responder.servers}]}
    return stage.Nailupd(programs.nailupd, folder, config, programs.nailupctl)


def start_peer(peer, folder, responder, kind):
    port = stage.free_port()
    directory = pathlib.Path(folder) / f"{peer.name}-{port}"
    directory.mkdir()
    values = {"port": port, "directory": directory, "ip": responder.addresses[0], "upstream": responder.port,
              "upstream_tls": 0, "auth_name": "", "ca": ""}
    # Large answers need TCP in the end. Over UDP, Unbound refuses many of them at this rate.
    transport = "tcp" if kind == "big" and "tcp" not in peer.cannot else "udp"
    text = compare.rendered(peer.template(), {transport, "hit"}, values)
    for pattern, larger in LARGER_CACHES:
        text = re.sub(rf"(?<![\w-]){pattern}", larger, text)
    (directory / peer.conf_name).write_text(text, encoding="utf-8")
    command = peer.command(directory / peer.conf_name, directory, peer.path)
    return stage.Peer(peer.name, folder, text, [str(word) for word in command], port)


def size_for(programs, folder, responder, kind, count):
    """Returns the cache.size for this many answers of a kind. It first measures the need of a few answers."""
    names = Names(folder, kind, min(count, PROBE_NAMES), "probe")
    with start_ours(programs, folder, responder, 64 << 20) as daemon:
        before = daemon.metrics()
        fill(programs, responder, daemon.port, names)
        after = daemon.metrics()
    each = (after["cache_bytes"] - before["cache_bytes"]) / (after["cache_entries"] - before["cache_entries"])
    return max(1 << 20, int((count + WARM_NAMES) * each * TABLE_SHARE * SPARE))


def measure(programs, responder, server, warm, names):
    """Returns (resident bytes per name, percent kept, resident bytes before)."""
    fill(programs, responder, server.port, warm)
    empty = stage.resident_bytes(server.pid)
    kept = fill(programs, responder, server.port, names)
    return (stage.resident_bytes(server.pid) - empty) / names.count, kept, empty


def measure_kind(programs, folder, responder, peers, kind, count):
    """Returns {server: bytes per answer}, with None for a server that lost names."""
    warm, names = Names(folder, kind, min(count, WARM_NAMES), "warm"), Names(folder, kind, count, "name")
    size, results = size_for(programs, folder, responder, kind, count), {}
    for peer in [None, *peers]:
        server = (start_peer(peer, folder, responder, kind) if peer else
                  start_ours(programs, folder, responder, size))
        name = peer.name if peer else OURS
        with server:
            each, kept, empty = measure(programs, responder, server, warm, names)
        results[name] = each if kept >= KEPT_MIN else None
        cells = [kind, name, f"{each:.1f}", count, f"{kept:.2f}", f"{empty / (1 << 20):.1f}"]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return results


def find_peers(wanted):
    """Returns the named peers, or for `all` every installed peer that caches records."""
    known = {peer.name: peer for peer in compare.all_peers() if peer.name not in (OURS, "dnsdist")}
    names = list(known) if wanted == "all" else [name for name in wanted.split(",") if name]
    unknown = [name for name in names if name not in known]
    if unknown:
        stage.give_up(f"--peers does not know {', '.join(unknown)}; it knows {', '.join(known)}")
    missing = [name for name in names if not known[name].find()]
    if missing and wanted != "all":
        stage.give_up(f"not installed: {', '.join(known[name].package for name in missing)}")
    return [known[name] for name in names if name not in missing]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder of nailup")
    parser.add_argument("--entries", type=int, default=100_000, help="number of names; a tenth of it for large answers")
    parser.add_argument("--answers", default=",".join(ANSWERS), help="kinds of answers, separated by commas")
    parser.add_argument("--peers", default=RIVAL, help="names as in bench/compare, separated by commas, or 'all'")
    parser.add_argument("--quick", action="store_true", help="use few names, only to show that the script works")
    args = parser.parse_args()
    args.answers = args.answers.split(",")
    if not set(args.answers) <= set(ANSWERS):
        parser.error(f"--answers takes some of {','.join(ANSWERS)}")
    if args.quick:
        args.entries = 5000
    return args


def main():
    args = parse_arguments()
    programs, peers, ok = stage.Programs(args.build), find_peers(args.peers), True
    print("| answers | server | resident bytes each | names | kept % | MiB before |\n"
          "|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="cache-memory-") as folder, \
            stage.Responder(programs.bench, folder, ["127.0.0.2"], "--ttl", 86400, "--negative-ttl",
                            86400) as responder:
        for kind in args.answers:
            count = args.entries // BIG_IS_FEWER if kind == "big" else args.entries
            results = measure_kind(programs, folder, responder, peers, kind, count)
            ours, rival = results[OURS], results.get(RIVAL, float("inf"))
            ok = ok and ours is not None and rival is not None and ours < rival
    print(f"\nan answer costs {'less' if ok else 'NOT less'} than Unbound's" if RIVAL in args.peers else "")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
