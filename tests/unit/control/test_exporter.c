/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Scrapers, polite and hostile, in virtual time on a simulated network. */
#include "control/exporter.h"

#include "unit/control/desk.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/fake_net.h"

#define GET "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"

struct place {
    struct desk desk;
    struct fake_net *net;
    struct exporter *exporter;
    struct addr listen, from;
};

static int open_all(void **state)
{
    static struct place place;
    desk_open(&place.desk);
    place.net = fake_net_of(place.desk.loop);
    place.listen = fake_addr("127.0.0.1@9953");
    place.from = fake_addr("127.0.0.9@40000");
    assert_int_equal(
        exporter_open(&place.exporter, place.desk.loop, &place.listen, &place.desk.view), ERR_OK);
    *state = &place;
    return 0;
}

static int close_all(void **state)
{
    struct place *place = *state;
    exporter_close(&place->exporter);
    desk_settle(&place->desk);
    assert_int_equal(fake_net_open_sockets(place->net), 0);
    desk_close(&place->desk);
    return 0;
}

static struct fake_conn *scraper(struct place *place, const char *text)
{
    struct fake_conn *conn = fake_client_tcp_open(place->net, &place->listen, &place->from);
    fake_loop_settle(place->desk.loop);
    if (*text)
        fake_conn_send(conn, span_of(text, strlen(text)));
    fake_loop_settle(place->desk.loop);
    return conn;
}

/* All bytes received, as a string. */
static const char *received(struct fake_conn *conn)
{
    static char text[1 << 20];
    struct span all = fake_conn_received(conn);
    assert_true(all.len < sizeof(text));
    if (all.len)
        memcpy(text, all.data, all.len);
    text[all.len] = '\0';
    return text;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_whole_page(struct fake_conn *conn)
{
    const char *text = received(conn), *body = strstr(text, "\r\n\r\n");
    const char *length = strstr(text, "Content-Length: ");
    return begins(text, "HTTP/1.1 200 OK\r\n") && body && length &&
           strtoul(length + 16, NULL, 10) == strlen(body + 4) &&
           begins(body + 4, "# HELP nailup_build_info ");
}

static void test_a_scraper_gets_the_page_and_then_the_end(void **state)
{
    struct place *place = *state;
    STATS_ADD(&place->desk.stats[0], queries_udp, 3);
    STATS_ADD(&place->desk.stats[1], queries_udp, 4);
    struct fake_conn *conn = scraper(place, GET);
    desk_settle(&place->desk);
    assert_true(is_whole_page(conn));
    assert_non_null(strstr(received(conn), "\nnailup_queries_total{protocol=\"udp\"} 7\n"));
    assert_non_null(strstr(received(conn), "\nnailup_workers 2\n"));
    assert_non_null(strstr(received(conn), "\nnailup_per_upstream_left_out 0\n"));
    assert_true(fake_conn_was_closed(conn));
}

static void test_a_request_may_come_in_pieces(void **state)
{
    struct place *place = *state;
    struct fake_conn *conn = scraper(place, "");
    fake_conn_send_pieces(conn, span_of(GET, strlen(GET)), 1, 1000);
    fake_loop_advance(place->desk.loop, 100 * 1000);
    desk_settle(&place->desk);
    assert_true(is_whole_page(conn));
}

static void test_head_gets_the_length_and_no_page(void **state)
{
    struct place *place = *state;
    struct fake_conn *conn = scraper(place, "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    desk_settle(&place->desk);
    assert_true(begins(received(conn), "HTTP/1.1 200 OK\r\n"));
    assert_string_equal(strstr(received(conn), "\r\n\r\n"), "\r\n\r\n");
    assert_true(fake_conn_was_closed(conn));
}

static void test_other_requests_are_refused_and_closed(void **state)
{
    struct place *place = *state;
    static const char *const cases[][2] = {
        {"GET /x HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 404 "},
        {"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 421 "},
        {"GET /board.json HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 421 "},
        {"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", "HTTP/1.1 405 "},
        {"\x16\x03\x01\n\n", "HTTP/1.1 400 "},
        {"PRI * HTTP/2.0\r\n\r\n", "HTTP/1.1 505 "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake_conn *conn = scraper(place, cases[i][0]);
        assert_true(begins(received(conn), cases[i][1]));
        assert_true(fake_conn_was_closed(conn));
    }
}

static void test_a_browser_gets_the_live_page_and_its_figures(void **state)
{
    struct place *place = *state;
    STATS_ADD(&place->desk.stats[1], queries_tls, 4);
    STATS_ADD(&place->desk.stats[0], dropped_full, 2);
    struct fake_conn *conn = scraper(place, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert_non_null(strstr(received(conn), "<!doctype html>"));
    assert_true(fake_conn_was_closed(conn));
    conn = scraper(place, "HEAD /board.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert_true(begins(received(conn), "HTTP/1.1 200 OK\r\n"));
    assert_string_equal(strstr(received(conn), "\r\n\r\n"), "\r\n\r\n");
    conn = scraper(place, "GET /board.json HTTP/1.1\r\nHost: [::1]:9953\r\n\r\n");
    desk_settle(&place->desk);
    const char *text = strstr(received(conn), "\r\n\r\n{");
    assert_non_null(text);
    assert_non_null(strstr(text, "\"queries_tls\":4,"));
    assert_non_null(strstr(text, "\"count\":2}"));
    assert_string_equal(text + strlen(text) - 1, "}");
    assert_true(fake_conn_was_closed(conn));
}

static void test_a_head_without_end_is_refused(void **state)
{
    struct place *place = *state;
    static char endless[9001];
    memset(endless, 'x', sizeof(endless) - 1);
    struct fake_conn *conn = scraper(place, endless);
    assert_true(begins(received(conn), "HTTP/1.1 431 "));
    assert_true(fake_conn_was_closed(conn));
}

static void test_bytes_after_the_request_are_ignored(void **state)
{
    struct place *place = *state;
    struct fake_conn *conn = scraper(place, GET GET GET);
    desk_settle(&place->desk);
    assert_true(is_whole_page(conn));
}

static void test_a_scraper_that_does_not_finish_its_request_is_closed_in_time(void **state)
{
    struct place *place = *state;
    struct fake_conn *silent = scraper(place, ""), *dribbling = scraper(place, "GET ");
    fake_loop_advance(place->desk.loop, EXPORTER_ASK_US / 2);
    fake_conn_send(dribbling, span_of("/m", 2)); /* further bytes do not extend the limit */
    fake_loop_advance(place->desk.loop, EXPORTER_ASK_US / 2 - 2000);
    assert_false(fake_conn_was_closed(silent));
    fake_loop_advance(place->desk.loop, 4000);
    assert_true(fake_conn_was_closed(silent));
    assert_true(fake_conn_was_closed(dribbling));
}

static void test_a_scraper_that_does_not_read_is_closed_in_time(void **state)
{
    struct place *place = *state;
    struct fake_conn *conn = scraper(place, "");
    fake_conn_stop_reading(conn, 1000);
    fake_conn_send(conn, span_of(GET, strlen(GET)));
    desk_settle(&place->desk);
    fake_loop_advance(place->desk.loop, EXPORTER_TAKE_US - 2000);
    assert_true(fake_conn_is_held(conn));
    fake_loop_advance(place->desk.loop, 4000);
    assert_false(fake_conn_is_held(conn));
}

static void test_a_scraper_that_reads_slowly_gets_it_all(void **state)
{
    struct place *place = *state;
    fake_net_set_write_max(place->net, 700);
    struct fake_conn *conn = scraper(place, GET);
    desk_settle(&place->desk);
    fake_loop_advance(place->desk.loop, 1000 * 1000);
    assert_true(is_whole_page(conn));
    assert_true(fake_conn_was_closed(conn));
}

static void test_a_scraper_that_closed_its_sending_side_still_gets_its_page(void **state)
{
    struct place *place = *state;
    struct fake_conn *conn = scraper(place, "");
    fake_conn_send(conn, span_of(GET, strlen(GET)));
    fake_conn_close(conn);
    desk_settle(&place->desk);
    assert_true(is_whole_page(conn));
}

static void test_scrapers_may_leave_at_every_moment(void **state)
{
    struct place *place = *state;
    struct fake_conn *asking = scraper(place, "GET"), *half = scraper(place, "GET");
    struct fake_conn *waiting = scraper(place, GET); /* the workers have not answered yet */
    fake_conn_reset(asking);
    fake_conn_close(half);
    fake_conn_reset(waiting);
    desk_settle(&place->desk);
    assert_int_equal(fake_net_counts(place->net).open_conns, 0);
    assert_true(begins(received(scraper(place, GET)), "HTTP/1.1 200"));
}

static void test_scrapes_at_the_same_time_ask_the_workers_once(void **state)
{
    struct place *place = *state;
    struct fake_conn *first = scraper(place, GET), *second = scraper(place, GET);
    assert_string_equal(received(first), "");
    desk_settle(&place->desk);
    assert_true(is_whole_page(first));
    assert_true(is_whole_page(second));
    uint64_t turns = fake_loop_turns(place->desk.workers[0].loop);
    struct fake_conn *third = scraper(place, GET);
    assert_true(is_whole_page(third)); /* it comes at once */
    fake_loop_settle(place->desk.workers[0].loop);
    assert_int_equal(fake_loop_turns(place->desk.workers[0].loop), turns);
}

static void test_an_old_page_is_replaced(void **state)
{
    struct place *place = *state;
    scraper(place, GET);
    desk_settle(&place->desk);
    STATS_ADD(&place->desk.stats[0], joined, 9);
    fake_loop_advance(place->desk.loop, EXPORTER_PAGE_LIFE_US + 1000);
    struct fake_conn *conn = scraper(place, GET);
    desk_settle(&place->desk);
    assert_non_null(strstr(received(conn), "\nnailup_joined_total 9\n"));
}

static void test_a_worker_that_does_not_answer_does_not_hide_the_figures_of_others(void **state)
{
    struct place *place = *state;
    struct fake_conn *conn = scraper(place, GET);
    fake_loop_advance(place->desk.loop, EXPORTER_PATIENCE_US - 2000);
    assert_string_equal(received(conn), "");
    fake_loop_advance(place->desk.loop, 4000);
    assert_true(is_whole_page(conn));
    assert_null(strstr(received(conn), "per_upstream"));
    desk_settle(&place->desk); /* the answer comes later */
    fake_loop_advance(place->desk.loop, EXPORTER_PAGE_LIFE_US + 1000);
    conn = scraper(place, GET);
    desk_settle(&place->desk);
    assert_non_null(strstr(received(conn), "per_upstream"));
}

static void test_when_all_places_are_taken_the_oldest_makes_room(void **state)
{
    struct place *place = *state;
    struct fake_conn *conns[EXPORTER_SCRAPES_MAX];
    for (int i = 0; i < EXPORTER_SCRAPES_MAX; i++)
        conns[i] = scraper(place, "GET");
    struct fake_conn *honest = scraper(place, GET);
    assert_int_equal(fake_net_counts(place->net).open_conns, EXPORTER_SCRAPES_MAX);
    desk_settle(&place->desk);
    assert_true(is_whole_page(honest));
    assert_true(fake_conn_was_closed(conns[0]));
    assert_false(fake_conn_was_closed(conns[1]));
}

static void test_a_flood_from_one_host_leaves_places_to_another(void **state)
{
    struct place *place = *state;
    struct fake_conn *flood[3 * EXPORTER_SCRAPES_MAX];
    struct addr honest_from = fake_addr("127.0.0.8@40000");
    struct fake_conn *honest = fake_client_tcp_open(place->net, &place->listen, &honest_from);
    fake_loop_settle(place->desk.loop);
    for (size_t i = 0; i < ARRAY_LEN(flood); i++)
        flood[i] = scraper(place, "GET");
    assert_int_equal(fake_net_counts(place->net).open_conns, EXPORTER_SCRAPES_MAX);
    assert_false(fake_conn_was_closed(honest)); /* the oldest connection stays open */
    assert_true(fake_conn_was_closed(flood[0]));
    fake_conn_send(honest, span_of(GET, strlen(GET)));
    desk_settle(&place->desk);
    assert_true(is_whole_page(honest));
}

static void test_closing_frees_scrapes_in_every_state(void **state)
{
    struct place *place = *state;
    scraper(place, "GET");
    struct fake_conn *stuck = scraper(place, "");
    fake_conn_stop_reading(stuck, 100);
    fake_conn_send(stuck, span_of(GET, strlen(GET)));
    desk_settle(&place->desk);
    fake_loop_advance(place->desk.loop, EXPORTER_PAGE_LIFE_US + 1000);
    scraper(place, GET);
    exporter_close(&place->exporter);
    assert_null(place->exporter);
    assert_int_equal(fake_net_open_sockets(place->net), 0);
}

static void test_an_address_that_is_taken_is_an_error(void **state)
{
    struct place *place = *state;
    struct addr other = fake_addr("127.0.0.2@9953");
    struct exporter *exporter;
    fake_net_fail_listen(place->net, &other, ERR_ADDRESS_IN_USE);
    assert_int_equal(exporter_open(&exporter, place->desk.loop, &other, &place->desk.view),
                     ERR_ADDRESS_IN_USE);
    assert_null(exporter);
    exporter_close(&exporter);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PLACE(test_a_scraper_gets_the_page_and_then_the_end),
        WITH_PLACE(test_a_request_may_come_in_pieces),
        WITH_PLACE(test_head_gets_the_length_and_no_page),
        WITH_PLACE(test_other_requests_are_refused_and_closed),
        WITH_PLACE(test_a_browser_gets_the_live_page_and_its_figures),
        WITH_PLACE(test_a_head_without_end_is_refused),
        WITH_PLACE(test_bytes_after_the_request_are_ignored),
        WITH_PLACE(test_a_scraper_that_does_not_finish_its_request_is_closed_in_time),
        WITH_PLACE(test_a_scraper_that_does_not_read_is_closed_in_time),
        WITH_PLACE(test_a_scraper_that_reads_slowly_gets_it_all),
        WITH_PLACE(test_a_scraper_that_closed_its_sending_side_still_gets_its_page),
        WITH_PLACE(test_scrapers_may_leave_at_every_moment),
        WITH_PLACE(test_scrapes_at_the_same_time_ask_the_workers_once),
        WITH_PLACE(test_an_old_page_is_replaced),
        WITH_PLACE(test_a_worker_that_does_not_answer_does_not_hide_the_figures_of_others),
        WITH_PLACE(test_when_all_places_are_taken_the_oldest_makes_room),
        WITH_PLACE(test_a_flood_from_one_host_leaves_places_to_another),
        WITH_PLACE(test_closing_frees_scrapes_in_every_state),
        WITH_PLACE(test_an_address_that_is_taken_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
