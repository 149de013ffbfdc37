/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads the files of /proc that list reserved ports and ports in use. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "daemon/query_ports.h"

static struct outgoing_ports ports;

static int set_up(void **state)
{
    (void)state;
    outgoing_ports_init(&ports);
    return 0;
}

static FILE *file_of(const char *text)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(file);
    return file;
}

static unsigned left_out_by(const char *reserved)
{
    FILE *file = file_of(reserved);
    unsigned before = ports.count;
    query_ports_take_reserved(&ports, file);
    fclose(file);
    return before - ports.count;
}

static void test_reserved_ports_are_excluded(void **state)
{
    (void)state;
    assert_int_equal(left_out_by("22,8080,9000-9099,65535\n"), 102);
    assert_false(outgoing_ports_have(&ports, 8080));
    assert_false(outgoing_ports_have(&ports, 9000));
    assert_false(outgoing_ports_have(&ports, 9099));
    assert_true(outgoing_ports_have(&ports, 9100));
    assert_false(outgoing_ports_have(&ports, 65535));
}

static void test_a_malformed_list_of_ports_excludes_nothing_more(void **state)
{
    (void)state;
    assert_int_equal(left_out_by("\n"), 0);
    assert_int_equal(left_out_by("2000,x,3000\n"), 1);
    assert_int_equal(left_out_by("70000\n"), 0);
    assert_int_equal(left_out_by("5000-4000\n"), 0);
}

static void test_the_systems_range_is_read(void **state)
{
    FILE *good = file_of("32768\t60999\n"), *bad = file_of("60999 32768\n");

    (void)state;
    query_ports_take_system(&ports, bad);
    assert_int_equal(ports.system_last, 0);
    query_ports_take_system(&ports, good);
    assert_int_equal(ports.system_first, 32768);
    assert_int_equal(ports.system_last, 60999);
    fclose(good);
    fclose(bad);
}

/* Two listening services, one query of another program (state 01: connected), and one port outside
 * the range. */
static const char udp_table[] =
    "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
    "  312: 0100007F:14EB 00000000:0000 07 00000000:00000000 00:00000000 00000000\n"
    "  313: 0100007F:2710 0200007F:0035 01 00000000:00000000 00:00000000 00000000\n"
    "  314: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000\n";
static const char tcp6_table[] =
    "  sl  local_address                         remote_address                        st\n"
    "   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0\n"
    "   1: 00000000000000000000000001000000:1F91 00000000000000000000000001000000:0050 01 0\n";

static void test_ports_that_others_listen_on_are_excluded(void **state)
{
    FILE *udp = file_of(udp_table), *tcp6 = file_of(tcp6_table);
    unsigned most = 10;

    (void)state;
    query_ports_take_listening(&ports, udp, &most);
    assert_int_equal(most, 9);
    assert_false(outgoing_ports_have(&ports, 0x14EB));
    assert_true(outgoing_ports_have(&ports, 0x2710));
    query_ports_take_listening(&ports, tcp6, &most);
    assert_int_equal(most, 8);
    assert_false(outgoing_ports_have(&ports, 0x1F90));
    assert_true(outgoing_ports_have(&ports, 0x1F91));
    fclose(udp);
    fclose(tcp6);
}

static void test_the_number_of_excluded_listening_ports_is_bounded(void **state)
{
    static char table[(QUERY_PORTS_LISTENING_MAX + 10) * 64];
    size_t at = 0;
    unsigned most = QUERY_PORTS_LISTENING_MAX;

    (void)state;
    for (unsigned port = 2000; port < 2000 + QUERY_PORTS_LISTENING_MAX + 5; port++)
        at += (size_t)snprintf(table + at, sizeof(table) - at,
                               "%5u: 0100007F:%04X 00000000:0000 07 0\n", port, port);
    FILE *file = file_of(table);
    query_ports_take_listening(&ports, file, &most);
    fclose(file);
    assert_int_equal(ports.count, 64512 - QUERY_PORTS_LISTENING_MAX);
    assert_true(ports.count > 61147); /* the ports that remain give 15.9 bits */
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reserved_ports_are_excluded),
        TEST(test_a_malformed_list_of_ports_excludes_nothing_more),
        TEST(test_the_systems_range_is_read),
        TEST(test_ports_that_others_listen_on_are_excluded),
        TEST(test_the_number_of_excluded_listening_ports_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
