/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_CONTEXT_H
#define NAILUP_TLS_TLS_CONTEXT_H

/*
 * What the TLS connections of one thread and role share: authorities, our certificate, versions and
 * ciphers. One per thread, as a handshake takes thousands of locks on what is shared. Connections
 * made of a context outlive it: they hold what they need.
 *
 * TLS 1.2 and 1.3 only (OpenSSL's configuration file may narrow that), no compression, no
 * renegotiation; keys of at least 112 bits of security, unless the ciphers say "@SECLEVEL=1". ALPN
 * "dot" (RFC 7858 section 3.1).
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

/* For dialling; of the options only what tls_peer_options_same_context() compares. Reads the files;
 * one file may hold both our certificate and its key. On error (ERR_INVALID, ERR_NO_MEMORY, those
 * of tls_read_file()) why is a sentence that names the file or word at fault. */
MUST_USE enum err tls_context_client(struct tls_context **out,
                                     const struct tls_peer_options *options, char why[TLS_WHY_MAX]);

/* A digest of what stood in the files of a client's context, authorities and our certificate:
 * tickets that were got with other files are another identity's. Borrowed; TLS_FILES_ID_BYTES. */
struct span tls_context_files_id(const struct tls_context *context);

/* Whether the files of a client's context, made of these options, say something else now or cannot
 * be read. The system's authorities are not looked at. */
bool tls_context_files_changed(const struct tls_context *context,
                               const struct tls_peer_options *options);

struct tls_server_options {
    struct span certificate;                 /* PEM: the chain, the server's own first */
    struct span key;                         /* PEM */
    const char *certificate_name, *key_name; /* of the files, for sentences; may be NULL */
    const char *ciphers;                     /* as in struct tls_peer_options */
    const char *groups;
    /* Borrowed for as long as connections of the context live; NULL: no session tickets. */
    struct tls_ticket_keys *ticket_keys;
};

/* For accepting. A client that offers protocols by ALPN without "dot" among them is refused (RFC
 * 7301 section 3.2); one that offers none is served. Errors as above: a certificate that does not
 * parse, a key that does not belong to it. */
MUST_USE enum err tls_context_server(struct tls_context **out,
                                     const struct tls_server_options *options,
                                     char why[TLS_WHY_MAX]);

/* When our own certificate ends (notAfter, RFC 5280 section 4.1.2.5), in seconds since 1970;
 * INT64_MAX: there is none. Those between it and the authority are not looked at. */
int64_t tls_context_ends_at_s(const struct tls_context *context);

/* NULL is fine. */
void tls_context_free(struct tls_context *context);

#endif
