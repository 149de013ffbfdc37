# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The attacks, a row of the table each, and the goal of each row."""

from dataclasses import dataclass

import plays
import programs


@dataclass(frozen=True)
class Row:
    """play: a function of plays.py; tags: lines of peers/*.conf; amount: how large the attack is; shows: the
    figures that only this row has, in words; goal: (figure, most) that nailup must not exceed."""
    name: str
    title: str
    play: object
    about: str
    amount: int = 0
    tags: tuple = ("open",)
    shows: tuple = ()
    goals: tuple = ()


PIPELINING = ("TCP clients keep their pipes full of cached queries; the figures are those of a UDP client beside them, "
              "who asks 100 cached names a second")

ROWS = [
    Row("pipelining-100", "100 pipelining connections", plays.pipelining, PIPELINING, 100,
        shows=(("per_second", "stream answers a second"),), goals=(("failed", 0), ("p99_ms", 5))),
    Row("pipelining-1000", "1,000 pipelining connections", plays.pipelining, "the same from 10 addresses", 1000,
        shows=(("per_second", "stream answers a second"),), goals=(("failed", 0), ("p99_ms", 5))),
    Row("pipelining-9000", "9,000 pipelining connections", plays.pipelining, "the same from 90 addresses", 9000,
        shows=(("per_second", "stream answers a second"),), goals=(("failed", 0), ("p99_ms", 20))),
    Row("zone-flood", "Random sub-zones of 13 silent servers", plays.zone_flood,
        "1,800 queries a second, each for a name in a zone of its own whose 13 servers are silent; 68 honest zones that were "
        "never seen are asked for meanwhile", 1800, shows=(("files", "descriptors"),),
        goals=(("failed", 0), ("packets", 1.5))),
    Row("never-reading", "Clients that never read", plays.never_reading,
        "300 connections ask for large answers and read none", 300, tags=("open", "idle"),
        shows=(("kib_each", "KiB for each"), ("orphaned_mib", "MiB orphaned"), ("closed", "closed by the server")),
        goals=(("kib_each", 256), ("orphaned_mib", 0.1))),
    Row("refused", "Refused clients hold connections", plays.refused,
        "20 refused addresses hold as many of 2,000 connections as they get, and open those again that end; "
        "40 allowed clients ask over TCP. The server serves 1,000 connections", 2000, tags=("closed", "few"), goals=(("failed", 0),)),
    Row("half-sent", "9,000 half-sent messages", plays.half_sent,
        "connections that announce 65,535 bytes and send 65,000", 9000,
        shows=(("process_mib", "MiB in the process"), ("kept_mib", "MiB kept afterwards"), ("accepted", "connections open"),
               ("tcp_failed", "of 10 TCP clients failed")), goals=(("failed", 0), ("tcp_failed", 0))),
    Row("keeping-alive", "Connections kept alive by garbage", plays.keeping_alive,
        "connections that send garbage, single bytes or nothing. The idle timeout is 3 s where it is an option",
        tags=("open", "idle"), shows=(("longest_s", "s until the last is closed"), ("never_closed", "of 6 never closed")),
        goals=(("longest_s", 6), ("never_closed", 0))),
]


def chosen(names):
    return programs.chosen_rows(ROWS, names, "attack")


def misses(row, figures):
    """[(figure, value, most)] of the goals that were not reached."""
    missed = []
    for name, most in row.goals:
        value = figures.get(name)
        if value is None or value > most:
            missed.append((name, value, most))
    return missed
