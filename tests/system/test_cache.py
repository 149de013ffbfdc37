# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The cache as operators and clients see it: flushing, and expired answers."""

import json
import os
import signal
import stat
import subprocess

from conftest import eventually, program


def misses(daemon):
    return daemon.metrics()["cache_misses_total"]


def test_flushed_names_are_asked_again(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()])
    for name in ("a.example.org", "b.example.org", "c.example.net"):
        dig(daemon, name)
        dig(daemon, name)
    assert misses(daemon) == 3
    assert daemon.ask("flush", "a.example.org", "AAAA")["flushed"]["answers"] == 0
    assert daemon.ask("flush", "a.example.org")["flushed"]["answers"] == 1
    dig(daemon, "a.example.org")
    dig(daemon, "b.example.org")
    assert misses(daemon) == 4
    assert daemon.ask("flush-zone", "example.org")["flushed"] == {"name": "example.org.",
                                                                  "answers": 2}
    dig(daemon, "b.example.org")
    dig(daemon, "c.example.net")
    assert misses(daemon) == 5
    assert daemon.ctl("flush-zone", "a..b").returncode == 1
    assert daemon.ctl("flush").returncode == 2


def load(daemon, text):
    return subprocess.run([program("nailupctl"), "-s", daemon.socket_path, "--json", "load-cache"],
                          input=text, text=True, capture_output=True, timeout=60)


def test_a_dump_fills_another_cache(nailupd, responder, dig):
    upstream = responder()
    first, second = nailupd(upstreams=[upstream]), nailupd(upstreams=[upstream])
    names = [f"n{i}.example.org" for i in range(300)]
    for name in names:
        dig(first, name)
    text = first.ctl("dump-cache").stdout
    assert text.count(";answer n") == text.count("\n;end\n") == 300
    assert json.loads(first.ctl("--json", "dump-cache").stdout)["text"]
    done = load(second, text)
    assert json.loads(done.stdout)["loaded"] == {"answers": 300, "lines": text.count("\n"),
                                                 "passed_over": 0, "refused": 0}
    for name in names[::10]:
        assert dig(second, name).data == dig(first, name).data
    assert misses(second) == 0
    assert dig(second, "other.example.org").data


def test_an_unreadable_query_file_is_reported_by_its_line(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()])
    done = load(daemon, ";answer a.test. A ttl 60\na.test. 60 IN A 192.0.2.256\n;end\n"
                        ";answer b.test. A ttl 60\nb.test. 60 IN A 192.0.2.7\n;end\n")
    reported = json.loads(done.stdout)
    assert done.returncode == 0
    assert [row["line"] for row in reported["refused"]] == [2]
    assert reported["loaded"]["answers"] == 1
    assert dig(daemon, "b.test").data == ["192.0.2.7"]
    done = load(daemon, "x" * 3_000_000 + "\n")
    assert done.returncode == 1 and "line 1: " in done.stderr + done.stdout


def test_a_dump_that_is_not_read_holds_up_no_client(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()])
    dig(daemon, "www.example.org")
    dumps = [subprocess.Popen([program("nailupctl"), "-s", daemon.socket_path, "dump-cache"],
                              stdout=subprocess.PIPE) for _ in range(3)]
    try:
        assert dig(daemon, "www.example.org").data
        assert daemon.status()["queries"] >= 2
    finally:
        for dump in dumps:
            dump.kill()
            dump.communicate()


def test_a_dead_upstream_leaves_stale_answers(nailupd, responder, dig):
    upstream = responder("--ttl", "1")
    daemon = nailupd(upstreams=[upstream])
    data = dig(daemon, "www.example.org").data
    assert data
    upstream.stop()

    def stale():
        answer = dig(daemon, "www.example.org")
        return answer if answer.ede else None

    eventually(stale, 20)
    answer = stale()
    assert (answer.status, answer.data, answer.ede[0]) == ("NOERROR", data, 3)
    assert answer.rows[0][1] == 30
    assert daemon.metrics()["cache_stale_answers_total"] >= 2
    assert dig(daemon, "www.example.org", "A", "+dnssec").data == data  # the stale answer is not secure
    assert dig(daemon, "unknown.example.org").status == "SERVFAIL"


def fill(daemon, dig):
    return {name: dig(daemon, name).rows for name in (f"n{i}.example.org" for i in range(20))}


def test_a_restart_keeps_the_cache_and_its_answers_are_older(nailupd, responder, dig, tmp_path):
    upstream, path = responder(), tmp_path / "cache.snapshot"
    config = {"cache": {"snapshot": str(path)}}
    first = nailupd(config, upstreams=[upstream])
    answers = fill(first, dig)
    assert not path.exists()
    assert first.stop() == 0
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    second = nailupd(config, upstreams=[upstream])
    for name, rows in answers.items():
        (owner, ttl, kind, data), = dig(second, name).rows
        assert (owner, kind, data) == (rows[0][0], rows[0][2], rows[0][3])
        assert ttl <= rows[0][1]
    assert misses(second) == 0
    assert "20 answers read from" in second.log()


def test_a_restart_during_an_outage_keeps_stale_answers(nailupd, responder, dig, tmp_path):
    upstream, path = responder("--ttl", "1"), tmp_path / "cache.snapshot"
    config = {"cache": {"snapshot": str(path)}}
    daemon = nailupd(config, upstreams=[upstream])
    data = dig(daemon, "www.example.org").data
    dig(daemon, "other.example.org")
    upstream.stop()
    for _ in range(2):  # an entry that was stale before is stale again
        assert eventually(lambda: dig(daemon, "www.example.org").ede, 20)
        assert daemon.stop() == 0
        daemon = nailupd(config, upstreams=[upstream])
        assert "2 answers read from" in daemon.log()
        answer = dig(daemon, "www.example.org")
        assert (answer.status, answer.data, answer.ede[0]) == ("NOERROR", data, 3), answer.text
        assert answer.rows[0][1] == 30
    assert dig(daemon, "www.example.org", "A", "+cd").ede[:1] == [3]
    assert eventually(lambda: dig(daemon, "other.example.org").ede[:1] == [3])  # this answer was cached later


def test_a_torn_snapshot_is_reported_in_one_line_and_ignored(nailupd, responder, dig, tmp_path):
    upstream, path = responder(), tmp_path / "cache.snapshot"
    config = {"cache": {"snapshot": str(path)}}
    first = nailupd(config, upstreams=[upstream])
    fill(first, dig)
    assert first.stop() == 0
    path.write_bytes(path.read_bytes()[:-100])
    second = nailupd(config, upstreams=[upstream])
    fill(second, dig)
    assert misses(second) == 20
    assert second.log().count("is not used, so the cache begins empty") == 1
    assert second.stop(signal.SIGINT) == 0
    third = nailupd(config, upstreams=[upstream])
    fill(third, dig)
    assert misses(third) == 0


def test_a_file_of_something_else_is_left_alone(nailupd, responder, dig, tmp_path):
    upstream, config = responder(), {"cache": {}, "upstream": {}}
    files = [tmp_path / "letters", tmp_path / "diary"]
    for path in files:
        path.write_text("mine")
        path.chmod(0o600)
    config["cache"]["snapshot"], config["upstream"]["session-file"] = map(str, files)
    daemon = nailupd(config, upstreams=[upstream])
    fill(daemon, dig)
    assert daemon.stop() == 0
    assert [path.read_text() for path in files] == ["mine", "mine"]
    for path in files:
        assert daemon.log().count(str(path)) == 1


def test_a_daemon_that_is_killed_has_its_last_snapshot(nailupd, responder, dig, tmp_path):
    upstream, path = responder(), tmp_path / "cache.snapshot"
    config = {"cache": {"snapshot": str(path), "snapshot-interval": "10s"}}
    first = nailupd(config, upstreams=[upstream])
    fill(first, dig)
    eventually(path.exists, 30)
    kept = path.read_bytes()
    first.send(signal.SIGKILL)
    first.process.wait(10)
    assert path.read_bytes() == kept
    second = nailupd(config, upstreams=[upstream])
    fill(second, dig)
    assert misses(second) == 0


def test_a_start_that_fails_leaves_the_snapshot(nailupd, responder, dig, tmp_path, make_config):
    upstream, path = responder(), tmp_path / "cache.snapshot"
    config = {"cache": {"snapshot": str(path)}}
    first = nailupd(config, upstreams=[upstream])
    fill(first, dig)
    assert first.stop() == 0
    kept = path.read_bytes()
    blocker = nailupd(upstreams=[upstream])
    wanted = make_config({**config, "server": {"listen": [blocker.server]}}, upstreams=[upstream])
    file = tmp_path / "blocked.yaml"
    file.write_text(json.dumps(wanted))
    done = subprocess.run([program("nailupd"), "-c", str(file)], capture_output=True, timeout=20)
    assert done.returncode == 3
    assert path.read_bytes() == kept
