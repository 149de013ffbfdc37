# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Catalogs (RFC 9432) of zones held here, from BIND and Knot DNS. Most basic first."""

import os
import signal
import subprocess
import time

import pytest
from conftest import BUILD, eventually, free_address, program
from peers import Authority, Server, need
from test_transfers import KEY, SECRET, Bind, keys, primary, secret_file, transfers  # noqa: F401

pytestmark = pytest.mark.skipif(BUILD is None, reason="nailupd is not built")

CATALOG = "cat.example"


def member_text(zone, serial=1):
    return (f"$ORIGIN {zone}.\n@ 60 SOA ns mail {serial} 3600 5 3600 60\n@ 60 NS ns\nns 60 A 192.0.2.1\n"
            "www 60 A 192.0.2.2\n")


def catalog_text(*rows, serial=1):
    return (f"$ORIGIN {CATALOG}.\n@ 60 SOA ns mail {serial} 3600 5 3600 60\n@ 60 NS invalid.\nversion 60 TXT 2\n" +
            "".join(f"{row}\n" for row in rows))


def node(label, zone):
    return f"{label}.zones.{CATALOG}. 60 PTR {zone}."


class Producer(Bind):
    """A named whose catalog the tests write, with members a.corp.example and so on."""

    ZONES = ["a.corp.example", "b.corp.example", "c.corp.example", "9.10.in-addr.arpa"]

    def __init__(self, folder, text, authority=None, **more):
        self.more, self.authority = more, authority
        super().__init__(folder, text, **more)

    def start(self):
        path = self.folder / "named.conf"
        text = path.read_text()
        if CATALOG not in text:
            notify = self.more.get("notify")
            also = f"also-notify {{ {notify[0]} port {notify[1]}; }}; notify explicit;" if notify else "notify no;"
            text = text.replace('zone "held.test"', f'zone "{CATALOG}"')
            for zone in self.ZONES:
                (self.folder / zone).write_text(member_text(zone))
                text += (f'zone "{zone}" {{ type primary; file "{zone}"; allow-transfer {{ any; }}; '
                         f"allow-update {{ any; }}; {also} }};\n")
            if self.authority:
                pem, secret = self.authority.sign("DNS:ns.corp.example")
                address = free_address("127.0.0.1")
                self.over_tls = "%s@%d" % address
                text = f'tls own {{ cert-file "{pem}"; key-file "{secret}"; }};\n' + text.replace(
                    "listen-on-v6", f"listen-on port {address[1]} tls own {{ {address[0]}; }}; listen-on-v6")
            path.write_text(text)
        super().start()

    def update(self, *commands, zone=CATALOG):
        super().update(*commands, zone=zone)


class Generator(Server):
    """A knotd that makes the catalog from its members. Transfers need the key."""

    def __init__(self, folder, *members):
        folder.mkdir()
        self.listen = free_address()
        self.config, self.folder = folder / "knot.conf", folder
        self.write(*members)
        super().__init__(folder, self.listen, need("knotd"), "-c", str(self.config))
        self.wait_until_ready()

    def write(self, *members):
        for zone in members:
            (self.folder / zone).write_text(member_text(zone))
        zones = "".join(f"  - domain: {zone}\n    file: {self.folder}/{zone}\n    acl: transfer\n"
                        f"    catalog-role: member\n    catalog-zone: {CATALOG}\n    catalog-group: fast\n" for zone in members)
        self.config.write_text(f"""
server:
    rundir: {self.folder}
    listen: {self.listen[0]}@{self.listen[1]}
database:
    storage: {self.folder}
key:
  - id: {KEY}
    algorithm: hmac-sha256
    secret: {SECRET}
acl:
  - id: transfer
    key: {KEY}
    action: transfer
zone:
  - domain: {CATALOG}
    acl: transfer
    catalog-role: generate
{zones}""")

    def change(self, *members):
        self.write(*members)
        self.process.send_signal(signal.SIGHUP)


def catalog(*primaries, **more):
    return {"auth-zones": [{"name": CATALOG, "primaries": list(primaries), "catalog": "yes", **more}]}


def rows(daemon):
    return {row["zone"]: row for row in daemon.ask("zones").get("held_zones", [])}


def served(daemon):
    """Returns the members that are served."""
    return sorted(zone for zone, row in rows(daemon).items() if row["catalog"] == f"{CATALOG}." and row["state"] == "served")


def await_members(daemon, *zones):
    eventually(lambda: served(daemon) == sorted(f"{zone}." for zone in zones))


def answers(daemon, dig, zone):
    answer = dig(daemon, f"www.{zone}")
    return answer.data == ["192.0.2.2"] and "aa" in answer.flags


def notified(address):
    return {"server": {"listen": ["%s@%d" % address]}}


def test_a_catalog_brings_and_drops_zones(nailupd, primary, dig, tmp_path):  # noqa: F811
    address, folder = free_address(), tmp_path / "zones"
    folder.mkdir()
    bind = primary(Producer, catalog_text(node("1", "a.corp.example"), node("2", "b.corp.example")), notify=address)
    config = {**catalog(bind.server), **notified(address), "transfer-directory": str(folder)}
    daemon = nailupd(config)
    await_members(daemon, "a.corp.example", "b.corp.example")
    assert answers(daemon, dig, "a.corp.example") and not answers(daemon, dig, "c.corp.example")
    assert rows(daemon)[f"{CATALOG}."]["for"] == "catalog" and dig(daemon, f"version.{CATALOG}", "TXT").data == []
    bind.update(f"add {node('3', 'c.corp.example')}", f"delete 1.zones.{CATALOG}. PTR")
    await_members(daemon, "b.corp.example", "c.corp.example")
    assert answers(daemon, dig, "c.corp.example") and not answers(daemon, dig, "a.corp.example")
    assert sorted(path.name for path in folder.iterdir()) == ["b.corp.example.zone", "c.corp.example.zone", f"{CATALOG}.zone"]
    # the NOTIFY for the new member is accepted
    bind.update("add new.c.corp.example. 60 A 192.0.2.9", zone="c.corp.example")
    eventually(lambda: dig(daemon, "new.c.corp.example").data == ["192.0.2.9"])
    assert daemon.ctl("reload").returncode == 0  # the reload keeps the members
    assert answers(daemon, dig, "b.corp.example") and answers(daemon, dig, "c.corp.example")
    bind.kill()
    assert daemon.stop() == 0
    daemon = nailupd(config)
    assert answers(daemon, dig, "b.corp.example")  # the first query gets an answer
    assert dig(daemon, "new.c.corp.example").data == ["192.0.2.9"]


def test_an_expired_catalog_keeps_its_members_over_a_restart(nailupd, primary, responder, dig, tmp_path):  # noqa: F811
    folder = tmp_path / "zones"
    folder.mkdir()
    bind = primary(Producer, catalog_text(node("1", "a.corp.example"), node("2", "b.corp.example")))
    upstream, config = responder(), {**catalog(bind.server), "transfer-directory": str(folder)}
    daemon = nailupd(config, upstreams=[upstream])
    await_members(daemon, "a.corp.example", "b.corp.example")
    bind.kill()
    assert daemon.stop() == 0
    for zone in (CATALOG, "b.corp.example"):
        os.utime(folder / f"{zone}.zone", (time.time() - 4000,) * 2)  # the EXPIRE of the zone is 3600
    daemon = nailupd(config, upstreams=[upstream])
    assert answers(daemon, dig, "a.corp.example")
    assert dig(daemon, "www.b.corp.example").status == "SERVFAIL"  # the expired member fails closed
    eventually(lambda: transfers(daemon, "failed") > 1)
    assert rows(daemon)[f"{CATALOG}."]["state"] == "expired"
    assert daemon.ctl("reload").returncode == 0 and answers(daemon, dig, "a.corp.example")
    bind.start()
    bind.wait_until_ready()
    eventually(lambda: served(daemon) == ["a.corp.example.", "b.corp.example."], within=20)
    assert rows(daemon)[f"{CATALOG}."]["state"] == "served"


def test_knot_makes_the_catalog_and_signs_every_transfer(nailupd, primary, secret_file, dig):  # noqa: F811
    knot = primary(Generator, "a.corp.example", "b.corp.example")
    daemon = nailupd({**catalog({"address": knot.server, "tsig-key": KEY}, **{"allow-notify": ["127.0.0.9"]}),
                      **keys(secret_file())})
    await_members(daemon, "a.corp.example", "b.corp.example")
    knot.change("b.corp.example", "c.corp.example")

    def has_changed():
        subprocess.run([need("dig"), f"@{daemon.ip}", "-p", str(daemon.port), "+tries=1", "+opcode=notify", CATALOG, "SOA",
                        "-b", "127.0.0.9"], capture_output=True, timeout=20, check=False)
        return served(daemon) == ["b.corp.example.", "c.corp.example."]

    eventually(has_changed)
    assert answers(daemon, dig, "c.corp.example") and not answers(daemon, dig, "a.corp.example")


def test_members_come_over_tls_like_their_catalog(nailupd, primary, tmp_path, dig):  # noqa: F811
    authority = Authority(tmp_path / "authority")
    bind = primary(Producer, catalog_text(node("1", "a.corp.example")), authority=authority)
    daemon = nailupd({**catalog(f"{bind.over_tls}#ns.corp.example"), "upstream": {"ca-bundle": str(authority.ca_file)}})
    await_members(daemon, "a.corp.example")
    assert daemon.log().count("AXFR over TLS") == 2 and answers(daemon, dig, "a.corp.example")


def test_a_catalog_from_a_file_is_read_at_a_reload(nailupd, primary, tmp_path, dig):  # noqa: F811
    bind, path = primary(Producer, catalog_text()), tmp_path / "catalog"
    path.write_text(catalog_text(node("1", "a.corp.example")))
    daemon = nailupd(catalog(bind.server, file=str(path)))
    await_members(daemon, "a.corp.example")
    path.write_text(catalog_text(node("2", "b.corp.example")))
    assert daemon.ctl("reload").returncode == 0
    await_members(daemon, "b.corp.example")
    path.write_text(catalog_text(node("3", "c.corp.example")).replace("TXT 2", "TXT 1"))
    assert daemon.ctl("reload").returncode == 0
    assert rows(daemon)[f"{CATALOG}."]["state"] == "kept" and served(daemon) == ["b.corp.example."]
    assert answers(daemon, dig, "b.corp.example")
    assert daemon.log().count("its version is not 2; its members do not change") == 1


@pytest.mark.parametrize("breaks, fault", [
    ([f"delete version.{CATALOG}. TXT"], "it has no TXT record named version"),
    ([f"delete version.{CATALOG}. TXT", f"add version.{CATALOG}. 60 TXT 1"], "its version is not 2"),
    ([f"add {node('7', 'a.corp.example')}"], "a zone is listed twice"),
])
def test_a_broken_catalog_leaves_its_members_and_says_so_once(nailupd, primary, dig, breaks, fault):  # noqa: F811
    address = free_address()
    bind = primary(Producer, catalog_text(node("1", "a.corp.example")), notify=address)
    daemon = nailupd({**catalog(bind.server), **notified(address)})
    await_members(daemon, "a.corp.example")
    bind.update(*breaks, f"add {node('2', 'b.corp.example')}")
    eventually(lambda: rows(daemon)[f"{CATALOG}."]["state"] == "kept")
    assert fault in rows(daemon)[f"{CATALOG}."]["why"]
    eventually(lambda: transfers(daemon, "failed") > 1, within=20)  # the next round comes after the SOA's RETRY
    assert daemon.log().count(f"{fault}; its members do not change") == 1
    assert daemon.log().count("is refused: ") == 1
    assert answers(daemon, dig, "a.corp.example") and served(daemon) == ["a.corp.example."]
    bind.update(f"delete version.{CATALOG}. TXT", f"add version.{CATALOG}. 60 TXT 2", f"delete 7.zones.{CATALOG}. PTR")
    await_members(daemon, "a.corp.example", "b.corp.example")


def test_a_healthy_catalog_shows_no_fault_of_its_stored_copy(nailupd, primary, tmp_path):  # noqa: F811
    """The stored copy comes from a time when the zone was not a catalog, so it has no list of members."""
    folder, broken = tmp_path / "zones", catalog_text(node("1", "a.corp.example")).replace("version", "other")
    folder.mkdir()
    bind = primary(Producer, broken)
    keeps = {"transfer-directory": str(folder)}
    daemon = nailupd({**catalog(bind.server, catalog="no"), **keeps})
    eventually(lambda: rows(daemon)[f"{CATALOG}."]["state"] == "served")
    assert daemon.stop() == 0
    bind.update(f"add version.{CATALOG}. 60 TXT 2")
    daemon = nailupd({**catalog(bind.server), **keeps})
    await_members(daemon, "a.corp.example")
    assert "it has no TXT record named version" in daemon.log()
    assert rows(daemon)[f"{CATALOG}."]["state"] == "served" and rows(daemon)[f"{CATALOG}."]["why"] == ""


def test_a_hostile_catalog_takes_no_name_of_the_configuration(nailupd, primary, responder, dig, tmp_path):  # noqa: F811
    upstream, path = responder(), tmp_path / "own"
    path.write_text(member_text("a.corp.example").replace("192.0.2.2", "192.0.2.99"))
    bind = primary(Producer, catalog_text(node("1", "a.corp.example"), "2.zones 60 PTR .", node("3", CATALOG),
                                          node("4", "forward.example"), node("5", "b.corp.example")))
    config = catalog(bind.server)
    config["auth-zones"].append({"name": "a.corp.example", "file": str(path)})
    config["forward-zones"] = [{"name": "forward.example", "upstreams": [upstream.server]}]
    daemon = nailupd(config)
    await_members(daemon, "b.corp.example")
    assert sorted(rows(daemon)) == ["a.corp.example.", "b.corp.example.", f"{CATALOG}."]
    assert dig(daemon, "www.a.corp.example").data == ["192.0.2.99"]
    assert "aa" not in dig(daemon, "www.forward.example").flags
    for name, why in {"a.corp.example.": "a zone of the configuration has this name", ".": "it is the root",
                      "forward.example.": "a zone of the configuration has this name"}.items():
        assert f"catalog {CATALOG}.: member {name} is left out: {why}" in daemon.log()
    assert f"catalog {CATALOG}.: 4 members are left out" in daemon.log()


def test_servers_for_names_of_a_member_are_refused_except_below_a_cut(nailupd, primary, responder, dig):  # noqa: F811
    address, upstream = free_address(), responder()
    bind = primary(Producer, catalog_text(node("1", "a.corp.example")), notify=address)
    daemon = nailupd({**catalog(bind.server), **notified(address)}, upstreams=[responder()])
    await_members(daemon, "a.corp.example")
    refused = daemon.ctl("forward", "a.corp.example", upstream.server)
    assert refused.returncode != 0 and f"a.corp.example. is a member of the catalog {CATALOG}." in refused.stderr
    refused = daemon.ctl("forward", "sub.a.corp.example", upstream.server)
    assert refused.returncode != 0 and "is below a.corp.example., which is held here" in refused.stderr
    assert "aa" in dig(daemon, "x.sub.a.corp.example").flags  # nailup answers, so a forward would have no effect
    bind.update("add sub.a.corp.example. 60 NS ns.sub.a.corp.example.", zone="a.corp.example")
    eventually(lambda: rows(daemon)["a.corp.example."]["serial"] > 1)
    assert daemon.ctl("forward", "sub.a.corp.example", upstream.server).returncode == 0
    assert dig(daemon, "x.sub.a.corp.example").data and "aa" not in dig(daemon, "x.sub.a.corp.example").flags
    assert daemon.ctl("forward", "a.corp.example", "off").returncode == 0


def test_a_member_goes_before_a_special_use_name(nailupd, primary, dig):  # noqa: F811
    address = free_address()
    bind = primary(Producer, catalog_text(node("1", "9.10.in-addr.arpa")), notify=address)
    daemon = nailupd({**catalog(bind.server),
                      "server": {"listen": ["%s@%d" % address], "default-local-zones": "yes"}})
    await_members(daemon, "9.10.in-addr.arpa")
    assert answers(daemon, dig, "9.10.in-addr.arpa")
    assert "aa" in dig(daemon, "9.10.in-addr.arpa", "SOA").flags
    # the local zone of the private network still answers other names
    assert dig(daemon, "1.8.10.in-addr.arpa", "PTR").status == "NXDOMAIN"
    bind.update(f"delete 1.zones.{CATALOG}. PTR")
    await_members(daemon)
    assert dig(daemon, "www.9.10.in-addr.arpa").status == "NXDOMAIN"


def test_cached_answers_do_not_hide_a_member(nailupd, primary, responder, dig, tmp_path):  # noqa: F811
    """The cache, a dump, and the snapshot of a daemon without the catalog have answers for the member's names."""
    address, folder = free_address(), tmp_path / "zones"
    folder.mkdir()
    upstream, bind = responder(), primary(Producer, catalog_text(), notify=address)
    keeps = {"cache": {"snapshot": str(tmp_path / "snapshot")}}
    config = {**catalog(bind.server), **notified(address), **keeps, "transfer-directory": str(folder)}
    daemon = nailupd(config, upstreams=[upstream])
    assert dig(daemon, "www.a.corp.example").data not in ([], ["192.0.2.2"]) and dig(daemon, "www.example.org").data
    dump = daemon.ctl("dump-cache").stdout
    assert "www.a.corp.example" in dump
    bind.update(f"add {node('1', 'a.corp.example')}")
    eventually(lambda: answers(daemon, dig, "a.corp.example"))
    subprocess.run([program("nailupctl"), "-s", daemon.socket_path, "load-cache"], input=dump, text=True, check=True,
                   capture_output=True)
    assert answers(daemon, dig, "a.corp.example") and "www.example.org" in daemon.ctl("dump-cache").stdout
    assert daemon.stop() == 0
    other = nailupd(keeps, upstreams=[upstream])  # this daemon has no catalog, and caches the answer
    assert dig(other, "www.a.corp.example").data != ["192.0.2.2"] and other.stop() == 0
    bind.kill()
    assert answers(nailupd(config, upstreams=[upstream]), dig, "a.corp.example")


def test_another_node_resets_a_member(nailupd, primary, dig):  # noqa: F811
    address = free_address()
    bind = primary(Producer, catalog_text(node("1", "a.corp.example")), notify=address)
    daemon = nailupd({**catalog(bind.server), **notified(address)})
    await_members(daemon, "a.corp.example")
    whole = transfers(daemon, "whole")
    bind.update(f"delete 1.zones.{CATALOG}. PTR", f"add {node('2', 'a.corp.example')}")
    eventually(lambda: transfers(daemon, "whole") > whole)
    await_members(daemon, "a.corp.example")
    assert "zone a.corp.example.: its catalog resets it" in daemon.log() and answers(daemon, dig, "a.corp.example")


def test_members_above_the_bound_are_left_out(nailupd, primary, dig):  # noqa: F811
    many = [node(f"n{number:05}", f"m{number}.corp.example") for number in range(4100)]
    bind = primary(Producer, catalog_text(node("a", "a.corp.example"), *many))
    daemon = nailupd(catalog(bind.server))
    eventually(lambda: len(rows(daemon)) == 4097, within=60)  # the members and the catalog
    assert f"catalog {CATALOG}.: 5 members are left out" in daemon.log()
    eventually(lambda: answers(daemon, dig, "a.corp.example"), within=60)


def test_a_reload_without_the_catalog_drops_its_members(nailupd, primary, dig):  # noqa: F811
    bind = primary(Producer, catalog_text(node("1", "a.corp.example")))
    daemon = nailupd(catalog(bind.server))
    await_members(daemon, "a.corp.example")
    daemon.config_path.write_text(daemon.config_path.read_text().replace('"yes"', '"no"'))
    assert daemon.ctl("reload").returncode == 0
    eventually(lambda: list(rows(daemon)) == [f"{CATALOG}."] and rows(daemon)[f"{CATALOG}."]["state"] == "served")
    assert rows(daemon)[f"{CATALOG}."]["for"] == "both" and not answers(daemon, dig, "a.corp.example")
