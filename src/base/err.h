/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_ERR_H
#define NAILUP_BASE_ERR_H

/*
 * enum err: the world failed. Bugs of ours are for MUST() (base/check.h); what a protocol says no
 * with is an ordinary value. A function that returns enum err must not have its result ignored.
 */

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

enum err {
    ERR_OK = 0,
#define ERROR(name, sentence) ERR_##name,
#include "nailup/errors.def"
    ERR_COUNT
};

/* The sentence of the row in errors.def; "ok" for ERR_OK. Static storage, any thread. */
const char *err_str(enum err err);

/* The error that an errno value of a socket call stands for; ERR_IO where no row fits. */
enum err err_from_errno(int number);

#endif
