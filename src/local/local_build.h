/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_BUILD_H
#define NAILUP_LOCAL_LOCAL_BUILD_H

/*
 * Makes the table of local_names.h.
 *
 *   struct local_build *build = local_build_new();
 *   ... zones, then records, then lists, in the order in which they count ...
 *   local_build_spare() for each zone that has upstreams of its own
 *   local_special_add() (local_special.h), if wanted
 *   local_build_end(&build, &names);
 *
 * Of two words about one name the earlier counts, but zones with upstreams go before lists. Names
 * are in lower case. Results: ERR_LIMIT when a bound of name_map.h or local_table.h is
 * reached, ERR_NO_MEMORY. One thread.
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

/* A zone of the operator. ERR_INVALID: there is one with this name. */
MUST_USE enum err local_build_zone(struct local_build *build, struct name name,
                                   enum local_action action);

/*
 * One record in wire form, uncompressed, owner in any case. A record that is there already is left
 * out. ERR_INVALID: *why says what is wrong with it (static text that completes "... is wrong: ").
 * The TTL of an RRset is that of its first record (RFC 2181 section 5.2).
 */
MUST_USE enum err local_build_record(struct local_build *build, struct span record,
                                     const char **why);

/* An address of a name, as a hosts file has it; the name's PTR record as well, unless the address
 * has one or is no host's (0.0.0.0, ::). Not where the name is an alias: then nothing is done. */
MUST_USE enum err local_build_host(struct local_build *build, struct name name,
                                   const struct addr *addr, bool with_ptr);

/* Whether ERR_LIMIT was that of the table, and not that of one RRset. */
bool local_build_is_full(const struct local_build *build);

/* Whether the name has records. */
bool local_build_has_records(const struct local_build *build, struct name name);

/* A list of names with one action; *list is what local_build_listed() takes. Addresses are those of
 * LOCAL_REDIRECT, each as an A or AAAA record. ERR_LIMIT: more than LOCAL_LISTS_MAX. */
MUST_USE enum err local_build_list(struct local_build *build, enum local_action action,
                                   const struct addr *redirect, size_t count, uint32_t *list);

/* The name and all below it are on the list. */
MUST_USE enum err local_build_listed(struct local_build *build, uint32_t list, struct name name);

/* The lists hold for what aliases lead to as well. */
void local_build_block_aliases(struct local_build *build);

/* A zone that has upstreams: names in it are asked there, unless a name of the table lies between.
 */
MUST_USE enum err local_build_spare(struct local_build *build, struct name zone);

/* A name of special use, unless it is a zone of the operator or of upstreams already: then *taken.
 */
MUST_USE enum err local_build_special(struct local_build *build, struct name name,
                                      enum local_action action, bool is_delegated, bool *taken);

/* A record as local_build_record(), of a name of special use: left out where the operator has one
 * of its name and type. */
MUST_USE enum err local_build_special_rr(struct local_build *build, struct name owner,
                                         uint16_t type, struct span rdata);

/* The table; *build is gone in any case. NULL in *out where there was an error. */
MUST_USE enum err local_build_end(struct local_build **build, struct local_names **out);

#endif
