#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Shows nailup's main job on loopback, in a minute and a half, and says which of its claims held.

Usage: tools/demo.py [BUILD]   BUILD: a built tree, by default build/release
Exits 0 if every claim held, and 1 if one did not or if a program could not start.

The upstreams are `nailup-bench responder`, which also plays the delay of a distance. Claims are about counts and
failures. Claims about times cover only gross differences, because machines are busy. A part whose claim failed
while the machine stood still is played once more, and the output says so.
"""

import contextlib
import pathlib
import signal
import sys
import tempfile
import time

from demo_asker import Watch
from demo_datacenter import show_datacenter
from demo_dnssec import show_dnssec
from demo_killing import show_killing
from demo_nailing import show_nailing
from demo_programs import Broken
from demo_recycling import show_recycling
from demo_report import Claims, ms, say, title
from demo_secrecy import show_secrecy
from demo_stage import NAILED, Stage, tls_zone
from demo_transports import show_transports

ROOT = pathlib.Path(__file__).resolve().parents[1]
STOOD_STILL_S, WHOLE_S = 0.04, 100


def show_restart(stage):
    title("8. A restart, with session-file")
    responders = (stage.plants, stage.recycled, stage.secured)
    for responder in responders:
        responder.tell("reset-stats")
    code = stage.restart_nailed_tls()
    missing = stage.await_nailed() is None
    full, resumed = (sum(responder.stats()[f"tls_handshakes_{kind}"] for responder in responders)
                     for kind in ("full", "resumed"))
    stage.claims.check(code == 0 and not missing, "all is nailed up again after a clean stop",
                       f"exit code {code}, {len(stage.missing())} upstreams missing")
    stage.claims.check(full == 0 < resumed, "every handshake resumes a session from before it",
                       f"{resumed} of {full + resumed}")
    title("nailupctl connections")
    say(stage.nailed_tls.control("connections").rstrip())


# Each part with its duration in seconds.
PARTS = [(show_transports, 6), (show_nailing, 18), (show_killing, 26), (show_recycling, 10),
         (show_secrecy, 14), (show_datacenter, 8), (show_dnssec, 2), (show_restart, 2)]


def show_undisturbed(number, stage, started):
    """Runs a part. Repeats it once if a claim failed while the machine stood still, and if there is time. A real
    failure remains."""
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


def introduce(stage):
    say("Four nailupd run on loopback with the same upstreams. Two ask them over TCP, two over TLS:")
    say(f"\n{tls_zone('plant0.example', stage.plants)}")
    say("One of each has these lines too:")
    say(f"\n{NAILED}")


def play(build, folder, stack, claims):
    started = time.monotonic()
    stage = Stage(build, folder, stack, claims, Watch())
    introduce(stage)
    stage.await_nailed()
    missing = stage.missing()
    claims.check(not missing, "connections are open before the first query",
                 f"{len(missing)} missing")
    for number in range(len(PARTS)):
        show_undisturbed(number, stage, started)
    end(stage)


def end(stage):
    codes = stage.stop_daemons()
    stage.claims.check(not any(codes), "all nailupd stop cleanly", f"exit codes {codes}")
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
