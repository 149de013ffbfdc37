# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""What the hostile zones answer: the root, which delegates to honest servers too, and a function for each zone below
`evil.`. All of it is pure; hostile.py carries it."""

import random

from wire import A, NOERROR, NS, NXDOMAIN, REFUSED, SERVFAIL, TXT, Reply, a, cname, name, ns, soa, txt, DNAME

ROOT, EVIL, OTHER, HOST = "198.18.66.1", "198.18.67.1", "198.18.67.2", "198.18.67.3"
ITSELF, CUT, FAILING, DEEPEST = 10, 70, 100, 60  # parts of the addresses of other servers
TLD_SERVERS = ("198.18.1.1", "198.18.1.2")  # of the honest hierarchy
# No packet to these arrives: the kernel counts and drops them. Of TRUNCATING TCP alone is dropped.
SILENT, DEAD, TRUNCATING, FLOODED = "198.19.1", "198.19.2", "198.19.3", "198.19.128"
ZONES_EACH = 10  # zones of a kind that have servers of their own
GOOD, POISON = "192.0.2.1", "203.0.113.66"
BOMB_S, BOMB_BYTES = 1.6, 1000
BIG_BYTES = 16000
SERVERS = 13  # of a zone, as the root has


def silent_address(number):
    """One of some 32,000 that no program reads."""
    return f"198.19.{128 + number // 250 % 128}.{1 + number % 250}"  # from FLOODED on


def referral(zone, servers, glue):
    return Reply(authorities=tuple(ns(zone, server) for server in servers),
                 additionals=tuple(a(server, address) for server, address in glue), is_authoritative=False)


def root(query):
    """The real root of this world: honest names lead to honest servers."""
    if not query.labels:
        return Reply((ns(".", "root."),), (), (a("root.", ROOT),)) if query.kind == NS else nodata(".")
    top = query.labels[-1]
    if top == "root":
        return Reply((a(None, ROOT),)) if query.kind == A else nodata(".")
    if top == "evil":
        return referral("evil.", ["ns.evil."], [("ns.evil.", EVIL)])
    return referral(f"{top}.", [f"ns{n}.{top}." for n in range(2)],
                    [(f"ns{n}.{top}.", address) for n, address in enumerate(TLD_SERVERS)])


def nodata(zone, rcode=NOERROR):
    return Reply((), (soa(zone),), rcode=rcode)


def below(query, zone_depth):
    """The name of that many labels above which the query lies."""
    return ".".join(query.labels[-zone_depth:]) + "."


def is_at(query, zone_depth):
    return len(query.labels) <= zone_depth


def address_or_nodata(query, zone="evil."):
    return Reply((a(None, GOOD),)) if query.kind == A else nodata(zone)


def cut(query, depth, count, address_of):
    """A referral to the sub-zone of so many labels, with glue for all of its servers."""
    zone = below(query, depth)
    servers = [f"ns{n}.{zone}" for n in range(count)]
    return referral(zone, servers, [(server, address_of(n)) for n, server in enumerate(servers)])


def number_of(label, default=0):
    digits = "".join(c for c in label if c.isdigit())
    return int(digits) if digits else default


# ---- a function for each zone: (query, address of the server) -> Reply, or None for silence ----

def flood(query, _):
    """Each name is below a zone of its own, which has 13 silent servers."""
    if is_at(query, 2):
        return nodata("evil.")
    return cut(query, 3, SERVERS, lambda _: silent_address(random.randrange(32000)))


def silent(query, _):
    """One zone with one silent server."""
    if query.labels == ["evil"]:
        return nodata("evil.")
    return cut(query, 2, 1, lambda _: f"{SILENT}.1")


def dead(query, _):
    """Zones with 13 silent servers each."""
    if is_at(query, 2):
        return nodata("evil.")
    number = number_of(query.labels[-3]) % ZONES_EACH
    return cut(query, 3, SERVERS, lambda n: f"{DEAD}.{1 + number * SERVERS + n}")


def failing(rcode):
    def answer(query, address):
        """Zones with 13 servers that all fail."""
        if address != EVIL:
            return Reply((), rcode=rcode, is_authoritative=False)
        if is_at(query, 2):
            return nodata("evil.")
        number = number_of(query.labels[-3]) % ZONES_EACH
        return cut(query, 3, SERVERS, lambda n: f"198.18.{FAILING + rcode}.{1 + number * SERVERS + n}")
    return answer


def truncated(query, address):
    """Zones with 13 servers that always truncate; their TCP is silent."""
    if address != EVIL:
        return Reply((txt(None, 4000),))
    if is_at(query, 2):
        return nodata("evil.")
    number = number_of(query.labels[-3]) % ZONES_EACH
    return cut(query, 3, SERVERS, lambda n: f"{TRUNCATING}.{1 + number * SERVERS + n}")


def ports(query, _):
    return nodata("evil.") if is_at(query, 2) else address_or_nodata(query)


def big(query, _):
    return Reply((txt(None, BIG_BYTES),)) if query.kind == TXT else nodata("evil.")


def bomb(query, _):
    """All answers of a name leave late, and are large."""
    if is_at(query, 2):
        return nodata("evil.")
    return Reply((txt(None, BOMB_BYTES),), delay_s=BOMB_S) if query.kind == TXT else nodata("evil.")


def chain(query, _):
    """An alias of an alias of an alias, without end: x-0.chain.evil, x-1.chain.evil, ..."""
    return nodata("evil.") if is_at(query, 2) else Reply((cname(None, following(query) + "chain.evil."),))


def following(query):
    """x-0 -> x-1."""
    word, _, number = query.labels[0].rpartition("-")
    return f"{word}-{int(number or 0) + 1}." if word else f"{query.labels[0]}-1."


def zone_chain(query, address):
    """The same, where each alias is in a zone of its own."""
    if is_at(query, 2):
        return nodata("evil.")
    if address == EVIL:
        return cut(query, 3, 2, lambda _: OTHER)
    if is_at(query, 3):
        return nodata(below(query, 3))
    label = following(query)
    return Reply((cname(None, f"{label}{label.replace('-', 'z')}zchain.evil."),))


def cut_chain(query, address):
    """The same, where each alias has many labels, and the upper ones are cuts."""
    depth = len(query.labels)
    if depth >= 12:
        label = following(query)
        top = label.rstrip(".").replace("-", "z")
        return Reply((cname(None, label + "".join(f"l{n}." for n in range(9)) + f"{top}.cchain.evil."),))
    if address == EVIL and not is_at(query, 2):
        return cut(query, 3, 2, lambda _: OTHER)
    return nodata("evil." if address == EVIL else below(query, 3))


def deep(query, _):
    """One name of a hundred labels; nothing is delegated."""
    return address_or_nodata(query) if len(query.labels) >= 100 else nodata("evil.")


def cuts(query, address):
    """Every label is a zone cut, and its servers are two fresh addresses."""
    if is_at(query, 2):
        return nodata("evil.")
    depth = 3 if address == EVIL else int(address.split(".")[3])
    if len(query.labels) <= depth:
        return address_or_nodata(query, below(query, depth))
    return cut(query, depth + 1, 2, lambda n: f"198.18.{CUT + n}.{depth + 1}")


def endless(query, _):
    """The server of each zone is named in a further zone, without glue, without end."""
    if is_at(query, 2):
        return nodata("evil.")
    word, _, number = query.labels[-3].rpartition("z")
    return referral(below(query, 3), [f"ns.{word}z{int(number or 0) + 1}.endless.evil."], [])


def nxns(query, _):
    """NXNSAttack: a referral to 40 servers without glue, whose names do not exist."""
    if is_at(query, 2):
        return nodata("evil.")
    zone = below(query, 3)
    return referral(zone, [f"{zone.split('.', 1)[0]}v{n}.victim.evil." for n in range(40)], [])


def nxns_deep(query, _):
    """The same, where each server's name is in a zone with 20 such servers."""
    if is_at(query, 2):
        return nodata("evil.")
    top = query.labels[-3]
    if top.count("x") >= 2:
        return referral(below(query, 3), [f"{top}v{n}.victim.evil." for n in range(20)], [])
    return referral(below(query, 3), [f"ns.{top}x{n}.nxnsdeep.evil." for n in range(20)], [])


def victim(_query, _):
    return nodata("evil.", NXDOMAIN)


def tsuname(query, _):
    """Two zones whose only servers are named in each other."""
    if is_at(query, 2):
        return nodata("evil.")
    top = query.labels[-3]
    other = top[:-1] + ("b" if top.endswith("a") else "a")
    return referral(below(query, 3), [f"ns{n}.{other}.tsuname.evil." for n in range(2)], [])


def camp(query, address):
    """CAMP: a chain of aliases through zones that have ten servers without glue each."""
    if is_at(query, 2):
        return nodata("evil.")
    zone, top = below(query, 3), query.labels[-3]
    if top.startswith("h"):  # where the names of the servers are
        if address == EVIL:
            return cut(query, 3, 2, lambda _: OTHER)
        return Reply((a(None, HOST),)) if query.kind == A and not is_at(query, 3) else nodata(zone)
    if address == EVIL:
        return referral(zone, [f"ns{n}.h{top}n{n}.camp.evil." for n in range(10)], [])
    if is_at(query, 3):
        return nodata(zone)
    label = following(query)
    return Reply((cname(None, f"{label}{label.replace('-', 'z')}camp.evil."),))


def dname(query, _):
    """A DNAME to a DNAME, without end."""
    if is_at(query, 3):
        return nodata("evil.")
    top = query.labels[-3]
    target = f"{following_zone(top)}.dname.evil."
    rest = ".".join(query.labels[:-3])
    return Reply(((f"{top}.dname.evil.", DNAME, name(target)), cname(None, f"{rest}.{target}")))


def following_zone(top):
    word, _, number = top.rpartition("z")
    return f"{word}z{int(number or 0) + 1}"


def itself(query, _):
    """A server that refers to the zone that it should serve, again and again."""
    if is_at(query, 2):
        return nodata("evil.")
    return cut(query, 3, SERVERS, lambda n: f"198.18.67.{ITSELF + n}")


ZONES = {"flood": flood, "silent": silent, "dead": dead, "refused": failing(REFUSED), "servfail": failing(SERVFAIL),
         "truncated": truncated, "ports": ports, "big": big, "bomb": bomb, "chain": chain, "zchain": zone_chain,
         "cchain": cut_chain, "deep": deep, "cuts": cuts, "endless": endless, "nxns": nxns, "nxnsdeep": nxns_deep,
         "victim": victim, "tsuname": tsuname, "camp": camp, "dname": dname, "itself": itself}


def addresses():
    """Where the hostile servers listen."""
    yield from (ROOT, EVIL, OTHER, HOST)
    yield from (f"198.18.67.{ITSELF + n}" for n in range(SERVERS))
    yield from (f"198.18.{CUT + n}.{depth}" for n in range(2) for depth in range(3, DEEPEST + 2))
    for n in range(ZONES_EACH * SERVERS):
        yield from (f"198.18.{FAILING + rcode}.{1 + n}" for rcode in (SERVFAIL, REFUSED))
        yield f"{TRUNCATING}.{1 + n}"


def answer(query, zone, address):
    if address == ROOT:
        return root(query)
    if zone == "evil" or query.labels in (["evil"], ["ns", "evil"]):
        return Reply((a(None, EVIL),)) if query.kind == A and query.labels == ["ns", "evil"] else nodata("evil.")
    if zone in ZONES:
        return ZONES[zone](query, address)
    # A name of nobody's zone: only a poisoned resolver asks it here.
    return Reply((a(None, POISON),)) if query.kind == A else nodata(".")
