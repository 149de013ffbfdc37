# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""nailupd resolves from the root of a hierarchy of real servers. Each answer, for each name and type, is right, and
equals that of Unbound and BIND."""

import subprocess

import pytest
from conftest import Daemon, eventually, merge, program
from hierarchy import compare, run
from hierarchy.truth import questions, truth
from hierarchy.wire import AD
from hierarchy.zones import GOOD, PLANTS

TRANSPORT = "upstream_queries_total{transport=\"%s\"}"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    try:
        with run.Place() as place, run.Hierarchy(tmp_path_factory.mktemp("hierarchy"), place) as tree:
            yield tree
    except run.CannotRun as error:
        pytest.skip(str(error))


@pytest.fixture
def recursive(tree, tmp_path):
    """recursive(recursion={...}): starts nailupd in the namespace of the hierarchy, with further configuration.
    address: its listen address."""
    started = []

    def start(tree=tree, **more):
        config = merge(run.nailupd_config(tree, tmp_path / "control.sock"), more)
        daemon = Daemon(tmp_path, config, inside=tree.place.enter)
        daemon.address = daemon.ip, daemon.port
        started.append(daemon)
        daemon.wait_until_ready(30)
        return daemon

    yield start
    for daemon in started:
        code = daemon.stop()
        daemon.check_clean()
        assert code == 0, daemon.log()


def check(tree, daemon, asked):
    differ, answers = compare.compare(tree, "nailupd", daemon.address, asked)
    assert not differ, "\n".join(f"{' '.join(one.question)}: {one.wrong}" for one in differ[:20])
    assert not any(answer["flags"] & AD for answer in answers)
    return answers


def are_good(tree, asked):
    return [one for one in asked if truth(*one, tree.has_ipv6).state == GOOD]


def test_every_name_and_type_is_answered_rightly_cold_and_warm(tree, recursive):
    asked = are_good(tree, questions())
    daemon = recursive()
    check(tree, daemon, asked)
    check(tree, daemon, asked)


def test_names_without_a_server_fail(tree, recursive):
    asked = [one for one in questions() if truth(*one, tree.has_ipv6).state != GOOD]
    check(tree, recursive(), asked)


@pytest.mark.parametrize("name", run.RESOLVERS)
def test_answers_are_those_of_another_resolver(tree, recursive, name):
    """A difference is a fault of the other resolver, for a reason that hierarchy/compare.py names."""
    asked = are_good(tree, questions())
    daemon = recursive()
    try:
        other = run.RESOLVERS[name](tree)
    except run.CannotRun as error:
        pytest.skip(str(error))
    with other:
        theirs = tree.ask(other.address, asked, parallel=64, timeout=compare.TIMEOUT_S)
    ours = tree.ask(daemon.address, asked, parallel=64, timeout=compare.TIMEOUT_S)
    known = {one.question for one in compare.differences(tree, name, asked, theirs) if one.reason}
    for question, their, our in zip(asked, theirs, ours):
        is_loop = truth(*question).is_loop
        assert question in known or is_loop or (our["rcode"], our["rows"]) == (their["rcode"], their["rows"]), question


@pytest.mark.parametrize("switch", ["qname-minimisation", "case-randomisation", "cookies", "priming"])
def test_answers_are_right_without(tree, recursive, switch):
    asked = are_good(tree, questions(["good.one.", "minbreak.one.", "a.b.deep.two.", "tcponly.one.", "lowers.one."]))
    check(tree, recursive(recursion={switch: "no"}), asked)


def test_the_servers_may_be_at_another_port(recursive, tmp_path):
    with run.Place() as place, run.Hierarchy(tmp_path, place, port=5399) as other:
        daemon = recursive(other)
        check(other, daemon, are_good(other, questions(["good.one.", "away.one."])))
        assert daemon.stop() == 0


def test_the_plant_in_a_nailed_prefix_is_asked_over_tcp_and_kept(tree, recursive):
    daemon = recursive()
    check(tree, daemon, questions(["plant.one."]))
    nailed = eventually(lambda: [one for one in daemon.connections() if one["state"] == "ready"], within=20)
    assert all(one["upstream"].startswith(("127.50.1.65", "127.50.1.66")) for one in nailed), nailed
    assert daemon.metrics()[TRANSPORT % "tcp"] > 0


def test_records_of_other_zones_are_not_trusted(tree, recursive):
    daemon = recursive()
    check(tree, daemon, questions(["poison.one."]))
    check(tree, daemon, [("www.good.one.", "A"), ("good.one.", "NS")])


def are_served_without(dead, asked):
    """Returns the questions except those with an alias into a zone whose servers are all dead."""
    served = {zone for name, plant in PLANTS.items() if name not in dead for zone in plant.zones}
    return [one for one in asked if served.issuperset(truth(*one).zones)]


def test_zones_are_resolved_while_one_of_their_servers_is_dead(tree, recursive):
    daemon, asked = recursive(), are_good(tree, questions(["good.one.", "away.one.", "wild.two.", "zero.one."]))
    dead = "nsd-leaf", "knot-root", "nsd-tld"
    for name in dead:
        tree.kill(name)
    try:
        check(tree, daemon, are_served_without(dead, asked))
    finally:
        for name in dead:
            tree.start(name)
        tree.wait_until_ready(run.PLANTS)
    check(tree, daemon, asked)


def test_a_trace_shows_the_way_down_and_the_nailed_plant(tree, recursive):
    daemon = recursive(server={"workers": 1})
    first = daemon.ask("lookup", "--trace", "www.plant.one.")
    steps = first["steps"]
    assert (first["trace"]["answered"], first["trace"]["rcode"]) == ("by upstreams", "NOERROR")
    assert steps[0]["step"] == "question" and steps[-1]["step"] == "end"
    assert "the hints" in [one["said"] for one in steps if one["step"] == "zone cut"]
    answers = [one for one in steps if one["step"] == "answer" and one["depth"] == 0]
    assert [one["leads_to"] for one in answers if one["said"] == "referral"] == ["one.", "plant.one."]
    assert answers[0]["question"] == "one. A" and answers[0]["nailed"] is False  # the QNAME is minimised
    assert answers[0]["server"] and answers[0]["took_seconds"] > 0

    def last_server():
        shown = daemon.ask("lookup", "--trace", "--fresh", "www.plant.one.")["steps"]
        assert shown[1]["said"] == "the hints"
        return [one for one in shown if one["step"] == "answer" and one["depth"] == 0][-1]

    nailed = eventually(lambda: next((one for one in [last_server()] if one["nailed"]), None), within=20)
    assert nailed["transport"] == "tcp"
    assert nailed["address"].startswith(("127.50.1.65@", "127.50.1.66@"))
    zones = daemon.ask("zones")
    assert zones["zones"][-1]["kind"] == "recursion" and zones["recursion"]["servers_met"] > 3
    reloaded = daemon.ask("reload")["reload"]
    assert (reloaded["forward_zones"], reloaded["stub_zones"], reloaded["recursion"]) == (0, 0, True)
    assert "forward zones: 0, stub zones: 0, recursion: yes" in daemon.log()
    assert daemon.status()["servers_met"] == zones["recursion"]["servers_met"]
    assert daemon.metrics()["recursion_queries_total"] >= 4
    planned = daemon.ask("lookup", "other.plant.one.")
    assert (planned["lookup"]["answered"], planned["lookup"]["zone_cut"]) == ("by recursion", "plant.one.")
    assert {one["transport"] for one in planned["upstreams"]} == {"tcp"}
    known = daemon.ask("lookup", "--trace", "www.plant.one.")
    assert (known["trace"]["answered"], known["trace"]["asked"]) == ("from the cache", 0)
    text = subprocess.run([program("nailupctl"), "-s", daemon.socket_path, "lookup", "-t", "-f", "www.away.one."],
                          text=True, capture_output=True, timeout=60)
    assert text.returncode == 0, text.stderr
    # the second line has a further level of indentation
    assert "s  question  " in text.stdout and "s    question  " in text.stdout
