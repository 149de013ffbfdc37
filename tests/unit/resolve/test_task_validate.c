/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Tasks whose answers are validated, above exchanges and validations that the test scripts. */
#include "unit/resolve/clients.h"
#include "unit/resolve/double_validation.h"

#include "base/log.h"
#include "resolve/bogus.h"
#include "resolve/held_message.h"
#include "resolve/task_validate.h"
#include "validate/anchor_dates.h"
#include "validate/verify_memo.h"

enum { BAD = 66 };

static const struct route_options *options_of(enum validate_mode mode)
{
    struct route_options *options =
        (struct route_options *)(uintptr_t)ZONES(&zones, ".", "example", "test");
    for (size_t i = 0; i < options->zone_count; i++)
        options->zones[i].validate = true;
    options->validation.mode = mode;
    /* the pointer is never followed */
    options->validation.anchors = (const struct anchors *)&zones;
    return options;
}

static int set_up_mode(enum validate_mode mode)
{
    static const struct cache_options options = {.size_bytes = CACHE_SIZE_MIN,
                                                 .max_ttl_s = 86400,
                                                 .max_negative_ttl_s = 900,
                                                 .failure_ttl_s = 7,
                                                 .serve_stale_s = 86400,
                                                 .stale_answer_timeout_us = PATIENCE_US};
    memset(&stats, 0, sizeof(stats));
    asked_count = 0;
    active_count = 0;
    answer_script = "vs";
    keys_script = "vs";
    script_ttl_max_s = UINT32_MAX;
    script_failures = 1;
    verify_is_right = true;
    validations_begun = verifications = 0;
    is_private_zone = false;
    anchor_kind = ANCHOR_TRUSTED;
    proven_owner = NULL;
    verify_loop = NULL;
    script_signer = script_zone = NULL;
    script_job = 0;
    loop = loop_new();
    cache = cache_new(&options);
    cache_thread_begin();
    resolver = resolver_new(loop, cache, NULL, options_of(mode), MAX_TASKS, &stats);
    return !resolver;
}

static int set_up_yes(void **state)
{
    (void)state;
    return set_up_mode(VALIDATE_YES);
}

static int set_up_log(void **state)
{
    (void)state;
    return set_up_mode(VALIDATE_LOG);
}

static void mode_becomes(enum validate_mode mode)
{
    assert_int_equal(resolver_reload(resolver, options_of(mode), NULL, MAX_TASKS), ERR_OK);
}

#define GOOD_A WWW_A
#define BAD_A                                                                                      \
    (struct sections)                                                                              \
    {                                                                                              \
        .answer = { "www.example. 300 IN A 192.0.2.66" }                                           \
    }
#define KEYS                                                                                       \
    (struct sections)                                                                              \
    {                                                                                              \
        .answer = { "example. 600 IN DNSKEY 257 3 13 AAAA" }                                       \
    }
#define SIGNATURE                                                                                  \
    "www.example. 300 IN RRSIG A 13 2 300 20380101000000 20200101000000 1 example. AAAA"

static void assert_asks(unsigned number, const char *name, uint16_t type)
{
    assert_true(number < asked_count);
    assert_true(name_equal(asked[number]->asked.question.name, NAME(name)));
    assert_int_equal(asked[number]->asked.question.type, type);
}

static void assert_fails(const struct client *client, uint16_t ede)
{
    assert_int_equal(client->answers, 1);
    assert_int_equal(client->rcode, RCODE_SERVFAIL);
    assert_true(client->ede_count > 0);
    assert_int_equal(client->ede[0], ede);
    assert_false(client->ad);
}

/* ---- verdicts ---- */

static void test_an_answer_with_a_verdict_at_once_is_secure(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    client_ask(&client, WWW, 0);
    assert_true(asked[0]->asked.dnssec_ok);
    assert_true(asked[0]->asked.checking_disabled);
    answer(0, 0, GOOD_A);
    assert_int_equal(asked_count, 1);
    assert_string_equal(client.text, WWW_TEXT);
    assert_int_equal(client.security, SECURITY_SECURE);
    assert_true(client.ad);
    assert_int_equal(verifications, 1);
    assert_int_equal(stats.verifications_p384_right, 1);
    assert_int_equal(stats.validations_secure, 1);
    assert_true(find(WWW, &found));
    assert_int_equal(found.security, SECURITY_SECURE);
    assert_int_equal(found.signatures.until_s, SCRIPT_SIGNED_UNTIL_S);
    assert_int_equal(found.signatures.signer_labels, 1);
}

static void test_an_answer_waits_for_the_keys_of_its_zone(void **state)
{
    (void)state;
    struct client client = {0}, late = {0}, next = {0};
    answer_script = "Kkvs";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_int_equal(client.answers, 0);
    assert_asks(1, "example", RRTYPE_DNSKEY);
    assert_true(asked[1]->asked.dnssec_ok);
    client_ask(&late, WWW, 0); /* this client joins the task */
    assert_int_equal(asked_count, 2);
    answer(1, 0, KEYS);
    assert_string_equal(client.text, WWW_TEXT);
    assert_string_equal(late.text, WWW_TEXT);
    assert_true(client.ad && late.ad);
    assert_int_equal(stats.validations_secure, 2);

    client_ask(&next, "mail.example", 0); /* the cache has the keys now */
    answer(2, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.2"}});
    assert_true(next.ad);
    assert_int_equal(asked_count, 3);
}

/* Two answers that wait for one key set, and the key set itself, use the same spaces. */
static void test_answers_that_wait_for_the_same_keys_are_all_delivered(void **state)
{
    (void)state;
    struct client first = {0}, second = {0}, third = {0};
    answer_script = "kvs";
    client_ask(&first, WWW, 0);
    client_ask(&second, "mail.example", CACHE_KEY_DO);
    client_ask(&third, "ftp.example", 0);
    answer(0, 0, GOOD_A);
    answer(1, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.2"}});
    answer(2, 0, (struct sections){.answer = {"ftp.example. 300 IN A 192.0.2.3"}});
    assert_int_equal(asked_count, 4);
    answer(3, 0, KEYS);
    assert_string_equal(first.text, WWW_TEXT);
    assert_string_equal(second.text, "an mail.example. 300 A 192.0.2.2\n");
    assert_string_equal(third.text, "an ftp.example. 300 A 192.0.2.3\n");
    assert_int_equal(resolver_tasks(resolver), 0);
}

static void test_an_insecure_answer_says_why_and_has_no_ad(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "dki";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_asks(1, "example", RRTYPE_DS);
    answer(1, 0, (struct sections){.authority = {". 600 IN SOA . . 1 1 1 1 600"}});
    assert_asks(2, "example", RRTYPE_DNSKEY);
    answer(2, 0, KEYS);
    assert_string_equal(client.text, WWW_TEXT);
    assert_int_equal(client.security, SECURITY_INSECURE);
    assert_false(client.ad);
    assert_int_equal(client.ede[0], EDE_UNSUPPORTED_DNSKEY_ALGORITHM);
}

static void test_names_without_a_trusted_anchor_are_insecure_at_once(void **state)
{
    (void)state;
    struct client client = {0};
    anchor_kind = ANCHOR_NEGATIVE;
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_int_equal(client.security, SECURITY_INSECURE);
    assert_int_equal(client.ede_count, 0);
    assert_int_equal(verifications, 0);
    assert_true(find(WWW, &(struct answer){0}));
}

static void test_a_clock_before_the_build_is_behind(void **state)
{
    (void)state;
    struct client client = {0};
    struct route_options *options = (struct route_options *)(uintptr_t)options_of(VALIDATE_YES);
    options->validation.clock_min_s = FAKE_LOOP_WALL_S + 1;
    assert_int_equal(resolver_reload(resolver, options, NULL, MAX_TASKS), ERR_OK);
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_true(clock_was_behind);
    fake_loop_advance(loop, SECOND);
    client_ask(&client, "mail.example", 0);
    answer(1, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.2"}});
    assert_false(clock_was_behind);
}

static char last_line[512];

static void keep_line(enum log_level level, const char *line)
{
    (void)level;
    snprintf(last_line, sizeof(last_line), "%s", line);
}

/* Queries a name and gives a bogus answer to each retry. Queries for keys wait. */
static void ask_bogus(const char *name)
{
    struct client client = {0};
    char record[64];
    snprintf(record, sizeof(record), "%s. 300 IN A 192.0.2.2", name);
    unsigned first = asked_count;
    client_ask(&client, name, 0);
    for (unsigned i = first; i < asked_count; i++)
        if (asked[i]->asked.question.type == RRTYPE_A)
            answer(i, 0, (struct sections){.answer = {record}});
    assert_int_equal(client.answers, 1);
}

/* The log has the reason of a failure. A client with that question waits for all retries. */
static void expect_clock_suspect(const char *script, const char *name, bool is_suspect)
{
    log_set_sink(keep_line);
    last_line[0] = '\0';
    answer_script = script;
    ask_bogus(name);
    log_set_sink(NULL);
    assert_non_null(strstr(last_line, "is bogus: "));
    assert_int_equal(strstr(last_line, "is the clock of this machine right?") != NULL, is_suspect);
}

static void test_dates_of_a_top_level_domain_make_the_clock_suspect(void **state)
{
    (void)state;
    expect_clock_suspect("e", "www.example", true);
    expect_clock_suspect("b", "mail.example", false);
}

/* The root has the anchor. Each retry of the query for keys gets an answer. */
static void ask_with_keys(const char *keys, const char *name, const char *zone)
{
    struct client client = {0};
    char record[64], key[64];
    snprintf(record, sizeof(record), "%s. 300 IN A 192.0.2.2", name);
    snprintf(key, sizeof(key), "%s 600 IN DNSKEY 257 3 13 AAAA", zone);
    answer_script = "ks";
    keys_script = keys;
    script_zone = zone;
    unsigned first = asked_count;
    client_ask(&client, name, 0);
    answer(first, 0, (struct sections){.answer = {record}});
    for (unsigned i = first + 1; i < asked_count; i++)
        answer(i, 0, (struct sections){.answer = {key}});
    assert_int_equal(client.answers, 1);
}

static void test_expired_keys_of_an_anchor_are_noted_until_they_are_validated(void **state)
{
    (void)state;
    struct anchor_dates dates;
    ask_with_keys("e", "a.test", "example.");
    assert_false(anchor_dates_read(&stats, &dates)); /* this zone has no anchor */
    ask_with_keys("b", "b.test", ".");
    assert_false(anchor_dates_read(&stats, &dates));
    fake_loop_advance(loop, 100 * SECOND);
    ask_with_keys("e", "c.test", ".");
    assert_true(anchor_dates_read(&stats, &dates));
    assert_int_equal(dates.zone_hash, anchor_dates_hash(name_root()));
    assert_int_equal(dates.at_s, SCRIPT_EXPIRED_S);
    assert_true(dates.is_expired);
    fake_loop_advance(loop, 100 * SECOND);
    ask_with_keys("vs", "d.test", "example.");
    assert_true(anchor_dates_read(&stats, &dates));
    ask_with_keys("vs", "e.test", ".");
    assert_false(anchor_dates_read(&stats, &dates));
}

static void assert_keys_asked(unsigned times)
{
    unsigned found = 0;
    for (unsigned i = 0; i < asked_count; i++)
        found += asked[i]->asked.question.type == RRTYPE_DNSKEY;
    assert_int_equal(found, times);
}

/* An expired answer is bogus before its keys matter. One query for the keys of the anchor then
 * shows whether our clock is at fault. */
static void test_an_expired_answer_brings_the_keys_of_the_anchor(void **state)
{
    (void)state;
    struct anchor_dates dates;
    answer_script = keys_script = "e";
    ask_bogus("www.example");
    assert_keys_asked(1);
    assert_false(anchor_dates_read(&stats, &dates));
    for (unsigned i = 0; i < asked_count; i++)
        if (asked[i]->asked.question.type == RRTYPE_DNSKEY)
            answer(i, 0, (struct sections){.answer = {". 600 IN DNSKEY 257 3 13 AAAA"}});
    assert_true(anchor_dates_read(&stats, &dates));
    assert_keys_asked(1 + VALIDATE_RETRIES_MAX);
    unsigned before = asked_count;
    ask_bogus("mail.example");
    assert_int_equal(asked_count - before, 1 + VALIDATE_RETRIES_MAX); /* the keys have failed */
}

static void test_a_private_zone_is_named_once(void **state)
{
    (void)state;
    struct client clients[2] = {0};
    answer_script = "i";
    is_private_zone = true;
    client_ask(&clients[0], WWW, 0);
    answer(0, 0, GOOD_A);
    client_ask(&clients[1], "mail.example", 0);
    answer(1, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.2"}});
    assert_int_equal(clients[0].security, SECURITY_INSECURE);
    assert_int_equal(clients[1].security, SECURITY_INSECURE);
}

static void test_no_record_outlives_its_signature(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    script_ttl_max_s = 40;
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_string_equal(client.text, "an www.example. 40 A 192.0.2.1\n");
    assert_true(find(WWW, &found));
    assert_int_equal(found.ttl_s, 40);
    fake_loop_advance(loop, 40 * SECOND);
    assert_false(find(WWW, &found));
}

static void test_clients_with_do_get_the_signatures(void **state)
{
    (void)state;
    struct client plain = {0}, client = {0};
    struct sections sections = {.answer = {"www.example. 300 IN A 192.0.2.1", SIGNATURE}};
    client_ask(&plain, WWW, 0);
    answer(0, 0, sections);
    client_ask(&client, WWW, CACHE_KEY_DO);
    answer(1, 0, sections);
    assert_string_equal(plain.text, WWW_TEXT);
    assert_string_equal(client.text, WWW_TEXT "an www.example. 300 RRSIG A\n");
    assert_true(plain.ad && client.ad);
}

static void test_a_secure_answer_keeps_only_verified_authority_records(void **state)
{
    (void)state;
    struct client client = {0};
    struct route_options *options = (struct route_options *)(uintptr_t)options_of(VALIDATE_YES);
    options->minimal_responses = false;
    assert_int_equal(resolver_reload(resolver, options, NULL, MAX_TASKS), ERR_OK);
    proven_owner = "example";
    client_ask(&client, WWW, 0);
    answer(0, 0,
           (struct sections){.answer = {"www.example. 300 IN A 192.0.2.1"},
                             .authority = {"example. 300 IN NS ns.example."},
                             .additional = {"ns.example. 300 IN A 192.0.2.53"}});
    assert_string_equal(client.text, WWW_TEXT);
    assert_true(client.ad);
}

/* ---- bogus answers ---- */

static void test_a_bogus_answer_is_asked_for_again_over_a_stream(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "c";
    client_ask(&client, WWW, 0);
    assert_false(asked[0]->asked.prefers_stream);
    answer(0, 0, BAD_A);
    assert_int_equal(client.answers, 0);
    assert_int_equal(asked_count, 2);
    assert_true(asked[1]->asked.prefers_stream);
    assert_true(asked[1]->asked.checking_disabled);
    answer(1, 0, GOOD_A);
    assert_string_equal(client.text, WWW_TEXT);
    assert_true(client.ad);
    assert_int_equal(client.ede_count, 0);
    assert_int_equal(stats.bogus_retries_helped, 1);
    assert_int_equal(stats.validations_bogus, 1);
}

static void test_servers_with_bogus_answers_come_last(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "c";
    client_ask(&client, WWW, 0);
    answering = upstream_number(asked_of(0));
    answer(0, 0, BAD_A);
    answering = NULL;
    assert_int_equal(asked[1]->asked.doubtful, 1);
    answer(1, 0, GOOD_A);
    assert_int_equal(client.answers, 1);
}

/* The server was silent before the bogus answer came, so the next retry must not wait for it again.
 */
static void test_a_server_that_a_retry_asked_in_vain_comes_last_in_the_next_one(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "c";
    client_ask(&client, WWW, 0);
    asked[0]->tried[0] = 1;
    answer(0, 0, BAD_A);                           /* another server sends this answer */
    assert_int_equal(asked[1]->asked.doubtful, 0); /* the first retry gives the server its chance */
    answer(1, 0, BAD_A);
    assert_int_equal(asked[2]->asked.doubtful, 1);
    answer(2, 0, GOOD_A);
    assert_int_equal(client.answers, 1);
}

static void test_an_answer_that_stays_bogus_fails_and_names_the_fault(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    answer_script = "c";
    client_ask(&client, WWW, 0);
    answer(0, 0, BAD_A);
    answer(1, 0, BAD_A);
    assert_int_equal(asked_count, 3);
    assert_false(asked[2]->asked.checking_disabled); /* the forwarder may have better data */
    answer(2, 0, BAD_A);
    assert_int_equal(asked_count, 3);
    assert_fails(&client, EDE_RRSIGS_MISSING);
    assert_string_equal(client.reason,
                        "a signature is missing, zone example; a private zone needs validate: no");
    assert_int_equal(client.security, SECURITY_BOGUS);
    assert_int_equal(stats.bogus_retries_vain, 1);
    assert_true(find(WWW, &found));
    assert_int_equal(found.ttl_s, BOGUS_TTL_MIN_S);
    assert_string_equal(found.text, client.reason);
}

static void fail_as_bogus_once(void)
{
    struct client client = {0};
    unsigned first = asked_count;
    client_ask(&client, WWW, 0);
    for (unsigned i = 0; i <= VALIDATE_RETRIES_MAX; i++)
        answer(first + i, 0, BAD_A);
    assert_fails(&client, EDE_RRSIGS_MISSING);
}

static void test_the_longer_a_name_stays_bogus_the_longer_it_is_remembered(void **state)
{
    (void)state;
    static const uint32_t lives[] = {5, 10, 20, 40, 60, 60};
    struct answer found;
    answer_script = "c";
    for (unsigned i = 0; i < ARRAY_LEN(lives); i++) {
        fail_as_bogus_once();
        assert_true(find(WWW, &found));
        assert_int_equal(found.ttl_s, lives[i]);
        fake_loop_advance(loop, (uint64_t)lives[i] * SECOND);
        assert_false(find(WWW, &found));
    }
    fake_loop_advance(loop, 61 * SECOND);
    fail_as_bogus_once();
    assert_true(find(WWW, &found));
    assert_int_equal(found.ttl_s, 5);
}

static void test_a_verdict_of_too_much_work_is_not_remembered(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "u";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_int_equal(asked_count, 1); /* another server's answer would cost as much */
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(stats.validation_bound_units, 1);
    assert_false(find(WWW, &(struct answer){0}));
}

static void test_a_wrong_signature_is_bogus(void **state)
{
    (void)state;
    struct client client = {0};
    verify_is_right = false;
    client_ask(&client, WWW, 0);
    for (unsigned i = 0; i <= VALIDATE_RETRIES_MAX; i++)
        answer(i, 0, GOOD_A);
    assert_fails(&client, EDE_RRSIGS_MISSING);
    assert_int_equal(stats.verifications_p384_wrong, 3);
}

/* A message with many wrong signatures uses up the retries of the question. */
static void test_many_wrong_signatures_end_the_retries(void **state)
{
    (void)state;
    struct client client = {0};
    verify_is_right = false;
    script_failures = VALIDATION_QUESTION_FAILURES_MAX;
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_int_equal(asked_count, 1);
    assert_fails(&client, EDE_RRSIGS_MISSING);
    assert_int_equal(stats.verifications_p384_wrong, 1);
}

/* Otherwise the strategy would pass on the servers' failure, or try its substitute. */
static void test_servers_that_fail_after_a_bogus_answer_do_not_hide_it(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "c";
    client_ask(&client, WWW, 0);
    answer(0, 0, BAD_A);
    assert_int_equal(answer(1, RCODE_REFUSED, (struct sections){0}), EXCHANGE_ANOTHER);
    assert_int_equal(client.answers, 0);
    exchange_fails(1, (struct exchange_failure){.any_answer = true});
    assert_fails(&client, EDE_RRSIGS_MISSING);
}

static void test_a_stale_answer_never_hides_a_bogus_one(void **state)
{
    (void)state;
    struct client client = {0}, slow = {0};
    answer_script = "c";
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 400 * SECOND);
    client_ask(&client, WWW, 0);
    for (unsigned i = 1; i <= 1 + VALIDATE_RETRIES_MAX; i++)
        answer(i, 0, BAD_A);
    assert_fails(&client, EDE_RRSIGS_MISSING);
    assert_int_equal(client.stale_s, 0);

    keep("slow.example", "slow.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 400 * SECOND);
    client_ask(&slow, "slow.example", 0);
    answer(asked_count - 1, 0, (struct sections){.answer = {"slow.example. 300 IN A 192.0.2.66"}});
    fake_loop_advance(loop, PATIENCE_US + SECOND);
    assert_int_equal(slow.answers, 0);
    exchange_fails(asked_count - 1, (struct exchange_failure){.any_network = true});
    assert_fails(&slow, EDE_RRSIGS_MISSING);
    assert_int_equal(slow.stale_s, 0);
}

static void test_a_stale_answer_never_has_ad(void **state)
{
    (void)state;
    struct client client = {0};
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 400 * SECOND);
    client_ask(&client, WWW, 0);
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    assert_int_equal(client.rcode, RCODE_NOERROR);
    assert_true(client.stale_s > 0);
    assert_false(client.ad);
}

/* ---- keys that cannot be fetched ---- */

static void test_an_answer_whose_keys_cannot_be_fetched_fails(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    answer_script = "ks";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    assert_int_equal(asked_count, 2); /* other servers of the zone would not help */
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_true(find(WWW, &found));
    assert_int_equal(found.ttl_s, 7); /* the value of failure-ttl */
}

static void test_the_fault_of_the_keys_is_the_fault_of_the_answer(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "ks";
    keys_script = "b";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    for (unsigned i = 1; i <= 1 + VALIDATE_RETRIES_MAX; i++)
        answer(i, 0, KEYS);
    assert_fails(&client, EDE_RRSIGS_MISSING);
    assert_string_equal(client.reason,
                        "a signature is missing, zone example; a private zone needs validate: no");
    assert_int_equal(asked_count, 4);
}

static void test_a_zone_whose_keys_are_bogus_is_not_asked_again_for_each_name(void **state)
{
    (void)state;
    struct client client = {0}, next = {0};
    answer_script = "ks";
    keys_script = "b";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    for (unsigned i = 1; i <= 1 + VALIDATE_RETRIES_MAX; i++)
        answer(i, 0, KEYS);
    client_ask(&next, "mail.example", 0);
    answer(4, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.2"}});
    assert_fails(&next, EDE_RRSIGS_MISSING);
    assert_int_equal(asked_count, 5);
}

/* An alias is no information about keys, wherever it leads. */
static void test_an_alias_in_place_of_keys_is_not_followed(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "ds";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_asks(1, "example", RRTYPE_DS);
    answer(1, 0, (struct sections){.answer = {"example. 300 IN CNAME elsewhere.test."}});
    assert_int_equal(asked_count, 2);
    assert_true(client.ad);
}

/* ---- waiting ---- */

static void test_a_validation_without_end_ends_with_the_task_s_clock(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "ks";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    fake_loop_advance(loop, TASK_WALL_US + SECOND);
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    end_resolver();
}

static void test_a_slow_validation_gives_clients_a_stale_answer_meanwhile(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    keep(WWW, "www.example. 300 IN A 192.0.2.7");
    fake_loop_advance(loop, 400 * SECOND);
    answer_script = "ks";
    client_ask(&client, WWW, 0);
    answer(1, 0, GOOD_A);
    fake_loop_advance(loop, PATIENCE_US + SECOND);
    assert_true(client.stale_s > 0);
    assert_false(client.ad);
    answer(2, 0, KEYS);
    assert_true(find(WWW, &found));
    assert_string_equal(answer_show(&found), "an www.example. 298 A 192.0.2.1\n");
    assert_int_equal(found.security, SECURITY_SECURE);
}

static void test_a_reload_does_not_end_a_validation(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "ks";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    mode_becomes(VALIDATE_YES);
    answer(1, 0, KEYS);
    assert_string_equal(client.text, WWW_TEXT);
    assert_true(client.ad);
    assert_false(find(WWW, &(struct answer){0})); /* the answer is from the former configuration */
}

static void test_a_validation_ends_unchecked_when_it_is_turned_off(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "kb";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    mode_becomes(VALIDATE_NO);
    answer(1, 0, KEYS);
    assert_string_equal(client.text, WWW_TEXT);
    assert_false(client.ad);
}

static void test_messages_that_wait_have_a_bound(void **state)
{
    (void)state;
    enum { MANY = 80 };
    static struct client clients[MANY];
    static struct response_text text;
    char name[32], record[64];
    unsigned failed = 0;
    memset(clients, 0, sizeof(clients));
    answer_script = "ks";
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "n%u.example", i);
        snprintf(record, sizeof(record), "n%u.example. 300 IN A 192.0.2.1", i);
        unsigned number = asked_count;
        client_ask(&clients[i], name, 0);
        struct question question = asked[number]->asked.question;
        struct sections sections = {.answer = {record}};
        response_make(&text, 0, &question, &sections);
        while (text.len < 60000)
            response_add(&text, SECTION_ADDITIONAL, "x.example. 300 IN A 192.0.2.1");
        answer_with(number, response_parse(&text));
        failed += clients[i].answers;
    }
    unsigned waiting = MANY - failed;
    assert_in_range(waiting, HELD_MESSAGES_BYTES_MAX / 65535 - 3, HELD_MESSAGES_BYTES_MAX / 60000);
    assert_int_equal(stats.validation_bound_memory, failed);
    assert_fails(&clients[MANY - 1], EDE_OTHER);
    assert_false(find(name, &(struct answer){0}));
    struct client other = {0};
    unsigned number = asked_count;
    answer_script = "vs"; /* the cache has the keys now */
    client_ask(&other, WWW, 0);
    answer(number, 0, GOOD_A);
    assert_string_equal(other.text, WWW_TEXT);
    assert_true(other.ad);
    answer_script = "ks";
    answer(1, 0, KEYS);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(clients[i].answers, 1);
    assert_true(clients[0].ad);
}

/* ---- signatures that were right before ---- */

/* Queries a name that is not in the cache, and answers. */
static void ask_new(struct client *client)
{
    static unsigned number;
    char name[32], record[64];
    snprintf(name, sizeof(name), "f%u.test", number);
    snprintf(record, sizeof(record), "f%u.test. 300 IN A 192.0.2.1", number++);
    *client = (struct client){0};
    asked_count = 0;
    client_ask(client, name, 0);
    answer(0, 0, (struct sections){.answer = {record}});
}

/* A client fills the memo twice over, with many signatures in each message. The full memo still
 * serves others correctly: a known signature saves its verification, and a new one is verified. */
static void test_a_full_memo_of_signatures_serves_other_clients(void **state)
{
    (void)state;
    enum { EACH = 200, MESSAGES = 2 * VERIFY_MEMO_PLACES / EACH + 1 };
    char many[EACH + 2];
    struct client greedy, other, deceived = {0};
    memset(many, 'v', EACH);
    strcpy(many + EACH, "s");
    answer_script = many;
    for (unsigned i = 0; i < MESSAGES; i++) {
        ask_new(&greedy);
        assert_true(greedy.ad);
    }
    assert_int_equal(verifications, EACH * MESSAGES);
    answer_script = "vs";
    script_job = 1;
    ask_new(&other);
    assert_true(other.ad);
    assert_int_equal(verifications, EACH * MESSAGES + 1);
    ask_new(&other);
    assert_true(other.ad);
    assert_int_equal(verifications, EACH * MESSAGES + 1);
    script_job = 2;
    verify_is_right = false;
    asked_count = 0;
    client_ask(&deceived, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_int_equal(verifications, EACH * MESSAGES + 2);
    assert_int_equal(stats.validations_bogus, 1);
    assert_int_equal(deceived.answers, 0); /* the query goes out again */
    end_resolver();
}

/* ---- the time of verifications ---- */

static void ask_many(struct client *clients, unsigned count)
{
    char name[32], record[64];
    for (unsigned i = 0; i < count; i++) {
        unsigned number = asked_count;
        snprintf(name, sizeof(name), "n%u.deep.test", i);
        snprintf(record, sizeof(record), "n%u.deep.test. 300 IN A 192.0.2.1", i);
        client_ask(&clients[i], name, 0);
        answer(number, 0, (struct sections){.answer = {record}});
    }
}

static unsigned count_answers(const struct client *clients, unsigned count)
{
    unsigned answers = 0;
    for (unsigned i = 0; i < count; i++)
        answers += clients[i].answers;
    return answers;
}

static void test_costly_verifications_wait_for_the_next_turn(void **state)
{
    (void)state;
    enum { MANY = 100 };
    static struct client clients[MANY];
    struct client first = {0}, unchecked = {0};
    memset(clients, 0, sizeof(clients));
    client_ask(&first, WWW, 0);
    answer(0, 0, GOOD_A);
    fake_loop_advance(loop, US_PER_MS);
    asked_count = verifications = 0;
    verify_loop = loop;
    verify_us = 300;
    ask_many(clients, MANY);
    assert_true(find(WWW, &(struct answer){0})); /* a hit does not wait for verifications */
    client_ask(&unchecked, "mail.example", CACHE_KEY_CD);
    answer(MANY, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.1"}});
    assert_int_equal(unchecked.answers, 1);
    assert_int_equal(verifications, 2);
    assert_int_equal(count_answers(clients, MANY), 2);
    assert_int_equal(stats.validation_bound_turn, MANY - 2);
    fake_loop_advance(loop, SECOND / 100);
    assert_int_equal(verifications, MANY);
    assert_int_equal(stats.validation_bound_turn, MANY - 2); /* each answer waits once */
    for (unsigned i = 0; i < MANY; i++)
        assert_true(clients[i].ad);
    end_resolver();
}

/* The first signature uses up the turn, and the second one is the same. */
static void test_a_known_signature_does_not_wait_for_the_next_turn(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "vvs";
    script_job = 1;
    verify_loop = loop;
    verify_us = 600;
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    assert_int_equal(client.answers, 1);
    assert_true(client.ad);
    assert_int_equal(verifications, 1);
    assert_int_equal(stats.validation_bound_turn, 0);
    end_resolver();
}

static void test_a_task_whose_time_is_over_verifies_no_more(void **state)
{
    (void)state;
    static struct client clients[3];
    memset(clients, 0, sizeof(clients));
    verify_loop = loop;
    verify_us = 600;
    ask_many(clients, 3);
    end_resolver();
    assert_int_equal(verifications, 1);
    assert_int_equal(clients[2].rcode, RCODE_SERVFAIL);
}

enum { SHARE_QUESTIONS = 240, SHARE_VERIFY_US = 2500 };

/* Asserts that a client of another zone gets its secure answer. */
static void assert_serves_another_zone(unsigned i)
{
    struct client client = {0};
    char name[64], record[96];
    unsigned number = asked_count;
    script_signer = "honest.com";
    verify_us = 80;
    snprintf(name, sizeof(name), "n%u.honest.com", i);
    snprintf(record, sizeof(record), "n%u.honest.com. 300 IN A 192.0.2.1", i);
    client_ask(&client, name, 0);
    answer(number, 0, (struct sections){.answer = {record}});
    assert_int_equal(client.answers, 1);
    assert_true(client.ad);
}

/* Queries many names below the domain, whose signatures are right and costly. Beside some refused
 * queries, a client queries another zone. */
static unsigned count_refused(const char *domain, bool is_saturated)
{
    enum { MANY = SHARE_QUESTIONS };
    static struct client clients[MANY];
    char name[64], record[96];
    unsigned refused = 0;
    asked_count = 0;
    memset(clients, 0, sizeof(clients));
    verify_loop = loop;
    fake_loop_set_saturated(loop, is_saturated);
    for (unsigned i = 0; i < MANY; i++) {
        unsigned number = asked_count;
        script_signer = domain;
        verify_us = SHARE_VERIFY_US;
        snprintf(name, sizeof(name), "n%u.%s", i, domain);
        snprintf(record, sizeof(record), "n%u.%s. 300 IN A 192.0.2.1", i, domain);
        client_ask(&clients[i], name, 0);
        answer(number, 0, (struct sections){.answer = {record}});
        fake_loop_advance(loop, 2 * US_PER_MS);
        assert_int_equal(clients[i].answers, 1);
        if (clients[i].rcode != RCODE_SERVFAIL)
            continue;
        assert_fails(&clients[i], EDE_OTHER);
        assert_false(find(name, &(struct answer){0}));
        refused++;
        fake_loop_advance(loop, 2 * US_PER_MS);
        if (refused % 8 == 1)
            assert_serves_another_zone(i);
    }
    return refused;
}

static void test_the_signatures_of_one_zone_have_a_share_of_a_busy_worker(void **state)
{
    (void)state;
    unsigned refused = count_refused("deep.com", true);
    assert_in_range(refused, 20, 40); /* the burst allows 200 of them */
    assert_int_equal(stats.validation_bound_signer, refused);
    assert_in_range(count_refused("other.com", true), 20, 40);
}

/* A known signature is served although the zone has used up its share. */
static void test_a_known_signature_needs_no_share(void **state)
{
    (void)state;
    struct client first = {0}, known = {0}, unknown = {0};
    script_job = 1;
    client_ask(&first, "a.deep.com", 0);
    answer(0, 0, (struct sections){.answer = {"a.deep.com. 300 IN A 192.0.2.1"}});
    assert_true(first.ad);
    script_job = 0;
    assert_in_range(count_refused("deep.com", true), 20, 40);
    asked_count = verifications = 0;
    script_signer = "deep.com";
    script_job = 1;
    client_ask(&known, "b.deep.com", 0);
    answer(0, 0, (struct sections){.answer = {"b.deep.com. 300 IN A 192.0.2.1"}});
    assert_true(known.ad);
    script_job = 0;
    client_ask(&unknown, "c.deep.com", 0);
    answer(1, 0, (struct sections){.answer = {"c.deep.com. 300 IN A 192.0.2.1"}});
    assert_fails(&unknown, EDE_OTHER);
    assert_int_equal(verifications, 0);
}

static void test_idle_workers_and_important_zones_have_no_share(void **state)
{
    (void)state;
    assert_int_equal(count_refused("deep.com", false), 0);
    assert_int_equal(count_refused("com", true), 0);
    assert_int_equal(count_refused("deep.test", true), 0); /* the name is below a configured zone */
}

/* The process is stopped, or the machine sleeps, during a verification. */
static void test_a_pause_is_not_billed_to_a_zone(void **state)
{
    (void)state;
    struct client first = {0}, second = {0};
    script_signer = "deep.com";
    verify_loop = loop;
    verify_us = 10 * US_PER_S;
    client_ask(&first, "a.deep.com", 0);
    answer(0, 0, (struct sections){.answer = {"a.deep.com. 300 IN A 192.0.2.1"}});
    assert_true(first.ad);
    fake_loop_advance(loop, US_PER_MS);
    fake_loop_set_saturated(loop, true);
    verify_us = 80;
    client_ask(&second, "b.deep.com", 0);
    answer(1, 0, (struct sections){.answer = {"b.deep.com. 300 IN A 192.0.2.1"}});
    assert_true(second.ad);
}

/* ---- aliases ---- */

#define ALIAS                                                                                      \
    (struct sections)                                                                              \
    {                                                                                              \
        .answer = { "www.example. 300 IN CNAME web.test." }                                        \
    }

static void test_a_chain_is_as_secure_as_its_weakest_part(void **state)
{
    (void)state;
    static const struct row {
        const char *head, *tail;
        uint8_t security;
    } rows[] = {
        {"s", "s", SECURITY_SECURE}, {"s", "i", SECURITY_INSECURE}, {"i", "s", SECURITY_INSECURE}};
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        struct client client = {0};
        unsigned first = asked_count;
        answer_script = rows[i].head;
        client_ask(&client, WWW, 0);
        answer(first, 0, ALIAS);
        answer_script = rows[i].tail;
        assert_asks(first + 1, "web.test", RRTYPE_A);
        answer(first + 1, 0, (struct sections){.answer = {"web.test. 300 IN A 192.0.2.2"}});
        assert_string_equal(client.text,
                            "an www.example. 300 CNAME web.test.\nan web.test. 300 A 192.0.2.2\n");
        assert_int_equal(client.security, rows[i].security);
        assert_int_equal(client.ad, rows[i].security == SECURITY_SECURE);
        fake_loop_advance(loop, 400 * SECOND);
    }
}

static void test_a_bogus_alias_is_not_followed(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "b";
    client_ask(&client, WWW, 0);
    for (unsigned i = 0; i <= VALIDATE_RETRIES_MAX; i++)
        answer(i, 0, ALIAS);
    assert_fails(&client, EDE_RRSIGS_MISSING);
    assert_int_equal(asked_count, 3);
}

static void test_an_alias_to_a_bogus_name_fails_for_its_reason(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "s";
    client_ask(&client, WWW, 0);
    answer(0, 0, ALIAS);
    answer_script = "b";
    for (unsigned i = 1; i <= 1 + VALIDATE_RETRIES_MAX; i++)
        answer(i, 0, (struct sections){.answer = {"web.test. 300 IN A 192.0.2.2"}});
    assert_fails(&client, EDE_RRSIGS_MISSING);
    assert_string_equal(client.reason, "a signature is missing, zone example");
    assert_int_equal(client.security, SECURITY_BOGUS);
}

/* ---- CD ---- */

static void test_clients_with_cd_get_what_servers_say(void **state)
{
    (void)state;
    struct client client = {0}, other = {0};
    answer_script = "b";
    client_ask(&client, WWW, CACHE_KEY_CD);
    answer(0, 0, BAD_A);
    assert_int_equal(client.rcode, RCODE_NOERROR);
    assert_int_equal(client.security, SECURITY_UNCHECKED);
    assert_false(client.ad);
    assert_int_equal(validations_begun, 0);
    client_ask(&other, WWW, 0); /* no other client gets this answer */
    assert_int_equal(asked_count, 2);
    end_resolver();
}

static void test_clients_with_cd_get_known_answers_unless_they_failed(void **state)
{
    (void)state;
    struct answer found;
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    assert_true(find_with(WWW, CACHE_KEY_CD, &found));
    assert_int_equal(found.security, SECURITY_SECURE);

    struct client client = {0};
    answer_script = "b";
    client_ask(&client, "bad.example", 0);
    for (unsigned i = 1; i <= 1 + VALIDATE_RETRIES_MAX; i++)
        answer(i, 0, (struct sections){.answer = {"bad.example. 300 IN A 192.0.2.66"}});
    assert_fails(&client, EDE_RRSIGS_MISSING);
    assert_true(find_with("bad.example", 0, &found));
    assert_false(find_with("bad.example", CACHE_KEY_CD, &found));
}

static void test_clients_with_cd_get_no_stale_answer_while_servers_answer(void **state)
{
    (void)state;
    struct client client = {0}, unchecked = {0}, late = {0};
    struct answer found;
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 400 * SECOND);
    client_ask(&client, WWW, 0);
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    assert_true(client.stale_s > 0);
    assert_true(find(WWW, &found));
    assert_true(found.stale_s > 0);
    assert_false(find_with(WWW, CACHE_KEY_CD, &found));
    client_ask(&unchecked, WWW, CACHE_KEY_CD);
    answer(2, 0, BAD_A);
    assert_int_equal(unchecked.rcode, RCODE_NOERROR);
    assert_int_equal(unchecked.stale_s, 0);
    assert_true(find_with(WWW, CACHE_KEY_CD, &found));
    assert_int_equal(found.stale_s, 0);

    fake_loop_advance(loop, 400 * SECOND); /* an answer from before is better than none */
    client_ask(&late, WWW, CACHE_KEY_CD);
    exchange_fails(3, (struct exchange_failure){.any_network = true});
    assert_int_equal(late.rcode, RCODE_NOERROR);
    assert_true(late.stale_s > 0);
}

/* ---- modes ---- */

static void test_answers_without_a_verdict_are_misses_once_validation_is_on(void **state)
{
    (void)state;
    struct answer found;
    mode_becomes(VALIDATE_NO);
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    assert_true(find(WWW, &found));
    mode_becomes(VALIDATE_LOG);
    assert_true(find(WWW, &found));
    mode_becomes(VALIDATE_YES);
    assert_false(find(WWW, &found));
    assert_true(find_with(WWW, CACHE_KEY_CD, &found));
}

static void test_zones_that_are_not_validated_keep_their_answers(void **state)
{
    (void)state;
    struct answer found;
    struct route_options *options = (struct route_options *)(uintptr_t)options_of(VALIDATE_YES);
    options->zones[1].validate = false;
    assert_int_equal(resolver_reload(resolver, options, NULL, MAX_TASKS), ERR_OK);
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    assert_false(asked[0]->asked.dnssec_ok);
    assert_false(asked[0]->asked.checking_disabled);
    assert_int_equal(validations_begun, 0);
    assert_true(find(WWW, &found));
    assert_int_equal(found.security, SECURITY_UNCHECKED);
}

static void test_mode_log_counts_and_changes_nothing(void **state)
{
    (void)state;
    struct client client = {0}, good = {0};
    answer_script = "c";
    script_ttl_max_s = 10;
    client_ask(&client, WWW, 0);
    answer(0, 0, BAD_A);
    assert_string_equal(client.text, "an www.example. 300 A 192.0.2.66\n");
    assert_int_equal(client.security, SECURITY_UNCHECKED);
    client_ask(&good, "mail.example", 0);
    answer(1, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.2"}});
    assert_string_equal(good.text, "an mail.example. 300 A 192.0.2.2\n");
    assert_int_equal(good.security, SECURITY_UNCHECKED);
    assert_false(good.ad);
    assert_int_equal(stats.validations_bogus, 1);
    assert_int_equal(stats.validations_secure, 1);
}

static void test_mode_log_delivers_what_cannot_be_judged(void **state)
{
    (void)state;
    struct client client = {0}, slow = {0};
    answer_script = "ks";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    assert_string_equal(client.text, WWW_TEXT);
    fake_loop_advance(loop, 10 * SECOND);

    client_ask(&slow, "mail.example", 0);
    answer(2, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.2"}});
    assert_int_equal(slow.answers, 0);
    fake_loop_advance(loop, TASK_VERDICT_US + SECOND / 10);
    assert_string_equal(slow.text, "an mail.example. 299 A 192.0.2.2\n");
    end_resolver();
}

static void test_mode_log_leaves_the_question_about_keys_behind(void **state)
{
    (void)state;
    struct client client = {0};
    answer_script = "ks";
    client_ask(&client, WWW, 0);
    answer(0, 0, (struct sections){.answer = {"www.example. 300 IN CNAME mail.example."}});
    fake_loop_advance(loop, TASK_VERDICT_US + SECOND / 10);
    assert_int_equal(client.answers, 0); /* the client waits for the alias's target */
    answer(1, 0, KEYS);                  /* no task waits for these keys */
    assert_int_equal(asked_count, 3);
    answer(2, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.2"}});
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.security, SECURITY_UNCHECKED);
}

/* Every mode validates the chain of keys. */
static void test_mode_log_keeps_validated_keys(void **state)
{
    (void)state;
    struct client client = {0}, next = {0};
    answer_script = "ks";
    client_ask(&client, WWW, 0);
    answer(0, 0, GOOD_A);
    answer(1, 0, KEYS);
    client_ask(&next, "mail.example", 0);
    answer(2, 0, (struct sections){.answer = {"mail.example. 300 IN A 192.0.2.2"}});
    assert_int_equal(asked_count, 3);
    assert_int_equal(next.answers, 1);
    assert_int_equal(stats.validations_secure, 3);
}

#define YES(test) cmocka_unit_test_setup_teardown(test, set_up_yes, tear_down)
#define LOGGED(test) cmocka_unit_test_setup_teardown(test, set_up_log, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        YES(test_an_answer_with_a_verdict_at_once_is_secure),
        YES(test_an_answer_waits_for_the_keys_of_its_zone),
        YES(test_answers_that_wait_for_the_same_keys_are_all_delivered),
        YES(test_an_insecure_answer_says_why_and_has_no_ad),
        YES(test_names_without_a_trusted_anchor_are_insecure_at_once),
        YES(test_a_clock_before_the_build_is_behind),
        YES(test_dates_of_a_top_level_domain_make_the_clock_suspect),
        YES(test_expired_keys_of_an_anchor_are_noted_until_they_are_validated),
        YES(test_an_expired_answer_brings_the_keys_of_the_anchor),
        YES(test_a_private_zone_is_named_once),
        YES(test_no_record_outlives_its_signature),
        YES(test_clients_with_do_get_the_signatures),
        YES(test_a_secure_answer_keeps_only_verified_authority_records),
        YES(test_a_bogus_answer_is_asked_for_again_over_a_stream),
        YES(test_servers_with_bogus_answers_come_last),
        YES(test_a_server_that_a_retry_asked_in_vain_comes_last_in_the_next_one),
        YES(test_an_answer_that_stays_bogus_fails_and_names_the_fault),
        YES(test_the_longer_a_name_stays_bogus_the_longer_it_is_remembered),
        YES(test_a_verdict_of_too_much_work_is_not_remembered),
        YES(test_a_wrong_signature_is_bogus),
        YES(test_many_wrong_signatures_end_the_retries),
        YES(test_servers_that_fail_after_a_bogus_answer_do_not_hide_it),
        YES(test_a_stale_answer_never_hides_a_bogus_one),
        YES(test_a_stale_answer_never_has_ad),
        YES(test_an_answer_whose_keys_cannot_be_fetched_fails),
        YES(test_the_fault_of_the_keys_is_the_fault_of_the_answer),
        YES(test_a_zone_whose_keys_are_bogus_is_not_asked_again_for_each_name),
        YES(test_an_alias_in_place_of_keys_is_not_followed),
        YES(test_a_validation_without_end_ends_with_the_task_s_clock),
        YES(test_a_slow_validation_gives_clients_a_stale_answer_meanwhile),
        YES(test_a_reload_does_not_end_a_validation),
        YES(test_a_validation_ends_unchecked_when_it_is_turned_off),
        YES(test_messages_that_wait_have_a_bound),
        YES(test_a_full_memo_of_signatures_serves_other_clients),
        YES(test_costly_verifications_wait_for_the_next_turn),
        YES(test_a_known_signature_does_not_wait_for_the_next_turn),
        YES(test_a_task_whose_time_is_over_verifies_no_more),
        YES(test_the_signatures_of_one_zone_have_a_share_of_a_busy_worker),
        YES(test_a_known_signature_needs_no_share),
        YES(test_idle_workers_and_important_zones_have_no_share),
        YES(test_a_pause_is_not_billed_to_a_zone),
        YES(test_a_chain_is_as_secure_as_its_weakest_part),
        YES(test_a_bogus_alias_is_not_followed),
        YES(test_an_alias_to_a_bogus_name_fails_for_its_reason),
        YES(test_clients_with_cd_get_what_servers_say),
        YES(test_clients_with_cd_get_known_answers_unless_they_failed),
        YES(test_clients_with_cd_get_no_stale_answer_while_servers_answer),
        YES(test_answers_without_a_verdict_are_misses_once_validation_is_on),
        YES(test_zones_that_are_not_validated_keep_their_answers),
        LOGGED(test_mode_log_counts_and_changes_nothing),
        LOGGED(test_mode_log_delivers_what_cannot_be_judged),
        LOGGED(test_mode_log_leaves_the_question_about_keys_behind),
        LOGGED(test_mode_log_keeps_validated_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
