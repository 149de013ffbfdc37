/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Stacks of tickets in memory. test_tls_tickets_file.c tests their file. */

#include "tls_sessions.h"

#include <pthread.h>

#include "tls/tls_tickets.h"

struct store {
    struct tls_tickets *tickets;
    struct tls_rack *rack;
};

static int set_up(void **state)
{
    struct store *store = calloc(1, sizeof(*store));

    store->tickets = tls_tickets_new();
    store->rack = tls_tickets_rack(store->tickets, text("one"));
    *state = store;
    return store->rack ? 0 : -1;
}

static int tear_down(void **state)
{
    struct store *store = *state;

    tls_tickets_free(store->tickets);
    free(store);
    return 0;
}

static int take_tag(struct tls_rack *rack, int64_t now_s)
{
    SSL_SESSION *session = tls_rack_take(rack, now_s);
    int tag = session ? session_tag(session) : -1;

    SSL_SESSION_free(session);
    return tag;
}

static void put(struct tls_rack *rack, int tag)
{
    tls_rack_put(rack, session_new(TLS1_3_VERSION, tag));
}

/* ---------------------------------------------------------------- stacks */

static void test_an_empty_rack_has_no_ticket(void **state)
{
    struct store *store = *state;

    assert_null(tls_rack_take(store->rack, now()));
    assert_int_equal(tls_rack_count(store->rack), 0);
}

static void test_the_newest_comes_first_and_once(void **state)
{
    struct store *store = *state;

    for (int tag = 1; tag <= 3; tag++)
        put(store->rack, tag);
    assert_int_equal(tls_rack_count(store->rack), 3);
    assert_int_equal(take_tag(store->rack, now()), 3);
    assert_int_equal(take_tag(store->rack, now()), 2);
    assert_int_equal(take_tag(store->rack, now()), 1);
    assert_int_equal(take_tag(store->rack, now()), -1);
}

static void test_a_ticket_that_is_too_large_is_not_kept(void **state)
{
    struct store *store = *state;
    static uint8_t data[TLS_TICKET_BYTES_MAX];
    SSL_SESSION *large = session_new(TLS1_3_VERSION, 9);

    assert_int_equal(SSL_SESSION_set1_ticket_appdata(large, data, sizeof(data)), 1);
    put(store->rack, 1);
    tls_rack_put(store->rack, large);
    assert_int_equal(tls_rack_count(store->rack), 1);
    assert_int_equal(take_tag(store->rack, now()), 1);
}

static void test_the_oldest_makes_room(void **state)
{
    struct store *store = *state;

    for (int tag = 0; tag < TLS_RACK_TICKETS_MAX + 2; tag++)
        put(store->rack, tag);
    assert_int_equal(tls_rack_count(store->rack), TLS_RACK_TICKETS_MAX);
    for (int tag = TLS_RACK_TICKETS_MAX + 1; tag >= 2; tag--)
        assert_int_equal(take_tag(store->rack, now()), tag);
    assert_int_equal(take_tag(store->rack, now()), -1);
}

static void test_a_taken_ticket_can_be_resumed(void **state)
{
    struct store *store = *state;
    SSL_SESSION *session;

    tls_rack_put(store->rack, session_of_handshake(TLS1_3_VERSION, NULL));
    session = tls_rack_take(store->rack, now());
    assert_non_null(session);
    assert_true(handshake_resumes(session));
    SSL_SESSION_free(session);
}

/* The end of the connection that brought the session must not change the rack. */
static void test_a_session_spoilt_after_the_put_stays_good(void **state)
{
    struct store *store = *state;
    SSL_SESSION *session = session_of_handshake(TLS1_3_VERSION, NULL);

    SSL_SESSION_up_ref(session);
    tls_rack_put(store->rack, session);
    session_spoil(session);
    SSL_SESSION_free(session);
    session = tls_rack_take(store->rack, now());
    assert_non_null(session);
    SSL_SESSION_free(session);
}

static void test_a_session_that_cannot_be_resumed_is_not_kept(void **state)
{
    struct store *store = *state;
    SSL_SESSION *session = session_of_handshake(TLS1_3_VERSION, NULL);

    tls_rack_put(store->rack, SSL_SESSION_new());
    session_spoil(session);
    tls_rack_put(store->rack, session);
    assert_int_equal(tls_rack_count(store->rack), 0);
}

/* ---------------------------------------------------------------- the end of a ticket */

static void test_a_ticket_ends_with_its_lifetime(void **state)
{
    struct store *store = *state;
    struct session_how how = {.lifetime_s = 100};

    for (int i = 0; i < 2; i++) {
        SSL_SESSION *session = session_of_handshake(TLS1_3_VERSION, &how);
        SSL_SESSION_set_time(session, 1000000);
        tls_rack_put(store->rack, session);
    }
    assert_int_not_equal(take_tag(store->rack, 1000099), -1);
    assert_int_equal(take_tag(store->rack, 1000100), -1);
    assert_int_equal(tls_rack_count(store->rack), 0);
}

static void test_no_server_can_make_a_ticket_last_longer_than_a_week(void **state)
{
    struct store *store = *state;
    struct session_how how = {.lifetime_s = 30 * 86400, .days = 90};

    for (int i = 0; i < 2; i++)
        tls_rack_put(store->rack, session_of_handshake(TLS1_3_VERSION, &how));
    assert_int_not_equal(take_tag(store->rack, now() + TLS_TICKET_AGE_MAX_S - 10), -1);
    assert_int_equal(take_tag(store->rack, now() + TLS_TICKET_AGE_MAX_S + 10), -1);
}

static void test_a_ticket_does_not_outlive_the_certificate(void **state)
{
    struct store *store = *state;
    struct session_how how = {.lifetime_s = 7 * 86400, .days = 1};

    for (int i = 0; i < 2; i++)
        tls_rack_put(store->rack, session_of_handshake(TLS1_3_VERSION, &how));
    assert_int_not_equal(take_tag(store->rack, now() + 86400 - 10), -1);
    assert_int_equal(take_tag(store->rack, now() + 86400 + 10), -1);
}

/* RFC 8446 section 4.6.1. */
static void test_a_lifetime_of_zero_forbids_use_in_tls_1_3(void **state)
{
    struct store *store = *state;
    SSL_SESSION *session = SSL_SESSION_new();

    SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION);
    SSL_SESSION_set1_id(session, (const uint8_t *)"id", 2);
    SSL_SESSION_set_timeout(session, 1000);
    tls_rack_put(store->rack, session);
    assert_int_equal(take_tag(store->rack, now()), -1);
}

/* A session ID without a ticket lives as long as our own timeout says. */
static void test_a_tls_1_2_session_without_a_hint_ends_with_its_timeout(void **state)
{
    struct store *store = *state;

    for (int i = 0; i < 2; i++) {
        SSL_SESSION *session = SSL_SESSION_new();
        SSL_SESSION_set_protocol_version(session, TLS1_2_VERSION);
        SSL_SESSION_set1_id(session, (const uint8_t *)"id", 2);
        SSL_SESSION_set_time(session, 5000);
        SSL_SESSION_set_timeout(session, 1000);
        tls_rack_put(store->rack, session);
    }
    assert_int_not_equal(take_tag(store->rack, 5999), -1);
    assert_int_equal(take_tag(store->rack, 6000), -1);
}

static void test_a_ticket_from_the_far_future_is_dropped(void **state)
{
    struct store *store = *state;

    put(store->rack, 1);
    put(store->rack, 2);
    assert_int_equal(take_tag(store->rack, now() - TLS_TICKET_AHEAD_MAX_S + 10), 2);
    assert_int_equal(take_tag(store->rack, now() - TLS_TICKET_AHEAD_MAX_S - 10), -1);
}

static void test_times_at_the_ends_of_their_range_are_not_good(void **state)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX};
    struct store *store = *state;

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        SSL_SESSION *session = session_new(TLS1_3_VERSION, 1);
        SSL_SESSION_set_time(session, (long)ends[i]);
        tls_rack_put(store->rack, session);
        assert_int_equal(take_tag(store->rack, now()), -1);
        put(store->rack, 2);
        assert_int_equal(take_tag(store->rack, ends[i]), -1);
    }
}

static void test_good_tickets_below_an_expired_one_are_found(void **state)
{
    struct store *store = *state;
    SSL_SESSION *old = session_new(TLS1_3_VERSION, 7);

    put(store->rack, 1);
    SSL_SESSION_set_time(old, 1000);
    tls_rack_put(store->rack, old);
    assert_int_equal(take_tag(store->rack, now()), 1);
}

/* ---------------------------------------------------------------- identities */

static void test_an_identity_is_all_the_bytes_of_its_key(void **state)
{
    struct store *store = *state;
    struct tls_tickets *tickets = store->tickets;
    struct tls_rack *zero = tls_tickets_rack(tickets, span_of("one\0a", 5));

    assert_ptr_equal(tls_tickets_rack(tickets, text("one")), store->rack);
    assert_ptr_equal(tls_tickets_rack(tickets, span_of("one\0a", 5)), zero);
    assert_ptr_not_equal(zero, store->rack);
    assert_ptr_not_equal(tls_tickets_rack(tickets, span_of("one\0b", 5)), zero);
    assert_ptr_not_equal(tls_tickets_rack(tickets, span_of("one\0", 4)), store->rack);
    assert_non_null(tls_tickets_rack(tickets, span_of(NULL, 0)));
}

static void test_tickets_do_not_cross_identities(void **state)
{
    struct store *store = *state;

    put(store->rack, 1);
    assert_int_equal(take_tag(tls_tickets_rack(store->tickets, text("two")), now()), -1);
    assert_int_equal(take_tag(store->rack, now()), 1);
}

static void test_a_key_has_a_bound(void **state)
{
    struct store *store = *state;
    uint8_t key[TLS_RACK_KEY_MAX + 1] = {1};

    assert_non_null(tls_tickets_rack(store->tickets, span_of(key, TLS_RACK_KEY_MAX)));
    assert_null(tls_tickets_rack(store->tickets, span_of(key, TLS_RACK_KEY_MAX + 1)));
}

static void test_the_number_of_identities_has_a_bound(void **state)
{
    struct store *store = *state;
    struct tls_rack *first = NULL;

    for (uint32_t i = 0; i < TLS_RACKS_MAX - 1; i++) {
        struct tls_rack *rack = tls_tickets_rack(store->tickets, span_of(&i, sizeof(i)));
        assert_non_null(rack);
        if (i == 0)
            first = rack;
    }
    assert_null(tls_tickets_rack(store->tickets, text("one too many")));
    assert_ptr_equal(tls_tickets_rack(store->tickets, text("one")), store->rack);
    assert_ptr_equal(tls_tickets_rack(store->tickets, span_of(&(uint32_t){0}, 4)), first);
}

/* ---------------------------------------------------------------- threads */

enum { THREADS = 4, ROUNDS = 2000 };

struct hammer {
    struct store *store;
    SSL_SESSION *model;
    size_t taken, put;
};

/* All threads use one rack and also make others. cmocka asserts in the first thread only. */
static void *hammer(void *owner)
{
    struct hammer *hammer = owner;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        SSL_SESSION *session;
        tls_rack_put(hammer->store->rack, SSL_SESSION_dup(hammer->model));
        hammer->put++;
        (void)tls_tickets_rack(hammer->store->tickets, span_of(&i, sizeof(i)));
        session = i % 3 ? tls_rack_take(hammer->store->rack, now()) : NULL;
        if (session) {
            hammer->taken++;
            /* the session belongs to the taker, which may change it */
            SSL_SESSION_set_time(session, 1);
            SSL_SESSION_free(session);
        }
    }
    return NULL;
}

static void test_threads_share_a_rack(void **state)
{
    struct hammer hammers[THREADS];
    pthread_t threads[THREADS];
    size_t taken = 0;

    for (int i = 0; i < THREADS; i++) {
        hammers[i] = (struct hammer){.store = *state, .model = session_new(TLS1_3_VERSION, i)};
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &hammers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        SSL_SESSION_free(hammers[i].model);
        assert_int_equal(hammers[i].put, ROUNDS);
        taken += hammers[i].taken;
    }
    assert_in_range(taken, 1, THREADS * ROUNDS);
    assert_in_range(tls_rack_count(hammers[0].store->rack), 0, TLS_RACK_TICKETS_MAX);
}

static void test_free_takes_null(void **state)
{
    (void)state;
    tls_tickets_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_empty_rack_has_no_ticket),
        TEST(test_the_newest_comes_first_and_once),
        TEST(test_a_ticket_that_is_too_large_is_not_kept),
        TEST(test_the_oldest_makes_room),
        TEST(test_a_taken_ticket_can_be_resumed),
        TEST(test_a_session_spoilt_after_the_put_stays_good),
        TEST(test_a_session_that_cannot_be_resumed_is_not_kept),
        TEST(test_a_ticket_ends_with_its_lifetime),
        TEST(test_no_server_can_make_a_ticket_last_longer_than_a_week),
        TEST(test_a_ticket_does_not_outlive_the_certificate),
        TEST(test_a_lifetime_of_zero_forbids_use_in_tls_1_3),
        TEST(test_a_tls_1_2_session_without_a_hint_ends_with_its_timeout),
        TEST(test_a_ticket_from_the_far_future_is_dropped),
        TEST(test_times_at_the_ends_of_their_range_are_not_good),
        TEST(test_good_tickets_below_an_expired_one_are_found),
        TEST(test_an_identity_is_all_the_bytes_of_its_key),
        TEST(test_tickets_do_not_cross_identities),
        TEST(test_a_key_has_a_bound),
        TEST(test_the_number_of_identities_has_a_bound),
        TEST(test_threads_share_a_rack),
        cmocka_unit_test(test_free_takes_null),
    };
    return cmocka_run_group_tests(tests, sessions_set_up, sessions_tear_down);
}
