/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_CONTEXT_H
#define NAILUP_TLS_TLS_CONTEXT_H

/*
 * The settings that the TLS connections of one thread and role share: authorities, our certificate,
 * versions and ciphers. Each thread has its own contexts, because a handshake takes thousands of
 * locks on shared objects. Connections may outlive their context: they hold what they need.
 *
 * TLS 1.2 and 1.3 only (OpenSSL's configuration file may narrow that), no compression, no
 * renegotiation; keys of at least 112 bits of security, unless the ciphers contain "@SECLEVEL=1".
 * ALPN "dot" (RFC 7858 section 3.1), or the protocol of tls_set_transport().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "tls/tls_file.h"
#include "tls/tls_key_log.h"
#include "tls/tls_options.h"
#include "tls/tls_why.h"

struct tls_context;
struct tls_ticket_keys;

/* Makes a context for dialling from the options that tls_peer_options_same_context() compares.
 * Reads the files; one file may hold both our certificate and its key. On error (ERR_INVALID,
 * ERR_NO_MEMORY, those of tls_read_file()) why is a sentence that names the file or word at fault.
 */
MUST_USE enum err tls_context_client(struct tls_context **out,
                                     const struct tls_peer_options *options, char why[TLS_WHY_MAX]);

/* A digest of the files of a client's context (authorities and our certificate): tickets that were
 * received with other files belong to another identity. Borrowed; TLS_FILES_ID_BYTES long. */
struct span tls_context_files_id(const struct tls_context *context);

/* Whether the files of a client's context, made from these options, have changed or cannot be read.
 * Does not check the system's authorities. */
bool tls_context_files_changed(const struct tls_context *context,
                               const struct tls_peer_options *options);

struct tls_server_options {
    struct span certificate;                 /* PEM: the chain, our own certificate first */
    struct span key;                         /* PEM */
    const char *certificate_name, *key_name; /* file names, for sentences; may be NULL */
    const char *ciphers;                     /* as in struct tls_peer_options */
    const char *groups;
    /* Borrowed while connections of the context live; NULL: no session tickets. */
    struct tls_ticket_keys *ticket_keys;
};

/* Makes a context for accepting. It refuses a client that offers ALPN protocols without ours (RFC
 * 7301 section 3.2), and serves one that offers none. Errors as above: a certificate that does not
 * parse, a key that does not belong to it. */
MUST_USE enum err tls_context_server(struct tls_context **out,
                                     const struct tls_server_options *options,
                                     char why[TLS_WHY_MAX]);

/* When our own certificate expires (notAfter, RFC 5280 section 4.1.2.5), in seconds since 1970;
 * INT64_MAX without a certificate. Ignores the certificates between it and the authority. */
int64_t tls_context_ends_at_s(const struct tls_context *context);

/* context may be NULL. */
void tls_context_free(struct tls_context *context);

#endif
