/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * What is asked of whom next. Each failure of an attempt leads here and either to a further attempt
 * or, when no way is left and nothing is outstanding, to the end. Sending and checking one query is
 * attempt.c's; which server is best, select.c's; by which way, way.c's;
 * which connection, pool.c's.
 *
 * Invariants: an active exchange has an attempt outstanding or its wall timer is due at once; so
 * has one that lingers; at most EXCHANGE_ATTEMPTS_MAX attempts are made; nothing is called back
 * from exchange_start() and exchange_resume().
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

/* ---- groups that are given up ---- */

/* So many queries at least were in vain in an exchange that proves something: one lost does not. */
enum { GIVEN_UP_QUERIES = 3 };

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

/* Queries at this server that are registered on a stream, or wait for one. Probes of a stream in
 * doubt do not count: it is hardly live. */
static unsigned count_by_stream(const struct exchange *exchange, unsigned index)
{
    unsigned count = 0;
    LIST_EACH(node, &exchange->attempts)
    {
        const struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        count += attempt->index == index && attempt->over_stream && !attempt->is_probe;
    }
    return count;
}

static bool is_hopeless(const struct exchange *exchange, unsigned index)
{
    return (exchange->useless | exchange->shut) >> index & 1 ||
           upstream_is_ill(exchange->group[index]);
}

/* A slow server gains nothing from more copies of a question. A second one helps only where it
 * forgot the first and no other server is left. */
static unsigned most_by_stream(const struct exchange *exchange, unsigned index)
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
               (must ? EXCHANGE_LIVE_MAX : most_by_stream(exchange, index));
}

/* An overdue attempt is unlikely to bring an answer. */
static bool has_fresh_attempt(const struct exchange *exchange)
{
    LIST_EACH(node, &exchange->attempts)
    if (!attempt_state_is_overdue(LIST_ITEM(node, struct attempt, node)->state))
        return true;
    return false;
}

/* An answer may still come: over a stream at any time, over UDP only while the datagram is not
 * overdue. */
static bool has_hope(const struct exchange *exchange)
{
    LIST_EACH(node, &exchange->attempts)
    {
        const struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        if (attempt->over_stream || !attempt_state_is_overdue(attempt->state))
            return true;
    }
    return false;
}

/* How long this query waits at least before a further one is due. The first copies replace lost
 * packets and come quickly. The others find a server that comes back, so they spread over the wall.
 * A server that was not asked yet comes sooner. */
static uint64_t patience_us(const struct exchange *exchange, unsigned index)
{
    static const uint64_t again[EXCHANGE_SILENT_MAX + 1] = {
        [3] = 600 * US_PER_MS, [4] = 1200 * US_PER_MS, [5] = 2000 * US_PER_MS};
    static const uint64_t another[EXCHANGE_SILENT_MAX + 1] = {[5] = 1300 * US_PER_MS};

    if (exchange->silent < 3)
        return 0;
    for (unsigned i = 0; i < exchange->group_len; i++)
        if (i != index && !exchange->tried[i] && !is_hopeless(exchange, i))
            return another[exchange->silent];
    return again[exchange->silent];
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

/* A server that restarts may accept connections and end them for a while. Time bounds the attempts
 * there, not their number: each takes a dial, and the pool paces dials that follow useless
 * connections. On others the server answers, and the question may be what ends them. */
static bool is_bound_by_time(const struct exchange *exchange, const struct attempt *attempt)
{
    return attempt->over_stream && !exchange->asked.attempts_left &&
           upstream_is_expected(attempt->upstream) && age_us(exchange) < EXCHANGE_PATIENCE_US;
}

/* It was not sent. Where that is for lack of a route it cost next to nothing, and is not counted.
 */
static void unmake(struct exchange *exchange, struct attempt *attempt)
{
    exchange->silent--;
    if (attempt->lacked_route || is_bound_by_time(exchange, attempt))
        count_attempt(exchange, -1);
    attempt_free(attempt);
}

/* A connection that has fallen silent is asked too, beside the way taken: if that stays unanswered
 * as well, the connection is dead. */
static void probe_silent_conn(struct exchange *exchange, unsigned index)
{
    struct conn *conn = pool_take_suspect(&exchange->group[index]->pool);
    struct attempt *attempt = conn ? new_attempt(exchange, index) : NULL;
    if (!attempt)
        return;
    attempt->is_probe = true;
    if (attempt_send_stream(attempt, conn))
        return;
    exchange->silent--;
    attempt_free(attempt);
}

static bool exchange_ask(struct exchange *exchange, unsigned index, enum way way,
                         const struct conn *avoid)
{
    if (!may_use_stream(exchange, index, way)) {
        if (way == WAY_STREAM || way == WAY_OWN)
            return true; /* it is being asked that way */
        way = WAY_DATAGRAM;
    }
    struct attempt *attempt = new_attempt(exchange, index);
    if (!attempt)
        return false;
    exchange->tried[index] += exchange->tried[index] < UINT8_MAX;
    if (way == WAY_ANY && count_by_stream(exchange, index) == 0)
        probe_silent_conn(exchange, index);
    if (way_send(attempt, way, avoid, &exchange->failure.full))
        return true;
    unmake(exchange, attempt);
    return false;
}

/* ---- the next one ---- */

/* No datagram and no plain text may take the place of its streams. */
static bool has_only_streams(const struct upstream *upstream)
{
    return upstream_prefers_stream(upstream) && !upstream_falls_back_to_udp(upstream) &&
           !upstream->plain;
}

/* Its streams carry this question as often as they may, and there is no other way. */
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
        facts[i].doubtful = exchange->asked.doubtful >> i & 1;
        facts[i].bad = is_bad(exchange, i);
        facts[i].second = exchange->asked.prefer_family &&
                          addr_family(&exchange->group[i]->addr) != exchange->asked.prefer_family;
    }
    return select_next(facts, exchange->group_len, rand_u64());
}

/* No way is left: said at the end of the turn, never from inside a call of the owner's. */
static void end_if_idle(struct exchange *exchange)
{
    if ((!exchange->active && !exchange->lingering) || has_hope(exchange))
        return;
    exchange->ends_at = loop_now(env_of(exchange)->loop);
    timer_start(env_of(exchange)->loop, &exchange->wall, exchange->ends_at);
}

/* What TLS found wrong says more than that a connection could not be had. */
static void note_network(struct exchange *exchange, unsigned index)
{
    enum err error = exchange->group[index]->pool.last_error;

    exchange->failure.any_network = true;
    if (exchange->failure.error == ERR_OK || error >= ERR_TLS_NOT_SPOKEN)
        exchange->failure.error = error;
}

/* No server is left to ask, but one that answered lately restarts or is redialled. The question
 * waits for it, because an immediate failure would be no better. */
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
            unmake(exchange, attempt);
    }
}

/* Asks the next upstream; those that cannot even be sent to are passed over. */
static void advance(struct exchange *exchange, enum way way, const struct conn *avoid)
{
    for (unsigned i = 0; i < exchange->group_len; i++) {
        int index = exchange_choose(exchange);
        if (index < 0 || !may_attempt(exchange))
            break;
        if (exchange_ask(exchange, (unsigned)index, way, avoid))
            return;
        note_network(exchange, (unsigned)index);
        if (way == WAY_ELSEWHERE) /* a hedge tries once; the real attempt goes on */
            break;
        exchange->shut |= UINT64_C(1) << index;
    }
    wait_for_return(exchange);
    end_if_idle(exchange);
}

/* One of those that were silent lately is asked beside the others. */
static void probe_ill(struct exchange *exchange)
{
    uint64_t now = loop_now(env_of(exchange)->loop);
    for (unsigned i = 0; i < exchange->group_len; i++) {
        struct upstream *upstream = exchange->group[i];
        if (exchange->tried[i] || !upstream_take_probe(upstream, now, rand_u64()))
            continue;
        probe_start(upstream, &exchange->asked);
        exchange->silent++; /* one more copy of the question; this exchange does not wait for it */
        return;
    }
}

/* Each once, as far as the bounds allow. */
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
    advance(exchange, WAY_ANY, NULL);
    if (exchange->group_len > 1)
        probe_ill(exchange);
}

/* Only an exchange that lingers has any when it begins, and no more than it ended with. */
static uint8_t count_outstanding(const struct exchange *exchange)
{
    uint8_t count = 0;
    LIST_EACH(node, &exchange->attempts)
    count++;
    return count;
}

/* Of a bound of the question's, 0 for none, and ours. */
static uint64_t exchange_bound(uint64_t wished, uint64_t most)
{
    return wished ? MIN(wished, most) : most;
}

/* The question and the group are known. */
static void begin_asking(struct exchange *exchange)
{
    const struct exchange_question *question = &exchange->asked;

    exchange->active = true;
    exchange->lingering = false;
    exchange->stopped = NULL;
    exchange->attempts_made = 0;
    exchange->silent = count_outstanding(exchange);
    exchange->useless = exchange->shut = 0;
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
    exchange->without_edns = 0;
    begin_asking(exchange);
}

void exchange_resume(struct exchange *exchange)
{
    MUST(exchange->lingering);
    begin_asking(exchange);
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

/* A query on a live stream, whose answer is worth having even after the client has given up. */
static bool is_worth_waiting(const struct attempt *attempt)
{
    return attempt->sent_on && !attempt->is_probe;
}

/* The exchange failed. It keeps attempts that may still bring an answer if its owner lingers. */
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
    /* A round proves nothing new: else a zone asked often would never be asked in full again. */
    if (exchange->asked.accepts_one_round && !exchange->one_round && !failure.any_answer)
        note_given_up(exchange->group, exchange->group_len, exchange->tried,
                      exchange->attempts_made);
    linger_or_stop(exchange);
    exchange->handler->on_failed(exchange->owner, &failure);
}

/* ---- what attempts tell ---- */

/* Over one of the connections that are kept to it. */
static bool is_nailed(const struct attempt *attempt)
{
    return attempt->over_stream && attempt->upstream->options.nailed;
}

static void tell_loss(const struct attempt *attempt, const char *why)
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
        .nailed = is_nailed(attempt),
        .source = {attempt->upstream->addr, attempt_transport(attempt)},
        .rtt_us = rtt_us,
    };
    unsigned index = attempt->index;
    bool stopped = false;

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
        [ATTEMPT_REFUSED] = "refused, or no route",
        [ATTEMPT_CLOSED] = "connection closed",
        [ATTEMPT_TRUNCATED] = "truncated, asks over a stream",
        [ATTEMPT_UNTRUSTED] = "may be forged, asks over a stream",
        [ATTEMPT_NO_EDNS] = "no EDNS, asks without",
        [ATTEMPT_COOKIE] = "wants its cookie",
        [ATTEMPT_MALFORMED] = "malformed",
    };
    return words[why];
}

/* With a prospect: not on a connection that is silent. */
static bool is_asked_by_stream(const struct exchange *exchange, unsigned index)
{
    LIST_EACH(node, &exchange->attempts)
    {
        const struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        if (attempt->index == index && attempt->over_stream &&
            !attempt_state_is_silent(attempt->state) && !attempt->is_probe)
            return true;
    }
    return false;
}

/* The same server once more, by another way, where that is what it needs. */
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
        return exchange_ask(exchange, index, WAY_ANY, NULL);
    case ATTEMPT_COOKIE: /* RFC 7873 section 5.3: once more, then over TCP */
        return exchange_ask(exchange, index, exchange->tried[index] > 1 ? WAY_STREAM : WAY_ANY,
                            NULL);
    case ATTEMPT_REFUSED: /* elsewhere, while the connection was not there: the last hope */
        return diverted && upstream_prefers_stream(exchange->group[index]) &&
               exchange_choose(exchange) < 0 && exchange_ask(exchange, index, WAY_OWN, NULL);
    default:
        return false;
    }
}

/* What went into a stream that is dead itself was not the server's one query of a round. */
static void forgive_stream(struct exchange *exchange, unsigned index)
{
    if (exchange->one_round)
        exchange->tried[index] = 0;
}

/* Something came back, and not from a forger that guesses. */
static bool is_heard(enum attempt_failure why)
{
    return why != ATTEMPT_TIMED_OUT && why != ATTEMPT_UNTRUSTED;
}

static void exchange_on_failed(struct attempt *attempt, enum attempt_failure why)
{
    struct exchange *exchange = exchange_of(attempt);
    unsigned index = attempt->index;
    bool replaced = attempt->state >= ATTEMPT_SILENT || attempt->is_probe;
    bool diverted = !attempt->over_stream || attempt->upstream != exchange->group[index];

    if (exchange->active)
        tell_loss(attempt, exchange_failure_word(why));
    exchange->silent -= !attempt->sent_at || is_heard(why);
    if (why == ATTEMPT_CLOSED && attempt->state != ATTEMPT_WAITING && !replaced)
        forgive_stream(exchange, index);
    if (why == ATTEMPT_CLOSED && attempt->upstream->pool.useless > 0 &&
        is_bound_by_time(exchange, attempt))
        count_attempt(exchange, -1);
    attempt_free(attempt);
    if (!exchange->active) { /* it lingers; or it is being stopped, and its other attempts fall */
        end_if_idle(exchange);
        return;
    }
    if (why <= ATTEMPT_CLOSED)
        note_network(exchange, index);
    exchange->failure.any_answer |= why > ATTEMPT_CLOSED;
    if ((why == ATTEMPT_REFUSED && diverted) || why == ATTEMPT_MALFORMED)
        exchange->useless |= UINT64_C(1) << index;
    /* A hedge goes on in its place, but cannot know better what the server has said. */
    if (replaced && why <= ATTEMPT_CLOSED && has_fresh_attempt(exchange))
        return;
    count_retry(exchange, why);
    if (!ask_again(exchange, index, why, diverted))
        advance(exchange, WAY_ANY, NULL);
}

/* The only server, which has only streams, has the query and never answered one before. It may
 * need seconds for each, and a copy would double its work. Where it was fast before, a copy on
 * another connection is worth it: this one may be stuck. */
static bool is_new_and_slow(const struct exchange *exchange, const struct attempt *attempt)
{
    const struct upstream *upstream = attempt->upstream;
    return exchange->group_len == 1 && attempt->state == ATTEMPT_SLOW &&
           !upstream->stream.srtt_us && has_only_streams(upstream);
}

static void exchange_on_slow(struct attempt *attempt)
{
    struct exchange *exchange = exchange_of(attempt);
    struct conn *silent = attempt->sent_on;

    tell_loss(attempt, attempt_state_name(attempt->state));
    if (silent) {
        STATS_INC(env_of(exchange)->stats, upstream_retries_silent);
        pool_note_silent(&attempt->upstream->pool, silent);
        forgive_stream(exchange, attempt->index);
    } else {
        STATS_INC(env_of(exchange)->stats, upstream_retries_timeout);
    }
    if (exchange->active && !attempt->is_probe && !is_new_and_slow(exchange, attempt))
        advance(exchange, WAY_ELSEWHERE, silent);
}

/* Only the latest overdue datagram keeps its port: each open port is one more to guess. */
static void drop_overdue_datagram(struct exchange *exchange, const struct attempt *latest)
{
    LIST_EACH(node, &exchange->attempts)
    {
        struct attempt *attempt = LIST_ITEM(node, struct attempt, node);
        if (attempt == latest || !attempt_state_is_overdue(attempt->state) || attempt->over_stream)
            continue;
        attempt_free(attempt); /* each overdue one comes here, so there is no second */
        return;
    }
}

/* query-timeout is over. Its answer is still welcome, but another way is tried now. */
static void exchange_on_overdue(struct attempt *attempt)
{
    struct exchange *exchange = exchange_of(attempt);
    struct conn *silent = attempt_state_is_silent(attempt->state) ? attempt->sent_on : NULL;

    if (!exchange->active)
        return;
    tell_loss(attempt, attempt_state_name(attempt->state));
    note_network(exchange, attempt->index);
    if (!attempt->over_stream)
        drop_overdue_datagram(exchange, attempt);
    if (attempt->is_probe || has_fresh_attempt(exchange))
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
