/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/spares.h"

enum { SIZE = 100, MAX_KEPT = 3, MANY = 5 };

static void test_as_many_blocks_are_kept_as_allowed(void **state)
{
    (void)state;
    struct spares spares = {0};
    void *block[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        block[i] = spares_take(&spares, SIZE);
        assert_non_null(block[i]);
        memset(block[i], (int)i, SIZE);
    }
    for (unsigned i = 0; i < MANY; i++)
        spares_give(&spares, block[i], MAX_KEPT);
    assert_int_equal(spares.count, SPARES_ARE_KEPT ? MAX_KEPT : 0);
    spares_clear(&spares);
    assert_int_equal(spares.count, 0);
    assert_null(spares.first);
}

static void test_a_kept_block_comes_back(void **state)
{
    (void)state;
    struct spares spares = {0};
    if (!SPARES_ARE_KEPT)
        skip();
    void *first = spares_take(&spares, SIZE), *second = spares_take(&spares, SIZE);
    spares_give(&spares, first, MAX_KEPT);
    spares_give(&spares, second, MAX_KEPT);
    assert_ptr_equal(spares_take(&spares, SIZE), second);
    assert_ptr_equal(spares_take(&spares, SIZE), first);
    assert_int_equal(spares.count, 0);
    free(first);
    free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_blocks_are_kept_as_allowed),
        cmocka_unit_test(test_a_kept_block_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
