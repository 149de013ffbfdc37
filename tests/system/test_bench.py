# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""nailup-bench against real peers: dig, kdig and dnsperf query the responder, the generators do so as well, and raw
sockets misbehave as no client should. Most basic first."""

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import termios
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find_bench():
    """Returns NAILUP_BUILD_DIR, or else the newest build below build/."""
    named = os.environ.get("NAILUP_BUILD_DIR")
    places = [pathlib.Path(named)] if named else list((ROOT / "build").glob("*")) + [ROOT / "build"]
    found = [p / "bench/nailup-bench" for p in places if (p / "bench/nailup-bench").exists()]
    return str(max(found, key=lambda p: p.stat().st_mtime)) if found else None


BENCH = find_bench()
pytestmark = pytest.mark.skipif(BENCH is None, reason="nailup-bench is not built")


class Served:
    """A command of nailup-bench that serves on a free port of 127.0.0.1 until the test ends."""

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
        if "--listen-tls" in options:
            _, self.tls_server, _, self.pin = self.process.stdout.readline().split()
            self.tls_port = int(self.tls_server.rpartition("@")[2])
            self.ca = options[options.index("--tls-ca-file") + 1]

    def tell(self, *words):
        done = subprocess.run([BENCH, "control", self.control_path, *words], text=True,
                              capture_output=True, timeout=10)
        return done.stdout.strip()

    def stats(self):
        return json.loads(self.tell("stats"))

    def stop(self):
        self.process.terminate()
        code = self.process.wait(10)
        self.process.stdout.close()
        assert code in (0, -15)  # a sanitizer would exit with another code; udp-floor does not handle signals


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
    """A TCP client that makes exactly the reads and writes of the test."""

    def __init__(self, served):
        self.socket = socket.create_connection(("127.0.0.1", served.port), 5)

    def send(self, *messages):
        self.socket.sendall(framed(*messages))

    def read_id(self):
        """Returns the id of the next answer, or None if the stream has ended. Raises ConnectionResetError,
        TimeoutError."""
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


@pytest.mark.parametrize("command", ["responder", "transports", "load", "udp-floor", "cable", "control"])
def test_help_is_given_and_wrong_use_is_two(command):
    assert command in run(command, "--help").stdout
    assert command in run(command, "--nonsense", ok=(2,)).stderr


@pytest.mark.parametrize("args", [
    ["nonsense"], ["load"], ["load", "--server", "127.0.0.1", "--rate", "0"],
    ["load", "--server", "127.0.0.1", "--queries", "/nonexistent"],
    ["load", "--server", "127.0.0.1", "--max", "--rate", "5"],
    ["responder", "--loss", "101"], ["responder", "--listen", "nowhere"],
    ["transports", "--server", "127.0.0.1", "--only", "carrier-pigeon"]])
def test_a_wrong_value_is_reported_in_one_line(args):
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


def test_fin_comes_after_the_set_number_of_answers(serve):
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


def test_a_stalled_connection_is_silent_until_it_resumes(serve):
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


def test_in_a_hole_nothing_is_acknowledged_until_it_is_resumed(serve):
    served = serve()
    client = Stream(served)
    client.send(query(number=1))
    assert client.read_id() == 1
    assert served.tell("tcp", "hole") == "ok"
    client.send(query(number=2))
    client.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        client.read_id()
    assert unacknowledged(client.socket) > 0
    with socket.socket() as dialler:
        dialler.settimeout(0.3)
        with pytest.raises(TimeoutError):
            dialler.connect(("127.0.0.1", served.port))
    assert served.tell("tcp", "resume") == "ok"
    client.socket.settimeout(30)  # the kernel repeats the lost bytes
    assert client.read_id() == 2
    other = Stream(served)
    other.send(query(number=3))
    assert other.read_id() == 3


def test_a_lost_connection_is_half_open_while_others_are_served(serve):
    served = serve()
    client = Stream(served)
    client.send(query(number=1))
    assert client.read_id() == 1
    assert served.tell("tcp", "lose") == "ok"
    client.send(query(number=2))
    other = Stream(served)
    other.send(query(number=3))
    assert other.read_id() == 3
    assert unacknowledged(client.socket) > 0
    assert served.tell("tcp", "resume") == "ok"
    with pytest.raises(ConnectionResetError):
        client.read_id()
    other.send(query(number=4))
    assert other.read_id() == 4


def unacknowledged(client):
    """Returns how many bytes the other side's kernel has not acknowledged (SIOCOUTQ)."""
    left = fcntl.ioctl(client, termios.TIOCOUTQ, b"\0\0\0\0")
    return int.from_bytes(left, sys.byteorder)


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


def test_tcp_is_switched_off_and_on_at_run_time(serve):
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


def test_settings_change_at_run_time_and_wrong_ones_are_refused(serve):
    served = serve()
    assert served.tell("set", "ttl", "5") == "ok"
    assert "\t5\tIN" in dig(served, "a.example")
    assert served.tell("set", "ttl", "-5").startswith("error:")
    assert served.tell("set", "nonsense", "1").startswith("error:")
    assert served.tell("nonsense").startswith("error:")
    assert json.loads(served.tell("settings"))["ttl"] == 5


def test_a_hierarchy_is_followed_from_its_root(tmp_path):
    levels = {"root": ["127.0.4.1"], "tld": ["127.0.4.2"], "near": ["127.0.4.65", "127.0.4.66"],
              "far": ["127.0.4.3", "127.0.4.4"]}
    words = [word for level, ips in levels.items()
             for word in ("--level", level, *(w for ip in ips for w in ("--listen", f"{ip}@0")))]
    with subprocess.Popen([BENCH, "responder", *words], stdout=subprocess.PIPE, text=True) as process:
        try:
            servers = dict(word.split("@") for word in process.stdout.readline().split()[1:])
            ip, name, asked = "127.0.4.1", "www.sub1.z1.near", []
            while len(asked) < 4:
                answer = subprocess.run(["dig", f"@{ip}", "-p", servers[ip], name, "A", "+norec", "+noall", "+answer",
                                         "+additional", "+time=5"], capture_output=True, text=True, timeout=30,
                                        check=True).stdout.splitlines()
                answer = [line for line in answer if not line.startswith(";") and line]
                asked.append(ip)
                ip = answer[-1].split()[-1]
            assert asked == ["127.0.4.1", "127.0.4.2", "127.0.4.65", "127.0.4.66"]
            assert answer[0].split()[0] == f"{name}." and ip.startswith("10.")
        finally:
            process.terminate()


@pytest.mark.parametrize("words, sentence", [
    (["--level", "roof"], "takes root, tld, near, far or none"),
    (["--level", "root", "--listen", "127.0.0.1@0"], "for tld"),
    (["--level", "root", "--listen", "::1@0"], "IPv4"),
])
def test_a_hierarchy_that_lacks_something_is_refused(words, sentence):
    done = subprocess.run([BENCH, "responder", *words], capture_output=True, text=True, timeout=10)
    assert done.returncode == 2
    assert sentence in done.stderr


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
def test_garbage_on_a_stream_harms_no_other_client(serve, garbage):
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


def test_the_load_watches_a_cpu(serve):
    served, cpu = serve(), min(os.sched_getaffinity(0))
    report = json.loads(run("load", "--server", served.server, "--rate", "500", "--duration", "0.3",
                            "--watch-cpu", str(cpu), "--json").stdout)
    assert 0 <= report["watched_cpu_stopped_us"] < 300000
    done = run("load", "--server", served.server, "--watch-cpu", "1023", ok=(2,))
    assert "may not use CPU 1023" in done.stderr


def test_saturating_load_counts_answered_queries(serve):
    served = serve()
    report = json.loads(run("load", "--server", served.server, "--max", "--duration", "0.3",
                            "--transport", "tcp", "--json").stdout)
    assert report["answered"] == report["sent"] == served.stats()["tcp_queries"]


def write_capture(path, names):
    """Writes a file as tcpdump -w does for a raw interface: UDP queries to port 53, and one to another port."""
    packets = []
    for port, name in [(5353, "nx.example"), *((53, name) for name in names)]:
        message = query(name)
        datagram = struct.pack(">4H", 40000, port, 8 + len(message), 0) + message
        packets.append(struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(datagram), 0, 0, 64, 17, 0, 1, 2) + datagram)
    path.write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 101) +
                     b"".join(struct.pack("<4I", 0, 0, len(one), len(one)) + one for one in packets))


def to_pcapng(path):
    """Converts a file of write_capture() to pcapng: a section, an interface, and a block for each packet."""
    def block(kind, body):
        size = struct.pack("<I", 12 + len(body))
        return struct.pack("<I", kind) + size + body + size

    rest, blocks = path.read_bytes()[24:], [block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)),
                                            block(1, struct.pack("<HHI", 101, 0, 262144))]
    while rest:
        size, = struct.unpack_from("<I", rest, 8)
        blocks.append(block(6, struct.pack("<5I", 0, 0, 0, size, size) + rest[16:16 + size] + bytes(-size % 4)))
        rest = rest[16 + size:]
    path.write_bytes(b"".join(blocks))


def test_a_capture_of_wireshark_is_asked_in_turn(serve, tmp_path):
    write_capture(tmp_path / "a.pcapng", ["a.example", "nx.example"])
    to_pcapng(tmp_path / "a.pcapng")
    report = json.loads(run("load", "--server", serve().server, "--rate", "500", "--duration", "0.2",
                            "--pcap", str(tmp_path / "a.pcapng"), "--json").stdout)
    assert report["lost"] == 0 and report["rcodes"]["NOERROR"] == report["rcodes"]["NXDOMAIN"] > 0


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_capture_is_asked_in_turn(serve, tmp_path, transport):
    write_capture(tmp_path / "a.pcap", ["a.example", "nx.example"])
    report = json.loads(run("load", "--server", serve().server, "--rate", "500", "--duration", "0.2", "--transport",
                            transport, "--pcap", str(tmp_path / "a.pcap"), "--json").stdout)
    assert report["lost"] == 0 and report["rcodes"]["NOERROR"] == report["rcodes"]["NXDOMAIN"]


def test_a_capture_that_cannot_be_read_is_refused_with_a_remedy(tmp_path):
    capture = tmp_path / "a.pcap"
    write_capture(capture, ["a.example"])
    whole = capture.read_bytes()
    for content, remedy in [(whole[:-1], "after 1 packets: it ends within a packet"), (b"a.example A\n", "tcpdump -w"),
                            (b"\x0a\x0d\x0d\x0a" + whole, "the file is damaged"), (whole[:24], "no packet is a query")]:
        capture.write_bytes(content)
        said = run("load", "--server", "127.0.0.1", "--pcap", str(capture), ok=(2,)).stderr
        assert str(capture) in said and remedy in said
    assert "one of" in run("load", "--server", "127.0.0.1", "--pcap", "-", "--unique", ok=(2,)).stderr


def test_a_query_file_is_asked_in_turn(serve, tmp_path):
    names = tmp_path / "names"
    names.write_text("; comment\na.example A\nnx.example A\n\n")
    report = json.loads(run("load", "--server", serve().server, "--rate", "500", "--duration",
                            "0.2", "--queries", str(names), "--json").stdout)
    assert report["rcodes"] == {"NOERROR": 50, "NXDOMAIN": 50}


def test_loss_is_reported_and_no_answer_at_all_is_an_error(serve):
    served = serve("--loss", "100")
    done = run("load", "--server", served.server, "--rate", "100", "--duration", "0.2",
               "--timeout", "100", "--csv", ok=(1,))
    head, row = (line.split(",") for line in done.stdout.splitlines())
    reported = dict(zip(head, row))
    assert (reported["sent"], reported["answered"], reported["lost"]) == ("20", "0", "20")


def test_latency_counts_from_when_a_query_was_due(serve):
    """A single query at a time that takes 50 ms cannot keep up with 100 a second, so latencies must include the
    wait."""
    served = serve("--delay", "50", "--handshake", "off")
    report = json.loads(run("load", "--server", served.server, "--rate", "100", "--duration", "1",
                            "--connections", "1", "--in-flight", "1", "--timeout", "5000",
                            "--json").stdout)
    assert report["answered"] + report["unsent"] == 100
    assert report["latency_us"]["p50"] > 150000


def test_queries_in_flight_when_the_server_closes_are_counted(serve):
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


@pytest.fixture
def serve_tls(serve, tmp_path):
    """Serves as serve() does, but with a TLS listener, and with the authority in a file."""
    return lambda *options: serve("--listen-tls", "127.0.0.1@0", "--tls-ca-file",
                                  str(tmp_path / "ca.pem"), *options)


def report_missing_notify(context):
    """Makes a missing close_notify an error. With this flag on, Debian's Python accepts it."""
    context.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 1 << 7)
    return context


class TlsStream(Stream):
    """A client that verifies the responder strictly."""

    def __init__(self, served, name="responder.test", version=None, session=None, context=None,
                 ragged=True):
        self.context = context or ssl.create_default_context(cafile=served.ca)
        report_missing_notify(self.context)
        self.context.set_alpn_protocols(["dot"])
        if version:
            self.context.minimum_version = self.context.maximum_version = version
        plain = socket.create_connection(("127.0.0.1", served.tls_port), 5)
        with contextlib.ExitStack() as undo:
            undo.push(plain)
            self.socket = self.context.wrap_socket(plain, server_hostname=name, session=session,
                                                   suppress_ragged_eofs=ragged)
            undo.pop_all()

    def ask(self, *names):
        self.send(*[query(name, number) for number, name in enumerate(names, 1)])
        return [self.read_id() for _ in names]


RESET = (ConnectionResetError, ssl.SSLError)  # Python may report a reset under TLS as either error
VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["responder.test", "127.0.0.1"])
def test_tls_shows_a_certificate_for_its_name_and_address(serve_tls, version, name):
    served = serve_tls()
    client = TlsStream(served, name, version)
    assert client.ask("a.example", "b.example") == [1, 2]
    assert client.socket.selected_alpn_protocol() == "dot"
    client.socket.unwrap()
    stats = served.stats()
    assert (stats["tls_handshakes_full"], stats["tls_handshakes_resumed"]) == (1, 0)
    assert stats["tls_version_1_2"] == (version == VERSIONS[0])
    assert stats["tls_with_sni"] == (name == "responder.test")
    assert (stats["tls_queries"], stats["tcp_queries"], stats["tls_alpn_dot"]) == (2, 0, 1)
    assert stats["listeners"][1]["tls_last_sni"] == (name if stats["tls_with_sni"] else "")


def test_tls_may_have_another_name(serve_tls):
    assert TlsStream(serve_tls("--tls-name", "ns.test"), "ns.test").ask("a.example") == [1]


def test_without_alpn_a_client_is_served(serve_tls):
    served = serve_tls()
    context = ssl.create_default_context(cafile=served.ca)
    with socket.create_connection(("127.0.0.1", served.tls_port), 5) as plain, \
            context.wrap_socket(plain, server_hostname="responder.test") as client:
        client.sendall(framed(query()))
        assert client.recv(1) and client.selected_alpn_protocol() is None
    assert served.stats()["tls_alpn_dot"] == 0


def spki_pin(served):
    """Computes the pin of the presented certificate in another way than the program."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    client = TlsStream(served, context=context)
    pem = ssl.DER_cert_to_PEM_cert(client.socket.getpeercert(True))
    key = subprocess.run(["openssl", "x509", "-pubkey", "-noout"], input=pem.encode(),
                         capture_output=True, check=True).stdout
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=key,
                         capture_output=True, check=True).stdout
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


def test_the_pin_is_reported_and_another_key_has_another(serve_tls):
    served = serve_tls()
    assert spki_pin(served) == served.pin
    served.tell("set", "tls-identity", "expired")
    assert spki_pin(served) == served.pin
    served.tell("set", "tls-identity", "other-key")
    assert spki_pin(served) != served.pin


@pytest.mark.parametrize("identity,sentence", [
    ("expired", "expired"), ("future", "not yet valid"), ("other-name", "mismatch"),
    ("self-signed", "self-signed|self signed")])
def test_a_bad_certificate_is_refused_by_verifying_clients(serve_tls, identity, sentence):
    served = serve_tls("--tls-identity", identity)
    with pytest.raises(ssl.SSLCertVerificationError, match=sentence):
        TlsStream(served)
    assert served.tell("set", "tls-identity", "good") == "ok"
    assert TlsStream(served).ask("a.example") == [1]


def test_a_certificate_may_be_given(serve_tls, tmp_path):
    key, certificate = str(tmp_path / "own.key"), str(tmp_path / "own.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
                    certificate, "-subj", "/CN=own.test", "-addext", "subjectAltName=DNS:own.test"],
                   check=True, capture_output=True)
    served = serve_tls("--tls-certificate", certificate, "--tls-key", key)
    context = ssl.create_default_context(cafile=certificate)
    assert TlsStream(served, "own.test", context=context).ask("a.example") == [1]
    assert spki_pin(served) == served.pin
    done = run("responder", "--listen-tls", "127.0.0.1@0", "--tls-certificate", key, "--tls-key", key,
               ok=(1,))
    assert "no certificate in" in done.stderr
    run("responder", "--listen-tls", "127.0.0.1@0", "--tls-key", key, ok=(2,))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_ticket_resumes_until_it_is_forgotten(serve_tls, version):
    served = serve_tls()
    first = TlsStream(served, version=version)
    assert first.ask("a.example") == [1]
    for resumed in (True, True, False):
        again = TlsStream(served, context=first.context, session=first.socket.session)
        assert again.ask("a.example") == [1]
        assert again.socket.session_reused == resumed
        if served.stats()["tls_handshakes_resumed"] == 2:
            assert served.tell("tls", "forget") == "ok"
    stats = served.stats()
    assert (stats["tls_handshakes_full"], stats["tls_handshakes_resumed"]) == (2, 2)
    assert stats["tls_tickets_reused"] == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_without_tickets_nothing_is_resumed(serve_tls, version):
    served = serve_tls("--tls-tickets", "0")
    first = TlsStream(served, version=version)
    assert first.ask("a.example") == [1]
    again = TlsStream(served, context=first.context, session=first.socket.session)
    assert again.ask("a.example") == [1] and not again.socket.session_reused


def test_a_version_may_be_refused(serve_tls):
    served = serve_tls("--tls-version", "1.2")
    with pytest.raises(ssl.SSLError, match="protocol version"):
        TlsStream(served, version=ssl.TLSVersion.TLSv1_3)
    served.tell("set", "tls-version", "1.3")
    with pytest.raises(ssl.SSLError, match="protocol version"):
        TlsStream(served, version=ssl.TLSVersion.TLSv1_2)
    assert TlsStream(served).socket.version() == "TLSv1.3"


@pytest.mark.parametrize("reply,error", [
    ("silent", TimeoutError), ("half", TimeoutError), ("garbage", ssl.SSLError),
    ("alert", ssl.SSLError), ("close", (ssl.SSLError, ConnectionResetError)),
    ("reset", ConnectionResetError)])
def test_a_handshake_goes_wrong_as_configured(serve_tls, reply, error):
    served = serve_tls("--tls-reply", reply)
    plain = socket.create_connection(("127.0.0.1", served.tls_port), 0.4)
    context = report_missing_notify(ssl.create_default_context(cafile=served.ca))
    with plain, pytest.raises(error):
        context.wrap_socket(plain, server_hostname="responder.test")
    assert served.stats()["tls_handshakes_failed"] == 1
    served.tell("set", "tls-reply", "handshake")
    assert TlsStream(served).ask("a.example") == [1]


def test_alpn_may_be_missing_or_refused(serve_tls):
    served = serve_tls("--tls-alpn", "none")
    client = TlsStream(served)
    assert client.socket.selected_alpn_protocol() is None and client.ask("a.example") == [1]
    served.tell("set", "tls-alpn", "refuse")
    with pytest.raises(ssl.SSLError, match="no application protocol"):
        TlsStream(served)


def test_a_wrong_alpn_is_chosen_on_request(serve_tls):
    served = serve_tls("--tls-alpn", "wrong")
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{served.tls_port}",
                           "-alpn", "dot,http/1.1"], input="", text=True, capture_output=True,
                          timeout=10)
    assert "ALPN protocol: http/1.1" in done.stdout


def test_a_late_alert_comes_after_the_handshake(serve_tls, tmp_path):
    client_file = str(tmp_path / "client.pem")
    served = serve_tls("--tls-late-alert", "--tls-client-file", client_file)
    assert os.stat(client_file).st_mode & 0o777 == 0o600
    client = TlsStream(served, version=ssl.TLSVersion.TLSv1_3)  # the handshake succeeds
    with pytest.raises(ssl.SSLError, match="certificate required"):
        client.read_exactly(2)
    context = ssl.create_default_context(cafile=served.ca)
    context.load_cert_chain(client_file)
    assert TlsStream(served, context=context).ask("a.example") == [1]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("notify", ["on", "off"])
def test_a_close_comes_with_close_notify_or_without(serve_tls, notify, version):
    served = serve_tls("--tcp-close-after", "1", "--tls-notify", notify)
    client = TlsStream(served, version=version, ragged=False)
    assert client.ask("a.example") == [1]
    if notify == "on":
        assert client.socket.recv(1) == b""
        client.socket.unwrap()
    else:
        with pytest.raises(ssl.SSLError, match="(?i)eof"):
            client.socket.recv(1)
    client.socket.close()
    wait_for(lambda: served.stats()["connections_open"] == 0)
    assert served.stats()["tls_closed_with_notify"] == (notify == "on")


def wait_for(check):
    for _ in range(500):
        if check():
            return
        time.sleep(0.01)
    assert check()


def test_queries_of_one_record_are_answered_in_one_write(serve_tls):
    served = serve_tls()
    client = TlsStream(served)
    assert client.ask(*["a.example"] * 50) == list(range(1, 51))
    stats = served.stats()
    assert (stats["tls_reads"], stats["tls_writes"], stats["tls_queries"]) == (1, 1, 50)


def test_a_hundred_thousand_bytes_of_queries_pass_over_tls(serve_tls):
    served = serve_tls("--max-in-flight", "20", "--delay", "1")
    client = TlsStream(served)
    assert sorted(client.ask(*["a-name-of-some-length.example.net"] * 2000)) == \
        list(range(1, 2001))


def test_commands_for_tcp_work_for_tls(serve_tls):
    served = serve_tls("--tcp-reset-after", "2")
    client = TlsStream(served, ragged=False)
    assert client.ask("a.example") == [1]
    with pytest.raises(RESET):
        client.ask("b.example")
    assert served.stats()["resets_sent"] == 1
    served.tell("set", "tcp-reset-after", "0")
    served.tell("set", "tcp-close-after", "2")
    assert TlsStream(served).ask("a.example", "b.example", "c.example") == [1, 2, 3]
    served.tell("set", "tcp-close-after", "0")
    served.tell("set", "tcp-idle", "50")
    client = TlsStream(served)
    assert client.ask("a.example") == [1] and client.read_id() is None
    served.tell("set", "tcp-idle", "0")
    client = TlsStream(served)
    assert client.ask("d100.a.example", "b.example") == [2, 1]
    client.send(query("stall.example", 9), query("a.example", 10))
    client.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        client.read_id()


@pytest.mark.parametrize("open_stream", [Stream, TlsStream])
def test_half_an_answer_is_followed_by_silence(serve_tls, open_stream):
    client = open_stream(serve_tls())
    client.send(query("half.example"))
    head = client.read_exactly(2)
    half = struct.unpack(">H", head)[0] // 2
    assert len(client.read_exactly(half)) == half
    client.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        client.socket.recv(1)


@pytest.mark.parametrize("open_stream", [Stream, TlsStream])
def test_dribbled_bytes_make_whole_answers(serve_tls, open_stream):
    client = open_stream(serve_tls("--dribble"))
    client.send(query("big.example"), query("a.example", 2))
    assert [client.read_id(), client.read_id()] == [1, 2]


@pytest.mark.parametrize("open_stream", [Stream, TlsStream])
def test_dribbled_answers_leave_before_the_fin(serve_tls, open_stream):
    client = open_stream(serve_tls("--dribble"))
    client.send(query("a.example"), query("close.example", 2))
    assert [client.read_id(), client.read_id()] == [1, None]


@pytest.mark.parametrize("version", VERSIONS)
def test_keys_are_renewed_on_request(serve_tls, version):
    served = serve_tls()
    client = TlsStream(served, version=version)
    assert client.ask("a.example") == [1]
    assert served.tell("tls", "renew") == "ok"
    if version == ssl.TLSVersion.TLSv1_3:
        assert client.ask("a.example", "b.example") == [1, 2]


def test_tls_is_switched_off_and_on_alone(serve_tls):
    served = serve_tls()
    client, plain = TlsStream(served), Stream(served)
    assert client.ask("a.example") == [1]
    assert served.tell("tls", "off") == "ok"
    with pytest.raises(RESET):
        client.ask("a.example")
    with pytest.raises(ConnectionRefusedError):
        TlsStream(served)
    plain.send(query())
    assert plain.read_id() == 1
    assert served.tell("tls", "on") == "ok"
    assert TlsStream(served).ask("a.example") == [1]
    assert served.tell("tcp", "forget").startswith("error:")


def test_connections_report_their_handshake(serve_tls):
    served = serve_tls()
    client = TlsStream(served)
    assert client.ask("a.example") == [1]
    seen = json.loads(served.tell("connections"))[0]
    assert (seen["tls"], seen["handshake"], seen["alpn"], seen["sni"]) == \
        ("1.3", "full", "dot", "responder.test")


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\xff\xff" + b"x" * 70000, b"\0\14" * 300,
                                     b"\x16\x03\x03\0\5\1\0\0\1\0", b"\x80\0\1"])
def test_garbage_at_the_tls_listener_harms_no_other_client(serve_tls, garbage):
    served = serve_tls()
    with socket.create_connection(("127.0.0.1", served.tls_port), 5) as client, \
            contextlib.suppress(OSError):
        client.sendall(garbage)
        client.shutdown(socket.SHUT_WR)
        while client.recv(65536):
            pass
    assert TlsStream(served).ask("a.example") == [1]
    assert served.stats()["tls_handshakes_full"] == 1


def test_kdig_is_content_with_the_responder(serve_tls):
    if not shutil.which("kdig"):
        pytest.skip("no kdig")
    served = serve_tls()
    done = subprocess.run(["kdig", "@127.0.0.1", "-p", str(served.tls_port), f"+tls-ca={served.ca}",
                           "+tls-hostname=responder.test", f"+tls-pin={served.pin}", "a.example"],
                          text=True, capture_output=True, timeout=10)
    assert "NOERROR" in done.stdout and "WARNING" not in done.stdout
    assert served.stats()["tls_queries_padded"] == 1


DOT = ["dot12", "dot13", "dot12-resumed", "dot13-resumed", "dot13-early", "dot-kept"]


def transports(served, *options, ok=(0,)):
    done = run("transports", "--server", served.server, "--tls-server", served.tls_server,
               "--queries", "6", "--rounds", "2", "--json", *options, ok=ok)
    return {row["transport"]: row for row in json.loads(done.stdout)["transports"]}


def test_transports_measures_tls_in_all_its_forms(serve_tls):
    served = serve_tls("--tls-early-data", "on")
    rows = transports(served, "--tls-ca-file", served.ca, "--tls-name", "responder.test")
    assert all(row["failed"] == 0 and row["queries"] == 6 for row in rows.values())
    assert [rows[name]["opened"] for name in DOT] == [6, 6, 6, 6, 6, 1]
    assert [rows[name]["handshakes_full"] for name in DOT] == [6, 6, 0, 0, 0, 1]
    assert [rows[name]["handshakes_resumed"] for name in DOT] == [0, 0, 6, 6, 6, 0]
    assert rows["dot13-early"]["early"] == 6
    assert served.stats()["tls_early_queries"] == 6


def test_rejected_early_data_is_asked_again(serve_tls):
    served = serve_tls("--tls-early-data", "reject")
    row = transports(served, "--only", "dot13-early")["dot13-early"]
    assert (row["failed"], row["early"], row["handshakes_resumed"]) == (0, 0, 6)


def test_an_unavailable_transport_says_why_and_stops_no_other(serve_tls):
    served = serve_tls("--tls-tickets", "0", "--tls-version", "1.2")
    rows = transports(served)
    assert "protocol version" in rows["dot13"]["refused"]
    assert "no ticket" in rows["dot12-resumed"]["refused"]
    assert rows["dot12"]["queries"] == rows["dot-kept"]["queries"] == rows["udp"]["queries"] == 6
    wrong = transports(served, "--only", "udp,dot12", "--tls-ca-file", served.ca, "--tls-name", "x.test")
    assert "mismatch" in wrong["dot12"]["refused"] and "refused" not in wrong["udp"]
    served.tell("tls", "off")
    table = run("transports", "--server", served.server, "--tls-server", served.tls_server,
                "--queries", "5", "--only", "udp,dot13").stdout
    assert "connection refused" in table


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_load_over_tls_loses_nothing(serve_tls, version):
    served = serve_tls()
    report = json.loads(run("load", "--server", served.tls_server, "--transport", "tls", "--rate",
                            "1000", "--duration", "0.5", "--connections", "3", "--tls-ca-file",
                            served.ca, "--tls-version", version, "--json").stdout)
    assert (report["sent"], report["answered"], report["lost"]) == (500, 500, 0)
    assert report["tls"]["handshakes_full"] + report["tls"]["handshakes_resumed"] == 3
    assert report["transport"] == "tls"


@pytest.mark.parametrize("transport", ["tcp", "tls"])
def test_saturating_load_sends_in_batches(serve_tls, transport):
    served = serve_tls()
    server = served.tls_server if transport == "tls" else served.server
    report = json.loads(run("load", "--server", server, "--max", "--duration", "0.3",
                            "--transport", transport, "--in-flight", "32", "--json").stdout)
    stats = served.stats()
    assert report["answered"] == report["sent"] == stats[f"{transport}_queries"]
    assert report["queries_per_write"] > 4 and stats[f"{transport}_queries_per_read"] > 4


def test_load_resumes_when_the_server_has_closed(serve_tls):
    served = serve_tls("--tcp-close-after", "50")
    report = json.loads(run("load", "--server", served.tls_server, "--transport", "tls", "--rate",
                            "500", "--duration", "1", "--connections", "1", "--json").stdout)
    assert report["reconnects"] > 0
    assert report["tls"]["handshakes_full"] == 1
    assert report["tls"]["handshakes_resumed"] == report["reconnects"]
    report = json.loads(run("load", "--server", served.tls_server, "--transport", "tls", "--rate",
                            "500", "--duration", "1", "--connections", "1", "--tls-resume", "off",
                            "--json").stdout)
    assert report["tls"]["handshakes_resumed"] == 0


def test_load_reports_a_failed_verification(serve_tls):
    served = serve_tls("--tls-identity", "self-signed")
    done = run("load", "--server", served.tls_server, "--transport", "tls", "--duration", "0.2",
               "--tls-ca-file", served.ca, "--json", ok=(1,))
    assert "self-signed" in done.stderr or "self signed" in done.stderr
    assert json.loads(done.stdout)["tls"]["handshakes_failed"] > 0
    assert served.stats()["tls_queries"] == 0


@pytest.mark.parametrize("transport", ["tcp", "tls"])
def test_idle_connections_are_held_and_counted(serve_tls, transport):
    served = serve_tls()
    server = served.tls_server if transport == "tls" else served.server
    process = subprocess.Popen([BENCH, "load", "--server", server, "--transport", transport,
                                "--idle-connections", "100", "--duration", "3", "--json"],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "standing 100\n"
    assert served.stats()["connections_open"] == 100
    assert served.tell(transport, "reset") == "ok"
    idle = json.loads(process.communicate(timeout=20)[0])["idle"]
    assert idle == {"wanted": 100, "standing": 0, "failed": 0, "closed": 100}
    assert process.returncode == 1


def test_idle_connections_stay_open_beside_a_load(serve_tls):
    served = serve_tls()
    report = json.loads(run("load", "--server", served.tls_server, "--transport", "tls",
                            "--idle-connections", "20", "--rate", "200", "--duration", "0.5",
                            "--json").stdout)
    assert report["idle"]["standing"] == 20 and report["answered"] == 100
    run("load", "--server", served.server, "--idle-connections", "5", ok=(2,))
