/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Accepts scrapers and makes the page that they get. Who comes within a page's life gets that page;
 * who comes while workers are asked waits with the others.
 *
 * Invariant: at most EXPORTER_SCRAPES_MAX scrapes, each bounded in time. patience is armed exactly
 * while scrapes wait for a page.
 */

#include "control/exporter.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "control/census.h"
#include "control/page.h"
#include "control/scrape.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/acceptor.h"
#include "net/listen_socket.h"

struct exporter {
    struct scrape_host host;
    const struct control_view *view;
    struct acceptor *acceptor;
    struct timer patience;
    struct census_taking *taking; /* NULL: workers are not being asked */
    struct census *census;        /* what they said last, or NULL */
    struct page *page;            /* the last, or NULL */
    uint64_t page_at;
};

static void make_page(struct exporter *exporter)
{
    timer_stop(&exporter->patience);
    page_unref(exporter->page);
    exporter->page = page_new(exporter->view, exporter->census);
    exporter->page_at = loop_now(exporter->host.loop);
    scrape_give(&exporter->host, exporter->page);
}

static void on_census(void *context, struct census *census)
{
    struct exporter *exporter = context;

    exporter->taking = NULL;
    free(exporter->census);
    exporter->census = census;
    if (timer_is_armed(&exporter->patience))
        make_page(exporter);
}

/* A worker that does not answer must not hide what the others do. */
static void on_impatient(struct timer *timer)
{
    make_page(CONTAINER_OF(timer, struct exporter, patience));
}

static void on_wanted(struct scrape_host *host)
{
    struct exporter *exporter = CONTAINER_OF(host, struct exporter, host);
    uint64_t now = loop_now(host->loop);

    if (timer_is_armed(&exporter->patience))
        return;
    if (exporter->page && now - exporter->page_at < EXPORTER_PAGE_LIFE_US) {
        scrape_give(host, exporter->page);
        return;
    }
    timer_start(host->loop, &exporter->patience, now + EXPORTER_PATIENCE_US);
    if (!exporter->taking &&
        census_take(&exporter->taking, host->loop, exporter->view, on_census, exporter))
        make_page(exporter);
}

/* The oldest makes room: an honest scraper asks at once and is served in its turn, also while
 * others hold their places as long as they may. */
static void exporter_on_accept(void *owner, struct tcp *tcp)
{
    struct exporter *exporter = owner;

    if (exporter->host.count >= EXPORTER_SCRAPES_MAX) {
        LOG_LIMITED(LOG_WARNING, "control",
                    "metrics: more than %d scrapers at once; the oldest is closed",
                    EXPORTER_SCRAPES_MAX);
        scrape_close_oldest(&exporter->host);
    }
    scrape_open(&exporter->host, tcp);
}

static enum err listen_at(struct exporter *exporter, const struct addr *listen)
{
    struct listen_wish wish = {.addr = *listen, .type = LISTEN_TCP};
    struct listen_socket socket;
    enum err err = listen_socket_open(&socket, &wish);

    if (err)
        return err;
    err = acceptor_open(&exporter->acceptor, exporter->host.loop, &socket, exporter_on_accept,
                        exporter);
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
    exporter->host.loop = loop;
    exporter->host.on_wanted = on_wanted;
    list_init(&exporter->host.scrapes);
    exporter->view = view;
    timer_init(&exporter->patience, on_impatient);
    enum err err = listen_at(exporter, listen);
    if (err) {
        free(exporter);
        return err;
    }
    *out = exporter;
    return ERR_OK;
}

void exporter_close(struct exporter **out)
{
    struct exporter *exporter = *out;

    *out = NULL;
    if (!exporter)
        return;
    acceptor_close(&exporter->acceptor);
    scrape_close_all(&exporter->host);
    timer_stop(&exporter->patience);
    census_abandon(&exporter->taking);
    free(exporter->census);
    page_unref(exporter->page);
    free(exporter);
}
