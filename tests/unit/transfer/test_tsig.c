/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Python's hmac computed the expected MACs over the bytes of RFC 8945 section 4.3. The key is
 * xfr.key, and its secret consists of the bytes 1 to 32.
 */
#include "unit/dns/sample.h"

#include <stdio.h>

#include "dns/build.h"
#include "dns/rrtype.h"
#include "transfer/tsig.h"

#define NOW 1800000000U

enum { SIZE = 1024, ANSWERS = 4 };

struct world {
    struct tsig_key key;
    struct tsig_exchange client, server;
    uint8_t query[SIZE], answer[SIZE];
    size_t query_len, answer_len;
};

static void key_make(struct tsig_key *key, const char *algorithm)
{
    uint8_t secret[32];
    for (size_t i = 0; i < sizeof(secret); i++)
        secret[i] = (uint8_t)(i + 1);
    assert_int_equal(
        tsig_key_make(key, NAME("XFR.key"), algorithm, span_of(secret, sizeof(secret))), ERR_OK);
}

static size_t build_message(uint8_t out[SIZE], uint16_t flags, bool has_question)
{
    struct build build;
    struct question question = {NAME("example.com"), RRTYPE_AXFR, RRCLASS_IN};
    build_init(&build, out, SIZE);
    build_header(&build, 0x1234, flags);
    if (has_question)
        build_question(&build, &question);
    size_t len = build_finish(&build);
    assert_true(len > 0);
    return len;
}

static size_t build_record(uint8_t out[SIZE], unsigned number)
{
    static const char *const owners[] = {"h0.example.com", "h1.example.com", "h2.example.com"};
    struct build build;
    build_init(&build, out, SIZE);
    build_header(&build, 0x1234, HEADER_QR | HEADER_AA);
    build_section(&build, SECTION_ANSWER);
    build_rr_begin(&build, NAME(owners[number]), RRTYPE_A, RRCLASS_IN, 300);
    build_u32(&build, 0xc0000200 + number);
    build_rr_end(&build);
    return build_finish(&build);
}

/* Signs a query. */
static void world_ask(struct world *world, const char *algorithm)
{
    key_make(&world->key, algorithm);
    assert_int_equal(tsig_exchange_begin(&world->client, &world->key), ERR_OK);
    assert_int_equal(tsig_exchange_begin(&world->server, &world->key), ERR_OK);
    size_t len = build_message(world->query, 0, true);
    world->query_len = tsig_sign_query(&world->client, world->query, len, SIZE, NOW);
    assert_true(world->query_len > len);
}

static void world_end(struct world *world)
{
    tsig_exchange_end(&world->client);
    tsig_exchange_end(&world->server);
    tsig_key_wipe(&world->key);
}

static struct span query_of(const struct world *world)
{
    return span_of(world->query, world->query_len);
}

/* Checks the query at the server, and signs the answer to it. Returns the result of the check. */
static enum tsig_result world_answer(struct world *world, uint64_t server_now_s)
{
    enum tsig_result result = tsig_check_query(&world->server, query_of(world), server_now_s);
    size_t len = build_message(world->answer, HEADER_QR | HEADER_AA, true);
    world->answer_len =
        tsig_sign_answer(&world->server, result, world->answer, len, SIZE, server_now_s);
    return result;
}

static enum tsig_result world_check(struct world *world, uint64_t now_s)
{
    return tsig_check_answer(&world->client, span_of(world->answer, world->answer_len), now_s);
}

static void assert_hex(const uint8_t *bytes, const char *hex)
{
    for (; *hex; hex += 2, bytes++) {
        unsigned byte;
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        assert_int_equal(*bytes, byte);
    }
}

/* ---- keys ---- */

static void test_algorithms_are_words(void **state)
{
    (void)state;
    static const char *const good[] = {"hmac-sha1",       "hmac-sha1-80",    "hmac-sha224-112",
                                       "hmac-sha256",     "hmac-sha256-128", "hmac-sha384",
                                       "hmac-sha384-192", "hmac-sha512",     "hmac-sha512-256"};
    static const char *const bad[] = {"",
                                      "hmac-md5",
                                      "sha256",
                                      "hmac-sha2",
                                      "hmac-sha256-",
                                      "hmac-sha256-127",
                                      "hmac-sha256-120",
                                      "hmac-sha256-264",
                                      "hmac-sha256-128x",
                                      "hmac-sha1-72",
                                      "hmac-sha256--128"};
    struct tsig_key key;
    char text[TSIG_ALGORITHM_MAX];
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        assert_int_equal(tsig_key_make(&key, NAME("k"), good[i], BYTES("s")), ERR_OK);
        assert_string_equal(tsig_key_algorithm(&key, text), good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(tsig_key_make(&key, NAME("k"), bad[i], BYTES("s")), ERR_INVALID);
}

static void test_a_secret_has_bounds(void **state)
{
    (void)state;
    static uint8_t secret[TSIG_SECRET_MAX + 1];
    struct tsig_key key;
    assert_int_equal(tsig_key_make(&key, NAME("k"), "hmac-sha256", BYTES("")), ERR_INVALID);
    assert_int_equal(
        tsig_key_make(&key, NAME("k"), "hmac-sha256", span_of(secret, TSIG_SECRET_MAX)), ERR_OK);
    assert_int_equal(tsig_key_make(&key, NAME("k"), "hmac-sha256", span_of(secret, sizeof(secret))),
                     ERR_INVALID);
}

/* ---- queries ---- */

static void test_a_query_has_the_mac_of_the_rfc(void **state)
{
    (void)state;
    static const struct {
        const char *algorithm, *mac;
    } rows[] = {
        {"hmac-sha1", "6688781adbae5a29845fff30e283be275c5d2ce4"},
        {"hmac-sha224", "7fbdd6c2013cbd9e2866b2f1ec833ff73822f4a922bc5c06114fc629"},
        {"hmac-sha256", "f2de30ea89df3a14fb0a94261a51d10c978a622bef4f34b6885bb6282f15e35c"},
        {"hmac-sha256-128", "f2de30ea89df3a14fb0a94261a51d10c"},
        {"hmac-sha384", "7393bc573945d167412090fd8d8dd416ffc87a06c0875b30102695db91617907"
                        "ca562b09edb852f33f58c0b92b15302f"},
        {"hmac-sha512", "4c5d63bc32f5c4e3be09cb168eba9df3b23b8951b68328c6604fbcc25b3b178e"
                        "996157f36a6f78db094f8dd5765a7bcabc6f0264f2340e6219893aa3eb3ed4bb"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct world world;
        world_ask(&world, rows[i].algorithm);
        size_t mac_len = strlen(rows[i].mac) / 2;
        assert_hex(world.query + world.query_len - 6 - mac_len, rows[i].mac);
        struct message message = sample_parse(query_of(&world));
        assert_true(message.has_tsig);
        assert_int_equal(world_answer(&world, NOW), TSIG_GOOD);
        assert_int_equal(world_check(&world, NOW + 1), TSIG_GOOD);
        world_end(&world);
    }
}

static void test_a_buffer_that_is_too_small_takes_no_signature(void **state)
{
    (void)state;
    struct world world;
    world_ask(&world, "hmac-sha256");
    uint8_t query[SIZE];
    size_t len = build_message(query, 0, true);
    assert_int_equal(tsig_sign_query(&world.client, query, len, world.query_len - 1, NOW), 0);
    assert_int_equal(header_count(query, SECTION_ADDITIONAL), 0);
    world_end(&world);
}

static void test_a_changed_byte_of_a_query_is_found(void **state)
{
    (void)state;
    struct world world;
    world_ask(&world, "hmac-sha256");
    for (size_t i = 0; i < world.query_len; i++) {
        struct tsig_exchange server;
        /* A forwarder may change the id, because the record has the original one. */
        bool is_free = i < 2;
        world.query[i] ^= 1;
        assert_int_equal(tsig_exchange_begin(&server, &world.key), ERR_OK);
        assert_int_equal(tsig_check_query(&server, query_of(&world), NOW) == TSIG_GOOD, is_free);
        tsig_exchange_end(&server);
        world.query[i] ^= 1;
    }
    assert_int_equal(world_answer(&world, NOW), TSIG_GOOD);
    world_end(&world);
}

static void test_a_query_names_its_key(void **state)
{
    (void)state;
    struct world world;
    uint8_t wire[NAME_WIRE_MAX], plain[SIZE];
    struct name name;
    world_ask(&world, "hmac-sha256");
    assert_true(tsig_query_key(query_of(&world), wire, &name));
    assert_true(name_equal_exact(name, NAME("xfr.key")));
    assert_false(tsig_query_key(span_of(plain, build_message(plain, 0, true)), wire, &name));
    assert_false(tsig_query_key(span_of(world.query, world.query_len - 1), wire, &name));
    world_end(&world);
}

/* ---- single answers ---- */

static void test_clocks_may_differ_by_the_fudge(void **state)
{
    (void)state;
    static const struct {
        int64_t server, client;
        enum tsig_result at_server, at_client;
    } rows[] = {
        {TSIG_FUDGE_S, TSIG_FUDGE_S, TSIG_GOOD, TSIG_GOOD},
        {-TSIG_FUDGE_S, 0, TSIG_GOOD, TSIG_GOOD},
        {0, TSIG_FUDGE_S + 1, TSIG_GOOD, TSIG_BAD_TIME},
        {TSIG_FUDGE_S + 1, 0, TSIG_BAD_TIME, TSIG_PEER_TIME},
        {-TSIG_FUDGE_S - 1, 0, TSIG_BAD_TIME, TSIG_PEER_TIME},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct world world;
        world_ask(&world, "hmac-sha256");
        assert_int_equal(world_answer(&world, (uint64_t)(NOW + rows[i].server)), rows[i].at_server);
        assert_int_equal(world_check(&world, (uint64_t)(NOW + rows[i].client)), rows[i].at_client);
        world_end(&world);
    }
}

static void test_a_wrong_secret_is_found_and_reported(void **state)
{
    (void)state;
    struct world world;
    world_ask(&world, "hmac-sha256");
    struct tsig_key other = world.key;
    other.secret[0] ^= 1;
    tsig_exchange_end(&world.server);
    assert_int_equal(tsig_exchange_begin(&world.server, &other), ERR_OK);
    assert_int_equal(world_answer(&world, NOW), TSIG_BAD_MAC);
    struct message message = sample_parse(span_of(world.answer, world.answer_len));
    assert_true(message.has_tsig);
    assert_int_equal(world_check(&world, NOW), TSIG_PEER_MAC);
    world_end(&world);
}

static void test_another_key_or_algorithm_is_unknown(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"hmac-sha256", "hmac-sha512"};
    static const char *const names[] = {"xfr.kez", "xfr.key"};
    for (size_t i = 0; i < 2; i++) {
        struct world world;
        struct tsig_key other;
        world_ask(&world, "hmac-sha256");
        assert_int_equal(tsig_key_make(&other, NAME(names[i]), algorithms[i],
                                       span_of(world.key.secret, world.key.secret_len)),
                         ERR_OK);
        tsig_exchange_end(&world.server);
        assert_int_equal(tsig_exchange_begin(&world.server, &other), ERR_OK);
        assert_int_equal(world_answer(&world, NOW), TSIG_UNKNOWN_KEY);
        assert_int_equal(world.answer_len, 0);
        world_end(&world);
    }
}

/* Sets the error field of the unsigned TSIG record in a refusal. */
static void test_the_errors_of_a_server_have_names(void **state)
{
    (void)state;
    static const struct {
        uint16_t error;
        enum tsig_result result;
    } rows[] = {{16, TSIG_PEER_MAC},
                {17, TSIG_PEER_KEY},
                {18, TSIG_PEER_TIME},
                {22, TSIG_PEER_SHORT},
                {99, TSIG_MALFORMED}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct world world;
        world_ask(&world, "hmac-sha256");
        size_t len = build_message(world.answer, HEADER_QR, true);
        world.answer_len =
            tsig_sign_answer(&world.server, TSIG_BAD_MAC, world.answer, len, SIZE, NOW);
        put_u16(world.answer + world.answer_len - 4, rows[i].error);
        assert_int_equal(world_check(&world, NOW), rows[i].result);
        assert_true(strlen(tsig_result_text(rows[i].result)) > 0);
        world_end(&world);
    }
}

static void test_an_answer_without_a_signature_is_refused(void **state)
{
    (void)state;
    struct world world;
    world_ask(&world, "hmac-sha256");
    world.answer_len = build_message(world.answer, HEADER_QR, true);
    assert_int_equal(world_check(&world, NOW), TSIG_MISSING);
    assert_int_equal(tsig_check_query(&world.server, span_of(world.answer, world.answer_len), NOW),
                     TSIG_MISSING);
    world_end(&world);
}

/* A MAC of only the first bytes must not pass unless the key allows it. */
static void test_a_truncated_mac_needs_a_key_that_allows_it(void **state)
{
    (void)state;
    struct world world;
    world_ask(&world, "hmac-sha256-128");
    struct tsig_key whole;
    key_make(&whole, "hmac-sha256");
    tsig_exchange_end(&world.server);
    assert_int_equal(tsig_exchange_begin(&world.server, &whole), ERR_OK);
    assert_int_equal(world_answer(&world, NOW), TSIG_SHORT_MAC);
    assert_int_equal(world_check(&world, NOW), TSIG_PEER_SHORT);
    world_end(&world);
}

/* Cuts the MAC of a query to len bytes. */
static size_t cut_mac(uint8_t *query, size_t len, size_t algorithm_at, size_t mac_len)
{
    uint8_t *mac_len_at = query + algorithm_at + 13 + 8;
    size_t cut = get_u16(mac_len_at) - mac_len;
    uint8_t *rdlength_at = query + algorithm_at - 2;
    put_u16(rdlength_at, (uint16_t)(get_u16(rdlength_at) - cut));
    put_u16(mac_len_at, (uint16_t)mac_len);
    memmove(query + len - 6 - cut, query + len - 6, 6);
    return len - cut;
}

static void test_a_mac_below_half_is_malformed(void **state)
{
    (void)state;
    static const struct {
        size_t mac_len;
        enum tsig_result result;
    } rows[] = {{0, TSIG_MALFORMED},
                {1, TSIG_MALFORMED},
                {15, TSIG_MALFORMED},
                {16, TSIG_GOOD},
                {31, TSIG_GOOD}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct world world;
        world_ask(&world, "hmac-sha256");
        size_t at = build_message(world.answer, 0, true) + 9 + 10;
        world.query_len = cut_mac(world.query, world.query_len, at, rows[i].mac_len);
        struct tsig_key lenient;
        key_make(&lenient, "hmac-sha256-128");
        tsig_exchange_end(&world.server);
        assert_int_equal(tsig_exchange_begin(&world.server, &lenient), ERR_OK);
        assert_int_equal(tsig_check_query(&world.server, query_of(&world), NOW), rows[i].result);
        world_end(&world);
    }
}

/* ---- streams ---- */

/* Appends a TSIG record with this MAC to an answer. */
static size_t append(uint8_t *answer, size_t len, uint64_t signed_at_s, const char *mac)
{
    static const uint8_t start[] = "\3xfr\3key\0\0\xfa\0\xff\0\0\0\0\0\x3d\xbhmac-sha256";
    uint8_t *at = answer + len;
    memcpy(at, start, sizeof(start));
    at += sizeof(start);
    put_u16(at, (uint16_t)(signed_at_s >> 32));
    put_u32(at + 2, (uint32_t)signed_at_s);
    put_u16(at + 6, TSIG_FUDGE_S);
    put_u16(at + 8, 32);
    at += 10;
    for (; *mac; mac += 2, at++) {
        unsigned byte;
        assert_int_equal(sscanf(mac, "%2x", &byte), 1);
        *at = (uint8_t)byte;
    }
    put_u16(at, 0x1234);
    put_u32(at + 2, 0);
    header_set_count(answer, SECTION_ADDITIONAL, 1);
    return (size_t)(at + 6 - answer);
}

#define FIRST_MAC "d7aa9d0b28ed5ec5fe21663d72812c4f2478cf544d18e7e06f8566698219d2d3"
#define LAST_MAC "2c2a31ddbd486d9f4b4d3f3034e0f09341d335712e549061eb2fe64e7ba810d1"

/* The first and the last of four messages are signed. */
static void stream_make(uint8_t answers[ANSWERS][SIZE], size_t lens[ANSWERS])
{
    lens[0] = build_message(answers[0], HEADER_QR | HEADER_AA, true);
    lens[0] = append(answers[0], lens[0], NOW + 1, FIRST_MAC);
    for (unsigned i = 0; i < 3; i++)
        lens[i + 1] = build_record(answers[i + 1], i);
    lens[3] = append(answers[3], lens[3], NOW + 2, LAST_MAC);
}

static enum tsig_result stream_check(uint8_t answers[ANSWERS][SIZE], const size_t lens[ANSWERS],
                                     unsigned left_out)
{
    struct world world;
    enum tsig_result result = TSIG_GOOD;
    world_ask(&world, "hmac-sha256");
    for (unsigned i = 0; i < ANSWERS && result <= TSIG_AWAITED; i++) {
        if (i == left_out)
            continue;
        result = tsig_check_answer(&world.client, span_of(answers[i], lens[i]), NOW + 2);
        if (result <= TSIG_AWAITED)
            assert_int_equal(result, i == 0 || i == 3 ? TSIG_GOOD : TSIG_AWAITED);
    }
    world_end(&world);
    return result;
}

static void test_a_stream_is_signed_as_a_whole(void **state)
{
    (void)state;
    static uint8_t answers[ANSWERS][SIZE];
    size_t lens[ANSWERS];
    stream_make(answers, lens);
    assert_int_equal(stream_check(answers, lens, ANSWERS), TSIG_GOOD);
    assert_int_equal(stream_check(answers, lens, 0), TSIG_MISSING);
    assert_int_equal(stream_check(answers, lens, 1), TSIG_BAD_MAC);
    assert_int_equal(stream_check(answers, lens, 2), TSIG_BAD_MAC);
    for (unsigned message = 0; message < ANSWERS; message++)
        for (size_t i = 0; i < 24; i++) {
            /* the original id in the record counts */
            bool is_free = (message == 0 || message == 3) && i < 2;
            answers[message][i] ^= 1;
            assert_int_equal(stream_check(answers, lens, ANSWERS) == TSIG_GOOD, is_free);
            answers[message][i] ^= 1;
        }
}

static void test_unsigned_messages_have_a_bound(void **state)
{
    (void)state;
    static uint8_t answers[ANSWERS][SIZE];
    size_t lens[ANSWERS];
    struct world world;
    stream_make(answers, lens);
    world_ask(&world, "hmac-sha256");
    assert_int_equal(tsig_check_answer(&world.client, span_of(answers[0], lens[0]), NOW),
                     TSIG_GOOD);
    for (unsigned i = 0; i < TSIG_UNSIGNED_MAX; i++)
        assert_int_equal(tsig_check_answer(&world.client, span_of(answers[1], lens[1]), NOW),
                         TSIG_AWAITED);
    assert_int_equal(tsig_check_answer(&world.client, span_of(answers[1], lens[1]), NOW),
                     TSIG_MISSING);
    world_end(&world);
}

static void test_malformed_records_are_refused(void **state)
{
    (void)state;
    static uint8_t answers[ANSWERS][SIZE];
    size_t lens[ANSWERS];
    stream_make(answers, lens);
    size_t rdata_at = build_message(answers[1], 0, true) + 9 + 10;
    static const struct {
        int offset; /* counted from the RDATA */
        uint8_t byte;
    } rows[] = {{0, 0xc0}, {0, 63}, {22, 31}, {22, 33}, {22, 255}, {-7, 1}, {-5, 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint8_t bytes[SIZE];
        struct world world;
        memcpy(bytes, answers[0], lens[0]);
        bytes[(int)rdata_at + rows[i].offset] = rows[i].byte;
        world_ask(&world, "hmac-sha256");
        assert_int_equal(tsig_check_answer(&world.client, span_of(bytes, lens[0]), NOW),
                         TSIG_MALFORMED);
        assert_int_equal(tsig_check_query(&world.server, span_of(bytes, lens[0]), NOW),
                         TSIG_MALFORMED);
        world_end(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_algorithms_are_words),
        cmocka_unit_test(test_a_secret_has_bounds),
        cmocka_unit_test(test_a_query_has_the_mac_of_the_rfc),
        cmocka_unit_test(test_a_buffer_that_is_too_small_takes_no_signature),
        cmocka_unit_test(test_a_changed_byte_of_a_query_is_found),
        cmocka_unit_test(test_a_query_names_its_key),
        cmocka_unit_test(test_clocks_may_differ_by_the_fudge),
        cmocka_unit_test(test_a_wrong_secret_is_found_and_reported),
        cmocka_unit_test(test_another_key_or_algorithm_is_unknown),
        cmocka_unit_test(test_the_errors_of_a_server_have_names),
        cmocka_unit_test(test_an_answer_without_a_signature_is_refused),
        cmocka_unit_test(test_a_truncated_mac_needs_a_key_that_allows_it),
        cmocka_unit_test(test_a_mac_below_half_is_malformed),
        cmocka_unit_test(test_a_stream_is_signed_as_a_whole),
        cmocka_unit_test(test_unsigned_messages_have_a_bound),
        cmocka_unit_test(test_malformed_records_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
