/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_PLANS_H
#define NAILUP_TESTS_FUZZ_WORKER_PLANS_H

/* The configurations that are played. Each is parsed once; a configuration never changes. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/tls_certs.h"

struct config;

struct plan {
    const char *name;
    const char *yaml; /* with CERT, CA-FILE and HINTS in the place of files */
    bool recurses;
    bool is_tls;     /* forwarders are asked over TLS */
    bool is_strict;  /* and never otherwise */
    bool is_bounded; /* its bounds refuse queries: no live play */
    bool serves_tls; /* to clients */
};

extern const struct plan plans[];
extern const size_t plan_count;

const struct config *plan_config(const struct plan *plan);

/* Certificates of servers over TLS and of the worker: one for dns.test that the CA of the plans has
 * signed, and one without a signature of that CA. */
const struct tls_cert *plans_certificate(void);
const struct tls_cert *plans_other_certificate(void);

#endif
