/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_ERR_H
#define NAILUP_BASE_ERR_H

/*
 * enum err reports failures of the world. Our own bugs are for MUST() (base/check.h), and a refusal
 * by a protocol is an ordinary value. Callers must use a result of enum err.
 */

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

enum err {
    ERR_OK = 0,
#define ERROR(name, sentence) ERR_##name,
#include "nailup/errors.def"
    ERR_COUNT
};

/* Returns the sentence of the row in errors.def, "ok" for ERR_OK. Static storage, any thread. */
const char *err_str(enum err err);

/* Translates an errno value of a system call; ERR_IO if no row fits. */
enum err err_from_errno(int number);

#endif
