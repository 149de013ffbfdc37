# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A configuration in several files is checked, printed and served."""

import json
import os
import pathlib
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


FILES = {  # a key of nailup.yaml that names FILE, or {} for the file of -c
    "-c": {},
    "include": {"include": ["FILE"]},
    "server.tls-certificate": {"server": {"listen-tls": ["127.0.0.1@8853"], "tls-certificate": "FILE",
                                          "tls-key": "FILE"}},
    "server.cookie-secret-file": {"server": {"cookie-secret-file": "FILE"}},
    "upstream.ca-bundle": {"upstream": {"ca-bundle": "FILE"}},
    "upstream.client-certificate": {"upstream": {"client-certificate": "FILE", "client-key": "FILE"}},
    "auth-zones": {"auth-zones": [{"name": "held.example", "file": "FILE"}]},
    "tsig-keys": {"tsig-keys": [{"name": "k.example", "algorithm": "hmac-sha256", "secret-file": "FILE"}]},
    "hosts-file": {"hosts-file": "FILE"},
    "block-lists": {"block-lists": [{"file": "FILE"}]},
    "rpz": {"rpz": [{"name": "rpz.example", "file": "FILE"}]},
    "recursion.root-hints": {"recursion": {"root-hints": "FILE"}},
    "dnssec.trust-anchor-file": {"dnssec": {"trust-anchor-file": "FILE"}},
}


@pytest.mark.parametrize("key", FILES)
def test_only_regular_files_are_read(key, tmp_path):
    """A FIFO never ends, so nailupd refuses it instead of waiting for a writer."""
    pipe, path = tmp_path / "pipe", tmp_path / "nailup.yaml"
    os.mkfifo(pipe)
    for special in (pipe, tmp_path, pathlib.Path("/dev/zero")):
        config = {"forward-zones": [{"name": ".", "upstreams": ["192.0.2.53"]}], **FILES[key]}
        path.write_text(json.dumps(config).replace("FILE", str(special)))
        done = check(path if FILES[key] else special, "-t")
        wrong = [line for line in done.stderr.splitlines() if str(special) in line and "regular file" in line]
        assert wrong and done.returncode == (key != "auth-zones"), done.stderr  # that gets a warning


def test_included_names_are_served(nailupd, responder, dig, tmp_path):
    (tmp_path / "names.yaml").write_text("local-data: [nas.lan. A 192.0.2.7]\n")
    daemon = nailupd({"include": ["names.yaml"], "local-data": ["tv.lan. A 192.0.2.8"]},
                     upstreams=[responder()])
    assert dig(daemon, "nas.lan").data == ["192.0.2.7"]
    assert dig(daemon, "tv.lan").data == ["192.0.2.8"]
