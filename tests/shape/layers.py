#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Checks the shape of the source against the tables of src/README.md.

Fails on a name in the map that is gone, an include that goes up, a library used outside of its files, a
cycle of modules, a function name that two files share, a header that does not compile alone, and a file
without its two SPDX lines. Prints how long functions and files are, without judging.
"""
import argparse
import fnmatch
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import c_source

LONG_FILE = 400
SPDX = ("SPDX-License-Identifier: BSD-3-Clause", "SPDX-FileCopyrightText:")
OWN_INCLUDES = "nailup"  # include/nailup, which all folders may include


def table(readme, first_cell):
    """Returns the rows of the Markdown table whose second column has the head first_cell."""
    rows, inside = [], False
    for line in readme.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif len(cells) > 1 and cells[1] == first_cell:
            inside = True
        elif inside and not set(line) <= set("|-: "):
            rows.append(cells)
    return rows


class Tree:
    def __init__(self, root):
        self.root = root
        readme = (root / "src/README.md").read_text()
        self.layers = {row[1]: set(row[2].split()) - {"-"} for row in table(readme, "folder")}
        self.ranks = {row[1]: int(row[0]) for row in table(readme, "folder")}
        self.doors = [(row[0], row[1].split(), row[2].split()) for row in table(readme, "headers")]
        self.files = sorted(
            path for folder in ("src", "bench") for path in (root / folder).rglob("*.[ch]"))
        self.texts = {path: path.read_text() for path in self.files}
        self.problems = []

    def complain(self, path, line, sentence):
        self.problems.append(f"{path.relative_to(self.root)}:{line}: {sentence}")

    def place(self, path):
        """Returns 'cache/entry.c' for src/cache/entry.c, and 'bench/main.c' for bench/main.c."""
        relative = path.relative_to(self.root)
        return relative.relative_to("src") if relative.parts[0] == "src" else relative

    def resolve(self, path, header):
        """Returns the file that an #include "header" means, or None."""
        if "/" not in header:
            return path.parent / header if self.place(path).parts[0] == "bench" else None
        for base in (self.root / "src", self.root):
            if (base / header).is_file():
                return base / header
        return None


def check_tables(tree):
    readme = tree.root / "src/README.md"
    if not tree.layers or not tree.doors:
        tree.complain(readme, 1, "the table of layers or of doors was not found")
    for folder, allowed in tree.layers.items():
        for other in allowed:
            if other not in tree.layers:
                tree.complain(readme, 1, f"{folder} may include {other}, which is no layer")
            elif tree.ranks[other] >= tree.ranks[folder]:
                tree.complain(readme, 1, f"{folder} may include {other}, which is not below it")


def check_map(tree):
    """Checks that the files named in src/README.md exist, and that its functions are in the files that it names."""
    readme = tree.root / "src/README.md"
    for line, text in enumerate(readme.read_text().splitlines(), 1):
        for name in re.findall(r"`((?:\.\./)?[\w/]+\.(?:[ch]|def))`", text):
            if not (tree.root / "src" / name).is_file():
                tree.complain(readme, line, f"{name} is not there")
        for function, name in re.findall(r"`(\w+)\(\)` in `([\w/]+\.c)`", text):
            path = tree.root / "src" / name
            if function not in {found for found, _, _ in c_source.functions(tree.texts.get(path, ""))}:
                tree.complain(readme, line, f"{name} has no {function}()")


def check_own_include(tree, path, line, header):
    folder = tree.place(path).parts[0]
    target = header.split("/")[0]
    if target == OWN_INCLUDES:
        return
    found = tree.resolve(path, header)
    if found is None or not found.is_file():
        tree.complain(path, line, f'"{header}" is not a header of ours with its folder named')
        return
    target = tree.place(found).parts[0]
    if target != folder and target not in tree.layers.get(folder, ()):
        tree.complain(path, line, f"{folder} may not include {target}")


def check_door(tree, path, line, header):
    place = str(tree.place(path))
    for library, headers, doors in tree.doors:
        if any(fnmatch.fnmatch(header, pattern) for pattern in headers):
            if not any(fnmatch.fnmatch(place, door) for door in doors):
                tree.complain(path, line, f"{library} is used only in {', '.join(doors)}")
    if header.split("/")[0] in tree.layers and tree.resolve(path, header):
        tree.complain(path, line, f"<{header}> is ours: write it in quotes")


def check_includes(tree):
    for path, text in tree.texts.items():
        folder = tree.place(path).parts[0]
        if folder not in tree.layers:
            tree.complain(path, 1, f"{folder} is not in the table of src/README.md")
        for line, is_system, header in c_source.includes(text):
            (check_door if is_system else check_own_include)(tree, path, line, header)


def module_graph(tree):
    """Returns {module: the modules that it includes}. x.c and x.h are one module."""
    graph = {}
    for path, text in tree.texts.items():
        module = str(tree.place(path).with_suffix(""))
        edges = graph.setdefault(module, {})
        for line, is_system, header in c_source.includes(text):
            found = None if is_system else tree.resolve(path, header)
            if found and found.suffix == ".h" and OWN_INCLUDES != header.split("/")[0]:
                other = str(tree.place(found).with_suffix(""))
                if other != module:
                    edges.setdefault(other, (path, line))
    return graph


def check_cycles(tree):
    graph = module_graph(tree)
    state = {}  # absent: not visited; 1: on the path; 2: finished
    trail = []

    def visit(module):
        state[module] = 1
        trail.append(module)
        for other, (path, line) in sorted(graph.get(module, {}).items()):
            if state.get(other) == 1:
                cycle = trail[trail.index(other):] + [other]
                tree.complain(path, line, "a cycle of modules: " + " -> ".join(cycle))
            elif other not in state:
                visit(other)
        trail.pop()
        state[module] = 2

    for module in sorted(graph):
        if module not in state:
            visit(module)


def library_flags():
    flags = []
    for package in ("libuv", "ldns", "openssl", "yaml-0.1", "liburcu-memb", "libxxhash", "libnghttp2"):
        done = subprocess.run(["pkg-config", "--cflags", package], capture_output=True, text=True)
        flags += done.stdout.split() if done.returncode == 0 else []
    return flags


def check_headers_compile(tree, compiler, build):
    headers = [path for path in tree.files if path.suffix == ".h"]
    include = [tree.root / "src", tree.root / "include", build / "include", tree.root / "bench"]
    command = [compiler, "-fsyntax-only", "-std=c17", "-D_GNU_SOURCE", "-D_LGPL_SOURCE", "-Wall",
               "-Wextra", "-Werror", "-x", "c", *[f"-I{folder}" for folder in include],
               *library_flags(), "-"]

    def compile_alone(path):
        source = f'#include "{path}"\n' * 2  # twice, so that the guard is checked, too
        return path, subprocess.run(command, input=source, capture_output=True, text=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, done in pool.map(compile_alone, headers):
            if done.returncode != 0:
                errors = [line for line in done.stderr.splitlines() if "error" in line]
                tree.complain(path, 1, "does not compile alone: " + (errors or ["?"])[0])
    return len(headers)


def check_spdx(tree):
    for folder in ("src", "include", "tests", "bench", "completion"):
        for path in sorted((tree.root / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".def", ".py", ".sh") or "corpus" in path.parts:
                continue
            lines = path.read_text().splitlines()[:3]
            if lines and lines[0].startswith("#!"):
                lines = lines[1:]
            if len(lines) < 2 or not all(want in line for want, line in zip(SPDX, lines)):
                tree.complain(path, 1, "does not open with the two SPDX lines")


def check_names(tree):
    """Checks that no two files share the name of a function, because a stack trace would be ambiguous."""
    first = {}
    for path, text in tree.texts.items():
        program = tree.place(path).parts[0] == "bench"
        for name, line, _ in c_source.functions(text):
            if path.suffix != ".c" or name == "main" or name.isupper():
                continue
            other = first.setdefault((program, name), path)
            if other != path:
                tree.complain(path, line, f"{name}() is also the name of a function in "
                              f"{other.relative_to(tree.root)}: put the module's name before it")


def share(sorted_values, part):
    return sorted_values[min(int(len(sorted_values) * part), len(sorted_values) - 1)]


def print_lengths(tree):
    found = {}
    for path, text in tree.texts.items():
        for name, line, length in c_source.functions(text):
            where = f"{path.relative_to(tree.root)}:{line}"
            found.setdefault(tree.place(path).parts[0], []).append((length, name, where))
    found["all"] = [function for functions in found.values() for function in functions]
    print("function lengths     count  half  nine in ten  longest")
    for folder, functions in found.items():
        lengths = sorted(length for length, _, _ in functions)
        if lengths:
            print(f"  {folder:<18} {len(lengths):>5} {share(lengths, 0.5):>5} "
                  f"{share(lengths, 0.9):>12} {lengths[-1]:>8}")
    print("the longest")
    for length, name, where in sorted(found["all"], reverse=True)[:10]:
        print(f"  {length:>4} {name}  {where}")
    for path, text in tree.texts.items():
        if text.count("\n") > LONG_FILE:
            print(f"a file of {text.count(chr(10))} lines: {path.relative_to(tree.root)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=here)
    parser.add_argument("--build", type=Path, default=here / "build/release",
                        help="where version.h was generated")
    parser.add_argument("--cc", default="gcc")
    options = parser.parse_args()

    tree = Tree(options.root.resolve())
    check_tables(tree)
    check_map(tree)
    check_includes(tree)
    check_cycles(tree)
    check_names(tree)
    check_spdx(tree)
    headers = check_headers_compile(tree, options.cc, options.build)
    print_lengths(tree)
    for problem in tree.problems:
        print(problem)
    print(f"{len(tree.files)} files, {headers} headers, {len(tree.problems)} problems")
    return 1 if tree.problems else 0


if __name__ == "__main__":
    sys.exit(main())
