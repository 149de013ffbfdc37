/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_CLIENT_H
#define NAILUP_CTL_CLIENT_H

/* Sends one request to the daemon and reads the whole reply. Blocks for at most CLIENT_WAIT_S at a
 * time, CLIENT_WAIT_RELOAD_S for a reload, or CLIENT_WAIT_TRACE_S for a trace. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

enum { CLIENT_WAIT_S = 10, CLIENT_WAIT_TRACE_S = 30, CLIENT_WAIT_RELOAD_S = 300 };

/* The parts of a request or a reply that may be too long for memory. */
struct client_streams {
    FILE *in;  /* the input of the command CONTROL_FED */
    FILE *out; /* the output of a reply that is a text */
    bool json;
    /* Set by a signal handler: waiting then ends, as if there were no daemon. May be NULL. */
    const volatile sig_atomic_t *stop;
};

/* Sends the words in the protocol of nailup/control.h. The caller frees *text. It has *len bytes,
 * with room for one more. It is NULL if the reply was a text, which this function prints. Returns
 * an error if the daemon is absent or silent, and writes a sentence to `why`. */
MUST_USE enum err client_ask(const char *path, int count, char *const words[],
                             const struct client_streams *streams, char **text, size_t *len,
                             char *why, size_t why_size);

#endif
