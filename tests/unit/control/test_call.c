/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The life of a call: finished at once, in parts, fed with input, abandoned. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "control/call.h"

static struct call *handed_over;
static int done, freed;

static void on_done(struct call *call, void *context)
{
    assert_ptr_equal(context, &done);
    handed_over = call;
    done++;
}

static struct call *new_call(void)
{
    struct call *call = call_new(NULL, NULL, on_done, &done);

    handed_over = NULL;
    done = freed = 0;
    reply_ok(&call->reply);
    return call;
}

static void reply_is(const struct call *call, const char *wanted)
{
    struct span text = buf_span(&call->reply.buf);

    assert_int_equal(text.len, strlen(wanted));
    assert_memory_equal(text.data, wanted, text.len);
}

static void free_state(void *state)
{
    free(state);
    freed++;
}

static void feed(struct call *call, struct span piece)
{
    if (piece.len == 0)
        call_end(call);
}

static void more(struct call *call)
{
    call_end(call);
}

static void test_a_call_that_is_done_has_its_last_line(void **state)
{
    struct call *call = new_call();

    (void)state;
    call_done(call);
    assert_int_equal(done, 1);
    reply_is(handed_over, "ok\nend\n");
    call_free(handed_over);
}

static void test_a_reply_in_parts_ends_with_its_last_part(void **state)
{
    struct call *call = new_call();

    (void)state;
    call_continue(call, more, malloc(1));
    assert_ptr_equal(handed_over, call);
    reply_is(call, "ok\n");
    call->more(call);
    assert_null(call->more);
    reply_is(call, "ok\nend\n");
    call_free(call);
}

static void test_a_call_that_is_fed_frees_its_state_by_its_own_function(void **state)
{
    struct call *call = new_call();

    (void)state;
    call_feed(call, feed, malloc(1), free_state);
    call->feed(call, span_of("a", 1));
    assert_non_null(call->feed);
    call->feed(call, span_of(NULL, 0));
    assert_null(call->feed);
    call_free(call);
    assert_int_equal(freed, 1);
}

/* If the client has left, each way to end the handler frees the call and its state. */
static void test_an_abandoned_call_frees_itself(void **state)
{
    struct call *call = new_call();

    (void)state;
    call_abandon(call);
    call_done(call);
    call = new_call();
    call_abandon(call);
    call_continue(call, more, malloc(1));
    call = new_call();
    call_abandon(call);
    call_feed(call, feed, malloc(1), free_state);
    assert_int_equal(done, 0);
    assert_int_equal(freed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_that_is_done_has_its_last_line),
        cmocka_unit_test(test_a_reply_in_parts_ends_with_its_last_part),
        cmocka_unit_test(test_a_call_that_is_fed_frees_its_state_by_its_own_function),
        cmocka_unit_test(test_an_abandoned_call_frees_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
