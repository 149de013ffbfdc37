# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Views beside Unbound, whose configuration is imported: the same answer for each client and name. Then reloads that
change views while clients ask: no query is lost, and no client gets an answer of a view that it never had."""

import json
import re
import socket
import subprocess
import threading
import time

from conftest import Answer, eventually, program
from harness import RD, ROOT, SELF, alone, pack_query
from peers import need, start_resolving_unbound

UNBOUND = "10.53.0.20"
AUTH, LAB_AUTH, SHOP_AUTH = "10.53.1.1", "10.53.1.2", "10.53.1.3"
PLAIN, LAB, KIDS, GUEST, TAGGED = "10.53.0.50", "10.53.7.1", "10.53.7.9", "10.53.8.1", "10.53.9.1"
CLIENTS = (PLAIN, LAB, KIDS, GUEST, TAGGED)

ROOT_ZONE = f"@ NS whatever.name.\nwhatever.name. A {ROOT}\ntld NS ns.tld.\nns.tld. A {AUTH}\n"


def zone(server, last):
    return {"tld.": f"@ NS ns.tld.\nns A {server}\nwww 60 A 192.0.2.{last}\nads 60 A 192.0.2.{last + 10}\n"
                    f"games 60 A 192.0.2.{last + 20}\nalias 60 CNAME www.tld.\nbrief 1 A 192.0.2.{last + 30}\n"}


def dig(server, name, kind, client):
    done = subprocess.run([need("dig"), f"@{server}", "-b", client, "+tries=1", "+timeout=3", name, kind], text=True,
                          capture_output=True, timeout=20)
    answer = Answer(done.stdout)
    return answer.status, sorted((row[0].lower(), row[2], row[3].lower()) for row in answer.rows)


# ---- beside Unbound ----

UNBOUND_VIEWS = f"""\
server:
  access-control-view: 10.53.7.0/24 lab
  access-control-view: {KIDS}/32 kids
  access-control-view: 10.53.8.0/24 guests
  local-zone: "ads.tld" refuse
  local-zone: "home.test" static
  local-data: "nas.home.test 60 A 10.0.0.9"
  define-tag: "work play"
  access-control-tag: 10.53.9.0/24 "play"
  local-zone: "play.tld" static
  local-zone-tag: "play.tld" "play"
  local-data: "www.play.tld 60 A 10.0.0.6"
  local-zone: "games.tld" refuse
  local-zone-tag: "games.tld" "work play"
view:
  name: "lab"
  view-first: yes
  local-zone: "lab.test" redirect
  local-data: "lab.test 60 A 10.0.0.7"
  local-zone: "games.tld" transparent
  local-data: "games.tld 60 A 10.0.0.8"
view:
  name: "kids"
  local-zone: "games.tld" always_nxdomain
  local-zone: "www.tld" always_nodata
view:
  name: "guests"
"""
NAMES = [("www.tld.", "A"), ("ads.tld.", "A"), ("x.ads.tld.", "A"), ("games.tld.", "A"), ("x.games.tld.", "A"),
         ("alias.tld.", "A"), ("nas.home.test.", "A"), ("no.home.test.", "A"), ("lab.test.", "A"), ("x.lab.test.", "A"),
         ("lab.test.", "MX"), ("missing.tld.", "A"), ("www.play.tld.", "A"), ("none.play.tld.", "A")]


def start_unbound(harness):
    start_resolving_unbound(harness, UNBOUND, "iterator", UNBOUND_VIEWS)
    eventually(lambda: dig(UNBOUND, "nas.home.test.", "A", PLAIN)[0] == "NOERROR", within=20)


def imported_rows(harness, key):
    """Returns the rows of a list that the import has written."""
    done = subprocess.run([program("nailupd"), "--import-unbound", "unbound.conf"], cwd=harness.folder, text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = re.search(rf"^{key}:\n((?:  - .*\n)+)", done.stdout, re.M)
    assert found, done.stdout
    return f"{key}:\n{found[1]}"


def serve_all(harness):
    harness.serve(ROOT, {".": ROOT_ZONE})
    harness.serve(AUTH, zone(AUTH, 1))
    harness.serve(LAB_AUTH, zone(LAB_AUTH, 2))
    harness.serve(SHOP_AUTH, zone(SHOP_AUTH, 3))
    for ip in (UNBOUND, *CLIENTS):
        harness.add(ip)


@alone
def test_unbound_gives_each_client_the_same_answers(harness):
    serve_all(harness)
    start_unbound(harness)
    harness.write("views.yaml", "".join(imported_rows(harness, key) for key in ("views", "local-zones", "local-data")))
    daemon = harness.start({"include": "views.yaml"})
    wrong = []
    for _ in range(2):  # first misses, then hits
        for name, kind in NAMES:
            for client in CLIENTS:
                ours, theirs = dig(SELF, name, kind, client), dig(UNBOUND, name, kind, client)
                if ours != theirs:
                    wrong.append((name, kind, client, ours, theirs))
    assert not wrong, "\n".join(map(str, wrong))
    assert dig(SELF, "games.tld.", "A", KIDS)[0] == "NXDOMAIN"
    assert dig(SELF, "games.tld.", "A", LAB)[1] == [("games.tld.", "A", "10.0.0.8")]
    harness.stop(daemon)


# ---- reloads under load ----


def ctl(harness, *words):
    done = subprocess.run([program("nailupctl"), "-s", str(harness.folder / "control.sock"), "--json", *words],
                          text=True, capture_output=True, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def view(name, clients, server):
    return {"name": name, "clients": clients, "stub-zones": [{"name": "tld", "upstreams": [server]}]}


LAB_VIEW, SHOP_VIEW = view("lab", [f"{LAB}/32"], LAB_AUTH), view("shop", [f"{GUEST}/32"], SHOP_AUTH)
# (views, last number of the address that LAB gets, last number that GUEST gets)
STEPS = [
    ([LAB_VIEW, SHOP_VIEW], 2, 3),
    ([SHOP_VIEW, LAB_VIEW], 2, 3),                                    # the order changes
    ([SHOP_VIEW], 1, 3),                                              # a view is missing
    ([], 1, 1),
    ([LAB_VIEW], 2, 1),                                               # a view is back
    ([dict(LAB_VIEW, name="laboratory"), SHOP_VIEW], 2, 3),           # a view has a new name
    ([view("lab", [f"{LAB}/32"], SHOP_AUTH)], 3, 1),                  # a view has other servers
    # views have other clients
    ([view("lab", [f"{GUEST}/32"], LAB_AUTH), view("shop", [f"{LAB}/32"], SHOP_AUTH)], 3, 2),
    ([dict(SHOP_VIEW, clients=["10.53.0.0/16"])], 3, 3),              # a view has all clients
]


class Asker(threading.Thread):
    """A client that sends queries all the time. answers counts the last numbers of the addresses. "none": no answer
    came."""

    def __init__(self, client, names):
        super().__init__(daemon=True)
        self.client, self.names, self.is_ending = client, names, False
        self.answers, self.lost = {}, []

    def run(self):
        number = 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.bind((self.client, 0))
            asker.settimeout(5)
            while not self.is_ending:
                number = number % 65535 + 1
                name = self.names[number % len(self.names)]
                asker.sendto(pack_query(number, name, "A", RD, edns=False), (SELF, 53))
                try:
                    reply = asker.recv(4096)
                    while reply[:2] != number.to_bytes(2, "big"):
                        reply = asker.recv(4096)
                except socket.timeout:
                    self.lost.append(name)
                    continue
                last = reply[-1] % 10 if reply[7] and reply[3] & 15 == 0 else f"rcode {reply[3] & 15}"
                self.answers[last] = self.answers.get(last, 0) + 1
                time.sleep(0.002)


@alone
def test_reloads_that_change_views_lose_no_query_and_mix_no_answers(harness):
    serve_all(harness)
    options = {"server": {"workers": 2}, "cache": {"stale-answer-timeout": "10ms"}}
    daemon = harness.start(options | {"views": STEPS[0][0]})
    eventually((harness.folder / "control.sock").exists)
    askers = [Asker(client, ["www.tld.", "brief.tld."]) for client in (PLAIN, LAB, GUEST)]
    for asker in askers:
        asker.start()
    for _ in range(2):
        for views, lab, guest in STEPS:
            harness.write("nailup.yaml", json.dumps(harness.config(options | {"views": views})))
            ctl(harness, "reload")
            for client, last in ((LAB, lab), (GUEST, guest)):
                assert dig(SELF, "www.tld.", "A", client) == ("NOERROR", [("www.tld.", "A", f"192.0.2.{last}")])
                assert dig(SELF, "brief.tld.", "A", client)[1] == [("brief.tld.", "A", f"192.0.2.{last + 30}")]
    for asker in askers:
        asker.is_ending = True
    for asker in askers:
        asker.join(20)
        assert not asker.lost, asker.lost[:5]
        assert sum(asker.answers.values()) > 100
        allowed = {1, 3} if asker.client == PLAIN else {1, 2, 3}
        assert set(asker.answers) <= allowed, (asker.client, asker.answers)
    harness.stop(daemon)


# ---- response policy of views ----


def policy_zone(harness, name, rules):
    harness.write(f"{name}.zone", f"$TTL 60\n@ SOA ns. host. 1 3600 900 86400 60\n@ NS ns.\n{rules}")
    return {"name": name, "file": str(harness.folder / f"{name}.zone"), "default": "no"}


def policy_view(name, client, *zones):
    return {"name": name, "clients": [f"{client}/32"], "rpz-zones": list(zones)}


@alone
def test_reloads_that_change_the_policy_of_views_never_apply_it_to_others(harness):
    """The zone `one` lists www.tld and `two` lists games.tld. A zone applies only to views that name it."""
    serve_all(harness)
    one = policy_zone(harness, "one", "www.tld CNAME .\n")
    two = policy_zone(harness, "two", "games.tld CNAME .\n")
    steps = [([one, two], [policy_view("lab", LAB, "one"), policy_view("shop", GUEST, "two")]),
             ([two, one], [policy_view("lab", LAB, "one"), policy_view("shop", GUEST, "two")]),
             ([two, one], [policy_view("shop", GUEST, "two"), policy_view("lab", LAB, "one")]),
             ([one], [policy_view("lab", LAB, "one"), policy_view("shop", GUEST)]),
             ([], []),
             ([two], [policy_view("shop", GUEST, "two")]),
             ([two, one], [policy_view("rest", KIDS, "one", "two"), policy_view("lab", LAB, "one")])]
    options = {"server": {"workers": 2}}
    daemon = harness.start(options | {"rpz": steps[0][0], "views": steps[0][1]})
    eventually((harness.folder / "control.sock").exists)
    # No rule ever applies to PLAIN, none about games.tld to LAB, and none about www.tld to GUEST.
    askers = [Asker(PLAIN, ["www.tld.", "games.tld."]), Asker(LAB, ["games.tld."]), Asker(GUEST, ["www.tld."])]
    for asker in askers:
        asker.start()
    for _ in range(3):
        for zones, views in steps:
            harness.write("nailup.yaml", json.dumps(harness.config(options | {"rpz": zones, "views": views})))
            ctl(harness, "reload")
            chosen = {row["clients"][0].split("/")[0]: row["rpz-zones"] for row in views}
            for client in CLIENTS:
                for name, listed in (("www.tld.", "one"), ("games.tld.", "two")):
                    wanted = "NXDOMAIN" if listed in chosen.get(client, []) else "NOERROR"
                    assert dig(SELF, name, "A", client)[0] == wanted, (client, name, views)
    for asker in askers:
        asker.is_ending = True
    for asker in askers:
        asker.join(20)
        assert not asker.lost and sum(asker.answers.values()) > 100
        assert set(asker.answers) == {1}, (asker.client, asker.answers)
    harness.stop(daemon)


@alone
def test_lookup_names_the_rule_for_the_view(harness):
    serve_all(harness)
    one = policy_zone(harness, "one", "www.tld CNAME .\n")
    daemon = harness.start({"rpz": [one], "views": [policy_view("lab", LAB, "one")]})
    eventually((harness.folder / "control.sock").exists)
    assert ctl(harness, "lookup", "--client", LAB, "www.tld")["policy"]["rule"] == "www.tld.one."
    assert ctl(harness, "lookup", "--view", "lab", "www.tld")["policy"]["zone"] == "one."
    assert ctl(harness, "lookup", "--client", PLAIN, "www.tld")["policy"]["rule"] == ""
    assert ctl(harness, "lookup", "www.tld")["policy"]["action"] == "depends on the answer"
    harness.stop(daemon)


# ---- the operator ----


@alone
def test_lookup_and_the_query_log_name_the_view(harness):
    serve_all(harness)
    daemon = harness.start({"views": [LAB_VIEW, SHOP_VIEW], "log": {"queries": "yes"}})
    eventually((harness.folder / "control.sock").exists)
    assert ctl(harness, "lookup", "--view", "lab", "www.tld")["lookup"]["view"] == "lab"
    assert ctl(harness, "lookup", "--client", GUEST, "www.tld")["lookup"]["view"] == "shop"
    assert ctl(harness, "lookup", "www.tld")["lookup"]["view"] == ""
    dig(SELF, "www.tld.", "A", LAB)
    assert ctl(harness, "lookup", "--view", "lab", "www.tld")["cached_answers"]
    assert ctl(harness, "lookup", "--view", "shop", "www.tld")["cached_answers"] == []
    assert ctl(harness, "lookup", "www.tld")["cached_answers"] == []
    refused = subprocess.run([program("nailupctl"), "-s", str(harness.folder / "control.sock"), "lookup", "--view",
                              "nowhere", "a"], text=True, capture_output=True)
    assert refused.returncode and "'nowhere' is not a view; views: lab, shop" in refused.stderr
    dig(SELF, "www.tld.", "A", PLAIN)
    eventually(lambda: harness.log().count(" query: ") == 2)
    lines = [line for line in harness.log().splitlines() if " query: " in line]
    assert lines[0].endswith(" view=lab") and "view=" not in lines[1]
    harness.stop(daemon)
