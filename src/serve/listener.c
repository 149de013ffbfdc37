/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The sockets of one address and their clients: a serve_udp answers datagrams, a serve_stream
 * decides who gets a session, and the listener is both. net owns the batches of a socket, request.c
 * the queries, and session.c the sessions.
 *
 * Invariants: a datagram that no reply could reach, or that a server sent, is ignored. Queries of a
 * batch are answered before its end; the whole batch is one read section of the cache. Each session
 * holds one place of the quota, from serve_stream_on_accept() to serve_stream_on_closed(); the
 * place of an allowed client only while the access list allows its client.
 */
#include "serve/listener.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/stats.h"
#include "cache/cache.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/acceptor.h"
#include "net/listen_socket.h"
#include "net/tcp.h"
#include "net/udp_server.h"
#include "serve/listen_sockets.h"
#include "serve/overload.h"
#include "serve/proxy_header.h"
#include "serve/request.h"
#include "serve/server_quota.h"
#include "serve/session.h"

/* ---- datagrams ---- */

enum { LOOKUPS_MAX = 32 }; /* as many as one read brings */

_Static_assert((int)OVERLOAD_BUSY_MAX <= (int)UDP_THINNED_MAX, "the kernel thins each busy client");
_Static_assert((int)OVERLOAD_SHARE_WHOLE == (int)UDP_THINNED_WHOLE, "shares have one unit");

struct serve_udp_proxied {
    struct udp_path path;
    struct udp_detour detour;
};

struct serve_udp {
    struct sink sink;
    struct addr address; /* as in server.listen */
    struct udp_server *socket;
    bool in_batch;
    bool is_shared;        /* other processes have the socket too */
    bool is_heard;         /* false: the address ends, and datagrams may be unread */
    bool has_ended;        /* the socket was left, or the address ends */
    unsigned lookup_count; /* datagrams that are read and not answered */
    struct request_lookup lookups[LOOKUPS_MAX];
    /* The paths of datagrams that a proxy brought, as long as their lookups; NULL: no datagram of a
     * proxy has come. */
    struct serve_udp_proxied *proxied;
    uint64_t dropped; /* replies that the kernel did not take, as counted so far */
    struct overload overload;
    struct udp_server_queue queue;  /* of unread datagrams, as last seen */
    uint64_t looked_at;             /* when the queue was last looked at */
    unsigned share_changes;         /* the overload's count when the socket last followed it */
    struct timer quiet;             /* while the kernel drops datagrams */
    bool has_proxies;               /* so the kernel thins no datagrams */
    void (*on_idle)(void *context); /* NULL: not draining and not ending */
    void *context;
};

static uint8_t *serve_udp_reserve(struct sink *sink, size_t len)
{
    struct serve_udp *serve = CONTAINER_OF(sink, struct serve_udp, sink);
    MUST(len <= UDP_REPLY_MAX);
    return udp_server_reserve(serve->socket);
}

static void serve_udp_commit(struct sink *sink, size_t len, const struct udp_path *path)
{
    struct serve_udp *serve = CONTAINER_OF(sink, struct serve_udp, sink);
    udp_server_commit(serve->socket, len, path);
}

static const struct addr *serve_udp_local(const struct sink *sink)
{
    return udp_server_local(CONTAINER_OF(sink, const struct serve_udp, sink)->socket);
}

static bool serve_udp_is_idle(const struct serve_udp *serve)
{
    return serve->sink.waiting_count == 0 && serve->is_heard;
}

static void serve_udp_tell_if_idle(struct serve_udp *serve)
{
    if (serve->on_idle && serve_udp_is_idle(serve))
        serve->on_idle(serve->context);
}

static void serve_udp_on_answered(struct sink *sink)
{
    serve_udp_tell_if_idle(CONTAINER_OF(sink, struct serve_udp, sink));
}

/* ---- overload ---- */

static void serve_udp_log_overload(void)
{
    LOG_LIMITED(LOG_WARNING, "serve",
                "more queries come over UDP than can be served: the "
                "busiest clients lose some");
}

/* Tells the kernel which clients' datagrams to thin. */
static void serve_udp_thin(struct serve_udp *serve)
{
    const struct requests *requests = serve->sink.requests;
    struct udp_thinned thinned[OVERLOAD_BUSY_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < OVERLOAD_BUSY_MAX; i++) {
        const struct overload_busy *busy = &serve->overload.busy[i];
        if (!overload_is_thinned(busy))
            continue;
        uint8_t bits = server_quota_prefix_bits(requests->quota, &busy->addr);
        thinned[count++] = (struct udp_thinned){busy->addr, bits, busy->share};
    }
    serve->share_changes = serve->overload.share_changes;
    bool has_thinned = udp_server_thin(serve->socket, thinned, count);
    if (count == 0)
        timer_stop(&serve->quiet);
    else if (has_thinned)
        timer_start(requests->loop, &serve->quiet, loop_now(requests->loop) + OVERLOAD_QUIET_US);
    else
        overload_forbid_shares(&serve->overload);
}

static void serve_udp_on_quiet_due(struct timer *timer)
{
    struct serve_udp *serve = CONTAINER_OF(timer, struct serve_udp, quiet);
    struct loop *loop = serve->sink.requests->loop;
    overload_note_quiet(&serve->overload, loop_now(loop));
    if (serve->share_changes != serve->overload.share_changes)
        serve_udp_thin(serve);
    else
        timer_start(loop, timer, loop_now(loop) + OVERLOAD_QUIET_US);
}

/* Looks at the kernel's queue once in a window. Datagrams that the kernel drops count too. */
static void look_at_queue(struct serve_udp *serve, uint64_t now)
{
    uint32_t lost = serve->queue.lost;
    if (now - serve->looked_at < OVERLOAD_WINDOW_US)
        return;
    serve->looked_at = now;
    serve->queue = udp_server_look(serve->socket);
    STATS_ADD(serve->sink.requests->stats, dropped_overload, (uint32_t)(serve->queue.lost - lost));
}

static void note_read(struct serve_udp *serve)
{
    enum overload_state before = serve->overload.state;
    struct overload_queue queue = {.age_us = udp_server_age_us(serve->socket)};
    if (queue.age_us <= OVERLOAD_FULL_US && !overload_is_on(&serve->overload)) /* nearly always */
        return;
    uint64_t now = loop_now(serve->sink.requests->loop);
    look_at_queue(serve, now);
    queue.lost = serve->queue.lost;
    queue.is_half_full = serve->queue.is_half_full;
    overload_note_read(&serve->overload, now, &queue);
    if (before != OVERLOAD_SHEDDING && serve->overload.state == OVERLOAD_SHEDDING)
        serve_udp_log_overload();
    if (serve->share_changes != serve->overload.share_changes)
        serve_udp_thin(serve);
}

/* ---- batches ---- */

static void on_batch_begin(void *owner)
{
    struct serve_udp *serve = owner;
    uint64_t dropped = udp_server_dropped(serve->socket);
    if (dropped != serve->dropped)
        STATS_ADD(serve->sink.requests->stats, dropped_full, dropped - serve->dropped);
    serve->dropped = dropped;
    serve->in_batch = true;
    note_read(serve);
    cache_read_begin();
}

static void answer_lookups(struct serve_udp *serve)
{
    unsigned count = serve->lookup_count;
    serve->lookup_count = 0;
    for (unsigned i = 0; i < count; i++)
        request_prefetch(&serve->sink, &serve->lookups[i]);
    for (unsigned i = 0; i < count; i++)
        request_answer(&serve->sink, &serve->lookups[i]);
}

static void on_batch_end(void *owner)
{
    struct serve_udp *serve = owner;
    answer_lookups(serve);
    cache_read_end();
    serve->in_batch = false;
}

/* Reads only the client's address, because a dropped datagram must cost next to nothing. */
static bool is_shed(struct serve_udp *serve, const struct udp_path *path)
{
    const struct requests *requests = serve->sink.requests;
    uint64_t client = server_quota_client(requests->quota, &path->peer);
    if (!overload_drops(&serve->overload, client, &path->peer))
        return false;
    STATS_INC(requests->stats, dropped_overload);
    return true;
}

/* ---- datagrams of proxies ---- */

static void serve_udp_refuse_proxy(struct requests *requests, const struct addr *proxy,
                                   enum proxy_verdict why)
{
    char text[ADDR_TEXT_MAX];
    bool is_absent = why == PROXY_ABSENT;
    stats_add_at(requests->stats, is_absent ? stat_proxy_absent : stat_proxy_malformed, 1);
    LOG_LIMITED(LOG_NOTICE, "serve", "dropping a datagram of the proxy %s: its PROXY header is %s",
                addr_format_ip(proxy, text), is_absent ? "missing" : "malformed");
}

/* The path of the query that waits for its look-up next, by way of this proxy. NULL: out of memory.
 */
static const struct udp_path *serve_udp_detour(struct serve_udp *serve, const struct udp_path *path,
                                               const struct proxy_header *header)
{
    if (!serve->proxied)
        serve->proxied = calloc(LOOKUPS_MAX, sizeof(*serve->proxied));
    if (!serve->proxied)
        return NULL;
    struct serve_udp_proxied *proxied = &serve->proxied[serve->lookup_count];
    proxied->detour = (struct udp_detour){.proxy = path->peer, .frontend = header->frontend};
    proxied->path = *path;
    proxied->path.peer = header->client;
    proxied->path.detour = &proxied->detour;
    return &proxied->path;
}

/* Whether a query from this port is forged: no host can be at port 0, and at the others are
 * services that answer each datagram. Their text looks like another query to us, and our error like
 * one to them: echo, daytime, quote of the day, character generator, time. */
static inline bool is_no_client_port(in_port_t port)
{
    static const uint64_t ports = UINT64_C(1) << 0 | UINT64_C(1) << 7 | UINT64_C(1) << 13 |
                                  UINT64_C(1) << 17 | UINT64_C(1) << 19 | UINT64_C(1) << 37;
    return port < 64 && ports >> port & 1;
}

static inline void serve_udp_take(struct serve_udp *serve, struct span datagram,
                                  const struct udp_path *path)
{
    struct requests *requests = serve->sink.requests;
    if (is_no_client_port(addr_port(&path->peer))) {
        STATS_INC(requests->stats, dropped_malformed);
        return;
    }
    if (overload_is_on(&serve->overload) && is_shed(serve, path))
        return;
    request_read(&serve->sink, &serve->lookups[serve->lookup_count++], datagram,
                 request_client_of(&serve->sink, &path->peer), path);
    if (serve->lookup_count == LOOKUPS_MAX)
        answer_lookups(serve);
}

/* The configuration has proxies: takes the header off a datagram of one. Out of line, because other
 * configurations must not pay for it. */
static __attribute__((noinline)) void
serve_udp_unwrap(struct serve_udp *serve, struct span datagram, const struct udp_path *path)
{
    struct requests *requests = serve->sink.requests;
    struct proxy_header header;
    if (prefix_set_find(requests->options->proxies, &path->peer) < 0) {
        serve_udp_take(serve, datagram, path);
        return;
    }
    enum proxy_verdict verdict = proxy_header_read(&header, datagram);
    if (verdict != PROXY_WHOLE) {
        serve_udp_refuse_proxy(requests, &path->peer, verdict);
        return;
    }
    STATS_INC(requests->stats, proxy_accepted);
    if (!header.is_local)
        path = serve_udp_detour(serve, path, &header);
    if (path)
        serve_udp_take(serve, span_of(datagram.data + header.len, datagram.len - header.len), path);
}

static void serve_udp_on_datagram(void *owner, struct span datagram, const struct udp_path *path)
{
    struct serve_udp *serve = owner;
    struct requests *requests = serve->sink.requests;
    STATS_INC(requests->stats, queries_udp);
    if (requests->options->proxies)
        serve_udp_unwrap(serve, datagram, path);
    else
        serve_udp_take(serve, datagram, path);
}

static const struct udp_server_handler datagram_handler = {
    .on_batch_begin = on_batch_begin,
    .on_datagram = serve_udp_on_datagram,
    .on_batch_end = on_batch_end,
};

/* The kernel sees only the addresses of proxies, so it cannot thin the datagrams of their clients.
 */
static void serve_udp_stop_thinning(struct serve_udp *serve)
{
    overload_forbid_shares(&serve->overload);
    timer_stop(&serve->quiet);
    if (serve->socket)
        (void)udp_server_thin(serve->socket, NULL, 0);
}

static void serve_udp_renew(struct serve_udp *serve)
{
    const struct server_options *options = serve->sink.requests->options;
    serve->sink.rules = reply_rules_udp(options->max_udp_size);
    serve->sink.rules.rotates = options->rotate_answers;
    serve->sink.rules.nsid = options->nsid;
    serve->sink.views = view_choice_at(options, &serve->address);
    if (options->proxies)
        serve_udp_stop_thinning(serve);
    else if (serve->has_proxies)
        overload_allow_shares(&serve->overload);
    serve->has_proxies = options->proxies;
}

static enum err serve_udp_open(struct serve_udp **out, struct requests *requests,
                               struct listen_socket *socket)
{
    struct serve_udp *serve = calloc(1, sizeof(*serve));
    if (!serve)
        return ERR_NO_MEMORY;
    sink_init(&serve->sink, requests);
    overload_init(&serve->overload);
    serve->address = socket->local;
    timer_init(&serve->quiet, serve_udp_on_quiet_due);
    serve_udp_renew(serve);
    serve->is_shared = socket->is_shared;
    serve->is_heard = true;
    serve->sink.reserve = serve_udp_reserve;
    serve->sink.commit = serve_udp_commit;
    serve->sink.local = serve_udp_local;
    serve->sink.on_answered = serve_udp_on_answered;
    enum err err =
        udp_server_open(&serve->socket, requests->loop, socket, &datagram_handler, serve);
    if (err) {
        free(serve);
        return err;
    }
    serve->queue = udp_server_look(serve->socket);
    *out = serve;
    return ERR_OK;
}

static void serve_udp_close(struct serve_udp **serve)
{
    struct serve_udp *closing = *serve;
    *serve = NULL;
    MUST(!closing->in_batch);
    timer_stop(&closing->quiet);
    sink_abandon(&closing->sink);
    udp_server_close(&closing->socket);
    free(closing->proxied);
    free(closing);
}

static void serve_udp_drain(struct serve_udp *serve, void (*on_idle)(void *context), void *context)
{
    serve->on_idle = on_idle;
    serve->context = context;
    if (!serve->is_shared || serve->has_ended)
        return;
    serve->has_ended = true;
    udp_server_leave(serve->socket);
}

static void serve_udp_on_quiet(void *owner)
{
    struct serve_udp *serve = owner;
    serve->is_heard = true;
    serve_udp_tell_if_idle(serve);
}

static void serve_udp_end(struct serve_udp *serve, void (*on_idle)(void *context), void *context)
{
    serve->on_idle = on_idle;
    serve->context = context;
    if (serve->has_ended)
        return;
    serve->has_ended = true;
    serve->is_heard = false;
    udp_server_end(serve->socket, serve_udp_on_quiet);
}

/* ---- connections ---- */

struct serve_stream {
    struct session_host host;
    struct acceptor *acceptor; /* NULL: left, or ended */
    bool is_shared;            /* other processes have the socket too */
    size_t sessions;
    struct timer end; /* of the sessions after the end of the address */
    void (*on_idle)(void *context);
    void *context;
};

static bool serve_stream_is_idle(const struct serve_stream *serve)
{
    return serve->sessions == 0 && (!serve->host.is_ending || !serve->acceptor);
}

static void serve_stream_tell_if_idle(struct serve_stream *serve)
{
    if (serve->on_idle && serve_stream_is_idle(serve))
        serve->on_idle(serve->context);
}

static void serve_stream_on_closed(struct session_host *host, const struct client_place *place)
{
    struct serve_stream *serve = CONTAINER_OF(host, struct serve_stream, host);
    server_quota_give_client(host->requests->quota, place);
    STATS_DEC(host->requests->stats, stream_clients);
    serve->sessions--;
    serve_stream_tell_if_idle(serve);
}

/* Begins a session of a client that holds this place of the quota. */
static void begin_session(struct serve_stream *serve, struct tcp *tcp,
                          const struct client_place *place)
{
    struct requests *requests = serve->host.requests;
    serve->sessions++;
    STATS_INC(requests->stats, stream_clients);
    if (session_open(&serve->host, &tcp, place) == ERR_OK)
        return;
    STATS_INC(requests->stats, clients_refused_full);
    serve_stream_on_closed(&serve->host, place);
}

static void serve_stream_turn_away(struct requests *requests, enum server_quota_result why)
{
    if (why == QUOTA_NO_FILES) {
        STATS_INC(requests->stats, clients_refused_files);
        LOG_SHARED(LOG_NOTICE, "serve", "refusing a connection: no more files for clients");
    } else {
        STATS_INC(requests->stats, clients_refused_full);
        LOG_SHARED(LOG_NOTICE, "serve", "refusing a connection: too many clients");
    }
}

/* A new client found no place. A session of this worker makes room: a session of the same client if
 * that has too many, else any session. While the server drains, each session has its last call
 * instead. */
static bool serve_stream_makes_room(struct serve_stream *serve, const struct addr *addr,
                                    enum server_quota_result why)
{
    struct requests *requests = serve->host.requests;
    if (requests->is_draining)
        return false;
    uint64_t client = server_quota_client(requests->quota, addr);
    return session_displace(serve->host.common, client, why == QUOTA_CLIENT_FULL);
}

static enum server_quota_result serve_stream_take_place(struct serve_stream *serve,
                                                        const struct client_place *place)
{
    struct server_quota *quota = serve->host.requests->quota;
    enum server_quota_result result = server_quota_take_client(quota, place);
    if (result == QUOTA_TAKEN || !serve_stream_makes_room(serve, &place->client, result))
        return result;
    return server_quota_take_client(quota, place);
}

static void accept_allowed(struct serve_stream *serve, struct tcp *tcp)
{
    struct requests *requests = serve->host.requests;
    struct client_place place = {*tcp_peer(tcp), PLACE_ALLOWED};
    enum server_quota_result result = serve_stream_take_place(serve, &place);
    if (result == QUOTA_TAKEN) {
        begin_session(serve, tcp, &place);
        return;
    }
    serve_stream_turn_away(requests, result);
    tcp_close(&tcp);
}

/* REFUSED needs an answer, so refused clients get a few sessions. Over TLS they get none: a
 * handshake would cost more than the answer is worth. */
static void accept_refused(struct serve_stream *serve, struct tcp *tcp, enum server_access access)
{
    struct requests *requests = serve->host.requests;
    struct client_place place = {*tcp_peer(tcp), PLACE_REFUSED};
    bool gets_answer = access == SERVER_REFUSE && !serve->host.tls;
    if (gets_answer && server_quota_take_client(requests->quota, &place) == QUOTA_TAKEN) {
        begin_session(serve, tcp, &place);
        return;
    }
    STATS_INC(requests->stats, clients_refused_acl);
    tcp_close(&tcp);
}

/* ---- connections of proxies ---- */

/* Their header names the client, and serve_stream_admit() judges it. */
static void accept_proxy(struct serve_stream *serve, struct tcp *tcp)
{
    struct requests *requests = serve->host.requests;
    struct client_place place = {*tcp_peer(tcp), PLACE_PROXY};
    enum server_quota_result result = server_quota_take_client(requests->quota, &place);
    if (result == QUOTA_TAKEN) {
        begin_session(serve, tcp, &place);
        return;
    }
    serve_stream_turn_away(requests, result);
    tcp_close(&tcp);
}

static enum server_quota_result serve_stream_change_place(struct serve_stream *serve,
                                                          struct client_place *place,
                                                          const struct client_place *to)
{
    struct server_quota *quota = serve->host.requests->quota;
    enum server_quota_result result = server_quota_change_client(quota, place, to);
    if (result == QUOTA_TAKEN || !serve_stream_makes_room(serve, &to->client, result))
        return result;
    return server_quota_change_client(quota, place, to);
}

/* Judges a client as serve_stream_on_accept() does. */
static bool serve_stream_admit(struct session_host *host, struct client_place *place,
                               const struct addr *client, enum server_access access)
{
    struct serve_stream *serve = CONTAINER_OF(host, struct serve_stream, host);
    struct requests *requests = host->requests;
    struct client_place to = {*client, server_may_ask(access) ? PLACE_ALLOWED : PLACE_REFUSED};
    if (to.kind == PLACE_ALLOWED) {
        enum server_quota_result result = serve_stream_change_place(serve, place, &to);
        if (result != QUOTA_TAKEN)
            serve_stream_turn_away(requests, result);
        return result == QUOTA_TAKEN;
    }
    bool gets_answer = access == SERVER_REFUSE && !host->tls;
    if (gets_answer && server_quota_change_client(requests->quota, place, &to) == QUOTA_TAKEN)
        return true;
    STATS_INC(requests->stats, clients_refused_acl);
    return false;
}

static bool is_of_proxy(const struct server_options *options, const struct addr *peer)
{
    return options->proxies && prefix_set_find(options->proxies, peer) >= 0;
}

static void serve_stream_on_accept(void *owner, struct tcp *tcp)
{
    struct serve_stream *serve = owner;
    if (is_of_proxy(serve->host.requests->options, tcp_peer(tcp))) {
        accept_proxy(serve, tcp);
        return;
    }
    const struct server_options *options = serve->host.requests->options;
    const struct prefix_set *views = view_choice_at(options, &serve->host.address);
    unsigned view = view_choice_find(views, tcp_peer(tcp));
    enum server_access access = view_choice_access(options, view, tcp_peer(tcp));
    if (server_may_ask(access))
        accept_allowed(serve, tcp);
    else
        accept_refused(serve, tcp, access);
}

static void serve_stream_on_end_due(struct timer *timer);

static enum err serve_stream_open(struct serve_stream **out, struct requests *requests,
                                  struct session_common *common, struct listen_socket *socket,
                                  enum transport transport, struct tls_context *const *tls)
{
    struct serve_stream *serve = calloc(1, sizeof(*serve));
    if (!serve)
        return ERR_NO_MEMORY;
    serve->host.requests = requests;
    serve->host.common = common;
    serve->host.transport = transport;
    serve->host.tls = transport_is_secure(transport) ? tls : NULL;
    serve->host.admit = serve_stream_admit;
    serve->host.address = socket->local;
    serve->host.on_closed = serve_stream_on_closed;
    list_init(&serve->host.sessions);
    serve->is_shared = socket->is_shared;
    timer_init(&serve->end, serve_stream_on_end_due);
    enum err err =
        acceptor_open(&serve->acceptor, requests->loop, socket, serve_stream_on_accept, serve);
    if (err) {
        free(serve);
        return err;
    }
    *out = serve;
    return ERR_OK;
}

static void serve_stream_close(struct serve_stream **serve)
{
    struct serve_stream *closing = *serve;
    *serve = NULL;
    closing->on_idle = NULL;
    timer_stop(&closing->end);
    if (closing->acceptor)
        acceptor_close(&closing->acceptor);
    session_close_all(&closing->host);
    free(closing);
}

static void serve_stream_drain(struct serve_stream *serve, void (*on_idle)(void *context),
                               void *context)
{
    serve->on_idle = on_idle;
    serve->context = context;
    serve->host.is_ending = true;
    timer_stop(&serve->end);
    if (serve->acceptor && serve->is_shared)
        acceptor_close(&serve->acceptor);
    session_finish_all(&serve->host);
}

static void serve_stream_stop(struct serve_stream *serve)
{
    if (serve->acceptor)
        acceptor_finish(&serve->acceptor);
    session_finish_all(&serve->host);
}

/* ---- the end of an address ---- */

static void on_acceptor_ended(void *owner)
{
    struct serve_stream *serve = owner;
    acceptor_close(&serve->acceptor);
    serve_stream_tell_if_idle(serve);
}

/* Ends the sessions whose clients do not follow RFC 7828 or have got no answer since, and the
 * acceptor if there were no files to accept with all that time. */
static void serve_stream_on_end_due(struct timer *timer)
{
    struct serve_stream *serve = CONTAINER_OF(timer, struct serve_stream, end);
    if (serve->acceptor)
        acceptor_close(&serve->acceptor);
    session_finish_all(&serve->host);
    serve_stream_tell_if_idle(serve);
}

static void serve_stream_end(struct serve_stream *serve, void (*on_idle)(void *context),
                             void *context)
{
    struct loop *loop = serve->host.requests->loop;
    serve->on_idle = on_idle;
    serve->context = context;
    serve->host.is_ending = true;
    session_renew_all(&serve->host);
    acceptor_end(serve->acceptor, on_acceptor_ended);
    timer_start(loop, &serve->end, loop_now(loop) + LISTENER_END_US);
}

/* ---- both ---- */

static enum err open_sides(struct listener *listener, struct requests *requests,
                           struct session_common *common, struct listen_slot *slot,
                           struct tls_context *const *tls)
{
    bool has_udp = slot->udp.fd >= 0;
    enum err err = has_udp ? serve_udp_open(&listener->udp, requests, &slot->udp) : ERR_OK;
    if (err)
        return err;
    return serve_stream_open(&listener->stream, requests, common, &slot->stream, slot->transport,
                             tls);
}

enum err listener_open(struct listener **out, struct requests *requests,
                       struct session_common *common, struct listen_slot *slot,
                       struct tls_context *const *tls)
{
    struct listener *listener = calloc(1, sizeof(*listener));
    enum err err = listener ? open_sides(listener, requests, common, slot, tls) : ERR_NO_MEMORY;
    if (listener)
        list_init(&listener->node);
    *out = listener;
    if (!err)
        return ERR_OK;
    listener_close(out);
    listen_socket_close(&slot->udp);
    listen_socket_close(&slot->stream);
    return err;
}

void listener_close(struct listener **listener)
{
    struct listener *closing = *listener;
    *listener = NULL;
    if (!closing)
        return;
    list_remove(&closing->node);
    if (closing->udp)
        serve_udp_close(&closing->udp);
    if (closing->stream)
        serve_stream_close(&closing->stream);
    free(closing);
}

void listener_move(struct listener *listener, struct server_quota *quota)
{
    if (listener->udp)
        sink_move(&listener->udp->sink, quota);
    session_move_all(&listener->stream->host, quota);
}

void listener_renew(struct listener *listener)
{
    if (listener->udp)
        serve_udp_renew(listener->udp);
    session_renew_all(&listener->stream->host);
}

bool listener_is_idle(const struct listener *listener)
{
    if (listener->udp && !serve_udp_is_idle(listener->udp))
        return false;
    return serve_stream_is_idle(listener->stream);
}

void listener_drain(struct listener *listener, void (*on_idle)(void *context), void *context)
{
    if (listener->udp)
        serve_udp_drain(listener->udp, on_idle, context);
    serve_stream_drain(listener->stream, on_idle, context);
}

void listener_stop(struct listener *listener, void (*on_idle)(void *context), void *context)
{
    if (listener->udp)
        serve_udp_end(listener->udp, on_idle, context);
    serve_stream_stop(listener->stream);
}

void listener_end(struct listener *listener, void (*on_idle)(void *context), void *context)
{
    if (listener->udp)
        serve_udp_end(listener->udp, on_idle, context);
    serve_stream_end(listener->stream, on_idle, context);
}
