# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Other harnesses can drive the daemon: in namespaces with a single user, with relative paths, invented servers, and a
clock that jumps. harness.py is such a harness."""

import json
import pathlib
import re
import subprocess
import time

import pytest
from conftest import eventually, program
from harness import ROOT, ROOT6, SELF, SELF6, Clock, alone
from peers import Authority

COOKIE = b"\0\x0a"
TLD = "10.53.1.1"
# Each of these zones has two servers. One of them is silent, not running, or does not exist.
HALVES = {f"half{number}.tld.": (f"10.53.2.{number}", f"10.53.3.{number}") for number in range(6)}
SILENT = [dead for dead, _ in HALVES.values()][:3]
NOWHERE = [dead for dead, _ in HALVES.values()][4:]

ROOT_ZONE = f"""\
@ NS whatever.name.
whatever.name. A {ROOT}
tld NS ns.tld.
test NS ns.tld.
ns.tld. A {TLD}
"""
TLD_ZONE = f"""\
@ NS ns.tld.
ns A {TLD}
www 60 A 192.0.2.1
a.b.c 60 A 192.0.2.2
alias 60 CNAME www.tld.
""" + "".join(f"{one} NS dead.{one}\ndead.{one} A {dead}\n{one} NS alive.{one}\nalive.{one} A {alive}\n"
              for one, (dead, alive) in HALVES.items())
TEST_ZONE = "@ NS ns.tld.\nwww A 192.0.2.3\n"


def serve_all(harness, port=53):
    harness.serve(ROOT, {".": ROOT_ZONE}, port)
    harness.serve(TLD, {"tld.": TLD_ZONE, "test.": TEST_ZONE}, port)
    for one, (dead, alive) in HALVES.items():
        harness.serve(alive, {one: "@ NS dead\n@ NS alive\nwww A 192.0.2.4\n" f"dead A {dead}\nalive A {alive}\n"}, port)
        if dead in SILENT:
            harness.serve(dead, None, port)
        elif dead not in NOWHERE:
            harness.add(dead)


def data(message):
    return [one.data for one in message.answer]


def answers(harness, name, rows):
    answer = harness.ask(name)
    assert (answer.rcode, data(answer)) == (0, rows), harness.log()
    return answer


# ---- its life ----


@alone
def test_a_daemon_starts_answers_and_ends_with_0(harness):
    serve_all(harness)
    begin = time.monotonic()
    daemon = harness.start()
    assert time.monotonic() - begin < 5  # the goal is one second, but this machine is busy
    answers(harness, "www.tld.", ["192.0.2.1"])
    answers(harness, "alias.tld.", ["www.tld.", "192.0.2.1"])
    assert harness.ask("nothing.tld.").rcode == 3
    harness.stop(daemon)


@alone
def test_a_daemon_that_was_asked_nothing_has_sent_nothing(harness):
    serve_all(harness)
    daemon = harness.start({"tcp-upstream-keepalive": ["10.53.0.0/16"]})
    time.sleep(1)
    assert harness.asked() == []
    harness.stop(daemon)


@alone
def test_an_unknown_user_is_an_error(harness):
    daemon = harness.spawn({"server": {"user": "65534:65534"}, "control": None})
    assert daemon.wait(20) == 3
    assert "65534" in harness.log().splitlines()[-1]


@alone
def test_a_control_socket_by_default_may_be_missing(harness):
    serve_all(harness)
    daemon = harness.start({"control": None})
    answers(harness, "www.tld.", ["192.0.2.1"])
    harness.stop(daemon)


# ---- its files ----


@alone
def test_every_path_counts_from_the_current_folder(harness):
    serve_all(harness)
    authority = Authority(harness.folder / "tls")
    pem, key = (path.relative_to(harness.folder) for path in authority.sign("DNS:harness.test"))
    harness.write("hosts", "192.0.2.77 of-the-hosts-file.tld\n")
    harness.write("blocked", "blocked.tld\n")
    harness.write("zones.yaml", "local-data: [included.tld. A 192.0.2.78]\n")
    harness.write("secrets", "e5e973e5a6b2a43f48e7dc849e37bfcf\n")
    (harness.folder / "secrets").chmod(0o600)
    daemon = harness.start({
        "include": ["zones.yaml"],
        "server": {"listen-tls": [f"{SELF}@853"], "cookie-secret-file": "secrets",
                   "tls-certificate": str(pem), "tls-key": str(key)},
        "cache": {"snapshot": "cache.snapshot"}, "hosts-file": "hosts", "block-lists": [{"file": "./blocked"}],
        "upstream": {"session-file": "sessions", "ca-bundle": "tls/ca.pem"},
        "log": {"tls-keys": "tls.keys"}, "dnstap": {"file": "queries.dnstap"}})
    answers(harness, "of-the-hosts-file.tld.", ["192.0.2.77"])
    answers(harness, "included.tld.", ["192.0.2.78"])
    answers(harness, "www.tld.", ["192.0.2.1"])
    assert harness.ask("blocked.tld.").rcode == 3
    asked = subprocess.run([program("nailupctl"), "-s", "control.sock", "--json", "status"], cwd=harness.folder,
                           capture_output=True, text=True, timeout=20)
    assert json.loads(asked.stdout)["daemon"]["pid"] == daemon.pid
    harness.stop(daemon)
    for made in ("cache.snapshot", "sessions", "tls.keys", "queries.dnstap"):
        assert (harness.folder / made).exists(), made
    assert not (harness.folder / "control.sock").exists()


# ---- its switches ----


@alone
@pytest.mark.parametrize("switch", ["yes", "no"])
def test_priming(harness, switch):
    serve_all(harness)
    daemon = harness.start({"recursion": {"priming": switch}})
    answers(harness, "www.tld.", ["192.0.2.1"])
    assert ((".", "NS") in harness.asked(ROOT)) == (switch == "yes")
    harness.stop(daemon)


@alone
@pytest.mark.parametrize("switch", ["yes", "no"])
def test_minimisation(harness, switch):
    serve_all(harness)
    daemon = harness.start({"recursion": {"qname-minimisation": switch, "case-randomisation": "no"}})
    answers(harness, "a.b.c.tld.", ["192.0.2.2"])
    names = {name for name, _ in harness.asked(ROOT)}
    assert ("a.b.c.tld." in names, "tld." in names) == ((False, True) if switch == "yes" else (True, False))
    harness.stop(daemon)


@alone
@pytest.mark.parametrize("switch", ["yes", "no"])
def test_random_case_and_cookies(harness, switch):
    serve_all(harness)
    daemon = harness.start({"recursion": {"case-randomisation": switch, "cookies": switch,
                                          "qname-minimisation": "no"}})
    name = "a-name-with-many-letters-to-toss-a-coin-for.and-some-more-of-them.tld."
    assert harness.ask(name).rcode == 3
    assert (name in {asked for asked, _ in harness.asked()}) == (switch == "no")
    assert {COOKIE in query.options for _, query, _, _ in harness.servers.queries} == {switch == "yes"}
    harness.stop(daemon)


@alone
@pytest.mark.parametrize("switch", ["yes", "no"])
def test_minimal_responses(harness, switch):
    serve_all(harness)
    daemon = harness.start({"server": {"minimal-responses": switch}})
    for _ in range(2):  # the second answer comes from the cache
        answer = answers(harness, "www.tld.", ["192.0.2.1"])
        assert [one.data for one in answer.authority] == ([] if switch == "yes" else ["ns.tld."])
        assert [one.data for one in answer.additional] == ([] if switch == "yes" else [TLD])
    harness.stop(daemon)


@alone
@pytest.mark.parametrize("switch", ["yes", "no"])
def test_zones_that_are_built_in(harness, switch):
    serve_all(harness)
    daemon = harness.start({"server": {"default-local-zones": switch}})
    answer = harness.ask("www.test.")
    assert (answer.rcode, data(answer)) == ((3, []) if switch == "yes" else (0, ["192.0.2.3"]))
    harness.stop(daemon)


@alone
def test_source_addresses_of_both_families(harness):
    harness.serve(ROOT6, {".": "tld NS four.tld.\nfour.tld. A 10.53.1.1\n"})
    harness.serve(TLD, {"tld.": TLD_ZONE})
    harness.hints = f". 3600 NS six.\nsix. 3600 AAAA {ROOT6}\n"
    daemon = harness.start({"server": {"outgoing": [SELF, SELF6]}, "recursion": {"priming": "no"}})
    answers(harness, "www.tld.", ["192.0.2.1"])
    assert {(server, source) for server, _, source, _ in harness.servers.queries} == {(ROOT6, SELF6), (TLD, SELF)}
    harness.stop(daemon)


@alone
def test_authoritative_servers_at_another_port(harness):
    serve_all(harness, port=5353)
    daemon = harness.start({"recursion": {"port": 5353}})
    answers(harness, "www.tld.", ["192.0.2.1"])
    harness.stop(daemon)


@alone
def test_a_stub_zone_asks_its_servers_and_may_do_without_the_cache(harness):
    serve_all(harness)
    daemon = harness.start({"stub-zones": [{"name": "tld.", "upstreams": [TLD], "cache": "no"}]})
    for _ in range(3):
        answers(harness, "www.tld.", ["192.0.2.1"])
    assert harness.asked(ROOT) == []
    assert [name.lower() for name, _ in harness.asked(TLD)].count("www.tld.") == 3
    harness.stop(daemon)


# ---- its answers ----


@alone
def test_queries_without_rd_are_answered_from_the_cache(harness):
    serve_all(harness)
    daemon = harness.start()
    assert harness.ask("www.tld.", flags=0).rcode == 5
    assert harness.asked() == []
    answers(harness, "www.tld.", ["192.0.2.1"])
    count = len(harness.asked())
    assert data(harness.ask("www.tld.", flags=0)) == ["192.0.2.1"]
    assert harness.ask("alias.tld.", flags=0).rcode == 5
    assert len(harness.asked()) == count
    harness.stop(daemon)


@alone
def test_zones_with_a_dead_server_are_answered_at_first_contact(harness):
    serve_all(harness)
    daemon = harness.start()
    for zone in HALVES:
        answer = answers(harness, f"www.{zone}", ["192.0.2.4"])
        assert answer.took_s < 5  # the goal is two seconds, and a client repeats its query after five
    harness.stop(daemon)


# ---- its clock ----


@alone
@pytest.mark.parametrize("monotonic", [True, False])
def test_a_clock_that_jumps_moves_ttls_and_timers(harness, monotonic):
    serve_all(harness)
    harness.clock = Clock(harness.folder, monotonic)
    daemon = harness.start({"cache": {"prefetch": "no", "serve-stale": "0s", "snapshot": "cache.snapshot"},
                            "upstream": {"session-file": "sessions"}})
    assert answers(harness, "www.tld.", ["192.0.2.1"]).answer[0].ttl == 60
    count = len(harness.asked(TLD))
    harness.clock.move(40)
    assert answers(harness, "www.tld.", ["192.0.2.1"]).answer[0].ttl <= 22
    assert len(harness.asked(TLD)) == count
    harness.clock.move(40)
    assert answers(harness, "www.tld.", ["192.0.2.1"]).answer[0].ttl == 60
    assert len(harness.asked(TLD)) > count
    for zone in HALVES:  # timers of the real clock still fire
        answers(harness, f"www.{zone}", ["192.0.2.4"])
    harness.clock.move(7 * 86400)
    answers(harness, "www.tld.", ["192.0.2.1"])
    eventually(lambda: harness.ask("nothing.tld.").rcode == 3)
    harness.stop(daemon)


# ---- the template of docs/harness.md ----

PAGE = pathlib.Path(__file__).parents[2] / "docs/harness.md"
ROOT_DS = ". IN DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D"
ISLAND_DS = "example.com. 3600 IN DS 2854 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D"
PLAYS = {
    "signed root": {"ROOT_ADDR": "193.0.14.129", "TRUST_ANCHORS": [ROOT_DS], "TRUST_ANCHOR_FILES": ["ta/..key"]},
    "island": {"ROOT_ADDR": "2001:7fe::53", "TRUST_ANCHORS": [ISLAND_DS], "TRUST_ANCHOR_FILES": ["ta/example.com..key"],
               "QMIN": "false", "DO_NOT_QUERY_LOCALHOST": "false", "NEGATIVE_TRUST_ANCHORS": ["bad.example.com."]},
    "both": {"ROOT_ADDR": "193.0.14.129", "TRUST_ANCHORS": [ROOT_DS, ISLAND_DS],
             "TRUST_ANCHOR_FILES": ["ta/..key", "ta/example.com..key"]},
    "no anchor": {"ROOT_ADDR": "193.0.14.129", "FEATURES": {"min_ttl": "5", "max_ttl": "60"}},
    "forwarder": {"FORWARD_ADDR": "192.0.2.1"},
}


@pytest.mark.parametrize("play", PLAYS)
def test_the_published_template_is_a_configuration(tmp_path, play):
    jinja2 = pytest.importorskip("jinja2")
    template, _ = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.S)
    facts = {"SELF_ADDR": "127.0.0.1", "QMIN": "true", "FEATURES": {}, "NEGATIVE_TRUST_ANCHORS": []} | PLAYS[play]
    (tmp_path / "nailup.yaml").write_text(jinja2.Template(template).render(facts))
    (tmp_path / "hints.zone").write_text(f". NS k.root-servers.net.\nk.root-servers.net. A {ROOT}\n")
    done = subprocess.run([program("nailupd"), "-t", "-c", "nailup.yaml"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=20)
    assert done.returncode == 0, done.stderr + done.stdout
