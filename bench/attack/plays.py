# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Plays each attack against a running server and returns its figures. A function for each row of rows.py: (Arena, Row,
quick) -> {name of a figure: value}."""

import itertools
import math
import os
import pathlib
import re
import socket
import ssl
import struct
import subprocess
import threading
import time

import arena
import honest
import sandbox
import streams
import verdict
import zones
from wire import MX, TXT, framed, query

WARM_UP = 20
SOURCES = 50  # the addresses of one process of `nailup-bench load`


def spent(gauge, hostile_packets=None):
    """Returns the figures that all rows have: what the attack cost the server."""
    packets = hostile_packets or gauge.packets("client_in")
    return {"memory_mib": gauge.grown_mib(), "files": gauge.most_files,
            "cpu_us": gauge.cpu_us / packets if packets else None}


def suffered(points):
    """Returns the figures of the honest clients: what they lost."""
    good = sorted(point.latency_ms for point in points if point.rcode in (0, 3))
    return {"asked": len(points), "failed": len(points) - len(good),
            "p50_ms": verdict.percentile(good, 0.5), "p99_ms": verdict.percentile(good, 0.99)}


def warm(where, names, count=WARM_UP):
    for _, name in zip(range(count), names):
        for _ in range(20):
            if where.answers(name):
                break


def write_names(where, name, lines):
    path = pathlib.Path(where.directory, name)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    return path


def sources(addresses):
    return [word for address in addresses for word in ("--source", address)]


# ---- streams ----

def pipelining(where, row, quick):
    """TCP clients that keep their pipes full of cached queries, with a UDP client beside them."""
    seconds, count = (1, min(50, row.amount)) if quick else (4, row.amount)
    warm(where, honest.cached())
    names = write_names(where, "names", [f"w{n}.cached.near0 A" for n in range(WARM_UP)])
    with arena.Gauge(where.server) as gauge:
        loads = [where.load("--transport", "tcp", "--max", "--connections", min(SOURCES * 100, count - first), "--in-flight",
                            max(32, min(1024, 400_000 // count)), "--queries", names, "--duration", seconds + 2, "--timeout",
                            10000, *sources(streams.addresses(-(-count // 100))[first // 100:first // 100 + SOURCES]))
                 for first in range(0, count, SOURCES * 100)]
        time.sleep(0.5 if quick else 1.5)
        beside = honest.Honest([f"{arena.ALLOWED}.1.1"], honest.cached(), 100)
        time.sleep(seconds)
        points = beside.points()
        answered = sum(arena.report_of(load)["answered"] for load in loads)
    return {**suffered(points), **spent(gauge, answered), "per_second": answered / (seconds + 2)}


def never_reading(where, row, quick):
    """Connections that request large answers and read none. In the end the server closes them."""
    count = 20 if quick else row.amount
    name = framed(query("x.big", TXT))
    where.answers("x.big", TXT)
    with arena.Gauge(where.server) as gauge:
        clients = streams.opened(count, receive_bytes=4096)
        until = time.monotonic() + (1 if quick else 3)
        while time.monotonic() < until:
            for client in clients:
                streams.push(client, name * 200)
            time.sleep(0.1)
        held = kernel_bytes(where.sockets("state", "established"))
        kernel = sum(held) / 2**20
        ended, most_orphaned = 0, 0.0
        until = time.monotonic() + (5 if quick else 12)
        while time.monotonic() < until and ended < len(clients):
            time.sleep(0.5)
            ended = len(clients) - len(where.sockets("state", "established"))
            most_orphaned = max(most_orphaned, orphaned_bytes(where) / 2**20)
    for client in clients:
        streams.reset(client)
    figures = spent(gauge)
    return {**figures, "memory_mib": figures["memory_mib"] + kernel,
            "kib_each": 1024 * (figures["memory_mib"] + kernel) / max(1, len(clients)),
            "orphaned_mib": most_orphaned, "closed": ended}


def kernel_bytes(lines):
    """Returns how many bytes the kernel holds for each connection, in both directions. In skmem, r and t are allocated
    bytes and w are queued ones."""
    found = []
    for line in lines:
        match = re.search(r"skmem:\(r(\d+),rb\d+,t(\d+),tb\d+,f\d+,w(\d+)", line)
        if match:
            received, sent, queued = (int(one) for one in match.groups())
            found.append(received + max(sent, queued))
    return found


def orphaned_bytes(where):
    """Returns how many bytes the kernel holds for connections that the server has closed."""
    return sum(sum(kernel_bytes(where.sockets("state", state))) for state in ("fin-wait-1", "last-ack", "closing"))


def half_sent(where, row, quick):
    """Connections that announce a message of 65,535 bytes and send nearly all of it."""
    count = 100 if quick else row.amount
    message = b"\xff\xff" + framed(query("x.big"))[2:] + b"\0" * 65000
    warm(where, honest.cached())
    with arena.Gauge(where.server) as gauge:
        clients = streams.opened(count)
        for client in clients:
            streams.push(client, message)
        beside = honest.Honest([f"{arena.ALLOWED}.1.1"], honest.cached(), 50)
        asked = [streams.ask(f"{arena.ALLOWED}.2.{number}", "w1.cached.near0") for number in range(1, 11)]
        time.sleep(1)
        still_open = sum(not streams.has_ended(client) for client in clients)
        kernel = sum(kernel_bytes(where.sockets("state", "established"))) / 2**20
        points = beside.points()
        for client in clients:
            streams.reset(client)
        time.sleep(1 if quick else 3)
        kept = max(0, arena.stage_common.resident_bytes(where.server.pid) - gauge.bytes_before) / 2**20
    figures = spent(gauge)
    return {**figures, **suffered(points), "memory_mib": figures["memory_mib"] + kernel, "process_mib": figures["memory_mib"],
            "kept_mib": kept, "accepted": still_open, "tcp_failed": sum(rcode != 0 for rcode, _ in asked)}


def keeping_alive(where, row, quick):
    """Connections that send a few useless bytes each second, or nothing at all."""
    good, most_s = query("w1.cached.near0"), 3 if quick else 14
    warm(where, honest.cached())
    behaviours = {
        "nothing": lambda client, count: None,
        "one byte a second": lambda client, count: streams.push(client, framed(good)[count % 8:count % 8 + 1] if count else b"\0"),
        "half a message": lambda client, count: count or streams.push(client, framed(good)[:20]),
        "garbage": lambda client, count: streams.push(client, framed(os.urandom(2) + b"\x01\0\0\1\0\0\0\0\0\0" + b"\x3f" * 30)),
        "trailing bytes": lambda client, count: streams.push(client, framed(good + b"trailing bytes")),
        "another opcode": lambda client, count: streams.push(client, framed(good[:2] + b"\x10\0" + good[4:])),
        "large queries, not read": lambda client, count: streams.push(client, framed(query("x.big", TXT)) * 400),
    }
    with arena.Gauge(where.server) as gauge:
        clients = streams.opened(len(behaviours))
        acts = list(behaviours.values())
        read = [index for index, name in enumerate(behaviours) if name != "large queries, not read"]
        ends = streams.seconds_until_closed([clients[index] for index in read],
                                            lambda at, client, count: acts[read[at]](client, count), most_s)
    held = {name: ends[at] for at, name in enumerate(name for name in behaviours if name != "large queries, not read")}
    longest = max(behaviour_s(value, most_s) for value in held.values())
    return {**spent(gauge), "longest_s": longest, "never_closed": sum(value is None for value in held.values()),
            **{f"closed_s: {name}": value for name, value in held.items()}}


def behaviour_s(value, most_s):
    return most_s if value is None else value


# ---- refused clients ----

def refused(where, row, quick):
    """Addresses that access control refuses hold as many connections as they can, while 40 allowed clients send
    queries."""
    count = 100 if quick else row.amount
    stop = threading.Event()

    def flood():
        addresses = streams.addresses(20)
        each = [streams.connection(address) for address in addresses for _ in range(count // 20)]
        while not stop.wait(0.02):
            for at, client in enumerate(each):
                if streams.is_open(client) and streams.has_ended(client):
                    client.close()
                    each[at] = streams.connection(addresses[at * 20 // len(each)])
        for client in each:
            streams.reset(client)

    warm(where, honest.cached())
    with arena.Gauge(where.server) as gauge:
        thread = threading.Thread(target=flood, daemon=True)
        thread.start()
        time.sleep(0.5 if quick else 2)
        clients, asked = 10 if quick else 40, []
        for at in range(1, clients + 1):
            asked.append(streams.ask(f"{arena.ALLOWED}.{at}.1", "w1.cached.near0"))
            time.sleep(0.02 if quick else 0.1)
        stop.set()
        thread.join()
    good = sorted(ms for rcode, ms in asked if rcode == 0)
    return {**spent(gauge), "asked": clients, "failed": clients - len(good),
            "p50_ms": verdict.percentile(good, 0.5), "p99_ms": verdict.percentile(good, 0.99)}


# ---- hostile zones ----

def zone_flood(where, row, quick):
    """Random names, each below a different zone with 13 silent servers, while honest clients query new names of honest
    zones."""
    seconds, rate, honest_count = (1.5, 300, 10) if quick else (9, row.amount, 68)
    names = write_names(where, "names", [f"q{n}.r{n}.evil.flood A" for n in range(int(seconds * rate) + 10)])
    with arena.Gauge(where.server) as gauge:
        load = where.load("--rate", rate, "--queries", names, "--duration", seconds, "--timeout", 8000,
                          *sources(streams.addresses(8)))
        time.sleep(0.5 if quick else 3)
        beside = honest.Honest([f"{arena.ALLOWED}.1.1"], honest.never_seen(100), honest_count / (seconds / 2), honest_count)
        points = beside.points(is_cut=False)
        report = arena.report_of(load)
    return {**suffered(points), **spent(gauge), "packets": gauge.upstream_packets() / max(1, report["sent"]),
            "silent_packets": gauge.packets("flooded") / max(1, report["sent"])}


def bombed(where, row, quick):
    """One address sends queries whose large answers all arrive at the same time. Honest clients of its network ask
    meanwhile."""
    seconds, rate = (0.6, 200) if quick else (1.5, row.amount)
    zone, network = "pulse" if quick or "young" in row.name else "bomb", f"{arena.HOSTILE}.0"
    beside = honest.Honest([f"{network}.{n}" for n in range(101, 105)], honest.never_seen(5000), 50)
    time.sleep(0.5)
    with arena.Gauge(where.server) as gauge:
        attacker = Collector(f"{network}.1")
        attacker.ask([f"q{n % 400}.{zone}" for n in range(int(rate * seconds))], rate)
        received, most = attacker.received((zones.PULSE_S if zone == "pulse" else zones.BOMB_S) + 1 - quick * 0.5)
    points = beside.points()
    return {**suffered(points), **spent(gauge), "packets": gauge.upstream_packets() / max(1, attacker.sent_packets),
            "bytes_ratio": received / attacker.sent_bytes, "burst_ratio": most / attacker.sent_bytes}


class Collector:
    """An address that sends many queries, and records how many bytes it receives with the headers of IP and UDP."""

    HEADERS, BIN_S = 28, 0.1

    def __init__(self, address):
        self.socket = arena.client_socket(address)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.setblocking(False)
        self.sent_packets = self.sent_bytes = 0
        self.bins = {}

    def take(self):
        while True:
            try:
                size = len(self.socket.recv(65535)) + self.HEADERS
            except OSError:
                return
            at = int(time.monotonic() / self.BIN_S)
            self.bins[at] = self.bins.get(at, 0) + size

    def ask(self, names, rate):
        start = time.monotonic()
        for number, name in enumerate(names):
            while time.monotonic() < start + number / rate:
                self.take()
                time.sleep(0.001)
            packet = query(name, TXT)
            self.sent_bytes += len(packet) + self.HEADERS
            self.sent_packets += 1
            self.socket.send(packet)

    def received(self, seconds):
        """Returns (all bytes, most bytes in an interval of BIN_S) after that many more seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.take()
            time.sleep(0.005)
        return sum(self.bins.values()), max(self.bins.values(), default=0)


# ---- handshakes ----

def client_hello():
    """Returns the first flight of a TLS client, which may be sent any number of times."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    outgoing = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def handshakes(where, row, quick):
    """Attackers in ten networks start handshakes as fast as they can and finish none. Cached queries over UDP, and a
    few over TLS, come from elsewhere."""
    seconds, hello, stop, done = 1 if quick else 4, client_hello(), threading.Event(), [0]
    warm(where, honest.cached())

    def flood():
        addresses, number, pending = streams.addresses(10), 0, []
        while not stop.is_set():
            while len(pending) < row.amount:
                pending.append([streams.connection(addresses[number % 10], arena.PORT_TLS), False, time.monotonic()])
                number += 1
            kept = []
            for one in pending:
                client, is_sent, began_at = one
                if not is_sent and streams.is_open(client):
                    one[1] = streams.push(client, hello) > 0
                if is_sent and has_flight(client):
                    done[0] += 1
                    streams.reset(client)
                elif time.monotonic() > began_at + 2:
                    streams.reset(client)
                else:
                    kept.append(one)
            pending = kept
            time.sleep(0.002)
        for client, *_ in pending:
            streams.reset(client)

    with arena.Gauge(where.server) as gauge:
        thread = threading.Thread(target=flood, daemon=True)
        thread.start()
        time.sleep(0.5 if quick else 1)
        beside = honest.Honest([f"{arena.ALLOWED}.1.1"], honest.cached(), 100)
        until, over_tls = time.monotonic() + seconds, []
        while time.monotonic() < until:
            over_tls.append(streams.ask_tls(f"{arena.ALLOWED}.2.{1 + len(over_tls) % 250}", "w1.cached.near0"))
            time.sleep(0.1)
        points = beside.points()
        stop.set()
        thread.join()
    return {**suffered(points), **spent(gauge), "handshakes": done[0] / (seconds + 1), "tls_asked": len(over_tls),
            "tls_failed": 100 * sum(rcode != 0 for rcode, _ in over_tls) / len(over_tls)}


def has_flight(client):
    """Returns whether the server has sent something or has closed."""
    try:
        client.recv(8192)
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


# ---- overload ----

class Burden:
    """Takes most of the resolver's CPU, so that the load generator can send several times what it can answer."""

    def __init__(self, cpu, nice):
        self.process = subprocess.Popen(["nice", "-n", str(nice), "taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"],
                                        preexec_fn=sandbox.die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def overload(where, row, quick):
    """Eight networks send three times the queries that the resolver can answer. One client sends one query in a
    hundred."""
    step_s, seconds = (0.3, 1) if quick else (1.2, 5)
    numbers = itertools.count()

    def names(count, phase):
        if row.amount:  # the queries are misses
            lines = (f"w{next(numbers)}.z{n % 500}.far{n % 8} A" for n in range(count))
        else:
            lines = (f"w{n % WARM_UP}.cached.near0 A" for n in range(2000))
        return ["--queries", write_names(where, f"names-{phase}", lines)]

    def asked(rate, seconds, phase, network, count=8, patience_ms=3000):
        return where.load("--rate", max(1, round(rate)), "--duration", seconds, "--timeout", patience_ms,
                          *names(int(rate * seconds) + 100, phase), *sources(streams.addresses(count, network)))

    def good(report):
        return sum(report["rcodes"].get(rcode, 0) for rcode in ("NOERROR", "NXDOMAIN"))

    warm(where, honest.cached())
    if row.amount:  # the resolver then knows the zone cuts
        arena.report_of(where.load("--rate", 500 if quick else 1000, "--duration", step_s, *names(2000, "warm")))
    with Burden(where.server_cpu, -11):
        most = arena.report_of(where.load("--max", "--in-flight", 200, "--connections", 8, "--duration", step_s,
                                          *names(100_000, "most"), *sources(streams.addresses(8, arena.ALLOWED))))
        capacity = most["answered"] / step_s
        for share in (1.3, 1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1):
            report = arena.report_of(asked(share * capacity, step_s, f"step-{share}", arena.ALLOWED, patience_ms=1000))
            if good(report) >= 0.99 * report["sent"] or quick:
                break
        capacity *= share
        time.sleep(0.5)
        with arena.Gauge(where.server) as gauge:
            flood = asked(2.97 * capacity, seconds, "flood", arena.HOSTILE)
            time.sleep(seconds / 5)
            few = asked(0.03 * capacity, seconds * 3 / 5, "few", f"{arena.ALLOWED[:-1]}2", 1)
            few, flood = arena.report_of(few), arena.report_of(flood)
    return {**spent(gauge), "asked": few["sent"], "failed": few["sent"] - good(few), "p99_ms": few["latency_us"]["p99"] / 1000 if few["answered"] else None,
            "lost_percent": 100 * (1 - good(few) / max(1, few["sent"])), "capacity": capacity,
            "goodput_percent": 100 * good(flood) / seconds / capacity, "all_p99_ms": flood["latency_us"]["p99"] / 1000,
            "missing_percent": max(0, 100 - 100 * good(flood) / seconds / capacity)}


# ---- forgery ----

def identical(where, row, quick):
    """Many clients ask the same question, and the servers of its zone are silent."""
    count, wait_s = (40, 1) if quick else (row.amount, 9)
    addresses = streams.addresses(20)
    with arena.Gauge(where.server) as gauge:
        clients = []
        for number in range(count):
            clients.append(arena.client_socket(addresses[number % len(addresses)]))
            clients[-1].send(query("q.silent"))
            time.sleep(0.005)
        time.sleep(max(0, 2 - count * 0.005))
        early = arena.counters()["silent"][0] - gauge.before["silent"][0]
        time.sleep(wait_s)
    return {**spent(gauge), "upstream_queries": gauge.packets("silent"), "early": early}


def query_ports(where, row, quick):
    """Measures the ports of queries, as an authoritative server sees them."""
    count, rate = (300, 600) if quick else (row.amount, 2000)
    names = write_names(where, "names", [f"q{n}.ports A" for n in range(count + 10)])
    with arena.Gauge(where.server) as gauge:
        arena.report_of(where.load("--rate", rate, "--queries", names, "--duration", count / rate, *sources(streams.addresses(8))))
    ports = where.hostile.counts()["ports"]
    return {**spent(gauge), "lowest": min(ports), "highest": max(ports), "seen": len(ports), "distinct": len(set(ports)),
            "bits": port_bits(ports)}


def port_bits(ports):
    """Returns the width of the port range in bits. The width is smaller if ports repeat more often than random draws
    explain (by more than four standard deviations)."""
    pairs, repeats = len(ports) * (len(ports) - 1) / 2, len(ports) - len(set(ports))
    span = max(ports) - min(ports) + 1
    expected = pairs / span
    return math.log2(pairs / repeats if repeats > expected + 4 * math.sqrt(expected) + 4 else span)


def poisoning(where, row, quick):
    """Answers contain records for other names, and forged answers precede the true one."""
    believed = []
    with arena.Gauge(where.server) as gauge:
        for case, words in zones.POISONED.items():
            where.reply(f"c{case}.poison")
            said = [where.reply(f"w{n}.{zones.victim_zone(case)}") for n in (1, 2)]
            if any(is_harmed(answer) for answer in said):
                believed.append(words)
        for kind in zones.FORGED:
            answers = [where.reply(f"{kind}{n}.forged") for n in range(3 if quick else 10)]
            if any(answer and socket.inet_aton(zones.POISON) in answer for answer in answers):
                believed.append(f"forged: {kind}")
    asked = where.hostile.counts()["queries"]
    if asked.get("poison", 0) < len(zones.POISONED) or asked.get("forged", 0) < len(zones.FORGED):
        raise RuntimeError("the hostile servers were not asked")
    return {**spent(gauge), "cases": len(zones.POISONED) + len(zones.FORGED), "believed": len(believed),
            **{f"believed: {words}": 1 for words in believed}}


def is_harmed(answer):
    """Returns whether the answer has a false address, or denies an existing name."""
    return answer is not None and (socket.inet_aton(zones.POISON) in answer or answer[3] & 15 == 3)


# ---- packets that are expensive to read ----

def crafted(where, row, quick):
    """Datagrams with hundreds of EDNS options, and names whose answers are 60 KB of compressed names."""
    seconds, each = (0.5, 3) if quick else (3, 40)
    warm(where, honest.cached())
    flooders = [arena.client_socket(address) for address in streams.addresses(8)]
    packet = query("w1.cached.near0", options=struct.pack(">HH", 65001, 0) * 280)
    with arena.Gauge(where.server) as gauge:
        beside = honest.Honest([f"{arena.ALLOWED}.1.1"], honest.cached(), 100)
        start, sent = time.monotonic(), 0
        while time.monotonic() < start + seconds:
            for client in flooders:
                client.send(packet)
            sent += len(flooders)
            time.sleep(max(0, start + sent / row.amount - time.monotonic()))
        time.sleep(0.2)
        points = beside.points()
    figures = {**suffered(points), **spent(gauge)}
    with arena.Gauge(where.server) as gauge:
        for number in range(each):
            flooders[0].send(query(f"q{number}.names", MX))
            time.sleep(0.05)
        time.sleep(0.5)
    return {**figures, "names_us": gauge.cpu_us / each}


# ---- amplification ----

# {zone: (its behaviour, its names)}
CASES = {
    "chain": ("aliases without end in one zone", "x{}-0.chain"),
    "zchain": ("aliases, each in its own zone", "x{0}-0.x{0}z0.zchain"),
    "cchain": ("aliases of deep names, each in its own zone", "x{0}-0.l0.l1.l2.l3.l4.l5.l6.l7.l8.x{0}z0.cchain"),
    "dname": ("DNAME to DNAME without end", "x.x{}z0.dname"),
    "deep": ("a name of a hundred labels", "x{}." + "a." * 100 + "deep"),
    "cuts": ("a zone cut at each of fifty labels", "x{}." + "a." * 50 + "cuts"),
    "endless": ("a server without glue in a zone with a server without glue, and so on", "x.x{}z0.endless"),
    "nxns": ("NXNSAttack: 40 servers without glue that do not exist", "x.n{}.nxns"),
    "nxnsdeep": ("the same over two levels of 20 servers", "x.n{}.nxnsdeep"),
    "tsuname": ("TsuNAME: two zones that name servers in each other", "x.t{}a.tsuname"),
    "camp": ("CAMP: aliases through zones with ten servers without glue", "x{0}-0.x{0}z0.camp"),
    "itself": ("13 servers that refer to their own zone", "x.i{}.itself"),
    "dead": ("13 silent servers", "x.d{}.dead"),
    "refused": ("13 servers that answer REFUSED", "x.d{}.refused"),
    "servfail": ("13 servers that answer SERVFAIL", "x.d{}.servfail"),
    "truncated": ("13 servers that truncate, with silent TCP", "x.d{}.truncated"),
}


def amplification(where, row, quick):
    """Asks for the names of each case of CASES a few times, all at the same time."""
    each, seconds = (2, 3) if quick else (row.amount, 12)
    with arena.Gauge(where.server) as gauge:
        clients = []
        for number in range(each):
            for at, (_, form) in enumerate(CASES.values()):
                clients.append(arena.client_socket(f"{arena.HOSTILE}.{at}.1"))
                clients[-1].send(query(form.format(number)))
                time.sleep(0.01)
        time.sleep(seconds)
    counts = where.hostile.counts()["queries"]
    counts["dead"] = counts.get("dead", 0) + gauge.packets("dead")
    packets = {name: counts.get(name, 0) / each for name in CASES}
    return {**spent(gauge), "packets": sum(packets.values()) / len(packets), "most": max(packets.values()),
            **{f"packets: {CASES[name][0]}": value for name, value in packets.items()}}
