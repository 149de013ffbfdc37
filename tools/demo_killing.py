# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Part 3: the TCP of an upstream dies while queries flow, and comes back. Its UDP works all the time."""

import time

from demo_asker import Asker, between, count_bad, percentile
from demo_programs import await_true
from demo_report import ms, table, title
from demo_stage import FAR_MS

STEADY_PER_S = 100
FOUND_AGAIN_S = 15


def phases(responder):
    """Returns (name, commands for the upstream, duration) of each phase."""
    def reset_often(seconds):
        for _ in range(seconds * 4):
            responder.tell("tcp", "reset")
            time.sleep(0.25)

    def refuse(seconds):
        responder.tell("tcp", "off")
        time.sleep(seconds)

    def allow(seconds):
        responder.tell("tcp", "on")
        time.sleep(seconds)

    def stall(seconds):
        responder.tell("set", "tcp-silent", "on")
        responder.tell("tcp", "stall")
        time.sleep(seconds)

    def speak(seconds):
        responder.tell("set", "tcp-silent", "off")
        responder.tell("tcp", "resume")
        time.sleep(seconds)

    return [("well", time.sleep, 2), ("reset 4 times a second", reset_often, 3),
            ("refused", refuse, 3), ("back", allow, 3), ("open but silent", stall, 7),
            ("back again", speak, 3)]


def play_phases(stage, asker):
    """Plays the phases. Returns a row for each: name, start, end, queries that the upstream saw over TCP and UDP."""
    rows, responder = [], stage.killed
    for name, act, seconds in phases(responder):
        before, since = responder.stats(), time.monotonic()
        act(seconds)
        if name.startswith("back"):
            await_tcp(responder)
        after = responder.stats()
        rows.append((name, since, time.monotonic(), *(after[key] - before[key]
                                                      for key in ("tcp_queries", "udp_queries"))))
    return rows


def await_tcp(responder):
    """Waits until queries come over TCP again, but not without limit."""
    seen = responder.stats()["tcp_answers"]
    await_true(lambda: responder.stats()["tcp_answers"] >= seen + STEADY_PER_S / 2, FOUND_AGAIN_S)


def show_killing(stage):
    title(f"3. The TCP side of an upstream {FAR_MS} ms away dies while {STEADY_PER_S} queries "
          "a second flow; UDP lives")
    asker = Asker(stage.nailed.port, "killed.example", STEADY_PER_S)
    asker.start()
    rows = play_phases(stage, asker)
    questions = asker.finish()
    table(["the TCP side", "queries", "failed", "p50 ms", "p99 ms", "max ms", "came by TCP",
           "by UDP"],
          [[name, len(them), count_bad(them), *(ms(percentile(them, p)) for p in (50, 99, 100)),
            tcp, udp]
           for name, since, until, tcp, udp in rows for them in [between(questions, since, until)]])
    claim_killing(stage, questions, {row[0]: row[1:] for row in rows})


def claim_killing(stage, questions, seen):
    claims, still = stage.claims, stage.watch.longest_s
    bad = count_bad(questions)
    claims.check(bad == 0, "no query fails", f"{bad} of {len(questions)}")
    worst = percentile(questions, 100)
    claims.check(worst is not None and worst < 4 + still, "none waits for long",
                 f"{ms(worst)} ms at most (the machine's own pauses: up to {ms(still)} ms)")
    since, until, _, udp = seen["refused"]
    asked = len(between(questions, since, until))
    claims.check(udp >= 0.9 * asked, "while TCP is refused, queries go by UDP",
                 f"{udp} seen, {asked} asked")
    for name in ("back", "back again"):
        tcp = seen[name][2]
        claims.check(tcp >= STEADY_PER_S / 2, f"{name}: the stream is found again by itself",
                     f"{tcp} queries over it")
