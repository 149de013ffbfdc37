# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A configuration in several files is checked, printed and served."""

import subprocess

import pytest
from conftest import BUILD, program

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")


def check(path, *options):
    return subprocess.run([program("nailupd"), "-c", str(path), *options], text=True,
                          capture_output=True, timeout=20, cwd="/")


@pytest.fixture
def main_file(tmp_path):
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d/10-zones.yaml").write_text(
        "forward-zones: [{name: ., upstreams: [192.0.2.53]}]\n")
    (tmp_path / "conf.d/20-names.yaml").write_text("local-data: [nas.lan. A 192.0.2.7]\n")
    path = tmp_path / "nailup.yaml"
    path.write_text("include: conf.d/*.yaml\nserver: {workers: 1}\n")
    return path


def test_files_are_checked_as_one(main_file, tmp_path):
    assert check(main_file, "-t").returncode == 0
    (tmp_path / "conf.d/30.yaml").write_text("server:\n  workers: 2\n  max-clients: few\n")
    done = check(main_file, "-t")
    assert done.returncode == 1
    wrong = f"{tmp_path}/conf.d/30.yaml"
    twice, few = done.stderr.splitlines()
    assert twice == (f"{wrong}:2:3: error: server.workers: is given twice, first in {main_file}:2; "
                     "keep one of them")
    assert few.startswith(f"{wrong}:3:16: error: server.max-clients: takes a whole number")


def test_the_printed_configuration_is_complete(main_file, tmp_path):
    printed = check(main_file, "--print-config").stdout
    assert "192.0.2.53" in printed and "nas.lan. A 192.0.2.7" in printed
    whole = tmp_path / "whole.yaml"
    whole.write_text(printed)
    assert check(whole, "--print-config").stdout == printed


def test_included_names_are_served(nailupd, responder, dig, tmp_path):
    (tmp_path / "names.yaml").write_text("local-data: [nas.lan. A 192.0.2.7]\n")
    daemon = nailupd({"include": ["names.yaml"], "local-data": ["tv.lan. A 192.0.2.8"]},
                     upstreams=[responder()])
    assert dig(daemon, "nas.lan").data == ["192.0.2.7"]
    assert dig(daemon, "tv.lan").data == ["192.0.2.8"]
