# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The chart of the fault table: a line for each fault, a strip of time for each system."""

import charts
import rows
import systems
import verdict

LABELS, GAP, STRIP, LINE = 168, 8, 16, 22
BIN_S = 0.25
STYLE = """
.slow{fill:#bf8700}.failed{fill:#cf222e}.well{fill:#dafbe1}.tick{stroke:#1f2328;stroke-width:1}
@media (prefers-color-scheme:dark){.slow{fill:#d29922}.failed{fill:#f85149}.well{fill:#12361e}.tick{stroke:#f0f6fc}}
"""


def shares(points, total_s):
    """Returns [(share that failed, share that was slow)] for each interval of BIN_S."""
    bins = [[0, 0, 0] for _ in range(round(total_s / BIN_S))]
    for point in points:
        one = bins[min(int(point.due_s / BIN_S), len(bins) - 1)]
        one[0] += 1
        one[1] += not point.is_good
        one[2] += point.is_good and not verdict.is_normal(point)
    return [(failed / asked, slow / asked) if asked else (0, 0) for asked, failed, slow in bins]


def strip(canvas, x, y, width, points, times, ends_s):
    canvas.box(x, y, width, STRIP, "well")
    wide = width / round(times.total_s / BIN_S)
    for number, (failed, slow) in enumerate(shares(points, times.total_s)):
        if failed:
            canvas.box(x + number * wide, y + STRIP * (1 - failed), wide, STRIP * failed, "failed")
        if slow:
            canvas.box(x + number * wide, y + STRIP * (1 - failed - slow), wide, STRIP * slow, "slow")
    for second in (times.begin_s, ends_s):
        at = x + width * second / times.total_s
        canvas.line(at, y - 2, at, y + STRIP + 2, "tick")


def legend(canvas):
    x = charts.MARGIN + LABELS
    canvas.y += 8
    for kind, words in (("well", f"answered within {verdict.NORMAL_MS:.0f} ms"), ("slow", "answered later"),
                        ("failed", "failed: lost or SERVFAIL")):
        canvas.box(x, canvas.y - 10, 14, 12, kind)
        canvas.text(x + 20, canvas.y, words, "small")
        x += 36 + 6.6 * len(words)
    canvas.line(x + 4, canvas.y - 12, x + 4, canvas.y + 4, "tick")
    canvas.text(x + 12, canvas.y, "the fault begins, ends", "small")


def chart(chosen, times, points, footer):
    """Returns the chart. `points` is {row: {label: [points of each round]}}, and the first round is drawn."""
    labels = [one.label for one in systems.SYSTEMS if any(one.label in points[row.name] for row in chosen)]
    title = "Answers while the network or the upstream fails"
    canvas = charts.Canvas(title, f"Each strip is {times.total_s:g} s of {times.rate} queries a second for new names, "
                           "10 ms from the upstream; its height is the share of the queries.")
    legend(canvas)
    width = (charts.WIDTH - 2 * charts.MARGIN - LABELS) / max(1, len(labels)) - GAP
    canvas.y += charts.HEAD
    for column, label in enumerate(labels):
        canvas.text(charts.MARGIN + LABELS + column * (width + GAP), canvas.y, label,
                    "small ours-text" if label.startswith(systems.OURS) else "small")
    canvas.y += 8
    for one in chosen:
        canvas.text(charts.MARGIN, canvas.y + STRIP - 4, one.title, "small")
        for column, label in enumerate(labels):
            if points[one.name].get(label):
                strip(canvas, charts.MARGIN + LABELS + column * (width + GAP), canvas.y, width,
                      points[one.name][label][0], times, rows.end_of(one, times.begin_s, times.end_s))
        canvas.y += LINE + 4
    canvas.footer(footer)
    return canvas.svg().replace("</style>", STYLE + "</style>", 1)
