/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_EXPORTER_H
#define NAILUP_CONTROL_EXPORTER_H

/*
 * The numbers over HTTP, for Prometheus. On the main loop, so no scraper takes a worker's time: all
 * that a scrape may cost a worker is one letter each EXPORTER_PAGE_LIFE_US (census.h), however many
 * scrapers there are.
 */

#include "base/addr.h"
#include "base/err.h"
#include "base/units.h"
#include "control/view.h"

struct exporter;
struct loop;

enum {
    EXPORTER_SCRAPES_MAX = 16,               /* at once; then the oldest makes room */
    EXPORTER_PAGE_LIFE_US = 500 * US_PER_MS, /* so old may the numbers be */
    EXPORTER_PATIENCE_US = 1000 * US_PER_MS, /* with workers; then those of before are told */
};

/* Serves at listen. ERR_ADDRESS_IN_USE, ERR_ADDRESS_UNKNOWN, ERR_PERMISSION, ... view is borrowed
 * and is read when scrapes come: it may be filled later, but before the loop runs. */
MUST_USE enum err exporter_open(struct exporter **out, struct loop *loop, const struct addr *listen,
                                const struct control_view *view);

/* Closes the listener and every scrape. What workers are still asked for is thrown away when it
 * comes: the loop must be freed later than this, and their loops too. *exporter becomes NULL; NULL
 * is fine. */
void exporter_close(struct exporter **exporter);

#endif
