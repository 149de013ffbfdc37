/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Commands about the cache. They walk over it part by part on main's thread, as readers: workers
 * are not held up.
 */

#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "cache/pattern.h"
#include "control/call.h"
#include "control/commands.h"
#include "dns/rrtype.h"

/* ---- flush ---- */

enum { FLUSH_BUCKETS = 64 }; /* looked at in one turn: a thousand answers at most */

struct flush {
    struct pattern pattern;
    uint64_t place; /* of the walk */
    uint64_t count; /* answers taken away */
    uint8_t wire[NAME_WIRE_MAX];
};

static enum cache_verdict on_item(void *context, const struct cache_item *item)
{
    struct flush *flush = context;

    if (!pattern_matches(&flush->pattern, &item->answer))
        return CACHE_KEEP;
    flush->count++;
    return CACHE_DROP;
}

static void put_flushed(struct reply *reply, const struct flush *flush)
{
    char name[NAME_TEXT_MAX];

    reply_record(reply, "flushed", "name:text\tanswers:count");
    reply_row(reply);
    reply_text(reply, name_format(flush->pattern.name, name));
    reply_count(reply, flush->count);
    reply_row_end(reply);
}

static void flush_more(struct call *call)
{
    struct flush *flush = call->state;

    if (cache_walk(call->view->cache, &flush->place, FLUSH_BUCKETS, on_item, flush))
        return;
    put_flushed(&call->reply, flush);
    call_end(call);
}

/* NULL, and the call is done: refused. */
static struct flush *flush_new(struct call *call)
{
    struct flush *flush = calloc(1, sizeof(*flush));
    const char *name = call->argv[0];

    if (!flush)
        reply_refuse(&call->reply, "out of memory; try again");
    else if (name_parse(&flush->pattern.name, flush->wire, name, strlen(name)))
        reply_refuse(&call->reply, "'%.64s' is no name; write it as www.example.com", name);
    else
        return flush;
    free(flush);
    call_done(call);
    return NULL;
}

void command_flush(struct call *call)
{
    struct flush *flush = flush_new(call);

    if (!flush)
        return;
    if (call->argc > 1 && rrtype_parse(&flush->pattern.type, call->argv[1])) {
        reply_refuse(&call->reply, "'%.64s' is no type; write it as AAAA or TYPE28", call->argv[1]);
        free(flush);
        call_done(call);
        return;
    }
    call_continue(call, flush_more, flush);
}

void command_flush_zone(struct call *call)
{
    struct flush *flush = flush_new(call);

    if (!flush)
        return;
    flush->pattern.below = true;
    call_continue(call, flush_more, flush);
}
