# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The part of DNS messages that the attacks need: reading queries, and writing queries and replies."""

import dataclasses
import functools
import random
import socket
import struct

A, NS, CNAME, SOA, MX, TXT, DNAME = 1, 2, 5, 6, 15, 16, 39
NOERROR, SERVFAIL, NXDOMAIN, REFUSED = 0, 2, 3, 5
QR, AA, TC = 0x8000, 0x0400, 0x0200
QUESTION_NAME = b"\xc0\x0c"
UDP_MAX = 1232


@functools.lru_cache(4096)
def name(text):
    labels = [part.encode() for part in text.rstrip(".").split(".") if part]
    return b"".join(bytes([len(part)]) + part for part in labels) + b"\0"


def query(text, kind=A, number=None, edns=1232, options=b""):
    """Returns a client's query with RD. edns: the UDP size that it offers, or 0 for no EDNS."""
    number = random.randrange(65536) if number is None else number
    option = b"\0" + struct.pack(">HHIH", 41, edns, 0, len(options)) + options if edns else b""
    return struct.pack(">6H", number, 0x0100, 1, 0, 0, 1 if edns else 0) + name(text) + struct.pack(">HH", kind, 1) + option


def framed(message):
    return struct.pack(">H", len(message)) + message


class Query:
    """The first question of a message. labels are in lower case, and the topmost is the last."""

    def __init__(self, message):
        self.number, self.flags = struct.unpack_from(">HH", message)
        at, self.labels = 12, []
        while message[at]:
            if message[at] > 63:
                raise ValueError("a compressed question")
            self.labels.append(message[at + 1:at + 1 + message[at]].decode("latin-1").lower())
            at += 1 + message[at]
        self.kind = int.from_bytes(message[at + 1:at + 3], "big")
        self.question = message[12:at + 5]
        self.has_edns = message[10:12] != b"\0\0"
        # The place where each suffix of the name starts, for pointers.
        self.places, at = {}, 12
        for number, label in enumerate(self.labels):
            self.places[".".join(self.labels[number:]) + "."] = struct.pack(">H", 0xC000 | at)
            at += 1 + len(label)


@dataclasses.dataclass
class Reply:
    """Records are (owner, type, data). The owner None is the name of the question. Data that is text is a name."""
    answers: tuple = ()
    authorities: tuple = ()
    additionals: tuple = ()
    rcode: int = NOERROR
    is_authoritative: bool = True
    ttl_s: int = 300
    delay_s: float = 0.0
    is_together: bool = False  # at the next multiple of delay_s since the zone's first query
    packed: tuple = ()  # (count, bytes) of answers instead, as packed_names() makes them
    number: int = None  # a false id
    question: bytes = None  # a false question


def pointed(text, asked):
    """Writes the name, with a pointer for the longest suffix that the question has too."""
    at, packed = 0, b""
    while at < len(text) and text != ".":
        place = asked.places.get(text[at:])
        if place:
            return packed + place
        end = text.index(".", at)
        packed += bytes([end - at]) + text[at:end].encode()
        at = end + 1
    return packed + b"\0"


def record(owner, kind, data, ttl_s, asked):
    packed = pointed(data, asked) if isinstance(data, str) else data
    return (QUESTION_NAME if owner is None else pointed(owner, asked)) \
        + struct.pack(">HHIH", kind, 1, ttl_s, len(packed)) + packed


def encoded(asked, reply, is_tcp):
    """Returns the message. A UDP reply that is too large is truncated."""
    question = asked.question if reply.question is None else reply.question
    number = asked.number if reply.number is None else reply.number
    flags = QR | (asked.flags & 0x0100) | reply.rcode | (AA if reply.is_authoritative else 0)
    sections = [b"".join(record(*one, reply.ttl_s, asked) for one in several)
                for several in (reply.answers, reply.authorities, reply.additionals)]
    counts = [len(reply.answers), len(reply.authorities), len(reply.additionals) + asked.has_edns]
    if reply.packed:
        counts[0], sections[0] = reply.packed
    option = b"\0" + struct.pack(">HHIH", 41, UDP_MAX, 0, 0) if asked.has_edns else b""
    body = b"".join(sections) + option
    if not is_tcp and 12 + len(question) + len(body) > UDP_MAX:
        flags, counts, body = flags | TC, [0, 0, int(asked.has_edns)], option
    return struct.pack(">6H", number, flags, 1, *counts) + question + body


def packed_names(asked, size, depth=60):
    """Returns (count, bytes) of MX records. The name of each has up to `depth` labels in four bytes: one label, and a
    pointer to the name of the previous record."""
    start, body, number, before = 12 + len(asked.question), b"", 0, 12
    while len(body) < size:
        before = 12 if number % depth == 0 or before > 0x3FFF else before
        body += QUESTION_NAME + struct.pack(">HHIHH", MX, 1, 300, 6, number & 0xFFFF)
        at = start + len(body)
        body += b"\1x" + struct.pack(">H", 0xC000 | before)
        before, number = at, number + 1
    return number, body


def a(owner, address):
    return owner, A, socket.inet_aton(address)


def ns(owner, server):
    return owner, NS, server


def cname(owner, target):
    return owner, CNAME, target


def soa(zone):
    return zone, SOA, name("ns." + zone) + name("host." + zone) + struct.pack(">5I", 1, 3600, 600, 86400, 60)


def txt(owner, size):
    data = b""
    while size > 0:
        part = min(size, 255)
        data += bytes([part]) + b"x" * part
        size -= part
    return owner, TXT, data
