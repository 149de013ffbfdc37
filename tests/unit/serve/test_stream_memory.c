/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* All stream clients together hold a bounded number of bytes. The largest holders close first. */
#include "unit/serve/harness.h"

#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#include "net/link.h"
#include "net/listen_socket.h"
#include "serve/session.h"
#include "serve/stream_memory.h"

enum { BOUND = 1024 * 1024 };

static int setup(void **state)
{
    (void)state;
    harness_begin();
    options.max_clients = options.max_clients_per_address = 5000;
    options.max_stream_memory = BOUND;
    harness_open();
    return 0;
}

static struct fake_conn *open_client(void)
{
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_OPEN);
    return conn;
}

/* A message of len bytes without its last byte. */
static void send_half(struct fake_conn *conn, uint16_t len)
{
    static uint8_t bytes[2 + UINT16_MAX];
    put_u16(bytes, len);
    fake_conn_send(conn, span_of(bytes, 2u + len - 1));
    fake_loop_settle(loop);
}

static void ask(struct fake_conn *conn, const char *name)
{
    make_query(name, 1);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
}

static bool is_answered(struct fake_conn *conn)
{
    struct span message;
    ask(conn, "hit.example");
    return fake_conn_next_message(conn, &message);
}

/* Opens a client that asks for large answers and reads none. */
static struct fake_conn *open_stalled(void)
{
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000; /* each answer has 32 KB */
    for (int i = 0; i < 10; i++)
        ask(conn, "hit.example");
    stub.records = 1;
    return conn;
}

/* ---- weights ---- */

static void test_weight_grows_with_bytes_and_with_time(void **state)
{
    (void)state;
    const size_t idle = STREAM_MEMORY_IDLE_BYTES;
    assert_true(stream_memory_weight(idle + 200000, 1000000) >
                stream_memory_weight(idle + 100000, 1000000));
    assert_true(stream_memory_weight(idle + 100000, 2000000) >
                stream_memory_weight(idle + 100000, 1000000));
    assert_int_equal(stream_memory_weight(0, 0), 1);
    assert_int_equal(stream_memory_weight(idle, 5000000), stream_memory_weight(100, 5000000));
    /* a client stuck for a second weighs more than one idle for half a minute */
    assert_true(stream_memory_weight(idle + 100000, 1000000) >
                stream_memory_weight(idle, 30000000));
    assert_true(stream_memory_weight(SIZE_MAX, UINT64_MAX / 2) > 0);
}

/* ---- the bound ---- */

static void test_bytes_held_by_clients_are_counted_and_given_back(void **state)
{
    (void)state;
    assert_int_equal(server_quota_memory(quota), 0);
    struct fake_conn *conns[40];
    for (int i = 0; i < 40; i++) {
        conns[i] = open_client();
        send_half(conns[i], 4000);
    }
    size_t held = server_quota_memory(quota) + STREAM_MEMORY_STEP_BYTES;
    assert_in_range(held, 40 * 4000, 40 * 8000);
    assert_int_equal(stats.client_resets_memory, 0);
    for (int i = 0; i < 40; i++)
        fake_conn_reset(conns[i]);
    fake_loop_settle(loop);
    assert_true(server_quota_memory(quota) < STREAM_MEMORY_STEP_BYTES);
    assert_int_equal(stats.stream_memory_bytes, 0);
}

/* The answer is small, so only the kernel's buffer holds bytes of this client. */
static void test_a_full_kernel_buffer_is_counted_until_it_has_room(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    stub.records = 100;
    fake_conn_stop_reading(conn, 1000);
    ask(conn, "hit.example");
    assert_true(stats.stream_memory_bytes > LISTEN_SOCKET_SEND_BYTES);
    fake_conn_start_reading(conn);
    fake_loop_settle(loop);
    assert_true(stats.stream_memory_bytes < LISTEN_SOCKET_SEND_BYTES);
}

static void test_half_messages_never_hold_more_than_the_bound(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        send_half(open_client(), UINT16_MAX);
        assert_true(server_quota_memory(quota) <= BOUND);
        fake_loop_advance(loop, US_PER_MS);
    }
    assert_true(stats.client_resets_memory > 1000);
    assert_true(server_quota_clients(quota) > 100); /* the clients use the room */
}

static void test_clients_that_do_not_read_are_closed_first(void **state)
{
    (void)state;
    struct fake_conn *honest = open_client(), *silent = open_client();
    assert_true(is_answered(honest) && is_answered(silent));
    for (int i = 0; i < 100; i++) {
        struct fake_conn *stalled = open_stalled();
        fake_loop_advance(loop, 50 * US_PER_MS);
        assert_true(is_answered(honest));
        assert_true(fake_conn_is_held(stalled) || stats.client_resets_memory > 0);
    }
    assert_true(stats.client_resets_memory > 50);
    assert_true(server_quota_memory(quota) <= BOUND);
    assert_true(is_answered(silent)); /* this client held little */
}

static void test_a_reset_for_memory_throws_everything_away(void **state)
{
    (void)state;
    struct fake_conn *first = open_stalled();
    ask(first, "slow.example");
    for (int i = 0; i < 20; i++)
        open_stalled();
    assert_int_equal(fake_conn_state(first), FAKE_CONN_FAILED);
    assert_false(fake_conn_is_held(first));
    assert_true(stats.client_resets_memory > 0);
}

static void test_a_lower_bound_after_a_reload_holds_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        send_half(open_client(), 4000);
    assert_int_equal(stats.client_resets_memory, 0);
    struct server_options lower = options;
    lower.max_stream_memory = 100 * 1024;
    struct server_quota *next = server_quota_new(&lower, quota);
    size_t which;
    assert_int_equal(listen_sockets_prepare(sockets, &lower, &which), ERR_OK);
    struct listen_share *share = listen_sockets_take(sockets, 0);
    listen_sockets_commit(sockets);
    server_reload(server, &lower, &share, next, NULL, NULL);
    server_quota_free(quota);
    quota = next;
    fake_loop_settle(loop);
    assert_true(stats.client_resets_memory > 50);
    assert_true(server_quota_memory(quota) <= 100 * 1024);
    harness_end_server();
}

/* ---- two workers ---- */

struct holder {
    struct stream_memory_client client;
    struct stream_memory *memory;
};

static uint64_t never(const struct stream_memory_client *client)
{
    (void)client;
    return 0;
}

static void drop(struct stream_memory_client *client)
{
    stream_memory_leave(CONTAINER_OF(client, struct holder, client)->memory, client);
}

static void hold(struct stream_memory *memory, struct holder *holders, size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        holders[i] =
            (struct holder){.client = {.progress_at = never, .reset = drop}, .memory = memory};
        stream_memory_join(memory, &holders[i].client);
        stream_memory_hold(memory, &holders[i].client, bytes);
    }
}

static void end(struct stream_memory *memory)
{
    for (struct list *node; (node = list_first(&memory->clients));)
        stream_memory_leave(memory, LIST_ITEM(node, struct stream_memory_client, node));
    stream_memory_deinit(memory);
}

static void test_a_worker_whose_clients_are_silent_makes_room_for_another(void **state)
{
    (void)state;
    static struct holder large[100], small[100];
    struct stream_memory one, other;
    struct server_options bound = {.max_clients = 1, .max_stream_memory = 16 * 1024 * 1024};
    struct server_quota *shared = server_quota_new(&bound, NULL);
    stream_memory_init(&one, loop, shared, &stats);
    stream_memory_init(&other, loop, shared, &stats);
    hold(&one, large, 100, 160 * 1000); /* just below the bound, and without further bytes */
    fake_loop_settle(loop);
    assert_int_equal(stats.client_resets_memory, 0);
    hold(&other, small, 100, 20 * 1000);
    fake_loop_advance(loop, 4 * STREAM_MEMORY_LOOK_US);
    assert_true(server_quota_memory(shared) <= bound.max_stream_memory);
    assert_true(one.held_bytes > 12 * 1000 * 1000); /* the worker keeps its share */
    assert_true(other.held_bytes > 1000 * 1000);
    end(&one);
    end(&other);
    assert_int_equal(server_quota_memory(shared), 0);
    server_quota_free(shared);
}

/* The worker that sees the pressure has only light clients. The heavy ones belong to the other
 * worker. */
static void test_the_heaviest_clients_of_the_process_go_first(void **state)
{
    (void)state;
    static struct holder heavy[100], light[200];
    static struct stats heavy_stats, light_stats;
    struct stream_memory one, other;
    struct server_options bound = {.max_clients = 1, .max_stream_memory = 16 * 1024 * 1024};
    struct server_quota *shared = server_quota_new(&bound, NULL);
    stream_memory_init(&one, loop, shared, &heavy_stats);
    stream_memory_init(&other, loop, shared, &light_stats);
    hold(&one, heavy, 100, 160 * 1000);
    fake_loop_advance(loop, 2 * STREAM_MEMORY_LOOK_US);
    hold(&other, light, 100, 10 * 1000);
    fake_loop_advance(loop, 2 * STREAM_MEMORY_LOOK_US);
    assert_true(server_quota_memory(shared) <= bound.max_stream_memory);
    assert_int_equal(light_stats.client_resets_memory, 0);
    assert_true(heavy_stats.client_resets_memory > 0);
    end(&one);
    end(&other);
    server_quota_free(shared);
}

/* A worker keeps its own bound even if the worker with the heavy clients does nothing. */
static void test_far_above_the_bound_a_worker_waits_for_no_other(void **state)
{
    (void)state;
    static struct holder heavy[100], light[1000];
    struct loop *stuck = loop_new();
    struct stream_memory one, other;
    struct server_options bound = {.max_clients = 1, .max_stream_memory = 16 * 1024 * 1024};
    struct server_quota *shared = server_quota_new(&bound, NULL);
    stream_memory_init(&one, stuck, shared, &stats);
    stream_memory_init(&other, loop, shared, &stats);
    hold(&one, heavy, 100, 160 * 1000);
    hold(&other, light, 1000, 10 * 1000);
    fake_loop_advance(loop, US_PER_S);
    assert_true(server_quota_memory(shared) <=
                bound.max_stream_memory + bound.max_stream_memory / 8);
    end(&one);
    end(&other);
    server_quota_free(shared);
    loop_free(stuck);
}

/* A worker withdraws its count when the pressure is over. */
static void test_a_worker_whose_clients_have_left_does_not_keep_another_from_its_bound(void **state)
{
    (void)state;
    static struct holder gone[100], here_now[200];
    static struct stats gone_stats, here_stats;
    struct stream_memory one, other;
    struct server_options bound = {.max_clients = 1, .max_stream_memory = 16 * 1024 * 1024};
    struct server_quota *shared = server_quota_new(&bound, NULL);
    stream_memory_init(&one, loop, shared, &gone_stats);
    stream_memory_init(&other, loop, shared, &here_stats);
    hold(&one, gone, 100, 160 * 1000);
    /* the first worker has counted its clients */
    fake_loop_advance(loop, 4 * STREAM_MEMORY_LOOK_US);
    for (size_t i = 0; i < 100; i++)
        stream_memory_leave(&one, &gone[i].client);
    fake_loop_advance(loop, 4 * STREAM_MEMORY_LOOK_US);
    /* more than the bound, but less than nine eighths of it */
    hold(&other, here_now, 170, 100 * 1000);
    fake_loop_advance(loop, 4 * STREAM_MEMORY_LOOK_US);
    assert_true(server_quota_memory(shared) <= bound.max_stream_memory);
    assert_true(here_stats.client_resets_memory > 0);
    end(&one);
    end(&other);
    assert_int_equal(server_quota_memory(shared), 0);
    server_quota_free(shared);
}

static void test_the_heap_is_searched_rarely(void **state)
{
    (void)state;
    uint64_t now = loop_now(loop);
    assert_true(server_quota_may_trim(quota, now, STREAM_MEMORY_TRIM_US));
    assert_false(server_quota_may_trim(quota, now + 1, STREAM_MEMORY_TRIM_US));
    assert_true(server_quota_may_trim(quota, now + STREAM_MEMORY_TRIM_US, STREAM_MEMORY_TRIM_US));
}

static struct {
    sem_t may_begin, has_ended;
    bool is_other_thread;
    pthread_t worker;
} trim;

/* Replaces malloc_trim() of the C library. */
int malloc_trim(size_t pad)
{
    (void)pad;
    sem_wait(&trim.may_begin);
    trim.is_other_thread = !pthread_equal(pthread_self(), trim.worker);
    sem_post(&trim.has_ended);
    return 1;
}

/* The search begins only after the worker has gone on. */
static void test_the_worker_serves_while_the_heap_is_searched(void **state)
{
    (void)state;
    static struct holder holders[20];
    static struct stats counts;
    struct stream_memory memory;
    struct server_options bound = {.max_clients = 1, .max_stream_memory = 64 * 1024 * 1024};
    struct server_quota *own = server_quota_new(&bound, NULL);
    sem_init(&trim.may_begin, 0, 0);
    sem_init(&trim.has_ended, 0, 0);
    trim.worker = pthread_self();
    stream_memory_init(&memory, loop, own, &counts);
    fake_loop_advance(loop, STREAM_MEMORY_TRIM_US);
    hold(&memory, holders, 20, 1024 * 1024);
    fake_loop_advance(loop, 4 * STREAM_MEMORY_LOOK_US);
    for (size_t i = 0; i < 19; i++)
        stream_memory_leave(&memory, &holders[i].client);
    assert_int_equal(memory.most_bytes, 20 * 1024 * 1024);
    fake_loop_advance(loop, 4 * STREAM_MEMORY_LOOK_US);
    assert_int_equal(memory.most_bytes, 1024 * 1024);
    sem_post(&trim.may_begin);
    sem_wait(&trim.has_ended);
    assert_true(trim.is_other_thread);
    stream_memory_leave(&memory, &holders[19].client);
    end(&memory);
    server_quota_free(own);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_weight_grows_with_bytes_and_with_time),
        TEST(test_bytes_held_by_clients_are_counted_and_given_back),
        TEST(test_a_full_kernel_buffer_is_counted_until_it_has_room),
        TEST(test_half_messages_never_hold_more_than_the_bound),
        TEST(test_clients_that_do_not_read_are_closed_first),
        TEST(test_a_reset_for_memory_throws_everything_away),
        TEST(test_a_lower_bound_after_a_reload_holds_at_once),
        TEST(test_a_worker_whose_clients_are_silent_makes_room_for_another),
        TEST(test_the_heaviest_clients_of_the_process_go_first),
        TEST(test_far_above_the_bound_a_worker_waits_for_no_other),
        TEST(test_a_worker_whose_clients_have_left_does_not_keep_another_from_its_bound),
        TEST(test_the_heap_is_searched_rarely),
        TEST(test_the_worker_serves_while_the_heap_is_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
