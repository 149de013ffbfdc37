/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_DNSTAP_MESSAGE_H
#define NAILUP_TAP_DNSTAP_MESSAGE_H

/*
 * Writes a query or an answer as a dnstap payload (https://dnstap.info, a protocol buffer). Its
 * dozen fields are written by hand, straight into the ring, without an allocation. Pure.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "base/tap.h"

/* The numbers of dnstap's Message.Type. */
enum dnstap_type {
    DNSTAP_RESOLVER_QUERY = 3,
    DNSTAP_RESOLVER_RESPONSE = 4,
    DNSTAP_CLIENT_QUERY = 5,
    DNSTAP_CLIENT_RESPONSE = 6,
    DNSTAP_FORWARDER_QUERY = 7,
    DNSTAP_FORWARDER_RESPONSE = 8,
};

struct dnstap_message {
    enum dnstap_type type;
    struct span identity, version; /* empty: left out */
    int64_t wall_offset_us;        /* wall.h */
    const struct tap_message *seen;
};

/* Writes the payload to out, or only counts it if out is NULL. Returns its length. */
size_t dnstap_message_put(uint8_t *out, const struct dnstap_message *message);

#endif
