/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_ZONE_MAKE_H
#define NAILUP_TESTS_ZONE_MAKE_H

/* Makes zones from text, for tests. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "dns/name.h"
#include "dns/rrtype.h"
#include "zone/zone_builder.h"
#include "zone/zone_data.h"
#include "zone/zone_file.h"

enum { ZONE_MAKE_BYTES = 1 << 20 };

/* Parses a name into static storage, where the last eight names stay valid. */
static inline struct name zone_make_name(const char *text)
{
    static uint8_t wires[8][NAME_WIRE_MAX];
    static unsigned next;
    struct name name;
    assert_int_equal(name_parse(&name, wires[next++ % 8], text, strlen(text)), ERR_OK);
    return name;
}

/* Makes a zone from its text, which must be sound. */
static inline struct zone_data *zone_make(const char *origin, const char *text)
{
    struct zone_builder *builder = zone_builder_new(zone_make_name(origin), ZONE_MAKE_BYTES);
    struct zone_file_fault fault;
    struct zone_data *data;
    assert_non_null(builder);
    if (zone_file_read(builder, span_of(text, strlen(text)), &fault) != ERR_OK)
        fail_msg("line %zu: %.*s: %s", fault.line, (int)fault.word.len,
                 (const char *)fault.word.data, fault.sentence);
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_OK);
    return data;
}

#endif
