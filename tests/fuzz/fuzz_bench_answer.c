/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The responder's answer to any bytes must fit its buffer, and be a response to the question. The
 * first byte chooses the transport, the settings and the place in a tree of zones. */

#include <string.h>

#include "base/check.h"
#include "bench/answer.h"
#include "bench/tree.h"
#include "bench/wire.h"

static struct tree tree;
static struct tree_place places[TREE_LEVELS * 2];

/* Fills the tree with two servers at each level. */
static void plant(void)
{
    struct addr addr;
    MUST(addr_parse(&addr, "127.0.0.2@53", 0) == ERR_OK);
    for (unsigned i = 2; i < TREE_LEVELS * 2; i++)
        MUST(tree_add(&tree, i / 2, &addr, &places[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t out[ANSWER_MAX + 1];
    struct addr from;
    if (tree.counts[TREE_ROOT] == 0)
        plant();
    if (size < 1 || addr_parse(&from, "127.0.0.1@1", 0) != ERR_OK)
        return 0;
    struct answer_style style = {
        .keepalive = data[0] & 1 ? 0 : ANSWER_KEEPALIVE_NONE,
        .cookies = data[0] >> 1 & 1 ? ANSWER_COOKIES_REQUIRED : ANSWER_COOKIES_ON,
        .lower_case = data[0] >> 2 & 1,
        .authoritative = data[0] >> 3 & 1,
        .place = data[0] >> 5 ? &places[(data[0] >> 5) + 2] : NULL,
    };
    out[ANSWER_MAX] = 0xA5;
    struct bench_answer answer =
        answer_make(&style, span_of(data + 1, size - 1), data[0] >> 4 & 1, &from, out);
    MUST(out[ANSWER_MAX] == 0xA5 && answer.len <= ANSWER_MAX);
    if (answer.verdict == ANSWER_SEND) {
        MUST(answer.len >= WIRE_HEADER_BYTES && out[2] & 0x80);
        MUST(get_u16(out + 4) == 0 || wire_question_end(span_of(out, answer.len)) > 0);
    }
    return 0;
}
