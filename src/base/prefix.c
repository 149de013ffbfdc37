/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Text and membership of a single prefix. Host bits are kept as written and never compared.
 * prefix_set.c has sets.
 */
#include "base/prefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t width_of(const struct addr *addr)
{
    return addr_family(addr) == AF_INET6 ? 128 : 32;
}

static bool parse_length(const char *text, uint8_t max, uint8_t *out)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 3 || text[digits] != '\0' || (text[0] == '0' && digits > 1))
        return false;
    long value = strtol(text, NULL, 10);
    if (value > max)
        return false;
    *out = (uint8_t)value;
    return true;
}

enum err prefix_parse(struct prefix *out, const char *text)
{
    char ip[PREFIX_TEXT_MAX];
    size_t len = strcspn(text, "/");
    if (len >= sizeof(ip) || memchr(text, '@', len) || (memchr(text, '%', len) && text[len]))
        return ERR_INVALID;
    memcpy(ip, text, len);
    ip[len] = '\0';
    struct prefix prefix;
    if (addr_parse(&prefix.addr, ip, 0))
        return ERR_INVALID;
    /* An IPv4-mapped address has become IPv4, but its written length includes the 96 mapping bits.
     */
    uint8_t width = width_of(&prefix.addr);
    uint8_t written = strchr(ip, ':') ? 128 : 32, length = written;
    if (text[len] == '/' && !parse_length(text + len + 1, written, &length))
        return ERR_INVALID;
    if (length < written - width)
        return ERR_INVALID;
    prefix.length = (uint8_t)(length - (written - width));
    *out = prefix;
    return ERR_OK;
}

bool prefix_is_mapped(const char *text)
{
    struct prefix prefix;
    return strchr(text, ':') && prefix_parse(&prefix, text) == ERR_OK &&
           addr_family(&prefix.addr) == AF_INET;
}

enum err prefix_parse_unmapped(struct prefix *out, const char *text)
{
    if (prefix_parse(out, text))
        return ERR_INVALID;
    if (!strchr(text, ':') || addr_family(&out->addr) == AF_INET6)
        return ERR_OK;
    struct addr addr = {.in6 = {.sin6_family = AF_INET6}};
    uint8_t *bytes = addr.in6.sin6_addr.s6_addr;
    bytes[10] = bytes[11] = 0xff;
    memcpy(bytes + 12, &out->addr.in.sin_addr, 4);
    out->addr = addr;
    out->length = (uint8_t)(out->length + 96);
    return ERR_OK;
}

const char *prefix_format(const struct prefix *prefix, char out[PREFIX_TEXT_MAX])
{
    char ip[ADDR_TEXT_MAX];
    addr_format_ip(&prefix->addr, ip);
    if (prefix_is_single(prefix))
        snprintf(out, PREFIX_TEXT_MAX, "%.59s", ip);
    else
        snprintf(out, PREFIX_TEXT_MAX, "%.59s/%u", ip, prefix->length);
    return out;
}

static bool equal_bits(const uint8_t *a, const uint8_t *b, uint8_t bits)
{
    uint8_t whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

/* Returns the zone, or 0: every link. */
static uint32_t zone_of(const struct prefix *prefix)
{
    return addr_family(&prefix->addr) == AF_INET6 ? prefix->addr.in6.sin6_scope_id : 0;
}

bool prefix_contains(const struct prefix *prefix, const struct addr *addr)
{
    size_t len;
    uint32_t zone = zone_of(prefix);
    if (addr_family(&prefix->addr) != addr_family(addr))
        return false;
    if (zone && zone != addr->in6.sin6_scope_id)
        return false;
    return equal_bits(addr_bytes(&prefix->addr, &len), addr_bytes(addr, &len), prefix->length);
}

bool prefix_is_single(const struct prefix *prefix)
{
    return prefix->length == width_of(&prefix->addr);
}

bool prefix_clear_host_bits(struct prefix *prefix)
{
    size_t len;
    uint8_t *bytes = (uint8_t *)(uintptr_t)addr_bytes(&prefix->addr, &len);
    bool was_set = false;
    for (unsigned bit = prefix->length; bit < 8 * len; bit++) {
        uint8_t mask = (uint8_t)(0x80u >> bit % 8);
        was_set |= (bytes[bit / 8] & mask) != 0;
        bytes[bit / 8] &= (uint8_t)~mask;
    }
    return was_set;
}

bool prefix_equal(const struct prefix *a, const struct prefix *b)
{
    return a->length == b->length && zone_of(a) == zone_of(b) && prefix_contains(a, &b->addr);
}
