# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The goals of nailupd, judged by ratios within the rounds of a run. The median of the ratios counts."""

from dataclasses import dataclass

import programs
import summary

# The goals in microseconds were set on a machine where the bare responder costs this much.
FLOOR_US = 1.97
HIT, FLOOR = (("hit", server, "udp") for server in (programs.OURS, programs.FLOOR))


@dataclass
class Target:
    sentence: str
    reached: float
    limit: float
    is_at_most: bool = True

    @property
    def holds(self):
        return self.reached <= self.limit if self.is_at_most else self.reached >= self.limit


def miss(transport, cell="miss-0ms"):
    return cell, programs.OURS, transport


def of_hits(results):
    yield "CPU of a hit, to the bare responder's", results.ratio(summary.CPU_MAX, HIT, FLOOR), 1.15
    for server, _ in results.servers("hit"):
        if server.partition(" ")[0] == "unbound":
            name = server.replace("unbound", "Unbound")
            yield f"hits a second, to {name}'s", results.ratio(summary.QPS, HIT, ("hit", server, "udp")), 1.35, False
    yield "p50 of a hit at 20,000/s, to the bare responder's", results.ratio(summary.P50, HIT, FLOOR), 1.10


def of_misses(results):
    for transport, name, limit_us in (("tcp", "nailed TCP", 6), ("tls", "nailed DoT", 7), ("udp", "UDP", 9)):
        yield (f"CPU of a miss over {name}, to the bare responder's hit ({limit_us} us where that is "
               f"{FLOOR_US})", results.ratio(summary.CPU_MAX, miss(transport), FLOOR), limit_us / FLOOR_US)
    yield ("CPU of a miss over nailed TCP, to our own over UDP",
           results.ratio(summary.CPU_MAX, miss("tcp"), miss("udp")), 0.7)


def best_peer(results, transport):
    """Returns the (cell, server, transport) of the peer with the cheapest miss, or None."""
    costs = {("miss-0ms", server, its): results.median("miss-0ms", server, its, summary.CPU_MAX)
             for server, its in results.servers("miss-0ms")
             if its == transport and server != programs.OURS}
    return min((one for one in costs if costs[one]), key=costs.get, default=None)


def of_streams(results, transport):
    over, peer = programs.TRANSPORT_NAMES[transport], best_peer(results, transport)
    if peer:
        yield (f"CPU of a miss over nailed {over}, to the best peer's ({peer[1]})",
               results.ratio(summary.CPU_MAX, miss(transport), peer), 0.5)
    yield (f"queries per write over {over}, 100 in flight",
           results.median(*miss(transport), summary.PER_WRITE), 12, False)
    yield (f"p50 of a miss over {over}, 1 ms away, to that over UDP",
           results.ratio(summary.P50, miss(transport, "miss-1ms"), miss("udp", "miss-1ms")), 1.05)
    yield (f"p99 over {over} with recycling after 100 queries, to that without",
           results.ratio(summary.P99, miss(transport, "recycle"), miss(transport, "far")), 1.10)


def judged(results):
    """Returns every Target whose figures were measured."""
    wanted = [*of_hits(results), *of_misses(results), *of_streams(results, "tcp"),
              *of_streams(results, "tls")]
    return [Target(*one) for one in wanted if one[1] is not None]


def lines(results):
    """Returns the goals in Markdown, or nothing if none was measured."""
    all_of_them = judged(results)
    if not all_of_them:
        return []
    return ["## Goals of nailupd", "", "Ratios within a round; the median of the rounds counts, by the same rule for all servers.", "",
            *[f"- {'reached' if one.holds else '**not reached**'}: {one.sentence}: {one.reached:.2f}, "
              f"wanted {'at most' if one.is_at_most else 'at least'} {one.limit:g}"
              for one in all_of_them], ""]
