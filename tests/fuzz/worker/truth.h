/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_TRUTH_H
#define NAILUP_TESTS_FUZZ_WORKER_TRUTH_H

/*
 * The contents of the simulated DNS: its zones, their servers, and the records of each name.
 * Records are a function of the name alone, so a check of an answer does not need to know its
 * server. A lie that a resolver must not believe carries marked data.
 *
 *   .  t0.  t1.  a.t0.  b.t0. (its servers are named in a.t1.)  a.t1.  fwd.  stub.  sub.stub.
 *   c.e1.t0. (at the servers of b.t0., and cut out of t0. below an empty non-terminal)
 *
 * Names: <zone>, ns<i>.<zone>, n<k>.<zone>, e1.<zone> (an empty non-terminal), n<k>.e1.<zone>.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "dns/message.h"
#include "dns/name.h"
#include "dns/rrtype.h"

enum truth_zone {
    ZONE_ROOT,
    ZONE_T0,
    ZONE_T1,
    ZONE_A_T0,
    ZONE_B_T0,
    ZONE_A_T1,
    ZONE_FWD,
    ZONE_STUB,
    ZONE_SUB_STUB,
    ZONE_C_E1_T0,
    ZONE_COUNT,
};

/* Numbers of servers. Their addresses are in truth_servers. */
enum {
    SERVER_FORWARDERS = 0,     /* four servers that resolve any name */
    SERVER_FORWARDERS_TLS = 4, /* the same four, over TLS */
    SERVER_ROOT = 8,
    SERVER_COUNT = 26,
};

struct truth_server {
    const char *addr;
    uint16_t zones; /* a bit for each enum truth_zone; 0: a forwarder */
};
extern const struct truth_server truth_servers[SERVER_COUNT];

enum truth_kind {
    TRUTH_NOWHERE, /* the name does not exist */
    TRUTH_APEX,
    TRUTH_HOST,  /* the name is a server's */
    TRUTH_EMPTY, /* only names below the name exist */
    TRUTH_LEAF,
};

struct truth {
    enum truth_kind kind;
    enum truth_zone zone; /* the deepest zone with the name */
    unsigned number;      /* the number of the host or leaf */
    bool is_deep;         /* the leaf is below the empty non-terminal */
};

enum {
    LEAF_COUNT = 256,
    LEAF_ASKED = 240, /* schedules use smaller numbers, so no server has lied about these */
    LEAF_BIG = 25,    /* a datagram cannot hold its addresses */
    TRUTH_TTL = 3600,
    LIE_TTL = 60, /* for an address that only a validating resolver can recognise as false */
};

struct truth truth_of(struct name name);

/* Returns the zone's name; static storage. */
struct name truth_zone_name(enum truth_zone zone);
enum truth_zone truth_parent(enum truth_zone zone);

/* Writes a leaf's name to out. */
struct name truth_leaf(enum truth_zone zone, unsigned number, bool is_deep,
                       uint8_t out[NAME_WIRE_MAX]);

/* Returns the rcode for the name after its aliases. A loop has RCODE_SERVFAIL. */
uint16_t truth_rcode(struct name name);

/* Returns whether the name, after its aliases, has records of this type. */
bool truth_has(struct name name, uint16_t type);

/* Writes the target of an alias to out. Returns false if the name is not an alias. */
bool truth_alias(struct name name, uint8_t out[NAME_WIRE_MAX], struct name *target);

uint32_t truth_ttl(struct name owner);

/* ---- writing ---- */

struct writer {
    uint8_t *data;
    size_t len, max;
    bool is_full;
};

/* Writes the header and question of a response to the query. flags: header flags and the rcode. */
void writer_begin(struct writer *out, uint8_t *data, size_t max, const struct message *query,
                  uint16_t flags);
void writer_record(struct writer *out, enum section section, struct name owner, uint16_t type,
                   uint32_t ttl, struct span rdata);

/* Writes the honest answer of a server with the zones of mask: data with aliases within its zones,
 * a referral with glue, a denial, or REFUSED. mask 0: a forwarder. */
void truth_answer(struct writer *out, uint8_t *data, size_t max, const struct message *query,
                  uint16_t mask);

/* Writes the zone's NS records into authority, with all addresses as glue. */
void truth_refer(struct writer *out, enum truth_zone zone, enum truth_zone hosts);
void truth_deny(struct writer *out, enum truth_zone zone);

/* Writes a record that no resolver may believe: truth_is_marked() is true for its data. */
void truth_lie(struct writer *out, enum section section, struct name owner, uint16_t type,
               uint32_t ttl);

/* ---- checking ---- */

bool truth_is_marked(uint16_t type, struct span rdata);

/* Returns whether owner has this record (A, AAAA, TXT, CNAME, NS of a zone, SOA). */
bool truth_holds(struct name owner, uint16_t type, const struct message *message,
                 const struct rr *rr);

#endif
