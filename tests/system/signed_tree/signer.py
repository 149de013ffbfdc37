# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Signs a zone: DNSKEY, NSEC or NSEC3, and RRSIG records. On request it signs wrong things, too.

Records are hierarchy.wire.Records in canonical text. The types of DNSSEC have data in the form of RFC 3597."""

import base64
import hashlib
import struct
import time
from collections import namedtuple

from hierarchy.wire import (Record, is_at_or_below, labels_of, pack_data, pack_name, parent_of, type_number)

from .keys import ds_data

DAY_S = 86400
DNSSEC_TYPES = "DS", "RRSIG", "NSEC", "DNSKEY", "NSEC3", "NSEC3PARAM"

# salt: bytes. is_opt_out leaves insecure delegations out of the chain.
Nsec3 = namedtuple("Nsec3", "iterations salt is_opt_out", defaults=(0, b"", False))
NSEC = "nsec"


def generic(data):
    return f"\\# {len(data)} {data.hex()}"


def data_of(record):
    """Returns the data of a record as bytes, without compression."""
    return pack_data(record.type, record.data)


def label_order(name):
    """Returns the sort key of canonical order (RFC 4034 section 6.1)."""
    return [label.encode() for label in reversed(labels_of(name))]


def bitmap(types):
    out, numbers = b"", sorted(map(type_number, types))
    for window in sorted({number >> 8 for number in numbers}):
        bits = bytearray(32)
        for number in numbers:
            if number >> 8 == window:
                bits[(number & 255) >> 3] |= 0x80 >> (number & 7)
        part = bytes(bits).rstrip(b"\0")
        out += bytes([window, len(part)]) + part
    return out


def nsec3_hash(name, form):
    digest = hashlib.sha1(pack_name(name) + form.salt).digest()
    for _ in range(form.iterations):
        digest = hashlib.sha1(digest + form.salt).digest()
    return digest


def hash_label(digest):
    return base64.b32hexencode(digest).decode().lower()


def rrsig(key, records, signer, validity, labels=None, ttl=None, owner=None):
    """Returns an RRSIG over records of one name and type. validity: (inception, expiration). labels, ttl (the
    original TTL) and owner (a name in the signed bytes) default to the right ones."""
    name, kind = records[0].name, records[0].type
    count = len(labels_of(name)) - name.startswith("*.") if labels is None else labels
    ttl = records[0].ttl if ttl is None else ttl
    head = struct.pack(">HBBIIIH", type_number(kind), key.algorithm, count, ttl, validity[1], validity[0], key.tag)
    signed = owner or name
    if labels is not None and owner is None and count < len(labels_of(name)) - name.startswith("*."):
        signed = ".".join(["*", *labels_of(name)[-count:], ""]) if count else "*."
    data = head + pack_name(signer)
    fixed = pack_name(signed) + struct.pack(">HHI", type_number(kind), 1, ttl)
    for one in sorted({data_of(one) for one in records}):
        data += fixed + struct.pack(">H", len(one)) + one
    return Record(name, "RRSIG", records[0].ttl, generic(head + pack_name(signer) + key.sign(data)))


def covered_type(record):
    """Returns the type that an RRSIG covers, as a number."""
    return struct.unpack(">H", data_of(record)[:2])[0]


class Signed:
    """A zone that is being signed and damaged. records: all of its records; extra: {label: records} that only the
    lying server sends."""

    def __init__(self, name, records, keys, denial, validity, keys_ttl=3600):
        self.name, self.keys, self.denial, self.validity = name, keys, denial, validity
        self.records, self.extra = list(records), {}
        self.ttl = next(one.ttl for one in records if one.type == "SOA")
        self.cuts = {one.name for one in records if one.type == "NS" and one.name != name}
        for key in keys:
            if key.is_published:
                self.records.append(Record(name, "DNSKEY", keys_ttl, generic(key.data)))
        if denial == NSEC:
            self.add_nsec()
        else:
            self.add_nsec3()
        for owner, kind in sorted({(one.name, one.type) for one in self.records}):
            if self.is_signed(owner, kind):
                self.sign(owner, kind)

    # ---- names and records ----

    def is_below_cut(self, name):
        return any(name != cut and is_at_or_below(name, cut) for cut in self.cuts)

    def is_signed(self, name, kind):
        if kind == "RRSIG" or self.is_below_cut(name):
            return False
        return name not in self.cuts or kind in ("DS", "NSEC")

    def rrset(self, name, kind):
        return [one for one in self.records if one.name == name and one.type == kind]

    def signatures(self, name, kind):
        return [one for one in self.rrset(name, "RRSIG") if covered_type(one) == type_number(kind)]

    def names(self):
        """Returns {name: its types}, without glue. An empty non-terminal has no types."""
        found = {}
        for one in self.records:
            if not self.is_below_cut(one.name):
                found.setdefault(one.name, set()).add(one.type)
        return found

    def with_empty(self, found):
        for name in list(found):
            while name != self.name:
                name = parent_of(name)
                found.setdefault(name, set())
        return found

    # ---- denial ----

    def nsec(self, owner, following, types):
        return Record(owner, "NSEC", self.ttl, generic(pack_name(following) + bitmap(types)))

    def add_nsec(self):
        found = self.names()
        order = sorted(found, key=label_order)
        for owner, following in zip(order, order[1:] + order[:1]):
            types = found[owner] & {"NS", "DS"} if owner in self.cuts else found[owner]
            self.records.append(self.nsec(owner, following, types | {"RRSIG", "NSEC"}))

    def add_nsec3(self):
        form = self.denial
        param = struct.pack(">BBHB", 1, 0, form.iterations, len(form.salt)) + form.salt
        self.records.append(Record(self.name, "NSEC3PARAM", 0, generic(param)))
        found = self.names()
        if form.is_opt_out:
            found = {name: types for name, types in found.items() if name not in self.cuts or "DS" in types}
        hashes = {nsec3_hash(name, form): (name, types) for name, types in self.with_empty(found).items()}
        order = sorted(hashes)
        for own, following in zip(order, order[1:] + order[:1]):
            name, types = hashes[own]
            if name in self.cuts:
                types = types & {"NS", "DS"}
            if types and (name not in self.cuts or "DS" in types):
                types = types | {"RRSIG"}
            self.records.append(self.nsec3(own, following, types))

    def nsec3(self, own, following, types):
        form = self.denial
        data = struct.pack(">BBHB", 1, form.is_opt_out, form.iterations, len(form.salt)) + form.salt
        data += bytes([len(following)]) + following + bitmap(types)
        below = "" if self.name == "." else self.name
        return Record(f"{hash_label(own)}.{below}", "NSEC3", self.ttl, generic(data))

    # ---- signatures ----

    def signers_of(self, kind):
        wanted = "keys" if kind == "DNSKEY" else "data"
        return [key for key in self.keys if key.signs in (wanted, "all")]

    def sign(self, name, kind, keys=None, **more):
        """Signs an RRset with the keys for that purpose. signer, validity, labels, ttl, owner: see rrsig()."""
        records = self.rrset(name, kind)
        assert records, f"{self.name} has no {kind} at {name}"
        more = {"signer": self.name, "validity": self.validity} | more
        self.records += [rrsig(key, records, **more) for key in keys or self.signers_of(kind)]

    def signed(self, records, keys=None, **more):
        """Returns the records of one RRset with signatures, without adding them to the zone."""
        more = {"signer": self.name, "validity": self.validity} | more
        return [*records, *(rrsig(key, records, **more) for key in keys or self.signers_of(records[0].type))]

    # ---- damage ----

    def at(self, label):
        return self.name if label == "@" else f"{label}.{self.name}"

    def unsign(self, label, kind):
        gone = self.signatures(self.at(label), kind)
        assert gone, f"{self.name} has no signature of {kind} at {label}"
        self.records = [one for one in self.records if one not in gone]

    def resign(self, label, kind, **more):
        self.unsign(label, kind)
        self.sign(self.at(label), kind, **more)

    def drop(self, label, kind):
        self.unsign(label, kind)
        self.records = [one for one in self.records if (one.name, one.type) != (self.at(label), kind)]

    def flip(self, label, kind, count=None):
        """Flips a bit in the signatures of an RRset, or in the first `count` of them."""
        for one in self.signatures(self.at(label), kind)[:count]:
            data = bytearray(data_of(one))
            data[-1] ^= 1
            self.records[self.records.index(one)] = one._replace(data=generic(bytes(data)))

    def replace(self, label, kind, data):
        """Gives an RRset other data, but keeps its signature."""
        for one in self.rrset(self.at(label), kind):
            self.records[self.records.index(one)] = one._replace(data=data)


def ds_records(zone, keys, digests=(2,), **more):
    """Returns the DS set of a zone, for its keys with the SEP bit, or for all keys if none has that bit."""
    chosen = [key for key in keys if key.flags & 1 and key.is_published] or keys
    return [Record(zone, "DS", 3600, generic(ds_data(pack_name(zone), key.data, digest, **more)))
            for key in chosen for digest in digests]


def days(first, last):
    """Returns a validity, in days from now."""
    now = int(time.time())
    return int(now + first * DAY_S), int(now + last * DAY_S)
