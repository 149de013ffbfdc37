/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The run-time half of the rules of choice: config applies the rules to every prefix in advance, so
 * that an address costs one look-up here. Invariant: no query leaves for an address that this
 * daemon serves.
 */
#include "upstream/policy.h"

/* ---- addresses of listeners ---- */

static bool is_wildcard_for(const struct addr *listener, const struct addr *addr)
{
    return addr_is_any(listener) && addr_family(listener) == addr_family(addr) &&
           addr_port(listener) == addr_port(addr);
}

/* A wildcard listener also receives what is sent to the loopback addresses. */
static const char *find_listener(const struct policy *policy, const struct addr *addr)
{
    for (size_t i = 0; i < POLICY_LISTENERS; i++) {
        const struct policy_listeners *listeners = &policy->listeners[i];
        for (size_t j = 0; j < listeners->count; j++)
            if (addr_equal(&listeners->list[j], addr) ||
                (addr_is_loopback(addr) && is_wildcard_for(&listeners->list[j], addr)))
                return listeners->key;
    }
    return NULL;
}

const char *policy_find_loop(const struct policy *policy, const struct route_upstream *server,
                             struct addr *addr)
{
    *addr = server->addr;
    const char *key = find_listener(policy, addr);
    if (key || !upstream_options_are_opportunistic(&server->options))
        return key;
    addr_set_port(addr, server->options.fallback_port);
    return find_listener(policy, addr);
}

/* NULL: for any address and port. */
static bool has_wildcard_for(const struct policy *policy, const struct addr *addr)
{
    for (size_t i = 0; i < POLICY_LISTENERS; i++) {
        const struct policy_listeners *listeners = &policy->listeners[i];
        for (size_t j = 0; j < listeners->count; j++)
            if (addr ? is_wildcard_for(&listeners->list[j], addr)
                     : addr_is_any(&listeners->list[j]))
                return true;
    }
    return false;
}

bool policy_has_wildcard(const struct policy *policy)
{
    return has_wildcard_for(policy, NULL);
}

/* ---- servers ---- */

/* An unspecified, multicast or reserved address, or one in 0.0.0.0/8. A link-local address has no
 * interface in a referral. An IPv4 address written as IPv6 would evade the rules for the IPv4
 * address. */
static bool is_no_server(const struct addr *ip)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(ip, &len);
    if (addr_is_any(ip) || addr_lacks_zone(ip))
        return true;
    if (len == 4)
        return bytes[0] == 0 || bytes[0] >= 224;
    const struct in6_addr *v6 = &ip->in6.sin6_addr;
    return bytes[0] == 0xff || IN6_IS_ADDR_V4MAPPED(v6) || IN6_IS_ADDR_V4COMPAT(v6);
}

static const struct upstream_options *find_options(const struct policy *policy,
                                                   const struct addr *ip)
{
    int index = prefix_set_find(policy->prefixes, ip);
    if (index >= 0)
        return &policy->by_prefix[index];
    return addr_family(ip) == AF_INET6 ? &policy->ipv6 : &policy->ipv4;
}

static bool is_version_off(const struct policy *policy, const struct addr *ip)
{
    return addr_family(ip) == AF_INET6 ? policy->no_ipv6 : policy->no_ipv4;
}

bool policy_choose(const void *context, const struct addr *ip, struct route_upstream *out)
{
    const struct policy *policy = context;
    struct addr own;
    if (is_no_server(ip) || is_version_off(policy, ip) ||
        prefix_set_find(policy->do_not_query, ip) >= 0)
        return false;
    out->addr = *ip;
    out->options = *find_options(policy, ip);
    enum transport transport = out->options.transport;
    addr_set_port(&out->addr,
                  transport_is_secure(transport) ? transport_port(transport) : policy->port);
    if (policy_find_loop(policy, out, &own))
        return false;
    return !policy->own || prefix_set_find(policy->own, &out->addr) < 0 ||
           !has_wildcard_for(policy, &out->addr);
}

bool policy_is_trustworthy(const struct route_upstream *server)
{
    return addr_is_loopback(&server->addr) || upstream_options_are_strict(&server->options);
}
