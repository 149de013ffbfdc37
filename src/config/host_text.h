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

/* Returns "." for a name of one label, which reads back as a name only with a final dot; else
 * "". */
static inline const char *host_text_dot(const char *name)
{
    return strchr(name, '.') ? "" : ".";
}

/* Reads the text. False: the text is not the name of a server. A name needs a dot, and a letter in
 * its last label, so that a misspelt address or word does not pass for a name. With a final dot,
 * any name passes. */
bool host_text_parse(struct host_text *out, const char *text);

#endif
