/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads owner names of rules. rpz_rules.c decides which records make a rule. */
#include "rpz/rpz_owner.h"

#include <string.h>

#include "base/check.h"

enum {
    V4_PARTS = 4,
    V6_PARTS = 8, /* of 16 bits each */
    PARTS_MAX = V6_PARTS,
};

static const char *const trigger_names[RPZ_TRIGGERS] = {
    [RPZ_CLIENT_IP] = "client-ip", [RPZ_QNAME] = "qname", [RPZ_IP] = "ip",
    [RPZ_NSDNAME] = "nsdname",     [RPZ_NSIP] = "nsip",
};

const char *rpz_trigger_name(enum rpz_trigger trigger)
{
    return trigger_names[trigger];
}

static bool label_is(const uint8_t *label, const char *text)
{
    size_t len = strlen(text);
    return label[0] == len && memcmp(label + 1, text, len) == 0;
}

/* ---- prefixes ---- */

static int owner_digit(uint8_t byte, unsigned base)
{
    int digit = byte >= '0' && byte <= '9' ? byte - '0' : byte >= 'a' ? byte - 'a' + 10 : -1;
    return digit >= 0 && digit < (int)base ? digit : -1;
}

/* Reads a label as a number without leading zeros. */
static bool owner_read_number(const uint8_t *label, unsigned base, unsigned max, unsigned *out)
{
    unsigned len = label[0], number = 0;
    if (len == 0 || len > 4 || (len > 1 && label[1] == '0'))
        return false;
    for (unsigned i = 1; i <= len; i++) {
        int digit = owner_digit(label[i], base);
        if (digit < 0)
            return false;
        number = number * base + (unsigned)digit;
    }
    *out = number;
    return number <= max;
}

static bool make_prefix(struct prefix *out, int family, const void *bytes, unsigned length)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    bool is_v4 = family == AF_INET;
    if (is_v4)
        memcpy(&v4.sin_addr, bytes, 4);
    else
        memcpy(&v6.sin6_addr, bytes, 16);
    const void *sockaddr = is_v4 ? (const void *)&v4 : (const void *)&v6;
    out->length = (uint8_t)length;
    /* An IPv4-mapped address would become IPv4, whose prefix lengths differ. */
    return !addr_from_sockaddr(&out->addr, sockaddr) && addr_family(&out->addr) == family;
}

static bool has_host_bits(const uint8_t *bytes, unsigned size, unsigned length)
{
    for (unsigned bit = length; bit < size * 8; bit++)
        if (bytes[bit / 8] & 0x80 >> bit % 8)
            return true;
    return false;
}

/* The labels of an address begin with its last part. */
static bool read_v4(const uint8_t *const *labels, unsigned length, struct prefix *out)
{
    uint8_t bytes[V4_PARTS];
    for (unsigned i = 0; i < V4_PARTS; i++) {
        unsigned part;
        if (!owner_read_number(labels[i], 10, 255, &part))
            return false;
        bytes[V4_PARTS - 1 - i] = (uint8_t)part;
    }
    return length >= 1 && length <= 32 && !has_host_bits(bytes, sizeof(bytes), length) &&
           make_prefix(out, AF_INET, bytes, length);
}

/* "zz" replaces all missing parts, which are zero, like "::" in text. */
static bool read_v6(const uint8_t *const *labels, unsigned count, unsigned length,
                    struct prefix *out)
{
    uint8_t bytes[2 * V6_PARTS] = {0};
    unsigned place = V6_PARTS, missing = V6_PARTS + 1 - count;
    bool has_gap = false;
    for (unsigned i = 0; i < count; i++) {
        unsigned part;
        if (label_is(labels[i], "zz")) {
            if (has_gap || missing == 0)
                return false;
            has_gap = true;
            place -= missing;
            continue;
        }
        if (place == 0 || !owner_read_number(labels[i], 16, 0xffff, &part))
            return false;
        place--;
        bytes[2 * place] = (uint8_t)(part >> 8);
        bytes[2 * place + 1] = (uint8_t)part;
    }
    return place == 0 && length >= 1 && length <= 128 &&
           !has_host_bits(bytes, sizeof(bytes), length) &&
           make_prefix(out, AF_INET6, bytes, length);
}

/* Reads "LENGTH.PART.PART...": the name without the label of its trigger. */
static bool owner_read_prefix(struct name name, struct prefix *out)
{
    const uint8_t *labels[PARTS_MAX];
    unsigned count = 0, length;
    const uint8_t *label = name.wire;
    if (!owner_read_number(label, 10, 128, &length))
        return false;
    for (label += *label + 1; *label; label += *label + 1) {
        if (count == PARTS_MAX)
            return false;
        labels[count++] = label;
    }
    bool has_gap = false;
    for (unsigned i = 0; i < count; i++)
        has_gap |= label_is(labels[i], "zz");
    if (count == V4_PARTS && !has_gap)
        return read_v4(labels, length, out);
    return (count == V6_PARTS || has_gap) && read_v6(labels, count, length, out);
}

/* ---- the owner ---- */

static const uint8_t *last_label(struct name name)
{
    const uint8_t *label = name.wire;
    while (label[label[0] + 1])
        label += label[0] + 1;
    return label;
}

/* Finds the trigger by the last label, and removes that label. False: a form that has no meaning.
 */
static bool take_trigger(struct rpz_owner *out)
{
    static const struct {
        const char *label;
        enum rpz_trigger trigger;
    } forms[] = {
        {"rpz-client-ip", RPZ_CLIENT_IP},
        {"rpz-ip", RPZ_IP},
        {"rpz-nsdname", RPZ_NSDNAME},
        {"rpz-nsip", RPZ_NSIP},
    };
    const uint8_t *last = last_label(out->name);
    out->trigger = RPZ_QNAME;
    if (last[0] < 4 || memcmp(last + 1, "rpz-", 4) != 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (!label_is(last, forms[i].label))
            continue;
        size_t at = (size_t)(last - out->wire);
        out->trigger = forms[i].trigger;
        out->wire[at] = 0;
        out->name.len = (uint8_t)(at + 1);
        return at > 0;
    }
    return false;
}

enum rpz_owner_kind rpz_owner_read(struct rpz_owner *out, struct name owner, struct name origin)
{
    MUST(name_is_below(owner, origin));
    if (owner.len == origin.len)
        return RPZ_OWNER_APEX;
    out->name = name_fold(owner, out->wire);
    out->name.len = (uint8_t)(owner.len - origin.len + 1);
    out->wire[out->name.len - 1] = 0;
    out->is_wildcard = false;
    if (!take_trigger(out))
        return RPZ_OWNER_UNSOUND;
    if (!rpz_trigger_is_name(out->trigger))
        return owner_read_prefix(out->name, &out->prefix) ? RPZ_OWNER_RULE : RPZ_OWNER_UNSOUND;
    out->is_wildcard = label_is(out->wire, "*");
    if (out->is_wildcard)
        out->name = name_parent(out->name);
    return RPZ_OWNER_RULE;
}
