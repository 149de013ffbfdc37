/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CHANGES_H
#define NAILUP_CONFIG_CHANGES_H

/*
 * The differences between a reloaded configuration and the running one: key by key, as text for
 * people, and which of them need a restart. The contents of files that a configuration names are
 * not compared.
 */

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

enum { CHANGES_TEXT_MAX = 160 };

struct change {
    const char *path; /* the row's path */
    bool needs_restart;
    /* Values as written in a file. A long list becomes its number of items, and text that is too
     * long is cut. */
    char before[CHANGES_TEXT_MAX], after[CHANGES_TEXT_MAX];
};

/* At most one for each row, in the order of the rows. */
struct changes {
    size_t count;
    struct change list[CONFIG_OPTIONS_MAX];
};

/* Returns NULL when out of memory. Free the result with free(). Pure, but slow with many thousands
 * of zones. */
struct changes *changes_find(const struct config *running, const struct config *fresh);

/* Copies the running values of all rows that need a restart into fresh, so that it describes what
 * is in effect. ERR_NO_MEMORY: only some were copied. */
MUST_USE enum err changes_hold_back(const struct config *running, struct config *fresh);

#endif
