/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/fake_upstreams.h"
#include "unit/resolve/sample.h"

#include "resolve/classify.h"
#include "resolve/route.h"

/*
 * Responses of servers of the cut example.com, inside the zone "." of the configuration, which also
 * has a zone inner.example.com. AA and RA are clear unless a test sets them.
 */
static struct zone_set zones;
static struct routes *routes;
static struct response_text sent;
static struct response response;

static bool is_last_hope, is_operators;

static const char *asked_zone = "example.com";

static const char *classified(struct question question, uint16_t flags, struct sections sections)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct zone cut = *route_find(routes, name_root(), RRTYPE_A);
    cut.within = route_find(routes, name_root(), RRTYPE_A);
    cut.name = sample_name(wire, asked_zone);
    cut.is_authoritative = true;
    cut.is_last_hope = is_last_hope;
    struct upstream *configured[1] = {NULL};
    if (is_operators) { /* the operator has named these servers */
        cut.within = &cut;
        cut.group = configured;
        cut.group_len = 1;
    }
    response_make(&sent, flags, &question, &sections);
    if (!(flags & HEADER_RA))
        header_put(sent.bytes, HEADER_RA, false);
    classify(&response, response_parse(&sent), &question, &cut);
    return response_kind_name(response.kind);
}

#define WWW QUESTION("www.example.com", A)
#define SOA "example.com. 900 SOA ns.example.com. x.example.com. 1 2 3 4 60"

static void test_data_is_an_answer_with_aa_and_without(void **state)
{
    (void)state;
    struct sections data = {.answer = {"www.example.com. A 192.0.2.1"}};
    assert_string_equal(classified(WWW, HEADER_AA, data), "answer");
    assert_string_equal(classified(WWW, HEADER_AA | HEADER_RA, data), "answer");
    assert_string_equal(classified(WWW, 0, data), "answer");
}

static void test_a_recursive_server_is_lame(void **state)
{
    (void)state;
    assert_string_equal(
        classified(WWW, HEADER_RA, (struct sections){.answer = {"www.example.com. A 6.6.6.6"}}),
        "lame");
    assert_string_equal(
        classified(WWW, HEADER_RA | RCODE_NXDOMAIN, (struct sections){.authority = {SOA}}), "lame");
    assert_string_equal(classified(WWW, HEADER_RA, (struct sections){.authority = {SOA}}), "lame");
    assert_string_equal(classified(WWW, HEADER_RA, (struct sections){.answer = {NULL}}), "lame");
    assert_string_equal(
        classified(WWW, HEADER_RA, (struct sections){.answer = {"www.example.com. CNAME a.org."}}),
        "lame");
}

static void test_a_recursive_server_is_believed_as_the_last_hope(void **state)
{
    (void)state;
    struct sections data = {.answer = {"www.example.com. A 192.0.2.1"}};
    assert_string_equal(classified(WWW, HEADER_RA, data), "lame");
    assert_true(response.is_recursive);
    is_last_hope = true;
    assert_string_equal(classified(WWW, HEADER_RA, data), "answer");
    assert_string_equal(classified(WWW, 0, (struct sections){.authority = {"com. NS a.com."}}),
                        "lame");
    assert_false(response.is_recursive);
    is_last_hope = false;
}

static void test_a_denial_without_aa_and_soa_shows_nothing_of_the_zone(void **state)
{
    (void)state;
    assert_string_equal(classified(WWW, RCODE_NXDOMAIN, (struct sections){.answer = {NULL}}),
                        "nxdomain");
    assert_true(response.is_empty);
    assert_string_equal(
        classified(WWW, HEADER_AA | RCODE_NXDOMAIN, (struct sections){.answer = {NULL}}),
        "nxdomain");
    assert_false(response.is_empty);
    assert_string_equal(classified(WWW, RCODE_NXDOMAIN, (struct sections){.authority = {SOA}}),
                        "nxdomain");
    assert_false(response.is_empty);
}

static void test_a_nodata_without_a_soa_of_its_zone_is_empty(void **state)
{
    (void)state;
    assert_string_equal(classified(WWW, HEADER_AA, (struct sections){.answer = {NULL}}), "nodata");
    assert_true(response.is_empty);
    assert_string_equal(classified(WWW, HEADER_AA, (struct sections){.authority = {SOA}}),
                        "nodata");
    assert_false(response.is_empty);
    assert_string_equal(
        classified(WWW, HEADER_AA, (struct sections){.authority = {"example.com. NS a.com."}}),
        "nodata");
    assert_false(response.is_empty);
}

static void test_a_balancer_that_points_to_the_root_is_lame_with_aa_too(void **state)
{
    (void)state;
    assert_string_equal(
        classified(WWW, HEADER_AA, (struct sections){.authority = {". NS a.root-servers.net."}}),
        "lame");
    assert_string_equal(
        classified(WWW, HEADER_AA, (struct sections){.authority = {"com. NS a.com."}}), "lame");
}

static void test_a_referral_leads_down_towards_the_name(void **state)
{
    (void)state;
    assert_string_equal(
        classified(QUESTION("a.sub.example.com", A), 0,
                   (struct sections){.authority = {"sub.example.com. NS ns.other.net."}}),
        "referral");
    assert_int_equal(response.referral, SECTION_AUTHORITY);
    assert_string_equal(
        classified(QUESTION("a.sub.example.com", A), HEADER_RA,
                   (struct sections){.authority = {"other.example.com. NS ns.other.net.",
                                                   "sub.example.com. NS ns.other.net."}}),
        "referral");
}

static void test_referrals_upwards_sideways_and_to_itself_are_lame(void **state)
{
    (void)state;
    static const char *const owners[] = {". NS a.root.",
                                         "com. NS a.com.",
                                         "example.com. NS ns.example.com.",
                                         "example.org. NS ns.example.org.",
                                         "other.example.com. NS ns.example.com.",
                                         "a.www.example.com. NS ns.example.com."};
    for (size_t i = 0; i < ARRAY_LEN(owners); i++)
        assert_string_equal(classified(WWW, 0, (struct sections){.authority = {owners[i]}}),
                            "lame");
}

static void test_a_denial_by_another_zones_soa_is_lame(void **state)
{
    (void)state;
    static const char *const owners[] = {"example.org. 900 SOA ns. x. 1 2 3 4 60",
                                         "other.example.com. 900 SOA ns. x. 1 2 3 4 60",
                                         "a.www.example.com. 900 SOA ns. x. 1 2 3 4 60"};
    for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
        struct sections soa = {.authority = {owners[i]}};
        assert_string_equal(classified(WWW, HEADER_AA, soa), "lame");
        assert_string_equal(classified(WWW, HEADER_AA | RCODE_NXDOMAIN, soa), "lame");
        struct sections both = {.authority = {owners[i], SOA}};
        assert_string_equal(classified(WWW, HEADER_AA, both), "nodata");
    }
}

static void test_a_denial_from_a_zone_above_is_doubted_except_at_configured_servers(void **state)
{
    (void)state;
    static const char *const above[] = {". 900 SOA ns. x. 1 2 3 4 60",
                                        "com. 900 SOA ns. x. 1 2 3 4 60"};
    for (unsigned i = 0; i < 2; i++) {
        struct sections denial = {.authority = {above[i]}};
        struct sections alias = {.answer = {"www.example.com. CNAME w.example.com."},
                                 .authority = {above[i]}};
        assert_string_equal(classified(WWW, HEADER_AA, denial), "nodata");
        assert_true(response.is_empty);
        assert_string_equal(classified(WWW, HEADER_AA | RCODE_NXDOMAIN, denial), "lame");
        assert_string_equal(classified(WWW, HEADER_AA | RCODE_NXDOMAIN, alias), "nxdomain");
        is_operators = true;
        assert_string_equal(classified(WWW, HEADER_AA, denial), "nodata");
        assert_false(response.is_empty);
        assert_string_equal(classified(WWW, HEADER_AA | RCODE_NXDOMAIN, denial), "nxdomain");
        is_operators = false;
    }
}

static void test_a_zone_above_may_deny_a_delegated_part_that_was_never_created(void **state)
{
    (void)state;
    struct sections denial = {.authority = {"example.com. 900 SOA ns. x. 1 2 3 4 60"}};
    asked_zone = "sub.example.com";
    assert_string_equal(
        classified(QUESTION("www.sub.example.com", A), HEADER_AA | RCODE_NXDOMAIN, denial),
        "nxdomain");
    assert_true(response.is_empty);
    asked_zone = "example.com";
}

static void test_the_parent_denies_a_ds_record(void **state)
{
    (void)state;
    struct sections denial = {.authority = {SOA}};
    assert_string_equal(classified(QUESTION("sub.example.com", DS), HEADER_AA, denial), "nodata");
}

static void test_with_aa_the_zones_own_ns_records_make_no_referral(void **state)
{
    (void)state;
    assert_string_equal(
        classified(WWW, HEADER_AA,
                   (struct sections){.authority = {"example.com. NS ns.example.com."}}),
        "nodata");
    assert_false(response.has_soa);
}

static void test_the_parents_ns_records_in_the_answer_are_a_referral(void **state)
{
    (void)state;
    struct sections ns = {.answer = {"sub.example.com. NS ns.other.net."}};
    assert_string_equal(classified(QUESTION("sub.example.com", NS), 0, ns), "referral");
    assert_int_equal(response.referral, SECTION_ANSWER);
    assert_string_equal(classified(QUESTION("sub.example.com", NS), HEADER_AA, ns), "answer");
    assert_string_equal(classified(QUESTION("sub.example.com", NS), RCODE_NXDOMAIN, ns), "unsound");
    assert_string_equal(classified(QUESTION("example.com", NS), 0,
                                   (struct sections){.answer = {"example.com. NS ns.other.net."}}),
                        "answer");
}

static void test_a_referral_for_a_ds_record_is_its_answer(void **state)
{
    (void)state;
    struct question ds = QUESTION("sub.example.com", DS);
    struct sections with = {
        .authority = {"sub.example.com. NS ns.sub.example.com.", "sub.example.com. DS 1 8 2 00"}};
    struct sections without = {.authority = {"sub.example.com. NS ns.sub.example.com."}};
    assert_string_equal(classified(ds, 0, with), "answer");
    assert_int_equal(response.data, SECTION_AUTHORITY);
    assert_string_equal(classified(ds, 0, without), "nodata");
    assert_string_equal(classified(QUESTION("a.sub.example.com", DS), 0, with), "referral");
    assert_string_equal(classified(QUESTION("sub.example.com", A), 0, with), "referral");
}

static void test_an_empty_answer_is_nodata_with_a_soa_and_without(void **state)
{
    (void)state;
    assert_string_equal(classified(WWW, HEADER_AA, (struct sections){.authority = {SOA}}),
                        "nodata");
    assert_true(response.has_soa);
    assert_int_equal(response.soa_ttl, 60);
    assert_string_equal(classified(WWW, 0, (struct sections){.answer = {NULL}}), "nodata");
    assert_false(response.has_soa);
    assert_string_equal(
        classified(WWW, HEADER_AA | RCODE_NXDOMAIN, (struct sections){.authority = {SOA}}),
        "nxdomain");
}

static void test_aliases_end_where_the_zone_ends(void **state)
{
    (void)state;
    assert_string_equal(
        classified(WWW, HEADER_AA,
                   (struct sections){.answer = {"www.example.com. CNAME a.example.com.",
                                                "a.example.com. A 192.0.2.1"}}),
        "answer");
    assert_string_equal(classified(WWW, HEADER_AA,
                                   (struct sections){.answer = {"www.example.com. CNAME bank.com.",
                                                                "bank.com. A 6.6.6.6"}}),
                        "alias");
    assert_true(name_equal(response.chain.name, NAME("bank.com")));
    assert_string_equal(
        classified(WWW, HEADER_AA,
                   (struct sections){.answer = {"www.example.com. CNAME a.inner.example.com.",
                                                "a.inner.example.com. A 6.6.6.6"}}),
        "alias");
    assert_string_equal(classified(WWW, HEADER_AA | RCODE_NXDOMAIN,
                                   (struct sections){.answer = {"www.example.com. CNAME bank.com."},
                                                     .authority = {"com. SOA a. b. 1 2 3 4 5"}}),
                        "alias");
    assert_string_equal(
        classified(QUESTION("a.d.example.com", A), HEADER_AA,
                   (struct sections){.answer = {"d.example.com. DNAME example.net.",
                                                "a.d.example.com. CNAME a.example.net."}}),
        "alias");
    assert_true(name_equal(response.chain.name, NAME("a.example.net")));
}

static void test_an_alias_with_a_referral_for_its_target_is_an_alias(void **state)
{
    (void)state;
    assert_string_equal(
        classified(WWW, HEADER_AA,
                   (struct sections){.answer = {"www.example.com. CNAME a.sub.example.com."},
                                     .authority = {"sub.example.com. NS ns.sub.example.com."}}),
        "alias");
}

static void test_error_rcodes_keep_their_kind(void **state)
{
    (void)state;
    assert_string_equal(classified(WWW, RCODE_REFUSED, (struct sections){.answer = {NULL}}),
                        "refused");
    assert_string_equal(
        classified(WWW, HEADER_RA | RCODE_SERVFAIL, (struct sections){.answer = {NULL}}),
        "servfail");
}

/* Unbound answers in this way below a DNAME. */
static void test_a_cname_answers_its_own_question_though_its_target_does_not_exist(void **state)
{
    (void)state;
    struct sections alias = {.answer = {"sub.example.com. DNAME example.org.",
                                        "www.sub.example.com. CNAME www.example.org."},
                             .authority = {"example.org. 900 SOA ns.example.org. x. 1 2 3 4 60"}};
    struct question question = QUESTION("www.sub.example.com", CNAME);
    assert_string_equal(classified(question, HEADER_AA | RCODE_NXDOMAIN, alias), "answer");
    const struct message *message = response_make(&sent, RCODE_NXDOMAIN, &question, &alias);
    classify(&response, message, &question, route_find(routes, name_root(), RRTYPE_A));
    assert_int_equal(response.kind, RESPONSE_ANSWER);
    assert_string_equal(classified(WWW, RCODE_NXDOMAIN,
                                   (struct sections){.answer = {"www.example.com. A 192.0.2.1"}}),
                        "unsound");
}

static void test_a_forwarders_referral_stays_a_referral(void **state)
{
    (void)state;
    struct question question = WWW;
    const struct message *message =
        response_make(&sent, 0, &question, &(struct sections){.authority = {"com. NS a.com."}});
    struct message refers = *message;
    refers.flags &= (uint16_t)~HEADER_RA;
    classify(&response, &refers, &question, route_find(routes, name_root(), RRTYPE_A));
    assert_int_equal(response.kind, RESPONSE_REFERRAL);
    message = response_make(&sent, 0, &question,
                            &(struct sections){.answer = {"www.example.com. A 192.0.2.1"}});
    classify(&response, message, &question, route_find(routes, name_root(), RRTYPE_A));
    assert_int_equal(response.kind, RESPONSE_ANSWER);
}

static int set_up(void **state)
{
    (void)state;
    routes =
        routes_new(ZONES(&zones, ".", "inner.example.com"), NULL, &(struct route_strategies){0});
    return routes ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    routes_free(routes);
    return 0;
}

static void test_a_response_without_aliases_is_plain(void **state)
{
    (void)state;
    struct plain_response plain;
    struct response copy;
    assert_string_equal(
        classified(WWW, HEADER_AA | RCODE_NXDOMAIN, (struct sections){.authority = {SOA}}),
        "nxdomain");
    assert_true(response_to_plain(&plain, &response));
    response_from_plain(&copy, &plain);
    assert_int_equal(copy.kind, RESPONSE_NXDOMAIN);
    assert_int_equal(copy.rcode, RCODE_NXDOMAIN);
    assert_true(copy.has_soa);
    assert_int_equal(copy.soa_ttl, 60);
    assert_int_equal(copy.soa.rdata_offset, response.soa.rdata_offset);
    assert_int_equal(copy.chain.hops, 0);
    assert_int_equal(copy.chain.end, ALIAS_NOTHING);
    assert_ptr_equal(copy.chain.name.wire, response.chain.name.wire);
    assert_int_equal(copy.chain.name.len, response.chain.name.len);
}

static void test_a_response_with_an_alias_is_not_plain(void **state)
{
    (void)state;
    struct plain_response plain;
    struct sections alias = {
        .answer = {"www.example.com. CNAME web.example.com.", "web.example.com. A 192.0.2.1"}};
    assert_string_equal(classified(WWW, HEADER_AA, alias), "answer");
    assert_false(response_to_plain(&plain, &response));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_is_an_answer_with_aa_and_without),
        cmocka_unit_test(test_a_recursive_server_is_lame),
        cmocka_unit_test(test_a_recursive_server_is_believed_as_the_last_hope),
        cmocka_unit_test(test_a_denial_without_aa_and_soa_shows_nothing_of_the_zone),
        cmocka_unit_test(test_a_nodata_without_a_soa_of_its_zone_is_empty),
        cmocka_unit_test(test_a_balancer_that_points_to_the_root_is_lame_with_aa_too),
        cmocka_unit_test(test_a_referral_leads_down_towards_the_name),
        cmocka_unit_test(test_referrals_upwards_sideways_and_to_itself_are_lame),
        cmocka_unit_test(test_a_denial_by_another_zones_soa_is_lame),
        cmocka_unit_test(test_a_denial_from_a_zone_above_is_doubted_except_at_configured_servers),
        cmocka_unit_test(test_a_zone_above_may_deny_a_delegated_part_that_was_never_created),
        cmocka_unit_test(test_the_parent_denies_a_ds_record),
        cmocka_unit_test(test_with_aa_the_zones_own_ns_records_make_no_referral),
        cmocka_unit_test(test_the_parents_ns_records_in_the_answer_are_a_referral),
        cmocka_unit_test(test_a_referral_for_a_ds_record_is_its_answer),
        cmocka_unit_test(test_an_empty_answer_is_nodata_with_a_soa_and_without),
        cmocka_unit_test(test_aliases_end_where_the_zone_ends),
        cmocka_unit_test(test_an_alias_with_a_referral_for_its_target_is_an_alias),
        cmocka_unit_test(test_error_rcodes_keep_their_kind),
        cmocka_unit_test(test_a_cname_answers_its_own_question_though_its_target_does_not_exist),
        cmocka_unit_test(test_a_forwarders_referral_stays_a_referral),
        cmocka_unit_test(test_a_response_without_aliases_is_plain),
        cmocka_unit_test(test_a_response_with_an_alias_is_not_plain),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
