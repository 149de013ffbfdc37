/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Writes answers from local data. local_names.c decides what they contain. */
#include "local/local_answer.h"

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"

static void put_hop(struct compose *compose, const struct local_hop *hop)
{
    struct span rdata;
    for (uint32_t at = 0; local_rrset_next(hop->table, hop->rrset, &at, &rdata);)
        compose_rr(compose, hop->owner, local_rrset_type(hop->rrset), local_rrset_ttl(hop->rrset),
                   rdata);
}

/* A denial lives as long as the smaller of the SOA's TTL and MINIMUM (RFC 2308 section 3). */
static void put_soa(struct compose *compose, const struct local_result *result)
{
    uint32_t at = 0;
    struct span rdata;
    MUST(local_rrset_next(result->soa_table, result->soa, &at, &rdata));
    MUST(rdata.len >= 4);
    uint32_t minimum = get_u32(rdata.data + rdata.len - 4);
    compose_rr(compose, result->soa_owner, RRTYPE_SOA, MIN(local_rrset_ttl(result->soa), minimum),
               rdata);
}

/* Writes an SOA with the values of RFC 6303 section 3. */
static void make_soa(struct compose *compose, struct name owner, uint32_t ttl_s)
{
    static const uint8_t rname[] = "\6nobody\7invalid";
    uint8_t rdata[NAME_WIRE_MAX + sizeof(rname) + 20];
    size_t len = owner.len;
    const uint32_t numbers[] = {1, 3600, 1200, 604800, ttl_s};
    memcpy(rdata, owner.wire, len);
    memcpy(rdata + len, rname, sizeof(rname));
    len += sizeof(rname);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++, len += 4)
        put_u32(rdata + len, numbers[i]);
    compose_rr(compose, owner, RRTYPE_SOA, ttl_s, span_of(rdata, len));
}

static enum answer_kind result_kind(const struct local_result *result)
{
    if (result->rcode == RCODE_NXDOMAIN)
        return ANSWER_NXDOMAIN;
    if (result->rcode != RCODE_NOERROR)
        return ANSWER_FAILURE;
    return result->has_soa ? ANSWER_NODATA : ANSWER_POSITIVE;
}

void local_answer(struct answer *out, struct compose_space *space, const struct question *question,
                  const struct local_result *result, uint64_t now)
{
    struct compose compose;
    compose_begin(&compose, space, question, (uint16_t)(HEADER_AA | result->rcode));
    for (unsigned i = 0; i < result->hops; i++)
        put_hop(&compose, &result->hop[i]);
    if (result->has_soa) {
        build_section(&compose.build, SECTION_AUTHORITY);
        if (result->soa)
            put_soa(&compose, result);
        else
            make_soa(&compose, result->soa_owner, result->soa_ttl_s);
    }
    if (compose_end(&compose, out)) {
        compose_describe(out, result_kind(result), result->ede, now);
        return;
    }
    compose_failure(out, space->bytes, question, RCODE_SERVFAIL);
    compose_describe(out, ANSWER_FAILURE, EDE_OTHER, now);
}

void local_answer_any(struct answer *out, struct compose_space *space,
                      const struct question *question, uint64_t now)
{
    static const uint8_t hinfo[] = "\7RFC8482"; /* the OS field is empty */
    struct compose compose;
    compose_begin(&compose, space, question, 0);
    compose_rr(&compose, question->name, RRTYPE_HINFO, LOCAL_ANY_TTL_S,
               span_of(hinfo, sizeof(hinfo)));
    MUST(compose_end(&compose, out));
    compose_describe(out, ANSWER_POSITIVE, EDE_NONE, now);
}
