/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/recursion.h"

#include "base/prefix.h"
#include "recurse/lame.h"

/* Recursion above servers written as a table; "1:com. A" in the log is a question to server 1. */
enum { DEAD = 0x10000 };

struct served {
    unsigned server;
    const char *name; /* this name and all names below */
    uint16_t type;    /* 0: any type */
    unsigned flags;   /* flags and rcode, or DEAD */
    struct sections sections;
};

#define SOA_OF(zone) zone " 900 SOA ns." zone " x. 1 2 3 4 60"

/* The first matching row answers. */
static const struct served internet[] = {
    {102,
     "example.com",
     0,
     0,
     {.authority = {"example.com. 600 NS new.example.com."},
      .additional = {"new.example.com. 600 A 192.0.0.7"}}},
    {2, "nsalias.com", 0, 0, {.authority = {"nsalias.com. 600 NS alias.host.net."}}},
    {4,
     "a.odd.example.com",
     0,
     HEADER_AA | RCODE_NXDOMAIN,
     {.authority = {SOA_OF("odd.example.com.")}}},
    {4, "b.odd.example.com", 0, HEADER_AA, {.answer = {"b.odd.example.com. 300 A 192.0.2.91"}}},
    {4, "odd.example.com", 0, HEADER_AA | RCODE_NXDOMAIN, {.authority = {SOA_OF("example.com.")}}},
    {4,
     "d.example.com",
     0,
     HEADER_AA,
     {.answer = {"d.example.com. 300 DNAME host.net.",
                 "dns.d.example.com. 300 CNAME dns.host.net."}}},
    {5,
     "alias.host.net",
     RRTYPE_A,
     HEADER_AA,
     {.answer = {"alias.host.net. 300 CNAME dns.host.net.", "dns.host.net. 300 A 192.0.0.6"}}},
    {6, "www.nsalias.com", RRTYPE_A, HEADER_AA, {.answer = {"www.nsalias.com. 300 A 192.0.2.92"}}},
    {1,
     ".",
     RRTYPE_NS,
     HEADER_AA,
     {.answer = {". 900 NS a.root."}, .additional = {"a.root. 900 A 192.0.0.1"}}},
    {1,
     "com",
     0,
     0,
     {.authority = {"com. 900 NS a.com."}, .additional = {"a.com. 900 A 192.0.0.2"}}},
    {1,
     "net",
     0,
     0,
     {.authority = {"net. 900 NS a.net."}, .additional = {"a.net. 900 A 192.0.0.3"}}},
    {1, ".", 0, HEADER_AA | RCODE_NXDOMAIN, {.authority = {". 900 SOA a.root. x. 1 2 3 4 60"}}},

    {2,
     "example.com",
     0,
     0,
     {.authority = {"example.com. 600 NS ns.example.com."},
      .additional = {"ns.example.com. 600 A 192.0.0.4", "ns.example.com. 600 AAAA 2001:db8::4"}}},
    {2, "glueless.com", 0, 0, {.authority = {"glueless.com. 600 NS dns.host.net."}}},
    {2, "itself.com", 0, 0, {.authority = {"itself.com. 600 NS ns.itself.com."}}},
    {2, "tsuname.com", 0, 0, {.authority = {"tsuname.com. 600 NS ns.tsuname.net."}}},
    {2,
     "moved.com",
     0,
     0,
     {.authority = {"moved.com. 600 NS ns.moved.com."},
      .additional = {"ns.moved.com. 600 A 192.0.0.4"}}},
    {2,
     "lame.com",
     0,
     0,
     {.authority = {"lame.com. 600 NS a.lame.com.", "lame.com. 600 NS b.lame.com."},
      .additional = {"a.lame.com. 600 A 192.0.0.8", "b.lame.com. 600 A 192.0.0.4"}}},
    {2,
     "refuse.com",
     0,
     0,
     {.authority = {"refuse.com. 600 NS a.refuse.com.", "refuse.com. 600 NS b.refuse.com.",
                    "refuse.com. 600 NS c.refuse.com."},
      .additional = {"a.refuse.com. 600 A 192.0.0.11", "b.refuse.com. 600 A 192.0.0.12",
                     "c.refuse.com. 600 A 192.0.0.4"}}},
    {2,
     "dead.com",
     0,
     0,
     {.authority = {"dead.com. 600 NS ns.dead.com."},
      .additional = {"ns.dead.com. 600 A 192.0.0.9"}}},
    {2,
     "alone6.com",
     0,
     0,
     {.authority = {"alone6.com. 600 NS ns.alone6.com."},
      .additional = {"ns.alone6.com. 600 AAAA 2001:db8::9"}}},
    {2,
     "victim.com",
     0,
     0,
     {.authority = {"victim.com. 600 NS a.no.net.", "victim.com. 600 NS b.no.net.",
                    "victim.com. 600 NS c.no.net.", "victim.com. 600 NS d.no.net.",
                    "victim.com. 600 NS e.no.net.", "victim.com. 600 NS f.no.net.",
                    "victim.com. 600 NS g.no.net.", "victim.com. 600 NS h.no.net.",
                    "victim.com. 600 NS i.no.net."}}},

    {3,
     "host.net",
     0,
     0,
     {.authority = {"host.net. 600 NS ns.host.net."},
      .additional = {"ns.host.net. 600 A 192.0.0.5"}}},
    {3, "tsuname.net", 0, 0, {.authority = {"tsuname.net. 600 NS ns.tsuname.com."}}},
    {3, "net", 0, HEADER_AA | RCODE_NXDOMAIN, {.authority = {SOA_OF("net.")}}},

    {4, "www.example.com", RRTYPE_A, HEADER_AA, {.answer = {"www.example.com. 300 A 192.0.2.80"}}},
    {4, "a.b.example.com", RRTYPE_A, HEADER_AA, {.answer = {"a.b.example.com. 300 A 192.0.2.81"}}},
    {4, "b.example.com", 0, HEADER_AA, {.authority = {SOA_OF("example.com.")}}},
    {4,
     "alias.example.com",
     0,
     HEADER_AA,
     {.answer = {"alias.example.com. 300 CNAME www.glueless.com.",
                 "www.glueless.com. 300 A 6.6.6.6"}}},
    {4,
     "round.example.com",
     0,
     HEADER_AA,
     {.answer = {"round.example.com. 300 CNAME round.host.net."}}},
    {4,
     "child.example.com",
     RRTYPE_A,
     HEADER_AA,
     {.answer = {"child.example.com. 300 A 192.0.2.82"},
      .authority = {"example.com. 9000 NS new.example.com."},
      .additional = {"new.example.com. 9000 A 192.0.0.7"}}},
    {4,
     "bare.example.com",
     RRTYPE_A,
     HEADER_AA,
     {.answer = {"bare.example.com. 300 A 192.0.2.88"},
      .authority = {"example.com. 300 NS ns.example.com.",
                    "example.com. 300 NS more.example.com."}}},
    {4,
     "bad.example.com",
     RRTYPE_A,
     HEADER_AA,
     {.answer = {"bad.example.com. 300 A 192.0.2.89"},
      .authority = {"example.com. 300 NS new.example.com."}}},
    {4, "www.lame.com", 0, HEADER_AA, {.answer = {"www.lame.com. 300 A 192.0.2.84"}}},
    {4, "lame.com", 0, HEADER_AA, {.authority = {SOA_OF("lame.com.")}}},
    {4, "refuse.com", 0, HEADER_AA, {.authority = {SOA_OF("refuse.com.")}}},
    {12, ".", 0, RCODE_SERVFAIL, {.answer = {NULL}}},
    {4, "moved.com", 0, HEADER_AA, {.answer = {"moved.com. 300 A 192.0.2.85"}}},
    {4, "example.com", 0, HEADER_AA | RCODE_NXDOMAIN, {.authority = {SOA_OF("example.com.")}}},

    {5, "dns.host.net", RRTYPE_A, HEADER_AA, {.answer = {"dns.host.net. 300 A 192.0.0.6"}}},
    {5,
     "round.host.net",
     0,
     HEADER_AA,
     {.answer = {"round.host.net. 300 CNAME round.example.com."}}},
    {5, "host.net", 0, HEADER_AA, {.authority = {SOA_OF("host.net.")}}},

    {6,
     "www.glueless.com",
     RRTYPE_A,
     HEADER_AA,
     {.answer = {"www.glueless.com. 300 A 192.0.2.83"}}},
    {1001,
     "www.corp.com",
     RRTYPE_A,
     HEADER_AA,
     {.answer = {"www.corp.com. 300 A 192.0.2.86"},
      .authority = {"corp.com. 900 NS dead.corp.com."},
      .additional = {"dead.corp.com. 900 A 192.0.0.9"}}},
    {1001,
     "sub.corp.com",
     0,
     0,
     {.authority = {"sub.corp.com. 900 NS ns.sub.corp.com."},
      .additional = {"ns.sub.corp.com. 900 A 192.0.0.7"}}},
    {1001, "corp.com", 0, HEADER_AA, {.authority = {SOA_OF("corp.com.")}}},
    {7,
     "www.sub.corp.com",
     RRTYPE_A,
     HEADER_AA,
     {.answer = {"www.sub.corp.com. 300 A 192.0.2.87"}}},
    {7, "www.example.com", RRTYPE_A, HEADER_AA, {.answer = {"www.example.com. 300 A 192.0.2.90"}}},
    {8, ".", 0, 0, {.authority = {". 900 NS a.root."}}},
    {9, ".", 0, DEAD, {.answer = {NULL}}},
};

static unsigned dead;   /* the server that has stopped answering; 0: none */
static unsigned mended; /* a server that answers like server 4; 0: none */
static bool moved;      /* com has moved to new servers, like server 102 */

static const struct served *find_served(uintptr_t server, const struct question *question)
{
    for (size_t i = 0; i < ARRAY_LEN(internet); i++)
        if (internet[i].server == server && name_is_below(question->name, NAME(internet[i].name)) &&
            (!internet[i].type || internet[i].type == question->type))
            return &internet[i];
    return NULL;
}

static bool respond(struct response_text *to, unsigned server, const struct question *question)
{
    static const struct sections none;
    if (server == dead)
        return false;
    if (server == mended)
        server = 4;
    const struct served *served = find_served(moved && server == 2 ? 102 : server, question);
    if (served && served->flags == DEAD)
        return false;
    response_make(to, served ? (uint16_t)served->flags : RCODE_REFUSED, question,
                  served ? &served->sections : &none);
    return true;
}

/* ---- down ---- */

static void test_a_descent_of_three_levels_is_remembered(void **state)
{
    (void)state;
    assert_string_equal(resolve("www.example.com"), "an www.example.com. 300 A 192.0.2.80\n");
    assert_string_equal(questions, "1:com. A, 2:example.com. A, 4:www.example.com. A");
    assert_string_equal(resolve("a.b.example.com"), "an a.b.example.com. 300 A 192.0.2.81\n");
    assert_string_equal(questions, "4:b.example.com. A, 4:a.b.example.com. A");
    resolve("www.example.com");
    assert_string_equal(questions, "");
}

/* The zone of the first query stays known while it is not a cut. */
static void test_a_name_known_to_be_no_cut_is_not_asked_for_again(void **state)
{
    (void)state;
    resolve("a.b.example.com");
    assert_string_equal(questions, "1:com. A, 2:example.com. A, 4:b.example.com. A, "
                                   "4:a.b.example.com. A");
    resolve("x.b.example.com");
    assert_string_equal(questions, "4:x.b.example.com. A");
    fake_loop_advance(loop, 601 * US_PER_S);
    resolve("c.b.example.com");
    assert_string_equal(questions, "2:example.com. A, 4:b.example.com. A, 4:c.b.example.com. A");
}

static void test_the_root_is_primed_once(void **state)
{
    (void)state;
    world.rules.priming = true;
    resolve("www.example.com");
    assert_string_equal(questions, "1:. NS, 1:com. A, 2:example.com. A, 4:www.example.com. A");
    resolve("www.host.net");
    assert_string_equal(questions, "1:net. A, 3:host.net. A, 5:www.host.net. A");
}

static void test_missing_addresses_are_looked_up(void **state)
{
    (void)state;
    assert_string_equal(resolve("www.glueless.com"), "an www.glueless.com. 300 A 192.0.2.83\n");
    assert_string_equal(questions, "1:com. A, 2:glueless.com. A, 1:net. A, 3:host.net. A, "
                                   "5:dns.host.net. A, 6:www.glueless.com. A");
}

static void test_the_targets_zone_resolves_an_alias_out_of_the_zone(void **state)
{
    (void)state;
    assert_string_equal(resolve("alias.example.com"),
                        "an alias.example.com. 300 CNAME www.glueless.com.\n"
                        "an www.glueless.com. 300 A 192.0.2.83\n");
}

static void test_a_cut_ends_and_the_parent_is_asked_again(void **state)
{
    (void)state;
    resolve("www.example.com");
    fake_loop_advance(loop, 599 * US_PER_S);
    resolve("www.example.com");
    assert_string_equal(questions, "4:www.example.com. A");
    fake_loop_advance(loop, 302 * US_PER_S);
    resolve("www.example.com");
    assert_string_equal(questions, "1:com. A, 2:example.com. A, 4:www.example.com. A");
}

/* Ghost domains: the child's TTL is nine thousand seconds, and the parent's six hundred. */
static void test_the_childs_servers_are_preferred_as_long_as_the_parent_allows(void **state)
{
    (void)state;
    resolve("child.example.com");
    assert_string_equal(resolve("www.example.com"), "an www.example.com. 300 A 192.0.2.90\n");
    assert_string_equal(questions, "7:www.example.com. A");
    fake_loop_advance(loop, 601 * US_PER_S);
    resolve("www.example.com");
    assert_string_equal(questions, "2:example.com. A, 4:www.example.com. A");
}

static void test_servers_that_name_themselves_without_addresses_stay_reachable(void **state)
{
    (void)state;
    resolve("bare.example.com");
    resolve("www.example.com");
    assert_string_equal(questions, "4:www.example.com. A");
    resolve("bad.example.com");
    assert_string_equal(resolve("a.b.example.com"), "an a.b.example.com. 300 A 192.0.2.81\n");
    assert_string_equal(questions, "4:b.example.com. A, 4:a.b.example.com. A");
}

static void test_the_parent_of_a_moved_zone_names_its_new_servers(void **state)
{
    (void)state;
    resolve("www.example.com");
    fake_loop_advance(loop, 301 * US_PER_S);
    dead = 4;
    moved = true;
    assert_string_equal(resolve("www.example.com"), "an www.example.com. 300 A 192.0.2.90\n");
    assert_string_equal(questions, "4:www.example.com. A, 2:example.com. A, 7:www.example.com. A");
}

static void test_the_parent_of_a_dead_zone_is_asked_once(void **state)
{
    (void)state;
    resolve("www.example.com");
    dead = 4;
    resolve("ftp.example.com");
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_string_equal(questions, "4:ftp.example.com. A, 2:example.com. A");
}

static void test_a_dname_leads_to_another_zone(void **state)
{
    (void)state;
    assert_string_equal(resolve("dns.d.example.com"), "an d.example.com. 300 DNAME host.net.\n"
                                                      "an dns.d.example.com. 300 CNAME "
                                                      "dns.host.net.\n"
                                                      "an dns.host.net. 300 A 192.0.0.6\n");
}

static void test_a_name_server_that_is_an_alias_is_found(void **state)
{
    (void)state;
    assert_string_equal(resolve("www.nsalias.com"), "an www.nsalias.com. 300 A 192.0.2.92\n");
}

/* ---- stub zones ---- */

static void test_a_stub_zones_configured_servers_are_asked_whatever_they_say(void **state)
{
    (void)state;
    assert_string_equal(resolve("www.corp.com"), "an www.corp.com. 300 A 192.0.2.86\n");
    assert_string_equal(questions, "1001:www.corp.com. A");
    resolve("ftp.corp.com");
    assert_string_equal(questions, "1001:ftp.corp.com. A");
}

static void test_referrals_of_a_stub_zone_are_followed(void **state)
{
    (void)state;
    assert_string_equal(resolve("www.sub.corp.com"), "an www.sub.corp.com. 300 A 192.0.2.87\n");
    assert_string_equal(questions, "1001:sub.corp.com. A, 7:www.sub.corp.com. A");
}

static void test_without_recursion_a_stub_zone_has_only_its_own_servers(void **state)
{
    (void)state;
    tasks.world = NULL;
    assert_string_equal(resolve("www.corp.com"), "an www.corp.com. 300 A 192.0.2.86\n");
    resolve("www.sub.corp.com");
    assert_int_equal(rcode, RCODE_SERVFAIL);
}

/* ---- absence ---- */

static void test_no_name_below_an_absent_name_is_asked_for(void **state)
{
    (void)state;
    resolve("a.no.example.com");
    assert_int_equal(rcode, RCODE_NXDOMAIN);
    assert_string_equal(questions, "1:com. A, 2:example.com. A, 4:no.example.com. A, "
                                   "4:a.no.example.com. A");
    assert_string_equal(resolve("x.y.no.example.com"), "ns example.com. 60 SOA ns.example.com.\n");
    assert_int_equal(rcode, RCODE_NXDOMAIN);
    assert_string_equal(questions, "");
    resolve_with("z.no.example.com", RRTYPE_A, CACHE_KEY_DO); /* a client that wants proofs */
    assert_string_equal(questions, "4:no.example.com. A, 4:z.no.example.com. A");
    fake_loop_advance(loop, 61 * US_PER_S);
    resolve("x.no.example.com");
    assert_string_equal(questions, "4:no.example.com. A, 4:x.no.example.com. A");
}

static void test_a_zone_that_shows_itself_is_not_absent(void **state)
{
    (void)state;
    resolve("a.odd.example.com");
    assert_int_equal(rcode, RCODE_NXDOMAIN);
    assert_string_equal(resolve("b.odd.example.com"), "an b.odd.example.com. 300 A 192.0.2.91\n");
}

static void test_the_descent_passes_an_empty_non_terminal(void **state)
{
    (void)state;
    assert_string_equal(resolve("b.example.com"), "ns example.com. 60 SOA ns.example.com.\n");
    assert_int_equal(rcode, RCODE_NOERROR);
    assert_string_equal(resolve("a.b.example.com"), "an a.b.example.com. 300 A 192.0.2.81\n");
}

/* ---- servers that fail ---- */

static void test_a_lame_server_is_passed_over(void **state)
{
    (void)state;
    assert_string_equal(resolve("www.lame.com"), "an www.lame.com. 300 A 192.0.2.84\n");
    assert_string_equal(questions, "1:com. A, 2:lame.com. A, 8:www.lame.com. A, 4:www.lame.com. A");
}

static void fails(const char *name, uint16_t first, uint16_t second)
{
    resolve(name);
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_int_equal(ede_count, second == EDE_NONE ? 1 : 2);
    assert_int_equal(ede[0], first);
    if (second != EDE_NONE)
        assert_int_equal(ede[1], second);
}

static void test_a_lame_server_is_asked_last_for_its_zone_until_that_is_forgotten(void **state)
{
    (void)state;
    resolve("www.lame.com");
    assert_string_equal(questions, "1:com. A, 2:lame.com. A, 8:www.lame.com. A, 4:www.lame.com. A");
    resolve("a.lame.com");
    assert_string_equal(questions, "4:a.lame.com. A");
    fake_loop_advance(loop, LAME_US);
    resolve("b.lame.com");
    assert_string_equal(questions, "2:lame.com. A, 8:b.lame.com. A, 4:b.lame.com. A");
}

static void test_a_lame_server_that_answers_for_the_zone_is_lame_no_longer(void **state)
{
    (void)state;
    resolve("www.lame.com");
    dead = 4;
    mended = 8;
    resolve("c.lame.com");
    assert_string_equal(questions, "4:c.lame.com. A, 8:c.lame.com. A");
    resolve("d.lame.com");
    assert_string_equal(questions, "8:d.lame.com. A");
}

static void test_servers_that_refuse_are_lame_and_those_that_fail_are_not(void **state)
{
    (void)state;
    resolve("www.refuse.com");
    assert_string_equal(questions, "1:com. A, 2:refuse.com. A, 11:www.refuse.com. A, "
                                   "12:www.refuse.com. A, 4:www.refuse.com. A");
    resolve("a.refuse.com");
    assert_string_equal(questions, "12:a.refuse.com. A, 4:a.refuse.com. A");
}

static void test_a_dead_zone_fails_with_its_reasons(void **state)
{
    (void)state;
    fails("www.dead.com", EDE_NO_REACHABLE_AUTHORITY, EDE_NETWORK_ERROR);
    assert_string_equal(questions, "1:com. A, 2:dead.com. A, 9:www.dead.com. A");
    /* the parent gets a query again */
    fails("ftp.dead.com", EDE_NO_REACHABLE_AUTHORITY, EDE_NETWORK_ERROR);
    assert_string_equal(questions, "9:ftp.dead.com. A, 2:dead.com. A");
}

static void test_servers_without_a_route_are_not_asked(void **state)
{
    (void)state;
    world.rules.ipv6 = true;
    lacking = AF_INET6;
    resolve("www.example.com"); /* the zone's server has both versions */
    assert_string_equal(questions, "1:com. A, 2:example.com. A, 4:www.example.com. A");
    resolve("www.glueless.com");
    assert_string_equal(questions, "2:glueless.com. A, 1:net. A, 3:host.net. A, "
                                   "5:dns.host.net. A, 6:www.glueless.com. A");
    resolve("www.alone6.com"); /* the zone has no other server */
    assert_string_equal(questions, "2:alone6.com. A, 609:www.alone6.com. A");
}

/* The operator's hints may name private servers; a public zone's may not. */
static void test_public_zones_servers_are_not_asked_at_private_addresses(void **state)
{
    (void)state;
    struct prefix prefix;
    struct prefix_set *inside = prefix_set_new();
    assert_int_equal(prefix_parse(&prefix, "192.0.0.8/32"), ERR_OK);
    assert_int_equal(prefix_set_add(inside, &prefix, 0), ERR_OK);
    assert_int_equal(prefix_parse(&prefix, "192.0.0.1/32"), ERR_OK);
    assert_int_equal(prefix_set_add(inside, &prefix, 0), ERR_OK);
    assert_int_equal(prefix_set_freeze(inside), ERR_OK);
    tasks.recursion.private.prefixes = inside;
    resolve("www.lame.com");
    assert_string_equal(questions, "1:com. A, 2:lame.com. A, 4:www.lame.com. A");
    tasks.recursion.private.prefixes = NULL;
    prefix_set_free(inside);
}

static void test_a_zone_without_a_permitted_address_fails(void **state)
{
    (void)state;
    fails("www.alone6.com", EDE_NO_REACHABLE_AUTHORITY, EDE_NONE);
    assert_int_equal(told, ERR_NOT_TO_ASK);
}

/* ---- attacks ---- */

/* Water torture: many queries for one zone must leave tasks for others. */
static void test_one_zone_does_not_take_all_tasks(void **state)
{
    (void)state;
    struct waiter waiters[MAX_TASKS];
    unsigned failed = 0;
    resolve("www.example.com");
    resolve("www.host.net");
    answers = 0;
    asked_count = answered_count = 0;
    for (unsigned i = 0; i < MAX_TASKS / 2; i++) {
        char name[32];
        struct cache_key key;
        snprintf(name, sizeof(name), "r%u.example.com", i);
        cache_key_init(&key, cache, &(struct question){NAME(name), RRTYPE_A, RRCLASS_IN}, 0,
                       CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
        waiters[i] = (struct waiter){.on_answer = on_client_answer};
        list_init(&waiters[i].node);
        assert_int_equal(task_join(&tasks, &tasks.shared, &key, &waiters[i], NULL),
                         RESOLVER_WAITING);
    }
    assert_int_equal(asked_count, MAX_TASKS / TASK_ZONE_SHARE);
    fake_loop_advance(loop, 2 * US_PER_MS);
    failed = answers;
    assert_int_equal(failed, MAX_TASKS / 2 - MAX_TASKS / TASK_ZONE_SHARE);
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_int_equal(ede[0], EDE_OTHER);
    run();
    assert_int_equal(answers, MAX_TASKS / 2);
    resolve("ftp.example.com");
    assert_int_equal(rcode, RCODE_NXDOMAIN);
}

static void test_a_zone_inside_itself_fails_after_one_more_question(void **state)
{
    (void)state;
    fails("www.itself.com", EDE_NO_REACHABLE_AUTHORITY, EDE_NONE);
    assert_string_equal(questions, "1:com. A, 2:itself.com. A, 2:ns.itself.com. A");
}

/* TsuNAME: two zones, each with its server in the other one. */
static void test_zones_that_depend_on_each_other_fail(void **state)
{
    (void)state;
    fails("www.tsuname.com", EDE_NO_REACHABLE_AUTHORITY, EDE_NONE);
    assert_string_equal(questions, "1:com. A, 2:tsuname.com. A, 1:net. A, 3:tsuname.net. A");
}

static void test_an_alias_loop_through_zones_fails(void **state)
{
    (void)state;
    fails("round.example.com", EDE_INVALID_DATA, EDE_NONE);
}

static void test_an_nxns_attack_costs_its_victim_few_questions(void **state)
{
    (void)state;
    unsigned count = 0;
    fails("www.victim.com", EDE_NO_REACHABLE_AUTHORITY, EDE_NONE);
    for (const char *at = questions; (at = strstr(at, "3:")); at++)
        count++;
    assert_in_range(count, 1, 2 * 6);
    assert_int_equal(stats.recursion_resolutions, 1);
    assert_in_range(stats.recursion_queries, count, BUDGET_QUERIES_MAX);
    assert_in_range(stats.recursion_lookups, 1, BUDGET_LOOKUPS_MAX);
}

static int set_up_table(void **state)
{
    dead = mended = 0;
    moved = false;
    return set_up(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_descent_of_three_levels_is_remembered, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_name_known_to_be_no_cut_is_not_asked_for_again,
                                        set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(test_the_root_is_primed_once, set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_addresses_are_looked_up, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_the_targets_zone_resolves_an_alias_out_of_the_zone,
                                        set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(test_a_cut_ends_and_the_parent_is_asked_again, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_the_childs_servers_are_preferred_as_long_as_the_parent_allows, set_up_table,
            tear_down),
        cmocka_unit_test_setup_teardown(
            test_servers_that_name_themselves_without_addresses_stay_reachable, set_up_table,
            tear_down),
        cmocka_unit_test_setup_teardown(test_the_parent_of_a_moved_zone_names_its_new_servers,
                                        set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(test_the_parent_of_a_dead_zone_is_asked_once, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_dname_leads_to_another_zone, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_name_server_that_is_an_alias_is_found, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_stub_zones_configured_servers_are_asked_whatever_they_say, set_up_table,
            tear_down),
        cmocka_unit_test_setup_teardown(test_referrals_of_a_stub_zone_are_followed, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_without_recursion_a_stub_zone_has_only_its_own_servers,
                                        set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(test_no_name_below_an_absent_name_is_asked_for,
                                        set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(test_a_zone_that_shows_itself_is_not_absent, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_the_descent_passes_an_empty_non_terminal, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_lame_server_is_passed_over, set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_lame_server_is_asked_last_for_its_zone_until_that_is_forgotten, set_up_table,
            tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_lame_server_that_answers_for_the_zone_is_lame_no_longer, set_up_table,
            tear_down),
        cmocka_unit_test_setup_teardown(
            test_servers_that_refuse_are_lame_and_those_that_fail_are_not, set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(test_a_dead_zone_fails_with_its_reasons, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_public_zones_servers_are_not_asked_at_private_addresses, set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(test_servers_without_a_route_are_not_asked, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_zone_without_a_permitted_address_fails, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_one_zone_does_not_take_all_tasks, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_zone_inside_itself_fails_after_one_more_question,
                                        set_up_table, tear_down),
        cmocka_unit_test_setup_teardown(test_zones_that_depend_on_each_other_fail, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_an_alias_loop_through_zones_fails, set_up_table,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_an_nxns_attack_costs_its_victim_few_questions,
                                        set_up_table, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
