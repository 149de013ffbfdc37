/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_KEPT_ZONE_H
#define NAILUP_DAEMON_KEPT_ZONE_H

/* A zone that the keeper holds: its plan, its version, and the transfers that renew it. When the
 * plans change, a new list replaces the old one and takes over the zones that stay the same. Used
 * only on the keeper's thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "control/view.h"
#include "daemon/zone_from_file.h"
#include "daemon/zone_plan.h"

struct rpz_rules;
struct transfer;
struct zone_data;
struct zone_times;

/* The verdict of the checks in effect about a version of primaries. */
enum kept_verdict {
    KEPT_SOUND,    /* the version passes the checks */
    KEPT_UNJUDGED, /* other settings or trust anchors have judged it */
    KEPT_DOUBTED,  /* the version fails the checks; refusal says why */
};

enum { KEPT_FAILURE_MAX = 320 };

struct kept_zone {
    struct zone_plan plan;
    struct zone_data *data;    /* NULL: none yet */
    struct rpz_rules *rules;   /* the rules in data, for ZONE_OF_POLICY */
    struct transfer *transfer; /* NULL: the zone comes from a file, or out of memory */
    struct zone_times *times;  /* likewise */
    struct zone_file_stamp stamp;
    int64_t left_s; /* until the version expires, when its transfers ended */
    bool has_stamp; /* data is the content of the file with this stamp */
    enum control_zone_state state;
    enum kept_verdict verdict;  /* about data */
    bool is_unvouched;          /* apex_is_unvouched(), as the log says */
    uint64_t loaded_at;         /* us */
    bool is_refused;            /* the version of this visit to a primary was refused */
    bool is_refusal_logged;     /* the next two were logged */
    char refusal[APEX_WHY_MAX]; /* why a version of primaries was last refused or doubted */
    uint32_t logged_serial;
    char failure[KEPT_FAILURE_MAX]; /* of the last visit to a primary; "": it was good, or the
                                       version was refused as the doubted one is */
    char why[ZONE_FROM_FILE_WHY_MAX];
};

/* About a zone that is_unvouched. */
#define KEPT_ZONE_UNVOUCHED                                                                        \
    "its ZONEMD record shows damage only: no trust anchor has this name; add one to "              \
    "dnssec.trust-anchors"

struct kept_zones {
    struct kept_zone *list;
    size_t count;
};

/* Makes an empty list with room for `room` zones. ERR_NO_MEMORY. */
MUST_USE enum err kept_zones_init(struct kept_zones *zones, size_t room);

/* Gives back the room that is left. */
void kept_zones_trim(struct kept_zones *zones);

/* Returns the zone of this kind and name, or NULL. */
struct kept_zone *kept_zones_find(const struct kept_zones *zones, struct name name,
                                  enum zone_kind kind);

/* Appends a zone with this plan, which moves. The state of the zone of that name moves too, out of
 * the old list. If the file, the bound or a primary has changed, the zone is read again, and its
 * version stays meanwhile. If zonemd has changed, the version is judged again. A member with a
 * different node gets no state. A zone that moves between the configuration and a catalog keeps its
 * state, unless it came from a file and a catalog takes it over. The list has room. */
void kept_zones_add(struct kept_zones *zones, struct kept_zones *before, struct zone_plan *plan);

/* Ends the transfers, and frees the list. */
void kept_zones_deinit(struct kept_zones *zones);

/* The checks for the version have changed: its file is read again, or the version is judged
 * again. */
void kept_zone_unjudge(struct kept_zone *zone);

/* Returns why a version was refused, or what the digest of the version in force fails to prove. "":
 * nothing is wrong. */
const char *kept_zone_why(const struct kept_zone *zone);

/* Replaces the version, and takes over the reference. now is on the loops' clock. */
void kept_zone_take_version(struct kept_zone *zone, struct zone_data *data, uint64_t now);

#endif
