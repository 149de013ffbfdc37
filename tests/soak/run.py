#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Load for an hour over upstreams that reset, stall, refuse, vanish, dawdle and come back.

One upstream can always be reached over some path, so every query must be answered with NOERROR. The
daemon's memory must be flat once the cache is full, its open files too, and at rest it has no more
connections to upstreams than before the first trouble. Exits 1 if one of these does not hold.

With --transport tls the two upstreams of one zone get queries over strict TLS, and trouble comes to one
of them at a time. The upstream of the other zone gets queries over opportunistic TLS, and UDP is its
fallback. Half of the clients use TLS as well.

Usage: tests/soak/run.py --build BUILD [--transport tls] [--minutes 60] [--rate 2000] [--seed N]
"""

import argparse
import json
import os
import random
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from free_ports import free_port  # noqa: E402

CONFIG = """
server:
  workers: 2
  discard-timeout: 0s   # all clients have one address
  listen: ["127.0.0.1@{listen}"]
cache:
  size: 8MiB
dnssec: {{validate: no}}
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
  discard-timeout: 0s   # all clients have one address
  listen: ["127.0.0.1@{listen}"]
  listen-tls: ["127.0.0.1@{listen_tls}"]
  tls-certificate: {folder}/server.pem
  tls-key: {folder}/server.key
cache:
  size: 8MiB
dnssec: {{validate: no}}
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

# The troubles of an upstream's connections. Each round plays every kind once, in a random order. The words are commands
# of "nailup-bench control", in which {stream} is tcp or tls. A number is a pause in seconds. "stop" and "start" apply
# to the upstream's process. Over UDP the upstream always answers, unless its process is stopped or its answers are
# slow.
TROUBLES = {
    "reset": ["{stream} reset"],
    "closed": ["{stream} fin"],
    "stalled": ["{stream} stall"],
    "refused": ["{stream} off"],
    "black hole": ["{stream} hole"],
    "half open": ["{stream} lose"],
    "slow": ["set delay 2200"],
    "short idle limit": ["set tcp-idle 20", 2],
    "keepalive of zero": ["set keepalive 0", 1, "{stream} fin"],
    "said zero, then away": ["set keepalive 0", 0.3, "{stream} fin", "{stream} off", 3],
    "killed and started": ["stop", 1, "start"],
    "one answer each": ["set one-shot-per-connection on"],
}
# Over TLS, the TCP connections break in these ways as well, and new connections meet worse trouble.
TLS_TROUBLES = {
    "tickets forgotten": ["tls forget", "tls reset"],
    "keys renewed": ["tls renew"],
} | {f"{name} {value}": [f"set {name} {value}", end] for name, value, end in [
    ("tls-identity", "expired", "tls reset"), ("tls-identity", "other-key", "tls fin"),
    ("tls-reply", "silent", "tls reset"), ("tls-reply", "garbage", "tls fin"),
    ("tls-reply", "half", "tls reset")]}
CURES = ["set delay 2", "set tcp-idle 0", "set keepalive none", "set one-shot-per-connection off",
         "{stream} resume", "{stream} on"]
TLS_CURES = ["set tls-identity good", "set tls-reply handshake"]

SETTLED_S = 8          # after the load, connections with a short life end within this time
SAMPLES_MIN = 15       # one sample a minute: a third of them covers each trouble several times
MEMORY_GROWTH = 1.10   # the growth after the first third of the time
FILES_SLACK = 16       # spare connections, and a dial under way
FILES_GROWTH = 1.25    # the growth of the number of files, from the second third of the time to the last


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def connections_to(pid, port):
    """Returns the TCP connections from the process to that port, in every state."""
    with open(f"/proc/{pid}/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    ours = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    return sum(int(row[2].partition(":")[2], 16) == port and f"socket:[{row[9]}]" in ours
               for row in rows)


class Soak:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.bench = os.path.join(args.build, "bench/nailup-bench")
        self.random = random.Random(args.seed)
        self.listen, self.port = free_port(), free_port()
        self.listen_tls, self.tls_port = free_port(), free_port()
        self.is_tls = args.transport == "tls"
        self.started, self.responders = [], {}
        self.deck, self.met = [], {}
        self.failures = 0

    def start(self, *command):
        log = open(os.path.join(self.folder, f"{len(self.started)}.log"), "w")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        self.started.append(process)
        return process

    def start_responders(self):
        if self.is_tls:
            self.make_certificates()
        for number in (1, 2, 3):
            self.start_responder(number)

    def start_responder(self, number):
        folder = self.folder
        tls = ["--listen-tls", f"127.20.0.{number}@{self.tls_port}",
               "--tls-certificate", f"{folder}/upstream{number}.pem",
               "--tls-key", f"{folder}/upstream{number}.key"]
        self.responders[number] = self.start(
            self.bench, "responder", "--listen", f"127.20.0.{number}@{self.port}",
            "--control", f"{folder}/responder{number}.sock", "--delay", "2", "--ttl", "5",
            *(tls if self.is_tls else []))
        self.responders[number].stdout.readline()

    def make_certificates(self):
        """Makes a certificate for the daemon and one for each upstream. An upstream is its own authority, and keeps
        its certificate over a restart."""
        for name, subject in [("server", "DNS:soak.test"),
                              *((f"upstream{n}", f"IP:127.20.0.{n}") for n in (1, 2, 3))]:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}.soak.test",
                            "-addext", f"subjectAltName={subject}", "-days", "9",
                            "-keyout", f"{self.folder}/{name}.key",
                            "-out", f"{self.folder}/{name}.pem"],
                           check=True, stderr=subprocess.DEVNULL)
        with open(f"{self.folder}/ca.pem", "w") as bundle:
            for n in (1, 2, 3):
                with open(f"{self.folder}/upstream{n}.pem") as certificate:
                    bundle.write(certificate.read())

    def start_daemon(self):
        path = os.path.join(self.folder, "nailup.yaml")
        with open(path, "w") as config:
            config.write((TLS_CONFIG if self.is_tls else CONFIG).format(
                listen=self.listen, port=self.port, listen_tls=self.listen_tls,
                tls_port=self.tls_port, folder=self.folder))
        daemon = self.start(os.path.join(self.args.build, "src/nailupd"), "-c", path)
        time.sleep(1)
        if daemon.poll() is not None:
            with open(os.path.join(self.folder, f"{len(self.started) - 1}.log")) as log:
                sys.exit(f"the daemon did not start:\n{log.read()}")
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

    def act(self, number, words):
        if isinstance(words, (int, float)):
            time.sleep(words)
        elif words == "stop":
            self.responders[number].kill()
            self.responders[number].wait()
        elif words == "start":
            self.start_responder(number)
        else:
            self.tell(number, words.format(stream="tls" if self.is_tls else "tcp"))

    def next_trouble(self):
        """Returns (name, number of the upstream) of the next trouble. Each kind comes once per round."""
        if not self.deck:
            troubles = TROUBLES | (TLS_TROUBLES if self.is_tls else {})
            self.deck = [(name, number) for name in troubles for number in (1, 2, 3)]
            self.random.shuffle(self.deck)
        return self.deck.pop()

    def note_failures(self, name, number):
        """Notes the SERVFAILs since the last trouble. They may also be due to the trouble before it."""
        stats = subprocess.run([os.path.join(self.args.build, "src/nailupctl"), "-s",
                                f"{self.folder}/control.sock", "stats"],
                               stdout=subprocess.PIPE, text=True, check=False).stdout
        found = re.search(r'rcode="servfail"\s+(\d+)', stats)
        failures = int(found[1]) if found else self.failures
        if failures > self.failures:
            print(f"{failures - self.failures} SERVFAIL at trouble {name!r} of upstream {number}",
                  flush=True)
        self.failures = failures

    def trouble(self):
        name, number = self.next_trouble()
        if name == "killed and started" and number == 3:
            number = 1  # the other upstream is the only one of its zone, so no path would remain
        self.met[name] = self.met.get(name, 0) + 1
        for words in (TROUBLES | TLS_TROUBLES)[name]:
            self.act(number, words)
        time.sleep(self.random.uniform(0.1, 6))
        self.cure(number)
        time.sleep(self.random.uniform(0.1, 3))
        self.note_failures(name, number)

    def cure(self, number):
        for words in CURES + (TLS_CURES if self.is_tls else []):
            self.act(number, words)

    def sample(self, daemon):
        return resident_kib(daemon.pid), open_files(daemon.pid)

    def run(self):
        self.start_responders()
        daemon = self.start_daemon()
        loads = [self.start_load("example", self.args.rate * 3 // 4),
                 self.start_load("alone.example", self.args.rate // 4,
                                 "tls" if self.is_tls else "udp")]
        time.sleep(SETTLED_S)
        before = self.upstream_connections(daemon)
        samples, next_sample, began = [], 0, time.monotonic()
        while any(load.poll() is None for load in loads):
            self.trouble()
            if daemon.poll() is not None:
                return [f"the daemon ended with {daemon.returncode}"]
            if time.monotonic() - began >= next_sample:
                samples.append(self.sample(daemon))
                print(f"{next_sample // 60:4d} min  {samples[-1][0]} KiB  "
                      f"{samples[-1][1]} files", flush=True)
                next_sample += 60
        print("troubles: " + ", ".join(f"{count} {name}" for name, count in sorted(self.met.items())))
        reports = [json.loads(load.stdout.read()) for load in loads]
        time.sleep(SETTLED_S)
        return self.judge(reports, samples) + self.judge_connections(daemon, before) + self.end(daemon)

    def upstream_connections(self, daemon):
        return connections_to(daemon.pid, self.tls_port if self.is_tls else self.port)

    def judge(self, reports, samples):
        wrong = []
        for report in reports:
            print(json.dumps(report))
            if report["lost"] or set(report["rcodes"]) != {"NOERROR"}:
                wrong.append(f"lost {report['lost']}, rcodes {report['rcodes']}")
        return wrong + (self.judge_growth(samples) if len(samples) >= SAMPLES_MIN else [])

    def judge_growth(self, samples):
        wrong, third = [], len(samples) // 3
        settled = [kib for kib, _ in samples[third:]]
        if max(settled) > MEMORY_GROWTH * settled[0]:
            wrong.append(f"memory grew from {settled[0]} to {max(settled)} KiB")
        files = [count for _, count in samples]
        if max(files[2 * third:]) > FILES_GROWTH * max(files[third:2 * third]) + FILES_SLACK:
            wrong.append(f"files grew: {files}")
        return wrong

    def judge_connections(self, daemon, before):
        """Checks that the daemon at rest has as many connections to upstreams as before the first trouble."""
        after = self.upstream_connections(daemon)
        print(f"connections to upstreams: {before} before, {after} after; files at the end: "
              f"{open_files(daemon.pid)}")
        return [f"{after} connections to upstreams are left instead of {before}"] \
            if after > before + FILES_SLACK else []

    def end(self, daemon):
        daemon.terminate()
        try:
            code = daemon.wait(15)
        except subprocess.TimeoutExpired:
            return ["the daemon does not end"]
        return [f"the daemon ended with {code}"] if code else []

    def stop(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="build folder of the programs")
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
