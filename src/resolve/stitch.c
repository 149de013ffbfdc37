/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Writes the sections of two scrubbed answers one after the other. Each was scrubbed for its own
 * zone, so only the number of aliases is checked here.
 */
#include "resolve/stitch.h"

#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "resolve/alias.h"
#include "validate/rrsig.h"

struct part {
    const struct answer *answer;
    struct message message;
    uint32_t age_s;
};

static void part_init(struct part *part, const struct answer *answer, uint64_t now)
{
    part->answer = answer;
    MUST(message_parse(&part->message, answer->message) == MESSAGE_OK);
    part->age_s = answer_age(answer, now);
}

static uint32_t aged(uint32_t ttl, uint32_t age_s)
{
    return ttl > age_s ? ttl - age_s : 0;
}

static void stitch_append(struct compose *compose, const struct part *part, enum section section)
{
    struct copy copy;
    copy_init(&copy, &compose->build, &part->message);
    struct rr_iter iter = message_rrs(&part->message, section);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        compose_copy(compose, &copy, &rr, aged(rr.ttl, part->age_s));
}

static unsigned count_aliases(const struct part *part)
{
    unsigned count = 0;
    struct rr_iter iter = message_rrs(&part->message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        count += rr.type == RRTYPE_CNAME;
    return count;
}

/* Returns the lesser of both (RFC 4035 section 3.2.3). A part without a verdict, for example local
 * data or the answer of a zone that is not validated, makes the whole insecure, unless the aliases
 * are the part without a verdict: then the question's zone is not validated. */
static uint8_t security_of(const struct answer *head, const struct answer *tail)
{
    if (head->security == tail->security || head->security == SECURITY_UNCHECKED)
        return head->security;
    return SECURITY_INSECURE;
}

/* The signer is that of the QNAME, which the head is about. */
static struct answer_signed signatures_of(const struct answer *head, const struct answer *tail)
{
    struct answer_signed all = head->signatures;
    if (!all.until_s || !tail->signatures.until_s)
        return (struct answer_signed){0};
    if (rrsig_is_earlier(tail->signatures.until_s, all.until_s))
        all.until_s = tail->signatures.until_s;
    return all;
}

bool stitch(struct answer *out, struct compose_space *space, const struct question *question,
            const struct answer *head, const struct answer *tail, uint64_t now)
{
    struct part parts[2];
    part_init(&parts[0], head, now);
    part_init(&parts[1], tail, now);
    if (count_aliases(&parts[0]) + count_aliases(&parts[1]) > ALIAS_HOPS_MAX)
        return false;

    struct compose compose;
    uint16_t ad = parts[0].message.flags & parts[1].message.flags & HEADER_AD;
    uint16_t rcode = parts[1].message.flags & HEADER_RCODE_MASK;
    compose_begin(&compose, space, question, ad | rcode);
    for (enum section section = SECTION_ANSWER; section < SECTION_COUNT; section++) {
        build_section(&compose.build, section);
        stitch_append(&compose, &parts[0], section);
        stitch_append(&compose, &parts[1], section);
    }
    if (!compose_end(&compose, out))
        return false;
    out->kind = tail->kind;
    out->ttl_s = MIN(aged(head->ttl_s, parts[0].age_s), aged(tail->ttl_s, parts[1].age_s));
    out->stored_at = now;
    out->ede_count = tail->ede_count; /* the reason for an empty end, for example */
    memcpy(out->ede, tail->ede, sizeof(out->ede));
    if (!out->ede_count && head->ede_count && head->security == SECURITY_INSECURE)
        out->ede[out->ede_count++] = head->ede[0]; /* why it is insecure */
    out->security = security_of(head, tail);
    if (out->security == SECURITY_SECURE)
        out->signatures = signatures_of(head, tail);
    return true;
}
