/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Exchanges in trouble: their ways fail one after the other, and servers answer oddly. */

#include "dns/edns.h"
#include "support/fake_opt.h"
#include "unit/upstream/world.h"

struct peer_script {
    bool bad_cookie_udp; /* sends BADCOOKIE to every datagram */
    bool truncate_udp;
    bool notimp;       /* sends NOTIMP without OPT for odd names ("o...") */
    bool drops_edns;   /* drops every query with an OPT */
    bool bare_formerr; /* sends a FORMERR that is only a header to every query with an OPT */
    bool swallows;     /* never answers over streams */
    uint64_t delay_us;
    unsigned with_opt, without_opt;
};

static void scripted(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    struct peer_script *script = owner;
    struct edns_cookie cookie;
    struct message query;

    assert_int_equal(message_parse(&query, ask->query), MESSAGE_OK);
    *(query.edns.present ? &script->with_opt : &script->without_opt) += 1;
    answer->delay_us = script->delay_us;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    if (script->bad_cookie_udp && ask->transport == FAKE_UDP) {
        fake_answer_rcode(answer, ask->query, RCODE_BADCOOKIE & 15);
        if (edns_find_cookie(&query.edns, &cookie) == EDNS_FOUND)
            fake_opt_cookie(answer, cookie.client.data, span_of("cookies!", 8), RCODE_BADCOOKIE);
    }
    if (script->swallows && ask->transport != FAKE_UDP)
        answer->how = FAKE_SILENT;
    if (script->truncate_udp && ask->transport == FAKE_UDP)
        fake_answer_truncated(answer, ask->query);
    if (script->notimp && (ask->query.data[13] | 0x20) == 'o')
        fake_answer_rcode(answer, ask->query, RCODE_NOTIMP);
    if (script->drops_edns && query.edns.present)
        answer->how = FAKE_SILENT;
    if (script->bare_formerr && query.edns.present) {
        fake_answer_rcode(answer, ask->query, RCODE_FORMERR);
        memset(answer->data + 4, 0, 8);
        answer->len = 12;
    }
}

struct fixture {
    struct world world;
    struct peer_script script;
    struct fake_peer *peer;
    struct upstream *upstream;
};

static void fixture_open(struct fixture *f, const struct upstream_options *options)
{
    f->script = (struct peer_script){0};
    f->upstream = world_open_server(&f->world, &f->peer, scripted, &f->script, options);
}

/* A server with TCP only refuses UDP at once, while its connection is about to open. */
static void test_exchange_refused_over_udp_waits_for_the_dial(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    fake_server_set_accept_delay(fake_peer_server(f.peer), 50 * MS);
    fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_REFUSE);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.over_stream);
    world_close(&f.world);
}

static void test_exchange_refused_over_both_fails_at_once(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.prewarm = false;
    fixture_open(&f, &options);
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_REFUSE);
    fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_REFUSE);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.took_us < 50 * MS);
    world_close(&f.world);
}

/* No file is left for a UDP socket, so the query waits for the dial. */
static void test_exchange_without_a_udp_socket_waits_for_the_dial(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    fake_net_fail_opens(f.world.net, 1, ERR_NO_FILES);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&f.world);
}

#ifndef WORLD_TLS /* TLS has no such fallback from UDP to TCP */
/* A second query is in flight, and only the first truncated answer counts. */
static void test_exchange_truncated_while_hedged_goes_to_tcp_once(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = upstream_options_default;
    fixture_open(&f, &options);
    f.script.truncate_udp = true;
    fake_server_set_latency(fake_peer_server(f.peer), 225 * MS);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.took_us < 1400 * MS); /* three round trips */
    assert_int_equal(fake_peer_udp_queries(f.peer), 2);
    assert_int_equal(peer_stream_queries(f.peer), 1);
    world_close(&f.world);
}

/* RFC 7873 section 5.3: TCP follows if a server keeps rejecting cookies over UDP. */
static void test_exchange_bad_cookies_for_ever_lead_to_tcp(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = upstream_options_default;
    fixture_open(&f, &options);
    f.script.bad_cookie_udp = true;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.over_stream);
    assert_int_equal(fake_peer_udp_queries(f.peer), 2);
    world_close(&f.world);
}

/* Clients choose the questions, so one odd question must not cost a server its EDNS. */
static void test_exchange_one_odd_question_does_not_end_edns(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = upstream_options_default;
    fixture_open(&f, &options);
    f.script.notimp = true;
    ask_and_wait(&asker, &f.world, "odd.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(asker.rcode, RCODE_NOTIMP);
    assert_int_equal(f.script.without_opt, 1);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(f.script.without_opt, 1);
    world_close(&f.world);
}

/* Some middleboxes drop queries with EDNS. After two silent tries, a query leaves without OPT, and
 * the upstream remembers that. */
static void test_exchange_asks_a_server_that_drops_edns_without_it(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = upstream_options_default;
    fixture_open(&f, &options);
    f.script.drops_edns = true;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(f.script.with_opt, UPSTREAM_EDNS_TRIES);
    assert_true(asker.took_us < 2 * S);
    ask_and_wait(&asker, &f.world, "mail.example", f.upstream);
    assert_int_equal(f.script.with_opt, UPSTREAM_EDNS_TRIES);
    assert_true(asker.took_us < 50 * MS);
    fake_loop_advance(f.world.loop, UPSTREAM_QUIRK_US);
    f.script.drops_edns = false; /* the middlebox is gone now */
    ask_and_wait(&asker, &f.world, "ftp.example", f.upstream);
    assert_int_equal(f.script.with_opt, UPSTREAM_EDNS_TRIES + 1);
    world_close(&f.world);
}

/* The upstream uses EDNS in spite of losses, if the server has understood it once. */
static void test_exchange_keeps_edns_after_losses_if_the_server_understood_it_once(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = upstream_options_default;
    fixture_open(&f, &options);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    f.script.drops_edns = true;
    ask_and_wait(&asker, &f.world, "mail.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(f.script.without_opt, 0);
    world_close(&f.world);
}

/* Old servers return only a header. */
static void test_exchange_a_bare_formerr_means_no_edns(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = upstream_options_default;
    fixture_open(&f, &options);
    f.script.bare_formerr = true;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.took_us < 50 * MS);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(f.script.with_opt, 1);
    world_close(&f.world);
}
#endif

/* The connection goes dark, and UDP is not allowed. A fresh connection takes the query. */
static void test_exchange_without_fallback_goes_on_over_a_fresh_connection(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    fixture_open(&f, &options);
    fake_loop_advance(f.world.loop, 100 * MS);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    fake_conn_go_dark(peer_conn(f.peer, 0));
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.took_us < 500 * MS);
    world_close(&f.world);
}

/* The server is nailed, but its TCP never worked and its UDP is slow. The fast server gets the
 * queries. */
static void test_exchange_an_unmeasured_stream_does_not_count_as_fast(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream *group[2];
    struct upstream_options nailed = world_nailed(), udp = upstream_options_default;
    unsigned fast = 0;
    nailed.prewarm = false;
    fixture_open(&f, &nailed);
    f.script.delay_us = 200 * MS;
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_REFUSE);
    world_peer(&f.world, "10.1.1.2@53", NULL, NULL);
    group[0] = f.upstream;
    group[1] = world_upstream(&f.world, "10.1.1.2@53", &udp);
    for (int i = 0; i < 100; i++) {
        ask_group(&asker, &f.world, "www.example", group, 2);
        fake_loop_advance(f.world.loop, S);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        fast += asker.from == group[1];
    }
    assert_true(fast > 80);
    world_close(&f.world);
}

/* One of two servers vanishes: its connection goes dark, and dials and datagrams are lost. Once the
 * silence is noticed, the other server gets all queries, long before a dial times out. The first
 * server is found again when it is back. */
static void test_exchange_a_server_that_vanished_is_left_at_once(void **state)
{
    (void)state;
    enum upstream_fallback fallbacks[] = {UPSTREAM_FALLBACK_UDP, UPSTREAM_FALLBACK_NONE};
    /* The queries of the time before that, some of which go to the vanished server by chance. The
     * TLS server's answer time over UDP is unknown, because its sibling has it. */
    int noticed = WORLD_STREAM == FAKE_TLS ? 100 : 50;
    for (int way = 0; way < 2; way++) {
        static struct asker askers[300];
        struct asker asker;
        struct fixture f;
        struct upstream *group[2];
        struct upstream_options options = world_nailed();
        options.fallback = fallbacks[way];
        fixture_open(&f, &options);
        world_peer(&f.world, "10.1.1.2@53", NULL, NULL);
        group[0] = f.upstream;
        group[1] = world_upstream(&f.world, "10.1.1.2@53", &options);
        fake_loop_advance(f.world.loop, 100 * MS);
        for (int i = 0; i < 50; i++) {
            ask_group(&asker, &f.world, "www.example", group, 2);
            fake_loop_advance(f.world.loop, 50 * MS);
        }
        fake_conn_go_dark(peer_conn(f.peer, 0));
        fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_BLACKHOLE);
        fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_DROP);
        for (int i = 0; i < 300; i++) {
            ask_group(&askers[i], &f.world, "www.example", group, 2);
            fake_loop_advance(f.world.loop, 10 * MS);
        }
        fake_loop_advance(f.world.loop, S);
        for (int i = 0; i < 300; i++) {
            assert_int_equal(askers[i].result, ASKER_ANSWERED);
            assert_true(i < noticed || askers[i].took_us < 40 * MS);
        }
        fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_ACCEPT);
        fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_DELIVER);
        for (int i = 0; i < 3000 && (upstream_is_ill(f.upstream) || i < 100); i++) {
            ask_group(&asker, &f.world, "www.example", group, 2);
            fake_loop_advance(f.world.loop, 10 * MS);
            assert_int_equal(asker.result, ASKER_ANSWERED);
        }
        assert_false(upstream_is_ill(f.upstream));
        world_close(&f.world);
    }
}

#ifndef WORLD_TLS
/* The path loses all packets for a while. A question that still waits after that gets its
 * answer. */
static void test_exchange_datagrams_notice_soon_that_the_path_is_back(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    fake_loop_advance(f.world.loop, 100 * MS);
    for (int i = 0; i < 50; i++)
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    fake_conn_go_dark(peer_conn(f.peer, 0));
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_BLACKHOLE);
    fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_DROP);
    for (int i = 0; i < 3; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_FAILED);
        assert_in_range(asker.exchange.attempts_made, 2, EXCHANGE_ATTEMPTS_MAX);
    }
    ask(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, EXCHANGE_WALL_US - UPSTREAM_RTO_INSTEAD_US - 100 * MS);
    fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_DELIVER);
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&f.world);
}
#endif

/* A server that comes back over UDP alone is found again. */
static void test_exchange_a_server_back_over_udp_alone_is_found(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream *group[2];
    struct upstream_options nailed = world_nailed(), udp = upstream_options_default;
    nailed.prewarm = false;
    fixture_open(&f, &nailed);
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_BLACKHOLE);
    fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_DROP);
    world_peer(&f.world, "10.1.1.2@53", NULL, NULL);
    group[0] = f.upstream;
    group[1] = world_upstream(&f.world, "10.1.1.2@53", &udp);
    /* After its first silence, few queries choose this server. */
    for (int i = 0; i < 3000 && !upstream_is_ill(f.upstream); i++) {
        ask_group(&asker, &f.world, "www.example", group, 2);
        fake_loop_advance(f.world.loop, S);
    }
    assert_true(upstream_is_ill(f.upstream));
    fake_server_set_udp(fake_peer_server(f.peer), FAKE_UDP_DELIVER);
    for (int i = 0; i < 3000 && (upstream_is_ill(f.upstream) || i < 30); i++) {
        ask_group(&asker, &f.world, "www.example", group, 2);
        fake_loop_advance(f.world.loop, S);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
    assert_false(upstream_is_ill(f.upstream));
    world_close(&f.world);
}

/* A query that waits for room does not count as one that waits for a dial. */
static void test_exchange_waiting_for_room_is_not_cold(void **state)
{
    (void)state;
    struct fixture f;
    struct asker askers[3];
    struct upstream_options options = world_no_fallback();
    options.max_in_flight = 1;
    options.max_connections = 1;
    fixture_open(&f, &options);
    fake_loop_advance(f.world.loop, 100 * MS);
    for (int i = 0; i < 3; i++)
        ask(&askers[i], &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 100 * MS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(f.world.stats.upstream_cold_queries, 0);
    world_close(&f.world);
}

/* Asks this many queries, whose answers take delay_us, so that the upstream learns that time. */
static void learn_time(struct fixture *f, int count, uint64_t delay_us)
{
    struct asker asker;
    f->script.delay_us = delay_us;
    for (int i = 0; i < count; i++) {
        ask_and_wait(&asker, &f->world, "www.example", f->upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
}

/* Silences the streams. Every question must get its answer over UDP. */
static void swallow_and_ask(struct fixture *f)
{
    enum { COUNT = 20 };
    struct asker askers[COUNT];
    f->script.delay_us = 0;
    f->script.swallows = true;
    for (int i = 0; i < COUNT; i++) {
        ask(&askers[i], &f->world, "www.example", f->upstream);
        fake_loop_advance(f->world.loop, 100 * MS);
    }
    fake_loop_advance(f->world.loop, EXCHANGE_WALL_US);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
}

/* The server is known to be slow, but a query that waits for it must leave time for UDP. */
static void test_exchange_a_slow_server_whose_streams_fall_silent_is_asked_over_udp(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    options.fallback = UPSTREAM_FALLBACK_UDP;
    fixture_open(&f, &options);
    learn_time(&f, 30, 2200 * MS);
    swallow_and_ask(&f);
    world_close(&f.world);
}

/* The server's usual answer time is longer than a question may wait. */
static void
test_exchange_an_erratic_server_whose_streams_fall_silent_is_asked_over_udp(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    options.fallback = UPSTREAM_FALLBACK_UDP;
    fixture_open(&f, &options);
    for (int i = 0; i < 10; i++) {
        learn_time(&f, 2, 2 * MS);
        learn_time(&f, 2, 2200 * MS);
    }
    swallow_and_ask(&f);
    world_close(&f.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange_refused_over_udp_waits_for_the_dial),
        cmocka_unit_test(test_exchange_refused_over_both_fails_at_once),
        cmocka_unit_test(test_exchange_without_a_udp_socket_waits_for_the_dial),
#ifndef WORLD_TLS
        cmocka_unit_test(test_exchange_truncated_while_hedged_goes_to_tcp_once),
        cmocka_unit_test(test_exchange_bad_cookies_for_ever_lead_to_tcp),
        cmocka_unit_test(test_exchange_one_odd_question_does_not_end_edns),
        cmocka_unit_test(test_exchange_asks_a_server_that_drops_edns_without_it),
        cmocka_unit_test(test_exchange_keeps_edns_after_losses_if_the_server_understood_it_once),
        cmocka_unit_test(test_exchange_a_bare_formerr_means_no_edns),
#endif
        cmocka_unit_test(test_exchange_without_fallback_goes_on_over_a_fresh_connection),
        cmocka_unit_test(test_exchange_an_unmeasured_stream_does_not_count_as_fast),
        cmocka_unit_test(test_exchange_a_server_that_vanished_is_left_at_once),
#ifndef WORLD_TLS
        cmocka_unit_test(test_exchange_datagrams_notice_soon_that_the_path_is_back),
#endif
        cmocka_unit_test(test_exchange_a_server_back_over_udp_alone_is_found),
        cmocka_unit_test(test_exchange_waiting_for_room_is_not_cold),
        cmocka_unit_test(test_exchange_a_slow_server_whose_streams_fall_silent_is_asked_over_udp),
        cmocka_unit_test(
            test_exchange_an_erratic_server_whose_streams_fall_silent_is_asked_over_udp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
