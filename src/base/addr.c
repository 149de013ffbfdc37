/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Parses, formats and compares addresses. Invariant: all unused bytes of an addr are zero, and it
 * is never an IPv4-mapped IPv6 address. Host names are not looked up.
 */
#include "base/addr.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static void set_v4(struct addr *out, const uint8_t bytes[4], uint16_t port)
{
    memset(out, 0, sizeof(*out));
    out->in.sin_family = AF_INET;
    out->in.sin_port = htons(port);
    memcpy(&out->in.sin_addr, bytes, 4);
}

static void set_v6(struct addr *out, const uint8_t bytes[16], uint32_t scope, uint16_t port)
{
    if (memcmp(bytes, mapped_prefix, sizeof(mapped_prefix)) == 0) {
        set_v4(out, bytes + sizeof(mapped_prefix), port);
        return;
    }
    memset(out, 0, sizeof(*out));
    out->in6.sin6_family = AF_INET6;
    out->in6.sin6_port = htons(port);
    out->in6.sin6_scope_id = scope;
    memcpy(&out->in6.sin6_addr, bytes, 16);
}

/* Takes decimal digits only, without leading zeros. */
static bool parse_number(const char *text, uint32_t max, uint32_t *out)
{
    uint32_t value = 0;
    if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0'))
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        uint32_t digit = (uint32_t)(*text - '0');
        if (value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

/* Only link-local unicast and multicast addresses take a scope. */
static bool parse_scope(const struct in6_addr *ip, const char *text, uint32_t *out)
{
    if (!IN6_IS_ADDR_LINKLOCAL(ip) && !IN6_IS_ADDR_MC_LINKLOCAL(ip))
        return false;
    if (strlen(text) >= IF_NAMESIZE || strchr(text, ':')) /* the system reads "lo:x" as lo */
        return false;
    *out = if_nametoindex(text);
    return *out != 0 || (parse_number(text, UINT32_MAX, out) && *out != 0);
}

const char *addr_zone_hint(const char *text)
{
    char ip[INET6_ADDRSTRLEN];
    struct in6_addr v6;
    size_t len = strcspn(text, "%");
    if (text[len] && strchr(text, '/'))
        return "; only a single address has an interface after a %";
    if (text[len] == '\0' || len >= sizeof(ip))
        return "";
    memcpy(ip, text, len);
    ip[len] = '\0';
    if (inet_pton(AF_INET6, ip, &v6) != 1)
        return "";
    if (!IN6_IS_ADDR_LINKLOCAL(&v6) && !IN6_IS_ADDR_MC_LINKLOCAL(&v6))
        return "; only link-local addresses have an interface after a %";
    uint32_t scope;
    char zone[IF_NAMESIZE];
    size_t zone_len = strcspn(text + len + 1, "@#/");
    if (zone_len < sizeof(zone)) {
        memcpy(zone, text + len + 1, zone_len);
        zone[zone_len] = '\0';
        if (parse_scope(&v6, zone, &scope))
            return "";
    }
    return "; this machine has no such interface now: take one that `ip link` lists";
}

bool addr_lacks_zone(const struct addr *addr)
{
    return addr_family(addr) == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr) &&
           addr->in6.sin6_scope_id == 0;
}

static enum err parse_ip(struct addr *out, char *text, uint16_t port)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, text, &v4) == 1) {
        set_v4(out, (const uint8_t *)&v4, port);
        return ERR_OK;
    }
    uint32_t scope = 0;
    char *percent = strchr(text, '%');
    if (percent)
        *percent = '\0';
    if (inet_pton(AF_INET6, text, &v6) != 1)
        return ERR_INVALID;
    if (percent && !parse_scope(&v6, percent + 1, &scope))
        return ERR_INVALID;
    set_v6(out, v6.s6_addr, scope, port);
    return ERR_OK;
}

/* Takes a host name as in certificates: labels of 1 to 63 letters, digits, '-' and '_'. Drops a
 * trailing dot. */
static enum err addr_parse_name(char name[ADDR_NAME_MAX], const char *text)
{
    size_t label = 0, len = 0;
    for (; text[len]; len++) {
        char c = text[len];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_';
        if (c == '.' ? label == 0 : !fine || label == 63)
            return ERR_INVALID;
        label = c == '.' ? 0 : label + 1;
        if (len >= ADDR_NAME_MAX)
            return ERR_INVALID;
    }
    if (len && text[len - 1] == '.')
        len--;
    if (len == 0 || len >= ADDR_NAME_MAX)
        return ERR_INVALID;
    memcpy(name, text, len);
    name[len] = '\0';
    return ERR_OK;
}

/* Copies the text up to the '#', if any, and cuts it at the '@'; *port is NULL without a port. */
static bool addr_split(const char *text, char ip[ADDR_TEXT_MAX], char **port, const char **name)
{
    const char *hash = strchr(text, '#');
    size_t len = hash ? (size_t)(hash - text) : strnlen(text, ADDR_TEXT_MAX);
    if (len >= ADDR_TEXT_MAX)
        return false;
    memcpy(ip, text, len);
    ip[len] = '\0';
    *name = hash ? hash + 1 : NULL;
    *port = strchr(ip, '@');
    if (*port)
        *(*port)++ = '\0';
    return true;
}

enum err addr_parse_named(struct addr *out, bool *has_port, char name[ADDR_NAME_MAX],
                          const char *text, uint16_t default_port)
{
    char ip[ADDR_TEXT_MAX], *port_text;
    const char *name_text;
    uint32_t port = default_port;
    if (!addr_split(text, ip, &port_text, &name_text))
        return ERR_INVALID;
    if (port_text && !parse_number(port_text, UINT16_MAX, &port))
        return ERR_INVALID;
    struct addr parsed;
    if (parse_ip(&parsed, ip, (uint16_t)port))
        return ERR_INVALID;
    name[0] = '\0';
    if (name_text && addr_parse_name(name, name_text))
        return ERR_INVALID;
    *has_port = port_text != NULL;
    *out = parsed;
    return ERR_OK;
}

enum err addr_parse(struct addr *out, const char *text, uint16_t default_port)
{
    char name[ADDR_NAME_MAX];
    bool has_port;
    if (strchr(text, '#'))
        return ERR_INVALID;
    return addr_parse_named(out, &has_port, name, text, default_port);
}

static void append_scope(char out[ADDR_TEXT_MAX], uint32_t scope)
{
    char interface[IF_NAMESIZE];
    size_t len = strlen(out);
    if (if_indextoname(scope, interface))
        snprintf(out + len, ADDR_TEXT_MAX - len, "%%%s", interface);
    else
        snprintf(out + len, ADDR_TEXT_MAX - len, "%%%u", scope);
}

const char *addr_format_ip(const struct addr *addr, char out[ADDR_TEXT_MAX])
{
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    if (!inet_ntop(addr_family(addr), bytes, out, ADDR_TEXT_MAX))
        snprintf(out, ADDR_TEXT_MAX, "no address");
    else if (addr_family(addr) == AF_INET6 && addr->in6.sin6_scope_id)
        append_scope(out, addr->in6.sin6_scope_id);
    return out;
}

const char *addr_format(const struct addr *addr, char out[ADDR_TEXT_MAX])
{
    addr_format_ip(addr, out);
    size_t len = strlen(out);
    snprintf(out + len, ADDR_TEXT_MAX - len, "@%u", addr_port(addr));
    return out;
}

enum err addr_from_sockaddr(struct addr *out, const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET) {
        struct sockaddr_in in; /* a copy: sa may be unaligned in a control message */
        memcpy(&in, sa, sizeof(in));
        set_v4(out, (const uint8_t *)&in.sin_addr, ntohs(in.sin_port));
        return ERR_OK;
    }
    if (sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, sa, sizeof(in6));
        set_v6(out, in6.sin6_addr.s6_addr, in6.sin6_scope_id, ntohs(in6.sin6_port));
        return ERR_OK;
    }
    return ERR_INVALID;
}

uint16_t addr_port(const struct addr *addr)
{
    return ntohs(addr_family(addr) == AF_INET6 ? addr->in6.sin6_port : addr->in.sin_port);
}

void addr_set_port(struct addr *addr, uint16_t port)
{
    if (addr_family(addr) == AF_INET6)
        addr->in6.sin6_port = htons(port);
    else
        addr->in.sin_port = htons(port);
}

const uint8_t *addr_bytes(const struct addr *addr, size_t *len)
{
    if (addr_family(addr) == AF_INET6) {
        *len = 16;
        return addr->in6.sin6_addr.s6_addr;
    }
    *len = 4;
    return (const uint8_t *)&addr->in.sin_addr;
}

bool addr_equal_ip(const struct addr *a, const struct addr *b)
{
    if (addr_family(a) != addr_family(b))
        return false;
    if (addr_family(a) == AF_INET6)
        return memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, 16) == 0 &&
               a->in6.sin6_scope_id == b->in6.sin6_scope_id;
    return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
}

bool addr_equal(const struct addr *a, const struct addr *b)
{
    return addr_equal_ip(a, b) && addr_port(a) == addr_port(b);
}

bool addr_is_any(const struct addr *addr)
{
    static const uint8_t zeros[16];
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    return memcmp(bytes, zeros, len) == 0;
}

bool addr_is_loopback(const struct addr *addr)
{
    static const uint8_t one[16] = {[15] = 1};
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    return len == 4 ? bytes[0] == 127 : memcmp(bytes, one, len) == 0;
}

static uint64_t hash_with_port(const struct addr *addr, uint16_t port, uint64_t seed)
{
    struct {
        uint8_t ip[16];
        uint32_t scope;
        uint16_t family, port;
    } key = {.family = addr->sa.sa_family, .port = port};
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    memcpy(key.ip, bytes, len);
    if (addr_family(addr) == AF_INET6)
        key.scope = addr->in6.sin6_scope_id;
    return hash_bytes(&key, sizeof(key), seed);
}

uint64_t addr_hash(const struct addr *addr, uint64_t seed)
{
    return hash_with_port(addr, addr_port(addr), seed);
}

uint64_t addr_hash_ip(const struct addr *addr, uint64_t seed)
{
    return hash_with_port(addr, 0, seed);
}
