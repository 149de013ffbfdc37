/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The draw of source addresses (sources.h), and queries and connections that leave from them. */

#include "base/log.h"
#include "dns/edns.h"
#include "support/fake_opt.h"
#include "unit/upstream/world.h"

#include "unit/upstream/source_list.h"

enum { NOW = 1000 };

static unsigned warnings, notices;
static char last_line[512];

static void keep_lines(enum log_level level, const char *text)
{
    warnings += level == LOG_WARNING;
    notices += level == LOG_NOTICE;
    snprintf(last_line, sizeof(last_line), "%s", text);
}

static int watch_log(void **state)
{
    (void)state;
    warnings = notices = 0;
    log_set_sink(keep_lines);
    return 0;
}

static int unwatch_log(void **state)
{
    (void)state;
    log_set_sink(NULL);
    return 0;
}

/* ---- draws ---- */

static struct addr drawn_at(const struct sources *sources, uint64_t now)
{
    struct source_draw draw = {0};
    sources_draw(sources, &draw, now);
    return draw.addr;
}

static bool is_at(const struct addr *addr, const char *ip)
{
    char text[ADDR_TEXT_MAX];
    return strcmp(addr_format_ip(addr, text), ip) == 0;
}

static void test_each_entry_is_drawn_equally_often(void **state)
{
    (void)state;
    struct sources *sources = source_list("192.0.2.1 192.0.2.2 192.0.2.3 198.51.100.0/24");
    unsigned counts[4] = {0};
    for (unsigned i = 0; i < 4000; i++) {
        struct source_draw draw = {0};
        sources_draw(sources, &draw, NOW);
        counts[draw.index]++;
        assert_true(prefix_contains(&sources->list[draw.index].prefix, &draw.addr));
        assert_int_equal(draw.is_foreign, draw.index == 3);
        assert_int_equal(addr_port(&draw.addr), 0);
    }
    for (unsigned i = 0; i < 4; i++)
        assert_in_range(counts[i], 800, 1200);
    sources_unref(sources);
}

static void test_all_host_bits_of_a_prefix_are_random(void **state)
{
    (void)state;
    struct sources *sources = source_list("2001:db8:0:7::/61");
    uint8_t ones[16] = {0}, zeros[16] = {0};
    for (unsigned i = 0; i < 500; i++) {
        struct addr addr = drawn_at(sources, NOW);
        assert_true(prefix_contains(&sources->list[0].prefix, &addr));
        for (unsigned byte = 0; byte < 16; byte++) {
            ones[byte] |= addr.in6.sin6_addr.s6_addr[byte];
            zeros[byte] |= (uint8_t)~addr.in6.sin6_addr.s6_addr[byte];
        }
    }
    assert_int_equal(ones[7] & zeros[7], 0x07);
    for (unsigned byte = 8; byte < 16; byte++)
        assert_int_equal(ones[byte] & zeros[byte], 0xff);
    sources_unref(sources);
}

static void test_special_addresses_of_a_prefix_are_not_drawn(void **state)
{
    (void)state;
    struct sources *v4 = source_list("192.0.2.4/30"), *v6 = source_list("2001:db8::8/126");
    struct sources *pair = source_list("192.0.2.6/31");
    bool has_first = false, has_last = false;
    for (unsigned i = 0; i < 200; i++) {
        struct addr addr = drawn_at(v4, NOW);
        assert_true(is_at(&addr, "192.0.2.5") || is_at(&addr, "192.0.2.6"));
        addr = drawn_at(v6, NOW);
        assert_false(is_at(&addr, "2001:db8::8"));
        has_last |= is_at(&addr, "2001:db8::b");
        addr = drawn_at(pair, NOW);
        has_first |= is_at(&addr, "192.0.2.6");
    }
    assert_true(has_first && has_last);
    sources_unref(v4);
    sources_unref(v6);
    sources_unref(pair);
}

static void test_turns_take_the_entries_one_after_another(void **state)
{
    (void)state;
    struct sources *sources = source_list("192.0.2.1 192.0.2.2 192.0.2.3");
    for (unsigned turn = 0; turn < 9; turn++) {
        struct source_draw draw = {0};
        sources_draw_in_turn(sources, &draw, turn, NOW);
        assert_int_equal(draw.index, turn % 3);
        draw = (struct source_draw){.tried = UINT64_C(1) << turn % 3};
        sources_draw_in_turn(sources, &draw, turn, NOW);
        assert_int_equal(draw.index, (turn + 1) % 3);
    }
    sources_unref(sources);
}

static void test_an_address_that_the_machine_lacks_rests_and_returns(void **state)
{
    (void)state;
    struct sources *sources = source_list("192.0.2.1 192.0.2.2");
    struct source_draw draw = {0};
    sources_draw_in_turn(sources, &draw, 0, NOW);
    assert_true(sources_note(sources, &draw, ERR_ADDRESS_UNKNOWN, NOW));
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_line, "server.outgoing: 192.0.2.1 cannot be used: this machine has "
                                      "no such address; queries leave from the other addresses"));
    sources_draw(sources, &draw, NOW);
    assert_int_equal(draw.index, 1);
    assert_false(sources_note(sources, &draw, ERR_OK, NOW));
    for (unsigned i = 0; i < 100; i++) {
        struct addr addr = drawn_at(sources, NOW + SOURCE_REST_US - 1);
        assert_true(is_at(&addr, "192.0.2.2"));
    }
    draw = (struct source_draw){0}; /* the next try fails, too: it rests again without a line */
    sources_draw_in_turn(sources, &draw, 0, NOW + SOURCE_REST_US);
    assert_int_equal(draw.index, 0);
    assert_true(sources_note(sources, &draw, ERR_ADDRESS_UNKNOWN, NOW + SOURCE_REST_US));
    assert_int_equal(warnings, 1);
    draw = (struct source_draw){0};
    sources_draw_in_turn(sources, &draw, 0, NOW + 2 * SOURCE_REST_US);
    assert_false(sources_note(sources, &draw, ERR_OK, NOW + 2 * SOURCE_REST_US));
    assert_int_equal(notices, 1);
    assert_non_null(strstr(last_line, "server.outgoing: 192.0.2.1 can be used again"));
    sources_unref(sources);
}

/* An owner of a zone chooses the peers, and must not choose our addresses for other peers. */
static void test_an_address_without_a_route_to_a_peer_does_not_rest(void **state)
{
    (void)state;
    static const enum err whys[] = {ERR_UNREACHABLE, ERR_PERMISSION, ERR_INVALID};
    for (unsigned i = 0; i < ARRAY_LEN(whys); i++) {
        struct sources *sources = source_list("192.0.2.1 192.0.2.2");
        struct source_draw draw = {0};
        unsigned count = 0;
        sources_draw_in_turn(sources, &draw, 0, NOW);
        assert_true(sources_note(sources, &draw, whys[i], NOW));
        sources_draw_in_turn(sources, &draw, 0, NOW);
        assert_int_equal(draw.index, 1);
        assert_false(sources_note(sources, &draw, ERR_OK, NOW));
        assert_int_equal(warnings, 0);
        for (unsigned j = 0; j < 100; j++) {
            struct addr addr = drawn_at(sources, NOW + 1);
            count += is_at(&addr, "192.0.2.1");
        }
        assert_in_range(count, 20, 80);
        sources_unref(sources);
    }
}

/* A zone may list addresses to which no route exists, so the tries are bounded. */
static void test_tries_without_a_route_are_bounded(void **state)
{
    (void)state;
    char text[2048] = "";
    for (unsigned i = 1; i <= SOURCES_MAX; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "192.0.2.%u ", i);
    struct sources *sources = source_list(text);
    struct source_draw draw = {0};
    unsigned tries = 1;
    sources_draw(sources, &draw, NOW);
    for (; sources_note(sources, &draw, ERR_UNREACHABLE, NOW); tries++)
        sources_draw(sources, &draw, NOW);
    assert_int_equal(tries, SOURCE_ROUTE_TRIES);
    draw = (struct source_draw){0}; /* all but the last are missing */
    for (tries = 0; tries < SOURCES_MAX; tries++) {
        sources_draw(sources, &draw, NOW);
        if (!sources_note(sources, &draw, draw.index == 63 ? ERR_OK : ERR_ADDRESS_UNKNOWN, NOW))
            break;
    }
    assert_int_equal(draw.index, 63);
    sources_unref(sources);
}

static void test_other_errors_leave_an_address_alone(void **state)
{
    (void)state;
    struct sources *sources = source_list("192.0.2.1 192.0.2.2");
    struct source_draw draw = {0};
    sources_draw(sources, &draw, NOW);
    assert_false(sources_note(sources, &draw, ERR_NO_FILES, NOW));
    assert_false(sources_note(sources, &draw, ERR_REFUSED, NOW));
    assert_int_equal(warnings, 0);
    sources_unref(sources);
}

static void test_equal_lists_have_the_same_entries_in_the_same_order(void **state)
{
    (void)state;
    struct sources *a = source_list("192.0.2.1 192.0.2.0/24"), *b = source_list("192.0.2.1");
    struct sources *c = source_list("192.0.2.1 192.0.2.0/24"),
                   *d = source_list("192.0.2.1 10.0.0.0/8");
    assert_true(sources_equal(a, c));
    assert_true(sources_equal(NULL, NULL));
    assert_false(sources_equal(a, NULL));
    assert_false(sources_equal(a, b));
    assert_false(sources_equal(a, d));
    assert_int_equal(sources_hash(a, 7), sources_hash(c, 7));
    assert_int_not_equal(sources_hash(a, 7), sources_hash(d, 7));
    assert_null(sources_only(a));
    assert_non_null(sources_only(b));
    sources_unref(a);
    sources_unref(b);
    sources_unref(c);
    sources_unref(d);
}

/* ---- queries ---- */

struct seen {
    unsigned asked, bad_cookies;
    bool sends_cookies;
    struct addr from[64];
    uint8_t client[64][8];
    size_t server_len[64];
};

static void answer_and_note(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    struct seen *seen = owner;
    struct message query;
    struct edns_cookie cookie;
    unsigned at = seen->asked++ % 64;

    assert_int_equal(message_parse(&query, ask->query), MESSAGE_OK);
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    seen->server_len[at] = 0;
    if (ask->datagram)
        seen->from[at] = ask->datagram->from;
    if (edns_find_cookie(&query.edns, &cookie) != EDNS_FOUND)
        return;
    memcpy(seen->client[at], cookie.client.data, 8);
    seen->server_len[at] = cookie.server.len;
    if (!seen->sends_cookies)
        return;
    bool is_bad = seen->bad_cookies > 0 && cookie.server.len == 0;
    seen->bad_cookies -= is_bad;
    /* The server's part depends on the address, as RFC 9018 has it. */
    struct addr no_port = seen->from[at];
    addr_set_port(&no_port, 0);
    uint64_t part = addr_hash(&no_port, 5);
    if (cookie.server.len)
        assert_memory_equal(cookie.server.data, &part, 8);
    fake_opt_cookie(answer, seen->client[at], span_of((uint8_t *)&part, 8),
                    is_bad ? RCODE_BADCOOKIE : 0);
}

struct fixture {
    struct world world;
    struct seen seen;
    struct fake_peer *peer;
    struct upstream *upstream;
    struct sources *sources;
};

static void fixture_open(struct fixture *f, const char *list, struct upstream_options options)
{
    memset(&f->seen, 0, sizeof(f->seen));
    options.sources = f->sources = source_list(list);
    f->upstream = world_open_server(&f->world, &f->peer, answer_and_note, &f->seen, &options);
}

static void fixture_close(struct fixture *f)
{
    world_close(&f->world);
    sources_unref(f->sources);
}

static void ask_times(struct fixture *f, unsigned times)
{
    struct asker asker;
    for (unsigned i = 0; i < times; i++) {
        ask_and_wait(&asker, &f->world, "www.example", f->upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
}

/* How many of the queries seen came from this address. */
static unsigned count_from(const struct seen *seen, const char *ip)
{
    unsigned count = 0;
    for (unsigned i = 0; i < seen->asked && i < 64; i++)
        count += is_at(&seen->from[i], ip);
    return count;
}

static void break_source(struct fixture *f, const char *ip, enum err why)
{
    struct addr source = fake_addr(ip);
    fake_net_break_source(f->world.net, &source, why);
}

static void test_datagrams_leave_from_all_addresses(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, "10.9.9.1 10.9.9.2 10.9.9.3", upstream_options_default);
    ask_times(&f, 60);
    unsigned first = count_from(&f.seen, "10.9.9.1"), second = count_from(&f.seen, "10.9.9.2");
    assert_in_range(first, 6, 34);
    assert_in_range(second, 6, 34);
    assert_int_equal(first + second + count_from(&f.seen, "10.9.9.3"), 60);
    fixture_close(&f);
}

/* Ports are shared within a burst, which needs one address. */
static void test_a_burst_keeps_its_address(void **state)
{
    (void)state;
    struct fixture f;
    static struct asker askers[16];
    fixture_open(&f, "10.9.9.1 10.9.9.2 10.9.9.3 10.9.9.4", upstream_options_default);
    for (unsigned i = 0; i < 16; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%u.example", i);
        ask(&askers[i], &f.world, name, f.upstream);
    }
    fake_loop_advance(f.world.loop, 100 * MS);
    unsigned changes = 0;
    for (unsigned i = 1; i < 16; i++)
        changes += !addr_equal_ip(&f.seen.from[i], &f.seen.from[i - 1]);
    assert_int_equal(f.seen.asked, 16);
    assert_true(changes <= 1); /* two bursts of eight */
    fixture_close(&f);
}

static void test_a_query_leaves_from_the_address_that_works(void **state)
{
    (void)state;
    static const enum err whys[] = {ERR_ADDRESS_UNKNOWN, ERR_UNREACHABLE, ERR_PERMISSION,
                                    ERR_INVALID, ERR_NO_PORT};
    for (unsigned i = 0; i < ARRAY_LEN(whys); i++) {
        struct fixture f;
        warnings = notices = 0;
        fixture_open(&f, "10.9.9.1 10.9.9.2 10.9.9.3", upstream_options_default);
        break_source(&f, "10.9.9.1", whys[i]);
        break_source(&f, "10.9.9.3", whys[i]);
        ask_times(&f, 40);
        assert_int_equal(f.seen.asked, 40);
        assert_int_equal(count_from(&f.seen, "10.9.9.2"), 40);
        bool rests = whys[i] == ERR_ADDRESS_UNKNOWN;
        assert_int_equal(warnings, rests ? 2 : 0);
        uint64_t failures = f.world.stats.upstream_source_failures;
        ask_times(&f, 10);
        assert_in_range(failures, rests ? 2 : 0, rests ? 40 : 0);
        assert_int_equal(f.world.stats.upstream_source_failures, failures);
        break_source(&f, "10.9.9.1", ERR_OK);
        fake_loop_advance(f.world.loop, SOURCE_REST_US);
        ask_times(&f, 40);
        assert_true(count_from(&f.seen, "10.9.9.1") > 0);
        assert_int_equal(notices, rests ? 1 : 0);
        fixture_close(&f);
    }
}

/* A socket is bound only when the query leaves the line. */
static void test_a_query_in_line_says_nothing_of_its_address_or_its_server(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f, "10.9.9.1", upstream_options_default);
    break_source(&f, "10.9.9.1", ERR_ADDRESS_UNKNOWN);
    ask_and_wait(&asker, &f.world, "first.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(warnings, 1);
    assert_true(f.upstream->no_route_until_at > 0);
    uint64_t failures = f.world.stats.upstream_source_failures;
    fake_net_queue_queries(f.world.net, 1, 10 * MS);
    ask(&asker, &f.world, "second.example", f.upstream);
    assert_int_equal(notices, 0); /* it does not work again yet */
    assert_true(f.upstream->no_route_until_at > 0);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(f.seen.asked, 0);
    assert_true(f.world.stats.upstream_source_failures > failures);
    assert_int_equal(notices, 0);
    assert_int_equal(upstream_health(f.upstream, false)->silences, 0);
    fixture_close(&f);
}

/* The server has no part in a lack of ports. */
static void test_a_query_in_line_without_a_port_says_nothing_of_its_server(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f, "10.9.9.1", upstream_options_default);
    break_source(&f, "10.9.9.1", ERR_NO_PORT);
    fake_net_queue_queries(f.world.net, 1, 10 * MS);
    ask(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(f.seen.asked, 0);
    assert_int_equal(upstream_health(f.upstream, false)->silences, 0);
    assert_int_equal(warnings, 0);
    fixture_close(&f);
}

/* The query leaves from another address, to the same server. */
static void test_a_query_in_line_without_its_address_is_sent_again(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f, "10.9.9.1 10.9.9.2", upstream_options_default);
    break_source(&f, "10.9.9.1", ERR_ADDRESS_UNKNOWN);
    for (unsigned i = 0; i < 20 && f.world.stats.upstream_source_failures == 0; i++) {
        fake_net_queue_queries(f.world.net, 1, 10 * MS);
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
    assert_int_equal(f.world.stats.upstream_source_failures, 1);
    assert_int_equal(warnings, 1);
    assert_int_equal(upstream_health(f.upstream, false)->silences, 0);
    assert_int_equal(count_from(&f.seen, "10.9.9.2"), f.seen.asked);
    fixture_close(&f);
}

static void test_each_address_has_its_own_cookie(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, "10.9.9.1 10.9.9.2", upstream_options_default);
    f.seen.sends_cookies = true;
    ask_times(&f, 40);
    unsigned without = 0;
    for (unsigned i = 0; i < 40; i++) {
        without += f.seen.server_len[i] == 0;
        for (unsigned j = 0; j < i; j++)
            assert_int_equal(memcmp(f.seen.client[i], f.seen.client[j], 8) == 0,
                             addr_equal_ip(&f.seen.from[i], &f.seen.from[j]));
    }
    assert_int_equal(without, 2); /* the first query from each */
    fixture_close(&f);
}

static void test_a_rejected_cookie_is_asked_again_from_its_address(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        struct fixture f;
        struct upstream_options options = upstream_options_default;
        options.queries_per_port = 1;
        fixture_open(&f, "2001:db8::/64", options);
        f.seen.sends_cookies = true;
        f.seen.bad_cookies = 1;
        ask_times(&f, 1);
        assert_int_equal(f.seen.asked, 2);
        assert_true(addr_equal_ip(&f.seen.from[0], &f.seen.from[1]));
        assert_int_equal(f.seen.server_len[1], 8);
        ask_times(&f, 1); /* and the next one draws again */
        assert_false(addr_equal_ip(&f.seen.from[1], &f.seen.from[2]));
        fixture_close(&f);
    }
}

/* ---- connections ---- */

static unsigned dials_from(struct fixture *f, const char *ip)
{
    unsigned count = 0;
    for (size_t i = 0; i < peer_dials(f->peer); i++)
        count += is_at(fake_conn_source(peer_conn(f->peer, i)), ip);
    return count;
}

static void test_connections_of_a_server_spread_over_the_addresses(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    options.connections = 4;
    fixture_open(&f, "10.9.9.1 10.9.9.2", options);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(peer_dials(f.peer), 4);
    assert_int_equal(dials_from(&f, "10.9.9.1"), 2);
    assert_int_equal(dials_from(&f, "10.9.9.2"), 2);
    fixture_close(&f);
}

static void test_a_dial_leaves_from_the_address_that_works(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    options.connections = 2;
    options.prewarm = false;
    fixture_open(&f, "10.9.9.1 10.9.9.2 10.9.9.3", options);
    break_source(&f, "10.9.9.1", ERR_ADDRESS_UNKNOWN);
    break_source(&f, "10.9.9.2", ERR_UNREACHABLE);
    ask_times(&f, 1);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(dials_from(&f, "10.9.9.3"), 2);
    /* 10.9.9.1 rests after the first draw. Its turn may be the third, which no dial takes. */
    assert_in_range(f.world.stats.upstream_source_failures, 0, 1);
    assert_int_equal(f.world.stats.upstream_dials_tcp_error, 0);
    fixture_close(&f);
}

/* ---- reloads ---- */

static void test_an_equal_list_keeps_the_upstream_and_replaces_the_list(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, "10.9.9.1 10.9.9.2", upstream_options_default);
    struct sources *equal = source_list("10.9.9.1 10.9.9.2"), *other = source_list("10.9.9.1");
    struct upstream_options options = f.upstream->options;
    struct addr addr = f.upstream->addr;
    options.sources = equal;
    assert_ptr_equal(upstreams_get(f.world.upstreams, &addr, &options), f.upstream);
    assert_ptr_equal(f.upstream->options.sources, equal);
    options.sources = other;
    assert_ptr_not_equal(upstreams_get(f.world.upstreams, &addr, &options), f.upstream);
    sources_unref(equal);
    sources_unref(other);
    ask_times(&f, 10);
    fixture_close(&f);
}

#define WATCHED(test) cmocka_unit_test_setup_teardown(test, watch_log, unwatch_log)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCHED(test_each_entry_is_drawn_equally_often),
        WATCHED(test_all_host_bits_of_a_prefix_are_random),
        WATCHED(test_special_addresses_of_a_prefix_are_not_drawn),
        WATCHED(test_turns_take_the_entries_one_after_another),
        WATCHED(test_an_address_that_the_machine_lacks_rests_and_returns),
        WATCHED(test_an_address_without_a_route_to_a_peer_does_not_rest),
        WATCHED(test_tries_without_a_route_are_bounded),
        WATCHED(test_other_errors_leave_an_address_alone),
        WATCHED(test_equal_lists_have_the_same_entries_in_the_same_order),
        WATCHED(test_datagrams_leave_from_all_addresses),
        WATCHED(test_a_burst_keeps_its_address),
        WATCHED(test_a_query_leaves_from_the_address_that_works),
        WATCHED(test_a_query_in_line_says_nothing_of_its_address_or_its_server),
        WATCHED(test_a_query_in_line_without_a_port_says_nothing_of_its_server),
        WATCHED(test_a_query_in_line_without_its_address_is_sent_again),
        WATCHED(test_each_address_has_its_own_cookie),
        WATCHED(test_a_rejected_cookie_is_asked_again_from_its_address),
        WATCHED(test_connections_of_a_server_spread_over_the_addresses),
        WATCHED(test_a_dial_leaves_from_the_address_that_works),
        WATCHED(test_an_equal_list_keeps_the_upstream_and_replaces_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
