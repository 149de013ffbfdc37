/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_CHECK_H
#define NAILUP_BASE_CHECK_H

/*
 * MUST(condition) stops the process when the condition is false, in every build, with file, line
 * and condition on stderr. It is for our own bugs: no peer, file or kernel may be able to trigger
 * it.
 */
#define MUST(condition)                                                                            \
    (__builtin_expect(!!(condition), 1) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))

_Noreturn void check_failed(const char *condition, const char *file, int line);

#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)((char *)(pointer) - __builtin_offsetof(type, member)))

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
