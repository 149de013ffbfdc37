# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A harness like those of other projects (for example Deckard): user and network namespaces with uid 0 alone,
its own authoritative servers on port 53 of many addresses, and the daemon in its own folder with only
relative paths.

    @alone
    def test_answers(harness):
        harness.serve("10.53.1.1", {"tld.": "www 60 A 192.0.2.1"})
        daemon = harness.start({"recursion": {"priming": "no"}})
        assert harness.ask("www.tld.").answer

The body of a test that is `alone` runs in a child of pytest: unshare(2) needs a process with one thread."""

import ctypes
import functools
import inspect
import json
import os
import pathlib
import selectors
import signal
import socket
import struct
import subprocess
import threading
import time
import traceback

import pytest
from conftest import BAD_WORDS, eventually, merge, program
from hierarchy.wire import AA, RD, Message, Record, is_at_or_below, pack_query, pack_reply, parent_of

NEWUSER, NEWNET = 0x10000000, 0x40000000
SELF, SELF6 = "10.53.0.10", "fd53::10"  # the daemon's addresses
ROOT, ROOT6 = "193.0.14.129", "fd53::1"
HINTS = f"""\
; one server of any name
.                3600000  NS  whatever.name.
whatever.name.   3600000  A   {ROOT}
"""
SKIPPED = 77


# ---- namespaces ----


def unshare():
    """Makes this process root in its own, empty namespaces."""
    uid, gid = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEWUSER | NEWNET):
        pytest.skip(f"no namespaces: {os.strerror(ctypes.get_errno())}")
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            pathlib.Path(f"/proc/self/{name}").write_text(text)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no namespaces: {error}")


def play(test, folder, report, more):
    """Runs in the child and writes the outcome to the report. The exit code tells its kind."""
    try:
        unshare()
        with Harness(folder) as harness:
            test(harness, **more)
        return 0
    except pytest.skip.Exception as skipped:
        report.write_text(str(skipped))
        return SKIPPED
    except BaseException:  # pylint: disable=broad-except
        report.write_text(traceback.format_exc())
        return 1


def alone(test):
    """Decorates a test whose first argument is a Harness."""

    @functools.wraps(test)
    def run(tmp_path, **more):
        program("nailupd")
        report = tmp_path / "report"
        child = os.fork()
        if child == 0:
            os._exit(play(test, tmp_path, report, more))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == SKIPPED:
            pytest.skip(report.read_text())
        assert code == 0, report.read_text() if report.exists() else f"the test ended with {code}"

    names = list(inspect.signature(test).parameters.values())
    run.__signature__ = inspect.Signature([names[0].replace(name="tmp_path"), *names[1:]])
    del run.__wrapped__
    return run


# ---- authoritative servers ----


def absolute(word, origin):
    return word if word.endswith(".") else f"{word}.{origin}" if origin != "." else f"{word}."


class Zone:
    """Lines `NAME [TTL] TYPE DATA`. A name without a final dot is below the zone, and "@" is the zone itself."""

    def __init__(self, name, text):
        self.name, self.records = name, {}
        for line in filter(str.strip, text.splitlines()):
            owner, *words = line.split()
            ttl = int(words.pop(0)) if words[0].isdigit() else 3600
            owner = name if owner == "@" else absolute(owner, name)
            self.records.setdefault(owner, []).append(Record(owner, words[0], ttl, " ".join(words[1:])))
        self.soa = Record(name, "SOA", 60, f"ns.{name.lstrip('.')} h.{name.lstrip('.')} 1 3600 600 86400 60")
        self.records.setdefault(name, []).append(self.soa)

    def cut_of(self, name):
        """Returns the NS records of the delegation at the name or above it."""
        found = []
        while is_at_or_below(name, self.name) and name != self.name:
            found = [one for one in self.records.get(name, ()) if one.type == "NS"] or found
            name = parent_of(name)
        return found

    def additional(self, rows):
        return [one for row in rows for one in self.records.get(row.data, ()) if one.type in ("A", "AAAA")]

    def answer(self, query):
        name, kind = query.question[0].lower(), query.question[1]
        cut = self.cut_of(name)
        if cut:
            return pack_reply(query, 0, 0, authority=cut, additional=self.additional(cut))
        here = self.records.get(name)
        rows = [one for one in here or () if one.type in (kind, "CNAME")]
        if rows:
            ns = [one for one in self.records[self.name] if one.type == "NS" and kind != "NS"]
            return pack_reply(query, AA, 0, rows, ns, self.additional([*rows, *ns]))
        is_there = here or any(is_at_or_below(one, name) for one in self.records)
        return pack_reply(query, AA, 0 if is_there else 3, authority=[self.soa])


class Servers(threading.Thread):
    """All servers in one thread. queries: received queries in their order, as (server, Message, source address,
    over TCP). ports: the source ports of queries over UDP."""

    def __init__(self):
        super().__init__(daemon=True)
        self.selector, self.zones, self.queries, self.ports = selectors.DefaultSelector(), {}, [], []

    def listen(self, ip, port, zones):
        family = socket.AF_INET6 if ":" in ip else socket.AF_INET
        self.zones[ip] = zones
        for kind, handler in ((socket.SOCK_DGRAM, self.on_datagram), (socket.SOCK_STREAM, self.on_client)):
            sock = socket.socket(family, kind)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((ip, port))
            if kind == socket.SOCK_STREAM:
                sock.listen()
            self.selector.register(sock, selectors.EVENT_READ, functools.partial(handler, sock, ip))

    def answer(self, ip, data, source, is_tcp):
        query = Message(data)
        self.queries.append((ip, query, source, is_tcp))
        zones = self.zones[ip]
        if zones is None:
            return None  # the server stays silent
        name = query.question[0].lower()
        found = [one for one in zones if is_at_or_below(name, one.name)]
        return max(found, key=lambda one: len(one.name)).answer(query) if found else pack_reply(query, 0, 5)

    def on_datagram(self, sock, ip):
        data, source = sock.recvfrom(4096)
        self.ports.append(source[1])
        reply = self.answer(ip, data, source[0], False)
        if reply:
            sock.sendto(reply, source)

    def on_client(self, sock, ip):
        client, source = sock.accept()
        self.selector.register(client, selectors.EVENT_READ,
                               functools.partial(self.on_stream, client, ip, source[0], bytearray()))

    def on_stream(self, client, ip, source, held):
        more = client.recv(4096)
        held += more
        while len(held) >= 2 and len(held) >= 2 + (size := struct.unpack_from(">H", held)[0]):
            reply = self.answer(ip, bytes(held[2:2 + size]), source, True)
            del held[:2 + size]
            if reply:
                client.sendall(struct.pack(">H", len(reply)) + reply)
        if not more:
            self.selector.unregister(client)
            client.close()

    def run(self):
        while True:
            for key, _ in self.selector.select():
                key.data()


# ---- the harness ----


class Harness:
    """folder: the daemon's own, where it runs. hints, clock: for the next daemon; a clock is a Clock."""

    def __init__(self, folder):
        self.folder, self.servers, self.daemons = folder, Servers(), []
        self.hints, self.clock = HINTS, None
        for ip in (SELF, SELF6):
            self.add(ip)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        for daemon in self.daemons:
            if daemon.poll() is None:
                daemon.kill()
                daemon.wait()
        if kind:
            print(self.log())

    def add(self, ip):
        words = ["nodad"] if ":" in ip else []
        subprocess.run(["ip", "addr", "replace", f"{ip}/{128 if ':' in ip else 32}", "dev", "lo", *words], check=True,
                       capture_output=True)

    def serve(self, ip, zones, port=53):
        """Serves zones, {name: lines}, at this address. None makes a silent server."""
        self.add(ip)
        self.servers.listen(ip, port, None if zones is None else [Zone(name, text) for name, text in zones.items()])
        if not self.servers.is_alive():
            self.servers.start()

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def config(self, more):
        """Returns the configuration that all tests share, changed by `more`. The value None removes a key."""
        base = {"server": {"listen": [SELF], "workers": 1, "outgoing": [SELF],
                           "access": [{"prefix": "0.0.0.0/0", "action": "allow-snoop"},
                                      {"prefix": "::/0", "action": "allow-snoop"}]},
                "recursion": {"root-hints": "hints.zone"}, "dnssec": {"validate": "no"},
                "control": {"socket": "control.sock"}}
        return {key: value for key, value in merge(base, more).items() if value is not None}

    def spawn(self, more):
        self.write("hints.zone", self.hints)
        self.write("nailup.yaml", json.dumps(self.config(more), indent=1))
        environment = dict(os.environ)
        if self.clock:
            environment |= self.clock.environment
        with open(self.folder / "server.log", "w", encoding="utf-8") as log:
            daemon = subprocess.Popen([program("nailupd"), "-c", "nailup.yaml"], cwd=self.folder, env=environment,
                                      stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.daemons.append(daemon)
        return daemon

    def start(self, more=None):
        """Starts the daemon. Like other harnesses, takes it for started when it accepts a client over TCP."""
        daemon = self.spawn(more or {})

        def accepts():
            assert daemon.poll() is None, self.log()
            with socket.socket() as client:
                return client.connect_ex((SELF, 53)) == 0

        eventually(accepts, within=10)
        return daemon

    def stop(self, daemon):
        daemon.send_signal(signal.SIGTERM)
        code = daemon.wait(30)
        assert code == 0, self.log()
        assert not BAD_WORDS.search(self.log()), self.log()

    def log(self):
        return (self.folder / "server.log").read_text()

    def ask(self, name, kind="A", flags=RD, within=10):
        """Sends a query. Returns a Message, with the time until it arrived in took_s."""
        begin, number = time.monotonic(), os.getpid() & 0xFFFF
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(within)
            client.sendto(pack_query(number, name, kind, flags), (SELF, 53))
            answer = Message(client.recv(65535))
        assert answer.id == number
        answer.took_s = time.monotonic() - begin
        return answer

    def asked(self, ip=None):
        """Returns [(name, type)] in the order and the spelling in which the servers got them."""
        return [query.question for server, query, _, _ in self.servers.queries if ip in (None, server)]


class Clock:
    """The clock of libfaketime, with a file that shows when the daemon started. move() takes effect at once. Without
    `monotonic`, only the wall clock is fake, as with Deckard."""

    LIBRARY = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)

    def __init__(self, folder, monotonic):
        if not self.LIBRARY:
            pytest.skip("libfaketime is not installed")
        self.path, self.now_s = folder / ".time", time.time()
        self.move(0)
        self.environment = {"LD_PRELOAD": str(self.LIBRARY), "FAKETIME_NO_CACHE": "1",
                            "FAKETIME_TIMESTAMP_FILE": str(self.path),
                            **({} if monotonic else {"FAKETIME_DONT_FAKE_MONOTONIC": "1"}),
                            "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}

    def move(self, seconds):
        self.now_s += seconds
        beside = self.path.with_suffix(".next")
        beside.write_text(time.strftime("@%Y-%m-%d %H:%M:%S\n", time.localtime(self.now_s)))
        beside.replace(self.path)
        time.sleep(0.01)  # the daemon reads the clock this often, and not in every turn
