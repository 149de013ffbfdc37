# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""What tls_memory.py and tls_handshake.py share: a responder over TLS and a nailupd that asks it."""

import json
import pathlib
import random
import socket
import subprocess
import time

NAME = "upstream.test"


def free_port():
    """A port that is free over UDP and TCP on any address now."""
    while True:
        port = random.randrange(20000, 32000)
        try:
            for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
                with socket.socket(socket.AF_INET, kind) as probe:
                    probe.bind(("0.0.0.0", port))
            return port
        except OSError:
            continue


def resident_bytes(pid):
    """Memory of its own: pages of libraries come and go and would disturb a difference."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


def cpu_us(pid):
    """CPU time of all threads of a process: the kernel's clock of it, in nanoseconds inside."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e3


class Responder:
    """Speaks TCP on `port` and TLS on `tls_port` of each of the addresses."""

    def __init__(self, bench, folder, addresses, *options):
        self.bench, self.port, self.tls_port = bench, free_port(), free_port()
        self.control = f"{folder}/responder-{self.port}.sock"
        self.ca = f"{folder}/ca-{self.port}.pem"
        listens = [word for ip in addresses for word in
                   ("--listen", f"{ip}@{self.port}", "--listen-tls", f"{ip}@{self.tls_port}")]
        self.process = subprocess.Popen(
            [bench, "responder", *listens, "--control", self.control, "--tls-ca-file", self.ca,
             "--tls-name", NAME, *map(str, options)], stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline().startswith("ready"):
            raise SystemExit("the responder did not start")
        self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()

    def tell(self, *words):
        return subprocess.run([self.bench, "control", self.control, *words], check=True, text=True,
                              capture_output=True).stdout

    def stats(self):
        return json.loads(self.tell("stats"))


class Nailupd:
    """A daemon with that configuration (a dict; JSON is YAML too), ready to answer."""

    def __init__(self, program, folder, config):
        self.port = free_port()
        config = json.loads(json.dumps(config))
        config.setdefault("server", {}).update(listen=[f"127.0.0.1@{self.port}"])
        config["control"] = {"socket": f"{folder}/nailup-{self.port}.sock"}
        config.setdefault("log", {"level": "warning"})
        path = pathlib.Path(folder) / f"nailup-{self.port}.yaml"
        path.write_text(json.dumps(config), encoding="utf-8")
        self.process = subprocess.Popen([program, "-c", path])
        self.pid = self.process.pid

    def __enter__(self):
        deadline = time.monotonic() + 10
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("nailupd does not answer")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    def answers(self):
        query = b"\0\1\1\0\0\1\0\0\0\0\0\0\5start\7example\0\0\1\0\1"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(0.3)
            try:
                client.sendto(query, ("127.0.0.1", self.port))
                return client.recv(4096)[3] & 15 == 0
            except OSError:
                time.sleep(0.05)
                return False


def upstream_config(responder, addresses, transport, **keys):
    """A nailed upstream over tls or tcp; keys are those of the section `upstream`."""
    is_tls = transport == "tls"
    port = responder.tls_port if is_tls else responder.port
    upstream = {"ca-bundle": responder.ca, "auth-name": NAME} if is_tls else {}
    return {
        "tcp-upstream-keepalive": list(addresses),
        "upstream": {**upstream, **keys},
        "forward-zones": [{"name": ".", "transport": transport,
                           "upstreams": [f"{ip}@{port}" for ip in addresses]}],
    }
