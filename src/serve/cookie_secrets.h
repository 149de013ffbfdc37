/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_COOKIE_SECRETS_H
#define NAILUP_SERVE_COOKIE_SECRETS_H

/*
 * What server cookies are signed with: the operator's secrets, which all servers behind one address
 * share, or ones of this process, which change every day.
 */

#include <stdint.h>

#include "base/err.h"
#include "base/siphash.h"
#include "base/span.h"

enum {
    COOKIE_SECRETS_MAX = 4,
    COOKIE_SECRETS_FILE_MAX = 4096, /* bytes of a file of them */
    COOKIE_SECRETS_WHY_MAX = 120,
    COOKIE_SECRET_DAY_S = 86400, /* RFC 7873 section 7.1: 26 hours to 36 days apart; the old one is
                                    taken for as long as cookies live */
};

struct cookie_secrets {
    uint8_t count;
    uint8_t list[COOKIE_SECRETS_MAX][SIPHASH_KEY_BYTES]; /* the first signs, all are accepted */
};

/*
 * Reads a file's text: a secret a line, 32 hexadecimal digits, with blanks around; empty lines and
 * those that begin with # count as nothing. A new secret is rolled out as RFC 9018 section 5 says:
 * written below the old one everywhere, then above it, then the old one is removed. At
 * ERR_INVALID why is "LINE:COLUMN: " and a sentence, and *out has no secret. Pure.
 */
MUST_USE enum err cookie_secrets_parse(struct cookie_secrets *out, struct span text,
                                       char why[COOKIE_SECRETS_WHY_MAX]);

/* Those of this process on the given day since 1970: that day's and those of its neighbours, as
 * cookies made before midnight live on, and clocks are set. All workers get the same. Any thread.
 */
void cookie_secrets_of_day(struct cookie_secrets *out, uint32_t day);

#endif
