/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_QUESTION_H
#define NAILUP_DNS_QUESTION_H

/* What is asked for: name, type, class (RFC 1035 section 4.1.2). The name's case is as sent. */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"

struct question {
    struct name name; /* borrowed from wherever the question was read */
    uint16_t type, cls;
};

/* Without regard to the case of the name. */
static inline bool question_equal(const struct question *a, const struct question *b)
{
    return a->type == b->type && a->cls == b->cls && name_equal(a->name, b->name);
}

/* With regard to case: what an answer to a query with 0x20 bits must echo. */
static inline bool question_equal_exact(const struct question *a, const struct question *b)
{
    return a->type == b->type && a->cls == b->cls && name_equal_exact(a->name, b->name);
}

#endif
