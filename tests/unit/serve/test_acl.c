/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The access list: the longest prefix decides, and the default refuses. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "serve/acl.h"

static struct prefix_set *set_of(const char *const *prefixes, const enum server_access *actions,
                                 size_t count)
{
    struct prefix_set *set = prefix_set_new();
    for (size_t i = 0; i < count; i++) {
        struct prefix prefix;
        assert_int_equal(prefix_parse(&prefix, prefixes[i]), ERR_OK);
        assert_int_equal(prefix_set_add(set, &prefix, (int)actions[i]), ERR_OK);
    }
    assert_int_equal(prefix_set_freeze(set), ERR_OK);
    return set;
}

static enum server_access find(const struct prefix_set *set, const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 1234), ERR_OK);
    return acl_find(set, &addr);
}

static void test_the_longest_prefix_decides(void **state)
{
    (void)state;
    const char *prefixes[] = {"10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "::1", "10.1.2.9"};
    enum server_access actions[] = {SERVER_ALLOW, SERVER_DROP, SERVER_REFUSE, SERVER_ALLOW,
                                    SERVER_SNOOP};
    struct prefix_set *set = set_of(prefixes, actions, 5);
    assert_int_equal(find(set, "10.1.2.9"), SERVER_SNOOP);
    assert_int_equal(find(set, "10.2.0.1"), SERVER_ALLOW);
    assert_int_equal(find(set, "10.1.0.1"), SERVER_DROP);
    assert_int_equal(find(set, "10.1.2.3"), SERVER_REFUSE);
    assert_int_equal(find(set, "10.1.2.4"), SERVER_DROP);
    assert_int_equal(find(set, "::1"), SERVER_ALLOW);
    prefix_set_free(set);
}

static void test_an_address_in_no_prefix_is_refused(void **state)
{
    (void)state;
    const char *prefixes[] = {"127.0.0.0/8"};
    enum server_access actions[] = {SERVER_ALLOW};
    struct prefix_set *set = set_of(prefixes, actions, 1);
    assert_int_equal(find(set, "192.0.2.1"), SERVER_REFUSE);
    assert_int_equal(find(set, "::1"), SERVER_REFUSE);
    assert_int_equal(find(set, "::ffff:127.0.0.1"), SERVER_ALLOW);
    prefix_set_free(set);
}

static void test_an_empty_list_refuses_every_client(void **state)
{
    (void)state;
    struct prefix_set *set = set_of(NULL, NULL, 0);
    assert_int_equal(find(set, "127.0.0.1"), SERVER_REFUSE);
    prefix_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_longest_prefix_decides),
        cmocka_unit_test(test_an_address_in_no_prefix_is_refused),
        cmocka_unit_test(test_an_empty_list_refuses_every_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
