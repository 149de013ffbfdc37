# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Several workers and their listen addresses."""

import os
import socket
import types

import pytest

from conftest import BUILD, eventually, free_address
from peers import Stream, load, query, rcode_of, udp_ask

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")


def at(ip, port):
    return types.SimpleNamespace(ip=ip, port=port, server=f"{ip}@{port}")


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")


# ---- workers ----


def test_every_worker_gets_queries(nailupd, responder):
    """The kernel spreads clients by their source ports. Each worker uses its own nailed connection."""
    upstream = responder()
    daemon = nailupd(upstreams=[upstream], nailed=True, workers=2)
    eventually(lambda: [c["state"] for c in daemon.connections()] == ["ready"] * 2)
    for i in range(64):
        assert rcode_of(udp_ask(daemon, query(f"n{i}.example"))) == 0
    requests = {c["worker"]: c["requests"] for c in daemon.connections()}
    assert sum(requests.values()) == 64
    assert all(count >= 5 for count in requests.values()), requests


def test_tcp_clients_are_spread_too(nailupd, responder):
    daemon = nailupd(upstreams=[responder()], nailed=True, workers=2)
    eventually(lambda: [c["state"] for c in daemon.connections()] == ["ready"] * 2)
    for i in range(64):
        with Stream(daemon) as client:
            client.send(query(f"n{i}.example"))
            assert rcode_of(client.read()) == 0
    assert all(c["requests"] >= 5 for c in daemon.connections())


def test_names_cached_by_one_worker_are_hits_for_the_other(nailupd, responder):
    upstream = responder()
    daemon = nailupd(upstreams=[upstream], workers=2)
    for i in range(40):  # each from a different port
        assert rcode_of(udp_ask(daemon, query("same.example", i))) == 0
    assert upstream.stats()["udp_queries"] == 1
    reported = daemon.metrics()
    assert (reported["cache_misses_total"], reported["cache_hits_total"]) == (1, 39)


def test_load_on_many_workers_loses_nothing(nailupd, responder):
    daemon = nailupd(upstreams=[responder()], nailed=True, workers=4)
    load(daemon, "--rate", 2000, "--duration", 2, "--zipf", 1, "--unique-share", 20,
         "--connections", 32)


def test_zero_workers_means_one_for_each_cpu(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()], workers=0)
    assert daemon.status()["workers"] == len(os.sched_getaffinity(0))
    assert dig(daemon, "www.example").status == "NOERROR"


# ---- addresses ----


@needs_ipv6
def test_clients_over_ipv6_are_answered(nailupd, responder, dig):
    _, port = free_address("::1")
    daemon = nailupd({"server": {"listen": [f"::1@{port}"]}}, upstreams=[responder()])
    for options in ([], ["+tcp"]):
        assert dig(at("::1", port), "www.example", "A", *options).status == "NOERROR"
    assert daemon.metrics()['queries_total{protocol="udp"}'] == 1


@needs_ipv6
@pytest.mark.parametrize("nailed", [False, True], ids=["plain", "nailed"])
def test_upstreams_over_ipv6_are_asked(nailupd, responder, dig, nailed):
    upstream = responder(listen=["::1@0"])
    daemon = nailupd(upstreams=[upstream], nailed=nailed)
    if nailed:
        eventually(lambda: [c["state"] for c in daemon.connections()] == ["ready"])
    assert dig(daemon, "www.example").status == "NOERROR"
    assert upstream.stats()["tcp_queries" if nailed else "udp_queries"] == 1


def test_several_addresses_are_served_by_one_daemon(nailupd, responder, dig):
    places = [free_address() for _ in range(5)]
    nailupd({"server": {"listen": ["%s@%d" % place for place in places]}},
            upstreams=[responder()], workers=2)
    for place in places:
        for options in ([], ["+tcp"]):
            assert dig(at(*place), "www.example", "A", *options).status == "NOERROR"


@pytest.mark.parametrize("asked", ["127.0.0.5", "127.0.0.1", "127.200.30.4"])
def test_a_wildcard_listener_answers_from_the_address_that_was_asked(nailupd, responder, asked):
    _, port = free_address("0.0.0.0")
    nailupd({"server": {"listen": [f"0.0.0.0@{port}"]}}, upstreams=[responder()], workers=2)
    # an unconnected socket shows the source of an answer
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(5)
        for number in range(8):  # a miss, then hits
            client.sendto(query("www.example", number), (asked, port))
            answer, source = client.recvfrom(4096)
            assert source == (asked, port)
            assert rcode_of(answer) == 0
    with Stream(at(asked, port)) as client:
        client.send(query("www.example"))
        assert rcode_of(client.read()) == 0


@needs_ipv6
def test_a_wildcard_listener_of_ipv6_answers_from_the_address_that_was_asked(nailupd, responder):
    _, port = free_address("::")
    nailupd({"server": {"listen": [f"::@{port}"]}}, upstreams=[responder()])
    assert rcode_of(udp_ask(at("::1", port), query("www.example"))) == 0


@needs_ipv6
def test_wildcards_of_both_families_share_a_port(nailupd, responder):
    _, port = free_address("0.0.0.0")
    nailupd({"server": {"listen": [f"0.0.0.0@{port}", f"::@{port}"]}}, upstreams=[responder()])
    for ip in ("127.0.0.7", "::1"):
        assert rcode_of(udp_ask(at(ip, port), query("www.example"))) == 0
