# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""nailupd --import-unbound: its output loads, for real files and for bad ones."""
import gzip
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import BUILD, eventually, free_address, program

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

CORPUS = sorted((Path(__file__).parents[1] / "fuzz/corpus/import_unbound").glob("*.conf"))
EXAMPLE = Path("/usr/share/doc/unbound/examples/unbound.conf")
MANUAL = Path("/usr/share/man/man5/unbound.conf.5.gz")
SHIPPED = Path("/etc/unbound/unbound.conf")
OPTION = re.compile(r"^\s*#\s*((?!include)[a-z][a-z0-9-]*:(\s(?!portno).*)?)$")


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)


def imported(source, tmp_path):
    """Imports a file and loads the result. Returns the text and the messages."""
    made = run(program("nailupd"), "--import-unbound", source)
    if made.returncode != 0:
        assert made.returncode == 1 and made.stdout == ""
        assert re.match(r".*:\d+:\d+: error: ", made.stderr)
        return None, made.stderr
    path = tmp_path / "nailup.yaml"
    path.write_text(made.stdout)
    checked = run(program("nailupd"), "-t", "-c", path)
    assert checked.returncode == 0, checked.stderr + made.stdout
    return made.stdout, made.stderr


@pytest.mark.parametrize("source", CORPUS, ids=lambda path: path.stem)
def test_the_printed_configuration_loads(source, tmp_path):
    imported(source, tmp_path)


@pytest.mark.skipif(not SHIPPED.exists(), reason="Debian's unbound is not installed")
def test_debians_own_files_become_a_file_that_recurses(tmp_path):
    text, said = imported(SHIPPED, tmp_path)
    assert "forward-zones:" not in text and said == ""


@pytest.mark.skipif(not EXAMPLE.exists(), reason="Debian's unbound is not installed")
def test_unbounds_example_with_every_option_loads_and_knows_every_word(tmp_path):
    lines = [OPTION.sub(r"\1", line) for line in EXAMPLE.read_text().splitlines()]
    source = tmp_path / "all.conf"
    source.write_text("\n".join(lines) + "\n")
    text, said = imported(source, tmp_path)
    assert text, said
    assert re.findall(r"# \S+: (.*)\n#     Not known", text) == []
    assert text.count("# /") > 200


@pytest.mark.skipif(not shutil.which("unbound-checkconf"), reason="unbound is not installed")
def test_options_that_unbound_accepts_are_accepted(tmp_path):
    source = Path(__file__).parents[1] / "fuzz/corpus/import_unbound/proposal.conf"
    plain = tmp_path / "plain.conf"
    plain.write_text("server:\n chroot: ''\n directory: ''\n username: ''\n pidfile: ''\n" + "".join(
        line for line in source.read_text().splitlines(True)
        if "tcp-upstream-keepalive" not in line and "server:" not in line))
    assert run("unbound-checkconf", plain).returncode == 0
    text, _ = imported(plain, tmp_path)
    assert "name: corp.example" in text


def test_an_imported_file_serves(responder, dig, tmp_path):
    upstream = responder()
    ip, port = free_address()
    source = tmp_path / "u.conf"
    source.write_text(f"""server:
 interface: {ip}@{port}
 access-control: 127.0.0.0/8 allow
 tcp-upstream-keepalive: {upstream.ip}
 module-config: "iterator"
 local-data: "here.example. 60 IN A 192.0.2.9"
forward-zone:
 name: .
 forward-addr: {upstream.server}
remote-control:
 control-enable: no
""")
    text, said = imported(source, tmp_path)
    assert said == "" and "Every line has a counterpart" in text
    daemon = subprocess.Popen([program("nailupd"), "-c", tmp_path / "nailup.yaml"],
                              stderr=subprocess.DEVNULL)
    try:
        asked = SimpleNamespace(ip=ip, port=port, server=f"{ip}@{port}")
        eventually(lambda: dig(asked, "here.example").data == ["192.0.2.9"], 20)
        assert dig(asked, "www.example").data == dig(upstream, "www.example").data
        eventually(lambda: upstream.stats()["stream_queries"] >= 1, 20)
    finally:
        daemon.terminate()
        assert daemon.wait(60) == 0


@pytest.mark.skipif(not MANUAL.exists(), reason="the manual of unbound.conf is not installed")
def test_the_table_has_each_option_of_unbounds_manual():
    options = {name.replace("\\", "") for name in re.findall(r"^\.B ((?:\\-)?[a-z0-9\\-]+):",
                                                              gzip.open(MANUAL, "rt").read(), re.M)}
    table = (Path(__file__).parents[2] / "src/import/unbound_words.def").read_text()
    words = set(re.findall(r'^(?:WORD|NEEDLESS|MISSING|WEAKER)\(\w+, "([^"]+)"', table, re.M))
    clauses = set(re.findall(r'^CLAUSE\(\w+, "([^"]+)"', table, re.M))
    assert len(options) > 300
    assert options - words - clauses - {"include", "include-toplevel"} == set()


def test_the_manual_has_each_row_of_the_table():
    table = (Path(__file__).parents[2] / "src/import/unbound_words.def").read_text()
    page = (BUILD / "man/nailup-unbound.7").read_text()
    for name in re.findall(r'^(?:WORD|NEEDLESS|MISSING|WEAKER)\(SERVER, "([^"]+)"', table, re.M):
        assert f'.It Ic "{name}"\n' in page, name


def test_a_file_that_does_not_exist_is_reported(tmp_path):
    made = run(program("nailupd"), "--import-unbound", tmp_path / "none")
    assert made.returncode == 1
    assert "none:1:1: error: cannot be read: No such file or directory" in made.stderr
