# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""bench/compare/run --quick with nailupd and Unbound: the output is complete and consistent. No figure is judged,
because --quick does not measure."""

import csv
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest
from conftest import BUILD, ROOT

RUN = ROOT / "bench/compare/run"
SVG = "{http://www.w3.org/2000/svg}"
CHARTS = ["cpu.svg", "latency-0ms.svg", "series-recycle.svg", "series-streams.svg"]

pytestmark = [
    pytest.mark.skipif(BUILD is None, reason="nailupd is not built"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one CPU only"),
]


def compare(out, *options):
    return subprocess.run([sys.executable, RUN, "--build", BUILD, "--out", out, *options],
                          capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    if not shutil.which("unbound", path="/usr/sbin:/usr/local/sbin:/usr/bin"):
        pytest.skip("unbound is not installed")
    out = tmp_path_factory.mktemp("compare")
    done = compare(out, "--quick", "--peers", "nailupd,unbound")
    assert done.returncode == 0, done.stderr
    return out


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_server_has_a_row_for_each_cell_and_transport(results):
    rows = rows_of(results / "results.csv")
    seen = {(row["cell"], row["server"], row["transport"], row["mode"]) for row in rows}
    for mode in ("max", "rate"):
        assert ("hit", "udp-floor", "udp", mode) in seen
        for server in ("nailupd", "unbound"):
            assert ("hit", server, "udp", mode) in seen
            for transport in ("udp", "tcp", "tls"):
                assert ("miss-0ms", server, transport, mode) in seen
    assert len(rows) == len(seen)


def test_rows_hold_possible_figures(results):
    for row in rows_of(results / "results.csv"):
        assert 0 < int(row["answered"]) <= int(row["sent"])
        assert int(row["noerror"]) <= int(row["answered"])
        # On a slow machine, every answer may come after the short time of the measurement.
        assert float(row["qps"]) == 0 or float(row["cpu_us_per_query"]) >= 0
        assert 0 < float(row["p50_us"]) <= float(row["p99_us"]) <= float(row["max_us"])


def test_misses_go_to_the_upstream_over_the_transport_that_is_measured(results):
    for row in rows_of(results / "results.csv"):
        if row["cell"] == "miss-0ms":
            asked = {over: int(row[f"upstream_{over}_queries"]) for over in ("udp", "tcp", "tls")}
            assert max(asked, key=asked.get) == row["transport"]
            assert (row["queries_per_write"] == "") == (row["transport"] == "udp")


def test_the_tables_are_complete_and_list_where_others_are_better(results):
    text = (results / "results.md").read_text(encoding="utf-8")
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) == 3  # a table each for hits, misses, and series
    for table in tables:
        lines = table.splitlines()
        assert len({line.count("|") for line in lines}) == 1 and len(lines) > 3
    better = text.split("## Where others are better")[1].split("##")[0]
    assert re.search(r"^- ", better, re.MULTILINE)
    assert "--quick" in text and "unbound 1." in text


def test_charts_are_svg_with_a_title_a_legend_axes_and_the_command(results):
    for name in CHARTS:
        tree = xml.parse(results / name).getroot()
        assert tree.tag == SVG + "svg" and tree.find(SVG + "title").text
        words = " ".join(text.text for text in tree.iter(SVG + "text"))
        assert "nailupd" in words and "unbound" in words and "logarithmic" in words
        assert "bench/compare/run" in words and "Linux" in words
        assert "prefers-color-scheme:dark" in tree.find(SVG + "style").text
        assert len(list(tree.iter(SVG + "circle"))) + len(list(tree.iter(SVG + "path"))) > 4


def test_series_have_a_line_for_every_query_of_every_server(results):
    rows = rows_of(results / "series.csv")
    servers = {row["server"] for row in rows}
    assert servers == {"nailupd TCP", "nailupd DoT", "unbound TCP", "unbound DoT"}
    for series in ("series-recycle", "series-streams"):
        counts = {server: sum(row["server"] == server and row["series"] == series for row in rows)
                  for server in servers}
        assert len(set(counts.values())) == 1 and min(counts.values()) > 100
    for row in rows:
        assert (row["rcode"] == "lost") == (row["latency_ms"] == "")


def test_the_servers_reached_nothing_but_loopback(results):
    facts = json.loads((results / "facts.json").read_text(encoding="utf-8"))
    if not facts["namespace"]:
        pytest.skip("no network namespaces here")
    assert facts["without_route"] == 0


@pytest.fixture(scope="module")
def far_results(tmp_path_factory):
    """Yields the results of nailupd alone, over the cable if there is one."""
    out = tmp_path_factory.mktemp("far")
    done = compare(out, "--quick", "--peers", "nailupd", "--cells", "far,recycle,miss-loss", "--rate", "1000")
    assert done.returncode == 0, done.stderr
    return out


def test_recycling_is_compared_with_the_same_distance_without_it(far_results):
    rows = rows_of(far_results / "results.csv")
    seen = {(row["cell"], row["transport"]) for row in rows if row["mode"] == "rate"}
    assert seen == {("far", "udp"), ("far", "tcp"), ("far", "tls"), ("recycle", "tcp"), ("recycle", "tls"),
                    ("miss-loss", "udp"), ("miss-loss", "tcp"), ("miss-loss", "tls")}
    for row in rows:
        asked = {over: int(row[f"upstream_{over}_queries"]) for over in ("udp", "tcp", "tls")}
        assert max(asked, key=asked.get) == row["transport"]
        # the rate is lower if a server cannot do the usual one
        assert row["mode"] == "max" or 0 < int(row["rate"]) <= 1000
        assert 0 < int(row["answered"]) <= int(row["sent"])
        if row["cell"] == "recycle" and row["mode"] == "max":
            assert int(row["connections_opened"]) > 0
    text = (far_results / "results.md").read_text(encoding="utf-8")
    assert "p99 over TCP with recycling after 100 queries, to that without" in text


def test_distances_use_the_cable_or_the_report_says_that_it_is_missing(far_results):
    no_cable = json.loads((far_results / "facts.json").read_text(encoding="utf-8"))["no_cable"]
    text = (far_results / "results.md").read_text(encoding="utf-8")
    assert ("there was no cable" in text) == (no_cable is not None)
    if no_cable:
        pytest.skip(f"there is no cable: {no_cable}")
    assert "over the cable at a rate: packets were late by" in text
    for row in rows_of(far_results / "results.csv"):
        assert int(row["cable_packets"]) > int(row["answered"]) / 100
        assert row["cell"] == "miss-loss" or int(row["cable_lost"]) == 0
    assert sum(int(row["cable_lost"]) for row in rows_of(far_results / "results.csv")
               if row["cell"] == "miss-loss") > 0


class FakeTeller:
    def __init__(self):
        self.sent = {}

    def set(self, settings):
        self.sent.update(settings)


def stage_with(modules, cable):
    theatre = modules.Stage.__new__(modules.Stage)
    theatre.cable, theatre.upstream = cable, FakeTeller()
    return theatre


def test_the_distance_is_the_cables_and_without_one_the_responders(compare_modules):
    stage, cells = (importlib.import_module(name) for name in ("stage", "cells"))
    for cell in cells.CELLS:
        with_cable, without = stage_with(stage, FakeTeller()), stage_with(stage, None)
        for theatre in (with_cable, without):
            theatre.set_scene(cell)
        assert with_cable.upstream.sent == {**cells.DEFAULTS, **cell.settings}
        assert with_cable.cable.sent == {"delay": "0", "loss": "0", **cell.distance}
        assert without.upstream.sent == {**cells.DEFAULTS, **cell.settings, **cell.distance,
                                         **cell.without_cable}
        assert with_cable.is_far(cell) == bool(cell.distance) and not without.is_far(cell)


def test_an_attempt_to_leave_loopback_fails_and_is_counted():
    script = """
import socket, sandbox
if not sandbox.enter_namespace():
    print("no namespace")
    raise SystemExit
for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
    try:
        socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", (address, 53))
    except OSError:
        pass
print(sandbox.packets_without_route())
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT / "bench/compare",
                          capture_output=True, text=True, timeout=30, check=False)
    if done.stdout.strip() == "no namespace":
        pytest.skip("no network namespaces here")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1


def test_a_peer_that_does_not_start_is_left_out_with_a_reason(tmp_path):
    programs = tmp_path / "build"
    (programs / "src").mkdir(parents=True)
    (programs / "src/nailupd").write_text("#!/bin/sh\necho I will not >&2\nexit 1\n")
    (programs / "src/nailupd").chmod(0o755)
    (programs / "bench").symlink_to(pathlib.Path(BUILD).resolve() / "bench")
    done = subprocess.run([sys.executable, RUN, "--build", programs, "--out", tmp_path / "out",
                           "--quick", "--peers", "nailupd", "--cells", "hit"],
                          capture_output=True, text=True, timeout=120, check=False)
    assert "left out: nailupd (hit, over UDP): does not start here: I will not" in done.stdout
    assert [row["server"] for row in rows_of(tmp_path / "out/results.csv")] == ["udp-floor"] * 2


def test_a_second_version_of_a_peer_has_its_own_rows(tmp_path):
    other = tmp_path / "other"
    other.write_text(f'#!/bin/sh\n[ "$1" != --version ] || {{ echo nailupd 99.7.0; exit; }}\n'
                     f'exec {pathlib.Path(BUILD).resolve()}/src/nailupd "$@"\n')
    other.chmod(0o755)
    done = compare(tmp_path / "out", "--quick", "--peers", "nailupd", "--also", f"nailupd={other}", "--cells",
                   "hit,series-streams")
    assert done.returncode == 0, done.stderr
    servers = [row["server"] for row in rows_of(tmp_path / "out/results.csv") if row["mode"] == "max"]
    assert sorted(servers) == ["nailupd", "nailupd 99.7.0", "udp-floor"]
    assert {row["server"] for row in rows_of(tmp_path / "out/series.csv")} == {
        "nailupd TCP", "nailupd DoT", "nailupd 99.7.0 TCP", "nailupd 99.7.0 DoT"}
    text = (tmp_path / "out/results.md").read_text(encoding="utf-8")
    assert "| nailupd 99.7.0 |" in text and "99.7.0 99.7.0" not in text


def test_unknown_names_are_refused(tmp_path):
    for options in (["--cells", "nonsense"], ["--peers", "nonsense"], ["--also", "nonsense=/bin/true"],
                    ["--also", "unbound=nonsense"]):
        done = compare(tmp_path, *options)
        assert done.returncode == 1 and "nonsense" in done.stderr


@pytest.fixture
def compare_modules(monkeypatch):
    """Returns the modules (programs, summary, charts) of bench/compare, without running any of them."""
    monkeypatch.syspath_prepend(str(ROOT / "bench/compare"))
    return [importlib.import_module(name) for name in ("programs", "summary", "charts")]


def made_up_row(server, number, failed=0.0, **figures):
    return {"cell": "hit", "server": server, "version": "1", "transport": "udp", "mode": "rate",
            "rate": 20000, "round": number, "failed_percent": failed, "p50_us": 10.0,
            "p99_us": 20.0, "cpu_us_per_query": 2.0, "qps": 20000.0, "queries_per_write": "",
            "taken_by_others_percent": 0.0} | figures


class MadeUpCell:
    name = "hit"


@pytest.mark.parametrize("stops, kept, repeats", [
    ([100], 100, 0), ([5000, 200, 1], 200, 1), ([9000, 5000, 7000, 1], 5000, 2), ([9000, None, 1], 9000, 0)])
def test_a_measurement_is_made_again_if_the_servers_cpu_stopped(compare_modules, stops, kept, repeats):
    measurer = importlib.import_module("measure").Measurer(None, 1, 0)
    made = [stop and {"cpu_stopped_us": stop, "repeats": 0} for stop in stops]
    measurer.measure_once = lambda *what: made.pop(0)
    row = measurer.measure("server", "cell", 5000, 0)
    assert row == {"cpu_stopped_us": kept, "repeats": repeats}


def test_a_saturated_measurement_is_never_made_again(compare_modules):
    measurer = importlib.import_module("measure").Measurer(None, 1, 0)
    made = [{"cpu_stopped_us": 50000, "repeats": 0}, None]
    measurer.measure_once = lambda *what: made.pop(0)
    assert measurer.measure("server", "cell", 0, 0)["cpu_stopped_us"] == 50000


def test_the_median_counts_for_us_and_the_best_round_for_others(compare_modules):
    _, summary, _ = compare_modules
    results = summary.Results([made_up_row(server, number, cpu_us_per_query=cost) for server in
                               ("nailupd", "unbound") for number, cost in enumerate((30.0, 10.0, 20.0))])
    assert results.figure("hit", "nailupd", "udp", summary.CPU_RATE) == 20.0
    assert results.figure("hit", "unbound", "udp", summary.CPU_RATE) == 10.0


def test_percentiles_are_medians_for_all(compare_modules):
    _, summary, _ = compare_modules
    results = summary.Results([made_up_row(server, number, p99_us=p99) for server in
                               ("nailupd", "unbound") for number, p99 in enumerate((300.0, 40.0, 60.0))])
    assert results.figure("hit", "nailupd", "udp", summary.P99) == 60.0
    assert results.figure("hit", "unbound", "udp", summary.P99) == 60.0


def test_every_figure_of_a_peer_that_is_better_is_listed(compare_modules):
    _, summary, _ = compare_modules
    results = summary.Results([made_up_row("nailupd", 0, p50_us=100.0, p99_us=200.0),
                               made_up_row("unbound", 0, p50_us=90.0, p99_us=201.0),
                               made_up_row("dnsdist", 0, p50_us=98.0, p99_us=300.0)])
    listed = {(one.server, one.metric.title): one for one in summary.better(results, [MadeUpCell])}
    assert set(listed) == {("unbound", "p50"), ("dnsdist", "p50")}
    assert listed["dnsdist", "p50"].is_noise() and not listed["unbound", "p50"].is_noise()


def test_a_failing_server_is_never_better_but_is_named(compare_modules):
    _, summary, _ = compare_modules
    results = summary.Results([made_up_row("nailupd", 0), made_up_row("unbound", 0, 50.0, p50_us=1.0)])
    assert summary.better(results, [MadeUpCell]) == []
    assert list(summary.not_compared(results, [MadeUpCell])) == [
        "hit, unbound over UDP, at its rate: 50.0 % failed or lost"]


def test_latency_at_different_rates_is_not_compared(compare_modules):
    _, summary, _ = compare_modules
    results = summary.Results([made_up_row("nailupd", 0),
                               made_up_row("unbound", 0, rate=1000, p50_us=1.0)])
    assert summary.better(results, [MadeUpCell]) == []
    assert list(summary.not_compared(results, [MadeUpCell])) == [
        "hit, unbound over UDP: latency at 1,000/s, ours at 20,000/s"]


def test_tagged_lines_are_for_their_transport_only(compare_modules):
    programs, _, _ = compare_modules
    template = "a $port\n@udp,tcp   b\n@tls c\n@recycle d"
    assert programs.rendered(template, {"miss", "udp"}, {"port": 53}) == "a 53\n  b\n"
    assert programs.rendered(template, {"recycle", "tls"}, {"port": 53}) == "a 53\nc\nd\n"


def test_every_configuration_can_be_filled_in_for_every_transport(compare_modules):
    programs, _, _ = compare_modules
    values = {name: "1" for name in ("port", "ip", "upstream", "upstream_tls", "ca", "auth_name",
                                     "directory")}
    templates = list((ROOT / "bench/compare/peers").glob("*.conf"))
    assert len(templates) > len(programs.all_peers())
    for template in templates:
        for transport in programs.TRANSPORTS:
            for role in ("hit", "miss", "recycle"):
                text = programs.rendered(template.read_text(encoding="utf-8"), {role, transport}, values)
                assert "SPDX" in text and "\n@" not in text and "$" not in text


def program_of_version(folder, name, version):
    path = folder / f"{name}-{version}"
    path.write_text(f"#!/bin/sh\necho {name} {version}\n")
    path.chmod(0o755)
    return path


def test_the_version_decides_which_template_a_peer_gets_and_what_it_cannot_do(compare_modules, tmp_path):
    programs, _, _ = compare_modules
    bind9 = next(peer for peer in programs.all_peers() if peer.kind == "bind9")
    versions = ("9.18.49", "9.20.1", "9.100.3")
    old, new, newest = (bind9.another(program_of_version(tmp_path, "named", version)) for version in versions)
    assert "tls" in old.cannot and "tls" not in new.cannot and "tls" not in newest.cannot
    assert "tls" in bind9.cannot
    assert old.template() == newest.template() == bind9.template() != new.template()
    kresd = next(peer for peer in programs.all_peers() if peer.kind == "knot-resolver")
    assert kresd.another(program_of_version(tmp_path, "kresd", "6.4.2")).template() != kresd.template()


def test_an_axis_holds_its_values_between_its_ends(compare_modules):
    charts = compare_modules[2]
    for values in ([0.9, 1234.5], [7.0], [1.0, 1.0], [20.0, 21.0]):
        scale = charts.LogScale(values, 100, 500)
        assert all(100 - 1e-6 <= scale.at(value) <= 600 + 1e-6 for value in values)
        assert 2 <= len(scale.labelled()) <= 12
    assert charts.dots("t", "s", "us", [("g", [("a", True, [None])])], [("CPU", "")], []) is None


def test_tables_and_charts_can_be_made_again_from_the_files_alone(results, tmp_path):
    again = tmp_path / "again"
    shutil.copytree(results, again)
    made = [path.name for path in results.iterdir() if path.suffix in (".md", ".svg")]
    assert len(made) > 3
    for name in made:
        (again / name).unlink()
    done = compare(tmp_path / "unused", "--again", again)
    assert done.returncode == 0, done.stderr
    for name in made:  # charts draw the figures that the CSV has rounded
        texts = [(folder / name).read_text(encoding="utf-8") for folder in (results, again)]
        if name.endswith(".svg"):
            texts = [re.sub(r"[\d.]+", "#", text) for text in texts]
        assert texts[0] == texts[1]
    assert not (tmp_path / "unused").exists()


def test_a_folder_without_a_run_cannot_be_reported_again(tmp_path):
    done = compare(tmp_path, "--again", tmp_path)
    assert done.returncode == 1 and "--again takes the folder of a run" in done.stderr
    assert "Traceback" not in done.stderr
