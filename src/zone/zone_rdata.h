/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_RDATA_H
#define NAILUP_ZONE_ZONE_RDATA_H

/*
 * Turns the tokens of a record into RDATA. Common types are read here, because a response policy
 * zone has millions of them; ldns (dns/present.h) reads the others at a tenth of the speed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"
#include "zone/zone_lexer.h"

enum {
    ZONE_RDATA_MAX = UINT16_MAX,
    ZONE_RDATA_TEXT_MAX = 4 * ZONE_RDATA_MAX + 1024, /* every byte may be an escape */
};

/* The buffers of the conversion. */
struct zone_rdata {
    uint8_t bytes[ZONE_RDATA_MAX];
    size_t len;
    uint8_t record[ZONE_RDATA_MAX + 16]; /* as ldns returns it, with an owner of one byte */
    char text[ZONE_RDATA_TEXT_MAX];
};

/* Reads a name; a relative one gets the origin. Returns false when it is not a name. */
MUST_USE bool zone_token_name(const struct zone_token *token, struct name origin,
                              uint8_t out[NAME_WIRE_MAX], struct name *name);

/* Reads a number up to max; units of BIND are allowed for TTLs ("1h30m"). Return false otherwise.
 */
MUST_USE bool zone_token_number(const struct zone_token *token, uint32_t max, uint32_t *out);
MUST_USE bool zone_token_ttl(const struct zone_token *token, uint32_t *out);

/* Reads RDATA of class IN from these tokens into out. The bytes may lack the shape of the type: the
 * builder checks it. Returns NULL, or the fault: static text. */
const char *zone_rdata_read(struct zone_rdata *out, uint16_t type, const struct zone_token *tokens,
                            size_t count, struct name origin);

#endif
