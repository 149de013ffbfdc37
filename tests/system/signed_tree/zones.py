# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The hierarchy as a table: every zone, its keys, its proofs of absence, its DS set, its server, and its damage.

Names and records are those of hierarchy.zones: owner, TTL, type, data; names without a dot at their end are below the
zone, and @ is the zone. Delegations and DS sets are added to the zone above."""

import dataclasses
from collections.abc import Callable

from hierarchy.wire import FIELDS, Record, is_at_or_below, pack_name, parent_of
from hierarchy.zones import absolute

from .keys import KSK, REVOKE, SEP, ZONE, ZSK, Key, ds_data
from .signer import NSEC, Nsec3, ds_records, generic, hash_label, nsec3_hash

# Loopback is unsuitable, because Knot Resolver ignores glue with loopback addresses. RFC 2544 gives this network to
# benchmarks.
ROOT_IP, TLD_IP, LEAF_IP, OTHER_IP = "198.18.0.1", "198.18.0.11", "198.18.1.1", "198.18.1.2"
LIAR_NET = "198.18.2."
PLANT_IPS = {"root": ROOT_IP, "tld": TLD_IP, "leaf": LEAF_IP, "other": OTHER_IP}
HINTS = f". 3600 NS a.roots.\na.roots. 3600 A {ROOT_IP}\n"

SOA = "@ 300 SOA ns1 hostmaster 1 3600 600 86400 60\n"
COMMON = """\
www 300 A 192.0.2.80
www 300 AAAA 2001:db8::80
words 300 TXT "words"
x.y 300 A 192.0.2.81
*.wild 300 A 192.0.2.42
held.wild 300 A 192.0.2.43
alias 300 CNAME www
lost 300 CNAME nothing
*.also 300 CNAME www
moved 300 DNAME new
www.new 300 A 192.0.2.90
"""


def csk(algorithm=13, flags=KSK, **more):
    return [Key(algorithm, flags, **more)]


def pair(algorithm=13, **more):
    return [Key(algorithm, KSK, "keys", **more), Key(algorithm, ZSK, "data", **more)]


def nothing(signed):
    """Damages nothing: the zone is sound."""


@dataclasses.dataclass
class Zone:
    """keys: makes them; None leaves the zone unsigned. denial: NSEC or Nsec3. ds: (zone, keys) -> DS records; None for
    an insecure delegation. damage: changes a Signed. valid_days: of the signatures, from now. plant: the real server;
    lie: a behaviour of liar.py in front of it. tool: "ldns" or "bind", which then sign instead of signer.py; keys is
    then the number of an algorithm."""

    name: str
    text: str = COMMON
    keys: Callable | int | None = pair
    denial: object = NSEC
    ds: Callable | None = ds_records
    damage: Callable = nothing
    valid_days: tuple = (-1, 30)
    plant: str = "leaf"
    lie: str | None = None
    tool: str | None = None
    second: str | None = None  # another address at which the zone is served
    server: str | None = None  # the name of the server, if it is in another zone

    @property
    def parent(self):
        """Returns the zone that delegates this one."""
        name = parent_of(self.name)
        while name not in ZONES:
            name = parent_of(name)
        return name

    @property
    def address(self):
        return LIAR_IPS[self.name] if self.lie else PLANT_IPS[self.plant]


def records_of(zone, delegations=()):
    """Returns the records of a zone before it is signed."""
    text, own = SOA, zone.name
    if zone.server:
        text += f"@ 3600 NS {zone.server}\n"
    elif own != ".":
        text += f"@ 3600 NS ns1\nns1 3600 A {zone.address}\n"
        if zone.second:
            text += f"@ 3600 NS ns2\nns2 3600 A {zone.second}\n"
    found = [parsed(line, own) for line in (text + zone.text).splitlines()]
    if own == ".":
        found += [parsed(line, own) for line in HINTS.splitlines()]
    return found + list(delegations)


def parsed(line, zone):
    name, ttl, kind, data = line.split(None, 3)
    words = data.split()
    for at, field in enumerate(FIELDS.get(kind, "")):
        if field == "n":
            words[at] = absolute(words[at], zone)
    return Record(absolute(name, zone), kind, int(ttl), data if kind == "TXT" else " ".join(words))


def delegation(zone):
    """Returns the NS records and the glue that the parent has for a zone."""
    return [one for one in records_of(ZONES[zone.name]) if one.type == "NS" and one.name == zone.name or
            one.name in (f"ns1.{zone.name}", f"ns2.{zone.name}")]


# ---- DS sets ----


def digests(*numbers, **more):
    return lambda zone, keys: ds_records(zone, keys, numbers, **more)


def spoilt(record):
    """Returns a copy of a DS record with a wrong digest."""
    data = bytearray.fromhex(record.data.split()[2])
    data[-1] ^= 1
    return record._replace(data=generic(bytes(data)))


def right_and_spoilt(right, wrong):
    """Makes DS records: digests of the types `right` fit the key, and those of `wrong` do not."""
    return lambda zone, keys: [*ds_records(zone, keys, right), *map(spoilt, ds_records(zone, keys, wrong))]


def with_standby(zone, keys):
    """Makes DS records for a published key and for a key that is not published yet."""
    return [one for key in keys for one in ds_records(zone, [key])]


def of_other_algorithm(zone, keys):
    """Makes a right DS record, and one more with the number of another algorithm."""
    return ds_records(zone, keys, algorithm=8)


def of_all_keys(zone, keys):
    return [Record(zone, "DS", 3600, generic(ds_data(pack_name(zone), key.data))) for key in keys]


# ---- damage ----


def then(*steps):
    """Combines several steps of damage, each as ("method of Signed", arguments...)."""
    def damage(signed):
        for step in steps:
            name, *words = step
            more = words.pop() if words and isinstance(words[-1], dict) else {}
            getattr(signed, name)(*words, **more)
    return damage


def expire_www(signed):
    signed.resign("www", "A", validity=(signed.validity[0] - 40 * 86400, signed.validity[0] - 10 * 86400))


def postpone_www(signed):
    signed.resign("www", "A", validity=(signed.validity[1] + 10 * 86400, signed.validity[1] + 40 * 86400))


def swap_dates_of_www(signed):
    """The signature ends before it begins. Both dates have passed."""
    signed.resign("www", "A", validity=(signed.validity[0] - 10 * 86400, signed.validity[0] - 40 * 86400))


def sign_www_with_foreign_key(signed):
    signed.resign("www", "A", keys=[Key(13, ZSK)])


def sign_keys_with_zsk(signed):
    """The key that matches the DS record does not sign the key set."""
    signed.resign("@", "DNSKEY", keys=[key for key in signed.keys if key.flags == ZSK])


def drop_zsk(signed):
    """Removes the key that signs the data from the key set, and signs the set again."""
    gone = [key for key in signed.keys if key.flags == ZSK]
    data = [generic(key.data) for key in gone]
    signed.records = [one for one in signed.records if one.type != "DNSKEY" or one.data not in data]
    signed.resign("@", "DNSKEY")


def name_parent_as_signer(signed):
    signed.resign("www", "A", signer="sec.")


def name_sibling_as_signer(signed):
    signed.resign("www", "A", signer="nsec-13.sec.")


def name_child_as_signer(signed):
    """The signer is a zone below the owner, which is not allowed."""
    signed.resign("www", "A", signer=f"www.{signed.name}")


def too_many_labels(signed):
    signed.resign("www", "A", labels=9)


def wildcard_at_www(signed):
    """The signature claims that a wildcard made the name, but the name exists, so there is no proof."""
    signed.resign("www", "A", labels=2)


def wildcard_above_zone(signed):
    """The signature belongs to "*.sec.", a name above its signer's zone."""
    signed.resign("www", "A", labels=1)


def only_last_is_right(signed):
    """All signatures of www except one are wrong."""
    signed.flip("www", "A", len(signed.keys) - 2)


def one_of_two_is_wrong(signed):
    signed.flip("www", "A", 1)


def only_other_algorithm(signed):
    """Only one of two algorithms signs www. RFC 6840 section 5.11: a validator accepts any path."""
    gone = signed.signatures(signed.at("www"), "A")[0]
    signed.records.remove(gone)


def longer_ttl(signed):
    """The original TTL is shorter than the TTL of the records."""
    signed.resign("www", "A", ttl=60)


def prepare_long_span(signed):
    """Prepares an NSEC record with a right signature, whose next name is outside of the zone."""
    signed.extra["span"] = signed.signed([signed.nsec(signed.at("words"), "zzz.sec.", {"TXT", "RRSIG", "NSEC"})])


def prepare_compact(signed):
    """Prepares proofs of absence in the style of RFC 9824: the name exists and has only the type NXNAME."""
    for label, types in (("absent", {"RRSIG", "NSEC", "TYPE128"}), ("www", {"A", "AAAA", "RRSIG", "NSEC"})):
        owner = signed.at(label)
        signed.extra[label] = signed.signed([signed.nsec(owner, f"\0.{owner}", types)])


def without_ttl(signed):
    """Every RRset of the zone, its keys among them, has the TTL 0."""
    kinds = {(one.name, one.type) for one in signed.records if one.type != "RRSIG"}
    signed.records = [one._replace(ttl=0) for one in signed.records if one.type != "RRSIG"]
    for name, kind in sorted(kinds):
        if signed.is_signed(name, kind):
            signed.sign(name, kind)


def soon(signed):
    """The signature of www begins in half an hour, and that of words ended half an hour ago."""
    now = signed.validity[0] + 86400
    signed.resign("www", "A", validity=(now + 1800, now + 30 * 86400))
    signed.resign("words", "TXT", validity=(now - 30 * 86400, now - 1800))


def flip_ns(signed):
    signed.flip("@", "NS")
    signed.flip("ns1", "A")


# ---- keys with peculiarities ----


def standby():
    return [Key(13, KSK, "keys"), Key(13, KSK, "nothing"), Key(13, KSK, "nothing", is_published=False),
            Key(13, ZSK, "data")]


def many_keys():
    """Returns a key set that does not fit into a datagram of 1232 bytes."""
    exponent = bytes([3, 1, 0, 1])
    return [*pair(), *(Key(8, ZSK, "nothing", public=exponent + bytes([255 - n]) * 256) for n in range(6))]


def colliding():
    """Returns two keys with the same tag. The second one signs the data."""
    seen = {}
    while True:
        key = Key(15, ZSK, "data")
        other = seen.setdefault(key.tag, key)
        if other is not key:
            other.signs = "nothing"
            return [Key(15, KSK, "keys"), other, key]


def with_tag(tag, **more):
    """Returns a key of algorithm 13 with this tag. Flags without a meaning make up the difference."""
    while True:
        key = Key(13, ZSK, "data", **more)
        flags = ZSK + ((tag - key.tag) % 0xFFFF)
        if flags <= 0xFFFF and flags & (REVOKE | ZONE | SEP) == ZSK:
            key.flags = flags
            if key.tag == tag:
                return key


def colliding_ksk():
    """Returns a KSK and a ZSK with the same tag."""
    key = Key(13, KSK, "keys")
    return [key, with_tag(key.tag)]


def revoked_and_new():
    """Returns a revoked key and its successor. Both sign the key set (RFC 5011 section 2.1)."""
    return [Key(13, KSK | REVOKE, "keys"), Key(13, KSK, "keys"), Key(13, ZSK, "data")]


def with_next_zsk():
    return [*pair(), Key(13, ZSK, "nothing")]


def with_two_zsks():
    return [*pair(), Key(13, ZSK, "data")]


def with_two_ksks():
    return [*pair(), Key(13, KSK, "keys")]


def hidden_second_algorithm():
    """Returns the keys of a zone that already signs with a new algorithm, whose key it does not publish yet."""
    return [*csk(), Key(15, KSK, "all", is_published=False)]


def same_tags():
    """Returns many keys with the same tag, for as many signatures: KeyTrap (CVE-2023-50387)."""
    keys = [Key(13, ZSK, "data")]
    keys += [with_tag(keys[0].tag) for _ in range(11)]
    return [Key(13, KSK, "keys"), *keys]


def two_algorithms():
    return [*pair(8), *pair(13)]


def unknown_and_known():
    return [Key(200, KSK), *pair(13)]


PROVIDERS = {}


def providers():
    """Returns the keys of the first of two signers (RFC 8901 model 2), and puts the keys of the second into PROVIDERS.
    Each signs with its own KSK and ZSK, and publishes the keys of both."""
    first, second = pair(), pair()
    PROVIDERS["other"] = [*second, Key(13, ZSK, "nothing"), Key(13, KSK, "nothing")]
    own = [*first, Key(13, ZSK, "nothing"), Key(13, KSK, "nothing")]
    for mine, theirs in ((own, second), (PROVIDERS["other"], first)):
        mine[2].pair, mine[2].public = theirs[1].pair, theirs[1].public
        mine[3].pair, mine[3].public = theirs[0].pair, theirs[0].public
    return own


# ---- the zones ----

SALT = bytes.fromhex("aabbccdd")
TWO_PROVIDERS = "two.sec."

# Zones that tests/soak/signed.py changes while it runs: servers that lie now and then, keys that roll, signatures that end.
MOODY, HALF_MOODY = "moody.sec.", "halfmoody.sec."
ROLLING = [f"roll{number}.sec." for number in range(4)]
BRIEF = ["brief0.sec.", "brief1.sec."]

STAIRS = [".".join(f"s{step}" for step in range(last, 0, -1)) + ".sec." for last in range(1, 7)]  # at one server

# Servers that are sloppy, but right: {beginning of their zones: behaviour}
SLOPPY = {"shuffled": "shuffles", "oldsigs": "adds-old-signatures", "upper": "shouts", "nosoa": "omits-soa",
          "nocname": "omits-made-cname", "first": "omits-targets", "more": "adds-answers", "above": "adds-parent-proofs"}

CHAOS = 12  # the number of zones with random changes in their answers
CHAOS_PARENTS = 6  # the number of those with children whose answers are changed, too



def hash_names(zone):
    """Returns records whose owners are also those of NSEC3 records of the zone (salt: none)."""
    return "".join(f"{hash_label(nsec3_hash(name, Nsec3(0)))} 300 A 192.0.2.80\n" for name in (zone, f"www.{zone}"))


ROOT = "top 300 TXT \"a name in the root zone\"\n"
SEC = "nic 300 TXT \"a name in the zone sec\"\n*.star 300 TXT \"a wildcard in the zone sec\"\n"

CROSS = COMMON + """\
tosecure 300 CNAME www.nsec-13.sec.
toinsecure 300 CNAME www.unsigned.sec.
tobogus 300 CNAME www.flip.sec.
tonothing 300 CNAME zzz.nsec3-0.sec.
tonodata 300 CNAME words.nsec3-0.sec.
towild 300 CNAME any.wild.nsec3-0.sec.
toisland 300 CNAME www.island.plain.
chain 300 CNAME alias.nsec-13.sec.
dsecure 300 DNAME nsec-13.sec.
dinsecure 300 DNAME unsigned.sec.
dbogus 300 DNAME flip.sec.
"""
UNSIGNED = COMMON + """\
hop 300 CNAME tosecure.cross.sec.
tosecure 300 CNAME www.nsec-13.sec.
tobogus 300 CNAME www.flip.sec.
dbogus 300 DNAME flip.sec.
"""
WILD = """\
* 300 A 192.0.2.70
* 300 MX 10 www
www 300 A 192.0.2.80
held 300 TXT "held"
*.sub 300 CNAME www
a.b.c 300 A 192.0.2.71
_tcp.c 300 A 192.0.2.72
"""
STARS = """\
www 300 A 192.0.2.80
sub.*.empty 300 A 192.0.2.71
*.*.nested 300 A 192.0.2.72
*.cut.*.wide 300 A 192.0.2.73
*.wide 300 TXT "wide"
*.chain 300 CNAME x.next
*.next 300 CNAME www
*.away 300 CNAME www.unsigned.sec.
*.bad 300 CNAME www.flip.sec.
*.lost 300 CNAME absent.www
"""
APEX_DNAME = "@ 300 DNAME new.nsec-13.sec.\n@ 300 TXT \"apex\"\n"
HOPS = COMMON + """\
hop1 300 CNAME hop.unsigned.sec.
hop2 300 CNAME www.moved.nsec3-0.sec.
hop3 300 CNAME any.also.nsec3-out.sec.
hop4 300 CNAME any.wild.nsec3-out.sec.
hop5 300 CNAME tosecure.cross.sec.
hop6 300 CNAME tobogus.cross.sec.
hop7 300 CNAME www.dinsecure.cross.sec.
hop8 300 CNAME zzz.opt.
hop9 300 CNAME www.alg200.sec.
up 300 CNAME top.
"""
DEEP = """\
www 300 A 192.0.2.80
in.the.middle.of.it 300 A 192.0.2.82
very.long.chain.of.empty.names.without.any.record 300 TXT "deep"
"""

ALL = [
    Zone(".", ROOT, lambda: pair(8, bits=2048), plant="root"),
    Zone("sec.", SEC, plant="tld"),
    Zone("opt.", COMMON, lambda: pair(8), Nsec3(0, b"", True), plant="tld"),
    Zone("three.", COMMON, csk, Nsec3(1, SALT), plant="tld"),
    Zone("plain.", COMMON, None, ds=None, plant="tld"),
    Zone("lies.", COMMON, plant="tld", lie="lies-about-children"),

    # Right zones. The signers of others sign two zones with each algorithm.
    *(Zone(f"nsec-{number}.sec.", COMMON, number, tool="ldns", plant="other") for number in (5, 8, 10, 13, 14, 15, 16)),
    *(Zone(f"bind-{number}.sec.", COMMON, number, Nsec3(0), tool="bind") for number in (7, 8, 10, 13, 14, 15, 16)),
    *(Zone(f"own-{number}.sec.", COMMON, lambda number=number: csk(number)) for number in (8, 14, 16)),
    Zone("nsec3-0.sec.", denial=Nsec3(0)),
    Zone("nsec3-10.sec.", denial=Nsec3(10, SALT), plant="other"),
    Zone("nsec3-50.sec.", denial=Nsec3(50, SALT)),
    Zone("nsec3-60.sec.", denial=Nsec3(60, SALT)),
    Zone("nsec3-2500.sec.", denial=Nsec3(2500, SALT)),
    Zone("nsec3-out.sec.", denial=Nsec3(0, b"", True)),
    Zone("wild.sec.", WILD),
    Zone("wild3.sec.", WILD, denial=Nsec3(0)),
    Zone("deep.sec.", DEEP),
    Zone("deep3.sec.", DEEP, denial=Nsec3(0)),
    Zone("cross.sec.", CROSS),
    Zone("csk.sec.", keys=csk),
    Zone("rsa2048.sec.", keys=lambda: csk(8, bits=2048)),
    Zone("zskonly.sec.", keys=lambda: csk(flags=ZSK)),
    Zone("standby.sec.", keys=standby, ds=with_standby),
    Zone("manykeys.sec.", keys=many_keys),
    Zone("collide.sec.", keys=colliding),
    Zone("twoalgs.sec.", keys=two_algorithms),
    Zone("onealg.sec.", keys=two_algorithms, damage=only_other_algorithm),
    Zone("onewrong.sec.", keys=two_algorithms, damage=one_of_two_is_wrong),
    Zone(TWO_PROVIDERS, keys=providers, ds=lambda zone, keys: of_all_keys(zone, [keys[0], keys[3]]), second=OTHER_IP),
    Zone("hidden.sec."),
    Zone("child.hidden.sec."),
    Zone("bare.hidden.sec.", keys=None, ds=None),
    Zone("island.hidden.sec.", ds=None),
    Zone("a.deep.hidden.sec."),
    Zone("broken.hidden.sec.", damage=then(("flip", "www", "A"))),
    Zone("hidden3.sec.", denial=Nsec3(0, b"", True)),
    Zone("child.hidden3.sec.", denial=Nsec3(0)),
    Zone("bare.hidden3.sec.", keys=None, ds=None),
    Zone("short.sec.", valid_days=(-1, 900 / 86400)),
    Zone("long-ttl.sec.", damage=longer_ttl),
    Zone("tcp.sec.", lie="truncates"),
    Zone("poison.sec.", lie="adds-poison"),
    Zone("raised.sec.", lie="raises-ttl"),
    Zone("forged.sec.", lie="forges-cname"),
    Zone("compact.sec.", damage=prepare_compact, lie="compact-denial"),
    Zone("twice.sec.", lie="sends-twice"),
    Zone("twice3.sec.", denial=Nsec3(0), lie="sends-twice"),
    *(Zone(f"{name}{number}.sec.", denial=(NSEC, Nsec3(0))[number], lie=lie)
      for name, lie in SLOPPY.items() for number in (0, 1)),
    Zone("salt1.sec.", denial=Nsec3(0, b"\0")),
    Zone("salt255.sec.", denial=Nsec3(1, bytes(range(255)))),
    Zone("hash.sec.", COMMON + hash_names("hash.sec."), denial=Nsec3(0)),
    Zone("stars.sec.", STARS),
    Zone("stars3.sec.", STARS, denial=Nsec3(0)),
    Zone("hops.sec.", HOPS),
    Zone("apexdname.sec.", APEX_DNAME, server="ns1.cross.sec."),
    Zone("apexdname3.sec.", APEX_DNAME, denial=Nsec3(0), server="ns1.cross.sec."),
    Zone("ttl0.sec.", damage=without_ttl),
    Zone("ttl03.sec.", denial=Nsec3(0), damage=without_ttl),
    Zone("skew.sec.", damage=soon),
    Zone("flipns.sec.", damage=flip_ns),
    Zone("collideksk.sec.", keys=colliding_ksk),
    Zone("revokedandnew.sec.", keys=revoked_and_new, ds=of_all_keys),
    Zone("nextzsk.sec.", keys=with_next_zsk),
    Zone("twozsks.sec.", keys=with_two_zsks),
    Zone("twoksks.sec.", keys=with_two_ksks, ds=lambda zone, keys: ds_records(zone, keys[:1])),
    Zone("newalg.sec.", keys=hidden_second_algorithm, ds=lambda zone, keys: ds_records(zone, keys[:1])),
    *(Zone(name, denial=(NSEC, Nsec3(0))[number % 2]) for number, name in enumerate(STAIRS)),
    Zone("ent3.sec.", denial=Nsec3(0, b"", True), plant="other"),
    Zone("bare.ent.ent3.sec.", keys=None, ds=None, plant="other"),
    Zone("island.ent.ent3.sec.", ds=None, plant="other"),
    Zone("signed.below.ent3.sec.", plant="other"),
    Zone(MOODY, lie="right"),
    Zone(HALF_MOODY, denial=Nsec3(0), lie="right", second=LEAF_IP),
    *(Zone(name, denial=(NSEC, Nsec3(0))[number % 2]) for number, name in enumerate(ROLLING)),
    *(Zone(name) for name in BRIEF),

    # Insecure zones.
    Zone("unsigned.sec.", UNSIGNED, None, ds=None),
    Zone("nods.sec.", ds=None),
    Zone("unsigned.opt.", UNSIGNED, None, ds=None),
    Zone("nods.opt.", ds=None),
    Zone("signed.opt."),
    Zone("wrongds.opt.", ds=right_and_spoilt((), (2,))),
    Zone("unsigned.three.", UNSIGNED, None, ds=None),
    Zone("signed.three.", denial=Nsec3(0)),
    Zone("unsigned.plain.", COMMON, None, ds=None),
    Zone("island.plain.", ds=None),
    Zone("brokenisland.plain.", ds=None, damage=then(("flip", "www", "A"))),
    Zone("anchored.plain.", ds=None),
    Zone("wronganchor.plain.", ds=None),
    *(Zone(f"alg{number}.sec.", keys=lambda number=number: csk(number)) for number in (1, 3, 6, 12, 200, 253)),

    # DS sets.
    Zone("ds1.sec.", ds=digests(1)),
    Zone("ds4.sec.", ds=digests(4)),
    Zone("ds12.sec.", ds=digests(1, 2)),
    Zone("ds14.sec.", ds=digests(1, 4)),
    Zone("ds24.sec.", ds=digests(2, 4)),
    Zone("ds124.sec.", ds=digests(1, 2, 4)),
    Zone("ds3.sec.", ds=digests(3)),
    Zone("ds200.sec.", ds=digests(200)),
    Zone("ds2and200.sec.", ds=digests(2, 200)),
    Zone("ds1bad2.sec.", ds=right_and_spoilt((2,), (1,))),
    Zone("ds2bad1.sec.", ds=right_and_spoilt((1,), (2,))),
    Zone("ds2bad4.sec.", ds=right_and_spoilt((4,), (2,))),
    Zone("ds4bad2.sec.", ds=right_and_spoilt((2,), (4,))),
    Zone("ds2bad200.sec.", ds=right_and_spoilt((200,), (2,))),
    Zone("wrongds.sec.", ds=right_and_spoilt((), (2,))),
    Zone("dsalg.sec.", ds=of_other_algorithm),
    Zone("dstag.sec.", ds=lambda zone, keys: ds_records(zone, keys, tag=(keys[0].tag + 1) & 0xFFFF)),
    Zone("alg200and13.sec.", keys=unknown_and_known, ds=of_all_keys),
    Zone("alg200bad13.sec.", keys=unknown_and_known,
         ds=lambda zone, keys: [*ds_records(zone, keys[:1]), *map(spoilt, ds_records(zone, keys[1:]))]),

    # Broken signatures and keys.
    Zone("expired.sec.", valid_days=(-60, -30)),
    Zone("expiredwww.sec.", damage=expire_www),
    Zone("early.sec.", valid_days=(30, 60)),
    Zone("earlywww.sec.", damage=postpone_www),
    Zone("swapped.sec.", damage=swap_dates_of_www),
    Zone("flip.sec.", damage=then(("flip", "www", "A"), ("flip", "lost", "CNAME"))),
    Zone("flipkeys.sec.", damage=then(("flip", "@", "DNSKEY"))),
    Zone("flipsoa.sec.", damage=then(("flip", "@", "SOA"))),
    Zone("flipnsec.sec.", damage=then(("flip", "@", "NSEC"), ("flip", "x.y", "NSEC"), ("flip", "www", "NSEC"))),
    Zone("changed.sec.", damage=then(("replace", "www", "A", "203.0.113.66"))),
    Zone("nosig.sec.", damage=then(("unsign", "www", "A"), ("unsign", "alias", "CNAME"), ("unsign", "moved", "DNAME"))),
    Zone("nokeysig.sec.", damage=then(("unsign", "@", "DNSKEY"))),
    Zone("nokeys.sec.", damage=then(("drop", "@", "DNSKEY"))),
    Zone("nozsk.sec.", damage=drop_zsk),
    Zone("zsksigns.sec.", damage=sign_keys_with_zsk),
    Zone("foreign.sec.", damage=sign_www_with_foreign_key),
    Zone("keytrap.sec.", keys=same_tags, damage=only_last_is_right),
    Zone("nozonebit.sec.", keys=lambda: csk(flags=SEP)),
    Zone("protocol.sec.", keys=lambda: csk(protocol=4)),
    Zone("revoked.sec.", keys=lambda: csk(flags=KSK | REVOKE)),
    Zone("revokedzsk.sec.", keys=lambda: [Key(13, KSK, "keys"), Key(13, ZONE | REVOKE, "data")]),
    Zone("parentsigner.sec.", damage=name_parent_as_signer),
    Zone("siblingsigner.sec.", damage=name_sibling_as_signer),
    Zone("childsigner.sec.", damage=name_child_as_signer),
    Zone("manylabels.sec.", damage=too_many_labels),
    Zone("fewlabels.sec.", damage=wildcard_at_www),
    Zone("fewerlabels.sec.", damage=wildcard_above_zone),
    Zone("stripped.sec.", lie="strips"),
    Zone("noedns.sec.", lie="formerr-edns"),

    # Broken proofs of absence.
    Zone("nonsec.sec.", lie="drops-proofs"),
    Zone("nonsec3.sec.", denial=Nsec3(0), lie="drops-proofs"),
    Zone("range.sec.", lie="wrong-range"),
    Zone("nostar.sec.", lie="drops-apex-nsec"),
    Zone("span.sec.", damage=prepare_long_span, lie="long-span"),
    Zone("noencloser.sec.", denial=Nsec3(0), lie="drops-encloser"),
    Zone("nonext.sec.", denial=Nsec3(0), lie="drops-next"),
    Zone("nostar3.sec.", denial=Nsec3(0), lie="drops-star"),
    Zone("overwild.sec.", lie="expands-over-name"),
    Zone("denied.sec.", lie="denies-what-is-there"),
    Zone("parentnsec.sec.", lie="denies-with-parent"),
    Zone("othernsec3.sec.", denial=Nsec3(0), lie="denies-with-other-zone"),
    *(Zone(f"chaos{number}.sec.", denial=(NSEC, Nsec3(0))[number % 2], lie="changes-at-random")
      for number in range(CHAOS)),
    *(Zone(f"chaos{number}.", COMMON, denial=(NSEC, Nsec3(0), Nsec3(0, b"", True))[number % 3], plant="tld",
           lie="hides-children-at-random") for number in range(CHAOS_PARENTS)),
    *(Zone(f"signed.chaos{number}.", denial=(NSEC, Nsec3(0))[number // 3 % 2], lie="forges-at-random")
      for number in range(CHAOS_PARENTS)),
    *(Zone(f"x.ent.chaos{number}.", denial=(NSEC, Nsec3(0))[number % 2], lie="forges-at-random")
      for number in range(CHAOS_PARENTS)),
    *(Zone(f"below.signed.chaos{number}.", lie="forges-at-random") for number in range(CHAOS_PARENTS)),
    *(Zone(f"bare.chaos{number}.", keys=None, ds=None) for number in range(CHAOS_PARENTS)),
    Zone("forger.", "", None, ds=None, plant="tld", lie="forges-everything"),
    Zone("noproof.lies.", COMMON, None, ds=None),
    Zone("hiddends.lies."),
    Zone("childds.lies."),
    Zone("right.lies."),
]
ZONES = {zone.name: zone for zone in ALL}
LIAR_IPS = {zone.name: f"{LIAR_NET}{number}" for number, zone in
            enumerate((zone for zone in ALL if zone.lie), 1)}
ANCHORED = "anchored.plain.", "wronganchor.plain."


def children_of(name):
    return [zone for zone in ALL if zone.name != "." and zone.parent == name]


def zone_of(name):
    while name not in ZONES:
        name = parent_of(name)
    return ZONES[name]


# ---- names for proofs with NSEC3 ----


def hashes_of(zone):
    """Returns the hashes of all names of a zone without zone cuts, in order."""
    names = set()
    for one in records_of(zone):
        name = one.name
        while is_at_or_below(name, zone.name) and name not in names:
            names.add(name)
            name = parent_of(name)
    return sorted(nsec3_hash(name, zone.denial) for name in names)


def holder(hashes, digest):
    """Returns the label of the NSEC3 record that matches or covers a hash."""
    return hash_label(max((one for one in hashes if one <= digest), default=hashes[-1]))


def roles(zone, label):
    """Returns the labels of the NSEC3 records that deny a name directly below the zone: closest encloser, next closer
    name, wildcard."""
    hashes = hashes_of(zone)
    return [holder(hashes, nsec3_hash(name, zone.denial))
            for name in (zone.name, f"{label}.{zone.name}", f"*.{zone.name}")]


def absent_label(zone):
    """Returns a missing name whose denial needs three different NSEC3 records."""
    return next(label for label in map("q{}".format, range(100)) if len(set(roles(zone, label))) == 3)
