/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_FRAMES_H
#define NAILUP_TAP_FRAMES_H

/*
 * A frame stream of dnstap payloads to a socket or a file, with libfstrm: handshake, frames and
 * end. The socket is our own, so that no call waits longer than the drain allows. Only the drain's
 * thread calls these functions, except frames_new(), frames_free() and frames_reopen().
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"

struct drain;
struct frames;

enum { FRAMES_BATCH = 64 }; /* payloads in one write */

/* Borrows path and drain. Opens and truncates a file. Without libfstrm the functions here do
 * nothing. */
MUST_USE enum err frames_new(struct frames **out, const char *path, bool is_file,
                             struct drain *drain);
/* Closes the stream without an end frame. NULL is fine. */
void frames_free(struct frames *frames);

/* If the path no longer leads to the file, the next frames_open() ends the stream there and begins
 * another one in the file of the path. If that is impossible, it logs that and goes on with the
 * file. Does nothing for a socket. Any thread. */
void frames_reopen(struct frames *frames);

/* Connects to the reader and does the handshake, if necessary. Returns false without a reader. */
bool frames_open(struct frames *frames);
/* Writes at most FRAMES_BATCH payloads. Returns false when the reader is gone; it may have read
 * some. */
bool frames_write(struct frames *frames, const struct span *payloads, size_t count);
/* Ends the stream and waits until the reader has confirmed it, as long as the drain allows. */
void frames_end(struct frames *frames);

#endif
