/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The signed form of an RRset. RDATA without names, and RDATA whose names keep their case, is
 * sorted where it is in the message. Other RDATA is rewritten at the end of the caller's buffer,
 * from the top down, and sorted there; the result grows towards it. Invariant: nothing is written
 * outside of the buffer, and a result that would reach rewritten RDATA is refused.
 */
#include "validate/canonical.h"

#include "base/check.h"
#include "dns/rdata.h"
#include "dns/rrtype.h"
#include "dns/word.h"

enum {
    FEW = 24,        /* an insertion sort is faster up to here */
    NAMES_MAX = 2,   /* names in one RDATA */
    TYPE_A6 = 38,    /* RFC 2874; historic, and without a layout */
    RR_FIXED_UP = 8, /* type, class and TTL */
    WILDCARD = 2,    /* the label "*" */
};

/* One record's canonical RDATA. The first bytes decide most comparisons. */
struct canonical_ref {
    uint64_t head; /* the first eight bytes, most significant first, padded with zeros */
    const uint8_t *data;
    uint16_t len;
};

/* The buffer: the result grows up from start, and rewritten RDATA grows down from the end. */
struct canonical_out {
    uint8_t *start, *at, *top;
};

static size_t room(const struct canonical_out *out)
{
    return (size_t)(out->top - out->at);
}

/* ---- RDATA with names ---- */

/* RFC 4034 section 6.2 with RFC 6840 section 5.1: names of newer types keep their case. HINFO is in
 * the RFC's list by mistake. */
bool canonical_has_folded_names(uint16_t type)
{
    switch (type) {
    case RRTYPE_NS:
    case RRTYPE_MD:
    case RRTYPE_MF:
    case RRTYPE_CNAME:
    case RRTYPE_SOA:
    case RRTYPE_MB:
    case RRTYPE_MG:
    case RRTYPE_MR:
    case RRTYPE_PTR:
    case RRTYPE_MINFO:
    case RRTYPE_MX:
    case RRTYPE_RP:
    case RRTYPE_AFSDB:
    case RRTYPE_RT:
    case RRTYPE_SIG:
    case RRTYPE_PX:
    case RRTYPE_NXT:
    case RRTYPE_SRV:
    case RRTYPE_NAPTR:
    case RRTYPE_KX:
    case RRTYPE_DNAME:
    case RRTYPE_RRSIG:
    case TYPE_A6:
        return true;
    default:
        return false;
    }
}

/* RDATA in three parts: unchanged, then its names in lower case, then unchanged. */
struct canonical_rdata {
    struct span before, after;
    size_t names_len;
    uint8_t names[NAMES_MAX * NAME_WIRE_MAX];
};

static size_t rdata_len(const struct canonical_rdata *rdata)
{
    return rdata->before.len + rdata->names_len + rdata->after.len;
}

static void put_span(uint8_t **at, struct span span)
{
    if (span.len)
        memcpy(*at, span.data, span.len);
    *at += span.len;
}

static void put_rdata(uint8_t *at, const struct canonical_rdata *rdata)
{
    put_span(&at, rdata->before);
    put_span(&at, span_of(rdata->names, rdata->names_len));
    put_span(&at, rdata->after);
}

/* A6 has the length of a prefix, the rest of an address and, if the prefix is not empty, its name.
 * RDATA of any other shape is copied unchanged. */
static void split_a6(struct span bytes, struct canonical_rdata *out)
{
    *out = (struct canonical_rdata){.before = bytes};
    if (bytes.len == 0 || bytes.data[0] == 0 || bytes.data[0] > 128)
        return;
    size_t before = 1 + (size_t)(128 - bytes.data[0] + 7) / 8;
    struct name name;
    if (before >= bytes.len || name_view(bytes, before, &name) != bytes.len)
        return;
    out->before.len = before;
    out->names_len = name_fold(name, out->names).len;
}

static void split_rdata(const struct message *message, const struct rr *rr,
                        struct canonical_rdata *out)
{
    if (rr->type == TYPE_A6) {
        split_a6(message_rdata(message, rr), out);
        return;
    }
    struct rdata_parts parts;
    MUST(rdata_split(message, rr, &parts)); /* rrsets_read() has checked it */
    const uint8_t *data = message->bytes.data;
    size_t at = parts.names_offset, end = (size_t)rr->rdata_offset + rr->rdata_len;
    out->before = span_of(data + rr->rdata_offset, at - rr->rdata_offset);
    out->after = span_of(data + parts.tail_offset, end - parts.tail_offset);
    out->names_len = 0;
    if (!parts.layout) { /* another class */
        out->before.len = rr->rdata_len;
        out->after.len = 0;
        return;
    }
    MUST(parts.layout->names <= NAMES_MAX);
    for (unsigned i = 0; i < parts.layout->names; i++) {
        struct name name;
        at = name_read(message->bytes, at, out->names + out->names_len, &name);
        MUST(at);
        name_fold(name, out->names + out->names_len);
        out->names_len += name.len;
    }
}

/* ---- order ---- */

static uint64_t head_of(const uint8_t *data, size_t len)
{
    uint8_t bytes[8] = {0};
    word_copy(bytes, data, MIN(len, sizeof(bytes)));
    return (uint64_t)get_u32(bytes) << 32 | get_u32(bytes + 4);
}

static struct canonical_ref ref_of(const uint8_t *data, size_t len)
{
    return (struct canonical_ref){.head = head_of(data, len), .data = data, .len = (uint16_t)len};
}

/* Compares RDATA as bytes; the shorter one is first (RFC 4034 section 6.3). */
static int ref_compare(const struct canonical_ref *a, const struct canonical_ref *b)
{
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    size_t shorter = MIN(a->len, b->len);
    int order = shorter > 8 ? memcmp(a->data + 8, b->data + 8, shorter - 8) : 0;
    return order ? order : (int)a->len - (int)b->len;
}

static void sort_few(struct canonical_ref *ref, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct canonical_ref moving = ref[i];
        size_t at = i;
        for (; at > 0 && ref_compare(&ref[at - 1], &moving) > 0; at--)
            ref[at] = ref[at - 1];
        ref[at] = moving;
    }
}

/* Lets the root of a heap of count refs sink to its place. */
static void sink(struct canonical_ref *ref, size_t root, size_t count)
{
    struct canonical_ref moving = ref[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && ref_compare(&ref[child], &ref[child + 1]) < 0)
            child++;
        if (ref_compare(&ref[child], &moving) <= 0)
            break;
        ref[root] = ref[child];
    }
    ref[root] = moving;
}

/* A heap sort needs no memory and has no bad case. */
static void sort_many(struct canonical_ref *ref, size_t count)
{
    for (size_t root = count / 2; root-- > 0;)
        sink(ref, root, count);
    for (size_t last = count - 1; last > 0; last--) {
        struct canonical_ref greatest = ref[0];
        ref[0] = ref[last];
        ref[last] = greatest;
        sink(ref, 0, last);
    }
}

/* ---- writing ---- */

/* Writes the signature's RDATA without the signature. */
static bool put_signature(struct canonical_out *out, const struct rrsig *sig)
{
    size_t fixed = (size_t)(sig->signer.wire - sig->rdata.data);
    if (room(out) < fixed + sig->signer.len)
        return false;
    memcpy(out->at, sig->rdata.data, fixed);
    name_fold(sig->signer, out->at + fixed);
    out->at += fixed + sig->signer.len;
    return true;
}

/* Everything of a record before its RDLENGTH; the same for all records of the set. */
struct canonical_prefix {
    uint8_t bytes[WILDCARD + NAME_WIRE_MAX + RR_FIXED_UP];
    size_t len;
};

static size_t put_owner(uint8_t out[WILDCARD + NAME_WIRE_MAX], struct name owner,
                        const struct rrsig *sig)
{
    if (!rrsig_is_expanded(sig, owner))
        return name_fold(owner, out).len;
    struct name encloser = name_suffix(owner, sig->labels);
    out[0] = 1;
    out[1] = '*';
    return WILDCARD + (size_t)name_fold(encloser, out + WILDCARD).len;
}

static void prefix_init(struct canonical_prefix *prefix, const struct rrsets *sets,
                        const struct rrset *set, const struct rrsig *sig)
{
    size_t len = put_owner(prefix->bytes, rrsets_owner(sets, set), sig);
    put_u16(prefix->bytes + len, set->type);
    put_u16(prefix->bytes + len + 2, sets->record[set->first].cls);
    put_u32(prefix->bytes + len + 4, sig->original_ttl);
    prefix->len = len + RR_FIXED_UP;
}

/* Begins a record and returns the place of its RDATA, or NULL: no room. */
static uint8_t *begin_record(struct canonical_out *out, const struct canonical_prefix *prefix,
                             size_t len)
{
    if (len > UINT16_MAX || room(out) < prefix->len + 2 + len)
        return NULL;
    word_copy(out->at, prefix->bytes, prefix->len);
    put_u16(out->at + prefix->len, (uint16_t)len);
    uint8_t *rdata = out->at + prefix->len + 2;
    out->at = rdata + len;
    return rdata;
}

static bool canonical_put_record(struct canonical_out *out, const struct canonical_prefix *prefix,
                                 struct span rdata)
{
    uint8_t *at = begin_record(out, prefix, rdata.len);
    if (at)
        put_span(&at, rdata);
    return at;
}

/* The usual case: nothing to sort, and no second place for the RDATA. */
static bool put_only_record(struct canonical_out *out, const struct canonical_prefix *prefix,
                            const struct message *message, const struct rr *rr)
{
    if (!canonical_has_folded_names(rr->type))
        return canonical_put_record(out, prefix, message_rdata(message, rr));
    struct canonical_rdata rdata;
    split_rdata(message, rr, &rdata);
    uint8_t *at = begin_record(out, prefix, rdata_len(&rdata));
    if (at)
        put_rdata(at, &rdata);
    return at;
}

/* Rewrites RDATA at the end of the buffer. */
static bool rewrite(struct canonical_out *out, const struct message *message, const struct rr *rr,
                    struct canonical_ref *ref)
{
    struct canonical_rdata rdata;
    split_rdata(message, rr, &rdata);
    size_t len = rdata_len(&rdata);
    if (len > UINT16_MAX || len > room(out))
        return false;
    out->top -= len;
    put_rdata(out->top, &rdata);
    *ref = ref_of(out->top, len);
    return true;
}

static bool put_sorted(struct canonical_out *out, const struct canonical_prefix *prefix,
                       const struct rrsets *sets, const struct rrset *set)
{
    struct canonical_ref ref[RRSETS_RECORDS_MAX]; /* not cleared: it is large */
    bool is_folded = canonical_has_folded_names(set->type);
    size_t count = 0;
    for (uint16_t at = set->first; at != RRSETS_NONE; at = sets->next[at]) {
        struct span rdata = rrsets_rdata(sets, at);
        if (!is_folded)
            ref[count] = ref_of(rdata.data, rdata.len);
        else if (!rewrite(out, sets->message, &sets->record[at], &ref[count]))
            return false;
        count++;
    }
    (count <= FEW ? sort_few : sort_many)(ref, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && ref_compare(&ref[i - 1], &ref[i]) == 0)
            continue;
        if (!canonical_put_record(out, prefix, span_of(ref[i].data, ref[i].len)))
            return false;
    }
    return true;
}

size_t canonical_write(uint8_t *out, size_t max, const struct rrsets *sets, const struct rrset *set,
                       const struct rrsig *sig)
{
    struct canonical_out to = {.start = out, .at = out, .top = out + max};
    struct canonical_prefix prefix;
    if (set->count == 0 || !put_signature(&to, sig))
        return 0;
    prefix_init(&prefix, sets, set, sig);
    bool is_whole = set->count == 1
                        ? put_only_record(&to, &prefix, sets->message, &sets->record[set->first])
                        : put_sorted(&to, &prefix, sets, set);
    return is_whole ? (size_t)(to.at - to.start) : 0;
}
