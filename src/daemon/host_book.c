/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Invariants: at most HOST_ANSWER_MAX addresses of each family, so there is always room; an address
 * keeps its place while it stays, so that an unchanged name changes nothing.
 */
#include "daemon/host_book.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/check.h"

_Static_assert((int)ZONE_HOST_ADDRS_MAX == HOST_BOTH * HOST_ANSWER_MAX, "room for both families");

void host_book_init(struct host_book *book, const char *name)
{
    *book = (struct host_book){.error = ""};
    snprintf(book->name, sizeof(book->name), "%s", name);
}

static void host_book_drop(struct host_book *book, size_t place)
{
    size_t after = book->count - place - 1;
    memmove(&book->addrs[place], &book->addrs[place + 1], after * sizeof(book->addrs[0]));
    memmove(&book->misses[place], &book->misses[place + 1], after * sizeof(book->misses[0]));
    book->count--;
}

static bool answer_has(const struct host_answer *answer, const struct addr *addr)
{
    for (size_t i = 0; i < answer->count; i++)
        if (addr_equal(&answer->addrs[i], addr))
            return true;
    return false;
}

static bool host_book_has(const struct host_book *book, const struct addr *addr)
{
    for (size_t i = 0; i < book->count; i++)
        if (addr_equal(&book->addrs[i], addr))
            return true;
    return false;
}

/* Returns whether addresses of the family went. */
static bool host_book_count_misses(struct host_book *book, const struct host_answer *answer,
                                   int family)
{
    size_t before = book->count;
    for (size_t i = book->count; i-- > 0;) {
        if (addr_family(&book->addrs[i]) != family)
            continue;
        book->misses[i] = answer_has(answer, &book->addrs[i]) ? 0 : (uint8_t)(book->misses[i] + 1);
        if (book->misses[i] >= HOST_MISSES_MAX)
            host_book_drop(book, i);
    }
    return book->count != before;
}

/* Makes room: drops the address of the family that has been missing for the longest time. */
static void host_book_make_room(struct host_book *book, int family)
{
    size_t of_family = 0, worst = 0;
    uint8_t misses = 0;
    for (size_t i = 0; i < book->count; i++) {
        if (addr_family(&book->addrs[i]) != family)
            continue;
        of_family++;
        if (book->misses[i] > misses) {
            misses = book->misses[i];
            worst = i;
        }
    }
    if (of_family == HOST_ANSWER_MAX && misses > 0)
        host_book_drop(book, worst);
}

/* Returns whether the answer brought new addresses. It has at most HOST_ANSWER_MAX, and all of them
 * fit. */
static bool host_book_add(struct host_book *book, const struct host_answer *answer, int family)
{
    bool has_added = false;
    for (size_t i = 0; i < answer->count; i++) {
        if (host_book_has(book, &answer->addrs[i]))
            continue;
        host_book_make_room(book, family);
        MUST(book->count < ZONE_HOST_ADDRS_MAX);
        book->addrs[book->count] = answer->addrs[i];
        book->misses[book->count++] = 0;
        has_added = true;
    }
    return has_added;
}

static size_t host_book_count_family(const struct host_book *book, int family)
{
    size_t count = 0;
    for (size_t i = 0; i < book->count; i++)
        count += addr_family(&book->addrs[i]) == family;
    return count;
}

void host_book_restore(struct host_book *book, const struct addr *addrs, size_t count,
                       int64_t answered_s)
{
    for (size_t i = 0; i < count; i++)
        if (!host_book_has(book, &addrs[i]) &&
            host_book_count_family(book, addr_family(&addrs[i])) < HOST_ANSWER_MAX)
            book->addrs[book->count++] = addrs[i];
    book->answered_s = answered_s;
}

static void host_book_fail(struct host_book *book, bool has_none, uint64_t now)
{
    uint64_t wait_s = UINT64_C(1) << MIN(book->failures, 6u);
    book->failures++;
    book->error = has_none ? "the name has no address" : "the name could not be resolved";
    book->due_at = now + MIN(wait_s, (uint64_t)HOST_RETRY_MAX_S) * US_PER_S;
}

bool host_book_take(struct host_book *book, const struct host_answer answers[HOST_BOTH],
                    uint64_t now, int64_t now_s)
{
    static const int families[HOST_BOTH] = {AF_INET, AF_INET6};
    bool has_changed = false, has_failed = false, has_found = false;
    uint32_t ttl_s = HOST_TTL_MAX_S;
    for (int i = 0; i < HOST_BOTH; i++) {
        has_found |= answers[i].kind == HOST_FOUND;
        has_failed |= answers[i].kind == HOST_FAILED;
    }
    if (!has_found) {
        host_book_fail(book, !has_failed, now);
        return false;
    }
    for (int i = 0; i < HOST_BOTH; i++) {
        if (answers[i].kind == HOST_FAILED)
            continue;
        has_changed |= host_book_count_misses(book, &answers[i], families[i]);
        has_changed |= host_book_add(book, &answers[i], families[i]);
        if (answers[i].kind == HOST_FOUND)
            ttl_s = MIN(ttl_s, answers[i].ttl_s);
    }
    if (has_failed)
        ttl_s = MIN(ttl_s, (uint32_t)HOST_HALF_TTL_MAX_S);
    book->answered_at = now;
    book->answered_s = now_s;
    book->failures = 0;
    book->error = "";
    book->due_at = now + MAX(ttl_s, (uint32_t)HOST_TTL_MIN_S) * US_PER_S;
    return has_changed;
}

void host_book_retry(struct host_book *book, uint64_t now)
{
    if (book->failures == 0)
        return;
    book->failures = 1;
    book->due_at = now;
}
