/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Puts the most telling reason first. */
#include "resolve/failure.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"

enum { FAILURE_ZONE_MAX = 48 /* characters of a zone's name */ };

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

/* A known error of a connection says more than the loss of a query. */
static const char *loss_of(const struct exchange_failure *exchange)
{
    if (!exchange->any_network)
        return NULL;
    return exchange->error != ERR_OK ? err_str(exchange->error) : exchange->loss;
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
    if (ede == EDE_NONE) {
        failure.cause = refused                ? FAILURE_REFUSED
                        : exchange->any_answer ? FAILURE_FAILED
                                               : FAILURE_UNREACHED;
        failure.loss = loss_of(exchange);
    }
    return failure;
}

uint32_t failure_left_s(const struct answer *answer, uint64_t now_us)
{
    uint32_t age_s = answer_age(answer, now_us);
    return age_s < answer->ttl_s ? answer->ttl_s - age_s : 1;
}

struct failure failure_of_answer(const struct answer *answer, uint64_t now_us)
{
    MUST(answer->kind == ANSWER_FAILURE && answer->ede_count <= FAILURE_EDE_MAX);
    struct failure failure = {
        .rcode = header_rcode(answer->message.data),
        .cache = answer->ttl_s != 0,
        .ede_count = answer->ede_count,
        .is_bogus = answer->security == SECURITY_BOGUS,
        .error = answer->error,
        .text = answer->text,
        .ttl_max_s = failure_left_s(answer, now_us),
    };
    for (unsigned i = 0; i < answer->ede_count; i++)
        failure.ede[i] = answer->ede[i];
    return failure;
}

const char *failure_tell(const struct failure *failure, struct name zone, char out[ANSWER_TEXT_MAX])
{
    char text[NAME_TEXT_MAX];
    const char *name = name_format(zone, text);
    const char *end = strlen(text) > FAILURE_ZONE_MAX ? "..." : "";
    switch (failure->cause) {
    case FAILURE_UNREACHED:
        snprintf(out, ANSWER_TEXT_MAX, "no server of the zone %.*s%s answers%s%s", FAILURE_ZONE_MAX,
                 name, end, failure->loss ? ": " : "", failure->loss ? failure->loss : "");
        return out;
    case FAILURE_REFUSED:
        snprintf(out, ANSWER_TEXT_MAX, "the servers of the zone %.*s%s refuse to answer",
                 FAILURE_ZONE_MAX, name, end);
        return out;
    case FAILURE_FAILED:
        snprintf(out, ANSWER_TEXT_MAX, "no server of the zone %.*s%s gave a useful answer",
                 FAILURE_ZONE_MAX, name, end);
        return out;
    case FAILURE_OTHER:
        break;
    }
    return NULL;
}
