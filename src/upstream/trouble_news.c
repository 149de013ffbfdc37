/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A small table under a lock: lines about upstreams are rare. */
#include "upstream/trouble_news.h"

#include "base/check.h"

void trouble_news_init(struct trouble_news *news)
{
    *news = (struct trouble_news){0};
    MUST(pthread_mutex_init(&news->lock, NULL) == 0);
}

/* The item of the upstream, or NULL. */
static struct trouble_news_item *news_find(struct trouble_news *news, uint64_t upstream)
{
    for (unsigned i = 0; i < TROUBLE_NEWS_MAX; i++)
        if (news->items[i].upstream == upstream)
            return &news->items[i];
    return NULL;
}

/* A free item, or the one that was logged first. */
static struct trouble_news_item *news_make(struct trouble_news *news, uint64_t upstream)
{
    struct trouble_news_item *oldest = &news->items[0];
    for (unsigned i = 0; i < TROUBLE_NEWS_MAX && oldest->upstream; i++)
        if (!news->items[i].upstream || news->items[i].trouble.told_at < oldest->trouble.told_at)
            oldest = &news->items[i];
    *oldest = (struct trouble_news_item){.upstream = upstream};
    return oldest;
}

bool trouble_news_fail(struct trouble_news *news, uint64_t upstream, unsigned reason, bool is_first,
                       uint64_t now)
{
    struct trouble_lines unbounded = {0}; /* each worker has a budget */
    uint32_t untold;
    upstream += !upstream;
    pthread_mutex_lock(&news->lock);
    struct trouble_news_item *item = news_find(news, upstream);
    if (!item)
        item = news_make(news, upstream);
    item->pools += is_first;
    bool is_news = trouble_fail(&item->trouble, &unbounded, reason, now, &untold);
    pthread_mutex_unlock(&news->lock);
    return is_news;
}

bool trouble_news_end(struct trouble_news *news, uint64_t upstream)
{
    upstream += !upstream;
    pthread_mutex_lock(&news->lock);
    struct trouble_news_item *item = news_find(news, upstream);
    bool is_last = item && item->pools <= 1;
    if (is_last)
        *item = (struct trouble_news_item){0};
    else if (item)
        item->pools--;
    pthread_mutex_unlock(&news->lock);
    return is_last;
}
