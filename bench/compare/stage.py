# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The servers that are compared and the upstream that all of them ask."""

import json
import pathlib
import random
import socket
import struct
import subprocess
import time

import programs
import sandbox

SUFFIX = "bench.example"
AUTH_NAME = "upstream.test"
UPSTREAM_IP = "127.0.0.53"
START_SECONDS = 10


def pinned(cpu, *command):
    return ["taskset", "-c", str(cpu), *map(str, command)]


def query(name, number=None):
    """A query for A of `name`, without EDNS."""
    number = random.randrange(65536) if number is None else number
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"


def await_answer(process, port):
    """True once a query is answered with NOERROR, False when the process ended or never answers."""
    until = time.monotonic() + START_SECONDS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(0.3)
        while time.monotonic() < until and process.poll() is None:
            try:
                client.sendto(query(f"start{random.randrange(10**9)}.{SUFFIX}"), ("127.0.0.1", port))
                if client.recv(4096)[3] & 15 == 0:
                    return True
            except OSError:
                time.sleep(0.05)
    return False


def stop(process):
    process.terminate()
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Upstream:
    """nailup-bench responder: UDP and TCP on `port`, TLS on `tls_port`, 853 where that is allowed."""

    def __init__(self, bench, cpu, directory, ports, in_namespace):
        self.bench, self.control = bench, f"{directory}/upstream.sock"
        self.ca = f"{directory}/upstream-ca.pem"
        self.port, self.tls_port = ports.take(), 853 if in_namespace else ports.take()
        self.process = subprocess.Popen(
            pinned(cpu, bench, "responder", "--listen", f"{UPSTREAM_IP}@{self.port}",
                   "--listen-tls", f"{UPSTREAM_IP}@{self.tls_port}", "--control", self.control,
                   "--tls-ca-file", self.ca, "--tls-name", AUTH_NAME, "--ttl", "86400"),
            stdout=subprocess.PIPE, text=True, preexec_fn=sandbox.die_with_parent)
        if not self.process.stdout.readline().startswith("ready"):
            raise SystemExit("compare: the responder did not start")

    def tell(self, *words):
        """One command, given as words or as a sentence."""
        words = [part for word in words for part in word.split()]
        return subprocess.run([self.bench, "control", self.control, *words], check=True, text=True,
                              capture_output=True, timeout=10).stdout

    def set(self, settings):
        for name, value in settings.items():
            said = self.tell("set", name, str(value))
            if said.strip() != "ok":
                raise SystemExit(f"compare: the responder does not take {name} {value}: {said}")

    def stats(self):
        return json.loads(self.tell("stats"))

    def stop(self):
        stop(self.process)
        self.process.stdout.close()


class Server:
    """A running process: role as in cells.Cell, or floor."""

    def __init__(self, peer, role, transport, port, process, log):
        self.peer, self.role, self.transport, self.port = peer, role, transport, port
        self.process, self.log = process, log

    @property
    def name(self):
        return self.peer.name if self.peer else programs.FLOOR

    def last_words(self):
        """The end of its log, in one line."""
        text = pathlib.Path(self.log).read_text(encoding="utf-8", errors="replace").strip()
        return " / ".join(text.splitlines()[-3:])[-300:] or "it said nothing"


class Stage:
    """Starts and ends everything. left_out has a sentence for each server that is missing."""

    def __init__(self, bench, directory, cpus, in_namespace):
        self.bench, self.directory, self.in_namespace = bench, directory, in_namespace
        self.server_cpu, self.load_cpu, self.upstream_cpu = cpus
        self.ports, self.left_out, self.servers = sandbox.Ports(), [], []
        self.upstream = Upstream(bench, self.upstream_cpu, directory, self.ports, in_namespace)

    def cannot(self, peer, role, transport):
        """Why that server cannot be, or None; empty where that is plain or told already."""
        if role == "recycle" and (transport == "udp" or transport in peer.cannot):
            return ""
        if peer.name == "pdns-recursor" and transport == "tls" and not self.in_namespace:
            return "forwards over TLS to port 853 only, which needs a network namespace"
        if transport in peer.cannot:
            return peer.cannot[transport]
        return peer.cannot.get("recycle") if role == "recycle" else None

    def leave_out(self, name, role, transport, reason):
        if reason == programs.NO_RECYCLING:
            where = f" ({role})"
        else:
            where = f" ({role}, over {programs.TRANSPORT_NAMES[transport]})"
        sentence = f"{name}{where}: {reason}"
        if reason and sentence not in self.left_out:
            self.left_out.append(sentence)

    def launch(self, name, command):
        """(process, its log)"""
        log = f"{self.directory}/{name}.log"
        with open(log, "w", encoding="utf-8") as out:
            return subprocess.Popen(pinned(self.server_cpu, *command), stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=subprocess.STDOUT,
                                    preexec_fn=sandbox.die_with_parent), log

    def write_conf(self, peer, role, transport, port):
        """(configuration, directory) of a server of its own."""
        directory = pathlib.Path(self.directory) / f"{peer.name}-{role}-{transport}-{port}"
        directory.mkdir()
        conf = directory / peer.conf_name
        conf.write_text(programs.rendered(peer.template(), {role, transport}, {
            "port": port, "ip": UPSTREAM_IP, "upstream": self.upstream.port,
            "upstream_tls": self.upstream.tls_port, "ca": self.upstream.ca,
            "auth_name": AUTH_NAME, "directory": directory}), encoding="utf-8")
        return conf, directory

    def start(self, peer, role, transport):
        """The server, running and answering, or None and a reason in left_out."""
        reason = self.cannot(peer, role, transport)
        if reason is not None:
            self.leave_out(peer.name, role, transport, reason)
            return None
        port = self.ports.take()
        conf, directory = self.write_conf(peer, role, transport, port)
        path = sandbox.without_profile(peer.path, self.directory)
        process, log = self.launch(directory.name, peer.command(conf, directory, path))
        return self.admit(Server(peer, role, transport, port, process, log))

    def start_floor(self):
        port = self.ports.take()
        process, log = self.launch(programs.FLOOR, [self.bench, "udp-floor", "--listen",
                                                 f"127.0.0.1@{port}"])
        return self.admit(Server(None, "hit", "udp", port, process, log))

    def admit(self, server):
        if await_answer(server.process, server.port):
            self.servers.append(server)
            return server
        stop(server.process)
        self.leave_out(server.name, server.role, server.transport,
                       f"does not start here: {server.last_words()}")
        return None

    def dismiss(self, server):
        stop(server.process)
        if server in self.servers:
            self.servers.remove(server)

    def close(self):
        for server in list(self.servers):
            self.dismiss(server)
        self.upstream.stop()
