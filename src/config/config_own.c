/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The addresses of this machine, where a wildcard takes what is sent to any of them. They are those
 * of the time of loading: who gets others reloads.
 */
#include "config/loader.h"

#include <ifaddrs.h>

#include "base/prefix.h"

static bool has_wildcard(const struct addr *list, size_t count, const struct addr *addr)
{
    for (size_t i = 0; i < count; i++)
        if (addr_is_any(&list[i]) && (!addr || (addr_family(&list[i]) == addr_family(addr) &&
                                                addr_port(&list[i]) == addr_port(addr))))
            return true;
    return false;
}

/* Any, or one that takes what is sent to addr. */
static bool listens(const struct server_options *server, const struct addr *addr)
{
    return has_wildcard(server->listen, server->listen_count, addr) ||
           has_wildcard(server->listen_tls, server->listen_tls_count, addr);
}

static bool config_own_add(struct prefix_set *set, const struct sockaddr *sa)
{
    struct prefix prefix;
    if (!sa || addr_from_sockaddr(&prefix.addr, sa) != ERR_OK)
        return true;
    addr_set_port(&prefix.addr, 0);
    prefix.length = addr_family(&prefix.addr) == AF_INET6 ? 128 : 32;
    return prefix_set_add(set, &prefix, 0) != ERR_NO_MEMORY; /* one may be there twice */
}

static bool add_all(struct prefix_set *set)
{
    struct ifaddrs *first;
    if (getifaddrs(&first) != 0)
        return true; /* not allowed, or nothing to ask: nobody is known to be ourselves */
    bool is_fine = true;
    for (const struct ifaddrs *at = first; at && is_fine; at = at->ifa_next)
        is_fine = config_own_add(set, at->ifa_addr);
    freeifaddrs(first);
    return is_fine;
}

bool config_find_own(struct config *config)
{
    if (!listens(&config->server, NULL))
        return true;
    config->own_set = prefix_set_new();
    return config->own_set && add_all(config->own_set) &&
           prefix_set_freeze(config->own_set) == ERR_OK;
}

bool config_is_own(const struct config *config, const struct addr *addr)
{
    return config->own_set && prefix_set_find(config->own_set, addr) >= 0 &&
           listens(&config->server, addr);
}
