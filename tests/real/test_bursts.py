# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Does each query of a burst get its answer at once? Some servers answer the first message of a TLS record and leave
the others until further bytes come. A client sees a stall then, and the daemon a silent upstream.

The full form also asks each server directly, with the same client over the same transport, and compares the times."""

import socket
import ssl

import pytest
from conftest import eventually
from peers import framed
from stage import Asker, all_ready, by_address, places, sum_of, zones_for

SIZES = (1, 2, 4, 8, 64)
QUICK_ROUNDS, FULL_ROUNDS = 4, 60
SERVERS = ("nsd", "knotd", "bind", "unbound", "kresd", "pdns", "recursor", "dnsdist")
TROUBLE = ("upstream_retries_total", "upstream_fallbacks_total", "upstream_cold_queries_total", "upstream_late_answers_total")
# An answer is slow if it takes more than TIMES times the server's own time and more than SPARE_S longer. Two processes
# may wait that long for a CPU on a busy machine.
TIMES, SPARE_S = 2, 0.002


class DirectStream:
    """A client that queries a server directly, with each message in a separate TLS record."""

    def __init__(self, server, transport):
        ip, port = server.address(transport).split("@")
        self.socket = socket.create_connection((ip, int(port)), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_tls = transport == "tls"
        if self.is_tls:
            context = ssl.create_default_context(cafile=str(server.ca_file))
            self.socket = context.wrap_socket(self.socket, server_hostname=ip)
        self.held = b""

    def send(self, *messages):
        for one in map(framed, messages) if self.is_tls else [framed(*messages)]:
            self.socket.sendall(one)

    def read(self):
        while len(self.held) < 2 or len(self.held) < 2 + int.from_bytes(self.held[:2], "big"):
            more = self.socket.recv(65536)
            if not more:
                return None
            self.held += more
        end = 2 + int.from_bytes(self.held[:2], "big")
        message, self.held = self.held[2:end], self.held[end:]
        return message


def burst(asker, zone, size, rounds):
    """Returns (number of failures, [seconds until the last answer of each complete round])."""
    failed, times = 0, []
    for _ in range(rounds):
        answers = asker.ask([zone] * size)
        failed += answers.count(None)
        if None not in answers:
            times.append(max(answers))
    return failed, sorted(times)


def as_text(times):
    """Returns the median and the slowest time in milliseconds, as text."""
    return [f"{1000 * seconds:.2f}" for seconds in (times[len(times) // 2], times[-1])] if times else ["-", "-"]


def is_slow(times, own):
    """Returns whether the median or the slowest time is more than twice the server's own."""
    if not times or not own:
        return not times
    return any(ours > max(TIMES * theirs, theirs + SPARE_S)
               for ours, theirs in ((times[len(times) // 2], own[len(own) // 2]), (times[-1], own[-1])))


@pytest.mark.parametrize("name", SERVERS)
def test_all_of_a_burst_are_answered_at_once(servers, nailupd, report, is_full, name):
    server, rounds = servers[name], FULL_ROUNDS if is_full else QUICK_ROUNDS
    daemon = nailupd(zones_for([server]))
    rows, bad = [], []
    for _, transport in places([server]):
        eventually(lambda: all_ready(daemon, [server]), within=15)
        asker, zone = Asker(daemon), server.zones[transport]
        direct = Asker(server, lambda: DirectStream(server, transport))
        dials = by_address(daemon)[server.address(transport)]["dials"]
        before = daemon.metrics()
        for size in SIZES:
            own = burst(direct, zone, size, rounds)[1] if is_full else []
            failed, times = burst(asker, zone, size, rounds)
            after = daemon.metrics()
            trouble = {key.removeprefix("upstream_"): sum_of(after, key) - sum_of(before, key) for key in TROUBLE}
            trouble = {key: value for key, value in trouble.items() if value}
            before = after
            mark = "slow" if is_full and is_slow(times, own) else ""
            rows.append((name, transport, size, *as_text(own), *as_text(times), mark))
            if failed or trouble:
                bad.append((transport, f"{size} at once, {rounds} times: {failed} failed", trouble))
        row = by_address(daemon)[server.address(transport)]
        if row["timeouts"]:
            bad.append((transport, f"{row['timeouts']} timeouts, {row['dials'] - dials} more dials"))
        direct.close()
    report(f"bursts to {name}, ms until the last answer", ("server", "over", "at once", "its own median", "slowest",
                                                         "through nailup median", "slowest", "over twice"), rows)
    assert not bad, "\n".join(map(str, bad))
