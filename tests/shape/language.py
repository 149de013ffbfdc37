#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Looks for the phrases that break CONTRIBUTING.md's rule for language most often.

Usage: language.py [--root ROOT] [--count] [FOLDER...]

Reads comments of C, Python, shell and CMake files, string literals of tables (.def), comments and
titles of scenarios (.rpl), and prose (.md, manual pages, YAML). Prints each hit as
FILE:LINE: PHRASE in SENTENCE and exits 1 on any."""
import argparse
import re
import subprocess
import sys
from pathlib import Path

FOLDERS = ("src", "include", "bench", "tests", "docs", "man", "conf", "tools", "packaging", "completion", "schema",
           "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "CMakeLists.txt", "check", "demo",
           ".ci", ".clang-tidy")
EXEMPT = ("docs/glossary.md", "CONTRIBUTING.md", "tests/shape/language.py", "tests/shape/test_shape.py")
NOT_PROSE = ("corpus", "results", "unbound", "deckard")  # data, and files of other projects

# No sentence opens with one of the first list. No subject is one of the second list.
OPENINGS = re.compile(r"^(Of|As|And|But for|Else|Whom|Who|What|Whose|Those|Whoever|Nor|Nobody)\b(?! usual\b)")
PHRASES = [re.compile(words, re.IGNORECASE) for words in (
    r"\bnobody\b", r"\bsomebody\b", r"\bstrangers?\b", r"\bwhoever\b", r"\bwhom\b", r"\bof before\b",
    r"\bis told\b", r"\bare told\b",
    r"\bhas the word\b", r"\bthe word of\b", r"\bthe inside\b", r"\bby itself alone\b",
    r"\bcomes? to be\b", r"\bis of use\b", r"\bof no use\b", r"\bnothing of the sort\b", r"\bgoes without\b",
    r"\bstands? (in|at|for|between|behind|before|still|there|alone|together)\b", r"\blies in\b", r"\blies at\b",
    r"\bthat of before\b", r"\bbut those\b", r"\bto who\b", r"\bby who\b", r"\bfor who\b", r"\bwith who\b",
    r"\bof who\b", r"\bthis one's\b", r"\bby the way of\b", r"\bcircles?\b", r"\bas it was planned\b",
    r"\bneither\b", r"\bnor\b", r"\banew\b", r"\bany more\b", r"\ball the same\b", r"\bfor good\b", r"\bbut for\b",
    r"\bthereby\b", r"\bas such\b", r"\bthose (who|that|which)\b", r"\bis up to (?!\d)", r"\bknows no\b",
    r"\bof all others the\b", r"\b(an?|one|two) [\w -]{1,30} of (its|their|our) own\b",
    r"\bdear(er|est)?\b", r"\bas a rule\b", r"\b(can(not)?|could) be had\b", r"\bthe asking\b", r"\bas ever\b", r"\bno say\b",
    r"\bthere is none\b", r"\bits time is over\b", r"\bpast its end\b", r"\bparts? of (a|the) names?\b",
)]
# The name of a test is a sentence as well.
TEST_NAME = re.compile(r"(?m)^(?:static void\s+|\s*def )(test_(?:\w*_)?(?:who|whom|whoever|nobody|somebody|strangers?|told|"
                       r"neither|nor|anew|any_more|of_its_own|circles?|stands?_(?!for)\w+)(?:_\w+)?)\(")
COMMENT_C = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
COMMENT_HASH = re.compile(r"(?m)(?:^|\s)#(?!!)[^\n]*(?:\n\s*#[^\n]*)*|\"\"\".*?\"\"\"", re.DOTALL)
SCENARIOS = (".rpl", ".wrong", ".zones")
# Consecutive lines of a comment are one piece.
SCENARIO_LINE = re.compile(r"(?m)^[;#] .*(?:\n[;#] .*)*|^SCENARIO_BEGIN .*")
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')


def pieces(path, text):
    """Yields (offset, prose) for each piece of prose in the text."""
    if path.suffix in (".c", ".h"):
        found = COMMENT_C.finditer(text)
    elif path.suffix == ".def":
        found = [*COMMENT_C.finditer(text), *LITERAL.finditer(text)]
    elif path.suffix in (".md", ".1", ".in", ".rst"):
        yield 0, text
        return
    elif path.suffix in SCENARIOS:
        found = SCENARIO_LINE.finditer(text)
    else:
        found = COMMENT_HASH.finditer(text)
    for match in found:
        yield match.start(), match.group(0)


def plain(prose):
    """Blanks the markers of comments and the code in the prose, and keeps its length."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
    prose = re.sub(r"```.*?```", blank, prose, flags=re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", lambda match: "x" * len(match.group(0)), prose)
    return re.sub(r"(?m)^\s*(/\*|\*/|\*|//|#|; |SCENARIO_BEGIN |\"\"\"|\.\\\")|\*/", blank, prose)


def sentences(prose):
    """Yields (offset, sentence)."""
    start = 0
    for match in re.finditer(r"(?<=[.!?:])\s+(?=[A-Z`])|\n\s*\n|\n(?=\s*[-|.])", prose):
        yield start, prose[start:match.start()]
        start = match.end()
    yield start, prose[start:]


def complaints(path, text):
    for match in TEST_NAME.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1), match.group(1).replace("_", " ")
    for begin, prose in pieces(path, text):
        for offset, sentence in sentences(plain(prose)):
            words = sentence.strip(" \t\n\"|-*#")
            if len(words.split()) < 3:
                continue
            hits = [OPENINGS.search(words), *(phrase.search(words) for phrase in PHRASES)]
            for hit in hits:
                if hit:
                    skip = len(sentence) - len(sentence.lstrip())
                    line = text.count("\n", 0, begin + offset + skip) + 1
                    yield line, hit.group(0), " ".join(words.split())[:100]


def files_of(root, folders):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *folders], cwd=root, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    suffixes = (".c", ".h", ".def", ".md", ".1", ".in", ".py", ".sh", ".txt", ".yaml", ".service", "", *SCENARIOS)
    for name in listed:
        path = Path(name)
        if name and name not in EXEMPT and path.suffix in suffixes and (root / path).is_file() \
                and not any(part in NOT_PROSE for part in path.parts):
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--count", action="store_true", help="hits of each folder only")
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    options = parser.parse_args()
    total, counts = 0, {}
    for path in files_of(options.root, [f for f in options.folders if (options.root / f).exists()]):
        try:
            text = (options.root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for line, phrase, sentence in complaints(path, text):
            total += 1
            folder = "/".join(path.parts[:2])
            counts[folder] = counts.get(folder, 0) + 1
            if not options.count:
                print(f'{path}:{line}: "{phrase}" in: {sentence}')
    if options.count:
        for folder, count in sorted(counts.items()):
            print(f"{count:6} {folder}")
    print(f"{total} sentences to rewrite")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
