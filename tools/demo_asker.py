# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A client that queries new names at fixed instants, whatever the earlier answers are. It repeats no query, so a lost
query counts as failed. A client that sends one query and reports AD and the reason of a failure. A watch on the
machine."""

import dataclasses
import math
import random
import select
import socket
import struct
import threading
import time

GRACE_S = 6  # longer than nailupd tries before it answers SERVFAIL
BEHIND_S = 0.1  # queries that are later than this are left out instead of sent in a burst
NOERROR, SERVFAIL = 0, 2
OPT_EMPTY = b"\0\0\x29\x04\xd0\0\0\0\0\0\0"
EXTENDED_ERROR = 15  # the EDNS option of extended errors (RFC 8914)


@dataclasses.dataclass
class Question:
    asked_at: float
    took: float | None = None
    rcode: int | None = None

    @property
    def is_good(self):
        return self.rcode == NOERROR


def encode(number, name):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"


@dataclasses.dataclass
class Reply:
    """An answer. rcode None: no answer has come."""
    rcode: int | None = None
    is_ad: bool = False
    errors: tuple = ()


def ask_flags(port, name):
    """Queries 127.0.0.1:port once, with AD. Returns a Reply. An answer with records has no extended errors in it."""
    query = bytearray(encode(random.randrange(1 << 16), name) + OPT_EMPTY)
    query[3], query[11] = 0x20, 1  # AD (RFC 6840 section 5.7), and the number of additional records
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(GRACE_S)
        asking.connect(("127.0.0.1", port))
        try:
            asking.send(query)
            answer = asking.recv(4096)
        except OSError:
            return Reply()
    has_records = any(answer[6:10])  # the sections before the OPT record have records
    errors = [] if has_records else extended_errors(answer, len(query) - len(OPT_EMPTY))
    return Reply(answer[3] & 15, bool(answer[3] & 0x20), tuple(errors))


def ask_why(port, name):
    """Queries 127.0.0.1:port once. Returns the response code, and its extended errors as (code, text)."""
    reply = ask_flags(port, name)
    return reply.rcode, reply.errors


def extended_errors(answer, opt_at):
    """Reads the extended errors of an answer in which OPT follows the question, as in failures."""
    errors, at = [], opt_at + len(OPT_EMPTY)
    while at + 4 <= len(answer):
        code, length = struct.unpack_from(">2H", answer, at)
        if code == EXTENDED_ERROR and length >= 2:
            text = answer[at + 6:at + 4 + length].decode(errors="replace")
            errors.append((struct.unpack_from(">H", answer, at + 4)[0], text))
        at += 4 + length
    return errors


class Asker(threading.Thread):
    """Queries 127.0.0.1:port `rate` times a second for names below zone, from start() to finish()."""

    def __init__(self, port, zone, rate, most_waiting=65536):
        super().__init__(daemon=True)
        self.most_waiting = most_waiting  # with this many unanswered queries, the next one is left out
        self.zone, self.rate = zone, rate
        self.tag = f"{random.randrange(1 << 32):x}"  # each query has a new name, so that no cache has its answer
        self.questions = []  # the index is the message id, so there are at most 65,536
        self.waiting = 0
        self.stopping = threading.Event()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)

    def run(self):
        due = time.monotonic()
        while not self.stopping.is_set() and len(self.questions) < 65536:
            self.receive_until(due)
            if self.waiting < self.most_waiting:
                self.ask()
            due = max(due + 1 / self.rate, time.monotonic() - BEHIND_S)
        until = time.monotonic() + GRACE_S
        while self.waiting and time.monotonic() < until:
            self.receive_until(min(until, time.monotonic() + 0.05))
        self.socket.close()

    def ask(self):
        number = len(self.questions)
        self.questions.append(Question(time.monotonic()))
        self.waiting += 1
        try:
            self.socket.send(encode(number, f"q{number}-{self.tag}.{self.zone}"))
        except OSError:
            pass  # the query remains unanswered

    def receive_until(self, instant):
        while (left := instant - time.monotonic()) > 0:
            if select.select([self.socket], [], [], left)[0]:
                self.receive()

    def receive(self):
        try:
            answer = self.socket.recv(4096)
        except OSError:
            return
        now = time.monotonic()
        number = struct.unpack(">H", answer[:2])[0]
        question = self.questions[number] if number < len(self.questions) else None
        if question and question.took is None:
            question.took, question.rcode = now - question.asked_at, answer[3] & 15
            self.waiting -= 1

    def stop(self):
        """Ends the queries."""
        self.stopping.set()

    def finish(self):
        """Returns all questions when each is answered or given up."""
        self.stop()
        self.join()
        return self.questions


def percentile(questions, percent):
    """Returns a percentile of the answer times (nearest rank) in seconds, or None without an answer."""
    times = sorted(q.took for q in questions if q.took is not None)
    return times[max(0, math.ceil(len(times) * percent / 100) - 1)] if times else None


def count_bad(questions):
    return sum(not q.is_good for q in questions)


def between(questions, since, until):
    return [q for q in questions if since <= q.asked_at < until]


class Watch(threading.Thread):
    """Measures standstills of the machine by how late a sleeping thread wakes up."""

    def __init__(self):
        super().__init__(daemon=True)
        self.longest_s = self.total_s = 0.0
        self.start()

    def run(self):
        while True:
            before = time.monotonic()
            time.sleep(0.01)
            late_s = time.monotonic() - before - 0.01
            self.longest_s = max(self.longest_s, late_s)
            self.total_s += late_s

    def take_s(self):
        """Returns the longest standstill since the last call, in seconds."""
        longest, self.longest_s = self.longest_s, 0.0
        return longest
