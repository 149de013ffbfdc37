# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Zones that are deliberately expensive: their cost, and the answers of other clients. bench/zoo.py measures."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

from signed_tree import zoo
from signed_tree.keys import ZONE, Key

BUILD = pathlib.Path(os.environ.get("NAILUP_BUILD", ROOT / "build/release"))
NO_FIGURE = 2  # the script could not measure


def test_forged_keys_have_the_tag_of_the_zone_key():
    key = Key(13, ZONE)
    forged = [zoo.collides_with(key.tag) for _ in range(5)]
    assert {one.tag for one in forged} == {key.tag} and len({one.public for one in forged}) == 5


@pytest.fixture(scope="module")
def table():
    """Returns {flood: {column: text}} for nailupd. Times are ignored, because the machine may be busy."""
    missing = [one for one in ("nsd", "unshare", "taskset") if not shutil.which(one)]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    # The bench preloads a library, which a sanitizer would otherwise refuse.
    sanitizer = "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")
    done = subprocess.run([sys.executable, ROOT / "bench/zoo.py", "--build", BUILD, "--quick", "--peers", "none"],
                          env={**os.environ, "ASAN_OPTIONS": sanitizer},
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == NO_FIGURE and "namespace" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode != NO_FIGURE, done.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()
            if line.startswith("|")]
    return {row[0]: dict(zip(rows[0], row)) for row in rows[2:]}


FLOODS = ["keytrap", "nsec3-50", "nsec3-150", "p384"]


@pytest.mark.parametrize("flood", FLOODS)
def test_other_clients_are_served_during_a_flood(table, flood):
    assert float(table[flood]["hits lost"]) == 0, table


def test_a_question_pays_for_four_wrong_signatures_however_many_there_are(table):
    assert 2 <= float(table["keytrap"]["verifications"]) < 5, table
    assert float(table["keytrap"]["SERVFAIL %"]) == 100


def test_hashed_denial_verifies_little_and_answers(table):
    for flood in ("nsec3-50", "nsec3-150"):
        assert float(table[flood]["verifications"]) < 4, table
        assert float(table[flood]["SERVFAIL %"]) == 0 and float(table[flood]["answered %"]) == 100, table


def test_each_right_signature_is_verified_once(table):
    assert float(table["p384"]["verifications"]) < 1.5, table
