/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_PEER_H
#define NAILUP_TLS_TLS_PEER_H

#include "base/addr.h"
#include "tls/tls_options.h"

struct tls_rack;

/* Whom a client of TLS expects. All is borrowed until tls_free(). */
struct tls_peer {
    const struct addr *addr; /* what the certificate must name when the options give no name */
    const struct tls_peer_options *options;
    struct tls_rack *tickets; /* of this very identity; NULL: nothing is resumed */
};

#endif
