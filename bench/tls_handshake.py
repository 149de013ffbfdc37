#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""CPU time of nailupd for a dial over TLS: full and resumed, TLS 1.2 and 1.3.

Usage: bench/tls_handshake.py --build BUILD [--rate 100] [--seconds 3] [--rounds 3]

Every query gets its own connection (maxrequests 1), while the responder sends tickets or none. The cost of
the same queries on one kept connection is subtracted. The median of the rounds counts. Exits 1 if a resumed dial
costs more than half of a full one.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile

import stage_common as stage
import tls_stage

ADDRESS = "127.0.0.2"


def measure(args, responder, daemon):
    """Measures one configuration. Returns (CPU us per query, handshakes per query, share of resumed handshakes)."""
    responder.tell("reset-stats")
    begin = stage.cpu_us(daemon.pid)
    done = subprocess.run(
        [args.bench, "load", "--server", f"127.0.0.1@{daemon.port}", "--unique", "--rate",
         str(args.rate), "--duration", str(args.seconds), "--connections", "1", "--json", "--quiet"],
        check=True, capture_output=True, text=True)
    spent = stage.cpu_us(daemon.pid) - begin
    report, stats = json.loads(done.stdout), responder.stats()
    if report["answered"] != report["sent"]:
        print(f"tls_handshake: {report['sent'] - report['answered']} queries were lost",
              file=sys.stderr)
    full, resumed = stats["tls_handshakes_full"], stats["tls_handshakes_resumed"]
    dials = full + resumed
    return spent / report["answered"], dials / report["answered"], resumed / dials if dials else 0


def daemon_of(args, folder, responder, max_requests):
    config = tls_stage.upstream_config(responder, [ADDRESS], "tls", **{"max-handshakes": 100000})
    config["tcp-upstream-keepalive-maxrequests"] = max_requests
    config["server"] = {"workers": 1}
    return stage.Nailupd(args.nailupd, folder, config)


def run_round(args, folder, version, tickets):
    """Runs one round. Returns (CPU us per dial, share of resumed dials)."""
    with tls_stage.Responder(args.bench, folder, [ADDRESS], "--tls-version", version,
                             "--tls-tickets", tickets) as responder:
        with daemon_of(args, folder, responder, 65535) as kept:
            base, _, _ = measure(args, responder, kept)
        with daemon_of(args, folder, responder, 1) as fresh:
            spent, dials, resumed = measure(args, responder, fresh)
    return ((spent - base) / dials if dials else 0), resumed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    args.bench, args.nailupd = f"{args.build}/bench/nailup-bench", f"{args.build}/src/nailupd"
    cases = [(version, tickets) for version in ("1.2", "1.3") for tickets in (0, 2)]
    seen = {case: [] for case in cases}
    with tempfile.TemporaryDirectory(prefix="tls-handshake-") as folder:
        for _ in range(args.rounds):
            for case in cases:
                seen[case].append(run_round(args, folder, *case))
    print("| TLS | dial | CPU us per dial | resumed % | to the full one |\n|---|---|---|---|---|")
    ok = True
    for version in ("1.2", "1.3"):
        full = statistics.median(cpu for cpu, _ in seen[version, 0])
        for tickets in (0, 2):
            cpu = statistics.median(cpu for cpu, _ in seen[version, tickets])
            resumed = statistics.median(share for _, share in seen[version, tickets])
            print(f"| {version} | {'resumed' if tickets else 'full'} | {cpu:.0f} | "
                  f"{100 * resumed:.1f} | {cpu / full:.2f} |")
            ok = ok and (not tickets or cpu <= 0.5 * full)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
