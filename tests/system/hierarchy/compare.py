# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Asks resolvers every name and type of the hierarchy. Shows where they differ from the right answer, and so from
each other, with the known reasons.

    tests/system$ python3 -m hierarchy.compare [unbound] [named]
    tests/system$ python3 -m hierarchy.compare --names      the questions, as dnsperf and nailup-bench load take them
"""

import contextlib
import sys
import tempfile
import time
from collections import namedtuple

from .run import RESOLVERS, CannotRun, Hierarchy, Place
from .truth import judge, questions, truth
from .wire import AD
from .zones import FAILS, GOOD, ZONES

TIMEOUT_S = 12  # more than named needs for a query, and less than Unbound needs for a dead zone

Difference = namedtuple("Difference", "resolver question wrong reason")


def is_answer_of_other_zone(question, right, answer):
    return {"other.one.", "otherhalf.one."} & set(right.zones)


def is_late_failure(question, right, answer):
    return right.state != GOOD and answer["rcode"] is None


def is_late_beside_dead(question, right, answer):
    return answer["rcode"] is None and {"halfdead.one.", "differs.one."} & set(right.zones)


def is_cname_by_dname(question, right, answer):
    return question[1] == "CNAME" and any(kind == "DNAME" for _, kind, _ in right.rows)


def is_dname_left_out(question, right, answer):
    return {kind for _, kind, _ in right.rows ^ answer["rows"]} == {"DNAME"} and answer["rows"] < right.rows


def is_without_glue(question, right, answer):
    return answer["rcode"] == "SERVFAIL" and "unglued.stingy.one." in right.zones


# (resolver, whether it explains a difference, the reason)
REASONS = [
    ("unbound", is_late_failure, "retries dead servers for longer than the client waits"),
    ("named", is_late_failure, "waits for loops of delegations without glue until the question times out"),
    ("unbound", is_late_beside_dead, "now and then has only dead servers left to try when the client gives up"),
    ("unbound", is_answer_of_other_zone, "takes an answer with the SOA of another zone for one without data"),
    ("unbound", is_without_glue, "fails for all 49 questions about a zone whose referral lacks glue, in each of 8 runs of 1.17.1"),
    ("unbound", is_cname_by_dname, "follows the CNAME that a DNAME made, although the query asks for a CNAME"),
    ("unbound", is_dname_left_out, "omits a DNAME from a chain whose parts were cached at different times"),
]


def reason_for(resolver, question, right, answer):
    """Returns the known reason for a difference, or None."""
    return next((why for who, covers, why in REASONS if who == resolver and covers(question, right, answer)), None)


def differences(tree, resolver, asked, answers):
    """Yields a Difference for each wrong answer."""
    for question, answer in zip(asked, answers):
        right = truth(*question, tree.has_ipv6)
        wrong = judge(right, answer["rcode"], answer["rows"])
        if wrong:
            yield Difference(resolver, question, wrong, reason_for(resolver, question, right, answer))


def compare(tree, resolver, address, asked):
    """Returns ([Difference, ...], answers)."""
    answers = tree.ask(address, asked, parallel=64, timeout=TIMEOUT_S)
    return list(differences(tree, resolver, asked, answers)), answers


def print_table(found):
    print("| question | resolver | what is different | why |\n|---|---|---|---|")
    for one in sorted(found, key=lambda one: (one.question, one.resolver)):
        print(f"| {' '.join(one.question)} | {one.resolver} | {one.wrong} | {one.reason or 'NOT EXPLAINED'} |")


def main(names):
    asked, found = questions(), []
    with tempfile.TemporaryDirectory(prefix="hierarchy.") as folder, contextlib.ExitStack() as stack:
        tree = stack.enter_context(Hierarchy(folder, stack.enter_context(Place())))
        print(f"{len(ZONES)} zones, ready in {tree.start_seconds:.1f} s")
        for name in names:
            resolver, began = stack.enter_context(RESOLVERS[name](tree)), time.monotonic()
            differ, answers = compare(tree, name, resolver.address, asked)
            found += differ
            authentic = sum(answer["flags"] & AD > 0 for answer in answers)
            print(f"{name}: {len(asked)} questions in {time.monotonic() - began:.1f} s, {len(differ)} differ, "
                  f"{authentic} with AD")
    print_table(found)
    return 1 if any(one.reason is None for one in found) else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--names"]:
        print("".join(f"{name} {kind}\n" for name, kind in questions() if truth(name, kind).state != FAILS), end="")
        sys.exit(0)
    try:
        sys.exit(main(sys.argv[1:] or list(RESOLVERS)))
    except CannotRun as error:
        sys.exit(f"cannot compare: {error}")
