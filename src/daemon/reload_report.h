/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_RELOAD_REPORT_H
#define NAILUP_DAEMON_RELOAD_REPORT_H

/* The result of a reload, for the log and for the command that asked for it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

struct call;
struct changes;
struct config;
struct control_view;

struct reload_report {
    const char *config_file;
    uint64_t took_us;
    /* After success. */
    const struct config *config;
    const struct changes *changes;
    uint64_t forgotten; /* cached answers dropped, because their names are local data now */
    const struct control_view *zones; /* NULL: their states are not known */
    bool zones_are_read; /* all files and stored copies were read; the zones of the new file are in
                            force */
    /* After a failure: a sentence, and the single errors, one per line. */
    char why[512];
    struct span errors;
};

void reload_report_log(const struct reload_report *report);
void reload_report_log_failure(const struct reload_report *report);

/* Fill the call's reply; the caller calls call_done(). */
void reload_report_answer(const struct reload_report *report, struct call *call);
void reload_report_refuse(const struct reload_report *report, struct call *call);

#endif
