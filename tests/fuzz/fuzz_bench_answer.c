/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The responder's answer to any bytes: fits its room, and is a response to what was asked. The
 * first byte chooses the transport and the settings. */

#include <string.h>

#include "base/check.h"
#include "bench/answer.h"
#include "bench/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t out[ANSWER_MAX + 1];
    struct addr from;
    if (size < 1 || addr_parse(&from, "127.0.0.1@1", 0) != ERR_OK)
        return 0;
    struct answer_style style = {
        .keepalive = data[0] & 1 ? 0 : ANSWER_KEEPALIVE_NONE,
        .cookies = data[0] >> 1 & 1 ? ANSWER_COOKIES_REQUIRED : ANSWER_COOKIES_ON,
        .lower_case = data[0] >> 2 & 1,
        .authoritative = data[0] >> 3 & 1,
    };
    out[ANSWER_MAX] = 0xA5;
    struct answer answer =
        answer_make(&style, span_of(data + 1, size - 1), data[0] >> 4 & 1, &from, out);
    MUST(out[ANSWER_MAX] == 0xA5 && answer.len <= ANSWER_MAX);
    if (answer.verdict == ANSWER_SEND) {
        MUST(answer.len >= WIRE_HEADER_BYTES && out[2] & 0x80);
        MUST(get_u16(out + 4) == 0 || wire_question_end(span_of(out, answer.len)) > 0);
    }
    return 0;
}
