# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""More primaries: PowerDNS, BIND and NSD that speak TLS themselves, and several zones of which one has a bad primary."""

import json
import socket
import subprocess
import urllib.request

import pytest
from conftest import eventually, free_address
from peers import Authority, Server, need, nsd  # noqa: F401
from test_transfers import ZONE, Bind, await_serial, held, primary, row, transfers, zone_text  # noqa: F401


class PowerDns(Server):
    """A pdns_server with one zone in a file. It sends NOTIFY to the address `notify`."""

    def __init__(self, folder, text, notify=None):
        folder.mkdir()
        address = free_address("127.0.0.1")
        self.control, self.zone_path = need("pdns_control"), folder / "zone"
        self.zone_path.write_text(text)
        (folder / "named.conf").write_text(f'zone "{ZONE}" {{ type master; file "{self.zone_path}"; }};\n')
        also = f"also-notify={notify[0]}:{notify[1]}\nonly-notify=\n" if notify else ""
        # version 4.7 knows only the word "master" here
        (folder / "pdns.conf").write_text(f"""launch=bind
bind-config={folder}/named.conf
local-address={address[0]}
local-port={address[1]}
socket-dir={folder}
primary=yes
allow-axfr-ips=127.0.0.0/8
xfr-cycle-interval=1
query-cache-ttl=0
cache-ttl=0
zone-cache-refresh-interval=0
{also}""")
        super().__init__(folder, address, need("pdns_server"), f"--config-dir={folder}", "--daemon=no", "--guardian=no")
        self.wait_until_ready()

    def change(self, text):
        self.zone_path.write_text(text)
        done = subprocess.run([self.control, f"--config-dir={self.folder}", "bind-reload-now", ZONE], text=True,
                              capture_output=True, timeout=20)
        assert done.returncode == 0, done.stderr


class TlsBind(Server):
    """A named that offers transfers only over TLS (BIND 9.18 and later)."""

    def __init__(self, folder, text, authority, days=2):
        folder.mkdir()
        address = free_address("127.0.0.1")
        pem, secret = authority.sign("DNS:ns.held.test", days=days)
        over_tls = free_address("127.0.0.1")
        (folder / "zone").write_text(text)
        (folder / "named.conf").write_text(f"""
tls own {{ cert-file "{pem}"; key-file "{secret}"; }};
options {{ directory "{folder}"; listen-on port {address[1]} {{ {address[0]}; }}; listen-on-v6 {{ none; }};
  listen-on port {over_tls[1]} tls own {{ {over_tls[0]}; }};
  pid-file none; session-keyfile none; recursion no; dnssec-validation no; }};
controls {{ }};
zone "{ZONE}" {{ type primary; file "zone"; allow-transfer transport tls {{ any; }}; notify no; }};
""")
        super().__init__(folder, address, need("named"), "-g", "-c", str(folder / "named.conf"))
        self.over_tls = "%s@%d" % over_tls
        self.wait_until_ready()


def figures(page, zone):
    """Returns the figures of one zone as Prometheus gets them."""
    with urllib.request.urlopen(f"http://{page}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {line.split("{")[0].removeprefix("nailup_held_zone_"): int(line.rsplit(" ", 1)[1]) for line in lines
            if f'{{zone="{zone}."}}' in line}


@pytest.fixture
def silent():
    """Yields the address of a primary that accepts connections and sends nothing."""
    with socket.create_server(free_address()) as listener:
        yield "%s@%d" % listener.getsockname()


def test_a_zone_comes_from_powerdns(nailupd, primary, dig):  # noqa: F811
    powerdns = primary(PowerDns, zone_text(1, *(f"h{number} 60 A 192.0.2.9" for number in range(3000))))
    daemon = nailupd(held(powerdns.server))
    await_serial(daemon, 1)
    assert row(daemon)["records"] == 3004
    assert dig(daemon, f"h2999.{ZONE}").data == ["192.0.2.9"]


def test_a_notify_of_powerdns_brings_a_whole_zone_where_changes_are_wanted(nailupd, primary, dig):  # noqa: F811
    """PowerDNS's bind backend keeps no changes, so it answers IXFR with AXFR."""
    address = free_address()
    powerdns = primary(PowerDns, zone_text(1), notify=address)
    daemon = nailupd({**held(powerdns.server), "server": {"listen": ["%s@%d" % address]}})
    await_serial(daemon, 1)
    powerdns.change(zone_text(2, "new 60 A 192.0.2.77"))
    await_serial(daemon, 2)
    assert dig(daemon, f"new.{ZONE}").data == ["192.0.2.77"]
    assert transfers(daemon, "whole") == 2 and transfers(daemon, "failed") == 0


def test_xot_from_bind(nailupd, primary, tmp_path):  # noqa: F811
    authority = Authority(tmp_path / "authority")
    bind = primary(TlsBind, zone_text(4), authority)
    more = {"upstream": {"ca-bundle": str(authority.ca_file)}}
    daemon = nailupd({**held(f"{bind.over_tls}#ns.held.test"), **more})
    await_serial(daemon, 4)
    assert "AXFR over TLS" in daemon.log()


def test_bind_refuses_a_transfer_without_the_tls_that_it_wants(nailupd, primary, tmp_path):  # noqa: F811
    bind = primary(TlsBind, zone_text(4), Authority(tmp_path / "authority"))
    daemon = nailupd(held(bind.server))
    eventually(lambda: row(daemon)["state"] == "failed")
    assert "REFUSED" in row(daemon)["why"]


def test_xot_from_nsd(nailupd, nsd, tmp_path):  # noqa: F811
    authority = Authority(tmp_path / "authority")
    server = nsd({ZONE: zone_text(6)}, authority=authority, has_transfers=True)
    daemon = nailupd({**held({"address": server.server, "tls": "yes"}), "upstream": {"ca-bundle": str(authority.ca_file)}})
    await_serial(daemon, 6)
    assert "AXFR over TLS" in daemon.log()


def test_a_silent_primary_delays_no_other_zone(nailupd, primary, dig, silent):  # noqa: F811
    """The zones before and after it in the list arrive and are served while its visit waits."""
    bind = primary(Bind, zone_text(1))
    zones = [{"name": f"slow{number}.test", "primaries": [silent]} for number in range(4)]
    zones.insert(2, held(bind.server)["auth-zones"][0])
    daemon = nailupd({"auth-zones": zones})

    def states():
        return {one["zone"]: one["state"] for one in daemon.ask("zones")["held_zones"]}

    eventually(lambda: states()[f"{ZONE}."] == "served")
    assert {state for zone, state in states().items() if zone != f"{ZONE}."} == {"loading"}
    assert dig(daemon, f"www.{ZONE}").data == ["192.0.2.2"]
    assert dig(daemon, "www.slow0.test").status == "SERVFAIL"


def requires_a_digest(config):
    config["auth-zones"][0]["zonemd"] = "require"


def has_a_foreign_anchor(config):
    config["dnssec"]["trust-anchors"] = [f"{ZONE}. DS 12345 13 2 " + "00" * 32]


def reload_with(daemon, config):
    daemon.config_path.write_text(json.dumps(config))
    assert daemon.ctl("reload").returncode == 0


@pytest.mark.parametrize("change, fault", [
    (requires_a_digest, "the zone has no ZONEMD record"),
    (has_a_foreign_anchor, "the zone has a trust anchor, but no DNSKEY record"),
])
def test_a_reload_judges_a_held_version_by_its_checks(nailupd, primary, dig, change, fault):  # noqa: F811
    bind = primary(Bind, zone_text(1))
    daemon = nailupd({**held(bind.server, **{"allow-notify": ["127.0.0.9"]}), "dnssec": {"validate": "yes"}})
    await_serial(daemon, 1)
    before = json.loads(daemon.config_path.read_text())
    after = json.loads(daemon.config_path.read_text())
    change(after)
    reload_with(daemon, after)
    assert row(daemon)["state"] == "kept" and row(daemon)["why"] == fault
    assert f"zone {ZONE}.: {fault}; the previous version stays in force" in daemon.log()
    assert dig(daemon, f"www.{ZONE}").data == ["192.0.2.2"]
    failed = transfers(daemon, "failed")
    subprocess.run([need("dig"), f"@{daemon.ip}", "-p", str(daemon.port), "+tries=1", "+opcode=notify", ZONE, "SOA",
                    "-b", "127.0.0.9"], capture_output=True, timeout=20, check=False)
    eventually(lambda: transfers(daemon, "failed") > failed)  # the whole zone is no better, so the doubt remains
    assert row(daemon)["state"] == "kept" and row(daemon)["why"] == fault
    assert "serial 1 is refused" in daemon.log()
    reload_with(daemon, before)
    assert row(daemon)["state"] == "served" and row(daemon)["why"] == ""


def test_prometheus_gets_figures_for_each_zone(nailupd, primary, silent):  # noqa: F811
    bind, page = primary(Bind, zone_text(5, expire=3000)), "%s:%d" % free_address("127.0.0.1")
    daemon = nailupd({"auth-zones": [*held(bind.server)["auth-zones"], {"name": "slow.test", "primaries": [silent]}],
                      "metrics": {"listen": page.replace(":", "@")}})
    await_serial(daemon, 5)
    shown = figures(page, ZONE)
    assert shown["serial"] == 5 and shown["expired"] == 0 and 2900 < shown["expiry_seconds"] <= 3000
    assert shown["age_seconds"] < 60 and shown["confirmed_seconds"] < 60
    assert figures(page, "slow.test") == {"expired": 0, "expiry_seconds": 0}
    [found] = [one for one in daemon.ask("zones")["held_zones"] if one["zone"] == f"{ZONE}."]
    assert found["expiry_seconds"] > 0


def test_a_sound_version_whose_primary_fails_is_kept(nailupd, primary):  # noqa: F811
    bind = primary(Bind, zone_text(7, refresh=5))
    daemon = nailupd(held(bind.server))
    await_serial(daemon, 7)
    bind.kill()
    eventually(lambda: row(daemon)["state"] == "kept", 30)
    failure, shown = row(daemon)["why"], []
    for zonemd in ("require", "check"):
        config = json.loads(daemon.config_path.read_text())
        config["auth-zones"][0]["zonemd"] = zonemd
        daemon.config_path.write_text(json.dumps(config))
        assert daemon.ctl("reload").returncode == 0
        shown.append((row(daemon)["state"], row(daemon)["why"].rpartition(": ")[2]))
    assert shown[0] == ("kept", "the zone has no ZONEMD record")
    assert shown[1] == ("kept", failure.rpartition(": ")[2])
