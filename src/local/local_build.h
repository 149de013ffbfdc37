/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_BUILD_H
#define NAILUP_LOCAL_LOCAL_BUILD_H

/*
 * Builds the table of local_names.h.
 *
 *   struct local_build *build = local_build_new();
 *   ... zones, then records, then lists; earlier ones win ...
 *   local_build_exempt() for each zone with its own upstreams
 *   local_special_add() (local_special.h), unless it is switched off
 *   local_build_end(&build, &names);
 *
 * The first rule for a name wins, except that zones with upstreams win over lists. Names are in
 * lower case. Errors: ERR_LIMIT when a bound of name_map.h or local_table.h is reached,
 * ERR_NO_MEMORY. One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"
#include "local/local_names.h"

enum { LOCAL_LISTS_MAX = 64 };

struct local_build;

struct local_build *local_build_new(void);
void local_build_free(struct local_build *build);

/* Adds a zone of the operator. ERR_INVALID: the name is a zone already. */
MUST_USE enum err local_build_zone(struct local_build *build, struct name name,
                                   enum local_action action);

/*
 * Adds one record in wire form, uncompressed, with the owner in any case. A duplicate is left out.
 * The first record sets the TTL of its RRset (RFC 2181 section 5.2). ERR_INVALID: *why is the fault
 * (static text that completes "... is wrong: ").
 */
MUST_USE enum err local_build_record(struct local_build *build, struct span record,
                                     const char **why);

/* Adds an address of a name from a hosts file. with_ptr also adds a PTR record, unless the address
 * has one or belongs to no host (0.0.0.0, ::). Does nothing for a name with a CNAME. */
MUST_USE enum err local_build_host(struct local_build *build, struct name name,
                                   const struct addr *addr, bool with_ptr);

/* Returns whether the table is full, rather than one RRset, after ERR_LIMIT. */
bool local_build_is_full(const struct local_build *build);

/* Returns whether the name has records. */
bool local_build_has_records(const struct local_build *build, struct name name);

/* Adds a list of names with one action and sets *list for local_build_listed(). The addresses
 * belong to LOCAL_REDIRECT; each becomes an A or AAAA record. ERR_LIMIT: more than LOCAL_LISTS_MAX
 * lists. */
MUST_USE enum err local_build_list(struct local_build *build, enum local_action action,
                                   const struct addr *redirect, size_t count, uint32_t *list);

/* Adds a name to the list: it applies to the name and all names below. */
MUST_USE enum err local_build_listed(struct local_build *build, uint32_t list, struct name name);

/* Applies the lists to targets of aliases too. */
void local_build_block_aliases(struct local_build *build);

/* Adds a zone with upstreams: its upstreams answer its names, unless the table has a longer zone.
 */
MUST_USE enum err local_build_exempt(struct local_build *build, struct name zone);

/* Adds a special-use name. Sets *is_taken and adds nothing if the name already is a zone of the
 * operator or a zone with upstreams. */
MUST_USE enum err local_build_special(struct local_build *build, struct name name,
                                      enum local_action action, bool is_delegated, bool *is_taken);

/* Adds a record of a special-use name, unless the operator has records of its name and type. */
MUST_USE enum err local_build_special_rr(struct local_build *build, struct name owner,
                                         uint16_t type, struct span rdata);

/* Finishes the table. Frees *build in any case. *out is NULL on error. */
MUST_USE enum err local_build_end(struct local_build **build, struct local_names **out);

#endif
