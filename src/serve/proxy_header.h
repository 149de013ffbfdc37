/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_PROXY_HEADER_H
#define NAILUP_SERVE_PROXY_HEADER_H

/*
 * The header of the PROXY protocol, version 2: a proxy puts it before a datagram or at the
 * beginning of a connection, and it names the client. Pure, any thread.
 *
 *   12 bytes   signature
 *    1 byte    version 2 and the command: LOCAL or PROXY
 *    1 byte    family and protocol of the client's connection to the proxy
 *    2 bytes   length of the rest: addresses, ports, and further fields (TLVs), which are skipped
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "base/span.h"

enum {
    PROXY_HEADER_SIGNATURE = 12,
    /* A longer header is refused. The addresses take 52 bytes. Certificates and identifiers in
     * further fields take a few hundred. */
    PROXY_HEADER_MAX = 1024,
};

struct proxy_header {
    size_t len;           /* with the signature */
    bool is_local;        /* the proxy itself asks, for example for a health check */
    struct addr client;   /* unless it is local */
    struct addr frontend; /* the address of the proxy that the client asked, likewise */
};

enum proxy_verdict {
    PROXY_WHOLE,     /* *out is set */
    PROXY_PARTIAL,   /* the bytes are the beginning of a header; also for no bytes */
    PROXY_ABSENT,    /* the bytes begin with something else */
    PROXY_MALFORMED, /* another version, an unknown command or family, or a bad length */
};

/*
 * Reads the header at the beginning of the bytes. The protocol of the client's connection may
 * differ from ours: a proxy may ask over UDP for a client of DNS over HTTPS. Clients of unknown
 * family and of local sockets are malformed, because such a client has no address to judge.
 */
enum proxy_verdict proxy_header_read(struct proxy_header *out, struct span bytes);

/* Whether the bytes begin with a whole signature. */
bool proxy_header_has_signature(struct span bytes);

#endif
