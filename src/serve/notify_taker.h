/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_NOTIFY_TAKER_H
#define NAILUP_SERVE_NOTIFY_TAKER_H

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"

/* Takes NOTIFY messages (RFC 1996), about which the server itself knows nothing. */
struct notify_taker {
    /* Reads a message from this client, and writes the reply of at most max bytes. Returns its
     * length, or 0 when it is no NOTIFY that can be answered: the client gets NOTIMP. */
    size_t (*take)(void *owner, struct span message, const struct addr *client, uint8_t *out,
                   size_t max);
    void *owner;
};

enum { NOTIFY_REPLY_MAX = 1024 };

#endif
