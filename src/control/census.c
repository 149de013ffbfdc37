/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * One letter per worker, as in gather.c: it travels to the worker's loop, is filled there, and
 * travels back.
 *
 * Invariant: a letter belongs to one thread at a time; the mailboxes order the writes. The last
 * letter that comes back frees the taking, whether or not it was abandoned.
 */

#include "control/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "loop/loop.h"
#include "upstream/upstreams.h"

const struct per_upstream_row per_upstream_rows[PER_UPSTREAM_COUNT] = {
#define PER_UPSTREAM(field, name, kind, sentence) {name, sentence, PER_UPSTREAM_##kind},
#include "nailup/metrics.def"
};

struct letter {
    struct mail mail;
    struct census_taking *taking;
    struct control_worker *worker;
    struct census found;
};

struct census_taking {
    struct loop *loop;
    census_done done; /* NULL: abandoned */
    void *context;
    size_t count, missing;
    struct letter letters[];
};

/* ---- bringing together ---- */

static struct census_upstream *census_find(struct census *census,
                                           const struct census_upstream *wanted)
{
    for (size_t i = 0; i < census->count; i++) {
        struct census_upstream *upstream = &census->upstreams[i];
        if (addr_equal(&upstream->addr, &wanted->addr) &&
            strcmp(upstream->transport, wanted->transport) == 0)
            return upstream;
    }
    return NULL;
}

static void census_add_values(struct census_upstream *out, const struct census_upstream *from)
{
    for (size_t i = 0; i < PER_UPSTREAM_COUNT; i++) {
        if (per_upstream_rows[i].kind == PER_UPSTREAM_SECONDS)
            out->values[i] = MAX(out->values[i], from->values[i]);
        else
            out->values[i] += from->values[i];
    }
}

static void census_add_upstream(struct census *out, const struct census_upstream *from)
{
    struct census_upstream *known = census_find(out, from);

    if (known)
        census_add_values(known, from);
    else if (out->count < CENSUS_UPSTREAMS_MAX)
        out->upstreams[out->count++] = *from;
    else
        out->left_out++;
}

/* Workers mostly know the same upstreams, so the largest number left out by one worker is a close
 * estimate. */
void census_add(struct census *out, const struct census *part)
{
    size_t room = MIN(part->conn_count, CENSUS_CONNS_MAX - out->conn_count);

    memcpy(out->conns + out->conn_count, part->conns, room * sizeof(part->conns[0]));
    out->conn_count += room;
    out->conns_left_out += part->conns_left_out + part->conn_count - room;
    out->left_out = MAX(out->left_out, part->left_out);
    for (size_t i = 0; i < part->count; i++)
        census_add_upstream(out, &part->upstreams[i]);
}

static void census_finish(struct census_taking *taking)
{
    struct census *census = taking->done ? calloc(1, sizeof(*census)) : NULL;
    census_done done = taking->done;
    void *context = taking->context;

    for (size_t i = 0; census && i < taking->count; i++)
        census_add(census, &taking->letters[i].found);
    free(taking);
    if (done)
        done(context, census);
}

static void census_on_back(struct mail *mail)
{
    struct census_taking *taking = CONTAINER_OF(mail, struct letter, mail)->taking;

    if (--taking->missing == 0)
        census_finish(taking);
}

/* ---- the worker's thread ---- */

static void census_see(void *context, const struct upstream_view *view)
{
    struct census *found = context;
    struct census_upstream upstream = {.addr = view->addr, .transport = view->transport};

#define PER_UPSTREAM(field, name, kind, sentence)                                                  \
    upstream.values[PER_UPSTREAM_##field] = view->field;
#include "nailup/metrics.def"
    census_add_upstream(found, &upstream);
}

/* Bounds what one worker shows, so that the first one leaves room for the others. */
static void census_see_conn(void *context, const struct conn_view *view)
{
    struct letter *letter = context;
    struct census *found = &letter->found;
    size_t most = MAX(CENSUS_CONNS_MAX / letter->taking->count, (size_t)1);

    if (found->conn_count >= most) {
        found->conns_left_out++;
        return;
    }
    found->conns[found->conn_count++] =
        (struct census_conn){(uint32_t)(letter - letter->taking->letters), *view};
}

static void census_on_arrived(struct mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);
    struct upstreams *upstreams = letter->worker->upstreams;

    if (upstreams) { /* else the worker has ended */
        size_t all = upstreams_first(upstreams, CENSUS_UPSTREAMS_MAX, census_see, &letter->found);
        letter->found.left_out = all - MIN(all, (size_t)CENSUS_UPSTREAMS_MAX);
        struct upstreams_walk walk = {0};
        upstreams_some_conns(upstreams, &walk, CENSUS_UPSTREAMS_MAX, census_see_conn, letter);
    }
    mail->run = census_on_back;
    loop_post(letter->taking->loop, mail);
}

/* ---- main's thread ---- */

enum err census_take(struct census_taking **out, struct loop *loop, const struct control_view *view,
                     census_done done, void *context)
{
    size_t count = view->worker_count;
    struct census_taking *taking = calloc(1, sizeof(*taking) + count * sizeof(taking->letters[0]));

    if (!taking)
        return ERR_NO_MEMORY;
    taking->loop = loop;
    taking->done = done;
    taking->context = context;
    taking->count = taking->missing = count;
    for (size_t i = 0; i < count; i++) {
        struct letter *letter = &taking->letters[i];
        letter->mail.run = census_on_arrived;
        letter->taking = taking;
        letter->worker = view->workers[i];
    }
    *out = taking;
    for (size_t i = 0; i < count; i++)
        loop_post(view->workers[i]->loop, &taking->letters[i].mail);
    return ERR_OK;
}

void census_abandon(struct census_taking **taking)
{
    if (*taking)
        (*taking)->done = NULL;
    *taking = NULL;
}
