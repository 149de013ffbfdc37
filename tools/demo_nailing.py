# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Part 2: with and without nailing, over TCP and over TLS. Queries are so rare that no connection is open by chance."""

import time

from demo_asker import Asker, count_bad, percentile
from demo_report import ms, table, title
from demo_stage import FAR_MS, PLANTS

PEER_IDLE_MS, SELDOM_MS, SELDOM_S = 1000, 1600, 16

NAMES = {"udp": "UDP", "tcp": "TCP without nailing", "tcp nailed": "TCP nailed up",
         "tls": "DoT without nailing", "tls nailed": "DoT nailed up"}


def daemons(stage):
    """Returns the daemon of each variant and its zones. Each daemon counts its cold queries."""
    return {"udp": (stage.on_demand, "udp"), "tcp": (stage.on_demand, "plant"),
            "tcp nailed": (stage.nailed, "plant"), "tls": (stage.on_demand_tls, "plant"),
            "tls nailed": (stage.nailed_tls, "plant")}


def start_spread(askers, seconds):
    """Starts the askers one by one, because a common start would make each round a burst."""
    for asker in askers:
        asker.start()
        time.sleep(seconds / len(askers))


def ask_seldom(stage):
    """Returns the questions of each variant, and how many of them waited for a dial."""
    ways = daemons(stage)
    before = {way: daemon.cold_queries() for way, (daemon, _) in ways.items()}
    askers = {way: [Asker(daemon.port, f"{zone}{i}.example", 1000 / SELDOM_MS)
                    for i in range(len(PLANTS))]
              for way, (daemon, zone) in ways.items()}
    everybody = sum(askers.values(), [])
    start_spread(everybody, SELDOM_MS / 1000)
    stage.plants.tell("set", "tcp-idle", str(PEER_IDLE_MS))
    time.sleep(SELDOM_S)
    for asker in everybody:
        asker.stop()
    questions = {way: sum((a.finish() for a in them), []) for way, them in askers.items()}
    cold = {way: daemon.cold_queries() - before[way] for way, (daemon, _) in ways.items()}
    return questions, cold


def show_nailing(stage):
    title(f"2. Through nailupd to {len(PLANTS)} upstreams {FAR_MS} ms away that close what idles "
          f"for {PEER_IDLE_MS} ms; each is asked every {SELDOM_MS} ms")
    stage.plants.tell("set", "delay", str(FAR_MS))
    questions, cold = ask_seldom(stage)
    stage.plants.tell("set", "tcp-idle", "0")
    table(["", "queries", "failed", "waited for a dial", "p50 ms", "p99 ms"],
          [[name, len(them), count_bad(them), "-" if way == "udp" else cold[way],
            ms(percentile(them, 50)), ms(percentile(them, 99))]
           for way, name in NAMES.items() for them in [questions[way]]])
    bad = sum(count_bad(them) for them in questions.values())
    stage.claims.check(bad == 0, "every query is answered", f"{bad} failed")
    for transport in ("tcp", "tls"):
        claim_nailing(stage.claims, questions, cold, transport)


def claim_nailing(claims, questions, cold, transport):
    name, nailed = {"tcp": "TCP", "tls": "DoT"}[transport], f"{transport} nailed"
    asked = len(questions[transport])
    claims.check(cold[transport] >= 0.5 * asked,
                 f"{name} without nailing: most queries wait for a dial",
                 f"{cold[transport]} of {asked}")
    asked = len(questions[nailed])
    claims.check(cold[nailed] <= 0.1 * asked, f"{name} nailed up: hardly any do",
                 f"{cold[nailed]} of {asked}")
    ratios = [percentile(questions[nailed], p) / percentile(questions[transport], p)
              for p in (50, 99)]
    # if even plain UDP is slow, the machine is the reason, and the slowest of a hundred prove nothing
    calm = percentile(questions["udp"], 99) < 2 * percentile(questions["udp"], 50)
    claims.check(ratios[0] < 0.8 and (ratios[1] < 1 or not calm), f"{name} nailed up: answers come sooner",
                 f"p50 {ratios[0]:.2f} and p99 {ratios[1]:.2f} of those without nailing")
