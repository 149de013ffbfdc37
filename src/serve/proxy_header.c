/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads PROXY headers (proxy_header.h). It trusts no length before it has compared it with the
 * bytes, and it decides nothing about the sender: listener.c and session.c know the proxies.
 */
#include "serve/proxy_header.h"

#include <string.h>

#include "base/check.h"

static const uint8_t signature[PROXY_HEADER_SIGNATURE] = "\r\n\r\n\0\r\nQUIT\n";

enum {
    FIXED_BYTES = PROXY_HEADER_SIGNATURE + 4,
    COMMAND_LOCAL = 0x20, /* with the version */
    COMMAND_PROXY = 0x21,
    IPV4_BYTES = 4,
    IPV6_BYTES = 16,
};

/* Family and protocol in one byte. The protocol describes the client's connection to the proxy. */
enum { TCP_OVER_IPV4 = 0x11, UDP_OVER_IPV4 = 0x12, TCP_OVER_IPV6 = 0x21, UDP_OVER_IPV6 = 0x22 };

bool proxy_header_has_signature(struct span bytes)
{
    return bytes.len >= sizeof(signature) && memcmp(bytes.data, signature, sizeof(signature)) == 0;
}

/* An IPv4-mapped address becomes IPv4, so that prefixes match it. */
static struct addr proxy_addr(int family, const uint8_t *ip, const uint8_t *port)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    bool is_ipv4 = family == AF_INET;
    struct addr addr;
    if (is_ipv4)
        memcpy(&in.sin_addr, ip, sizeof(in.sin_addr));
    else
        memcpy(&in6.sin6_addr, ip, sizeof(in6.sin6_addr));
    MUST(addr_from_sockaddr(&addr, is_ipv4 ? (const void *)&in : (const void *)&in6) == ERR_OK);
    addr_set_port(&addr, get_u16(port));
    return addr;
}

/* Reads two addresses of this many bytes each, and then their ports. */
static enum proxy_verdict proxy_read_addresses(struct proxy_header *out, int family,
                                               size_t ip_bytes, struct span rest)
{
    if (rest.len < 2 * (ip_bytes + 2))
        return PROXY_MALFORMED;
    const uint8_t *at = rest.data, *ports = at + 2 * ip_bytes;
    out->client = proxy_addr(family, at, ports);
    out->frontend = proxy_addr(family, at + ip_bytes, ports + 2);
    return PROXY_WHOLE;
}

/* rest follows the length. */
static enum proxy_verdict proxy_read_client(struct proxy_header *out, uint8_t family,
                                            struct span rest)
{
    switch (family) {
    case TCP_OVER_IPV4:
    case UDP_OVER_IPV4:
        return proxy_read_addresses(out, AF_INET, IPV4_BYTES, rest);
    case TCP_OVER_IPV6:
    case UDP_OVER_IPV6:
        return proxy_read_addresses(out, AF_INET6, IPV6_BYTES, rest);
    default:
        return PROXY_MALFORMED;
    }
}

enum proxy_verdict proxy_header_read(struct proxy_header *out, struct span bytes)
{
    size_t compared = MIN(bytes.len, sizeof(signature));
    if (compared > 0 && memcmp(bytes.data, signature, compared) != 0)
        return PROXY_ABSENT;
    if (bytes.len < FIXED_BYTES)
        return PROXY_PARTIAL;
    const uint8_t *fixed = bytes.data + sizeof(signature);
    size_t rest = get_u16(fixed + 2);
    if ((fixed[0] != COMMAND_LOCAL && fixed[0] != COMMAND_PROXY) ||
        FIXED_BYTES + rest > PROXY_HEADER_MAX)
        return PROXY_MALFORMED;
    if (bytes.len < FIXED_BYTES + rest)
        return PROXY_PARTIAL;
    *out = (struct proxy_header){.len = FIXED_BYTES + rest, .is_local = fixed[0] == COMMAND_LOCAL};
    if (out->is_local)
        return PROXY_WHOLE;
    return proxy_read_client(out, fixed[1], span_of(bytes.data + FIXED_BYTES, rest));
}
