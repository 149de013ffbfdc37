/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Three states: asking (the head of its request is not whole), waiting (for the page), taking (the
 * answer leaves). Nothing is read once the head is whole: a body costs only its sender.
 *
 * Invariant: the limit's timer is armed while it asks and while it takes; how long it waits is
 * bounded by its host.
 */

#include "control/scrape.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "control/http_response.h"
#include "control/page.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/tcp.h"

enum scrape_state { SCRAPE_ASKING, SCRAPE_WAITING, SCRAPE_TAKING };

struct scrape {
    struct list node;
    struct scrape_host *host;
    enum scrape_state state;
    struct tcp *tcp;
    struct timer limit;
    struct http_request request;
    struct buf answer; /* goes before the page */
    struct page *page; /* NULL: none */
    size_t sent;       /* of the page */
    size_t len;
    uint8_t head[HTTP_HEAD_MAX];
};

static void scrape_close(struct scrape *scrape)
{
    timer_stop(&scrape->limit);
    tcp_close(&scrape->tcp);
    list_remove(&scrape->node);
    scrape->host->count--;
    page_unref(scrape->page);
    buf_deinit(&scrape->answer);
    free(scrape);
}

static void scrape_on_limit(struct timer *timer)
{
    scrape_close(CONTAINER_OF(timer, struct scrape, limit));
}

static void scrape_set_limit(struct scrape *scrape, uint64_t us)
{
    timer_start(scrape->host->loop, &scrape->limit, loop_now(scrape->host->loop) + us);
}

/* ---- the answer ---- */

static struct span rest_of_page(const struct scrape *scrape)
{
    if (!scrape->page)
        return span_of(NULL, 0);
    struct span text = page_text(scrape->page);
    return span_of(text.data + scrape->sent, text.len - scrape->sent);
}

/* False: the connection is broken. *all: the bytes have left. */
static bool send_some(struct scrape *scrape, struct span bytes, size_t *sent, bool *all)
{
    *sent = 0;
    *all = bytes.len == 0;
    if (*all)
        return true;
    if (tcp_write(scrape->tcp, bytes, sent))
        return false;
    *all = *sent == bytes.len;
    return true;
}

/* Sends what the kernel takes; who takes nothing meets the limit. */
static void scrape_send_answer(struct scrape *scrape)
{
    size_t sent;
    bool all;
    bool is_well = send_some(scrape, buf_span(&scrape->answer), &sent, &all);

    buf_consume(&scrape->answer, sent);
    if (is_well && all) {
        is_well = send_some(scrape, rest_of_page(scrape), &sent, &all);
        scrape->sent += sent;
    }
    if (!is_well || all)
        scrape_close(scrape);
}

static void begin_answer(struct scrape *scrape)
{
    scrape->state = SCRAPE_TAKING;
    scrape_set_limit(scrape, SCRAPE_TAKE_US);
    scrape_send_answer(scrape);
}

static void scrape_refuse(struct scrape *scrape, enum http_status status)
{
    scrape->request.status = status;
    if (http_response_refuse(&scrape->answer, scrape->request, time(NULL)))
        scrape_close(scrape);
    else
        begin_answer(scrape);
}

static void answer(struct scrape *scrape, struct page *page)
{
    if (!page) {
        scrape_refuse(scrape, HTTP_UNAVAILABLE);
        return;
    }
    if (http_response_page(&scrape->answer, page_text(page).len, time(NULL))) {
        scrape_close(scrape);
        return;
    }
    if (!scrape->request.is_head)
        scrape->page = page_ref(page);
    begin_answer(scrape);
}

/* ---- the request ---- */

static void on_request(struct scrape *scrape)
{
    tcp_pause(scrape->tcp);
    if (scrape->request.status != HTTP_OK) {
        scrape_refuse(scrape, scrape->request.status);
        return;
    }
    scrape->state = SCRAPE_WAITING;
    timer_stop(&scrape->limit);
    scrape->host->on_wanted(scrape->host);
}

static void scrape_on_bytes(void *owner, struct span bytes)
{
    struct scrape *scrape = owner;
    size_t len = MIN(bytes.len, sizeof(scrape->head) - scrape->len);

    if (scrape->state != SCRAPE_ASKING)
        return;
    memcpy(scrape->head + scrape->len, bytes.data, len);
    scrape->len += len;
    if (http_request_read(span_of(scrape->head, scrape->len), SCRAPE_PATH, &scrape->request))
        on_request(scrape);
}

static void scrape_on_writable(void *owner)
{
    scrape_send_answer(owner);
}

/* Who has asked may close its sending side. */
static void scrape_on_peer_closed(void *owner)
{
    struct scrape *scrape = owner;

    if (scrape->state == SCRAPE_ASKING)
        scrape_close(scrape);
}

static void scrape_on_failed(void *owner, enum err why)
{
    (void)why;
    scrape_close(owner);
}

static const struct tcp_handler handler = {
    .on_bytes = scrape_on_bytes,
    .on_writable = scrape_on_writable,
    .on_peer_closed = scrape_on_peer_closed,
    .on_failed = scrape_on_failed,
};

/* ---- all of them ---- */

void scrape_open(struct scrape_host *host, struct tcp *tcp)
{
    struct scrape *scrape = malloc(sizeof(*scrape));

    if (!scrape) {
        tcp_close(&tcp);
        return;
    }
    scrape->host = host;
    scrape->state = SCRAPE_ASKING;
    scrape->tcp = tcp;
    scrape->page = NULL;
    scrape->sent = scrape->len = 0;
    buf_init(&scrape->answer, HTTP_RESPONSE_MAX);
    timer_init(&scrape->limit, scrape_on_limit);
    list_append(&host->scrapes, &scrape->node);
    host->count++;
    scrape_set_limit(scrape, SCRAPE_ASK_US);
    tcp_start(tcp, &handler, scrape);
}

void scrape_give(struct scrape_host *host, struct page *page)
{
    struct list *next;

    for (struct list *node = host->scrapes.next; node != &host->scrapes; node = next) {
        struct scrape *scrape = LIST_ITEM(node, struct scrape, node);
        next = node->next; /* an answer that leaves at once ends its scrape, no other */
        if (scrape->state == SCRAPE_WAITING)
            answer(scrape, page);
    }
}

void scrape_close_oldest(struct scrape_host *host)
{
    scrape_close(LIST_ITEM(list_first(&host->scrapes), struct scrape, node));
}

void scrape_close_all(struct scrape_host *host)
{
    while (!list_is_empty(&host->scrapes))
        scrape_close_oldest(host);
}
