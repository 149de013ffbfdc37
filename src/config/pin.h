/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_PIN_H
#define NAILUP_CONFIG_PIN_H

/* A pin of a public key as text: SHA-256 in base64 (RFC 4648 section 4). */

#include <stdbool.h>
#include <stdint.h>

#include "tls/tls_options.h"

enum { PIN_TEXT_MAX = 45 }; /* 43 digits, '=' and the NUL */

/* Reads plain base64, or the forms of other programs: sha256//BASE64 (curl) and pin-sha256="BASE64"
 * (RFC 7469). Returns false for other forms, and for a pin that does not have 32 bytes. */
bool pin_parse(const char *text, uint8_t out[TLS_PIN_BYTES]);

/* Formats the plain base64. Returns out. */
const char *pin_format(const uint8_t pin[TLS_PIN_BYTES], char out[PIN_TEXT_MAX]);

#endif
