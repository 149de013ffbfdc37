# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A measurement: one server in one cell, saturated or at a rate. Makes a row of the CSV."""

import csv
import json
import os
import pathlib
import subprocess
import time

import stage

CONNECTIONS = 10  # the sockets of the load
HIT_NAMES = 1000
# The hypervisor may stop the server's CPU for tens of milliseconds, and one stop decides the p99 of a measurement at a
# rate. A measurement with a longer stop than this limit is repeated. The attempt with the shortest stop counts.
STOP_LIMIT_US = 3000
REPEATS_MAX = 2
# The share of the server's CPU that other programs took. Above this limit, a round is doubtful.
TAKEN_LIMIT_PERCENT = 10

# These fields are empty if the upstream is not behind the cable.
CABLE_FIELDS = ["cable_packets", "cable_lost", "cable_dropped", "cable_late_p99_us", "cable_cpu_percent"]
FIELDS = ["round", "at", "cell", "server", "version", "transport", "mode", "rate", "in_flight",
          "seconds", "sent", "answered", "noerror", "lost", "failed_percent", "qps",
          "cpu_us_per_query", "server_cpu_percent", "taken_by_others_percent", "p50_us", "p90_us",
          "p99_us", "p999_us", "max_us", "send_lag_p99_us", "cpu_stopped_us", "repeats",
          "load_cpu_us_per_query",
          "upstream_udp_queries", "upstream_tcp_queries", "upstream_tls_queries",
          "queries_per_write", "connections_opened", "tls_handshakes", *CABLE_FIELDS]
TEXTS = {"at", "cell", "server", "version", "transport", "mode"}  # all other fields are numbers

TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")


def cpu_times(cpu):
    """Returns (busy, idle) seconds of one CPU since the start. Busy includes the time that the hypervisor took. It
    excludes interrupts, which belong to the server's packets."""
    for line in pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines():
        words = line.split()
        if words[0] == f"cpu{cpu}":
            user, nice, system, idle, iowait, irq, softirq, steal = map(int, words[1:9])
            return ((user + nice + system + steal) * TICK_SECONDS,
                    (idle + iowait + irq + softirq) * TICK_SECONDS)
    raise SystemExit(f"compare: no CPU {cpu} in /proc/stat")


def process_seconds(pid):
    """Returns the CPU time of all threads. The kernel counts nanoseconds."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


def as_measured(name, text):
    """Converts a field of the CSV back to the value that was written."""
    for kind in () if name in TEXTS else (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{name: as_measured(name, text) for name, text in row.items()} for row in csv.DictReader(file)]


class CpuWatch:
    """Measures the share of the server's CPU that other programs took during `with`."""

    def __init__(self, cpu, pid):
        self.cpu, self.pid, self.percent = cpu, pid, None

    def __enter__(self):
        self.before = (*cpu_times(self.cpu), process_seconds(self.pid))
        return self

    def __exit__(self, *_):
        try:
            after = (*cpu_times(self.cpu), process_seconds(self.pid))
        except OSError:  # the process has ended
            return
        busy, idle, mine = (b - a for a, b in zip(self.before, after))
        if busy + idle > 0:
            self.percent = max(0.0, 100 * (busy - mine) / (busy + idle))


class Measurer:
    def __init__(self, theatre, seconds, warmup):
        self.stage, self.seconds, self.warmup = theatre, seconds, warmup

    def command(self, server, cell, rate):
        how = ["--rate", rate] if rate else ["--max", "--in-flight", max(1, cell.in_flight // CONNECTIONS)]
        names = ["--zipf", "0", "--names", HIT_NAMES] if cell.role == "hit" else ["--unique"]
        return stage.pinned(
            self.stage.load_cpu, self.stage.bench, "load", "--server", f"127.0.0.1@{server.port}",
            *how, "--connections", CONNECTIONS, "--duration", self.seconds, "--warmup", self.warmup,
            "--timeout", cell.timeout_ms, "--suffix", stage.SUFFIX, *names, "--pid",
            server.process.pid, "--watch-cpu", self.stage.server_cpu, "--json", "--quiet")

    def measure(self, server, cell, rate, round_number):
        """Returns a row. Returns None without a result, and then stage.left_out has a reason. rate 0: saturated."""
        row = self.measure_once(server, cell, rate, round_number)
        for _ in range(REPEATS_MAX if rate else 0):
            if row is None or row["cpu_stopped_us"] <= STOP_LIMIT_US:
                break
            again = self.measure_once(server, cell, rate, round_number)
            if again is None:
                break
            row = {**min(row, again, key=lambda one: one["cpu_stopped_us"]), "repeats": row["repeats"] + 1}
        return row

    def measure_once(self, server, cell, rate, round_number):
        self.stage.upstream.tell("reset-stats")
        if server.is_far:
            self.stage.cable.reset_stats()
        limit = 30 + 10 * (self.seconds + self.warmup) + cell.timeout_ms / 1000
        report, watch = None, CpuWatch(self.stage.server_cpu, server.process.pid)
        try:
            with watch:
                done = subprocess.run(self.command(server, cell, rate), capture_output=True,
                                      text=True, check=False, timeout=limit)
            report = json.loads(done.stdout) if done.stdout.strip() else None
        except (OSError, subprocess.TimeoutExpired):
            pass
        if server.process.poll() is not None:
            self.stage.leave_out(server.name, server.role, server.transport,
                                 f"ended in {cell.name}: {server.last_words()}")
            self.stage.dismiss(server)
            return None
        if not report or not report["answered"]:
            self.stage.leave_out(server.name, server.role, server.transport,
                                 f"answered nothing in {cell.name}")
            return None
        return self.row(server, cell, rate, round_number, report, watch.percent)

    def row(self, server, cell, rate, round_number, report, taken):
        noerror = report["rcodes"].get("NOERROR", 0)
        sent, latency, upstream = report["sent"], report["latency_us"], self.stage.upstream.stats()
        over = self.stage.cable.figures() if server.is_far else dict.fromkeys(CABLE_FIELDS, "")
        return {
            "round": round_number, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "cell": cell.name, "server": server.name,
            "version": server.peer.version if server.peer else "", "transport": server.transport,
            "mode": "rate" if rate else "max", "rate": rate or "",
            "in_flight": "" if rate else cell.in_flight, "seconds": report["seconds"], "sent": sent,
            "answered": report["answered"], "noerror": noerror, "lost": report["lost"],
            "failed_percent": round(100 * (sent - noerror) / sent, 4) if sent else 100,
            "qps": report["qps"], "cpu_us_per_query": report.get("server_cpu_us_per_query"),
            "server_cpu_percent": report.get("server_cpu_percent"),
            "taken_by_others_percent": "" if taken is None else round(taken, 2),
            "p50_us": latency["p50"], "p90_us": latency["p90"], "p99_us": latency["p99"],
            "p999_us": latency["p999"], "max_us": latency["max"],
            "send_lag_p99_us": report["send_lag_us"]["p99"],
            "cpu_stopped_us": report["watched_cpu_stopped_us"], "repeats": 0,
            "load_cpu_us_per_query": report["own_cpu_us_per_query"],
            "upstream_udp_queries": upstream["udp_queries"],
            "upstream_tcp_queries": upstream["tcp_queries"],
            "upstream_tls_queries": upstream["tls_queries"],
            "queries_per_write": per_write(upstream, server.transport),
            "connections_opened": upstream["connections_opened"],
            "tls_handshakes": upstream["tls_handshakes_full"] + upstream["tls_handshakes_resumed"],
            **over,
        }


def per_write(upstream, transport):
    """Returns queries per write of the server. Over loopback, a data segment is a write."""
    if transport == "udp" or not upstream[f"{transport}_queries"]:
        return ""
    return upstream[f"{transport}_queries_per_segment"]
