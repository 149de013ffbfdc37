/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_READ_MAX_H
#define NAILUP_NET_READ_MAX_H

enum { NET_READ_MAX = 128 * 1024 }; /* bytes of the read buffer that a loop's sockets share */

#endif
