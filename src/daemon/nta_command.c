/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads, stores and shows negative trust anchors. reload.c decides when they take effect. */

#include "daemon/nta_command.h"

#include <stdio.h>
#include <string.h>

#include "control/call.h"
#include "base/units.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/anchor_update.h"
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

/* The cells of a key that is kept up to date: its state, the time of its last change, and the next
 * query. */
static void put_state(struct reply *reply, const struct anchor_point *point,
                      const struct anchor_key *key, int64_t now_s)
{
    if (!key) {
        reply_text(reply, "");
        reply_unknown(reply);
        reply_unknown(reply);
        return;
    }
    int64_t probe_s = anchor_update_due_s(point, now_s);
    reply_text(reply, anchor_state_name(key->state));
    if (key->since_s > 0 && key->since_s <= now_s)
        reply_duration(reply, (uint64_t)(now_s - key->since_s) * US_PER_S);
    else
        reply_unknown(reply);
    reply_duration(reply, probe_s > now_s ? (uint64_t)(probe_s - now_s) * US_PER_S : 0);
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
    put_state(reply, NULL, NULL, 0);
    reply_row_end(reply);
}

static const struct anchor_key *find_kept_key(const struct anchor_point *point,
                                              const struct anchor_record *record)
{
    for (size_t i = 0; point && i < point->count; i++)
        if (span_equal(record->rdata, span_of(point->key[i].rdata, point->key[i].len)))
            return &point->key[i];
    return NULL;
}

static void put_trusted(struct reply *reply, struct name zone, const struct anchor_record *record,
                        const struct anchor_point *point, const struct anchor_key *kept,
                        int64_t now_s)
{
    char text[NAME_TEXT_MAX], algorithm[ALGORITHM_TEXT_MAX];
    bool is_ds = record->type == RRTYPE_DS;
    struct dnskey key = {0};
    struct ds ds = {0};

    /* The table contains only records that were parsed before. */
    if (is_ds ? !ds_read(&ds, record->rdata) : !dnskey_read(&key, record->rdata))
        return;
    reply_row(reply);
    reply_text(reply, name_format(zone, text));
    reply_text(reply, is_ds ? "DS" : "DNSKEY");
    reply_count(reply, is_ds ? ds.tag : key.tag);
    reply_text(reply, algorithm_name(is_ds ? ds.algorithm : key.algorithm, algorithm));
    reply_text(reply, record->source);
    put_state(reply, point, kept, now_s);
    reply_row_end(reply);
}

/* Keys that are not trusted yet, or no longer. */
static void put_untrusted(struct reply *reply, const struct anchor_point *point, int64_t now_s)
{
    for (size_t i = 0; i < point->count; i++) {
        const struct anchor_key *key = &point->key[i];
        const struct anchor_record record = {
            .type = RRTYPE_DNSKEY, .rdata = span_of(key->rdata, key->len), .source = "updates"};
        if (key->state == ANCHOR_ADDPEND || key->state == ANCHOR_REVOKED)
            put_trusted(reply, anchor_point_zone(point), &record, point, key, now_s);
    }
}

void nta_command_show_anchors(struct call *call, const struct anchors *anchors,
                              const struct anchor_point *point, int64_t now_s)
{
    struct reply *reply = &call->reply;

    reply_table(reply, "anchors",
                "zone:text\tkind:text\tkey_tag:count\talgorithm:text\tsource:text\t"
                "state:text\tsince:duration\tnext_probe:duration");
    for (size_t i = 0; i < anchors_count(anchors); i++) {
        const struct anchor *anchor = anchors_at(anchors, i);
        if (anchor->kind == ANCHOR_NEGATIVE)
            put_negative(reply, anchor);
        for (size_t j = 0; j < anchor->count; j++)
            put_trusted(reply, anchor->zone, &anchor->record[j], point,
                        point && name_equal(anchor->zone, anchor_point_zone(point))
                            ? find_kept_key(point, &anchor->record[j])
                            : NULL,
                        now_s);
    }
    if (point)
        put_untrusted(reply, point, now_s);
}
