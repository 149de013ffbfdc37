# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Latency over time: several servers get queries side by side at a low fixed rate while something happens to the
upstream that they share. Each query is a point."""

import csv
import selectors
import socket
import threading
import time
from dataclasses import dataclass

import cells
import programs
import stage

PATIENCE_SECONDS = 3.0  # a later answer counts as lost
SETTLE_QUERIES = 50


@dataclass
class Point:
    """A query: the instant when it was due, and its result. rcode None: the query was lost, so it has no latency."""
    due_s: float
    latency_ms: float = None
    rcode: int = None

    @property
    def is_good(self):
        return self.rcode == 0


def label(server):
    return f"{server.name} {programs.TRANSPORT_NAMES[server.transport]}"


class Client:
    """Sends queries to the server at a port and records the answers. Latency counts from the instant when the query
    was due."""

    def __init__(self, port, prefix):
        self.prefix = prefix
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.points, self.waiting = [], {}

    def name_of(self, number):
        return f"{self.prefix}{number}.{stage.SUFFIX}"

    def ask(self, due_s):
        number = len(self.points)
        point = Point(due_s)
        self.points.append(point)
        self.waiting[number & 0xFFFF] = point
        try:
            self.socket.send(stage.query(self.name_of(number), number & 0xFFFF))
        except OSError:
            pass  # the query is lost

    def take(self, now_s, patience_s):
        while True:
            try:
                answer = self.socket.recv(4096)
            except OSError:
                return
            point = self.waiting.pop(int.from_bytes(answer[:2], "big"), None) \
                if len(answer) >= 12 else None
            if point and now_s - point.due_s <= patience_s:
                point.latency_ms, point.rcode = 1000 * (now_s - point.due_s), answer[3] & 15


def drive(clients, seconds, rate, patience_s=PATIENCE_SECONDS):
    """An open loop: query i of client k is due at (i + k / clients) / rate, whatever the answers are."""
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ, client)
        start, sent = time.monotonic(), 0
        total = int(seconds * rate) * len(clients)
        while True:
            now = time.monotonic() - start
            while sent < total and sent / (rate * len(clients)) <= now:
                clients[sent % len(clients)].ask(sent / (rate * len(clients)))
                sent += 1
            if sent == total and not any(client.waiting for client in clients):
                return
            if now > seconds + patience_s:
                return
            due = sent / (rate * len(clients)) - now if sent < total else 0.1
            for key, _ in selector.select(max(0.0, due)):
                key.data.take(time.monotonic() - start, patience_s)


def start_servers(theatre, one, found):
    """Starts fresh servers, because knowledge about the upstream's past would affect the result."""
    servers = []
    for kind, transport in cells.SERIES_SERVERS:
        recycles = "tcp-close-after" in one.settings and kind == programs.OURS
        for peer in (peer for peer in found if peer.kind == kind):
            server = theatre.start(peer, "recycle" if recycles else "miss", transport, theatre.is_far(one))
            servers += [server] if server else []
    return servers


def schedule(theatre, one, seconds):
    def tell(sentences):
        for sentence in sentences:
            theatre.upstream.tell(sentence)

    timers = [threading.Timer(share * seconds, tell, [words]) for share, words in one.events]
    for timer in timers:
        timer.start()
    return timers


def play(theatre, one, found, quick=False):
    """Plays a series. Returns {label of a server: its points}, in the order of cells.SERIES_SERVERS."""
    seconds = one.seconds / 4 if quick else one.seconds
    theatre.upstream.set(cells.DEFAULTS)
    theatre.set_distance(one)
    servers = start_servers(theatre, one, found)
    settle = [Client(server.port, "settle") for server in servers]
    drive(settle, SETTLE_QUERIES / one.rate, one.rate)
    theatre.upstream.set(one.settings)
    clients = [Client(server.port, "s") for server in servers]
    timers = schedule(theatre, one, seconds)
    drive(clients, seconds, one.rate)
    for timer in timers:
        timer.join()
    for client in settle + clients:
        client.socket.close()
    for server in servers:
        theatre.dismiss(server)
    theatre.clear_scene()
    return {label(server): client.points for server, client in zip(servers, clients)}


def write_csv(path, played):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["series", "server", "due_s", "latency_ms", "rcode"])
        for name, of_servers in played.items():
            for label, points in of_servers.items():
                for point in points:
                    writer.writerow([name, label, f"{point.due_s:.5f}",
                                     "" if point.latency_ms is None else f"{point.latency_ms:.3f}",
                                     "lost" if point.rcode is None else point.rcode])


def read_csv(path):
    """Returns {series: {label: points}} from the file of write_csv(), or nothing if no series was played."""
    played = {}
    if path.exists():
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                point = Point(float(row["due_s"]), float(row["latency_ms"]) if row["latency_ms"] else None,
                              None if row["rcode"] == "lost" else int(row["rcode"]))
                played.setdefault(row["series"], {}).setdefault(row["server"], []).append(point)
    return played
