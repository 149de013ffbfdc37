#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The latency of hits while a large response policy zone is transferred, beside that of the same hits before.

Usage: bench/rpz_update.py --build BUILD [--rules 1000000] [--rounds 3] [--seconds 15] [--rate 5000] [--quick]

BIND is the primary. Each round gives its zone another serial number, measures hits without a transfer, and measures
them again while nailupd takes the whole zone after a NOTIFY, makes the rules and gives them to its worker. The first
round replaces ten rules; each later one replaces as many as it brings.

Exits 1 if the p99 of hits rises by 2 ms or more in the median of the rounds.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import stage_common as stage

GOAL_US = 2000
ZONE = "rpz.bench"
NOTIFIER = "127.0.0.9"
PATIENCE_S = 120

NAMED_CONF = """\
options {{ directory "{folder}"; listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; pid-file none;
  session-keyfile none; managed-keys-directory "{folder}"; recursion no; dnssec-validation no; notify no;
  max-transfer-time-out 5; }};
controls {{ }};
zone "{zone}" {{ type primary; file "zone"; allow-transfer {{ any; }}; allow-query {{ any; }}; }};
"""


def write_zone(path, serial, rules):
    """Writes a policy zone with names as long as a feed's. The rules of the round show that its version is in force."""
    with open(path, "w", encoding="ascii") as file:
        file.write(f"$TTL 60\n@ SOA ns.example. host.example. {serial} 3600 60 86400 60\n@ NS ns.example.\n")
        file.write(f"serial{serial}.listed.example CNAME .\n")
        file.writelines(f"host{number * 2654435761 % 2**32:08x}.feed{number % 1000}.example CNAME .\n"
                        for number in range(rules))


class Named(stage.Process):
    def __init__(self, program, folder, port, serial):
        self.port, self.serial = port, serial
        conf = pathlib.Path(folder) / "named.conf"
        conf.write_text(NAMED_CONF.format(folder=folder, port=port, zone=ZONE), encoding="ascii")
        with open(f"{folder}/named.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([program, "-g", "-c", str(conf), "-n", "1"], stdout=log, stderr=log)

    def __enter__(self):
        if not stage.await_answer(self.port, PATIENCE_S, f"serial{self.serial}.listed.example.{ZONE}",
                                  lambda: self.process.poll() is None):
            self.stop()
            stage.give_up("named does not serve the zone")
        return self


def row_of(daemon):
    done = subprocess.run([daemon.nailupctl, "-s", daemon.socket, "--json", "zones"], check=True, capture_output=True,
                          text=True)
    return json.loads(done.stdout)["policy_zones"][0]


def hits(programs, daemon, words):
    options = ["--zipf", 1, "--names", 1000, "--rate", words.rate, "--duration", words.seconds, "--warmup", 1]
    return stage.load(programs.bench, daemon.port, *options)


def await_serial(daemon, serial):
    """Waits for the serial. Returns the seconds that it took, or ends the script."""
    begun = time.monotonic()
    while row_of(daemon)["serial"] != serial:
        if time.monotonic() > begun + PATIENCE_S:
            stage.give_up("the zone did not arrive")
        time.sleep(0.1)
    return time.monotonic() - begun


class Update(threading.Thread):
    """Sends a NOTIFY after two seconds. Notes how long it takes until the version is in force."""

    def __init__(self, daemon, serial):
        super().__init__()
        self.server, self.serial, self.took_s = daemon, serial, None

    def run(self):
        time.sleep(2)
        subprocess.run(["dig", "-b", NOTIFIER, "@127.0.0.1", "-p", str(self.server.port), "+tries=1",
                        "+opcode=notify", ZONE, "SOA"], capture_output=True, timeout=20, check=False)
        self.took_s = await_serial(self.server, self.serial)


def play_round(programs, named, daemon, folder, primary_port, serial, words):
    write_zone(folder / "zone", serial, words.rules)
    with Named(named, folder, primary_port, serial):
        hits(programs, daemon, argparse.Namespace(rate=words.rate, seconds=2))
        quiet = hits(programs, daemon, words)
        update = Update(daemon, serial)
        update.start()
        busy = hits(programs, daemon, words)
        update.join()
    if update.took_s is None:
        stage.give_up("the zone did not arrive")
    if update.took_s > words.seconds - 2:
        print(f"round {serial - 1}: the update outlasted the load: raise --seconds", file=sys.stderr)
    return quiet, busy, update.took_s


def latency(report, key):
    return report["latency_us"][key]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rules", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--quick", action="store_true")
    words = parser.parse_args()
    if words.quick:
        words.rules, words.rounds, words.seconds, words.rate = 2000, 1, 5, 500
    programs, named = stage.Programs(words.build), stage.find_program("named", "bind9")
    stage.find_program("dig", "bind9-dnsutils")
    rises = []
    print("| round | rules | seconds to force | p50 us before, during | p99 us | p99.9 us | lost | rss MiB |")
    print("|---|---|---|---|---|---|---|---|")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nailup-rpz-"))
    primary_port = stage.free_port()
    config = {"server": {"workers": 1}, "recursion": {"enabled": "no"},
              "rpz": [{"name": ZONE, "primaries": [f"127.0.0.1@{primary_port}"], "allow-notify": [NOTIFIER]}]}
    try:
        with stage.Responder(programs.bench, folder, ["127.0.0.1"]) as responder:
            config["forward-zones"] = [{"name": ".", "upstreams": responder.servers}]
            with stage.Nailupd(programs.nailupd, folder, config, programs.nailupctl) as daemon:
                write_zone(folder / "zone", 1, 9)
                with Named(named, folder, primary_port, 1):
                    await_serial(daemon, 1)
                for serial in range(2, words.rounds + 2):
                    quiet, busy, took_s = play_round(programs, named, daemon, folder, primary_port, serial, words)
                    rises.append(latency(busy, "p99") - latency(quiet, "p99"))
                    cells = [f"{latency(quiet, key):.0f}, {latency(busy, key):.0f}" for key in ("p50", "p99", "p999")]
                    print(f"| {serial - 1} | {row_of(daemon)['rules']} | {took_s:.1f} | {' | '.join(cells)} | "
                          f"{quiet['lost']}, {busy['lost']} | {stage.resident_bytes(daemon.pid) / 2**20:.0f} |",
                          flush=True)
    finally:
        shutil.rmtree(folder)
    rise_us = statistics.median(rises)
    print(f"\nThe p99 of hits rises by {rise_us:.0f} us in the median; the goal is less than {GOAL_US} us.")
    return rise_us >= GOAL_US


if __name__ == "__main__":
    sys.exit(main())
