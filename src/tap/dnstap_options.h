/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_DNSTAP_OPTIONS_H
#define NAILUP_TAP_DNSTAP_OPTIONS_H

/* Options of dnstap: the reader and the kinds of messages. config fills them. */

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

/* The words of the options file: each ends with a NUL, and the list with another. */
#define DNSTAP_MESSAGE_WORDS                                                                       \
    "client-query\0client-response\0forwarder-query\0forwarder-response\0resolver-query\0"         \
    "resolver-response\0"

struct dnstap_options {
    char *socket;      /* the reader's; "": none */
    char *file;        /* truncated at the start; "": none */
    char *identity;    /* of this server; "": left out */
    char *version;     /* of this server; "": left out */
    uint32_t messages; /* enum dnstap_messages */
};

#endif
