# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Primaries that break the rules of zone transfers. The version that is in force stays, the log says why, and the
primary is not asked in a busy loop."""

import base64
import hashlib
import hmac
import socket
import ssl
import struct
import threading
import time

from conftest import eventually, free_address
from peers import Authority
from test_transfers import KEY, SECRET, keys, secret_file  # noqa: F401

SOA, NS, A, CNAME, PTR, TXT, DNAME, TSIG, IXFR, AXFR = 6, 2, 1, 5, 12, 16, 39, 250, 251, 252
QR, AA, TC = 0x8000, 0x0400, 0x0200
NOTIMP, REFUSED = 4, 5
CATALOG = "cat.test"


# ---- messages ----


def name(text):
    labels = [one for one in text.rstrip(".").split(".") if one]
    return b"".join(bytes([len(one)]) + one.encode() for one in labels) + b"\0"


def record(owner, kind, rdata, ttl=60, cls=1, length=None):
    owner = owner if isinstance(owner, bytes) else name(owner)
    return owner + struct.pack(">HHIH", kind, cls, ttl, len(rdata) if length is None else length) + rdata


def soa(zone, serial, refresh=5, retry=5, expire=3600, **more):
    numbers = struct.pack(">5I", serial, refresh, retry, expire, 60)
    return record(zone, SOA, name(f"ns.{zone}") + name(f"mail.{zone}") + numbers, **more)


def a(owner, address, **more):
    return record(owner, A, socket.inet_aton(address), **more)


def body(zone, address="192.0.2.2"):
    return [record(zone, NS, name(f"ns.{zone}")), a(f"ns.{zone}", "192.0.2.1"), a(f"www.{zone}", address)]


class Query:
    def __init__(self, data):
        self.data, self.id = data, struct.unpack_from(">H", data)[0]
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode())
            at += data[at] + 1
        self.name, self.type = ".".join(labels).lower(), struct.unpack_from(">H", data, at + 1)[0]
        self.question, self.mac, self.unsigned = data[12:at + 5], None, b""
        more = struct.unpack_from(">H", data, 10)[0]
        if more:  # the TSIG record: its owner, its algorithm and the rest
            at = data.rindex(name(KEY) + struct.pack(">H", TSIG)) + len(name(KEY)) + 10
            at += len(name("hmac-sha256"))
            size = struct.unpack_from(">H", data, at + 8)[0]
            self.mac = data[at + 10:at + 10 + size]

    def reply(self, *records, flags=QR | AA, rcode=0, question=True, **more):
        """Returns a message. Other values replace those of the query: id, and counts."""
        asked = self.question if question is True else question or b""
        counts = struct.pack(">4H", 1 if asked else 0, more.get("count", len(records)), 0, more.get("extra", 0))
        return struct.pack(">HH", more.get("id", self.id), flags | rcode) + counts + asked + b"".join(records)

    def sign(self, message, at_s=None, key=SECRET, owner=KEY):
        """Adds a signature. The messages since the last signature are covered too."""
        when = int(time.time()) if at_s is None else at_s
        timers = struct.pack(">HIH", when >> 32, when & 0xFFFFFFFF, 300)
        is_first = not self.unsigned and not hasattr(self, "is_later")
        covered = struct.pack(">H", len(self.mac)) + self.mac + self.unsigned + message
        if is_first:
            covered += name(owner) + struct.pack(">HI", 255, 0) + name("hmac-sha256") + timers + bytes(4)
        else:
            covered += timers
        self.mac = hmac.new(base64.b64decode(key), covered, hashlib.sha256).digest()
        self.is_later, self.unsigned = True, b""
        rdata = name("hmac-sha256") + timers + struct.pack(">H", len(self.mac)) + self.mac + message[:2] + bytes(4)
        counts = struct.unpack_from(">H", message, 10)[0] + 1
        return message[:10] + struct.pack(">H", counts) + message[12:] + record(owner, TSIG, rdata, ttl=0, cls=255)

    def unsigned_message(self, message):
        self.unsigned += message
        return message


def framed(message):
    return struct.pack(">H", len(message)) + message


# ---- the primary ----


class Primary(threading.Thread):
    """Serves zones of any name. Each zone has serial 1 until turn(); then its script in `scripts` answers. A script
    takes a Query and yields messages; bytes in a list have no frame. Addresses: any of 127.77.0.0/16."""

    def __init__(self, context=None):
        super().__init__(daemon=True)
        self.scripts, self.has_turned, self.visits, self.context = {}, False, {}, context
        self.listener = socket.create_server(("0.0.0.0", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.next = 0
        self.start()

    def address(self):
        """Returns an address that no other zone has, because the visits to one address are few."""
        self.next += 1
        return f"127.77.{self.next >> 8}.{self.next & 255}@{self.port}"

    def names(self):
        return [one.removesuffix(".test") for one in self.scripts]

    def run(self):
        while True:
            client = self.listener.accept()[0]
            threading.Thread(target=self.serve, args=[client], daemon=True).start()

    def serve(self, client):
        try:
            if self.context:
                client = self.context.wrap_socket(client, server_side=True)
            client.settimeout(60)
            is_counted = False
            while True:
                head = self.read(client, 2)
                query = Query(self.read(client, struct.unpack(">H", head)[0]))
                if not is_counted:
                    self.visits.setdefault(query.name, []).append(time.monotonic())
                    is_counted = True
                for frame in self.answer(query):
                    client.sendall(framed(frame) if isinstance(frame, bytes) else frame[0])
        except (OSError, ssl.SSLError, EOFError):
            pass
        finally:
            client.close()

    @staticmethod
    def read(client, size):
        data = b""
        while len(data) < size:
            more = client.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def answer(self, query):
        script = self.scripts.get(query.name) if self.has_turned else None
        if script:
            return script(query)
        if query.name in self.scripts or query.name.endswith(".test"):
            return sound(query, 1)
        return [query.reply(rcode=REFUSED)]


def finish(query, *messages):
    """Signs if the query is signed."""
    return [query.sign(one) if query.mac else one for one in messages]


def sound(query, serial, address="192.0.2.2"):
    zone = query.name
    if query.type == SOA:
        return finish(query, query.reply(soa(zone, serial)))
    if query.type == IXFR:
        return finish(query, query.reply(rcode=NOTIMP))
    return finish(query, query.reply(soa(zone, serial), *body(zone, address), soa(zone, serial)))


def transfer(make, probe=2):
    """A script whose SOA answer is sound, and whose transfers are made by make(query, zone). IXFR and AXFR get the
    same."""
    def script(query):
        if query.type == SOA:
            return finish(query, query.reply(soa(query.name, probe)))
        return make(query, query.name)
    return script


def refusing(type, rcode, make, probe):
    """Like transfer(), for one kind of transfer. The other one is refused."""
    def script(query):
        if query.type == type:
            return finish(query, query.reply(rcode=rcode))
        return transfer(make, probe)(query)
    return script


def whole(make, probe=2):
    return refusing(IXFR, NOTIMP, make, probe)


def changes(make, probe=2):
    return refusing(AXFR, REFUSED, make, probe)


def probe(make):
    """A script that answers SOA by make(query, zone)."""
    return lambda query: make(query, query.name) if query.type == SOA else sound(query, 2, "192.0.2.66")


def middle(*records, **more):
    """AXFR with these records in the middle."""
    return whole(lambda q, z: [q.reply(soa(z, 2), *body(z, "192.0.2.66"),
                                       *(one(z) if callable(one) else one for one in records), soa(z, 2), **more)])


def steps(*parts):
    """IXFR with these records: functions of the zone."""
    return changes(lambda q, z: [q.reply(*(one(z) for one in parts))])


def S(serial, **more):
    return lambda z: soa(z, serial, **more)


def H(host, address="192.0.2.66", **more):
    return lambda z: a(f"{host}.{z}", address, **more)


def endless(first, later):
    def make(query, zone):
        yield first(query, zone)
        block = framed(later(query, zone)) * 64
        while True:
            yield [block]
    return make


def trickle(query, zone):
    for frame in ([query.reply(soa(zone, 2)), query.reply(*body(zone, "192.0.2.66")), query.reply(soa(zone, 2))]):
        for one in framed(frame):
            yield [bytes([one])]


def slow_frame(query, zone):
    """The frame has a byte a second, and never ends."""
    for one in framed(query.reply(soa(zone, 2), *body(zone) * 300, soa(zone, 2))):
        yield [bytes([one])]
        time.sleep(1)


def growing(query, zone):
    yield query.reply(soa(zone, 2))
    for number in range(1 << 20):
        yield rest(query, *(a(f"n{number}x{place}.{zone}", W) for place in range(500)))


def and_close(*frames):
    for one in frames:
        yield one
    raise EOFError


W = "192.0.2.66"


def good(q, z):
    return [q.reply(soa(z, 2)), q.reply(*body(z, W)), q.reply(soa(z, 2))]


def asked(query, zone, question):
    return [query.reply(soa(zone, 2), *body(zone, W), soa(zone, 2), question=question)]


def rest(query, *records):
    return query.reply(*records, question=False)


def loop(at_self):
    return struct.pack(">H", 0xC000 | at_self)


def pointer_loop(q, z):
    at = 12 + len(q.question) + len(soa(z, 2))
    return [q.reply(soa(z, 2), record(loop(at), A, b"\1\2\3\4"), soa(z, 2))]


def pointer_ring(q, z):
    at = 12 + len(q.question) + len(soa(z, 2))
    return [q.reply(soa(z, 2), record(b"\1a" + loop(at), A, b"\1\2\3\4"), soa(z, 2))]


SLOWEST, FASTEST = S(2, refresh=0xFFFFFFFF, retry=0xFFFFFFFF, expire=0xFFFFFFFF), S(2, refresh=0, retry=0, expire=0)
LONG = ".".join(["x" * 63, "y" * 63, "z" * 63, "w" * 30])
ROUNDS = 3
WAITS = {"silent", "unended", "probesilent", "probeflood", "byteasecond"}  # no visit may have ended yet
# Scripts of zones whose version must stay.
STAYS = {
    "id": transfer(lambda q, z: [q.reply(soa(z, 2), *body(z, W), soa(z, 2), id=q.id ^ 1)]),
    "lateid": transfer(lambda q, z: [q.reply(soa(z, 2)), q.reply(*body(z, W), id=q.id ^ 1), q.reply(soa(z, 2))]),
    "question": transfer(lambda q, z: asked(q, z, name("a.test") + q.question[-4:])),
    "qtype": transfer(lambda q, z: asked(q, z, name(z) + b"\0\1\0\1")),
    "qclass": transfer(lambda q, z: asked(q, z, q.question[:-2] + b"\0\3")),
    "noquestion": transfer(lambda q, z: asked(q, z, False)),
    "twoquestions": transfer(lambda q, z: [q.data[:2] + b"\x84\0\0\2\0\1" + bytes(4) + q.question * 2 + soa(z, 2)]),
    "query": transfer(lambda q, z: [q.data]),
    "noqr": transfer(lambda q, z: [q.reply(soa(z, 2), *body(z, W), soa(z, 2), flags=AA)]),
    "opcode": transfer(lambda q, z: [q.reply(soa(z, 2), *body(z, W), soa(z, 2), flags=QR | AA | 0x2000)]),
    "tc": transfer(lambda q, z: [q.reply(soa(z, 2), *body(z, W), soa(z, 2), flags=QR | AA | TC)]),
    "laterefused": transfer(lambda q, z: [q.reply(soa(z, 2), *body(z, W)), q.reply(rcode=REFUSED)]),
    "nosoa": transfer(lambda q, z: [q.reply(*body(z, W))]),
    "empty": transfer(lambda q, z: [q.reply()]),
    "soaoutside": transfer(lambda q, z: [q.reply(soa("a.test", 2), *body(z, W), soa("a.test", 2))]),
    "soabelow": middle(S(2), lambda z: soa(f"sub.{z}", 7)),
    "twosoas": middle(S(3), H("more")),
    "lastsoa": whole(lambda q, z: [q.reply(soa(z, 2), *body(z, W), soa(z, 3))]),
    "lastsoaretry": whole(lambda q, z: [q.reply(soa(z, 2), *body(z, W), soa(z, 2, retry=9))]),
    "extra": middle(S(2), H("more")),
    "bare": whole(lambda q, z: [q.reply(soa(z, 2), soa(z, 2))]),
    "bareout": whole(lambda q, z: [q.reply(soa(z, 2), a("www.else.test", W), soa(z, 2))]),
    "older": whole(lambda q, z: [q.reply(soa(z, 0xFFFFFFFE), *body(z, W), soa(z, 0xFFFFFFFE))]),
    "same": whole(lambda q, z: [q.reply(soa(z, 1), *body(z, W), soa(z, 1))]),
    "ixfrback": steps(S(5), S(1), H("www", "192.0.2.2"), S(3), H("www"), S(3), H("www"), S(2), H("b"), S(5)),
    "ixfrfrom": steps(S(5), S(2), S(5), H("www"), S(5)),
    "ixfrgap": steps(S(5), S(1), S(3), H("www"), S(4), S(5), H("b"), S(5)),
    "ixfrself": steps(S(5), S(1), S(1), H("b"), S(5)),
    "ixfrabsent": steps(S(2), S(1), H("gone"), S(2), H("b"), S(2)),
    "ixfrabsentname": steps(S(2), S(1), H("x.y.z"), S(2), S(2)),
    "ixfrtwice": steps(S(2), S(1), H("www", "192.0.2.2"), H("www", "192.0.2.2"), S(2), S(2)),
    "ixfrwrongsoa": steps(S(2), S(1, retry=99), S(2), H("b"), S(2)),
    "ixfrall": steps(S(2), S(1), lambda z: b"".join(body(z)), S(2), S(2)),
    "ixfrolder": steps(S(0xFFFFFFFE), S(1), S(0xFFFFFFFE), H("b"), S(0xFFFFFFFE)),
    "ixfrextra": steps(S(2), S(1), S(2), H("b"), S(2), H("c")),
    "tiny": whole(endless(lambda q, z: q.reply(soa(z, 2)), lambda q, z: rest(q))),
    "tinyixfr": transfer(endless(lambda q, z: q.reply(soa(z, 2)), lambda q, z: rest(q))),
    "tinyrecords": whole(endless(lambda q, z: q.reply(soa(z, 2)), lambda q, z: rest(q, a(f"www.{z}", W)))),
    "tinyoutside": whole(endless(lambda q, z: q.reply(soa(z, 2)), lambda q, z: rest(q, a("www.else.test", W)))),
    "growing": whole(growing),
    "headers": transfer(lambda q, z: [q.reply()[:12]]),
    "short": transfer(lambda q, z: [b"\0\0\0"]),
    "zeroframe": transfer(lambda q, z: [b""]),
    "garbage": transfer(lambda q, z: [b"\xff" * 65535]),
    "zeroes": transfer(lambda q, z: [b"\0" * 65535]),
    "unended": transfer(lambda q, z: [q.reply(soa(z, 2), *body(z, W))]),
    "closed": transfer(lambda q, z: and_close(q.reply(soa(z, 2), *body(z, W)))),
    "halfframe": transfer(lambda q, z: and_close([framed(q.reply(soa(z, 2), *body(z, W), soa(z, 2)))[:-1]])),
    "silent": transfer(lambda q, z: []),
    "byteasecond": transfer(slow_frame),
    "loop": whole(pointer_loop),
    "ring": whole(pointer_ring),
    "forward": middle(lambda z: record(b"\xff\xff", A, b"\1\2\3\4")),
    "rdataloop": middle(lambda z: record(f"c.{z}", CNAME, b"\xc0\x0c"[:1] + b"\xff")),
    "label64": middle(lambda z: record(b"\x40" + b"a" * 64 + name(z), A, b"\1\2\3\4")),
    "longname": middle(lambda z: record(name(f"{LONG}." + "v" * 60 + f".{z}"), A, b"\1\2\3\4")),
    "chaos": middle(H("ch", cls=3)),
    "none": middle(H("ch", cls=254)),
    "any": middle(H("ch", cls=255)),
    "metatype": middle(lambda z: record(f"m.{z}", 255, b"")),
    "opt": middle(lambda z: record(".", 41, b"")),
    "axfrtype": middle(lambda z: record(f"m.{z}", AXFR, b"")),
    "typezero": middle(lambda z: record(f"m.{z}", 0, b"\1")),
    "ashort": middle(lambda z: record(f"m.{z}", A, b"\1\2\3")),
    "along": middle(lambda z: record(f"m.{z}", A, b"\1\2\3\4\5")),
    "aempty": middle(lambda z: record(f"m.{z}", A, b"")),
    "soashort": middle(lambda z: record(z, SOA, b"\0\0" + b"\0" * 19)),
    "soaempty": whole(lambda q, z: [q.reply(record(z, SOA, b""), *body(z, W), record(z, SOA, b""))]),
    "txtbroken": middle(lambda z: record(f"m.{z}", TXT, b"\5ab")),
    "length": middle(lambda z: record(f"m.{z}", A, b"\1\2\3\4", length=60000)),
    "counthigh": middle(H("b"), count=9),
    "countlow": middle(H("b"), count=3),
    "countmax": middle(H("b"), count=65535),
    "trailing": whole(lambda q, z: [q.reply(soa(z, 2), *body(z, W), soa(z, 2)) + b"\0"]),
    "probeid": probe(lambda q, z: [q.reply(soa(z, 2), id=q.id ^ 1)]),
    "probequestion": probe(lambda q, z: [q.reply(soa(z, 2), question=name("a.test") + q.question[-4:])]),
    "probenoaa": probe(lambda q, z: [q.reply(soa(z, 2), flags=QR)]),
    "probeempty": probe(lambda q, z: [q.reply()]),
    "probeother": probe(lambda q, z: [q.reply(soa("a.test", 2))]),
    "probenx": probe(lambda q, z: [q.reply(rcode=3)]),
    "probecname": probe(lambda q, z: [q.reply(record(z, CNAME, name("a.test")), soa("a.test", 2))]),
    "probehalf": probe(lambda q, z: [q.reply(soa(z, 0x80000001))]),
    "probeolder": probe(lambda q, z: [q.reply(soa(z, 0xFFFFFFF0))]),
    "probegarbage": probe(lambda q, z: [b"\xff" * 300]),
    "probesilent": probe(lambda q, z: []),
    "probeflood": probe(lambda q, z: ([framed(q.reply(soa(z, 1))) * 1000] for _ in range(1 << 20))),
}


def around(make):
    """AXFR with this message in the middle."""
    return whole(lambda q, z: [q.reply(soa(z, 2), *body(z, W)), make(q, z), q.reply(soa(z, 2))])


def longest(query, zone):
    """A message of 65535 bytes with one record of an unknown type."""
    size = 65535 - len(query.reply(record(f"t.{zone}", 65400, b"")))
    return query.reply(record(f"t.{zone}", 65400, b"t" * size))


def signed(query, *messages, last=True):
    """Signs the first message, and the last one."""
    ends = {0, len(messages) - 1} if last else {0}
    return [query.sign(one) if place in ends else query.unsigned_message(one) for place, one in enumerate(messages)]


def late(query, zone):
    first, second, third = good(query, zone)
    return [query.sign(first), query.sign(second, at_s=int(time.time()) - 4000), query.sign(third)]


def flipped(query, zone):
    frames = signed(query, *good(query, zone))
    return [*frames[:2], frames[2][:-8] + bytes([frames[2][-8] ^ 1]) + frames[2][-7:]]


def changed(query, zone):
    first, second, third = signed(query, *good(query, zone))
    return [first, second.replace(socket.inet_aton(W), socket.inet_aton("192.0.2.67")), third]


# Scripts of zones whose primary has a key.
SIGNED = {
    "tsigfirst": whole(lambda q, z: signed(q, *good(q, z), last=False)),
    "tsignone": whole(good),
    "tsigtime": whole(late),
    "tsigfuture": whole(lambda q, z: [q.sign(one, at_s=int(time.time()) + 4000) for one in good(q, z)]),
    "tsigflipped": whole(flipped),
    "tsigchanged": whole(changed),
    "tsigkey": whole(lambda q, z: [q.sign(one, owner="other.test") for one in good(q, z)]),
    "tsigsecret": whole(lambda q, z: [q.sign(one, key="b3RoZXI=") for one in good(q, z)]),
    "tsigrow": whole(lambda q, z: signed(q, q.reply(soa(z, 2)), *[rest(q, a(f"www.{z}", W))] * 150, q.reply(soa(z, 2)))),
    "tsigtiny": whole(endless(lambda q, z: q.sign(q.reply(soa(z, 2))), lambda q, z: rest(q))),
    "tsigixfr": changes(lambda q, z: [q.sign(q.reply(soa(z, 2), soa(z, 1), soa(z, 2), a(f"b.{z}", W))), rest(q, soa(z, 2))]),
    "tsigprobe": probe(lambda q, z: [q.reply(soa(z, 2))]),
    "tsigprobecurrent": probe(lambda q, z: [q.reply(soa(z, 1))]),
}
# Scripts of zones whose new version must come.
COMES = {
    "sound": transfer(good),
    "trickle": transfer(trickle),
    "outside": middle(lambda z: a("www.else.test", W)),
    "large": around(lambda q, z: q.reply(*(a(f"n{number}.{z}", W) for number in range(1800)))),
    "text64": around(lambda q, z: q.reply(record(f"t.{z}", TXT, (b"\xff" + b"t" * 255) * 255))),
    "unknown64": around(longest),
    "labels": middle(lambda z: a(f"{LONG}.{z}"[-230:].lstrip("."), W)),
    "ttl": middle(H("b", ttl=0xFFFFFFFF)),
    "dname": middle(lambda z: record(z, DNAME, name("else.test"))),
    "ixfr": steps(S(2), S(1), H("www", "192.0.2.2"), S(2), H("www"), S(2)),
    "slowest": whole(lambda q, z: [q.reply(*(one(z) for one in (SLOWEST, H("www"), SLOWEST)))]),
    "fastest": whole(lambda q, z: [q.reply(*(one(z) for one in (FASTEST, H("www"), FASTEST)))]),
}


def zones_of(daemon):
    return {row["zone"].rstrip("."): row for row in daemon.ask("zones")["held_zones"]}


def settings(primary, names, **more):
    return [{"name": f"{one}.test", "max-size": "1MiB", "primaries": [{"address": primary.address(), **more}]}
            for one in names]


def play(daemon, primary, dig, stays, comes=()):
    """Lets all zones get their first version, and then play their script for some rounds."""
    eventually(lambda: all(row["serial"] == 1 for row in zones_of(daemon).values()), 60)
    primary.visits.clear()
    primary.has_turned, begin = True, time.monotonic()
    eventually(lambda: all(len(primary.visits.get(f"{one}.test", ())) > 0 for one in primary.names()), 30)
    eventually(lambda: all(zones_of(daemon)[f"{one}.test"]["serial"] == 2 for one in comes), 60)
    time.sleep(max(0, begin + ROUNDS * 5 - time.monotonic()))
    rows, wrong = zones_of(daemon), []
    most = 2 * (time.monotonic() - begin) / 4 + 4  # visits are 4.5 s apart, and an IXFR that fails takes a second connection
    for one in stays:
        row, visits = rows[f"{one}.test"], len(primary.visits[f"{one}.test"])
        data = dig(daemon, f"www.{one}.test").data
        if row["serial"] != 1 or data != ["192.0.2.2"] or visits > most or one not in WAITS and not row["why"]:
            wrong.append((one, row["serial"], data, visits, row["why"]))
    assert not wrong, "\n".join(map(str, wrong))


def test_the_version_in_force_stays(nailupd, dig):
    primary = Primary()
    primary.scripts = {f"{one}.test": script for one, script in {**STAYS, **COMES}.items()}
    daemon = nailupd({"auth-zones": settings(primary, [*STAYS, *COMES])})
    play(daemon, primary, dig, STAYS, COMES)


def test_the_version_in_force_stays_where_signatures_are_wrong(nailupd, dig, secret_file):  # noqa: F811
    primary = Primary()
    primary.scripts = {f"{one}.test": script for one, script in SIGNED.items()}
    daemon = nailupd({"auth-zones": settings(primary, SIGNED, **{"tsig-key": KEY}), **keys(secret_file())})
    play(daemon, primary, dig, SIGNED)


def test_the_version_in_force_stays_over_tls(nailupd, dig, tmp_path):
    authority = Authority(tmp_path / "authority")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.sign("DNS:ns.test"))
    context.set_alpn_protocols(["dot"])
    primary = Primary(context)
    primary.scripts = {f"{one}.test": script for one, script in {**STAYS, **COMES}.items()}
    zones = settings(primary, [*STAYS, *COMES])
    for zone in zones:
        zone["primaries"] = [zone["primaries"][0]["address"] + "#ns.test"]
    daemon = nailupd({"auth-zones": zones, "upstream": {"ca-bundle": str(authority.ca_file)}})
    play(daemon, primary, dig, STAYS, COMES)
