/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_FAILURE_H
#define NAILUP_RESOLVE_FAILURE_H

/* What a failed question tells its client. Pure; any thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "upstream/exchange.h"

enum { FAILURE_EDE_MAX = 2 };

struct failure {
    uint16_t rcode;
    uint8_t ede_count;
    bool cache; /* RFC 9520: remembered. Not what is our own lack of room. */
    uint16_t ede[FAILURE_EDE_MAX];
    enum err error; /* from ERR_TLS_NOT_SPOKEN on: its sentence is told; or ERR_OK */
};

/* SERVFAIL, to be remembered, without a reason yet. */
struct failure failure_servfail(void);

/* Adds the code unless it is EDE_NONE, there already, or there is no room. */
void failure_add_ede(struct failure *failure, uint16_t code);

/*
 * Why servers did not answer. RFC 8914: 22 when nobody could be reached, all refused, or nothing
 * better is known; 23 when the network had a part in it. What a server itself gave as its reason
 * (ede: a bogus signature, say; or EDE_NONE) says more and comes first.
 */
struct failure failure_of_exchange(const struct exchange_failure *exchange, uint16_t ede);

#endif
