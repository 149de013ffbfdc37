/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Invariant: a page does not change once it is made. */

#include "control/page.h"

#include <stdlib.h>

#include "base/buf.h"
#include "control/exposition.h"
#include "control/metrics.h"

struct page {
    unsigned refs;
    struct buf text;
};

struct page *page_new(const struct control_view *view, const struct census *census)
{
    struct page *page = malloc(sizeof(*page));
    struct stats stats;

    if (!page)
        return NULL;
    page->refs = 1;
    buf_init(&page->text, EXPOSITION_MAX);
    metrics_collect(view, &stats);
    if (exposition_write(&page->text, &stats, census) == ERR_OK)
        return page;
    page_unref(page);
    return NULL;
}

struct page *page_ref(struct page *page)
{
    page->refs++;
    return page;
}

void page_unref(struct page *page)
{
    if (!page || --page->refs > 0)
        return;
    buf_deinit(&page->text);
    free(page);
}

struct span page_text(const struct page *page)
{
    return buf_span(&page->text);
}
