/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_MAP_H
#define NAILUP_IMPORT_UNBOUND_MAP_H

/*
 * What statements of unbound.conf mean in a nailup.yaml. Some wait for others (a port for its
 * interfaces), so all are taken first and unbound_map_end() draws the sum.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/draft.h"
#include "import/unbound_source.h"

/* A text that waits, and where it stood. */
struct unbound_value {
    struct unbound_value *next;
    const char *text;
    const struct draft_origin *origin; /* NULL: not given */
};

struct unbound_zone {
    struct unbound_zone *next;
    enum unbound_clause clause;
    const struct draft_origin *origin; /* of its name, or of the clause */
    const char *name;                  /* NULL: not given */
    struct unbound_value *addresses;
    bool tls, tcp, no_cache, first, fallback;
    const struct draft_origin *tls_origin, *tcp_origin, *cache_origin, *first_origin;
};

enum { UNBOUND_PORTS = 65536 };

struct unbound_map_state {
    struct draft *draft;
    struct unbound_source *source;
    /* listeners */
    struct unbound_value *interfaces, **last_interface;
    struct unbound_value port;   /* of those that name none */
    struct unbound_value family; /* the last do-ip line */
    struct unbound_value automatic;
    bool no_ip4, no_ip6;
    uint8_t tls_ports[UNBOUND_PORTS / 8];
    /* clients */
    bool has_access, has_local_v4, has_local_v6;
    const struct draft_origin *access_origin;
    struct unbound_value incoming_tcp, ciphers, suites, version, identity;
    const struct draft_origin *shown_version, *shown_identity; /* hide-...: no */
    bool hides_version, hides_identity;
    /* cache */
    uint64_t message_bytes, rrset_bytes;
    const struct draft_origin *size_origin;
    struct unbound_value expired, expired_ttl;
    bool has_source_v4, has_source_v6;
    /* upstreams */
    const struct draft_origin *tcp_origin, *tls_origin; /* of all; NULL: no */
    struct unbound_zone *zones, **last_zone, *zone;
    /* recursion */
    const struct draft_origin *not_query_origin; /* the first of them; NULL: as it is by itself */
    bool queries_localhost;
};

void unbound_map_init(struct unbound_map_state *map, struct draft *draft,
                      struct unbound_source *source);

/* Takes a statement; what it refers to lives as long as the draft. */
void unbound_map_take(struct unbound_map_state *map, const struct unbound_statement *statement);

/* All is read: what waited is drawn. */
void unbound_map_end(struct unbound_map_state *map);

/* ---- among the parts ---- */

#define MAP(name)                                                                                  \
    void map_##name(struct unbound_map_state *map, const struct unbound_statement *statement);
UNBOUND_MAPS(MAP)
#undef MAP

/* The value as yes or no; a note and false when it is neither. */
bool map_take_flag(struct unbound_map_state *map, const struct unbound_statement *statement,
                   bool *yes);
/* As a number of at most 15 digits. */
bool map_take_number(struct unbound_map_state *map, const struct unbound_statement *statement,
                     uint64_t *number);
void map_note(struct unbound_map_state *map, const struct unbound_statement *statement,
              const char *sentence);
/* Whether this nailup has the row of the word; if not, the word's note is told. */
bool map_has_row(struct unbound_map_state *map, const struct unbound_statement *statement);
/* Foreign text as a value; a note and NULL when it has bytes that no value has. */
const char *map_word(struct unbound_map_state *map, const struct unbound_statement *statement,
                     const char *text);
/* A value that waits; NULL: memory is out. */
struct unbound_value *map_keep(struct unbound_map_state *map,
                               const struct unbound_statement *statement);

/* unbound_map_server.c, unbound_map_cache.c, unbound_map_recursion.c, unbound_map_zones.c */
void map_end_server(struct unbound_map_state *map);
void map_end_cache(struct unbound_map_state *map);
void map_end_recursion(struct unbound_map_state *map);
void map_end_zones(struct unbound_map_state *map);
void map_begin_zone(struct unbound_map_state *map, const struct unbound_statement *statement);

#endif
