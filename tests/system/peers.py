# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Programs of others that nailup works with (NSD, Unbound, dig in batches), the load generator, and
a raw DNS client. Test files import the fixtures they use: `from peers import nsd`."""

import json
import shutil
import socket
import struct
import subprocess

import pytest

from conftest import Answer, eventually, free_address, program


def need(tool):
    """The path of a program; without it the test is skipped."""
    found = shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin")
    if not found:
        pytest.skip(f"{tool} is not installed")
    return found


# ---- servers ----


class Server:
    """A server in the foreground, in a folder of its own. Ready when it answers over UDP."""

    def __init__(self, folder, address, *command):
        self.ip, self.port = address
        self.server = "%s@%d" % address
        self.log_path = folder / "output"
        self.log = open(self.log_path, "w")
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=subprocess.STDOUT)

    def wait_until_ready(self):
        def answers():
            assert self.process.poll() is None, self.log_path.read_text()
            return udp_ask(self, query("ready.invalid"), timeout=0.3)
        eventually(answers, within=15)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(5)
        self.log.close()


NSD_CONFIG = """
server:
  ip-address: {address}
  username: ""
  chroot: ""
  zonesdir: "{folder}"
  pidfile: ""
  xfrdfile: ""
  zonelistfile: "{folder}/zone.list"
  xfrdir: "{folder}"
  database: ""
  server-count: 1
  rrl-ratelimit: 0
{options}
remote-control:
  control-enable: no
"""


@pytest.fixture
def nsd(tmp_path):
    """nsd({"alpha.test": ZONE, ...}, **{"tcp-timeout": 1}): starts NSD. A zone is text or a path."""
    started = []

    def start(zones, **options):
        folder = tmp_path / f"nsd-{len(started)}"
        folder.mkdir()
        address = free_address()
        config = NSD_CONFIG.format(
            address="%s@%d" % address, folder=folder,
            options="".join(f"  {key}: {value}\n" for key, value in options.items()))
        for name, text in zones.items():
            (folder / f"{name}.zone").write_text(text)
            config += f"zone:\n  name: {name}\n  zonefile: {name}.zone\n"
        (folder / "nsd.conf").write_text(config)
        started.append(Server(folder, address, need("nsd"), "-d", "-c", str(folder / "nsd.conf")))
        started[-1].wait_until_ready()
        return started[-1]

    yield start
    for one in started:
        one.stop()


UNBOUND_CONFIG = """
server:
  interface: {address}
  username: ""
  chroot: ""
  directory: "{folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  do-not-query-localhost: no
  access-control: 127.0.0.0/8 allow
  module-config: "iterator"
  num-threads: 1
{options}
remote-control:
  control-enable: no
{more}
"""


@pytest.fixture
def unbound(tmp_path):
    """unbound(more="forward-zone: ...", **{"use-caps-for-id": "yes"}): starts Unbound. An option with
    several values is a list."""
    started = []

    def start(more="", **options):
        folder = tmp_path / f"unbound-{len(started)}"
        folder.mkdir()
        address = free_address()
        rows = [(key, one) for key, value in options.items()
                for one in (value if isinstance(value, list) else [value])]
        (folder / "unbound.conf").write_text(UNBOUND_CONFIG.format(
            address="%s@%d" % address, folder=folder, more=more,
            options="".join(f"  {key}: {value}\n" for key, value in rows)))
        started.append(Server(folder, address, need("unbound"), "-d", "-c",
                              str(folder / "unbound.conf")))
        started[-1].wait_until_ready()
        return started[-1]

    yield start
    for one in started:
        one.stop()


# ---- clients ----


def dig_all(server, questions, folder, *options):
    """Asks [(name, type), ...] one after the other with one dig; a list of Answers."""
    path = folder / "questions"
    path.write_text("".join(f"{name} {kind}\n" for name, kind in questions))
    done = subprocess.run([need("dig"), f"@{server.ip}", "-p", str(server.port), "+tries=1",
                           "+timeout=5", *options, "-f", str(path)],
                          text=True, capture_output=True, timeout=60)
    parts = done.stdout.split(";; Got answer:\n")[1:]
    assert len(parts) == len(questions), done.stdout
    return [Answer(part) for part in parts]


def load(server, *options, check=True):
    """The report of nailup-bench load; with check every query must be answered, with NOERROR."""
    done = subprocess.run(load_command(server, *options), text=True, capture_output=True,
                          timeout=60)
    return judge_load(done.stdout, check)


def load_command(server, *options):
    return [program("nailup-bench"), "load", "--server", server.server, "--json", "--quiet",
            "--timeout", "8000", *map(str, options)]


def judge_load(text, check=True):
    report = json.loads(text)
    if check:
        assert report["lost"] == 0, report
        assert report["rcodes"] == {"NOERROR": report["sent"]}, report
    return report


class Load:
    """nailup-bench load in the background, so that something can happen to the upstream meanwhile."""

    def __init__(self, server, *options):
        self.process = subprocess.Popen(load_command(server, *options), text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def end(self, check=True):
        return judge_load(self.process.communicate(timeout=60)[0], check)


def query(name="a.example", number=1, kind=1, flags=0x0100):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".") if label)
    return struct.pack(">6H", number, flags, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, kind, 1)


def framed(*messages):
    return b"".join(struct.pack(">H", len(message)) + message for message in messages)


def rcode_of(message):
    return message[3] & 15


def udp_ask(server, message, timeout=5, source=None):
    """The answer, None when none comes. The socket is connected: it must come from that address."""
    family = socket.AF_INET6 if ":" in server.ip else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.settimeout(timeout)
        try:
            if source:
                client.bind((source, 0))
            client.connect((server.ip, server.port))
            client.send(message)
            return client.recv(65535)
        except OSError:
            return None


class Stream:
    """A TCP client that reads and writes what it is told to."""

    def __init__(self, server, source=None, timeout=10, receive_bytes=None):
        family = socket.AF_INET6 if ":" in server.ip else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect((server.ip, server.port))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *messages):
        self.socket.sendall(framed(*messages))

    def read(self):
        """The next message, None at the end; raises ConnectionResetError, TimeoutError."""
        head = self.read_exactly(2)
        return head and self.read_exactly(struct.unpack(">H", head)[0])

    def read_exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                return None
            data += part
        return data

    def ended(self):
        """True at a FIN, after whatever came before it; raises ConnectionResetError."""
        while self.socket.recv(65536):
            pass
        return True
