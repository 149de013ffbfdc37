# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Asks validating resolvers every question of cases.py and compares the results.

    tests/system$ python3 -m signed_tree.compare [--all] [--zone NAME] [RESOLVER]...

RESOLVER is unbound, named, kresd, or the path of nailupd, with ",udp" or ",nailed" behind it if a plain recursor
shall forward to the hierarchy. --all shows each question, not only differences; --zone asks only about one zone.
Only nailupd is asked about the zones whose answers change at random, unless --zone names one."""

import argparse
import contextlib
import pathlib
import sys
import tempfile

from hierarchy.wire import AD

from .cases import BOGUS, CASES, CHAOS_CASES, INSECURE, SECURE, SHA1, reason_for
from .run import RESOLVERS, CannotRun, Place, Tree, start_nailupd, start_plain
from .zones import zone_of

TIMEOUT_S = 8
PARALLEL = 48


def verdict_of(answer):
    """Returns what an answer says about its security."""
    if answer["rcode"] == "SERVFAIL":
        return BOGUS
    if answer["rcode"] is None:
        return "no answer"
    return SECURE if answer["flags"] & AD else INSECURE


def rows_of(answer):
    return {(kind, data) for _, kind, data in answer["rows"] if kind != "RRSIG"}


def codes_of(answer):
    return {code for code, _ in answer["errors"]}


def wanted_of(one, has_sha1):
    if one.verdict == SHA1:
        return [SECURE if has_sha1 else INSECURE]
    return one.verdict.split(" or ")


def judge(one, answer, has_sha1=True):
    """Returns the fault of an answer, or None. judge_errors() compares the extended errors."""
    wanted, verdict = wanted_of(one, has_sha1), verdict_of(answer)
    if verdict not in wanted:
        return f"{verdict} instead of {' or '.join(wanted)}"
    if verdict == BOGUS:
        return None
    if answer["rcode"] != one.rcode:
        return f"{answer['rcode']} instead of {one.rcode}"
    if one.rows is not None and rows_of(answer) != one.rows:
        return f"other rows: {sorted(rows_of(answer) ^ one.rows)}"
    if one.ttl_max and any(ttl > one.ttl_max for ttl in answer["ttls"]):
        return f"a TTL above {one.ttl_max}: {max(answer['ttls'])}"
    if verdict == SECURE and answer["rows"] and not any(kind == "RRSIG" for _, kind, _ in answer["rows"]):
        return "no signature for a client with DO"
    return None


def judge_errors(one, answer, has_sha1=True):
    """Returns the fault in the extended errors of a right answer, or None."""
    verdict, codes = verdict_of(answer), codes_of(answer)
    if verdict == SECURE:
        return f"EDE {sorted(codes)} with a secure answer" if codes & set(range(1, 13)) else None
    if not one.ede or codes & set(one.ede):
        return None
    return f"EDE {sorted(codes)} instead of {' or '.join(map(str, one.ede))}"


def faults(name, cases, answers, has_sha1=True):
    """Yields (case, fault, reason) for each answer that differs. reason is None if none is known."""
    for one, answer in zip(cases, answers):
        fault = judge(one, answer, has_sha1)
        if fault:
            yield one, fault, reason_for(name, one, fault)


def ask(tree, address, cases=None, **more):
    """Sends all questions with DO, and those without an answer once more. Returns the answers."""
    more = {"parallel": PARALLEL, "timeout": TIMEOUT_S, "dnssec_ok": True} | more
    asked = [one.question for one in cases or CASES]
    answers = tree.ask(address, asked, **more)
    late = [at for at, answer in enumerate(answers) if answer["rcode"] is None]
    for at, answer in zip(late, tree.ask(address, [asked[at] for at in late], **more)):
        answers[at] = answer
    return answers


def tell(name, cases, answers, shows_all):
    """Prints the differences. Returns whether each of them has a reason."""
    is_ours = name not in RESOLVERS
    known = "nailupd" if is_ours else name
    found = {id(one): (fault, why) for one, fault, why in faults(known, cases, answers, not is_ours)}
    errors = 0
    for one, answer in zip(cases, answers):
        fault, why = found.get(id(one), ("", ""))
        error = "" if fault else judge_errors(one, answer, not is_ours) or ""
        errors += bool(error)
        if shows_all or fault or error:
            said = ", ".join(f"{code} {text}" for code, text in answer["errors"])
            print(f"| {name} | {' '.join(one.question)} | {one.verdict} | {fault} | {error} | "
                  f"{why or ('NOT EXPLAINED' if fault else '')} | {one.why} | {said} |")
    print(f"{name}: {len(cases)} questions, {len(found)} differ, {errors} with another extended error", file=sys.stderr)
    return all(why for _, why in found.values()) and not (is_ours and errors)


def start(tree, name, stack):
    if name in RESOLVERS:
        return stack.enter_context(RESOLVERS[name](tree))
    path, _, way = name.partition(",")
    plain = stack.enter_context(start_plain(tree)) if way else None
    return stack.enter_context(start_nailupd(tree, pathlib.Path(path).resolve(), forward_to=plain, is_nailed=way == "nailed"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--zone")
    parser.add_argument("resolvers", nargs="*", default=list(RESOLVERS))
    args = parser.parse_args()
    print("| resolver | question | right | what is different | extended error | reason | rule | it said |\n"
          "|---|---|---|---|---|---|---|---|")
    is_fine = True
    with tempfile.TemporaryDirectory(prefix="signed.") as folder, Place() as place, \
            Tree(pathlib.Path(folder), place) as tree:
        for name in args.resolvers:
            cases = CASES if name in RESOLVERS and not args.zone else [*CASES, *CHAOS_CASES]
            cases = [one for one in cases if args.zone in (None, zone_of(one.name).name)]
            with contextlib.ExitStack() as stack:
                answers = ask(tree, start(tree, name, stack).address, cases)
                is_fine = tell(pathlib.Path(name).name, cases, answers, args.all) and is_fine
    return 0 if is_fine else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CannotRun as error:
        sys.exit(f"cannot compare: {error}")
