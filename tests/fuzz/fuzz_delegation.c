/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Checks the promises of delegation for any message: a referral leads down towards the QNAME, glue
 * belongs to hosts below the queried zone, and a stored zone cut comes back from the cache
 * unchanged. The first byte chooses the zone; the rest is the message.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/units.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "recurse/delegation.h"

enum { TTL_MAX = 86400 };

static struct compose_space space;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_kept(const struct delegation *cut, uint64_t now)
{
    static struct delegation again;
    struct answer answer;
    if (!delegation_to_answer(cut, &answer, &space, TTL_MAX, now))
        return;
    MUST(answer.ttl_s && answer.ttl_s <= TTL_MAX);
    MUST(delegation_from_answer(&again, &answer));
    MUST(again.origin == cut->origin && again.ends_at <= cut->ends_at);
    MUST(again.server_count == cut->server_count && again.addr_count == cut->addr_count);
    MUST(delegation_addrs_mark(&again) == delegation_addrs_mark(cut));
}

static void check(const struct delegation *cut, struct name asked_zone, uint64_t now)
{
    MUST(cut->server_count && cut->server_count <= DELEGATION_SERVERS_MAX);
    for (unsigned i = 0; i < cut->addr_count; i++)
        MUST(name_is_below(delegation_server(cut, cut->addrs[i].server), asked_zone));
    check_kept(cut, now);
}

static void try_message(const struct message *message, unsigned labels)
{
    static struct delegation cut;
    const uint64_t now = 3 * US_PER_S;
    const struct question *question = &message->question;
    struct name zone = name_suffix(question->name, labels);
    for (enum section section = SECTION_ANSWER; section <= SECTION_AUTHORITY; section++) {
        if (!delegation_from_referral(&cut, message, section, zone, question, now))
            continue;
        struct name below = delegation_zone(&cut);
        MUST(below.len > zone.len && name_is_below(below, zone));
        MUST(name_is_below(question->name, below));
        check(&cut, zone, now);
    }
    if (delegation_from_child(&cut, message, zone, question, labels & 1, now + 5 * US_PER_S, now)) {
        MUST(name_equal(delegation_zone(&cut), zone) && cut.ends_at <= now + 5 * US_PER_S);
        check(&cut, zone, now);
    }
    if (delegation_from_address(&cut, message, zone, name_root(), question, now + 5 * US_PER_S,
                                now)) {
        MUST(cut.server_count == 1 && name_equal(delegation_server(&cut, 0), question->name));
        MUST(cut.addr_count && cut.ends_at <= now + 5 * US_PER_S);
        check(&cut, name_root(), now);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    uint8_t *bytes = malloc(size - 1); /* exact size, so that a sanitizer detects overruns */
    if (!bytes)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    struct message message;
    if (message_parse(&message, span_of(bytes, size - 1)) == MESSAGE_OK && message.has_question &&
        message_check_rdata(&message))
        try_message(&message, data[0] & 3);
    free(bytes);
    return 0;
}
