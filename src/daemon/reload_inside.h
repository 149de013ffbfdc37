/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_RELOAD_INSIDE_H
#define NAILUP_DAEMON_RELOAD_INSIDE_H

/* What reload.c and reload_switch.c share: the first says what is done next, the second does it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "config/forwards.h"
#include "daemon/asker.h"
#include "daemon/forget.h"
#include "daemon/generation.h"
#include "daemon/reload_host.h"
#include "daemon/reload_report.h"

struct listening;
struct loading;
struct workers;

enum reload_state { RELOAD_IDLE, RELOAD_SWITCHING, RELOAD_FORGETTING };

struct reload {
    struct reload_host host;
    struct workers *workers; /* NULL until they are started */
    enum reload_state state;
    bool wants_file;   /* it is to be read again, and no thread has begun to */
    bool is_read;      /* the thread is done, and the change has not begun */
    bool wants_routes; /* forwards differ from what is in effect */
    bool is_of_file;   /* the change under way; else of forwards alone */
    bool ending;
    size_t asker_count;
    struct askers for_file;     /* not being read yet */
    struct askers for_loading;  /* for the file that is being read, or waits */
    struct askers for_forwards; /* for the next change */
    struct askers served;       /* by the change under way */
    struct loading *loading;    /* until the change is over */
    struct generations generations;
    struct generation *current, *next; /* next: while switching */
    struct listening *listening;       /* that is shown */
    struct listening *next_listening;
    struct forwards forwards;
    struct forget forget;
    size_t failed; /* workers that have not switched */
    enum err failure;
    uint64_t begun_at;
    uint64_t loaded_time; /* seconds since 1970: when the thread began */
    struct reload_report report;
};

/* reload.c: the next change, if one is wanted and may begin. */
void reload_next(struct reload *reload);

/* The change begins that nothing can stop any more; forwards that it has are served by it. Ends
 * with reload_next(). */
void reload_switch(struct reload *reload, struct generation *next);

/* The change under way failed, the sentence says how; nothing is left of it but what it did. Ends
 * with reload_next(). */
void reload_fail(struct reload *reload, const char *format, ...) PRINTF_LIKE(2, 3);

/* The zone's answers are forgotten with the change under way, unless it is the root. */
void reload_forget(struct reload *reload, const struct forward *forward);

/* For struct forget. */
void reload_on_forgotten(void *context);

#endif
