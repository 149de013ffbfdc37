# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Clients behind dnsdist and haproxy, which send the PROXY protocol version 2 over UDP, TCP and TLS."""

import re
import socket
import struct

from conftest import eventually, free_address
from peers import Stream, framed, query, rcode_of, udp_ask
from proxies import PROXY, dnsdist, dnsdist_server, haproxy  # noqa: F401
from test_dot import TlsStream, authority, tls_options  # noqa: F401

NAME = "www.example.org"
CLIENT, REFUSED = "127.9.9.9", "127.9.9.66"
OPTIONS = {"server": {"proxy-from": [PROXY],
                      "access": [{"prefix": "127.9.9.0/24", "action": "allow"},
                                 {"prefix": REFUSED, "action": "refuse"},
                                 # Server.wait_until_ready() queries from here
                                 {"prefix": "127.0.0.1", "action": "allow"},
                                 {"prefix": PROXY, "action": "allow"}]},
           "log": {"queries": "yes"}}


def clients(daemon):
    """Returns (client, protocol) for each line of the query log about NAME."""
    return re.findall(rf"query: (\S+)@\d+ (\w+) {NAME}\. ", daemon.log())


def expect_clients(daemon, *rows):
    eventually(lambda: len(clients(daemon)) >= len(rows))  # a different thread writes the log
    assert sorted(clients(daemon)) == sorted(rows)


def accepted(daemon):
    return daemon.metrics()['proxy_headers_total{result="accepted"}']


def header(client="127.9.9.9", command=0x21, more=b""):
    """Returns a header as a proxy writes it."""
    addresses = socket.inet_aton(client) + socket.inet_aton("127.0.0.1") + struct.pack(">2H", 4711, 53)
    return b"\r\n\r\n\0\r\nQUIT\n" + struct.pack(">2BH", command, 0x12, len(addresses + more)) + addresses + more


def test_dnsdist_names_its_clients_over_udp_and_tcp(nailupd, responder, dnsdist):
    daemon = nailupd(OPTIONS, upstreams=[responder()])
    proxy = dnsdist([dnsdist_server(daemon)])
    assert rcode_of(udp_ask(proxy, query(NAME), source=CLIENT)) == 0
    assert rcode_of(udp_ask(proxy, query(NAME), source=REFUSED)) == 5
    with Stream(proxy, source=CLIENT) as stream:
        stream.send(query(NAME, 1), query(NAME, 2))
        assert {stream.read()[:2], stream.read()[:2]} == {b"\0\1", b"\0\2"}
    with Stream(proxy, source=REFUSED) as stream:
        stream.send(query(NAME))
        assert rcode_of(stream.read()) == 5
    expect_clients(daemon, (CLIENT, "udp"), (REFUSED, "udp"), (CLIENT, "tcp"), (CLIENT, "tcp"), (REFUSED, "tcp"))


def test_health_checks_of_dnsdist_are_answered(nailupd, responder, dnsdist):
    daemon = nailupd(OPTIONS, upstreams=[responder()])
    dnsdist([dnsdist_server(daemon)])
    assert eventually(lambda: f"query: {PROXY}@" in daemon.log())
    metrics = daemon.metrics()
    assert not any(value for key, value in metrics.items()
                   if key.startswith("proxy_headers_total") and "accepted" not in key)


def test_many_clients_behind_dnsdist_have_their_own_limits(nailupd, responder, dnsdist):
    options = {**OPTIONS, "server": {**OPTIONS["server"], "rate-limit": {"queries-per-second": 2, "slip": 0}}}
    daemon = nailupd(options, upstreams=[responder()])
    proxy = dnsdist([dnsdist_server(daemon, checkInterval="60")])
    for i in range(10, 40):
        assert udp_ask(proxy, query(NAME), source=f"127.9.9.{i}")
    assert not all(udp_ask(proxy, query(NAME), source=CLIENT, timeout=0.2) for _ in range(8))


def test_dnsdist_puts_its_header_inside_tls(nailupd, responder, dnsdist, authority):
    ip, port = free_address()
    options = tls_options(authority, f"{ip}@{port}")["server"]
    daemon = nailupd({**OPTIONS, "server": {**OPTIONS["server"], **options, "proxy-tls": "inside"}},
                     upstreams=[responder()])
    daemon.ip, daemon.port = ip, port
    proxy = dnsdist([dnsdist_server(daemon, tls='"openssl"', validateCertificates="false",
                                    subjectName='"dot.example.net"', source=f'"{PROXY}"')])
    assert rcode_of(udp_ask(proxy, query(NAME), source=CLIENT)) == 0
    with Stream(proxy, source=CLIENT) as stream:
        stream.send(query(NAME))
        assert rcode_of(stream.read()) == 0
    expect_clients(daemon, (CLIENT, "tls"), (CLIENT, "tls"))


def test_haproxy_passes_tcp_on(nailupd, responder, haproxy):
    daemon = nailupd(OPTIONS, upstreams=[responder()])
    proxy = haproxy([f"{daemon.ip}:{daemon.port} source {PROXY} send-proxy-v2 check inter 100ms check-send-proxy"])
    eventually(lambda: connects(proxy))
    with Stream(proxy, source=CLIENT) as stream:
        stream.send(query(NAME))
        assert rcode_of(stream.read()) == 0
    expect_clients(daemon, (CLIENT, "tcp"))
    eventually(lambda: accepted(daemon) >= 3)  # HAProxy's health checks have the command LOCAL


def connects(proxy):
    try:
        with Stream(proxy, source=CLIENT):
            return True
    except OSError:
        return False


def test_haproxy_puts_its_header_outside_tls(nailupd, responder, haproxy, authority):
    ip, port = free_address()
    options = tls_options(authority, f"{ip}@{port}")["server"]
    daemon = nailupd({**OPTIONS, "server": {**OPTIONS["server"], **options}}, upstreams=[responder()])
    proxy = haproxy([f"{ip}:{port} source {PROXY} send-proxy-v2-ssl-cn"])
    eventually(lambda: connects(proxy))
    with TlsStream(proxy, authority, source=CLIENT) as stream:
        assert rcode_of(stream.ask(NAME)) == 0
    expect_clients(daemon, (CLIENT, "tls"))


def test_a_proxy_without_headers_gets_nothing(nailupd, responder, haproxy):
    daemon = nailupd(OPTIONS, upstreams=[responder()])
    proxy = haproxy([f"{daemon.ip}:{daemon.port} source {PROXY}"])
    eventually(lambda: connects(proxy))
    with Stream(proxy, source=CLIENT) as stream:
        stream.send(query(NAME))
        try:
            assert stream.read() is None
        except ConnectionResetError:
            pass
    assert udp_ask(daemon, query(NAME), timeout=0.3, source=PROXY) is None
    assert "its PROXY header is missing" in daemon.log() and clients(daemon) == []
    assert daemon.metrics()['proxy_headers_total{result="absent"}'] == 2


def test_a_forged_header_gets_nothing(nailupd, responder):
    daemon = nailupd(OPTIONS, upstreams=[responder()])
    assert udp_ask(daemon, header() + query(NAME), timeout=0.3, source=CLIENT) is None
    assert udp_ask(daemon, header("127.9.9.10") + query(NAME), timeout=5, source=PROXY)
    expect_clients(daemon, ("127.9.9.10", "udp"))
    assert accepted(daemon) == 1


def test_a_reload_changes_the_proxies(nailupd, responder):
    daemon = nailupd(OPTIONS, upstreams=[responder()])
    text = daemon.config_path.read_text()
    with Stream(daemon, source=PROXY) as stream:
        stream.socket.sendall(header() + framed(query(NAME)))
        assert rcode_of(stream.read()) == 0
        assert PROXY in text
        daemon.config_path.write_text(text.replace(f'"proxy-from": [\n   "{PROXY}"\n  ]', '"proxy-from": []'))
        assert daemon.ctl("reload").returncode == 0
        stream.send(query(NAME, 2))  # the open connection keeps its client
        assert rcode_of(stream.read()) == 0
    assert udp_ask(daemon, header() + query(NAME), timeout=0.3, source=PROXY) is None
    assert rcode_of(udp_ask(daemon, query(NAME), source=PROXY)) == 0
    assert daemon.metrics()["dropped_total{reason=\"malformed\"}"] == 1
