/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/recurse/sample.h"

#include "recurse/qname_min.h"

static struct qname_min min;

/* Returns the next question, as "www.example. A". */
static const char *ask(struct question question, const char *zone)
{
    static char text[NAME_TEXT_MAX + RRTYPE_TEXT_MAX];
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX];
    struct question out;
    qname_min_next(&min, &question, NAME(zone), &out);
    snprintf(text, sizeof(text), "%s %s", name_format(out.name, name), rrtype_name(out.type, type));
    if (!qname_min_is_whole(&question, &out))
        qname_min_passed(&min, &out);
    return text;
}

static void test_each_zone_sees_one_label_more(void **state)
{
    (void)state;
    qname_min_init(&min, true);
    struct question question = QUESTION("www.example.com", MX);
    assert_string_equal(ask(question, "."), "com. A");
    assert_string_equal(ask(question, "com"), "example.com. A");
    assert_string_equal(ask(question, "example.com"), "www.example.com. MX");
}

static void test_names_that_are_no_cut_are_passed_within_one_zone(void **state)
{
    (void)state;
    qname_min_init(&min, true);
    struct question question = QUESTION("a.b.c.example", AAAA);
    assert_string_equal(ask(question, "example"), "c.example. A");
    assert_string_equal(ask(question, "example"), "b.c.example. A");
    assert_string_equal(ask(question, "example"), "a.b.c.example. AAAA");
    assert_string_equal(ask(question, "example"), "a.b.c.example. AAAA");
}

static void test_the_whole_name_is_asked_when_switched_off(void **state)
{
    (void)state;
    qname_min_init(&min, false);
    assert_string_equal(ask(QUESTION("www.example.com", TXT), "."), "www.example.com. TXT");
    qname_min_init(&min, true);
    assert_string_equal(ask(QUESTION("www.example.com", TXT), "."), "com. A");
    qname_min_stop(&min);
    assert_string_equal(ask(QUESTION("www.example.com", TXT), "com"), "www.example.com. TXT");
}

/* The example of RFC 9156 section 2.3 has 18 labels. */
static void test_long_names_are_shown_in_ten_steps(void **state)
{
    (void)state;
    static const unsigned steps[] = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3};
    struct question question = QUESTION("r.q.p.o.n.m.l.k.j.i.h.g.f.e.d.c.b.a", A);
    unsigned shown = 0;
    qname_min_init(&min, true);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct question out;
        qname_min_next(&min, &question, name_root(), &out);
        shown += steps[i];
        assert_int_equal(name_label_count(out.name), shown);
        qname_min_passed(&min, &out);
    }
    assert_int_equal(shown, 18);
}

static void test_a_name_of_127_labels_takes_no_more_questions_than_allowed(void **state)
{
    (void)state;
    char text[2 * NAME_LABELS_MAX + 1] = "";
    for (unsigned i = 0; i < NAME_LABELS_MAX; i++)
        strcat(text, "a.");
    struct question question = QUESTION(text, A), out;
    unsigned count = 0;
    qname_min_init(&min, true);
    do {
        qname_min_next(&min, &question, name_root(), &out);
        qname_min_passed(&min, &out);
        count++;
    } while (!qname_min_is_whole(&question, &out));
    assert_int_equal(count, MAX_MINIMISE_COUNT);
}

static void test_a_label_with_an_underscore_is_not_shown_alone(void **state)
{
    (void)state;
    qname_min_init(&min, true);
    struct question question = QUESTION("_25._tcp.mail.example", TLSA);
    assert_string_equal(ask(question, "example"), "mail.example. A");
    assert_string_equal(ask(question, "example"), "_25._tcp.mail.example. TLSA");
    question = QUESTION("a._x.example", A);
    qname_min_init(&min, true);
    assert_string_equal(ask(question, "example"), "a._x.example. A");
}

static void test_the_root_and_names_of_cuts_are_asked_whole(void **state)
{
    (void)state;
    qname_min_init(&min, true);
    assert_string_equal(ask(QUESTION(".", NS), "."), ". NS");
    assert_string_equal(ask(QUESTION("example", SOA), "example"), "example. SOA");
    assert_string_equal(ask(QUESTION("example", DS), "."), "example. DS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_zone_sees_one_label_more),
        cmocka_unit_test(test_names_that_are_no_cut_are_passed_within_one_zone),
        cmocka_unit_test(test_the_whole_name_is_asked_when_switched_off),
        cmocka_unit_test(test_long_names_are_shown_in_ten_steps),
        cmocka_unit_test(test_a_name_of_127_labels_takes_no_more_questions_than_allowed),
        cmocka_unit_test(test_a_label_with_an_underscore_is_not_shown_alone),
        cmocka_unit_test(test_the_root_and_names_of_cuts_are_asked_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
