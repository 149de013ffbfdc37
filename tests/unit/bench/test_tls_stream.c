/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The two TLS ends of the bench, with bytes carried by hand: trust, resumption, and how they end.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "tls_client.h"
#include "tls_server.h"

enum { ROOM = 40000, LONG = 30000, STEPS_MAX = 20 };

static struct tls_server *server;
static struct tls_server_options settings;
static struct tls_client client;
static struct addr address;
static char ca_path[] = "/tmp/nailup-test-ca-XXXXXX";

struct ends {
    struct tls_stream *client, *server;
};

static void set_client(int version, const char *ca, const char *name)
{
    char why[TLS_TEXT_MAX];
    const struct tls_client_options options = {.version = version, .ca_file = ca, .name = name};
    tls_client_deinit(&client);
    assert_true(tls_client_init(&client, &options, why));
}

static int init(void **state)
{
    char why[TLS_TEXT_MAX];
    (void)state;
    settings = (struct tls_server_options){.tickets = 2};
    assert_int_equal(addr_parse(&address, "127.0.0.1@853", 0), ERR_OK);
    server = tls_server_new("responder.test", &address, 1, NULL, NULL, why);
    assert_non_null(server);
    close(mkstemp(ca_path));
    assert_true(tls_server_write_authority(server, ca_path));
    client = (struct tls_client){0};
    set_client(0, ca_path, "responder.test");
    return 0;
}

static int deinit(void **state)
{
    (void)state;
    tls_client_deinit(&client);
    tls_server_free(server);
    unlink(ca_path);
    strcpy(ca_path + strlen(ca_path) - 6, "XXXXXX");
    return 0;
}

/* Moves the output of one end to the other, piece by piece. Returns how much plain text the other
 * end read. */
static size_t move(struct tls_stream *from, struct tls_stream *to, size_t piece, uint8_t *out)
{
    static uint8_t none[ROOM];
    size_t read = 0;
    while (buf_len(&from->wire)) {
        struct span bytes = buf_span(&from->wire);
        bytes.len = MIN(bytes.len, piece);
        ssize_t n;
        tls_stream_feed(to, bytes);
        while ((n = tls_stream_read(to, out ? out + read : none, ROOM - read)) > 0)
            read += (size_t)n;
        assert_true(tls_stream_settle(to));
        buf_consume(&from->wire, bytes.len);
    }
    return read;
}

static struct ends shake(bool resume, size_t piece)
{
    struct ends ends = {.client = tls_client_open(&client, &address, resume),
                        .server = tls_server_accept(server, &settings)};
    assert_non_null(ends.client);
    assert_non_null(ends.server);
    assert_int_equal(tls_stream_shake(ends.client), 0);
    for (int i = 0; i < STEPS_MAX; i++) {
        move(ends.client, ends.server, piece, NULL);
        move(ends.server, ends.client, piece, NULL);
    }
    if (ends.client->status == TLS_OPEN)
        tls_client_on_open(&client, ends.client);
    return ends;
}

static void end(struct ends *ends)
{
    tls_stream_free(ends->client);
    tls_stream_free(ends->server);
}

static void assert_echo(struct ends *ends, size_t len)
{
    static uint8_t sent[ROOM], got[ROOM];
    for (size_t i = 0; i < len; i++)
        sent[i] = (uint8_t)(i * 7);
    assert_true(tls_stream_write(ends->client, span_of(sent, len)));
    assert_int_equal(move(ends->client, ends->server, SIZE_MAX, got), len);
    assert_memory_equal(sent, got, len);
    assert_true(tls_stream_write(ends->server, span_of(sent, len)));
    assert_int_equal(move(ends->server, ends->client, SIZE_MAX, got), len);
    assert_memory_equal(sent, got, len);
}

static void test_both_versions_carry_bytes_both_ways(void **state)
{
    static const int versions[] = {12, 13};
    char alpn[TLS_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        set_client(versions[i], ca_path, "responder.test");
        struct ends ends = shake(false, SIZE_MAX);
        assert_int_equal(ends.client->status, TLS_OPEN);
        assert_int_equal(ends.server->status, TLS_OPEN);
        assert_int_equal(tls_stream_version(ends.server), versions[i]);
        assert_string_equal(tls_stream_sni(ends.server), "responder.test");
        tls_stream_alpn(ends.client, alpn);
        assert_string_equal(alpn, "dot");
        assert_echo(&ends, 1);
        assert_echo(&ends, LONG);
        end(&ends);
    }
}

static void test_single_bytes_make_a_whole_handshake(void **state)
{
    (void)state;
    struct ends ends = shake(false, 1);
    assert_int_equal(ends.client->status, TLS_OPEN);
    assert_echo(&ends, 100);
    end(&ends);
}

/* Bytes that found no room survive tls_stream_settle(). */
static void test_bytes_without_room_wait(void **state)
{
    static uint8_t sent[LONG], got[LONG];
    size_t read = 0;
    (void)state;
    struct ends ends = shake(false, SIZE_MAX);
    memset(sent, 'x', LONG);
    assert_true(tls_stream_write(ends.client, span_of(sent, LONG)));
    tls_stream_feed(ends.server, buf_span(&ends.client->wire));
    while (read < LONG) {
        ssize_t n = tls_stream_read(ends.server, got + read, MIN(LONG - read, 1000));
        assert_true(n > 0);
        assert_true(tls_stream_settle(ends.server));
        read += (size_t)n;
    }
    assert_memory_equal(sent, got, LONG);
    assert_int_equal(tls_stream_read(ends.server, got, 1), 0);
    end(&ends);
}

static void test_a_ticket_is_used_once_and_resumes(void **state)
{
    static const int versions[] = {12, 13};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        set_client(versions[i], ca_path, "responder.test");
        struct ends first = shake(true, SIZE_MAX);
        assert_false(tls_stream_is_resumed(first.client));
        end(&first);
        for (int round = 0; round < 3; round++) {
            struct ends again = shake(true, SIZE_MAX);
            assert_true(tls_stream_is_resumed(again.client));
            assert_true(tls_stream_is_resumed(again.server));
            assert_echo(&again, 10);
            end(&again);
        }
        assert_int_equal(client.full, 1);
        assert_int_equal(client.resumed, 3);
    }
    assert_int_equal(tls_server_reused_tickets(server), 0);
}

static void test_a_forgotten_ticket_means_a_full_handshake(void **state)
{
    (void)state;
    struct ends ends = shake(false, SIZE_MAX);
    end(&ends);
    assert_true(client.ticket_count > 0);
    tls_server_forget(server);
    ends = shake(true, SIZE_MAX);
    assert_int_equal(ends.client->status, TLS_OPEN);
    assert_false(tls_stream_is_resumed(ends.client));
    end(&ends);
}

static void test_without_tickets_there_is_nothing_to_resume(void **state)
{
    (void)state;
    settings.tickets = 0;
    struct ends ends = shake(false, SIZE_MAX);
    assert_int_equal(ends.client->status, TLS_OPEN);
    assert_int_equal(client.ticket_count, 0);
    end(&ends);
}

static void test_bad_certificates_are_refused_with_an_alert(void **state)
{
    static const struct {
        enum tls_identity identity;
        const char *word;
    } cases[] = {
        {TLS_IDENTITY_EXPIRED, "expired"},
        {TLS_IDENTITY_FUTURE, "not yet valid"},
        {TLS_IDENTITY_OTHER_NAME, "mismatch"},
        {TLS_IDENTITY_SELF_SIGNED, "self-signed"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        settings.identity = (int)cases[i].identity;
        struct ends ends = shake(false, SIZE_MAX);
        assert_int_equal(ends.client->status, TLS_BROKEN);
        assert_non_null(strstr(ends.client->why, cases[i].word));
        assert_true(ends.server->alert >= 0);
        uint8_t byte;
        assert_int_equal(tls_stream_read(ends.client, &byte, 1), -1);
        assert_false(tls_stream_write(ends.client, span_of("x", 1)));
        end(&ends);
    }
    settings.identity = TLS_IDENTITY_GOOD;
    struct ends good = shake(false, SIZE_MAX);
    assert_int_equal(good.client->status, TLS_OPEN);
    end(&good);
}

static void test_the_address_is_verified_without_a_name(void **state)
{
    (void)state;
    set_client(0, ca_path, NULL);
    struct ends ends = shake(false, SIZE_MAX);
    assert_int_equal(ends.client->status, TLS_OPEN);
    end(&ends);
    assert_int_equal(addr_parse(&address, "127.0.0.9@853", 0), ERR_OK);
    ends = shake(false, SIZE_MAX);
    assert_int_equal(ends.client->status, TLS_BROKEN);
    assert_non_null(strstr(ends.client->why, "IP address mismatch"));
    end(&ends);
}

static void test_a_client_without_verification_trusts_every_server(void **state)
{
    (void)state;
    set_client(0, NULL, NULL);
    settings.identity = TLS_IDENTITY_SELF_SIGNED;
    struct ends ends = shake(false, SIZE_MAX);
    assert_int_equal(ends.client->status, TLS_OPEN);
    end(&ends);
}

static void test_a_file_without_certificates_is_an_error(void **state)
{
    char why[TLS_TEXT_MAX];
    const struct tls_client_options options = {.ca_file = "/nonexistent/ca.pem"};
    struct tls_client other;
    (void)state;
    assert_false(tls_client_init(&other, &options, why));
    assert_non_null(strstr(why, "/nonexistent/ca.pem"));
    tls_client_deinit(&other);
}

static void test_early_data_is_answered_before_the_handshake_is_over(void **state)
{
    uint8_t got[ROOM];
    (void)state;
    settings.early = TLS_EARLY_ON;
    struct ends first = shake(false, SIZE_MAX);
    end(&first);
    assert_true(tls_client_may_send_early(&client));
    struct ends ends = {.client = tls_client_open(&client, &address, true),
                        .server = tls_server_accept(server, &settings)};
    assert_true(tls_stream_write_early(ends.client, span_of("query", 5)));
    assert_int_equal(move(ends.client, ends.server, SIZE_MAX, got), 5);
    assert_int_equal(ends.server->early_bytes, 5);
    assert_true(tls_stream_write(ends.server, span_of("answer", 6)));
    assert_int_equal(move(ends.server, ends.client, SIZE_MAX, got), 6);
    assert_memory_equal(got, "answer", 6);
    assert_true(tls_stream_early_accepted(ends.client));
    end(&ends);
}

static void test_rejected_early_data_is_not_read(void **state)
{
    (void)state;
    settings.early = TLS_EARLY_REJECT;
    struct ends first = shake(false, SIZE_MAX);
    end(&first);
    struct ends ends = {.client = tls_client_open(&client, &address, true),
                        .server = tls_server_accept(server, &settings)};
    assert_true(tls_stream_write_early(ends.client, span_of("query", 5)));
    for (int i = 0; i < STEPS_MAX; i++) {
        assert_int_equal(move(ends.client, ends.server, SIZE_MAX, NULL), 0);
        assert_int_equal(move(ends.server, ends.client, SIZE_MAX, NULL), 0);
    }
    assert_false(tls_stream_early_accepted(ends.client));
    assert_echo(&ends, 10);
    end(&ends);
}

static void test_close_notify_ends_reading(void **state)
{
    uint8_t byte;
    (void)state;
    struct ends ends = shake(false, SIZE_MAX);
    tls_stream_notify_close(ends.server);
    move(ends.server, ends.client, SIZE_MAX, NULL);
    assert_int_equal(ends.client->status, TLS_ENDED);
    assert_int_equal(tls_stream_read(ends.client, &byte, 1), -1);
    assert_int_equal(ends.client->alert, -1);
    end(&ends);
}

static void test_keys_may_change_on_the_way(void **state)
{
    (void)state;
    struct ends ends = shake(false, SIZE_MAX);
    tls_stream_renew(ends.server);
    assert_true(buf_len(&ends.server->wire) > 0);
    move(ends.server, ends.client, SIZE_MAX, NULL);
    assert_echo(&ends, 100);
    end(&ends);
}

static void test_garbage_breaks_a_server_and_is_explained(void **state)
{
    static const char garbage[] = "GET / HTTP/1.1\r\n\r\n";
    uint8_t byte;
    (void)state;
    struct tls_stream *stream = tls_server_accept(server, &settings);
    tls_stream_feed(stream, span_of(garbage, sizeof(garbage) - 1));
    assert_int_equal(tls_stream_read(stream, &byte, 1), -1);
    assert_true(tls_stream_settle(stream));
    assert_int_equal(stream->status, TLS_BROKEN);
    assert_true(stream->why[0] != '\0');
    tls_stream_free(stream);
}

/* If the peer takes nothing, the stream reaches its bound and breaks, and the process goes on. */
static void test_bytes_that_the_peer_does_not_take_are_bounded(void **state)
{
    static uint8_t bytes[1 << 20];
    (void)state;
    struct ends ends = shake(false, SIZE_MAX);
    int written = 0;
    memset(bytes, 0xff, sizeof(bytes)); /* messages of 65,535 bytes */
    while (written < 10 && tls_stream_write(ends.server, span_of(bytes, sizeof(bytes))))
        written++;
    assert_in_range(written, 4, 6);
    assert_int_equal(ends.server->status, TLS_BROKEN);
    end(&ends);
}

static void test_settings_choose_alpn_and_version(void **state)
{
    char alpn[TLS_TEXT_MAX];
    (void)state;
    settings.alpn = TLS_ALPN_NONE;
    settings.versions = TLS_VERSIONS_12;
    struct ends ends = shake(false, SIZE_MAX);
    tls_stream_alpn(ends.client, alpn);
    assert_string_equal(alpn, "");
    assert_int_equal(tls_stream_version(ends.client), 12);
    end(&ends);
    settings.alpn = TLS_ALPN_REFUSE;
    ends = shake(false, SIZE_MAX);
    assert_int_equal(ends.client->status, TLS_BROKEN);
    assert_string_equal(tls_alert_text(ends.client->alert), "no application protocol");
    end(&ends);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, init, deinit)
    const struct CMUnitTest tests[] = {
        TEST(test_both_versions_carry_bytes_both_ways),
        TEST(test_single_bytes_make_a_whole_handshake),
        TEST(test_bytes_without_room_wait),
        TEST(test_close_notify_ends_reading),
        TEST(test_keys_may_change_on_the_way),
        TEST(test_a_ticket_is_used_once_and_resumes),
        TEST(test_a_forgotten_ticket_means_a_full_handshake),
        TEST(test_without_tickets_there_is_nothing_to_resume),
        TEST(test_early_data_is_answered_before_the_handshake_is_over),
        TEST(test_rejected_early_data_is_not_read),
        TEST(test_settings_choose_alpn_and_version),
        TEST(test_the_address_is_verified_without_a_name),
        TEST(test_a_client_without_verification_trusts_every_server),
        TEST(test_a_file_without_certificates_is_an_error),
        TEST(test_bad_certificates_are_refused_with_an_alert),
        TEST(test_garbage_breaks_a_server_and_is_explained),
        TEST(test_bytes_that_the_peer_does_not_take_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
