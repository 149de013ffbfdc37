/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The words for a start that failed. */

#include "daemon/refusal.h"

#include <stdarg.h>
#include <stdio.h>

#include "daemon/exit_code.h"

int refusal(const char *format, ...)
{
    va_list arguments;

    fputs("nailupd: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return EXIT_CANNOT_START;
}

int refusal_certificate(const char *why)
{
    (void)!refusal("TLS clients cannot be served: %s; correct server.tls-certificate and "
                   "server.tls-key, or leave server.listen-tls out",
                   why);
    return EXIT_CONFIG;
}

static const char *advice(enum err err)
{
    switch (err) {
    case ERR_ADDRESS_IN_USE:
        return "stop the other server or take another address";
    case ERR_PERMISSION:
        return "use a port above 1023 or CAP_NET_BIND_SERVICE";
    case ERR_ADDRESS_UNKNOWN:
        return "take an address of this machine";
    case ERR_NO_FILES:
        return "raise the limit of open files";
    default:
        return "take another address";
    }
}

int refusal_listen(struct server_address address, enum err err)
{
    char text[ADDR_TEXT_MAX];
    return refusal("cannot listen on %s: %s; %s (server.%s)", addr_format(address.addr, text),
                   err_str(err), advice(err), address.is_tls ? "listen-tls" : "listen");
}
