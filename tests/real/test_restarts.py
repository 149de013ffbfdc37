# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A server restarts under load. Which queries fail while it is away, and is its address nailed again when it returns?

While the server is away, a query over TCP gets an error, but never silence. A query over strict TLS waits, and is
answered if the server returns soon enough. No query fails once the address has a ready connection again. Time only
bounds how long the test waits for that."""

import time

import pytest
from conftest import eventually
from stage import Flow, all_ready, by_address, places, zones_for

BEFORE_S, AWAY_S, AFTER_S = 1.0, 1.5, 3.0
STRICT_WAIT_S = 1.75  # a little less than the 1.8 s for which a query waits for a strict TLS upstream
READY_WITHIN_S = 15  # a server that rests for minutes makes the test fail
QUICK_RATE, FULL_RATE = 10, 200  # queries a second for each zone


class Restart:
    """Some servers end, stay away, and come back while queries flow to all of their zones."""

    def __init__(self, daemon, servers, rate):
        self.daemon, self.servers = daemon, servers
        self.flow = Flow(daemon, [server.zones[way] for server, way in places(servers)], rate)

    def play(self, how):
        self.flow.run_for(BEFORE_S)
        self.ended_at = time.monotonic()
        for server in self.servers:
            getattr(server, how)()
        self.flow.run_for(AWAY_S)
        for server in self.servers:
            server.start()
        assert self.flow.run_for(30, until=lambda: all(server.answers() for server in self.servers))
        self.back_at = time.monotonic()
        self.ready = self.flow.run_for(READY_WITHIN_S, until=lambda: all_ready(self.daemon, self.servers))
        self.ready_at = time.monotonic()
        self.flow.run_for(AFTER_S)
        self.outcomes = self.flow.end()

    def row(self, server, transport):
        """Returns (sent, without reply, failed before the end, failed while the server was away, failed until the
        connection was ready, failed after that, seconds to the first answer after its return)."""
        outcomes = sorted(self.outcomes[server.zones[transport]], key=lambda outcome: outcome[0])
        edges = (0, self.ended_at - 0.1, self.back_at, self.ready_at, time.monotonic())
        failed = [sum(begin <= sent_at < end and rcode != 0 for sent_at, rcode in outcomes) for begin, end in zip(edges, edges[1:])]
        first = next((sent_at - self.back_at for sent_at, rcode in outcomes if rcode == 0 and sent_at >= self.back_at), None)
        return (len(outcomes), sum(rcode is None for _, rcode in outcomes), *failed, first)


def play(daemon, servers, rate, how):
    """Plays a restart. Returns (the rows of a table, the faulty rows)."""
    restart = Restart(daemon, servers, rate)
    restart.play(how)
    # Queries wait for a strict TLS upstream, unless the server takes too long to start.
    is_waited_for = restart.back_at - restart.ended_at < STRICT_WAIT_S
    rows, bad = [], []
    for server, transport in places(servers):
        sent, unanswered, before, away, until_ready, after, first = restart.row(server, transport)
        row = (server.name, transport, sent, unanswered, before, away, until_ready, after,
               "-" if first is None else f"{first:.1f}", by_address(daemon)[server.address(transport)]["health"])
        rows.append(row)
        # A front that stays finishes handshakes and then closes, so the daemon cannot know that the server behind it is
        # missing.
        lost = transport == "tls" and server.speaks_tls == "itself" and is_waited_for and away + until_ready
        if unanswered or before or after or lost or first is None or not restart.ready:
            bad.append(row)
    return rows, bad


@pytest.mark.parametrize("how", ["kill", "terminate"])
def test_every_server_is_nailed_again_after_a_restart(servers, nailupd, report, is_full, how):
    """In the full form, each server restarts alone, at twenty times the rate."""
    servers, rate = list(servers.values()), FULL_RATE if is_full else QUICK_RATE
    rows, bad = [], []
    for group in [[one] for one in servers] if is_full else [servers]:
        daemon = nailupd(zones_for(group))
        eventually(lambda: all_ready(daemon, group), within=READY_WITHIN_S)
        found = play(daemon, group, rate, how)
        rows += found[0]
        bad += found[1]
    header = ("server", "over", "sent", "no reply", "failed before", "while away", "until ready", "after", "first answer s",
              "health")
    report(f"each server is away for {AWAY_S} s ({how}), {rate} queries a second over each transport", header, rows)
    assert not bad, "\n".join(map(str, [header, *bad]))
