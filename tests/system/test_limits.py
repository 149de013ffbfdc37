# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Every bound that clients can reach, with badly behaved clients. Most basic first."""

import mmap
import os
import random
import resource
import select
import socket
import time

import pytest

from conftest import BUILD, eventually, program
from peers import Load, Stream, framed, load, query, rcode_of, udp_ask

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

MIB = 1 << 20


def is_served(daemon, source=None, name="served.example"):
    """Returns whether a query is answered over UDP and over TCP."""
    with Stream(daemon, source) as client:
        client.send(query(name, 7))
        over_tcp = client.read()
    over_udp = udp_ask(daemon, query(name, 8), source=source)
    return over_tcp[:2] == b"\0\7" and over_udp[:2] == b"\0\x08"


def is_turned_away(daemon, source=None):
    """Returns whether a new connection is closed before its query is answered."""
    try:
        with Stream(daemon, source) as client:
            client.send(query())
            return client.read() is None
    except ConnectionError:
        return True


def clients_of(daemon):
    return daemon.metrics()["stream_clients"]


# ---- how many ----


def test_no_more_clients_than_allowed(nailupd, responder):
    daemon = nailupd({"server": {"max-clients": 5}}, upstreams=[responder()])
    held = [Stream(daemon) for _ in range(5)]
    eventually(lambda: clients_of(daemon) == 5)
    assert is_turned_away(daemon)
    for number, client in enumerate(held):  # the clients that are connected keep their places
        client.send(query("a.example", number))
        assert rcode_of(client.read()) == 0
    assert rcode_of(udp_ask(daemon, query())) == 0
    held.pop().socket.close()
    eventually(lambda: clients_of(daemon) == 4)
    assert is_served(daemon)
    assert daemon.metrics()['clients_refused_total{reason="full"}'] >= 1
    for client in held:
        client.socket.close()


def test_one_address_cannot_take_all_places(nailupd, responder):
    daemon = nailupd({"server": {"max-clients-per-address": 3}}, upstreams=[responder()],
                     workers=2)
    held = [Stream(daemon, "127.0.0.2") for _ in range(3)]
    eventually(lambda: clients_of(daemon) == 3)
    for _ in range(4):  # every worker may get the connection
        assert is_turned_away(daemon, "127.0.0.2")
        assert is_served(daemon, "127.0.0.3")
    for client in held:
        client.socket.close()
    eventually(lambda: clients_of(daemon) == 0)
    assert is_served(daemon, "127.0.0.2")


def test_queries_beyond_the_limit_of_waiting_ones_are_refused(nailupd, responder):
    daemon = nailupd({"server": {"max-waiting": 10}}, upstreams=[responder("--delay", 1000)])
    with Stream(daemon) as client:
        client.send(*[query(f"n{i}.example", i) for i in range(40)])
        rcodes = [rcode_of(client.read()) for _ in range(40)]
    assert sorted(rcodes) == [0] * 10 + [2] * 30
    assert daemon.status()["in_flight"] == 0


def test_a_thousand_clients_are_held_and_served(nailupd, responder):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2200:
        pytest.skip(f"no more than {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2200), hard))  # the daemon inherits the limit
    daemon = nailupd({"server": {"max-clients-per-address": 2000}}, upstreams=[responder()],
                     workers=2)
    held = [Stream(daemon) for _ in range(1000)]
    eventually(lambda: clients_of(daemon) == 1000)
    for number, client in enumerate(held):
        client.send(query(f"n{number}.example", number))
    for number, client in enumerate(held):
        answer = client.read()
        assert (int.from_bytes(answer[:2], "big"), rcode_of(answer)) == (number, 0)
    assert is_served(daemon)
    for client in held:
        client.socket.close()
    eventually(lambda: clients_of(daemon) == 0, within=10)


# ---- how long ----

SOON = {"server": {"client-idle-timeout": "500ms"}}


def test_an_idle_client_gets_a_fin(nailupd, responder):
    daemon = nailupd(SOON, upstreams=[responder()])
    with Stream(daemon) as silent, Stream(daemon) as asked:
        asked.send(query())
        assert rcode_of(asked.read()) == 0
        assert silent.ended() and asked.ended()  # ended() would raise an exception at a reset
    eventually(lambda: clients_of(daemon) == 0)


def test_a_client_that_asks_now_and_then_stays(nailupd, responder):
    daemon = nailupd(SOON, upstreams=[responder()])
    with Stream(daemon) as client:
        for number in range(8):
            time.sleep(0.15)
            client.send(query("a.example", number))
            assert rcode_of(client.read()) == 0


def test_a_client_that_waits_for_a_slow_answer_is_not_idle(nailupd, responder):
    daemon = nailupd(SOON, upstreams=[responder()])
    with Stream(daemon) as client:
        client.send(query("d1200.example"))
        assert rcode_of(client.read()) == 0


def test_dribbled_bytes_do_not_count_as_a_query(nailupd, responder):
    """Slowloris: a client that sends a byte now and then does not keep its place. Its end is a FIN."""
    daemon = nailupd(SOON, upstreams=[responder()])
    with Stream(daemon) as client:
        message = framed(query("a-name-that-is-quite-long-so-that-it-lasts.example"))
        sent = 0
        while not select.select([client.socket], [], [], 0.1)[0]:
            client.socket.sendall(message[sent:sent + 1])
            sent += 1
            assert sent < len(message), "was never closed"
        assert client.ended()
    assert is_served(daemon)


def test_a_client_that_closes_its_half_still_gets_its_answers(nailupd, responder):
    daemon = nailupd(upstreams=[responder("--delay", 200)])
    with Stream(daemon) as client:
        client.send(*[query(f"n{i}.example", i) for i in range(20)])
        client.socket.shutdown(socket.SHUT_WR)
        assert [rcode_of(client.read()) for _ in range(20)] == [0] * 20
        assert client.ended()


def test_a_client_that_never_reads_is_given_up(nailupd, responder, dig):
    """The memory for such a client is bounded, others are served, and its place becomes free."""
    daemon = nailupd(upstreams=[responder()])
    assert dig(daemon, "big.example", "A", "+tcp").status == "NOERROR"  # an answer of 4 KB, which is cached now
    before = resident_bytes(daemon)
    ask = framed(*[query("big.example", i) for i in range(200)])
    with Stream(daemon, receive_bytes=4096, timeout=1) as client:
        sent = 0
        try:
            while sent < 5000:  # a million queries, whose answers would have 4 GB
                client.socket.sendall(ask)
                sent += 1
        except TimeoutError:
            pass
        assert sent < 5000  # by then the daemon has stopped reading
        assert is_served(daemon)
        assert resident_bytes(daemon) - before < 32 * MIB
        eventually(lambda: clients_of(daemon) == 0, within=25)


def test_many_large_answers_at_once_reach_a_client_that_reads(nailupd, responder):
    """All queries wait for the same upstream. Then one client gets a megabyte of answers in one turn."""
    daemon = nailupd(upstreams=[responder("--delay", 100)])
    with Stream(daemon) as client:
        client.send(*[query("big.example", i) for i in range(250)])
        answers = [client.read() for _ in range(250)]
    assert {rcode_of(answer) for answer in answers} == {0}
    assert sum(map(len, answers)) > 250 * 3000


def test_a_client_with_dropped_answers_gets_a_fin_after_the_others(nailupd, responder):
    daemon = nailupd(upstreams=[responder("--delay", 100)])
    with Stream(daemon, receive_bytes=4096) as client:
        names = [f"big.n{i % 50}.example" for i in range(256)]
        client.send(*[query(name, i) for i, name in enumerate(names)])
        time.sleep(1)
        client.send(*[query("late.example", i) for i in range(100)])
        answers = 0
        try:
            while client.read():
                answers += 1
                if answers == 356:
                    return  # the kernel took all bytes
        except ConnectionResetError:
            pytest.fail(f"a reset after {answers} answers")


def test_clients_that_leave_before_the_answer_harm_no_other(nailupd, responder):
    daemon = nailupd(upstreams=[responder("--delay", 100)], workers=2)
    for i in range(100):
        with Stream(daemon) as client:
            client.send(*[query(f"n{i}-{k}.example", k) for k in range(5)])
            if i % 2:  # half of the clients leave with a reset
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                         b"\1\0\0\0\0\0\0\0")
    eventually(lambda: daemon.status()["in_flight"] == 0 and clients_of(daemon) == 0)
    assert is_served(daemon)


# ---- how much ----

CACHE = 8 * MIB
SLACK = 40 * MIB  # code, libraries, stacks, buffers of sockets, and waiting queries
SANITIZER = 700 * MIB  # AddressSanitizer's shadow memory, and its quarantine of freed memory


def resident_bytes(daemon):
    with open(f"/proc/{daemon.process.pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def is_sanitized():
    with open(program("nailupd"), "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return any(text.find(name) >= 0 for name in (b"__asan_init", b"__tsan_init"))


def test_memory_is_bounded_in_a_flood_of_unique_names(nailupd, responder):
    daemon = nailupd({"cache": {"size": "8MiB"}}, upstreams=[responder()], nailed=True, workers=2)
    load(daemon, "--max", "--in-flight", 50, "--connections", 4, "--duration", 3)
    most = CACHE + SLACK + (SANITIZER if is_sanitized() else 0)
    first = resident_bytes(daemon)
    assert first < most
    load(daemon, "--max", "--in-flight", 50, "--connections", 4, "--duration", 2)
    assert resident_bytes(daemon) < most
    cache = daemon.ask("status")["cache"]
    assert cache["size_bytes"] <= cache["limit_bytes"] == CACHE


def test_a_flood_does_not_evict_popular_names(nailupd, responder):
    upstream = responder()
    daemon = nailupd({"cache": {"size": "2MiB"}}, upstreams=[upstream])
    running = Load(daemon, "--max", "--in-flight", 20, "--connections", 2, "--duration", 2.5)
    while running.process.poll() is None:
        assert udp_ask(daemon, query("popular.example")) is not None
        time.sleep(0.005)
    running.end()
    reported = daemon.metrics()
    if reported["cache_evictions_total"] == 0:
        pytest.skip("this machine is too slow to fill the cache")
    before = reported["cache_hits_total"]
    assert udp_ask(daemon, query("popular.example")) is not None
    assert daemon.metrics()["cache_hits_total"] == before + 1


# ---- how odd ----


def mutated(rng):
    message = bytearray(query(f"n{rng.randrange(1000)}.example", rng.randrange(65536)))
    for _ in range(rng.randrange(1, 6)):
        message[rng.randrange(len(message))] = rng.randrange(256)
    return bytes(message[:rng.randrange(len(message) + 1)] if rng.random() < 0.3 else message)


def test_a_second_of_junk_datagrams_is_survived(nailupd, responder):
    daemon = nailupd(upstreams=[responder()], workers=2)
    rng = random.Random(2016)
    until = time.monotonic() + 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((daemon.ip, daemon.port))
        client.setblocking(False)
        while time.monotonic() < until:
            for _ in range(20):
                junk = rng.randbytes(rng.randrange(600)) if rng.random() < 0.5 else mutated(rng)
                try:
                    client.send(junk)
                    client.recv(4096)
                except OSError:
                    pass
            time.sleep(0.001)
    eventually(lambda: udp_ask(daemon, query("after.example"), timeout=1))
    assert is_served(daemon)


def test_junk_on_streams_is_survived(nailupd, responder):
    daemon = nailupd(upstreams=[responder()], workers=2)
    rng = random.Random(7766)
    for _ in range(60):
        with Stream(daemon, timeout=0.05) as client:
            try:
                if rng.random() < 0.5:
                    client.socket.sendall(rng.randbytes(rng.randrange(3000)))
                else:
                    client.send(*[mutated(rng) for _ in range(20)])
                client.socket.recv(65536)
            except OSError:
                pass
    assert is_served(daemon)
    eventually(lambda: clients_of(daemon) == 0)


def test_queries_split_at_every_byte_are_answered(nailupd, responder):
    daemon = nailupd(upstreams=[responder()])
    message = framed(query("split.example", 77))
    with Stream(daemon) as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for cut in range(1, len(message)):
            client.socket.sendall(message[:cut])
            time.sleep(0.001)
            client.socket.sendall(message[cut:])
            assert client.read()[:2] == b"\0\x4d"


def test_the_largest_message_is_read_and_gets_formerr(nailupd, responder):
    daemon = nailupd(upstreams=[responder()])
    with Stream(daemon) as client:
        client.send(query() + os.urandom(65535 - len(query())), query("next.example", 2))
        numbers = {client.read()[:2], client.read()[:2]}
    assert b"\0\2" in numbers
