/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "tls/tls_why.h"

#include <stdarg.h>
#include <stdio.h>

enum err tls_why(char why[TLS_WHY_MAX], enum err err, const char *text, ...)
{
    va_list rest;

    va_start(rest, text);
    vsnprintf(why, TLS_WHY_MAX, text, rest);
    va_end(rest);
    return err;
}
