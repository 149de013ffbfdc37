/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads, stores and shows negative trust anchors. reload.c decides when they take effect. */

#include "daemon/nta_command.h"

#include <stdio.h>
#include <string.h>

#include "control/call.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/anchors.h"
#include "validate/dnskey.h"

/* ---- arguments ---- */

static enum err nta_refuse(char why[RUNTIME_NTA_WHY_MAX], const char *sentence)
{
    snprintf(why, RUNTIME_NTA_WHY_MAX, "%s", sentence);
    return ERR_INVALID;
}

enum err nta_command_read(const struct call *call, uint64_t now, struct nta_request *out,
                          char why[RUNTIME_NTA_WHY_MAX])
{
    const char *verb = call->argc > 0 ? call->argv[0] : "list";

    *out = (struct nta_request){.verb = NTA_LIST};
    if (strcmp(verb, "list") == 0)
        return call->argc > 1 ? nta_refuse(why, "list takes no name") : ERR_OK;
    if (strcmp(verb, "add") == 0)
        out->verb = NTA_ADD;
    else if (strcmp(verb, "remove") == 0)
        out->verb = NTA_REMOVE;
    else
        return nta_refuse(why, "write add NAME [TIME], remove NAME, or list");
    if (call->argc < 2)
        return nta_refuse(why, "name the zone that is not to be validated, as corp.example");
    if (out->verb == NTA_REMOVE && call->argc > 2)
        return nta_refuse(why, "remove takes no time");
    return runtime_nta_parse(&out->nta, call->argv[1], call->argc > 2 ? call->argv[2] : NULL, now,
                             why);
}

enum err nta_command_apply(struct runtime_ntas *ntas, const struct nta_request *request,
                           bool *changed, char why[RUNTIME_NTA_WHY_MAX])
{
    struct name name = runtime_nta_name(&request->nta);
    bool is_there = runtime_ntas_find(ntas, name) != NULL;

    *changed = is_there != (request->verb == NTA_ADD);
    if (request->verb == NTA_ADD) {
        if (runtime_ntas_put(ntas, &request->nta) == ERR_OK)
            return ERR_OK;
        snprintf(why, RUNTIME_NTA_WHY_MAX,
                 "%d negative trust anchors are set already; remove one of them first",
                 RUNTIME_NTAS_MAX);
        return ERR_LIMIT;
    }
    if (runtime_ntas_remove(ntas, name))
        return ERR_OK;
    return nta_refuse(why, "no such negative trust anchor was set with nailupctl nta; those of "
                           "dnssec.negative-trust-anchors are in the file");
}

/* ---- tables ---- */

void nta_command_show(struct call *call, const struct runtime_ntas *ntas, uint64_t now)
{
    char text[NAME_TEXT_MAX];
    struct reply *reply = &call->reply;

    reply_table(reply, "ntas", "name:text\tleft:duration");
    for (size_t i = 0; i < ntas->count; i++) {
        const struct runtime_nta *nta = &ntas->list[i];
        reply_row(reply);
        reply_text(reply, name_format(runtime_nta_name(nta), text));
        reply_duration(reply, nta->ends_at > now ? nta->ends_at - now : 0);
        reply_row_end(reply);
    }
}

static void put_negative(struct reply *reply, const struct anchor *anchor)
{
    char text[NAME_TEXT_MAX];

    reply_row(reply);
    reply_text(reply, name_format(anchor->zone, text));
    reply_text(reply, "negative");
    reply_unknown(reply);
    reply_text(reply, "");
    reply_text(reply, anchor->source);
    reply_row_end(reply);
}

static void put_trusted(struct reply *reply, struct name zone, const struct anchor_record *record)
{
    char text[NAME_TEXT_MAX], algorithm[ALGORITHM_TEXT_MAX];
    bool is_ds = record->type == RRTYPE_DS;
    struct dnskey key = {0};
    struct ds ds = {0};

    /* The table has only records that were read before. */
    if (is_ds ? !ds_read(&ds, record->rdata) : !dnskey_read(&key, record->rdata))
        return;
    reply_row(reply);
    reply_text(reply, name_format(zone, text));
    reply_text(reply, is_ds ? "DS" : "DNSKEY");
    reply_count(reply, is_ds ? ds.tag : key.tag);
    reply_text(reply, algorithm_name(is_ds ? ds.algorithm : key.algorithm, algorithm));
    reply_text(reply, record->source);
    reply_row_end(reply);
}

void nta_command_show_anchors(struct call *call, const struct anchors *anchors)
{
    struct reply *reply = &call->reply;

    reply_table(reply, "anchors",
                "zone:text\tkind:text\tkey_tag:count\talgorithm:text\tsource:text");
    for (size_t i = 0; i < anchors_count(anchors); i++) {
        const struct anchor *anchor = anchors_at(anchors, i);
        if (anchor->kind == ANCHOR_NEGATIVE)
            put_negative(reply, anchor);
        for (size_t j = 0; j < anchor->count; j++)
            put_trusted(reply, anchor->zone, &anchor->record[j]);
    }
}
