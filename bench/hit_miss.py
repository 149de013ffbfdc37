#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""CPU time per cache hit and per forwarded miss over UDP, TCP and TLS: nailupd beside its peers.

The peers are Unbound, Knot Resolver if installed, and the barest responder. Each server has one thread and its own
CPU; load and upstream share another. All servers run during the whole measurement and take turns in
rounds, so that a disturbance of the machine affects all of them alike; the medians of the rounds count. Prints a
Markdown table and writes JSON.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from stage_common import await_answer, free_port, make_query as query  # noqa: F401 (instructions.py)

ROOT = pathlib.Path(__file__).resolve().parents[1]
SUFFIX = "bench.example.net"
UPSTREAM_NAME = "upstream.test"

NAILUPD_CONF = """\
server:
  workers: 1
  listen: [127.0.0.1@{port}]
cache: {{size: 128MiB}}
{keepalive}
forward-zones:
  - {{name: ., transport: {transport}, upstreams: ["127.0.0.1@{upstream}"]}}
upstream: {{ca-bundle: "{ca}", auth-name: "{name_of_upstream}"}}
dnssec: {{validate: no}}
control: {{socket: {directory}/{name}.sock}}
log: {{level: warning}}
"""

# This follows unbound.conf(5) and its "howto optimise" for one thread, without DNSSEC, because the generated names are
# unsigned. infra-cache-min-rtt keeps Unbound from ending streams after 50 ms of silence.
UNBOUND_CONF = """\
server:
  interface: 127.0.0.1@{port}
  port: {port}
  num-threads: 1
  outgoing-range: 8192
  num-queries-per-thread: 4096
  outgoing-num-tcp: 100
  so-rcvbuf: 4m
  so-sndbuf: 4m
  msg-cache-size: 64m
  rrset-cache-size: 128m
  msg-cache-slabs: 1
  rrset-cache-slabs: 1
  infra-cache-slabs: 1
  key-cache-slabs: 1
  infra-cache-min-rtt: 1000
  module-config: "iterator"
{bundle}  do-not-query-localhost: no
  minimal-responses: yes
  use-syslog: no
  username: ""
  chroot: ""
  directory: "{directory}"
  pidfile: "{directory}/{name}.pid"
remote-control:
  control-enable: no
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@{upstream}{hash_name}
  forward-tcp-upstream: {tcp}
  forward-tls-upstream: {tls}
"""

# Without DNSSEC and prefetching, as the others. The cache is in memory.
KRESD_CONF = """\
net.listen('127.0.0.1', {port}, {{ kind = 'dns' }})
modules.unload('ta_update')
modules.unload('ta_signal_query')
modules.unload('priming')
trust_anchors.remove('.')
cache.size = 100 * MB
policy.add(policy.all(policy.{forward}))
"""


class Server:
    """A measured process. kind: the measurement, hit or miss."""

    def __init__(self, name, kind, command, port, log):
        self.name, self.kind, self.port = name, kind, port
        self.log = open(log, "w", encoding="utf-8")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)
        self.rounds = []

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()

    def median(self, *path):
        values = []
        for report in self.rounds:
            for key in path:
                report = report.get(key, {}) if isinstance(report, dict) else {}
            if isinstance(report, (int, float)):
                values.append(report)
        return statistics.median(values) if values else None


class Measurement:
    def __init__(self, args, directory):
        self.args, self.directory, self.servers, self.upstream = args, directory, [], None
        self.upstream_port, self.upstream_tls_port = free_port(), free_port()
        self.ca = f"{directory}/upstream-ca.pem"
        self.control = f"{directory}/upstream.sock"

    def pinned(self, cpu, *command):
        return ["taskset", "-c", str(cpu), *map(str, command)]

    def start_upstream(self):
        self.upstream = subprocess.Popen(
            self.pinned(self.args.upstream_cpu, self.args.bench, "responder", "--listen",
                        f"127.0.0.1@{self.upstream_port}", "--control", self.control, "--listen-tls",
                        f"127.0.0.1@{self.upstream_tls_port}", "--tls-ca-file", self.ca,
                        "--tls-name", UPSTREAM_NAME),
            stdout=subprocess.PIPE, text=True)
        if not self.upstream.stdout.readline().startswith("ready"):
            sys.exit("hit_miss: the responder did not start")

    def tell_upstream(self, *words):
        done = subprocess.run([self.args.bench, "control", self.control, *words],
                              capture_output=True, text=True, check=True)
        return done.stdout

    def start(self, name, kind, port, *command):
        server = Server(name, kind, self.pinned(self.args.server_cpu, *command), port,
                        f"{self.directory}/{name}.log")
        self.servers.append(server)
        if await_answer(port):
            return
        server.stop()
        self.servers.remove(server)
        tail = pathlib.Path(f"{self.directory}/{name}.log").read_text(encoding="utf-8")[-600:]
        print(f"hit_miss: {name} does not answer and is left out\n{tail}", file=sys.stderr)

    def start_floor(self):
        port = free_port()
        self.start("udp-floor", "hit", port, self.args.bench, "udp-floor", "--listen",
                   f"127.0.0.1@{port}")

    def write_conf(self, name, template, port, is_tls, **values):
        upstream = self.upstream_tls_port if is_tls else self.upstream_port
        conf = pathlib.Path(self.directory) / f"{name}.conf"
        conf.write_text(template.format(port=port, upstream=upstream, name=name,
                                        directory=self.directory, **values), encoding="utf-8")
        return conf

    def start_nailupd(self, name, kind, nailed, transport):
        port, is_tls = free_port(), transport == "tls"
        conf = self.write_conf(
            name, NAILUPD_CONF, port, is_tls, transport=transport, ca=self.ca if is_tls else "",
            name_of_upstream=UPSTREAM_NAME if is_tls else "",
            keepalive="tcp-upstream-keepalive: [127.0.0.1]" if nailed else "")
        self.start(name, kind, port, self.args.nailupd, "-c", conf)

    def start_unbound(self, name, kind, transport):
        port, is_tls = free_port(), transport == "tls"
        conf = self.write_conf(
            name, UNBOUND_CONF, port, is_tls, tcp="yes" if transport == "tcp" else "no",
            tls="yes" if is_tls else "no", hash_name=f"#{UPSTREAM_NAME}" if is_tls else "",
            bundle=f"  tls-cert-bundle: {self.ca}\n" if is_tls else "")
        self.start(name, kind, port, self.args.unbound, "-d", "-c", conf)

    def start_kresd(self, name, kind, transport):
        port, is_tls = free_port(), transport == "tls"
        upstream = self.upstream_tls_port if is_tls else self.upstream_port
        forward = (f"TLS_FORWARD({{{{'127.0.0.1@{upstream}', hostname='{UPSTREAM_NAME}', "
                   f"ca_file='{self.ca}'}}}})" if is_tls else f"STUB('127.0.0.1@{upstream}')")
        conf = self.write_conf(name, KRESD_CONF, port, is_tls, forward=forward)
        folder = pathlib.Path(self.directory) / f"{name}.run"
        folder.mkdir()
        self.start(name, kind, port, self.args.kresd, "-n", "-c", conf, folder)

    def start_all(self):
        self.start_upstream()
        self.start_floor()
        if self.args.nailupd:
            self.start_nailupd("nailupd", "hit", False, "udp")
            self.start_nailupd("nailupd-tcp", "miss", True, "tcp")
            self.start_nailupd("nailupd-tls", "miss", True, "tls")
            self.start_nailupd("nailupd-udp", "miss", False, "udp")
        if self.args.unbound:
            for name, kind, transport in (("unbound", "hit", "udp"), ("unbound-tcp", "miss", "tcp"),
                                          ("unbound-tls", "miss", "tls"),
                                          ("unbound-udp", "miss", "udp")):
                self.start_unbound(name, kind, transport)
        if self.args.kresd:
            self.start_kresd("kresd-tls", "miss", "tls")

    def load_command(self, server, seconds):
        names = (["--zipf", "0", "--names", "1000"] if server.kind == "hit" else ["--unique"])
        per_socket = max(1, self.args.in_flight // self.args.connections)
        return self.pinned(self.args.load_cpu, self.args.bench, "load", "--server",
                           f"127.0.0.1@{server.port}", "--max", "--connections",
                           self.args.connections, "--in-flight", per_socket, "--duration", seconds,
                           "--warmup", self.args.warmup, "--suffix", SUFFIX, *names, "--pid",
                           server.process.pid, "--json", "--quiet")

    def measure(self, server, seconds):
        self.tell_upstream("reset-stats")
        done = subprocess.run(self.load_command(server, seconds), capture_output=True, text=True,
                              check=False)
        if done.returncode or server.process.poll() is not None:
            print(f"hit_miss: {server.name}: {done.stderr.strip() or 'it ended'}", file=sys.stderr)
            return
        report = json.loads(done.stdout)
        report["upstream"] = json.loads(self.tell_upstream("stats"))
        server.rounds.append(report)

    def run(self):
        for round_number in range(self.args.rounds):
            order = self.servers[round_number % len(self.servers):] + \
                    self.servers[:round_number % len(self.servers)]
            for server in order:
                self.measure(server, self.args.seconds)
            print(f"round {round_number + 1} of {self.args.rounds} done", file=sys.stderr)

    def stop(self):
        for server in self.servers:
            server.stop()
        if self.upstream:
            self.upstream.terminate()
            self.upstream.wait(5)
            self.upstream.stdout.close()


STREAMS = ("tcp", "tls")


def per_write(server):
    """Returns queries per write to the upstream. Over loopback, a data segment is a write."""
    for kind in STREAMS:
        if server.median("upstream", f"{kind}_queries"):
            return server.median("upstream", f"{kind}_queries_per_segment")
    return None


def per_read(server):
    for kind in STREAMS:
        if server.median("upstream", f"{kind}_queries"):
            return server.median("upstream", f"{kind}_queries_per_read")
    return None


def noerror_percent(server):
    """Returns how many percent of all queries were answered with NOERROR, over all rounds."""
    sent = sum(report["sent"] for report in server.rounds)
    good = sum(report["rcodes"].get("NOERROR", 0) for report in server.rounds)
    return 100 * good / sent if sent else None


def stream_percent(server):
    """Returns how many percent of the upstream's queries arrived over TCP or TLS, over all rounds."""
    streams = sum(report["upstream"][f"{kind}_queries"] for report in server.rounds
                  for kind in STREAMS)
    udp = sum(report["upstream"]["udp_queries"] for report in server.rounds)
    return 100 * streams / (streams + udp) if streams + udp else None


def shown(value, form="{:.2f}"):
    return "-" if value is None else form.format(value)


def table(servers):
    by_name = {server.name: server for server in servers}
    floor = by_name["udp-floor"].median("server_cpu_us_per_query") if "udp-floor" in by_name else None
    lines = ["| server | measured | CPU us per query | to the floor | answers/s | its CPU % | p50 us "
             "| p99 us | NOERROR % | asked over streams % | queries per upstream write | per upstream read |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for server in sorted(servers, key=lambda s: s.kind):
        cpu = server.median("server_cpu_us_per_query")
        to_floor = cpu / floor if cpu and floor and server.kind == "hit" else None
        upstream = per_write(server) if server.kind == "miss" else None
        reads = per_read(server) if upstream else None
        lines.append("| " + " | ".join([
            server.name, server.kind, shown(cpu), shown(to_floor),
            shown(server.median("qps"), "{:.0f}"), shown(server.median("server_cpu_percent"), "{:.0f}"),
            shown(server.median("latency_us", "p50"), "{:.0f}"),
            shown(server.median("latency_us", "p99"), "{:.0f}"),
            shown(noerror_percent(server), "{:.2f}"),
            shown(stream_percent(server) if server.kind == "miss" else None, "{:.1f}"),
            shown(upstream, "{:.1f}"),
            shown(reads, "{:.1f}")]) + " |")
    return "\n".join(lines)


def claims(servers):
    """Checks the claims of the project. Returns (sentence, figure, whether it holds) for each."""
    cpu = {s.name: s.median("server_cpu_us_per_query") for s in servers}
    batch = {s.name: per_write(s) for s in servers if s.kind == "miss"}

    def claim(sentence, left, right, holds):
        known = left is not None and right is not None
        if known:
            yield sentence, f"{left:.2f} against {right:.2f}", holds(left, right)

    hit, tcp, udp = cpu.get("nailupd"), cpu.get("nailupd-tcp"), cpu.get("nailupd-udp")
    yield from claim("a hit costs at most 1.25 times the floor", hit, cpu.get("udp-floor"),
                     lambda a, b: a <= 1.25 * b)
    yield from claim("a hit costs less than Unbound's", hit, cpu.get("unbound"), lambda a, b: a < b)
    yield from claim("a miss over nailed TCP costs below 12 us", tcp, 12.0, lambda a, b: a < b)
    yield from claim("a miss over nailed TCP costs less than Unbound's over TCP", tcp,
                     cpu.get("unbound-tcp"), lambda a, b: a < b)
    yield from claim("a miss over nailed TCP costs less than over UDP", tcp, udp,
                     lambda a, b: a < b)
    tls = cpu.get("nailupd-tls")
    yield from claim("a miss over nailed TLS costs below 13 us", tls, 13.0, lambda a, b: a < b)
    yield from claim("a miss over nailed TLS costs less than Unbound's over TLS", tls,
                     cpu.get("unbound-tls"), lambda a, b: a < b)
    yield from claim("a miss over nailed TLS costs less than Knot Resolver's over TLS", tls,
                     cpu.get("kresd-tls"), lambda a, b: a < b)
    for server in servers:
        if server.name.startswith("nailupd"):
            yield from claim(f"{server.name} answers every query", noerror_percent(server), 100.0,
                             lambda a, b: a == b)
    for name in ("nailupd-tcp", "nailupd-tls"):
        yield from claim(f"{name}: at least 8 queries leave in one upstream write", batch.get(name),
                         8.0, lambda a, b: a >= b)


def find(program, *places):
    for place in places:
        found = sorted(ROOT.glob(place), key=lambda p: p.stat().st_mtime)
        if found:
            return str(found[-1])
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--nailupd", default=find("nailupd", "build/src/nailupd", "build/*/src/nailupd"))
    add("--bench", default=find("nailup-bench", "build/bench/nailup-bench",
                                "build/*/bench/nailup-bench"))
    add("--unbound", default=find("unbound"), help="path of the program; 'none' leaves it out")
    add("--kresd", default=find("kresd"), help="path of the program; 'none' leaves it out")
    add("--rounds", type=int, default=5)
    add("--seconds", type=float, default=2, help="seconds of each measurement")
    add("--warmup", type=float, default=0.5, help="seconds before each measurement, which do not count")
    add("--in-flight", type=int, default=100, help="total of queries that are kept in flight")
    add("--connections", type=int, default=4, help="number of the load's sockets")
    add("--server-cpu", type=int, default=0)
    add("--load-cpu", type=int, default=1)
    add("--upstream-cpu", type=int, default=None, help="default: the CPU of the load")
    add("--only", help="only these servers, separated by commas")
    add("--json", default="hit_miss.json", help="file for the figures of all rounds")
    add("--check", action="store_true", help="exit with 1 if a claim does not hold")
    args = parser.parse_args()
    if not args.bench:
        parser.error("no nailup-bench: build it, or name it with --bench")
    if not args.nailupd or not pathlib.Path(args.nailupd).exists():
        print("hit_miss: no nailupd; the others are measured alone", file=sys.stderr)
        args.nailupd = None
    args.unbound = None if args.unbound == "none" else args.unbound
    args.kresd = None if args.kresd == "none" else args.kresd
    if (os.cpu_count() or 1) <= max(args.server_cpu, args.load_cpu):
        parser.error("this machine has fewer CPUs than that")
    args.upstream_cpu = args.load_cpu if args.upstream_cpu is None else args.upstream_cpu
    return args


def main():
    args = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="hit-miss-") as directory:
        measurement = Measurement(args, directory)
        try:
            measurement.start_all()
            if args.only:
                chosen = args.only.split(",")
                measurement.servers, left_out = (
                    [s for s in measurement.servers if s.name in chosen],
                    [s for s in measurement.servers if s.name not in chosen])
                for server in left_out:
                    server.stop()
            measurement.run()
        finally:
            measurement.stop()
        servers = measurement.servers
    print(table(servers))
    if any((server.median("server_cpu_percent") or 100) < 90 for server in servers):
        print("\nSomething else used the server's CPU: of the above only CPU per query is reliable.\n")
    results = list(claims(servers))
    for sentence, figures, holds in results:
        print(f"- {'holds' if holds else 'DOES NOT HOLD'}: {sentence} ({figures})")
    with open(args.json, "w", encoding="utf-8") as out:
        json.dump({"servers": [{"name": s.name, "kind": s.kind, "rounds": s.rounds}
                               for s in servers],
                   "claims": [{"claim": c, "figures": f, "holds": h} for c, f, h in results]},
                  out, indent=1)
    return 1 if args.check and not all(holds for _, _, holds in results) else 0


if __name__ == "__main__":
    sys.exit(main())
