/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_SERVE_PROXIED_H
#define NAILUP_TESTS_UNIT_SERVE_PROXIED_H

/* Writes correct and wrong headers of the PROXY protocol. */

#include <string.h>

#include "base/addr.h"
#include "base/check.h"
#include "base/span.h"

static inline void proxied_addr(struct addr *out, const char *text)
{
    MUST(addr_parse(out, text, 53) == ERR_OK);
}

/* Writes a header with this command and family, the two addresses (NULL: none) and this many bytes
 * of further fields. Returns its length. */
static inline size_t proxied_header(uint8_t *out, uint8_t command, uint8_t family,
                                    const char *client, const char *frontend, size_t fields)
{
    size_t at = 16, ip_len = 0;
    memcpy(out, "\r\n\r\n\0\r\nQUIT\n", 12);
    out[12] = command;
    out[13] = family;
    if (client) {
        struct addr from, to;
        proxied_addr(&from, client);
        proxied_addr(&to, frontend);
        const uint8_t *from_ip = addr_bytes(&from, &ip_len), *to_ip = addr_bytes(&to, &ip_len);
        memcpy(out + at, from_ip, ip_len);
        memcpy(out + at + ip_len, to_ip, ip_len);
        at += 2 * ip_len;
        put_u16(out + at, addr_port(&from));
        put_u16(out + at + 2, addr_port(&to));
        at += 4;
    }
    memset(out + at, 0xe0, fields);
    put_u16(out + 14, (uint16_t)(at + fields - 16));
    return at + fields;
}

#endif
