/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_TRANSLATE_H
#define NAILUP_TESTS_SCENARIO_TRANSLATE_H

/* Translates Unbound's options to nailup's where a counterpart exists. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRANSLATE_NEEDS_MAX = 256 };

/* A trust anchor needs this feature. */
#define TRANSLATE_VALIDATION "keys-of-DSA"

struct translation {
    bool is_trusting;                /* unrelated records in answers are trusted */
    bool has_policy;                 /* the file has response policy zones */
    bool has_held;                   /* the file has auth-zones */
    bool ignores_dates;              /* the dates of signatures do not count */
    int64_t wall_s;                  /* the wall clock at the start; 0: any */
    char *yaml;                      /* from malloc(); NULL: no server can be queried */
    char needs[TRANSLATE_NEEDS_MAX]; /* missing features, separated by blanks, or "" */
};

struct translation translate_options(const char *options);
void translate_free(struct translation *translation);

#endif
