/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SUPPORT_SCARCE_H
#define NAILUP_TESTS_SUPPORT_SCARCE_H

/*
 * Scarce memory: allocations of the code under test fail. The linker replaces the allocations of
 * a program that nailup_scarce() in tests/CMakeLists.txt names (scarce_wrap.c); in other programs
 * these functions change nothing. Not for several threads.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One allocation fails, the nth from now on, counted from 1; 0: none. */
void scarce_fail_nth(uint64_t nth);

/* One allocation of so many fails, drawn at random; 0: none. */
void scarce_fail_often(unsigned one_in, uint64_t seed);

/* Allocations count and may fail between these two calls only. */
void scarce_begin(void);
void scarce_end(void);

/* For tests/support/scarce_plain.h: memory is plentiful until scarce_end_plain(was). */
bool scarce_begin_plain(void);
void scarce_end_plain(bool was);

/* The allocations, and the failed ones, since the last scarce_fail_nth() or scarce_fail_often(). */
uint64_t scarce_count(void);
uint64_t scarce_failed(void);

/* Counts one allocation and returns whether it fails. */
bool scarce_fails(void);

/* The allocations of the C library, under the names that the linker gives them. Only for
 * scarce_wrap.c and scarce_plain.h. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);

#endif
