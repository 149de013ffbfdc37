# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""DNS over TLS towards upstreams: peers with a false identity or a broken handshake, the bytes that leave then, and
the errors that clients and operators see; sessions, early data, padding."""

import re
import stat
import time

import pytest

from conftest import BUILD, eventually
from peers import (Authority, Sniffer, TlsServer, dig_all, listeners, load,  # noqa: F401 (fixture)
                   options_of, pin_of)

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

NAME = "secret.example.org"
OTHER_PIN = "A" * 43 + "="
KEEPALIVE, PADDING = 11, 12

# {name: (options of the responder, options of the section upstream, text of the EDE, change that the log suggests)}.
IMPOSTORS = {
    "expired": (["--tls-identity", "expired"], {}, "expired or is not valid yet", "has to renew it"),
    "not-yet-valid": (["--tls-identity", "future"], {}, "expired or is not valid yet", "the clock"),
    "other-address": (["--tls-identity", "other-name"], {}, "for another name", "set auth-name"),
    "other-name": ([], {"auth-name": "dns.test"}, "for another name", "set auth-name"),
    "self-signed": (["--tls-identity", "self-signed"], {}, "no trusted authority signed",
                    "pin-sha256 to its key"),
    "unknown-authority": ([], {"ca-bundle": ""}, "no trusted authority signed",
                          "set ca-bundle"),
    "other-pin": ([], {"pin-sha256": [OTHER_PIN]}, "matches no pin", "add its pin to pin-sha256"),
    "pin-but-other-name": ([], {"auth-name": "dns.test", "pin": True}, "for another name",
                           "set auth-name"),
}
BREAKERS = {
    "other-protocol": (["--tls-alpn", "wrong"], {}, "share no ALPN protocol",
                       "this port does not serve DNS"),
    "no-common-protocol": (["--tls-alpn", "refuse"], {}, "refused with a TLS alert", "it may need"),
    "garbage": (["--tls-reply", "garbage"], {}, "does not speak TLS", "check its port"),
    "alert": (["--tls-reply", "alert"], {}, "refused with a TLS alert", "it may need"),
    "fin": (["--tls-reply", "close"], {}, "during the TLS handshake", "it serves TLS"),
    "reset": (["--tls-reply", "reset"], {}, "during the TLS handshake", "it serves TLS"),
    "wants-our-certificate": (["--tls-late-alert"], {}, "refused with a TLS alert",
                              "a client-certificate"),
}
DAWDLERS = {
    "silent": (["--tls-reply", "silent"], {}, "did not finish the TLS handshake", "it serves TLS"),
    "half-handshake": (["--tls-reply", "half"], {}, "did not finish the TLS handshake",
                       "it serves TLS"),
}
VERSIONS = pytest.mark.parametrize("version", ["1.2", "1.3"])


def options_for(upstream, options):
    """Returns the section upstream. True as a pin is replaced by the upstream's pin."""
    pins = {"pin-sha256": [upstream.pin]} if "pin" in options else {}
    return {key: value for key, value in options.items() if key != "pin"} | pins


@pytest.fixture
def secure(nailupd, responder, listeners):  # noqa: F811
    """secure(*responder options, **section upstream): starts (a daemon, its upstream over TLS)."""

    def start(*options, nailed=True, sniffed=False, config=None, **upstream_options):
        upstream = responder(*options, transport="tls")
        asked = upstream
        if sniffed:
            asked = Sniffer(upstream)
            listeners.append(asked)
            upstream.sniffer = asked
        section = options_for(upstream, upstream_options)
        daemon = nailupd({"upstream": section, **(config or {})}, upstreams=[asked], nailed=nailed)
        return daemon, upstream

    return start


def plain_queries(upstream):
    stats = upstream.stats()
    return stats["udp_queries"] + stats["tcp_queries"]


def await_ready(daemon):
    return eventually(lambda: [c for c in daemon.connections() if c["state"] == "ready"], 10)


def counted(daemon, name, label=""):
    return sum(value for row, value in daemon.metrics().items()
               if row.partition("{")[0] == name and label in row)


def ask_all(daemon, count, folder, suffix="example"):
    answers = dig_all(daemon, [(f"n{i}.{suffix}", "A") for i in range(count)], folder)
    assert {answer.status for answer in answers} == {"NOERROR"}


# ---- strict: no other server is asked, and no other bytes leave ----


def check_refusal(daemon, dig, text, advice):
    """Checks for SERVFAIL with the reason, and for a line of the log that says what to change."""
    answer = dig(daemon, NAME)
    assert answer.status == "SERVFAIL" and 22 in answer.ede, answer.text
    assert text in " ".join(answer.ede_texts), answer.text
    lines = [line for line in daemon.log().splitlines() if "connection rests" in line]
    assert lines and all(text in line and advice in line for line in lines), daemon.log()
    assert text in daemon.upstreams()[0]["error"]


def check_nothing_told(upstream, version):
    """Checks that no datagram, no plain text, and no record with room for a query has left. In TLS 1.3 an alert looks
    like application data, and so does the end of a handshake (RFC 8446 section 5.2)."""
    sniffer = upstream.sniffer
    assert sniffer.flows and sniffer.datagrams == [] and plain_queries(upstream) == 0
    assert upstream.stats()["tls_queries"] == 0
    sealed = [length for kind, length in sniffer.records() if kind == 23]
    assert sealed == [] if version == "1.2" else all(length < 128 for length in sealed), sealed
    for flow in sniffer.flows:
        assert b"secret" not in bytes(flow).lower()


@VERSIONS
@pytest.mark.parametrize("peer", IMPOSTORS | BREAKERS)
def test_strict_asks_no_server_with_a_false_identity(secure, dig, peer, version):
    options, section, text, advice = (IMPOSTORS | BREAKERS)[peer]
    daemon, upstream = secure(*options, "--tls-version", version, sniffed=True, **section)
    check_refusal(daemon, dig, text, advice)
    if peer != "wants-our-certificate" or version == "1.2":  # otherwise the server was authenticated first
        check_nothing_told(upstream, version)
    assert plain_queries(upstream) == 0 and upstream.sniffer.datagrams == []
    wanted = "identity" if peer in IMPOSTORS else "handshake"
    if peer != "wants-our-certificate":
        assert counted(daemon, "upstream_dials_total", f'result="{wanted}"') >= 1


@pytest.mark.parametrize("peer", DAWDLERS)
def test_strict_waits_for_a_handshake_up_to_its_limit(secure, dig, peer):
    options, section, text, advice = DAWDLERS[peer]
    daemon, upstream = secure(*options, sniffed=True, **{"connect-timeout": "300ms"}, **section)
    check_refusal(daemon, dig, text, advice)
    check_nothing_told(upstream, "1.3")
    assert counted(daemon, "upstream_dials_total", 'result="timeout"') >= 1


def test_strict_sends_no_query_to_a_server_of_plain_text(secure, dig, nailupd, responder):
    """The server reads the handshake as a long message, and waits for its rest."""
    upstream = responder(transport="tls")
    daemon = nailupd({"upstream": {"connect-timeout": "300ms"}, "forward-zones": [
        {"name": ".", "upstreams": upstream.plain}]}, upstreams=[upstream], nailed=True)
    check_refusal(daemon, dig, "did not finish the TLS handshake", "it serves TLS")
    assert plain_queries(upstream) == 0 and upstream.stats()["tls_queries"] == 0


def test_strict_asks_only_after_the_proof(secure, dig):
    """Before the proof, only the handshake leaves. One sealed query follows."""
    daemon, upstream = secure("--tls-version", "1.2", sniffed=True)
    await_ready(daemon)
    assert 23 not in [kind for kind, _ in upstream.sniffer.records()]
    assert dig(daemon, NAME).status == "NOERROR"
    assert [kind for kind, _ in upstream.sniffer.records()].count(23) == 1
    assert b"secret" not in bytes(upstream.sniffer.flows[0]).lower()


def test_a_peer_that_chooses_no_protocol_is_asked(secure, dig):
    daemon, upstream = secure("--tls-alpn", "none")
    assert dig(daemon, NAME).status == "NOERROR"
    assert upstream.stats()["tls_alpn_dot"] == 0


def test_strict_recovers_when_the_peer_is_repaired(secure, dig):
    daemon, upstream = secure("--tls-identity", "expired")
    assert dig(daemon, NAME).status == "SERVFAIL"
    upstream.tell("set", "tls-identity", "good")
    await_ready(daemon)
    assert dig(daemon, "other.example").status == "NOERROR"
    assert "connected again" in daemon.log()


# ---- opportunistic: an answer at once, and TLS as soon as possible ----


@pytest.mark.parametrize("peer", BREAKERS | DAWDLERS)
def test_opportunistic_answers_at_once_and_takes_tls_when_it_is_mended(secure, peer, tmp_path):
    options, section, *_ = (BREAKERS | DAWDLERS)[peer]
    daemon, upstream = secure(*options, profile="opportunistic", **section)
    ask_all(daemon, 20, tmp_path)
    assert upstream.stats()["udp_queries"] == 20
    assert counted(daemon, "upstream_fallbacks_total") >= 20
    assert counted(daemon, "upstream_retries_total", 'reason="timeout"') == 0
    for name, good in (("tls-alpn", "dot"), ("tls-reply", "handshake"), ("tls-late-alert", "off")):
        upstream.tell("set", name, good)
    eventually(lambda: upstream.stats()["tls_handshakes_full"] >= 1, within=15)
    await_ready(daemon)
    ask_all(daemon, 20, tmp_path, "later.example")
    stats = upstream.stats()
    assert (stats["udp_queries"], stats["tls_queries"]) == (20, 20)


@pytest.mark.parametrize("peer", IMPOSTORS)
def test_opportunistic_speaks_tls_with_any_server(secure, peer, tmp_path):
    options, section, *_ = IMPOSTORS[peer]
    daemon, upstream = secure(*options, profile="opportunistic", **section)
    (conn,) = await_ready(daemon)
    assert not conn["authenticated"] and conn["transport"] == "tls"
    ask_all(daemon, 20, tmp_path)
    assert upstream.stats()["tls_queries"] == 20 and plain_queries(upstream) == 0
    assert daemon.metrics()["upstream_unauthenticated_total"] == 1


def test_opportunistic_without_udp_asks_over_tcp(secure, tmp_path):
    daemon, upstream = secure("--tls-reply", "garbage", profile="opportunistic", fallback="none")
    ask_all(daemon, 20, tmp_path)
    stats = upstream.stats()
    assert (stats["udp_queries"], stats["tcp_queries"], stats["tls_queries"]) == (0, 20, 0)


# ---- pins and certificates ----


@VERSIONS
@pytest.mark.parametrize("pins", [["right"], [OTHER_PIN, "right"], ["right", OTHER_PIN]],
                         ids=["one", "second", "first"])
@pytest.mark.parametrize("identity", ["good", "self-signed"])
def test_a_pinned_key_is_proof_with_any_signature(responder, nailupd, dig, version, pins, identity):
    upstream = responder("--tls-identity", identity, "--tls-version", version, transport="tls")
    section = {"ca-bundle": "", "pin-sha256": [pin.replace("right", upstream.pin) for pin in pins]}
    daemon = nailupd({"upstream": section}, upstreams=[upstream], nailed=True)
    assert dig(daemon, NAME).status == "NOERROR"
    assert await_ready(daemon)[0]["authenticated"]
    assert plain_queries(upstream) == 0


def test_a_change_of_keys_with_both_pins_costs_no_answer(responder, nailupd, dig, tmp_path):
    authority = Authority(tmp_path / "authority")
    old, new = authority.sign(self_signed=True), authority.sign(self_signed=True)

    def start(pair, listen):
        return responder("--listen-tls", listen, "--tls-certificate", pair[0], "--tls-key", pair[1])

    upstream = start(old, "127.61.0.1@0")
    port = next(one["listen"] for one in upstream.stats()["listeners"] if one["transport"] == "tls")
    daemon = nailupd({"upstream": {"transport": "tls", "pin-sha256": [pin_of(old[0]), pin_of(new[0])]},
                      "forward-zones": [{"name": ".", "upstreams": [port]}],
                      "tcp-upstream-keepalive": ["127.61.0.1"]})
    assert dig(daemon, "before.example").status == "NOERROR"
    upstream.stop()
    start(new, port)
    await_ready(daemon)
    assert dig(daemon, "after.example").status == "NOERROR"


@VERSIONS
@pytest.mark.parametrize("way", ["auth-name", "#name"])
def test_a_wrong_name_is_reported(responder, nailupd, dig, way, version):
    upstream = responder("--tls-name", "dns.example", "--tls-version", version, transport="tls")
    if way == "#name":
        section, upstream.servers = {}, [upstream.server + "#dns.example"]
    else:
        section = {"auth-name": "dns.example"}
    daemon = nailupd({"upstream": section}, upstreams=[upstream])
    assert dig(daemon, NAME).status == "NOERROR"
    stats = upstream.stats()
    assert stats["tls_with_sni"] == 1 and plain_queries(upstream) == 0
    reported = [one["tls_last_sni"] for one in stats["listeners"] if one["transport"] == "tls"]
    assert reported == ["dns.example"]


def test_an_address_is_not_reported_as_a_name(secure, dig):
    daemon, upstream = secure()
    assert dig(daemon, NAME).status == "NOERROR"
    assert upstream.stats()["tls_with_sni"] == 0  # RFC 6066 section 3 allows names only


@VERSIONS
def test_a_client_certificate_is_sent_on_request(responder, nailupd, dig, tmp_path, version):
    pair = str(tmp_path / "client.pem")
    upstream = responder("--tls-late-alert", "--tls-version", version, "--tls-client-file", pair,
                         transport="tls")
    daemon = nailupd({"upstream": {"client-certificate": pair, "client-key": pair}},
                     upstreams=[upstream], nailed=True)
    assert dig(daemon, NAME).status == "NOERROR"
    assert upstream.stats()["tls_handshakes_failed"] == 0 and plain_queries(upstream) == 0


# ---- sessions ----


@VERSIONS
@pytest.mark.parametrize("most", [1, 2, 100])
def test_recycled_connections_are_exact_and_resumed(secure, tmp_path, most, version):
    daemon, upstream = secure("--tls-version", version, **{"max-requests": most})
    daemon_limit = 200
    await_ready(daemon)
    ask_all(daemon, daemon_limit, tmp_path)
    eventually(lambda: upstream.stats()["connections_closed"] == daemon_limit // most)
    stats = upstream.stats()
    assert set(stats["closed_recent"]) == {most}
    assert (stats["tls_queries"], stats["resets_sent"], plain_queries(upstream)) == (200, 0, 0)
    assert (stats["tls_tickets_reused"], stats["tls_handshakes_failed"]) == (0, 0)
    # Dials before the first ticket are full handshakes. With many spares there may be a few.
    assert stats["tls_handshakes_full"] <= 17
    assert stats["tls_handshakes_resumed"] >= 200 // most - 16
    assert counted(daemon, "upstream_resumptions_total") == stats["tls_handshakes_resumed"]


def test_a_server_without_tickets_gets_full_handshakes(secure, tmp_path):
    daemon, upstream = secure("--tls-tickets", 0, "--tls-version", "1.3", **{"max-requests": 10})
    ask_all(daemon, 50, tmp_path)
    stats = upstream.stats()
    assert stats["tls_handshakes_resumed"] == 0 and stats["tls_handshakes_full"] >= 5
    assert plain_queries(upstream) == 0


@VERSIONS
def test_a_server_that_forgot_its_tickets_is_asked_all_the_same(secure, tmp_path, version):
    daemon, upstream = secure("--tls-version", version)
    await_ready(daemon)
    ask_all(daemon, 5, tmp_path)
    upstream.tell("tls", "forget")
    upstream.stream("fin")
    eventually(lambda: upstream.stats()["tls_handshakes_full"] == 2)
    ask_all(daemon, 5, tmp_path, "later.example")
    assert plain_queries(upstream) == 0 and upstream.stats()["tls_handshakes_failed"] == 0


def test_tickets_outlive_a_reset(secure, tmp_path):
    daemon, upstream = secure()
    await_ready(daemon)
    ask_all(daemon, 5, tmp_path)
    upstream.stream("reset")
    eventually(lambda: upstream.stats()["tls_handshakes_resumed"] == 1)
    await_ready(daemon)
    ask_all(daemon, 5, tmp_path, "later.example")
    assert upstream.stats()["tls_handshakes_full"] == 1


@pytest.fixture
def saved(responder, nailupd, tmp_path):
    """Yields (configuration, its session-file as a daemon left it, its upstream with fresh counters)."""
    upstream = responder(transport="tls")
    path = tmp_path / "sessions"
    config = {"upstream": {"session-file": str(path)}}
    daemon = nailupd(config, upstreams=[upstream], nailed=True)
    await_ready(daemon)
    ask_all(daemon, 3, tmp_path)
    assert not path.exists()
    assert daemon.stop() == 0
    upstream.tell("reset-stats")
    return config, path, upstream


def handshakes(upstream):
    stats = upstream.stats()
    return stats["tls_handshakes_full"], stats["tls_handshakes_resumed"]


def test_sessions_are_saved_for_the_owner_alone_and_resumed(saved, nailupd, tmp_path):
    config, path, upstream = saved
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for i in range(2):
        daemon = nailupd(config, upstreams=[upstream], nailed=True)
        (conn,) = await_ready(daemon)
        assert conn["session"] == "resumed" and conn["authenticated"]
        assert not path.exists()  # a ticket is used once, even if the daemon crashes
        ask_all(daemon, 3, tmp_path, f"again{i}.example")
        assert daemon.stop() == 0
    assert handshakes(upstream) == (0, 2) and upstream.stats()["tls_tickets_reused"] == 0


def spoil(path, how):
    data = path.read_bytes()
    if how == "torn":
        path.write_bytes(data[:len(data) // 2])
    elif how == "changed":
        path.write_bytes(data[:-20] + b"\xff" + data[-19:])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "world-readable":
        path.chmod(0o644)
    elif how == "link":
        path.rename(path.with_suffix(".real"))
        path.symlink_to(path.with_suffix(".real"))


@pytest.mark.parametrize("how", ["torn", "changed", "empty", "world-readable", "link"])
def test_a_session_file_that_is_not_sound_is_refused_with_a_line(saved, nailupd, tmp_path, how):
    config, path, upstream = saved
    spoil(path, how)
    daemon = nailupd(config, upstreams=[upstream], nailed=True)
    await_ready(daemon)
    ask_all(daemon, 3, tmp_path, "again.example")
    lines = [line for line in daemon.log().splitlines() if "session-file" in line]
    assert len(lines) == 1 and "is not used" in lines[0] and str(path) in lines[0], daemon.log()
    assert handshakes(upstream) == (1, 0)


def test_a_session_file_that_cannot_be_written_is_reported_at_the_start(responder, nailupd):
    daemon = nailupd({"upstream": {"session-file": "/proc/self/sessions"}},
                     upstreams=[responder(transport="tls")])
    assert "cannot write session-file /proc/self/sessions" in daemon.log()


def test_a_saved_session_does_not_get_around_a_pin(saved, nailupd, dig):
    config, _, upstream = saved
    section = config["upstream"] | {"pin-sha256": [OTHER_PIN]}
    daemon = nailupd({"upstream": section}, upstreams=[upstream], nailed=True)
    answer = dig(daemon, NAME)
    assert answer.status == "SERVFAIL" and "matches no pin" in answer.ede_texts[0], answer.text
    assert handshakes(upstream)[1] == 0 and upstream.stats()["tls_queries"] == 0


# ---- early data ----


def dial_again(daemon, upstream, dig, name):
    """Sends a query that reopens the connection, with the tickets of the previous one."""
    time.sleep(1.2)  # otherwise the pool reopens a recently used connection at once
    closed = upstream.stats()["connections_closed"]
    upstream.stream("fin")
    eventually(lambda: upstream.stats()["connections_closed"] > closed)
    eventually(lambda: not [c for c in daemon.connections() if c["state"] == "ready"])
    return dig(daemon, name)


@pytest.mark.parametrize("server", ["on", "reject", "off"])
@pytest.mark.parametrize("ours", ["yes", "no"])
def test_early_data(secure, dig, ours, server):
    daemon, upstream = secure("--tls-early-data", "on" if server == "reject" else server,
                              nailed=False, **{"early-data": ours})
    assert dig(daemon, "first.example").status == "NOERROR"
    upstream.tell("set", "tls-early-data", server)
    for i in range(2):
        assert dial_again(daemon, upstream, dig, f"n{i}.example").status == "NOERROR"
    stats = upstream.stats()
    assert (stats["tls_queries"], stats["tls_handshakes_resumed"]) == (3, 2)
    assert plain_queries(upstream) == 0 and stats["tls_tickets_reused"] == 0
    early = 2 if (ours, server) == ("yes", "on") else 0
    assert (stats["tls_early_queries"], stats["tls_early_connections"]) == (early, early)
    assert counted(daemon, "upstream_early_data_total", "accepted") == early
    rejected = counted(daemon, "upstream_early_data_total", "rejected")
    assert rejected >= 1 if (ours, server) == ("yes", "reject") else rejected == 0


def test_with_fast_open_all_is_as_without(secure, dig):
    """The result is the same whether or not the kernel allows fast open."""
    daemon, upstream = secure("--tls-early-data", "on", nailed=False,
                              **{"early-data": "yes", "tcp-fast-open": "yes"})
    assert dig(daemon, "first.example").status == "NOERROR"
    for i in range(2):
        assert dial_again(daemon, upstream, dig, f"n{i}.example").status == "NOERROR"
    assert upstream.stats()["tls_early_queries"] == 2 and plain_queries(upstream) == 0


# ---- the end of connections, and all kinds of records ----


@VERSIONS
@pytest.mark.parametrize("notify", ["on", "off"])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_an_end_with_and_without_notice_costs_no_answer(secure, dig, notify, version, busy):
    """A fallback to UDP could not hide a fault here."""
    options = ["--tcp-close-after", 3] if busy else []
    daemon, upstream = secure("--tls-notify", notify, "--tls-version", version, *options)
    await_ready(daemon)
    if busy:
        load(daemon, "--rate", 50, "--duration", 1)
    else:
        assert dig(daemon, "a.example").status == "NOERROR"
        upstream.stream("fin")
        eventually(lambda: upstream.stats()["connections_opened"] == 2)
        await_ready(daemon)
        assert dig(daemon, "b.example").status == "NOERROR"
        assert counted(daemon, "upstream_closes_total", "peer_idle") == 1
    assert plain_queries(upstream) == 0


@VERSIONS
def test_a_server_that_renews_its_keys_loses_no_query(secure, tmp_path, version):
    """TLS 1.3 renews the keys. TLS 1.2 renegotiates, which a peer may refuse."""
    daemon, upstream = secure("--tls-version", version)
    await_ready(daemon)
    for i in range(3):
        ask_all(daemon, 2, tmp_path, f"before{i}.example")
        upstream.tell("tls", "renew")
        ask_all(daemon, 10, tmp_path, f"r{i}.example")
    assert plain_queries(upstream) == 0
    if version == "1.3":
        assert upstream.stats()["connections_opened"] == 1


@VERSIONS
def test_large_answers_that_come_byte_by_byte_are_read(secure, dig, version):
    daemon, upstream = secure("--dribble", "--tls-version", version)
    for i in range(2):
        answer = dig(daemon, f"n{i}.big.example", "TXT", "+tcp")
        assert answer.status == "NOERROR" and answer.rows, answer.text
    assert plain_queries(upstream) == 0 and upstream.stats()["connections_opened"] == 1


def test_max_age_replaces_connections_and_no_query_waits(secure):
    daemon, upstream = secure(**{"max-age": "1s"})
    await_ready(daemon)
    load(daemon, "--rate", 100, "--duration", 3.5)
    assert counted(daemon, "upstream_closes_total", 'reason="age"') >= 2
    assert daemon.metrics()["upstream_cold_queries_total"] == 0
    stats = upstream.stats()
    assert stats["tls_handshakes_resumed"] >= 2 and stats["answers_for_closed"] == 0


def test_handshakes_a_second_are_bounded(secure):
    """The bucket holds five tokens and gets five more a second. A query that waits for too long fails."""
    begun = time.monotonic()
    daemon, upstream = secure(config={"server": {"discard-timeout": "0s"}},
                              **{"max-requests": 1, "max-handshakes": 5})
    report = load(daemon, "--rate", 100, "--duration", 2, check=False)
    stats = upstream.stats()
    most = 5 + 5 * (time.monotonic() - begun)
    assert report["lost"] == 0 and report["rcodes"]["NOERROR"] >= 5
    made = stats["tls_handshakes_full"] + stats["tls_handshakes_resumed"]
    assert 5 <= made <= most and plain_queries(upstream) == 0


# ---- the form of a query ----


def test_every_query_is_padded_to_a_multiple_of_128(nailupd, listeners, dig, tmp_path):  # noqa: F811
    server = TlsServer(Authority(tmp_path / "authority"))
    listeners.append(server)
    daemon = nailupd(upstreams=[server], nailed=True)
    names = ["a"] + ["x" * n for n in (10, 40, 63)] + [".".join(["y" * 60] * n) for n in (2, 3, 4)]
    for name in names:
        dig(daemon, name, "A")
        dig(daemon, name, "TXT", "+dnssec", "+cookie=0011223344556677")
    assert len(server.queries) == 2 * len(names)
    for message in server.queries:
        assert len(message) % 128 == 0
        assert set(options_of(message)[PADDING]) <= {0}
    asked = [options_of(message).get(KEEPALIVE) for message in server.queries]
    assert asked == [b""] + [None] * (len(asked) - 1)  # once per connection
    assert len({len(message) for message in server.queries}) > 1  # a long name needs one more block
    assert server.datagrams == []


def test_plain_text_is_not_padded(nailupd, listeners, responder, dig):  # noqa: F811
    """RFC 7830 section 6: padding needs encryption."""
    upstream = responder(transport="tls")
    daemon = nailupd({"upstream": {"profile": "opportunistic"}}, upstreams=[upstream], nailed=True)
    await_ready(daemon)
    dig(daemon, "sealed.example")
    stats = upstream.stats()
    assert stats["tls_queries_padded"] == stats["tls_queries"] == 1


def test_early_data_is_padded_too(secure, dig):
    daemon, upstream = secure("--tls-early-data", "on", nailed=False, **{"early-data": "yes"})
    dig(daemon, "first.example")
    dial_again(daemon, upstream, dig, "second.example")
    stats = upstream.stats()
    assert stats["tls_early_queries"] == 1 and stats["tls_queries_padded"] == 2


# ---- RFC 7828 ----


@VERSIONS
def test_a_keepalive_timeout_is_obeyed(secure, dig, version):
    daemon, upstream = secure("--keepalive", 5, "--tls-version", version)
    await_ready(daemon)
    assert dig(daemon, "a.example").status == "NOERROR"
    eventually(lambda: counted(daemon, "upstream_closes_total", 'reason="idle"') >= 1)
    eventually(lambda: upstream.stats()["tls_closed_with_notify"] >= 1)  # our side has sent a close_notify
    await_ready(daemon)
    assert upstream.stats()["tls_handshakes_resumed"] >= 1


def test_a_keepalive_timeout_of_zero_ends_one_connection_and_again_the_nailing(secure, dig):
    daemon, upstream = secure("--keepalive", 0)
    await_ready(daemon)
    assert dig(daemon, "a.example").status == "NOERROR"
    eventually(lambda: counted(daemon, "upstream_closes_total", "keepalive_zero") == 1)
    await_ready(daemon)
    assert dig(daemon, "b.example").status == "NOERROR"
    eventually(lambda: counted(daemon, "upstream_closes_total", "keepalive_zero") == 2)
    eventually(lambda: upstream.stats()["connections_open"] == 0)
    assert dig(daemon, "c.example").status == "NOERROR"
    assert plain_queries(upstream) == 0


# ---- the view of operators ----


@VERSIONS
def test_connections_and_metrics_show_tls(secure, dig, version):
    daemon, upstream = secure("--tls-version", version)
    (conn,) = await_ready(daemon)
    assert (conn["transport"], conn["tls"], conn["session"]) == ("tls", f"TLSv{version}", "full")
    assert conn["authenticated"] and conn["upstream"] == upstream.server
    assert re.fullmatch(r"(TLS|ECDHE)[-_A-Z0-9]+", conn["cipher"]), conn
    assert dig(daemon, NAME).status == "NOERROR"
    upstream.stream("fin")
    conn = eventually(lambda: [c for c in await_ready(daemon) if c["session"] == "resumed"])[0]
    assert conn["last_close"] == "closed by the peer while idle"
    (row,) = daemon.upstreams()
    assert (row["transport"], row["queries"], row["answers"]) == ("tls", 1, 1)
    assert (row["ready"], row["dials"], row["dial_failures"]) == (1, 2, 0)
    reported = daemon.metrics()
    assert reported['upstream_queries_total{transport="tls"}'] == 1
    assert reported['upstream_answers_total{transport="tls"}'] == 1
    assert reported['upstream_dials_total{transport="tls",result="ok"}'] == 2
    assert reported["upstream_resumptions_total"] == 1 and reported["upstream_unauthenticated_total"] == 0
    text = daemon.ctl("connections").stdout
    assert f"TLSv{version}" in text and "resumed" in text and conn["cipher"] in text


def test_the_key_log_fits_the_connections_and_is_warned_of(responder, nailupd, dig, tmp_path,
                                                           listeners):  # noqa: F811
    upstream = responder(transport="tls")
    sniffer = Sniffer(upstream)
    listeners.append(sniffer)
    path = tmp_path / "keys"
    daemon = nailupd({"log": {"tls-keys": str(path)}}, upstreams=[sniffer], nailed=True)
    assert dig(daemon, NAME).status == "NOERROR"
    warnings = [line for line in daemon.log().splitlines() if "secrets" in line]
    assert len(warnings) == 1 and "warning" in warnings[0] and str(path) in warnings[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    # the place of the client's random bytes (RFC 8446 section 4.1.2)
    client_random = bytes(sniffer.flows[0])[11:43].hex()
    for label, random, secret in rows:
        assert random.lower() == client_random and re.fullmatch("([0-9a-fA-F]{2}){32,48}", secret)
    assert {"CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET",
            "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"} <= {row[0] for row in rows}
