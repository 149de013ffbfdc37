# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The source ports of queries to upstreams, which a forger must guess (RFC 5452 section 9.2)."""

import collections
import pathlib
import signal
import socket

import pytest
from harness import AA, RD, ROOT, SELF, Message, Zone, alone, pack_query, pack_reply
from hierarchy.wire import Record
from signed_tree.build import anchor_line
from signed_tree.keys import Key
from signed_tree.signer import Signed, covered_type, days, ds_records, type_number

SERVER, SERVER6 = "10.53.1.1", "fd53::1:1"
QUERIES = 400
BURST = 64
SYSCTL = pathlib.Path("/proc/sys/net/ipv4")


def ports_of(harness, server, outgoing=()):
    """Sends QUERIES queries for different names. Returns their source ports."""
    harness.serve(server, {".": "* 60 A 192.0.2.1\n" + "".join(f"n{i} 60 A 192.0.2.1\n" for i in range(QUERIES))})
    daemon = harness.start({"server": {"outgoing": list(outgoing)},
                            "forward-zones": [{"name": ".", "upstreams": [server]}],
                            "upstream": {"transport": "udp"}})
    for i in range(QUERIES):
        assert harness.ask(f"n{i}.").rcode == 0, harness.log()
    harness.stop(daemon)
    assert len(harness.servers.ports) >= QUERIES
    return harness.servers.ports


@pytest.mark.parametrize("server", [SERVER, SERVER6])
@alone
def test_ports_are_drawn_from_the_whole_range(harness, server):
    ports = ports_of(harness, server)
    assert min(ports) >= 1024
    quarters = [sum(low <= port < low + 16384 for port in ports) for low in range(0, 65536, 16384)]
    assert min(quarters) > len(ports) / 8, quarters
    assert len(set(ports)) > len(ports) * 0.95


@alone
def test_reserved_ports_are_never_used(harness):
    (SYSCTL / "ip_local_reserved_ports").write_text("1024-30000,40000-65000\n")
    ports = ports_of(harness, SERVER)
    assert not [port for port in ports if port <= 30000 or 40000 <= port <= 65000]
    assert any(port > 65000 for port in ports) and any(30000 < port < 32768 for port in ports)


@alone
def test_a_source_address_also_uses_the_whole_range_of_ports(harness):
    harness.add("10.53.0.77")
    ports = ports_of(harness, SERVER, ["10.53.0.77"])
    assert {source for _, _, source, _ in harness.servers.queries} == {"10.53.0.77"}
    assert min(ports) < 16384 and max(ports) > 61000


def ports_of_a_burst(harness, daemon, zone="."):
    """Returns how many queries came from each source port, when the daemon reads BURST queries at once."""
    names = [f"n{i}.{zone.lstrip('.')}" for i in range(BURST)]
    daemon.send_signal(signal.SIGSTOP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        for i, name in enumerate(names):
            client.sendto(pack_query(i, name, "A", RD), (SELF, 53))
        daemon.send_signal(signal.SIGCONT)
        answers = [Message(client.recv(65535)) for _ in range(BURST)]
    assert sorted(answer.id for answer in answers) == list(range(BURST))
    assert all(answer.rcode == 0 for answer in answers), harness.log()
    harness.stop(daemon)
    asked = [query.question[0].lower() for _, query, _, _ in harness.servers.queries]
    ports = {name: port for name, port in zip(asked, harness.servers.ports) if name in names}
    assert set(ports) == set(names)
    return collections.Counter(ports.values())


def serve_names(harness, server):
    harness.serve(server, {".": "".join(f"n{i} 60 A 192.0.2.1\n" for i in range(BURST))})


def forwarding(upstream):
    return {"forward-zones": [{"name": ".", "upstreams": [SERVER]}], "upstream": {"transport": "udp", **upstream}}


@pytest.mark.parametrize("most", [8, 3])
@alone
def test_queries_of_a_burst_share_ports(harness, most):
    serve_names(harness, SERVER)
    daemon = harness.start(forwarding({} if most == 8 else {"queries-per-port": most}))
    ports = ports_of_a_burst(harness, daemon)
    assert max(ports.values()) == most
    assert len(ports) < BURST / 2


@pytest.mark.parametrize("server", [SERVER, ROOT], ids=["configured", "discovered"])
@alone
def test_each_query_of_a_burst_has_its_own_port(harness, server):
    serve_names(harness, server)
    daemon = harness.start(forwarding({"queries-per-port": 1}) if server == SERVER else {})
    ports = ports_of_a_burst(harness, daemon)
    assert len(ports) > BURST * 0.9  # two draws may give the same port


class SignedZone(Zone):
    """Adds the signatures to positive answers. Refers to the unsigned zone below, and proves that it has no DS records."""

    def __init__(self, signed):
        super().__init__(signed.name, "")
        self.records = {}
        for record in signed.records:
            self.records.setdefault(record.name, []).append(record)

    def answer(self, query):
        name, kind = query.question[0].lower(), type_number(query.question[1])
        below = self.records.get(f"below.{self.name}", ())
        if name.endswith(f"below.{self.name}"):
            proof = [one for one in below if one.type in ("NSEC", "RRSIG")]
            if query.question[1] != "DS":
                return pack_reply(query, 0, 0, (), [one for one in below if one.type == "NS"] + proof)
            return pack_reply(query, AA, 0, (), proof + [one for one in self.records[self.name] if one.type == "SOA" or
                              (one.type == "RRSIG" and covered_type(one) == type_number("SOA"))])
        rows = [one for one in self.records[name] if type_number(one.type) == kind or
                (one.type == "RRSIG" and covered_type(one) == kind)]
        return pack_reply(query, AA, 0, rows)


def serve_signed(harness, below=""):
    """Serves signed.tld, with a delegation to an unsigned zone at the address below. Returns its DS record as a trust anchor."""
    server, key = f"{SERVER}1", Key(13)
    records = [Record("signed.tld.", "SOA", 60, "ns. mail. 1 3600 600 86400 60"),
               *(Record(f"n{i}.signed.tld.", "A", 60, "192.0.2.1") for i in range(BURST + 1))]
    if below:
        records.append(Record("below.signed.tld.", "NS", 60, "ns.below.tld."))
    signed = Signed("signed.tld.", records, [key], "nsec", days(-1, 20))
    harness.serve(ROOT, {".": "".join(f"{one} NS ns.tld.\n" for one in ("signed.tld.", "unsigned.tld.")) +
                              f"ns.tld. A {server}\n" + (f"ns.below.tld. A {below}\n" if below else "")})
    harness.serve(server, {"unsigned.tld.": "".join(f"n{i} 60 A 192.0.2.1\n" for i in range(BURST + 1))})
    harness.servers.zones[server].append(SignedZone(signed))
    harness.write("tld.ds", anchor_line(ds_records("signed.tld.", [key])[0]))
    return {"validate": "yes", "trust-anchor-file": str(harness.folder / "tld.ds")}


@pytest.mark.parametrize("options, zone, most", [
    ({}, "signed.tld.", 8), ({"upstream": {"queries-per-port": 3}}, "signed.tld.", 3), ({"negative-trust-anchors": ["tld"]}, "unsigned.tld.", 1),
    ({"negative-trust-anchors": ["signed.tld"]}, "signed.tld.", 1), ({"validate": "log"}, "signed.tld.", 1)])
@alone
def test_queries_share_ports_of_discovered_servers_where_signatures_prove_the_answers(harness, options, zone, most):
    options = {"dnssec": options} if most == 1 else options
    options["dnssec"] = {**serve_signed(harness), **options.get("dnssec", {})}
    daemon = harness.start(options)
    answer = harness.ask(f"n{BURST}.{zone}")
    assert answer.rcode == 0, harness.log()
    ports = ports_of_a_burst(harness, daemon, zone)
    assert max(ports.values()) == most if most > 1 else len(ports) > BURST * 0.9


@alone
def test_no_queries_share_ports_of_a_signed_zone_that_refers_to_zones_below(harness):
    """No signature proves the names of servers, and queries for unsigned zones below look like others."""
    harness.serve(f"{SERVER}2", {"below.signed.tld.": "www 60 A 192.0.2.1\n"})
    daemon = harness.start({"dnssec": serve_signed(harness, f"{SERVER}2")})
    for name in (f"n{BURST}.signed.tld.", "www.below.signed.tld."):
        assert harness.ask(name).rcode == 0, harness.log()
    ports = ports_of_a_burst(harness, daemon, "signed.tld.")
    assert len(ports) > BURST * 0.9
