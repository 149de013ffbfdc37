/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A stream yields the same messages however the network cuts it. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/framing.h"
#include "base/rand.h"

/* Messages of these sizes. Each is filled with its number. */
static const size_t sizes[] = {1, 0, 12, 2, 300, 0, 0, 5, 40};
enum { MESSAGES = sizeof(sizes) / sizeof(sizes[0]), STREAM_MAX = 1000 };

static size_t make_stream(uint8_t out[STREAM_MAX])
{
    size_t at = 0;

    for (size_t i = 0; i < MESSAGES; i++) {
        put_u16(out + at, (uint16_t)sizes[i]);
        memset(out + at + 2, (int)i, sizes[i]);
        at += 2 + sizes[i];
    }
    return at;
}

/* Feeds one piece from its own memory, so that ASan detects a read beyond it. */
static void feed(struct framing *framing, struct span piece, size_t *seen)
{
    uint8_t *copy = calloc(1, piece.len ? piece.len : 1);
    struct span bytes = span_of(copy, piece.len), message;
    enum err err;

    if (piece.len)
        memcpy(copy, piece.data, piece.len);
    while (framing_next(framing, &bytes, &message, &err)) {
        assert_true(*seen < MESSAGES);
        assert_int_equal(message.len, sizes[*seen]);
        for (size_t i = 0; i < message.len; i++)
            assert_int_equal(message.data[i], *seen);
        assert_int_equal(framing_partial(framing), 0);
        ++*seen;
    }
    assert_int_equal(err, ERR_OK);
    assert_int_equal(bytes.len, 0);
    free(copy);
}

static void test_every_cut_in_two_gives_the_same_messages(void **state)
{
    uint8_t stream[STREAM_MAX];
    size_t len = make_stream(stream);
    (void)state;

    for (size_t cut = 0; cut <= len; cut++) {
        struct framing framing;
        size_t seen = 0;

        framing_init(&framing, UINT16_MAX);
        feed(&framing, span_of(stream, cut), &seen);
        feed(&framing, span_of(stream + cut, len - cut), &seen);
        assert_int_equal(seen, MESSAGES);
        assert_int_equal(framing_partial(&framing), 0);
        framing_deinit(&framing);
    }
}

static void test_every_cut_in_three_gives_the_same_messages(void **state)
{
    uint8_t stream[STREAM_MAX];
    size_t len = make_stream(stream);
    (void)state;

    for (size_t first = 0; first <= len; first++) {
        for (size_t second = first; second <= len; second++) {
            struct framing framing;
            size_t seen = 0;

            framing_init(&framing, UINT16_MAX);
            feed(&framing, span_of(stream, first), &seen);
            feed(&framing, span_of(stream + first, second - first), &seen);
            feed(&framing, span_of(stream + second, len - second), &seen);
            assert_int_equal(seen, MESSAGES);
            framing_deinit(&framing);
        }
    }
}

static void test_equal_pieces_of_any_size_give_the_same_messages(void **state)
{
    uint8_t stream[STREAM_MAX];
    size_t len = make_stream(stream);
    (void)state;

    for (size_t piece = 1; piece <= len; piece++) {
        struct framing framing;
        size_t seen = 0;

        framing_init(&framing, UINT16_MAX);
        for (size_t at = 0; at < len; at += piece)
            feed(&framing, span_of(stream + at, at + piece < len ? piece : len - at), &seen);
        assert_int_equal(seen, MESSAGES);
        framing_deinit(&framing);
    }
}

static void test_whole_messages_are_not_copied(void **state)
{
    uint8_t stream[] = {0, 3, 'a', 'b', 'c'};
    struct framing framing;
    struct span bytes = span_of(stream, sizeof(stream)), message;
    enum err err;
    (void)state;

    framing_init(&framing, UINT16_MAX);
    assert_true(framing_next(&framing, &bytes, &message, &err));
    assert_ptr_equal(message.data, stream + 2);
    framing_deinit(&framing);
}

static void test_the_largest_message_fits_and_partial_counts_its_bytes(void **state)
{
    size_t len = 2 + 65535;
    uint8_t *stream = calloc(1, len);
    struct framing framing;
    struct span message;
    enum err err;
    (void)state;

    put_u16(stream, 65535);
    framing_init(&framing, UINT16_MAX);
    for (size_t at = 0; at < len - 1; at++) {
        struct span byte = span_of(stream + at, 1);
        assert_false(framing_next(&framing, &byte, &message, &err));
        assert_int_equal(err, ERR_OK);
        assert_int_equal(framing_partial(&framing), at + 1);
    }
    struct span last = span_of(stream + len - 1, 1);
    assert_true(framing_next(&framing, &last, &message, &err));
    assert_int_equal(message.len, 65535);
    assert_int_equal(framing_partial(&framing), 0);
    framing_deinit(&framing);
    free(stream);
}

static void test_a_message_beyond_the_bound_loses_its_end_however_it_is_cut(void **state)
{
    static uint8_t stream[2 + 5000 + 2 + 3];
    struct framing framing;
    enum err err;
    (void)state;

    put_u16(stream, 5000);
    memset(stream + 2, 'a', 5000);
    put_u16(stream + 5002, 3);
    memcpy(stream + 5004, "end", 3);
    for (size_t piece = 1; piece <= sizeof(stream); piece += piece < 10 ? 1 : 499) {
        struct span left = span_of(stream, sizeof(stream)), bytes, message;
        size_t lengths[2] = {0}, count = 0;

        framing_init(&framing, 100);
        while (left.len > 0) {
            assert_true(span_take(&left, MIN(piece, left.len), &bytes));
            while (framing_next(&framing, &bytes, &message, &err)) {
                assert_memory_equal(message.data, count == 0 ? "aaa" : "end", 3);
                lengths[count++ % 2] = message.len;
            }
            assert_int_equal(err, ERR_OK);
            assert_true(framing.partial.cap <= 102);
        }
        assert_int_equal(count, 2);
        assert_int_equal(lengths[0], 100);
        assert_int_equal(lengths[1], 3);
        framing_deinit(&framing);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_message_beyond_the_bound_loses_its_end_however_it_is_cut),
        cmocka_unit_test(test_every_cut_in_two_gives_the_same_messages),
        cmocka_unit_test(test_every_cut_in_three_gives_the_same_messages),
        cmocka_unit_test(test_equal_pieces_of_any_size_give_the_same_messages),
        cmocka_unit_test(test_whole_messages_are_not_copied),
        cmocka_unit_test(test_the_largest_message_fits_and_partial_counts_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
