/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Which of our errors one of OpenSSL's is (tls_errors.h). */
#include "tls/tls_errors.h"

#include <openssl/err.h>

#include "base/check.h"

enum { ALERTS = 256 }; /* an alert's description is a byte (RFC 8446 section 6) */

void tls_errors_note(struct tls *tls, struct span wire)
{
    while (tls->first_len < sizeof(tls->first) && span_take_u8(&wire, &tls->first[tls->first_len]))
        tls->first_len++;
}

/* The first bytes of every TLS record: its type, and the 3 of "SSL 3.1". */
static bool looks_like_tls(const struct tls *tls)
{
    if (tls->first_len > 0 && (tls->first[0] < 20 || tls->first[0] > 23))
        return false;
    return tls->first_len < 2 || tls->first[1] == 3;
}

/* Reasons that all libraries share, "out of memory" among them, are numbers above those of alerts.
 */
static bool is_alert(unsigned long code)
{
    int reason = ERR_GET_REASON(code);

    return ERR_GET_LIB(code) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET &&
           reason < SSL_AD_REASON_OFFSET + ALERTS;
}

enum err tls_errors_of(const struct tls *tls, unsigned long code)
{
    if (ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE)
        return ERR_NO_MEMORY;
    if (is_alert(code))
        return ERR_TLS_ALERT;
    if (!looks_like_tls(tls))
        return ERR_TLS_NOT_SPOKEN;
    if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_NO_APPLICATION_PROTOCOL)
        return ERR_TLS_ALPN;
    return ERR_TLS_FAILED;
}
