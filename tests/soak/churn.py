#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""An hour of churn at twice the size of the cache: is the memory flat, and is every answer right?

First the program fills the cache with new names until it evicts. The program thus learns how many answers fit: small
and large ones, long and short TTLs, aliases and NXDOMAIN. Then a burst allocates the memory for many waiting queries.
Then clients query twice as many names in random order, open loop. Ten names a second are also queried at nailupd and at
the upstream, and the two answers are compared. Each minute the program prints a line with the memory and figures of the
cache.

Usage: tests/soak/churn.py --build BUILD [--minutes 60] [--rate 2000] [--size-mib 8]

Exits 1 if a query is lost, if its response code or answer differs from the upstream's, if the cache counts more than
its size, if nothing was evicted, or if memory grew after the third sample."""

import random
import socket
import struct
import sys
import threading
import time

from load_mix import TIMEOUT_MS, LoadRun, play, stage

TIMES_THE_CACHE = 2    # the number of names, as a multiple of the names that fit
GROWTH_LIMIT = 1.05    # the growth of resident memory, from the sample below to the end
SETTLED_SAMPLE = 3     # there is one sample a minute, or SAMPLES_MIN in a short run
CHECKED_PER_S = 10     # names that are queried twice, here and at the upstream
FILL_RATE = 20000
FILL_S = 2
BURST_IN_FLIGHT = 1024  # on each socket

# (suffix, percentage of names and of the rate, response code, transport of the clients)
MIX = [
    ("long.churn.example", 50, "NOERROR", "udp"),
    ("ttl60.churn.example", 15, "NOERROR", "udp"),
    ("ttl5.churn.example", 10, "NOERROR", "udp"),
    ("cname.churn.example", 15, "NOERROR", "udp"),
    ("nx.churn.example", 5, "NXDOMAIN", "udp"),
    ("big.churn.example", 5, "NOERROR", "tcp"),
]

CONFIG = {
    "server": {"workers": 2},
    "tcp-upstream-keepalive": ["127.0.0.2"],
}


# ---- reading an answer, for comparison ----

def read_name(message, at):
    """Returns (labels in lower case, end of the name)."""
    labels, end = [], None
    while message[at]:
        if message[at] >= 0xC0:
            end = end or at + 2
            at = struct.unpack_from(">H", message, at)[0] & 0x3FFF
        else:
            labels.append(message[at + 1:at + 1 + message[at]].lower())
            at += 1 + message[at]
    return b".".join(labels), end or at + 1


def read_answer(message):
    """Returns (response code, sorted records of the answer section without TTLs, largest TTL)."""
    count, at = struct.unpack_from(">H", message, 6)[0], 12
    _, at = read_name(message, at)
    at, records, largest = at + 4, [], 0
    for _ in range(count):
        name, at = read_name(message, at)
        kind, _, ttl, size = struct.unpack_from(">HHIH", message, at)
        data = read_name(message, at + 10)[0] if kind == 5 else message[at + 10:at + 10 + size]
        at, largest = at + 10 + size, max(largest, ttl)
        records.append((name, kind, data))
    return message[3] & 15, sorted(records), largest


def ask_tcp(ip, port, name):
    query = stage.make_query(name)
    with socket.create_connection((ip, port), timeout=TIMEOUT_MS / 1000) as client:
        client.sendall(struct.pack(">H", len(query)) + query)
        with client.makefile("rb") as stream:
            return stream.read(struct.unpack(">H", stream.read(2))[0])


def ask_any(ip, port, name):
    """Sends a query as a stub resolver does: over UDP, and over TCP after a truncated answer."""
    answer = stage.ask(port, name, TIMEOUT_MS / 1000, ip)
    if answer is None:
        raise OSError("no answer")
    return ask_tcp(ip, port, name) if answer[2] & 2 else answer


class Checker(threading.Thread):
    """Compares answers of the daemon with those of the upstream until it is stopped."""

    def __init__(self, daemon, responder, names):
        super().__init__(daemon=True)
        self.nailupd, self.responder, self.names = daemon, responder, names
        self.checked, self.wrong, self.done = 0, [], threading.Event()

    def run(self):
        while not self.done.wait(1 / CHECKED_PER_S):
            suffix = random.choice(MIX)[0]
            name = f"n{random.randrange(self.names[suffix]):016x}.{suffix}"
            try:
                self.compare(name)
            except (OSError, struct.error, IndexError) as error:
                self.wrong.append(f"{name}: {error}")
            self.checked += 1

    def compare(self, name):
        ours = read_answer(ask_any("127.0.0.1", self.nailupd.port, name))
        theirs = read_answer(ask_any("127.0.0.2", self.responder.port, name))
        if ours[:2] != theirs[:2]:
            self.wrong.append(f"{name}: {ours[:2]} instead of {theirs[:2]}")
        if ours[2] > theirs[2]:
            self.wrong.append(f"{name}: a TTL of {ours[2]} instead of at most {theirs[2]}")


# ---- the churn ----

class Churn(LoadRun):
    def __init__(self, args, folder):
        super().__init__(args)
        self.size_bytes = int(args.size_mib * (1 << 20))
        self.responder = stage.Responder(self.programs.bench, folder, ["127.0.0.2"], "--ttl", 86400,
                                         "--negative-ttl", 600)
        config = {**CONFIG, "cache": {"size": f"{self.size_bytes // 1024}KiB"},
                  "forward-zones": [{"name": ".", "upstreams": self.responder.servers}]}
        self.daemon = stage.Nailupd(self.programs.nailupd, folder, config, self.programs.nailupctl)
        self.worst_bytes = 0

    def start_loads(self, rate, seconds, names):
        """Starts a load for each row of the mix. names: {suffix: count}. None: only new names."""
        for suffix, share, _, transport in MIX:
            draw = ["--zipf", "0", "--names", names[suffix]] if names else ["--unique"]
            self.start_load(suffix, transport, rate * share / 100, seconds, *draw)

    def fill(self):
        """Fills the cache until it evicts. Returns how many entries fit."""
        while True:
            self.start_loads(FILL_RATE, FILL_S, None)
            self.end_loads()
            metrics = self.daemon.metrics()
            if metrics["cache_evictions_total"]:
                return metrics["cache_entries"]

    def burst(self):
        """Sends many queries at once, so that the memory for waiting queries is allocated before the watch begins.
        Otherwise a standstill of the machine would look like a leak."""
        stage.load(self.programs.bench, self.daemon.port, "--max", "--unique", "--in-flight", BURST_IN_FLIGHT,
                   "--duration", FILL_S, "--suffix", "burst.churn.example")

    def sample(self, began):
        metrics, resident = self.daemon.metrics(), stage.resident_bytes(self.daemon.pid)
        self.samples.append(resident)
        self.worst_bytes = max(self.worst_bytes, metrics["cache_bytes"])
        found = metrics["cache_hits_total"] / max(1, metrics["cache_hits_total"] +
                                                  metrics["cache_misses_total"])
        print(f"{(time.monotonic() - began) / 60:5.1f} min  resident {resident // 1024} KiB  cache "
              f"{metrics['cache_bytes']} of {self.size_bytes} bytes, {metrics['cache_entries']} entries, "
              f"{metrics['cache_evictions_total']} evicted, {100 * found:.1f} % found", flush=True)

    def run(self):
        """Runs the soak. Returns the faults as sentences."""
        fit = self.fill()
        self.burst()
        names = {suffix: int(fit * TIMES_THE_CACHE * share / 100) for suffix, share, _, _ in MIX}
        print(f"{fit} entries fit; {sum(names.values())} names are asked", flush=True)
        evicted = self.daemon.metrics()["cache_evictions_total"]
        seconds, began = self.args.minutes * 60, time.monotonic()
        checker = Checker(self.daemon, self.responder, names)
        checker.start()
        self.start_loads(self.args.rate, seconds, names)
        if wrong := self.watch(seconds, began):
            return wrong
        self.sample(began)
        checker.done.set()
        checker.join()
        print(f"{checker.checked} answers compared with the upstream's")
        wrong = checker.wrong[:10] + self.judge_loads() + self.judge_memory()
        if self.daemon.metrics()["cache_evictions_total"] == evicted:
            wrong.append("nothing was evicted")
        return wrong

    def judge_loads(self):
        return self.end_loads(*((suffix, transport, rcode) for suffix, _, rcode, transport in MIX))

    def judge_memory(self):
        wrong, settled, last = [], self.samples[SETTLED_SAMPLE - 1], self.samples[-1]
        print(f"resident {settled // 1024} KiB at sample {SETTLED_SAMPLE}, {last // 1024} at the end, ratio "
              f"{last / settled:.4f}; the cache counted {self.worst_bytes} bytes at most")
        if last > GROWTH_LIMIT * settled:
            wrong.append(f"memory grew from {settled} to {last} bytes")
        if self.worst_bytes > self.size_bytes:
            wrong.append(f"the cache counts {self.worst_bytes} bytes of {self.size_bytes}")
        return wrong


def main():
    return play("churn", Churn, "every query answered rightly, memory flat", __doc__,
                ("--size-mib", float, 8, "of the cache, at least 1"))


if __name__ == "__main__":
    sys.exit(main())
