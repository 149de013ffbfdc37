/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "dns/question.h"

static void test_equal_ignores_case_and_exact_does_not(void **state)
{
    (void)state;
    struct question a = {.name = NAME("WwW.x"), .type = 1, .cls = 1}, b = a;
    b.name = NAME("www.X");
    assert_true(question_equal(&a, &b));
    assert_false(question_equal_exact(&a, &b));
    assert_true(question_equal_exact(&a, &a));
}

static void test_type_and_class_count(void **state)
{
    (void)state;
    struct question a = {.name = NAME("x"), .type = 1, .cls = 1}, b = a;
    b.type = 28;
    assert_false(question_equal(&a, &b));
    assert_false(question_equal_exact(&a, &b));
    b = a;
    b.cls = 3;
    assert_false(question_equal(&a, &b));
    assert_false(question_equal_exact(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_ignores_case_and_exact_does_not),
        cmocka_unit_test(test_type_and_class_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
