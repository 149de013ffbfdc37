#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Checks the manual pages and the example configurations.

Every row of options.def, metrics.def and commands.def is in its built page, every TLS failure has a paragraph, every
alert has a heading in docs/operating.md, and mandoc finds no fault in any page. The daemon, where it is built, loads
every example, also from nailup.yaml(5), and loads its own print of it. Substitutes replace the files that an example
names."""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tables

# (table, macro, number of the argument with the row's name, page, form of the row in the page)
DOCUMENTED = [
    ("options.def", "OPTION", 1, "nailup.yaml.5", '.It Ic "{}"'),
    ("commands.def", "COMMAND", 0, "nailupctl.8", '.It Cm "{}"'),
    ("metrics.def", "METRIC", 1, "nailup-metrics.7", '.It Va "nailup_{}'),
    ("metrics.def", "HISTOGRAM", 1, "nailup-metrics.7", '.It Va "nailup_{}"'),
    ("metrics.def", "PER_UPSTREAM", 1, "nailup-metrics.7", '.It Va "nailup_{}"'),
    ("metrics.def", "PER_HELD_ZONE", 1, "nailup-metrics.7", '.It Va "nailup_{}"'),
    ("metrics.def", "PER_RPZ_ZONE", 1, "nailup-metrics.7", '.It Va "nailup_{}"'),
]

# Example configurations name files that a machine may lack: files that are read, and files that are written.
NAMED_CERTIFICATE = re.compile(r"/etc/nailup/[\w.-]+\.pem")
NAMED_STATE = re.compile(r"/var/lib/nailup/[\w.-]+")


def undocumented(root, pages):
    """Returns the rows that the page of their table lacks."""
    for table, macro, name_at, page, pattern in DOCUMENTED:
        path = root / "include/nailup" / table
        if not path.exists():
            continue
        text = (pages / page).read_text()
        for line, found, arguments in tables.rows_of(path):
            name = tables.string_of(arguments[name_at]) if found == macro else None
            if found == macro and pattern.format(name or arguments[name_at]) not in text:
                yield f"{table}:{line}: {name or arguments[name_at]} is not in {page}"


def untold(root, pages):
    """Yields the TLS failures that nailupd(8) does not explain."""
    text = (pages / "nailupd.8").read_text()
    path = root / "include/nailup/errors.def"
    for line, _, (name, sentence) in tables.rows_of(path):
        if name.startswith("TLS_") and f".It {tables.string_of(sentence)}\n" not in text:
            yield f"errors.def:{line}: {tables.string_of(sentence)} is not in nailupd.8"


def unexplained(root):
    """Returns alerts without a heading in docs/operating.md, and headings without an alert."""
    rules = (root / "conf/prometheus/nailup.rules.yml").read_text()
    text = (root / "docs/operating.md").read_text()
    alerts = set(re.findall(r"- alert: (\w+)", rules))
    headings = set(re.findall(r"^### (\w+)$", text, re.M))
    yield from (f"docs/operating.md: no heading for the alert {name}"
                for name in sorted(alerts - headings))
    yield from (f"docs/operating.md: there is no alert {name}" for name in sorted(headings - alerts))


def broken_links(root):
    """Returns links of our own pages to files and headings that do not exist."""
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            path, _, heading = target.partition("#")
            if "://" in path:
                continue
            file = (page.parent / path) if path else page
            if not file.exists():
                yield f"{page.name}: {target} is not there"
            elif heading and heading not in headings_of(file.read_text()):
                yield f"{page.name}: {target}: there is no such heading"


def headings_of(text):
    """Returns the headings of a page, in the form of link targets."""
    found = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in found}


# Findings about this machine rather than the page.
NO_FAULT = re.compile(r"referenced manual not found|outdated mandoc\.db")


def lint(pages):
    """Yields mandoc's findings about the pages."""
    if not shutil.which("mandoc"):
        print("mandoc is not installed: the pages are not checked")
        return
    run = subprocess.run(["mandoc", "-Tlint", "-Wstyle", *map(str, pages)],
                         capture_output=True, text=True)
    yield from (line for line in (run.stdout + run.stderr).splitlines()
                if not NO_FAULT.search(line))


def stand_in(folder):
    """Makes a certificate and its key in one file, for any file that an example names."""
    made = folder / "stand-in.pem"
    run = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-pkeyopt",
                          "ec_paramgen_curve:P-256", "-subj", "/CN=example", "-keyout", "-"],
                         capture_output=True, text=True)
    made.write_text(run.stdout)
    return made


def page_examples(pages, folder):
    """Writes each configuration in EXAMPLES of nailup.yaml(5) to a file. Returns the files."""
    text = (pages / "nailup.yaml.5").read_text().partition(".Sh EXAMPLES\n")[2].partition("\n.Sh ")[0]
    blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", text, re.S | re.M)
    for number, block in enumerate(blocks):
        made = folder / f"nailup.yaml.5-example-{number + 1}.yaml"
        made.write_text(block)
        yield made


def prepared(examples, folder):
    """Copies the examples. The copies name files in the folder instead of the system's."""
    certificate = stand_in(folder) if shutil.which("openssl") else None
    for example in examples:
        text, copy = example.read_text(), folder / example.name
        if NAMED_CERTIFICATE.search(text) and not certificate:
            print(f"openssl is not installed: {example.name} is not checked")
            continue
        text = NAMED_CERTIFICATE.sub(str(certificate), text)
        copy.write_text(NAMED_STATE.sub(lambda named: state(folder, named[0]), text))
        yield copy


def state(folder, named):
    """Makes a file that an example names: a cache, sessions or a list."""
    made = folder / Path(named).name
    made.touch()
    return str(made)


def refused(daemon, pages, examples):
    """Returns examples that the daemon refuses, or refuses after it has printed them."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as shown:
        examples = [*examples, *page_examples(pages, Path(shown))]
        yield from refused_copies(daemon, prepared(examples, Path(folder)))


def refused_copies(daemon, examples):
    for example in examples:
        check = subprocess.run([daemon, "-t", "-c", example], capture_output=True, text=True)
        if check.returncode != 0:
            yield f"{example.name}: exit {check.returncode}: {check.stderr.strip()}"
            continue
        printed = subprocess.run([daemon, "--print-config", "-c", example],
                                 capture_output=True, text=True)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(printed.stdout)
            file.flush()
            again = subprocess.run([daemon, "--print-config", "-c", file.name],
                                   capture_output=True, text=True)
        if again.returncode != 0 or again.stdout != printed.stdout:
            yield f"{example.name}: --print-config does not load back to the same: {again.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--build", type=Path, required=True)
    arguments = parser.parse_args()
    built = arguments.build / "man"
    pages = sorted(built.glob("*.[1-9]")) + sorted((arguments.root / "man").glob("*.[1-9]"))
    problems = [*undocumented(arguments.root, built), *untold(arguments.root, built), *lint(pages),
                *unexplained(arguments.root), *broken_links(arguments.root)]
    examples = sorted((arguments.root / "conf/examples").glob("*.yaml"))
    daemon = arguments.build / "src/nailupd"
    if daemon.exists():
        problems += refused(daemon, built, examples)
    else:
        print("nailupd is not built: unit/config/test_conf_files loads the examples")
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {len(examples)} examples, {len(problems)} problems")
    return 1 if problems or not pages or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
