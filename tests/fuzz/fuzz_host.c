/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The first byte chooses what the rest is: the text of a server by name, or a server's answer about
 * its addresses. The bounds of the book of addresses must hold.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "config/host_text.h"
#include "daemon/host_book.h"

static void fuzz_text(const uint8_t *data, size_t size)
{
    char text[1024];
    struct host_text host;
    size = MIN(size, sizeof(text) - 1);
    memcpy(text, data, size);
    text[size] = '\0';
    if (!host_text_parse(&host, text))
        return;
    MUST(*host.name && strlen(host.name) < ADDR_NAME_MAX);
    MUST(!strpbrk(host.name, "@# \"'\\"));
}

/* The message is the answer to both questions, and the types of its records decide. */
static void fuzz_answer(const uint8_t *data, size_t size)
{
    struct message message;
    struct host_answer answers[HOST_BOTH];
    struct host_book book;
    if (message_parse(&message, span_of(data, size)) != MESSAGE_OK || !message.has_question)
        return;
    struct question question = message.question;
    for (uint16_t i = 0; i < HOST_BOTH; i++) {
        question.type = i ? 28 : 1;
        host_answer_read(&answers[i], &message, &question);
        MUST(answers[i].count <= HOST_ANSWER_MAX);
        MUST((answers[i].kind == HOST_FOUND) == (answers[i].count > 0));
    }
    host_book_init(&book, "dns.example");
    MUST(host_book_take(&book, answers, US_PER_S, 1) == (book.count > 0));
    MUST(!host_book_take(&book, answers, 2 * US_PER_S, 2));
    MUST(book.count <= ZONE_HOST_ADDRS_MAX);
    MUST(book.due_at > 2 * US_PER_S);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] & 1)
        fuzz_text(data + 1, size - 1);
    else
        fuzz_answer(data + 1, size - 1);
    return 0;
}
