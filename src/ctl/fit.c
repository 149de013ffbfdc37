/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Each line ends with '\n', except perhaps the last. */

#include "ctl/fit.h"

#include <string.h>

#include "ctl/colour.h"

static size_t fit_count_lines(const char *text)
{
    size_t count = 0;
    for (; *text; count++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return count;
}

/* The bytes of a colour at the beginning: ESC [ digits m. 0: none. */
static size_t fit_colour_len(const char *line, size_t len)
{
    size_t at = 2;
    if (len < 3 || line[0] != '\033' || line[1] != '[')
        return 0;
    while (at < len && strchr("0123456789;", line[at]))
        at++;
    return at < len && line[at] == 'm' ? at + 1 : 0;
}

/* The bytes of the first width characters; continuation bytes and colours count for nothing. */
static size_t fit_cut(const char *line, size_t len, unsigned width)
{
    size_t bytes = 0;
    for (unsigned shown = 0; bytes < len; bytes++) {
        size_t colour = fit_colour_len(line + bytes, len - bytes);
        if (colour > 0)
            bytes += colour - 1;
        else if (((unsigned char)line[bytes] & 0xc0) == 0x80)
            continue;
        else if (shown++ == width)
            break;
    }
    return bytes;
}

static void fit_print_line(const char *line, size_t len, unsigned width,
                           const struct fit_frame *frame, FILE *out)
{
    fputs(frame->begin, out);
    size_t cut = fit_cut(line, len, width);
    fwrite(line, 1, cut, out);
    if (cut < len && memchr(line, '\033', cut))
        fputs(COLOUR_END, out);
    fputs(frame->end, out);
}

unsigned fit_print(const char *text, unsigned width, unsigned height, const struct fit_frame *frame,
                   FILE *out)
{
    size_t lines = fit_count_lines(text);
    size_t shown = lines <= height ? lines : height > 0 ? height - 1 : 0;
    char rest[48];

    for (size_t i = 0; i < shown; i++) {
        size_t len = strcspn(text, "\n");
        fit_print_line(text, len, width, frame, out);
        text += len + (text[len] == '\n');
    }
    if (lines <= height || height == 0)
        return (unsigned)shown;
    int len = snprintf(rest, sizeof(rest), "(%zu more lines)", lines - shown);
    fit_print_line(rest, (size_t)len, width, frame, out);
    return (unsigned)shown + 1;
}
