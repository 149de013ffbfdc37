/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_BUILD_INSIDE_H
#define NAILUP_LOCAL_LOCAL_BUILD_INSIDE_H

/* What local_build.c (names and their rules) and local_records.c (what names have) share. */

#include <stdlib.h>

#include "base/addr.h"
#include "base/check.h"
#include "base/err.h"
#include "base/span.h"
#include "dns/header.h"
#include "dns/name.h"
#include "dns/rrtype.h"
#include "local/local_table.h"

enum { RECORD_MAX = 255 + 10 + 65535 };

struct local_build {
    struct local_names *names;
    struct name_map *spared; /* zones that have upstreams */
    size_t node_room, rrset_room, record_room, rdata_room;
    uint32_t zone_rules[LOCAL_REDIRECT + 1];
    uint32_t special_rules[2][LOCAL_REDIRECT + 1]; /* by is_delegated */
    size_t lists;
    uint8_t message[HEADER_LEN + RECORD_MAX];
};

/* One more place in an array of `count` elements; false out of memory. */
static inline bool local_build_room(void **array, size_t count, size_t more, size_t *room,
                                    size_t size)
{
    if (count + more <= *room)
        return true;
    size_t wanted = MAX(count + more, MAX(*room + *room / 2, (size_t)64));
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

/* As local_build_room() for the array `field` of the names. */
#define LOCAL_ROOM(build, field, count, more, room)                                                \
    local_build_room((void **)&(build)->names->field, (build)->names->count, more, &(build)->room, \
                     sizeof(*(build)->names->field))

/* The name's node, made if there is none; its place. */
MUST_USE enum err local_build_node(struct local_build *build, struct name name, uint32_t *place);

/* Says of every name above that something is below it. */
MUST_USE enum err local_build_mark_above(struct local_build *build, struct name name);

/* An address as a record. */
static inline uint16_t local_address_type(const struct addr *addr)
{
    return addr_family(addr) == AF_INET6 ? RRTYPE_AAAA : RRTYPE_A;
}

static inline struct span local_address_rdata(const struct addr *addr)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    return span_of(bytes, len);
}

/* Adds to the RRset of the type in the chain that begins at *chain (which may move with it). */
MUST_USE enum err local_records_add(struct local_build *build, uint32_t *chain, uint16_t type,
                                    uint32_t ttl_s, struct span rdata);

#endif
