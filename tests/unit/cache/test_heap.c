/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Blocks never overlap, never leave the region, and join when freed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cache/heap.h"

enum { REGION = 256 * 1024, BLOCKS = 400 };

static uint8_t *region;

static int set_up(void **state)
{
    (void)state;
    region = aligned_alloc(64, REGION);
    return region ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(region);
    return 0;
}

static void test_one_block_can_take_the_whole_region(void **state)
{
    (void)state;
    struct heap heap;
    heap_init(&heap, region, REGION);
    assert_int_equal(heap_take(&heap, REGION), 0);
    uint32_t ref = heap_take(&heap, REGION - 2 * HEAP_GRANULE);
    assert_int_not_equal(ref, 0);
    memset(heap_at(region, ref), 0xff, REGION - 2 * HEAP_GRANULE);
    assert_int_equal(heap_take(&heap, 1), 0);
    heap_give(&heap, ref);
    assert_int_equal(heap.used, 0);
}

static void test_a_full_region_refuses_and_recovers(void **state)
{
    (void)state;
    struct heap heap;
    heap_init(&heap, region, REGION);
    static uint32_t refs[REGION / HEAP_GRANULE];
    size_t count = 0;
    while ((refs[count] = heap_take(&heap, 100)) != 0)
        count++;
    assert_int_equal(count, heap.granules / 14); /* a block takes 13 granules and a header */
    for (size_t i = 0; i < count; i += 2)
        heap_give(&heap, refs[i]);
    /* no two free blocks are neighbours, so they cannot join */
    assert_int_equal(heap_take(&heap, 200), 0);
    for (size_t i = 1; i < count; i += 2)
        heap_give(&heap, refs[i]);
    assert_int_not_equal(heap_take(&heap, REGION - 2 * HEAP_GRANULE), 0);
}

static void test_absurd_sizes_do_not_fit(void **state)
{
    (void)state;
    struct heap heap;
    heap_init(&heap, region, REGION);
    assert_int_equal(heap_take(&heap, SIZE_MAX), 0);
    assert_int_equal(heap_take(&heap, UINT32_MAX), 0);
    assert_int_not_equal(heap_take(&heap, 0), 0);
}

static void test_a_free_run_of_the_stated_length_is_always_enough(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes < 70000; bytes += 37) {
        struct heap heap;
        size_t run = (size_t)heap_run_for(bytes) * HEAP_GRANULE;
        heap_init(&heap, region, run + HEAP_GRANULE < 64 ? 64 : run + HEAP_GRANULE);
        assert_int_not_equal(heap_take(&heap, bytes), 0);
    }
}

struct block {
    uint32_t ref;
    size_t bytes;
    uint8_t fill;
};

static void check_walk(const struct heap *heap)
{
    uint32_t used = 0, all = 0;
    enum heap_block before = HEAP_USED;
    uint32_t ref = heap_first(heap);
    for (; heap_state(heap, ref) != HEAP_END; ref = heap_next(heap, ref)) {
        enum heap_block now = heap_state(heap, ref);
        assert_false(before == HEAP_FREE && now == HEAP_FREE);
        all += heap_block_granules(heap, ref);
        used += now == HEAP_FREE ? 0 : heap_block_granules(heap, ref);
        before = now;
    }
    assert_int_equal(used, heap->used);
    assert_int_equal(all, heap->granules);
}

static void check_and_give(struct heap *heap, struct block *block)
{
    const uint8_t *bytes = heap_at(region, block->ref);
    for (size_t i = 0; i < block->bytes; i++)
        assert_int_equal(bytes[i], block->fill);
    heap_give(heap, block->ref);
    block->ref = 0;
}

static void test_random_blocks_keep_their_bytes(void **state)
{
    (void)state;
    static struct block blocks[BLOCKS];
    struct heap heap;
    heap_init(&heap, region, REGION);
    uint32_t random = 7;
    for (int step = 0; step < 60000; step++) {
        random = random * 1664525 + 1013904223;
        struct block *block = &blocks[(random >> 8) % BLOCKS];
        if (block->ref)
            check_and_give(&heap, block);
        random = random * 1664525 + 1013904223;
        block->bytes = random >> 28 ? random >> 23 : random >> 13 & 0x3fff;
        block->fill = (uint8_t)step;
        block->ref = heap_take(&heap, block->bytes);
        if (block->ref)
            memset(heap_at(region, block->ref), block->fill, block->bytes);
        if (step % 64 == 0)
            check_walk(&heap);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].ref)
            check_and_give(&heap, &blocks[i]);
    assert_int_equal(heap.used, 0);
    assert_int_not_equal(heap_take(&heap, REGION - 2 * HEAP_GRANULE), 0);
}

static void test_a_leaving_block_stays_visible_until_it_is_given_back(void **state)
{
    (void)state;
    struct heap heap;
    heap_init(&heap, region, REGION);
    uint32_t ref = heap_take(&heap, 100);
    heap_set_leaving(&heap, ref);
    assert_int_equal(heap_state(&heap, ref), HEAP_LEAVING);
    assert_int_equal(heap_block_granules(&heap, ref), 14);
    heap_give(&heap, ref);
    assert_int_equal(heap_state(&heap, ref), HEAP_FREE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_block_can_take_the_whole_region),
        cmocka_unit_test(test_a_full_region_refuses_and_recovers),
        cmocka_unit_test(test_absurd_sizes_do_not_fit),
        cmocka_unit_test(test_a_free_run_of_the_stated_length_is_always_enough),
        cmocka_unit_test(test_random_blocks_keep_their_bytes),
        cmocka_unit_test(test_a_leaving_block_stays_visible_until_it_is_given_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
