# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The attacks: a row of the table for each, with its goal."""

from dataclasses import dataclass

import plays
import programs


@dataclass(frozen=True)
class Row:
    """play: a function of plays.py; tags: lines of peers/*.conf; amount: the size of the attack; shows: the figures
    that only this row has, in words; goals: (figure, most) that nailup must not exceed; floors: (figure, least)
    that it must reach."""
    name: str
    title: str
    play: object
    about: str
    amount: int = 0
    tags: tuple = ("open", "many")
    shows: tuple = ()
    goals: tuple = ()
    floors: tuple = ()


PIPELINING = ("TCP clients keep their pipes full of cached queries; the figures are those of a UDP client beside them, "
              "who asks 100 cached names a second")

OVERLOAD = ("eight networks ask three times what the resolver can answer with less than 1 % loss, while a busy process leaves "
            "it a small part of its CPU; the honest client asks 1 % of all queries from its own network. Clients wait 3 s")
SHOWN_OF_OVERLOAD = (("capacity", "answers a second are the capacity"), ("goodput_percent", "% of it answered"),
                     ("all_p99_ms", "ms p99 of all"), ("lost_percent", "% of the honest lost"))
GOALS_OF_OVERLOAD = (("missing_percent", 10), ("all_p99_ms", 500), ("lost_percent", 5))

SHOWN_OF_BOMBS = (("bytes_ratio", "bytes out for each byte in"), ("burst_ratio", "of them within 0.1 s"))

ROWS = [
    Row("pipelining-100", "100 pipelining connections", plays.pipelining, PIPELINING, 100,
        shows=(("per_second", "stream answers a second"),), goals=(("failed", 0), ("p99_ms", 5))),
    Row("pipelining-1000", "1,000 pipelining connections", plays.pipelining, "the same from 10 addresses", 1000,
        shows=(("per_second", "stream answers a second"),), goals=(("failed", 0), ("p99_ms", 5))),
    Row("pipelining-9000", "9,000 pipelining connections", plays.pipelining, "the same from 90 addresses", 9000,
        shows=(("per_second", "stream answers a second"),), goals=(("failed", 0), ("p99_ms", 20))),
    Row("zone-flood", "Random sub-zones of 13 silent servers", plays.zone_flood,
        "1,800 queries a second, each for a name in a zone of its own whose 13 servers are silent; 68 honest zones that were "
        "never seen are asked for meanwhile", 1800, shows=(("silent_packets", "packets per query to silent servers"), ("files", "descriptors")),
        goals=(("failed", 0), ("silent_packets", 1.5))),
    Row("never-reading", "Clients that never read", plays.never_reading,
        "300 connections ask for large answers and read none", 300, tags=("open", "many", "idle"),
        shows=(("kib_each", "KiB for each"), ("orphaned_mib", "MiB orphaned"), ("closed", "closed by the server")),
        goals=(("kib_each", 256), ("orphaned_mib", 0.1))),
    Row("refused", "Refused clients hold connections", plays.refused,
        "20 refused addresses hold as many of 2,000 connections as they get, and open those again that end; "
        "40 allowed clients ask over TCP. The server serves 1,000 connections", 2000, tags=("closed", "few"), goals=(("failed", 0),)),
    Row("half-sent", "9,000 half-sent messages", plays.half_sent,
        "connections that announce 65,535 bytes and send 65,000", 9000,
        shows=(("process_mib", "MiB in the process"), ("kept_mib", "MiB kept afterwards"), ("accepted", "connections open"),
               ("tcp_failed", "of 10 TCP clients failed")), goals=(("failed", 0), ("tcp_failed", 0))),
    Row("dnsbomb", "DNSBomb", plays.bombed,
        "2,550 queries of one address within 1.5 s, for 400 names whose large answers the authoritative server holds back for "
        "4.5 s and then releases together; honest clients of the same /24 ask names never seen", 1700,
        shows=SHOWN_OF_BOMBS, goals=(("failed", 0), ("bytes_ratio", 1))),
    Row("dnsbomb-young", "DNSBomb of young queries", plays.bombed,
        "the same, held back for 1.6 s: no client has given up then. Unbound has, as it did not know that the server is slow", 1700,
        shows=SHOWN_OF_BOMBS, goals=(("failed", 0), ("bytes_ratio", 1))),
    Row("handshakes", "TLS handshake flood", plays.handshakes,
        "attackers in ten networks send the beginning of a TLS handshake over 100 connections at a time and never finish; the "
        "honest clients ask 100 cached names a second over UDP, and some over TLS", 100, tags=("open", "tls"),
        shows=(("handshakes", "handshakes a second"), ("tls_failed", "% of the honest TLS clients failed")),
        goals=(("failed", 0), ("p99_ms", 10))),
    Row("overload-hits", "Three times the capacity, hits", plays.overload,
        OVERLOAD + ". At this rate the generator is short of CPU as well, so a part of the latency and of the loss is its own", 0,
        shows=SHOWN_OF_OVERLOAD, goals=GOALS_OF_OVERLOAD),
    Row("overload-misses", "Three times the capacity, misses", plays.overload, "the same with names that are not cached", 1,
        shows=SHOWN_OF_OVERLOAD, goals=GOALS_OF_OVERLOAD),
    Row("identical", "Identical questions, silent server", plays.identical,
        "200 clients ask the same question within a second", 200,
        shows=(("upstream_queries", "upstream queries"), ("early", "of them within 2 s")), goals=(("upstream_queries", 6),)),
    Row("ports", "Query ports", plays.query_ports, "the ports from which 8,000 queries reach an authoritative server", 8000,
        shows=(("lowest", "is the lowest"), ("highest", "is the highest"), ("distinct", "distinct"), ("seen", "seen"),
               ("bits", "bits")), floors=(("bits", 15.9),)),
    Row("crafted", "Packets that cost much to read", plays.crafted,
        "5,000 queries a second with 280 EDNS options each, beside 100 queries a second for cached names; then 40 queries whose "
        "answers are 60 KB of compressed names over TCP", 5000, shows=(("names_us", "us of CPU for such an answer"),),
        goals=(("failed", 0), ("p99_ms", 5))),
    Row("amplification", "Amplification", plays.amplification,
        "ten queries for each case of the list below", 10, shows=(("most", "packets per query in the worst case"),),
        goals=(("most", 32),)),
    Row("poisoning", "Poisoning", plays.poisoning, "hostile and forged answers: the list below",
        shows=(("believed", "believed"), ("cases", "cases")), goals=(("believed", 0),)),
    Row("keeping-alive", "Connections kept alive by garbage", plays.keeping_alive,
        "connections that send garbage, single bytes or nothing. The idle timeout is 3 s where it is an option",
        tags=("open", "many", "idle"), shows=(("longest_s", "s until the last is closed"), ("never_closed", "of 6 never closed")),
        goals=(("longest_s", 6), ("never_closed", 0))),
]


def chosen(names):
    return programs.chosen_rows(ROWS, names, "attack")


def misses(row, figures):
    """Returns [(figure, value, bound)] for each missed goal."""
    over = [(name, figures.get(name), most) for name, most in row.goals if figures.get(name) is None or figures[name] > most]
    return over + [(name, figures.get(name), least) for name, least in row.floors
                   if figures.get(name) is None or figures[name] < least]
