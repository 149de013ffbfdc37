/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_QUERY_LINE_H
#define NAILUP_TAP_QUERY_LINE_H

/*
 * Writes the line of one query, as text or as a JSON object. Pure.
 *
 *   nailupd: info: query: 192.0.2.7@40000 udp www.example.com. A IN rd,do NOERROR 88 12.345ms
 *       upstream 192.0.2.53@53 tcp view=lab
 *   nailupd: info: query: 192.0.2.7@40000 udp www.example.com. A IN rd SERVFAIL 44 5.000ms failed
 *       ede=22,23 omitted=7 cause="no server of the zone example.com. answers: timeout"
 *   {"time":...,"level":"info","module":"query","client":"192.0.2.7","port":40000, ...}
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/log.h"
#include "base/tap.h"

enum {
    QUERY_LINE_MAX = 2560,     /* bytes in a line, its newline included */
    QUERY_LINE_VIEW_MAX = 63,  /* characters of a view's name */
    QUERY_LINE_CAUSE_MAX = 127 /* bytes of the text of an extended error */
};

/* A worker's record of a query. The bytes of the name follow it, then those of the view, then
 * those of the text of the first extended error. */
struct query_record {
    uint64_t asked_at, answered_at; /* us on the loop's clock */
    struct addr client;
    struct tap_source source; /* family 0: none */
    uint32_t size;            /* the size of the answer; 0: no answer */
    uint32_t omitted;         /* failures without a line since the last one */
    uint16_t type, cls, flags, rcode;
    uint16_t ede[TAP_ERRORS_MAX];
    uint8_t transport; /* enum transport */
    uint8_t origin;    /* enum tap_origin */
    uint8_t name_len;  /* the length in wire form; 0: no question */
    uint8_t view_len;  /* characters, at most QUERY_LINE_VIEW_MAX; 0: no view */
    uint8_t ede_count;
    uint8_t cause_len; /* bytes, at most QUERY_LINE_CAUSE_MAX; 0: the error has no text */
    bool dnssec_ok;
};

/* Writes the line and returns its length. name: the bytes after the record. answered_us is
 * answered_at in us since 1970. */
size_t query_line(char out[QUERY_LINE_MAX], enum log_format format,
                  const struct query_record *record, const uint8_t *name, uint64_t answered_us);

#endif
