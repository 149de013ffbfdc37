# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""nailup-bench cable: do datagrams, connections and errors take the distance, and is every packet accounted for? Each
test runs in its own process and network namespace, where its addresses are on no network. The tests assert the shortest
delay, never the longest."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from conftest import BUILD, ROOT

HERE, THERE = "198.18.0.1", "198.18.0.2"
TUN = pathlib.Path("/dev/net/tun")
BENCH = str(BUILD / "bench/nailup-bench") if BUILD else None

pytestmark = pytest.mark.skipif(BENCH is None, reason="nailup-bench is not built")


def enter_namespace():
    sys.path.insert(0, str(ROOT / "bench/compare"))
    import sandbox
    return sandbox.enter_namespace()


def in_namespace(test):
    """Runs the test in a child in a new namespace. The exit code of the child is the verdict."""

    def run():
        if not os.access(TUN, os.R_OK | os.W_OK):
            pytest.skip("there is no /dev/net/tun, or not for us")
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read_end)
            os._exit(play(test, write_end))
        os.close(write_end)
        with os.fdopen(read_end) as pipe:
            said = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if said.startswith("SKIP "):
            pytest.skip(said[5:])
        assert code == 0, said

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def play(test, write_end):
    import traceback
    signal.alarm(60)
    try:
        if not enter_namespace():
            os.write(write_end, b"SKIP no network namespaces here")
            return 0
        test()
        return 0
    except BaseException:  # pylint: disable=broad-except
        os.write(write_end, traceback.format_exc().encode())
        return 1


class Cable:
    def __init__(self, *options):
        self.process = subprocess.Popen([BENCH, "cable", "--stdin", *options], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ready = self.process.stdout.readline().split()

    def __enter__(self):
        assert self.ready[0] == "ready"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(10) == 0  # a sanitizer would exit with another code

    def tell(self, sentence):
        self.process.stdin.write(sentence + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def stats(self):
        stats = json.loads(self.tell("stats"))
        assert stats["packets"] == sum(stats[name] for name in (
            "delivered", "lost", "dropped_full", "foreign", "refused", "under_way"))
        return stats


def datagram_pair(port=5300):
    """Yields (server, client), whose datagrams go over the cable."""
    server, client = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    server.bind((HERE, port))
    client.connect((THERE, port))
    for one in (server, client):
        one.settimeout(5)
    return server, client


def echo(server, client, payload):
    """Returns how many seconds an echo took. The server sees the client at the far end."""
    started = time.monotonic()
    client.send(payload)
    data, source = server.recvfrom(65536)
    assert source[0] == THERE
    server.sendto(data, source)
    assert client.recv(65536) == payload
    return time.monotonic() - started


def receive_all(connection):
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def transfer(listener, data):
    """Returns how many bytes of data arrive over a new connection."""
    def send():
        with socket.create_connection((THERE, listener.getsockname()[1]), 30) as client:
            client.sendall(data)

    sender = threading.Thread(target=send)
    sender.start()
    accepted, source = listener.accept()
    assert source[0] == THERE
    with accepted:
        accepted.settimeout(50)
        received = receive_all(accepted)
    sender.join()
    return received


@in_namespace
def test_a_datagram_and_its_answer_take_the_round_trip():
    with Cable("--delay", "10") as cable:
        server, client = datagram_pair()
        assert cable.ready[1:] == ["cable0", HERE, THERE]
        assert min(echo(server, client, b"x" * size) for size in (1, 1232, 65507)) >= 0.010
        stats = cable.stats()
        assert stats["delivered"] == stats["packets"] == 6
        assert stats["bytes"] == 2 * (1 + 1232 + 65507 + 3 * 28)
        assert stats["late_us"]["p50"] <= stats["late_us"]["p99"] <= stats["late_us"]["max"]


@in_namespace
def test_a_connection_takes_a_round_trip_to_open_and_is_refused_as_late():
    with Cable("--delay", "10"), socket.create_server((HERE, 5300)):
        for port, refused in ((5300, False), (5301, True)):
            started = time.monotonic()
            with socket.socket() as client:
                assert (client.connect_ex((THERE, port)) != 0) == refused
            assert time.monotonic() - started >= 0.010


@in_namespace
def test_a_closed_udp_port_is_reported_over_the_cable():
    with Cable():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(10)
            client.connect((THERE, 5301))
            client.send(b"x")
            with pytest.raises(ConnectionRefusedError):
                client.recv(1)


@in_namespace
def test_full_loss_loses_everything_and_says_so():
    with Cable("--loss", "100") as cable:
        server, client = datagram_pair()
        server.settimeout(0.3)
        for _ in range(20):
            client.send(b"x")
        with pytest.raises(TimeoutError):
            server.recv(1)
        stats = cable.stats()
        assert (stats["lost"], stats["delivered"], stats["under_way"]) == (20, 0, 0)
        assert cable.tell("loss 0") == "ok"
        echo(server, client, b"y")
        assert cable.stats()["delivered"] == 2


@in_namespace
def test_with_loss_a_connection_still_carries_every_byte():
    data = bytes(range(256)) * 400
    with Cable("--loss", "20", "--mtu", "1500") as cable, socket.create_server((HERE, 5300)) as listener:
        listener.settimeout(50)
        assert transfer(listener, data) == data
        stats = cable.stats()
        assert stats["lost"] > 0 and stats["delivered"] > 0


@in_namespace
def test_with_jitter_datagrams_stay_in_order_unless_asked():
    with Cable("--jitter", "20") as cable:
        server, client = datagram_pair()
        for reorder in ("off", "on"):
            assert cable.tell(f"reorder {reorder}") == "ok"
            for number in range(100):
                client.send(bytes([number]))
            got = [server.recv(1)[0] for _ in range(100)]
            assert sorted(got) == list(range(100))
            assert (got == sorted(got)) == (reorder == "off")


@in_namespace
def test_beyond_the_queue_packets_are_dropped_and_counted():
    with Cable("--delay", "2000", "--queue", "10") as cable:
        _, client = datagram_pair()
        for _ in range(15):
            client.send(b"x")
            time.sleep(0.01)  # otherwise the kernel would drop what the server does not read in time
        stats = cable.stats()
        assert stats["under_way"] + stats["delivered"] + stats["dropped_full"] == 15
        assert stats["dropped_full"] > 0 and stats["under_way"] <= 10


@in_namespace
def test_packets_for_other_addresses_are_foreign():
    with Cable() as cable:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(HERE))
            client.sendto(b"x", ("224.0.0.251", 5300))
        deadline = time.monotonic() + 5
        while not cable.stats()["foreign"] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert cable.stats()["foreign"] >= 1 and cable.stats()["delivered"] == 0


@in_namespace
def test_a_second_one_takes_no_name_and_no_address():
    with Cable():
        for options, word in (([], "device cable0"), (["--name", "cable1"], HERE),
                              (["--name", "cable1", "--here", "198.18.0.5"], THERE)):
            done = subprocess.run([BENCH, "cable", *options], text=True, capture_output=True,
                                  timeout=10, check=False)
            assert done.returncode == 1 and word in done.stderr
        with Cable("--name", "cable1", "--here", "198.18.0.5", "--there", "198.18.0.6"):
            names = [name for _, name in socket.if_nameindex()]
            assert "cable0" in names and "cable1" in names
    assert [name for _, name in socket.if_nameindex()] == ["lo"]


@in_namespace
def test_commands_are_answered_one_by_one():
    with Cable() as cable:
        for sentence in ("delay 1.5", "jitter 0", "loss 0.5", "reorder on", "reset-stats"):
            assert cable.tell(sentence) == "ok"
        settings = json.loads(cable.tell("settings"))
        assert settings == {"delay": 1.5, "jitter": 0, "loss": 0.5, "reorder": "on"}
        for sentence in ("loss 101", "delay -1", "delay nan", "reorder maybe", "nonsense", "nonsense 1",
                         "delay 1 2", "", "x" * 1000):
            assert cable.tell(sentence).startswith("error: "), sentence
            while sentence == "x" * 1000 and not cable.tell("loss 1").startswith("ok"):
                pass  # the rest of a line that is too long counts as another line
        assert cable.tell("quit") == "ok" and cable.process.wait(10) == 0


@in_namespace
def test_it_outlives_its_commands_and_prints_its_figures_at_the_end():
    with Cable("--json") as cable:
        cable.process.stdin.close()
        server, client = datagram_pair()
        echo(server, client, b"x")
        cable.process.terminate()
        assert json.loads(cable.process.stdout.read())["delivered"] == 2


@in_namespace
def test_without_the_right_to_make_a_device_the_cable_reports_it():
    done = subprocess.run(["setpriv", "--bounding-set=-net_admin", "--inh-caps=-all", BENCH, "cable"],
                          text=True, capture_output=True, timeout=10, check=False)
    assert done.returncode == 1 and "CAP_NET_ADMIN" in done.stderr


@pytest.mark.parametrize("options", [
    ["--delay", "x"], ["--delay", "-1"], ["--loss", "101"], ["--mtu", "10"], ["--queue", "0"],
    ["--here", "nowhere"], ["--here", "::1"], ["--there", "127.0.0.1"], ["--here", "198.18.0.2"],
    ["--there", "224.0.0.1"], ["--name", "a/b"], ["--name", "a-name-that-is-too-long"], ["--name", ""],
    ["--nonsense"], ["more"]])
def test_wrong_use_is_two_and_a_sentence(options):
    done = subprocess.run([BENCH, "cable", *options], text=True, capture_output=True, timeout=10, check=False)
    assert done.returncode == 2 and done.stderr.startswith("nailup-bench cable: ")
    assert len(done.stderr.splitlines()) == 1
