/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Answers other names from spans of any records. The first byte chooses the zone, two are the type,
 * and then come the name and the records, each as a byte for its kind, owner, length and RDATA.
 * Each synthesised answer has a proof, and the denial code reaches the same verdict from the
 * records of that proof alone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"
#include "dns/rrtype.h"
#include "validate/denial.h"
#include "validate/synthesis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NOW = 1, RECORDS_MAX = 64 };

/* Takes a name from the front of the bytes. */
static bool take_name(struct span *bytes, struct name *out)
{
    size_t after = name_view(*bytes, 0, out);
    struct span taken;
    return after && span_take(bytes, after, &taken);
}

static bool put_record(struct spans *spans, struct name zone, struct span *bytes)
{
    static const struct {
        enum spans_shelf shelf;
        uint16_t type;
    } kinds[] = {{SPANS_NAMES, RRTYPE_NSEC},
                 {SPANS_HASHES, RRTYPE_NSEC3},
                 {SPANS_RECORDS, RRTYPE_SOA},
                 {SPANS_RECORDS, RRTYPE_A}};
    uint8_t kind, len;
    struct span rdata;
    struct spans_entry entry = {.zone = zone, .expires_at = NOW + 1, .count = 1, .record = &rdata};
    if (!span_take_u8(bytes, &kind) || !take_name(bytes, &entry.owner) ||
        !span_take_u8(bytes, &len) || !span_take(bytes, len, &rdata))
        return false;
    entry.shelf = kinds[kind % 4].shelf;
    entry.type = kinds[kind % 4].type;
    entry.signature = rdata;
    if (entry.shelf == SPANS_HASHES && rdata.len > 5 && rdata.data[4] <= rdata.len - 5)
        entry.chain = span_of(rdata.data + 5, rdata.data[4]);
    (void)spans_store(spans, &entry, NOW);
    return true;
}

static void denial_of_proof(struct denial *out, const struct synthesis *synthesis, struct name zone,
                            unsigned *units)
{
    *out = (struct denial){.zone = zone, .count = synthesis->proof_count, .units_left = units};
    for (unsigned i = 0; i < synthesis->proof_count; i++) {
        struct span records = synthesis->proof[i]->records;
        out->at[i].owner = synthesis->proof[i]->owner;
        out->at[i].type = synthesis->proof[i]->type;
        MUST(spans_next(&records, &out->at[i].rdata));
    }
}

static void check(const struct spans_zone *zone, struct name name, uint16_t type)
{
    struct synthesis synthesis;
    struct denial denial;
    unsigned units = 1000;
    enum synthesis_kind kind = synthesis_find(&synthesis, zone, name, type, NOW);
    MUST(!synthesis_find(&synthesis, zone, name, type, NOW + 1));
    if (synthesis_find(&synthesis, zone, name, type, NOW) == SYNTHESIS_NONE) {
        MUST(!kind);
        return;
    }
    MUST(kind == synthesis.kind && synthesis.proof_count > 0);
    denial_of_proof(&denial, &synthesis, spans_zone_name(zone), &units);
    if (kind == SYNTHESIS_NXDOMAIN)
        MUST(denial_of_name(&denial, name) == DENIAL_PROVEN);
    if (kind == SYNTHESIS_NODATA)
        MUST(denial_of_type(&denial, name, type) == DENIAL_PROVEN);
    if (kind == SYNTHESIS_WILDCARD) {
        unsigned labels = name_label_count(synthesis.data->owner) - 1;
        MUST(synthesis.data->type == type);
        MUST(denial_of_next_closer(&denial, name, labels) == DENIAL_PROVEN);
    } else {
        MUST(synthesis.soa && name_equal(synthesis.soa->owner, spans_zone_name(zone)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct spans *spans;
    uint8_t zone_labels, wire[NAME_WIRE_MAX];
    uint16_t type;
    struct name name;
    struct span bytes = span_of(data, size);
    if (!spans) {
        cache_thread_begin();
        spans = spans_new(SPANS_BYTES_MAX);
        MUST(spans);
    }
    if (!span_take_u8(&bytes, &zone_labels) || !span_take_u16(&bytes, &type) ||
        !take_name(&bytes, &name))
        return 0;
    name = name_fold(name, wire);
    struct name zone = name_suffix(name, zone_labels & 0x7f);
    for (unsigned i = 0; i < RECORDS_MAX && put_record(spans, zone, &bytes); i++)
        ;
    cache_read_begin();
    const struct spans_zone *found = spans_zone_above(spans, 0, name);
    if (found)
        check(found, name, type);
    cache_read_end();
    spans_forget(spans, name_root());
    return 0;
}
