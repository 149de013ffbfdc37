/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The schedule decides, the gate admits, a visit fetches, the file remembers. This file joins them
 * and has the two timers: the next round, and the expiry.
 * Invariant: has_handed_over says whether the receiver has the held version.
 */
#include "transfer/transfer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/rand.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "transfer/xfr_schedule.h"
#include "transfer/zone_store.h"
#include "zone/zone_data.h"

struct transfer {
    struct loop *loop;
    struct tls_contexts *contexts;
    struct transfer_options options;
    const struct transfer_handler *handler;
    void *owner;
    uint8_t zone_wire[NAME_WIRE_MAX];
    char zone_text[NAME_TEXT_MAX];
    char path[ZONE_STORE_PATH_MAX]; /* "": no file */

    struct xfr_schedule schedule;
    struct timer round, expiry;
    struct xfr_place place;
    struct xfr_conn *visit; /* while the place is inside */
    struct zone_data *held; /* kept after its expiry: changes may begin with it */
    bool has_handed_over;
    bool has_refused; /* the receiver has refused the last version, which had this serial */
    uint32_t refused_serial;
    bool wants_whole; /* it has refused the version that changes made, or the held one */
    bool is_doubted;  /* the receiver has the held version and doubts it */
    struct transfer_view view;
};

static void seek_place(struct transfer *transfer);

/* ---- versions ---- */

static struct xfr_times times_of(const struct zone_data *version)
{
    const struct zone_soa *soa = zone_data_soa(version);
    return (struct xfr_times){.refresh = soa->refresh, .retry = soa->retry, .expire = soa->expire};
}

/* Hands over a version unless the receiver has it. */
static enum err hand_over(struct transfer *transfer, struct zone_data *version)
{
    if (transfer->has_handed_over && version == transfer->held)
        return ERR_OK;
    enum err err = transfer->handler->on_version(transfer->owner, version);
    if (err != ERR_OK)
        return err;
    if (version != transfer->held) {
        zone_data_unref(transfer->held);
        transfer->held = zone_data_ref(version);
    }
    transfer->has_handed_over = true;
    transfer->is_doubted = false;
    return ERR_OK;
}

static void expire(struct transfer *transfer)
{
    transfer->has_handed_over = false;
    transfer->handler->on_expired(transfer->owner, transfer->options.zone);
}

static void transfer_on_expiry(struct timer *timer)
{
    struct transfer *transfer = CONTAINER_OF(timer, struct transfer, expiry);
    LOG(LOG_ERROR, "transfer", "%s: the zone has expired, because no primary confirmed serial %u",
        transfer->zone_text, transfer->schedule.serial);
    expire(transfer);
    if (transfer->place.state == XFR_PLACE_WAITING)
        seek_place(transfer); /* the zone is urgent now */
}

static void arm(struct transfer *transfer)
{
    uint64_t wakes_at = xfr_schedule_wakes_at(&transfer->schedule);
    timer_stop(&transfer->round);
    timer_stop(&transfer->expiry);
    if (wakes_at != XFR_NEVER && transfer->place.state == XFR_PLACE_OUT)
        timer_start(transfer->loop, &transfer->round, wakes_at);
    if (transfer->has_handed_over)
        timer_start(transfer->loop, &transfer->expiry, transfer->schedule.expires_at);
}

/* ---- the file ---- */

static void log_file_trouble(const struct transfer *transfer, const char *verb, enum err err)
{
    LOG(LOG_WARNING, "transfer", "%s: %s cannot be %s: %s", transfer->zone_text, transfer->path,
        verb, err_str(err));
}

static void save(struct transfer *transfer)
{
    if (!*transfer->path)
        return;
    enum err err = zone_store_save(transfer->path, transfer->held);
    if (err != ERR_OK)
        log_file_trouble(transfer, "written", err);
}

static void confirm_file(struct transfer *transfer)
{
    if (!*transfer->path)
        return;
    enum err err = zone_store_confirm(transfer->path);
    if (err == ERR_NOT_FOUND)
        save(transfer); /* an earlier write may have failed */
    else if (err != ERR_OK)
        log_file_trouble(transfer, "touched", err);
}

/* Takes a version from the file into the schedule. The wall clock says how old it is; if the clock
 * has gone back since, the version counts as confirmed now. */
static void hold_loaded(struct transfer *transfer, struct zone_data *version,
                        int64_t confirmed_at_s)
{
    struct xfr_times times = times_of(version);
    int64_t age_s = MAX(loop_wall_s(transfer->loop) - confirmed_at_s, 0);
    int64_t left_s = MAX((int64_t)xfr_expire_s(&times) - age_s, 0);
    uint64_t now = loop_now(transfer->loop);
    transfer->view.confirmed_at_s = confirmed_at_s;
    xfr_schedule_hold(&transfer->schedule, zone_data_soa(version)->serial, &times,
                      now + (uint64_t)left_s * US_PER_S);
    transfer->held = zone_data_ref(version);
    LOG(LOG_INFO, "transfer", "%s: serial %u was read from %s and expires in %" PRId64 " s",
        transfer->zone_text, zone_data_soa(version)->serial, transfer->path, left_s);
    bool is_wanted = left_s > 0 || transfer->options.keeps_expired;
    if (is_wanted && hand_over(transfer, version) != ERR_OK) {
        zone_data_unref(transfer->held);
        transfer->held = NULL;
        xfr_schedule_init(&transfer->schedule, transfer->options.primary_count, now);
    } else if (left_s == 0) {
        expire(transfer);
    }
}

static void load(struct transfer *transfer)
{
    struct zone_data *version;
    int64_t confirmed_at_s;
    if (!*transfer->path)
        return;
    enum err err = zone_store_load(transfer->path, transfer->options.zone,
                                   transfer->options.max_bytes, &version, &confirmed_at_s);
    if (err == ERR_OK)
        hold_loaded(transfer, version, confirmed_at_s);
    else if (err != ERR_NOT_FOUND)
        log_file_trouble(transfer, "read", err);
    zone_data_unref(version);
}

/* The receiver has this version already. */
static void hold_given(struct transfer *transfer)
{
    struct xfr_times times = times_of(transfer->options.held);
    uint64_t left_us = (uint64_t)MAX(transfer->options.held_left_s, 0) * US_PER_S;
    transfer->held = zone_data_ref(transfer->options.held);
    transfer->has_handed_over = true;
    xfr_schedule_hold(&transfer->schedule, zone_data_soa(transfer->held)->serial, &times,
                      loop_now(transfer->loop) + left_us);
}

/* ---- visits ---- */

static const struct xfr_primary *asked(const struct transfer *transfer)
{
    return &transfer->options.primaries[transfer->schedule.primary];
}

static void note_visit(struct transfer *transfer, enum transfer_result result, const char *why)
{
    if (result != TRANSFER_FAILED)
        transfer->view.confirmed_at_s = loop_wall_s(transfer->loop);
    transfer->handler->on_visited(transfer->owner, transfer->options.zone, result, why);
}

/* is_known: it was logged before. */
static void take_failure(struct transfer *transfer, const char *why, bool is_known)
{
    char addr[ADDR_TEXT_MAX], text[XFR_WHY_MAX + ADDR_TEXT_MAX];
    snprintf(text, sizeof(text), "%s: %s", addr_format(&asked(transfer)->addr, addr), why);
    if (!is_known)
        LOG_LIMITED(LOG_WARNING, "transfer", "%s: %s", transfer->zone_text, text);
    bool has_next =
        xfr_schedule_on_failure(&transfer->schedule, loop_now(transfer->loop), rand_u64());
    note_visit(transfer, TRANSFER_FAILED, text);
    if (has_next)
        seek_place(transfer);
}

/* The primary has the serial of the held version, and no better one. */
static void confirm_held(struct transfer *transfer)
{
    if (!transfer->has_handed_over) {
        transfer->wants_whole = false; /* the receiver may take the held version now */
        return;
    }
    confirm_file(transfer);
    transfer->view.confirmed_at_s = loop_wall_s(transfer->loop);
    xfr_schedule_confirm(&transfer->schedule, loop_now(transfer->loop));
}

/* The receiver refuses the version. It comes again with the next round. */
static void take_refused(struct transfer *transfer, uint32_t serial, enum err err)
{
    char why[XFR_WHY_MAX];
    bool is_known = transfer->has_refused && transfer->refused_serial == serial;
    transfer->has_refused = true;
    transfer->refused_serial = serial;
    snprintf(why, sizeof(why), "serial %u is refused: %s", serial, err_str(err));
    take_failure(transfer, why, is_known);
}

/* A version that has expired is handed over again, and may be refused now. */
static void take_current(struct transfer *transfer)
{
    enum err err = hand_over(transfer, transfer->held);
    if (err != ERR_OK) {
        transfer->wants_whole = true;
        take_refused(transfer, transfer->schedule.serial, err);
        return;
    }
    confirm_file(transfer);
    xfr_schedule_on_current(&transfer->schedule, loop_now(transfer->loop), rand_u64());
    note_visit(transfer, TRANSFER_CURRENT, "");
}

static void take_version(struct transfer *transfer, const struct xfr_end *end)
{
    char addr[ADDR_TEXT_MAX];
    struct xfr_times times = times_of(end->version);
    uint32_t serial = zone_data_soa(end->version)->serial;
    enum err err = hand_over(transfer, end->version);
    if (err != ERR_OK) {
        transfer->wants_whole |= !end->is_whole;
        if (end->has_held_serial && transfer->has_handed_over)
            confirm_held(transfer);
        take_refused(transfer, serial, err);
        return;
    }
    transfer->has_refused = transfer->wants_whole = false;
    LOG(LOG_NOTICE, "transfer", "%s: serial %u from %s, %s%s: %zu records", transfer->zone_text,
        serial, addr_format(&asked(transfer)->addr, addr), end->is_whole ? "AXFR" : "IXFR",
        asked(transfer)->has_tls ? " over TLS" : "", zone_data_records(end->version));
    if (end->out_of_zone > 0)
        LOG(LOG_WARNING, "transfer", "%s: %" PRIu64 " records outside the zone were left out",
            transfer->zone_text, end->out_of_zone);
    save(transfer);
    xfr_schedule_on_version(&transfer->schedule, serial, &times, loop_now(transfer->loop),
                            rand_u64());
    note_visit(transfer, end->is_whole ? TRANSFER_WHOLE : TRANSFER_CHANGES, "");
}

/* The place goes to another zone before this zone joins the line again. */
static void close_visit(struct transfer *transfer)
{
    xfr_conn_close(&transfer->visit);
    xfr_place_leave(&transfer->place);
}

static void transfer_on_visited(void *owner, const struct xfr_end *end)
{
    struct transfer *transfer = owner;
    struct zone_data *version = end->outcome == XFR_OUTCOME_VERSION ? end->version : NULL;
    struct xfr_end kept = *end;
    char why[XFR_WHY_MAX];
    snprintf(why, sizeof(why), "%s", end->outcome == XFR_OUTCOME_FAILED ? end->why : "");
    close_visit(transfer);
    if (kept.outcome == XFR_OUTCOME_FAILED && kept.has_held_serial)
        confirm_held(transfer);
    if (kept.outcome == XFR_OUTCOME_FAILED)
        take_failure(transfer, why, false);
    else if (kept.outcome == XFR_OUTCOME_CURRENT)
        take_current(transfer);
    else
        take_version(transfer, &kept);
    zone_data_unref(version);
    arm(transfer);
}

static void seek_place(struct transfer *transfer)
{
    xfr_place_join(&transfer->place, &asked(transfer)->addr,
                   xfr_schedule_is_urgent(&transfer->schedule, loop_now(transfer->loop)));
}

/* Visits the schedule's primary. */
static enum err open_visit(struct transfer *transfer)
{
    bool is_expired = transfer->held && !transfer->has_handed_over;
    struct xfr_task task = {.zone = transfer->options.zone,
                            .primary = asked(transfer),
                            .held = transfer->held,
                            .wants_whole = transfer->wants_whole,
                            .is_expired = is_expired,
                            .doubts_held = transfer->has_handed_over
                                               ? transfer->is_doubted
                                               : is_expired && transfer->wants_whole,
                            .max_bytes = transfer->options.max_bytes};
    return xfr_conn_open(&transfer->visit, transfer->loop, transfer->contexts, &task,
                         transfer_on_visited, transfer);
}

/* The round begins with its first visit: a zone that waits has asked nothing yet. */
static void transfer_on_admitted(struct xfr_place *place)
{
    struct transfer *transfer = CONTAINER_OF(place, struct transfer, place);
    bool is_next_primary = transfer->schedule.phase == XFR_ASKING;
    MUST(is_next_primary || xfr_schedule_begin(&transfer->schedule, loop_now(transfer->loop)));
    enum err err = open_visit(transfer);
    if (err != ERR_OK) {
        close_visit(transfer);
        take_failure(transfer, err_str(err), false);
    }
    arm(transfer);
}

static void transfer_on_round(struct timer *timer)
{
    seek_place(CONTAINER_OF(timer, struct transfer, round));
}

/* ---- life ---- */

enum err transfer_open(struct transfer **out, struct loop *loop, struct tls_contexts *contexts,
                       const struct transfer_options *options,
                       const struct transfer_handler *handler, void *owner)
{
    struct transfer *transfer = calloc(1, sizeof(*transfer));
    *out = transfer;
    if (!transfer)
        return ERR_NO_MEMORY;
    MUST(options->primary_count > 0 && options->primary_count <= TRANSFER_PRIMARIES_MAX);
    transfer->loop = loop;
    transfer->contexts = contexts;
    transfer->options = *options;
    transfer->options.zone = name_copy(options->zone, transfer->zone_wire);
    transfer->handler = handler;
    transfer->owner = owner;
    name_format(options->zone, transfer->zone_text);
    if (options->folder && *options->folder &&
        zone_store_path(transfer->path, options->folder, options->zone) != ERR_OK)
        transfer->path[0] = '\0';
    timer_init(&transfer->round, transfer_on_round);
    timer_init(&transfer->expiry, transfer_on_expiry);
    xfr_place_init(&transfer->place, options->gate, transfer_on_admitted);
    xfr_schedule_init(&transfer->schedule, options->primary_count, loop_now(loop));
    if (options->held)
        hold_given(transfer);
    else
        load(transfer);
    arm(transfer);
    return ERR_OK;
}

void transfer_close(struct transfer **transfer)
{
    struct transfer *gone = *transfer;
    if (!gone)
        return;
    *transfer = NULL;
    timer_stop(&gone->round);
    timer_stop(&gone->expiry);
    close_visit(gone);
    zone_data_unref(gone->held);
    free(gone);
}

static unsigned primary_at(const struct transfer *transfer, const struct addr *from)
{
    unsigned i = 0;
    while (i < transfer->options.primary_count &&
           !addr_equal_ip(&transfer->options.primaries[i].addr, from))
        i++;
    return i;
}

/* A NOTIFY makes a zone that waits urgent, and may name another primary. */
static void prompt(struct transfer *transfer, unsigned primary, const uint32_t *serial)
{
    if (!xfr_schedule_on_notify(&transfer->schedule, primary, serial, loop_now(transfer->loop)))
        return;
    if (transfer->place.state == XFR_PLACE_WAITING)
        seek_place(transfer);
    arm(transfer);
}

void transfer_notify(struct transfer *transfer, const struct addr *from, const uint32_t *serial)
{
    prompt(transfer, primary_at(transfer, from), serial);
}

void transfer_doubt(struct transfer *transfer, bool is_doubted)
{
    transfer->is_doubted = is_doubted && transfer->has_handed_over;
}

void transfer_refresh(struct transfer *transfer)
{
    prompt(transfer, transfer->options.primary_count, NULL);
}

void transfer_look(const struct transfer *transfer, struct transfer_view *out)
{
    uint64_t now = loop_now(transfer->loop), expires_at = transfer->schedule.expires_at;
    *out = transfer->view;
    out->has_version = transfer->held != NULL;
    uint64_t wakes_at = xfr_schedule_wakes_at(&transfer->schedule);
    out->refresh_at = wakes_at == XFR_NEVER || wakes_at <= now ? 0 : wakes_at;
    if (!out->has_version)
        return;
    out->serial = zone_data_soa(transfer->held)->serial;
    out->is_expired = now >= expires_at;
    out->expires_in_s = out->is_expired ? 0 : (int64_t)((expires_at - now) / US_PER_S);
}
