/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_PREFIX_H
#define NAILUP_BASE_PREFIX_H

/*
 * CIDR prefixes and a set of them with longest match. The set is built once (add, freeze) and is
 * immutable afterwards, so any thread may look things up: a binary search over disjoint ranges,
 * one array a family, log2(2n) comparisons for n prefixes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"

struct prefix {
    struct addr
        addr; /* host bits may be set as written: 10.50.1.64/27 and 10.50.1.65/27 match alike */
    uint8_t length; /* 0..32 or 0..128 */
};

enum { PREFIX_TEXT_MAX = 64 };

/* "IP" (one address) or "IP/LENGTH". One address may have a zone, as in addr_parse(): it is that
 * address on that link alone, where without a zone it is the address on every link. */
MUST_USE enum err prefix_parse(struct prefix *out, const char *text);
const char *prefix_format(const struct prefix *prefix, char out[PREFIX_TEXT_MAX]);
bool prefix_contains(const struct prefix *prefix, const struct addr *addr);
bool prefix_is_single(const struct prefix *prefix);
/* True when both cover the same addresses, whatever their host bits. */
bool prefix_equal(const struct prefix *a, const struct prefix *b);

struct prefix_set;

struct prefix_set *prefix_set_new(void); /* NULL out of memory */
void prefix_set_free(struct prefix_set *set);

/* value is what prefix_set_find() returns; 0 or more. ERR_INVALID if the same prefix is there. */
MUST_USE enum err prefix_set_add(struct prefix_set *set, const struct prefix *prefix, int value);

/* Ends the building; nothing may be added afterwards. */
MUST_USE enum err prefix_set_freeze(struct prefix_set *set);

/* The value of the longest prefix that contains the address, or -1. An address with a zone is
 * longer than the same without. */
int prefix_set_find(const struct prefix_set *set, const struct addr *addr);

#endif
