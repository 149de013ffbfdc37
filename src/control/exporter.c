/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * An HTTP server for the metrics and the live page. Each scraper sends one request, gets one
 * answer, and its connection ends. Scrapers that come within a page's life share the page. Scrapers
 * that come while the workers are counting wait for the same page.
 *
 * A scrape has three states: asking (the head of its request is incomplete), waiting (for the
 * page) and taking (the answer leaves). Nothing is read after the head: a body costs only its
 * sender.
 *
 * Invariants: a page never changes. At most EXPORTER_SCRAPES_MAX scrapes exist, each bounded in
 * time: its own timer runs while it asks and while it takes, and patience runs exactly while
 * scrapes wait for a page.
 */

#include "control/exporter.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/list.h"
#include "base/log.h"
#include "control/board.h"
#include "control/census.h"
#include "config/config.h"
#include "control/exposition.h"
#include "control/http_response.h"
#include "control/metrics.h"
#include "control/process_facts.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/acceptor.h"
#include "net/listen_socket.h"
#include "net/tcp.h"

struct page {
    unsigned refs;
    struct buf text;
};

struct exporter {
    struct loop *loop;
    const struct control_view *view;
    struct acceptor *acceptor;
    struct list scrapes; /* the oldest first */
    unsigned scrape_count;
    struct timer patience;
    struct census_taking *taking; /* NULL: no census is under way */
    struct census *census;        /* the last one, or NULL */
    struct page *page;            /* the last metrics, or NULL */
    struct page *figures;         /* the last figures of the live page, or NULL */
    uint64_t page_at;
};

enum scrape_state { SCRAPE_ASKING, SCRAPE_WAITING, SCRAPE_TAKING };

struct scrape {
    struct list node;
    struct exporter *exporter;
    enum scrape_state state;
    struct tcp *tcp;
    struct timer limit;
    struct http_request request;
    struct buf answer; /* leaves before the page */
    struct page *page; /* NULL: the answer has no page, or a fixed one */
    struct span fixed; /* a page that never changes */
    size_t sent;       /* bytes of the page */
    size_t len;
    uint8_t head[HTTP_HEAD_MAX];
};

/* ---- the page ---- */

static void page_unref(struct page *page)
{
    if (!page || --page->refs > 0)
        return;
    buf_deinit(&page->text);
    free(page);
}

/* Writes the current figures in the format of the page. NULL: out of memory. */
static struct page *page_new(enum http_page kind, const struct control_view *view,
                             const struct census *census, uint64_t uptime_us)
{
    struct page *page = malloc(sizeof(*page));
    struct stats stats;

    if (!page)
        return NULL;
    page->refs = 1;
    buf_init(&page->text, EXPOSITION_MAX);
    metrics_collect(view, &stats);
    const struct exposition_time time = {.now = view->started_at + uptime_us,
                                         .wall_s = (int64_t)view->started_time +
                                                   (int64_t)(uptime_us / US_PER_S)};
    enum err err = kind == HTTP_PAGE_METRICS
                       ? exposition_write(&page->text, &stats, census, view, &time)
                       : board_write(&page->text, &stats, census, uptime_us);
    if (!err && kind == HTTP_PAGE_METRICS)
        err = process_facts_write(&page->text, view->started_time);
    if (!err)
        return page;
    page_unref(page);
    return NULL;
}

static struct page *page_ref(struct page *page)
{
    page->refs++;
    return page;
}

/* ---- a scrape: its answer ---- */

static void scrape_close(struct scrape *scrape)
{
    timer_stop(&scrape->limit);
    tcp_close(&scrape->tcp);
    list_remove(&scrape->node);
    scrape->exporter->scrape_count--;
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
    timer_start(scrape->exporter->loop, &scrape->limit, loop_now(scrape->exporter->loop) + us);
}

static struct span rest_of_page(const struct scrape *scrape)
{
    struct span text = scrape->page ? buf_span(&scrape->page->text) : scrape->fixed;

    if (text.len == 0)
        return text;
    return span_of(text.data + scrape->sent, text.len - scrape->sent);
}

/* False: the connection is broken. *all: every byte has left. */
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

/* Sends as much as the kernel takes. A scraper that reads nothing reaches the limit. */
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

static void scrape_begin_answer(struct scrape *scrape)
{
    scrape->state = SCRAPE_TAKING;
    scrape_set_limit(scrape, EXPORTER_TAKE_US);
    scrape_send_answer(scrape);
}

static void scrape_refuse(struct scrape *scrape, enum http_status status)
{
    scrape->request.status = status;
    if (http_response_refuse(&scrape->answer, scrape->request, time(NULL)))
        scrape_close(scrape);
    else
        scrape_begin_answer(scrape);
}

static void scrape_answer_fixed(struct scrape *scrape, struct span text)
{
    if (http_response_page(&scrape->answer, scrape->request.page, text.len, time(NULL))) {
        scrape_close(scrape);
        return;
    }
    if (!scrape->request.is_head)
        scrape->fixed = text;
    scrape_begin_answer(scrape);
}

static void scrape_answer(struct scrape *scrape)
{
    struct page *page = scrape->request.page == HTTP_PAGE_METRICS ? scrape->exporter->page
                                                                  : scrape->exporter->figures;

    if (!page) {
        scrape_refuse(scrape, HTTP_UNAVAILABLE);
        return;
    }
    if (http_response_page(&scrape->answer, scrape->request.page, buf_len(&page->text),
                           time(NULL))) {
        scrape_close(scrape);
        return;
    }
    if (!scrape->request.is_head)
        scrape->page = page_ref(page);
    scrape_begin_answer(scrape);
}

/* ---- from the figures to the scrapes ---- */

/* Answers every scrape that waits. If there is no page, the answer reports that. */
static void exporter_give(struct exporter *exporter)
{
    struct list *next;

    for (struct list *node = exporter->scrapes.next; node != &exporter->scrapes; node = next) {
        struct scrape *scrape = LIST_ITEM(node, struct scrape, node);
        next = node->next; /* an answer that leaves at once ends its scrape */
        if (scrape->state == SCRAPE_WAITING)
            scrape_answer(scrape);
    }
}

static void exporter_make_page(struct exporter *exporter)
{
    timer_stop(&exporter->patience);
    exporter->page_at = loop_now(exporter->loop);
    uint64_t uptime_us = exporter->page_at - exporter->view->started_at;
    page_unref(exporter->page);
    exporter->page = page_new(HTTP_PAGE_METRICS, exporter->view, exporter->census, uptime_us);
    page_unref(exporter->figures);
    exporter->figures = page_new(HTTP_PAGE_FIGURES, exporter->view, exporter->census, uptime_us);
    exporter_give(exporter);
}

static void exporter_on_census(void *context, struct census *census)
{
    struct exporter *exporter = context;

    exporter->taking = NULL;
    free(exporter->census);
    exporter->census = census;
    if (timer_is_armed(&exporter->patience))
        exporter_make_page(exporter);
}

/* A worker that does not answer must not hide the figures of the others. */
static void exporter_on_impatient(struct timer *timer)
{
    exporter_make_page(CONTAINER_OF(timer, struct exporter, patience));
}

/* Gives the scrapes that wait a page, at once or later. */
static void exporter_want_page(struct exporter *exporter)
{
    uint64_t now = loop_now(exporter->loop);

    if (timer_is_armed(&exporter->patience))
        return;
    if (exporter->page && now - exporter->page_at < EXPORTER_PAGE_LIFE_US) {
        exporter_give(exporter);
        return;
    }
    timer_start(exporter->loop, &exporter->patience, now + EXPORTER_PATIENCE_US);
    if (!exporter->taking && census_take(&exporter->taking, exporter->loop, exporter->view,
                                         exporter_on_census, exporter))
        exporter_make_page(exporter);
}

/* ---- a scrape: its request ---- */

static void scrape_on_request(struct scrape *scrape)
{
    tcp_pause(scrape->tcp);
    if (scrape->request.status != HTTP_OK) {
        scrape_refuse(scrape, scrape->request.status);
        return;
    }
    struct span fixed = board_file(scrape->request.page);
    if (fixed.len > 0) {
        scrape_answer_fixed(scrape, fixed);
        return;
    }
    scrape->state = SCRAPE_WAITING;
    timer_stop(&scrape->limit);
    exporter_want_page(scrape->exporter);
}

static void scrape_on_bytes(void *owner, struct span bytes)
{
    struct scrape *scrape = owner;
    size_t len = MIN(bytes.len, sizeof(scrape->head) - scrape->len);

    if (scrape->state != SCRAPE_ASKING)
        return;
    memcpy(scrape->head + scrape->len, bytes.data, len);
    scrape->len += len;
    if (http_request_read(span_of(scrape->head, scrape->len), &scrape->request))
        scrape_on_request(scrape);
}

static void scrape_on_writable(void *owner)
{
    scrape_send_answer(owner);
}

/* A scraper may close its sending side after its request. */
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

/* Takes the connection; closes it when memory is short. */
static void scrape_open(struct exporter *exporter, struct tcp *tcp)
{
    struct scrape *scrape = malloc(sizeof(*scrape));

    if (!scrape) {
        tcp_close(&tcp);
        return;
    }
    scrape->exporter = exporter;
    scrape->state = SCRAPE_ASKING;
    scrape->tcp = tcp;
    scrape->page = NULL;
    scrape->fixed = span_of(NULL, 0);
    scrape->sent = scrape->len = 0;
    buf_init(&scrape->answer, HTTP_RESPONSE_MAX);
    timer_init(&scrape->limit, scrape_on_limit);
    list_append(&exporter->scrapes, &scrape->node);
    exporter->scrape_count++;
    scrape_set_limit(scrape, EXPORTER_ASK_US);
    tcp_start(tcp, &handler, scrape);
}

/* ---- the listener ---- */

static unsigned exporter_count_peer(const struct exporter *exporter, const struct addr *peer)
{
    unsigned count = 0;
    LIST_EACH(node, &exporter->scrapes)
    {
        const struct scrape *scrape = LIST_ITEM(node, struct scrape, node);
        count += addr_equal_ip(tcp_peer(scrape->tcp), peer);
    }
    return count;
}

/* Closes the oldest scrape of the host that has the most. */
static void exporter_make_room(struct exporter *exporter)
{
    struct scrape *found = NULL;
    unsigned most = 0;
    LIST_EACH(node, &exporter->scrapes)
    {
        struct scrape *scrape = LIST_ITEM(node, struct scrape, node);
        unsigned count = exporter_count_peer(exporter, tcp_peer(scrape->tcp));
        if (count > most) {
            most = count;
            found = scrape;
        }
    }
    scrape_close(found);
}

/* Closes a scrape when there are too many. An honest scraper sends its request at once, so it gets
 * its answer even while hostile scrapers keep their places as long as they can, or another host
 * opens one scrape after the other.
 */
static void exporter_on_accept(void *owner, struct tcp *tcp)
{
    struct exporter *exporter = owner;

    if (exporter->scrape_count >= EXPORTER_SCRAPES_MAX) {
        LOG_LIMITED(
            LOG_WARNING, "control",
            "metrics: more than %d scrapers at once; the oldest of the busiest host is closed",
            EXPORTER_SCRAPES_MAX);
        exporter_make_room(exporter);
    }
    scrape_open(exporter, tcp);
}

static enum err exporter_listen(struct exporter *exporter, const struct addr *listen)
{
    struct listen_wish wish = {.addr = *listen, .type = LISTEN_TCP};
    struct listen_socket socket;
    enum err err = listen_socket_open(&socket, &wish);

    if (err)
        return err;
    err = acceptor_open(&exporter->acceptor, exporter->loop, &socket, exporter_on_accept, exporter);
    if (err)
        listen_socket_close(&socket);
    return err;
}

enum err exporter_open(struct exporter **out, struct loop *loop, const struct addr *listen,
                       const struct control_view *view)
{
    struct exporter *exporter = calloc(1, sizeof(*exporter));

    *out = NULL;
    if (!exporter)
        return ERR_NO_MEMORY;
    exporter->loop = loop;
    list_init(&exporter->scrapes);
    exporter->view = view;
    timer_init(&exporter->patience, exporter_on_impatient);
    enum err err = exporter_listen(exporter, listen);
    if (err) {
        free(exporter);
        return err;
    }
    *out = exporter;
    return ERR_OK;
}

void exporter_close(struct exporter **exporter)
{
    struct exporter *closing = *exporter;

    *exporter = NULL;
    if (!closing)
        return;
    acceptor_close(&closing->acceptor);
    while (closing->scrape_count > 0)
        scrape_close(LIST_ITEM(list_first(&closing->scrapes), struct scrape, node));
    timer_stop(&closing->patience);
    census_abandon(&closing->taking);
    free(closing->census);
    page_unref(closing->page);
    page_unref(closing->figures);
    free(closing);
}
