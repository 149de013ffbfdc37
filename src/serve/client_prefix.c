/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Cuts addresses to the prefix that counts as one client. Counting is left to others.
 * Invariant: two addresses give the same prefix exactly when they share the bits that the options
 * say, and their scope.
 */
#include "serve/client_prefix.h"

#include <string.h>

#include "base/check.h"

static void clear_behind(uint8_t *bytes, size_t len, size_t bits)
{
    size_t whole = bits / 8;
    if (whole >= len)
        return;
    bytes[whole] &= (uint8_t) ~(0xff >> bits % 8);
    memset(bytes + whole + 1, 0, len - whole - 1);
}

struct addr client_prefix(uint16_t v4_bits, uint16_t v6_bits, const struct addr *client)
{
    struct addr prefix = *client;
    addr_set_port(&prefix, 0);
    if (addr_family(&prefix) == AF_INET)
        clear_behind((uint8_t *)&prefix.in.sin_addr, 4, v4_bits);
    else if (!IN6_IS_ADDR_LINKLOCAL(&prefix.in6.sin6_addr))
        clear_behind(prefix.in6.sin6_addr.s6_addr, 16, v6_bits);
    return prefix;
}
