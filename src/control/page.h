/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_PAGE_H
#define NAILUP_CONTROL_PAGE_H

/* A page of text that is sent to several at once, each as fast as it reads. One thread. */

#include "base/span.h"
#include "control/census.h"
#include "control/view.h"

struct page;

/* The numbers as they are now, for Prometheus (exposition.h); held once. census may be NULL. NULL:
 * out of memory. */
struct page *page_new(const struct control_view *view, const struct census *census);

struct page *page_ref(struct page *page);
void page_unref(struct page *page); /* NULL is fine */

/* Borrowed as long as the page is held. */
struct span page_text(const struct page *page);

#endif
