# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Admission: allowed clients among many that are refused, or that only shake hands."""

import select
import socket
import ssl
import threading
import time
import types

import pytest

from conftest import BUILD, eventually, free_address
from peers import Stream, query, rcode_of, udp_ask
from test_dot import Authority, TlsStream, tls_options

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

REFUSED = 5
ALLOWED_ONLY = [{"prefix": "127.0.0.0/8", "action": "allow"}, {"prefix": "127.0.9.0/24", "action": "refuse"}]


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path).make()


@pytest.fixture
def both(nailupd, responder, authority):
    """both(server): starts a daemon with listeners for TCP and, at daemon.tls, for TLS."""

    def start(server, workers=1):
        ip, port = free_address()
        options = tls_options(authority, f"{ip}@{port}")
        options["server"].update({"access": ALLOWED_ONLY}, **server)
        daemon = nailupd(options, upstreams=[responder()], workers=workers)
        daemon.tls = types.SimpleNamespace(ip=ip, port=port, server=f"{ip}@{port}")
        return daemon

    return start


@pytest.fixture
def opened():
    """opened(server, source): opens a bare TCP connection from that address, which stays open."""
    held = []

    def connect(server, source):
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        held.append(client)
        client.settimeout(10)
        client.bind((source, 0))
        client.connect((server.ip, server.port))
        return client

    yield connect
    for client in held:
        client.close()


def client_hello():
    """Returns the first bytes of a TLS client."""
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    hello = context.wrap_bio(into, out, server_hostname="dot.example.net")
    with pytest.raises(ssl.SSLWantReadError):
        hello.do_handshake()
    return out.read()


class Flood:
    """Sends the same ClientHello again and again from twenty addresses, and never continues."""

    def __init__(self, server):
        self.server, self.hello, self.ended = server, client_hello(), threading.Event()
        self.flights = 0
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def begin(self, number):
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        client.bind((f"127.0.7.{1 + number % 20}", 0))
        client.setblocking(False)
        client.connect_ex((self.server.ip, self.server.port))
        return client

    def run(self):
        clients, number = {}, 0
        poll = select.epoll()
        while not self.ended.is_set():
            while len(clients) < 200:
                client = self.begin(number)
                number += 1
                clients[client.fileno()] = client
                poll.register(client, select.EPOLLOUT)
            for fd, events in poll.poll(0.05):
                if events & select.EPOLLOUT and not events & select.EPOLLHUP:
                    clients[fd].send(self.hello)
                    poll.modify(fd, select.EPOLLIN)
                else:
                    self.flights += 1
                    poll.unregister(fd)
                    clients.pop(fd).close()
        for client in clients.values():
            client.close()
        poll.close()


def is_answered(client):
    with client:
        client.send(query("served.example", 7))
        return rcode_of(client.read()) == 0


def test_refused_clients_leave_room_for_allowed_ones(both, opened, authority):
    """Twenty refused addresses open and hold as many connections as they can, while forty allowed clients connect."""
    daemon = both({"max-clients": 40})
    for number in range(400):
        source = f"127.0.9.{1 + number % 20}"
        opened(daemon if number % 2 else daemon.tls, source)
    with Stream(daemon, "127.0.9.30") as late:  # this address is refused, whether or not it gets an answer
        late.send(query("refused.example", 9))
        try:
            answer = late.read()
            assert not answer or rcode_of(answer) == REFUSED
        except ConnectionResetError:
            pass
    for number in range(20):
        assert is_answered(Stream(daemon, f"127.0.8.{1 + number}"))
        assert is_answered(TlsStream(daemon.tls, authority, source=f"127.0.8.{1 + number}"))
    reported = daemon.metrics()
    assert reported['clients_refused_total{reason="full"}'] == 0
    assert reported['clients_refused_total{reason="acl"}'] >= 400 - 64
    eventually(lambda: daemon.metrics()["stream_clients"] == 0)


def test_a_refused_client_gets_refused_over_tcp(both):
    daemon = both({})
    with Stream(daemon, "127.0.9.1") as client:
        client.send(query("refused.example", 9))
        assert rcode_of(client.read()) == REFUSED


def test_a_refused_client_gets_no_handshake(both, opened):
    daemon = both({})
    client = opened(daemon.tls, "127.0.9.1")
    try:
        client.sendall(client_hello())
        assert client.recv(4096) == b""
    except ConnectionError:
        pass
    reported = daemon.metrics()
    assert reported['clients_refused_total{reason="acl"}'] == 1
    assert not any(count for name, count in reported.items() if name.startswith("tls_handshakes_total"))


def test_clients_are_served_in_a_flood_of_handshakes(both, authority):
    daemon = both({})
    assert udp_ask(daemon, query("served.example")) is not None
    with Flood(daemon.tls) as flood:
        eventually(lambda: flood.flights > 100)
        for number in range(10):
            assert is_answered(TlsStream(daemon.tls, authority, source=f"127.0.8.{1 + number}"))
            assert udp_ask(daemon, query("served.example")) is not None
            assert is_answered(Stream(daemon, f"127.0.8.{1 + number}"))
    reported = daemon.metrics()
    assert reported["tls_handshake_waits_total"] > 0
    assert reported['tls_handshakes_total{result="full"}'] + reported['tls_handshakes_total{result="resumed"}'] == 10


def test_new_clients_take_the_places_of_idle_ones(both, opened):
    daemon = both({"max-clients": 10})
    idle = [opened(daemon, f"127.0.8.{1 + number}") for number in range(10)]
    time.sleep(0.5)
    for number in range(5):
        assert is_answered(Stream(daemon, f"127.0.6.{1 + number}"))
        time.sleep(0.5)
    assert idle[0].recv(1) == b""  # closed by a FIN, and not reset
    reported = daemon.metrics()
    assert reported["clients_displaced_total"] >= 1
    assert reported['clients_refused_total{reason="full"}'] == 0
