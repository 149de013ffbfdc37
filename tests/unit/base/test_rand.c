/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The generator: the vectors of RFC 8439, separate streams, erased keys, even ranges. The test
 * includes the source file, because the block function is static. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "base/rand.c"

static uint32_t word_of(const uint8_t out[STRIDE_BYTES], int block, int word)
{
    uint32_t value;
    memcpy(&value, out + 4 * (word * LANES + block), sizeof(value));
    return value;
}

/* RFC 8439 appendix A.1, vectors 1 and 2: key and nonce of zeros, blocks 0 and 1. */
static void test_blocks_are_those_of_the_rfc(void **state)
{
    (void)state;
    static const uint32_t first[] = {0xade0b876, 0x903df1a0, 0xe56a5d40, 0x28bd8653};
    static const uint32_t second[] = {0xbee7079f, 0x7a385155, 0x7c97ba98, 0x0d082d73};
    const uint8_t key[KEY_BYTES] = {0};
    uint8_t out[STRIDE_BYTES];
    chacha_blocks(out, key, 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(word_of(out, 0, i), first[i]);
        assert_int_equal(word_of(out, 1, i), second[i]);
    }
    assert_int_equal(word_of(out, 0, 15), 0x8665eeb2);
    chacha_blocks(out, key, 1);
    assert_int_equal(word_of(out, 0, 0), second[0]);
}

/* RFC 8439 appendix A.1, vector 3: the last byte of the key is one, block 1. */
static void test_the_key_enters_the_block(void **state)
{
    (void)state;
    const uint8_t key[KEY_BYTES] = {[31] = 1};
    uint8_t out[STRIDE_BYTES];
    chacha_blocks(out, key, 1);
    assert_int_equal(word_of(out, 0, 0), 0x2452eb3a);
    assert_int_equal(word_of(out, 0, 1), 0x9249f8ec);
}

static void test_a_seed_makes_the_stream_repeat(void **state)
{
    (void)state;
    uint8_t first[3000], second[3000];
    rand_seed_for_tests(5);
    rand_bytes(first, sizeof(first));
    rand_seed_for_tests(5);
    rand_bytes(second, sizeof(second));
    assert_memory_equal(first, second, sizeof(first));
    rand_seed_for_tests(6);
    rand_bytes(second, sizeof(second));
    assert_memory_not_equal(first, second, sizeof(first));
}

static void test_drawn_bytes_are_wiped(void **state)
{
    (void)state;
    static const uint8_t zeros[POOL_BYTES];
    uint8_t out[100], old_key[KEY_BYTES];
    rand_seed_for_tests(7);
    memcpy(old_key, stream.key, KEY_BYTES);
    rand_bytes(out, sizeof(out));
    assert_memory_not_equal(old_key, stream.key, KEY_BYTES);
    assert_memory_equal(stream.pool, zeros, KEY_BYTES + sizeof(out));
}

static void test_below_a_bound_every_value_is_as_likely(void **state)
{
    (void)state;
    enum { BOUND = 10, DRAWS = 100000 };
    unsigned counts[BOUND] = {0};
    rand_seed_for_tests(8);
    for (int i = 0; i < DRAWS; i++)
        counts[rand_below(BOUND)]++;
    for (int i = 0; i < BOUND; i++) /* the standard deviation is 95 */
        assert_in_range(counts[i], 9500, 10500);
}

static void test_bounds_at_the_edges(void **state)
{
    (void)state;
    uint64_t large = UINT64_MAX / 3 * 2;
    bool upper = false;
    rand_seed_for_tests(9);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(rand_below(0), 0);
        assert_int_equal(rand_below(1), 0);
        uint64_t drawn = rand_below(large);
        assert_true(drawn < large);
        upper |= drawn > large / 2;
    }
    assert_true(upper);
}

static void test_small_draws_use_all_their_bits(void **state)
{
    (void)state;
    uint16_t all16 = 0, none16 = UINT16_MAX;
    uint32_t all32 = 0, none32 = UINT32_MAX;
    rand_seed_for_tests(10);
    for (int i = 0; i < 200; i++) {
        uint16_t u16 = rand_u16();
        uint32_t u32 = rand_u32();
        all16 |= u16, none16 &= u16;
        all32 |= u32, none32 &= u32;
    }
    assert_int_equal(all16, UINT16_MAX);
    assert_int_equal(none16, 0);
    assert_int_equal(all32, UINT32_MAX);
    assert_int_equal(none32, 0);
}

static void *draw_one(void *out)
{
    *(uint64_t *)out = rand_u64();
    return NULL;
}

static void test_each_thread_has_its_own_stream(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    uint64_t drawn[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw_one, &drawn[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < i; j++)
            assert_true(drawn[i] != drawn[j]);
}

static void test_a_forked_child_has_its_own_stream(void **state)
{
    (void)state;
    int ends[2];
    uint64_t childs, ours;
    (void)rand_u64();
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        childs = rand_u64();
        _exit(write(ends[1], &childs, sizeof(childs)) == sizeof(childs) ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &childs, sizeof(childs)), sizeof(childs));
    waitpid(child, NULL, 0);
    ours = rand_u64();
    assert_true(ours != childs);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_those_of_the_rfc),
        cmocka_unit_test(test_the_key_enters_the_block),
        cmocka_unit_test(test_a_seed_makes_the_stream_repeat),
        cmocka_unit_test(test_drawn_bytes_are_wiped),
        cmocka_unit_test(test_below_a_bound_every_value_is_as_likely),
        cmocka_unit_test(test_bounds_at_the_edges),
        cmocka_unit_test(test_small_draws_use_all_their_bits),
        cmocka_unit_test(test_each_thread_has_its_own_stream),
        cmocka_unit_test(test_a_forked_child_has_its_own_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
