# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Validating resolvers over a signed hierarchy (signed_tree/README.md): is each answer secure, insecure or bogus as the
RFCs say? The resolvers are Unbound, BIND, Knot Resolver and nailupd."""

import json
import os
import random
import subprocess

import pytest
from conftest import Daemon, program
from hierarchy.run import need
from hierarchy.wire import AD, CD, RD
from signed_tree import compare, run
from signed_tree.cases import BOGUS, CASES, CHAOS_CASES, INSECURE, KNOWN, SECURE
from signed_tree.signer import label_order
from signed_tree.zones import ZONES, zone_of

RIGHT_FILES = ["nsec3-0.sec.", "nsec3-10.sec.", "nsec-13.sec.", "bind-15.sec.", "own-16.sec.", "cross.sec.",
               "wild3.sec.", "sec.", "three.", "collide.sec."]
WRONG_FILES = ["flip.sec.", "expired.sec.", "nosig.sec.", "flipnsec.sec.", "changed.sec."]


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Makes the files of the hierarchy once for all processes of pytest."""
    own = tmp_path_factory.getbasetemp()
    try:
        return run.build_once((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "signed-tree")
    except run.CannotRun as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def tree(made, tmp_path_factory):
    """Yields the running hierarchy."""
    try:
        with run.Place() as place, run.Tree(tmp_path_factory.mktemp("tree"), place, made) as tree:
            yield tree
    except run.CannotRun as error:
        pytest.skip(str(error))


@pytest.fixture
def started(tree):
    """started(start, ...): starts a resolver of signed_tree.run, which ends with the test."""
    running = []

    def start(function, **more):
        try:
            running.append(function(tree, **more))
        except run.CannotRun as error:
            pytest.skip(str(error))
        return running[-1]

    yield start
    for one in running:
        one.stop()


# ---- the table and the files ----


def test_every_zone_has_a_question_and_every_known_difference_a_zone():
    asked = {zone_of(one.name).name for one in [*CASES, *CHAOS_CASES]}
    assert set(ZONES) - asked == set(), "zones without a question"
    assert {verdict for one in CASES for verdict in one.verdict.split(" or ")} >= {SECURE, INSECURE, BOGUS}
    assert all(one.ede for one in CASES if one.verdict == BOGUS and one.name not in ("", ".")), "bogus without an error"
    names = {one.name for one in CASES} | set(ZONES)
    assert {name for rows in KNOWN.values() for name, *_ in rows} - {None} <= names


def verify(path):
    done = subprocess.run([need("ldns-verify-zone"), path], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_ldns_accepts_the_right_zones_and_no_broken_one(made):
    for name in RIGHT_FILES:
        code, said = verify(made / run.zone_path(name))
        assert code == 0, f"{name}: {said}"
    for name in WRONG_FILES:
        assert verify(made / run.zone_path(name))[0] != 0, name


def test_canonical_order_is_that_of_rfc_4034():
    names = ["example.", "a.example.", "yljkjljk.a.example.", "z.a.example.", "zabc.a.example.", "z.example.",
             "*.z.example."]
    assert sorted(reversed(names), key=label_order) == names


def test_a_wrong_verdict_is_reported():
    one = next(one for one in CASES if one.question == ("www.flip.sec.", "A"))
    good = next(one for one in CASES if one.question == ("www.nsec-13.sec.", "A"))

    def answer(rcode="NOERROR", flags=AD, rows=(), errors=(), ttls=()):
        return {"rcode": rcode, "flags": flags, "rows": set(rows), "errors": list(errors), "ttls": list(ttls)}

    signed = [("www.nsec-13.sec.", "A", "192.0.2.80"), ("www.nsec-13.sec.", "RRSIG", "\\# 1 00")]
    assert compare.judge(good, answer(rows=signed)) is None
    assert compare.judge(good, answer(rows=signed, flags=0)) == "insecure instead of secure"
    assert "no signature" in compare.judge(good, answer(rows=signed[:1]))
    assert "other rows" in compare.judge(good, answer(rows=[*signed, ("www.nsec-13.sec.", "A", "203.0.113.66")]))
    assert compare.judge(one, answer("SERVFAIL", 0)) is None
    assert "EDE" in compare.judge_errors(one, answer("SERVFAIL", 0, errors=[[22, ""]]))
    assert compare.judge(one, answer(rows=signed)) == "secure instead of bogus"


# ---- the peers ----


def check(name, answers, cases=CASES, **more):
    wrong = [f"{' '.join(one.question)}: {fault} ({one.why})" for one, fault, why in
             compare.faults(name, cases, answers, **more) if why is None]
    assert not wrong, "\n".join(wrong[:30])


@pytest.mark.parametrize("name", run.RESOLVERS)
def test_a_peer_validates_every_question_or_differs_for_a_known_reason(tree, started, name):
    answers = compare.ask(tree, started(run.RESOLVERS[name]).address)
    check(name, answers)


def test_a_peer_that_forwards_to_a_plain_recursor_validates_as_well(tree, started):
    """The plain recursor passes on everything that a validator needs."""
    plain = started(run.start_plain)
    check("unbound", compare.ask(tree, started(run.start_unbound, forward_to=plain).address))


def test_the_plain_recursor_gives_bogus_data_and_never_ad(tree, started):
    plain, cases = started(run.start_plain), [one for one in CASES if one.name.startswith("www.f")]
    answers = compare.ask(tree, plain.address, cases)
    assert {answer["rcode"] for answer in answers} == {"NOERROR"}
    assert not any(answer["flags"] & AD for answer in answers)


# ---- nailupd ----


@pytest.fixture
def nailupd(tree, tmp_path):
    """nailupd(validate="log", ...): starts nailupd in the namespace of the hierarchy (see run.nailupd_config()). Skips
    the test if this build does not know `dnssec.validate`."""
    running = []

    def start(**more):
        config = run.nailupd_config(tree, tmp_path / "control.sock", **more)
        path = tmp_path / "test.yaml"
        path.write_text(json.dumps(config))
        done = subprocess.run([program("nailupd"), "-t", "-c", path], capture_output=True, text=True, timeout=20)
        if done.returncode and "dnssec" in done.stderr + done.stdout:
            pytest.skip("this nailupd does not validate")
        daemon = Daemon(tmp_path, config, inside=tree.place.enter)
        daemon.address = daemon.ip, daemon.port
        running.append(daemon)
        daemon.wait_until_ready(30)
        return daemon

    yield start
    for daemon in running:
        code = daemon.stop()
        daemon.check_clean()
        assert code == 0, daemon.log()


def check_ours(answers, cases=CASES, has_sha1=False):
    check("nailupd", answers, cases, has_sha1=has_sha1)
    wrong = [f"{' '.join(one.question)}: {error}" for one, answer in zip(cases, answers)
             if not compare.judge(one, answer, has_sha1) and (error := compare.judge_errors(one, answer, has_sha1))]
    assert not wrong, "\n".join(wrong[:30])


def test_nailupd_validates_in_recursion_cold_and_warm(tree, nailupd):
    daemon = nailupd()
    check_ours(compare.ask(tree, daemon.address))
    check_ours(compare.ask(tree, daemon.address))


def test_nailupd_believes_no_answer_that_was_changed_at_random(tree, nailupd):
    check_ours(compare.ask(tree, nailupd().address, CHAOS_CASES), CHAOS_CASES)


@pytest.mark.parametrize("is_nailed", [False, True], ids=["udp", "nailed"])
def test_nailupd_validates_what_a_plain_recursor_forwards(tree, started, nailupd, is_nailed):
    daemon = nailupd(forward_to=started(run.start_plain), is_nailed=is_nailed)
    check_ours(compare.ask(tree, daemon.address))


def signed_questions():
    return [one.question for one in CASES if one.verdict == "secure" and one.rcode == "NOERROR"][:30]


def test_a_forwarder_that_strips_signatures_is_named_once_and_never_believed(tree, started, nailupd):
    daemon = nailupd(forward_to=started(run.start_stripping))
    for answer in tree.ask(daemon.address, signed_questions(), dnssec_ok=True):
        assert answer["rcode"] == "SERVFAIL" and [code for code, _ in answer["errors"]][:1] == [10], answer
    assert daemon.log().count("strips signatures") == 1, daemon.log()
    assert [one["health"] for one in daemon.upstreams()] == ["strips signatures"]


def test_a_forwarder_that_strips_signatures_is_asked_after_the_others(tree, started, nailupd):
    stripping = started(run.start_stripping)
    daemon = nailupd(forward_to=stripping, also_to=[started(run.start_plain)])
    for answer in tree.ask(daemon.address, signed_questions(), dnssec_ok=True):
        assert answer["rcode"] == "NOERROR" and answer["flags"] & AD, answer
    health = {one["upstream"]: one["health"] for one in daemon.upstreams()}
    assert health["%s@%d" % stripping.address] == "strips signatures", health
    assert daemon.log().count("strips signatures") == 1


def test_sha1_counts_where_the_operator_wants_it(tree, nailupd):
    cases = [one for one in CASES if zone_of(one.name).name in ("nsec-5.sec.", "bind-7.sec.")]
    check_ours(compare.ask(tree, nailupd(sha1="yes").address, cases), cases, has_sha1=True)


def test_log_changes_no_answer(tree, nailupd):
    daemon = nailupd(validate="log")
    for one, answer in zip(CASES, compare.ask(tree, daemon.address)):
        has_answer = one.rcode == "NOERROR" and one.rows and zone_of(one.name).lie is None
        assert not answer["flags"] & AD, one.question
        assert answer["rcode"] == "NOERROR" or not has_answer, one.question


def test_a_client_that_checks_itself_gets_bogus_data(tree, nailupd):
    """CD requests unchecked data (RFC 4035 section 3.2.2)."""
    daemon = nailupd()
    cases = [one for one in CASES if one.name.startswith("www.") and one.type == "A" and one.verdict == BOGUS]
    cases = [one for one in cases if zone_of(one.name).lie is None]
    assert len(cases) > 20
    for flags, rcodes in ((RD, {"SERVFAIL"}), (RD | CD, {"NOERROR"}), (RD, {"SERVFAIL"})):
        answers = compare.ask(tree, daemon.address, cases, flags=flags)
        assert {answer["rcode"] for answer in answers} == rcodes
        assert not any(answer["flags"] & AD for answer in answers)


def test_only_clients_that_ask_for_it_get_ad_and_signatures(tree, nailupd):
    daemon, cases = nailupd(), [one for one in CASES if one.verdict == SECURE and one.name.startswith("www.csk.")]
    for flags, dnssec_ok, has_ad in ((RD, False, False), (RD | AD, False, True), (RD, True, True)):
        for answer in compare.ask(tree, daemon.address, cases, flags=flags, dnssec_ok=dnssec_ok):
            assert bool(answer["flags"] & AD) is has_ad
            assert dnssec_ok or not any(kind == "RRSIG" for _, kind, _ in answer["rows"])


def test_lookup_shows_the_signer_the_end_of_the_signature_and_the_anchor(tree, nailupd):
    daemon = nailupd()
    tree.ask(daemon.address, [("www.csk.sec.", "A")], parallel=1, timeout=compare.TIMEOUT_S)
    shown = daemon.ask("lookup", "www.csk.sec.")
    cached = shown["cached_answers"][0]
    assert (cached["security"], cached["signer"]) == ("secure", "csk.sec.")
    assert cached["signature_left_seconds"] > cached["ttl_seconds"] > 0
    reported = shown["lookup"]
    assert (reported["anchor"], reported["anchor_kind"], reported["anchor_source"]) == (".", "trusted", "trust-anchor-file")


def test_a_trace_shows_each_verification_with_its_time_and_the_states_of_the_task(tree, nailupd):
    daemon = nailupd()
    steps = daemon.ask("lookup", "--trace", "--fresh", "www.csk.sec.")["steps"]
    needed = {(one["question"], one["said"]) for one in steps if one["step"] == "needed to validate"}
    assert {("sec. DNSKEY", "asked early"), ("csk.sec. DNSKEY", "asked early"), (". DNSKEY", "asked")} <= needed, steps
    computed = [one for one in steps if one["step"] == "signature"]
    assert {"www.csk.sec. A", "csk.sec. DNSKEY", "csk.sec. DS", "sec. DS", ". DNSKEY"} <= {
        one["question"] for one in computed}
    assert all(one["said"] == "right" and one["took_seconds"] > 0 and one["algorithm"] for one in computed), computed
    assert {"deciding", "asking", "validating", "answered"} <= {one["state"] for one in steps}
    assert all(one["took_seconds"] >= 0 for one in steps if one["step"] == "end")
    assert steps[-1]["took_seconds"] > 0
    again = [one for one in daemon.ask("lookup", "--trace", "--fresh", "www.csk.sec.")["steps"]
             if one["step"] == "signature"]
    assert again and all(one["said"] == "right, as before" and one["took_seconds"] is None for one in again), again


# ---- names that no client has queried (RFC 8198) ----

SPAN_ZONES = ["nsec-13.sec.", "nsec3-0.sec.", "bind-15.sec.", "csk.sec.", "wild3.sec.", "sec.", "."]


def random_questions(seed):
    """Returns random names below zones of the hierarchy, some of them two labels deep, with several types."""
    dice = random.Random(seed)
    zones = [zone for zone in SPAN_ZONES if zone in ZONES or zone == "."]
    questions = []
    for _ in range(400):
        zone = dice.choice(zones)
        labels = ["".join(dice.choices("abcxyz0189-", k=dice.randint(1, 6))).strip("-") or "q"
                  for _ in range(dice.randint(1, 2))]
        if dice.random() < 0.2:
            labels[-1] = dice.choice(["www", "mail", "*", "ns"])
        questions.append((".".join(labels) + "." + zone.lstrip("."), dice.choice(["A", "AAAA", "TXT", "MX", "DS"])))
    return questions


def reported(answer):
    return answer["rcode"], answer["flags"] & AD


def synthesised(daemon):
    return sum(value for name, value in daemon.metrics().items()
               if name.startswith("synthesised_answers_total"))


def test_spans_change_no_verdict(tree, nailupd):
    check_ours(compare.ask(tree, nailupd(aggressive="yes").address))


@pytest.mark.parametrize("name", ["unbound", "kresd"])
def test_random_names_get_the_answer_that_a_peer_gives(tree, started, nailupd, name):
    more = {"aggressive": "yes"} if name == "unbound" else {}
    daemon, peer = nailupd(aggressive="yes"), started(run.RESOLVERS[name], **more)
    for seed in range(3):
        questions = random_questions(seed)
        ours = tree.ask(daemon.address, questions, parallel=4, timeout=compare.TIMEOUT_S, dnssec_ok=True)
        theirs = tree.ask(peer.address, questions, parallel=4, timeout=compare.TIMEOUT_S, dnssec_ok=True)
        wrong = [(question, reported(a), reported(b)) for question, a, b in zip(questions, ours, theirs) if reported(a) != reported(b)]
        assert not wrong, wrong[:20]
        assert all(any(kind == "RRSIG" for _, kind, _ in a["rows"]) for a in ours if a["flags"] & AD and a["rows"])
    assert synthesised(daemon) > 300


def test_random_names_cost_no_query_where_their_spans_are_known(tree, nailupd):
    daemon = nailupd(aggressive="yes")

    def ask(first):
        questions = [(f"r{at}.nsec3-0.sec.", "A") for at in range(first, first + 300)]
        return tree.ask(daemon.address, questions, parallel=1, timeout=compare.TIMEOUT_S, dnssec_ok=True)

    ask(0)
    before = synthesised(daemon)
    assert {answer["rcode"] for answer in ask(1000)} == {"NXDOMAIN"}
    assert synthesised(daemon) - before >= 295


@pytest.mark.parametrize("forget", ["flush", "flush-zone", "reload"])
def test_spans_are_forgotten_with_their_zone_and_at_a_reload(tree, nailupd, forget):
    daemon = nailupd(aggressive="yes")

    def is_synthesised(label):
        before = synthesised(daemon)
        answer, = tree.ask(daemon.address, [(f"{label}.nsec-13.sec.", "A")], parallel=1, timeout=compare.TIMEOUT_S,
                           dnssec_ok=True)
        assert reported(answer) == ("NXDOMAIN", AD)
        return synthesised(daemon) > before

    assert not is_synthesised("zzz0")
    assert is_synthesised("zzz1")
    daemon.ctl("flush", "other.test.")  # the spans of the other zone remain
    assert is_synthesised("zzz2")
    daemon.ctl(*{"flush": ["flush", "www.nsec-13.sec."], "flush-zone": ["flush-zone", "sec."],
                 "reload": ["reload"]}[forget])
    assert not is_synthesised("zzz3")
    assert is_synthesised("zzz4")
