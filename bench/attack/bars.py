# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The chart of the attack table: the losses of honest clients, a bar for each system in each row."""

import charts
import systems

BAR, STEP, LABELS, SYSTEM = 10, 15, 250, 96
STYLE = """
.lost{fill:#cf222e}.none{fill:#dafbe1}
@media (prefers-color-scheme:dark){.lost{fill:#f85149}.none{fill:#12361e}}
"""


def words(figures):
    share = f"{100 * figures['failed'] / figures['asked']:.0f} % failed"
    return share if figures.get("p99_ms") is None else f"{share}, p99 {charts.short(figures['p99_ms'])} ms"


def chart(chosen, played, footer):
    """Returns the chart as SVG. `played` is {row: {label: figures}}."""
    canvas = charts.Canvas("Honest clients while a resolver is attacked",
                           "The bar is the share of the honest clients' queries that failed; beside it the p99 of the others.")
    left = charts.MARGIN + LABELS + SYSTEM
    width = charts.WIDTH - left - charts.MARGIN - 150
    for row in chosen:
        several = {label: one for label, one in played[row.name].items() if one.get("asked")}
        if not several:
            continue
        canvas.y += 8
        canvas.text(charts.MARGIN, canvas.y + STEP, row.title, "small group")
        for label, figures in several.items():
            canvas.y += STEP
            canvas.text(charts.MARGIN + LABELS, canvas.y, label, "small ours-text" if label == systems.OURS else "small")
            canvas.box(left, canvas.y - BAR + 1, width, BAR, "none")
            canvas.box(left, canvas.y - BAR + 1, width * figures["failed"] / figures["asked"], BAR, "lost")
            canvas.text(left + width + 8, canvas.y, words(figures), "small")
    canvas.footer(footer)
    return canvas.svg().replace("</style>", STYLE + "</style>", 1)
