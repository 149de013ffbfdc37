/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/zone/zone_make.h"

#define ORIGIN "example.net"
#define SOA_TEXT "\2ns\7example\3net\0\2me\7example\3net\0\0\0\0\7\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4"

static const struct span soa = {(const uint8_t *)SOA_TEXT, sizeof(SOA_TEXT) - 1};
static const struct span address = {(const uint8_t *)"\300\0\2\1", 4};
static const struct span other_address = {(const uint8_t *)"\300\0\2\2", 4};

static struct zone_builder *begin_builder(void)
{
    struct zone_builder *builder = zone_builder_new(zone_make_name(ORIGIN), ZONE_MAKE_BYTES);
    assert_non_null(builder);
    assert_int_equal(zone_builder_add(builder, zone_make_name(ORIGIN), RRTYPE_SOA, 300, soa),
                     ERR_OK);
    return builder;
}

static void add(struct zone_builder *builder, const char *owner, uint16_t type, struct span rdata)
{
    assert_int_equal(zone_builder_add(builder, zone_make_name(owner), type, 60, rdata), ERR_OK);
}

static struct zone_data *end_builder(struct zone_builder *builder)
{
    struct zone_data *data;
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_OK);
    assert_null(builder);
    return data;
}

static void test_a_zone_knows_its_soa_and_its_size(void **state)
{
    (void)state;
    struct zone_builder *builder = begin_builder();
    add(builder, "www." ORIGIN, RRTYPE_A, address);
    struct zone_data *data = end_builder(builder);
    const struct zone_soa *numbers = zone_data_soa(data);
    assert_int_equal(numbers->serial, 7);
    assert_int_equal(numbers->refresh, 1);
    assert_int_equal(numbers->retry, 2);
    assert_int_equal(numbers->expire, 3);
    assert_int_equal(numbers->minimum, 4);
    assert_int_equal(numbers->ttl, 300);
    assert_int_equal(zone_data_records(data), 2);
    assert_true(zone_data_bytes(data) > 100);
    assert_true(name_equal(zone_data_origin(data), zone_make_name(ORIGIN)));
    zone_data_unref(data);
}

static void test_records_are_iterated_in_canonical_order(void **state)
{
    (void)state;
    static const char *const order[] = {
        "example.net",         "a.example.net",      "yljkjljk.a.example.net",
        "Z.a.example.net",     "zabc.a.example.net", "z.example.net",
        "\\001.z.example.net", "*.z.example.net",    "\\200.z.example.net",
    };
    struct zone_builder *builder = begin_builder();
    for (size_t i = sizeof(order) / sizeof(order[0]) - 1; i > 0; i--)
        add(builder, order[i], RRTYPE_A, address);
    struct zone_data *data = end_builder(builder);
    struct zone_iter iter;
    struct zone_record record;
    zone_iter_init(&iter, data);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        assert_true(zone_iter_next(&iter, &record));
        assert_true(name_equal(record.owner, zone_make_name(order[i])));
    }
    assert_false(zone_iter_next(&iter, &record));
    zone_data_unref(data);
}

static void test_names_are_found_in_any_case(void **state)
{
    (void)state;
    struct zone_builder *builder = begin_builder();
    add(builder, "WWW." ORIGIN, RRTYPE_A, other_address);
    add(builder, "www." ORIGIN, RRTYPE_A, address);
    struct zone_data *data = end_builder(builder);
    struct zone_rrset rrset;
    struct span rdata;
    assert_true(zone_data_find(data, zone_make_name("wWw.Example.Net"), RRTYPE_A, &rrset));
    assert_int_equal(rrset.count, 2);
    assert_int_equal(rrset.ttl, 60);
    assert_true(zone_rrset_next(&rrset, &rdata) && span_equal(rdata, address));
    assert_true(zone_rrset_next(&rrset, &rdata) && span_equal(rdata, other_address));
    assert_false(zone_rrset_next(&rrset, &rdata));
    assert_false(zone_data_find(data, zone_make_name("www." ORIGIN), RRTYPE_AAAA, &rrset));
    assert_false(zone_data_find(data, zone_make_name("ww." ORIGIN), RRTYPE_A, &rrset));
    assert_false(zone_data_find(data, zone_make_name("www.example.org"), RRTYPE_A, &rrset));
    assert_false(zone_data_find(data, zone_make_name("net"), RRTYPE_A, &rrset));
    zone_data_unref(data);
}

static void test_a_record_that_comes_twice_is_one_record(void **state)
{
    (void)state;
    struct zone_builder *builder = begin_builder();
    add(builder, ORIGIN, RRTYPE_NS, span_of("\2ns\7example\3net", 16));
    add(builder, ORIGIN, RRTYPE_NS, span_of("\2NS\7EXAMPLE\3net", 16));
    add(builder, ORIGIN, RRTYPE_TXT, span_of("\1a", 2));
    add(builder, ORIGIN, RRTYPE_TXT, span_of("\1A", 2));
    struct zone_data *data = end_builder(builder);
    assert_int_equal(zone_data_records(data), 4);
    zone_data_unref(data);
}

static void test_an_rrset_has_the_smallest_ttl(void **state)
{
    (void)state;
    struct zone_builder *builder = begin_builder();
    struct zone_rrset rrset;
    struct name owner = zone_make_name("w." ORIGIN);
    assert_int_equal(zone_builder_add(builder, owner, RRTYPE_A, 500, address), ERR_OK);
    assert_int_equal(zone_builder_add(builder, owner, RRTYPE_A, 400, other_address), ERR_OK);
    assert_int_equal(zone_builder_add(builder, owner, RRTYPE_TXT, UINT32_MAX, span_of("", 1)),
                     ERR_OK);
    struct zone_data *data = end_builder(builder);
    assert_true(zone_data_find(data, owner, RRTYPE_A, &rrset));
    assert_int_equal(rrset.ttl, 400);
    assert_true(zone_data_find(data, owner, RRTYPE_TXT, &rrset));
    assert_int_equal(rrset.ttl, 0);
    zone_data_unref(data);
}

static void test_foreign_and_malformed_records_are_refused(void **state)
{
    (void)state;
    struct zone_builder *builder = begin_builder();
    struct name owner = zone_make_name("a." ORIGIN);
    assert_int_equal(zone_builder_add(builder, zone_make_name("example.org"), RRTYPE_A, 1, address),
                     ERR_OUT_OF_ZONE);
    assert_int_equal(zone_builder_add(builder, zone_make_name("net"), RRTYPE_A, 1, address),
                     ERR_OUT_OF_ZONE);
    assert_int_equal(
        zone_builder_add(builder, zone_make_name("xexample.net"), RRTYPE_A, 1, address),
        ERR_OUT_OF_ZONE);
    assert_int_equal(zone_builder_add(builder, owner, RRTYPE_SOA, 1, soa), ERR_INVALID);
    assert_int_equal(zone_builder_add(builder, owner, RRTYPE_A, 1, soa), ERR_INVALID);
    assert_int_equal(zone_builder_add(builder, owner, RRTYPE_OPT, 1, address), ERR_INVALID);
    assert_int_equal(zone_builder_add(builder, owner, RRTYPE_ANY, 1, address), ERR_INVALID);
    assert_int_equal(zone_builder_add(builder, owner, RRTYPE_CNAME, 1, span_of("\3www\300\14", 6)),
                     ERR_INVALID);
    assert_int_equal(zone_builder_add(builder, owner, RRTYPE_MX, 1, span_of("\0", 1)), ERR_INVALID);
    assert_int_equal(zone_builder_remove(builder, owner, RRTYPE_A, soa), ERR_INVALID);
    struct zone_data *data = end_builder(builder);
    assert_int_equal(zone_data_records(data), 1);
    zone_data_unref(data);
}

static void test_a_zone_needs_exactly_one_soa(void **state)
{
    (void)state;
    struct zone_builder *builder = zone_builder_new(zone_make_name(ORIGIN), ZONE_MAKE_BYTES);
    struct zone_data *data;
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_INVALID);
    assert_null(data);
    builder = zone_builder_new(zone_make_name(ORIGIN), ZONE_MAKE_BYTES);
    add(builder, "a." ORIGIN, RRTYPE_A, address);
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_INVALID);
    assert_null(data);
    uint8_t second[sizeof(SOA_TEXT)];
    memcpy(second, SOA_TEXT, sizeof(second));
    second[soa.len - 1] = 9;
    builder = begin_builder();
    add(builder, ORIGIN, RRTYPE_SOA, span_of(second, soa.len));
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_INVALID);
    assert_null(data);
    assert_null(builder);
}

static void test_changes_apply_over_a_version_in_their_order(void **state)
{
    (void)state;
    struct zone_builder *builder = begin_builder();
    add(builder, "a." ORIGIN, RRTYPE_A, address);
    add(builder, "b." ORIGIN, RRTYPE_A, address);
    add(builder, "d." ORIGIN, RRTYPE_A, address);
    struct zone_data *old = end_builder(builder), *data;
    struct zone_rrset rrset;

    builder = zone_builder_new_over(old, ZONE_MAKE_BYTES);
    struct name a = zone_make_name("A." ORIGIN), b = zone_make_name("b." ORIGIN),
                c = zone_make_name("c." ORIGIN), e = zone_make_name("e." ORIGIN);
    assert_int_equal(zone_builder_remove(builder, a, RRTYPE_A, address), ERR_OK);
    assert_int_equal(zone_builder_remove(builder, b, RRTYPE_A, address), ERR_OK);
    assert_int_equal(zone_builder_add(builder, b, RRTYPE_A, 99, address), ERR_OK);
    assert_int_equal(zone_builder_add(builder, c, RRTYPE_A, 1, address), ERR_OK);
    assert_int_equal(zone_builder_add(builder, e, RRTYPE_A, 1, address), ERR_OK);
    assert_int_equal(zone_builder_remove(builder, e, RRTYPE_A, address), ERR_OK);
    data = end_builder(builder);

    assert_int_equal(zone_data_records(data), 4);
    assert_false(zone_data_find(data, a, RRTYPE_A, &rrset));
    assert_true(zone_data_find(data, b, RRTYPE_A, &rrset));
    assert_int_equal(rrset.ttl, 99);
    assert_true(zone_data_find(data, c, RRTYPE_A, &rrset));
    assert_true(zone_data_find(data, zone_make_name("d." ORIGIN), RRTYPE_A, &rrset));
    assert_false(zone_data_find(data, e, RRTYPE_A, &rrset));

    assert_true(zone_data_find(old, a, RRTYPE_A, &rrset));
    assert_int_equal(zone_data_records(old), 4);
    zone_data_unref(old);
    zone_data_unref(data);
}

static void test_a_removal_of_a_missing_record_fails(void **state)
{
    (void)state;
    struct zone_builder *builder = begin_builder();
    struct zone_data *old = end_builder(builder), *data;
    builder = zone_builder_new_over(old, ZONE_MAKE_BYTES);
    struct name a = zone_make_name("a." ORIGIN);
    assert_int_equal(zone_builder_remove(builder, a, RRTYPE_A, address), ERR_OK);
    assert_int_equal(zone_builder_add(builder, a, RRTYPE_A, 1, address), ERR_OK);
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_NOT_FOUND);
    assert_null(data);
    zone_data_unref(old);
}

static void test_memory_is_bounded_while_gathering_and_at_the_end(void **state)
{
    (void)state;
    struct zone_builder *builder = zone_builder_new(zone_make_name(ORIGIN), 4096);
    struct zone_data *data;
    char owner[64];
    enum err err = ERR_OK;
    unsigned count = 0;
    assert_int_equal(zone_builder_add(builder, zone_make_name(ORIGIN), RRTYPE_SOA, 1, soa), ERR_OK);
    for (; err == ERR_OK; count++) {
        assert_true(count < 1000);
        snprintf(owner, sizeof(owner), "n%u.%s", count, ORIGIN);
        err = zone_builder_add(builder, zone_make_name(owner), RRTYPE_A, 1, address);
    }
    assert_int_equal(err, ERR_LIMIT);
    assert_true(count > 50);
    /* The finished zone has nodes as well, so the same records exceed the bound. */
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_LIMIT);
    assert_null(data);
}

static void test_an_rrset_has_a_bound(void **state)
{
    (void)state;
    struct zone_builder *builder = zone_builder_new(zone_make_name(ORIGIN), 64 << 20);
    struct name owner = zone_make_name("a." ORIGIN);
    struct zone_data *data;
    assert_int_equal(zone_builder_add(builder, zone_make_name(ORIGIN), RRTYPE_SOA, 1, soa), ERR_OK);
    for (uint32_t i = 0; i <= UINT16_MAX; i++) {
        uint8_t rdata[4];
        put_u32(rdata, i);
        assert_int_equal(zone_builder_add(builder, owner, RRTYPE_A, 1, span_of(rdata, 4)), ERR_OK);
    }
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_LIMIT);
}

static void test_a_builder_may_be_given_up(void **state)
{
    (void)state;
    struct zone_data *old = end_builder(begin_builder());
    struct zone_builder *builder = zone_builder_new_over(old, ZONE_MAKE_BYTES);
    add(builder, "a." ORIGIN, RRTYPE_A, address);
    zone_builder_free(builder);
    zone_builder_free(NULL);
    zone_data_unref(NULL);
    zone_data_unref(zone_data_ref(old));
    assert_int_equal(zone_data_records(old), 1);
    zone_data_unref(old);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_zone_knows_its_soa_and_its_size),
        cmocka_unit_test(test_records_are_iterated_in_canonical_order),
        cmocka_unit_test(test_names_are_found_in_any_case),
        cmocka_unit_test(test_a_record_that_comes_twice_is_one_record),
        cmocka_unit_test(test_an_rrset_has_the_smallest_ttl),
        cmocka_unit_test(test_foreign_and_malformed_records_are_refused),
        cmocka_unit_test(test_a_zone_needs_exactly_one_soa),
        cmocka_unit_test(test_changes_apply_over_a_version_in_their_order),
        cmocka_unit_test(test_a_removal_of_a_missing_record_fails),
        cmocka_unit_test(test_memory_is_bounded_while_gathering_and_at_the_end),
        cmocka_unit_test(test_an_rrset_has_a_bound),
        cmocka_unit_test(test_a_builder_may_be_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
