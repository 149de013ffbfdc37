/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_BASE64_H
#define NAILUP_CONFIG_BASE64_H

/* Base64 (RFC 4648 section 4), with padding and without white space. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads len characters into at most max bytes. Each run of bytes has exactly one text: returns
 * false for any other, and when the bytes do not fit. */
bool base64_read(const char *text, size_t len, uint8_t *out, size_t max, size_t *out_len);

#endif
