# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The measuring scripts of bench/ and tests/soak/churn.py, each in its shortest form: does it measure and print its
figures, and does it report missing programs? The tests judge no figure, so a script may miss a goal here."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

SCRIPTS = ["bench/cache_memory.py", "bench/flood.py", "bench/idle.py", "bench/overload.py", "bench/recursion.py",
           "bench/rpz_update.py", "bench/scaling.py", "bench/start.py", "bench/validate.py", "tests/soak/churn.py"]
MEASURED, MISSED, CANNOT = 0, 1, 2


def play(script, *options, build=BUILD, codes=(MEASURED, MISSED), timeout=300, **more):
    done = subprocess.run([sys.executable, ROOT / script, "--build", str(build), *map(str, options)],
                          capture_output=True, text=True, timeout=timeout, check=False, **more)
    assert done.returncode in codes, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def rows_of(text):
    """Returns the rows of the Markdown table as dicts, with the names of its columns as keys."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()
             if line.startswith("|")]
    return [dict(zip(lines[0], line)) for line in lines[2:]]


def is_under_sanitizer():
    return b"__asan_init" in (BUILD / "src/nailupd").read_bytes()


@pytest.fixture(name="unbound")
def have_unbound():
    path = shutil.which("unbound", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    return path or pytest.skip("unbound is not installed")


@pytest.fixture(name="common")
def stage_common(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    return importlib.import_module("stage_common")


# ---- shared by all ----

@pytest.mark.parametrize("script", SCRIPTS)
def test_help_is_there(script):
    said = subprocess.run([sys.executable, ROOT / script, "--help"], capture_output=True, text=True,
                          check=True).stdout
    assert "--build" in said
    assert "xits 1" in said or script.endswith("churn.py")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_missing_program_is_named(script, tmp_path):
    said = play(script, build=tmp_path, codes=[CANNOT]).stderr
    assert f"{tmp_path}/src/nailupd is missing" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_option_that_does_not_exist_is_refused(script):
    play(script, "--no-such-option", codes=[CANNOT])


def test_cpu_of_a_process_is_counted_in_microseconds(common):
    before = common.cpu_us(os.getpid())
    threads = common.threads_us(os.getpid())
    assert os.getpid() in threads
    while common.cpu_us(os.getpid()) < before + 50_000:
        pass
    user, system = common.user_system_us(os.getpid())
    assert user + system >= 30_000  # the kernel counts in ticks of 10 ms
    assert common.threads_us(os.getpid())[os.getpid()] > threads[os.getpid()]


def test_resident_bytes_are_those_of_the_process(common):
    before = common.private_bytes(os.getpid())
    held = bytearray(os.urandom(1)) * (32 << 20)
    assert common.private_bytes(os.getpid()) >= before + (30 << 20)
    assert common.resident_bytes(os.getpid()) >= common.private_bytes(os.getpid())
    del held


def test_no_server_answers_at_a_free_port(common):
    port = common.free_port()
    assert common.ask(port, "a.example") is None
    assert not common.await_answer(port, seconds=0.2)


def test_a_server_that_does_not_start_ends_the_script(common, tmp_path):
    command = ["sh", "-c", "echo its last words; exit 3"]
    peer = common.Peer("nobody", tmp_path, "", command, common.free_port())
    with pytest.raises(SystemExit) as error, peer:
        pass
    assert error.value.code == CANNOT


# ---- each ----

def test_scaling_shows_both_and_each_workers_share():
    done = play("bench/scaling.py", "--quick")
    rows = rows_of(done.stdout)
    assert [row["workers"] for row in rows] == ["1", "2"]
    for row in rows:
        assert float(row["CPU us per hit"]) > 0
        assert 0 <= float(row["user % of it"]) <= 100
        shares = [int(share) for share in row["each worker's share %"].split()]
        assert len(shares) == int(row["workers"])
        assert 99 <= sum(shares) <= 101 or not any(shares)
    ratio = float(re.search(r"ratio ([\d.]+) = 2 \*", done.stdout).group(1))
    one, two = (float(row["CPU us per hit"]) for row in rows)
    assert ratio == pytest.approx(2 * one / two, rel=0.01)
    if ratio < 1.79:
        assert done.returncode == MISSED


def test_a_flood_is_measured_in_three_cases():
    done = play("bench/flood.py", "--quick")
    rows = rows_of(done.stdout)
    assert [row["the flood is"] for row in rows] == ["elsewhere", "unlimited", "limited"]
    for row in rows:
        assert float(row["p99 us"]) >= float(row["p50 us"]) > 0
        assert 0 < float(row["answered %"]) <= 100
    assert int(re.search(r"above the limit: (\d+)", done.stdout).group(1)) > 0


def test_memory_of_answers_is_that_of_the_same_names_for_both(unbound):
    assert unbound
    done = play("bench/cache_memory.py", "--quick", "--answers", "cname,nxdomain")
    rows = rows_of(done.stdout)
    assert [(row["answers"], row["server"]) for row in rows] == [
        (kind, server) for kind in ("cname", "nxdomain") for server in ("nailupd", "unbound")]
    for row in rows:
        assert row["names"] == "5000"
        assert 0 <= float(row["kept %"]) <= 100
        assert float(row["MiB before"]) > 1


def test_memory_knows_its_answers_and_peers():
    assert "--answers takes" in play("bench/cache_memory.py", "--answers", "ptr", codes=[CANNOT]).stderr
    assert "knows" in play("bench/cache_memory.py", "--peers", "djbdns", codes=[CANNOT]).stderr


def test_a_mix_of_answers_keeps_its_shares(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "bench")
    memory = importlib.import_module("cache_memory")
    memory.write_names(tmp_path / "names", "mixed", 1000, "n")
    lines = (tmp_path / "names").read_text().splitlines()
    assert len(set(lines)) == 1000
    for label, kind, share in memory.ANSWERS["mixed"]:
        line_form = re.compile(rf"n\d+\.{re.escape(label)}memory\.example {kind}")
        found = [line for line in lines if line_form.fullmatch(line)]
        assert len(found) == 10 * share


def test_start_measures_each_server_once(unbound):
    done = play("bench/start.py", "--quick", "--zones", 50, "--prefixes", 300, "--unbound", unbound)
    rows = rows_of(done.stdout)
    assert [row["server"] for row in rows] == [
        "nailupd, 50 zones, 300 prefixes", "nailupd, 50 zones", "nailupd, 1 zone, 300 prefixes",
        "nailupd, 1 zone", "Unbound, 50 forward zones"]
    for row in rows:
        assert 0 < float(row["median ms"]) <= float(row["max ms"])
        assert float(row["CPU ms to the answer"]) > 0
    assert re.search(r"first answer after [\d.]+ ms; goal 100 ms", done.stdout)


def test_start_does_without_unbound():
    done = play("bench/start.py", "--quick", "--zones", 2, "--prefixes", 2, "--unbound", "none")
    assert len(rows_of(done.stdout)) == 4


@pytest.mark.skipif(BUILD is not None and is_under_sanitizer(), reason="its memory is not that of nailupd")
def test_churn_is_answered_rightly_and_flat():
    said = play("tests/soak/churn.py", "--minutes", 0.1, "--size-mib", 2, "--rate", 1000,
                codes=[MEASURED]).stdout
    fit, names = map(int, re.search(r"(\d+) entries fit; (\d+) names", said).groups())
    assert names == pytest.approx(2 * fit, rel=0.01)
    assert len(re.findall(r"^ *[\d.]+ min  resident", said, re.M)) >= 6
    assert len(re.findall(r" over (?:udp|tcp): (\d+) of \1 answered", said)) == 6
    assert int(re.search(r"(\d+) answers compared", said).group(1)) > 10
    assert said.endswith("churn: every query answered rightly, memory flat\n")


# ---- churn against a daemon that answers wrongly ----

def answer_of(common, name, data, ttl):
    query = common.make_query(name, number=1)
    record = b"\xc0\x0c\0\1\0\1" + ttl.to_bytes(4, "big") + b"\0\4" + data
    return query[:2] + b"\x81\x80" + query[4:6] + b"\0\1" + query[8:] + record


@pytest.mark.parametrize("data, ttl, complaint", [
    (b"\1\2\3\4", 300, None),
    (b"\1\2\3\4", 200, None),
    (b"\1\2\3\5", 300, "instead of"),
    (b"\1\2\3\4", 301, "a TTL of 301 instead of at most 300"),
])
def test_churn_sees_a_wrong_answer(monkeypatch, common, data, ttl, complaint):
    monkeypatch.syspath_prepend(ROOT / "tests/soak")
    churn = importlib.import_module("churn")
    right = answer_of(common, "a.example", b"\1\2\3\4", 300)
    ours = answer_of(common, "A.example", data, ttl)
    monkeypatch.setattr(churn, "ask_any", lambda ip, *_: ours if ip == "127.0.0.1" else right)
    nobody = type("Nobody", (), {"port": 1})
    checker = churn.Checker(nobody, nobody, {})
    checker.compare("a.example")
    assert len(checker.wrong) == bool(complaint)
    assert not complaint or complaint in checker.wrong[0]


@pytest.mark.parametrize("samples, worst, complaints", [
    ([100, 100, 100, 101, 104, 105], 1000, 0),
    ([50, 60, 100, 100, 100, 106], 1000, 1),
    ([100, 100, 100, 100], 1001, 1),
])
def test_churn_sees_growth_and_an_overfull_cache(monkeypatch, capsys, samples, worst, complaints):
    monkeypatch.syspath_prepend(ROOT / "tests/soak")
    churn = importlib.import_module("churn")
    soak = churn.Churn.__new__(churn.Churn)
    soak.samples, soak.worst_bytes, soak.size_bytes = samples, worst, 1000
    assert len(soak.judge_memory()) == complaints
    assert "ratio" in capsys.readouterr().out


@pytest.mark.parametrize("change, is_fine", [
    ({}, True), ({"lost": 1}, False), ({"unexpected": 1}, False),
    ({"rcodes": {"NOERROR": 9, "SERVFAIL": 1}}, False)])
def test_churn_reports_lost_queries_of_the_load(monkeypatch, capsys, change, is_fine):
    monkeypatch.syspath_prepend(ROOT / "tests/soak")
    churn = importlib.import_module("churn")
    report = {"lost": 0, "lost_by_close": 0, "unsent": 0, "unexpected": 0, "truncated": 0, "answered": 10,
              "sent": 10, "rcodes": {"NOERROR": 10}, "latency_us": {"p50": 1, "p99": 2}, **change}
    soak = churn.Churn.__new__(churn.Churn)
    soak.loads = [subprocess.Popen(["echo", json.dumps(report)], text=True, stdout=subprocess.PIPE)]
    assert (soak.judge_loads() == []) == is_fine
    assert capsys.readouterr().out


# ---- idle ----

def test_idle_asks_each_way_as_often_and_loses_nothing():
    rows = rows_of(play("bench/idle.py", "--quick").stdout)
    assert [row["to the upstream"] for row in rows] == ["UDP", "TCP, nailed", "DoT, nailed", "TCP, on demand",
                                                        "DoT, on demand"]
    assert all(int(row["queries"]) >= 15 and int(row["lost"]) == 0 for row in rows)


def test_idle_refuses_more_upstreams_than_there_are_addresses():
    assert "250" in play("bench/idle.py", "--upstreams", 251, codes=(CANNOT,)).stderr


# ---- recursion ----

NO_PLACE = "no network namespace"


def play_recursion(*options):
    done = play("bench/recursion.py", "--quick", *options, codes=(MEASURED, MISSED, CANNOT))
    if done.returncode == CANNOT and NO_PLACE in done.stderr:
        pytest.skip("no network namespace may be made here")
    assert done.returncode != CANNOT, done.stderr
    return rows_of(done.stdout)


def test_recursion_is_measured_cold_and_warm_beside_unbound(unbound):
    assert unbound
    rows = play_recursion("--peers", "unbound")
    assert [(row["phase"], row["server"]) for row in rows] == [
        (phase, server) for phase in ("cold", "warm", "saturated") for server in ("nailupd", "unbound")]
    for row in rows:
        assert float(row["good %"]) > 99
        assert float(row["upstream queries per query"]) >= 0.9
        assert 0 < float(row["p50 us"]) <= float(row["p99 us"])
        assert float(row["CPU us per query"]) > 0
    assert float(rows[0]["upstream queries per query"]) > float(rows[2]["upstream queries per query"])


def test_recursion_says_which_peer_is_not_installed(monkeypatch):
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.syspath_prepend(ROOT / "bench")
    recursion = importlib.import_module("recursion")
    monkeypatch.setitem(recursion.PEERS, "nobody", lambda: recursion.stage.find_program("no-such-resolver"))
    assert recursion.find_peers(["nobody"]) == ({}, {"nobody": "not installed"})
    assert "knows unbound" in play("bench/recursion.py", "--peers", "djbdns", codes=[CANNOT]).stderr


def test_the_questions_of_recursion_are_all_different(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    recursion = importlib.import_module("recursion")
    rng = recursion.random.Random(1)
    names = {recursion.question(rng, 100, number)[0] for number in range(5000)}
    assert len(names) == 5000
    zones = {".".join(name.split(".")[-2:]) for name in names}
    assert len(zones) == 100


# ---- validation ----

def play_validate(*options):
    if is_under_sanitizer():
        pytest.skip("a sanitizer wants to be the first library")
    if not shutil.which("nsd", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"):
        pytest.skip("nsd is not installed")
    done = play("bench/validate.py", "--quick", *options, codes=(MEASURED, MISSED, CANNOT))
    if done.returncode == CANNOT and NO_PLACE in done.stderr:
        pytest.skip("no network namespace may be made here")
    assert done.returncode != CANNOT, done.stderr
    return rows_of(done.stdout)


@pytest.mark.parametrize("how", [[], ["--saturated"]], ids=["rate", "saturated"])
def test_validation_is_measured_with_its_signatures_beside_unbound(unbound, how):
    assert unbound
    if how and not shutil.which("dnsperf"):
        pytest.skip("dnsperf is not installed")
    rows = {(row["server"], row["phase"]): row for row in play_validate("--peers", "unbound", *how)}
    measured = {server for server, phase in rows if phase == "cold"}
    assert measured >= {"unbound", "unbound, no validation", "nailupd, no validation"}
    for server in measured:
        for phase in ("cold", "signed", "denied", "unsigned"):
            row = rows[server, phase]
            has_none = server.endswith("no validation") or phase == "unsigned"
            assert (float(row["verifications per query"]) > 0.5) is not has_none, row
            assert (float(row["CPU us in cryptography"]) > 10) is not has_none, row
            assert float(row["CPU us outside"]) > 0
            assert float(row["good %"]) > 99


def test_validation_says_which_peers_it_knows():
    assert "knows unbound" in play("bench/validate.py", "--peers", "djbdns", codes=[CANNOT]).stderr


# ---- bench/rpz_update.py ----

def test_rpz_update_measures_hits_before_and_during_a_transfer():
    if not shutil.which("named", path=os.environ["PATH"] + ":/usr/sbin"):
        pytest.skip("named is not installed")
    [row] = rows_of(play("bench/rpz_update.py", "--quick").stdout)
    assert row["rules"] == "2001" and row["lost"].startswith("0,")
    assert all(float(part) > 0 for part in row["p99 us"].split(", "))
