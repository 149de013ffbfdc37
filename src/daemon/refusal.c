/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The sentences for a start that failed. */

#include "daemon/refusal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "daemon/exit_code.h"

enum { SENTENCE_MAX = 2048 }; /* longer sentences are cut; they contain a path */

int refusal_print(const char *format, ...)
{
    char sentence[SENTENCE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    if (log_get_format() == LOG_JSON)
        log_write(LOG_ERROR, "daemon", "%s", sentence);
    else
        fprintf(stderr, "nailupd: %s\n", sentence);
    return EXIT_CANNOT_START;
}

int refusal_certificate(const char *why)
{
    (void)!refusal_print("TLS clients cannot be served: %s; correct server.tls-certificate and "
                         "server.tls-key, or leave server.listen-tls and server.listen-https out",
                         why);
    return EXIT_CONFIG;
}

static const char *refusal_advice(enum err err)
{
    switch (err) {
    case ERR_ADDRESS_IN_USE:
        return "stop the other server or choose another address";
    case ERR_PERMISSION:
        return "choose a port above 1023 or grant CAP_NET_BIND_SERVICE";
    case ERR_ADDRESS_UNKNOWN:
        return "choose an address of this machine";
    case ERR_NO_FILES:
        return "raise the limit of open files";
    default:
        return "choose another address";
    }
}

static void refusal_put_listen(const struct addr *addr, enum err err, const char *key,
                               char out[REFUSAL_TEXT_MAX])
{
    char text[ADDR_TEXT_MAX];
    snprintf(out, REFUSAL_TEXT_MAX, "cannot listen on %s: %s; %s (%s)", addr_format(addr, text),
             err_str(err), refusal_advice(err), key);
}

void refusal_listen(struct server_address address, enum err err, char out[REFUSAL_TEXT_MAX])
{
    refusal_put_listen(address.addr, err, server_address_key(address), out);
}

int refusal_metrics(const struct addr *listen, enum err err)
{
    char text[REFUSAL_TEXT_MAX];
    refusal_put_listen(listen, err, "metrics.listen", text);
    return refusal_print("%s", text);
}
