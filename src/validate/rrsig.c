/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Fields of RRSIG records, and the checks without cryptography. The caller supplies the clock and
 * the key. Invariant: a usable signature has a signer at or above the owner, and a wildcard that it
 * was expanded from is not above the signer.
 */
#include "validate/rrsig.h"

#include "base/check.h"
#include "dns/rrtype.h"

enum { SKEW_MIN_S = 3600, SKEW_MAX_S = 86400 };

bool rrsig_read(struct rrsig *out, struct span rdata)
{
    if (rdata.len < RRSIG_SIGNER_AT)
        return false;
    size_t after = name_view(rdata, RRSIG_SIGNER_AT, &out->signer);
    if (!after || after == rdata.len)
        return false;
    const uint8_t *at = rdata.data;
    out->covered = get_u16(at);
    out->algorithm = at[2];
    out->labels = at[3];
    out->original_ttl = get_u32(at + 4);
    out->expiration = get_u32(at + 8);
    out->inception = get_u32(at + 12);
    out->tag = get_u16(at + 16);
    out->signature = span_of(at + after, rdata.len - after);
    out->rdata = rdata;
    return true;
}

/* Returns how many labels an RRSIG counts for this owner, without the root and a leading asterisk
 * (RFC 4034 section 3.1.3). */
static unsigned signed_labels(struct name owner)
{
    bool is_wildcard = owner.wire[0] == 1 && owner.wire[1] == '*';
    return name_label_count(owner) - is_wildcard;
}

/* Returns a - b in serial arithmetic (RFC 1982). */
static int32_t seconds_between(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

static enum rrsig_fault rrsig_check_dates(const struct rrsig *sig, uint32_t now_s)
{
    int32_t life_s = seconds_between(sig->expiration, sig->inception);
    if (life_s < 0)
        return RRSIG_ENDS_BEFORE_IT_BEGINS;
    int32_t skew_s = MAX(SKEW_MIN_S, MIN(life_s / 10, SKEW_MAX_S));
    if (seconds_between(now_s, sig->expiration) > skew_s)
        return RRSIG_EXPIRED;
    if (seconds_between(sig->inception, now_s) > skew_s)
        return RRSIG_NOT_YET_VALID;
    return RRSIG_USABLE;
}

enum rrsig_fault rrsig_check(const struct rrsig *sig, struct name owner, uint16_t type,
                             const struct rrsig_clock *clock)
{
    if (sig->covered != type || !name_is_below(owner, sig->signer))
        return RRSIG_UNRELATED;
    if (type == RRTYPE_DS && sig->signer.len == owner.len)
        return RRSIG_UNRELATED;
    if (sig->labels < name_label_count(sig->signer) || sig->labels > signed_labels(owner))
        return RRSIG_LABELS;
    enum rrsig_fault fault = rrsig_check_dates(sig, clock->now_s);
    return clock->is_behind && fault == RRSIG_NOT_YET_VALID ? RRSIG_USABLE : fault;
}

bool rrsig_is_earlier(uint32_t date, uint32_t other)
{
    return seconds_between(date, other) < 0;
}

uint32_t rrsig_seconds_left(const struct rrsig *sig, const struct rrsig_clock *clock)
{
    int32_t left_s = seconds_between(sig->expiration, clock->now_s);
    return left_s > 0 ? (uint32_t)left_s : 0;
}

bool rrsig_is_expanded(const struct rrsig *sig, struct name owner)
{
    return sig->labels < signed_labels(owner);
}
