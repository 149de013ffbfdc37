/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml_tree.h"

static struct problems problems;

static struct yaml_tree *parse(const char *text)
{
    problems_init(&problems);
    struct yaml_tree *tree = yaml_tree_parse(text, strlen(text), &problems);
    assert_non_null(tree);
    return tree;
}

static void expect_problem(size_t index, unsigned line, unsigned column, const char *text)
{
    assert_true(index < problems.kept);
    assert_string_equal(problems.list[index].text, text);
    assert_int_equal(problems.list[index].position.line, line);
    assert_int_equal(problems.list[index].position.column, column);
}

/* Parses the text, expects this one error, and frees everything. */
static void expect_refused(const char *text, unsigned line, unsigned column, const char *error)
{
    struct yaml_tree *tree = parse(text);
    expect_problem(0, line, column, error);
    assert_int_equal(problems.count, 1);
    problems_deinit(&problems);
    yaml_tree_free(tree);
}

static void test_a_mapping_keeps_order_and_positions(void **state)
{
    (void)state;
    struct yaml_tree *tree = parse("# first\na: x\nb:\n  - 'y z'\n  - [1, 2]\n");
    const struct yaml_tree_node *root = yaml_tree_root(tree);
    assert_true(problems_is_empty(&problems));
    assert_int_equal(root->kind, TREE_MAP);
    assert_int_equal(root->count, 2);
    const struct yaml_tree_node *a = root->first, *b = a->next;
    assert_string_equal(a->key->text, "a");
    assert_string_equal(a->text, "x");
    assert_int_equal(a->position.line, 2);
    assert_int_equal(a->position.column, 4);
    assert_int_equal(b->kind, TREE_LIST);
    assert_string_equal(b->first->text, "y z");
    assert_true(b->first->quoted);
    assert_int_equal(b->first->position.line, 4);
    assert_int_equal(b->first->position.column, 5);
    assert_int_equal(b->first->next->count, 2);
    yaml_tree_free(tree);
}

static void test_an_empty_text_has_no_root(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n\n", "# a comment\n"};
    for (size_t i = 0; i < 3; i++) {
        struct yaml_tree *tree = parse(texts[i]);
        assert_null(yaml_tree_root(tree));
        assert_true(problems_is_empty(&problems));
        yaml_tree_free(tree);
    }
}

static void test_columns_count_characters(void **state)
{
    (void)state;
    struct yaml_tree *tree = parse("{\xc3\xa4: b}");
    assert_int_equal(yaml_tree_root(tree)->first->position.column, 5);
    yaml_tree_free(tree);
}

static void test_a_value_is_found_by_its_key(void **state)
{
    (void)state;
    struct yaml_tree *tree = parse("{a: 1, b: 2}");
    assert_string_equal(yaml_tree_find(yaml_tree_root(tree), "b")->text, "2");
    assert_null(yaml_tree_find(yaml_tree_root(tree), "c"));
    assert_null(yaml_tree_find(yaml_tree_root(tree)->first, "a"));
    yaml_tree_free(tree);
}

static void test_an_alias_is_refused(void **state)
{
    (void)state;
    struct yaml_tree *tree = parse("a: &x 1\nb: *x\n");
    assert_int_equal(problems.count, 2);
    expect_problem(0, 1, 4, "file: anchors (&name) are not supported; leave it out");
    expect_problem(1, 2, 4, "file: aliases (*name) are not supported; write out the value");
    assert_true(yaml_tree_find(yaml_tree_root(tree), "b")->broken);
    problems_deinit(&problems);
    yaml_tree_free(tree);
}

static void test_tags_are_refused_on_every_kind_of_node(void **state)
{
    (void)state;
    expect_refused("a: !x 1", 1, 4, "file: tags (!name) are not supported; leave it out");
    expect_refused("a: !x [1]", 1, 4, "file: tags (!name) are not supported; leave it out");
    expect_refused("a: !!map {}", 1, 4, "file: tags (!name) are not supported; leave it out");
}

static void test_a_repeated_key_is_refused_with_its_path(void **state)
{
    (void)state;
    expect_refused("a:\n  - {}\n  - b: {c: 1, d: 2, c: 3}\n", 3, 21,
                   "a[1].b.c: is given twice, first in line 3; keep one of them");
    expect_refused("a: 1\nb: 2\na: 3\n", 3, 1,
                   "a: is given twice, first in line 1; keep one of them");
}

static void test_the_first_of_repeated_keys_is_kept(void **state)
{
    (void)state;
    struct yaml_tree *tree = parse("a: 1\nb: 2\na: 3\na: 4\n");
    assert_int_equal(problems.count, 2);
    assert_int_equal(yaml_tree_root(tree)->count, 2);
    assert_string_equal(yaml_tree_find(yaml_tree_root(tree), "a")->text, "1");
    problems_deinit(&problems);
    yaml_tree_free(tree);
}

static void test_a_list_cannot_be_a_key(void **state)
{
    (void)state;
    expect_refused("? [a]\n: b\n", 1, 3,
                   "file: a list or mapping cannot be a key; write a word before the colon");
}

static void test_a_second_document_is_refused(void **state)
{
    (void)state;
    expect_refused("a: 1\n---\nb: 2\n", 2, 1,
                   "file: a second document starts here; write everything into one");
}

static void nest(char *text, size_t depth)
{
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[2 * depth] = '\0';
}

static void test_nesting_is_bounded(void **state)
{
    (void)state;
    char text[2 * YAML_TREE_DEPTH_MAX + 3];
    nest(text, YAML_TREE_DEPTH_MAX);
    struct yaml_tree *tree = parse(text);
    assert_true(problems_is_empty(&problems));
    yaml_tree_free(tree);
    nest(text, YAML_TREE_DEPTH_MAX + 1);
    expect_refused(text, 1, YAML_TREE_DEPTH_MAX + 1,
                   "file: lists and mappings are nested deeper than 32");
}

static void test_very_deep_nesting_ends_early(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(2 * DEPTH + 1);
    nest(text, DEPTH);
    expect_refused(text, 1, YAML_TREE_DEPTH_MAX + 1,
                   "file: lists and mappings are nested deeper than 32");
    free(text);
}

static void test_the_number_of_nodes_is_bounded(void **state)
{
    (void)state;
    char *text = malloc(2 * YAML_TREE_NODES_MAX + 2);
    text[0] = '[';
    for (size_t i = 0; i < YAML_TREE_NODES_MAX; i++)
        memcpy(text + 1 + 2 * i, "1,", 2);
    text[2 * YAML_TREE_NODES_MAX + 1] = ']';
    problems_init(&problems);
    struct yaml_tree *tree = yaml_tree_parse(text, 2 * YAML_TREE_NODES_MAX + 2, &problems);
    assert_string_equal(problems.list[0].text, "file: has more than 2000000 values; shorten it");
    problems_deinit(&problems);
    yaml_tree_free(tree);
    free(text);
}

static void test_bytes_that_are_not_text_are_refused(void **state)
{
    (void)state;
    static const char nul[] = "a: 1\nb: \0 2";
    problems_init(&problems);
    struct yaml_tree *tree = yaml_tree_parse(nul, sizeof(nul) - 1, &problems);
    expect_problem(0, 2, 4, "file: has a NUL byte; write plain text in UTF-8");
    problems_deinit(&problems);
    yaml_tree_free(tree);
    expect_refused("a: 1\n\xc3\xa4: \xff", 2, 4,
                   "file: invalid leading UTF-8 octet (0xff); write plain text in UTF-8");
    expect_refused("a: \x07", 1, 4,
                   "file: control characters are not allowed (0x7); write plain text in UTF-8");
}

static void test_an_escaped_nul_is_refused(void **state)
{
    (void)state;
    expect_refused("a: \"x\\0y\"", 1, 4, "file: a value has a NUL byte");
}

static void test_broken_syntax_is_one_error_and_the_rest_is_kept(void **state)
{
    (void)state;
    struct yaml_tree *tree = parse("a: 1\nb: [2\nc: 3\n");
    assert_int_equal(problems.count, 1);
    expect_problem(0, 3, 2, "file: is not YAML: the [ of line 2 has no end, or a comma is missing");
    assert_string_equal(yaml_tree_find(yaml_tree_root(tree), "a")->text, "1");
    problems_deinit(&problems);
    yaml_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_mapping_keeps_order_and_positions),
        cmocka_unit_test(test_an_empty_text_has_no_root),
        cmocka_unit_test(test_columns_count_characters),
        cmocka_unit_test(test_a_value_is_found_by_its_key),
        cmocka_unit_test(test_an_alias_is_refused),
        cmocka_unit_test(test_tags_are_refused_on_every_kind_of_node),
        cmocka_unit_test(test_a_repeated_key_is_refused_with_its_path),
        cmocka_unit_test(test_the_first_of_repeated_keys_is_kept),
        cmocka_unit_test(test_a_list_cannot_be_a_key),
        cmocka_unit_test(test_a_second_document_is_refused),
        cmocka_unit_test(test_nesting_is_bounded),
        cmocka_unit_test(test_very_deep_nesting_ends_early),
        cmocka_unit_test(test_the_number_of_nodes_is_bounded),
        cmocka_unit_test(test_bytes_that_are_not_text_are_refused),
        cmocka_unit_test(test_an_escaped_nul_is_refused),
        cmocka_unit_test(test_broken_syntax_is_one_error_and_the_rest_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
