/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The log reports a failure of an upstream once for all workers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/trouble_news.h"

enum { ONE = 3, OTHER = 2, REFUSED = 5, EXPIRED = 6 };

static struct trouble_news news;

static int setup(void **state)
{
    (void)state;
    trouble_news_init(&news);
    return 0;
}

static void test_a_failure_is_news_once_for_each_upstream_and_reason(void **state)
{
    (void)state;
    assert_true(trouble_news_fail(&news, ONE, REFUSED, true, 1000));
    assert_false(trouble_news_fail(&news, ONE, REFUSED, true, 1000 + TROUBLE_AGAIN_US - 1));
    assert_true(trouble_news_fail(&news, ONE, EXPIRED, true, 2000));
    assert_true(trouble_news_fail(&news, OTHER, REFUSED, true, 2000));
    assert_true(trouble_news_fail(&news, 0, REFUSED, true, 2000)); /* a hash may be 0 */
    assert_false(trouble_news_fail(&news, 0, REFUSED, true, 2000));
}

static void test_a_failure_that_lasts_is_news_again(void **state)
{
    (void)state;
    assert_true(trouble_news_fail(&news, ONE, REFUSED, true, 1000));
    assert_true(trouble_news_fail(&news, ONE, REFUSED, true, 1000 + TROUBLE_AGAIN_US));
    assert_false(trouble_news_fail(&news, ONE, REFUSED, true, 1001 + TROUBLE_AGAIN_US));
}

static void test_an_end_is_news_once_and_the_next_failure_is_again(void **state)
{
    (void)state;
    assert_false(trouble_news_end(&news, ONE));
    assert_true(trouble_news_fail(&news, ONE, REFUSED, true, 1000));
    assert_true(trouble_news_end(&news, ONE));
    assert_false(trouble_news_end(&news, ONE));
    assert_true(trouble_news_fail(&news, ONE, REFUSED, true, 2000));
}

/* Two workers are in trouble, and one of them fails twice. */
static void test_an_end_is_news_once_no_worker_is_in_trouble(void **state)
{
    (void)state;
    assert_true(trouble_news_fail(&news, ONE, REFUSED, true, 1000));
    assert_false(trouble_news_fail(&news, ONE, REFUSED, true, 1000));
    assert_true(trouble_news_fail(&news, ONE, EXPIRED, false, 1000));
    assert_false(trouble_news_end(&news, ONE));
    assert_false(trouble_news_fail(&news, ONE, REFUSED, false, 2000));
    assert_true(trouble_news_end(&news, ONE));
}

/* The table is full: a further upstream displaces the one that was logged first. */
static void test_the_oldest_upstream_makes_room(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < TROUBLE_NEWS_MAX; i++)
        assert_true(trouble_news_fail(&news, 10 + i, REFUSED, true, 1000 + i));
    assert_true(trouble_news_fail(&news, ONE, REFUSED, true, 5000));
    assert_false(trouble_news_fail(&news, ONE, REFUSED, true, 5001));
    assert_false(trouble_news_fail(&news, 11, REFUSED, true, 5001));
    /* this upstream was displaced, so its failure is news */
    assert_true(trouble_news_fail(&news, 10, REFUSED, true, 5001));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_failure_is_news_once_for_each_upstream_and_reason, setup),
        cmocka_unit_test_setup(test_a_failure_that_lasts_is_news_again, setup),
        cmocka_unit_test_setup(test_an_end_is_news_once_and_the_next_failure_is_again, setup),
        cmocka_unit_test_setup(test_an_end_is_news_once_no_worker_is_in_trouble, setup),
        cmocka_unit_test_setup(test_the_oldest_upstream_makes_room, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
