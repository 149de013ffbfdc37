# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Cookies, the rate limit and the limit of waiting queries per client: the daemon against dig, kdig, forgers and
floods. Most basic first."""

import re
import socket
import struct
import subprocess

import pytest

from conftest import BUILD, eventually
from peers import Stream, need, query, rcode_of, udp_ask

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

QPS = 20
NOERROR, FORMERR, SERVFAIL, BADCOOKIE = 0, 1, 2, 23
FLOODER, HONEST = "127.0.0.66", "127.0.0.2"


def with_cookie(message, cookie):
    option = struct.pack(">HH", 10, len(cookie)) + cookie
    record = b"\0" + struct.pack(">HHIH", 41, 1232, 0, len(option)) + option
    return message[:10] + b"\0\1" + message[12:] + record


def cookie_of(answer):
    """Returns the data of the last option in the last record."""
    return answer[-24:] if answer[-28:-24] == b"\0\x0a\0\x18" else None


def full_rcode(answer):
    """Returns the full rcode of an answer whose OPT record contains only a cookie."""
    return answer[-34] << 4 | rcode_of(answer)


def flood(daemon, count, source=FLOODER, make=lambda i: query("flood.example", i)):
    """Sends queries, each from its own port. Returns the answers."""
    answers = []
    for i in range(count):
        answer = udp_ask(daemon, make(i), timeout=0.05, source=source)
        answers.append(answer)
    return [answer for answer in answers if answer]


# ---- cookies ----

def test_dig_learns_a_cookie_and_finds_it_good(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()])
    first = dig(daemon, "a.example", "A", "+cookie=2464c4abcf10c957").text
    cookie = re.search(r"COOKIE: (2464c4abcf10c95701000000\w{24}) \(good\)", first).group(1)
    again = dig(daemon, "a.example", "A", f"+cookie={cookie}").text
    assert f"COOKIE: {cookie} (good)" in again
    reported = daemon.metrics()
    assert reported['cookies_total{result="new"}'] == 1
    assert reported['cookies_total{result="valid"}'] == 1


def test_kdig_gets_its_cookie_over_udp_and_tcp(nailupd, responder):
    need("kdig")
    daemon = nailupd(upstreams=[responder()])
    for options in (["+notcp"], ["+tcp"]):
        done = subprocess.run(["kdig", f"@{daemon.ip}", "-p", str(daemon.port), "+cookie", "a.example",
                               *options], capture_output=True, text=True, check=True)
        assert "COOKIE" in done.stdout and "NOERROR" in done.stdout
    assert daemon.metrics()['cookies_total{result="new"}'] == 2


def test_cookies_of_impossible_lengths_are_format_errors(nailupd, responder):
    daemon = nailupd(upstreams=[responder()])
    for length in (1, 7, 9, 15, 41):
        answer = udp_ask(daemon, with_cookie(query(), bytes(length)))
        assert rcode_of(answer) == FORMERR and cookie_of(answer) is None
    for length in (8, 16, 24, 40):
        answer = udp_ask(daemon, with_cookie(query(), bytes(length)))
        assert rcode_of(answer) == NOERROR and cookie_of(answer)


def test_servers_with_one_secret_take_each_others_cookies(nailupd, responder, tmp_path):
    secrets = tmp_path / "cookies"
    secrets.write_text("# of both\n000102030405060708090a0b0c0d0e0f\n")
    secrets.chmod(0o640)
    upstream = responder()
    config = {"server": {"cookie-secret-file": str(secrets)}}
    one, other = nailupd(config, upstreams=[upstream]), nailupd(config, upstreams=[upstream])
    without_secret = nailupd(upstreams=[upstream])
    cookie = cookie_of(udp_ask(one, with_cookie(query(), b"12345678"), source=HONEST))
    assert cookie_of(udp_ask(other, with_cookie(query(), cookie), source=HONEST)) == cookie
    assert cookie_of(udp_ask(without_secret, with_cookie(query(), cookie), source=HONEST)) != cookie
    assert other.metrics()['cookies_total{result="valid"}'] == 1
    assert without_secret.metrics()['cookies_total{result="bad"}'] == 1


def test_workers_take_each_others_cookies(nailupd, responder):
    daemon = nailupd(upstreams=[responder()], workers=2)
    cookie = cookie_of(udp_ask(daemon, with_cookie(query(), b"12345678"), source=HONEST))
    for number in range(20):  # each from a different port, so that each worker gets some
        udp_ask(daemon, with_cookie(query(number=number), cookie), source=HONEST)
    assert daemon.metrics()['cookies_total{result="valid"}'] == 20


# ---- the limit ----

LIMITED = {"server": {"rate-limit": {"queries-per-second": QPS, "slip": 1}}}


def test_a_flooder_gets_truncated_answers_and_its_neighbours_are_served(nailupd, responder):
    daemon = nailupd(LIMITED, upstreams=[responder()], workers=2)
    answers = flood(daemon, 10 * QPS)
    cut = [answer for answer in answers if answer[2] & 2]  # the answers with TC
    assert cut and all(len(answer) == len(query("flood.example")) for answer in cut)
    assert daemon.metrics()['rate_limited_total{action="truncated"}'] == len(cut)
    assert all(rcode_of(answer) == NOERROR for answer in answers)
    neighbour = udp_ask(daemon, query("other.example"), source=HONEST)
    assert rcode_of(neighbour) == NOERROR and not neighbour[2] & 2
    with Stream(daemon, FLOODER) as client:  # the same client is served over TCP
        client.send(*[query("flood.example", i) for i in range(3 * QPS)])
        assert {client.read()[2] & 2 for _ in range(3 * QPS)} == {0}


def test_without_a_slip_queries_above_the_limit_get_no_answer(nailupd, responder):
    daemon = nailupd({"server": {"rate-limit": {"queries-per-second": QPS, "slip": 0}}},
                     upstreams=[responder()])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind((FLOODER, 0))
        client.connect((daemon.ip, daemon.port))
        for number in range(10 * QPS):
            client.send(query("flood.example", number))
    eventually(lambda: daemon.metrics()['queries_total{protocol="udp"}'] >= 10 * QPS)
    assert daemon.metrics()['rate_limited_total{action="dropped"}'] > 0
    assert daemon.metrics()['rate_limited_total{action="truncated"}'] == 0


def test_a_client_with_a_cookie_is_served_while_its_address_is_forged(nailupd, responder):
    daemon = nailupd(LIMITED, upstreams=[responder()])
    flood(daemon, 5 * QPS, source=HONEST)
    reported = udp_ask(daemon, with_cookie(query(), b"12345678"), source=HONEST)
    while full_rcode(reported) == NOERROR:  # on a slow machine, the second may be over
        flood(daemon, 5 * QPS, source=HONEST)
        reported = udp_ask(daemon, with_cookie(query(), b"12345678"), source=HONEST)
    assert full_rcode(reported) == BADCOOKIE
    cookie = cookie_of(reported)
    answers = flood(daemon, 5 * QPS, source=HONEST,
                    make=lambda i: with_cookie(query("a.example", i), cookie))
    assert len(answers) == 5 * QPS
    assert {(full_rcode(answer), answer[2] & 2) for answer in answers} == {(NOERROR, 0)}


def test_dig_gets_through_a_flood_from_its_own_address(nailupd, responder, dig):
    """dig sends a cookie by default, and repeats the query after BADCOOKIE."""
    daemon = nailupd(LIMITED, upstreams=[responder()])
    flood(daemon, 5 * QPS, source=HONEST)
    answer = dig(daemon, "a.example", "A", "-b", HONEST, "+ignore", "+notcp")
    assert answer.status == "NOERROR" and "(good)" in answer.text and answer.data


# ---- what waits ----

def test_one_client_cannot_take_all_that_may_wait(nailupd, responder):
    daemon = nailupd({"server": {"max-waiting-per-client": 10}}, upstreams=[responder("--delay", 1000)],
                     workers=2)
    with Stream(daemon, FLOODER) as client, Stream(daemon, HONEST) as other:
        client.send(*[query(f"n{i}.example", i) for i in range(40)])
        eventually(lambda: daemon.metrics()['waiting_refused_total{bound="client"}'] == 30)
        other.send(*[query(f"m{i}.example", i) for i in range(10)])
        assert [rcode_of(other.read()) for _ in range(10)] == [NOERROR] * 10
        rcodes = [rcode_of(client.read()) for _ in range(40)]
    assert sorted(rcodes) == [NOERROR] * 10 + [SERVFAIL] * 30
    assert daemon.metrics()['waiting_refused_total{bound="all"}'] == 0


def test_clients_that_ask_and_leave_cannot_take_all_room(nailupd, responder):
    daemon = nailupd({"server": {"max-waiting-per-client": 10}}, upstreams=[responder("--delay", 1500)])
    for number in range(10):
        with Stream(daemon, FLOODER) as client:
            client.send(*[query(f"n{number}-{i}.example", i) for i in range(10)])
            if number == 0:
                eventually(lambda: daemon.status()["in_flight"] == 10)
    eventually(lambda: daemon.metrics()['queries_total{protocol="tcp"}'] == 100)
    assert daemon.status()["in_flight"] <= 10
    assert rcode_of(udp_ask(daemon, query("m.example"), source=HONEST)) == NOERROR
    eventually(lambda: daemon.status()["in_flight"] == 0)
    assert rcode_of(udp_ask(daemon, query("n.example"), source=FLOODER)) == NOERROR
