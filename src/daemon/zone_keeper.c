/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Two threads and the way between them. A publication is a set and a policy with the rows that
 * describe them. It goes from the thread to main under the lock, and returns by mail when it is no
 * longer used.
 *
 * Invariants: only the thread touches the intake. Only main touches current and next. A set is
 * freed on the thread, or when no thread is left.
 */

#include "daemon/zone_keeper.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "config/config.h"
#include "control/view.h"
#include "daemon/forget.h"
#include "daemon/worker.h"
#include "daemon/zone_intake.h"
#include "daemon/zone_plan.h"
#include "daemon/zone_publication.h"
#include "daemon/zone_trust.h"
#include "loop/loop.h"
#include "net/outgoing_files.h"
#include "rpz/rpz_policy.h"
#include "transfer/xfr_notify.h"
#include "zone/zone_set.h"

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
    struct zone_intake *intake; /* NULL: the thread has ended */
    uint64_t published;         /* the number of the last publication */
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

/* ---- for the intake ---- */

static void keeper_publish(void *context, struct zone_publication *publication)
{
    struct zone_keeper *keeper = context;

    publication->number = ++keeper->published;
    pthread_mutex_lock(&keeper->lock);
    struct zone_publication *superseded = keeper->waiting;
    keeper->waiting = publication;
    pthread_mutex_unlock(&keeper->lock);
    zone_publication_free(superseded);
    keeper_post_arrival(keeper);
}

/* Gives the thread the anchors that main has set last. */
static struct zone_trust *keeper_take_trust(void *context)
{
    struct zone_keeper *keeper = context;

    pthread_mutex_lock(&keeper->lock);
    struct zone_trust *next = keeper->next_trust;
    keeper->next_trust = NULL;
    pthread_mutex_unlock(&keeper->lock);
    return next;
}

static void keeper_note_copies(void *context)
{
    struct zone_keeper *keeper = context;

    pthread_mutex_lock(&keeper->lock);
    keeper->has_copies = true;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

/* ---- mail for the thread ---- */

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

static void keeper_on_notify(struct mail *mail)
{
    struct notify_letter *letter = CONTAINER_OF(mail, struct notify_letter, mail);
    struct zone_keeper *keeper = letter->keeper;

    pthread_mutex_lock(&keeper->lock);
    keeper->notifies--;
    pthread_mutex_unlock(&keeper->lock);
    if (keeper->intake)
        zone_intake_notify(keeper->intake, &letter->notify, &letter->from);
    free(letter);
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
    if (zone_intake_plan(keeper->intake, letter->plans, &letter->policy) != ERR_OK)
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

static struct zone_intake *keeper_make_intake(struct zone_keeper *keeper, struct loop *loop)
{
    const struct zone_intake_host host = {.publish = keeper_publish,
                                          .take_trust = keeper_take_trust,
                                          .note_copies = keeper_note_copies,
                                          .context = keeper,
                                          .transfers = &keeper->transfers,
                                          .is_ending = &keeper->is_ending};

    return zone_intake_new(loop, &host, keeper->max_visits);
}

static void *keeper_run(void *argument)
{
    struct zone_keeper *keeper = argument;
    struct loop *loop = loop_new();

    if (loop)
        keeper->intake = keeper_make_intake(keeper, loop);
    if (loop && !keeper->intake) {
        loop_free(loop);
        loop = NULL;
    }
    if (loop)
        outgoing_files_limit(loop, keeper->max_visits);
    keeper_report_loop(keeper, loop);
    if (!loop)
        return NULL;
    loop_run(loop);
    zone_intake_free(keeper->intake);
    keeper->intake = NULL;
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
