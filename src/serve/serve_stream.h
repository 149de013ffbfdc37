/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVE_STREAM_H
#define NAILUP_SERVE_SERVE_STREAM_H

/* The clients of one TCP or TLS address: who gets a session. One thread, the loop's. */

#include <stddef.h>

#include "base/addr.h"
#include "base/err.h"

struct requests;
struct serve_stream;
struct tls_context;

/* Errors as with acceptor_open(). requests is borrowed. tls is NULL for plain TCP; else it is where
 * the context for new clients stands, which may change and must be set before the loop runs. */
MUST_USE enum err serve_stream_open(struct serve_stream **out, struct requests *requests,
                                    const struct addr *listen, struct tls_context *const *tls);
/* Closes the listener and every session; what waits gets no answer. *serve becomes NULL. */
void serve_stream_close(struct serve_stream **serve);

const struct addr *serve_stream_local(const struct serve_stream *serve);

/* Sessions that are open. */
size_t serve_stream_sessions(const struct serve_stream *serve);

/* Closes the listener and finishes the sessions. on_idle is called when the last has ended, which
 * may be within this call; not when there are none. */
void serve_stream_drain(struct serve_stream *serve, void (*on_idle)(void *context), void *context);

#endif
