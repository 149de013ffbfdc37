/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_TRANSLATE_TABLES_H
#define NAILUP_TESTS_SCENARIO_TRANSLATE_TABLES_H

/* Which options of Unbound's section "server" have a counterpart, and which need none. */

#include <stdbool.h>

enum { IN_SERVER, IN_CACHE, IN_RECURSION, SECTIONS };

struct counterpart {
    const char *option;
    int section;
    const char *key, *suffix;
    const char *off; /* the value that need not be translated, or NULL */
};

/* What may be given more than once. */
enum {
    LIST_DO_NOT_QUERY,
    LIST_PRIVATE,
    LIST_PRIVATE_DOMAINS,
    LIST_LOCAL_ZONES,
    LIST_LOCAL_DATA,
    LISTS,
};

bool translate_is_harmless(const char *option);
/* A feature that we lack, and that this value leaves off. */
bool translate_is_off(const char *option, const char *value);
const struct counterpart *translate_find(const char *option); /* NULL: none */

#endif
