# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""DNS over HTTPS for clients, with kdig, dig, curl, h2load and the HTTP/2 library of Python: answers, refusals, ends, proxies,
and clients that attack."""

import base64
import json
import re
import signal
import socket
import ssl
import struct
import subprocess
import types

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import pytest

from conftest import eventually, free_address
from peers import need, query, rcode_of, udp_ask
from proxies import PROXY, haproxy  # noqa: F401
from test_dot import HOST, NAME, TlsStream, authority  # noqa: F401
from test_proxied import connects, expect_clients, header

PATH, TYPE = "/dns-query", "application/dns-message"


def https_options(authority, *addresses):
    return {"listen-https": list(addresses), "tls-certificate": str(authority.certificate),
            "tls-key": str(authority.key)}


@pytest.fixture
def doh(nailupd, responder, authority):
    """doh(config): starts a daemon with a listener for HTTPS at daemon.https."""

    def start(config=None, upstream=(), more=None):
        ip, port = free_address()
        options = {"server": https_options(authority, f"{ip}@{port}"), **(more or {})}
        for section, values in (config or {}).items():
            options.setdefault(section, {}).update(values)
        daemon = nailupd(options, upstreams=[responder(*upstream)])
        daemon.https = types.SimpleNamespace(ip=ip, port=port, server=f"{ip}@{port}")
        return daemon

    return start


def base64url(message):
    return base64.urlsafe_b64encode(message).rstrip(b"=").decode()


class Client:
    """A client with one connection. Windows of the library open by themselves unless window is given."""

    def __init__(self, server, source=None, window=None, inside=b""):
        self.tcp = socket.create_connection((server.ip, server.port), 10, (source, 0) if source else None)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(self.tcp, server_hostname=HOST)
        self.socket.sendall(inside)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.window, self.answers, self.events, self.goaways, self.rest = window, {}, [], [], b""
        self.h2.initiate_connection()
        if window is not None:
            self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def post(self, message, path=PATH, kind=TYPE, method="POST"):
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, [(":method", method), (":scheme", "https"), (":authority", HOST), (":path", path),
                                      ("content-type", kind)])
        self.h2.send_data(stream, message, end_stream=True)
        return stream

    def get(self, target):
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, [(":method", "GET"), (":scheme", "https"), (":authority", HOST), (":path", target)],
                             end_stream=True)
        return stream

    def read(self):
        """Takes what the server sends next. Returns False at its end."""
        data = self.socket.recv(65536)
        if not data:
            return False
        for event in self.h2.receive_data(self.without_goaways(data)):
            self.events.append(event)
            if isinstance(event, h2.events.DataReceived):
                self.answers[event.stream_id] = self.answers.get(event.stream_id, b"") + event.data
                if self.window is None:
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        self.flush()
        return True

    def without_goaways(self, data):
        """Returns the whole frames so far. The library would take a GOAWAY for the end of the connection."""
        self.rest += data
        frames = b""
        while len(self.rest) >= 9 and len(self.rest) >= 9 + (size := int.from_bytes(self.rest[:3], "big")):
            one, self.rest = self.rest[:9 + size], self.rest[9 + size:]
            if one[3] == 7:
                self.goaways.append(types.SimpleNamespace(last=int.from_bytes(one[9:13], "big"),
                                                          code=int.from_bytes(one[13:17], "big")))
            else:
                frames += one
        return frames

    def event(self, kind, stream=None):
        """Waits for such an event, and returns it."""
        while True:
            for event in self.events:
                if isinstance(event, kind) and (stream is None or event.stream_id == stream):
                    return event
            assert self.read(), "the connection has ended"

    def answer(self, stream):
        self.flush()
        self.event(h2.events.StreamEnded, stream)
        return self.answers.get(stream)

    def headers(self, stream):
        self.flush()
        return dict(self.event(h2.events.ResponseReceived, stream).headers)

    def ask(self, name=NAME, number=0):
        return self.answer(self.post(query(name, number)))

    def ends(self):
        """Waits until the server has ended the connection. Returns the last GOAWAY, or None."""
        try:
            while self.read():
                pass
        except (OSError, h2.exceptions.ProtocolError):
            pass
        return self.goaways[-1] if self.goaways else None


# ---- programs ----


def curl(daemon, authority, *options, path=PATH):
    done = subprocess.run([need("curl"), "--silent", "--show-error", "--http2", "--cacert", authority.ca, "--resolve",
                           f"{HOST}:{daemon.https.port}:{daemon.https.ip}", "--dump-header", "-", *options,
                           f"https://{HOST}:{daemon.https.port}{path}"], capture_output=True, timeout=30)
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    return done, head.decode(), body


@pytest.mark.parametrize("option, method", [("+https", "POST"), ("+https-get", "GET")])
def test_kdig_is_answered(doh, option, method):
    daemon = doh()
    done = subprocess.run([need("kdig"), f"@{daemon.https.ip}", "-p", str(daemon.https.port), "+retry=0", option, NAME],
                          text=True, capture_output=True, timeout=30)
    text = done.stdout + done.stderr
    assert "status: NOERROR" in text and f"(HTTP/2-{method})" in text and "(status: 200)" in text
    metrics = daemon.metrics()
    assert metrics['queries_total{protocol="https"}'] == 1
    assert metrics['questions_total{type="A",protocol="https"}'] == 1
    assert metrics['tls_handshakes_total{result="full"}'] == 1


@pytest.mark.parametrize("option", ["+https", "+https-get"])
def test_dig_is_answered(doh, option):
    daemon = doh()
    done = subprocess.run([need("dig"), f"@{daemon.https.ip}", "-p", str(daemon.https.port), "+tries=1", option, NAME],
                          text=True, capture_output=True, timeout=30)
    assert "status: NOERROR" in done.stdout and "(HTTPS" in done.stdout


def test_curl_sees_a_verified_answer_and_its_age(doh, authority):
    daemon = doh()
    done, head, body = curl(daemon, authority, path=f"{PATH}?dns={base64url(query(NAME))}")
    assert done.returncode == 0, done.stderr
    assert head.startswith("HTTP/2 200") and f"content-type: {TYPE}" in head
    ttl = struct.unpack(">I", body[-8 - 2:-6])[0]  # of the only record, an address
    assert f"cache-control: private, max-age={ttl}" in head and f"content-length: {len(body)}" in head
    assert rcode_of(body) == 0


def test_another_certificate_is_not_trusted(doh, authority, tmp_path):
    daemon = doh()
    other = types.SimpleNamespace(ca=tmp_path / "other.pem")
    subprocess.run([need("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", tmp_path / "other.key", "-out", other.ca, "-subj", "/CN=other"], check=True,
                   capture_output=True, timeout=30)
    done, _, _ = curl(daemon, other)
    assert done.returncode == 60


def test_http_1_is_not_spoken(doh, authority):
    daemon = doh()
    done, head, _ = curl(daemon, authority, "--http1.1")
    assert done.returncode != 0 and not head


def test_h2load_gets_all_its_answers(doh, tmp_path):
    daemon = doh()
    message = tmp_path / "query"
    message.write_bytes(query(NAME, 0))
    done = subprocess.run([need("h2load"), "-n", "2000", "-c", "4", "-m", "100", "-d", message, "-H",
                           f"content-type: {TYPE}", f"https://{daemon.https.ip}:{daemon.https.port}{PATH}"], text=True,
                          capture_output=True, timeout=60)
    assert "2000 succeeded, 0 failed, 0 errored" in done.stdout, done.stdout + done.stderr
    assert daemon.metrics()['queries_total{protocol="https"}'] == 2000


# ---- requests ----


def test_requests_without_a_query_get_their_status(doh):
    daemon = doh()
    with Client(daemon.https) as client:
        cases = {"404": client.get("/"), "400": client.get(PATH), "405": client.post(b"x", method="PUT"),
                 "415": client.post(b"x", kind="text/plain"), "413": client.post(bytes(4095)),
                 "414": client.get(f"{PATH}?dns=" + "A" * 5480)}
        for status, stream in cases.items():
            assert client.headers(stream)[":status"] == status
        assert client.headers(client.post(b"too short"))[":status"] == "400"
        assert rcode_of(client.ask()) == 0  # on the same connection
    assert daemon.metrics()["http_requests_refused_total"] == 7


def test_many_queries_of_one_connection_find_their_answers(doh):
    daemon = doh()
    with Client(daemon.https) as client:
        for turn in range(5):
            streams = {client.post(query(f"n{turn}x{number}.example", 0)): number for number in range(100)}
            for stream, number in streams.items():
                answer = client.answer(stream)
                assert answer[:2] == b"\0\0" and f"n{turn}x{number}".encode() in answer
    assert daemon.metrics()['tls_handshakes_total{result="full"}'] == 1


def test_padded_queries_get_padded_answers(doh):
    daemon = doh()
    opt = struct.pack(">BHHIHHH", 0, 41, 1232, 0, 64, 12, 60) + bytes(60)
    plain = query(NAME)
    with Client(daemon.https) as client:
        assert len(client.answer(client.post(plain[:10] + struct.pack(">H", 1) + plain[12:] + opt))) == 468


def test_the_query_log_names_the_transport(doh):
    daemon = doh({"log": {"queries": "yes"}})
    with Client(daemon.https) as client:
        client.ask()
    eventually(lambda: re.search(rf"query: \S+ https {NAME}\. A IN", daemon.log()))


def test_a_query_that_a_local_zone_drops_ends_with_a_reset(doh):
    daemon = doh(more={"local-zones": [{"name": "drop.example", "action": "drop"}]})
    with Client(daemon.https) as client:
        stream = client.post(query("x.drop.example", 0))
        client.flush()
        assert client.event(h2.events.StreamReset, stream).error_code == h2.errors.ErrorCodes.CANCEL
        assert rcode_of(client.ask()) == 0


def test_each_port_speaks_its_own_protocol(doh, authority):
    ip, port = free_address()
    daemon = doh({"server": {"listen-tls": [f"{ip}@{port}"]}})
    tls = types.SimpleNamespace(ip=ip, port=port)
    with TlsStream(tls, authority) as stream:
        assert rcode_of(stream.ask()) == 0
    with pytest.raises(OSError):
        TlsStream(daemon.https)
    with pytest.raises(OSError):
        Client(tls)
    listening = {row["address"]: row["protocols"] for row in daemon.ask("status")["listening"]}
    assert listening[daemon.https.server] == "https" and listening[f"{ip}@{port}"] == "tls"


def test_clients_that_may_not_ask_get_no_handshake(doh):
    daemon = doh({"server": {"access": [{"prefix": "127.0.0.0/8", "action": "allow"},
                                        {"prefix": "127.251.0.1", "action": "refuse"}]}})
    with pytest.raises(OSError):
        Client(daemon.https, source="127.251.0.1")


# ---- ends ----


def reload(daemon, **server):
    config = json.loads(daemon.config_path.read_text())
    config["server"].update(server)
    daemon.config_path.write_text(json.dumps(config))
    done = daemon.ctl("reload")
    assert done.returncode == 0, done.stderr


def test_a_stop_answers_the_queries_that_wait(doh):
    daemon = doh(upstream=["--delay", "500"])
    with Client(daemon.https) as client:
        client.ask("first.example")
        stream = client.post(query("second.example", 0))
        client.flush()
        eventually(lambda: daemon.metrics()['queries_total{protocol="https"}'] == 2)
        daemon.send(signal.SIGTERM)
        assert rcode_of(client.answer(stream)) == 0
        end = client.ends()
        assert end.code == h2.errors.ErrorCodes.NO_ERROR and end.last == stream
    assert daemon.stop() == 0


def test_an_idle_client_gets_a_goaway(doh):
    daemon = doh({"server": {"client-idle-timeout": "1s"}})
    with Client(daemon.https) as client:
        client.ask()
        assert client.ends().code == h2.errors.ErrorCodes.NO_ERROR


def test_a_removed_address_sends_its_clients_away(doh):
    daemon = doh()
    with Client(daemon.https) as client:
        client.ask()
        reload(daemon, **{"listen-https": []})
        assert client.ends().code == h2.errors.ErrorCodes.NO_ERROR
        assert [goaway.last for goaway in client.goaways] == [2**31 - 1, 1]
    with pytest.raises(OSError):
        Client(daemon.https)
    assert rcode_of(udp_ask(daemon, query(NAME))) == 0


def test_a_new_path_and_certificate_count_for_new_connections(doh, authority):
    daemon = doh()
    with Client(daemon.https) as client:
        client.ask()
        authority.make()
        reload(daemon, **{"https-path": "/other"})
        assert rcode_of(client.ask()) == 0
        with Client(daemon.https) as later:
            assert later.headers(later.post(query(NAME)))[":status"] == "404"
            assert rcode_of(later.answer(later.post(query(NAME), path="/other"))) == 0
            assert later.socket.getpeercert(binary_form=True) == authority.der()


# ---- proxies ----


def test_haproxy_names_its_clients_outside_tls(nailupd, responder, haproxy, authority):  # noqa: F811
    ip, port = free_address()
    access = [{"prefix": "127.9.9.0/24", "action": "allow"}]
    daemon = nailupd({"server": {**https_options(authority, f"{ip}@{port}"), "proxy-from": [PROXY], "access": access},
                      "log": {"queries": "yes"}}, upstreams=[responder()])
    proxy = haproxy([f"{ip}:{port} source {PROXY} send-proxy-v2"])
    eventually(lambda: connects(proxy))
    with Client(proxy, source="127.9.9.9") as client:
        assert rcode_of(client.ask()) == 0
    expect_clients(daemon, ("127.9.9.9", "https"))


def test_a_header_inside_tls_names_the_client(nailupd, responder, authority):
    ip, port = free_address()
    access = [{"prefix": "127.9.9.0/24", "action": "allow"}]
    daemon = nailupd({"server": {**https_options(authority, f"{ip}@{port}"), "proxy-from": [PROXY], "access": access,
                                 "proxy-tls": "inside"}, "log": {"queries": "yes"}}, upstreams=[responder()])
    with Client(types.SimpleNamespace(ip=ip, port=port), source=PROXY, inside=header()) as client:
        assert rcode_of(client.ask()) == 0
    expect_clients(daemon, ("127.9.9.9", "https"))


# ---- attacks ----


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def still_serves(daemon):
    with Client(daemon.https) as client:
        assert rcode_of(client.ask()) == 0


def send_until_the_end(client, piece):
    """Sends this again and again until the server ends the connection."""
    try:
        for _ in range(100000):
            client.socket.sendall(piece)
    except OSError:
        return
    assert client.ends(), "the server takes it without end"


@pytest.mark.parametrize("piece", [
    frame(6, payload=bytes(8)) * 50, frame(4) * 50, frame(0x77, payload=b"x") * 500,
    frame(8, payload=b"\0\0\0\1") * 50, frame(2, stream=1, payload=b"\0\0\0\0\1") * 50,
], ids=["pings", "settings", "unknown", "windows", "priorities"])
def test_floods_of_frames_end_the_connection(doh, piece):
    daemon = doh()
    with Client(daemon.https) as client:
        client.ask()
        send_until_the_end(client, piece)
    eventually(lambda: daemon.metrics()['http_connections_failed_total{reason="flood"}'] == 1)
    still_serves(daemon)


def test_a_flood_of_continuations_ends_the_connection(doh):
    daemon = doh()
    with Client(daemon.https) as client:
        client.socket.sendall(frame(1, 0, 1, b"\x82"))
        send_until_the_end(client, frame(9, 0, 1, b"\0\1x\1y") * 50)
    still_serves(daemon)


def test_cancelled_queries_end_the_connection(doh):
    """CVE-2023-44487. The upstream never answers, so the queries wait."""
    daemon = doh(upstream=["--loss", "100"])
    with Client(daemon.https) as client:
        try:
            for _ in range(3000):
                stream = client.post(query(f"n{_}.example", 0))
                client.h2.reset_stream(stream)
                client.flush()
        except OSError:
            pass
        client.ends()
    eventually(lambda: daemon.metrics()['http_connections_failed_total{reason="flood"}'] == 1)


def test_a_client_that_never_opens_its_windows_is_reset(doh):
    daemon = doh()
    with Client(daemon.https, window=0) as client, Client(daemon.https) as other:
        for number in range(100):
            client.post(query(f"n{number}.example", 0, kind=16))
        client.flush()
        assert rcode_of(other.ask()) == 0
        assert daemon.metrics()["stream_memory_bytes"] < 1024 * 1024
    still_serves(daemon)


def test_requests_that_never_end_do_not_delay_others(doh):
    daemon = doh()
    with Client(daemon.https) as client, Client(daemon.https) as other:
        for _ in range(100):
            stream = client.h2.get_next_available_stream_id()
            client.h2.send_headers(stream, [(":method", "POST"), (":scheme", "https"), (":authority", HOST),
                                            (":path", PATH), ("content-type", TYPE)])
            client.h2.send_data(stream, bytes(600))
        client.flush()
        assert rcode_of(other.ask()) == 0
        assert rcode_of(client.ask("another.example")) == 0
        assert daemon.metrics()["stream_memory_bytes"] < 1024 * 1024
