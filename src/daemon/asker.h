/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ASKER_H
#define NAILUP_DAEMON_ASKER_H

/* Commands that wait for a change to be in effect, or to have failed. The main thread's. */

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "config/forward.h"

struct call;
struct reload_report;

enum { ASKERS_MAX = 64 }; /* in all; clients that have left are among them */

struct askers {
    struct list list;
    size_t *count; /* of all that share it */
};

struct asker {
    struct list node;
    size_t *count;
    struct call *call;
    bool for_file; /* else for the forward */
    bool changed;  /* the forward was another before */
    struct forward forward;
};

void askers_init(struct askers *askers, size_t *count);

/* NULL, and the call is refused and done: there are too many. */
struct asker *askers_add(struct askers *askers, struct call *call);

/* All of from wait with those of to. */
void askers_move(struct askers *to, struct askers *from);

/* Refused and done. */
void askers_refuse(struct askers *askers, const char *why);
void askers_refuse_report(struct askers *askers, const struct reload_report *report);
/* Only those who wait for this forward. */
void askers_refuse_forward(struct askers *askers, const struct forward *forward, const char *why);

/* What they wait for is in effect; the report is of the file, for those who wait for that. */
void askers_answer(struct askers *askers, const struct reload_report *report);

/* The same for one, who is gone afterwards. */
void asker_refuse(struct asker *asker, const char *why);
void asker_answer_forward(struct asker *asker);

#endif
