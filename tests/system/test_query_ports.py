# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The source ports of queries to upstreams, which a forger must guess (RFC 5452 section 9.2)."""

import collections
import pathlib
import signal
import socket

import pytest
from harness import RD, ROOT, SELF, Message, alone, pack_query

SERVER, SERVER6 = "10.53.1.1", "fd53::1:1"
QUERIES = 400
BURST = 64
SYSCTL = pathlib.Path("/proc/sys/net/ipv4")


def ports_of(harness, server, outgoing=()):
    """Sends QUERIES queries for different names. Returns their source ports."""
    harness.serve(server, {".": "* 60 A 192.0.2.1\n" + "".join(f"n{i} 60 A 192.0.2.1\n" for i in range(QUERIES))})
    daemon = harness.start({"server": {"outgoing": list(outgoing)},
                            "forward-zones": [{"name": ".", "upstreams": [server]}],
                            "upstream": {"transport": "udp"}})
    for i in range(QUERIES):
        assert harness.ask(f"n{i}.").rcode == 0, harness.log()
    harness.stop(daemon)
    assert len(harness.servers.ports) >= QUERIES
    return harness.servers.ports


@pytest.mark.parametrize("server", [SERVER, SERVER6])
@alone
def test_ports_are_drawn_from_the_whole_range(harness, server):
    ports = ports_of(harness, server)
    assert min(ports) >= 1024
    quarters = [sum(low <= port < low + 16384 for port in ports) for low in range(0, 65536, 16384)]
    assert min(quarters) > len(ports) / 8, quarters
    assert len(set(ports)) > len(ports) * 0.95


@alone
def test_reserved_ports_are_never_used(harness):
    (SYSCTL / "ip_local_reserved_ports").write_text("1024-30000,40000-65000\n")
    ports = ports_of(harness, SERVER)
    assert not [port for port in ports if port <= 30000 or 40000 <= port <= 65000]
    assert any(port > 65000 for port in ports) and any(30000 < port < 32768 for port in ports)


@alone
def test_a_source_address_also_uses_the_whole_range_of_ports(harness):
    harness.add("10.53.0.77")
    ports = ports_of(harness, SERVER, ["10.53.0.77"])
    assert {source for _, _, source, _ in harness.servers.queries} == {"10.53.0.77"}
    assert min(ports) < 16384 and max(ports) > 61000


def ports_of_a_burst(harness, options, server=SERVER):
    """Returns how many queries came from each source port, when the daemon reads BURST queries at once."""
    harness.serve(server, {".": "".join(f"n{i} 60 A 192.0.2.1\n" for i in range(BURST))})
    daemon = harness.start(options)
    daemon.send_signal(signal.SIGSTOP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        for i in range(BURST):
            client.sendto(pack_query(i, f"n{i}.", "A", RD), (SELF, 53))
        daemon.send_signal(signal.SIGCONT)
        answers = [Message(client.recv(65535)) for _ in range(BURST)]
    assert sorted(answer.id for answer in answers) == list(range(BURST))
    assert all(answer.rcode == 0 for answer in answers), harness.log()
    harness.stop(daemon)
    names = [query.question[0].lower() for _, query, _, _ in harness.servers.queries]
    ports = {name: port for name, port in zip(names, harness.servers.ports) if name != "."}  # without the priming query
    assert set(ports) == {f"n{i}." for i in range(BURST)}
    return collections.Counter(ports.values())


def forwarding(upstream):
    return {"forward-zones": [{"name": ".", "upstreams": [SERVER]}], "upstream": {"transport": "udp", **upstream}}


@pytest.mark.parametrize("most", [8, 3])
@alone
def test_queries_of_a_burst_share_ports(harness, most):
    ports = ports_of_a_burst(harness, forwarding({} if most == 8 else {"queries-per-port": most}))
    assert max(ports.values()) == most
    assert len(ports) < BURST / 2


@pytest.mark.parametrize("most", [8, 3])
@alone
def test_queries_of_a_burst_to_a_discovered_server_share_ports(harness, most):
    ports = ports_of_a_burst(harness, {} if most == 8 else {"upstream": {"queries-per-port": most}}, ROOT)
    assert max(ports.values()) == most
    assert len(ports) < BURST / 2


@pytest.mark.parametrize("server", [SERVER, ROOT], ids=["configured", "discovered"])
@alone
def test_each_query_of_a_burst_has_its_own_port_where_the_operator_wants_it(harness, server):
    options = forwarding({"queries-per-port": 1}) if server == SERVER else {"upstream": {"queries-per-port": 1}}
    ports = ports_of_a_burst(harness, options, server)
    assert len(ports) > BURST * 0.9  # two draws may give the same port
