/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_LISTENING_H
#define NAILUP_DAEMON_LISTENING_H

/* The addresses that nailup serves, as `nailupctl status` shows them. Configured addresses that
 * this machine lacks are left out. */

#include "control/view.h"
#include "daemon/refusal.h"
#include "serve/listen_sockets.h"
#include "serve/server_options.h"

struct listening;

/* Opens the addresses of the options that are not served yet (listen_sockets_prepare()). NULL:
 * nothing has changed, and why is a sentence. */
struct listening *listening_prepare(struct listen_sockets *sockets,
                                    const struct server_options *options,
                                    char why[REFUSAL_TEXT_MAX]);

/* Makes the view show these addresses. */
void listening_show(const struct listening *listening, struct control_view *view);

/* *listening becomes NULL; NULL is fine. */
void listening_free(struct listening **listening);

#endif
