/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Datagrams through all of serve: queries that are answered, kept, refused and dropped. */
#include <stdio.h>

#include "serve/overload.h"
#include "unit/serve/harness.h"

static void test_a_hit_is_answered_with_the_name_as_asked(void **state)
{
    (void)state;
    udp_ask("HiT.exAmple", 77);
    assert_true(udp_got());
    assert_int_equal(got.id, 77);
    assert_int_equal(got.counts[SECTION_ANSWER], 1);
    assert_memory_equal(got.question.name.wire, "\3HiT\7exAmple", 13);
    assert_int_equal(stats.queries_udp, 1);
    assert_int_equal(stats.answers_noerror, 1);
    assert_int_equal(stub.asks, 0);
}

static void udp_ask_type(uint16_t type, uint16_t id)
{
    struct canned_query query = {"hit.example", id, type, HEADER_RD, 1232, false, false, false};
    sent_len = canned_query(sent, &query);
    fake_client_udp_send(net, &here, &me, span_of(sent, sent_len));
    fake_loop_settle(loop);
}

static void test_questions_are_counted_by_type_and_strange_types_share_a_row(void **state)
{
    (void)state;
    static const uint16_t types[] = {RRTYPE_A, RRTYPE_HTTPS, RRTYPE_HTTPS, RRTYPE_PTR,
                                     0,        66,           255,          65535};
    for (uint16_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        udp_ask_type(types[i], (uint16_t)(100 + i));
    assert_int_equal(stats.questions_a_udp, 1);
    assert_int_equal(stats.questions_https_udp, 2);
    assert_int_equal(stats.questions_ptr_udp, 1);
    assert_int_equal(stats.questions_other_udp, 4);
    assert_int_equal(stats.questions_aaaa_udp + stats.questions_a_tcp, 0);
    assert_int_equal(stats.queries_udp, 8);
}

/* The place of this message in the batch still holds an earlier query. */
static void test_a_message_that_is_no_query_counts_as_no_question(void **state)
{
    (void)state;
    udp_ask_type(RRTYPE_A, 1);
    sent_len = HEADER_LEN - 1;
    fake_client_udp_send(net, &here, &me, span_of(sent, sent_len));
    fake_loop_settle(loop);
    assert_int_equal(stats.dropped_malformed, 1);
    assert_int_equal(stats.queries_udp, 2);
    assert_int_equal(stats.questions_a_udp, 1);
    assert_int_equal(stats.questions_other_udp, 0);
}

static void test_a_batch_is_one_read_section(void **state)
{
    (void)state;
    for (uint16_t id = 0; id < 20; id++) {
        make_query("hit.example", id);
        fake_client_udp_send(net, &here, &me, span_of(sent, sent_len));
    }
    fake_loop_settle(loop);
    for (uint16_t id = 0; id < 20; id++) {
        assert_true(udp_got());
        assert_int_equal(got.id, id);
    }
    assert_int_equal(stub_sections, 1);
}

/* More queries than one read takes are handled in several steps, and each gets the same answer as
 * it would alone. */
static void test_neighbours_in_a_batch_do_not_mix(void **state)
{
    (void)state;
    enum { MESSAGES = 70, KINDS = 5 };
    struct addr clients[MESSAGES];
    for (uint16_t i = 0; i < MESSAGES; i++) {
        clients[i] = fake_addr(i % KINDS == 3 ? "192.0.2.1@1" : "127.0.0.1@1");
        addr_set_port(&clients[i], (uint16_t)(5000 + i));
        make_query(i % KINDS == 1 ? "miss.example" : "hit.example", i);
        if (i % KINDS == 2)
            header_set_opcode(sent, 4);
        if (i % KINDS == 4)
            sent_len = 5;
        fake_client_udp_send(net, &here, &clients[i], span_of(sent, sent_len));
    }
    fake_loop_settle(loop);
    static const int rcodes[KINDS] = {RCODE_NOERROR, -1, RCODE_NOTIMP, RCODE_REFUSED, -1};
    for (uint16_t i = 0; i < MESSAGES; i++) {
        struct fake_reply reply;
        bool answered = fake_client_udp_next(net, &clients[i], &reply);
        assert_int_equal(answered, rcodes[i % KINDS] >= 0);
        if (!answered)
            continue;
        got_message(reply.datagram);
        assert_int_equal(got.id, i);
        assert_int_equal(message_rcode(&got), rcodes[i % KINDS]);
    }
    assert_int_equal(server_quota_waiting(quota), MESSAGES / KINDS);
    assert_int_equal(stats.dropped_malformed, MESSAGES / KINDS);
}

static void test_a_miss_is_answered_when_the_answer_comes(void **state)
{
    (void)state;
    udp_ask("Later.example", 5);
    assert_false(udp_got());
    assert_int_equal(server_quota_waiting(quota), 1);
    fake_loop_advance(loop, 20000);
    memset(sent, 0xff, sizeof(sent));
    assert_true(stub_answer(false));
    assert_true(udp_got());
    assert_int_equal(got.id, 5);
    assert_memory_equal(got.question.name.wire, "\5Later\7example", 15);
    assert_int_equal(server_quota_waiting(quota), 0);
    assert_int_equal(stats_histogram_count(&stats.answer_latency), 1);
    assert_in_range(stats_histogram_quantile_us(&stats.answer_latency, 1), 20000, 25000);
}

static void test_answers_go_to_their_askers(void **state)
{
    (void)state;
    struct addr clients[50];
    for (uint16_t i = 0; i < 50; i++) {
        clients[i] = me;
        addr_set_port(&clients[i], (uint16_t)(5000 + i));
        make_query("same.example", i);
        udp_send_from(&clients[i]);
    }
    for (int i = 0; i < 50; i++)
        assert_true(stub_answer(i % 2));
    fake_loop_settle(loop);
    for (uint16_t i = 0; i < 50; i++) {
        struct fake_reply reply;
        assert_true(fake_client_udp_next(net, &clients[i], &reply));
        assert_int_equal(header_id(reply.datagram.data), i);
    }
}

static void test_the_answer_leaves_from_the_address_asked(void **state)
{
    (void)state;
    here = fake_addr("::1@53");
    me = fake_addr("::1@999");
    udp_ask("hit.example", 1);
    struct fake_reply reply;
    assert_true(fake_client_udp_next(net, &me, &reply));
    assert_true(addr_equal(&reply.from, &here));
}

static void test_rd_0_gets_only_local_answers(void **state)
{
    (void)state;
    struct canned_query query = {"miss.example", 1, RRTYPE_A, 0, 1232, false, false, false};
    sent_len = canned_query(sent, &query);
    udp_send_from(&me);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
    struct edns_ede ede;
    assert_int_equal(edns_find_ede(&got.edns, &ede), EDNS_FOUND);
    assert_int_equal(ede.code, EDE_NOT_AUTHORITATIVE);
    assert_int_equal(stub.asks, 0);
    query.name = "hit.example"; /* a cached answer would reveal what other clients asked */
    sent_len = canned_query(sent, &query);
    udp_send_from(&me);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
    query.name = "local.example";
    sent_len = canned_query(sent, &query);
    udp_send_from(&me);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_NOERROR);
    assert_false(got.flags & HEADER_RD);
}

static void test_an_answer_that_is_due_is_refreshed_for_queries_with_rd(void **state)
{
    (void)state;
    udp_ask("hit.example", 1);
    assert_int_equal(stub.refreshes, 0);
    stub.is_due = true;
    udp_ask("hit.example", 2);
    assert_int_equal(stub.refreshes, 1);
    struct canned_query query = {"hit.example", 3, RRTYPE_A, 0, 0, false, false, false};
    sent_len = canned_query(sent, &query);
    udp_send_from(&me);
    assert_int_equal(stub.refreshes, 1);
    assert_int_equal(fake_client_udp_waiting(net), 3);
}

static void test_do_and_cd_reach_the_resolver(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct canned_query query = {"hit.a", 1,     RRTYPE_A, (uint16_t)(i & 1 ? HEADER_CD : 0),
                                     1232,    i & 2, false,    false};
        sent_len = canned_query(sent, &query);
        udp_send_from(&me);
        assert_true(udp_got());
        assert_int_equal(stub.checking_disabled, i & 1);
        assert_int_equal(stub.dnssec_ok, !!(i & 2));
        assert_int_equal(got.edns.dnssec_ok, !!(i & 2));
        assert_int_equal(!!(got.flags & HEADER_CD), i & 1);
    }
}

static void test_a_client_without_access_is_refused(void **state)
{
    (void)state;
    me = fake_addr("192.0.2.1@4000");
    udp_ask("hit.example", 1);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
    assert_false(got.flags & HEADER_RA);
    struct edns_ede ede;
    assert_int_equal(edns_find_ede(&got.edns, &ede), EDNS_FOUND);
    assert_int_equal(ede.code, EDE_PROHIBITED);
    assert_int_equal(stub.finds, 0);
    assert_int_equal(stats.answers_refused, 1);
}

static void test_a_client_to_be_dropped_hears_nothing(void **state)
{
    (void)state;
    me = fake_addr("192.0.2.66@4000");
    udp_ask("hit.example", 1);
    assert_false(udp_got());
    assert_int_equal(stats.dropped_acl, 1);
    assert_int_equal(stats.queries_udp, 1);
}

static void test_answers_and_scraps_are_dropped(void **state)
{
    (void)state;
    make_query("hit.example", 1);
    header_put(sent, HEADER_QR, true);
    udp_send_from(&me);
    sent_len = 11;
    udp_send_from(&me);
    sent_len = 0;
    udp_send_from(&me);
    assert_false(udp_got());
    assert_int_equal(stats.dropped_malformed, 3);
}

static void test_answers_are_dropped_also_from_refused_clients(void **state)
{
    (void)state;
    struct addr other = fake_addr("192.0.2.1@53");
    make_query("hit.example", 1);
    header_put(sent, HEADER_QR, true);
    udp_send_from(&other);
    assert_false(udp_got());
}

/* A character generator answers each of our errors with bytes that look like a query, so one forged
 * datagram would keep both busy without end. */
static void test_datagrams_from_ports_without_clients_get_no_answer(void **state)
{
    (void)state;
    static const uint16_t ports[] = {0, 7, 13, 17, 19, 37};
    struct addr forged = me;
    for (size_t i = 0; i < ARRAY_LEN(ports); i++) {
        addr_set_port(&forged, ports[i]);
        make_query("hit.example", 1);
        udp_send_from(&forged);
        put_u16(sent + 2, OPCODE_STATUS << 11);
        udp_send_from(&forged);
        assert_false(udp_got());
    }
    assert_int_equal(stub.finds, 0);
    assert_int_equal(stats.dropped_malformed, 2 * ARRAY_LEN(ports));
    addr_set_port(&forged, 53);
    make_query("hit.example", 1);
    udp_send_from(&forged);
    assert_true(udp_got());
}

static void test_errors_are_counted_by_rcode(void **state)
{
    (void)state;
    make_query("hit.example", 1);
    sent[2] = OPCODE_STATUS << 3;
    udp_send_from(&me);
    make_query("hit.example", 1);
    sent[5] = 2;
    udp_send_from(&me);
    make_query("hit.example", 1);
    sent[sent_len - 5] = 1; /* an unknown EDNS version */
    udp_send_from(&me);
    stub.flags = RCODE_NXDOMAIN;
    udp_ask("hit.example", 1);
    stub.flags = RCODE_SERVFAIL;
    udp_ask("hit.example", 1);
    assert_int_equal(stats.answers_notimp, 1);
    assert_int_equal(stats.answers_formerr, 1);
    assert_int_equal(stats.answers_other, 1);
    assert_int_equal(stats.answers_nxdomain, 1);
    assert_int_equal(stats.answers_servfail, 1);
    assert_int_equal(fake_client_udp_waiting(net), 5);
}

static void test_replies_that_the_kernel_drops_are_counted(void **state)
{
    (void)state;
    fake_net_drop_replies(net, 3);
    for (uint16_t i = 0; i < 5; i++)
        udp_ask("hit.example", i);
    assert_int_equal(fake_client_udp_waiting(net), 2);
    assert_int_equal(stats.dropped_full, 3);
}

static void test_a_large_answer_is_truncated(void **state)
{
    (void)state;
    stub.records = 200;
    udp_ask("hit.example", 1);
    assert_true(udp_got());
    assert_true(got.flags & HEADER_TC);
    assert_int_equal(got.counts[SECTION_ANSWER], 0);
}

/* Every IPv6 path carries 1280 bytes, which leave this room after the headers of IPv6 and UDP. The
 * limit holds for every size that the client announces and for every answer. */
static void test_no_answer_is_too_long_for_any_path(void **state)
{
    (void)state;
    const char *const clients[] = {"127.0.0.9@4000", "::1@4000"};
    for (int i = 0; i < 400; i++) {
        here = listens[i % 2];
        me = fake_addr(clients[i % 2]);
        stub.rdata_len = (uint16_t)(1000 + i);
        struct canned_query query = {"hit.example", 1,     RRTYPE_TXT, HEADER_RD,
                                     UINT16_MAX,    false, false,      false};
        sent_len = canned_query(sent, &query);
        udp_send_from(&me);
        assert_true(udp_got());
        assert_true(got.bytes.len <= 1280 - 40 - 8);
        assert_int_equal(!(got.flags & HEADER_TC), got.counts[SECTION_ANSWER]);
    }
}

static void test_a_name_of_no_zone_is_refused(void **state)
{
    (void)state;
    stub.result = RESOLVER_NO_ROUTE;
    udp_ask("miss.example", 1);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
    assert_int_equal(server_quota_waiting(quota), 0);
}

static void test_a_query_that_local_data_drops_gets_no_answer(void **state)
{
    (void)state;
    udp_ask("drop.example", 1);
    assert_false(udp_got());
    assert_int_equal(server_quota_waiting(quota), 0);
    assert_int_equal(stats.dropped_local, 1);
    assert_int_equal(stub.asks, 0);
}

static void test_a_full_resolver_is_a_servfail_that_says_why(void **state)
{
    (void)state;
    stub.result = RESOLVER_FULL;
    udp_ask("miss.example", 1);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_SERVFAIL);
    struct edns_ede ede;
    assert_int_equal(edns_find_ede(&got.edns, &ede), EDNS_FOUND);
    assert_true(ede.text.len > 0);
    assert_int_equal(server_quota_waiting(quota), 0);
}

static void test_waiting_queries_are_bounded(void **state)
{
    (void)state;
    char name[32];
    for (uint16_t i = 0; i < options.max_waiting; i++) {
        snprintf(name, sizeof(name), "miss%u.example", i);
        udp_ask(name, 1);
    }
    assert_false(udp_got());
    assert_int_equal(stub.waiting, 1000);
    udp_ask("miss.example", 2);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_SERVFAIL);
    udp_ask("hit.example", 3); /* a hit needs no place */
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_NOERROR);
    stub_answer(false);
    assert_true(udp_got());
    udp_ask("miss.example", 4);
    assert_false(udp_got());
    assert_int_equal(stub.waiting, 1000);
}

/* ---- overload ---- */

/* Plays eight seconds in which the queue gets older and older. Every 10 ms a large client sends
 * this many queries, and a small client sends one. Returns how many answers the small client got.
 */
static unsigned overload_for_a_while(unsigned queries)
{
    struct addr small = fake_addr("127.0.0.10@4000");
    struct fake_reply reply;
    unsigned got_small = 0;
    for (unsigned ms = 0; ms < 8000; ms += 10) {
        fake_net_set_datagram_age(net, OVERLOAD_OLD_US + 1 + ms * 20);
        make_query("hit.example", 1);
        for (unsigned i = 0; i < queries; i++)
            fake_client_udp_send(net, &here, &me, span_of(sent, sent_len));
        udp_send_from(&small);
        fake_loop_advance(loop, 10 * US_PER_MS);
        while (fake_client_udp_next(net, &small, &reply))
            got_small++;
        while (fake_client_udp_next(net, &me, &reply))
            continue;
    }
    return got_small;
}

static void test_under_overload_the_busiest_clients_lose_queries(void **state)
{
    (void)state;
    assert_in_range(overload_for_a_while(60), 799, 800);
    assert_in_range(stats.dropped_overload, 8000, 40000);
    assert_int_equal(stats.queries_udp, 48800);
    /* dropped queries cause no look-up */
    assert_int_equal(stub.finds + stats.dropped_overload, 48800);
}

static void test_under_overload_an_old_datagram_is_dropped_unread(void **state)
{
    (void)state;
    overload_for_a_while(60);
    struct addr small = fake_addr("127.0.0.11@4000");
    unsigned finds = stub.finds;
    fake_net_set_datagram_age(net, OVERLOAD_DEAD_US + 1);
    make_query("hit.example", 1);
    udp_send_from(&small);
    assert_false(udp_got());
    assert_int_equal(stub.finds, finds);
}

static void test_an_old_datagram_alone_is_no_overload(void **state)
{
    (void)state;
    fake_net_set_datagram_age(net, 10 * OVERLOAD_DEAD_US);
    udp_ask("hit.example", 1);
    assert_true(udp_got());
    assert_int_equal(stats.dropped_overload, 0);
}

static void test_under_overload_the_kernel_thins_the_busiest_client(void **state)
{
    const struct udp_thinned *thinned;
    (void)state;
    overload_for_a_while(60);
    assert_int_equal(fake_net_thinned(net, &thinned), 1);
    assert_true(addr_equal_ip(&thinned[0].prefix, &me));
    assert_int_equal(thinned[0].bits, 32);
    assert_in_range(thinned[0].keep, 1, UDP_THINNED_WHOLE / 2);
}

/* No datagram arrives. */
static void test_the_kernel_thins_nothing_after_silence(void **state)
{
    const struct udp_thinned *thinned;
    (void)state;
    overload_for_a_while(60);
    assert_int_equal(fake_net_thinned(net, &thinned), 1);
    fake_loop_advance(loop, 2 * OVERLOAD_QUIET_US);
    assert_int_equal(fake_net_thinned(net, &thinned), 0);
    assert_true(fake_loop_run_until_idle(loop, 60 * US_PER_S)); /* no timer is left */
}

static void test_datagrams_that_the_kernel_drops_are_counted(void **state)
{
    (void)state;
    fake_net_set_datagram_age(net, OVERLOAD_FULL_US + 1);
    fake_net_lose_datagrams(net, 500);
    fake_loop_advance(loop, OVERLOAD_WINDOW_US);
    udp_ask("hit.example", 1);
    assert_int_equal(stats.dropped_overload, 500);
    udp_ask("hit.example", 2);
    assert_int_equal(stats.dropped_overload, 500);
}

static void test_closing_leaves_the_resolver(void **state)
{
    (void)state;
    for (uint16_t i = 0; i < 10; i++)
        udp_ask("miss.example", i);
    server_free(server);
    server = NULL;
    assert_int_equal(stub.leaves, 10);
    assert_int_equal(server_quota_waiting(quota), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_a_hit_is_answered_with_the_name_as_asked),
        HARNESS_TEST(test_questions_are_counted_by_type_and_strange_types_share_a_row),
        HARNESS_TEST(test_a_message_that_is_no_query_counts_as_no_question),
        HARNESS_TEST(test_a_batch_is_one_read_section),
        HARNESS_TEST(test_neighbours_in_a_batch_do_not_mix),
        HARNESS_TEST(test_a_miss_is_answered_when_the_answer_comes),
        HARNESS_TEST(test_answers_go_to_their_askers),
        HARNESS_TEST(test_the_answer_leaves_from_the_address_asked),
        HARNESS_TEST(test_rd_0_gets_only_local_answers),
        HARNESS_TEST(test_an_answer_that_is_due_is_refreshed_for_queries_with_rd),
        HARNESS_TEST(test_do_and_cd_reach_the_resolver),
        HARNESS_TEST(test_a_client_without_access_is_refused),
        HARNESS_TEST(test_a_client_to_be_dropped_hears_nothing),
        HARNESS_TEST(test_answers_and_scraps_are_dropped),
        HARNESS_TEST(test_answers_are_dropped_also_from_refused_clients),
        HARNESS_TEST(test_datagrams_from_ports_without_clients_get_no_answer),
        HARNESS_TEST(test_errors_are_counted_by_rcode),
        HARNESS_TEST(test_replies_that_the_kernel_drops_are_counted),
        HARNESS_TEST(test_a_large_answer_is_truncated),
        HARNESS_TEST(test_no_answer_is_too_long_for_any_path),
        HARNESS_TEST(test_a_name_of_no_zone_is_refused),
        HARNESS_TEST(test_a_query_that_local_data_drops_gets_no_answer),
        HARNESS_TEST(test_a_full_resolver_is_a_servfail_that_says_why),
        HARNESS_TEST(test_waiting_queries_are_bounded),
        HARNESS_TEST(test_under_overload_the_busiest_clients_lose_queries),
        HARNESS_TEST(test_under_overload_an_old_datagram_is_dropped_unread),
        HARNESS_TEST(test_an_old_datagram_alone_is_no_overload),
        HARNESS_TEST(test_under_overload_the_kernel_thins_the_busiest_client),
        HARNESS_TEST(test_the_kernel_thins_nothing_after_silence),
        HARNESS_TEST(test_datagrams_that_the_kernel_drops_are_counted),
        HARNESS_TEST(test_closing_leaves_the_resolver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
