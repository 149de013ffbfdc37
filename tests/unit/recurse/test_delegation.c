/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/recurse/sample.h"

#include "base/units.h"
#include "recurse/delegation.h"

enum { NOW = 7000000 };

static struct delegation cut, copy;
static struct response_text sent;
static struct compose_space space;

static bool refer(const char *zone, struct question question, struct sections sections)
{
    const struct message *message = response_make(&sent, 0, &question, &sections);
    return delegation_from_referral(&cut, message, SECTION_AUTHORITY, NAME(zone), &question, NOW);
}

/* Returns text such as "example. PARENT ns.example. 192.0.2.1". */
static const char *show(const struct delegation *from)
{
    static const char *const origins[] = {"HINTS", "CONFIGURED", "PARENT", "CHILD"};
    static char text[8192];
    char name[NAME_TEXT_MAX], ip[ADDR_TEXT_MAX];
    struct addr addr;
    int len = snprintf(text, sizeof(text), "%s %s", name_format(delegation_zone(from), name),
                       origins[from->origin]);
    for (unsigned i = 0; i < from->server_count; i++) {
        len += snprintf(text + len, sizeof(text) - (size_t)len, " %s",
                        name_format(delegation_server(from, i), name));
        for (unsigned j = 0; j < from->addr_count; j++) {
            delegation_addr(from, j, 53, &addr);
            if (from->addrs[j].server == i)
                len += snprintf(text + len, sizeof(text) - (size_t)len, " %s",
                                addr_format_ip(&addr, ip));
        }
    }
    return text;
}

#define WWW QUESTION("www.example.com", A)

static void test_a_referral_gives_servers_and_glue(void **state)
{
    (void)state;
    assert_true(refer("com", WWW,
                      (struct sections){.authority = {"Example.com. 3600 NS NS1.example.com.",
                                                      "example.com. 1800 NS ns.elsewhere.net."},
                                        .additional = {"ns1.example.com. 60 A 192.0.2.1",
                                                       "ns1.example.com. 60 AAAA 2001:db8::1"}}));
    assert_string_equal(show(&cut), "example.com. PARENT ns1.example.com. 192.0.2.1 2001:db8::1 "
                                    "ns.elsewhere.net.");
    assert_int_equal(cut.ends_at, NOW + 1800 * US_PER_S);
}

static void test_glue_for_hosts_outside_the_asked_zone_is_dropped(void **state)
{
    (void)state;
    assert_true(
        refer("com", WWW,
              (struct sections){
                  .authority = {"example.com. NS ns.bank.org.", "example.com. NS ns.other.com."},
                  .additional = {"ns.bank.org. A 6.6.6.6", "ns.other.com. A 192.0.2.1",
                                 "stranger.com. A 6.6.6.6"}}));
    assert_string_equal(show(&cut), "example.com. PARENT ns.bank.org. ns.other.com. 192.0.2.1");
}

static bool answer_address(const char *asked_zone, struct question question,
                           struct sections sections)
{
    const struct message *message = response_make(&sent, 0, &question, &sections);
    return delegation_from_address(&cut, message, NAME("example.com"), NAME(asked_zone), &question,
                                   NOW + 900 * US_PER_S, NOW);
}

#define NS1 QUESTION("ns1.example.com", A)

static void test_an_answer_gives_the_address_of_one_server(void **state)
{
    (void)state;
    assert_true(answer_address("com", NS1,
                               (struct sections){.answer = {"NS1.example.com. 3600 A 192.0.2.1",
                                                            "ns1.example.com. 600 A 192.0.2.2"}}));
    assert_string_equal(show(&cut), "example.com. PARENT ns1.example.com. 192.0.2.1 192.0.2.2");
    assert_int_equal(cut.ends_at, NOW + 600 * US_PER_S);
    assert_int_equal(cut.referrer_labels, 1);
}

static void test_an_address_lives_no_longer_than_the_referral(void **state)
{
    (void)state;
    assert_true(answer_address(
        "com", NS1, (struct sections){.answer = {"ns1.example.com. 86400 A 192.0.2.1"}}));
    assert_int_equal(cut.ends_at, NOW + 900 * US_PER_S);
}

static void test_an_answer_about_other_hosts_gives_no_address(void **state)
{
    (void)state;
    assert_false(answer_address(
        "com", NS1,
        (struct sections){.answer = {"ns1.example.com. 60 CNAME a.net.", "a.net. 60 A 192.0.2.1",
                                     "ns2.example.com. 60 A 192.0.2.1"},
                          .additional = {"ns1.example.com. 60 A "
                                         "192.0.2.3"}}));
    assert_false(answer_address("net", NS1,
                                (struct sections){.answer = {"ns1.example.com. 60 A 192.0.2.1"}}));
    assert_false(answer_address(
        "com", NS1, (struct sections){.answer = {"ns1.example.com. 60 TXT \"no address\""}}));
}

static void test_a_referral_sideways_upwards_or_to_itself_is_none(void **state)
{
    (void)state;
    static const char *const zones[] = {"other.com. NS ns.other.com.", "com. NS ns.com.",
                                        ". NS a.root-servers.net.", "org. NS ns.org.",
                                        "x.www.example.com. NS ns.example.com."};
    for (size_t i = 0; i < ARRAY_LEN(zones); i++)
        assert_false(refer("com", WWW, (struct sections){.authority = {zones[i]}}));
}

static void test_only_one_zone_of_a_referral_counts(void **state)
{
    (void)state;
    assert_true(refer("com", WWW,
                      (struct sections){.authority = {"evil.com. NS ns.evil.com.",
                                                      "example.com. NS ns.example.com.",
                                                      "example.com. CH NS ch.example.com.",
                                                      "www.example.com. NS ns.www.example.com."},
                                        .additional = {"ns.evil.com. A 6.6.6.6"}}));
    assert_string_equal(show(&cut), "example.com. PARENT ns.example.com.");
}

static void test_servers_and_addresses_are_bounded_in_all_and_for_one_server(void **state)
{
    (void)state;
    struct question question = WWW;
    char text[64];
    response_begin(&sent, 0, &question);
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "example.com. NS ns%d.example.com.", i);
        response_add(&sent, SECTION_AUTHORITY, text);
    }
    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof(text), "ns%d.example.com. A 192.0.%d.%d", i / 100, i / 200, i % 200);
        response_add(&sent, SECTION_ADDITIONAL, text);
    }
    assert_true(delegation_from_referral(&cut, response_parse(&sent), SECTION_AUTHORITY,
                                         NAME("com"), &question, NOW));
    assert_int_equal(cut.server_count, DELEGATION_SERVERS_MAX);
    assert_int_equal(cut.servers[0].addr_count, DELEGATION_ADDRS_EACH_MAX);
    assert_int_equal(cut.addr_count, 3 * DELEGATION_ADDRS_EACH_MAX);
}

static void test_long_names_use_up_the_room_and_do_no_other_harm(void **state)
{
    (void)state;
    char text[256];
    delegation_init(&cut, NAME("com"), DELEGATION_PARENT, 0);
    for (int i = 0; i < 13; i++) {
        snprintf(text, sizeof(text), "%c%050d.%060d.%060d.com", 'a' + i, 1, 2, 3);
        int server = delegation_add(&cut, NAME(text));
        assert_int_equal(server, i < 5 ? i : DELEGATION_NONE);
    }
    assert_int_equal(delegation_add(&cut, NAME("ns.com")), 5);
    assert_int_equal(delegation_add(&cut, NAME("NS.com")), 5);
}

static void test_one_address_counts_once(void **state)
{
    (void)state;
    assert_true(
        refer("com", WWW,
              (struct sections){
                  .authority = {"example.com. NS a.example.com.", "example.com. NS b.example.com."},
                  .additional = {"a.example.com. A 192.0.2.1", "a.example.com. A 192.0.2.1",
                                 "b.example.com. A 192.0.2.1"}}));
    assert_int_equal(cut.addr_count, 1);
}

static void test_an_ipv4_address_written_as_ipv6_is_refused(void **state)
{
    (void)state;
    assert_true(refer("com", WWW,
                      (struct sections){.authority = {"example.com. NS a.example.com."},
                                        .additional = {"a.example.com. AAAA ::ffff:127.0.0.1",
                                                       "a.example.com. AAAA ::127.0.0.1",
                                                       "a.example.com. AAAA ::1",
                                                       "a.example.com. AAAA 64:ff9b::192.0.2.1"}}));
    assert_string_equal(show(&cut), "example.com. PARENT a.example.com. ::1 64:ff9b::c000:201");
}

static void test_the_child_is_believed_no_longer_than_the_parent(void **state)
{
    (void)state;
    struct question question = WWW;
    const struct message *message =
        response_make(&sent, HEADER_AA, &question,
                      &(struct sections){.answer = {"www.example.com. A 192.0.2.80"},
                                         .authority = {"example.com. 9000 NS new.example.com.",
                                                       "com. 9000 NS evil.example.com."},
                                         .additional = {"new.example.com. A 192.0.2.9"}});
    struct name zone = NAME("example.com");
    assert_true(
        delegation_from_child(&cut, message, zone, &question, true, NOW + 50 * US_PER_S, NOW));
    assert_string_equal(show(&cut), "example.com. CHILD new.example.com. 192.0.2.9");
    assert_int_equal(cut.ends_at, NOW + 50 * US_PER_S);
    assert_true(delegation_from_child(&cut, message, zone, &question, true, UINT64_MAX, NOW));
    assert_int_equal(cut.ends_at, NOW + 9000 * US_PER_S);
    assert_false(delegation_from_child(&cut, message, NAME("www.example.com"), &question, true,
                                       UINT64_MAX, NOW));
}

static void test_records_beside_an_answer_are_believed_when_it_is_proven(void **state)
{
    (void)state;
    struct question question = WWW;
    const struct message *message =
        response_make(&sent, HEADER_AA, &question,
                      &(struct sections){.answer = {"www.example.com. A 192.0.2.80"},
                                         .authority = {"example.com. 9000 NS ns.evil.org."}});
    assert_true(delegation_from_child(&cut, message, NAME("example.com"), &question, true,
                                      UINT64_MAX, NOW));
    assert_false(delegation_from_child(&cut, message, NAME("example.com"), &question, false,
                                       UINT64_MAX, NOW));
}

static void test_servers_in_an_answer_that_did_not_ask_for_them_need_proof(void **state)
{
    (void)state;
    struct question question = WWW, other = QUESTION("www.example.com", NS);
    const struct sections sections = {
        .answer = {"www.example.com. A 192.0.2.80", "example.com. 9000 NS ns.example.com."},
        .additional = {"ns.example.com. A 192.0.2.66"}};
    struct name zone = NAME("example.com");
    const struct message *message = response_make(&sent, HEADER_AA, &question, &sections);
    assert_false(delegation_from_child(&cut, message, zone, &question, false, UINT64_MAX, NOW));
    assert_false(delegation_from_child(&cut, message, zone, &other, false, UINT64_MAX, NOW));
    assert_true(delegation_from_child(&cut, message, zone, &question, true, UINT64_MAX, NOW));
}

static void test_a_ttl_above_31_bits_counts_as_zero(void **state)
{
    (void)state;
    struct answer answer;
    assert_true(refer("com", WWW,
                      (struct sections){.authority = {"example.com. 2147483648 NS ns.a.net."}}));
    assert_int_equal(cut.ends_at, NOW);
    assert_false(delegation_to_answer(&cut, &answer, &space, INT32_MAX, NOW));
}

static void test_a_cut_ends_with_the_one_above_it_except_below_the_root(void **state)
{
    (void)state;
    struct delegation above;
    assert_true(refer("com", WWW, (struct sections){.authority = {"example.com. NS ns.a.net."}}));
    uint64_t ends_at = cut.ends_at;
    delegation_init(&above, name_root(), DELEGATION_PARENT, NOW + 1);
    delegation_end_with(&cut, &above);
    assert_int_equal(cut.ends_at, ends_at);
    delegation_init(&above, NAME("com"), DELEGATION_PARENT, NOW + 1);
    delegation_end_with(&cut, &above);
    assert_int_equal(cut.ends_at, NOW + 1);
    above.ends_at = UINT64_MAX;
    delegation_end_with(&cut, &above);
    assert_int_equal(cut.ends_at, NOW + 1);
}

static void test_glue_of_one_server_is_taken_from_another_cut(void **state)
{
    (void)state;
    struct delegation other;
    assert_true(refer(
        "com", WWW,
        (struct sections){.authority = {"example.com. NS ns.a.com.", "example.com. NS ns.b.com."},
                          .additional = {"ns.a.com. A 192.0.2.1", "ns.b.com. A 192.0.2.2"}}));
    other = cut;
    delegation_init(&cut, NAME("example.net"), DELEGATION_PARENT, NOW);
    assert_int_equal(delegation_add(&cut, NAME("ns.c.com")), 0);
    assert_int_equal(delegation_add(&cut, NAME("ns.b.com")), 1);
    assert_false(delegation_take_glue(&cut, 0, &other));
    assert_true(delegation_take_glue(&cut, 1, &other));
    assert_string_equal(show(&cut), "example.net. PARENT ns.c.com. ns.b.com. 192.0.2.2");
}

static void test_the_answer_to_an_ns_question_describes_the_child(void **state)
{
    (void)state;
    struct question question = QUESTION(".", NS);
    const struct message *message =
        response_make(&sent, HEADER_AA, &question,
                      &(struct sections){.answer = {". 518400 NS a.root."},
                                         .additional = {"a.root. 518400 A 192.0.2.53"}});
    assert_true(
        delegation_from_child(&cut, message, name_root(), &question, false, UINT64_MAX, NOW));
    assert_string_equal(show(&cut), ". CHILD a.root. 192.0.2.53");
}

static void test_a_server_in_its_own_zone_needs_glue(void **state)
{
    (void)state;
    assert_true(refer("com", WWW,
                      (struct sections){.authority = {"example.com. NS example.com.",
                                                      "example.com. NS a.b.example.com.",
                                                      "example.com. NS ns.example.net."}}));
    assert_true(delegation_needs_glue(&cut, 0));
    assert_true(delegation_needs_glue(&cut, 1));
    assert_false(delegation_needs_glue(&cut, 2));
}

static void test_a_cut_survives_the_cache(void **state)
{
    (void)state;
    struct answer answer;
    assert_true(refer("com", WWW,
                      (struct sections){.authority = {"example.com. 600 NS ns1.example.com.",
                                                      "example.com. 600 NS ns.elsewhere.net."},
                                        .additional = {"ns1.example.com. 60 A 192.0.2.1",
                                                       "ns1.example.com. 60 AAAA 2001:db8::1"}}));
    assert_true(delegation_to_answer(&cut, &answer, &space, 86400, NOW + 10 * US_PER_S));
    assert_int_equal(answer.ttl_s, 590);
    assert_int_equal(answer.kind, ANSWER_POSITIVE);
    assert_true(delegation_from_answer(&copy, &answer));
    assert_string_equal(show(&copy), "example.com. PARENT ns1.example.com. 192.0.2.1 2001:db8::1 "
                                     "ns.elsewhere.net.");
    assert_int_equal(copy.ends_at, cut.ends_at);
    cut.origin = DELEGATION_CHILD;
    assert_true(delegation_to_answer(&cut, &answer, &space, 30, NOW));
    assert_int_equal(answer.ttl_s, 30);
    assert_true(delegation_from_answer(&copy, &answer));
    assert_int_equal(copy.origin, DELEGATION_CHILD);
}

static void test_hints_and_ended_cuts_are_not_kept(void **state)
{
    (void)state;
    struct answer answer;
    delegation_init(&cut, NAME("com"), DELEGATION_PARENT, NOW + US_PER_S);
    /* this cut has no server */
    assert_false(delegation_to_answer(&cut, &answer, &space, 86400, NOW));
    delegation_add(&cut, NAME("ns.com"));
    assert_true(delegation_to_answer(&cut, &answer, &space, 86400, NOW));
    assert_false(delegation_to_answer(&cut, &answer, &space, 0, NOW));
    assert_false(delegation_to_answer(&cut, &answer, &space, 86400, NOW + US_PER_S));
    cut.origin = DELEGATION_HINTS;
    assert_false(delegation_to_answer(&cut, &answer, &space, 86400, NOW));
}

static void test_servers_without_addresses_inherit_known_ones(void **state)
{
    (void)state;
    static const uint8_t first[4] = {192, 0, 2, 1}, second[4] = {192, 0, 2, 2};
    delegation_init(&cut, NAME("example.com"), DELEGATION_PARENT, 0);
    delegation_add(&cut, NAME("a.example.com"));
    delegation_add(&cut, NAME("b.example.com"));
    delegation_add_addr(&cut, 0, span_of(first, 4));
    delegation_add_addr(&cut, 1, span_of(second, 4));
    delegation_init(&copy, NAME("example.com"), DELEGATION_CHILD, 0);
    delegation_add(&copy, NAME("new.example.com"));
    assert_false(delegation_is_reachable(&copy));
    delegation_add(&copy, NAME("B.example.com"));
    delegation_inherit(&copy, &cut);
    assert_string_equal(show(&copy),
                        "example.com. CHILD new.example.com. b.example.com. 192.0.2.2");
    assert_true(delegation_is_reachable(&copy));
    delegation_init(&copy, NAME("example.com"), DELEGATION_CHILD, 0);
    delegation_add(&copy, NAME("ns.example.net"));
    assert_true(delegation_is_reachable(&copy));
}

static void test_sets_of_addresses_differ_whatever_their_order(void **state)
{
    (void)state;
    static const uint8_t first[4] = {192, 0, 2, 1}, second[4] = {192, 0, 2, 2};
    delegation_init(&cut, NAME("a"), DELEGATION_PARENT, 0);
    delegation_init(&copy, NAME("b"), DELEGATION_PARENT, 0);
    delegation_add(&cut, NAME("ns"));
    delegation_add(&copy, NAME("ns"));
    assert_int_equal(delegation_addrs_mark(&cut), 0);
    delegation_add_addr(&cut, 0, span_of(first, 4));
    delegation_add_addr(&cut, 0, span_of(second, 4));
    delegation_add_addr(&copy, 0, span_of(second, 4));
    assert_true(delegation_addrs_mark(&cut) != delegation_addrs_mark(&copy));
    delegation_add_addr(&copy, 0, span_of(first, 4));
    assert_true(delegation_addrs_mark(&cut) == delegation_addrs_mark(&copy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_referral_gives_servers_and_glue),
        cmocka_unit_test(test_glue_for_hosts_outside_the_asked_zone_is_dropped),
        cmocka_unit_test(test_an_answer_gives_the_address_of_one_server),
        cmocka_unit_test(test_an_address_lives_no_longer_than_the_referral),
        cmocka_unit_test(test_an_answer_about_other_hosts_gives_no_address),
        cmocka_unit_test(test_a_referral_sideways_upwards_or_to_itself_is_none),
        cmocka_unit_test(test_only_one_zone_of_a_referral_counts),
        cmocka_unit_test(test_servers_and_addresses_are_bounded_in_all_and_for_one_server),
        cmocka_unit_test(test_long_names_use_up_the_room_and_do_no_other_harm),
        cmocka_unit_test(test_one_address_counts_once),
        cmocka_unit_test(test_an_ipv4_address_written_as_ipv6_is_refused),
        cmocka_unit_test(test_the_child_is_believed_no_longer_than_the_parent),
        cmocka_unit_test(test_records_beside_an_answer_are_believed_when_it_is_proven),
        cmocka_unit_test(test_servers_in_an_answer_that_did_not_ask_for_them_need_proof),
        cmocka_unit_test(test_a_ttl_above_31_bits_counts_as_zero),
        cmocka_unit_test(test_a_cut_ends_with_the_one_above_it_except_below_the_root),
        cmocka_unit_test(test_glue_of_one_server_is_taken_from_another_cut),
        cmocka_unit_test(test_the_answer_to_an_ns_question_describes_the_child),
        cmocka_unit_test(test_a_server_in_its_own_zone_needs_glue),
        cmocka_unit_test(test_a_cut_survives_the_cache),
        cmocka_unit_test(test_hints_and_ended_cuts_are_not_kept),
        cmocka_unit_test(test_servers_without_addresses_inherit_known_ones),
        cmocka_unit_test(test_sets_of_addresses_differ_whatever_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
