/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_CATALOG_H
#define NAILUP_ZONE_ZONE_CATALOG_H

/*
 * Reads a zone as a catalog, version 2 (RFC 9432). A member is a PTR record at
 * <label>.zones.<origin> that names a zone. Properties such as group and coo, and all other
 * records, are ignored (section 3). Pure.
 */

#include <stddef.h>

#include "dns/name.h"

struct zone_data;

/* Both names borrow from the zone. A member with another node has lost its state (section 5.4). */
struct zone_catalog_member {
    struct name zone;
    struct name node; /* <label>.zones.<origin> */
};

/*
 * Lists the members in the order of their nodes, and sets *total to their number. Members after the
 * first max are counted only. Returns NULL, or why the catalog is broken (section 5.1): a sentence
 * for logs. Broken: no version or another one than 2, a node with several PTR records, or a zone
 * that is listed twice.
 */
const char *zone_catalog_read(const struct zone_data *data, struct zone_catalog_member *members,
                              size_t max, size_t *total);

#endif
