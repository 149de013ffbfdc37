/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_STOCK_H
#define NAILUP_NET_STOCK_H

/*
 * Private to src/net: what the sockets of a loop share. A read buffer, small objects that come and
 * go with every query, and what one module keeps between uses. The loop's thread.
 */

#include <stddef.h>
#include <stdint.h>

struct file_count;
struct loop;
struct stock;

/* The loop's stock, made at the first call; NULL when out of memory. It lives until loop_free(). */
struct stock *stock_of(struct loop *loop);
struct loop *stock_loop(struct stock *stock);

/* The files of outgoing sockets. */
struct file_count *stock_files(struct stock *stock);

/* NET_READ_MAX bytes for the read that is under way; valid until the callback returns. */
uint8_t *stock_read_buffer(struct stock *stock);

/* One module that keeps sockets between uses: closes them when the loop closes. */
struct stock_tenant {
    void (*close)(struct stock_tenant *tenant);
};
struct stock_tenant *stock_tenant(const struct stock *stock); /* NULL: none yet */
void stock_set_tenant(struct stock *stock, struct stock_tenant *tenant);

/* A bounded list of free objects of each kind. */
enum stock_object { STOCK_TCP, STOCK_UDP_QUERY, STOCK_OBJECTS };

void *stock_take(struct stock *stock, enum stock_object which, size_t size); /* NULL: no memory */
void stock_give(struct stock *stock, enum stock_object which, void *object);

#endif
