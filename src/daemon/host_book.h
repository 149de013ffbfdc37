/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_HOST_BOOK_H
#define NAILUP_DAEMON_HOST_BOOK_H

/*
 * The book of one host name: its addresses, how long they count, and when the next query for it is
 * due. Pure: it takes facts and now.
 *
 * A new address counts at once. A missing address stays for HOST_MISSES_MAX answers in a row,
 * because many names return a different part of their addresses each time. Failures and answers
 * without any address change nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/units.h"
#include "config/zone_hosts.h"
#include "daemon/host_answer.h"

enum {
    HOST_MISSES_MAX = 3,
    HOST_TTL_MIN_S = 30, /* floor and ceiling of the time between two questions */
    HOST_TTL_MAX_S = 3600,
    HOST_HALF_TTL_MAX_S = 60, /* one of A and AAAA failed */
    HOST_RETRY_MAX_S = 60,    /* after failures: 1 s, 2 s, 4 s, up to this */
    HOST_BOTH = 2,            /* the questions: A and AAAA */
};

struct host_book {
    char name[ADDR_NAME_MAX];
    size_t count;
    struct addr addrs[ZONE_HOST_ADDRS_MAX]; /* in the order of arrival */
    uint8_t misses[ZONE_HOST_ADDRS_MAX];
    uint64_t due_at;      /* when the next question is due */
    uint64_t answered_at; /* the last answer with an address; 0: none since the start */
    int64_t answered_s;   /* likewise by the wall clock, also before the start; 0: none */
    uint32_t failures;    /* since then */
    const char *error;    /* why the last query failed, or ""; static */
};

/* Adds the name, which is due at once. */
void host_book_init(struct host_book *book, const char *name);

/* Fills a new book with addresses that were known at answered_s. The name stays due at once. Skips
 * an address that is given twice, and more than HOST_ANSWER_MAX of a family. */
void host_book_restore(struct host_book *book, const struct addr *addrs, size_t count,
                       int64_t answered_s);

/* Takes the answers to A and AAAA. now_s is the wall clock. Returns whether the addresses changed.
 */
bool host_book_take(struct host_book *book, const struct host_answer answers[HOST_BOTH],
                    uint64_t now, int64_t now_s);

/* Notes that the network changed: a name whose last question failed is due now. */
void host_book_retry(struct host_book *book, uint64_t now);

#endif
