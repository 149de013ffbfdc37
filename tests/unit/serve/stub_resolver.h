/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_SERVE_STUB_RESOLVER_H
#define NAILUP_TESTS_UNIT_SERVE_STUB_RESOLVER_H

/*
 * A resolver under the control of the test, in place of the real one. It counts the cache's read
 * sections. Names that begin with "hit" are answered at once, all others wait until stub_answer().
 * Included by one file of a program.
 */

#include <stdlib.h>

#include "base/list.h"
#include "resolve/resolver.h"
#include "unit/serve/canned.h"

struct stub_task {
    struct list node;
    struct waiter *waiter;
    uint16_t type;
    uint8_t len;
    uint8_t name[NAME_WIRE_MAX];
};

struct resolver {
    struct list tasks;
    size_t waiting;
    enum resolver_result result; /* the result of resolver_ask() */
    unsigned finds, asks, leaves, refreshes;
    bool is_due;      /* every answer that is found is due for a refresh */
    unsigned records; /* how many records each answer has */
    uint16_t rdata_len;
    uint16_t flags;                    /* rcode and AD of each answer */
    bool dnssec_ok, checking_disabled; /* what the last key had */
    uint8_t kind; /* the kind of each answer; the next two fields belong to each answer, too */
    uint32_t stale_s;
    bool is_local;
    uint8_t ede_count; /* extended errors of each answer, and the text of the first */
    uint16_t ede[2];
    const char *text;
    const struct tap_source *source; /* the source of answers that had to wait */
    struct canned canned;
};

static struct resolver stub = {
    .tasks = {&stub.tasks, &stub.tasks}, .result = RESOLVER_WAITING, .records = 1, .rdata_len = 4};
static int stub_readers; /* how many read sections are open */
static unsigned stub_sections;

void cache_read_begin(void)
{
    stub_readers++;
    stub_sections++;
}

void cache_read_end(void)
{
    MUST(stub_readers-- > 0);
}

void resolver_key(const struct resolver *resolver, unsigned view, struct cache_key *key,
                  const struct question *question, bool dnssec_ok, bool checking_disabled)
{
    (void)view;
    (void)resolver;
    name_fold(question->name, key->name);
    key->name_len = question->name.len;
    key->type = question->type;
    key->cls = question->cls;
    stub.dnssec_ok = dnssec_ok;
    stub.checking_disabled = checking_disabled;
}

static inline const struct answer *stub_make(uint16_t type, const uint8_t *name, uint8_t len)
{
    struct question question = {.name = {name, len}, .type = type, .cls = RRCLASS_IN};
    canned_make(&stub.canned, &question, stub.flags, stub.records, stub.rdata_len);
    stub.canned.answer.kind = stub.kind;
    stub.canned.answer.stale_s = stub.stale_s;
    stub.canned.answer.ede_count = stub.ede_count;
    memcpy(stub.canned.answer.ede, stub.ede, sizeof(stub.ede));
    stub.canned.answer.text = stub.text;
    if (stub.is_local)
        stub.canned.answer.ttl_s = 0;
    return &stub.canned.answer;
}

void resolver_prefetch(const struct resolver *resolver, const struct cache_key *key)
{
    (void)resolver;
    (void)key;
}

void resolver_prefetch_entry(const struct resolver *resolver, const struct cache_key *key)
{
    (void)resolver;
    (void)key;
}

bool resolver_find(struct resolver *resolver, unsigned view, const struct cache_key *key,
                   struct answer *out)
{
    (void)view;
    MUST(stub_readers > 0);
    resolver->finds++;
    if (key->name_len < 4 || memcmp(key->name + 1, "hit", 3) != 0)
        return false;
    *out = *stub_make(key->type, key->name, key->name_len);
    out->is_due = resolver->is_due;
    return true;
}

bool resolver_find_local(struct resolver *resolver, unsigned view, const struct cache_key *key,
                         struct answer *out)
{
    (void)view;
    MUST(stub_readers > 0);
    (void)resolver;
    if (key->name_len < 6 || memcmp(key->name + 1, "local", 5) != 0)
        return false;
    *out = *stub_make(key->type, key->name, key->name_len);
    return true;
}

void resolver_pass_local(struct resolver *resolver)
{
    (void)resolver;
}

/* Names that begin with "drop" are dropped. */
bool resolver_drops(const struct resolver *resolver, const struct cache_key *key)
{
    (void)resolver;
    return key->name_len > 5 && memcmp(key->name + 1, "drop", 4) == 0;
}

void resolver_refresh(struct resolver *resolver, unsigned view, const struct cache_key *key)
{
    (void)view;
    (void)key;
    MUST(stub_readers > 0);
    resolver->refreshes++;
}

enum resolver_result resolver_ask(struct resolver *resolver, unsigned view,
                                  const struct cache_key *key, struct waiter *waiter)
{
    (void)view;
    MUST(!list_is_linked(&waiter->node));
    resolver->asks++;
    if (resolver->result != RESOLVER_WAITING)
        return resolver->result;
    struct stub_task *task = malloc(sizeof(*task));
    task->waiter = waiter;
    task->type = key->type;
    task->len = key->name_len;
    memcpy(task->name, key->name, key->name_len);
    list_append(&resolver->tasks, &task->node);
    resolver->waiting++;
    return RESOLVER_WAITING;
}

static inline struct waiter *stub_end(struct stub_task *task)
{
    struct waiter *waiter = task->waiter;
    list_remove(&task->node);
    stub.waiting--;
    free(task);
    return waiter;
}

bool resolver_find_cut(const struct resolver *resolver, unsigned view, struct name name,
                       struct delegation *out)
{
    (void)resolver;
    (void)view;
    (void)name;
    (void)out;
    return false;
}

bool resolver_is_shared(const struct resolver *resolver, const struct waiter *waiter)
{
    const struct stub_task *asked = NULL;
    unsigned equal = 0;
    LIST_EACH(node, &resolver->tasks)
    {
        const struct stub_task *task = LIST_ITEM(node, struct stub_task, node);
        if (task->waiter == waiter)
            asked = task;
    }
    LIST_EACH(node, &resolver->tasks)
    {
        const struct stub_task *task = LIST_ITEM(node, struct stub_task, node);
        equal += task->type == asked->type && task->len == asked->len &&
                 memcmp(task->name, asked->name, asked->len) == 0;
    }
    return equal > 1;
}

void resolver_leave(struct resolver *resolver, struct waiter *waiter)
{
    LIST_EACH(node, &resolver->tasks)
    {
        struct stub_task *task = LIST_ITEM(node, struct stub_task, node);
        if (task->waiter != waiter)
            continue;
        stub_end(task);
        resolver->leaves++;
        return;
    }
    MUST(!"left without waiting");
}

/* Answers the first or the last waiting query. Returns false if no query waits. */
static inline bool stub_answer(bool last)
{
    if (list_is_empty(&stub.tasks))
        return false;
    struct list *node = last ? stub.tasks.prev : stub.tasks.next;
    struct stub_task *task = LIST_ITEM(node, struct stub_task, node);
    const struct answer *answer = stub_make(task->type, task->name, task->len);
    struct waiter *waiter = stub_end(task);
    waiter->source = stub.source;
    cache_read_begin();
    waiter->on_answer(waiter, answer);
    cache_read_end();
    return true;
}

static inline void stub_reset(void)
{
    MUST(list_is_empty(&stub.tasks) && stub_readers == 0);
    stub = (struct resolver){.tasks = {&stub.tasks, &stub.tasks},
                             .result = RESOLVER_WAITING,
                             .records = 1,
                             .rdata_len = 4};
    stub_sections = 0;
}

#endif
