/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Proves with any NSEC records about any name. The first byte chooses the zone, two are the type,
 * and then come the name and the records, each as owner, length and RDATA. No name outside of the
 * zone is proven, case plays no part, proofs cost nothing, and a zone cut needs a record of the
 * name itself.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/denial.h"
#include "validate/nsec.h"
#include "validate/type_bitmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct results {
    enum denial_result name, type, next_closer;
    enum denial_ds ds;
};

static struct results results_of(const struct denial *denial, struct name name, uint16_t type)
{
    unsigned labels = name_label_count(denial->zone);
    return (struct results){
        .name = denial_of_name(denial, name),
        .type = denial_of_type(denial, name, type),
        .next_closer = denial_of_next_closer(denial, name, labels + type % 3),
        .ds = denial_of_ds(denial, name),
    };
}

static bool results_equal(const struct results *a, const struct results *b)
{
    return a->name == b->name && a->type == b->type && a->next_closer == b->next_closer &&
           a->ds == b->ds;
}

/* Swaps the case of the name. */
static struct name swap_case(struct name name, uint8_t wire[NAME_WIRE_MAX])
{
    name_fold(name, wire);
    for (unsigned i = 0; i < name.len; i++)
        if (wire[i] == name.wire[i] && wire[i] >= 'a' && wire[i] <= 'z')
            wire[i] &= 0xdf;
    return (struct name){.wire = wire, .len = name.len};
}

/* Returns whether one of the name's records has NS without DS and SOA. */
static bool has_cut(const struct denial *denial, struct name name)
{
    for (size_t i = 0; i < denial->count; i++) {
        struct nsec nsec;
        const struct denial_record *record = &denial->at[i];
        if (nsec_read(&nsec, denial->zone, record->owner, record->rdata) &&
            name_equal(nsec.owner, name) && type_bitmap_has(nsec.types, RRTYPE_NS) &&
            !type_bitmap_has(nsec.types, RRTYPE_DS) && !type_bitmap_has(nsec.types, RRTYPE_SOA))
            return true;
    }
    return false;
}

static void check(struct denial *denial, struct name name, uint16_t type)
{
    unsigned units = 0;
    uint8_t wire[NAME_WIRE_MAX];
    denial->units_left = &units;
    struct results results = results_of(denial, name, type);
    struct results again = results_of(denial, swap_case(name, wire), type);
    MUST(results_equal(&results, &again));
    MUST(results.name <= DENIAL_PROVEN && results.type <= DENIAL_PROVEN);
    MUST(results.next_closer <= DENIAL_PROVEN);
    MUST(results.ds != DENIAL_DS_INSECURE || has_cut(denial, name));
    if (name_is_below(name, denial->zone) && denial->count)
        return;
    MUST(!results.name && !results.type && !results.next_closer && !results.ds);
}

/* Takes a name from the front of the bytes. */
static bool take_name(struct span *bytes, struct name *out)
{
    size_t after = name_view(*bytes, 0, out);
    struct span taken;
    return after && span_take(bytes, after, &taken);
}

static bool take_record(struct span *bytes, struct denial_record *out)
{
    uint8_t len;
    out->type = RRTYPE_NSEC;
    return take_name(bytes, &out->owner) && span_take_u8(bytes, &len) &&
           span_take(bytes, len, &out->rdata);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t zone_labels, *copies[DENIAL_RECORDS_MAX];
    uint16_t type;
    struct name name;
    struct span bytes = span_of(data, size);
    struct denial denial = {.count = 0};
    if (!span_take_u8(&bytes, &zone_labels) || !span_take_u16(&bytes, &type) ||
        !take_name(&bytes, &name))
        return 0;
    denial.zone = name_suffix(name, zone_labels & 0x7f);
    for (struct denial_record record;
         denial.count < DENIAL_RECORDS_MAX && take_record(&bytes, &record);) {
        /* exact size, so that a sanitizer detects overruns */
        uint8_t *copy = malloc(record.rdata.len + !record.rdata.len);
        if (!copy)
            break;
        copies[denial.count] = memcpy(copy, record.rdata.data, record.rdata.len);
        record.rdata.data = copy;
        denial.at[denial.count++] = record;
    }
    if (zone_labels & 0x80 && denial.count)
        denial.zone = denial.at[0].owner;
    check(&denial, name, type);
    for (size_t i = 0; i < denial.count; i++)
        free(copies[i]);
    return 0;
}
