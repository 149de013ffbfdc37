# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A nailupd in front of the servers, clients that send it queries, and views of its connections."""

import itertools
import socket
import time

from peers import Stream, query, rcode_of
from servers import TRANSPORTS

numbers = itertools.count(1)  # each query has a new name, so no answer comes from a cache


def zones_for(servers, transports=TRANSPORTS, address=None, **more):
    """The part of a configuration that names the servers: zones that nail them over these transports. An
    authoritative server serves a stub zone, and a resolver a forward zone. address(server, transport): where the
    daemon finds a server."""
    address = address or (lambda server, transport: server.address(transport))
    parts = {"stub-zones": [], "forward-zones": []}
    for server, transport in places(servers, transports):
        zone = {"name": server.zones[transport], "upstreams": [address(server, transport)], "transport": transport, **more}
        if transport == "tls":
            zone["ca-bundle"] = str(server.ca_file)
        else:
            zone["fallback"] = more.get("fallback", "udp")  # as for a nailed address without such a zone
        parts["forward-zones" if server.resolves else "stub-zones"].append(zone)
    addresses = {one["upstreams"][0].partition("@")[0] for zones in parts.values() for one in zones}
    return {"tcp-upstream-keepalive": sorted(addresses), **parts}


def places(servers, transports=TRANSPORTS):
    """Returns [(server, transport)] for all servers."""
    return [(server, transport) for server in servers for transport in transports]


def by_address(daemon):
    """Returns {"IP@PORT": its row of `nailupctl upstreams`}."""
    return {row["upstream"]: row for row in daemon.upstreams()}


def all_ready(daemon, servers, transports=TRANSPORTS):
    rows = by_address(daemon)
    return all(rows.get(server.address(transport), {"ready": 0})["ready"] > 0
               for server, transport in places(servers, transports))


def sum_of(metrics, name):
    """Returns the sum of a metric over all of its labels."""
    return sum(value for key, value in metrics.items() if key.partition("{")[0] == name)


def fresh_query(zone):
    """Returns (id, a query for a new name in that zone)."""
    number = next(numbers)
    return number & 0xFFFF, query(f"n{number}.{zone}", number & 0xFFFF)


class Asker:
    """A client over TCP. Several queries leave in one write, so that the daemon reads all of them in one turn."""

    def __init__(self, server, stream=None):
        self.server, self.stream, self.open = server, None, stream or (lambda: Stream(server))

    def ask(self, zones):
        """Sends one query for each of these zones at the same time. Returns [seconds until its answer, or None for a
        failure]."""
        queries = [fresh_query(zone) for zone in zones]
        began = time.monotonic()
        answers = self.exchange([message for _, message in queries], began)
        return [answers.get(number) for number, _ in queries]

    def exchange(self, messages, began):
        """Returns {id: seconds}. Queries that failed or had no answer are missing."""
        answered = {}
        try:
            self.stream = self.stream or self.open()
            self.stream.send(*messages)
            for _ in messages:
                answer = self.stream.read()
                if answer is None:
                    break
                if rcode_of(answer) == 0 and answer[7]:  # an answer with a record
                    answered[int.from_bytes(answer[:2], "big")] = time.monotonic() - began
        except OSError:
            pass
        if len(answered) < len(messages):
            self.close()
        return answered

    def close(self):
        if self.stream:
            self.stream.socket.close()
        self.stream = None


def send_all(client, messages):
    for message in messages:
        try:
            client.send(message)
        except (BlockingIOError, ConnectionRefusedError):
            pass  # a query without an answer counts as lost


class Flow:
    """Queries at a rate for each zone, over UDP, until end(). outcomes: {zone: [(instant of sending, rcode or
    None)]}"""

    GIVEN_UP_AFTER_S = 8

    def __init__(self, daemon, zones, rate):
        self.zones, self.step_s = zones, 1 / rate
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.socket.setblocking(False)
        self.socket.connect((daemon.ip, daemon.port))
        self.sent, self.waiting, self.outcomes = [], {}, {zone: [] for zone in zones}
        self.next_at = time.monotonic()

    def run_for(self, seconds, until=lambda: False):
        """Runs until until() is true, and checks it a few times a second. Returns whether it was true."""
        end, look_at = time.monotonic() + seconds, 0
        while (now := time.monotonic()) < end:
            if now >= look_at:
                if until():
                    return True
                look_at = time.monotonic() + 0.2
            while now >= self.next_at:
                self.send(self.next_at)
                self.next_at += self.step_s
            self.receive()
            time.sleep(0.002)
        return False

    def send(self, now):
        for zone in self.zones:
            number, message = fresh_query(zone)
            self.waiting[number] = (zone, now)
            send_all(self.socket, [message])

    def receive(self):
        while True:
            try:
                answer = self.socket.recv(4096)
            except BlockingIOError:
                return
            except ConnectionRefusedError:
                continue
            known = self.waiting.pop(int.from_bytes(answer[:2], "big"), None)
            if known:
                self.outcomes[known[0]].append((known[1], rcode_of(answer)))

    def end(self):
        deadline = time.monotonic() + self.GIVEN_UP_AFTER_S
        while self.waiting and time.monotonic() < deadline:
            self.receive()
            time.sleep(0.002)
        for zone, sent_at in self.waiting.values():
            self.outcomes[zone].append((sent_at, None))
        self.socket.close()
        return self.outcomes
