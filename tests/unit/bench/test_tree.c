/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Servers of a generated hierarchy: a resolver that follows their referrals reaches an answer. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "base/check.h"
#include "base/rand.h"
#include "tree.h"

/* In the order of tree_level, with an even number of servers per level. */
static const char *const addresses[] = {"127.0.0.1", "127.0.0.2", "127.0.1.1", "127.0.1.2",
                                        "127.0.2.1", "127.0.2.2", "127.0.2.3", "127.0.2.4",
                                        "127.0.3.1", "127.0.3.2", "127.0.3.3", "127.0.3.4"};
static const enum tree_level levels[] = {TREE_ROOT, TREE_ROOT, TREE_TLD,  TREE_TLD,
                                         TREE_NEAR, TREE_NEAR, TREE_NEAR, TREE_NEAR,
                                         TREE_FAR,  TREE_FAR,  TREE_FAR,  TREE_FAR};

static struct tree tree;
static struct tree_place places[ARRAY_LEN(addresses)];
static uint8_t out[ANSWER_MAX];
static struct bench_answer answer;

static int init(void **state)
{
    struct addr addr;
    (void)state;
    memset(&tree, 0, sizeof(tree));
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
        if (addr_parse(&addr, addresses[i], 53) || !tree_add(&tree, levels[i], &addr, &places[i]))
            return 1;
    return 0;
}

static void ask(const struct tree_place *place, const char *text, uint16_t type)
{
    struct answer_style style = {.ttl_s = 300, .negative_ttl_s = 60, .place = place};
    struct wire_style wire = {.edns_bytes = 1232};
    uint8_t name[WIRE_NAME_MAX], query[WIRE_QUERY_MAX];
    struct addr client;
    assert_int_equal(addr_parse(&client, "127.0.0.1@1000", 0), ERR_OK);
    size_t len = wire_name_from_text(name, text);
    len = wire_build_query(query, name, len, type, &wire);
    answer = answer_make(&style, span_of(query, len), false, &client, out);
    assert_int_equal(answer.verdict, ANSWER_SEND);
}

static unsigned rcode(void)
{
    return get_u16(out + 2) & 15;
}

static bool is_authoritative(void)
{
    return get_u16(out + 2) & WIRE_AA;
}

static unsigned answers(void)
{
    return get_u16(out + 6);
}

/* Returns the place of the last glue record, which 11 bytes of OPT follow, or NULL. */
static const struct tree_place *last_glue(void)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (memcmp(out + answer.len - 11 - 4, tree.servers[levels[i]][places[i].number], 4) == 0)
            return &places[i];
    return NULL;
}

/* Follows referrals with glue from the root. Returns the number of servers asked. */
static unsigned resolve(const char *name, uint16_t type)
{
    const struct tree_place *place = &places[0];
    unsigned asked = 1;
    for (; asked < 9; asked++) {
        ask(place, name, type);
        if (is_authoritative() || rcode() != RCODE_NOERROR)
            break;
        assert_int_equal(get_u16(out + 8), 2);
        if (get_u16(out + 10) == 1)
            return 0; /* the referral has no glue, because the servers are in another zone */
        place = last_glue();
        assert_non_null(place);
    }
    return asked;
}

static void test_a_name_is_found_from_the_root(void **state)
{
    (void)state;
    assert_int_equal(resolve("www.z1.near", WIRE_TYPE_A), 3);
    assert_int_equal(rcode(), RCODE_NOERROR);
    assert_int_equal(answers(), 1);
}

static void test_more_labels_make_more_cuts_only_below_sub(void **state)
{
    (void)state;
    assert_int_equal(resolve("www.b.a.z1.near", WIRE_TYPE_AAAA), 3);
    assert_int_equal(answers(), 1);
    assert_int_equal(resolve("www.sub1.z1.near", WIRE_TYPE_A), 4);
    assert_int_equal(answers(), 1);
    /* The server of z1 also serves sub2.sub1, and answers directly. */
    assert_int_equal(resolve("www.sub2.sub1.z1.near", WIRE_TYPE_A), 3);
    assert_int_equal(answers(), 1);
}

static void test_some_zones_of_far_have_their_servers_elsewhere(void **state)
{
    char name[32];
    unsigned elsewhere = 0;
    (void)state;
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof(name), "www.z%d.far%d", i, i % 3);
        elsewhere += resolve(name, WIRE_TYPE_A) == 0;
    }
    assert_in_range(elsewhere, 60, 140);
    assert_int_equal(resolve("ns0.dns3.hosts", WIRE_TYPE_A), 3);
    assert_int_equal(answers(), 1);
}

static void test_a_server_has_its_address_in_the_zone_that_glue_has(void **state)
{
    uint8_t glue[4];
    (void)state;
    ask(&places[2], "ns1.z7.near", WIRE_TYPE_A);
    memcpy(glue, out + answer.len - 11 - 4, 4); /* the glue of ns1 is the second record */
    resolve("ns1.z7.near", WIRE_TYPE_A);
    assert_int_equal(answers(), 1);
    assert_memory_equal(out + answer.len - 11 - 4, glue, 4);
}

static void test_the_root_names_its_servers_without_pointers_to_itself(void **state)
{
    (void)state;
    ask(&places[1], ".", WIRE_TYPE_NS);
    assert_true(is_authoritative());
    assert_int_equal(answers(), 2);
    assert_int_equal(out[WIRE_HEADER_BYTES + 5], 0); /* the owner */
    assert_int_equal(get_u16(out + 10), 3);
    ask(&places[1], ".", WIRE_TYPE_TXT);
    assert_int_equal(answers(), 0);
    assert_int_equal(get_u16(out + 8), 1);
}

static void test_a_zone_denies_missing_names(void **state)
{
    (void)state;
    assert_int_equal(resolve("nx1.z1.near", WIRE_TYPE_A), 3);
    assert_int_equal(rcode(), RCODE_NXDOMAIN);
    assert_int_equal(resolve("www.nx1.z1.near", WIRE_TYPE_A), 3);
    assert_int_equal(rcode(), RCODE_NXDOMAIN);
    assert_int_equal(resolve("www.nxtld", WIRE_TYPE_A), 1);
    assert_int_equal(rcode(), RCODE_NXDOMAIN);
    assert_int_equal(resolve("a.z1.near", WIRE_TYPE_A), 3);
    assert_int_equal(rcode(), RCODE_NOERROR);
    assert_int_equal(answers(), 0);
    assert_int_equal(get_u16(out + 8), 1);
}

static void test_an_alias_leads_elsewhere(void **state)
{
    (void)state;
    resolve("al1.z1.near", WIRE_TYPE_A);
    assert_true(is_authoritative());
    assert_int_equal(answers(), 1);
    assert_int_equal(get_u16(out + WIRE_HEADER_BYTES + 13 + 4 + 2), WIRE_TYPE_CNAME);
}

static void test_a_server_refuses_zones_of_others(void **state)
{
    (void)state;
    ask(&places[4], "www.z1.far1", WIRE_TYPE_A); /* a server of near */
    assert_int_equal(rcode(), RCODE_REFUSED);
    /* serves zones with an odd number of labels only */
    ask(&places[5], "www.z1.near", WIRE_TYPE_A);
    assert_int_equal(rcode(), RCODE_REFUSED);
    ask(&places[2], ".", WIRE_TYPE_NS);
    assert_int_equal(rcode(), RCODE_REFUSED);
    assert_false(is_authoritative());
}

static void test_a_tree_names_its_missing_servers(void **state)
{
    struct tree other = {0};
    struct tree_place place;
    struct addr addr, six;
    (void)state;
    assert_null(tree_is_whole(&other));
    assert_null(tree_is_whole(&tree));
    assert_int_equal(addr_parse(&addr, "127.0.0.1", 53), ERR_OK);
    assert_int_equal(addr_parse(&six, "::1", 53), ERR_OK);
    assert_false(tree_add(&other, TREE_ROOT, &six, &place));
    assert_true(tree_add(&other, TREE_ROOT, &addr, &place));
    assert_non_null(tree_is_whole(&other));
    assert_true(tree_add(&other, TREE_TLD, &addr, &place));
    assert_non_null(tree_is_whole(&other));
    for (int i = 1; i < TREE_SERVERS_MAX; i++)
        assert_true(tree_add(&other, TREE_ROOT, &addr, &place));
    assert_false(tree_add(&other, TREE_ROOT, &addr, &place));
}

static void test_any_name_fits(void **state)
{
    uint8_t query[WIRE_QUERY_MAX], name[WIRE_NAME_MAX];
    struct wire_style wire = {.edns_bytes = 4096};
    struct addr client;
    (void)state;
    assert_int_equal(addr_parse(&client, "127.0.0.1@1000", 0), ERR_OK);
    for (int i = 0; i < 20000; i++) {
        size_t len = 0, limit = rand_below(WIRE_NAME_MAX - 1);
        while (len < limit) {
            size_t label = MIN(1 + rand_below(i % 2 ? 3 : 63), limit - len);
            name[len++] = (uint8_t)label;
            for (size_t j = 0; j < label && len < WIRE_NAME_MAX - 1; j++)
                name[len++] = (uint8_t) "nsxw01\0\xff"[rand_below(8)];
            if (len > limit)
                break;
        }
        if (len > WIRE_NAME_MAX - 1)
            continue;
        name[len++] = 0;
        len = wire_build_query(query, name, len, i % 3 ? WIRE_TYPE_NS : WIRE_TYPE_A, &wire);
        struct answer_style style = {.place = &places[rand_below(ARRAY_LEN(places))]};
        answer = answer_make(&style, span_of(query, len), i & 4, &client, out);
        assert_in_range(answer.len, 0, ANSWER_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_name_is_found_from_the_root, init),
        cmocka_unit_test_setup(test_more_labels_make_more_cuts_only_below_sub, init),
        cmocka_unit_test_setup(test_some_zones_of_far_have_their_servers_elsewhere, init),
        cmocka_unit_test_setup(test_a_server_has_its_address_in_the_zone_that_glue_has, init),
        cmocka_unit_test_setup(test_the_root_names_its_servers_without_pointers_to_itself, init),
        cmocka_unit_test_setup(test_a_zone_denies_missing_names, init),
        cmocka_unit_test_setup(test_an_alias_leads_elsewhere, init),
        cmocka_unit_test_setup(test_a_server_refuses_zones_of_others, init),
        cmocka_unit_test_setup(test_a_tree_names_its_missing_servers, init),
        cmocka_unit_test_setup(test_any_name_fits, init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
