# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The place where one resolver is attacked: its own network namespace with an honest hierarchy, hostile
servers, and the kernel's counters of the traffic between them.

The resolver has one CPU for itself. Everything else shares the other one."""

import json
import os
import pathlib
import resource
import socket
import subprocess
import threading
import time

import hostile
import place
import recursion
import sandbox
import stage_common
import systems
import zones
from wire import query

IP, PORT, PORT_TLS = "10.53.0.1", 5300, 8530
ALLOWED = "10.1"   # the addresses of honest clients begin with this
HOSTILE = "10.66"  # and of attackers'
START_S = 20
NICE_OF_ATTACKERS = 5
FILES = 20000
SAMPLE_S = 0.05

RULES = f"""
table ip attack {{
  counter client_in {{}}
  counter client_out {{}}
  counter upstream_udp {{}}
  counter upstream_dials {{}}
  counter silent {{}}
  counter dead {{}}
  counter flooded {{}}
  chain arriving {{
    type filter hook input priority 0; policy accept;
    ip saddr {HOSTILE}.0.0/16 ip daddr {IP} counter name client_in
    ip saddr {IP} ip daddr {HOSTILE}.0.0/16 counter name client_out
    udp dport 53 ip daddr 198.18.0.0/15 counter name upstream_udp
    tcp dport 53 tcp flags & (syn | ack) == syn ip daddr 198.18.0.0/15 counter name upstream_dials
    ip daddr {zones.SILENT}.0/24 counter name silent drop
    ip daddr {zones.DEAD}.0/24 counter name dead drop
    ip daddr {zones.TRUNCATING}.0/24 ip protocol tcp drop
    ip daddr {zones.FLOODED}.0/17 counter name flooded drop
  }}
}}
"""


def cpus():
    """Returns (CPU of the resolver, CPU of all others)."""
    free = sorted(os.sched_getaffinity(0))
    return free[0], free[-1]


class Server(stage_common.Process):
    def __init__(self, command, directory, cpu):
        self.log = f"{directory}/log"
        with open(self.log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(["taskset", "-c", str(cpu), *map(str, command)], cwd=directory, stdout=out,
                                            stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                                            preexec_fn=sandbox.die_with_parent)

    def last_words(self):
        return pathlib.Path(self.log).read_text(encoding="utf-8", errors="replace")[-600:]

    def files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))


class Arena:
    """An arena. The process that makes it must be new to its namespace."""

    def __init__(self, bench, directory, certificates, nailupctl=None):
        self.bench, self.directory, self.nailupctl = bench, directory, nailupctl
        _, self.certificate, self.key = certificates
        self.server_cpu, self.other_cpu = cpus()
        self.server = self.honest_tree = self.hostile = None
        if not sandbox.enter_namespace():
            raise RuntimeError("cannot make a network namespace")
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
        place.write_setting("ipv4/ip_local_port_range", "32768 60999")  # the default of the kernel
        for prefix in ("10.0.0.0/8", "198.18.0.0/15"):
            place.run("ip", "route", "add", "local", prefix, "dev", "lo")
        place.run("nft", "-f", "-", input=RULES)
        os.sched_setaffinity(0, {self.other_cpu})
        self.honest_tree = recursion.Responder(bench, directory, 1, ["nice", "-n", str(sandbox.NICE_OF_HONEST), "taskset", "-c",
                                                                      str(self.other_cpu)])
        self.hostile = hostile.Hostile(self.other_cpu)

    def start(self, system, peer, tags):
        hints = pathlib.Path(self.directory, "hints")
        hints.write_text(f". 3600 NS root.\nroot. 3600 A {zones.ROOT}\n", encoding="utf-8")
        command = systems.configured(system, peer, self.directory, tags, {
            "ip": IP, "port": PORT, "port_tls": PORT_TLS, "hints": hints, "certificate": self.certificate,
            "key": self.key})
        self.server = Server(command, self.directory, self.server_cpu)
        until = time.monotonic() + START_S
        while not self.answers("w.start.far0"):
            if time.monotonic() > until or self.server.process.poll() is not None:
                raise RuntimeError(f"the server does not answer: {self.server.last_words()}")

    def answers(self, name, kind=1):
        """Returns True if an honest client gets NOERROR."""
        with client_socket(f"{ALLOWED}.0.1") as client:
            client.settimeout(0.5)
            try:
                client.send(query(name, kind))
                return client.recv(65535)[3] & 15 == 0
            except OSError:
                time.sleep(0.05)
                return False

    def reply(self, name):
        """Returns the answer that an honest client gets to a query for an address, or None."""
        with client_socket(f"{ALLOWED}.0.1") as client:
            client.settimeout(6)
            try:
                client.send(query(name))
                return client.recv(65535)
            except OSError:
                return None

    def load(self, *options):
        """Starts `nailup-bench load` against the server. report_of() waits for it."""
        return subprocess.Popen(["nice", "-n", str(NICE_OF_ATTACKERS), self.bench, "load", "--server", f"{IP}@{PORT}", "--json", "--quiet", *map(str, options)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                preexec_fn=sandbox.die_with_parent)

    def sockets(self, *words):
        """Returns lines of `ss` about the resolver's connections to clients."""
        return place.run("ss", "-tnmOH", *words, "sport", "=", f":{PORT}").splitlines()

    def check_others(self):
        """Raises an exception if another server has ended, because the figures of such a play are worthless."""
        if not self.hostile.process.is_alive() or self.honest_tree.process.poll() is not None:
            raise RuntimeError("an authoritative server ended")

    def close(self):
        if self.server and self.server.process.poll() is None:
            self.server.process.kill()
            self.server.process.wait()
        if self.honest_tree:
            self.honest_tree.stop()
        if self.hostile:
            self.hostile.stop()


def client_socket(address):
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.bind((address, 0))
    client.connect((IP, PORT))
    return client


def report_of(process):
    said, why = process.communicate(timeout=60)
    if not said:  # the load also fails if no query was answered
        raise RuntimeError(f"nailup-bench load: {why.strip()}")
    return json.loads(said)


def counters():
    """Returns {name: (packets, bytes)} from the kernel's counters."""
    said = json.loads(place.run("nft", "-j", "list", "counters"))
    return {one["counter"]["name"]: (one["counter"]["packets"], one["counter"]["bytes"])
            for one in said["nftables"] if "counter" in one}


class Gauge:
    """Measures the server's resources and the network's traffic while `with` lasts."""

    def __init__(self, server):
        self.server, self.is_over = server, threading.Event()
        self.most_bytes = self.most_files = 0

    def __enter__(self):
        self.before, self.cpu_before = counters(), stage_common.cpu_us(self.server.pid)
        self.bytes_before = stage_common.resident_bytes(self.server.pid)
        self.thread = threading.Thread(target=self.sample, daemon=True)
        self.thread.start()
        return self

    def sample(self):
        while True:
            try:
                self.most_bytes = max(self.most_bytes, stage_common.resident_bytes(self.server.pid))
                self.most_files = max(self.most_files, self.server.files())
            except (OSError, StopIteration):
                return  # the server has ended
            if self.is_over.wait(SAMPLE_S):
                return

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
        self.after = counters()
        if self.server.process.poll() is None:
            self.cpu_us = stage_common.cpu_us(self.server.pid) - self.cpu_before

    def packets(self, name):
        return self.after[name][0] - self.before[name][0]

    def bytes(self, name):
        return self.after[name][1] - self.before[name][1]

    def grown_mib(self):
        return max(0, self.most_bytes - self.bytes_before) / 2**20

    def upstream_packets(self):
        return self.packets("upstream_udp") + self.packets("upstream_dials")
