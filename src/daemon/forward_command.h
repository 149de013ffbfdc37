/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_FORWARD_COMMAND_H
#define NAILUP_DAEMON_FORWARD_COMMAND_H

/* The words of `nailupctl forward`: what they want, and what is shown without any. */

#include <stdbool.h>

#include "base/err.h"
#include "config/forwards.h"

struct call;
struct config;

/* Reads and checks the words, of which there is one at least; without upstreams the zone is to be
 * taken back. ERR_INVALID: why is a sentence. */
MUST_USE enum err forward_command_read(const struct call *call, const struct config *config,
                                       struct forward *out, char why[FORWARD_WHY_MAX]);

/* Whether the zone is asked of others than the forward says. */
bool forward_command_is_change(const struct forwards *forwards, const struct forward *forward);

/* Sets it or takes it back. On error nothing has changed and why is a sentence. */
MUST_USE enum err forward_command_set(struct forwards *forwards, const struct forward *forward,
                                      char why[FORWARD_WHY_MAX]);

/* Fills the call's reply; call_done() is left. */
void forward_command_show(struct call *call, const struct config *config,
                          struct forwards *forwards);

#endif
