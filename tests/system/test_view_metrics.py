# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The counters of views: nailupctl stats, Prometheus, and reloads."""

import json
import re
import urllib.request

import pytest
from conftest import BUILD, eventually, free_address

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

KIDS, SHUT, GONE, SLOW, PLAIN = "127.0.0.9", "127.0.0.10", "127.0.0.11", "127.0.0.12", "127.0.0.13"
DATA = ["fine.example. A 192.0.2.1"]


def access(client, action):
    return [{"prefix": client, "action": action}]


def views(tmp_path):
    names, rules = tmp_path / "names", tmp_path / "rules"
    names.write_text("bad.example\n")
    rules.write_text("$ORIGIN rpz.example.\n@ 60 SOA ns mail 1 60 60 60 60\n@ 60 NS ns\ndrop.example 60 CNAME rpz-drop.\n")
    return {"rpz": [{"name": "rpz.example", "file": str(rules), "default": "no"}], "local-data": DATA,
            "local-zones": [{"name": "void.example", "action": "drop"}],
            "views": [{"name": "kids", "clients": [KIDS], "block-lists": [{"file": str(names)}], "rpz-zones": ["rpz.example"]},
                      {"name": "shut", "clients": [SHUT], "access": access(SHUT, "refuse")},
                      {"name": "gone", "clients": [GONE], "access": access(GONE, "drop")},
                      {"name": "slow", "clients": [SLOW], "queries-per-second": 1}]}


def table(daemon):
    return {row.pop("view"): {key: value for key, value in row.items() if value} for row in daemon.ask("stats")["views"]}


def test_each_view_counts_its_queries_and_their_ends(nailupd, dig, tmp_path):
    page = free_address("127.0.0.1")
    daemon = nailupd({**views(tmp_path), "metrics": {"listen": "%s@%d" % page}})

    def ask(client, name="fine.example", *options):
        return dig(daemon, name, "A", "-b", client, "+timeout=1", *options)

    assert ask(KIDS).status == "NOERROR" and ask(KIDS, "bad.example").status == "NXDOMAIN"
    assert ask(KIDS, "fine.example", "+tcp").status == "NOERROR"
    assert ask(KIDS, "drop.example").status is None  # the policy zone has a rule for this name
    assert ask(KIDS, "void.example").status is None  # the local zone drops it
    assert ask(SHUT).status == "REFUSED" and ask(GONE).status is None
    assert ask(PLAIN).status == "NOERROR"  # this client has no view
    for _ in range(20):
        ask(SLOW, "fine.example", "+ignore", "+nocookie")
    shown = table(daemon)
    assert shown["kids"] == {"queries": 5, "noerror": 2, "nxdomain": 1, "blocked": 3, "dropped": 2}
    assert shown["shut"] == {"queries": 1, "refused": 1} and shown["gone"] == {"queries": 1, "dropped": 1}
    slow = shown["slow"]
    assert slow["queries"] == 20 and slow["limited"] > 0
    assert slow["noerror"] + slow.get("dropped", 0) == 20
    with urllib.request.urlopen("http://%s:%d/metrics" % page, timeout=10) as answer:
        text = answer.read().decode()
    assert 'nailup_view_queries_total{view="kids"} 5\n' in text and 'view="(other)"' not in text
    assert 'nailup_view_answers_total{view="kids",rcode="nxdomain"} 1\n' in text
    assert 'nailup_view_dropped_total{view="gone"} 1\n' in text


def test_a_view_keeps_its_counters_over_reloads(nailupd, dig, tmp_path):
    config = views(tmp_path)
    daemon = nailupd(config)
    dig(daemon, "fine.example", "A", "-b", KIDS)

    def reload(change):
        held = json.loads(daemon.config_path.read_text())
        change(held["views"])
        daemon.config_path.write_text(json.dumps(held))
        assert daemon.ctl("reload").returncode == 0

    reload(lambda views: views.reverse())
    dig(daemon, "fine.example", "A", "-b", KIDS)
    assert table(daemon)["kids"]["queries"] == 2
    reload(lambda views: views.clear())
    assert table(daemon)["kids"]["queries"] == 2  # a counter never vanishes
    reload(lambda views: views.extend(config["views"]))
    dig(daemon, "fine.example", "A", "-b", KIDS)
    assert table(daemon)["kids"]["queries"] == 3


def test_a_daemon_without_views_shows_none(nailupd, dig):
    page = free_address("127.0.0.1")
    daemon = nailupd({"local-data": DATA, "metrics": {"listen": "%s@%d" % page}})
    assert dig(daemon, "fine.example").status == "NOERROR" and "views" not in daemon.ask("stats")
    with urllib.request.urlopen("http://%s:%d/metrics" % page, timeout=10) as answer:
        assert "nailup_view_" not in answer.read().decode()


def test_views_above_the_bound_share_a_row(nailupd, dig):
    page = free_address("127.0.0.1")
    daemon = nailupd({"local-data": DATA, "metrics": {"listen": "%s@%d" % page},
                      "views": [{"name": f"v{number}", "clients": [f"127.0.1.{number}"]} for number in range(1, 71)]})
    for number in (1, 64, 65, 70):
        assert dig(daemon, "fine.example", "A", "-b", f"127.0.1.{number}").status == "NOERROR"
    shown = table(daemon)
    assert len(shown) == 65 and shown["(other)"]["queries"] == 2
    assert shown["v1"]["queries"] == shown["v64"]["queries"] == 1 and "v65" not in shown

    def page_is_whole():
        with urllib.request.urlopen("http://%s:%d/metrics" % page, timeout=10) as answer:
            return len(re.findall(r"^nailup_view_queries_total", answer.read().decode(), re.M)) == 65
    eventually(page_is_whole)
