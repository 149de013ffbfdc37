/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/fake_upstreams.h"
#include "unit/resolve/sample.h"

#include "base/prefix.h"
#include "dns/edns.h"
#include "resolve/strategy_forward.h"
#include "resolve/scrub.h"
#include "validate/validation.h"

/* Scrubs hostile and honest responses and shows the kept part. The zones are "." and "example". */
static struct zone_set zones;
static struct routes *routes;
static struct cache *cache;
static struct prefix_set *inside; /* the private addresses, in tests that use them */
static struct response_text sent;
static struct response response;
static struct answer answer;
static struct compose_space space;

enum { SCRUB_UNIQUE = 32 }; /* how many records the search for duplicates compares */

enum { MINIMAL = 0, DO = 1, FULL = 2, AD_TRUSTED = 4, NOT_CACHED = 8 };

static bool scrub_parsed(const struct question *question, const struct message *message,
                         unsigned how)
{
    struct zone *zone =
        (struct zone *)(uintptr_t)route_find(routes, question->name, question->type);
    zone->trust_ad = how & AD_TRUSTED;
    zone->cache = !(how & NOT_CACHED);
    struct scrub_rules rules = {.zone = zone,
                                .cache = cache,
                                .dnssec_ok = how & DO,
                                .minimal_responses = !(how & FULL),
                                .private = {.prefixes = inside},
                                .now = 5000};
    classify(&response, message, question, zone);
    return response_is_useful(response.kind) &&
           scrub(&answer, &space, message, question, &response, &rules);
}

static const char *scrubbed(struct question question, uint16_t flags, unsigned how,
                            struct sections sections)
{
    const struct message *message = response_make(&sent, flags, &question, &sections);
    if (!scrub_parsed(&question, message, how))
        return response_kind_name(response.kind);
    return answer_show(&answer);
}

#define WWW QUESTION("www.example", A)

static void test_an_answer_is_kept_and_points_to_its_question(void **state)
{
    (void)state;
    const char *text =
        scrubbed(WWW, 0, 0, (struct sections){.answer = {"www.example. 300 IN A 192.0.2.1"}});
    assert_string_equal(text, "an www.example. 300 A 192.0.2.1\n");
    assert_int_equal(answer.kind, ANSWER_POSITIVE);
    assert_int_equal(answer.ttl_s, 300);
    assert_int_equal(answer.stored_at, 5000);
    assert_int_equal(answer.message.len, 12 + 13 + 4 + 16);
    assert_int_equal(get_u16(answer.message.data + 29), 0xc00c);
}

static void test_the_case_of_the_upstream_is_not_kept_in_the_question(void **state)
{
    (void)state;
    struct question asked = QUESTION("wWw.eXample", A);
    const struct message *message = response_make(
        &sent, 0, &asked, &(struct sections){.answer = {"WWW.example. 300 IN A 192.0.2.1"}});
    assert_true(
        scrub_parsed(&(struct question){NAME("www.example"), RRTYPE_A, RRCLASS_IN}, message, 0));
    assert_string_equal(answer_show(&answer), "an www.example. 300 A 192.0.2.1\n");
}

/* ---- signatures ---- */

/* Scrubs an answer with two signatures, of which validation has verified the second. */
static void scrub_judged(bool is_trust)
{
    static struct validation validation;
    static struct rrsets sets;
    static const struct verdict verdict = {.security = SECURITY_SECURE, .ttl_max_s = UINT32_MAX};
    struct question question = WWW;
    const struct message *message = response_make(
        &sent, 0, &question,
        &(struct sections){.answer = {"www.example. 300 RRSIG A 8 1 300 20300101000000 "
                                      "20200101000000 1 example. AAAA",
                                      "www.example. 300 A 192.0.2.1",
                                      "www.example. 300 RRSIG A 8 2 300 20300101000000 "
                                      "20200101000000 2 example. AAAA"}});
    const struct zone *zone = route_find(routes, question.name, question.type);
    assert_true(rrsets_read(&sets, message, RRCLASS_IN));
    assert_int_equal(sets.set[0].sig_count, 2);
    validation.secure = 1;
    validation.good_sig[0] = sets.next[sets.set[0].first_sig];
    struct scrub_rules rules = {.zone = zone,
                                .cache = cache,
                                .dnssec_ok = true,
                                .is_trust = is_trust,
                                .now = 5000,
                                .verdict = &verdict,
                                .validation = &validation,
                                .sets = &sets};
    classify(&response, message, &question, zone);
    assert_true(scrub(&answer, &space, message, &question, &response, &rules));
}

/* Returns the key tags of the answer's signatures, one digit each. */
static const char *tags_of(void)
{
    static char tags[8];
    struct message message;
    struct rrsig sig;
    size_t count = 0;
    assert_int_equal(message_parse(&message, answer.message), MESSAGE_OK);
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_RRSIG && rrsig_read(&sig, message_rdata(&message, &rr)))
            tags[count++] = (char)('0' + sig.tag);
    tags[count] = '\0';
    return tags;
}

static void test_a_validation_keeps_only_the_signature_that_was_verified(void **state)
{
    (void)state;
    scrub_judged(true);
    assert_string_equal(tags_of(), "2");
    scrub_judged(false);
    assert_string_equal(tags_of(), "12");
}

/* ---- private addresses ---- */

static int have_an_inside(void **state)
{
    (void)state;
    struct prefix prefix;
    inside = prefix_set_new();
    return prefix_parse(&prefix, "10.0.0.0/8") || prefix_set_add(inside, &prefix, 0) ||
           prefix_set_freeze(inside);
}

static int have_none(void **state)
{
    (void)state;
    prefix_set_free(inside);
    inside = NULL;
    return 0;
}

static void test_private_addresses_are_removed_and_the_rest_stays(void **state)
{
    (void)state;
    const char *text = scrubbed(
        WWW, 0, DO,
        (struct sections){.answer = {"www.example. 300 A 10.0.0.1", "www.example. 300 A 192.0.2.1",
                                     "www.example. 300 A 10.0.0.2",
                                     "www.example. 300 RRSIG A 8 2 300 20300101000000 "
                                     "20200101000000 1 example. AAAA"}});
    assert_string_equal(text, "an www.example. 300 A 192.0.2.1\n");
    assert_int_equal(answer.kind, ANSWER_POSITIVE);
    assert_int_equal(answer.ede_count, 0);
}

static void test_an_answer_of_only_private_addresses_becomes_nodata(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {"www.example. 300 CNAME a.example.", "a.example. 200 A 10.0.0.1",
                   "a.example. 100 A 10.0.0.2"},
        .authority = {"example. 500 NS ns.example.", "example. 500 NS ns2.example."},
        .additional = {"ns.example. 500 A 10.0.0.53", "ns2.example. 500 A 192.0.2.53"}};
    assert_string_equal(scrubbed(WWW, 0, 0, sections), "an www.example. 300 CNAME a.example.\n");
    assert_int_equal(answer.kind, ANSWER_NODATA);
    assert_int_equal(answer.ttl_s, 100);
    assert_int_equal(answer.ede_count, 1);
    assert_int_equal(answer.ede[0], EDE_BLOCKED);
    assert_string_equal(scrubbed(QUESTION("a.example", A), 0, FULL,
                                 (struct sections){.answer = {"a.example. 200 A 10.0.0.1"},
                                                   .authority = {"example. 90 NS ns.example."}}),
                        "ns example. 90 NS ns.example.\n");
    assert_int_equal(answer.ttl_s, 90);
}

static void test_private_addresses_of_name_servers_are_removed(void **state)
{
    (void)state;
    assert_string_equal(
        scrubbed(
            QUESTION("example", NS), 0, FULL,
            (struct sections){
                .answer = {"example. 500 NS ns.example.", "example. 500 NS ns2.example."},
                .additional = {"ns.example. 500 A 10.0.0.53", "ns2.example. 500 A 192.0.2.53"}}),
        "an example. 500 NS ns.example.\nan example. 500 NS ns2.example.\n"
        "ar ns2.example. 500 A 192.0.2.53\n");
}

/* ---- TTLs ---- */

static void test_an_rrset_gets_its_lowest_ttl(void **state)
{
    (void)state;
    const char *text = scrubbed(WWW, 0, 0,
                                (struct sections){.answer = {"www.example. 300 IN A 192.0.2.1",
                                                             "www.example. 20 IN A 192.0.2.2",
                                                             "www.example. 40 IN A 192.0.2.3"}});
    assert_string_equal(text, "an www.example. 20 A 192.0.2.1\n"
                              "an www.example. 20 A 192.0.2.2\n"
                              "an www.example. 20 A 192.0.2.3\n");
    assert_int_equal(answer.ttl_s, 20);
}

static void test_ttls_are_clamped(void **state)
{
    (void)state;
    const char *text =
        scrubbed(WWW, 0, 0, (struct sections){.answer = {"www.example. 1000000 IN A 192.0.2.1"}});
    assert_string_equal(text, "an www.example. 86400 A 192.0.2.1\n");
    text = scrubbed(WWW, 0, 0, (struct sections){.answer = {"www.example. 1 IN A 192.0.2.1"}});
    assert_string_equal(text, "an www.example. 5 A 192.0.2.1\n");
    assert_int_equal(answer.ttl_s, 5);
}

static void test_duplicates_are_dropped(void **state)
{
    (void)state;
    const char *text = scrubbed(WWW, 0, 0,
                                (struct sections){.answer = {"www.example. 300 IN A 192.0.2.1",
                                                             "www.example. 300 IN A 192.0.2.2",
                                                             "www.example. 300 IN A 192.0.2.1"}});
    assert_string_equal(text, "an www.example. 300 A 192.0.2.1\n"
                              "an www.example. 300 A 192.0.2.2\n");
}

static void test_unrelated_records_of_the_answer_section_are_dropped(void **state)
{
    (void)state;
    const char *text = scrubbed(WWW, 0, 0,
                                (struct sections){.answer = {"bank.example. 300 IN A 6.6.6.6",
                                                             "www.example. 300 IN A 192.0.2.1",
                                                             "www.example. 300 IN TXT \"hello\"",
                                                             "www.example. 300 CH A 6.6.6.6",
                                                             "example. 300 IN NS evil.example."}});
    assert_string_equal(text, "an www.example. 300 A 192.0.2.1\n");
}

static void test_poison_in_authority_and_additional_is_dropped(void **state)
{
    (void)state;
    struct sections poison = {
        .answer = {"www.example. 300 IN A 192.0.2.1"},
        .authority = {"com. 300 IN NS ns.evil.com.", "bank.com. 300 IN A 6.6.6.6",
                      "sibling.example. 300 IN NS ns.evil.example.",
                      "example. 300 IN NS ns.example."},
        .additional = {"ns.evil.com. 300 IN A 6.6.6.6", "bank.com. 300 IN A 6.6.6.6",
                       "other.example. 300 IN A 6.6.6.6", "ns.example. 300 IN A 192.0.2.53",
                       "ns.example. 300 IN TXT \"x\""}};
    assert_string_equal(scrubbed(WWW, 0, MINIMAL, poison), "an www.example. 300 A 192.0.2.1\n");
    assert_string_equal(scrubbed(WWW, 0, FULL, poison), "an www.example. 300 A 192.0.2.1\n"
                                                        "ns example. 300 NS ns.example.\n"
                                                        "ar ns.example. 300 A 192.0.2.53\n");
}

static void test_an_answer_about_servers_has_their_addresses_where_answers_are_full(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {"example. 60 IN NS ns.example.", "example. 60 IN NS ns.elsewhere.com."},
        .additional = {"ns.example. 60 IN A 192.0.2.53", "ns.elsewhere.com. 60 IN A 6.6.6.6",
                       "www.example. 60 IN A 192.0.2.1"}};
    const char *minimal = "an example. 60 NS ns.example.\n"
                          "an example. 60 NS ns.elsewhere.com.\n";
    assert_string_equal(scrubbed(QUESTION("example", NS), 0, MINIMAL, sections), minimal);
    assert_string_equal(scrubbed(QUESTION("example", NS), 0, DO, sections), minimal);
    assert_string_equal(scrubbed(QUESTION("example", NS), 0, FULL, sections),
                        "an example. 60 NS ns.example.\n"
                        "an example. 60 NS ns.elsewhere.com.\n"
                        "ar ns.example. 60 A 192.0.2.53\n");
}

static void test_no_record_is_repeated(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {"www.example. 60 IN A 192.0.2.1"},
        .authority = {"example. 60 IN NS www.example."},
        .additional = {"www.example. 60 IN A 192.0.2.1", "www.example. 60 IN AAAA 2001:db8::1"}};
    assert_string_equal(scrubbed(WWW, 0, FULL, sections), "an www.example. 60 A 192.0.2.1\n"
                                                          "ns example. 60 NS www.example.\n"
                                                          "ar www.example. 60 AAAA\n");
}

static void test_addresses_of_hosts_in_the_answer_are_kept_where_answers_are_full(void **state)
{
    (void)state;
    struct sections mail = {
        .answer = {"example. 300 IN MX 10 mx.example.", "example. 300 IN MX 20 mx.elsewhere.com."},
        .additional = {"mx.example. 60 IN A 192.0.2.25", "mx.elsewhere.com. 60 IN A 6.6.6.6"}};
    assert_string_equal(scrubbed(QUESTION("example", MX), 0, FULL, mail),
                        "an example. 300 MX mx.example.\n"
                        "an example. 300 MX mx.elsewhere.com.\n"
                        "ar mx.example. 60 A 192.0.2.25\n");
    assert_int_equal(answer.ttl_s, 60);
}

static void test_an_alias_chain_is_kept_in_order(void **state)
{
    (void)state;
    const char *text = scrubbed(WWW, 0, 0,
                                (struct sections){.answer = {"c.example. 30 IN A 192.0.2.1",
                                                             "b.example. 20 IN CNAME c.example.",
                                                             "www.example. 300 IN CNAME b.example.",
                                                             "x.example. 300 IN CNAME y.example.",
                                                             "y.example. 300 IN A 6.6.6.6"}});
    assert_string_equal(text, "an www.example. 300 CNAME b.example.\n"
                              "an b.example. 20 CNAME c.example.\n"
                              "an c.example. 30 A 192.0.2.1\n");
    assert_int_equal(answer.ttl_s, 20);
    assert_int_equal(response.chain.hops, 2);
}

static void test_of_two_chains_from_one_name_the_first_counts(void **state)
{
    (void)state;
    const char *text = scrubbed(WWW, 0, 0,
                                (struct sections){.answer = {"www.example. 300 IN CNAME a.example.",
                                                             "www.example. 300 IN CNAME b.example.",
                                                             "b.example. 300 IN A 6.6.6.6",
                                                             "a.example. 300 IN A 192.0.2.1"}});
    assert_string_equal(text, "an www.example. 300 CNAME a.example.\n"
                              "an a.example. 300 A 192.0.2.1\n");
}

static void test_records_beyond_the_zone_are_not_believed(void **state)
{
    (void)state;
    struct sections leads_out = {
        .answer = {"www.example. 300 IN CNAME www.bank.com.", "www.bank.com. 300 IN A 6.6.6.6"}};
    assert_string_equal(scrubbed(WWW, 0, 0, leads_out),
                        "an www.example. 300 CNAME www.bank.com.\n");
    assert_int_equal(response.kind, RESPONSE_ALIAS);
    assert_true(name_equal(response.chain.name, NAME("www.bank.com")));
}

static void test_a_chain_into_an_inner_zone_leads_out_too(void **state)
{
    (void)state;
    struct sections leads_in = {
        .answer = {"www.com. 300 IN CNAME www.example.", "www.example. 300 IN A 6.6.6.6"}};
    assert_string_equal(scrubbed(QUESTION("www.com", A), 0, 0, leads_in),
                        "an www.com. 300 CNAME www.example.\n");
    assert_int_equal(response.kind, RESPONSE_ALIAS);
}

static void test_nxdomain_for_a_target_out_of_the_zone_is_not_believed(void **state)
{
    (void)state;
    struct sections sections = {.answer = {"www.example. 300 IN CNAME www.bank.com."},
                                .authority = {"com. 300 IN SOA a. b. 1 2 3 4 60"}};
    assert_string_equal(scrubbed(WWW, RCODE_NXDOMAIN, 0, sections),
                        "an www.example. 300 CNAME www.bank.com.\n");
    assert_int_equal(response.kind, RESPONSE_ALIAS);
    assert_int_equal(header_rcode(answer.message.data), RCODE_NOERROR);
}

static void test_an_alias_loop_or_too_long_a_chain_is_refused(void **state)
{
    (void)state;
    assert_string_equal(
        scrubbed(WWW, 0, 0, (struct sections){.answer = {"www.example. 1 IN CNAME www.example."}}),
        "loop");
    assert_string_equal(scrubbed(WWW, 0, 0,
                                 (struct sections){.answer = {"www.example. 9 IN CNAME b.example.",
                                                              "b.example. 9 IN CNAME c.example.",
                                                              "c.example. 9 IN CNAME b.example."}}),
                        "loop");
}

static void chain_of(unsigned count, bool backwards)
{
    struct question question = QUESTION("n0.example", A);
    response_begin(&sent, 0, &question);
    for (unsigned i = 0; i < count; i++) {
        char text[80];
        unsigned at = backwards ? count - 1 - i : i;
        snprintf(text, sizeof(text), "n%u.example. 300 IN CNAME n%u.example.", at, at + 1);
        response_add(&sent, SECTION_ANSWER, text);
    }
    char text[80];
    snprintf(text, sizeof(text), "n%u.example. 300 IN A 192.0.2.1", count);
    response_add(&sent, SECTION_ANSWER, text);
    (void)scrub_parsed(&question, response_parse(&sent), 0);
}

static void test_a_chain_is_followed_up_to_its_bound_in_any_order(void **state)
{
    (void)state;
    for (int backwards = 0; backwards < 2; backwards++) {
        chain_of(ALIAS_HOPS_MAX, backwards);
        assert_int_equal(response.kind, RESPONSE_ANSWER);
        assert_int_equal(answer.ttl_count, ALIAS_HOPS_MAX + 1);
        chain_of(ALIAS_HOPS_MAX + 1, backwards);
        assert_int_equal(response.kind, RESPONSE_LOOP);
        chain_of(1000, backwards);
        assert_int_equal(response.kind, RESPONSE_LOOP);
    }
}

static void test_a_dname_is_kept_beside_its_cname(void **state)
{
    (void)state;
    struct question question = QUESTION("a.old.example", A);
    const char *kept = "an old.example. 100 DNAME new.example.\n"
                       "an a.old.example. 300 CNAME a.new.example.\n"
                       "an a.new.example. 300 A 192.0.2.1\n";
    struct sections sections = {.answer = {"old.example. 100 IN DNAME new.example.",
                                           "a.old.example. 300 IN CNAME a.new.example.",
                                           "a.new.example. 300 IN A 192.0.2.1"}};
    assert_string_equal(scrubbed(question, 0, 0, sections), kept);
    /* this DNAME is not above the alias */
    sections.answer[0] = "example. 100 IN DNAME elsewhere.example.";
    assert_string_equal(scrubbed(question, 0, 0, sections), strchr(kept, '\n') + 1);
}

static void test_a_dname_without_cname_is_given_one(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {"old.example. 100 IN DNAME new.example.", "a.new.example. 300 IN A 192.0.2.1"}};
    assert_string_equal(scrubbed(QUESTION("a.old.example", A), 0, 0, sections),
                        "an old.example. 100 DNAME new.example.\n"
                        "an a.old.example. 100 CNAME a.new.example.\n"
                        "an a.new.example. 300 A 192.0.2.1\n");
    sections.answer[0] = "com. 100 IN DNAME new.example.";
    assert_string_equal(scrubbed(QUESTION("a.old.example", A), 0, 0, sections), "");
    assert_int_equal(response.kind, RESPONSE_NODATA);
}

/* Without a bound, the work would be the number of DNAMEs times that of aliases. */
static void test_the_number_of_dnames_is_bounded(void **state)
{
    (void)state;
    struct sections sections = {.answer = {"www.old.example. 60 IN CNAME www.new.example."}};
    for (unsigned i = 1; i <= ALIAS_DNAMES_MAX; i++)
        sections.answer[i] = "a.example. 60 IN DNAME new.example.";
    sections.answer[ALIAS_DNAMES_MAX] = "old.example. 60 IN DNAME new.example.";
    struct question question = QUESTION("www.old.example", CNAME);
    assert_string_equal(scrubbed(question, 0, 0, sections),
                        "an old.example. 60 DNAME new.example.\n"
                        "an www.old.example. 60 CNAME www.new.example.\n");
    sections.answer[ALIAS_DNAMES_MAX + 1] = sections.answer[ALIAS_DNAMES_MAX];
    sections.answer[ALIAS_DNAMES_MAX] = sections.answer[1];
    assert_string_equal(scrubbed(question, 0, 0, sections),
                        "an www.old.example. 60 CNAME www.new.example.\n");
}

/* A validating client needs the DNAME, because the CNAME that follows from it has no signature (RFC
 * 6672 section 5.3). */
static void test_a_dname_stays_beside_a_cname_that_was_asked_for(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {"example. 60 IN DNAME evil.example.", "x.example. 60 IN DNAME evil.example.",
                   "old.example. 60 IN DNAME new.example.",
                   "old.example. 60 IN RRSIG DNAME 8 2 60 20300101000000 20200101000000 1 example. "
                   "AAAA",
                   "www.old.example. 60 IN CNAME www.new.example."}};
    static const char *const kept = "an old.example. 60 DNAME new.example.\n"
                                    "an old.example. 60 RRSIG DNAME\n"
                                    "an www.old.example. 60 CNAME www.new.example.\n";
    assert_string_equal(scrubbed(QUESTION("www.old.example", CNAME), 0, DO, sections), kept);
    assert_string_equal(scrubbed(QUESTION("www.old.example", ANY), 0, DO, sections), kept);
}

static void test_a_dname_loop_ends(void **state)
{
    (void)state;
    struct sections sections = {.answer = {"old.example. 100 IN DNAME x.old.example."}};
    assert_string_equal(scrubbed(QUESTION("a.old.example", A), 0, 0, sections), "loop");
}

/* 63 + 63 + 63 + 40 bytes of labels, so a longer suffix exceeds 255. */
#define LONG_LABEL "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123"
#define LONG_NAME LONG_LABEL "." LONG_LABEL "." LONG_LABEL ".old.example"

static void test_a_name_made_too_long_is_yxdomain_when_the_dname_shows_it(void **state)
{
    (void)state;
    const char *dname = "old.example. 100 IN DNAME " LONG_LABEL ".example.";
    const char *text =
        scrubbed(QUESTION(LONG_NAME, A), RCODE_YXDOMAIN, 0, (struct sections){.answer = {dname}});
    assert_string_equal(text, "an old.example. 100 DNAME " LONG_LABEL ".example.\n");
    assert_int_equal(response.kind, RESPONSE_YXDOMAIN);
    assert_int_equal(header_rcode(answer.message.data), RCODE_YXDOMAIN);
    assert_string_equal(scrubbed(QUESTION("a.old.example", A), RCODE_YXDOMAIN, 0,
                                 (struct sections){.answer = {"a.example. 1 IN A 6.6.6.6"}}),
                        "other rcode");
}

#define SOA "example. 900 IN SOA ns.example. host.example. 1 2 3 4 60"

static void test_a_negative_answer_lives_as_long_as_its_soa_allows(void **state)
{
    (void)state;
    assert_string_equal(scrubbed(WWW, 0, 0, (struct sections){.authority = {SOA}}),
                        "ns example. 60 SOA ns.example.\n");
    assert_int_equal(answer.kind, ANSWER_NODATA);
    assert_int_equal(answer.ttl_s, 60);
    assert_string_equal(
        scrubbed(WWW, RCODE_NXDOMAIN, 0,
                 (struct sections){.authority = {"example. 30 IN SOA a. b. 1 2 3 4 60",
                                                 "example. 300 IN NS ns.example."}}),
        "ns example. 30 SOA a.\n");
    assert_int_equal(answer.kind, ANSWER_NXDOMAIN);
    assert_int_equal(answer.ttl_s, 30);
    assert_int_equal(header_rcode(answer.message.data), RCODE_NXDOMAIN);
}

static void test_a_negative_answer_is_clamped_to_max_negative_ttl(void **state)
{
    (void)state;
    struct sections sections = {.authority = {"example. 86000 IN SOA a. b. 1 2 3 4 80000"}};
    assert_string_equal(scrubbed(WWW, 0, 0, sections), "ns example. 900 SOA a.\n");
    assert_int_equal(answer.ttl_s, 900);
}

static void test_a_negative_answer_without_its_own_soa_is_not_kept(void **state)
{
    (void)state;
    static const char *const soas[] = {
        NULL,
        "sibling.example. 900 IN SOA a. b. 1 2 3 4 60",
        "x.www.example. 900 IN SOA a. b. 1 2 3 4 60",
        "example. 900 CH SOA a. b. 1 2 3 4 60",
    };
    for (size_t i = 0; i < ARRAY_LEN(soas); i++) {
        assert_string_equal(
            scrubbed(WWW, RCODE_NXDOMAIN, 0, (struct sections){.authority = {soas[i]}}), "");
        assert_int_equal(response.kind, RESPONSE_NXDOMAIN);
        assert_int_equal(answer.ttl_s, 0);
    }
}

/* A configured zone may lie inside a larger one, and its servers then give the SOA of the larger
 * one. */
static void test_a_soa_from_above_limits_a_negative_answer_and_is_dropped(void **state)
{
    (void)state;
    struct sections sections = {.authority = {". 900 IN SOA a. b. 1 2 3 4 60",
                                              ". 900 IN RRSIG SOA 8 0 900 20300101000000 "
                                              "20200101000000 1 . AAAA"}};
    assert_string_equal(scrubbed(WWW, RCODE_NXDOMAIN, DO, sections), "");
    assert_int_equal(answer.kind, ANSWER_NXDOMAIN);
    assert_int_equal(answer.ttl_s, 60);
    scrubbed(WWW, 0, NOT_CACHED, sections);
    assert_int_equal(answer.ttl_s, 0);
    sections.answer[0] = "www.example. 30 IN CNAME a.example.";
    assert_string_equal(scrubbed(WWW, 0, 0, sections), "an www.example. 30 CNAME a.example.\n");
    assert_int_equal(answer.kind, ANSWER_NODATA);
    assert_int_equal(answer.ttl_s, 30);
    sections.answer[0] = NULL;
    sections.authority[0] = ". 900 IN SOA a. b. 1 2 3 4 86000";
    scrubbed(WWW, 0, 0, sections);
    assert_int_equal(answer.ttl_s, 900);
}

static void test_an_alias_without_its_target_is_negative_with_a_soa_and_open_without(void **state)
{
    (void)state;
    struct sections sections = {.answer = {"www.example. 300 IN CNAME a.example."},
                                .authority = {SOA}};
    assert_string_equal(scrubbed(WWW, 0, 0, sections), "an www.example. 300 CNAME a.example.\n"
                                                       "ns example. 60 SOA ns.example.\n");
    assert_int_equal(answer.kind, ANSWER_NODATA);
    assert_string_equal(scrubbed(WWW, RCODE_NXDOMAIN, 0, sections),
                        "an www.example. 300 CNAME a.example.\n"
                        "ns example. 60 SOA ns.example.\n");
    assert_int_equal(answer.kind, ANSWER_NXDOMAIN);
    sections.authority[0] = NULL;
    assert_string_equal(scrubbed(WWW, 0, 0, sections), "an www.example. 300 CNAME a.example.\n");
    assert_int_equal(response.kind, RESPONSE_ALIAS);
}

static void test_nxdomain_with_the_records_asked_for_is_unsound(void **state)
{
    (void)state;
    assert_string_equal(scrubbed(WWW, RCODE_NXDOMAIN, 0,
                                 (struct sections){.answer = {"www.example. 300 IN A 192.0.2.1"}}),
                        "unsound");
}

#define SIG(type) " IN RRSIG " type " 8 2 300 20300101000000 20200101000000 1 example. AAAA"

#define SIG_OF_WILDCARD " IN RRSIG A 8 1 300 20300101000000 20200101000000 1 example. AAAA"

static void test_signatures_and_proofs_come_only_with_do(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {"www.example. 300 IN A 192.0.2.1", "www.example. 300" SIG_OF_WILDCARD,
                   "www.example. 300" SIG("TXT")},
        .authority = {"a.example. 300 IN NSEC z.example. A RRSIG", "a.example. 300" SIG("NSEC"),
                      "a.com. 300 IN NSEC z.com. A", "example. 300 IN NS ns.example."}};
    assert_string_equal(scrubbed(WWW, 0, MINIMAL, sections), "an www.example. 300 A 192.0.2.1\n");
    assert_string_equal(scrubbed(WWW, 0, DO, sections), "an www.example. 300 A 192.0.2.1\n"
                                                        "an www.example. 300 RRSIG A\n"
                                                        "ns a.example. 300 NSEC z.example.\n"
                                                        "ns a.example. 300 RRSIG NSEC\n");
}

static void test_a_positive_answer_has_proofs_only_where_a_wildcard_made_it(void **state)
{
    (void)state;
    struct sections plain = {
        .answer = {"www.example. 300 IN A 192.0.2.1", "www.example. 300" SIG("A")},
        .authority = {"www.example. 300 IN NSEC z.example. A", "www.example. 300" SIG("NSEC")}};
    const char *minimal = "an www.example. 300 A 192.0.2.1\n"
                          "an www.example. 300 RRSIG A\n";
    assert_string_equal(scrubbed(WWW, 0, DO, plain), minimal);
    assert_string_equal(scrubbed(WWW, 0, DO | FULL, plain), "an www.example. 300 A 192.0.2.1\n"
                                                            "an www.example. 300 RRSIG A\n"
                                                            "ns www.example. 300 NSEC z.example.\n"
                                                            "ns www.example. 300 RRSIG NSEC\n");
}

static void test_a_wildcard_asked_for_by_its_own_name_needs_no_proof(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {"*.example. 300 IN A 192.0.2.1", "*.example. 300" SIG_OF_WILDCARD},
        .authority = {"*.example. 300 IN NSEC z.example. A", "*.example. 300" SIG("NSEC")}};
    assert_string_equal(scrubbed(QUESTION("*.example", A), 0, DO, sections),
                        "an *.example. 300 A 192.0.2.1\n"
                        "an *.example. 300 RRSIG A\n");
}

static void test_an_alias_made_by_a_wildcard_keeps_its_proof(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {"www.example. 300 IN CNAME b.example.",
                   "www.example. 300 IN RRSIG CNAME 8 1 300 20300101000000 20200101000000 1 "
                   "example. AAAA",
                   "b.example. 300 IN A 192.0.2.1", "b.example. 300" SIG("A")},
        .authority = {"a.example. 300 IN NSEC z.example. A", "a.example. 300" SIG("NSEC")}};
    assert_string_equal(scrubbed(WWW, 0, DO, sections), "an www.example. 300 CNAME b.example.\n"
                                                        "an www.example. 300 RRSIG CNAME\n"
                                                        "an b.example. 300 A 192.0.2.1\n"
                                                        "an b.example. 300 RRSIG A\n"
                                                        "ns a.example. 300 NSEC z.example.\n"
                                                        "ns a.example. 300 RRSIG NSEC\n");
}

static void test_the_proof_of_a_negative_answer_comes_with_do(void **state)
{
    (void)state;
    struct sections sections = {
        .authority = {SOA, "example. 900" SIG("SOA"), "a.example. 900 IN NSEC z.example. A",
                      "a.example. 900" SIG("NSEC"), "sibling.example. 900" SIG("SOA")}};
    assert_string_equal(scrubbed(WWW, RCODE_NXDOMAIN, DO, sections),
                        "ns example. 60 SOA ns.example.\n"
                        "ns example. 60 RRSIG SOA\n"
                        "ns a.example. 60 NSEC z.example.\n"
                        "ns a.example. 60 RRSIG NSEC\n");
    assert_string_equal(scrubbed(WWW, RCODE_NXDOMAIN, 0, sections),
                        "ns example. 60 SOA ns.example.\n");
}

static void test_the_proof_that_an_inner_zone_is_insecure_comes_from_the_zone_above(void **state)
{
    (void)state;
    struct sections sections = {.authority = {". 60 IN SOA a. b. 1 2 3 4 60",
                                              "example. 60 IN NSEC f. NS RRSIG NSEC",
                                              "www.example. 60 IN NSEC f. NS RRSIG NSEC"}};
    assert_string_equal(scrubbed(QUESTION("example", DS), 0, DO, sections),
                        "ns . 60 SOA a.\n"
                        "ns example. 60 NSEC f.\n");
}

static void test_signatures_of_aliases_come_with_them(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {"www.example. 300 IN CNAME a.example.", "a.example. 300 IN A 192.0.2.1",
                   "a.example. 200" SIG("A"), "www.example. 100" SIG("CNAME")}};
    assert_string_equal(scrubbed(WWW, 0, DO, sections), "an www.example. 100 CNAME a.example.\n"
                                                        "an www.example. 100 RRSIG CNAME\n"
                                                        "an a.example. 200 A 192.0.2.1\n"
                                                        "an a.example. 200 RRSIG A\n");
}

static void test_ad_is_kept_only_where_it_is_trusted(void **state)
{
    (void)state;
    struct sections sections = {.answer = {"www.example. 300 IN A 192.0.2.1"}};
    scrubbed(WWW, HEADER_AD, 0, sections);
    assert_false(header_has(answer.message.data, HEADER_AD));
    scrubbed(WWW, HEADER_AD, AD_TRUSTED, sections);
    assert_true(header_has(answer.message.data, HEADER_AD));
    scrubbed(WWW, 0, AD_TRUSTED, sections);
    assert_false(header_has(answer.message.data, HEADER_AD));
}

static void test_answers_of_an_uncached_zone_have_no_life(void **state)
{
    (void)state;
    struct sections sections = {.answer = {"www.example. 300 IN A 192.0.2.1"}};
    assert_string_equal(scrubbed(WWW, 0, NOT_CACHED, sections),
                        "an www.example. 300 A 192.0.2.1\n");
    assert_int_equal(answer.ttl_s, 0);
}

static void test_any_takes_all_records_of_the_name_and_follows_nothing(void **state)
{
    (void)state;
    struct sections sections = {.answer = {"www.example. 300 IN CNAME a.example.",
                                           "www.example. 200" SIG("CNAME"),
                                           "a.example. 300 IN A 192.0.2.1"}};
    assert_string_equal(scrubbed(QUESTION("www.example", ANY), 0, 0, sections),
                        "an www.example. 200 CNAME a.example.\n"
                        "an www.example. 200 RRSIG CNAME\n");
    assert_string_equal(scrubbed(QUESTION("www.example", CNAME), 0, 0, sections),
                        "an www.example. 300 CNAME a.example.\n");
}

static void test_error_rcodes_have_their_kinds(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        [RCODE_FORMERR] = "formerr", [RCODE_SERVFAIL] = "servfail",   [RCODE_NOTIMP] = "notimp",
        [RCODE_REFUSED] = "refused", [RCODE_NOTAUTH] = "other rcode",
    };
    for (uint16_t rcode = 0; rcode < ARRAY_LEN(kinds); rcode++)
        if (kinds[rcode])
            assert_string_equal(scrubbed(WWW, rcode, 0, (struct sections){0}), kinds[rcode]);
    assert_string_equal(scrubbed(WWW, HEADER_TC, 0, (struct sections){0}), "truncated");
    assert_string_equal(scrubbed(WWW, OPCODE_NOTIFY << 11, 0, (struct sections){0}), "unsound");
}

static void test_ns_records_alone_are_a_denial_only_from_a_server_that_recurses(void **state)
{
    (void)state;
    struct sections own = {.authority = {"example. 300 IN NS ns.example."}};
    struct sections above = {.authority = {". 300 IN NS ns.example."}};
    struct sections beside = {.authority = {"mail.example. 300 IN NS ns.example."}};
    assert_string_equal(scrubbed(WWW, 0, 0, own), "");
    assert_int_equal(answer.kind, ANSWER_NODATA);
    assert_int_equal(answer.ttl_s, 0);
    assert_string_equal(scrubbed(WWW, 0, 0, above), "referral");
    assert_string_equal(scrubbed(WWW, 0, 0, beside), "referral");
    struct question question = WWW;
    struct message refers = *response_make(&sent, 0, &question, &own);
    refers.flags &= (uint16_t)~HEADER_RA;
    assert_false(scrub_parsed(&question, &refers, 0));
    assert_int_equal(response.kind, RESPONSE_REFERRAL);
}

/* Shortens the RDATA of a record byte by byte, with a correct length each time. */
static void cut_rdata(const char *text, const char *type)
{
    struct question question = QUESTION("www.example", A);
    uint16_t asked;
    assert_int_equal(rrtype_parse(&asked, type), ERR_OK);
    question.type = asked;
    response_begin(&sent, 0, &question);
    size_t start = sent.len;
    response_add(&sent, SECTION_ANSWER, text);
    size_t rdata = start + name_skip(span_of(sent.bytes + start, sent.len - start), 0) + 10;
    size_t whole = sent.len;
    assert_true(scrub_parsed(&question, response_parse(&sent), 0));
    for (size_t len = rdata; len < whole; len++) {
        put_u16(sent.bytes + rdata - 2, (uint16_t)(len - rdata));
        sent.len = len;
        assert_false(scrub_parsed(&question, response_parse(&sent), 0));
        assert_int_equal(response.kind, RESPONSE_UNSOUND);
    }
}

static void test_malformed_rdata_is_not_believed_wherever_it_is_cut(void **state)
{
    (void)state;
    cut_rdata("www.example. 300 IN A 192.0.2.1", "A");
    cut_rdata("www.example. 300 IN AAAA 2001:db8::1", "AAAA");
    cut_rdata("www.example. 300 IN MX 10 mx.example.", "MX");
    cut_rdata("www.example. 300 IN SOA a.example. b.example. 1 2 3 4 5", "SOA");
    cut_rdata("www.example. 300 IN SRV 1 2 3 host.example.", "SRV");
    cut_rdata("www.example. 300 IN NS host.example.", "NS");
    cut_rdata("www.example. 300 IN CNAME host.example.", "CNAME");
}

static void test_malformed_rdata_anywhere_spoils_the_message(void **state)
{
    (void)state;
    struct question question = WWW;
    response_begin(&sent, 0, &question);
    response_add(&sent, SECTION_ANSWER, "www.example. 300 IN A 192.0.2.1");
    response_add(&sent, SECTION_ADDITIONAL, "other.example. 300 IN A 192.0.2.1");
    sent.bytes[sent.len - 5] = 3;
    sent.len--;
    assert_false(scrub_parsed(&question, response_parse(&sent), 0));
    assert_int_equal(response.kind, RESPONSE_UNSOUND);
}

static void test_a_response_with_too_many_records_is_refused(void **state)
{
    (void)state;
    struct question question = QUESTION("a", NULL);
    response_begin(&sent, 0, &question);
    for (unsigned i = 0; i <= COMPOSE_RECORDS_MAX; i++) {
        uint8_t *at = sent.bytes + sent.len;
        put_u16(at, 0xc00c);
        put_u16(at + 2, RRTYPE_NULL);
        put_u16(at + 4, RRCLASS_IN);
        put_u32(at + 6, 60);
        put_u16(at + 10, i < SCRUB_UNIQUE ? 1 : 0);
        at[12] = (uint8_t)i;
        sent.len += i < SCRUB_UNIQUE ? 13 : 12;
    }
    header_set_count(sent.bytes, SECTION_ANSWER, COMPOSE_RECORDS_MAX + 1);
    assert_false(scrub_parsed(&question, response_parse(&sent), 0));
}

static int set_up(void **state)
{
    (void)state;
    static const struct cache_options options = {.size_bytes = CACHE_SIZE_MIN,
                                                 .min_ttl_s = 5,
                                                 .max_ttl_s = 86400,
                                                 .max_negative_ttl_s = 900,
                                                 .failure_ttl_s = 5};
    cache_thread_begin();
    cache = cache_new(&options);
    routes = routes_new(ZONES(&zones, ".", "example"), NULL,
                        &(struct route_strategies){.forward = &forward_strategy});
    return !cache || !routes;
}

static int tear_down(void **state)
{
    (void)state;
    routes_free(routes);
    cache_thread_end();
    cache_free(cache);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_is_kept_and_points_to_its_question),
        cmocka_unit_test(test_the_case_of_the_upstream_is_not_kept_in_the_question),
        cmocka_unit_test_setup_teardown(test_private_addresses_are_removed_and_the_rest_stays,
                                        have_an_inside, have_none),
        cmocka_unit_test_setup_teardown(test_an_answer_of_only_private_addresses_becomes_nodata,
                                        have_an_inside, have_none),
        cmocka_unit_test_setup_teardown(test_private_addresses_of_name_servers_are_removed,
                                        have_an_inside, have_none),
        cmocka_unit_test(test_an_rrset_gets_its_lowest_ttl),
        cmocka_unit_test(test_ttls_are_clamped),
        cmocka_unit_test(test_duplicates_are_dropped),
        cmocka_unit_test(test_unrelated_records_of_the_answer_section_are_dropped),
        cmocka_unit_test(test_poison_in_authority_and_additional_is_dropped),
        cmocka_unit_test(test_an_answer_about_servers_has_their_addresses_where_answers_are_full),
        cmocka_unit_test(test_no_record_is_repeated),
        cmocka_unit_test(test_addresses_of_hosts_in_the_answer_are_kept_where_answers_are_full),
        cmocka_unit_test(test_an_alias_chain_is_kept_in_order),
        cmocka_unit_test(test_of_two_chains_from_one_name_the_first_counts),
        cmocka_unit_test(test_records_beyond_the_zone_are_not_believed),
        cmocka_unit_test(test_a_chain_into_an_inner_zone_leads_out_too),
        cmocka_unit_test(test_nxdomain_for_a_target_out_of_the_zone_is_not_believed),
        cmocka_unit_test(test_an_alias_loop_or_too_long_a_chain_is_refused),
        cmocka_unit_test(test_a_chain_is_followed_up_to_its_bound_in_any_order),
        cmocka_unit_test(test_a_dname_is_kept_beside_its_cname),
        cmocka_unit_test(test_a_dname_without_cname_is_given_one),
        cmocka_unit_test(test_the_number_of_dnames_is_bounded),
        cmocka_unit_test(test_a_dname_stays_beside_a_cname_that_was_asked_for),
        cmocka_unit_test(test_a_dname_loop_ends),
        cmocka_unit_test(test_a_name_made_too_long_is_yxdomain_when_the_dname_shows_it),
        cmocka_unit_test(test_a_negative_answer_lives_as_long_as_its_soa_allows),
        cmocka_unit_test(test_a_negative_answer_is_clamped_to_max_negative_ttl),
        cmocka_unit_test(test_a_negative_answer_without_its_own_soa_is_not_kept),
        cmocka_unit_test(test_a_soa_from_above_limits_a_negative_answer_and_is_dropped),
        cmocka_unit_test(test_an_alias_without_its_target_is_negative_with_a_soa_and_open_without),
        cmocka_unit_test(test_nxdomain_with_the_records_asked_for_is_unsound),
        cmocka_unit_test(test_signatures_and_proofs_come_only_with_do),
        cmocka_unit_test(test_a_positive_answer_has_proofs_only_where_a_wildcard_made_it),
        cmocka_unit_test(test_a_wildcard_asked_for_by_its_own_name_needs_no_proof),
        cmocka_unit_test(test_an_alias_made_by_a_wildcard_keeps_its_proof),
        cmocka_unit_test(test_the_proof_of_a_negative_answer_comes_with_do),
        cmocka_unit_test(test_the_proof_that_an_inner_zone_is_insecure_comes_from_the_zone_above),
        cmocka_unit_test(test_signatures_of_aliases_come_with_them),
        cmocka_unit_test(test_ad_is_kept_only_where_it_is_trusted),
        cmocka_unit_test(test_answers_of_an_uncached_zone_have_no_life),
        cmocka_unit_test(test_a_validation_keeps_only_the_signature_that_was_verified),
        cmocka_unit_test(test_any_takes_all_records_of_the_name_and_follows_nothing),
        cmocka_unit_test(test_error_rcodes_have_their_kinds),
        cmocka_unit_test(test_ns_records_alone_are_a_denial_only_from_a_server_that_recurses),
        cmocka_unit_test(test_malformed_rdata_is_not_believed_wherever_it_is_cut),
        cmocka_unit_test(test_malformed_rdata_anywhere_spoils_the_message),
        cmocka_unit_test(test_a_response_with_too_many_records_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
