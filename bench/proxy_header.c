/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The signature, a byte of version and command, one of family and transport, the length of the
 * rest, both addresses, both ports: section 2.2 of haproxy's proxy-protocol.txt.
 */

#include "proxy_header.h"

#include <string.h>

#include "base/span.h"

enum { SIGNATURE_BYTES = 12, VERSION_2_PROXY = 0x21 };
enum { FAMILY_INET = 0x10, FAMILY_INET6 = 0x20, TRANSPORT_STREAM = 1, TRANSPORT_DGRAM = 2 };

size_t proxy_header_write(uint8_t out[PROXY_HEADER_MAX], const struct addr *client,
                          const struct addr *server, bool is_stream)
{
    size_t len, same;
    const uint8_t *from = addr_bytes(client, &len), *to = addr_bytes(server, &same);
    uint8_t *p = out;
    memcpy(p, "\r\n\r\n\0\r\nQUIT\n", SIGNATURE_BYTES);
    p += SIGNATURE_BYTES;
    *p++ = VERSION_2_PROXY;
    *p++ = (uint8_t)((addr_family(client) == AF_INET ? FAMILY_INET : FAMILY_INET6) |
                     (is_stream ? TRANSPORT_STREAM : TRANSPORT_DGRAM));
    put_u16(p, (uint16_t)(2 * len + 4));
    p += 2;
    memcpy(p, from, len);
    p += len;
    memset(p, 0, len);
    if (same == len)
        memcpy(p, to, len);
    p += len;
    put_u16(p, addr_port(client));
    put_u16(p + 2, addr_port(server));
    return (size_t)(p + 4 - out);
}
