/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Addresses behind a NAT64: which answers need them, and how they are made. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "dns/message.h"
#include "dns/rrtype.h"
#include "local/name_map.h"
#include "resolve/dns64.h"

static struct compose_space space, other_space;
static struct dns64_options options;
static struct prefix_set *excluded, *clients;
static struct addr client;

static struct name name_of(const char *text, uint8_t wire[NAME_WIRE_MAX])
{
    struct name name;
    assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
    return name;
}

static void set_prefix(const char *text)
{
    assert_int_equal(prefix_parse(&options.prefix, text), ERR_OK);
}

static struct prefix_set *set_of(const char *text)
{
    struct prefix prefix;
    struct prefix_set *set = prefix_set_new();
    assert_int_equal(prefix_parse_unmapped(&prefix, text), ERR_OK);
    assert_int_equal(prefix_set_add(set, &prefix, 0), ERR_OK);
    assert_int_equal(prefix_set_freeze(set), ERR_OK);
    return set;
}

static int setup(void **state)
{
    (void)state;
    options = (struct dns64_options){.exclude = excluded = set_of("::ffff:0:0/96")};
    set_prefix("64:ff9b::/96");
    assert_int_equal(addr_parse(&client, "2001:db8::1", 53), ERR_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    prefix_set_free(excluded);
    prefix_set_free(clients);
    excluded = clients = NULL;
    return 0;
}

/* ---- addresses ---- */

/* The table of RFC 6052 section 2.4. */
static const struct {
    const char *prefix, *ipv6;
} examples[] = {
    {"2001:db8::/32", "2001:db8:c000:221::"},
    {"2001:db8:100::/40", "2001:db8:1c0:2:21::"},
    {"2001:db8:122::/48", "2001:db8:122:c000:2:2100::"},
    {"2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"},
    {"2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"},
    {"2001:db8:122:344::/96", "2001:db8:122:344::c000:221"},
};

static void test_addresses_are_those_of_the_rfc(void **state)
{
    (void)state;
    static const uint8_t ipv4[] = {192, 0, 2, 33};
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        uint8_t made[16], expected[16], back[4];
        set_prefix(examples[i].prefix);
        assert_true(dns64_is_sound(&options.prefix));
        dns64_embed(&options.prefix, ipv4, made);
        assert_int_equal(inet_pton(AF_INET6, examples[i].ipv6, expected), 1);
        assert_memory_equal(made, expected, 16);
        assert_true(dns64_extract(&options.prefix, made, back));
        assert_memory_equal(back, ipv4, 4);
        made[0] ^= 1;
        assert_false(dns64_extract(&options.prefix, made, back));
    }
}

static void test_other_prefixes_are_unsound(void **state)
{
    (void)state;
    static const char *const wrong[] = {"2001:db8::/31",        "2001:db8::/33", "2001:db8::/72",
                                        "2001:db8::/128",       "192.0.2.0/32",  "::/0",
                                        "2001:db8:0:0:100::/96"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        set_prefix(wrong[i]);
        assert_false(dns64_is_sound(&options.prefix));
    }
}

/* ---- questions ---- */

static enum dns64_stage begin(const char *name, uint16_t type, bool dnssec_ok, bool cd)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = {name_of(name, wire), type, RRCLASS_IN};
    return dns64_begin(&options, &question, &client, dnssec_ok, cd);
}

static void test_questions_for_addresses_are_concerned(void **state)
{
    (void)state;
    assert_int_equal(begin("www.example", RRTYPE_AAAA, false, false), DNS64_FIRST);
    assert_int_equal(begin("www.example", RRTYPE_AAAA, true, false), DNS64_FIRST);
    assert_int_equal(begin("www.example", RRTYPE_AAAA, false, true), DNS64_FIRST);
    assert_int_equal(begin("www.example", RRTYPE_AAAA, true, true), DNS64_NONE);
    assert_int_equal(begin("www.example", RRTYPE_A, false, false), DNS64_NONE);
    assert_int_equal(begin("www.example", RRTYPE_HTTPS, false, false), DNS64_NONE);
    assert_int_equal(begin("IPv4only.ARPA", RRTYPE_AAAA, false, false), DNS64_KNOWN);
    assert_int_equal(begin("ipv4only.arpa", RRTYPE_A, false, false), DNS64_NONE);
    assert_int_equal(begin("a.ipv4only.arpa", RRTYPE_AAAA, false, false), DNS64_FIRST);
}

static void test_only_its_clients_are_concerned(void **state)
{
    (void)state;
    options.clients = clients = set_of("2001:db8:1::/48");
    assert_int_equal(begin("www.example", RRTYPE_AAAA, false, false), DNS64_NONE);
    assert_int_equal(addr_parse(&client, "2001:db8:1::7", 53), ERR_OK);
    assert_int_equal(begin("www.example", RRTYPE_AAAA, false, false), DNS64_FIRST);
}

#define ZEROS "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0"
#define REVERSE "1.2.2.0.0.0.0.C." ZEROS ".b.9.F.f.4.6.0.0.ip6.ARPA"

static void test_reverse_names_lead_to_ipv4(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX], next[NAME_WIRE_MAX], expected[NAME_WIRE_MAX];
    assert_int_equal(begin(REVERSE, RRTYPE_PTR, false, false), DNS64_REVERSE);
    struct question question = {name_of(REVERSE, wire), RRTYPE_PTR, RRCLASS_IN};
    struct question other;
    assert_true(dns64_question(&options, DNS64_REVERSE, &question, &other, next));
    assert_int_equal(other.type, RRTYPE_PTR);
    assert_true(name_equal_exact(other.name, name_of("33.2.0.192.in-addr.arpa", expected)));
}

static void test_other_reverse_names_are_ordinary(void **state)
{
    (void)state;
    static const char *const names[] = {
        "1.2.2.0.0.0.0.c." ZEROS ".b.9.f.f.4.6.0.1.ip6.arpa",   /* a different prefix */
        "1.2.2.0.0.0.0.c." ZEROS ".b.9.f.f.4.6.0.ip6.arpa",     /* a digit is missing */
        "0.1.2.2.0.0.0.0.c." ZEROS ".b.9.f.f.4.6.0.0.ip6.arpa", /* a digit too many */
        "1.2.2.0.0.0.0.x." ZEROS ".b.9.f.f.4.6.0.0.ip6.arpa",   /* not a hexadecimal digit */
        "1.2.2.0.0.0.0c." ZEROS ".b.9.f.f.4.6.0.0.ip6.arpa",    /* two digits in one label */
        "1.2.2.0.0.0.0.c." ZEROS ".b.9.f.f.4.6.0.0.ip6.int",
        "33.2.0.192.in-addr.arpa",
        "ip6.arpa",
        "."};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(begin(names[i], RRTYPE_PTR, false, false), DNS64_NONE);
}

/* ---- answers ---- */

static uint8_t question_wire[NAME_WIRE_MAX];
static struct question question;
static struct compose compose;

static void start(const char *name, uint16_t type, uint16_t flags)
{
    question = (struct question){name_of(name, question_wire), type, RRCLASS_IN};
    compose_begin(&compose, &space, &question, flags);
    build_section(&compose.build, SECTION_ANSWER);
}

static void add_address(const char *owner, const char *ip, uint32_t ttl)
{
    uint8_t wire[NAME_WIRE_MAX], bytes[16];
    bool is_six = inet_pton(AF_INET6, ip, bytes) == 1;
    if (!is_six)
        assert_int_equal(inet_pton(AF_INET, ip, bytes), 1);
    compose_rr(&compose, name_of(owner, wire), is_six ? RRTYPE_AAAA : RRTYPE_A, ttl,
               span_of(bytes, is_six ? 16 : 4));
}

static void add_alias(const char *owner, const char *target, uint32_t ttl)
{
    uint8_t wire[NAME_WIRE_MAX], to[NAME_WIRE_MAX];
    compose_cname(&compose, name_of(owner, wire), RRCLASS_IN, ttl, name_of(target, to));
}

/* Adds a signature of which only the covered type matters. */
static void add_signature(const char *owner, uint16_t covered, uint32_t ttl)
{
    uint8_t wire[NAME_WIRE_MAX], rdata[30] = {0};
    put_u16(rdata, covered);
    compose_rr(&compose, name_of(owner, wire), RRTYPE_RRSIG, ttl, span_of(rdata, sizeof(rdata)));
}

static void add_soa(uint32_t ttl)
{
    uint8_t wire[NAME_WIRE_MAX];
    static const uint8_t rdata[22] = {0};
    build_section(&compose.build, SECTION_AUTHORITY);
    compose_rr(&compose, name_of("example", wire), RRTYPE_SOA, ttl, span_of(rdata, sizeof(rdata)));
}

static struct answer finish(enum answer_kind kind)
{
    struct answer answer;
    assert_true(compose_end(&compose, &answer));
    answer.kind = (uint8_t)kind;
    return answer;
}

static enum dns64_verdict judge(const struct answer *answer, uint32_t *ttl_s)
{
    return dns64_judge(&options, &question, answer, 0, ttl_s);
}

static void test_true_addresses_stay(void **state)
{
    (void)state;
    uint32_t ttl_s;
    start("www.example", RRTYPE_AAAA, 0);
    add_address("www.example", "2001:db8::5", 300);
    struct answer answer = finish(ANSWER_POSITIVE);
    assert_int_equal(judge(&answer, &ttl_s), DNS64_KEEP);
    start("www.example", RRTYPE_AAAA, RCODE_NXDOMAIN);
    answer = finish(ANSWER_NXDOMAIN);
    assert_int_equal(judge(&answer, &ttl_s), DNS64_KEEP);
}

static void test_no_data_leads_to_ipv4_for_the_ttl_of_the_denial(void **state)
{
    (void)state;
    uint32_t ttl_s;
    start("www.example", RRTYPE_AAAA, 0);
    add_soa(120);
    struct answer answer = finish(ANSWER_NODATA);
    assert_int_equal(judge(&answer, &ttl_s), DNS64_ASK);
    assert_int_equal(ttl_s, 120);
    assert_int_equal(dns64_judge(&options, &question, &answer, 20 * 1000000, &ttl_s), DNS64_ASK);
    assert_int_equal(ttl_s, 100);
    start("www.example", RRTYPE_AAAA, 0);
    answer = finish(ANSWER_NODATA);
    assert_int_equal(judge(&answer, &ttl_s), DNS64_ASK);
    assert_int_equal(ttl_s, DNS64_TTL_S);
}

static void test_failures_lead_to_ipv4_unless_they_are_bogus(void **state)
{
    (void)state;
    uint32_t ttl_s;
    start("www.example", RRTYPE_AAAA, RCODE_SERVFAIL);
    struct answer answer = finish(ANSWER_FAILURE);
    assert_int_equal(judge(&answer, &ttl_s), DNS64_ASK);
    answer.security = SECURITY_BOGUS;
    assert_int_equal(judge(&answer, &ttl_s), DNS64_KEEP);
}

/* If an operator blocks a name, DNS64 must not make it reachable. */
static void test_local_data_stays(void **state)
{
    (void)state;
    uint32_t ttl_s;
    start("www.example", RRTYPE_AAAA, HEADER_AA);
    struct answer answer = finish(ANSWER_NODATA);
    assert_int_equal(judge(&answer, &ttl_s), DNS64_KEEP);
}

static void test_excluded_addresses_are_left_out(void **state)
{
    (void)state;
    uint32_t ttl_s;
    start("www.example", RRTYPE_AAAA, HEADER_AD);
    add_alias("www.example", "host.example", 300);
    add_signature("www.example", RRTYPE_CNAME, 300);
    add_address("host.example", "::ffff:192.0.2.1", 300);
    add_address("host.example", "2001:db8::5", 300);
    add_signature("host.example", RRTYPE_AAAA, 300);
    struct answer reduced, answer = finish(ANSWER_POSITIVE);
    struct message message;
    assert_int_equal(judge(&answer, &ttl_s), DNS64_REDUCE);
    answer.security = SECURITY_SECURE;
    assert_true(dns64_reduce(&options, &reduced, &other_space, &question, &answer, 0));
    assert_int_equal(message_parse(&message, reduced.message), MESSAGE_OK);
    /* the alias, its signature and one address */
    assert_int_equal(message.counts[SECTION_ANSWER], 3);
    assert_false(message.flags & HEADER_AD);
    assert_int_equal(reduced.security, SECURITY_INSECURE);
}

static void test_only_excluded_addresses_lead_to_ipv4(void **state)
{
    (void)state;
    uint32_t ttl_s;
    start("www.example", RRTYPE_AAAA, 0);
    add_address("www.example", "::ffff:192.0.2.1", 3000);
    struct answer answer = finish(ANSWER_POSITIVE);
    assert_int_equal(judge(&answer, &ttl_s), DNS64_ASK);
    assert_int_equal(ttl_s, DNS64_TTL_S);
}

static void test_names_without_working_ipv6_lead_to_ipv4(void **state)
{
    (void)state;
    uint32_t ttl_s, *number;
    uint8_t wire[NAME_WIRE_MAX];
    struct name_map *map = name_map_new();
    assert_int_equal(name_map_put(map, name_of("example", wire), 0, &number), ERR_OK);
    options.ignored = map;
    start("www.example", RRTYPE_AAAA, 0);
    add_address("www.example", "2001:db8::5", 300);
    struct answer answer = finish(ANSWER_POSITIVE);
    assert_int_equal(judge(&answer, &ttl_s), DNS64_ASK);
    start("www.example2", RRTYPE_AAAA, 0);
    add_address("www.example2", "2001:db8::5", 300);
    answer = finish(ANSWER_POSITIVE);
    assert_int_equal(judge(&answer, &ttl_s), DNS64_KEEP);
    name_map_free(map);
}

/* Returns the n-th record of the answer section. */
static struct rr record(const struct message *message, unsigned n)
{
    struct rr rr;
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (unsigned i = 0; i <= n; i++)
        assert_true(message_rr_next(&iter, &rr));
    return rr;
}

static enum dns64_made make_second(struct answer *made, const struct answer *answer, uint64_t now)
{
    return dns64_make(&options, DNS64_SECOND, made, &other_space, &question, 100, answer, now);
}

static void test_aliases_and_all_addresses_are_made(void **state)
{
    (void)state;
    struct answer made;
    struct message message;
    start("www.example", RRTYPE_A, HEADER_AD);
    add_alias("www.example", "host.example", 500);
    add_signature("www.example", RRTYPE_CNAME, 500);
    add_address("host.example", "192.0.2.33", 400);
    add_address("host.example", "198.51.100.7", 400);
    add_signature("host.example", RRTYPE_A, 400);
    struct answer answer = finish(ANSWER_POSITIVE);
    answer.security = SECURITY_SECURE;
    question.type = RRTYPE_AAAA;
    assert_int_equal(make_second(&made, &answer, 50 * 1000000), DNS64_MADE);
    assert_int_equal(message_parse(&message, made.message), MESSAGE_OK);
    assert_int_equal(message.counts[SECTION_ANSWER], 4);
    assert_false(message.flags & HEADER_AD);
    assert_int_equal(message.question.type, RRTYPE_AAAA);
    assert_int_equal(record(&message, 0).type, RRTYPE_CNAME);
    assert_int_equal(record(&message, 0).ttl, 450);
    assert_int_equal(record(&message, 1).type, RRTYPE_RRSIG);
    static const uint8_t expected[] = {0, 0x64, 0xff, 0x9b, [12] = 192, 0, 2, 33};
    struct rr rr = record(&message, 2);
    assert_int_equal(rr.type, RRTYPE_AAAA);
    assert_int_equal(rr.ttl, 100);
    assert_memory_equal(message_rdata(&message, &rr).data, expected, 16);
    assert_int_equal(made.ttl_count, 4);
    assert_int_equal(made.security, SECURITY_INSECURE);
}

static void test_short_addresses_have_the_shorter_ttl(void **state)
{
    (void)state;
    struct answer made;
    struct message message;
    start("www.example", RRTYPE_A, 0);
    add_address("www.example", "192.0.2.33", 40);
    struct answer answer = finish(ANSWER_POSITIVE);
    question.type = RRTYPE_AAAA;
    assert_int_equal(make_second(&made, &answer, 0), DNS64_MADE);
    assert_int_equal(message_parse(&message, made.message), MESSAGE_OK);
    assert_int_equal(record(&message, 0).ttl, 40);
}

static void test_a_name_without_addresses_gets_none(void **state)
{
    (void)state;
    struct answer made;
    struct message message;
    start("www.example", RRTYPE_A, 0);
    add_soa(60);
    struct answer answer = finish(ANSWER_NODATA);
    question.type = RRTYPE_AAAA;
    assert_int_equal(make_second(&made, &answer, 0), DNS64_EMPTY);
    dns64_turn(&made, &other_space, &answer);
    assert_int_equal(message_parse(&message, made.message), MESSAGE_OK);
    assert_int_equal(message.question.type, RRTYPE_AAAA);
    assert_int_equal(message.counts[SECTION_AUTHORITY], 1);
    assert_int_equal(made.kind, ANSWER_NODATA);
}

/* A server may send a record with a wrong length. */
static void test_malformed_addresses_are_skipped(void **state)
{
    (void)state;
    struct answer made;
    uint8_t wire[NAME_WIRE_MAX];
    start("www.example", RRTYPE_A, 0);
    compose_rr(&compose, name_of("www.example", wire), RRTYPE_A, 300, span_of("\1\2\3", 3));
    struct answer answer = finish(ANSWER_POSITIVE);
    question.type = RRTYPE_AAAA;
    assert_int_equal(make_second(&made, &answer, 0), DNS64_EMPTY);
}

/* Four bytes of an A record become sixteen, so a full message overflows. */
static void test_addresses_may_be_too_large(void **state)
{
    (void)state;
    struct answer made;
    start("www.example", RRTYPE_A, 0);
    for (unsigned i = 0; i < 4000; i++)
        add_address("www.example", "192.0.2.33", 300);
    struct answer answer = finish(ANSWER_POSITIVE);
    question.type = RRTYPE_AAAA;
    assert_int_equal(make_second(&made, &answer, 0), DNS64_TOO_LARGE);
}

/* Begins the answer about the PTR record of the address behind REVERSE. */
static void start_reverse(void)
{
    uint8_t wire[NAME_WIRE_MAX], host[NAME_WIRE_MAX];
    start("33.2.0.192.in-addr.arpa", RRTYPE_PTR, 0);
    struct name target = name_of("host.example", host);
    compose_rr(&compose, name_of("33.2.0.192.in-addr.arpa", wire), RRTYPE_PTR, 300,
               span_of(target.wire, target.len));
}

static enum dns64_made make_reverse(struct answer *made, const struct answer *answer)
{
    uint8_t wire[NAME_WIRE_MAX], reverse[NAME_WIRE_MAX];
    struct question asked = {name_of(REVERSE, wire), RRTYPE_PTR, RRCLASS_IN};
    asked.name = name_fold(asked.name, reverse);
    return dns64_make(&options, DNS64_REVERSE, made, &other_space, &asked, 0, answer, 0);
}

/* A reload may change the prefix while the answer is on its way. */
static void test_a_reverse_name_follows_its_prefix(void **state)
{
    (void)state;
    struct answer made;
    uint8_t wire[NAME_WIRE_MAX], next[NAME_WIRE_MAX];
    struct question asked = {name_of(REVERSE, wire), RRTYPE_PTR, RRCLASS_IN}, other;
    start_reverse();
    struct answer answer = finish(ANSWER_POSITIVE);
    set_prefix("64:ff9b:1::/96"); /* the name is outside the new prefix */
    assert_int_equal(make_reverse(&made, &answer), DNS64_MOVED);
    assert_false(dns64_question(&options, DNS64_REVERSE, &asked, &other, next));
    /* under this prefix, the name is that of a different IPv4 address */
    set_prefix("64:ff9b::/64");
    assert_int_equal(make_reverse(&made, &answer), DNS64_MOVED);
}

static void test_a_reverse_answer_may_be_too_large(void **state)
{
    (void)state;
    struct answer made;
    start_reverse();
    for (unsigned i = 1; i < COMPOSE_RECORDS_MAX; i++)
        compose_rr(&compose, question.name, RRTYPE_PTR, 300, span_of("\1a", 3));
    struct answer answer = finish(ANSWER_POSITIVE);
    assert_int_equal(make_reverse(&made, &answer), DNS64_TOO_LARGE);
}

static void test_the_alias_of_a_reverse_name_comes_first(void **state)
{
    (void)state;
    struct answer made;
    struct message message;
    start_reverse();
    struct answer answer = finish(ANSWER_POSITIVE);
    assert_int_equal(make_reverse(&made, &answer), DNS64_MADE);
    assert_int_equal(message_parse(&message, made.message), MESSAGE_OK);
    assert_int_equal(message.counts[SECTION_ANSWER], 2);
    assert_int_equal(record(&message, 0).type, RRTYPE_CNAME);
    assert_int_equal(record(&message, 1).type, RRTYPE_PTR);
}

static void test_the_well_known_name_shows_the_prefix(void **state)
{
    (void)state;
    struct answer made;
    struct message message;
    start("ipv4only.arpa", RRTYPE_AAAA, 0);
    dns64_known(&options, &made, &other_space, &question, 0);
    assert_int_equal(message_parse(&message, made.message), MESSAGE_OK);
    assert_int_equal(message.counts[SECTION_ANSWER], 2);
    static const uint8_t expected[] = {0, 0x64, 0xff, 0x9b, [12] = 192, 0, 0, 171};
    struct rr rr = record(&message, 1);
    assert_memory_equal(message_rdata(&message, &rr).data, expected, 16);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_addresses_are_those_of_the_rfc),
        TEST(test_other_prefixes_are_unsound),
        TEST(test_questions_for_addresses_are_concerned),
        TEST(test_only_its_clients_are_concerned),
        TEST(test_reverse_names_lead_to_ipv4),
        TEST(test_other_reverse_names_are_ordinary),
        TEST(test_true_addresses_stay),
        TEST(test_no_data_leads_to_ipv4_for_the_ttl_of_the_denial),
        TEST(test_failures_lead_to_ipv4_unless_they_are_bogus),
        TEST(test_local_data_stays),
        TEST(test_excluded_addresses_are_left_out),
        TEST(test_only_excluded_addresses_lead_to_ipv4),
        TEST(test_names_without_working_ipv6_lead_to_ipv4),
        TEST(test_aliases_and_all_addresses_are_made),
        TEST(test_short_addresses_have_the_shorter_ttl),
        TEST(test_a_name_without_addresses_gets_none),
        TEST(test_malformed_addresses_are_skipped),
        TEST(test_addresses_may_be_too_large),
        TEST(test_a_reverse_name_follows_its_prefix),
        TEST(test_a_reverse_answer_may_be_too_large),
        TEST(test_the_alias_of_a_reverse_name_comes_first),
        TEST(test_the_well_known_name_shows_the_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
