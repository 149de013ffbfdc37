/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/transfer/zone_sample.h"

#include <stdlib.h>

#include "transfer/zone_image.h"

struct image {
    uint8_t bytes[1 << 20];
    size_t len, puts;
    size_t refuse_at; /* the number of the put that fails; 0: none fails */
};

static struct image image;

static enum err put(void *owner, struct span bytes)
{
    struct image *to = owner;
    if (++to->puts == to->refuse_at)
        return ERR_NO_SPACE;
    assert_true(to->len + bytes.len <= sizeof(to->bytes));
    memcpy(to->bytes + to->len, bytes.data, bytes.len);
    to->len += bytes.len;
    return ERR_OK;
}

static void image_make(unsigned addresses)
{
    struct zone_data *zone = zone_sample(NAME("Example.com"), 7, addresses);
    image.len = image.puts = image.refuse_at = 0;
    assert_int_equal(zone_image_write(zone, put, &image), ERR_OK);
    zone_data_unref(zone);
}

static enum err image_read(size_t len, const char *origin, size_t max_bytes, struct zone_data **out)
{
    uint8_t *copy = malloc(len + !len); /* exact size, so that a sanitizer detects overruns */
    memcpy(copy, image.bytes, len);
    enum err err = zone_image_read(span_of(copy, len), NAME(origin), max_bytes, out);
    free(copy);
    return err;
}

static void test_a_version_comes_back(void **state)
{
    (void)state;
    static const unsigned counts[] = {0, 1, 5000};
    for (size_t i = 0; i < 3; i++) {
        struct zone_data *zone = zone_sample(NAME("Example.com"), 7, counts[i]), *back;
        image_make(counts[i]);
        assert_int_equal(image_read(image.len, "example.COM", ZONE_SAMPLE_BYTES, &back), ERR_OK);
        assert_same_zone(zone, back);
        assert_true(counts[i] < 5000 || image.puts > 3);
        zone_data_unref(zone);
        zone_data_unref(back);
    }
}

static void test_a_cut_image_is_refused(void **state)
{
    (void)state;
    struct zone_data *back;
    image_make(3);
    for (size_t len = 0; len < image.len; len++) {
        assert_int_not_equal(image_read(len, "example.com", ZONE_SAMPLE_BYTES, &back), ERR_OK);
        assert_null(back);
    }
    image.bytes[image.len] = 0;
    assert_int_equal(image_read(image.len + 1, "example.com", ZONE_SAMPLE_BYTES, &back),
                     ERR_INVALID);
}

static void test_a_changed_bit_is_refused(void **state)
{
    (void)state;
    struct zone_data *back;
    image_make(3);
    for (size_t i = 0; i < image.len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            image.bytes[i] ^= (uint8_t)(1 << bit);
            if (image_read(image.len, "example.com", ZONE_SAMPLE_BYTES, &back) == ERR_OK)
                fail_msg("byte %zu, bit %u", i, bit);
            image.bytes[i] ^= (uint8_t)(1 << bit);
        }
}

static void test_an_image_of_another_zone_is_foreign(void **state)
{
    (void)state;
    struct zone_data *back;
    image_make(1);
    assert_int_equal(image_read(image.len, "example.net", ZONE_SAMPLE_BYTES, &back), ERR_FOREIGN);
    assert_int_equal(image_read(image.len, "com", ZONE_SAMPLE_BYTES, &back), ERR_FOREIGN);
}

static void test_a_zone_above_its_bound_is_refused(void **state)
{
    (void)state;
    struct zone_data *back;
    image_make(1000);
    assert_int_equal(image_read(image.len, "example.com", 4096, &back), ERR_LIMIT);
}

static void test_a_failed_write_ends_the_image(void **state)
{
    (void)state;
    struct zone_data *zone = zone_sample(NAME("example.com"), 7, 5000);
    for (size_t at = 1; at <= 3; at++) {
        image.len = image.puts = 0;
        image.refuse_at = at;
        assert_int_equal(zone_image_write(zone, put, &image), ERR_NO_SPACE);
        assert_int_equal(image.puts, at);
    }
    zone_data_unref(zone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_version_comes_back),
        cmocka_unit_test(test_a_cut_image_is_refused),
        cmocka_unit_test(test_a_changed_bit_is_refused),
        cmocka_unit_test(test_an_image_of_another_zone_is_foreign),
        cmocka_unit_test(test_a_zone_above_its_bound_is_refused),
        cmocka_unit_test(test_a_failed_write_ends_the_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
