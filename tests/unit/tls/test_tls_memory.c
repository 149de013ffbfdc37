/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A TLS connection whose memory runs out fails, and nothing else does. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <openssl/crypto.h>
#include <time.h>

#include "support/scarce_plain.h"
#include "tls/tls_ticket_keys.h"
#include "tls/tls_tickets.h"
#include "tls_ends.h"

enum {
    ALLOCATIONS_MAX = 10000,
    CONTEXT_ALLOCATIONS_MAX = 1000000,
    CONTEXT_FIRST = 200,
    CONTEXT_STEP = 37, /* the bytes of the authorities take thousands of allocations */
    HANDSHAKES = 300,
    ONE_IN = 200,
};

static struct ends here;
static struct tls_ticket_keys *keys;
static struct tls_tickets *tickets;
static struct tls_peer peer;

/* ---- OpenSSL's memory ---- */

static void *scarce_openssl_malloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return scarce_fails() ? NULL : malloc(size);
}

static void *scarce_openssl_realloc(void *memory, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return scarce_fails() ? NULL : realloc(memory, size);
}

static void scarce_openssl_free(void *memory, const char *file, int line)
{
    (void)file, (void)line;
    free(memory);
}

/* ---- */

static int set_up(void **state)
{
    (void)state;
    keys = tls_ticket_keys_new(time(NULL));
    tickets = tls_tickets_new();
    ends_init(&here, keys);
    peer = (struct tls_peer){.options = &here.options, .addr = &here.addr};
    peer.tickets = tls_tickets_rack(tickets, text_span("the peer"));
    return peer.tickets ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ends_deinit(&here);
    tls_tickets_free(tickets);
    tls_ticket_keys_free(keys);
    return 0;
}

/* Tickets go the whole way too. */
static void expect_works(struct tls *client_tls, struct tls *server_tls)
{
    struct end client, server;
    end_init(&client, client_tls);
    end_init(&server, server_tls);
    end_begin(&client, span_of(NULL, 0));
    settle(&client, &server, cut_none);
    assert_int_equal(client.err, ERR_OK);
    assert_int_equal(server.err, ERR_OK);
    assert_int_equal(client.secured + server.secured, 2);
    end_deinit(&client);
    end_deinit(&server);
}

static void test_a_client_begins_whole_or_not_at_all(void **state)
{
    uint64_t nth = 0;
    (void)state;
    do {
        scarce_fail_nth(++nth);
        scarce_begin();
        struct tls *tls = tls_client(here.client, &peer);
        scarce_end();
        if (tls)
            expect_works(tls, tls_server(here.server));
    } while (scarce_failed() > 0 && nth < ALLOCATIONS_MAX);
    assert_in_range(nth, 10, ALLOCATIONS_MAX - 1);
}

static void test_a_server_begins_whole_or_not_at_all(void **state)
{
    uint64_t nth = 0;
    (void)state;
    do {
        scarce_fail_nth(++nth);
        scarce_begin();
        struct tls *tls = tls_server(here.server);
        scarce_end();
        if (tls)
            expect_works(tls_client(here.client, &peer), tls);
    } while (scarce_failed() > 0 && nth < ALLOCATIONS_MAX);
    assert_in_range(nth, 10, ALLOCATIONS_MAX - 1);
}

/* A reload makes contexts. */
static void test_a_context_is_made_whole_or_not_at_all(void **state)
{
    uint64_t nth = 0;
    (void)state;
    do {
        char why[TLS_WHY_MAX];
        struct tls_context *client = NULL, *server = NULL;
        const struct tls_server_options options = {.certificate = tls_certs_certificate(here.cert),
                                                   .key = tls_certs_key(here.cert),
                                                   .ticket_keys = keys};
        scarce_fail_nth(nth += nth < CONTEXT_FIRST ? 1 : CONTEXT_STEP);
        scarce_begin();
        enum err client_err = tls_context_client(&client, &here.options, why);
        enum err server_err = tls_context_server(&server, &options, why);
        scarce_end();
        if (!client_err && !server_err)
            expect_works(tls_client(client, &peer), tls_server(server));
        if (!client_err)
            tls_context_free(client);
        if (!server_err)
            tls_context_free(server);
    } while (scarce_failed() > 0 && nth < CONTEXT_ALLOCATIONS_MAX);
    assert_in_range(nth, 10, CONTEXT_ALLOCATIONS_MAX - 1);
}

/* The file stays whole: it has earlier tickets, or present ones. */
static void test_a_file_of_tickets_stays_readable(void **state)
{
    char path[] = "/tmp/nailup-tickets-XXXXXX";
    uint64_t nth = 0;
    size_t saved, count;
    (void)state;
    close(mkstemp(path));
    expect_works(tls_client(here.client, &peer), tls_server(here.server));
    assert_int_equal(tls_tickets_save(tickets, path, time(NULL)), ERR_OK);
    struct tls_tickets *first = tls_tickets_new();
    assert_int_equal(tls_tickets_load(first, path, time(NULL), &saved), ERR_OK);
    tls_tickets_free(first);
    assert_true(saved > 0);
    do {
        scarce_fail_nth(++nth);
        scarce_begin();
        (void)!tls_tickets_save(tickets, path, time(NULL));
        scarce_end();
        struct tls_tickets *read = tls_tickets_new();
        assert_int_equal(tls_tickets_load(read, path, time(NULL), &count), ERR_OK);
        assert_in_range(count, saved - 1, saved); /* without the ticket whose memory failed */
        tls_tickets_free(read);
    } while (scarce_failed() > 0 && nth < ALLOCATIONS_MAX);
    assert_in_range(nth, 10, ALLOCATIONS_MAX - 1);
    unlink(path);
}

/* Never secured without the proof of the peer's identity, whichever allocation fails. */
static void shake_hands(unsigned seed)
{
    struct end client, server;
    end_init(&client, tls_client(here.client, &peer));
    end_init(&server, tls_server(here.server));
    scarce_fail_often(ONE_IN, seed);
    scarce_begin();
    end_begin(&client, span_of(NULL, 0));
    settle(&client, &server, cut_none);
    scarce_end();
    if (client.secured)
        assert_true(tls_facts(client.tls).authenticated);
    end_deinit(&client);
    end_deinit(&server);
}

static void test_a_handshake_without_memory_ends(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < HANDSHAKES; seed++)
        shake_hands(seed);
    expect_works(tls_client(here.client, &peer), tls_server(here.server));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_begins_whole_or_not_at_all),
        cmocka_unit_test(test_a_server_begins_whole_or_not_at_all),
        cmocka_unit_test(test_a_context_is_made_whole_or_not_at_all),
        cmocka_unit_test(test_a_file_of_tickets_stays_readable),
        cmocka_unit_test(test_a_handshake_without_memory_ends),
    };
    if (!CRYPTO_set_mem_functions(scarce_openssl_malloc, scarce_openssl_realloc,
                                  scarce_openssl_free))
        return 1;
    return cmocka_run_group_tests_name("tls_memory", tests, set_up, tear_down);
}
