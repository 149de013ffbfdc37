/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The question of what is kept is in lower case and not compressed (cache/cache.h). */
#include "local/local_forget.h"

#include "dns/header.h"
#include "dns/name.h"
#include "local/local_block.h"
#include "local/local_names.h"

enum cache_verdict local_forget(void *names, const struct cache_item *item)
{
    struct name name;
    if (!name_view(item->answer.message, HEADER_LEN, &name))
        return CACHE_DROP; /* it has none: of no use to anybody */
    if (local_names_has(names, name) || local_block_changes(names, name, &item->answer))
        return CACHE_DROP;
    return CACHE_KEEP;
}
