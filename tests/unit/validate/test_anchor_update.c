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
#include "validate/anchor_file.h"
#include "validate/anchor_update.h"
#include "validate/dnskey.h"
#include "validate/verify.h"

enum { DAY = 86400, KEY_LEN = 4 + 64, BEGIN = 1800000000, KEYS = 40 };

static struct anchor_point point;
static struct anchor_seen seen;
static struct anchor_changes changes;
static uint8_t rdata[KEYS][2][KEY_LEN]; /* each key without the revoke bit, and with it */
static int64_t now;

static struct span key_of(unsigned key, bool is_revoked)
{
    uint8_t *bytes = rdata[key][is_revoked];
    memset(bytes, (int)key + 1, KEY_LEN);
    bytes[0] = 1;
    bytes[1] = is_revoked ? 0x81 : 0x01;
    bytes[2] = 3;
    bytes[3] = 13;
    return span_of(bytes, KEY_LEN);
}

/* Begins with the keys 0 to count - 1 as trusted keys. */
static void begin(unsigned count)
{
    now = BEGIN;
    anchor_point_init(&point, name_root());
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(anchor_point_add_key(&point, key_of(i, false), ANCHOR_VALID, now, 0),
                         ERR_OK);
}

static void set_is_empty(void)
{
    seen = (struct anchor_seen){.original_ttl_s = 2 * DAY, .signature_left_s = 20 * DAY};
}

static void set_has(unsigned key, bool is_revoked, bool has_signed)
{
    seen.key[seen.count++] =
        (struct anchor_seen_key){.rdata = key_of(key, is_revoked), .has_signed = has_signed};
}

static void fetch(void)
{
    anchor_update_seen(&point, &seen, now, false, &changes);
    assert_true(point.count <= ANCHOR_KEYS_MAX);
    assert_true(anchor_point_count(&point, ANCHOR_ADDPEND) <= ANCHOR_PENDING_MAX);
}

/* Fetches a set that key 0 has signed. The set contains key 0 and perhaps another key. */
static void fetch_with(unsigned other)
{
    set_is_empty();
    set_has(0, false, true);
    if (other)
        set_has(other, false, false);
    fetch();
}

static enum anchor_state state_of(unsigned key)
{
    for (size_t i = 0; i < point.count; i++)
        if (memcmp(point.key[i].rdata, key_of(key, false).data, KEY_LEN) == 0)
            return point.key[i].state;
    return ANCHOR_START;
}

static size_t trusted(void)
{
    struct anchors *anchors = anchors_new();
    assert_int_equal(anchor_point_apply(&point, anchors), ERR_OK);
    const struct anchor *anchor = anchors_find(anchors, name_root());
    size_t count = anchor ? anchor->count : 0;
    anchors_free(anchors);
    return count;
}

static void test_a_new_key_counts_after_thirty_days(void **state)
{
    (void)state;
    begin(1);
    fetch_with(1);
    assert_true(changes.is_trusted);
    assert_int_equal(state_of(1), ANCHOR_ADDPEND);
    assert_int_equal(trusted(), 1);
    now += ANCHOR_HOLD_S - 1;
    fetch_with(1);
    assert_int_equal(state_of(1), ANCHOR_ADDPEND);
    now += 1;
    fetch_with(1);
    assert_int_equal(changes.promoted, 1);
    assert_int_equal(state_of(1), ANCHOR_VALID);
    assert_int_equal(trusted(), 2);
}

static void test_a_longer_ttl_lengthens_the_time(void **state)
{
    (void)state;
    begin(1);
    fetch_with(1);
    now += ANCHOR_HOLD_S;
    set_is_empty();
    seen.original_ttl_s = 40 * DAY;
    set_has(0, false, true);
    set_has(1, false, false);
    fetch();
    assert_int_equal(state_of(1), ANCHOR_ADDPEND);
    now += 10 * DAY;
    fetch();
    assert_int_equal(state_of(1), ANCHOR_VALID);
}

static void test_a_pending_key_that_vanishes_begins_again(void **state)
{
    (void)state;
    begin(1);
    fetch_with(1);
    now += 29 * DAY;
    fetch_with(0);
    assert_int_equal(changes.dropped, 1);
    assert_int_equal(state_of(1), ANCHOR_START);
    fetch_with(1);
    now += 2 * DAY;
    fetch_with(1);
    assert_int_equal(state_of(1), ANCHOR_ADDPEND);
    now += 28 * DAY;
    fetch_with(1);
    assert_int_equal(state_of(1), ANCHOR_VALID);
}

static void test_the_signature_of_a_pending_key_counts_for_nothing(void **state)
{
    (void)state;
    begin(1);
    fetch_with(1);
    struct anchor_point before = point;
    now += ANCHOR_HOLD_S;
    set_is_empty();
    set_has(1, false, true);
    set_has(2, false, false);
    fetch();
    assert_false(changes.is_trusted);
    assert_int_equal(point.failed, 1);
    assert_int_equal(point.succeeded_s, before.succeeded_s);
    assert_memory_equal(point.key, before.key, sizeof(point.key));
}

static void test_a_set_without_a_right_signature_changes_nothing(void **state)
{
    (void)state;
    begin(2);
    struct anchor_point before = point;
    set_is_empty();
    set_has(0, false, false);
    set_has(1, true, false);
    set_has(2, false, true);
    fetch();
    assert_false(changes.is_trusted);
    assert_memory_equal(point.key, before.key, sizeof(point.key));
    set_is_empty();
    fetch();
    assert_false(changes.is_trusted);
    assert_int_equal(point.failed, 2);
    assert_int_equal(trusted(), 2);
}

static void test_a_missing_key_stays_trusted_and_may_return(void **state)
{
    (void)state;
    begin(2);
    fetch_with(0);
    assert_int_equal(state_of(1), ANCHOR_MISSING);
    assert_int_equal(trusted(), 2);
    now += 400 * DAY;
    fetch_with(0);
    assert_int_equal(state_of(1), ANCHOR_MISSING);
    set_is_empty();
    set_has(1, false, true);
    fetch();
    assert_true(changes.is_trusted);
    assert_int_equal(changes.returned, 1);
    assert_int_equal(state_of(1), ANCHOR_VALID);
    assert_int_equal(state_of(0), ANCHOR_MISSING);
}

static void test_a_key_revokes_itself_and_is_forgotten_later(void **state)
{
    (void)state;
    begin(2);
    set_is_empty();
    set_has(0, false, true);
    set_has(1, true, true);
    fetch();
    assert_int_equal(changes.revoked, 1);
    assert_int_equal(state_of(1), ANCHOR_REVOKED);
    assert_int_equal(trusted(), 1);
    assert_false(point.is_revoked);
    now += ANCHOR_HOLD_S - 1;
    fetch_with(0);
    assert_int_equal(state_of(1), ANCHOR_REVOKED);
    now += 1;
    fetch_with(0);
    assert_int_equal(changes.removed, 1);
    assert_int_equal(state_of(1), ANCHOR_START);
}

static void test_a_missing_key_can_be_revoked(void **state)
{
    (void)state;
    begin(2);
    fetch_with(0);
    set_is_empty();
    set_has(0, false, true);
    set_has(1, true, true);
    fetch();
    assert_int_equal(state_of(1), ANCHOR_REVOKED);
}

static void test_no_other_key_can_revoke_a_key(void **state)
{
    (void)state;
    begin(2);
    set_is_empty();
    set_has(0, false, true);
    set_has(1, true, false);
    fetch();
    assert_int_equal(changes.revoked, 0);
    assert_int_equal(state_of(1), ANCHOR_MISSING);
    assert_int_equal(trusted(), 2);
    set_is_empty();
    set_has(0, false, true);
    set_has(7, true, true);
    fetch();
    assert_int_equal(changes.revoked, 0);
    assert_int_equal(state_of(7), ANCHOR_START);
}

static void test_a_revoked_key_is_never_trusted_again(void **state)
{
    (void)state;
    begin(2);
    set_is_empty();
    set_has(0, false, true);
    set_has(1, true, true);
    fetch();
    now += DAY;
    set_is_empty();
    set_has(1, false, true);
    set_has(2, false, false);
    fetch();
    assert_false(changes.is_trusted);
    assert_int_equal(state_of(1), ANCHOR_REVOKED);
    assert_int_equal(state_of(2), ANCHOR_START);
    set_is_empty();
    set_has(0, false, true);
    set_has(1, false, true);
    fetch();
    assert_int_equal(state_of(1), ANCHOR_REVOKED);
}

static void test_a_revoked_pending_key_is_dropped(void **state)
{
    (void)state;
    begin(1);
    fetch_with(1);
    set_is_empty();
    set_has(0, false, true);
    set_has(1, true, true);
    fetch();
    assert_int_equal(changes.revoked, 0);
    assert_int_equal(state_of(1), ANCHOR_START);
}

static void test_the_last_key_revokes_the_zone(void **state)
{
    (void)state;
    begin(1);
    fetch_with(1);
    set_is_empty();
    set_has(0, true, true);
    set_has(1, false, true);
    fetch();
    assert_false(changes.is_trusted);
    assert_true(point.is_revoked);
    assert_int_equal(trusted(), 0);
}

static void test_a_roll_ends_with_the_new_key_alone(void **state)
{
    (void)state;
    begin(1);
    for (unsigned day = 0; day < 31; day++, now += DAY)
        fetch_with(1);
    assert_int_equal(state_of(1), ANCHOR_VALID);
    set_is_empty();
    set_has(0, true, true);
    set_has(1, false, true);
    fetch();
    assert_true(changes.is_trusted);
    for (unsigned day = 0; day < 31; day++, now += DAY) {
        set_is_empty();
        set_has(1, false, true);
        fetch();
    }
    assert_int_equal(point.count, 1);
    assert_int_equal(state_of(1), ANCHOR_VALID);
}

static void test_a_clock_that_goes_back_starts_the_time_again(void **state)
{
    (void)state;
    begin(1);
    fetch_with(1);
    now -= 100 * DAY;
    fetch_with(1);
    assert_int_equal(state_of(1), ANCHOR_ADDPEND);
    now += ANCHOR_HOLD_S - 1;
    fetch_with(1);
    assert_int_equal(state_of(1), ANCHOR_ADDPEND);
    now += 1;
    fetch_with(1);
    assert_int_equal(state_of(1), ANCHOR_VALID);
}

static void test_a_clock_that_goes_back_and_forth_shortens_no_time(void **state)
{
    (void)state;
    begin(1);
    fetch_with(1);
    now -= 20 * DAY;
    fetch_with(1);
    set_is_empty();
    now -= 20000 * DAY;
    fetch();
    now = BEGIN + 29 * DAY;
    fetch_with(1);
    assert_int_equal(state_of(1), ANCHOR_ADDPEND);
    now += DAY;
    fetch_with(1);
    assert_int_equal(state_of(1), ANCHOR_VALID);
}

static void test_a_query_is_never_due_long_after_the_clock_went_back(void **state)
{
    (void)state;
    begin(1);
    fetch_with(0);
    assert_int_equal(anchor_update_due_s(&point, now), now + DAY);
    assert_int_equal(anchor_update_due_s(&point, now - 365 * DAY), now - 365 * DAY);
}

static void test_a_flood_of_new_keys_is_bounded(void **state)
{
    (void)state;
    begin(2);
    for (unsigned round = 0; round < 3; round++) {
        set_is_empty();
        set_has(0, false, true);
        set_has(1, false, false);
        for (unsigned i = 2; i < ANCHOR_SEEN_MAX; i++)
            set_has(i, false, true);
        fetch();
        assert_int_equal(anchor_point_count(&point, ANCHOR_ADDPEND), ANCHOR_PENDING_MAX);
        assert_int_equal(trusted(), 2);
        now += DAY;
    }
    assert_int_equal(changes.ignored, ANCHOR_SEEN_MAX - 2 - ANCHOR_PENDING_MAX);
}

static void test_a_zone_signing_key_never_becomes_an_anchor(void **state)
{
    (void)state;
    begin(1);
    uint8_t other[KEY_LEN];
    memcpy(other, key_of(1, false).data, KEY_LEN);
    other[1] = 0;
    set_is_empty();
    set_has(0, false, true);
    seen.key[seen.count++] = (struct anchor_seen_key){.rdata = span_of(other, KEY_LEN)};
    fetch();
    assert_int_equal(point.count, 1);
    other[1] = 1;
    other[3] = 200;
    fetch();
    assert_int_equal(point.count, 1);
}

static void add_seed_of(unsigned key)
{
    struct dnskey read;
    uint8_t ds[4 + VERIFY_DIGEST_MAX];
    static const uint8_t root[] = {0};
    assert_true(dnskey_read(&read, key_of(key, false)));
    ds[0] = (uint8_t)(read.tag >> 8);
    ds[1] = (uint8_t)read.tag;
    ds[2] = 13;
    ds[3] = 2;
    size_t len = verify_digest(2, span_of(root, 1), read.rdata, ds + 4);
    assert_int_equal(anchor_point_add_seed(&point, span_of(ds, 4 + len)), ERR_OK);
}

static void test_a_ds_record_names_the_first_key(void **state)
{
    (void)state;
    begin(0);
    add_seed_of(0);
    assert_int_equal(trusted(), 1);
    set_is_empty();
    set_has(1, false, true);
    fetch();
    assert_false(changes.is_trusted);
    fetch_with(1);
    assert_true(changes.is_trusted);
    assert_int_equal(state_of(0), ANCHOR_VALID);
    assert_int_equal(state_of(1), ANCHOR_ADDPEND);
    assert_int_equal(point.seed_count, 0);
    assert_int_equal(trusted(), 1);
}

static void test_times_follow_the_ttl_and_the_signatures(void **state)
{
    (void)state;
    static const struct {
        uint32_t ttl_s, left_s, interval_s, retry_s;
    } cases[] = {
        {172800, 20 * DAY, 86400, 17280},
        {172800, DAY, 43200, 8640},
        {60, 20 * DAY, 3600, 3600},
        {100 * DAY, 100 * DAY, 15 * DAY, DAY},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(1);
        set_is_empty();
        set_has(0, false, true);
        seen.original_ttl_s = cases[i].ttl_s;
        seen.signature_left_s = cases[i].left_s;
        fetch();
        assert_int_equal(point.interval_s, cases[i].interval_s);
        assert_int_equal(point.probe_s, now + cases[i].interval_s);
        now += DAY;
        anchor_update_failed(&point, now);
        assert_int_equal(point.probe_s, now + cases[i].retry_s);
    }
}

static void test_a_file_brings_back_the_same_point(void **state)
{
    (void)state;
    struct buf text;
    struct anchor_file_problem problem;
    static struct anchor_point back;
    begin(3);
    fetch_with(3);
    set_is_empty();
    set_has(0, false, true);
    set_has(2, true, true);
    set_has(4, false, false);
    now += DAY;
    fetch();
    anchor_update_failed(&point, now + 5);
    assert_int_equal(state_of(1), ANCHOR_MISSING);
    assert_int_equal(state_of(2), ANCHOR_REVOKED);
    assert_int_equal(state_of(4), ANCHOR_ADDPEND);
    buf_init(&text, ANCHOR_FILE_BYTES_MAX);
    assert_int_equal(anchor_file_write(&text, &point), ERR_OK);
    assert_int_equal(anchor_file_read_point(&back, buf_span(&text), &problem), ERR_OK);
    point.is_kept = true;
    assert_memory_equal(&back, &point, sizeof(back));
    for (size_t cut = 1; cut < buf_len(&text); cut++) {
        enum err err = anchor_file_read_point(
            &back, span_of(buf_span(&text).data, buf_len(&text) - cut), &problem);
        if (err == ERR_OK && buf_span(&text).data[buf_len(&text) - cut - 1] != '\n')
            fail_msg("the file without its last %zu bytes is used", cut);
    }
    buf_deinit(&text);
}

static void test_a_file_keeps_ds_records_whose_keys_were_not_seen(void **state)
{
    (void)state;
    static const uint8_t sha256[36] = {0x12, 0x34, 13, 2, 0xab, 1}, sha384[52] = {0, 1, 15, 4};
    struct buf text;
    struct anchor_file_problem problem;
    static struct anchor_point back;
    begin(0);
    assert_int_equal(anchor_point_add_seed(&point, span_of(sha256, sizeof(sha256))), ERR_OK);
    assert_int_equal(anchor_point_add_seed(&point, span_of(sha384, sizeof(sha384))), ERR_OK);
    anchor_update_failed(&point, now);
    buf_init(&text, ANCHOR_FILE_BYTES_MAX);
    assert_int_equal(anchor_file_write(&text, &point), ERR_OK);
    assert_int_equal(anchor_file_read_point(&back, buf_span(&text), &problem), ERR_OK);
    point.is_kept = true;
    assert_memory_equal(&back, &point, sizeof(back));
    buf_deinit(&text);
}

/* The name of the zone is given without its final dot, which is written. */
static void test_a_zone_whose_name_cannot_be_read_again_is_refused(void **state)
{
    (void)state;
    static const char labels[] = ".bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
                                 ".cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
                                 ".dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd";
    struct anchor_file_problem problem;
    static struct anchor_point back;
    char text[512], name[256];
    for (int letters = 50; letters <= 51; letters++) {
        snprintf(name, sizeof(name), "%.*s\\;%s.eeeeeeeeeeeeeeeee", letters,
                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", labels);
        assert_int_equal(strlen(name), 253 + (letters - 50));
        int len = snprintf(text, sizeof(text), "%s IN DS 20326 89 68 26ACB0\n", name);
        enum err err =
            anchor_file_read_point(&back, span_of((const uint8_t *)text, (size_t)len), &problem);
        assert_int_equal(err, letters == 50 ? ERR_OK : ERR_INVALID);
        if (err)
            assert_non_null(strstr(problem.sentence, "254 characters"));
    }
}

static void expect_no_anchor(const struct anchor_point *of)
{
    struct anchors *anchors = anchors_new();
    assert_int_equal(anchor_point_apply(of, anchors), ERR_OK);
    assert_int_equal(anchors_count(anchors), 0);
    anchors_free(anchors);
}

static void test_the_file_of_a_revoked_zone_has_no_anchor(void **state)
{
    (void)state;
    static const char valid[] =
        ";;REVOKED\nx.test. IN DNSKEY 257 3 13 "
        "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT"
        "0rAK9iUzy1L53eKGQ== ;;state=2 [ VALID ]\n";
    struct buf text;
    struct anchor_file_problem problem;
    static struct anchor_point back;
    begin(1);
    set_is_empty();
    set_has(0, true, true);
    fetch();
    buf_init(&text, ANCHOR_FILE_BYTES_MAX);
    assert_int_equal(anchor_file_write(&text, &point), ERR_OK);
    assert_int_equal(anchor_file_read_point(&back, buf_span(&text), &problem), ERR_OK);
    point.is_kept = true;
    assert_true(back.is_revoked);
    assert_memory_equal(&back, &point, sizeof(back));
    expect_no_anchor(&back);
    buf_deinit(&text);
    assert_int_equal(anchor_file_read_point(&back, span_of(valid, strlen(valid)), &problem),
                     ERR_OK);
    expect_no_anchor(&back);
    assert_int_equal(anchor_file_read_point(&back, span_of(valid, 10), &problem), ERR_INVALID);
    assert_non_null(strstr(problem.sentence, "revoked"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_key_counts_after_thirty_days),
        cmocka_unit_test(test_a_longer_ttl_lengthens_the_time),
        cmocka_unit_test(test_a_pending_key_that_vanishes_begins_again),
        cmocka_unit_test(test_the_signature_of_a_pending_key_counts_for_nothing),
        cmocka_unit_test(test_a_set_without_a_right_signature_changes_nothing),
        cmocka_unit_test(test_a_missing_key_stays_trusted_and_may_return),
        cmocka_unit_test(test_a_key_revokes_itself_and_is_forgotten_later),
        cmocka_unit_test(test_a_missing_key_can_be_revoked),
        cmocka_unit_test(test_no_other_key_can_revoke_a_key),
        cmocka_unit_test(test_a_revoked_key_is_never_trusted_again),
        cmocka_unit_test(test_a_revoked_pending_key_is_dropped),
        cmocka_unit_test(test_the_last_key_revokes_the_zone),
        cmocka_unit_test(test_a_roll_ends_with_the_new_key_alone),
        cmocka_unit_test(test_a_clock_that_goes_back_starts_the_time_again),
        cmocka_unit_test(test_a_clock_that_goes_back_and_forth_shortens_no_time),
        cmocka_unit_test(test_a_query_is_never_due_long_after_the_clock_went_back),
        cmocka_unit_test(test_a_flood_of_new_keys_is_bounded),
        cmocka_unit_test(test_a_zone_signing_key_never_becomes_an_anchor),
        cmocka_unit_test(test_a_ds_record_names_the_first_key),
        cmocka_unit_test(test_times_follow_the_ttl_and_the_signatures),
        cmocka_unit_test(test_a_file_brings_back_the_same_point),
        cmocka_unit_test(test_a_file_keeps_ds_records_whose_keys_were_not_seen),
        cmocka_unit_test(test_a_zone_whose_name_cannot_be_read_again_is_refused),
        cmocka_unit_test(test_the_file_of_a_revoked_zone_has_no_anchor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
