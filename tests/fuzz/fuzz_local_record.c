/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads any bytes as records in wire form, each after its length. Each accepted record is in an
 * answer. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "local/local_answer.h"
#include "local/local_build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OWNERS_MAX = 32 };

static void ask(const struct local_names *names, struct name name, uint16_t type)
{
    static struct compose_space space;
    const struct question question = {name, type, RRCLASS_IN};
    struct local_result result;
    struct answer answer;
    struct message message;
    enum local_verdict verdict = local_names_find(names, &question, &result);
    MUST(verdict != LOCAL_NOT);
    local_answer(&answer, &space, &question, &result, 0);
    MUST(message_parse(&message, answer.message) == MESSAGE_OK);
    MUST(message_check_rdata(&message));
    MUST(answer.kind == ANSWER_FAILURE || message.counts[SECTION_ANSWER] > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct local_build *build = local_build_new();
    struct local_names *names;
    struct span rest = span_of(data, size), record;
    struct name owners[OWNERS_MAX];
    uint8_t wires[OWNERS_MAX][NAME_WIRE_MAX];
    uint16_t types[OWNERS_MAX];
    size_t count = 0;
    uint8_t len;
    MUST(build);
    while (count < OWNERS_MAX && span_take_u8(&rest, &len) && span_take(&rest, len, &record)) {
        const char *why;
        enum err err = local_build_record(build, record, &why);
        MUST(err == ERR_OK || err == ERR_LIMIT || (err == ERR_INVALID && why));
        if (err)
            continue;
        size_t after = name_view(record, 0, &owners[count]);
        MUST(after);
        owners[count] = name_fold(owners[count], wires[count]);
        types[count++] = get_u16(record.data + after);
    }
    MUST(local_build_end(&build, &names) == ERR_OK);
    while (count-- > 0)
        ask(names, owners[count], types[count]);
    local_names_free(names);
    return 0;
}
