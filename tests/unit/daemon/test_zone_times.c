/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Times of a zone, which a reader may still read after the zone has ended. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/stats.h"
#include "daemon/zone_times.h"

static void test_a_reader_keeps_the_times_of_a_zone_that_has_gone(void **state)
{
    (void)state;
    struct zone_times *times = zone_times_new();
    assert_non_null(times);
    struct zone_times *seen = zone_times_ref(times);
    zone_times_set(times, 10, 20);
    zone_times_unref(times);
    const struct control_zone_times *shown = zone_times_look(seen);
    assert_int_equal(stats_read(&shown->confirmed_at_s), 10);
    assert_int_equal(stats_read(&shown->expires_at), 20);
    zone_times_unref(seen);
}

static void test_a_zone_of_a_file_has_no_times(void **state)
{
    (void)state;
    assert_null(zone_times_ref(NULL));
    assert_null(zone_times_look(NULL));
    zone_times_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reader_keeps_the_times_of_a_zone_that_has_gone),
        cmocka_unit_test(test_a_zone_of_a_file_has_no_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
