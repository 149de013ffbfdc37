/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Clients of the control socket, polite and hostile, in virtual time on real sockets. */

#include "control/control.h"

#include "unit/control/desk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "nailup/control.h"

struct place {
    struct desk desk;
    struct control *control;
    char folder[64], path[80];
};

static const struct local_place *at(const char *path)
{
    static struct local_place place;

    place = (struct local_place){.path = path, .mode = 0660, .uid = (uid_t)-1, .gid = (gid_t)-1};
    return &place;
}

static int open_all(void **state)
{
    static struct place place;
    char why[CONTROL_WHY_MAX];

    desk_open(&place.desk);
    snprintf(place.folder, sizeof(place.folder), "/tmp/nailup-test-XXXXXX");
    assert_non_null(mkdtemp(place.folder));
    snprintf(place.path, sizeof(place.path), "%s/control.sock", place.folder);
    assert_int_equal(
        control_open(&place.control, place.desk.loop, at(place.path), &place.desk.view, why),
        ERR_OK);
    *state = &place;
    return 0;
}

static int close_all(void **state)
{
    struct place *place = *state;

    control_close(&place->control);
    assert_int_equal(fake_fd_watch_count(), 0);
    assert_int_equal(access(place->path, F_OK), -1);
    rmdir(place->folder);
    desk_close(&place->desk);
    return 0;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    strcpy(address.sun_path, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* Opens a client that sends these bytes at once. */
static int client_with(struct place *place, const char *bytes, size_t len)
{
    int fd = connect_to(place->path);
    desk_settle(&place->desk);
    assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
    desk_settle(&place->desk);
    return fd;
}

static int client(struct place *place, const char *text)
{
    return client_with(place, text, strlen(text));
}

/* Returns the bytes received, at most 64 KiB; "" at the end of the stream, NULL if nothing has
 * arrived. */
static const char *received(int fd)
{
    static char text[65537];
    ssize_t got = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN ? NULL : "";
    text[got] = '\0';
    return text;
}

static bool is_closed(int fd)
{
    const char *text = received(fd);
    return text && !*text;
}

static void test_a_line_gets_a_reply_and_then_the_end(void **state)
{
    int fd = client(*state, "help\n");
    const char *reply = received(fd);

    assert_non_null(reply);
    assert_true(strncmp(reply, "ok\ntable\tcommands\n", 18) == 0);
    assert_string_equal(reply + strlen(reply) - 4, "end\n");
    assert_true(is_closed(fd));
    close(fd);
}

static void test_a_line_may_come_in_pieces(void **state)
{
    struct place *place = *state;
    int fd = client(place, "he");

    for (const char *p = "lp\n"; *p; p++) {
        assert_null(received(fd));
        assert_int_equal(send(fd, p, 1, 0), 1);
        desk_settle(&place->desk);
    }
    assert_non_null(strstr(received(fd), "\nend\n"));
    close(fd);
}

static void test_a_command_that_asks_the_workers_answers_when_all_have(void **state)
{
    struct place *place = *state;
    int fd = connect_to(place->path);

    fake_fd_watch_settle();
    assert_int_equal(send(fd, "connections\n", 12, 0), 12);
    fake_fd_watch_settle();
    fake_loop_settle(place->desk.workers[0].loop);
    fake_loop_settle(place->desk.loop);
    fake_fd_watch_settle();
    assert_null(received(fd));
    desk_settle(&place->desk);
    assert_non_null(strstr(received(fd), "\nend\n"));
    close(fd);
}

static void test_bytes_after_the_line_are_not_run(void **state)
{
    int fd = client(*state, "help\nhelp\n");
    const char *reply = received(fd);

    assert_null(strstr(strstr(reply, "end\n") + 4, "ok\n"));
    close(fd);
}

static void test_a_line_that_never_ends_is_refused(void **state)
{
    char bytes[CONTROL_REQUEST_MAX];

    memset(bytes, 'x', sizeof(bytes));
    int fd = client_with(*state, bytes, sizeof(bytes));
    assert_true(strncmp(received(fd), "refused\t", 8) == 0);
    assert_true(is_closed(fd));
    close(fd);
}

static void test_a_silent_client_is_closed_in_time(void **state)
{
    struct place *place = *state;
    int silent = client(place, ""), dribbling = client(place, "stat");

    fake_loop_advance(place->desk.loop, CONTROL_CLIENT_ASK_US / 2);
    assert_int_equal(send(dribbling, "u", 1, 0), 1); /* further bytes do not extend the limit */
    desk_settle(&place->desk);
    assert_false(is_closed(silent));
    fake_loop_advance(place->desk.loop, CONTROL_CLIENT_ASK_US / 2 + 2000);
    assert_true(is_closed(silent));
    assert_true(is_closed(dribbling));
    close(silent);
    close(dribbling);
}

/* Makes a reply longer than a socket takes at once. */
static void fill(struct place *place)
{
    struct upstream_options options = upstream_options_default;
    struct addr addr;

    assert_int_equal(addr_parse(&addr, "192.0.2.1@1", 53), ERR_OK);
    for (unsigned port = 1; port < 8000; port++) {
        addr_set_port(&addr, (uint16_t)port);
        assert_non_null(upstreams_get(place->desk.workers[0].upstreams, &addr, &options));
    }
}

static void test_a_client_that_does_not_read_is_closed_in_time(void **state)
{
    struct place *place = *state;

    fill(place);
    int fd = client(place, "upstreams\n");
    assert_int_equal(fake_fd_watch_count(), 2);
    fake_loop_advance(place->desk.loop, CONTROL_CLIENT_TAKE_US + 2000);
    assert_int_equal(fake_fd_watch_count(), 1);
    size_t total = 0;
    for (const char *text; (text = received(fd)) && *text;)
        total += strlen(text);
    assert_true(total > 0);
    close(fd);
}

static void test_a_client_that_reads_slowly_gets_it_all(void **state)
{
    struct place *place = *state;
    char last[5] = "";
    size_t total = 0;

    fill(place);
    int fd = client(place, "upstreams\n");
    for (const char *text; (text = received(fd)) && *text;) {
        size_t len = strlen(text);
        total += len;
        if (len >= 4)
            memcpy(last, text + len - 4, 5);
        fake_loop_advance(place->desk.loop, CONTROL_CLIENT_TAKE_US / 4);
        desk_settle(&place->desk);
    }
    assert_true(total > 400000);
    assert_string_equal(last, "end\n");
    close(fd);
}

static void test_a_client_may_leave_at_every_moment(void **state)
{
    struct place *place = *state;
    static const char *const words[] = {"",
                                        "stat",
                                        "help\n",
                                        "connections\n",
                                        "upstreams\n",
                                        "dump-cache\n",
                                        "load-cache\n",
                                        "load-cache\n;answer",
                                        "flush\texample\n"};

    fill(place);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        int fd = connect_to(place->path);
        fake_fd_watch_settle();
        send(fd, words[i], strlen(words[i]), 0);
        fake_fd_watch_settle(); /* the workers have not answered yet */
        close(fd);
        desk_settle(&place->desk);
        assert_int_equal(fake_fd_watch_count(), 1);
    }
}

static void test_a_command_that_walks_over_the_cache_answers_at_the_end(void **state)
{
    int fd = client(*state, "flush-zone\t.\n");

    assert_string_equal(received(fd), "ok\nrecord\tflushed\ncolumns\tname:text\tanswers:count\n"
                                      "row\t.\t0\nend\n");
    assert_true(is_closed(fd));
    close(fd);
}

static void test_a_client_that_loads_is_answered_at_the_end_of_its_input(void **state)
{
    struct place *place = *state;
    int fd = client(place, "load-cache\n;answer www.exa");

    for (int i = 0; i < 3; i++) {
        assert_null(received(fd));
        assert_true(send(fd,
                         "mple. A ttl 60\nwww.example. 60 IN A 192.0.2.1\n;end\n;" + (i ? 50 : 0),
                         i ? 2 : 52, 0) > 0);
        desk_settle(&place->desk);
    }
    shutdown(fd, SHUT_WR);
    desk_settle(&place->desk);
    assert_non_null(strstr(received(fd), "\trefused:count\nrow\t1\t"));
    assert_true(is_closed(fd));
    close(fd);
}

static void test_a_client_that_stops_loading_is_closed_in_time(void **state)
{
    struct place *place = *state;
    int fd = client(place, "load-cache\n;answer www.exa");

    fake_loop_advance(place->desk.loop, CONTROL_CLIENT_TAKE_US + 2000);
    assert_true(is_closed(fd));
    close(fd);
}

static void test_a_client_that_closed_its_sending_side_still_gets_its_reply(void **state)
{
    struct place *place = *state;
    int fd = connect_to(place->path);

    assert_int_equal(send(fd, "connections\n", 12, 0), 12);
    shutdown(fd, SHUT_WR);
    desk_settle(&place->desk);
    assert_non_null(strstr(received(fd), "\nend\n"));
    close(fd);
}

static void test_clients_beyond_the_bound_wait_for_a_place(void **state)
{
    struct place *place = *state;
    enum { MANY = 20 };
    int fds[MANY];

    for (int i = 0; i < MANY; i++)
        fds[i] = client(place, i < MANY - 1 ? "" : "help\n");
    assert_int_equal(fake_fd_watch_count(), 1 + 16);
    assert_null(received(fds[MANY - 1]));
    for (int i = 0; i < MANY - 1; i++)
        close(fds[i]);
    desk_settle(&place->desk);
    fake_loop_advance(place->desk.loop, 200 * 1000);
    desk_settle(&place->desk);
    assert_non_null(strstr(received(fds[MANY - 1]), "\nend\n"));
    close(fds[MANY - 1]);
}

/* Clients that send nothing, do not read, or load without an end must not keep others out. */
static void test_a_client_takes_the_place_of_an_idle_one(void **state)
{
    struct place *place = *state;
    enum { PLACES = 16 };
    static const char *const words[] = {"", "stat", "upstreams\n", "load-cache\n;answer www.exa"};
    int fds[PLACES], last[2];

    fill(place);
    for (int i = 0; i < PLACES; i++)
        fds[i] = client(place, words[i % 4]);
    assert_int_equal(fake_fd_watch_count(), 1 + PLACES);
    fake_loop_advance(place->desk.loop, CONTROL_CLIENT_IDLE_US);
    desk_settle(&place->desk);
    for (int i = 0; i < 2; i++) {
        last[i] = client(place, "help\n");
        assert_non_null(strstr(received(last[i]), "\nend\n"));
        close(last[i]);
    }
    assert_true(is_closed(fds[0])); /* the client that was idle for longest */
    assert_int_equal(fake_fd_watch_count(), PLACES);
    for (int i = 0; i < PLACES; i++)
        close(fds[i]);
    desk_settle(&place->desk);
}

/* Clients with a running command are not idle. */
static void test_clients_whose_commands_run_keep_their_places(void **state)
{
    struct place *place = *state;
    enum { PLACES = 16 };
    int fds[PLACES];

    for (int i = 0; i < PLACES; i++) {
        fds[i] = connect_to(place->path);
        fake_fd_watch_settle();
        send(fds[i], "connections\n", 12, 0);
        fake_fd_watch_settle(); /* the workers have not answered yet */
    }
    fake_loop_advance(place->desk.loop, 2 * CONTROL_CLIENT_IDLE_US);
    int late = connect_to(place->path);
    send(late, "help\n", 5, 0);
    fake_fd_watch_settle();
    assert_int_equal(fake_fd_watch_count(), 1 + PLACES);
    desk_settle(&place->desk);
    for (int i = 0; i < PLACES; i++) {
        assert_non_null(strstr(received(fds[i]), "\nend\n"));
        close(fds[i]);
    }
    fake_loop_advance(place->desk.loop, 200 * 1000);
    desk_settle(&place->desk);
    assert_non_null(strstr(received(late), "\nend\n"));
    close(late);
}

/* A command that walks over the cache sends nothing until its end. */
static void test_a_client_whose_command_walks_keeps_its_place(void **state)
{
    struct place *place = *state;
    enum { PLACES = 16 };
    int fds[PLACES];

    for (int i = 0; i < PLACES; i++)
        fds[i] = client(place, "");
    for (int i = 0; i < PLACES; i++)
        send(fds[i], i ? "stat" : "flush-zone\t.\n", i ? 4 : 13, 0);
    fake_fd_watch_poll(); /* the walk begins */
    fake_loop_advance(place->desk.loop, 2 * CONTROL_CLIENT_IDLE_US);
    int late = connect_to(place->path);
    fake_fd_watch_poll();
    assert_true(is_closed(fds[1]));
    desk_settle(&place->desk);
    assert_non_null(strstr(received(fds[0]), "\nend\n"));
    for (int i = 0; i < PLACES; i++)
        close(fds[i]);
    close(late);
    desk_settle(&place->desk);
}

/* Its line, or its room for more of the reply, came while the daemon did something else. */
static void test_a_client_that_waits_for_the_daemon_keeps_its_place(void **state)
{
    struct place *place = *state;
    enum { PLACES = 16 };
    int fds[PLACES];

    fill(place);
    fds[0] = client(place, "he");
    fds[1] = client(place, "upstreams\n");
    for (int i = 2; i < PLACES; i++)
        fds[i] = client(place, "stat");
    fake_loop_advance(place->desk.loop, 2 * CONTROL_CLIENT_IDLE_US);
    send(fds[0], "lp\n", 3, 0);
    while (received(fds[1]))
        continue;
    int late = connect_to(place->path);
    fake_fd_watch_poll();
    assert_non_null(strstr(received(fds[0]), "commands"));
    assert_non_null(received(fds[1]));
    assert_true(is_closed(fds[2]));
    for (int i = 0; i < PLACES; i++)
        close(fds[i]);
    close(late);
    desk_settle(&place->desk);
}

static void test_closing_frees_clients_in_every_state(void **state)
{
    struct place *place = *state;
    char why[CONTROL_WHY_MAX];

    fill(place);
    int asking = client(place, "stat"), taking = client(place, "upstreams\n");
    int waiting = connect_to(place->path);
    fake_fd_watch_settle();
    send(waiting, "connections\n", 12, 0);
    fake_fd_watch_settle();
    control_close(&place->control);
    assert_int_equal(fake_fd_watch_count(), 0);
    desk_settle(&place->desk); /* the workers' answers come after the end */
    assert_true(is_closed(asking));
    assert_true(is_closed(waiting));
    close(asking);
    close(taking);
    close(waiting);
    assert_int_equal(
        control_open(&place->control, place->desk.loop, at(place->path), &place->desk.view, why),
        ERR_OK);
}

static void test_an_impossible_path_is_refused_with_advice(void **state)
{
    struct place *place = *state;
    struct control *other = NULL;
    char why[CONTROL_WHY_MAX];

    assert_int_equal(
        control_open(&other, place->desk.loop, at("/no/such/folder/x"), &place->desk.view, why),
        ERR_NOT_FOUND);
    assert_null(other);
    assert_non_null(strstr(why, "create it"));
    assert_int_equal(
        control_open(&other, place->desk.loop, at(place->path), &place->desk.view, why),
        ERR_ADDRESS_IN_USE);
    assert_non_null(strstr(why, "another daemon"));
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PLACE(test_a_line_gets_a_reply_and_then_the_end),
        WITH_PLACE(test_a_line_may_come_in_pieces),
        WITH_PLACE(test_a_command_that_asks_the_workers_answers_when_all_have),
        WITH_PLACE(test_bytes_after_the_line_are_not_run),
        WITH_PLACE(test_a_line_that_never_ends_is_refused),
        WITH_PLACE(test_a_silent_client_is_closed_in_time),
        WITH_PLACE(test_a_client_that_does_not_read_is_closed_in_time),
        WITH_PLACE(test_a_client_that_reads_slowly_gets_it_all),
        WITH_PLACE(test_a_client_may_leave_at_every_moment),
        WITH_PLACE(test_a_command_that_walks_over_the_cache_answers_at_the_end),
        WITH_PLACE(test_a_client_that_loads_is_answered_at_the_end_of_its_input),
        WITH_PLACE(test_a_client_that_stops_loading_is_closed_in_time),
        WITH_PLACE(test_a_client_that_closed_its_sending_side_still_gets_its_reply),
        WITH_PLACE(test_clients_beyond_the_bound_wait_for_a_place),
        WITH_PLACE(test_a_client_takes_the_place_of_an_idle_one),
        WITH_PLACE(test_clients_whose_commands_run_keep_their_places),
        WITH_PLACE(test_a_client_whose_command_walks_keeps_its_place),
        WITH_PLACE(test_a_client_that_waits_for_the_daemon_keeps_its_place),
        WITH_PLACE(test_closing_frees_clients_in_every_state),
        WITH_PLACE(test_an_impossible_path_is_refused_with_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
