/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_CONFIG_TEXT_H
#define NAILUP_TESTS_CONFIG_TEXT_H

/*
 * Loads configurations from text for the tests of config. Include it after cmocka. ZONE completes a
 * text that needs a zone.
 */

#include <string.h>

#include "config/config.h"
#include "config/config_upstream.h"

#define ZONE "forward-zones: [{name: ., upstreams: [192.0.2.53]}]\n"

/* The errors of the last load in one string. */
static char errors_text[CONFIG_ERRORS_BYTES + 1];

static inline struct config *load_bytes(const char *text, size_t len)
{
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = config_parse("f", text, len, &config, &errors);
    struct span span = buf_span(&errors);
    if (span.len)
        memcpy(errors_text, span.data, span.len);
    errors_text[span.len] = '\0';
    buf_deinit(&errors);
    assert_int_equal(err == ERR_OK, config != NULL);
    assert_int_equal(err == ERR_OK, span.len == 0);
    return config;
}

static inline struct config *load_text(const char *text)
{
    return load_bytes(text, strlen(text));
}

/* Loads the text. Its errors fail the test and show in the output. */
static inline struct config *load_fine(const char *text)
{
    struct config *config = load_text(text);
    assert_string_equal(errors_text, "");
    return config;
}

/* Each text must fail with exactly these lines. */
static inline void expect_errors(const char *text, const char *errors)
{
    struct config *config = load_text(text);
    assert_string_equal(errors_text, errors);
    assert_null(config);
}

static inline struct addr addr_of(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 53), ERR_OK);
    return addr;
}

static inline void expect_same_text(const char *a, const char *b)
{
    assert_string_equal(a ? a : "", b ? b : "");
}

static inline void expect_same_tls(const struct tls_peer_options *a,
                                   const struct tls_peer_options *b)
{
    assert_int_equal(a->profile, b->profile);
    assert_int_equal(a->early_data, b->early_data);
    expect_same_text(a->auth_name, b->auth_name);
    expect_same_text(a->ca_bundle, b->ca_bundle);
    expect_same_text(a->certificate, b->certificate);
    expect_same_text(a->key, b->key);
    expect_same_text(a->ciphers, b->ciphers);
    expect_same_text(a->groups, b->groups);
    assert_int_equal(a->pins ? a->pins->count : 0, b->pins ? b->pins->count : 0);
    for (size_t i = 0; a->pins && i < a->pins->count; i++)
        assert_memory_equal(a->pins->sha256[i], b->pins->sha256[i], TLS_PIN_BYTES);
}

/* Compares field by field, because padding between fields has no defined value. */
static inline void expect_same_options(const struct upstream_options *a,
                                       const struct upstream_options *b)
{
    assert_int_equal(a->transport, b->transport);
    assert_int_equal(a->fallback, b->fallback);
    assert_int_equal(a->nailed, b->nailed);
    assert_int_equal(a->prewarm, b->prewarm);
    assert_int_equal(a->hold, b->hold);
    assert_int_equal(a->case_randomisation, b->case_randomisation);
    assert_int_equal(a->cookies, b->cookies);
    assert_int_equal(a->connections, b->connections);
    assert_int_equal(a->max_connections, b->max_connections);
    assert_int_equal(a->max_in_flight, b->max_in_flight);
    assert_int_equal(a->max_requests, b->max_requests);
    assert_int_equal(a->max_age_us, b->max_age_us);
    assert_int_equal(a->idle_timeout_us, b->idle_timeout_us);
    assert_int_equal(a->connect_timeout_us, b->connect_timeout_us);
    assert_int_equal(a->query_timeout_us, b->query_timeout_us);
    assert_int_equal(a->stall_timeout_us, b->stall_timeout_us);
    assert_int_equal(a->keepalive_idle_s, b->keepalive_idle_s);
    assert_int_equal(a->keepalive_interval_s, b->keepalive_interval_s);
    assert_int_equal(a->keepalive_count, b->keepalive_count);
    assert_int_equal(a->tcp_fast_open, b->tcp_fast_open);
    assert_int_equal(a->max_handshakes, b->max_handshakes);
    assert_int_equal(a->fallback_port, b->fallback_port);
    expect_same_tls(&a->tls, &b->tls);
    assert_true(sources_equal(a->sources, b->sources));
}

/* Returns the output of --print-config; the caller frees it. */
static inline char *print_text(const struct config *config)
{
    struct buf out;
    buf_init(&out, 4 * CONFIG_FILE_MAX);
    assert_int_equal(config_print(config, &out), ERR_OK);
    char *text = strndup((const char *)buf_span(&out).data, buf_len(&out));
    assert_non_null(text);
    buf_deinit(&out);
    return text;
}

#endif
