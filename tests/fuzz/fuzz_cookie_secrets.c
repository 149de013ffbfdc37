/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads any bytes as a file of cookie secrets. The result is secrets, or a place and a sentence.
 * Secrets that are written must read back the same.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "serve/cookie_secrets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINE_CHARS = 2 * SIPHASH_KEY_BYTES + 1 };

static void check_again(const struct cookie_secrets *secrets)
{
    char text[COOKIE_SECRETS_MAX * LINE_CHARS + 1], why[COOKIE_SECRETS_WHY_MAX];
    struct cookie_secrets again;
    size_t len = 0;
    for (uint8_t i = 0; i < secrets->count; i++) {
        for (int at = 0; at < SIPHASH_KEY_BYTES; at++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%02x", secrets->list[i][at]);
        text[len++] = '\n';
    }
    MUST(cookie_secrets_parse(&again, span_of(text, len), why) == ERR_OK);
    MUST(again.count == secrets->count);
    MUST(memcmp(again.list, secrets->list, again.count * sizeof(again.list[0])) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cookie_secrets secrets;
    char why[COOKIE_SECRETS_WHY_MAX] = "";
    unsigned line;
    size_t column;
    if (cookie_secrets_parse(&secrets, span_of(data, size), why) == ERR_OK) {
        MUST(secrets.count > 0 && secrets.count <= COOKIE_SECRETS_MAX);
        check_again(&secrets);
        return 0;
    }
    MUST(secrets.count == 0);
    MUST(sscanf(why, "%u:%zu: ", &line, &column) == 2 && line > 0 && column > 0);
    MUST(column <= size + 1);
    return 0;
}
