# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""bench/attack: hostile answers follow their zones, the figures decide about the goals, and an attack reaches nailup
and the report. These tests do not judge the quality of a resolver."""

import csv
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest
from conftest import BUILD, ROOT, why_no_namespace

ATTACK = ROOT / "bench/attack"
# The faults have modules with the same names, so a separate process reads those of the attacks.
LOOK = "import sys; sys.path[:0] = ['bench/attack', 'bench/compare', 'bench']; sys.path.append('bench/faults'); "


def look(code):
    """Runs code that imports the modules of bench/attack. Returns its output."""
    done = subprocess.run([sys.executable, "-c", LOOK + code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_a_row_reaches_its_goal_up_to_its_bound():
    said = look("import rows; row = rows.chosen(['pipelining-1000'])[0]\n"
                "for p99_ms, failed in ((5, 0), (5.1, 0), (5, 1), (None, 0)):\n"
                "    print([name for name, *_ in rows.misses(row, {'p99_ms': p99_ms, 'failed': failed})])")
    assert said == ["[]", "['p99_ms']", "['failed']", "['p99_ms']"]


def test_every_row_has_words_and_a_bound():
    said = look("import rows, table\n"
                "for row in rows.ROWS:\n"
                "    print(bool(row.about and row.title and [table.words_of(row, one) for one, _ in row.goals + row.floors]))")
    assert said and set(said) == {"True"}


def test_the_median_of_rounds_leaves_out_rounds_without_the_figure():
    said = look("import table; print(table.median([{'p99_ms': 3}, {'p99_ms': None}, {'p99_ms': 9}]), table.median([{'x': None}]))")
    assert said == ["{'p99_ms': 3} {'x': None}"]


def test_a_hostile_zone_refers_to_thirteen_silent_servers_in_one_datagram():
    said = look("import wire, zones; asked = wire.Query(wire.query('q1.r99999.evil.flood'))\n"
                "packet = wire.encoded(asked, zones.answer(asked, 'flood', zones.OTHER), False)\n"
                "print(packet[6:12].hex(), packet[2] & 2, len(packet) <= wire.UDP_MAX)")
    assert said == ["0000000d000e 0 True"]


def test_a_reply_that_is_too_large_is_truncated_over_udp_alone():
    said = look("import wire, zones; asked = wire.Query(wire.query('x.big', wire.TXT))\n"
                "for is_tcp in (False, True):\n"
                "    packet = wire.encoded(asked, zones.answer(asked, 'big', zones.EVIL), is_tcp)\n"
                "    print(packet[2] & 2, packet[7], len(packet) > zones.BIG_BYTES)")
    assert said == ["2 0 False", "0 1 True"]


def test_every_case_of_poisoning_names_its_victim():
    said = look("import socket, wire, zones\n"
                "for case in zones.POISONED:\n"
                "    asked = wire.Query(wire.query(f'c{case}.poison'))\n"
                "    reply = zones.answer(asked, 'poison', zones.EVIL)\n"
                "    print(reply != wire.Reply((wire.a(None, zones.GOOD),)), len(wire.encoded(asked, reply, False)) > 12)")
    assert len(said) > 15 and set(said) == {"True True"}


def test_forged_answers_come_with_other_ids_sources_or_questions():
    said = look("import wire, zones; ids = wire.Query(wire.query('id1.forged', number=7))\n"
                "print(7 in [reply.number for reply, _ in zones.forgeries(ids, zones.EVIL)], len(zones.forgeries(ids, zones.EVIL)))\n"
                "source = wire.Query(wire.query('source1.forged')); print(zones.forgeries(source, zones.EVIL)[0][1] != zones.EVIL)")
    assert said == ["False 60", "True"]


def test_the_bits_of_ports_are_those_of_their_range_unless_ports_repeat():
    said = look("import plays; print(plays.port_bits([1024, 5119, 2000, 3000])); print(round(plays.port_bits(list(range(1024, 1056)) * 20), 1))")
    assert said == ["12.0", "5.0"]


def test_figures_of_parts_become_a_table():
    said = look("import rows, table; row = rows.chosen(['amplification'])[0]\n"
                "figures = {'packets': 5, 'packets: one case': 7}\n"
                "print(table.lines_of_parts(row, {'played': {'amplification': {'nailup': [figures]}}})[-1])")
    assert said == ["| one case | 7 |"]


def test_attacks_are_played_to_nailup_and_reported(tmp_path):
    why_not = why_no_namespace("nft", "ip", "ss", "openssl")
    if why_not:
        pytest.skip(why_not)
    chosen = ["pipelining-100", "zone-flood"]
    done = subprocess.run([sys.executable, ATTACK / "run", "--quick", "--build", BUILD, "--out", tmp_path, "--only",
                           ",".join(chosen), "--systems", "nailup"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "attack.csv", encoding="utf-8", newline="") as file:
        seen = {(line["row"], line["figure"]): float(line["value"]) for line in csv.DictReader(file) if line["value"]}
    assert {row for row, _ in seen} == set(chosen)
    # The attack has arrived, and the honest clients have sent queries meanwhile.
    assert seen["pipelining-100", "per_second"] > 0 and seen["pipelining-100", "asked"] > 10
    assert seen["zone-flood", "packets"] > 0 and seen["zone-flood", "asked"] == 10
    text = pathlib.Path(tmp_path, "attack.md").read_text(encoding="utf-8")
    assert "--quick" in text and "| 100 pipelining connections |" in text
    assert xml.parse(tmp_path / "attack.svg").getroot().find("{http://www.w3.org/2000/svg}title").text
