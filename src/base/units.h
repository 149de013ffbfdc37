/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_UNITS_H
#define NAILUP_BASE_UNITS_H

/* Instants and durations are microseconds in uint64_t unless their name says otherwise. */

#include <stdint.h>

#define US_PER_MS UINT64_C(1000)
#define US_PER_S UINT64_C(1000000)

#endif
