#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Checks the rows of include/nailup/*.def.

Every row ends in a sentence, and no row of a file has the name of another. Metrics obey
Prometheus's rules for names and labels. Rows of one name are adjacent and have one kind.
"""
import argparse
import re
import sys
from pathlib import Path

import c_source

ROW = re.compile(r"^([A-Z][A-Z0-9_]*)\(", re.MULTILINE)
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
METRIC_NAME = re.compile(r"[a-z][a-z0-9_]*")
LABELS = re.compile(r'(?:[a-z][a-z0-9_]*="[^"\\\n]*")(?:,[a-z][a-z0-9_]*="[^"\\\n]*")*')
METRICS_ARGUMENTS = {"METRIC": 5, "HISTOGRAM": 3, "FAMILY": 2, "PER_UPSTREAM": 4, "PER_RPZ_ZONE": 4,
                     "PER_HELD_ZONE": 4, "PER_VIEW": 4}
# The arguments that form a row's name. In all other tables this is the first argument.
NAME_AT = {"OPTION": slice(1, 2), "PER_VIEW": slice(0, 2), "PROGRAM_OPTION": slice(0, 3),
           "PROGRAM_COMMAND": slice(0, 2)}
UNIT_NOT_BASE = re.compile(r"_(ms|us|milliseconds|microseconds|kib|mib|kilobytes|megabytes)(_|$)")


def split_arguments(text):
    """Splits the arguments of a row at commas outside of strings and parentheses."""
    arguments, depth, start, quoted, at = [], 0, 0, False, 0
    while at < len(text):
        char = text[at]
        if quoted:
            at += char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif char == "," and depth == 0:
            arguments.append(text[start:at].strip())
            start = at + 1
        at += 1
    arguments.append(text[start:at].strip())
    return arguments


def string_of(argument):
    """Returns the text of a C string with its pieces joined, or None if the argument is not a string."""
    if not argument.startswith('"'):
        return None
    return "".join(STRING.findall(argument)).replace('\\"', '"')


def rows_of(path):
    """Yields (line, macro, arguments) for each row. Directives and comments are left out."""
    text = c_source.without_comments(path.read_text())
    text = c_source.DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    for match in ROW.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield line, match.group(1), split_arguments(text[match.end():])


class Tables:
    def __init__(self, root):
        self.root = root
        self.problems = []
        self.count = 0

    def complain(self, path, line, sentence):
        self.problems.append(f"{path.relative_to(self.root)}:{line}: {sentence}")


def check_rows(tables, path):
    seen = {}
    for line, macro, arguments in rows_of(path):
        tables.count += 1
        sentence = string_of(arguments[-1])
        if sentence is None or len(sentence.strip()) < 2:
            tables.complain(path, line, f"{macro}({arguments[0]}): the last argument is no sentence")
        at = NAME_AT.get(macro, slice(0, 1))
        name = ", ".join(arguments[at]) or arguments[-1]
        if name in seen:
            tables.complain(path, line, f"{name} is already in line {seen[name]}")
        seen[name] = line


def check_metric_name(tables, path, line, name, kind):
    if not METRIC_NAME.fullmatch(name) or "__" in name or name.startswith("nailup_"):
        tables.complain(path, line, f"'{name}' is no name of a metric (nailup_ is put before it)")
    if UNIT_NOT_BASE.search(name):
        tables.complain(path, line, f"'{name}': metrics are in seconds and bytes")
    if (kind == "COUNTER") != name.endswith("_total"):
        tables.complain(path, line, f"'{name}': counters end in _total, and nothing else does")
    if kind == "HISTOGRAM" and not name.endswith("_seconds"):
        tables.complain(path, line, f"'{name}': histograms end in _seconds")


def check_families(tables, path, families, labelled):
    """Checks that the rows of a metric have the same help text."""
    for name in labelled - families.keys():
        tables.complain(path, labelled_line(path, name), f"'{name}' has labels and no FAMILY")
    for name in families.keys() - labelled:
        tables.complain(path, families[name], f"FAMILY of '{name}', which has no labels")


def labelled_line(path, name):
    return next(line for line, macro, arguments in rows_of(path)
                if macro in ("METRIC", "PER_VIEW") and string_of(arguments[1]) == name)


def check_metrics(tables, path):
    kinds, series, previous, families, labelled = {}, set(), None, {}, set()
    for line, macro, arguments in rows_of(path):
        if len(arguments) != METRICS_ARGUMENTS.get(macro):
            tables.complain(path, line, f"{macro} with {len(arguments)} arguments")
            continue
        if macro == "FAMILY":
            families[string_of(arguments[0])] = line
            continue
        name = string_of(arguments[1]) or ""
        kind = {"HISTOGRAM": "HISTOGRAM", "PER_VIEW": "COUNTER"}.get(macro) or arguments[2]
        at = {"METRIC": 3, "PER_VIEW": 2}.get(macro)
        labels = string_of(arguments[at]) if at else ""
        if labels and LABELS.fullmatch(labels):
            labelled.add(name)
        if kind == "SECONDS" and macro == "PER_UPSTREAM":
            kind = "GAUGE"
            if not name.endswith("_seconds"):
                tables.complain(path, line, f"'{name}': times end in _seconds")
        check_metric_name(tables, path, line, name, kind)
        if kind not in ("COUNTER", "GAUGE", "HISTOGRAM"):
            tables.complain(path, line, f"{kind} is no kind")
        if labels is None or (labels and not LABELS.fullmatch(labels)):
            tables.complain(path, line, f"{arguments[0]}: labels are written name=\"value\"")
        if (name, labels) in series:
            tables.complain(path, line, f"{name}{{{labels}}} occurs twice")
        if name in kinds and name != previous:
            tables.complain(path, line, f"the rows of '{name}' are not adjacent")
        if kinds.setdefault(name, kind) != kind:
            tables.complain(path, line, f"'{name}' has two kinds")
        series.add((name, labels))
        previous = name
    check_families(tables, path, families, labelled)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    tables = Tables(parser.parse_args().root.resolve())
    paths = sorted((tables.root / "include/nailup").glob("*.def"))
    for path in paths:
        check_rows(tables, path)
        if path.name == "metrics.def":
            check_metrics(tables, path)
    for problem in tables.problems:
        print(problem)
    print(f"{len(paths)} tables, {tables.count} rows, {len(tables.problems)} problems")
    return 1 if tables.problems or not tables.count else 0


if __name__ == "__main__":
    sys.exit(main())
