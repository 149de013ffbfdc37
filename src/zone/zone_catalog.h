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

enum { ZONE_CATALOG_MEMBERS_MAX = 65536 };

/* Both names borrow from the zone. A member with another node has lost its state (section 5.4). */
struct zone_catalog_member {
    struct name zone;
    struct name node; /* <label>.zones.<origin> */
};

/* The members in the order of their nodes. */
struct zone_catalog {
    struct zone_catalog_member *members;
    size_t count;
};

/*
 * Lists the members, which the caller ends with zone_catalog_deinit(). Returns NULL, or why there
 * is no list (section 5.1): a sentence for logs. A catalog is broken if it has no version or a
 * version other than 2, if a node has several PTR records, if a zone is listed twice, or if it has
 * more than ZONE_CATALOG_MEMBERS_MAX members. The other cause is lack of memory.
 */
const char *zone_catalog_read(struct zone_catalog *out, const struct zone_data *data);

/* Frees the list. Fine for a list that was never read. */
void zone_catalog_deinit(struct zone_catalog *catalog);

#endif
