/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/denial_sample.h"

#include "dns/build.h"
#include "validate/reuse.h"

enum { TTL = 300 };

static struct validation_space space;

/* A message with one RRset in its authority section, which the test declares to be verified. */
struct judged {
    struct build build;
    struct message message;
    struct validation validation;
    uint8_t bytes[4096];
};

static void judged_begin(struct judged *judged)
{
    struct question question = {NAME("www.example.org"), RRTYPE_A, RRCLASS_IN};
    memset(&judged->validation, 0, sizeof(judged->validation));
    build_init(&judged->build, judged->bytes, sizeof(judged->bytes));
    build_header(&judged->build, 0, HEADER_QR);
    build_question(&judged->build, &question);
    build_section(&judged->build, SECTION_AUTHORITY);
}

static void judged_add(struct judged *judged, const char *owner, uint16_t type, uint32_t ttl,
                       struct span rdata)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    assert_int_equal(name_parse(&name, wire, owner, strlen(owner)), ERR_OK);
    build_rr_begin(&judged->build, name, type, RRCLASS_IN, ttl);
    build_bytes(&judged->build, rdata.data, rdata.len);
    build_rr_end(&judged->build);
}

/* Adds the signature, and checks whether the RRset may be reused. */
static bool judged_check(struct judged *judged, const char *owner, uint16_t type,
                         unsigned signer_labels, struct reuse *out)
{
    uint8_t sig[20] = {(uint8_t)(type >> 8), (uint8_t)type, 13};
    judged_add(judged, owner, RRTYPE_RRSIG, TTL, span_of(sig, sizeof(sig)));
    size_t len = build_finish(&judged->build);
    assert_int_equal(message_parse(&judged->message, span_of(judged->bytes, len)), MESSAGE_OK);
    assert_true(rrsets_read(&space.sets, &judged->message, RRCLASS_IN));
    assert_int_equal(space.sets.count, 1);
    judged->validation.signer_labels[0] = (uint8_t)signer_labels;
    judged->validation.good_sig[0] = space.sets.set[0].first_sig;
    return reuse_check(out, &judged->validation, &space.sets, 0);
}

static size_t nsec_rdata(uint8_t out[SAMPLE_RDATA_MAX], struct name next, const char *types)
{
    static uint8_t bitmap[SAMPLE_BITMAP_MAX];
    size_t len = sample_bitmap(bitmap, types);
    memcpy(out, next.wire, next.len);
    memcpy(out + next.len, bitmap, len);
    return next.len + len;
}

/* Checks an NSEC record that example.org has signed. */
static bool check_nsec(const char *owner, struct name next, const char *types, struct reuse *out)
{
    uint8_t rdata[SAMPLE_RDATA_MAX];
    struct judged judged;
    judged_begin(&judged);
    judged.validation.secure = 1;
    judged_add(&judged, owner, RRTYPE_NSEC, TTL, span_of(rdata, nsec_rdata(rdata, next, types)));
    return judged_check(&judged, owner, RRTYPE_NSEC, 2, out);
}

static void test_a_span_of_names_may_be_reused(void **state)
{
    (void)state;
    struct reuse reuse;
    assert_true(check_nsec("B.example.org", NAME("d.example.org"), "A RRSIG NSEC", &reuse));
    assert_int_equal(reuse.shelf, SPANS_NAMES);
    assert_true(name_equal(reuse.zone, NAME("example.org")));
    assert_true(name_equal(reuse.owner, NAME("b.example.org")));
    assert_int_equal(reuse.ttl_s, TTL);
    assert_int_equal(reuse.signature.len, 20);
    assert_true(check_nsec("z.example.org", NAME("example.org"), "A RRSIG NSEC", &reuse));
    assert_true(check_nsec("cut.example.org", NAME("z.example.org"), "NS DS RRSIG NSEC", &reuse));
}

static void test_a_span_that_leads_out_of_the_zone_may_not(void **state)
{
    (void)state;
    struct reuse reuse;
    assert_false(check_nsec("b.example.org", NAME("d.example.com"), "A RRSIG NSEC", &reuse));
    assert_false(check_nsec("b.example.org", NAME("org"), "A RRSIG NSEC", &reuse));
    assert_false(check_nsec("d.example.org", NAME("b.example.org"), "A RRSIG NSEC", &reuse));
}

static void test_a_span_without_its_own_types_may_not(void **state)
{
    (void)state;
    struct reuse reuse;
    assert_false(check_nsec("b.example.org", NAME("d.example.org"), "A RRSIG", &reuse));
    assert_false(check_nsec("b.example.org", NAME("d.example.org"), "A NSEC", &reuse));
}

static void test_a_compact_denial_may_not(void **state)
{
    (void)state;
    struct reuse reuse;
    uint8_t wire[NAME_WIRE_MAX];
    struct name owner = NAME("b.example.org");
    wire[0] = 1;
    wire[1] = 0;
    memcpy(wire + 2, owner.wire, owner.len);
    struct name next = {wire, (uint8_t)(owner.len + 2)};
    assert_false(check_nsec("b.example.org", next, "A RRSIG NSEC", &reuse));
    assert_false(check_nsec("b.example.org", NAME("d.example.org"), "RRSIG NSEC TYPE128", &reuse));
}

static void test_an_unverified_or_expanded_span_may_not(void **state)
{
    (void)state;
    for (unsigned is_secure = 0; is_secure < 2; is_secure++) {
        uint8_t rdata[SAMPLE_RDATA_MAX];
        struct reuse reuse;
        struct judged judged;
        judged_begin(&judged);
        judged.validation.secure = is_secure;
        judged.validation.expanded = is_secure;
        judged.validation.encloser_labels[0] = 2;
        size_t len = nsec_rdata(rdata, NAME("d.example.org"), "A RRSIG NSEC");
        judged_add(&judged, "b.example.org", RRTYPE_NSEC, TTL, span_of(rdata, len));
        assert_false(judged_check(&judged, "b.example.org", RRTYPE_NSEC, 2, &reuse));
    }
}

static void test_two_records_with_one_owner_may_not(void **state)
{
    (void)state;
    uint8_t rdata[SAMPLE_RDATA_MAX];
    struct reuse reuse;
    struct judged judged;
    judged_begin(&judged);
    judged.validation.secure = 1;
    size_t len = nsec_rdata(rdata, NAME("d.example.org"), "A RRSIG NSEC");
    judged_add(&judged, "b.example.org", RRTYPE_NSEC, TTL, span_of(rdata, len));
    len = nsec_rdata(rdata, NAME("e.example.org"), "A RRSIG NSEC");
    judged_add(&judged, "b.example.org", RRTYPE_NSEC, TTL, span_of(rdata, len));
    assert_false(judged_check(&judged, "b.example.org", RRTYPE_NSEC, 2, &reuse));
}

/* ---- hashes ---- */

/* Checks an NSEC3 record. Its next hash has this first and this last byte, and the hash of its
 * owner is 0. */
static bool check_nsec3(const char *owner, uint8_t flags, uint8_t iterations, uint8_t first,
                        uint8_t last, struct reuse *out)
{
    uint8_t rdata[64] = {1, flags, 0, iterations, 2, 0xab, 0xcd, VERIFY_NSEC3_HASH};
    static struct judged judged;
    rdata[8] = first;
    rdata[8 + VERIFY_NSEC3_HASH - 1] = last;
    memcpy(rdata + 8 + VERIFY_NSEC3_HASH, "\0\1\x40", 3); /* the type A */
    judged_begin(&judged);
    judged.validation.secure = 1;
    judged_add(&judged, owner, RRTYPE_NSEC3, TTL, span_of(rdata, 8 + VERIFY_NSEC3_HASH + 3));
    return judged_check(&judged, owner, RRTYPE_NSEC3, 2, out);
}

static void test_a_span_of_hashes_may_be_reused_without_iterations_and_opt_out(void **state)
{
    (void)state;
    static const char owner[] = "00000000000000000000000000000000.example.org";
    struct reuse reuse;
    assert_true(check_nsec3(owner, 0, 0, 9, 0, &reuse));
    assert_int_equal(reuse.shelf, SPANS_HASHES);
    assert_true(span_equal(reuse.chain, span_of("\xab\xcd", 2)));
    assert_false(check_nsec3(owner, 1, 0, 9, 0, &reuse));
    assert_false(check_nsec3(owner, 0, 1, 9, 0, &reuse));
}

static void test_a_span_of_one_hash_may_not(void **state)
{
    (void)state;
    static const char owner[] = "00000000000000000000000000000000.example.org";
    struct reuse reuse;
    assert_false(check_nsec3(owner, 0, 0, 0, 2, &reuse));
    assert_true(check_nsec3(owner, 0, 0, 0, 0, &reuse)); /* it is the only record of its zone */
}

static void test_a_hash_of_a_child_may_not(void **state)
{
    (void)state;
    static const char owner[] = "00000000000000000000000000000000.sub.example.org";
    struct reuse reuse;
    assert_false(check_nsec3(owner, 0, 0, 9, 0, &reuse));
}

/* ---- other records ---- */

static bool check_record(const char *owner, uint16_t type, struct span rdata, unsigned encloser,
                         struct reuse *out)
{
    static struct judged judged;
    judged_begin(&judged);
    judged.validation.secure = 1;
    judged.validation.expanded = encloser > 0;
    judged.validation.encloser_labels[0] = (uint8_t)encloser;
    judged_add(&judged, owner, type, TTL, rdata);
    return judged_check(&judged, owner, type, 2, out);
}

static void test_the_soa_record_of_the_zone_may_be_reused_for_its_minimum(void **state)
{
    (void)state;
    uint8_t rdata[22] = {0};
    struct reuse reuse;
    put_u32(rdata + 18, 60);
    assert_true(check_record("example.org", RRTYPE_SOA, span_of(rdata, sizeof(rdata)), 0, &reuse));
    assert_int_equal(reuse.shelf, SPANS_RECORDS);
    assert_int_equal(reuse.ttl_s, 60);
    put_u32(rdata + 18, 6000);
    assert_true(check_record("example.org", RRTYPE_SOA, span_of(rdata, sizeof(rdata)), 0, &reuse));
    assert_int_equal(reuse.ttl_s, TTL);
    assert_false(
        check_record("sub.example.org", RRTYPE_SOA, span_of(rdata, sizeof(rdata)), 0, &reuse));
}

static void test_data_of_a_wildcard_may_be_reused_under_its_owner(void **state)
{
    (void)state;
    static const uint8_t address[4] = {192, 0, 2, 1};
    struct span rdata = span_of(address, sizeof(address));
    struct reuse reuse;
    assert_true(check_record("a.b.example.org", RRTYPE_A, rdata, 2, &reuse));
    assert_true(name_equal(reuse.owner, NAME("*.example.org")));
    assert_true(name_equal(reuse.zone, NAME("example.org")));
    assert_true(check_record("*.b.example.org", RRTYPE_A, rdata, 0, &reuse));
    assert_true(name_equal(reuse.owner, NAME("*.b.example.org")));
    assert_false(check_record("a.b.example.org", RRTYPE_A, rdata, 0, &reuse));
}

static void test_an_alias_of_a_wildcard_may_be_reused(void **state)
{
    (void)state;
    struct name target = NAME("example.org");
    struct span rdata = span_of(target.wire, target.len);
    struct reuse reuse;
    assert_true(check_record("a.b.example.org", RRTYPE_CNAME, rdata, 2, &reuse));
    assert_true(name_equal(reuse.owner, NAME("*.example.org")));
    assert_false(check_record("a.b.example.org", RRTYPE_CNAME, rdata, 0, &reuse));
}

static void test_a_wildcard_that_leads_elsewhere_may_not(void **state)
{
    (void)state;
    struct name target = NAME("example.org");
    struct span rdata = span_of(target.wire, target.len);
    struct reuse reuse;
    static const uint16_t types[] = {RRTYPE_DNAME, RRTYPE_NS};
    for (unsigned i = 0; i < ARRAY_LEN(types); i++)
        assert_false(check_record("a.b.example.org", types[i], rdata, 2, &reuse));
    assert_true(check_record("a.b.example.org", RRTYPE_PTR, rdata, 2, &reuse));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_span_of_names_may_be_reused),
        cmocka_unit_test(test_a_span_that_leads_out_of_the_zone_may_not),
        cmocka_unit_test(test_a_span_without_its_own_types_may_not),
        cmocka_unit_test(test_a_compact_denial_may_not),
        cmocka_unit_test(test_an_unverified_or_expanded_span_may_not),
        cmocka_unit_test(test_two_records_with_one_owner_may_not),
        cmocka_unit_test(test_a_span_of_hashes_may_be_reused_without_iterations_and_opt_out),
        cmocka_unit_test(test_a_span_of_one_hash_may_not),
        cmocka_unit_test(test_a_hash_of_a_child_may_not),
        cmocka_unit_test(test_the_soa_record_of_the_zone_may_be_reused_for_its_minimum),
        cmocka_unit_test(test_data_of_a_wildcard_may_be_reused_under_its_owner),
        cmocka_unit_test(test_an_alias_of_a_wildcard_may_be_reused),
        cmocka_unit_test(test_a_wildcard_that_leads_elsewhere_may_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
