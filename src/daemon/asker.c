/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Lists of calls. Invariant: each call in a list is done exactly once, when it leaves. */

#include "daemon/asker.h"

#include <stdlib.h>

#include "base/check.h"
#include "control/call.h"
#include "daemon/reload_report.h"

void askers_init(struct askers *askers, size_t *count)
{
    list_init(&askers->list);
    askers->count = count;
}

struct asker *askers_add(struct askers *askers, struct call *call)
{
    struct asker *asker = *askers->count < ASKERS_MAX ? calloc(1, sizeof(*asker)) : NULL;

    if (!asker) {
        reply_refuse(&call->reply, "too many commands wait for a reload; try again later");
        call_done(call);
        return NULL;
    }
    asker->call = call;
    asker->count = askers->count;
    list_append(&askers->list, &asker->node);
    ++*askers->count;
    return asker;
}

static void asker_done(struct asker *asker)
{
    struct call *call = asker->call;

    list_remove(&asker->node);
    --*asker->count;
    free(asker);
    call_done(call);
}

void askers_move(struct askers *to, struct askers *from)
{
    list_splice(&to->list, &from->list);
}

/* ---- refusing ---- */

void asker_refuse(struct asker *asker, const char *why)
{
    reply_refuse(&asker->call->reply, "%s", why);
    asker_done(asker);
}

void askers_refuse(struct askers *askers, const char *why)
{
    LIST_EACH(node, &askers->list)
    asker_refuse(LIST_ITEM(node, struct asker, node), why);
}

void askers_refuse_report(struct askers *askers, const struct reload_report *report)
{
    LIST_EACH(node, &askers->list)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        reload_report_refuse(report, asker->call);
        asker_done(asker);
    }
}

void askers_refuse_forward(struct askers *askers, const struct runtime_zone *forward,
                           const char *why)
{
    LIST_EACH(node, &askers->list)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        if (asker->kind == ASKER_FORWARD && runtime_zone_is_same(&asker->forward, forward))
            asker_refuse(asker, why);
    }
}

/* ---- answering ---- */

static void asker_put_forward(struct reply *reply, const struct asker *asker)
{
    char zone[NAME_TEXT_MAX];

    reply_record(reply, "forward", "zone:text\tservers:count\tchanged:flag");
    reply_row(reply);
    reply_text(reply, name_format(runtime_zone_name(&asker->forward), zone));
    reply_count(reply, asker->forward.upstream_count);
    reply_flag(reply, asker->changed);
    reply_row_end(reply);
}

static void asker_put_nta(struct reply *reply, const struct asker *asker)
{
    char name[NAME_TEXT_MAX];

    reply_record(reply, "nta", "name:text\tchanged:flag");
    reply_row(reply);
    reply_text(reply, name_format(runtime_nta_name(&asker->nta), name));
    reply_flag(reply, asker->changed);
    reply_row_end(reply);
}

static void asker_put_portal(struct reply *reply, const struct asker *asker)
{
    reply_record(reply, "portal", "on:flag\tchanged:flag");
    reply_row(reply);
    reply_flag(reply, asker->forward.upstream_count > 0);
    reply_flag(reply, asker->changed);
    reply_row_end(reply);
}

void asker_answer_setting(struct asker *asker)
{
    if (asker->kind == ASKER_PORTAL)
        asker_put_portal(&asker->call->reply, asker);
    else if (asker->kind == ASKER_NTA)
        asker_put_nta(&asker->call->reply, asker);
    else
        asker_put_forward(&asker->call->reply, asker);
    asker_done(asker);
}

void askers_answer(struct askers *askers, const struct reload_report *report)
{
    LIST_EACH(node, &askers->list)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        if (asker->kind == ASKER_FILE) {
            reload_report_answer(report, asker->call);
            asker_done(asker);
        } else {
            asker_answer_setting(asker);
        }
    }
}
