/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The sentences of enum err, and its translation from errno. Each row of errors.def has exactly one
 * value and one sentence.
 */
#include "base/err.h"

#include <errno.h>
#include <stddef.h>

static const char *const sentences[ERR_COUNT] = {
    [ERR_OK] = "ok",
#define ERROR(name, sentence) [ERR_##name] = sentence,
#include "nailup/errors.def"
};

const char *err_str(enum err err)
{
    if ((unsigned)err >= ERR_COUNT)
        return "unknown error";
    return sentences[err];
}

static const struct {
    int number;
    enum err err;
} numbers[] = {
    {0, ERR_OK},
    {ENOMEM, ERR_NO_MEMORY},
    {ENOBUFS, ERR_NO_MEMORY},
    {EINVAL, ERR_INVALID},
    {ENOENT, ERR_NOT_FOUND},
    {EMFILE, ERR_NO_FILES},
    {ENFILE, ERR_NO_FILES},
    {EADDRINUSE, ERR_ADDRESS_IN_USE},
    {EADDRNOTAVAIL, ERR_ADDRESS_UNKNOWN},
    {EACCES, ERR_PERMISSION},
    {EPERM, ERR_PERMISSION},
    {ECONNREFUSED, ERR_REFUSED},
    {ENETUNREACH, ERR_UNREACHABLE},
    {EHOSTUNREACH, ERR_UNREACHABLE},
    {ENETDOWN, ERR_UNREACHABLE},
    {EHOSTDOWN, ERR_UNREACHABLE},
    {ETIMEDOUT, ERR_TIMED_OUT},
    {ECONNRESET, ERR_RESET},
    {EPIPE, ERR_RESET},
    {ECONNABORTED, ERR_RESET},
    {ECANCELED, ERR_CLOSED},
    {EBADMSG, ERR_BAD_MESSAGE},
    {EMSGSIZE, ERR_TOO_LARGE},
    {ENOSPC, ERR_NO_SPACE},
    {EDQUOT, ERR_NO_SPACE},
};

enum err err_from_errno(int number)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i].number == number)
            return numbers[i].err;
    return ERR_IO;
}
