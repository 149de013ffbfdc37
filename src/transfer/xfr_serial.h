/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_XFR_SERIAL_H
#define NAILUP_TRANSFER_XFR_SERIAL_H

/* Serial number arithmetic (RFC 1982): serials wrap around, and a distance of 2^31 has no order. */

#include <stdbool.h>
#include <stdint.h>

/* Returns whether a is newer than b. Two serials that are 2^31 apart are not newer than each other.
 */
static inline bool xfr_serial_is_newer(uint32_t a, uint32_t b)
{
    uint32_t ahead = a - b;
    return ahead > 0 && ahead < UINT32_C(0x80000000);
}

#endif
