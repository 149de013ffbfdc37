/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_TAP_REPLIES_H
#define NAILUP_TESTS_UNIT_TAP_REPLIES_H

/* Makes replies for taps, and waits for another thread. Include cmocka first. */

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/check.h"
#include "base/tap.h"
#include "dns/name.h"
#include "dns/rrtype.h"

static struct addr reply_client, reply_server;

/* Makes a reply for n<number>.example. It borrows from static storage until the next call. */
static inline struct tap_reply reply_of(unsigned number)
{
    static uint8_t wire[NAME_WIRE_MAX];
    static uint8_t bytes[64];
    struct name name;
    char text[64];
    int len = snprintf(text, sizeof(text), "n%u.example", number);
    assert_int_equal(name_parse(&name, wire, text, (size_t)len), ERR_OK);
    assert_int_equal(addr_parse(&reply_client, "192.0.2.7@40000", 0), ERR_OK);
    assert_int_equal(addr_parse(&reply_server, "192.0.2.53@53", 0), ERR_OK);
    memset(bytes, (int)(number & 0xff), sizeof(bytes));
    return (struct tap_reply){
        .message = {.asker = &reply_client,
                    .asked = &reply_server,
                    .asked_at = number,
                    .answered_at = number,
                    .bytes = span_of(bytes, sizeof(bytes))},
        .name = span_of(name.wire, name.len),
        .type = RRTYPE_A,
        .cls = RRCLASS_IN,
        .ede_text = "",
    };
}

static inline void show(struct tap *tap, unsigned number)
{
    struct tap_reply reply = reply_of(number);
    tap->on_reply(tap, &reply);
}

/* Polls until the condition is true. */
#define EVENTUALLY(condition)                                                                      \
    do {                                                                                           \
        int patience = 60 * 1000;                                                                  \
        while (!(condition) && patience-- > 0)                                                     \
            poll(NULL, 0, 1);                                                                      \
        assert_true(patience > 0);                                                                 \
    } while (0)

#endif
