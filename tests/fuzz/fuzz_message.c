/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Parses any bytes as a message, iterates, checks, and rebuilds every record. The rebuilt message
 * must parse, have the same names and sound RDATA.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "dns/copy.h"
#include "dns/rrtype.h"
#include "dns/ttl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Copies the records. *len is 0 if they do not fit into a message after decompression. */
static unsigned rebuild(const struct message *message, uint8_t *out, size_t size, size_t *len)
{
    struct build build;
    struct copy copy;
    unsigned copied = 0;
    build_init(&build, out, size);
    build_header(&build, message->id, message->flags);
    if (message->has_question)
        build_question(&build, &message->question);
    copy_init(&copy, &build, message);
    struct rr_iter iter = message_all_rrs(message);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        build_section(&build, rr.section);
        if (rr.type == RRTYPE_OPT)
            continue;
        bool is_sound = message_check_rr(message, &rr);
        MUST(copy_rr(&copy, &rr, rr.ttl) == is_sound);
        copied += is_sound;
    }
    *len = build_finish(&build);
    return copied;
}

static bool next_sound(const struct message *message, struct rr_iter *iter, struct rr *rr)
{
    while (message_rr_next(iter, rr))
        if (rr->type != RRTYPE_OPT && message_check_rr(message, rr))
            return true;
    return false;
}

static void compare(const struct message *before, const struct message *after)
{
    struct rr_iter old = message_all_rrs(before), new = message_all_rrs(after);
    struct rr a, b;
    while (next_sound(before, &old, &a)) {
        uint8_t a_wire[NAME_WIRE_MAX], b_wire[NAME_WIRE_MAX];
        struct name target;
        MUST(message_rr_next(&new, &b));
        MUST(a.type == b.type && a.cls == b.cls && a.ttl == b.ttl && a.section == b.section);
        MUST(message_owner_is(after, &b, message_owner(before, &a, a_wire)));
        MUST(message_check_rr(after, &b));
        MUST(message_target(before, &a, a_wire, &target) ==
             message_target(after, &b, b_wire, &target));
    }
    MUST(!message_rr_next(&new, &b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t out[MESSAGE_MAX];
    struct message message, again;
    enum message_check check = message_parse(&message, span_of(data, size));
    MUST((check == MESSAGE_SHORT) == (size < HEADER_LEN || size > MESSAGE_MAX));
    uint16_t offsets[32];
    uint32_t ttl;
    if (check == MESSAGE_SHORT)
        return 0;
    ttl_collect(&message, offsets, 32);
    (void)!ttl_of_negative(&message, &ttl, NULL);
    size_t len;
    unsigned copied = rebuild(&message, out, sizeof(out), &len);
    if (check != MESSAGE_OK || len == 0)
        return 0;
    enum message_check recheck = message_parse(&again, span_of(out, len));
    /* Only a TSIG record may make this check fail: a dropped record leaves it in a wrong place. */
    MUST(recheck == MESSAGE_OK || message.has_tsig);
    if (recheck != MESSAGE_OK)
        return 0;
    MUST(again.counts[1] + again.counts[2] + again.counts[3] == (int)copied);
    MUST(message_check_rdata(&again));
    compare(&message, &again);
    /* half the room must make the build report an overflow */
    rebuild(&message, out, len / 2, &len);
    MUST(len == 0 || len <= sizeof(out));
    return 0;
}
