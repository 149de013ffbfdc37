# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Response policy zones from real primaries: BIND, Knot DNS and PowerDNS. Most basic first."""

import json
import os
import re
import time
import urllib.request

from conftest import eventually, free_address
from peers import Server, need
from test_transfers import (KEY, ZONE, Bind, CuttingDoor, Knot, keys, primary, secret_file,  # noqa: F401
                            start_after_crash, start_after_expiry, survivor, transfers)

DATA = ["bad.test. A 192.0.2.1", "worse.test. A 192.0.2.2", "fine.test. A 192.0.2.3"]


def policy_text(serial, *rules, expire=3600):
    rows = [f"@ 60 SOA ns mail {serial} 3600 5 {expire} 60", "@ 60 NS ns.example.", *(f"{rule} 60 CNAME ." for rule in rules)]
    return f"$ORIGIN {ZONE}.\n" + "\n".join(rows) + "\n"


class PowerDns(Server):
    """A pdns_server with one zone in a file."""

    def __init__(self, folder, text):
        folder.mkdir()
        address = free_address("127.0.0.1")
        (folder / "zone").write_text(text)
        (folder / "named.conf").write_text(f'zone "{ZONE}" {{ type master; file "{folder}/zone"; }};\n')
        super().__init__(folder, address, need("pdns_server"), f"--config-dir={folder}", f"--socket-dir={folder}",
                         "--launch=bind", f"--bind-config={folder}/named.conf", f"--local-address={address[0]}",
                         f"--local-port={address[1]}", "--allow-axfr-ips=127.0.0.0/8", "--daemon=no", "--guardian=no",
                         "--distributor-threads=1", "--xfr-cycle-interval=1")
        self.wait_until_ready()


def policy(*primaries, **more):
    """Returns the configuration of one zone with these primaries, and local names."""
    return {"rpz": [{"name": ZONE, "primaries": list(primaries), **more}], "local-data": DATA}


def row(daemon):
    return daemon.ask("zones")["policy_zones"][0]


def await_serial(daemon, serial, within=20):
    eventually(lambda: row(daemon)["serial"] == serial and row(daemon)["state"] == "served", within)


def figures(address):
    """Returns the metrics of the zone by name and action."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as page:
        text = page.read().decode()
    label = re.escape(f'{{zone="{ZONE}."')
    return {name + (action or ""): int(value) for name, action, value in
            re.findall(rf'^nailup_(rpz_\w+){label}(?:,action="(.*)")?}} (\d+)$', text, re.M)}


def rewrite(daemon, change):
    config = json.loads(daemon.config_path.read_text())
    change(config)
    daemon.config_path.write_text(json.dumps(config))
    assert daemon.ctl("reload").returncode == 0


def blocks(daemon, dig, name="bad.test"):
    return dig(daemon, name).status == "NXDOMAIN"


def test_rules_come_from_bind_and_its_changes_too(nailupd, primary, dig):  # noqa: F811
    address = free_address()
    fill = [f"h{number}.test" for number in range(50)]  # BIND sends a whole zone if that is shorter than the changes
    bind = primary(Bind, policy_text(1, "bad.test", *fill), notify=address)
    page = "%s:%d" % free_address("127.0.0.1")
    daemon = nailupd({**policy(bind.server), "server": {"listen": ["%s@%d" % address]},
                      "metrics": {"listen": page.replace(":", "@")}})
    await_serial(daemon, 1)
    assert blocks(daemon, dig) and not blocks(daemon, dig, "worse.test")
    assert row(daemon)["rules"] == 51 and row(daemon)["from"] == "primaries"
    bind.update(f"add worse.test.{ZONE} 60 CNAME .", f"delete bad.test.{ZONE} CNAME")
    await_serial(daemon, 2)
    assert blocks(daemon, dig, "worse.test") and not blocks(daemon, dig)
    assert transfers(daemon, "changes") == 1
    shown = figures(page)
    assert shown["rpz_serial"] == 2 and shown["rpz_rules"] == 51 and shown["rpz_rules_skipped"] == 0
    assert shown["rpz_matches_totalnxdomain"] == 2  # the sum over both versions
    assert shown["rpz_age_seconds"] < 60 < 3000 < shown["rpz_expiry_seconds"] <= 3600
    assert 0 < shown["rpz_refresh_seconds"] <= 3600


def test_signed_rules_come_from_knot(nailupd, primary, secret_file, dig):  # noqa: F811
    knot = primary(Knot, policy_text(9, "bad.test"), key=True)
    daemon = nailupd({**policy({"address": knot.server, "tsig-key": KEY}), **keys(secret_file())})
    await_serial(daemon, 9)
    assert blocks(daemon, dig) and not blocks(daemon, dig, "fine.test")


def test_rules_come_from_powerdns(nailupd, primary, dig):  # noqa: F811
    power = primary(PowerDns, policy_text(4, "bad.test", "*.bad.test"))
    daemon = nailupd(policy(power.server))
    await_serial(daemon, 4)
    assert row(daemon)["rules"] == 2
    assert blocks(daemon, dig) and not blocks(daemon, dig, "fine.test")


def test_rules_survive_a_crash_without_their_primary(nailupd, primary, dig, tmp_path):  # noqa: F811
    bind = primary(Bind, policy_text(1, "bad.test"))
    config = survivor(tmp_path, policy(bind.server))
    daemon = nailupd(config)
    await_serial(daemon, 1)
    daemon = start_after_crash(nailupd, daemon, bind, config)
    assert blocks(daemon, dig)  # the first query is blocked
    eventually(lambda: row(daemon)["state"] == "kept")
    assert blocks(daemon, dig)


def test_rules_of_an_expired_zone_have_no_effect(nailupd, primary, dig, tmp_path):  # noqa: F811
    bind = primary(Bind, policy_text(1, "bad.test", expire=100))
    config = survivor(tmp_path, policy(bind.server))
    daemon = nailupd(config)
    await_serial(daemon, 1)
    daemon = start_after_expiry(nailupd, daemon, bind, config, 101)
    eventually(lambda: row(daemon)["state"] == "expired")
    assert not blocks(daemon, dig)
    bind.start()
    await_serial(daemon, 1, within=30)
    assert blocks(daemon, dig)


def test_a_zone_above_its_bound_leaves_the_old_rules(nailupd, primary, dig):  # noqa: F811
    address = free_address()
    bind = primary(Bind, policy_text(1, "bad.test"), notify=address)
    daemon = nailupd({**policy(bind.server, **{"max-bytes": "64KiB"}), "server": {"listen": ["%s@%d" % address]}})
    await_serial(daemon, 1)
    bind.update(*(f"add n{number}.test.{ZONE} 60 CNAME ." for number in range(1500)), f"delete bad.test.{ZONE} CNAME")
    eventually(lambda: transfers(daemon, "failed") > 0)
    assert row(daemon)["state"] == "kept" and row(daemon)["serial"] == 1
    assert blocks(daemon, dig)


def test_a_cut_transfer_leaves_the_old_rules(nailupd, primary, dig):  # noqa: F811
    old = primary(Bind, policy_text(1, "bad.test"))
    new = primary(Bind, policy_text(2, *(f"n{number}.test" for number in range(5000))))
    door = CuttingDoor((new.ip, new.port), 20000)
    daemon = nailupd(policy(old.server))
    await_serial(daemon, 1)
    rewrite(daemon, lambda config: config["rpz"][0].update(primaries=[door.server]))
    eventually(lambda: door.cuts > 0 and transfers(daemon, "failed") > 0, within=15)
    assert row(daemon)["serial"] == 1 and blocks(daemon, dig)


def test_a_reload_keeps_the_rules_and_takes_other_options(nailupd, primary, dig, tmp_path):  # noqa: F811
    bind = primary(Bind, policy_text(1, "bad.test"))
    file = tmp_path / "second.zone"
    file.write_text(policy_text(1, "worse.test").replace(ZONE, "second"))
    config = policy(bind.server)
    config["rpz"].append({"name": "second", "file": str(file)})
    daemon = nailupd(config)
    await_serial(daemon, 1)
    assert blocks(daemon, dig) and blocks(daemon, dig, "worse.test")
    bind.kill()
    rewrite(daemon, lambda config: config["rpz"][1].update({"action-override": "nodata"}))
    eventually(lambda: dig(daemon, "worse.test").status == "NOERROR")
    assert blocks(daemon, dig) and row(daemon)["serial"] == 1
    rewrite(daemon, lambda config: config.pop("rpz"))
    eventually(lambda: not blocks(daemon, dig))
    assert "policy_zones" not in daemon.ask("zones")


def test_the_rules_of_a_reload_are_in_force_when_it_answers(nailupd, dig, tmp_path):
    """The rules come from a file. The primary of another zone never answers, which delays nothing, and the reload
    names it."""
    path, dead = tmp_path / "rules", "127.0.0.1@%d" % free_address("127.0.0.1")[1]
    fill = [f"h{number}.test" for number in range(2000)]
    path.write_text(policy_text(0, *fill))
    rules = {"name": ZONE, "file": str(path)}
    daemon = nailupd({"rpz": [rules], "local-data": [f"n{number}.test. A 192.0.2.1" for number in range(30)]})
    for number in range(30):
        path.write_text(policy_text(number + 1, f"n{number}.test", *fill))
        answer = daemon.ask("reload")
        assert blocks(daemon, dig, f"n{number}.test"), number
        assert answer["zones_to_come"] == []
    rewrite(daemon, lambda config: config["rpz"].append({"name": "dead.test", "primaries": [dead]}))
    [late] = daemon.ask("reload")["zones_to_come"]
    assert late["zone"] == "dead.test." and late["for"] == "policy" and late["state"] in ("loading", "failed")


def test_a_stored_copy_is_in_force_when_the_reload_answers(nailupd, primary, dig, tmp_path):  # noqa: F811
    fill = [f"h{number}.test" for number in range(30000)]  # a zone that takes a while to read
    bind = primary(Bind, policy_text(1, "bad.test", *fill))
    folder = tmp_path / "zones"
    folder.mkdir()
    config = {**policy(bind.server), "transfer-directory": str(folder)}
    daemon = nailupd(config)
    await_serial(daemon, 1)
    bind.kill()
    zones = config["rpz"]
    for _ in range(2):
        rewrite(daemon, lambda config: config.update({"rpz": []}))
        assert not blocks(daemon, dig)
        rewrite(daemon, lambda config: config.update({"rpz": zones}))
        assert blocks(daemon, dig)


# ---- catalogs (RFC 9432) ----

class Catalog(Bind):
    """A named with a catalog in place of the zone. Each member blocks one name: a.rules.test blocks a.test."""

    MEMBERS = "abc"

    def __init__(self, folder, text, **more):
        self.more = more
        super().__init__(folder, text, **more)

    def start(self):
        path = self.folder / "named.conf"
        if "rules.test" not in path.read_text():
            notify = self.more.get("notify")
            also = f"also-notify {{ {notify[0]} port {notify[1]}; }}; notify explicit;" if notify else "notify no;"
            with path.open("a") as conf:
                for member in self.MEMBERS:
                    zone = f"{member}.rules.test"
                    (self.folder / zone).write_text(policy_text(1, f"{member}.test").replace(f"{ZONE}.", f"{zone}.", 1))
                    conf.write(f'zone "{zone}" {{ type primary; file "{zone}"; allow-transfer {{ any; }}; '
                               f"allow-update {{ any; }}; {also} }};\n")
        super().start()

    def update_member(self, member, *commands):
        self.update(*commands, zone=f"{member}.rules.test")


def catalog_text(serial, *rows):
    return (f"$ORIGIN {ZONE}.\n@ 60 SOA ns mail {serial} 3600 5 3600 60\n@ 60 NS invalid.\nversion 60 TXT 2\n" +
            "".join(f"{row}\n" for row in rows))


def node(label, zone):
    return f"{label}.zones.{ZONE}. 60 PTR {zone}."


CATALOG_DATA = {"local-data": [f"{name}.test. A 192.0.2.1" for name in ("a", "b", "c", "d")]}


def states(daemon):
    """Returns {zone: (state, its catalog)}."""
    return {row["zone"]: (row["state"], row["catalog"]) for row in daemon.ask("zones")["policy_zones"]}


def await_members(daemon, *members):
    wanted = {f"{ZONE}.": ("served", ""), **{f"{member}.rules.test.": ("served", f"{ZONE}.") for member in members}}
    eventually(lambda: states(daemon) == wanted)


def test_a_catalog_brings_and_drops_zones_of_rules(nailupd, primary, dig, tmp_path):  # noqa: F811
    address = free_address()
    bind = primary(Catalog, catalog_text(1, node("1", "a.rules.test"), node("2", "b.rules.test")), notify=address)
    folder = tmp_path / "zones"
    folder.mkdir()
    config = {"rpz": [{"name": ZONE, "primaries": [bind.server], "catalog": "yes"}], **CATALOG_DATA,
              "server": {"listen": ["%s@%d" % address]}, "transfer-directory": str(folder)}
    daemon = nailupd(config)
    await_members(daemon, "a", "b")
    assert blocks(daemon, dig, "a.test") and blocks(daemon, dig, "b.test") and not blocks(daemon, dig, "c.test")
    bind.update(f"add {node('3', 'c.rules.test')}", f"delete 1.zones.{ZONE}. PTR")
    await_members(daemon, "b", "c")
    assert not blocks(daemon, dig, "a.test") and blocks(daemon, dig, "c.test")
    assert sorted(path.name for path in folder.iterdir()) == ["b.rules.test.zone", "c.rules.test.zone", f"{ZONE}.zone"]
    bind.update_member("c", "add d.test.c.rules.test. 60 CNAME .")  # the NOTIFY for the new member is accepted
    eventually(lambda: blocks(daemon, dig, "d.test"))
    assert daemon.ctl("reload").returncode == 0  # the reload keeps the members
    assert blocks(daemon, dig, "b.test") and blocks(daemon, dig, "d.test")
    bind.kill()
    assert daemon.stop() == 0
    daemon = nailupd(config)
    assert blocks(daemon, dig, "b.test") and blocks(daemon, dig, "d.test")  # the first queries are blocked


def test_a_broken_catalog_leaves_its_members(nailupd, primary, dig):  # noqa: F811
    address = free_address()
    bind = primary(Catalog, catalog_text(1, node("1", "a.rules.test")), notify=address)
    daemon = nailupd({"rpz": [{"name": ZONE, "primaries": [bind.server], "catalog": "yes"}], **CATALOG_DATA,
                      "server": {"listen": ["%s@%d" % address]}})
    await_members(daemon, "a")
    bind.update(f"delete version.{ZONE}. TXT", f"delete 1.zones.{ZONE}. PTR", f"add {node('2', 'b.rules.test')}")
    eventually(lambda: states(daemon)[f"{ZONE}."][0] == "kept")
    assert blocks(daemon, dig, "a.test") and not blocks(daemon, dig, "b.test")
    bind.update(f"add version.{ZONE}. 60 TXT 2")
    await_members(daemon, "b")
    assert not blocks(daemon, dig, "a.test") and blocks(daemon, dig, "b.test")


def test_a_configured_zone_wins_over_a_member(nailupd, primary, dig, tmp_path):  # noqa: F811
    bind = primary(Catalog, catalog_text(1, node("1", "a.rules.test"), node("2", "b.rules.test"), node("3", ZONE)))
    path = tmp_path / "own"
    path.write_text(policy_text(9, "d.test").replace(f"{ZONE}.", "a.rules.test.", 1))
    daemon = nailupd({"rpz": [{"name": ZONE, "primaries": [bind.server], "catalog": "yes"},
                              {"name": "a.rules.test", "file": str(path)}], **CATALOG_DATA})
    eventually(lambda: states(daemon).get("b.rules.test.", [""])[0] == "served")
    assert states(daemon)["a.rules.test."] == ("served", "") and len(states(daemon)) == 3
    assert blocks(daemon, dig, "d.test") and not blocks(daemon, dig, "a.test")


def test_another_node_resets_a_member(nailupd, primary, dig):  # noqa: F811
    address = free_address()
    bind = primary(Catalog, catalog_text(1, node("1", "a.rules.test")), notify=address)
    daemon = nailupd({"rpz": [{"name": ZONE, "primaries": [bind.server], "catalog": "yes"}], **CATALOG_DATA,
                      "server": {"listen": ["%s@%d" % address]}})
    await_members(daemon, "a")
    whole = transfers(daemon, "whole")
    bind.update(f"delete 1.zones.{ZONE}. PTR", f"add {node('9', 'a.rules.test')}")
    eventually(lambda: transfers(daemon, "whole") > whole)
    await_members(daemon, "a")
    assert blocks(daemon, dig, "a.test")


def test_members_above_the_bound_are_left_out(nailupd, primary):  # noqa: F811
    bind = primary(Catalog, catalog_text(1, *(node(str(number), f"m{number}.rules.test") for number in range(40))))
    daemon = nailupd({"rpz": [{"name": ZONE, "primaries": [bind.server], "catalog": "yes"}]})
    eventually(lambda: len(states(daemon)) == 32)  # including the catalog
    assert "there are too many zones of rpz" in daemon.log()
