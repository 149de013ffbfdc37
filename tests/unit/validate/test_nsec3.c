/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/denial_sample.h"

#include "validate/nsec3.h"
#include "validate/nsec3_hash.h"
#include "validate/type_bitmap.h"

/* RFC 5155 appendix A: the record of example. */
#define APEX "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"
#define NEXT "2t7b4g4vsa5smi47k61mv5bv1a22bojr"

static void begin(struct sample *sample)
{
    sample_begin(sample, "example");
    sample->salt = "aabbccdd";
    sample->iterations = 12;
}

static bool read_first(const struct sample *sample, struct nsec3 *nsec3)
{
    const struct denial_record *record = &sample->denial.at[0];
    return nsec3_read(nsec3, sample->denial.zone, record->owner, record->rdata);
}

static void test_fields_are_read(void **state)
{
    (void)state;
    struct sample sample;
    struct nsec3 nsec3;
    char text[33];
    begin(&sample);
    sample_nsec3(&sample, APEX, 1, NEXT, "MX NS SOA");
    assert_true(read_first(&sample, &nsec3));
    assert_string_equal(sample_base32(text, nsec3.owner), APEX);
    assert_string_equal(sample_base32(text, nsec3.next), NEXT);
    assert_int_equal(nsec3.iterations, 12);
    assert_true(span_equal(nsec3.salt, BYTES("\xaa\xbb\xcc\xdd")));
    assert_true(nsec3.has_opt_out);
    assert_true(type_bitmap_has(nsec3.types, RRTYPE_SOA));
}

static void test_empty_salt_and_empty_bitmap_are_read(void **state)
{
    (void)state;
    struct sample sample;
    struct nsec3 nsec3;
    sample_begin(&sample, ".");
    sample_nsec3(&sample, APEX, 0, NEXT, "");
    assert_true(read_first(&sample, &nsec3));
    assert_int_equal(nsec3.salt.len, 0);
    assert_int_equal(nsec3.types.len, 0);
    assert_false(nsec3.has_opt_out);
}

static void test_cut_rdata_is_refused_at_every_length(void **state)
{
    (void)state;
    struct sample sample;
    struct nsec3 nsec3;
    begin(&sample);
    sample_nsec3(&sample, APEX, 1, NEXT, "A CAA");
    const struct denial_record *record = &sample.denial.at[0];
    const size_t fixed_len = 5 + 4 + 1 + 20;
    for (size_t len = 0; len < record->rdata.len; len++) {
        uint8_t *exact = malloc(len + 1); /* of exact size, so that a sanitizer detects overruns */
        memcpy(exact, record->rdata.data, len);
        bool is_whole = len == fixed_len || len == fixed_len + 3;
        assert_int_equal(nsec3_read(&nsec3, sample.denial.zone, record->owner, span_of(exact, len)),
                         is_whole);
        free(exact);
    }
}

static void test_unknown_algorithm_is_ignored(void **state)
{
    (void)state;
    struct sample sample;
    struct nsec3 nsec3;
    begin(&sample);
    sample_nsec3(&sample, APEX, 0, NEXT, "A");
    for (unsigned algorithm = 0; algorithm < 256; algorithm++) {
        sample_rdata(&sample)[0] = (uint8_t)algorithm;
        assert_int_equal(read_first(&sample, &nsec3), algorithm == 1);
    }
}

static void test_unknown_flags_are_ignored(void **state)
{
    (void)state;
    struct sample sample;
    struct nsec3 nsec3;
    begin(&sample);
    sample_nsec3(&sample, APEX, 0, NEXT, "A");
    for (unsigned flags = 0; flags < 256; flags++) {
        sample_rdata(&sample)[1] = (uint8_t)flags;
        assert_int_equal(read_first(&sample, &nsec3), flags <= 1);
    }
}

static void test_next_hash_of_another_length_is_refused(void **state)
{
    (void)state;
    struct sample sample;
    struct nsec3 nsec3;
    begin(&sample);
    sample_nsec3(&sample, APEX, 0, NEXT, "");
    struct denial_record *record = &sample.denial.at[0];
    sample_rdata(&sample)[9] = 19;
    record->rdata.len--;
    assert_false(read_first(&sample, &nsec3));
    sample_rdata(&sample)[9] = 21;
    record->rdata.len += 2;
    assert_false(read_first(&sample, &nsec3));
    sample_rdata(&sample)[9] = 0;
    record->rdata.len = 10;
    assert_false(read_first(&sample, &nsec3));
}

/* Reads the record of the apex, but with another owner or zone. */
static bool read_with(const char *zone, const char *owner)
{
    struct sample sample;
    struct nsec3 nsec3;
    begin(&sample);
    sample_nsec3(&sample, APEX, 0, NEXT, "A");
    return nsec3_read(&nsec3, NAME(zone), NAME(owner), sample.denial.at[0].rdata);
}

static void test_owner_is_the_hash_directly_below_the_zone(void **state)
{
    (void)state;
    assert_true(read_with("example", APEX ".example"));
    assert_false(read_with("example", APEX ".sub.example"));
    assert_false(read_with("example", APEX "." APEX ".example"));
    assert_false(read_with("sub.example", APEX ".example"));
    assert_false(read_with("example", APEX ".test"));
    assert_false(read_with("example", "example"));
    assert_false(read_with(".", "."));
    assert_false(read_with("example", APEX));
    assert_true(read_with(".", APEX));
}

static void test_owner_of_another_length_or_digit_is_refused(void **state)
{
    (void)state;
    assert_false(read_with("example", "0p9mhaveqvm6t7vbl5lop2u3t2rp3to.example"));
    assert_false(read_with("example", APEX "0.example"));
    assert_false(read_with("example", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tow.example"));
    assert_false(read_with("example", "0p9mhaveqvm6t7vbl5lop2u3t2rp3to=.example"));
    assert_false(read_with("example", "0p9mhaveqvm6t7vbl5lop2u3t2rp3to\\000.example"));
    assert_false(read_with("example", "0p9mhaveqvm6t7vbl5lop2u3t2rp3to\\255.example"));
    assert_false(read_with("example", "@p9mhaveqvm6t7vbl5lop2u3t2rp3tom.example"));
    assert_false(read_with("example", "\\`p9mhaveqvm6t7vbl5lop2u3t2rp3tom.example"));
}

static void test_hashes_are_compared_without_case(void **state)
{
    (void)state;
    struct sample sample;
    struct nsec3 lower, upper;
    begin(&sample);
    sample_nsec3(&sample, APEX, 1, NEXT, "A");
    assert_true(read_first(&sample, &lower));
    assert_true(nsec3_read(&upper, NAME("Example"),
                           NAME("0P9MHAVEQVM6T7VBL5LOP2U3T2RP3TOM.EXAMPLE"),
                           sample.denial.at[0].rdata));
    assert_memory_equal(lower.owner, upper.owner, VERIFY_NSEC3_HASH);
}

static void test_chains_differ_by_salt_and_iterations(void **state)
{
    (void)state;
    static const uint8_t salt[] = {1, 2, 3};
    struct nsec3 a = {.iterations = 1, .salt = span_of(salt, 2)};
    struct nsec3 b = a;
    assert_true(nsec3_is_same_chain(&a, &b));
    b.iterations = 0;
    assert_false(nsec3_is_same_chain(&a, &b));
    b = a;
    b.salt.len = 3;
    assert_false(nsec3_is_same_chain(&a, &b));
    b.salt = span_of(salt + 1, 2);
    assert_false(nsec3_is_same_chain(&a, &b));
    b.salt = span_of(NULL, 0);
    assert_false(nsec3_is_same_chain(&a, &b));
    a.salt = span_of(salt, 0);
    assert_true(nsec3_is_same_chain(&a, &b));
}

static struct nsec3 span_from(uint8_t owner, uint8_t next)
{
    struct nsec3 nsec3 = {0};
    nsec3.owner[VERIFY_NSEC3_HASH - 1] = owner;
    nsec3.next[VERIFY_NSEC3_HASH - 1] = next;
    return nsec3;
}

static bool spans(struct nsec3 nsec3, uint8_t last)
{
    uint8_t hash[VERIFY_NSEC3_HASH] = {0};
    hash[VERIFY_NSEC3_HASH - 1] = last;
    assert_int_equal(nsec3_is_owner(&nsec3, hash), nsec3.owner[VERIFY_NSEC3_HASH - 1] == last);
    return nsec3_spans(&nsec3, hash);
}

static void test_span_excludes_its_ends(void **state)
{
    (void)state;
    struct nsec3 nsec3 = span_from(10, 20);
    for (unsigned last = 0; last < 256; last++)
        assert_int_equal(spans(nsec3, (uint8_t)last), last > 10 && last < 20);
}

static void test_last_span_leads_to_the_first_hash(void **state)
{
    (void)state;
    struct nsec3 nsec3 = span_from(20, 10);
    for (unsigned last = 0; last < 256; last++)
        assert_int_equal(spans(nsec3, (uint8_t)last), last > 20 || last < 10);
}

static void test_single_record_spans_all_but_its_owner(void **state)
{
    (void)state;
    struct nsec3 nsec3 = span_from(20, 20);
    for (unsigned last = 0; last < 256; last++)
        assert_int_equal(spans(nsec3, (uint8_t)last), last != 20);
}

/* ---- hashes ---- */

static void begin_hashes(struct nsec3_hashes *hashes, uint16_t iterations, size_t salt_len,
                         unsigned *units)
{
    static const uint8_t salt[255];
    nsec3_hash_begin(hashes, span_of(salt, salt_len), iterations, units);
}

static void test_hashes_of_rfc_5155_appendix_a(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"example", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"},
        {"a.example", "35mthgpgcu1qg68fab165klnsnk3dpvl"},
        {"ai.example", "gjeqe526plbf1g8mklp59enfd789njgi"},
        {"ns1.example", "2t7b4g4vsa5smi47k61mv5bv1a22bojr"},
        {"ns2.example", "q04jkcevqvmu85r014c7dkba38o0ji5r"},
        {"w.example", "k8udemvp1j2f7eg6jebps17vp3n8i58h"},
        {"*.w.example", "r53bq7cc2uvmubfu5ocmm6pers9tk9en"},
        {"x.w.example", "b4um86eghhds6nea196smvmlo4ors995"},
        {"y.w.example", "ji6neoaepv8b5o6k4ev33abha8ht9fgc"},
        {"x.y.w.example", "2vptu5timamqttgl4luu9kg21e0aor3s"},
        {"xx.example", "t644ebqk9bibcna874givr6joj62mlhv"},
        {"2t7b4g4vsa5smi47k61mv5bv1a22bojr.example", "kohar7mbb8dc2ce8a9qvl8hon4k53uhi"},
    };
    struct nsec3_hashes hashes;
    unsigned units = 100;
    char text[33];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        nsec3_hash_begin(&hashes, BYTES("\xaa\xbb\xcc\xdd"), 12, &units);
        const uint8_t *hash = nsec3_hash_of(&hashes, NAME(names[i][0]), false);
        assert_string_equal(sample_base32(text, hash), names[i][1]);
    }
}

static void test_hash_ignores_the_case_of_the_name(void **state)
{
    (void)state;
    struct nsec3_hashes hashes;
    unsigned units = 100;
    uint8_t lower[VERIFY_NSEC3_HASH];
    begin_hashes(&hashes, 1, 0, &units);
    memcpy(lower, nsec3_hash_of(&hashes, NAME("www.example"), false), sizeof(lower));
    begin_hashes(&hashes, 1, 0, &units);
    assert_memory_equal(nsec3_hash_of(&hashes, NAME("WWW.Example"), false), lower, sizeof(lower));
}

static void test_hash_is_computed_once(void **state)
{
    (void)state;
    struct nsec3_hashes hashes;
    unsigned units = 100;
    begin_hashes(&hashes, 63, 0, &units);
    const uint8_t *first = nsec3_hash_of(&hashes, NAME("www.example"), false);
    assert_int_equal(units, 99);
    assert_ptr_equal(nsec3_hash_of(&hashes, NAME("www.example"), false), first);
    assert_int_equal(units, 99);
    assert_ptr_not_equal(nsec3_hash_of(&hashes, NAME("example"), false), first);
    assert_int_equal(units, 98);
}

static void test_wildcard_and_ancestor_of_one_length_have_their_own_hashes(void **state)
{
    (void)state;
    struct nsec3_hashes hashes;
    unsigned units = 100;
    begin_hashes(&hashes, 0, 0, &units);
    const uint8_t *ancestor = nsec3_hash_of(&hashes, NAME("w.example"), false);
    const uint8_t *wildcard = nsec3_hash_of(&hashes, NAME("*.example"), true);
    assert_memory_not_equal(ancestor, wildcard, VERIFY_NSEC3_HASH);
}

/* Returns how many units one hash of a name with 13 bytes costs. */
static unsigned price_of(uint16_t iterations, size_t salt_len)
{
    struct nsec3_hashes hashes;
    unsigned units = 2000;
    begin_hashes(&hashes, iterations, salt_len, &units);
    assert_non_null(nsec3_hash_of(&hashes, NAME("www.example"), false));
    return 2000 - units;
}

static void test_price_grows_with_iterations_and_salt(void **state)
{
    (void)state;
    assert_int_equal(price_of(0, 0), 1);
    assert_int_equal(price_of(63, 0), 1);  /* 64 blocks */
    assert_int_equal(price_of(64, 0), 2);  /* 65 blocks */
    assert_int_equal(price_of(63, 35), 1); /* 20 + 35 + 9 bytes are one block */
    assert_int_equal(price_of(63, 36), 2); /* one more byte: two blocks */
    assert_int_equal(price_of(50, 255), 4);
    assert_int_equal(price_of(0xffff, 0), 1024);
}

static void test_no_hash_is_computed_without_its_price(void **state)
{
    (void)state;
    struct nsec3_hashes hashes;
    unsigned units = 0;
    begin_hashes(&hashes, 0, 0, &units);
    assert_null(nsec3_hash_of(&hashes, NAME("www.example"), false));
    units = 1;
    begin_hashes(&hashes, 64, 0, &units);
    assert_null(nsec3_hash_of(&hashes, NAME("www.example"), false));
    assert_int_equal(units, 1);
    units = 2;
    assert_non_null(nsec3_hash_of(&hashes, NAME("www.example"), false));
    assert_int_equal(units, 0);
}

static void test_rest_of_a_unit_pays_for_the_next_hash(void **state)
{
    (void)state;
    struct nsec3_hashes hashes;
    unsigned units = 2;
    begin_hashes(&hashes, 20, 0, &units); /* 21 blocks per name */
    assert_non_null(nsec3_hash_of(&hashes, NAME("a.b.c.d.e"), false));
    assert_non_null(nsec3_hash_of(&hashes, NAME("b.c.d.e"), false));
    assert_non_null(nsec3_hash_of(&hashes, NAME("c.d.e"), false));
    assert_int_equal(units, 1);
    assert_non_null(nsec3_hash_of(&hashes, NAME("d.e"), false));
    assert_int_equal(units, 0);
}

static void test_bound_on_hashes_is_reached(void **state)
{
    (void)state;
    struct nsec3_hashes hashes;
    unsigned units = 1000;
    struct name name = NAME("1.2.3.4.5.6.7.8.9.0.1.2.3.4.5.6.7.8.9.0.1.2.3.4.5.6.7.8.9.0.1.2.3.4");
    begin_hashes(&hashes, 0, 0, &units);
    for (unsigned i = 0; i < NSEC3_HASHES_MAX; i++)
        assert_non_null(nsec3_hash_of(&hashes, name_strip(name, i), false));
    assert_null(nsec3_hash_of(&hashes, name_strip(name, NSEC3_HASHES_MAX), false));
    assert_non_null(nsec3_hash_of(&hashes, name, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_are_read),
        cmocka_unit_test(test_empty_salt_and_empty_bitmap_are_read),
        cmocka_unit_test(test_cut_rdata_is_refused_at_every_length),
        cmocka_unit_test(test_unknown_algorithm_is_ignored),
        cmocka_unit_test(test_unknown_flags_are_ignored),
        cmocka_unit_test(test_next_hash_of_another_length_is_refused),
        cmocka_unit_test(test_owner_is_the_hash_directly_below_the_zone),
        cmocka_unit_test(test_owner_of_another_length_or_digit_is_refused),
        cmocka_unit_test(test_hashes_are_compared_without_case),
        cmocka_unit_test(test_chains_differ_by_salt_and_iterations),
        cmocka_unit_test(test_span_excludes_its_ends),
        cmocka_unit_test(test_last_span_leads_to_the_first_hash),
        cmocka_unit_test(test_single_record_spans_all_but_its_owner),
        cmocka_unit_test(test_hashes_of_rfc_5155_appendix_a),
        cmocka_unit_test(test_hash_ignores_the_case_of_the_name),
        cmocka_unit_test(test_hash_is_computed_once),
        cmocka_unit_test(test_wildcard_and_ancestor_of_one_length_have_their_own_hashes),
        cmocka_unit_test(test_price_grows_with_iterations_and_salt),
        cmocka_unit_test(test_no_hash_is_computed_without_its_price),
        cmocka_unit_test(test_rest_of_a_unit_pays_for_the_next_hash),
        cmocka_unit_test(test_bound_on_hashes_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
