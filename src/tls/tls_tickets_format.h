/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_TICKETS_FORMAT_H
#define NAILUP_TLS_TLS_TICKETS_FORMAT_H

/*
 * The file of saved tickets as bytes. Pure: opens no file and does not read inside a ticket.
 * All numbers are in network byte order:
 *
 *   12 bytes  "nailup-tls\n\0"
 *    4        version, TLS_TICKETS_VERSION
 *    4        length of the whole
 *    4        number of racks, at most TLS_RACKS_MAX; then each:
 *      2      length of the key, at most TLS_RACK_KEY_MAX
 *      2      number of tickets, 1 to TLS_RACK_TICKETS_MAX
 *             the key; then each ticket, the oldest first:
 *        4    length, 1 to TLS_TICKET_BYTES_MAX
 *             the session in OpenSSL's DER form
 *    8        XXH3 of everything before it
 *
 * The checksum finds damage by a disk or a crash. A forger could compute it, so the parser checks
 * every length as well.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum {
    TLS_TICKETS_VERSION = 1,
    TLS_TICKETS_CHECKSUM_BYTES = 8,
    TLS_RACK_TICKETS_MAX = 16,        /* the most tickets of one identity; the oldest makes room */
    TLS_RACKS_MAX = 65536,            /* identities */
    TLS_RACK_KEY_MAX = 4096,          /* bytes of an identity's key */
    TLS_TICKET_BYTES_MAX = 32 * 1024, /* the bound on a saved ticket with its certificate */
    TLS_TICKETS_FILE_MAX = 64 * 1024 * 1024,
};

/* The bytes at the start of a file of any version. */
struct span tls_tickets_magic(void);

/* Gets each ticket in the file's order; returns false to stop. Borrows the spans until the return.
 */
typedef bool (*tls_tickets_fn)(void *owner, struct span key, struct span ticket);

/* Returns true if the file is whole and on_ticket took all its tickets. Otherwise on_ticket may
 * have got some. */
bool tls_tickets_parse(struct span file, tls_tickets_fn on_ticket, void *owner);

/* Writes such a file into memory, and wipes memory that it leaves. */
struct tls_tickets_writer {
    uint8_t *data;
    size_t len, cap;
    size_t racks;
    size_t tickets_at; /* position of the last rack's number of tickets */
    size_t tickets;    /* the tickets in the last rack */
};

/* Returns false, as do the functions below, when out of memory or at a bound. Earlier tickets stay.
 */
bool tls_tickets_writer_init(struct tls_tickets_writer *writer);

/* Begins a rack. A rack that gets no ticket disappears. */
bool tls_tickets_write_rack(struct tls_tickets_writer *writer, struct span key);

/* Returns room for a ticket of len bytes in the last rack, or NULL. The caller fills it at once. */
uint8_t *tls_tickets_write_ticket(struct tls_tickets_writer *writer, size_t len);

/* Ends the file and returns it, borrowed until the deinit. */
struct span tls_tickets_write_end(struct tls_tickets_writer *writer);

void tls_tickets_writer_deinit(struct tls_tickets_writer *writer);

/* Corrects length and checksum in place; len is at least that of an empty file. Tests use it to
 * make damaged files. */
void tls_tickets_seal(uint8_t *file, size_t len);

#endif
