/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* As task_cut_find() goes, without its traces in the cache. */
#include "resolve/cut_look.h"

#include "dns/rrtype.h"
#include "resolve/task_cut.h"

/* True: this name decides. */
static bool cut_look_look(const struct tasks *tasks, struct name name, struct delegation *out,
                          enum cut_look *found)
{
    struct question question = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    uint64_t now = loop_now(tasks->loop);
    struct cache_key key;
    struct cache_item item;
    cache_key_init(&key, tasks->cache, &question, 0, CACHE_VIEW_CUTS);
    if (!cache_peek(tasks->cache, &key, now, &item) || !answer_is_live(&item.answer, now) ||
        item.answer.stale_s)
        return false;
    if (delegation_from_answer(out, &item.answer))
        *found = CUT_LOOK_CUT;
    else if (item.answer.kind == ANSWER_NXDOMAIN)
        *found = CUT_LOOK_ABSENT;
    return *found != CUT_LOOK_NONE;
}

static enum cut_look cut_look_begin_above(const struct tasks *tasks, const struct zone *zone,
                                          struct delegation *out)
{
    if (zone->group_len > 0)
        return CUT_LOOK_ZONE;
    if (!tasks->world)
        return CUT_LOOK_NONE;
    *out = tasks->world->hints;
    return CUT_LOOK_CUT;
}

enum cut_look cut_look(const struct tasks *tasks, const struct zone *zone, struct name name,
                       uint16_t type, struct delegation *out)
{
    enum cut_look found = CUT_LOOK_NONE;
    if (type == RRTYPE_DS && name.len > zone->name.len)
        name = name_parent(name);
    for (; name.len > zone->name.len; name = name_parent(name))
        if (cut_look_look(tasks, name, out, &found))
            return found;
    if (zone->group_len == 0 && cut_look_look(tasks, zone->name, out, &found))
        return found;
    return cut_look_begin_above(tasks, zone, out);
}
