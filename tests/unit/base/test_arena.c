/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Memory that is freed whole: alignment, separate blocks, and the bound. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "base/rand.h"

static void test_pieces_are_aligned_and_apart(void **state)
{
    (void)state;
    enum { PIECES = 500 };
    struct arena arena;
    uint8_t *pieces[PIECES];
    size_t sizes[PIECES];
    arena_init(&arena, 10000000);
    rand_seed_for_tests(2);
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = (size_t)rand_below(i % 10 ? 100 : 5000);
        pieces[i] = arena_take(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        memset(pieces[i], (int)(i & 0xff), sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], i & 0xff);
    arena_deinit(&arena);
}

static void test_the_bound_applies_to_the_sum_of_requested_bytes(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 100);
    assert_non_null(arena_take(&arena, 99));
    assert_false(arena.has_failed);
    assert_null(arena_take(&arena, 2));
    assert_true(arena.has_failed);
    assert_null(arena_take(&arena, SIZE_MAX));
    assert_non_null(arena_take(&arena, 1));
    assert_null(arena_take(&arena, 1));
    assert_int_equal(arena.used, 100);
    arena_deinit(&arena);
}

static void test_empty_pieces_count_towards_the_bound(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 2);
    assert_non_null(arena_take(&arena, 0));
    assert_non_null(arena_take(&arena, 0));
    assert_null(arena_take(&arena, 0));
    arena_deinit(&arena);
}

static void test_a_large_piece_leaves_the_newest_chunk_in_use(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 100000);
    assert_non_null(arena_take(&arena, 16));
    size_t left = arena.left;
    assert_non_null(arena_take(&arena, 50000));
    assert_int_equal(arena.left, left);
    assert_non_null(arena_take(&arena, 16));
    assert_int_equal(arena.left, left - 16);
    arena_deinit(&arena);
}

static void test_a_large_piece_may_come_first(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 100000);
    uint8_t *large = arena_take(&arena, 50000);
    uint8_t *small = arena_take(&arena, 100);
    memset(large, 1, 50000);
    memset(small, 2, 100);
    assert_int_equal(large[49999], 1);
    arena_deinit(&arena);
}

static void test_a_copy_is_a_copy(void **state)
{
    (void)state;
    struct arena arena;
    char text[] = "text";
    arena_init(&arena, 100);
    char *copy = arena_copy(&arena, text, sizeof(text));
    text[0] = 'n';
    assert_string_equal(copy, "text");
    assert_non_null(arena_copy(&arena, NULL, 0));
    assert_null(arena_copy(&arena, text, 101));
    arena_deinit(&arena);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_aligned_and_apart),
        cmocka_unit_test(test_the_bound_applies_to_the_sum_of_requested_bytes),
        cmocka_unit_test(test_empty_pieces_count_towards_the_bound),
        cmocka_unit_test(test_a_large_piece_leaves_the_newest_chunk_in_use),
        cmocka_unit_test(test_a_large_piece_may_come_first),
        cmocka_unit_test(test_a_copy_is_a_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
