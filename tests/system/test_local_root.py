# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""local-root: the root zone comes from the address of a root server, in a separate network namespace. NSD sends the
transfer."""

import subprocess

import pytest

from conftest import eventually, program
from harness import ROOT, alone
from hierarchy.wire import AD, RD
from peers import NSD_CONFIG, Server, need

C_ROOT = "192.33.4.12"  # one of the servers from which local-root transfers the zone
TLD = "10.53.1.1"
ZONE = f"""\
. 86400 SOA k.root-servers.net. h. 2026112300 1800 900 604800 86400
. 518400 NS k.root-servers.net.
k.root-servers.net. 518400 A {ROOT}
tld. 172800 NS ns.tld.
ns.tld. 172800 A {TLD}
"""


def signed_root(folder, *options):
    """Signs a root zone with ldns-signzone and these options. Returns the zone with its digest, and the trust
    anchor."""
    folder.mkdir()
    (folder / "root").write_text(ZONE)
    key = subprocess.run([need("ldns-keygen"), "-a", "ECDSAP256SHA256", "-k", "."], cwd=folder, check=True,
                         capture_output=True, text=True).stdout.strip()
    subprocess.run([need("ldns-signzone"), "-z", "1:1", *options, "-o", ".", "-f", "signed", "root", key], cwd=folder, check=True,
                   capture_output=True)
    return (folder / "signed").read_text(), (folder / f"{key}.ds").read_text().strip()


def start_primary(harness, text, address=C_ROOT, more="  provide-xfr: 0.0.0.0/0 NOKEY\n"):
    """Starts NSD at the address of a root server. The caller must stop it."""
    folder = harness.folder / f"nsd-{address}"
    folder.mkdir()
    harness.add(address)
    (folder / "root.zone").write_text(text)
    (folder / "nsd.conf").write_text(NSD_CONFIG.format(address=f"{address}@53", folder=folder, options="")
                                     + "zone:\n  name: .\n  zonefile: root.zone\n" + more)
    server = Server(folder, (address, 53), need("nsd"), "-d", "-c", str(folder / "nsd.conf"))
    server.wait_until_ready()
    return server


def start(harness, anchor, **more):
    """Starts a daemon whose hints name a different root server, so that the test sees its queries."""
    harness.serve(ROOT, {".": f"@ NS k.root-servers.net.\nk.root-servers.net. A {ROOT}\ntld. NS ns.tld.\nns.tld. A {TLD}\n"})
    harness.serve(TLD, {"tld.": "@ NS ns.tld.\nns A 10.53.1.1\nwww A 192.0.2.1\n"})
    return harness.start({"local-root": "yes", "dnssec": {"validate": "yes" if anchor else "no",
                                                          "trust-anchors": [anchor] if anchor else []}} | more)


def addresses(answer):
    return [row.data for row in answer.answer if row.type == "A"]


def is_in_force(harness):
    """Returns whether all workers have the zone, which takes a moment after the log says so."""
    shown = subprocess.run([program("nailupctl"), "-s", "control.sock", "zones"], cwd=harness.folder, check=True,
                           capture_output=True, text=True).stdout
    return "served" in shown


@alone
def test_the_root_zone_comes_by_transfer_and_no_root_server_is_asked(harness):
    text, anchor = signed_root(harness.folder / "keys")
    primary = start_primary(harness, text)
    try:
        daemon = start(harness, anchor)
        eventually(lambda: "serial 2026112300 from 192.33.4.12@53, AXFR" in harness.log())
        eventually(lambda: is_in_force(harness))
        assert addresses(harness.ask("www.tld.")) == ["192.0.2.1"]
        denied = harness.ask("no.such.name.nowhere.", flags=RD | AD)
        assert denied.rcode == 3 and denied.flags & AD  # the zone's own NSEC records prove it
        assert harness.asked(ROOT) == []
        harness.stop(daemon)
    finally:
        primary.stop()


@alone
def test_a_root_zone_whose_digest_differs_is_refused_and_root_servers_are_asked(harness):
    text, _ = signed_root(harness.folder / "keys")
    primary = start_primary(harness, text.replace(f"A\t{TLD}", "A\t10.53.1.2"))
    try:
        daemon = start(harness, None)
        eventually(lambda: "the zone does not match the digest of its ZONEMD record" in harness.log())
        assert addresses(harness.ask("www.tld.")) == ["192.0.2.1"]
        assert harness.asked(ROOT)
        harness.stop(daemon)
    finally:
        primary.stop()


@alone
def test_a_root_zone_without_a_digest_is_refused(harness):
    primary = start_primary(harness, ZONE)
    try:
        daemon = start(harness, None)
        eventually(lambda: "the zone has no ZONEMD record" in harness.log())
        assert addresses(harness.ask("www.tld.")) == ["192.0.2.1"]
        harness.stop(daemon)
    finally:
        primary.stop()


def lines_without(text, *unwanted):
    return "\n".join(line for line in text.splitlines() if not any(part in line for part in unwanted)) + "\n"


def hostile_roots(folder):
    """Yields a root zone for each fault, with a right digest or without one, and the reason that the log gives."""
    good, anchor = signed_root(folder / "good")
    expired, expired_anchor = signed_root(folder / "expired", "-i", "20200101000000", "-e", "20200201000000")
    foreign, _ = signed_root(folder / "foreign")
    nsec3, nsec3_anchor = signed_root(folder / "nsec3", "-n")
    bare = lines_without(good, "\tRRSIG\tZONEMD")
    return {
        "stripped": (bare, anchor, "the zone's ZONEMD record is not trusted: a signature is missing"),
        "foreign": (foreign, anchor, "the zone's DNSKEY records are not trusted: no key of the zone fits the trust anchor"),
        "expired": (expired, expired_anchor, "the zone's DNSKEY records are not trusted: a signature has expired"),
        "removed": (lines_without(good, "\tZONEMD\t2026", "\tRRSIG\tZONEMD", "\tRRSIG\tNSEC"), anchor, "the zone's NSEC record is not trusted: a signature is missing"),
        "hidden": (lines_without(good, "\tZONEMD\t2026", "\tRRSIG\tZONEMD"), anchor, "the zone's ZONEMD record was removed"),
        "hidden-nsec3": (lines_without(nsec3, "\tZONEMD\t2026", "\tRRSIG\tZONEMD"), nsec3_anchor,
                         "the zone's ZONEMD record was removed"),
        "unsigned": (ZONE, anchor, "the zone has a trust anchor, but no DNSKEY record"),
    }


@alone
@pytest.mark.parametrize("fault", ["stripped", "foreign", "expired", "removed", "hidden", "hidden-nsec3", "unsigned"])
def test_a_root_zone_whose_signatures_are_wrong_is_refused_and_recursion_goes_on(harness, fault):
    folder = harness.folder / "keys"
    folder.mkdir()
    text, anchor, reason = hostile_roots(folder)[fault]
    honest, honest_anchor = signed_root(folder / "honest")
    primary, root = start_primary(harness, text), start_primary(harness, honest, ROOT, more="")
    try:
        harness.serve(TLD, {"tld.": "@ NS ns.tld.\nns A 10.53.1.1\nwww A 192.0.2.1\n"})
        daemon = harness.start({"local-root": "yes", "dnssec": {"validate": "yes",
                                                                "trust-anchors": [anchor, honest_anchor]}})
        eventually(lambda: f"zone .: serial 2026112300: {reason}; " in harness.log())
        assert addresses(harness.ask("www.tld.")) == ["192.0.2.1"]
        assert "from 192.33.4.12@53, AXFR" not in harness.log()  # nailupd has taken no version
        harness.stop(daemon)
    finally:
        primary.stop()
        root.stop()


@alone
def test_without_any_primary_recursion_starts_at_root_servers(harness):
    daemon = start(harness, None)
    assert addresses(harness.ask("www.tld.")) == ["192.0.2.1"]
    assert harness.asked(ROOT)
    harness.stop(daemon)
