/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVE_STREAM_H
#define NAILUP_SERVE_SERVE_STREAM_H

/* The clients of one TCP or TLS address: who gets a session. One thread, the loop's. */

#include <stdbool.h>

#include "base/addr.h"
#include "base/err.h"

struct listen_socket;
struct requests;
struct serve_stream;
struct server_quota;
struct session_common;
struct tls_context;

enum { SERVE_STREAM_END_US = 5 * 1000000 };

/* Takes the socket; errors as with acceptor_open(). requests and common are borrowed. tls is
 * NULL for plain TCP; else it is where the context for new clients stands, which may change and
 * must be set before the loop runs. */
MUST_USE enum err serve_stream_open(struct serve_stream **out, struct requests *requests,
                                    struct session_common *common, struct listen_socket *socket,
                                    struct tls_context *const *tls);
/* Closes the listener and every session; what waits gets no answer. *serve becomes NULL. */
void serve_stream_close(struct serve_stream **serve);

/* The two steps of a reload, as in session.h. */
void serve_stream_move(struct serve_stream *serve, struct server_quota *quota);
void serve_stream_renew(struct serve_stream *serve);

/* It has no sessions, and where its address ends, nobody waits to become one. */
bool serve_stream_is_idle(const struct serve_stream *serve);

/*
 * The daemon stops: sessions are finished as session_finish_all() says. A socket that others share
 * is left to them at once, connections wait there for the next daemon; one of our own serves new
 * clients until serve_stream_stop(), and each answer tells them to leave. on_idle is called when it
 * becomes idle, perhaps more than once, also within this call.
 */
void serve_stream_drain(struct serve_stream *serve, void (*on_idle)(void *context), void *context);

/* After serve_stream_drain(): accepts the connections that wait, closes the socket, and finishes
 * the sessions that are new. */
void serve_stream_stop(struct serve_stream *serve);

/*
 * The address is served no more: who waits to be accepted still is. Sessions go on, but answers
 * tell them to close (RFC 7828); those that have not done so after SERVE_STREAM_END_US are
 * finished. on_idle is called when it becomes idle, perhaps more than once, and not within this
 * call.
 */
void serve_stream_end(struct serve_stream *serve, void (*on_idle)(void *context), void *context);

#endif
