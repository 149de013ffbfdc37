/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_TRANSFER_ZONE_SAMPLE_H
#define NAILUP_TESTS_TRANSFER_ZONE_SAMPLE_H

/* Small versions of zones, which several tests of transfer use. */

#include "unit/dns/sample.h"

#include "dns/rrtype.h"
#include "zone/zone_builder.h"
#include "zone/zone_data.h"

enum { ZONE_SAMPLE_BYTES = 1 << 24 };

/* Makes a version of this zone with this many addresses below it. */
static inline struct zone_data *zone_sample(struct name zone, uint32_t serial, unsigned addresses)
{
    uint8_t soa[22] = {0}, owner[NAME_WIRE_MAX];
    struct zone_data *version;
    struct zone_builder *builder = zone_builder_new(zone, ZONE_SAMPLE_BYTES);
    put_u32(soa + 2, serial);
    put_u32(soa + 6, 3600);
    put_u32(soa + 10, 600);
    put_u32(soa + 14, 86400);
    assert_int_equal(zone_builder_add(builder, zone, RRTYPE_SOA, 3600, span_of(soa, 22)), ERR_OK);
    for (unsigned i = 0; i < addresses; i++) {
        uint8_t address[4];
        put_u32(address, i);
        owner[0] = 4;
        put_u32(owner + 1, i);
        memcpy(owner + 5, zone.wire, zone.len);
        struct name name = {owner, (uint8_t)(5 + zone.len)};
        assert_int_equal(zone_builder_add(builder, name, RRTYPE_A, 300 + i, span_of(address, 4)),
                         ERR_OK);
    }
    assert_int_equal(zone_builder_finish(&builder, &version), ERR_OK);
    return version;
}

static inline void assert_same_zone(const struct zone_data *a, const struct zone_data *b)
{
    struct zone_iter left, right;
    struct zone_record one, other;
    zone_iter_init(&left, a);
    zone_iter_init(&right, b);
    while (zone_iter_next(&left, &one)) {
        assert_true(zone_iter_next(&right, &other));
        assert_true(name_equal_exact(one.owner, other.owner));
        assert_int_equal(one.type, other.type);
        assert_int_equal(one.ttl, other.ttl);
        assert_true(span_equal(one.rdata, other.rdata));
    }
    assert_false(zone_iter_next(&right, &other));
}

#endif
