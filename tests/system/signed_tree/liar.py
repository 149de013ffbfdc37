# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A program in front of the real servers. It changes their answers as an attacker or a broken server would.

    python3 -m signed_tree.liar RECORDS PORT

RECORDS is the file of build.py. Each zone with a `lie` has its own address. The program says "ready" when it
listens, and ends with its input. A line of input "ZONE MOOD" gives a zone another behaviour (see MOODS), and it says "done"."""

import asyncio
import json
import os
import random
import struct
import sys
import time

from hierarchy.asker import ask
from hierarchy.wire import AA, TC, Message, Record, is_at_or_below, pack_name, pack_reply, parent_of, type_number

from .signer import Nsec3, bitmap, covered_type, data_of, generic, hash_label, label_order, nsec3_hash
from .zones import LIAR_IPS, PLANT_IPS, ZONES, roles

FORMERR, NXDOMAIN = 1, 3
PROOFS = {"NSEC", "NSEC3"}
RAISED_S = 86400
POISON = Record("www.nsec-13.sec.", "A", 3600, "203.0.113.66")
RECORDS, EXTRA = {}, {}
SEED = os.environ.get("SEED", "")


def covers(record, kinds):
    """Returns whether a record has one of these types, or is a signature over one."""
    if record.type == "RRSIG":
        return covered_type(record) in map(type_number, kinds)
    return record.type in kinds


def without(section, kinds):
    return [one for one in section if not covers(one, kinds)]


def signed(zone, name, kind):
    """Returns an RRset of a zone and its signatures."""
    return [one for one in RECORDS[zone] if one.name == name and covers(one, [kind])]


class Reply:
    """The answer of the real server, which a behaviour changes."""

    def __init__(self, zone, query, message):
        self.zone, self.query = zone, query
        self.name, self.kind = query.question[0].lower(), query.question[1]
        self.flags, self.rcode = message.flags & (AA | TC), message.rcode
        self.answer, self.authority, self.additional = message.answer, message.authority, message.additional

    def packed(self):
        return pack_reply(self.query, self.flags, self.rcode, self.answer, self.authority, self.additional)

    def is_about_data(self):
        """Returns whether the answer is about data. The zone's keys stay unchanged, so that only the lie can be at
        fault."""
        return self.kind not in ("DNSKEY", "DS", "SOA")

    def deny(self, rcode, *proofs):
        """Turns the answer into a denial, with the zone's SOA record and the proofs at these (zone, name, type)."""
        self.rcode, self.answer = rcode, []
        self.authority = signed(self.zone, self.zone, "SOA")
        for proof in proofs:
            self.authority += signed(*proof)

    def at(self, label):
        return f"{label}.{self.zone}"


# ---- behaviours: change a Reply ----


def truncates(reply):
    """Changes nothing: Server.answer() does the work."""


right = strips = formerr_edns = truncates


def forges(reply):
    """Puts another address below the right signature."""
    reply.answer = [one._replace(data="203.0.113.66") if one.type == "A" else one for one in reply.answer]


def denies(reply):
    """Says that nothing exists, without a proof."""
    if reply.is_about_data():
        reply.deny(NXDOMAIN)


def redirects(reply):
    """Adds an unsigned alias that leads to an unsigned zone."""
    if reply.is_about_data():
        reply.rcode, reply.authority = 0, []
        reply.answer = [Record(reply.name, "CNAME", 300, "www.unsigned.sec.")]


MOODS = {"right": right, "strips": strips, "forges": forges, "denies": denies, "redirects": redirects}


def adds_poison(reply):
    """Adds an unsigned record of another zone."""
    reply.additional = [POISON, *reply.additional]
    if reply.answer:
        reply.authority = [*reply.authority, POISON]


def sends_twice(reply):
    """Repeats all records. Unbound refuses a DNAME record that comes twice."""
    if not any(one.type == "DNAME" for one in reply.answer):
        reply.answer = reply.answer * 2
    reply.authority = reply.authority * 2


def shuffles(reply):
    rng = random.Random(reply.name)
    for section in (reply.answer, reply.authority, reply.additional):
        rng.shuffle(section)


def adds_old_signatures(reply):
    """Adds a signature that has expired, one of an unknown algorithm and one of an unknown key before each right one."""
    def old(one):
        data = data_of(one)
        past = struct.pack(">II", *(int(time.time()) - days * 86400 for days in (10, 40)))
        return [one._replace(data=generic(data[:8] + past + data[16:])),
                one._replace(data=generic(data[:2] + b"\xfc" + data[3:])),
                one._replace(data=generic(data[:16] + b"\1\2" + data[18:]))]
    if reply.is_about_data():
        reply.answer, reply.authority = ([more for one in section for more in
                                          ([*old(one), one] if one.type == "RRSIG" else [one])]
                                         for section in (reply.answer, reply.authority))


def shouts(reply):
    """Sends the names of owners in upper case."""
    reply.answer, reply.authority = ([one._replace(name=one.name.upper()) for one in section]
                                     for section in (reply.answer, reply.authority))


def omits_soa(reply):
    reply.authority = without(reply.authority, ["SOA"])


def omits_made_cname(reply):
    """Leaves the synthesis of CNAME records below a DNAME to the resolver."""
    if any(one.type == "DNAME" for one in reply.answer):
        reply.answer = without(reply.answer, ["CNAME"])


def omits_targets(reply):
    """Sends the first alias of a chain only."""
    aliases = [one for one in reply.answer if one.type == "CNAME"]
    if aliases:
        reply.rcode = 0
        reply.answer = [one for one in reply.answer if one.name == aliases[0].name or covers(one, ["DNAME"])]
        reply.authority = [one for one in reply.authority if not covers(one, ["SOA"])]


def adds_answers(reply):
    if reply.answer:
        reply.answer = signed(reply.zone, reply.at("words"), "TXT") + reply.answer + signed(reply.zone, reply.at("x.y"), "A")


def adds_parent_proofs(reply):
    """Adds proofs of the zone above. That at the cut is left out: it would share its owner with the zone's own."""
    parent = ZONES[reply.zone].parent
    if reply.authority:
        reply.authority = [*signed(parent, parent, "NSEC"), *signed(parent, "nic." + parent, "NSEC"), *reply.authority]


def raises_ttl(reply):
    if reply.is_about_data():
        reply.answer = [one._replace(ttl=RAISED_S) for one in reply.answer]


def forges_cname(reply):
    """Makes the CNAME record below a DNAME lead to an address of the attacker."""
    if is_at_or_below(reply.name, reply.at("moved")):
        reply.answer = [one._replace(data="www.unsigned.sec.") if one.type == "CNAME" else one
                        for one in reply.answer if covers(one, ["CNAME", "DNAME"])]


def compact_denial(reply):
    """Answers as RFC 9824 specifies: one NSEC record at the name itself, and NOERROR for a missing name."""
    label = reply.name.removesuffix(f".{reply.zone}")
    if label in EXTRA[reply.zone] and not reply.answer:
        reply.deny(0)
        reply.authority += EXTRA[reply.zone][label]


def drops_proofs(reply):
    reply.authority = without(reply.authority, PROOFS)


def wrong_range(reply):
    """Denies a name with an NSEC record of other names."""
    if reply.rcode == NXDOMAIN:
        reply.deny(NXDOMAIN, (reply.zone, reply.at("alias"), "NSEC"))


def drops_apex_nsec(reply):
    """Leaves the denial of the name, but not that of the wildcard."""
    if reply.rcode == NXDOMAIN:
        reply.authority = [one for one in reply.authority if one.name != reply.zone or not covers(one, ["NSEC"])]


def long_span(reply):
    if reply.rcode == NXDOMAIN:
        reply.deny(NXDOMAIN, (reply.zone, reply.zone, "NSEC"))
        reply.authority += EXTRA[reply.zone]["span"]


def drop_role(reply, number):
    if reply.rcode == NXDOMAIN:
        gone = roles(ZONES[reply.zone], reply.name.partition(".")[0])[number]
        reply.authority = [one for one in reply.authority if not one.name.startswith(gone)]


def drops_encloser(reply):
    drop_role(reply, 0)


def drops_next(reply):
    drop_role(reply, 1)


def drops_star(reply):
    drop_role(reply, 2)


def expands_over_name(reply):
    """Answers for an existing name with the wildcard beside it."""
    if reply.name == reply.at("held.wild") and reply.kind == "A":
        star = signed(reply.zone, reply.at("*.wild"), "A")
        reply.answer = [one._replace(name=reply.name) for one in star]
        reply.authority = signed(reply.zone, reply.at("*.wild"), "NSEC")


def denies_what_is_there(reply):
    """Sends real NSEC records that do not prove the denial."""
    if (reply.name, reply.kind) == (reply.at("www"), "A"):
        reply.deny(0, (reply.zone, reply.at("www"), "NSEC"))  # this record has the bit of A
    elif reply.name == reply.at("alias"):
        reply.deny(0, (reply.zone, reply.at("alias"), "NSEC"))  # this record has the bit of CNAME
    elif reply.name == reply.at("www.moved"):
        reply.deny(NXDOMAIN, (reply.zone, reply.at("moved"), "NSEC"), (reply.zone, reply.zone, "NSEC"))  # a DNAME
    elif reply.name == reply.at("any.wild"):
        reply.deny(NXDOMAIN, (reply.zone, reply.at("held.wild"), "NSEC"), (reply.zone, reply.zone, "NSEC"))
    elif reply.name == reply.at("y"):
        reply.deny(NXDOMAIN, (reply.zone, reply.at("www"), "NSEC"), (reply.zone, reply.zone, "NSEC"))


def denies_with_parent(reply):
    """Sends the parent's NSEC record at the cut, which proves nothing about names below."""
    if reply.name == reply.at("www") and reply.kind == "A":
        parent = ZONES[reply.zone].parent
        reply.rcode, reply.answer = NXDOMAIN, []
        reply.authority = (signed(parent, parent, "SOA") + signed(parent, reply.zone, "NSEC") +
                           signed(parent, parent, "NSEC"))


def denies_with_other_zone(reply):
    """Sends NSEC3 records of another zone with the same parameters."""
    if reply.rcode == NXDOMAIN:
        other = "nsec3-0.sec."
        reply.authority = signed(reply.zone, reply.zone, "SOA") + [
            one for one in RECORDS[other] if covers(one, ["NSEC3"])][:8]


# ---- changes at random: (reply, random numbers) ----


def change_drop(reply, rng):
    section = rng.choice([one for one in (reply.answer, reply.authority) if one] or [[]])
    if section:
        section.remove(rng.choice(section))


def change_drop_set(reply, rng):
    section = rng.choice([reply.answer, reply.authority])
    if section:
        gone = rng.choice(section)
        section[:] = [one for one in section if one.name != gone.name or one.type != gone.type]


def change_rcode(reply, rng):
    reply.rcode = NXDOMAIN - reply.rcode if reply.rcode in (0, NXDOMAIN) else reply.rcode


def change_data(reply, rng):
    section = rng.choice([one for one in (reply.answer, reply.authority) if one] or [[]])
    if section:
        at = rng.randrange(len(section))
        one = section[at]
        if one.data.startswith("\\#"):
            section[at] = one._replace(data=one.data[:-1] + ("0" if one.data[-1] != "0" else "1"))
        elif one.type == "A":
            section[at] = one._replace(data="203.0.113.66")
        elif one.type in ("CNAME", "DNAME"):
            section[at] = one._replace(data=reply.at("held.wild"))


def random_set(reply, rng, kinds):
    """Returns a random RRset of the zone with its signatures."""
    names = sorted({(one.name, one.type) for one in RECORDS[reply.zone] if one.type in kinds})
    return signed(reply.zone, *rng.choice(names))


def change_more_proofs(reply, rng):
    reply.authority += random_set(reply, rng, PROOFS)


def change_other_proofs(reply, rng):
    reply.authority = without(reply.authority, PROOFS)
    for _ in range(3):
        reply.authority += random_set(reply, rng, PROOFS)


def change_empty(reply, rng):
    """Says that nothing exists, with proofs of something else."""
    reply.deny(rng.choice([0, NXDOMAIN]))
    for _ in range(3):
        reply.authority += random_set(reply, rng, PROOFS)


def change_owner(reply, rng):
    """Answers with another RRset of the zone, as if it belonged to this name. It may come from the wildcard."""
    reply.rcode = 0
    reply.answer = [one._replace(name=reply.name) for one in random_set(reply, rng, {"A", "AAAA", "TXT", "CNAME"})]


def change_star(reply, rng):
    reply.rcode = 0
    star = rng.choice(["*.wild", "*.also"])
    reply.answer = [one._replace(name=reply.name) for kind in ("A", "CNAME")
                    for one in signed(reply.zone, reply.at(star), kind)]


def change_signature(reply, rng):
    """Swaps two signatures."""
    section = rng.choice([reply.answer, reply.authority])
    places = [at for at, one in enumerate(section) if one.type == "RRSIG"]
    if len(places) > 1:
        first, second = rng.sample(places, 2)
        one, other = section[first], section[second]
        section[first], section[second] = one._replace(data=other.data), other._replace(data=one.data)


CHANGES = [found for name, found in list(globals().items()) if name.startswith("change_")]


def changes_at_random(reply):
    """Makes random changes, which are the same for the same question."""
    if reply.is_about_data():
        rng = random.Random(f"{reply.zone} {reply.name} {reply.kind}")
        for _ in range(rng.choice([1, 1, 2, 3])):
            rng.choice(CHANGES)(reply, rng)


# ---- a parent and its children, both changed at random ----


def forged(name):
    return Record(name, "A", 300, "203.0.113.66")


def forges_everything(reply):
    """Plays an unsigned zone at any name."""
    reply.rcode, reply.flags, reply.authority, reply.additional = 0, AA, [], []
    reply.answer = [forged(reply.name)] if reply.kind == "A" else []


def family_of(reply):
    """Returns the names of the zones whose records a forger near this zone has."""
    top = reply.zone.rpartition("chaos")[2]
    return [name for name in RECORDS if name.endswith("chaos" + top) or name in (".", "sec.", "nsec3-0.sec.")]


def ancestors_of(name):
    """Returns the name, the names above it, and the wildcards that may answer for it."""
    found = [name]
    while found[-1] != ".":
        found.append(parent_of(found[-1]))
    return found + [f"*.{one}".rstrip(".") + "." for one in found[1:]]


def proof_about(zone, name):
    """Returns the proof of a signed zone whose owner is the name, or whose span has it."""
    records = RECORDS[zone]
    if isinstance(ZONES[zone].denial, Nsec3):
        hashes = sorted(one.name for one in records if one.type == "NSEC3")
        own = hash_label(nsec3_hash(name, ZONES[zone].denial)) + "."
        return signed(zone, max((one for one in hashes if one[:33] <= own), default=hashes[-1]), "NSEC3")
    owners = sorted((one.name for one in records if one.type == "NSEC"), key=label_order)
    return signed(zone, max((one for one in owners if label_order(one) <= label_order(name)), key=label_order,
                            default=owners[-1]), "NSEC")


def forged_proof(zone, name, rng):
    """Returns a proof that says what the forger wants, with the signature of another one."""
    kind = "NSEC3" if isinstance(ZONES[zone].denial, Nsec3) else "NSEC"
    types = bitmap(rng.choice([["NS"], ["NS", "RRSIG", "NSEC"], ["TXT", "RRSIG", "NSEC"]]))
    if kind == "NSEC":
        owner, data = name, pack_name("zzzz." + name) + types
    else:
        own = nsec3_hash(name, ZONES[zone].denial)
        salt = ZONES[zone].denial.salt
        after = (int.from_bytes(own, "big") + 1).to_bytes(20, "big")
        owner = hash_label(own) + "." + zone
        data = bytes([1, 1, 0, ZONES[zone].denial.iterations, len(salt)]) + salt + b"\x14" + after + types
    sample = next(one for one in RECORDS[zone] if one.type == "RRSIG" and covered_type(one) == type_number(kind))
    return [Record(owner, kind, 300, generic(data)), sample._replace(name=owner)]


def family_proofs(reply, rng):
    """Returns proofs of the zones around this one: all that one of them says about the name, a forged one, or any."""
    zone = rng.choice([one for one in family_of(reply) if ZONES[one].keys])
    if rng.random() < 0.6:
        found = [proof_about(zone, name) for name in ancestors_of(reply.name) if is_at_or_below(name, zone)]
        return [one for proof in found[:6] for one in proof]
    if rng.random() < 0.5:
        return forged_proof(zone, rng.choice(ancestors_of(reply.name)[:2]), rng)
    found = []
    for _ in range(rng.randint(0, 4)):
        names = sorted({(one.name, one.type) for one in RECORDS[zone] if one.type in PROOFS})
        found += signed(zone, *rng.choice(names))
    return found


def family_soa(reply, rng):
    zone = rng.choice(family_of(reply))
    return signed(zone, zone, "SOA")


def hide_drop_ds(reply, rng):
    reply.answer, reply.authority = without(reply.answer, ["DS"]), without(reply.authority, ["DS"])


def hide_swap_proofs(reply, rng):
    reply.authority = without(reply.authority, PROOFS | {"DS"}) + family_proofs(reply, rng)


def hide_deny(reply, rng):
    reply.rcode, reply.answer = rng.choice([0, NXDOMAIN]), []
    reply.authority = family_soa(reply, rng) + family_proofs(reply, rng)
    reply.flags |= AA


def hide_redirect(reply, rng):
    """Refers to the servers of the forger, at the child or at a name nearby."""
    cut = rng.choice([one for one in (reply.name, parent_of(reply.name), reply.zone) if one != "."])
    reply.rcode, reply.answer, reply.flags = 0, [], 0
    reply.authority = [Record(cut, "NS", 300, "ns1.forger."), *family_proofs(reply, rng)]
    reply.additional = [Record("ns1.forger.", "A", 300, LIAR_IPS["forger."])]


def hide_servers(reply, rng):
    """Keeps the referral, but sends the glue of the forger."""
    reply.additional = [one._replace(data=LIAR_IPS["forger."]) if one.type == "A" else one for one in reply.additional]
    reply.authority = without(reply.authority, rng.choice([[], ["DS"], PROOFS]))


def hide_alias(reply, rng):
    reply.rcode, reply.authority, reply.flags = 0, family_proofs(reply, rng), AA
    target = rng.choice(["www.unsigned.sec.", "www." + rng.choice(family_of(reply)).lstrip("."), "x." + reply.name])
    reply.answer = [Record(reply.name, "CNAME", 300, target)]
    if rng.random() < 0.5:
        reply.answer.append(forged(target))


def hide_dname(reply, rng):
    reply.rcode, reply.authority, reply.flags = 0, family_proofs(reply, rng), AA
    owner = parent_of(reply.name)
    if owner != ".":
        reply.answer = [Record(owner, "DNAME", 300, "unsigned.sec."),
                        Record(reply.name, "CNAME", 300, reply.name.partition(".")[0] + ".unsigned.sec.")]


def hide_forge(reply, rng):
    reply.rcode, reply.flags, reply.authority = 0, AA, family_proofs(reply, rng)
    reply.answer = [forged(reply.name)] if reply.kind == "A" else []


def hide_strip(reply, rng):
    reply.answer, reply.authority = without(reply.answer, ["RRSIG"]), reply.authority
    reply.answer = [one for one in reply.answer if one.type != "RRSIG"]
    reply.authority = [one for one in reply.authority if one.type != "RRSIG"] if rng.random() < 0.5 else reply.authority


def hide_replay(reply, rng):
    """Answers with a signed RRset of this type from a zone nearby, under this name."""
    zone = rng.choice(family_of(reply))
    names = sorted({one.name for one in RECORDS[zone] if one.type in (reply.kind, "CNAME", "DNAME")})
    if names:
        name = rng.choice(names)
        found = [one for kind in {reply.kind, "CNAME", "DNAME"} for one in signed(zone, name, kind)]
        reply.rcode, reply.flags = 0, AA
        reply.answer = [one._replace(name=reply.name) for one in found] if rng.random() < 0.7 else found
        reply.authority = family_proofs(reply, rng)


HIDES = [found for name, found in list(globals().items()) if name.startswith("hide_")]


def hides_children_at_random(reply):
    """Changes answers about children, and now and then others. Keys stay as they are."""
    rng = random.Random(f"{SEED} {reply.zone} {reply.name} {reply.kind}")
    if reply.kind == "DNSKEY" and reply.name == reply.zone or rng.random() < 0.65:
        return
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice(HIDES)(reply, rng)


def forges_at_random(reply):
    rng = random.Random(f"{SEED} {reply.zone} {reply.name} {reply.kind}")
    if rng.random() < 0.5:
        return
    rng.choice([*HIDES, *HIDES, *CHANGES])(reply, rng)


def lies_about_children(reply):
    """Plays a TLD server that hides that a child is signed, or that it is not signed."""
    for child in ("noproof.lies.", "hiddends.lies.", "childds.lies."):
        if is_at_or_below(reply.name, child):
            conceal_ds(reply, child)


def conceal_ds(reply, child):
    reply.answer, proofs = without(reply.answer, ["DS"]), []
    reply.authority = without(reply.authority, ["DS", "NSEC"])
    if child == "childds.lies.":
        proofs = signed(child, child, "NSEC")  # this record is the child's own: it has no DS bit, and an SOA bit
    if reply.kind == "DS" and not any(one.type == "SOA" for one in reply.authority):
        reply.authority += signed(reply.zone, reply.zone, "SOA")
    reply.authority += proofs


BEHAVIOURS = {one.replace("_", "-"): found for one, found in list(globals().items())
              if callable(found) and any(zone.lie == one.replace("_", "-") for zone in ZONES.values())}


class Server(asyncio.DatagramProtocol):
    """Serves one zone's address, over UDP and TCP."""

    def __init__(self, zone, port):
        self.zone, self.lie, self.real = zone.name, zone.lie, (PLANT_IPS[zone.plant], port)

    def connection_made(self, transport):
        self.transport = transport

    async def answer(self, data, is_tcp):
        query = Message(data)
        if self.lie == "formerr-edns" and query.edns:
            return pack_reply(query, 0, FORMERR, edns=False)
        if self.lie == "truncates" and not is_tcp:
            return pack_reply(query, AA | TC, 0)
        dnssec_ok = query.dnssec_ok and self.lie not in ("strips", "formerr-edns")
        reply = Reply(self.zone, query, await ask(self.real, *query.question, 0, dnssec_ok))
        (MOODS.get(self.lie) or BEHAVIOURS[self.lie])(reply)
        packed = reply.packed()
        if not is_tcp and len(packed) > (query.size_bytes if query.edns else 512):
            return pack_reply(query, AA | TC, 0)
        return packed

    def datagram_received(self, data, address):
        asyncio.get_running_loop().create_task(self.answer_datagram(data, address))

    async def answer_datagram(self, data, address):
        try:
            self.transport.sendto(await self.answer(data, False), address)
        except (OSError, ValueError, struct.error, asyncio.IncompleteReadError) as error:
            print(f"{self.zone}: {error!r}", file=sys.stderr)

    async def serve_stream(self, reader, writer):
        try:
            while True:
                length = struct.unpack(">H", await reader.readexactly(2))[0]
                reply = await self.answer(await reader.readexactly(length), True)
                writer.write(struct.pack(">H", len(reply)) + reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            writer.close()


async def main(path, port):
    with open(path, encoding="utf-8") as file:
        stored = json.load(file)
    for name, records in stored["records"].items():
        RECORDS[name] = [Record(*one) for one in records]
    for name, extra in stored["extra"].items():
        EXTRA[name] = {label: [Record(*one) for one in records] for label, records in extra.items()}
    loop, servers = asyncio.get_running_loop(), {}
    for name, address in LIAR_IPS.items():
        server = servers[name] = Server(ZONES[name], port)
        await loop.create_datagram_endpoint(lambda server=server: server, local_addr=(address, port))
        await asyncio.start_server(server.serve_stream, address, port)
    print("ready", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        name, mood = line.split()
        servers[name].lie = mood
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
