/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TRANSPORT_TLS_H
#define NAILUP_BENCH_TRANSPORT_TLS_H

/*
 * TLS over a blocking socket, whose timeouts its owner has set. False always means that the
 * connection is of no use any more.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls_stream.h"

/* Until the handshake is over; what is in wire already goes first. */
bool transport_tls_shake(int fd, struct tls_stream *stream);

bool transport_tls_send(int fd, struct tls_stream *stream, const uint8_t *bytes, size_t len);
bool transport_tls_read(int fd, struct tls_stream *stream, uint8_t *out, size_t len);

/* Says close_notify, as a client with manners does. */
void transport_tls_end(int fd, struct tls_stream *stream);

#endif
