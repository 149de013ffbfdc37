# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Stops and restarts: received queries are answered, and later ones wait for the next daemon if a service manager
keeps the sockets. Most basic first.

Clients over UDP send each query once here: nothing hides a loss. If a FIN of the daemon leaves queries
unanswered, a stream client asks them again over a new connection (RFC 7766 section 6.2.4): no daemon can answer
a query that crosses its FIN. Its losses are counted after that."""

import fcntl
import json
import os
import select
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

import pytest

from conftest import BUILD, eventually, program
from peers import Authority, Load, Stream, framed, load, query, rcode_of, udp_ask

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

# Takes descriptors from 3 on and a command, and does what systemd does between fork and exec.
HAND_OVER = """
import os, sys
count = int(sys.argv[1])
for place, fd in enumerate(sys.argv[2:2 + count]):
    os.dup2(int(fd), 3 + place)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(count))
os.execv(sys.argv[2 + count], sys.argv[2 + count:])
"""


class Activated:
    """Sockets that outlive daemons, as those of nailupd.socket do: UDP, TCP, and TLS if it is configured. One daemon
    serves them at a time, or two while they overlap."""

    def __init__(self, folder, config):
        self.folder, self.config, self.daemons = folder, config, []
        self.server = config["server"]["listen"][0]
        self.ip, _, port = self.server.rpartition("@")
        self.port = int(port)
        self.sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM)]
        self.sockets[0].bind((self.ip, self.port))
        for address in [self.server, *config["server"].get("listen-tls", [])]:
            ip, _, port = address.rpartition("@")
            self.sockets.append(socket.create_server((ip, int(port)), backlog=1024))

    def start(self):
        """Starts another daemon with its own control socket."""
        number = len(self.daemons)
        config = self.config | {"control": {"socket": str(self.folder / f"control-{number}")}}
        path = self.folder / f"nailup-{number}.yaml"
        path.write_text(json.dumps(config))
        kept = [fcntl.fcntl(one, fcntl.F_DUPFD, 20) for one in self.sockets]
        with open(self.folder / f"log-{number}", "w") as log:
            self.daemons.append(subprocess.Popen(
                [sys.executable, "-c", HAND_OVER, str(len(kept)), *map(str, kept),
                 program("nailupd"), "-c", str(path)], pass_fds=kept, stderr=log))
        for one in kept:
            os.close(one)

    def log(self):
        return (self.folder / f"log-{len(self.daemons) - 1}").read_text()

    def wait_until_it_serves(self):
        eventually(lambda: "listening on" in self.log(), within=20)

    def metrics(self):
        done = subprocess.run([program("nailupctl"), "-s", self.folder / f"control-{len(self.daemons) - 1}",
                               "--json", "stats"], capture_output=True, text=True, timeout=20)
        return {row["metric"].removeprefix("nailup_"): row["value"]
                for row in json.loads(done.stdout)["metrics"]}

    def stop(self):
        """Stops the last daemon, and waits until it has finished its work."""
        self.daemons[-1].terminate()
        assert self.daemons[-1].wait(30) == 0, self.log()
        assert "ends with queries unanswered" not in self.log(), self.log()

    def close(self):
        for daemon in self.daemons:
            if daemon.poll() is None:
                daemon.kill()
                daemon.wait()
        for one in self.sockets:
            one.close()


@pytest.fixture
def activated(tmp_path, make_config):
    made = []

    def start(config=None, **more):
        made.append(Activated(tmp_path, make_config(config, **more)))
        made[-1].start()
        made[-1].wait_until_it_serves()
        return made[-1]

    yield start
    for one in made:
        one.close()


def ask(server, name):
    """Sends a query. Returns the UDP socket that will get the answer."""
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(20)
    client.connect((server.ip, server.port))
    client.send(query(name))
    return client


# ---- sockets of the service manager ----


def test_a_stopping_daemon_leaves_shared_sockets_to_the_next_one(activated, responder):
    """The daemon may wait for a slow answer at that time. Misses used to get SERVFAIL then."""
    server = activated(upstreams=[responder()], workers=2)
    with ask(server, "d1500.example") as slow:
        time.sleep(0.3)
        server.daemons[-1].terminate()
        time.sleep(0.3)
        later = [ask(server, f"later{n}.example") for n in range(50)]
        stream = Stream(server, timeout=20)
        stream.send(query("stream.example"))
        assert select.select([*later, stream.socket], [], [], 0.3)[0] == []
        assert rcode_of(slow.recv(512)) == 0
    server.stop()
    server.start()
    for one in later:
        with one:
            assert rcode_of(one.recv(512)) == 0
    with stream:
        assert rcode_of(stream.read()) == 0


RATE = 1000
LOAD_S = 6
RESTARTS = 10


def restart(server, overlap):
    if overlap:  # the successor serves before its predecessor gets SIGTERM
        old = server.daemons[-1]
        server.start()
        server.wait_until_it_serves()
        old.terminate()
        assert old.wait(30) == 0
    else:
        server.stop()
        server.start()
        server.wait_until_it_serves()


@pytest.mark.parametrize("overlap", [False, True], ids=["one-after-the-other", "overlapping"])
def test_ten_restarts_at_1000_queries_a_second_lose_none(activated, responder, overlap):
    """Each query is sent once over UDP, and a slow query is in flight at each restart. None is lost and none gets
    SERVFAIL."""
    server = activated(upstreams=[responder("--delay", 5)], workers=2)
    slow, loads = [], []
    for number in range(RESTARTS):
        if not loads or loads[-1].process.poll() is not None:
            loads.append(Load(server, "--rate", RATE, "--duration", LOAD_S, "--unique-share", 50,
                              "--names", 1000))
        slow.append(ask(server, f"d400.n{number}.example"))
        time.sleep(0.2)
        restart(server, overlap)
    for one in slow:
        with one:
            assert rcode_of(one.recv(512)) == 0
    for one in loads:
        report = one.end(check=False)
        assert report["lost"] == 0 and set(report["rcodes"]) == {"NOERROR"}, report
        assert report["sent"] >= 0.9 * RATE * LOAD_S, report


class Asker(threading.Thread):
    """A stream client that sends queries at a rate. If a FIN leaves queries unanswered, it repeats them over a new
    connection (RFC 7766 section 6.2.4)."""

    def __init__(self, server, rate, context=None, port=None):
        super().__init__(daemon=True)
        self.address, self.rate, self.context = (server.ip, port or server.port), rate, context
        self.waiting, self.asked, self.answered, self.again, self.resets = {}, 0, 0, 0, 0
        self.rcodes, self.done = {}, threading.Event()

    def connect(self):
        stream = socket.create_connection(self.address, 20)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.context:
            stream = self.context.wrap_socket(stream, server_hostname=self.address[0])
        stream.settimeout(0.001)
        return stream

    def ask(self, stream, number):
        self.waiting[number] = query(f"n{number}.{id(self)}.example", number)
        stream.sendall(framed(self.waiting[number]))

    def take(self, data):
        while len(data) >= 2 and len(data) >= 2 + struct.unpack(">H", data[:2])[0]:
            length = struct.unpack(">H", data[:2])[0]
            answer, data = data[2:2 + length], data[2 + length:]
            self.waiting.pop(int.from_bytes(answer[:2], "big"))
            self.answered += 1
            self.rcodes[rcode_of(answer)] = self.rcodes.get(rcode_of(answer), 0) + 1
        return data

    def converse(self, stream):
        """Sends and reads until the daemon ends the connection or the test ends."""
        data, next_at = b"", time.monotonic()
        for number in list(self.waiting):
            self.again += 1
            self.ask(stream, number)
        while not self.done.is_set() or self.waiting:
            if time.monotonic() >= next_at and not self.done.is_set():
                next_at += 1 / self.rate
                self.asked += 1
                self.ask(stream, self.asked % 65536)
            try:
                got = stream.recv(65536)
                if not got:
                    return
                data = self.take(data + got)
            except (TimeoutError, ssl.SSLWantReadError):
                pass

    def run(self):
        while not self.done.is_set() or self.waiting:
            try:
                with self.connect() as stream:
                    self.converse(stream)
            except (ConnectionResetError, BrokenPipeError):
                self.resets += 1
            except ssl.SSLError:
                self.resets += 1

    def end(self):
        self.done.set()
        self.join(30)
        assert not self.is_alive(), f"{len(self.waiting)} of {self.asked} queries got no answer"
        return self


def test_stream_clients_lose_nothing_over_restarts(activated, responder, tmp_path):
    """TCP and TLS clients send a hundred queries a second each. No answer is lost or SERVFAIL, and a busy client does
    not delay the stop."""
    authority = Authority(tmp_path / "authority")
    certificate, key = authority.sign("IP:127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as free:
        tls_port = free.getsockname()[1]
    server = activated({"server": {"listen-tls": [f"127.0.0.1@{tls_port}"],
                                   "tls-certificate": str(certificate), "tls-key": str(key)}},
                       upstreams=[responder("--delay", 20)], workers=2, ip="127.0.0.1")
    context = ssl.create_default_context(cafile=str(authority.ca_file))
    askers = [Asker(server, 100), Asker(server, 100), Asker(server, 100, context, tls_port)]
    for one in askers:
        one.start()
    for _ in range(RESTARTS // 2):
        time.sleep(0.5)
        server.stop()
        server.start()
        server.wait_until_it_serves()
    time.sleep(0.5)
    for one in askers:
        one.end()
        assert one.rcodes == {0: one.answered} and one.answered == one.asked, (one.rcodes, one.asked)
        assert one.again <= RESTARTS // 2 * 20 and one.resets == 0, (one.again, one.resets)


# ---- its own sockets ----


def test_queries_that_have_come_are_answered_before_a_daemon_ends(nailupd, responder):
    """No query that has reached the kernel is lost, be it a hit or a miss."""
    daemon = nailupd(upstreams=[responder("--delay", 50)], workers=2)
    clients = [ask(daemon, f"n{n}.example") for n in range(300)]
    daemon.process.terminate()
    assert daemon.process.wait(30) == 0
    answered = 0
    for one in clients:
        with one:
            one.setblocking(False)
            try:
                answered += rcode_of(one.recv(512)) == 0
            except OSError:
                pass
    assert answered == 300


def test_a_daemon_serves_while_it_waits_for_a_slow_answer(nailupd, responder):
    daemon = nailupd(upstreams=[responder()])
    with ask(daemon, "d1500.example") as slow:
        eventually(lambda: daemon.metrics()["cache_misses_total"] == 1)
        daemon.process.terminate()
        eventually(lambda: "draining" in daemon.log())
        for number in range(10):
            assert rcode_of(udp_ask(daemon, query(f"n{number}.example"))) == 0
        with Stream(daemon) as stream:
            stream.send(query("stream.example"))
            assert rcode_of(stream.read()) == 0
        assert rcode_of(slow.recv(512)) == 0
    assert daemon.process.wait(30) == 0


def test_a_flooding_client_hears_of_the_end_at_once(nailupd, responder):
    """The client sends without a pause, and for a while reads nothing. It still gets a FIN after all of its answers,
    and the daemon ends without waiting for it."""
    daemon = nailupd(upstreams=[responder()])
    assert rcode_of(udp_ask(daemon, query("hit.example"))) == 0
    with Stream(daemon) as client:
        client.socket.setblocking(False)
        answers, is_told, is_stopping, began = 0, False, False, time.monotonic()
        while daemon.process.poll() is None and time.monotonic() < began + 20:
            try:
                client.socket.send(framed(query("hit.example")))
            except BlockingIOError:
                pass
            except OSError:
                break
            try:
                got = client.socket.recv(1 << 20)
                is_told = is_told or not got
                answers += len(got)
            except BlockingIOError:
                pass
            except OSError:
                break
            if not is_stopping and answers > 10000:
                is_stopping = True
                daemon.process.terminate()
        assert is_told and answers > 10000
    assert daemon.process.wait(30) == 0 and "ends with queries unanswered" not in daemon.log()
