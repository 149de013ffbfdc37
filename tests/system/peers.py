# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Other programs that nailup works with (NSD, Unbound, dig in batches), the load generator, and a raw DNS client.
Test files import the fixtures they use: `from peers import nsd`."""

import base64
import hashlib
import json
import random
import select
import shutil
import socket
import ssl
import struct
import subprocess
import threading

import pytest

from conftest import Answer, eventually, free_address, program


def need(tool):
    """Returns the path of a program. Skips the test if the program is missing."""
    found = shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin")
    if not found:
        pytest.skip(f"{tool} is not installed")
    return found


# ---- certificates ----


def openssl(*words, data=None):
    done = subprocess.run([need("openssl"), *map(str, words)], input=data, capture_output=True,
                          timeout=30)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class Authority:
    """A certificate authority in a folder that it creates: ca_file, and the certificates that it signs."""

    def __init__(self, folder):
        self.folder, self.made = folder, 0
        folder.mkdir()
        self.ca_file, self.key = folder / "ca.pem", folder / "ca.key"
        openssl("req", "-x509", *NEW_KEY, "-keyout", self.key, "-out", self.ca_file, "-days", "2",
                "-subj", f"/CN=authority {folder.name}")

    def sign(self, *names, self_signed=False, usage="serverAuth", key=None, days=2):
        """Returns (path of a certificate, of its key) for names such as "DNS:dns.test", "IP:127.0.0.1". key: as
        openssl req -newkey takes it, P-256 by default. days: 0 is for one that has expired."""
        self.made += 1
        pem, secret, request, more = (self.folder / f"{self.made}.{end}"
                                      for end in ("pem", "key", "request", "more"))
        more.write_text(f"extendedKeyUsage={usage}\n" +
                        (f"subjectAltName={','.join(names)}\n" if names else ""))
        new_key = ["-newkey", *key, "-nodes"] if key else NEW_KEY
        openssl("req", "-new", *new_key, "-keyout", secret, "-out", request, "-subj", "/CN=test")
        signer = ["-signkey", secret] if self_signed else ["-CA", self.ca_file, "-CAkey", self.key]
        openssl("x509", "-req", "-in", request, "-out", pem, "-days", str(days), "-extfile", more,
                "-set_serial", random.getrandbits(63), *signer)
        return pem, secret


def pin_of(certificate):
    """Returns the pin of a certificate's key (RFC 7858 section 4.2)."""
    public = openssl("x509", "-in", certificate, "-noout", "-pubkey")
    der = openssl("pkey", "-pubin", "-outform", "DER", data=public)
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


# ---- servers ----


class Server:
    """A server in the foreground, in its own folder. It is ready when it answers over UDP. With an authority it also
    serves TLS: servers then has the TLS addresses, and ip and port are those of plain text."""

    def __init__(self, folder, address, *command, over_tls=None, authority=None):
        self.ip, self.port = address
        self.servers = ["%s@%d" % (over_tls or address)]
        self.server = self.servers[0]
        if authority:
            self.transport, self.ca_file = "tls", authority.ca_file
        self.folder, self.command = folder, command
        self.log_path = folder / "output"
        self.log = open(self.log_path, "a")
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, cwd=self.folder, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=subprocess.STDOUT)

    def kill(self):
        """Kills the server, as a crash would."""
        self.process.kill()
        self.process.wait(5)

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
    """nsd({"alpha.test": ZONE, ...}, **{"tcp-timeout": 1}): starts NSD. A zone is text or a path.
    authority=Authority(...): over TLS, see Server. has_transfers: anyone here may have the zones."""
    started = []

    def start(zones, authority=None, has_transfers=False, **options):
        folder = tmp_path / f"nsd-{len(started)}"
        folder.mkdir()
        address, over_tls = free_address(), None
        if authority:
            over_tls = free_address(address[0])
            pem, key = authority.sign(f"IP:{address[0]}")
            options |= {"ip-address": "%s@%d" % over_tls, "tls-port": over_tls[1],
                        "tls-service-pem": f'"{pem}"', "tls-service-key": f'"{key}"'}
        config = NSD_CONFIG.format(
            address="%s@%d" % address, folder=folder,
            options="".join(f"  {key}: {value}\n" for key, value in options.items()))
        for name, text in zones.items():
            (folder / f"{name}.zone").write_text(text)
            config += f"zone:\n  name: {name}\n  zonefile: {name}.zone\n"
            config += "  provide-xfr: 127.0.0.0/8 NOKEY\n" * has_transfers
        (folder / "nsd.conf").write_text(config)
        started.append(Server(folder, address, need("nsd"), "-d", "-c", str(folder / "nsd.conf"),
                              over_tls=over_tls, authority=authority))
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
    several values is a list. authority=Authority(...): over TLS, see Server."""
    started = []

    def start(more="", authority=None, **options):
        folder = tmp_path / f"unbound-{len(started)}"
        folder.mkdir()
        address, over_tls = free_address(), None
        if authority:
            over_tls = free_address(address[0])
            pem, key = authority.sign(f"IP:{address[0]}")
            options |= {"interface": "%s@%d" % over_tls, "tls-port": over_tls[1],
                        "tls-service-pem": f'"{pem}"', "tls-service-key": f'"{key}"'}
        rows = [(key, one) for key, value in options.items()
                for one in (value if isinstance(value, list) else [value])]
        (folder / "unbound.conf").write_text(UNBOUND_CONFIG.format(
            address="%s@%d" % address, folder=folder, more=more,
            options="".join(f"  {key}: {value}\n" for key, value in rows)))
        started.append(Server(folder, address, need("unbound"), "-d", "-c",
                              str(folder / "unbound.conf"), over_tls=over_tls,
                              authority=authority))
        started[-1].wait_until_ready()
        return started[-1]

    yield start
    for one in started:
        one.stop()


def start_resolving_unbound(harness, address, modules, more):
    """Starts an Unbound that resolves in the network of the harness. Returns the process. Its output is in peer.log.
    more: further clauses."""
    harness.write("root.hints", harness.hints)
    harness.write("unbound.conf", f"""\
server:
  interface: {address}
  outgoing-interface: {address}
  username: ""
  chroot: ""
  directory: "{harness.folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  do-not-query-localhost: no
  access-control: 10.0.0.0/8 allow
  module-config: "{modules}"
  root-hints: root.hints
  num-threads: 1
remote-control:
  control-enable: no
{more}""")
    return start_peer(harness, [need("unbound"), "-d", "-c", "unbound.conf"])


def start_peer(harness, command):
    """Starts another resolver in the network of the harness. Returns the process. Its output is in peer.log."""
    with open(harness.folder / "peer.log", "w", encoding="utf-8") as log:
        harness.daemons.append(subprocess.Popen(command, cwd=harness.folder, stdin=subprocess.DEVNULL, stdout=log,
                                                stderr=subprocess.STDOUT))
    return harness.daemons[-1]


# ---- clients ----


def dig_all(server, questions, folder, *options):
    """Sends [(name, type), ...] one by one, with a single dig. Returns a list of Answers."""
    path = folder / "questions"
    path.write_text("".join(f"{name} {kind}\n" for name, kind in questions))
    done = subprocess.run([need("dig"), f"@{server.ip}", "-p", str(server.port), "+tries=1",
                           "+timeout=5", *options, "-f", str(path)],
                          text=True, capture_output=True, timeout=60)
    parts = done.stdout.split(";; Got answer:\n")[1:]
    assert len(parts) == len(questions), done.stdout
    return [Answer(part) for part in parts]


def load(server, *options, check=True):
    """Returns the report of nailup-bench load. With `check`, every query must be answered with NOERROR."""
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
    """Runs nailup-bench load in the background while the test does something to the upstream."""

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
    """Sends a query from a connected socket, which accepts answers from that address only. Returns the answer, or
    None."""
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
    """A TCP client that makes exactly the reads and writes of the test."""

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
        """Returns the next message, or None if the stream has ended. Raises ConnectionResetError, TimeoutError."""
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
        """Returns True when a FIN comes. Skips bytes before it. Raises ConnectionResetError."""
        while self.socket.recv(65536):
            pass
        return True


# ---- our own servers that record what they receive ----


class Listener:
    """Serves each TCP connection on a separate thread, and keeps datagrams to the same port."""

    def __init__(self, ip=None):
        self.ip, self.listening_port = free_address(ip)
        self.server = f"{self.ip}@{self.listening_port}"
        self.servers, self.transport = [self.server], "tls"
        self.datagrams = []
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind((self.ip, self.listening_port))
        self.tcp = socket.create_server((self.ip, self.listening_port), backlog=100)
        for work in (self.keep_datagrams, self.accept):
            threading.Thread(target=work, daemon=True).start()

    def keep_datagrams(self):
        try:
            while True:
                self.datagrams.append(self.udp.recv(65535))
        except OSError:
            return  # the listener has been closed

    def accept(self):
        try:
            while True:
                client = self.tcp.accept()[0]
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()
        except OSError:
            return

    def stop(self):
        for one in (self.udp, self.tcp):
            try:
                one.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits for it
            except OSError:
                pass
            one.close()


class Sniffer(Listener):
    """Passes bytes between the daemon and a Responder with TLS. flows has the bytes of each connection."""

    def __init__(self, responder):
        super().__init__(responder.ip)
        self.port, self.ca_file, self.flows = responder.port, responder.ca_file, []
        ip, _, port = responder.server.rpartition("@")
        self.target = (ip, int(port))

    def serve(self, client):
        flow = bytearray()
        self.flows.append(flow)
        with client, socket.create_connection(self.target) as server:
            ends = {client, server}
            try:
                while ends:
                    for source in select.select(list(ends), [], [])[0]:
                        self.copy(source, client if source is server else server, ends,
                                  flow if source is client else None)
            except OSError:  # one end has closed, and so has the other
                for one in (client, server):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    @staticmethod
    def copy(source, sink, ends, flow):
        data = source.recv(65536)
        if flow is not None:
            flow += data
        if data:
            sink.sendall(data)
        else:
            sink.shutdown(socket.SHUT_WR)
            ends.remove(source)

    def records(self):
        """Returns (type, length) of every TLS record of every flow. Fails on bytes that are not TLS."""
        return [record for flow in self.flows for record in tls_records(bytes(flow))]


def tls_records(data):
    while data:
        kind, version, length = struct.unpack(">BHH", data[:5])
        assert 20 <= kind <= 23 and version >> 8 == 3, data
        yield kind, length
        data = data[5 + length:]


class TlsServer(Listener):
    """DNS over TLS in Python. queries has every received message. Each answer is the query with QR set."""

    def __init__(self, authority, port=53):
        super().__init__()
        self.port, self.ca_file, self.queries = port, authority.ca_file, []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*authority.sign(f"IP:{self.ip}"))
        self.context.set_alpn_protocols(["dot"])

    def serve(self, client):
        try:
            with self.context.wrap_socket(client, server_side=True) as stream:
                while head := stream.recv(2):
                    length = int.from_bytes(head + (stream.recv(1) if len(head) == 1 else b""), "big")
                    message = b""
                    while len(message) < length:
                        message += stream.recv(length - len(message))
                    self.queries.append(message)
                    stream.sendall(framed(question_answered(message)))
        except OSError:
            return


def question_answered(message):
    """Returns NODATA for a query, with its question and without EDNS."""
    end = message.index(b"\0", 12) + 5
    return message[:2] + struct.pack(">5H", 0x8180, 1, 0, 0, 0) + message[12:end]


def options_of(message):
    """Returns {code: data} from the OPT record at the end of a query that has no other additional records."""
    at = message.index(b"\0", 12) + 5
    kind, _, _, length = struct.unpack(">HHIH", message[at + 1:at + 11])
    assert message[at] == 0 and kind == 41 and at + 11 + length == len(message)
    options, rest = {}, message[at + 11:]
    while rest:
        code, length = struct.unpack(">HH", rest[:4])
        options[code], rest = rest[4:4 + length], rest[4 + length:]
    return options


@pytest.fixture
def listeners():
    """Yields a list. Its members are stopped at the end of the test."""
    started = []
    yield started
    for one in started:
        one.stop()
