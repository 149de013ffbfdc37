/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_KIND_H
#define NAILUP_CONFIG_KIND_H

/*
 * Values of options as text: durations, sizes, numbers, words, names. One word in, one field out,
 * and back. No position and no option is known here.
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
    KIND_TEXT_MAX = 2100,   /* of a formatted value: a string with each character escaped */
};

bool kind_is_list(enum kind kind);

/* Bytes of the field. */
size_t kind_size(enum kind kind);

/* Completes "takes ...". */
const char *kind_takes(enum kind kind);

/* The words of a kind that has some: NUL after each, another at the end. NULL: it has none. */
const char *kind_words(enum kind kind);

/* Whether values of the kind are numbers, with an order and bounds. */
bool kind_is_number(enum kind kind);

/*
 * The number that text means to a kind with numbers: microseconds of a duration, bytes of a size,
 * else the number itself. false: it is not of the kind, or no 64 bits hold it. A duration that may
 * be "never" is 0 then.
 */
bool kind_parse_number(enum kind kind, const char *text, uint64_t *number);

/* Puts a number of kind_parse_number() into the field; it fits. */
void kind_store_number(enum kind kind, uint64_t number, void *field);

/* Reads a scalar kind into the field; false when the text is not of the kind. Bounds are not
 * looked at. Copies are made in the arena. */
bool kind_parse(enum kind kind, const char *text, struct arena *arena, void *field);

/* A host name as certificates have it, into lower case and without a dot at the end. False: it is
 * none. An address is one too, by its characters: the caller tells them apart. */
bool kind_parse_host_name(const char *text, char out[ADDR_NAME_MAX]);

/* The field of a scalar kind as YAML text that kind_parse() reads back. Returns out. */
const char *kind_format(enum kind kind, const void *field, char out[KIND_TEXT_MAX]);

#endif
