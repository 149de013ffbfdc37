/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UPSTREAM_WORLD_TLS_H
#define NAILUP_TESTS_UPSTREAM_WORLD_TLS_H

/*
 * The identities of a world with TLS: one authority for the whole test program, the server
 * "dns.test" with a certificate from it, and the options of an upstream that expects that name.
 * They are made at first use and freed at exit.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/fake_tls.h"
#include "support/tls_certs.h"
#include "upstream/upstream_options.h"

struct world_tls {
    struct tls_certs *ca;
    struct tls_cert *cert; /* "dns.test", signed by ca */
    char *ca_path;
};

static struct world_tls world_tls_made;

static inline void world_tls_unmake(void)
{
    tls_certs_free_cert(world_tls_made.cert);
    tls_certs_free(world_tls_made.ca);
    unlink(world_tls_made.ca_path);
    free(world_tls_made.ca_path);
}

static inline const struct world_tls *world_tls(void)
{
    struct world_tls *made = &world_tls_made;
    if (made->ca)
        return made;
    made->ca = tls_certs_authority("Test CA");
    made->cert = tls_certs_make(&(struct tls_cert_wish){.ca = made->ca, .name = "dns.test"});
    made->ca_path = tls_certs_file(tls_certs_pem(made->ca));
    atexit(world_tls_unmake);
    return made;
}

/* Returns a server without faults. */
static inline struct fake_tls_options world_tls_server(void)
{
    const struct tls_cert *cert = world_tls()->cert;
    return (struct fake_tls_options){.certificate = cert->certificate, .key = cert->key};
}

/* Turns options into those of a TLS upstream that expects "dns.test". */
static inline void world_tls_expect(struct upstream_options *options, enum tls_profile profile)
{
    static char name[] = "dns.test";
    options->transport = TRANSPORT_TLS;
    options->tls.profile = profile;
    options->tls.auth_name = name;
    options->tls.ca_bundle = world_tls()->ca_path;
}

#endif
