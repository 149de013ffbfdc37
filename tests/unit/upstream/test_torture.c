/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Upstreams change their random options while they are used, peers have random faults, and
 * thousands of exchanges run, some of which are stopped. The invariants: each exchange ends once
 * and in time; no connection carries too many queries; dials and nailed places keep their bounds;
 * everything is freed in the end. NAILUP_TORTURE_SEED repeats one run.
 */

#include "base/log.h"
#include "unit/upstream/torture_draw.h"
#include "unit/upstream/world.h"
#ifdef WORLD_TLS
#include "unit/upstream/torture_tls.h"
#endif

/* Handshakes cost real time. Few upstreams reach the quota as well as many do. */
#ifdef WORLD_TLS
enum { UPSTREAMS = 16, EXCHANGES = 400, QUOTA = 25, GROUP_MAX = 4, SEEDS = 2 };
#else
enum { UPSTREAMS = 120, EXCHANGES = 4000, QUOTA = 60, GROUP_MAX = 4, SEEDS = 6 };
#endif

struct torture;

struct tortured {
    struct torture *torture;
    struct exchange exchange;
    struct upstream *group[GROUP_MAX]; /* held */
    size_t count;
    uint8_t wire[NAME_WIRE_MAX];
    uint64_t asked_at;
    unsigned ends;
    bool asked, stopped;
};

struct torture {
    struct world world;
    struct fake_peer *peers[UPSTREAMS];
    struct upstream *upstreams[UPSTREAMS]; /* wanted */
    struct tortured exchanges[EXCHANGES];
    uint64_t random, jumped_at;
    size_t answered, failed, stopped;
};

static uint64_t draw(struct torture *torture, uint64_t bound)
{
    return torture_draw(&torture->random, bound);
}

static void answer_somehow(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    struct torture *torture = owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    switch (draw(torture, 40)) {
    case 0:
    case 1:
        answer->how = FAKE_SILENT;
        break;
    case 2:
        answer->how = FAKE_CLOSE;
        break;
    case 3:
        answer->how = FAKE_RESET;
        break;
    case 4:
        answer->how = FAKE_REFUSE;
        break;
    case 5:
        answer->delay_us = draw(torture, 6 * S);
        break;
    case 6:
        answer->delay_us = draw(torture, 800 * MS);
        break;
    case 7:
        answer->data[draw(torture, answer->len)] ^= (uint8_t)(1 + draw(torture, 255));
        break;
    case 8:
        answer->len = draw(torture, answer->len);
        break;
    case 9:
        answer->extra_copies = (unsigned)draw(torture, 40);
        break;
    case 10:
        if (ask->transport == FAKE_UDP)
            fake_answer_truncated(answer, ask->query);
        break;
    case 11:
        fake_answer_rcode(answer, ask->query, (unsigned)draw(torture, 16));
        break;
    case 12:
        answer->piece_bytes = 1 + draw(torture, 9);
        answer->gap_us = draw(torture, 300);
        break;
    }
}

/* Drops the upstreams. An exchange holds them until it ends, as a question of former routes
 * does. */
static void let_go(struct tortured *tortured)
{
    for (size_t i = 0; i < tortured->count; i++)
        upstreams_drop(tortured->group[i]);
    tortured->count = 0;
}

static void end(struct tortured *tortured)
{
    uint64_t now = loop_now(tortured->torture->world.loop);
    uint64_t late = MAX(tortured->asked_at + EXCHANGE_WALL_US, tortured->torture->jumped_at);
    assert_true(tortured->asked && !tortured->stopped);
    assert_int_equal(++tortured->ends, 1);
    assert_true(now <= late + 2 * MS);
    let_go(tortured);
}

static enum exchange_verdict on_answer(void *owner, const struct exchange_answer *answer)
{
    struct tortured *tortured = owner;
    struct torture *torture = tortured->torture;
    if (draw(torture, 10) == 0)
        return EXCHANGE_ANOTHER;
    end(tortured);
    (void)answer;
    torture->answered++;
    if (draw(torture, 2))
        exchange_stop(&tortured->exchange);
    return EXCHANGE_TAKEN;
}

static void on_failed(void *owner, const struct exchange_failure *failure)
{
    struct tortured *tortured = owner;
    (void)failure;
    end(tortured);
    tortured->torture->failed++;
}

static const struct exchange_handler handler = {.on_answer = on_answer, .on_failed = on_failed};

static struct upstream_options options_at_random(struct torture *torture)
{
    static const uint32_t requests[] = {1, 2, 3, 10, 100, 10000, 65535};
    struct upstream_options options = upstream_options_default;
    options.transport = draw(torture, 4) ? TRANSPORT_TCP : TRANSPORT_UDP;
    options.nailed = options.transport == TRANSPORT_TCP && draw(torture, 3);
#ifdef WORLD_TLS
    world_tls_expect(&options, TLS_STRICT);
    options.nailed = draw(torture, 3);
    options.tls.early_data = draw(torture, 2);
    options.max_handshakes = draw(torture, 2) ? 200 : 1 + (uint32_t)draw(torture, 10);
#endif
    options.prewarm = draw(torture, 2);
    options.hold = draw(torture, 4) > 0;
    options.fallback = draw(torture, 3) ? UPSTREAM_FALLBACK_UDP : UPSTREAM_FALLBACK_NONE;
    options.connections = 1 + (uint32_t)draw(torture, 4);
    options.max_connections = 1 + (uint32_t)draw(torture, 6);
    options.max_in_flight = 1 + (uint32_t)draw(torture, 2) * (uint32_t)draw(torture, 300);
    options.max_requests = requests[draw(torture, ARRAY_LEN(requests))];
    options.max_age_us = draw(torture, 2) * draw(torture, 5 * S);
    options.idle_timeout_us = draw(torture, 4) * S;
    options.connect_timeout_us = (3 + draw(torture, 20)) * 100 * MS;
    options.query_timeout_us = (3 + draw(torture, 30)) * 100 * MS;
    options.stall_timeout_us = (1 + draw(torture, 50)) * 100 * MS;
    return options;
}

/* Keeps the options that the final checks look at. */
static void keep_some(struct upstream_options *options, const struct upstream_options *former)
{
    options->transport = former->transport;
    options->nailed &= former->transport != TRANSPORT_UDP;
    options->fallback = former->fallback;
    options->max_requests = former->max_requests;
    options->tls.profile = former->tls.profile;
}

static struct upstream *want(struct torture *torture, const struct addr *addr,
                             const struct upstream_options *options)
{
    struct upstream_options wanted = world_options(options);
    struct upstream *upstream = upstreams_want(torture->world.upstreams, addr, &wanted);
    assert_non_null(upstream);
    return upstream;
}

/* Changes the options of some upstreams, as a reload does, and gives some their former options
 * back. */
static void change_some(struct torture *torture)
{
    static struct upstream *former[UPSTREAMS];
    size_t first = draw(torture, UPSTREAMS), count = 1 + draw(torture, 20 / WORLD_COST);
    for (size_t i = first; i < first + count; i++) {
        struct upstream **at = &torture->upstreams[i % UPSTREAMS];
        struct upstream_options options = options_at_random(torture);
        keep_some(&options, &(*at)->options);
        former[i - first] = *at;
        *at = want(torture, &(*at)->addr, draw(torture, 4) ? &options : &(*at)->options);
    }
    for (size_t i = 0; i < count; i++)
        upstreams_unwant(former[i]);
    upstreams_settle(torture->world.upstreams, NULL, NULL);
    if (draw(torture, 2)) { /* a former upstream is wanted again, and dropped at once */
        struct upstream *back = want(torture, &former[0]->addr, &former[0]->options);
        upstreams_unwant(back);
        upstreams_drop(back);
    }
    for (size_t i = 0; i < count; i++)
        upstreams_drop(former[i]);
}

static void open_all(struct torture *torture)
{
    char text[32];
    for (int i = 0; i < UPSTREAMS; i++) {
        struct upstream_options options = options_at_random(torture);
        struct addr addr;
        snprintf(text, sizeof(text), "10.3.0.%d@53", i);
        addr = fake_addr(text);
        torture->peers[i] = world_peer(&torture->world, text, answer_somehow, torture);
        fake_server_set_latency(fake_peer_server(torture->peers[i]),
                                draw(torture, 60 * MS)); /* a shorter delay than any timeout */
        torture->upstreams[i] = want(torture, &addr, &options);
    }
    upstreams_settle(torture->world.upstreams, NULL, NULL);
}

static void start_exchange(struct torture *torture, struct tortured *tortured)
{
    size_t count = tortured->count = 1 + draw(torture, GROUP_MAX);
    /* in half of the cases, the first five upstreams get all of the load */
    size_t hot = draw(torture, 2) ? 5 : UPSTREAMS;
    struct exchange_question question = {.recursion_desired = true};

    for (size_t i = 0; i < count; i++)
        upstream_hold(tortured->group[i] = torture->upstreams[draw(torture, hot)]);
    assert_int_equal(name_parse(&question.question.name, tortured->wire, "www.example", 11),
                     ERR_OK);
    question.question.type = RRTYPE_A;
    question.question.cls = RRCLASS_IN;
    question.expects_large = draw(torture, 2);
    tortured->torture = torture;
    tortured->asked = true;
    tortured->asked_at = loop_now(torture->world.loop);
    exchange_init(&tortured->exchange, torture->world.upstreams, &handler, tortured);
    exchange_start(&tortured->exchange, &question, tortured->group, count);
    assert_int_equal(tortured->ends, 0); /* the callback comes only after this call returns */
}

static void stop_exchange(struct torture *torture, int latest)
{
    uint64_t recent = draw(torture, (uint64_t)MIN(latest, 100) + 1);
    struct tortured *tortured = &torture->exchanges[latest - (int)recent];
    if (!tortured->asked || tortured->ends || tortured->stopped)
        return;
    exchange_stop(&tortured->exchange);
    let_go(tortured);
    tortured->stopped = true;
    torture->stopped++;
}

static void hurt_conns(struct torture *torture, struct fake_server *server)
{
    size_t dials = fake_server_dials(server);
    struct fake_conn *conn = dials ? fake_server_conn(server, draw(torture, dials)) : NULL;
    if (!conn || fake_conn_state(conn) != FAKE_CONN_OPEN || !fake_conn_is_held(conn))
        return;
#ifdef WORLD_TLS
    if (draw(torture, 2)) {
        torture_hurt_tls(&torture->random, conn);
        return;
    }
#endif
    switch (draw(torture, 6)) {
    case 0:
        fake_conn_go_dark(conn);
        break;
    case 1:
        fake_conn_stop_reading(conn, draw(torture, 200));
        break;
    case 2:
        fake_conn_fail(conn, ERR_TIMED_OUT);
        break;
    case 3:
        fake_conn_set_write_max(conn, 1 + draw(torture, 50));
        break;
    case 4:
        fake_conn_reset(conn);
        break;
    case 5:
        fake_conn_close(conn);
        break;
    }
}

static void hurt_ourselves(struct torture *torture)
{
    struct world *world = &torture->world;
    switch (draw(torture, 14)) {
    case 0:
        fake_net_fail_opens(world->net, (unsigned)draw(torture, 100), ERR_NO_FILES);
        break;
    case 1:
        fake_net_set_file_limit(world->net, draw(torture, 2) * (50 + draw(torture, 200)));
        break;
    case 2:
        upstreams_recycle(world->upstreams, NULL);
        break;
    case 3:
        if (draw(torture, 8) == 0) {
            fake_loop_jump(world->loop, draw(torture, 20 * S));
            torture->jumped_at = loop_now(world->loop);
        }
        break;
    case 4:
    case 5:
        change_some(torture);
        break;
    case 6:
        upstreams_read_files(world->upstreams);
        break;
    case 7:
        if (draw(torture, 2) == 0)
            fake_net_lose_address(world->net);
        upstreams_network_changed(world->upstreams,
                                  draw(torture, 4) ? NETWORK_CHANGED : NETWORK_RESUMED);
        break;
    }
}

static void hurt_somebody(struct torture *torture)
{
    struct fake_peer *peer = torture->peers[draw(torture, draw(torture, 2) ? 5 : UPSTREAMS)];
    struct fake_server *server = fake_peer_server(peer);
#ifdef WORLD_TLS
    if (draw(torture, 8) == 0)
        torture_speak_tls(&torture->random, peer);
#endif
    switch (draw(torture, 8)) {
    case 0:
        fake_server_set_dial(server, (enum fake_dial)draw(torture, FAKE_DIAL_FAIL_NOW + 1));
        break;
    case 1:
        fake_server_set_dial(server, FAKE_DIAL_ACCEPT);
        break;
    case 2:
        fake_server_set_udp(server, (enum fake_udp)draw(torture, FAKE_UDP_FAIL_NOW + 1));
        break;
    case 3:
        fake_server_set_udp(server, FAKE_UDP_DELIVER);
        break;
    case 4:
        fake_server_reset_all(server);
        break;
    case 5:
        fake_server_close_all(server);
        break;
    case 6:
        hurt_conns(torture, server);
        break;
    case 7:
        hurt_ourselves(torture);
        break;
    }
}

static void see_conn(void *context, const struct conn_view *view)
{
    (void)context;
    assert_true(view->requests <= view->max_requests);
}

static void check(struct torture *torture)
{
    struct world *world = &torture->world;
    assert_true(upstreams_env(world->upstreams)->dialer.under_way <= DIALER_MAX);
    assert_true(world->stats.upstream_dialing <= DIALER_MAX);
    assert_true(world->quota.used <= QUOTA);
    upstreams_each_conn(world->upstreams, see_conn, NULL);
    for (int i = 0; i < UPSTREAMS; i++)
        assert_true(torture->upstreams[i]->pool.waiting_count <= POOL_WAITING_MAX);
}

/* Checks that no connection carried more queries than the upstream's max-requests. */
static void check_requests(struct torture *torture)
{
    for (int i = 0; i < UPSTREAMS; i++) {
        struct fake_server *server = fake_peer_server(torture->peers[i]);
        for (size_t j = 0; j < fake_server_dials(server); j++)
            assert_true(fake_conn_messages(fake_server_conn(server, j)) <=
                        torture->upstreams[i]->options.max_requests);
    }
}

/* Checks that an upstream with strict TLS sent no query in plain text. */
static void check_strict(struct torture *torture)
{
    for (int i = 0; i < UPSTREAMS; i++) {
        const struct upstream_options *options = &torture->upstreams[i]->options;
        if (options->transport != TRANSPORT_TLS || options->tls.profile != TLS_STRICT)
            continue;
        assert_int_equal(fake_peer_udp_queries(torture->peers[i]), 0);
        assert_int_equal(fake_peer_tcp_queries(torture->peers[i]), 0);
    }
}

static void heal_all(struct torture *torture)
{
    fake_net_fail_opens(torture->world.net, 0, ERR_OK);
    fake_net_set_file_limit(torture->world.net, 0);
    for (int i = 0; i < UPSTREAMS; i++) {
        fake_peer_set(torture->peers[i], NULL, NULL);
#ifdef WORLD_TLS
        struct fake_tls_options server = world_tls_server();
        fake_peer_speak_tls(torture->peers[i], &server);
#endif
        fake_server_set_dial(fake_peer_server(torture->peers[i]), FAKE_DIAL_ACCEPT);
        fake_server_set_udp(fake_peer_server(torture->peers[i]), FAKE_UDP_DELIVER);
    }
}

/* Checks that no changed upstream is left. */
static void check_gone(struct torture *torture)
{
    size_t wanted = 0;
    for (int i = 0; i < UPSTREAMS; i++)
        wanted += torture->upstreams[i]->plain ? 2 : 1;
    upstreams_settle(torture->world.upstreams, NULL, NULL);
    fake_loop_advance(torture->world.loop, S);
    assert_int_equal(upstreams_count(torture->world.upstreams), wanted);
}

/* Checks that each upstream answers again after the faults. */
static void check_healed(struct torture *torture)
{
    struct asker asker;
    heal_all(torture);
    fake_loop_advance(torture->world.loop, 30 * S);
    for (int i = 0; i < UPSTREAMS; i++) {
        ask_and_wait(&asker, &torture->world, "www.example", torture->upstreams[i]);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
}

static size_t count_holds(const struct torture *torture)
{
    size_t count = 0;
    for (int i = 0; i < UPSTREAMS; i++)
        LIST_EACH(node, &torture->upstreams[i]->pool.conns)
    count += LIST_ITEM(node, struct conn, node)->holding;
    return count;
}

static void run(uint64_t seed)
{
    struct torture *torture = calloc(1, sizeof(*torture));
    torture->random = seed * 2654435761u + 1;
    world_open(&torture->world);
    rand_seed_for_tests(seed);
    torture->world.quota.max = QUOTA;
    open_all(torture);
    for (int i = 0; i < EXCHANGES; i++) {
        start_exchange(torture, &torture->exchanges[i]);
        if (draw(torture, 8) == 0)
            stop_exchange(torture, i);
        if (draw(torture, 3) == 0)
            hurt_somebody(torture);
        if (draw(torture, 4) == 0)
            fake_loop_advance(torture->world.loop, draw(torture, 60 * MS));
        if (i % 16 == 0)
            check(torture);
    }
    fake_loop_advance(torture->world.loop, EXCHANGE_WALL_US + 5 * MS);
    printf("seed %llu: %zu answered, %zu failed, %zu stopped\n", (unsigned long long)seed,
           torture->answered, torture->failed, torture->stopped);
    for (int i = 0; i < EXCHANGES; i++)
        assert_true(torture->exchanges[i].ends == !torture->exchanges[i].stopped);
    check(torture);
    assert_int_equal(torture->world.stats.upstream_in_flight,
                     upstreams_env(torture->world.upstreams)->probe_count + count_holds(torture));
    check_healed(torture);
    check_gone(torture);
    check_requests(torture);
    check_strict(torture);
    world_close(&torture->world);
    free(torture);
}

static void test_torture_every_exchange_ends_once_and_everything_is_freed(void **state)
{
    (void)state;
    const char *only = getenv("NAILUP_TORTURE_SEED");
    if (only) {
        run(strtoull(only, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run(seed);
}

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torture_every_exchange_ends_once_and_everything_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
