#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Looks for knots: files of one folder that need each other's functions.

layers.py checks includes. A header without a .c hides such a knot, so this test asks the object
files of a build: `nm` says which symbols an object defines and which it needs. A knot is a strongly
connected component of that graph. A pair of files that share one idea may call each other; more
than KNOT_MAX files may not. A symbol that several objects define (main) joins nothing.
"""
import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path

KNOT_MAX = 3
DEFINED = set("TDBRVWCGS")  # the letters that nm uses for global symbols


def objects(root, build):
    """Returns {place ('src/cache/entry.c'): object} for each source of src and bench in the build."""
    commands = json.loads((build / "compile_commands.json").read_text())
    found = {}
    for command in commands:
        source = Path(command["file"])
        words = shlex.split(command["command"])
        if source.is_relative_to(root) and source.relative_to(root).parts[0] in ("src", "bench"):
            found[str(source.relative_to(root))] = Path(command["directory"], words[words.index("-o") + 1])
    return {place: path for place, path in found.items() if path.is_file()}


def symbols(paths):
    """Returns the (defined, needed) names of each object."""
    listed = subprocess.run(["nm", "--portability", "--extern-only", "--print-file-name", *map(str, paths)],
                            check=True, capture_output=True, text=True).stdout
    found = {path: (set(), set()) for path in paths}
    for line in listed.splitlines():
        path, rest = line.split(": ", 1)
        name, letter = rest.split()[:2]
        defined, needed = found[Path(path)]
        (defined if letter in DEFINED else needed).add(name)
    return found


def call_graph(found):
    """Returns {place: the places in its folder that it needs}. found: {place: (defined, needed)}."""
    owners = {}
    for place, (defined, _) in found.items():
        for name in defined:
            owners.setdefault(name, []).append(place)
    owner = {name: places[0] for name, places in owners.items() if len(places) == 1}
    graph = {}
    for place, (_, needed) in found.items():
        targets = {owner[name] for name in needed if name in owner}
        graph[place] = {target for target in targets
                        if target != place and Path(target).parent == Path(place).parent}
    return graph


def reachable(graph, start):
    seen, waiting = set(), [start]
    while waiting:
        for target in graph[waiting.pop()]:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def knots(graph):
    """Returns the strongly connected components with more than one file, the largest first."""
    reach = {place: reachable(graph, place) for place in graph}
    groups = {frozenset([place, *(other for other in reach[place] if place in reach[other])])
              for place in graph}
    return sorted((sorted(group) for group in groups if len(group) > 1), key=lambda group: (-len(group), group))


def describe(graph, knot):
    return "\n".join(f"  {place} needs {', '.join(sorted(graph[place] & set(knot)))}" for place in knot)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=here)
    parser.add_argument("--build", type=Path, default=here / "build/release")
    options = parser.parse_args()
    paths = objects(options.root.resolve(), options.build)
    read = symbols(list(paths.values())) if paths else {}
    graph = call_graph({place: read[path] for place, path in paths.items()})
    if not any(graph.values()):
        print(f"no object files under {options.build} that call each other: build it first")
        return 1
    all_knots = knots(graph)
    large = [knot for knot in all_knots if len(knot) > KNOT_MAX]
    for knot in large:
        print(f"a knot of {len(knot)} files:\n{describe(graph, knot)}")
    print(f"{len(graph)} objects, {len(all_knots)} knots, {len(large)} of more than {KNOT_MAX} files")
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main())
