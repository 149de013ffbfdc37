/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* ldns signs the apex of a zone, honestly or not. Each hostile zone differs from a secure zone in
 * one point. */
#include "unit/zone/zone_make.h"

#include <ldns/ldns.h>

#include "base/check.h"
#include "unit/validate/zone_text.h"
#include "validate/apex.h"

enum { NOW = 1790000000, DAY = 86400, TEXT_MAX = 1 << 19, LINE_BYTES_MAX = 2048 };

#define ZONE "zone.test."
#define SOA ZONE " 3600 IN SOA ns." ZONE " host." ZONE " 7 3600 600 86400 60"
#define DIGEST                                                                                     \
    ZONE " 3600 IN ZONEMD 7 1 1 "                                                                  \
         "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2" \
         "b2c2d"                                                                                   \
         "2e2f"
#define NSEC_WITH ZONE " 60 IN NSEC " ZONE " NS SOA RRSIG NSEC DNSKEY ZONEMD"
#define NSEC_WITHOUT ZONE " 60 IN NSEC " ZONE " NS SOA RRSIG NSEC DNSKEY"
#define NSEC3PARAM ZONE " 0 IN NSEC3PARAM 1 0 2 abcd"

/* A key, with its DNSKEY and DS records. */
struct test_key {
    ldns_key *key;
    ldns_key_list *list;
    char dnskey[LINE_BYTES_MAX], ds[LINE_BYTES_MAX];
};

static struct test_key ksk, zsk, foreign;
static char text[TEXT_MAX]; /* the text of the zone */

/* ---- keys ---- */

static void print_rr(const ldns_rr *rr, char out[LINE_BYTES_MAX])
{
    char *line = ldns_rr2str(rr);
    assert_non_null(line);
    assert_true(strlen(line) < LINE_BYTES_MAX);
    strcpy(out, line);
    LDNS_FREE(line);
}

static void make_key(struct test_key *out, uint16_t flags)
{
    out->key = ldns_key_new_frm_algorithm(LDNS_SIGN_ECDSAP256SHA256, 256);
    assert_non_null(out->key);
    ldns_key_set_pubkey_owner(out->key, ldns_dname_new_frm_str(ZONE));
    ldns_key_set_origttl(out->key, 3600);
    ldns_key_set_flags(out->key, flags);
    ldns_rr *dnskey = ldns_key2rr(out->key);
    ldns_key_set_keytag(out->key, ldns_calc_keytag(dnskey));
    ldns_rr *ds = ldns_key_rr2ds(dnskey, LDNS_SHA256);
    print_rr(dnskey, out->dnskey);
    print_rr(ds, out->ds);
    ldns_rr_free(dnskey);
    ldns_rr_free(ds);
    out->list = ldns_key_list_new();
    ldns_key_list_push_key(out->list, out->key);
}

static int begin(void **state)
{
    (void)state;
    make_key(&ksk, DNSKEY_ZONE | DNSKEY_SEP);
    make_key(&zsk, DNSKEY_ZONE);
    make_key(&foreign, DNSKEY_ZONE | DNSKEY_SEP);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ldns_key_list_free(ksk.list);
    ldns_key_list_free(zsk.list);
    ldns_key_list_free(foreign.list);
    return 0;
}

/* ---- zones ---- */

static void add_line(const char *line)
{
    size_t len = strlen(text);
    assert_true(len + strlen(line) + 2 < sizeof(text));
    snprintf(text + len, sizeof(text) - len, "%s\n", line);
}

/* Adds a signature of the key over these records, with these dates. */
static void sign_during(const struct test_key *by, const char *const *lines, int64_t from,
                        int64_t to)
{
    char signature[LINE_BYTES_MAX];
    ldns_rr_list *set = ldns_rr_list_new();
    for (; *lines; lines++) {
        ldns_rr *rr;
        assert_int_equal(ldns_rr_new_frm_str(&rr, *lines, 0, NULL, NULL), LDNS_STATUS_OK);
        ldns_rr_list_push_rr(set, rr);
    }
    ldns_key_set_inception(by->key, (uint32_t)from);
    ldns_key_set_expiration(by->key, (uint32_t)to);
    ldns_rr_list *signatures = ldns_sign_public(set, by->list);
    assert_int_equal(ldns_rr_list_rr_count(signatures), 1);
    print_rr(ldns_rr_list_rr(signatures, 0), signature);
    add_line(signature);
    ldns_rr_list_deep_free(signatures);
    ldns_rr_list_deep_free(set);
}

static void sign(const struct test_key *by, const char *line)
{
    sign_during(by, (const char *const[]){line, NULL}, NOW - DAY, NOW + DAY);
}

/* Begins a zone with its keys, which this key signs. */
static void begin_zone(const struct test_key *by)
{
    text[0] = '\0';
    add_line(ksk.dnskey);
    add_line(zsk.dnskey);
    sign_during(by, (const char *const[]){ksk.dnskey, zsk.dnskey, NULL}, NOW - DAY, NOW + DAY);
}

static void add_signed(const char *line)
{
    add_line(line);
    sign(&zsk, line);
}

/* ---- checks ---- */

/* Checks the zone, with one record as its anchor. */
static enum apex_result check_with(const char *anchor, char why[APEX_WHY_MAX])
{
    struct zone_data *data = zone_make(ZONE, text);
    struct anchors *anchors = anchors_new();
    struct apex_rules rules = {.anchors = anchors, .clock = {.now_s = NOW}};
    uint16_t type = strstr(anchor, "\tDS\t") ? RRTYPE_DS : RRTYPE_DNSKEY;
    struct zone_text_bytes room;
    assert_int_equal(
        anchors_add(anchors, zone_make_name(ZONE), type, zone_text_rdata(&room, anchor)), ERR_OK);
    enum apex_result result = apex_check(data, &rules, why);
    anchors_free(anchors);
    zone_data_unref(data);
    return result;
}

static void assert_secure(void)
{
    char why[APEX_WHY_MAX] = "";
    enum apex_result result = check_with(ksk.ds, why);
    assert_string_equal(why, "");
    assert_int_equal(result, APEX_SECURE);
}

static void assert_bogus(const char *expected)
{
    char why[APEX_WHY_MAX] = "";
    assert_int_equal(check_with(ksk.ds, why), APEX_BOGUS);
    assert_string_equal(why, expected);
}

static void test_a_signed_apex_is_secure_by_either_kind_of_anchor(void **state)
{
    (void)state;
    char why[APEX_WHY_MAX];
    begin_zone(&ksk);
    add_signed(SOA);
    add_signed(DIGEST);
    assert_secure();
    assert_int_equal(check_with(ksk.dnskey, why), APEX_SECURE);
}

static void test_case_of_names_does_not_matter(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_line("ZONE.Test. 3600 IN SOA NS." ZONE " host." ZONE " 7 3600 600 86400 60");
    sign(&zsk, SOA);
    add_signed(DIGEST);
    assert_secure();
}

static void test_a_zone_without_an_anchor_of_its_name_is_not_judged(void **state)
{
    (void)state;
    char why[APEX_WHY_MAX];
    text[0] = '\0';
    add_line(SOA);
    struct zone_data *data = zone_make(ZONE, text);
    struct anchors *anchors = anchors_new();
    struct apex_rules rules = {.anchors = anchors, .clock = {.now_s = NOW}};
    assert_int_equal(apex_check(data, &rules, why), APEX_UNANCHORED);
    assert_int_equal(anchors_add_root(anchors), ERR_OK); /* the anchor is above the zone */
    assert_int_equal(apex_check(data, &rules, why), APEX_UNANCHORED);
    assert_int_equal(anchors_add_negative(anchors, zone_make_name(ZONE)), ERR_OK);
    assert_int_equal(apex_check(data, &rules, why), APEX_UNANCHORED);
    anchors_free(anchors);
    zone_data_unref(data);
}

static void test_a_digest_below_an_anchor_further_up_is_vouched_for_by_nothing(void **state)
{
    (void)state;
    struct zone_text_bytes room;
    begin_zone(&ksk);
    add_signed(SOA);
    struct zone_data *bare = zone_make(ZONE, text);
    add_signed(DIGEST);
    struct zone_data *data = zone_make(ZONE, text);
    text[0] = '\0';
    add_line(SOA);
    add_line(DIGEST);
    struct zone_data *insecure = zone_make(ZONE, text);
    struct anchors *anchors = anchors_new();
    struct apex_rules rules = {.anchors = anchors, .clock = {.now_s = NOW}};
    assert_false(apex_is_unvouched(data, &rules));
    assert_int_equal(anchors_add_root(anchors), ERR_OK);
    assert_true(apex_is_unvouched(data, &rules));
    assert_false(apex_is_unvouched(bare, &rules));
    assert_false(apex_is_unvouched(insecure, &rules));
    assert_int_equal(
        anchors_add(anchors, zone_make_name(ZONE), RRTYPE_DS, zone_text_rdata(&room, ksk.ds)),
        ERR_OK);
    assert_false(apex_is_unvouched(data, &rules));
    anchors_free(anchors);
    zone_data_unref(bare);
    zone_data_unref(data);
    zone_data_unref(insecure);
}

static void test_an_unsigned_zone_with_an_anchor_is_bogus(void **state)
{
    (void)state;
    text[0] = '\0';
    add_line(SOA);
    add_line(DIGEST);
    assert_bogus("the zone has a trust anchor, but no DNSKEY record");
}

static void test_keys_that_the_anchor_does_not_know_are_bogus(void **state)
{
    (void)state;
    char why[APEX_WHY_MAX] = "";
    begin_zone(&ksk);
    add_signed(SOA);
    add_signed(DIGEST);
    assert_int_equal(check_with(foreign.ds, why), APEX_BOGUS);
    assert_string_equal(why, "the zone's DNSKEY records are not trusted: no key of the zone fits "
                             "the trust anchor");
    begin_zone(&zsk); /* a key of the zone signs, but the anchor is for a different key */
    add_signed(SOA);
    add_signed(DIGEST);
    assert_bogus("the zone's DNSKEY records are not trusted: no key of the zone fits the trust "
                 "anchor");
}

static void test_a_signature_by_a_foreign_key_is_bogus(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_signed(SOA);
    add_line(DIGEST);
    sign(&foreign, DIGEST);
    assert_bogus("the zone's ZONEMD record is not trusted: no key of the zone fits a signature");
}

static void test_a_digest_without_a_signature_is_bogus(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_signed(SOA);
    add_line(DIGEST);
    assert_bogus("the zone's ZONEMD record is not trusted: a signature is missing");
}

static void test_an_unsigned_soa_is_bogus(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_line(SOA);
    add_signed(DIGEST);
    assert_bogus("the zone's SOA record is not trusted: a signature is missing");
}

static void test_a_changed_record_is_bogus(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_signed(SOA);
    add_line(ZONE " 3600 IN ZONEMD 7 1 1 0001020304050607080910111213");
    sign(&zsk, DIGEST);
    assert_bogus("the zone's ZONEMD record is not trusted: a signature is wrong");
}

static void test_dates_of_signatures_count(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_signed(SOA);
    add_line(DIGEST);
    sign_during(&zsk, (const char *const[]){DIGEST, NULL}, NOW - 20 * DAY, NOW - 10 * DAY);
    assert_bogus("the zone's ZONEMD record is not trusted: a signature has expired");
    begin_zone(&ksk);
    add_line(SOA);
    sign_during(&zsk, (const char *const[]){SOA, NULL}, NOW + 10 * DAY, NOW + 20 * DAY);
    assert_bogus("the zone's SOA record is not trusted: a signature is not yet valid");
    sign(&zsk, SOA); /* a single right signature is enough */
    add_signed(DIGEST);
    assert_secure();
}

static void test_a_zone_may_prove_that_it_has_no_digest(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_signed(SOA);
    add_signed(NSEC_WITHOUT);
    assert_secure();
}

static void test_a_removed_digest_is_noticed(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_signed(SOA);
    add_signed(NSEC_WITH);
    assert_bogus("the zone's ZONEMD record was removed");
    begin_zone(&ksk);
    add_signed(SOA);
    add_line(NSEC_WITHOUT); /* a forged record */
    sign(&zsk, NSEC_WITH);
    assert_bogus("the zone's NSEC record is not trusted: a signature is wrong");
    begin_zone(&ksk);
    add_signed(SOA);
    assert_bogus("no proof shows that the zone has no ZONEMD record");
}

/* Writes the NSEC3 record of the apex. ldns makes its hash. */
static void nsec3_line(char out[LINE_BYTES_MAX], const char *types)
{
    static uint8_t salt[] = {0xab, 0xcd};
    ldns_rdf *zone = ldns_dname_new_frm_str(ZONE);
    ldns_rdf *hash = ldns_nsec3_hash_name(zone, 1, 2, sizeof(salt), salt);
    char *label = ldns_rdf2str(hash);
    label[strlen(label) - 1] = '\0';
    snprintf(out, LINE_BYTES_MAX, "%s." ZONE " 60 IN NSEC3 1 0 2 abcd %s %s", label, label, types);
    LDNS_FREE(label);
    ldns_rdf_deep_free(hash);
    ldns_rdf_deep_free(zone);
}

static void test_nsec3_proves_the_same(void **state)
{
    (void)state;
    char line[LINE_BYTES_MAX];
    nsec3_line(line, "NS SOA RRSIG DNSKEY NSEC3PARAM");
    begin_zone(&ksk);
    add_signed(SOA);
    add_line(NSEC3PARAM);
    add_signed(line);
    assert_secure();
    nsec3_line(line, "NS SOA RRSIG DNSKEY NSEC3PARAM ZONEMD");
    begin_zone(&ksk);
    add_signed(SOA);
    add_line(NSEC3PARAM);
    add_signed(line);
    assert_bogus("the zone's ZONEMD record was removed");
    begin_zone(&ksk);
    add_signed(SOA);
    add_line(NSEC3PARAM);
    nsec3_line(line, "NS SOA RRSIG DNSKEY NSEC3PARAM");
    add_line(line);
    assert_bogus("the zone's NSEC3 record is not trusted: a signature is missing");
}

static void test_costly_parameters_prove_nothing(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_signed(SOA);
    add_line(ZONE " 0 IN NSEC3PARAM 1 0 65535 abcd");
    assert_bogus("no proof shows that the zone has no ZONEMD record");
}

static void test_many_wrong_signatures_are_refused(void **state)
{
    (void)state;
    begin_zone(&ksk);
    add_line(SOA);
    for (int i = 0; i < APEX_VERIFICATIONS_MAX; i++) {
        char line[LINE_BYTES_MAX];
        snprintf(line, sizeof(line), ZONE " 3600 IN SOA ns." ZONE " host." ZONE " %d 1 1 1 1", i);
        sign(&zsk, line);
    }
    assert_bogus("the zone's SOA record is not trusted: the validation of the answer costs too "
                 "much");
}

static void test_an_rrset_that_no_message_can_hold_is_too_large(void **state)
{
    (void)state;
    char line[LINE_BYTES_MAX];
    begin_zone(&ksk);
    add_signed(SOA);
    for (int i = 0; i < 400; i++) {
        snprintf(line, sizeof(line), ZONE " 3600 IN ZONEMD 7 2 1 %0400d", i);
        add_line(line);
    }
    assert_bogus("the zone's ZONEMD record is not trusted: it is too large to be validated");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signed_apex_is_secure_by_either_kind_of_anchor),
        cmocka_unit_test(test_case_of_names_does_not_matter),
        cmocka_unit_test(test_a_zone_without_an_anchor_of_its_name_is_not_judged),
        cmocka_unit_test(test_a_digest_below_an_anchor_further_up_is_vouched_for_by_nothing),
        cmocka_unit_test(test_an_unsigned_zone_with_an_anchor_is_bogus),
        cmocka_unit_test(test_keys_that_the_anchor_does_not_know_are_bogus),
        cmocka_unit_test(test_a_signature_by_a_foreign_key_is_bogus),
        cmocka_unit_test(test_a_digest_without_a_signature_is_bogus),
        cmocka_unit_test(test_an_unsigned_soa_is_bogus),
        cmocka_unit_test(test_a_changed_record_is_bogus),
        cmocka_unit_test(test_dates_of_signatures_count),
        cmocka_unit_test(test_a_zone_may_prove_that_it_has_no_digest),
        cmocka_unit_test(test_a_removed_digest_is_noticed),
        cmocka_unit_test(test_nsec3_proves_the_same),
        cmocka_unit_test(test_costly_parameters_prove_nothing),
        cmocka_unit_test(test_many_wrong_signatures_are_refused),
        cmocka_unit_test(test_an_rrset_that_no_message_can_hold_is_too_large),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
