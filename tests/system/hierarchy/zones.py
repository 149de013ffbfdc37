# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The hierarchy as a table: the servers, their zones and addresses, and the records. One record per line: owner,
TTL, type, data; names without a dot at their end are below the zone, @ is the zone itself. Glue and name servers
of a zone are written by hand in parent and child, as on real servers."""

from collections import namedtuple

from .wire import FIELDS, Record, is_at_or_below, parent_of

# GOOD: every question has the answer of the zone. MAY: the answer or SERVFAIL, because resolvers differ.
# FAILS: SERVFAIL, because no server can answer. SIX: GOOD if there are IPv6 addresses, else FAILS.
GOOD, MAY, FAILS, SIX = "good", "may", "fails", "six"

Plant = namedtuple("Plant", "program addresses zones")
Bad = namedtuple("Bad", "behaviour zones")
Zone = namedtuple("Zone", "name state text")

LEAF_NSD = ("good.one.", "hosts.two.", "chain.one.", "plant.one.", "zero.one.", "differs.one.", "away.one.",
            "halfdead.one.", "lonely.one.", "wild.two.", "lamehalf.one.", "otherhalf.one.", "uphalf.one.",
            "failhalf.one.", "unglued.stingy.one.")
LEAF_KNOT = ("good.one.", "hosts.two.", "big.one.", "plant.one.", "zero.one.", "away.one.", "six.one.", "wild.two.",
             "target.two.", "deep.two.", "many.two.")

# Real servers. Every one serves all of its zones at all of its addresses.
PLANTS = {
    "nsd-root": Plant("nsd", ["127.50.0.1", "fd53::1"], (".",)),
    "knot-root": Plant("knotd", ["127.50.0.2", "fd53::2"], (".",)),
    "nsd-tld": Plant("nsd", ["127.50.0.11", "fd53::11"], ("one.",)),
    "knot-tld": Plant("knotd", ["127.50.0.12", "fd53::12"], ("one.", "two.")),
    "nsd-leaf": Plant("nsd", ["127.50.1.1", "127.50.1.66", "fd53:1::1"], LEAF_NSD),
    "knot-leaf": Plant("knotd", ["127.50.1.33", "127.50.1.65", "fd53:1::33"], LEAF_KNOT),
    "nsd-deep": Plant("nsd", ["127.50.3.1", "127.50.3.2"], ("sub.good.one.", "a.b.deep.two.", "c.a.b.deep.two.")),
}

# The servers that only our own program can play. bad.py has their behaviours.
BADS = {
    "127.50.2.1": Bad("silent", ()),
    "127.50.2.2": Bad("silent", ()),
    "127.50.2.3": Bad("refuses", ()),
    "127.50.2.4": Bad("refuses", ()),
    "127.50.2.5": Bad("other-zone", ()),
    "127.50.2.6": Bad("upward", ()),
    "127.50.2.7": Bad("formerr-edns", ("noedns.one.",)),
    "127.50.2.8": Bad("drops-edns", ("dropsedns.one.",)),
    "127.50.2.9": Bad("truncates", ("tcponly.one.",)),
    "127.50.2.10": Bad("slow", ("slow.one.",)),
    "127.50.2.11": Bad("nxdomain-at-ent", ("minbreak.one.",)),
    "127.50.2.12": Bad("knows-no-ns", ("nons.one.",)),
    "127.50.2.13": Bad("fails", ()),
    "127.50.2.14": Bad("lowers", ("lowers.one.",)),
    "127.50.2.15": Bad("adds-poison", ("poison.one.",)),
    "127.50.2.16": Bad("leaves-out-glue", ("stingy.one.",)),
    "127.50.2.17": Bad("denies-barely", ("barely.one.",)),
}
# No server listens at 127.50.9.1 and 127.50.9.2.

HINTS = """\
. 3600 NS a.roots.
. 3600 NS b.roots.
a.roots. 3600 A 127.50.0.1
a.roots. 3600 AAAA fd53::1
b.roots. 3600 A 127.50.0.2
b.roots. 3600 AAAA fd53::2
"""

SOA = "@ 300 SOA ns.nic.one. hostmaster.nic.one. 1 3600 600 86400 60\n"


def lines(form, values):
    return "".join(form.format(value) + "\n" for value in values)


ROOT = HINTS + """\
one. 3600 NS ns1.nic.one.
one. 3600 NS ns2.nic.one.
ns1.nic.one. 3600 A 127.50.0.11
ns1.nic.one. 3600 AAAA fd53::11
ns2.nic.one. 3600 A 127.50.0.12
ns2.nic.one. 3600 AAAA fd53::12
two. 3600 NS ns1.nic.two.
two. 3600 NS ns2.nic.one.
ns1.nic.two. 3600 A 127.50.0.12
top 300 TXT "a name in the root zone"
"""


def delegation(zone, *servers):
    """Returns a zone's delegation in the zone above. servers: "name" (no glue) or "name=address,address"."""
    text = ""
    for server in servers:
        name, _, addresses = server.partition("=")
        text += f"{zone} 3600 NS {name}\n"
        for address in filter(None, addresses.split(",")):
            text += f"{name} 3600 {'AAAA' if ':' in address else 'A'} {address}\n"
    return text


ONE = """\
@ 3600 NS ns1.nic
@ 3600 NS ns2.nic
ns1.nic 3600 A 127.50.0.11
ns1.nic 3600 AAAA fd53::11
ns2.nic 3600 A 127.50.0.12
ns2.nic 3600 AAAA fd53::12
""" + "".join([
    delegation("good", "ns1.good=127.50.1.1,fd53:1::1", "ns2.good=127.50.1.33,fd53:1::33"),
    delegation("away", "ns1.hosts.two.", "ns2.hosts.two."),
    delegation("chain", "ns1.chain=127.50.1.1"),
    delegation("plant", "ns1.plant=127.50.1.65", "ns2.plant=127.50.1.66"),
    delegation("zero", "ns1.zero=127.50.1.1", "ns2.zero=127.50.1.33"),
    delegation("big", "ns1.big=127.50.1.33"),
    delegation("differs", "ns1.differs=127.50.1.1", "old.differs=127.50.9.1"),
    delegation("six", "ns1.six=fd53:1::33"),
    delegation("halfdead", "ns1.halfdead=127.50.2.1", "ns2.halfdead=127.50.1.1", "ns3.halfdead=127.50.9.1"),
    delegation("lonely", "ns1.hosts.two."),
    delegation("dead", "ns1.dead=127.50.2.1", "ns2.dead=127.50.9.1", "ns3.dead=127.50.2.2"),
    delegation("refused", "ns1.refused=127.50.9.1", "ns2.refused=127.50.9.2"),
    delegation("lame", "ns1.lame=127.50.2.3", "ns2.lame=127.50.2.4"),
    delegation("lamehalf", "ns1.lamehalf=127.50.2.3", "ns2.lamehalf=127.50.1.1"),
    delegation("other", "ns1.other=127.50.2.5"),
    delegation("otherhalf", "ns1.otherhalf=127.50.2.5", "ns2.otherhalf=127.50.1.1"),
    delegation("up", "ns1.up=127.50.2.6"),
    delegation("uphalf", "ns1.uphalf=127.50.2.6", "ns2.uphalf=127.50.1.1"),
    delegation("failhalf", "ns1.failhalf=127.50.2.13", "ns2.failhalf=127.50.1.1"),
    delegation("noedns", "ns1.noedns=127.50.2.7"),
    delegation("dropsedns", "ns1.dropsedns=127.50.2.8"),
    delegation("tcponly", "ns1.tcponly=127.50.2.9"),
    delegation("slow", "ns1.slow=127.50.2.10"),
    delegation("minbreak", "ns1.minbreak=127.50.2.11"),
    delegation("nons", "ns1.nons=127.50.2.12"),
    delegation("lowers", "ns1.lowers=127.50.2.14"),
    delegation("poison", "ns1.poison=127.50.2.15"),
    delegation("stingy", "ns1.stingy=127.50.2.16"),
    delegation("barely", "ns1.barely=127.50.2.17"),
    delegation("cycle", "ns1.cycle.two."),
    delegation("itself", "ns1.sub.itself"),
    delegation("nowhere", "ns1.nothing.good"),
])

TWO = """\
@ 3600 NS ns1.nic
@ 3600 NS ns2.nic.one.
ns1.nic 3600 A 127.50.0.12
""" + "".join([
    delegation("hosts", "ns1.hosts=127.50.1.1", "ns2.hosts=127.50.1.33"),
    delegation("target", "ns1.target=127.50.1.33"),
    delegation("wild", "ns1.wild=127.50.1.1,fd53:1::1", "ns2.wild=127.50.1.33"),
    delegation("deep", "ns1.deep=127.50.1.33"),
    delegation("many", "ns2.hosts"),
    delegation("cycle", "ns1.cycle.one."),
])

SIMPLE = """\
www 300 A 192.0.2.80
www 300 AAAA 2001:db8::80
words 300 TXT "{zone}"
x.y 300 A 192.0.2.81
"""

GOOD_ONE = """\
@ 3600 NS ns1
@ 3600 NS ns2
ns1 3600 A 127.50.1.1
ns1 3600 AAAA fd53:1::1
ns2 3600 A 127.50.1.33
ns2 3600 AAAA fd53:1::33
sub 3600 NS ns1.sub
ns1.sub 3600 A 127.50.3.1
@ 300 MX 10 mail
@ 300 MX 20 mail.away.one.
@ 300 A 192.0.2.1
mail 300 A 192.0.2.25
www 300 A 192.0.2.80
www 300 A 192.0.2.81
www 300 AAAA 2001:db8::80
only4 300 A 192.0.2.4
only6 300 AAAA 2001:db8::6
words 300 TXT "one" "two words"
_sip._udp 300 SRV 10 60 5060 sip
sip 300 A 192.0.2.60
1.0 300 PTR www
odd 300 TYPE65280 \\# 4 0a000001
a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z 300 A 192.0.2.26
high.ent 300 A 192.0.2.27
deep.down.below.ent 300 TXT "below three empty names"
*.wild 300 A 192.0.2.42
*.wild 300 TXT "wild"
held.wild 300 A 192.0.2.43
under.closed.wild 300 A 192.0.2.44
*.alias 300 CNAME www
alias1 300 CNAME www
alias2 300 CNAME alias1
lost 300 CNAME nothing
loop1 300 CNAME loop2
loop2 300 CNAME loop1
self 300 CNAME self
out 300 CNAME www.target.two.
long 300 CNAME l1.chain.one.
todead 300 CNAME www.dead.one.
tolame 300 CNAME www.lame.one.
moved 300 DNAME target.two.
inside 300 DNAME new
www.new 300 A 192.0.2.90
a.b.new 300 TXT "in the new place"
"""

CHAIN_ONE = """\
@ 3600 NS ns1
ns1 3600 A 127.50.1.1
l1 300 CNAME l2.target.two.
l3 300 CNAME l4.target.two.
l5 300 CNAME l6.sub.good.one.
todname 300 CNAME www.moved.good.one.
d1 300 DNAME d2.target.two.
d3 300 DNAME wild.two.
tonothing 300 CNAME nothing.target.two.
tonodata 300 CNAME words.target.two.
""" + lines("hop{0[0]} 300 CNAME hop{0[1]}", [(n, n + 1) for n in range(1, 7)]) + "hop7 300 A 192.0.2.77\n"

TARGET_TWO = """\
@ 3600 NS ns1
ns1 3600 A 127.50.1.33
www 300 A 192.0.2.100
www 300 AAAA 2001:db8::100
words 300 TXT "target"
l2 300 CNAME l3.chain.one.
l4 300 CNAME l5.chain.one.
d2 300 DNAME d3.chain.one.
a.b.c 300 A 192.0.2.101
"""

DEEP_TWO = """\
@ 3600 NS ns1
ns1 3600 A 127.50.1.33
www 300 A 192.0.2.110
a.b 3600 NS ns1.a.b
ns1.a.b 3600 A 127.50.3.2
"""

DEEPER = """\
@ 3600 NS ns1.a.b.deep.two.
www 300 A 192.0.2.111
in.the.middle 300 A 192.0.2.112
"""

# Each has more than 1232 bytes but at most 100 records, because BIND accepts no more of one type.
BIG_ONE = ("@ 3600 NS ns1\nns1 3600 A 127.50.1.33\n" +
           lines("many 300 A 198.51.100.{0}", range(1, 96)) +
           lines("large 300 TXT \"{0}\"", [f"{n:03}" + "x" * 200 for n in range(40)]) +
           lines("mx 300 MX 10 host{0}.with.a.rather.long.name.big.one.", range(60)) +
           "tomany 300 CNAME many\n")

MANY_TWO = ("@ 3600 NS ns2.hosts.two.\n" + lines("n{0} 300 A 198.51.100.7", range(100)) +
            lines("n{0} 300 TXT \"n{0}\"", range(100)))


def simple(zone, state, *servers):
    """Returns a zone of SIMPLE with its name servers ("ns1=127.50.2.7")."""
    own = delegation("@", *servers)
    return Zone(zone, state, own + SIMPLE.format(zone=zone))


ZONES = {zone.name: zone for zone in [
    Zone(".", GOOD, ROOT),
    Zone("one.", GOOD, ONE),
    Zone("two.", GOOD, TWO),
    Zone("good.one.", GOOD, GOOD_ONE),
    Zone("sub.good.one.", GOOD, delegation("@", "ns1=127.50.3.1") + "l6 300 A 192.0.2.99\n" +
         SIMPLE.format(zone="sub")),
    Zone("chain.one.", GOOD, CHAIN_ONE),
    Zone("target.two.", GOOD, TARGET_TWO),
    Zone("deep.two.", GOOD, DEEP_TWO),
    Zone("a.b.deep.two.", GOOD, DEEPER + "ns1 3600 A 127.50.3.2\nc 3600 NS ns1\n"),
    Zone("c.a.b.deep.two.", GOOD, DEEPER),
    Zone("big.one.", GOOD, BIG_ONE),
    Zone("many.two.", GOOD, MANY_TWO),
    Zone("wild.two.", GOOD, delegation("@", "ns1=127.50.1.1,fd53:1::1", "ns2=127.50.1.33") +
         "@ 300 A 192.0.2.70\n* 300 A 192.0.2.71\n* 300 MX 10 mail.good.one.\nheld 300 TXT \"held\"\n"
         "*.sub 300 CNAME www.good.one.\na.*.star 300 A 192.0.2.72\n"),
    Zone("zero.one.", GOOD, delegation("@", "ns1=127.50.1.1", "ns2=127.50.1.33").replace("3600", "0") +
         SIMPLE.format(zone="zero").replace("300", "0") + "alias 0 CNAME www\nout 0 CNAME www.good.one.\n"),
    Zone("hosts.two.", GOOD, delegation("@", "ns1=127.50.1.1", "ns2=127.50.1.33") + SIMPLE.format(zone="hosts")),
    Zone("differs.one.", GOOD, "@ 3600 NS ns1\n@ 3600 NS ns1.hosts.two.\nns1 3600 A 127.50.1.1\n" +
         SIMPLE.format(zone="differs")),
    simple("away.one.", GOOD, "ns1.hosts.two.", "ns2.hosts.two."),
    simple("lonely.one.", GOOD, "ns1.hosts.two."),
    simple("plant.one.", GOOD, "ns1=127.50.1.65", "ns2=127.50.1.66"),
    simple("six.one.", SIX, "ns1=fd53:1::33"),
    simple("halfdead.one.", GOOD, "ns1=127.50.2.1", "ns2=127.50.1.1", "ns3=127.50.9.1"),
    simple("lamehalf.one.", GOOD, "ns1=127.50.2.3", "ns2=127.50.1.1"),
    simple("otherhalf.one.", GOOD, "ns1=127.50.2.5", "ns2=127.50.1.1"),
    simple("uphalf.one.", GOOD, "ns1=127.50.2.6", "ns2=127.50.1.1"),
    simple("failhalf.one.", GOOD, "ns1=127.50.2.13", "ns2=127.50.1.1"),
    simple("noedns.one.", GOOD, "ns1=127.50.2.7"),
    simple("dropsedns.one.", MAY, "ns1=127.50.2.8"),  # few resolvers retry without EDNS at such a server
    simple("tcponly.one.", GOOD, "ns1=127.50.2.9"),
    simple("slow.one.", GOOD, "ns1=127.50.2.10"),
    simple("minbreak.one.", GOOD, "ns1=127.50.2.11"),
    simple("nons.one.", GOOD, "ns1=127.50.2.12"),
    simple("lowers.one.", GOOD, "ns1=127.50.2.14"),
    simple("poison.one.", GOOD, "ns1=127.50.2.15"),
    Zone("stingy.one.", GOOD, delegation("@", "ns1=127.50.2.16") + delegation("unglued", "ns1.unglued=127.50.1.1") +
         SIMPLE.format(zone="stingy")),
    simple("unglued.stingy.one.", GOOD, "ns1=127.50.1.1"),
    simple("barely.one.", GOOD, "ns1=127.50.2.17"),
    simple("dead.one.", FAILS, "ns1=127.50.2.1"),
    simple("refused.one.", FAILS, "ns1=127.50.9.1"),
    simple("lame.one.", FAILS, "ns1=127.50.2.3"),
    simple("other.one.", FAILS, "ns1=127.50.2.5"),
    simple("up.one.", FAILS, "ns1=127.50.2.6"),
    simple("cycle.one.", FAILS, "ns1.cycle.two."),
    simple("cycle.two.", FAILS, "ns1.cycle.one."),
    simple("itself.one.", FAILS, "ns1.sub.itself.one."),
    simple("nowhere.one.", FAILS, "ns1.nothing.good.one."),
]}


def absolute(name, zone):
    if name == "@":
        return zone
    if name.endswith("."):
        return name
    return f"{name}." if zone == "." else f"{name}.{zone}"


def records_of(zone):
    """Returns the records of a zone with its SOA, with absolute names in lower case."""
    for line in (SOA + zone.text).splitlines():
        name, ttl, kind, data = line.split(None, 3)
        words = data.split()
        for at, field in enumerate(FIELDS.get(kind, "")):
            if field == "n":
                words[at] = absolute(words[at], zone.name)
        data = data if kind == "TXT" else " ".join(words)
        yield Record(absolute(name, zone.name).lower(), kind, int(ttl), data)


def zone_file(zone):
    return "".join(f"{one.name} {one.ttl} IN {one.type} {one.data}\n" for one in records_of(zone))


def zone_of(name):
    """Returns the zone that contains a name."""
    while name not in ZONES:
        name = parent_of(name)
    return name


def cuts_of(zone):
    """Returns the names in a zone's records at which other zones begin."""
    return {name for name in ZONES if name != zone and is_at_or_below(name, zone) and name != "."}
