/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Identity checks: each certificate with each kind of proof, in both versions and both profiles.
 * The server uses OpenSSL directly. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tls_raw.h"

enum { NO_PIN, RIGHT_PIN, WRONG_PIN, SECOND_PIN, CA_PIN };

struct row {
    const char *what;
    struct tls_cert_wish cert; /* the server's; the test sets ca unless self_signed */
    bool self_signed, other_ca, twin_ca, trusted_itself;
    const char *auth_name; /* NULL: the address must match */
    int pin;
    const char *addr; /* NULL: 192.0.2.1 */
    enum err err;
    int alert; /* the alert that the server receives */
};

/* clang-format off */
static const struct row rows[] = {
    {"the name is right", {.name = "dns.test"}, .auth_name = "dns.test"},
    {"with an authority between", {.name = "dns.test", .intermediate = true}, .auth_name = "dns.test"},
    {"capitals mean nothing", {.name = "DNS.test"}, .auth_name = "dns.TEST"},
    {"a wildcard for one label", {.name = "*.dns.test"}, .auth_name = "a.dns.test"},
    {"a wildcard is not for two labels", {.name = "*.dns.test"}, .auth_name = "a.b.dns.test",
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"a wildcard within a label", {.name = "d*s.test"}, .auth_name = "dns.test",
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"another name", {.name = "evil.test"}, .auth_name = "dns.test",
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"a longer name", {.name = "dns.test.evil.test"}, .auth_name = "dns.test",
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"no name at all", {.subject = "x"}, .auth_name = "dns.test",
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"the name only as the subject", {.subject = "dns.test"}, .auth_name = "dns.test",
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"the address, when a name is wanted", {.ip = "192.0.2.1"}, .auth_name = "dns.test",
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"expired", {.name = "dns.test", TLS_CERTS_EXPIRED}, .auth_name = "dns.test",
     .err = ERR_TLS_EXPIRED, .alert = SSL_AD_CERTIFICATE_EXPIRED},
    {"not valid yet", {.name = "dns.test", TLS_CERTS_NOT_YET}, .auth_name = "dns.test",
     .err = ERR_TLS_EXPIRED, .alert = SSL_AD_BAD_CERTIFICATE},
    {"self-signed", {.name = "dns.test"}, .self_signed = true, .auth_name = "dns.test",
     .err = ERR_TLS_UNTRUSTED, .alert = SSL_AD_UNKNOWN_CA},
    {"of another authority", {.name = "dns.test"}, .other_ca = true, .auth_name = "dns.test",
     .err = ERR_TLS_UNTRUSTED, .alert = SSL_AD_UNKNOWN_CA},
    {"of another authority with the same name", {.name = "dns.test"}, .twin_ca = true,
     .auth_name = "dns.test", .err = ERR_TLS_UNTRUSTED, .alert = SSL_AD_DECRYPT_ERROR},
    {"meant for clients", {.name = "dns.test", .client = true}, .auth_name = "dns.test",
     .err = ERR_TLS_UNTRUSTED, .alert = SSL_AD_UNSUPPORTED_CERTIFICATE},
    {"self-signed, in the bundle", {.name = "dns.test"}, .self_signed = true,
     .trusted_itself = true, .auth_name = "dns.test"},
    {"of an unknown authority, in the bundle", {.name = "dns.test"}, .other_ca = true,
     .trusted_itself = true, .auth_name = "dns.test"},
    {"in the bundle for another name", {.name = "evil.test"}, .other_ca = true,
     .trusted_itself = true, .auth_name = "dns.test", .err = ERR_TLS_NAME,
     .alert = SSL_AD_BAD_CERTIFICATE},

    {"the address is right", {.ip = "192.0.2.1"}, .err = ERR_OK},
    {"another address", {.ip = "192.0.2.2"}, .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"the address as a name", {.name = "192.0.2.1"},
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"the address of version 6", {.ip = "2001:db8::1"}, .addr = "2001:db8::1"},
    {"another address of version 6", {.ip = "2001:db8::2"}, .addr = "2001:db8::1",
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"an address instead of a name", {.ip = "192.0.2.7"}, .auth_name = "192.0.2.7"},
    {"what only looks like an address is a name", {.ip = "10.0.2.7"}, .auth_name = "010.0.2.7",
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"the address, self-signed", {.ip = "192.0.2.1"}, .self_signed = true,
     .err = ERR_TLS_UNTRUSTED, .alert = SSL_AD_UNKNOWN_CA},

    {"a pin alone", {.name = "evil.test"}, .self_signed = true, .pin = RIGHT_PIN},
    {"the second of two pins", {.name = "evil.test"}, .self_signed = true, .pin = SECOND_PIN},
    {"a pin decides over time", {TLS_CERTS_EXPIRED}, .self_signed = true, .pin = RIGHT_PIN},
    {"a pin decides over the authority", {.name = "x"}, .other_ca = true, .pin = RIGHT_PIN},
    {"another pin", {.ip = "192.0.2.1"}, .pin = WRONG_PIN,
     .err = ERR_TLS_PIN, .alert = SSL_AD_BAD_CERTIFICATE},
    {"the pin of the authority", {.ip = "192.0.2.1"}, .pin = CA_PIN,
     .err = ERR_TLS_PIN, .alert = SSL_AD_BAD_CERTIFICATE},

    {"name and pin", {.name = "dns.test"}, .auth_name = "dns.test", .pin = RIGHT_PIN},
    {"right name, wrong pin", {.name = "dns.test"}, .auth_name = "dns.test", .pin = WRONG_PIN,
     .err = ERR_TLS_PIN, .alert = SSL_AD_BAD_CERTIFICATE},
    {"wrong name, right pin", {.name = "evil.test"}, .auth_name = "dns.test", .pin = RIGHT_PIN,
     .err = ERR_TLS_NAME, .alert = SSL_AD_BAD_CERTIFICATE},
    {"right pin, expired, with a name", {.name = "dns.test", TLS_CERTS_EXPIRED},
     .auth_name = "dns.test", .pin = RIGHT_PIN, .err = ERR_TLS_EXPIRED,
     .alert = SSL_AD_CERTIFICATE_EXPIRED},
    {"right pin, self-signed, with a name", {.name = "dns.test"}, .self_signed = true,
     .auth_name = "dns.test", .pin = RIGHT_PIN, .err = ERR_TLS_UNTRUSTED,
     .alert = SSL_AD_UNKNOWN_CA},
    {"all is wrong", {.name = "evil.test", TLS_CERTS_EXPIRED}, .self_signed = true,
     .auth_name = "dns.test", .pin = WRONG_PIN, .err = ERR_TLS_PIN,
     .alert = SSL_AD_BAD_CERTIFICATE},
};
/* clang-format on */

static struct tls_certs *ca, *other_ca, *twin_ca;
static char *ca_path;

static int set_up(void **state)
{
    (void)state;
    ca = tls_certs_authority("Test CA");
    other_ca = tls_certs_authority("Other CA");
    twin_ca = tls_certs_authority("Test CA");
    ca_path = tls_certs_file(tls_certs_pem(ca));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tls_certs_free(ca);
    tls_certs_free(other_ca);
    tls_certs_free(twin_ca);
    unlink(ca_path);
    free(ca_path);
    return 0;
}

/* The objects of a row's trial. */
struct trial {
    struct tls_cert *cert;
    struct tls_pins *pins;
    char *bundle;
    struct tls_peer_options options;
    struct addr addr;
    struct tls_context *context;
    SSL_CTX *server;
};

static struct tls_pins *make_pins(int which, const struct tls_cert *cert)
{
    size_t count = which == NO_PIN ? 0 : which == SECOND_PIN ? 2 : 1;
    struct tls_pins *pins = calloc(1, sizeof(*pins) + 2 * TLS_PIN_BYTES);
    assert_non_null(pins);

    pins->count = count;
    if (which == RIGHT_PIN)
        memcpy(pins->sha256[0], cert->pin, TLS_PIN_BYTES);
    if (which == SECOND_PIN)
        memcpy(pins->sha256[1], cert->pin, TLS_PIN_BYTES);
    if (which == CA_PIN)
        tls_certs_ca_pin(ca, pins->sha256[0]);
    return pins;
}

static void trial_init(struct trial *trial, const struct row *row, enum tls_profile profile)
{
    struct tls_cert_wish wish = row->cert;

    wish.ca = row->self_signed ? NULL : row->other_ca ? other_ca : row->twin_ca ? twin_ca : ca;
    *trial = (struct trial){.cert = tls_certs_make(&wish)};
    trial->pins = make_pins(row->pin, trial->cert);
    trial->bundle = row->trusted_itself ? tls_certs_file(trial->cert->certificate) : NULL;
    trial->options = (struct tls_peer_options){
        .profile = profile,
        .auth_name = (char *)row->auth_name,
        .pins = trial->pins,
        .ca_bundle = trial->bundle ? trial->bundle : ca_path,
    };
    assert_int_equal(addr_parse(&trial->addr, row->addr ? row->addr : "192.0.2.1", 853), ERR_OK);
    trial->context = new_client_context(&trial->options);
    trial->server = raw_server_context(trial->cert);
}

static void trial_deinit(struct trial *trial)
{
    tls_certs_free_cert(trial->cert);
    free(trial->pins);
    if (trial->bundle)
        unlink(trial->bundle);
    free(trial->bundle);
    tls_context_free(trial->context);
    SSL_CTX_free(trial->server);
}

/* Joins the client with the server. Both keep the result. */
static void shake_hands(struct trial *trial, struct end *client, struct raw *server)
{
    struct tls_peer peer = {.addr = &trial->addr, .options = &trial->options};

    end_init(client, tls_client(trial->context, &peer));
    raw_init(server, trial->server);
    end_begin(client, text_span(""));
    raw_settle(server, client, cut_none);
}

static void check_accepted(struct end *client, struct raw *server, bool authenticated)
{
    assert_int_equal(client->err, ERR_OK);
    assert_int_equal(client->secured, 1);
    assert_int_equal(tls_facts(client->tls).authenticated, authenticated);
    assert_int_equal(tls_send(client->tls, text_span("question")), ERR_OK);
    raw_settle(server, client, cut_none);
    assert_true(span_equal(buf_span(&server->plain), text_span("question")));
}

/* Our Finished message has not left, so the server is still in its handshake. It has got the alert.
 */
static void check_refused(struct end *client, struct raw *server, const struct row *row)
{
    assert_int_equal(client->err, row->err);
    assert_int_equal(client->secured, 0);
    assert_false(tls_is_secured(client->tls));
    assert_false(tls_facts(client->tls).authenticated);
    assert_int_equal(strlen(tls_detail(client->tls)) == 0, row->err == ERR_TLS_PIN);
    assert_int_equal(tls_send(client->tls, text_span("question")), ERR_CLOSED);
    assert_false(SSL_is_init_finished(server->ssl));
    assert_int_equal(server->reason, SSL_AD_REASON_OFFSET + row->alert);
    assert_int_equal(buf_len(&server->plain), 0);
}

static void check_row(const struct row *row, int version, enum tls_profile profile)
{
    struct trial trial;
    struct end client;
    struct raw server;

    trial_init(&trial, row, profile);
    SSL_CTX_set_max_proto_version(trial.server, version);
    shake_hands(&trial, &client, &server);
    if (client.err != (profile == TLS_STRICT ? row->err : ERR_OK))
        print_error("row \"%s\": %s, %s\n", row->what, err_str(client.err), tls_detail(client.tls));
    if (profile == TLS_STRICT && row->err)
        check_refused(&client, &server, row);
    else
        check_accepted(&client, &server, row->err == ERR_OK);
    end_deinit(&client);
    raw_deinit(&server);
    trial_deinit(&trial);
}

static void test_the_strict_profile_accepts_only_proved_peers_in_tls_13(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_row(&rows[i], TLS1_3_VERSION, TLS_STRICT);
}

static void test_the_strict_profile_accepts_only_proved_peers_in_tls_12(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_row(&rows[i], TLS1_2_VERSION, TLS_STRICT);
}

static void test_the_opportunistic_profile_accepts_every_peer_and_reports_the_proof(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        check_row(&rows[i], TLS1_3_VERSION, TLS_OPPORTUNISTIC);
        check_row(&rows[i], TLS1_2_VERSION, TLS_OPPORTUNISTIC);
    }
}

static void check_server_name(const char *auth_name, int pin, const char *expected)
{
    struct row row = {.cert = {.name = "dns.test"}, .auth_name = auth_name, .pin = pin};
    struct trial trial;
    struct end client;
    struct raw server;

    trial_init(&trial, &row, TLS_OPPORTUNISTIC);
    shake_hands(&trial, &client, &server);
    const char *name = SSL_get_servername(server.ssl, TLSEXT_NAMETYPE_host_name);
    assert_string_equal(name ? name : "", expected);
    end_deinit(&client);
    raw_deinit(&server);
    trial_deinit(&trial);
}

static void test_the_server_gets_the_name_but_never_an_address(void **state)
{
    (void)state;
    check_server_name("dns.test", NO_PIN, "dns.test");
    check_server_name("dns.test", RIGHT_PIN, "dns.test");
    check_server_name(NULL, NO_PIN, "");
    check_server_name("", RIGHT_PIN, "");
    check_server_name("192.0.2.1", NO_PIN, "");
    check_server_name("2001:db8::1", NO_PIN, "");
}

/* An anonymous suite has no certificate, so it cannot prove an identity. */
static void test_an_anonymous_server_is_refused(void **state)
{
    struct row row = {.cert = {.name = "dns.test"}, .auth_name = "dns.test"};
    struct trial trial;
    struct end client;
    struct raw server;
    (void)state;

    trial_init(&trial, &row, TLS_STRICT);
    tls_context_free(trial.context);
    trial.options.ciphers = (char *)"ALL:@SECLEVEL=0";
    trial.context = new_client_context(&trial.options);
    SSL_CTX_set_max_proto_version(trial.server, TLS1_2_VERSION);
    assert_int_equal(SSL_CTX_set_cipher_list(trial.server, "aNULL:@SECLEVEL=0"), 1);
    shake_hands(&trial, &client, &server);
    assert_int_equal(client.err, ERR_TLS_ALERT);
    assert_int_equal(server.reason, SSL_R_NO_SHARED_CIPHER);
    end_deinit(&client);
    raw_deinit(&server);
    trial_deinit(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_strict_profile_accepts_only_proved_peers_in_tls_13),
        cmocka_unit_test(test_the_strict_profile_accepts_only_proved_peers_in_tls_12),
        cmocka_unit_test(test_the_opportunistic_profile_accepts_every_peer_and_reports_the_proof),
        cmocka_unit_test(test_the_server_gets_the_name_but_never_an_address),
        cmocka_unit_test(test_an_anonymous_server_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
