/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Two ends of ours, joined in memory, however the bytes between them are cut. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tls_ends.h"

static struct {
    struct tls_certs *ca;
    struct tls_cert *cert;
    char *ca_path;
    struct addr addr;
    struct tls_peer_options options;
    struct tls_context *client, *server;
} here;

static int set_up(void **state)
{
    char why[TLS_WHY_MAX];
    (void)state;

    here.ca = tls_certs_authority("Test CA");
    here.cert = tls_certs_make(
        &(struct tls_cert_wish){.ca = here.ca, .name = "dns.test", .intermediate = true});
    here.ca_path = tls_certs_file(tls_certs_pem(here.ca));
    here.options =
        (struct tls_peer_options){.auth_name = (char *)"dns.test", .ca_bundle = here.ca_path};
    assert_int_equal(addr_parse(&here.addr, "192.0.2.1", 853), ERR_OK);
    assert_int_equal(tls_context_client(&here.client, &here.options, why), ERR_OK);
    struct tls_server_options server = {.certificate = tls_certs_certificate(here.cert),
                                        .key = tls_certs_key(here.cert)};
    assert_int_equal(tls_context_server(&here.server, &server, why), ERR_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tls_context_free(here.client);
    tls_context_free(here.server);
    tls_certs_free(here.ca);
    tls_certs_free_cert(here.cert);
    remove(here.ca_path);
    free(here.ca_path);
    return 0;
}

static void pair_init(struct end *client, struct end *server)
{
    struct tls_peer peer = {.addr = &here.addr, .options = &here.options};

    end_init(client, tls_client(here.client, &peer));
    end_init(server, tls_server(here.server));
    end_begin(client, text_span(""));
}

static void check_exchange(cut_fn *cut)
{
    struct end client, server;

    pair_init(&client, &server);
    settle(&client, &server, cut);
    assert_int_equal(client.err, ERR_OK);
    assert_int_equal(server.err, ERR_OK);
    assert_int_equal(client.secured, 1);
    assert_int_equal(server.secured, 1);
    assert_int_equal(tls_send(client.tls, text_span("question")), ERR_OK);
    assert_int_equal(tls_send(server.tls, text_span("answer")), ERR_OK);
    settle(&client, &server, cut);
    assert_true(span_equal(buf_span(&server.plain), text_span("question")));
    assert_true(span_equal(buf_span(&client.plain), text_span("answer")));
    end_deinit(&client);
    end_deinit(&server);
}

static void test_two_ends_exchange_plain_text_in_one_piece(void **state)
{
    (void)state;
    check_exchange(cut_none);
}

static void test_two_ends_exchange_plain_text_byte_by_byte(void **state)
{
    (void)state;
    check_exchange(cut_bytes);
}

static void test_two_ends_exchange_plain_text_in_random_pieces(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        check_exchange(cut_random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_ends_exchange_plain_text_in_one_piece),
        cmocka_unit_test(test_two_ends_exchange_plain_text_byte_by_byte),
        cmocka_unit_test(test_two_ends_exchange_plain_text_in_random_pieces),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
