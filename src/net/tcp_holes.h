/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_TCP_HOLES_H
#define NAILUP_NET_TCP_HOLES_H

/* Private to src/net. */

#include <stdint.h>

/* See tcp_holes(). */
uint32_t tcp_holes_of(int fd);

#endif
