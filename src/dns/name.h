/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_NAME_H
#define NAILUP_DNS_NAME_H

/*
 * Domain names in wire form (RFC 1035 section 3.1): labels with their length bytes, the root byte
 * last. A struct name borrows its bytes. It is never compressed and always sound: the functions
 * that make one (name_read, name_parse, message_parse) check it, and the others rely on that. Names
 * keep their case; comparisons ignore it unless they say "exact". No allocation, any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

enum {
    NAME_WIRE_MAX = 255,   /* bytes of a name, the root byte included */
    NAME_LABEL_MAX = 63,   /* bytes of a label without its length byte */
    NAME_LABELS_MAX = 127, /* labels of a name without the root */
    NAME_TEXT_MAX = 1024,  /* text of any name and the NUL: every byte may need four */
    NAME_HOPS_MAX = 65,    /* pointers in one name: as many as build.h can write */
};

struct name {
    const uint8_t *wire;
    uint8_t len; /* root byte included: 1 for the root */
};

/* The root name; static storage. */
struct name name_root(void);

static inline bool name_is_root(struct name name)
{
    return name.len == 1;
}

/* ---- names inside a message ---- */

/*
 * Reads the name at offset of message, follows compression pointers, and copies it uncompressed to
 * out, which *name then borrows. Returns the offset after the name, or 0 when it is unsound: it
 * exceeds the message or 255 bytes, has a label type other than 00 or more than NAME_HOPS_MAX
 * pointers, or a pointer leads into the header or not strictly before the labels that it ends (so
 * loops cannot exist). message.data starts at the header.
 */
MUST_USE size_t name_read(struct span message, size_t offset, uint8_t out[NAME_WIRE_MAX],
                          struct name *name);

/* Checks like name_read() without copying. Returns the offset after the name, or 0. */
MUST_USE size_t name_skip(struct span message, size_t offset);

/* Reads a name that must not be compressed (RRSIG, NSEC, SVCB). *name borrows from bytes. Returns
 * the offset after it, or 0 when it is unsound or compressed. */
MUST_USE size_t name_view(struct span bytes, size_t offset, struct name *name);

/* Returns whether the (possibly compressed) name at offset equals name in any case. An unsound name
 * equals none. */
bool name_equal_in_message(struct span message, size_t offset, struct name name);

/* ---- comparing ---- */

bool name_equal(struct name a, struct name b);
bool name_equal_exact(struct name a, struct name b); /* letters must have the same case (0x20) */

/* Returns whether the name equals ancestor or is below it. */
bool name_is_below(struct name name, struct name ancestor);

/* Compares in the canonical order of RFC 4034 section 6.1. Returns a value like memcmp(). */
int name_compare(struct name a, struct name b);

/* Returns the number of common labels at the end, without the root: 0 to NAME_LABELS_MAX. */
unsigned name_common_labels(struct name a, struct name b);

/* ---- parts ---- */

/* Returns the number of labels without the root: 0 for the root, 2 for example.com. */
unsigned name_label_count(struct name name);

/* Returns the name without its first label. The parent of the root is the root. Borrows from name.
 */
struct name name_parent(struct name name);

/* Returns the name without its first count labels, or the root if it has fewer. Borrows from name.
 */
struct name name_strip(struct name name, unsigned count);

/* Returns the last count labels, or the name itself if it has fewer. Borrows from name. */
struct name name_suffix(struct name name, unsigned count);

/* ---- copies, folding, hashing ---- */

/* Copies the name to out. The result borrows out. */
struct name name_copy(struct name name, uint8_t out[NAME_WIRE_MAX]);

/* Copies the name in lower case to out, which may be its own bytes. The result borrows out. */
struct name name_fold(struct name name, uint8_t out[NAME_WIRE_MAX]);

/* Hashes the name in lower case: equal names (name_equal) have equal hashes under one seed. */
uint64_t name_hash(struct name name, uint64_t seed);

/* Turns eight bytes of a name into lower case. Length bytes are below 'A', so label borders do not
 * matter. */
static inline uint64_t name_fold_word(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t low = word & (0x7f * ones);
    uint64_t from_a = low + (0x80 - 'A') * ones;
    uint64_t past_z = low + (0x7f - 'Z') * ones;
    uint64_t upper = (from_a ^ past_z) & ~word & (0x80 * ones);
    return word | upper >> 2;
}

static inline uint8_t name_fold_byte(uint8_t byte)
{
    return (uint8_t)(byte | ((uint8_t)(byte - 'A') < 26 ? 0x20 : 0));
}

/* ---- text ---- */

/*
 * Parses len characters of presentation text ("example.com", final dot optional, "." is the root,
 * \X and \DDD escapes of RFC 1035 section 5.1) into out, which *name then borrows. ERR_INVALID:
 * empty text or label, bad escape, too long.
 */
MUST_USE enum err name_parse(struct name *name, uint8_t out[NAME_WIRE_MAX], const char *text,
                             size_t len);

/* Writes text with a final dot, escaped so that name_parse() gives the same bytes. Returns out. */
const char *name_format(struct name name, char out[NAME_TEXT_MAX]);

#endif
