/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Compares cached answers with local data. The question of a cached answer is in lower case and not
 * compressed (cache/cache.h). */
#include "local/local_forget.h"

#include "dns/edns.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "local/local_block.h"
#include "local/local_names.h"

static bool was_decided_by_a_list(const struct answer *answer)
{
    for (unsigned i = 0; i < answer->ede_count; i++)
        if (answer->ede[i] == EDE_BLOCKED || answer->ede[i] == EDE_FORGED_ANSWER)
            return true;
    return false;
}

/* Returns the type of the answer's question, which has this name. */
static uint16_t forget_type(const struct answer *answer, struct name name)
{
    size_t at = HEADER_LEN + (size_t)name.len;
    return answer->message.len < at + 2 ? RRTYPE_ANY : get_u16(answer->message.data + at);
}

bool local_replaces(const struct local_names *names, struct name name, const struct answer *answer)
{
    struct local_result result;
    const struct question question = {.name = name, .type = RRTYPE_A, .cls = RRCLASS_IN};
    return names && (local_names_has(names, name, forget_type(answer, name)) ||
                     was_decided_by_a_list(answer) ||
                     local_block_find(names, answer->message, &question, &result));
}

enum cache_verdict local_forget(void *names, const struct cache_item *item)
{
    struct name name;
    if (!name_view(item->answer.message, HEADER_LEN, &name))
        return CACHE_DROP; /* an answer without a question cannot be found */
    return local_replaces(names, name, &item->answer) ? CACHE_DROP : CACHE_KEEP;
}
