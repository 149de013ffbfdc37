/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_COOKIE_SECRETS_H
#define NAILUP_SERVE_COOKIE_SECRETS_H

/*
 * The secrets that sign server cookies: those of the operator, which all servers behind one address
 * share, or those of this process, which change every day.
 */

#include <stdint.h>

#include "base/err.h"
#include "base/siphash.h"
#include "base/span.h"

enum {
    COOKIE_SECRETS_MAX = 4,
    COOKIE_SECRETS_FILE_MAX = 4096, /* bytes */
    COOKIE_SECRETS_WHY_MAX = 120,
    COOKIE_SECRET_DAY_S = 86400, /* RFC 7873 section 7.1: 26 hours to 36 days apart; the old secret
                                    stays valid for the life of its cookies */
};

struct cookie_secrets {
    uint8_t count;
    uint8_t list[COOKIE_SECRETS_MAX][SIPHASH_KEY_BYTES]; /* the first signs, all are accepted */
};

/*
 * Reads the text of a secrets file. Each line has one secret of 32 hexadecimal digits; spaces
 * around it do not matter. Empty lines and lines that begin with # are skipped. The operator rolls
 * out a new secret as in RFC 9018 section 5: first below the old one on all servers, then above it,
 * then the old one is removed. On ERR_INVALID, why is "LINE:COLUMN: " and a sentence, and *out has
 * no secret. Pure.
 */
MUST_USE enum err cookie_secrets_parse(struct cookie_secrets *out, struct span text,
                                       char why[COOKIE_SECRETS_WHY_MAX]);

/* The secrets of this process for a day since 1970, then those of the days before and after it:
 * cookies stay valid over midnight, and over small steps of the clock. The same for all workers.
 * Any thread.
 */
void cookie_secrets_of_day(struct cookie_secrets *out, uint32_t day);

#endif
