/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_FRAMES_H
#define NAILUP_TAP_FRAMES_H

/*
 * A frame stream of dnstap payloads to a socket or a file, by libfstrm: its handshake, frames and
 * end. The socket is ours, so that nothing waits longer than the drain allows. All functions but
 * new and free are those of the drain's thread.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"

struct drain;
struct frames;

enum { FRAMES_BATCH = 64 }; /* payloads in one write */

/* False: built without libfstrm; nothing else here does anything. */
bool frames_are_built_in(void);

/* path is borrowed, drain too, which is told later: frames_use(). A file is opened, and emptied if
 * it is there. */
MUST_USE enum err frames_new(struct frames **out, const char *path, bool is_file);
void frames_use(struct frames *frames, struct drain *drain);
/* Closes what is open, without a word. NULL is fine. */
void frames_free(struct frames *frames);

/* Finds the reader and agrees with it, unless that was done. False: it is not there. */
bool frames_open(struct frames *frames);
/* At most FRAMES_BATCH payloads. False: the reader is gone, and may have read some of them. */
bool frames_write(struct frames *frames, const struct span *payloads, size_t count);
/* Says that the stream ends, and waits for the reader to have it all, as long as the drain does. */
void frames_end(struct frames *frames);

#endif
