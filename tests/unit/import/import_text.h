/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_IMPORT_TEXT_H
#define NAILUP_TESTS_IMPORT_TEXT_H

/* Imports text for the tests of import. Include it after cmocka. */

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "import/import_unbound.h"

#define ROOT "forward-zone:\n name: .\n forward-addr: 192.0.2.1\n"

/* The output of the last import, and its messages. */
static char printed[IMPORT_BYTES_MAX + 1], said[IMPORT_MESSAGES_BYTES + 1];

static inline void keep(const struct buf *buf, char *out)
{
    struct span span = buf_span(buf);
    if (span.len)
        memcpy(out, span.data, span.len);
    out[span.len] = '\0';
}

static inline enum err import_bytes(const char *text, size_t len)
{
    struct buf out, messages;
    buf_init(&out, IMPORT_BYTES_MAX);
    buf_init(&messages, IMPORT_MESSAGES_BYTES);
    enum err err = import_unbound_text("u.conf", span_of(text, len), &out, &messages);
    keep(&out, printed);
    keep(&messages, said);
    buf_deinit(&messages);
    buf_deinit(&out);
    return err;
}

/* Returns the configuration that the text becomes. The caller frees it. */
static inline struct config *imported(const char *text)
{
    struct config *config;
    struct buf errors;
    assert_int_equal(import_bytes(text, strlen(text)), ERR_OK);
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_parse("f", printed, strlen(printed), &config, &errors), ERR_OK);
    buf_deinit(&errors);
    return config;
}

static inline void expect_refused(const char *text, const char *error)
{
    assert_int_not_equal(import_bytes(text, strlen(text)), ERR_OK);
    assert_string_equal(said, error);
}

/* Imports the text. The result contains each piece, in this order. */
static inline void expect_pieces(const char *text, const char *const *pieces)
{
    config_free(imported(text));
    const char *at = printed;
    for (; *pieces; pieces++) {
        const char *found = strstr(at, *pieces);
        if (!found)
            fail_msg("\"%s\" does not stand in\n%s", *pieces, at);
        at = found + strlen(*pieces);
    }
}

#define EXPECT(text, ...) expect_pieces(text, (const char *const[]){__VA_ARGS__, NULL})

static inline void expect_missing(const char *piece)
{
    if (strstr(printed, piece))
        fail_msg("\"%s\" stands in\n%s", piece, printed);
}

#endif
