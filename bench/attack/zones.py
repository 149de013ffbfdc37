# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The answers of the hostile zones: the root, which also delegates to honest servers, and a function for each
hostile zone below the root. All of it is pure; hostile.py sends the answers."""

import random

from wire import (A, CNAME, DNAME, MX, NOERROR, NS, NXDOMAIN, REFUSED, SERVFAIL, TXT, Reply, a, cname, name, ns,
                  packed_names, soa, txt)

ROOT, EVIL, OTHER, HOST = "198.18.66.1", "198.18.67.1", "198.18.67.2", "198.18.67.3"
ITSELF, CUT, FAILING, DEEPEST = 10, 70, 100, 60  # parts of the addresses of further hostile servers
TLD_SERVERS = ("198.18.1.1", "198.18.1.2")  # servers of the honest hierarchy
# The kernel counts and drops all packets to these addresses. For TRUNCATING it drops only TCP packets.
SILENT, DEAD, TRUNCATING, FLOODED = "198.19.1", "198.19.2", "198.19.3", "198.19.128"
ZONES_EACH = 10  # how many zones of a kind have their own servers
GOOD, POISON = "192.0.2.1", "203.0.113.66"
BOMB_S, PULSE_S, BOMB_BYTES = 4.5, 1.6, 1000
BIG_BYTES, NAMES_BYTES = 16000, 60000
SERVERS = 13  # a zone has as many servers as the root


def silent_address(number):
    """Returns one of about 32,000 addresses where no program reads."""
    return f"198.19.{128 + number // 250 % 128}.{1 + number % 250}"  # the range begins at FLOODED


def referral(zone, servers, glue):
    return Reply(authorities=tuple(ns(zone, server) for server in servers),
                 additionals=tuple(a(server, address) for server, address in glue), is_authoritative=False)


def root(query):
    """The root of this world delegates honest names to honest servers."""
    if not query.labels:
        return Reply((ns(".", "root."),), (), (a("root.", ROOT),)) if query.kind == NS else nodata(".")
    top = query.labels[-1]
    if top == "root":
        return Reply((a(None, ROOT),)) if query.kind == A else nodata(".")
    if top in ZONES:
        return referral(f"{top}.", [f"ns.{top}."], [(f"ns.{top}.", f"{SILENT}.1" if top == "silent" else EVIL)])
    return referral(f"{top}.", [f"ns{n}.{top}." for n in range(2)],
                    [(f"ns{n}.{top}.", address) for n, address in enumerate(TLD_SERVERS)])


def nodata(zone, rcode=NOERROR):
    return Reply((), (soa(zone),), rcode=rcode)


def below(query, zone_depth):
    """Returns the name of the topmost zone_depth labels, or the queried name if it has fewer."""
    return ".".join(query.labels[-zone_depth:]) + "."


def top_of(query):
    return f"{query.labels[-1]}."


def is_at(query, zone_depth):
    return len(query.labels) <= zone_depth


def address_or_nodata(query, zone=None):
    return Reply((a(None, GOOD),)) if query.kind == A else nodata(zone or top_of(query))


def cut(query, depth, count, address_of):
    """Returns a referral to the zone with that many more labels. It has glue for all of the zone's servers."""
    zone = below(query, depth)
    servers = [f"ns{n}.{zone}" for n in range(count)]
    return referral(zone, servers, [(server, address_of(n)) for n, server in enumerate(servers)])


def number_of(label, default=0):
    digits = "".join(c for c in label if c.isdigit())
    return int(digits) if digits else default


def cut_of_a_few(query, network):
    """Returns a referral to one of ZONES_EACH zones. The servers of each have their own addresses in the network."""
    if is_at(query, 1):
        return nodata(top_of(query))
    number = number_of(query.labels[-2]) % ZONES_EACH
    return cut(query, 2, SERVERS, lambda n: f"{network}.{1 + number * SERVERS + n}")


# ---- a function for each zone: (query, address of the server) -> Reply, or None for silence ----

def flood(query, address):
    """Each name in evil.flood is in a different zone, which has 13 silent servers."""
    if is_at(query, 1):
        return nodata(top_of(query))
    if address == EVIL:
        return cut(query, 2, 1, lambda _: OTHER)
    if is_at(query, 2):
        return nodata(below(query, 2))
    return cut(query, 3, SERVERS, lambda _: silent_address(random.randrange(32000)))


def silent(_query, _):
    """The zone has one server, whose address receives no packet."""


def dead(query, _):
    """Zones with 13 silent servers each."""
    return cut_of_a_few(query, DEAD)


def failing(rcode):
    def answer(query, address):
        """Zones with 13 servers that all fail."""
        if address != EVIL:
            return Reply((), rcode=rcode, is_authoritative=False)
        return cut_of_a_few(query, f"198.18.{FAILING + rcode}")
    return answer


def truncated(query, address):
    """Zones with 13 servers that always truncate over UDP and are silent over TCP."""
    if address != EVIL:
        return Reply((txt(None, 4000),))
    return cut_of_a_few(query, TRUNCATING)


def ports(query, _):
    return nodata(top_of(query)) if is_at(query, 1) else address_or_nodata(query)


def big(query, _):
    return Reply((txt(None, BIG_BYTES),)) if query.kind == TXT else nodata(top_of(query))


def names(query, _):
    """64 KB of compressed names, over TCP."""
    return Reply(packed=packed_names(query, NAMES_BYTES)) if query.kind == MX else nodata(top_of(query))


def bomb(held_s):
    def answer(query, _):
        """All answers are large, late, and leave at the same time."""
        if query.kind != TXT or is_at(query, 1):
            return nodata(top_of(query))
        return Reply((txt(None, BOMB_BYTES),), delay_s=held_s, is_together=True)
    return answer


def chain(query, _):
    """Each name is an alias of the next: x-0.chain, x-1.chain, and so on without end."""
    return nodata(top_of(query)) if is_at(query, 1) else Reply((cname(None, following(query) + "chain."),))


def following(query):
    """Returns the next label: x-1 after x-0."""
    word, _, number = query.labels[0].rpartition("-")
    return f"{word}-{int(number or 0) + 1}." if word else f"{query.labels[0]}-1."


def zone_chain(query, address):
    """Like chain(), with each alias in a separate zone."""
    if is_at(query, 1):
        return nodata(top_of(query))
    if address == EVIL:
        return cut(query, 2, 2, lambda _: OTHER)
    if is_at(query, 2):
        return nodata(below(query, 2))
    label = following(query)
    return Reply((cname(None, f"{label}{label.replace('-', 'z')}zchain."),))


def cut_chain(query, address):
    """Like chain(), but each alias has many labels, and its upper labels are zone cuts."""
    depth = len(query.labels)
    if depth >= 12:
        label = following(query)
        top = label.rstrip(".").replace("-", "z")
        return Reply((cname(None, label + "".join(f"l{n}." for n in range(9)) + f"{top}.cchain."),))
    if address == EVIL and not is_at(query, 1):
        return cut(query, 2, 2, lambda _: OTHER)
    return nodata(top_of(query) if address == EVIL else below(query, 2))


def deep(query, _):
    """A name of a hundred labels, without any delegation."""
    return address_or_nodata(query) if len(query.labels) >= 100 else nodata(top_of(query))


def cuts(query, address):
    """Every label is a zone cut, and the servers of each cut have two fresh addresses."""
    if is_at(query, 1):
        return nodata(top_of(query))
    depth = 1 if address == EVIL else int(address.split(".")[3])
    if len(query.labels) <= depth:
        return address_or_nodata(query, below(query, depth))
    return cut(query, depth + 1, 2, lambda n: f"198.18.{CUT + n}.{depth + 1}")


def endless(query, _):
    """The server of each zone has its name in the next zone, without glue and without end."""
    if is_at(query, 1):
        return nodata(top_of(query))
    word, _, number = query.labels[-2].rpartition("z")
    return referral(below(query, 2), [f"ns.{word}z{int(number or 0) + 1}.endless."], [])


def nxns(query, _):
    """NXNSAttack: a referral to 40 servers without glue, whose names do not exist."""
    if is_at(query, 1):
        return nodata(top_of(query))
    top = query.labels[-2]
    if "v" in top:
        return nodata("nxns.", NXDOMAIN)
    return referral(below(query, 2), [f"{top}v{n}.nxns." for n in range(40)], [])


def nxns_deep(query, _):
    """Like nxns(), but each server's name is in a zone with 20 more such servers."""
    if is_at(query, 1):
        return nodata(top_of(query))
    top = query.labels[-2]
    if "v" in top:
        return nodata("nxnsdeep.", NXDOMAIN)
    if top.count("x") >= 2:
        return referral(below(query, 2), [f"{top}v{n}.nxnsdeep." for n in range(20)], [])
    return referral(below(query, 2), [f"ns.{top}x{n}.nxnsdeep." for n in range(20)], [])


def tsuname(query, _):
    """Two zones: each has its only servers in the other."""
    if is_at(query, 1):
        return nodata(top_of(query))
    top = query.labels[-2]
    other = top[:-1] + ("b" if top.endswith("a") else "a")
    return referral(below(query, 2), [f"ns{n}.{other}.tsuname." for n in range(2)], [])


def camp(query, address):
    """CAMP: a chain of aliases through zones. Each zone has ten servers without glue."""
    if is_at(query, 1):
        return nodata(top_of(query))
    zone, top = below(query, 2), query.labels[-2]
    if top.startswith("h"):  # the zone with the names of the servers
        if address == EVIL:
            return cut(query, 2, 2, lambda _: OTHER)
        return Reply((a(None, HOST),)) if query.kind == A and not is_at(query, 2) else nodata(zone)
    if address == EVIL:
        return referral(zone, [f"ns{n}.h{top}n{n}.camp." for n in range(10)], [])
    if is_at(query, 2):
        return nodata(zone)
    label = following(query)
    return Reply((cname(None, f"{label}{label.replace('-', 'z')}camp."),))


def dname(query, _):
    """A DNAME that leads to a DNAME, without end."""
    if is_at(query, 2):
        return nodata(top_of(query))
    top = query.labels[-2]
    target = f"{following_zone(top)}.dname."
    rest = ".".join(query.labels[:-3])
    return Reply(((f"{top}.dname.", DNAME, name(target)), cname(None, f"{rest}.{target}")))


def following_zone(top):
    word, _, number = top.rpartition("z")
    return f"{word}z{int(number or 0) + 1}"


def itself(query, _):
    """A server that refers to the zone that it should serve, again and again."""
    if is_at(query, 1):
        return nodata(top_of(query))
    return cut(query, 2, SERVERS, lambda n: f"198.18.67.{ITSELF + n}")


# ---- poisoning: each case tries to make the resolver believe POISON for a name outside its zone ----

def victim_zone(case):
    """Returns an honest zone that no other case uses and that has its own servers."""
    return f"z{9000 + case}.near0."


def poison(query, address):
    """Answers queries for c<case>.poison. POISONED lists the cases."""
    if query.labels[0].startswith("ns") or is_at(query, 1):
        return address_or_nodata(query) if query.labels[0].startswith("ns") else nodata("poison.")
    case = number_of(query.labels[-2])
    victim, zone = f"w1.{victim_zone(case)}", victim_zone(case)
    good = (a(None, GOOD),)
    if address == OTHER or query.kind != A:
        return Reply(good) if query.kind == A else nodata("poison.")
    lie, own, glue = a(victim, POISON), ns(zone, "ns.poison."), a("ns.poison.", EVIL)
    answers = {
        1: Reply(good, (), (lie,)),
        2: Reply((*good, lie)),
        3: Reply(good, (own,), (glue,)),
        4: Reply(good, (ns("near0.", "ns.poison."),), (glue,)),
        5: Reply(good, (ns(".", "ns.poison."),), (glue,)),
        6: Reply((), (ns("c6.poison.", f"ns0.{zone}"),), (a(f"ns0.{zone}", EVIL),), is_authoritative=False),
        7: Reply((cname(None, victim), lie)),
        8: Reply((cname(None, victim),), (own,), (glue,)),
        9: Reply((cname(None, victim), lie), (own,), (glue, lie)),
        10: Reply(((zone, DNAME, name("poison.")), *good)),
        11: Reply((lie,), question=name(victim) + b"\0\1\0\1"),
        12: Reply((), (own,), (glue,), is_authoritative=False),
        13: Reply((), (soa(zone),), rcode=NXDOMAIN),
        14: Reply((), (soa("."),), rcode=NXDOMAIN),
        15: Reply(good, (), (a(f"ns0.{zone}", EVIL), a(f"ns1.{zone}", EVIL))),
        16: Reply((cname(None, victim), (victim, CNAME, "w.poison."), a("w.poison.", POISON))),
        17: Reply((*good, (zone, CNAME, "w.poison."))),
        18: Reply((), (ns("near0.", "ns.poison."),), (glue,), is_authoritative=False),
    }
    return answers.get(case, Reply(good))


POISONED = {1: "additional record", 2: "further answer", 3: "NS of a foreign zone", 4: "NS of a TLD", 5: "NS of the root",
            6: "glue outside the zone", 7: "address behind an alias", 8: "NS behind an alias", 9: "all of these behind an alias",
            10: "DNAME of a foreign zone", 11: "another question", 12: "referral to a foreign zone",
            13: "denial signed by a foreign zone", 14: "denial by the root", 15: "addresses of a foreign zone's servers",
            16: "alias of an alias", 17: "alias of a foreign zone", 18: "referral upwards"}

def forged(query, _):
    """Sends the true answer, which arrives after those of forgeries()."""
    return Reply((a(None, GOOD),), delay_s=FORGED_S) if query.kind == A else nodata("forged.")


def forgeries(query, address):
    """Returns [(Reply, source)] for id<n>.forged and similar names: guessed ids, another source, another question,
    another case of letters."""
    lie, what = (a(None, POISON),), query.labels[0]
    if query.kind != A:
        return []
    if what.startswith("id"):
        return [(Reply(lie, number=(query.number + 1 + n * 997) & 0xFFFF), address) for n in range(GUESSES)]
    if what.startswith("source"):
        return [(Reply(lie), OTHER)]
    if what.startswith("question"):
        return [(Reply(lie, question=name("other.forged") + b"\0\1\0\1"), address)]
    return []


FORGED_S, GUESSES = 0.15, 60
FORGED = ("id", "source", "question")

ZONES = {"forged": forged, "poison": poison, "flood": flood, "silent": silent, "dead": dead, "refused": failing(REFUSED), "servfail": failing(SERVFAIL),
         "truncated": truncated, "ports": ports, "big": big, "names": names, "bomb": bomb(BOMB_S), "pulse": bomb(PULSE_S), "chain": chain, "zchain": zone_chain,
         "cchain": cut_chain, "deep": deep, "cuts": cuts, "endless": endless, "nxns": nxns, "nxnsdeep": nxns_deep,
         "tsuname": tsuname, "camp": camp, "dname": dname, "itself": itself}


def addresses():
    """Returns the addresses where the hostile servers listen."""
    yield from (ROOT, EVIL, OTHER, HOST)
    yield from (f"198.18.67.{ITSELF + n}" for n in range(SERVERS))
    yield from (f"198.18.{CUT + n}.{depth}" for n in range(2) for depth in range(2, DEEPEST + 2))
    for n in range(ZONES_EACH * SERVERS):
        yield from (f"198.18.{FAILING + rcode}.{1 + n}" for rcode in (SERVFAIL, REFUSED))
        yield f"{TRUNCATING}.{1 + n}"


def answer(query, zone, address):
    if address == ROOT:
        return root(query)
    if zone in ZONES and query.labels == ["ns", zone]:
        return Reply((a(None, EVIL),)) if query.kind == A else nodata(f"{zone}.")
    if zone in ZONES:
        return ZONES[zone](query, address)
    # This server has no zone with the name, so only a poisoned resolver sends this query.
    return Reply((a(None, POISON),)) if query.kind == A else nodata(".")
