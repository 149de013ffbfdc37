/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Compresses names: a small open hash table leads from a suffix to the offset where it was written.
 * Every dimension is bounded; a name that does not fit is written whole. Invariant: the bytes at a
 * slot's offset decide, never its hash, so a collision costs only a comparison.
 */
#include "dns/build.h"

#include <string.h>

#include "base/check.h"
#include "dns/word.h"

enum { POINTER_MAX = 0x3fff };

/* A chain of pointers may go through all slots, and a bare pointer may lead to it. Our own messages
 * must be readable, or an upstream could choose names that break them. */
_Static_assert(BUILD_SLOTS + 1 <= NAME_HOPS_MAX, "names are written that cannot be read");

/* The first suffixes of a name, with their hashes. */
struct suffixes {
    uint8_t count; /* at most BUILD_SUFFIXES_MAX */
    uint8_t starts[BUILD_SUFFIXES_MAX];
    uint32_t hashes[BUILD_SUFFIXES_MAX];
};

static inline uint32_t mix(uint64_t hash, uint64_t word)
{
    uint64_t product = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(product >> 32);
}

/* Returns the hash of a label and the suffix after it. */
static uint32_t label_hash(const uint8_t *label, uint32_t hash)
{
    size_t size = (size_t)label[0] + 1;
    for (; size >= 8; label += 8, size -= 8)
        hash = mix(hash, name_fold_word(word_load(label)));
    return size ? mix(hash, name_fold_word(word_load_part(label, size))) : hash;
}

static void suffixes_of(struct suffixes *out, struct name name)
{
    uint8_t starts[NAME_LABELS_MAX];
    unsigned count = 0;
    for (size_t at = 0; name.wire[at]; at += (size_t)name.wire[at] + 1)
        starts[count++] = (uint8_t)at;
    out->count = (uint8_t)MIN(count, (unsigned)BUILD_SUFFIXES_MAX);
    uint32_t hash = 0;
    while (count-- > 0) {
        hash = label_hash(name.wire + starts[count], hash);
        if (count < BUILD_SUFFIXES_MAX) {
            out->starts[count] = starts[count];
            out->hashes[count] = hash;
        }
    }
}

static inline struct build_slot *probe_slot(struct build *build, uint32_t hash, unsigned probe)
{
    return &build->slots[(hash + probe) % BUILD_SLOTS];
}

static void remember(struct build *build, uint32_t hash, size_t offset)
{
    if (offset > POINTER_MAX)
        return;
    for (unsigned probe = 0; probe < BUILD_PROBES_MAX; probe++) {
        struct build_slot *slot = probe_slot(build, hash, probe);
        if (slot->offset)
            continue;
        *slot = (struct build_slot){.offset = (uint16_t)offset, .tag = (uint16_t)(hash >> 16)};
        return;
    }
}

/* Returns the offset where the suffix was written, or 0. */
static uint16_t recall(struct build *build, uint32_t hash, struct name suffix)
{
    struct span written = span_of(build->start, build_len(build));
    for (unsigned probe = 0; probe < BUILD_PROBES_MAX; probe++) {
        struct build_slot *slot = probe_slot(build, hash, probe);
        if (slot->offset && slot->tag == (uint16_t)(hash >> 16) &&
            name_equal_in_message(written, slot->offset, suffix))
            return slot->offset;
    }
    return 0;
}

static void remember_suffixes(struct build *build, const struct suffixes *suffixes, unsigned count,
                              size_t offset)
{
    for (unsigned i = 0; i < count; i++)
        remember(build, suffixes->hashes[i], offset + suffixes->starts[i]);
}

/* Clears the table and remembers the QNAME. */
static void start_names(struct build *build)
{
    build->has_names = true;
    memset(build->slots, 0, sizeof(build->slots));
    struct name name;
    struct span written = span_of(build->start, build_len(build));
    if (!build->counts[SECTION_QUESTION] || !name_view(written, HEADER_LEN, &name))
        return;
    struct suffixes suffixes;
    suffixes_of(&suffixes, name);
    remember_suffixes(build, &suffixes, suffixes.count, HEADER_LEN);
}

void build_name_compressed(struct build *build, struct name name)
{
    if (build->overflow || name_is_root(name)) {
        build_name(build, name);
        return;
    }
    if (!build->has_names)
        start_names(build);
    struct suffixes suffixes;
    suffixes_of(&suffixes, name);

    size_t offset = build_len(build);
    uint16_t target = 0;
    unsigned fresh = 0; /* leading labels to write out */
    for (; fresh < suffixes.count; fresh++) {
        uint8_t start = suffixes.starts[fresh];
        struct name suffix = {.wire = name.wire + start, .len = (uint8_t)(name.len - start)};
        target = recall(build, suffixes.hashes[fresh], suffix);
        if (target)
            break;
    }
    if (!target) {
        build_name(build, name);
    } else {
        build_bytes(build, name.wire, suffixes.starts[fresh]);
        build_pointer(build, target);
    }
    if (!build->overflow)
        remember_suffixes(build, &suffixes, fresh, offset);
}

void build_pointer(struct build *build, uint16_t offset)
{
    MUST(offset >= HEADER_LEN && offset <= POINTER_MAX &&
         (build->overflow || offset < build_len(build)));
    build_u16(build, 0xc000 | offset);
}
