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

import cable
import cells
import programs
import sandbox

SUFFIX = "bench.example"
AUTH_NAME = "upstream.test"
UPSTREAM_IP = "127.0.0.53"
START_SECONDS = 10


def pinned(cpu, *command):
    return ["taskset", "-c", str(cpu), *map(str, command)]


def query(name, number=None):
    """Returns an A query for `name`, without EDNS."""
    number = random.randrange(65536) if number is None else number
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"


def await_answer(process, port, seconds=START_SECONDS):
    """Returns True when a query has been answered with NOERROR. Returns False if the process ends or never answers."""
    until = time.monotonic() + seconds
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
    """`nailup-bench responder` at each of the addresses: UDP and TCP on `port`, and TLS on `tls_port`, which is 853 if
    that port is allowed."""

    def __init__(self, bench, cpu, directory, ports, in_namespace, addresses):
        self.bench, self.control = bench, f"{directory}/upstream.sock"
        self.ca = f"{directory}/upstream-ca.pem"
        self.port, self.tls_port = ports.take(), 853 if in_namespace else ports.take()
        self.process = subprocess.Popen(
            pinned(cpu, bench, "responder", *self.listeners(addresses), "--control", self.control,
                   "--tls-ca-file", self.ca, "--tls-name", AUTH_NAME, "--ttl", "86400"),
            stdout=subprocess.PIPE, text=True, preexec_fn=sandbox.die_with_parent)
        if not self.process.stdout.readline().startswith("ready"):
            raise SystemExit("compare: the responder did not start")

    def listeners(self, addresses):
        for address in addresses:
            yield from ("--listen", f"{address}@{self.port}")
            yield from ("--listen-tls", f"{address}@{self.tls_port}")

    def tell(self, *words):
        """Sends one command, as separate words or as a sentence."""
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
    """A running process. role: that of cells.Cell, or floor. is_far: its upstream is behind the cable."""

    def __init__(self, peer, role, transport, is_far, port, process, log):
        self.peer, self.role, self.transport, self.port = peer, role, transport, port
        self.is_far, self.process, self.log = is_far, process, log

    @property
    def name(self):
        return self.peer.name if self.peer else programs.FLOOR

    def last_words(self):
        """Returns the end of the server's log in one line."""
        text = pathlib.Path(self.log).read_text(encoding="utf-8", errors="replace").strip()
        return " / ".join(text.splitlines()[-3:])[-300:] or "it said nothing"


class Stage:
    """Starts and ends all processes. left_out has a sentence for each missing server."""

    def __init__(self, bench, directory, cpus, in_namespace):
        self.bench, self.directory, self.in_namespace = bench, directory, in_namespace
        self.server_cpu, self.load_cpu, self.upstream_cpu = cpus
        self.ports, self.left_out, self.servers = sandbox.Ports(), [], []
        self.cable, self.no_cable = cable.laid(pinned(self.upstream_cpu, bench), in_namespace)
        addresses = [UPSTREAM_IP, cable.HERE] if self.cable else [UPSTREAM_IP]
        self.upstream = Upstream(bench, self.upstream_cpu, directory, self.ports, in_namespace, addresses)

    def is_far(self, one):
        """Returns whether the servers of that cell or series reach their upstream over the cable."""
        return bool(one.distance and self.cable)

    def set_distance(self, one):
        """Sets the distance of a cell or series. Without a cable, the responder delays its answers instead."""
        if self.cable:
            self.cable.set({**cable.AT_ONCE, **one.distance})
        else:
            self.upstream.set(one.distance)

    def set_scene(self, cell):
        self.upstream.set({**cells.DEFAULTS, **cell.settings, **({} if self.cable else cell.without_cable)})
        self.set_distance(cell)

    def clear_scene(self):
        self.upstream.set(cells.DEFAULTS)
        if self.cable:
            self.cable.set(cable.AT_ONCE)

    def servers_of(self, cell):
        return [server for server in self.servers
                if server.role == cell.role and server.is_far == self.is_far(cell)]

    def cannot(self, peer, role, transport):
        """Returns the reason why that server cannot run, or None. An empty reason is obvious or already known."""
        if role == "recycle" and (transport == "udp" or transport in peer.cannot):
            return ""
        if peer.kind == "pdns-recursor" and transport == "tls" and not self.in_namespace:
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
        """Returns (process, its log)."""
        log = f"{self.directory}/{name}.log"
        with open(log, "w", encoding="utf-8") as out:
            return subprocess.Popen(pinned(self.server_cpu, *command), stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=subprocess.STDOUT,
                                    preexec_fn=sandbox.die_with_parent), log

    def write_conf(self, peer, role, transport, is_far, port):
        """Writes the configuration of a server. Returns (configuration, directory)."""
        directory = pathlib.Path(self.directory) / f"{peer.slug}-{role}-{transport}-{port}"
        directory.mkdir()
        conf = directory / peer.conf_name
        conf.write_text(programs.rendered(peer.template(), {role, transport}, {
            "port": port, "ip": cable.THERE if is_far else UPSTREAM_IP, "upstream": self.upstream.port,
            "upstream_tls": self.upstream.tls_port, "ca": self.upstream.ca,
            "auth_name": AUTH_NAME, "directory": directory}), encoding="utf-8")
        return conf, directory

    def start(self, peer, role, transport, is_far=False):
        """Starts a server and returns it when it answers. Returns None otherwise, with a reason in left_out."""
        reason = self.cannot(peer, role, transport)
        if reason is not None:
            self.leave_out(peer.name, role, transport, reason)
            return None
        port = self.ports.take()
        conf, directory = self.write_conf(peer, role, transport, is_far, port)
        path = sandbox.without_profile(peer.path, self.directory)
        process, log = self.launch(directory.name, peer.command(conf, directory, path))
        return self.admit(Server(peer, role, transport, is_far, port, process, log))

    def start_floor(self):
        port = self.ports.take()
        process, log = self.launch(programs.FLOOR, [self.bench, "udp-floor", "--listen",
                                                 f"127.0.0.1@{port}"])
        return self.admit(Server(None, "hit", "udp", False, port, process, log))

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
        if self.cable:
            self.cable.stop()
