/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Draws source addresses and lets entries rest that cannot be used (sources.h). */

#include "upstream/sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/rand.h"

enum { V4_BITS = 32, V6_BITS = 128 };

_Static_assert(SOURCES_MAX <= 64, "source_draw has a bit for each entry");

struct sources *sources_new(const struct prefix *prefixes, unsigned count)
{
    struct sources *sources;

    MUST(count > 0 && count <= SOURCES_MAX);
    sources = calloc(1, sizeof(*sources) + count * sizeof(sources->list[0]));
    if (!sources)
        return NULL;
    atomic_init(&sources->refs, 1);
    sources->count = count;
    for (unsigned i = 0; i < count; i++) {
        sources->list[i].prefix = prefixes[i];
        atomic_init(&sources->list[i].rests_until_at, 0);
    }
    return sources;
}

struct sources *sources_ref(struct sources *sources)
{
    if (sources)
        atomic_fetch_add_explicit(&sources->refs, 1, memory_order_relaxed);
    return sources;
}

void sources_unref(struct sources *sources)
{
    if (sources && atomic_fetch_sub_explicit(&sources->refs, 1, memory_order_acq_rel) == 1)
        free(sources);
}

bool sources_equal(const struct sources *a, const struct sources *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (!prefix_equal(&a->list[i].prefix, &b->list[i].prefix))
            return false;
    return true;
}

uint64_t sources_hash(const struct sources *sources, uint64_t seed)
{
    for (unsigned i = 0; sources && i < sources->count; i++)
        seed = addr_hash(&sources->list[i].prefix.addr, seed + sources->list[i].prefix.length);
    return seed;
}

const struct addr *sources_only(const struct sources *sources)
{
    bool is_one = sources && sources->count == 1 && prefix_is_single(&sources->list[0].prefix);
    return is_one ? &sources->list[0].prefix.addr : NULL;
}

/* ---- drawing ---- */

static uint8_t *host_bytes(struct addr *addr)
{
    return addr_family(addr) == AF_INET6 ? addr->in6.sin6_addr.s6_addr
                                         : (uint8_t *)&addr->in.sin_addr.s_addr;
}

/* Whether the bits from this one on all have the value. */
static bool are_all(const uint8_t *bytes, unsigned from, unsigned end, unsigned value)
{
    for (unsigned bit = from; bit < end; bit++)
        if (((unsigned)bytes[bit / 8] >> (7 - bit % 8) & 1) != value)
            return false;
    return true;
}

/* The first address of a prefix belongs to routers (RFC 4291 section 2.6.1) or names the network,
 * and the last one of IPv4 is for broadcasts. Both addresses of a prefix of two are usable (RFC
 * 3021, RFC 6164). */
static bool source_is_special(const uint8_t *bytes, unsigned length, unsigned bits)
{
    if (length + 1 >= bits)
        return false;
    return are_all(bytes, length, bits, 0) || (bits == V4_BITS && are_all(bytes, length, bits, 1));
}

static void draw_host(const struct prefix *prefix, struct addr *out)
{
    unsigned bits = addr_family(&prefix->addr) == AF_INET6 ? V6_BITS : V4_BITS;
    uint8_t random[V6_BITS / 8], *bytes;

    *out = prefix->addr;
    bytes = host_bytes(out);
    do {
        rand_bytes(random, bits / 8);
        for (unsigned bit = prefix->length; bit < bits; bit++) {
            uint8_t mask = (uint8_t)(0x80u >> bit % 8);
            bytes[bit / 8] = (uint8_t)((bytes[bit / 8] & ~mask) | (random[bit / 8] & mask));
        }
    } while (source_is_special(bytes, prefix->length, bits));
}

static uint64_t bit_of(unsigned index)
{
    return UINT64_C(1) << index;
}

static bool is_resting(const struct source *source, uint64_t now)
{
    return now < atomic_load_explicit(&source->rests_until_at, memory_order_relaxed);
}

/* The entries that the draw may choose: not tried yet, and without resting ones if others are left.
 */
static uint64_t candidates_of(const struct sources *sources, const struct source_draw *draw,
                              uint64_t now)
{
    uint64_t all = 0, working = 0;

    for (unsigned i = 0; i < sources->count; i++) {
        if (draw->tried & bit_of(i))
            continue;
        all |= bit_of(i);
        if (!is_resting(&sources->list[i], now))
            working |= bit_of(i);
    }
    return working ? working : all;
}

static void take_entry(const struct sources *sources, struct source_draw *draw, unsigned index)
{
    const struct prefix *prefix = &sources->list[index].prefix;

    draw->index = (uint8_t)index;
    draw->tried |= bit_of(index);
    draw->is_foreign = !prefix_is_single(prefix);
    if (draw->is_foreign)
        draw_host(prefix, &draw->addr);
    else
        draw->addr = prefix->addr;
}

void sources_draw(const struct sources *sources, struct source_draw *draw, uint64_t now)
{
    if (!sources)
        return;
    if (sources->count == 1) {
        take_entry(sources, draw, 0);
        return;
    }
    uint64_t candidates = candidates_of(sources, draw, now);
    uint64_t rank = rand_below((uint64_t)__builtin_popcountll(candidates));
    while (rank-- > 0)
        candidates &= candidates - 1;
    take_entry(sources, draw, (unsigned)__builtin_ctzll(candidates));
}

void sources_draw_in_turn(const struct sources *sources, struct source_draw *draw, unsigned turn,
                          uint64_t now)
{
    if (!sources)
        return;
    uint64_t candidates = candidates_of(sources, draw, now);
    unsigned index = turn % sources->count;
    while (!(candidates & bit_of(index)))
        index = (index + 1) % sources->count;
    take_entry(sources, draw, index);
}

/* ---- what came of it ---- */

static void begin_rest(struct sources *sources, unsigned index, enum err err, uint64_t now)
{
    struct source *source = &sources->list[index];
    char text[PREFIX_TEXT_MAX];
    uint64_t former = atomic_exchange_explicit(&source->rests_until_at, now + SOURCE_REST_US,
                                               memory_order_relaxed);
    if (former == 0)
        LOG(LOG_WARNING, "upstream", "server.outgoing: %s cannot be used: %s%s",
            prefix_format(&source->prefix, text), err_str(err),
            sources->count > 1 ? "; queries leave from the other addresses" : "");
}

static void end_rest(struct source *source)
{
    char text[PREFIX_TEXT_MAX];
    if (atomic_load_explicit(&source->rests_until_at, memory_order_relaxed) == 0)
        return;
    if (atomic_exchange_explicit(&source->rests_until_at, 0, memory_order_relaxed) != 0)
        LOG(LOG_NOTICE, "upstream", "server.outgoing: %s can be used again",
            prefix_format(&source->prefix, text));
}

static bool sources_have_untried(const struct sources *sources, const struct source_draw *draw)
{
    return (unsigned)__builtin_popcountll(draw->tried) < sources->count;
}

bool sources_note(struct sources *sources, struct source_draw *draw, enum err err, uint64_t now)
{
    if (!sources)
        return false;
    switch (err) {
    case ERR_OK:
        end_rest(&sources->list[draw->index]);
        return false;
    case ERR_ADDRESS_UNKNOWN:
        begin_rest(sources, draw->index, err, now);
        return sources_have_untried(sources, draw);
    case ERR_UNREACHABLE:
    case ERR_PERMISSION:
    case ERR_INVALID: /* an owner of a zone chooses the peers, so the entry does not rest */
    case ERR_NO_PORT: /* to this peer; other peers have their own */
        return ++draw->tries < SOURCE_ROUTE_TRIES && sources_have_untried(sources, draw);
    default:
        return false;
    }
}

bool sources_are_at_fault(const struct sources *sources, enum err err)
{
    return sources && err == ERR_ADDRESS_UNKNOWN;
}
