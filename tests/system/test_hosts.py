# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Upstreams by host name: bootstrap servers, names in nailup's own zones, and changes of addresses. Most basic
first."""

import json
import subprocess

from conftest import eventually, program
from harness import Clock, alone
from hierarchy.wire import Record

BOOT, FIRST, SECOND = "10.53.3.1", "10.53.3.11", "10.53.3.12"
CORP = {"corp.": "www 300 A 192.0.2.1\nwww2 300 A 192.0.2.2\nwww3 300 A 192.0.2.3"}


def ctl(harness, *words):
    done = subprocess.run([program("nailupctl"), "-s", "control.sock", "--json", *words], cwd=harness.folder,
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def hosts(harness):
    return {row["host"]: row for row in ctl(harness, "hosts")["hosts"]}


def addresses(harness):
    """Returns the addresses of upstreams by name, or None before the daemon accepts commands."""
    if not (harness.folder / "control.sock").exists():
        return None
    return sorted(row["upstream"] for row in ctl(harness, "upstreams")["upstreams"] if row["host"])


def lay(records):
    return {"up.": records}


@alone
def test_a_bootstrap_server_resolves_the_name_of_an_upstream(harness):
    harness.serve(BOOT, lay(f"ns 60 A {FIRST}"))
    harness.serve(FIRST, CORP)
    harness.start({"upstream": {"bootstrap": [BOOT]}, "stub-zones": [{"name": "corp", "upstreams": ["ns.up"]}]})
    eventually(lambda: addresses(harness) == [f"{FIRST}@53"])
    assert harness.ask("www.corp.").answer
    row = hosts(harness)["ns.up"]
    assert (row["resolved_by"], row["addresses"], row["error"]) == ("bootstrap", FIRST, "")
    assert {name.lower() for name, _ in harness.asked(BOOT)} == {"ns.up."}


@alone
def test_clients_get_a_reason_until_an_address_is_known_and_then_answers(harness):
    harness.serve(FIRST, CORP)
    daemon = harness.start({"upstream": {"bootstrap": [BOOT]},
                            "stub-zones": [{"name": "corp", "upstreams": ["ns.up"]}]})
    answer = subprocess.run(["dig", "@10.53.0.10", "www.corp", "+tries=1"], capture_output=True, text=True,
                            check=False).stdout
    assert "SERVFAIL" in answer and "given by name, is known yet" in answer, answer
    assert not harness.asked(FIRST)
    harness.serve(BOOT, lay(f"ns 60 A {FIRST}"))
    eventually(lambda: addresses(harness) == [f"{FIRST}@53"], within=70)
    assert harness.ask("www.corp.").answer
    harness.stop(daemon)
    assert "upstream ns.up: 1 addresses, 0 before" in harness.log()


@alone
def test_without_bootstrap_the_other_zones_resolve_the_name(harness):
    harness.serve(BOOT, lay(f"ns 60 A {FIRST}"))
    harness.serve(FIRST, CORP)
    harness.start({"stub-zones": [{"name": "corp", "upstreams": ["ns.up"]}, {"name": "up", "upstreams": [BOOT]}]})
    eventually(lambda: addresses(harness) == [f"{FIRST}@53"])
    assert hosts(harness)["ns.up"]["resolved_by"] == "zones"
    assert harness.ask("www.corp.").answer


@alone
def test_a_new_address_takes_over_and_a_reload_keeps_what_is_known(harness):
    harness.clock = Clock(harness.folder, monotonic=True)
    harness.serve(BOOT, lay(f"ns 60 A {FIRST}"))
    harness.serve(FIRST, CORP)
    harness.serve(SECOND, CORP)
    daemon = harness.start({"upstream": {"bootstrap": [BOOT], "transport": "tcp"},
                            "tcp-upstream-keepalive": ["10.53.3.0/24"],
                            "stub-zones": [{"name": "corp", "upstreams": ["ns.up"]}]})
    eventually(lambda: addresses(harness) == [f"{FIRST}@53"])
    assert harness.ask("www.corp.").answer
    harness.servers.zones[BOOT][0].records["ns.up."] = [Record("ns.up.", "A", 60, SECOND)]
    for count in range(1, 5):
        asked = len(harness.asked(BOOT))
        harness.clock.move(70)  # the loop waits in the kernel, and a command wakes it
        eventually(lambda asked=asked: hosts(harness) and len(harness.asked(BOOT)) >= asked + 2, within=20)
        if count == 1:
            eventually(lambda: addresses(harness) == [f"{FIRST}@53", f"{SECOND}@53"])
    eventually(lambda: addresses(harness) == [f"{SECOND}@53"])
    assert harness.ask("www2.corp.").answer
    ctl(harness, "reload")
    assert hosts(harness)["ns.up"]["addresses"] == SECOND
    assert harness.ask("www3.corp.").answer
    harness.stop(daemon)


@alone
def test_after_a_restart_without_bootstrap_the_saved_addresses_answer_at_once(harness):
    path = harness.folder / "hosts"
    config = {"upstream": {"bootstrap": [BOOT], "host-file": str(path)},
              "stub-zones": [{"name": "corp", "upstreams": ["ns.up"]}]}
    harness.serve(BOOT, lay(f"ns 60 A {FIRST}"))
    harness.serve(FIRST, CORP)
    daemon = harness.start(config)
    eventually(lambda: addresses(harness) == [f"{FIRST}@53"])
    harness.stop(daemon)
    assert path.read_text().startswith("nailup hosts 1\nns.up ") and path.stat().st_mode & 0o777 == 0o600

    config["upstream"]["bootstrap"] = ["10.53.3.2"]  # no server has this address
    daemon = harness.start(config)
    assert harness.ask("www.corp.").answer
    assert hosts(harness)["ns.up"]["addresses"] == FIRST
    harness.stop(daemon)

    path.write_text(path.read_text()[:-2])  # cuts the end of the file
    daemon = harness.start(config)
    assert not harness.ask("www2.corp.").answer
    assert f"host-file {path} is not used" in harness.log()
    harness.stop(daemon)
