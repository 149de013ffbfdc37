/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_VIEW_H
#define NAILUP_CONTROL_VIEW_H

/* The running daemon as the control socket sees it. The daemon fills it; control borrows it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/stats.h"
#include "dns/name.h"
#include "zone/zone_set.h"

struct cache;
struct call;
struct config;
struct loop;
struct query_log;
struct resolver;
struct rpz_policy;
struct upstreams;

struct control_worker {
    struct loop *loop;           /* takes mail; lives until control is closed */
    struct upstreams *upstreams; /* for the worker's thread; NULL after the worker has ended */
    struct resolver *resolver;   /* likewise */
    const struct stats *stats;
};

/* Commands that the daemon itself runs. Each hook ends with call_done(), at once or later. */
struct control_hooks {
    void *daemon;
    void (*reload)(void *daemon, struct call *call);
    void (*drain)(void *daemon, struct call *call);
    void (*forward)(void *daemon, struct call *call);
    void (*nta)(void *daemon, struct call *call);
    void (*portal)(void *daemon, struct call *call);
    void (*anchors)(void *daemon, struct call *call);
    void (*hosts)(void *daemon, struct call *call);
};

/* The results of the reloads so far. */
struct control_reloads {
    uint64_t done, failed;
    bool last_failed;
    uint64_t loaded_at;   /* us of the loops' clock, when the configuration in effect was read */
    uint64_t loaded_time; /* seconds since 1970, likewise */
    char why[512];        /* the first error of the last reload, if it failed */
};

/* The anchors that are kept up to date (RFC 5011). */
struct control_anchors {
    uint64_t valid, missing, pending; /* keys in these states */
    uint64_t failed;                  /* queries without a good set since the last one */
    bool is_unwritten;                /* the file lacks the last change */
};

/* The states of a zone held here. */
enum control_zone_state {
    CONTROL_ZONE_LOADING, /* no version has been read yet */
    CONTROL_ZONE_SERVED,  /* the last version that came is in force */
    CONTROL_ZONE_KEPT,    /* the last one was refused, and the previous one is in force */
    CONTROL_ZONE_FAILED,  /* no first one came, or it was refused */
    CONTROL_ZONE_EXPIRED, /* no primary confirmed the last one in time */
};

/* Whether a zone in this state has a version in force. */
static inline bool control_zone_has_version(enum control_zone_state state)
{
    return state == CONTROL_ZONE_SERVED || state == CONTROL_ZONE_KEPT;
}

static inline const char *control_zone_word(enum control_zone_state state)
{
    static const char *const words[] = {[CONTROL_ZONE_LOADING] = "loading",
                                        [CONTROL_ZONE_SERVED] = "served",
                                        [CONTROL_ZONE_KEPT] = "kept",
                                        [CONTROL_ZONE_FAILED] = "failed",
                                        [CONTROL_ZONE_EXPIRED] = "expired"};

    return words[state];
}

/* Times of a zone from primaries, for stats_read(). */
struct control_zone_times {
    uint64_t confirmed_at_s; /* since 1970: a primary last confirmed or gave it; 0: never */
    uint64_t expires_at;     /* us of base/clock.h; 0: it has no version, or it has expired */
};

struct control_zone {
    uint8_t wire[NAME_WIRE_MAX];
    uint8_t name_len;
    uint8_t catalog[NAME_WIRE_MAX]; /* the catalog that lists the zone */
    uint8_t catalog_len;            /* 0: the configuration has the zone */
    bool is_catalog;                /* it lists zones, and answers nothing */
    enum zone_use use;              /* for a catalog: the use of its members */
    enum control_zone_state state;
    uint32_t serial;
    uint64_t records, size_bytes;
    uint64_t loaded_at;                     /* us of the loops' clock; 0: never */
    const struct control_zone_times *times; /* NULL: the zone has a file */
    char why[512];                          /* why a version was refused, or a note on it */
};

/* The places that a response policy zone comes from. */
enum control_policy_source { CONTROL_POLICY_FILE, CONTROL_POLICY_PRIMARIES };

struct control_policy_zone {
    uint8_t catalog[NAME_WIRE_MAX]; /* that lists the zone */
    uint8_t catalog_len;            /* 0: the configuration has the zone */
    enum control_policy_source source;
    bool is_catalog; /* it lists zones of policy and has no rules */
    enum control_zone_state state;
    uint64_t loaded_at;              /* us of the loops' clock; 0: never */
    uint64_t refresh_at, expires_at; /* likewise; 0: not known, or it has a file */
    char why[512];                   /* why the last visit to a primary failed; "": it did not */
};

/* The response policy in force. */
struct control_policy {
    const struct rpz_policy *rules;          /* NULL: none */
    const struct control_policy_zone *zones; /* in the order of the policy */
};

/* Visits to the primaries of zones, by their end. Any thread reads them with stats_read(). */
struct control_transfers {
    uint64_t current, whole, changes, failed;
    uint64_t first_expiry_at; /* us of base/clock.h; 0: no zone has a version from a primary */
};

/* Upstreams by host name. */
struct control_hosts {
    uint64_t names, unknown; /* unknown: no address is known yet */
};

struct control_view {
    const char *config_file;
    const struct config *config;
    struct cache *cache;          /* main has called cache_thread_begin() */
    const struct addr *listening; /* addresses served over UDP and TCP */
    size_t listening_count;
    const struct addr *listening_tls; /* addresses served over TLS */
    size_t listening_tls_count;
    const struct addr *listening_https; /* and over HTTPS */
    size_t listening_https_count;
    struct control_worker **workers;
    size_t worker_count;
    const struct query_log *query_log; /* NULL: none */
    const struct zone_set *zones;      /* the set that the workers have; NULL: none */
    const struct control_zone *held;   /* zones held here, and catalogs of them */
    size_t held_count;
    const struct view_rows *view_rows; /* the configuration's rows; NULL: none */
    struct control_policy policy;
    const struct control_transfers *transfers; /* NULL: none yet */
    const struct control_hooks *hooks;         /* NULL: the daemon offers none */
    struct control_reloads reloads;
    uint64_t certificate_ends_at_s; /* since 1970; 0: no certificate for TLS clients */
    struct control_anchors anchors;
    struct control_hosts hosts;
    uint64_t started_at;      /* us of the loops' clock */
    uint64_t started_time;    /* seconds since 1970 */
    bool is_draining;         /* workers may be gone: only the command check runs */
    bool has_portal;          /* names go to the server of nailupctl portal in plain text */
    uint64_t network_changes; /* network changes reported to the workers */
};

#endif
