/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * What names answered here have: records, and addresses of hosts.
 *
 * Invariant: what the readers of the table rely on is checked here: each record has the shape of
 * its type, an alias stands alone, and an RRset fits an answer.
 */
#include <stdio.h>
#include <string.h>

#include "dns/message.h"
#include "dns/rdata.h"
#include "local/local_build.h"
#include "local/local_build_inside.h"
#include "local/local_names.h"

/* ---- records ---- */

static bool holds(const struct local_names *names, const struct local_rrset *rrset,
                  struct span rdata)
{
    struct span other;
    for (uint32_t at = 0; local_rrset_next(names, rrset, &at, &other);)
        if (span_equal(other, rdata))
            return true;
    return false;
}

static enum err append_record(struct local_build *build, uint32_t rrset_place, struct span rdata)
{
    struct local_names *names = build->names;
    if (names->record_count == LOCAL_RECORDS_MAX || names->rdata_len + rdata.len > LOCAL_RDATA_MAX)
        return ERR_LIMIT;
    if (!LOCAL_ROOM(build, records, record_count, 1, record_room) ||
        !LOCAL_ROOM(build, rdata, rdata_len, rdata.len + 1, rdata_room))
        return ERR_NO_MEMORY;
    struct local_record *record = &names->records[names->record_count++];
    *record = (struct local_record){.at = (uint32_t)names->rdata_len, .len = (uint16_t)rdata.len};
    if (rdata.len)
        memcpy(names->rdata + names->rdata_len, rdata.data, rdata.len);
    names->rdata_len += rdata.len;
    struct local_rrset *rrset = local_rrset_at(names, rrset_place);
    uint32_t place = (uint32_t)names->record_count;
    if (rrset->first)
        local_record_at(names, rrset->last)->next = place;
    else
        rrset->first = place;
    rrset->last = place;
    rrset->count++;
    rrset->bytes += (uint32_t)rdata.len;
    return ERR_OK;
}

static uint32_t local_records_place_of(const struct local_names *names,
                                       const struct local_rrset *rrset)
{
    return (uint32_t)(rrset - names->rrsets) + 1;
}

enum err local_records_add(struct local_build *build, uint32_t *chain, uint16_t type,
                           uint32_t ttl_s, struct span rdata)
{
    struct local_names *names = build->names;
    struct local_rrset *rrset = local_rrset_find(names, *chain, type);
    if (rrset && holds(names, rrset, rdata))
        return ERR_OK;
    if (rrset &&
        (rrset->count == LOCAL_RRSET_MAX || rrset->bytes + rdata.len > LOCAL_RRSET_BYTES_MAX))
        return ERR_LIMIT;
    uint32_t place;
    if (rrset) {
        place = local_records_place_of(names, rrset);
    } else {
        if (!LOCAL_ROOM(build, rrsets, rrset_count, 1, rrset_room))
            return ERR_NO_MEMORY;
        names->rrsets[names->rrset_count++] =
            (struct local_rrset){.next = *chain, .ttl_s = ttl_s, .type = type};
        place = *chain = (uint32_t)names->rrset_count;
    }
    return append_record(build, place, rdata);
}

static enum err local_records_add_rr(struct local_build *build, struct name owner, uint16_t type,
                                     uint32_t ttl_s, struct span rdata)
{
    uint32_t place;
    enum err err = local_build_node(build, owner, &place);
    if (err)
        return err;
    uint32_t chain = build->names->nodes[place].rrsets;
    bool is_first = chain == 0;
    err = local_records_add(build, &chain, type, ttl_s, rdata);
    build->names->nodes[place].rrsets = chain;
    return err || !is_first ? err : local_build_mark_above(build, owner);
}

static const struct local_node *find_node(const struct local_build *build, struct name name)
{
    const uint32_t *number = name_map_find(build->names->map, name);
    return number ? local_node_at(build->names, *number) : NULL;
}

static bool has_rrset(const struct local_build *build, struct name name, uint16_t type)
{
    const struct local_node *node = find_node(build, name);
    return node && local_rrset_find(build->names, node->rrsets, type);
}

bool local_build_has_records(const struct local_build *build, struct name name)
{
    const struct local_node *node = find_node(build, name);
    return node && node->rrsets;
}

/* RFC 2181 section 10.1; a second target for an alias is as wrong. NULL: fine. */
static const char *alias_trouble(const struct local_build *build, struct name owner, uint16_t type,
                                 struct span rdata)
{
    const struct local_node *node = find_node(build, owner);
    const struct local_rrset *cname =
        node ? local_rrset_find(build->names, node->rrsets, RRTYPE_CNAME) : NULL;
    if (type == RRTYPE_CNAME && cname && !holds(build->names, cname, rdata))
        return "its name has a CNAME with another target";
    if (type != RRTYPE_CNAME && cname)
        return "its name has a CNAME, beside which nothing may stand";
    if (type == RRTYPE_CNAME && node && node->rrsets && !cname)
        return "its name has other records, beside which no CNAME may stand";
    return NULL;
}

/* Names in RDATA stand there whole, as it is taken out of its message. */
static bool is_whole(const struct message *message, const struct rr *rr)
{
    struct rdata_parts parts;
    struct name name;
    struct span rdata = message_rdata(message, rr);
    if (!rdata_split(message, rr, &parts))
        return false;
    if (!parts.layout || parts.layout->names == 0)
        return true;
    size_t at = parts.names_offset - (size_t)(rdata.data - message->bytes.data);
    for (unsigned i = 0; i < parts.layout->names; i++) {
        at = name_view(rdata, at, &name);
        if (!at)
            return false;
    }
    return true;
}

/* The record as a message of its own, so that it is looked at as those of strangers are. */
static const char *local_records_read_record(struct local_build *build, struct span record,
                                             struct message *message, struct rr *rr)
{
    if (record.len > RECORD_MAX)
        return "it is too long";
    memset(build->message, 0, HEADER_LEN);
    put_u16(build->message + 6, 1);
    memcpy(build->message + HEADER_LEN, record.data, record.len);
    struct span bytes = span_of(build->message, HEADER_LEN + record.len);
    if (bytes.len > MESSAGE_MAX || message_parse(message, bytes) != MESSAGE_OK)
        return "it is no record";
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    if (!message_rr_next(&iter, rr) || !message_check_rr(message, rr) || !is_whole(message, rr))
        return "its data is not that of its type";
    if (rr->cls != RRCLASS_IN)
        return "its class is not IN";
    if (rrtype_is_meta(rr->type))
        return "its type is not for data";
    return NULL;
}

enum err local_build_record(struct local_build *build, struct span record, const char **why)
{
    struct message message;
    struct rr rr;
    uint8_t wire[NAME_WIRE_MAX];
    *why = local_records_read_record(build, record, &message, &rr);
    if (*why)
        return ERR_INVALID;
    struct name owner = message_owner(&message, &rr, wire);
    struct span rdata = message_rdata(&message, &rr);
    name_fold(owner, wire);
    owner.wire = wire;
    *why = alias_trouble(build, owner, rr.type, rdata);
    if (!*why && rdata.len > LOCAL_RRSET_BYTES_MAX)
        *why = "it is too long";
    if (*why)
        return ERR_INVALID;
    return local_records_add_rr(build, owner, rr.type, MIN(rr.ttl, (uint32_t)INT32_MAX), rdata);
}

/* ---- hosts ---- */

static struct name local_records_reverse_name(const struct addr *addr, uint8_t out[NAME_WIRE_MAX])
{
    static const char digits[] = "0123456789abcdef";
    char text[NAME_WIRE_MAX];
    size_t len = 0;
    struct span bytes = local_address_rdata(addr);
    struct name name;
    for (size_t i = bytes.len; i-- > 0;) {
        if (bytes.len == 4)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%u.", bytes.data[i]);
        else
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%c.%c.",
                                    digits[bytes.data[i] & 15], digits[bytes.data[i] >> 4]);
    }
    snprintf(text + len, sizeof(text) - len, bytes.len == 4 ? "in-addr.arpa" : "ip6.arpa");
    MUST(name_parse(&name, out, text, strlen(text)) == ERR_OK);
    return name;
}

enum err local_build_host(struct local_build *build, struct name name, const struct addr *addr,
                          bool with_ptr)
{
    uint8_t wire[NAME_WIRE_MAX];
    if (has_rrset(build, name, RRTYPE_CNAME))
        return ERR_OK;
    enum err err = local_records_add_rr(build, name, local_address_type(addr), LOCAL_HOSTS_TTL_S,
                                        local_address_rdata(addr));
    if (err || !with_ptr || addr_is_any(addr))
        return err;
    struct name reverse = local_records_reverse_name(addr, wire);
    if (local_build_has_records(build, reverse))
        return ERR_OK;
    return local_records_add_rr(build, reverse, RRTYPE_PTR, LOCAL_HOSTS_TTL_S,
                                span_of(name.wire, name.len));
}

bool local_build_is_full(const struct local_build *build)
{
    const struct local_names *names = build->names;
    return names->record_count == LOCAL_RECORDS_MAX ||
           names->rdata_len + LOCAL_RRSET_BYTES_MAX > LOCAL_RDATA_MAX ||
           name_map_is_full(names->map);
}

/* ---- special use ---- */

enum err local_build_special_rr(struct local_build *build, struct name owner, uint16_t type,
                                struct span rdata)
{
    if (has_rrset(build, owner, type) || has_rrset(build, owner, RRTYPE_CNAME))
        return ERR_OK;
    return local_records_add_rr(build, owner, type, LOCAL_SPECIAL_TTL_S, rdata);
}
