/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Signs zones. They have a few records each, so every step searches all of them. */
#include "scenario/zone_sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "scenario/script.h"
#include "scenario/zone_key.h"
#include "support/fake_loop.h"
#include "validate/verify.h"

enum {
    NAMES_MAX = 128,
    RECORDS_MAX = 128,
    SET_BYTES_MAX = 16384,
    YEAR_S = 31536000,
};

/* ---- words ---- */

static const struct {
    const char *word;
    enum zone_fault_kind kind;
} fault_words[] = {
    {"wrong", FAULT_SIG_WRONG},     {"expired", FAULT_SIG_EXPIRED}, {"early", FAULT_SIG_EARLY},
    {"missing", FAULT_SIG_MISSING}, {"foreign", FAULT_SIG_FOREIGN}, {"labels", FAULT_SIG_LABELS},
    {"short", FAULT_SIG_SHORT},     {"above", FAULT_SIG_ABOVE},
};

/* Reads "wrong" or "wrong=AAAA". */
static bool fault_word(struct zone_signing *signing, const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(fault_words); i++) {
        const char *value = reader_value(word, fault_words[i].word);
        uint16_t type = 0;
        if (!value && strcmp(word, fault_words[i].word) != 0)
            continue;
        if (signing->fault_count == ZONE_FAULTS_MAX ||
            (value && rrtype_parse(&type, value) != ERR_OK))
            return false;
        signing->fault[signing->fault_count++] =
            (struct zone_fault){.kind = fault_words[i].kind, .type = type};
        return true;
    }
    return false;
}

bool zone_sign_word(struct zone_signing *signing, const char *word)
{
    const char *value = reader_value(word, "iterations");
    if (strcmp(word, "signed") == 0)
        signing->key_flags = signing->key_flags ? signing->key_flags : 257;
    else if (strcmp(word, "nsec3") == 0)
        signing->has_nsec3 = true;
    else if (strcmp(word, "opt_out") == 0)
        signing->has_nsec3 = signing->has_opt_out = true;
    else if (strcmp(word, "no_ds") == 0)
        signing->lacks_ds = true;
    else if (strcmp(word, "bad_ds") == 0)
        signing->has_bad_ds = true;
    else if (strcmp(word, "no_proofs") == 0)
        signing->lacks_proofs = true;
    else if (strcmp(word, "narrow") == 0)
        signing->is_narrow = true;
    else if (strcmp(word, "no_keys") == 0)
        signing->lacks_keys = true;
    else if (value)
        signing->iterations = (uint16_t)atoi(value);
    else if ((value = reader_value(word, "ds_algorithm")))
        signing->ds_algorithm = (uint8_t)atoi(value);
    else if ((value = reader_value(word, "ds_digest")))
        signing->ds_digest = (uint8_t)atoi(value);
    else if ((value = reader_value(word, "key_ttl")))
        signing->key_ttl_s = (uint32_t)atoi(value);
    else if ((value = reader_value(word, "key_flags")))
        signing->key_flags = (uint16_t)atoi(value);
    else if ((value = reader_value(word, "algorithm")) && zone_key_has((unsigned)atoi(value)))
        signing->algorithm = (uint8_t)atoi(value);
    else
        return fault_word(signing, word);
    signing->is_signed = true;
    return true;
}

/* ---- records of zones ---- */

static struct zone_key key_of(struct name zone, const struct zone_signing *signing, bool is_other)
{
    return (struct zone_key){.zone = zone,
                             .algorithm =
                                 signing->algorithm ? signing->algorithm : ZONE_KEY_ED25519,
                             .salt = is_other};
}

static size_t ds_rdata(struct name zone, const struct zone_signing *signing, uint8_t *out)
{
    uint8_t key[ZONE_KEY_RDATA_MAX], true_digest = signing->ds_digest ? signing->ds_digest : 2;
    size_t len =
        zone_key_rdata(key_of(zone, signing, signing->has_bad_ds), signing->key_flags, key);
    put_u16(out, zone_key_tag(span_of(key, len)));
    out[2] = signing->ds_algorithm ? signing->ds_algorithm : key[3];
    out[3] = true_digest;
    size_t digest_len = verify_digest(true_digest == 4   ? 4
                                      : true_digest == 1 ? 1
                                                         : 2,
                                      span_of(zone.wire, zone.len), span_of(key, len), out + 4);
    return 4 + digest_len;
}

static void add_record(struct script *script, struct script_zone *zone, struct name owner,
                       uint16_t type, uint32_t ttl, struct span rdata)
{
    uint8_t bytes[NAME_WIRE_MAX + ZONE_FIXED_LEN + 512];
    struct zone_record *record = arena_take(&script->arena, sizeof(*record));
    MUST(record && rdata.len <= 512);
    memcpy(bytes, owner.wire, owner.len);
    put_u16(bytes + owner.len, type);
    put_u16(bytes + owner.len + 2, RRCLASS_IN);
    put_u32(bytes + owner.len + 4, ttl);
    put_u16(bytes + owner.len + 8, (uint16_t)rdata.len);
    memcpy(bytes + owner.len + ZONE_FIXED_LEN, rdata.data, rdata.len);
    size_t len = owner.len + ZONE_FIXED_LEN + rdata.len;
    const uint8_t *copy = arena_copy(&script->arena, bytes, len);
    *record = (struct zone_record){.next = zone->records,
                                   .owner = {copy, owner.len},
                                   .type = type,
                                   .rest = span_of(copy + owner.len, len - owner.len)};
    zone->records = record;
}

static bool has_record(const struct script_zone *zone, struct name owner, uint16_t type)
{
    for (const struct zone_record *record = zone->records; record; record = record->next)
        if (record->type == type && name_equal(record->owner, owner))
            return true;
    return false;
}

static void link_zone(struct script *script, struct script_zone *zone)
{
    uint8_t rdata[512];
    if (!zone->signing.lacks_keys) {
        size_t len = zone_key_rdata(key_of(zone->apex, &zone->signing, false),
                                    zone->signing.key_flags, rdata);
        uint32_t ttl_s = zone->signing.key_ttl_s ? zone->signing.key_ttl_s : 3600;
        add_record(script, zone, zone->apex, RRTYPE_DNSKEY, ttl_s, span_of(rdata, len));
    }
    if (zone->signing.lacks_ds)
        return;
    size_t len = ds_rdata(zone->apex, &zone->signing, rdata);
    for (struct script_zone *above = script->zones; above; above = above->next)
        if (above->apex.len < zone->apex.len && name_is_below(zone->apex, above->apex) &&
            has_record(above, zone->apex, RRTYPE_NS) && !has_record(above, zone->apex, RRTYPE_DS))
            add_record(script, above, zone->apex, RRTYPE_DS, 3600, span_of(rdata, len));
}

void zone_sign_link(struct script *script)
{
    for (struct script_zone *zone = script->zones; zone; zone = zone->next)
        if (zone->signing.is_signed)
            link_zone(script, zone);
}

/* ---- the names of a zone ---- */

/* Returns whether the name is below a zone cut, and not at it. */
static bool is_below_cut(const struct script_zone *zone, struct name name)
{
    for (const struct zone_record *record = zone->records; record; record = record->next)
        if (record->type == RRTYPE_NS && record->owner.len > zone->apex.len &&
            name.len > record->owner.len && name_is_below(name, record->owner))
            return true;
    return false;
}

static bool is_cut(const struct script_zone *zone, struct name name)
{
    return name.len > zone->apex.len && has_record(zone, name, RRTYPE_NS);
}

struct names {
    unsigned count;
    struct name at[NAMES_MAX];
};

static void names_add(struct names *names, struct name name)
{
    for (unsigned i = 0; i < names->count; i++)
        if (name_equal(names->at[i], name))
            return;
    MUST(names->count < NAMES_MAX);
    names->at[names->count++] = name;
}

static int by_name(const void *a, const void *b)
{
    return name_compare(*(const struct name *)a, *(const struct name *)b);
}

/* Lists the owners in canonical order, for NSEC3 with the empty non-terminals. */
static void names_of(const struct script_zone *zone, struct names *out)
{
    out->count = 0;
    for (const struct zone_record *record = zone->records; record; record = record->next) {
        struct name name = record->owner;
        if (is_below_cut(zone, name) || !name_is_below(name, zone->apex))
            continue;
        if (zone->signing.has_opt_out && is_cut(zone, name) && !has_record(zone, name, RRTYPE_DS))
            continue;
        names_add(out, name);
        for (; zone->signing.has_nsec3 && name.len > zone->apex.len; name = name_parent(name))
            names_add(out, name);
    }
    qsort(out->at, out->count, sizeof(out->at[0]), by_name);
}

static bool exists(const struct script_zone *zone, struct name name)
{
    for (const struct zone_record *record = zone->records; record; record = record->next)
        if (name_is_below(record->owner, name))
            return true;
    return false;
}

static bool has_records(const struct script_zone *zone, struct name name)
{
    for (const struct zone_record *record = zone->records; record; record = record->next)
        if (name_equal(record->owner, name))
            return true;
    return false;
}

static struct name encloser_of(const struct script_zone *zone, struct name name)
{
    while (!exists(zone, name) && name.len > zone->apex.len)
        name = name_parent(name);
    return name;
}

static struct name wildcard_of(struct name encloser, uint8_t wire[NAME_WIRE_MAX])
{
    memcpy(wire, "\1*", 2);
    memcpy(wire + 2, encloser.wire, encloser.len);
    return (struct name){wire, (uint8_t)(encloser.len + 2)};
}

/* ---- an answer in the making ---- */

struct signer {
    const struct script_zone *zone;
    struct compose_message *message;
    unsigned labels; /* the labels field of all signatures, or ZONE_OWN_LABELS */
    bool is_literal; /* owners are taken literally, because the zone's records are unknown */
    struct names names;
    uint8_t hashes[NAMES_MAX][VERIFY_NSEC3_HASH]; /* the hashes of the names, in their order */
    struct name hashed[NAMES_MAX];
};

static void put(struct signer *work, enum section section, struct name owner, uint16_t type,
                uint32_t ttl, struct span rdata)
{
    uint8_t fixed[ZONE_FIXED_LEN];
    struct buf *out = &work->message->sections[section];
    put_u16(fixed, type);
    put_u16(fixed + 2, RRCLASS_IN);
    put_u32(fixed + 4, ttl);
    put_u16(fixed + 8, (uint16_t)rdata.len);
    MUST(buf_append(out, owner.wire, owner.len) == ERR_OK &&
         buf_append(out, fixed, sizeof(fixed)) == ERR_OK &&
         buf_append(out, rdata.data, rdata.len) == ERR_OK);
    work->message->counts[section]++;
}

/* A record of a section. Borrows the section's bytes. */
struct record {
    struct name owner;
    uint16_t type;
    uint32_t ttl;
    struct span rdata;
};

static unsigned records_of(const struct compose_message *message, enum section section,
                           struct record out[RECORDS_MAX])
{
    struct span bytes = buf_span(&message->sections[section]);
    unsigned count = 0;
    for (size_t at = 0; at < bytes.len; count++) {
        MUST(count < RECORDS_MAX);
        size_t fixed = name_view(bytes, at, &out[count].owner);
        MUST(fixed);
        out[count].type = get_u16(bytes.data + fixed);
        out[count].ttl = get_u32(bytes.data + fixed + 4);
        out[count].rdata =
            span_of(bytes.data + fixed + ZONE_FIXED_LEN, get_u16(bytes.data + fixed + 8));
        at = fixed + ZONE_FIXED_LEN + out[count].rdata.len;
    }
    return count;
}

/* ---- proofs ---- */

static size_t put_bitmap(const struct signer *work, struct name name, uint8_t *out)
{
    const struct script_zone *zone = work->zone;
    uint8_t windows[256][33];
    size_t len = 0;
    bool cut = is_cut(zone, name);
    memset(windows, 0, sizeof(windows));
    bool is_signed = !cut || has_record(zone, name, RRTYPE_DS) || !zone->signing.has_nsec3;
    for (const struct zone_record *record = zone->records; record; record = record->next)
        if (name_equal(record->owner, name) &&
            (!cut || record->type == RRTYPE_NS || record->type == RRTYPE_DS))
            windows[record->type >> 8][record->type >> 3 & 31] |=
                (uint8_t)(0x80 >> (record->type & 7));
    if (is_signed && has_records(zone, name))
        windows[0][RRTYPE_RRSIG >> 3] |= 0x80 >> (RRTYPE_RRSIG & 7);
    if (!zone->signing.has_nsec3)
        windows[0][RRTYPE_NSEC >> 3] |= 0x80 >> (RRTYPE_NSEC & 7);
    for (unsigned i = 0; i < 256; i++) {
        unsigned last = 32;
        while (last && !windows[i][last - 1])
            last--;
        if (!last)
            continue;
        out[len++] = (uint8_t)i;
        out[len++] = (uint8_t)last;
        memcpy(out + len, windows[i], last);
        len += last;
    }
    return len;
}

/* Writes the NSEC record of the owner with this number. */
static void put_nsec(struct signer *work, unsigned at)
{
    uint8_t rdata[NAME_WIRE_MAX + 1024];
    struct name next = work->names.at[(at + 1) % work->names.count];
    memcpy(rdata, next.wire, next.len);
    size_t len = next.len + put_bitmap(work, work->names.at[at], rdata + next.len);
    put(work, SECTION_AUTHORITY, work->names.at[at], RRTYPE_NSEC, 300, span_of(rdata, len));
}

/* Writes an NSEC record from the name without its last letter to the name with one more letter. For
 * a wildcard it begins at the apex. */
static void put_narrow_nsec(struct signer *work, struct name name)
{
    static const uint8_t made_up[] = {0, 6, 0, 0, 0, 0, 0, 3}; /* the types RRSIG and NSEC */
    uint8_t rdata[NAME_WIRE_MAX + 1024], wire[NAME_WIRE_MAX], letters = name.wire[0];
    bool is_wildcard = letters == 1 && name.wire[1] == '*';
    struct name owner = work->zone->apex;
    size_t rest = name.len - 1u - letters, next_len = name.len + !is_wildcard;
    MUST(next_len <= NAME_WIRE_MAX && (is_wildcard || letters > 1));
    memcpy(rdata, name.wire, 1u + letters);
    rdata[0] = (uint8_t)(letters + !is_wildcard);
    rdata[is_wildcard ? 1 : 1 + letters] = is_wildcard ? '+' : '-';
    memcpy(rdata + next_len - rest, name.wire + 1 + letters, rest);
    if (!is_wildcard) {
        memcpy(wire, name.wire, letters);
        wire[0] = (uint8_t)(letters - 1);
        memcpy(wire + letters, name.wire + 1 + letters, rest);
        owner = (struct name){wire, (uint8_t)(letters + rest)};
        memcpy(rdata + next_len, made_up, sizeof(made_up));
    }
    size_t types = is_wildcard ? put_bitmap(work, owner, rdata + next_len) : sizeof(made_up);
    put(work, SECTION_AUTHORITY, owner, RRTYPE_NSEC, 300, span_of(rdata, next_len + types));
}

static size_t base32hex(const uint8_t *from, char *out)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    for (unsigned i = 0; i < 32; i++) {
        unsigned bit = i * 5, byte = bit / 8;
        unsigned pair =
            (unsigned)from[byte] << 8 | (byte + 1 < VERIFY_NSEC3_HASH ? from[byte + 1] : 0);
        out[i] = digits[pair >> (11 - bit % 8) & 31];
    }
    return 32;
}

static void hash_name(const struct signer *work, struct name name, uint8_t out[VERIFY_NSEC3_HASH])
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name folded = name_fold(name, wire);
    verify_nsec3_hash(out, span_of(folded.wire, folded.len), span_of(NULL, 0),
                      work->zone->signing.iterations);
}

static void sort_hashes(struct signer *work)
{
    for (unsigned i = 0; i < work->names.count; i++) {
        uint8_t hash[VERIFY_NSEC3_HASH];
        unsigned at = i;
        hash_name(work, work->names.at[i], hash);
        for (; at && memcmp(work->hashes[at - 1], hash, sizeof(hash)) > 0; at--) {
            memcpy(work->hashes[at], work->hashes[at - 1], sizeof(hash));
            work->hashed[at] = work->hashed[at - 1];
        }
        memcpy(work->hashes[at], hash, sizeof(hash));
        work->hashed[at] = work->names.at[i];
    }
}

static void put_nsec3(struct signer *work, unsigned at)
{
    uint8_t rdata[1024], owner_wire[NAME_WIRE_MAX] = {32};
    struct name apex = work->zone->apex;
    base32hex(work->hashes[at], (char *)owner_wire + 1);
    memcpy(owner_wire + 33, apex.wire, apex.len);
    rdata[0] = 1;
    rdata[1] = work->zone->signing.has_opt_out;
    put_u16(rdata + 2, work->zone->signing.iterations);
    rdata[4] = 0;
    rdata[5] = VERIFY_NSEC3_HASH;
    memcpy(rdata + 6, work->hashes[(at + 1) % work->names.count], VERIFY_NSEC3_HASH);
    size_t len = 6 + VERIFY_NSEC3_HASH;
    len += put_bitmap(work, work->hashed[at], rdata + len);
    put(work, SECTION_AUTHORITY, (struct name){owner_wire, (uint8_t)(33 + apex.len)}, RRTYPE_NSEC3,
        300, span_of(rdata, len));
}

static bool is_put(const struct signer *work, struct name owner, uint16_t type)
{
    struct record records[RECORDS_MAX];
    unsigned count = records_of(work->message, SECTION_AUTHORITY, records);
    for (unsigned i = 0; i < count; i++)
        if (records[i].type == type && name_equal(records[i].owner, owner))
            return true;
    return false;
}

/* Collects the names of the zone for its proofs. Many answers need none, so this happens on demand,
 * once per answer. */
static void learn_names(struct signer *work)
{
    if (work->names.count)
        return;
    names_of(work->zone, &work->names);
    if (work->zone->signing.has_nsec3)
        sort_hashes(work);
}

/* Writes the record that matches the name. If none matches, writes the one that covers it. */
static void put_proof(struct signer *work, struct name name)
{
    if (work->zone->signing.is_narrow && !exists(work->zone, name)) {
        put_narrow_nsec(work, name);
        return;
    }
    learn_names(work);
    unsigned at = 0, count = work->names.count;
    if (!work->zone->signing.has_nsec3) {
        while (at + 1 < count && name_compare(work->names.at[at + 1], name) <= 0)
            at++;
        if (!is_put(work, work->names.at[at], RRTYPE_NSEC))
            put_nsec(work, at);
        return;
    }
    uint8_t hash[VERIFY_NSEC3_HASH], wire[NAME_WIRE_MAX] = {32};
    hash_name(work, name, hash);
    at = count - 1; /* the last record covers the hashes before the first one */
    for (unsigned i = 0; i < count && memcmp(work->hashes[i], hash, sizeof(hash)) <= 0; i++)
        at = i;
    base32hex(work->hashes[at], (char *)wire + 1);
    memcpy(wire + 33, work->zone->apex.wire, work->zone->apex.len);
    if (!is_put(work, (struct name){wire, (uint8_t)(33 + work->zone->apex.len)}, RRTYPE_NSEC3))
        put_nsec3(work, at);
}

/* Returns the ancestor of the name that is one label below the encloser. */
static struct name next_closer(struct name name, struct name encloser)
{
    return name_suffix(name, name_label_count(encloser) + 1);
}

/* Proves a name that is not in the chain. An empty non-terminal has an NSEC3 record, but no NSEC
 * record. */
static void put_closest(struct signer *work, struct name name)
{
    struct name encloser = encloser_of(work->zone, name);
    if (work->zone->signing.has_nsec3)
        put_proof(work, encloser);
    if (encloser.len < name.len)
        put_proof(work, work->zone->signing.has_nsec3 ? next_closer(name, encloser) : name);
}

static void prove_absence(struct signer *work, struct name name)
{
    uint8_t wire[NAME_WIRE_MAX];
    if (exists(work->zone, name)) {
        /* With opt-out, an insecure cut has no NSEC3 record. */
        bool is_out = work->zone->signing.has_opt_out && is_cut(work->zone, name) &&
                      !has_record(work->zone, name, RRTYPE_DS);
        if (is_out)
            put_proof(work, name_parent(name));
        put_proof(work, name);
        return;
    }
    put_closest(work, name);
    put_proof(work, wildcard_of(encloser_of(work->zone, name), wire));
}

/* ---- signatures ---- */

static const struct zone_fault *fault_of(const struct signer *work, enum zone_fault_kind kind,
                                         uint16_t type)
{
    const struct zone_signing *signing = &work->zone->signing;
    for (unsigned i = 0; i < signing->fault_count; i++)
        if (signing->fault[i].kind == kind &&
            (signing->fault[i].type ? signing->fault[i].type == type : type != RRTYPE_DNSKEY))
            return &signing->fault[i];
    return NULL;
}

/* Returns whether the type is a proof, whose owner may have no other records. */
static bool is_proof(const struct signer *work, uint16_t type)
{
    return type == RRTYPE_NSEC3 || (type == RRTYPE_NSEC && work->zone->signing.is_narrow);
}

/* Returns whether a wildcard of the zone was expanded to the owner. */
static bool is_expanded(const struct signer *work, struct name owner)
{
    return !work->is_literal && !has_records(work->zone, owner);
}

static bool is_made_by_dname(const struct signer *work, const struct record *record)
{
    if (record->type != RRTYPE_CNAME)
        return false;
    for (unsigned i = name_label_count(work->zone->apex); i < name_label_count(record->owner); i++)
        if (has_record(work->zone, name_suffix(record->owner, i), RRTYPE_DNAME))
            return true;
    return false;
}

static size_t sig_head(const struct signer *work, const struct record *record, uint8_t *out)
{
    uint32_t now_s = SCENARIO_WALL_S;
    uint32_t from = now_s - YEAR_S, until = now_s + YEAR_S;
    struct name owner = record->owner, signer = work->zone->apex;
    uint8_t key[ZONE_KEY_RDATA_MAX];
    bool is_foreign = fault_of(work, FAULT_SIG_FOREIGN, record->type);
    unsigned labels =
        name_label_count(owner) - (owner.len > 2 && owner.wire[1] == '*' && owner.wire[0] == 1);
    if (!is_proof(work, record->type) && is_expanded(work, owner))
        labels = name_label_count(encloser_of(work->zone, owner));
    if (work->labels != ZONE_OWN_LABELS)
        labels = work->labels;
    if (fault_of(work, FAULT_SIG_EXPIRED, record->type))
        until = now_s - 30 * 86400;
    if (fault_of(work, FAULT_SIG_SHORT, record->type))
        until = now_s + 60;
    if (fault_of(work, FAULT_SIG_EARLY, record->type))
        from = now_s + 180 * 86400;
    if (fault_of(work, FAULT_SIG_ABOVE, record->type))
        signer = name_parent(signer);
    size_t len = zone_key_rdata(key_of(work->zone->apex, &work->zone->signing, is_foreign),
                                work->zone->signing.key_flags, key);
    put_u16(out, record->type);
    out[2] = key[3];
    out[3] = (uint8_t)(labels + (fault_of(work, FAULT_SIG_LABELS, record->type) != NULL));
    put_u32(out + 4, record->ttl);
    put_u32(out + 8, until);
    put_u32(out + 12, from);
    put_u16(out + 16, zone_key_tag(span_of(key, len)));
    memcpy(out + 18, signer.wire, signer.len);
    return 18u + signer.len;
}

static int by_rdata(const void *a, const void *b)
{
    const struct span *x = &((const struct record *)a)->rdata,
                      *y = &((const struct record *)b)->rdata;
    int order = memcmp(x->data, y->data, MIN(x->len, y->len));
    return order ? order : x->len < y->len ? -1 : x->len > y->len;
}

/* Appends the records of the set in canonical form. Scenarios write names in lower case. */
static size_t signed_bytes(const struct signer *work, struct record *set, unsigned count,
                           uint8_t *out)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name owner = set[0].owner;
    size_t len = 0;
    if (!is_proof(work, set[0].type) && is_expanded(work, owner))
        owner = wildcard_of(encloser_of(work->zone, owner), wire);
    else if (work->labels < name_label_count(owner))
        owner = wildcard_of(name_suffix(owner, work->labels), wire);
    qsort(set, count, sizeof(set[0]), by_rdata);
    for (unsigned i = 0; i < count; i++) {
        MUST(len + owner.len + ZONE_FIXED_LEN + set[i].rdata.len < SET_BYTES_MAX);
        uint8_t fold[NAME_WIRE_MAX];
        struct name lower = name_fold(owner, fold);
        memcpy(out + len, lower.wire, lower.len);
        len += lower.len;
        put_u16(out + len, set[i].type);
        put_u16(out + len + 2, RRCLASS_IN);
        put_u32(out + len + 4, set[0].ttl);
        put_u16(out + len + 8, (uint16_t)set[i].rdata.len);
        memcpy(out + len + ZONE_FIXED_LEN, set[i].rdata.data, set[i].rdata.len);
        len += ZONE_FIXED_LEN + set[i].rdata.len;
    }
    return len;
}

static void put_sig(struct signer *work, enum section section, struct record *set, unsigned count)
{
    static uint8_t bytes[SET_BYTES_MAX + 512];
    uint8_t rdata[18 + NAME_WIRE_MAX + ZONE_KEY_SIG_MAX], owner_wire[NAME_WIRE_MAX];
    uint16_t type = set[0].type;
    struct name owner = name_copy(set[0].owner, owner_wire);
    size_t head = sig_head(work, &set[0], rdata);
    uint32_t ttl = set[0].ttl;
    memcpy(bytes, rdata, head);
    size_t len = head + signed_bytes(work, set, count, bytes + head);
    struct zone_key key = key_of(work->zone->apex, &work->zone->signing,
                                 fault_of(work, FAULT_SIG_FOREIGN, type) != NULL);
    size_t sig_len = zone_key_sign(key, span_of(bytes, len), rdata + head);
    if (fault_of(work, FAULT_SIG_WRONG, type))
        rdata[head + 5] ^= 4;
    put(work, section, owner, RRTYPE_RRSIG, ttl, span_of(rdata, head + sig_len));
}

static bool needs_sig(const struct signer *work, const struct record *record)
{
    bool is_referral = record->type == RRTYPE_NS && record->owner.len > work->zone->apex.len;
    return record->type != RRTYPE_RRSIG && !is_referral &&
           name_is_below(record->owner, work->zone->apex) && !is_made_by_dname(work, record) &&
           !fault_of(work, FAULT_SIG_MISSING, record->type);
}

/* Signs each RRset of the section. The section's bytes move while it grows, so each RRset is read
 * again. */
static void sign_section(struct signer *work, enum section section)
{
    struct record records[RECORDS_MAX], set[RECORDS_MAX];
    unsigned count = records_of(work->message, section, records);
    for (unsigned i = 0; i < count; i++) {
        unsigned size = 0;
        bool is_first = true;
        records_of(work->message, section, records);
        for (unsigned j = 0; j < count; j++) {
            if (records[j].type != records[i].type ||
                !name_equal(records[j].owner, records[i].owner))
                continue;
            is_first = is_first && j >= i;
            set[size++] = records[j];
        }
        if (is_first && needs_sig(work, &records[i]))
            put_sig(work, section, set, size);
    }
}

/* ---- the whole ---- */

/* Returns the last name of the alias chain in the answer section. */
static struct name end_of(const struct signer *work, const struct question *question,
                          uint8_t wire[NAME_WIRE_MAX])
{
    struct record records[RECORDS_MAX];
    unsigned count = records_of(work->message, SECTION_ANSWER, records);
    struct name name = question->name;
    for (unsigned i = 0; i < count; i++)
        if (records[i].type == RRTYPE_CNAME && question->type != RRTYPE_CNAME &&
            name_equal(records[i].owner, name))
            MUST(name_view(records[i].rdata, 0, &name));
    return name_copy(name, wire);
}

static bool has_type(const struct signer *work, enum section section, uint16_t type,
                     struct name *owner)
{
    struct record records[RECORDS_MAX];
    unsigned count = records_of(work->message, section, records);
    for (unsigned i = 0; i < count; i++) {
        if (records[i].type != type)
            continue;
        *owner = records[i].owner;
        return true;
    }
    return false;
}

/* Adds the DS records of the zone below to a referral, or the proof that there are no DS records.
 */
static void add_referral(struct signer *work, struct name cut)
{
    bool any = false;
    for (const struct zone_record *record = work->zone->records; record; record = record->next) {
        if (record->type != RRTYPE_DS || !name_equal(record->owner, cut))
            continue;
        any = true;
        put(work, SECTION_AUTHORITY, cut, RRTYPE_DS, get_u32(record->rest.data + 4),
            span_of(record->rest.data + ZONE_FIXED_LEN, record->rest.len - ZONE_FIXED_LEN));
    }
    if (!any && !work->zone->signing.lacks_proofs)
        prove_absence(work, cut);
}

static void add_proofs(struct signer *work, const struct question *question)
{
    struct record records[RECORDS_MAX];
    uint8_t wire[NAME_WIRE_MAX];
    struct name owner;
    if (work->zone->signing.lacks_proofs)
        return;
    unsigned count = records_of(work->message, SECTION_ANSWER, records);
    for (unsigned i = 0; i < count; i++)
        if (name_is_below(records[i].owner, work->zone->apex) &&
            is_expanded(work, records[i].owner) && !is_made_by_dname(work, &records[i]))
            put_closest(work, records[i].owner);
    if (!has_type(work, SECTION_AUTHORITY, RRTYPE_SOA, &owner))
        return;
    struct name end = end_of(work, question, wire);
    if (name_is_below(end, work->zone->apex))
        prove_absence(work, end);
}

void zone_sign_answer(const struct script_zone *zone, const struct question *question,
                      struct compose_message *message)
{
    static struct signer work;
    uint8_t wire[NAME_WIRE_MAX];
    struct name cut;
    work.zone = zone;
    work.message = message;
    work.labels = ZONE_OWN_LABELS;
    work.is_literal = false;
    work.names.count = 0;
    if (has_type(&work, SECTION_AUTHORITY, RRTYPE_NS, &cut) && cut.len > zone->apex.len)
        add_referral(&work, name_copy(cut, wire));
    else
        add_proofs(&work, question);
    sign_section(&work, SECTION_ANSWER);
    sign_section(&work, SECTION_AUTHORITY);
}

void zone_sign_message(const struct script_zone *zone, unsigned labels,
                       struct compose_message *message)
{
    static struct signer work;
    work.zone = zone;
    work.message = message;
    work.labels = labels;
    work.is_literal = true;
    sign_section(&work, SECTION_ANSWER);
    sign_section(&work, SECTION_AUTHORITY);
}

/* ---- the anchor ---- */

/* Appends the DS record of the zone, as a quoted string. */
static void put_anchor(struct buf *out, struct name zone)
{
    const struct zone_signing usual = {.key_flags = 257};
    uint8_t rdata[128];
    char text[NAME_TEXT_MAX + 2 * sizeof(rdata) + 32], name[NAME_TEXT_MAX];
    size_t len = ds_rdata(zone, &usual, rdata);
    int at = snprintf(text, sizeof(text), "\"%s DS %u %u %u ", name_format(zone, name),
                      get_u16(rdata), rdata[2], rdata[3]);
    for (size_t i = 4; i < len; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%02x", rdata[i]);
    MUST(buf_append(out, text, (size_t)at) == ERR_OK && buf_append(out, "\"", 1) == ERR_OK);
}

char *zone_sign_config(const char *yaml)
{
    static const char place[] = "TEST-ANCHOR";
    struct buf whole;
    buf_init(&whole, SIZE_MAX);
    for (const char *at; (at = strstr(yaml, place));) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name zone = name_root();
        MUST(buf_append(&whole, yaml, (size_t)(at - yaml)) == ERR_OK);
        yaml = at + strlen(place);
        if (*yaml == '=') {
            size_t len = strcspn(++yaml, "],} \n");
            MUST(name_parse(&zone, wire, yaml, len) == ERR_OK);
            yaml += len;
        }
        put_anchor(&whole, zone);
    }
    MUST(buf_append(&whole, yaml, strlen(yaml) + 1) == ERR_OK);
    char *text = strdup((const char *)buf_span(&whole).data);
    MUST(text);
    buf_deinit(&whole);
    return text;
}
