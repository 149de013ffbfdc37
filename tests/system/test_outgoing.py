# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The source addresses of queries to upstreams (server.outgoing), with the real sockets of the kernel."""

import collections
import ipaddress
import json
import pathlib
import signal
import socket
import subprocess

from conftest import eventually, program
from harness import alone

SERVER, SERVER6 = "10.53.1.1", "fd53::1:1"
QUERIES = 60
IP_BIND_ADDRESS_NO_PORT = 24  # Python 3.12 has the name


def options(outgoing, server, **upstream):
    return {"server": {"outgoing": outgoing}, "forward-zones": [{"name": ".", "upstreams": [server]}],
            "upstream": {"transport": "udp", **upstream}, "recursion": {"priming": "no"}}


def zone(names=2 * QUERIES):
    return {".": "".join(f"n{i} 60 A 192.0.2.1\n" for i in range(names))}


def ask(harness, first=0, count=QUERIES):
    """Asks for different names. Returns how many queries came from each source address."""
    seen = len(harness.servers.queries)
    for i in range(first, first + count):
        assert harness.ask(f"n{i}.").rcode == 0, harness.log()
    return collections.Counter(source for _, _, source, _ in harness.servers.queries[seen:])


def shown(harness, verb):
    """Returns the rows of nailupctl, or none while the daemon starts."""
    asked = subprocess.run([program("nailupctl"), "-s", str(harness.folder / "control.sock"), "--json", verb],
                           check=False, capture_output=True, text=True)
    return json.loads(asked.stdout)[verb] if asked.returncode == 0 else []


@alone
def test_queries_leave_from_each_address(harness):
    for last in (71, 72, 73):
        harness.add(f"10.53.0.{last}")
    count = 20 * QUERIES  # up to eight queries within 2 ms share a port and its address
    harness.serve(SERVER, zone(count))
    daemon = harness.start(options(["10.53.0.71", "10.53.0.72", "10.53.0.73"], SERVER))
    sources = ask(harness, count=count)
    assert set(sources) == {"10.53.0.71", "10.53.0.72", "10.53.0.73"}
    assert min(sources.values()) > count / 20
    harness.stop(daemon)


@alone
def test_a_missing_address_is_left_out_until_it_is_there(harness):
    harness.add("10.53.0.71")
    harness.serve(SERVER, zone(20000))
    daemon = harness.start(options(["10.53.0.71", "10.53.0.72"], SERVER))
    assert set(ask(harness)) == {"10.53.0.71"}
    line, asked = "server.outgoing: 10.53.0.72 cannot be used", QUERIES
    assert harness.log().count(line) == 1, harness.log()
    harness.add("10.53.0.72")

    def is_back():
        nonlocal asked
        asked += 1
        return "10.53.0.72" in ask(harness, asked, 1)

    eventually(is_back, within=60)
    assert "server.outgoing: 10.53.0.72 can be used again" in harness.log()
    assert harness.log().count(line) == 1
    harness.stop(daemon)


@alone
def test_each_query_has_an_address_of_the_prefix(harness):
    subprocess.run(["ip", "-6", "route", "add", "local", "fd53:7::/64", "dev", "lo"], check=True)
    harness.serve(SERVER6, zone())
    daemon = harness.start(options(["fd53:7::/64"], SERVER6, **{"queries-per-port": 1}))
    sources = ask(harness)
    assert all(ipaddress.ip_address(source) in ipaddress.ip_network("fd53:7::/64") for source in sources)
    assert len(sources) >= QUERIES
    harness.stop(daemon)


@alone
def test_nailed_connections_spread_and_a_reload_changes_the_list(harness):
    for last in (71, 72, 73):
        harness.add(f"10.53.0.{last}")
    harness.serve(SERVER, zone())
    nailed = {"tcp-upstream-keepalive": [SERVER], "recursion": {"priming": "no"},
              "forward-zones": [{"name": ".", "upstreams": [SERVER]}], "upstream": {"connections": 4}}
    daemon = harness.start(nailed | {"server": {"outgoing": ["10.53.0.71", "10.53.0.72"]}})

    def peers():
        """The local addresses of the daemon's connections."""
        rows = subprocess.run(["ss", "-Htn", "state", "established", "dst", f"{SERVER}:53"], check=True,
                              capture_output=True, text=True).stdout.splitlines()
        return collections.Counter(row.split()[2].rsplit(":", 1)[0] for row in rows)

    eventually(lambda: peers() == {"10.53.0.71": 2, "10.53.0.72": 2}, within=30)
    assert collections.Counter(row["source"] for row in shown(harness, "connections")) == peers()
    assert [set(row["sources"].split()) for row in shown(harness, "upstreams")] == [{"10.53.0.71", "10.53.0.72"}]
    assert set(ask(harness)) <= {"10.53.0.71", "10.53.0.72"}
    harness.write("nailup.yaml", json.dumps(harness.config(nailed | {"server": {"outgoing": ["10.53.0.73"]}})))
    daemon.send_signal(signal.SIGHUP)
    eventually(lambda: peers() == {"10.53.0.73": 4}, within=30)
    assert set(ask(harness, QUERIES)) == {"10.53.0.73"}
    harness.stop(daemon)


@alone
def test_eight_addresses_of_an_upstream_are_shown(harness):
    subprocess.run(["ip", "-6", "route", "add", "local", "fd53:7::/64", "dev", "lo"], check=True)
    harness.serve(SERVER6, zone())
    nailed = {"tcp-upstream-keepalive": [SERVER6], "upstream": {"connections": 10, "max-connections": 10}}
    daemon = harness.start(options(["fd53:7::/64"], SERVER6) | nailed)
    eventually(lambda: [row["state"] for row in shown(harness, "connections")] == ["ready"] * 10, within=30)
    sources = {row["source"] for row in shown(harness, "connections")}
    *some, more = shown(harness, "upstreams")[0]["sources"].split()
    assert len(sources) == 10 and len(set(some)) == 8 and set(some) <= sources and more == "..."
    harness.stop(daemon)


@alone
def test_a_connection_leaves_from_another_address_when_no_port_is_free(harness):
    """Another program holds all ports for connections from one address to the server."""
    harness.add("10.53.0.71")
    harness.add("10.53.0.72")
    harness.serve(SERVER, zone())
    pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 40015")
    held = [socket.socket() for _ in range(16)]
    for one in held:
        one.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)  # the port is free for other pairs
        one.bind(("10.53.0.71", 0))
        one.connect((SERVER, 53))
    nailed = {"tcp-upstream-keepalive": [SERVER], "upstream": {"connections": 2}}
    daemon = harness.start(options(["10.53.0.71", "10.53.0.72"], SERVER) | nailed)
    eventually(lambda: [row["state"] for row in shown(harness, "connections")] == ["ready"] * 2, within=30)
    assert {row["source"] for row in shown(harness, "connections")} == {"10.53.0.72"}
    assert "cannot be used" not in harness.log() and "rests" not in harness.log(), harness.log()
    harness.stop(daemon)
    for one in held:
        one.close()
