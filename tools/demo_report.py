# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The output of the demonstration: titles, tables, and claims with the measured values."""


def say(text=""):
    print(text, flush=True)


def title(text):
    say(f"\n== {text}")


def table(heads, rows):
    """Prints a table with its first column aligned to the left and all others to the right."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, *rows]:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        say("  " + "  ".join(cells).rstrip())


def ms(seconds):
    return "-" if seconds is None else f"{seconds * 1000:.1f}"


class Claims:
    """Collects all claims, and whether they held."""

    def __init__(self):
        self.good, self.bad = [], []

    def mark(self):
        return len(self.good), len(self.bad)

    def held_since(self, mark):
        return len(self.bad) == mark[1]

    def forget_since(self, mark):
        """Drops the claims since the mark, because they are checked again."""
        del self.good[mark[0]:], self.bad[mark[1]:]

    def check(self, held, text, seen):
        say(f"  {'ok ' if held else 'NOT'}  {text}: {seen}")
        (self.good if held else self.bad).append(text)

    def conclude(self):
        """Returns True if all claims held."""
        say()
        for text in self.bad:
            say(f"did not hold: {text}")
        say(f"{len(self.good)} of {len(self.good) + len(self.bad)} claims held")
        return not self.bad
