/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Asks before any worker starts whether the addresses can be had: with SO_REUSEPORT a second
 * instance would else start unnoticed. Opening is server.c's.
 */
#include "base/log.h"
#include "net/acceptor.h"
#include "serve/server.h"
#include "serve/server_address.h"

static void warn_unknown(const struct addr *addr)
{
    char text[ADDR_TEXT_MAX];
    LOG(LOG_WARNING, "serve", "not listening on %s: %s", addr_format(addr, text),
        err_str(ERR_ADDRESS_UNKNOWN));
}

enum err server_probe(const struct server_options *options, size_t *which)
{
    size_t lacking = 0;
    size_t count = server_address_count(options);
    for (size_t i = 0; i < count; i++) {
        struct server_address listen = server_address_at(options, i);
        /* UDP of the port of TLS may be somebody else's: a server of DNS over QUIC (RFC 9250). */
        enum err err = acceptor_probe(listen.addr, !listen.is_tls);
        *which = i;
        if (err && err != ERR_ADDRESS_UNKNOWN)
            return err;
        if (!err)
            continue;
        lacking++;
        warn_unknown(listen.addr);
    }
    return lacking > 0 && lacking == count ? ERR_ADDRESS_UNKNOWN : ERR_OK;
}
