/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_SCRAPE_H
#define NAILUP_CONTROL_SCRAPE_H

/*
 * One scraper: asks over HTTP, gets one answer, and its connection ends. It has SCRAPE_ASK_US for
 * its request, whatever dribbles in, and SCRAPE_TAKE_US for the answer. The main loop's thread.
 */

#include "base/list.h"
#include "base/units.h"

struct loop;
struct page;
struct tcp;

enum {
    SCRAPE_ASK_US = 5 * US_PER_S,
    SCRAPE_TAKE_US = 10 * US_PER_S,
};

#define SCRAPE_PATH "/metrics"

/* Who holds scrapes. */
struct scrape_host {
    struct loop *loop;
    struct list scrapes; /* the oldest first */
    unsigned count;
    /* A scrape waits for a page: scrape_give() is to be called, from within or later. */
    void (*on_wanted)(struct scrape_host *host);
};

/* Takes an accepted connection. It frees itself. Out of memory it is closed. */
void scrape_open(struct scrape_host *host, struct tcp *tcp);

/* Sends the page to each that waits for one; NULL: there is none, and they are told. */
void scrape_give(struct scrape_host *host, struct page *page);

/* Closes the one that has been here for longest; there must be one. */
void scrape_close_oldest(struct scrape_host *host);
void scrape_close_all(struct scrape_host *host);

#endif
