/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Translates OpenSSL's errors (tls_errors.h). */
#include "tls/tls_errors.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

enum { ALERTS = 256 }; /* an alert's description is a byte (RFC 8446 section 6) */

/* A TLS record begins with its type and the 3 of "SSL 3.1". */
static bool looks_like_tls(struct span first)
{
    if (first.len > 0 && (first.data[0] < 20 || first.data[0] > 23))
        return false;
    return first.len < 2 || first.data[1] == 3;
}

/* The reasons that all of OpenSSL's libraries share, such as "out of memory", have larger numbers
 * than alerts. */
static bool is_alert(unsigned long code)
{
    int reason = ERR_GET_REASON(code);

    return ERR_GET_LIB(code) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET &&
           reason < SSL_AD_REASON_OFFSET + ALERTS;
}

enum err tls_errors_of(unsigned long code, struct span first)
{
    if (ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE)
        return ERR_NO_MEMORY;
    if (is_alert(code))
        return ERR_TLS_ALERT;
    if (!looks_like_tls(first))
        return ERR_TLS_NOT_SPOKEN;
    if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_NO_APPLICATION_PROTOCOL)
        return ERR_TLS_ALPN;
    return ERR_TLS_FAILED;
}
