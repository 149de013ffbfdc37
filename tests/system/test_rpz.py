# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Response policy zones beside Unbound and BIND: the same zone file and the same servers give the same answers. Then
the operator's view: lookup, metrics, log and reload."""

import json
import re
import signal
import subprocess

from conftest import Answer, eventually, program
from harness import ROOT, SELF, alone
from peers import need, start_peer, start_resolving_unbound

AUTH, LISTED_NS, GARDEN_NS, DEEP_NS = "10.53.1.1", "10.53.1.2", "10.53.1.3", "10.53.1.4"
UNBOUND, BIND = "10.53.0.20", "10.53.0.30"
CLIENT, LISTED_CLIENT, FREE_CLIENT = "10.53.0.50", "10.53.7.1", "10.53.8.1"

ROOT_ZONE = f"""\
@ NS whatever.name.
whatever.name. A {ROOT}
tld NS ns.tld.
ns.tld. A {AUTH}
"""
TLD_ZONE = f"""\
@ NS ns.tld.
ns A {AUTH}
good NS ns.good.tld.
ns.good A {AUTH}
listed NS ns.listed.tld.
ns.listed A {LISTED_NS}
byname NS evil.ns.good.tld.
bytwo NS evil.ns.good.tld.
bytwo NS aaa.ns.good.tld.
garden NS ns.garden.tld.
ns.garden A {GARDEN_NS}
"""
GOOD_ZONE = f"""\
@ NS ns.good.tld.
ns A {AUTH}
evil.ns A {GARDEN_NS}
aaa.ns A {GARDEN_NS}
www 60 A 192.0.2.1
other 60 A 192.0.2.2
net 60 A 198.51.100.7
ready 60 A 192.0.2.30
near 60 A 198.51.100.77
six 60 AAAA 2001:db8:5::1
alias 60 CNAME www.good.tld.
toblock 60 CNAME nx.good.tld.
toip 60 CNAME net.good.tld.
tobyname 60 CNAME www.byname.tld.
nx 60 A 192.0.2.3
nodata 60 A 192.0.2.4
pass 60 A 198.51.100.8
drop 60 A 192.0.2.6
tcp 60 A 192.0.2.7
data 60 A 192.0.2.8
cname 60 A 192.0.2.9
wild 60 A 192.0.2.10
a.wild 60 A 192.0.2.11
b.a.wild 60 A 192.0.2.12
c.wild 60 A 192.0.2.13
"""
POLICY = """\
$TTL 300
@ SOA ns.policy. host.policy. 1 3600 900 86400 60
@ NS ns.example.
ready.good.tld CNAME .
nx.good.tld CNAME .
nodata.good.tld CNAME *.
pass.good.tld CNAME rpz-passthru.
drop.good.tld CNAME rpz-drop.
tcp.good.tld CNAME rpz-tcp-only.
data.good.tld A 203.0.113.1
data.good.tld A 203.0.113.2
data.good.tld TXT listed
cname.good.tld CNAME www.garden.tld.
*.wild.good.tld CNAME .
b.a.wild.good.tld CNAME *.
c.wild.good.tld A 203.0.113.3
*.made.tld CNAME *.garden.tld.
24.0.100.51.198.rpz-ip CNAME .
32.77.100.51.198.rpz-ip CNAME rpz-passthru.
48.zz.5.db8.2001.rpz-ip CNAME *.
evil.ns.good.tld.rpz-nsdname CNAME .
aaa.ns.good.tld.rpz-nsdname CNAME *.
32.2.1.53.10.rpz-nsip CNAME *.
24.0.7.53.10.rpz-client-ip CNAME .
24.0.8.53.10.rpz-client-ip CNAME rpz-passthru.
"""

# (name, type, client, options of dig)
QUESTIONS = [
    ("www.good.tld.", "A"), ("alias.good.tld.", "A"), ("missing.good.tld.", "A"),
    ("nx.good.tld.", "A"), ("nx.good.tld.", "MX"), ("nodata.good.tld.", "A"), ("pass.good.tld.", "A"),
    ("drop.good.tld.", "A"), ("tcp.good.tld.", "A"), ("tcp.good.tld.", "A", CLIENT, "+tcp"),
    ("data.good.tld.", "A"), ("data.good.tld.", "TXT"), ("data.good.tld.", "MX"),
    ("cname.good.tld.", "A"), ("cname.good.tld.", "CNAME"), ("x.made.tld.", "CNAME"),
    ("wild.good.tld.", "A"), ("a.wild.good.tld.", "A"), ("b.a.wild.good.tld.", "A"), ("c.wild.good.tld.", "A"),
    ("net.good.tld.", "A"), ("near.good.tld.", "A"), ("six.good.tld.", "AAAA"),
    ("toblock.good.tld.", "A"), ("toip.good.tld.", "A"),
    ("www.listed.tld.", "A"), ("www.byname.tld.", "A"), ("www.garden.tld.", "A"),
    ("www.bytwo.tld.", "A"), ("missing.byname.tld.", "A"), ("www.byname.tld.", "TXT"), ("missing.listed.tld.", "A"),
    ("www.good.tld.", "A", LISTED_CLIENT), ("nx.good.tld.", "A", FREE_CLIENT), ("net.good.tld.", "A", FREE_CLIENT),
]

# Unbound 1.17 does not expand a wildcard target, does not let a client's PASSTHRU exempt from the rules about names
# and addresses, does not look at the targets of cached aliases or remember PASSTHRU on a hit, and takes the servers of a
# zone in the order of its NS records.
UNBOUND_DIFFERS = {QUESTIONS.index(one) for one in (
    ("x.made.tld.", "CNAME"), ("nx.good.tld.", "A", FREE_CLIENT), ("net.good.tld.", "A", FREE_CLIENT),
    ("pass.good.tld.", "A"), ("toblock.good.tld.", "A"), ("www.bytwo.tld.", "A"))}
# BIND also follows a wildcard target for a CNAME query, and an empty non-terminal of the zone hides a wildcard.
BIND_DIFFERS = {QUESTIONS.index(one) for one in (("x.made.tld.", "CNAME"), ("a.wild.good.tld.", "A"))}


def serve_all(harness):
    harness.serve(ROOT, {".": ROOT_ZONE})
    harness.serve(AUTH, {"tld.": TLD_ZONE, "good.tld.": GOOD_ZONE})
    harness.serve(LISTED_NS, {"listed.tld.": f"@ NS ns.listed.tld.\nns A {LISTED_NS}\nwww 60 A 192.0.2.21\n"})
    harness.serve(GARDEN_NS, {"garden.tld.": f"@ NS ns.garden.tld.\nns A {GARDEN_NS}\nwww 60 A 203.0.113.80\n",
                              "byname.tld.": "@ NS evil.ns.good.tld.\nwww 60 A 192.0.2.20\n"
                                             f"deep NS ns.deep\nns.deep A {DEEP_NS}\n",
                              "bytwo.tld.": "@ NS evil.ns.good.tld.\n@ NS aaa.ns.good.tld.\nwww 60 A 192.0.2.22\n"})
    harness.serve(DEEP_NS, {"deep.byname.tld.": f"@ NS ns\nns A {DEEP_NS}\nwww 60 A 192.0.2.23\n"})
    for ip in (UNBOUND, BIND, CLIENT, LISTED_CLIENT, FREE_CLIENT):
        harness.add(ip)
    harness.write("policy.zone", POLICY)


def dig(server, name, kind="A", client=CLIENT, *options):
    done = subprocess.run([need("dig"), f"@{server}", "-b", client, "+tries=1", "+timeout=3", "+edns", "+ignore",
                           *options, name, kind], text=True, capture_output=True, timeout=20)
    return Answer(done.stdout)


def reported(server, question):
    """Returns the parts of an answer that policy decides."""
    name, kind, *rest = question
    answer = dig(server, name, kind, *(rest or [CLIENT]))
    if answer.status is None:
        return "no answer"
    rows = sorted((row[0].lower(), row[2], row[3]) for row in answer.rows)
    return "truncated" if "tc" in answer.flags else (answer.status, rows)


def start_unbound(harness):
    return start_resolving_unbound(harness, UNBOUND, "respip iterator", "rpz:\n  name: policy.\n  zonefile: policy.zone\n")


def start_bind(harness):
    harness.write("root.hints", harness.hints)
    harness.write("named.conf", f"""\
options {{
  directory "{harness.folder}"; pid-file none; session-keyfile none; managed-keys-directory "{harness.folder}";
  listen-on port 53 {{ {BIND}; }}; listen-on-v6 {{ none; }}; query-source address {BIND};
  recursion yes; allow-query {{ any; }}; allow-recursion {{ any; }}; dnssec-validation no; empty-zones-enable no;
  response-policy {{ zone "policy"; }} qname-wait-recurse no nsip-wait-recurse yes;
}};
controls {{ }};
zone "." {{ type hint; file "root.hints"; }};
zone "policy" {{ type primary; file "policy.zone"; allow-query {{ any; }}; }};
""")
    return start_peer(harness, [need("named"), "-g", "-c", "named.conf", "-n", "1"])


def compare(harness, address, start, differs):
    serve_all(harness)
    harness.start({"rpz": [{"name": "policy", "file": "policy.zone"}]})
    peer = start(harness)

    def is_ready():
        assert peer.poll() is None, (harness.folder / "peer.log").read_text()
        return dig(address, "ready.good.tld.").status == "NXDOMAIN"
    eventually(is_ready, within=20)
    wrong = []
    for _ in range(2):  # first misses, then hits
        for index, question in enumerate(QUESTIONS):
            ours, theirs = reported(SELF, question), reported(address, question)
            if ours != theirs and index not in differs:
                wrong.append((question, ours, theirs))
    assert not wrong, "\n".join(f"{question}\n  ours   {ours}\n  theirs {theirs}" for question, ours, theirs in wrong)


@alone
def test_unbound_gives_the_same_answers(harness):
    compare(harness, UNBOUND, start_unbound, UNBOUND_DIFFERS)


@alone
def test_bind_gives_the_same_answers(harness):
    compare(harness, BIND, start_bind, BIND_DIFFERS)


# ---- the operator's view ----


def ctl(harness, *words):
    eventually((harness.folder / "control.sock").exists)
    done = subprocess.run([program("nailupctl"), "-s", str(harness.folder / "control.sock"), "--json", *words],
                          text=True, capture_output=True, timeout=20)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def policy_of(harness, *words):
    shown = ctl(harness, "lookup", *words)["policy"]
    return shown["action"], shown["rule"], shown["trigger"], shown["name"], shown["decided_by"]


@alone
def test_lookup_names_the_rule_that_decides(harness):
    serve_all(harness)
    daemon = harness.start({"rpz": [{"name": "policy", "file": "policy.zone"}]})
    assert policy_of(harness, "nx.good.tld") == (
        "nxdomain", "nx.good.tld.policy.", "qname", "nx.good.tld.", "the query")
    assert policy_of(harness, "--client", LISTED_CLIENT, "www.good.tld")[:3] == (
        "nxdomain", "24.0.7.53.10.rpz-client-ip.policy.", "client-ip")
    assert policy_of(harness, "net.good.tld")[0] == "depends on the answer"
    for name in ("net", "toblock", "www"):
        reported(SELF, (f"{name}.good.tld.", "A"))
    assert policy_of(harness, "net.good.tld") == (
        "nxdomain", "24.0.100.51.198.rpz-ip.policy.", "ip", "net.good.tld.", "the cached answer")
    assert policy_of(harness, "toblock.good.tld")[3] == "nx.good.tld."
    reported(SELF, ("www.listed.tld.", "A"))
    assert policy_of(harness, "www.listed.tld")[2] == "nsip"
    assert policy_of(harness, "www.good.tld")[0] == "none"
    # Rules about the servers of a name below a missing one, of an alias target, and of the zone above.
    for name, kind, judged in (("m.n.www.byname.tld", "AAAA", "m.n.www.byname.tld."),
                               ("tobyname.good.tld", "A", "www.byname.tld."),
                               ("www.deep.byname.tld", "A", "www.deep.byname.tld.")):
        reported(SELF, (name, kind))
        assert policy_of(harness, name, kind) == (
            "nxdomain", "evil.ns.good.tld.rpz-nsdname.policy.", "nsdname", judged, "the cached answer")
    refused = subprocess.run([program("nailupctl"), "-s", str(harness.folder / "control.sock"), "lookup", "--client",
                              "nobody", "a"], text=True, capture_output=True)
    assert refused.returncode and "is not an address" in refused.stderr
    harness.stop(daemon)


@alone
def test_metrics_and_the_log_have_each_zone(harness):
    serve_all(harness)
    daemon = harness.start({"metrics": {"listen": f"{SELF}@9953"},
                            "rpz": [{"name": "policy", "file": "policy.zone", "log": "yes", "log-name": "feed"}]})
    for _ in range(3):
        reported(SELF, ("nx.good.tld.", "A"))
    reported(SELF, ("drop.good.tld.", "A"))

    def figures():
        done = subprocess.run([need("curl"), "-s", f"http://{SELF}:9953/metrics"], text=True, capture_output=True)
        return dict(re.findall(r"^(nailup_(?:rpz|dropped)\S*) (\d+)$", done.stdout, re.M))
    shown = figures()
    assert shown['nailup_rpz_matches_total{zone="policy.",action="nxdomain"}'] == "3"
    assert shown['nailup_rpz_matches_total{zone="policy.",action="drop"}'] == "1"
    assert shown['nailup_rpz_rules{zone="policy."}'] == "20"
    assert shown['nailup_rpz_rules_skipped{zone="policy."}'] == "0"
    assert shown['nailup_dropped_total{reason="policy"}'] == "1"
    assert f"feed: nxdomain by rule nx.good.tld.policy. (qname) for {CLIENT}" in harness.log()
    harness.stop(daemon)


@alone
def test_a_reload_reads_the_zone_again_and_a_broken_file_changes_nothing(harness):
    serve_all(harness)
    daemon = harness.start({"rpz": [{"name": "policy", "file": "policy.zone"}]})
    assert reported(SELF, ("nx.good.tld.", "A"))[0] == "NXDOMAIN"
    harness.write("policy.zone", POLICY.replace("nx.good.tld CNAME .", "other.good.tld CNAME ."))
    daemon.send_signal(signal.SIGHUP)
    eventually(lambda: reported(SELF, ("other.good.tld.", "A"))[0] == "NXDOMAIN")
    assert reported(SELF, ("nx.good.tld.", "A")) == ("NOERROR", [("nx.good.tld.", "A", "192.0.2.3")])
    harness.write("policy.zone", POLICY + "broken A 1.2.3\n")
    done = subprocess.run([program("nailupctl"), "-s", str(harness.folder / "control.sock"), "reload"], text=True,
                          capture_output=True)
    assert done.returncode and "policy.zone:" in done.stdout + done.stderr, done
    assert reported(SELF, ("other.good.tld.", "A"))[0] == "NXDOMAIN"
    harness.stop(daemon)


