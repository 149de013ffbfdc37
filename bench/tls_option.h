/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TLS_OPTION_H
#define NAILUP_BENCH_TLS_OPTION_H

/* The options of TLS clients, which several commands have: --tls-version is 'V', --tls-resume 'R',
 * --tls-ca-file 'A' and --tls-name 'H'. */

#include <stdbool.h>

#include "tls_client.h"

/* Takes one of these options, and borrows its value. Returns false if the option is another one. A
 * bad value ends the process with exit code 2. */
bool option_tls(const char *command, int option, const char *value, struct tls_client_options *tls,
                bool *resume);

#endif
