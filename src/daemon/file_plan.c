/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The shares of clients, upstreams, transfers and the daemon itself (file_plan.h). */

#include "daemon/file_plan.h"

#include "base/check.h"
#include "daemon/host_book.h"
#include "daemon/host_keeper.h"
#include "transfer/xfr_gate.h"

_Static_assert((int)FILE_PLAN_BOOTSTRAP_MAX == 4 * (int)HOST_ROUNDS_MAX * (int)HOST_BOTH,
               "three UDP sockets and a connection for each question");

static uint64_t file_plan_subtract(uint64_t limit, uint64_t used)
{
    limit = MIN(limit, (uint64_t)FILE_PLAN_MAX);
    return limit > used ? limit - used : 0;
}

/* Replacements, draining connections and UDP queries use the other half of the upstreams' files. */
static uint32_t file_plan_nailed(const struct file_facts *facts, uint64_t upstream)
{
    uint64_t nailed = MAX(upstream / 2, (uint64_t)facts->workers);
    return (uint32_t)MIN(nailed, (uint64_t)facts->max_nailed);
}

/* A small share of the files that are left, up to the largest useful number. */
static uint32_t file_plan_share(uint64_t left, uint64_t most)
{
    return (uint32_t)MIN(MAX(left / FILE_PLAN_SHARE, 1), most);
}

/* The files that are open all the time, except those of workers. */
static uint64_t file_plan_fixed(void)
{
    return FILE_PLAN_MAIN + FILE_PLAN_ZONES + FILE_PLAN_SPARE;
}

struct file_plan file_plan_make(const struct file_facts *facts)
{
    uint64_t fixed = facts->open + file_plan_fixed() + facts->workers * FILE_PLAN_WORKER;
    uint64_t all = file_plan_subtract(facts->limit, fixed);
    uint32_t visits = file_plan_share(all, XFR_GATE_VISITS_MAX);
    uint32_t bootstrap = file_plan_share(all, FILE_PLAN_BOOTSTRAP_MAX);
    uint64_t left = file_plan_subtract(all, visits + bootstrap);
    uint64_t clients = MAX(left / 2, 1);
    uint64_t upstream = file_plan_subtract(left, clients);

    return (struct file_plan){
        .visits = visits,
        .bootstrap = bootstrap,
        .clients = (uint32_t)clients,
        .nailed = file_plan_nailed(facts, upstream),
        .upstream_each = (uint32_t)MAX(upstream / facts->workers, 1),
    };
}

size_t file_plan_workers(uint64_t limit, size_t wanted, size_t sockets_each)
{
    uint64_t left = file_plan_subtract(limit, file_plan_fixed());
    uint64_t each = FILE_PLAN_WORKER + sockets_each + FILE_PLAN_UPSTREAM;
    return (size_t)MAX(MIN(left / each, (uint64_t)wanted), 1);
}
