# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Turns the rounds into one figure each, and finds the figures in which others are better.

Our figure is the median of the rounds. For the other servers, and for the floor, the best round counts, for each
figure separately. The machine may have disturbed a peer, which must not count against it. A disturbance of ours counts.

Percentiles are the exception: for all servers the median counts. The p99 of a second has fifty queries above it,
and a single loss or pause decides where it is, so the best of a few rounds is the luckiest one, not the least
disturbed."""

import statistics
from dataclasses import dataclass

import programs

FAILED_LIMIT_PERCENT = 1.0  # a server that fails more queries than this is not compared in its other figures
NOISE_PERCENT = 5.0


@dataclass(frozen=True)
class Metric:
    """mode: from the saturated (max) or the steady (rate) measurement; best: min or max. luck: the table has the
    median of the rounds for all servers, and not the best round of the others."""
    title: str
    mode: str
    field: str
    best: object
    unit: str
    decimals: int
    luck: bool = False


CPU_MAX = Metric("CPU per query, saturated", "max", "cpu_us_per_query", min, "us", 2)
QPS = Metric("answers a second", "max", "qps", max, "/s", 0)
P50 = Metric("p50", "rate", "p50_us", min, "us", 0, luck=True)
P99 = Metric("p99", "rate", "p99_us", min, "us", 0, luck=True)
CPU_RATE = Metric("CPU per query at the rate", "rate", "cpu_us_per_query", min, "us", 2)
FAILED_MAX = Metric("failed or lost, saturated", "max", "failed_percent", min, "%", 2)
FAILED_RATE = Metric("failed or lost at the rate", "rate", "failed_percent", min, "%", 2)
PER_WRITE = Metric("queries per write", "max", "queries_per_write", max, "", 1)
PER_WRITE_RATE = Metric("queries per write", "rate", "queries_per_write", max, "", 1)
ITS_CPU = Metric("its CPU, saturated", "max", "server_cpu_percent", max, "%", 0)
COMPARED = (CPU_MAX, QPS, P50, P99, CPU_RATE, FAILED_MAX, FAILED_RATE)


class Results:
    """All rows of a run, by cell and server."""

    def __init__(self, rows):
        self.rows = rows

    def rows_of(self, cell, server, transport, mode):
        return [row for row in self.rows if row["cell"] == cell and row["server"] == server
                and row["transport"] == transport and row["mode"] == mode]

    def servers(self, cell):
        """Returns [(server, transport)] that were measured in that cell, by transport."""
        seen = {(row["server"], row["transport"]): None for row in self.rows if row["cell"] == cell}
        return sorted(seen, key=lambda one: programs.TRANSPORTS.index(one[1]))

    def values(self, cell, server, transport, metric):
        """Returns the values of the rounds that have one."""
        rows = self.rows_of(cell, server, transport, metric.mode)
        return [row[metric.field] for row in rows if isinstance(row[metric.field], (int, float))]

    def median(self, cell, server, transport, metric):
        values = self.values(cell, server, transport, metric)
        return statistics.median(values) if values else None

    def ratio(self, metric, above, below):
        """Returns the median of the rounds' ratios: a slow spell of the machine then slows both sides. above, below:
        (cell, server, transport)."""
        figures = [{row["round"]: row[metric.field] for row in self.rows_of(*one, metric.mode)
                    if isinstance(row[metric.field], (int, float))} for one in (above, below)]
        ratios = [figures[0][number] / figures[1][number] for number in figures[0]
                  if figures[1].get(number)]
        return statistics.median(ratios) if ratios else None

    def figure(self, cell, server, transport, metric):
        """Returns the figure that appears in the table."""
        if server == programs.OURS or metric.luck:
            return self.median(cell, server, transport, metric)
        return metric.best(self.values(cell, server, transport, metric), default=None)

    def rate(self, cell, server, transport):
        rows = self.rows_of(cell, server, transport, "rate")
        return rows[0]["rate"] if rows else None

    def version(self, server):
        return next((row["version"] for row in self.rows if row["server"] == server), "")

    def fails_too_often(self, cell, server, transport, mode):
        metric = FAILED_MAX if mode == "max" else FAILED_RATE
        failed = self.figure(cell, server, transport, metric)
        return failed is not None and failed > FAILED_LIMIT_PERCENT

    def share_over(self, cell, server, transport):
        """Returns how many percent of its upstream queries used its transport, or None if there were none, as with
        hits."""
        rows = [row for row in self.rows if row["cell"] == cell and row["server"] == server
                and row["transport"] == transport]
        asked = {over: sum(row[f"upstream_{over}_queries"] for row in rows)
                 for over in programs.TRANSPORTS}
        every = sum(asked.values())
        return 100 * asked[transport] / every if every > len(rows) else None

    def taken(self, cell, server, transport):
        """Returns the largest share of the server's CPU that other programs took in a round, in percent."""
        values = [row["taken_by_others_percent"] for row in self.rows
                  if row["cell"] == cell and row["server"] == server
                  and row["transport"] == transport and row["taken_by_others_percent"] != ""]
        return max(values, default=None)

    def comparable(self, cell, server, transport, metric):
        """Returns whether that server's figure can be compared with ours."""
        if metric in (FAILED_MAX, FAILED_RATE):
            return True
        if self.fails_too_often(cell, server, transport, metric.mode):
            return False
        return metric.mode == "max" or \
            self.rate(cell, server, transport) == self.rate(cell, programs.OURS, transport)


@dataclass
class Better:
    """A peer's figure that is better than ours in the same cell over the same transport."""
    cell: object
    transport: str
    metric: Metric
    server: str
    theirs: float
    ours: float
    rate: int

    def percent(self):
        return abs(self.theirs - self.ours) / self.ours * 100 if self.ours else 0.0

    def is_noise(self):
        return self.metric.unit != "%" and self.percent() < NOISE_PERCENT


def better(results, cells):
    """Returns every Better. In each cell the largest difference comes first."""
    found = []
    for cell in cells:
        here = []
        for server, transport in results.servers(cell.name):
            if server in (programs.OURS, programs.FLOOR):
                continue
            for metric in COMPARED:
                ours = results.figure(cell.name, programs.OURS, transport, metric)
                theirs = results.figure(cell.name, server, transport, metric)
                if None in (ours, theirs) or theirs == ours or \
                        metric.best(theirs, ours) == ours or \
                        not results.comparable(cell.name, server, transport, metric):
                    continue
                here.append(Better(cell, transport, metric, server, theirs, ours,
                                   results.rate(cell.name, programs.OURS, transport)))
        found += sorted(here, key=lambda one: -one.percent())
    return found


def not_compared(results, cells):
    """Yields sentences that say which figures are not compared, and why."""
    for cell in cells:
        for server, transport in results.servers(cell.name):
            if server in (programs.OURS, programs.FLOOR):
                continue
            where = f"{cell.name}, {server} over {programs.TRANSPORT_NAMES[transport]}"
            for mode, metric in (("max", FAILED_MAX), ("rate", FAILED_RATE)):
                if results.fails_too_often(cell.name, server, transport, mode):
                    failed = results.figure(cell.name, server, transport, metric)
                    how = "saturated" if mode == "max" else "at its rate"
                    yield f"{where}, {how}: {failed:.1f} % failed or lost"
            ours = results.rate(cell.name, programs.OURS, transport)
            theirs = results.rate(cell.name, server, transport)
            if ours and theirs and ours != theirs:
                yield f"{where}: latency at {theirs:,}/s, ours at {ours:,}/s"
