# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""nailup-bench against real peers: dig, kdig and dnsperf ask the responder, the generators ask it
too, and raw sockets try what no well-behaved client does. Most basic first."""

import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find_bench():
    """NAILUP_BUILD_DIR, or the newest build below build/."""
    named = os.environ.get("NAILUP_BUILD_DIR")
    places = [pathlib.Path(named)] if named else list((ROOT / "build").glob("*")) + [ROOT / "build"]
    found = [p / "bench/nailup-bench" for p in places if (p / "bench/nailup-bench").exists()]
    return str(max(found, key=lambda p: p.stat().st_mtime)) if found else None


BENCH = find_bench()
pytestmark = pytest.mark.skipif(BENCH is None, reason="nailup-bench is not built")


class Served:
    """A nailup-bench command that serves on a free port of 127.0.0.1 until the test is over."""

    def __init__(self, tmp_path, command, *options):
        self.control_path = str(tmp_path / "control.sock")
        args = [BENCH, command, "--listen", "127.0.0.1@0", *options]
        if command == "responder":
            args += ["--control", self.control_path]
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline().split()
        assert ready[0] == "ready"
        self.port = int(ready[1].rpartition("@")[2])
        self.server = ready[1]

    def tell(self, *words):
        done = subprocess.run([BENCH, "control", self.control_path, *words], text=True,
                              capture_output=True, timeout=10)
        return done.stdout.strip()

    def stats(self):
        return json.loads(self.tell("stats"))

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture
def serve(tmp_path):
    started = []

    def start(*options, command="responder"):
        started.append(Served(tmp_path, command, *options))
        return started[-1]

    yield start
    for served in started:
        served.stop()


def run(*args, ok=(0,)):
    done = subprocess.run([BENCH, *args], text=True, capture_output=True, timeout=30)
    assert done.returncode in ok, done.stderr
    return done


def dig(served, *args):
    done = subprocess.run(["dig", "@127.0.0.1", "-p", str(served.port), "+tries=1", "+timeout=2",
                           "+retry=0", *args], text=True, capture_output=True, timeout=10)
    return done.stdout


def query(name="a.example", number=1):
    labels = b"".join(bytes([len(l)]) + l.encode() for l in name.split("."))
    return struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"


def framed(*messages):
    return b"".join(struct.pack(">H", len(m)) + m for m in messages)


class Stream:
    """A TCP client that reads and writes what it is told to."""

    def __init__(self, served):
        self.socket = socket.create_connection(("127.0.0.1", served.port), 5)

    def send(self, *messages):
        self.socket.sendall(framed(*messages))

    def read_id(self):
        """The id of the next answer, None at the end; raises ConnectionResetError, TimeoutError."""
        head = self.read_exactly(2)
        if head is None:
            return None
        message = self.read_exactly(struct.unpack(">H", head)[0])
        return struct.unpack(">H", message[:2])[0]

    def read_exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                return None
            data += part
        return data


@pytest.mark.parametrize("command", ["responder", "transports", "load", "udp-floor", "control"])
def test_help_is_given_and_wrong_use_is_two(command):
    assert command in run(command, "--help").stdout
    assert command in run(command, "--nonsense", ok=(2,)).stderr


@pytest.mark.parametrize("args", [
    ["nonsense"], ["load"], ["load", "--server", "127.0.0.1", "--rate", "0"],
    ["load", "--server", "127.0.0.1", "--queries", "/nonexistent"],
    ["load", "--server", "127.0.0.1", "--max", "--rate", "5"],
    ["responder", "--loss", "101"], ["responder", "--listen", "nowhere"],
    ["transports", "--server", "127.0.0.1", "--only", "carrier-pigeon"]])
def test_a_wrong_value_is_told_in_one_line(args):
    assert len(run(*args, ok=(2,)).stderr.splitlines()) >= 1


def test_dig_gets_the_same_address_over_udp_and_tcp(serve):
    served = serve()
    over_udp = dig(served, "www.example", "+short")
    assert over_udp.startswith("10.")
    assert dig(served, "www.example", "+short", "+tcp") == over_udp


def test_types_and_rcodes_are_as_the_name_says(serve):
    served = serve()
    assert "status: NXDOMAIN" in dig(served, "nx.example")
    assert "status: SERVFAIL" in dig(served, "servfail.example")
    assert "2001:db8" in dig(served, "www.example", "AAAA", "+short")
    assert "target.example" in dig(served, "a.cname.example", "+short")
    assert "Truncated" in dig(served, "big.example", "TXT")
    assert "SOA" in dig(served, "example", "NAPTR")


def test_kdig_is_content_with_cookies_and_keepalive(serve):
    if not shutil.which("kdig"):
        pytest.skip("no kdig")
    served = serve("--cookies", "on", "--keepalive", "123")
    done = subprocess.run(["kdig", "@127.0.0.1", "-p", str(served.port), "+tcp", "+cookie",
                           "+edns", "a.example"], text=True, capture_output=True, timeout=10)
    assert "NOERROR" in done.stdout and "WARNING" not in done.stdout
    assert "COOKIE" in dig(served, "a.example")
    assert "KEEPALIVE: 12.3" in dig(served, "a.example", "+tcp", "+keepalive")


def test_dnsperf_loses_nothing(serve, tmp_path):
    if not shutil.which("dnsperf"):
        pytest.skip("no dnsperf")
    served = serve()
    names = tmp_path / "names"
    names.write_text("".join(f"n{i}.example A\n" for i in range(2000)))
    for mode in ("udp", "tcp"):
        done = subprocess.run(["dnsperf", "-m", mode, "-s", "127.0.0.1", "-p", str(served.port),
                               "-d", str(names), "-n", "1", "-q", "50", "-c", "2"],
                              text=True, capture_output=True, timeout=30)
        assert "Queries completed:    2000" in done.stdout, done.stdout
    stats = served.stats()
    assert (stats["udp_queries"], stats["tcp_queries"]) == (2000, 2000)


def test_a_name_may_ask_for_its_delay_and_others_do_not_wait(serve):
    client = Stream(serve())
    client.send(query("d200.example", 1), query("fast.example", 2))
    assert [client.read_id(), client.read_id()] == [2, 1]


def test_queries_of_one_read_are_answered_in_one_write(serve):
    served = serve()
    client = Stream(served)
    client.send(*[query(number=i) for i in range(50)])
    assert [client.read_id() for _ in range(50)] == list(range(50))
    stats = served.stats()
    assert (stats["tcp_reads"], stats["tcp_writes"], stats["tcp_segments"]) == (1, 1, 1)
    assert stats["tcp_queries_per_read"] == 50


def test_reset_comes_with_the_query_of_that_number(serve):
    client = Stream(serve("--tcp-reset-after", "3"))
    for number in (1, 2):
        client.send(query(number=number))
        assert client.read_id() == number
    client.send(query(number=3))
    with pytest.raises(ConnectionResetError):
        client.read_id()


def test_fin_comes_after_so_many_answers(serve):
    served = serve("--tcp-close-after", "2")
    client = Stream(served)
    client.send(query(number=1), query(number=2))
    assert [client.read_id(), client.read_id(), client.read_id()] == [1, 2, None]
    client.socket.close()
    assert served.stats()["fins_sent"] == 1


def test_an_idle_connection_gets_a_fin(serve):
    client = Stream(serve("--tcp-idle", "50"))
    client.send(query())
    assert client.read_id() == 1
    assert client.read_id() is None


def test_a_stalled_connection_says_nothing_until_it_is_resumed(serve):
    served = serve("--tcp-stall-after", "1")
    client = Stream(served)
    client.send(query(number=1))
    assert client.read_id() == 1
    client.send(query(number=2))
    client.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        client.read_id()
    served.tell("set", "tcp-stall-after", "0")
    assert served.tell("tcp", "resume") == "ok"
    client.send(query(number=3))
    assert client.read_id() == 3


def test_one_shot_answers_only_the_first_query(serve):
    client = Stream(serve("--one-shot-per-connection"))
    client.send(query(number=1), query(number=2))
    assert client.read_id() == 1
    client.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        client.read_id()


def test_silent_tcp_is_connected_and_never_answered(serve):
    served = serve("--tcp-silent")
    client = Stream(served)
    client.send(query(number=1))
    client.socket.settimeout(0.2)
    with pytest.raises(TimeoutError):
        client.read_id()
    served.tell("set", "tcp-silent", "off")
    client.send(query(number=2))
    assert client.read_id() == 2


def test_commands_on_standard_input_are_answered_on_standard_output():
    done = subprocess.run([BENCH, "responder", "--listen", "127.0.0.1@0", "--stdin"], text=True,
                          input="set delay 20\nsettings\nquit\n", capture_output=True, timeout=10)
    ready, ok, settings, bye = done.stdout.splitlines()
    assert (ready[:6], ok, bye, done.returncode) == ("ready ", "ok", "ok", 0)
    assert json.loads(settings)["delay"] == 20


def test_a_full_connection_is_not_read_but_loses_nothing(serve):
    client = Stream(serve("--max-in-flight", "4", "--delay", "5"))
    client.send(*[query(number=i) for i in range(40)])
    assert sorted(client.read_id() for _ in range(40)) == list(range(40))


def test_tcp_goes_off_and_on_while_it_runs(serve):
    served = serve()
    client = Stream(served)
    client.send(query())
    assert client.read_id() == 1
    assert served.tell("tcp", "off") == "ok"
    with pytest.raises(ConnectionResetError):
        client.read_id()
    with pytest.raises(ConnectionRefusedError):
        Stream(served)
    assert dig(served, "a.example", "+short").startswith("10.")
    assert served.tell("tcp", "on") == "ok"
    assert dig(served, "a.example", "+short", "+tcp").startswith("10.")


def test_tcp_may_be_refused_from_the_start(serve):
    with pytest.raises(ConnectionRefusedError):
        Stream(serve("--tcp-refuse"))


def test_settings_change_while_it_runs_and_wrong_ones_are_told(serve):
    served = serve()
    assert served.tell("set", "ttl", "5") == "ok"
    assert "\t5\tIN" in dig(served, "a.example")
    assert served.tell("set", "ttl", "-5").startswith("error:")
    assert served.tell("set", "nonsense", "1").startswith("error:")
    assert served.tell("nonsense").startswith("error:")
    assert json.loads(served.tell("settings"))["ttl"] == 5


def test_many_listeners_are_counted_apart(tmp_path):
    listens = [w for i in range(1, 31) for w in ("--listen", f"127.0.0.{i}@0")]
    process = subprocess.Popen([BENCH, "responder", *listens, "--json"], text=True,
                               stdout=subprocess.PIPE)
    places = process.stdout.readline().split()[1:]
    assert len(places) == 30
    ip, port = places[29].split("@")
    with socket.create_connection((ip, int(port)), 5) as client:
        client.sendall(framed(query()))
        assert client.recv(100)
    process.terminate()
    stats = json.loads(process.communicate(timeout=10)[0])
    assert [part["tcp_queries"] for part in stats["listeners"]] == [0] * 29 + [1]


@pytest.mark.parametrize("garbage", [b"\0\0", b"\0\1x", b"\xff\xff" + b"x" * 70000, b"\0\14" * 300])
def test_garbage_on_a_stream_harms_nobody_else(serve, garbage):
    served = serve()
    client = Stream(served)
    try:
        client.socket.sendall(garbage)
        client.socket.shutdown(socket.SHUT_WR)
        while client.socket.recv(65536):
            pass
    except OSError:
        pass
    other = Stream(served)
    other.send(query())
    assert other.read_id() == 1


def test_a_query_in_single_bytes_is_answered(serve):
    client = Stream(serve())
    for byte in framed(query(number=77)):
        client.socket.sendall(bytes([byte]))
        time.sleep(0.001)
    assert client.read_id() == 77


def test_datagrams_of_garbage_are_survived(serve):
    served = serve()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        for length in (0, 1, 11, 12, 13, 600, 2000, 9000):
            client.sendto(os.urandom(length), ("127.0.0.1", served.port))
    assert dig(served, "a.example", "+short").startswith("10.")


def test_transports_fills_the_table_of_2016(serve):
    served = serve()
    table = run("transports", "--server", served.server, "--queries", "20", "--only",
                "udp,udp-kept,tcp,tcp-kept").stdout.splitlines()
    assert len(table) == 5 and "iterations/s" in table[0]
    rows = json.loads(run("transports", "--server", served.server, "--queries", "20",
                          "--json").stdout)["transports"]
    assert [row["opened"] for row in rows[:4]] == [20, 1, 20, 1]
    assert all(row["failed"] == 0 and row["queries"] == 20 for row in rows[:4])


def test_a_kept_connection_that_is_closed_is_opened_again(serve):
    served = serve("--tcp-close-after", "7")
    rows = json.loads(run("transports", "--server", served.server, "--queries", "21", "--only",
                          "tcp-kept", "--json").stdout)["transports"]
    assert (rows[0]["failed"], rows[0]["opened"]) == (0, 3)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("source", [["--unique"], ["--zipf", "1", "--unique-share", "30"]])
def test_open_load_sends_at_its_rate_and_loses_nothing(serve, transport, source):
    served = serve()
    report = json.loads(run("load", "--server", served.server, "--transport", transport, "--rate",
                            "2000", "--duration", "0.5", *source, "--pid",
                            str(served.process.pid), "--json").stdout)
    assert (report["sent"], report["answered"], report["lost"]) == (1000, 1000, 0)
    assert report["rcodes"] == {"NOERROR": 1000}
    assert report["server_cpu_us_per_query"] > 0
    assert report["latency_us"]["p50"] <= report["latency_us"]["p999"]


def test_saturating_load_counts_what_was_answered(serve):
    served = serve()
    report = json.loads(run("load", "--server", served.server, "--max", "--duration", "0.3",
                            "--transport", "tcp", "--json").stdout)
    assert report["answered"] == report["sent"] == served.stats()["tcp_queries"]


def test_a_query_file_is_asked_in_turn(serve, tmp_path):
    names = tmp_path / "names"
    names.write_text("; comment\na.example A\nnx.example A\n\n")
    report = json.loads(run("load", "--server", serve().server, "--rate", "500", "--duration",
                            "0.2", "--queries", str(names), "--json").stdout)
    assert report["rcodes"] == {"NOERROR": 50, "NXDOMAIN": 50}


def test_loss_is_told_and_nothing_answered_is_an_error(serve):
    served = serve("--loss", "100")
    done = run("load", "--server", served.server, "--rate", "100", "--duration", "0.2",
               "--timeout", "100", "--csv", ok=(1,))
    head, row = (line.split(",") for line in done.stdout.splitlines())
    told = dict(zip(head, row))
    assert (told["sent"], told["answered"], told["lost"]) == ("20", "0", "20")


def test_latency_counts_from_when_a_query_was_due(serve):
    """One query of 50 ms at a time cannot keep up with 100 a second: the wait must show."""
    served = serve("--delay", "50", "--handshake", "off")
    report = json.loads(run("load", "--server", served.server, "--rate", "100", "--duration", "1",
                            "--connections", "1", "--in-flight", "1", "--timeout", "5000",
                            "--json").stdout)
    assert report["answered"] + report["unsent"] == 100
    assert report["latency_us"]["p50"] > 150000


def test_queries_in_flight_when_the_server_closes_are_told(serve):
    served = serve("--tcp-reset-after", "50")
    report = json.loads(run("load", "--server", served.server, "--transport", "tcp", "--rate",
                            "1000", "--duration", "0.5", "--connections", "2", "--json").stdout)
    assert report["reconnects"] > 0 and report["lost_by_close"] > 0
    assert report["answered"] + report["lost_by_close"] + report["lost"] == report["sent"]


@pytest.mark.parametrize("batch", ["1", "64"])
def test_the_floor_answers_every_query_with_one_record(serve, batch):
    served = serve("--batch", batch, command="udp-floor")
    assert dig(served, "a.example", "+short") == "10.0.0.1\n"
    report = json.loads(run("load", "--server", served.server, "--rate", "2000", "--duration",
                            "0.2", "--json").stdout)
    assert report["answered"] == 400
