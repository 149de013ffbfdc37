/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Two threads and the way between them. A publication is a set and a policy with the rows that
 * describe them. It goes from the thread to main under the lock, and returns by mail when it is no
 * longer used.
 *
 * Invariants: only the thread touches kept zones. Only main touches current and next. A set is
 * freed on the thread, or when no thread is left.
 */

#include "daemon/zone_keeper.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "base/units.h"
#include "config/config.h"
#include "control/view.h"
#include "daemon/forget.h"
#include "daemon/kept_zone.h"
#include "daemon/worker.h"
#include "daemon/zone_from_file.h"
#include "daemon/zone_members.h"
#include "daemon/zone_primaries.h"
#include "daemon/zone_publication.h"
#include "daemon/zone_times.h"
#include "daemon/zone_trust.h"
#include "local/name_map.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/outgoing_files.h"
#include "rpz/rpz_policy.h"
#include "tls/tls_contexts.h"
#include "transfer/transfer.h"
#include "transfer/xfr_gate.h"
#include "transfer/xfr_notify.h"
#include "zone/zone_catalog.h"
#include "zone/zone_data.h"
#include "zone/zone_set.h"

/* While many zones are read or come from primaries, the workers get a new set this often. Each set
 * costs a pass over all zones and the cache. */
#define PUBLISH_US (500 * US_PER_MS)

/* Larger files are read after the others, which need not wait for them. */
#define SMALL_FILE_BYTES (UINT64_C(4) << 20)

/* A configuration on its way to the thread, which frees it. */
struct plan_letter {
    struct mail mail;
    struct zone_keeper *keeper;
    uint64_t edition;
    struct rpz_policy *policy; /* NULL: none. It leaves out the rules of zones with primaries. */
    struct zone_plans *plans;
};

/* A NOTIFY on its way to the thread, which frees it. */
struct notify_letter {
    struct mail mail;
    struct zone_keeper *keeper;
    struct xfr_notify notify;
    struct addr from;
};

struct zone_keeper {
    struct loop *main;
    struct cache *cache;
    unsigned max_visits;
    struct workers *workers;   /* NULL: not serving yet, or no longer */
    struct control_view *view; /* likewise */
    struct forget forget;
    struct zone_publication *current, *next; /* next: on its way to the workers */
    struct zone_publication *before;         /* while the cache forgets */
    bool is_taking;                          /* workers take next, or the cache forgets */
    uint64_t edition;                        /* the edition of the thread's last configuration */
    void (*on_settled)(void *context);       /* NULL: no one waits */
    void *settled_context;
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct loop *loop;       /* the loop of the thread, once it runs */
    bool has_failed;         /* the thread could not make its loop */
    bool has_copies;         /* all files except large ones have been read, or have failed */
    uint64_t settled;        /* the last edition whose zones have all been read */
    uint64_t settled_number; /* the publication that has them */
    struct zone_publication *waiting;  /* the newest one for main */
    struct zone_publication *released; /* the thread must free it */
    struct zone_set *in_force;         /* the zones of current, for other threads; NULL: none */
    bool is_arrival_posted, is_release_posted;
    struct mail arrival, release;
    struct zone_trust *next_trust;      /* for the thread; NULL: it has the newest one */
    unsigned notifies;                  /* on their way */
    struct control_transfers transfers; /* the thread writes, anyone reads */

    atomic_bool is_ending; /* the thread begins to read no more zones */

    /* The thread's. */
    struct kept_zones zones;
    struct name_map *names;    /* of zone_plans; NULL: there is no catalog */
    struct zone_trust *trust;  /* NULL: nothing is validated */
    struct rpz_policy *wanted; /* the zones of rpz; NULL: none */
    struct rpz_policy *policy; /* the last one that was made of them, with the counters; or NULL */
    uint64_t planned_at;
    uint64_t published_at;
    uint64_t published;   /* the number of the last publication */
    bool is_reading;      /* zones are being read, and a publication follows */
    struct timer due;     /* publishes the changes of this time together */
    bool has_new_catalog; /* its members are not known yet */
    struct turn_end catalog_end;
    struct tls_contexts *contexts;
    struct xfr_gate gate;
};

/* ---- plans ---- */

static void free_letter(struct plan_letter *letter)
{
    if (!letter)
        return;
    zone_plans_free(letter->plans);
    rpz_policy_unref(letter->policy);
    free(letter);
}

static struct plan_letter *make_letter(const struct config *config)
{
    struct plan_letter *letter = calloc(1, sizeof(*letter));

    if (!letter)
        return NULL;
    if (config->rpz.policy)
        letter->policy = rpz_policy_ref(config->rpz.policy);
    letter->plans = zone_plans_new(config);
    if (letter->plans)
        return letter;
    free_letter(letter);
    return NULL;
}

/* Finds the zone that comes from its primaries and has this name: there is only one. */
static struct kept_zone *find_transferred(const struct zone_keeper *keeper, struct name name)
{
    for (size_t i = 0; i < keeper->zones.count; i++)
        if (zone_plan_is_transferred(&keeper->zones.list[i].plan) &&
            name_equal(zone_plan_name(&keeper->zones.list[i].plan), name))
            return &keeper->zones.list[i];
    return NULL;
}

/* Makes a publication, and keeps its policy for the next one. */
static struct zone_publication *keeper_make_publication(struct zone_keeper *keeper)
{
    const struct zone_publication_policy policy = {
        .wanted = keeper->wanted, .planned_at = keeper->planned_at, .before = keeper->policy};
    struct zone_publication *publication =
        zone_publication_new(&keeper->zones, &policy, loop_clock(keeper->loop));

    if (!publication)
        return NULL;
    rpz_policy_unref(keeper->policy);
    keeper->policy = publication->policy ? rpz_policy_ref(publication->policy) : NULL;
    return publication;
}

/* ---- the thread ---- */

/* Makes main look at what the thread has for it. */
static void keeper_post_arrival(struct zone_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    bool is_posted = keeper->is_arrival_posted;
    keeper->is_arrival_posted = true;
    pthread_mutex_unlock(&keeper->lock);
    if (!is_posted)
        loop_post(keeper->main, &keeper->arrival);
}

static void keeper_publish(struct zone_keeper *keeper)
{
    struct zone_publication *publication = keeper_make_publication(keeper);

    timer_stop(&keeper->due);
    keeper->published_at = loop_clock(keeper->loop);
    if (!publication) {
        LOG(LOG_ERROR, "zones", "out of memory; the previous zones stay in force");
        return;
    }
    publication->number = ++keeper->published;
    pthread_mutex_lock(&keeper->lock);
    struct zone_publication *superseded = keeper->waiting;
    keeper->waiting = publication;
    pthread_mutex_unlock(&keeper->lock);
    zone_publication_free(superseded);
    keeper_post_arrival(keeper);
}

/* Frees the sets that no worker has. */
static void keeper_on_release(struct mail *mail)
{
    struct zone_keeper *keeper = CONTAINER_OF(mail, struct zone_keeper, release);

    pthread_mutex_lock(&keeper->lock);
    struct zone_publication *released = keeper->released;
    keeper->released = NULL;
    keeper->is_release_posted = false;
    pthread_mutex_unlock(&keeper->lock);
    while (released) {
        struct zone_publication *next = released->next_released;
        zone_publication_free(released);
        released = next;
    }
}

static void log_loaded(const struct kept_zone *zone, uint64_t took_us)
{
    char name[NAME_TEXT_MAX];

    LOG(LOG_NOTICE, "zones", "zone %s: serial %u, %zu records, %zu KiB, read from %s in %llu ms",
        name_format(zone_plan_name(&zone->plan), name), zone_data_soa(zone->data)->serial,
        zone_data_records(zone->data), zone_data_bytes(zone->data) / 1024, zone->plan.file,
        (unsigned long long)(took_us / US_PER_MS));
}

/* Describes the version that is in force after another one was refused. */
static const char *words_of_rest(const struct kept_zone *zone)
{
    if (zone_kind_is_catalog(zone->plan.kind))
        return "its members do not change";
    if (zone->data)
        return "the previous version stays in force";
    if (zone->plan.kind == ZONE_OF_POLICY)
        return "it has no rules";
    return zone->plan.held.has_fallback ? "its names are resolved like others"
                                        : "its names are answered with SERVFAIL";
}

static void log_refused(const struct kept_zone *zone)
{
    char name[NAME_TEXT_MAX];

    LOG(LOG_ERROR, "zones", "zone %s: %s; %s", name_format(zone_plan_name(&zone->plan), name),
        zone->why, words_of_rest(zone));
}

/* Refuses a broken catalog, so that its members stay (RFC 9432 section 5.1). The members of a sound
 * catalog replace them at the end of the turn. Returns the fault, or NULL. Zones that are not
 * catalogs have no fault here. */
static const char *keeper_check_catalog(struct zone_keeper *keeper, const struct kept_zone *zone,
                                        const struct zone_data *version)
{
    struct zone_catalog list;
    const char *fault =
        zone_kind_is_catalog(zone->plan.kind) ? zone_catalog_read(&list, version) : NULL;

    if (fault || !zone_kind_is_catalog(zone->plan.kind))
        return fault;
    zone_catalog_deinit(&list);
    keeper->has_new_catalog = true;
    loop_at_turn_end(keeper->loop, &keeper->catalog_end);
    return NULL;
}

/* Takes the trust anchors that main has set. Versions that other anchors judged are judged again
 * with the next configuration. */
static void keeper_take_trust(struct zone_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    struct zone_trust *next = keeper->next_trust;
    keeper->next_trust = NULL;
    pthread_mutex_unlock(&keeper->lock);
    if (!next)
        return;
    for (size_t i = 0; i < keeper->zones.count; i++) {
        struct kept_zone *zone = &keeper->zones.list[i];
        if (zone_trust_differs(keeper->trust, next, zone_plan_name(&zone->plan)))
            kept_zone_unjudge(zone);
    }
    zone_trust_free(keeper->trust);
    keeper->trust = next;
}

/* Returns the checks in effect. They are valid until the next call, which may take other
 * anchors. */
static struct zone_checks keeper_checks(struct zone_keeper *keeper, const struct kept_zone *zone)
{
    keeper_take_trust(keeper);
    return (struct zone_checks){.zonemd = zone->plan.zonemd,
                                .apex = zone_trust_rules(keeper->trust, loop_wall_s(keeper->loop))};
}

/* Logs once that the digest of a zone proves no origin. */
static void keeper_note_vouching(struct zone_keeper *keeper, struct kept_zone *zone)
{
    struct zone_checks checks = keeper_checks(keeper, zone);
    bool is_unvouched =
        checks.zonemd != ZONEMD_IGNORE && checks.apex && apex_is_unvouched(zone->data, checks.apex);
    char name[NAME_TEXT_MAX];

    if (is_unvouched && !zone->is_unvouched)
        LOG_LIMITED(LOG_NOTICE, "zones", "zone %s: %s",
                    name_format(zone_plan_name(&zone->plan), name), KEPT_ZONE_UNVOUCHED);
    zone->is_unvouched = is_unvouched;
}

/* Takes a version that has passed the checks. */
static void keeper_take_version(struct zone_keeper *keeper, struct kept_zone *zone,
                                struct zone_data *data)
{
    kept_zone_take_version(zone, data, loop_clock(keeper->loop));
    keeper_note_vouching(keeper, zone);
}

/* Reads a version from the file. Returns NULL after an error. */
static struct zone_data *keeper_read_version(struct zone_keeper *keeper, struct kept_zone *zone)
{
    const struct zone_plan *plan = &zone->plan;
    struct zone_checks checks = keeper_checks(keeper, zone);
    struct zone_data *data;

    if (zone_from_file(plan->file, zone_plan_name(plan), plan->max_bytes, &checks, &data,
                       zone->why))
        return NULL;
    const char *fault = keeper_check_catalog(keeper, zone, data);
    if (!fault)
        return data;
    snprintf(zone->why, sizeof(zone->why), "%.400s: %s", plan->file, fault);
    zone_data_unref(data);
    return NULL;
}

static void keeper_read_zone(struct zone_keeper *keeper, struct kept_zone *zone)
{
    uint64_t begun_at = loop_clock(keeper->loop);

    zone->has_stamp = zone_from_file_stamp(zone->plan.file, &zone->stamp);
    struct zone_data *data = keeper_read_version(keeper, zone);
    if (!data) {
        zone->has_stamp = false; /* the fault may be outside: owner, memory, clock */
        zone->state = zone->data ? CONTROL_ZONE_KEPT : CONTROL_ZONE_FAILED;
        log_refused(zone);
        return;
    }
    keeper_take_version(keeper, zone, data);
    log_loaded(zone, zone->loaded_at - begun_at);
}

/* Whether the file must be read in this pass. A missing file is tried once for each reload, so that
 * its error is reported. */
static bool keeper_must_read(const struct kept_zone *zone, bool is_large)
{
    struct zone_file_stamp stamp;

    if (zone_plan_is_transferred(&zone->plan))
        return false;
    if (!zone_from_file_stamp(zone->plan.file, &stamp))
        return !is_large;
    return (stamp.size_bytes > SMALL_FILE_BYTES) == is_large &&
           !(zone->has_stamp && zone_from_file_is_same(&stamp, &zone->stamp));
}

static void keeper_read_changed(struct zone_keeper *keeper, bool is_large)
{
    for (size_t i = 0; i < keeper->zones.count && !atomic_load(&keeper->is_ending); i++) {
        struct kept_zone *zone = &keeper->zones.list[i];
        if (!keeper_must_read(zone, is_large))
            continue;
        keeper_read_zone(keeper, zone);
        if (is_large || loop_clock(keeper->loop) - keeper->published_at > PUBLISH_US)
            keeper_publish(keeper);
    }
}

/* ---- transfers ---- */

/* Shows changes at this instant, unless a publication shows them earlier. */
static void keeper_show_by(struct zone_keeper *keeper, uint64_t at)
{
    bool is_due_before = timer_is_armed(&keeper->due) && keeper->due.due_at <= at;

    if (!keeper->is_reading && !is_due_before)
        timer_start(keeper->loop, &keeper->due, at);
}

static void keeper_show_change(struct zone_keeper *keeper)
{
    keeper_show_by(keeper, keeper->published_at + PUBLISH_US);
}

static void keeper_on_due(struct timer *timer)
{
    keeper_publish(CONTAINER_OF(timer, struct zone_keeper, due));
}

/* Shows the times of all zones, and finds the zone that expires first. */
static void keeper_note_expiry(struct zone_keeper *keeper)
{
    uint64_t now = loop_clock(keeper->loop), first_at = 0;

    for (size_t i = 0; i < keeper->zones.count; i++) {
        struct transfer_view view = {0};
        if (keeper->zones.list[i].transfer)
            transfer_look(keeper->zones.list[i].transfer, &view);
        uint64_t at =
            view.has_version && !view.is_expired ? now + (uint64_t)view.expires_in_s * US_PER_S : 0;
        if (keeper->zones.list[i].times)
            zone_times_set(keeper->zones.list[i].times, (uint64_t)view.confirmed_at_s, at);
        if (at != 0 && (first_at == 0 || at < first_at))
            first_at = at;
    }
    stats_write(&keeper->transfers.first_expiry_at, first_at);
}

/* Refuses a version of a primary. The same version comes again with each visit, so its reason is
 * logged once. */
static enum err keeper_refuse(struct kept_zone *zone, const struct zone_data *version,
                              const char *fault)
{
    uint32_t serial = zone_data_soa(version)->serial;
    char name[NAME_TEXT_MAX];

    bool is_known = zone->is_refusal_logged && zone->logged_serial == serial &&
                    strcmp(zone->refusal, fault) == 0;
    zone->is_refused = true;
    if (is_known)
        return ERR_INVALID;
    snprintf(zone->refusal, sizeof(zone->refusal), "%s", fault);
    zone->is_refusal_logged = true;
    zone->logged_serial = serial;
    LOG(LOG_ERROR, "zones", "zone %s: serial %u: %s; %s",
        name_format(zone_data_origin(version), name), serial, fault, words_of_rest(zone));
    return ERR_INVALID;
}

/* Makes the rules of a new version. On an error the former rules stay. */
static enum err keeper_take_rules(struct kept_zone *zone, struct zone_data *version)
{
    struct rpz_rules *rules;
    enum err err = rpz_rules_new(&rules, version, zone->plan.max_bytes);

    if (err)
        return err;
    rpz_rules_unref(zone->rules);
    zone->rules = rules;
    return ERR_OK;
}

/* Checks a version of primaries. Returns false when it must not be used: then why is a sentence. */
static bool keeper_check_version(struct zone_keeper *keeper, const struct kept_zone *zone,
                                 const struct zone_data *version, char why[APEX_WHY_MAX])
{
    struct zone_checks checks = keeper_checks(keeper, zone);

    if (!zone_from_file_check(version, &checks, why))
        return false;
    const char *fault = keeper_check_catalog(keeper, zone, version);
    if (fault)
        snprintf(why, APEX_WHY_MAX, "%s", fault);
    return !fault;
}

static enum err keeper_on_version(void *owner, struct zone_data *version)
{
    struct zone_keeper *keeper = owner;
    struct kept_zone *zone = find_transferred(keeper, zone_data_origin(version));
    char fault[APEX_WHY_MAX];

    MUST(zone);
    if (!keeper_check_version(keeper, zone, version, fault))
        return keeper_refuse(zone, version, fault);
    enum err err = zone->plan.kind == ZONE_OF_POLICY ? keeper_take_rules(zone, version) : ERR_OK;
    if (err)
        return err;
    zone->is_refusal_logged = false;
    keeper_take_version(keeper, zone, zone_data_ref(version));
    keeper_show_change(keeper);
    return ERR_OK;
}

static void keeper_on_expired(void *owner, struct name name)
{
    struct zone_keeper *keeper = owner;
    struct kept_zone *zone = find_transferred(keeper, name);

    MUST(zone);
    if (!zone_kind_is_catalog(zone->plan.kind)) { /* its members stay, each with its own expiry */
        zone_data_unref(zone->data);
        zone->data = NULL;
        rpz_rules_unref(zone->rules);
        zone->rules = NULL;
    }
    zone->state = CONTROL_ZONE_EXPIRED;
    keeper_note_expiry(keeper);
    keeper_show_by(keeper, loop_now(keeper->loop)); /* no answer comes from it after its expiry */
}

/* Judges the version in force by new checks. A version that fails stays in force, as the version of
 * a file does. */
static void keeper_judge_zone(struct zone_keeper *keeper, struct kept_zone *zone)
{
    struct zone_checks checks = keeper_checks(keeper, zone);
    bool was_doubted = zone->verdict == KEPT_DOUBTED;

    if (zone_from_file_check(zone->data, &checks, zone->refusal)) {
        zone->verdict = KEPT_SOUND;
        if (was_doubted && zone->state == CONTROL_ZONE_KEPT) {
            zone->state = *zone->failure ? CONTROL_ZONE_KEPT : CONTROL_ZONE_SERVED;
            snprintf(zone->why, sizeof(zone->why), "%s", zone->failure);
        }
        return;
    }
    zone->verdict = KEPT_DOUBTED;
    zone->is_refusal_logged = false; /* refusal has changed */
    snprintf(zone->why, sizeof(zone->why), "%s", zone->refusal);
    if (zone->state == CONTROL_ZONE_SERVED)
        zone->state = CONTROL_ZONE_KEPT;
    log_refused(zone);
}

static void keeper_judge_held(struct zone_keeper *keeper)
{
    for (size_t i = 0; i < keeper->zones.count && !atomic_load(&keeper->is_ending); i++) {
        struct kept_zone *zone = &keeper->zones.list[i];
        if (!zone_plan_is_transferred(&zone->plan) || !zone->data || zone->verdict == KEPT_SOUND)
            continue;
        keeper_judge_zone(keeper, zone);
        if (zone->transfer)
            transfer_doubt(zone->transfer, zone->verdict == KEPT_DOUBTED);
        keeper_note_vouching(keeper, zone); /* takes newer anchors; the verdict is already known */
    }
}

/* Counts a visit, and notes the facts that alerts use. */
static void keeper_count_visit(struct zone_keeper *keeper, enum transfer_result result)
{
    uint64_t *counts[] = {[TRANSFER_CURRENT] = &keeper->transfers.current,
                          [TRANSFER_WHOLE] = &keeper->transfers.whole,
                          [TRANSFER_CHANGES] = &keeper->transfers.changes,
                          [TRANSFER_FAILED] = &keeper->transfers.failed};

    stats_write(counts[result], stats_read(counts[result]) + 1);
    keeper_note_expiry(keeper);
}

/* Shows the first failure after a success, and the first success after a failure. The few zones of
 * policy show each visit. */
static void keeper_on_visited(void *owner, struct name name, enum transfer_result result,
                              const char *why)
{
    struct zone_keeper *keeper = owner;
    struct kept_zone *zone = find_transferred(keeper, name);
    enum control_zone_state before;

    MUST(zone);
    before = zone->state;
    keeper_count_visit(keeper, result);
    bool is_doubted = zone->data && zone->verdict == KEPT_DOUBTED;
    /* Where the checks refuse what the primary has, the doubt tells it, and ends with it. */
    snprintf(zone->failure, sizeof(zone->failure), "%s", zone->is_refused && is_doubted ? "" : why);
    const char *refusal = zone->is_refused || is_doubted ? zone->refusal : "";
    snprintf(zone->why, sizeof(zone->why), "%s%s%s", why, *why && *refusal ? ": " : "", refusal);
    zone->is_refused = false;
    if (zone->data && zone->state != CONTROL_ZONE_EXPIRED) /* a new version ends that state */
        zone->state =
            result == TRANSFER_FAILED || is_doubted ? CONTROL_ZONE_KEPT : CONTROL_ZONE_SERVED;
    else if (zone->state == CONTROL_ZONE_LOADING)
        zone->state = CONTROL_ZONE_FAILED;
    if (zone->state != before || zone->plan.kind != ZONE_OF_ANSWERS)
        keeper_show_change(keeper);
}

static const struct transfer_handler transfer_handler = {keeper_on_version, keeper_on_expired,
                                                         keeper_on_visited};

static void keeper_on_notify(struct mail *mail)
{
    struct notify_letter *letter = CONTAINER_OF(mail, struct notify_letter, mail);
    struct zone_keeper *keeper = letter->keeper;
    const struct xfr_notify *notify = &letter->notify;
    struct kept_zone *zone = find_transferred(keeper, xfr_notify_zone(notify));

    pthread_mutex_lock(&keeper->lock);
    keeper->notifies--;
    pthread_mutex_unlock(&keeper->lock);
    if (zone && zone->transfer)
        transfer_notify(zone->transfer, &letter->from, notify->has_serial ? &notify->serial : NULL);
    free(letter);
}

static void keeper_open_transfers(struct zone_keeper *keeper)
{
    for (size_t i = 0; i < keeper->zones.count; i++) {
        struct kept_zone *zone = &keeper->zones.list[i];
        const struct zone_primaries *primaries = zone->plan.primaries;
        if (!zone_plan_is_transferred(&zone->plan) || zone->transfer)
            continue;
        if (!zone->times)
            zone->times = zone_times_new(); /* on failure the zone shows no times */
        struct transfer_options options = {.zone = zone_plan_name(&zone->plan),
                                           .gate = &keeper->gate,
                                           .primaries = primaries->list,
                                           .primary_count = (unsigned)primaries->count,
                                           .max_bytes = zone->plan.max_bytes,
                                           .folder = primaries->folder,
                                           .held = zone->data,
                                           .held_left_s = zone->left_s,
                                           .keeps_expired = zone_kind_is_catalog(zone->plan.kind)};
        if (transfer_open(&zone->transfer, keeper->loop, keeper->contexts, &options,
                          &transfer_handler, keeper) != ERR_OK) {
            snprintf(zone->why, sizeof(zone->why), "out of memory");
            zone->state = zone->data ? CONTROL_ZONE_KEPT : CONTROL_ZONE_FAILED;
            log_refused(zone);
        }
        if (zone->transfer)
            transfer_doubt(zone->transfer, zone->verdict == KEPT_DOUBTED);
        zone->is_refused = false; /* of a stored copy: no primary gave it */
        if (loop_clock(keeper->loop) - keeper->published_at > PUBLISH_US)
            keeper_publish(keeper);
    }
}

/* ---- members of catalogs ---- */

/* Makes a list for this many configured zones and the members of catalogs. */
static enum err keeper_begin_zones(const struct name_map *names, size_t configured,
                                   struct kept_zones *zones, struct name_map **taken)
{
    *taken = name_map_new();
    if (*taken && !kept_zones_init(zones, configured + (names ? ZONE_MEMBERS_MAX : 1)))
        return ERR_OK;
    name_map_free(*taken);
    return ERR_NO_MEMORY;
}

/* Adds the members, and replaces the keeper's zones. Frees taken. */
static void keeper_use_zones(struct zone_keeper *keeper, struct kept_zones *zones,
                             struct name_map *taken)
{
    const struct zone_members_names names = {keeper->names, taken};

    zone_members_add(zones, &keeper->zones, &names,
                     keeper->wanted ? rpz_policy_count(keeper->wanted) : 0);
    name_map_free(taken);
    kept_zones_trim(zones);
    zone_members_drop_copies(zones, &keeper->zones);
    kept_zones_deinit(&keeper->zones);
    keeper->zones = *zones;
    keeper->has_new_catalog = false;
}

/* The configured zones move as they are. */
static void keeper_update_members(struct zone_keeper *keeper)
{
    struct kept_zones zones;
    struct name_map *taken;

    if (keeper_begin_zones(keeper->names, keeper->zones.count, &zones, &taken) != ERR_OK) {
        LOG(LOG_ERROR, "zones", "out of memory; the members of catalogs do not change");
        return;
    }
    for (size_t i = 0; i < keeper->zones.count; i++) {
        struct kept_zone *zone = &keeper->zones.list[i];
        if (zone->plan.node_len > 0)
            continue;
        zones.list[zones.count++] = *zone;
        *zone = (struct kept_zone){.plan.held.name_len = 1}; /* the root */
    }
    keeper_use_zones(keeper, &zones, taken);
    keeper_open_transfers(keeper);
}

static void keeper_on_catalog(struct turn_end *end)
{
    struct zone_keeper *keeper = CONTAINER_OF(end, struct zone_keeper, catalog_end);

    if (!keeper->has_new_catalog || atomic_load(&keeper->is_ending))
        return;
    keeper->is_reading = true;
    keeper_update_members(keeper);
    keeper_note_expiry(keeper);
    keeper->is_reading = false;
    keeper_publish(keeper);
}

/* A reload reads changed files of authorities and certificates. */
static void keeper_renew_tls(struct zone_keeper *keeper)
{
    char why[TLS_WHY_MAX];

    if (tls_contexts_renew(keeper->contexts, why) != ERR_OK)
        LOG(LOG_ERROR, "zones", "primaries: %s; the previous files stay in use", why);
}

/* All zones of this edition have been read, except versions that must come from a primary. */
static void keeper_note_settled(struct zone_keeper *keeper, uint64_t edition)
{
    pthread_mutex_lock(&keeper->lock);
    keeper->has_copies = true;
    keeper->settled = edition;
    keeper->settled_number = keeper->published;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
    keeper_post_arrival(keeper);
}

static void keeper_note_copies(struct zone_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    keeper->has_copies = true;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

/* Replaces the zones with those of the letter. On an error the former zones stay. */
static enum err keeper_take_letter(struct zone_keeper *keeper, struct plan_letter *letter)
{
    struct zone_plans *plans = letter->plans;
    struct kept_zones zones;
    struct name_map *taken;

    if (keeper_begin_zones(plans->names, plans->count, &zones, &taken) != ERR_OK)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < plans->count; i++)
        kept_zones_add(&zones, &keeper->zones, &plans->list[i]);
    rpz_policy_unref(keeper->wanted);
    keeper->wanted = letter->policy;
    letter->policy = NULL;
    name_map_free(keeper->names);
    keeper->names = plans->names;
    plans->names = NULL;
    keeper->planned_at = loop_clock(keeper->loop);
    keeper_use_zones(keeper, &zones, taken);
    return ERR_OK;
}

/* Large files come last, so that stored copies and small files need not wait for them. */
static void keeper_read_all(struct zone_keeper *keeper)
{
    keeper_publish(keeper); /* names of a zone that is not read yet must not go to servers */
    keeper->is_reading = true;
    keeper_read_changed(keeper, false);
    keeper_judge_held(keeper);
    keeper_renew_tls(keeper);
    keeper_open_transfers(keeper);
    if (keeper->has_new_catalog)
        keeper_update_members(keeper); /* members of a stored catalog are stored as well */
    keeper_note_expiry(keeper);
    keeper->is_reading = false;
    keeper_publish(keeper);
    keeper_note_copies(keeper);
    keeper_read_changed(keeper, true);
}

static void keeper_on_plans(struct mail *mail)
{
    struct plan_letter *letter = CONTAINER_OF(mail, struct plan_letter, mail);
    struct zone_keeper *keeper = letter->keeper;
    uint64_t edition = letter->edition;

    if (atomic_load(&keeper->is_ending)) { /* the thread may have freed everything already */
        free_letter(letter);
        return;
    }
    keeper_take_trust(keeper);
    if (keeper_take_letter(keeper, letter) == ERR_OK)
        keeper_read_all(keeper);
    else
        LOG(LOG_ERROR, "zones", "out of memory; the previous zones stay in force");
    free_letter(letter);
    keeper_note_settled(keeper, edition);
}

static void keeper_report_loop(struct zone_keeper *keeper, struct loop *loop)
{
    pthread_mutex_lock(&keeper->lock);
    keeper->loop = loop;
    keeper->has_failed = !loop;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

static void *keeper_run(void *argument)
{
    struct zone_keeper *keeper = argument;
    struct loop *loop = loop_new();

    keeper->contexts = loop ? tls_contexts_new() : NULL;
    if (loop && !keeper->contexts) {
        loop_free(loop);
        loop = NULL;
    }
    if (loop) {
        xfr_gate_init(&keeper->gate, loop, keeper->max_visits);
        outgoing_files_limit(loop, keeper->max_visits);
    }
    keeper_report_loop(keeper, loop);
    if (!loop)
        return NULL;
    loop_run(loop);
    kept_zones_deinit(&keeper->zones);
    turn_end_cancel(&keeper->catalog_end);
    timer_stop(&keeper->due);
    xfr_gate_deinit(&keeper->gate);
    name_map_free(keeper->names);
    rpz_policy_unref(keeper->wanted);
    rpz_policy_unref(keeper->policy);
    zone_trust_free(keeper->trust);
    keeper->trust = NULL;
    tls_contexts_free(keeper->contexts);
    loop_free(loop); /* runs the mail that is left */
    return NULL;
}

/* ---- main's thread: life ---- */

static void keeper_on_arrival(struct mail *mail);
static void keeper_on_forgotten(void *context);

struct zone_keeper *zone_keeper_new(struct loop *loop, struct cache *cache, unsigned max_visits)
{
    struct zone_keeper *keeper = calloc(1, sizeof(*keeper));

    if (!keeper)
        return NULL;
    keeper->main = loop;
    keeper->cache = cache;
    keeper->max_visits = max_visits;
    keeper->arrival.run = keeper_on_arrival;
    keeper->release.run = keeper_on_release;
    forget_init(&keeper->forget, loop, cache, keeper_on_forgotten, keeper);
    turn_end_init(&keeper->catalog_end, keeper_on_catalog);
    timer_init(&keeper->due, keeper_on_due);
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_cond_init(&keeper->changed, NULL);
    return keeper;
}

static enum err keeper_start_thread(struct zone_keeper *keeper)
{
    if (pthread_create(&keeper->thread, NULL, keeper_run, keeper) != 0)
        return ERR_NO_MEMORY;
    pthread_setname_np(keeper->thread, "zones");
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->loop && !keeper->has_failed)
        pthread_cond_wait(&keeper->changed, &keeper->lock);
    keeper->has_thread = keeper->loop;
    keeper->has_failed = false;
    pthread_mutex_unlock(&keeper->lock);
    if (keeper->has_thread)
        return ERR_OK;
    MUST(pthread_join(keeper->thread, NULL) == 0);
    return ERR_NO_FILES;
}

enum err zone_keeper_configure(struct zone_keeper *keeper, const struct config *config)
{
    enum err err = ERR_OK;

    if (config->auth_zone_count == 0 && config->rpz.count == 0 && !keeper->has_thread)
        return ERR_OK;
    struct plan_letter *letter = make_letter(config);
    if (!letter)
        return ERR_NO_MEMORY;
    if (!keeper->has_thread)
        err = keeper_start_thread(keeper);
    if (err != ERR_OK) {
        free_letter(letter);
        return err;
    }
    letter->keeper = keeper;
    letter->edition = ++keeper->edition;
    letter->mail.run = keeper_on_plans;
    loop_post(keeper->loop, &letter->mail);
    return ERR_OK;
}

void zone_keeper_trust(struct zone_keeper *keeper, const struct route_options *route)
{
    struct zone_trust *trust = zone_trust_new(route);

    if (!trust) {
        LOG(LOG_ERROR, "zones", "out of memory; the previous trust anchors judge the zones");
        return;
    }
    pthread_mutex_lock(&keeper->lock);
    struct zone_trust *superseded = keeper->next_trust;
    keeper->next_trust = trust;
    pthread_mutex_unlock(&keeper->lock);
    zone_trust_free(superseded);
}

static struct zone_publication *keeper_take_waiting(struct zone_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    struct zone_publication *publication = keeper->waiting;
    keeper->waiting = NULL;
    pthread_mutex_unlock(&keeper->lock);
    return publication;
}

static bool keeper_has_all(const struct zone_keeper *keeper)
{
    return keeper->settled > 0;
}

static bool keeper_has_copies(const struct zone_keeper *keeper)
{
    return keeper->has_copies;
}

/* Waits for the thread, at most for these seconds since the instant. */
static void keeper_wait_for(struct zone_keeper *keeper, const struct timespec *begun, int within_s,
                            bool (*is_done)(const struct zone_keeper *keeper))
{
    struct timespec until = *begun;
    int waited = 0;

    until.tv_sec += within_s;
    pthread_mutex_lock(&keeper->lock);
    while (waited == 0 && !is_done(keeper))
        waited = pthread_cond_timedwait(&keeper->changed, &keeper->lock, &until);
    pthread_mutex_unlock(&keeper->lock);
}

/* Shows other threads the zones in force. */
static void keeper_set_in_force(struct zone_keeper *keeper, struct zone_set *zones)
{
    struct zone_set *next = zone_set_ref(zones);

    pthread_mutex_lock(&keeper->lock);
    struct zone_set *before = keeper->in_force;
    keeper->in_force = next;
    pthread_mutex_unlock(&keeper->lock);
    zone_set_unref(before);
}

bool zone_keeper_is_for_clients(struct zone_keeper *keeper, struct name name)
{
    pthread_mutex_lock(&keeper->lock);
    bool is_for_clients = zone_set_is_for_clients(keeper->in_force, name);
    pthread_mutex_unlock(&keeper->lock);
    return is_for_clients;
}

void zone_keeper_await(struct zone_keeper *keeper, struct zone_set **zones,
                       struct rpz_policy **policy)
{
    struct timespec begun;

    *zones = NULL;
    *policy = NULL;
    if (!keeper->has_thread)
        return;
    MUST(clock_gettime(CLOCK_REALTIME, &begun) == 0);
    keeper_wait_for(keeper, &begun, ZONE_KEEPER_LARGE_S, keeper_has_all);
    keeper_wait_for(keeper, &begun, ZONE_KEEPER_COPIES_S, keeper_has_copies);
    keeper->current = keeper_take_waiting(keeper);
    if (!keeper->current)
        return;
    keeper_set_in_force(keeper, keeper->current->set);
    *zones = keeper->current->set;
    *policy = keeper->current->policy;
}

static void keeper_show(struct zone_keeper *keeper)
{
    if (!keeper->view)
        return;
    keeper->view->zones = keeper->current ? keeper->current->set : NULL;
    keeper->view->held = keeper->current ? keeper->current->rows : NULL;
    keeper->view->held_count = keeper->current ? keeper->current->count : 0;
    keeper->view->policy = (struct control_policy){0};
    if (keeper->current)
        keeper->view->policy =
            (struct control_policy){keeper->current->policy, keeper->current->policy_rows};
}

/* ---- main's thread: publishing ---- */

/* Lets the thread free a set. */
static void keeper_release(struct zone_keeper *keeper, struct zone_publication *publication)
{
    if (!publication)
        return;
    if (!keeper->has_thread) { /* the daemon stops */
        zone_publication_free(publication);
        return;
    }
    pthread_mutex_lock(&keeper->lock);
    publication->next_released = keeper->released;
    keeper->released = publication;
    bool is_posted = keeper->is_release_posted;
    keeper->is_release_posted = true;
    pthread_mutex_unlock(&keeper->lock);
    if (!is_posted)
        loop_post(keeper->loop, &keeper->release);
}

static bool answers_clients(const struct zone_set *set, struct name name)
{
    const struct zone_held *zone = set ? zone_set_find_exact(set, name) : NULL;

    return zone && zone->data && zone_is_for_clients(zone);
}

/* Drops cached answers, which would hide a zone that answers clients from now on. */
static void keeper_forget_hiding(struct zone_keeper *keeper, const struct zone_set *before)
{
    const struct zone_publication *current = keeper->current;

    forget_clear(&keeper->forget);
    for (size_t i = 0; i < current->count; i++) {
        struct name name = {current->rows[i].wire, current->rows[i].name_len};
        if (!answers_clients(current->set, name) || answers_clients(before, name))
            continue;
        forget_hiding(&keeper->forget, current->set, before);
        return;
    }
}

/* The former publication stays until the cache has forgotten. */
static void keeper_on_taken(void *context)
{
    struct zone_keeper *keeper = context;

    keeper->before = keeper->current;
    keeper->current = keeper->next;
    keeper->next = NULL;
    keeper_set_in_force(keeper, keeper->current->set);
    keeper_show(keeper);
    keeper_forget_hiding(keeper, keeper->before ? keeper->before->set : NULL);
    forget_begin(&keeper->forget);
}

static void keeper_give(struct zone_keeper *keeper)
{
    if (keeper->is_taking || !keeper->workers)
        return;
    keeper->next = keeper_take_waiting(keeper);
    if (!keeper->next)
        return;
    keeper->is_taking = true;
    workers_set_zones(keeper->workers, keeper->next->set, keeper->next->policy, keeper_on_taken,
                      keeper);
}

/* Whether the zones of the last configuration are in force, except versions still to come. */
static bool keeper_is_settled(struct zone_keeper *keeper)
{
    uint64_t number = keeper->current ? keeper->current->number : 0;

    pthread_mutex_lock(&keeper->lock);
    bool is_settled = keeper->settled == keeper->edition && number >= keeper->settled_number;
    pthread_mutex_unlock(&keeper->lock);
    return is_settled && !keeper->is_taking;
}

/* Gives new sets to the workers, and calls the waiter when its zones are in force. */
static void keeper_go_on(struct zone_keeper *keeper)
{
    void (*on_settled)(void *context) = keeper->on_settled;
    bool is_settled = keeper_is_settled(keeper);

    keeper_give(keeper);
    if (!on_settled || !is_settled)
        return;
    keeper->on_settled = NULL;
    on_settled(keeper->settled_context);
}

bool zone_keeper_settle(struct zone_keeper *keeper, void (*on_settled)(void *context),
                        void *context)
{
    if (!keeper->has_thread || keeper_is_settled(keeper))
        return true;
    keeper->on_settled = on_settled;
    keeper->settled_context = context;
    return false;
}

static void keeper_on_forgotten(void *context)
{
    struct zone_keeper *keeper = context;

    keeper_release(keeper, keeper->before);
    keeper->before = NULL;
    keeper->is_taking = false;
    keeper_go_on(keeper);
}

static void keeper_on_arrival(struct mail *mail)
{
    struct zone_keeper *keeper = CONTAINER_OF(mail, struct zone_keeper, arrival);

    pthread_mutex_lock(&keeper->lock);
    keeper->is_arrival_posted = false;
    pthread_mutex_unlock(&keeper->lock);
    keeper_go_on(keeper);
}

void zone_keeper_begin(struct zone_keeper *keeper, struct workers *workers,
                       struct control_view *view)
{
    keeper->workers = workers;
    keeper->view = view;
    view->transfers = &keeper->transfers;
    keeper_show(keeper);
}

void zone_keeper_notify(struct zone_keeper *keeper, const struct xfr_notify *notify,
                        const struct addr *from)
{
    struct notify_letter *letter = NULL;

    pthread_mutex_lock(&keeper->lock);
    struct loop *loop = keeper->loop;
    bool has_place = loop && keeper->notifies < ZONE_KEEPER_NOTIFIES_MAX;
    if (has_place && (letter = malloc(sizeof(*letter))))
        keeper->notifies++;
    pthread_mutex_unlock(&keeper->lock);
    if (!letter)
        return;
    *letter = (struct notify_letter){
        .mail.run = keeper_on_notify, .keeper = keeper, .notify = *notify, .from = *from};
    loop_post(loop, &letter->mail);
}

void zone_keeper_end(struct zone_keeper *keeper)
{
    if (keeper)
        keeper->workers = NULL;
}

void zone_keeper_join(struct zone_keeper *keeper)
{
    if (!keeper || !keeper->has_thread)
        return;
    atomic_store(&keeper->is_ending, true);
    loop_stop(keeper->loop);
    MUST(pthread_join(keeper->thread, NULL) == 0);
    keeper->has_thread = false;
}

void zone_keeper_free(struct zone_keeper *keeper)
{
    if (!keeper)
        return;
    zone_set_unref(keeper->in_force);
    zone_publication_free(keeper->before);
    zone_publication_free(keeper->current);
    zone_publication_free(keeper->next);
    zone_publication_free(keeper->waiting);
    while (keeper->released) {
        struct zone_publication *next = keeper->released->next_released;
        zone_publication_free(keeper->released);
        keeper->released = next;
    }
    zone_trust_free(keeper->next_trust);
    pthread_mutex_destroy(&keeper->lock);
    pthread_cond_destroy(&keeper->changed);
    free(keeper);
}
