/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CHANGES_H
#define NAILUP_CONFIG_CHANGES_H

/*
 * What a configuration that was read anew says differently from the one that runs: key by key, as
 * text for people; and which of that waits for a restart. Files that a configuration names are not
 * compared.
 */

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

enum { CHANGES_TEXT_MAX = 160 };

struct change {
    const char *path; /* of its row */
    bool needs_restart;
    /* Values as they stand in a file; of long lists how many items there are, and of short ones
     * that are too long for here the begin. */
    char before[CHANGES_TEXT_MAX], after[CHANGES_TEXT_MAX];
};

/* At most one a row; in their order. */
struct changes {
    size_t count;
    struct change list[CONFIG_OPTIONS_MAX];
};

/* To be freed with free(). NULL out of memory. Pure; with many thousand zones it takes a moment. */
struct changes *changes_find(const struct config *running, const struct config *fresh);

/* Gives fresh the running values of all rows that need a restart, so that it says what is in
 * effect. ERR_NO_MEMORY: it may have some of them. */
MUST_USE enum err changes_hold_back(const struct config *running, struct config *fresh);

#endif
