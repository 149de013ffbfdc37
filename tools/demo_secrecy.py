# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Part 5: the TLS of two upstreams dies, and comes back with a false identity. Both still answer in plain text. One
has the profile strict, the other has opportunistic."""

import time

from demo_asker import SERVFAIL, Asker, ask_why, between, count_bad, percentile
from demo_programs import await_true
from demo_report import ms, say, table, title
from demo_stage import FAR_MS

STEADY_PER_S = 40
FOUND_AGAIN_S = 15
PROFILES = ("strict", "opportunistic")
REASONS = {22: "No Reachable Authority", 23: "Network Error"}  # codes of RFC 8914


def phases(responder):
    """Returns (name, commands for the upstreams, duration) of each phase."""
    def tell(*commands):
        def act(seconds):
            for command in commands:
                responder.tell(*command.split())
            time.sleep(seconds)
        return act

    return [("well", tell(), 1), ("refused", tell("tls off"), 2.5), ("back", tell("tls on"), 1),
            ("a false identity", tell("set tls-identity self-signed", "tls forget", "tls reset"), 2.5),
            ("well again", tell("set tls-identity good", "tls forget", "tls reset"), 1)]


def seen(stage):
    """Returns the counters of each profile's upstream, over TLS and in plain text."""
    servers = stage.secured
    rows = {row["listen"]: row for row in servers.stats()["listeners"]}
    over_tls = [rows[server]["tls_queries"] for server in servers.tls_servers]
    plain = [rows[server]["udp_queries"] + rows[server]["tcp_queries"]
             for server in servers.servers]
    return {profile: (over_tls[i], plain[i]) for i, profile in enumerate(PROFILES)}


def await_tls(stage):
    """Waits until queries of both profiles come over TLS again, but not without limit."""
    start = seen(stage)
    await_true(lambda: all(seen(stage)[profile][0] >= start[profile][0] + STEADY_PER_S / 2
                           for profile in PROFILES), FOUND_AGAIN_S)


def play_phases(stage):
    """Plays the phases. Returns for each: start, end, queries by profile, and the error that a strict client gets."""
    rows = {}
    for name, act, seconds in phases(stage.secured):
        before, since = seen(stage), time.monotonic()
        act(seconds)
        error = ask_why(stage.nailed_tls.port, f"{name.split()[0]}-{since}.strict.example")
        if name in ("back", "well again"):
            await_tls(stage)
        until, after = time.monotonic(), seen(stage)
        rows[name] = (since, until, {profile: [b - a for a, b in zip(before[profile],
                                                                    after[profile])]
                                     for profile in PROFILES}, error)
    return rows


def show_secrecy(stage):
    title(f"5. The TLS of two upstreams {FAR_MS} ms away dies while {STEADY_PER_S} queries "
          "a second flow to each; UDP and TCP live")
    askers = {profile: Asker(stage.nailed_tls.port, f"{profile}.example", STEADY_PER_S)
              for profile in PROFILES}
    for asker in askers.values():
        asker.start()
    rows = play_phases(stage)
    questions = {profile: asker.finish() for profile, asker in askers.items()}
    table(["profile, the TLS", "queries", "failed", "p50 ms", "max ms", "came by TLS",
           "in plain text"],
          [[f"{profile}, {name}", len(them), count_bad(them), ms(percentile(them, 50)),
            ms(percentile(them, 100)), *counts[profile]]
           for profile in PROFILES for name, (since, until, counts, _) in rows.items()
           for them in [between(questions[profile], since, until)]])
    say("  (a query counts where it was asked, though the next row may decide what becomes of it)")
    for name in ("refused", "a false identity"):
        say(f"  strict, {name}: clients get {in_words(*rows[name][3])}")
    claim_strict(stage.claims, questions["strict"], rows)
    claim_opportunistic(stage.claims, questions["opportunistic"], rows)


def in_words(rcode, errors):
    name = "SERVFAIL" if rcode == SERVFAIL else f"response code {rcode}"
    whys = [f"{code} ({REASONS.get(code, 'extended error')}){': ' * bool(text)}{text}"
            for code, text in errors]
    return ", ".join([name, *whys])


def claim_strict(claims, questions, rows):
    plain = sum(counts["strict"][1] for _, _, counts, _ in rows.values())
    claims.check(plain == 0, "strict: nothing leaves in plain text, the upstream counts",
                 f"{plain} of {len(questions)} queries")
    # nailupd waits for a server that refuses, so the queries of the last 1.8 s get an answer in the end.
    for name, share, words in (("refused", 0.2, "queries wait for it, those that fail have an extended error"),
                               ("a false identity", 0.8, "queries fail, with an extended error")):
        since, until, _, (rcode, errors) = rows[name]
        them = between(questions, since, until)
        claims.check(count_bad(them) >= share * len(them) and rcode == SERVFAIL and bool(errors),
                     f"strict, {name}: {words}", f"{count_bad(them)} of {len(them)}")
    claim_found_again(claims, rows, "strict")


def claim_opportunistic(claims, questions, rows):
    bad = count_bad(questions)
    claims.check(bad == 0, "opportunistic: no query fails", f"{bad} of {len(questions)}")
    since, until, counts, _ = rows["refused"]
    asked, plain = len(between(questions, since, until)), counts["opportunistic"][1]
    claims.check(plain >= 0.8 * asked, "opportunistic, refused: queries go in plain text",
                 f"{plain} seen, {asked} asked")
    since, until, counts, _ = rows["a false identity"]
    asked, secured = len(between(questions, since, until)), counts["opportunistic"][0]
    claims.check(secured >= 0.5 * asked, "opportunistic, a false identity: TLS is better than none",
                 f"{secured} of {asked} came over it")
    claim_found_again(claims, rows, "opportunistic")


def claim_found_again(claims, rows, profile):
    counts = [rows[name][2][profile][0] for name in ("back", "well again")]
    claims.check(min(counts) >= STEADY_PER_S / 4, f"{profile}: TLS is found again by itself",
                 f"{counts[0]} and {counts[1]} queries over it")
