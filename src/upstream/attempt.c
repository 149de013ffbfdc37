/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Builds one query and checks its reply. Every message from the network for a query passes
 * belongs() and attempt_judge() before other code sees it.
 *
 * Invariant: on_answer or on_failed comes at most once, and no callback follows either.
 */

#include "upstream/attempt.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"
#include "dns/build.h"
#include "dns/rrtype.h"
#include "dns/word.h"
#include "loop/loop.h"
#include "net/link.h"
#include "upstream/exchange_question.h"
#include "upstream/pool_hold.h"

enum { EDNS_UDP_SIZE = 1232 };

static void attempt_on_due(struct timer *timer);
static void attempt_on_reply(struct flight *flight, struct span bytes);
static void attempt_on_lost(struct flight *flight, enum conn_end why);
static void on_conn(struct pool_waiter *waiter, struct conn *conn);
static void on_no_conn(struct pool_waiter *waiter, enum conn_end why);
static void attempt_on_datagram(void *owner, struct span datagram);
static void on_udp_failed(void *owner, enum err why);

static const struct flight_handler flight_handler = {.on_reply = attempt_on_reply,
                                                     .on_lost = attempt_on_lost};
static const struct udp_query_handler udp_handler = {.on_datagram = attempt_on_datagram,
                                                     .on_failed = on_udp_failed};

struct attempt *attempt_new(struct upstream_env *env, struct upstream *upstream,
                            const struct exchange_question *asked,
                            const struct attempt_handler *handler, void *owner)
{
    struct list *node = list_take_first(&env->free_attempts);
    struct attempt *attempt =
        node ? LIST_ITEM(node, struct attempt, node) : malloc(sizeof(*attempt));
    if (!attempt)
        return NULL;
    env->free_attempt_count -= node != NULL;
    memset(attempt, 0, offsetof(struct attempt, case_bits));
    list_init(&attempt->node);
    list_init(&attempt->waiter.node);
    attempt->env = env;
    attempt->upstream = upstream;
    attempt->asked = asked;
    attempt->handler = handler;
    attempt->owner = owner;
    attempt->flight.handler = &flight_handler;
    attempt->waiter.on_conn = on_conn;
    attempt->waiter.on_no_conn = on_no_conn;
    timer_init(&attempt->due, attempt_on_due);
    return attempt;
}

static void attempt_move(struct attempt *attempt, enum attempt_state to)
{
    static const unsigned char followers[] = {
#define ATTEMPT_STATE(name, text, follow, sentence) [ATTEMPT_##name] = (follow),
        ATTEMPT_STATES(ATTEMPT_STATE)
#undef ATTEMPT_STATE
    };
    MUST(followers[attempt->state] & 1u << to);
    attempt->state = to;
}

const char *attempt_state_text(const struct attempt *attempt)
{
    static const char *const texts[] = {
#define ATTEMPT_STATE(name, text, follow, sentence) [ATTEMPT_##name] = (text),
        ATTEMPT_STATES(ATTEMPT_STATE)
#undef ATTEMPT_STATE
    };
    return texts[attempt->state];
}

/* Releases everything that could call back. */
static void detach(struct attempt *attempt)
{
    timer_stop(&attempt->due);
    pool_leave(&attempt->upstream->pool, &attempt->waiter);
    conn_give_up(&attempt->flight);
    attempt->sent_on = NULL;
    if (attempt->udp) {
        udp_query_close(&attempt->udp);
        STATS_DEC(attempt->env->stats, upstream_in_flight);
    }
}

void attempt_free(struct attempt *attempt)
{
    struct upstream_env *env = attempt->env;
    detach(attempt);
    list_remove(&attempt->node);
    if (env->free_attempt_count >= ATTEMPTS_FREE_MAX) {
        free(attempt);
        return;
    }
    env->free_attempt_count++;
    list_prepend(&env->free_attempts, &attempt->node);
}

/* ---- taps (base/tap.h) ---- */

static struct tap_message attempt_tap_message(const struct attempt *attempt, struct span bytes)
{
    return (struct tap_message){
        .transport = attempt_transport(attempt),
        .asker = &attempt->local,
        .asked = &attempt->upstream->addr,
        .asked_at = attempt->sent_at,
        .bytes = bytes,
    };
}

static __attribute__((cold)) void attempt_tell_sent(struct attempt *attempt, struct span query,
                                                    struct conn *conn)
{
    attempt->sent_at = loop_now(attempt->env->loop);
    if (conn)
        attempt->local = *link_local(conn->link);
    else
        udp_query_local(attempt->udp, &attempt->local);
    struct tap_message message = attempt_tap_message(attempt, query);
    for (struct tap *tap = attempt->env->taps; tap; tap = tap->next)
        if (tap->on_sent)
            tap->on_sent(tap, &message, attempt->asked->recursion_desired);
}

static __attribute__((cold)) void attempt_tell_heard(const struct attempt *attempt,
                                                     struct span bytes)
{
    struct tap_message message = attempt_tap_message(attempt, bytes);
    message.answered_at = loop_now(attempt->env->loop);
    for (struct tap *tap = attempt->env->taps; tap; tap = tap->next)
        if (tap->on_heard)
            tap->on_heard(tap, &message, attempt->asked->recursion_desired);
}

/* ---- building and sending ---- */

/* An eavesdropper sees only the length, so queries are padded (RFC 8467). */
static bool is_secured(const struct attempt *attempt)
{
    return attempt->over_stream && transport_is_secure(attempt->upstream->options.transport);
}

static size_t build(struct attempt *attempt, uint8_t *out, size_t size, uint16_t id, bool keepalive)
{
    struct upstream *upstream = attempt->upstream;
    const struct exchange_question *asked = attempt->asked;

    attempt->id = id;
    if (!attempt->over_stream && upstream_may_drop_edns(upstream, attempt->nth))
        attempt->without_edns = true;
    attempt->with_edns = !attempt->without_edns && upstream_uses_edns(upstream);
    attempt->with_case = upstream_uses_case(upstream);
    attempt->with_cookie = attempt->with_edns && upstream->options.cookies;
    struct cookie made;
    const struct cookie *cookie =
        attempt->with_cookie ? cookies_find(&upstream->cookies, &attempt->source.addr, &made)
                             : NULL;
    struct build_query_options options = {
        .id = id,
        .recursion_desired = asked->recursion_desired,
        .checking_disabled = asked->checking_disabled,
        .authentic_data = asked->authentic_data,
        .dnssec_ok = asked->dnssec_ok && attempt->with_edns,
        .keepalive = keepalive && attempt->with_edns,
        .edns = attempt->with_edns,
        .udp_size = EDNS_UDP_SIZE,
        .cookie = cookie ? cookie->bytes : NULL,
        .cookie_len = cookie ? cookie->len : 0,
        .pad_block = attempt->with_edns && is_secured(attempt) ? EDNS_PADDING_QUERY : 0,
    };
    size_t len = build_query(out, size, &asked->question, &options);
    if (len && attempt->with_case) {
        rand_bytes(attempt->case_bits, (asked->question.name.len + 7u) / 8);
        case_randomise(out + MESSAGE_QUESTION_OFFSET, asked->question.name.len, attempt->case_bits);
    }
    return len;
}

/* How long the connection may be silent before the query counts as silent or slow. */
static uint64_t silence_us(const struct attempt *attempt)
{
    const struct health *health = &attempt->upstream->stream;
    if (attempt->state == ATTEMPT_ARRIVED || attempt->state == ATTEMPT_SLOW)
        return health_hedge_us(health);
    return acks_wait_us(&attempt->upstream->pool.acks, health, loop_now(attempt->env->loop));
}

/* An only server gets its usual answer time, and at least a quarter more than query-timeout. The
 * value may change while the query waits: the server's first answer may show that it is slow. */
static uint64_t overdue_at_of(const struct attempt *attempt)
{
    const struct health *health = &attempt->upstream->stream;
    uint64_t timeout_us = attempt->upstream->options.query_timeout_us;
    if (!attempt->is_only || !attempt->over_stream)
        return attempt->sent_at + timeout_us;
    uint64_t usual_us = health->srtt_us + 4 * health->rttvar_us;
    return attempt->sent_at + MAX(timeout_us + timeout_us / 4, usual_us);
}

static void sent(struct attempt *attempt, uint64_t slow_after_us)
{
    uint64_t now = loop_now(attempt->env->loop);
    attempt_move(attempt, ATTEMPT_SENT);
    attempt->sent_at = now;
    attempt->ends_at = now + MAX(ATTEMPT_LATE_US, 2 * attempt->upstream->options.query_timeout_us);
    attempt->upstream->queries++;
    slow_after_us = MAX(slow_after_us, attempt->patience_us);
    timer_start(attempt->env->loop, &attempt->due,
                MIN(now + slow_after_us, overdue_at_of(attempt)));
}

/* Whether there is no route, no source address, or a route or filter that refuses. Other errors say
 * nothing about the path. */
static bool is_no_route(enum err err)
{
    return err == ERR_UNREACHABLE || err == ERR_ADDRESS_UNKNOWN || err == ERR_PERMISSION ||
           err == ERR_INVALID;
}

static void note_route(struct attempt *attempt, enum err err)
{
    struct upstream *upstream = attempt->upstream;
    uint64_t now = loop_now(attempt->env->loop);
    if (err == ERR_OK) {
        reach_worked(&attempt->env->reach, addr_family(&upstream->addr), now);
        upstream->no_route_until_at = 0;
    } else if (is_no_route(err)) {
        reach_failed(&attempt->env->reach, &upstream->addr, now);
        upstream->no_route_until_at = now + REACH_REST_US;
        attempt->lacked_route = true;
    }
}

/* Builds the query for the drawn source address, because cookies belong to addresses, and sends it.
 */
static enum err send_from(struct attempt *attempt, unsigned queries_per_port)
{
    struct upstream *upstream = attempt->upstream;
    uint8_t query[BUILD_QUERY_MAX];
    size_t len = build(attempt, query, sizeof(query), rand_u16(), false);

    MUST(len > 0);
    const struct udp_query_path path = {
        .peer = &upstream->addr,
        .source = &attempt->source.addr,
        .queries_per_port = queries_per_port,
        .is_foreign = attempt->source.is_foreign,
    };
    enum err err = udp_query_open(&attempt->udp, attempt->env->loop, &path, span_of(query, len),
                                  &udp_handler, attempt);
    if (!err && attempt->env->taps)
        attempt_tell_sent(attempt, span_of(query, len), NULL);
    return err;
}

/* Returns whether the caller should draw another source address. */
static bool note_source(struct attempt *attempt, enum err err)
{
    struct sources *sources = attempt->upstream->options.sources;
    if (!err && udp_query_is_waiting(attempt->udp))
        return false;
    if (sources_are_at_fault(sources, err))
        STATS_INC(attempt->env->stats, upstream_source_failures);
    return sources_note(sources, &attempt->source, err, loop_now(attempt->env->loop));
}

/* The operator knows the paths to configured upstreams. Anything may be in the path to a server
 * that recursion discovers, so only queries with proven answers share ports there. */
static unsigned queries_per_port(const struct attempt *attempt)
{
    const struct upstream *upstream = attempt->upstream;
    bool may_share = !upstream->is_discovered || attempt->asked->shares_port;
    return may_share ? upstream->options.queries_per_port : 1;
}

bool attempt_send_udp(struct attempt *attempt)
{
    struct upstream *upstream = attempt->upstream;
    unsigned burst = queries_per_port(attempt);
    enum err err;

    MUST(!transport_is_secure(upstream->options.transport)); /* never in plain text */
    attempt->over_stream = false;
    attempt->source = (struct source_draw){0};
    do {
        upstream_draw_source(upstream, &attempt->source, burst);
        err = send_from(attempt, burst);
    } while (note_source(attempt, err));
    if (err || !udp_query_is_waiting(attempt->udp))
        note_route(attempt, err);
    if (err)
        return false;
    STATS_INC(attempt->env->stats, upstream_queries_udp);
    STATS_INC(attempt->env->stats, upstream_in_flight);
    sent(attempt, upstream_udp_rto_us(upstream, attempt->nth));
    return true;
}

/* The first query on each connection asks for RFC 7828. */
bool attempt_send_stream(struct attempt *attempt, struct conn *conn)
{
    attempt->over_stream = true;
    attempt->source.addr = conn->source;
    uint8_t *out = conn_reserve(conn, BUILD_QUERY_MAX);
    if (!out)
        return false;
    size_t len = build(attempt, out, BUILD_QUERY_MAX, conn_next_id(conn), !conn->asked_keepalive);
    MUST(len > 0);
    conn->asked_keepalive = true;
    if (attempt->env->taps) /* the bytes are readable only until conn_commit() */
        attempt_tell_sent(attempt, span_of(out, len), conn);
    if (conn_commit(conn, len, &attempt->flight))
        return false;
    attempt->sent_on = conn;
    sent(attempt, silence_us(attempt));
    return true;
}

static void attempt_start_waiting(struct attempt *attempt, uint64_t until_at)
{
    attempt_move(attempt, ATTEMPT_WAITING);
    attempt->over_stream = true;
    attempt->ends_at = until_at;
    timer_start(attempt->env->loop, &attempt->due, until_at);
}

static void attempt_stop_waiting(struct attempt *attempt)
{
    attempt_move(attempt, ATTEMPT_NEW);
    timer_stop(&attempt->due);
}

bool attempt_wait_stream(struct attempt *attempt)
{
    uint64_t now = loop_now(attempt->env->loop);
    attempt_start_waiting(attempt, now + attempt->upstream->options.query_timeout_us);
    if (pool_wait(&attempt->upstream->pool, &attempt->waiter))
        return true;
    attempt_stop_waiting(attempt);
    return false;
}

bool attempt_wait_return(struct attempt *attempt, uint64_t until_at)
{
    attempt_start_waiting(attempt, until_at);
    if (pool_wait_patiently(&attempt->upstream->pool, &attempt->waiter))
        return true;
    attempt_stop_waiting(attempt);
    return false;
}

void attempt_shorten_wait(struct attempt *attempt, uint64_t until_at)
{
    MUST(attempt->state == ATTEMPT_WAITING);
    attempt->ends_at = MIN(attempt->ends_at, until_at);
    timer_start(attempt->env->loop, &attempt->due, attempt->ends_at);
}

/* ---- ends ---- */

static void attempt_fail(struct attempt *attempt, enum attempt_failure why)
{
    detach(attempt);
    attempt->handler->on_failed(attempt, why);
}

static void on_conn(struct pool_waiter *waiter, struct conn *conn)
{
    struct attempt *attempt = CONTAINER_OF(waiter, struct attempt, waiter);
    attempt_stop_waiting(attempt);
    if (!attempt_send_stream(attempt, conn))
        attempt_fail(attempt, ATTEMPT_CLOSED);
}

static void on_no_conn(struct pool_waiter *waiter, enum conn_end why)
{
    struct attempt *attempt = CONTAINER_OF(waiter, struct attempt, waiter);
    attempt_fail(attempt, why == CONN_END_DIAL_REFUSED ? ATTEMPT_REFUSED : ATTEMPT_CLOSED);
}

static void attempt_on_lost(struct flight *flight, enum conn_end why)
{
    (void)why;
    struct attempt *attempt = CONTAINER_OF(flight, struct attempt, flight);
    attempt->sent_on = NULL;
    attempt_fail(attempt, ATTEMPT_CLOSED);
}

/* A query into the former network says nothing about the server. */
static void note_unanswered(struct attempt *attempt)
{
    if (attempt->sent_at < attempt->upstream->path_at)
        return;
    health_silent(upstream_health(attempt->upstream, attempt->over_stream),
                  loop_now(attempt->env->loop), rand_u64());
}

/* Whether this machine is at fault: no ICMP error reports that. */
static bool is_local_fault(enum err why)
{
    return why == ERR_ADDRESS_UNKNOWN || why == ERR_NO_PORT || why == ERR_NO_MEMORY;
}

/* Refused or unreachable: ICMP shows that waiting is useless, and the server must not come first
 * next time. A query that waited for a descriptor may find its source address missing, or no port.
 * The server has no part in that. */
static void on_udp_failed(void *owner, enum err why)
{
    struct attempt *attempt = owner;
    if (is_local_fault(why)) {
        attempt->lacked_route = true;
        (void)note_source(attempt, why);
    } else {
        note_unanswered(attempt);
    }
    attempt_fail(attempt, ATTEMPT_REFUSED);
}

static void note_silence(struct attempt *attempt)
{
    attempt->upstream->timeouts++;
    note_unanswered(attempt);
}

/* When it is time for another way: a datagram now, a stream after enough silence. */
static uint64_t slow_at_of(const struct attempt *attempt)
{
    if (!attempt->over_stream)
        return loop_now(attempt->env->loop);
    return MAX(conn_silent_since_at(&attempt->flight) + silence_us(attempt),
               attempt->sent_at + attempt->patience_us);
}

/* The query arrived, and the server gets more time for its answer. */
static bool is_server_slow(struct attempt *attempt, uint64_t now)
{
    if (!attempt->over_stream || attempt->state != ATTEMPT_SENT)
        return false;
    if (now >= conn_silent_since_at(&attempt->flight) + health_hedge_us(&attempt->upstream->stream))
        return false;
    if (conn_misses_ack(&attempt->flight))
        return false;
    attempt_move(attempt, ATTEMPT_ARRIVED);
    return true;
}

/* A late answer may still come over a stream, so the query stays registered there. It no longer
 * counts as load, because names without answers must not fill the connection. */
static void become_overdue(struct attempt *attempt)
{
    bool is_silent = attempt_state_is_silent(attempt->state);
    if (attempt->over_stream || !is_silent)
        note_silence(attempt);
    attempt_move(attempt, is_silent ? ATTEMPT_OVERDUE_SILENT : ATTEMPT_OVERDUE);
    if (attempt->over_stream)
        conn_overdue(&attempt->flight);
    timer_start(attempt->env->loop, &attempt->due, attempt->ends_at);
    attempt->handler->on_overdue(attempt);
}

static void become_silent(struct attempt *attempt)
{
    bool has_arrived = attempt->state == ATTEMPT_ARRIVED;
    if (!attempt->over_stream)
        note_silence(attempt);
    else if (!has_arrived)
        has_arrived = !conn_misses_ack(&attempt->flight);
    attempt_move(attempt, has_arrived ? ATTEMPT_SLOW : ATTEMPT_SILENT);
    attempt->handler->on_slow(attempt);
}

/* While the stream answers other queries, only this query is slow. It gets another way when it is
 * overdue. */
static void wait_or_be_slow(struct attempt *attempt, uint64_t now)
{
    uint64_t slow_at = slow_at_of(attempt);
    if (now >= slow_at && is_server_slow(attempt, now))
        slow_at = slow_at_of(attempt);
    uint64_t overdue_at = overdue_at_of(attempt);
    timer_start(attempt->env->loop, &attempt->due,
                now < slow_at ? MIN(slow_at, overdue_at) : overdue_at);
    if (now >= slow_at && !attempt_state_is_silent(attempt->state))
        become_silent(attempt);
}

/* A query's timeout never ends its connection. */
static void attempt_on_due(struct timer *timer)
{
    struct attempt *attempt = CONTAINER_OF(timer, struct attempt, due);
    uint64_t now = loop_now(attempt->env->loop);

    if (now >= attempt->ends_at)
        attempt_fail(attempt, ATTEMPT_TIMED_OUT);
    else if (attempt_state_is_overdue(attempt->state) || attempt->state == ATTEMPT_WAITING)
        timer_start(attempt->env->loop, &attempt->due, attempt->ends_at);
    else if (now >= overdue_at_of(attempt))
        become_overdue(attempt);
    else
        wait_or_be_slow(attempt, now);
}

/* ---- answers ---- */

/* Whether the message answers this query. Nearly all servers return the name in the case that we
 * sent. The comparison ignores case only for the others. */
static bool belongs(const struct attempt *attempt, const struct message *message, bool *same_case)
{
    const struct question *asked = &attempt->asked->question, *got = &message->question;
    uint8_t wire[NAME_WIRE_MAX];

    if (!message_is_answer(message) || message->id != attempt->id || message_opcode(message) != 0)
        return false;
    if (!message->has_question || got->type != asked->type || got->cls != asked->cls ||
        got->name.len != asked->name.len)
        return false;
    word_copy(wire, asked->name.wire, asked->name.len);
    if (attempt->with_case)
        case_randomise(wire, asked->name.len, attempt->case_bits);
    bool is_exact = memcmp(wire, got->name.wire, asked->name.len) == 0;
    *same_case = !attempt->with_case || is_exact;
    return is_exact || name_equal(got->name, asked->name);
}

enum cookie_check { COOKIE_FINE, COOKIE_MISSING, COOKIE_WRONG };

/* RFC 7873 section 5.3: a server that once sent a cookie sends it again, with ours in front. */
static enum cookie_check check_cookie(struct attempt *attempt, const struct message *message)
{
    struct upstream *upstream = attempt->upstream;
    struct edns_cookie cookie;

    if (!attempt->with_cookie)
        return COOKIE_FINE;
    switch (edns_find_cookie(&message->edns, &cookie)) {
    case EDNS_ABSENT:
        return upstream->cookies.server_sends ? COOKIE_MISSING : COOKIE_FINE;
    case EDNS_BAD:
        return COOKIE_WRONG;
    case EDNS_FOUND:
        break;
    }
    const struct addr *source = &attempt->source.addr;
    if (!cookies_are_ours(&upstream->cookies, source, cookie.client))
        return COOKIE_WRONG;
    if (cookie.server.len > 0)
        cookies_take_server(&upstream->cookies, source, cookie.client, cookie.server);
    attempt->has_our_cookie = true;
    return COOKIE_FINE;
}

static void hear_keepalive(struct attempt *attempt, struct conn *conn,
                           const struct message *message)
{
    struct edns_keepalive keepalive;
    if (edns_find_keepalive(&message->edns, &keepalive) == EDNS_FOUND && keepalive.has_timeout)
        pool_heard_keepalive(&attempt->upstream->pool, conn, keepalive.timeout_100ms);
}

static void answered(struct attempt *attempt, const struct message *message)
{
    struct upstream *upstream = attempt->upstream;
    uint64_t rtt_us = loop_now(attempt->env->loop) - attempt->sent_at;

    upstream->answers++;
    if (attempt_state_is_overdue(attempt->state))
        STATS_INC(attempt->env->stats, upstream_late_answers);
    upstream_answered(upstream, attempt->over_stream, rtt_us);
    stats_histogram_add(&attempt->env->stats->upstream_latency, rtt_us);
    if (is_secured(attempt))
        STATS_INC(attempt->env->stats, upstream_answers_tls);
    else if (attempt->over_stream)
        STATS_INC(attempt->env->stats, upstream_answers_tcp);
    else
        STATS_INC(attempt->env->stats, upstream_answers_udp);
    detach(attempt);
    attempt->handler->on_answer(attempt, message, rtt_us);
}

bool attempt_is_too_large(const struct attempt *attempt, const struct message *message)
{
    unsigned most = attempt->with_edns ? EDNS_UDP_SIZE : MESSAGE_UDP_MAX;
    return message->offsets[SECTION_ADDITIONAL] > most;
}

static bool is_not_understood(const struct message *message)
{
    uint16_t rcode = message_rcode(message);
    if (rcode == RCODE_BADVERS) /* we use version 0, the lowest */
        return true;
    return (rcode == RCODE_FORMERR || rcode == RCODE_NOTIMP) && !message->edns.present;
}

/* RFC 6891 section 7, and old servers that send only the header. A server that sent a cookie
 * supports EDNS, so such a reply from it is forged. */
static bool is_bare_formerr(const struct attempt *attempt, const struct message *message)
{
    return message_is_answer(message) && message->id == attempt->id && attempt->with_edns &&
           message->bytes.len == HEADER_LEN && message_rcode(message) == RCODE_FORMERR &&
           message->counts[SECTION_QUESTION] == 0 && !attempt->upstream->cookies.server_sends;
}

/* Undoes the random case: names that point into the question are cached and shown to clients. The
 * bytes are in the receive buffer, which has no other reader. */
static void restore_case(const struct attempt *attempt, const struct message *message)
{
    struct name asked = attempt->asked->question.name;
    if (attempt->with_case)
        word_copy((uint8_t *)(uintptr_t)message->question.name.wire, asked.wire, asked.len);
}

/* Decides about a message that belongs to the query. */
static void attempt_judge(struct attempt *attempt, const struct message *message)
{
    restore_case(attempt, message);
    struct upstream *upstream = attempt->upstream;
    uint16_t rcode = message_rcode(message);

    upstream->edns_works |= attempt->with_edns && !is_not_understood(message);
    if (rcode == RCODE_BADCOOKIE && attempt->with_cookie) {
        if (!attempt->over_stream)
            upstream_hold_source(upstream, &attempt->source);
        attempt_fail(attempt, attempt->over_stream ? ATTEMPT_MALFORMED : ATTEMPT_COOKIE);
    } else if (attempt->with_edns && is_not_understood(message)) {
        attempt_fail(attempt, ATTEMPT_NO_EDNS);
    } else if ((message->flags & HEADER_TC) && !attempt->over_stream) {
        upstream_answered(upstream, false, loop_now(attempt->env->loop) - attempt->sent_at);
        attempt_fail(attempt, ATTEMPT_TRUNCATED);
    } else {
        /* Remembers the lack of EDNS only if EDNS was the cause: clients choose the questions. */
        if (attempt->without_edns && !is_not_understood(message))
            upstream->no_edns_until_at = loop_now(attempt->env->loop) + UPSTREAM_QUIRK_US;
        answered(attempt, message);
    }
}

static void attempt_on_stray(struct attempt *attempt)
{
    STATS_INC(attempt->env->stats, upstream_forged);
    /* an attacker is guessing: leave this port */
    if (udp_query_note_stray(attempt->udp) > ATTEMPT_STRAYS_MAX)
        attempt_fail(attempt, ATTEMPT_UNTRUSTED);
}

static void tell_heard(const struct attempt *attempt, struct span message)
{
    if (attempt->env->taps)
        attempt_tell_heard(attempt, message);
}

static void attempt_on_datagram(void *owner, struct span datagram)
{
    struct attempt *attempt = owner;
    struct message message;
    bool same_case;

    enum message_check check = message_parse(&message, datagram);
    if (check == MESSAGE_OK && is_bare_formerr(attempt, &message)) {
        tell_heard(attempt, datagram);
        attempt_fail(attempt, ATTEMPT_NO_EDNS);
        return;
    }
    if (check == MESSAGE_SHORT || !belongs(attempt, &message, &same_case)) {
        attempt_on_stray(attempt);
        return;
    }
    tell_heard(attempt, datagram);
    if (!same_case) {
        STATS_INC(attempt->env->stats, upstream_forged);
        upstream_lost_case(attempt->upstream, false);
        attempt_fail(attempt, ATTEMPT_UNTRUSTED);
        return;
    }
    if (attempt->with_case)
        upstream_kept_case(attempt->upstream);
    if (check != MESSAGE_OK || message.has_trailing) {
        attempt_fail(attempt, ATTEMPT_MALFORMED);
        return;
    }
    switch (check_cookie(attempt, &message)) {
    case COOKIE_WRONG:
        attempt->upstream->edns_works = true; /* or a forger could make us query without EDNS */
        attempt_on_stray(attempt);
        return;
    case COOKIE_MISSING:
        attempt_fail(attempt, ATTEMPT_UNTRUSTED);
        return;
    case COOKIE_FINE:
        attempt_judge(attempt, &message);
        return;
    }
}

/* Over a connection only the server can have sent the reply. The upstream remembers a server that
 * changes the case of names or no longer sends a cookie. */
static void take_reply(struct attempt *attempt, struct conn *conn, struct span bytes)
{
    struct upstream *upstream = attempt->upstream;
    struct message message;
    bool same_case;

    tell_heard(attempt, bytes);
    enum message_check check = message_parse(&message, bytes);
    if (check == MESSAGE_OK && is_bare_formerr(attempt, &message)) {
        attempt_fail(attempt, ATTEMPT_NO_EDNS);
        return;
    }
    if (check == MESSAGE_SHORT || !belongs(attempt, &message, &same_case)) {
        STATS_INC(attempt->env->stats, upstream_forged);
        attempt_fail(attempt, ATTEMPT_MALFORMED);
        return;
    }
    if (check != MESSAGE_OK || message.has_trailing ||
        check_cookie(attempt, &message) == COOKIE_WRONG) {
        attempt_fail(attempt, ATTEMPT_MALFORMED);
        return;
    }
    if (!same_case)
        upstream_lost_case(upstream, true);
    if (attempt->with_cookie && upstream->cookies.server_sends &&
        edns_find(&message.edns, EDNS_COOKIE, &(struct span){0}) == EDNS_ABSENT)
        cookies_forget_server(&upstream->cookies);
    hear_keepalive(attempt, conn, &message);
    attempt_judge(attempt, &message);
}

/* Any reply makes room on the connection (NULL if this was its last answer). */
static void attempt_on_reply(struct flight *flight, struct span bytes)
{
    struct attempt *attempt = CONTAINER_OF(flight, struct attempt, flight);
    struct pool *pool = &attempt->upstream->pool;
    struct conn *conn = flight->conn;

    flight->conn = NULL;
    attempt->sent_on = NULL;
    take_reply(attempt, conn, bytes);
    pool_room(pool);
}
