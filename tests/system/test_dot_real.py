# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""DNS over TLS with other programs: NSD, Unbound, Knot Resolver and openssl s_server as upstreams, also when they
crash; Unbound, Knot Resolver and kdig as clients. Knot Resolver takes part if it is installed."""

import re
import socket
import subprocess
import time
import types

import pytest

from conftest import BUILD, eventually, free_address
from peers import (Authority, Load, Server, dig_all, need, nsd, openssl, unbound,  # noqa: F401
                   udp_ask, query)
from test_upstreams_real import ABSENT, BOTH, PRESENT, compare

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

NAMES = [(f"n{i}.example", kind) for i in range(20) for kind in ("A", "AAAA", "MX", "TXT")]
ZONE = """$ORIGIN load.test.
$TTL 60
@ SOA ns hm 1 2 3 4 5
@ NS ns
* A 192.0.2.1
"""


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "authority")


@pytest.fixture
def kresd(tmp_path):
    """kresd(lines of Lua, authority=...): starts Knot Resolver. With an authority it also serves TLS."""
    started = []

    def start(more, authority=None):
        folder = tmp_path / f"kresd-{len(started)}"
        folder.mkdir()
        address, over_tls = free_address(), None
        lines = ["net.ipv6 = false", "net.listen('%s', %d, {kind = 'dns'})" % address,
                 "cache.size = 8 * MB", "trust_anchors.remove('.')"]
        if authority:
            over_tls = free_address(address[0])
            pem, key = authority.sign(f"IP:{address[0]}")
            lines += ["net.listen('%s', %d, {kind = 'tls'})" % over_tls,
                      f"net.tls('{pem}', '{key}')"]
        (folder / "conf").write_text("\n".join([*lines, more, ""]))
        started.append(Server(folder, address, need("kresd"), "-n", "-c", str(folder / "conf"),
                              str(folder), over_tls=over_tls, authority=authority))
        started[-1].wait_until_ready()
        return started[-1]

    yield start
    for one in started:
        one.stop()


def forwards_to(server):
    """Returns a clause for unbound() that forwards every query to a server in plain text."""
    return (f'forward-zone:\n  name: "."\n  forward-addr: {server.ip}@{server.port}\n',
            {"local-zone": "test. nodefault"})


@pytest.fixture(params=["nsd", "unbound", "kresd"])
def server(request, authority):
    """server(zones): starts each server with TLS. All except NSD forward to an NSD."""
    def start(zones):
        start_nsd = request.getfixturevalue("nsd")
        if request.param == "nsd":
            return start_nsd(zones, authority=authority)
        behind = start_nsd(zones)
        if request.param == "unbound":
            more, options = forwards_to(behind)
            return request.getfixturevalue("unbound")(more, authority=authority, **options)
        return request.getfixturevalue("kresd")(
            f"policy.add(policy.all(policy.STUB('{behind.server}')))", authority=authority)

    start.kind = request.param
    return start


def await_ready(daemon, count=1):
    return eventually(lambda: (ready := [c for c in daemon.connections() if c["state"] == "ready"])
                      and len(ready) >= count and ready, within=15)


def queries_by(daemon):
    reported = daemon.metrics()
    return {way: reported[f'upstream_queries_total{{transport="{way}"}}'] for way in ("udp", "tcp", "tls")}


# ---- upstreams ----


@pytest.mark.parametrize("config", [{}, {"tcp-upstream-keepalive-maxrequests": 3}],
                         ids=["kept", "3-requests-each"])
def test_answers_over_tls_are_those_of_the_server(server, nailupd, tmp_path, config):
    upstream = server(BOTH)
    daemon = nailupd(config, upstreams=[upstream], nailed=True)
    (conn,) = await_ready(daemon)[:1]
    assert conn["authenticated"] and conn["tls"] == "TLSv1.3"
    questions = [q for q in PRESENT + ABSENT if not q[0].startswith(("never", "y.moved", "x.moved"))]
    direct = dig_all(upstream, questions, tmp_path)
    compare(questions, direct, dig_all(daemon, questions, tmp_path))
    used = queries_by(daemon)
    assert used["tls"] >= len({(name.lower(), kind) for name, kind in questions}) and used["udp"] == used["tcp"] == 0
    assert daemon.metrics()['answers_total{rcode="servfail"}'] == 0


def test_connections_to_real_servers_are_resumed(server, nailupd, tmp_path):
    upstream = server({"load.test": ZONE})
    daemon = nailupd({"tcp-upstream-keepalive-maxrequests": 5}, upstreams=[upstream], nailed=True)
    await_ready(daemon)
    answers = dig_all(daemon, [(f"n{i}.load.test", "A") for i in range(60)], tmp_path)
    assert {answer.status for answer in answers} == {"NOERROR"}
    reported = daemon.metrics()
    assert reported["upstream_resumptions_total"] >= 6, reported
    assert reported["upstream_cold_queries_total"] == 0 and queries_by(daemon)["udp"] == 0


def ask_at_once(daemon, names):
    """Sends queries for these names at the same time. Returns the answers by name. Fails the test if one is missing."""
    ip, _, port = daemon.server.rpartition("@")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        client.connect((ip, int(port)))
        for number, name in enumerate(names):
            client.send(query(name, number))
        return {int.from_bytes(answer[:2], "big"): answer[3] & 15
                for answer in (client.recv(4096) for _ in names)}


@pytest.mark.parametrize("burst", [2, 8, 64])
def test_queries_of_one_turn_are_answered_without_a_stall(server, nailupd, burst):
    """NSD 4.6 answers the first message of a TLS record, and the others only when further bytes come, so the daemon
    would have to repeat queries. Each burst starts after the previous one is answered."""
    upstream = server({"load.test": ZONE})
    daemon = nailupd(upstreams=[upstream], nailed=True)
    await_ready(daemon)
    for turn in range(10):
        rcodes = ask_at_once(daemon, [f"n{turn}-{i}.load.test" for i in range(burst)])
        assert rcodes == dict.fromkeys(range(burst), 0)
    reported = daemon.metrics()
    assert queries_by(daemon) == {"udp": 0, "tcp": 0, "tls": 10 * burst}
    assert sum(count for row, count in reported.items() if row.startswith("upstream_retries_total")) == 0


@pytest.mark.parametrize("profile", ["strict", "opportunistic"])
def test_a_crash_in_mid_load_fails_no_query_for_long(server, nailupd, tmp_path, profile):
    """The only server is killed and started again. Each query gets an answer. A query during the gap gets a failure.
    Afterwards all queries succeed."""
    upstream = server({"load.test": ZONE})
    daemon = nailupd({"upstream": {"profile": profile}}, upstreams=[upstream], nailed=True)
    await_ready(daemon)
    running = Load(daemon, "--rate", 300, "--duration", 4, "--suffix", "load.test")
    time.sleep(0.7)
    upstream.kill()
    time.sleep(0.5)
    upstream.start()
    report = running.end(check=False)
    assert report["lost"] == 0 and set(report["rcodes"]) <= {"NOERROR", "SERVFAIL"}, report
    await_ready(daemon)
    before = daemon.metrics()
    again = dig_all(daemon, [(f"again{i}.load.test", "A") for i in range(50)], tmp_path)
    assert {answer.status for answer in again} == {"NOERROR"}
    after = daemon.metrics()
    assert after['upstream_dials_total{transport="tls",result="ok"}'] >= 2
    row = 'upstream_queries_total{transport="tls"}'
    assert after[row] - before[row] == 50
    if profile == "strict":
        assert queries_by(daemon)["udp"] == queries_by(daemon)["tcp"] == 0


def test_the_crash_of_one_of_two_servers_fails_no_query(nsd, authority, nailupd):  # noqa: F811
    one, other = (nsd({"load.test": ZONE}, authority=authority) for _ in range(2))
    daemon = nailupd(upstreams=[one, other], nailed=True)
    await_ready(daemon, 2)
    running = Load(daemon, "--rate", 300, "--duration", 4, "--suffix", "load.test")
    time.sleep(0.7)
    one.kill()
    time.sleep(0.7)
    one.start()
    one.wait_until_ready()
    await_ready(daemon, 2)
    other.kill()
    running.end()
    assert queries_by(daemon)["udp"] == queries_by(daemon)["tcp"] == 0


# ---- openssl s_server: handshakes of every kind, and no DNS behind them ----


def is_listening(ip, port):
    try:
        socket.create_connection((ip, port)).close()
        return True
    except OSError:
        return False


@pytest.fixture
def s_server(authority, tmp_path):
    """s_server(*options, key=["rsa:2048"]): starts openssl s_server as an upstream."""
    started = []

    def start(*options, key=None):
        ip, port = free_address()
        pem, secret = authority.sign(f"IP:{ip}", key=key)
        process = subprocess.Popen(
            [need("openssl"), "s_server", "-accept", f"{ip}:{port}", "-cert", str(pem), "-key",
             str(secret), "-quiet", *options], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        started.append(process)
        eventually(lambda: is_listening(ip, port))
        return types.SimpleNamespace(servers=[f"{ip}@{port}"], ip=ip, port=port, transport="tls",
                                     ca_file=authority.ca_file, process=process)

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
@pytest.mark.parametrize("key", [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
                                 ["ed25519"]], ids=lambda key: key[0].partition(":")[0])
def test_a_handshake_with_openssl(s_server, nailupd, version, key):
    daemon = nailupd(upstreams=[s_server("-alpn", "dot", version, key=key)], nailed=True)
    (conn,) = await_ready(daemon)
    assert conn["tls"] == {"-tls1_2": "TLSv1.2", "-tls1_3": "TLSv1.3"}[version]
    assert conn["authenticated"] and conn["session"] == "full"
    assert "GCM" in conn["cipher"] or "POLY1305" in conn["cipher"]


@pytest.mark.parametrize("options", [
    ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], ["-tls1", "-cipher", "DEFAULT@SECLEVEL=0"],
    ["-tls1_2", "-cipher", "AES128-SHA"], ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA256"],
    ["-tls1_2", "-cipher", "AES128-GCM-SHA256"], ["-alpn", "http/1.1"]], ids=lambda o: "".join(o))
def test_weak_or_foreign_handshakes_are_not_accepted(s_server, nailupd, dig, options):
    """Old versions, ciphers without forward secrecy or AEAD, and another protocol."""
    daemon = nailupd(upstreams=[s_server(*options, key=["rsa:2048"])], nailed=True)
    eventually(lambda: "connection rests" in daemon.log())
    answer = dig(daemon, "www.example")
    assert answer.status == "SERVFAIL" and 22 in answer.ede and answer.ede_texts, answer.text
    assert daemon.metrics()['upstream_dials_total{transport="tls",result="ok"}'] == 0


def test_other_protocols_are_not_answers(s_server, nailupd, dig):
    """With -rev, s_server returns each line reversed."""
    daemon = nailupd({"upstream": {"query-timeout": "300ms"}},
                     upstreams=[s_server("-alpn", "dot", "-rev")], nailed=True)
    await_ready(daemon)
    answer = dig(daemon, "www.example")
    assert answer.status == "SERVFAIL" and 22 in answer.ede, answer.text
    assert set(queries_by(daemon).items()) >= {("udp", 0), ("tcp", 0)}


# ---- clients ----


@pytest.fixture
def dot(nailupd, responder, authority):
    """dot(config, upstreams=None): starts a daemon that serves TLS at daemon.servers, for dot.test and its address,
    with a responder behind it."""

    def start(config=None, upstreams=None, **more):
        ip, port = free_address()
        pem, key = authority.sign("DNS:dot.test", f"IP:{ip}")
        serving = {"listen-tls": [f"{ip}@{port}"], "tls-certificate": str(pem), "tls-key": str(key)}
        upstreams = upstreams or [responder()]
        daemon = nailupd({"server": serving, **(config or {})}, upstreams=upstreams, **more)
        daemon.servers, daemon.transport, daemon.ca_file = [f"{ip}@{port}"], "tls", authority.ca_file
        return daemon

    return start


def check_client(client, daemon, folder):
    """Checks that all queries came over TLS, on few connections."""
    answers = dig_all(client, NAMES, folder)
    assert {answer.status for answer in answers} == {"NOERROR"}
    assert all(answer.data for answer in answers)
    reported = daemon.metrics()
    assert reported['queries_total{protocol="tls"}'] >= len(NAMES)
    assert reported['queries_total{protocol="udp"}'] == reported['queries_total{protocol="tcp"}'] == 0
    assert reported['answers_total{rcode="servfail"}'] == 0
    made = reported['tls_handshakes_total{result="full"}'] + reported['tls_handshakes_total{result="resumed"}']
    assert 1 <= made <= 20


def test_unbound_forwards_to_it_over_tls(dot, unbound, authority, tmp_path):  # noqa: F811
    daemon = dot()
    resolver = unbound(
        f'forward-zone:\n  name: "."\n  forward-addr: {daemon.servers[0]}#dot.test\n'
        "  forward-tls-upstream: yes\n", **{"tls-cert-bundle": f'"{authority.ca_file}"'})
    check_client(resolver, daemon, tmp_path)


def test_unbound_does_not_take_it_for_another(dot, unbound, authority, tmp_path):  # noqa: F811
    daemon = dot()
    resolver = unbound(
        f'forward-zone:\n  name: "."\n  forward-addr: {daemon.servers[0]}#other.test\n'
        "  forward-tls-upstream: yes\n", **{"tls-cert-bundle": f'"{authority.ca_file}"'})
    assert dig_all(resolver, NAMES[:1], tmp_path)[0].status == "SERVFAIL"
    assert daemon.metrics()['queries_total{protocol="tls"}'] == 0


def test_knot_resolver_forwards_to_it_over_tls(dot, kresd, authority, tmp_path):
    daemon = dot()
    resolver = kresd("policy.add(policy.all(policy.TLS_FORWARD({{'%s', hostname='dot.test', "
                     "ca_file='%s'}})))" % (daemon.servers[0], authority.ca_file))
    check_client(resolver, daemon, tmp_path)


def test_nailupd_forwards_to_nailupd_over_tls(dot, nailupd, tmp_path):
    behind = dot()
    front = nailupd({"tcp-upstream-keepalive-maxrequests": 10}, upstreams=[behind], nailed=True)
    await_ready(front)
    check_client(front, behind, tmp_path)
    reported = behind.metrics()
    assert reported['tls_handshakes_total{result="resumed"}'] >= 5
    assert front.metrics()["upstream_resumptions_total"] >= 5


def test_tls_on_both_sides(dot, server, tmp_path):
    """kdig asks nailupd over TLS, and nailupd asks each server over TLS."""
    daemon = dot(upstreams=[server(BOTH)], nailed=True)
    await_ready(daemon)
    ip, _, port = daemon.servers[0].rpartition("@")
    text = subprocess.run([need("kdig"), f"@{ip}", "-p", port, "+tls-ca=" + str(daemon.ca_file),
                           "+tls-hostname=dot.test", "+keepopen", "www.alpha.test", "A",
                           "mail.alpha.test", "A", "big.alpha.test", "A"], text=True,
                          capture_output=True, timeout=30).stdout
    assert re.findall(r"status: (\w+)", text)[0] == "NOERROR", text
    assert len(re.findall(r"status: (?:NOERROR|NXDOMAIN)", text)) == 3, text
    assert text.count("10.1.") >= 300, text
    assert queries_by(daemon) == {"udp": 0, "tcp": 0, "tls": 3}
