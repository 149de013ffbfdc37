/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Puts the most telling reason first. */
#include "resolve/failure.h"

#include "dns/edns.h"
#include "dns/rrtype.h"

struct failure failure_servfail(void)
{
    return (struct failure){.rcode = RCODE_SERVFAIL, .cache = true};
}

void failure_add_ede(struct failure *failure, uint16_t code)
{
    for (unsigned i = 0; i < failure->ede_count; i++)
        if (failure->ede[i] == code)
            return;
    if (code != EDE_NONE && failure->ede_count < FAILURE_EDE_MAX)
        failure->ede[failure->ede_count++] = code;
}

struct failure failure_of_exchange(const struct exchange_failure *exchange, uint16_t ede)
{
    struct failure failure = failure_servfail();
    failure_add_ede(&failure, ede);
    if (exchange->full) {
        failure.cache = false;
        failure_add_ede(&failure, EDE_OTHER);
        return failure;
    }
    bool refused = exchange->any_answer && exchange->rcode == RCODE_REFUSED;
    if (!exchange->any_answer || refused || failure.ede_count == 0)
        failure_add_ede(&failure, EDE_NO_REACHABLE_AUTHORITY);
    if (exchange->any_network)
        failure_add_ede(&failure, EDE_NETWORK_ERROR);
    if (exchange->error >= ERR_TLS_NOT_SPOKEN)
        failure.error = exchange->error;
    return failure;
}
