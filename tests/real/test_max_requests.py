# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Each connection carries exactly max-requests queries. A proxy before each server counts them."""

import pytest
from conftest import eventually
from counting_proxy import CountingProxy
from servers import PORTS, add_address
from stage import Asker, by_address, places, sum_of, zones_for

PACE = 10  # a dial to so near a server takes as long as this many queries
# (max-requests, queries to each server over each transport, queries at the same time)
QUICK = [(1, 8, 1), (2, 20, 1), (50, 160, 8)]
FULL = [(1, 50, 1), (2, 100, 1), (10, 200, 8), (99, 640, 32), (100, 640, 32), (1000, 3200, 64)]


def pytest_generate_tests(metafunc):
    forms = FULL if metafunc.config.getoption("--real") else QUICK
    metafunc.parametrize(("limit", "queries", "at_once"), forms, ids=[f"{form[0]}-requests" for form in forms])


@pytest.fixture
def proxy(servers, authority):
    """Yields a CountingProxy in front of each server, at 10.53.3.N. address(server, transport) tells its address."""
    made = CountingProxy(authority)
    ips = {name: f"10.53.3.{number}" for number, name in enumerate(servers, 1)}
    for ip in ips.values():
        add_address(ip)
    for server, transport in places(servers.values()):
        made.stand_before(server, transport, ips[server.name], PORTS[transport])
    made.address = lambda server, transport: f"{ips[server.name]}@{PORTS[transport]}"
    yield made
    made.close()


def ask(daemon, servers, queries, at_once):
    """Sends queries to all servers. Returns {(name, transport): (failures, cold queries)}."""
    asker, reported, cold = Asker(daemon), {}, 0
    for server, transport in places(servers):
        answers = [answer for _ in range(queries // at_once) for answer in asker.ask([server.zones[transport]] * at_once)]
        now = sum_of(daemon.metrics(), "upstream_cold_queries_total")
        reported[server.name, transport], cold = (answers.count(None), now - cold), now
    return reported


def test_a_connection_carries_exactly_its_number_of_queries(servers, proxy, nailupd, report, limit, queries, at_once):
    servers = list(servers.values())
    config = zones_for(servers, address=proxy.address, fallback="none")
    daemon = nailupd({**config, "tcp-upstream-keepalive-maxrequests": limit})
    eventually(lambda: all(by_address(daemon)[proxy.address(*place)]["ready"] for place in places(servers)), within=15)
    reported = ask(daemon, servers, queries, at_once)

    rows, bad = [], []
    for server, transport in places(servers):
        # The daemon counts a query when it leaves, but the proxy may still have to read it.
        eventually(lambda: sum(proxy.frames(server, transport)) >=
                   by_address(daemon)[proxy.address(server, transport)]["queries"])
        frames = proxy.frames(server, transport)
        full, begun = frames.count(limit), [count for count in frames if count != limit]
        row = (server.name, transport, sum(frames), len(frames), full, begun, *reported[server.name, transport])
        rows.append(row)
        failed, cold = reported[server.name, transport]
        # A connection that carries fewer queries is still in use, or the peer closed it before its idle limit was
        # known.
        if max(frames) > limit or full < queries // limit or failed or (cold and limit >= PACE):
            bad.append(row)
    header = ("server", "over", "queries", "connections", "with exactly the limit", "the others", "failed", "cold")
    report(f"at most {limit} queries on a connection, {queries} queries", header, rows)
    assert not bad, "\n".join(map(str, [header, *bad]))
