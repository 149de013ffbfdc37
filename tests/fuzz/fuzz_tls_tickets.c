/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Reads any bytes as a file of saved sessions. Length and checksum are corrected first, because
 * random bytes never have them. A file that the parser accepts must be written back as the same
 * bytes. Then its sessions go through OpenSSL into a store.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "tls/tls_tickets.h"
#include "tls/tls_tickets_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SMALLEST = 24 + TLS_TICKETS_CHECKSUM_BYTES, NOW_S = 1800000000 };

struct again {
    struct tls_tickets_writer writer;
    struct span key;
};

/* All tickets of a rack have the same span as their key. An empty span could equal that of the
 * previous rack, but each rack here has its own head. */
static bool on_ticket(void *owner, struct span key, struct span ticket)
{
    struct again *again = owner;
    uint8_t *room;

    if (key.data != again->key.data)
        MUST(tls_tickets_write_rack(&again->writer, key));
    again->key = key;
    room = tls_tickets_write_ticket(&again->writer, ticket.len);
    MUST(room);
    memcpy(room, ticket.data, ticket.len);
    return true;
}

static void write_again(struct span file)
{
    struct again again = {0};

    MUST(tls_tickets_writer_init(&again.writer));
    if (tls_tickets_parse(file, on_ticket, &again))
        MUST(span_equal(tls_tickets_write_end(&again.writer), file));
    tls_tickets_writer_deinit(&again.writer);
}

static void load(struct span file)
{
    struct tls_tickets *tickets = tls_tickets_new();
    size_t count;
    enum err err;

    MUST(tickets);
    err = tls_tickets_load_bytes(tickets, file, NOW_S, &count);
    MUST(err == ERR_OK || (err == ERR_INVALID && count == 0));
    tls_tickets_free(tickets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (size < SMALLEST)
        return 0;
    copy = malloc(size);
    MUST(copy);
    memcpy(copy, data, size);
    tls_tickets_seal(copy, size);
    write_again(span_of(copy, size));
    load(span_of(copy, size));
    free(copy);
    return 0;
}
