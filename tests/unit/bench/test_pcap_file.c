/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Captures: queries come out of packets of every kind. Everything else is skipped or refused. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "pcap_file.h"

enum { ETHERNET = 1, RAW = 101, LOOP = 108, COOKED = 113, COOKED_2 = 276 };

static uint8_t capture[70000], packet[4096];
static size_t capture_len, packet_len, packets;
static struct capture file;

static void put(const void *bytes, size_t len)
{
    memcpy(packet + packet_len, bytes, len);
    packet_len += len;
}

static void put_16(uint16_t value)
{
    put_u16(packet + packet_len, value);
    packet_len += 2;
}

/* A capture in big endian. */
static void begin(uint32_t link)
{
    memset(capture, 0, 24);
    put_u32(capture, 0xa1b2c3d4);
    put_u32(capture + 20, link);
    capture_len = 24;
    packet_len = 0;
}

static void end_packet(void)
{
    memset(capture + capture_len, 0, 16);
    put_u32(capture + capture_len + 8, (uint32_t)packet_len);
    put_u32(capture + capture_len + 12, (uint32_t)packet_len);
    memcpy(capture + capture_len + 16, packet, packet_len);
    capture_len += 16 + packet_len;
    packet_len = 0;
}

/* The query WwW.example AAAA with RD, and EDNS with DO. */
static const uint8_t message[] = "\x12\x34\1\0\0\1\0\0\0\0\0\1\3WwW\7example\0\0\x1c\0\1"
                                 "\0\0\x29\x10\0\0\0\x80\0\0\0";

static void put_udp(uint16_t port)
{
    put_16(40000);
    put_16(port);
    put_16(8 + sizeof(message) - 1);
    put_16(0);
    put(message, sizeof(message) - 1);
}

static void put_ipv4(uint8_t protocol, uint16_t fragment, uint16_t port)
{
    put("\x46", 2); /* a header of 24 bytes: it has an option */
    put_16(24 + 8 + sizeof(message) - 1);
    put_16(0);
    put_16(fragment);
    put((const uint8_t[]){64, protocol}, 2);
    put("\0\0\xc0\0\2\1\xc0\0\2\2\1\1\1\1", 14);
    put_udp(port);
}

static void put_ipv6(uint8_t next)
{
    put("\x60\0\0", 4);
    put_16(8 + sizeof(message) - 1);
    put((const uint8_t[]){next, 64}, 2);
    put("................................", 32);
    put_udp(53);
}

static enum pcap_fault load(size_t len)
{
    FILE *in = fmemopen(capture, len, "r");
    enum pcap_fault fault = pcap_file_load(&file, in, &packets);
    fclose(in);
    return fault;
}

static void expect_query(size_t at)
{
    struct wire_query query;
    assert_true(wire_parse_query(query_file_at(&file.queries, at), &query));
    assert_memory_equal(query.lower, "\3www\7example", 13);
    assert_int_equal(query.type, WIRE_TYPE_AAAA);
    assert_int_equal(query.id, 0);
    assert_true(query.flags & WIRE_RD && query.has_edns && query.dnssec_ok);
    assert_int_equal(query.udp_size, 4096);
}

static void test_queries_come_from_every_kind_of_link(void **state)
{
    (void)state;
    static const struct {
        uint32_t link;
        size_t head;
        bool has_type;
    } links[] = {{ETHERNET, 12, true}, {COOKED, 14, true}, {COOKED_2, 20, false}, {LOOP, 4, false},
                 {0, 4, false},        {RAW, 0, false},    {12, 0, false}};
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
        begin(links[i].link);
        for (int version = 4; version <= 6; version += 2) {
            put("....................", links[i].head);
            if (links[i].has_type)
                put_16(version == 4 ? 0x0800 : 0x86dd);
            if (version == 4)
                put_ipv4(17, 0x4000, 53);
            else
                put_ipv6(17);
            end_packet();
        }
        assert_int_equal(load(capture_len), PCAP_FINE);
        assert_int_equal(file.queries.count, 2);
        expect_query(0);
        expect_query(1);
        capture_deinit(&file);
    }
}

static void test_vlan_tags_are_passed_up_to_a_bound(void **state)
{
    (void)state;
    for (int tags = 1; tags <= 3; tags++) {
        begin(ETHERNET);
        put("............", 12);
        for (int i = 0; i < tags; i++) {
            put_16(i ? 0x8100 : 0x88a8);
            put_16(7);
        }
        put_16(0x0800);
        put_ipv4(17, 0, 53);
        end_packet();
        assert_int_equal(load(capture_len), tags <= 2 ? PCAP_FINE : PCAP_EMPTY);
        capture_deinit(&file);
    }
}

static void test_both_orders_of_bytes_are_read(void **state)
{
    (void)state;
    begin(RAW);
    put_ipv4(17, 0, 53);
    end_packet();
    for (size_t at = 0; at < 40; at += 4) { /* swaps the bytes of each number in both headers */
        uint32_t value = get_u32(capture + at);
        put_u32(capture + at, __builtin_bswap32(value));
    }
    assert_int_equal(load(capture_len), PCAP_FINE);
    expect_query(0);
    capture_deinit(&file);
}

static void test_other_packets_are_skipped(void **state)
{
    (void)state;
    begin(RAW);
    put_ipv4(6, 0, 53);
    end_packet();
    put_ipv4(17, 0x2000, 53); /* the first fragment */
    end_packet();
    put_ipv4(17, 1, 53);
    end_packet();
    put_ipv4(17, 0, 5353);
    end_packet();
    put_ipv6(44);
    end_packet();
    put_ipv4(17, 0, 53);
    packet[24 + 8 + 2] |= 0x80; /* an answer */
    end_packet();
    put_ipv4(17, 0, 53);
    packet[24 + 8 + 12 + 13 + 3] = 3; /* a question of class CH */
    end_packet();
    end_packet(); /* an empty packet */
    assert_int_equal(load(capture_len), PCAP_EMPTY);
    assert_int_equal(packets, 8);
    put_ipv4(17, 0, 53);
    end_packet();
    assert_int_equal(load(capture_len), PCAP_FINE);
    assert_int_equal(file.queries.count, 1);
    capture_deinit(&file);
}

static void test_wrong_lengths_are_skipped(void **state)
{
    (void)state;
    static const size_t places[] = {2, 24 + 4}; /* the lengths of IP and UDP */
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        for (uint32_t len = 0; len < 65536; len += 13) {
            begin(RAW);
            put_ipv4(17, 0, 53);
            put_u16(packet + places[i], (uint16_t)len);
            end_packet();
            enum pcap_fault fault = load(capture_len);
            assert_true(fault == PCAP_FINE || fault == PCAP_EMPTY);
            capture_deinit(&file);
        }
}

static void test_a_file_that_is_cut_is_refused_whole(void **state)
{
    (void)state;
    begin(RAW);
    put_ipv4(17, 0, 53);
    end_packet();
    size_t one = capture_len;
    put_ipv4(17, 0, 53);
    end_packet();
    for (size_t len = 1; len < capture_len; len++) {
        enum pcap_fault fault = load(len);
        assert_int_equal(fault, len < 24     ? PCAP_NO_PCAP
                                : len == 24  ? PCAP_EMPTY
                                : len == one ? PCAP_FINE
                                             : PCAP_CUT);
        assert_int_equal(file.queries.count, len == one);
        capture_deinit(&file);
    }
}

static void test_times_and_clients_come_with_the_queries(void **state)
{
    (void)state;
    static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d};
    static const uint64_t times[] = {UINT64_C(3000005000), UINT64_C(3000000005)};
    for (size_t i = 0; i < 2; i++) {
        char text[ADDR_TEXT_MAX];
        begin(RAW);
        put_u32(capture, magics[i]);
        put_ipv4(17, 0, 53);
        end_packet();
        put_u32(capture + 24, 3);
        put_u32(capture + 28, 5);
        put_ipv6(17);
        end_packet();
        assert_int_equal(load(capture_len), PCAP_FINE);
        assert_int_equal(file.events[0].at_ns, times[i]);
        assert_string_equal(addr_format_ip(&file.clients[0], text), "192.0.2.1");
        assert_int_equal(addr_family(&file.clients[1]), AF_INET6);
        capture_deinit(&file);
    }
}

/* ---- pcapng ---- */

static bool is_little;

static uint32_t in_order(uint32_t value)
{
    return is_little ? __builtin_bswap32(value) : value;
}

/* Adds a block. Its body begins with these numbers and ends with the packet. */
static void add_block(uint32_t type, const uint32_t *numbers, size_t count)
{
    size_t padded = (packet_len + 3) / 4 * 4, len = 12 + count * 4 + padded;
    uint8_t *block = capture + capture_len;
    memset(block, 0, len);
    put_u32(block, in_order(type));
    put_u32(block + 4, in_order((uint32_t)len));
    for (size_t i = 0; i < count; i++)
        put_u32(block + 8 + 4 * i, in_order(numbers[i]));
    memcpy(block + 8 + 4 * count, packet, packet_len);
    put_u32(block + len - 4, in_order((uint32_t)len));
    capture_len += len;
    packet_len = 0;
}

#define BLOCK(type, ...)                                                                           \
    add_block(type, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static void add_section(void)
{
    BLOCK(0x0a0d0d0a, 0x1a2b3c4d, 1u << 16, 0xffffffff, 0xffffffff);
}

/* The link type is a number of two bytes, and two reserved zeros follow. */
static void add_interface(uint32_t link)
{
    BLOCK(1, is_little ? link : link << 16, 262144);
}

static void add_packet_at(uint32_t interface, uint64_t units)
{
    put_ipv4(17, 0, 53);
    uint32_t len = (uint32_t)packet_len;
    BLOCK(6, interface, (uint32_t)(units >> 32), (uint32_t)units, len, len);
}

static void add_packet(uint32_t interface)
{
    add_packet_at(interface, 0);
}

static void begin_blocks(void)
{
    capture_len = packet_len = 0;
    is_little = false;
    add_section();
}

static void test_each_block_with_a_packet_is_read(void **state)
{
    (void)state;
    begin_blocks();
    BLOCK(5, 0, 0, 0); /* statistics */
    add_interface(RAW);
    add_packet(0);
    put_ipv4(17, 0, 53);
    uint32_t len = (uint32_t)packet_len;
    BLOCK(3, len);
    put_ipv4(17, 0, 53);
    BLOCK(2, 0, 0, 0, len, len);
    assert_int_equal(load(capture_len), PCAP_FINE);
    assert_int_equal(file.queries.count, 3);
    assert_int_equal(packets, 3);
    for (size_t i = 0; i < 3; i++)
        expect_query(i);
    assert_true(file.lacks_times); /* a simple packet block has no time */
    capture_deinit(&file);
}

static void test_a_section_has_its_own_order_and_interfaces(void **state)
{
    (void)state;
    begin_blocks();
    add_interface(ETHERNET);
    is_little = true;
    add_section();
    add_interface(RAW);
    add_packet(0);
    assert_int_equal(load(capture_len), PCAP_FINE);
    expect_query(0);
    capture_deinit(&file);
    is_little = false;
    add_section();
    add_packet(0); /* its interface belongs to the sections before it */
    assert_int_equal(load(capture_len), PCAP_PACKET);
}

static void test_each_interface_has_its_own_unit_of_time(void **state)
{
    (void)state;
    static const struct {
        uint8_t resolution;
        uint64_t units, ns;
    } rows[] = {
        {0, 7, UINT64_C(7000000000)},
        {6, 7, 7000},
        {9, 7, 7},
        {12, 7999, 7},
        {19, UINT64_C(70000000000), 7},
        {0x80, 7, UINT64_C(7000000000)},
        {0x81, 3, 1500000000},
        {0x80 | 40, UINT64_C(3) << 39, 1500000000},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        begin_blocks();
        BLOCK(1, RAW << 16, 262144, 9 << 16 | 1, (uint32_t)rows[i].resolution << 24, 0);
        add_packet_at(0, rows[i].units);
        assert_int_equal(load(capture_len), PCAP_FINE);
        assert_int_equal(file.events[0].at_ns, rows[i].ns);
        capture_deinit(&file);
    }
    begin_blocks();
    add_interface(RAW); /* without the option, the unit is the microsecond */
    BLOCK(1, RAW << 16, 262144, 14 << 16 | 8, 0, 2);
    add_packet_at(0, 5);
    add_packet_at(1, 5);
    BLOCK(1, RAW << 16, 262144, 14 << 16 | 8, UINT32_MAX, UINT32_MAX); /* a second earlier */
    add_packet_at(2, 1000005);
    assert_int_equal(load(capture_len), PCAP_FINE);
    assert_int_equal(file.events[0].at_ns, 5000);
    assert_int_equal(file.events[1].at_ns, 2000005000);
    assert_int_equal(file.events[2].at_ns, 5000);
    assert_false(file.lacks_times);
    capture_deinit(&file);
}

static void test_wrong_options_of_interfaces_are_faults(void **state)
{
    (void)state;
    begin_blocks();
    size_t start = capture_len;
    BLOCK(1, RAW << 16, 262144, 9 << 16 | 5, 0); /* longer than the block */
    assert_int_equal(load(capture_len), PCAP_BLOCK);
    static const uint32_t resolutions[] = {20, 0x7f, 0xc0, 0xff};
    for (size_t i = 0; i < sizeof(resolutions) / sizeof(*resolutions); i++) {
        capture_len = start;
        BLOCK(1, RAW << 16, 262144, 9 << 16 | 1, resolutions[i] << 24);
        assert_int_equal(load(capture_len), PCAP_BLOCK);
    }
}

static void test_an_unknown_interface_is_skipped_beside_others(void **state)
{
    (void)state;
    begin_blocks();
    add_interface(147);
    add_packet(0);
    assert_int_equal(load(capture_len), PCAP_LINK);
    add_interface(RAW);
    add_packet(1);
    assert_int_equal(load(capture_len), PCAP_FINE);
    assert_int_equal(file.queries.count, 1);
    assert_int_equal(packets, 2);
    capture_deinit(&file);
}

static void test_a_section_has_a_bound_of_interfaces(void **state)
{
    (void)state;
    begin_blocks();
    for (int i = 0; i < PCAP_INTERFACES_MAX; i++)
        add_interface(RAW);
    add_packet(PCAP_INTERFACES_MAX - 1);
    assert_int_equal(load(capture_len), PCAP_FINE);
    capture_deinit(&file);
    add_interface(RAW);
    assert_int_equal(load(capture_len), PCAP_INTERFACES);
}

static void test_blocks_that_are_cut_are_refused_whole(void **state)
{
    (void)state;
    begin_blocks();
    size_t section = capture_len;
    add_interface(RAW);
    size_t interface = capture_len;
    add_packet(0);
    size_t one = capture_len;
    add_packet(0);
    for (size_t len = 1; len < capture_len; len++) {
        enum pcap_fault fault = load(len);
        assert_int_equal(fault, len < 4                              ? PCAP_NO_PCAP
                                : len == section || len == interface ? PCAP_EMPTY
                                : len == one                         ? PCAP_FINE
                                                                     : PCAP_CUT);
        assert_int_equal(file.queries.count, len == one);
        capture_deinit(&file);
    }
}

static void test_wrong_lengths_of_blocks_are_faults(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 8, 13, 28, PCAP_BLOCK_MAX + 4, 0xfffffffc};
    begin_blocks();
    add_interface(RAW);
    size_t at = capture_len;
    add_packet(0);
    size_t end = capture_len;
    uint32_t good = get_u32(capture + at + 4);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        put_u32(capture + at + 4, lengths[i]);
        assert_int_equal(load(end), PCAP_BLOCK);
    }
    put_u32(capture + at + 4, good);
    put_u32(capture + end - 4, good - 4); /* the two lengths differ */
    assert_int_equal(load(end), PCAP_BLOCK);
    put_u32(capture + end - 4, good);
    put_u32(capture + at + 20, good); /* a packet length beyond its block */
    assert_int_equal(load(end), PCAP_PACKET);
    capture_len = at;
    BLOCK(6, 0, 0, 0); /* a block that is too short for its numbers */
    assert_int_equal(load(capture_len), PCAP_BLOCK);
    capture_len = at;
    BLOCK(1, 0);
    assert_int_equal(load(capture_len), PCAP_BLOCK);
}

static void test_each_fault_has_a_remedy(void **state)
{
    (void)state;
    begin(147);
    assert_int_equal(load(capture_len), PCAP_LINK);
    begin(RAW);
    put_u32(capture, 0x0a0d0d0a);
    assert_int_equal(load(capture_len), PCAP_BLOCK);
    memcpy(capture, "a.example A\n", 12);
    assert_int_equal(load(capture_len), PCAP_NO_PCAP);
    begin(RAW);
    end_packet();
    put_u32(capture + 24 + 8, PCAP_PACKET_MAX + 1);
    assert_int_equal(load(capture_len), PCAP_PACKET);
    put_u32(capture + 24 + 8, PCAP_PACKET_MAX);
    assert_int_equal(load(capture_len), PCAP_CUT);
    for (int fault = PCAP_FINE; fault <= PCAP_FULL; fault++)
        assert_non_null(pcap_fault_text((enum pcap_fault)fault));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries_come_from_every_kind_of_link),
        cmocka_unit_test(test_vlan_tags_are_passed_up_to_a_bound),
        cmocka_unit_test(test_both_orders_of_bytes_are_read),
        cmocka_unit_test(test_other_packets_are_skipped),
        cmocka_unit_test(test_wrong_lengths_are_skipped),
        cmocka_unit_test(test_a_file_that_is_cut_is_refused_whole),
        cmocka_unit_test(test_times_and_clients_come_with_the_queries),
        cmocka_unit_test(test_each_block_with_a_packet_is_read),
        cmocka_unit_test(test_each_interface_has_its_own_unit_of_time),
        cmocka_unit_test(test_wrong_options_of_interfaces_are_faults),
        cmocka_unit_test(test_a_section_has_its_own_order_and_interfaces),
        cmocka_unit_test(test_an_unknown_interface_is_skipped_beside_others),
        cmocka_unit_test(test_a_section_has_a_bound_of_interfaces),
        cmocka_unit_test(test_blocks_that_are_cut_are_refused_whole),
        cmocka_unit_test(test_wrong_lengths_of_blocks_are_faults),
        cmocka_unit_test(test_each_fault_has_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
