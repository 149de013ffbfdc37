/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_TRANSFER_XFR_PLAY_H
#define NAILUP_TESTS_TRANSFER_XFR_PLAY_H

/*
 * Transfers as text. A message is a list of records: "S5" is the SOA record of serial 5, "a1" the
 * address 192.0.2.1 of a.example.com, "~1" an address of a name outside the zone. The sink writes
 * what it gets in the same words: "whole +S5 +a1", "changes -S4 -a1 +S5".
 */

#include "unit/dns/sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "dns/build.h"
#include "dns/rrtype.h"

enum { PLAY_MESSAGE_MAX = 16384, PLAY_ID = 0x1234 };

static inline void play_soa(struct build *build, struct name zone, uint32_t serial)
{
    build_rr_begin(build, zone, RRTYPE_SOA, RRCLASS_IN, 3600);
    build_name_compressed(build, zone);
    build_name_compressed(build, zone);
    build_u32(build, serial);
    build_u32(build, 3600);
    build_u32(build, 600);
    build_u32(build, 86400);
    build_u32(build, 60);
    build_rr_end(build);
}

static inline void play_address(struct build *build, const char *word)
{
    char text[64];
    snprintf(text, sizeof(text), "%c.%s", *word == '~' ? 'x' : *word,
             *word == '~' ? "example.net" : "example.com");
    build_rr_begin(build, NAME(text), RRTYPE_A, RRCLASS_IN, 300);
    build_u32(build, UINT32_C(0xc0000200) + (uint32_t)atoi(word + 1));
    build_rr_end(build);
}

/* Writes an answer with these records; type 0: without a question. Returns its length. */
static inline size_t play_message(uint8_t out[PLAY_MESSAGE_MAX], uint16_t type, const char *records)
{
    struct build build;
    struct question question = {NAME("example.com"), type, RRCLASS_IN};
    build_init(&build, out, PLAY_MESSAGE_MAX);
    build_header(&build, PLAY_ID, HEADER_QR | HEADER_AA);
    if (type)
        build_question(&build, &question);
    build_section(&build, SECTION_ANSWER);
    for (const char *at = records; *at; at += strcspn(at, " "), at += *at == ' ') {
        if (*at == 'S')
            play_soa(&build, NAME("example.com"), (uint32_t)strtoul(at + 1, NULL, 10));
        else
            play_address(&build, at);
    }
    size_t len = build_finish(&build);
    assert_true(len > 0);
    return len;
}

#endif
