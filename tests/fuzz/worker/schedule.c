/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "fuzz/worker/schedule.h"

#include <stdlib.h>

#include "base/check.h"
#include "fuzz/worker/rules.h"
#include "fuzz/worker/stage.h"
#include "support/fake_tls.h"
#include "support/scarce.h"

struct schedule {
    const uint8_t *at;
    size_t left;
    struct stage *stage;
};

enum { BURST_MAX = 64, GREEDY_QUERIES = 300, STEPS_MAX = 20000 };

static unsigned longer = 1;

void schedule_lengthen(unsigned times)
{
    longer = times;
}

static uint8_t take(struct schedule *schedule)
{
    if (schedule->left == 0)
        return 0;
    schedule->left--;
    return *schedule->at++;
}

static struct far *take_far(struct schedule *schedule)
{
    return &schedule->stage->fars[take(schedule) % SERVER_COUNT];
}

/* Returns whether the server is an anchor of a live play. Such a server suffers no fault. */
static bool is_spared(const struct far *far)
{
    return (far->stage->is_live && far->is_anchor) || far->stage->has_true_keys;
}

/* ---- clients ---- */

static struct wish take_wish(struct schedule *schedule)
{
    static const uint16_t types[] = {RRTYPE_A,    RRTYPE_A,   RRTYPE_A,     RRTYPE_AAAA,
                                     RRTYPE_AAAA, RRTYPE_TXT, RRTYPE_CNAME, RRTYPE_A};
    static const uint16_t odd_types[] = {RRTYPE_ANY, RRTYPE_NS, RRTYPE_DS, 252 /* AXFR */};
    uint8_t where = take(schedule), flags = take(schedule);
    struct wish wish = {
        .zone = where % 8 + 1,
        .is_deep = where & 8,
        .is_upper = where & 16,
        .type = types[where >> 5],
        .number = take(schedule) % LEAF_ASKED,
        .has_edns = flags & 1,
        .wants_dnssec = (flags & 3) == 3,
        .has_cookie = (flags & 5) == 5,
        .recurses = flags >> 3 != 31,
    };
    if (schedule->stage->is_hostile && wish.zone == ZONE_B_T0 && wish.number % 4 == 3)
        wish.zone = ZONE_C_E1_T0;
    wish.is_odd = flags >> 4 == 7;
    if (wish.is_odd)
        wish.type = odd_types[where % ARRAY_LEN(odd_types)];
    return wish;
}

static void step_ask(struct schedule *schedule)
{
    unsigned client = take(schedule) % CLIENTS_UDP;
    struct wish wish = take_wish(schedule);
    clients_ask_udp(schedule->stage, client, &wish);
}

/* Several clients ask for many names of one zone at the same time. */
static void step_burst(struct schedule *schedule)
{
    unsigned count = 1 + take(schedule) % BURST_MAX;
    struct wish wish = take_wish(schedule);
    for (unsigned i = 0; i < count; i++) {
        clients_ask_udp(schedule->stage, i % CLIENT_REFUSED, &wish);
        wish.number = (wish.number + 1) % LEAF_ASKED;
    }
}

/* Sends many questions with short pauses while the servers keep their moods. */
static void step_traffic(struct schedule *schedule)
{
    unsigned count = (8 + take(schedule)) * longer, stride = take(schedule);
    struct wish wish = take_wish(schedule);
    for (unsigned i = 0; i < count; i++) {
        clients_ask_udp(schedule->stage, i % CLIENT_REFUSED, &wish);
        wish.number = (wish.number + 1 + stride) % LEAF_ASKED;
        wish.zone = 1 + (wish.zone + (stride & 1)) % (ZONE_COUNT - 1);
        if (i % 4 == 3)
            stage_advance(schedule->stage, stride * UINT64_C(200));
    }
}

static void step_repeat(struct schedule *schedule)
{
    unsigned count = 1 + take(schedule) % 8;
    for (unsigned i = 0; i < count; i++)
        clients_repeat_udp(schedule->stage);
}

static void step_garbage(struct schedule *schedule)
{
    uint8_t how = take(schedule);
    size_t len = MIN((size_t)(how >> 2), schedule->left);
    struct span bytes = span_of(schedule->at, len);
    schedule->at += len;
    schedule->left -= len;
    if (how & 1)
        clients_send_garbage(schedule->stage, how % CLIENTS_UDP, bytes);
    else
        clients_send_stream_garbage(schedule->stage, how % CLIENTS_STREAM, bytes);
}

static void step_connect(struct schedule *schedule)
{
    uint8_t how = take(schedule);
    clients_connect(schedule->stage, how % CLIENTS_STREAM, how >> 5);
}

/* Sends more than a session takes at once, so that questions wait or answers stay unread. */
static void step_greedy(struct schedule *schedule)
{
    uint8_t how = take(schedule);
    unsigned place = how % CLIENTS_STREAM;
    bool reads = how & 128;
    struct wish wish = take_wish(schedule);
    if (!reads) {
        clients_act(schedule->stage, place, STREAM_STOP, 0);
        wish.number = LEAF_BIG;
        wish.type = RRTYPE_A;
    }
    for (unsigned i = 0; i < GREEDY_QUERIES; i++) {
        clients_ask_stream(schedule->stage, place, &wish);
        if (!reads)
            continue;
        wish.number = (wish.number + 1) % LEAF_ASKED;
        wish.is_deep ^= wish.number == 0;
    }
}

static void step_pipeline(struct schedule *schedule)
{
    uint8_t how = take(schedule);
    unsigned place = how % CLIENTS_STREAM, root = how >> 4, count = 1 + root * root;
    struct wish wish = take_wish(schedule);
    for (unsigned i = 0; i < count; i++) {
        clients_ask_stream(schedule->stage, place, &wish);
        wish.number = (wish.number + 1) % LEAF_ASKED;
    }
}

static void step_half(struct schedule *schedule)
{
    uint8_t how = take(schedule);
    if (how & 1) {
        clients_send_rest(schedule->stage, (how >> 1) % CLIENTS_STREAM);
        return;
    }
    struct wish wish = take_wish(schedule);
    clients_ask_half(schedule->stage, (how >> 1) % CLIENTS_STREAM, &wish, 1 + (how >> 4));
}

static void step_act(struct schedule *schedule)
{
    uint8_t how = take(schedule);
    clients_act(schedule->stage, how % CLIENTS_STREAM, (how >> 4) % STREAM_ACTS, how * 3u);
}

/* ---- servers ---- */

static void step_mood(struct schedule *schedule)
{
    struct far *far = take_far(schedule);
    uint8_t mood = take(schedule), param = take(schedule), left = take(schedule);
    far_set_mood(far, mood % MOOD_COUNT, param, left & 128 ? 0 : left % 32 + 1);
}

/* Plays an outage, which affects all servers of a mask. */
static void step_moods(struct schedule *schedule)
{
    uint8_t which = take(schedule), mood = take(schedule), param = take(schedule);
    for (unsigned i = 0; i < SERVER_COUNT; i++)
        if (which >> i % 8 & 1)
            far_set_mood(&schedule->stage->fars[i], mood % MOOD_COUNT, param, 0);
}

/* Servers play tricks: all of them, or the ones of a mask. */
static void step_tricks(struct schedule *schedule)
{
    uint8_t which = take(schedule), tricks = take(schedule), param = take(schedule);
    for (unsigned i = 0; i < SERVER_COUNT; i++)
        if (which & 128 || which >> i % 7 & 1)
            far_set_tricks(&schedule->stage->fars[i], tricks, param);
}

static void step_dials(struct schedule *schedule)
{
    struct far *far = take_far(schedule);
    uint8_t how = take(schedule);
    if (is_spared(far))
        return;
    fake_server_set_dial(far->server, how % (FAKE_DIAL_FAIL_NOW + 1));
    fake_server_set_accept_delay(far->server, (how >> 4) * UINT64_C(100000));
}

static void step_udp(struct schedule *schedule)
{
    struct far *far = take_far(schedule);
    uint8_t how = take(schedule);
    if (is_spared(far))
        return;
    fake_server_set_udp(far->server, how % (FAKE_UDP_FAIL_NOW + 1));
    fake_server_lose_datagrams(far->server, how >> 5);
}

static void step_latency(struct schedule *schedule)
{
    static const uint32_t latencies_ms[] = {0, 1, 5, 10, 40, 150, 300, 700};
    struct far *far = take_far(schedule);
    size_t which = take(schedule) % (is_spared(far) ? 4 : ARRAY_LEN(latencies_ms));
    far_set_latency(far, latencies_ms[which] * US_PER_MS);
}

static void step_tls(struct schedule *schedule)
{
    struct far *far = take_far(schedule);
    uint8_t how = take(schedule);
    if (far_is_tls(far) && schedule->stage->plan->is_tls && !is_spared(far))
        far_speak_tls(far, how);
}

/* The faults of open connections. Any server may suffer the first six. */
static void hurt_conn(struct far *far, struct fake_conn *conn, uint8_t how)
{
    unsigned count = is_spared(far) ? 6 : 11;
    switch (how % count) {
    case 0:
        fake_conn_close(conn);
        break;
    case 1:
        fake_conn_reset(conn);
        break;
    case 2:
        fake_conn_set_write_max(conn, 1 + how / 4);
        break;
    case 3:
        fake_conn_retransmit(conn);
        break;
    case 4:
        fake_conn_delay_acks(conn, how * UINT64_C(100));
        break;
    case 5:
        fake_conn_start_reading(conn);
        break;
    case 6:
        fake_conn_go_dark(conn);
        break;
    case 7:
        fake_conn_stop_reading(conn, how * 2u);
        break;
    case 8:
        fake_conn_fail(conn, ERR_TIMED_OUT);
        break;
    case 9:
        fake_conn_delay_acks(conn, how * UINT64_C(20000));
        break;
    case 10:
        if (fake_conn_speaks_tls(conn) && fake_conn_tls_facts(conn)->finished)
            fake_conn_tls_alert(conn);
        break;
    }
}

static void step_conn(struct schedule *schedule)
{
    struct far *far = take_far(schedule);
    uint8_t how = take(schedule);
    struct fake_conn *conn = far_pick_conn(far, how >> 5);
    if (conn)
        hurt_conn(far, conn, how);
}

static void step_end_conns(struct schedule *schedule)
{
    struct far *far = take_far(schedule);
    if (take(schedule) & 1)
        fake_server_reset_all(far->server);
    else
        fake_server_close_all(far->server);
}

static void step_heal(struct schedule *schedule)
{
    for (unsigned i = 0; i < SERVER_COUNT; i++) {
        far_heal(&schedule->stage->fars[i]);
        if (far_is_tls(&schedule->stage->fars[i]) && schedule->stage->plan->is_tls)
            far_speak_tls(&schedule->stage->fars[i], 0);
    }
}

/* ---- the worker and its machine ---- */

static void step_reload(struct schedule *schedule)
{
    struct stage *stage = schedule->stage;
    const struct plan *plan = plan_choose(stage->is_hostile, take(schedule));
    if ((stage->is_live && plan->is_bounded) || (stage->has_forged && !plan->is_signed))
        return;
    stage_reload(stage, plan);
}

static void step_network(struct schedule *schedule)
{
    struct stage *stage = schedule->stage;
    uint8_t how = take(schedule);
    if (how & 1)
        fake_net_lose_address(stage->net);
    if ((how & 6) == 6 && !stage->is_live && !stage->has_true_keys)
        stage_jump(stage, (how >> 3) * 3 * US_PER_S);
    resolver_network_changed(stage->resolver);
    upstreams_network_changed(stage->upstreams, how & 8 ? NETWORK_RESUMED : NETWORK_CHANGED);
}

static void step_machine(struct schedule *schedule)
{
    struct stage *stage = schedule->stage;
    uint8_t how = take(schedule);
    switch (how % 5) {
    case 0:
        if (!stage->is_live && !stage->has_true_keys)
            fake_net_fail_opens(stage->net, how / 5, how & 1 ? ERR_NO_FILES : ERR_UNREACHABLE);
        break;
    case 1:
        if (!stage->is_live && !stage->has_true_keys)
            fake_net_set_file_limit(stage->net, how & 64 ? 0 : 4 + how / 5);
        break;
    case 2:
        upstreams_recycle(stage->upstreams, NULL);
        break;
    case 3:
        fake_net_set_write_max(stage->net, how & 64 ? 0 : how);
        break;
    case 4:
        stage->lost_replies += how / 5;
        fake_net_drop_replies(stage->net, how / 5);
        break;
    }
}

static void step_time(struct schedule *schedule)
{
    static const uint64_t times_us[] = {
        0,      100,     500,     1000,    3000,    10000,    30000,    100000,
        300000, 1000000, 2000000, 4000000, 9000000, 31000000, 90000000, 600000000,
    };
    uint8_t how = take(schedule);
    stage_advance(schedule->stage, times_us[how % 16] + how / 16 * UINT64_C(7));
}

/* The rules of validation change while questions run. */
static void step_change(struct schedule *schedule)
{
    uint8_t how = take(schedule);
    struct wish wish = take_wish(schedule);
    for (unsigned i = 0; i <= how % 4; i++) {
        wish.zone = 1 + (wish.zone + i) % (ZONE_COUNT - 1);
        clients_ask_udp(schedule->stage, i, &wish);
    }
    stage_advance(schedule->stage, (how >> 2) * UINT64_C(500));
    step_reload(schedule);
}

/* Data come after the clients have left, and then a client asks again. */
static void step_late(struct schedule *schedule)
{
    struct stage *stage = schedule->stage;
    uint8_t param = take(schedule);
    struct wish wish = take_wish(schedule);
    wish.has_edns = wish.wants_dnssec = true;
    if (param & 4)
        wish.zone = ZONE_A_T0;
    for (unsigned i = 0; i < SERVER_COUNT; i++)
        far_set_tricks(&stage->fars[i], TRICK_LATE_DATA, param);
    for (unsigned i = 0; i < 8; i++, wish.number = (wish.number + 4) % LEAF_ASKED)
        clients_ask_udp(stage, i, &wish);
    stage_advance(stage, 31 * US_PER_S);
    for (unsigned i = 0; i < 8; i++) {
        wish.number = (wish.number + LEAF_ASKED - 4) % LEAF_ASKED;
        clients_ask_udp(stage, i, &wish);
    }
    stage_advance(stage, US_PER_S);
}

/* ---- the play ---- */

typedef void (*schedule_step)(struct schedule *schedule);

/* A step with several rows happens more often. */
static const schedule_step steps[] = {
    step_ask,      step_ask,     step_ask,    step_ask,       step_burst,   step_burst,
    step_traffic,  step_traffic, step_time,   step_time,      step_time,    step_time,
    step_time,     step_time,    step_time,   step_time,      step_connect, step_pipeline,
    step_pipeline, step_half,    step_act,    step_garbage,   step_repeat,  step_mood,
    step_mood,     step_mood,    step_moods,  step_dials,     step_udp,     step_latency,
    step_tls,      step_conn,    step_conn,   step_end_conns, step_heal,    step_reload,
    step_network,  step_machine, step_greedy,
};

static const schedule_step hostile_steps[] = {
    step_tricks, step_tricks, step_tricks, step_tricks,
    step_change, step_change, step_heal,   step_late,
};

static schedule_step take_step(struct schedule *schedule)
{
    size_t more = schedule->stage->is_hostile ? ARRAY_LEN(hostile_steps) : 0;
    size_t which = take(schedule) % (ARRAY_LEN(steps) + more);
    STAGE_TRACE(schedule->stage, "step: %zu", which);
    return which < ARRAY_LEN(steps) ? steps[which] : hostile_steps[which - ARRAY_LEN(steps)];
}

static void play(struct schedule *schedule)
{
    for (unsigned i = 0; i < STEPS_MAX && schedule->left > 0; i++) {
        take_step(schedule)(schedule);
        fake_loop_settle(schedule->stage->loop);
        clients_collect(schedule->stage);
        rules_check_step(schedule->stage);
    }
}

/* Keeps clients busy while the worker ends. */
static void play_last(struct schedule *schedule, uint8_t how)
{
    struct wish wish = {.zone = 1 + how % (ZONE_COUNT - 1), .type = RRTYPE_TXT, .recurses = true};
    for (unsigned place = 0; place < CLIENTS_STREAM / 2; place++)
        clients_connect(schedule->stage, place, how >> 4);
    stage_advance(schedule->stage, how * UINT64_C(100));
    for (wish.number = 0; wish.number < CLIENTS_STREAM; wish.number++)
        clients_ask_stream(schedule->stage, wish.number, &wish);
}

static unsigned starved_one_in;

void schedule_starve(unsigned one_in)
{
    starved_one_in = one_in;
}

struct schedule_result schedule_play(const uint8_t *data, size_t size)
{
    struct schedule schedule = {.at = data, .left = size};
    struct stage *stage = malloc(sizeof(*stage));
    MUST(stage);
    uint8_t plan = take(&schedule), how = take(&schedule);
    /* Queries are lost, and so are keys on their way. */
    unsigned kinds = starved_one_in ? how & ~(unsigned)(STAGE_LIVE | STAGE_TRUE_KEYS) : how;
    schedule.stage = stage;
    stage_open(stage, plan_choose(how & STAGE_HOSTILE, plan), kinds, how);
    scarce_fail_often(starved_one_in, (uint64_t)plan << 8 | how);
    play(&schedule);
    uint64_t failed = scarce_failed();
    scarce_fail_often(0, 0);
    stage_come_to_rest(stage);
    if (how & 4)
        clients_close_all(stage);
    else
        play_last(&schedule, how);
    stage_close(stage, how & 2);
    struct schedule_result result = {stage->ledger.queries, stage->ledger.answers,
                                     stage->ledger.good, stage->ledger.secure, failed};
    free(stage);
    return result;
}
