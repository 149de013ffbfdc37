/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * From a worker's taps to frames: chooses messages and writes them when the reader is there.
 * dnstap_message.c makes the bytes; frames.c talks to the reader.
 * Invariant: a payload leaves its ring only after it has been written.
 */
#include "tap/dnstap.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/stats.h"
#include "base/tap.h"
#include "tap/dnstap_message.h"
#include "tap/drain.h"
#include "tap/frames.h"
#include "tap/wall.h"

struct message_tap {
    struct tap tap;
    struct dnstap *dnstap;
    size_t worker;
    struct stats *stats;
} __attribute__((aligned(128))); /* no two workers share a cache line */

struct dnstap {
    struct dnstap_options options; /* owns copies of the texts */
    struct span identity, version;
    struct drain *drain;
    struct frames *frames;
    struct message_tap taps[];
};

bool dnstap_is_built_in(void)
{
#ifdef NAILUP_DNSTAP
    return true;
#else
    return false;
#endif
}

/* ---- the worker ---- */

static void dnstap_take(struct tap *tap, enum dnstap_type type, const struct tap_message *seen)
{
    struct message_tap *mine = CONTAINER_OF(tap, struct message_tap, tap);
    struct dnstap *dnstap = mine->dnstap;
    struct dnstap_message message = {
        .type = type,
        .identity = dnstap->identity,
        .version = dnstap->version,
        .wall_offset_us = wall_offset_us(),
        .seen = seen,
    };
    size_t len = dnstap_message_put(NULL, &message);
    uint8_t *out = drain_reserve(dnstap->drain, mine->worker, len);
    if (!out) {
        STATS_INC(mine->stats, dnstap_dropped);
        return;
    }
    dnstap_message_put(out, &message);
    drain_commit(dnstap->drain, mine->worker, len);
}

static bool wants(const struct tap *tap, uint32_t bit)
{
    return CONTAINER_OF(tap, const struct message_tap, tap)->dnstap->options.messages & bit;
}

static void on_query(struct tap *tap, const struct tap_message *message)
{
    dnstap_take(tap, DNSTAP_CLIENT_QUERY, message);
}

static void dnstap_on_reply(struct tap *tap, const struct tap_reply *reply)
{
    if (reply->message.bytes.len > 0)
        dnstap_take(tap, DNSTAP_CLIENT_RESPONSE, &reply->message);
}

/* A server that is asked without RD is authoritative: nailup is a resolver to it, not a forwarder.
 */
static void on_sent(struct tap *tap, const struct tap_message *message, bool wants_recursion)
{
    if (wants(tap, wants_recursion ? DNSTAP_FORWARDER_QUERIES : DNSTAP_RESOLVER_QUERIES))
        dnstap_take(tap, wants_recursion ? DNSTAP_FORWARDER_QUERY : DNSTAP_RESOLVER_QUERY, message);
}

static void on_heard(struct tap *tap, const struct tap_message *message, bool wants_recursion)
{
    if (wants(tap, wants_recursion ? DNSTAP_FORWARDER_RESPONSES : DNSTAP_RESOLVER_RESPONSES))
        dnstap_take(tap, wants_recursion ? DNSTAP_FORWARDER_RESPONSE : DNSTAP_RESOLVER_RESPONSE,
                    message);
}

/* ---- the thread ---- */

static size_t dnstap_gather(struct ring *ring, struct span payloads[FRAMES_BATCH])
{
    size_t count = 0;
    while (count < FRAMES_BATCH && ring_read(ring, &payloads[count]))
        count++;
    return count;
}

static bool dnstap_carry_ring(struct dnstap *dnstap, struct ring *ring)
{
    struct span payloads[FRAMES_BATCH];
    size_t count;
    while ((count = dnstap_gather(ring, payloads)) > 0) {
        if (!frames_write(dnstap->frames, payloads, count)) {
            ring_rewind(ring);
            return false;
        }
        ring_release(ring);
    }
    return true;
}

static bool dnstap_carry(void *owner)
{
    struct dnstap *dnstap = owner;
    if (!frames_open(dnstap->frames))
        return false;
    for (size_t i = 0; i < drain_rings(dnstap->drain); i++)
        if (!dnstap_carry_ring(dnstap, drain_ring(dnstap->drain, i)))
            return false;
    if (drain_is_ending(dnstap->drain))
        frames_end(dnstap->frames);
    return true;
}

/* ---- life ---- */

static bool copy_text(char **text)
{
    *text = strdup(*text ? *text : "");
    return *text;
}

static bool copy_options(struct dnstap *dnstap, const struct dnstap_options *options)
{
    struct dnstap_options *own = &dnstap->options;
    *own = *options;
    bool is_whole = copy_text(&own->socket);
    is_whole &= copy_text(&own->file);
    is_whole &= copy_text(&own->identity);
    is_whole &= copy_text(&own->version);
    if (!is_whole)
        return false;
    dnstap->identity = span_of(own->identity, strlen(own->identity));
    dnstap->version = span_of(own->version, strlen(own->version));
    return true;
}

static struct dnstap *new_dnstap(const struct dnstap_options *options, size_t workers)
{
    size_t size = sizeof(struct dnstap) + workers * sizeof(struct message_tap);
    struct dnstap *dnstap = aligned_alloc(_Alignof(struct dnstap), size);
    struct drain_options drain = {.name = "dnstap",
                                  .rings = workers,
                                  .ring_bytes = DNSTAP_RING,
                                  .retry_ms = DNSTAP_RETRY_MS,
                                  .carry = dnstap_carry,
                                  .owner = dnstap};
    if (!dnstap)
        return NULL;
    memset(dnstap, 0, size);
    dnstap->drain = drain_new(&drain);
    if (copy_options(dnstap, options) && dnstap->drain)
        return dnstap;
    dnstap_close(dnstap);
    return NULL;
}

static enum err dnstap_start(struct dnstap *dnstap)
{
    const struct dnstap_options *options = &dnstap->options;
    bool is_file = *options->file;
    enum err err = frames_new(&dnstap->frames, is_file ? options->file : options->socket, is_file,
                              dnstap->drain);
    return err ? err : drain_start(dnstap->drain);
}

enum err dnstap_open(struct dnstap **out, const struct dnstap_options *options, size_t workers)
{
    struct dnstap *dnstap = new_dnstap(options, workers);
    if (!dnstap)
        return ERR_NO_MEMORY;
    enum err err = dnstap_start(dnstap);
    if (err) {
        dnstap_close(dnstap);
        return err;
    }
    *out = dnstap;
    return ERR_OK;
}

bool dnstap_sees_clients(const struct dnstap *dnstap)
{
    return dnstap->options.messages & (DNSTAP_CLIENT_QUERIES | DNSTAP_CLIENT_RESPONSES);
}

bool dnstap_sees_upstreams(const struct dnstap *dnstap)
{
    return dnstap->options.messages & ~(uint32_t)(DNSTAP_CLIENT_QUERIES | DNSTAP_CLIENT_RESPONSES);
}

struct tap *dnstap_tap(struct dnstap *dnstap, size_t worker, struct stats *stats)
{
    struct message_tap *mine = &dnstap->taps[worker];
    uint32_t messages = dnstap->options.messages;
    mine->tap.on_query = messages & DNSTAP_CLIENT_QUERIES ? on_query : NULL;
    mine->tap.on_reply = messages & DNSTAP_CLIENT_RESPONSES ? dnstap_on_reply : NULL;
    mine->tap.on_sent = on_sent;
    mine->tap.on_heard = on_heard;
    mine->dnstap = dnstap;
    mine->worker = worker;
    mine->stats = stats;
    return &mine->tap;
}

void dnstap_reopen(struct dnstap *dnstap)
{
    frames_reopen(dnstap->frames);
    drain_wake(dnstap->drain);
}

void dnstap_close(struct dnstap *dnstap)
{
    if (!dnstap)
        return;
    drain_free(dnstap->drain);
    frames_free(dnstap->frames);
    free(dnstap->options.socket);
    free(dnstap->options.file);
    free(dnstap->options.identity);
    free(dnstap->options.version);
    free(dnstap);
}
