# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A full disk, which is /dev/full or a tiny tmpfs in a namespace: which errors are reported, and which data are
lost."""

import pathlib
import subprocess

import pytest
from conftest import Daemon, eventually

DISK_BYTES = 64 * 1024


def test_lines_of_the_query_log_that_are_lost_are_counted(nailupd, responder, make_config, tmp_path, dig, monkeypatch):
    config = make_config({"log": {"queries": "yes"}}, upstreams=[responder()])
    monkeypatch.setattr(Daemon, "log", lambda self: "")
    daemon = Daemon(tmp_path, config, inside=["sh", "-c", 'exec "$@" 2>/dev/full', "sh"])
    try:
        daemon.wait_until_ready()
        for number in range(5):
            assert dig(daemon, f"n{number}.example").status == "NOERROR"
        eventually(lambda: daemon.metrics()["query_log_dropped_total"] == 5)
        assert daemon.status()["log_lines_lost"] == 5
    finally:
        assert daemon.stop() == 0


@pytest.fixture
def small_disk(tmp_path):
    """Yields (folder, words that run a command with the small disk in that folder, the folder as other processes see
    it)."""
    folder = tmp_path / "disk"
    folder.mkdir()
    holder = subprocess.Popen(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                               f'mount -t tmpfs -o size={DISK_BYTES} none "{folder}" && echo ready && exec sleep 600'],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if holder.stdout.readline() != "ready\n":
            pytest.skip("no namespaces")
        inside = ["nsenter", "--user", "--mount", "--preserve-credentials", "-t", str(holder.pid)]
        yield folder, inside, pathlib.Path(f"/proc/{holder.pid}/root{folder}")
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def load(daemon, count):
    text = "".join(f";answer n{i}.example. A ttl 3600\nn{i}.example. 3600 IN A 192.0.2.1\n;end\n" for i in range(count))
    done = subprocess.run([*daemon.process.args[:-3], *ctl_words(daemon), "load-cache"], input=text, text=True,
                          capture_output=True, timeout=30)
    assert done.returncode == 0, done.stderr


def ctl_words(daemon):
    return [daemon.process.args[-3].replace("nailupd", "nailupctl"), "-s", daemon.socket_path]


def test_a_snapshot_that_finds_no_space_leaves_the_old_one(make_config, responder, small_disk, tmp_path):
    folder, inside, seen = small_disk
    config = make_config({"cache": {"snapshot": str(folder / "cache")}}, upstreams=[responder()])
    daemon = Daemon(tmp_path, config, inside=inside)
    daemon.wait_until_ready()
    load(daemon, 10)
    assert daemon.stop() == 0, daemon.log()
    old = (seen / "cache").read_bytes()
    assert len(old) > 100

    daemon = Daemon(tmp_path, config, inside=inside)
    daemon.wait_until_ready()
    load(daemon, 5000)
    assert daemon.stop() == 0, daemon.log()
    assert f"cannot save the cache to cache.snapshot {folder}/cache: no space left" in daemon.log()
    assert (seen / "cache").read_bytes() == old
    assert [path.name for path in seen.iterdir()] == ["cache"]
