/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_FAULT_H
#define NAILUP_ZONE_ZONE_FAULT_H

#include <stddef.h>

#include "base/span.h"

/* The first fault of a file. */
struct zone_file_fault {
    size_t line;          /* from 1 */
    struct span word;     /* borrows from the text; empty: the sentence says it all */
    const char *sentence; /* static text, without a final stop */
};

#endif
