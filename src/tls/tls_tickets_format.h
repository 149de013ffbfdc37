/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_TICKETS_FORMAT_H
#define NAILUP_TLS_TLS_TICKETS_FORMAT_H

/*
 * The file of saved sessions as bytes. Pure: no file, and what a ticket holds is not looked into.
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
 *    8        XXH3 of all before
 *
 * The checksum finds what a disk or a crash did. Who may write the file could make it right, so
 * every length is checked all the same.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "tls/tls_tickets_max.h"

enum { TLS_TICKETS_VERSION = 1, TLS_TICKETS_CHECKSUM_BYTES = 8 };

/* What a file of any version begins with. */
struct span tls_tickets_magic(void);

/* Asked for each ticket, in the file's order; false: stop. Spans are borrowed until the return. */
typedef bool (*tls_tickets_fn)(void *owner, struct span key, struct span ticket);

/* True: a whole file, and on_ticket was asked for all there is in it. Otherwise it may have been
 * asked for some. */
bool tls_tickets_parse(struct span file, tls_tickets_fn on_ticket, void *owner);

/* Writes such a file into memory, which is wiped when it is left. */
struct tls_tickets_writer {
    uint8_t *data;
    size_t len, cap;
    size_t racks;
    size_t tickets_at; /* where the number of tickets of the last rack stands */
    size_t tickets;    /* in the last rack */
};

/* False, here and below: out of memory, or a bound is reached; what was written before is kept. */
bool tls_tickets_writer_init(struct tls_tickets_writer *writer);

/* Tickets are of this rack until the next one begins. A rack that gets none disappears. */
bool tls_tickets_write_rack(struct tls_tickets_writer *writer, struct span key);

/* Room for a ticket of len bytes in the last rack, to be filled at once; NULL as above. */
uint8_t *tls_tickets_write_ticket(struct tls_tickets_writer *writer, size_t len);

/* The whole file, borrowed until the deinit; nothing can be added any more. */
struct span tls_tickets_write_end(struct tls_tickets_writer *writer);

void tls_tickets_writer_deinit(struct tls_tickets_writer *writer);

/* Makes length and checksum right in place; len is at least those of an empty file. Also for tests
 * that make wrong files. */
void tls_tickets_seal(uint8_t *file, size_t len);

#endif
