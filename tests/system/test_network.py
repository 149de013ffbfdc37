# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Links go and come back, and addresses change. Each test has two network namespaces, which a cable joins. A test is
skipped if namespaces are not allowed."""

import os
import shutil
import subprocess
import time

import pytest
from conftest import Answer, Daemon, eventually, program

NEWS = "dialling upstreams again"


class Place:
    """A network namespace, which an idle process keeps."""

    def __init__(self, inside=()):
        as_root = ["--map-root-user"] if os.geteuid() and not inside else []
        self.holder = subprocess.Popen(
            [*inside, "unshare", *as_root, "--net", "sh", "-c", "echo; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not self.holder.stdout.readline():
            pytest.skip(f"no network namespace: {self.holder.stderr.read().strip()}")
        self.pid = self.holder.pid
        self.enter = [*inside, "nsenter", "--target", str(self.pid), "--net",
                      *(["--user", "--preserve-credentials"] if as_root else [])]
        self.run("ip", "link", "set", "lo", "up")

    def run(self, *words):
        done = subprocess.run([*self.enter, *words], text=True, capture_output=True, timeout=20)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def close(self):
        self.holder.stdin.close()
        self.holder.wait(10)
        for pipe in (self.holder.stdout, self.holder.stderr):
            pipe.close()


class Cable:
    """The machines of the daemon and of an upstream, with addresses on both ends of a cable."""

    def __init__(self):
        for tool in ("unshare", "nsenter", "ip", "dig"):
            if not shutil.which(tool):
                pytest.skip(f"{tool} is not installed")
        self.here = Place()
        self.there = Place(self.here.enter)
        try:
            self.here.run("ip", "link", "add", "cable", "type", "veth", "peer", "name", "far")
        except AssertionError as error:
            pytest.skip(f"no veth: {error}")
        self.here.run("ip", "link", "set", "far", "netns", str(self.there.pid))
        # Makes packets as small as on a wire. A connection reads this from its link when it starts.
        self.here.run("ip", "link", "set", "cable", "gso_max_segs", "1")
        self.there.run("ip", "link", "set", "far", "gso_max_segs", "1")
        for net in (1, 2):
            self.there.run("ip", "addr", "add", f"10.77.{net}.1/24", "dev", "far")
        self.there.run("ip", "addr", "add", "192.0.2.1/32", "dev", "far")
        self.there.run("ip", "link", "set", "far", "up")
        self.here.run("ip", "link", "set", "cable", "up")
        self.plug_into(1)

    def plug_into(self, net):
        """Plugs the cable into one of two networks: sets the address and the route."""
        self.here.run("ip", "addr", "flush", "dev", "cable")
        self.here.run("ip", "addr", "add", f"10.77.{net}.2/24", "dev", "cable")
        self.here.run("ip", "route", "add", "default", "via", f"10.77.{net}.1")

    def close(self):
        self.there.close()
        self.here.close()


@pytest.fixture
def cable():
    cable = Cable()
    yield cable
    cable.close()


@pytest.fixture
def far_responder(cable, tmp_path):
    """Yields nailup-bench responder at the far end."""
    process = subprocess.Popen(
        [*cable.there.enter, program("nailup-bench"), "responder", "--control",
         str(tmp_path / "far.sock"), "--listen", "192.0.2.1@53"],
        stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("ready")
    yield process
    process.terminate()
    process.wait(10)
    process.stdout.close()


class DaemonHere(Daemon):
    """A nailupd inside a namespace."""

    def __init__(self, cable, folder, config):
        self.cable = cable
        super().__init__(folder, config, inside=cable.here.enter)

    def dig(self, name):
        done = subprocess.run(
            [*self.cable.here.enter, "dig", "@127.0.0.1", "-p", "5353", "+tries=1", "+timeout=8",
             name, "A"], text=True, capture_output=True, timeout=30)
        return Answer(done.stdout)

    def reported(self):
        return self.log().count(NEWS)

    def ready(self):
        return [one for one in self.connections() if one["state"] == "ready"]


@pytest.fixture
def daemon(cable, far_responder, tmp_path):
    config = {
        "server": {"workers": 2, "listen": ["127.0.0.1@5353"], "default-local-zones": "no"},
        "control": {"socket": str(tmp_path / "control.sock")},
        "cache": {"serve-stale": "0s"},
        "dnssec": {"validate": "no"},  # the responder signs nothing
        "forward-zones": [{"name": ".", "upstreams": ["192.0.2.1"]}],
        "tcp-upstream-keepalive": ["192.0.2.1"],
        # Only a report about the network can free the daemon from the dead connection.
        "upstream": {"fallback": "none", "stall-timeout": "60s", "connect-timeout": "10s"},
    }
    daemon = DaemonHere(cable, tmp_path, config)
    daemon.wait_until_ready()
    yield daemon
    code = daemon.stop()
    daemon.check_clean()
    assert code == 0, daemon.log()


def count(daemon, metric):
    return daemon.metrics()[metric]


def test_a_check_names_the_lack_of_a_route_and_fails_only_where_that_counts(cable, daemon):
    eventually(lambda: daemon.ask("check")["check"]["state"] == "ready", 20)
    cable.here.run("ip", "link", "set", "cable", "down")
    check = eventually(lambda: [one for one in [daemon.ask("check")["check"]]
                                if one["state"] == "degraded"], 20)[0]
    assert check["reasons"] == "no route to any upstream" and not check["path"], check
    assert daemon.ctl("status", "--check").returncode == 0
    done = daemon.ctl("status", "--check", "--require-upstream")
    assert done.returncode == 1 and "no route to any upstream" in done.stdout, done
    assert daemon.ask("status")["daemon"]["problems"] == "no route to any upstream"
    eventually(lambda: any("no route" in row["health"] for row in daemon.upstreams()), 20)
    answer = daemon.dig("unplugged.example")
    assert answer.status == "SERVFAIL" and "no server of the zone . answers: " in answer.text, answer.text
    assert "192.0.2.1" not in answer.text
    cable.here.run("ip", "link", "set", "cable", "up")
    cable.plug_into(1)
    eventually(lambda: daemon.ctl("status", "--check", "--require-upstream").returncode == 0, 20)


def test_a_cable_that_is_replugged_needs_no_waiting(cable, daemon):
    assert daemon.dig("first.example").status == "NOERROR"
    eventually(lambda: len(daemon.ready()) == 2, 20)
    reported = daemon.reported()
    cable.here.run("ip", "link", "set", "cable", "down")
    eventually(lambda: daemon.reported() > reported, 20)
    assert daemon.dig("outage.example").status == "SERVFAIL"  # the failure is cached as well
    reported = daemon.reported()
    cable.here.run("ip", "link", "set", "cable", "up")
    cable.here.run("ip", "route", "add", "default", "via", "10.77.1.1")
    eventually(lambda: daemon.reported() > reported, 20)
    assert daemon.dig("outage.example").status == "NOERROR"
    eventually(lambda: len(daemon.ready()) == 2, 20)


def test_another_network_takes_the_old_connections_away(cable, daemon):
    assert daemon.dig("first.example").status == "NOERROR"
    eventually(lambda: len(daemon.ready()) == 2, 20)
    cable.plug_into(2)
    eventually(lambda: count(daemon, 'upstream_closes_total{reason="network"}') >= 2, 20)
    assert daemon.dig("second.example").status == "NOERROR"
    eventually(lambda: len(daemon.ready()) == 2, 20)
    assert {one["last_close"] for one in daemon.ready()} == {"the network changed"}


def test_events_without_a_change_dial_nothing(cable, daemon):
    eventually(lambda: len(daemon.ready()) == 2, 20)
    reported, dials = daemon.reported(), count(daemon, 'upstream_dials_total{transport="tcp",result="ok"}')
    cable.here.run("ip", "neigh", "replace", "10.77.1.9", "lladdr", "02:00:00:00:00:09", "dev",
                   "cable")
    cable.here.run("ip", "addr", "change", "10.77.1.2/24", "dev", "cable", "valid_lft", "999",
                   "preferred_lft", "99")
    cable.here.run("ip", "link", "set", "cable", "txqueuelen", "500")
    cable.here.run("ip", "route", "add", "198.51.100.0/24", "via", "10.77.1.1")
    cable.here.run("ip", "link", "set", "cable", "alias", "none")
    time.sleep(1.5)  # longer than the daemon collects changes
    assert daemon.reported() == reported
    assert count(daemon, 'upstream_dials_total{transport="tcp",result="ok"}') == dials
    assert daemon.dig("still.example").status == "NOERROR"


def test_another_default_route_dials_again(cable, daemon):
    eventually(lambda: len(daemon.ready()) == 2, 20)
    for words in (["-4", "route", "replace", "default", "via", "10.77.2.1", "onlink"],
                  ["-6", "route", "add", "default"]):
        reported = daemon.reported()
        cable.here.run("ip", *words, "dev", "cable")
        eventually(lambda: daemon.reported() > reported, 20)
    assert count(daemon, "network_changes_total") >= 2
    eventually(lambda: count(daemon, 'upstream_closes_total{reason="network"}') >= 2, 20)
    eventually(lambda: daemon.dig("still.example").status == "NOERROR", 20)


def drop_above(place, length):
    """Drops larger packets on the path without ICMP."""
    if not shutil.which("nft"):
        pytest.skip("nft is not installed")
    place.run("nft", "; ".join(["add table ip narrow"] + [
        words for hook in ("output", "input") for words in (
            f"add chain ip narrow {hook} {{ type filter hook {hook} priority 0; }}",
            f"add rule ip narrow {hook} meta length > {length} drop")]))


@pytest.mark.parametrize("length", [1280, 700])
def test_a_path_that_drops_large_packets_loses_no_answer(cable, daemon, length):
    """An answer to "big." is 3.2 kB. Segments fit into 1280 bytes from the start; on a narrower path one
    connection stalls, and the next one has smaller segments."""
    assert daemon.dig("first.example").status == "NOERROR"
    eventually(lambda: len(daemon.ready()) == 2, 20)
    drop_above(cable.there, length)
    for number in range(12):
        assert daemon.dig(f"{'' if number % 3 else 'big.'}n{number}.example").status == "NOERROR"
    asked_twice = count(daemon, 'upstream_retries_total{reason="silent"}')
    assert asked_twice == 0 if length == 1280 else 1 <= asked_twice <= 4
    assert count(daemon, 'answers_total{rcode="servfail"}') == 0
