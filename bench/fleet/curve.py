# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The hit rate of a fleet, computed and simulated.

The model: queries for names of Zipf popularity arrive at random (Poisson), each name has one TTL, and an answer is kept
for exactly that long. A name that an instance is asked for r times a second then has r * TTL hits for each miss (Jung,
Berger, Balakrishnan: Modeling TTL-based Internet Caches, INFOCOM 2003). Where names choose the instance, one instance gets
all queries for a name. Where clients choose it, each of n instances gets the n-th part, and each must learn the name for
itself. A second level that all instances share is asked for each name as often as one cache would be.

simulate() plays the same queries one by one, so that the formula is checked, and bench/fleet/run measures real instances
at the first points of the curve."""

import bisect
import itertools
import random


def weights(names, exponent):
    """Returns each name's share of the queries."""
    raw = [1 / rank ** exponent for rank in range(1, names + 1)]
    total = sum(raw)
    return [one / total for one in raw]


def misses(shares, rate, ttl, instances, by_name):
    """Returns how many misses a second all instances together have in the steady state."""
    count = 1 if by_name else instances
    total = 0.0
    for share in shares:
        asked = rate * share / count  # the rate at one instance
        total += count * asked / (1 + asked * ttl)
    return total


def simulate(shares, rate, ttl, instances, by_name, seconds, seed=1):
    """Simulates the fleet. Returns the misses a second after one TTL of warm-up."""
    chance = random.Random(seed)
    edges = list(itertools.accumulate(shares))
    known, now, count, missed = {}, 0.0, 0, 0
    while now < ttl + seconds:
        now += chance.expovariate(rate)
        name = bisect.bisect_left(edges, chance.random() * edges[-1])
        key = name if by_name else (name, chance.randrange(instances))
        is_miss = known.get(key, -1.0) <= now
        if is_miss:
            known[key] = now + ttl
        if now >= ttl:
            count += 1
            missed += is_miss
    return missed / seconds


def table(names, exponent, rate, ttl, sizes=(1, 2, 4, 8, 16, 32, 64)):
    """Returns a row for each size: instances, hit rate by client and by name, misses by client and by name."""
    shares = weights(names, exponent)
    rows = []
    for size in sizes:
        by_client = misses(shares, rate, ttl, size, False)
        by_name = misses(shares, rate, ttl, size, True)
        rows.append((size, 1 - by_client / rate, 1 - by_name / rate, by_client, by_name))
    return rows
