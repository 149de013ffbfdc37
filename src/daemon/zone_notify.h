/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_NOTIFY_H
#define NAILUP_DAEMON_ZONE_NOTIFY_H

/*
 * Decides about a NOTIFY (RFC 1996): does it concern a zone with primaries, may its sender notify,
 * and does it have the required signature? Pure.
 *
 *   no zone of this name has primaries                       NOTAUTH, unless the sender is a
 *                                                            primary of a catalog (RFC 9432)
 *   the sender is no primary, and not in allow-notify         REFUSED
 *   a primary with a key, without a signature                REFUSED
 *   a signature with another key, or a wrong one             NOTAUTH (RFC 8945 section 5.2)
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "transfer/xfr_notify.h"

struct config;

/* Reads the message, and writes the reply of at most max bytes. Returns its length, or 0: no NOTIFY
 * of a zone. *is_taken: the primaries are to be asked. now_s is on the wall clock. */
size_t zone_notify_judge(const struct config *config, struct span message, const struct addr *from,
                         uint64_t now_s, struct xfr_notify *notify, bool *is_taken, uint8_t *out,
                         size_t max);

#endif
