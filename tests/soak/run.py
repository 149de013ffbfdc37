#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Load for an hour over upstreams that reset, stall, refuse and come back.

One upstream can always be reached over some path, so every query must be answered with NOERROR, and
the daemon's memory must be flat once the cache is full. Exits 1 if either does not hold.

With --transport tls the two upstreams of one zone are asked over strict TLS (trouble comes to one at a
time), the one of the other zone over opportunistic TLS with UDP to fall back to, and half of the
clients come over TLS as well.

Usage: tests/soak/run.py --build BUILD [--transport tls] [--minutes 60] [--rate 2000] [--seed N]
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

CONFIG = """
server:
  workers: 2
  listen: ["127.0.0.1@{listen}"]
cache:
  size: 8MiB
tcp-upstream-keepalive:
  - 127.20.0.0/16
tcp-upstream-keepalive-maxrequests: 500
upstream:
  stall-timeout: 2s
forward-zones:
  - name: example
    upstreams: ["127.20.0.1@{port}", "127.20.0.2@{port}"]
  - name: alone.example
    upstreams: ["127.20.0.3@{port}"]
control: {{socket: {folder}/control.sock}}
"""

TLS_CONFIG = """
server:
  workers: 2
  listen: ["127.0.0.1@{listen}"]
  listen-tls: ["127.0.0.1@{listen_tls}"]
  tls-certificate: {folder}/server.pem
  tls-key: {folder}/server.key
cache:
  size: 8MiB
tcp-upstream-keepalive:
  - 127.20.0.0/16
tcp-upstream-keepalive-maxrequests: 500
upstream:
  stall-timeout: 2s
  ca-bundle: {folder}/ca.pem
  session-file: {folder}/sessions
forward-zones:
  - name: example
    transport: tls
    upstreams: ["127.20.0.1@{tls_port}", "127.20.0.2@{tls_port}"]
  - name: alone.example
    transport: tls
    profile: opportunistic
    fallback: udp
    fallback-port: {port}
    upstreams: ["127.20.0.3@{tls_port}"]
control: {{socket: {folder}/control.sock}}
"""

# What is done to the TCP side, as "nailup-bench control" takes it; UDP always answers.
TROUBLES = ["tcp reset", "tcp fin", "tcp stall", "tcp off"]
CURES = ["tcp resume", "tcp on"]
# With TLS what is below it breaks as well, and new connections meet worse.
TLS_TROUBLES = ["tls reset", "tls fin", "tls stall", "tls off", "tls forget", "set tls-identity expired", "set tls-identity other-key",
                "set tls-reply silent", "set tls-reply garbage", "set tls-reply half"]
TLS_CURES = ["set tls-identity good", "set tls-reply handshake", "tls resume", "tls on"]


def free_port():
    """A port that is free for UDP and TCP on every address used here."""
    while True:
        with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            tcp.bind(("0.0.0.0", 0))
            try:
                udp.bind(("0.0.0.0", tcp.getsockname()[1]))
            except OSError:
                continue
            return tcp.getsockname()[1]


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Soak:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.bench = os.path.join(args.build, "bench/nailup-bench")
        self.random = random.Random(args.seed)
        self.listen, self.port = free_port(), free_port()
        self.listen_tls, self.tls_port = free_port(), free_port()
        self.is_tls = args.transport == "tls"
        self.started = []

    def start(self, *command):
        log = open(os.path.join(self.folder, f"{len(self.started)}.log"), "w")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        self.started.append(process)
        return process

    def start_responders(self):
        for n in (1, 2, 3):
            tls = ["--listen-tls", f"127.20.0.{n}@{self.tls_port}",
                   "--tls-ca-file", f"{self.folder}/ca{n}.pem"]
            self.start(self.bench, "responder", "--listen", f"127.20.0.{n}@{self.port}",
                       "--control", f"{self.folder}/responder{n}.sock", "--delay", "2",
                       "--ttl", "5", *(tls if self.is_tls else [])).stdout.readline()
        if self.is_tls:
            self.make_certificates()

    def make_certificates(self):
        """One bundle of the responders' authorities, and the daemon's own certificate."""
        with open(f"{self.folder}/ca.pem", "w") as bundle:
            for n in (1, 2, 3):
                with open(f"{self.folder}/ca{n}.pem") as authority:
                    bundle.write(authority.read())
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=soak.test", "-days", "9",
                        "-keyout", f"{self.folder}/server.key", "-out", f"{self.folder}/server.pem"],
                       check=True, stderr=subprocess.DEVNULL)

    def start_daemon(self):
        path = os.path.join(self.folder, "nailup.yaml")
        with open(path, "w") as config:
            config.write((TLS_CONFIG if self.is_tls else CONFIG).format(
                listen=self.listen, port=self.port, listen_tls=self.listen_tls,
                tls_port=self.tls_port, folder=self.folder))
        daemon = self.start(os.path.join(self.args.build, "src/nailupd"), "-c", path)
        time.sleep(1)
        return daemon

    def start_load(self, suffix, rate, transport="udp"):
        port = self.listen_tls if transport == "tls" else self.listen
        return self.start(self.bench, "load", "--server", f"127.0.0.1@{port}",
                          "--transport", transport, "--rate", str(rate), "--duration",
                          str(self.args.minutes * 60), "--zipf", "1.0", "--names", "20000",
                          "--unique-share", "50", "--suffix", suffix, "--timeout", "5000",
                          "--connections", "8", "--json", "--quiet")

    def tell(self, number, words):
        subprocess.run([self.bench, "control", f"{self.folder}/responder{number}.sock",
                        *words.split()], stdout=subprocess.DEVNULL, check=False)

    def trouble(self):
        number = self.random.randint(1, 3)
        trouble = self.random.choice(TLS_TROUBLES if self.is_tls else TROUBLES)
        self.tell(number, trouble)
        if trouble.startswith("set"):  # new connections shall meet it
            self.tell(number, self.random.choice(["tls reset", "tls fin"]))
        time.sleep(self.random.uniform(0.1, 6))
        for cure in TLS_CURES if self.is_tls else CURES:
            self.tell(number, cure)
        time.sleep(self.random.uniform(0.1, 3))

    def run(self):
        self.start_responders()
        daemon = self.start_daemon()
        loads = [self.start_load("example", self.args.rate * 3 // 4),
                 self.start_load("alone.example", self.args.rate // 4,
                                 "tls" if self.is_tls else "udp")]
        samples, next_sample, began = [], 0, time.monotonic()
        while any(load.poll() is None for load in loads):
            self.trouble()
            if daemon.poll() is not None:
                return [f"the daemon ended with {daemon.returncode}"]
            if time.monotonic() - began >= next_sample:
                samples.append((resident_kib(daemon.pid), open_files(daemon.pid)))
                print(f"{next_sample // 60:4d} min  {samples[-1][0]} KiB  "
                      f"{samples[-1][1]} files", flush=True)
                next_sample += 60
        reports = [json.loads(load.stdout.read()) for load in loads]
        return self.judge(reports, samples, daemon)

    def judge(self, reports, samples, daemon):
        wrong = []
        for report in reports:
            print(json.dumps(report))
            if report["lost"] or set(report["rcodes"]) != {"NOERROR"}:
                wrong.append(f"lost {report['lost']}, rcodes {report['rcodes']}")
        settled = [kib for kib, _ in samples[len(samples) // 3:]]
        if len(settled) > 2 and max(settled) > 1.10 * settled[0]:
            wrong.append(f"memory grew from {settled[0]} to {max(settled)} KiB")
        daemon.terminate()
        if daemon.wait(15) != 0:
            wrong.append(f"the daemon ended with {daemon.returncode}")
        return wrong

    def stop(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="the folder the programs were built in")
    parser.add_argument("--transport", choices=["tcp", "tls"], default="tcp")
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--rate", type=int, default=2000, help="queries a second")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory(prefix="nailup-soak.") as folder:
        soak = Soak(args, folder)
        try:
            wrong = soak.run()
        finally:
            soak.stop()
    for sentence in wrong:
        print(f"NOT: {sentence}")
    print("soak: " + ("failed" if wrong else "every query answered, memory flat"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
