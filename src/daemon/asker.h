/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ASKER_H
#define NAILUP_DAEMON_ASKER_H

/* Commands that wait until a change is in effect or has failed. Main thread only. */

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "config/runtime_ntas.h"
#include "config/runtime_zones.h"

struct call;
struct reload_report;

enum { ASKERS_MAX = 64 }; /* in all lists together, including askers whose client has left */

struct askers {
    struct list list;
    size_t *count; /* the number of askers in all lists with this bound */
};

/* The change that an asker waits for. */
enum asker_kind { ASKER_FORWARD, ASKER_NTA, ASKER_PORTAL, ASKER_FILE };

struct asker {
    struct list node;
    size_t *count;
    struct call *call;
    enum asker_kind kind;
    bool changed;                /* the setting differs from the one before */
    struct runtime_zone forward; /* or the portal; without upstreams: off */
    struct runtime_nta nta;
};

void askers_init(struct askers *askers, size_t *count);

/* NULL: there are too many; the call has been refused and is done. */
struct asker *askers_add(struct askers *askers, struct call *call);

/* Moves all askers of from to the end of to. */
void askers_move(struct askers *to, struct askers *from);

/* Refuses all and finishes their calls. */
void askers_refuse(struct askers *askers, const char *why);
void askers_refuse_report(struct askers *askers, const struct reload_report *report);
/* Refuses only the askers of this forward. */
void askers_refuse_forward(struct askers *askers, const struct runtime_zone *forward,
                           const char *why);

/* Answers all askers: their change is in effect. The report describes the file, for askers that
 * wait for a file. */
void askers_answer(struct askers *askers, const struct reload_report *report);

/* Refuses or answers one asker, and frees it. */
void asker_refuse(struct asker *asker, const char *why);
void asker_answer_setting(struct asker *asker);

#endif
