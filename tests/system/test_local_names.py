# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Local data as dig and glibc see it. Most basic first."""

import json
import signal
import socket
import struct

import pytest

from conftest import BUILD, eventually
from harness import Message, alone, pack_query

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")


@pytest.fixture
def upstream(responder):
    return responder()


@pytest.fixture
def files(tmp_path):
    """Yields a list, a hosts file, and the part of a configuration that names them."""
    blocked, redirected, hosts = (tmp_path / name for name in ("ads", "more", "hosts"))
    blocked.write_text("# a list\nads.example\n0.0.0.0 one.bad two.bad\n<html>\n")
    redirected.write_text("*.track.example\n")
    hosts.write_text("127.0.0.1 localhost\n192.168.7.1 gw.lan gw # the gateway\nnonsense\n")
    return {"hosts-file": str(hosts),
            "block-lists": [{"file": str(blocked)},
                            {"file": str(redirected), "action": "redirect",
                             "redirect-to": ["0.0.0.0", "::"]}]}


SPECIAL = {"server": {"default-local-zones": "yes"}}

LAN = {"local-zones": [{"name": "lan", "action": "nxdomain"},
                       {"name": "all.example", "action": "redirect"},
                       {"name": "no.example", "action": "refuse"},
                       {"name": "good.ads.example", "action": "transparent"}],
       "local-data": ["nas.lan. 60 IN A 192.0.2.7", "all.example. A 192.0.2.8",
                      "*.wild.lan. A 192.0.2.9", "out.lan. 60 CNAME www.example.org."]}


def test_names_of_special_use_never_reach_an_upstream(nailupd, upstream, dig):
    daemon = nailupd(SPECIAL, upstreams=[upstream])
    assert dig(daemon, "a.localhost").data == ["127.0.0.1"]
    assert dig(daemon, "localhost", "AAAA").data == ["::1"]
    assert dig(daemon, "1.0.0.127.in-addr.arpa", "PTR").data == ["localhost."]
    for name in ("www.onion", "1.1.168.192.in-addr.arpa", "x.home.arpa", "a.test", "a.invalid"):
        answer = dig(daemon, name, "PTR")
        assert answer.status == "NXDOMAIN" and "aa" in answer.flags
        assert answer.section("AUTHORITY")[0][2] == "SOA"
    assert daemon.metrics()["cache_misses_total"] == 0
    assert daemon.metrics()["local_answers_total"] == 8


def test_a_zone_with_upstreams_goes_before_special_use(nailupd, upstream, dig):
    daemon = nailupd(SPECIAL | {"forward-zones": [
        {"name": "corp.test", "upstreams": upstream.servers}]})
    assert dig(daemon, "www.corp.test").data == dig(upstream, "www.corp.test").data
    assert dig(daemon, "www.test").status == "NXDOMAIN"


def frame(message):
    return struct.pack(">H", len(message)) + message


def test_a_zone_that_drops_gives_no_answer(nailupd, upstream):
    daemon = nailupd({"local-zones": [{"name": "gone.example", "action": "drop"}],
                      "local-data": ["own.gone.example. 60 IN A 192.0.2.7"]}, upstreams=[upstream])
    dropped, answered = pack_query(1, "www.gone.example.", "A"), pack_query(2, "own.gone.example.", "A")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        for message in (dropped, answered):
            client.sendto(message, (daemon.ip, daemon.port))
        assert Message(client.recv(4096)).id == 2
    with socket.create_connection((daemon.ip, daemon.port), timeout=10) as client:
        client.sendall(frame(dropped) + frame(answered))
        assert Message(client.recv(4096)[2:]).id == 2  # the connection stays open
    assert daemon.metrics()['dropped_total{reason="local"}'] == 2
    assert daemon.ask("lookup", "www.gone.example")["lookup"]["answered"] == "dropped"


def test_records_zones_and_wildcards(nailupd, upstream, dig):
    daemon = nailupd(LAN, upstreams=[upstream])
    answer = dig(daemon, "NAS.lan")
    assert answer.rows == [("NAS.lan.", 60, "A", "192.0.2.7")] and "aa" in answer.flags
    assert dig(daemon, "nas.lan", "AAAA").status == "NOERROR"
    assert dig(daemon, "other.lan").status == "NXDOMAIN"
    assert dig(daemon, "x.wild.lan").data == ["192.0.2.9"]
    assert dig(daemon, "x.y.all.example").data == ["192.0.2.8"]
    refused = dig(daemon, "x.no.example")
    assert refused.status == "REFUSED" and refused.ede == [15]
    assert dig(daemon, "nas.lan", "A", "+dnssec", "+tcp").data == ["192.0.2.7"]
    assert dig(daemon, "nas.lan", "A", "+norecurse").data == ["192.0.2.7"]


def test_an_alias_is_resolved_by_upstreams(nailupd, upstream, dig):
    daemon = nailupd(LAN, upstreams=[upstream])
    expected = ["www.example.org."] + dig(upstream, "www.example.org").data
    for _ in range(3):
        answer = dig(daemon, "out.lan")
        assert answer.status == "NOERROR" and answer.data == expected
    assert daemon.metrics()['upstream_queries_total{transport="udp"}'] == 1


def test_lists_and_a_hosts_file(nailupd, upstream, dig, files):
    daemon = nailupd(LAN | files, upstreams=[upstream])
    for name in ("ads.example", "www.ads.example", "one.bad", "x.two.bad"):
        answer = dig(daemon, name)
        assert answer.status == "NXDOMAIN" and answer.ede == [15]
    forged = dig(daemon, "www.track.example")
    assert forged.data == ["0.0.0.0"] and forged.ede == [4]
    assert dig(daemon, "good.ads.example").data == dig(upstream, "good.ads.example").data
    assert dig(daemon, "gw.lan").data == ["192.168.7.1"]
    assert dig(daemon, "gw").data == ["192.168.7.1"]
    assert dig(daemon, "1.7.168.192.in-addr.arpa", "PTR").data == ["gw.lan."]
    assert ':4:1: warning: "<html>" is not a domain name' in daemon.log()
    assert ':3:1: warning: "nonsense" is not an address' in daemon.log()


def test_any_is_answered_small(nailupd, upstream, dig):
    daemon = nailupd(upstreams=[upstream])
    for options in ([], ["+tcp"]):
        answer = dig(daemon, "www.example.org", "ANY", "+notcp", *options)
        assert answer.rows == [("www.example.org.", 3789, "HINFO", '"RFC8482" ""')]
    assert daemon.metrics()["cache_misses_total"] == 0


def test_version_and_identity_are_answered_by_option_only(nailupd, upstream, dig):
    shy = nailupd(upstreams=[upstream])
    for name in ("version.bind", "id.server"):
        assert dig(shy, name, "TXT", "-c", "CH").status == "REFUSED"
    frank = nailupd({"server": {"version": "nailup", "identity": "fra-1"}}, upstreams=[upstream])
    assert dig(frank, "version.bind", "TXT", "-c", "CH").data == ['"nailup"']
    assert dig(frank, "id.server", "TXT", "-c", "CH").data == ['"fra-1"']
    assert dig(frank, "authors.bind", "TXT", "-c", "CH").status == "REFUSED"


def list_size():
    """Returns the length of the list. With a sanitizer, a tenth of it takes as long."""
    binary = (BUILD / "src/nailupd").read_bytes()
    return 100_000 if b"__asan_init" in binary or b"__tsan_init" in binary else 1_000_000


def test_a_list_of_a_million_names(nailupd, upstream, dig, tmp_path):
    names, last = tmp_path / "million", list_size() - 1
    names.write_text("".join(f"n{i}.track{i % 5000}.example\n" for i in range(last + 1)))
    daemon = nailupd({"block-lists": [{"file": str(names)}]}, upstreams=[upstream])
    assert dig(daemon, f"www.n{last}.track4999.example").status == "NXDOMAIN"
    assert dig(daemon, f"n{last}.track4998.example").data == \
        dig(upstream, f"n{last}.track4998.example").data


@alone
def test_block_lists_cover_targets_of_aliases(harness):
    harness.write("ads.txt", "ads.tld\n")
    harness.serve("10.53.1.1", {"tld.": "www 60 CNAME x.ads.tld.\nx.ads 60 A 192.0.2.1\nfine 60 CNAME data.tld.\n"
                                        "data 60 A 192.0.2.2\n"})
    config = {"forward-zones": [{"name": ".", "upstreams": ["10.53.1.1"]}],
              "block-lists": [{"file": "ads.txt"}]}

    def www():
        answer = harness.ask("www.tld.")
        return answer.rcode, [row.data for row in answer.answer]

    daemon = harness.start({**config, "block-aliases": "no"})
    assert www() == (0, ["x.ads.tld.", "192.0.2.1"])
    harness.write("nailup.yaml", json.dumps(harness.config(config)))
    daemon.send_signal(signal.SIGHUP)
    eventually(lambda: www() == (3, []))
    assert harness.ask("fine.tld.").rcode == 0
    asked = len(harness.asked())
    assert www() == (3, []) and len(harness.asked()) == asked  # the cache has the answer
    harness.write("ads.txt", "other.tld\n")
    daemon.send_signal(signal.SIGHUP)
    eventually(lambda: www() == (0, ["x.ads.tld.", "192.0.2.1"]))
    harness.stop(daemon)


def test_the_identifier_goes_only_to_queries_that_ask_for_it(nailupd, upstream, dig):
    daemon = nailupd({"server": {"nsid": "ascii_fra-1"}}, upstreams=[upstream])
    assert '("fra-1")' in dig(daemon, "www.example.org", "A", "+nsid").text
    assert '("fra-1")' in dig(daemon, "www.example.org", "A", "+nsid", "+tcp").text
    assert "NSID" not in dig(daemon, "www.example.org", "A").text
    unnamed = nailupd(upstreams=[upstream])
    assert "NSID" not in dig(unnamed, "www.example.org", "A", "+nsid").text
