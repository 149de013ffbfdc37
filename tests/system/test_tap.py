# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Records of queries: lines of the query log, and dnstap as fstrm_capture, dnstap-read and our own reader see it. Most
basic first."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import time

import pytest

from conftest import eventually, free_address, program
from peers import need
from test_reload import reload, write

NAME = "www.example.org"
DIGEST = "683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16"  # a digest that fits no key of any zone
LINE = re.compile(r"nailupd: info: query: (?P<client>\S+) (?P<protocol>\S+) (?P<name>\S+) (?P<type>\S+)"
                  r" (?P<cls>\S+) (?P<flags>\S+) (?P<rcode>\S+) (?P<size>\d+) (?P<ms>[\d.]+)ms"
                  r" (?P<origin>\S+)(?: (?P<upstream>[^\s=]+) (?P<transport>\S+))?"
                  r"(?: ede=(?P<ede>[\d,]+))?(?: omitted=(?P<omitted>\d+))?(?: cause=\"(?P<cause>.*)\")?")


def lines(daemon, count):
    """Returns the first lines of the query log, when there are that many."""
    def found():
        all_lines = [LINE.fullmatch(line) for line in daemon.log().splitlines()
                     if ": query: " in line]
        assert all(all_lines), daemon.log()
        return len(all_lines) >= count and all_lines
    return eventually(found, 20)


# ---- the query log ----


def test_each_query_is_a_line_that_says_where_its_answer_came_from(nailupd, responder, dig):
    upstream = responder(transport="tcp")
    daemon = nailupd({"log": {"queries": "yes", "level": "warning"},
                      "local-data": [f"nas.{NAME}. 60 IN A 192.0.2.9"]},
                     upstreams=[upstream], nailed=True)
    dig(daemon, NAME, "A", "+dnssec", "+cdflag")
    dig(daemon, NAME, "A", "+dnssec", "+cdflag", "+tcp")
    dig(daemon, f"nas.{NAME}")
    dig(daemon, "absent.example.net", "AAAA", "+norecurse")
    asked, hit, local, refused = lines(daemon, 4)
    assert asked["name"] == NAME + "." and asked["type"] == "A" and asked["cls"] == "IN"
    assert asked["client"].startswith("127.0.0.1@") and asked["protocol"] == "udp"
    assert asked["flags"] == "rd,cd,do" and asked["rcode"] == "NOERROR"
    assert asked["origin"] == "upstream" and asked["upstream"] == upstream.server
    assert asked["transport"] in ("tcp", "udp") and float(asked["ms"]) > 0
    assert hit["origin"] == "cache" and hit["protocol"] == "tcp" and hit["upstream"] is None
    assert local["origin"] == "local" and local["flags"] == "rd"
    assert refused["origin"] == "refused" and refused["rcode"] == "REFUSED"
    assert refused["flags"] == "-" and int(refused["size"]) > 12


def test_a_notify_is_a_line_that_says_whether_it_was_accepted(nailupd, dig):
    primary = "127.0.0.9@%d" % free_address("127.0.0.9")[1]  # no server uses this address
    daemon = nailupd({"log": {"queries": "yes", "level": "error"},
                      "auth-zones": [{"name": "zone.test", "primaries": [primary]}]})
    assert dig(daemon, "zone.test", "SOA", "+opcode=notify", "-b", "127.0.0.9").status == "NOERROR"
    assert dig(daemon, "zone.test", "SOA", "+opcode=notify").status == "REFUSED"
    assert dig(daemon, "other.test", "SOA", "+opcode=notify", "+tcp").status == "NOTAUTH"
    found = lines(daemon, 3)
    assert [line["origin"] for line in found] == ["local", "refused", "refused"]
    assert [line["rcode"] for line in found] == ["NOERROR", "REFUSED", "NOTAUTH"]


def test_without_the_option_there_are_no_lines(nailupd, responder, dig):
    daemon = nailupd(upstreams=[responder()])
    assert dig(daemon, NAME).status == "NOERROR"
    daemon.stop()
    assert "query:" not in daemon.log()


def test_a_json_line_is_an_object_with_a_member_for_each(nailupd, responder, dig):
    upstream = responder()
    daemon = nailupd({"log": {"queries": "yes", "format": "json"}}, upstreams=[upstream])
    dig(daemon, r'a\010b\"c\\d.example', "TXT")
    def found():
        objects = [json.loads(line) for line in daemon.log().splitlines()]
        return [one for one in objects if one["module"] == "query"]
    one = eventually(found, 20)[0]
    assert one["name"] == r'a\010b\"c\\d.example.' and one["type"] == "TXT"
    assert one["client"] == "127.0.0.1" and one["port"] > 0 and one["protocol"] == "udp"
    assert one["rd"] is True and one["cd"] is False and one["do"] is False
    assert one["origin"] == "upstream" and one["upstream"] == upstream.server
    assert one["rcode"] and one["size"] > 12 and one["seconds"] > 0 and one["time"].endswith("Z")


def test_an_unanswered_query_is_a_line_too(nailupd, dig):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        daemon = nailupd({"log": {"queries": "yes"}, "upstream": {"query-timeout": "200ms"}},
                         upstreams=["127.0.0.1@%d" % silent.getsockname()[1]])
        dig(daemon, NAME, "A", "+timeout=20")
        (line,) = lines(daemon, 1)
    assert line["rcode"] == "SERVFAIL" and line["origin"] == "failed"
    assert line["ede"] == "22,23" and line["cause"].startswith("no server of the zone . answers")


# ---- failures alone ----


def with_failures(upstream, **log):
    """Returns a configuration with a good zone, a bogus zone below an anchor, and a zone whose upstream is dead."""
    dead = "127.0.0.1@%d" % free_address("127.0.0.1")[1]
    return {"log": log, "upstream": {"query-timeout": "200ms"},
            "dnssec": {"validate": "yes", "trust-anchors": [f"bogus.example. DS 7 15 2 {DIGEST}"],
                       "negative-trust-anchors": ["."]},
            "forward-zones": [{"name": "example", "upstreams": upstream.servers},
                              {"name": "dead.example", "upstreams": [dead]}]}


def test_a_failure_is_a_line_with_its_cause_and_a_good_query_has_none(nailupd, responder, dig):
    daemon = nailupd(with_failures(responder(), failures="yes", level="error"))
    assert dig(daemon, "www.good.example").status == "NOERROR"
    bogus = dig(daemon, "www.bogus.example")
    dead = dig(daemon, "www.dead.example", "AAAA", "+tcp", "+timeout=20")
    plain = dig(daemon, "www.dead.example", "AAAA", "+noedns")
    refused = dig(daemon, "www.example.net")
    assert [one.status for one in (bogus, dead, plain, refused)] == ["SERVFAIL"] * 3 + ["REFUSED"]
    assert daemon.stop() == 0
    of_bogus, of_dead, of_plain = found = lines(daemon, 3)
    assert len(found) == 3 and all(line["rcode"] == "SERVFAIL" for line in found)
    assert of_bogus["name"] == "www.bogus.example." and of_bogus["client"].startswith("127.0.0.1@")
    assert of_bogus["ede"] == str(bogus.ede[0]) and of_bogus["cause"] == bogus.ede_texts[0]
    assert of_bogus["cause"].startswith("a signature is missing, zone ")
    assert of_dead["type"] == "AAAA" and of_dead["protocol"] == "tcp" and of_dead["origin"] == "failed"
    assert of_dead["ede"].split(",") == [str(code) for code in dead.ede] and of_dead["cause"] == dead.ede_texts[0]
    assert "zone dead.example" in of_dead["cause"]
    assert plain.ede == [] and of_plain["origin"] == "cache"  # the client cannot get the error, and the line has it
    assert of_plain["ede"] == "22,13" and of_plain["cause"] == of_dead["cause"]


def test_a_json_line_of_a_failure_has_the_cause_too(nailupd, responder, dig):
    daemon = nailupd(with_failures(responder(), failures="yes", format="json"))
    assert dig(daemon, "www.good.example").status == "NOERROR"
    answer = dig(daemon, "www.bogus.example")
    assert daemon.stop() == 0
    (one,) = [one for one in map(json.loads, daemon.log().splitlines()) if one["module"] == "query"]
    assert one["rcode"] == "SERVFAIL" and one["ede"] == answer.ede and one["cause"] == answer.ede_texts[0]
    assert one["name"] == "www.bogus.example." and one["time"].endswith("Z")


def test_a_reload_turns_the_lines_of_failures_on_and_off(nailupd, responder, dig):
    upstream = responder()
    daemon = nailupd(with_failures(upstream))
    for number, (queries, failures) in enumerate(["nn", "ny", "yn", "yy", "ny", "nn"]):
        write(daemon, {"log": {"queries": queries == "y", "failures": failures == "y"}})
        reload(daemon)
        assert dig(daemon, f"n{number}.good.example").status == "NOERROR"
        assert dig(daemon, f"n{number}.bogus.example").status == "SERVFAIL"
    assert daemon.stop() == 0
    found = [line["name"] for line in lines(daemon, 6)]
    assert found == [f"n{number}.{zone}.example." for number, zones in
                     [(1, ["bogus"]), (2, ["good", "bogus"]), (3, ["good", "bogus"]), (4, ["bogus"])]
                     for zone in zones]


def test_a_popular_broken_name_does_not_flood_the_log(nailupd, responder, dig):
    """There are more failures than lines, and the lines say how many have none."""
    daemon = nailupd(with_failures(responder(), failures="yes") | {"server": {"workers": 1}})
    assert dig(daemon, "www.bogus.example").status == "SERVFAIL"
    question = b"\x01\x00\x00\x01" + bytes(6) + b"\3www\5bogus\7example\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        client.connect((daemon.ip, daemon.port))
        asked = 1
        while asked < 10000 and not any(line["omitted"] for line in lines(daemon, 1)):
            for number in range(20):
                client.send(struct.pack(">H", number) + question)
            assert all(client.recv(4096)[3] & 15 == 2 for _ in range(20))  # each client gets its answer
            asked += 20
    found = lines(daemon, 1)
    omitted = sum(int(line["omitted"] or 0) for line in found)
    assert omitted > 0 and len(found) >= 100 and len(found) + omitted <= asked
    assert daemon.stop() == 0


def test_a_reader_of_stderr_that_sleeps_holds_up_no_query(make_config, responder, dig, tmp_path):
    """No query waits while stderr is not read. Lines that do not fit are counted."""
    config = make_config({"log": {"queries": "yes"}}, upstreams=[responder()])
    path = tmp_path / "slow.yaml"
    path.write_text(json.dumps(config))
    process = subprocess.Popen([program("nailupd"), "-c", str(path)], stderr=subprocess.PIPE)
    try:
        ip, _, port = config["server"]["listen"][0].rpartition("@")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(10)
            client.connect((ip, int(port)))
            name = b"".join(bytes([60]) + 60 * letter for letter in (b"a", b"b", b"c")) + b"\0"
            question = b"\x01\x00\x00\x01" + bytes(6) + name + b"\0\x01\0\x01"
            for _ in range(200):  # waits until the daemon listens
                try:
                    client.send(b"\0\0" + question)
                    client.recv(4096)
                    break
                except OSError:
                    time.sleep(0.05)
            control = config["control"]["socket"]
            def dropped():
                for _ in range(100):
                    ids = [struct.pack(">H", number) for number in range(20)]
                    for one in ids:
                        client.send(one + question)
                    assert {client.recv(4096)[:2] for _ in ids} == set(ids)
                done = subprocess.run([program("nailupctl"), "-s", control, "--json", "stats"],
                                      text=True, capture_output=True, timeout=20)
                return [row["value"] for row in json.loads(done.stdout)["metrics"]
                        if row["metric"] == "nailup_query_log_dropped_total" and row["value"]]
            eventually(dropped, 60)
    finally:
        process.terminate()
        text = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 0
    assert all(LINE.fullmatch(line) for line in text.splitlines() if ": query: " in line)


# ---- dnstap ----


class Reader:
    """fstrm_capture at a socket. dnstap-read shows its file."""

    def __init__(self, folder, name="tap"):
        self.socket, self.file = folder / f"{name}.sock", folder / f"{name}.fstrm"
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [need("fstrm_capture"), "-t", "protobuf:dnstap.Dnstap", "-u", str(self.socket),
             "-w", str(self.file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(self.socket.exists, 20)
        return self

    def stop(self):
        """Stops it, because it writes its file only on a signal."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == 0
        self.socket.unlink(missing_ok=True)

    def messages(self):
        """Returns a dict for each message, with the keys of dnstap-read -y: {"type": "CLIENT_QUERY", ...}."""
        done = subprocess.run([need("dnstap-read"), "-y", str(self.file)], text=True,
                              capture_output=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return [document(one) for one in done.stdout.split("\n---\n") if one.strip()]


def document(text):
    """Returns the flat part of dnstap-read's output, which precedes the text of the message."""
    found = dict(re.findall(r'^ ?(?: )?(\w+): "?(.*?)"?$', text, re.M))
    found["identity"] = "".join(re.findall(r"^identity: (.*)$", text, re.M))
    found["type"] = re.search(r"^  type: (.*)$", text, re.M).group(1)
    found["question"] = re.search(r"^      - '(.*)'$", text, re.M).group(1)
    return found


def of_type(messages, kind):
    return [one for one in messages if one["type"] == kind]


@pytest.fixture
def reader(tmp_path):
    readers = []

    def make(*more):
        readers.append(Reader(tmp_path, *more))
        return readers[-1]

    yield make
    for one in readers:
        if one.process and one.process.poll() is None:
            one.stop()


def test_a_dig_shows_up_with_its_ends_and_times(nailupd, responder, dig, reader):
    tap, upstream = reader().start(), responder()
    daemon = nailupd({"dnstap": {"socket": str(tap.socket), "identity": "ns7", "version": "1"}},
                     upstreams=[upstream])
    dig(daemon, NAME)
    dig(daemon, NAME, "A", "+tcp")
    assert daemon.stop() == 0
    tap.stop()
    messages = tap.messages()
    kinds = [one["type"] for one in messages]
    assert kinds == ["CLIENT_QUERY", "FORWARDER_QUERY", "FORWARDER_RESPONSE", "CLIENT_RESPONSE",
                     "CLIENT_QUERY", "CLIENT_RESPONSE"]
    asked, sent, heard, answered, again, hit = messages
    for one in messages:
        assert one["identity"] == "ns7" and one["socket_family"] == "INET"
        assert one["question"].lower() == f"{NAME}. in a"
    for one in (asked, answered):
        assert one["query_address"] == "127.0.0.1" and one["socket_protocol"] == "UDP"
        assert (one["response_address"], one["response_port"]) == (daemon.ip, str(daemon.port))
    for one in (sent, heard):
        assert one["response_address"] == upstream.ip and one["socket_protocol"] == "UDP"
        assert one["response_port"] == str(upstream.port) and one["query_port"] != "0"
    assert asked["query_port"] == answered["query_port"]
    assert sent["query_port"] == heard["query_port"]
    assert again["socket_protocol"] == hit["socket_protocol"] == "TCP"
    assert all("response_time" in one for one in (heard, answered, hit))
    assert all("query_time" in one for one in (asked, sent, again))
    raw = [fields(fields(payload)[14]) for payload in frames(tap.file.read_bytes())]
    assert all({8, 9} <= one.keys() for one in raw)  # dnstap-read does not print the time of the query
    assert [12 in one for one in raw] == [False, False, True, True, False, True]


def test_only_the_messages_that_are_wanted(nailupd, responder, dig, reader):
    tap = reader().start()
    daemon = nailupd({"dnstap": {"socket": str(tap.socket), "messages": ["client-response"]}},
                     upstreams=[responder()])
    dig(daemon, NAME)
    assert daemon.stop() == 0
    tap.stop()
    (only,) = tap.messages()
    assert only["type"] == "CLIENT_RESPONSE" and not only["identity"]


def test_a_reader_connects_late_leaves_and_returns(nailupd, responder, dig, reader):
    first, second = reader("one"), reader("two")
    second.socket = first.socket
    daemon = nailupd({"dnstap": {"socket": str(first.socket)}}, upstreams=[responder()])
    eventually(lambda: "there is no reader at" in daemon.log(), 20)
    dig(daemon, "a." + NAME)  # this message waits for the reader
    first.start()
    eventually(lambda: "is connected" in daemon.log(), 20)
    first.stop()  # the reader may leave bytes unread
    dig(daemon, "b." + NAME)  # this message waits for the next reader
    second.start()
    eventually(lambda: daemon.log().count("is connected") == 2, 20)
    assert daemon.stop() == 0
    second.stop()
    assert {one["question"] for one in of_type(first.messages(), "CLIENT_QUERY")} <= {
        f"a.{NAME}. IN A"}
    assert [one["question"] for one in of_type(second.messages(), "CLIENT_QUERY")] == [
        f"b.{NAME}. IN A"]


# ---- a file, with our own reader ----


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return number, at


def fields(data):
    """Returns {number: value} of a protocol buffer in which each field occurs once."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            assert key & 7 == 5
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        assert key >> 3 not in found
        found[key >> 3] = value
    assert at == len(data)
    return found


def frames(data):
    """Returns the payloads of a frame stream with a start and an end."""
    at, controls, payloads = 0, [], []
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        at += 4
        if length == 0:
            length, kind = struct.unpack_from(">II", data, at)
            controls.append(kind)
            at += 4 + length
        else:
            payloads.append(data[at:at + length])
            at += length
    assert controls == [2, 3], "no START and STOP"
    return payloads


def test_a_file_has_all_to_the_nanosecond(nailupd, responder, dig, tmp_path):
    path = tmp_path / "queries.fstrm"
    begun = time.time()
    daemon = nailupd({"dnstap": {"file": str(path)}}, upstreams=[responder("--delay", 50)])
    for number in range(5):
        dig(daemon, f"n{number}.{NAME}")
    assert daemon.stop() == 0
    ended = time.time()
    assert path.stat().st_mode & 0o777 == 0o640 & ~os.umask(os.umask(0o022))
    messages = [fields(fields(payload)[14]) for payload in frames(path.read_bytes())]
    assert [one[1] for one in messages] == [5, 7, 8, 6] * 5
    for one in messages:
        asked = one[8] + one[9] / 1e9
        assert begun - 1 < asked < ended + 1
        if one[1] % 2 == 0:
            assert one[12] + one[13] / 1e9 - asked >= 0.049
        text = one[10 if one[1] % 2 else 14]
        assert bool(text[2] & 0x80) == (one[1] % 2 == 0)
        assert one[4] and len(one[5]) == 4 and one[6] and one[7]


@pytest.mark.parametrize("is_broken", [False, True])
def test_a_reload_after_a_rename_begins_a_new_file(nailupd, responder, dig, tmp_path, is_broken):
    path, former = tmp_path / "queries.fstrm", tmp_path / "queries.fstrm.1"
    daemon = nailupd({"dnstap": {"file": str(path), "messages": ["client-query"]}}, upstreams=[responder()])
    dig(daemon, f"first.{NAME}")
    eventually(lambda: b"first" in path.read_bytes(), 20)
    path.rename(former)
    config = daemon.config_path.read_text()
    daemon.config_path.write_text("- broken" if is_broken else config)
    daemon.process.send_signal(signal.SIGHUP)
    eventually(lambda: former.read_bytes().endswith(struct.pack(">III", 0, 4, 3)), 20)  # STOP, although no query comes
    dig(daemon, f"second.{NAME}")
    daemon.config_path.write_text(config)
    reload(daemon)  # the file is still there and goes on
    dig(daemon, f"third.{NAME}")
    assert daemon.stop() == 0
    queries = [[fields(fields(payload)[14])[10] for payload in frames(file.read_bytes())] for file in (former, path)]
    names = [[query[13:13 + query[12]].decode() for query in of_file] for of_file in queries]
    assert names == [["first"], ["second", "third"]]


@pytest.mark.parametrize("key, option, protocol", [("listen-tls", "+tls", 3), ("listen-https", "+https", 4)])
def test_over_tls_both_ways(nailupd, responder, reader, tmp_path, key, option, protocol):
    """dnstap-read of BIND 9.18 has no names for these values."""
    subprocess.run([need("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=x", "-keyout",
                    str(tmp_path / "key.pem"), "-out", str(tmp_path / "chain.pem")],
                   check=True, capture_output=True, timeout=30)
    tap, upstream = reader().start(), responder(transport="tls")
    ip, port = free_address("127.0.0.1")
    daemon = nailupd({"server": {key: [f"{ip}@{port}"],
                                 "tls-certificate": str(tmp_path / "chain.pem"),
                                 "tls-key": str(tmp_path / "key.pem")},
                      "dnstap": {"socket": str(tap.socket)}},
                     upstreams=[upstream], nailed=True)
    done = subprocess.run([need("kdig"), f"@{ip}", "-p", str(port), option, NAME, "A"],
                          text=True, capture_output=True, timeout=30)
    assert "NOERROR" in done.stdout
    assert daemon.stop() == 0
    tap.stop()
    messages = [fields(fields(payload)[14]) for payload in frames(tap.file.read_bytes())]
    assert [(one[1], one[3]) for one in messages] == [(5, protocol), (7, 3), (8, 3), (6, protocol)]
    assert f"{socket.inet_ntoa(messages[1][5])}@{messages[1][7]}" == upstream.server
    assert messages[0][7] == port


def test_a_file_that_cannot_be_written_is_reported_at_the_start(make_config, tmp_path):
    config = make_config({"dnstap": {"file": str(tmp_path / "missing" / "file")}},
                         upstreams=["127.0.0.1@1"])
    path = tmp_path / "bad.yaml"
    path.write_text(json.dumps(config))
    done = subprocess.run([program("nailupd"), "-c", str(path)], text=True, capture_output=True,
                          timeout=60)
    assert done.returncode == 3
    assert "dnstap.file: " in done.stderr and "missing/file" in done.stderr
