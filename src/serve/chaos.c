/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Answers four names of class CHAOS. query.c refuses all other names of that class. */
#include "serve/chaos.h"

#include <string.h>

#include "base/check.h"
#include "dns/build.h"
#include "dns/rrtype.h"

/* The operator's text for the name. NULL or "": none. */
static const char *text_of(struct name name, const struct server_options *options)
{
    static const struct {
        const char *wire;
        uint8_t len;
        bool is_version;
    } names[] = {
        {"\7version\4bind", 14, true},
        {"\7version\6server", 16, true},
        {"\2id\6server", 11, false},
        {"\10hostname\4bind", 15, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (name_equal(name, (struct name){(const uint8_t *)names[i].wire, names[i].len}))
            return names[i].is_version ? options->version : options->identity;
    return NULL;
}

bool chaos_answer(struct answer *out, struct chaos_space *space, const struct question *question,
                  const struct server_options *options)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question folded = *question;
    if (question->cls != RRCLASS_CH ||
        (question->type != RRTYPE_TXT && question->type != RRTYPE_ANY))
        return false;
    const char *text = text_of(question->name, options);
    size_t len = text ? strnlen(text, UINT8_MAX) : 0;
    if (len == 0)
        return false;
    struct build build;
    build_init(&build, space->bytes, sizeof(space->bytes));
    build_header(&build, 0, HEADER_QR | HEADER_AA | HEADER_RA);
    folded.name = name_fold(question->name, wire);
    build_question(&build, &folded);
    build_section(&build, SECTION_ANSWER);
    build_rr_begin(&build, folded.name, RRTYPE_TXT, RRCLASS_CH, 0);
    build_u8(&build, (uint8_t)len);
    build_bytes(&build, text, len);
    build_rr_end(&build);
    size_t size = build_finish(&build);
    MUST(size);
    *out = (struct answer){.message = span_of(space->bytes, size), .kind = ANSWER_POSITIVE};
    return true;
}
