/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_SYSTEM_H
#define NAILUP_TLS_TLS_SYSTEM_H

#include <openssl/ssl.h>
#include <stdbool.h>

/* Trusts the authorities of the system: those that OpenSSL was built to look for, or SSL_CERT_FILE
 * and SSL_CERT_DIR. It may be that there are none; then nobody is trusted. False: out of memory. */
bool tls_system_trust(SSL_CTX *ctx);

#endif
