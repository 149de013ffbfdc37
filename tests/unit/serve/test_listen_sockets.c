/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The sockets of all workers, as one list of addresses replaces another. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/log.h"
#include "serve/listen_sockets.h"
#include "support/fake_net.h"

enum { WORKERS = 3, LISTENS_MAX = 8 };

static struct listen_sockets *sockets;
static struct listen_share *shares[WORKERS];
static struct addr listens[LISTENS_MAX];
static struct server_options options;
static unsigned warnings;
static int foreign[4];
static size_t foreign_count;

static void count_warning(enum log_level level, const char *line)
{
    assert_int_equal(level, LOG_WARNING);
    assert_non_null(strstr(line, "not listening on"));
    warnings++;
}

static int setup(void **state)
{
    (void)state;
    sockets = listen_sockets_new(WORKERS);
    memset(shares, 0, sizeof(shares));
    warnings = 0;
    foreign_count = 0;
    log_set_sink(count_warning);
    fake_net_fail_listen(NULL, &(struct addr){0}, ERR_OK);
    return 0;
}

static void close_shares(void)
{
    for (size_t i = 0; i < WORKERS; i++) {
        listen_share_free(shares[i]);
        shares[i] = NULL;
    }
}

static int teardown(void **state)
{
    (void)state;
    close_shares();
    listen_sockets_free(sockets);
    for (size_t i = 0; i < foreign_count; i++)
        fake_foreign_close(foreign[i]);
    log_set_sink(NULL);
    return fake_listen_sockets() == 0 ? 0 : -1;
}

/* Reads a list of addresses with blanks between. Addresses after a bar are for TLS. */
static void wish(const char *list)
{
    char text[200], *rest = NULL;
    bool is_tls = false;
    assert_true(strlen(list) < sizeof(text));
    strcpy(text, list);
    options = (struct server_options){.listen = listens};
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t count = options.listen_count + options.listen_tls_count;
        if (strcmp(word, "|") == 0) {
            is_tls = true;
            options.listen_tls = &listens[count];
            continue;
        }
        listens[count] = fake_addr(word);
        *(is_tls ? &options.listen_tls_count : &options.listen_count) += 1;
    }
}

static enum err prepare(const char *list, size_t *which)
{
    wish(list);
    *which = 99;
    return listen_sockets_prepare(sockets, &options, which);
}

static void take_all(void)
{
    close_shares();
    for (size_t i = 0; i < WORKERS; i++)
        shares[i] = listen_sockets_take(sockets, i);
    listen_sockets_commit(sockets);
}

/* Opens the list's sockets, which stay open until the next list. The workers' use of them is not
 * tested here. */
static void serve(const char *list)
{
    size_t which;
    assert_int_equal(prepare(list, &which), ERR_OK);
    take_all();
}

static void refuse_at(const char *addr, enum err why)
{
    struct addr at = fake_addr(addr);
    fake_net_fail_listen(NULL, &at, why);
}

static int foreign_socket(const char *addr, enum listen_type type)
{
    struct addr at = fake_addr(addr);
    return foreign[foreign_count++] = fake_foreign_socket(&at, type);
}

/* ---- the first list ---- */

static void test_each_worker_has_a_socket_for_each_transport(void **state)
{
    (void)state;
    serve("127.0.0.1@53 ::1@53 | 127.0.0.1@853");
    for (size_t i = 0; i < WORKERS; i++) {
        assert_int_equal(shares[i]->count, 3);
        for (size_t j = 0; j < 3; j++) {
            const struct listen_slot *slot = &shares[i]->slots[j];
            assert_true(slot->stream.fd >= 0 && slot->stream.type == LISTEN_TCP);
            assert_int_equal(slot->udp.fd >= 0,
                             j < 2); /* another program may serve UDP beside TLS */
            assert_int_equal(slot->before, SIZE_MAX);
            assert_false(slot->stream.is_shared);
        }
    }
    assert_int_equal(fake_listen_sockets(), WORKERS * 5);
    assert_int_equal(warnings, 0);
}

static void test_port_zero_is_the_same_port_everywhere(void **state)
{
    (void)state;
    serve("127.0.0.1@0");
    const struct addr *local = listen_sockets_local(sockets, 0);
    assert_int_not_equal(addr_port(local), 0);
    for (size_t i = 0; i < WORKERS; i++) {
        assert_true(addr_equal(&shares[i]->slots[0].udp.local, local));
        assert_true(addr_equal(&shares[i]->slots[0].stream.local, local));
    }
}

static void test_an_address_that_is_taken_is_named_and_nothing_stays_open(void **state)
{
    (void)state;
    size_t which;
    foreign_socket("::1@53", LISTEN_TCP);
    assert_int_equal(prepare("127.0.0.1@53 ::1@53", &which), ERR_ADDRESS_IN_USE);
    assert_int_equal(which, 1);
    assert_int_equal(fake_listen_sockets(), foreign_count);
    refuse_at("127.0.0.1@53", ERR_PERMISSION);
    assert_int_equal(prepare("127.0.0.1@53 ::1@53", &which), ERR_PERMISSION);
    assert_int_equal(which, 0);
    assert_int_equal(fake_listen_sockets(), foreign_count);
}

static void test_a_wildcard_of_another_program_is_detected(void **state)
{
    (void)state;
    size_t which;
    foreign_socket("0.0.0.0@53", LISTEN_UDP);
    assert_int_equal(prepare("127.0.0.1@53", &which), ERR_ADDRESS_IN_USE);
}

static void test_udp_beside_tls_may_belong_to_another_program(void **state)
{
    (void)state;
    foreign_socket("127.0.0.1@853", LISTEN_UDP);
    serve("| 127.0.0.1@853");
}

static void test_a_missing_address_is_a_warning_as_long_as_another_works(void **state)
{
    (void)state;
    refuse_at("192.0.2.1@53", ERR_ADDRESS_UNKNOWN);
    serve("192.0.2.1@53 127.0.0.1@53");
    assert_int_equal(warnings, 1);
    assert_null(listen_sockets_local(sockets, 0));
    assert_non_null(listen_sockets_local(sockets, 1));
    assert_int_equal(shares[0]->slots[0].stream.fd, -1);
}

static void test_a_lone_missing_address_is_an_error(void **state)
{
    (void)state;
    size_t which;
    refuse_at("192.0.2.1@53", ERR_ADDRESS_UNKNOWN);
    assert_int_equal(prepare("192.0.2.1@53", &which), ERR_ADDRESS_UNKNOWN);
    assert_int_equal(which, 0);
}

static void test_a_missing_address_does_not_hide_a_taken_one(void **state)
{
    (void)state;
    size_t which;
    refuse_at("192.0.2.1@53", ERR_ADDRESS_UNKNOWN);
    foreign_socket("::1@53", LISTEN_UDP);
    assert_int_equal(prepare("192.0.2.1@53 ::1@53", &which), ERR_ADDRESS_IN_USE);
    assert_int_equal(which, 1);
}

static void test_freebind_takes_an_address_that_is_missing(void **state)
{
    (void)state;
    size_t which;
    refuse_at("192.0.2.1@53", ERR_ADDRESS_UNKNOWN);
    wish("192.0.2.1@53");
    options.freebind = true;
    assert_int_equal(listen_sockets_prepare(sockets, &options, &which), ERR_OK);
    assert_non_null(listen_sockets_local(sockets, 0));
    assert_int_equal(warnings, 0);
}

static void test_an_empty_list_is_a_list(void **state)
{
    (void)state;
    serve("");
    serve("127.0.0.1@53");
    serve("");
}

/* ---- the lists that follow ---- */

static void test_an_address_that_stays_keeps_its_sockets(void **state)
{
    (void)state;
    serve("127.0.0.1@53 127.0.0.2@53");
    serve("127.0.0.3@53 127.0.0.2@53");
    for (size_t i = 0; i < WORKERS; i++) {
        assert_true(shares[i]->slots[0].udp.fd >= 0);
        assert_int_equal(shares[i]->slots[0].before, SIZE_MAX);
        assert_int_equal(shares[i]->slots[1].udp.fd, -1);
        assert_int_equal(shares[i]->slots[1].stream.fd, -1);
        assert_int_equal(shares[i]->slots[1].before, 1);
    }
}

static void test_where_a_kept_address_is_bound_is_still_known(void **state)
{
    (void)state;
    serve("127.0.0.1@0");
    struct addr local = *listen_sockets_local(sockets, 0);
    serve("127.0.0.2@53 127.0.0.1@0");
    assert_true(addr_equal(listen_sockets_local(sockets, 1), &local));
}

static void test_plain_and_tls_are_different_addresses(void **state)
{
    (void)state;
    serve("127.0.0.1@853");
    serve("| 127.0.0.1@853");
    assert_int_equal(shares[0]->slots[0].before, SIZE_MAX);
    assert_true(shares[0]->slots[0].stream.fd >= 0);
}

static void test_an_address_that_overlaps_one_of_ours_can_be_added(void **state)
{
    (void)state;
    struct listen_share *open[WORKERS];
    serve("0.0.0.0@53");
    memcpy(open, shares, sizeof(open)); /* the workers have not closed the socket yet */
    memset(shares, 0, sizeof(shares));
    serve("127.0.0.1@53 127.0.0.2@53");
    for (size_t i = 0; i < WORKERS; i++)
        listen_share_free(open[i]);
}

static void test_an_address_just_removed_can_be_added_again(void **state)
{
    (void)state;
    struct listen_share *open[WORKERS];
    serve("127.0.0.1@53 127.0.0.2@53");
    memcpy(open, shares, sizeof(open));
    memset(shares, 0, sizeof(shares));
    serve("127.0.0.1@53");
    serve("127.0.0.1@53 127.0.0.2@53");
    assert_true(shares[0]->slots[1].udp.fd >= 0);
    for (size_t i = 0; i < WORKERS; i++)
        listen_share_free(open[i]);
}

static void test_an_ended_address_may_belong_to_another_program(void **state)
{
    (void)state;
    size_t which;
    serve("127.0.0.1@53 127.0.0.2@53");
    serve("127.0.0.1@53");
    listen_sockets_settle(sockets);
    foreign_socket("127.0.0.2@53", LISTEN_UDP);
    assert_int_equal(prepare("127.0.0.1@53 127.0.0.2@53", &which), ERR_ADDRESS_IN_USE);
    assert_int_equal(which, 1);
}

static void test_a_list_that_cannot_be_opened_leaves_the_one_before(void **state)
{
    (void)state;
    size_t which;
    serve("127.0.0.1@53 127.0.0.2@53");
    size_t open = fake_listen_sockets();
    foreign_socket("127.0.0.4@53", LISTEN_TCP);
    assert_int_equal(prepare("127.0.0.2@53 127.0.0.3@53 127.0.0.4@53", &which), ERR_ADDRESS_IN_USE);
    assert_int_equal(which, 2);
    assert_int_equal(fake_listen_sockets(), open + foreign_count);
    serve("127.0.0.2@53");
    assert_int_equal(shares[0]->slots[0].before, 1);
}

static void test_a_list_may_be_given_up(void **state)
{
    (void)state;
    size_t which;
    serve("127.0.0.1@53");
    assert_int_equal(prepare("127.0.0.2@53", &which), ERR_OK);
    listen_sockets_cancel(sockets);
    assert_int_equal(prepare("127.0.0.1@53", &which), ERR_OK);
    take_all();
    assert_int_equal(shares[2]->slots[0].before, 0);
}

static void test_a_missing_address_is_tried_again_with_the_next_list(void **state)
{
    (void)state;
    refuse_at("127.0.0.2@53", ERR_ADDRESS_UNKNOWN);
    serve("127.0.0.1@53 127.0.0.2@53");
    refuse_at("127.0.0.2@53", ERR_OK);
    serve("127.0.0.1@53 127.0.0.2@53");
    assert_int_equal(shares[0]->slots[0].before, 0);
    assert_true(shares[0]->slots[1].udp.fd >= 0);
}

static void test_missing_addresses_are_no_error_while_one_is_kept(void **state)
{
    (void)state;
    serve("127.0.0.1@53");
    refuse_at("192.0.2.1@53", ERR_ADDRESS_UNKNOWN);
    serve("127.0.0.1@53 192.0.2.1@53");
    assert_int_equal(warnings, 1);
}

static void test_an_address_listed_twice_with_port_zero_is_two(void **state)
{
    (void)state;
    serve("127.0.0.1@0 127.0.0.1@0");
    serve("127.0.0.1@0 127.0.0.1@0");
    assert_int_equal(shares[0]->slots[0].before, 0);
    assert_int_equal(shares[0]->slots[1].before, 1);
    serve("127.0.0.1@0 127.0.0.1@0 127.0.0.1@0");
    assert_int_equal(shares[0]->slots[2].before, SIZE_MAX);
}

static void test_sockets_can_be_given_to_the_user_that_opens_the_next_ones(void **state)
{
    (void)state;
    size_t which;
    assert_int_equal(prepare("127.0.0.1@53", &which), ERR_OK);
    listen_sockets_chown(sockets, 12345);
    assert_int_equal(fake_listen_owner(), 12345);
}

/* ---- sockets of another process ---- */

static void adopt(int *fds, size_t count)
{
    char why[LISTEN_SOCKETS_WHY_MAX] = "";
    enum err err = listen_sockets_adopt(sockets, fds, count, &options, why);
    assert_string_equal(why, "");
    assert_int_equal(err, ERR_OK);
    foreign_count -= count; /* these sockets are ours now */
}

static void refuse(int *fds, size_t count, const char *because)
{
    char why[LISTEN_SOCKETS_WHY_MAX] = "";
    enum err err = listen_sockets_adopt(sockets, fds, count, &options, why);
    assert_int_equal(err, ERR_INVALID);
    if (!strstr(why, because))
        fail_msg("it says: %s", why);
}

static void test_given_sockets_serve_the_address_they_are_bound_to(void **state)
{
    (void)state;
    int fds[] = {foreign_socket("127.0.0.1@53", LISTEN_UDP),
                 foreign_socket("127.0.0.1@53", LISTEN_TCP),
                 foreign_socket("127.0.0.1@853", LISTEN_TCP)};
    wish("127.0.0.1@53 | 127.0.0.1@853");
    adopt(fds, 3);
    serve("127.0.0.1@53 | 127.0.0.1@853");
    for (size_t i = 0; i < WORKERS; i++) {
        /* here, a duplicate keeps the number */
        assert_int_equal(shares[i]->slots[0].udp.fd, fds[0]);
        assert_int_equal(shares[i]->slots[0].stream.fd, fds[1]);
        assert_int_equal(shares[i]->slots[1].stream.fd, fds[2]);
        assert_true(shares[i]->slots[0].udp.is_shared);
    }
}

static void test_addresses_without_a_given_socket_are_opened(void **state)
{
    (void)state;
    int fds[] = {foreign_socket("127.0.0.1@53", LISTEN_UDP)};
    wish("127.0.0.1@53 ::1@53");
    adopt(fds, 1);
    serve("127.0.0.1@53 ::1@53");
    assert_true(shares[0]->slots[0].udp.is_shared);
    assert_false(shares[0]->slots[0].stream.is_shared);
    assert_false(shares[0]->slots[1].udp.is_shared);
}

static void test_a_given_socket_comes_back_with_its_address(void **state)
{
    (void)state;
    int fds[] = {foreign_socket("127.0.0.1@53", LISTEN_UDP)};
    wish("127.0.0.1@53");
    adopt(fds, 1);
    serve("127.0.0.1@53");
    serve("127.0.0.2@53");
    serve("127.0.0.1@53");
    assert_int_equal(shares[1]->slots[0].udp.fd, fds[0]);
}

static void test_a_given_socket_that_serves_nothing_is_refused(void **state)
{
    (void)state;
    int fds[] = {foreign_socket("127.0.0.1@53", LISTEN_TCP),
                 foreign_socket("127.0.0.9@53", LISTEN_UDP)};
    wish("127.0.0.1@53");
    refuse(fds, 2, "bound to 127.0.0.9@53 over UDP, which is not served; add it to server.listen");
    wish("127.0.0.1@53 | 127.0.0.9@53");
    refuse(fds, 2, "over UDP, which is not served"); /* TLS is not served over UDP */
}

static void test_a_descriptor_that_is_no_socket_is_refused(void **state)
{
    (void)state;
    int fds[] = {0};
    wish("127.0.0.1@53");
    refuse(fds, 1, "descriptor 0: it is not a socket");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_worker_has_a_socket_for_each_transport),
        TEST(test_port_zero_is_the_same_port_everywhere),
        TEST(test_an_address_that_is_taken_is_named_and_nothing_stays_open),
        TEST(test_a_wildcard_of_another_program_is_detected),
        TEST(test_udp_beside_tls_may_belong_to_another_program),
        TEST(test_a_missing_address_is_a_warning_as_long_as_another_works),
        TEST(test_a_lone_missing_address_is_an_error),
        TEST(test_a_missing_address_does_not_hide_a_taken_one),
        TEST(test_freebind_takes_an_address_that_is_missing),
        TEST(test_an_empty_list_is_a_list),
        TEST(test_an_address_that_stays_keeps_its_sockets),
        TEST(test_where_a_kept_address_is_bound_is_still_known),
        TEST(test_plain_and_tls_are_different_addresses),
        TEST(test_an_address_that_overlaps_one_of_ours_can_be_added),
        TEST(test_an_address_just_removed_can_be_added_again),
        TEST(test_an_ended_address_may_belong_to_another_program),
        TEST(test_a_list_that_cannot_be_opened_leaves_the_one_before),
        TEST(test_a_list_may_be_given_up),
        TEST(test_a_missing_address_is_tried_again_with_the_next_list),
        TEST(test_missing_addresses_are_no_error_while_one_is_kept),
        TEST(test_an_address_listed_twice_with_port_zero_is_two),
        TEST(test_sockets_can_be_given_to_the_user_that_opens_the_next_ones),
        TEST(test_given_sockets_serve_the_address_they_are_bound_to),
        TEST(test_addresses_without_a_given_socket_are_opened),
        TEST(test_a_given_socket_comes_back_with_its_address),
        TEST(test_a_given_socket_that_serves_nothing_is_refused),
        TEST(test_a_descriptor_that_is_no_socket_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
