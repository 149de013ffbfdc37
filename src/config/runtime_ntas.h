/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_RUNTIME_NTAS_H
#define NAILUP_CONFIG_RUNTIME_NTAS_H

/*
 * Negative trust anchors that are set at run time (`nailupctl nta`), each until its end (RFC 7646),
 * and the anchors of a configuration with them applied. Pure; one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "config/config.h"
#include "dns/name.h"

struct anchor_point;
struct anchors;

enum {
    RUNTIME_NTAS_MAX = 256,
    RUNTIME_NTA_WHY_MAX = 400,
    RUNTIME_NTA_DEFAULT_S = 3600,
    RUNTIME_NTA_LONGEST_S = 7 * 86400, /* RFC 7646 section 2 */
};

/* One negative trust anchor: a plain value. */
struct runtime_nta {
    uint8_t wire[NAME_WIRE_MAX]; /* lower case */
    uint8_t name_len;
    uint64_t ends_at; /* us of the loops' clock */
};

static inline struct name runtime_nta_name(const struct runtime_nta *nta)
{
    return (struct name){nta->wire, nta->name_len};
}

/* Reads a name, and the time until its end in the syntax of the file; NULL is an hour. ERR_INVALID:
 * why says what to write instead. */
MUST_USE enum err runtime_nta_parse(struct runtime_nta *out, const char *name, const char *time,
                                    uint64_t now, char why[RUNTIME_NTA_WHY_MAX]);

/* In the order in which they were set. Empty at first: {0}. */
struct runtime_ntas {
    size_t count;
    struct runtime_nta list[RUNTIME_NTAS_MAX];
};

/* The anchor with this name in lower case, or NULL. */
const struct runtime_nta *runtime_ntas_find(const struct runtime_ntas *ntas, struct name name);

/* Adds an anchor, or replaces the end of the anchor with the same name. ERR_LIMIT: there are
 * RUNTIME_NTAS_MAX already. */
MUST_USE enum err runtime_ntas_put(struct runtime_ntas *ntas, const struct runtime_nta *nta);

/* False if there was no such anchor. */
bool runtime_ntas_remove(struct runtime_ntas *ntas, struct name name);

/* The earliest end; UINT64_MAX: none. */
uint64_t runtime_ntas_next_end(const struct runtime_ntas *ntas);

/* Removes an anchor whose end has come. False: no end has come. */
bool runtime_ntas_take_ended(struct runtime_ntas *ntas, uint64_t now, struct runtime_nta *out);

/* Makes a copy of the configuration's anchors with all these negative anchors; the caller frees it.
 * The point (NULL: none) replaces the anchors that the configuration has for its zone, except those
 * of dnssec.trust-anchors. *out is NULL if the configuration's own anchors need no change. */
MUST_USE enum err runtime_ntas_anchors(const struct runtime_ntas *ntas, const struct config *config,
                                       const struct anchor_point *point, struct anchors **out);

#endif
