/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_TRANSLATE_TABLES_H
#define NAILUP_TESTS_SCENARIO_TRANSLATE_TABLES_H

/* Options of Unbound's section "server" with a counterpart, and options that need none. */

#include <stdbool.h>

enum { IN_SERVER, IN_CACHE, IN_RECURSION, IN_DNS64, SECTIONS };

struct counterpart {
    const char *option;
    int section;
    const char *key, *suffix;
    const char *off; /* the value that needs no translation, or NULL */
};

/* Options that may be repeated. */
enum {
    LIST_DO_NOT_QUERY,
    LIST_PRIVATE,
    LIST_PRIVATE_DOMAINS,
    LIST_LOCAL_ZONES,
    LIST_LOCAL_DATA,
    LISTS,
};

bool translate_is_harmless(const char *option);
/* Returns whether the option belongs to a feature that nailup lacks, and this value leaves the
 * feature off. */
bool translate_is_off(const char *option, const char *value);
/* returns NULL if there is no counterpart */
const struct counterpart *translate_find(const char *option);

#endif
