#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Runs a checker of C over the tree: format (clang-format), tidy (clang-tidy) or cppcheck.

Usage: lint.py format|tidy|cppcheck [--root ROOT] [--build BUILD]

CONTRIBUTING.md says what each checks. Exits 1 on any complaint, and 77 (skipped) if the checker is
not the version of Debian 12: other versions format and complain differently.
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LLVM_VERSION, CPPCHECK_VERSION = "14", "2.10"
SKIPPED = 77
BATCH = 16  # the files for one process


def checker(name, version):
    """Returns the path of the program in the wanted version, or None."""
    for program in (f"{name}-{version}", name):
        if shutil.which(program):
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"(version |Cppcheck ){re.escape(version)}\b", said):
                return program
    return None


def sources(root, *suffixes):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "src", "bench", "tests", "include"],
                            cwd=root, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in listed if Path(name).suffix in suffixes and (root / name).is_file()]


def in_batches(command, names, root):
    """Runs the command over the names on all CPUs. Returns [(batch, exit code, output)]."""
    batches = [names[i:i + BATCH] for i in range(0, len(names), BATCH)]

    def run(batch):
        done = subprocess.run([*command, *batch], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return batch, done.returncode, done.stdout or (done.stderr if done.returncode else "")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(run, batches))


def run_format(program, root, _build):
    command = [program, "--dry-run", "-Werror"]
    return in_batches(command, sources(root, ".c", ".h"), root)


def stamps(root, names, program):
    """Returns a digest for each file of everything that its result depends on: the file, all headers, and the
    checks."""
    common = hashlib.sha256(program.encode())
    for name in sorted([*sources(root, ".h", ".def"), ".clang-tidy", "tests/.clang-tidy"]):
        common.update(name.encode() + (root / name).read_bytes())
    found = {}
    for name in names:
        own = common.copy()
        own.update((root / name).read_bytes())
        found[name] = own.hexdigest()
    return found


def run_tidy(program, root, build):
    """Checks the files of the build, except unchanged files that have passed before."""
    commands = json.loads((build / "compile_commands.json").read_text())
    compiled = {command["file"] for command in commands}
    names = [name for name in sources(root, ".c") if str(root / name) in compiled]
    memory = build / "lint-tidy.json"
    passed = json.loads(memory.read_text()) if memory.is_file() else {}
    stamp = stamps(root, names, program)
    # -w: the build reports the compiler's own warnings.
    command = [program, "-p", str(build), "--quiet", "--extra-arg=-w"]
    results = in_batches(command, [name for name in names if passed.get(name) != stamp[name]], root)
    for batch, status, _ in results:
        passed.update((name, stamp[name] if status == 0 else "") for name in batch)
    memory.write_text(json.dumps(passed))
    return results


def run_cppcheck(program, root, build):
    """Checks src and bench. The build folder keeps what cppcheck knows about unchanged files."""
    memory = build / "lint-cppcheck"
    memory.mkdir(exist_ok=True)
    done = subprocess.run(
        [program, "--quiet", "--std=c11", "--enable=warning,performance,portability", "--error-exitcode=1",
         f"--suppressions-list={root}/tests/shape/cppcheck.txt", f"--cppcheck-build-dir={memory}", "-j",
         str(os.cpu_count()), "-I", "src", "-I", "include", "-I", str(build / "include"), "src", "bench"],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return [(["src", "bench"], done.returncode, done.stdout)]


CHECKERS = {
    "format": ("clang-format", LLVM_VERSION, run_format),
    "tidy": ("clang-tidy", LLVM_VERSION, run_tidy),
    "cppcheck": ("cppcheck", CPPCHECK_VERSION, run_cppcheck),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parents[2]
    parser.add_argument("checker", choices=CHECKERS)
    parser.add_argument("--root", type=Path, default=here)
    parser.add_argument("--build", type=Path, default=here / "build/release")
    options = parser.parse_args()
    name, version, run = CHECKERS[options.checker]
    program = checker(name, version)
    if not program:
        print(f"{name} {version} is not installed: tools/setup.sh test installs it on Debian 12")
        return SKIPPED
    results = run(program, options.root.resolve(), options.build.resolve())
    for _, status, output in results:
        if status != 0:
            print(output)
    print(f"{sum(len(batch) for batch, _, _ in results)} files or folders checked")
    return 1 if any(status for _, status, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
