/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/recurse/sample.h"

#include "recurse/root_hints.h"

static struct delegation hints;
static struct root_hints_problem problem;

static enum err parse(const char *text)
{
    problem = (struct root_hints_problem){0};
    return root_hints_parse(&hints, span_of(text, strlen(text)), &problem);
}

static void test_thirteen_servers_with_two_addresses_each_are_built_in(void **state)
{
    (void)state;
    root_hints_builtin(&hints);
    assert_int_equal(hints.server_count, 13);
    assert_int_equal(hints.addr_count, 26);
    assert_int_equal(hints.origin, DELEGATION_HINTS);
    assert_true(name_is_root(delegation_zone(&hints)));
    assert_int_equal(delegation_find(&hints, NAME("m.root-servers.net")), 12);
    for (unsigned i = 0; i < 13; i++)
        assert_int_equal(hints.servers[i].addr_count, 2);
}

/* Asserts that the second delegation has every server of the first. */
static void expect_all_in(const struct delegation *some, const struct delegation *all)
{
    char text[ADDR_TEXT_MAX], other[ADDR_TEXT_MAX];
    struct addr addr;
    for (unsigned i = 0; i < some->addr_count; i++) {
        int server = delegation_find(all, delegation_server(some, some->addrs[i].server));
        bool is_there = false;
        assert_int_not_equal(server, DELEGATION_NONE);
        delegation_addr(some, i, 53, &addr);
        addr_format(&addr, text);
        for (unsigned j = 0; j < all->addr_count; j++) {
            delegation_addr(all, j, 53, &addr);
            is_there |=
                all->addrs[j].server == server && strcmp(addr_format(&addr, other), text) == 0;
        }
        if (!is_there)
            fail_msg("%s is in one of the two only", text);
    }
}

/* Debian's package dns-root-data contains IANA's file. */
static void test_the_builtin_hints_are_the_published_ones(void **state)
{
    (void)state;
    static char text[ROOT_HINTS_BYTES_MAX];
    static struct delegation built_in;
    FILE *file = fopen("/usr/share/dns/root.hints", "r");
    if (!file)
        skip();
    size_t len = fread(text, 1, sizeof(text), file);
    fclose(file);
    assert_int_equal(root_hints_parse(&hints, span_of(text, len), &problem), ERR_OK);
    root_hints_builtin(&built_in);
    expect_all_in(&hints, &built_in);
    expect_all_in(&built_in, &hints);
}

static void test_a_file_with_one_server_of_any_name_is_fine(void **state)
{
    (void)state;
    char text[ADDR_TEXT_MAX];
    struct addr addr;
    assert_int_equal(parse("; hints\n\n.  3600000 NS K.Example.\nk.example. A 127.1.2.3\n"),
                     ERR_OK);
    assert_int_equal(hints.server_count, 1);
    assert_true(name_equal(delegation_server(&hints, 0), NAME("k.example")));
    delegation_addr(&hints, 0, 5353, &addr);
    assert_string_equal(addr_format(&addr, text), "127.1.2.3@5353");
}

static void test_a_zone_file_with_directives_and_any_order_is_read(void **state)
{
    (void)state;
    assert_int_equal(parse("$ORIGIN root-servers.net.\n"
                           "$TTL 3600\n"
                           "a IN A 192.0.2.1\n"
                           "  IN AAAA ( 2001:db8::1 ) ; over\n"
                           "b IN A 192.0.2.2\n"
                           "@ IN TXT \"passed over\"\n"
                           ". 518400 IN NS a\n"
                           ". 518400 IN NS b\n"
                           "stranger.example. A 192.0.2.66"),
                     ERR_OK);
    assert_int_equal(hints.server_count, 2);
    assert_int_equal(hints.addr_count, 3);
}

static void test_servers_above_the_bound_are_skipped(void **state)
{
    (void)state;
    char text[8192] = "", line[96];
    for (int i = 0; i < 40; i++) {
        snprintf(line, sizeof(line), ". NS s%d.example.\ns%d.example. A 192.0.2.%d\n", i, i, i);
        strcat(text, line);
    }
    assert_int_equal(parse(text), ERR_OK);
    assert_int_equal(hints.server_count, DELEGATION_SERVERS_MAX);
    assert_int_equal(hints.addr_count, DELEGATION_SERVERS_MAX);
}

static void test_a_problem_is_reported_with_its_line(void **state)
{
    (void)state;
    assert_int_equal(parse(". 3600 NS a.example.\nwhat is this\n"), ERR_INVALID);
    assert_int_equal(problem.line, 2);
    assert_non_null(strstr(problem.sentence, "not a record"));
}

static void test_a_file_without_servers_or_addresses_is_refused(void **state)
{
    (void)state;
    static const char *const files[] = {"",
                                        "; nothing\n",
                                        "example. NS a.example.\na.example. A 192.0.2.1\n",
                                        ". NS a.example.\n",
                                        ". NS a.example.\nb.example. A 192.0.2.1\n",
                                        ". CH NS a.example.\na.example. A 192.0.2.1\n"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        assert_int_equal(parse(files[i]), ERR_INVALID);
        assert_int_equal(problem.line, 0);
        assert_non_null(problem.sentence);
    }
}

static void test_a_file_without_end_and_one_that_includes_another_are_refused(void **state)
{
    (void)state;
    char *text = malloc(ROOT_HINTS_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, '\n', ROOT_HINTS_BYTES_MAX + 1);
    assert_int_equal(root_hints_parse(&hints, span_of(text, ROOT_HINTS_BYTES_MAX + 1), &problem),
                     ERR_LIMIT);
    free(text);
    assert_int_equal(parse("$INCLUDE /etc/passwd\n"), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thirteen_servers_with_two_addresses_each_are_built_in),
        cmocka_unit_test(test_the_builtin_hints_are_the_published_ones),
        cmocka_unit_test(test_a_file_with_one_server_of_any_name_is_fine),
        cmocka_unit_test(test_a_zone_file_with_directives_and_any_order_is_read),
        cmocka_unit_test(test_servers_above_the_bound_are_skipped),
        cmocka_unit_test(test_a_problem_is_reported_with_its_line),
        cmocka_unit_test(test_a_file_without_servers_or_addresses_is_refused),
        cmocka_unit_test(test_a_file_without_end_and_one_that_includes_another_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
