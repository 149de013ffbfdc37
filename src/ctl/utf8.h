/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_UTF8_H
#define NAILUP_CTL_UTF8_H

/* Characters of UTF-8 in text of others. */

/* How many bytes the character at p has; 0: it is none. p ends with a NUL. */
int utf8_len(const unsigned char *p);

/* Replaces in place what is no character and what could command a terminal: control characters,
 * those of two bytes too. Returns text. */
char *utf8_clean(char *text);

#endif
