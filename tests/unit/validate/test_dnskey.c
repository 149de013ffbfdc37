/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/zone_text.h"

#include "unit/validate/vectors.h"
#include "base/check.h"

static struct ds ds_of(struct zone_text_bytes *room, const char *line)
{
    struct ds ds;
    assert_true(ds_read(&ds, zone_text_rdata(room, line)));
    return ds;
}

static void test_tags_are_those_of_the_rfcs(void **state)
{
    (void)state;
    assert_int_equal(DNSKEY_TEXT(RFC4034_KEY).tag, 60485);
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
        assert_int_equal(DNSKEY_TEXT(vectors[i].key).tag, vectors[i].tag);
}

static void test_the_fields_of_a_key(void **state)
{
    (void)state;
    struct dnskey key = DNSKEY_TEXT(P256_KEY);
    assert_int_equal(key.flags, DNSKEY_ZONE | DNSKEY_SEP);
    assert_int_equal(key.protocol, 3);
    assert_int_equal(key.algorithm, 13);
    assert_int_equal(key.key.len, 64);
    assert_int_equal(key.rdata.len, 68);
}

static void test_a_tag_of_an_odd_length(void **state)
{
    (void)state;
    struct dnskey key;
    assert_true(dnskey_read(&key, BYTES("\x01\x00\x03\x08\xff")));
    assert_int_equal(key.tag, (uint16_t)(0x0100 + 0x0308 + 0xff00 + (0x10308 >> 16)));
}

/* The sum of RFC 4034 appendix B, byte by byte. */
static uint16_t plain_tag(const uint8_t *rdata, size_t len)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += i % 2 ? rdata[i] : (uint32_t)rdata[i] << 8;
    return (uint16_t)(sum + (sum >> 16));
}

static void test_tags_of_all_lengths(void **state)
{
    (void)state;
    static uint8_t rdata[UINT16_MAX];
    struct dnskey key;
    memset(rdata, 0xff, sizeof(rdata));
    assert_true(dnskey_read(&key, span_of(rdata, sizeof(rdata))));
    assert_int_equal(key.tag, plain_tag(rdata, sizeof(rdata)));
    for (size_t i = 0; i < 64; i++)
        rdata[i] = (uint8_t)(151 * i + 7);
    for (size_t len = 5; len <= 64; len++) {
        assert_true(dnskey_read(&key, span_of(rdata, len)));
        assert_int_equal(key.tag, plain_tag(rdata, len));
    }
}

static void test_a_revoked_key_has_another_tag_and_may_not_sign(void **state)
{
    (void)state;
    struct zone_text_bytes room;
    struct dnskey key = zone_text_key(&room, P256_KEY), revoked;
    assert_true(dnskey_may_sign(&key));
    ((uint8_t *)key.rdata.data)[1] |= DNSKEY_REVOKE;
    assert_true(dnskey_read(&revoked, key.rdata));
    assert_int_equal(revoked.tag, key.tag + 128);
    assert_false(dnskey_may_sign(&revoked));
}

static void test_a_key_needs_the_zone_bit_and_protocol_3(void **state)
{
    (void)state;
    struct dnskey key;
    assert_true(dnskey_read(&key, BYTES("\x00\x01\x03\x0f"
                                        "key")));
    assert_false(dnskey_may_sign(&key));
    assert_true(dnskey_read(&key, BYTES("\x01\x00\x02\x0f"
                                        "key")));
    assert_false(dnskey_may_sign(&key));
    assert_true(dnskey_read(&key, BYTES("\x01\x00\x03\x0f"
                                        "key")));
    assert_true(dnskey_may_sign(&key));
}

static void test_short_rdata_is_malformed(void **state)
{
    (void)state;
    struct dnskey key;
    struct ds ds;
    const uint8_t bytes[4] = {1, 0, 3, 8};
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        assert_false(dnskey_read(&key, span_of(bytes, len)));
        assert_false(ds_read(&ds, span_of(bytes, len)));
    }
    assert_false(dnskey_read(&key, span_of(NULL, 0)));
}

static void test_ds_records_of_the_rfcs_fit_their_keys(void **state)
{
    (void)state;
    static const struct {
        const char *owner, *key, *ds;
    } rows[] = {
        {"dskey.example.com", RFC4034_KEY, RFC4034_DS},
        {"dskey.example.com", RFC4034_KEY, RFC4509_DS},
        {"DSKEY.Example.COM", RFC4034_KEY, RFC4509_DS},
        {"example.net", P256_KEY, P256_DS},
        {"example.net", P384_KEY, P384_DS},
        {"example.com", ED25519_KEY, ED25519_DS},
        {"example.com", ED25519_OTHER_KEY, ED25519_OTHER_DS},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct zone_text_bytes room;
        struct dnskey key = DNSKEY_TEXT(rows[i].key);
        struct ds ds = ds_of(&room, rows[i].ds);
        assert_true(ds_fits(&ds, NAME(rows[i].owner), &key));
        assert_false(ds_fits(&ds, NAME("example.org"), &key));
    }
}

static void test_a_ds_that_differs_anywhere_does_not_fit(void **state)
{
    (void)state;
    struct zone_text_bytes room;
    struct dnskey key = DNSKEY_TEXT(P256_KEY), other = DNSKEY_TEXT(P384_KEY);
    struct ds ds = ds_of(&room, P256_DS), changed;
    assert_false(ds_fits(&ds, NAME("example.net"), &other));
    changed = ds;
    changed.tag++;
    assert_false(ds_fits(&changed, NAME("example.net"), &key));
    changed = ds;
    changed.algorithm = 14;
    assert_false(ds_fits(&changed, NAME("example.net"), &key));
    changed = ds;
    changed.digest_type = 4;
    assert_false(ds_fits(&changed, NAME("example.net"), &key));
    changed = ds;
    changed.digest_type = 3;
    assert_false(ds_fits(&changed, NAME("example.net"), &key));
    changed = ds;
    changed.digest.len--;
    assert_false(ds_fits(&changed, NAME("example.net"), &key));
    ((uint8_t *)ds.digest.data)[31] ^= 1;
    assert_false(ds_fits(&ds, NAME("example.net"), &key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tags_are_those_of_the_rfcs),
        cmocka_unit_test(test_the_fields_of_a_key),
        cmocka_unit_test(test_a_tag_of_an_odd_length),
        cmocka_unit_test(test_tags_of_all_lengths),
        cmocka_unit_test(test_a_revoked_key_has_another_tag_and_may_not_sign),
        cmocka_unit_test(test_a_key_needs_the_zone_bit_and_protocol_3),
        cmocka_unit_test(test_short_rdata_is_malformed),
        cmocka_unit_test(test_ds_records_of_the_rfcs_fit_their_keys),
        cmocka_unit_test(test_a_ds_that_differs_anywhere_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
