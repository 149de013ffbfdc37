# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Zones held here: the same answers as NSD gives from the same file, and files that change. Most basic first."""

import json
import subprocess

import pytest

from conftest import BUILD, eventually, program
from peers import need, nsd  # noqa: F401

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

ZONE = """$ORIGIN corp.example.
$TTL 300
@ SOA ns host 7 3600 600 86400 60
@ NS ns
@ MX 10 mail
ns A 10.9.0.1
ns AAAA 2001:db8::1
mail A 192.0.2.25
www A 192.0.2.1
www A 192.0.2.2
www TXT "a b" "c;d"
alias CNAME www
chain CNAME alias
* TXT "wild"
x.y.ent A 192.0.2.3
*.deep.w A 192.0.2.4
moved DNAME new
host.new A 192.0.2.5
sub NS ns.sub
sub NS elsewhere.example.
ns.sub A 10.9.0.2
safe NS ns.sub
safe DS 12345 13 2 0000000000000000000000000000000000000000000000000000000000000000
type TYPE65280 \\# 3 010203
srv SRV 1 2 53 ns
"""

NAMES = ["corp.example", "www.corp.example", "alias.corp.example", "chain.corp.example", "any.corp.example",
         "any.www.corp.example", "y.ent.corp.example", "ent.corp.example", "a.x.y.ent.corp.example",
         "a.b.deep.w.corp.example", "deep.w.corp.example", "moved.corp.example", "host.moved.corp.example",
         "no.moved.corp.example", "sub.corp.example", "a.sub.corp.example", "ns.sub.corp.example",
         "safe.corp.example", "a.safe.corp.example", "type.corp.example", "srv.corp.example", "*.corp.example"]
TYPES = ["A", "TXT", "NS", "DS"]


def held(path, **more):
    return {"auth-zones": [{"name": "corp.example", "file": str(path)} | more]}


def shape(answer, with_extra):
    """Returns the parts of an answer that must agree. NSD adds NS records and addresses to positive answers."""
    rows = [sorted((name.lower(), ttl, kind, data.lower()) for name, ttl, kind, data in answer.section("ANSWER"))]
    authority = sorted((name.lower(), ttl, kind, data.lower()) for name, ttl, kind, data in answer.section("AUTHORITY"))
    if rows[0]:
        authority = [row for row in authority if row[2] in ("SOA", "NSEC", "NSEC3")]
    return answer.status, "aa" in answer.flags, rows, authority if with_extra else None


def compare(dig, one, other, *options, leave_out=()):
    different = []
    for name in set(NAMES) - set(leave_out):
        for kind in TYPES:
            ours = shape(dig(one, name, kind, "+norecurse", *options), True)
            theirs = shape(dig(other, name, kind, "+norecurse", *options), True)
            if ours != theirs:
                only = [[row for row in a if row not in b] for a, b in
                        ((ours[2][0] + ours[3], theirs[2][0] + theirs[3]), (theirs[2][0] + theirs[3], ours[2][0] + ours[3]))]
                different.append((name, kind, ours[:2], theirs[:2], "only here:", only[0], "only NSD:", only[1]))
    assert not different, "\n".join(map(str, different[:5])) + f"\n{len(different)} differ"


def sign(folder, *options):
    """Signs the zone with a new key. Returns the text."""
    keygen, signer = need("ldns-keygen"), need("ldns-signzone")
    folder.mkdir()
    (folder / "zone").write_text(ZONE)
    key = subprocess.run([keygen, "-a", "ECDSAP256SHA256", "-k", "corp.example"], cwd=folder, check=True,
                         capture_output=True, text=True).stdout.strip()
    subprocess.run([signer, *options, "-f", "signed", "zone", key], cwd=folder, check=True, capture_output=True)
    return (folder / "signed").read_text()


def test_answers_are_those_of_nsd(nailupd, nsd, dig, tmp_path):  # noqa: F811
    path = tmp_path / "zone"
    path.write_text(ZONE)
    compare(dig, nailupd(held(path)), nsd({"corp.example": ZONE}))


@pytest.mark.parametrize("options", [[], ["-n", "-t", "0"], ["-n", "-t", "3", "-s", "abcd"]], ids=["nsec", "nsec3", "salted"])
def test_proofs_are_those_of_nsd(nailupd, nsd, dig, tmp_path, options):  # noqa: F811
    text = sign(tmp_path / "keys", *options)
    path = tmp_path / "zone"
    path.write_text(text)
    compare(dig, nailupd(held(path)), nsd({"corp.example": text}), "+dnssec", "+bufsize=4096",
            # NSD omits a proof behind a DNAME, and adds one that the name of a wildcard itself does not need.
            leave_out=["*.corp.example"] if options else ["no.moved.corp.example"])


def test_a_changed_file_is_read_at_a_reload(nailupd, dig, tmp_path):
    path = tmp_path / "zone"
    path.write_text(ZONE)
    daemon = nailupd(held(path))
    assert sorted(dig(daemon, "www.corp.example").data) == ["192.0.2.1", "192.0.2.2"]
    path.write_text(ZONE.replace("host 7", "host 8").replace("www A 192.0.2.1", "www A 192.0.2.11"))
    daemon.ctl("reload")
    eventually(lambda: sorted(dig(daemon, "www.corp.example").data) == ["192.0.2.11", "192.0.2.2"])
    zone = daemon.ask("zones")["held_zones"][0]
    assert (zone["zone"], zone["for"], zone["state"], zone["serial"]) == ("corp.example.", "both", "served", 8)


def test_zones_shows_no_times_that_a_zone_does_not_have(nailupd, tmp_path):
    path, rules = tmp_path / "zone", tmp_path / "rules"
    path.write_text(ZONE)
    rules.write_text("@ 60 SOA ns mail 1 60 60 60 60\nbad.example 60 CNAME .\n")
    absent = "127.0.0.1@1"
    daemon = nailupd({"auth-zones": [*held(path)["auth-zones"], {"name": "never.example", "primaries": [absent]}],
                      "rpz": [{"name": "rules.example", "file": str(rules)},
                              {"name": "feed.example", "primaries": [absent]}]})
    eventually(lambda: daemon.ask("zones")["held_zones"][1]["state"] == "failed")
    shown = daemon.ask("zones")

    def times(row):
        return {key for key, value in row.items() if key.endswith("_seconds") and value is not None}

    assert [times(row) for row in shown["held_zones"]] == [{"age_seconds"}, set()]
    assert [times(row) for row in shown["policy_zones"]] == [{"age_seconds"}, {"refresh_seconds"}]


def test_a_broken_file_leaves_the_version_before_in_force(nailupd, dig, tmp_path):
    path = tmp_path / "zone"
    path.write_text(ZONE)
    daemon = nailupd(held(path))
    path.write_text(ZONE.replace("host 7", "host 8") + "broken A 192.0.2\n")
    daemon.ctl("reload")
    eventually(lambda: daemon.ask("zones")["held_zones"][0]["state"] == "kept")
    assert dig(daemon, "corp.example", "SOA").data[0].split()[2] == "7"
    assert f"{path}:26: the data do not fit the type; the previous version stays in force" in daemon.log()
    assert daemon.metrics()['held_zones{state="kept"}'] == 1


def test_a_zone_that_comes_later_displaces_cached_answers(nailupd, responder, dig, tmp_path):
    path = tmp_path / "zone"
    daemon = nailupd(held(path, fallback="yes"), upstreams=[responder()])
    before = dig(daemon, "www.corp.example").data
    path.write_text(ZONE)
    daemon.ctl("reload")
    eventually(lambda: sorted(dig(daemon, "www.corp.example").data) == ["192.0.2.1", "192.0.2.2"])
    assert before not in (["192.0.2.1"], ["192.0.2.2"], ["192.0.2.1", "192.0.2.2"])


def test_answers_from_a_file_do_not_hide_a_zone(nailupd, responder, dig, tmp_path):
    """The snapshot and the dump were made before the zone was held here."""
    path, upstream = tmp_path / "zone", responder()
    path.write_text(ZONE)
    keeps = {"cache": {"snapshot": str(tmp_path / "snapshot")}}
    first = nailupd(keeps, upstreams=[upstream])
    assert dig(first, "www.corp.example").data != ["192.0.2.1"] and dig(first, "www.example.org").data
    dump = first.ctl("dump-cache").stdout
    assert "www.corp.example" in dump and first.stop() == 0
    second = nailupd(held(path) | keeps, upstreams=[upstream])
    assert sorted(dig(second, "www.corp.example").data) == ["192.0.2.1", "192.0.2.2"]
    third = nailupd(held(path), upstreams=[upstream])
    subprocess.run([program("nailupctl"), "-s", third.socket_path, "load-cache"], input=dump, text=True, check=True,
                   capture_output=True)
    assert sorted(dig(third, "www.corp.example").data) == ["192.0.2.1", "192.0.2.2"]
    assert "www.example.org" in third.ctl("dump-cache").stdout


def test_a_zone_without_data_is_not_asked_for_elsewhere(nailupd, responder, dig, tmp_path):
    daemon = nailupd(held(tmp_path / "missing"), upstreams=[responder()])
    answer = dig(daemon, "www.corp.example")
    assert answer.status == "SERVFAIL" and answer.ede == [14]
    assert dig(daemon, "www.example.org").status == "NOERROR"


def test_a_digest_that_does_not_match_refuses_the_zone(nailupd, dig, tmp_path):
    path = tmp_path / "zone"
    path.write_text(ZONE + "@ ZONEMD 7 1 1 " + "00" * 48 + "\n")
    daemon = nailupd(held(path))
    assert dig(daemon, "www.corp.example").status == "SERVFAIL"
    assert "the zone does not match the digest of its ZONEMD record" in daemon.log()
    path.write_text(ZONE)
    daemon.ctl("reload")
    eventually(lambda: dig(daemon, "www.corp.example").status == "NOERROR")


def test_a_digest_may_be_required(nailupd, dig, tmp_path):
    path = tmp_path / "zone"
    path.write_text(ZONE)
    daemon = nailupd(held(path, zonemd="require"))
    assert dig(daemon, "www.corp.example").status == "SERVFAIL"
    assert "the zone has no ZONEMD record" in daemon.log()


def test_a_digest_that_a_reload_requires_is_looked_for(nailupd, dig, tmp_path):
    path = tmp_path / "zone"
    path.write_text(ZONE)
    daemon = nailupd(held(path, zonemd="ignore"))
    config = json.loads(daemon.config_path.read_text())
    config["auth-zones"][0]["zonemd"] = "require"
    daemon.config_path.write_text(json.dumps(config))
    daemon.ctl("reload")
    eventually(lambda: daemon.ask("zones")["held_zones"][0]["state"] == "kept")
    assert "the zone has no ZONEMD record" in daemon.log()


def test_an_anchor_that_a_reload_adds_judges_a_zone_that_is_held_already(nailupd, dig, tmp_path):
    path = tmp_path / "zone"
    path.write_text(ZONE)
    daemon = nailupd(held(path, fallback="yes") | {"dnssec": {"validate": "yes"}})
    assert "aa" in dig(daemon, "www.corp.example").flags  # only the root has an anchor now
    config = json.loads(daemon.config_path.read_text())
    config["dnssec"]["trust-anchors"] = ["corp.example. DS 12345 13 2 " + "00" * 32]
    daemon.config_path.write_text(json.dumps(config))
    daemon.ctl("reload")
    eventually(lambda: daemon.ask("zones")["held_zones"][0]["state"] == "kept")
    assert "the zone has a trust anchor, but no DNSKEY record; the previous version stays in force" in daemon.log()


def test_a_digest_that_no_anchor_vouches_for_is_noted(nailupd, dig, tmp_path):
    (tmp_path / "zone").write_text(ZONE)
    key = subprocess.run([need("ldns-keygen"), "-a", "ECDSAP256SHA256", "-k", "corp.example"], cwd=tmp_path, check=True,
                         capture_output=True, text=True).stdout.strip()
    subprocess.run([need("ldns-signzone"), "-z", "1:1", "-o", "corp.example", "-f", "signed", "zone", key], cwd=tmp_path, check=True)
    daemon = nailupd(held(tmp_path / "signed") | {"dnssec": {"validate": "yes"}})

    def shown():
        row = daemon.ask("zones")["held_zones"][0]
        return row["state"], row["why"]

    note = "its ZONEMD record shows damage only: no trust anchor has this name; add one to dnssec.trust-anchors"
    assert shown() == ("served", note) and daemon.log().count(f"zone corp.example.: {note}") == 1
    config = json.loads(daemon.config_path.read_text())
    config["dnssec"]["trust-anchors"] = [" ".join((tmp_path / f"{key}.ds").read_text().split(";")[0].split())]
    daemon.config_path.write_text(json.dumps(config))
    assert daemon.ctl("reload").returncode == 0
    assert shown() == ("served", "") and daemon.log().count("not trusted") == 0


def test_a_zone_is_removed_by_a_reload(nailupd, responder, dig, tmp_path):
    path = tmp_path / "zone"
    path.write_text(ZONE)
    daemon = nailupd(held(path), upstreams=[responder()])
    assert "aa" in dig(daemon, "www.corp.example").flags
    config = json.loads(daemon.config_path.read_text())
    del config["auth-zones"]
    daemon.config_path.write_text(json.dumps(config))
    daemon.ctl("reload")
    eventually(lambda: "aa" not in dig(daemon, "www.corp.example").flags)
    assert "held_zones" not in daemon.ask("zones")


def test_lookup_and_trace_find_the_answer_here(nailupd, responder, dig, tmp_path):
    (tmp_path / "zone").write_text(ZONE + "away CNAME far.example.\n")
    upstream = responder()
    daemon = nailupd(held(tmp_path / "zone"), upstreams=[upstream])

    def reported(command, name):
        return daemon.ask(command, f"{name}.corp.example")[command]

    asked = upstream.stats()["udp_queries"]
    for name, rcode in (("www", "NOERROR"), ("no.www", "NXDOMAIN"), ("host.moved", "NOERROR")):
        assert dig(daemon, f"{name}.corp.example").status == rcode
        for command in ("lookup", "trace"):
            assert (reported(command, name)["answered"], reported(command, name)["rcode"]) == ("here", rcode), (command, name)
    assert upstream.stats()["udp_queries"] == asked
    assert (reported("lookup", "away")["answered"], reported("lookup", "away")["alias_to"]) == ("by upstreams", "far.example.")
    assert reported("lookup", "a.sub")["answered"] == "by upstreams" and reported("lookup", "a.sub")["alias_to"] == ""
    assert "far.example." in str(daemon.ask("trace", "away.corp.example")["records"])
