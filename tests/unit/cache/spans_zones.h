/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_CACHE_SPANS_ZONES_H
#define NAILUP_TESTS_UNIT_CACHE_SPANS_ZONES_H

/* RRsets for the tests of spans, made from text. */

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "cache/spans.h"

#define SPANS_TEST_LIFE_US UINT64_C(100000000)

static inline struct name spans_name(uint8_t wire[NAME_WIRE_MAX], const char *text)
{
    struct name name;
    MUST(name_parse(&name, wire, text, strlen(text)) == ERR_OK);
    return name;
}

/* Stores an RRset with one record. This text is both its RDATA and its signature. */
static inline bool spans_put(struct spans *spans, const char *zone, enum spans_shelf shelf,
                             const char *chain, const char *owner, uint16_t type, const char *text,
                             uint64_t now)
{
    uint8_t wires[2][NAME_WIRE_MAX];
    struct span record = span_of(text, strlen(text));
    struct spans_entry entry = {.zone = spans_name(wires[0], zone),
                                .shelf = shelf,
                                .chain = span_of(chain, strlen(chain)),
                                .owner = spans_name(wires[1], owner),
                                .type = type,
                                .expires_at = now + SPANS_TEST_LIFE_US,
                                .record = &record,
                                .count = 1,
                                .signature = record};
    return spans_store(spans, &entry, now);
}

#endif
