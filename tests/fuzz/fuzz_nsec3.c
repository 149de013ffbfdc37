/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Proves with any NSEC3 records about any name. Six bytes choose the zone, type, units, iterations
 * and salt. Then come the name and a program of records. A record is raw bytes, or it matches or
 * covers an ancestor of the name or a wildcard, since no fuzzer finds a hash. The units never grow,
 * each proof has a price, opt-out and iterations come from the records, and case plays no part.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/denial.h"
#include "validate/nsec3.h"
#include "validate/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD_MAX = 1024 };

enum { RECORD_RAW, RECORD_MATCH, RECORD_COVER, RECORD_KINDS, RECORD_WILDCARD = 0x80 };

struct setting {
    struct denial denial;
    struct name name;
    uint16_t type, iterations;
    struct span salt;
    unsigned units;
    bool has_opt_out, has_many_iterations; /* whether a readable record has these properties */
    uint8_t owner[DENIAL_RECORDS_MAX][NAME_WIRE_MAX];
    uint8_t rdata[DENIAL_RECORDS_MAX][RECORD_MAX];
};

static struct setting setting;

struct results {
    enum denial_result name, type, next_closer;
    enum denial_ds ds;
};

/* Asks all questions with these units. *left is how many remain. */
static struct results results_of(struct name name, unsigned units, unsigned *left)
{
    struct denial *denial = &setting.denial;
    denial->units_left = left;
    *left = units;
    struct results results = {.name = denial_of_name(denial, name)};
    MUST(*left <= units && (results.name != DENIAL_PROVEN || *left < units));
    units = *left;
    results.type = denial_of_type(denial, name, setting.type);
    MUST(*left <= units && (results.type != DENIAL_PROVEN || *left < units));
    units = *left;
    results.next_closer =
        denial_of_next_closer(denial, name, name_label_count(denial->zone) + setting.type % 3);
    MUST(*left <= units && (results.next_closer != DENIAL_PROVEN || *left < units));
    units = *left;
    results.ds = denial_of_ds(denial, name);
    MUST(*left <= units && (results.ds != DENIAL_DS_INSECURE || *left < units));
    return results;
}

static void check(void)
{
    uint8_t wire[NAME_WIRE_MAX];
    unsigned left, left_again;
    struct results results = results_of(setting.name, setting.units, &left);
    struct results again = results_of(name_fold(setting.name, wire), setting.units, &left_again);
    MUST(!memcmp(&results, &again, sizeof(results)) && left == left_again);
    if (!setting.has_opt_out)
        MUST(results.name != DENIAL_OPT_OUT && results.type != DENIAL_OPT_OUT &&
             results.next_closer != DENIAL_OPT_OUT);
    if (!setting.has_many_iterations)
        MUST(results.name != DENIAL_ITERATIONS && results.type != DENIAL_ITERATIONS &&
             results.next_closer != DENIAL_ITERATIONS && results.ds != DENIAL_DS_ITERATIONS);
    if (!name_is_below(setting.name, setting.denial.zone) || !setting.denial.count)
        MUST(!results.name && !results.type && !results.next_closer && !results.ds);
}

/* ---- records ---- */

static void owner_write(struct denial_record *record, uint8_t *wire,
                        const uint8_t hash[VERIFY_NSEC3_HASH])
{
    struct name zone = setting.denial.zone;
    wire[0] = 32;
    for (unsigned bit = 0; bit < 160; bit += 5) {
        unsigned pair = (unsigned)hash[bit / 8] << 8 | (bit < 152 ? hash[bit / 8 + 1] : 0);
        wire[1 + bit / 5] =
            (uint8_t) "0123456789abcdefghijklmnopqrstuv"[pair >> (11 - bit % 8) & 31];
    }
    memcpy(wire + 33, zone.wire, zone.len);
    record->owner = (struct name){.wire = wire, .len = (uint8_t)(33 + zone.len)};
}

/* Adds 1 to the hash, or subtracts 1. */
static void hash_move(uint8_t hash[VERIFY_NSEC3_HASH], bool up)
{
    for (unsigned i = VERIFY_NSEC3_HASH; i-- > 0;) {
        hash[i] = (uint8_t)(hash[i] + (up ? 1 : -1));
        if (hash[i] != (up ? 0 : 0xff))
            return;
    }
}

/* Hashes an ancestor of the name, or the wildcard below it. */
static bool hash_ancestor(uint8_t hash[VERIFY_NSEC3_HASH], unsigned labels, bool is_wildcard)
{
    uint8_t wire[NAME_WIRE_MAX + 2] = {1, '*'};
    struct name name = name_suffix(setting.name, labels);
    name_fold(name, wire + 2);
    struct span bytes =
        is_wildcard ? span_of(wire, (size_t)name.len + 2) : span_of(wire + 2, name.len);
    return bytes.len <= NAME_WIRE_MAX &&
           verify_nsec3_hash(hash, bytes, setting.salt, setting.iterations);
}

static bool write_made(struct denial_record *record, uint8_t kind, struct span *bytes)
{
    uint8_t labels, flags, len, hash[VERIFY_NSEC3_HASH];
    uint8_t *rdata = setting.rdata[setting.denial.count], *at = rdata;
    struct span bitmap;
    if (!span_take_u8(bytes, &labels) || !span_take_u8(bytes, &flags) ||
        !span_take_u8(bytes, &len) || !span_take(bytes, len, &bitmap) ||
        setting.denial.zone.len > NAME_WIRE_MAX - 33 ||
        !hash_ancestor(hash, labels, kind & RECORD_WILDCARD))
        return false;
    if (kind % RECORD_WILDCARD % RECORD_KINDS == RECORD_COVER)
        hash_move(hash, false);
    owner_write(record, setting.owner[setting.denial.count], hash);
    hash_move(hash, true);
    hash_move(hash, true);
    *at++ = 1;
    *at++ = flags;
    put_u16(at, setting.iterations);
    at += 2;
    *at++ = (uint8_t)setting.salt.len;
    memcpy(at, setting.salt.data, setting.salt.len);
    at += setting.salt.len;
    *at++ = VERIFY_NSEC3_HASH;
    memcpy(at, hash, VERIFY_NSEC3_HASH);
    at += VERIFY_NSEC3_HASH;
    memcpy(at, bitmap.data, bitmap.len);
    record->rdata = span_of(rdata, (size_t)(at - rdata) + bitmap.len);
    return true;
}

static bool write_raw(struct denial_record *record, struct span *bytes)
{
    uint8_t len;
    struct span taken;
    size_t after = name_view(*bytes, 0, &record->owner);
    return after && span_take(bytes, after, &taken) && span_take_u8(bytes, &len) &&
           span_take(bytes, len, &record->rdata);
}

static bool take_record(struct span *bytes)
{
    uint8_t kind;
    struct nsec3 nsec3;
    struct denial_record record = {.type = RRTYPE_NSEC3};
    if (!span_take_u8(bytes, &kind))
        return false;
    bool is_raw = kind % RECORD_WILDCARD % RECORD_KINDS == RECORD_RAW;
    if (!(is_raw ? write_raw(&record, bytes) : write_made(&record, kind, bytes)))
        return false;
    /* exact size, so that a sanitizer detects overruns */
    uint8_t *copy = malloc(record.rdata.len + !record.rdata.len);
    if (!copy)
        return false;
    record.rdata.data = memcpy(copy, record.rdata.data, record.rdata.len);
    if (nsec3_read(&nsec3, setting.denial.zone, record.owner, record.rdata)) {
        setting.has_opt_out |= nsec3.has_opt_out;
        setting.has_many_iterations |= nsec3.iterations > DENIAL_ITERATIONS_MAX;
    }
    setting.denial.at[setting.denial.count++] = record;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span bytes = span_of(data, size), name;
    uint8_t zone_labels, units, iterations, salt_len;
    memset(&setting, 0, offsetof(struct setting, owner));
    if (!span_take_u8(&bytes, &zone_labels) || !span_take_u16(&bytes, &setting.type) ||
        !span_take_u8(&bytes, &units) || !span_take_u8(&bytes, &iterations) ||
        !span_take_u8(&bytes, &salt_len) || !span_take(&bytes, salt_len, &setting.salt))
        return 0;
    size_t after = name_view(bytes, 0, &setting.name);
    if (!after || !span_take(&bytes, after, &name))
        return 0;
    setting.units = units;
    setting.iterations = iterations;
    setting.denial.zone = name_suffix(setting.name, zone_labels & 0x7f);
    while (setting.denial.count < DENIAL_RECORDS_MAX && take_record(&bytes)) {
    }
    check();
    for (size_t i = 0; i < setting.denial.count; i++)
        free((void *)(uintptr_t)setting.denial.at[i].rdata.data);
    return 0;
}
