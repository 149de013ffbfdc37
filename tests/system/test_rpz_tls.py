# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Response policy zones over authenticated TLS (RFC 9103) from BIND and NSD, and from primaries whose identity is in doubt: the
rules before stay in force, and nothing leaves in plain text."""

import socket
import threading
import time

import pytest

from conftest import eventually, free_address
from peers import Authority, nsd  # noqa: F401
from test_primaries import TlsBind
from test_rpz_transfers import ZONE, await_serial, blocks, policy, policy_text, primary, rewrite, row  # noqa: F401

NAME = "ns.held.test"
HANDSHAKE = 0x16  # a TLS connection begins with a record of this type


class Watched:
    """Passes connections on to a primary, and notes their first byte. It also notes datagrams to the same port."""

    def __init__(self):
        self.address, self.target = free_address("127.0.0.1"), None
        self.first, self.datagrams = [], 0
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(self.address)
        self.open()
        threading.Thread(target=self.watch, daemon=True).start()

    @property
    def server(self):
        return "%s@%d" % self.address

    def open(self):
        self.listener = socket.create_server(self.address)
        threading.Thread(target=self.serve, args=(self.listener,), daemon=True).start()

    def close(self):
        """Refuses connections from now on."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def watch(self):
        while self.udp.recv(4096):
            self.datagrams += 1

    def serve(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.play, args=(client,), daemon=True).start()

    def play(self, client):
        try:
            with client, socket.create_connection(self.target) as server:
                data = client.recv(65536)
                self.first.append(data[0] if data else None)
                server.sendall(data)
                threading.Thread(target=self.copy, args=(client, server), daemon=True).start()
                self.copy(server, client)
        except OSError:
            pass

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def over_tls(server):
    ip, port = server.over_tls.split("@")
    return ip, int(port)


@pytest.fixture
def watched(nailupd, primary, tmp_path):  # noqa: F811
    """Starts a daemon with the rules of a good primary behind a watched address. Yields (daemon, door, authority)."""
    authority, door = Authority(tmp_path / "authority"), Watched()
    good = primary(TlsBind, policy_text(1, "bad.test"), authority)
    door.target = over_tls(good)
    daemon = nailupd({**policy(f"{door.server}#{NAME}"), "upstream": {"ca-bundle": str(authority.ca_file)}})
    await_serial(daemon, 1)
    return daemon, door, authority


def judge(daemon, door, dig, reason):
    """Checks that the rules of serial 1 are in force, that the log names the reason, and that only TLS has left."""
    eventually(lambda: row(daemon)["state"] == "kept", 20)
    assert row(daemon)["serial"] == 1 and blocks(daemon, dig) and not blocks(daemon, dig, "worse.test")
    assert reason in row(daemon)["why"], row(daemon)["why"]
    assert reason in daemon.log()
    assert set(door.first) <= {HANDSHAKE} and door.datagrams == 0, (door.first, door.datagrams)


def visit_again(daemon):
    """Changes the bound of the zone, so that it is fetched again at once."""
    rewrite(daemon, lambda config: config["rpz"][0].update({"max-bytes": "100MiB"}))


def test_rules_come_from_bind_over_tls(watched, dig):
    daemon, door, _ = watched
    assert "AXFR over TLS" in daemon.log() and blocks(daemon, dig)
    assert set(door.first) == {HANDSHAKE} and door.datagrams == 0


def test_rules_come_from_nsd_over_tls(nailupd, nsd, dig, tmp_path):  # noqa: F811
    authority = Authority(tmp_path / "authority")
    server = nsd({ZONE: policy_text(6, "bad.test")}, authority=authority, has_transfers=True)
    daemon = nailupd({**policy({"address": server.server, "tls": "yes"}), "upstream": {"ca-bundle": str(authority.ca_file)}})
    await_serial(daemon, 6)
    assert "AXFR over TLS" in daemon.log() and blocks(daemon, dig)


def test_a_primary_of_another_name_changes_no_rules(watched, primary, dig):  # noqa: F811
    daemon, door, authority = watched
    door.target = over_tls(primary(TlsBind, policy_text(2, "worse.test"), authority))
    rewrite(daemon, lambda config: config["rpz"][0].update(primaries=[f"{door.server}#other.test"]))
    judge(daemon, door, dig, "another name")


@pytest.mark.parametrize("fault, reason", [("authority", "authority"), ("expired", "expired")])
def test_a_primary_with_a_bad_certificate_changes_no_rules(watched, primary, dig, tmp_path, fault, reason):  # noqa: F811
    daemon, door, authority = watched
    signer = Authority(tmp_path / "other") if fault == "authority" else authority
    door.target = over_tls(primary(TlsBind, policy_text(2, "worse.test"), signer, days=0 if fault == "expired" else 2))
    time.sleep(1.1)  # a certificate of 0 days is valid only in the second when it is made
    visit_again(daemon)
    judge(daemon, door, dig, reason)


def test_a_primary_without_tls_changes_no_rules(watched, primary, dig):  # noqa: F811
    daemon, door, authority = watched
    plain = primary(TlsBind, policy_text(2, "worse.test"), authority)
    door.target = (plain.ip, plain.port)
    visit_again(daemon)
    judge(daemon, door, dig, "did not open within")


def test_a_closed_port_changes_no_rules(watched, dig):
    daemon, door, _ = watched
    door.close()
    visit_again(daemon)
    judge(daemon, door, dig, "refused")
    door.open()
    await_serial(daemon, 1, within=30)  # after the retry of the zone's SOA record
