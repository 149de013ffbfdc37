#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Shows nailup's main job on loopback in about a minute and says which of its claims held.

Usage: tools/demo.py [BUILD]   BUILD: a built tree, by default build/release
Exits 0 when every claim held, 1 when one did not or something could not be started.

The upstreams are `nailup-bench responder`, which also plays the delay of a distance. Claims are
about counts and failures; of times only gross differences are claimed, as machines are busy. A
part in which a claim failed while the machine stood still is played once more, and says so.
"""

import contextlib
import json
import pathlib
import signal
import sys
import tempfile
import time

from demo_asker import Asker, Watch, between, count_bad, percentile
from demo_programs import Broken, await_true, run
from demo_report import Claims, ms, say, table, title
from demo_stage import FAR_MS, MAX_REQUESTS, NAILED, NEAR_MS, PLANTS, Stage

ROOT = pathlib.Path(__file__).resolve().parents[1]
PEER_IDLE_MS, SELDOM_MS, SELDOM_S = 1200, 1800, 20
STEADY_PER_S = 100
FOUND_AGAIN_S = 15
STOOD_STILL_S, WHOLE_S = 0.04, 116


# ---- 1: the table of 2016 ----

def show_transports(stage):
    title(f"1. One question after the other, straight to an upstream {NEAR_MS} ms away")
    report = json.loads(run(stage.build / "bench/nailup-bench", "transports", "--server",
                            stage.plants.servers[0], "--queries", 300, "--rounds", 3, "--json"))
    rows = {row["transport"]: row for row in report["transports"]}
    names = {"udp": "UDP", "tcp": "TCP, a connection per query", "tcp-kept": "TCP, kept open"}
    table(["", "queries/s", "to UDP", "p50 ms", "p99 ms"],
          [[name, f"{row['iterations_per_second']:.0f}", f"{row['ratio_to_udp']:.2f}",
            f"{row['p50_ms']:.2f}", f"{row['p99_ms']:.2f}"]
           for key, name in names.items() for row in [rows[key]]])
    failed = sum(row["failed"] for row in rows.values())
    stage.claims.check(failed == 0, "every query is answered", f"{failed} failed")
    gain = rows["tcp-kept"]["iterations_per_second"] / rows["tcp"]["iterations_per_second"]
    stage.claims.check(gain > 1.2, "TCP kept open is faster than a connection per query",
                       f"{gain:.2f} times")


# ---- 2: with and without nailing ----

def start_spread(askers, seconds):
    """Not all at once, which would be a burst each time."""
    for asker in askers:
        asker.start()
        time.sleep(seconds / len(askers))


def ask_seldom(stage):
    """Questions by way of asking, and how many of them waited for a dial."""
    ways = {"udp": (stage.plain, "udp"), "on demand": (stage.plain, "plant"),
            "nailed": (stage.nailed, "plant")}
    cold = {"on demand": -stage.plain.cold_queries(), "nailed": -stage.nailed.cold_queries()}
    askers = {way: [Asker(daemon.port, f"{zone}{i}.example", 1000 / SELDOM_MS)
                    for i in range(len(stage.plants.servers))]
              for way, (daemon, zone) in ways.items()}
    everybody = sum(askers.values(), [])
    start_spread(everybody, SELDOM_MS / 1000)
    stage.plants.tell("set", "tcp-idle", str(PEER_IDLE_MS))
    time.sleep(SELDOM_S)
    for asker in everybody:
        asker.stop()
    questions = {way: sum((a.finish() for a in them), []) for way, them in askers.items()}
    cold["on demand"] += stage.plain.cold_queries()
    cold["nailed"] += stage.nailed.cold_queries()
    return questions, cold


def show_nailing(stage):
    title(f"2. Through nailupd to {len(PLANTS)} upstreams {FAR_MS} ms away that close what idles "
          f"for {PEER_IDLE_MS} ms; each is asked every {SELDOM_MS} ms")
    stage.plants.tell("set", "delay", str(FAR_MS))
    questions, cold = ask_seldom(stage)
    stage.plants.tell("set", "tcp-idle", "0")
    names = {"udp": "UDP", "on demand": "TCP without nailing", "nailed": "TCP nailed up"}
    table(["", "queries", "failed", "waited for a dial", "p50 ms", "p99 ms"],
          [[name, len(them), count_bad(them), cold.get(way, "-"), ms(percentile(them, 50)),
            ms(percentile(them, 99))]
           for way, name in names.items() for them in [questions[way]]])
    claim_nailing(stage.claims, questions, cold)


def claim_nailing(claims, questions, cold):
    bad = sum(count_bad(them) for them in questions.values())
    claims.check(bad == 0, "every query is answered", f"{bad} failed")
    asked = len(questions["on demand"])
    claims.check(cold["on demand"] >= 0.5 * asked, "without nailing most queries wait for a dial",
                 f"{cold['on demand']} of {asked}")
    asked = len(questions["nailed"])
    claims.check(cold["nailed"] <= 0.1 * asked, "nailed up hardly any do",
                 f"{cold['nailed']} of {asked}")
    nailed, on_demand = (percentile(questions[way], 50) for way in ("nailed", "on demand"))
    claims.check(nailed < 0.8 * on_demand, "the median is far lower",
                 f"{nailed / on_demand:.2f} of that without nailing")


# ---- 3: the TCP side dies ----

def phases(responder):
    """Name, how the upstream is made so, and for how long."""
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
            ("refused", refuse, 4), ("back", allow, 4), ("open but silent", stall, 7),
            ("back again", speak, 4)]


def play_phases(stage, asker):
    """A row each: name, start, end, queries the upstream saw over TCP and UDP."""
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
    """Until queries come over TCP again, or for long enough."""
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


# ---- 4: recycling ----

def show_recycling(stage):
    rate, seconds = 120, 10
    title(f"4. Recycling: max-requests {MAX_REQUESTS}, {rate} queries a second, "
          f"{FAR_MS} ms away")
    stage.recycled.tell("reset-stats")
    cold = -stage.nailed.cold_queries()
    asker = Asker(stage.nailed.port, "recycled.example", rate, most_waiting=10)
    asker.start()
    time.sleep(seconds)
    questions = asker.finish()
    cold += stage.nailed.cold_queries()
    stats = stage.recycled.stats()
    counts = stats["closed_recent"]
    table(["queries", "failed", "connections", "closed", "fewest on one", "most", "cold"],
          [[len(questions), count_bad(questions), stats["connections_opened"], len(counts),
            min(counts, default="-"), stats["max_queries_per_connection"], cold]])
    claim_recycling(stage.claims, questions, counts, stats["max_queries_per_connection"], cold)


def claim_recycling(claims, questions, counts, most, cold):
    bad = count_bad(questions)
    claims.check(bad == 0, "no query fails", f"{bad} of {len(questions)}")
    exact = sum(count == MAX_REQUESTS for count in counts)
    claims.check(0 < exact == len(counts) and most == MAX_REQUESTS,
                 f"each replaced connection carried {MAX_REQUESTS} queries, the upstream counts",
                 f"{exact} of {len(counts)}")
    claims.check(cold == 0, "no query waits for the next connection", f"{cold} cold")


# ---- 5: what nailupctl says ----

def show_connections(stage):
    title("5. nailupctl connections")
    say(stage.nailed.control("connections").rstrip())
    missing = stage.await_nailed() is None
    stage.claims.check(not missing, "a connection to each upstream is open at the end",
                       "no" if missing else "all are")


# ---- all of it ----

# Each part, and about how many seconds it takes.
PARTS = [(show_transports, 5), (show_nailing, 22), (show_killing, 30), (show_recycling, 11),
         (show_connections, 1)]


def show_undisturbed(number, stage, started):
    """Once more, if a claim failed while the machine stood still and there is time; a fault of
    ours stays."""
    watch, show = stage.watch, PARTS[number][0]
    to_come = sum(seconds for _, seconds in PARTS[number:])
    while True:
        mark = stage.claims.mark()
        watch.take_s()
        show(stage)
        still = watch.take_s()
        late = time.monotonic() - watch.total_s + to_come > started + WHOLE_S
        if stage.claims.held_since(mark) or still < STOOD_STILL_S or late:
            return
        say(f"  the machine stood still for {ms(still)} ms meanwhile: once more")
        stage.claims.forget_since(mark)


def play(build, folder, stack, claims):
    started = time.monotonic()
    stage = Stage(build, folder, stack, claims, Watch())
    say("Two nailupd run on loopback with the same upstreams, one of them with these lines:")
    say(f"\n{NAILED}")
    took = stage.await_nailed()
    claims.check(took is not None, "connections are open before the first query",
                 f"{len(stage.ready_servers())}")
    for number in range(len(PARTS)):
        show_undisturbed(number, stage, started)
    end(stage)


def end(stage):
    codes = [stage.nailed.stop(), stage.plain.stop()]
    stage.claims.check(codes == [0, 0], "both nailupd stop cleanly", f"exit codes {codes}")
    if stage.claims.bad:
        say(f"\n{stage.logs()}")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release"
    claims, started = Claims(), time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="nailup-demo-") as folder, \
             contextlib.ExitStack() as stack:
            play(build.resolve(), pathlib.Path(folder), stack, claims)
    except (Broken, OSError) as broken:
        claims.check(False, "the demonstration runs to its end", broken)
    except KeyboardInterrupt:
        claims.check(False, "the demonstration runs to its end", "interrupted")
    held = claims.conclude()
    say(f"took {time.monotonic() - started:.0f} s")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
