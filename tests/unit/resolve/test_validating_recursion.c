/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Validated recursion above servers written as a table, with validations by a script. */
#include "unit/resolve/recursion.h"
#include "unit/resolve/double_validation.h"

#include "resolve/task_validate.h"

static struct served {
    unsigned server;
    const char *name; /* this name and all names below */
    uint16_t type;    /* 0: any type */
    struct sections sections;
} const internet[] = {
    {1, "com", 0, {.authority = {"com. 900 NS a.com."}, .additional = {"a.com. 900 A 192.0.0.2"}}},
    {1, "net", 0, {.authority = {"net. 900 NS a.net."}, .additional = {"a.net. 900 A 192.0.0.3"}}},
    {1,
     "example",
     0,
     {.authority = {"example. 900 NS a.example."}, .additional = {"a.example. 900 A 192.0.0.7"}}},
    {2,
     "example.com",
     0,
     {.authority = {"example.com. 600 NS ns.example.com.", "example.com. 600 NS ns2.example.com."},
      .additional = {"ns.example.com. 600 A 192.0.0.4", "ns2.example.com. 600 A 192.0.0.6"}}},
    {2, "glueless.com", 0, {.authority = {"glueless.com. 600 NS ns.net."}}},
    {2,
     "half.com",
     0,
     {.authority = {"half.com. 600 NS ns.half.com.", "half.com. 600 NS ns.net."},
      .additional = {"ns.half.com. 600 A 192.0.0.4"}}},
    {4, "www.half.com", RRTYPE_A, {.answer = {"www.half.com. 300 A 192.0.2.66"}}},
    {5, "www.half.com", RRTYPE_A, {.answer = {"www.half.com. 300 A 192.0.2.66"}}},
    {3, "ns.net", RRTYPE_A, {.answer = {"ns.net. 300 A 192.0.0.5"}}},
    {4, "www.example.com", RRTYPE_A, {.answer = {"www.example.com. 300 A 192.0.2.66"}}},
    {6, "www.example.com", RRTYPE_A, {.answer = {"www.example.com. 300 A 192.0.2.66"}}},
    {5, "www.glueless.com", RRTYPE_A, {.answer = {"www.glueless.com. 300 A 192.0.2.1"}}},
    {7, "a.b.example", RRTYPE_DS, {.answer = {"a.b.example. 300 DS 1 13 2 AA"}}},
    {7, "b.example", RRTYPE_A, {.answer = {"b.example. 300 CNAME www.example.com."}}},
    {7, "example", RRTYPE_DNSKEY, {.answer = {"example. 300 DNSKEY 257 3 13 AAAA"}}},
};

static unsigned second_server; /* has the good answer about www.example.com; 0: none */
static bool all_have_do, any_has_cd;

static bool respond(struct response_text *to, unsigned server, const struct question *question)
{
    for (size_t i = 0; i < ARRAY_LEN(internet); i++) {
        const struct served *row = &internet[i];
        if (row->server != server || (row->type && row->type != question->type) ||
            !name_is_below(question->name, NAME(row->name)))
            continue;
        struct sections sections = row->sections;
        if (server == second_server && row->type == RRTYPE_A)
            sections = (struct sections){.answer = {name_is_below(question->name, NAME("half.com"))
                                                        ? "www.half.com. 300 A 192.0.2.1"
                                                        : "www.example.com. 300 A 192.0.2.1"}};
        response_make(to, row->type ? HEADER_AA : 0, question, &sections);
        return true;
    }
    return false;
}

static int set_up_validating(void **state)
{
    int result = set_up(state);
    struct zone *root =
        (struct zone *)(uintptr_t)route_find(tasks.shared.routes, name_root(), RRTYPE_A);
    root->validates = true;
    tasks.shared.mode = VALIDATE_YES;
    tasks.validation = (struct validation_options){.mode = VALIDATE_YES,
                                                   .anchors = (const struct anchors *)&tasks};
    tasks.validator = validator_new();
    answer_script = "s";
    keys_script = "s";
    script_ttl_max_s = UINT32_MAX;
    script_failures = 1;
    verify_is_right = true;
    validations_begun = verifications = 0;
    anchor_kind = ANCHOR_TRUSTED;
    proven_owner = script_signer = script_zone = NULL;
    verify_loop = NULL;
    second_server = 0;
    return result || !tasks.validator;
}

static int tear_down_validating(void **state)
{
    int result = tear_down(state);
    validator_free(tasks.validator);
    tasks.validator = NULL;
    tasks.validation = (struct validation_options){0};
    return result;
}

static void look_at_questions(void)
{
    all_have_do = true;
    any_has_cd = false;
    for (unsigned i = 0; i < asked_count; i++) {
        all_have_do = all_have_do && asked[i]->asked.dnssec_ok;
        any_has_cd = any_has_cd || asked[i]->asked.checking_disabled;
    }
}

static void test_every_query_asks_for_signatures(void **state)
{
    (void)state;
    assert_string_equal(resolve("www.glueless.com"), "an www.glueless.com. 300 A 192.0.2.1\n");
    look_at_questions();
    assert_true(all_have_do);
    assert_false(any_has_cd); /* authoritative servers do not validate */
}

/* A query for keys needs the addresses of servers, so these addresses must not need keys. */
static void test_addresses_of_servers_are_not_validated(void **state)
{
    (void)state;
    resolve("www.glueless.com");
    assert_int_equal(validations_begun, 1);
    assert_string_equal(questions, "1:com. A, 2:glueless.com. A, 1:net. A, 3:ns.net. A, "
                                   "5:www.glueless.com. A");
    struct cache_key key;
    struct answer found;
    struct question question = {NAME("ns.net"), RRTYPE_A, RRCLASS_IN};
    cache_read_begin();
    cache_key_init(&key, cache, &question, 0, CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
    assert_false(cache_find(cache, &key, loop_now(loop), &found));
    cache_key_init(&key, cache, &question, CACHE_KEY_CD, CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
    assert_true(cache_find(cache, &key, loop_now(loop), &found));
    cache_read_end();
}

static void test_a_validated_address_serves_recursion_too(void **state)
{
    (void)state;
    resolve("ns.net");
    resolve("www.glueless.com");
    assert_string_equal(questions, "1:com. A, 2:glueless.com. A, 5:www.glueless.com. A");
}

static void test_keys_come_from_a_descent_of_their_own(void **state)
{
    (void)state;
    answer_script = "ks";
    assert_string_equal(resolve("www.glueless.com"), "an www.glueless.com. 300 A 192.0.2.1\n");
    assert_non_null(strstr(questions, "1:example. DNSKEY, 7:example. DNSKEY"));
    assert_int_equal(validations_begun, 2);
}

/* An alias answers a DS question only if the query had the whole QNAME. */
static void test_an_alias_on_the_way_down_to_ds_records_ends_nothing(void **state)
{
    (void)state;
    script_zone = "a.b.example";
    answer_script = "ds";
    assert_string_equal(resolve("www.glueless.com"), "an www.glueless.com. 300 A 192.0.2.1\n");
    assert_non_null(strstr(questions, "7:b.example. A, 7:a.b.example. DS"));
    assert_int_equal(validations_begun, 2);
}

static void test_another_server_of_the_zone_may_have_a_better_answer(void **state)
{
    (void)state;
    answer_script = "c";
    second_server = 6;
    assert_string_equal(resolve("www.example.com"), "an www.example.com. 300 A 192.0.2.1\n");
    assert_non_null(strstr(questions, "4:www.example.com. A, 6:www.example.com. A"));
    assert_int_equal(stats.bogus_retries_helped, 1);
}

static void test_a_zone_whose_servers_are_all_bogus_fails(void **state)
{
    (void)state;
    answer_script = "c";
    resolve("www.example.com");
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_int_equal(ede[0], EDE_RRSIGS_MISSING);
    assert_int_equal(stats.validations_bogus, 1 + VALIDATE_RETRIES_MAX);
    unsigned count = 0;
    for (const char *at = questions; (at = strstr(at, "www.example.com. A")); at++)
        count++;
    assert_int_equal(count, 1 + VALIDATE_RETRIES_MAX);
}

static void test_after_a_bogus_answer_servers_without_glue_are_looked_up(void **state)
{
    (void)state;
    answer_script = "c";
    second_server = 5;
    assert_string_equal(resolve("www.half.com"), "an www.half.com. 300 A 192.0.2.1\n");
    assert_string_equal(questions, "1:com. A, 2:half.com. A, 4:www.half.com. A, 1:net. A, "
                                   "3:ns.net. A, 5:www.half.com. A");
    assert_int_equal(stats.bogus_retries_helped, 1);
}

/* These look-ups count under the usual bound, and their retries under the bound for bogus answers.
 */
static void test_looked_up_servers_with_bogus_answers_change_nothing(void **state)
{
    (void)state;
    answer_script = "c";
    resolve("www.half.com");
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_int_equal(ede[0], EDE_RRSIGS_MISSING);
    assert_int_equal(stats.validations_bogus, 1 + VALIDATE_RETRIES_MAX);
}

/* The descent stops at a name that its zone calls absent. Names below it stay open, because the
 * proof covers the whole QNAME only. */
static void test_a_secure_denial_is_not_stretched_to_other_names(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct cache_key key;
        struct question question = {NAME("gone.example.com"), RRTYPE_NS, RRCLASS_IN};
        struct compose_space space;
        struct compose compose;
        struct answer absent;
        compose_begin(&compose, &space, &question, RCODE_NXDOMAIN);
        build_section(&compose.build, SECTION_AUTHORITY);
        uint8_t soa[] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 60};
        compose_rr(&compose, NAME("example.com"), RRTYPE_SOA, 60, span_of(soa, sizeof(soa)));
        assert_true(compose_end(&compose, &absent));
        absent.kind = ANSWER_NXDOMAIN;
        absent.security = i ? SECURITY_SECURE : SECURITY_INSECURE;
        absent.stored_at = loop_now(loop);
        cache_key_init(&key, cache, &question, 0, CACHE_VIEW_CUTS, CACHE_SPACE_SHARED);
        assert_true(cache_store(cache, &key, &absent));
        anchor_kind = i ? ANCHOR_TRUSTED : ANCHOR_NEGATIVE;
        resolve(i ? "b.gone.example.com" : "a.gone.example.com");
        /* the servers of that zone are silent */
        assert_int_equal(rcode, i ? RCODE_SERVFAIL : RCODE_NXDOMAIN);
    }
}

#define VALIDATING(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, set_up_validating, tear_down_validating)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VALIDATING(test_every_query_asks_for_signatures),
        VALIDATING(test_addresses_of_servers_are_not_validated),
        VALIDATING(test_a_validated_address_serves_recursion_too),
        VALIDATING(test_keys_come_from_a_descent_of_their_own),
        VALIDATING(test_an_alias_on_the_way_down_to_ds_records_ends_nothing),
        VALIDATING(test_another_server_of_the_zone_may_have_a_better_answer),
        VALIDATING(test_a_zone_whose_servers_are_all_bogus_fails),
        VALIDATING(test_after_a_bogus_answer_servers_without_glue_are_looked_up),
        VALIDATING(test_looked_up_servers_with_bogus_answers_change_nothing),
        VALIDATING(test_a_secure_denial_is_not_stretched_to_other_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
