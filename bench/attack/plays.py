# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""How each attack is played to a server that runs, and what is measured. A function for each row of rows.py:
(Arena, Row, quick) -> {name of a figure: value}."""

import os
import pathlib
import re
import socket
import threading
import time

import arena
import honest
import streams
import verdict
from wire import A, TXT, framed, query

WARM_UP = 20
SOURCES = 50  # addresses of one process of `nailup-bench load`


def spent(gauge, hostile_packets=None):
    """The figures that every row has."""
    packets = hostile_packets or gauge.packets("client_in")
    return {"memory_mib": gauge.grown_mib(), "files": gauge.most_files,
            "cpu_us": gauge.cpu_us / packets if packets else None}


def suffered(points):
    """The figures of the honest clients."""
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
    """TCP clients that always have a full pipe of cached queries, and a UDP client beside them."""
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
    """Connections that ask for large answers and read none; then the server closes them."""
    count = 20 if quick else row.amount
    name = framed(query("x.big.evil", TXT))
    where.answers("x.big.evil", TXT)
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
    """Of each connection what the kernel holds for it, in both directions. skmem: r and t are allocated, w is queued."""
    found = []
    for line in lines:
        match = re.search(r"skmem:\(r(\d+),rb\d+,t(\d+),tb\d+,f\d+,w(\d+)", line)
        if match:
            received, sent, queued = (int(one) for one in match.groups())
            found.append(received + max(sent, queued))
    return found


def orphaned_bytes(where):
    """Of connections that the server has closed."""
    return sum(sum(kernel_bytes(where.sockets("state", state))) for state in ("fin-wait-1", "last-ack", "closing"))


def half_sent(where, row, quick):
    """Connections that announce a message of 65,535 bytes and send nearly all of it."""
    count = 100 if quick else row.amount
    message = b"\xff\xff" + framed(query("x.big.evil"))[2:] + b"\0" * 65000
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
    """Connections that send something each second, or nothing, and are worth nothing."""
    good, most_s = query("w1.cached.near0"), 3 if quick else 14
    warm(where, honest.cached())
    behaviours = {
        "nothing": lambda client, count: None,
        "one byte a second": lambda client, count: streams.push(client, framed(good)[count % 8:count % 8 + 1] if count else b"\0"),
        "half a message": lambda client, count: count or streams.push(client, framed(good)[:20]),
        "garbage": lambda client, count: streams.push(client, framed(os.urandom(2) + b"\x01\0\0\1\0\0\0\0\0\0" + b"\x3f" * 30)),
        "trailing bytes": lambda client, count: streams.push(client, framed(good + b"trailing bytes")),
        "another opcode": lambda client, count: streams.push(client, framed(good[:2] + b"\x10\0" + good[4:])),
        "large queries, not read": lambda client, count: streams.push(client, framed(query("x.big.evil", TXT)) * 400),
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


# ---- clients that are refused ----

def refused(where, row, quick):
    """Addresses that access control refuses hold as many connections as they get; 40 allowed clients ask."""
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
    """Random names, each below a zone of its own with 13 silent servers; honest zones that were never seen."""
    seconds, rate, honest_count = (1.5, 300, 10) if quick else (9, row.amount, 68)
    names = write_names(where, "names", [f"q{n}.r{n}.flood.evil A" for n in range(int(seconds * rate) + 10)])
    with arena.Gauge(where.server) as gauge:
        load = where.load("--rate", rate, "--queries", names, "--duration", seconds, "--timeout", 8000,
                          *sources(streams.addresses(8)))
        time.sleep(0.5 if quick else 3)
        beside = honest.Honest([f"{arena.ALLOWED}.1.1"], honest.never_seen(100), honest_count / (seconds / 2), honest_count)
        points = beside.points(is_cut=False)
        report = arena.report_of(load)
    return {**suffered(points), **spent(gauge), "packets": gauge.upstream_packets() / max(1, report["sent"])}
