# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The right answer to any question over the hierarchy, computed from the table of zones without a network (RFC 1034
section 4.3.2, RFC 4592, RFC 6672), and a list of useful questions."""

import functools
from collections import namedtuple

from .wire import is_at_or_below, parent_of
from .zones import FAILS, GOOD, MAY, SIX, ZONES, cuts_of, records_of, zone_of

ALIASES_MAX = 32  # a longer chain counts as a loop

# rcode and rows: of the answer, rows as {(name, type, data)} of its answer section; state: GOOD, MAY or FAILS; is_loop:
# the aliases form a loop; zones: all zones on the way to the answer.
Truth = namedtuple("Truth", "rcode rows state is_loop zones")


class Nodes:
    """The nodes of one zone: which names exist, and their records."""

    def __init__(self, zone):
        cuts, self.zone, self.records, self.names = cuts_of(zone.name), zone.name, {}, set()
        for one in records_of(zone):
            if not any(is_at_or_below(one.name, cut) for cut in cuts):
                self.records.setdefault(one.name, []).append(one)
            name = one.name
            while name != zone.name and name not in self.names:
                self.names.add(name)
                name = parent_of(name)
        self.names.add(zone.name)

    def closest_encloser(self, name):
        while name not in self.names:
            name = parent_of(name)
        return name

    def alias_above(self, name):
        """Returns the DNAME above a name, or None."""
        while name != self.zone:
            name = parent_of(name)
            for one in self.records.get(name, ()):
                if one.type == "DNAME":
                    return one
        return None

    def records_at(self, name):
        """Returns the records of a name, either its own or a wildcard's. Returns None if the name does not exist."""
        if name in self.names:
            return self.records.get(name, [])
        star = "*." + self.closest_encloser(name) if self.closest_encloser(name) != "." else "*."
        if star not in self.names:
            return None
        return [one._replace(name=name) for one in self.records.get(star, ())]


NODES = {zone.name: Nodes(zone) for zone in ZONES.values()}


def row(record):
    return record.name, record.type, record.data


def look(name, kind):
    """Returns a zone's part of an answer: (zone, records or None if the name does not exist, next name)."""
    nodes = NODES[zone_of(name)]
    dname = nodes.alias_above(name)
    if dname:
        target = name.removesuffix(dname.name) + dname.data
        return nodes.zone, [dname, dname._replace(name=name, type="CNAME", data=target)], target
    found = nodes.records_at(name)
    if found is None:
        return nodes.zone, None, None
    alias = [one for one in found if one.type == "CNAME"]
    if alias and kind != "CNAME":
        return nodes.zone, alias, alias[0].data
    return nodes.zone, [one for one in found if one.type == kind], None


@functools.lru_cache(maxsize=10000)
def truth(name, kind, has_ipv6=True):
    """Returns the Truth about one question."""
    rows, zones, seen, is_loop = set(), [], 0, False
    while name and not is_loop:
        zone, found, target = look(name, kind)
        last = name
        zones.append(zone)
        rows |= {row(one) for one in found or ()}
        if kind == "CNAME" and target and any(one.type == "DNAME" for one in found):
            break  # the synthesised CNAME record is the answer
        seen, name = seen + 1, target
        is_loop = seen > ALIASES_MAX
    states = {ZONES[zone].state for zone in zones}
    if SIX in states:
        states = (states - {SIX}) | {GOOD if has_ipv6 else FAILS}
    if zone == "nons.one." and kind == "NS":
        states.add(FAILS)  # the zone's server does not implement it
    state = next(one for one in (FAILS, MAY, GOOD) if one in states)
    is_absent = found is None or (zone == "minbreak.one." and name is None and not found and is_denied(last))
    return Truth("NXDOMAIN" if is_absent else "NOERROR", frozenset(rows), state, is_loop, tuple(zones))


def is_denied(name):
    """Returns whether the name is an empty non-terminal of minbreak.one., which its server denies."""
    return name in NODES["minbreak.one."].names and not NODES["minbreak.one."].records.get(name)


def judge(right, rcode, rows):
    """Returns the fault of an answer, or None. rows: {(name, type, data)}."""
    if right.is_loop:  # some resolvers report the loop, others fail
        is_fine = rcode == "SERVFAIL" or (rcode == "NOERROR" and rows <= right.rows)
        return None if is_fine else f"an alias loop got {rcode}"
    if right.state == FAILS:
        return None if rcode == "SERVFAIL" else f"{rcode} where no server can answer"
    if right.state == MAY and rcode == "SERVFAIL":
        return None
    if rcode != right.rcode:
        return f"{rcode} instead of {right.rcode}"
    if rows != right.rows:
        return "; ".join(f"{what} {' '.join(one)[:60]}" for what, some in (
            ("too much:", rows - right.rows), ("missing:", right.rows - rows)) for one in sorted(some)[:3])
    return None


# ---- questions ----

COMMON = ["A", "AAAA", "NS", "SOA", "TXT", "MX", "CNAME"]
RARE = ["PTR", "SRV", "DNAME", "TYPE65280"]
# No zone has a record for these names.
SPECIAL = ["nothing.", "nothing.one.", "a.b.c.nothing.two.",
           "b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.good.one.",
           "0.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.good.one.", "any.wild.good.one.",
           "any.below.wild.good.one.", "below.held.wild.good.one.", "closed.wild.good.one.", "x.closed.wild.good.one.",
           "any.alias.good.one.", "www.moved.good.one.", "words.moved.good.one.", "nothing.moved.good.one.",
           "a.b.c.moved.good.one.", "www.inside.good.one.", "a.b.inside.good.one.", "b.inside.good.one.",
           "any.wild.two.", "x.y.wild.two.", "x.held.wild.two.", "www.sub.wild.two.", "sub.wild.two.",
           "www.d1.chain.one.", "held.d3.chain.one.", "held.d1.chain.one.", "c.d.b.deep.two.",
           "b.deep.two.", "x.b.deep.two.",
           "the.middle.a.b.deep.two.", "nic.one.", "x.top.", "y.nothing.good.one.", "star.wild.two.",
           "x.*.star.wild.two.", "n1000.many.two."]


def questions(zones=None):
    """Returns [(name, type), ...]: every name of the hierarchy with the common types, rare types where they exist, and
    some missing names. zones: only names in these."""
    names = set(SPECIAL)
    for nodes in NODES.values():
        names |= nodes.names | {absent_in(nodes.zone)}
    asked = {(name, kind) for name in names for kind in COMMON if not is_one_of_many(name) or kind in ("A", "TXT")}
    asked |= {(name, kind) for name in names for kind in RARE
              if any(one.type == kind for one in NODES[zone_of(name)].records_at(name) or ())}
    return sorted(one for one in asked if is_worth_asking(*one) and (not zones or zone_of(one[0]) in zones))


def is_worth_asking(name, kind):
    """Every failure takes seconds, and one of a kind is enough."""
    return truth(name, kind).state == GOOD or (name.startswith(("www.", "to")) and kind == "A")


def is_one_of_many(name):
    return name.endswith(".many.two.") and not name.startswith("n7")


def absent_in(zone):
    return "absent." + ("" if zone == "." else zone)
