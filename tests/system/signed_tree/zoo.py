# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Zones that are expensive on purpose: each makes validators work as much as its attack can.

  keytrap  many keys with one tag, and many wrong signatures with that tag (CVE-2023-50387)
  nsec3    the hash of each name takes many iterations, with a salt (CVE-2023-50868)
  costly   each name has another right signature, with an expensive algorithm"""

import os
import struct

from hierarchy.wire import Record, labels_of, pack_name, type_number

from .keys import KSK, REVOKE, ZONE, ZSK, Key
from .signer import NSEC, Nsec3, Signed, days, generic

SALT = bytes(range(32))


def collides_with(tag, algorithm=13):
    """Returns a key with this tag that signs nothing. The tag is reached with flags that have no
    meaning. One key in four leaves the flags with a meaning as they must be."""
    while True:
        key = Key(algorithm, 0, "nothing")
        for carry in range(-2, 3):
            key.flags = (tag - key_tag_without_flags(key) + carry) & 0xFFFF
            if key.tag == tag and key.flags & ZONE and not key.flags & REVOKE:
                return key


def key_tag_without_flags(key):
    key.flags = 0
    return key.tag


def forged(name, kind, signer, key, validity, ttl=300):
    """Returns a signature that consists of random bytes."""
    count = len(labels_of(name)) - name.startswith("*.")
    head = struct.pack(">HBBIIIH", type_number(kind), key.algorithm, count, ttl, validity[1], validity[0], key.tag)
    return Record(name, "RRSIG", ttl, generic(head + pack_name(signer) + os.urandom(64)))


def two_keys(algorithm=13):
    return [Key(algorithm, KSK, "keys"), Key(algorithm, ZSK, "data")]


def keytrap(zone, records, count=60):
    """Returns (records, keys) of a zone whose wildcard has `count` wrong signatures, which as many keys fit."""
    keys = two_keys()
    validity = days(-1, 30)
    keys += [collides_with(keys[1].tag) for _ in range(count - 1)]
    wildcard = f"*.{zone}"
    signed = Signed(zone, [*records, Record(wildcard, "A", 300, "192.0.2.66")], keys, NSEC, validity)
    signed.unsign("*", "A")
    signed.records += [forged(wildcard, "A", zone, keys[1], validity) for _ in range(count)]
    return signed.records, keys


def nsec3(zone, records, iterations):
    """Returns (records, keys) of a zone with this many iterations."""
    keys = two_keys()
    names = [Record(f"w{number}.{zone}", "A", 300, "192.0.2.66") for number in range(20)]
    return Signed(zone, [*records, *names], keys, Nsec3(iterations, SALT), days(-1, 30)).records, keys


def costly(zone, records, count, algorithm=14):
    """Returns (records, keys) of a zone with `count` names: d0, d1 and so on."""
    keys = two_keys(algorithm)
    names = [Record(f"d{number}.{zone}", "A", 300, "192.0.2.66") for number in range(count)]
    return Signed(zone, [*records, *names], keys, NSEC, days(-1, 30)).records, keys
