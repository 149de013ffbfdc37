/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_LIST_H
#define NAILUP_BASE_LIST_H

/*
 * An intrusive doubly linked ring whose head is a node too. A node outside any list points to
 * itself (list_init), so list_remove() may be called twice. No allocation, no thread safety.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/check.h"

struct list {
    struct list *next, *prev;
};

static inline void list_init(struct list *node)
{
    node->next = node->prev = node;
}

static inline bool list_is_empty(const struct list *head)
{
    return head->next == head;
}

/* Whether the node, which must be initialised, is in a list. */
static inline bool list_is_linked(const struct list *node)
{
    return node->next != node;
}

static inline void list_insert_before(struct list *node, struct list *at)
{
    node->prev = at->prev;
    node->next = at;
    at->prev->next = node;
    at->prev = node;
}

static inline void list_append(struct list *head, struct list *node)
{
    list_insert_before(node, head);
}

static inline void list_prepend(struct list *head, struct list *node)
{
    list_insert_before(node, head->next);
}

static inline void list_remove(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* Returns the first node, or NULL for an empty list. */
static inline struct list *list_first(const struct list *head)
{
    return head->next == head ? NULL : head->next;
}

/* Removes and returns the first node, or NULL for an empty list. */
static inline struct list *list_take_first(struct list *head)
{
    struct list *node = list_first(head);
    if (node)
        list_remove(node);
    return node;
}

/* Moves all nodes of from to the end of to; from is empty afterwards. */
static inline void list_splice(struct list *to, struct list *from)
{
    if (list_is_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    list_init(from);
}

#define LIST_ITEM(node, type, member) CONTAINER_OF(node, type, member)

/* The body may remove the current node but no other. */
#define LIST_EACH(node, head)                                                                      \
    for (struct list *node = (head)->next, *node##_next = node->next; node != (head);              \
         node = node##_next, node##_next = node->next)

#endif
