/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Snapshots: which answers come back, how old they are then, and which files are refused. */
#include "cache/snapshot.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "cache/snapshot_format.h"
#include "dns/header.h"
#include "unit/cache/made_answers.h"

enum { WRITTEN_S = 1800000000 };

static struct cache *cache, *other;
static struct made made;
static char folder[64], path[80];
static struct cache_filter filter;
static const bool never = false, at_once = true;

static int set_up(void **state)
{
    (void)state;
    cache_thread_begin();
    cache = made_cache(CACHE_SIZE_MIN);
    other = made_cache(CACHE_SIZE_MIN);
    strcpy(folder, "/tmp/nailup-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/cache.snapshot", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* no temporary file is left */
    cache_thread_end();
    cache_free(cache);
    cache_free(other);
    return 0;
}

/* Makes an answer for n<number>.example with these header flags. */
static void make(uint64_t number, unsigned records, uint16_t flags)
{
    make_question(&made, number);
    make_answer(&made, records, 0, (uint32_t)number, 100 * SECOND);
    header_set_flags(made.message, (uint16_t)(HEADER_QR | HEADER_RA | flags));
}

static void keep(uint64_t number)
{
    make(number, 1, 0);
    assert_true(store_made(cache, &made, 0));
}

static uint64_t saved(uint64_t now_us)
{
    uint64_t count = 0;
    struct snapshot_now now = {now_us, WRITTEN_S};
    assert_int_equal(snapshot_save(cache, path, now, &never, &count), ERR_OK);
    return count;
}

static enum err load(uint64_t now_us, uint64_t passed_s, uint64_t *count)
{
    struct snapshot_now now = {now_us, WRITTEN_S + passed_s};
    return snapshot_load(other, path, now, filter, &never, count);
}

static uint64_t loaded(uint64_t now_us, uint64_t passed_s)
{
    uint64_t count = 0;
    assert_int_equal(load(now_us, passed_s, &count), ERR_OK);
    return count;
}

static bool find(uint64_t number, uint8_t flags, uint64_t now_us, struct answer *out)
{
    struct cache_key key;
    make_question(&made, number);
    cache_key_init(&key, other, &made.question, flags, 0, CACHE_SPACE_SHARED);
    return cache_find(other, &key, now_us, out);
}

static bool find_stale(uint64_t number, uint64_t now_us, struct answer *out)
{
    struct cache_key key;
    make_question(&made, number);
    cache_key_init(&key, other, &made.question, 0, 0, CACHE_SPACE_SHARED);
    return cache_find_stale(other, &key, now_us, out);
}

static uint64_t entries(const struct cache *of)
{
    struct cache_usage usage;
    cache_usage(of, &usage);
    return usage.entries;
}

static void test_loaded_answers_are_older_by_the_time_between(void **state)
{
    (void)state;
    struct answer found;
    uint8_t out[512];
    for (uint64_t n = 0; n < 1000; n++)
        keep(n);
    assert_int_equal(saved(150 * SECOND), 1000);
    /* The machine has rebooted, so the clock has started again. */
    assert_int_equal(loaded(7 * SECOND, 100), 1000);
    cache_read_begin();
    for (uint64_t n = 0; n < 1000; n++)
        assert_true(find(n, 0, 7 * SECOND, &found));
    assert_int_equal(found.ttl_s, MADE_TTL - 50 - 100);
    assert_int_equal(found.ttl_count, 1);
    answer_copy(&found, found.message.len, 17 * SECOND, out);
    assert_int_equal(get_u32(out + found.ttl_offsets[0]), MADE_TTL - 50 - 100 - 10);
    assert_true(find(1, 0, (7 + 149) * SECOND, &found));
    assert_false(find(1, 0, (7 + 150) * SECOND, &found));
    cache_read_end();
}

static void test_every_field_of_an_answer_comes_back(void **state)
{
    (void)state;
    struct answer found;
    make(5, 0, HEADER_AD | 3);
    made.answer.kind = ANSWER_NXDOMAIN;
    made.answer.ede_count = 1;
    made.answer.ede[0] = 22;
    made.answer.security = SECURITY_INSECURE;
    assert_true(store_made(cache, &made, CACHE_KEY_DO | CACHE_KEY_CD));
    assert_int_equal(saved(100 * SECOND), 1);
    assert_int_equal(loaded(SECOND, 0), 1);
    cache_read_begin();
    assert_false(find(5, 0, SECOND, &found));
    assert_true(find(5, CACHE_KEY_DO | CACHE_KEY_CD, SECOND, &found));
    assert_true(span_equal(found.message, made.answer.message));
    assert_int_equal(found.kind, ANSWER_NXDOMAIN);
    assert_int_equal(found.ede_count, 1);
    assert_int_equal(found.ede[0], 22);
    assert_int_equal(found.security, SECURITY_INSECURE);
    cache_read_end();
}

/* A file must never be able to make an answer secure. */
static void test_a_secure_answer_comes_back_unchecked_and_without_ad(void **state)
{
    (void)state;
    struct answer found;
    for (uint8_t security = SECURITY_SECURE; security <= SECURITY_BOGUS; security++) {
        make(security, 1, HEADER_AD);
        made.answer.security = security;
        assert_true(store_made(cache, &made, 0));
    }
    assert_int_equal(saved(100 * SECOND), 2);
    assert_int_equal(loaded(SECOND, 0), 2);
    cache_read_begin();
    for (uint8_t security = SECURITY_SECURE; security <= SECURITY_BOGUS; security++) {
        assert_true(find(security, 0, SECOND, &found));
        assert_int_equal(found.security, SECURITY_UNCHECKED);
        assert_false(header_flags(found.message.data) & HEADER_AD);
    }
    cache_read_end();
}

static enum security security_of(uint64_t number)
{
    struct answer found;
    cache_read_begin();
    assert_true(find(number, 0, SECOND, &found));
    enum security security = found.security;
    cache_read_end();
    return security;
}

/* A negative trust anchor may be gone at the next start, or there may be a new trust anchor. */
static void test_an_insecure_answer_comes_back_insecure_under_the_same_rules_only(void **state)
{
    (void)state;
    make(1, 1, 0);
    made.answer.security = SECURITY_INSECURE;
    assert_true(store_made(cache, &made, 0));
    cache_set_rules(cache, 7);
    saved(100 * SECOND);
    assert_int_equal(loaded(SECOND, 0), 1);
    assert_int_equal(security_of(1), SECURITY_UNCHECKED);
    flush_name(other, made.question.name);
    cache_set_rules(other, 7);
    assert_int_equal(loaded(SECOND, 0), 1);
    assert_int_equal(security_of(1), SECURITY_INSECURE);
}

static void test_failures_are_not_saved(void **state)
{
    (void)state;
    make(2, 1, 2);
    made.answer.kind = ANSWER_FAILURE;
    assert_true(store_made(cache, &made, 0));
    assert_int_equal(saved(101 * SECOND), 0);
}

static void test_an_expired_answer_comes_back_expired(void **state)
{
    (void)state;
    struct answer found;
    uint8_t out[512];
    make(3, 1, 0);
    made.answer.stale_s = 10;
    assert_true(store_made(cache, &made, 0));
    make(4, 1, 0);
    made.answer.ttl_s = 50;
    assert_true(store_made(cache, &made, 0));
    assert_int_equal(saved(150 * SECOND), 2);
    assert_int_equal(loaded(9 * SECOND, 30), 2);
    cache_read_begin();
    assert_false(find(3, 0, 9 * SECOND, &found));
    assert_false(find(4, 0, 9 * SECOND, &found));
    assert_false(find(4, 0, 6 * SECOND, &found)); /* for a worker whose clock is behind */
    assert_true(find_stale(3, 9 * SECOND, &found));
    assert_int_equal(found.stale_s, 10 + 50 + 30);
    assert_true(find_stale(4, 19 * SECOND, &found));
    assert_int_equal(found.stale_s, 1 + 30 + 10);
    assert_int_equal(found.ttl_count, 1);
    answer_copy(&found, found.message.len, 19 * SECOND, out);
    assert_int_equal(get_u32(out + found.ttl_offsets[0]), MADE_TTL - 50 - 30 - 15);
    assert_false(find_stale(4, (9 + MADE_STALE) * (uint64_t)SECOND, &found));
    cache_read_end();
}

static void test_an_answer_that_expires_meanwhile_comes_back_expired(void **state)
{
    (void)state;
    struct answer found;
    keep(1);
    assert_int_equal(saved(150 * SECOND), 1); /* the answer has 250 seconds left */
    assert_int_equal(loaded(9 * SECOND, 250 + MADE_STALE), 0);
    /* a clock that started recently cannot express so old an answer */
    assert_int_equal(loaded(4 * SECOND, 350), 0);
    assert_int_equal(loaded(9 * SECOND, 350), 1);
    cache_read_begin();
    assert_false(find(1, 0, 9 * SECOND, &found));
    assert_true(find_stale(1, 9 * SECOND, &found));
    assert_int_equal(found.stale_s, 100);
    cache_read_end();
    assert_int_equal(loaded(9 * SECOND, 360), 0); /* the cache already has a better answer */
    assert_int_equal(loaded(9 * SECOND, 249), 1);
    assert_int_equal(loaded(9 * SECOND, 350), 0);
    cache_read_begin();
    assert_true(find(1, 0, 9 * SECOND, &found));
    cache_read_end();
}

static void test_an_answer_too_old_to_serve_stale_is_left_out(void **state)
{
    (void)state;
    static const struct cache_options options = {.max_ttl_s = 86400};
    keep(1);
    assert_int_equal(saved((100 + MADE_TTL + MADE_STALE - 1) * (uint64_t)SECOND), 1);
    assert_int_equal(loaded(9 * SECOND, 0), 1);
    assert_int_equal(loaded(9 * SECOND, 1), 0);
    assert_int_equal(saved((100 + MADE_TTL + MADE_STALE) * (uint64_t)SECOND), 0);
    cache_set_options(cache, &options);
    assert_int_equal(saved(500 * SECOND), 0);
    assert_int_equal(saved(101 * SECOND), 1);
    cache_set_options(other, &options);
    assert_int_equal(loaded(9 * SECOND, 1000), 0);
}

static void test_zone_cuts_are_not_saved(void **state)
{
    (void)state;
    struct cache_key key;
    keep(1);
    make(2, 1, 0);
    cache_key_init(&key, cache, &made.question, 0, CACHE_VIEW_CUTS, CACHE_SPACE_SHARED);
    assert_true(cache_store(cache, &key, &made.answer));
    assert_int_equal(saved(150 * SECOND), 1);
}

static void test_loading_does_not_replace_a_cached_answer(void **state)
{
    (void)state;
    struct answer found;
    keep(1);
    assert_int_equal(saved(100 * SECOND), 1);
    make(1, 2, 0);
    assert_true(store_made(other, &made, 0));
    assert_int_equal(loaded(100 * SECOND, 0), 0);
    cache_read_begin();
    assert_true(find(1, 0, 100 * SECOND, &found));
    assert_int_equal(found.ttl_count, 2);
    cache_read_end();
}

static bool is_not_n1(const void *context, struct name name, const struct answer *answer)
{
    (void)context, (void)answer;
    return name.len != 12 || memcmp(name.wire, "\2n1\7example", 12) != 0;
}

static void test_answers_that_the_filter_rejects_are_left_out(void **state)
{
    (void)state;
    struct answer found;
    for (uint64_t n = 0; n < 3; n++)
        keep(n);
    assert_int_equal(saved(0), 3);
    filter.may_store = is_not_n1;
    uint64_t count = loaded(0, 1);
    filter.may_store = NULL;
    assert_int_equal(count, 2);
    cache_read_begin();
    assert_false(find(1, 0, 0, &found));
    assert_true(find(2, 0, 0, &found));
    cache_read_end();
}

static void test_marks_come_back(void **state)
{
    (void)state;
    struct answer found;
    keep(1);
    keep(2);
    assert_true(find_number(cache, 1, 100 * SECOND));
    assert_int_equal(saved(100 * SECOND), 2);
    assert_int_equal(loaded(100 * SECOND, 280), 2);
    cache_read_begin();
    assert_true(find(1, 0, 119 * SECOND, &found));
    assert_true(found.is_due);
    assert_true(find(2, 0, 119 * SECOND, &found));
    assert_false(found.is_due);
    cache_read_end();
}

static void test_a_file_larger_than_the_cache_keeps_the_bound(void **state)
{
    (void)state;
    struct cache *large = cache, *small = other;
    cache = made_cache(8 << 20);
    for (uint64_t n = 0; n < 30000; n++)
        keep(n);
    assert_true(saved(100 * SECOND) > 20000);
    loaded(100 * SECOND, 0);
    struct cache_usage usage;
    cache_usage(small, &usage);
    assert_true(usage.bytes <= usage.bytes_max);
    assert_true(usage.entries > 1000);
    cache_thread_end();
    cache_free(cache);
    cache_thread_begin();
    cache = large;
}

static void test_only_the_owner_can_read_the_file(void **state)
{
    (void)state;
    struct stat found;
    uint64_t count;
    keep(1);
    saved(100 * SECOND);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(load(SECOND, 0, &count), ERR_PERMISSION);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(load(SECOND, 0, &count), ERR_NOT_FOUND);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(load(SECOND, 0, &count), ERR_INVALID);
    assert_int_equal(entries(other), 0);
}

static void test_a_foreign_file_is_never_overwritten(void **state)
{
    (void)state;
    static const char text[] = "nailup-answers of my own making";
    char left[sizeof(text) + 8] = "";
    struct snapshot_now now = {100 * SECOND, WRITTEN_S};
    uint64_t count;
    keep(1);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(snapshot_is_foreign(path));
    assert_int_equal(snapshot_save(cache, path, now, &never, &count), ERR_FOREIGN);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(left, 1, sizeof(left), file), sizeof(text) - 1);
    fclose(file);
    assert_string_equal(left, text);
    assert_int_equal(unlink(path), 0);
    saved(100 * SECOND);
    assert_false(snapshot_is_foreign(path));
}

static void test_a_stop_leaves_the_old_file(void **state)
{
    (void)state;
    uint64_t count;
    struct snapshot_now now = {100 * SECOND, WRITTEN_S};
    keep(1);
    saved(100 * SECOND);
    keep(2);
    assert_int_equal(snapshot_save(cache, path, now, &at_once, &count), ERR_CLOSED);
    assert_int_equal(snapshot_load(other, path, now, filter, &at_once, &count), ERR_CLOSED);
    assert_int_equal(loaded(SECOND, 0), 1);
}

static void test_a_snapshot_from_the_future_is_refused(void **state)
{
    (void)state;
    uint64_t count;
    keep(1);
    saved(100 * SECOND);
    struct snapshot_now now = {SECOND, WRITTEN_S - SNAPSHOT_AHEAD_MAX_S - 1};
    assert_int_equal(snapshot_load(other, path, now, filter, &never, &count), ERR_INVALID);
    now.wall_s++;
    assert_int_equal(snapshot_load(other, path, now, filter, &never, &count), ERR_OK);
    assert_int_equal(count, 1);
}

/* ---- hostile files ---- */

static uint8_t bytes[1 << 16];
static size_t bytes_len;

static void read_back(void)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    bytes_len = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
}

static enum err load_bytes(const void *data, size_t len)
{
    uint64_t count;
    struct snapshot_now now = {SECOND, WRITTEN_S};
    FILE *file = fmemopen((void *)(uintptr_t)data, len, "r");
    assert_non_null(file);
    enum err err = snapshot_load_from(other, file, now, filter, &never, &count);
    fclose(file);
    return err;
}

static void test_a_file_truncated_anywhere_is_refused(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 5; n++)
        keep(n);
    saved(100 * SECOND);
    read_back();
    for (size_t len = 1; len < bytes_len; len++)
        assert_int_equal(load_bytes(bytes, len), ERR_INVALID);
    bytes[bytes_len] = 0;
    assert_int_equal(load_bytes(bytes, bytes_len + 1), ERR_INVALID);
    assert_int_equal(entries(other), 0);
    assert_int_equal(load_bytes(bytes, bytes_len), ERR_OK);
    assert_int_equal(entries(other), 5);
}

static void test_any_flipped_bit_is_detected(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 5; n++)
        keep(n);
    saved(100 * SECOND);
    read_back();
    for (size_t bit = 0; bit < 8 * bytes_len; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        enum err err = load_bytes(bytes, bytes_len);
        assert_true(err == ERR_INVALID || err == ERR_NO_MEMORY);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(entries(other), 0);
}

/* Loads the saved bytes as a file of another version, with valid checksums. */
static enum err load_as_version(uint8_t version)
{
    uint8_t *at = bytes + SNAPSHOT_HEAD;
    struct span block = span_of(at + SNAPSHOT_BLOCK_HEAD, get_u32(at));
    bytes[15] = version;
    uint64_t chain = hash_bytes(bytes, SNAPSHOT_HEAD - 8, 0);
    put_u32(at - 8, (uint32_t)(chain >> 32));
    put_u32(at - 4, (uint32_t)chain);
    snapshot_put_block_head(at, block, &chain);
    at += SNAPSHOT_BLOCK_HEAD + block.len;
    struct span end = span_of(at + SNAPSHOT_BLOCK_HEAD, snapshot_end_len(version));
    snapshot_put_block_head(at, end, &chain);
    put_u32(at, 0);
    return load_bytes(bytes, (size_t)(end.data + end.len - bytes));
}

static void test_older_versions_are_read_as_unchecked_and_newer_ones_are_refused(void **state)
{
    (void)state;
    struct answer found;
    make(1, 1, 0);
    made.answer.security = SECURITY_INSECURE;
    assert_true(store_made(cache, &made, 0));
    assert_int_equal(saved(150 * SECOND), 1);
    read_back();
    assert_int_equal(bytes[15], SNAPSHOT_VERSION);
    assert_int_equal(load_as_version(SNAPSHOT_VERSION_OLDEST - 1), ERR_INVALID);
    assert_int_equal(load_as_version(SNAPSHOT_VERSION + 1), ERR_INVALID);
    assert_int_equal(entries(other), 0);
    for (uint8_t version = SNAPSHOT_VERSION_OLDEST; version < SNAPSHOT_VERSION; version++) {
        assert_int_equal(load_as_version(version), ERR_OK);
        assert_int_equal(entries(other), 1);
        cache_read_begin();
        assert_true(find(1, 0, SECOND, &found));
        assert_int_equal(found.security, SECURITY_UNCHECKED);
        cache_read_end();
        flush_name(other, made.question.name);
    }
}

/* Loads a file with only this item and valid checksums. */
static enum err load_item(const struct snapshot_item *item)
{
    uint8_t *at = bytes + SNAPSHOT_HEAD, *block = at + SNAPSHOT_BLOCK_HEAD;
    uint64_t chain;
    uint8_t end[SNAPSHOT_END_MAX];
    snapshot_put_head(bytes, WRITTEN_S, &chain);
    snapshot_put_item(block, item);
    memcpy(block + SNAPSHOT_ITEM_FIXED, item->message.data, item->message.len);
    size_t len = SNAPSHOT_ITEM_FIXED + item->message.len;
    snapshot_put_block_head(at, span_of(block, len), &chain);
    at = block + len;
    snapshot_put_end(end, &(struct snapshot_end){.count = 1});
    snapshot_put_block_head(at, span_of(end, sizeof(end)), &chain);
    put_u32(at, 0);
    memcpy(at + SNAPSHOT_BLOCK_HEAD, end, sizeof(end));
    return load_bytes(bytes, (size_t)(at - bytes) + SNAPSHOT_BLOCK_HEAD + sizeof(end));
}

static bool is_loaded(const struct snapshot_item *item)
{
    uint64_t before = entries(other);
    assert_int_equal(load_item(item), ERR_OK);
    return entries(other) > before;
}

static void test_messages_that_nailup_could_not_have_stored_are_left_out(void **state)
{
    (void)state;
    struct snapshot_item item = {.left_s = 10};
    make(1, 1, 0);
    item.message = made.answer.message;
    assert_true(is_loaded(&item));
    make(2, 1, 0);
    item.message = made.answer.message;
    static const struct {
        size_t at;
        uint8_t value;
    } faults[] = {
        {0, 1},    /* an id other than 0 */
        {2, 0x85}, /* AA and RD */
        {2, 0x00}, /* a query */
        {3, 0x82}, /* SERVFAIL */
        {3, 0x83}, /* NXDOMAIN with kind positive */
        {5, 2},    /* two questions */
        {7, 2},    /* a record is missing */
        {7, 0},    /* bytes behind the last record */
        {13, 'N'}, /* upper case */
        {12, 60},  /* a label that exceeds the message */
        {26, 3},   /* a class other than IN */
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        uint8_t kept = made.message[faults[i].at];
        made.message[faults[i].at] = faults[i].value;
        assert_false(is_loaded(&item));
        made.message[faults[i].at] = kept;
    }
    item.kind = ANSWER_FAILURE;
    assert_false(is_loaded(&item));
    item.kind = 7;
    assert_false(is_loaded(&item));
    item.kind = ANSWER_POSITIVE;
    item.flags = 4;
    assert_false(is_loaded(&item));
    item.flags = 0;
    item.left_s = 0;
    assert_false(is_loaded(&item));
    item.left_s = 10;
    item.ede_count = 3;
    assert_int_equal(load_item(&item), ERR_INVALID);
    item.ede_count = 0;
    item.security = SECURITY_BOGUS + 1;
    assert_int_equal(load_item(&item), ERR_INVALID);
    item.security = SECURITY_UNCHECKED;
    assert_true(is_loaded(&item));
}

#define SENTENCE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SENTENCE(test_loaded_answers_are_older_by_the_time_between),
        SENTENCE(test_every_field_of_an_answer_comes_back),
        SENTENCE(test_a_secure_answer_comes_back_unchecked_and_without_ad),
        SENTENCE(test_an_insecure_answer_comes_back_insecure_under_the_same_rules_only),
        SENTENCE(test_failures_are_not_saved),
        SENTENCE(test_an_expired_answer_comes_back_expired),
        SENTENCE(test_an_answer_that_expires_meanwhile_comes_back_expired),
        SENTENCE(test_an_answer_too_old_to_serve_stale_is_left_out),
        SENTENCE(test_older_versions_are_read_as_unchecked_and_newer_ones_are_refused),
        SENTENCE(test_zone_cuts_are_not_saved),
        SENTENCE(test_loading_does_not_replace_a_cached_answer),
        SENTENCE(test_answers_that_the_filter_rejects_are_left_out),
        SENTENCE(test_marks_come_back),
        SENTENCE(test_a_file_larger_than_the_cache_keeps_the_bound),
        SENTENCE(test_only_the_owner_can_read_the_file),
        SENTENCE(test_a_foreign_file_is_never_overwritten),
        SENTENCE(test_a_stop_leaves_the_old_file),
        SENTENCE(test_a_snapshot_from_the_future_is_refused),
        SENTENCE(test_a_file_truncated_anywhere_is_refused),
        SENTENCE(test_any_flipped_bit_is_detected),
        SENTENCE(test_messages_that_nailup_could_not_have_stored_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
