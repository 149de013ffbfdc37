# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Part 4: connections are replaced after an exact number of queries, and no query waits for that."""

import time

from demo_asker import Asker, count_bad
from demo_report import table, title
from demo_stage import FAR_MS, MAX_REQUESTS

RATE_PER_S, SECONDS = 120, 9


def ways(stage):
    """Returns for each transport the daemon, and the queries that it gets in turn."""
    return {"TCP": (stage.nailed, stage.recycled.servers[0]),
            "DoT": (stage.nailed_tls, stage.recycled.tls_servers[0])}


def ask_steadily(stage):
    """Returns the questions by transport, and how many of them waited for a dial."""
    daemons = {name: daemon for name, (daemon, _) in ways(stage).items()}
    before = {name: daemon.cold_queries() for name, daemon in daemons.items()}
    askers = {name: Asker(daemon.port, "recycled.example", RATE_PER_S, most_waiting=10)
              for name, daemon in daemons.items()}
    for asker in askers.values():
        asker.start()
    time.sleep(SECONDS)
    questions = {name: asker.finish() for name, asker in askers.items()}
    return questions, {name: daemon.cold_queries() - before[name]
                       for name, daemon in daemons.items()}


def show_recycling(stage):
    title(f"4. Recycling: max-requests {MAX_REQUESTS}, {RATE_PER_S} queries a second, "
          f"{FAR_MS} ms away")
    stage.recycled.tell("reset-stats")
    questions, cold = ask_steadily(stage)
    seen = {name: stage.recycled.seen_at(server) for name, (_, server) in ways(stage).items()}
    table(["", "queries", "failed", "connections", "of them resumed", "closed", "fewest on one",
           "most", "cold"],
          [[name, len(questions[name]), count_bad(questions[name]), stats["connections_opened"],
            "-" if name == "TCP" else stats["tls_handshakes_resumed"],
            len(stats["closed_recent"]), min(stats["closed_recent"], default="-"),
            stats["max_queries_per_connection"], cold[name]] for name, stats in seen.items()])
    claim_recycling(stage.claims, questions, seen, cold)


def claim_recycling(claims, questions, seen, cold):
    asked = sum(len(them) for them in questions.values())
    bad = sum(count_bad(them) for them in questions.values())
    claims.check(bad == 0, "no query fails", f"{bad} of {asked}")
    for name, stats in seen.items():
        counts, most = stats["closed_recent"], stats["max_queries_per_connection"]
        exact = sum(count == MAX_REQUESTS for count in counts)
        claims.check(0 < exact == len(counts) and most == MAX_REQUESTS,
                     f"{name}: each replaced connection carried {MAX_REQUESTS} queries, "
                     "the upstream counts", f"{exact} of {len(counts)}")
    claims.check(sum(cold.values()) == 0, "no query waits for the next connection",
                 f"{sum(cold.values())} cold")
    full, resumed = (seen["DoT"][f"tls_handshakes_{kind}"] for kind in ("full", "resumed"))
    claims.check(full == 0 < resumed, "DoT: every connection resumes the session of an earlier one",
                 f"{resumed} of {full + resumed}")
