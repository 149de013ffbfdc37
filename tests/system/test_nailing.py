# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The promises of nailed connections, against peers that recycle, stall, reset, refuse and die. Tests assert counts
and outcomes, not times. Most basic first.

Every test is played over TCP and over TLS with the profile strict. With strict, no query may have arrived in
plain text at the end. Tests in which plain text is a way out are also played with opportunistic."""

import subprocess
import time

import pytest

from conftest import BUILD, eventually, merge
from peers import (Authority, Load, Stream, dig_all, load, need, nsd, query,  # noqa: F401 (nsd)
                   rcode_of)

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")


PROFILES = ["tcp", "strict", "opportunistic"]
with_plain_text = pytest.mark.parametrize("transport", ["tcp", "opportunistic"], indirect=True)
with_all = pytest.mark.parametrize("transport", PROFILES, indirect=True)
with_strict = pytest.mark.parametrize("transport", ["strict"], indirect=True)


@pytest.fixture(params=["tcp", "strict"])
def transport(request):
    """The transport between the daemon and its upstreams: one of PROFILES."""
    return request.param


@pytest.fixture
def responder(responder, transport):
    started = []

    def start(*options, **more):
        over = "tcp" if transport == "tcp" else "tls"
        started.append(responder(*options, transport=over, **more))
        return started[-1]

    yield start
    for one in started:
        if transport == "strict" and one.process.poll() is None:
            stats = one.stats()
            assert (stats["udp_queries"], stats["tcp_queries"]) == (0, 0), "asked in plain text"


@pytest.fixture
def nailupd(nailupd, transport):
    def start(config=None, **more):
        profile = {"upstream": {"profile": transport}} if transport == "opportunistic" else {}
        return nailupd(merge(profile, config or {}), **more)

    return start


def await_ready(daemon, count=1):
    """Waits until at least that many connections are ready, and none is in another state."""
    def ready():
        states = [c["state"] for c in daemon.connections()]
        return len(states) >= count and set(states) == {"ready"}
    eventually(ready, within=10)


def start(nailupd, upstream, config=None, **more):
    """Starts a daemon with one upstream, which is nailed and dialled. All load comes from a single address and all of
    it counts, so the age limit of queries is off."""
    config = {"server": {"discard-timeout": "0s"}, **(config or {})}
    daemon = nailupd(config, upstreams=[upstream], nailed=True, **more)
    await_ready(daemon, len(upstream.servers))
    return daemon


def names(count, suffix="example"):
    return [(f"n{i}.{suffix}", "A") for i in range(count)]


def ask_all(daemon, count, folder, suffix="example"):
    """Sends count questions one by one."""
    answers = dig_all(daemon, names(count, suffix), folder)
    assert {answer.status for answer in answers} == {"NOERROR"}


def ask_at_once(daemon, messages):
    """Sends queries in one write on one connection. Returns {id: rcode}."""
    with Stream(daemon, timeout=20) as client:
        client.send(*messages)
        answers = [client.read() for _ in messages]
    return {int.from_bytes(answer[:2], "big"): rcode_of(answer) for answer in answers}


def counted(daemon, name, **labels):
    """Returns the sum of the rows of a metric that have these labels."""
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return sum(value for row, value in daemon.metrics().items()
               if row.partition("{")[0] == name and all(one in row for one in wanted))


def asked(stats):
    return stats["udp_queries"] + stats["tcp_queries"] + stats["tls_queries"]


def late(daemon):
    """Returns how many queries were repeated because their first answer was late. There are none, unless programs get
    no CPU."""
    return sum(counted(daemon, "upstream_retries_total", reason=why) for why in ("timeout", "silent"))


def fallbacks(daemon):
    return counted(daemon, "upstream_fallbacks_total")


# ---- exact recycling ----


@pytest.mark.parametrize("most", [1, 2, 7])
def test_a_connection_carries_exactly_its_number_of_queries(nailupd, responder, tmp_path, most):
    upstream = responder()
    daemon = start(nailupd, upstream, {"tcp-upstream-keepalive-maxrequests": most})
    ask_all(daemon, 140, tmp_path)
    eventually(lambda: upstream.stats()["connections_closed"] == 140 // most)
    stats = upstream.stats()
    assert stats["closed_recent"] == [most] * (140 // most)
    assert stats["stream_queries"] == 140 and stats["resets_sent"] == 0
    await_ready(daemon)
    reported = daemon.metrics()
    assert reported["upstream_recycles_total"] == 140 // most
    # with one query per connection, each query is a dial, and on a slow machine the next connection may not be ready
    if most > 1:
        assert (stats["udp_queries"], reported["upstream_cold_queries_total"]) == (0, 0)


def test_ten_thousand_queries_are_carried_by_each_connection(nailupd, responder, tmp_path):
    upstream = responder()
    daemon = start(nailupd, upstream, {"upstream": {"max-connections": 1}})
    questions = tmp_path / "25000"
    questions.write_text("".join(f"n{i}.example A\n" for i in range(25000)))
    done = subprocess.run([need("dnsperf"), "-s", daemon.ip, "-p", str(daemon.port), "-n", "1",
                           "-d", str(questions), "-q", "50", "-t", "8"],
                          text=True, capture_output=True, timeout=60)
    assert "NOERROR 25000 (100.00%)" in done.stdout, done.stdout
    eventually(lambda: upstream.stats()["connections_closed"] == 2)
    stats = upstream.stats()
    assert stats["closed_recent"] == [10000, 10000]
    assert (stats["stream_queries"], stats["udp_queries"]) == (25000, 0)
    assert stats["stream_queries_per_read"] > 1
    assert daemon.metrics()["upstream_cold_queries_total"] == 0


def test_recycling_under_load_asks_nothing_twice(nailupd, responder):
    upstream = responder("--delay", 3)
    daemon = start(nailupd, upstream, {"tcp-upstream-keepalive-maxrequests": 100,
                                       "upstream": {"max-connections": 1}})
    report = load(daemon, "--rate", 500, "--duration", 2)
    eventually(lambda: upstream.stats()["connections_closed"] == 10)
    stats = upstream.stats()
    assert set(stats["closed_recent"]) == {100}
    assert asked(stats) == report["sent"] + late(daemon)
    assert stats["answers_for_closed"] == 0
    assert daemon.metrics()["upstream_cold_queries_total"] == 0


def test_an_operator_recycles_under_load(nailupd, responder):
    upstream = responder("--delay", 2)
    daemon = start(nailupd, upstream)
    running = Load(daemon, "--rate", 500, "--duration", 2)
    for _ in range(5):
        time.sleep(0.25)
        daemon.ask("recycle")
    running.end()
    assert daemon.metrics()["upstream_cold_queries_total"] == 0
    assert upstream.stats()["answers_for_closed"] == 0
    assert counted(daemon, "upstream_closes_total", reason="recycled") >= 3


# ---- slow answers ----


def test_a_slow_answer_delays_no_other_query(nailupd, responder, transport):
    """One answer takes 900 ms, ten take 300 ms, and thirty are fast."""
    upstream = responder()
    daemon = start(nailupd, upstream)
    ask_at_once(daemon, [query(f"f{i}.example", i) for i in range(50)])  # so that the upstream is known to be fast
    messages = [query("d900.slow.example", 1)]
    messages += [query(f"d300.m{i}.example", 10 + i) for i in range(10)]
    messages += [query(f"g{i}.example", 100 + i) for i in range(30)]
    assert set(ask_at_once(daemon, messages).values()) == {0}
    stats = upstream.stats()
    assert stats["connections_closed"] == 0
    # one connection more may open as a precaution
    assert stats["connections_opened"] <= (2 if transport == "strict" else 1)


def test_fast_answers_do_not_wait_for_slow_ones(nailupd, responder):
    daemon = start(nailupd, responder())
    with Stream(daemon) as client:
        client.send(query("d1500.example", 1), query("fast.example", 2))
        assert client.read()[:2] == b"\0\2"
        assert client.read()[:2] == b"\0\1"


def test_a_name_that_is_never_answered_fails_alone(nailupd, responder, transport):
    """The connection survives, and the forty other queries are answered."""
    upstream = responder()
    daemon = start(nailupd, upstream)
    messages = [query("silent.example", 1)]
    messages += [query(f"n{i}.example", 100 + i) for i in range(40)]
    rcodes = ask_at_once(daemon, messages)
    assert rcodes.pop(1) == 2
    assert set(rcodes.values()) == {0}
    stats = upstream.stats()
    assert stats["connections_closed"] == 0
    if transport == "strict":  # each further attempt for the name may use a fresh connection
        assert stats["connections_opened"] <= 10
    else:
        assert stats["connections_opened"] == 1


def test_a_late_answer_is_dropped_and_the_connection_lives_on(nailupd, responder, tmp_path):
    upstream = responder()
    daemon = start(nailupd, upstream, {"upstream": {"query-timeout": "200ms", "fallback": "none"}})
    messages = [query("d1000.example", 1)] + [query(f"n{i}.example", 9 + i) for i in range(5)]
    rcodes = ask_at_once(daemon, messages)
    assert all(rcodes[9 + i] == 0 for i in range(5))
    eventually(lambda: daemon.metrics()["upstream_late_answers_total"] >= 1)
    ask_all(daemon, 20, tmp_path, "later.example")
    stats = upstream.stats()
    assert (stats["connections_opened"], stats["connections_closed"]) == (1, 0)


def test_fifty_at_once_are_fifty_queries_on_one_connection(nailupd, responder):
    """No query is repeated, because the other answers are slow as well."""
    upstream = responder("--delay", 100)
    daemon = start(nailupd, upstream)
    rcodes = ask_at_once(daemon, [query(f"n{i}.example", i) for i in range(50)])
    assert list(rcodes.values()) == [0] * 50
    stats = upstream.stats()
    assert asked(stats) == 50
    assert stats["connections_opened"] <= 4


def test_four_hundred_at_once_are_answered(nailupd, responder):
    """More queries are in flight than one connection may carry."""
    upstream = responder("--delay", 300)
    daemon = start(nailupd, upstream, {"server": {"max-clients-per-address": 10}})
    with Stream(daemon, timeout=20) as one, Stream(daemon, timeout=20) as other:
        for client, first in ((one, 0), (other, 200)):
            client.send(*[query(f"n{first + i}.example", i) for i in range(200)])
        rcodes = [rcode_of(client.read()) for client in (one, other) for _ in range(200)]
    assert rcodes == [0] * 400
    stats = upstream.stats()
    assert asked(stats) <= 2 * 400  # a query may be sent again after 400 ms of silence
    assert stats["connections_max_open"] <= 4


# ---- dead connections ----

TROUBLES = ["reset", "fin", "off", "stall", "silent"]
CURES = {"off": "on", "stall": "resume"}


def trouble_while_queries_flow(daemon, upstream, trouble, check=True):
    """Runs a load during which the connections have this trouble for 1 s. Returns its report."""
    running = Load(daemon, "--rate", 300, "--duration", 2.3)
    time.sleep(0.5)
    if trouble == "silent":
        upstream.tell("set", "tcp-silent", "on")
    else:
        upstream.stream(trouble)
    time.sleep(1)
    if trouble == "silent":
        upstream.tell("set", "tcp-silent", "off")
    elif trouble in CURES:
        upstream.stream(CURES[trouble])
    report = running.end(check)
    eventually(lambda: "ready" in [c["state"] for c in daemon.connections()], within=10)
    return report


@pytest.mark.parametrize(("transport", "trouble"), [
    *(("tcp", trouble) for trouble in TROUBLES),
    *(("opportunistic", trouble) for trouble in TROUBLES[2:])], indirect=["transport"])
def test_no_query_fails_when_a_stream_dies_while_queries_flow(nailupd, responder, trouble):
    upstream = responder("--delay", 5)
    daemon = start(nailupd, upstream, {"upstream": {"stall-timeout": "500ms"}})
    trouble_while_queries_flow(daemon, upstream, trouble)
    assert counted(daemon, "answers_total", rcode="servfail") == 0


@with_strict
@pytest.mark.parametrize("trouble", TROUBLES)
def test_no_query_leaves_in_plain_text_when_the_only_path_dies(nailupd, responder, trouble, tmp_path):
    """The upstream has answered recently and is away for a second, so queries wait for it."""
    upstream = responder("--delay", 5)
    daemon = start(nailupd, upstream, {"upstream": {"stall-timeout": "500ms"}})
    report = trouble_while_queries_flow(daemon, upstream, trouble, check=False)
    assert report["lost"] == 0
    failed = report["rcodes"].get("SERVFAIL", 0)
    assert report["rcodes"].get("NOERROR") == report["sent"] - failed
    assert failed == 0, report
    ask_all(daemon, 20, tmp_path, "later.example")


@with_plain_text
def test_a_stream_that_came_back_is_used_again(nailupd, responder, tmp_path):
    upstream = responder()
    daemon = start(nailupd, upstream)
    upstream.stream("off")
    ask_all(daemon, 20, tmp_path, "off.example")
    assert upstream.stats()["udp_queries"] >= 20
    upstream.stream("on")
    await_ready(daemon)
    before = upstream.stats()
    ask_all(daemon, 20, tmp_path, "on.example")
    after = upstream.stats()
    assert after["udp_queries"] == before["udp_queries"]
    assert after["stream_queries"] == before["stream_queries"] + 20


@with_all
def test_queries_in_flight_on_a_dead_connection_are_asked_again(nailupd, responder, transport):
    """A hundred queries wait when the connection dies."""
    for what in ("reset", "fin", "off"):
        upstream = responder("--delay", 400)
        daemon = start(nailupd, upstream)
        with Stream(daemon, timeout=20) as client:
            client.send(*[query(f"n{i}.example", i) for i in range(100)])
            eventually(lambda: upstream.stats()["stream_queries"] >= 100)
            upstream.stream(what)
            nobody = (transport, what) == ("strict", "off")
            assert {rcode_of(client.read()) for _ in range(100)} == {2 if nobody else 0}, what
        assert counted(daemon, "upstream_retries_total", reason="closed") == 100


ENDS_ALL = ["--tcp-reset-after", "--tcp-close-after", "--tcp-stall-after"]


@with_plain_text
@pytest.mark.parametrize("option", ENDS_ALL)
def test_a_peer_that_ends_every_connection_after_a_few_queries_fails_none(nailupd, responder,
                                                                          option):
    daemon = start(nailupd, responder(option, 5), {"upstream": {"stall-timeout": "500ms"}})
    load(daemon, "--rate", 100, "--duration", 1.2)
    assert counted(daemon, "answers_total", rcode="servfail") == 0


@with_strict
@pytest.mark.parametrize("option", ENDS_ALL)
def test_a_peer_that_ends_every_connection_after_a_few_queries_is_asked_nowhere_else(
        nailupd, responder, option):
    """No query fails if answers came before the end. A reset before any answer equals a refusal. Silence is noticed
    too late for a hundred queries a second to leave, but each query gets some answer."""
    daemon = start(nailupd, responder(option, 5), {"upstream": {"stall-timeout": "500ms"}})
    answers_first = option == "--tcp-close-after"
    report = load(daemon, "--rate", 100, "--duration", 1.2, check=answers_first)
    assert report["lost"] == 0 and report["rcodes"]["NOERROR"] > 20, report


@with_plain_text
def test_a_refusing_peer_is_asked_over_udp_at_once(nailupd, responder, tmp_path):
    upstream = responder()
    upstream.stream("off")
    daemon = nailupd(upstreams=[upstream], nailed=True)
    load(daemon, "--rate", 500, "--duration", 1)
    ask_all(daemon, 20, tmp_path)
    assert upstream.stats()["udp_queries"] == 520 + late(daemon)  # no query was sent twice
    assert counted(daemon, "upstream_dials_total", result="refused") <= 30
    assert fallbacks(daemon) >= 500


@with_strict
def test_a_refusing_peer_is_asked_over_nothing_else(nailupd, responder, dig):
    upstream = responder()
    upstream.stream("off")
    daemon = nailupd(upstreams=[upstream], nailed=True)
    for i in range(20):
        answer = dig(daemon, f"n{i}.example")
        assert answer.status == "SERVFAIL" and {22, 23} <= set(answer.ede), answer.text
    assert asked(upstream.stats()) == 0
    assert counted(daemon, "upstream_dials_total", result="refused") <= 30
    upstream.stream("on")
    await_ready(daemon)
    assert dig(daemon, "later.example").status == "NOERROR"


def test_the_dead_one_of_two_servers_costs_no_answer(nailupd, responder):
    one, other = responder("--delay", 2), responder("--delay", 2)
    daemon = nailupd({"upstream": {"fallback": "none", "stall-timeout": "1s"}},
                     upstreams=[one, other], nailed=True)
    await_ready(daemon, 2)
    running = Load(daemon, "--rate", 300, "--duration", 2.8)
    time.sleep(0.5)
    one.stream("off")
    time.sleep(1)
    one.stream("on")
    time.sleep(0.5)
    other.stream("stall")
    running.end()


def test_without_a_fallback_nothing_goes_over_udp(nailupd, responder, dig):
    upstream = responder()
    daemon = start(nailupd, upstream, {"upstream": {"fallback": "none"}})
    running = Load(daemon, "--rate", 200, "--duration", 2)
    time.sleep(0.5)
    upstream.stream("reset")
    running.end()
    upstream.stream("off")
    answer = dig(daemon, "refused-now.example")
    assert answer.status == "SERVFAIL" and set(answer.ede) & {22, 23}, answer.text
    assert upstream.stats()["udp_queries"] == 0


def test_one_answer_per_connection_is_noticed_and_fails_none(nailupd, responder, transport,
                                                             tmp_path):
    """The verdict holds when the daemon has noticed the habit. Until then plain text helps, if it is allowed."""
    upstream = responder("--tcp-close-after", 1, "--delay", 30)
    daemon = start(nailupd, upstream)
    report = load(daemon, "--rate", 100, "--duration", 2, check=transport == "tcp")
    assert report["rcodes"]["NOERROR"] > 120
    failed = counted(daemon, "answers_total", rcode="servfail")
    load(daemon, "--rate", 100, "--duration", 1, "--suffix", "noticed.test")
    before = upstream.stats()
    ask_all(daemon, 10, tmp_path)
    after = upstream.stats()
    asked = sum(after[key] - before[key] for key in ("udp_queries", "stream_queries"))
    assert asked <= 20  # the daemon remembers, so later queries do not wait for the silence
    assert counted(daemon, "answers_total", rcode="servfail") == failed


# ---- idle connections ----


def check_sessions(stats):
    """Checks that every session except the first resumes a ticket that was not used before, and that each is for
    DNS."""
    made = stats["tls_handshakes_full"] + stats["tls_handshakes_resumed"]
    assert stats["tls_handshakes_full"] == 1 and stats["tls_handshakes_resumed"] >= 3
    assert (stats["tls_tickets_reused"], stats["tls_handshakes_failed"]) == (0, 0)
    assert stats["tls_alpn_dot"] == made


def test_a_peer_that_closes_idle_connections_is_dialled_again(nailupd, responder, transport,
                                                              tmp_path):
    """No query waits for the dial."""
    upstream = responder("--tcp-idle", 300)
    daemon = start(nailupd, upstream)
    for i in range(6):
        time.sleep(0.4)
        eventually(lambda: [c["state"] for c in daemon.connections()] in (["ready"], ["resting"]))
        ask_all(daemon, 1, tmp_path, f"i{i}.example")
    assert counted(daemon, "upstream_closes_total", reason="peer_idle") >= 3
    assert counted(daemon, "answers_total", rcode="servfail") == 0
    assert counted(daemon, "upstream_dials_total", result="ok") <= 20
    if transport != "tcp":
        check_sessions(upstream.stats())


def test_a_keepalive_timeout_is_obeyed(nailupd, responder, transport, dig):
    upstream = responder("--keepalive", 5)
    daemon = start(nailupd, upstream)
    assert dig(daemon, "a.example").status == "NOERROR"
    eventually(lambda: upstream.stats()["connections_closed"] >= 1)
    assert counted(daemon, "upstream_closes_total", reason="idle") >= 1
    stats = upstream.stats()
    assert stats["fins_sent"] == 0 if transport == "tcp" else stats["tls_closed_with_notify"] >= 1
    await_ready(daemon)
    assert dig(daemon, "b.example").status == "NOERROR"
    assert upstream.stats()["udp_queries"] == 0


def test_a_keepalive_timeout_of_zero_ends_the_nailing(nailupd, responder, tmp_path):
    upstream = responder("--keepalive", 0)
    daemon = start(nailupd, upstream)
    ask_all(daemon, 30, tmp_path)
    eventually(lambda: upstream.stats()["connections_open"] == 0)
    assert counted(daemon, "upstream_closes_total", reason="keepalive_zero") >= 1
    time.sleep(1.2)
    assert upstream.stats()["connections_open"] == 0


def test_max_nailed_holds(nailupd, responder):
    upstream = responder(listen=[f"127.50.2.{i}@0" for i in range(1, 21)])
    daemon = nailupd({"upstream": {"max-nailed": 7}, "tcp-upstream-keepalive": ["0.0.0.0/0"],
                      "forward-zones": [{"name": f"z{i}.example", "upstreams": [server]}
                                        for i, server in enumerate(upstream.servers)]},
                     upstreams=[upstream])
    eventually(lambda: upstream.stats()["connections_open"] >= 7)
    rcodes = ask_at_once(daemon, [query(f"a.z{i}.example", i) for i in range(20)])
    assert list(rcodes.values()) == [0] * 20
    assert sum(c["nailed"] for c in daemon.connections()) <= 7


# ---- thirty upstreams in a /27 ----


@pytest.mark.parametrize("workers", [1, 2])
def test_thirty_upstreams_in_a_prefix(nailupd, responder, workers):
    upstream = responder("--delay", 200, "--handshake", "off",
                         listen=[f"127.50.1.{i}@0" for i in range(65, 95)])
    daemon = nailupd({"tcp-upstream-keepalive": ["127.50.1.64/27"],
                      "forward-zones": [{"name": f"z{i}.example", "upstreams": [server]}
                                        for i, server in enumerate(upstream.servers)]},
                     upstreams=[upstream], workers=workers)
    await_ready(daemon, 30 * workers)
    messages = [query(f"q{k}.z{i}.example", 100 * k + i) for i in range(30) for k in range(3)]
    for _ in range(2):
        rcodes = ask_at_once(daemon, messages)
        assert list(rcodes.values()) == [0] * 90
    stats = upstream.stats()
    assert (stats["connections_opened"], stats["stream_queries"]) == (30 * workers, 90)
    assert stats["udp_queries"] == 0


# ---- why it failed ----


def test_clients_learn_why_no_server_could_be_asked(nailupd, responder, dig):
    dead = responder()
    daemon = nailupd(upstreams=[dead])
    dead.stop()
    answer = dig(daemon, "www.example")
    assert answer.status == "SERVFAIL"
    assert {22, 23} <= set(answer.ede), answer.text
    assert 13 in dig(daemon, "www.example").ede  # RFC 9520: the failure is cached


def test_clients_learn_that_no_server_answered(nailupd, responder, dig):
    daemon = nailupd({"upstream": {"query-timeout": "300ms"}},
                     upstreams=[responder("--loss", 100, "--tcp-silent")])
    answer = dig(daemon, "www.example")
    assert answer.status == "SERVFAIL"
    assert 22 in answer.ede, answer.text


def test_clients_learn_that_they_are_refused(nailupd, responder, dig):
    daemon = nailupd({"server": {"access": [{"prefix": "127.0.0.1", "action": "refuse"}]}},
                     upstreams=[responder()])
    for options in ([], ["+tcp"]):
        answer = dig(daemon, "www.example", "A", *options)
        assert (answer.status, answer.ede) == ("REFUSED", [18]), answer.text


@pytest.mark.parametrize("label", ["servfail", "refused"])
def test_an_error_of_the_upstream_reaches_the_client(nailupd, responder, dig, label):
    daemon = start(nailupd, responder())
    assert dig(daemon, f"{label}.example").status in ("SERVFAIL", "REFUSED")
    assert dig(daemon, "good.example").status == "NOERROR"


# ---- a real server's own limits ----

ZONE = """$ORIGIN limits.test.
$TTL 60
@ SOA ns hm 1 2 3 4 5
@ NS ns
* A 192.0.2.1
"""


@pytest.fixture
def server_of(nsd, transport, tmp_path):  # noqa: F811
    """Starts nsd() with the transport of the test."""
    def start(zones, **options):
        authority = None if transport == "tcp" else Authority(tmp_path / "authority")
        return nsd(zones, authority=authority, **options)

    return start


def test_nsd_that_closes_idle_connections_costs_no_query(server_of, nailupd, tmp_path):
    server = server_of({"limits.test": ZONE}, **{"tcp-timeout": 1})
    daemon = nailupd(upstreams=[server], nailed=True)
    await_ready(daemon)
    for i in range(2):
        ask_all(daemon, 3, tmp_path, f"i{i}.limits.test")
        time.sleep(1.3)
    ask_all(daemon, 3, tmp_path, "last.limits.test")
    assert counted(daemon, "upstream_closes_total", reason="peer_idle") >= 1
    assert counted(daemon, "answers_total", rcode="servfail") == 0


def test_nsd_that_closes_after_a_few_queries_costs_no_query(server_of, nailupd, tmp_path, transport):
    server = server_of({"limits.test": ZONE}, **{"tcp-query-count": 5})
    daemon = nailupd(upstreams=[server], nailed=True)
    await_ready(daemon)
    ask_all(daemon, 60, tmp_path, "limits.test")
    rate = 400 if transport == "tcp" else 100  # every fifth query is a handshake, which is slow under a sanitizer
    load(daemon, "--rate", rate, "--duration", 1.5, "--suffix", "limits.test")
    assert counted(daemon, "answers_total", rcode="servfail") == 0
    assert counted(daemon, "upstream_dials_total", result="ok") >= 5
