/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TREE_H
#define NAILUP_BENCH_TREE_H

/*
 * A hierarchy of any number of zones that exists in no file: whether a name is a zone, its servers
 * and its records are functions of the name. A listener of the responder takes one of
 * four places in it:
 *
 *   root   the root zone, which delegates every name of one label
 *   tld    all of those, which delegate every name below them
 *   near   zones of two labels and more below the TLDs that begin with "near"
 *   far    those below all other TLDs
 *
 * A label that begins with "sub" is one more cut. Servers of near and far with even numbers (from
 * 0, in the order they were given) have the zones of an even number of labels, the others those of
 * an odd number, so that each cut leads to other servers. Every zone has two servers, ns0 and ns1
 * below itself; one in four of two labels below far TLDs has its own in another zone, without glue
 * (the names of those zones are dns<digit>.hosts).
 *
 * In a zone a name is an address when its first label begins with "w" (A and AAAA), an alias of one
 * in another zone when with "al", not there when some label begins with "nx", and else there
 * without any records.
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
