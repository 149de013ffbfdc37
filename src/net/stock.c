/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The shared resources of a loop's sockets (stock.h). */

#include "net/stock.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/spares.h"
#include "loop/loop.h"
#include "loop/loop_guest.h"
#include "net/file_count.h"
#include "net/read_max.h"

enum { FREE_MAX = 1024 }; /* free objects kept of each kind */

struct stock {
    struct loop_guest guest;
    struct loop *loop;
    struct stock_tenant *tenant;
    struct file_count files;
    struct spares spares[STOCK_OBJECTS];
    uint8_t read_buffer[NET_READ_MAX];
};

static void stock_on_loop_freed(struct loop_guest *guest)
{
    struct stock *stock = CONTAINER_OF(guest, struct stock, guest);

    if (stock->tenant)
        stock->tenant->close(stock->tenant);
    for (int which = 0; which < STOCK_OBJECTS; which++)
        spares_clear(&stock->spares[which]);
    free(stock);
}

static struct stock *stock_new(struct loop *loop)
{
    struct stock *stock = malloc(sizeof(*stock)); /* the read buffer needs no zeros */

    if (!stock)
        return NULL;
    stock->loop = loop;
    stock->tenant = NULL;
    file_count_init(&stock->files);
    memset(stock->spares, 0, sizeof(stock->spares));
    stock->guest.free = stock_on_loop_freed;
    loop_set_guest(loop, &stock->guest);
    return stock;
}

struct stock *stock_of(struct loop *loop)
{
    struct loop_guest *guest = loop_guest(loop);
    return guest ? CONTAINER_OF(guest, struct stock, guest) : stock_new(loop);
}

struct loop *stock_loop(struct stock *stock)
{
    return stock->loop;
}

struct file_count *stock_files(struct stock *stock)
{
    return &stock->files;
}

struct stock_tenant *stock_tenant(const struct stock *stock)
{
    return stock->tenant;
}

void stock_set_tenant(struct stock *stock, struct stock_tenant *tenant)
{
    stock->tenant = tenant;
}

uint8_t *stock_read_buffer(struct stock *stock)
{
    return stock->read_buffer;
}

void *stock_take(struct stock *stock, enum stock_object which, size_t size)
{
    return spares_take(&stock->spares[which], size);
}

void stock_give(struct stock *stock, enum stock_object which, void *object)
{
    spares_give(&stock->spares[which], object, FREE_MAX);
}
