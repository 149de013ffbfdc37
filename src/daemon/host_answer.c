/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The addresses are sorted, because many servers rotate them: the order says nothing.
 */
#include "daemon/host_answer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "resolve/alias.h"
#include "resolve/route.h"

static bool host_answer_addr(struct addr *out, uint16_t type, struct span rdata)
{
    *out = (struct addr){0};
    if (type == RRTYPE_A && rdata.len == sizeof(out->in.sin_addr)) {
        out->in.sin_family = AF_INET;
        memcpy(&out->in.sin_addr, rdata.data, rdata.len);
        return true;
    }
    if (type == RRTYPE_AAAA && rdata.len == sizeof(out->in6.sin6_addr)) {
        out->in6.sin6_family = AF_INET6;
        memcpy(&out->in6.sin6_addr, rdata.data, rdata.len);
        return true;
    }
    return false;
}

static int host_answer_order(const void *one, const void *other)
{
    size_t len;
    const uint8_t *a = addr_bytes(one, &len), *b = addr_bytes(other, &len);
    return memcmp(a, b, len);
}

/* The first HOST_ANSWER_MAX by address, so that the same ones count every time. */
static void host_answer_add(struct host_answer *out, const struct addr *addr)
{
    size_t last = out->count;
    for (size_t i = 0; i < out->count; i++)
        if (addr_equal(&out->addrs[i], addr))
            return;
    if (out->count < HOST_ANSWER_MAX)
        out->count++;
    else if (host_answer_order(addr, &out->addrs[--last]) >= 0)
        return;
    out->addrs[last] = *addr;
    qsort(out->addrs, out->count, sizeof(out->addrs[0]), host_answer_order);
}

static void host_answer_take(struct host_answer *out, const struct message *message,
                             struct name owner, uint16_t type)
{
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        struct addr addr;
        bool is_alias = rr.type == RRTYPE_CNAME || rr.type == RRTYPE_DNAME;
        bool is_ours = rr.type == type && message_owner_is(message, &rr, owner) &&
                       host_answer_addr(&addr, type, message_rdata(message, &rr));
        if (is_ours)
            host_answer_add(out, &addr);
        if (is_ours || is_alias)
            out->ttl_s = MIN(out->ttl_s, rr.ttl);
    }
}

void host_answer_read(struct host_answer *out, const struct message *message,
                      const struct question *question)
{
    static const struct zone everything = {.name = {(const uint8_t *)"", 1}};
    struct alias_chain chain;
    uint16_t rcode = message_rcode(message);
    *out = (struct host_answer){.kind = HOST_FAILED, .ttl_s = UINT32_MAX};
    if (rcode == RCODE_NXDOMAIN)
        out->kind = HOST_NONE;
    if (rcode != RCODE_NOERROR)
        return;
    alias_follow(&chain, message, question, &everything);
    if (chain.end == ALIAS_NOTHING)
        out->kind = HOST_NONE;
    if (chain.end != ALIAS_DATA)
        return;
    host_answer_take(out, message, chain.name, question->type);
    if (out->count > 0)
        out->kind = HOST_FOUND;
}
