/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The real loop: the order of work in a turn, mail from other threads, stopping. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/check.h"
#include "loop/loop.h"
#include "loop/timer.h"

/* Collects what runs on the loop, in its order. */
struct trace {
    struct loop *loop;
    char words[256];
    size_t len;
    struct timer timer;
    struct turn_end hook, other_hook;
    struct mail mail;
    unsigned hooks_left;
};

static void note(struct trace *trace, char letter)
{
    if (trace->len < sizeof(trace->words) - 1)
        trace->words[trace->len++] = letter;
}

static void on_hook(struct turn_end *end)
{
    struct trace *trace = CONTAINER_OF(end, struct trace, hook);

    note(trace, 'h');
    if (trace->hooks_left > 0) {
        trace->hooks_left--;
        loop_at_turn_end(trace->loop, end);
    }
}

static void on_last_hook(struct turn_end *end)
{
    struct trace *trace = CONTAINER_OF(end, struct trace, other_hook);
    note(trace, 's');
    loop_stop(trace->loop);
}

static void on_timer(struct timer *timer)
{
    struct trace *trace = CONTAINER_OF(timer, struct trace, timer);

    note(trace, 't');
    loop_at_turn_end(trace->loop, &trace->hook);
    loop_at_turn_end(trace->loop, &trace->hook);
    loop_at_turn_end(trace->loop, &trace->other_hook);
}

static void on_mail(struct mail *mail)
{
    struct trace *trace = CONTAINER_OF(mail, struct trace, mail);

    note(trace, 'm');
    timer_start(trace->loop, &trace->timer, loop_now(trace->loop));
}

static void trace_init(struct trace *trace)
{
    *trace = (struct trace){.loop = loop_new()};
    assert_non_null(trace->loop);
    timer_init(&trace->timer, on_timer);
    turn_end_init(&trace->hook, on_hook);
    turn_end_init(&trace->other_hook, on_last_hook);
    trace->mail.run = on_mail;
}

static void test_hooks_run_once_at_the_end_of_the_turn(void **state)
{
    struct trace trace;
    (void)state;

    trace_init(&trace);
    loop_post(trace.loop, &trace.mail);
    loop_run(trace.loop);
    assert_string_equal(trace.words, "mths");
    loop_free(trace.loop);
}

static void test_a_hook_asked_for_before_the_run_does_not_wait(void **state)
{
    struct trace trace;
    (void)state;

    trace_init(&trace);
    loop_at_turn_end(trace.loop, &trace.other_hook);
    loop_run(trace.loop);
    assert_string_equal(trace.words, "s");
    loop_free(trace.loop);
}

static void test_hooks_that_ask_for_hooks_cannot_starve_the_loop(void **state)
{
    struct trace trace;
    (void)state;

    trace_init(&trace);
    trace.hooks_left = UINT_MAX;
    loop_at_turn_end(trace.loop, &trace.hook);
    loop_post(trace.loop, &trace.mail); /* gets its turn between the hooks */
    loop_run(trace.loop);
    assert_true(trace.hooks_left > 0);
    turn_end_cancel(&trace.hook);
    loop_free(trace.loop);
}

static void test_a_cancelled_hook_does_not_run(void **state)
{
    struct trace trace;
    (void)state;

    trace_init(&trace);
    loop_at_turn_end(trace.loop, &trace.hook);
    loop_at_turn_end(trace.loop, &trace.other_hook);
    turn_end_cancel(&trace.hook);
    turn_end_cancel(&trace.hook);
    loop_run(trace.loop);
    assert_string_equal(trace.words, "s");
    loop_free(trace.loop);
}

static void test_a_timer_of_the_future_is_waited_for(void **state)
{
    struct trace trace;
    uint64_t due_at;
    (void)state;

    trace_init(&trace);
    due_at = loop_now(trace.loop) + 20 * US_PER_MS;
    timer_start(trace.loop, &trace.timer, due_at);
    loop_run(trace.loop);
    assert_true(loop_clock(trace.loop) >= due_at);
    assert_string_equal(trace.words, "ths");
    loop_free(trace.loop);
}

static void test_an_earlier_timer_shortens_the_wait(void **state)
{
    struct trace trace, far;
    (void)state;

    trace_init(&trace);
    far = trace;
    timer_init(&far.timer, on_timer);
    timer_start(trace.loop, &far.timer, loop_now(trace.loop) + 3600 * US_PER_S);
    /* the near timer starts when the loop already waits for the far one */
    loop_post(trace.loop, &trace.mail);
    loop_run(trace.loop);
    assert_string_equal(trace.words, "mths");
    timer_stop(&far.timer);
    loop_free(trace.loop);
}

static void test_the_loop_runs_again_after_a_stop(void **state)
{
    struct trace trace;
    (void)state;

    trace_init(&trace);
    loop_stop(trace.loop);
    loop_run(trace.loop);
    assert_string_equal(trace.words, "");
    loop_post(trace.loop, &trace.mail);
    loop_run(trace.loop);
    assert_string_equal(trace.words, "mths");
    loop_free(trace.loop);
}

static void test_the_instant_does_not_move_during_a_turn(void **state)
{
    struct trace trace;
    uint64_t now;
    (void)state;

    trace_init(&trace);
    now = loop_now(trace.loop);
    while (loop_clock(trace.loop) < now + 10)
        ;
    assert_int_equal(loop_now(trace.loop), now);
    loop_free(trace.loop);
}

static void test_mail_that_was_not_read_is_run_by_free(void **state)
{
    struct trace trace;
    (void)state;

    trace_init(&trace);
    loop_post(trace.loop, &trace.mail);
    loop_free(trace.loop);
    assert_string_equal(trace.words, "m");
}

/* ---------------------------------------------------------------- other threads */

enum { LETTERS = 5000, THREADS = 3 };

struct letter {
    struct mail mail;
    struct writer *writer;
    unsigned number;
};

struct writer {
    struct loop *loop;
    pthread_t thread;
    struct letter letters[LETTERS];
    unsigned next; /* only the loop's thread reads it */
    unsigned *unread;
};

static void on_letter(struct mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);

    assert_int_equal(letter->number, letter->writer->next);
    letter->writer->next++;
    if (--*letter->writer->unread == 0)
        loop_stop(letter->writer->loop);
}

static void *write_letters(void *arg)
{
    struct writer *writer = arg;

    for (unsigned i = 0; i < LETTERS; i++) {
        writer->letters[i] = (struct letter){.writer = writer, .number = i};
        writer->letters[i].mail.run = on_letter;
        loop_post(writer->loop, &writer->letters[i].mail);
    }
    return NULL;
}

static void test_letters_of_each_thread_come_in_order_and_none_is_lost(void **state)
{
    static struct writer writers[THREADS];
    unsigned unread = THREADS * LETTERS;
    struct loop *loop = loop_new();
    (void)state;

    for (int i = 0; i < THREADS; i++) {
        writers[i].loop = loop;
        writers[i].unread = &unread;
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_letters, &writers[i]), 0);
    }
    loop_run(loop);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(writers[i].thread, NULL);
        assert_int_equal(writers[i].next, LETTERS);
    }
    loop_free(loop);
}

static void *stop_loop(void *arg)
{
    loop_stop(arg);
    return NULL;
}

static void test_another_thread_may_stop_the_loop(void **state)
{
    struct loop *loop = loop_new();
    pthread_t thread;
    (void)state;

    assert_int_equal(pthread_create(&thread, NULL, stop_loop, loop), 0);
    loop_run(loop);
    pthread_join(thread, NULL);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hooks_run_once_at_the_end_of_the_turn),
        cmocka_unit_test(test_a_hook_asked_for_before_the_run_does_not_wait),
        cmocka_unit_test(test_hooks_that_ask_for_hooks_cannot_starve_the_loop),
        cmocka_unit_test(test_a_cancelled_hook_does_not_run),
        cmocka_unit_test(test_a_timer_of_the_future_is_waited_for),
        cmocka_unit_test(test_an_earlier_timer_shortens_the_wait),
        cmocka_unit_test(test_the_loop_runs_again_after_a_stop),
        cmocka_unit_test(test_the_instant_does_not_move_during_a_turn),
        cmocka_unit_test(test_mail_that_was_not_read_is_run_by_free),
        cmocka_unit_test(test_letters_of_each_thread_come_in_order_and_none_is_lost),
        cmocka_unit_test(test_another_thread_may_stop_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
