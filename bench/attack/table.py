# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The table of the attacks in Markdown and CSV."""

import csv
import statistics

import bars
import facts
import rows
import systems

# The columns that every row has: figure, words, decimals.
COLUMNS = [("packets", "packets per query", 1), ("cpu_us", "CPU us per hostile packet", 1), ("memory_mib", "memory MiB", 0),
           ("failed", "honest queries failed", 0), ("p99_ms", "honest p99 ms", 1)]
WORDS = {figure: words for figure, words, _ in COLUMNS}

PARTS = {"packets": "packets per query in each case", "believed": "what was believed",
         "closed_s": "seconds until the connection was closed (-: not within 14 s)"}
OTHER_WORDS = {"missing_percent": "% of the capacity not answered"}


def number(value, decimals=None):
    if value is None:
        return "-"
    if decimals is None:
        decimals = 0 if value == int(value) or abs(value) >= 100 else 1 if abs(value) >= 1 else 2
    return f"{value:,.{decimals}f}"


def cell(figures, figure, decimals):
    words = number(figures.get(figure), decimals)
    return f"{words} of {figures['asked']}" if figure == "failed" and "failed" in figures else words


def shown(row, figures):
    """Returns the figures that only this row has."""
    return "; ".join(f"{number(figures.get(figure))} {words}" for figure, words in row.shows)


def line(row, figures):
    """Returns one play as a line of text."""
    said = [f"{words} {cell(figures, figure, decimals)}" for figure, words, decimals in COLUMNS
            if figures.get(figure) is not None]
    return ", ".join([*said, *([shown(row, figures)] if row.shows else [])])


def median(rounds):
    """Returns the median of each figure. A round without the figure is left out."""
    found = {}
    for figure in dict.fromkeys(figure for one in rounds for figure in one):
        values = [one[figure] for one in rounds if one.get(figure) is not None]
        found[figure] = statistics.median_low(values) if values else None
    return found


def words_of(row, figure):
    return dict(row.shows).get(figure) or WORDS.get(figure) or OTHER_WORDS[figure]


def goal(row, figures):
    missed = rows.misses(row, figures)
    if not row.goals + row.floors:
        return ""
    if not missed:
        return "holds"
    return "not: " + ", ".join(f"{words_of(row, name)} {number(value)}, wanted {number(most)}"
                               for name, value, most in missed)


def lines_of(row, of_systems):
    """Returns a line for each system."""
    made, is_first = [], True
    for label, rounds in of_systems.items():
        figures, is_ours = median(rounds), label == systems.OURS
        made.append("| " + " | ".join([
            row.title if is_first else "", f"**{label}**" if is_ours else label,
            *(cell(figures, figure, decimals) for figure, _, decimals in COLUMNS), shown(row, figures),
            goal(row, figures) if is_ours else ""]) + " |")
        is_first = False
    return made


def head(known):
    warnings = ["**Made with --quick: a smoke test, not a measurement.**", ""] if known["quick"] else []
    versions = ", ".join(f"{name} {version}" for name, version in known["versions"].items())
    return [
        "# nailup and its peers under attack", "", *warnings,
        "Each resolver has one worker on its own CPU, in its own network namespace, with its defaults where "
        "`bench/attack/peers` says nothing else. Attackers, honest clients and all authoritative servers share another CPU.", "",
        "- packets per query: what the resolver sends to authoritative servers for each hostile query (datagrams and dials)",
        "- CPU per hostile packet: CPU time of the resolver while the attack lasts, for each packet of an attacker (each "
        "answered query where attackers pipeline)",
        "- memory: how much the process grows, and what the kernel holds for its connections where a row says so",
        "- honest queries failed: SERVFAIL, REFUSED or no answer within 5 s; p99 is that of the others", "",
        f"- {known['date']}, {known['took_s']} s: `{known['command']}`",
        f"- {facts.machine_line(known)}; load before: {known['load_before']:.2f}",
        f"- medians of {known['rounds']} rounds; nailup {known['commit']}, {known['build_type']}" if known["rounds"] > 1
        else f"- one round; nailup {known['commit']}, {known['build_type']}",
        f"- {versions}", *[f"- left out: {sentence}" for sentence in known["left_out"]], ""]


def parts(row, known):
    """Splits figures with names such as "kind: part". Returns {part: {label: value}} for each kind."""
    kinds = {}
    for label, rounds in known["played"][row.name].items():
        for figure, value in median(rounds).items():
            kind, is_part, part = figure.partition(": ")
            if is_part:
                kinds.setdefault(kind, {}).setdefault(part, {})[label] = value
    return kinds


def lines_of_parts(row, known):
    lines, labels = [], list(known["played"][row.name])
    for kind, several in parts(row, known).items():
        lines += ["", f"### {row.title}: {PARTS[kind]}", "", "| | " + " | ".join(labels) + " |", "|---" * (len(labels) + 1) + "|"]
        lines += [f"| {part} | " + " | ".join(number(of_labels.get(label)) for label in labels) + " |"
                  for part, of_labels in several.items()]
    return lines


def markdown(chosen, known):
    lines = head(known) + ["![Honest clients under attack](attack.svg)", "", "| attack | system | " + " | ".join(
        words for _, words, _ in COLUMNS) + " | besides | the goal |", "|---" * (len(COLUMNS) + 4) + "|"]
    for row in chosen:
        lines += lines_of(row, known["played"][row.name])
    for row in chosen:
        lines += lines_of_parts(row, known)
    return "\n".join([*lines, "", "## The attacks", "", *[f"- {row.title}: {row.about}" for row in chosen], ""])


def write_csv(path, chosen, known):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "round", "system", "figure", "value"])
        for row in chosen:
            for label, rounds in known["played"][row.name].items():
                for at, figures in enumerate(rounds):
                    writer.writerows([row.name, at, label, figure, "" if value is None else f"{value:.6g}"]
                                     for figure, value in figures.items())


def write(out, chosen, known):
    write_csv(out / "attack.csv", chosen, known)
    (out / "attack.md").write_text(markdown(chosen, known), encoding="utf-8")
    foot = [f"{known['date']}; {facts.machine_line(known)}", known["command"]
            + ("; made with --quick, no measurement" if known["quick"] else "")]
    (out / "attack.svg").write_text(bars.chart(chosen, {name: {label: median(rounds) for label, rounds in several.items()}
                                                        for name, several in known["played"].items()}, foot),
                                    encoding="utf-8")
