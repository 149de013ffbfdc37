/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A JSON writer of five verbs.
 */

#include "json.h"

#include <inttypes.h>
#include <math.h>

static void put_key(struct json *json, const char *key)
{
    if (json->needs_comma)
        fputs(", ", json->out);
    if (key)
        fprintf(json->out, "\"%s\": ", key);
    json->needs_comma = true;
}

void json_open(struct json *json, const char *key, char bracket)
{
    put_key(json, key);
    fputc(bracket, json->out);
    json->needs_comma = false;
}

void json_close(struct json *json, char bracket)
{
    fputc(bracket, json->out);
    json->needs_comma = true;
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
    put_key(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void json_number(struct json *json, const char *key, double value)
{
    put_key(json, key);
    if (isfinite(value))
        fprintf(json->out, "%.6g", value);
    else
        fputs("null", json->out);
}

void json_text(struct json *json, const char *key, const char *value)
{
    put_key(json, key);
    fputc('"', json->out);
    for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(json->out, "\\%c", *p);
        else if (*p < 0x20)
            fprintf(json->out, "\\u%04x", *p);
        else
            fputc(*p, json->out);
    }
    fputc('"', json->out);
}
