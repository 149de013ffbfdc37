/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_DELEGATION_H
#define NAILUP_RECURSE_DELEGATION_H

/*
 * A zone cut: a zone, its servers' names, and their known addresses. It comes from a referral, from
 * the zone's own servers, or from hints, and is kept in the cache under (zone, NS) in the view
 * CACHE_VIEW_CUTS. The struct has no pointers, so it may be copied. Pure; any thread.
 *
 * The servers of a zone may speak for that zone, and for a zone below it if the QNAME is at or
 * below the lower zone. They may add the addresses of hosts at or below their zone (in-bailiwick
 * glue). All other addresses must be looked up.
 *
 * Invariant: a zone's statement about itself lives no longer than its parent's, so a delegation
 * that the parent removes ends in time (ghost domains).
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
    DELEGATION_SERVERS_MAX = 13,        /* as many as the root has; the rest is ignored */
    DELEGATION_ADDRS_MAX = 32,          /* the most addresses of all servers */
    DELEGATION_ADDRS_EACH_MAX = 8,      /* of one server, so that others have places */
    DELEGATION_NAME_BYTES = 1024,       /* the zone's name and its servers' names */
    DELEGATION_NONE = -1,               /* no server */
    DELEGATION_NO_REFERRER = UINT8_MAX, /* the zone whose referral named the servers is not known */
};

enum delegation_origin {
    DELEGATION_HINTS,      /* root hints */
    DELEGATION_CONFIGURED, /* the servers of a configured zone, which are not listed here */
    DELEGATION_PARENT,     /* a referral */
    DELEGATION_CHILD,      /* the zone's own NS records, which are preferred */
    DELEGATION_HELD,       /* a zone held here, which answers itself; without servers */
};

struct delegation_server {
    uint16_t name_at;
    uint8_t name_len;
    uint8_t addr_count;
    bool shares_addr; /* it has an address that is listed for another server */
};

struct delegation_addr {
    uint8_t server;
    uint8_t len; /* 4 or 16 */
    uint8_t bytes[16];
};

struct delegation {
    enum delegation_origin origin;
    uint8_t zone_len; /* the zone's name is the first in names */
    uint8_t server_count, addr_count;
    uint8_t referrer_labels; /* of the zone that sent the referral, or DELEGATION_NO_REFERRER */
    uint16_t names_len;
    uint64_t ends_at; /* us; UINT64_MAX: never */
    struct delegation_server servers[DELEGATION_SERVERS_MAX];
    struct delegation_addr addrs[DELEGATION_ADDRS_MAX];
    uint8_t names[DELEGATION_NAME_BYTES];
};

/* Makes a cut without servers. */
void delegation_init(struct delegation *delegation, struct name zone, enum delegation_origin origin,
                     uint64_t ends_at);

/* Borrowed from the delegation, in lower case. */
struct name delegation_zone(const struct delegation *delegation);
struct name delegation_server(const struct delegation *delegation, unsigned server);

/* Returns the place of the server with this name, which may be new; DELEGATION_NONE if there is no
 * room. */
int delegation_add(struct delegation *delegation, struct name server);

/* Returns the place of the server, or DELEGATION_NONE. */
int delegation_find(const struct delegation *delegation, struct name server);

/* Adds an address of a server: 4 or 16 bytes (MUST). False: no room, already known, be it of
 * another server, or an IPv4 address written as IPv6 (::ffff:192.0.2.1, ::192.0.2.1). */
bool delegation_add_addr(struct delegation *delegation, unsigned server, struct span bytes);

/* Adds the addresses in the answer section, from an answer of ours to the question for them. A
 * server whose name is an alias is found too, as other resolvers find it, against RFC 2181 section
 * 10.3. */
void delegation_add_answer(struct delegation *delegation, unsigned server,
                           const struct message *message);

void delegation_addr(const struct delegation *delegation, unsigned at, uint16_t port,
                     struct addr *out);

/* Whether a server of the cut has both IP addresses. */
bool delegation_is_one_server(const struct delegation *delegation, const struct addr *one,
                              const struct addr *other);

/* Whether the server is at or below the zone, so that a look-up would ask the zone itself and only
 * glue helps. */
bool delegation_needs_glue(const struct delegation *delegation, unsigned server);

/* Adds the addresses that `from` has for servers of the same names. */
void delegation_inherit(struct delegation *delegation, const struct delegation *from);

/* Whether a server can be asked: an address is known, or a server can be looked up. */
bool delegation_is_reachable(const struct delegation *delegation);

/* Returns a mark that identifies the set of addresses, whatever their order. 0: no addresses. */
uint64_t delegation_addrs_mark(const struct delegation *delegation);

/*
 * Reads what a server of `asked_zone` says about a zone below it, in the authority section or in
 * the answer to a question for NS. False: the zone is not strictly below the asked one, or not at
 * or above the QNAME, or no server fits. The message has parsed OK and its RDATA is sound
 * (message_check_rdata).
 */
MUST_USE bool delegation_from_referral(struct delegation *out, const struct message *message,
                                       enum section section, struct name asked_zone,
                                       const struct question *question, uint64_t now);

/* Makes a cut of `zone` with one server from an answer with its addresses. `asked` names that
 * server. The answer comes from a server of `asked_zone`, which is above `zone`, and is believed
 * where glue would be. The cut ends no later than the referral that named the server. False: the
 * answer has no address of the server. */
MUST_USE bool delegation_from_address(struct delegation *out, const struct message *message,
                                      struct name zone, struct name asked_zone,
                                      const struct question *asked, uint64_t referral_ends_at,
                                      uint64_t now);

/* Reads the zone's own NS records and their addresses: from an authoritative answer to the question
 * for them, or, where the message is proven to be the server's, from any answer and its authority
 * section. A forger of one answer would otherwise take over the zone (CVE-2025-11411). Ends no
 * later than parent_ends_at. False: there are none. */
MUST_USE bool delegation_from_child(struct delegation *out, const struct message *message,
                                    struct name zone, const struct question *asked, bool is_proven,
                                    uint64_t parent_ends_at, uint64_t now);

/* Ends the cut no later than the asked one, which led to it. The root never ends. */
void delegation_end_with(struct delegation *delegation, const struct delegation *asked);

/* Adds the addresses that `from` has for the server of this name. False: it has none. */
bool delegation_take_glue(struct delegation *delegation, unsigned server,
                          const struct delegation *from);

/* Makes an answer to store under (zone, NS), which borrows from the space and lives ttl_max_s at
 * most. False: the cut has ended, never ends, or has no server. */
MUST_USE bool delegation_to_answer(const struct delegation *delegation, struct answer *out,
                                   struct compose_space *space, uint32_t ttl_max_s, uint64_t now);

/* Does the inverse. False: the answer is not a cut. */
MUST_USE bool delegation_from_answer(struct delegation *out, const struct answer *answer);

#endif
