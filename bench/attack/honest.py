# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Honest clients beside an attack: a steady rate of queries, with the instant at which the kernel received each
answer.

The attackers share the CPU of these clients, whose waiting for it must not count. So latency runs from the call
that sent the query to the kernel's time stamp of the answer."""

import itertools
import multiprocessing
import selectors
import socket
import struct
import time

import arena
import sandbox
import series
from wire import query

SO_TIMESTAMPNS = 35
STAMP_BYTES = socket.CMSG_SPACE(16)
PATIENCE_S = 5.0


def never_seen(first=0):
    """Yields names of honest zones, each once."""
    return (f"w{number}.z{number}.far{number % 8}" for number in itertools.count(first))


def cached(count=20):
    return (f"w{number % count}.cached.near0" for number in itertools.count())


class Client:
    """The client at one address. Its points are in the order of its queries."""

    def __init__(self, address):
        self.socket = arena.client_socket(address)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setblocking(False)
        self.points, self.waiting = [], {}

    def ask(self, name, start_s):
        number = len(self.points) & 0xFFFF
        packet = query(name, number=number)
        sent_at = time.time()
        point = series.Point(sent_at - start_s)
        self.points.append(point)
        self.waiting[number] = (point, sent_at)
        try:
            self.socket.send(packet)
        except OSError:
            pass  # the query is lost

    def take(self, patience_s):
        while True:
            try:
                answer, ancillary, _, _ = self.socket.recvmsg(4096, STAMP_BYTES)
            except OSError:
                return
            point, sent_at = self.waiting.pop(int.from_bytes(answer[:2], "big"), (None, 0))
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2][:16])
            waited_s = seconds + nanoseconds / 1e9 - sent_at
            if point and waited_s <= patience_s:
                point.latency_ms, point.rcode = max(0.0, 1000 * waited_s), answer[3] & 15


def drive(pipe, addresses, names, rate, most, patience_s):
    """Sends queries until the pipe says stop, or until `most` queries are sent."""
    sandbox.die_with_parent()
    sandbox.go_first()
    clients = [Client(address) for address in addresses]
    start_s, sent, stopped_s = time.time(), 0, None
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ, client)
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            now_s = time.time() - start_s
            while stopped_s is None and sent < most and sent / rate <= now_s:
                clients[sent % len(clients)].ask(next(names), start_s)
                sent += 1
            if stopped_s is None and sent >= most:
                stopped_s = now_s
            is_all_here = not any(client.waiting for client in clients)
            if stopped_s is not None and (is_all_here or now_s > stopped_s + patience_s):
                break
            for key, _ in selector.select(max(0.0, sent / rate - now_s) if stopped_s is None else 0.1):
                if key.data:
                    key.data.take(patience_s)
                else:
                    pipe.recv()
                    selector.unregister(pipe)
                    stopped_s = now_s
    pipe.send([point for client in clients for point in client.points])


class Honest:
    """Clients that start to ask at once, in a separate process."""

    def __init__(self, addresses, names, rate, most=10**9, patience_s=PATIENCE_S):
        self.patience_s = patience_s
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=drive, args=(theirs, addresses, names, rate, most, patience_s))
        self.process.start()

    def points(self, is_cut=True):
        """Ends the clients and waits for the last answers. With is_cut False, the clients first send all of their
        queries."""
        if is_cut:
            try:
                self.pipe.send("stop")
            except OSError:
                pass
        if not self.pipe.poll(60 + self.patience_s):
            raise RuntimeError("the honest clients do not end")
        points = self.pipe.recv()
        self.process.join()
        return points
