/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "dns/rrtype.h"
#include "validate/anchors.h"

/* Makes a name from text. Its memory stays valid for many further calls. */
static struct name name_of(const char *text)
{
    static uint8_t wires[64][NAME_WIRE_MAX];
    static size_t next;
    struct name name;
    assert_int_equal(name_parse(&name, wires[next++ % 64], text, strlen(text)), ERR_OK);
    return name;
}

static struct span ds(uint16_t tag)
{
    static uint8_t rdata[36];
    memset(rdata, 0xab, sizeof(rdata));
    put_u16(rdata, tag);
    rdata[2] = 13;
    rdata[3] = 2;
    return span_of(rdata, sizeof(rdata));
}

static struct span key(uint16_t flags, uint8_t protocol)
{
    static uint8_t rdata[68];
    memset(rdata, 0xcd, sizeof(rdata));
    put_u16(rdata, flags);
    rdata[2] = protocol;
    rdata[3] = 13;
    return span_of(rdata, sizeof(rdata));
}

static void trust(struct anchors *anchors, const char *zone, uint16_t tag)
{
    assert_int_equal(anchors_add(anchors, name_of(zone), RRTYPE_DS, ds(tag)), ERR_OK);
}

static void distrust(struct anchors *anchors, const char *zone)
{
    assert_int_equal(anchors_add_negative(anchors, name_of(zone)), ERR_OK);
}

static void expect(const struct anchors *anchors, const char *name, const char *zone,
                   enum anchor_kind kind)
{
    const struct anchor *anchor = anchors_find(anchors, name_of(name));
    assert_non_null(anchor);
    if (!name_equal_exact(anchor->zone, name_of(zone)))
        fail_msg("another anchor than %s is closest to %s", zone, name);
    assert_int_equal(anchor->kind, kind);
    assert_int_equal(anchor->count > 0, kind == ANCHOR_TRUSTED);
}

static void test_an_empty_table_trusts_nothing(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    assert_null(anchors_find(anchors, name_root()));
    assert_null(anchors_find(anchors, name_of("www.example")));
    assert_int_equal(anchors_count(anchors), 0);
    anchors_free(anchors);
    anchors_free(NULL);
}

static void test_the_root_covers_every_name(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    assert_int_equal(anchors_add_root(anchors), ERR_OK);
    assert_int_equal(anchors_count(anchors), 1);
    expect(anchors, ".", ".", ANCHOR_TRUSTED);
    expect(anchors, "a.b.c.example", ".", ANCHOR_TRUSTED);
    anchors_free(anchors);
}

/* Debian's package dns-root-data contains IANA's digests. */
static void test_the_builtin_anchors_are_the_published_ones(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    char line[512], expected[512];
    size_t lines = 0;
    FILE *file = fopen("/usr/share/dns/root.ds", "r");
    if (!file)
        skip();
    assert_int_equal(anchors_add_root(anchors), ERR_OK);
    const struct anchor *root = anchors_find(anchors, name_root());
    while (fgets(line, sizeof(line), file)) {
        assert_true(lines < root->count);
        const uint8_t *at = root->record[lines].rdata.data;
        int len =
            snprintf(expected, sizeof(expected), ". IN DS %u %u %u ", get_u16(at), at[2], at[3]);
        for (size_t i = 4; i < root->record[lines].rdata.len; i++)
            len += snprintf(expected + len, sizeof(expected) - (size_t)len, "%02X", at[i]);
        line[strcspn(line, "\n")] = '\0';
        assert_string_equal(line, expected);
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, root->count);
    anchors_free(anchors);
}

static void test_the_closest_anchor_decides(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    assert_int_equal(anchors_add_root(anchors), ERR_OK);
    distrust(anchors, "corp.example");
    trust(anchors, "lab.corp.example", 1);
    distrust(anchors, "a.b.c.lab.corp.example");
    expect(anchors, "example", ".", ANCHOR_TRUSTED);
    expect(anchors, "corp.example", "corp.example", ANCHOR_NEGATIVE);
    expect(anchors, "WWW.Corp.Example", "corp.example", ANCHOR_NEGATIVE);
    expect(anchors, "xcorp.example", ".", ANCHOR_TRUSTED);
    expect(anchors, "lab.corp.example", "lab.corp.example", ANCHOR_TRUSTED);
    expect(anchors, "b.c.lab.corp.example", "lab.corp.example", ANCHOR_TRUSTED);
    expect(anchors, "x.a.b.c.lab.corp.example", "a.b.c.lab.corp.example", ANCHOR_NEGATIVE);
    anchors_free(anchors);
}

static void test_names_outside_of_islands_have_no_anchor(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    trust(anchors, "Island.Example", 1);
    expect(anchors, "x.island.example", "island.example", ANCHOR_TRUSTED);
    assert_null(anchors_find(anchors, name_of("example")));
    assert_null(anchors_find(anchors, name_of("other.example")));
    assert_null(anchors_find(anchors, name_root()));
    anchors_free(anchors);
}

static void test_a_negative_anchor_wins_at_the_same_name(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    trust(anchors, "after.example", 1);
    distrust(anchors, "after.example");
    distrust(anchors, "before.example");
    trust(anchors, "before.example", 1);
    assert_int_equal(anchors_add_root(anchors), ERR_OK);
    distrust(anchors, ".");
    expect(anchors, "x.after.example", "after.example", ANCHOR_NEGATIVE);
    expect(anchors, "x.before.example", "before.example", ANCHOR_NEGATIVE);
    expect(anchors, "com", ".", ANCHOR_NEGATIVE);
    assert_int_equal(anchors_count(anchors), 3);
    anchors_free(anchors);
}

static void test_a_record_is_kept_once(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    anchors_set_source(anchors, "first");
    trust(anchors, "example", 1);
    anchors_set_source(anchors, "second");
    trust(anchors, "EXAMPLE", 1);
    trust(anchors, "example", 2);
    const struct anchor *anchor = anchors_find(anchors, name_of("example"));
    assert_int_equal(anchor->count, 2);
    assert_string_equal(anchor->record[0].source, "first");
    assert_string_equal(anchor->record[1].source, "second");
    assert_int_equal(get_u16(anchor->record[1].rdata.data), 2);
    anchors_free(anchors);
}

static void expect_unfit(uint16_t type, struct span rdata)
{
    struct anchors *anchors = anchors_new();
    assert_int_equal(anchors_add(anchors, name_of("example"), type, rdata), ERR_INVALID);
    assert_int_equal(anchors_count(anchors), 0);
    assert_null(anchors_find(anchors, name_of("example")));
    anchors_free(anchors);
}

static void test_only_records_that_may_sign_are_anchors(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    struct name zone = name_of("example");
    assert_int_equal(anchors_add(anchors, zone, RRTYPE_DNSKEY, key(257, 3)), ERR_OK);
    assert_int_equal(anchors_add(anchors, zone, RRTYPE_DNSKEY, key(256, 3)), ERR_OK);
    anchors_free(anchors);
    expect_unfit(RRTYPE_DNSKEY, key(257 | 0x80, 3)); /* the key is revoked */
    expect_unfit(RRTYPE_DNSKEY, key(1, 3));          /* the key is not a zone key */
    expect_unfit(RRTYPE_DNSKEY, key(257, 2));
    expect_unfit(RRTYPE_DNSKEY, span_of(key(257, 3).data, 4));
    expect_unfit(RRTYPE_DNSKEY, span_of(key(257, 3).data, 67)); /* not a P-256 key */
    expect_unfit(RRTYPE_DNSKEY, span_of("", 0));
    expect_unfit(RRTYPE_DS, span_of(ds(1).data, 35)); /* half of a digest */
    expect_unfit(RRTYPE_DS, span_of(ds(1).data, 4));
    expect_unfit(RRTYPE_DS, span_of("", 0));
    expect_unfit(RRTYPE_TXT, ds(1));
}

static void test_the_bound_on_records_is_reached(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    for (unsigned i = 0; i < ANCHOR_RECORDS_MAX; i++)
        trust(anchors, "example", (uint16_t)i);
    assert_int_equal(anchors_add(anchors, name_of("example"), RRTYPE_DS, ds(1000)), ERR_LIMIT);
    const struct anchor *anchor = anchors_find(anchors, name_of("example"));
    assert_int_equal(anchor->count, ANCHOR_RECORDS_MAX);
    for (unsigned i = 0; i < ANCHOR_RECORDS_MAX; i++)
        assert_int_equal(get_u16(anchor->record[i].rdata.data), i);
    anchors_free(anchors);
}

static void test_the_bound_on_zones_is_reached(void **state)
{
    (void)state;
    char zone[32];
    struct anchors *anchors = anchors_new();
    for (unsigned i = 0; i < ANCHORS_MAX; i++) {
        snprintf(zone, sizeof(zone), "z%u%s", i, i % 3 ? ".example" : "");
        distrust(anchors, zone);
    }
    assert_int_equal(anchors_add_negative(anchors, name_of("one.more")), ERR_LIMIT);
    assert_int_equal(anchors_add(anchors, name_of("one.more"), RRTYPE_DS, ds(1)), ERR_LIMIT);
    assert_int_equal(anchors_count(anchors), ANCHORS_MAX);
    for (unsigned i = 0; i < ANCHORS_MAX; i++) {
        snprintf(zone, sizeof(zone), "z%u%s", i, i % 3 ? ".example" : "");
        assert_ptr_equal(anchors_find(anchors, name_of(zone)), anchors_at(anchors, i));
    }
    assert_null(anchors_find(anchors, name_of("z1")));
    anchors_free(anchors);
}

static void test_a_name_of_most_labels_is_found(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX];
    for (size_t i = 0; i < NAME_WIRE_MAX - 1; i += 2)
        memcpy(wire + i, "\1a", 2);
    wire[NAME_WIRE_MAX - 1] = 0;
    struct name longest = {wire, NAME_WIRE_MAX};
    struct anchors *anchors = anchors_new();
    assert_int_equal(anchors_add_negative(anchors, longest), ERR_OK);
    trust(anchors, "a", 1);
    assert_int_equal(anchors_find(anchors, longest)->kind, ANCHOR_NEGATIVE);
    assert_int_equal(anchors_find(anchors, name_parent(longest))->kind, ANCHOR_TRUSTED);
    anchors_free(anchors);
}

static void test_a_copy_outlives_its_original(void **state)
{
    (void)state;
    struct anchors *anchors = anchors_new();
    anchors_set_source(anchors, "built-in");
    assert_int_equal(anchors_add_root(anchors), ERR_OK);
    anchors_set_source(anchors, "file");
    distrust(anchors, "corp.example");
    struct anchors *copy = anchors_copy(anchors);
    anchors_set_source(copy, "command");
    distrust(copy, "broken.example");
    assert_int_equal(anchors_find(anchors, name_of("broken.example"))->kind, ANCHOR_TRUSTED);
    anchors_free(anchors);
    expect(copy, "broken.example", "broken.example", ANCHOR_NEGATIVE);
    expect(copy, "corp.example", "corp.example", ANCHOR_NEGATIVE);
    expect(copy, "com", ".", ANCHOR_TRUSTED);
    assert_int_equal(anchors_at(copy, 0)->count, 2);
    assert_string_equal(anchors_at(copy, 0)->record[1].source, "built-in");
    assert_string_equal(anchors_at(copy, 1)->source, "file");
    assert_string_equal(anchors_at(copy, 2)->source, "command");
    anchors_free(copy);
}

static char changed[2048];

static void on_changed(void *context, struct name zone)
{
    char text[NAME_TEXT_MAX];
    assert_ptr_equal(context, changed);
    name_format(zone, text);
    size_t len = strlen(changed);
    snprintf(changed + len, sizeof(changed) - len, "%s ", text);
}

static void expect_changes(const struct anchors *before, const struct anchors *after,
                           const char *zones)
{
    changed[0] = '\0';
    anchors_compare(before, after, on_changed, changed);
    assert_string_equal(changed, zones);
}

static void test_two_tables_differ_by_the_zones_of_changed_anchors(void **state)
{
    (void)state;
    struct anchors *before = anchors_new(), *after = anchors_new();
    assert_int_equal(anchors_add_root(before), ERR_OK);
    trust(before, "same.example", 1);
    trust(before, "same.example", 2);
    trust(before, "more.example", 1);
    trust(before, "turned.example", 1);
    distrust(before, "gone.example");
    trust(after, "same.example", 2);
    trust(after, "same.example", 1);
    assert_int_equal(anchors_add_root(after), ERR_OK);
    trust(after, "more.example", 1);
    trust(after, "more.example", 2);
    distrust(after, "turned.example");
    distrust(after, "x.same.example");
    expect_changes(before, before, "");
    expect_changes(before, after, "more.example. turned.example. gone.example. x.same.example. ");
    expect_changes(after, before, "more.example. turned.example. x.same.example. gone.example. ");
    anchors_free(before);
    anchors_free(after);
}

/* The number outlives the process, so it must not depend on the random seed of a table. */
static void test_equal_tables_have_one_hash_in_any_order(void **state)
{
    (void)state;
    struct anchors *some = anchors_new(), *same = anchors_new(), *other = anchors_new();
    trust(some, "a.example", 1);
    trust(some, "a.example", 2);
    distrust(some, "b.example");
    distrust(same, "B.example");
    trust(same, "a.example", 2);
    trust(same, "a.example", 1);
    trust(other, "a.example", 1);
    distrust(other, "b.example");
    assert_true(anchors_hash(some) == anchors_hash(same));
    assert_true(anchors_hash(some) != anchors_hash(other));
    trust(other, "a.example", 2);
    assert_true(anchors_hash(some) == anchors_hash(other));
    distrust(other, "a.example");
    assert_true(anchors_hash(some) != anchors_hash(other));
    anchors_free(some);
    anchors_free(same);
    anchors_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_table_trusts_nothing),
        cmocka_unit_test(test_the_root_covers_every_name),
        cmocka_unit_test(test_the_builtin_anchors_are_the_published_ones),
        cmocka_unit_test(test_the_closest_anchor_decides),
        cmocka_unit_test(test_names_outside_of_islands_have_no_anchor),
        cmocka_unit_test(test_a_negative_anchor_wins_at_the_same_name),
        cmocka_unit_test(test_a_record_is_kept_once),
        cmocka_unit_test(test_only_records_that_may_sign_are_anchors),
        cmocka_unit_test(test_the_bound_on_records_is_reached),
        cmocka_unit_test(test_the_bound_on_zones_is_reached),
        cmocka_unit_test(test_a_name_of_most_labels_is_found),
        cmocka_unit_test(test_a_copy_outlives_its_original),
        cmocka_unit_test(test_two_tables_differ_by_the_zones_of_changed_anchors),
        cmocka_unit_test(test_equal_tables_have_one_hash_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
