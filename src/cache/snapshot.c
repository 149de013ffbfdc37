/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Saves and loads the cache. Bytes are snapshot_format's, what of a message is believed revive's.
 * Invariants: nothing waits for the disk in a read section; nothing is stored before the checksums
 * of the whole file were right.
 */
#include "cache/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/private_file.h"
#include "base/units.h"
#include "cache/cache.h"
#include "cache/revive.h"
#include "cache/snapshot_format.h"
#include "dns/message.h"
#include "dns/ttl.h"

enum {
    PART_BUCKETS = 4,         /* walked over in one read section: four megabytes at the very most */
    OVER_S = 5,               /* an answer that is over has been for so long at least */
    BLOCK_BYTES = 256 * 1024, /* a block is written as soon as it has so many */
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
    uint32_t past_max_s; /* the option: whose end is past by so much serves nobody */
    bool is_full;        /* no memory */
};

static bool snapshot_put(struct saving *saving, const struct snapshot_item *item,
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

/* Answers alone: zone cuts are found again with a few questions, and what a parent said long ago is
 * nothing to begin with. */
static enum cache_verdict snapshot_on_item(void *context, const struct cache_item *found)
{
    struct saving *saving = context;
    const struct answer *answer = &found->answer;
    uint32_t age_s = answer_age(answer, saving->now_us);
    uint32_t past_s = answer_staleness(answer, age_s);
    if (answer->kind == ANSWER_FAILURE || found->view != CACHE_VIEW_ANSWERS ||
        (past_s && past_s >= saving->past_max_s))
        return CACHE_KEEP;
    struct snapshot_item item = {
        .left_s = past_s ? 0 : answer->ttl_s - age_s,
        .past_s = past_s,
        .kind = answer->kind,
        .flags = found->flags,
        .view = found->view,
        .ede_count = answer->ede_count,
        .ede = {answer->ede[0], answer->ede[1]},
        .marked = found->marked,
        .message = answer->message,
    };
    if (snapshot_put(saving, &item, answer))
        saving->count++;
    else
        saving->is_full = true;
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

static enum err write_end(struct saving *saving)
{
    uint8_t count[8], head[SNAPSHOT_BLOCK_HEAD];
    put_u32(count, (uint32_t)(saving->count >> 32));
    put_u32(count + 4, (uint32_t)saving->count);
    snapshot_put_block_head(head, span_of(count, sizeof(count)), &saving->chain);
    put_u32(head, 0);
    enum err err = private_file_write(&saving->file, span_of(head, sizeof(head)));
    return err ? err : private_file_write(&saving->file, span_of(count, sizeof(count)));
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
        else if (saving->is_full)
            err = ERR_NO_MEMORY;
        else if (!more || buf_len(&saving->block) >= BLOCK_BYTES)
            err = flush_block(saving);
    }
    return err ? err : write_end(saving);
}

bool snapshot_is_foreign(const char *path)
{
    return private_file_is_foreign(path, snapshot_magic());
}

enum err snapshot_save(struct cache *cache, const char *path, struct snapshot_now now,
                       const bool *stop, uint64_t *count)
{
    struct saving saving = {.now_us = now.us,
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
    uint32_t passed_s; /* since it was written */
    uint64_t chain;
    uint64_t seen, kept; /* answers */
    uint8_t *block;
    size_t room; /* bytes of block */
    struct revived revived;
    uint8_t message[MESSAGE_MAX];
};

/* Whether the cache has something that is as good: for one that is over, any that may serve. */
static bool is_known(struct loading *loading, const struct cache_key *key, bool is_over)
{
    struct answer found;
    cache_read_begin();
    bool is_there = is_over ? cache_find_stale(loading->cache, key, loading->now.us, &found)
                            : cache_find(loading->cache, key, loading->now.us, &found) &&
                                  found.kind != ANSWER_FAILURE && !found.stale_s;
    cache_read_end();
    return is_there;
}

/* Finding it at the instant it was stored, when even one that is over had its second, marks it. */
static void snapshot_mark(struct loading *loading, const struct cache_key *key)
{
    struct answer found;
    cache_read_begin();
    (void)cache_find(loading->cache, key, loading->revived.answer.stored_at, &found);
    cache_read_end();
}

/* For how long it has been over, now; 0 for one that lives. */
static uint32_t past_now(const struct loading *loading, const struct snapshot_item *item)
{
    if (item->left_s > loading->passed_s)
        return 0;
    uint64_t past_s = (uint64_t)item->past_s + loading->passed_s - item->left_s;
    return (uint32_t)MAX(MIN(past_s, (uint64_t)UINT32_MAX), 1u);
}

/* The bounds may have changed since; none of them makes an answer live longer. */
static void set_life(struct loading *loading, const struct snapshot_item *item)
{
    struct answer *answer = &loading->revived.answer;
    uint32_t left_s = item->left_s - loading->passed_s;
    uint32_t most_s = cache_ttl(loading->cache, answer->kind, left_s);
    answer->ttl_s = MIN(left_s, most_s);
    answer->stored_at = loading->now.us;
    answer->ede_count = item->ede_count;
    memcpy(answer->ede, item->ede, sizeof(item->ede));
}

/* As a stale answer that had a second to live and had it, since its true end may be before the
 * clock began. Some seconds ago: the loops of workers may be behind, and it must not look live. */
static void set_end(struct loading *loading, uint32_t past_s)
{
    struct answer *answer = &loading->revived.answer;
    answer->ttl_s = 1;
    answer->stale_s = MAX(past_s, (uint32_t)OVER_S) - OVER_S;
    answer->stored_at = loading->now.us - OVER_S * US_PER_S;
}

static bool may_keep(const struct loading *loading, const struct snapshot_item *item,
                     uint32_t past_s)
{
    if (item->flags & ~(CACHE_KEY_DO | CACHE_KEY_CD))
        return false;
    return past_s == 0 ||
           (past_s < cache_serves_stale_s(loading->cache) && loading->now.us >= OVER_S * US_PER_S);
}

static void snapshot_keep(struct loading *loading, const struct snapshot_item *item)
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
    if (past_s)
        set_end(loading, past_s);
    else
        set_life(loading, item);
    cache_key_init(&key, loading->cache, &revived->question, item->flags, item->view);
    if (!cache_filter_takes(&loading->filter, (struct name){key.name, key.name_len},
                            &revived->answer))
        return;
    if (is_known(loading, &key, past_s > 0) || !cache_store(loading->cache, &key, &revived->answer))
        return;
    loading->kept++;
    if (item->marked)
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

/* A whole block with a right checksum: into items, and these kept or only counted. */
static enum err take_items(struct loading *loading, struct span block, bool is_trial)
{
    struct snapshot_item item;
    while (block.len > 0) {
        if (!snapshot_take_item(&block, &item))
            return ERR_INVALID;
        loading->seen++;
        if (!is_trial)
            snapshot_keep(loading, &item);
    }
    return ERR_OK;
}

static enum err take_end(struct loading *loading, const uint8_t head[SNAPSHOT_BLOCK_HEAD])
{
    uint8_t count[8], more;
    if (!read_bytes(loading, count, sizeof(count)) ||
        !snapshot_check_block(head, span_of(count, sizeof(count)), &loading->chain) ||
        fread(&more, 1, 1, loading->file) != 0)
        return ERR_INVALID;
    uint64_t said = (uint64_t)get_u32(count) << 32 | get_u32(count + 4);
    return said == loading->seen ? ERR_OK : ERR_INVALID;
}

static enum err snapshot_take_file_head(struct loading *loading)
{
    uint8_t head[SNAPSHOT_HEAD];
    uint64_t written_s;
    if (!read_bytes(loading, head, sizeof(head)) ||
        !snapshot_take_head(head, &written_s, &loading->chain) ||
        (written_s > loading->now.wall_s && written_s - loading->now.wall_s > SNAPSHOT_AHEAD_MAX_S))
        return ERR_INVALID;
    uint64_t passed_s = loading->now.wall_s > written_s ? loading->now.wall_s - written_s : 0;
    loading->passed_s = (uint32_t)MIN(passed_s, (uint64_t)UINT32_MAX);
    return ERR_OK;
}

/* Once over the file. The trial stores nothing. */
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
