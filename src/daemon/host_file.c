/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Invariant: a text is read as a whole or not at all, because a part of it may have lost the
 * addresses that count.
 */
#include "daemon/host_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/name.h"

#define HOST_FILE_VERSION "nailup hosts 1"
#define HOST_FILE_END "end"

const struct host_saved *host_file_find(const struct host_file *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->list[i].name, name) == 0)
            return &file->list[i];
    return NULL;
}

/* ---- reading ---- */

/* Takes the line before the next newline. False: no line is left, or it cannot be
 * one of ours. */
static bool host_file_take_line(struct span *text, char line[HOST_FILE_LINE_MAX])
{
    const uint8_t *newline = text->len ? memchr(text->data, '\n', text->len) : NULL;
    struct span taken, end;
    if (!newline || newline - text->data >= HOST_FILE_LINE_MAX)
        return false;
    MUST(span_take(text, (size_t)(newline - text->data), &taken) && span_take(text, 1, &end));
    memcpy(line, taken.data, taken.len);
    line[taken.len] = '\0';
    return strlen(line) == taken.len;
}

static bool host_file_read_name(struct host_saved *saved, const char *word)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    size_t len = word ? strlen(word) : 0;
    if (len == 0 || len >= sizeof(saved->name) || name_parse(&name, wire, word, len))
        return false;
    memcpy(saved->name, word, len + 1);
    return true;
}

static bool host_file_read_time(struct host_saved *saved, const char *word)
{
    size_t len = word ? strlen(word) : 0;
    if (len == 0 || len > 15 || strspn(word, "0123456789") != len)
        return false;
    saved->answered_s = (int64_t)strtoll(word, NULL, 10);
    return true;
}

static bool host_file_read_addr(struct host_saved *saved, const char *word)
{
    if (saved->count == ZONE_HOST_ADDRS_MAX || strpbrk(word, "@%"))
        return false;
    return addr_parse(&saved->addrs[saved->count++], word, 0) == ERR_OK;
}

static bool host_file_read_line(struct host_saved *saved, char *line)
{
    char *rest = NULL, *word = strtok_r(line, " ", &rest);
    *saved = (struct host_saved){0};
    if (!host_file_read_name(saved, word) ||
        !host_file_read_time(saved, strtok_r(NULL, " ", &rest)))
        return false;
    while ((word = strtok_r(NULL, " ", &rest)))
        if (!host_file_read_addr(saved, word))
            return false;
    return saved->count > 0;
}

static bool host_file_read_lines(struct host_file *out, struct span text)
{
    char line[HOST_FILE_LINE_MAX];
    if (!host_file_take_line(&text, line) || strcmp(line, HOST_FILE_VERSION) != 0)
        return false;
    while (host_file_take_line(&text, line)) {
        if (strcmp(line, HOST_FILE_END) == 0)
            return text.len == 0;
        if (out->count == CONFIG_HOSTS_MAX || !host_file_read_line(&out->list[out->count++], line))
            return false;
    }
    return false;
}

enum err host_file_read(struct host_file *out, struct span text)
{
    out->count = 0;
    if (host_file_read_lines(out, text))
        return ERR_OK;
    out->count = 0;
    return ERR_INVALID;
}

/* ---- writing ---- */

static enum err host_file_write_line(struct buf *out, const struct host_saved *saved)
{
    char line[HOST_FILE_LINE_MAX], addr[ADDR_TEXT_MAX];
    int len = snprintf(line, sizeof(line), "%s %" PRId64, saved->name, saved->answered_s);
    for (size_t i = 0; i < saved->count; i++)
        len += snprintf(line + len, sizeof(line) - (size_t)len, " %s",
                        addr_format_ip(&saved->addrs[i], addr));
    MUST(len > 0 && (size_t)len < sizeof(line) - 1);
    line[len++] = '\n';
    return buf_append(out, line, (size_t)len);
}

enum err host_file_write(struct buf *out, const struct host_file *file)
{
    enum err err = buf_append(out, HOST_FILE_VERSION "\n", strlen(HOST_FILE_VERSION) + 1);
    for (size_t i = 0; !err && i < file->count; i++)
        err = host_file_write_line(out, &file->list[i]);
    return err ? err : buf_append(out, HOST_FILE_END "\n", strlen(HOST_FILE_END) + 1);
}
