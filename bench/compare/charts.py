# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Charts in SVG, written as text. They follow the reader's choice of a light or a dark page."""

import math
from xml.sax.saxutils import escape

WIDTH, MARGIN, LABELS, VALUES = 860, 16, 220, 110
ROW, HEAD, LINE = 20, 26, 15
LETTERS = 130
PANEL, GAP, STRIP, PANEL_TICKS = 92, 34, 9, 5

STYLE = """
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2328}
.page{fill:#ffffff}.title{font-size:15px;font-weight:600}.group{font-weight:600}
.muted{fill:#59636e}.small{font-size:11px}.ours-text{fill:#0550ae;font-weight:600}
.grid{stroke:#d1d9e0;stroke-width:1}.frame{fill:none;stroke:#d1d9e0}
.peer{stroke:#6e7781;fill:#6e7781}.ours{stroke:#0969da;fill:#0969da}.hollow{fill:#ffffff;stroke-width:2}
.span{stroke-width:2}.dots{fill:none;stroke-width:2.4;stroke-linecap:round}
.bad{stroke:#cf222e;stroke-width:1.2;fill:none}.bad-text{fill:#cf222e}.shade{fill:#ffebe9}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}.page{fill:#0d1117}.muted{fill:#9198a1}.ours-text{fill:#79c0ff}
.grid{stroke:#30363d}.frame{stroke:#30363d}.peer{stroke:#9198a1;fill:#9198a1}
.ours{stroke:#4493f8;fill:#4493f8}.hollow{fill:#0d1117}.bad{stroke:#f85149}.bad-text{fill:#f85149}
.shade{fill:#3c1618}}
"""


class Canvas:
    """Collects elements. y is where the next row begins."""

    def __init__(self, title, subtitle):
        self.title, self.parts, self.y = title, [], MARGIN + 14
        self.text(MARGIN, self.y, title, "title")
        for line in wrapped(subtitle):
            self.y += LINE + 2
            self.text(MARGIN, self.y, line, "muted")
        self.y += LINE

    def text(self, x, y, words, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
                          f"{escape(words)}</text>")

    def line(self, x1, y1, x2, y2, kind):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'class="{kind}"/>')

    def circle(self, x, y, kind, radius=4.5):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"/>')

    def box(self, x, y, width, height, kind):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height:.1f}" class="{kind}"/>')

    def footer(self, sentences):
        self.y += 8
        for sentence in sentences:
            for line in wrapped(sentence):
                self.y += LINE
                self.text(MARGIN, self.y, line, "muted small")
        self.y += MARGIN

    def svg(self):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.y:.0f}" '
                f'viewBox="0 0 {WIDTH} {self.y:.0f}" role="img">\n<title>{escape(self.title)}</title>'
                f'\n<style>{STYLE}</style>\n<rect width="100%" height="100%" class="page"/>\n'
                f"{body}\n</svg>\n")


def wrapped(sentence):
    lines, line = [], ""
    for word in sentence.split():
        if line and len(line) + len(word) >= LETTERS:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return lines + [line] if line else lines


def short(value):
    """Formats a value with three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def tick_label(tick):
    return f"{tick:,.0f}" if tick >= 1 else f"{tick:g}"


class LogScale:
    """A logarithmic scale between two values that are 1, 2 or 5 times a power of ten, over `length` pixels from
    `start`."""

    def __init__(self, values, start, length):
        low, high = min(values), max(values)
        ticks = [step * 10.0 ** power for power in range(-4, 9) for step in (1, 2, 5)]
        first = max((tick for tick in ticks if tick <= low), default=ticks[0])
        last = min((tick for tick in ticks if tick >= high and tick > first), default=ticks[-1])
        self.ticks = [tick for tick in ticks if first <= tick <= last]
        self.low, self.start = math.log(first), start
        self.per_unit = length / (math.log(last) - self.low)

    def at(self, value):
        return self.start + (math.log(value) - self.low) * self.per_unit

    def labelled(self, at_most=10):
        """Returns the ticks that get a label. Fewer get one where labels would touch."""
        if len(self.ticks) <= at_most:
            return self.ticks
        return [tick for tick in self.ticks if f"{tick:e}".startswith("1")] or self.ticks[::2]


def dots(title, subtitle, unit, groups, marks, footer):
    """Draws a line for each server with its figures as dots. groups: [(title, [(label, is_ours, values)])], with as
    many values as marks, [(legend, class)]. A line joins the smallest and the largest value."""
    every = [value for _, lines in groups for _, _, values in lines for value in values if value]
    if not every:
        return None
    canvas = Canvas(title, subtitle)
    scale = LogScale(every, MARGIN + LABELS, WIDTH - 2 * MARGIN - LABELS - VALUES)
    legend(canvas, marks)
    top = canvas.y
    grid_at = len(canvas.parts)
    for group, lines in groups:
        if lines:
            canvas.y += HEAD
            canvas.text(MARGIN, canvas.y, group, "group")
            for line in lines:
                canvas.y += ROW
                dots_line(canvas, scale, line, marks)
    canvas.y += 10
    behind = Canvas("", "")
    behind.parts = []
    for tick in scale.ticks:
        behind.line(scale.at(tick), top, scale.at(tick), canvas.y, "grid")
    canvas.parts[grid_at:grid_at] = behind.parts
    canvas.y += LINE
    for tick in scale.labelled():
        canvas.text(scale.at(tick), canvas.y, tick_label(tick), "muted small", "middle")
    canvas.y += LINE
    canvas.text(MARGIN + LABELS, canvas.y, f"{unit} (logarithmic; less is better)", "muted small")
    canvas.footer(footer)
    return canvas.svg()


def legend(canvas, marks):
    canvas.y += 8
    x = MARGIN + LABELS
    for name, kind in marks:
        canvas.circle(x + 5, canvas.y - 4, f"peer {kind}")
        canvas.text(x + 15, canvas.y, name, "small")
        x += 30 + 7 * len(name)
    canvas.text(x, canvas.y, "nailupd in blue", "small ours-text")
    canvas.y += 6


def dots_line(canvas, scale, line, marks):
    label, is_ours, values = line
    kind = "ours" if is_ours else "peer"
    canvas.text(MARGIN + 8, canvas.y, label, "ours-text" if is_ours else "")
    known = [value for value in values if value]
    if len(known) > 1:
        canvas.line(scale.at(min(known)), canvas.y - 4, scale.at(max(known)), canvas.y - 4,
                    f"{kind} span")
    for value, (_, mark) in zip(values, marks):
        if value:
            canvas.circle(scale.at(value), canvas.y - 4, f"{kind} {mark}")
    said = " / ".join(short(value) if value else "-" for value in values)
    canvas.text(WIDTH - MARGIN, canvas.y, said, "small", "end")


def over_time(title, subtitle, seconds, panels, dead, footer):
    """Draws a panel for each server: the latency of each query by the instant when it was due. panels: [(label,
    is_ours, points)] as in series.py; dead: (from, to) seconds to shade, or None."""
    latencies = [point.latency_ms for _, _, points in panels for point in points if point.is_good]
    if not latencies:
        return None
    canvas = Canvas(title, subtitle)
    canvas.y += 4
    canvas.circle(MARGIN + LABELS + 5, canvas.y - 4, "peer", 2)
    canvas.text(MARGIN + LABELS + 15, canvas.y, "answered (nailupd in blue)", "small")
    canvas.line(MARGIN + LABELS + 200, canvas.y - 9, MARGIN + LABELS + 200, canvas.y, "bad")
    canvas.text(MARGIN + LABELS + 208, canvas.y, "failed: lost or SERVFAIL", "small bad-text")
    if dead:
        canvas.box(MARGIN + LABELS + 380, canvas.y - 10, 14, 12, "shade")
        canvas.text(MARGIN + LABELS + 400, canvas.y, "the upstream is dead", "small")
    left, width = MARGIN + 50, WIDTH - 2 * MARGIN - 50
    for label, is_ours, points in panels:
        canvas.y += GAP
        panel(canvas, (left, width), seconds, (label, is_ours, points), latencies, dead)
    canvas.y += 2 * LINE
    canvas.text(left, canvas.y, "seconds; each panel: latency in ms (logarithmic) of every query, "
                "by the instant it was due", "muted small")
    canvas.footer(footer)
    return canvas.svg()


def panel(canvas, place, seconds, what, latencies, dead):
    left, width = place
    label, is_ours, points = what
    top = canvas.y
    bottom = top + PANEL
    scale = LogScale(latencies, 0, PANEL - STRIP - 2)

    def x_of(second):
        return left + width * second / seconds

    if dead:
        canvas.box(x_of(dead[0]), top, x_of(dead[1]) - x_of(dead[0]), PANEL, "shade")
    for tick in scale.labelled(PANEL_TICKS):
        canvas.line(left, bottom - scale.at(tick), left + width, bottom - scale.at(tick), "grid")
        canvas.text(left - 6, bottom - scale.at(tick) + 4, tick_label(tick), "muted small", "end")
    canvas.box(left, top, width, PANEL, "frame")
    for second in range(int(seconds) + 1):
        canvas.text(x_of(second), bottom + LINE - 2, str(second), "muted small", "middle")
    canvas.text(left, top - 5, label, "ours-text" if is_ours else "group")
    good = "".join(f"M{x_of(point.due_s):.1f} {bottom - scale.at(point.latency_ms):.1f}h0"
                   for point in points if point.is_good)
    failed = "".join(f"M{x_of(point.due_s):.1f} {top + 1:.1f}v{STRIP}"
                     for point in points if not point.is_good)
    canvas.parts.append(f'<path d="{good}" class="{"ours" if is_ours else "peer"} dots"/>')
    if failed:
        canvas.parts.append(f'<path d="{failed}" class="bad"/>')
    canvas.y = bottom
