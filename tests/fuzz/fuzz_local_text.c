/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads any bytes as a hosts file, as a block list and as questions. Listed names are blocked,
 * reports point into the text, and answers parse.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "local/local_answer.h"
#include "local/local_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_problem(void *context, size_t line, size_t column, struct span word,
                       const char *sentence)
{
    const struct span *text = context;
    MUST(line > 0 && column > 0 && *sentence);
    MUST(word.data >= text->data && word.data + word.len <= text->data + text->len);
}

static struct local_names *make(struct span text, bool is_list)
{
    const struct local_text_report report = {on_problem, &text};
    struct local_build *build = local_build_new();
    struct local_names *names;
    uint32_t list;
    MUST(build);
    MUST(local_build_list(build, LOCAL_REDIRECT, NULL, 0, &list) == ERR_OK);
    MUST((is_list ? local_text_list(build, list, text, &report)
                  : local_text_hosts(build, text, &report)) == ERR_OK);
    MUST(local_build_end(&build, &names) == ERR_OK);
    return names;
}

static void ask(const struct local_names *names, struct name name, uint16_t type)
{
    static struct compose_space space;
    const struct question question = {name, type, RRCLASS_IN};
    struct local_result result;
    struct answer answer;
    struct message message;
    if (local_names_find(names, &question, &result) == LOCAL_NOT)
        return;
    MUST(local_names_has(names, name, type));
    local_answer(&answer, &space, &question, &result, 0);
    MUST(message_parse(&message, answer.message) == MESSAGE_OK);
    MUST(message_check_rdata(&message));
}

/* Looks up a name in wire form at each byte. */
static void ask_all(const struct local_names *names, struct span bytes)
{
    static const uint16_t types[] = {RRTYPE_A, RRTYPE_PTR, RRTYPE_DS, RRTYPE_ANY};
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    for (size_t at = 0; at < bytes.len && at < 64; at++) {
        if (!name_view(bytes, at, &name))
            continue;
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
            ask(names, name_fold(name, wire), types[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct span text = span_of(data, size);
    for (int is_list = 0; is_list < 2; is_list++) {
        struct local_names *names = make(text, is_list);
        ask_all(names, text);
        local_names_free(names);
    }
    return 0;
}
