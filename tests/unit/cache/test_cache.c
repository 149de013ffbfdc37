/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The cache, used by one thread. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cache/compose.h"
#include "unit/cache/made_answers.h"

static struct cache *cache;
static struct made made;
static struct cache_key key;

static int set_up(void **state)
{
    (void)state;
    cache_thread_begin();
    cache = made_cache(4 << 20);
    make_question(&made, 1);
    make_answer(&made, 2, 0, 77, 10 * SECOND);
    cache_key_init(&key, cache, &made.question, 0, 0, CACHE_SPACE_SHARED);
    return cache ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    cache_thread_end();
    cache_free(cache);
    return 0;
}

static bool is_found(const struct cache_key *wanted, uint64_t now_us)
{
    struct answer answer;
    cache_read_begin();
    bool found = cache_find(cache, wanted, now_us, &answer);
    cache_read_end();
    return found;
}

static uint64_t entries(void)
{
    struct cache_usage usage;
    cache_usage(cache, &usage);
    return usage.entries;
}

static void test_a_stored_answer_is_found_unchanged(void **state)
{
    (void)state;
    assert_false(is_found(&key, 10 * SECOND));
    made.answer.kind = ANSWER_NXDOMAIN;
    made.answer.ede_count = 2;
    made.answer.ede[0] = 3;
    made.answer.ede[1] = 0xffff;
    made.answer.security = SECURITY_BOGUS;
    assert_true(cache_store(cache, &key, &made.answer));

    struct answer found;
    cache_read_begin();
    assert_true(cache_find(cache, &key, 11 * SECOND, &found));
    assert_true(span_equal(found.message, made.answer.message));
    assert_ptr_not_equal(found.message.data, made.message);
    assert_int_equal(found.ttl_count, 2);
    assert_memory_equal(found.ttl_offsets, made.offsets, 2 * sizeof(uint16_t));
    assert_int_equal(found.kind, ANSWER_NXDOMAIN);
    assert_int_equal(found.ede_count, 2);
    assert_int_equal(found.ede[0], 3);
    assert_int_equal(found.ede[1], 0xffff);
    assert_int_equal(found.security, SECURITY_BOGUS);
    assert_int_equal(found.ttl_s, MADE_TTL);
    assert_int_equal(found.stored_at, 10 * SECOND);
    cache_read_end();
}

static void test_the_text_of_a_failure_is_stored_with_it(void **state)
{
    (void)state;
    struct answer found;
    char long_text[2 * ANSWER_TEXT_MAX];
    make_answer(&made, 0, 0, 1, 10 * SECOND);
    made.answer.kind = ANSWER_FAILURE;
    made.answer.text = "a signature has expired, zone a.test";
    assert_true(cache_store(cache, &key, &made.answer));
    cache_read_begin();
    assert_true(cache_find(cache, &key, 11 * SECOND, &found));
    assert_string_equal(found.text, made.answer.text);
    assert_int_equal(found.error, 0);
    assert_int_equal(found.stale_s, 0);
    struct answer *copy = compose_dup(&found);
    cache_read_end();
    assert_string_equal(copy->text, made.answer.text);
    free(copy);

    memset(long_text, 'x', sizeof(long_text));
    long_text[sizeof(long_text) - 1] = 0;
    made.answer.text = long_text;
    assert_true(cache_store(cache, &key, &made.answer));
    cache_read_begin();
    assert_true(cache_find(cache, &key, 11 * SECOND, &found));
    assert_int_equal(strlen(found.text), ANSWER_TEXT_MAX - 1);
    cache_read_end();
}

static void find_signatures(struct answer *found)
{
    cache_remove(cache, &key);
    assert_true(cache_store(cache, &key, &made.answer));
    cache_read_begin();
    assert_true(cache_find(cache, &key, 11 * SECOND, found));
    cache_read_end();
}

static void test_the_end_of_the_signatures_is_stored_with_an_answer(void **state)
{
    (void)state;
    struct answer found;
    make_answer(&made, 0, 0, 1, 10 * SECOND);
    made.answer.security = SECURITY_SECURE;
    made.answer.signatures = (struct answer_signed){.until_s = 0xfedcba98, .signer_labels = 127};
    find_signatures(&found);
    assert_int_equal(found.signatures.until_s, 0xfedcba98);
    assert_int_equal(found.signatures.signer_labels, 127);
    assert_int_equal(found.error, 0);
    assert_int_equal(found.stale_s, 0);
    assert_null(found.text);
    made.answer.stale_s = 7; /* a stale answer has lost its verdict */
    find_signatures(&found);
    assert_int_equal(found.stale_s, 7);
    assert_int_equal(found.signatures.until_s, 0);
    made.answer.stale_s = 0;
    made.answer.signatures.until_s = 0;
    find_signatures(&found);
    assert_int_equal(found.signatures.until_s, 0);
}

static void test_an_answer_of_odd_length_and_no_records_is_stored(void **state)
{
    (void)state;
    make_answer(&made, 0, 0, 1, 10 * SECOND);
    made.answer.message.len |= 1;
    assert_true(cache_store(cache, &key, &made.answer));
    assert_true(is_found(&key, 10 * SECOND));
    make_answer(&made, 3, 301, 1, 10 * SECOND);
    assert_int_equal(made.answer.message.len, 301);
    assert_true(cache_store(cache, &key, &made.answer));
    struct answer found;
    cache_read_begin();
    assert_true(cache_find(cache, &key, 10 * SECOND, &found));
    assert_memory_equal(found.ttl_offsets, made.offsets, 3 * sizeof(uint16_t));
    cache_read_end();
}

static void test_an_expired_answer_is_not_found(void **state)
{
    (void)state;
    assert_true(cache_store(cache, &key, &made.answer));
    assert_true(is_found(&key, 309 * SECOND));
    assert_false(is_found(&key, 310 * SECOND));
    assert_false(is_found(&key, UINT64_MAX));
}

static void test_a_reader_whose_clock_is_behind_finds_the_answer(void **state)
{
    (void)state;
    assert_true(cache_store(cache, &key, &made.answer));
    assert_true(is_found(&key, 9 * SECOND));
}

static void test_a_second_answer_replaces_the_first(void **state)
{
    (void)state;
    assert_true(cache_store(cache, &key, &made.answer));
    make_answer(&made, 1, 0, 99, 20 * SECOND);
    assert_true(cache_store(cache, &key, &made.answer));
    assert_int_equal(entries(), 1);
    struct answer found;
    cache_read_begin();
    assert_true(cache_find(cache, &key, 20 * SECOND, &found));
    assert_true(span_equal(found.message, made.answer.message));
    cache_read_end();
}

static void test_a_failure_does_not_replace_a_live_answer(void **state)
{
    (void)state;
    struct answer found;
    assert_true(cache_store(cache, &key, &made.answer));
    make_answer(&made, 0, 0, 2, 11 * SECOND);
    made.answer.kind = ANSWER_FAILURE;
    made.answer.ttl_s = 5;
    assert_false(cache_store(cache, &key, &made.answer));
    cache_read_begin();
    assert_true(cache_find(cache, &key, 11 * SECOND, &found));
    assert_int_equal(found.kind, ANSWER_POSITIVE);
    cache_read_end();
    made.answer.stored_at = (10 + MADE_TTL) * SECOND; /* the answer has expired */
    assert_true(cache_store(cache, &key, &made.answer));
    assert_true(cache_store(cache, &key, &made.answer)); /* a failure may replace a failure */
}

static void test_an_answer_does_not_change_while_a_reader_uses_it(void **state)
{
    (void)state;
    static struct made copy;
    assert_true(cache_store(cache, &key, &made.answer));
    struct answer found;
    cache_read_begin();
    assert_true(cache_find(cache, &key, 10 * SECOND, &found));
    copy = made;
    for (uint32_t i = 0; i < 20000; i++) {
        make_answer(&made, 2, 0, i, 20 * SECOND);
        cache_store(cache, &key, &made.answer); /* inside a read section the store may refuse */
    }
    assert_memory_equal(found.message.data, copy.message, found.message.len);
    cache_read_end();
}

static void test_names_are_found_in_any_case(void **state)
{
    (void)state;
    assert_true(cache_store(cache, &key, &made.answer));
    made.name[1] = 'N';
    memcpy(made.name + 4, "ExAMplE", 7);
    struct cache_key upper;
    cache_key_init(&upper, cache, &made.question, 0, 0, CACHE_SPACE_SHARED);
    assert_true(cache_key_equal(&upper, &key));
    assert_true(is_found(&upper, 10 * SECOND));
}

static void test_type_class_flags_and_view_separate_answers(void **state)
{
    (void)state;
    assert_true(cache_store(cache, &key, &made.answer));
    struct cache_key other;
    for (uint8_t flags = 1; flags < 4; flags++) {
        cache_key_init(&other, cache, &made.question, flags, 0, CACHE_SPACE_SHARED);
        assert_false(cache_key_equal(&other, &key));
        assert_false(is_found(&other, 10 * SECOND));
    }
    cache_key_init(&other, cache, &made.question, 0, 1, CACHE_SPACE_SHARED);
    assert_false(is_found(&other, 10 * SECOND));
    made.question.cls = 3;
    cache_key_init(&other, cache, &made.question, 0, 0, CACHE_SPACE_SHARED);
    assert_false(is_found(&other, 10 * SECOND));
    made.question.cls = 1;
    made.question.type = 28;
    cache_key_init(&other, cache, &made.question, 0, 0, CACHE_SPACE_SHARED);
    assert_false(is_found(&other, 10 * SECOND));
}

static void test_the_security_state_is_no_part_of_the_key(void **state)
{
    (void)state;
    struct cache_item item;
    cache_key_init(&key, cache, &made.question, CACHE_KEY_DO | CACHE_KEY_CD, 0, CACHE_SPACE_SHARED);
    for (uint8_t security = SECURITY_UNCHECKED; security <= SECURITY_BOGUS; security++) {
        made.answer.security = security;
        assert_true(cache_store(cache, &key, &made.answer));
        assert_int_equal(entries(), 1);
        cache_read_begin();
        assert_true(cache_peek(cache, &key, 10 * SECOND, &item));
        assert_int_equal(item.answer.security, security);
        assert_int_equal(item.flags, CACHE_KEY_DO | CACHE_KEY_CD);
        cache_read_end();
    }
}

/* Two different keys with the same hash. */
static void test_an_equal_hash_does_not_make_an_equal_key(void **state)
{
    (void)state;
    assert_true(cache_store(cache, &key, &made.answer));
    struct cache_key other = key;
    other.flags = CACHE_KEY_DO;
    assert_false(is_found(&other, 10 * SECOND));
    other = key;
    other.view = 1;
    assert_false(is_found(&other, 10 * SECOND));
    other = key;
    other.name[2] ^= 1;
    assert_false(is_found(&other, 10 * SECOND));
    other = key;
    other.type = 28;
    assert_false(is_found(&other, 10 * SECOND));
}

static void test_the_root_and_the_longest_name_are_stored(void **state)
{
    (void)state;
    made.question.name = name_root();
    make_answer(&made, 1, 0, 1, 10 * SECOND);
    assert_true(store_made(cache, &made, 0));
    uint8_t name[255] = {0};
    for (int i = 0; i < 127; i++) {
        name[2 * i] = 1;
        name[2 * i + 1] = 'a';
    }
    made.question.name = (struct name){.wire = name, .len = 255};
    make_answer(&made, 1, 0, 1, 10 * SECOND);
    assert_true(store_made(cache, &made, 0));
    cache_key_init(&key, cache, &made.question, 0, 0, CACHE_SPACE_SHARED);
    assert_true(is_found(&key, 10 * SECOND));
    assert_int_equal(entries(), 2);
}

static void test_an_answer_with_ttl_zero_is_not_stored(void **state)
{
    (void)state;
    made.answer.ttl_s = 0;
    assert_false(cache_store(cache, &key, &made.answer));
    assert_int_equal(entries(), 0);
}

static void test_the_largest_answer_is_stored_and_a_larger_one_is_not(void **state)
{
    (void)state;
    make_answer(&made, 4, CACHE_ANSWER_MAX + 1, 5, 10 * SECOND);
    assert_false(cache_store(cache, &key, &made.answer));
    make_answer(&made, 4, CACHE_ANSWER_MAX, 5, 10 * SECOND);
    assert_true(cache_store(cache, &key, &made.answer));
    struct answer found;
    cache_read_begin();
    assert_true(cache_find(cache, &key, 10 * SECOND, &found));
    assert_true(span_equal(found.message, made.answer.message));
    cache_read_end();
}

static void test_an_answer_to_another_question_is_not_stored(void **state)
{
    (void)state;
    made.message[13] = 'N'; /* a stored name is always in lower case */
    assert_false(cache_store(cache, &key, &made.answer));
    made.message[13] = 'n';
    made.answer.message.len = 12;
    assert_false(cache_store(cache, &key, &made.answer));
    make_question(&made, 2);
    make_answer(&made, 1, 0, 1, 10 * SECOND);
    assert_false(cache_store(cache, &key, &made.answer));
}

static void test_flushing_forgets_all_types_and_flags_of_one_name(void **state)
{
    (void)state;
    for (uint16_t type = 1; type <= 50; type++) {
        made.question.type = type;
        make_answer(&made, 1, 0, type, 10 * SECOND);
        for (uint8_t flags = 0; flags < 4; flags++)
            assert_true(store_made(cache, &made, flags));
    }
    store_number(cache, 2, 10 * SECOND);
    assert_int_equal(flush_name(cache, made.question.name), 200);
    assert_int_equal(flush_name(cache, made.question.name), 0);
    assert_false(is_found(&key, 10 * SECOND));
    assert_true(find_number(cache, 2, 10 * SECOND));
    assert_int_equal(entries(), 1);
}

/* ---- expired answers ---- */

static bool is_stale(uint64_t now_us, uint32_t *stale_s)
{
    struct answer answer;
    cache_read_begin();
    bool found = cache_find_stale(cache, &key, now_us, &answer);
    *stale_s = found ? answer.stale_s : 0;
    cache_read_end();
    return found;
}

static void test_an_expired_answer_serves_as_long_as_the_option_allows(void **state)
{
    (void)state;
    uint32_t stale_s;
    assert_false(is_stale(10 * SECOND, &stale_s));
    assert_true(cache_store(cache, &key, &made.answer));
    assert_true(is_stale(309 * SECOND, &stale_s));
    assert_int_equal(stale_s, 0);
    assert_true(is_stale(310 * SECOND, &stale_s));
    assert_int_equal(stale_s, 1);
    assert_true(is_stale(320 * SECOND, &stale_s));
    assert_int_equal(stale_s, 10);
    assert_true(is_stale((UINT64_C(310) + MADE_STALE) * SECOND, &stale_s));
    assert_false(is_stale((UINT64_C(311) + MADE_STALE) * SECOND, &stale_s));
    assert_false(is_stale(UINT64_MAX, &stale_s));
}

static void test_storing_a_stale_answer_does_not_make_it_younger(void **state)
{
    (void)state;
    uint32_t stale_s;
    struct answer found;
    made.answer.stale_s = 70000;
    made.answer.ttl_s = 30;
    assert_true(cache_store(cache, &key, &made.answer));
    cache_read_begin();
    assert_true(cache_find(cache, &key, 39 * SECOND, &found));
    assert_int_equal(found.stale_s, 70000);
    assert_int_equal(found.error, 0);
    cache_read_end();
    assert_false(is_found(&key, 40 * SECOND));
    assert_true(is_stale(110 * SECOND, &stale_s));
    assert_int_equal(stale_s, 70100);
    assert_false(is_stale((UINT64_C(10) + MADE_STALE) * SECOND, &stale_s));
}

static void test_an_expired_failure_never_serves(void **state)
{
    (void)state;
    uint32_t stale_s;
    made.answer.kind = ANSWER_FAILURE;
    made.answer.error = ERR_TLS_FAILED;
    assert_true(cache_store(cache, &key, &made.answer));
    assert_false(is_stale(20 * SECOND, &stale_s));
}

static void test_a_failure_keeps_its_error(void **state)
{
    (void)state;
    struct answer found;
    made.answer.kind = ANSWER_FAILURE;
    for (unsigned error = ERR_TLS_NOT_SPOKEN; error < ERR_COUNT; error++) {
        made.answer.error = (uint8_t)error;
        assert_true(cache_store(cache, &key, &made.answer));
        cache_read_begin();
        assert_true(cache_find(cache, &key, made.answer.stored_at, &found));
        assert_int_equal(found.error, error);
        cache_read_end();
    }
}

static void test_a_stale_answer_does_not_replace_a_fresh_one(void **state)
{
    (void)state;
    uint32_t stale_s;
    assert_true(cache_store(cache, &key, &made.answer));
    made.answer.stored_at = 20 * SECOND;
    made.answer.stale_s = 5;
    assert_false(cache_store(cache, &key, &made.answer));
    made.answer.stored_at = 310 * SECOND; /* the fresh answer has expired by now */
    assert_true(cache_store(cache, &key, &made.answer));
    made.answer.stale_s = 7;
    /* a stale answer may replace a stale one */
    assert_true(cache_store(cache, &key, &made.answer));
    assert_true(is_stale(310 * SECOND, &stale_s));
    assert_int_equal(stale_s, 7);
    made.answer.kind = ANSWER_FAILURE;
    made.answer.stale_s = 0;
    /* a failure is worse than a fresh or a stale answer */
    assert_false(cache_store(cache, &key, &made.answer));
}

/* ---- walking ---- */

struct seen {
    unsigned count, parts;
    unsigned times[1000];
};

static enum cache_verdict see(void *context, const struct cache_item *item)
{
    struct seen *seen = context;
    const uint8_t *name = item->answer.message.data + 12;
    seen->count++;
    seen->times[strtoul((const char *)name + 2, NULL,
                        10)]++; /* the digits end at the length byte of the next label */
    assert_int_equal(item->flags, CACHE_KEY_DO);
    assert_int_equal(item->view, 0);
    return CACHE_KEEP;
}

static void test_a_walk_shows_every_answer_once_expired_or_not(void **state)
{
    (void)state;
    static struct seen seen;
    for (unsigned n = 100; n < 1000; n++) {
        make_question(&made, n);
        make_answer(&made, 1, 0, n, 10 * SECOND);
        made.answer.ttl_s = n % 2 ? 1 : 1000;
        assert_true(store_made(cache, &made, CACHE_KEY_DO));
    }
    uint64_t place = 0;
    while (cache_walk(cache, &place, 64, see, &seen))
        seen.parts++;
    assert_int_equal(seen.count, 900);
    assert_true(seen.parts > 10);
    for (unsigned n = 100; n < 1000; n++)
        assert_int_equal(seen.times[n], 1);
    assert_false(cache_walk(cache, &place, 64, see, &seen));
    assert_int_equal(seen.count, 900);
}

static void test_read_sections_nest(void **state)
{
    (void)state;
    assert_true(cache_store(cache, &key, &made.answer));
    cache_read_begin();
    assert_true(is_found(&key, 10 * SECOND));
    assert_true(is_found(&key, 10 * SECOND));
    cache_read_end();
}

/* The cache is one mapping. The test makes it read-only, so a write to it kills the test. */
static void test_finding_a_marked_answer_writes_nothing(void **state)
{
    (void)state;
    size_t bytes = 4 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    assert_true(cache_store(cache, &key, &made.answer));
    assert_true(is_found(&key, 10 * SECOND));
    assert_int_equal(mprotect(cache, bytes - page, PROT_READ), 0);
    assert_true(is_found(&key, 10 * SECOND));
    assert_true(is_found(&key, 300 * SECOND));
    assert_false(is_found(&key, 310 * SECOND));
    assert_int_equal(mprotect(cache, bytes - page, PROT_READ | PROT_WRITE), 0);
}

static void test_a_peek_sees_everything_and_writes_nothing(void **state)
{
    (void)state;
    struct cache_item item;
    size_t bytes = 4 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    cache_read_begin();
    assert_false(cache_peek(cache, &key, 10 * SECOND, &item));
    cache_read_end();
    assert_true(cache_store(cache, &key, &made.answer));
    assert_int_equal(mprotect(cache, bytes - page, PROT_READ), 0);
    cache_read_begin();
    assert_true(cache_peek(cache, &key, 290 * SECOND, &item));
    assert_false(item.is_marked || item.answer.is_due);
    assert_true(cache_peek(cache, &key, 400 * SECOND, &item));
    assert_false(answer_is_live(&item.answer, 400 * SECOND));
    cache_read_end();
    assert_int_equal(mprotect(cache, bytes - page, PROT_READ | PROT_WRITE), 0);
    assert_true(is_found(&key, 10 * SECOND));
    cache_read_begin();
    assert_true(cache_peek(cache, &key, 20 * SECOND, &item));
    assert_true(item.is_marked && !item.answer.is_due);
    assert_true(cache_peek(cache, &key, 290 * SECOND, &item));
    assert_true(item.answer.is_due);
    assert_true(cache_claim(cache, &key));
    cache_unclaim(cache, &key);
    assert_true(cache_claim(cache, &key));
    assert_true(cache_peek(cache, &key, 290 * SECOND, &item));
    assert_false(item.answer.is_due);
    cache_read_end();
}

static void test_hints_change_nothing(void **state)
{
    (void)state;
    cache_prefetch(cache, &key);
    cache_prefetch_entry(cache, &key);
    assert_true(cache_store(cache, &key, &made.answer));
    cache_prefetch(cache, &key);
    cache_prefetch_entry(cache, &key);
    assert_true(is_found(&key, 10 * SECOND));
}

static void test_ttls_are_clamped_by_the_options(void **state)
{
    (void)state;
    assert_int_equal(cache_ttl(cache, ANSWER_POSITIVE, 1000000), 86400);
    assert_int_equal(cache_ttl(cache, ANSWER_NODATA, 1000000), 900);
    assert_int_equal(cache_ttl(cache, ANSWER_FAILURE, 0), 5);
}

static void test_new_options_apply_at_once_and_keep_stored_answers(void **state)
{
    (void)state;
    uint32_t stale_s;
    /* the size cannot change, so this value is ignored */
    struct cache_options options = {.size_bytes = 0,
                                    .min_ttl_s = 7,
                                    .max_ttl_s = 100,
                                    .max_negative_ttl_s = 50,
                                    .failure_ttl_s = 9,
                                    .stale_answer_timeout_us = SECOND};
    struct cache_usage before, after;
    assert_true(cache_store(cache, &key, &made.answer));
    cache_usage(cache, &before);
    cache_set_options(cache, &options);
    cache_usage(cache, &after);
    assert_int_equal(after.bytes_max, before.bytes_max);
    assert_int_equal(cache_ttl(cache, ANSWER_POSITIVE, 1000), 100);
    assert_int_equal(cache_ttl(cache, ANSWER_POSITIVE, 1), 7);
    assert_int_equal(cache_ttl(cache, ANSWER_NODATA, 1000), 50);
    assert_int_equal(cache_ttl(cache, ANSWER_FAILURE, 0), 9);
    assert_false(cache_prefetches(cache));
    assert_int_equal(cache_stale_timeout_us(cache), 0); /* stale answers never serve */
    assert_true(is_found(&key, 309 * SECOND));
    assert_false(is_stale(310 * SECOND, &stale_s));
    options.serve_stale_s = 5;
    options.prefetch = true;
    cache_set_options(cache, &options);
    assert_int_equal(cache_stale_timeout_us(cache), SECOND);
    assert_true(cache_prefetches(cache));
    assert_true(is_stale(314 * SECOND, &stale_s));
    assert_false(is_stale(316 * SECOND, &stale_s));
}

/* A space is part of the key, and never appears in the message. */
static void test_answers_of_another_space_are_not_found(void **state)
{
    (void)state;
    struct cache_key keys[2];
    struct answer found;
    make_question(&made, 1);
    make_answer(&made, 1, 0, 1, SECOND);
    for (uint32_t i = 0; i < 2; i++)
        cache_key_init(&keys[i], cache, &made.question, 0, 0, UINT32_MAX * i);
    assert_int_not_equal(keys[0].hash, keys[1].hash);
    assert_false(cache_key_equal(&keys[0], &keys[1]));
    assert_true(cache_store(cache, &keys[1], &made.answer));
    cache_read_begin();
    assert_false(cache_find(cache, &keys[0], SECOND, &found));
    assert_false(cache_find_stale(cache, &keys[0], SECOND, &found));
    keys[0].hash = keys[1].hash; /* both keys get the same hash */
    assert_false(cache_find(cache, &keys[0], SECOND, &found));
    assert_true(cache_find(cache, &keys[1], SECOND, &found));
    cache_read_end();
    cache_remove(cache, &keys[0]);
    cache_read_begin();
    assert_true(cache_find(cache, &keys[1], SECOND, &found));
    cache_read_end();
}

#define SENTENCE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SENTENCE(test_a_stored_answer_is_found_unchanged),
        SENTENCE(test_an_answer_of_odd_length_and_no_records_is_stored),
        SENTENCE(test_an_expired_answer_is_not_found),
        SENTENCE(test_a_reader_whose_clock_is_behind_finds_the_answer),
        SENTENCE(test_a_second_answer_replaces_the_first),
        SENTENCE(test_a_failure_does_not_replace_a_live_answer),
        SENTENCE(test_an_answer_does_not_change_while_a_reader_uses_it),
        SENTENCE(test_names_are_found_in_any_case),
        SENTENCE(test_type_class_flags_and_view_separate_answers),
        SENTENCE(test_the_text_of_a_failure_is_stored_with_it),
        SENTENCE(test_the_end_of_the_signatures_is_stored_with_an_answer),
        SENTENCE(test_the_security_state_is_no_part_of_the_key),
        SENTENCE(test_an_equal_hash_does_not_make_an_equal_key),
        SENTENCE(test_the_root_and_the_longest_name_are_stored),
        SENTENCE(test_an_answer_with_ttl_zero_is_not_stored),
        SENTENCE(test_the_largest_answer_is_stored_and_a_larger_one_is_not),
        SENTENCE(test_an_answer_to_another_question_is_not_stored),
        SENTENCE(test_flushing_forgets_all_types_and_flags_of_one_name),
        SENTENCE(test_an_expired_answer_serves_as_long_as_the_option_allows),
        SENTENCE(test_storing_a_stale_answer_does_not_make_it_younger),
        SENTENCE(test_an_expired_failure_never_serves),
        SENTENCE(test_a_failure_keeps_its_error),
        SENTENCE(test_a_stale_answer_does_not_replace_a_fresh_one),
        SENTENCE(test_a_walk_shows_every_answer_once_expired_or_not),
        SENTENCE(test_read_sections_nest),
        SENTENCE(test_finding_a_marked_answer_writes_nothing),
        SENTENCE(test_a_peek_sees_everything_and_writes_nothing),
        SENTENCE(test_hints_change_nothing),
        SENTENCE(test_ttls_are_clamped_by_the_options),
        SENTENCE(test_new_options_apply_at_once_and_keep_stored_answers),
        SENTENCE(test_answers_of_another_space_are_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
