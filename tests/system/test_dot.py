# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""DNS over TLS for clients, with kdig, openssl s_client and Python's TLS: their answers, and what happens when the
certificate's files change."""

import base64
import hashlib
import json
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import types

import pytest

from conftest import eventually, free_address, program
from peers import Stream, framed, need, query, rcode_of

NAME = "www.example.org"
HOST = "dot.example.net"


# ---- certificates ----


def openssl(*words, data=None):
    return subprocess.run([need("openssl"), *map(str, words)], input=data, capture_output=True,
                          timeout=30)


def made(*words):
    done = openssl(*words)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class Authority:
    """Makes certificates, always in the same two files of a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.ca, self.ca_key = folder / "ca.pem", folder / "ca.key"
        self.certificate, self.key = folder / "server.pem", folder / "server.key"
        made("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-keyout", self.ca_key, "-out", self.ca, "-days", "2", "-subj", "/CN=test authority")

    def make(self, key="ec", certificate=None, key_file=None, days=2):
        """Makes a key and a chain for HOST. The serial number is random."""
        certificate, key_file = certificate or self.certificate, key_file or self.key
        request, leaf, names = (self.folder / name for name in ("request", "leaf", "names"))
        kind = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"]}[key]
        made("req", "-new", "-newkey", *kind, "-nodes", "-keyout", key_file, "-out", request,
             "-subj", f"/CN={HOST}")
        names.write_text(f"subjectAltName=DNS:{HOST},IP:127.0.0.1\n")
        made("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.ca_key, "-days", days,
             "-set_serial", int.from_bytes(os.urandom(8), "big") >> 1, "-extfile", names,
             "-out", leaf)
        certificate.write_text(leaf.read_text() + self.ca.read_text())
        return self

    def pin(self):
        """Returns the pin of the key (RFC 7858 section 4.2)."""
        public = made("x509", "-in", self.certificate, "-noout", "-pubkey")
        der = openssl("pkey", "-pubin", "-outform", "DER", data=public).stdout
        return base64.b64encode(hashlib.sha256(der).digest()).decode()

    def der(self):
        return ssl.PEM_cert_to_DER_cert(self.certificate.read_text().split("-----END")[0] +
                                        "-----END CERTIFICATE-----\n")


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path).make()


# ---- the daemon ----


def tls_options(authority, *addresses):
    return {"server": {"listen-tls": list(addresses), "tls-certificate": str(authority.certificate),
                       "tls-key": str(authority.key)}}


@pytest.fixture
def dot(nailupd, responder, authority):
    """dot(config): starts a daemon with a TLS listener at daemon.tls."""

    def start(config=None, **more):
        ip, port = free_address()
        options = tls_options(authority, f"{ip}@{port}")
        for section, values in (config or {}).items():
            options.setdefault(section, {}).update(values)
        daemon = nailupd(options, upstreams=[responder()], **more)
        daemon.tls = types.SimpleNamespace(ip=ip, port=port, server=f"{ip}@{port}")
        return daemon

    return start


class TlsStream(Stream):
    """A Stream over TLS. Without an authority it trusts every server."""

    def __init__(self, server, authority=None, session=None, version=None, **options):
        super().__init__(server, **options)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # A missing close_notify is an error here. Debian's Python would accept it.
        context.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 1 << 7)
        if authority:
            context.load_verify_locations(authority.ca)
        else:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if version:
            context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(["dot"])
        self.session_context = session[0] if session else context
        self.socket = self.session_context.wrap_socket(
            self.socket, server_hostname=HOST, session=session and session[1],
            suppress_ragged_eofs=False)

    def ask(self, name=NAME, number=1):
        self.send(query(name, number))
        return self.read()

    def certificate(self):
        return self.socket.getpeercert(binary_form=True)

    def resumable(self):
        return self.session_context, self.socket.session


# ---- kdig ----


def kdig(server, *options, names=(NAME,)):
    done = subprocess.run([need("kdig"), f"@{server.ip}", "-p", str(server.port), "+retry=0",
                           "+timeout=5", *options, *names], text=True, capture_output=True,
                          timeout=30)
    return done.stdout + done.stderr


def test_kdig_without_verification_is_answered(dot):
    daemon = dot()
    text = kdig(daemon.tls, "+tls")
    assert "status: NOERROR" in text and "TLS session (TLS1.3)" in text
    assert daemon.metrics()['queries_total{protocol="tls"}'] == 1
    assert daemon.metrics()['tls_handshakes_total{result="full"}'] == 1


def test_kdig_is_answered_with_the_right_pin_and_not_with_another(dot, authority):
    daemon = dot()
    assert "status: NOERROR" in kdig(daemon.tls, f"+tls-pin={authority.pin()}")
    other = base64.b64encode(bytes(32)).decode()
    assert "status:" not in kdig(daemon.tls, f"+tls-pin={other}")


def test_kdig_trusts_the_authority_and_the_name_and_no_other(dot, authority):
    daemon = dot()
    right = [f"+tls-ca={authority.ca}", f"+tls-hostname={HOST}"]
    assert "status: NOERROR" in kdig(daemon.tls, *right)
    assert "status:" not in kdig(daemon.tls, right[0], "+tls-hostname=other.example")
    foreign = Authority(authority.folder)
    assert "status:" not in kdig(daemon.tls, f"+tls-ca={foreign.ca}", right[1])
    assert daemon.metrics()['queries_total{protocol="tls"}'] == 1


def test_kdig_asks_several_questions_over_one_connection(dot):
    daemon = dot()
    text = kdig(daemon.tls, "+tls", "+keepopen", names=["a.example", "b.example", "c.example"])
    assert text.count("status: NOERROR") == 3
    assert daemon.metrics()['tls_handshakes_total{result="full"}'] == 1


# ---- the form of an answer ----


PADDING, KEEPALIVE = 12, 11


def query_with_options(*options):
    """Returns a query with options, given as (code, bytes)."""
    data = b"".join(struct.pack(">HH", code, len(value)) + value for code, value in options)
    opt = struct.pack(">BHHIH", 0, 41, 1232, 0, len(data)) + data
    plain = query(NAME)
    return plain[:10] + struct.pack(">H", 1) + plain[12:] + opt


def test_padded_queries_get_padded_answers_over_tls_alone(dot):
    daemon = dot()
    padded = query_with_options((KEEPALIVE, b""), (PADDING, bytes(60)))
    with TlsStream(daemon.tls) as tls, Stream(daemon) as tcp:
        tls.send(padded)
        assert len(tls.read()) == 468
        tls.send(query_with_options((KEEPALIVE, b"")))
        assert len(tls.read()) < 200
        tcp.send(padded)
        assert len(tcp.read()) < 200


def test_pipelined_queries_are_all_answered(dot):
    daemon = dot()
    with TlsStream(daemon.tls) as client:
        client.send(*[query(f"n{number}.example", number) for number in range(500)])
        numbers = {struct.unpack(">H", client.read()[:2])[0] for _ in range(500)}
    assert numbers == set(range(500))


def test_clients_that_may_not_ask_get_no_handshake(dot):
    daemon = dot({"server": {"access": [{"prefix": "127.0.0.0/8", "action": "allow"},
                                        {"prefix": "127.251.0.1", "action": "refuse"},
                                        {"prefix": "127.251.0.2", "action": "drop"}]}})
    for source in ("127.251.0.1", "127.251.0.2"):
        with pytest.raises(OSError):
            TlsStream(daemon.tls, source=source)


# ---- protocols and versions ----


def s_client(server, *options, said=b""):
    """Runs a session until it ends, or until the text comes. Returns its output."""
    done = openssl("s_client", "-connect", f"{server.ip}:{server.port}", "-servername", HOST,
                   *options, data=said)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


@pytest.mark.parametrize("option, version", [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
def test_new_versions_are_spoken(dot, authority, option, version):
    code, text = s_client(dot().tls, option, "-alpn", "dot", "-CAfile", authority.ca,
                          "-verify_hostname", HOST, "-verify_return_error")
    assert code == 0 and f"New, {version}" in text and "Verify return code: 0 (ok)" in text
    assert "ALPN protocol: dot" in text
    assert re.search(r"Compression: NONE", text)
    if option == "-tls1_2":
        assert "Secure Renegotiation IS supported" in text
        assert "Extended master secret: yes" in text


@pytest.mark.parametrize("option", ["-tls1", "-tls1_1"])
def test_old_versions_are_refused(dot, option):
    daemon = dot()
    _, text = s_client(daemon.tls, option, "-cipher", "ALL:@SECLEVEL=0")
    assert "Cipher is (NONE)" in text and "alert protocol version" in text
    assert daemon.metrics()['tls_handshakes_total{result="failed"}'] == 1


@pytest.mark.parametrize("key", ["ec", "rsa"])
@pytest.mark.parametrize("ciphers", [
    "aNULL", "eNULL", "kRSA", "RC4", "3DES", "EXPORT", "MD5", "PSK", "CAMELLIA", "ARIA", "SEED",
    "ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA:DHE-RSA-AES128-SHA:AES128-SHA",
    "ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA384:DHE-RSA-AES256-SHA256"])
def test_weak_ciphers_are_refused(dot, authority, key, ciphers):
    authority.make(key)
    _, text = s_client(dot().tls, "-tls1_2", "-cipher", f"{ciphers}:@SECLEVEL=0")
    assert "Cipher is (NONE)" in text or "no cipher match" in text  # openssl itself may lack all of these ciphers


@pytest.mark.parametrize("key", ["ec", "rsa"])
def test_good_ciphers_are_spoken(dot, authority, key):
    authority.make(key)
    daemon = dot()
    kind = "ECDSA" if key == "ec" else "RSA"
    for cipher in ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"):
        _, text = s_client(daemon.tls, "-tls1_2", "-cipher", f"ECDHE-{kind}-{cipher}")
        assert f"Cipher is ECDHE-{kind}-{cipher}" in text


def test_ciphers_and_groups_are_those_of_the_configuration(dot):
    daemon = dot({"server": {"tls-ciphers": "TLS_AES_256_GCM_SHA384", "tls-groups": "P-384"}})
    _, text = s_client(daemon.tls)
    assert "Cipher is TLS_AES_256_GCM_SHA384" in text and "ECDH, secp384r1" in text
    _, text = s_client(daemon.tls, "-ciphersuites", "TLS_AES_128_GCM_SHA256")
    assert "Cipher is (NONE)" in text


def test_another_protocol_is_refused_and_none_is_fine(dot):
    daemon = dot()
    _, text = s_client(daemon.tls, "-alpn", "h2")
    assert "alert no application protocol" in text
    _, text = s_client(daemon.tls, "-alpn", "h2,dot")
    assert "ALPN protocol: dot" in text
    _, text = s_client(daemon.tls)
    assert "No ALPN negotiated" in text and "New, TLSv1.3" in text


def test_renegotiation_is_refused(dot):
    daemon = dot()
    _, text = s_client(daemon.tls, "-tls1_2", said=b"R\n")
    assert "RENEGOTIATING" in text
    assert "no renegotiation" in text.split("RENEGOTIATING")[1]
    assert "status: NOERROR" in kdig(daemon.tls, "+tls")


def test_compression_is_not_spoken(dot):
    _, text = s_client(dot().tls, "-tls1_2", "-comp")
    assert "Compression: NONE" in text and "Expansion: NONE" in text


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_sessions_are_resumed_with_any_worker(dot, authority, version):
    daemon = dot(workers=2)
    with TlsStream(daemon.tls, authority, version=version) as client:
        assert client.ask() and not client.socket.session_reused
        session = client.resumable()
    for _ in range(8):
        with TlsStream(daemon.tls, authority, session=session) as client:
            assert client.ask() and client.socket.session_reused
            session = client.resumable()
    assert daemon.metrics()['tls_handshakes_total{result="resumed"}'] == 8


def test_s_client_resumes_its_saved_session(dot, authority):
    daemon = dot()
    saved = authority.folder / "session"
    for option in ("-tls1_2", "-tls1_3"):
        saved.unlink(missing_ok=True)
        first = subprocess.Popen([need("openssl"), "s_client", "-connect",
                                  f"{daemon.tls.ip}:{daemon.tls.port}", option, "-sess_out",
                                  str(saved)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        eventually(lambda: saved.exists() and saved.stat().st_size > 0)
        first.communicate(b"Q\n", timeout=10)
        _, text = s_client(daemon.tls, option, "-sess_in", saved)
        assert "Reused, TLS" in text


# ---- bad manners ----


def test_the_listener_survives_plain_dns_and_garbage(dot):
    daemon = dot()
    for data in (framed(query(NAME)), b"GET / HTTP/1.1\r\n\r\n", os.urandom(500), b"\x16\x03\x01"):
        with Stream(daemon.tls) as client:
            client.socket.sendall(data)
            client.socket.shutdown(socket.SHUT_WR)
            try:
                while client.socket.recv(1000):
                    pass
            except ConnectionResetError:
                pass
    eventually(lambda: daemon.metrics()['tls_handshakes_total{result="failed"}'] == 4)
    assert "status: NOERROR" in kdig(daemon.tls, "+tls")


def test_a_handshake_that_dawdles_is_cut(dot):
    daemon = dot()
    with Stream(daemon.tls, timeout=30) as client:
        client.socket.sendall(b"\x16\x03\x01\x01")
        assert client.ended()
    assert daemon.metrics()['tls_handshakes_total{result="timeout"}'] == 1


def test_an_idle_client_is_closed_with_close_notify(dot):
    daemon = dot({"server": {"client-idle-timeout": "1s"}})
    with TlsStream(daemon.tls) as client:
        client.send(query_with_options((KEEPALIVE, b"")))
        assert struct.pack(">HHH", KEEPALIVE, 2, 10) in client.read()
        assert client.ended()  # a missing close_notify would raise SSLEOFError


def test_the_end_of_the_daemon_is_a_close_notify(dot):
    daemon = dot()
    with TlsStream(daemon.tls) as client:
        assert client.ask()
        assert daemon.stop() == 0
        assert client.ended()


def test_status_log_and_metrics_tell_of_tls(dot):
    daemon = dot()
    assert {"address": daemon.tls.server, "protocols": "tls"} in daemon.ask("status")["listening"]
    assert f"listening on {daemon.tls.server}, TLS" in daemon.log()
    kdig(daemon.tls, "+tls")
    assert daemon.status()["queries"] == 1
    assert daemon.metrics()['answers_total{rcode="noerror"}'] == 1


def test_tcp_and_tls_clients_get_the_same_answer_and_are_counted_together(dot):
    daemon = dot()
    with Stream(daemon) as tcp, TlsStream(daemon.tls) as tls:
        tcp.send(query(NAME))
        assert tcp.read()[2:] == tls.ask()[2:]
        assert daemon.status()["stream_clients"] == 2


# ---- new certificates ----


def hang_up(daemon, words):
    """Sends SIGHUP. Returns the log line that follows."""
    before = len(daemon.log())
    daemon.send(signal.SIGHUP)
    eventually(lambda: words in daemon.log()[before:])
    return next(line for line in daemon.log()[before:].splitlines() if words in line)


def serves(daemon, der):
    with TlsStream(daemon.tls) as client:
        return client.certificate() == der and client.ask()


def test_a_new_certificate_is_served_and_cuts_off_no_client(dot, authority):
    daemon = dot(workers=2)
    old = authority.der()
    with TlsStream(daemon.tls, authority) as client:
        assert client.ask() and client.certificate() == old
        new = authority.make("rsa").der()
        hang_up(daemon, "is in effect after")
        for _ in range(8):  # eight connections reach every worker
            eventually(lambda: serves(daemon, new))
        assert client.ask(number=2)
        assert daemon.status()["stream_clients"] >= 1


def test_metrics_say_when_the_certificate_in_use_expires(nailupd, dot, authority):
    key = "tls_certificate_expiry_timestamp_seconds"

    def ends_at():
        text = ssl.DER_cert_to_PEM_cert(authority.der())
        done = subprocess.run(["openssl", "x509", "-noout", "-enddate"], input=text, text=True, capture_output=True)
        return ssl.cert_time_to_seconds(done.stdout.strip().partition("=")[2])

    assert nailupd().metrics()[key] == 0
    daemon = dot()
    old = ends_at()
    assert daemon.metrics()[key] == old
    authority.make(days=9)
    assert daemon.metrics()[key] == old < ends_at()
    daemon.ctl("reload")
    assert daemon.metrics()[key] == ends_at()


def test_sessions_outlive_a_new_certificate(dot, authority):
    daemon = dot()
    with TlsStream(daemon.tls, authority) as client:
        client.ask()
        session = client.resumable()
    hang_up(daemon, "is in effect after")
    with TlsStream(daemon.tls, authority, session=session) as client:
        assert client.ask() and client.socket.session_reused


def spoil_with_another_key(authority):
    authority.make(certificate=authority.folder / "unused")


def spoil_by_half(authority):
    text = authority.certificate.read_text()
    authority.certificate.write_text(text[:len(text) // 4])


def spoil_by_removal(authority):
    authority.key.unlink()


def spoil_with_nothing(authority):
    authority.certificate.write_text("")


def spoil_with_a_folder(authority):
    authority.key.unlink()
    authority.key.mkdir()


SPOILT = [spoil_with_another_key, spoil_by_half, spoil_by_removal, spoil_with_nothing,
          spoil_with_a_folder]


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_bad_certificate_changes_nothing(dot, authority, spoil):
    daemon = dot()
    old = authority.der()
    spoil(authority)
    hang_up(daemon, "reload failed: nothing was changed")
    assert re.search(r"error: server.tls-\w+: .*" + re.escape(str(authority.folder)), daemon.log())
    assert serves(daemon, old)
    if authority.key.is_dir():
        authority.key.rmdir()
    new = authority.make().der()
    hang_up(daemon, "is in effect after")
    eventually(lambda: serves(daemon, new))


def test_an_expired_certificate_is_served_with_a_warning(dot, authority):
    warning = r"warning: daemon: .* was valid until 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC: .*"
    authority.make(days=-1)
    daemon = dot()
    assert serves(daemon, authority.der())
    assert re.search(warning + re.escape(str(authority.certificate)), daemon.log())
    new = authority.make().der()
    hang_up(daemon, "is in effect after")
    eventually(lambda: serves(daemon, new))
    assert len(re.findall(warning, daemon.log())) == 1
    authority.make(days=-1)
    hang_up(daemon, "is in effect after")
    eventually(lambda: len(re.findall(warning, daemon.log())) == 2)
    spoil_with_another_key(authority)
    hang_up(daemon, "reload failed: nothing was changed")
    eventually(lambda: len(re.findall(warning, daemon.log())) == 3)


def test_a_reload_brings_tls_clients_and_takes_them_away(nailupd, responder, authority):
    daemon = nailupd(upstreams=[responder()], workers=2)
    ip, port = free_address()
    tls = types.SimpleNamespace(ip=ip, port=port)
    plain = daemon.config_path.read_text()
    config = json.loads(plain)
    config["server"].update(tls_options(authority, f"{ip}@{port}")["server"])
    daemon.config_path.write_text(json.dumps(config))
    daemon.ask("reload")
    with TlsStream(tls, authority) as client:
        assert client.ask() and client.certificate() == authority.der()
        for _ in range(4):
            with TlsStream(tls) as other:
                assert other.ask()
        daemon.config_path.write_text(plain)
        daemon.ask("reload")
        assert {row["protocols"] for row in daemon.ask("status")["listening"]} == {"udp tcp"}
    with pytest.raises(OSError):
        eventually(lambda: TlsStream(tls).ask() and False)


def test_many_signals_at_once_are_harmless(dot, authority):
    daemon = dot(workers=2)
    new = authority.make().der()
    with TlsStream(daemon.tls) as client:
        for _ in range(50):
            daemon.send(signal.SIGHUP)
        eventually(lambda: serves(daemon, new))
        assert client.ask()


# ---- failing starts ----


def start(tmp_path, make_config, options):
    config = make_config(options, upstreams=["127.0.0.1@5300"])
    path = tmp_path / "nailup.yaml"
    path.write_text(json.dumps(config, indent=1))
    return subprocess.run([program("nailupd"), "-c", str(path)], text=True, capture_output=True,
                          timeout=20)


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_start_without_a_good_certificate_exits_with_1(tmp_path, make_config, authority, spoil):
    spoil(authority)
    done = start(tmp_path, make_config, tls_options(authority, "%s@%d" % free_address()))
    assert done.returncode == 1, done.stderr
    assert "tls-" in done.stderr and str(authority.folder) in done.stderr


def test_a_tls_address_in_use_exits_with_3(tmp_path, make_config, authority):
    ip, port = free_address()
    with socket.create_server((ip, port)):
        done = start(tmp_path, make_config, tls_options(authority, f"{ip}@{port}"))
    assert done.returncode == 3
    assert f"{ip}@{port}" in done.stderr and "server.listen-tls" in done.stderr


def test_udp_beside_tls_may_belong_to_another_server(dot, authority):
    with socket.socket(type=socket.SOCK_DGRAM) as quic:
        quic.bind(("127.0.0.1", 0))
        daemon = dot({"server": {"listen-tls": ["127.0.0.1@%d" % quic.getsockname()[1]]}})
        daemon.tls.ip, daemon.tls.port = quic.getsockname()
        assert serves(daemon, authority.der())


def test_tls_may_be_all_that_is_served(dot, authority):
    daemon = dot({"server": {"listen": []}})
    assert serves(daemon, authority.der())
    assert [row["protocols"] for row in daemon.ask("status")["listening"]] == ["tls"]


def test_a_tls_address_that_the_machine_lacks_is_only_a_warning(dot, authority):
    ip, port = free_address()
    daemon = dot({"server": {"listen-tls": [f"{ip}@{port}", "192.0.2.1@853"]}})
    assert "192.0.2.1@853" in daemon.log()
    assert [row["address"] for row in daemon.ask("status")["listening"]
            if row["protocols"] == "tls"] == [f"{ip}@{port}"]
