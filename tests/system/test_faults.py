# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""bench/faults: figures and verdicts follow correctly from points, and a fault does what its row says. These tests do
not judge the quality of a system."""

import csv
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest
from conftest import BUILD, ROOT, why_no_namespace

FAULTS = ROOT / "bench/faults"
sys.path[:0] = [str(FAULTS), str(ROOT / "bench/compare")]

import player  # noqa: E402
import rows  # noqa: E402
import series  # noqa: E402
import systems  # noqa: E402
import table  # noqa: E402
import verdict  # noqa: E402

TUN = pathlib.Path("/dev/net/tun")
TIMES = player.Times(5, 15, 25, 10)


def points(*spans, rate=10):
    """Returns points for spans of (from, to, latency in ms, or None: lost, or -1: SERVFAIL)."""
    made = []
    for start, end, latency in spans:
        for number in range(round(start * rate), round(end * rate)):
            rcode = None if latency is None else 2 if latency < 0 else 0
            made.append(series.Point(number / rate, latency if rcode is not None else None, rcode))
    return made


def figures(failed, p99_ms, recovered_at_s):
    return verdict.Figures(2000, failed, 0, 10.0, p99_ms, p99_ms, recovered_at_s)


def test_queries_before_the_fault_are_not_counted():
    seen = verdict.figures(points((0, 5, None), (5, 25, 10.0)), 5)
    assert (seen.asked, seen.failed, seen.p99_ms) == (200, 0, 10.0)


def test_errors_and_silence_are_failures_and_in_no_percentile():
    seen = verdict.figures(points((0, 5, 10.0), (5, 7, -1), (7, 8, None), (8, 25, 12.0)), 5)
    assert (seen.failed, seen.lost, seen.p99_ms) == (30, 10, 12.0)


def test_a_system_without_an_answer_has_no_percentile_and_never_recovers():
    seen = verdict.figures(points((0, 25, None)), 5)
    assert (seen.failed, seen.p99_ms, seen.recovered_at_s) == (200, None, verdict.NEVER)


def test_recovery_is_the_start_of_a_second_of_normal_answers():
    assert verdict.recovered_at(points((0, 15.5, -1), (15.5, 25, 10.0)), 5) == 15.5
    assert verdict.recovered_at(points((0, 25, 10.0)), 5) == 5
    # A slow answer is not normal, and half a second between two faults does not count as recovery.
    assert verdict.recovered_at(points((0, 8, 400.0), (8, 8.5, 10.0), (8.5, 9, -1), (9, 25, 10.0)), 5) == 9


def test_one_late_answer_in_twenty_is_no_fault():
    late = points((0, 25, 10.0), rate=20)
    late[110].latency_ms = 400.0
    assert verdict.recovered_at(late, 5) == 5
    late[111].latency_ms = 400.0
    assert verdict.recovered_at(late, 5) > 5.5


def test_normal_answers_for_less_than_a_second_at_the_end_are_no_recovery():
    assert verdict.recovered_at(points((0, 24.5, -1), (24.5, 25, 10.0)), 5) == verdict.NEVER


def test_the_goal_is_judged_by_the_best_of_the_others_in_each_figure():
    others = {"a": figures(0, 300.0, 6.0), "b": figures(9, 60.0, 9.0)}
    assert verdict.misses(figures(2, 119.0, 6.1), others) == []
    missed = verdict.misses(figures(3, 121.0, 6.2), others)
    assert [(one.what, one.other) for one in missed] == [("failures", "a"), ("recovery", "a"), ("p99", "b")]


def test_a_long_fault_may_be_a_little_longer():
    others = {"a": figures(1000, None, 15.0)}
    assert verdict.misses(figures(1012, None, 15.0), others) == []
    assert [one.what for one in verdict.misses(figures(1013, None, 15.0), others)] == ["failures"]


def test_a_percentile_is_excused_by_failures_of_the_other_only():
    ours, others = figures(0, 400.0, 5.0), {"a": figures(500, 20.0, 9.0)}
    assert [one.is_excused for one in verdict.misses(ours, others)] == [True]
    assert [one.is_excused for one in verdict.misses(ours, {"a": figures(1, 20.0, 9.0)})] == [False]
    # The best of the systems that fail no more often has priority.
    both = verdict.misses(ours, others | {"b": figures(0, 100.0, 9.0)})
    assert [(one.other, one.is_excused) for one in both] == [("b", False)]


def test_the_last_column_names_each_miss():
    one, ours = rows.chosen(["resets"])[0], {"nailup TCP": figures(0, 400.0, 5.0), "nailup DoT": figures(0, 10.0, 5.0)}
    fails, slow = {"Unbound TCP": figures(500, 20.0, 9.0)}, {"Unbound DoT": figures(0, 30.0, 5.0)}
    assert table.goal_words(table.verdicts(ours | fails, one, TIMES)) == "holds, beside peers that fail no more"
    assert table.goal_words(table.verdicts(ours | slow, one, TIMES)) == "not: p99 of TCP"
    assert table.goal_words(table.verdicts({"nailup DoT": ours["nailup DoT"]} | slow, one, TIMES)) == "holds"


def test_a_round_without_recovery_counts_as_the_longest():
    rounds = [figures(1, 10.0, 6.0), figures(3, None, verdict.NEVER), figures(9, 30.0, 7.0)]
    assert verdict.median(rounds) == verdict.Figures(2000, 3, 0, 10.0, 10.0, 10.0, 7.0)


def test_a_fault_begins_ends_and_repeats_as_its_row_says():
    for one in rows.ROWS:
        steps = rows.schedule(one, 5, 15)
        assert [at_s for at_s, _ in steps] == sorted(at_s for at_s, _ in steps)
        assert steps[0][0] == 5 and one.about and one.since in ("begin", "end")
        assert {step for _, step in steps} >= {*one.begin, *one.end}
    forgotten = rows.chosen(["forgotten"])[0]
    assert [at_s for at_s, _ in rows.schedule(forgotten, 5, 15)] == [5, 7.5, 10, 12.5, 15]
    assert rows.schedule(rows.chosen(["restart"])[0], 5, 15)[-1][0] == 8


def test_recovery_before_the_end_counts_from_the_beginning():
    one = rows.chosen(["tcp-blackhole"])[0]
    assert table.recovery_words(figures(0, 10.0, 5.4), one, TIMES) == "0.4 s from its beginning"
    assert table.recovery_words(figures(0, 10.0, 15.7), one, TIMES) == "0.7 s"
    # This query was sent just before the end and answered right after it.
    assert table.recovery_words(figures(0, 10.0, 14.98), one, TIMES) == "0.0 s"
    assert table.recovery_words(figures(0, None, verdict.NEVER), one, TIMES) == "never"


def test_points_are_read_as_they_were_written(tmp_path):
    played = {"resets": {"nailup TCP": [points((0, 1, 10.0), (1, 2, -1)), points((0, 2, None))]}}
    table.write_points(tmp_path / "points.csv", played)
    assert table.read_points(tmp_path / "points.csv") == played


def test_a_fault_is_played_to_both_nailup_systems_and_reported(tmp_path):
    why_not = why_no_namespace("nft", "ip", "nsenter", "openssl")
    if not why_not and not os.access(TUN, os.R_OK | os.W_OK):
        why_not = "that takes /dev/net/tun"
    if why_not:
        pytest.skip(why_not)
    done = subprocess.run([sys.executable, FAULTS / "run", "--quick", "--build", BUILD, "--out", tmp_path, "--rows",
                           "all-dropped,forgotten", "--systems", "nailup-tcp,nailup-dot"], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    times, seen = player.QUICK, table.read_points(tmp_path / "points.csv")
    ours = {one.label for one in systems.SYSTEMS if one.is_ours}
    assert {name: set(of_systems) for name, of_systems in seen.items()} == {"all-dropped": ours, "forgotten": ours}
    for (several,) in (rounds for of_systems in seen.values() for rounds in of_systems.values()):
        assert len(several) == times.total_s * times.rate
    for (several,) in seen["all-dropped"].values():
        # No answer came between the beginning and the end of the fault. The steps take a moment.
        hit = [point for point in several if times.begin_s + 0.5 < point.due_s < times.end_s - 0.5 and point.is_good]
        assert all(point.due_s + point.latency_ms / 1000 >= times.end_s for point in hit)
    with open(tmp_path / "faults.csv", encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 4
    text = (tmp_path / "faults.md").read_text(encoding="utf-8")
    assert "--quick" in text and "| All traffic dropped |" in text
    assert xml.parse(tmp_path / "faults.svg").getroot().find("{http://www.w3.org/2000/svg}title").text
