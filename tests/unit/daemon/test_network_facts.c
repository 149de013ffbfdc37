/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Which rtnetlink messages report a change. Some messages here never come from a kernel. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "daemon/network_facts.h"
#include "unit/daemon/netlink_text.h"

enum { UP = IFF_UP | IFF_RUNNING };

static struct network_facts facts;

static int open_facts(void **state)
{
    (void)state;
    network_facts_clear(&facts);
    return 0;
}

static bool tells(const struct netlink_text *text)
{
    return network_facts_read(&facts, span_of(text->data, text->len)).changed;
}

static bool link_tells(uint16_t type, int index, unsigned flags)
{
    struct netlink_text text = {.len = 0};
    netlink_link(&text, type, index, flags);
    return tells(&text);
}

static bool addr_tells(uint16_t type, unsigned index, const char *address, uint32_t flags)
{
    struct netlink_text text = {.len = 0};
    netlink_addr(&text, type, index, address, RT_SCOPE_UNIVERSE, flags);
    return tells(&text);
}

static bool route_tells(uint16_t type, uint16_t flags, uint32_t link, const char *gateway)
{
    struct netlink_text text = {.len = 0};
    netlink_route(&text, type, flags, link, gateway);
    return tells(&text);
}

static void test_facts_a_link_that_goes_up_or_down_is_news_once(void **state)
{
    (void)state;
    assert_true(link_tells(RTM_NEWLINK, 2, UP));
    assert_false(link_tells(RTM_NEWLINK, 2, UP)); /* only its counters or its name changed */
    assert_false(link_tells(RTM_NEWLINK, 2, UP | IFF_PROMISC));
    assert_true(link_tells(RTM_NEWLINK, 2, IFF_UP)); /* the cable is unplugged */
    assert_false(link_tells(RTM_NEWLINK, 2, 0));
    assert_true(link_tells(RTM_NEWLINK, 2, UP));
    assert_true(link_tells(RTM_DELLINK, 2, UP));
    assert_false(link_tells(RTM_DELLINK, 2, UP));
}

static void test_facts_a_link_that_is_not_up_is_no_news(void **state)
{
    (void)state;
    assert_false(link_tells(RTM_NEWLINK, 3, 0));
    assert_false(link_tells(RTM_DELLINK, 3, 0));
    assert_int_equal(facts.count, 0);
}

/* The link between a container and its bridge comes and goes all day. */
static void test_facts_a_part_of_a_bridge_is_no_news(void **state)
{
    (void)state;
    struct netlink_text text = {.len = 0};
    netlink_link(&text, RTM_NEWLINK, 4, UP);
    netlink_number(&text, IFLA_MASTER, 9);
    assert_false(tells(&text));
}

static void test_facts_an_address_is_news_when_it_comes_and_goes(void **state)
{
    (void)state;
    assert_true(addr_tells(RTM_NEWADDR, 2, "192.0.2.7", 0));
    assert_false(addr_tells(RTM_NEWADDR, 2, "192.0.2.7", IFA_F_PERMANENT)); /* DHCP renewed it */
    assert_true(addr_tells(RTM_NEWADDR, 2, "192.0.2.8", 0));
    assert_true(addr_tells(RTM_DELADDR, 2, "192.0.2.7", 0));
    assert_false(addr_tells(RTM_DELADDR, 2, "192.0.2.7", 0));
}

static void test_facts_an_address_of_ipv6_is_news_when_it_may_be_used(void **state)
{
    (void)state;
    assert_false(addr_tells(RTM_NEWADDR, 2, "2001:db8::7", IFA_F_TENTATIVE));
    assert_true(addr_tells(RTM_NEWADDR, 2, "2001:db8::7", 0));
    assert_false(addr_tells(RTM_NEWADDR, 2, "2001:db8::7", IFA_F_DEPRECATED));
    struct netlink_text text = {.len = 0};
    netlink_addr(&text, RTM_NEWADDR, 2, "fe80::1", RT_SCOPE_LINK, 0);
    assert_false(tells(&text));
}

static void test_facts_a_new_default_route_is_news(void **state)
{
    (void)state;
    assert_true(route_tells(RTM_NEWROUTE, 0, 2, "192.0.2.1"));
    assert_false(route_tells(RTM_NEWROUTE, NLM_F_REPLACE, 2, "192.0.2.1"));
    assert_true(route_tells(RTM_NEWROUTE, NLM_F_REPLACE, 2, "192.0.2.2"));
    /* the former gateway again */
    assert_true(route_tells(RTM_NEWROUTE, NLM_F_REPLACE, 2, "192.0.2.1"));
    assert_int_equal(facts.count, 1);
    assert_true(route_tells(RTM_NEWROUTE, 0, 2, "2001:db8::1"));
    assert_true(route_tells(RTM_DELROUTE, 0, 2, "192.0.2.1"));
    /* this process has not seen that route begin */
    assert_true(route_tells(RTM_DELROUTE, 0, 7, "198.51.100.1"));
}

static void test_facts_other_routes_are_no_news(void **state)
{
    (void)state;
    struct netlink_text text = {.len = 0};
    netlink_route(&text, RTM_NEWROUTE, 0, 2, "192.0.2.1");
    text.data[sizeof(struct nlmsghdr) + offsetof(struct rtmsg, rtm_dst_len)] = 8;
    assert_false(tells(&text));
}

/* The kernel does not report the end of a route whose link goes down. */
static void test_facts_a_route_that_ended_with_its_link_is_news_when_it_returns(void **state)
{
    (void)state;
    link_tells(RTM_NEWLINK, 2, UP);
    route_tells(RTM_NEWROUTE, 0, 2, "192.0.2.1");
    route_tells(RTM_NEWROUTE, 0, 3, "198.51.100.1");
    link_tells(RTM_NEWLINK, 2, 0);
    link_tells(RTM_NEWLINK, 2, UP);
    assert_true(route_tells(RTM_NEWROUTE, 0, 2, "192.0.2.1"));
    assert_false(route_tells(RTM_NEWROUTE, NLM_F_APPEND, 3, "198.51.100.1"));
}

static void test_facts_several_messages_of_a_datagram_are_read(void **state)
{
    (void)state;
    struct netlink_text text = {.len = 0};
    netlink_link(&text, RTM_NEWLINK, 1, UP);
    netlink_link(&text, RTM_NEWLINK, 2, UP);
    netlink_addr(&text, RTM_NEWADDR, 2, "192.0.2.7", 0, 0);
    netlink_begin(&text, NLMSG_DONE, NLM_F_MULTI, NULL, 0);
    struct network_news news = network_facts_read(&facts, span_of(text.data, text.len));
    assert_true(news.changed && news.ended);
    assert_int_equal(facts.count, 3);
}

static void test_facts_other_messages_are_skipped(void **state)
{
    (void)state;
    struct netlink_text text = {.len = 0};
    netlink_link(&text, RTM_NEWNEIGH, 2, UP);
    netlink_link(&text, NLMSG_NOOP, 2, UP);
    assert_false(tells(&text));
}

static void test_facts_a_refused_request_ends(void **state)
{
    (void)state;
    struct netlink_text text = {.len = 0};
    struct nlmsgerr error = {.error = -16};
    netlink_begin(&text, NLMSG_ERROR, 0, &error, sizeof(error));
    assert_true(network_facts_read(&facts, span_of(text.data, text.len)).ended);
}

/* Reads a cut copy on the heap, so that a sanitizer detects a read beyond the end. */
static void read_cut(const struct netlink_text *text, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text->data, len);
    (void)network_facts_read(&facts, span_of(copy, len));
    free(copy);
}

static void write_all(struct netlink_text *text)
{
    netlink_link(text, RTM_NEWLINK, 1, UP);
    netlink_addr(text, RTM_NEWADDR, 1, "2001:db8::7", 0, 0);
    netlink_route(text, RTM_NEWROUTE, NLM_F_REPLACE, 1, "192.0.2.1");
}

static void test_facts_cut_datagrams_are_read_within_their_bounds(void **state)
{
    (void)state;
    struct netlink_text text = {.len = 0};
    write_all(&text);
    for (size_t len = 0; len <= text.len; len++)
        read_cut(&text, len);
}

static void test_facts_false_lengths_are_read_within_bounds(void **state)
{
    (void)state;
    static const uint16_t lies[] = {0, 1, 3, 4, 5, 15, 16, 17, 255, 4096, 0x7fff, 0xffff};
    struct netlink_text text = {.len = 0};
    write_all(&text);
    for (size_t at = 0; at + 2 <= text.len; at += 2) {
        for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
            struct netlink_text changed = text;
            memcpy(changed.data + at, &lies[i], sizeof(lies[i]));
            read_cut(&changed, changed.len);
        }
    }
}

static void test_facts_are_bounded(void **state)
{
    (void)state;
    for (int i = 1; i <= 2 * NETWORK_FACTS_MAX; i++)
        assert_int_equal(link_tells(RTM_NEWLINK, i, UP), i <= NETWORK_FACTS_MAX);
    assert_int_equal(facts.count, NETWORK_FACTS_MAX);
    assert_true(link_tells(RTM_DELLINK, 7, UP));
    assert_true(link_tells(RTM_NEWLINK, 2 * NETWORK_FACTS_MAX, UP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_facts_a_link_that_goes_up_or_down_is_news_once, open_facts),
        cmocka_unit_test_setup(test_facts_a_link_that_is_not_up_is_no_news, open_facts),
        cmocka_unit_test_setup(test_facts_a_part_of_a_bridge_is_no_news, open_facts),
        cmocka_unit_test_setup(test_facts_an_address_is_news_when_it_comes_and_goes, open_facts),
        cmocka_unit_test_setup(test_facts_an_address_of_ipv6_is_news_when_it_may_be_used,
                               open_facts),
        cmocka_unit_test_setup(test_facts_a_new_default_route_is_news, open_facts),
        cmocka_unit_test_setup(test_facts_other_routes_are_no_news, open_facts),
        cmocka_unit_test_setup(test_facts_a_route_that_ended_with_its_link_is_news_when_it_returns,
                               open_facts),
        cmocka_unit_test_setup(test_facts_several_messages_of_a_datagram_are_read, open_facts),
        cmocka_unit_test_setup(test_facts_other_messages_are_skipped, open_facts),
        cmocka_unit_test_setup(test_facts_a_refused_request_ends, open_facts),
        cmocka_unit_test_setup(test_facts_cut_datagrams_are_read_within_their_bounds, open_facts),
        cmocka_unit_test_setup(test_facts_false_lengths_are_read_within_bounds, open_facts),
        cmocka_unit_test_setup(test_facts_are_bounded, open_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
