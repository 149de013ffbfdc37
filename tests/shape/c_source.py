# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A small C scanner: it blanks comments and literals, and finds includes and functions.

It keeps every line in its place, so that an include or a function has the line number of the file."""
import re

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*", re.MULTILINE)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
NAME_BEFORE_PARENTHESIS = re.compile(r"([A-Za-z_]\w*)\s*\(")


def _blank(match, keep_literals):
    text = match.group(0)
    if text[0] in "\"'" and keep_literals:
        return text
    return re.sub(r"[^\n]", " ", text)


def without_comments(text, keep_literals=True):
    return TOKEN.sub(lambda match: _blank(match, keep_literals), text)


def includes(text):
    """Yields (line number, is system header, header) for each include."""
    text = without_comments(text)
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1) == "<", match.group(2)


def functions(text):
    """Yields (name, first line, lines from the name to the closing brace) for each definition."""
    text = without_comments(text, keep_literals=False)
    for hidden in (DIRECTIVE, ATTRIBUTE):
        text = hidden.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    depth = 0
    start = 0  # the start of the present piece at file level
    body = None
    for at, char in enumerate(text):
        if char == "{":
            if depth == 0:
                head = text[start:at]
                match = NAME_BEFORE_PARENTHESIS.search(head)
                is_function = match and head.rstrip().endswith(")") and "=" not in head
                body = (match.group(1), start + match.start(1)) if is_function else None
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                if body:
                    name, begin = body
                    first = text.count("\n", 0, begin) + 1
                    yield name, first, text.count("\n", begin, at) + 1
                body = None
                start = at + 1
        elif char == ";" and depth == 0:
            start = at + 1
