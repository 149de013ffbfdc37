/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A text that can be read can be written, and then has the same entries. The book that takes it
 * must still have room for an answer.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "daemon/host_book.h"
#include "daemon/host_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entry(const struct host_saved *saved)
{
    struct host_answer answers[HOST_BOTH] = {{.kind = HOST_FOUND, .count = 1}};
    struct host_book book;
    MUST(*saved->name && strlen(saved->name) < ADDR_NAME_MAX);
    MUST(saved->count > 0 && saved->count <= ZONE_HOST_ADDRS_MAX && saved->answered_s >= 0);
    MUST(addr_parse(&answers[0].addrs[0], "192.0.2.77", 0) == ERR_OK);
    host_book_init(&book, saved->name);
    host_book_restore(&book, saved->addrs, saved->count, saved->answered_s);
    MUST(book.count > 0 && book.count <= saved->count);
    host_book_take(&book, answers, US_PER_S, 1);
    MUST(book.count <= ZONE_HOST_ADDRS_MAX);
}

static void check_round_trip(const struct host_file *file)
{
    static struct host_file back;
    struct buf text;
    buf_init(&text, HOST_FILE_BYTES_MAX);
    MUST(host_file_write(&text, file) == ERR_OK);
    MUST(host_file_read(&back, buf_span(&text)) == ERR_OK && back.count == file->count);
    for (size_t i = 0; i < back.count; i++)
        MUST(memcmp(&back.list[i], &file->list[i], sizeof(back.list[i])) == 0);
    buf_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct host_file file;
    uint8_t *text = malloc(size + !size); /* exact size, except for an empty text */
    if (!text)
        abort();
    memcpy(text, data, size);
    enum err err = host_file_read(&file, span_of(text, size));
    free(text);
    MUST(err == ERR_OK || (err == ERR_INVALID && file.count == 0));
    for (size_t i = 0; i < file.count; i++)
        check_entry(&file.list[i]);
    if (!err)
        check_round_trip(&file);
    return 0;
}
