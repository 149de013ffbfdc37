# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Plays servers whose behaviour no real program has. It serves each address of zones.BADS with its behaviour.

    python3 -m hierarchy.bad PORT

The program prints "ready" when it listens. A line "ADDRESS BEHAVIOUR" on its input changes one server. It ends with its
input."""

import asyncio
import struct
import sys

from .truth import NODES
from .wire import AA, TC, Message, Record, is_at_or_below, pack_reply
from .zones import BADS, records_of, ZONES

SLOW_S = 0.3
FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = 1, 2, 3, 4, 5
ROOT_NS = [one for one in records_of(ZONES["."]) if one.name == "." and one.type == "NS"]
ELSEWHERE = Record("elsewhere.one.", "SOA", 300, "ns.elsewhere.one. hostmaster.elsewhere.one. 1 3600 600 86400 60")
POISON = [Record("www.good.one.", "A", 3600, "203.0.113.66"), Record("good.one.", "NS", 3600, "ns.poison.one.")]


def as_it_should(zones, query, flags=AA, **more):
    """Returns the answer that an honest server for these zones gives."""
    name, kind = query.question[0].lower(), query.question[1]
    zone = max((zone for zone in zones if is_at_or_below(name, zone)), key=len, default=None)
    if zone is None:
        return pack_reply(query, 0, REFUSED, **more)
    found = NODES[zone].records_at(name)
    rows = [one for one in found or () if one.type in (kind, "CNAME")]
    soa = [] if rows else [one for one in NODES[zone].records[zone] if one.type == "SOA"]
    return pack_reply(query, flags, NXDOMAIN if found is None else 0, rows, [*soa, *more.pop("authority", [])], **more)


# ---- behaviours: (zones, query, whether over TCP) -> bytes, or None for silence ----


def refuses(zones, query, is_tcp):
    return pack_reply(query, 0, REFUSED)


def fails(zones, query, is_tcp):
    return pack_reply(query, 0, SERVFAIL)


def silent(zones, query, is_tcp):
    return None


def other_zone(zones, query, is_tcp):
    """Answers with authority for an unrelated zone."""
    return pack_reply(query, AA, 0, authority=[ELSEWHERE])


def upward(zones, query, is_tcp):
    """Refers to the root, as old servers with root hints do."""
    return pack_reply(query, 0, 0, authority=ROOT_NS)


def formerr_edns(zones, query, is_tcp):
    if query.edns:
        return pack_reply(query, 0, FORMERR, edns=False)
    return as_it_should(zones, query)


def drops_edns(zones, query, is_tcp):
    return None if query.edns else as_it_should(zones, query)


def truncates(zones, query, is_tcp):
    return as_it_should(zones, query) if is_tcp else pack_reply(query, AA | TC, 0)


def nxdomain_at_ent(zones, query, is_tcp):
    """Denies a name that has names below it, against RFC 8020."""
    name = query.question[0].lower()
    for zone in zones:
        if name in NODES[zone].names and not NODES[zone].records.get(name):
            return pack_reply(query, AA, NXDOMAIN, authority=NODES[zone].records[zone][:1])
    return as_it_should(zones, query)


def knows_no_ns(zones, query, is_tcp):
    return pack_reply(query, 0, NOTIMP) if query.question[1] == "NS" else as_it_should(zones, query)


def lowers(zones, query, is_tcp):
    """Returns the question in lower case."""
    query.question = query.question[0].lower(), query.question[1]
    return as_it_should(zones, query)


def adds_poison(zones, query, is_tcp):
    """Adds wrong records of other zones to a right answer. A negative answer gets no NS record, because named would
    call it broken."""
    name, kind = query.question
    is_positive = any(one.type == kind for one in NODES[zones[0]].records.get(name.lower(), ()))
    return as_it_should(zones, query, authority=POISON[1:] if is_positive else [], additional=POISON[:1])


def leaves_out_glue(zones, query, is_tcp):
    """Refers without the server's address, unless the question is for that address."""
    name = query.question[0].lower()
    records = list(records_of(ZONES[zones[0]]))
    cuts = [one for one in records if one.type == "NS" and one.name != zones[0] and is_at_or_below(name, one.name)]
    if not cuts:
        return as_it_should(zones, query)
    glue = [one for one in records if one.name == name and one.type in ("A", "AAAA")]
    return pack_reply(query, 0, 0, authority=cuts, additional=glue)


def denies_barely(zones, query, is_tcp):
    """Denies without the AA bit and without an SOA record."""
    name, kind = query.question[0].lower(), query.question[1]
    found = NODES[zones[0]].records_at(name)
    if any(one.type == kind for one in found or ()):
        return as_it_should(zones, query)
    return pack_reply(query, 0, NXDOMAIN if found is None else 0)


def good(zones, query, is_tcp):
    return as_it_should(zones, query)


slow = good
BEHAVIOURS = {one.__name__.replace("_", "-"): one for one in (
    refuses, fails, silent, other_zone, upward, formerr_edns, drops_edns, truncates, nxdomain_at_ent, knows_no_ns,
    lowers, adds_poison, leaves_out_glue, denies_barely, good)} | {"slow": slow}


class Server(asyncio.DatagramProtocol):
    """A server at one address, over UDP and TCP."""

    def __init__(self, behaviour, zones):
        self.behaviour, self.zones = behaviour, zones

    def connection_made(self, transport):
        self.transport = transport

    async def answer(self, data, is_tcp):
        if self.behaviour == "slow":
            await asyncio.sleep(SLOW_S)
        try:
            query = Message(data)
            reply = BEHAVIOURS[self.behaviour](self.zones, query, is_tcp) if query.question else None
        except (ValueError, IndexError, struct.error):
            return None
        if reply and not is_tcp and len(reply) > (query.size_bytes if query.edns else 512):
            return pack_reply(query, AA | TC, 0)
        return reply

    def datagram_received(self, data, address):
        asyncio.get_running_loop().create_task(self.answer_datagram(data, address))

    async def answer_datagram(self, data, address):
        reply = await self.answer(data, False)
        if reply:
            self.transport.sendto(reply, address)

    async def serve_stream(self, reader, writer):
        try:
            while True:
                length = struct.unpack(">H", await reader.readexactly(2))[0]
                reply = await self.answer(await reader.readexactly(length), True)
                if reply:
                    writer.write(struct.pack(">H", len(reply)) + reply)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def main(port):
    loop, servers = asyncio.get_running_loop(), {}
    for address, bad in BADS.items():
        server = servers[address] = Server(bad.behaviour, bad.zones)
        await loop.create_datagram_endpoint(lambda server=server: server, local_addr=(address, port))
        await asyncio.start_server(server.serve_stream, address, port)
    print("ready", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        address, behaviour = line.split()
        assert behaviour in BEHAVIOURS
        servers[address].behaviour = behaviour


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
