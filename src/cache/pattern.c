/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Compares an answer with a pattern. The caller drops the answers that match. */
#include "cache/pattern.h"

#include "dns/message.h"
#include "dns/rrtype.h"

static bool pattern_has_name(const struct pattern *pattern, struct name name)
{
    return pattern->is_subtree ? name_is_below(name, pattern->name)
                               : name_equal(name, pattern->name);
}

static bool has_type(const struct pattern *pattern, uint16_t type)
{
    return pattern->type == PATTERN_ANY_TYPE || pattern->type == type;
}

static bool leads_there(const struct pattern *pattern, const struct message *message,
                        const struct rr *rr)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    return (rr->type == RRTYPE_CNAME || rr->type == RRTYPE_DNAME) &&
           message_target(message, rr, wire, &target) && pattern_has_name(pattern, target);
}

static bool record_matches(const struct pattern *pattern, const struct message *message,
                           const struct rr *rr)
{
    uint8_t wire[NAME_WIRE_MAX];
    if (has_type(pattern, message->question.type) && leads_there(pattern, message, rr))
        return true;
    return (has_type(pattern, rr->type) || has_type(pattern, message->question.type)) &&
           pattern_has_name(pattern, message_owner(message, rr, wire));
}

bool pattern_matches(const struct pattern *pattern, const struct answer *answer)
{
    struct message message;
    if (message_parse(&message, answer->message) != MESSAGE_OK)
        return false;
    if (has_type(pattern, message.question.type) &&
        pattern_has_name(pattern, message.question.name))
        return true;
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (record_matches(pattern, &message, &rr))
            return true;
    return false;
}
