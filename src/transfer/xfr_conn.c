/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The states of a visit: dialling, probing (SOA), fetching (IXFR or AXFR), ended. The pure parts
 * read the messages. This file moves them between the link, the signatures, the reader and the
 * builder of the zone. Invariant: the state ENDED has no link, and only on_end leads to it.
 */
#include "transfer/xfr_conn.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/link.h"
#include "tls/tls.h"
#include "tls/tls_contexts.h"
#include "transfer/tsig.h"
#include "transfer/xfr_query.h"
#include "transfer/xfr_reader.h"
#include "transfer/xfr_serial.h"
#include "zone/zone_builder.h"
#include "zone/zone_data.h"

enum xfr_conn_state { XFR_CONN_DIALLING, XFR_CONN_PROBING, XFR_CONN_FETCHING, XFR_CONN_ENDED };

enum {
    UNSENT_MAX = 4 * 1024, /* two short queries */
    STREAM_SLACK = 1024 * 1024,
    STREAM_FACTOR = 4, /* names of a stream may be uncompressed, and changes may come and go */
};

struct xfr_conn {
    struct loop *loop;
    struct tls_contexts *contexts;
    const struct xfr_primary *primary;
    uint8_t zone_wire[NAME_WIRE_MAX];
    struct name zone;
    struct zone_data *held;
    size_t max_bytes;
    xfr_on_end on_end;
    void *owner;

    enum xfr_conn_state state;
    struct link *link;
    struct tls_context *context;
    struct timer silence, whole;
    uint16_t id;               /* the id of the present query */
    struct tsig_exchange tsig; /* signs the present query; hmac NULL: unsigned */
    bool wants_whole;          /* the task does, or an IXFR of this visit has failed */
    bool is_expired;           /* the task's version has expired */
    bool doubts_held;          /* the task doubts the held version */
    bool has_held_serial;      /* the primary does */
    struct xfr_reader reader;
    struct zone_builder *builder;
    char why[XFR_WHY_MAX];
};

/* ---- the end ---- */

static void visit_stop(struct xfr_conn *conn)
{
    timer_stop(&conn->silence);
    timer_stop(&conn->whole);
    tsig_exchange_end(&conn->tsig);
    zone_builder_free(conn->builder);
    conn->builder = NULL;
    if (conn->link)
        link_close(&conn->link);
    tls_contexts_give(conn->contexts, conn->context);
    conn->context = NULL;
}

static void visit_end(struct xfr_conn *conn, const struct xfr_end *end)
{
    MUST(conn->state != XFR_CONN_ENDED);
    conn->state = XFR_CONN_ENDED;
    visit_stop(conn);
    conn->on_end(conn->owner, end);
}

static void fail(struct xfr_conn *conn, const char *format, ...) PRINTF_LIKE(2, 3);

static void fail(struct xfr_conn *conn, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(conn->why, sizeof(conn->why), format, arguments);
    va_end(arguments);
    visit_end(conn, &(struct xfr_end){.outcome = XFR_OUTCOME_FAILED,
                                      .has_held_serial = conn->has_held_serial,
                                      .why = conn->why});
}

/* ---- queries ---- */

static uint64_t wall_s(const struct xfr_conn *conn)
{
    return (uint64_t)MAX(loop_wall_s(conn->loop), 0);
}

/* Sends a query with a new id, and a signature if the primary has a key. Returns false after a
 * failure, which it has reported. */
static bool ask(struct xfr_conn *conn, uint16_t type)
{
    const struct tsig_key *key = conn->primary->key;
    uint8_t query[XFR_QUERY_MAX + TSIG_RECORD_MAX];
    uint32_t held = conn->held ? zone_data_soa(conn->held)->serial : 0;
    conn->id = rand_u16();
    size_t len = xfr_query_write(query, conn->zone, type, conn->id, held);
    tsig_exchange_end(&conn->tsig);
    enum err err = key ? tsig_exchange_begin(&conn->tsig, key) : ERR_OK;
    if (err == ERR_OK && key)
        len = tsig_sign_query(&conn->tsig, query, len, sizeof(query), wall_s(conn));
    if (err != ERR_OK || len == 0) {
        fail(conn, "%s", tsig_result_text(TSIG_OUR_FAILURE));
        return false;
    }
    err = link_send(conn->link, span_of(query, len));
    if (err != ERR_OK)
        fail(conn, "%s", err_str(err));
    return err == ERR_OK;
}

static void await_message(struct xfr_conn *conn, uint64_t wait_us)
{
    timer_start(conn->loop, &conn->silence, loop_now(conn->loop) + wait_us);
}

/* ---- dialling ---- */

static const struct link_handler link_handler;

static struct tls *new_tls(struct xfr_conn *conn)
{
    char why[TLS_WHY_MAX];
    struct tls_peer peer = {.addr = &conn->primary->addr, .options = &conn->primary->tls};
    MUST(peer.options->profile == TLS_STRICT); /* RFC 9103 section 7: no transfer in plain text */
    conn->context = tls_contexts_get(conn->contexts, peer.options, why);
    struct tls *tls = conn->context ? tls_client(conn->context, &peer) : NULL;
    if (!tls)
        fail(conn, "%s", conn->context ? err_str(ERR_NO_MEMORY) : why);
    return tls;
}

static void dial(struct xfr_conn *conn)
{
    struct link_options options = {.tcp = {.segment_bytes = TCP_SEGMENT_BYTES},
                                   .max_unsent_bytes = UNSENT_MAX};
    conn->state = XFR_CONN_DIALLING;
    if (conn->primary->has_tls) {
        options.tls = new_tls(conn);
        if (!options.tls)
            return;
    }
    enum err err =
        link_dial(&conn->link, conn->loop, &conn->primary->addr, &options, &link_handler, conn);
    if (err != ERR_OK)
        fail(conn, "%s", err_str(err));
    else
        await_message(conn, XFR_CONN_DIAL_US);
}

/* The server cannot give the changes, or gave wrong ones: fetches the whole zone. Messages of the
 * IXFR may still be under way, so it takes another connection. */
static void dial_again(struct xfr_conn *conn)
{
    conn->wants_whole = true;
    zone_builder_free(conn->builder);
    conn->builder = NULL;
    link_close(&conn->link);
    tls_contexts_give(conn->contexts, conn->context);
    conn->context = NULL;
    dial(conn);
}

static void visit_on_open(void *owner)
{
    struct xfr_conn *conn = owner;
    conn->state = XFR_CONN_PROBING;
    if (ask(conn, RRTYPE_SOA))
        await_message(conn, XFR_CONN_SILENCE_US);
}

static void visit_on_failed(void *owner, enum err why)
{
    struct xfr_conn *conn = owner;
    const char *detail = conn->primary->has_tls ? tls_detail(link_tls(conn->link)) : "";
    if (why >= ERR_TLS_NOT_SPOKEN && why <= ERR_TLS_FAILED && *detail)
        fail(conn, "%s (%s)", err_str(why), detail);
    else
        fail(conn, "%s", err_str(why));
}

static void visit_on_peer_closed(void *owner)
{
    fail(owner, "the server closed the connection before the end");
}

static void visit_on_silence(struct timer *timer)
{
    struct xfr_conn *conn = CONTAINER_OF(timer, struct xfr_conn, silence);
    if (conn->state != XFR_CONN_DIALLING)
        fail(conn, "the server was silent for %u s", (unsigned)(XFR_CONN_SILENCE_US / US_PER_S));
    else if (conn->link)
        fail(conn, "the connection did not open within %u s",
             (unsigned)(XFR_CONN_DIAL_US / US_PER_S));
    else
        dial(conn); /* the beginning of the visit */
}

static void visit_on_whole(struct timer *timer)
{
    struct xfr_conn *conn = CONTAINER_OF(timer, struct xfr_conn, whole);
    fail(conn, "the transfer took longer than %u s", (unsigned)(XFR_CONN_WHOLE_US / US_PER_S));
}

/* ---- records into the builder ---- */

static enum err visit_sink_begin(void *owner, bool is_whole)
{
    struct xfr_conn *conn = owner;
    MUST(!conn->builder && (is_whole || conn->held));
    conn->builder = is_whole ? zone_builder_new(conn->zone, conn->max_bytes)
                             : zone_builder_new_over(conn->held, conn->max_bytes);
    return conn->builder ? ERR_OK : ERR_NO_MEMORY;
}

static enum err visit_sink_add(void *owner, struct name name, uint16_t type, uint32_t ttl,
                               struct span rdata)
{
    struct xfr_conn *conn = owner;
    return zone_builder_add(conn->builder, name, type, ttl, rdata);
}

static enum err visit_sink_remove(void *owner, struct name name, uint16_t type, struct span rdata)
{
    struct xfr_conn *conn = owner;
    return zone_builder_remove(conn->builder, name, type, rdata);
}

static const struct xfr_sink builder_sink = {visit_sink_begin, visit_sink_add, visit_sink_remove};

/* ---- fetching ---- */

static void fetch(struct xfr_conn *conn)
{
    bool is_ixfr = conn->held && !conn->wants_whole;
    uint16_t type = is_ixfr ? RRTYPE_IXFR : RRTYPE_AXFR;
    conn->state = XFR_CONN_FETCHING;
    if (!ask(conn, type))
        return;
    conn->reader = (struct xfr_reader){
        .zone = conn->zone,
        .type = type,
        .id = conn->id,
        .held_serial = is_ixfr ? zone_data_soa(conn->held)->serial : 0,
        .max_stream_bytes = (uint64_t)conn->max_bytes * STREAM_FACTOR + STREAM_SLACK,
        .sink = &builder_sink,
        .sink_owner = conn,
    };
    await_message(conn, XFR_CONN_SILENCE_US);
}

static void fail_fetch(struct xfr_conn *conn, enum xfr_result result)
{
    char rcode[RRTYPE_TEXT_MAX];
    if (conn->reader.type == RRTYPE_IXFR)
        dial_again(conn);
    else if (result == XFR_RCODE)
        fail(conn, "the server refused the transfer with %s",
             rrtype_rcode_name(conn->reader.rcode, rcode));
    else if (result == XFR_REJECTED)
        fail(conn, "%s: %s", xfr_result_text(result), err_str(conn->reader.err));
    else
        fail(conn, "%s", xfr_result_text(result));
}

/* Whether a version may follow the one that is in force. A whole zone may have another serial than
 * the server's answer to the SOA query. */
static bool is_successor(const struct xfr_conn *conn, uint32_t serial)
{
    if (!conn->held || conn->is_expired)
        return true;
    uint32_t held = zone_data_soa(conn->held)->serial;
    return xfr_serial_is_newer(serial, held) || (conn->doubts_held && serial == held);
}

static void finish(struct xfr_conn *conn)
{
    struct zone_data *version;
    enum err err = zone_builder_finish(&conn->builder, &version);
    if (err == ERR_OK && zone_data_records(version) == 1) { /* changes have left SOA alone */
        zone_data_unref(version);
        err = ERR_INVALID;
    }
    if (err != ERR_OK && conn->reader.type == RRTYPE_IXFR) {
        dial_again(conn); /* the changes do not belong to our version, or need too much memory */
        return;
    }
    if (err != ERR_OK) {
        fail(conn, "the records do not form a zone: %s", err_str(err));
        return;
    }
    uint32_t serial = zone_data_soa(version)->serial;
    if (!is_successor(conn, serial)) {
        zone_data_unref(version);
        fail(conn, "the transfer has serial %u, which is not newer than ours", (unsigned)serial);
        return;
    }
    visit_end(conn, &(struct xfr_end){.outcome = XFR_OUTCOME_VERSION,
                                      .version = version,
                                      .is_whole = conn->reader.is_whole,
                                      .has_held_serial = conn->has_held_serial,
                                      .records = conn->reader.records,
                                      .stream_bytes = conn->reader.stream_bytes,
                                      .out_of_zone = conn->reader.out_of_zone});
}

static void take_fetched(struct xfr_conn *conn, struct span message, bool is_verified)
{
    enum xfr_result result = xfr_reader_take(&conn->reader, message);
    if (result == XFR_MORE)
        await_message(conn, XFR_CONN_SILENCE_US);
    else if (!is_verified && (result == XFR_COMPLETE || result == XFR_CURRENT))
        fail(conn, "%s", tsig_result_text(TSIG_MISSING));
    else if (result == XFR_CURRENT)
        visit_end(conn, &(struct xfr_end){.outcome = XFR_OUTCOME_CURRENT});
    else if (result == XFR_COMPLETE)
        finish(conn);
    else
        fail_fetch(conn, result);
}

/* ---- probing ---- */

static void fetch_whole(struct xfr_conn *conn)
{
    conn->wants_whole = true;
    fetch(conn);
}

static void take_serial(struct xfr_conn *conn, uint32_t serial)
{
    uint32_t held = conn->held ? zone_data_soa(conn->held)->serial : 0;
    conn->has_held_serial = conn->held && serial == held;
    if (!conn->held || xfr_serial_is_newer(serial, held))
        fetch(conn);
    else if (conn->has_held_serial && !conn->doubts_held)
        visit_end(conn, &(struct xfr_end){.outcome = XFR_OUTCOME_CURRENT, .has_held_serial = true});
    else if (conn->has_held_serial || conn->is_expired)
        fetch_whole(conn);
    else
        fail(conn, "the server has the older serial %u", serial);
}

static void take_probe(struct xfr_conn *conn, struct span message)
{
    char text[RRTYPE_TEXT_MAX];
    uint32_t serial;
    uint16_t rcode;
    switch (xfr_probe_read(message, conn->zone, conn->id, &serial, &rcode)) {
    case XFR_PROBE_SERIAL:
        take_serial(conn, serial);
        return;
    case XFR_PROBE_RCODE:
        fail(conn, "the server answered the SOA query with %s", rrtype_rcode_name(rcode, text));
        return;
    case XFR_PROBE_NOT_PRIMARY:
        fail(conn, "the server is not authoritative for the zone");
        return;
    case XFR_PROBE_UNRELATED:
        fail(conn, "%s", xfr_result_text(XFR_UNRELATED));
        return;
    case XFR_PROBE_MALFORMED:
        fail(conn, "%s", xfr_result_text(XFR_MALFORMED));
        return;
    }
}

/* A server that refuses without a signature gives its reason in the rcode, which says more than
 * "not signed". The rcode is unsigned, so it only causes the failure. */
static void fail_tsig(struct xfr_conn *conn, enum tsig_result result, struct span message)
{
    char rcode[RRTYPE_TEXT_MAX];
    bool is_refusal = message.len >= HEADER_LEN && header_rcode(message.data) != RCODE_NOERROR;
    if (result == TSIG_MISSING && is_refusal)
        fail(conn, "%s (%s)", tsig_result_text(result),
             rrtype_rcode_name(header_rcode(message.data), rcode));
    else
        fail(conn, "%s", tsig_result_text(result));
}

static void visit_on_message(void *owner, struct span message)
{
    struct xfr_conn *conn = owner;
    enum tsig_result result = TSIG_GOOD;
    if (conn->primary->key)
        result = tsig_check_answer(&conn->tsig, message, wall_s(conn));
    if (result != TSIG_GOOD && result != TSIG_AWAITED)
        fail_tsig(conn, result, message);
    else if (conn->state == XFR_CONN_PROBING)
        take_probe(conn, message); /* the first message: never TSIG_AWAITED */
    else
        take_fetched(conn, message, result == TSIG_GOOD);
}

static const struct link_handler link_handler = {
    .on_open = visit_on_open,
    .on_message = visit_on_message,
    .on_peer_closed = visit_on_peer_closed,
    .on_failed = visit_on_failed,
};

/* ---- life ---- */

enum err xfr_conn_open(struct xfr_conn **out, struct loop *loop, struct tls_contexts *contexts,
                       const struct xfr_task *task, xfr_on_end on_end, void *owner)
{
    struct xfr_conn *conn = calloc(1, sizeof(*conn));
    *out = conn;
    if (!conn)
        return ERR_NO_MEMORY;
    conn->loop = loop;
    conn->contexts = contexts;
    conn->primary = task->primary;
    conn->zone = name_copy(task->zone, conn->zone_wire);
    conn->held = task->held ? zone_data_ref(task->held) : NULL;
    conn->wants_whole = task->wants_whole;
    conn->is_expired = task->is_expired;
    conn->doubts_held = task->doubts_held;
    conn->max_bytes = task->max_bytes;
    conn->on_end = on_end;
    conn->owner = owner;
    timer_init(&conn->silence, visit_on_silence);
    timer_init(&conn->whole, visit_on_whole);
    await_message(conn, 0); /* dials in the next turn, so that no failure comes before the return */
    timer_start(loop, &conn->whole, loop_now(loop) + XFR_CONN_WHOLE_US);
    return ERR_OK;
}

void xfr_conn_close(struct xfr_conn **conn)
{
    if (!*conn)
        return;
    if ((*conn)->state != XFR_CONN_ENDED)
        visit_stop(*conn);
    zone_data_unref((*conn)->held);
    free(*conn);
    *conn = NULL;
}
