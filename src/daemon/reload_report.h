/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_RELOAD_REPORT_H
#define NAILUP_DAEMON_RELOAD_REPORT_H

/* How a reload went, for the log and for who asked. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

struct call;
struct changes;
struct config;

struct reload_report {
    const char *config_file;
    uint64_t took_us;
    /* It is done. */
    const struct config *config;
    const struct changes *changes;
    uint64_t forgotten; /* answers of names that are answered here now */
    /* It failed: a sentence, and the single errors in lines. */
    char why[512];
    struct span errors;
};

void reload_report_log(const struct reload_report *report);
void reload_report_log_failure(const struct reload_report *report);

/* Fills the call's reply; call_done() is left. */
void reload_report_answer(const struct reload_report *report, struct call *call);
void reload_report_refuse(const struct reload_report *report, struct call *call);

#endif
