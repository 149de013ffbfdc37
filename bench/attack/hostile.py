# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The authoritative servers of the attacks: the root, and every hostile zone.

One process answers at all addresses of zones.py. The topmost label says which zone answers. The process counts the
queries for each zone, and the ports that they come from."""

import multiprocessing
import os
import selectors
import socket
import struct
import time

import sandbox
import zones
from wire import Query, encoded



class Counts:
    """Counts the queries of resolvers by zone."""

    def __init__(self):
        self.queries, self.ports, self.early = {}, [], {}
        self.first_at = {}

    def add(self, zone, port):
        now = time.monotonic()
        self.queries[zone] = self.queries.get(zone, 0) + 1
        self.early[zone] = self.early.get(zone, 0) + (now - self.first_at.setdefault(zone, now) < 2)
        if zone == "ports":
            self.ports.append(port)


class Server:
    def __init__(self, pipe):
        self.pipe, self.counts, self.selector = pipe, Counts(), selectors.DefaultSelector()
        self.udp = {}
        self.held = []  # (when it is due, the message, the client, the socket)
        for address in zones.addresses():
            self.open(address)
        self.selector.register(pipe, selectors.EVENT_READ, self.take_command)

    def open(self, address):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        udp.bind((address, 53))
        udp.setblocking(False)
        self.udp[address] = udp
        self.selector.register(udp, selectors.EVENT_READ, lambda _: self.take_datagrams(udp, address))
        tcp = socket.create_server((address, 53), backlog=1024)
        tcp.setblocking(False)
        self.selector.register(tcp, selectors.EVENT_READ, self.take_connection)

    def serve(self):
        while True:
            due_s = min((at for at, *_ in self.held), default=None)
            wait_s = None if due_s is None else max(0.0, due_s - time.monotonic())
            for key, _ in self.selector.select(wait_s):
                key.data(key.fileobj)
            self.release()

    def take_command(self, pipe):
        try:
            pipe.recv()
        except EOFError:
            os._exit(0)
        pipe.send({"queries": self.counts.queries, "early": self.counts.early, "ports": self.counts.ports})

    def release(self):
        now, held, self.held = time.monotonic(), self.held, []
        for one in held:
            if one[0] > now:
                self.held.append(one)
            else:
                send(*one[1:])

    def answer(self, message, address, port, is_tcp):
        """Returns (bytes or None, seconds to wait)."""
        try:
            query = Query(message)
        except (IndexError, ValueError):
            return None, 0
        zone = query.labels[-1] if query.labels else "."
        self.counts.add(zone, port)
        reply = zones.answer(query, zone, address)
        if not reply:
            return None, 0
        delay_s = reply.delay_s
        if reply.is_together:
            delay_s -= (time.monotonic() - self.counts.first_at[zone]) % delay_s
        return encoded(query, reply, is_tcp), delay_s

    def take_datagrams(self, udp, address):
        for _ in range(64):
            try:
                message, peer = udp.recvfrom(4096)
            except OSError:
                return
            packet, delay_s = self.answer(message, address, peer[1], False)
            for forged, source in self.forgeries(message, address):
                send(forged, peer, self.udp[source])
            if packet and delay_s:
                self.held.append((time.monotonic() + delay_s, packet, peer, udp))
            elif packet:
                send(packet, peer, udp)

    @staticmethod
    def forgeries(message, address):
        """Returns [(bytes, source)] that a forger sends before the answer."""
        if b"forged" not in message.lower():
            return []
        query = Query(message)
        return [(encoded(query, reply, False), source) for reply, source in zones.forgeries(query, address)]

    def take_connection(self, listener):
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        connection.setblocking(False)
        self.selector.register(connection, selectors.EVENT_READ, Stream(self).take)


def send(packet, peer, udp):
    try:
        udp.sendto(packet, peer)
    except OSError:
        pass  # the resolver has closed its port


class Stream:
    """Assembles the messages of one connection. The socket's buffer always has room for the answers."""

    def __init__(self, server):
        self.server, self.pending = server, b""

    def take(self, connection):
        try:
            data = connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.server.selector.unregister(connection)
            connection.close()
            return
        self.pending += data
        address, port = connection.getsockname()[0], connection.getpeername()[1]
        while len(self.pending) > 2 and len(self.pending) >= 2 + int.from_bytes(self.pending[:2], "big"):
            end = 2 + int.from_bytes(self.pending[:2], "big")
            packet, _ = self.server.answer(self.pending[2:end], address, port, True)
            self.pending = self.pending[end:]
            if packet:
                try:
                    connection.sendall(struct.pack(">H", len(packet)) + packet)
                except OSError:
                    return


def serve(pipe, cpu, ready):
    sandbox.die_with_parent()
    sandbox.go_first()
    os.sched_setaffinity(0, {cpu})
    server = Server(pipe)
    ready.set()
    server.serve()


class Hostile:
    """The running process. counts() returns its counters since the start."""

    def __init__(self, cpu):
        self.pipe, theirs = multiprocessing.Pipe()
        ready = multiprocessing.Event()
        self.process = multiprocessing.Process(target=serve, args=(theirs, cpu, ready), daemon=True)
        self.process.start()
        if not ready.wait(10):
            raise RuntimeError("the hostile servers do not start")

    def counts(self):
        self.pipe.send("counts")
        if not self.pipe.poll(20):
            raise RuntimeError("the hostile servers do not answer")
        return self.pipe.recv()

    def stop(self):
        self.process.kill()
        self.process.join()
