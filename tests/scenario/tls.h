/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_TLS_H
#define NAILUP_TESTS_SCENARIO_TLS_H

/* Servers that speak TLS: their certificates, and the authority that configurations trust. */

#include <stdbool.h>

#include "support/fake_net.h"

/* Returns the configuration with the path of the test's authority in place of each TEST-CA. The
 * caller frees it. */
char *tls_config(const char *yaml);

/* The words of tls_speak(), with NULL at the end. README.md describes each. */
extern const char *const tls_words[];

/* Makes new connections speak as tls_words[word] says. A good certificate is for dns.test. */
void tls_speak(struct fake_server *server, int word);

#endif
