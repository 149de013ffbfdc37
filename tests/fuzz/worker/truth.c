/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The contents are computed and never stored: the number of a leaf decides its kind, and a hash of
 * the name gives its addresses.
 */
#include "fuzz/worker/truth.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/span.h"
#include "dns/word.h"
#include "support/fake_net.h"

enum {
    ALIASES_MAX = 12, /* a forwarder follows this many aliases */
    BIG_ADDRS = 110,  /* more than any datagram can carry */
    MARK = 0x66,
};

#define BIT(zone) (uint16_t)(1u << (zone))

const struct truth_server truth_servers[SERVER_COUNT] = {
    {"10.1.0.1@53", 0},
    {"10.1.0.2@53", 0},
    {"10.1.0.3@53", 0},
    {"10.1.0.4@53", 0},
    {"10.1.0.1@853", 0},
    {"10.1.0.2@853", 0},
    {"10.1.0.3@853", 0},
    {"10.1.0.4@853", 0},
    {"10.2.0.1@53", BIT(ZONE_ROOT)},
    {"10.2.0.2@53", BIT(ZONE_ROOT)},
    {"10.2.1.1@53", BIT(ZONE_T0)},
    {"10.2.1.2@53", BIT(ZONE_T0)},
    {"10.2.2.1@53", BIT(ZONE_T1)},
    {"10.2.2.2@53", BIT(ZONE_T1)},
    {"10.2.3.1@53", BIT(ZONE_A_T0)},
    {"10.2.3.2@53", BIT(ZONE_A_T0)},
    {"fd02::33@53", BIT(ZONE_A_T0)},
    {"10.2.4.1@53", BIT(ZONE_B_T0) | BIT(ZONE_C_E1_T0)},
    {"10.2.4.2@53", BIT(ZONE_B_T0) | BIT(ZONE_C_E1_T0)},
    {"10.2.5.1@53", BIT(ZONE_A_T1) | BIT(ZONE_FWD)},
    {"10.2.5.2@53", BIT(ZONE_A_T1) | BIT(ZONE_FWD)},
    {"fd02::53@53", BIT(ZONE_A_T1) | BIT(ZONE_FWD)},
    {"10.3.0.1@53", BIT(ZONE_STUB)},
    {"10.3.0.2@53", BIT(ZONE_STUB)},
    {"10.2.6.1@53", BIT(ZONE_SUB_STUB)},
    {"10.2.6.2@53", BIT(ZONE_SUB_STUB)},
};

/* The zone's servers are ns<first_host + i>.<host_zone>, for i below count. */
static const struct {
    const char *wire;
    uint8_t len;
    enum truth_zone parent;
    uint8_t first_server, count;
    enum truth_zone host_zone;
    uint8_t first_host;
} zones[ZONE_COUNT] = {
    [ZONE_ROOT] = {"\0", 1, ZONE_ROOT, SERVER_ROOT, 2, ZONE_ROOT, 0},
    [ZONE_T0] = {"\2t0", 4, ZONE_ROOT, 10, 2, ZONE_T0, 0},
    [ZONE_T1] = {"\2t1", 4, ZONE_ROOT, 12, 2, ZONE_T1, 0},
    [ZONE_A_T0] = {"\1a\2t0", 6, ZONE_T0, 14, 3, ZONE_A_T0, 0},
    [ZONE_B_T0] = {"\1b\2t0", 6, ZONE_T0, 17, 2, ZONE_A_T1, 4},
    [ZONE_A_T1] = {"\1a\2t1", 6, ZONE_T1, 19, 3, ZONE_A_T1, 0},
    [ZONE_FWD] = {"\3fwd", 5, ZONE_ROOT, 19, 2, ZONE_FWD, 0},
    [ZONE_STUB] = {"\4stub", 6, ZONE_ROOT, 22, 2, ZONE_STUB, 0},
    [ZONE_SUB_STUB] = {"\3sub\4stub", 10, ZONE_STUB, 24, 2, ZONE_SUB_STUB, 0},
    [ZONE_C_E1_T0] = {"\1c\2e1\2t0", 9, ZONE_T0, 17, 2, ZONE_A_T1, 4},
};

/* ---- names ---- */

struct name truth_zone_name(enum truth_zone zone)
{
    return (struct name){(const uint8_t *)zones[zone].wire, zones[zone].len};
}

enum truth_zone truth_parent(enum truth_zone zone)
{
    return zones[zone].parent;
}

static enum truth_zone deepest_zone(struct name name)
{
    enum truth_zone best = ZONE_ROOT;
    for (enum truth_zone zone = ZONE_T0; zone < ZONE_COUNT; zone++)
        if (zones[zone].len > zones[best].len && name_is_below(name, truth_zone_name(zone)))
            best = zone;
    return best;
}

/* Reads a label that has a prefix and a number below 256, such as n17. */
static bool read_number(const uint8_t *label, const char *prefix, unsigned *number)
{
    size_t prefix_len = strlen(prefix), len = label[0];
    if (len <= prefix_len || len > prefix_len + 3)
        return false;
    for (size_t i = 0; i < prefix_len; i++)
        if (name_fold_byte(label[1 + i]) != (uint8_t)prefix[i])
            return false;
    *number = 0;
    for (size_t i = prefix_len; i < len; i++) {
        uint8_t digit = label[1 + i];
        if (digit < '0' || digit > '9')
            return false;
        *number = *number * 10 + (digit - '0');
    }
    return *number < LEAF_COUNT;
}

static bool is_empty_label(const uint8_t *label)
{
    return label[0] == 2 && name_fold_byte(label[1]) == 'e' && label[2] == '1';
}

static bool is_host(enum truth_zone zone, unsigned number)
{
    for (enum truth_zone of = ZONE_ROOT; of < ZONE_COUNT; of++)
        if (zones[of].host_zone == zone && number >= zones[of].first_host &&
            number < (unsigned)zones[of].first_host + zones[of].count)
            return true;
    return false;
}

struct truth truth_of(struct name name)
{
    enum truth_zone zone = deepest_zone(name);
    struct truth truth = {TRUTH_NOWHERE, zone, 0, false};
    unsigned labels = name_label_count(name) - name_label_count(truth_zone_name(zone));
    if (labels == 0)
        truth.kind = TRUTH_APEX;
    else if (labels == 1 && is_empty_label(name.wire))
        truth.kind = TRUTH_EMPTY;
    else if (labels == 1 && read_number(name.wire, "ns", &truth.number))
        truth.kind = is_host(zone, truth.number) ? TRUTH_HOST : TRUTH_NOWHERE;
    else if (labels == 1 && read_number(name.wire, "n", &truth.number))
        truth.kind = TRUTH_LEAF;
    else if (labels == 2 && is_empty_label(name.wire + 1 + name.wire[0]) &&
             read_number(name.wire, "n", &truth.number)) {
        truth.kind = TRUTH_LEAF;
        truth.is_deep = true;
    }
    if (truth.kind == TRUTH_LEAF && truth.number % 32 == 23)
        truth.kind = TRUTH_NOWHERE;
    return truth;
}

static struct name name_with(const char *prefix, unsigned number, bool is_deep,
                             enum truth_zone zone, uint8_t out[NAME_WIRE_MAX])
{
    int label = snprintf((char *)out + 1, 8, "%s%u", prefix, number);
    size_t len = 1 + (size_t)label;
    out[0] = (uint8_t)label;
    if (is_deep) {
        memcpy(out + len, "\2e1", 3);
        len += 3;
    }
    memcpy(out + len, zones[zone].wire, zones[zone].len);
    return (struct name){out, (uint8_t)(len + zones[zone].len)};
}

struct name truth_leaf(enum truth_zone zone, unsigned number, bool is_deep,
                       uint8_t out[NAME_WIRE_MAX])
{
    return name_with("n", number % LEAF_COUNT, is_deep, zone, out);
}

static struct name host_name(enum truth_zone zone, unsigned i, uint8_t out[NAME_WIRE_MAX])
{
    return name_with("ns", zones[zone].first_host + i, false, zones[zone].host_zone, out);
}

/* ---- contents ---- */

bool truth_alias(struct name name, uint8_t out[NAME_WIRE_MAX], struct name *target)
{
    struct truth truth = truth_of(name);
    enum truth_zone other = (truth.zone + 3) % ZONE_C_E1_T0;
    if (truth.kind != TRUTH_LEAF)
        return false;
    switch (truth.number % 32) {
    case 20:
        *target = truth_leaf(truth.zone, truth.number + 5, truth.is_deep, out);
        return true;
    case 21:
        *target = truth_leaf(other, truth.number + 9, !truth.is_deep, out);
        return true;
    case 22: /* leads to another alias */
        *target = truth_leaf(other, truth.number - 1, false, out);
        return true;
    case 26: /* an alias loop */
        *target = truth_leaf(truth.zone, truth.number + 32, truth.is_deep, out);
        return true;
    default:
        return false;
    }
}

static struct name end_of_aliases(struct name name, uint8_t wire[NAME_WIRE_MAX], unsigned *hops)
{
    uint8_t next[NAME_WIRE_MAX];
    struct name target;
    name = name_fold(name, wire);
    for (*hops = 0; *hops < ALIASES_MAX && truth_alias(name, next, &target); ++*hops)
        name = name_copy(target, wire);
    return name;
}

uint16_t truth_rcode(struct name name)
{
    uint8_t wire[NAME_WIRE_MAX];
    unsigned hops;
    name = end_of_aliases(name, wire, &hops);
    if (hops == ALIASES_MAX)
        return RCODE_SERVFAIL;
    return truth_of(name).kind == TRUTH_NOWHERE ? RCODE_NXDOMAIN : RCODE_NOERROR;
}

static unsigned addr_count(const struct truth *truth)
{
    switch (truth->number % 32) {
    case 24:
        return 0;
    case LEAF_BIG:
        return BIG_ADDRS;
    default:
        return 1 + truth->number % 3;
    }
}

bool truth_has(struct name name, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    unsigned hops;
    struct truth truth = truth_of(end_of_aliases(name, wire, &hops));
    if (hops == ALIASES_MAX || truth.kind != TRUTH_LEAF)
        return false;
    return type == RRTYPE_TXT || (type == RRTYPE_A && addr_count(&truth) > 0) ||
           (type == RRTYPE_AAAA && truth.number % 2 == 0);
}

uint32_t truth_ttl(struct name owner)
{
    static const uint32_t ttls[] = {0, 1, 2, 5, 30, 60, 300, 3600};
    struct truth truth = truth_of(owner);
    return truth.kind == TRUTH_LEAF ? ttls[truth.number / 4 % ARRAY_LEN(ttls)] : TRUTH_TTL;
}

/* Makes address i of a leaf. */
static void leaf_addr(struct name owner, unsigned i, uint16_t type, uint8_t out[16])
{
    uint64_t hash = name_hash(owner, 4711) + i * UINT64_C(0x10001);
    memset(out, 0xfd, 16);
    out[0] = type == RRTYPE_A ? 198 : 0xfd;
    out[1] = type == RRTYPE_A ? (uint8_t)(18 + (hash >> 16 & 1)) : 9;
    out[2] = (uint8_t)(hash >> 8);
    out[3] = (uint8_t)hash;
}

static struct span leaf_text(struct name owner, uint8_t out[NAME_WIRE_MAX])
{
    out[0] = 9;
    snprintf((char *)out + 1, 10, "t%08x", (unsigned)name_hash(owner, 815));
    return span_of(out, 10);
}

static const char *host_addr(enum truth_zone zone, unsigned number)
{
    for (enum truth_zone of = ZONE_ROOT; of < ZONE_COUNT; of++)
        if (zones[of].host_zone == zone && number >= zones[of].first_host &&
            number < (unsigned)zones[of].first_host + zones[of].count)
            return truth_servers[zones[of].first_server + number - zones[of].first_host].addr;
    return NULL;
}

/* Makes the address of a host if it has this type. */
static struct span host_rdata(enum truth_zone zone, unsigned number, uint16_t type,
                              struct addr *space)
{
    size_t len = 0;
    *space = fake_addr(host_addr(zone, number));
    const uint8_t *bytes = addr_bytes(space, &len);
    return span_of(bytes, len == (type == RRTYPE_A ? 4u : 16u) ? len : 0);
}

/* ---- writing ---- */

void writer_begin(struct writer *out, uint8_t *data, size_t max, const struct message *query,
                  uint16_t flags)
{
    size_t len = query->bytes.len > HEADER_LEN && query->has_question
                     ? (size_t)HEADER_LEN + query->question.name.len + 4
                     : HEADER_LEN;
    *out = (struct writer){.data = data, .len = len, .max = max};
    memcpy(data, query->bytes.data, len);
    header_set_flags(data, (uint16_t)(HEADER_QR | (query->flags & HEADER_RD) | flags));
    put_u16(data + 4, len > HEADER_LEN);
    memset(data + 6, 0, 6);
}

static void put(struct writer *out, const void *data, size_t len)
{
    if (out->len + len > out->max) {
        out->is_full = true;
        return;
    }
    memcpy(out->data + out->len, data, len);
    out->len += len;
}

void writer_record(struct writer *out, enum section section, struct name owner, uint16_t type,
                   uint32_t ttl, struct span rdata)
{
    uint8_t fixed[10];
    struct name asked = {out->data + HEADER_LEN, owner.len};
    bool is_asked = get_u16(out->data + 4) && owner.len > 2 && name_equal(asked, owner);
    put_u16(fixed, type);
    put_u16(fixed + 2, RRCLASS_IN);
    put_u32(fixed + 4, ttl);
    put_u16(fixed + 8, (uint16_t)rdata.len);
    if (is_asked)
        put(out, "\xc0\x0c", 2);
    else
        put(out, owner.wire, owner.len);
    put(out, fixed, sizeof(fixed));
    put(out, rdata.data, rdata.len);
    header_set_count(out->data, section, (uint16_t)(header_count(out->data, section) + 1));
}

static void write_host(struct writer *out, enum section section, enum truth_zone zone,
                       unsigned number, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct addr space;
    struct span rdata = host_rdata(zone, number, type, &space);
    if (rdata.len > 0)
        writer_record(out, section, name_with("ns", number, false, zone, wire), type, TRUTH_TTL,
                      rdata);
}

static void write_servers(struct writer *out, enum section section, enum truth_zone zone,
                          enum truth_zone hosts)
{
    uint8_t host[NAME_WIRE_MAX];
    for (unsigned i = 0; i < zones[hosts].count; i++) {
        struct name name = host_name(hosts, i, host);
        writer_record(out, section, truth_zone_name(zone), RRTYPE_NS, TRUTH_TTL,
                      span_of(name.wire, name.len));
    }
}

/* Writes glue for names in the zone or in its parent's zone, as a real server does. */
static void write_glue(struct writer *out, enum truth_zone zone)
{
    enum truth_zone within = zones[zone].parent;
    if (!name_is_below(truth_zone_name(zones[zone].host_zone), truth_zone_name(within)))
        return;
    for (unsigned i = 0; i < zones[zone].count; i++) {
        unsigned number = zones[zone].first_host + i;
        write_host(out, SECTION_ADDITIONAL, zones[zone].host_zone, number, RRTYPE_A);
        write_host(out, SECTION_ADDITIONAL, zones[zone].host_zone, number, RRTYPE_AAAA);
    }
}

void truth_refer(struct writer *out, enum truth_zone zone, enum truth_zone hosts)
{
    write_servers(out, SECTION_AUTHORITY, zone, hosts);
    write_glue(out, hosts);
}

static struct span soa_rdata(enum truth_zone zone, uint8_t out[128])
{
    struct name name = truth_zone_name(zone);
    memcpy(out, name.wire, name.len);
    memcpy(out + name.len, name.wire, name.len);
    uint8_t *numbers = out + 2 * name.len;
    for (int i = 0; i < 5; i++)
        put_u32(numbers + 4 * i, 30);
    return span_of(out, 2 * (size_t)name.len + 20);
}

void truth_deny(struct writer *out, enum truth_zone zone)
{
    uint8_t rdata[128];
    writer_record(out, SECTION_AUTHORITY, truth_zone_name(zone), RRTYPE_SOA, 60,
                  soa_rdata(zone, rdata));
}

static bool write_leaf(struct writer *out, struct name owner, const struct truth *truth,
                       uint16_t type)
{
    uint8_t rdata[NAME_WIRE_MAX];
    unsigned count = type == RRTYPE_A ? addr_count(truth) : truth->number % 2 == 0;
    if (type == RRTYPE_TXT) {
        writer_record(out, SECTION_ANSWER, owner, type, truth_ttl(owner), leaf_text(owner, rdata));
        return true;
    }
    if (type != RRTYPE_A && type != RRTYPE_AAAA)
        return false;
    for (unsigned i = 0; i < count; i++) {
        leaf_addr(owner, i, type, rdata);
        writer_record(out, SECTION_ANSWER, owner, type, truth_ttl(owner),
                      span_of(rdata, type == RRTYPE_A ? 4 : 16));
    }
    return count > 0;
}

/* Writes the data of a name that has no alias. Returns false if it has no record of this type. */
static bool write_data(struct writer *out, struct name owner, uint16_t type)
{
    struct truth truth = truth_of(owner);
    uint8_t rdata[128];
    uint16_t before = header_count(out->data, SECTION_ANSWER);
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    if (type == RRTYPE_CNAME && truth_alias(owner, wire, &target)) {
        writer_record(out, SECTION_ANSWER, owner, type, truth_ttl(owner),
                      span_of(target.wire, target.len));
        return true;
    }
    if (truth.kind == TRUTH_LEAF)
        return write_leaf(out, owner, &truth, type);
    if (truth.kind == TRUTH_HOST && (type == RRTYPE_A || type == RRTYPE_AAAA))
        write_host(out, SECTION_ANSWER, truth.zone, truth.number, type);
    if (truth.kind == TRUTH_APEX && type == RRTYPE_NS)
        write_servers(out, SECTION_ANSWER, truth.zone, truth.zone);
    if (truth.kind == TRUTH_APEX && type == RRTYPE_NS && truth.zone == ZONE_ROOT)
        write_glue(out, ZONE_ROOT); /* the answer to priming */
    if (truth.kind == TRUTH_APEX && type == RRTYPE_SOA)
        writer_record(out, SECTION_ANSWER, owner, type, TRUTH_TTL, soa_rdata(truth.zone, rdata));
    return header_count(out->data, SECTION_ANSWER) > before;
}

/* Returns the deepest of these zones that contains the name, or ZONE_COUNT. */
static enum truth_zone zone_at(uint16_t mask, struct name name)
{
    enum truth_zone best = ZONE_COUNT;
    for (enum truth_zone zone = ZONE_ROOT; zone < ZONE_COUNT; zone++)
        if ((mask & BIT(zone)) && name_is_below(name, truth_zone_name(zone)) &&
            (best == ZONE_COUNT || zones[zone].len > zones[best].len))
            best = zone;
    return best;
}

/* Returns the delegated zone that contains the name, or ZONE_COUNT. */
static enum truth_zone delegated(enum truth_zone from, struct name name, uint16_t type)
{
    for (enum truth_zone zone = ZONE_T0; zone < ZONE_COUNT; zone++)
        if (zones[zone].parent == from && name_is_below(name, truth_zone_name(zone)) &&
            !(type == RRTYPE_DS && name_equal(name, truth_zone_name(zone))))
            return zone;
    return ZONE_COUNT;
}

/* Writes the records of the name, then those of each alias target. */
static void write_chain(struct writer *out, uint16_t mask, struct name name, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX], next[NAME_WIRE_MAX];
    struct name target;
    name = name_fold(name, wire);
    for (unsigned hops = 0;; hops++) {
        enum truth_zone zone = mask ? zone_at(mask, name) : truth_of(name).zone;
        if (zone == ZONE_COUNT || (mask && hops && delegated(zone, name, type) != ZONE_COUNT))
            return; /* the target is at other servers */
        if (hops < ALIASES_MAX && type != RRTYPE_CNAME && truth_alias(name, next, &target)) {
            writer_record(out, SECTION_ANSWER, name, RRTYPE_CNAME, truth_ttl(name),
                          span_of(target.wire, target.len));
            name = name_copy(target, wire);
            continue;
        }
        if (truth_of(name).kind == TRUTH_NOWHERE)
            header_set_rcode(out->data, RCODE_NXDOMAIN);
        if (!write_data(out, name, type))
            truth_deny(out, zone);
        return;
    }
}

void truth_answer(struct writer *out, uint8_t *data, size_t max, const struct message *query,
                  uint16_t mask)
{
    struct name name = query->question.name;
    uint16_t type = query->question.type;
    writer_begin(out, data, max, query, mask ? 0 : HEADER_RA);
    if (!mask) {
        write_chain(out, mask, name, type);
        return;
    }
    enum truth_zone zone = zone_at(mask, name);
    if (zone == ZONE_COUNT) {
        header_set_rcode(data, RCODE_REFUSED);
        return;
    }
    enum truth_zone below = delegated(zone, name, type);
    if (below != ZONE_COUNT) {
        truth_refer(out, below, below);
        return;
    }
    header_put(data, HEADER_AA, true);
    write_chain(out, mask, name, type);
}

void truth_lie(struct writer *out, enum section section, struct name owner, uint16_t type,
               uint32_t ttl)
{
    uint8_t mark[16];
    memset(mark, MARK, sizeof(mark));
    mark[0] = type == RRTYPE_TXT ? 15 : MARK;
    writer_record(out, section, owner, type, ttl, span_of(mark, type == RRTYPE_A ? 4 : 16));
}

/* ---- checking ---- */

bool truth_is_marked(uint16_t type, struct span rdata)
{
    if (type != RRTYPE_A && type != RRTYPE_AAAA && type != RRTYPE_TXT)
        return false;
    for (size_t i = 1; i < rdata.len; i++)
        if (rdata.data[i] != MARK)
            return false;
    return rdata.len > 1;
}

static bool leaf_holds(struct name owner, const struct truth *truth, uint16_t type,
                       struct span rdata)
{
    uint8_t wanted[NAME_WIRE_MAX];
    if (type == RRTYPE_TXT) {
        struct span text = leaf_text(owner, wanted);
        return text.len == rdata.len && memcmp(text.data, rdata.data, text.len) == 0;
    }
    unsigned count = type == RRTYPE_A ? addr_count(truth) : truth->number % 2 == 0;
    for (unsigned i = 0; i < count; i++) {
        leaf_addr(owner, i, type, wanted);
        if (memcmp(wanted, rdata.data, rdata.len) == 0)
            return true;
    }
    return false;
}

bool truth_holds(struct name owner, uint16_t type, const struct message *message,
                 const struct rr *rr)
{
    struct span rdata = message_rdata(message, rr);
    struct truth truth = truth_of(owner);
    uint8_t wire[NAME_WIRE_MAX], wanted[NAME_WIRE_MAX];
    struct name target, right;
    struct addr space;
    if (type == RRTYPE_CNAME)
        return truth_alias(owner, wanted, &right) && message_target(message, rr, wire, &target) &&
               name_equal(target, right);
    if (type != RRTYPE_A && type != RRTYPE_AAAA && type != RRTYPE_TXT)
        return truth.kind == TRUTH_APEX;
    if (truth.kind == TRUTH_LEAF)
        return leaf_holds(owner, &truth, type, rdata);
    if (truth.kind != TRUTH_HOST || type == RRTYPE_TXT)
        return false;
    struct span host = host_rdata(truth.zone, truth.number, type, &space);
    return host.len == rdata.len && memcmp(host.data, rdata.data, host.len) == 0;
}
