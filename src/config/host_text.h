/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_HOST_TEXT_H
#define NAILUP_CONFIG_HOST_TEXT_H

/* A server by name: NAME, NAME@PORT, NAME#AUTH-NAME or NAME@PORT#AUTH-NAME. Pure. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/addr.h"

struct host_text {
    char name[ADDR_NAME_MAX];      /* lower case, without a final dot */
    uint16_t port;                 /* 0: none */
    char auth_name[ADDR_NAME_MAX]; /* lower case; "": none */
};

/* "." behind a name of one label, so that it reads as a name again; else "". */
static inline const char *host_text_dot(const char *name)
{
    return strchr(name, '.') ? "" : ".";
}

/* Reads the text. False: it is no server by name. A name has a dot and a letter in its last label,
 * so that a misspelt address or word is not taken for one; a final dot makes any name one. */
bool host_text_parse(struct host_text *out, const char *text);

#endif
