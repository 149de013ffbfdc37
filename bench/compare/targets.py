# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""What nailupd wants to reach, judged by the figures of a run: by the median of the rounds, of others
too. Those in microseconds are of the machine that they were set on (two virtual CPUs, a bare
responder at 2 us a query)."""

from dataclasses import dataclass

import programs
import summary


@dataclass
class Target:
    sentence: str
    reached: float
    limit: float
    is_at_most: bool = True

    @property
    def holds(self):
        return self.reached <= self.limit if self.is_at_most else self.reached >= self.limit


def ratio(above, below):
    return above / below if above and below else None


def of_hits(results):
    def figure(metric, server=programs.OURS):
        return results.median("hit", server, "udp", metric)

    yield ("CPU of a hit, to the bare responder's",
           ratio(figure(summary.CPU_MAX), figure(summary.CPU_MAX, programs.FLOOR)), 1.15)
    yield ("hits a second, to Unbound's",
           ratio(figure(summary.QPS), figure(summary.QPS, "unbound")), 1.35, False)
    yield ("p50 of a hit at 20,000/s, to the bare responder's",
           ratio(figure(summary.P50), figure(summary.P50, programs.FLOOR)), 1.10)


def of_misses(results):
    udp, tcp, tls = (results.median("miss-0ms", programs.OURS, transport, summary.CPU_MAX)
                     for transport in programs.TRANSPORTS)
    yield "CPU of a miss over nailed TCP, us", tcp, 6
    yield "CPU of a miss over nailed DoT, us", tls, 7
    yield "CPU of a miss over UDP, us", udp, 9
    yield "CPU of a miss over nailed TCP, to our own over UDP", ratio(tcp, udp), 0.7


def of_streams(results, transport):
    over = programs.TRANSPORT_NAMES[transport]

    def figure(cell, metric, way=transport):
        return results.median(cell, programs.OURS, way, metric)

    others = [results.median("miss-0ms", server, transport, summary.CPU_MAX)
              for server, its in results.servers("miss-0ms")
              if its == transport and server != programs.OURS]
    best = min((value for value in others if value), default=None)
    near = figure("miss-1ms", summary.P50)
    yield (f"CPU of a miss over nailed {over}, to the best peer's",
           ratio(figure("miss-0ms", summary.CPU_MAX), best), 0.5)
    yield (f"queries per write over {over}, 100 in flight", figure("miss-0ms", summary.PER_WRITE),
           12, False)
    yield (f"p50 of a miss over {over}, 1 ms away, to that over UDP",
           ratio(near, figure("miss-1ms", summary.P50, "udp")), 1.05)
    yield (f"p99 over {over} with recycling after 100 queries, to that without",
           ratio(figure("recycle", summary.P99), figure("far", summary.P99)), 1.10)


def judged(results):
    """Every Target whose figures were measured."""
    wanted = [*of_hits(results), *of_misses(results), *of_streams(results, "tcp"),
              *of_streams(results, "tls")]
    return [Target(*one) for one in wanted if one[1] is not None]


def lines(results):
    """In Markdown; nothing where nothing of it was measured."""
    all_of_them = judged(results)
    if not all_of_them:
        return []
    return ["## What nailupd wants to reach", "", "By the medians of all, of others too.", "",
            *[f"- {'reached' if one.holds else '**not reached**'}: {one.sentence}: {one.reached:.2f}, "
              f"wanted {'at most' if one.is_at_most else 'at least'} {one.limit:g}"
              for one in all_of_them], ""]
