# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The cells of the comparison (its situations), and the time series."""

from dataclasses import dataclass, field

HIT_RATE, MISS_RATE = 20000, 5000
# The next lower rate applies to a server that cannot serve the usual rate with a quarter to spare.
LOWER_RATES = (1000, 200)
SPARE = 1.25


@dataclass
class Cell:
    """One situation. settings: of the responder, whose defaults are in DEFAULTS. in_flight: the number of queries
    that saturate it, or 0 to leave that out. distance: delay and loss between the servers and the upstream,
    played by the cable. Without a cable the responder plays them as well as it can, with without_cable as well."""
    name: str
    title: str
    role: str  # hit, miss or recycle; selects the servers
    rate: int
    in_flight: int
    settings: dict = field(default_factory=dict)
    timeout_ms: int = 2000
    distance: dict = field(default_factory=dict)
    without_cable: dict = field(default_factory=dict)


DEFAULTS = {"delay": "0", "loss": "0", "tcp-reset-after": "0", "tcp-close-after": "0"}

CELLS = [
    Cell("hit", "Cache hits over UDP", "hit", HIT_RATE, 100),
    Cell("miss-0ms", "Forwarded misses, the upstream answers at once", "miss", MISS_RATE, 100),
    Cell("miss-1ms", "Forwarded misses, the upstream is 1 ms away", "miss", MISS_RATE, 200,
         {"delay": "1"}),
    Cell("miss-20ms", "Forwarded misses, the upstream is 20 ms away", "miss", MISS_RATE, 1000,
         {"delay": "20"}),
    Cell("miss-loss", "Forwarded misses, 20 ms away with 1 % loss each way", "miss", MISS_RATE, 0,
         timeout_ms=5000, distance={"delay": "20", "loss": "1"},
         without_cable={"tcp-reset-after": "1000"}),
    Cell("far", "Forwarded misses, 1 ms away over the cable: what the next two compare with", "miss",
         MISS_RATE, 200, distance={"delay": "1"}),
    Cell("recycle", "The server itself replaces connections after 100 queries, 1 ms away", "recycle",
         MISS_RATE, 200, distance={"delay": "1"}),
    Cell("closing", "The upstream closes each connection after 100 answers, 1 ms away", "miss",
         MISS_RATE, 200, {"tcp-close-after": "100"}, timeout_ms=5000, distance={"delay": "1"}),
]


@dataclass
class Series:
    """Latency over time, all servers side by side. events: (share of the time, words for `nailup-bench control`).
    dead: (from, to) in the same shares, which the chart shades. The distance is played as in a cell."""
    name: str
    title: str
    about: str
    seconds: float
    rate: int
    distance: dict
    settings: dict
    events: list
    dead: tuple = ()


STREAMS_OFF, STREAMS_ON = ["tcp off", "tls off"], ["tcp on", "tls on"]

SERIES = [
    Series("series-recycle", "Latency while connections end after 100 queries",
           "nailupd replaces its connections itself, those of the others are closed by the upstream, "
           "which is 20 ms away.", 5, 200, {"delay": "20"}, {"tcp-close-after": "100"}, []),
    Series("series-streams", "Latency while TCP and DoT of the upstream die and return",
           "Connections are reset and refused for a while; UDP lives. The upstream is 20 ms away.", 12,
           100, {"delay": "20"}, {}, [(0.2, STREAMS_OFF), (0.5, STREAMS_ON)], (0.2, 0.5)),
    Series("series-death", "Latency while the upstream dies altogether and returns",
           "Connections are reset and refused, UDP is not answered. The upstream is 20 ms away.", 12, 100,
           {"delay": "20"}, {},
           [(0.2, ["udp off", *STREAMS_OFF]), (0.5, ["udp on", *STREAMS_ON])], (0.2, 0.5)),
]

# The servers of the series, as (kind of peer, transport).
SERIES_SERVERS = [("nailupd", "tcp"), ("nailupd", "tls"), ("unbound", "tcp"), ("unbound", "tls"),
                  ("knot-resolver", "tls"), ("dnsdist", "tls")]


def chosen(names):
    """Returns (cells, series) for these names, or for all."""
    known = [cell.name for cell in CELLS] + [series.name for series in SERIES]
    for name in names or []:
        if name not in known:
            raise SystemExit(f"compare: there is no cell {name}; there are: {' '.join(known)}")
    wanted = names or known
    return ([cell for cell in CELLS if cell.name in wanted],
            [series for series in SERIES if series.name in wanted])
