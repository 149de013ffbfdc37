#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Checks the Markdown pages: each relative link leads to a file and to a heading of it, and the table of
states in docs/nailing.md is the one of upstream/conn_state.h."""
import argparse
import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
STATE = re.compile(r'CONN_STATE\((\w+), "(\w+)",\s*(.*?),\s*"', re.DOTALL)
STATE_ROW = re.compile(r"^\| (\w+) \| [^|]+ \| ([\w, ]*) ?\|$", re.MULTILINE)
NOT_OURS = ("corpus",)


def anchor(heading):
    """Returns the anchor that a forge gives to a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    seen, found = {}, set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        name = anchor(heading)
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.add(name if count == 0 else f"{name}-{count}")
    return found


def broken_links(root, pages):
    """Yields a complaint for each relative link without a target."""
    for page in pages:
        text = FENCE.sub("", (root / page).read_text(encoding="utf-8"))
        for link in LINK.findall(text):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, fragment = link.partition("#")
            target = (root / page).parent / path if path else root / page
            if not target.exists():
                yield f"{page}: the link {link} leads to no file"
            elif fragment and target.suffix == ".md" and fragment not in anchors(target.read_text(encoding="utf-8")):
                yield f"{page}: the link {link} leads to no heading"


def wrong_states(header, page):
    """Yields a complaint for each state, or step from a state, that only one of the page and the header has."""
    rows = STATE.findall(header.replace("\\\n", ""))
    text_of = {name: text for name, text, _ in rows}
    code = {text: {text_of[after] for after in re.findall(r"CONN_BIT\((\w+)\)", mask)} for _, text, mask in rows}
    told = {state: set(re.findall(r"\w+", after)) for state, after in STATE_ROW.findall(page)
            if state != "state"}
    for state in sorted(code.keys() | told.keys()):
        if state not in code:
            yield f"docs/nailing.md: there is no state {state}"
        elif state not in told:
            yield f"docs/nailing.md: the state {state} is missing"
        elif code[state] != told[state]:
            yield f"docs/nailing.md: {state} leads to {sorted(told[state])}, in conn_state.h to {sorted(code[state])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    root = parser.parse_args().root
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root, check=True,
                            capture_output=True, text=True).stdout.split()
    pages = [Path(name) for name in listed if (root / name).is_file()
             and not any(part in NOT_OURS for part in Path(name).parts)]
    problems = [*broken_links(root, pages), *wrong_states((root / "src/upstream/conn_state.h").read_text(),
                                                          (root / "docs/nailing.md").read_text(encoding="utf-8"))]
    print("\n".join(problems) or f"{len(pages)} pages are right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
