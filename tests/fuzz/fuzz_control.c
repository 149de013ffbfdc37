/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Both ends of the control socket. The bytes are read as a reply, as nailupctl does, and as a
 * request. The words of a good request are sent through a reply, and the same number must come out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "control/reply.h"
#include "control/request.h"
#include "ctl/answer.h"
#include "ctl/print.h"
#include "ctl/rates.h"

/* Prints the text and takes its memory. */
static void print_if_good(char *text, size_t len, size_t rows_wanted)
{
    static FILE *nowhere;
    const struct print_style style = {.width = (unsigned)len % 200, .colour = len & 1};
    struct parsed_reply answer, previous;
    char *again = malloc(len + 1);

    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    MUST(again);
    memcpy(again, text, len);
    if (answer_parse(&answer, text, len)) {
        MUST(rows_wanted == SIZE_MAX);
        free(again);
        return;
    }
    MUST(rows_wanted == SIZE_MAX || answer.tables[0].row_count == rows_wanted);
    print_text(&answer, &style, nowhere);
    print_json(&answer, nowhere);
    MUST(answer_parse(&previous, again, len) == ERR_OK);
    rates_add(&answer, &previous, 1000000);
    print_text(&answer, &style, nowhere);
    answer_deinit(&previous);
    answer_deinit(&answer);
}

static void as_reply(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    MUST(text);
    memcpy(text, data, size);
    print_if_good(text, size, SIZE_MAX);
}

static void send_words(int count, const char *const words[])
{
    struct reply reply;

    reply_init(&reply, CONTROL_REPLY_MAX);
    reply_ok(&reply);
    reply_table(&reply, "words", "word:text\tagain:count");
    for (int i = 0; i < count; i++) {
        reply_row(&reply);
        reply_text(&reply, words[i]);
        reply_count(&reply, (uint64_t)i);
        reply_row_end(&reply);
    }
    reply_end(&reply);
    struct span all = buf_span(&reply.buf);
    char *text = malloc(all.len + 1);
    MUST(text);
    memcpy(text, all.data, all.len);
    print_if_good(text, all.len, (size_t)count);
    reply_deinit(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *words[CONTROL_WORDS_MAX];
    char *line = malloc(size + 1);
    int count;

    as_reply(data, size);
    MUST(line);
    memcpy(line, data, size);
    if (request_split(line, size, &count, words))
        send_words(count, words);
    free(line);
    return 0;
}
