/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/grace.h"
#include "dns/rrtype.h"
#include "unit/cache/spans_zones.h"

enum { START = 1000 };

static int spans_setup(void **state)
{
    cache_thread_begin();
    *state = spans_new(SPANS_BYTES_MAX);
    return *state ? 0 : -1;
}

static int spans_teardown(void **state)
{
    cache_thread_end();
    spans_free(*state);
    return 0;
}

static bool add(struct spans *spans, const char *zone, const char *owner)
{
    return spans_put(spans, zone, SPANS_NAMES, "", owner, RRTYPE_NSEC, owner, START);
}

static const struct spans_zone *zone_above(struct spans *spans, const char *text)
{
    uint8_t wire[NAME_WIRE_MAX];
    return spans_zone_above(spans, 0, spans_name(wire, text));
}

/* Asserts that the last RRset before the name has this owner. */
static void expect_before(struct spans *spans, const char *text, const char *owner)
{
    uint8_t wires[2][NAME_WIRE_MAX];
    cache_read_begin();
    const struct spans_zone *zone = zone_above(spans, text);
    assert_non_null(zone);
    const struct spans_item *item =
        spans_before(zone, SPANS_NAMES, spans_name(wires[0], text), START);
    assert_non_null(item);
    assert_true(name_equal(item->owner, spans_name(wires[1], owner)));
    struct span records = item->records, rdata;
    assert_true(spans_next(&records, &rdata));
    assert_true(span_equal(rdata, span_of(owner, strlen(owner))));
    assert_true(span_equal(item->signature, rdata));
    assert_false(spans_next(&records, &rdata));
    cache_read_end();
}

/* Waits until the memory that readers may still use is freed. Returns the usage. */
static struct spans_usage settled(struct spans *spans)
{
    struct spans_usage usage;
    spans_usage(spans, &usage);
    for (int calm = 0; calm < 50;) {
        uint64_t before = usage.bytes;
        grace_wait();
        usleep(1000);
        spans_usage(spans, &usage);
        calm = usage.bytes == before ? calm + 1 : 0;
    }
    return usage;
}

static void test_the_span_before_a_name_is_found_in_canonical_order(void **state)
{
    struct spans *spans = *state;
    assert_true(add(spans, "example", "z.example"));
    assert_true(add(spans, "example", "example"));
    assert_true(add(spans, "example", "a.example"));
    assert_true(add(spans, "example", "X.a.example"));
    assert_true(add(spans, "example", "b.example"));
    expect_before(spans, "example", "example");
    expect_before(spans, "A.example", "a.example");
    expect_before(spans, "w.a.example", "a.example");
    expect_before(spans, "y.x.a.example", "X.a.example");
    expect_before(spans, "ab.example", "X.a.example");
    expect_before(spans, "zz.example", "z.example");
}

static void test_the_last_span_comes_before_the_first(void **state)
{
    struct spans *spans = *state;
    assert_true(add(spans, "example", "m.example"));
    assert_true(add(spans, "example", "q.example"));
    expect_before(spans, "b.example", "q.example");
}

static void test_the_closest_zone_is_found(void **state)
{
    struct spans *spans = *state;
    assert_false(spans_any(spans));
    assert_null(zone_above(spans, "www.example"));
    assert_true(add(spans, "example", "example"));
    assert_true(add(spans, "sub.example", "sub.example"));
    assert_true(spans_any(spans));
    expect_before(spans, "b.sub.example", "sub.example");
    expect_before(spans, "b.tub.example", "example");
    assert_null(zone_above(spans, "other"));
    assert_true(add(spans, ".", "net"));
    expect_before(spans, "other", "net");
}

static void test_an_expired_span_is_not_found(void **state)
{
    struct spans *spans = *state;
    uint8_t wire[NAME_WIRE_MAX];
    struct name name = spans_name(wire, "b.example");
    assert_true(add(spans, "example", "a.example"));
    cache_read_begin();
    const struct spans_zone *zone = zone_above(spans, "b.example");
    assert_non_null(spans_before(zone, SPANS_NAMES, name, START + SPANS_TEST_LIFE_US - 1));
    assert_null(spans_before(zone, SPANS_NAMES, name, START + SPANS_TEST_LIFE_US));
    cache_read_end();
}

static void test_only_a_different_rrset_replaces_a_stored_one(void **state)
{
    struct spans *spans = *state;
    struct spans_usage usage;
    uint8_t wire[NAME_WIRE_MAX];
    assert_true(add(spans, "example", "a.example"));
    cache_read_begin();
    const struct spans_zone *zone = zone_above(spans, "a.example");
    struct name name = spans_name(wire, "a.example");
    const struct spans_item *first = spans_before(zone, SPANS_NAMES, name, START);
    assert_true(add(spans, "example", "A.example"));
    assert_ptr_not_equal(first, spans_before(zone, SPANS_NAMES, name, START)); /* other RDATA */
    assert_true(add(spans, "example", "a.example"));
    first = spans_before(zone, SPANS_NAMES, name, START);
    assert_true(add(spans, "example", "a.example"));
    assert_ptr_equal(first, spans_before(zone, SPANS_NAMES, name, START));
    assert_true(spans_put(spans, "example", SPANS_NAMES, "", "a.example", RRTYPE_NSEC, "a.example",
                          START + SPANS_TEST_LIFE_US / 2));
    assert_ptr_not_equal(first, spans_before(zone, SPANS_NAMES, name, START));
    cache_read_end();
    spans_usage(spans, &usage);
    assert_int_equal(usage.items, 1);
}

static void test_a_replaced_rrset_keeps_its_place_among_others(void **state)
{
    static const char *const owners[] = {"d.example", "b.example", "f.example", "b.example",
                                         "f.example", "d.example", "a.example", "e.example",
                                         "g.example", "c.example"};
    struct spans *spans = *state;
    struct spans_usage usage;
    for (unsigned i = 0; i < ARRAY_LEN(owners); i++)
        assert_true(spans_put(spans, "example", SPANS_NAMES, "", owners[i], RRTYPE_NSEC,
                              i < 3 ? "former" : owners[i], START));
    for (char letter = 'a'; letter <= 'g'; letter++) {
        char owner[] = {letter, '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e', '\0'};
        expect_before(spans, owner, owner);
    }
    spans_usage(spans, &usage);
    assert_int_equal(usage.items, 7);
}

static void test_records_are_found_by_owner_and_type(void **state)
{
    struct spans *spans = *state;
    uint8_t wire[NAME_WIRE_MAX];
    struct name name = spans_name(wire, "*.example");
    assert_true(spans_put(spans, "example", SPANS_RECORDS, "", "*.example", RRTYPE_A, "A", START));
    assert_true(
        spans_put(spans, "example", SPANS_RECORDS, "", "*.example", RRTYPE_TXT, "TXT", START));
    cache_read_begin();
    const struct spans_zone *zone = zone_above(spans, "*.example");
    assert_int_equal(spans_records(zone, name, RRTYPE_A, START)->type, RRTYPE_A);
    assert_int_equal(spans_records(zone, name, RRTYPE_TXT, START)->type, RRTYPE_TXT);
    assert_null(spans_records(zone, name, RRTYPE_AAAA, START));
    assert_null(spans_records(zone, spans_zone_name(zone), RRTYPE_A, START));
    assert_null(spans_before(zone, SPANS_NAMES, name, START));
    cache_read_end();
}

static void test_another_chain_displaces_the_spans_of_the_former(void **state)
{
    struct spans *spans = *state;
    struct spans_usage usage;
    for (unsigned i = 0; i < 3; i++) {
        static const char *const owners[] = {"a.example", "b.example", "c.example"};
        assert_true(
            spans_put(spans, "example", SPANS_HASHES, "salt", owners[i], RRTYPE_NSEC3, "1", START));
    }
    spans_usage(spans, &usage);
    assert_int_equal(usage.items, 3);
    assert_true(
        spans_put(spans, "example", SPANS_HASHES, "pepper", "d.example", RRTYPE_NSEC3, "1", START));
    cache_read_begin();
    struct span chain = spans_chain(zone_above(spans, "example"), SPANS_HASHES);
    assert_true(span_equal(chain, span_of("pepper", 6)));
    cache_read_end();
    spans_usage(spans, &usage);
    assert_int_equal(usage.items, 1);
}

static void test_an_rrset_that_is_too_large_or_expired_is_refused(void **state)
{
    struct spans *spans = *state;
    struct spans_usage usage;
    uint8_t wire[NAME_WIRE_MAX];
    static const uint8_t zeros[SPANS_ITEM_BYTES_MAX];
    struct span record = span_of(zeros, sizeof(zeros) - 9 - 2 + 1); /* one byte too many */
    struct spans_entry entry = {.zone = spans_name(wire, "example"),
                                .shelf = SPANS_RECORDS,
                                .owner = spans_name(wire, "example"),
                                .type = RRTYPE_TXT,
                                .expires_at = START + 1,
                                .record = &record,
                                .count = 1};
    assert_false(spans_store(spans, &entry, START));
    record.len--;
    assert_false(spans_store(spans, &entry, START + 1));
    assert_false(spans_any(spans));
    assert_true(spans_store(spans, &entry, START));
    spans_usage(spans, &usage);
    assert_int_equal(usage.items, 1);
}

/* ---- bounds ---- */

static void test_a_full_shelf_keeps_its_bound(void **state)
{
    struct spans *spans = *state;
    struct spans_usage usage;
    char owner[64];
    for (unsigned i = 0; i < SPANS_SHELF_MAX + 50; i++) {
        snprintf(owner, sizeof(owner), "n%05u.example", i * 7919 % 100000);
        if (!add(spans, "example", owner))
            settled(spans), assert_true(add(spans, "example", owner));
        expect_before(spans, owner, owner);
    }
    spans_usage(spans, &usage);
    assert_int_equal(usage.items, SPANS_SHELF_MAX);
    assert_int_equal(usage.dropped_items, 50);
    assert_int_equal(usage.zones, 1);
}

static void test_expired_rrsets_of_a_full_shelf_go_first(void **state)
{
    struct spans *spans = *state;
    struct spans_usage usage;
    char owner[64];
    for (unsigned i = 0; i < SPANS_SHELF_MAX; i++) {
        snprintf(owner, sizeof(owner), "n%05u.example", i);
        uint64_t now = i < 10 ? START : START + 5000;
        if (!spans_put(spans, "example", SPANS_NAMES, "", owner, RRTYPE_NSEC, "1", now))
            settled(spans),
                spans_put(spans, "example", SPANS_NAMES, "", owner, RRTYPE_NSEC, "1", now);
    }
    settled(spans);
    assert_true(spans_put(spans, "example", SPANS_NAMES, "", "z.example", RRTYPE_NSEC, "1",
                          START + SPANS_TEST_LIFE_US));
    spans_usage(spans, &usage);
    assert_int_equal(usage.dropped_items, 0);
    assert_int_equal(usage.items, SPANS_SHELF_MAX - 10 + 1);
}

static void test_many_zones_do_not_displace_one_with_fewer_labels(void **state)
{
    struct spans *spans = *state;
    struct spans_usage usage;
    char zone[64];
    assert_true(add(spans, "org", "org"));
    for (unsigned i = 0; i < SPANS_ZONES_MAX + 500; i++) {
        snprintf(zone, sizeof(zone), "z%u.example", i);
        if (!add(spans, zone, zone))
            settled(spans), assert_true(add(spans, zone, zone));
    }
    spans_usage(spans, &usage);
    assert_int_equal(usage.zones, SPANS_ZONES_MAX);
    assert_int_equal(usage.dropped_zones, 501);
    expect_before(spans, "a.org", "org");
    assert_true(add(spans, "net", "net"));
    expect_before(spans, "a.net", "net");
}

static void test_a_deep_zone_finds_no_room_among_top_level_domains(void **state)
{
    struct spans *spans = *state;
    struct spans_usage usage;
    char zone[64];
    for (unsigned i = 0; i < SPANS_ZONES_MAX; i++) {
        snprintf(zone, sizeof(zone), "z%u", i);
        assert_true(add(spans, zone, zone));
    }
    assert_false(add(spans, "deep.example", "deep.example"));
    spans_usage(spans, &usage);
    assert_int_equal(usage.refused, 1);
    assert_int_equal(usage.dropped_zones, 0);
}

static void test_the_bytes_keep_their_bound(void **state)
{
    struct spans *spans = spans_new(64 * 1024);
    struct spans_usage usage;
    char zone[64];
    unsigned stored = 0;
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(zone, sizeof(zone), "z%u.example", i);
        stored += add(spans, zone, zone);
        spans_usage(spans, &usage);
        assert_true(usage.bytes <= 64 * 1024);
    }
    assert_true(stored > 100);
    assert_true(usage.dropped_zones > 0);
    usage = settled(spans);
    assert_true(add(spans, "last.example", "last.example"));
    expect_before(spans, "a.last.example", "last.example");
    spans_free(spans);
}

static void test_one_zone_alone_keeps_the_bound_of_the_bytes(void **state)
{
    struct spans *spans = spans_new(64 * 1024);
    struct spans_usage usage;
    char owner[64];
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(owner, sizeof(owner), "n%u.example", i);
        (void)!add(spans, "example", owner);
        spans_usage(spans, &usage);
        assert_true(usage.bytes <= 64 * 1024);
    }
    assert_true(usage.refused > 0);
    assert_true(usage.items > 50);
    spans_free(spans);
}

/* ---- forgetting ---- */

static void test_forgetting_takes_zones_at_below_and_above(void **state)
{
    struct spans *spans = *state;
    uint8_t wire[NAME_WIRE_MAX];
    assert_true(add(spans, ".", "."));
    assert_true(add(spans, "org", "org"));
    assert_true(add(spans, "example.org", "example.org"));
    assert_true(add(spans, "a.example.org", "a.example.org"));
    assert_true(add(spans, "other.org", "other.org"));
    spans_forget(spans, spans_name(wire, "example.org"));
    assert_null(zone_above(spans, "b.a.example.org"));
    expect_before(spans, "b.other.org", "other.org");
    spans_forget(spans, name_root());
    assert_false(spans_any(spans));
    struct spans_usage usage = settled(spans);
    assert_int_equal(usage.items, 0);
    assert_int_equal(usage.bytes, 0);
}

/* Spans of one space must not deny names of another space. */
static void test_zones_of_another_space_are_not_found(void **state)
{
    struct spans *spans = *state;
    uint8_t wires[2][NAME_WIRE_MAX];
    struct span record = span_of("x", 1);
    struct spans_entry entry = {.space = 7,
                                .zone = spans_name(wires[0], "corp.example"),
                                .shelf = SPANS_NAMES,
                                .owner = spans_name(wires[1], "a.corp.example"),
                                .type = RRTYPE_NSEC,
                                .expires_at = START + SPANS_TEST_LIFE_US,
                                .record = &record,
                                .count = 1,
                                .signature = record};
    assert_true(spans_store(spans, &entry, START));
    struct name name = entry.owner;
    cache_read_begin();
    assert_null(spans_zone_above(spans, 0, name));
    assert_null(spans_zone_above(spans, 8, name));
    assert_non_null(spans_zone_above(spans, 7, name));
    cache_read_end();
    assert_true(add(spans, "corp.example", "b.corp.example"));
    cache_read_begin();
    const struct spans_zone *shared = spans_zone_above(spans, 0, name);
    assert_non_null(shared);
    assert_ptr_not_equal(shared, spans_zone_above(spans, 7, name));
    assert_false(name_equal(spans_before(shared, SPANS_NAMES, name, START)->owner, name));
    cache_read_end();
    spans_forget(spans, entry.zone);
    cache_read_begin();
    assert_null(spans_zone_above(spans, 0, name));
    assert_null(spans_zone_above(spans, 7, name));
    cache_read_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_span_before_a_name_is_found_in_canonical_order,
                                        spans_setup, spans_teardown),
        cmocka_unit_test_setup_teardown(test_the_last_span_comes_before_the_first, spans_setup,
                                        spans_teardown),
        cmocka_unit_test_setup_teardown(test_the_closest_zone_is_found, spans_setup,
                                        spans_teardown),
        cmocka_unit_test_setup_teardown(test_an_expired_span_is_not_found, spans_setup,
                                        spans_teardown),
        cmocka_unit_test_setup_teardown(test_only_a_different_rrset_replaces_a_stored_one,
                                        spans_setup, spans_teardown),
        cmocka_unit_test_setup_teardown(test_a_replaced_rrset_keeps_its_place_among_others,
                                        spans_setup, spans_teardown),
        cmocka_unit_test_setup_teardown(test_records_are_found_by_owner_and_type, spans_setup,
                                        spans_teardown),
        cmocka_unit_test_setup_teardown(test_another_chain_displaces_the_spans_of_the_former,
                                        spans_setup, spans_teardown),
        cmocka_unit_test_setup_teardown(test_an_rrset_that_is_too_large_or_expired_is_refused,
                                        spans_setup, spans_teardown),
        cmocka_unit_test_setup_teardown(test_a_full_shelf_keeps_its_bound, spans_setup,
                                        spans_teardown),
        cmocka_unit_test_setup_teardown(test_expired_rrsets_of_a_full_shelf_go_first, spans_setup,
                                        spans_teardown),
        cmocka_unit_test_setup_teardown(test_many_zones_do_not_displace_one_with_fewer_labels,
                                        spans_setup, spans_teardown),
        cmocka_unit_test_setup_teardown(test_a_deep_zone_finds_no_room_among_top_level_domains,
                                        spans_setup, spans_teardown),
        cmocka_unit_test_setup_teardown(test_the_bytes_keep_their_bound, spans_setup,
                                        spans_teardown),
        cmocka_unit_test_setup_teardown(test_one_zone_alone_keeps_the_bound_of_the_bytes,
                                        spans_setup, spans_teardown),
        cmocka_unit_test_setup_teardown(test_forgetting_takes_zones_at_below_and_above, spans_setup,
                                        spans_teardown),
        cmocka_unit_test_setup_teardown(test_zones_of_another_space_are_not_found, spans_setup,
                                        spans_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
