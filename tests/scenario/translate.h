/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_TRANSLATE_H
#define NAILUP_TESTS_SCENARIO_TRANSLATE_H

/* Unbound's options to ours, as far as there is a counterpart. */

#include <stdbool.h>
#include <stddef.h>

enum { TRANSLATE_NEEDS_MAX = 256 };

/* What a trust anchor needs. */
#define TRANSLATE_VALIDATION "DNSSEC-validation"

struct translation {
    bool is_trusting;                /* records that nobody asked for are believed */
    char *yaml;                      /* from malloc(); NULL: there is nothing to ask */
    char needs[TRANSLATE_NEEDS_MAX]; /* options that we lack, separated by blanks, or "" */
};

struct translation translate_options(const char *options);
void translate_free(struct translation *translation);

#endif
