# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""nailup-bench replay: it plays a capture with its clients and its times, over each transport."""

import json
import pathlib
import re
import struct
import subprocess
import time

import pytest

import yaml
from conftest import BUILD, Daemon, eventually, free_address

BENCH = str(pathlib.Path(BUILD) / "bench/nailup-bench")


def replay(*args, ok=0):
    """Runs a replay. Returns its report, or the text on standard error if it must fail."""
    done = subprocess.run([BENCH, "replay", *args, "--json", "--quiet"], text=True, capture_output=True, timeout=120)
    assert done.returncode == ok, done.stderr
    return json.loads(done.stdout) if ok == 0 else done.stderr


def message(name):
    labels = b"".join(bytes([len(one)]) + one.encode() for one in name.split("."))
    return struct.pack(">6H", 4660, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)


def write_pcap(path, queries):
    """Writes a capture of raw IP. Each query is (milliseconds, last byte of the client's address 192.0.2.x, name)."""
    packets = [struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 101)]
    for at_ms, host, name in queries:
        asked = message(name)
        packet = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(asked), 0, 0, 64, 17, 0) + bytes([192, 0, 2, host]) + \
            bytes([192, 0, 2, 53]) + struct.pack(">4H", 40000, 53, 8 + len(asked), 0) + asked
        packets.append(struct.pack("<4I", 1000 + at_ms // 1000, at_ms % 1000 * 1000, len(packet), len(packet)) + packet)
    path.write_bytes(b"".join(packets))
    return path


EXAMPLE = pathlib.Path(__file__).parents[2] / "conf/examples/benchmark.yaml"


def test_the_example_of_the_tutorial_gets_addresses(responder, tmp_path):
    """The test uses the file without changes, except for addresses and the path of the socket."""
    config, (ip, port) = yaml.safe_load(EXAMPLE.read_text()), free_address()
    upstream = responder()
    config["server"]["listen"] = [f"{ip}@{port}"]
    config["tcp-upstream-keepalive"] = [upstream.ip]
    config["control"]["socket"] = str(tmp_path / "sock")
    for zone in config["forward-zones"]:
        zone["upstreams"] = [upstream.server]
    daemon = Daemon(tmp_path, config)
    try:
        daemon.wait_until_ready()
        done = subprocess.run([BENCH, "load", "--server", f"{ip}@{port}", "--rate", "200", "--duration", "0.5", "--json"],
                              text=True, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert set(json.loads(done.stdout)["rcodes"]) == {"NOERROR"}
    finally:
        daemon.stop()
    daemon.check_clean()


def test_each_client_has_its_own_connection_and_queries_have_their_times(responder, tmp_path):
    upstream = responder()
    capture = write_pcap(tmp_path / "a.pcap", [(10 * i, i % 3, f"n{i}.example") for i in range(60)])
    began = time.monotonic()
    report = replay("--server", upstream.server, "--transport", "tcp", "--pcap", str(capture))
    assert time.monotonic() - began > 0.59 < report["seconds"]  # the last query is due at this time
    assert (report["clients"], report["opened"], report["open_most"]) == (3, 3, 3)
    assert (report["sent"], report["answered"], report["rcodes"]) == (60, 60, {"NOERROR": 60})
    stats = upstream.stats()
    assert (stats["connections_opened"], stats["tcp_queries"]) == (3, 60)
    quick = replay("--server", upstream.server, "--pcap", str(capture), "--speed", "100", "--duration", "0.003")
    assert quick["sent"] == 30  # the other queries are due later


def test_a_client_resumes_its_own_sessions_alone(responder, tmp_path):
    upstream = responder(transport="tls")
    capture = write_pcap(tmp_path / "a.pcap", [(600 * i, host, f"n{i}.example") for i in range(3) for host in range(4)])
    report = replay("--server", upstream.server, "--transport", "tls", "--pcap", str(capture), "--idle-timeout", "0.1")
    assert (report["answered"], report["lost"]) == (12, 0)
    assert report["handshakes_full"] == 4 and report["handshakes_resumed"] == report["opened"] - 4 > 0
    assert report["closed_idle"] > 0


def test_a_closed_connection_is_dialled_again_and_its_queries_count_as_lost(responder, tmp_path):
    upstream = responder("--tcp-close-after", "5")
    capture = write_pcap(tmp_path / "a.pcap", [(20 * i, 1, f"n{i}.example") for i in range(20)])
    report = replay("--server", upstream.server, "--transport", "tcp", "--pcap", str(capture))
    assert report["answered"] + report["lost_by_close"] + report["lost"] == report["sent"] == 20
    assert report["opened"] >= 4 and report["closed_by_server"] >= 3


def test_nothing_listens_there(tmp_path):
    capture = write_pcap(tmp_path / "a.pcap", [(0, 1, "a.example")])
    assert "connection refused" in replay("--server", "127.0.0.1@1", "--transport", "tcp", "--pcap", str(capture), ok=1)
    assert replay("--server", "127.0.0.1@1", "--pcap", str(capture), "--timeout", "200", ok=1) == ""


def test_wrong_use_names_the_remedy(tmp_path):
    capture = str(write_pcap(tmp_path / "a.pcap", [(0, 1, "a.example")]))
    for args, remedy in [([], "needs --server"), (["--server", "127.0.0.1"], "needs --pcap FILE or --dnstap FILE"),
                         (["--server", "127.0.0.1", "--dnstap", capture], "fstrm_capture -w writes one"),
                         (["--server", "::1", "--pcap", capture, "--sources", "127.0.0.0/8"], "not of one family"),
                         (["--server", "127.0.0.1", "--pcap", capture, "--sources", "127.0.0.1"], "IP/LENGTH")]:
        assert remedy in replay(*args, ok=2)


def test_a_query_of_a_wrong_clock_delays_no_other_for_years(tmp_path):
    capture = str(write_pcap(tmp_path / "a.pcap", [(0, 1, "a.example"), (172800000, 1, "b.example")]))
    args = ["--server", "127.0.0.1@1", "--pcap", capture, "--timeout", "100"]
    assert "172800 seconds lie between two queries" in replay(*args, ok=2)
    assert "lie between" not in replay(*args, "--speed", "100000", ok=1)


def clients_in_log(daemon):
    """Returns the client's address of each query in the log, when there are six queries."""
    def found():
        clients = re.findall(r"info: query: ([0-9.]+)@\d+ ", daemon.log())
        return len(clients) >= 6 and sorted(clients)
    return eventually(found, 20)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_sources_give_each_client_an_address(nailupd, responder, tmp_path, transport):
    daemon = nailupd({"log": {"queries": "yes"}}, upstreams=[responder()])
    capture = write_pcap(tmp_path / "a.pcap", [(5 * i, i % 3, f"n{i}.example") for i in range(6)])
    report = replay("--server", daemon.server, "--transport", transport, "--pcap", str(capture), "--sources",
                    "127.9.0.0/16")
    assert report["answered"] == 6
    assert clients_in_log(daemon) == sorted(["127.9.0.1", "127.9.0.2", "127.9.0.3"] * 2)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_proxy_header_has_the_address_of_the_capture(nailupd, responder, tmp_path, transport):
    daemon = nailupd({"server": {"proxy-from": ["127.0.0.0/8"], "access": [{"prefix": "192.0.2.0/24", "action": "allow"}]},
                      "log": {"queries": "yes"}}, upstreams=[responder()])
    capture = write_pcap(tmp_path / "a.pcap", [(5 * i, i % 3, f"n{i}.example") for i in range(6)])
    report = replay("--server", daemon.server, "--transport", transport, "--pcap", str(capture), "--proxy")
    assert (report["answered"], report["rcodes"]) == (6, {"NOERROR": 6})
    assert clients_in_log(daemon) == sorted(["192.0.2.0", "192.0.2.1", "192.0.2.2"] * 2)


def test_dnstap_of_a_resolver_is_played_again(nailupd, responder, tmp_path):
    upstream, tap = responder(), tmp_path / "queries.dnstap"
    daemon = nailupd({"dnstap": {"file": str(tap)}}, upstreams=[upstream])
    capture = write_pcap(tmp_path / "a.pcap", [(50 * i, i % 3, f"n{i}.example") for i in range(6)])
    assert replay("--server", daemon.server, "--transport", "tcp", "--pcap", str(capture), "--sources",
                  "127.9.0.0/16")["answered"] == 6
    daemon.stop()
    report = replay("--server", upstream.server, "--dnstap", str(tap))
    assert (report["clients"], report["answered"], report["rcodes"]) == (3, 6, {"NOERROR": 6})
    assert report["seconds"] > 0.2
    load = subprocess.run([BENCH, "load", "--server", upstream.server, "--dnstap", str(tap), "--rate", "500", "--duration",
                           "0.2", "--json"], text=True, capture_output=True, timeout=60)
    assert json.loads(load.stdout)["lost"] == 0
