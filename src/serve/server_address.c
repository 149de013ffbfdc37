/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads three lists of addresses as one. */
#include "serve/server_address.h"

#include "base/check.h"

size_t server_address_count(const struct server_options *options)
{
    return options->listen_count + options->listen_tls_count + options->listen_https_count;
}

struct server_address server_address_at(const struct server_options *options, size_t which)
{
    MUST(which < server_address_count(options));
    if (which < options->listen_count)
        return (struct server_address){&options->listen[which], TRANSPORT_TCP};
    which -= options->listen_count;
    if (which < options->listen_tls_count)
        return (struct server_address){&options->listen_tls[which], TRANSPORT_TLS};
    which -= options->listen_tls_count;
    return (struct server_address){&options->listen_https[which], TRANSPORT_HTTPS};
}

const char *server_address_key(struct server_address address)
{
    if (address.stream == TRANSPORT_HTTPS)
        return "server.listen-https";
    return address.stream == TRANSPORT_TLS ? "server.listen-tls" : "server.listen";
}
