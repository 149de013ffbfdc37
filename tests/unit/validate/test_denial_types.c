/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/denial_sample.h"

#include "validate/denial_types.h"

static struct span types_of(const char *types)
{
    static uint8_t bytes[SAMPLE_BITMAP_MAX];
    return span_of(bytes, sample_bitmap(bytes, types));
}

#define MAY_SPEAK(types, zone, owner, name, type)                                                  \
    denial_types_may_speak(types_of(types), NAME(zone), NAME(owner), NAME(name), type)

static void test_record_may_speak_of_names_that_are_not_below_a_cut(void **state)
{
    (void)state;
    static const struct {
        const char *types, *owner, *name;
        uint16_t type;
        bool expected;
    } cases[] = {
        /* an ordinary name */
        {"A", "b.example", "b.example", RRTYPE_TXT, true},
        {"A", "b.example", "b.example", RRTYPE_DS, true},
        {"A", "b.example", "a.b.example", 0, true},
        {"A", "b.example", "c.example", 0, true},
        {"", "b.example", "b.example", RRTYPE_TXT, true},
        /* a cut, seen from above */
        {"NS", "b.example", "b.example", RRTYPE_TXT, false},
        {"NS", "b.example", "b.example", RRTYPE_NS, false},
        {"NS", "B.Example", "b.example", RRTYPE_TXT, false},
        {"NS", "b.example", "b.example", RRTYPE_DS, true},
        {"NS DS", "b.example", "b.example", RRTYPE_DS, true},
        {"NS", "b.example", "a.b.example", RRTYPE_DS, false},
        {"NS", "b.example", "A.B.EXAMPLE", 0, false},
        {"NS", "b.example", "ab.example", 0, true},
        {"NS", "b.example", "c.example", 0, true},
        /* a DNAME */
        {"DNAME", "b.example", "b.example", RRTYPE_TXT, true},
        {"DNAME", "b.example", "b.example", RRTYPE_DS, true},
        {"DNAME", "b.example", "a.b.example", 0, false},
        {"DNAME", "b.example", "c.example", 0, true},
        /* the apex */
        {"NS SOA", "example", "example", RRTYPE_TXT, true},
        {"NS SOA", "example", "example", RRTYPE_DS, false},
        {"NS SOA", "example", "a.example", RRTYPE_DS, true},
        {"NS SOA DNAME", "example", "a.example", 0, false},
        {"NS SOA DNAME", "example", "example", RRTYPE_TXT, true},
        {"NS", "example", "a.example", 0, false}, /* a cut, seen from above */
        /* the apex of a child */
        {"NS SOA", "b.example", "b.example", RRTYPE_TXT, false},
        {"NS SOA", "b.example", "b.example", RRTYPE_DS, false},
        {"NS SOA", "b.example", "a.b.example", 0, false},
        {"NS SOA", "b.example", "c.example", 0, false},
        {"SOA", "b.example", "c.example", 0, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(
            MAY_SPEAK(cases[i].types, "example", cases[i].owner, cases[i].name, cases[i].type),
            cases[i].expected);
}

static void test_root_denies_its_ds(void **state)
{
    (void)state;
    assert_true(MAY_SPEAK("NS SOA", ".", ".", ".", RRTYPE_DS));
    assert_true(MAY_SPEAK("NS SOA", ".", ".", "a", 0));
}

static void test_only_an_owner_without_the_type_and_without_an_alias_denies_it(void **state)
{
    (void)state;
    assert_true(denial_types_deny(types_of("A RRSIG NSEC"), RRTYPE_TXT));
    assert_false(denial_types_deny(types_of("A RRSIG NSEC"), RRTYPE_A));
    assert_false(denial_types_deny(types_of("CNAME RRSIG NSEC"), RRTYPE_A));
    assert_false(denial_types_deny(types_of("CNAME RRSIG NSEC"), RRTYPE_CNAME));
    assert_false(denial_types_deny(types_of("CNAME RRSIG NSEC"), RRTYPE_NSEC));
    /* an NSEC record may be beside an alias */
    assert_true(denial_types_deny(types_of("CNAME RRSIG"), RRTYPE_NSEC));
    assert_true(denial_types_deny(types_of("DNAME RRSIG NSEC"), RRTYPE_A));
    assert_true(denial_types_deny(types_of(""), RRTYPE_A));
}

static void test_types_of_questions_are_denied_only_without_data(void **state)
{
    (void)state;
    static const uint16_t asked[] = {RRTYPE_ANY, RRTYPE_MAILA, RRTYPE_MAILB, RRTYPE_AXFR, 0};
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        assert_true(denial_types_deny(types_of("RRSIG NSEC NXNAME"), asked[i]));
        assert_true(denial_types_deny(types_of(""), asked[i]));
        assert_false(denial_types_deny(types_of("RRSIG NSEC CAA"), asked[i]));
    }
}

static void test_compact_denial_has_no_data(void **state)
{
    (void)state;
    assert_true(denial_types_deny_name(types_of("RRSIG NSEC NXNAME")));
    assert_true(denial_types_deny_name(types_of("NXNAME")));
    assert_false(denial_types_deny_name(types_of("RRSIG NSEC")));
    assert_false(denial_types_deny_name(types_of("A RRSIG NSEC NXNAME")));
    assert_false(denial_types_deny_name(types_of("NS RRSIG NSEC NXNAME")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record_may_speak_of_names_that_are_not_below_a_cut),
        cmocka_unit_test(test_root_denies_its_ds),
        cmocka_unit_test(test_only_an_owner_without_the_type_and_without_an_alias_denies_it),
        cmocka_unit_test(test_types_of_questions_are_denied_only_without_data),
        cmocka_unit_test(test_compact_denial_has_no_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
