/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TREE_H
#define NAILUP_BENCH_TREE_H

/*
 * A hierarchy of any number of zones, without files. A function of a name tells whether it is a
 * zone, and has its servers and records. A listener of the responder takes one of four places:
 *
 *   root   the root zone, which delegates every name of one label
 *   tld    all zones of one label, which delegate every name below them
 *   near   zones of two labels and more below the TLDs that begin with "near"
 *   far    zones of two labels and more below all other TLDs
 *
 * A label that begins with "sub" is one more cut. Servers of near and far are numbered from 0 in
 * the order of their options. Even servers have the zones with an even number of labels, odd
 * servers the others, so that each cut leads to other servers. Every zone has two servers, ns0 and
 * ns1 below itself. Only one in four zones of two labels below far TLDs has its servers in another
 * zone, without glue (such zones are dns<digit>.hosts).
 *
 * The first label of a name decides about its records: "w..." has A and AAAA records, and "al..."
 * is an alias into another zone. A name does not exist if a label begins with "nx". All other
 * names exist without records.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "draft.h"
#include "wire.h"

enum { TREE_SERVERS_MAX = 32 }; /* per level */

enum tree_level {
    TREE_NONE,
    TREE_ROOT,
    TREE_TLD,
    TREE_NEAR,
    TREE_FAR,
    TREE_LEVELS,
};

struct tree {
    unsigned counts[TREE_LEVELS];
    uint8_t servers[TREE_LEVELS][TREE_SERVERS_MAX][4]; /* IPv4 addresses */
};

/* The place of a listener in the tree. TREE_NONE: outside the tree. */
struct tree_place {
    const struct tree *tree;
    enum tree_level level;
    unsigned number; /* from 0 */
};

/* Reads "root", "tld", "near" or "far". Returns TREE_NONE for any other text. */
enum tree_level tree_level_from_text(const char *text);

/* Takes the place for an IPv4 address. Returns false if there is no room, or if the address is not
 * IPv4. */
bool tree_add(struct tree *tree, enum tree_level level, const struct addr *addr,
              struct tree_place *place);

/* Returns NULL, or a sentence that says which servers are missing. The tree needs one server each
 * for root and tld, and two each for near and far. It may also have no server at all. */
const char *tree_is_whole(const struct tree *tree);

struct tree_ttls {
    uint32_t answer_s, negative_s; /* of zone cuts: an hour */
};

struct tree_answer {
    enum rcode rcode;
    bool is_authoritative;
};

/* Writes the records that this place's server has for the query, after the question at draft->start
 * + WIRE_HEADER_BYTES. A zone of another server gets REFUSED. */
struct tree_answer tree_put(const struct tree_place *place, const struct wire_query *query,
                            const struct tree_ttls *ttls, struct draft *draft);

#endif
