/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_DELEGATION_H
#define NAILUP_RECURSE_DELEGATION_H

/*
 * A zone cut: a zone, the names of its servers and those of their addresses that are known. Made of
 * a referral, of what the zone's own servers say, of hints; kept in the cache under (zone, NS) in
 * the view CACHE_VIEW_CUTS. A value without pointers: it may be copied. Pure; any thread.
 *
 * What is believed: a parent's word about a zone below it and on the way to the name asked for,
 * a zone's word about itself, and addresses that come with it of hosts at or below the zone that
 * was asked (glue within bailiwick). Everything else must be looked up.
 *
 * Invariant: what the zone itself says lives no longer than what its parent said, so that a
 * delegation that the parent removes ends in time (ghost domains).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "cache/answer.h"
#include "cache/compose.h"
#include "dns/message.h"
#include "dns/name.h"
#include "dns/question.h"

enum {
    DELEGATION_SERVERS_MAX = 13,        /* as many as the root has; more are not looked at */
    DELEGATION_ADDRS_MAX = 32,          /* of all servers */
    DELEGATION_ADDRS_EACH_MAX = 8,      /* of one server: one alone must not take all places */
    DELEGATION_NAME_BYTES = 1024,       /* the zone's name and those of its servers */
    DELEGATION_NONE = -1,               /* no server */
    DELEGATION_NO_REFERRER = UINT8_MAX, /* the zone that named it is not known */
};

enum delegation_origin {
    DELEGATION_HINTS,      /* root hints */
    DELEGATION_CONFIGURED, /* the servers of a zone of the configuration; they are not listed here
                            */
    DELEGATION_PARENT,     /* a referral */
    DELEGATION_CHILD,      /* the zone's own NS records, which are worth more */
};

struct delegation_server {
    uint16_t name_at;
    uint8_t name_len;
    uint8_t addr_count;
};

struct delegation_addr {
    uint8_t server;
    uint8_t len; /* 4 or 16 */
    uint8_t bytes[16];
};

struct delegation {
    enum delegation_origin origin;
    uint8_t zone_len; /* its name comes first in names */
    uint8_t server_count, addr_count;
    uint8_t
        referrer_labels; /* of the zone above whose referral this is, or DELEGATION_NO_REFERRER */
    uint16_t names_len;
    uint64_t ends_at; /* us; UINT64_MAX: never */
    struct delegation_server servers[DELEGATION_SERVERS_MAX];
    struct delegation_addr addrs[DELEGATION_ADDRS_MAX];
    uint8_t names[DELEGATION_NAME_BYTES];
};

/* A cut without servers. */
void delegation_init(struct delegation *delegation, struct name zone, enum delegation_origin origin,
                     uint64_t ends_at);

/* Borrowed from the delegation, in lower case. */
struct name delegation_zone(const struct delegation *delegation);
struct name delegation_server(const struct delegation *delegation, unsigned server);

/* The place of the server with this name, new or known; DELEGATION_NONE when there is no room. */
int delegation_add(struct delegation *delegation, struct name server);

/* The place of the server, or DELEGATION_NONE. */
int delegation_find(const struct delegation *delegation, struct name server);

/* An address of a server: 4 or 16 bytes (MUST). False without room, and of an IPv4 address written
 * as IPv6 (::ffff:192.0.2.1, ::192.0.2.1); a known one is no second. */
bool delegation_add_addr(struct delegation *delegation, unsigned server, struct span bytes);

/* The addresses in the answer section are the server's: of an answer of ours to a question for
 * them, which has nothing else. So a server whose name is an alias is found, against RFC 2181
 * section 10.3, as others find it. */
void delegation_add_answer(struct delegation *delegation, unsigned server,
                           const struct message *message);

void delegation_addr(const struct delegation *delegation, unsigned at, uint16_t port,
                     struct addr *out);

/* Whether the server's name cannot be looked up without asking the zone itself, so that only glue
 * could have helped: it lies in the zone. */
bool delegation_needs_glue(const struct delegation *delegation, unsigned server);

/* Takes the addresses that `from` knows of servers of the same names. */
void delegation_inherit(struct delegation *delegation, const struct delegation *from);

/* Whether somebody can be asked: an address is known, or some server can be looked up. */
bool delegation_is_reachable(const struct delegation *delegation);

/* Tells sets of addresses apart, whatever their order. 0: none. */
uint64_t delegation_addrs_mark(const struct delegation *delegation);

/*
 * What a server of the zone `asked_zone` says of a zone below it, when asked for a question in
 * section authority, or in answer to a question for NS. False when that is no referral: its zone is
 * not strictly below the one asked, or not at or above the name in question, or no server fits.
 * message has parsed OK and its RDATA is sound (message_check_rdata).
 */
MUST_USE bool delegation_from_referral(struct delegation *out, const struct message *message,
                                       enum section section, struct name asked_zone,
                                       const struct question *question, uint64_t now);

/* The zone's own NS records in an authoritative answer to the question for them, or, when the
 * message is proven to be the server's, in the answer to any question and beside it, with the
 * addresses that come with them. Who forges an answer to one name would otherwise have them all
 * (CVE-2025-11411). Ends no later than parent_ends_at. False when there are none. */
MUST_USE bool delegation_from_child(struct delegation *out, const struct message *message,
                                    struct name zone, const struct question *asked, bool is_proven,
                                    uint64_t parent_ends_at, uint64_t now);

/* Ends no later than the cut that was asked: without it this would not have been found. The root's
 * is always there. */
void delegation_end_with(struct delegation *delegation, const struct delegation *asked);

/* Takes the addresses that the other one has of the server with this name; false: it has none. */
bool delegation_take_glue(struct delegation *delegation, unsigned server,
                          const struct delegation *from);

/* The question that the cut is kept under; the name borrows from the delegation. */
struct question delegation_key(const struct delegation *delegation);

/* As an answer to be stored under that, which borrows from the space; at most ttl_max_s long. False
 * when it is not to be kept: it has ended, never ends, or has no server. */
MUST_USE bool delegation_to_answer(const struct delegation *delegation, struct answer *out,
                                   struct compose_space *space, uint32_t ttl_max_s, uint64_t now);

/* The inverse. False when the answer is no cut. */
MUST_USE bool delegation_from_answer(struct delegation *out, const struct answer *answer);

#endif
