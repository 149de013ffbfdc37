/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Gathers rows from all workers: in their order, over many turns, with workers that end and clients
 * that leave. */
#include "control/gather.h"

#include "unit/control/desk.h"

#include <stdlib.h>

static struct desk desk;
static int done;
static uint64_t last_sum;
static char last[1 << 16];

static int begin(void **state)
{
    (void)state;
    done = 0;
    last[0] = '\0';
    desk_open(&desk);
    return 0;
}

static int end(void **state)
{
    (void)state;
    desk_close(&desk);
    return 0;
}

static void on_done(struct call *call, void *context)
{
    struct span text = buf_span(&call->reply.buf);

    (void)context;
    assert_true(text.len < sizeof(last));
    memcpy(last, text.data, text.len);
    last[text.len] = '\0';
    done++;
    call_free(call);
}

static struct call *new_call(void)
{
    struct call *call = call_new(desk.loop, &desk.view, on_done, NULL);

    reply_ok(&call->reply);
    reply_table(&call->reply, "t", "worker:count\tplace:count");
    return call;
}

static void visited(struct call *call, uint64_t sum)
{
    last_sum = sum;
    call_done(call);
}

static void put_row(struct gather_part *part)
{
    reply_row(&part->rows);
    reply_count(&part->rows, part->worker);
    reply_count(&part->rows, part->place);
    reply_row_end(&part->rows);
}

/* Writes *wanted rows, one per turn. */
static void visit(struct upstreams *upstreams, struct gather_part *part)
{
    const size_t *wanted = part->wanted;

    assert_non_null(upstreams);
    put_row(part);
    part->number++;
    part->has_more = ++part->place < *wanted;
}

static void test_rows_come_in_the_order_of_the_workers(void **state)
{
    size_t wanted = 1;

    (void)state;
    gather_rows(new_call(), visit, visited, &wanted, sizeof(wanted));
    fake_loop_settle(desk.workers[1].loop); /* the second worker is faster */
    fake_loop_settle(desk.loop);
    assert_int_equal(done, 0);
    desk_settle(&desk);
    assert_int_equal(done, 1);
    assert_int_equal(last_sum, 2);
    assert_non_null(strstr(last, "\nrow\t0\t0\nrow\t1\t0\nend\n"));
}

static void test_a_visitor_with_more_is_called_again_in_the_next_turn(void **state)
{
    size_t wanted = 100;
    uint64_t before = fake_loop_turns(desk.workers[0].loop);

    (void)state;
    gather_rows(new_call(), visit, visited, &wanted, sizeof(wanted));
    for (int i = 0; i < 100; i++)
        desk_settle(&desk);
    assert_int_equal(done, 1);
    assert_int_equal(last_sum, 200);
    assert_true(fake_loop_turns(desk.workers[0].loop) >= before + 100);
    assert_non_null(strstr(last, "\nrow\t0\t99\nrow\t1\t0\n"));
}

static void test_a_worker_that_has_ended_has_no_rows(void **state)
{
    size_t wanted = 1;
    struct upstreams *upstreams = desk.workers[0].upstreams;

    (void)state;
    desk.workers[0].upstreams = NULL;
    gather_rows(new_call(), visit, visited, &wanted, sizeof(wanted));
    desk_settle(&desk);
    desk.workers[0].upstreams = upstreams;
    assert_int_equal(done, 1);
    assert_null(strstr(last, "\nrow\t0\t"));
    assert_non_null(strstr(last, "\nrow\t1\t0\n"));
}

static void test_a_client_that_left_changes_nothing(void **state)
{
    size_t wanted = 1;
    struct call *call = new_call();

    (void)state;
    gather_rows(call, visit, visited, &wanted, sizeof(wanted));
    call_abandon(call);
    desk_settle(&desk);
    assert_int_equal(done, 0);
    assert_int_equal(last_sum, 2);
}

static void leave_result(struct upstreams *upstreams, struct gather_part *part)
{
    (void)upstreams;
    assert_null(part->wanted);
    part->found = calloc(1, 1);
}

/* Takes the first result and leaves the others, which the gatherer frees. */
static void take(struct call *call, struct gather_part *part)
{
    if (call->state)
        return;
    call->state = part->found;
    part->found = NULL;
}

static void test_results_that_are_not_taken_are_freed(void **state)
{
    (void)state;
    gather_parts(new_call(), leave_result, take, visited, NULL, 0);
    desk_settle(&desk);
    assert_int_equal(done, 1);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_rows_come_in_the_order_of_the_workers),
        TEST(test_a_visitor_with_more_is_called_again_in_the_next_turn),
        TEST(test_a_worker_that_has_ended_has_no_rows),
        TEST(test_a_client_that_left_changes_nothing),
        TEST(test_results_that_are_not_taken_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
