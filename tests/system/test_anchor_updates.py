# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""New and revoked keys of a zone (RFC 5011): nailupd asks a real server, and its file goes to and from a real Unbound.
Times of a roll are written into the file, so that no test waits for them. Most basic first."""

import base64
import re
import shutil
import socket
import threading
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


def test_a_zone_whose_keys_were_all_revoked_is_not_validated(nsd, follow, dig):  # noqa: F811
    """The zone counts as if it never had an anchor (RFC 5011 section 5), also after a restart."""
    old, unsigned_root = Key(13), {"negative-trust-anchors": ["."]}
    server = nsd(zone_of([twin(old, KSK | REVOKE)]))
    daemon = follow(server, file_of(line_of(old, 2)), ask=False, **unsigned_root)
    dig(daemon, f"www.{ZONE}")  # the daemon asks for keys after the first validation
    eventually(lambda: "every trust anchor was revoked" in daemon.log(), within=15)
    eventually(lambda: "\n;;REVOKED\n" in daemon.anchor_file.read_text())
    eventually(lambda: dig(daemon, f"www.{ZONE}").status == "NOERROR", within=10)
    daemon.stop()
    daemon = follow(server, **unsigned_root)
    assert f"all keys of {ZONE} were revoked" in daemon.log()
    assert "ad" not in dig(daemon, f"www.{ZONE}", "A", "+dnssec").flags


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


def test_ds_records_stay_in_the_file_until_their_key_was_seen(nsd, follow, dig):  # noqa: F811
    old = Key(13)
    record = ds_records(ZONE, [old])[0]
    lines = f"{record.name} IN {record.type} {record.data}\n"
    daemon = follow(nsd(zone_of([Key(13)])), lines, ask=False, **{"update-anchors": "yes"})
    assert dig(daemon, f"www.{ZONE}").status == "SERVFAIL"
    eventually(lambda: "no DNSKEY records with a signature of a trusted key" in daemon.log(), within=15)
    eventually(lambda: ";;query_failed: 1" in daemon.anchor_file.read_text(), within=5)
    assert daemon.stop() == 0
    again = follow(nsd(zone_of([old])), **{"update-anchors": "yes"})
    assert list(states(again)) == [old.tag]


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


def test_a_portal_delays_the_query_for_keys(nsd, follow, responder):  # noqa: F811
    """The server of a captive portal has no keys. A failed query would delay the next one by an hour."""
    old, new = Key(13), Key(15)
    daemon = follow(nsd(zone_of([old, twin(new, KSK)])), file_of(line_of(old, 2)))
    daemon.ask("portal", "on", responder().server, "8s")  # nailupd looks every five seconds whether it may ask
    eventually(lambda: states(daemon) == {old.tag: "VALID", new.tag: "ADDPEND"}, within=30)
    assert "no DNSKEY records" not in daemon.log()


def test_a_file_that_does_not_exist_begins_with_the_roots_anchors(nsd, follow):  # noqa: F811
    daemon = follow(nsd(zone_of([Key(13)])), ask=False, **{"update-anchors": "yes"})
    assert [row["key_tag"] for row in daemon.ask("anchors")["anchors"]] == [20326, 38696]


class Held:
    """An upstream that answers queries for addresses, without signatures, and keeps the others until they are let go."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.server = f"127.0.0.1@{self.socket.getsockname()[1]}"
        self.kept, self.may_go = [], threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            query, client = self.socket.recvfrom(4096)
            end = query.index(b"\0", 12) + 5
            if query[end - 4:end] == b"\0\1\0\1":
                record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1"
                self.socket.sendto(query[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + query[12:end] + record, client)
                continue
            self.kept.append((query, client))
            self.may_go.wait()
            self.socket.sendto(query[:2] + b"\x81\x82\0\1\0\0\0\0\0\0" + query[12:end], client)


def test_the_end_of_validation_during_a_query_for_keys_does_no_harm(follow, dig):
    old, held = Key(13), Held()
    text = file_of(line_of(old, 2))
    daemon = follow(held, text, ask=False, **{"negative-trust-anchors": ["."]})
    assert dig(daemon, "www.other.test").status == "NOERROR"
    eventually(lambda: held.kept, within=15)
    daemon.config_path.write_text(daemon.config_path.read_text().replace('"validate": "yes"', '"validate": "no"'))
    daemon.ask("reload")
    held.may_go.set()
    time.sleep(10)  # the query has ended by then
    assert dig(daemon, "www.other.test").status == "NOERROR"
    assert daemon.anchor_file.read_text() == text
    assert "cannot be written" not in daemon.log()
    assert daemon.metrics()["trust_anchor_file_unwritten"] == 0


# ---- only a view validates ----


def only_view(server, **dnssec):
    """Clients without a view validate nothing, and their upstream, which does not answer, has no signed zone."""
    return {"dnssec": {"validate": "no", **dnssec},
            "views": [{"name": "plain", "clients": ["192.0.2.0/24"], "validate": "no"},
                      {"name": "strict", "clients": ["127.0.0.0/8"], "validate": "yes",
                       "forward-zones": [{"name": ZONE, "upstreams": [str(server)]}]}],
            "forward-zones": [{"name": ".", "upstreams": ["127.0.0.1@1"]}]}


def test_keys_are_followed_in_the_view_that_validates(nsd, nailupd, dig, tmp_path):  # noqa: F811
    old, new = Key(13), Key(15)
    path = tmp_path / "zone.key"
    path.write_text(file_of(line_of(old, 2)))
    daemon = nailupd(only_view(nsd(zone_of([old, twin(new, KSK)])).server, **{"trust-anchor-file": str(path)}))
    assert "ad" in dig(daemon, f"www.{ZONE}", "A", "+dnssec").flags
    eventually(lambda: states(daemon) == {old.tag: "VALID", new.tag: "ADDPEND"}, within=15)
    assert in_file(path) == {old.tag: "VALID", new.tag: "ADDPEND"}
    metrics = daemon.metrics()
    assert metrics['trust_anchors{state="pending"}'] == 1
    assert metrics["trust_anchor_failures"] == 0


def test_a_trace_shows_how_a_view_validates(nsd, nailupd, tmp_path):  # noqa: F811
    key = Key(13)
    path = tmp_path / "zone.key"
    path.write_text(file_of(line_of(key, 2)))
    daemon = nailupd(only_view(nsd(zone_of([key])).server, **{"trust-anchor-file": str(path)}))
    shown = daemon.ctl("lookup", "--trace", "--view", "strict", f"www.{ZONE}").stdout
    assert "secure" in shown and "192.0.2.1" in shown
    plain = daemon.ctl("lookup", "--trace", "--fresh", "--view", "plain", f"www.{ZONE}").stdout
    assert "secure" not in plain and "192.0.2.1" not in plain
    refused = daemon.ctl("lookup", "--trace", "--view", "other", f"www.{ZONE}")
    assert refused.returncode == 1 and "no view has this name" in refused.stderr


# ---- a clock that is ahead ----


@pytest.fixture(params=["all clients", "one view"])
def ahead(request, nsd, tmp_path, make_config):  # noqa: F811
    """A daemon whose clock is 60 days ahead, and the clock. The daemon trusts a zone of a real server, for all clients or
    for one view only."""
    key = Key(13)
    anchors = [f"{ZONE} DNSKEY {key.flags} 3 {key.algorithm} {base64.b64encode(key.public).decode()}"]
    server, clock = nsd(zone_of([key])), Clock(tmp_path, monotonic=False)
    clock.move(60 * DAY_S)
    config = (only_view(server.server, **{"trust-anchors": anchors}) if request.param == "one view" else
              {"dnssec": {"validate": "yes", "trust-anchors": anchors},
               "forward-zones": [{"name": ".", "upstreams": [server.server]}]})
    daemon = Daemon(tmp_path, make_config(config),
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


def test_the_doubt_ends_when_nothing_validates_the_keys_any_longer(ahead, dig):
    daemon, _ = ahead
    assert dig(daemon, f"www.{ZONE}").status == "SERVFAIL"
    eventually(lambda: daemon.metrics()["clock_wrong"] == 1)
    daemon.ctl("nta", "add", ZONE)
    eventually(lambda: daemon.metrics()["clock_wrong"] == 0)
    daemon.ctl("nta", "remove", ZONE)
    assert dig(daemon, f"www.{ZONE}").status == "SERVFAIL"
    eventually(lambda: daemon.metrics()["clock_wrong"] == 1)
    daemon.config_path.write_text(daemon.config_path.read_text().replace('"validate": "yes"', '"validate": "no"'))
    daemon.ctl("reload")
    eventually(lambda: daemon.metrics()["clock_wrong"] == 0)


def test_answers_of_a_private_zone_do_not_outlive_it_in_a_snapshot(nsd, nailupd, responder, dig, tmp_path):  # noqa: F811
    """The signed zone above denies the private one, so only the configuration makes its answers insecure."""
    key, private = Key(13), f"corp.{ZONE}"
    above = {"name": ".", "upstreams": [nsd(zone_of([key])).server]}
    record = ds_records(ZONE, [key])[0]
    config = {"dnssec": {"validate": "yes", "trust-anchors": [f"{record.name} IN {record.type} {record.data}"]},
              "cache": {"snapshot": str(tmp_path / "cache.snapshot")}}
    has_zone = config | {"forward-zones": [above, {"name": private, "upstreams": [responder().server]}]}
    for options, status, hits in ((has_zone, "NOERROR", 0), (has_zone, "NOERROR", 1),
                                  (config | {"forward-zones": [above]}, "NXDOMAIN", 0)):
        daemon = nailupd(options)
        assert dig(daemon, f"www.{private}").status == status
        assert daemon.metrics()["cache_hits_total"] == hits
        assert daemon.stop() == 0
