/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Two threads and the way between them. A publication is a set and a policy with the rows that
 * describe them. It goes from the thread to main under the lock, and back by mail when it is out of
 * use.
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
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/units.h"
#include "config/config.h"
#include "control/view.h"
#include "daemon/forget.h"
#include "daemon/worker.h"
#include "daemon/zone_from_file.h"
#include "daemon/zone_primaries.h"
#include "daemon/zone_times.h"
#include "daemon/zone_trust.h"
#include "loop/loop.h"
#include "net/outgoing_files.h"
#include "rpz/rpz_policy.h"
#include "tls/tls_contexts.h"
#include "transfer/transfer.h"
#include "transfer/xfr_gate.h"
#include "transfer/xfr_notify.h"
#include "transfer/zone_store.h"
#include "zone/zone_catalog.h"
#include "zone/zone_data.h"
#include "zone/zone_set.h"

/* While many zones are read, the workers get a new set this often. */
#define PUBLISH_US (500 * US_PER_MS)

/* Larger files are read after the others, which need not wait for them. */
#define SMALL_FILE_BYTES (UINT64_C(4) << 20)

/* The users of a kept zone. */
enum zone_kind {
    ZONE_OF_ANSWERS, /* auth-zones: clients and recursion */
    ZONE_OF_POLICY,  /* rpz: its rules */
    ZONE_OF_CATALOG, /* rpz with catalog: its members have rules (RFC 9432) */
};

/* A zone as the configuration wants it. */
struct zone_plan {
    enum zone_kind kind;
    struct zone_held held;            /* without data; the name alone counts, but with answers */
    uint8_t node_wire[NAME_WIRE_MAX]; /* of a member, in its catalog */
    uint8_t node_len;                 /* 0: no member */
    char *file;                       /* "": the zone has primaries */
    struct zone_primaries *primaries; /* NULL: the zone has a file */
    size_t max_bytes;
    enum zonemd_mode zonemd;
};

/* A configuration on its way to the thread, which frees it. */
struct plan_letter {
    struct mail mail;
    struct zone_keeper *keeper;
    uint64_t edition;
    struct rpz_policy *policy; /* NULL: none; zones with primaries have no rules in it */
    size_t count;
    struct zone_plan plans[];
};

/* A NOTIFY on its way to the thread, which frees it. */
struct notify_letter {
    struct mail mail;
    struct zone_keeper *keeper;
    struct xfr_notify notify;
    struct addr from;
};

struct kept_zone {
    struct zone_plan plan;
    struct zone_data *data;    /* NULL: none yet */
    struct rpz_rules *rules;   /* of data, with ZONE_OF_POLICY */
    struct transfer *transfer; /* NULL: the zone has a file, or memory was out */
    struct zone_times *times;  /* likewise */
    struct zone_file_stamp stamp;
    int64_t left_s; /* until the version expires, when its transfers ended */
    bool has_stamp; /* the file was read with this stamp, whatever came of it */
    enum control_zone_state state;
    uint64_t loaded_at; /* us */
    char why[ZONE_FROM_FILE_WHY_MAX];
};

/* A set and a policy with their rows for people. */
struct publication {
    struct publication *next_released;
    uint64_t number; /* 1, 2, ... */
    struct zone_set *set;
    struct rpz_policy *policy; /* NULL: none */
    struct control_policy_zone policy_rows[RPZ_ZONES_MAX];
    size_t count;
    struct zone_times **times; /* of the rows, which borrow from them */
    struct control_zone rows[];
};

struct zone_keeper {
    struct loop *main;
    struct cache *cache;
    unsigned max_visits;
    struct workers *workers;   /* NULL: not serving yet, or no longer */
    struct control_view *view; /* likewise */
    struct forget forget;
    struct publication *current, *next; /* next: on its way to the workers */
    bool is_taking;                     /* workers take next, or the cache forgets */
    uint64_t edition;                   /* of the configuration that the thread got last */
    void (*on_settled)(void *context);  /* NULL: no one waits */
    void *settled_context;
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct loop *loop;            /* the thread's, once it runs */
    bool has_failed;              /* the thread could not make its loop */
    bool has_copies;              /* all but large files have been read, well or badly */
    uint64_t settled;             /* the last edition whose zones have all been read */
    uint64_t settled_number;      /* the publication that has them */
    struct publication *waiting;  /* the newest one for main */
    struct publication *released; /* for the thread to free */
    bool is_arrival_posted, is_release_posted;
    struct mail arrival, release;
    struct zone_trust *next_trust;      /* for the thread; NULL: it has the newest one */
    unsigned notifies;                  /* on their way */
    struct control_transfers transfers; /* the thread writes, anyone reads */

    atomic_bool is_ending; /* the thread begins to read no more zones */

    /* The thread's. */
    struct kept_zone *zones;
    size_t count;
    struct zone_trust *trust;  /* NULL: nothing is validated */
    struct rpz_policy *wanted; /* the zones of rpz; NULL: none */
    struct rpz_policy *policy; /* the last one that was made of them, with the counters; or NULL */
    uint64_t planned_at;
    uint64_t published_at;
    uint64_t published;   /* the number of the last publication */
    bool is_reading;      /* zones are being read, and a publication follows */
    bool has_new_catalog; /* its members are not known yet */
    struct turn_end catalog_end;
    struct tls_contexts *contexts;
    struct xfr_gate gate;
};

/* ---- plans ---- */

static void free_plan(struct zone_plan *plan)
{
    free(plan->file);
    plan->file = NULL;
    zone_primaries_free(plan->primaries);
    plan->primaries = NULL;
}

static void free_letter(struct plan_letter *letter)
{
    for (size_t i = 0; letter && i < letter->count; i++)
        free_plan(&letter->plans[i]);
    if (letter)
        rpz_policy_unref(letter->policy);
    free(letter);
}

/* Copies where the zone comes from. Returns false when memory is out. */
static bool plan_take_source(struct zone_plan *plan, const struct config *config, const char *file,
                             const struct config_source *source)
{
    plan->file = strdup(file);
    if (source->primary_count > 0)
        plan->primaries = zone_primaries_copy(config, source);
    if (plan->file && (plan->primaries || source->primary_count == 0))
        return true;
    free_plan(plan);
    return false;
}

static bool plan_answers(struct zone_plan *plan, const struct config *config,
                         const struct config_auth_zone *zone)
{
    plan->kind = ZONE_OF_ANSWERS;
    memcpy(plan->held.wire, zone->wire, sizeof(plan->held.wire));
    plan->held.name_len = zone->name_len;
    plan->held.use = zone->use;
    plan->held.has_fallback = zone->fallback;
    plan->max_bytes = zone->max_bytes;
    plan->zonemd = zone->zonemd;
    return plan_take_source(plan, config, zone->file, &zone->source);
}

static bool plan_policy(struct zone_plan *plan, const struct config *config,
                        const struct config_rpz_zone *zone)
{
    plan->kind = zone->catalog ? ZONE_OF_CATALOG : ZONE_OF_POLICY;
    memcpy(plan->held.wire, zone->options.wire, sizeof(plan->held.wire));
    plan->held.name_len = zone->options.name_len;
    plan->max_bytes = zone->options.max_bytes;
    plan->zonemd = ZONEMD_CHECK;
    return plan_take_source(plan, config, "", &zone->source);
}

/* Returns false when memory is out. */
static bool letter_take_plans(struct plan_letter *letter, const struct config *config)
{
    bool is_whole = true;
    for (size_t i = 0; is_whole && i < config->auth_zone_count; i++)
        if ((is_whole =
                 plan_answers(&letter->plans[letter->count], config, &config->auth_zones[i])))
            letter->count++;
    for (size_t i = 0; is_whole && i < config->rpz.count; i++) {
        const struct config_rpz_zone *zone = &config->rpz.zones[i];
        if (zone->source.primary_count > 0 &&
            (is_whole = plan_policy(&letter->plans[letter->count], config, zone)))
            letter->count++;
    }
    return is_whole;
}

static struct plan_letter *make_letter(const struct config *config)
{
    size_t most = config->auth_zone_count + config->rpz.count;
    struct plan_letter *letter = calloc(1, sizeof(*letter) + most * sizeof(letter->plans[0]));

    if (!letter)
        return NULL;
    if (config->rpz.policy)
        letter->policy = rpz_policy_ref(config->rpz.policy);
    if (letter_take_plans(letter, config))
        return letter;
    free_letter(letter);
    return NULL;
}

/* ---- publications ---- */

static void free_publication(struct publication *publication)
{
    if (!publication)
        return;
    zone_set_unref(publication->set);
    rpz_policy_unref(publication->policy);
    for (size_t i = 0; publication->times && i < publication->count; i++)
        zone_times_unref(publication->times[i]);
    free(publication->times);
    free(publication);
}

static struct kept_zone *find_kept(struct kept_zone *zones, size_t count, struct name name,
                                   enum zone_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (zones[i].plan.kind == kind && name_equal(zone_held_name(&zones[i].plan.held), name))
            return &zones[i];
    return NULL;
}

/* The name of a member's node; the root: no member. */
static struct name plan_node(const struct zone_plan *plan)
{
    return plan->node_len > 0 ? (struct name){plan->node_wire, plan->node_len} : name_root();
}

static bool is_member_of(const struct kept_zone *zone, const struct kept_zone *catalog)
{
    return zone->plan.node_len > 0 &&
           name_is_below(plan_node(&zone->plan), zone_held_name(&catalog->plan.held));
}

/* Finds the zone with primaries that has this name: there is only one. */
static struct kept_zone *find_transferred(const struct zone_keeper *keeper, struct name name)
{
    for (size_t i = 0; i < keeper->count; i++)
        if (keeper->zones[i].plan.primaries &&
            name_equal(zone_held_name(&keeper->zones[i].plan.held), name))
            return &keeper->zones[i];
    return NULL;
}

static void fill_row(struct control_zone *row, const struct kept_zone *zone)
{
    memcpy(row->wire, zone->plan.held.wire, sizeof(row->wire));
    row->name_len = zone->plan.held.name_len;
    row->use = zone->plan.held.use;
    row->state = zone->state;
    row->loaded_at = zone->loaded_at;
    row->times = zone_times_look(zone->times);
    snprintf(row->why, sizeof(row->why), "%.500s", zone->why);
    if (!zone->data)
        return;
    row->serial = zone_data_soa(zone->data)->serial;
    row->records = zone_data_records(zone->data);
    row->size_bytes = zone_data_bytes(zone->data);
}

static bool publication_take_set(struct publication *publication, const struct zone_keeper *keeper)
{
    struct zone_held *held = calloc(keeper->count + 1, sizeof(*held));

    publication->times = calloc(keeper->count + 1, sizeof(struct zone_times *));
    for (size_t i = 0; held && publication->times && i < keeper->count; i++) {
        const struct kept_zone *zone = &keeper->zones[i];
        if (zone->plan.kind != ZONE_OF_ANSWERS)
            continue;
        held[publication->count] = zone->plan.held;
        held[publication->count].data = zone->data;
        publication->times[publication->count] = zone_times_ref(zone->times);
        fill_row(&publication->rows[publication->count++], zone);
    }
    if (held && publication->times)
        publication->set = zone_set_new(held, publication->count);
    free(held);
    return publication->set;
}

static void fill_policy_row(struct control_policy_zone *row, const struct kept_zone *zone,
                            uint64_t now)
{
    struct transfer_view view = {0};

    if (zone->transfer)
        transfer_look(zone->transfer, &view);
    row->source = CONTROL_POLICY_PRIMARIES;
    if (zone->plan.node_len > 0)
        row->catalog_len = name_copy(name_strip(plan_node(&zone->plan), 2), row->catalog).len;
    row->state = zone->state;
    row->loaded_at = zone->loaded_at;
    row->refresh_at = view.refresh_at;
    row->expires_at = view.expires_in_s > 0 ? now + (uint64_t)view.expires_in_s * US_PER_S : 0;
    snprintf(row->why, sizeof(row->why), "%.500s", zone->why);
}

/* A policy that is being put together. */
struct policy_draft {
    struct rpz_policy_entry entries[RPZ_ZONES_MAX];
    struct rpz_zone_options
        options[RPZ_ZONES_MAX]; /* of members: their catalog's, with their name */
    size_t count;
};

/* Members apply at the place of their catalog. */
static void policy_draft_add_members(struct policy_draft *draft, struct publication *publication,
                                     const struct zone_keeper *keeper,
                                     const struct kept_zone *catalog,
                                     const struct rpz_zone_options *options)
{
    for (size_t i = 0; i < keeper->count && draft->count < RPZ_ZONES_MAX; i++) {
        const struct kept_zone *zone = &keeper->zones[i];
        if (!is_member_of(zone, catalog))
            continue;
        struct rpz_zone_options *own = &draft->options[draft->count];
        *own = *options;
        own->name_len = name_copy(zone_held_name(&zone->plan.held), own->wire).len;
        fill_policy_row(&publication->policy_rows[draft->count], zone, loop_clock(keeper->loop));
        draft->entries[draft->count++] = (struct rpz_policy_entry){own, zone->rules};
    }
}

static void policy_draft_add(struct policy_draft *draft, struct publication *publication,
                             const struct zone_keeper *keeper, const struct rpz_policy_zone *wanted)
{
    const struct rpz_zone_options *options = rpz_policy_zone_options(wanted);
    struct name name = {options->wire, options->name_len};
    const struct kept_zone *zone = find_kept(keeper->zones, keeper->count, name, ZONE_OF_POLICY);
    const struct kept_zone *catalog =
        find_kept(keeper->zones, keeper->count, name, ZONE_OF_CATALOG);
    struct control_policy_zone *row = &publication->policy_rows[draft->count];

    if (zone || catalog)
        fill_policy_row(row, zone ? zone : catalog, loop_clock(keeper->loop));
    else
        *row = (struct control_policy_zone){.state = CONTROL_ZONE_SERVED,
                                            .loaded_at = keeper->planned_at};
    draft->entries[draft->count++] =
        (struct rpz_policy_entry){options, zone ? zone->rules : rpz_policy_zone_rules(wanted)};
    if (catalog)
        policy_draft_add_members(draft, publication, keeper, catalog, options);
}

/* Makes the policy of the wanted zones, with the rules that each has now. Without zones there is
 * none. */
static bool publication_take_policy(struct publication *publication, struct zone_keeper *keeper)
{
    struct policy_draft draft = {.count = 0};
    size_t count = keeper->wanted ? rpz_policy_count(keeper->wanted) : 0;

    for (size_t i = 0; i < count && draft.count < RPZ_ZONES_MAX; i++)
        policy_draft_add(&draft, publication, keeper, rpz_policy_at(keeper->wanted, i));
    if (count > 0) {
        publication->policy =
            rpz_policy_new(draft.entries, draft.count, rpz_policy_waits(keeper->wanted));
        if (!publication->policy)
            return false;
        if (keeper->policy)
            rpz_policy_take_counters(publication->policy, keeper->policy);
    }
    rpz_policy_unref(keeper->policy);
    keeper->policy = publication->policy ? rpz_policy_ref(publication->policy) : NULL;
    return true;
}

/* Returns NULL when memory is out: then the workers keep the set and the policy that they have. */
static struct publication *make_publication(struct zone_keeper *keeper)
{
    struct publication *publication =
        calloc(1, sizeof(*publication) + keeper->count * sizeof(publication->rows[0]));

    if (publication && publication_take_set(publication, keeper) &&
        publication_take_policy(publication, keeper))
        return publication;
    free_publication(publication);
    return NULL;
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
    struct publication *publication = make_publication(keeper);

    keeper->published_at = loop_clock(keeper->loop);
    if (!publication) {
        LOG(LOG_ERROR, "zones", "out of memory; the zones before stay in force");
        return;
    }
    publication->number = ++keeper->published;
    pthread_mutex_lock(&keeper->lock);
    struct publication *superseded = keeper->waiting;
    keeper->waiting = publication;
    pthread_mutex_unlock(&keeper->lock);
    free_publication(superseded);
    keeper_post_arrival(keeper);
}

/* Frees the sets that no worker has. */
static void keeper_on_release(struct mail *mail)
{
    struct zone_keeper *keeper = CONTAINER_OF(mail, struct zone_keeper, release);

    pthread_mutex_lock(&keeper->lock);
    struct publication *released = keeper->released;
    keeper->released = NULL;
    keeper->is_release_posted = false;
    pthread_mutex_unlock(&keeper->lock);
    while (released) {
        struct publication *next = released->next_released;
        free_publication(released);
        released = next;
    }
}

static void log_loaded(const struct kept_zone *zone, uint64_t took_us)
{
    char name[NAME_TEXT_MAX];

    LOG(LOG_NOTICE, "zones", "zone %s: serial %u, %zu records, %zu KiB, read from %s in %llu ms",
        name_format(zone_held_name(&zone->plan.held), name), zone_data_soa(zone->data)->serial,
        zone_data_records(zone->data), zone_data_bytes(zone->data) / 1024, zone->plan.file,
        (unsigned long long)(took_us / US_PER_MS));
}

static void log_refused(const struct kept_zone *zone)
{
    char name[NAME_TEXT_MAX];
    const char *rest = zone->data                          ? "the version before stays in force"
                       : zone->plan.kind == ZONE_OF_POLICY ? "it has no rules"
                       : zone->plan.held.has_fallback      ? "its names are resolved like others"
                                                           : "its names are answered with SERVFAIL";

    LOG(LOG_ERROR, "zones", "zone %s: %s; %s", name_format(zone_held_name(&zone->plan.held), name),
        zone->why, rest);
}

/* Replaces the version of a zone. */
static void keeper_take_version(struct zone_keeper *keeper, struct kept_zone *zone,
                                struct zone_data *data)
{
    zone_data_unref(zone->data);
    zone->data = data;
    zone->state = CONTROL_ZONE_SERVED;
    zone->loaded_at = loop_clock(keeper->loop);
    zone->why[0] = '\0';
}

/* Takes the trust anchors that main has set. Files that others judged are read again. */
static void keeper_take_trust(struct zone_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    struct zone_trust *next = keeper->next_trust;
    keeper->next_trust = NULL;
    pthread_mutex_unlock(&keeper->lock);
    if (!next)
        return;
    for (size_t i = 0; i < keeper->count; i++)
        if (zone_trust_differs(keeper->trust, next, zone_held_name(&keeper->zones[i].plan.held)))
            keeper->zones[i].has_stamp = false;
    zone_trust_free(keeper->trust);
    keeper->trust = next;
}

static struct zone_checks keeper_checks(struct zone_keeper *keeper, const struct kept_zone *zone)
{
    keeper_take_trust(keeper);
    return (struct zone_checks){.zonemd = zone->plan.zonemd,
                                .apex = zone_trust_rules(keeper->trust, loop_wall_s(keeper->loop))};
}

static void keeper_read_zone(struct zone_keeper *keeper, struct kept_zone *zone)
{
    struct name origin = zone_held_name(&zone->plan.held);
    uint64_t begun_at = loop_clock(keeper->loop);
    struct zone_checks checks = keeper_checks(keeper, zone);
    struct zone_data *data;

    zone->has_stamp = zone_from_file_stamp(zone->plan.file, &zone->stamp);
    if (zone_from_file(zone->plan.file, origin, zone->plan.max_bytes, &checks, &data, zone->why)) {
        zone->state = zone->data ? CONTROL_ZONE_KEPT : CONTROL_ZONE_FAILED;
        log_refused(zone);
        return;
    }
    keeper_take_version(keeper, zone, data);
    log_loaded(zone, zone->loaded_at - begun_at);
}

/* Whether the file must be read in this pass. A file that is missing is read to say so, once for
 * each reload. */
static bool keeper_must_read(const struct kept_zone *zone, bool is_large)
{
    struct zone_file_stamp stamp;

    if (zone->plan.primaries)
        return false;
    if (!zone_from_file_stamp(zone->plan.file, &stamp))
        return !is_large;
    return (stamp.size_bytes > SMALL_FILE_BYTES) == is_large &&
           !(zone->has_stamp && zone_from_file_is_same(&stamp, &zone->stamp));
}

static void keeper_read_changed(struct zone_keeper *keeper, bool is_large)
{
    for (size_t i = 0; i < keeper->count && !atomic_load(&keeper->is_ending); i++) {
        struct kept_zone *zone = &keeper->zones[i];
        if (!keeper_must_read(zone, is_large))
            continue;
        keeper_read_zone(keeper, zone);
        if (is_large || loop_clock(keeper->loop) - keeper->published_at > PUBLISH_US)
            keeper_publish(keeper);
    }
}

/* ---- transfers ---- */

/* Shows a change, unless a publication follows anyway. */
static void keeper_show_change(struct zone_keeper *keeper)
{
    if (!keeper->is_reading)
        keeper_publish(keeper);
}

/* Shows the times of all zones, and finds the zone that expires first. */
static void keeper_note_expiry(struct zone_keeper *keeper)
{
    uint64_t now = loop_clock(keeper->loop), first_at = 0;

    for (size_t i = 0; i < keeper->count; i++) {
        struct transfer_view view = {0};
        if (keeper->zones[i].transfer)
            transfer_look(keeper->zones[i].transfer, &view);
        uint64_t at =
            view.has_version && !view.is_expired ? now + (uint64_t)view.expires_in_s * US_PER_S : 0;
        if (keeper->zones[i].times)
            zone_times_set(keeper->zones[i].times, (uint64_t)view.confirmed_at_s, at);
        if (at != 0 && (first_at == 0 || at < first_at))
            first_at = at;
    }
    stats_write(&keeper->transfers.first_expiry_at, first_at);
}

/* Makes the rules of a new version. On an error the rules before stay. */
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

/* A broken catalog is refused, so the members stay (RFC 9432 section 5.1). */
static enum err keeper_take_catalog(struct zone_keeper *keeper, struct zone_data *version)
{
    struct zone_catalog_member members[RPZ_ZONES_MAX];
    char text[NAME_TEXT_MAX];
    size_t total;
    const char *fault = zone_catalog_read(version, members, RPZ_ZONES_MAX, &total);

    if (fault) {
        LOG(LOG_ERROR, "zones", "catalog %s: serial %u: %s; its members stay as they are",
            name_format(zone_data_origin(version), text), zone_data_soa(version)->serial, fault);
        return ERR_INVALID;
    }
    keeper->has_new_catalog = true;
    loop_at_turn_end(keeper->loop, &keeper->catalog_end);
    return ERR_OK;
}

/* Makes what the kind of the zone needs. On an error the version before stays. */
static enum err keeper_prepare(struct zone_keeper *keeper, struct kept_zone *zone,
                               struct zone_data *version)
{
    if (zone->plan.kind == ZONE_OF_CATALOG)
        return keeper_take_catalog(keeper, version);
    return zone->plan.kind == ZONE_OF_POLICY ? keeper_take_rules(zone, version) : ERR_OK;
}

static enum err keeper_on_version(void *owner, struct zone_data *version)
{
    struct zone_keeper *keeper = owner;
    struct kept_zone *zone = find_transferred(keeper, zone_data_origin(version));

    MUST(zone);
    struct zone_checks checks = keeper_checks(keeper, zone);
    char fault[APEX_WHY_MAX];
    if (!zone_from_file_check(version, &checks, fault)) {
        char text[NAME_TEXT_MAX];
        LOG(LOG_ERROR, "zones", "zone %s: serial %u: %s",
            name_format(zone_data_origin(version), text), zone_data_soa(version)->serial, fault);
        return ERR_INVALID;
    }
    enum err err = keeper_prepare(keeper, zone, version);
    if (err)
        return err;
    keeper_take_version(keeper, zone, zone_data_ref(version));
    keeper_show_change(keeper);
    return ERR_OK;
}

static void keeper_on_expired(void *owner, struct name name)
{
    struct zone_keeper *keeper = owner;
    struct kept_zone *zone = find_transferred(keeper, name);

    MUST(zone);
    zone_data_unref(zone->data);
    zone->data = NULL;
    rpz_rules_unref(zone->rules);
    zone->rules = NULL;
    zone->state = CONTROL_ZONE_EXPIRED;
    keeper_note_expiry(keeper);
    keeper_show_change(keeper);
}

/* Counts a visit, and notes what people want to be warned of. */
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
    snprintf(zone->why, sizeof(zone->why), "%s", why);
    if (zone->data)
        zone->state = result == TRANSFER_FAILED ? CONTROL_ZONE_KEPT : CONTROL_ZONE_SERVED;
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

/* Ends the transfers of a zone. Returns the seconds that its version had left. */
static int64_t keeper_close_transfer(struct kept_zone *zone)
{
    struct transfer_view view;

    if (!zone->transfer)
        return zone->data ? zone_data_soa(zone->data)->expire : 0;
    transfer_look(zone->transfer, &view);
    transfer_close(&zone->transfer);
    return view.expires_in_s;
}

static void keeper_open_transfers(struct zone_keeper *keeper)
{
    for (size_t i = 0; i < keeper->count; i++) {
        struct kept_zone *zone = &keeper->zones[i];
        const struct zone_primaries *primaries = zone->plan.primaries;
        if (!primaries || zone->transfer)
            continue;
        if (!zone->times)
            zone->times = zone_times_new(); /* without memory the zone shows no times */
        struct transfer_options options = {.zone = zone_held_name(&zone->plan.held),
                                           .gate = &keeper->gate,
                                           .primaries = primaries->list,
                                           .primary_count = (unsigned)primaries->count,
                                           .max_bytes = zone->plan.max_bytes,
                                           .folder = primaries->folder,
                                           .held = zone->data,
                                           .held_left_s = zone->left_s};
        if (transfer_open(&zone->transfer, keeper->loop, keeper->contexts, &options,
                          &transfer_handler, keeper) != ERR_OK) {
            snprintf(zone->why, sizeof(zone->why), "out of memory");
            zone->state = zone->data ? CONTROL_ZONE_KEPT : CONTROL_ZONE_FAILED;
            log_refused(zone);
        }
        if (loop_clock(keeper->loop) - keeper->published_at > PUBLISH_US)
            keeper_publish(keeper);
    }
}

/* Moves the plan to a kept zone, with what is known of the zone of that name. Another file, bound
 * or primary is read again, and the version stays meanwhile. */
static void keeper_take_plan(struct zone_keeper *keeper, struct kept_zone *zone,
                             struct zone_plan *plan)
{
    struct kept_zone *before =
        find_kept(keeper->zones, keeper->count, zone_held_name(&plan->held), plan->kind);

    if (before && !name_equal(plan_node(&before->plan), plan_node(plan)))
        before = NULL; /* another node: the state is reset (RFC 9432 section 5.4) */
    *zone = (struct kept_zone){.state = CONTROL_ZONE_LOADING};
    if (before) {
        bool is_same = strcmp(before->plan.file, plan->file) == 0 &&
                       before->plan.max_bytes == plan->max_bytes &&
                       zone_primaries_equal(before->plan.primaries, plan->primaries);
        if (!is_same)
            before->left_s = keeper_close_transfer(before);
        *zone = *before;
        zone->has_stamp = before->has_stamp && is_same && before->plan.zonemd == plan->zonemd;
        before->data = NULL;
        before->rules = NULL;
        before->transfer = NULL;
        before->times = NULL;
        if (zone->transfer) { /* it borrows the primaries of the plan before */
            struct zone_primaries *unused = plan->primaries;
            plan->primaries = before->plan.primaries;
            before->plan.primaries = unused;
        }
    }
    zone->plan = *plan;
    plan->file = NULL;
    plan->primaries = NULL;
    if (!zone->plan.primaries) {
        zone_times_unref(zone->times);
        zone->times = NULL;
    }
}

static void free_kept(struct kept_zone *zones, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        transfer_close(&zones[i].transfer);
        zone_data_unref(zones[i].data);
        rpz_rules_unref(zones[i].rules);
        zone_times_unref(zones[i].times);
        free_plan(&zones[i].plan);
    }
    free(zones);
}

/* ---- members of catalogs ---- */

/* A list of zones that replaces the keeper's. It has room for RPZ_ZONES_MAX members. */
struct zone_list {
    struct kept_zone *zones;
    size_t count;
};

static bool has_wanted_name(const struct zone_keeper *keeper, struct name name)
{
    size_t count = keeper->wanted ? rpz_policy_count(keeper->wanted) : 0;

    for (size_t i = 0; i < count; i++) {
        const struct rpz_zone_options *options =
            rpz_policy_zone_options(rpz_policy_at(keeper->wanted, i));
        if (name_equal((struct name){options->wire, options->name_len}, name))
            return true;
    }
    return false;
}

/* Whether another item or member has the name (RFC 9432 section 5.2). */
static bool is_taken_name(const struct zone_keeper *keeper, const struct zone_list *list,
                          struct name name)
{
    for (size_t i = 0; i < list->count; i++)
        if (name_equal(zone_held_name(&list->zones[i].plan.held), name))
            return true;
    return has_wanted_name(keeper, name);
}

static size_t count_policy_zones(const struct zone_keeper *keeper, const struct zone_list *list)
{
    size_t count = keeper->wanted ? rpz_policy_count(keeper->wanted) : 0;

    for (size_t i = 0; i < list->count; i++)
        count += list->zones[i].plan.node_len > 0;
    return count;
}

static void log_member(const struct kept_zone *catalog, struct name member, const char *why)
{
    char name[NAME_TEXT_MAX], of[NAME_TEXT_MAX];

    LOG(LOG_WARNING, "zones", "catalog %s: member %s is left out: %s",
        name_format(zone_held_name(&catalog->plan.held), of), name_format(member, name), why);
}

static void keeper_add_member(struct zone_keeper *keeper, struct zone_list *list,
                              const struct kept_zone *catalog,
                              const struct zone_catalog_member *member)
{
    struct zone_plan plan = {.kind = ZONE_OF_POLICY,
                             .max_bytes = catalog->plan.max_bytes,
                             .zonemd = catalog->plan.zonemd};

    plan.held.name_len = name_fold(member->zone, plan.held.wire).len;
    plan.node_len = name_fold(member->node, plan.node_wire).len;
    if (is_taken_name(keeper, list, member->zone)) {
        log_member(catalog, member->zone, "another zone has this name");
        return;
    }
    if (count_policy_zones(keeper, list) >= RPZ_ZONES_MAX) {
        log_member(catalog, member->zone, "there are too many zones of rpz");
        return;
    }
    plan.file = strdup("");
    plan.primaries = zone_primaries_clone(catalog->plan.primaries);
    if (plan.file && plan.primaries)
        keeper_take_plan(keeper, &list->zones[list->count++], &plan);
    else
        log_member(catalog, member->zone, "out of memory");
    free_plan(&plan);
}

/* An expired catalog keeps the members that it had. */
static void keeper_keep_members(struct zone_keeper *keeper, struct zone_list *list,
                                const struct kept_zone *catalog)
{
    for (size_t i = 0; i < keeper->count; i++) {
        const struct kept_zone *zone = &keeper->zones[i];
        if (!is_member_of(zone, catalog))
            continue;
        struct zone_catalog_member member = {zone_held_name(&zone->plan.held),
                                             plan_node(&zone->plan)};
        keeper_add_member(keeper, list, catalog, &member);
    }
}

static void keeper_add_members(struct zone_keeper *keeper, struct zone_list *list)
{
    struct zone_catalog_member members[RPZ_ZONES_MAX];
    size_t configured = list->count, total;

    for (size_t i = 0; i < configured; i++) {
        const struct kept_zone *catalog = &list->zones[i];
        if (catalog->plan.kind != ZONE_OF_CATALOG)
            continue;
        if (!catalog->data) {
            keeper_keep_members(keeper, list, catalog);
            continue;
        }
        MUST(!zone_catalog_read(catalog->data, members, RPZ_ZONES_MAX, &total));
        for (size_t j = 0; j < MIN(total, (size_t)RPZ_ZONES_MAX); j++)
            keeper_add_member(keeper, list, catalog, &members[j]);
        if (total > RPZ_ZONES_MAX)
            log_member(catalog, members[0].node, "further members are above the bound");
    }
}

/* Removes the stored copies of members that left, or whose state is reset. */
static void keeper_drop_copies(const struct zone_keeper *keeper, const struct zone_list *list)
{
    char path[ZONE_STORE_PATH_MAX], text[NAME_TEXT_MAX];

    for (size_t i = 0; i < keeper->count; i++) {
        const struct zone_plan *old = &keeper->zones[i].plan;
        struct name name = zone_held_name(&old->held);
        const struct kept_zone *now =
            old->node_len > 0 ? find_kept(list->zones, list->count, name, old->kind) : NULL;
        if (old->node_len == 0 || (now && name_equal(plan_node(&now->plan), plan_node(old))))
            continue;
        LOG(LOG_NOTICE, "zones", "zone %s: its catalog %s", name_format(name, text),
            now ? "resets it" : "has dropped it");
        if (*old->primaries->folder &&
            zone_store_path(path, old->primaries->folder, name) == ERR_OK)
            (void)unlink(path);
    }
}

/* Adds the members, and replaces the keeper's zones. */
static void keeper_use_list(struct zone_keeper *keeper, struct zone_list *list)
{
    keeper_add_members(keeper, list);
    keeper_drop_copies(keeper, list);
    free_kept(keeper->zones, keeper->count);
    keeper->zones = list->zones;
    keeper->count = list->count;
    keeper->has_new_catalog = false;
}

/* The configured zones move as they are. */
static void keeper_update_members(struct zone_keeper *keeper)
{
    struct zone_list list = {.zones = calloc(keeper->count + RPZ_ZONES_MAX, sizeof(*list.zones))};

    if (!list.zones) {
        LOG(LOG_ERROR, "zones", "out of memory; the members of catalogs stay as they are");
        return;
    }
    for (size_t i = 0; i < keeper->count; i++) {
        if (keeper->zones[i].plan.node_len > 0)
            continue;
        list.zones[list.count++] = keeper->zones[i];
        keeper->zones[i] = (struct kept_zone){.plan.held.name_len = 1}; /* the root */
    }
    keeper_use_list(keeper, &list);
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

/* A reload takes changed files of authorities and certificates. */
static void keeper_renew_tls(struct zone_keeper *keeper)
{
    char why[TLS_WHY_MAX];

    if (tls_contexts_renew(keeper->contexts, why) != ERR_OK)
        LOG(LOG_ERROR, "zones", "primaries: %s; the files before stay in use", why);
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

/* Replaces the zones by those of the letter. On an error those before stay. */
static enum err keeper_take_letter(struct zone_keeper *keeper, struct plan_letter *letter)
{
    struct zone_list list = {.zones = calloc(letter->count + RPZ_ZONES_MAX, sizeof(*list.zones))};

    if (!list.zones)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < letter->count; i++)
        keeper_take_plan(keeper, &list.zones[list.count++], &letter->plans[i]);
    rpz_policy_unref(keeper->wanted);
    keeper->wanted = letter->policy;
    letter->policy = NULL;
    keeper->planned_at = loop_clock(keeper->loop);
    keeper_use_list(keeper, &list);
    return ERR_OK;
}

/* Large files come last: stored copies and the others need not wait for them. */
static void keeper_read_all(struct zone_keeper *keeper)
{
    keeper_publish(keeper); /* names of a zone that is not read yet must not go to servers */
    keeper->is_reading = true;
    keeper_read_changed(keeper, false);
    keeper_renew_tls(keeper);
    keeper_open_transfers(keeper);
    if (keeper->has_new_catalog)
        keeper_update_members(keeper); /* a stored catalog has stored members */
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
    bool is_ending = atomic_load(&keeper->is_ending);

    keeper_take_trust(keeper);
    if (!is_ending && keeper_take_letter(keeper, letter) == ERR_OK)
        keeper_read_all(keeper);
    else if (!is_ending)
        LOG(LOG_ERROR, "zones", "out of memory; the zones before stay in force");
    free_letter(letter);
    if (!is_ending)
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
    free_kept(keeper->zones, keeper->count);
    turn_end_cancel(&keeper->catalog_end);
    xfr_gate_deinit(&keeper->gate);
    keeper->zones = NULL;
    keeper->count = 0;
    rpz_policy_unref(keeper->wanted);
    rpz_policy_unref(keeper->policy);
    zone_trust_free(keeper->trust);
    tls_contexts_free(keeper->contexts);
    loop_free(loop);
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

void zone_keeper_trust(struct zone_keeper *keeper, const struct validation_options *validation)
{
    struct zone_trust *trust = zone_trust_new(validation);

    if (!trust) {
        LOG(LOG_ERROR, "zones", "out of memory; zones are judged by the trust anchors before");
        return;
    }
    pthread_mutex_lock(&keeper->lock);
    struct zone_trust *superseded = keeper->next_trust;
    keeper->next_trust = trust;
    pthread_mutex_unlock(&keeper->lock);
    zone_trust_free(superseded);
}

static struct publication *keeper_take_waiting(struct zone_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    struct publication *publication = keeper->waiting;
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
    *zones = keeper->current->set;
    *policy = keeper->current->policy;
}

static void keeper_show(struct zone_keeper *keeper)
{
    if (!keeper->view)
        return;
    keeper->view->held = keeper->current ? keeper->current->rows : NULL;
    keeper->view->held_count = keeper->current ? keeper->current->count : 0;
    keeper->view->policy = (struct control_policy){0};
    if (keeper->current)
        keeper->view->policy =
            (struct control_policy){keeper->current->policy, keeper->current->policy_rows};
}

/* ---- main's thread: publishing ---- */

/* Lets the thread free a set. */
static void keeper_release(struct zone_keeper *keeper, struct publication *publication)
{
    if (!publication)
        return;
    if (!keeper->has_thread) { /* the daemon stops */
        free_publication(publication);
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

static bool answers_clients(const struct publication *publication, struct name name)
{
    const struct zone_held *zone = publication ? zone_set_find_exact(publication->set, name) : NULL;

    return zone && zone->data && zone_is_for_clients(zone);
}

/* Cached answers would hide a zone that answers clients from now on. */
static void keeper_forget_hidden(struct zone_keeper *keeper, const struct publication *before)
{
    forget_clear(&keeper->forget);
    for (size_t i = 0; i < keeper->current->count; i++) {
        const struct control_zone *row = &keeper->current->rows[i];
        struct name name = {row->wire, row->name_len};
        if (answers_clients(keeper->current, name) && !answers_clients(before, name))
            forget_zone(&keeper->forget, name);
    }
}

static void keeper_on_taken(void *context)
{
    struct zone_keeper *keeper = context;
    struct publication *before = keeper->current;

    keeper->current = keeper->next;
    keeper->next = NULL;
    keeper_show(keeper);
    keeper_forget_hidden(keeper, before);
    keeper_release(keeper, before);
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

/* Gives the workers what has come, and tells the waiter when its zones are in force. */
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
    free_publication(keeper->current);
    free_publication(keeper->next);
    free_publication(keeper->waiting);
    while (keeper->released) {
        struct publication *next = keeper->released->next_released;
        free_publication(keeper->released);
        keeper->released = next;
    }
    zone_trust_free(keeper->next_trust);
    pthread_mutex_destroy(&keeper->lock);
    pthread_cond_destroy(&keeper->changed);
    free(keeper);
}
