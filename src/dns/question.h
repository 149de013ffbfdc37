/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_QUESTION_H
#define NAILUP_DNS_QUESTION_H

/* The question of a query: name, type, class (RFC 1035 section 4.1.2). The name keeps its case. */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"

struct question {
    struct name name; /* borrowed, usually from a message */
    uint16_t type, cls;
};

/* Compares; the case of the name does not matter. */
static inline bool question_equal(const struct question *a, const struct question *b)
{
    return a->type == b->type && a->cls == b->cls && name_equal(a->name, b->name);
}

/* Compares including case: an answer to a query with 0x20 bits must echo it. */
static inline bool question_equal_exact(const struct question *a, const struct question *b)
{
    return a->type == b->type && a->cls == b->cls && name_equal_exact(a->name, b->name);
}

#endif
