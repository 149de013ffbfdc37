/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Saves and loads the cache. snapshot_format knows the bytes; revive decides which messages to
 * trust. Invariants: no read section waits for the disk; no answer is stored before all checksums
 * of the file have been verified.
 */
#include "cache/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/private_file.h"
#include "base/rand.h"
#include "base/units.h"
#include "cache/cache.h"
#include "cache/revive.h"
#include "cache/snapshot_format.h"
#include "dns/message.h"
#include "dns/ttl.h"

enum {
    PART_BUCKETS = 4,         /* walked in one read section: four megabytes at most */
    EXPIRED_MIN_S = 5,        /* a loaded answer that has expired did so at least this long ago */
    BLOCK_BYTES = 256 * 1024, /* a block is written when it reaches this size */
};

static bool is_stopped(const bool *stop)
{
    return __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* ---- saving ---- */

struct saving {
    struct private_file file;
    struct buf block;
    uint64_t now_us, chain, count;
    uint64_t rules;      /* of the cache at the beginning */
    uint32_t past_max_s; /* option: an answer that expired longer ago is left out */
    bool is_out_of_memory;
};

static bool append_item(struct saving *saving, const struct snapshot_item *item,
                        const struct answer *answer)
{
    uint8_t *room = buf_reserve(&saving->block, SNAPSHOT_ITEM_FIXED + item->message.len);
    if (!room)
        return false;
    snapshot_put_item(room, item);
    answer_copy(answer, answer->message.len, saving->now_us, room + SNAPSHOT_ITEM_FIXED);
    buf_commit(&saving->block, SNAPSHOT_ITEM_FIXED + item->message.len);
    return true;
}

/* Appends one answer. Zone cuts are left out: a few queries find them again, and a parent's old
 * referral is a bad place to start. */
static enum cache_verdict snapshot_on_item(void *context, const struct cache_item *found)
{
    struct saving *saving = context;
    const struct answer *answer = &found->answer;
    uint32_t age_s = answer_age(answer, saving->now_us);
    uint32_t past_s = answer_staleness(answer, age_s);
    if (answer->kind == ANSWER_FAILURE || found->view != CACHE_VIEW_ANSWERS ||
        found->space != CACHE_SPACE_SHARED || (past_s && past_s >= saving->past_max_s))
        return CACHE_KEEP;
    struct snapshot_item item = {
        .left_s = past_s ? 0 : answer->ttl_s - age_s,
        .past_s = past_s,
        .kind = answer->kind,
        .security = answer->security,
        .flags = found->flags,
        .view = found->view,
        .ede_count = answer->ede_count,
        .ede = {answer->ede[0], answer->ede[1]},
        .is_marked = found->is_marked,
        .message = answer->message,
    };
    if (append_item(saving, &item, answer))
        saving->count++;
    else
        saving->is_out_of_memory = true;
    return CACHE_KEEP;
}

static enum err write_block(struct saving *saving, struct span block)
{
    uint8_t head[SNAPSHOT_BLOCK_HEAD];
    snapshot_put_block_head(head, block, &saving->chain);
    enum err err = private_file_write(&saving->file, span_of(head, sizeof(head)));
    return err ? err : private_file_write(&saving->file, block);
}

static enum err flush_block(struct saving *saving)
{
    if (buf_len(&saving->block) == 0)
        return ERR_OK;
    enum err err = write_block(saving, buf_span(&saving->block));
    buf_clear(&saving->block);
    return err;
}

/* If the rules changed meanwhile, the file gets a number that no cache has. */
static enum err write_end(struct saving *saving, const struct cache *cache)
{
    uint8_t bytes[SNAPSHOT_END_MAX], head[SNAPSHOT_BLOCK_HEAD];
    bool are_same = saving->rules == cache_rules(cache);
    struct snapshot_end end = {.count = saving->count,
                               .rules = are_same ? saving->rules : rand_u64()};
    snapshot_put_end(bytes, &end);
    snapshot_put_block_head(head, span_of(bytes, sizeof(bytes)), &saving->chain);
    put_u32(head, 0);
    enum err err = private_file_write(&saving->file, span_of(head, sizeof(head)));
    return err ? err : private_file_write(&saving->file, span_of(bytes, sizeof(bytes)));
}

static enum err snapshot_write_all(struct saving *saving, struct cache *cache, uint64_t wall_s,
                                   const bool *stop)
{
    uint8_t head[SNAPSHOT_HEAD];
    uint64_t place = 0;
    snapshot_put_head(head, wall_s, &saving->chain);
    enum err err = private_file_write(&saving->file, span_of(head, sizeof(head)));
    for (bool more = true; more && !err;) {
        more = cache_walk(cache, &place, PART_BUCKETS, snapshot_on_item, saving);
        if (is_stopped(stop))
            err = ERR_CLOSED;
        else if (saving->is_out_of_memory)
            err = ERR_NO_MEMORY;
        else if (!more || buf_len(&saving->block) >= BLOCK_BYTES)
            err = flush_block(saving);
    }
    return err ? err : write_end(saving, cache);
}

bool snapshot_is_foreign(const char *path)
{
    return private_file_is_foreign(path, snapshot_magic());
}

enum err snapshot_save(struct cache *cache, const char *path, struct snapshot_now now,
                       const bool *stop, uint64_t *count)
{
    struct saving saving = {.now_us = now.us,
                            .rules = cache_rules(cache),
                            .past_max_s = MIN(cache_serves_stale_s(cache), (uint32_t)INT32_MAX)};
    if (snapshot_is_foreign(path))
        return ERR_FOREIGN;
    enum err err = private_file_begin(&saving.file, path);
    if (err)
        return err;
    buf_init(&saving.block, SNAPSHOT_BLOCK_MAX);
    err = snapshot_write_all(&saving, cache, now.wall_s, stop);
    if (err)
        private_file_abandon(&saving.file);
    else
        err = private_file_finish(&saving.file);
    buf_deinit(&saving.block);
    *count = saving.count;
    return err;
}

/* ---- loading ---- */

struct loading {
    struct cache *cache;
    FILE *file;
    const bool *stop;
    struct cache_filter filter;
    struct snapshot_now now;
    uint32_t passed_s; /* since the file was written */
    uint64_t chain;
    uint32_t version;
    uint64_t rules;      /* of the cache at the beginning */
    bool is_same_rules;  /* the file has them too; known after the trial */
    uint64_t seen, kept; /* answers */
    uint8_t *block;
    size_t room; /* bytes of block */
    struct revived revived;
    uint8_t message[MESSAGE_MAX];
};

/* Returns whether the cache has an answer that is as good. An expired answer is no better than any
 * other that may serve as stale. */
static bool is_known(struct loading *loading, const struct cache_key *key, bool is_expired)
{
    struct answer found;
    cache_read_begin();
    bool is_there = is_expired ? cache_find_stale(loading->cache, key, loading->now.us, &found)
                               : cache_find(loading->cache, key, loading->now.us, &found) &&
                                     found.kind != ANSWER_FAILURE && !found.stale_s;
    cache_read_end();
    return is_there;
}

/* Marks the answer by finding it at the instant it was stored: an expired one was live then. */
static void snapshot_mark(struct loading *loading, const struct cache_key *key)
{
    struct answer found;
    cache_read_begin();
    (void)cache_find(loading->cache, key, loading->revived.answer.stored_at, &found);
    cache_read_end();
}

/* Returns how long ago the answer expired; 0 if it is live. */
static uint32_t past_now(const struct loading *loading, const struct snapshot_item *item)
{
    if (item->left_s > loading->passed_s)
        return 0;
    uint64_t past_s = (uint64_t)item->past_s + loading->passed_s - item->left_s;
    return (uint32_t)MAX(MIN(past_s, (uint64_t)UINT32_MAX), 1u);
}

/* The options' bounds may have changed since the file was written. They shorten a life but never
 * prolong it. */
static void set_life(struct loading *loading, const struct snapshot_item *item)
{
    struct answer *answer = &loading->revived.answer;
    uint32_t left_s = item->left_s - loading->passed_s;
    uint32_t bounded_s = cache_ttl(loading->cache, answer->kind, left_s);
    answer->ttl_s = MIN(left_s, bounded_s);
    answer->stored_at = loading->now.us;
    answer->ede_count = item->ede_count;
    memcpy(answer->ede, item->ede, sizeof(item->ede));
}

/* The true expiry may be before the loop's clock began, so the answer becomes a stale one with a
 * TTL of one second. It was stored some seconds ago: a worker's clock may be behind, and the answer
 * must not look live there. */
static void set_expired(struct loading *loading, uint32_t past_s)
{
    struct answer *answer = &loading->revived.answer;
    answer->ttl_s = 1;
    answer->stale_s = MAX(past_s, (uint32_t)EXPIRED_MIN_S) - EXPIRED_MIN_S;
    answer->stored_at = loading->now.us - EXPIRED_MIN_S * US_PER_S;
}

static bool may_keep(const struct loading *loading, const struct snapshot_item *item,
                     uint32_t past_s)
{
    if (item->flags & ~(CACHE_KEY_DO | CACHE_KEY_CD))
        return false;
    return past_s == 0 || (past_s < cache_serves_stale_s(loading->cache) &&
                           loading->now.us >= EXPIRED_MIN_S * US_PER_S);
}

/* A file proves nothing, so only a new verdict makes the answer secure again. An answer that was
 * insecure under other rules may have to be secure now: its negative trust anchor is gone, or there
 * is a new trust anchor. */
static void take_security(struct loading *loading, const struct snapshot_item *item)
{
    bool is_claim = item->security == SECURITY_SECURE || item->security == SECURITY_BOGUS ||
                    (item->security == SECURITY_INSECURE && !loading->is_same_rules);
    loading->revived.answer.security = is_claim ? SECURITY_UNCHECKED : item->security;
    if (is_claim)
        header_put(loading->message, HEADER_AD, false);
}

static void store_item(struct loading *loading, const struct snapshot_item *item)
{
    struct revived *revived = &loading->revived;
    struct cache_key key;
    uint32_t past_s = past_now(loading, item);
    if (item->view != CACHE_VIEW_ANSWERS || !may_keep(loading, item, past_s))
        return;
    memcpy(loading->message, item->message.data, item->message.len);
    if (!revive(revived, span_of(loading->message, item->message.len), item->kind))
        return;
    ttl_age(loading->message, revived->answer.ttl_offsets, revived->answer.ttl_count,
            loading->passed_s, ANSWER_TTL_FLOOR_S);
    take_security(loading, item);
    if (past_s)
        set_expired(loading, past_s);
    else
        set_life(loading, item);
    cache_key_init(&key, loading->cache, &revived->question, item->flags, item->view,
                   CACHE_SPACE_SHARED);
    if (!cache_filter_takes(&loading->filter, (struct name){key.name, key.name_len},
                            &revived->answer))
        return;
    if (is_known(loading, &key, past_s > 0) || !cache_store(loading->cache, &key, &revived->answer))
        return;
    loading->kept++;
    if (item->is_marked)
        snapshot_mark(loading, &key);
}

static bool read_bytes(struct loading *loading, void *out, size_t len)
{
    return fread(out, 1, len, loading->file) == len;
}

static enum err snapshot_make_room(struct loading *loading, size_t len)
{
    if (len > SNAPSHOT_BLOCK_MAX)
        return ERR_INVALID;
    if (len <= loading->room)
        return ERR_OK;
    uint8_t *larger = realloc(loading->block, len);
    if (!larger)
        return ERR_NO_MEMORY;
    loading->block = larger;
    loading->room = len;
    return ERR_OK;
}

/* Splits a verified block into items. Counts them, and stores them unless this is the trial. */
static enum err take_items(struct loading *loading, struct span block, bool is_trial)
{
    struct snapshot_item item;
    while (block.len > 0) {
        if (!snapshot_take_item(&block, &item))
            return ERR_INVALID;
        loading->seen++;
        if (!is_trial)
            store_item(loading, &item);
    }
    return ERR_OK;
}

static enum err take_end(struct loading *loading, const uint8_t head[SNAPSHOT_BLOCK_HEAD])
{
    uint8_t bytes[SNAPSHOT_END_MAX], more;
    struct snapshot_end end;
    size_t len = snapshot_end_len(loading->version);
    if (!read_bytes(loading, bytes, len) ||
        !snapshot_check_block(head, span_of(bytes, len), &loading->chain) ||
        fread(&more, 1, 1, loading->file) != 0)
        return ERR_INVALID;
    snapshot_take_end(span_of(bytes, len), &end);
    loading->is_same_rules = end.has_rules && end.rules == loading->rules;
    return end.count == loading->seen ? ERR_OK : ERR_INVALID;
}

static enum err snapshot_take_file_head(struct loading *loading)
{
    uint8_t head[SNAPSHOT_HEAD];
    uint64_t written_s;
    if (!read_bytes(loading, head, sizeof(head)) ||
        !snapshot_take_head(head, &loading->version, &written_s, &loading->chain) ||
        (written_s > loading->now.wall_s && written_s - loading->now.wall_s > SNAPSHOT_AHEAD_MAX_S))
        return ERR_INVALID;
    uint64_t passed_s = loading->now.wall_s > written_s ? loading->now.wall_s - written_s : 0;
    loading->passed_s = (uint32_t)MIN(passed_s, (uint64_t)UINT32_MAX);
    return ERR_OK;
}

/* Reads the whole file once. The trial only checks it. */
static enum err snapshot_pass(struct loading *loading, bool is_trial)
{
    uint8_t head[SNAPSHOT_BLOCK_HEAD];
    loading->seen = 0;
    rewind(loading->file);
    enum err err = snapshot_take_file_head(loading);
    while (!err) {
        if (is_stopped(loading->stop))
            return ERR_CLOSED;
        if (!read_bytes(loading, head, sizeof(head)))
            return ERR_INVALID;
        size_t len = get_u32(head);
        if (len == 0)
            return take_end(loading, head);
        err = snapshot_make_room(loading, len);
        if (err)
            return err;
        struct span block = span_of(loading->block, len);
        if (!read_bytes(loading, loading->block, len) ||
            !snapshot_check_block(head, block, &loading->chain))
            return ERR_INVALID;
        err = take_items(loading, block, is_trial);
    }
    return err;
}

enum err snapshot_load_from(struct cache *cache, FILE *file, struct snapshot_now now,
                            struct cache_filter filter, const bool *stop, uint64_t *count)
{
    struct loading *loading = calloc(1, sizeof(*loading));
    *count = 0;
    if (!loading)
        return ERR_NO_MEMORY;
    loading->cache = cache;
    loading->rules = cache_rules(cache);
    loading->file = file;
    loading->stop = stop;
    loading->filter = filter;
    loading->now = now;
    enum err err = snapshot_pass(loading, true);
    if (!err)
        err = snapshot_pass(loading, false);
    *count = loading->kept;
    free(loading->block);
    free(loading);
    return err;
}

enum err snapshot_load(struct cache *cache, const char *path, struct snapshot_now now,
                       struct cache_filter filter, const bool *stop, uint64_t *count)
{
    int fd;
    *count = 0;
    enum err err = private_file_open(&fd, path);
    if (err)
        return err;
    FILE *file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return ERR_NO_MEMORY;
    }
    err = snapshot_load_from(cache, file, now, filter, stop, count);
    fclose(file);
    return err;
}
