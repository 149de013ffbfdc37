# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""local-root: the root zone from the address of a root server, in a separate network namespace. NSD gives the transfer."""

import subprocess

from conftest import eventually
from harness import ROOT, alone
from hierarchy.wire import AD, RD
from peers import NSD_CONFIG, Server, need

C_ROOT = "192.33.4.12"  # one of the servers that local-root asks
TLD = "10.53.1.1"
ZONE = f"""\
. 86400 SOA k.root-servers.net. h. 2026112300 1800 900 604800 86400
. 518400 NS k.root-servers.net.
k.root-servers.net. 518400 A {ROOT}
tld. 172800 NS ns.tld.
ns.tld. 172800 A {TLD}
"""


def signed_root(folder):
    """Returns the signed zone with its digest, and the trust anchor."""
    folder.mkdir()
    (folder / "root").write_text(ZONE)
    key = subprocess.run([need("ldns-keygen"), "-a", "ECDSAP256SHA256", "-k", "."], cwd=folder, check=True,
                         capture_output=True, text=True).stdout.strip()
    subprocess.run([need("ldns-signzone"), "-z", "1:1", "-o", ".", "-f", "signed", "root", key], cwd=folder, check=True,
                   capture_output=True)
    return (folder / "signed").read_text(), (folder / f"{key}.ds").read_text().strip()


def start_primary(harness, text):
    """NSD at the address of a root server. It must be stopped."""
    folder = harness.folder / "nsd"
    folder.mkdir()
    harness.add(C_ROOT)
    (folder / "root.zone").write_text(text)
    (folder / "nsd.conf").write_text(NSD_CONFIG.format(address=f"{C_ROOT}@53", folder=folder, options="")
                                     + "zone:\n  name: .\n  zonefile: root.zone\n  provide-xfr: 0.0.0.0/0 NOKEY\n")
    server = Server(folder, (C_ROOT, 53), need("nsd"), "-d", "-c", str(folder / "nsd.conf"))
    server.wait_until_ready()
    return server


def start(harness, anchor, **more):
    """A daemon whose hints name another root server, which is watched."""
    harness.serve(ROOT, {".": f"@ NS k.root-servers.net.\nk.root-servers.net. A {ROOT}\ntld. NS ns.tld.\nns.tld. A {TLD}\n"})
    harness.serve(TLD, {"tld.": "@ NS ns.tld.\nns A 10.53.1.1\nwww A 192.0.2.1\n"})
    return harness.start({"local-root": "yes", "dnssec": {"validate": "yes" if anchor else "no",
                                                          "trust-anchors": [anchor] if anchor else []}} | more)


def addresses(answer):
    return [row.data for row in answer.answer if row.type == "A"]


@alone
def test_the_root_zone_comes_by_transfer_and_no_root_server_is_asked(harness):
    text, anchor = signed_root(harness.folder / "keys")
    primary = start_primary(harness, text)
    try:
        daemon = start(harness, anchor)
        eventually(lambda: "serial 2026112300 from 192.33.4.12@53, AXFR" in harness.log())
        assert addresses(harness.ask("www.tld.")) == ["192.0.2.1"]
        denied = harness.ask("no.such.name.nowhere.", flags=RD | AD)
        assert denied.rcode == 3 and denied.flags & AD  # proven by the zone's own NSEC records
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


@alone
def test_without_any_primary_recursion_starts_at_root_servers(harness):
    daemon = start(harness, None)
    assert addresses(harness.ask("www.tld.")) == ["192.0.2.1"]
    assert harness.asked(ROOT)
    harness.stop(daemon)
