# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Zones from real primaries: BIND, Knot DNS and NSD. Most basic first."""

import base64
import json
import os
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import eventually, free_address, program
from peers import Authority, Server, need, nsd  # noqa: F401

ZONE = "held.test"
SECRET = base64.b64encode(b"a secret of the tests, long enough").decode()
KEY = "transfer.test"


def zone_text(serial, *more, expire=3600, refresh=3600):
    rows = [f"@ 60 SOA ns mail {serial} {refresh} 5 {expire} 60", "@ 60 NS ns", "ns 60 A 192.0.2.1", "www 60 A 192.0.2.2"]
    return f"$ORIGIN {ZONE}.\n" + "\n".join([*rows, *more]) + "\n"


class Bind(Server):
    """A named with one zone, which the tests change by dynamic updates. key: transfers need it."""

    def __init__(self, folder, text, key=False, notify=None):
        folder.mkdir()
        address = free_address("127.0.0.1")  # named listens only on addresses of interfaces
        self.nsupdate = need("nsupdate")
        (folder / "zone").write_text(text)
        allow = f"key {KEY}" if key else "any"
        also = f"also-notify {{ {notify[0]} port {notify[1]}{f' key {KEY}' if key else ''}; }}; notify explicit;" \
            if notify else "notify no;"
        (folder / "named.conf").write_text(f"""
options {{ directory "{folder}"; listen-on port {address[1]} {{ {address[0]}; }}; listen-on-v6 {{ none; }};
  pid-file none; session-keyfile none; recursion no; dnssec-validation no; notify-delay 0; query-source address {address[0]};
  notify-source {address[0]}; }};
controls {{ }};
key {KEY} {{ algorithm hmac-sha256; secret "{SECRET}"; }};
zone "{ZONE}" {{ type primary; file "zone"; allow-transfer {{ {allow}; }}; allow-update {{ any; }}; {also} }};
""")
        super().__init__(folder, address, need("named"), "-g", "-c", str(folder / "named.conf"))
        self.wait_until_ready()

    def update(self, *commands, zone=ZONE):
        text = f"server {self.ip} {self.port}\nzone {zone}\n" + "".join(f"update {row}\n" for row in commands) + "send\n"
        done = subprocess.run([self.nsupdate], input=text, text=True, capture_output=True, timeout=20)
        assert done.returncode == 0, done.stderr


class Knot(Server):
    """A knotd with one zone, over plain text or TLS (XoT)."""

    def __init__(self, folder, text, authority=None, key=False):
        folder.mkdir()
        address = free_address()
        over_tls = free_address(address[0])
        (folder / "zone").write_text(text)
        listen = f"listen: {address[0]}@{address[1]}\n"
        if authority:
            pem, secret = authority.sign("DNS:ns.held.test")
            listen += f"    listen-tls: {over_tls[0]}@{over_tls[1]}\n    cert-file: {pem}\n    key-file: {secret}\n"
        rule = f"key: {KEY}" if key else "address: 127.0.0.0/8"
        (folder / "knot.conf").write_text(f"""
server:
    rundir: {folder}
    {listen}
database:
    storage: {folder}
key:
  - id: {KEY}
    algorithm: hmac-sha256
    secret: {SECRET}
acl:
  - id: transfer
    {rule}
    action: transfer
zone:
  - domain: {ZONE}
    file: {folder}/zone
    acl: transfer
""")
        super().__init__(folder, address, need("knotd"), "-c", str(folder / "knot.conf"))
        self.over_tls = "%s@%d" % over_tls
        self.wait_until_ready()


@pytest.fixture
def primary(tmp_path):
    """primary(Bind, text, ...): starts a primary in a new folder."""
    started = []

    def start(kind, *words, **more):
        started.append(kind(tmp_path / f"primary-{len(started)}", *words, **more))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def secret_file(tmp_path):
    def write(text=SECRET):
        path = tmp_path / "secret"
        path.write_text(text + "\n")
        path.chmod(0o600)
        return path
    return write


def held(*primaries, **more):
    """Returns the configuration of one zone with these primaries."""
    return {"auth-zones": [{"name": ZONE, "primaries": list(primaries), **more}]}


def keys(path, name=KEY):
    return {"tsig-keys": [{"name": name, "algorithm": "hmac-sha256", "secret-file": str(path)}]}


def row(daemon):
    return daemon.ask("zones")["held_zones"][0]


def await_serial(daemon, serial, within=20):
    eventually(lambda: row(daemon)["serial"] == serial and row(daemon)["state"] == "served", within)


def survivor(tmp_path, config):
    """Returns a configuration with a transfer-directory."""
    folder = tmp_path / "zones"
    folder.mkdir()
    return {**config, "transfer-directory": str(folder)}


def start_after_crash(nailupd, daemon, server, config):
    """Kills the daemon and the primary, and starts the daemon again."""
    server.kill()
    daemon.process.kill()
    daemon.process.wait()
    return nailupd(config)


def start_after_expiry(nailupd, daemon, server, config, age_s):
    """Stops the daemon and the primary, and starts the daemon again when its zone has this age."""
    assert daemon.stop() == 0
    server.kill()
    [path] = Path(config["transfer-directory"]).iterdir()
    os.utime(path, (time.time() - age_s, time.time() - age_s))
    return nailupd(config)


def transfers(daemon, result):
    return daemon.metrics()[f'zone_transfers_total{{result="{result}"}}']


def test_a_zone_comes_from_bind(nailupd, primary, dig):
    bind = primary(Bind, zone_text(1))
    daemon = nailupd(held(bind.server))
    await_serial(daemon, 1)
    answer = dig(daemon, f"www.{ZONE}")
    assert answer.data == ["192.0.2.2"] and "aa" in answer.flags
    assert transfers(daemon, "whole") == 1
    assert "AXFR: 4 records" in daemon.log()


def test_a_notify_brings_the_changes(nailupd, make_config, primary, dig):
    address = free_address()
    # BIND sends a whole zone if that is shorter than the changes
    fill = [f"h{number} 60 A 192.0.2.9" for number in range(50)]
    bind = primary(Bind, zone_text(1, *fill), notify=address)
    daemon = nailupd({**held(bind.server), "server": {"listen": ["%s@%d" % address]}})
    await_serial(daemon, 1)
    bind.update("add new.held.test 60 A 192.0.2.7", "delete www.held.test A")
    await_serial(daemon, 2)
    assert dig(daemon, f"new.{ZONE}").data == ["192.0.2.7"]
    assert dig(daemon, f"www.{ZONE}").status == "NXDOMAIN"
    assert transfers(daemon, "changes") == 1
    assert daemon.metrics()['notifies_total{result="taken"}'] >= 1


def test_a_notify_from_elsewhere_is_refused(nailupd, primary):
    bind = primary(Bind, zone_text(1))
    daemon = nailupd(held(bind.server))
    await_serial(daemon, 1)
    for name, status in ((ZONE, "REFUSED"), ("other.test", "NOTAUTH")):
        done = subprocess.run([need("dig"), f"@{daemon.ip}", "-p", str(daemon.port), "+tries=1", "+opcode=notify", name,
                               "SOA", "-b", "127.0.0.9"], text=True, capture_output=True, timeout=20)
        assert f"status: {status}" in done.stdout
    assert daemon.metrics()['notifies_total{result="refused"}'] == 2
    assert transfers(daemon, "current") == 0


def test_signed_transfers_and_notifies(nailupd, primary, secret_file):
    address = free_address()
    bind = primary(Bind, zone_text(1), key=True, notify=address)
    daemon = nailupd({**held({"address": bind.server, "tsig-key": KEY}), **keys(secret_file()),
                      "server": {"listen": ["%s@%d" % address]}})
    await_serial(daemon, 1)
    bind.update("add new.held.test 60 A 192.0.2.7")
    await_serial(daemon, 2)
    assert transfers(daemon, "changes") == 1
    assert daemon.metrics()['notifies_total{result="refused"}'] == 0


def test_a_wrong_secret_transfers_nothing(nailupd, primary, secret_file, dig):
    bind = primary(Bind, zone_text(1), key=True)
    wrong = base64.b64encode(b"another secret").decode()
    daemon = nailupd({**held({"address": bind.server, "tsig-key": KEY}), **keys(secret_file(wrong))})
    eventually(lambda: row(daemon)["state"] == "failed")
    assert "BADSIG" in row(daemon)["why"]
    assert dig(daemon, f"www.{ZONE}").status == "SERVFAIL"


def test_a_secret_is_never_printed(nailupd, primary, secret_file):
    bind = primary(Bind, zone_text(1), key=True)
    daemon = nailupd({**held({"address": bind.server, "tsig-key": KEY}), **keys(secret_file())})
    await_serial(daemon, 1)
    printed = subprocess.run([program("nailupd"), "--print-config", "-c", str(daemon.config_path)], text=True,
                             capture_output=True, timeout=20).stdout
    assert KEY in printed and SECRET not in printed and SECRET not in daemon.log()


def test_a_zone_comes_from_nsd(nailupd, nsd, dig):  # noqa: F811
    server = nsd({ZONE: zone_text(7, *(f"h{number} 60 A 192.0.2.9" for number in range(5000)))})
    server.process.kill()  # the fixture's zones allow no transfers
    server.process.wait(5)
    config = server.folder / "nsd.conf"
    config.write_text(config.read_text() + "  provide-xfr: 127.0.0.0/8 NOKEY\n")
    server.start()
    server.wait_until_ready()
    daemon = nailupd(held(server.server))
    await_serial(daemon, 7)
    assert row(daemon)["records"] == 5004
    assert dig(daemon, f"h4999.{ZONE}").data == ["192.0.2.9"]


def test_a_zone_comes_from_knot(nailupd, primary, secret_file):
    knot = primary(Knot, zone_text(9), key=True)
    daemon = nailupd({**held({"address": knot.server, "tsig-key": KEY}), **keys(secret_file())})
    await_serial(daemon, 9)


def knot_speaks_tls():
    found = subprocess.run([need("knotd"), "--version"], text=True, capture_output=True).stdout
    return tuple(int(part) for part in found.split()[-1].split(".")[:2]) >= (3, 5)


class TlsDoor:
    """Ends TLS in front of a primary that has none. protocols: the ALPN protocol of each connection."""

    def __init__(self, authority, target, name):
        pem, secret = authority.sign(f"DNS:{name}")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, secret)
        context.set_alpn_protocols(["dot"])
        self.address = free_address()
        self.listener = socket.create_server(self.address)
        self.protocols = []

        def pump(source, sink):
            try:
                while data := source.recv(65536):
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        def serve():
            while True:
                try:
                    plain, _ = self.listener.accept()
                except OSError:
                    return
                try:
                    client = context.wrap_socket(plain, server_side=True)
                except (ssl.SSLError, OSError):
                    plain.close()
                    continue
                self.protocols.append(client.selected_alpn_protocol())
                server = socket.create_connection(target)
                threading.Thread(target=pump, args=(client, server), daemon=True).start()
                threading.Thread(target=pump, args=(server, client), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()

    @property
    def server(self):
        return "%s@%d" % self.address


def test_a_transfer_over_tls(nailupd, primary, tmp_path):
    authority = Authority(tmp_path / "authority")
    bind = primary(Bind, zone_text(1))
    door = TlsDoor(authority, (bind.ip, bind.port), "ns.held.test")
    daemon = nailupd({**held(f"{door.server}#ns.held.test"), "upstream": {"ca-bundle": str(authority.ca_file)}})
    await_serial(daemon, 1)
    assert door.protocols == ["dot"]
    assert "AXFR over TLS" in daemon.log()


def test_a_wrong_name_transfers_nothing(nailupd, primary, tmp_path):
    authority = Authority(tmp_path / "authority")
    bind = primary(Bind, zone_text(1))
    door = TlsDoor(authority, (bind.ip, bind.port), "ns.held.test")
    daemon = nailupd({**held(f"{door.server}#other.test"), "upstream": {"ca-bundle": str(authority.ca_file)}})
    eventually(lambda: row(daemon)["state"] == "failed")
    assert "another name" in row(daemon)["why"]


def test_xot_from_knot(nailupd, primary, tmp_path):
    if not knot_speaks_tls():
        pytest.skip("this Knot DNS has no TLS for transfers; 3.5 has")
    authority = Authority(tmp_path / "authority")
    knot = primary(Knot, zone_text(3), authority=authority)
    daemon = nailupd({**held(f"{knot.over_tls}#ns.held.test"), "upstream": {"ca-bundle": str(authority.ca_file)}})
    await_serial(daemon, 3)


def test_a_zone_survives_a_crash_without_its_primary(nailupd, make_config, primary, dig, tmp_path):
    bind = primary(Bind, zone_text(1))
    config = survivor(tmp_path, held(bind.server))
    daemon = nailupd(config)
    await_serial(daemon, 1)
    daemon = start_after_crash(nailupd, daemon, bind, config)
    assert row(daemon)["serial"] == 1
    assert dig(daemon, f"www.{ZONE}").data == ["192.0.2.2"]
    eventually(lambda: row(daemon)["state"] == "kept")
    assert dig(daemon, f"www.{ZONE}").data == ["192.0.2.2"]


def test_an_expired_zone_is_not_served(nailupd, primary, dig, tmp_path):
    bind = primary(Bind, zone_text(1, expire=100))
    config = survivor(tmp_path, held(bind.server))
    daemon = nailupd(config)
    await_serial(daemon, 1)
    assert 0 < daemon.metrics()["zone_expires_in_seconds"] <= 100
    daemon = start_after_expiry(nailupd, daemon, bind, config, 101)
    eventually(lambda: daemon.metrics()['held_zones{state="expired"}'] == 1)
    assert dig(daemon, f"www.{ZONE}").status == "SERVFAIL"
    bind.start()
    await_serial(daemon, 1, within=30)
    assert dig(daemon, f"www.{ZONE}").data == ["192.0.2.2"]


def test_a_primary_that_dies_leaves_the_old_version(nailupd, primary, dig):
    bind = primary(Bind, zone_text(1))
    address = free_address()
    daemon = nailupd({**held(bind.server, "%s@%d" % free_address(), **{"allow-notify": ["127.0.0.9"]}),
                      "server": {"listen": ["%s@%d" % address]}})
    await_serial(daemon, 1)
    bind.kill()
    subprocess.run([need("dig"), f"@{daemon.ip}", "-p", str(daemon.port), "+tries=1", "+opcode=notify", ZONE, "SOA", "-b",
                    "127.0.0.9"], capture_output=True, timeout=20)
    eventually(lambda: transfers(daemon, "failed") >= 1, within=15)
    assert row(daemon)["state"] == "kept"
    assert dig(daemon, f"www.{ZONE}").data == ["192.0.2.2"]


class CuttingDoor:
    """Passes this many bytes of a primary's answers on, and closes."""

    def __init__(self, target, limit):
        self.address, self.limit, self.cuts = free_address(), limit, 0
        self.listener = socket.create_server(self.address)
        threading.Thread(target=self.serve, args=(target,), daemon=True).start()

    def serve(self, target):
        while True:
            client, _ = self.listener.accept()
            with client, socket.create_connection(target) as server:
                threading.Thread(target=self.copy, args=(client, server), daemon=True).start()
                left = self.limit
                while left > 0 and (data := server.recv(left)):
                    left -= len(data)
                    client.sendall(data)
                self.cuts += left == 0
                client.shutdown(socket.SHUT_RDWR)  # close() alone would wait for the other thread

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(4096):
                sink.sendall(data)
        except OSError:
            pass

    @property
    def server(self):
        return "%s@%d" % self.address


def test_a_cut_transfer_leaves_the_old_version(nailupd, primary, dig):
    fill = [f"h{number} 60 A 192.0.2.9" for number in range(5000)]
    old, new = primary(Bind, zone_text(1)), primary(Bind, zone_text(2, *fill))
    door = CuttingDoor((new.ip, new.port), 20000)
    daemon = nailupd(held(old.server))
    await_serial(daemon, 1)
    daemon.config_path.write_text(daemon.config_path.read_text().replace(old.server, door.server))
    assert daemon.ctl("reload").returncode == 0
    eventually(lambda: door.cuts > 0 and transfers(daemon, "failed") > 0, within=15)
    assert row(daemon)["serial"] == 1
    assert dig(daemon, f"www.{ZONE}").data == ["192.0.2.2"]
    assert dig(daemon, f"h1.{ZONE}").status == "NXDOMAIN"


def test_the_second_primary_takes_over(nailupd, primary):
    bind = primary(Bind, zone_text(1))
    daemon = nailupd(held("%s@%d" % free_address(), bind.server))
    await_serial(daemon, 1)
    assert transfers(daemon, "failed") == 1


def test_a_reload_changes_the_primaries(nailupd, primary):
    first, second = primary(Bind, zone_text(1)), primary(Bind, zone_text(5))
    daemon = nailupd(held(first.server))
    await_serial(daemon, 1)
    text = daemon.config_path.read_text().replace(first.server, second.server)
    daemon.config_path.write_text(text)
    assert daemon.ctl("reload").returncode == 0
    await_serial(daemon, 5)


@pytest.mark.parametrize("zone, problem", [
    ({"primaries": ["192.0.2.1"], "file": "/tmp/x"}, "has a file and primaries"),
    ({}, "has no records"),
    ({"primaries": [{"address": "192.0.2.1", "tsig-key": "missing"}]}, "is not in tsig-keys"),
    ({"primaries": [{"address": "192.0.2.1", "key": "x"}]}, "the keys are address, auth-name"),
])
def test_errors_name_their_remedy(make_config, tmp_path, zone, problem):
    path = tmp_path / "bad.yaml"
    path.write_text(json.dumps(make_config({"auth-zones": [{"name": ZONE, **zone}]}), indent=1))
    done = subprocess.run([program("nailupd"), "-t", "-c", str(path)], text=True, capture_output=True, timeout=20)
    assert done.returncode == 1 and problem in done.stderr + done.stdout


def test_a_secret_that_others_may_read_is_refused(make_config, tmp_path, secret_file):
    path = secret_file()
    path.chmod(0o644)
    file = tmp_path / "bad.yaml"
    file.write_text(json.dumps(make_config(keys(path)), indent=1))
    done = subprocess.run([program("nailupd"), "-t", "-c", str(file)], text=True, capture_output=True, timeout=20)
    assert done.returncode == 1 and "other users may read" in done.stderr + done.stdout
