/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_TLS_H
#define NAILUP_TESTS_SCENARIO_TLS_H

/* Servers that speak TLS: their certificates, and the authority that configurations trust. */

#include <stdbool.h>

#include "support/fake_net.h"

/* The configuration with the file of the test's authority in the place of each TEST-CA; the
 * caller's to free. */
char *tls_config(const char *yaml);

/* Words that tls_speak() knows, NULL at the end: README.md describes each. */
extern const char *const tls_words[];

/* Connections from now on speak as tls_words[word] says; the name of a good one is dns.test. */
void tls_speak(struct fake_server *server, int word);

#endif
