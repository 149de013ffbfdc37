# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Is a nailed address ready all the time? Each server has its own idle limit, from two seconds to two minutes. One
daemon never gets a query. Another one gets a query every twenty seconds, and none may wait for a dial."""

import time

from stage import Asker, all_ready, by_address, places, zones_for
from conftest import eventually

ASKED_EVERY_S = 20
FULL = {"seconds": 320, "step_s": 1.0, "share": 0.995}
QUICK = {"seconds": 46, "step_s": 0.5, "share": 0.98}  # the share allows one bad sample of 92


class Watch:
    """Counts how often each address had a ready connection when the test looked."""

    def __init__(self, daemon):
        self.daemon, self.looks, self.ready = daemon, 0, {}

    def look(self):
        self.looks += 1
        for address, row in by_address(self.daemon).items():
            self.ready[address] = self.ready.get(address, 0) + (row["ready"] > 0)

    def share(self, address):
        return self.ready.get(address, 0) / self.looks


class ColdCounter:
    """Queries the zones one by one, and reads the number of cold queries after each query."""

    def __init__(self, daemon):
        self.daemon, self.asker = daemon, Asker(daemon)
        self.cold, self.failed, self.asked = {}, {}, 0

    def total(self):
        return self.daemon.metrics()["upstream_cold_queries_total"]

    def ask_all(self, servers):
        self.asked += 1
        before = self.total()
        for server, transport in places(servers):
            address = server.address(transport)
            answered = self.asker.ask([server.zones[transport]])
            now = self.total()
            self.cold[address] = self.cold.get(address, 0) + now - before
            self.failed[address] = self.failed.get(address, 0) + answered.count(None)
            before = now


def watch(servers, watches, counter, form):
    began = time.monotonic()
    next_question_at = began + 0.7 * ASKED_EVERY_S
    for step in range(int(form["seconds"] / form["step_s"])):
        time.sleep(max(0.0, began + step * form["step_s"] - time.monotonic()))
        if time.monotonic() >= next_question_at:
            counter.ask_all(servers)
            next_question_at += ASKED_EVERY_S
        for one in watches:
            one.look()


def test_a_nailed_address_is_ready_all_the_time(servers, nailupd, report, is_full):
    form = FULL if is_full else QUICK
    servers = list(servers.values())
    idle, asked = (nailupd(zones_for(servers)) for _ in range(2))
    for daemon in (idle, asked):
        eventually(lambda: all_ready(daemon, servers), within=15)
    watches, counter = (Watch(idle), Watch(asked)), ColdCounter(asked)
    watch(servers, watches, counter, form)

    rows, bad = [], []
    for server, transport in places(servers):
        address = server.address(transport)
        shares = [one.share(address) for one in watches]
        dials = [by_address(daemon)[address]["dials"] for daemon in (idle, asked)]
        queries = by_address(idle)[address]["queries"]
        cold, failed = counter.cold[address], counter.failed[address]
        row = (server.name, transport, *(f"{100 * share:.1f}" for share in shares), cold, failed, *dials, queries)
        rows.append(row)
        if min(shares) < form["share"] or cold or failed:
            bad.append(row)
    header = ("server", "over", "idle, ready %", "asked, ready %", "cold", "failed", "idle, dials", "asked, dials",
              "idle, queries")
    report(f"nails held for {form['seconds']} s, asked {counter.asked} times", header, rows)
    assert not bad, "\n".join(map(str, [header, *bad]))
