/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_MAP_STATE_H
#define NAILUP_IMPORT_UNBOUND_MAP_STATE_H

/*
 * The state of a conversion, and the functions that all maps use: they read the value of a
 * statement and leave notes. They call no map.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/prefix.h"
#include "import/draft.h"
#include "import/unbound_source.h"

enum { UNBOUND_SOURCES_MAX = 64 }; /* entries of server.outgoing */

/* A value that waits for others, and its place. */
struct unbound_value {
    struct unbound_value *next;
    const char *text;
    const struct draft_origin *origin; /* NULL: not given */
    bool is_host;                      /* a zone's server is given by its name */
    bool hides_records; /* a local zone whose action comes before its records in Unbound */
    bool leaves_names;  /* a local zone that says nothing about names without records in Unbound */
    /* of a local zone: its name as given, its action here; of dnstap: action is the option */
    const char *zone, *action;
};

struct unbound_zone {
    struct unbound_zone *next;
    enum unbound_clause clause;
    const struct draft_origin *origin; /* the origin of the name or of the clause */
    const char *name;                  /* NULL: not given */
    struct unbound_value *addresses;
    bool tls, tcp, no_cache, first, fallback;
    const struct draft_origin *tls_origin, *tcp_origin, *cache_origin, *first_origin;
    /* auth-zone only; the options come last first */
    const char *file;               /* NULL: not given */
    struct unbound_value *notifies; /* the newest comes first */
    bool has_url, no_clients, no_upstream, checks_zonemd, requires_zonemd;
    struct unbound_value *options;
};

/* A clause rpz. */
struct unbound_rpz {
    struct unbound_rpz *next;
    const struct draft_origin *origin;
    const char *name; /* a word of YAML; NULL: not given */
    const char *keys; /* ", key: value" for each */
    uint32_t tags;    /* a set of tags; 0: the zone is for all clients */
    bool is_lost;     /* the zone does not become an item of rpz */
    const char *file; /* as given; NULL: not given */
    /* The newest comes first. */
    struct unbound_value *primaries, *notifies, *urls;
};

/* A clause view, and a line access-control-view. */
struct unbound_view {
    struct unbound_view *next;
    const struct draft_origin *origin;
    const char *name; /* a word of YAML; NULL: not given */
    bool asks_all;    /* view-first: names that it lacks get the local data of all clients */
    const struct draft_origin *name_origin, *first_origin; /* NULL: not given */
    struct unbound_value *zones, **last_zone;              /* items of local-zones */
    struct unbound_value *records, **last_record;          /* words of local-data */
    struct unbound_value *policies, **last_policy;         /* words of rpz-zones */
};
struct unbound_view_client {
    struct unbound_view_client *next;
    const struct draft_origin *origin;
    const char *prefix, *view; /* words of YAML */
    bool is_void;              /* a later line has the prefix */
    bool is_known;             /* a view has the name */
};

/* A line access-control-tag or local-zone-tag. */
struct unbound_tagged {
    struct unbound_tagged *next;
    const struct draft_origin *origin;
    const char *subject; /* the prefix or the zone, as given */
    const char *word;    /* the same as a word of YAML */
    uint32_t tags;
    bool is_void; /* a later line has the prefix, or it has a view */
};

/* Local data of all clients, until the tags of all lines are known. */
struct unbound_local {
    struct unbound_local *next;
    struct unbound_value value; /* an item of its list */
    const char *name;           /* the zone's name, or the record as a word of YAML */
    bool is_zone;
};

enum { UNBOUND_PORTS = 65536, UNBOUND_TAGS_MAX = 32 };

struct unbound_map_state {
    struct draft *draft;
    struct unbound_source *source;
    /* listeners */
    struct unbound_value *interfaces, **last_interface;
    struct unbound_value port;   /* the port of interfaces that have none */
    struct unbound_value family; /* the last do-ip line */
    struct unbound_value automatic;
    bool no_ip4, no_ip6;
    bool has_plain_listener, has_secure_listener;
    uint64_t https_port;
    uint8_t tls_ports[UNBOUND_PORTS / 8];
    /* clients */
    bool has_access, has_local_v4, has_local_v6;
    const struct draft_origin *access_origin;
    struct unbound_value incoming_tcp, ciphers, suites, version, identity;
    const struct draft_origin *shown_version, *shown_identity; /* hide-...: no */
    bool hides_version, hides_identity;
    const struct draft_origin *log_queries, *log_replies; /* yes; NULL: no */
    /* cache */
    uint64_t message_bytes, rrset_bytes;
    const struct draft_origin *size_origin;
    struct unbound_value expired, expired_ttl;
    struct prefix sources[UNBOUND_SOURCES_MAX];
    unsigned source_count;
    const struct draft_origin *source_v4, *source_v6; /* the first of each IP version; NULL: none */
    /* upstreams */
    const struct draft_origin *tcp_origin, *tls_origin; /* for all upstreams; NULL: no */
    struct unbound_zone *zones, **last_zone, *zone;
    struct unbound_rpz *rpzs, **last_rpz, *rpz;
    struct unbound_view *views, **last_view, *view; /* view: of the clause; NULL: another clause */
    struct unbound_view_client *view_clients, **last_view_client;
    /* tags: a set has the bit of a tag's place */
    const char *tags[UNBOUND_TAGS_MAX];
    size_t tag_count;
    struct unbound_tagged *client_tags, **last_client_tag; /* access-control-tag */
    struct unbound_tagged *zone_tags, **last_zone_tag;     /* local-zone-tag */
    struct unbound_local *locals, **last_local;
    const struct draft_origin *unblock_origin; /* unblock-lan-zones: yes; NULL: no */
    /* recursion */
    const struct draft_origin
        *not_query_origin; /* the first do-not-query line; NULL: the default */
    bool queries_localhost;
    /* DNSSEC */
    struct unbound_value modules; /* module-config */
    struct unbound_value dns64_prefix;
    /* dnstap */
    const struct draft_origin *dnstap_origin; /* dnstap-enable: yes; NULL: no */
    struct unbound_value *dnstap_values;
    bool is_permissive;
    const struct draft_origin *permissive_origin, *anchor_origin; /* NULL: not given */
};

/* Restores the order of the file in a list whose newest value comes first. */
struct unbound_value *map_reversed(struct unbound_value *list);

/* Return the usable primaries, and the prefixes that may send NOTIFY messages, as items of a list
 * in YAML, or "". Each value gets its note. The lists are reversed. */
const char *map_primaries(struct unbound_map_state *map, struct unbound_value *newest);
const char *map_notifies(struct unbound_map_state *map, struct unbound_value *newest);

/* Whether module-config has this module. False without module-config. */
bool map_has_module(const struct unbound_map_state *map, const char *name);

/* Reads the value as yes or no. False after a note. */
bool map_take_flag(struct unbound_map_state *map, const struct unbound_statement *statement,
                   bool *yes);
/* Reads the value as a number of at most 15 digits. False after a note. */
bool map_take_number(struct unbound_map_state *map, const struct unbound_statement *statement,
                     uint64_t *number);
void map_note(struct unbound_map_state *map, const struct unbound_statement *statement,
              const char *sentence);
/* Tells the operator on stderr that the output protects less than the file. */
void map_warn(struct unbound_map_state *map, const struct draft_origin *origin,
              const char *sentence);
/* Whether options.def has the row of the word. If not, adds the word's note. */
bool map_has_row(struct unbound_map_state *map, const struct unbound_statement *statement);
/* Makes foreign text a value. NULL after a note: it has bytes that no value may have. */
const char *map_word(struct unbound_map_state *map, const struct unbound_statement *statement,
                     const char *text);
/* Makes a file name absolute: a relative name is below `directory` of the file, or below the folder
 * of the file if `directory` is unset. An empty name stays empty. */
const char *map_path(struct unbound_map_state *map, const char *name);
/* Keeps a value that waits. NULL: out of memory. */
struct unbound_value *map_keep(struct unbound_map_state *map,
                               const struct unbound_statement *statement);

#endif
