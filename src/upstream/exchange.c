/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides what to ask next. Each failure of an attempt leads here, and then to another attempt or,
 * without a way and an outstanding attempt, to the end. attempt.c sends and checks one query,
 * select.c ranks the servers, way.c picks the way, and pool.c picks the connection.
 *
 * Invariants: an active or lingering exchange has an outstanding attempt, or its wall timer is due
 * at once; it makes at most EXCHANGE_ATTEMPTS_MAX attempts; exchange_start() and exchange_resume()
 * never call back.
 */

#include "upstream/exchange.h"

#include "base/check.h"
#include "base/rand.h"
#include "loop/loop.h"
#include "upstream/attempt.h"
#include "upstream/pool.h"
#include "upstream/probe.h"
#include "upstream/select.h"
#include "upstream/upstream.h"
#include "upstream/upstreams.h"
#include "upstream/way.h"

static void exchange_on_wall(struct timer *timer);
static const struct attempt_handler attempt_handler;

void exchange_init(struct exchange *exchange, struct upstreams *upstreams,
                   const struct exchange_handler *handler, void *owner)
{
    *exchange = (struct exchange){.upstreams = upstreams, .handler = handler, .owner = owner};
    list_init(&exchange->attempts);
    timer_init(&exchange->wall, exchange_on_wall);
}

static struct upstream_env *env_of(const struct exchange *exchange)
{
    return upstreams_env(exchange->upstreams);
}

static struct exchange *exchange_of(const struct attempt *attempt)
{
    return attempt->owner;
}

static uint64_t age_us(const struct exchange *exchange)
{
    return loop_now(env_of(exchange)->loop) - exchange->began_at;
}

/* ---- given-up groups ---- */

/* Fewer lost queries of an exchange prove nothing. */
enum { GIVEN_UP_QUERIES = 3 };

/* Whether every server is given up or lacks a route, and at least one is given up. */
static bool are_all_given_up(struct upstream *const *group, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (upstream_is_given_up(group[i]))
            any = true;
        else if (!upstream_lacks_route(group[i]))
            return false;
    }
    return any;
}

/* An exchange failed without any answer. */
static void note_given_up(struct upstream *const *group, size_t count, const uint8_t *tried,
                          unsigned queries)
{
    if (queries < GIVEN_UP_QUERIES)
        return;
    for (size_t i = 0; i < count; i++)
        if (tried[i])
            upstream_give_up(group[i]);
}

/* ---- one attempt ---- */

static bool may_attempt(const struct exchange *exchange)
{
    const uint8_t *left = exchange->asked.attempts_left;
    const struct list *wanted_by = exchange->asked.wanted_by;
    if (wanted_by && list_is_empty(wanted_by) && exchange->silent)
        return false;
    if (exchange->asked.useless_max && exchange->useless_count >= exchange->asked.useless_max)
        return false;
    return exchange->attempts_made < exchange->attempts_max &&
           exchange->silent < EXCHANGE_SILENT_MAX && (!left || *left > 0);
}

static void count_attempt(struct exchange *exchange, int by)
{
    uint8_t *left = exchange->asked.attempts_left;
    exchange->attempts_made = (uint8_t)(exchange->attempts_made + by);
    if (left)
        *left = (uint8_t)(*left - by);
}

/* No copy of the question was sent yet, so no bound counts it. */
static bool is_watching(const struct attempt *attempt)
{
    return attempt->role == ATTEMPT_WATCH && !attempt->sent_at;
}

/* Queries to this server on a stream or waiting for one. Probes do not count: a stream in doubt is
 * probably dead. */
static unsigned count_by_stream(const struct exchange *exchange, unsigned index)
{
    unsigned count = 0;
    LIST_EACH(node, &exchange->attempts)
    {
        const struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        count += attempt->index == index && attempt->over_stream &&
                 attempt->role != ATTEMPT_PROBE && !is_watching(attempt);
    }
    return count;
}

static bool is_hopeless(const struct exchange *exchange, unsigned index)
{
    return (exchange->useless | exchange->shut) >> index & 1 ||
           upstream_is_ill(exchange->group[index]);
}

/* More copies of a question do not help a slow server. A second copy helps only if the server lost
 * the first one and no other server is left. */
static unsigned stream_limit(const struct exchange *exchange, unsigned index)
{
    for (unsigned i = 0; i < exchange->group_len; i++)
        if (i != index && !is_hopeless(exchange, i))
            return 1;
    return EXCHANGE_LIVE_MAX;
}

static bool may_use_stream(const struct exchange *exchange, unsigned index, enum way way)
{
    bool must = way == WAY_STREAM || way == WAY_OWN;
    return list_is_empty(&exchange->attempts) ||
           count_by_stream(exchange, index) <
               (must ? EXCHANGE_LIVE_MAX : stream_limit(exchange, index));
}

/* Nothing may replace its streams: no datagram and no plain text. */
static bool has_only_streams(const struct upstream *upstream)
{
    return upstream_prefers_stream(upstream) && !upstream_falls_back_to_udp(upstream) &&
           !upstream->plain;
}

/* An only server, reachable only over streams, has the query and never answered one before. It may
 * need seconds for each, and a copy would double its work. A server that was fast before gets a
 * copy on another connection, because this connection may be stuck. */
static bool is_new_and_slow(const struct exchange *exchange, const struct attempt *attempt)
{
    const struct upstream *upstream = attempt->upstream;
    return exchange->group_len == 1 && attempt->state == ATTEMPT_SLOW &&
           !upstream->stream.srtt_us && has_only_streams(upstream);
}

enum promise {
    PROMISE_FRESH,  /* not overdue: an overdue attempt is unlikely to bring an answer */
    PROMISE_PROMPT, /* not even late, or its lateness calls for no copy */
};

static bool has_attempt(const struct exchange *exchange, enum promise promise)
{
    LIST_EACH(node, &exchange->attempts)
    {
        const struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        bool is_late = promise == PROMISE_PROMPT && attempt_state_is_silent(attempt->state) &&
                       !is_new_and_slow(exchange, attempt);
        if (!attempt_state_is_overdue(attempt->state) && !is_late && !is_watching(attempt))
            return true;
    }
    return false;
}

/* An answer may still come: over a stream at any time, over UDP until the datagram is overdue. */
static bool may_be_answered(const struct attempt *attempt)
{
    return attempt->over_stream || !attempt_state_is_overdue(attempt->state);
}

static bool has_hope(const struct exchange *exchange)
{
    LIST_EACH(node, &exchange->attempts)
    if (may_be_answered(LIST_ITEM(node, struct attempt, node)))
        return true;
    return false;
}

/* A question that only watches for a return fails as early as one that waits for a return. */
static void shorten_watches(struct exchange *exchange)
{
    LIST_EACH(node, &exchange->attempts)
    {
        const struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        if (!is_watching(attempt) && may_be_answered(attempt))
            return;
    }
    LIST_EACH(node, &exchange->attempts)
    {
        struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        if (is_watching(attempt))
            attempt_shorten_wait(attempt, exchange->began_at + EXCHANGE_PATIENCE_US);
    }
}

/* Whether another server was not asked yet and may well answer. */
static bool has_untried(const struct exchange *exchange, unsigned index)
{
    for (unsigned i = 0; i < exchange->group_len; i++)
        if (i != index && !exchange->tried[i] && !is_hopeless(exchange, i))
            return true;
    return false;
}

/* The last copy leaves 250 ms of the wall time for its answer. The copy before it waits for 2 s. */
#define LAST_COPIES_US (2250 * US_PER_MS)

/* The fourth copy waits until the last two end with the wall time. */
static uint64_t until_last_copies_us(const struct exchange *exchange)
{
    uint64_t now = loop_now(env_of(exchange)->loop);
    uint64_t left_us = exchange->ends_at - MIN(now, exchange->ends_at);
    return left_us > LAST_COPIES_US ? left_us - LAST_COPIES_US : 0;
}

/* The shortest wait of this query before the next one is due. The first copies replace lost packets
 * and follow quickly. Later ones look for a server that comes back, so they spread over the wall
 * time. A query to a new server comes sooner. */
static uint64_t patience_us(const struct exchange *exchange, unsigned index)
{
    bool may_ask_another = has_untried(exchange, index);
    switch (exchange->silent) {
    case 3:
        return may_ask_another ? 0 : 600 * US_PER_MS;
    case 4:
        return may_ask_another ? 0 : MAX(1200 * US_PER_MS, until_last_copies_us(exchange));
    case 5:
        return may_ask_another ? 1300 * US_PER_MS : 2000 * US_PER_MS;
    default:
        return 0;
    }
}

static struct attempt *new_attempt(struct exchange *exchange, unsigned index)
{
    if (!may_attempt(exchange))
        return NULL;
    struct attempt *attempt = attempt_new(env_of(exchange), exchange->group[index],
                                          &exchange->asked, &attempt_handler, exchange);
    if (!attempt)
        return NULL;
    attempt->index = (uint16_t)index;
    attempt->nth = exchange->tried[index];
    attempt->without_edns = exchange->without_edns >> index & 1;
    attempt->is_only = exchange->group_len == 1;
    count_attempt(exchange, 1);
    exchange->silent++;
    attempt->patience_us = patience_us(exchange, index);
    list_append(&exchange->attempts, &attempt->node);
    return attempt;
}

/* A restarting server may accept connections and close them for a while. Time bounds the attempts
 * there instead of their number: each takes a dial, and the pool paces dials after useless
 * connections. If the server answers on other connections, this question may be what ends them. */
static bool is_bound_by_time(const struct exchange *exchange, const struct attempt *attempt)
{
    return attempt->over_stream && !exchange->asked.attempts_left &&
           upstream_is_expected(attempt->upstream) && age_us(exchange) < EXCHANGE_PATIENCE_US;
}

/* Frees an attempt that was not sent. A missing route costs almost nothing and does not count. */
static void drop_unsent(struct exchange *exchange, struct attempt *attempt)
{
    exchange->silent--;
    if (attempt->lacked_route || is_bound_by_time(exchange, attempt))
        count_attempt(exchange, -1);
    attempt_free(attempt);
}

/* Sends a probe on a silent connection in addition to the query. If the probe stays unanswered, the
 * connection is dead. */
static void probe_silent_conn(struct exchange *exchange, unsigned index)
{
    struct conn *conn = pool_take_suspect(&exchange->group[index]->pool);
    struct attempt *attempt = conn ? new_attempt(exchange, index) : NULL;
    if (!attempt)
        return;
    attempt->role = ATTEMPT_PROBE;
    if (attempt_send_stream(attempt, conn))
        return;
    exchange->silent--;
    attempt_free(attempt);
}

static bool exchange_ask(struct exchange *exchange, unsigned index, enum way way,
                         const struct conn *avoid)
{
    if (way != WAY_OWN && exchange->cookie_rejected >> index & 1)
        way = WAY_STREAM;
    if (!may_use_stream(exchange, index, way)) {
        if (way == WAY_STREAM || way == WAY_OWN)
            return true; /* a query is already on that way */
        way = WAY_DATAGRAM;
    }
    struct attempt *attempt = new_attempt(exchange, index);
    if (!attempt)
        return false;
    if (exchange->tried[index] < UINT8_MAX)
        exchange->tried[index]++;
    if (way == WAY_ANY && count_by_stream(exchange, index) == 0)
        probe_silent_conn(exchange, index);
    if (way_send(attempt, way, avoid, &exchange->failure.full))
        return true;
    drop_unsent(exchange, attempt);
    return false;
}

/* ---- the next server ---- */

/* Its streams carry the most copies of this question, and there is no other way. */
static bool exchange_is_used_up(const struct exchange *exchange, unsigned index)
{
    return has_only_streams(exchange->group[index]) && !may_use_stream(exchange, index, WAY_ANY);
}

static bool is_bad(const struct exchange *exchange, unsigned index)
{
    return (exchange->useless | exchange->shut) >> index & 1 ||
           (exchange->one_round && exchange->tried[index]) || exchange_is_used_up(exchange, index);
}

static int exchange_choose(const struct exchange *exchange)
{
    struct select_facts facts[EXCHANGE_GROUP_MAX];

    if (exchange->group_len == 1)
        return is_bad(exchange, 0) ? -1 : 0;
    for (unsigned i = 0; i < exchange->group_len; i++) {
        facts[i] = upstream_facts(exchange->group[i]);
        facts[i].tried = exchange->tried[i];
        facts[i].strips = facts[i].strips && exchange->asked.needs_signatures;
        facts[i].doubtful = exchange->asked.doubtful >> i & 1;
        facts[i].bad = is_bad(exchange, i);
        facts[i].second = exchange->asked.prefer_family &&
                          addr_family(&exchange->group[i]->addr) != exchange->asked.prefer_family;
    }
    return select_next(facts, exchange->group_len, rand_u64());
}

/* No way is left: the exchange ends at the end of the turn, never inside a call of the owner. */
static void end_if_idle(struct exchange *exchange)
{
    shorten_watches(exchange);
    if ((!exchange->active && !exchange->lingering) || has_hope(exchange))
        return;
    exchange->ends_at = loop_now(env_of(exchange)->loop);
    timer_start(env_of(exchange)->loop, &exchange->wall, exchange->ends_at);
}

/* An error of TLS says more than a failed connection. */
static void note_network(struct exchange *exchange, unsigned index, const char *loss)
{
    const struct upstream *upstream = exchange->group[index];
    enum err error = upstream->pool.last_error;
    bool has_route = upstream->no_route_until_at <= loop_now(upstream->env->loop);

    exchange->failure.any_network = true;
    exchange->failure.loss = has_route ? loss : "this machine has no route to them";
    if (exchange->failure.error == ERR_OK || error >= ERR_TLS_NOT_SPOKEN)
        exchange->failure.error = error;
}

/* No server is left, but one that answered recently may restart. The question waits for it, because
 * an immediate failure would not be better. */
static void wait_for_return(struct exchange *exchange)
{
    if (has_hope(exchange) || exchange->one_round || age_us(exchange) >= EXCHANGE_PATIENCE_US)
        return;
    for (unsigned i = 0; i < exchange->group_len; i++) {
        if (exchange->useless >> i & 1 || !upstream_is_expected(exchange->group[i]))
            continue;
        struct attempt *attempt = new_attempt(exchange, i);
        if (!attempt)
            return;
        exchange->shut &= ~(UINT64_C(1) << i);
        if (!attempt_wait_return(attempt, exchange->began_at + EXCHANGE_PATIENCE_US))
            drop_unsent(exchange, attempt);
    }
}

/* A datagram is late at a server that answered before. If it restarts, its streams tell when it
 * is back, and the question goes there at once. */
static void watch_for_return(struct exchange *exchange, unsigned index)
{
    LIST_EACH(node, &exchange->attempts)
    if (LIST_ITEM(node, struct attempt, node)->over_stream)
        return;
    if (exchange->one_round || !upstream_is_expected(exchange->group[index]))
        return;
    struct attempt *attempt = new_attempt(exchange, index);
    if (!attempt)
        return;
    attempt->role = ATTEMPT_WATCH;
    exchange->silent--;
    count_attempt(exchange, -1);
    if (!attempt_wait_return(attempt, exchange->ends_at))
        attempt_free(attempt);
}

static bool is_too_large(const struct exchange *exchange)
{
    return __builtin_popcountll(exchange->truncated) >= EXCHANGE_TRUNCATED_MAX;
}

/* An exchange that prefers a stream does not wait for another dial after a failed one. */
static enum way wished_way(const struct exchange *exchange, const struct upstream *upstream,
                           enum way way)
{
    if (way == WAY_ANY && is_too_large(exchange))
        way = WAY_STREAM;
    return way == WAY_STREAM && upstream->pool.backoff.failures > 0 ? WAY_ANY : way;
}

/* Asks the next upstream, and skips upstreams to which no query can be sent. */
static void advance(struct exchange *exchange, enum way way, const struct conn *avoid)
{
    for (unsigned i = 0; i < exchange->group_len; i++) {
        int index = exchange_choose(exchange);
        if (index < 0 || !may_attempt(exchange))
            break;
        if (exchange_ask(exchange, (unsigned)index,
                         wished_way(exchange, exchange->group[index], way), avoid))
            return;
        note_network(exchange, (unsigned)index, NULL);
        if (way == WAY_ELSEWHERE) /* a hedge tries once, and the attempt continues */
            break;
        exchange->shut |= UINT64_C(1) << index;
    }
    wait_for_return(exchange);
    end_if_idle(exchange);
}

/* Probes one ill server with a copy of the question. */
static void probe_ill(struct exchange *exchange)
{
    uint64_t now = loop_now(env_of(exchange)->loop);
    for (unsigned i = 0; i < exchange->group_len; i++) {
        struct upstream *upstream = exchange->group[i];
        if (exchange->tried[i] || !upstream_take_probe(upstream, now, rand_u64()))
            continue;
        probe_start(upstream, &exchange->asked);
        exchange
            ->silent++; /* it is a copy of the question, but the exchange does not wait for it */
        return;
    }
}

/* Asks each server once, within the bounds. */
static void exchange_ask_all(struct exchange *exchange)
{
    for (unsigned i = 0; i < exchange->group_len && exchange_choose(exchange) >= 0; i++)
        advance(exchange, WAY_ANY, NULL);
}

static void exchange_begin(struct exchange *exchange)
{
    if (exchange->one_round) {
        exchange_ask_all(exchange);
        return;
    }
    advance(exchange, exchange->asked.prefers_stream ? WAY_STREAM : WAY_ANY, NULL);
    if (exchange->group_len > 1)
        probe_ill(exchange);
}

/* Only a lingering exchange has attempts when it begins. */
static uint8_t count_outstanding(const struct exchange *exchange)
{
    uint8_t count = 0;
    LIST_EACH(node, &exchange->attempts)
    count++;
    return count;
}

/* The lower bound of the question's, 0 for none, and ours. */
static uint64_t exchange_bound(uint64_t wished, uint64_t most)
{
    return wished ? MIN(wished, most) : most;
}

static void begin_asking(struct exchange *exchange)
{
    const struct exchange_question *question = &exchange->asked;

    exchange->active = true;
    exchange->lingering = false;
    exchange->stopped = NULL;
    exchange->attempts_made = 0;
    exchange->silent = count_outstanding(exchange);
    exchange->useless_count = 0;
    exchange->useless = exchange->shut = exchange->truncated = 0;
    exchange->failure = (struct exchange_failure){0};
    for (unsigned i = 0; i < exchange->group_len; i++)
        exchange->tried[i] = 0;
    exchange->one_round =
        question->accepts_one_round && are_all_given_up(exchange->group, exchange->group_len);
    uint64_t most_us = exchange->one_round ? EXCHANGE_ROUND_US : EXCHANGE_WALL_US;
    exchange->began_at = loop_now(env_of(exchange)->loop);
    exchange->ends_at = exchange->began_at + exchange_bound(question->wall_us, most_us);
    timer_start(env_of(exchange)->loop, &exchange->wall,
                MIN(exchange->ends_at, exchange->began_at + EXCHANGE_STREAMS_US));
    exchange_begin(exchange);
}

void exchange_start(struct exchange *exchange, const struct exchange_question *question,
                    struct upstream *const *group, size_t group_len)
{
    MUST(!exchange->active && !exchange->lingering && group_len > 0);
    exchange->asked = *question;
    exchange->group = group;
    exchange->group_len = (uint16_t)MIN(group_len, (size_t)EXCHANGE_GROUP_MAX);
    exchange->attempts_max = (uint8_t)exchange_bound(question->attempts_max, EXCHANGE_ATTEMPTS_MAX);
    exchange->without_edns = exchange->cookie_rejected = 0;
    begin_asking(exchange);
}

void exchange_resume(struct exchange *exchange)
{
    MUST(exchange->lingering);
    begin_asking(exchange);
}

/* The exchange replaces silent queries by itself from the first reader on. */
static bool has_one_reader(const struct exchange *exchange)
{
    const struct list *readers = exchange->asked.wanted_by;
    return readers && !list_is_empty(readers) && list_first(readers)->next == readers;
}

void exchange_nudge(struct exchange *exchange)
{
    if (exchange->active && has_one_reader(exchange) && !has_attempt(exchange, PROMISE_PROMPT))
        advance(exchange, WAY_ANY, NULL);
}

void exchange_stop(struct exchange *exchange)
{
    if (exchange->stopped)
        *exchange->stopped = true;
    exchange->stopped = NULL;
    exchange->active = exchange->lingering = false;
    timer_stop(&exchange->wall);
    for (struct list *node; (node = list_first(&exchange->attempts));)
        attempt_free(LIST_ITEM(node, struct attempt, node));
}

/* Whether the query is on a live stream: its answer is useful even after the client has given
 * up. */
static bool is_worth_waiting(const struct attempt *attempt)
{
    return attempt->sent_on && attempt->role != ATTEMPT_PROBE;
}

/* The exchange failed. If its owner lingers, it keeps the attempts that may still bring an answer.
 */
static void linger_or_stop(struct exchange *exchange)
{
    struct list kept;
    list_init(&kept);
    for (struct list *node; (node = list_take_first(&exchange->attempts));) {
        struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        if (exchange->handler->lingers && is_worth_waiting(attempt))
            list_append(&kept, node);
        else
            attempt_free(attempt);
    }
    exchange_stop(exchange);
    for (struct list *node; (node = list_take_first(&kept));)
        list_append(&exchange->attempts, node);
    exchange->lingering = !list_is_empty(&exchange->attempts);
}

static bool is_asked_by_datagram(const struct exchange *exchange)
{
    LIST_EACH(node, &exchange->attempts)
    if (!LIST_ITEM(node, struct attempt, node)->over_stream)
        return true;
    return false;
}

static void ask_beside_streams(struct exchange *exchange)
{
    timer_start(env_of(exchange)->loop, &exchange->wall, exchange->ends_at);
    int index = exchange_choose(exchange);
    if (index < 0 || is_asked_by_datagram(exchange) || has_only_streams(exchange->group[index]))
        return;
    if (exchange_ask(exchange, (unsigned)index, WAY_DATAGRAM, NULL))
        STATS_INC(env_of(exchange)->stats, upstream_retries_timeout);
}

/* Whether the bound of useless answers kept servers from being asked. Doubtful ones would hardly
 * have helped. */
static bool has_left_some(const struct exchange *exchange)
{
    if (!exchange->asked.useless_max || exchange->useless_count < exchange->asked.useless_max)
        return false;
    for (unsigned i = 0; i < exchange->group_len; i++)
        if (!exchange->tried[i] && !is_bad(exchange, i) && !(exchange->asked.doubtful >> i & 1))
            return true;
    return false;
}

static void exchange_on_wall(struct timer *timer)
{
    struct exchange *exchange = CONTAINER_OF(timer, struct exchange, wall);
    struct exchange_failure failure = exchange->failure;
    if (loop_now(env_of(exchange)->loop) < exchange->ends_at) {
        ask_beside_streams(exchange);
        return;
    }
    if (exchange->lingering) {
        exchange_stop(exchange);
        exchange->handler->on_quiet(exchange->owner);
        return;
    }
    failure.is_late = has_hope(exchange);
    failure.any_network |= failure.is_late;
    failure.left_some = has_left_some(exchange);
    /* A single round proves nothing new. Without this rule, a popular zone would never get a full
     * exchange again.
     */
    if (exchange->asked.accepts_one_round && !exchange->one_round && !failure.any_answer)
        note_given_up(exchange->group, exchange->group_len, exchange->tried,
                      exchange->attempts_made);
    linger_or_stop(exchange);
    exchange->handler->on_failed(exchange->owner, &failure);
}

/* ---- events of attempts ---- */

static bool is_nailed(const struct attempt *attempt)
{
    return attempt->over_stream && attempt->upstream->options.nailed;
}

static void report_loss(const struct attempt *attempt, const char *why)
{
    const struct exchange *exchange = attempt->owner;
    if (!exchange->handler->on_lost)
        return;
    struct exchange_loss loss = {
        .source = {attempt->upstream->addr, attempt_transport(attempt)},
        .nailed = is_nailed(attempt),
        .after_us = attempt->sent_at ? loop_now(attempt->env->loop) - attempt->sent_at : 0,
        .why = why,
    };
    exchange->handler->on_lost(exchange->owner, &loss);
}

static void exchange_on_answer(struct attempt *attempt, const struct message *message,
                               uint64_t rtt_us)
{
    struct exchange *exchange = exchange_of(attempt);
    struct exchange_answer answer = {
        .message = message,
        .upstream = attempt->upstream,
        .over_stream = attempt->over_stream,
        .is_proven = attempt->over_stream || attempt->has_our_cookie,
        .is_large =
            exchange->truncated >> attempt->index & 1 || attempt_is_too_large(attempt, message),
        .nailed = is_nailed(attempt),
        .source = {attempt->upstream->addr, attempt_transport(attempt)},
        .rtt_us = rtt_us,
    };
    unsigned index = attempt->index;
    bool stopped = false;

    if (attempt->role != ATTEMPT_WATCH)
        exchange->silent--;
    attempt_free(attempt);
    exchange->stopped = &stopped;
    enum exchange_verdict verdict = exchange->handler->on_answer(exchange->owner, &answer);
    if (stopped)
        return;
    exchange->stopped = NULL;
    if (verdict == EXCHANGE_TAKEN) {
        exchange_stop(exchange);
        return;
    }
    exchange->failure.any_answer = true;
    exchange->failure.rcode = message_rcode(message);
    exchange->useless |= UINT64_C(1) << index;
    exchange->useless_count++;
    if (!exchange->active) {
        end_if_idle(exchange);
        return;
    }
    STATS_INC(env_of(exchange)->stats, upstream_retries_badanswer);
    advance(exchange, WAY_ANY, NULL);
}

static void count_retry(const struct exchange *exchange, enum attempt_failure why)
{
    static const enum stat reasons[] = {
        [ATTEMPT_TIMED_OUT] = stat_upstream_retries_timeout,
        [ATTEMPT_REFUSED] = stat_upstream_retries_refused,
        [ATTEMPT_CLOSED] = stat_upstream_retries_closed,
        [ATTEMPT_TRUNCATED] = stat_upstream_retries_truncated,
        [ATTEMPT_UNTRUSTED] = stat_upstream_retries_badanswer,
        [ATTEMPT_NO_EDNS] = stat_upstream_retries_badanswer,
        [ATTEMPT_COOKIE] = stat_upstream_retries_badanswer,
        [ATTEMPT_MALFORMED] = stat_upstream_retries_badanswer,
    };
    stats_add_at(env_of(exchange)->stats, reasons[why], 1);
}

static const char *exchange_failure_word(enum attempt_failure why)
{
    static const char *const words[] = {
        [ATTEMPT_TIMED_OUT] = "timeout",
        [ATTEMPT_REFUSED] = "refused or no route",
        [ATTEMPT_CLOSED] = "connection closed",
        [ATTEMPT_TRUNCATED] = "truncated, asking over a stream",
        [ATTEMPT_UNTRUSTED] = "may be forged, asking over a stream",
        [ATTEMPT_NO_EDNS] = "no EDNS, asking without",
        [ATTEMPT_COOKIE] = "asks for its cookie",
        [ATTEMPT_MALFORMED] = "malformed",
    };
    return words[why];
}

/* For clients. NULL: the network had no part in it. */
static const char *exchange_loss_text(enum attempt_failure why)
{
    if (why == ATTEMPT_TIMED_OUT)
        return "they are silent";
    if (why == ATTEMPT_REFUSED)
        return "port closed or no route";
    return why == ATTEMPT_CLOSED ? "connection closed" : NULL;
}

/* A stream that is not silent carries the question to this server. */
static bool is_asked_by_stream(const struct exchange *exchange, unsigned index)
{
    LIST_EACH(node, &exchange->attempts)
    {
        const struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        if (attempt->index == index && attempt->over_stream &&
            !attempt_state_is_silent(attempt->state) && attempt->role != ATTEMPT_PROBE &&
            !is_watching(attempt))
            return true;
    }
    return false;
}

/* Asks the same server again by another way if the failure calls for it. */
static bool ask_again(struct exchange *exchange, unsigned index, enum attempt_failure why,
                      bool diverted)
{
    switch (why) {
    case ATTEMPT_TRUNCATED:
    case ATTEMPT_UNTRUSTED:
        return is_asked_by_stream(exchange, index) ||
               exchange_ask(exchange, index, WAY_STREAM, NULL);
    case ATTEMPT_NO_EDNS:
        exchange->without_edns |= UINT64_C(1) << index;
        if (exchange->asked.needs_signatures && has_untried(exchange, index) &&
            exchange->attempts_made + 1 < exchange->attempts_max)
            return false; /* without EDNS, no signature comes */
        return exchange_ask(exchange, index, WAY_ANY, NULL);
    case ATTEMPT_COOKIE: /* RFC 7873 section 5.3: one more try, then another server or TCP */
        if (exchange->tried[index] < 2)
            return exchange_ask(exchange, index, WAY_ANY, NULL);
        exchange->cookie_rejected |= UINT64_C(1) << index;
        return !has_untried(exchange, index) && exchange_ask(exchange, index, WAY_STREAM, NULL);
    case ATTEMPT_REFUSED: /* the diverted query was refused: the stream is the last way */
        return diverted && upstream_prefers_stream(exchange->group[index]) &&
               exchange_choose(exchange) < 0 && exchange_ask(exchange, index, WAY_OWN, NULL);
    default:
        return false;
    }
}

/* A query into a dead stream does not count as the server's query of a round. */
static void forgive_stream(struct exchange *exchange, unsigned index)
{
    if (exchange->one_round)
        exchange->tried[index] = 0;
}

/* A reply came, and probably from the server. */
static bool is_heard(enum attempt_failure why)
{
    return why != ATTEMPT_TIMED_OUT && why != ATTEMPT_UNTRUSTED;
}

static void exchange_on_failed(struct attempt *attempt, enum attempt_failure why)
{
    struct exchange *exchange = exchange_of(attempt);
    unsigned index = attempt->index;
    bool replaced = attempt->state >= ATTEMPT_SILENT || attempt->role == ATTEMPT_PROBE;
    bool diverted = !attempt->over_stream || attempt->upstream != exchange->group[index];
    bool is_refused = why == ATTEMPT_REFUSED && !attempt->lacked_route;

    if (is_watching(attempt)) {
        attempt_free(attempt);
        end_if_idle(exchange);
        return;
    }
    if (exchange->active)
        report_loss(attempt, exchange_failure_word(why));
    if (attempt->role != ATTEMPT_WATCH && (!attempt->sent_at || is_heard(why)))
        exchange->silent--;
    if (why == ATTEMPT_CLOSED && attempt->state != ATTEMPT_WAITING && !replaced)
        forgive_stream(exchange, index);
    if (why == ATTEMPT_CLOSED && attempt->upstream->pool.useless > 0 &&
        attempt->role != ATTEMPT_WATCH && is_bound_by_time(exchange, attempt))
        count_attempt(exchange, -1);
    attempt_free(attempt);
    if (!exchange->active) { /* the exchange lingers, or stops and fails its other attempts */
        end_if_idle(exchange);
        return;
    }
    if (why <= ATTEMPT_CLOSED)
        note_network(exchange, index, exchange_loss_text(why));
    exchange->failure.any_answer |= why > ATTEMPT_CLOSED;
    if (why == ATTEMPT_MALFORMED)
        exchange->useless_count++;
    if (why == ATTEMPT_TRUNCATED)
        exchange->truncated |= UINT64_C(1) << index;
    if ((is_refused && diverted) || why == ATTEMPT_MALFORMED)
        exchange->useless |= UINT64_C(1) << index;
    /* A hedge replaces it, unless the server said something. */
    if (replaced && why <= ATTEMPT_CLOSED && has_attempt(exchange, PROMISE_FRESH))
        return;
    count_retry(exchange, why);
    if (!ask_again(exchange, index, why, diverted))
        advance(exchange, WAY_ANY, NULL);
}

static void exchange_on_slow(struct attempt *attempt)
{
    struct exchange *exchange = exchange_of(attempt);
    struct conn *silent = attempt->sent_on;

    report_loss(attempt, attempt_state_text(attempt));
    if (silent) {
        STATS_INC(env_of(exchange)->stats, upstream_retries_silent);
        pool_note_silent(&attempt->upstream->pool, silent);
        forgive_stream(exchange, attempt->index);
    } else {
        STATS_INC(env_of(exchange)->stats, upstream_retries_timeout);
    }
    if (!exchange->active || attempt->role == ATTEMPT_PROBE || is_new_and_slow(exchange, attempt))
        return;
    advance(exchange, WAY_ELSEWHERE, silent);
    if (!attempt->over_stream)
        watch_for_return(exchange, attempt->index);
}

/* Only the latest overdue datagram keeps its port: each open port helps an attacker guess. */
static void drop_overdue_datagram(struct exchange *exchange, const struct attempt *latest)
{
    LIST_EACH(node, &exchange->attempts)
    {
        struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        if (attempt == latest || !attempt_state_is_overdue(attempt->state) || attempt->over_stream)
            continue;
        attempt_free(attempt); /* each overdue datagram comes here, so there is only one */
        return;
    }
}

/* The answer still counts, but another way is tried now. */
static void exchange_on_overdue(struct attempt *attempt)
{
    struct exchange *exchange = exchange_of(attempt);
    struct conn *silent = attempt_state_is_silent(attempt->state) ? attempt->sent_on : NULL;

    if (!exchange->active)
        return;
    report_loss(attempt, attempt_state_text(attempt));
    note_network(exchange, attempt->index, exchange_loss_text(ATTEMPT_TIMED_OUT));
    if (!attempt->over_stream)
        drop_overdue_datagram(exchange, attempt);
    if (attempt->role == ATTEMPT_PROBE || has_attempt(exchange, PROMISE_FRESH))
        return;
    count_retry(exchange, ATTEMPT_TIMED_OUT);
    advance(exchange, silent ? WAY_ELSEWHERE : WAY_ANY, silent);
}

static const struct attempt_handler attempt_handler = {
    .on_answer = exchange_on_answer,
    .on_failed = exchange_on_failed,
    .on_slow = exchange_on_slow,
    .on_overdue = exchange_on_overdue,
};

bool exchange_note_signatures(struct upstream *const *group, size_t count,
                              const struct addr *server, const struct exchange_signatures *about)
{
    for (size_t i = 0; i < count; i++) {
        if (!addr_equal(&group[i]->addr, server))
            continue;
        if (about->are_missing)
            return upstream_lost_signatures(group[i], about->zone_hash, about->is_certain);
        upstream_kept_signatures(group[i]);
        return false;
    }
    return false;
}

void exchange_doubt_no_edns(struct upstream *const *group, size_t count)
{
    for (size_t i = 0; i < count; i++)
        upstream_doubt_no_edns(group[i]);
}
