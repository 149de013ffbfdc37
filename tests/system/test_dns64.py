# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""DNS64 beside Unbound's module for it. Both query the same server and must give the same answers."""

import ipaddress

import pytest

from conftest import eventually
from peers import unbound  # noqa: F401

PREFIX = "2001:db8:64::/96"
RECORDS = """
four.site. 300 IN A 192.0.2.1
four.site. 300 IN A 198.51.100.2
six.site. 300 IN AAAA 2001:db8::6
both.site. 300 IN A 192.0.2.3
both.site. 300 IN AAAA 2001:db8::3
mapped.site. 300 IN A 192.0.2.4
mapped.site. 300 IN AAAA ::ffff:192.0.2.4
mixed.site. 300 IN AAAA ::ffff:192.0.2.5
mixed.site. 300 IN AAAA 2001:db8::5
alias.site. 300 IN CNAME four.site.
text.site. 300 IN TXT hello
short.site. 20 IN A 192.0.2.7
1.2.0.192.in-addr.arpa. 300 IN PTR four.site.
"""


def local_data():
    lines = [f"'{line}'" for line in RECORDS.strip().splitlines()]
    return {"local-data": lines, "local-zone": ["site. static", "2.0.192.in-addr.arpa. static"]}


@pytest.fixture
def source(unbound):
    """Yields the server that both query."""
    return unbound(**local_data())


@pytest.fixture
def start(nailupd, source):
    def run(**dns64):
        return nailupd({"dns64": {"prefix": PREFIX, **dns64}}, upstreams=[source.server])
    return run


def test_answers_are_those_of_unbound(start, source, unbound, dig):
    daemon = start()
    zone = f"forward-zone:\n  name: .\n  forward-addr: {source.server}\n"
    peer = unbound(zone, **{"module-config": '"dns64 iterator"', "dns64-prefix": PREFIX,
                            "local-zone": ["2.0.192.in-addr.arpa. nodefault",
                                           "8.b.d.0.1.0.0.2.ip6.arpa. nodefault"]})
    reverse = ipaddress.ip_address("2001:db8:64::c000:201").reverse_pointer
    for name, kind in [("four.site", "AAAA"), ("FOUR.site", "AAAA"), ("six.site", "AAAA"), ("both.site", "AAAA"),
                       ("alias.site", "AAAA"), ("text.site", "AAAA"), ("absent.site", "AAAA"),
                       ("four.site", "A"), ("text.site", "TXT"), (reverse, "PTR")]:
        ours, theirs = dig(daemon, name, kind), dig(peer, name, kind)
        assert ours.status == theirs.status, (name, ours.text, theirs.text)
        # For PTR queries, Unbound changes the owner of the record. RFC 6147 section 5.3.1 demands an alias.
        rows = [row for row in ours.rows if kind != "PTR" or row[2] == "PTR"]
        assert sorted(row[2:] for row in rows) == sorted(row[2:] for row in theirs.rows), name
        again = dig(daemon, name, kind)  # this answer comes from the cache
        assert sorted(again.data) == sorted(ours.data)


def test_excluded_addresses_are_replaced_or_left_out(start, dig):
    daemon = start()
    assert dig(daemon, "mapped.site", "AAAA").data == ["2001:db8:64::c000:204"]
    assert dig(daemon, "mixed.site", "AAAA").data == ["2001:db8::5"]
    daemon = start(exclude=["2001:db8::/64"])
    assert dig(daemon, "both.site", "AAAA").data == ["2001:db8:64::c000:203"]
    answer = dig(daemon, "six.site", "AAAA")  # the name has no other address
    assert answer.status == "NOERROR" and answer.rows == []


def test_do_with_cd_gets_the_truth(start, dig):
    daemon = start()
    answer = dig(daemon, "four.site", "AAAA", "+dnssec")
    assert len(answer.rows) == 2 and "ad" not in answer.flags
    answer = dig(daemon, "four.site", "AAAA", "+dnssec", "+cdflag")
    assert answer.status == "NOERROR" and answer.rows == []
    assert len(dig(daemon, "four.site", "AAAA", "+cdflag").rows) == 2


def test_the_ttl_is_that_of_the_shorter_record(start, dig):
    daemon = start()
    assert all(row[1] <= 20 for row in dig(daemon, "short.site", "AAAA").rows)
    assert all(row[1] <= 300 for row in dig(daemon, "four.site", "AAAA").rows)


def test_the_prefix_can_be_learnt(start, dig):
    daemon = start()
    assert sorted(dig(daemon, "ipv4only.arpa", "AAAA").data) == ["2001:db8:64::c000:aa", "2001:db8:64::c000:ab"]


def test_only_some_clients_get_made_records(start, dig):
    daemon = start(clients=["127.7.7.0/24"])
    assert dig(daemon, "four.site", "AAAA").rows == []
    assert len(dig(daemon, "four.site", "AAAA", "-b", "127.7.7.9").rows) == 2


def test_names_without_working_ipv6_are_made_too(start, dig):
    daemon = start(**{"ignore-aaaa": ["both.site"]})
    assert dig(daemon, "both.site", "AAAA").data == ["2001:db8:64::c000:203"]
    assert dig(daemon, "six.site", "AAAA").data == ["2001:db8::6"]


def test_blocked_names_stay_blocked(nailupd, source, dig):
    daemon = nailupd({"dns64": {"prefix": PREFIX},
                      "local-zones": [{"name": "four.site", "action": "nodata"}]}, upstreams=[source.server])
    assert dig(daemon, "four.site", "AAAA").rows == []


def test_answers_over_tcp_and_metrics(start, dig):
    daemon = start()
    for options in ((), ("+tcp",)):
        assert len(dig(daemon, "alias.site", "AAAA", *options).rows) == 3
    assert daemon.metrics()["dns64_answers_total"] == 2


def test_a_reload_begins_and_ends_it(start, dig):
    daemon = start()
    assert len(dig(daemon, "four.site", "AAAA").rows) == 2
    text = daemon.config_path.read_text()
    daemon.config_path.write_text(text.replace(f'"{PREFIX}"', '""'))
    assert daemon.ctl("reload").returncode == 0
    assert dig(daemon, "four.site", "AAAA").rows == []
    daemon.config_path.write_text(text)
    assert daemon.ctl("reload").returncode == 0
    assert eventually(lambda: len(dig(daemon, "four.site", "AAAA").rows) == 2)


def test_nothing_made_is_kept(start, dig):
    daemon = start()
    assert len(dig(daemon, "four.site", "AAAA").rows) == 2
    kept = daemon.ctl("dump-cache").stdout
    assert "64::" not in kept and "192.0.2.1" in kept
