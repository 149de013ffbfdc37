/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Random small zones with their complete NSEC or NSEC3 chains: delegations, wildcards, aliases,
 * DNAMEs, empty non-terminals, opt-out. The test knows the truth about each name and checks three
 * properties:
 *
 * - complete: the records that an honest server sends prove exactly the truth;
 * - sound: no set of records of the zone, of its parent and of its child proves a falsehood;
 * - reused: spans synthesise all that the whole chain proves, and a part of it no falsehood.
 */
#include "unit/validate/denial_sample.h"

#include "cache/cache.h"
#include "validate/synthesis.h"

enum { NODES_MAX = 16, CHAIN_MAX = 64, ZONES = 1500, QUESTIONS = 40, SUBSETS = 4 };

static uint64_t random_state = 0x9e3779b97f4a7c15;

static unsigned random_below(unsigned bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 32) % bound;
}

static bool one_in(unsigned bound)
{
    return random_below(bound) == 0;
}

/* ---- zones ---- */

static const uint16_t data_types[] = {RRTYPE_A, RRTYPE_TXT, RRTYPE_CAA};
static const uint16_t asked_types[] = {RRTYPE_A,  RRTYPE_TXT, RRTYPE_CAA,   RRTYPE_CNAME,
                                       RRTYPE_NS, RRTYPE_SOA, RRTYPE_DNAME, RRTYPE_DS,
                                       RRTYPE_MX, RRTYPE_ANY};

/* A name with its records. */
struct node {
    struct name name;
    unsigned count;
    uint16_t types[8];
    bool is_omitted; /* true: an insecure delegation that the NSEC3 chain omits */
    uint8_t wire[NAME_WIRE_MAX];
};

struct chain_record {
    struct denial_record record;
    bool has_opt_out;
    uint8_t hash[VERIFY_NSEC3_HASH];
    struct name name; /* the name to which the record belongs */
    uint8_t owner[NAME_WIRE_MAX], name_wire[NAME_WIRE_MAX], rdata[512];
};

struct zone {
    struct name apex;
    bool is_hashed;
    uint8_t salt[4];
    uint8_t salt_len;
    uint16_t iterations;
    unsigned node_count, chain_count;
    struct node node[NODES_MAX];
    struct chain_record chain[CHAIN_MAX];
};

static bool node_has(const struct node *node, uint16_t type)
{
    for (unsigned i = 0; i < node->count; i++)
        if (node->types[i] == type)
            return true;
    return false;
}

static void node_add(struct node *node, uint16_t type)
{
    if (!node_has(node, type))
        node->types[node->count++] = type;
}

static bool node_is_cut(const struct node *node)
{
    return node_has(node, RRTYPE_NS) && !node_has(node, RRTYPE_SOA);
}

static bool is_strictly_below(struct name name, struct name ancestor)
{
    return name.len > ancestor.len && name_is_below(name, ancestor);
}

/* Returns whether the name is below a zone cut or a DNAME of the zone. */
static bool zone_occludes(const struct zone *zone, struct name name)
{
    for (unsigned i = 0; i < zone->node_count; i++) {
        const struct node *node = &zone->node[i];
        if ((node_is_cut(node) || node_has(node, RRTYPE_DNAME)) &&
            is_strictly_below(name, node->name))
            return true;
    }
    return false;
}

static const struct node *zone_find(const struct zone *zone, struct name name)
{
    for (unsigned i = 0; i < zone->node_count; i++)
        if (name_equal(zone->node[i].name, name))
            return &zone->node[i];
    return NULL;
}

/* Returns whether the name has records or is an empty non-terminal. chain_only: ignores the
 * delegations that the chain omits. */
static bool zone_has(const struct zone *zone, struct name name, bool chain_only)
{
    for (unsigned i = 0; i < zone->node_count; i++)
        if (name_is_below(zone->node[i].name, name) && !(chain_only && zone->node[i].is_omitted))
            return true;
    return false;
}

/* Writes the name with a label in front. */
static struct name prepend(uint8_t wire[NAME_WIRE_MAX], const char *label, struct name name)
{
    uint8_t out[NAME_WIRE_MAX];
    size_t len = strlen(label);
    out[0] = (uint8_t)len;
    memcpy(out + 1, label, len);
    memcpy(out + 1 + len, name.wire, name.len);
    memcpy(wire, out, 1 + len + name.len);
    return (struct name){.wire = wire, .len = (uint8_t)(1 + len + name.len)};
}

/* Makes a name of up to four labels below the apex. Because there are few labels, many names are
 * related. */
static struct name random_name(uint8_t wire[NAME_WIRE_MAX], struct name apex, bool also_apex)
{
    static const char *const labels[] = {"a", "b", "B", "c", "*", "aa", "\1", "~"};
    struct name name = name_copy(apex, wire);
    for (unsigned i = random_below(4) + !also_apex; i > 0; i--)
        name = prepend(wire, labels[random_below(ARRAY_LEN(labels))], name);
    return name;
}

static bool node_is_wildcard(const struct node *node)
{
    return node->name.wire[0] == 1 && node->name.wire[1] == '*';
}

static bool node_has_asterisk(const struct node *node)
{
    for (const uint8_t *label = node->name.wire; *label; label += 1 + *label)
        if (label[0] == 1 && label[1] == '*')
            return true;
    return false;
}

static void node_fill(struct node *node)
{
    bool is_wildcard = node_is_wildcard(node);
    unsigned kind = random_below(10);
    if (kind == 0) {
        node_add(node, RRTYPE_CNAME);
    } else if (kind == 1 && !is_wildcard) {
        node_add(node, RRTYPE_DNAME);
        if (one_in(2))
            node_add(node, RRTYPE_A);
    } else if (kind < 5 && !is_wildcard) {
        node_add(node, RRTYPE_NS);
        if (one_in(2))
            node_add(node, RRTYPE_DS);
    } else {
        for (unsigned i = random_below(2) + 1; i > 0; i--)
            node_add(node, data_types[random_below(ARRAY_LEN(data_types))]);
    }
}

/* Adds a name without records, unless the zone has it or occludes it. */
static struct node *zone_add(struct zone *zone, struct name name)
{
    if (zone_find(zone, name) || zone_occludes(zone, name) || zone->node_count == NODES_MAX)
        return NULL;
    struct node *node = &zone->node[zone->node_count++];
    node->name = name_copy(name, node->wire);
    node->count = 0;
    node->is_omitted = false;
    return node;
}

static void zone_remove_occluded(struct zone *zone)
{
    for (unsigned i = 0; i < zone->node_count;) {
        if (!zone_occludes(zone, zone->node[i].name)) {
            i++;
            continue;
        }
        struct node *last = &zone->node[--zone->node_count];
        if (i == zone->node_count)
            continue;
        zone->node[i] = *last;
        zone->node[i].name.wire = zone->node[i].wire;
    }
}

/* Makes a zone. It contains the cut, if there is one. */
static void zone_make(struct zone *zone, struct name apex, const struct name *cut)
{
    zone->apex = apex;
    zone->node_count = zone->chain_count = 0;
    zone->is_hashed = one_in(2);
    zone->iterations = (uint16_t)random_below(3);
    zone->salt_len = (uint8_t)random_below(3);
    for (unsigned i = 0; i < sizeof(zone->salt); i++)
        zone->salt[i] = (uint8_t)random_below(256);
    struct node *node = zone_add(zone, apex);
    node_add(node, RRTYPE_SOA);
    node_add(node, RRTYPE_NS);
    if (!cut && one_in(20))
        node_add(node, RRTYPE_DNAME);
    if (cut) {
        node = zone_add(zone, *cut);
        node_add(node, RRTYPE_NS);
        if (one_in(2))
            node_add(node, RRTYPE_DS);
    }
    for (unsigned i = random_below(NODES_MAX - 3); i > 0; i--) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name name = random_name(wire, apex, false);
        if ((!cut || !is_strictly_below(*cut, name)) && (node = zone_add(zone, name)))
            node_fill(node);
    }
    zone_remove_occluded(zone);
    /* The next closer name's span alone decides about opt-out (RFC 5155 section 9.2). So no cut is
     * omitted that is a wildcard, which has no defined meaning (RFC 4592 section 4.2), or is below
     * one, which would be an empty non-terminal that no span shows. */
    bool has_opt_out = zone->is_hashed && one_in(2);
    for (unsigned i = 0; i < zone->node_count; i++)
        zone->node[i].is_omitted = has_opt_out && node_is_cut(&zone->node[i]) &&
                                   !node_has_asterisk(&zone->node[i]) &&
                                   !node_has(&zone->node[i], RRTYPE_DS) && !one_in(4);
}

/* ---- chains ---- */

static void zone_hash(const struct zone *zone, struct name name, uint8_t hash[VERIFY_NSEC3_HASH])
{
    uint8_t folded[NAME_WIRE_MAX];
    name_fold(name, folded);
    assert_true(verify_nsec3_hash(hash, span_of(folded, name.len),
                                  span_of(zone->salt, zone->salt_len), zone->iterations));
}

/* Adds a name to the chain once. */
static void chain_add(struct zone *zone, struct name name)
{
    for (unsigned i = 0; i < zone->chain_count; i++)
        if (name_equal(zone->chain[i].name, name))
            return;
    assert_true(zone->chain_count < CHAIN_MAX);
    struct chain_record *record = &zone->chain[zone->chain_count++];
    record->name = name_copy(name, record->name_wire);
    record->has_opt_out = false;
    if (zone->is_hashed)
        zone_hash(zone, name, record->hash);
}

static int compare_names(const void *a, const void *b)
{
    const struct chain_record *one = a, *other = b;
    return name_compare((struct name){.wire = one->name_wire, .len = one->name.len},
                        (struct name){.wire = other->name_wire, .len = other->name.len});
}

static int compare_hashes(const void *a, const void *b)
{
    const struct chain_record *one = a, *other = b;
    return memcmp(one->hash, other->hash, VERIFY_NSEC3_HASH);
}

static size_t write_types(const struct zone *zone, struct name name, uint8_t *out)
{
    const struct node *node = zone_find(zone, name);
    char text[256] = "", word[RRTYPE_TEXT_MAX];
    uint8_t bitmap[SAMPLE_BITMAP_MAX];
    for (unsigned i = 0; node && i < node->count; i++)
        strcat(strcat(text, rrtype_name(node->types[i], word)), " ");
    if (!zone->is_hashed)
        strcat(text, "RRSIG NSEC");
    else if (node && (!node_is_cut(node) || node_has(node, RRTYPE_DS)))
        strcat(text, "RRSIG");
    size_t len = sample_bitmap(bitmap, text);
    memcpy(out, bitmap, len);
    return len;
}

static bool hash_is_between(const uint8_t *owner, const uint8_t *hash, const uint8_t *next)
{
    bool is_after = memcmp(hash, owner, VERIFY_NSEC3_HASH) > 0;
    bool is_before = memcmp(hash, next, VERIFY_NSEC3_HASH) < 0;
    return memcmp(owner, next, VERIFY_NSEC3_HASH) < 0 ? is_after && is_before
                                                      : is_after || is_before;
}

/* A span needs opt-out if it contains the hash of a name that is in the zone but not in the chain.
 */
static bool span_needs_opt_out(const struct zone *zone, const uint8_t *owner, const uint8_t *next)
{
    for (unsigned i = 0; i < zone->node_count; i++) {
        struct name name = zone->node[i].name;
        for (; is_strictly_below(name, zone->apex); name = name_parent(name)) {
            uint8_t hash[VERIFY_NSEC3_HASH];
            if (zone_has(zone, name, true))
                break;
            zone_hash(zone, name, hash);
            if (hash_is_between(owner, hash, next))
                return true;
        }
    }
    return false;
}

static void chain_write_nsec3(const struct zone *zone, struct chain_record *record,
                              const struct chain_record *next, bool has_opt_out)
{
    char label[33];
    uint8_t *at = record->rdata;
    record->has_opt_out = span_needs_opt_out(zone, record->hash, next->hash) || has_opt_out;
    *at++ = 1;
    *at++ = record->has_opt_out;
    put_u16(at, zone->iterations);
    at += 2;
    *at++ = zone->salt_len;
    memcpy(at, zone->salt, zone->salt_len);
    at += zone->salt_len;
    *at++ = VERIFY_NSEC3_HASH;
    memcpy(at, next->hash, VERIFY_NSEC3_HASH);
    at += VERIFY_NSEC3_HASH;
    at += write_types(zone, record->name, at);
    record->record = (struct denial_record){
        .type = RRTYPE_NSEC3,
        .owner = prepend(record->owner, sample_base32(label, record->hash), zone->apex),
        .rdata = span_of(record->rdata, (size_t)(at - record->rdata)),
    };
}

static void chain_write_nsec(const struct zone *zone, struct chain_record *record,
                             const struct chain_record *next)
{
    memcpy(record->rdata, next->name.wire, next->name.len);
    size_t len = next->name.len + write_types(zone, record->name, record->rdata + next->name.len);
    record->record = (struct denial_record){
        .type = RRTYPE_NSEC,
        .owner = name_copy(record->name, record->owner),
        .rdata = span_of(record->rdata, len),
    };
}

static void chain_make(struct zone *zone)
{
    for (unsigned i = 0; i < zone->node_count; i++) {
        struct name name = zone->node[i].name;
        if (zone->node[i].is_omitted)
            continue;
        do {
            chain_add(zone, name);
        } while (zone->is_hashed && is_strictly_below(name, zone->apex) &&
                 (name = name_parent(name), true));
    }
    qsort(zone->chain, zone->chain_count, sizeof(zone->chain[0]),
          zone->is_hashed ? compare_hashes : compare_names);
    for (unsigned i = 0; i < zone->chain_count; i++)
        zone->chain[i].name.wire = zone->chain[i].name_wire;
    bool flags = one_in(3);
    for (unsigned i = 0; i < zone->chain_count; i++) {
        const struct chain_record *next = &zone->chain[(i + 1) % zone->chain_count];
        if (zone->is_hashed)
            chain_write_nsec3(zone, &zone->chain[i], next, flags && one_in(2));
        else
            chain_write_nsec(zone, &zone->chain[i], next);
    }
}

/* Returns the record of the name, or else the record whose span contains its hash. */
static const struct chain_record *chain_find(const struct zone *zone, struct name name)
{
    uint8_t hash[VERIFY_NSEC3_HASH];
    const struct chain_record *found = NULL;
    zone_hash(zone, name, hash);
    for (unsigned i = 0; i < zone->chain_count; i++) {
        const struct chain_record *record = &zone->chain[i];
        const struct chain_record *next = &zone->chain[(i + 1) % zone->chain_count];
        if (name_equal(record->name, name))
            return record;
        if (zone->is_hashed ? hash_is_between(record->hash, hash, next->hash)
                            : name_compare(record->name, name) < 0)
            found = record;
    }
    return found;
}

/* ---- truth ---- */

enum truth {
    TRUTH_ELSEWHERE, /* the answer is a referral or a DNAME */
    TRUTH_POSITIVE,
    TRUTH_NODATA,
    TRUTH_NXDOMAIN,
};

static enum truth node_truth(const struct node *node, uint16_t type)
{
    if (node && node_is_cut(node) && type != RRTYPE_DS)
        return TRUTH_ELSEWHERE;
    if (!node)
        return TRUTH_NODATA; /* an empty non-terminal */
    bool is_positive = node_has(node, type) || node_has(node, RRTYPE_CNAME) || type == RRTYPE_ANY;
    return is_positive ? TRUTH_POSITIVE : TRUTH_NODATA;
}

static struct name zone_encloser(const struct zone *zone, struct name name, bool chain_only)
{
    while (!zone_has(zone, name, chain_only))
        name = name_parent(name);
    return name;
}

/* Returns what the zone answers. */
static enum truth zone_truth(const struct zone *zone, struct name name, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    if (zone_occludes(zone, name) || (type == RRTYPE_DS && name_equal(name, zone->apex)))
        return TRUTH_ELSEWHERE;
    if (zone_has(zone, name, false))
        return node_truth(zone_find(zone, name), type);
    struct name wildcard = prepend(wire, "*", zone_encloser(zone, name, false));
    if (zone_has(zone, wildcard, false))
        return node_truth(zone_find(zone, wildcard), type);
    return TRUTH_NXDOMAIN;
}

/* A zone with its parent, and a child at one of its cuts. */
struct world {
    struct zone parent, zone, child;
    bool has_child;
};

/* Returns the zone that has the answer for the name. */
static const struct zone *world_authority(const struct world *world, struct name name,
                                          uint16_t type)
{
    const struct zone *zones[] = {&world->child, &world->zone, &world->parent};
    for (unsigned i = !world->has_child; i < ARRAY_LEN(zones); i++)
        if (name_is_below(name, zones[i]->apex) &&
            !(type == RRTYPE_DS && name_equal(name, zones[i]->apex)))
            return zones[i];
    return &world->parent;
}

/* ---- messages ---- */

struct message_of {
    struct denial denial;
    unsigned units;
};

static void message_begin(struct message_of *message, struct name zone)
{
    *message = (struct message_of){.denial.zone = zone, .units = 100};
    message->denial.units_left = &message->units;
}

static void message_add(struct message_of *message, const struct chain_record *record)
{
    struct denial *denial = &message->denial;
    for (size_t i = 0; i < denial->count; i++)
        if (denial->at[i].rdata.data == record->record.rdata.data)
            return;
    if (record && denial->count < DENIAL_RECORDS_MAX)
        denial->at[denial->count++] = record->record;
}

/* Returns the ancestor of the name one label below the encloser. */
static struct name next_closer(struct name name, struct name encloser)
{
    return name_suffix(name, name_label_count(encloser) + 1);
}

/* Adds the records of an honest server about a name that is not in the chain: encloser, next closer
 * name and wildcard. Returns whether the span of the next closer name has opt-out. */
static bool message_add_absent(struct message_of *message, const struct zone *zone,
                               struct name name)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name encloser = zone_encloser(zone, name, true);
    const struct chain_record *closer = chain_find(zone, next_closer(name, encloser));
    if (zone->is_hashed)
        message_add(message, chain_find(zone, encloser));
    message_add(message, closer);
    message_add(message, chain_find(zone, prepend(wire, "*", encloser)));
    return closer->has_opt_out;
}

/* ---- completeness ---- */

static void check_absent_name(const struct zone *zone, struct name name, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct message_of message;
    struct name encloser = zone_encloser(zone, name, false);
    struct name wildcard = prepend(wire, "*", encloser);
    if (!name_equal(encloser, zone_encloser(zone, name, true)) ||
        zone_has(zone, wildcard, false) != zone_has(zone, wildcard, true))
        return; /* the chain omits an empty non-terminal, so no honest proof exists */
    message_begin(&message, zone->apex);
    bool has_opt_out = message_add_absent(&message, zone, name);
    enum denial_result expected = has_opt_out ? DENIAL_OPT_OUT : DENIAL_PROVEN;
    const struct denial *denial = &message.denial;
    switch (zone_truth(zone, name, type)) {
    case TRUTH_NXDOMAIN:
        assert_int_equal(denial_of_name(denial, name), expected);
        assert_int_equal(denial_of_type(denial, name, type),
                         has_opt_out ? DENIAL_OPT_OUT : DENIAL_UNPROVEN);
        break;
    case TRUTH_NODATA:
        assert_int_equal(denial_of_type(denial, name, type), expected);
        assert_int_equal(denial_of_name(denial, name), DENIAL_UNPROVEN);
        break;
    case TRUTH_POSITIVE:
        assert_int_equal(denial_of_type(denial, name, type), DENIAL_UNPROVEN);
        assert_int_equal(denial_of_name(denial, name), DENIAL_UNPROVEN);
        break;
    case TRUTH_ELSEWHERE:
        fail();
    }
    assert_int_equal(denial_of_next_closer(denial, name, name_label_count(encloser)), expected);
    assert_int_equal(denial_of_ds(denial, name),
                     has_opt_out ? DENIAL_DS_INSECURE : DENIAL_DS_NO_NAME);
}

static void check_present_name(const struct zone *zone, struct name name, uint16_t type)
{
    struct message_of message;
    message_begin(&message, zone->apex);
    message_add(&message, chain_find(zone, name));
    bool is_nodata = zone_truth(zone, name, type) == TRUTH_NODATA;
    assert_int_equal(denial_of_type(&message.denial, name, type),
                     is_nodata ? DENIAL_PROVEN : DENIAL_UNPROVEN);
    assert_int_equal(denial_of_name(&message.denial, name), DENIAL_UNPROVEN);
    const struct node *node = zone_find(zone, name);
    enum denial_ds expected = DENIAL_DS_NO_CUT;
    if (node && node_is_cut(node))
        expected = node_has(node, RRTYPE_DS) ? DENIAL_DS_UNPROVEN : DENIAL_DS_INSECURE;
    if (!name_equal(name, zone->apex))
        assert_int_equal(denial_of_ds(&message.denial, name), expected);
}

/* Checks a name that the chain omits: the delegation, or an empty non-terminal above it. */
static void check_omitted_name(const struct zone *zone, struct name name)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct message_of message;
    message_begin(&message, zone->apex);
    assert_true(message_add_absent(&message, zone, name));
    assert_int_equal(denial_of_ds(&message.denial, name), DENIAL_DS_INSECURE);
    struct name wildcard = prepend(wire, "*", zone_encloser(zone, name, true));
    if (!zone_has(zone, wildcard, true))
        assert_int_equal(denial_of_type(&message.denial, name, RRTYPE_DS), DENIAL_OPT_OUT);
}

static void check_complete(const struct zone *zone, struct name name, uint16_t type)
{
    if (zone_occludes(zone, name))
        return;
    if (zone_has(zone, name, true))
        check_present_name(zone, name, type);
    else if (zone_has(zone, name, false))
        check_omitted_name(zone, name);
    else
        check_absent_name(zone, name, type);
}

/* ---- soundness ---- */

/* The zone knows only what its chain says: the name is not there, and a span with opt-out has the
 * next closer name (RFC 5155 section 9.2). */
static void check_opt_out(const struct zone *zone, struct name name, bool is_name_error)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name encloser = zone_encloser(zone, name, true);
    struct name wildcard = prepend(wire, "*", encloser);
    const struct node *node = zone_find(zone, encloser);
    assert_true(zone->is_hashed);
    assert_false(zone_has(zone, name, true));
    assert_false(node && (node_is_cut(node) || node_has(node, RRTYPE_DNAME)));
    assert_true(chain_find(zone, next_closer(name, encloser))->has_opt_out);
    assert_false(is_name_error && zone_has(zone, wildcard, true));
}

static void check_name(const struct world *world, const struct denial *denial,
                       const struct zone *zone, struct name name)
{
    const struct zone *authority = world_authority(world, name, 0);
    enum denial_result result = denial_of_name(denial, name);
    if (result == DENIAL_PROVEN)
        assert_int_equal(zone_truth(authority, name, RRTYPE_A), TRUTH_NXDOMAIN);
    else if (result == DENIAL_OPT_OUT)
        check_opt_out(zone, name, true);
    else
        assert_int_equal(result, DENIAL_UNPROVEN);
}

static void check_type(const struct world *world, const struct denial *denial,
                       const struct zone *zone, struct name name, uint16_t type)
{
    const struct zone *authority = world_authority(world, name, type);
    enum denial_result result = denial_of_type(denial, name, type);
    if (result == DENIAL_PROVEN)
        assert_int_equal(zone_truth(authority, name, type), TRUTH_NODATA);
    else if (result == DENIAL_OPT_OUT)
        check_opt_out(zone, name, false);
    else
        assert_int_equal(result, DENIAL_UNPROVEN);
}

static void check_next_closer(const struct world *world, const struct denial *denial,
                              const struct zone *zone, struct name name)
{
    unsigned labels = random_below(name_label_count(name) + 2);
    enum denial_result result = denial_of_next_closer(denial, name, labels);
    struct name closer = name_suffix(name, labels + 1);
    if (result == DENIAL_UNPROVEN)
        return;
    assert_false(zone_has(zone, closer, result == DENIAL_OPT_OUT));
    assert_true(result == DENIAL_PROVEN || (result == DENIAL_OPT_OUT && zone->is_hashed));
    if (!zone->is_hashed)
        assert_false(zone_has(world_authority(world, closer, 0), closer, false));
}

static void check_ds(const struct world *world, const struct denial *denial,
                     const struct zone *zone, struct name name)
{
    const struct zone *authority = world_authority(world, name, RRTYPE_DS);
    const struct node *node = zone_find(authority, name);
    bool is_cut = node && node_is_cut(node);
    switch (denial_of_ds(denial, name)) {
    case DENIAL_DS_INSECURE:
        if (!is_cut || node_has(node, RRTYPE_DS))
            check_opt_out(zone, name, false);
        break;
    case DENIAL_DS_NO_CUT:
        assert_true(zone_has(authority, name, false) && !is_cut);
        assert_false(zone_occludes(authority, name));
        break;
    case DENIAL_DS_NO_NAME:
        assert_false(zone_has(authority, name, false) || zone_occludes(authority, name));
        break;
    default:
        break;
    }
}

/* Adds random records of a zone, some of them in another case. */
static void message_add_random(struct message_of *message, const struct zone *zone, unsigned count)
{
    while (count-- > 0)
        message_add(message, &zone->chain[random_below(zone->chain_count)]);
}

static void check_sound(const struct world *world, struct name name, uint16_t type)
{
    const struct zone *zones[] = {&world->zone, &world->parent, &world->child};
    const struct zone *zone = zones[random_below(world->has_child ? 3 : 2)];
    struct message_of message;
    message_begin(&message, zone->apex);
    if (one_in(2) && name_is_below(name, zone->apex) && !zone_has(zone, name, true))
        message_add_absent(&message, zone, name); /* almost honest */
    message_add_random(&message, zone, random_below(6));
    for (unsigned i = 0; i < (world->has_child ? 3 : 2); i++)
        if (one_in(3))
            message_add_random(&message, zones[i], random_below(4));
    for (unsigned i = random_below(4); i > 0 && message.denial.count; i--) {
        size_t lost = random_below((unsigned)message.denial.count);
        message.denial.at[lost] = message.denial.at[--message.denial.count];
    }
    check_name(world, &message.denial, zone, name);
    check_type(world, &message.denial, zone, name, type);
    check_next_closer(world, &message.denial, zone, name);
    check_ds(world, &message.denial, zone, name);
}

/* ---- worlds ---- */

/* Makes a child at a cut of the zone, if there is one. */
static void world_make_child(struct world *world)
{
    world->has_child = false;
    for (unsigned i = 0; i < world->zone.node_count; i++) {
        const struct node *node = &world->zone.node[i];
        if (!node_is_cut(node) || node->is_omitted)
            continue;
        zone_make(&world->child, node->name, NULL);
        chain_make(&world->child);
        world->has_child = true;
        return;
    }
}

static void world_make(struct world *world, struct name parent, struct name apex)
{
    zone_make(&world->parent, parent, &apex);
    world->parent.node[1].is_omitted = false; /* the zone's cut is the second node */
    chain_make(&world->parent);
    zone_make(&world->zone, apex, NULL);
    chain_make(&world->zone);
    world_make_child(world);
}

static void test_random_zones_prove_the_truth_and_no_falsehood(void **state)
{
    (void)state;
    static struct world world;
    struct name parent = NAME("t"), apex = NAME("z.t");
    for (unsigned i = 0; i < ZONES; i++) {
        world_make(&world, parent, apex);
        for (unsigned question = 0; question < QUESTIONS; question++) {
            uint8_t wire[NAME_WIRE_MAX];
            const struct zone *zone = one_in(4) ? &world.parent : &world.zone;
            uint16_t type = asked_types[random_below(ARRAY_LEN(asked_types))];
            struct name name = random_name(wire, zone->apex, true);
            if (world.has_child && one_in(4))
                name = random_name(wire, world.child.apex, true);
            if (name_is_below(name, zone->apex))
                check_complete(zone, name, type);
            for (unsigned subset = 0; subset < SUBSETS; subset++)
                check_sound(&world, name, type);
        }
    }
}

/* ---- spans ---- */

enum { NOW = 1 };

static void span_put(struct spans *spans, const struct zone *zone, enum spans_shelf shelf,
                     struct name owner, uint16_t type, struct span rdata)
{
    bool is_hash = shelf == SPANS_HASHES;
    struct spans_entry entry = {.zone = zone->apex,
                                .shelf = shelf,
                                .chain = span_of(zone->salt, is_hash ? zone->salt_len : 0),
                                .owner = owner,
                                .type = type,
                                .expires_at = NOW + 1,
                                .record = &rdata,
                                .count = 1,
                                .signature = rdata};
    assert_true(spans_store(spans, &entry, NOW));
}

/* Stores the SOA record, the data of wildcards, and each record of the chain with a probability of
 * share/8. */
static void zone_put(struct spans *spans, const struct zone *zone, unsigned share)
{
    struct span text = span_of("text", 4);
    span_put(spans, zone, SPANS_RECORDS, zone->apex, RRTYPE_SOA, text);
    for (unsigned i = 0; i < zone->node_count; i++) {
        const struct node *node = &zone->node[i];
        for (unsigned type = 0; type < ARRAY_LEN(data_types); type++)
            if (node->name.wire[0] == 1 && node->name.wire[1] == '*' &&
                node_has(node, data_types[type]))
                span_put(spans, zone, SPANS_RECORDS, node->name, data_types[type], text);
    }
    for (unsigned i = 0; i < zone->chain_count; i++) {
        const struct denial_record *record = &zone->chain[i].record;
        if (random_below(8) < share && !zone->chain[i].has_opt_out)
            span_put(spans, zone, zone->is_hashed ? SPANS_HASHES : SPANS_NAMES, record->owner,
                     record->type, record->rdata);
    }
}

static bool zone_has_opt_out(const struct zone *zone)
{
    for (unsigned i = 0; i < zone->chain_count; i++)
        if (zone->chain[i].has_opt_out)
            return true;
    return false;
}

/* Returns what a resolver can synthesise from the whole chain. */
static enum synthesis_kind synthesis_truth(const struct zone *zone, struct name name, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    if (type == RRTYPE_ANY)
        return SYNTHESIS_NONE;
    switch (zone_truth(zone, name, type)) {
    case TRUTH_NXDOMAIN:
        return SYNTHESIS_NXDOMAIN;
    case TRUTH_NODATA:
        return SYNTHESIS_NODATA;
    case TRUTH_POSITIVE:
        break;
    default:
        return SYNTHESIS_NONE;
    }
    const struct node *node = zone_find(zone, prepend(wire, "*", zone_encloser(zone, name, false)));
    bool is_expanded = !zone_has(zone, name, false) && node && node_has(node, type);
    return is_expanded && type != RRTYPE_CNAME ? SYNTHESIS_WILDCARD : SYNTHESIS_NONE;
}

static void check_synthesis(const struct spans *spans, const struct zone *zone, struct name name,
                            uint16_t type, bool is_whole)
{
    struct synthesis synthesis;
    cache_read_begin();
    const struct spans_zone *found = spans_zone_above(spans, 0, name);
    assert_true(name_equal(spans_zone_name(found), zone->apex));
    enum synthesis_kind truth = synthesis_truth(zone, name, type),
                        kind = synthesis_find(&synthesis, found, name, type, NOW);
    if (kind != SYNTHESIS_NONE || is_whole)
        assert_int_equal(kind, truth);
    if (kind != SYNTHESIS_NONE)
        assert_true(synthesis.proof_count > 0);
    if (kind == SYNTHESIS_WILDCARD)
        assert_int_equal(synthesis.data->type, type);
    assert_int_equal(synthesis_find(&synthesis, found, name, type, NOW + 1), SYNTHESIS_NONE);
    cache_read_end();
}

static void test_spans_synthesise_the_truth_and_no_falsehood(void **state)
{
    (void)state;
    static struct zone zone;
    struct name apex = NAME("z.t");
    cache_thread_begin();
    for (unsigned i = 0; i < ZONES; i++) {
        struct spans *spans = spans_new(SPANS_BYTES_MAX);
        unsigned share = one_in(2) ? 8 : random_below(8);
        zone_make(&zone, apex, NULL);
        zone.iterations = 0;
        chain_make(&zone);
        zone_put(spans, &zone, share);
        bool is_whole = share == 8 && !zone_has_opt_out(&zone);
        for (unsigned question = 0; question < QUESTIONS; question++) {
            uint8_t wire[NAME_WIRE_MAX];
            uint16_t type = asked_types[random_below(ARRAY_LEN(asked_types))];
            struct name name = name_fold(random_name(wire, apex, true), wire);
            check_synthesis(spans, &zone, name, type, is_whole);
        }
        spans_free(spans);
    }
    cache_thread_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_synthesise_the_truth_and_no_falsehood),
        cmocka_unit_test(test_random_zones_prove_the_truth_and_no_falsehood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
