# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Common clients ask nailupd: dig, kdig, drill, dnsperf, glibc's getaddrinfo, and Unbound as a forwarding resolver.
Most basic first."""

import json
import re
import socket
import subprocess
import sys

import pytest

from conftest import BUILD, Daemon, Responder, free_address
from peers import dig_all, need, unbound  # noqa: F401 (a fixture)

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

NAME = "www.example.org"


@pytest.fixture
def upstream(responder):
    return responder()


@pytest.fixture
def daemon(nailupd, upstream):
    return nailupd(upstreams=[upstream])


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One responder and one daemon for all tests that only send queries: (daemon, upstream)."""
    folder = tmp_path_factory.mktemp("shared")
    upstream = Responder(folder)
    daemon = Daemon(folder, {
        "server": {"workers": 2, "listen": ["%s@%d" % free_address()]},
        "forward-zones": [{"name": ".", "upstreams": upstream.servers}],
        "dnssec": {"validate": "no"},  # the responder signs nothing
        "control": {"socket": str(folder / "control.sock")}})
    daemon.wait_until_ready()
    yield daemon, upstream
    assert daemon.stop() == 0
    daemon.check_clean()
    upstream.stop()


def run(*args):
    done = subprocess.run([need(args[0]), *map(str, args[1:])], text=True, capture_output=True,
                          timeout=60)
    return done.stdout + done.stderr


# ---- dig ----


@pytest.mark.parametrize("options", [
    ["+notcp"], ["+tcp"], ["+noedns"], ["+tcp", "+noedns"], ["+ednsopt=65001:c0ffee"], ["+cookie"],
    ["+nocookie"], ["+dnssec"], ["+cdflag"], ["+adflag"], ["+zflag"], ["+nsid"], ["+expire"],
    ["+subnet=192.0.2.0/24"], ["+padding=128"], ["+tcp", "+padding=468"], ["+tcp", "+keepalive"],
    ["+bufsize=512"], ["+bufsize=65535"], ["+bufsize=0"], ["+ednsflags=0x40"]], ids=" ".join)
def test_dig_is_content_with_every_option(shared, dig, options):
    daemon, upstream = shared
    answer = dig(daemon, NAME, "A", *options)
    assert answer.status == "NOERROR"
    assert answer.data == dig(upstream, NAME).data
    assert {"qr", "rd", "ra"} <= set(answer.flags)
    assert not re.search(r"WARNING|Warning|mismatch", answer.text), answer.text


@pytest.mark.parametrize("kind, wanted", [
    ("A", r"10\.\d+\.\d+\.\d+"), ("AAAA", "2001:db8:.*"), ("TXT", '".*"'), ("MX", r"\d+ .*\."),
    ("NS", r".*\."), ("SOA", r".* .* \d+ \d+ \d+ \d+ \d+")])
def test_types_are_passed_on(shared, dig, kind, wanted):
    daemon, _ = shared
    answer = dig(daemon, "example.org", kind)
    assert answer.data and all(re.fullmatch(wanted, data) for data in answer.data)


@pytest.mark.parametrize("name, kind, status", [
    ("nx.example", "A", "NXDOMAIN"), ("nodata.example", "A", "NOERROR"),
    ("example", "NAPTR", "NOERROR"), ("example", "TYPE65280", "NOERROR")])
def test_negative_answers_carry_the_soa(shared, dig, name, kind, status):
    daemon, _ = shared
    answer = dig(daemon, name, kind)
    assert (answer.status, answer.rows) == (status, [])
    assert [row[2] for row in answer.section("AUTHORITY")] == ["SOA"]


def test_flags_come_back_as_they_were_sent(shared, dig):
    daemon, _ = shared
    plain = dig(daemon, NAME)
    assert set(plain.flags) == {"qr", "rd", "ra"}
    assert "cd" in dig(daemon, NAME, "A", "+cdflag").flags
    assert re.search(r"flags: do;", dig(daemon, NAME, "A", "+dnssec").text)
    assert "OPT PSEUDOSECTION" not in dig(daemon, NAME, "A", "+noedns").text


def test_a_question_without_recursion_does_not_see_the_cache(daemon, upstream, dig):
    assert dig(daemon, NAME).status == "NOERROR"
    refused = dig(daemon, NAME, "A", "+norec")
    assert (refused.status, refused.ede) == ("REFUSED", [20])
    assert dig(daemon, NAME, "A", "+norec", "+tcp").status == "REFUSED"


def test_a_client_that_may_snoop_is_answered_from_the_cache_alone(nailupd, upstream, dig):
    daemon = nailupd({"server": {"access": [{"prefix": "127.0.0.0/8", "action": "allow-snoop"}]}},
                     upstreams=[upstream])
    refused = dig(daemon, NAME, "A", "+norec")
    assert (refused.status, refused.ede) == ("REFUSED", [20])
    assert upstream.stats()["udp_queries"] == 0
    assert dig(daemon, NAME).status == "NOERROR"
    known = dig(daemon, NAME, "A", "+norec")
    assert (known.status, "rd" in known.flags) == ("NOERROR", False)


def test_the_spelling_of_the_name_is_echoed(shared, dig):
    daemon, _ = shared
    for name in ("www.Example.ORG.", "WWW.eXAMPLE.org.", "www.example.org."):
        answer = dig(daemon, name)
        assert re.search(rf"^;{re.escape(name)}\s", answer.text, re.M)
        assert answer.rows[0][0] == name


@pytest.mark.parametrize("bufsize", [[], ["+bufsize=512"], ["+bufsize=4096"], ["+noedns"]],
                         ids=lambda options: " ".join(options) or "default")
def test_a_large_answer_is_truncated_over_udp_and_whole_over_tcp(shared, dig, bufsize):
    daemon, upstream = shared
    cut = dig(daemon, "big.example.org", "A", *bufsize, "+ignore")
    assert "tc" in cut.flags and not cut.rows
    retried = dig(daemon, "big.example.org", "A", *bufsize)
    assert "Truncated, retrying in TCP mode" in retried.text
    whole = dig(upstream, "big.example.org", "A", "+tcp").data
    assert len(whole) > 10
    assert sorted(retried.data) == sorted(whole) == sorted(dig(daemon, "big.example.org", "A", "+tcp").data)


def test_a_ttl_counts_down(shared, dig):
    daemon, _ = shared
    assert dig(daemon, "ttl2.example").rows[0][1] <= 2
    assert dig(daemon, NAME).rows[0][1] <= 300


@pytest.mark.parametrize("options, status", [
    (["+edns=1", "+noednsnegotiation"], "BADVERS"), (["+opcode=notify"], "NOTIMP"),
    (["+opcode=update"], "NOTIMP"), (["+opcode=status"], "NOTIMP"), (["+header-only", "+nocookie"], "FORMERR"),
    (["+header-only"], "NOERROR"),  # a query that contains only a cookie (RFC 7873 section 5.4)
    (["-c", "CH"], "REFUSED"), (["-t", "AXFR"], None), (["-t", "IXFR=1"], None)],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value)
def test_unusual_questions_get_an_error(shared, dig, options, status):
    daemon, _ = shared
    answer = dig(daemon, NAME, "A", *options)
    if status:
        assert answer.status == status
    else:
        assert "Transfer failed" in answer.text


def test_dig_pipelines_over_a_connection_kept_open(daemon, upstream, tmp_path):
    questions = [(f"n{i}.example", kind) for i in range(60) for kind in ("A", "AAAA")]
    answers = dig_all(daemon, questions, tmp_path, "+tcp", "+keepopen")
    assert {answer.status for answer in answers} == {"NOERROR"}
    assert all(answer.data for answer in answers)
    assert daemon.metrics()['queries_total{protocol="tcp"}'] == len(questions)
    assert upstream.stats()["udp_queries"] == len(questions)


def test_the_idle_timeout_is_sent_to_clients_that_ask(shared, dig):
    daemon, _ = shared
    assert "KEEPALIVE: 30.0" in dig(daemon, NAME, "A", "+tcp", "+keepalive").text
    assert "KEEPALIVE" not in dig(daemon, NAME, "A", "+notcp").text


# ---- kdig and drill ----


@pytest.mark.parametrize("options", [
    ["+notcp"], ["+tcp"], ["+tcp", "+keepopen"], ["+tcp", "+keepopen", "+nopadding"], ["+cookie"],
    ["+edns"], ["+dnssec"], ["+bufsize=512"], ["+nsid"], ["+padding"], ["+tcp", "+padding=64"],
    ["+subnet=192.0.2.1"], ["+tcp", "+fastopen"]], ids=" ".join)
def test_kdig_is_content_with_every_option(shared, options):
    daemon, _ = shared
    text = run("kdig", f"@{daemon.ip}", "-p", daemon.port, "+retry=0", *options, NAME, "A")
    assert "status: NOERROR" in text and re.search(r"IN\s+A\s+10\.", text), text
    assert not re.search(r"WARNING|ERROR;", text.replace("NOERROR;", "")), text


def test_kdig_asks_several_questions_over_one_connection(daemon):
    names = [f"n{i}.example" for i in range(20)]
    text = run("kdig", f"@{daemon.ip}", "-p", daemon.port, "+tcp", "+keepopen", *names)
    assert text.count("status: NOERROR") == 20 and "WARNING" not in text
    assert daemon.metrics()['queries_total{protocol="tcp"}'] == 20


def test_kdig_reads_the_answer_as_json(shared):
    daemon, _ = shared
    text = run("kdig", f"@{daemon.ip}", "-p", daemon.port, "+json", NAME, "A")
    if not text.startswith(("[", "{")):
        pytest.skip("this kdig knows no +json")
    reported = json.loads(text)
    reported = reported[0] if isinstance(reported, list) else reported
    answer = reported.get("responseMessage", reported)["answerRRs"]
    assert answer[0]["rdataA"].startswith("10.")


@pytest.mark.parametrize("options", [["-u"], ["-t"], ["-D"], ["-a"], ["-t", "-D"],
                                     ["-b", "512"], ["-b", "4096"]], ids=" ".join)
def test_drill_is_content_with_every_option(shared, options):
    daemon, _ = shared
    text = run("drill", "-p", daemon.port, *options, f"@{daemon.ip}", NAME, "A")
    assert "rcode: NOERROR" in text and re.search(r"IN\s+A\s+10\.", text), text
    assert "Warning" not in text and "Error" not in text


def test_drill_falls_back_to_tcp(shared):
    daemon, _ = shared
    text = run("drill", "-p", daemon.port, "-a", f"@{daemon.ip}", "big.example", "A")
    assert len(re.findall(r"IN\s+A", text)) > 10, text


# ---- dnsperf ----


@pytest.fixture(scope="module")
def many_questions(tmp_path_factory):
    path = tmp_path_factory.mktemp("dnsperf") / "questions"
    kinds = ("A", "AAAA", "TXT", "MX")
    path.write_text("".join(f"n{i % 1500}.example {kinds[i % 4]}\n" for i in range(4000)))
    return path


@pytest.mark.parametrize("mode", [["-m", "udp"], ["-m", "tcp"], ["-m", "udp", "-D", "-e"],
                                  ["-m", "tcp", "-c", "40"]], ids=" ".join)
@pytest.mark.parametrize("nailed", [False, True], ids=["plain", "nailed"])
def test_dnsperf_loses_none_of_thousands(nailupd, responder, many_questions, mode, nailed):
    daemon = nailupd(upstreams=[responder()], nailed=nailed, workers=2)
    text = run("dnsperf", "-s", daemon.ip, "-p", daemon.port, "-d", many_questions, "-n", 1,
               "-q", 100, "-t", 8, *(["-c", 4] if "-c" not in mode else []), *mode)
    assert re.search(r"Queries completed:\s+4000 \(100\.00%\)", text), text
    assert re.search(r"Response codes:\s+NOERROR 4000 \(100\.00%\)", text), text


# ---- getaddrinfo ----

# The C library reads /etc/resolv.conf, so it gets a different file in a separate mount namespace.
IN_NAMESPACE = 'mount --bind "$1" /etc/resolv.conf && mount --bind "$2" /etc/nsswitch.conf && ' \
               'shift 2 && exec "$@"'

RESOLVE = """
import json, socket, sys
out = {}
for name in sys.argv[1:]:
    try:
        rows = socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)
        out[name] = sorted({row[4][0] for row in rows})
    except socket.gaierror as error:
        out[name] = error.errno
print(json.dumps(out))
"""


def can_have_a_mount_namespace():
    try:
        return subprocess.run(["unshare", "-m", "mount", "--bind", "/etc/hosts", "/etc/hosts"],
                              capture_output=True, timeout=10).returncode == 0
    except OSError:
        return False


@pytest.mark.parametrize("options", ["timeout:5 attempts:1", "timeout:5 edns0",
                                     "timeout:5 use-vc", "timeout:5 single-request",
                                     "timeout:5 single-request-reopen", "timeout:5 trust-ad"])
def test_getaddrinfo_of_glibc_finds_addresses(nailupd, responder, dig, tmp_path, options):
    if not can_have_a_mount_namespace():
        pytest.skip("needs a mount namespace (unshare -m), which this user or kernel refuses")
    ip = f"127.53.17.{len(options)}"
    with socket.socket() as probe:
        try:
            probe.bind((ip, 53))
        except OSError as error:
            pytest.skip(f"needs port 53 of {ip}: {error}")
    upstream = responder()
    daemon = nailupd({"server": {"listen": [f"{ip}@53"]}}, upstreams=[upstream], nailed=True)
    resolv, switch = tmp_path / "resolv.conf", tmp_path / "nsswitch.conf"
    resolv.write_text(f"nameserver {ip}\noptions {options}\n")
    switch.write_text("hosts: dns\n")
    names = ["www.example.org", "a.cname.example.org", "nx.example.org", "nodata.example.org"]
    done = subprocess.run(["unshare", "-m", "sh", "-c", IN_NAMESPACE, "sh", resolv, switch,
                           sys.executable, "-c", RESOLVE, *names], text=True,
                          capture_output=True, timeout=30)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for name in names[:2]:
        wanted = {d for kind in ("A", "AAAA") for d in dig(upstream, name, kind).data
                  if not d.endswith(".")}
        assert set(found[name]) == wanted
    assert found["nx.example.org"] == socket.EAI_NONAME
    assert found["nodata.example.org"] in (socket.EAI_NODATA, socket.EAI_NONAME)
    protocol = "tcp" if "use-vc" in options else "udp"
    assert daemon.metrics()[f'queries_total{{protocol="{protocol}"}}'] >= 8


# ---- Unbound as a client ----


@pytest.mark.parametrize("tcp", ["no", "yes"])
@pytest.mark.parametrize("spelling", ["no", "yes"])
def test_unbound_forwards_to_it(daemon, unbound, tmp_path, tcp, spelling):  # noqa: F811
    zone = f'forward-zone:\n  name: "."\n  forward-addr: {daemon.server}\n' \
           f'  forward-tcp-upstream: {tcp}\n'
    resolver = unbound(zone, **{"use-caps-for-id": spelling})
    questions = [(f"n{i}.example", kind) for i in range(40) for kind in ("A", "AAAA", "MX")]
    questions += [("a.cname.example", "A"), ("big.example", "TXT")]
    before = daemon.metrics()
    answers = dig_all(resolver, questions, tmp_path)
    assert {answer.status for answer in answers} == {"NOERROR"}
    assert all(answer.data for answer in answers)
    assert dig_all(resolver, [("nx.example", "A")], tmp_path)[0].status == "NXDOMAIN"
    after = daemon.metrics()
    protocol = 'queries_total{protocol="%s"}' % ("tcp" if tcp == "yes" else "udp")
    assert after[protocol] - before[protocol] >= len(questions)
    assert after['answers_total{rcode="servfail"}'] == 0
