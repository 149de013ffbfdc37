/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_STOCK_H
#define NAILUP_NET_STOCK_H

/*
 * Private to src/net: the resources that the sockets of a loop share: a read buffer, free objects
 * for every query, the count of descriptors, and the idle sockets of udp_query.c. The loop's
 * thread.
 */

#include <stddef.h>
#include <stdint.h>

struct file_count;
struct loop;
struct stock;

/* Returns the loop's stock, which the first call makes, or NULL when out of memory. It lives until
 * loop_free(). */
struct stock *stock_of(struct loop *loop);
struct loop *stock_loop(struct stock *stock);

/* The count of descriptors of outgoing sockets. */
struct file_count *stock_files(struct stock *stock);

/* NET_READ_MAX bytes for the present read; valid until the callback returns. */
uint8_t *stock_read_buffer(struct stock *stock);

/* The module that keeps sockets between uses, and closes them when the loop closes. */
struct stock_tenant {
    void (*close)(struct stock_tenant *tenant);
};
struct stock_tenant *stock_tenant(const struct stock *stock); /* NULL: none yet */
void stock_set_tenant(struct stock *stock, struct stock_tenant *tenant);

/* Bounded lists of free objects, one for each kind. */
enum stock_object { STOCK_TCP, STOCK_UDP_QUERY, STOCK_OBJECTS };

void *stock_take(struct stock *stock, enum stock_object which, size_t size); /* NULL: no memory */
void stock_give(struct stock *stock, enum stock_object which, void *object);

#endif
