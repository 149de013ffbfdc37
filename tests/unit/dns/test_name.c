/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "base/check.h"
#include "dns/name.h"

/* A message with at least a header, which names follow. */
struct bench {
    uint8_t bytes[2048];
    size_t len;
};

static struct span bench_span(const struct bench *bench)
{
    return span_of(bench->bytes, bench->len);
}

static struct bench bench_of(const char *data, size_t len)
{
    struct bench bench = {.len = 12 + len};
    memcpy(bench.bytes + 12, data, len);
    return bench;
}

#define BENCH(literal) bench_of(literal, sizeof(literal) - 1)

/* Checks that all three readers agree on whether the name at offset is sound, and on its end. */
static size_t read_at(const struct bench *bench, size_t offset, uint8_t *wire, struct name *name)
{
    size_t after = name_read(bench_span(bench), offset, wire, name);
    assert_int_equal(name_skip(bench_span(bench), offset), after);
    if (after)
        assert_true(name_equal_in_message(bench_span(bench), offset, *name));
    return after;
}

static void assert_unsound(const struct bench *bench, size_t offset)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    assert_int_equal(read_at(bench, offset, wire, &name), 0);
}

static void test_plain_name_is_copied_and_its_end_reported(void **state)
{
    (void)state;
    struct bench bench = BENCH("\3WwW\7example\0rest");
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    assert_int_equal(read_at(&bench, 12, wire, &name), 12 + 13);
    assert_int_equal(name.len, 13);
    assert_memory_equal(name.wire, "\3WwW\7example", 13);
}

static void test_pointer_is_followed_and_the_name_ends_after_it(void **state)
{
    (void)state;
    struct bench bench = BENCH("\7example\0\3www\xc0\x0c\xc0\x15");
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    assert_int_equal(read_at(&bench, 21, wire, &name), 27);
    assert_true(name_equal_exact(name, NAME("www.example")));
    assert_int_equal(read_at(&bench, 27, wire, &name), 29);
    assert_true(name_equal_exact(name, NAME("www.example")));
}

static void test_pointer_to_itself_is_refused(void **state)
{
    (void)state;
    struct bench bench = BENCH("\xc0\x0c");
    assert_unsound(&bench, 12);
}

static void test_pointer_back_into_the_same_labels_is_refused(void **state)
{
    (void)state;
    struct bench bench = BENCH("\1a\xc0\x0c");
    assert_unsound(&bench, 12);
    struct bench inside = BENCH("\3\1a\0\xc0\x0d");
    assert_unsound(&inside, 12);
}

static void test_two_pointers_in_a_ring_are_refused(void **state)
{
    (void)state;
    struct bench bench = BENCH("\xc0\x0e\xc0\x0c");
    assert_unsound(&bench, 12);
    assert_unsound(&bench, 14);
}

static void test_forward_pointer_is_refused(void **state)
{
    (void)state;
    struct bench bench = BENCH("\xc0\x0e\1a\0");
    assert_unsound(&bench, 12);
}

static void test_pointer_into_the_header_is_refused(void **state)
{
    (void)state;
    struct bench bench = BENCH("\xc0\x0b\xc0\x00");
    assert_unsound(&bench, 12);
    assert_unsound(&bench, 14);
}

static void test_label_types_other_than_plain_are_refused(void **state)
{
    (void)state;
    struct bench long_label =
        BENCH("\x40"
              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0");
    assert_unsound(&long_label, 12);
    struct bench other = BENCH("\x80"
                               "a\0");
    assert_unsound(&other, 12);
}

static void test_label_of_63_bytes_is_accepted(void **state)
{
    (void)state;
    struct bench bench = {.len = 12 + 65};
    bench.bytes[12] = 63;
    memset(bench.bytes + 13, 'x', 63);
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    assert_int_equal(read_at(&bench, 12, wire, &name), 12 + 65);
}

/* Makes a name of len bytes, root included, from one-byte labels and one longer label. */
static void fill_name(struct bench *bench, size_t len)
{
    size_t at = 12, end = 12 + len - 1;
    if ((len - 1) % 2) {
        memcpy(bench->bytes + at, "\2yy", 3);
        at += 3;
    }
    for (; at < end; at += 2)
        memcpy(bench->bytes + at, "\1x", 2);
    bench->bytes[end] = 0;
    bench->len = end + 1;
}

static void test_name_of_255_bytes_is_accepted_and_256_refused(void **state)
{
    (void)state;
    struct bench bench = {0};
    uint8_t wire[NAME_WIRE_MAX];
    struct name name, view;
    fill_name(&bench, 255);
    assert_int_equal(read_at(&bench, 12, wire, &name), 12 + 255);
    assert_int_equal(name.len, 255);
    assert_int_equal(name_label_count(name), NAME_LABELS_MAX);
    assert_int_equal(name_view(bench_span(&bench), 12, &view), 12 + 255);
    fill_name(&bench, 256);
    assert_unsound(&bench, 12);
    assert_int_equal(name_view(bench_span(&bench), 12, &view), 0);
}

static void test_name_that_a_pointer_extends_over_255_bytes_is_refused(void **state)
{
    (void)state;
    struct bench bench = {0};
    fill_name(&bench, 254);
    memcpy(bench.bytes + bench.len, "\1z\xc0\x0c", 4);
    size_t offset = bench.len;
    bench.len += 4;
    assert_unsound(&bench, offset);
}

/* Writes a root name, then pointers that each lead to the previous one. Returns the offset of the
 * last pointer. */
static size_t chain(struct bench *bench, size_t hops)
{
    *bench = (struct bench){.len = 13};
    for (size_t i = 0, target = 12; i < hops; i++) {
        put_u16(bench->bytes + bench->len, (uint16_t)(0xc000 | target));
        target = bench->len;
        bench->len += 2;
    }
    return bench->len - 2;
}

static void test_pointers_are_followed_up_to_their_limit(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    size_t last = chain(&bench, NAME_HOPS_MAX);
    assert_int_equal(read_at(&bench, last, wire, &name), last + 2);
    assert_true(name_is_root(name));
    last = chain(&bench, NAME_HOPS_MAX + 1);
    assert_unsound(&bench, last);
}

static void test_name_truncated_anywhere_is_refused(void **state)
{
    (void)state;
    struct bench bench = BENCH("\7example\0\3www\xc0\x0c");
    for (bench.len = 21; bench.len < 27; bench.len++)
        assert_unsound(&bench, 21);
    for (bench.len = 0; bench.len < 21; bench.len++)
        assert_unsound(&bench, 12);
    assert_unsound(&bench, 5000);
}

static void test_view_borrows_and_refuses_pointers(void **state)
{
    (void)state;
    struct name name;
    struct span plain = BYTES("\1a\0\xc0\0");
    assert_int_equal(name_view(plain, 0, &name), 3);
    assert_ptr_equal(name.wire, plain.data);
    assert_int_equal(name_view(plain, 3, &name), 0);
    assert_int_equal(name_view(span_of(plain.data, 2), 0, &name), 0);
    assert_int_equal(name_view(plain, 9, &name), 0);
}

static void test_compressed_name_is_compared_without_copying(void **state)
{
    (void)state;
    struct bench bench = BENCH("\7eXample\0\3www\xc0\x0c");
    struct span span = bench_span(&bench);
    assert_true(name_equal_in_message(span, 21, NAME("WWW.example")));
    assert_false(name_equal_in_message(span, 21, NAME("www.example.com")));
    assert_false(name_equal_in_message(span, 21, NAME("www.exampl")));
    assert_false(name_equal_in_message(span, 21, NAME("www")));
    assert_false(name_equal_in_message(span, 21, NAME(".")));
    assert_false(name_equal_in_message(span, 21, NAME("xww.example")));
}

static void test_case_is_ignored_unless_exact(void **state)
{
    (void)state;
    assert_true(name_equal(NAME("WwW.ExAmPlE.CoM"), NAME("www.example.com")));
    assert_false(name_equal_exact(NAME("WwW.example.com"), NAME("www.example.com")));
    assert_true(name_equal_exact(NAME("www.example.com"), NAME("www.example.com")));
    assert_false(name_equal(NAME("www.example.com"), NAME("wwx.example.com")));
    assert_false(name_equal(NAME("ab.c"), NAME("a.bc")));
}

static void test_only_letters_fold(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 256; i++) {
        uint8_t expected = i >= 'A' && i <= 'Z' ? (uint8_t)(i + 32) : (uint8_t)i;
        assert_int_equal(name_fold_byte((uint8_t)i), expected);
        for (unsigned shift = 0; shift < 64; shift += 8) {
            uint64_t others = 0x5b5b5b5b5b5b5b5bu & ~((uint64_t)0xff << shift);
            assert_true(name_fold_word(others | (uint64_t)i << shift) ==
                        (others | (uint64_t)expected << shift));
        }
    }
    assert_false(name_equal(NAME("a[.example"), NAME("a{.example")));
    assert_false(name_equal(NAME("a@.example"), NAME("a`.example")));
    assert_false(name_equal(NAME("a\\193.example"), NAME("a\\225.example")));
}

static void test_names_of_every_length_compare_fold_and_hash_alike(void **state)
{
    (void)state;
    for (size_t len = 2; len <= 63; len++) {
        char upper[64] = {0}, lower[64] = {0};
        memset(upper, 'Q', len);
        memset(lower, 'q', len);
        struct name a = NAME(upper), b = NAME(lower);
        uint8_t folded[NAME_WIRE_MAX];
        assert_true(name_equal(a, b));
        assert_true(name_equal_exact(name_fold(a, folded), b));
        assert_true(name_hash(a, 7) == name_hash(b, 7));
        assert_true(name_hash(a, 7) != name_hash(a, 8));
        for (size_t i = 0; i < len; i++) {
            lower[i] = 'p';
            assert_false(name_equal(a, NAME(lower)));
            lower[i] = 'q';
        }
    }
}

/* Short names are compared by words, longer ones by blocks. */
static void test_two_bytes_are_equal_when_they_fold_alike(void **state)
{
    (void)state;
    static const unsigned lengths[] = {3, 7, 8, 15, 16, 31, 60};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        uint8_t a[64] = {0}, b[64] = {0};
        unsigned len = lengths[i], at = len / 2 + 1;
        a[0] = b[0] = (uint8_t)len;
        for (unsigned x = 0; x < 256; x++)
            for (unsigned y = 0; y < 256; y++) {
                struct name one = {a, (uint8_t)(len + 2)}, other = {b, (uint8_t)(len + 2)};
                a[at] = (uint8_t)x;
                b[at] = (uint8_t)y;
                assert_int_equal(name_equal(one, other),
                                 name_fold_byte((uint8_t)x) == name_fold_byte((uint8_t)y));
            }
    }
}

/* Short names are folded by bytes and words, longer ones by blocks. */
static void test_each_byte_of_a_name_folds_alike_at_every_length(void **state)
{
    (void)state;
    static const unsigned lengths[] = {1, 5, 6, 13, 14, 15, 30, 31, 60};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        uint8_t wire[64] = {(uint8_t)lengths[i]}, folded[NAME_WIRE_MAX];
        struct name name = {wire, (uint8_t)(lengths[i] + 2)};
        for (unsigned x = 0; x < 256; x++) {
            memset(wire + 1, (int)x, lengths[i]);
            assert_ptr_equal(name_fold(name, folded).wire, folded);
            assert_int_equal(folded[0], lengths[i]);
            assert_int_equal(folded[lengths[i] + 1], 0);
            for (unsigned at = 1; at <= lengths[i]; at++)
                assert_int_equal(folded[at], name_fold_byte((uint8_t)x));
        }
    }
}

static void test_folding_in_place_is_allowed(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX];
    struct name name = sample_name(wire, "WWW.Example.COM");
    assert_true(name_equal_exact(name_fold(name, wire), NAME("www.example.com")));
    name = sample_name(wire, "A.Long.Name.Of.THREE.Blocks.Of.Sixteen.BYTES.Example");
    assert_true(name_equal_exact(name_fold(name, wire),
                                 NAME("a.long.name.of.three.blocks.of.sixteen.bytes.example")));
}

static void test_below_means_equal_or_under_at_a_label_boundary(void **state)
{
    (void)state;
    assert_true(name_is_below(NAME("www.Example.com"), NAME("eXample.com")));
    assert_true(name_is_below(NAME("example.com"), NAME("example.com")));
    assert_true(name_is_below(NAME("example.com"), NAME(".")));
    assert_true(name_is_below(NAME("."), NAME(".")));
    assert_false(name_is_below(NAME("example.com"), NAME("www.example.com")));
    assert_false(name_is_below(NAME("badexample.com"), NAME("example.com")));
    /* these bytes look like the suffix, but a label contains them */
    assert_false(name_is_below(NAME("x\\001a.b"), NAME("a.b")));
    assert_false(name_is_below(NAME("."), NAME("com")));
}

static void test_parts_are_counted_and_stripped(void **state)
{
    (void)state;
    struct name name = NAME("a.b.c");
    assert_int_equal(name_label_count(name), 3);
    assert_int_equal(name_label_count(name_root()), 0);
    assert_true(name_equal(name_parent(name), NAME("b.c")));
    assert_true(name_is_root(name_parent(name_root())));
    assert_true(name_equal(name_strip(name, 2), NAME("c")));
    assert_true(name_is_root(name_strip(name, 9)));
    assert_true(name_equal(name_suffix(name, 2), NAME("b.c")));
    assert_true(name_equal(name_suffix(name, 9), name));
    assert_true(name_is_root(name_suffix(name, 0)));
}

static void test_common_labels_count_from_the_root(void **state)
{
    (void)state;
    assert_int_equal(name_common_labels(NAME("a.b.C"), NAME("x.B.c")), 2);
    assert_int_equal(name_common_labels(NAME("b.c"), NAME("a.b.c")), 2);
    assert_int_equal(name_common_labels(NAME("a.b"), NAME("a.c")), 0);
    assert_int_equal(name_common_labels(name_root(), NAME("a")), 0);
}

static void test_canonical_order_is_that_of_rfc_4034(void **state)
{
    (void)state;
    const char *const order[] = {"example",         "a.example",      "yljkjljk.a.example",
                                 "Z.a.example",     "zABC.a.EXAMPLE", "z.example",
                                 "\\001.z.example", "*.z.example",    "\\200.z.example"};
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) {
            int order_of = name_compare(NAME(order[i]), NAME(order[j]));
            assert_int_equal((order_of > 0) - (order_of < 0), (i > j) - (i < j));
        }
    }
}

static void test_copy_keeps_case(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX];
    struct name copy = name_copy(NAME("WwW.x"), wire);
    assert_ptr_equal(copy.wire, wire);
    assert_true(name_equal_exact(copy, NAME("WwW.x")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_name_is_copied_and_its_end_reported),
        cmocka_unit_test(test_pointer_is_followed_and_the_name_ends_after_it),
        cmocka_unit_test(test_pointer_to_itself_is_refused),
        cmocka_unit_test(test_pointer_back_into_the_same_labels_is_refused),
        cmocka_unit_test(test_two_pointers_in_a_ring_are_refused),
        cmocka_unit_test(test_forward_pointer_is_refused),
        cmocka_unit_test(test_pointer_into_the_header_is_refused),
        cmocka_unit_test(test_label_types_other_than_plain_are_refused),
        cmocka_unit_test(test_label_of_63_bytes_is_accepted),
        cmocka_unit_test(test_name_of_255_bytes_is_accepted_and_256_refused),
        cmocka_unit_test(test_name_that_a_pointer_extends_over_255_bytes_is_refused),
        cmocka_unit_test(test_pointers_are_followed_up_to_their_limit),
        cmocka_unit_test(test_name_truncated_anywhere_is_refused),
        cmocka_unit_test(test_view_borrows_and_refuses_pointers),
        cmocka_unit_test(test_compressed_name_is_compared_without_copying),
        cmocka_unit_test(test_case_is_ignored_unless_exact),
        cmocka_unit_test(test_only_letters_fold),
        cmocka_unit_test(test_names_of_every_length_compare_fold_and_hash_alike),
        cmocka_unit_test(test_two_bytes_are_equal_when_they_fold_alike),
        cmocka_unit_test(test_each_byte_of_a_name_folds_alike_at_every_length),
        cmocka_unit_test(test_folding_in_place_is_allowed),
        cmocka_unit_test(test_below_means_equal_or_under_at_a_label_boundary),
        cmocka_unit_test(test_parts_are_counted_and_stripped),
        cmocka_unit_test(test_common_labels_count_from_the_root),
        cmocka_unit_test(test_canonical_order_is_that_of_rfc_4034),
        cmocka_unit_test(test_copy_keeps_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
