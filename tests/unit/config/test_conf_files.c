/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* conf/nailup.yaml describes the program correctly, and the example files load. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/options.h"
#include "config/yaml_tree.h"
#include "unit/config/config_text.h"

enum { TEXT_MAX = 65536 };

static const char shipped[] = NAILUP_SOURCE_DIR "/conf/nailup.yaml";

/* Prose begins with "# ". A commented-out key follows the '#' directly, or after its indentation of
 * two blanks or more. */
static bool is_prose(const char *line)
{
    return line[1] == '\n' || (line[1] == ' ' && line[2] != ' ');
}

/* Example lists in prose have three blanks of indentation, keys an even number. */
static bool is_example(const char *line)
{
    return strspn(line + 1, " ") % 2 == 1;
}

/* Returns the shipped file with every commented-out key made active. */
static char *uncommented(void)
{
    char line[512], *text = calloc(1, TEXT_MAX);
    FILE *file = fopen(shipped, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        assert_true(*line == '#' || *line == '\n');
        if (*line == '#' && !is_prose(line) && !is_example(line))
            strncat(text, line + 1, TEXT_MAX - strlen(text) - 1);
    }
    fclose(file);
    return text;
}

static const struct yaml_tree_node *find_path(const struct yaml_tree_node *node, const char *path)
{
    char key[128];
    while (node && *path) {
        size_t len = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)len, path);
        node = yaml_tree_find(node, key);
        path += len + (path[len] == '.');
    }
    return node;
}

static void expect_equal(const struct yaml_tree_node *a, const struct yaml_tree_node *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->text, b->text);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->key != NULL, b->key != NULL);
    if (a->kind != TREE_SCALAR)
        for (a = a->first, b = b->first; a; a = a->next, b = b->next)
            expect_equal(a, b);
}

static struct yaml_tree *parse_fine(const char *text)
{
    struct problems problems;
    problems_init(&problems);
    struct yaml_tree *tree = yaml_tree_parse(text, strlen(text), &problems);
    assert_true(problems_is_empty(&problems));
    return tree;
}

static void expect_default(const struct yaml_tree_node *root, const struct option *option)
{
    const struct yaml_tree_node *found = find_path(root, option->path);
    if (!found)
        fail_msg("%s is not in conf/nailup.yaml", option->path);
    struct yaml_tree *wanted = parse_fine(option->default_text);
    struct yaml_tree_node value = *found;
    value.key = NULL;
    expect_equal(yaml_tree_root(wanted), &value);
    yaml_tree_free(wanted);
}

static void test_the_shipped_file_has_every_key_with_its_default(void **state)
{
    (void)state;
    char *text = uncommented();
    struct yaml_tree *tree = parse_fine(text);
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++)
        if (!strchr(rows[i].path, '['))
            expect_default(yaml_tree_root(tree), &rows[i]);
    yaml_tree_free(tree);
    free(text);
}

static void test_the_shipped_file_loads_with_every_key_written(void **state)
{
    (void)state;
    char *text = uncommented();
    config_free(load_fine(text));
    free(text);
}

static void test_the_shipped_file_resolves_by_recursion(void **state)
{
    (void)state;
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_load(shipped, &config, &errors), ERR_OK);
    assert_true(config->route.recursion.enabled);
    assert_int_equal(config->route.zone_count, 0);
    config_free(config);
    buf_deinit(&errors);
}

/* Loads an example without its certificates, which this machine may lack. */
static void expect_example_loads(const char *path)
{
    char *text = calloc(1, TEXT_MAX);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t len = fread(text, 1, TEXT_MAX, file);
    assert_true(len > 0 && len < TEXT_MAX);
    fclose(file);
    struct config *config = load_bytes(text, len);
    if (!config)
        fail_msg("%s: %s", path, errors_text);
    config_free(config);
    free(text);
}

static void test_every_example_loads(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob(NAILUP_SOURCE_DIR "/conf/examples/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        expect_example_loads(found.gl_pathv[i]);
    assert_true(found.gl_pathc >= 2);
    globfree(&found);
}

static void test_the_recursive_example_nails_for_enough_workers(void **state)
{
    (void)state;
    FILE *file = fopen(NAILUP_SOURCE_DIR "/conf/examples/recursive-datacenter.yaml", "r");
    char *text = calloc(1, TEXT_MAX);
    assert_non_null(file);
    assert_true(fread(text, 1, TEXT_MAX - 1, file) > 0);
    fclose(file);
    struct config *config = load_fine(text);
    assert_int_equal(config->entry_count, 2);
    assert_true(config->max_nailed / (28 * 1 + 4 * 2) >= 27); /* workers */
    config_free(config);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_shipped_file_has_every_key_with_its_default),
        cmocka_unit_test(test_the_shipped_file_loads_with_every_key_written),
        cmocka_unit_test(test_the_shipped_file_resolves_by_recursion),
        cmocka_unit_test(test_every_example_loads),
        cmocka_unit_test(test_the_recursive_example_nails_for_enough_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
