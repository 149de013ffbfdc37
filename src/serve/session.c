/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The state machine of a session (session.h). The link frames, seals and writes; request.c handles
 * the queries. After each event session_settle() asks wanted_state() and moves. Invariant: a
 * session takes queries only in the open state. A timer runs in every state but the finishing one
 * while queries wait: the resolver bounds their time.
 */
#include "serve/session.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/stats.h"
#include "cache/cache.h"
#include "dns/header.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/link.h"
#include "net/listen_socket.h"
#include "serve/freshness.h"
#include "serve/proxy_header.h"
#include "serve/request.h"
#include "serve/server_quota.h"
#include "tls/tls.h"

enum session_state {
    SESSION_ANNOUNCING,
    SESSION_SECURING,
    SESSION_OPEN,
    SESSION_BUSY,
    SESSION_FULL,
    SESSION_FINISHING,
    SESSION_DISCARDING,
};

struct session {
    struct list node; /* of the host's sessions */
    struct session_host *host;
    struct sink sink;
    struct link *link;
    struct stream_memory_client memory;
    size_t link_bytes;  /* held by the link, and by the kernel for a client that does not read */
    size_t held_parked; /* parked queries that are in the count */
    struct client_place place;
    uint8_t *reply;       /* the room that was reserved last, over HTTPS */
    struct addr frontend; /* of a proxy that named the client; family 0: none */
    struct request_client client;
    enum session_state state;
    bool has_ended; /* it takes no further query, and the next settle moves it to finishing */
    bool has_asked; /* a whole message has come */
    bool has_left;  /* the client sent its FIN */
    enum link_preface preface; /* where the header of a proxy comes */
    uint64_t opened_at;
    uint64_t last_until_at;     /* end of the last call; 0: it has not begun */
    uint64_t reads_before_last; /* reads of the link when the last call began */
    uint64_t last_query_at;
    uint64_t idle_us;      /* the idle time at that query; a reload may change the option */
    uint64_t http_refused; /* requests that are in the count */
    uint64_t give_up_at;   /* deadline of the last bytes, while finishing or discarding; 0: none */
    struct handshake handshake;
    struct idle_entry idle;
    struct timer timer;
};

static struct loop *loop_of(const struct session *session)
{
    return session->sink.requests->loop;
}

static struct stats *stats_of(const struct session *session)
{
    return session->sink.requests->stats;
}

static bool is_tls(const struct session *session)
{
    return session->host->tls;
}

static bool is_https(const struct session *session)
{
    return session->host->transport == TRANSPORT_HTTPS;
}

static uint64_t client_number(const struct session *session)
{
    return server_quota_client(session->host->requests->quota, &session->place.client);
}

static void put_idle(struct session *session)
{
    idle_order_put(&session->host->common->idle, &session->idle, client_number(session),
                   loop_now(loop_of(session)));
}

/* Whether the session only waits for its client, so that a new client could use its place. */
static bool session_is_idle(const struct session *session)
{
    if (session->place.kind != PLACE_ALLOWED)
        return false;
    if (session->state == SESSION_SECURING) /* a handshake in the queue waits for us */
        return session->handshake.state == HANDSHAKE_IDLE;
    bool is_open = session->state == SESSION_OPEN && session->sink.waiting_count == 0;
    return is_open || session->state == SESSION_DISCARDING;
}

/* Updates the order of idle sessions. A session that stays idle keeps its place there. */
static void note_idle(struct session *session)
{
    bool is_noted = idle_entry_is_idle(&session->idle);
    if (session_is_idle(session) == is_noted)
        return;
    if (is_noted)
        idle_order_remove(&session->idle);
    else
        put_idle(session);
}

static void session_count_refused(struct session *session)
{
    uint64_t refused = link_refused(session->link);
    if (refused != session->http_refused)
        STATS_ADD(stats_of(session), http_refused, refused - session->http_refused);
    session->http_refused = refused;
}

static void session_end(struct session *session, void (*end_link)(struct link **link))
{
    struct session_host *host = session->host;
    struct client_place place = session->place;
    session_count_refused(session);
    sink_orphan(&session->sink);
    handshake_queue_leave(&host->common->handshakes, &session->handshake);
    idle_order_remove(&session->idle);
    timer_stop(&session->timer);
    list_remove(&session->node);
    stream_memory_leave(&session->sink.requests->memory, &session->memory);
    end_link(&session->link);
    free(session);
    host->on_closed(host, &place);
}

static void session_close(struct session *session)
{
    session_end(session, link_close);
}

/* Throws away the answers that the client has not taken. After a FIN the kernel would keep them for
 * a client that may never read, outside of all our bounds. */
static void session_reset(struct session *session)
{
    STATS_INC(stats_of(session), client_resets_stalled);
    session_end(session, link_reset);
}

/* ---- states ---- */

static enum session_state wanted_state(const struct session *session)
{
    size_t waiting = session->sink.waiting_count;
    bool was_busy = session->state == SESSION_BUSY;
    if (session->has_ended)
        return SESSION_FINISHING;
    if (link_is_blocked(session->link) && link_unsent(session->link) > SESSION_PUSH_BYTES)
        return SESSION_FULL;
    if (waiting >= SESSION_IN_FLIGHT_MAX || (was_busy && waiting > SESSION_IN_FLIGHT_MAX / 2))
        return SESSION_BUSY;
    return SESSION_OPEN;
}

static uint64_t idle_at(const struct session *session)
{
    uint64_t timeout_us = session->idle_us;
    if (!server_may_ask(session->client.access))
        timeout_us = MIN(timeout_us, SESSION_REFUSED_US);
    return session->last_query_at + timeout_us;
}

static void begin_idle(struct session *session)
{
    session->last_query_at = loop_now(loop_of(session));
    session->idle_us = session->sink.requests->options->client_idle_timeout_us;
    idle_order_touch(&session->host->common->idle, &session->idle, session->last_query_at);
}

/* The next instant at which the timer looks at a session that takes queries. */
static uint64_t look_at(const struct session *session)
{
    if (session->last_until_at == 0)
        return idle_at(session);
    uint64_t next_at = loop_now(loop_of(session)) + SESSION_LAST_LOOK_US;
    uint64_t until_at = MAX(next_at, session->last_until_at);
    return session->has_asked ? next_at : until_at;
}

/* A session that was busy or full for longer than the idle time gets a turn for the queries that it
 * had not taken. */
static uint64_t look_after_pause_at(const struct session *session)
{
    return MAX(look_at(session), loop_now(loop_of(session)) + SESSION_ROUND_US);
}

static bool session_is_read(enum session_state state)
{
    return state == SESSION_ANNOUNCING || state == SESSION_SECURING || state == SESSION_OPEN ||
           state == SESSION_DISCARDING;
}

static bool is_draining(const struct session *session)
{
    return session->sink.requests->is_draining;
}

/* A daemon that drains does not wait long for clients that still ask after a FIN. */
static uint64_t linger_us(const struct session *session)
{
    return is_draining(session) ? SESSION_DRAIN_LINGER_US : SESSION_LINGER_US;
}

static void session_move(struct session *session, enum session_state to)
{
    struct loop *loop = loop_of(session);
    if (session_is_read(to))
        link_resume(session->link);
    else if (session_is_read(session->state))
        link_pause(session->link);
    bool has_paused = session->state == SESSION_BUSY || session->state == SESSION_FULL;
    session->state = to;
    switch (to) {
    case SESSION_ANNOUNCING:
        timer_start(loop, &session->timer, loop_now(loop) + SESSION_HEADER_US);
        break;
    case SESSION_SECURING:
        timer_start(loop, &session->timer, loop_now(loop) + SESSION_SECURE_US);
        break;
    case SESSION_OPEN:
    case SESSION_BUSY:
        timer_start(loop, &session->timer,
                    has_paused ? look_after_pause_at(session) : look_at(session));
        break;
    case SESSION_FULL:
        link_want_room(session->link);
        timer_start(loop, &session->timer, loop_now(loop) + SESSION_STALL_US);
        break;
    case SESSION_FINISHING:
        session->sink.rules.keepalive_100ms = 0; /* as set_rules() says */
        session->give_up_at = 0;
        link_refuse_more(session->link);
        timer_stop(&session->timer);
        break;
    case SESSION_DISCARDING:
        sink_orphan(&session->sink);
        session->give_up_at = loop_now(loop) + linger_us(session);
        link_finish(session->link);
        timer_start(loop, &session->timer, loop_now(loop) + SESSION_LOOK_US);
        break;
    }
    note_idle(session);
}

/* A query that comes after the close causes a reset, which may destroy the last answers. */
static bool may_send_more(const struct session *session)
{
    uint64_t quiet_at = link_last_byte_at(session->link) + SESSION_QUIET_US;
    return is_draining(session) && session->has_asked && !session->has_left &&
           loop_now(loop_of(session)) < quiet_at;
}

/* Finishing: the client takes its answers slowly or not at all. A client that takes a few bytes now
 * and then must not hold its session for hours. */
static void look_for_room(struct session *session)
{
    uint64_t now = loop_now(loop_of(session));
    if (session->give_up_at == 0)
        session->give_up_at = now + SESSION_STALL_US;
    if (now >= session->give_up_at)
        session_reset(session);
    else if (!timer_is_armed(&session->timer))
        timer_start(loop_of(session), &session->timer, now + SESSION_LOOK_US);
}

/* Finishing: closes once all answers have left. The answers of this turn leave at its end, so the
 * first look comes soon after. */
static void try_close(struct session *session)
{
    uint64_t now = loop_now(loop_of(session));
    if (!list_is_empty(&session->sink.parked)) {
        look_for_room(session);
        return;
    }
    if (session->sink.waiting_count > 0)
        return;
    bool is_first = session->give_up_at == 0;
    if (is_first)
        session->give_up_at = now + linger_us(session);
    bool is_sent = link_unsent(session->link) == 0;
    if (is_sent && !link_has_unread(session->link) && !may_send_more(session) &&
        link_is_delivered(session->link))
        session_close(session);
    else if (is_sent)
        session_move(session, SESSION_DISCARDING);
    else if (now >= session->give_up_at)
        session_reset(session);
    else if (!timer_is_armed(&session->timer))
        timer_start(loop_of(session), &session->timer,
                    now + (is_first ? SESSION_LAST_LOOK_US : SESSION_LOOK_US));
}

/* Discarding: closes once the client is quiet and has acknowledged everything. */
static void try_close_quiet(struct session *session)
{
    uint64_t now = loop_now(loop_of(session));
    uint64_t quiet_at =
        session->has_left ? now : link_last_byte_at(session->link) + SESSION_QUIET_US;
    bool is_over = now >= session->give_up_at;
    if (!is_over && now < quiet_at) {
        timer_start(loop_of(session), &session->timer, MIN(quiet_at, session->give_up_at));
        return;
    }
    if (link_is_delivered(session->link))
        session_close(session);
    else if (is_over)
        session_reset(session);
    else
        timer_start(loop_of(session), &session->timer, now + SESSION_LOOK_US);
}

static void hold_memory(struct session *session)
{
    session->held_parked = session->sink.parked_count;
    stream_memory_hold(&session->sink.requests->memory, &session->memory,
                       sizeof(*session) + session->link_bytes + sink_parked_bytes(&session->sink));
}

/* Called after every event, as the last thing done with the session. */
static void session_settle(struct session *session)
{
    if (session->state == SESSION_DISCARDING)
        return;
    if (link_unsent(session->link) > SESSION_PUSH_BYTES) /* the next answer must find room */
        link_push(session->link);
    bool has_answered = session->sink.parked_count > 0 && sink_unpark(&session->sink);
    if (has_answered)
        session->give_up_at = 0;
    if (session->sink.parked_count != session->held_parked)
        hold_memory(session);
    enum session_state wanted = wanted_state(session);
    bool is_full_again = wanted == SESSION_FULL && has_answered;
    if (wanted != session->state || is_full_again)
        session_move(session, wanted);
    else
        note_idle(session);
    if (session->state == SESSION_FINISHING)
        try_close(session);
}

/* ---- the handshake ---- */

static void count_handshake(struct stats *stats, const struct tls *tls)
{
    stats_add_at(stats, tls_facts(tls).resumed ? stat_client_tls_resumed : stat_client_tls_full, 1);
}

/* An alert is worth a log line, because a client that does not trust our certificate shows nowhere
 * else. A client that sends nothing has left, or is a port scan. */
static void log_failed_handshake(const struct addr *addr, const struct tls *tls, enum err why)
{
    char client[ADDR_TEXT_MAX];
    const char *detail = tls_detail(tls);
    addr_format(addr, client);
    if (*detail)
        LOG_LIMITED(LOG_INFO, "serve", "TLS handshake with %s failed: %s (%s)", client,
                    err_str(why), detail);
    else
        LOG(LOG_DEBUG, "serve", "TLS handshake with %s failed: %s", client, err_str(why));
}

static void note_failed_handshake(struct stats *stats, const struct addr *client,
                                  const struct tls *tls, enum err why)
{
    bool was_slow = why == ERR_TIMED_OUT;
    stats_add_at(stats, was_slow ? stat_client_tls_timeout : stat_client_tls_failed, 1);
    log_failed_handshake(client, tls, why);
}

/* A client that gets an alert also gets a FIN. A client whose time is up is reset, because it may
 * not have taken our part of the handshake. */
static void give_up_handshake(struct session *session, enum err why)
{
    note_failed_handshake(stats_of(session), &session->place.client, link_tls(session->link), why);
    if (why == ERR_TIMED_OUT && !link_is_delivered(session->link))
        session_reset(session);
    else
        session_close(session);
}

/* Closes a session that finds no room for its handshake. Its client may try again. */
static void session_turn_away(struct session *session)
{
    STATS_INC(stats_of(session), client_tls_crowded);
    LOG_LIMITED(LOG_NOTICE, "serve", "too many TLS handshakes wait: closing some connections");
    session_close(session);
}

static bool session_may_secure(void *owner)
{
    struct session *session = owner;
    struct handshake_queue *queue = &session->host->common->handshakes;
    switch (handshake_queue_ask(queue, &session->handshake, client_number(session))) {
    case HANDSHAKE_GO:
        note_idle(session);
        return true;
    case HANDSHAKE_WAIT:
        STATS_INC(stats_of(session), client_tls_waited);
        link_pause(session->link);
        note_idle(session);
        return false;
    case HANDSHAKE_FULL:
        session_turn_away(session);
        return false;
    }
    return false;
}

/* A client that has left while it waited would cost a flight of the handshake for nothing. */
static void session_on_admitted(struct handshake *handshake)
{
    struct session *session = CONTAINER_OF(handshake, struct session, handshake);
    if (link_peer_has_left(session->link))
        give_up_handshake(session, ERR_TLS_CLOSED);
    else
        link_resume(session->link);
}

static void session_on_displaced(struct handshake *handshake)
{
    session_turn_away(CONTAINER_OF(handshake, struct session, handshake));
}

void session_common_init(struct session_common *common, struct loop *loop)
{
    common->loop = loop;
    handshake_queue_init(&common->handshakes, loop, session_on_admitted, session_on_displaced);
    idle_order_init(&common->idle);
}

void session_common_deinit(struct session_common *common)
{
    handshake_queue_deinit(&common->handshakes);
}

/* ---- the header of a proxy ---- */

static void refuse_header(struct session *session, enum stat why, const char *text)
{
    char proxy[ADDR_TEXT_MAX];
    stats_add_at(stats_of(session), why, 1);
    LOG_LIMITED(LOG_NOTICE, "serve", "closing a connection of the proxy %s: its header %s",
                addr_format_ip(&session->place.client, proxy), text);
    session_close(session);
}

static void set_rules(struct session *session);

/* Moves the place to the client. Returns false when the client gets no place: then the session is
 * closed. */
static bool session_announce(struct session *session, const struct proxy_header *header)
{
    struct session_host *host = session->host;
    const struct addr client = header->is_local ? session->place.client : header->client;
    session->client = request_client_of(&session->sink, &client);
    if (!host->admit(host, &session->place, &client, session->client.access)) {
        session_close(session);
        return false;
    }
    session->place.client = client; /* with its port, for logs */
    if (!header->is_local)
        session->frontend = header->frontend;
    set_rules(session);
    return true;
}

/* A client that has a header inside TLS is secured already. */
static void after_header(struct session *session)
{
    STATS_INC(stats_of(session), proxy_accepted);
    if (is_tls(session) && session->preface == LINK_PREFACE_OUTSIDE) {
        session_move(session, SESSION_SECURING);
        return;
    }
    begin_idle(session);
    session_move(session, SESSION_OPEN);
}

static size_t session_on_preface(void *owner, struct span bytes)
{
    struct session *session = owner;
    struct proxy_header header;
    switch (proxy_header_read(&header, bytes)) {
    case PROXY_PARTIAL:
        return 0;
    case PROXY_ABSENT:
        refuse_header(session, stat_proxy_absent, "is missing");
        return 0;
    case PROXY_MALFORMED:
        refuse_header(session, stat_proxy_malformed, "is malformed");
        return 0;
    case PROXY_WHOLE:
        break;
    }
    if (proxy_header_has_signature(span_of(bytes.data + header.len, bytes.len - header.len))) {
        refuse_header(session, stat_proxy_malformed, "comes twice");
        return 0;
    }
    if (!session_announce(session, &header))
        return 0;
    after_header(session);
    return header.len;
}

/* ---- ends and deadlines ---- */

/* A session without a query yet has nothing to finish. */
static bool has_begun(const struct session *session)
{
    return session->state != SESSION_ANNOUNCING && session->state != SESSION_SECURING;
}

static void session_finish(struct session *session)
{
    session->has_ended = true;
    if (!has_begun(session))
        session_close(session);
    else
        session_settle(session);
}

/* Whether the bytes of the session wait in the kernel while the loop reads other sessions. */
static bool awaits_its_turn(const struct session *session)
{
    return link_reads(session->link) == session->reads_before_last &&
           loop_now(loop_of(session)) < session->last_until_at + SESSION_ROUND_US;
}

/* A last call ends when all bytes in the kernel are read, or when its time is up. */
static bool is_last_call_over(const struct session *session)
{
    bool has_unread = link_has_unread(session->link);
    if (session->has_asked && !has_unread)
        return true;
    return loop_now(loop_of(session)) >= session->last_until_at &&
           !(has_unread && awaits_its_turn(session));
}

static void look_at_last_call(struct session *session)
{
    if (is_last_call_over(session))
        session_finish(session);
    else
        timer_start(loop_of(session), &session->timer, look_at(session));
}

static void session_on_due(struct timer *timer)
{
    struct session *session = CONTAINER_OF(timer, struct session, timer);
    switch (session->state) {
    case SESSION_ANNOUNCING:
        refuse_header(session, stat_proxy_late, "did not come in time");
        return;
    case SESSION_SECURING:
        if (session->last_until_at != 0)
            session_close(session);
        else
            give_up_handshake(session, ERR_TIMED_OUT);
        return;
    case SESSION_OPEN:
    case SESSION_BUSY:
        if (session->last_until_at != 0)
            look_at_last_call(session);
        else if (session->state == SESSION_BUSY) /* its client waits for us */
            timer_start(loop_of(session), timer, look_after_pause_at(session));
        else if (loop_now(loop_of(session)) >= idle_at(session))
            session_finish(session);
        else /* queries came since: they do not move the timer */
            timer_start(loop_of(session), timer, idle_at(session));
        return;
    case SESSION_FULL:
        LOG(LOG_DEBUG, "serve", "resetting a client that does not take its answers");
        session_reset(session);
        return;
    case SESSION_FINISHING:
        session_settle(session);
        return;
    case SESSION_DISCARDING:
        try_close_quiet(session);
        return;
    }
}

/* ---- the sink ---- */

static uint8_t *session_reserve(struct sink *sink, size_t len)
{
    struct session *session = CONTAINER_OF(sink, struct session, sink);
    uint8_t *room = link_reserve(session->link, len);
    if (!room) /* the client will not get this answer: a FIN lets it ask again */
        session->has_ended = true;
    return room;
}

static bool session_has_room(struct sink *sink)
{
    struct session *session = CONTAINER_OF(sink, struct session, sink);
    if (link_unsent(session->link) > SESSION_PUSH_BYTES)
        link_push(session->link);
    return link_unsent(session->link) <= SESSION_PUSH_BYTES;
}

static void session_commit(struct sink *sink, size_t len, const struct udp_path *path)
{
    (void)path;
    link_commit(CONTAINER_OF(sink, struct session, sink)->link, len);
}

/* ---- the sink over HTTPS ---- */

static uint8_t *session_reserve_https(struct sink *sink, size_t len)
{
    struct session *session = CONTAINER_OF(sink, struct session, sink);
    session->reply = session_reserve(sink, len);
    return session->reply;
}

static void session_commit_https(struct sink *sink, size_t len, const struct udp_path *path)
{
    struct session *session = CONTAINER_OF(sink, struct session, sink);
    (void)path;
    link_answer(session->link, sink->exchange, len, freshness_of(span_of(session->reply, len)));
}

static void session_on_dropped_https(struct sink *sink)
{
    struct session *session = CONTAINER_OF(sink, struct session, sink);
    link_decline(session->link, sink->exchange, false);
}

/* Ends the exchange of a message that gets no answer. */
static void session_decline(struct session *session, struct span message)
{
    bool is_query = message.len >= HEADER_LEN && !(get_u16(message.data + 2) & HEADER_QR);
    link_decline(session->link, session->sink.exchange, !is_query);
}

static const struct addr *session_local(const struct sink *sink)
{
    const struct session *session = CONTAINER_OF(sink, const struct session, sink);
    return addr_family(&session->frontend) ? &session->frontend : link_local(session->link);
}

static void session_on_answered(struct sink *sink)
{
    session_settle(CONTAINER_OF(sink, struct session, sink));
}

/* ---- the link ---- */

static bool is_announced(const struct session *session)
{
    return session->place.kind != PLACE_PROXY;
}

/* The handshake of TLS is done, and the idle time begins. */
static void session_on_open(void *owner)
{
    struct session *session = owner;
    count_handshake(stats_of(session), link_tls(session->link));
    begin_idle(session);
    session_move(session, is_announced(session) ? SESSION_OPEN : SESSION_ANNOUNCING);
}

/* The first query may end the last call. */
static void note_first(struct session *session)
{
    session->has_asked = true;
    if (session->last_until_at != 0)
        timer_start(loop_of(session), &session->timer, look_at(session));
}

static void session_on_message(void *owner, struct span message)
{
    struct session *session = owner;
    if (session->state == SESSION_DISCARDING)
        return;
    static const enum stat queries[] = {[TRANSPORT_TCP] = stat_queries_tcp,
                                        [TRANSPORT_TLS] = stat_queries_tls,
                                        [TRANSPORT_HTTPS] = stat_queries_https};
    stats_add_at(stats_of(session), queries[session->host->transport], 1);
    session->sink.exchange = link_exchange(session->link);
    cache_read_begin();
    enum request_result result = request_take(&session->sink, message, session->client, NULL);
    cache_read_end();
    if (request_is_use(result))
        begin_idle(session);
    if (!session->has_asked)
        note_first(session);
    bool is_short = message.len < HEADER_LEN && !is_https(session);
    if (is_short || !server_may_ask(session->client.access))
        session->has_ended = true;
    if (result == REQUEST_DROPPED && is_https(session))
        session_decline(session, message);
    session_settle(session);
}

static void session_on_room(void *owner)
{
    session_settle(owner);
}

/* A half-closed client still gets its answers. */
static void session_on_peer_closed(void *owner)
{
    struct session *session = owner;
    session->has_left = true;
    if (session->state == SESSION_ANNOUNCING)
        refuse_header(session, stat_proxy_malformed, "is incomplete");
    else if (session->state == SESSION_DISCARDING)
        try_close_quiet(session);
    else
        session_finish(session);
}

static void session_on_failed(void *owner, enum err why)
{
    struct session *session = owner;
    if (why == ERR_HTTP)
        STATS_INC(stats_of(session), http_failed);
    if (why == ERR_HTTP_FLOOD)
        STATS_INC(stats_of(session), http_flooded);
    if (session->state == SESSION_SECURING)
        give_up_handshake(session, why);
    else if (session->state == SESSION_ANNOUNCING)
        refuse_header(session, stat_proxy_malformed, "is incomplete");
    else
        session_close(session);
}

/* Answers that the client does not take also fill the kernel's buffer. */
static void on_held(void *owner, size_t bytes)
{
    struct session *session = owner;
    session_count_refused(session);
    session->link_bytes = bytes + (link_is_blocked(session->link) ? LISTEN_SOCKET_SEND_BYTES : 0);
    hold_memory(session);
}

static const struct link_handler handler = {
    .on_open = session_on_open,
    .may_secure = session_may_secure,
    .on_preface = session_on_preface,
    .on_message = session_on_message,
    .on_room = session_on_room,
    .on_peer_closed = session_on_peer_closed,
    .on_failed = session_on_failed,
    .on_held = on_held,
};

/* ---- memory ---- */

static uint64_t progress_at(const struct stream_memory_client *client)
{
    const struct session *session = CONTAINER_OF(client, const struct session, memory);
    return MAX(session->last_query_at, link_last_write_at(session->link));
}

static void reset_for_memory(struct stream_memory_client *client)
{
    session_end(CONTAINER_OF(client, struct session, memory), link_reset);
}

/* ---- opening and ending ---- */

/* Refers to the views of the present options. */
static void session_set_views(struct session *session)
{
    const struct session_host *host = session->host;
    session->sink.views = view_choice_at(host->requests->options, &host->address);
}

/* Finds the client's view and what it may do there. */
static void session_set_client(struct session *session)
{
    session_set_views(session);
    session->client = request_client_of(&session->sink, &session->place.client);
}

/* Sets the rules of the next answer. An idle time of 0 asks the client to close (RFC 7828 section
 * 3.4). */
static void set_rules(struct session *session)
{
    const struct server_options *options = session->host->requests->options;
    bool may_stay =
        server_may_ask(session->client.access) && !session->has_ended && !session->host->is_ending;
    session->sink.rules =
        reply_rules_stream(options->max_udp_size, may_stay ? options->client_idle_timeout_us : 0);
    session->sink.rules.keepalive = !is_https(session);
    session->sink.rules.pads = is_tls(session);
    session->sink.rules.rotates = options->rotate_answers;
    session->sink.rules.nsid = options->nsid;
}

static void init_sink(struct session *session)
{
    struct sink *sink = &session->sink;
    sink_init(sink, session->host->requests);
    session_set_client(session);
    set_rules(session);
    sink->transport = session->host->transport;
    sink->local = session_local;
    sink->client = &session->place.client;
    sink->reserve = session_reserve;
    sink->has_room = session_has_room;
    sink->commit = session_commit;
    sink->on_answered = session_on_answered;
    if (!is_https(session))
        return;
    sink->reserve = session_reserve_https;
    sink->commit = session_commit_https;
    sink->on_dropped = session_on_dropped_https;
}

/* Where a connection that begins now has the header of its proxy. A reload changes it for later
 * ones only. */
static enum link_preface preface_of(const struct session *session)
{
    const struct server_options *options = session->host->requests->options;
    if (is_announced(session))
        return LINK_PREFACE_NONE;
    bool is_inside = is_tls(session) && options->proxy_tls == PROXY_INSIDE_TLS;
    return is_inside ? LINK_PREFACE_INSIDE : LINK_PREFACE_OUTSIDE;
}

static struct session *session_new(struct session_host *host, const struct client_place *place)
{
    struct session *session = calloc(1, sizeof(*session));
    if (!session)
        return NULL;
    session->host = host;
    session->place = *place;
    session->opened_at = loop_now(host->requests->loop);
    handshake_init(&session->handshake);
    idle_entry_init(&session->idle);
    timer_init(&session->timer, session_on_due);
    init_sink(session);
    session->preface = preface_of(session);
    session->memory.progress_at = progress_at;
    session->memory.reset = reset_for_memory;
    begin_idle(session);
    return session;
}

static enum session_state first_state(const struct session *session)
{
    if (session->preface == LINK_PREFACE_OUTSIDE)
        return SESSION_ANNOUNCING;
    return is_tls(session) ? SESSION_SECURING : SESSION_OPEN;
}

/* *tcp becomes NULL. */
static enum err open_link(struct session *session, struct tcp **tcp)
{
    struct link_options options = {.max_unsent_bytes = SESSION_UNSENT_MAX,
                                   .room_at_bytes = SESSION_PUSH_BYTES,
                                   .max_message_bytes = SESSION_QUERY_MAX,
                                   .preface = session->preface};
    if (is_https(session))
        options.http_path = session->host->requests->options->https_path;
    if (is_tls(session)) {
        MUST(*session->host->tls);
        options.tls = tls_server(*session->host->tls);
        if (!options.tls) {
            tcp_close(tcp);
            return ERR_NO_MEMORY;
        }
        tls_set_transport(options.tls, session->host->transport);
    }
    return link_accept(&session->link, loop_of(session), tcp, &options, &handler, session);
}

enum err session_open(struct session_host *host, struct tcp **tcp, const struct client_place *place)
{
    struct session *session = session_new(host, place);
    if (!session) {
        tcp_close(tcp);
        return ERR_NO_MEMORY;
    }
    struct stream_memory *memory = &host->requests->memory;
    stream_memory_join(memory, &session->memory); /* the link reports its memory at once */
    enum err err = open_link(session, tcp);
    if (err) {
        stream_memory_leave(memory, &session->memory);
        free(session);
        return err;
    }
    list_append(&host->sessions, &session->node);
    session_move(session, first_state(session));
    return ERR_OK;
}

void session_move_all(struct session_host *host, struct server_quota *quota)
{
    LIST_EACH(node, &host->sessions)
    {
        struct session *session = LIST_ITEM(node, struct session, node);
        server_quota_move_client(quota, host->requests->quota, &session->place);
        sink_move(&session->sink, quota);
    }
}

/* Moves the session to the place of its kind of client. False: no such place is free. */
static bool change_place(struct session *session)
{
    struct client_place to = session->place;
    to.kind = server_may_ask(session->client.access) ? PLACE_ALLOWED : PLACE_REFUSED;
    return to.kind == session->place.kind ||
           server_quota_change_client(session->host->requests->quota, &session->place, &to) ==
               QUOTA_TAKEN;
}

/* A refused client must not keep its place for the idle time of allowed clients. */
static void shorten_idle(struct session *session)
{
    bool is_idle = session->state == SESSION_OPEN || session->state == SESSION_BUSY;
    if (is_idle && !server_may_ask(session->client.access))
        timer_start(loop_of(session), &session->timer, look_at(session));
}

/* The access list and the length of client prefixes may have changed. */
static void renew_idle(struct session *session)
{
    bool was_idle = idle_entry_is_idle(&session->idle);
    if (was_idle && session->idle.client != client_number(session))
        idle_order_remove(&session->idle);
    note_idle(session);
}

static void session_renew(struct session *session)
{
    if (!is_announced(session)) { /* its header decides, by these views */
        session_set_views(session);
        return;
    }
    session_set_client(session);
    set_rules(session);
    if (session->host->is_ending)
        link_announce_end(session->link);
    bool is_refused_handshake =
        !server_may_ask(session->client.access) && session->state == SESSION_SECURING;
    if (is_refused_handshake || !change_place(session)) {
        session_finish(session);
        return;
    }
    renew_idle(session);
    shorten_idle(session);
}

void session_renew_all(struct session_host *host)
{
    LIST_EACH(node, &host->sessions)
    session_renew(LIST_ITEM(node, struct session, node));
}

/* The first query of a new client is on its way. Other clients have sent theirs. */
static uint64_t last_call_until_at(const struct session *session)
{
    uint64_t now = loop_now(loop_of(session));
    if (!session->has_asked)
        return session->opened_at + SESSION_NEW_US;
    return link_has_unread(session->link) ? now + SESSION_LAST_US : now;
}

static void last_call(struct session *session)
{
    if (session->last_until_at != 0 || session->has_ended || session->state == SESSION_DISCARDING)
        return;
    session->last_until_at = last_call_until_at(session);
    session->reads_before_last = link_reads(session->link);
    session->sink.rules.keepalive_100ms = 0; /* as set_rules() says */
    link_announce_end(session->link);
    bool takes_queries = !has_begun(session) || session->state == SESSION_OPEN;
    if (!takes_queries || loop_now(loop_of(session)) >= session->last_until_at)
        session_finish(session);
    else
        timer_start(loop_of(session), &session->timer, look_at(session));
}

void session_finish_all(struct session_host *host)
{
    LIST_EACH(node, &host->sessions)
    last_call(LIST_ITEM(node, struct session, node));
}

void session_close_all(struct session_host *host)
{
    for (struct list *node; (node = list_first(&host->sessions));)
        session_close(LIST_ITEM(node, struct session, node));
}

/* ---- room for others ---- */

static bool displace_idle(struct session_common *common, const uint64_t *client)
{
    uint64_t now = loop_now(common->loop);
    uint64_t at = now > SESSION_SPARED_US ? now - SESSION_SPARED_US : 0;
    for (int i = 0; i < SESSION_DISPLACE_TRIES; i++) {
        struct idle_entry *entry = client ? idle_order_longest_of(&common->idle, *client, at)
                                          : idle_order_longest(&common->idle, at);
        if (!entry)
            return false;
        struct session *session = CONTAINER_OF(entry, struct session, idle);
        if (session->state == SESSION_OPEN && link_has_unread(session->link)) {
            put_idle(session);
            continue;
        }
        STATS_INC(stats_of(session), clients_displaced);
        /* Bytes that its client has not taken would stay in the kernel after a FIN. */
        session_end(session, link_is_delivered(session->link) ? link_close : link_reset);
        return true;
    }
    return false;
}

bool session_displace(struct session_common *common, uint64_t client, bool is_own)
{
    if (is_own)
        return displace_idle(common, &client);
    return displace_idle(common, NULL) || handshake_queue_displace(&common->handshakes, client);
}
