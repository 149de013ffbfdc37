/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Looks for aliases in answers. local_names.c knows the rules of a list. */
#include "local/local_block.h"

#include "cache/answer.h"
#include "dns/message.h"
#include "dns/rrtype.h"

static bool is_blocked(const struct local_names *names, const struct message *message,
                       const struct rr *rr, const struct question *question,
                       struct local_result *result)
{
    uint8_t wire[NAME_WIRE_MAX], lower[NAME_WIRE_MAX];
    struct name target;
    return rr->type == RRTYPE_CNAME && message_target(message, rr, wire, &target) &&
           local_names_block(names, name_fold(target, lower), question, result);
}

bool local_block_find(const struct local_names *names, struct span message,
                      const struct question *question, struct local_result *result)
{
    struct message parsed;
    if (!names || !local_names_block_aliases(names) ||
        !answer_may_have_alias(message, question->name) ||
        message_parse(&parsed, message) != MESSAGE_OK)
        return false;
    struct rr_iter iter = message_rrs(&parsed, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (is_blocked(names, &parsed, &rr, question, result))
            return true;
    return false;
}
