/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Versions come from files at each plan and from primaries at any time. Both pass the same checks.
 * Each change of a zone is shown by a publication, several changes by one.
 *
 * Invariants: a version that fails its checks never replaces another one. A publication never
 * changes.
 */

#include "daemon/zone_intake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/units.h"
#include "control/view.h"
#include "daemon/kept_zone.h"
#include "daemon/zone_from_file.h"
#include "daemon/zone_members.h"
#include "daemon/zone_primaries.h"
#include "daemon/zone_publication.h"
#include "daemon/zone_times.h"
#include "daemon/zone_trust.h"
#include "local/name_map.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "rpz/rpz_policy.h"
#include "tls/tls_contexts.h"
#include "transfer/transfer.h"
#include "transfer/xfr_gate.h"
#include "transfer/xfr_notify.h"
#include "zone/zone_catalog.h"
#include "zone/zone_data.h"

/* While many zones are read or come from primaries, the workers get a new set this often. Each set
 * costs a pass over all zones and the cache. */
#define PUBLISH_US (500 * US_PER_MS)

/* Larger files are read after the others, which need not wait for them. */
#define SMALL_FILE_BYTES (UINT64_C(4) << 20)

struct zone_intake {
    struct zone_intake_host host;
    struct loop *loop;
    struct kept_zones zones;
    struct name_map *names;    /* of zone_plans; NULL: there is no catalog */
    struct zone_trust *trust;  /* NULL: nothing is validated */
    struct rpz_policy *wanted; /* the zones of rpz; NULL: none */
    struct rpz_policy *policy; /* the last one that was made of them, with the counters; or NULL */
    uint64_t planned_at;
    uint64_t published_at;
    bool is_reading;      /* zones are being read, and a publication follows */
    struct timer due;     /* publishes the changes of this time together */
    bool has_new_catalog; /* its members are not known yet */
    struct turn_end catalog_end;
    struct tls_contexts *contexts;
    struct xfr_gate gate;
};

/* Finds the zone that comes from its primaries and has this name: there is only one. */
static struct kept_zone *find_transferred(const struct zone_intake *intake, struct name name)
{
    for (size_t i = 0; i < intake->zones.count; i++)
        if (zone_plan_is_transferred(&intake->zones.list[i].plan) &&
            name_equal(zone_plan_name(&intake->zones.list[i].plan), name))
            return &intake->zones.list[i];
    return NULL;
}

/* Makes a publication, and keeps its policy for the next one. */
static struct zone_publication *intake_make_publication(struct zone_intake *intake)
{
    const struct zone_publication_policy policy = {
        .wanted = intake->wanted, .planned_at = intake->planned_at, .before = intake->policy};
    struct zone_publication *publication =
        zone_publication_new(&intake->zones, &policy, loop_clock(intake->loop));

    if (!publication)
        return NULL;
    rpz_policy_unref(intake->policy);
    intake->policy = publication->policy ? rpz_policy_ref(publication->policy) : NULL;
    return publication;
}

static void intake_publish(struct zone_intake *intake)
{
    struct zone_publication *publication = intake_make_publication(intake);

    timer_stop(&intake->due);
    intake->published_at = loop_clock(intake->loop);
    if (publication)
        intake->host.publish(intake->host.context, publication);
    else
        LOG(LOG_ERROR, "zones", "out of memory; the previous zones stay in force");
}

/* ---- versions from files ---- */

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
static const char *intake_check_catalog(struct zone_intake *intake, const struct kept_zone *zone,
                                        const struct zone_data *version)
{
    struct zone_catalog list;
    const char *fault =
        zone_kind_is_catalog(zone->plan.kind) ? zone_catalog_read(&list, version) : NULL;

    if (fault || !zone_kind_is_catalog(zone->plan.kind))
        return fault;
    zone_catalog_deinit(&list);
    intake->has_new_catalog = true;
    loop_at_turn_end(intake->loop, &intake->catalog_end);
    return NULL;
}

/* Takes newer trust anchors. Versions that other anchors judged are judged again with the next
 * plans. */
static void intake_take_trust(struct zone_intake *intake)
{
    struct zone_trust *next = intake->host.take_trust(intake->host.context);

    if (!next)
        return;
    for (size_t i = 0; i < intake->zones.count; i++) {
        struct kept_zone *zone = &intake->zones.list[i];
        if (zone_trust_differs(intake->trust, next, zone_plan_name(&zone->plan)))
            kept_zone_unjudge(zone);
    }
    zone_trust_free(intake->trust);
    intake->trust = next;
}

/* Returns the checks in effect. They are valid until the next call, which may take other
 * anchors. */
static struct zone_checks intake_checks(struct zone_intake *intake, const struct kept_zone *zone)
{
    intake_take_trust(intake);
    return (struct zone_checks){.zonemd = zone->plan.zonemd,
                                .apex = zone_trust_rules(intake->trust, loop_wall_s(intake->loop))};
}

/* Logs once that the digest of a zone proves no origin. */
static void intake_note_vouching(struct zone_intake *intake, struct kept_zone *zone)
{
    struct zone_checks checks = intake_checks(intake, zone);
    bool is_unvouched =
        checks.zonemd != ZONEMD_IGNORE && checks.apex && apex_is_unvouched(zone->data, checks.apex);
    char name[NAME_TEXT_MAX];

    if (is_unvouched && !zone->is_unvouched)
        LOG_LIMITED(LOG_NOTICE, "zones", "zone %s: %s",
                    name_format(zone_plan_name(&zone->plan), name), KEPT_ZONE_UNVOUCHED);
    zone->is_unvouched = is_unvouched;
}

/* Takes a version that has passed the checks. */
static void intake_take_version(struct zone_intake *intake, struct kept_zone *zone,
                                struct zone_data *data)
{
    kept_zone_take_version(zone, data, loop_clock(intake->loop));
    intake_note_vouching(intake, zone);
}

/* Reads a version from the file. Returns NULL after an error. */
static struct zone_data *intake_read_version(struct zone_intake *intake, struct kept_zone *zone)
{
    const struct zone_plan *plan = &zone->plan;
    struct zone_checks checks = intake_checks(intake, zone);
    struct zone_data *data;

    if (zone_from_file(plan->file, zone_plan_name(plan), plan->max_bytes, &checks, &data,
                       zone->why))
        return NULL;
    const char *fault = intake_check_catalog(intake, zone, data);
    if (!fault)
        return data;
    snprintf(zone->why, sizeof(zone->why), "%.400s: %s", plan->file, fault);
    zone_data_unref(data);
    return NULL;
}

static void intake_read_zone(struct zone_intake *intake, struct kept_zone *zone)
{
    uint64_t begun_at = loop_clock(intake->loop);

    zone->has_stamp = zone_from_file_stamp(zone->plan.file, &zone->stamp);
    struct zone_data *data = intake_read_version(intake, zone);
    if (!data) {
        zone->has_stamp = false; /* the fault may be outside: owner, memory, clock */
        zone->state = zone->data ? CONTROL_ZONE_KEPT : CONTROL_ZONE_FAILED;
        log_refused(zone);
        return;
    }
    intake_take_version(intake, zone, data);
    log_loaded(zone, zone->loaded_at - begun_at);
}

/* Whether the file must be read in this pass. A missing file is tried once for each reload, so that
 * its error is reported. */
static bool intake_must_read(const struct kept_zone *zone, bool is_large)
{
    struct zone_file_stamp stamp;

    if (zone_plan_is_transferred(&zone->plan))
        return false;
    if (!zone_from_file_stamp(zone->plan.file, &stamp))
        return !is_large;
    return (stamp.size_bytes > SMALL_FILE_BYTES) == is_large &&
           !(zone->has_stamp && zone_from_file_is_same(&stamp, &zone->stamp));
}

static void intake_read_changed(struct zone_intake *intake, bool is_large)
{
    for (size_t i = 0; i < intake->zones.count && !atomic_load(intake->host.is_ending); i++) {
        struct kept_zone *zone = &intake->zones.list[i];
        if (!intake_must_read(zone, is_large))
            continue;
        intake_read_zone(intake, zone);
        if (is_large || loop_clock(intake->loop) - intake->published_at > PUBLISH_US)
            intake_publish(intake);
    }
}

/* ---- transfers ---- */

/* Shows changes at this instant, unless a publication shows them earlier. */
static void intake_show_by(struct zone_intake *intake, uint64_t at)
{
    bool is_due_before = timer_is_armed(&intake->due) && intake->due.due_at <= at;

    if (!intake->is_reading && !is_due_before)
        timer_start(intake->loop, &intake->due, at);
}

static void intake_show_change(struct zone_intake *intake)
{
    intake_show_by(intake, intake->published_at + PUBLISH_US);
}

static void intake_on_due(struct timer *timer)
{
    intake_publish(CONTAINER_OF(timer, struct zone_intake, due));
}

/* Shows the times of all zones, and finds the zone that expires first. */
static void intake_note_expiry(struct zone_intake *intake)
{
    uint64_t now = loop_clock(intake->loop), first_at = 0;

    for (size_t i = 0; i < intake->zones.count; i++) {
        struct transfer_view view = {0};
        if (intake->zones.list[i].transfer)
            transfer_look(intake->zones.list[i].transfer, &view);
        uint64_t at =
            view.has_version && !view.is_expired ? now + (uint64_t)view.expires_in_s * US_PER_S : 0;
        if (intake->zones.list[i].times)
            zone_times_set(intake->zones.list[i].times, (uint64_t)view.confirmed_at_s, at);
        if (at != 0 && (first_at == 0 || at < first_at))
            first_at = at;
    }
    stats_write(&intake->host.transfers->first_expiry_at, first_at);
}

/* Refuses a version of a primary. The same version comes again with each visit, so its reason is
 * logged once. */
static enum err intake_refuse(struct kept_zone *zone, const struct zone_data *version,
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
static enum err intake_take_rules(struct kept_zone *zone, struct zone_data *version)
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
static bool intake_check_version(struct zone_intake *intake, const struct kept_zone *zone,
                                 const struct zone_data *version, char why[APEX_WHY_MAX])
{
    struct zone_checks checks = intake_checks(intake, zone);

    if (!zone_from_file_check(version, &checks, why))
        return false;
    const char *fault = intake_check_catalog(intake, zone, version);
    if (fault)
        snprintf(why, APEX_WHY_MAX, "%s", fault);
    return !fault;
}

static enum err intake_on_version(void *owner, struct zone_data *version)
{
    struct zone_intake *intake = owner;
    struct kept_zone *zone = find_transferred(intake, zone_data_origin(version));
    char fault[APEX_WHY_MAX];

    MUST(zone);
    if (!intake_check_version(intake, zone, version, fault))
        return intake_refuse(zone, version, fault);
    enum err err = zone->plan.kind == ZONE_OF_POLICY ? intake_take_rules(zone, version) : ERR_OK;
    if (err)
        return err;
    zone->is_refusal_logged = false;
    intake_take_version(intake, zone, zone_data_ref(version));
    intake_show_change(intake);
    return ERR_OK;
}

static void intake_on_expired(void *owner, struct name name)
{
    struct zone_intake *intake = owner;
    struct kept_zone *zone = find_transferred(intake, name);

    MUST(zone);
    if (!zone_kind_is_catalog(zone->plan.kind)) { /* its members stay, each with its own expiry */
        zone_data_unref(zone->data);
        zone->data = NULL;
        rpz_rules_unref(zone->rules);
        zone->rules = NULL;
    }
    zone->state = CONTROL_ZONE_EXPIRED;
    intake_note_expiry(intake);
    intake_show_by(intake, loop_now(intake->loop)); /* no answer comes from it after its expiry */
}

/* Judges the version in force by new checks. A version that fails stays in force, as the version of
 * a file does. */
static void intake_judge_zone(struct zone_intake *intake, struct kept_zone *zone)
{
    struct zone_checks checks = intake_checks(intake, zone);
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

static void intake_judge_held(struct zone_intake *intake)
{
    for (size_t i = 0; i < intake->zones.count && !atomic_load(intake->host.is_ending); i++) {
        struct kept_zone *zone = &intake->zones.list[i];
        if (!zone_plan_is_transferred(&zone->plan) || !zone->data || zone->verdict == KEPT_SOUND)
            continue;
        intake_judge_zone(intake, zone);
        if (zone->transfer)
            transfer_doubt(zone->transfer, zone->verdict == KEPT_DOUBTED);
        intake_note_vouching(intake, zone); /* takes newer anchors; the verdict is already known */
    }
}

/* Counts a visit, and notes the facts that alerts use. */
static void intake_count_visit(struct zone_intake *intake, enum transfer_result result)
{
    uint64_t *counts[] = {[TRANSFER_CURRENT] = &intake->host.transfers->current,
                          [TRANSFER_WHOLE] = &intake->host.transfers->whole,
                          [TRANSFER_CHANGES] = &intake->host.transfers->changes,
                          [TRANSFER_FAILED] = &intake->host.transfers->failed};

    stats_write(counts[result], stats_read(counts[result]) + 1);
    intake_note_expiry(intake);
}

/* Shows the first failure after a success, and the first success after a failure. The few zones of
 * policy show each visit. */
static void intake_on_visited(void *owner, struct name name, enum transfer_result result,
                              const char *why)
{
    struct zone_intake *intake = owner;
    struct kept_zone *zone = find_transferred(intake, name);
    enum control_zone_state before;

    MUST(zone);
    before = zone->state;
    intake_count_visit(intake, result);
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
        intake_show_change(intake);
}

static const struct transfer_handler transfer_handler = {intake_on_version, intake_on_expired,
                                                         intake_on_visited};

static void intake_open_transfers(struct zone_intake *intake)
{
    for (size_t i = 0; i < intake->zones.count; i++) {
        struct kept_zone *zone = &intake->zones.list[i];
        const struct zone_primaries *primaries = zone->plan.primaries;
        if (!zone_plan_is_transferred(&zone->plan) || zone->transfer)
            continue;
        if (!zone->times)
            zone->times = zone_times_new(); /* on failure the zone shows no times */
        struct transfer_options options = {.zone = zone_plan_name(&zone->plan),
                                           .gate = &intake->gate,
                                           .primaries = primaries->list,
                                           .primary_count = (unsigned)primaries->count,
                                           .max_bytes = zone->plan.max_bytes,
                                           .folder = primaries->folder,
                                           .held = zone->data,
                                           .held_left_s = zone->left_s,
                                           .keeps_expired = zone_kind_is_catalog(zone->plan.kind)};
        if (transfer_open(&zone->transfer, intake->loop, intake->contexts, &options,
                          &transfer_handler, intake) != ERR_OK) {
            snprintf(zone->why, sizeof(zone->why), "out of memory");
            zone->state = zone->data ? CONTROL_ZONE_KEPT : CONTROL_ZONE_FAILED;
            log_refused(zone);
        }
        if (zone->transfer)
            transfer_doubt(zone->transfer, zone->verdict == KEPT_DOUBTED);
        zone->is_refused = false; /* of a stored copy: no primary gave it */
        if (loop_clock(intake->loop) - intake->published_at > PUBLISH_US)
            intake_publish(intake);
    }
}

/* ---- members of catalogs ---- */

/* Makes a list for this many configured zones and the members of catalogs. */
static enum err intake_begin_zones(const struct name_map *names, size_t configured,
                                   struct kept_zones *zones, struct name_map **taken)
{
    *taken = name_map_new();
    if (*taken && !kept_zones_init(zones, configured + (names ? ZONE_MEMBERS_MAX : 1)))
        return ERR_OK;
    name_map_free(*taken);
    return ERR_NO_MEMORY;
}

/* Adds the members, and replaces the zones. Frees taken. */
static void intake_use_zones(struct zone_intake *intake, struct kept_zones *zones,
                             struct name_map *taken)
{
    const struct zone_members_names names = {intake->names, taken};

    zone_members_add(zones, &intake->zones, &names,
                     intake->wanted ? rpz_policy_count(intake->wanted) : 0);
    name_map_free(taken);
    kept_zones_trim(zones);
    zone_members_drop_copies(zones, &intake->zones);
    kept_zones_deinit(&intake->zones);
    intake->zones = *zones;
    intake->has_new_catalog = false;
}

/* The configured zones move as they are. */
static void intake_update_members(struct zone_intake *intake)
{
    struct kept_zones zones;
    struct name_map *taken;

    if (intake_begin_zones(intake->names, intake->zones.count, &zones, &taken) != ERR_OK) {
        LOG(LOG_ERROR, "zones", "out of memory; the members of catalogs do not change");
        return;
    }
    for (size_t i = 0; i < intake->zones.count; i++) {
        struct kept_zone *zone = &intake->zones.list[i];
        if (zone->plan.node_len > 0)
            continue;
        zones.list[zones.count++] = *zone;
        *zone = (struct kept_zone){.plan.held.name_len = 1}; /* the root */
    }
    intake_use_zones(intake, &zones, taken);
    intake_open_transfers(intake);
}

static void intake_on_catalog(struct turn_end *end)
{
    struct zone_intake *intake = CONTAINER_OF(end, struct zone_intake, catalog_end);

    if (!intake->has_new_catalog || atomic_load(intake->host.is_ending))
        return;
    intake->is_reading = true;
    intake_update_members(intake);
    intake_note_expiry(intake);
    intake->is_reading = false;
    intake_publish(intake);
}

/* A reload reads changed files of authorities and certificates. */
static void intake_renew_tls(struct zone_intake *intake)
{
    char why[TLS_WHY_MAX];

    if (tls_contexts_renew(intake->contexts, why) != ERR_OK)
        LOG(LOG_ERROR, "zones", "primaries: %s; the previous files stay in use", why);
}

/* ---- plans ---- */

/* Replaces the zones with the planned ones. On an error the former zones stay. */
static enum err intake_take_plans(struct zone_intake *intake, struct zone_plans *plans,
                                  struct rpz_policy **policy)
{
    struct kept_zones zones;
    struct name_map *taken;

    if (intake_begin_zones(plans->names, plans->count, &zones, &taken) != ERR_OK)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < plans->count; i++)
        kept_zones_add(&zones, &intake->zones, &plans->list[i]);
    rpz_policy_unref(intake->wanted);
    intake->wanted = *policy;
    *policy = NULL;
    name_map_free(intake->names);
    intake->names = plans->names;
    plans->names = NULL;
    intake->planned_at = loop_clock(intake->loop);
    intake_use_zones(intake, &zones, taken);
    return ERR_OK;
}

/* Large files come last, so that stored copies and small files need not wait for them. */
static void intake_read_all(struct zone_intake *intake)
{
    intake_publish(intake); /* names of a zone that is not read yet must not go to servers */
    intake->is_reading = true;
    intake_read_changed(intake, false);
    intake_judge_held(intake);
    intake_renew_tls(intake);
    intake_open_transfers(intake);
    if (intake->has_new_catalog)
        intake_update_members(intake); /* members of a stored catalog are stored as well */
    intake_note_expiry(intake);
    intake->is_reading = false;
    intake_publish(intake);
    intake->host.note_copies(intake->host.context);
    intake_read_changed(intake, true);
}

enum err zone_intake_plan(struct zone_intake *intake, struct zone_plans *plans,
                          struct rpz_policy **policy)
{
    intake_take_trust(intake);
    if (intake_take_plans(intake, plans, policy) != ERR_OK)
        return ERR_NO_MEMORY;
    intake_read_all(intake);
    return ERR_OK;
}

void zone_intake_notify(struct zone_intake *intake, const struct xfr_notify *notify,
                        const struct addr *from)
{
    struct kept_zone *zone = find_transferred(intake, xfr_notify_zone(notify));

    if (zone && zone->transfer)
        transfer_notify(zone->transfer, from, notify->has_serial ? &notify->serial : NULL);
}

/* ---- life ---- */

struct zone_intake *zone_intake_new(struct loop *loop, const struct zone_intake_host *host,
                                    unsigned max_visits)
{
    struct zone_intake *intake = calloc(1, sizeof(*intake));

    if (!intake)
        return NULL;
    intake->contexts = tls_contexts_new();
    if (!intake->contexts) {
        free(intake);
        return NULL;
    }
    intake->host = *host;
    intake->loop = loop;
    turn_end_init(&intake->catalog_end, intake_on_catalog);
    timer_init(&intake->due, intake_on_due);
    xfr_gate_init(&intake->gate, loop, max_visits);
    return intake;
}

void zone_intake_free(struct zone_intake *intake)
{
    if (!intake)
        return;
    kept_zones_deinit(&intake->zones);
    turn_end_cancel(&intake->catalog_end);
    timer_stop(&intake->due);
    xfr_gate_deinit(&intake->gate);
    name_map_free(intake->names);
    rpz_policy_unref(intake->wanted);
    rpz_policy_unref(intake->policy);
    zone_trust_free(intake->trust);
    tls_contexts_free(intake->contexts);
    free(intake);
}
