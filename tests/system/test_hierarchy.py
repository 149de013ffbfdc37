# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The hierarchy of real servers for tests of recursion (hierarchy/README.md): it is complete, Unbound and BIND resolve
it, and it leaves nothing behind."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT, eventually
from hierarchy import compare, run
from hierarchy.truth import judge, questions, truth
from hierarchy.wire import AD
from hierarchy.zones import BADS, FAILS, GOOD, PLANTS, ZONES, records_of

SAMPLE = ["good.one.", "away.one.", "chain.one.", "plant.one.", "zero.one.", "wild.two.", "big.one.", "six.one.",
          "halfdead.one.", "tcponly.one.", "minbreak.one.", "a.b.deep.two."]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Yields the running hierarchy."""
    try:
        with run.Place() as place, run.Hierarchy(tmp_path_factory.mktemp("hierarchy"), place) as tree:
            yield tree
    except run.CannotRun as error:
        pytest.skip(str(error))


def resolver(tree, name):
    try:
        return run.RESOLVERS[name](tree)
    except run.CannotRun as error:
        pytest.skip(str(error))


def namespace_of(pid):
    return os.readlink(f"/proc/{pid}/ns/net")


def processes_in(namespace):
    """Returns the command lines of the processes in a namespace."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if namespace_of(process.name) == namespace:
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue  # the process has ended meanwhile
    return found


# ---- the table ----


def test_every_zone_is_delegated_and_served():
    served = {zone for one in [*PLANTS.values(), *BADS.values()] for zone in one.zones}
    assert {zone.name for zone in ZONES.values() if zone.state != FAILS} == served
    delegated = {one.name for zone in ZONES.values() for one in records_of(zone) if one.type == "NS"}
    assert set(ZONES) == delegated


def test_the_table_matches_the_zone_files():
    def rows(name, kind="A"):
        return {data for _, _, data in truth(name, kind).rows}

    assert rows("www.good.one.") == {"192.0.2.80", "192.0.2.81"}
    assert rows("any.below.wild.good.one.") == {"192.0.2.42"}
    assert truth("below.held.wild.good.one.", "A").rcode == "NXDOMAIN"
    assert (truth("ent.good.one.", "A").rcode, rows("ent.good.one.")) == ("NOERROR", set())
    assert truth("x.nothing.good.one.", "A").rcode == "NXDOMAIN"
    assert rows("www.moved.good.one.") == {"target.two.", "www.target.two.", "192.0.2.100"}
    assert truth("lost.good.one.", "A").rcode == "NXDOMAIN"
    assert truth("loop1.good.one.", "A").is_loop
    assert truth("todead.good.one.", "A").state == FAILS
    assert "192.0.2.99" in rows("long.good.one.")
    assert truth("www.six.one.", "A", has_ipv6=False).state == FAILS


def test_a_wrong_answer_is_reported():
    right = truth("www.good.one.", "A")
    assert judge(right, "NOERROR", set(right.rows)) is None
    assert judge(right, "NOERROR", set(list(right.rows)[:1])) and judge(right, "SERVFAIL", set())
    assert judge(right, "NOERROR", right.rows | {("www.good.one.", "A", "203.0.113.66")})
    assert judge(truth("www.dead.one.", "A"), "NXDOMAIN", set())


# ---- the servers ----


def test_the_hierarchy_can_be_started_twice_side_by_side_and_leaves_nothing(tree, tmp_path):
    with run.Place() as place:
        namespace = namespace_of(place.holder.pid)
        with run.Hierarchy(tmp_path, place) as other:
            assert other.serves("nsd-root") and tree.serves("nsd-root")
            assert len(processes_in(namespace)) > len(PLANTS)
        eventually(lambda: len(processes_in(namespace)) == 1, within=30)  # only the process that holds the namespace
    eventually(lambda: not processes_in(namespace), within=30)


def test_nothing_is_left_when_its_owner_is_killed(tmp_path):
    script = "import sys, time; from hierarchy import run; place = run.Place(); " \
             "tree = run.Hierarchy(sys.argv[1], place); print(place.holder.pid, flush=True); time.sleep(600)"
    owner = subprocess.Popen([sys.executable, "-B", "-c", script, str(tmp_path)], cwd=pathlib.Path(__file__).parent,
                             stdout=subprocess.PIPE, text=True)
    try:
        line = owner.stdout.readline()
        if not line:
            pytest.skip("the hierarchy does not start here")
        namespace = namespace_of(int(line))
        assert processes_in(namespace)
    finally:
        owner.kill()
        owner.communicate()
    eventually(lambda: not processes_in(namespace), within=30)


def test_a_plant_dies_and_comes_back(tree):
    for name in ("nsd-leaf", "knot-leaf"):
        where = tree.addresses_of(name)[0], tree.port
        tree.kill(name)
        assert tree.ask(where, [("www.good.one.", "A")], timeout=1)[0]["rcode"] is None
        tree.start(name)
        tree.wait_until_ready([name])


def test_every_server_behaves_as_the_table_says(tree):
    def ask(address, name, kind="A", timeout=10):
        return tree.ask((address, tree.port), [(name, kind)], timeout=timeout, flags=0)[0]["rcode"]

    by_behaviour = {bad.behaviour: address for address, bad in BADS.items()}
    assert ask(by_behaviour["silent"], "www.dead.one.", timeout=0.5) is None
    assert ask(by_behaviour["refuses"], "www.lame.one.") == "REFUSED"
    assert ask(by_behaviour["fails"], "www.failhalf.one.") == "SERVFAIL"
    assert ask(by_behaviour["formerr-edns"], "www.noedns.one.") == "FORMERR"
    assert ask(by_behaviour["drops-edns"], "www.dropsedns.one.", timeout=0.5) is None
    assert ask(by_behaviour["truncates"], "www.tcponly.one.") == "NOERROR"  # this answer comes over TCP
    assert ask(by_behaviour["nxdomain-at-ent"], "y.minbreak.one.") == "NXDOMAIN"
    assert ask(by_behaviour["knows-no-ns"], "nons.one.", "NS") == "NOTIMP"
    assert ask("127.50.9.1", "www.refused.one.") is None
    tree.behave(by_behaviour["fails"], "refuses")
    eventually(lambda: ask(by_behaviour["fails"], "www.failhalf.one.") == "REFUSED")
    tree.behave(by_behaviour["fails"], "fails")


# ---- the resolvers of others ----


@pytest.mark.parametrize("name", run.RESOLVERS)
def test_a_resolver_finds_every_name_or_differs_for_a_known_reason(tree, name):
    asked = [one for one in questions(SAMPLE) if truth(*one, tree.has_ipv6).state == GOOD]
    with resolver(tree, name) as other:
        differ, answers = compare.compare(tree, name, other.address, asked)
    assert not [one for one in differ if one.reason is None]
    assert len(differ) < len(asked) / 50
    assert not any(answer["flags"] & AD for answer in answers), "nothing is signed, so nothing is authentic"


@pytest.mark.parametrize("name", run.RESOLVERS)
def test_records_of_other_zones_are_not_trusted(tree, name):
    poison = [("www.poison.one.", kind) for kind in ("A", "AAAA", "NS")]
    good = [("www.good.one.", "A"), ("good.one.", "NS")]
    with resolver(tree, name) as other:
        for asked in (poison, good):
            assert not compare.compare(tree, name, other.address, asked)[0]


def test_another_port_works_for_resolvers_that_can_use_it(tmp_path):
    try:
        with run.Place() as place, run.Hierarchy(tmp_path, place, port=5399) as other, run.start_named(other) as named:
            assert other.ask(named.address, [("www.away.one.", "A")])[0]["rows"]
    except run.CannotRun as error:
        pytest.skip(str(error))


# ---- the soak of tests/soak ----


def test_the_soak_is_content_with_a_right_resolver_and_not_with_a_wrong_one(tree, tmp_path):
    def soak(*words):
        return subprocess.run([sys.executable, ROOT / "tests/soak/recursion.py", "--minutes", "0.05", "--seed", "7",
                               *words], capture_output=True, text=True, timeout=120, check=False)

    resolver(tree, "unbound").stop()  # a missing Unbound skips the test here
    good = soak("--resolver", "unbound", "--unexcused", "1000")
    assert good.returncode == 0 and "every answer was right" in good.stdout, good.stdout + good.stderr
    wrong = tmp_path / "conf"
    wrong.write_text(run.UNBOUND.replace("server:\n", 'server:\n  local-data: "www.good.one. 60 A 203.0.113.66"\n'
                                         '  local-zone: "wild.two." always_nxdomain\n')
                     .format(folder=tmp_path, hints=tree.hints, port=5304, max_ttl=5, ip6="yes"))
    bad = soak("--resolver", "127.0.0.1@5304", "--start", f"unbound -d -c {wrong}", "--unexcused", "1000")
    assert bad.returncode == 1 and "NOT: wrong: " in bad.stdout, bad.stdout + bad.stderr
