/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/duration_text.h"

static void test_a_duration_has_at_least_two_of_its_unit(void **state)
{
    (void)state;
    static const struct {
        uint32_t seconds;
        const char *text;
    } rows[] = {
        {0, "0 seconds"},           {1, "1 second"},       {119, "119 seconds"},
        {120, "2 minutes"},         {7199, "119 minutes"}, {7200, "2 hours"},
        {172799, "47 hours"},       {172800, "2 days"},    {31 * 86400 + 5, "31 days"},
        {UINT32_MAX, "49710 days"},
    };
    char text[DURATION_TEXT_MAX];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(duration_text(text, rows[i].seconds), rows[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_duration_has_at_least_two_of_its_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
