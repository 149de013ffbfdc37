# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The programs of the demonstration: starts them on free ports of loopback addresses, reads their output, and ends
them. They need no privilege."""

import json
import pathlib
import select
import subprocess
import time

from free_ports import free_port

START_S = 20
STOP_S = 10


class Broken(Exception):
    """The demonstration cannot continue."""


def run(*args, cwd=None):
    done = subprocess.run([str(a) for a in args], text=True, capture_output=True, timeout=60, cwd=cwd)
    if done.returncode:
        raise Broken(f"{' '.join(map(str, args))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Program:
    """A child process that ends with its `with` block."""

    def __init__(self, log, *args):
        self.log = pathlib.Path(log)
        with open(self.log, "a", encoding="utf-8") as stderr:
            self.process = subprocess.Popen([str(a) for a in args], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=stderr, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Stops the program. Returns its exit code."""
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        return self.process.returncode


class Responder(Program):
    """One or several upstreams, `delay_ms` away. Each has UDP and TCP on one port, and TLS on another with a
    certificate for tls_name, which the authority in tls_ca_file signed. On command they misbehave."""

    def __init__(self, build, folder, name, addresses, delay_ms):
        self.bench = build / "bench/nailup-bench"
        self.control, self.tls_ca_file = folder / f"{name}.sock", folder / f"{name}-ca.pem"
        self.tls_name = f"{name}.test"
        listen = [word for address in addresses for word in
                  ("--listen", f"{address}@0", "--listen-tls", f"{address}@0")]
        super().__init__(folder / f"{name}.log", self.bench, "responder", *listen,
                         "--tls-name", self.tls_name, "--tls-ca-file", self.tls_ca_file,
                         "--delay", delay_ms, "--control", self.control)
        select.select([self.process.stdout], [], [], START_S)
        self.servers, self.tls_servers = self.read_servers("ready"), self.read_servers("tls")

    def read_servers(self, head):
        """Reads a line of standard output that begins with head and then has IP@PORT, and perhaps more."""
        words = self.process.stdout.readline().split()
        if words[:1] != [head]:
            self.stop()
            raise Broken(f"nailup-bench responder does not start: {self.log.read_text()}")
        return [word for word in words[1:] if "@" in word]

    def tell(self, *words):
        return run(self.bench, "control", self.control, *words)

    def stats(self):
        return json.loads(self.tell("stats"))

    def seen_at(self, server):
        """Returns the counters of one of its servers or tls_servers."""
        return next(row for row in self.stats()["listeners"] if row["listen"] == server)


class Daemon(Program):
    """A nailupd with this configuration, in which PORT, SOCKET, FOLDER and NAME are replaced."""

    def __init__(self, build, folder, name, config):
        self.ctl = build / "src/nailupctl"
        self.socket, self.port = folder / f"{name}.sock", free_port()
        path = folder / f"{name}.yaml"
        for word, value in {"PORT": self.port, "SOCKET": self.socket, "FOLDER": folder,
                            "NAME": name}.items():
            config = config.replace(word, str(value))
        path.write_text(config, encoding="utf-8")
        super().__init__(folder / f"{name}.log", build / "src/nailupd", "-c", path)

    def control(self, *words):
        return run(self.ctl, "-s", self.socket, *words)

    def connections(self):
        return json.loads(self.control("--json", "connections"))["connections"]

    def metric(self, name, labels=""):
        for row in json.loads(self.control("--json", "stats"))["metrics"]:
            if row["metric"] == name and row["labels"] == labels:
                return row["value"]
        raise Broken(f"nailupctl stats has no {name}")

    def cold_queries(self):
        return self.metric("nailup_upstream_cold_queries_total")

    def is_up(self):
        try:
            return bool(self.control("status"))
        except Broken:
            return False


def start_daemon(build, folder, name, config):
    """Starts a daemon. Tries another port if a program has taken the first one meanwhile."""
    until = time.monotonic() + START_S
    daemon = Daemon(build, folder, name, config)
    while not daemon.is_up():
        if daemon.process.poll() == 3 and time.monotonic() < until:
            daemon.stop()
            daemon = Daemon(build, folder, name, config)
        elif daemon.process.poll() is not None or time.monotonic() > until:
            daemon.stop()
            raise Broken(f"nailupd does not start: {daemon.log.read_text()}")
        time.sleep(0.1)
    return daemon


def await_true(condition, seconds):
    """Waits for a condition. Returns how long it took, or None if the condition did not come true."""
    start = time.monotonic()
    while time.monotonic() < start + seconds:
        if condition():
            return time.monotonic() - start
        time.sleep(0.1)
    return None
