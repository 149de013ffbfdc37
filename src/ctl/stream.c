/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Copies lines of the daemon to the standard output.
 *
 * Invariant: with json, the output is valid JSON after stream_end(), whatever the daemon sent.
 */

#include "ctl/stream.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/print.h"
#include "ctl/utf8.h"
#include "nailup/control.h"

enum err stream_begin(struct stream *stream, FILE *out, bool json)
{
    *stream = (struct stream){.out = out, .json = json};
    stream->line = malloc(CONTROL_TEXT_LINE_MAX + 1);
    if (!stream->line)
        return ERR_NO_MEMORY;
    if (json)
        fputs("{\"text\": [", out);
    return ERR_OK;
}

/* Leaves out every byte that could control the terminal, except tabs, which zone files contain. */
static void print_plain(struct stream *stream)
{
    for (char *field = stream->line; field;) {
        char *tab = strchr(field, '\t');
        if (tab)
            *tab = '\0';
        fputs(utf8_clean(field), stream->out);
        if (tab)
            fputc('\t', stream->out);
        field = tab ? tab + 1 : NULL;
    }
    fputc('\n', stream->out);
}

static void stream_take_line(struct stream *stream)
{
    stream->line[stream->len] = '\0';
    if (strcmp(stream->line, "end") == 0) {
        stream->is_over = true;
        return;
    }
    if (stream->json) {
        fputs(stream->count ? ",\n " : "\n ", stream->out);
        print_json_string(stream->line, stream->out);
    } else {
        print_plain(stream);
    }
    stream->count++;
    stream->len = 0;
}

bool stream_take(struct stream *stream, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (stream->is_over || stream->len == CONTROL_TEXT_LINE_MAX)
            return false;
        if (bytes[i] == '\n')
            stream_take_line(stream);
        else
            stream->line[stream->len++] = bytes[i];
    }
    return true;
}

bool stream_end(struct stream *stream)
{
    if (stream->json)
        fputs("]}\n", stream->out);
    free(stream->line);
    stream->line = NULL;
    return stream->is_over;
}
