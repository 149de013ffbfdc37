/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_KIND_H
#define NAILUP_CONFIG_KIND_H

/*
 * Values of options as text: durations, sizes, numbers, words, names. Converts one word to one
 * field and back, without positions or options.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/arena.h"

enum kind {
#define SCALAR(name, type, takes) KIND_##name,
#define LIST(name, type, takes) KIND_##name,
#include "config/kinds.def"
    KIND_COUNT_OF_KINDS
};

enum {
    KIND_STRING_MAX = 1024, /* bytes of a path or text */
    KIND_TEXT_MAX = 2100,   /* the longest formatted value: a string with every character escaped */
};

bool kind_is_list(enum kind kind);

/* The size of the field in bytes. */
size_t kind_size(enum kind kind);

/* Completes "takes ...". */
const char *kind_takes(enum kind kind);

/* The words of the kind, each followed by a NUL, with another NUL at the end; NULL if it has none.
 */
const char *kind_words(enum kind kind);

/* Whether values of the kind are numbers with bounds. */
bool kind_is_number(enum kind kind);

/*
 * Reads the number that text means to a numeric kind: microseconds of a duration, bytes of a size,
 * else the number itself. False if text is not of the kind or exceeds 64 bits. The duration "never"
 * is 0.
 */
bool kind_parse_number(enum kind kind, const char *text, uint64_t *number);

/* Stores a number of kind_parse_number() in the field, which must have room for it. */
void kind_store_number(enum kind kind, uint64_t number, void *field);

/* Reads a scalar into the field, without checking bounds. False if the text is not of the kind, or
 * if the arena, which owns copies, has failed. */
bool kind_parse(enum kind kind, const char *text, struct arena *arena, void *field);

/* Reads a host name of a certificate, in lower case and without a final dot. False if it is not
 * one. An IP address passes too; the caller tells them apart. */
bool kind_parse_host_name(const char *text, char out[ADDR_NAME_MAX]);

/* Formats the field of a scalar kind as YAML that kind_parse() reads back. Returns out. */
const char *kind_format(enum kind kind, const void *field, char out[KIND_TEXT_MAX]);

#endif
