/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "resolve/bogus.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/duration_text.h"
#include "dns/name.h"
#include "validate/validation.h"

/* Bytes of the zone's name, as text; with the hint, and without. */
enum { BOGUS_ZONE_HINTED_MAX = 44, BOGUS_ZONE_MAX = 56 };

enum { BOGUS_AGE_MAX = DURATION_TEXT_MAX + 5 };

static const char bogus_hint[] = "; a private zone needs validate: no";

/* " 3 days ago", or "" where the instant is unknown or not in the past. */
static void bogus_put_age(char out[BOGUS_AGE_MAX], const struct verdict *verdict, uint32_t now_s)
{
    char text[DURATION_TEXT_MAX];
    uint32_t age_s = verdict->since_s ? now_s - verdict->since_s : 0;
    out[0] = '\0';
    if (age_s && age_s <= INT32_MAX)
        snprintf(out, BOGUS_AGE_MAX, " %s ago", duration_text(text, age_s));
}

const char *bogus_text(char out[ANSWER_TEXT_MAX], const struct verdict *verdict, uint32_t now_s)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name zone = name_fold((struct name){verdict->zone, verdict->zone_len}, wire);
    char age[BOGUS_AGE_MAX], text[NAME_TEXT_MAX];
    size_t zone_max = verdict->may_be_private ? BOGUS_ZONE_HINTED_MAX : BOGUS_ZONE_MAX;
    name_format(zone, text);
    while (strlen(text) > zone_max) {
        zone = name_parent(zone);
        name_format(zone, text);
    }
    if (text[1])
        text[strlen(text) - 1] = '\0'; /* the final dot */
    bogus_put_age(age, verdict, now_s);
    snprintf(out, ANSWER_TEXT_MAX, "%s%s, zone %.*s%s", verdict->fault, age, (int)BOGUS_ZONE_MAX,
             text, verdict->may_be_private ? bogus_hint : "");
    return out;
}

uint32_t bogus_ttl(const struct answer *before, uint64_t now_us)
{
    if (!before || before->kind != ANSWER_FAILURE || before->security != SECURITY_BOGUS)
        return BOGUS_TTL_MIN_S;
    uint32_t age_s = answer_age(before, now_us);
    bool is_new = age_s >= before->ttl_s && age_s - before->ttl_s >= BOGUS_TTL_MAX_S;
    return is_new
               ? BOGUS_TTL_MIN_S
               : MIN(MAX(2 * before->ttl_s, (uint32_t)BOGUS_TTL_MIN_S), (uint32_t)BOGUS_TTL_MAX_S);
}
