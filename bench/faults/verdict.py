# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Turns the points of a play into its figures, and the figures of a row into a verdict. All functions are pure."""

import math
import statistics
from dataclasses import dataclass

NORMAL_MS = 50.0       # five round trips of the link
WINDOW_S = 1.0         # service has recovered when answers are normal for this time
ABNORMAL_SHARE = 0.05  # no more than this share of the queries is abnormal
# Two plays of the same fault differ by this much on a machine with other work: 2 queries and 1 % of the failures,
# because a fault of 10 s takes some 10.1 s.
FAILED_SLACK, FAILED_SLACK_SHARE, RECOVERED_SLACK_S = 2, 0.01, 0.1
P99_FACTOR = 2.0

NEVER = math.inf


@dataclass(frozen=True)
class Figures:
    """asked: queries due from the fault's beginning to the end of the observation; failed: without an answer or
    with an error; recovered_at_s: the instant from which answers were normal again, or NEVER."""
    asked: int
    failed: int
    lost: int
    p50_ms: float
    p99_ms: float
    max_ms: float
    recovered_at_s: float


def percentile(ordered, share):
    """Returns the value at this share of an ordered list, or None for an empty list."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def is_normal(point):
    return point.is_good and point.latency_ms <= NORMAL_MS


def recovered_at(points, from_s):
    """Returns the instant when the first query of WINDOW_S of normal answers was due."""
    late = [point for point in points if point.due_s >= from_s]
    abnormal, last = 0, 0  # of late[first:last]
    for first, point in enumerate(late):
        while last < len(late) and late[last].due_s < point.due_s + WINDOW_S:
            abnormal += not is_normal(late[last])
            last += 1
        if last == len(late) and late[-1].due_s < point.due_s + WINDOW_S * 0.9:
            return NEVER
        if is_normal(point) and abnormal <= ABNORMAL_SHARE * (last - first):
            return point.due_s
        abnormal -= not is_normal(point)
    return NEVER


def figures(points, begin_s):
    """Returns the figures of a play. A system that finds a way around the fault is normal before its end."""
    asked = [point for point in points if point.due_s >= begin_s]
    good = sorted(point.latency_ms for point in asked if point.is_good)
    return Figures(len(asked), len(asked) - len(good), sum(point.rcode is None for point in asked),
                   percentile(good, 0.5), percentile(good, 0.99), good[-1] if good else None,
                   recovered_at(asked, begin_s))


def median(rounds):
    """Returns the medians of the rounds for each figure. A round without the figure is left out."""
    def of(name):
        values = [getattr(one, name) for one in rounds if getattr(one, name) is not None]
        return statistics.median_low(values) if values else None

    return Figures(*(of(name) for name in Figures.__dataclass_fields__))


@dataclass(frozen=True)
class Miss:
    """A part of the goal that a system of ours missed. is_excused: the other system failed more queries, so its
    percentile leaves out queries that ours includes."""
    what: str  # failures, recovery or p99
    ours: float
    other: str
    theirs: float
    is_excused: bool = False


def fails_more(one, other):
    return one.failed > other.failed * (1 + FAILED_SLACK_SHARE) + FAILED_SLACK


def misses(ours, others):
    """Returns the goals that the figures `ours` miss beside the others, which are {label: Figures}."""
    found = []
    if not others:
        return found
    best = min(others, key=lambda name: others[name].failed)
    if fails_more(ours, others[best]):
        found.append(Miss("failures", ours.failed, best, others[best].failed))
    best = min(others, key=lambda name: others[name].recovered_at_s)
    if ours.recovered_at_s > others[best].recovered_at_s + RECOVERED_SLACK_S:
        found.append(Miss("recovery", ours.recovered_at_s, best, others[best].recovered_at_s))
    return found + p99_miss(ours, others)


def p99_miss(ours, others):
    """Compares with peers that fail no more queries than ours does. If no peer does so well, compares with all and
    excuses the miss."""
    answered = {name: one for name, one in others.items() if one.p99_ms is not None}
    fair = {name: one for name, one in answered.items() if not fails_more(one, ours)}
    for among, is_excused in ((fair, False), (answered, True)):
        best = min(among, key=lambda name: among[name].p99_ms, default=None)
        if best and (ours.p99_ms is None or ours.p99_ms > P99_FACTOR * among[best].p99_ms):
            return [Miss("p99", ours.p99_ms, best, among[best].p99_ms, is_excused)]
    return []
