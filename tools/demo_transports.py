# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Part 1: the table of the mail of 2016, extended by DNS over TLS (DoT)."""

import json

from demo_programs import run
from demo_report import table, title
from demo_stage import NEAR_MS

QUERIES, ROUNDS = 240, 3

COLD = {"tcp": "TCP, a connection per query", "dot12": "DoT, TLS 1.2, full handshake per query",
        "dot13": "DoT, TLS 1.3, full handshake per query",
        "dot12-resumed": "DoT, TLS 1.2, resumed per query",
        "dot13-resumed": "DoT, TLS 1.3, resumed per query"}
WARM = {"tcp-kept": "TCP, kept open", "dot-kept": "DoT, kept open"}


def show_transports(stage):
    title(f"1. One question after the other, straight to an upstream {NEAR_MS} ms away: "
          "cold against warm")
    plants = stage.plants
    names = {"udp": "UDP", **COLD, **WARM}
    report = json.loads(run(
        stage.build / "bench/nailup-bench", "transports", "--server", plants.servers[0],
        "--tls-server", plants.tls_servers[0], "--tls-ca-file", plants.tls_ca_file,
        "--tls-name", plants.tls_name, "--only", ",".join(names), "--queries", QUERIES,
        "--rounds", ROUNDS, "--json"))
    rows = {row["transport"]: row for row in report["transports"]}
    table(["", "queries/s", "to UDP", "p50 ms", "p99 ms"],
          [[name, f"{row['iterations_per_second']:.0f}", f"{row['ratio_to_udp']:.2f}",
            f"{row['p50_ms']:.2f}", f"{row['p99_ms']:.2f}"]
           for key, name in names.items() for row in [rows[key]]])
    claim_transports(stage.claims, rows)


def claim_transports(claims, rows):
    failed = sum(row["failed"] for row in rows.values())
    claims.check(failed == 0, "every query is answered", f"{failed} failed")
    resumed = [row for key, row in rows.items() if key.endswith("-resumed")]
    done = sum(row["handshakes_resumed"] for row in resumed)
    asked = sum(row["queries"] for row in resumed)
    claims.check(done == asked, "where handshakes are to be resumed, all are",
                 f"{done} of {asked}")
    opened = sum(rows[key]["opened"] for key in WARM)
    claims.check(opened <= ROUNDS * len(WARM), "what is kept open is opened once a round",
                 f"{opened} connections for {sum(rows[key]['queries'] for key in WARM)} queries")
    for warm, cold, gain in (("tcp-kept", "tcp", 1.2), ("dot-kept", "dot13-resumed", 1.5)):
        times = rows[warm]["iterations_per_second"] / rows[cold]["iterations_per_second"]
        claims.check(times > gain, f"{WARM[warm]}: faster than {COLD[cold]}", f"{times:.2f} times")
