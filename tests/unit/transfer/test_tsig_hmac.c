/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "transfer/tsig_hmac.h"

/* Test case 2 of RFC 2202 and RFC 4231. */
static const char secret[] = "Jefe", data[] = "what do ya want for nothing?";

static const char *const macs[TSIG_HASHES] = {
    [TSIG_SHA1] =
        "\xef\xfc\xdf\x6a\xe5\xeb\x2f\xa2\xd2\x74\x16\xd5\xf1\x84\xdf\x9c\x25\x9a\x7c\x79",
    [TSIG_SHA224] = "\xa3\x0e\x01\x09\x8b\xc6\xdb\xbf\x45\x69\x0f\x3a\x7e\x9e\x6d\x0f\x8b\xbe\xa2"
                    "\xa3\x9e\x61\x48\x00\x8f\xd0\x5e\x44",
    [TSIG_SHA256] = "\x5b\xdc\xc1\x46\xbf\x60\x75\x4e\x6a\x04\x24\x26\x08\x95\x75\xc7\x5a\x00\x3f"
                    "\x08\x9d\x27\x39\x83\x9d\xec\x58\xb9\x64\xec\x38\x43",
    [TSIG_SHA384] = "\xaf\x45\xd2\xe3\x76\x48\x40\x31\x61\x7f\x78\xd2\xb5\x8a\x6b\x1b\x9c\x7e\xf4"
                    "\x64\xf5\xa0\x1b\x47\xe4\x2e\xc3\x73\x63\x22\x44\x5e\x8e\x22\x40\xca\x5e\x69"
                    "\xe2\xc7\x8b\x32\x39\xec\xfa\xb2\x16\x49",
    [TSIG_SHA512] = "\x16\x4b\x7a\x7b\xfc\xf8\x19\xe2\xe3\x95\xfb\xe7\x3b\x56\xe0\xa3\x87\xbd\x64"
                    "\x22\x2e\x83\x1f\xd6\x10\x27\x0c\xd7\xea\x25\x05\x54\x97\x58\xbf\x75\xc0\x5a"
                    "\x99\x4a\x6d\x03\x4f\x65\xf8\xf0\xe6\xfd\xca\xea\xb1\xa3\x4d\x4a\x6b\x4b\x63"
                    "\x6e\x07\x0a\x38\xbc\xe7\x37",
};

static void test_macs_of_the_rfcs_in_any_pieces(void **state)
{
    (void)state;
    for (int hash = 0; hash < TSIG_HASHES; hash++) {
        struct tsig_hmac *hmac = tsig_hmac_new((enum tsig_hash)hash, span_of(secret, 4));
        assert_non_null(hmac);
        size_t len = tsig_hmac_len((enum tsig_hash)hash);
        for (size_t split = 0; split < sizeof(data); split++) { /* one object computes many MACs */
            uint8_t mac[TSIG_MAC_MAX];
            tsig_hmac_add(hmac, span_of(data, split));
            tsig_hmac_add(hmac, span_of(data + split, sizeof(data) - 1 - split));
            assert_true(tsig_hmac_end(hmac, mac));
            assert_memory_equal(mac, macs[hash], len);
        }
        tsig_hmac_free(hmac);
    }
}

static void test_every_differing_byte_counts(void **state)
{
    (void)state;
    uint8_t a[TSIG_MAC_MAX] = {0}, b[TSIG_MAC_MAX] = {0};
    assert_true(tsig_hmac_equal(a, b, sizeof(a)));
    for (size_t i = 0; i < sizeof(a); i++) {
        b[i] = 1;
        assert_false(tsig_hmac_equal(a, b, sizeof(a)));
        assert_true(tsig_hmac_equal(a, b, i));
        b[i] = 0;
    }
}

static void test_a_wiped_secret_is_zero(void **state)
{
    (void)state;
    uint8_t bytes[] = {1, 2, 3, 4}, zeros[4] = {0};
    tsig_hmac_wipe(bytes, sizeof(bytes));
    assert_memory_equal(bytes, zeros, sizeof(zeros));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_macs_of_the_rfcs_in_any_pieces),
        cmocka_unit_test(test_every_differing_byte_counts),
        cmocka_unit_test(test_a_wiped_secret_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
