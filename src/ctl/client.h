/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_CLIENT_H
#define NAILUP_CTL_CLIENT_H

/* One request to the daemon, and the whole reply. Blocks, for CLIENT_WAIT_S at most at a time, or
 * CLIENT_WAIT_RELOAD_S for a reload, or CLIENT_WAIT_TRACE_S for a name that is resolved. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

enum { CLIENT_WAIT_S = 10, CLIENT_WAIT_TRACE_S = 30, CLIENT_WAIT_RELOAD_S = 300 };

/* What of a request or a reply may be too long to be held. */
struct client_streams {
    FILE *in;  /* read for CONTROL_FED */
    FILE *out; /* where a reply goes that is a text */
    bool json;
    /* Set by a signal's handler: what waits then ends, as if there were no daemon. NULL: nothing.
     */
    const volatile sig_atomic_t *stop;
};

/* Words are sent in the language of nailup/control.h. *text is for free(), *len bytes of it are
 * the reply and one byte more is there; NULL when the reply was a text and has been printed. The
 * error of a daemon that is not there or does not answer; why then gets a sentence. */
MUST_USE enum err client_ask(const char *path, int count, char *const words[],
                             const struct client_streams *streams, char **text, size_t *len,
                             char *why, size_t why_size);

#endif
