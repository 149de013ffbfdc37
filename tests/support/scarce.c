/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Decides which allocations fail (scarce.h). */
#include "support/scarce.h"

static struct {
    bool is_on;
    uint64_t nth;
    unsigned one_in;
    uint64_t random;
    uint64_t count, failed;
} scarce;

void scarce_fail_nth(uint64_t nth)
{
    scarce.nth = nth;
    scarce.one_in = 0;
    scarce.count = scarce.failed = 0;
}

void scarce_fail_often(unsigned one_in, uint64_t seed)
{
    scarce.nth = 0;
    scarce.one_in = one_in;
    scarce.random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    scarce.count = scarce.failed = 0;
}

void scarce_begin(void)
{
    scarce.is_on = true;
}

void scarce_end(void)
{
    scarce.is_on = false;
}

bool scarce_begin_plain(void)
{
    bool was = scarce.is_on;
    scarce.is_on = false;
    return was;
}

void scarce_end_plain(bool was)
{
    scarce.is_on = was;
}

uint64_t scarce_count(void)
{
    return scarce.count;
}

uint64_t scarce_failed(void)
{
    return scarce.failed;
}

/* xorshift, because the worker's own random numbers must not depend on this. */
static bool is_drawn(void)
{
    scarce.random ^= scarce.random << 13;
    scarce.random ^= scarce.random >> 7;
    scarce.random ^= scarce.random << 17;
    return (scarce.random >> 20) % scarce.one_in == 0;
}

bool scarce_fails(void)
{
    if (!scarce.is_on)
        return false;
    scarce.count++;
    bool fails = scarce.one_in ? is_drawn() : scarce.count == scarce.nth;
    scarce.failed += fails;
    return fails;
}
