/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_NSID_H
#define NAILUP_SERVE_NSID_H

/*
 * The identifier of a server in replies (RFC 5001), as it is written in the configuration: "ascii_"
 * and a text, or pairs of hexadecimal digits. Pure, any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the text has one of the two forms and at least one byte. */
bool nsid_is_sound(const char *text);

/* Returns the bytes of the identifier that a sound text means. */
size_t nsid_len(const char *text);

/* Writes nsid_len() bytes. */
void nsid_write(const char *text, uint8_t *out);

#endif
