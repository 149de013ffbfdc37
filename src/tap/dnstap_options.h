/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_DNSTAP_OPTIONS_H
#define NAILUP_TAP_DNSTAP_OPTIONS_H

/* Who is shown queries in the format of dnstap, and which: filled by config. */

#include <stdint.h>

/* Bits of struct dnstap_options.messages, in the order of their names. */
enum dnstap_messages {
    DNSTAP_CLIENT_QUERIES = 1 << 0,
    DNSTAP_CLIENT_RESPONSES = 1 << 1,
    DNSTAP_FORWARDER_QUERIES = 1 << 2,
    DNSTAP_FORWARDER_RESPONSES = 1 << 3,
    DNSTAP_RESOLVER_QUERIES = 1 << 4,
    DNSTAP_RESOLVER_RESPONSES = 1 << 5,
};

/* "client-query", each with its NUL, another at the end. */
#define DNSTAP_MESSAGE_WORDS                                                                       \
    "client-query\0client-response\0forwarder-query\0forwarder-response\0resolver-query\0"         \
    "resolver-response\0"

struct dnstap_options {
    char *socket;      /* of a reader; "": none */
    char *file;        /* begun anew; "": none */
    char *identity;    /* of this server; "": not said */
    char *version;     /* likewise */
    uint32_t messages; /* enum dnstap_messages */
};

#endif
