# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The web site of the documentation. tools/site.sh makes it from the pages, and from the manuals of the build under
test."""

import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.skipif(not (shutil.which("mkdocs") and shutil.which("mandoc")),
                                reason="mkdocs and mandoc are not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "pages"
    made = subprocess.run([ROOT / "tools/site.sh", folder, BUILD], text=True, capture_output=True, timeout=300)
    assert made.returncode == 0, made.stderr
    return folder


def test_a_reader_goes_from_the_first_page_to_every_tutorial_and_manual(site):
    first = (site / "index.html").read_text()
    links = set(re.findall(r'href="([^"#:]+\.html)', first))
    for page in ("docs/tutorial-datacenter.html", "docs/tutorial-host.html", "docs/tutorial-benchmark.html",
                 "docs/nailing.html", "docs/operating.html", "docs/host.html", "reference/nailup.yaml.5.html",
                 "reference/nailupd.8.html", "reference/nailupctl.8.html", "reference/nailup-bench.1.html"):
        assert page in links
    for link in links:
        assert (site / link).is_file(), link


def test_the_manuals_are_whole(site):
    page = (site / "reference/nailup.yaml.5.html").read_text()
    for word in ("tcp-upstream-keepalive-maxrequests", "forward-zones", "serve-stale"):
        assert word in page


def test_pictures_are_there_and_nothing_loads_from_elsewhere(site):
    first = (site / "index.html").read_text()
    pictures = re.findall(r'<img[^>]* src="([^"]+)"', first)
    assert pictures
    for picture in pictures:
        assert (site / picture).is_file(), picture
    for page in site.rglob("*.html"):
        loads = re.findall(r'<(?:script|img|iframe|link rel="stylesheet")[^>]* (?:src|href)="([^"]+)"', page.read_text())
        assert not [load for load in loads if re.match(r"(https?:)?//", load)], page


def test_an_existing_folder_stays_as_it_is(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    made = subprocess.run([ROOT / "tools/site.sh", tmp_path, BUILD], text=True, capture_output=True, timeout=60)
    assert made.returncode == 1 and "exists already" in made.stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_wrong_arguments_print_the_usage():
    made = subprocess.run([ROOT / "tools/site.sh"], text=True, capture_output=True, timeout=60)
    assert made.returncode == 2 and "Usage: tools/site.sh FOLDER" in made.stderr
