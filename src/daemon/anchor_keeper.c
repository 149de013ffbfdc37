/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Asks for the set with CD, because a set that revokes the last trusted key is bogus. Main verifies
 * the set.
 */

#include "daemon/anchor_keeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/file.h"
#include "base/log.h"
#include "base/private_file.h"
#include "config/config.h"
#include "control/view.h"
#include "daemon/inquiry.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "resolve/views.h"
#include "validate/anchor_file.h"
#include "validate/anchor_set.h"
#include "validate/anchor_update.h"
#include "validate/dnskey.h"

#define KEEPER_POLL_US (5 * US_PER_S)

enum { KEEPER_TICK_MAX_S = 3600 }; /* the wall clock may jump */

struct anchor_keeper {
    struct inquirer home;
    struct timer tick;
    struct verifier *verifier;
    bool has_point, is_running, is_asking;
    bool is_outdated; /* the point has been replaced or dropped since the inquiry began */
    bool allow_sha1;
    bool has_warned; /* the file cannot be written */
    char *path;
    char view[VIEW_NAME_MAX + 1]; /* the view that asks; "": clients without a view */
    struct buf text;              /* the file's text when it was last read or written */
    struct inquiry inquiry;
    struct anchor_point point;
};

/* ---- the file ---- */

/* Reads the file into *out. */
static bool keeper_read_file(const char *path, struct buf *out)
{
    uint8_t *room = buf_reserve(out, ANCHOR_FILE_BYTES_MAX);
    ssize_t len = room ? file_read_path(path, room, ANCHOR_FILE_BYTES_MAX) : -1;
    if (len >= 0)
        buf_commit(out, (size_t)len);
    return len >= 0;
}

static void keeper_write(struct anchor_keeper *keeper)
{
    struct buf text;
    buf_init(&text, ANCHOR_FILE_BYTES_MAX);
    enum err err = anchor_file_write(&text, &keeper->point);
    if (!err)
        err = private_file_replace_shared(keeper->path, buf_span(&text));
    if (!err) {
        buf_deinit(&keeper->text);
        keeper->text = text;
        keeper->has_warned = false;
        keeper->home.view->anchors.is_unwritten = false;
        return;
    }
    buf_deinit(&text);
    keeper->home.view->anchors.is_unwritten = true;
    if (!keeper->has_warned)
        LOG(LOG_WARNING, "daemon",
            "%s cannot be written: %s; trust anchors are kept in memory only, and the next start "
            "works from the file; let the user that nailupd runs as write to its directory",
            keeper->path, err_str(err));
    keeper->has_warned = true;
}

/* ---- what changes ---- */

static void keeper_show_counts(struct anchor_keeper *keeper)
{
    struct control_anchors *shown = &keeper->home.view->anchors;
    const struct anchor_point *point = &keeper->point;
    bool is_kept = keeper->has_point;
    shown->valid = is_kept ? anchor_point_count(point, ANCHOR_VALID) : 0;
    shown->missing = is_kept ? anchor_point_count(point, ANCHOR_MISSING) : 0;
    shown->pending = is_kept ? anchor_point_count(point, ANCHOR_ADDPEND) : 0;
    shown->failed = is_kept ? point->failed : 0;
}

static const struct anchor_key *keeper_find_key(const struct anchor_point *point,
                                                const struct anchor_key *key)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->key[i].len == key->len && memcmp(point->key[i].rdata, key->rdata, key->len) == 0)
            return &point->key[i];
    return NULL;
}

static void keeper_log_key(const struct anchor_point *point, const struct anchor_key *key,
                           const char *what, enum log_level level)
{
    struct dnskey read;
    char zone[NAME_TEXT_MAX];
    if (dnskey_read(&read, span_of(key->rdata, key->len)))
        LOG(level, "daemon", "trust anchor of %s, key %u: %s",
            name_format(anchor_point_zone(point), zone), read.tag, what);
}

static void keeper_log_changes(const struct anchor_point *before, const struct anchor_point *after)
{
    static const char *const words[] = {
        [ANCHOR_START] = "",
        [ANCHOR_ADDPEND] = "new; it counts in 30 days if the zone still has it",
        [ANCHOR_VALID] = "trusted",
        [ANCHOR_MISSING] = "the zone no longer has it, but it was not revoked",
        [ANCHOR_REVOKED] = "revoked; it is no longer trusted",
        [ANCHOR_REMOVED] = "",
    };
    for (size_t i = 0; i < after->count; i++) {
        const struct anchor_key *key = &after->key[i], *old = keeper_find_key(before, key);
        if (!old || old->state != key->state)
            keeper_log_key(after, key, words[key->state],
                           key->state == ANCHOR_MISSING || key->state == ANCHOR_REVOKED
                               ? LOG_WARNING
                               : LOG_NOTICE);
    }
    for (size_t i = 0; i < before->count; i++)
        if (!keeper_find_key(after, &before->key[i]))
            keeper_log_key(before, &before->key[i], "forgotten", LOG_NOTICE);
    if (after->is_revoked)
        LOG(LOG_ERROR, "daemon",
            "every trust anchor was revoked: the zone is no longer validated; fetch its current "
            "anchor");
}

/* Takes the answer. Returns whether the trusted keys have changed. */
static bool keeper_take_answer(struct anchor_keeper *keeper, struct span answer)
{
    struct anchor_point *point = &keeper->point;
    struct anchor_seen seen;
    struct anchor_changes changes = {0};
    char zone[NAME_TEXT_MAX];
    int64_t now_s = loop_wall_s(keeper->home.loop);
    struct rrsig_clock clock = {.now_s = (uint32_t)now_s};
    size_t seeds = point->seed_count;
    struct anchor_point *before = malloc(sizeof(*before));
    if (!keeper->verifier)
        keeper->verifier = verifier_new();
    bool is_read =
        before && keeper->verifier &&
        anchor_set_read(&seen, answer, anchor_point_zone(point), &clock, keeper->verifier);
    if (before)
        *before = *point;
    if (is_read)
        anchor_update_seen(point, &seen, now_s, keeper->allow_sha1, &changes);
    else
        anchor_update_failed(point, now_s);
    if (!changes.is_trusted)
        LOG(LOG_WARNING, "daemon",
            "trust anchors of %s: no DNSKEY records with a signature of a trusted key were found; "
            "the next attempt is in %lld minutes",
            name_format(anchor_point_zone(point), zone), (long long)(point->probe_s - now_s) / 60);
    if (before)
        keeper_log_changes(before, point);
    free(before);
    return changes.promoted || changes.revoked || seeds != point->seed_count;
}

/* ---- asking ---- */

static void keeper_on_back(struct inquiry *inquiry);

static void keeper_await(struct anchor_keeper *keeper, uint64_t us)
{
    timer_start(keeper->home.loop, &keeper->tick, loop_now(keeper->home.loop) + us);
}

static bool keeper_may_ask(const struct anchor_keeper *keeper)
{
    return keeper->is_running && keeper->has_point && !keeper->is_asking &&
           !keeper->point.is_revoked;
}

static bool has_validated(const struct control_view *view)
{
    for (size_t i = 0; i < view->worker_count; i++) {
        const struct stats *stats = view->workers[i]->stats;
        if (stats_read(&stats->validations_secure) || stats_read(&stats->validations_insecure) ||
            stats_read(&stats->validations_bogus))
            return true;
    }
    return false;
}

/* Through a captive portal, the keys would come from a server that knows nothing of them. */
static bool keeper_must_wait(const struct control_view *view)
{
    return view->has_portal || !has_validated(view);
}

static void keeper_ask(struct anchor_keeper *keeper)
{
    const struct question question = {
        .name = anchor_point_zone(&keeper->point), .type = RRTYPE_DNSKEY, .cls = RRCLASS_IN};
    keeper->is_asking = true;
    keeper->is_outdated = false;
    inquiry_send(&keeper->inquiry, keeper->home.loop, keeper->home.view->workers[0], &question,
                 keeper->view, true, keeper_on_back);
}

static void keeper_next(struct anchor_keeper *keeper)
{
    if (keeper->is_running)
        timer_stop(&keeper->tick);
    if (!keeper_may_ask(keeper))
        return;
    int64_t now_s = loop_wall_s(keeper->home.loop);
    int64_t left_s = anchor_update_due_s(&keeper->point, now_s) - now_s;
    if (keeper_must_wait(keeper->home.view))
        keeper_await(keeper, KEEPER_POLL_US);
    else if (left_s > 0)
        keeper_await(keeper, (uint64_t)MIN(left_s, (int64_t)KEEPER_TICK_MAX_S) * US_PER_S);
    else
        keeper_ask(keeper);
}

static void keeper_on_tick(struct timer *timer)
{
    keeper_next(CONTAINER_OF(timer, struct anchor_keeper, tick));
}

static void keeper_on_back(struct inquiry *inquiry)
{
    struct anchor_keeper *keeper = CONTAINER_OF(inquiry, struct anchor_keeper, inquiry);
    bool is_wanted = keeper->is_running && !keeper->is_outdated, has_changed = false;
    bool has_answer = inquiry->was_asked && !keeper->home.view->has_portal;

    keeper->is_asking = false;
    if (is_wanted && has_answer) {
        has_changed = keeper_take_answer(keeper, inquiry_answer(inquiry));
        keeper_write(keeper);
        keeper_show_counts(keeper);
    }
    inquiry_clear(inquiry);
    if (is_wanted && !has_answer)
        keeper_await(keeper, KEEPER_POLL_US);
    else if (keeper->is_running)
        keeper_next(keeper);
    if (has_changed)
        keeper->home.on_changed(keeper->home.context);
}

/* ---- the configuration ---- */

/* Without a file, starts one with the root anchors of the configuration. */
static bool keeper_begin_file(struct anchor_point *point, const struct config *config)
{
    const struct anchor *anchor = anchors_find(config->anchors, name_root());
    anchor_point_init(point, name_root());
    for (size_t i = 0; anchor && i < anchor->count; i++) {
        const struct anchor_record *record = &anchor->record[i];
        enum err err = record->type == RRTYPE_DS
                           ? anchor_point_add_seed(point, record->rdata)
                           : anchor_point_add_key(point, record->rdata, ANCHOR_VALID, 0, 0);
        if (err)
            return false;
    }
    return point->count > 0 || point->seed_count > 0;
}

/* Reads the file again: it may be newer than config. False: nothing has changed. */
static bool keeper_read_point(struct anchor_keeper *keeper, const struct config *config,
                              struct anchor_point *point)
{
    struct buf text;
    struct anchor_file_problem problem;
    bool is_new = false;
    buf_init(&text, ANCHOR_FILE_BYTES_MAX);
    bool is_read = keeper_read_file(config->trust_anchor_file, &text);
    if (is_read && keeper->has_point && span_equal(buf_span(&text), buf_span(&keeper->text))) {
        buf_deinit(&text);
        return false;
    }
    if (is_read)
        is_new = anchor_file_read_point(point, buf_span(&text), &problem) == ERR_OK;
    else if (!keeper->has_point)
        is_new = keeper_begin_file(point, config);
    buf_deinit(&keeper->text);
    keeper->text = text;
    return is_new;
}

void anchor_keeper_configure(struct anchor_keeper *keeper, const struct config *config)
{
    const char *view = config->keeps_anchors ? views_validating(&config->route) : NULL;
    bool is_wanted = view;
    bool is_same_file =
        keeper->has_point && is_wanted && strcmp(keeper->path, config->trust_anchor_file) == 0;
    struct anchor_point *point = is_wanted ? malloc(sizeof(*point)) : NULL;

    if (!is_same_file) {
        keeper->has_point = keeper->has_warned = false;
        keeper->is_outdated = true;
        keeper->home.view->anchors.is_unwritten = false;
        free(keeper->path);
        keeper->path = is_wanted ? strdup(config->trust_anchor_file) : NULL;
    }
    snprintf(keeper->view, sizeof(keeper->view), "%s", is_wanted ? view : "");
    keeper->allow_sha1 = config->route.validation.allow_sha1;
    if (point && keeper->path && keeper_read_point(keeper, config, point)) {
        keeper->point = *point;
        keeper->has_point = keeper->is_outdated = true;
    }
    free(point);
    keeper_show_counts(keeper);
    keeper_next(keeper);
}

const struct anchor_point *anchor_keeper_point(const struct anchor_keeper *keeper)
{
    return keeper->has_point ? &keeper->point : NULL;
}

/* ---- life ---- */

struct anchor_keeper *anchor_keeper_new(const struct inquirer *home)
{
    struct anchor_keeper *keeper = calloc(1, sizeof(*keeper));
    if (!keeper)
        return NULL;
    keeper->home = *home;
    timer_init(&keeper->tick, keeper_on_tick);
    buf_init(&keeper->text, ANCHOR_FILE_BYTES_MAX);
    return keeper;
}

void anchor_keeper_begin(struct anchor_keeper *keeper)
{
    keeper->is_running = true;
    keeper_show_counts(keeper);
    keeper_next(keeper);
}

void anchor_keeper_end(struct anchor_keeper *keeper)
{
    keeper->is_running = false;
    timer_stop(&keeper->tick);
}

void anchor_keeper_free(struct anchor_keeper *keeper)
{
    if (!keeper)
        return;
    inquiry_clear(&keeper->inquiry);
    verifier_free(keeper->verifier);
    buf_deinit(&keeper->text);
    free(keeper->path);
    free(keeper);
}
