/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_JSON_H
#define NAILUP_BENCH_JSON_H

/*
 * Writes one line of JSON to a stream, commas included. Keys are constants and need no escaping. In
 * an array the key is NULL.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *out;
    bool needs_comma;
};

void json_open(struct json *json, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *json, char bracket);                 /* '}' or ']' */
void json_u64(struct json *json, const char *key, uint64_t value);
void json_number(struct json *json, const char *key, double value); /* with six digits */
void json_text(struct json *json, const char *key, const char *value);

#endif
