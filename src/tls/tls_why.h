/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_WHY_H
#define NAILUP_TLS_TLS_WHY_H

/* Sentences for operators about a bad file or value in the configuration. Any thread. */

#include "base/err.h"

enum { TLS_WHY_MAX = 320 };

/* Writes the sentence, cut to fit, and returns err. */
enum err tls_why(char why[TLS_WHY_MAX], enum err err, const char *text, ...) PRINTF_LIKE(3, 4);

#endif
