# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""NSD and Unbound as upstreams: nailupd gives the same answers as they do. The zones are in zones/."""

import pathlib
import subprocess

import pytest

from conftest import BUILD, eventually
from peers import dig_all, need, nsd, unbound  # noqa: F401 (fixtures)

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

ZONES = pathlib.Path(__file__).parent / "zones"
ALPHA = (ZONES / "alpha.test").read_text() + "".join(
    f"big A 10.1.{i // 250}.{1 + i % 250}\nbig MX {i} mail{i}\n" for i in range(300))
BETA = (ZONES / "beta.test").read_text()
BOTH = {"alpha.test": ALPHA, "beta.test": BETA}

PRESENT = [
    ("alpha.test", "SOA"), ("alpha.test", "NS"), ("alpha.test", "MX"), ("alpha.test", "TXT"),
    ("alpha.test", "CAA"), ("www.alpha.test", "A"), ("www.alpha.test", "AAAA"),
    ("WwW.aLpHa.TeSt", "A"), ("brief.alpha.test", "A"), ("never.alpha.test", "A"),
    ("one.alpha.test", "A"), ("one.alpha.test", "AAAA"), ("one.alpha.test", "CNAME"),
    ("two.alpha.test", "A"), ("toward.alpha.test", "A"), ("toward.alpha.test", "TXT"),
    ("any.wild.alpha.test", "A"), ("a.b.c.wild.alpha.test", "TXT"), ("held.wild.alpha.test", "MX"),
    ("any.aliases.alpha.test", "A"), ("x.moved.alpha.test", "A"), ("moved.alpha.test", "DNAME"),
    ("low.middle.high.alpha.test", "A"), ("_sip._udp.alpha.test", "SRV"),
    ("_443._tcp.www.alpha.test", "TLSA"), ("naptr.alpha.test", "NAPTR"),
    ("ssh.alpha.test", "SSHFP"), ("svc.alpha.test", "HTTPS"), ("svc2.alpha.test", "SVCB"),
    ("place.alpha.test", "LOC"), ("machine.alpha.test", "HINFO"),
    ("unknown.alpha.test", "TYPE65280"), ("odd\\.dot.alpha.test", "A"),
    ("sp\\032ace.alpha.test", "A"), ("b\\000\\255.alpha.test", "A"), ("upper.alpha.test", "A"),
    ("words.alpha.test", "TXT"), ("long-words.alpha.test", "TXT"), ("big.alpha.test", "A"),
    ("big.alpha.test", "MX"), ("www.beta.test", "A"), ("x.y.beta.test", "TXT")]

ABSENT = [
    ("nothing.alpha.test", "A"), ("www.alpha.test", "MX"), ("alpha.test", "A"),
    ("high.alpha.test", "A"), ("middle.high.alpha.test", "A"), ("held.wild.alpha.test", "A"),
    ("any.wild.alpha.test", "AAAA"), ("one.alpha.test", "MX"), ("loose.alpha.test", "A"),
    ("x.www.alpha.test", "A"), ("y.moved.alpha.test", "A"), ("big.alpha.test", "AAAA"),
    ("www.beta.test", "TXT"), ("other.beta.test", "A")]

TRANSPORTS = {
    "udp": {},
    "tcp": {"upstream": {"transport": "tcp", "fallback": "none"}},
    "nailed": {"nailed": True},
    "nailed, 3 requests each": {"nailed": True, "tcp-upstream-keepalive-maxrequests": 3}}


@pytest.fixture(params=TRANSPORTS, ids=lambda name: name.replace(" ", "-"))
def through(request, nailupd):
    """through(server): starts a daemon with that upstream, over each of TRANSPORTS."""

    def start(server, config=None):
        config = {**TRANSPORTS[request.param], **(config or {})}
        nailed = config.pop("nailed", False)
        return nailupd(config, upstreams=[server.server], nailed=nailed)

    start.is_stream = request.param != "udp"
    return start


def rows_of(answer, section="ANSWER"):
    return sorted((name.lower(), kind, data) for name, _, kind, data in answer.section(section))


def compare(questions, direct, ours, sections=("ANSWER",)):
    for question, wanted, got in zip(questions, direct, ours):
        assert got.status == wanted.status, (question, got.text, wanted.text)
        for section in sections:
            assert rows_of(got, section) == rows_of(wanted, section), (question, got.text)
            ttl = {(name.lower(), kind, data): ttl
                   for name, ttl, kind, data in wanted.section(section)}
            for name, seconds, kind, data in got.section(section):
                assert seconds <= ttl[name.lower(), kind, data], (question, got.text)


def check_transport(daemon, is_stream):
    """Checks the transport: only TCP if is_stream, else UDP with TCP after a truncated answer."""
    reported = daemon.metrics()
    over_udp = reported['upstream_queries_total{transport="udp"}']
    over_tcp = reported['upstream_queries_total{transport="tcp"}']
    assert (over_udp == 0 and over_tcp > 30) if is_stream else over_udp > over_tcp > 0, reported


# ---- NSD ----


def test_answers_are_those_of_nsd(through, nsd, tmp_path):  # noqa: F811
    server = nsd(BOTH)
    daemon = through(server)
    eventually(lambda: all(c["state"] == "ready" for c in daemon.connections()))
    direct = dig_all(server, PRESENT, tmp_path)
    assert {answer.status for answer in direct} == {"NOERROR"}
    compare(PRESENT, direct, dig_all(daemon, PRESENT, tmp_path))
    compare(PRESENT, direct, dig_all(daemon, PRESENT, tmp_path, "+tcp", "+keepopen"))
    check_transport(daemon, through.is_stream)


def test_negative_answers_are_those_of_nsd_with_the_soa(through, nsd, tmp_path):  # noqa: F811
    server = nsd(BOTH)
    daemon = through(server)
    direct = dig_all(server, ABSENT, tmp_path)
    ours = dig_all(daemon, ABSENT, tmp_path)
    compare(ABSENT, direct, ours, ("ANSWER", "AUTHORITY"))
    for question, answer in zip(ABSENT, ours):
        (soa,) = answer.section("AUTHORITY")
        assert (soa[2], soa[1] <= 300) == ("SOA", True), (question, answer.text)
    compare(ABSENT, direct, dig_all(daemon, ABSENT, tmp_path), ("ANSWER", "AUTHORITY"))


def test_ttls_of_a_real_zone_are_kept_in_bounds(nsd, nailupd, dig):  # noqa: F811
    daemon = nailupd({"cache": {"max-ttl": "1h"}}, upstreams=[nsd(BOTH).server])
    assert dig(daemon, "long.alpha.test").rows[0][1] <= 3600
    assert dig(daemon, "long.alpha.test").rows[0][1] <= 3600
    for _ in range(2):
        assert dig(daemon, "never.alpha.test").rows[0][1] == 0
    assert dig(daemon, "nothing.alpha.test").section("AUTHORITY")[0][1] <= 300


def test_an_alias_that_leads_out_of_a_zone_is_followed_by_the_other_zone(nsd, nailupd, dig):  # noqa: F811
    alpha, beta = nsd({"alpha.test": ALPHA}), nsd({"beta.test": BETA})
    daemon = nailupd({"forward-zones": [
        {"name": "alpha.test", "upstreams": [alpha.server]},
        {"name": "beta.test", "upstreams": [beta.server]}],
        "tcp-upstream-keepalive": [beta.ip]})
    for _ in range(2):
        out = dig(daemon, "out.alpha.test")
        assert out.status == "NOERROR"
        assert out.data == ["www.beta.test.", "198.51.100.80"]
        back = dig(daemon, "back.beta.test")
        assert (back.status, back.data[0]) == ("NOERROR", "www.alpha.test.")
        assert sorted(back.data[1:]) == ["192.0.2.80", "192.0.2.81"]
    assert dig(daemon, "www.gamma.test").status == "REFUSED"


def test_an_alias_loop_of_a_real_server_ends(nsd, nailupd, dig):  # noqa: F811
    daemon = nailupd(upstreams=[nsd(BOTH).server])
    for _ in range(2):
        answer = dig(daemon, "circle.alpha.test")
        assert answer.status in ("NOERROR", "SERVFAIL"), answer.text
        assert len(answer.rows) <= 2


def test_names_that_nsd_does_not_serve_are_refused_or_fail(nsd, nailupd, dig):  # noqa: F811
    daemon = nailupd(upstreams=[nsd(BOTH).server], nailed=True)
    assert dig(daemon, "www.elsewhere.test").status in ("REFUSED", "SERVFAIL")
    assert dig(daemon, "www.alpha.test").status == "NOERROR"


# ---- a signed zone ----


@pytest.fixture(params=[[], ["-n", "-t", "1", "-s", "beef"]], ids=["NSEC", "NSEC3"])
def signed(request, tmp_path):
    """Yields (text of the signed alpha.test, path of its key)."""
    keygen, signzone = need("ldns-keygen"), need("ldns-signzone")
    folder = tmp_path / "signed"
    folder.mkdir()
    plain = "".join(line for line in ALPHA.splitlines(True) if not line.startswith("big"))
    (folder / "zone").write_text(plain)
    key = subprocess.run([keygen, "-r", "/dev/urandom", "-k", "-a", "ECDSAP256SHA256",
                          "alpha.test"], cwd=folder, text=True, capture_output=True, timeout=30)
    assert key.returncode == 0, key.stderr
    done = subprocess.run([signzone, *request.param, "-o", "alpha.test", "zone",
                           key.stdout.strip()], cwd=folder, text=True, capture_output=True,
                          timeout=30)
    assert done.returncode == 0, done.stderr
    return (folder / "zone.signed").read_text(), folder / (key.stdout.strip() + ".key")


SIGNED = [question for question in PRESENT + ABSENT
          if "alpha.test" in question[0].lower() and not question[0].startswith("big")]
SIGNED += [("alpha.test", "DNSKEY")]


def test_do_brings_signatures_and_proofs(through, nsd, signed, tmp_path):  # noqa: F811
    server = nsd({"alpha.test": signed[0]})
    daemon = through(server)
    direct = dig_all(server, SIGNED, tmp_path, "+dnssec")
    for _ in range(2):
        ours = dig_all(daemon, SIGNED, tmp_path, "+dnssec")
        compare(SIGNED, direct, ours)
        for question, wanted, got in zip(SIGNED, direct, ours):
            proof = {row[0:1] + row[2:3] for row in wanted.section("AUTHORITY")
                     if row[2].startswith("NSEC")}
            mine = {row[0:1] + row[2:3] for row in got.section("AUTHORITY")}
            assert proof <= mine, (question, got.text, wanted.text)
            assert not got.rows or any(row[2] == "RRSIG" for row in got.rows)
    plain = dig_all(daemon, SIGNED, tmp_path)
    for question, got in zip(SIGNED, plain):
        assert not any(row[2] in ("RRSIG", "NSEC", "NSEC3") for row in
                       got.rows + got.section("AUTHORITY")), (question, got.text)
        assert "ad" not in got.flags


def test_a_validating_unbound_accepts_our_answers(nailupd, nsd, unbound,  # noqa: F811
                                                                 signed, tmp_path):
    daemon = nailupd(upstreams=[nsd({"alpha.test": signed[0]}).server], nailed=True)
    resolver = unbound(
        f"forward-zone:\n  name: alpha.test\n  forward-addr: {daemon.server}\n",
        **{"module-config": '"validator iterator"', "trust-anchor-file": f'"{signed[1]}"',
           "domain-insecure": "invalid", "local-zone": "test. nodefault"})
    wanted = [("www.alpha.test", "A"), ("one.alpha.test", "A"), ("any.wild.alpha.test", "A"),
              ("nothing.alpha.test", "A"), ("www.alpha.test", "MX"), ("x.moved.alpha.test", "A"),
              ("high.alpha.test", "A"), ("words.alpha.test", "TXT"), ("loose.alpha.test", "A")]
    for question, answer in zip(wanted, dig_all(resolver, wanted, tmp_path, "+dnssec")):
        assert answer.status in ("NOERROR", "NXDOMAIN"), (question, answer.text)
        assert "ad" in answer.flags, (question, answer.text)


# ---- Unbound ----


def test_answers_are_those_of_unbound_that_forwards(through, nsd, unbound, tmp_path):  # noqa: F811
    zone = f'forward-zone:\n  name: "."\n  forward-addr: {nsd(BOTH).server}\n'
    server = unbound(zone, **{"local-zone": "test. nodefault"})
    daemon = through(server)
    questions = [q for q in PRESENT + ABSENT if not q[0].startswith(("never", "y.moved"))]
    direct = dig_all(server, questions, tmp_path)
    compare(questions, direct, dig_all(daemon, questions, tmp_path))
    compare(questions, direct, dig_all(daemon, questions, tmp_path))
    check_transport(daemon, through.is_stream)


def test_answers_are_those_of_unbound_from_local_data(through, unbound, tmp_path):  # noqa: F811
    server = unbound(**{"local-zone": '"local.test." static', "local-data": [
        '"local.test. 600 SOA ns.local.test. hm.local.test. 1 2 3 4 60"',
        '"a.local.test. 600 A 192.0.2.1"', '"a.local.test. 600 A 192.0.2.2"',
        '"t.local.test. 600 TXT text"', '"c.local.test. 600 CNAME a.local.test."']})
    daemon = through(server)
    questions = [("a.local.test", "A"), ("t.local.test", "TXT"), ("c.local.test", "CNAME"),
                 ("nothing.local.test", "A"), ("a.local.test", "AAAA"), ("local.test", "SOA")]
    compare(questions, dig_all(server, questions, tmp_path),
            dig_all(daemon, questions, tmp_path), ("ANSWER", "AUTHORITY"))
