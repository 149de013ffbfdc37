/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Splits the text, and leaves the rules for names to kind_parse_host_name(). */
#include "config/host_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/kind.h"

/* An address ends in a label of digits, which no top-level domain has (RFC 3696 section 2). */
static bool is_name_of_host(const char *text)
{
    const char *dot = strchr(text, '.');
    bool has_letter = false;
    for (const char *at = text; *at; at++) {
        if (*at == '.' && at[1])
            has_letter = false;
        has_letter |= isalpha((unsigned char)*at) != 0;
    }
    return dot && has_letter;
}

static bool parse_port(const char *text, uint16_t *port)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    unsigned long number = strtoul(text, &end, 10);
    *port = (uint16_t)number;
    return *end == '\0' && number > 0 && number <= UINT16_MAX;
}

bool host_text_parse(struct host_text *out, const char *text)
{
    char copy[2 * ADDR_NAME_MAX + 8];
    *out = (struct host_text){0};
    if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
        return false;
    char *hash = strchr(copy, '#');
    if (hash)
        *hash++ = '\0';
    char *at = strchr(copy, '@');
    if (at)
        *at++ = '\0';
    struct addr addr;
    return is_name_of_host(copy) && kind_parse_host_name(copy, out->name) &&
           (!at || parse_port(at, &out->port)) &&
           (!hash ||
            (kind_parse_host_name(hash, out->auth_name) && addr_parse(&addr, hash, 0) != ERR_OK));
}
