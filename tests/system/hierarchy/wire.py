# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The part of the wire format (RFC 1035) that the hierarchy needs, between bytes and canonical text: names end with
a dot, are in lower case and have no escapes; data is as in a zone file. Types without a special form follow
RFC 3597."""

import socket
import struct
from collections import namedtuple

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33,
         "DNAME": 39, "OPT": 41, "DS": 43, "RRSIG": 46, "NSEC": 47, "DNSKEY": 48, "NSEC3": 50, "NSEC3PARAM": 51}
TYPE_NAMES = {number: name for name, number in TYPES.items()}
RCODES = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"]
QR, AA, TC, RD, AD, CD = 0x8000, 0x400, 0x200, 0x100, 0x20, 0x10
DO = 0x8000  # in the TTL of OPT
EDE = 15  # an option of EDNS (RFC 8914)

# kinds of fields in data: name, 16 or 32 bits, strings to the end
FIELDS = {"NS": "n", "CNAME": "n", "PTR": "n", "DNAME": "n", "MX": "hn", "SRV": "hhhn", "SOA": "nniiiii",
          "TXT": "s"}

Record = namedtuple("Record", "name type ttl data")


def type_number(kind):
    return TYPES[kind] if kind in TYPES else int(kind.removeprefix("TYPE"))


def type_name(number):
    return TYPE_NAMES.get(number, f"TYPE{number}")


def labels_of(name):
    return [label for label in name.split(".") if label]


def is_at_or_below(name, zone):
    return zone == "." or name == zone or name.endswith("." + zone)


def parent_of(name):
    return name.partition(".")[2] or "."


def pack_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in labels_of(name)) + b"\0"


def unpack_name(message, at, keep_case=False):
    """Returns (name, its end). A pointer may only lead backwards."""
    labels, end, least = [], None, at
    while True:
        length = message[at]
        if length >= 0xC0:
            target = struct.unpack_from(">H", message, at)[0] & 0x3FFF
            end = end or at + 2
            if target >= least:
                raise ValueError("a pointer that leads forward")
            at = least = target
        elif length == 0:
            name = "".join(label + "." for label in labels) or "."
            return (name if keep_case else name.lower()), end or at + 1
        else:
            labels.append(message[at + 1:at + 1 + length].decode("latin1"))
            at += 1 + length


def pack_data(kind, text):
    if kind in ("A", "AAAA"):
        return socket.inet_pton(socket.AF_INET if kind == "A" else socket.AF_INET6, text)
    if text.startswith("\\#"):
        return bytes.fromhex("".join(text.split()[2:]))
    if kind == "TXT":
        return b"".join(bytes([len(part)]) + part.encode() for part in text.split('"')[1::2])
    packers = {"n": pack_name, "h": lambda word: struct.pack(">H", int(word)),
               "i": lambda word: struct.pack(">I", int(word))}
    return b"".join(packers[field](word) for field, word in zip(FIELDS[kind], text.split()))


def unpack_data(kind, message, at, end):
    if kind in ("A", "AAAA"):
        return socket.inet_ntop(socket.AF_INET if kind == "A" else socket.AF_INET6, message[at:end])
    words = []
    for field in FIELDS.get(kind, ""):
        if field == "n":
            word, at = unpack_name(message, at)
            words.append(word)
        elif field == "s":
            while at < end:
                length = message[at]
                words.append('"%s"' % message[at + 1:at + 1 + length].decode("latin1"))
                at += 1 + length
        else:
            size = 2 if field == "h" else 4
            words.append(str(int.from_bytes(message[at:at + size], "big")))
            at += size
    return " ".join(words) if words else f"\\# {end - at} {message[at:end].hex()}"


def pack_record(record):
    data = pack_data(record.type, record.data)
    return (pack_name(record.name) + struct.pack(">HHIH", type_number(record.type), 1, record.ttl, len(data)) + data)


class Message:
    """A message that was read. question: (name in its original case, type); edns: whether it has OPT; size_bytes:
    largest datagram; options: content of the OPT record, as bytes; dnssec_ok: whether DO is set."""

    def __init__(self, data):
        self.id, self.flags, asked, *counts = struct.unpack_from(">6H", data)
        self.rcode = self.flags & 15
        at, self.question = 12, None
        for _ in range(asked):
            name, at = unpack_name(data, at, keep_case=True)
            self.question = name, type_name(struct.unpack_from(">H", data, at)[0])
            at += 4
        self.edns, self.size_bytes, self.options, self.sections = False, 512, b"", []
        self.dnssec_ok = False
        for count in counts:
            section = []
            for _ in range(count):
                record, at = self.read_record(data, at)
                if record.type != "OPT":
                    section.append(record)
            self.sections.append(section)
        self.answer, self.authority, self.additional = self.sections

    def read_record(self, data, at):
        name, at = unpack_name(data, at)
        number, klass, ttl, length = struct.unpack_from(">HHIH", data, at)
        kind, at = type_name(number), at + 10
        if kind == "OPT":
            self.edns, self.size_bytes, self.options = True, max(512, klass), data[at:at + length]
            self.dnssec_ok = ttl & DO != 0
            return Record(name, kind, ttl, ""), at + length
        return Record(name, kind, ttl, unpack_data(kind, data, at, at + length)), at + length


    def errors(self):
        """Returns [(code, text), ...] of the extended errors."""
        found, at = [], 0
        while at < len(self.options):
            code, length = struct.unpack_from(">HH", self.options, at)
            if code == EDE:
                data = self.options[at + 4:at + 4 + length]
                found.append((int.from_bytes(data[:2], "big"), data[2:].decode("utf-8", "replace")))
            at += 4 + length
        return found


def pack_opt(dnssec_ok):
    return b"\0" + struct.pack(">HHIH", 41, 1232, DO if dnssec_ok else 0, 0)


def pack_query(number, name, kind, flags=RD, edns=True, dnssec_ok=False):
    opt = pack_opt(dnssec_ok) if edns else b""
    return (struct.pack(">6H", number, flags, 1, 0, 0, len(opt) > 0) + pack_name(name) +
            struct.pack(">HH", type_number(kind), 1) + opt)


def pack_reply(query, flags, rcode, answer=(), authority=(), additional=(), edns=True):
    opt = pack_opt(query.dnssec_ok) if edns and query.edns else b""
    name, kind = query.question
    head = struct.pack(">6H", query.id, QR | flags | (query.flags & RD) | rcode, 1, len(answer), len(authority),
                       len(additional) + (len(opt) > 0))
    return (head + pack_name(name) + struct.pack(">HH", type_number(kind), 1) +
            b"".join(map(pack_record, [*answer, *authority, *additional])) + opt)
