# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Which ports do queries to upstreams come from? A forger has to guess them (RFC 5452 section 9.2)."""

import pathlib

import pytest
from harness import alone

SERVER, SERVER6 = "10.53.1.1", "fd53::1:1"
QUERIES = 400
SYSCTL = pathlib.Path("/proc/sys/net/ipv4")


def ports_of(harness, server, outgoing=()):
    """The source ports of QUERIES queries, each for its own name."""
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
