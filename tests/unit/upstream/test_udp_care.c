/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Queries over UDP: forgery, loss, truncation, cookies, servers with quirks, the choice among
 * several servers. */

#include "dns/case_bits.h"
#include "dns/edns.h"
#include "support/fake_opt.h"
#include "unit/upstream/world.h"

static struct upstream_options udp_options(void)
{
    return upstream_options_default;
}

/* The peer's behaviour, which each test sets, and its observations. */
struct script {
    unsigned silent; /* leaves this many queries unanswered at first */
    uint64_t delay_us;
    bool truncate_udp, lower_case, no_edns, drop_tcp;
    bool wrong_id, wrong_name, wrong_case_udp, not_an_answer;
    uint16_t rcode;
    const uint8_t *server_cookie; /* eight bytes */
    bool bad_cookie_once, forget_cookie_udp, wrong_client_cookie;
    /* seen */
    unsigned asked, with_cookie, with_full_cookie, with_keepalive_udp, mixed_case;
    uint16_t ports[64], ids[64];
};

static void add_cookie(struct fake_answer *answer, const struct message *query,
                       struct script *script)
{
    struct edns_cookie cookie;
    uint8_t client[8];

    if (!script->server_cookie || edns_find_cookie(&query->edns, &cookie) != EDNS_FOUND)
        return;
    memcpy(client, cookie.client.data, 8);
    if (script->wrong_client_cookie)
        client[3] ^= 1;
    fake_opt_cookie(answer, client, span_of(script->server_cookie, 8),
                    script->bad_cookie_once ? RCODE_BADCOOKIE : 0);
    script->bad_cookie_once = false;
}

static void note(struct script *script, const struct fake_ask *ask, const struct message *query)
{
    struct edns_cookie cookie;
    struct edns_keepalive keepalive;
    unsigned at = script->asked % 64;

    script->ids[at] = query->id;
    if (ask->datagram)
        script->ports[at] = addr_port(&ask->datagram->from);
    if (edns_find_cookie(&query->edns, &cookie) == EDNS_FOUND) {
        script->with_cookie++;
        script->with_full_cookie += cookie.server.len > 0;
    }
    script->with_keepalive_udp +=
        ask->datagram && edns_find_keepalive(&query->edns, &keepalive) == EDNS_FOUND;
    bool upper = false, lower = false;
    for (int i = 0; i < query->question.name.len; i++) {
        upper |= query->question.name.wire[i] >= 'A' && query->question.name.wire[i] <= 'Z';
        lower |= query->question.name.wire[i] >= 'a' && query->question.name.wire[i] <= 'z';
    }
    script->mixed_case += upper && lower;
    script->asked++;
}

static void play(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    struct script *script = owner;
    struct message query;
    bool over_udp = ask->transport == FAKE_UDP;

    assert_int_equal(message_parse(&query, ask->query), MESSAGE_OK);
    note(script, ask, &query);
    answer->delay_us = script->delay_us;
    if (script->silent > 0 || (!over_udp && script->drop_tcp)) {
        script->silent -= script->silent > 0;
        answer->how = FAKE_SILENT;
        return;
    }
    if (script->no_edns && query.edns.present) {
        fake_answer_rcode(answer, ask->query, RCODE_FORMERR);
        return;
    }
    if (script->rcode) {
        fake_answer_rcode(answer, ask->query, script->rcode);
        return;
    }
    if (over_udp && script->truncate_udp) {
        fake_answer_truncated(answer, ask->query);
        return;
    }
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    if (!over_udp || !script->forget_cookie_udp)
        add_cookie(answer, &query, script);
    if (script->lower_case || (over_udp && script->wrong_case_udp))
        name_fold(query.question.name, answer->data + MESSAGE_QUESTION_OFFSET);
    if (script->wrong_id)
        answer->data[1] ^= 1;
    if (script->wrong_name)
        answer->data[MESSAGE_QUESTION_OFFSET + 1] ^= 1;
    if (script->not_an_answer)
        answer->data[2] &= 0x7f;
}

struct fixture {
    struct world world;
    struct script script;
    struct fake_peer *peer;
    struct upstream *upstream;
};

static void fixture_open(struct fixture *f, const struct upstream_options *options)
{
    memset(&f->script, 0, sizeof(f->script));
    f->upstream = world_open_server(&f->world, &f->peer, play, &f->script, options);
}

static void test_udp_each_query_has_a_fresh_port_id_and_case(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    for (int i = 0; i < 64; i++) {
        ask_and_wait(&asker, &f.world, "the-quick-brown-fox.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_false(asker.over_stream);
    }
    unsigned equal_ports = 0, equal_ids = 0, steps = 0;
    for (int i = 1; i < 64; i++) {
        equal_ports += f.script.ports[i] == f.script.ports[i - 1];
        equal_ids += f.script.ids[i] == f.script.ids[i - 1];
        steps += f.script.ids[i] == f.script.ids[i - 1] + 1;
    }
    assert_true(equal_ports < 3 && equal_ids < 3 && steps < 3);
    assert_int_equal(f.script.mixed_case, 64);
    assert_int_equal(f.script.with_keepalive_udp, 0); /* RFC 7828 section 3.2.1: never over UDP */
    world_close(&f.world);
}

static void expect_forgery(void (*set)(struct script *script))
{
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    set(&f.script);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(f.world.stats.upstream_forged >= 1);
    world_close(&f.world);
}

static void set_wrong_id(struct script *script)
{
    script->wrong_id = true;
    script->drop_tcp = true;
}

static void set_wrong_name(struct script *script)
{
    script->wrong_name = true;
    script->drop_tcp = true;
}

static void set_not_an_answer(struct script *script)
{
    script->not_an_answer = true;
    script->drop_tcp = true;
}

static void test_udp_forged_answers_are_rejected(void **state)
{
    (void)state;
    expect_forgery(set_wrong_id);
    expect_forgery(set_wrong_name);
    expect_forgery(set_not_an_answer);
}

/* A forged answer has the wrong case of letters. The query then uses TCP, where blind forging is
 * hard. */
static void test_udp_wrong_case_is_asked_over_tcp(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.wrong_case_udp = true;
    ask_and_wait(&asker, &f.world, "the-quick-brown-fox.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.over_stream);
    assert_int_equal(f.upstream->no_case_until_at, 0);
    world_close(&f.world);
}

/* A server that always lower-cases names does so over TCP, too. The upstream remembers that, and
 * uses UDP again. */
static void test_udp_servers_that_lose_case_are_remembered(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.lower_case = true;
    ask_and_wait(&asker, &f.world, "the-quick-brown-fox.example", f.upstream);
    assert_true(asker.over_stream);
    ask_and_wait(&asker, &f.world, "the-quick-brown-fox.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_false(asker.over_stream);
    world_close(&f.world);
}

/* A server that lower-cases names has no TCP. After three such answers, the upstream believes
 * them. */
static void test_udp_servers_that_lose_case_and_have_no_tcp_are_used(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.lower_case = true;
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_REFUSE);
    for (int i = 0; i < 10; i++) {
        ask_and_wait(&asker, &f.world, "the-quick-brown-fox.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.took_us < 500 * MS);
    }
    assert_true(f.world.stats.upstream_forged <= 5);
    world_close(&f.world);
}

static void test_udp_lost_queries_are_sent_again_by_measured_time(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.silent = 1;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_in_range(asker.took_us, 400 * MS, 410 * MS); /* no answer time is known yet */
    for (int i = 0; i < 20; i++)
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    f.script.silent = 2;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_in_range(asker.took_us, 3 * HEALTH_RTO_MIN_US, 3 * HEALTH_RTO_MIN_US + 20 * MS);
    world_close(&f.world);
}

/* The answer to the first query counts although a second one was sent. */
static void test_udp_a_slow_answer_still_counts(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.delay_us = 700 * MS;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_in_range(asker.took_us, 700 * MS, 710 * MS);
    world_close(&f.world);
}

static void test_udp_silence_ends_within_the_wall(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.silent = 1000;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.failure.any_network);
    assert_true(asker.took_us <= EXCHANGE_WALL_US + 2 * MS);
    assert_true(f.script.asked <= EXCHANGE_ATTEMPTS_MAX);
    world_close(&f.world);
}

static void test_udp_refused_fails_at_once(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_REFUSE);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.took_us < 10 * MS);
    fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_FAIL_NOW);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.took_us < 10 * MS);
    world_close(&f.world);
}

static void test_udp_truncated_is_asked_over_tcp(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.truncate_udp = true;
    for (int i = 0; i < 10; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.over_stream);
    }
    assert_int_equal(peer_dials(f.peer), 1);
    assert_int_equal(f.world.stats.upstream_retries_truncated, 10);
    world_close(&f.world);
}

static void test_udp_truncated_with_tcp_refused_fails(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.truncate_udp = true;
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_REFUSE);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    world_close(&f.world);
}

/* The client part is sent from the first query on, the server part from the second (RFC 7873). */
static void test_udp_cookies_are_learned_and_sent(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.server_cookie = (const uint8_t *)"cookies!";
    for (int i = 0; i < 5; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
    assert_int_equal(f.script.with_cookie, 5);
    assert_int_equal(f.script.with_full_cookie, 4);
    world_close(&f.world);
}

static void test_udp_bad_cookie_is_asked_again_with_the_new_one(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.server_cookie = (const uint8_t *)"cookies!";
    f.script.bad_cookie_once = true;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(f.script.asked, 2);
    assert_int_equal(f.script.with_full_cookie, 1);
    world_close(&f.world);
}

/* The server is known to send cookies, and an answer comes without one. The query then uses TCP. */
static void test_udp_missing_cookie_is_asked_over_tcp(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.server_cookie = (const uint8_t *)"cookies!";
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    f.script.forget_cookie_udp = true;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.over_stream);
    world_close(&f.world);
}

static void test_udp_wrong_cookie_is_forged(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.server_cookie = (const uint8_t *)"cookies!";
    f.script.wrong_client_cookie = true;
    f.script.drop_tcp = true;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(f.world.stats.upstream_forged >= 1);
    world_close(&f.world);
}

static void test_udp_servers_without_edns_are_remembered(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    f.script.no_edns = true;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(f.script.asked, 2);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(f.script.asked, 3);
    world_close(&f.world);
}

/* Plays a flood of guesses at the right port. The query leaves that port, and TCP answers. */
static void guess(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    struct script *script = owner;
    play(script, ask, answer);
    if (ask->transport == FAKE_UDP) {
        answer->data[0] ^= 0x55;
        answer->extra_copies = 100;
    }
}

static void test_udp_a_flood_of_guesses_leads_to_tcp(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = udp_options();
    fixture_open(&f, &options);
    fake_peer_set(f.peer, guess, &f.script);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.over_stream);
    assert_true(asker.took_us < 50 * MS);
    world_close(&f.world);
}

/* ---- several upstreams ---- */

struct several {
    struct world world;
    struct script scripts[3];
    struct fake_peer *peers[3];
    struct upstream *group[3];
};

static void several_open(struct several *s)
{
    static const char *const addrs[] = {"10.1.1.1@53", "10.1.1.2@53", "10.1.1.3@53"};
    struct upstream_options options = udp_options();
    memset(s->scripts, 0, sizeof(s->scripts));
    world_open(&s->world);
    for (int i = 0; i < 3; i++) {
        s->peers[i] = world_peer(&s->world, addrs[i], play, &s->scripts[i]);
        s->group[i] = world_upstream(&s->world, addrs[i], &options);
    }
}

static void several_ask(struct several *s, struct asker *asker)
{
    ask_group(asker, &s->world, "www.example", s->group, 3);
    for (int i = 0; i < 10000 && asker->result == ASKER_WAITING; i++)
        fake_loop_advance(s->world.loop, MS);
}

static void test_group_prefers_the_fast_and_keeps_measuring_the_others(void **state)
{
    (void)state;
    struct several s;
    struct asker asker;
    several_open(&s);
    s.scripts[0].delay_us = 20 * MS;
    s.scripts[1].delay_us = 2 * MS;
    s.scripts[2].delay_us = 30 * MS;
    for (int i = 0; i < 400; i++) {
        several_ask(&s, &asker);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
    assert_true(s.scripts[1].asked > 340);
    assert_true(s.scripts[0].asked >= 3 && s.scripts[2].asked >= 3);
    world_close(&s.world);
}

static void test_group_bad_answers_lead_to_another_server(void **state)
{
    (void)state;
    struct several s;
    struct asker asker;
    several_open(&s);
    s.scripts[0].rcode = s.scripts[1].rcode = RCODE_SERVFAIL;
    for (int i = 0; i < 50; i++) {
        ask_group(&asker, &s.world, "www.example", s.group, 3);
        asker.bad_rcode = RCODE_SERVFAIL;
        fake_loop_advance(s.world.loop, 100 * MS);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_ptr_equal(asker.from, s.group[2]);
    }
    s.scripts[2].rcode = RCODE_SERVFAIL;
    ask_group(&asker, &s.world, "www.example", s.group, 3);
    asker.bad_rcode = RCODE_SERVFAIL;
    fake_loop_advance(s.world.loop, 100 * MS);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.failure.any_answer);
    assert_int_equal(asker.failure.rcode, RCODE_SERVFAIL);
    world_close(&s.world);
}

/* A server falls silent. The first clients wait for a retransmission, and later clients do not.
 * When the server is back, it is found without a waiting client. */
static void test_group_a_dead_server_is_left_and_found_again(void **state)
{
    (void)state;
    struct several s;
    struct asker asker;
    unsigned delayed = 0;
    several_open(&s);
    for (int i = 0; i < 60; i++)
        several_ask(&s, &asker);
    fake_server_set_udp(fake_peer_server(s.peers[0]), FAKE_UDP_DROP);
    for (int i = 0; i < 500; i++) {
        several_ask(&s, &asker);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        delayed += asker.took_us > 20 * MS;
        fake_loop_advance(s.world.loop, 10 * MS);
    }
    assert_true(delayed <= HEALTH_ILL_SILENCES + 1);
    fake_server_set_udp(fake_peer_server(s.peers[0]), FAKE_UDP_DELIVER);
    for (int i = 0; i < 1500; i++) {
        several_ask(&s, &asker);
        assert_true(asker.took_us < 20 * MS);
        fake_loop_advance(s.world.loop, 10 * MS);
    }
    assert_false(health_is_ill(&s.group[0]->udp));
    world_close(&s.world);
}

/* The server was never measured, so it would come before the others each time. */
static void test_group_a_server_that_refuses_is_left_and_found_again(void **state)
{
    (void)state;
    struct several s;
    struct asker asker;
    several_open(&s);
    fake_server_set_udp(fake_peer_server(s.peers[0]), FAKE_UDP_REFUSE);
    for (int i = 0; i < 500; i++) {
        several_ask(&s, &asker);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        fake_loop_advance(s.world.loop, 10 * MS);
    }
    assert_true(s.group[0]->queries <= HEALTH_ILL_SILENCES + 10); /* five seconds of probes */
    fake_server_set_udp(fake_peer_server(s.peers[0]), FAKE_UDP_DELIVER);
    for (int i = 0; i < 1500; i++) {
        several_ask(&s, &asker);
        fake_loop_advance(s.world.loop, 10 * MS);
    }
    assert_false(health_is_ill(&s.group[0]->udp));
    assert_true(s.scripts[0].asked > 100);
    world_close(&s.world);
}

static void test_udp_signatures_lost_in_three_zones_prove_that_a_server_strips(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    struct upstream_options options = upstream_options_default;
    struct upstream *upstream = world_upstream(&world, "192.0.2.1@53", &options);
    assert_false(upstream_lost_signatures(upstream, 1, false));
    assert_false(upstream_lost_signatures(upstream, 2, false));
    for (int i = 0; i < 9; i++) /* the same two zones again: a broken zone proves nothing */
        assert_false(upstream_lost_signatures(upstream, 1 + (uint64_t)(i % 2), false));
    upstream_kept_signatures(upstream);
    assert_false(upstream_lost_signatures(upstream, 3, false));
    assert_false(upstream_lost_signatures(upstream, 2, false));
    assert_false(upstream_facts(upstream).strips);
    assert_true(upstream_lost_signatures(upstream, 1, false));
    /* the server is already known to strip */
    assert_false(upstream_lost_signatures(upstream, 4, false));
    assert_true(upstream_facts(upstream).strips);
    fake_loop_advance(world.loop, UPSTREAM_QUIRK_US + 1);
    /* the server may have changed, so it is asked again */
    assert_false(upstream_facts(upstream).strips);
    assert_false(upstream_lost_signatures(upstream, 5, false));
    assert_true(upstream_facts(upstream).strips);
    /* the network, and not the server, may have stripped the signatures */
    upstream_forget_path(upstream);
    assert_false(upstream->strips);
    assert_true(upstream_lost_signatures(upstream, 6, true));
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_udp_each_query_has_a_fresh_port_id_and_case),
        cmocka_unit_test(test_udp_forged_answers_are_rejected),
        cmocka_unit_test(test_udp_wrong_case_is_asked_over_tcp),
        cmocka_unit_test(test_udp_servers_that_lose_case_are_remembered),
        cmocka_unit_test(test_udp_servers_that_lose_case_and_have_no_tcp_are_used),
        cmocka_unit_test(test_udp_lost_queries_are_sent_again_by_measured_time),
        cmocka_unit_test(test_udp_a_slow_answer_still_counts),
        cmocka_unit_test(test_udp_silence_ends_within_the_wall),
        cmocka_unit_test(test_udp_refused_fails_at_once),
        cmocka_unit_test(test_udp_truncated_is_asked_over_tcp),
        cmocka_unit_test(test_udp_truncated_with_tcp_refused_fails),
        cmocka_unit_test(test_udp_cookies_are_learned_and_sent),
        cmocka_unit_test(test_udp_bad_cookie_is_asked_again_with_the_new_one),
        cmocka_unit_test(test_udp_missing_cookie_is_asked_over_tcp),
        cmocka_unit_test(test_udp_wrong_cookie_is_forged),
        cmocka_unit_test(test_udp_servers_without_edns_are_remembered),
        cmocka_unit_test(test_udp_a_flood_of_guesses_leads_to_tcp),
        cmocka_unit_test(test_group_prefers_the_fast_and_keeps_measuring_the_others),
        cmocka_unit_test(test_group_bad_answers_lead_to_another_server),
        cmocka_unit_test(test_group_a_dead_server_is_left_and_found_again),
        cmocka_unit_test(test_group_a_server_that_refuses_is_left_and_found_again),
        cmocka_unit_test(test_udp_signatures_lost_in_three_zones_prove_that_a_server_strips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
