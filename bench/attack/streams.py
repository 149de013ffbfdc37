# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Attackers that hold many connections at once, in one thread and at little cost."""

import selectors
import socket
import ssl
import struct
import time

import arena
from wire import framed, query

TIMEOUT_S = 3.0


def addresses(count, network=arena.HOSTILE):
    """Returns this many addresses, each in a different /24."""
    return [f"{network}.{number % 250}.{1 + number // 250}" for number in range(count)]


def connection(address, port=arena.PORT, receive_bytes=None):
    """Starts to open a connection."""
    client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # Many addresses share one range of ports, so the kernel chooses the port only when it knows the peer.
    client.setsockopt(socket.IPPROTO_IP, 24, 1)
    if receive_bytes:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    client.bind((address, 0))
    client.setblocking(False)
    try:
        client.connect((arena.IP, port))
    except BlockingIOError:
        pass
    return client


def opened(count, per_address=100, **more):
    """Opens connections from as many addresses as needed. Returns the ones that open within TIMEOUT_S."""
    sources = addresses(-(-count // per_address))
    clients = []
    for number in range(count):
        clients.append(connection(sources[number // per_address], **more))
        if number % 500 == 499:
            time.sleep(0.02)  # the server's accept queue is short
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        if all(is_open(client) for client in clients):
            break
        time.sleep(0.05)
    return [client for client in clients if is_open(client)]


def is_open(client):
    try:
        client.getpeername()
        return True
    except OSError:
        return False


def push(client, data):
    """Sends bytes. Returns how many the kernel accepted."""
    sent = 0
    try:
        while sent < len(data):
            sent += client.send(data[sent:sent + 65536])
    except OSError:
        pass
    return sent


def ask_tls(address, name):
    """Acts as ask(), but over TLS and without verification."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return ask(address, name, arena.PORT_TLS, context.wrap_socket)


def ask(address, name, port=arena.PORT, wrap=lambda client: client, timeout_s=TIMEOUT_S):
    """Sends one query over a new connection. Returns (rcode or None, milliseconds)."""
    start = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        client.settimeout(timeout_s)
        try:
            client.bind((address, 0))
            client.connect((arena.IP, port))
            client = wrap(client)
            client.sendall(framed(query(name)))
            answer = b""
            while len(answer) < 14:
                part = client.recv(4096)
                if not part:
                    return None, 0
                answer += part
        except OSError:
            return None, 0
    return answer[5] & 15, 1000 * (time.monotonic() - start)


def seconds_until_closed(clients, act, most_s, every_s=1.0):
    """Returns for each connection the time when the server ended it, or None if it was open after most_s. Calls
    act(index, client, count) every every_s for each open connection."""
    start, ends = time.monotonic(), [None] * len(clients)
    open_ones, count = set(range(len(clients))), 0
    with selectors.DefaultSelector() as selector:
        for index, client in enumerate(clients):
            selector.register(client, selectors.EVENT_READ, index)
        while open_ones and time.monotonic() - start < most_s:
            if time.monotonic() - start >= count * every_s:
                for index in sorted(open_ones):
                    act(index, clients[index], count)
                count += 1
            for key, _ in selector.select(0.05):
                if has_ended(key.fileobj):
                    ends[key.data] = time.monotonic() - start
                    open_ones.discard(key.data)
                    selector.unregister(key.fileobj)
    return ends


def has_ended(client):
    try:
        return client.recv(65536) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def reset(client):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
