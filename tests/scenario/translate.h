/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_TRANSLATE_H
#define NAILUP_TESTS_SCENARIO_TRANSLATE_H

/* Translates Unbound's options to ours, as far as there is a counterpart. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRANSLATE_NEEDS_MAX = 256 };

/* The feature that a trust anchor needs. */
#define TRANSLATE_VALIDATION "keys-of-DSA"

struct translation {
    bool is_trusting;                /* unrelated records in answers are trusted */
    bool has_policy;                 /* there are response policy zones */
    bool has_held;                   /* there are auth-zones */
    bool ignores_dates;              /* of signatures */
    int64_t wall_s;                  /* the wall clock at the start; 0: any */
    char *yaml;                      /* from malloc(); NULL: there is no server to ask */
    char needs[TRANSLATE_NEEDS_MAX]; /* missing features, separated by blanks, or "" */
};

struct translation translate_options(const char *options);
void translate_free(struct translation *translation);

#endif
