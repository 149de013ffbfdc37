# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""The table of the faults in Markdown and CSV, the points of all plays, and the chart."""

import csv

import facts
import rows
import series
import strips
import systems
import verdict

FIELDS = ["row", "round", "system", "asked", "failed", "lost", "p50_ms", "p99_ms", "max_ms", "recovered_s", "from"]
AROUND_S = 0.5  # a system that is normal this long before the end has found a way around the fault
TRANSPORT_OF = {one.label: one.transport for one in systems.SYSTEMS}


# ---- points ----

def write_points(path, points):
    """Writes the points. `points` is {row: {label: [points of each round]}}."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "system", "round", "due_s", "latency_ms", "rcode"])
        for name, of_systems in points.items():
            for label, rounds in of_systems.items():
                for number, several in enumerate(rounds):
                    for point in several:
                        writer.writerow([name, label, number, f"{point.due_s:.3f}",
                                         "" if point.latency_ms is None else f"{point.latency_ms:.2f}",
                                         "lost" if point.rcode is None else point.rcode])


def read_points(path):
    points = {}
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            rounds = points.setdefault(line["row"], {}).setdefault(line["system"], [])
            while len(rounds) <= int(line["round"]):
                rounds.append([])
            rounds[-1].append(series.Point(float(line["due_s"]),
                                           float(line["latency_ms"]) if line["latency_ms"] else None,
                                           None if line["rcode"] == "lost" else int(line["rcode"])))
    return points


# ---- words ----

def recovery(figures, one, times):
    """Returns (seconds, from when). The time counts from the fault's end, or from its begin if answers became normal
    before."""
    at_s, ends_s = figures.recovered_at_s, rows.end_of(one, times.begin_s, times.end_s)
    if at_s == verdict.NEVER:
        return None, ""
    if one.since == "begin" or at_s < ends_s - AROUND_S:
        return at_s - times.begin_s, "begin"
    return max(0.0, at_s - ends_s), "end"


def recovery_words(figures, one, times):
    seconds, since = recovery(figures, one, times)
    if seconds is None:
        return "never"
    return f"{seconds:.1f} s" + (" from its beginning" if since == "begin" and one.since == "end" else "")


def ms(value):
    return "-" if value is None else f"{value:,.0f} ms"


def cell_words(figures, one, times):
    return f"{figures.failed:,} / {ms(figures.p99_ms)} / {recovery_words(figures, one, times)}"


def miss_words(label, miss, ours, other, one, times):
    """Returns a sentence about a missed part of the goal."""
    if miss.what == "failures":
        return f"{label}: {miss.ours} failed, {miss.other} {miss.theirs}"
    if miss.what == "recovery":
        return (f"{label}: recovers after {recovery_words(ours, one, times)}, "
                f"{miss.other} {recovery_words(other, one, times)}")
    return f"{label}: p99 {ms(miss.ours)}, {miss.other} {ms(miss.theirs)}" + (
        f", which failed {other.failed - ours.failed} more" if miss.is_excused else "")


def verdicts(of_systems, one, times):
    """Returns [(label, Miss, sentence)] for each goal that a system of ours misses beside the peers of its transport,
    or beside all peers."""
    peers = {label: figures for label, figures in of_systems.items() if not label.startswith(systems.OURS)}
    said = []
    for label, figures in of_systems.items():
        if not label.startswith(systems.OURS):
            continue
        alike = {name: other for name, other in peers.items() if TRANSPORT_OF[name] == TRANSPORT_OF[label]}
        own = verdict.misses(figures, alike)
        said += [(label, miss, miss_words(label, miss, figures, peers[miss.other], one, times)) for miss in own]
        said += [(label, miss, miss_words(label, miss, figures, peers[miss.other], one, times) + " (over another transport)")
                 for miss in verdict.misses(figures, peers) if (miss.what, miss.is_excused) not in
                 [(seen.what, seen.is_excused) for seen in own] and not (miss.is_excused and "p99" in [seen.what for seen in own])]
    return said


def goal_words(said):
    """Returns the text of a row's last column."""
    missed = sorted({f"{miss.what} of {label.removeprefix(systems.OURS).strip()}" for label, miss, _ in said
                     if not miss.is_excused})
    if missed:
        return "not: " + ", ".join(missed)
    return "holds, beside peers that fail no more" if said else "holds"


# ---- files ----

def write_csv(path, chosen, times, points):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for one in chosen:
            for label, rounds in points[one.name].items():
                for number, several in enumerate(rounds):
                    figures = verdict.figures(several, times.begin_s)
                    seconds, since = recovery(figures, one, times)
                    writer.writerow({
                        "row": one.name, "round": number, "system": label, "asked": figures.asked,
                        "failed": figures.failed, "lost": figures.lost,
                        **{name: "" if value is None else f"{value:.1f}" for name, value in (
                            ("p50_ms", figures.p50_ms), ("p99_ms", figures.p99_ms), ("max_ms", figures.max_ms),
                            ("recovered_s", seconds))}, "from": since})


def head(known, times):
    warnings = ["**Made with --quick: a smoke test, not a measurement.**", ""] if known["quick"] else []
    versions = ", ".join(f"{name} {version}" for name, version in known["versions"].items())
    busy = " and before everything else (SCHED_FIFO)" if known["realtime"] else ""
    return [
        "# nailup and its peers while the network or the upstream fails", "", *warnings,
        f"Each system is asked {times.rate} queries a second for names never asked before, alone in its network "
        f"namespaces, over a link of 10 ms. The fault begins at {times.begin_s:g} s and ends at {times.end_s:g} s, "
        f"where a row says nothing else; it is observed until {times.total_s:g} s. A cell has:", "",
        "- queries that failed (SERVFAIL, or no answer within 5 s), from the beginning of the fault on",
        "- p99 of the answered queries",
        "- time to recover: until a second begins in which 95 % are answered within 50 ms; counted from the end of "
        "the fault, or from its beginning where a path existed all the time (rows with *)", "",
        f"- {known['date']}, {known['took_s']} s: `{known['command']}`",
        f"- {facts.machine_line(known)}; load before: {known['load_before']:.2f}; its CPUs were idle "
        f"{known['idle_percent']} % of the time; {known['beside']} rows side by side{busy}",
        f"- medians of {known['rounds']} rounds; nailup {known['commit']}, {known['build_type']}" if known["rounds"] > 1
        else f"- one round; nailup {known['commit']}, {known['build_type']}",
        f"- {versions}", *[f"- left out: {sentence}" for sentence in known["left_out"]], ""]


def markdown(chosen, known, times, points):
    labels = [one.label for one in systems.SYSTEMS if any(one.label in points[row.name] for row in chosen)]
    lines, below = head(known, times), []
    lines += ["![Failures over time](faults.svg)", "", "| fault | " + " | ".join(
        f"**{label}**" if label.startswith(systems.OURS) else label for label in labels) + " | the goal |",
        "|---" * (len(labels) + 2) + "|"]
    for one in chosen:
        of_systems = {label: verdict.median([verdict.figures(several, times.begin_s) for several in rounds])
                      for label, rounds in points[one.name].items()}
        said = verdicts(of_systems, one, times)
        star = " *" if one.since == "begin" else ""
        lines.append("| " + " | ".join(
            [one.title + star, *[cell_words(of_systems[label], one, times) if label in of_systems else "-"
                                 for label in labels], goal_words(said)]) + " |")
        below += [f"- {one.title}: {sentence}" for _, _, sentence in said]
    lines += ["", "## The faults", "", *[f"- {one.title}: {one.about}" for one in chosen], "",
              "## Where the goal does not hold", "",
              "The goal: no more failures than the best of the others, the first to recover, p99 no worse than twice the best "
              "(two queries, 1 % of the failures and 0.1 s are noise). A percentile leaves out failed queries, so a peer that fails more of them has fewer slow answers: the list names such rows, but they do not count as missed.", "",
              *(below or ["- nowhere in this run"]), ""]
    return "\n".join(lines)


def write(out, chosen, known, times, points):
    write_csv(out / "faults.csv", chosen, times, points)
    (out / "faults.md").write_text(markdown(chosen, known, times, points), encoding="utf-8")
    foot = [f"{known['date']}; {facts.machine_line(known)}", known["command"]
            + ("; made with --quick, no measurement" if known["quick"] else "")]
    (out / "faults.svg").write_text(strips.chart(chosen, times, points, foot), encoding="utf-8")
