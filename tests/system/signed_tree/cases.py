# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The right result for each question over the signed hierarchy, with the reason in the RFCs, and the known
differences of the peers.

SECURE: the answer with AD. INSECURE: the answer without AD. BOGUS: SERVFAIL with one of the extended errors `ede`.
Two of them joined by "or" leave the choice to the resolver. SHA1 is SECURE for resolvers that accept SHA-1, else
INSECURE. rows: {(type, data)} of the answer section without signatures; None is not compared."""

import dataclasses

from . import zones as table
from .signer import Nsec3
from .zones import ZONES, absent_label, zone_of

SECURE, INSECURE, BOGUS, SHA1 = "secure", "insecure", "bogus", "sha1"
EITHER = "secure or bogus"

# Extended errors (RFC 8914).
OTHER = 0
ALGORITHM, DIGEST, ANY_BOGUS, EXPIRED, EARLY, NO_KEY, NO_SIGNATURE, NO_ZONE_BIT, NO_PROOF = 1, 2, 6, 7, 8, 9, 10, 11, 12
NO_SERVER, SWAPPED, ITERATIONS = 22, 25, 27


@dataclasses.dataclass
class Case:
    name: str
    type: str
    verdict: str
    rcode: str = "NOERROR"
    rows: frozenset | None = None
    ede: tuple = ()
    why: str = ""
    ttl_max: int | None = None

    @property
    def question(self):
        return self.name, self.type


def case(zone, label, kind, verdict, *rows, rcode="NOERROR", ede=(), **more):
    """Makes a case. rows: "A 192.0.2.80", with absolute names. No rows: an empty answer section."""
    name = zone if label == "@" else f"{label}.{zone}" if zone != "." else f"{label}."
    found = None if rows == (ANYTHING,) else frozenset(tuple(row.split(None, 1)) for row in rows)
    return Case(name, kind, verdict, rcode, found, ede, **more)


ANYTHING = "anything"
A, STAR_A, NEW_A = "A 192.0.2.80", "A 192.0.2.42", "A 192.0.2.90"


def common(zone, verdict=SECURE, denial=None, ede=(), has_ds=True):
    """Returns the questions for a zone with the records of zones.COMMON. denial: the verdict of NXDOMAIN answers and
    of wildcards, which opt-out makes insecure."""
    denial = denial or verdict

    def one(label, kind, *rows, verdict=verdict, **more):
        return case(zone, label, kind, verdict, *rows, ede=ede, **more)

    yield one("www", "A", A)
    yield one("www", "AAAA", "AAAA 2001:db8::80")
    yield one("www", "MX")
    yield one("y", "A", why="an empty non-terminal")
    yield one("x.y", "A", "A 192.0.2.81")
    yield one("zzz", "A", rcode="NXDOMAIN", verdict=denial)
    yield one("b.a.zzz", "A", rcode="NXDOMAIN", verdict=denial)
    yield one("absent.held.wild", "A", rcode="NXDOMAIN", verdict=denial, why="held.wild is the closest encloser")
    yield one("any.wild", "A", STAR_A, verdict=denial)
    yield one("b.a.wild", "A", STAR_A, verdict=denial)
    yield one("any.wild", "TXT", verdict=denial, why="the wildcard exists, and has no TXT")
    yield one("*.wild", "A", STAR_A, why="the wildcard itself: nothing was expanded")
    yield one("alias", "A", f"CNAME www.{zone}", A)
    yield one("lost", "A", f"CNAME nothing.{zone}", rcode="NXDOMAIN", verdict=denial)
    yield one("any.also", "A", f"CNAME www.{zone}", A, verdict=denial)
    yield one("b.a.also", "A", f"CNAME www.{zone}", A, verdict=denial)
    yield one("x.alias", "A", rcode="NXDOMAIN", verdict=denial, why="a name below an alias")
    yield one("www.moved", "A", f"DNAME new.{zone}", f"CNAME www.new.{zone}", NEW_A)
    yield one("b.moved", "A", f"DNAME new.{zone}", f"CNAME b.new.{zone}", rcode="NXDOMAIN", verdict=denial)
    yield one("b.a.moved", "A", f"DNAME new.{zone}", f"CNAME b.a.new.{zone}", rcode="NXDOMAIN", verdict=denial)
    yield one("@", "SOA", ANYTHING)
    yield one("@", "NS", ANYTHING)
    if has_ds:
        yield one("@", "DNSKEY", ANYTHING)
        yield one("@", "DS", ANYTHING, verdict=SECURE, why="the DS set is the parent's")


def few(zone, verdict=SECURE, ede=(), denial=None, **more):
    """Returns three questions: an existing name, a missing type and a missing name."""
    yield case(zone, "www", "A", verdict, A, ede=ede, **more)
    yield case(zone, "www", "MX", verdict, ede=ede, **more)
    yield case(zone, "zzz", "A", denial or verdict, rcode="NXDOMAIN", ede=ede, **more)


def only_www(zone, ede, why=""):
    """Only the signature of www A is broken."""
    yield case(zone, "www", "A", BOGUS, A, ede=ede, why=why)
    yield case(zone, "www", "AAAA", SECURE, "AAAA 2001:db8::80")
    yield case(zone, "zzz", "A", SECURE, rcode="NXDOMAIN")
    yield case(zone, "alias", "A", BOGUS, f"CNAME www.{zone}", A, ede=ede)


def wild(zone):
    yield case(zone, "x", "A", SECURE, "A 192.0.2.70")
    yield case(zone, "b.a.x", "A", SECURE, "A 192.0.2.70")
    yield case(zone, "x", "TXT", SECURE, why="the wildcard has no TXT")
    yield case(zone, "x.www", "A", SECURE, rcode="NXDOMAIN")
    yield case(zone, "held", "A", SECURE, why="an existing name hides the wildcard")
    yield case(zone, "c", "A", SECURE, why="an empty non-terminal hides the wildcard")
    yield case(zone, "b.c", "A", SECURE)
    yield case(zone, "x.c", "A", SECURE, rcode="NXDOMAIN")
    yield case(zone, "x.sub", "A", SECURE, f"CNAME www.{zone}", A)
    yield case(zone, "*", "A", SECURE, "A 192.0.2.70")
    yield case(zone, "x", "MX", SECURE, f"MX 10 www.{zone}")


def deep(zone):
    for label in ("it", "of.it", "middle.of.it", "the.middle.of.it", "record", "any.record",
                  "names.without.any.record"):
        yield case(zone, label, "A", SECURE, why="an empty non-terminal")
    yield case(zone, "in.the.middle.of.it", "A", SECURE, "A 192.0.2.82")
    yield case(zone, "x.middle.of.it", "A", SECURE, rcode="NXDOMAIN")
    yield case(zone, "x.in.the.middle.of.it", "A", SECURE, rcode="NXDOMAIN")
    yield case(zone, "very.long.chain.of.empty.names.without.any.record", "TXT", SECURE, 'TXT "deep"')


def cross(zone):
    """Aliases between zones. The verdict is the worst verdict of the parts."""
    def one(label, verdict, *rows, **more):
        return case(zone, label, "A", verdict, *rows, **more)

    yield one("tosecure", SECURE, "CNAME www.nsec-13.sec.", A)
    yield one("toinsecure", INSECURE, "CNAME www.unsigned.sec.", A)
    yield one("tobogus", BOGUS, ede=(ANY_BOGUS,))
    yield one("tonothing", SECURE, "CNAME zzz.nsec3-0.sec.", rcode="NXDOMAIN")
    yield one("tonodata", SECURE, "CNAME words.nsec3-0.sec.")
    yield one("towild", SECURE, "CNAME any.wild.nsec3-0.sec.", STAR_A)
    yield one("toisland", INSECURE, "CNAME www.island.plain.", A)
    yield one("chain", SECURE, "CNAME alias.nsec-13.sec.", "CNAME www.nsec-13.sec.", A)
    yield one("www.dsecure", SECURE, "DNAME nsec-13.sec.", "CNAME www.nsec-13.sec.", A)
    yield one("www.dinsecure", INSECURE, "DNAME unsigned.sec.", "CNAME www.unsigned.sec.", A)
    yield one("www.dbogus", BOGUS, ede=(ANY_BOGUS,))
    yield case(zone, "tosecure", "CNAME", SECURE, "CNAME www.nsec-13.sec.")
    yield case(zone, "tobogus", "CNAME", SECURE, "CNAME www.flip.sec.")


def rare(zone):
    """Types that validators treat in a special way."""
    yield case(zone, "www", "DS", SECURE, why="no cut, and so the zone itself denies it")
    yield case(zone, "y", "DS", SECURE, why="an empty non-terminal")
    yield case(zone, "absent", "DS", SECURE, rcode="NXDOMAIN")
    yield case(zone, "alias", "DS", SECURE, f"CNAME www.{zone}")
    yield case(zone, "www", "DNSKEY", SECURE, why="no apex")
    yield case(zone, "www", "TYPE255", SECURE, ANYTHING, why="ANY: whatever RRsets come, each has a signature")
    yield case(zone, "www", "RRSIG", INSECURE, ANYTHING, why="RFC 4035 section 2.2: a signature has no signature")
    yield case(zone, "www", "TYPE65280", SECURE, why="a type that no server knows")


def unsigned(zone):
    yield from common(zone, INSECURE, has_ds=False)
    yield case(zone, "tosecure", "A", INSECURE, "CNAME www.nsec-13.sec.", A, why="the alias has no signature")
    yield case(zone, "tobogus", "A", BOGUS, ede=(ANY_BOGUS,), why="an alias changes nothing about its target")
    yield case(zone, "www.dbogus", "A", BOGUS, ede=(ANY_BOGUS,))


def unproven_ds(zone):
    """The proof that the DS set is absent is missing, so the zone below may be signed."""
    yield case(zone, "www", "A", BOGUS, ede=(NO_PROOF, NO_SIGNATURE, ANY_BOGUS, NO_KEY))


def all_cases():
    yield case(".", "top", "TXT", SECURE, 'TXT "a name in the root zone"')
    yield case(".", "@", "DNSKEY", SECURE, ANYTHING)
    yield case(".", "nothing", "A", SECURE, rcode="NXDOMAIN")
    yield case(".", "b.a.nothing", "A", SECURE, rcode="NXDOMAIN")
    yield case("sec.", "x.star", "TXT", SECURE, 'TXT "a wildcard in the zone sec"')
    yield case("sec.", "nothing", "A", SECURE, rcode="NXDOMAIN")
    yield case("sec.", "@", "DS", SECURE, ANYTHING)
    yield case("plain.", "@", "DS", SECURE, why="the root proves that there is none")
    yield from right_cases()
    yield from odd_cases()
    yield from insecure_cases()
    yield from ds_cases()
    yield from signature_cases()
    yield from denial_cases()


def right_cases():
    for zone in table.ALL:
        if zone.tool:
            yield from common(zone.name, SHA1 if zone.keys in (5, 7) else SECURE,
                              ede=(ALGORITHM,) if zone.keys in (5, 7) else ())
    for label in ("own-8", "own-14", "own-16", "csk", "rsa2048", "zskonly", "standby", "manykeys", "collide", "twoalgs",
                  "tcp", "two"):
        yield from few(f"{label}.sec.")
    for label in ("nsec3-0", "nsec3-10", "nsec3-50"):
        yield from common(f"{label}.sec.")
    why = "RFC 5155 section 9.2: AD must not be set where an opt-out record covers the next closer name"
    for zone in ("nsec3-out.sec.", "opt."):
        yield from (dataclasses.replace(one, why=why) if one.verdict == INSECURE else one
                    for one in common(zone, denial=INSECURE))
    yield from common("three.")
    for zone in ("wild.sec.", "wild3.sec."):
        yield from wild(zone)
    for zone in ("deep.sec.", "deep3.sec."):
        yield from deep(zone)
    yield from cross("cross.sec.")
    yield from rare("nsec-13.sec.")
    yield from rare("nsec3-0.sec.")
    yield from few("onealg.sec.", why="RFC 6840 section 5.11: any one path suffices")
    yield from few("onewrong.sec.", why="RFC 4035 section 5.3.3: one signature that verifies suffices")
    for zone in ("hidden.sec.", "child.hidden.sec.", "a.deep.hidden.sec."):
        yield from few(zone, why="parent and child are at one server, which sends no referral")
    for zone in ("bare.hidden.sec.", "island.hidden.sec."):
        yield from few(zone, INSECURE)
        yield case(zone, "@", "DS", SECURE)
    yield from few("hidden3.sec.", denial=INSECURE)
    yield from few("child.hidden3.sec.")
    yield from few("bare.hidden3.sec.", INSECURE)
    yield case("hidden.sec.", "deep", "A", SECURE, why="an empty non-terminal above a zone cut")
    yield from only_www("broken.hidden.sec.", (ANY_BOGUS,))
    for zone in (table.MOODY, table.HALF_MOODY, *table.ROLLING, *table.BRIEF):
        yield from few(zone, why="tests/soak/signed.py changes the zone; here it is right")
    yield case("short.sec.", "www", "A", SECURE, A, ttl_max=900)
    yield case("short.sec.", "@", "NS", SECURE, ANYTHING, ttl_max=900)
    yield case("long-ttl.sec.", "www", "A", SECURE, A, ttl_max=60, why="RFC 4035 section 5.3.3 caps the TTL")
    yield case("raised.sec.", "www", "A", SECURE, A, ttl_max=300)
    yield case("raised.sec.", "alias", "A", SECURE, "CNAME www.raised.sec.", A, ttl_max=300)
    yield from few("poison.sec.", why="a record that does not verify and proves nothing is removed")
    yield case("compact.sec.", "absent", "A", SECURE, why="RFC 9824: NXNAME; the rcode is what the server sends")
    yield case("compact.sec.", "www", "MX", SECURE)
    yield case("compact.sec.", "www", "A", SECURE, A)
    yield case("forged.sec.", "www.moved", "A", EITHER, "DNAME new.forged.sec.", "CNAME www.new.forged.sec.", NEW_A,
               ede=(ANY_BOGUS,), why="the CNAME is made from the DNAME, never believed")
    yield case("forged.sec.", "alias", "A", SECURE, "CNAME www.forged.sec.", A)


def odd_cases():
    """Right zones with rare names, rare keys, or both."""
    for zone in ("salt1.sec.", "salt255.sec.", "hash.sec.", "ttl0.sec.", "ttl03.sec.", "twozsks.sec."):
        yield from common(zone)
    yield from rare("ttl0.sec.")
    for name in table.SLOPPY:  # 0: with NSEC, 1: with NSEC3
        for number in (0, 1):
            yield from common(f"{name}{number}.sec.")
    for zone in ("twice.sec.", "twice3.sec."):
        yield from (dataclasses.replace(one, why="RFC 2181 section 5: a duplicate record counts once")
                    for one in common(zone))
    for name in ("hash.sec.", "www.hash.sec."):
        label = table.hash_label(table.nsec3_hash(name, Nsec3(0)))
        yield case("hash.sec.", label, "A", SECURE, A, why="the owner of an NSEC3 record, too")
        yield case("hash.sec.", label, "TXT", SECURE)
        yield case("hash.sec.", label, "DS", SECURE)
        yield case("hash.sec.", f"x.{label}", "A", SECURE, rcode="NXDOMAIN")
    for zone in ("stars.sec.", "stars3.sec."):
        yield from stars(zone)
    yield from hops("hops.sec.")
    for zone in ("apexdname.sec.", "apexdname3.sec."):
        yield case(zone, "@", "TXT", SECURE, ANYTHING)
        yield case(zone, "@", "A", SECURE)
        yield case(zone, "@", "DNAME", SECURE, ANYTHING)
        yield case(zone, "www", "A", SECURE, "DNAME new.nsec-13.sec.", "CNAME www.new.nsec-13.sec.", NEW_A)
        yield case(zone, "b.www", "A", SECURE, "DNAME new.nsec-13.sec.", "CNAME b.www.new.nsec-13.sec.", rcode="NXDOMAIN")
        yield case(zone, "www", "MX", SECURE, "DNAME new.nsec-13.sec.", "CNAME www.new.nsec-13.sec.")
        yield case(zone, "www", "DS", SECURE, "DNAME new.nsec-13.sec.", "CNAME www.new.nsec-13.sec.")
        yield case(zone, "www", "CNAME", SECURE, ANYTHING)
    yield case("skew.sec.", "www", "A", EITHER, A, ede=(EARLY,), why="begins in half an hour")
    yield case("skew.sec.", "words", "TXT", EITHER, ANYTHING, ede=(EXPIRED,), why="ended half an hour ago")
    yield from few("flipns.sec.", why="neither NS nor its address is needed to answer")
    yield case("flipns.sec.", "@", "NS", BOGUS, ede=(ANY_BOGUS,))
    yield case("flipns.sec.", "ns1", "A", BOGUS, ede=(ANY_BOGUS,))
    for label in ("collideksk", "revokedandnew", "nextzsk", "twoksks", "newalg"):
        yield from few(f"{label}.sec.")
        yield case(f"{label}.sec.", "@", "DNSKEY", SECURE, ANYTHING)
    for zone in table.STAIRS:
        yield from few(zone, why="six zones are at one server, which sends no referral")
        yield case(zone, "@", "DS", SECURE, ANYTHING)
    yield case("ent3.sec.", "ent", "A", INSECURE, why="RFC 5155 erratum 3441: an opt-out span hides it")
    yield case("ent3.sec.", "below", "A", SECURE)
    for zone in ("bare.ent.ent3.sec.", "island.ent.ent3.sec."):
        yield from few(zone, INSECURE)
        yield case(zone, "@", "DS", INSECURE)
    yield from few("signed.below.ent3.sec.")
    for kind in ("NSEC", "NSEC3PARAM", "DS", "NS", "SOA"):
        yield case("child.hidden.sec.", "@", kind, SECURE, *([] if kind == "NSEC3PARAM" else [ANYTHING]))
    yield case("nsec-13.sec.", "alias", "NSEC", SECURE, ANYTHING, why="NSEC is beside the CNAME")
    yield case("nsec-13.sec.", "alias", "DNSKEY", SECURE, "CNAME www.nsec-13.sec.")
    yield case("nsec-13.sec.", "alias", "RRSIG", INSECURE, ANYTHING)
    yield case("nsec3-0.sec.", "@", "NSEC3PARAM", SECURE, ANYTHING)
    yield case(".", "@", "DS", SECURE)
    yield case(".", "@", "NSEC", SECURE, ANYTHING)
    yield case(".", "@", "NS", SECURE, ANYTHING)
    yield case(".", "@", "SOA", SECURE, ANYTHING)


def stars(zone):
    """Names with an asterisk in the middle (RFC 4592 section 2)."""
    def one(label, *rows, **more):
        return case(zone, label, more.pop("kind", "A"), more.pop("verdict", SECURE), *rows, **more)

    yield one("sub.*.empty", "A 192.0.2.71")
    yield one("*.empty", why="an empty non-terminal")
    yield one("x.empty", why="its wildcard is an empty non-terminal")
    yield one("b.a.empty", why="its wildcard is an empty non-terminal")
    yield one("x.sub.*.empty", rcode="NXDOMAIN")
    yield one("x.*.empty", rcode="NXDOMAIN")
    yield one("x.*.nested", "A 192.0.2.72")
    yield one("*.*.nested", "A 192.0.2.72")
    yield one("b.a.*.nested", "A 192.0.2.72")
    yield one("a.nested", why="its wildcard is an empty non-terminal")
    yield one("b.a.nested", why="its wildcard is an empty non-terminal")
    yield one("x.cut.*.wide", "A 192.0.2.73")
    yield one("x.cut.*.wide", kind="TXT")
    yield one("cut.*.wide")
    yield one("x.*.wide", rcode="NXDOMAIN")
    yield one("x.wide", 'TXT "wide"', kind="TXT")
    yield one("cut.x.wide", 'TXT "wide"', kind="TXT")
    yield one("x.cut.x.wide", kind="A")
    yield one("a.chain", "CNAME x.next." + zone, "CNAME www." + zone, "A 192.0.2.80")
    yield one("c.b.a.chain", "CNAME x.next." + zone, "CNAME www." + zone, "A 192.0.2.80")
    yield one("a.chain", "CNAME x.next." + zone, "CNAME www." + zone, kind="MX")
    yield one("*.chain", "CNAME x.next." + zone, "CNAME www." + zone, "A 192.0.2.80")
    yield one("a.away", "CNAME www.unsigned.sec.", A, verdict=INSECURE)
    yield one("a.bad", verdict=BOGUS, ede=(ANY_BOGUS,))
    yield one("a.lost", "CNAME absent.www." + zone, rcode="NXDOMAIN")
    yield one("a.chain", "CNAME x.next." + zone, "CNAME www." + zone, kind="DS")


def hops(zone):
    """Aliases through several zones, up and down."""
    def one(label, verdict, *rows, **more):
        return case(zone, label, more.pop("kind", "A"), verdict, *rows, **more)

    yield one("hop1", INSECURE, "CNAME hop.unsigned.sec.", "CNAME tosecure.cross.sec.", "CNAME www.nsec-13.sec.", A)
    yield one("hop2", SECURE, "CNAME www.moved.nsec3-0.sec.", "DNAME new.nsec3-0.sec.", "CNAME www.new.nsec3-0.sec.", NEW_A)
    yield one("hop3", INSECURE, "CNAME any.also.nsec3-out.sec.", "CNAME www.nsec3-out.sec.", A)
    yield one("hop4", INSECURE, "CNAME any.wild.nsec3-out.sec.", STAR_A)
    yield one("hop5", SECURE, "CNAME tosecure.cross.sec.", "CNAME www.nsec-13.sec.", A)
    yield one("hop6", BOGUS, ede=(ANY_BOGUS,))
    yield one("hop7", INSECURE, "CNAME www.dinsecure.cross.sec.", "DNAME unsigned.sec.", "CNAME www.unsigned.sec.", A)
    yield one("hop8", INSECURE, "CNAME zzz.opt.", rcode="NXDOMAIN")
    yield one("hop9", INSECURE, "CNAME www.alg200.sec.", A)
    yield one("up", SECURE, "CNAME top.", 'TXT "a name in the root zone"', kind="TXT")
    yield one("hop5", SECURE, "CNAME tosecure.cross.sec.", "CNAME www.nsec-13.sec.", kind="MX")
    yield one("hop5", SECURE, "CNAME tosecure.cross.sec.", kind="CNAME")


def insecure_cases():
    for zone in ("unsigned.sec.", "unsigned.opt.", "unsigned.three."):
        yield from unsigned(zone)
    for zone in ("nods.sec.", "nods.opt.", "island.plain.", "unsigned.plain.", "brokenisland.plain.", "plain."):
        yield from few(zone, INSECURE, why="no chain of trust leads here, so signatures mean nothing")
    for zone in ("unsigned.sec.", "nods.sec.", "unsigned.three."):
        yield case(zone, "@", "DS", SECURE, why="the parent proves that there is none")
    for zone in ("unsigned.opt.", "nods.opt."):
        yield case(zone, "@", "DS", INSECURE, why="an opt-out span covers the name: that is no proof that AD may tell")
    yield from few("signed.opt.")
    yield from few("signed.three.")
    yield from few("anchored.plain.", why="an anchor of its own")
    yield from few("wronganchor.plain.", BOGUS, ede=(NO_KEY, ANY_BOGUS), why="no key fits the anchor")
    for number in (1, 3, 6, 12, 200, 253):
        yield from few(f"alg{number}.sec.", INSECURE, ede=(ALGORITHM,), why="RFC 4035 section 5.2: no DS is usable")
    why = "RFC 9276: more than 50 iterations are insecure"
    for one in [*common("nsec3-60.sec."), *common("nsec3-2500.sec.")]:
        needs_denial = one.rcode == "NXDOMAIN" or one.rows == frozenset() or "wild" in one.name or "also" in one.name
        if needs_denial and not one.name.startswith("*"):
            one = dataclasses.replace(one, verdict=INSECURE, ede=(ITERATIONS,), why=why)
        yield one


def ds_cases():
    for label in ("ds1", "ds4", "ds12", "ds14", "ds24", "ds124", "ds2and200"):
        yield from few(f"{label}.sec.")
    yield from few("ds1bad2.sec.", why="RFC 4509 section 3: SHA-1 is ignored beside SHA-256")
    yield from few("ds2bad1.sec.", BOGUS, ede=(NO_KEY, ANY_BOGUS),
                   why="RFC 4509 section 3: SHA-1 is ignored beside SHA-256, or a forger of SHA-1 could downgrade")
    for label in ("ds2bad4", "ds4bad2"):
        yield from few(f"{label}.sec.", why="RFC 4035 section 5.2: one DS suffices; no RFC ranks digests 2 and 4")
    for label in ("ds3", "ds200"):
        yield from few(f"{label}.sec.", INSECURE, ede=(DIGEST,), why="RFC 4035 section 5.2: no DS is usable")
    why = "a usable DS that fits no key is bogus, whatever unusable DS are beside it"
    for label in ("ds2bad200", "alg200bad13"):
        yield from few(f"{label}.sec.", BOGUS, ede=(NO_KEY, ANY_BOGUS), why=why)
    yield from few("alg200and13.sec.")
    for zone in ("wrongds.sec.", "wrongds.opt.", "dstag.sec.", "dsalg.sec."):
        yield from few(zone, BOGUS, ede=(NO_KEY, ANY_BOGUS))


def signature_cases():
    yield from few("expired.sec.", BOGUS, ede=(EXPIRED,))
    yield from few("early.sec.", BOGUS, ede=(EARLY,))
    yield from only_www("expiredwww.sec.", (EXPIRED,))
    yield from only_www("earlywww.sec.", (EARLY,))
    yield from only_www("swapped.sec.", (SWAPPED, EXPIRED))
    yield from only_www("flip.sec.", (ANY_BOGUS,))
    yield case("flip.sec.", "lost", "A", BOGUS, ede=(ANY_BOGUS,))
    yield case("flip.sec.", "www", "TYPE255", BOGUS, ede=(ANY_BOGUS,), why="ANY: one RRset of the answer is wrong")
    yield case("stripped.sec.", "www", "TYPE255", BOGUS, ede=(NO_SIGNATURE, NO_KEY), why="ANY: nothing is signed")
    yield case("unsigned.sec.", "www", "TYPE255", INSECURE, ANYTHING)
    yield from few("flipkeys.sec.", BOGUS, ede=(ANY_BOGUS, NO_KEY))
    yield case("flipsoa.sec.", "www", "A", SECURE, A)
    yield case("flipsoa.sec.", "www", "MX", "secure or insecure or bogus", ede=(ANY_BOGUS, NO_PROOF),
               why="the NSEC proves it without the SOA; no RFC says what a wrong SOA beside it means")
    yield case("flipnsec.sec.", "www", "A", SECURE, A)
    yield case("flipnsec.sec.", "www", "MX", BOGUS, ede=(ANY_BOGUS, NO_PROOF))
    yield case("flipnsec.sec.", "zzz", "A", BOGUS, ede=(ANY_BOGUS, NO_PROOF))
    yield from only_www("changed.sec.", (ANY_BOGUS,))
    yield from only_www("nosig.sec.", (NO_SIGNATURE,))
    yield case("nosig.sec.", "alias", "A", BOGUS, ede=(NO_SIGNATURE, ANY_BOGUS), why="NSD denies DS at an alias")
    yield case("nosig.sec.", "www.moved", "A", BOGUS, ede=(NO_SIGNATURE,), why="the DNAME has no signature")
    yield from few("nokeysig.sec.", BOGUS, ede=(NO_SIGNATURE, NO_KEY))
    yield from few("nokeys.sec.", BOGUS, ede=(NO_KEY, NO_SIGNATURE), why="NSD sends no signatures then")
    yield from few("nozsk.sec.", BOGUS, ede=(NO_KEY, ANY_BOGUS))
    yield from few("zsksigns.sec.", BOGUS, ede=(NO_KEY, NO_SIGNATURE, ANY_BOGUS))
    yield from only_www("foreign.sec.", (NO_KEY, ANY_BOGUS))
    yield case("keytrap.sec.", "www", "A", EITHER, A, ede=(ANY_BOGUS, OTHER), why="it must end soon, however it ends")
    yield case("keytrap.sec.", "www", "MX", EITHER, ede=(ANY_BOGUS, OTHER))
    yield from few("nozonebit.sec.", BOGUS, ede=(NO_ZONE_BIT,), why="RFC 4034 section 2.1.1")
    yield from few("protocol.sec.", BOGUS, ede=(NO_KEY, ANY_BOGUS), why="RFC 4034 section 2.1.2: it must be 3")
    yield from few("revoked.sec.", BOGUS, ede=(NO_KEY, ANY_BOGUS),
                   why="RFC 5011 section 2.1: a revoked key verifies nothing but its own revocation")
    yield from few("revokedzsk.sec.", BOGUS, ede=(NO_KEY, ANY_BOGUS), why="RFC 5011 section 2.1")
    signer = "RFC 4035 section 5.3.1: the signer is the zone of the RRset"
    for label in ("parentsigner", "siblingsigner", "childsigner"):
        yield from only_www(f"{label}.sec.", (NO_SIGNATURE, NO_KEY, ANY_BOGUS), signer)
    yield from only_www("manylabels.sec.", (ANY_BOGUS, NO_SIGNATURE), "RFC 4035 section 5.3.1: no more than the name")
    yield from only_www("fewlabels.sec.", (NO_PROOF, ANY_BOGUS), "an expanded wildcard takes a proof of absence")
    yield from only_www("fewerlabels.sec.", (ANY_BOGUS, NO_PROOF, NO_SIGNATURE), "a wildcard above the signer's zone")
    for label in ("stripped", "noedns"):
        yield from few(f"{label}.sec.", BOGUS, ede=(NO_SIGNATURE, NO_KEY), why="the DS says that the zone is signed")


def denial_cases():
    for zone in ("nonsec.sec.", "nonsec3.sec."):
        yield case(zone, "www", "A", SECURE, A)
        yield case(zone, "www", "MX", BOGUS, ede=(NO_PROOF,))
        yield case(zone, "zzz", "A", BOGUS, ede=(NO_PROOF,))
        yield case(zone, "any.wild", "A", BOGUS, ede=(NO_PROOF, ANY_BOGUS),
                   why="RFC 4035 section 5.3.4: a closer name may exist")
        yield case(zone, "any.also", "A", BOGUS, ede=(NO_PROOF, ANY_BOGUS))
    for zone in ("range.sec.", "nostar.sec.", "span.sec.", "noencloser.sec.", "nonext.sec.", "nostar3.sec.",
                 "othernsec3.sec."):
        label = absent_label(ZONES[zone]) if isinstance(ZONES[zone].denial, Nsec3) else "zzz"
        yield case(zone, label, "A", BOGUS, ede=(NO_PROOF, ANY_BOGUS))
        yield case(zone, "www", "A", SECURE, A)
        yield case(zone, "www", "MX", SECURE)
    yield case("overwild.sec.", "held.wild", "A", BOGUS, ede=(NO_PROOF, ANY_BOGUS),
               why="the NSEC of the wildcard ends at the name and does not cover it")
    yield case("overwild.sec.", "any.wild", "A", SECURE, STAR_A)
    for label, kind, why in (("www", "A", "the bitmap has the type"), ("alias", "TXT", "the bitmap has CNAME"),
                             ("www.moved", "A", "the NSEC is that of a DNAME above the name"),
                             ("any.wild", "A", "a wildcard exists"), ("any.wild", "TXT", "a wildcard exists")):
        yield case("denied.sec.", label, kind, BOGUS, ede=(NO_PROOF, ANY_BOGUS), why=why)
    yield case("denied.sec.", "y", "A", EITHER, ede=(NO_PROOF, ANY_BOGUS),
               why="the NSEC proves an empty non-terminal, and the rcode says NXDOMAIN: SERVFAIL or the truth, NODATA")
    yield case("denied.sec.", "www", "AAAA", SECURE, "AAAA 2001:db8::80")
    yield case("parentnsec.sec.", "www", "A", BOGUS, ede=(NO_PROOF, ANY_BOGUS, NO_SIGNATURE, NO_SERVER),
               why="RFC 6840 section 4.1: the NSEC of the parent at a cut denies nothing below")
    for label in ("noproof", "hiddends", "childds"):
        yield from unproven_ds(f"{label}.lies.")
    yield from few("right.lies.")
    yield from few("lies.")


def chaos_cases():
    """Zones with random changes in their answers. They are slow, because a resolver retries many times."""
    why = "changed at random: an answer with AD is the right one, and no answer is without AD"
    for number in range(table.CHAOS):
        for one in common(f"chaos{number}.sec."):
            yield dataclasses.replace(one, verdict=EITHER, why=why)


def family_cases():
    """Parents and children, both with random changes."""
    why = "changed at random: a forger near a signed zone gets at most SERVFAIL"
    for number in range(table.CHAOS_PARENTS):
        for zone in (f"signed.chaos{number}.", f"x.ent.chaos{number}.", f"below.signed.chaos{number}."):
            for one in common(zone):
                yield dataclasses.replace(one, verdict=EITHER, why=why)
        for one in common(f"chaos{number}.", denial="opt-out" if number % 3 == 2 else SECURE):
            if one.verdict == SECURE:  # any insecure zone may be in an opt-out span
                yield dataclasses.replace(one, verdict=EITHER, why=why)
        yield case(f"bare.chaos{number}.", "@", "DS", "secure or insecure or bogus", ANYTHING)
    yield case("forger.", "www", "A", "secure or insecure or bogus", ANYTHING)


CASES = list({one.question: one for one in all_cases()}.values())
CHAOS_CASES = [*chaos_cases(), *family_cases()]

# ---- differences of the peers ----

TTL = "a TTL above"
LIMIT = "accepts up to 150 iterations, which RFC 9276 section 3.2 leaves to the resolver; ours follows its newer advice"
FIRST_TTL = "sends the first answer as it came, and caps the TTL of later ones: wrong by RFC 4035 section 5.3.3"
STAR_ENT = "does not see that the wildcard exists: its NSEC record leads below it (RFC 4592 section 2.2.2)"
REVOKED = "does not look at REVOKE: wrong, a revoked key verifies nothing but its own revocation (RFC 5011 section 2.1)"

# {resolver: [(zone or name, type, start of the fault that compare.judge() finds, why)]}. A row may explain a
# difference; it does not demand one, because a newer version may be right. The right result is that of the cases.
KNOWN = {
    "unbound": [
        ("nsec3-60.sec.", None, "secure", LIMIT),
        ("short.sec.", None, TTL, FIRST_TTL),
        ("long-ttl.sec.", None, TTL, FIRST_TTL),
        ("raised.sec.", None, TTL, FIRST_TTL),
        ("ds2bad1.sec.", None, "secure", "takes any DS that fits: wrong, RFC 4509 section 3 protects against that"),
        ("revoked.sec.", None, "secure", REVOKED),
        ("revokedzsk.sec.", None, "secure", REVOKED),
        ("stars.sec.", "A", "bogus", STAR_ENT),
        ("www.apexdname.sec.", "CNAME", "bogus", "asks for DS records at a CNAME that follows from a DNAME: wrong"),
        ("www.apexdname3.sec.", "CNAME", "bogus", "asks for DS records at a CNAME that follows from a DNAME: wrong"),
    ],
    "named": [
        ("nsec3-60.sec.", None, "secure", LIMIT),
        ("collide.sec.", None, "bogus", "allows one failed verification for each fetch, against KeyTrap; an honest "
                                        "collision of key tags needs one more"),
        ("onewrong.sec.", None, "bogus", "allows one failed verification for each fetch, against KeyTrap"),
        ("collideksk.sec.", None, "bogus", "tries the first key of a tag only, against KeyTrap"),
        *((f"nosoa{number}.sec.", None, "bogus", "needs the SOA record of a denial") for number in (0, 1)),
        (None, "RRSIG", "secure", "sets AD on signatures, which nothing signs"),
        ("childds.lies.", None, "no answer", "asks the parent for the DS set again and again, and answers late"),
        ("flip.sec.", "TYPE255", "secure", "answers ANY with what its cache has, which may be right RRsets alone"),
    ],
    "kresd": [
        *((f"nocname{number}.sec.", None, fault, "needs the CNAME record that follows from a DNAME record")
          for number in (0, 1) for fault in ("bogus", "other rows")),
        ("collideksk.sec.", None, "bogus", "tries the first key of a tag only, against KeyTrap"),
        ("stars.sec.", "A", "bogus", STAR_ENT),
        ("short.sec.", None, TTL, "caps the TTL of the records, and not that of their RRSIG"),
        ("long-ttl.sec.", None, TTL, "caps the TTL of the records, and not that of their RRSIG"),
        ("raised.sec.", None, TTL, "caps the TTL of the records, and not that of their RRSIG"),
        ("anchored.plain.", None, "insecure", "forgets the anchor below an insecure zone for negative answers: wrong"),
        ("nsec3-2500.sec.", None, "insecure", "calls the whole zone insecure once it has seen an NSEC3 with too many "
                                              "iterations"),
        ("nsec3-60.sec.", None, "insecure", "calls the whole zone insecure once it has seen an NSEC3 with too many "
                                            "iterations; its positive answers do not depend on them"),
        ("revokedzsk.sec.", None, "secure", REVOKED),
        (None, "TYPE255", "bogus", "does not resolve ANY"),
        ("span.sec.", None, "secure", "lets an NSEC end outside of its zone: wrong, and newer versions do not"),
    ],
    "nailupd": [
        (None, "TYPE255", "insecure", "answers ANY itself, with HINFO (RFC 8482), which nothing signs"),
    ],
}


def reason_for(resolver, one, fault):
    """Returns the known reason for a peer's answer, or None."""
    zone = zone_of(one.name).name
    return next((why for name, kind, start, why in KNOWN.get(resolver, ())
                 if name in (None, one.name, zone) and kind in (None, one.type) and fault.startswith(start)), None)
