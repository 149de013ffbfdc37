# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Trust anchors from the configuration and from files, and negative trust anchors that are set at run time. Most basic
first."""

import pathlib
import subprocess

import pytest

from conftest import eventually, program
from test_reload import refused, reload, write

DIGEST = "683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16"
KEY = "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ=="
ROOT = [(".", "DS", 20326, "RSASHA256", "built-in"), (".", "DS", 38696, "RSASHA256", "built-in")]
PUBLISHED = pathlib.Path("/usr/share/dns/root.key")


def anchors(daemon):
    return [(row["zone"], row["kind"], row["key_tag"], row["algorithm"], row["source"])
            for row in daemon.ask("anchors")["anchors"]]


def ntas(daemon):
    return [row["name"] for row in daemon.ask("nta", "list")["ntas"]]


def check(config, tmp_path):
    """Runs nailupd -t. Returns its messages, without the file's name."""
    path = tmp_path / "checked.yaml"
    path.write_text(config)
    done = subprocess.run([program("nailupd"), "-t", "-c", str(path)], text=True, capture_output=True, timeout=20)
    return done.returncode, done.stderr.replace(str(path), "f")


# ---- the configuration ----


def test_the_roots_anchors_are_built_in(nailupd, responder, dig):
    daemon = nailupd({"dnssec": {"validate": "log"}}, upstreams=[responder()])
    assert anchors(daemon) == ROOT
    assert dig(daemon, "www.example.org").status == "NOERROR"


def test_anchors_of_the_configuration_are_in_force(nailupd, responder, tmp_path):
    (tmp_path / "anchors").write_text(f"; mine\nfile.example. DNSKEY 257 3 13 (\n  {KEY} )\n")
    daemon = nailupd({"dnssec": {
        "validate": "log", "trust-anchors": [f"list.example. DS 7 15 2 {DIGEST}"],
        "trust-anchor-file": str(tmp_path / "anchors"),
        "negative-trust-anchors": ["broken.example"]}}, upstreams=[responder()])
    assert anchors(daemon) == [
        ("list.example.", "DS", 7, "ED25519", "trust-anchors"),
        ("file.example.", "DNSKEY", 2371, "ECDSAP256SHA256", "trust-anchor-file"), *ROOT,
        ("broken.example.", "negative", None, "", "negative-trust-anchors")]


@pytest.mark.skipif(not PUBLISHED.exists(), reason="dns-root-data is not installed")
def test_the_published_keys_replace_the_builtin_digests(nailupd, responder):
    daemon = nailupd({"dnssec": {"validate": "log", "trust-anchor-file": str(PUBLISHED)}}, upstreams=[responder()])
    assert anchors(daemon) == [(*row[:1], "DNSKEY", *row[2:4], "trust-anchor-file") for row in ROOT]


def test_a_reload_reads_the_file_again_and_a_half_written_one_changes_nothing(nailupd, responder, tmp_path):
    path = tmp_path / "anchors"
    kept = "; autotrust trust anchor file\n;;id: . 1\n"
    line = f". 172800 IN DNSKEY 257 3 13 {KEY} ;;state={{}} [ X ] ;;count=0 ;;lastchange=0\n"
    path.write_text(kept + line.format(2))
    daemon = nailupd({"dnssec": {"validate": "log", "trust-anchor-file": str(path)}}, upstreams=[responder()])
    before = anchors(daemon)
    assert [row[:3] for row in before] == [(".", "DNSKEY", 2371)]
    path.write_text((kept + line.format(2) + line.format(2).replace(" 257 ", " 256 "))[:-9])
    assert "the last line has no end" in refused(daemon, "reload")
    assert anchors(daemon) == before
    path.write_text(kept + line.format(3) + line.format(2).replace(" 257 ", " 256 "))
    reload(daemon)
    assert [row[:3] for row in anchors(daemon)] == [(".", "DNSKEY", 2371), (".", "DNSKEY", 2370)]
    path.write_text(kept + line.format(1))
    assert "no key in the state VALID (2) or MISSING (3)" in refused(daemon, "reload")
    write(daemon, {"dnssec": {"validate": "log"}})


def test_errors_name_file_line_key_and_remedy(tmp_path):
    path = tmp_path / "anchors"
    path.write_text(f". DS 7 13 2 {DIGEST}\n. DS 7 13 2 ABCD\n")
    code, said = check(f"dnssec:\n  trust-anchor-file: {path}\n  validate: maybe\n", tmp_path)
    assert code == 1
    assert "f:3:13: error: dnssec.validate: takes no, log or yes, not \"maybe\"" in said
    assert f"f:2:3: error: dnssec.trust-anchor-file: {path}, line 2: may not be a trust anchor: the digest" in said
    code, said = check("dnssec: {validate: no, negative-trust-anchors: [a.example]}\n", tmp_path)
    assert code == 0
    assert "f:1:24: warning: dnssec.negative-trust-anchors has no effect while dnssec.validate is no" in said


def test_what_is_printed_loads_again(tmp_path):
    path = tmp_path / "first.yaml"
    path.write_text(f"dnssec: {{validate: log, sha1: yes, trust-anchors: [a. DS 7 13 2 {DIGEST}], "
                    "negative-trust-anchors: [b, c.example]}\n"
                    "stub-zones: [{name: d, upstreams: [192.0.2.1], validate: no}]\n")
    printed = [subprocess.run([program("nailupd"), "--print-config", "-c", str(path)], text=True,
                              capture_output=True, check=True, timeout=20).stdout]
    path.write_text(printed[0])
    printed.append(subprocess.run([program("nailupd"), "--print-config", "-c", str(path)], text=True,
                                  capture_output=True, check=True, timeout=20).stdout)
    assert printed[0] == printed[1]
    assert "  validate: log\n" in printed[0] and "validate: no, " in printed[0]


# ---- at run time ----


def test_a_negative_anchor_is_set_and_removed(nailupd, responder):
    daemon = nailupd({"dnssec": {"validate": "log"}}, upstreams=[responder()], workers=2)
    assert ntas(daemon) == []
    assert daemon.ask("nta", "add", "Broken.Example")["nta"] == {"name": "broken.example.", "changed": True}
    daemon.ask("nta", "add", "other.example", "7d")
    shown = daemon.ask("nta")["ntas"]
    assert [row["name"] for row in shown] == ["broken.example.", "other.example."]
    assert 3500 < shown[0]["left_seconds"] <= 3600 < 604700 < shown[1]["left_seconds"] <= 604800
    assert anchors(daemon) == [*ROOT, ("broken.example.", "negative", None, "", "nta"),
                               ("other.example.", "negative", None, "", "nta")]
    assert not daemon.ask("nta", "add", "broken.example", "2h")["nta"]["changed"]
    assert daemon.ask("nta")["ntas"][0]["left_seconds"] > 7000
    reload(daemon)
    assert ntas(daemon) == ["broken.example.", "other.example."]
    assert daemon.ask("nta", "remove", "broken.example.")["nta"]["changed"]
    assert ntas(daemon) == ["other.example."]
    assert [row[0] for row in anchors(daemon)] == [".", ".", "other.example."]
    assert "no such negative trust anchor" in refused(daemon, "nta", "remove", "broken.example")


def test_a_negative_anchor_ends_by_itself(nailupd, responder):
    daemon = nailupd({"dnssec": {"validate": "log"}}, upstreams=[responder()])
    daemon.ask("nta", "add", "long.example", "1h")
    daemon.ask("nta", "add", "short.example", "1s")
    eventually(lambda: ntas(daemon) == ["long.example."], within=20)
    eventually(lambda: [row[0] for row in anchors(daemon)] == [".", ".", "long.example."])
    assert "the negative trust anchor short.example. has ended" in daemon.log()


def test_each_change_makes_the_cache_forget_the_names_below(nailupd, responder, dig):
    daemon = nailupd({"dnssec": {"validate": "log"}}, upstreams=[responder()])

    def misses(*names):
        before = daemon.metrics()["cache_misses_total"]
        for name in names:
            assert dig(daemon, name).status == "NOERROR"
        return daemon.metrics()["cache_misses_total"] - before

    names = ("a.corp.example", "corp.example", "xcorp.example")
    assert misses(*names) == 3 and misses(*names) == 0
    daemon.ask("nta", "add", "corp.example")
    assert misses("xcorp.example") == 0 and misses(*names) == 2
    daemon.ask("nta", "add", "corp.example", "2h")
    assert misses(*names) == 0
    daemon.ask("nta", "remove", "corp.example")
    assert misses("xcorp.example") == 0 and misses(*names) == 2
    write(daemon, {"dnssec": {"validate": "log", "negative-trust-anchors": ["a.corp.example"]}})
    reload(daemon)
    assert misses("corp.example", "xcorp.example") == 0 and misses(*names) == 1
    daemon.ask("nta", "add", "short.example", "1s")
    assert misses("www.short.example") == 1
    eventually(lambda: ntas(daemon) == [], within=20)
    eventually(lambda: misses("www.short.example") == 1)


def test_a_bogus_failure_does_not_outlive_a_reload_to_validate_no(nailupd, responder, dig):
    upstream = responder()

    def zone(**more):
        return {"dnssec": {"validate": "yes", "trust-anchors": [f"corp.example. DS 7 15 2 {DIGEST}"]},
                "forward-zones": [{"name": "corp.example", "upstreams": upstream.servers, **more}]}

    daemon = nailupd(zone())
    for spares in (False, True, False, True):
        write(daemon, zone(validate=not spares))
        reload(daemon)
        assert dig(daemon, "www.corp.example").status == ("NOERROR" if spares else "SERVFAIL")


def config_with_strict_view(upstream, **more):
    """Only the view of all clients validates."""
    return {"dnssec": {"validate": "no", "trust-anchors": [f"corp.example. DS 7 15 2 {DIGEST}"]},
            "views": [{"name": "strict", "clients": ["127.0.0.0/8"], "validate": "yes"}],
            "forward-zones": [{"name": "corp.example", "upstreams": upstream.servers, **more}]}


def test_a_view_that_validates_forgets_too(nailupd, responder, dig):
    upstream = responder()
    daemon = nailupd(config_with_strict_view(upstream))
    assert "no effect" not in daemon.log()  # its trust anchors are in force
    seen = []
    for spares in (False, True, False, True):
        write(daemon, config_with_strict_view(upstream, validate=not spares))
        reload(daemon)
        seen.append(dig(daemon, "www.corp.example").status)
    assert seen == ["SERVFAIL", "NOERROR"] * 2


def test_a_negative_anchor_is_in_force_at_once_in_a_view_that_validates(nailupd, responder, dig):
    daemon = nailupd(config_with_strict_view(responder()))
    before = dig(daemon, "www.corp.example").status
    daemon.ctl("nta", "add", "corp.example")
    assert (before, dig(daemon, "www.corp.example").status) == ("SERVFAIL", "NOERROR")


def restart(daemon, nailupd, config, upstream):
    assert daemon.stop() == 0
    daemon = nailupd(config, upstreams=[upstream])
    assert "1 answer read from" in daemon.log() or "1 answers read from" in daemon.log()
    return daemon


def test_answers_below_a_negative_anchor_do_not_outlive_it_in_a_snapshot(nailupd, responder, dig, tmp_path):
    upstream = responder()
    config = {"dnssec": {"validate": "yes"}, "cache": {"snapshot": str(tmp_path / "cache.snapshot")}}
    daemon = nailupd(config, upstreams=[upstream])
    daemon.ask("nta", "add", "corp.example")
    assert dig(daemon, "www.corp.example").status == "NOERROR"
    daemon = restart(daemon, nailupd, config, upstream)
    assert ntas(daemon) == []
    assert dig(daemon, "www.corp.example").status == "SERVFAIL"


def test_answers_below_a_negative_anchor_that_stays_survive_a_restart(nailupd, responder, dig, tmp_path):
    upstream = responder()
    config = {"dnssec": {"validate": "yes", "negative-trust-anchors": ["corp.example"]},
              "cache": {"snapshot": str(tmp_path / "cache.snapshot")}}
    daemon = nailupd(config, upstreams=[upstream])
    reload(daemon)
    assert dig(daemon, "www.corp.example").status == "NOERROR"
    daemon = restart(daemon, nailupd, config, upstream)
    assert dig(daemon, "www.corp.example").status == "NOERROR"
    assert daemon.metrics()["cache_hits_total"] == 1


@pytest.mark.parametrize("words, sentence", [
    (["add"], "name the zone"),
    (["add", "a..b"], "is not a domain name"),
    (["add", "corp.example", "8d"], "is not a time from 1s to 7d"),
    (["remove", "corp.example"], "no such negative trust anchor"),
    (["set", "corp.example"], "write add NAME [TIME]"),
    (["list", "corp.example"], "list takes no name")])
def test_wrong_words_are_refused(nailupd, responder, words, sentence):
    daemon = nailupd({"dnssec": {"validate": "log"}}, upstreams=[responder()])
    assert sentence in refused(daemon, "nta", *words)
    assert ntas(daemon) == [] and anchors(daemon) == ROOT
