/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/denial_sample.h"

#include "validate/nsec.h"
#include "validate/type_bitmap.h"

/* The record "owner NSEC next A" of the zone, if it can be read. */
struct fixture {
    struct sample sample;
    struct nsec nsec;
};

static bool fixture_read(struct fixture *fixture, const char *zone, const char *owner,
                         const char *next)
{
    sample_begin(&fixture->sample, zone);
    sample_nsec(&fixture->sample, owner, next, "A");
    const struct denial_record *record = &fixture->sample.denial.at[0];
    return nsec_read(&fixture->nsec, fixture->sample.denial.zone, record->owner, record->rdata);
}

static bool fixture_spans(const struct fixture *fixture, const char *name)
{
    return nsec_spans(&fixture->nsec, fixture->sample.denial.zone, NAME(name));
}

static void test_fields_are_read(void **state)
{
    (void)state;
    struct fixture fixture;
    assert_true(fixture_read(&fixture, "example", "b.example", "d.example"));
    assert_true(name_equal(fixture.nsec.owner, NAME("b.example")));
    assert_true(name_equal(fixture.nsec.next, NAME("d.example")));
    assert_true(type_bitmap_has(fixture.nsec.types, RRTYPE_A));
    assert_false(type_bitmap_has(fixture.nsec.types, RRTYPE_NS));
}

static void test_cut_rdata_is_refused_at_every_length(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "b.example", "d.example", "A CAA");
    const struct denial_record *record = &sample.denial.at[0];
    size_t name_len = NAME("d.example").len;
    struct nsec nsec;
    for (size_t len = 0; len < record->rdata.len; len++) {
        uint8_t *exact = malloc(len + 1); /* of exact size, so that a sanitizer detects overruns */
        memcpy(exact, record->rdata.data, len);
        /* the bitmap ends after a whole window */
        bool is_whole = len == name_len || len == name_len + 3;
        assert_int_equal(nsec_read(&nsec, sample.denial.zone, record->owner, span_of(exact, len)),
                         is_whole);
        free(exact);
    }
    assert_true(nsec_read(&nsec, sample.denial.zone, record->owner, record->rdata));
}

static void test_compressed_next_name_is_refused(void **state)
{
    (void)state;
    struct nsec nsec;
    assert_false(
        nsec_read(&nsec, NAME("example"), NAME("b.example"), BYTES("\001d\xc0\x0c\0\1\x40")));
}

static void test_names_outside_the_zone_are_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    assert_false(fixture_read(&fixture, "example", "b.example", "d.test"));
    assert_false(fixture_read(&fixture, "example", "b.example", "."));
    assert_false(fixture_read(&fixture, "example", "b.example", "dexample"));
    assert_false(fixture_read(&fixture, "example", "b.test", "d.example"));
    assert_false(fixture_read(&fixture, "example", "b.test", "d.test"));
    assert_false(fixture_read(&fixture, "sub.example", "b.example", "d.sub.example"));
    assert_false(fixture_read(&fixture, "sub.example", "b.sub.example", "example"));
    assert_true(fixture_read(&fixture, ".", "b.example", "d.test"));
}

static void test_span_excludes_its_ends(void **state)
{
    (void)state;
    struct fixture fixture;
    assert_true(fixture_read(&fixture, "example", "b.example", "d.example"));
    assert_true(fixture_spans(&fixture, "c.example"));
    assert_true(fixture_spans(&fixture, "a.b.example"));
    assert_true(fixture_spans(&fixture, "z.c.example"));
    assert_true(fixture_spans(&fixture, "C.EXAMPLE"));
    assert_false(fixture_spans(&fixture, "b.example"));
    assert_false(fixture_spans(&fixture, "B.example"));
    assert_false(fixture_spans(&fixture, "d.example"));
    assert_false(fixture_spans(&fixture, "D.example"));
    assert_false(fixture_spans(&fixture, "a.d.example"));
    assert_false(fixture_spans(&fixture, "z.a.example"));
    assert_false(fixture_spans(&fixture, "example"));
}

static void test_last_record_of_a_zone_leads_to_the_apex(void **state)
{
    (void)state;
    struct fixture fixture;
    assert_true(fixture_read(&fixture, "example", "x.example", "EXAMPLE"));
    assert_true(fixture_spans(&fixture, "z.example"));
    assert_true(fixture_spans(&fixture, "a.x.example"));
    assert_false(fixture_spans(&fixture, "x.example"));
    assert_false(fixture_spans(&fixture, "a.example"));
    assert_false(fixture_spans(&fixture, "example"));
}

static void test_zone_of_one_name_leads_to_itself(void **state)
{
    (void)state;
    struct fixture fixture;
    assert_true(fixture_read(&fixture, "example", "example", "example"));
    assert_true(fixture_spans(&fixture, "a.example"));
    assert_true(fixture_spans(&fixture, "z.z.example"));
    assert_false(fixture_spans(&fixture, "example"));
}

static void test_record_that_leads_back_but_not_to_the_apex_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    assert_false(fixture_read(&fixture, "example", "d.example", "b.example"));
    assert_false(fixture_read(&fixture, "example", "d.example", "d.example"));
    assert_false(fixture_read(&fixture, "example", "a.d.example", "d.example"));
}

static void test_order_is_canonical(void **state)
{
    (void)state;
    struct fixture fixture; /* the order of RFC 4034 section 6.1 */
    assert_true(fixture_read(&fixture, "example", "zABC.a.example", "\\001.z.example"));
    assert_true(fixture_spans(&fixture, "z.example"));
    assert_false(fixture_spans(&fixture, "*.z.example"));
    assert_false(fixture_spans(&fixture, "Z.a.example"));
    assert_true(fixture_read(&fixture, "example", "*.z.example", "\\200.z.example"));
    assert_true(fixture_spans(&fixture, "a.z.example"));
    assert_false(fixture_spans(&fixture, "\\201.z.example"));
}

static void test_next_name_below_makes_an_empty_non_terminal(void **state)
{
    (void)state;
    struct fixture fixture;
    assert_true(fixture_read(&fixture, "example", "b.example", "x.y.w.example"));
    assert_true(nsec_leads_below(&fixture.nsec, NAME("w.example")));
    assert_true(nsec_leads_below(&fixture.nsec, NAME("Y.W.example")));
    assert_false(nsec_leads_below(&fixture.nsec, NAME("x.y.w.example")));
    assert_false(nsec_leads_below(&fixture.nsec, NAME("v.example")));
    assert_false(nsec_leads_below(&fixture.nsec, NAME("a.x.y.w.example")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_are_read),
        cmocka_unit_test(test_cut_rdata_is_refused_at_every_length),
        cmocka_unit_test(test_compressed_next_name_is_refused),
        cmocka_unit_test(test_names_outside_the_zone_are_refused),
        cmocka_unit_test(test_span_excludes_its_ends),
        cmocka_unit_test(test_last_record_of_a_zone_leads_to_the_apex),
        cmocka_unit_test(test_zone_of_one_name_leads_to_itself),
        cmocka_unit_test(test_record_that_leads_back_but_not_to_the_apex_is_refused),
        cmocka_unit_test(test_order_is_canonical),
        cmocka_unit_test(test_next_name_below_makes_an_empty_non_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
