/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_UTF8_H
#define NAILUP_CTL_UTF8_H

/* Reads UTF-8 in untrusted text. */

/* The number of bytes of the character at p; 0: not a valid character. p ends with a NUL. */
int utf8_len(const unsigned char *p);

/* Replaces invalid bytes and control characters in place, because these could control a terminal.
 * This includes control characters of two bytes. Returns text. */
char *utf8_clean(char *text);

#endif
