# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""tools/release.sh and the specification of the RPM: the source tarball is complete and the same each time, and the
specification names every installed file. The manual build of packaging/README.md would need minutes."""

import fnmatch
import hashlib
import os
import re
import subprocess
import tarfile

import pytest

from conftest import BUILD, ROOT

SPEC = ROOT / "packaging/rpm/nailup.spec"


def release(*words):
    return subprocess.run([ROOT / "tools/release.sh", *words], text=True, capture_output=True, timeout=120)


def version():
    return re.search(r"^project\(nailup VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M).group(1)


def test_the_same_commit_gives_the_same_tarball(tmp_path):
    sums = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        made = release("--source", folder)
        assert made.returncode == 0, made.stderr
        data = (folder / f"nailup-{version()}.tar.gz").read_bytes()
        sums.append(hashlib.sha256(data).hexdigest())
        assert (folder / "SHA256SUMS").read_text().split() == [sums[-1], f"nailup-{version()}.tar.gz"]
    assert sums[0] == sums[1]
    with tarfile.open(tmp_path / "one" / f"nailup-{version()}.tar.gz") as tarball:
        names = tarball.getnames()
    for name in ("README.md", "check", "src/daemon/main.c", "packaging/rpm/nailup.spec", "tools/setup.sh"):
        assert f"nailup-{version()}/{name}" in names
    assert all(name.split("/")[0] == f"nailup-{version()}" for name in names)


@pytest.mark.parametrize("words", [(), ("--unknown",), ("--source",), ("a", "b")])
def test_wrong_arguments_print_the_usage_and_make_nothing(words, tmp_path):
    made = subprocess.run([ROOT / "tools/release.sh", *words], text=True, capture_output=True, timeout=60, cwd=tmp_path)
    assert made.returncode == 2 and "Usage: tools/release.sh" in made.stderr
    assert not list(tmp_path.iterdir())


def test_the_specification_names_every_installed_file(tmp_path):
    spec = SPEC.read_text()
    assert re.search(r"^Version: +(\S+)", spec, re.M).group(1) == version()
    listed = [line.split()[-1] for line in spec.split("%files\n")[1].splitlines() if line and not re.match("%(dir|license)", line)]
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr"], text=True, capture_output=True,
                          env={**os.environ, "DESTDIR": str(tmp_path)}, timeout=120)
    assert done.returncode == 0, done.stderr
    files = ["/" + str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 30
    for file in files:
        assert any(file.startswith(item + "/") or fnmatch.fnmatch(file, item) for item in listed), file
    for item in listed:
        assert any(file.startswith(item + "/") or fnmatch.fnmatch(file, item) for file in files), item
