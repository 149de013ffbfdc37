/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_ADDR_H
#define NAILUP_BASE_ADDR_H

/*
 * One IPv4 or IPv6 address with a port. IPv4-mapped IPv6 addresses become IPv4 when they are parsed
 * or come from a socket, so that equal peers compare equal and prefixes match.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

struct addr {
    union {
        struct sockaddr sa;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    };
};

enum {
    ADDR_TEXT_MAX = 80,  /* "[ipv6%scope]@port" and the NUL */
    ADDR_NAME_MAX = 254, /* text of a host name and the NUL */
};

/* Parses "IP" or "IP@PORT"; default_port fills in. A link-local IPv6 address may have a zone, the
 * name or number of an interface: "fe80::1%eth0@53" (RFC 4007 section 11). The interface must
 * exist, because struct addr holds its number. ERR_INVALID has no details: the caller knows the
 * option and reports what it takes. */
MUST_USE enum err addr_parse(struct addr *out, const char *text, uint16_t default_port);

/* Parses "IP", "IP@PORT", "IP@PORT#NAME" or "IP#NAME" as addr_parse() does. Sets name to "" if the
 * text has none, and has_port to whether the text has a port. */
MUST_USE enum err addr_parse_named(struct addr *out, bool *has_port, char name[ADDR_NAME_MAX],
                                   const char *text, uint16_t default_port);

/* If the zone of such a text is at fault, returns the end of a sentence ("; ...") that names the
 * fault and its remedy. Returns "" for any other fault. */
const char *addr_zone_hint(const char *text);

/* Whether this is a link-local address without a zone. A machine on any link may have it, so the
 * kernel cannot choose the link. */
bool addr_lacks_zone(const struct addr *addr);

/* "127.0.0.1@53", "::1@53"; returns out. */
const char *addr_format(const struct addr *addr, char out[ADDR_TEXT_MAX]);

/* Formats the address without the port. */
const char *addr_format_ip(const struct addr *addr, char out[ADDR_TEXT_MAX]);

/* Converts a struct sockaddr of either family; ERR_INVALID for another. */
MUST_USE enum err addr_from_sockaddr(struct addr *out, const struct sockaddr *sa);

static inline socklen_t addr_len(const struct addr *addr)
{
    return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6) : sizeof(addr->in);
}

static inline int addr_family(const struct addr *addr)
{
    return addr->sa.sa_family;
}

uint16_t addr_port(const struct addr *addr);
void addr_set_port(struct addr *addr, uint16_t port);

/* Returns the raw address, borrowed from addr; *len is 4 or 16. */
const uint8_t *addr_bytes(const struct addr *addr, size_t *len);

bool addr_equal(const struct addr *a, const struct addr *b);    /* address and port */
bool addr_equal_ip(const struct addr *a, const struct addr *b); /* address alone */
bool addr_is_any(const struct addr *addr);                      /* 0.0.0.0 or :: */
bool addr_is_loopback(const struct addr *addr);                 /* 127.0.0.0/8 or ::1 */
uint64_t addr_hash(const struct addr *addr, uint64_t seed);     /* address and port */
uint64_t addr_hash_ip(const struct addr *addr, uint64_t seed);

#endif
