# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""New and revoked keys of a zone (RFC 5011): nailupd asks a real server, and its file goes to and from a real Unbound.
Times of a roll are written into the file, so that no test waits for them. Most basic first."""

import base64
import re
import shutil
import time

import pytest
from conftest import Daemon, eventually
from harness import Clock
from hierarchy.wire import Record
from peers import nsd, unbound  # noqa: F401
from signed_tree.build import text_of
from signed_tree.keys import KSK, REVOKE, Key
from signed_tree.signer import Signed, days, ds_records

ZONE = "roll.test."
DAY_S = 86400
STATES = ["START", "ADDPEND", "VALID", "MISSING", "REVOKED", "REMOVED"]


def twin(key, flags):
    """Returns the same key with other flags."""
    other = Key(key.algorithm, flags, public=key.public)
    other.pair = key.pair
    return other


def zone_of(keys):
    records = [Record(ZONE, "SOA", 300, "ns.roll.test. mail.roll.test. 1 3600 600 86400 60"),
               Record(ZONE, "NS", 300, "ns.roll.test."), Record(f"ns.{ZONE}", "A", 300, "127.0.0.1"),
               Record(f"www.{ZONE}", "A", 60, "192.0.2.1")]
    return {ZONE.rstrip("."): text_of(Signed(ZONE, records, keys, "nsec", days(-1, 20)).records)}


def line_of(key, state, age_days=40, sightings=0):
    text = base64.b64encode(key.public).decode()
    return (f"{ZONE} 3600 IN DNSKEY {key.flags} 3 {key.algorithm} {text} ;;state={state} [ {STATES[state]} ] "
            f";;count={sightings} ;;lastchange={int(time.time()) - age_days * DAY_S} ;;then\n")


def file_of(*lines):
    return f"; autotrust trust anchor file\n;;id: {ZONE} 1\n;;next_probe_time: 1 ;;then\n" + "".join(lines)


def states(daemon):
    return {row["key_tag"]: row["state"] for row in daemon.ask("anchors")["anchors"] if row["zone"] == ZONE}


def in_file(path):
    """Returns {tag: state} from a file in Unbound's format."""
    found = re.findall(r"\{id = (\d+).*?;;state=(\d)", path.read_text())
    return {int(tag): STATES[int(state)] for tag, state in found}


@pytest.fixture
def follow(nailupd, dig, tmp_path):
    """follow(server, text): starts a daemon with this anchor file, and waits until it has validated an answer."""
    folder = tmp_path / "state"
    folder.mkdir(exist_ok=True)

    def start(server, text=None, ask=True, **options):
        path = folder / "zone.key"
        if text is not None:
            path.write_text(text)
        daemon = nailupd({"dnssec": {"validate": "yes", "trust-anchor-file": str(path), **options}},
                         upstreams=[server.server])
        daemon.anchor_file = path
        if ask:
            assert dig(daemon, f"www.{ZONE}", "A", "+dnssec").status == "NOERROR"
        return daemon

    return start


def test_a_new_key_is_seen_and_waits(nsd, follow):  # noqa: F811
    old, new = Key(13), Key(15)
    daemon = follow(nsd(zone_of([old, twin(new, KSK)])), file_of(line_of(old, 2)))
    eventually(lambda: states(daemon) == {old.tag: "VALID", new.tag: "ADDPEND"}, within=15)
    assert in_file(daemon.anchor_file) == {old.tag: "VALID", new.tag: "ADDPEND"}
    assert daemon.metrics()['trust_anchors{state="pending"}'] == 1
    rows = daemon.ask("anchors")["anchors"]
    assert all(3000 < row["next_probe_seconds"] <= 3600 for row in rows if row["zone"] == ZONE)
    assert f"key {new.tag}: new" in daemon.log()


def test_a_key_that_waited_long_enough_is_trusted_alone(nsd, follow, dig):  # noqa: F811
    old, new = Key(13), Key(15)
    server = nsd(zone_of([old, new]))
    daemon = follow(server, file_of(line_of(old, 2), line_of(new, 1, age_days=31, sightings=9)))
    eventually(lambda: states(daemon) == {old.tag: "VALID", new.tag: "VALID"}, within=15)
    assert f"key {new.tag}: trusted" in daemon.log()
    eventually(lambda: dig(daemon, f"www.{ZONE}", "A", "+dnssec").status == "NOERROR", within=5)


def test_a_key_that_signs_alone_before_its_time_is_bogus(nsd, follow, dig):  # noqa: F811
    old, new = Key(13), Key(15)
    daemon = follow(nsd(zone_of([new])), file_of(line_of(old, 2), line_of(new, 1, age_days=31, sightings=9)), ask=False)
    assert dig(daemon, f"www.{ZONE}").status == "SERVFAIL"
    eventually(lambda: "no DNSKEY records with a signature of a trusted key" in daemon.log(), within=15)
    assert states(daemon) == {old.tag: "VALID", new.tag: "ADDPEND"}


def test_a_revoked_key_is_no_longer_trusted(nsd, follow):  # noqa: F811
    old, new = Key(13), Key(15)
    daemon = follow(nsd(zone_of([twin(old, KSK | REVOKE), new])), file_of(line_of(old, 2), line_of(new, 2)))
    eventually(lambda: states(daemon) == {old.tag: "REVOKED", new.tag: "VALID"}, within=15)
    assert in_file(daemon.anchor_file) == {twin(old, KSK | REVOKE).tag: "REVOKED", new.tag: "VALID"}


def test_a_missing_key_is_reported(nsd, follow):  # noqa: F811
    old, new = Key(13), Key(15)
    daemon = follow(nsd(zone_of([new])), file_of(line_of(old, 2), line_of(new, 2)))
    eventually(lambda: states(daemon) == {old.tag: "MISSING", new.tag: "VALID"}, within=15)
    assert daemon.metrics()['trust_anchors{state="missing"}'] == 1
    assert "it was not revoked" in daemon.log()


def test_a_ds_record_begins_a_file(nsd, follow):  # noqa: F811
    old = Key(13)
    record = ds_records(ZONE, [old])[0]
    daemon = follow(nsd(zone_of([old])), f"{record.name} IN {record.type} {record.data}\n", **{"update-anchors": "yes"})
    eventually(lambda: states(daemon) == {old.tag: "VALID"}, within=15)
    assert in_file(daemon.anchor_file) == {old.tag: "VALID"}


def test_a_plain_file_stays_as_it_is(nsd, follow):  # noqa: F811
    old, new = Key(13), Key(15)
    text = base64.b64encode(old.public).decode()
    plain = f"{ZONE} IN DNSKEY 257 3 13 {text}\n"
    daemon = follow(nsd(zone_of([old, new])), plain)
    time.sleep(7)
    assert states(daemon) == {old.tag: ""}
    assert daemon.anchor_file.read_text() == plain


def test_nothing_is_asked_before_a_client_asks(nsd, follow):  # noqa: F811
    old, new = Key(13), Key(15)
    daemon = follow(nsd(zone_of([old, new])), file_of(line_of(old, 2)), ask=False)
    time.sleep(7)
    assert states(daemon) == {old.tag: "VALID"}


def test_a_file_that_cannot_be_written_warns_once_and_serves(nsd, follow, dig):  # noqa: F811
    old, new = Key(13), Key(15)
    daemon = follow(nsd(zone_of([old, new])), file_of(line_of(old, 2)), ask=False)
    shutil.rmtree(daemon.anchor_file.parent)
    assert dig(daemon, f"www.{ZONE}").status == "NOERROR"
    eventually(lambda: states(daemon) == {old.tag: "VALID", new.tag: "ADDPEND"}, within=15)
    assert daemon.log().count("cannot be written") == 1
    assert daemon.metrics()["trust_anchor_file_unwritten"] == 1


def test_a_crash_leaves_a_whole_file(nsd, follow, nailupd, dig):  # noqa: F811
    old, new = Key(13), Key(15)
    server = nsd(zone_of([old, new]))
    daemon = follow(server, file_of(line_of(old, 2)))
    eventually(lambda: daemon.anchor_file.read_text().count("DNSKEY") == 2, within=15)
    daemon.process.kill()
    daemon.process.wait(5)
    beside = daemon.anchor_file.with_name("zone.key.new")
    beside.write_text("; autotrust trust anchor file\n;;id: roll.te")
    again = follow(server)
    assert states(again) == {old.tag: "VALID", new.tag: "ADDPEND"}


def test_a_reload_keeps_the_state_and_takes_a_file_of_another_program(nsd, follow):  # noqa: F811
    old, new = Key(13), Key(15)
    daemon = follow(nsd(zone_of([old, new])), file_of(line_of(old, 2)))
    eventually(lambda: new.tag in states(daemon), within=15)
    daemon.ask("reload")
    assert states(daemon) == {old.tag: "VALID", new.tag: "ADDPEND"}
    daemon.anchor_file.write_text(file_of(line_of(old, 2), line_of(new, 2)))
    daemon.ask("reload")
    assert states(daemon) == {old.tag: "VALID", new.tag: "VALID"}


def forward_of(server):
    return f'forward-zone:\n  name: "."\n  forward-addr: {server.server}\n'


def test_unbound_reads_the_file_and_nailupd_reads_unbounds(nsd, unbound, follow, dig, tmp_path):  # noqa: F811
    old, new = Key(13), Key(15)
    server = nsd(zone_of([old, new]))
    daemon = follow(server, file_of(line_of(old, 2)))
    eventually(lambda: in_file(daemon.anchor_file) == {old.tag: "VALID", new.tag: "ADDPEND"}, within=15)
    written = daemon.anchor_file.read_text()
    daemon.stop()
    peer = unbound(forward_of(server), **{"module-config": '"validator iterator"',
                                          "auto-trust-anchor-file": f'"{daemon.anchor_file}"',
                                          "local-zone": '"test." nodefault'})
    answer = dig(peer, f"www.{ZONE}", "A", "+dnssec")
    assert answer.status == "NOERROR" and "ad" in answer.flags
    peer.stop()
    assert in_file(daemon.anchor_file) == {old.tag: "VALID", new.tag: "ADDPEND"}
    fresh = tmp_path / "state" / "fresh.key"
    record = ds_records(ZONE, [old])[0]
    fresh.write_text(f"{record.name} IN {record.type} {record.data}\n")
    peer = unbound(forward_of(server), **{"module-config": '"validator iterator"',
                                          "auto-trust-anchor-file": f'"{fresh}"', "local-zone": '"test." nodefault'})
    assert dig(peer, f"www.{ZONE}", "A", "+dnssec").status == "NOERROR"
    eventually(lambda: "state=" in fresh.read_text(), within=10)
    peer.stop()
    daemon = follow(server, fresh.read_text())
    assert states(daemon) == {old.tag: "VALID", new.tag: "ADDPEND"}
    assert written.splitlines()[0] == "; autotrust trust anchor file"


def test_a_file_that_does_not_exist_begins_with_the_roots_anchors(nsd, follow):  # noqa: F811
    daemon = follow(nsd(zone_of([Key(13)])), ask=False, **{"update-anchors": "yes"})
    assert [row["key_tag"] for row in daemon.ask("anchors")["anchors"]] == [20326, 38696]


# ---- a clock that is ahead ----


@pytest.fixture
def ahead(nsd, tmp_path, make_config):  # noqa: F811
    """A daemon whose clock is 60 days ahead, and the clock. The daemon trusts a zone of a real server."""
    key = Key(13)
    anchor = f"{ZONE} DNSKEY {key.flags} 3 {key.algorithm} {base64.b64encode(key.public).decode()}"
    server, clock = nsd(zone_of([key])), Clock(tmp_path, monotonic=False)
    clock.move(60 * DAY_S)
    daemon = Daemon(tmp_path, make_config({"dnssec": {"validate": "yes", "trust-anchors": [anchor]}}, upstreams=[server.server]),
                    inside=["env", *(f"{k}={v}" for k, v in clock.environment.items())])
    try:
        daemon.wait_until_ready()
        assert "ready" in daemon.ctl("status", "--check").stdout
        yield daemon, clock
    finally:
        daemon.stop()


def test_expired_keys_of_an_anchor_put_the_clock_in_doubt_until_it_is_set(ahead, dig):
    daemon, clock = ahead
    assert dig(daemon, f"www.{ZONE}").status == "SERVFAIL"
    eventually(lambda: daemon.metrics()["clock_wrong"] == 1)
    checked = daemon.ctl("status", "--check").stdout
    assert re.search(r"degraded[\s\S]*signatures of roll\.test\. expired (39|40) days ago: is the clock right\?", checked), checked
    assert "is the clock right?" in daemon.ctl("status").stdout
    clock.move(-60 * DAY_S)
    eventually(lambda: "ready" in daemon.ctl("status", "--check").stdout)
    assert daemon.metrics()["clock_wrong"] == 0


def test_a_daemon_without_clients_asks_for_keys_of_its_anchor_and_doubts_its_clock(ahead):
    daemon, clock = ahead
    clock.move(61)
    eventually(lambda: daemon.metrics()["clock_wrong"] == 1, within=20)
