/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The bytes of an HTTP/2 client. The first byte chooses the pieces in which the rest arrives, and
 * how the owner treats the messages: it answers, declines or leaves them, and ends the connection.
 * The client's preface need not be found by chance.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "net/h2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGE_MAX = 300, LEFT_MAX = 8 };

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";

struct owner {
    struct h2 *h2;
    struct buf out;
    uint32_t left[LEFT_MAX]; /* exchanges that are answered later */
    size_t left_count;
};

static void answer(struct owner *owner, uint32_t exchange, size_t len)
{
    uint8_t *room = h2_reserve(owner->h2, len);
    MUST(room);
    memset(room, 'r', len);
    MUST(h2_reply(owner->h2, exchange, len, (uint32_t)len));
}

static void treat(struct owner *owner, uint32_t exchange, struct span message)
{
    MUST(message.len > 0 && message.len <= MESSAGE_MAX);
    switch (message.data[0] % 4) {
    case 0:
        answer(owner, exchange, message.len * 200);
        break;
    case 1:
        h2_decline(owner->h2, exchange, message.data[message.len - 1] & 1);
        break;
    default:
        if (owner->left_count < LEFT_MAX)
            owner->left[owner->left_count++] = exchange;
    }
}

/* Returns false when the connection has ended. */
static bool feed(struct owner *owner, struct span piece, bool takes)
{
    uint8_t *copy = malloc(piece.len);
    struct span message;
    uint32_t exchange;
    memcpy(copy, piece.data, piece.len);
    enum err err = h2_receive(owner->h2, span_of(copy, piece.len));
    free(copy);
    while (!err && takes && h2_next(owner->h2, &exchange, &message))
        treat(owner, exchange, message);
    do {
        buf_clear(&owner->out);
        enum err fault = h2_send(owner->h2, &owner->out);
        err = err ? err : fault;
    } while (!err && buf_len(&owner->out) > 0);
    MUST(h2_unsent(owner->h2) == 0 || h2_is_stalled(owner->h2) || err);
    MUST(h2_held_bytes(owner->h2) < 32 * 1024 * 1024);
    return !err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct owner owner = {.h2 = h2_new("/dns-query", MESSAGE_MAX)};
    MUST(owner.h2);
    buf_init(&owner.out, 1024 * 1024);
    uint8_t choice = size > 0 ? data[0] : 0;
    struct span rest = size > 0 ? span_of(data + 1, size - 1) : span_of(data, 0), piece;
    bool goes_on = feed(&owner, span_of(preface, sizeof(preface) - 1), true);
    for (unsigned turn = 0; goes_on && rest.len > 0; turn++) {
        size_t len = choice ? 1 + (rest.data[0] ^ choice) % choice : rest.len;
        MUST(span_take(&rest, MIN(len, rest.len), &piece));
        goes_on = feed(&owner, piece, (choice + turn) % 3 != 0);
        if (choice % 16 == 7 && turn == 5)
            h2_announce_end(owner.h2);
        if (choice % 16 == 9 && turn == 7)
            h2_end(owner.h2);
        while (goes_on && owner.left_count > 0 && turn % 2)
            answer(&owner, owner.left[--owner.left_count], 1000 * turn % 60000);
    }
    h2_free(owner.h2);
    buf_deinit(&owner.out);
    return 0;
}
