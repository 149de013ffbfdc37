# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Clients that flood streams with garbage, half queries, answers that they never read, and sudden ends. Meanwhile an
honest client is served. Afterwards the daemon and the kernel keep nothing of it."""

import random
import socket
import struct
import time

import pytest

from conftest import BUILD, eventually
from peers import Stream, framed, query, rcode_of, udp_ask

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

KIB = 1 << 10
LISTEN, TIME_WAIT = "0A", "06"
IDLE = {"client-idle-timeout": "1s", "max-clients-per-address": 1000}
BIG = {"forward-zones": [{"name": ".", "upstreams": ["127.0.0.1@1"]}],  # a server that is never used
       "local-data": ["served.example. 3600 IN A 192.0.2.1"] +
                     [f'big.example. 3600 IN TXT "{number:04}{"x" * 60}"' for number in range(400)]}
TXT = 16


def kernel_sockets(daemon):
    """Returns [(state, bytes to send, bytes to read)] of the daemon's TCP connections, including closed ones."""
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    port = f"{daemon.port:04X}"
    found = [(row[3], *(int(part, 16) for part in row[4].split(":"))) for row in rows
             if row[1].partition(":")[2] == port]
    return [row for row in found if row[0] not in (LISTEN, TIME_WAIT)]


def nothing_is_left(daemon):
    """Returns whether no bytes are left. A connection that its client has yet to close remains in the table, but
    without bytes."""
    queued = sum(sent + unread for _, sent, unread in kernel_sockets(daemon))
    return daemon.metrics()["stream_clients"] == 0 and queued == 0


def is_served(daemon):
    with Stream(daemon) as client:
        client.send(query("served.example", 7))
        return rcode_of(client.read()) == 0 and rcode_of(udp_ask(daemon, query("served.example"))) == 0


def is_ended(client):
    """Returns whether the daemon has closed or reset the connection."""
    try:
        client.socket.setblocking(False)
        while client.socket.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def try_send(client, data):
    try:
        client.socket.setblocking(False)
        client.socket.send(data)
    except OSError:
        pass


def flood_until_ended(daemon, clients, pieces, within=20):
    """Sends pieces of a flood on the clients' connections, four times a second, until the daemon has ended all of
    them."""
    until = time.monotonic() + within
    while clients and time.monotonic() < until:
        for client in clients:
            try_send(client, random.choice(pieces))
        assert is_served(daemon)
        time.sleep(0.25)
        clients = [client for client in clients if not is_ended(client)]
    assert not clients, f"{len(clients)} connections live on"


def test_garbage_does_not_keep_a_connection(nailupd):
    daemon = nailupd({"server": IDLE, **BIG})
    update = query("served.example", flags=5 << 11)
    two_questions = query("served.example")[:4] + b"\0\2" + query("served.example")[6:]
    transfer = query("served.example", kind=252)
    trailing = query("served.example") + b"garbage"
    answer = query("served.example", flags=0x8000)
    noise = bytes(random.randrange(256) for _ in range(200))
    kinds = [update, two_questions, transfer, trailing, answer, noise]
    for kind in kinds:  # one kind at a time, because none of them may keep a connection
        flood_until_ended(daemon, [Stream(daemon) for _ in range(5)], [framed(kind)])
    flood_until_ended(daemon, [Stream(daemon) for _ in range(20)], [framed(kind) for kind in kinds])
    eventually(lambda: nothing_is_left(daemon), 20)


def test_half_queries_do_not_keep_a_connection(nailupd):
    daemon = nailupd({"server": IDLE, **BIG})
    clients = [Stream(daemon) for _ in range(50)]
    for client in clients:
        try_send(client, struct.pack(">H", 65535) + query("served.example"))
    flood_until_ended(daemon, clients, [b"\0"])
    eventually(lambda: nothing_is_left(daemon), 20)


def stalled(daemon, count):
    """Opens clients that request large answers and read none."""
    clients = []
    for _ in range(count):
        clients.append(Stream(daemon, receive_bytes=4096))
        for _ in range(5):
            try_send(clients[-1], framed(*[query("big.example", kind=TXT)] * 20))
    return clients


def test_clients_that_never_read_pin_little_and_leave_nothing(nailupd):
    daemon = nailupd({"server": IDLE, **BIG})
    clients = stalled(daemon, 20)
    eventually(lambda: sum(row[1] > 0 for row in kernel_sockets(daemon)) == 20)
    most = max(sent + unread for _, sent, unread in kernel_sockets(daemon))
    assert most < 80 * KIB
    assert is_served(daemon)
    eventually(lambda: daemon.metrics()['client_resets_total{reason="stalled"}'] +
               sum(map(is_ended, clients)) >= 20, 30)
    eventually(lambda: nothing_is_left(daemon), 30)


def test_answers_for_clients_that_have_finished_are_not_orphaned(nailupd):
    daemon = nailupd({"server": IDLE, **BIG})
    clients = stalled(daemon, 20)
    for client in clients:
        client.socket.shutdown(socket.SHUT_WR)
    assert is_served(daemon)

    def holding():
        return sum(sent > 1 for _, sent, _ in kernel_sockets(daemon))  # a FIN counts as one byte

    eventually(lambda: holding() == 20)
    while holding():  # the bytes in the kernel belong to a connection that still counts
        before = holding()
        assert daemon.metrics()["stream_clients"] >= holding() or holding() < before
        time.sleep(0.25)
    eventually(lambda: nothing_is_left(daemon), 30)


def test_random_ends_leave_nothing(nailupd):
    daemon = nailupd({"server": IDLE, **BIG}, workers=2)
    for _ in range(300):
        client = Stream(daemon)
        names = random.choices(["big.example", "served.example"], k=random.randrange(1, 20))
        data = framed(*[query(name, kind=TXT) for name in names])
        try_send(client, data[:random.randrange(len(data))])
        end = random.randrange(4)
        if end == 0:
            client.socket.shutdown(socket.SHUT_WR)
        elif end == 1:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif end == 2:
            is_ended(client)  # reads all available bytes
        client.socket.close()
    assert is_served(daemon)
    eventually(lambda: nothing_is_left(daemon), 30)


def test_all_half_queries_together_keep_to_their_bound(nailupd):
    options = {**IDLE, "client-idle-timeout": "1m", "max-stream-memory": "1MiB"}
    daemon = nailupd({"server": options, **BIG})
    clients = [Stream(daemon) for _ in range(400)]
    for client in clients:
        try_send(client, struct.pack(">H", 65535) + bytes(4000))
    eventually(lambda: daemon.metrics()['client_resets_total{reason="memory"}'] > 100, 20)
    assert daemon.metrics()["stream_memory_bytes"] <= (1 << 20) + 32 * KIB
    assert is_served(daemon)
    for client in clients:
        client.socket.close()
    eventually(lambda: daemon.metrics()["stream_clients"] == 0)
    eventually(lambda: daemon.metrics()["stream_memory_bytes"] == 0)
