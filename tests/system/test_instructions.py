# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""bench/instructions.py: two counts of one build agree, and a more expensive build shows. The numbers themselves are
not judged, because compilers differ."""

import copy
import json
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT

COMMAND = ROOT / "bench/instructions.py"
PATHS = {"hit UDP", "hit UDP, one at a time", "hit TCP", "hit UDP, in a view", "hit UDP, rules about names",
         "hit UDP, rules about addresses", "miss nailed TCP", "miss nailed TCP, one at a time", "miss nailed TLS",
         "miss UDP", "recursion, known zone", "recursion, new zone", "recursion, known zone, nailed"}


def is_sanitized():
    """Returns whether this is a build with a sanitizer, which needs the same memory as valgrind."""
    binary = (BUILD / "src/nailupd").read_bytes()
    return b"__asan_init" in binary or b"__tsan_init" in binary


pytestmark = [
    pytest.mark.skipif(BUILD is None, reason="nailupd is not built"),
    pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed"),
    pytest.mark.skipif(BUILD is not None and is_sanitized(), reason="sanitizers do not run in valgrind"),
]


def instructions(*options):
    return subprocess.run([sys.executable, COMMAND, "--build", BUILD, "--quick", *options],
                          capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    out = tmp_path_factory.mktemp("instructions") / "counted.json"
    done = instructions("--json", out, "--functions")
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text(encoding="utf-8"))["paths"], done.stdout


def compared(folder, paths, *options):
    """Counts one path again, and compares it with the figures in paths."""
    before = folder / "before.json"
    before.write_text(json.dumps({"paths": paths}), encoding="utf-8")
    return instructions("--only", "hit TCP", "--compare", before, *options)


def test_every_path_has_a_figure(counted):
    paths, text = counted
    assert set(paths) == PATHS
    for name, figures in paths.items():
        assert figures["instructions_per_query"] > 0
        assert f"| {name} |" in text


def test_the_modules_of_a_path_sum_up_to_the_whole(counted):
    for figures in counted[0].values():
        whole = sum(figures["modules"].values())
        assert whole == pytest.approx(figures["rounds"][-1], rel=1e-6)


def test_instructions_are_in_the_modules_that_the_path_goes_through(counted):
    paths, _ = counted
    for name, figures in paths.items():
        assert {"serve", "dns", "cache", "net"} <= set(figures["modules"])
        assert ("upstream" in figures["modules"]) or name.startswith("hit")
        assert (figures["modules"].get("libcrypto", 0) > 100) == ("TLS" in name)
    assert paths["hit UDP"]["modules"].get("upstream", 0) < 0.01 * paths["miss UDP"]["modules"]["upstream"]


def test_a_function_costs_no_more_than_its_total_with_callees(counted):
    paths, text = counted
    for figures in paths.values():
        assert figures["functions"]
        for row in figures["functions"]:
            assert 0 <= row["self"] <= row["inclusive"]
            assert row["self"] <= figures["instructions_per_query"] * 1.1
    assert "| dns | message_parse |" in text


def test_a_second_run_agrees_with_the_first(counted, tmp_path):
    done = compared(tmp_path, counted[0], "--limit", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "same: hit TCP" in done.stdout


def test_a_path_that_costs_more_than_before_fails(counted, tmp_path):
    doctored = copy.deepcopy(counted[0])
    doctored["hit TCP"]["instructions_per_query"] *= 0.9
    done = compared(tmp_path, doctored)
    assert done.returncode == 1
    assert "MORE: hit TCP" in done.stdout


def test_a_cheaper_path_is_reported_and_passes(counted, tmp_path):
    doctored = copy.deepcopy(counted[0])
    doctored["hit TCP"]["instructions_per_query"] *= 1.2
    done = compared(tmp_path, doctored)
    assert done.returncode == 0
    assert "less: hit TCP" in done.stdout


def test_a_comparison_with_nothing_in_common_fails(tmp_path):
    done = compared(tmp_path, {"another path": {"instructions_per_query": 1}})
    assert done.returncode == 1
    assert "nothing to compare" in done.stdout


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"paths": {"hit TCP": {}}}'])
def test_a_foreign_file_is_refused_before_counting(tmp_path, content):
    broken = tmp_path / "broken.json"
    broken.write_text(content, encoding="utf-8")
    done = instructions("--compare", broken)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr and "broken.json" in done.stderr


def test_an_unknown_path_is_refused():
    done = instructions("--only", "hit TPC")
    assert done.returncode == 2
    assert "hit TPC" in done.stderr
