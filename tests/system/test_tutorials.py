# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Runs the commands of docs/tutorial-datacenter.md in a namespace, and checks the results that the page promises."""

import json
import pathlib
import re
import shlex
import subprocess

import pytest

from conftest import BUILD, eventually, program
from hierarchy import run

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

PAGE = (pathlib.Path(__file__).parents[2] / "docs/tutorial-datacenter.md").read_text()


def code(pattern):
    """Returns the matching lines of the page without their indentation."""
    return [line[4:] for line in re.findall(pattern, PAGE, re.M)]


def configuration():
    text = re.search(r"^    cat > tutorial.yaml <<'END'\n(.*?)^    END$", PAGE, re.M | re.S).group(1)
    return re.sub("^    ", "", text, flags=re.M)


@pytest.fixture
def tutorial(tmp_path):
    """Yields a function that runs a command in the namespace, with the first responder and nailupd running."""
    started = []
    try:
        with run.Place() as place:
            def start(words):
                started.append(subprocess.Popen([*place.enter, *words], cwd=tmp_path, stdout=subprocess.DEVNULL,
                                                stderr=subprocess.DEVNULL))

            bench = str(pathlib.Path(BUILD) / "bench/nailup-bench")
            start([bench, *shlex.split(code(r"^    nailup-bench responder .*$")[0])[1:]])
            (tmp_path / "tutorial.yaml").write_text(configuration())
            start([program("nailupd"), "-c", "tutorial.yaml"])

            def ctl(*words):
                done = subprocess.run([*place.enter, program("nailupctl"), "-s", "tutorial.sock", "--json", *words],
                                      cwd=tmp_path, capture_output=True, text=True, timeout=20)
                return json.loads(done.stdout) if done.returncode == 0 else {}

            yield lambda *words: subprocess.run([*place.enter, *words], cwd=tmp_path, capture_output=True, text=True,
                                                timeout=60), ctl
            for process in reversed(started):
                process.terminate()
                process.wait(20)
    except run.CannotRun as error:
        pytest.skip(str(error))


def test_a_query_of_the_datacenter_tutorial_costs_one_query_over_an_open_connection(tutorial):
    command, ctl = tutorial

    def ready():
        return [row for row in ctl("connections").get("connections", []) if row["state"] == "ready"]

    eventually(lambda: len(ready()) == 2)
    assert [row["requests"] for row in ready()] == [0, 0]
    done = command(*shlex.split(code(r"^    dig @127.0.0.1 .*$")[0]))
    assert re.search(r"^www\.corp\.example\.\s+300\s+IN\s+A\s", done.stdout, re.M), done.stdout + done.stderr
    assert sum(row["requests"] for row in ready()) == 1
