# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Shared by the tests of whole programs: a daemon, upstreams for it, and clients.

    def test_answers(nailupd, responder, dig):
        daemon = nailupd(upstreams=[responder()], nailed=True)
        assert dig(daemon, "www.example.org").data == ["10.245.88.248"]
        assert daemon.connections()[0]["state"] == "ready"

The environment variable NAILUP_BUILD names the build directory; without it the newest below build/ counts. Every
server gets a free port of a loopback address that no other server has, so tests may run side by side. At the end of its test
every daemon gets SIGTERM, must exit with 0, and must not have printed anything from a sanitizer or MUST()."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib

import pytest
from _pytest.runner import runtestprotocol

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
from free_ports import free_port  # noqa: E402

BAD_WORDS = re.compile(r"AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:|MUST\(")


STANDSTILL_S = 0.1  # any test may fail if a CPU stops for this long


class Standstill:
    """Measures the longest time for which a CPU did not run this process while `with` lasted. Daemon and upstream may
    use any CPU."""

    def __enter__(self):
        self.worst, self.done = 0.0, threading.Event()
        self.threads = [threading.Thread(target=self.watch, args=[cpu], daemon=True)
                        for cpu in os.sched_getaffinity(0)]
        for thread in self.threads:
            thread.start()
        return self

    def watch(self, cpu):
        os.sched_setaffinity(0, {cpu})  # only this thread
        before = time.monotonic()
        while not self.done.wait(0.02):
            now = time.monotonic()
            self.worst, before = max(self.worst, now - before), now

    def __exit__(self, *_):
        self.done.set()
        for thread in self.threads:
            thread.join()


played_again = []


def pytest_runtest_protocol(item, nextitem):
    """Repeats a failed test, at most twice, if the machine stood still meanwhile, because such a failure proves
    nothing. Timeouts are part of the tests, so not all of them can be long."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for left in (2, 1, 0):
        with Standstill() as still:
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports) or still.worst < STANDSTILL_S or not left:
            break
        played_again.append(f"{item.name} (the machine stood still for {still.worst:.1f} s)")
        item._initrequest()
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter):
    for one in played_again:
        terminalreporter.write_line(f"played again: {one}")


def find_build():
    named = os.environ.get("NAILUP_BUILD") or os.environ.get("NAILUP_BUILD_DIR")
    places = [pathlib.Path(named)] if named else [*(ROOT / "build").glob("*"), ROOT / "build"]
    built = [place for place in places if (place / "src/nailupd").exists()]
    return max(built, key=lambda place: (place / "src/nailupd").stat().st_mtime, default=None)


BUILD = find_build()
if BUILD:
    os.environ["NAILUP_BUILD_DIR"] = str(BUILD)  # test_bench.py then uses the same build


def why_no_namespace(*names):
    """Returns None if a test can make a namespace and start these programs in it. Returns the reason for pytest.skip()
    otherwise."""
    if BUILD is None:
        return "nailupd is not built"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [name for name in names if not shutil.which(name, path=path)]
    if missing:
        return f"not installed: {' '.join(missing)}"
    return None if os.geteuid() == 0 else "that takes root"


def program(name):
    if BUILD is None:
        pytest.skip("nailupd is not built; NAILUP_BUILD names the build directory")
    return str(BUILD / ("bench" if name == "nailup-bench" else "src") / name)


def eventually(check, within=5.0):
    """Calls check() until it returns a true value, and returns that. Fails with the last value otherwise."""
    deadline = time.monotonic() + within
    while True:
        value = check()
        if value or time.monotonic() > deadline:
            assert value, f"not within {within} s: last was {value!r}"
            return value
        time.sleep(0.01)


def free_address(ip=None):
    """Returns (IP, port) that is free over UDP and TCP. Without ip, the address is a random one on loopback."""
    ip = ip or f"127.{random.randint(1, 250)}.{random.randint(0, 250)}.{random.randint(1, 250)}"
    return ip, free_port(ip)


def merge(base, more):
    """Returns a copy of base in which the mappings of more replace or extend its own, key by key."""
    out = dict(base)
    for key, value in more.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = merge(out[key], value) if both else value
    return out


def tls_upstream(folder, servers):
    """Options of an upstream over TLS. One file has the authorities of all servers; the same authorities are always
    in the same file, because its name is part of a session's identity. The profile is strict; if another profile
    uses plain text, it goes to the first server's port."""
    authorities = "".join(server.ca_file.read_text() for server in servers)
    path = folder / f"ca-{zlib.crc32(authorities.encode()):08x}.pem"
    path.write_text(authorities)
    return {"transport": "tls", "ca-bundle": str(path), "fallback-port": servers[0].port}


class Responder:
    """nailup-bench responder: an upstream that is as slow, lossy or broken as its options say. servers: its
    addresses over its transport; ip and port: its address in plain text. With TLS it also has pin and ca_file,
    and its certificate is for responder.test and its addresses."""

    def __init__(self, folder, *options, listen=None, transport="tcp"):
        name = f"responder-{random.randrange(1 << 32):08x}"
        self.transport = transport
        self.control_path, self.ca_file = str(folder / f"{name}.sock"), folder / f"{name}.pem"
        listen = listen or ["%s@%d" % free_address()]
        args = [program("nailup-bench"), "responder", "--control", self.control_path]
        for address in listen:
            args += ["--listen", address]
            if transport == "tls":
                args += ["--listen-tls", address.partition("@")[0] + "@0"]
        if transport == "tls":
            args += ["--tls-ca-file", str(self.ca_file)]
        self.process = subprocess.Popen([*args, *map(str, options)], stdout=subprocess.PIPE,
                                        text=True)
        ready = self.process.stdout.readline().split()
        assert ready and ready[0] == "ready", "the responder did not start"
        self.plain = self.servers = ready[1:]
        self.ip, _, port = self.plain[0].rpartition("@")
        self.port = int(port)
        if transport == "tls":
            *self.servers, _, self.pin = self.process.stdout.readline().split()[1:]
        self.server = self.servers[0]

    def tell(self, *words):
        """Sends a command to the running responder: ("tcp", "off"), ("set", "delay", "50") and so on."""
        done = subprocess.run([program("nailup-bench"), "control", self.control_path,
                               *map(str, words)], text=True, capture_output=True, timeout=10)
        assert not done.stdout.startswith("error"), done.stdout
        return done.stdout.strip()

    def stream(self, what):
        """Calls tell() for the connections of the responder's transport: "off", "reset", "stall" and so on."""
        return self.tell(self.transport, what)

    def stats(self):
        """Returns the counters. stream_... are those of tcp_... or tls_..., as the transport is."""
        stats = json.loads(self.tell("stats"))
        if self.transport == "tls" and len(self.servers) == 1:
            of_tls = next(one for one in stats["listeners"] if one["listen"] == self.server)
            stats["closed_recent"] = of_tls["closed_recent"]
        prefix = self.transport + "_"
        return stats | {"stream_" + key.removeprefix(prefix): value
                        for key, value in stats.items() if key.startswith(prefix)}

    def all_connections(self):
        return json.loads(self.tell("connections"))

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.stdout.close()
        return self.process.wait(60)


class Daemon:
    """A running nailupd. inside: words that come before its command, such as nsenter with a namespace."""

    def __init__(self, folder, config, inside=()):
        self.socket_path = config["control"]["socket"]
        listen = (config["server"]["listen"] or config["server"]["listen-tls"])[0]
        self.ip, _, port = listen.rpartition("@")
        self.port = int(port)
        self.server = listen
        self.config_path = folder / f"nailup-{self.port}.yaml"
        self.config_path.write_text(json.dumps(config, indent=1))  # every JSON file is a YAML file
        self.log_path = folder / f"nailup-{self.port}.log"
        self.started = time.monotonic()
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(
                [*inside, program("nailupd"), "-c", str(self.config_path)],
                stderr=log, stdin=subprocess.DEVNULL)

    def log(self):
        return self.log_path.read_text()

    def wait_until_ready(self, within=10.0):
        def ready():
            assert self.process.poll() is None, f"nailupd ended:\n{self.log()}"
            return self.ctl("status").returncode == 0
        eventually(ready, within)

    def ctl(self, *words):
        """Runs nailupctl with these words. Returns a CompletedProcess."""
        return subprocess.run([program("nailupctl"), "-s", self.socket_path, *map(str, words)],
                              text=True, capture_output=True, timeout=20)

    def ask(self, *words):
        """Runs nailupctl --json with these words, which must succeed."""
        done = self.ctl("--json", *words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def status(self):
        return self.ask("status")["daemon"]

    def connections(self):
        return self.ask("connections")["connections"]

    def upstreams(self):
        return self.ask("upstreams")["upstreams"]

    def metrics(self):
        """Returns the metrics as {'queries_total{protocol="udp"}': 1, 'cache_hits_total': 0, ...}."""
        rows = self.ask("stats")["metrics"]
        return {row["metric"].removeprefix("nailup_") +
                (f"{{{row['labels']}}}" if row["labels"] else ""): row["value"] for row in rows}

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM, within=60):
        """Stops the daemon. Returns its exit code."""
        if self.process.poll() is None:
            self.send(number)
        return self.process.wait(within)

    def check_clean(self):
        bad = BAD_WORDS.search(self.log())
        assert not bad, self.log()


class Answer:
    """The output of dig. rows: (name, TTL, type, data). data: the data of each row of the answer."""

    def __init__(self, text):
        self.text = text
        found = re.search(r"status: (\w+)", text)
        self.status = found and found.group(1)  # None: no answer has arrived
        found = re.search(r"flags: ([\w ]*);", text)
        self.flags = found.group(1).split() if found else []
        self.ede = [int(code) for code in re.findall(r"; EDE: (\d+)", text)]
        self.ede_texts = re.findall(r"; EDE: \d+ \([^)]*\): \((.*)\)", text)
        self.rows = self.section("ANSWER")
        self.data = [row[3] for row in self.rows]

    def section(self, name):
        found = re.search(rf";; {name} SECTION:\n(.*?)\n(?:\n|$)", text := self.text + "\n", re.S)
        lines = found.group(1).splitlines() if found else []
        rows = [line.split(None, 4) for line in lines if line and not line.startswith(";")]
        return [(row[0], int(row[1]), row[3], row[4]) for row in rows]


@pytest.fixture
def responder(tmp_path):
    """responder(*options, listen=["127.0.0.1@5300"], transport="tls"): starts an upstream; see
    Responder."""
    started = []

    def start(*options, **more):
        started.append(Responder(tmp_path, *options, **more))
        return started[-1]

    yield start
    assert {one.stop() for one in started} <= {0}, "a responder ended badly"


@pytest.fixture
def make_config(tmp_path):
    """make_config(...) takes the arguments of nailupd, but only makes the configuration, a dict."""

    def make(config=None, upstreams=(), nailed=False, workers=1, ip=None):
        address = "%s@%d" % free_address(ip)
        base = {"server": {"workers": workers, "listen": [address],
                           "default-local-zones": "no",  # because many tests use names below test
                           "access": [{"prefix": "127.0.0.0/8", "action": "allow"},
                                      {"prefix": "::1", "action": "allow"}]},
                "dnssec": {"validate": "no"},  # the responder signs nothing
                "control": {"socket": str(tmp_path / f"control-{address.rpartition('@')[2]}.sock")}}
        servers = [server for up in upstreams for server in getattr(up, "servers", [up])]
        if servers:
            base["forward-zones"] = [{"name": ".", "upstreams": servers}]
        if nailed:
            base["tcp-upstream-keepalive"] = sorted({s.partition("@")[0] for s in servers})
        over_tls = [up for up in upstreams if getattr(up, "transport", "") == "tls"]
        if over_tls:
            base["upstream"] = tls_upstream(tmp_path, over_tls)
        made = merge(base, config or {})
        if made.get("forward-zones"):  # otherwise names outside of the zones would go to the servers of the Internet
            made["recursion"] = {"enabled": "no", **made.get("recursion", {})}
        return made

    return make


@pytest.fixture
def nailupd(tmp_path, make_config):
    """nailupd(config, upstreams=[responder()], nailed=True, workers=2): starts a daemon and waits
    until it is ready; see Daemon. config: a dict as the YAML file would have it, laid over a free
    listen address, access for loopback and a control socket. upstreams: Responders or "IP@PORT",
    become the forward zone "." (those over TLS with the authority they have); nailed:
    tcp-upstream-keepalive has their addresses."""
    started = []

    def start(config=None, **more):
        daemon = Daemon(tmp_path, make_config(config, **more))
        started.append(daemon)
        daemon.wait_until_ready()
        return daemon

    yield start
    for daemon in started:
        was_running = daemon.process.poll() is None
        if was_running:  # pytest shows the output if the test has failed
            print(f"{daemon.log()}\n{daemon.ctl('connections').stdout}")
        code = daemon.stop()
        daemon.check_clean()
        assert not was_running or code == 0, daemon.log()


@pytest.fixture
def dig():
    """dig(server, name, type, *options): queries a Daemon or a Responder once. Returns an Answer."""

    def ask(server, name, kind="A", *options):
        done = subprocess.run(["dig", f"@{server.ip}", "-p", str(server.port), "+tries=1",
                               "+timeout=5", name, kind, *options], text=True,
                              capture_output=True, timeout=30)
        return Answer(done.stdout)

    return ask
