/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Looks at addresses in all records that have them. An HTTPS record with one private address among
 * its hints is dropped as a whole, because its hints belong together.
 */
#include "resolve/private_addrs.h"

#include <netinet/in.h>
#include <string.h>

#include "base/addr.h"
#include "base/prefix.h"
#include "base/span.h"
#include "dns/rrtype.h"
#include "local/name_map.h"

enum { SVCB_IPV4HINT = 4, SVCB_IPV6HINT = 6 }; /* RFC 9460 section 14.3.2 */

static bool is_inside(const struct private_addrs *private, const uint8_t *bytes, size_t len)
{
    static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
    struct addr ip = {.in = {.sin_family = AF_INET}};
    if (len == 4) {
        memcpy(&ip.in.sin_addr, bytes, 4);
        return prefix_set_find(private->prefixes, &ip) >= 0;
    }
    if (memcmp(bytes, mapped, sizeof(mapped)) == 0 && is_inside(private, bytes + 12, 4))
        return true;
    ip = (struct addr){.in6 = {.sin6_family = AF_INET6}};
    memcpy(&ip.in6.sin6_addr, bytes, 16);
    return prefix_set_find(private->prefixes, &ip) >= 0;
}

static bool may_have_all(const struct private_addrs *private, struct name host)
{
    uint8_t wire[NAME_WIRE_MAX], len;
    return private->names &&
           name_map_find_suffix(private->names, name_fold(host, wire), &len) != NULL;
}

bool private_addrs_refuse(const struct private_addrs *private, struct name host,
                          const struct addr *ip)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(ip, &len);
    return private->prefixes && is_inside(private, bytes, len) && !may_have_all(private, host);
}

/* Whether an address of the parameter is private; a remainder that is too short is not an address.
 */
static bool has_inside(const struct private_addrs *private, struct span value, size_t each)
{
    for (; value.len >= each; value = span_of(value.data + each, value.len - each))
        if (is_inside(private, value.data, each))
            return true;
    return false;
}

static bool hints_inside(const struct private_addrs *private, struct span rdata)
{
    struct name target;
    size_t at = name_view(rdata, 2, &target);
    while (at && rdata.len - at >= 4) {
        uint16_t key = get_u16(rdata.data + at), len = get_u16(rdata.data + at + 2);
        struct span value = span_of(rdata.data + at + 4, len);
        if (len > rdata.len - at - 4)
            return false;
        if (key == SVCB_IPV4HINT && has_inside(private, value, 4))
            return true;
        if (key == SVCB_IPV6HINT && has_inside(private, value, 16))
            return true;
        at += 4u + len;
    }
    return false;
}

static bool has_address_inside(const struct private_addrs *private, const struct message *message,
                               const struct rr *rr)
{
    struct span rdata = message_rdata(message, rr);
    switch (rr->type) {
    case RRTYPE_A:
        return rdata.len == 4 && is_inside(private, rdata.data, 4);
    case RRTYPE_AAAA:
        return rdata.len == 16 && is_inside(private, rdata.data, 16);
    case RRTYPE_SVCB:
    case RRTYPE_HTTPS:
        return hints_inside(private, rdata);
    default:
        return false;
    }
}

bool private_addrs_refuse_rr(const struct private_addrs *private, const struct message *message,
                             const struct rr *rr)
{
    uint8_t wire[NAME_WIRE_MAX];
    return private->prefixes && rr->cls == RRCLASS_IN && has_address_inside(private, message, rr) &&
           !may_have_all(private, message_owner(message, rr, wire));
}
