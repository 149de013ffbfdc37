/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* When memory is short, the rows of all workers are shown. */

#include "ctl/shape.h"

#include <string.h>

#include "ctl/answer.h"
#include "ctl/sort.h"
#include "ctl/workers.h"

enum { WORKER_DIGITS_MAX = 4 };

/* Rows have numbers without leading zeros. */
static bool shape_is_number(const char *word)
{
    size_t len = strlen(word);
    return len > 0 && len <= WORKER_DIGITS_MAX && strspn(word, "0123456789") == len &&
           (*word != '0' || len == 1);
}

bool shape_is_worker(const char *word)
{
    return shape_is_number(word) || strcmp(word, "all") == 0 || strcmp(word, "sum") == 0;
}

bool shape_is_one_worker(const struct shape *shape)
{
    return shape->worker && shape_is_number(shape->worker);
}

bool shape_has_workers(const char *verb)
{
    return strcmp(verb, "upstreams") == 0 || strcmp(verb, "connections") == 0;
}

void shape_workers(const struct shape *shape, struct parsed_reply *answer)
{
    if (answer->refused || !shape->worker || strcmp(shape->worker, "all") == 0)
        return;
    if (strcmp(shape->worker, "sum") == 0)
        workers_sum(answer);
    else
        workers_pick(answer, shape->worker);
}

bool shape_order(const struct shape *shape, struct parsed_reply *answer, char *why, size_t size)
{
    return answer->refused || !shape->sort || sort_rows(answer, shape->sort, why, size);
}
