#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Load for an hour over upstreams that reset, stall, refuse and come back.

One upstream can always be reached over some path, so every query must be answered with NOERROR, and
the daemon's memory must be flat once the cache is full. Exits 1 if either does not hold.

Usage: tests/soak/run.py --build BUILD [--minutes 60] [--rate 2000] [--seed N]
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

# What is done to the TCP side, as "nailup-bench control" takes it; UDP always answers.
TROUBLES = ["tcp reset", "tcp fin", "tcp stall", "tcp off"]
CURES = ["tcp resume", "tcp on"]


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
        self.started = []

    def start(self, *command):
        log = open(os.path.join(self.folder, f"{len(self.started)}.log"), "w")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        self.started.append(process)
        return process

    def start_responders(self):
        for n in (1, 2, 3):
            self.start(self.bench, "responder", "--listen", f"127.20.0.{n}@{self.port}",
                       "--control", f"{self.folder}/responder{n}.sock", "--delay", "2",
                       "--ttl", "5").stdout.readline()

    def start_daemon(self):
        path = os.path.join(self.folder, "nailup.yaml")
        with open(path, "w") as config:
            config.write(CONFIG.format(listen=self.listen, port=self.port, folder=self.folder))
        daemon = self.start(os.path.join(self.args.build, "src/nailupd"), "-c", path)
        time.sleep(1)
        return daemon

    def start_load(self, suffix, rate):
        return self.start(self.bench, "load", "--server", f"127.0.0.1@{self.listen}",
                          "--transport", "udp", "--rate", str(rate), "--duration",
                          str(self.args.minutes * 60), "--zipf", "1.0", "--names", "20000",
                          "--unique-share", "50", "--suffix", suffix, "--timeout", "5000",
                          "--connections", "8", "--json", "--quiet")

    def tell(self, number, words):
        subprocess.run([self.bench, "control", f"{self.folder}/responder{number}.sock",
                        *words.split()], stdout=subprocess.DEVNULL, check=False)

    def trouble(self):
        number = self.random.randint(1, 3)
        self.tell(number, self.random.choice(TROUBLES))
        time.sleep(self.random.uniform(0.1, 6))
        for cure in CURES:
            self.tell(number, cure)
        time.sleep(self.random.uniform(0.1, 3))

    def run(self):
        self.start_responders()
        daemon = self.start_daemon()
        loads = [self.start_load("example", self.args.rate * 3 // 4),
                 self.start_load("alone.example", self.args.rate // 4)]
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
