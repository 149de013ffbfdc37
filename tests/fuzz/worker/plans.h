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
    bool has_unvalidated; /* zones with `validate: no` */
    /* A bit for each zone whose names this signed plan does not validate. */
    uint16_t unchecked;
    /* Zones with servers of their own: they are insecure while their DS records cannot be fetched.
     */
    uint16_t yielding;
};

extern const struct plan plans[];

/* Chooses a plan by a number. Hostile plays have plans of their own: the servers of each of them
 * sign, and a reload from one to another changes anchors, negative anchors or `validate`. */
const struct plan *plan_choose(bool is_hostile, unsigned choice);

/* Zones whose names some plan of hostile plays may not validate. */
uint16_t plans_unchecked(void);

const struct config *plan_config(const struct plan *plan);

/* Certificates for TLS servers and the worker: one for dns.test signed by the CA of the plans, and
 * one that this CA has not signed. */
const struct tls_cert *plans_certificate(void);
const struct tls_cert *plans_other_certificate(void);

#endif
