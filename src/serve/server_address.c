/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads two lists of addresses as one. */
#include "serve/server_address.h"

#include "base/check.h"

size_t server_address_count(const struct server_options *options)
{
    return options->listen_count + options->listen_tls_count;
}

struct server_address server_address_at(const struct server_options *options, size_t which)
{
    MUST(which < server_address_count(options));
    if (which < options->listen_count)
        return (struct server_address){.addr = &options->listen[which]};
    return (struct server_address){.addr = &options->listen_tls[which - options->listen_count],
                                   .is_tls = true};
}
