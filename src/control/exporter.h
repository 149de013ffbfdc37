/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_EXPORTER_H
#define NAILUP_CONTROL_EXPORTER_H

/*
 * Serves the metrics over HTTP for Prometheus, and the live page for people. Runs on the main loop,
 * so a scraper takes no time from a worker. Scrapes cost a worker one letter each
 * EXPORTER_PAGE_LIFE_US at most (census.h), however many scrapers there are.
 */

#include "base/addr.h"
#include "base/err.h"
#include "base/units.h"
#include "control/view.h"

struct exporter;
struct loop;

enum {
    EXPORTER_SCRAPES_MAX = 16, /* at once; a further one replaces one of the busiest host */
    EXPORTER_PAGE_LIFE_US = 500 * US_PER_MS, /* the greatest age of the figures on a page */
    EXPORTER_PATIENCE_US = 1000 * US_PER_MS, /* with workers; then their last figures are used */
    EXPORTER_ASK_US = 5 * US_PER_S,          /* the time for a scraper's whole request */
    EXPORTER_TAKE_US = 10 * US_PER_S,        /* the time in which a scraper must read its answer */
};

/* Listens at the address. Errors: ERR_ADDRESS_IN_USE, ERR_ADDRESS_UNKNOWN, ERR_PERMISSION and
 * others. Borrows view and reads it only when a scrape comes, so the caller may fill it later, but
 * before the loop runs. */
MUST_USE enum err exporter_open(struct exporter **out, struct loop *loop, const struct addr *listen,
                                const struct control_view *view);

/* Closes the listener and every scrape. Drops the answers that workers still owe: free the main
 * loop and the workers' loops after this. *exporter becomes NULL; NULL is fine. */
void exporter_close(struct exporter **exporter);

#endif
