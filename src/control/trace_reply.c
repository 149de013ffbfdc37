/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "control/trace_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/answer.h"
#include "dns/edns.h"
#include "dns/message.h"
#include "dns/present.h"
#include "dns/rrtype.h"
#include "resolve/trace.h"
#include "validate/algorithm.h"

enum { EDE_TEXT_MAX = 64, RECORDS_MAX = 100 /* written out on the thread of a worker */ };

static void trace_reply_put_name(struct reply *reply, struct name name)
{
    char text[NAME_TEXT_MAX];
    reply_text(reply, name.len ? name_format(name, text) : "");
}

static void trace_reply_put_rcode(struct reply *reply, bool has_rcode, uint16_t rcode)
{
    char text[RRTYPE_TEXT_MAX];
    reply_text(reply, has_rcode ? rrtype_rcode_name(rcode, text) : "");
}

static void put_ede(struct reply *reply, uint16_t ede)
{
    char text[EDE_TEXT_MAX];
    snprintf(text, sizeof(text), "%u %s", ede, edns_ede_name(ede));
    reply_text(reply, ede == EDE_NONE ? "" : text);
}

static void trace_reply_put_measured(struct reply *reply, uint64_t us)
{
    if (us > 0)
        reply_duration(reply, us);
    else
        reply_unknown(reply);
}

/* ---- the end ---- */

/* The origin of the answer. */
static const char *origin(const struct trace *trace, const struct trace_end *end)
{
    enum trace_kind first = trace->count ? trace->steps[0].kind : TRACE_ENDED;
    if (!end->answer)
        return end->why;
    if (first == TRACE_CACHE)
        return "from the cache";
    if (first == TRACE_LOCAL)
        return "here";
    if (first == TRACE_SPANS)
        return "from spans of its zone";
    return first == TRACE_JOINED ? "by a query that was already running" : "by upstreams";
}

static uint64_t count_asked(const struct trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_step *step = &trace->steps[i];
        count += step->kind == TRACE_ANSWERED || step->kind == TRACE_LOST;
    }
    return count;
}

static void put_end(struct reply *reply, const struct trace *trace, const struct trace_end *end)
{
    const struct answer *answer = end->answer;
    char type[RRTYPE_TEXT_MAX];

    reply_record(reply, "trace",
                 "name:text\ttype:text\tanswered:text\trcode:text\tkind:text\tede:text\t"
                 "ede_2:text\ttook:duration\tasked:count\tsteps_left_out:count");
    reply_row(reply);
    trace_reply_put_name(reply, end->question->name);
    reply_text(reply, rrtype_name(end->question->type, type));
    reply_text(reply, origin(trace, end));
    trace_reply_put_rcode(reply, answer, answer ? header_rcode(answer->message.data) : 0);
    reply_text(reply, answer ? answer_kind_name(answer->kind) : "");
    put_ede(reply, answer && answer->ede_count > 0 ? answer->ede[0] : EDE_NONE);
    put_ede(reply, answer && answer->ede_count > 1 ? answer->ede[1] : EDE_NONE);
    reply_duration(reply, end->now > trace->began_at ? end->now - trace->began_at : 0);
    reply_count(reply, count_asked(trace));
    reply_count(reply, trace->missing);
    reply_row_end(reply);
}

/* ---- steps ---- */

static void trace_reply_put_question(struct reply *reply, const struct trace *trace,
                                     const struct trace_step *step)
{
    char text[NAME_TEXT_MAX + RRTYPE_TEXT_MAX], name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX];

    if (!step->has_question) {
        reply_unknown(reply);
        return;
    }
    snprintf(text, sizeof(text), "%s %s", name_format(trace_name(trace, step->asked), name),
             rrtype_name(step->type, type));
    reply_text(reply, text);
}

static void put_server(struct reply *reply, const struct trace *trace,
                       const struct trace_step *step)
{
    bool has_server = addr_family(&step->addr) != AF_UNSPEC;
    char text[ADDR_TEXT_MAX];

    trace_reply_put_name(reply, trace_name(trace, step->server));
    reply_text(reply, has_server ? addr_format(&step->addr, text) : "");
    reply_text(reply, step->transport);
    if (has_server)
        reply_flag(reply, step->nailed);
    else
        reply_unknown(reply);
    if (step->kind == TRACE_ENDED)
        reply_duration(reply, step->us); /* 0: all that it needed was here */
    else
        trace_reply_put_measured(reply, step->us);
}

static void put_algorithm(struct reply *reply, uint8_t algorithm)
{
    char text[ALGORITHM_TEXT_MAX];
    reply_text(reply, algorithm ? algorithm_name(algorithm, text) : "");
}

static void put_step(struct reply *reply, const struct trace *trace, const struct trace_step *step)
{
    reply_row(reply);
    reply_duration(reply, step->at_us);
    reply_count(reply, step->depth);
    reply_text(reply, trace_kind_name(step->kind));
    trace_reply_put_question(reply, trace, step);
    trace_reply_put_name(reply, trace_name(trace, step->zone));
    put_server(reply, trace, step);
    reply_text(reply, step->word);
    put_algorithm(reply, step->algorithm);
    reply_text(reply, step->state);
    trace_reply_put_name(reply, trace_name(trace, step->leads_to));
    trace_reply_put_rcode(reply, step->has_rcode, step->rcode);
    put_ede(reply, step->ede);
    reply_row_end(reply);
}

static void put_steps(struct reply *reply, const struct trace *trace)
{
    reply_table(reply, "steps",
                "at:duration\tdepth:level\tstep:text\tquestion:text\tzone:text\tserver:text\t"
                "address:text\ttransport:text\tnailed:flag\ttook:duration\tsaid:text\t"
                "algorithm:text\tstate:text\tleads_to:text\trcode:text\tede:text");
    for (size_t i = 0; i < trace->count; i++)
        put_step(reply, trace, &trace->steps[i]);
}

/* ---- records ---- */

/* Writes a line of a zone file with spaces instead of tabs. */
static void put_record(struct reply *reply, const struct message *message, const struct rr *rr)
{
    char line[CONTROL_CELL_MAX * 4]; /* the reply would cut a longer cell too */
    size_t len = present_rr(message, rr, line, sizeof(line) - 1);

    line[len] = '\0';
    line[strcspn(line, "\n")] = '\0';
    for (char *p = line; *p; p++)
        if (*p == '\t')
            *p = ' ';
    reply_row(reply);
    reply_text(reply, rr->section == SECTION_ANSWER ? "answer" : "authority");
    reply_text(reply, len ? line : "(too long to be shown)");
    reply_row_end(reply);
}

static void put_section(struct reply *reply, const struct message *message, enum section section)
{
    struct rr_iter iter = message_rrs(message, section);
    unsigned left = RECORDS_MAX;

    for (struct rr rr; left-- > 0 && message_rr_next(&iter, &rr);)
        put_record(reply, message, &rr);
}

/* Writes the records with the TTLs that a client would see. */
static void trace_reply_put_records(struct reply *reply, const struct answer *answer, uint64_t now)
{
    struct message message;
    uint8_t *copy = malloc(answer->message.len);

    reply_table(reply, "records", "section:text\trecord:text");
    if (copy)
        answer_copy(answer, answer->message.len, now, copy);
    if (copy && message_parse(&message, span_of(copy, answer->message.len)) == MESSAGE_OK) {
        put_section(reply, &message, SECTION_ANSWER);
        put_section(reply, &message, SECTION_AUTHORITY);
    }
    free(copy);
}

void trace_reply_write(struct reply *reply, const struct trace *trace, const struct trace_end *end)
{
    put_end(reply, trace, end);
    put_steps(reply, trace);
    if (end->answer)
        trace_reply_put_records(reply, end->answer, end->now);
}
