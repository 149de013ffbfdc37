/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_PLANS_H
#define NAILUP_TESTS_FUZZ_WORKER_PLANS_H

/* The configurations of plays. Each is parsed once and does not change. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/tls_certs.h"

struct config;

struct plan {
    const char *name;
    const char *yaml; /* CERT, CA-FILE and HINTS are replaced by file names */
    bool recurses;   /* the plan recurses or validates, so an answer depends on further questions */
    bool is_tls;     /* forwarders are reached over TLS */
    bool is_strict;  /* and over no other transport */
    bool is_bounded; /* its bounds refuse queries, so no play with it is live */
    bool serves_tls; /* the worker serves TLS to clients */
    bool is_signed;  /* the servers sign, and the worker validates */
};

extern const struct plan plans[];
extern const size_t plan_count;

const struct config *plan_config(const struct plan *plan);

/* Certificates for TLS servers and the worker: one for dns.test signed by the CA of the plans, and
 * one that this CA has not signed. */
const struct tls_cert *plans_certificate(void);
const struct tls_cert *plans_other_certificate(void);

#endif
