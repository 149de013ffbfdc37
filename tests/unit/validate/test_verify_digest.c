/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include <ldns/ldns.h>
#include <pthread.h>

#include "base/check.h"
#include "unit/validate/hash_text.h"
#include "validate/verify.h"

static void test_digests_of_ds_records(void **state)
{
    (void)state;
    static const struct {
        uint8_t type;
        enum verify_hash hash;
    } rows[] = {{1, VERIFY_SHA1}, {2, VERIFY_SHA256}, {4, VERIFY_SHA384}};
    uint8_t out[VERIFY_DIGEST_MAX];
    char text[2 * VERIFY_DIGEST_MAX + 1];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        hash_text_hex(text, out, verify_digest(rows[i].type, BYTES("a"), BYTES("bc"), out));
        assert_string_equal(text, hash_text_of_abc[rows[i].hash]);
    }
    for (unsigned type = 0; type < 256; type++)
        if (type != 1 && type != 2 && type != 4)
            assert_int_equal(verify_digest((uint8_t)type, BYTES("a"), BYTES("bc"), out), 0);
}

static void to_base32(char out[33], const uint8_t hash[VERIFY_NSEC3_HASH])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    for (unsigned i = 0; i < 32; i++) {
        unsigned bit = i * 5, pair = (unsigned)hash[bit / 8] << 8;
        if (bit / 8 + 1 < VERIFY_NSEC3_HASH)
            pair |= hash[bit / 8 + 1];
        out[i] = digits[pair >> (11 - bit % 8) & 31];
    }
    out[32] = 0;
}

static void assert_nsec3_hash(const char *name_text, const char *expected)
{
    uint8_t wire[NAME_WIRE_MAX], hash[VERIFY_NSEC3_HASH];
    char text[33];
    struct name name = name_fold(NAME(name_text), wire);
    assert_true(
        verify_nsec3_hash(hash, span_of(name.wire, name.len), BYTES("\xaa\xbb\xcc\xdd"), 12));
    to_base32(text, hash);
    assert_string_equal(text, expected);
}

static void test_nsec3_hashes_of_rfc_5155(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"example", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"},
        {"a.example", "35mthgpgcu1qg68fab165klnsnk3dpvl"},
        {"ai.example", "gjeqe526plbf1g8mklp59enfd789njgi"},
        {"ns1.example", "2t7b4g4vsa5smi47k61mv5bv1a22bojr"},
        {"ns2.example", "q04jkcevqvmu85r014c7dkba38o0ji5r"},
        {"w.example", "k8udemvp1j2f7eg6jebps17vp3n8i58h"},
        {"*.w.example", "r53bq7cc2uvmubfu5ocmm6pers9tk9en"},
        {"x.w.example", "b4um86eghhds6nea196smvmlo4ors995"},
        {"Y.W.example", "ji6neoaepv8b5o6k4ev33abha8ht9fgc"},
        {"x.y.w.example", "2vptu5timamqttgl4luu9kg21e0aor3s"},
        {"xx.example", "t644ebqk9bibcna874givr6joj62mlhv"},
        {"2t7b4g4vsa5smi47k61mv5bv1a22bojr.example", "kohar7mbb8dc2ce8a9qvl8hon4k53uhi"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_nsec3_hash(rows[i][0], rows[i][1]);
}

/* Salts of every length, and higher numbers of iterations than a zone should have. */
static void test_nsec3_hashes_are_those_of_ldns(void **state)
{
    (void)state;
    uint8_t salt[255], hash[VERIFY_NSEC3_HASH];
    memset(salt, 0x5a, sizeof(salt));
    ldns_rdf *name = ldns_dname_new_frm_str("www.example.org.");
    static const uint16_t iterations[] = {0, 1, 50, 2500, 65535};
    for (size_t len = 0; len <= sizeof(salt); len += 17)
        for (size_t i = 0; i < (len ? 3 : ARRAY_LEN(iterations)); i++) {
            ldns_rdf *theirs = ldns_nsec3_hash_name(name, 1, iterations[i], (uint8_t)len, salt);
            struct name ours = {.wire = ldns_rdf_data(name), .len = (uint8_t)ldns_rdf_size(name)};
            char text[33];
            assert_true(verify_nsec3_hash(hash, span_of(ours.wire, ours.len), span_of(salt, len),
                                          iterations[i]));
            to_base32(text, hash);
            assert_non_null(theirs);
            assert_memory_equal(text, ldns_rdf_data(theirs) + 1, 32);
            ldns_rdf_deep_free(theirs);
        }
    ldns_rdf_deep_free(name);
}

static void *hash_in_a_thread(void *result)
{
    uint8_t hash[VERIFY_NSEC3_HASH], digest[VERIFY_DIGEST_MAX];
    bool *is_right = result;
    *is_right = true;
    for (int i = 0; i < 2000; i++) {
        char text[33], hex[2 * VERIFY_DIGEST_MAX + 1];
        *is_right &= verify_nsec3_hash(hash, BYTES("\7example\0"), BYTES("\xaa\xbb\xcc\xdd"), 12);
        to_base32(text, hash);
        *is_right &= strcmp(text, "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom") == 0;
        hash_text_hex(hex, digest, verify_digest(2, BYTES("ab"), BYTES("c"), digest));
        *is_right &= strcmp(hex, hash_text_of_abc[VERIFY_SHA256]) == 0;
    }
    return NULL;
}

static void test_threads_hash_at_once(void **state)
{
    (void)state;
    pthread_t thread[4];
    bool is_right[4];
    for (size_t i = 0; i < ARRAY_LEN(thread); i++)
        assert_int_equal(pthread_create(&thread[i], NULL, hash_in_a_thread, &is_right[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(thread); i++) {
        pthread_join(thread[i], NULL);
        assert_true(is_right[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_hash_at_once),
        cmocka_unit_test(test_digests_of_ds_records),
        cmocka_unit_test(test_nsec3_hashes_of_rfc_5155),
        cmocka_unit_test(test_nsec3_hashes_are_those_of_ldns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
