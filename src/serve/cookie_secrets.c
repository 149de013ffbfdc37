/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads or makes the secrets of server cookies. The secret of a day is computed from the number of
 * the day and a master secret, which the process draws at first use. So all workers have the same
 * secrets without talking to each other, and no secret reveals another.
 */
#include "serve/cookie_secrets.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/rand.h"

/* ---- secrets of the operator ---- */

static int digit_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool cookie_secrets_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A line without its end. */
struct line {
    struct span text;
    unsigned number;
    size_t column; /* the next character to read, from 0 */
};

static bool cookie_secrets_next_line(struct span *rest, struct line *line)
{
    if (rest->len == 0)
        return false;
    const uint8_t *end = memchr(rest->data, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->data) : rest->len;
    line->text = span_of(rest->data, len);
    line->number++;
    line->column = 0;
    size_t taken = len + (end != NULL);
    *rest = span_of(rest->data + taken, rest->len - taken);
    return true;
}

static void skip_blanks(struct line *line)
{
    while (line->column < line->text.len && cookie_secrets_is_blank(line->text.data[line->column]))
        line->column++;
}

static bool is_at_end(const struct line *line)
{
    return line->column == line->text.len;
}

static enum err cookie_secrets_complain(struct cookie_secrets *out, const struct line *line,
                                        const char *what, char why[COOKIE_SECRETS_WHY_MAX])
{
    out->count = 0;
    snprintf(why, COOKIE_SECRETS_WHY_MAX, "%u:%zu: %s", line->number, line->column + 1, what);
    return ERR_INVALID;
}

/* False: the rest of the line is not 32 digits and then white space; line->column is the wrong
 * character. */
static bool read_secret(struct line *line, uint8_t secret[SIPHASH_KEY_BYTES])
{
    for (size_t i = 0; i < 2 * (size_t)SIPHASH_KEY_BYTES; i++, line->column++) {
        int value = is_at_end(line) ? -1 : digit_value(line->text.data[line->column]);
        if (value < 0)
            return false;
        secret[i / 2] = (uint8_t)(secret[i / 2] << 4 | value);
    }
    skip_blanks(line);
    return is_at_end(line);
}

enum err cookie_secrets_parse(struct cookie_secrets *out, struct span text,
                              char why[COOKIE_SECRETS_WHY_MAX])
{
    struct line line = {0};
    *out = (struct cookie_secrets){0};
    while (cookie_secrets_next_line(&text, &line)) {
        skip_blanks(&line);
        if (is_at_end(&line) || line.text.data[line.column] == '#')
            continue;
        if (out->count == COOKIE_SECRETS_MAX)
            return cookie_secrets_complain(out, &line, "more secrets than 4; remove the oldest",
                                           why);
        if (!read_secret(&line, out->list[out->count]))
            return cookie_secrets_complain(
                out, &line,
                "a secret is 32 hexadecimal digits on its own line, as `openssl "
                "rand -hex 16` prints",
                why);
        out->count++;
    }
    if (out->count > 0)
        return ERR_OK;
    line.number = 1;
    line.column = 0;
    return cookie_secrets_complain(out, &line,
                                   "there is no secret; `openssl rand -hex 16` prints one", why);
}

/* ---- secrets of the process ---- */

static uint8_t master[2][SIPHASH_KEY_BYTES]; /* one for each half of a secret */
static pthread_once_t master_once = PTHREAD_ONCE_INIT;

static void draw_master(void)
{
    rand_bytes(master, sizeof(master));
}

static void make_secret(uint8_t out[SIPHASH_KEY_BYTES], uint32_t day)
{
    for (size_t half = 0; half < 2; half++) {
        uint64_t value = siphash_2_4(master[half], &day, sizeof(day));
        memcpy(out + half * sizeof(value), &value, sizeof(value));
    }
}

void cookie_secrets_of_day(struct cookie_secrets *out, uint32_t day)
{
    (void)pthread_once(&master_once, draw_master);
    *out = (struct cookie_secrets){.count = 3};
    make_secret(out->list[0], day);
    make_secret(out->list[1], day - 1);
    make_secret(out->list[2], day + 1);
}
