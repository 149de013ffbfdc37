#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Resident memory of nailupd per idle connection over TLS: connections of clients, and nailed ones to upstreams.

Usage: bench/tls_memory.py --build BUILD [--clients 5000] [--nailed 1024]

A client's connection has carried a query before it is idle; a nailed one was opened ahead. TCP is measured for
comparison. Exits 1 above 24 KiB a connection over TLS, or if a client's connection did not open.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time

import stage_common as stage
import tls_stage

LIMIT_BYTES = 24 * 1024
PER_ADDRESS = 64  # how many nailed connections go to one address


def make_certificate(folder):
    key, certificate = f"{folder}/server.key", f"{folder}/server.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
                    "-subj", "/CN=server.test"], check=True, capture_output=True)
    return key, certificate


def hold(args, port, transport, count, seconds):
    """Starts a client with idle connections. Returns the process and how many connections are open."""
    process = subprocess.Popen(
        [args.bench, "load", "--server", f"127.0.0.1@{port}", "--transport", transport,
         "--idle-connections", str(count), "--zipf", "0", "--names", "10", "--duration",
         str(seconds), "--timeout", "30000", "--json", "--quiet"],
        stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline().split()[1])


def measure_clients(args, folder, transport):
    """Returns (bytes per connection, connections open at the end)."""
    key, certificate = make_certificate(folder)
    tls_port = stage.free_port()
    with tls_stage.Responder(args.bench, folder, ["127.0.0.2"]) as responder:
        config = tls_stage.upstream_config(responder, ["127.0.0.2"], "tcp")
        config["server"] = {
            "workers": 1, "listen-tls": [f"127.0.0.1@{tls_port}"], "tls-certificate": certificate,
            "tls-key": key, "client-idle-timeout": "1h", "max-clients": 100000,
            "max-clients-per-address": 100000}
        with stage.Nailupd(args.nailupd, folder, config) as daemon:
            port = tls_port if transport == "tls" else daemon.port
            warm, _ = hold(args, port, transport, 50, 0.1)  # the first connections allocate what is needed only once
            warm.communicate()
            time.sleep(0.5)
            before = stage.private_bytes(daemon.pid)
            process, _ = hold(args, port, transport, args.clients, 3)
            time.sleep(1)
            after = stage.private_bytes(daemon.pid)
            standing = json.loads(process.communicate()[0])["idle"]["standing"]
    return (after - before) / args.clients, standing


def wait_for_connections(responder, count):
    deadline = time.monotonic() + 60
    while responder.stats()["connections_open"] < count:
        if time.monotonic() > deadline:
            raise SystemExit(f"only {responder.stats()['connections_open']} connections came")
        time.sleep(0.2)
    time.sleep(1)


def measure_nailed(args, folder, transport):
    """Returns bytes per connection. It compares a daemon with many connections to one with a single connection to each
    address."""
    addresses = [f"127.0.3.{i + 1}" for i in range(max(1, args.nailed // PER_ADDRESS))]
    resident = {}
    for connections in (1, PER_ADDRESS):
        with tls_stage.Responder(args.bench, folder, addresses) as responder:
            config = tls_stage.upstream_config(
                responder, addresses, transport, connections=connections,
                **{"max-connections": 256, "max-nailed": 100000, "max-handshakes": 100000})
            config["server"] = {"workers": 1}
            with stage.Nailupd(args.nailupd, folder, config) as daemon:
                wait_for_connections(responder, connections * len(addresses))
                resident[connections] = stage.private_bytes(daemon.pid)
    return (resident[PER_ADDRESS] - resident[1]) / ((PER_ADDRESS - 1) * len(addresses))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--clients", type=int, default=5000)
    parser.add_argument("--nailed", type=int, default=1024)
    args = parser.parse_args()
    args.bench, args.nailupd = f"{args.build}/bench/nailup-bench", f"{args.build}/src/nailupd"
    ok = True
    with tempfile.TemporaryDirectory(prefix="tls-memory-") as folder:
        print("| idle connection | over | KiB each | standing |\n|---|---|---|---|")
        for transport in ("tcp", "tls"):
            each, standing = measure_clients(args, folder, transport)
            print(f"| of a client | {transport} | {each / 1024:.1f} | {standing} of {args.clients} |")
            ok = ok and standing == args.clients and (transport == "tcp" or each <= LIMIT_BYTES)
        for transport in ("tcp", "tls"):
            each = measure_nailed(args, folder, transport)
            print(f"| to an upstream | {transport} | {each / 1024:.1f} | - |")
            ok = ok and (transport == "tcp" or each <= LIMIT_BYTES)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
