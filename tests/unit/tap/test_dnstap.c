/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Readers of frame streams at a socket: prompt, late, returning, silent, or with nonsense. Then a
 * file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/span.h"
#include "base/stats.h"
#include "tap/dnstap.h"
#include "unit/tap/dnstap_decode.h"
#include "unit/tap/replies.h"

enum { CONTROL_ACCEPT = 1, CONTROL_START, CONTROL_STOP, CONTROL_READY, CONTROL_FINISH };

static char folder[] = "/tmp/nailup-dnstap-XXXXXX";
static char socket_path[64], file_path[64], former_path[64], none[] = "", identity[] = "me";
static struct stats stats;
static struct dnstap_options options;
static struct dnstap *dnstap;
static struct tap *tap;
static int listener = -1, reader = -1;

static void be_silent(enum log_level level, const char *line)
{
    (void)level;
    (void)line;
}

static int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    log_set_sink(be_silent);
    stats = (struct stats){0};
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(socket_path, sizeof(socket_path), "%s/tap.sock", folder);
    snprintf(file_path, sizeof(file_path), "%s/tap.fstrm", folder);
    snprintf(former_path, sizeof(former_path), "%s/tap.fstrm.1", folder);
    options = (struct dnstap_options){
        .socket = socket_path, .file = none, .identity = identity, .version = none, .messages = 63};
    return 0;
}

static void begin(void)
{
    assert_int_equal(dnstap_open(&dnstap, &options, 2), ERR_OK);
    tap = dnstap_tap(dnstap, 0, &stats);
}

static void end(void)
{
    dnstap_close(dnstap);
    dnstap = NULL;
}

static void hang_up(void)
{
    if (reader >= 0)
        close(reader);
    reader = -1;
}

static void stop_listening(void)
{
    if (listener >= 0)
        close(listener);
    listener = -1;
    unlink(socket_path);
}

static int tear_down(void **state)
{
    (void)state;
    end();
    hang_up();
    stop_listening();
    unlink(file_path);
    unlink(former_path);
    rmdir(folder);
    return 0;
}

/* ---- a reader ---- */

static void listen_here(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    strcpy(at.sun_path, socket_path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 4), 0);
}

static void get(int fd, void *to, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t got = read(fd, (char *)to + done, len - done);
        assert_true(got > 0);
        done += (size_t)got;
    }
}

static uint32_t get_number(int fd)
{
    uint8_t bytes[4];
    get(fd, bytes, sizeof(bytes));
    return get_u32(bytes);
}

/* Reads a control frame, which follows its zero length. */
static void expect_control(int fd, uint32_t type)
{
    uint8_t control[512];
    uint32_t len = get_number(fd);
    assert_in_range(len, 4, sizeof(control));
    get(fd, control, len);
    assert_int_equal(get_u32(control), type);
    if (type == CONTROL_READY || type == CONTROL_START)
        assert_memory_equal(control + 12, "protobuf:dnstap.Dnstap", 22);
}

static void say(uint32_t type)
{
    static const char content[] = "protobuf:dnstap.Dnstap";
    uint8_t control[64];
    size_t len = type == CONTROL_ACCEPT ? 12 + 22 : 4;
    put_u32(control, 0);
    put_u32(control + 4, (uint32_t)len);
    put_u32(control + 8, type);
    put_u32(control + 12, 1);
    put_u32(control + 16, 22);
    memcpy(control + 20, content, 22);
    assert_int_equal(send(reader, control, 8 + len, MSG_NOSIGNAL), 8 + len);
}

static void take_in(void)
{
    reader = accept(listener, NULL, NULL);
    assert_true(reader >= 0);
    assert_int_equal(get_number(reader), 0);
    expect_control(reader, CONTROL_READY);
    say(CONTROL_ACCEPT);
    assert_int_equal(get_number(reader), 0);
    expect_control(reader, CONTROL_START);
}

/* Returns the number that show() gave the next message from fd, or -1 if the stream has ended. */
static int next_number(int fd)
{
    static uint8_t payload[4096];
    struct field outer[FIELDS_MAX], inner[FIELDS_MAX];
    uint32_t len = get_number(fd);
    if (len == 0) {
        expect_control(fd, CONTROL_STOP);
        return -1;
    }
    assert_in_range(len, 1, sizeof(payload));
    get(fd, payload, len);
    decode_fields(span_of(payload, len), outer);
    expect_bytes(&outer[1], "me", 2);
    decode_fields(outer[14].bytes, inner);
    expect_number(&inner[1], 0, 6); /* CLIENT_RESPONSE */
    assert_int_equal(inner[14].bytes.len, 64);
    return inner[14].bytes.data[0];
}

static void expect_numbers(unsigned from, unsigned to)
{
    for (; from < to; from++)
        assert_int_equal(next_number(reader), from & 0xff);
}

static void show_all(unsigned from, unsigned to)
{
    for (; from < to; from++)
        show(tap, from);
}

/* ---- tests ---- */

static void test_a_reader_gets_all_messages_in_order_and_the_end(void **state)
{
    (void)state;
    listen_here();
    begin();
    take_in();
    show_all(0, 1000);
    expect_numbers(0, 1000);
    show_all(1000, 1010);
    expect_numbers(1000, 1010);
    assert_int_equal(stats.dnstap_dropped, 0);
}

static void *close_dnstap(void *unused)
{
    end();
    return unused;
}

static void test_the_end_waits_for_a_reader_that_reads(void **state)
{
    pthread_t thread;
    (void)state;
    listen_here();
    begin();
    take_in();
    show_all(0, 500);
    assert_int_equal(pthread_create(&thread, NULL, close_dnstap, NULL), 0);
    expect_numbers(0, 500);
    assert_int_equal(next_number(reader), -1);
    say(CONTROL_FINISH);
    pthread_join(thread, NULL);
}

static void test_messages_wait_for_a_late_reader(void **state)
{
    (void)state;
    begin();
    show_all(0, 100);
    listen_here();
    take_in();
    expect_numbers(0, 100);
}

static void test_without_a_reader_a_bounded_number_waits_and_others_are_counted(void **state)
{
    enum { MANY = 20000 };
    (void)state;
    begin();
    show_all(0, MANY);
    assert_in_range(stats.dnstap_dropped, MANY / 4, MANY - 1000);
    uint64_t kept = MANY - stats.dnstap_dropped;
    listen_here();
    take_in();
    expect_numbers(0, (unsigned)kept);
    show_all(7, 8); /* the queue has room again */
    expect_numbers(7, 8);
}

static void test_a_reader_may_leave_and_return(void **state)
{
    (void)state;
    listen_here();
    begin();
    take_in();
    show_all(0, 5);
    expect_numbers(0, 5);
    hang_up();
    show_all(5, 10);
    take_in();
    expect_numbers(5, 10);
    hang_up();
    stop_listening();
    show_all(10, 15);
    listen_here();
    take_in();
    expect_numbers(10, 15);
}

static void test_messages_for_a_reader_that_never_reads_are_lost_and_counted(void **state)
{
    (void)state;
    listen_here();
    begin();
    take_in();
    unsigned count = 0;
    while (stats.dnstap_dropped == 0 && count < 1000000)
        show(tap, count++);
    assert_true(stats.dnstap_dropped > 0);
    end(); /* the end does not wait for the reader */
}

static void test_a_reader_without_a_handshake_does_not_delay_the_end(void **state)
{
    (void)state;
    listen_here();
    begin();
    reader = accept(listener, NULL, NULL);
    show_all(0, 10);
    end();
}

static void test_a_reader_that_sends_nonsense_is_replaced_by_the_next(void **state)
{
    static const char nonsense[] = "HTTP/1.0 400 Bad Request\r\n\r\n";
    (void)state;
    listen_here();
    begin();
    show_all(0, 10);
    reader = accept(listener, NULL, NULL);
    assert_true(send(reader, nonsense, sizeof(nonsense), MSG_NOSIGNAL) > 0);
    uint8_t rest[256];
    while (read(reader, rest, sizeof(rest)) > 0)
        continue;
    hang_up();
    take_in();
    expect_numbers(0, 10);
}

static void test_a_file_is_truncated_and_gets_the_whole_stream(void **state)
{
    (void)state;
    FILE *file = fopen(file_path, "w");
    assert_int_equal(fwrite("what was", 1, 8, file), 8);
    fclose(file);
    options.file = file_path;
    options.socket = none;
    begin();
    show_all(0, 300);
    end();
    file = fopen(file_path, "r");
    reader = dup(fileno(file));
    fclose(file);
    assert_int_equal(get_number(reader), 0);
    expect_control(reader, CONTROL_START);
    expect_numbers(0, 300);
    assert_int_equal(next_number(reader), -1);
    char more;
    assert_int_equal(read(reader, &more, 1), 0);
}

static void begin_file(void)
{
    options.file = file_path;
    options.socket = none;
    begin();
}

static void read_start(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    reader = dup(fileno(file));
    fclose(file);
    assert_int_equal(get_number(reader), 0);
    expect_control(reader, CONTROL_START);
}

/* The file has one stream of these numbers. */
static void expect_file(const char *path, unsigned from, unsigned to)
{
    char more;
    read_start(path);
    expect_numbers(from, to);
    assert_int_equal(next_number(reader), -1);
    assert_int_equal(read(reader, &more, 1), 0);
    hang_up();
}

/* Returns the bytes of the file; -1: it does not exist. */
static long size_of(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    fclose(file);
    return size;
}

/* Waits until the file has more bytes than this. */
static void wait_for_file(const char *path, long size)
{
    while (size_of(path) <= size)
        usleep(1000);
}

/* The thread has written all records, for each leaves the file longer. */
static void show_to_file(unsigned from, unsigned to)
{
    for (; from < to; from++) {
        long before = size_of(file_path);
        show_all(from, from + 1);
        wait_for_file(file_path, before);
    }
}

static void test_a_renamed_file_ends_and_a_new_one_begins(void **state)
{
    (void)state;
    begin_file();
    wait_for_file(file_path, 0);
    show_to_file(0, 5);
    assert_int_equal(rename(file_path, former_path), 0);
    dnstap_reopen(dnstap); /* nothing else wakes the thread */
    wait_for_file(file_path, 0);
    expect_file(former_path, 0, 5);
    show_all(5, 300);
    end();
    expect_file(file_path, 5, 300);
}

static void test_a_file_that_is_still_there_goes_on(void **state)
{
    (void)state;
    begin_file();
    wait_for_file(file_path, 0);
    show_to_file(0, 3);
    dnstap_reopen(dnstap);
    show_to_file(3, 6);
    assert_int_equal(rename(file_path, former_path), 0);
    assert_int_equal(symlink(".", file_path), 0); /* no file can be opened here */
    dnstap_reopen(dnstap);
    show_all(6, 9);
    end();
    expect_file(former_path, 0, 9);
}

/* A disk is full, so the end of the former stream is missing, but no part of a frame is there. */
static void test_a_renamed_file_on_a_full_disk_gives_way_to_a_new_one(void **state)
{
    struct rlimit unlimited, full = {.rlim_cur = 4096};
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &unlimited);
    full.rlim_max = unlimited.rlim_max;
    begin_file();
    wait_for_file(file_path, 0);
    show_to_file(0, 5);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    show_all(5, 70); /* more than the file takes, and at most a new file of this size */
    assert_int_equal(rename(file_path, former_path), 0);
    dnstap_reopen(dnstap);
    wait_for_file(file_path, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    end();
    read_start(file_path);
    int first = next_number(reader);
    assert_in_range(first, 5, 69);
    expect_numbers((unsigned)first + 1, 70);
    assert_int_equal(next_number(reader), -1);
    hang_up();
    read_start(former_path);
    expect_numbers(0, (unsigned)first);
}

static void test_a_path_that_is_no_file_is_an_error(void **state)
{
    static char null[] = "/dev/null", nowhere[] = "/nonexistent/file";
    (void)state;
    options.socket = none;
    options.file = null;
    assert_int_equal(dnstap_open(&dnstap, &options, 1), ERR_INVALID);
    options.file = nowhere;
    assert_int_not_equal(dnstap_open(&dnstap, &options, 1), ERR_OK);
    options.file = folder;
    assert_int_not_equal(dnstap_open(&dnstap, &options, 1), ERR_OK);
    dnstap = NULL;
}

static void test_only_wanted_messages_are_taken(void **state)
{
    (void)state;
    options.messages = DNSTAP_CLIENT_RESPONSES;
    begin();
    assert_null(tap->on_query);
    assert_true(dnstap_sees_clients(dnstap));
    assert_false(dnstap_sees_upstreams(dnstap));
    end();
    options.messages = DNSTAP_RESOLVER_QUERIES;
    begin();
    assert_false(dnstap_sees_clients(dnstap));
    assert_true(dnstap_sees_upstreams(dnstap));
    struct tap_message message = reply_of(1).message;
    tap->on_sent(tap, &message, true); /* a forwarder query would come first */
    tap->on_heard(tap, &message, false);
    message.bytes.len = 3;
    tap->on_sent(tap, &message, false);
    listen_here();
    take_in();
    struct field outer[FIELDS_MAX], inner[FIELDS_MAX];
    static uint8_t payload[4096];
    uint32_t len = get_number(reader);
    get(reader, payload, len);
    decode_fields(span_of(payload, len), outer);
    decode_fields(outer[14].bytes, inner);
    expect_number(&inner[1], 0, 3);
    assert_int_equal(inner[10].bytes.len, 3);
}

#define TAP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TAP_TEST(test_a_reader_gets_all_messages_in_order_and_the_end),
        TAP_TEST(test_the_end_waits_for_a_reader_that_reads),
        TAP_TEST(test_messages_wait_for_a_late_reader),
        TAP_TEST(test_without_a_reader_a_bounded_number_waits_and_others_are_counted),
        TAP_TEST(test_a_reader_may_leave_and_return),
        TAP_TEST(test_messages_for_a_reader_that_never_reads_are_lost_and_counted),
        TAP_TEST(test_a_reader_without_a_handshake_does_not_delay_the_end),
        TAP_TEST(test_a_reader_that_sends_nonsense_is_replaced_by_the_next),
        TAP_TEST(test_a_file_is_truncated_and_gets_the_whole_stream),
        TAP_TEST(test_a_renamed_file_ends_and_a_new_one_begins),
        TAP_TEST(test_a_file_that_is_still_there_goes_on),
        TAP_TEST(test_a_renamed_file_on_a_full_disk_gives_way_to_a_new_one),
        TAP_TEST(test_a_path_that_is_no_file_is_an_error),
        TAP_TEST(test_only_wanted_messages_are_taken),
    };
    if (!dnstap_is_built_in())
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
