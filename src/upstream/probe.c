/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* One attempt with its own copy of the question. attempt.c notes its answer or silence as usual. */

#include "upstream/probe.h"

#include <stdlib.h>

#include "upstream/attempt.h"
#include "upstream/exchange_question.h"
#include "upstream/upstream.h"

struct probe {
    struct list node;          /* upstream_env.probes */
    struct upstream *upstream; /* held; the attempt may go to its sibling */
    struct attempt *attempt;
    struct exchange_question asked;
    uint8_t wire[NAME_WIRE_MAX];
};

static void probe_free(struct probe *probe)
{
    struct upstream_env *env = probe->attempt->env;
    attempt_free(probe->attempt);
    upstream_drop(probe->upstream);
    list_remove(&probe->node);
    env->probe_count--;
    free(probe);
}

static void probe_on_answer(struct attempt *attempt, const struct message *message, uint64_t rtt_us)
{
    (void)message;
    (void)rtt_us;
    probe_free(attempt->owner);
}

static void probe_on_failed(struct attempt *attempt, enum attempt_failure why)
{
    (void)why;
    probe_free(attempt->owner);
}

static void probe_on_slow(struct attempt *attempt)
{
    (void)attempt; /* it still waits until it is overdue */
}

static void probe_on_overdue(struct attempt *attempt)
{
    probe_free(attempt->owner);
}

static const struct attempt_handler handler = {
    .on_answer = probe_on_answer,
    .on_failed = probe_on_failed,
    .on_slow = probe_on_slow,
    .on_overdue = probe_on_overdue,
};

static bool send_probe(struct probe *probe, struct upstream *upstream)
{
    enum pool_lack lack;
    probe->attempt->upstream = upstream;
    if (!upstream_prefers_stream(upstream))
        return attempt_send_udp(probe->attempt);
    struct conn *conn = pool_take(&upstream->pool, NULL, &lack);
    if (!conn)
        conn = pool_take_suspect(&upstream->pool);
    if (conn)
        return attempt_send_stream(probe->attempt, conn);
    if (upstream->plain)
        return send_probe(probe, upstream->plain);
    return upstream_falls_back_to_udp(upstream) && attempt_send_udp(probe->attempt);
}

void probe_start(struct upstream *upstream, const struct exchange_question *question)
{
    struct upstream_env *env = upstream->env;
    if (env->probe_count >= PROBES_MAX)
        return;
    struct probe *probe = calloc(1, sizeof(*probe));
    if (!probe)
        return;
    probe->asked = *question;
    probe->asked.question.name = name_copy(question->question.name, probe->wire);
    probe->attempt = attempt_new(env, upstream, &probe->asked, &handler, probe);
    if (!probe->attempt) {
        free(probe);
        return;
    }
    probe->upstream = upstream;
    upstream_hold(upstream);
    env->probe_count++;
    list_append(&env->probes, &probe->node);
    if (!send_probe(probe, upstream))
        probe_free(probe);
}

void probe_stop_all(struct upstream_env *env)
{
    for (struct list *node; (node = list_first(&env->probes));)
        probe_free(LIST_ITEM(node, struct probe, node));
}
