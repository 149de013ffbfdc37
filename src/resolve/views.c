/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Keeps the views and their spaces over changes of the configuration. Invariant: a space keeps its
 * number for life, so nothing that was learned under a number is ever used under other settings.
 */
#include "resolve/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

bool views_init(struct views *views, struct space *shared)
{
    *views = (struct views){.list = calloc(1, sizeof(*views->list)), .count = 1};
    if (!views->list)
        return false;
    views->list[0] = (struct view){.name = "", .space = shared};
    return true;
}

static void views_free_arrays(struct views *views)
{
    free(views->list);
    free(views->spaces);
    *views = (struct views){0};
}

void views_deinit(struct views *views)
{
    for (size_t i = 0; i < views->space_count; i++)
        space_drop(views->spaces[i]);
    views_free_arrays(views);
}

void views_set_local(struct views *views, const struct local_names *local)
{
    struct space *shared = views->list[0].space;
    const struct local_names *former = shared->local;
    space_set_local(shared, local);
    for (size_t i = 0; i < views->count; i++) {
        struct view *view = &views->list[i];
        if (view->space != shared)
            continue;
        if (view->local == former)
            view->local = local;
        view->is_local_first = view->local != local;
    }
}

void views_note_zones(struct views *views)
{
    views->list[0].space->local_changes++;
    for (size_t i = 0; i < views->space_count; i++)
        views->spaces[i]->local_changes++;
}

bool views_find(const struct views *views, const char *name, unsigned *number)
{
    for (size_t i = 0; i < views->count; i++) {
        if (strcmp(views->list[i].name, name) != 0)
            continue;
        *number = (unsigned)i;
        return true;
    }
    return false;
}

/* ---- preparing ---- */

static const struct view_set *view_set_of(const struct route_options *options)
{
    static const struct view_set none;
    return options->views ? options->views : &none;
}

/* Whether the mode of a space is this one or a stricter one. */
static bool has_mode(const struct route_options *options, enum validate_mode least)
{
    const struct view_set *set = view_set_of(options);
    bool does = options->validation.mode >= least;
    for (size_t i = 0; i < set->space_count; i++)
        does = does || set->spaces[i].mode >= least;
    return does;
}

bool views_validate(const struct route_options *options)
{
    return has_mode(options, VALIDATE_LOG);
}

bool views_enforce(const struct route_options *options)
{
    return has_mode(options, VALIDATE_YES);
}

const char *views_validating(const struct route_options *options)
{
    const struct view_set *set = view_set_of(options);
    if (options->validation.mode != VALIDATE_NO)
        return "";
    for (size_t i = 0; i < set->view_count; i++) {
        size_t place = set->views[i].space;
        if (place && set->spaces[place - 1].mode != VALIDATE_NO)
            return set->views[i].name;
    }
    return NULL;
}

static bool has_zone_named(const struct route_zone *zones, size_t count,
                           const struct route_zone *zone)
{
    for (size_t i = 0; i < count; i++)
        if (zones[i].name_len == zone->name_len &&
            memcmp(zones[i].wire, zone->wire, zone->name_len) == 0)
            return true;
    return false;
}

/* Makes the routes of a space: its own zones, and the zones of the whole daemon that it does not
 * replace. */
static struct routes *space_routes(const struct space_options *space,
                                   const struct route_options *options, struct upstreams *upstreams,
                                   const struct route_strategies *strategies)
{
    struct route_options mixed = *options;
    mixed.prewarmed_count = 0;
    mixed.validation.mode = space->mode;
    mixed.zones = calloc(options->zone_count + space->zone_count + 1, sizeof(*mixed.zones));
    if (!mixed.zones)
        return NULL;
    mixed.zone_count = space->zone_count;
    if (space->zone_count)
        memcpy(mixed.zones, space->zones, space->zone_count * sizeof(*mixed.zones));
    for (size_t i = 0; i < space->zone_count; i++)
        mixed.zones[i].is_of_view = true;
    for (size_t i = 0; i < options->zone_count; i++)
        if (!has_zone_named(space->zones, space->zone_count, &options->zones[i]))
            mixed.zones[mixed.zone_count++] = options->zones[i];
    struct routes *routes = routes_new(&mixed, upstreams, strategies);
    free(mixed.zones);
    return routes;
}

static struct space *find_space(const struct views *views, uint32_t number)
{
    for (size_t i = 0; i < views->space_count; i++)
        if (views->spaces[i]->number == number)
            return views->spaces[i];
    return NULL;
}

static bool is_kept(const struct views *views, const struct space *space)
{
    return find_space(views, space->number) == space;
}

static bool views_allocate(struct views_change *change, const struct view_set *set)
{
    *change = (struct views_change){0};
    change->next.list = calloc(set->view_count + 1, sizeof(*change->next.list));
    change->next.spaces = calloc(set->space_count + 1, sizeof(*change->next.spaces));
    change->routes = calloc(set->space_count + 1, sizeof(*change->routes));
    return change->next.list && change->next.spaces && change->routes;
}

/* Adds the space to the change. Its place is that of its options. */
static bool add_space(struct views_change *change, const struct views *views,
                      const struct space_options *options, struct routes *routes)
{
    struct space *space = find_space(views, options->number);
    if (space)
        space->refs++;
    else
        space = space_new(options->number);
    if (!space || !routes) {
        if (space)
            space_drop(space);
        routes_free(routes);
        return false;
    }
    change->routes[change->next.space_count] = routes;
    change->next.spaces[change->next.space_count++] = space;
    return true;
}

bool views_prepare(struct views_change *change, const struct views *views,
                   const struct route_options *options, struct upstreams *upstreams,
                   const struct route_strategies *strategies)
{
    const struct view_set *set = view_set_of(options);
    bool fine = views_allocate(change, set);
    for (size_t i = 0; fine && i < set->space_count; i++)
        fine = add_space(change, views, &set->spaces[i],
                         space_routes(&set->spaces[i], options, upstreams, strategies));
    if (!fine)
        views_cancel(change);
    return fine;
}

void views_cancel(struct views_change *change)
{
    for (size_t i = 0; i < change->next.space_count; i++) {
        routes_free(change->routes[i]);
        space_drop(change->next.spaces[i]);
    }
    free(change->routes);
    views_free_arrays(&change->next);
}

/* ---- committing ---- */

static void commit_space(struct space *space, struct routes *routes,
                         const struct space_options *options)
{
    routes_free(space->routes);
    space->routes = routes;
    space->mode = options->mode;
    space_set_local(space, options->local);
}

static void set_view(struct view *view, struct space *space, const struct view_options *options)
{
    view->name = options->name ? options->name : "";
    view->space = space;
    view->local = options->local ? options->local : space->local;
    view->is_local_first = view->local != space->local;
}

void views_commit(struct views *views, struct views_change *change,
                  const struct route_options *options)
{
    const struct view_set *set = view_set_of(options);
    struct views *next = &change->next;
    struct view none = views->list[0];
    for (size_t i = 0; i < next->space_count; i++)
        commit_space(next->spaces[i], change->routes[i], &set->spaces[i]);
    next->list[0] = none;
    next->count = set->view_count + 1;
    for (size_t i = 0; i < set->view_count; i++) {
        size_t place = set->views[i].space;
        MUST(place <= next->space_count);
        set_view(&next->list[i + 1], place ? next->spaces[place - 1] : none.space, &set->views[i]);
    }
    for (size_t i = 0; i < views->space_count; i++) {
        if (is_kept(next, views->spaces[i]))
            space_drop(views->spaces[i]);
        else
            space_retire(views->spaces[i]);
    }
    views_free_arrays(views);
    *views = *next;
    free(change->routes);
}
