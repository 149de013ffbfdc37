/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_PREFIX_H
#define NAILUP_BASE_PREFIX_H

/*
 * CIDR prefixes and a set of them with longest match. A set is built once (add, freeze) and is
 * immutable afterwards, so any thread may search it: a binary search over disjoint ranges, one
 * array per family, log2(2n) comparisons for n prefixes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"

struct prefix {
    struct addr addr; /* may have host bits: 10.50.1.64/27 and 10.50.1.65/27 match alike */
    uint8_t length;   /* 0..32 or 0..128 */
};

enum { PREFIX_TEXT_MAX = 64 };

/* Parses "IP" (one address) or "IP/LENGTH". A single address may have a zone, as in addr_parse():
 * then it matches on that link only, and without a zone on every link. */
MUST_USE enum err prefix_parse(struct prefix *out, const char *text);

/* Like prefix_parse(), but ::ffff:0:0/96 and its parts stay IPv6: they match the IPv4-mapped form
 * of an address and not the IPv4 address itself. */
MUST_USE enum err prefix_parse_unmapped(struct prefix *out, const char *text);
/* Whether the text is written in IPv6 and covers IPv4-mapped addresses only. */
bool prefix_is_mapped(const char *text);
const char *prefix_format(const struct prefix *prefix, char out[PREFIX_TEXT_MAX]);
bool prefix_contains(const struct prefix *prefix, const struct addr *addr);
bool prefix_is_single(const struct prefix *prefix);
/* Clears the bits beyond the length. Returns whether one was set. */
bool prefix_clear_host_bits(struct prefix *prefix);
/* Whether both cover the same addresses; host bits do not count. */
bool prefix_equal(const struct prefix *a, const struct prefix *b);

struct prefix_set;

struct prefix_set *prefix_set_new(void); /* NULL when out of memory */
void prefix_set_free(struct prefix_set *set);

/* Adds a prefix with the value, 0 or more, that prefix_set_find() returns. ERR_INVALID: the set has
 * the same prefix already. */
MUST_USE enum err prefix_set_add(struct prefix_set *set, const struct prefix *prefix, int value);

/* Ends the building: no prefix may be added afterwards. */
MUST_USE enum err prefix_set_freeze(struct prefix_set *set);

/* Returns the value of the longest prefix that contains the address, or -1. An address with a zone
 * counts as longer than the same address without. */
int prefix_set_find(const struct prefix_set *set, const struct addr *addr);

#endif
