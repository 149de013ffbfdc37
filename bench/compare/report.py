# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Makes tables in Markdown and charts in SVG from the rows of a run."""

import statistics

import charts
import facts
import measure
import programs
import summary
import targets
from cells import CELLS

COLUMNS = ["server", "upstream over", "CPU us per query", "to ours", "answers/s", "its CPU %", "at rate /s",
           "p50 us", "p99 us", "CPU us at the rate", "queries per write", "the same at the rate",
           "asked over it %",
           "failed %", "failed % at the rate", "CPU taken %"]

OPTIMISED = ("Release", "RelWithDebInfo")


def shown(value, decimals=2):
    return "-" if value is None else f"{value:,.{decimals}f}"


def label(results, server):
    return programs.label(server, results.version(server))


def table_row(results, cell, server, transport):
    def of(metric, who=server):
        return results.figure(cell.name, who, transport, metric)

    cpu, ours, rate = of(summary.CPU_MAX), of(summary.CPU_MAX, programs.OURS), \
        results.rate(cell.name, server, transport)
    name = label(results, server)
    words = [f"**{name}**" if server == programs.OURS else name, programs.TRANSPORT_NAMES[transport],
             shown(cpu), shown(cpu / ours if cpu and ours else None), shown(of(summary.QPS), 0),
             shown(of(summary.ITS_CPU), 0), shown(rate, 0), shown(of(summary.P50), 0), shown(of(summary.P99), 0),
             shown(of(summary.CPU_RATE)), shown(of(summary.PER_WRITE), 1),
             shown(of(summary.PER_WRITE_RATE), 1),
             shown(results.share_over(cell.name, server, transport) if cell.role != "hit" else None, 1),
             shown(of(summary.FAILED_MAX)),
             shown(of(summary.FAILED_RATE)), shown(results.taken(cell.name, server, transport), 0)]
    return "| " + " | ".join(words) + " |"


def cell_table(results, cell):
    rows = [table_row(results, cell, server, transport)
            for server, transport in results.servers(cell.name)]
    settings, distance = (", ".join(f"{name} {value}" for name, value in some.items())
                          for some in (cell.settings, cell.distance))
    how = (f"`{cell.name}`: " + (f"{cell.in_flight} queries in flight; " if cell.in_flight else
                                 "not saturated; ") + f"at most {cell.rate:,} a second"
           + (f"; responder: {settings}" if settings else "")
           + (f"; distance: {distance}" if distance else ""))
    return "\n".join([f"## {cell.title}", "", how, "", "| " + " | ".join(COLUMNS) + " |",
                      "|---" * len(COLUMNS) + "|", *rows, ""])


def better_lines(results, cells):
    found = summary.better(results, cells)
    for one in found:
        where = f"over {programs.TRANSPORT_NAMES[one.transport]}"
        at = f" at {one.rate:,}/s" if one.metric.mode == "rate" and one.rate else ""
        decimals = one.metric.decimals
        noise = ", which is within noise" if one.is_noise() else ""
        by = "" if one.metric.unit == "%" else f", {one.percent():.0f} % better{noise}"
        yield (f"- `{one.cell.name}` {where}, {one.metric.title}{at}: {label(results, one.server)} "
               f"{one.theirs:,.{decimals}f} {one.metric.unit}, nailupd {one.ours:,.{decimals}f}{by}")
    if not found:
        yield "- nowhere in this run"


def weak_spots(results, cells):
    lines = ["## Where others are better", "",
             "Every figure of a peer that is better than ours in the same cell over the same "
             "transport: their best round against our median, and for percentiles the medians.", "", *better_lines(results, cells)]
    left_out = list(summary.not_compared(results, cells))
    if left_out:
        lines += ["", f"Not compared, as more than {summary.FAILED_LIMIT_PERCENT:g} % of the queries "
                  "failed or the rates differ:", "", *[f"- {one}" for one in left_out]]
    return "\n".join(lines + [""])


def series_table(cells_series, played):
    lines = ["## Over time", "", "| series | server | queries | failed | p50 ms | p99 ms | max ms | "
             "failed after it was back |", "|---|---|---|---|---|---|---|---|"]
    for one in cells_series:
        for name, points in played.get(one.name, {}).items():
            good = sorted(point.latency_ms for point in points if point.is_good)
            bad = [point for point in points if not point.is_good]
            back = one.dead[1] * max(p.due_s for p in points) if one.dead and points else None
            late = sum(point.due_s > back for point in bad) if back is not None else "-"
            at = [good[min(len(good) - 1, int(share * len(good)))] for share in (0.5, 0.99, 1)] \
                if good else [None] * 3
            lines.append(f"| {one.name} | {name} | {len(points)} | {len(bad)} | "
                         + " | ".join(shown(value, 1) for value in at) + f" | {late} |")
    return "\n".join(lines + [""])


def cable_lines(known, rows):
    """Says how exact the cable's distance was, and what it cost."""
    if known["no_cable"]:
        far = ", ".join(f"`{cell.name}`" for cell in CELLS if cell.distance)
        return [f"- **there was no cable** ({known['no_cable']}): the responder played the distance of "
                f"{far} and of the series. There connecting takes no time, the first answers of a "
                "connection are late instead, and no packet of a connection can be lost: in "
                "`miss-loss` UDP queries are lost, and connections are reset at their 1000th answer"]
    over = [row for row in rows if row.get("cable_packets")]
    if not over:
        return []
    at_rate = [row for row in over if row["mode"] == "rate"]
    late, cpu = ([row[name] for row in at_rate] for name in ("cable_late_p99_us", "cable_cpu_percent"))
    dropped = sum(row["cable_dropped"] for row in over)
    return [f"- over the cable at a rate: packets were late by {statistics.median(late):.0f} us (p99, "
            f"median round; {max(late)} in the worst), and the cable took {statistics.median(cpu):.0f} % of a CPU "
            f"({max(cpu):.0f} % at most). Apart from configured losses it dropped {dropped:,} of "
            f"{sum(row['cable_packets'] for row in over):,} packets"]


def stop_lines(rows):
    """Says for how long the machine itself stopped the servers' CPU. The rows of older runs do not have this."""
    stops = [row["cpu_stopped_us"] for row in rows
             if row["mode"] == "rate" and isinstance(row.get("cpu_stopped_us"), (int, float))]
    if not stops:
        return []
    again = sum(row["repeats"] for row in rows)
    return [f"- at a rate that CPU stopped for up to {statistics.median(stops):.0f} us in the median round, "
            f"{max(stops):.0f} in the worst; {again} measurements were made again after a stop of more than "
            f"{measure.STOP_LIMIT_US} us"]


def trust(known, rows):
    """Says how much of the machine was available to the measurement."""
    taken = [row["taken_by_others_percent"] for row in rows if row["taken_by_others_percent"] != ""]
    got = [row["server_cpu_percent"] for row in rows
           if row["mode"] == "max" and isinstance(row["server_cpu_percent"], (int, float))]
    lag = [row["send_lag_p99_us"] for row in rows if row["mode"] == "rate"]
    lines = []
    if got:
        lines.append(f"- saturated servers had {statistics.median(got):.0f} % of their CPU in the "
                     f"median round, {min(got):.0f} % in the worst")
    if taken:
        bad = sum(value > measure.TAKEN_LIMIT_PERCENT for value in taken)
        lines.append(f"- other programs took {statistics.median(taken):.1f} % of that CPU in the "
                     f"median round, {max(taken):.0f} % in the worst; more than "
                     f"{measure.TAKEN_LIMIT_PERCENT} % in {bad} of {len(taken)}")
        if bad > len(taken) / 10:
            lines.append("- the machine was busy with other programs, which used the rest that `--realtime` left: saturated "
                         "servers lost up to a twentieth of their CPU, and caches were shared" if known.get("realtime") else
                         "- **the machine was busy: only CPU per query means much**")
    if lag:
        lines.append(f"- the load was late by {statistics.median(lag):.0f} us (p99, median round)")
    lines += stop_lines(rows) + cable_lines(known, rows)
    if known["without_route"]:
        lines.append(f"- servers tried {known['without_route']} times to send beyond loopback, in vain")
    elif known["without_route"] == 0:
        lines.append("- no server tried to send anything beyond loopback")
    return lines


def head(known, args, rows):
    versions = ", ".join(programs.label(name, version) for name, version in known["versions"].items())
    warnings = ["**Made with --quick: a smoke test, not a measurement.**", ""] if args.quick else []
    if known["build_type"] not in OPTIMISED:
        warnings += [f"**nailupd is a build of type {known['build_type']}: its figures mean nothing.**", ""]
    where = "a network namespace with loopback only" if known["namespace"] else "the machine's loopback"
    where += "" if known["no_cable"] else " and the cable"
    return "\n".join([
        "# nailupd and its peers", "", *warnings,
        "Our figures are medians of the rounds; for the others the best round counts. Percentiles are medians "
        "for all. bench/README.md explains the columns.", "",
        f"- {known['date']}, {known['took_s']} s: `{known['command']}`",
        f"- {facts.machine_line(known)}; load before: {known['load_before']:.2f}",
        f"- {known['pinning']}, in {where}",
        f"- {known['rounds']} rounds of {known['seconds']:g} s after {known['warmup']:g} s each; "
        f"nailup {known['commit']}, {known['build_type']}",
        f"- {versions}", *trust(known, rows),
        *[f"- left out: {sentence}" for sentence in known["left_out"]], ""])


def write(out, args, known, rows, played):
    results = summary.Results(rows)
    cells = [cell for cell in args.cells if results.servers(cell.name)]
    drawn = write_charts(out, args, known, results, played)
    parts = [head(known, args, rows),
             *[f"![{title}]({name})\n" for name, title in drawn if name in SHOWN],
             *[cell_table(results, cell) for cell in cells]]
    if rows:
        parts += [weak_spots(results, cells), "\n".join(targets.lines(results))]
    if any(played.values()):
        parts.append(series_table(args.series, played))
        parts += [f"![{title}]({name})\n" for name, title in drawn if name.startswith("series-")]
    others = [f"[{title}]({name})" for name, title in drawn
              if name not in SHOWN and not name.startswith("series-")]
    parts += ["More charts: " + ", ".join(others) + "\n"] if others else []
    (out / "results.md").write_text("\n".join(parts), encoding="utf-8")


def footer(known):
    return [f"{known['date']}; {facts.machine_line(known)}", known["command"],
            "nailupd: median of the rounds; the others: best round; percentiles: medians"
            + ("; made with --quick, no measurement" if known["quick"] else "")]


def chart_label(results, cell, server, transport, mode):
    words = label(results, server)
    rate, ours = (results.rate(cell, who, transport) for who in (server, programs.OURS))
    if mode == "rate" and ours and rate != ours:
        words += f", {rate:,}/s"
    return words + (" (fails)" if results.fails_too_often(cell, server, transport, mode) else "")


def group(results, title, cell, transport, metrics):
    """Returns a group of charts.dots. The lowest first figure is on top."""
    lines = []
    for server, over in results.servers(cell):
        values = [results.figure(cell, server, over, metric) for metric in metrics]
        if over == transport and any(values):
            lines.append((chart_label(results, cell, server, over, metrics[0].mode),
                          server == programs.OURS, values))
    return title, sorted(lines, key=lambda line: [value or float("inf") for value in line[2]])


def groups(results, hit, miss, metrics):
    out = [group(results, "Cache hit", hit, "udp", metrics)] if hit else []
    return out + [group(results, f"Miss over {programs.TRANSPORT_NAMES[transport]}", miss, transport,
                        metrics) for transport in programs.TRANSPORTS]


SHOWN = ("cpu.svg", "latency.svg")  # these charts come before the tables
FAILS = f"(fails): more than {summary.FAILED_LIMIT_PERCENT:g} % of its queries failed or were lost."
LATENCIES = (summary.P50, summary.P99)
LATENCY_MARKS = [("p50", ""), ("p99", "hollow")]


def write_charts(out, args, known, results, played):
    """Writes the charts. Returns [(file, title)] of those with data."""
    drawn = []

    def save(name, title, svg):
        (out / name).unlink(missing_ok=True)  # an earlier run has left it
        if svg:
            (out / name).write_text(svg, encoding="utf-8")
            drawn.append((name, title))

    foot, title = footer(known), "CPU per query, saturated"
    save("cpu.svg", title, charts.dots(
        title, "One thread on one CPU, 100 queries in flight, an upstream that "
        f"answers at once. {FAILS}", "CPU us per query",
        groups(results, "hit", "miss-0ms", [summary.CPU_MAX]), [("CPU", "")], foot))
    for name, title, hit, miss, where in (
            ("latency.svg", "Latency at a fixed rate", "hit", "miss-1ms", "an upstream 1 ms away"),
            ("latency-0ms.svg", "Latency at a fixed rate, upstream at once", "hit", "miss-0ms",
             "an upstream that answers at once"),
            ("latency-20ms.svg", "Latency at a fixed rate, 20 ms away", None, "miss-20ms",
             "an upstream 20 ms away"),
            ("latency-loss.svg", "Latency with loss", None, "miss-loss", "an upstream 20 ms away, "
             + ("which loses 1 % of UDP queries and resets connections at their 1000th"
                if known["no_cable"] else "1 % of packets lost each way")),
            ("latency-closing.svg", "Latency when connections close after 100 answers", None,
             "closing", "an upstream 1 ms away")):
        save(name, title, charts.dots(
            title, f"{'20,000 hits and ' if hit else ''}5,000 misses a second (fewer where a "
            f"server cannot, as it says then), {where}. {FAILS}", "us from when the query was due to its answer",
            groups(results, hit, miss, LATENCIES), LATENCY_MARKS, foot))
    for one in args.series:
        save(f"{one.name}.svg", one.title, series_chart(one, played.get(one.name, {}), known))
    return drawn


def series_chart(one, of_servers, known):
    panels = [(f"{name}: {sum(not point.is_good for point in points)} of {len(points)} failed",
               name.startswith(programs.OURS), points) for name, points in of_servers.items()]
    last = max((point.due_s for _, _, points in panels for point in points), default=0)
    seconds = one.seconds / 4 if known["quick"] else one.seconds
    dead = tuple(share * seconds for share in one.dead) if one.dead else None
    return charts.over_time(one.title, f"{one.about} {one.rate} queries a second to each of them, side "
                            "by side, each for its own name; without an answer after 3 s it is lost.",
                            max(seconds, last), panels, dead, footer(known)[:2])
