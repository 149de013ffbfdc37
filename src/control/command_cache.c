/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Commands about the cache. They walk over it part by part on main's thread, as readers, so workers
 * do not wait.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"
#include "cache/pattern.h"
#include "cache/spans.h"
#include "cache/text.h"
#include "config/config.h"
#include "config/config_local.h"
#include "control/call.h"
#include "control/commands.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "zone/zone_set.h"

/* ---- flush ---- */

enum { FLUSH_BUCKETS = 64 }; /* visited in one turn: at most a thousand answers */

struct flush {
    struct pattern pattern;
    uint64_t place; /* where the walk continues */
    uint64_t count; /* answers dropped */
    uint8_t wire[NAME_WIRE_MAX];
};

static enum cache_verdict flush_on_item(void *context, const struct cache_item *item)
{
    struct flush *flush = context;

    if (!pattern_matches(&flush->pattern, &item->answer))
        return CACHE_KEEP;
    flush->count++;
    return CACHE_DROP;
}

static void flush_put_summary(struct reply *reply, const struct flush *flush)
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

    if (cache_walk(call->view->cache, &flush->place, FLUSH_BUCKETS, flush_on_item, flush))
        return;
    flush_put_summary(&call->reply, flush);
    call_end(call);
}

/* NULL: the call has been refused and is done. */
static struct flush *flush_new(struct call *call)
{
    struct flush *flush = calloc(1, sizeof(*flush));
    const char *name = call->argv[0];

    if (!flush)
        reply_refuse(&call->reply, "out of memory; try again");
    else if (name_parse(&flush->pattern.name, flush->wire, name, strlen(name)))
        reply_refuse(&call->reply, "'%.64s' is not a name; write it like www.example.com", name);
    else
        return flush;
    free(flush);
    call_done(call);
    return NULL;
}

/* Spans have no QNAME: any of a zone at, below or above the name may speak about it. */
static void flush_begin(struct call *call, struct flush *flush)
{
    spans_forget(cache_spans(call->view->cache), flush->pattern.name);
    call_continue(call, flush_more, flush);
}

void command_flush(struct call *call)
{
    struct flush *flush = flush_new(call);

    if (!flush)
        return;
    if (call->argc > 1 && rrtype_parse(&flush->pattern.type, call->argv[1])) {
        reply_refuse(&call->reply, "'%.64s' is not a type; write it like AAAA or TYPE28",
                     call->argv[1]);
        free(flush);
        call_done(call);
        return;
    }
    flush_begin(call, flush);
}

void command_flush_zone(struct call *call)
{
    struct flush *flush = flush_new(call);

    if (!flush)
        return;
    flush->pattern.is_subtree = true;
    flush_begin(call, flush);
}

/* ---- dump ---- */

enum { DUMP_BUCKETS = 64 }; /* visited in one turn, if they hold little */

struct dump {
    uint64_t place;
    struct buf *out;
    uint64_t now_us;
};

static enum cache_verdict dump_item(void *context, const struct cache_item *item)
{
    struct dump *dump = context;
    static const char left_out[] = "; an answer is left out: too large, or out of memory\n";

    /* Skips zone cuts, and answers of views: a load would show them to all clients. */
    if (item->view != CACHE_VIEW_ANSWERS || item->space != CACHE_SPACE_SHARED)
        return CACHE_KEEP;
    if (!text_put(dump->out, item, dump->now_us))
        (void)!buf_append(dump->out, left_out, sizeof(left_out) - 1);
    return CACHE_KEEP;
}

static void dump_more(struct call *call)
{
    struct dump *dump = call->state;
    bool more = true;

    dump->out = &call->reply.buf;
    dump->now_us = loop_now(call->loop);
    for (int i = 0; more && i < DUMP_BUCKETS && buf_len(dump->out) < CALL_PART_MAX; i++)
        more = cache_walk(call->view->cache, &dump->place, 1, dump_item, dump);
    if (!more)
        call_end(call);
}

void command_dump_cache(struct call *call)
{
    struct dump *dump = calloc(1, sizeof(*dump));

    if (!dump) {
        reply_refuse(&call->reply, "out of memory; try again");
        call_done(call);
        return;
    }
    reply_text_begin(&call->reply);
    call_continue(call, dump_more, dump);
}

/* ---- load ---- */

enum { LOAD_REFUSALS_MAX = 100 }; /* refused lines that the reply lists */

struct refusal {
    uint64_t line;
    char why[TEXT_WHY_MAX];
};

struct load {
    struct text_reader *reader;
    uint64_t lines, refused;
    struct refusal refusal[LOAD_REFUSALS_MAX]; /* the first refused lines */
    size_t len;                                /* the length of the incomplete line */
    char line[TEXT_LINE_MAX + 1];
};

static void load_free(void *state)
{
    struct load *load = state;

    if (load)
        free(load->reader);
    free(load);
}

static void load_note_refused(struct load *load, const char *why)
{
    if (load->refused < LOAD_REFUSALS_MAX) {
        struct refusal *refusal = &load->refusal[load->refused];
        refusal->line = load->lines;
        snprintf(refusal->why, sizeof(refusal->why), "%s", why);
    }
    load->refused++;
}

static void load_line(struct load *load)
{
    char why[TEXT_WHY_MAX];

    load->lines++;
    if (!text_read(load->reader, span_of(load->line, load->len), why))
        load_note_refused(load, why);
    load->len = 0;
}

static void load_put_summary(struct reply *reply, const struct load *load)
{
    reply_table(reply, "refused", "line:count\twhy:text");
    for (size_t i = 0; i < MIN(load->refused, (uint64_t)LOAD_REFUSALS_MAX); i++) {
        reply_row(reply);
        reply_count(reply, load->refusal[i].line);
        reply_text(reply, load->refusal[i].why);
        reply_row_end(reply);
    }
    reply_record(reply, "loaded", "answers:count\tlines:count\tpassed_over:count\trefused:count");
    reply_row(reply);
    reply_count(reply, text_reader_count(load->reader));
    reply_count(reply, load->lines);
    reply_count(reply, text_reader_skipped(load->reader));
    reply_count(reply, load->refused);
    reply_row_end(reply);
}

/* Refuses the command when no answer was usable, so that scripts see an error. */
static void load_refuse_all(struct reply *reply, const struct load *load)
{
    char error[TEXT_WHY_MAX + 32];

    reply_refuse(reply,
                 "no answer was stored: %llu of %llu lines are invalid, and %llu answers were "
                 "skipped because they have expired, are failures or are local data",
                 (unsigned long long)load->refused, (unsigned long long)load->lines,
                 (unsigned long long)text_reader_skipped(load->reader));
    reply_errors_begin(reply);
    for (size_t i = 0; i < MIN(load->refused, (uint64_t)LOAD_REFUSALS_MAX); i++) {
        snprintf(error, sizeof(error), "line %llu: %s", (unsigned long long)load->refusal[i].line,
                 load->refusal[i].why);
        reply_error(reply, error);
    }
}

static void load_end(struct call *call, struct load *load)
{
    char why[TEXT_WHY_MAX];

    if (load->len > 0)
        load_line(load);
    if (!text_read_end(load->reader, why))
        load_note_refused(load, why);
    if (load->refused > 0 && text_reader_count(load->reader) == 0)
        load_refuse_all(&call->reply, load);
    else
        load_put_summary(&call->reply, load);
    call_end(call);
}

/* Drops the rest of a line that is too long: the bytes stored so far already show that. */
static void load_feed(struct call *call, struct span piece)
{
    struct load *load = call->state;

    if (piece.len == 0) {
        load_end(call, load);
        return;
    }
    for (size_t i = 0; i < piece.len; i++) {
        if (piece.data[i] == '\n')
            load_line(load);
        else if (load->len < sizeof(load->line))
            load->line[load->len++] = (char)piece.data[i];
    }
}

/* Keeps names that are answered here out of the cache. Uses the current configuration. */
static bool command_cache_may_store(const void *context, struct name name,
                                    const struct answer *answer)
{
    const struct control_view *view = context;

    return (!view->config || config_may_cache(view->config, name, answer)) &&
           !zone_set_is_for_clients(view->zones, name);
}

void command_load_cache(struct call *call)
{
    struct cache_filter filter = {.may_store = command_cache_may_store, .context = call->view};
    struct load *load = calloc(1, sizeof(*load));

    if (load)
        load->reader = text_reader_new(call->view->cache, filter, loop_now(call->loop));
    if (!load || !load->reader) {
        load_free(load);
        reply_refuse(&call->reply, "out of memory; try again");
        call_done(call);
        return;
    }
    call_feed(call, load_feed, load, load_free);
}
