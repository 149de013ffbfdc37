#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Tests the shape tests: a small tree breaks each of their rules once."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import c_source
import docs
import language
import layers
import lint
import links
import tables

README = """
| rank | folder | may include | what it is |
|---|---|---|---|
| 0 | base | - | bottom |
| 1 | net | base | middle |
| 2 | serve | base net | top |

| library | headers | only in |
|---|---|---|
| libuv | uv.h | net/tcp.c |
"""
SPDX = ("/* SPDX-License-Identifier: BSD-3-Clause */\n"
        "/* SPDX-FileCopyrightText: 2026 the nailup authors */\n")


class SmallTree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("src/README.md", README)
        self.write("src/base/span.h", SPDX)
        self.write("src/net/link.h", SPDX)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def problems(self, *checks):
        tree = layers.Tree(self.root)
        for check in checks:
            check(tree)
        return tree.problems

    def assert_complains(self, problems, *pieces):
        self.assertEqual(len(problems), 1, problems)
        for piece in pieces:
            self.assertIn(piece, problems[0])


class Docs(SmallTree):
    def test_a_link_needs_its_file_and_its_heading(self):
        self.write("a.md", "# One `two`\n[x](b.md) [y](b.md#three-four) [z](#one-two) [w](https://example.org/none)\n")
        self.write("b.md", "## Three: four\n```\n[in code](none.md)\n```\n")
        pages = [Path("a.md"), Path("b.md")]
        self.assertEqual(list(docs.broken_links(self.root, pages)), [])
        self.write("b.md", "[x](none.md) [y](a.md#two)\n")
        self.assertEqual(len(list(docs.broken_links(self.root, pages))), 3)

    def test_the_table_of_states_is_the_one_of_the_program(self):
        header = 'CONN_STATE(ONE, "one", CONN_BIT(TWO), \\\n "a") CONN_STATE(TWO, "two", 0, "b")'
        row = "| one | a | {} |\n| two | b | |\n"
        self.assertEqual(list(docs.wrong_states(header, row.format("two"))), [])
        self.assertEqual(len(list(docs.wrong_states(header, row.format("one")))), 1)
        self.assertEqual(len(list(docs.wrong_states(header, "| one | a | two |\n| six | c | |\n"))), 2)


class Language(unittest.TestCase):
    def hits(self, name, text):
        return [(line, phrase) for line, phrase, _ in language.complaints(Path(name), text)]

    def test_a_comment_with_a_bad_opening_is_found_at_its_line(self):
        text = "int a;\n/* Of a query that gets\n * an answer. */\n"
        self.assertEqual(self.hits("a.c", text), [(2, "Of")])

    def test_a_later_sentence_counts_too(self):
        self.assertEqual(self.hits("a.md", "A plain sentence. Nobody reads it twice.\n"), [(1, "Nobody"), (1, "Nobody")])

    def test_code_and_plain_sentences_are_fine(self):
        text = '/* Returns the name, or NULL. */\nputs("nobody was there");\n'
        self.assertEqual(self.hits("a.c", text), [])

    def test_names_of_tests_are_sentences_too(self):
        name = "test_a_server_that_" + "nobody_asks"
        self.assertEqual(self.hits("a.c", f"static void {name}(void **state)\n{{\n}}\n"), [(1, name)])
        self.assertEqual(self.hits("a.py", f"def test_a_server(): pass\n\ndef {name}():\n    pass\n"), [(3, name)])
        self.assertEqual(self.hits("a.c", "static void\ntest_it_stands_" + "alone(void **state)\n{\n}\n")[0][0], 2)
        self.assertEqual(self.hits("a.c", "static void test_words_stand_for_numbers(void **state)\n{\n}\n"), [])

    def test_tables_are_read_in_their_literals(self):
        self.assertEqual(self.hits("a.def", 'ROW(a, "What is left of the queue.")\n'), [(1, "What")])

    def test_scenarios_are_read_in_comments_and_titles(self):
        text = "; nailup\nserver: {a: 1}\nCONFIG_END\n; It waits\n; for whom it asks.\nSCENARIO_BEGIN Of an answer that comes\n"
        self.assertEqual(self.hits("a.rpl", text), [(4, "whom"), (6, "Of")])
        self.assertEqual(self.hits("a.rpl", "www.nobody.example. 300 A 192.0.2.1\n"), [])


class Layers(SmallTree):
    def test_going_down_is_fine(self):
        self.write("src/serve/a.c", '#include "net/link.h"\n#include "nailup/errors.def"\n')
        self.assertEqual(self.problems(layers.check_tables, layers.check_includes), [])

    def test_two_functions_of_one_name(self):
        self.write("src/base/a.c", SPDX + "static void put(void)\n{\n}\n")
        self.write("src/net/b.c", SPDX + "static void put(void)\n{\n}\n")
        self.assert_complains(self.problems(layers.check_names), "src/net/b.c:3:", "put()", "src/base/a.c")

    def test_going_up_is_an_error(self):
        self.write("src/base/a.c", '\n#include "net/link.h"\n')
        self.assert_complains(self.problems(layers.check_includes), "src/base/a.c:2:",
                              "base may not include net")

    def test_a_table_that_goes_up_is_an_error(self):
        self.write("src/README.md", README.replace("| base | - |", "| base | serve |"))
        self.assert_complains(self.problems(layers.check_tables), "not below")

    def test_the_map_names_files_and_functions_that_exist(self):
        self.write("src/net/a.c", SPDX + "void a_send(void)\n{\n}\n")
        self.write("src/README.md", README + "`a_send()` in `net/a.c` uses `base/span.h`.\n")
        self.assertEqual(self.problems(layers.check_map), [])
        self.write("src/README.md", README + "`a_take()` in `net/a.c`.\n")
        self.assert_complains(self.problems(layers.check_map), "a_take()")
        self.write("src/README.md", README + "See `net/gone.h`.\n")
        self.assert_complains(self.problems(layers.check_map), "net/gone.h")

    def test_a_folder_outside_the_table_is_an_error(self):
        self.write("src/misc/a.c", "")
        self.assert_complains(self.problems(layers.check_includes), "misc is not in the table")

    def test_headers_are_named_with_their_folder(self):
        self.write("src/net/a.c", '#include "link.h"\n')
        self.assert_complains(self.problems(layers.check_includes), "folder named")

    def test_our_headers_are_quoted_and_those_of_the_system_are_not_ours(self):
        self.write("src/net/a.c", "#include <net/if.h>\n#include <base/span.h>\n")
        self.assert_complains(self.problems(layers.check_includes), "a.c:2:", "in quotes")

    def test_a_library_has_one_door(self):
        self.write("src/net/tcp.c", "#include <uv.h>\n")
        self.write("src/net/udp.c", "#  include <uv.h>\n")
        self.assert_complains(self.problems(layers.check_includes), "udp.c:1:", "libuv")

    def test_an_include_in_a_comment_is_none(self):
        self.write("src/base/a.c", '/*\n#include "net/link.h"\n*/\n')
        self.assertEqual(self.problems(layers.check_includes), [])

    def test_modules_form_no_cycle(self):
        self.write("src/net/a.h", "")
        self.write("src/net/b.h", "")
        self.write("src/net/a.c", '#include "net/a.h"\n#include "net/b.h"\n')
        self.assertEqual(self.problems(layers.check_cycles), [])
        self.write("src/net/b.c", '#include "net/b.h"\n#include "net/a.h"\n')
        self.assert_complains(self.problems(layers.check_cycles), "net/a -> net/b -> net/a")

    def test_a_file_opens_with_its_license(self):
        self.write("src/base/a.c", "int a;\n")
        self.assert_complains(self.problems(layers.check_spdx), "src/base/a.c", "SPDX")

    def test_a_header_compiles_alone_and_twice(self):
        def check(tree):
            layers.check_headers_compile(tree, "cc", self.root)
        self.write("src/base/b.h", "extern unsigned b;\n")
        self.assertEqual(self.problems(check), [])
        self.write("src/base/b.h", "extern uint8_t b;\n")
        self.assert_complains(self.problems(check), "src/base/b.h", "alone")
        self.write("src/base/b.h", "struct b { int a; };\n")
        self.assert_complains(self.problems(check), "src/base/b.h", "redefinition")


class Links(SmallTree):
    def knots(self, **sources):
        commands = []
        for name, text in sources.items():
            place = name.replace("__", "/") + ".c"
            self.write("src/" + place, text)
            made = ["cc", "-c", "-o", f"{name}.o", str(self.root / "src" / place)]
            subprocess.run(made, cwd=self.root, check=True)
            commands.append({"directory": str(self.root), "command": " ".join(made), "file": made[-1]})
        self.write("compile_commands.json", json.dumps(commands))
        paths = links.objects(self.root, self.root)
        read = links.symbols(list(paths.values()))
        return links.knots(links.call_graph({place: read[path] for place, path in paths.items()}))

    def test_calls_in_one_direction_are_no_knot(self):
        self.assertEqual(self.knots(net__a="void b(void); void a(void) { b(); }", net__b="void b(void) {}"), [])

    def test_a_cycle_of_calls_and_data_is_a_knot(self):
        self.assertEqual(self.knots(net__a="extern int *b; int *a(void) { return b; }",
                                    net__b="int c(void); int *b; int d(void) { return c(); }",
                                    net__c="int *a(void); int c(void) { return *a(); }",
                                    net__e="int d(void); int e(void) { return d(); }"),
                         [["src/net/a.c", "src/net/b.c", "src/net/c.c"]])

    def test_other_folders_and_doubled_names_join_nothing(self):
        self.assertEqual(self.knots(net__a="int b(void); int a(void) { return b(); }",
                                    base__b="int a(void); int b(void) { return a(); }"), [])
        self.assertEqual(self.knots(net__a="int main(void) { return 0; }",
                                    net__b="int main(void); int b(void) { return main(); }"), [])


class Lint(SmallTree):
    def run_on(self, text, run, name, version):
        program = lint.checker(name, version)
        if not program:
            self.skipTest(f"{name} {version} is not installed")
        self.write("src/base/a.c", text)
        self.write(".clang-format", "BasedOnStyle: LLVM\n")
        self.write(".clang-tidy", "Checks: '-*,bugprone-sizeof-expression'\nWarningsAsErrors: '*'\n")
        self.write("tests/.clang-tidy", "")
        self.write("tests/shape/cppcheck.txt", "")
        self.write("bench/a.c", "")
        source = str(self.root / "src/base/a.c")
        self.write("compile_commands.json", json.dumps(
            [{"directory": str(self.root), "command": f"cc -c {source}", "file": source}]))
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        return [status != 0 for _, status, _ in run(program, self.root, self.root)]

    def test_layout(self):
        arguments = lint.run_format, "clang-format", lint.LLVM_VERSION
        self.assertEqual(self.run_on("int a;\n", *arguments), [False])
        self.assertEqual(self.run_on("int   a;\n", *arguments), [True])

    def test_a_file_that_passed_is_read_again_when_it_or_a_header_changes(self):
        arguments = lint.run_tidy, "clang-tidy", lint.LLVM_VERSION
        good, bad = '#include "h.h"\nint a(void) { return SIZE; }\n', "int a(int *b) { return sizeof(sizeof(*b)); }\n"
        self.write("src/base/h.h", "enum { SIZE = sizeof(int) };\n")
        self.assertEqual(self.run_on(good, *arguments), [False])
        self.assertEqual(self.run_on(good, *arguments), [])
        self.assertEqual(self.run_on(bad, *arguments), [True])
        self.assertEqual(self.run_on(bad, *arguments), [True])
        self.assertEqual(self.run_on(good, *arguments), [False])
        self.write("src/base/h.h", "enum { SIZE = 3 };\n")
        self.assertEqual(self.run_on(good, *arguments), [False])

    def test_cppcheck(self):
        arguments = lint.run_cppcheck, "cppcheck", lint.CPPCHECK_VERSION
        self.assertEqual(self.run_on("int a(void) { return 1; }\n", *arguments), [False])
        self.assertEqual(self.run_on("int a(void) { int b[2]; b[2] = 1; return b[0]; }\n", *arguments), [True])


class Scanner(unittest.TestCase):
    def test_functions_are_found_with_their_length(self):
        text = ('static const int table[] = {\n    1,\n};\n'
                'struct pair {\n    int a;\n};\n'
                '#define MACRO(x) { \\\n    x }\n'
                'static __attribute__((format(printf, 1, 2))) int first(int a)\n'
                '{\n    return "}"[0]; /* } */\n}\n'
                'int second(void)\n{\n    if (1) {\n    }\n    return 0;\n}\n')
        self.assertEqual(list(c_source.functions(text)), [("first", 9, 4), ("second", 13, 6)])


class Tables(SmallTree):
    def check(self, text):
        self.write("include/nailup/metrics.def", text)
        found = tables.Tables(self.root)
        path = self.root / "include/nailup/metrics.def"
        tables.check_rows(found, path)
        tables.check_metrics(found, path)
        return found.problems

    FAMILY = 'FAMILY("a_total", "All of them.")\n'
    GOOD = FAMILY + 'METRIC(a, "a_total", COUNTER, "reason=\\"x\\",to=\\"y\\"", "Sentence, with a comma.")\n'

    def test_a_good_row_is_fine(self):
        self.assertEqual(self.check(self.GOOD + 'HISTOGRAM(h, "h_seconds", "A time.")\n'), [])

    def test_rows_need_a_sentence(self):
        self.assert_complains(self.check('METRIC(a, "a_total", COUNTER, "", "")\n'), "no sentence")

    def test_names_are_unique(self):
        row = self.GOOD.removeprefix(self.FAMILY)
        self.assert_complains(self.check(self.GOOD + row.replace("x", "z")), "already")
        again = row.replace("(a,", "(b,")
        self.assert_complains(self.check(self.GOOD + again), "twice")

    def test_counters_end_in_total_and_gauges_do_not(self):
        self.assert_complains(self.check('METRIC(a, "a", COUNTER, "", "Sentence.")\n'), "_total")
        self.assert_complains(self.check('METRIC(a, "a_total", GAUGE, "", "Sentence.")\n'), "_total")

    def test_names_and_labels_are_those_of_prometheus(self):
        self.assert_complains(self.check('METRIC(a, "a-b", GAUGE, "", "Sentence.")\n'), "no name")
        self.assert_complains(self.check('METRIC(a, "a_ms", GAUGE, "", "Sentence.")\n'), "seconds")
        self.assert_complains(self.check('METRIC(a, "a", GAUGE, "b=c", "Sentence.")\n'), "labels")

    def test_rows_of_a_name_are_adjacent(self):
        other = 'METRIC(o, "o", GAUGE, "", "Sentence.")\n'
        again = self.GOOD.removeprefix(self.FAMILY).replace("(a,", "(b,").replace("x", "z")
        self.assert_complains(self.check(self.GOOD + other + again), "adjacent")

    def test_rows_with_labels_have_a_family_and_no_others(self):
        row = self.GOOD.removeprefix(self.FAMILY)
        self.assert_complains(self.check(row), "no FAMILY")
        alone = 'FAMILY("o", "Ones.")\nMETRIC(o, "o", GAUGE, "", "Sentence.")\n'
        self.assert_complains(self.check(alone), "has no labels")

    def test_numbers_of_upstreams_obey_the_same_rules(self):
        good = 'PER_UPSTREAM(q, "q_total", COUNTER, "Ones.")\nPER_UPSTREAM(t, "t_seconds", SECONDS, "A time.")\n'
        self.assertEqual(self.check(good), [])
        self.assert_complains(self.check('PER_UPSTREAM(t, "t", SECONDS, "A time.")\n'), "_seconds")
        self.assert_complains(self.check('PER_UPSTREAM(q, "q", COUNTER, "Ones.")\n'), "_total")


if __name__ == "__main__":
    unittest.main()
