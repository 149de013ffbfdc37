/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_TICKETS_MAX_H
#define NAILUP_TLS_TLS_TICKETS_MAX_H

/* Bounds of saved sessions, in memory (tls_tickets.h) and in a file (tls_tickets_format.h). */

enum {
    TLS_RACK_TICKETS_MAX = 16,        /* of one identity; the oldest makes room */
    TLS_RACKS_MAX = 65536,            /* identities */
    TLS_RACK_KEY_MAX = 4096,          /* bytes of an identity's key */
    TLS_TICKET_BYTES_MAX = 32 * 1024, /* of a ticket with its certificate, saved */
    TLS_TICKET_AGE_MAX_S = 7 * 86400,
    TLS_TICKET_AHEAD_MAX_S = 300, /* given in the future: a clock was set back meanwhile */
    TLS_TICKETS_FILE_MAX = 64 * 1024 * 1024,
};

#endif
