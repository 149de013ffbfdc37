# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Makes the files of the hierarchy in a folder: zones, trust anchors, root hints, and the records of the lying server.

Children come before their parents, which need their DS sets."""

import base64
import concurrent.futures
import json
import pathlib
import subprocess

from hierarchy.run import need, zone_path
from hierarchy.wire import Record, labels_of, pack_name

from . import zones as table
from .keys import ds_data
from .signer import NSEC, Signed, days, generic

ANCHORS, RECORDS, HINTS = "anchors", "records.json", "hints"
TOOL_ALGORITHMS = {5: "RSASHA1", 7: "NSEC3RSASHA1", 8: "RSASHA256", 10: "RSASHA512", 13: "ECDSAP256SHA256",
                   14: "ECDSAP384SHA384", 15: "ED25519", 16: "ED448"}


def text_of(records):
    return "".join(f"{one.name} {one.ttl} IN {one.type} {one.data}\n" for one in records)


def anchor_line(ds):
    data = bytes.fromhex(ds.data.split()[2])
    return f"{ds.name} 3600 IN DS {int.from_bytes(data[:2], 'big')} {data[2]} {data[3]} {data[4:].hex()}\n"


def call(folder, *words):
    done = subprocess.run([need(words[0]), *map(str, words[1:])], cwd=folder, capture_output=True, text=True,
                          timeout=60)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def make_tool_keys(folder, zone):
    """Returns the base names of a KSK and a ZSK."""
    bits = ["-b", 1024] if zone.keys in (5, 7, 8, 10) else []
    if zone.tool == "ldns":
        name = TOOL_ALGORITHMS[zone.keys]
        return [call(folder, "ldns-keygen", *flag, "-a", name, *bits, zone.name).strip() for flag in (["-k"], [])]
    return [call(folder, "dnssec-keygen", "-q", *flag, "-a", TOOL_ALGORITHMS[zone.keys], *bits, zone.name).strip()
            for flag in (["-f", "KSK"], [])]


def sign_with_tool(folder, zone, records):
    """Lets another program sign a zone. Returns the zone's DS records."""
    own, out = folder / f"keys-{zone.name}", folder / zone_path(zone.name)
    own.mkdir()
    plain = own / "plain"
    plain.write_text(text_of(records))
    keys = make_tool_keys(own, zone)
    if zone.tool == "ldns":
        call(own, "ldns-signzone", "-o", zone.name, "-f", out, plain, *keys)
    else:
        nsec3 = [] if zone.denial == NSEC else ["-3", zone.denial.salt.hex() or "-", "-H", zone.denial.iterations]
        call(own, "dnssec-signzone", "-q", "-S", "-K", own, "-o", zone.name, *nsec3, "-f", out, plain)
    words = (own / f"{keys[0]}.key").read_text().replace("\t", " ").rpartition(" DNSKEY ")[2].split(";")[0].split()
    data = int(words[0]).to_bytes(2, "big") + bytes(map(int, words[1:3])) + base64.b64decode("".join(words[3:]))
    return [Record(zone.name, "DS", 3600, generic(ds_data(pack_name(zone.name), data)))]


class Builder:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ds, self.keys, self.records, self.extra = {}, {}, {}, {}

    def build(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            by_tool = [zone for zone in table.ALL if zone.tool]
            found = pool.map(lambda zone: sign_with_tool(self.folder, zone, table.records_of(zone)), by_tool)
            self.ds = {zone.name: ds for zone, ds in zip(by_tool, found)}
        for zone in sorted(table.ALL, key=lambda zone: -len(labels_of(zone.name))):
            if not zone.tool:
                self.write(zone)
        (self.folder / HINTS).write_text(table.HINTS)
        (self.folder / ANCHORS).write_text("".join(map(anchor_line, self.anchors())))
        (self.folder / RECORDS).write_text(json.dumps({"records": self.records, "extra": self.extra}))

    def write(self, zone):
        signed = self.sign(zone, self.keys_of(zone), zone.denial)
        self.records[zone.name] = signed.records if zone.keys else signed
        text = text_of(self.records[zone.name])
        (self.folder / zone_path(zone.name)).write_text(text)
        if zone.keys:
            self.extra[zone.name] = signed.extra
        if zone.name == table.TWO_PROVIDERS:
            other = self.sign(zone, table.PROVIDERS["other"], table.Nsec3(0))
            (self.folder / zone_path(zone.name)).with_suffix(".other").write_text(text_of(other.records))

    def keys_of(self, zone):
        keys = self.keys[zone.name] = zone.keys() if zone.keys else []
        self.ds[zone.name] = zone.ds(zone.name, keys) if zone.ds else []
        return keys

    def sign(self, zone, keys, denial):
        """Returns a Signed, or the records of an unsigned zone."""
        below = [record for child in table.children_of(zone.name)
                 for record in [*table.delegation(child), *self.ds[child.name]]]
        records = table.records_of(zone, below)
        if not zone.keys:
            return records
        signed = Signed(zone.name, records, keys, denial, days(*zone.valid_days))
        zone.damage(signed)
        return signed

    def anchors(self):
        """Returns the DS records of the root, and of two zones below an unsigned one."""
        right, wrong = table.ANCHORED
        return [*table.ds_records(".", self.keys["."]), *table.ds_records(right, self.keys[right]),
                *map(table.spoilt, table.ds_records(wrong, self.keys[wrong]))]


def build(folder):
    Builder(folder).build()
