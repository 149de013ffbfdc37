/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * One letter per worker: it travels to the worker's loop, is filled there, over several turns if it
 * has many rows, and travels back.
 *
 * Invariant: a part belongs to one thread at a time: main's, then its worker's, then main's again.
 * The mailboxes order the writes. The last part that comes back frees the gathering.
 */

#include "control/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "control/call.h"
#include "loop/loop.h"

/* The bound for one worker; the reply has its own bound for all of them. */
enum { PART_MAX = CONTROL_REPLY_MAX };

struct letter {
    struct mail mail;
    struct gathering *gathering;
    struct control_worker *worker;
    struct gather_part part;
};

struct gathering {
    struct call *call;
    gather_visit visit;
    gather_take take;
    gather_done done;
    void *wanted;
    size_t count, missing;
    struct letter letters[];
};

static void gathering_free(struct gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) {
        reply_deinit(&gathering->letters[i].part.rows);
        free(gathering->letters[i].part.found);
    }
    free(gathering->wanted);
    free(gathering);
}

static void take_rows(struct call *call, struct gather_part *part)
{
    reply_take_rows(&call->reply, &part->rows);
}

static void gather_finish(struct gathering *gathering)
{
    struct call *call = gathering->call;
    gather_done done = gathering->done;
    uint64_t sum = 0;

    for (size_t i = 0; i < gathering->count; i++) {
        gathering->take(call, &gathering->letters[i].part);
        sum += gathering->letters[i].part.number;
    }
    gathering_free(gathering);
    done(call, sum);
}

static void gather_on_back(struct mail *mail)
{
    struct gathering *gathering = CONTAINER_OF(mail, struct letter, mail)->gathering;

    if (--gathering->missing == 0)
        gather_finish(gathering);
}

/* On the worker's thread. */
static void gather_on_arrived(struct mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);
    struct gathering *gathering = letter->gathering;

    letter->part.has_more = false;
    if (letter->worker->upstreams)
        gathering->visit(letter->worker->upstreams, &letter->part);
    if (!letter->part.has_more)
        mail->run = gather_on_back;
    loop_post(letter->part.has_more ? letter->worker->loop : gathering->call->loop, mail);
}

static struct gathering *gathering_new(struct call *call, const void *wanted, size_t wanted_len)
{
    size_t count = call->view->worker_count;
    struct gathering *gathering =
        calloc(1, sizeof(*gathering) + count * sizeof(gathering->letters[0]));

    if (!gathering)
        return NULL;
    if (wanted_len > 0 && !(gathering->wanted = malloc(wanted_len))) {
        free(gathering);
        return NULL;
    }
    if (wanted_len > 0)
        memcpy(gathering->wanted, wanted, wanted_len);
    gathering->call = call;
    gathering->count = gathering->missing = count;
    for (size_t i = 0; i < count; i++) {
        struct letter *letter = &gathering->letters[i];
        letter->mail.run = gather_on_arrived;
        letter->gathering = gathering;
        letter->worker = call->view->workers[i];
        letter->part.worker = i;
        letter->part.wanted = gathering->wanted;
        letter->part.of = letter->worker;
        reply_init(&letter->part.rows, PART_MAX);
    }
    return gathering;
}

void gather_rows(struct call *call, gather_visit visit, gather_done done, const void *wanted,
                 size_t wanted_len)
{
    gather_parts(call, visit, take_rows, done, wanted, wanted_len);
}

void gather_parts(struct call *call, gather_visit visit, gather_take take, gather_done done,
                  const void *wanted, size_t wanted_len)
{
    struct gathering *gathering = gathering_new(call, wanted, wanted_len);

    if (!gathering) {
        reply_refuse(&call->reply, "out of memory; try again");
        call_done(call);
        return;
    }
    gathering->visit = visit;
    gathering->take = take;
    gathering->done = done;
    /* The gathering may be gone once the last letter is posted. */
    for (size_t i = 0, count = gathering->count; i < count; i++)
        loop_post(gathering->letters[i].worker->loop, &gathering->letters[i].mail);
}
