/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TRANSPORT_TLS_H
#define NAILUP_BENCH_TRANSPORT_TLS_H

/*
 * TLS over a blocking socket, whose owner has set its timeouts. Each function returns false if the
 * connection is broken.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls_stream.h"

/* Makes the handshake. Bytes that are already in wire leave first. */
bool transport_tls_shake(int fd, struct tls_stream *stream);

bool transport_tls_send(int fd, struct tls_stream *stream, const uint8_t *bytes, size_t len);
bool transport_tls_read(int fd, struct tls_stream *stream, uint8_t *out, size_t len);

/* Sends close_notify, as a polite client does. */
void transport_tls_end(int fd, struct tls_stream *stream);

#endif
