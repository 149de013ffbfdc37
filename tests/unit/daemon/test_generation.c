/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "config/config.h"
#include "config/runtime_ntas.h"
#include "config/runtime_zones.h"
#include "config/zone_hosts.h"
#include "daemon/generation.h"
#include "loop/loop.h"
#include "resolve/space.h"
#include "support/fake_loop.h"
#include "validate/anchors.h"

static struct loop *loop;
static struct generations all;
static const struct runtime_zones no_forwards;
static const struct runtime_ntas no_ntas;
static const struct zone_hosts no_hosts;
static const struct generation_settings no_settings = {
    .forwards = &no_forwards, .ntas = &no_ntas, .hosts = &no_hosts};
static int freed;

static void on_freed(void *context)
{
    assert_ptr_equal(context, &all);
    freed++;
}

static int open_all(void **state)
{
    (void)state;
    freed = 0;
    loop = loop_new();
    generations_init(&all, loop, on_freed, &all);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    loop_free(loop);
    generations_deinit(&all);
    return 0;
}

#define WHOLE "forward-zones: [{name: ., upstreams: [192.0.2.53]}]\n"

static struct config *load_text(const char *text)
{
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_parse("f", text, strlen(text), &config, &errors), ERR_OK);
    buf_deinit(&errors);
    return config;
}

static struct config *load(void)
{
    return load_text(WHOLE);
}

static struct generation *new_of_file(const struct generation *before)
{
    struct config *config = load();
    struct generation *made = generation_new(&all, &config, before, NULL, &no_settings);
    assert_null(config);
    assert_non_null(made);
    return made;
}

static void test_main_frees_a_generation_after_its_last_release(void **state)
{
    (void)state;
    struct generation *made = new_of_file(NULL);
    assert_int_equal(generation_config(made)->zone_count, 1);
    assert_non_null(generation_quota(made));
    assert_null(generation_certificate(made));
    assert_ptr_equal(generation_ref(made), made);
    generation_unref(made);
    fake_loop_settle(loop);
    assert_int_equal(freed, 0);
    generation_unref(made);
    assert_int_equal(all.count, 1);
    fake_loop_settle(loop);
    assert_int_equal(freed, 1);
    assert_int_equal(all.count, 0);
    assert_int_equal(all.configs, 0);
}

static void test_generations_of_one_file_share_its_configuration(void **state)
{
    (void)state;
    struct runtime_zones forwards = {0};
    struct runtime_zone forward;
    char why[RUNTIME_ZONE_WHY_MAX];
    const char *server = "192.0.2.1";
    struct generation *first = new_of_file(NULL);
    assert_int_equal(runtime_zone_parse(&forward, "corp.example", 1, &server, why), ERR_OK);
    assert_int_equal(runtime_zones_put(&forwards, &forward), ERR_OK);
    struct generation_settings settings = no_settings;
    settings.forwards = &forwards;
    struct generation *second = generation_new_settings(first, &settings);
    runtime_zones_deinit(&forwards);
    assert_ptr_equal(generation_config(first), generation_config(second));
    assert_ptr_equal(generation_quota(first), generation_quota(second));
    assert_int_equal(generation_route(first)->zone_count, 1);
    assert_int_equal(generation_route(second)->zone_count, 2);
    assert_ptr_equal(generation_local(first), generation_config(first)->local);
    assert_ptr_not_equal(generation_local(second), generation_local(first));
    generation_unref(first);
    fake_loop_settle(loop);
    assert_int_equal(all.configs, 1);
    assert_memory_equal(generation_route(second)->zones[1].wire, "\4corp\7example", 14);
    generation_unref(second);
    fake_loop_settle(loop);
    assert_int_equal(all.configs, 0);
}

/* The local data of a view is a layer over its generation's local data, which a forward changes. */
static void test_a_generation_frees_the_local_data_of_its_views(void **state)
{
    (void)state;
    struct runtime_zones forwards = {0};
    struct runtime_zone forward;
    char why[RUNTIME_ZONE_WHY_MAX];
    const char *server = "192.0.2.1";
    struct config *config = load_text(WHOLE "views: [{name: a, clients: [10.1.0.0/16], local-data: "
                                            "[\"x.example. A 192.0.2.9\"]}]\n");
    struct generation *first = generation_new(&all, &config, NULL, NULL, &no_settings);
    assert_int_equal(runtime_zone_parse(&forward, "corp.example", 1, &server, why), ERR_OK);
    assert_int_equal(runtime_zones_put(&forwards, &forward), ERR_OK);
    struct generation_settings settings = no_settings;
    settings.forwards = &forwards;
    struct generation *second = generation_new_settings(first, &settings);
    runtime_zones_deinit(&forwards);
    assert_ptr_not_equal(generation_route(first)->views->views[0].local,
                         generation_route(second)->views->views[0].local);
    generation_unref(second);
    fake_loop_settle(loop);
    assert_int_equal(all.count, 1);
    generation_unref(first);
    fake_loop_settle(loop);
    assert_int_equal(all.count, 0);
}

/* ---- the spaces of views ---- */

#define VIEW(name, net, server)                                                                    \
    "  - {name: " name ", clients: [10." net ".0.0/16], forward-zones: [{name: ., upstreams: "     \
    "[192.0.2." server "]}]}\n"

static struct generation *new_with_views(const struct generation *before, const char *text)
{
    struct config *config = load_text(text);
    struct generation *made = generation_new(&all, &config, before, NULL, &no_settings);
    assert_non_null(made);
    return made;
}

/* Returns the number of the space that the view at this place uses. Places count from 0. */
static uint32_t space_number(const struct generation *generation, size_t place)
{
    const struct view_set *set = generation_route(generation)->views;
    assert_true(place < set->view_count);
    size_t space = set->views[place].space;
    return space ? set->spaces[space - 1].number : 0;
}

static void test_equal_settings_keep_the_number_of_a_space(void **state)
{
    (void)state;
    struct generation *first =
        new_with_views(NULL, WHOLE "views:\n" VIEW("a", "1", "1") VIEW("b", "2", "2"));
    /* other names and clients, another order, and one view more */
    struct generation *second =
        new_with_views(first, WHOLE "views:\n" VIEW("c", "3", "3") VIEW("x", "4", "2")
                                  VIEW("y", "2", "1") VIEW("z", "5", "2"));
    uint32_t a = space_number(first, 0), b = space_number(first, 1);
    assert_int_not_equal(a, b);
    assert_true(a && b);
    assert_int_equal(space_number(second, 1), b);
    assert_int_equal(space_number(second, 2), a);
    assert_int_equal(space_number(second, 3), b); /* equal settings share one space */
    uint32_t c = space_number(second, 0);
    assert_true(c != a && c != b && c != 0);
}

static void test_a_number_is_never_given_twice(void **state)
{
    (void)state;
    struct generation *first = new_with_views(NULL, WHOLE "views:\n" VIEW("a", "1", "1"));
    uint32_t a = space_number(first, 0);
    struct generation *without = new_of_file(first);
    assert_null(generation_route(without)->views);
    struct generation *back = new_with_views(without, WHOLE "views:\n" VIEW("a", "1", "1"));
    assert_int_not_equal(space_number(back, 0), a);
    struct generation *settings = generation_new_settings(back, &no_settings);
    assert_int_equal(space_number(settings, 0), space_number(back, 0));
}

static void test_a_configuration_is_refused_when_no_number_is_left(void **state)
{
    (void)state;
    all.spaces = SPACE_PORTALS - 2;
    struct generation *last = new_with_views(NULL, WHOLE "views:\n" VIEW("a", "1", "1"));
    assert_int_equal(space_number(last, 0), SPACE_PORTALS - 1);
    struct config *config = load_text(WHOLE "views:\n" VIEW("a", "1", "2"));
    assert_null(generation_new(&all, &config, last, NULL, &no_settings));
    assert_null(config);
    config = load_text(WHOLE "views:\n" VIEW("b", "2", "1")); /* this view needs no new number */
    assert_non_null(generation_new(&all, &config, last, NULL, &no_settings));
    all.spaces = 0;
}

static void test_configurations_and_generations_are_bounded(void **state)
{
    (void)state;
    struct generation *last = NULL;
    for (int i = 0; i < GENERATION_CONFIGS_MAX; i++) {
        assert_true(generations_have_room(&all, true));
        last = new_of_file(last);
    }
    assert_false(generations_have_room(&all, true));
    for (int i = GENERATION_CONFIGS_MAX; i < GENERATIONS_MAX; i++) {
        assert_true(generations_have_room(&all, false));
        assert_non_null(generation_new_settings(last, &no_settings));
    }
    assert_false(generations_have_room(&all, false));
}

static const struct anchor *find_anchor(const struct generation *generation, const char *text)
{
    struct name name;
    uint8_t wire[NAME_WIRE_MAX];
    assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
    return anchors_find(generation_route(generation)->validation.anchors, name);
}

static void test_negative_anchors_belong_to_their_generation(void **state)
{
    (void)state;
    struct runtime_ntas ntas = {0};
    struct runtime_nta nta;
    char why[RUNTIME_NTA_WHY_MAX];
    struct generation *first = new_of_file(NULL);
    assert_int_equal(runtime_nta_parse(&nta, "corp.example", NULL, 0, why), ERR_OK);
    assert_int_equal(runtime_ntas_put(&ntas, &nta), ERR_OK);
    struct generation_settings settings = no_settings;
    settings.ntas = &ntas;
    struct generation *second = generation_new_settings(first, &settings);
    struct generation *third = generation_new_settings(second, &no_settings);
    assert_int_equal(find_anchor(first, "x.corp.example")->kind, ANCHOR_TRUSTED);
    assert_int_equal(find_anchor(second, "x.corp.example")->kind, ANCHOR_NEGATIVE);
    assert_int_equal(find_anchor(second, "example")->kind, ANCHOR_TRUSTED);
    assert_ptr_equal(generation_route(third)->validation.anchors,
                     generation_route(first)->validation.anchors);
    generation_unref(second);
    fake_loop_settle(loop);
    assert_int_equal(find_anchor(third, "x.corp.example")->kind, ANCHOR_TRUSTED);
    generation_unref(first);
    generation_unref(third);
    fake_loop_settle(loop);
    assert_int_equal(all.count, 0);
}

static const char with_views[] = "forward-zones: [{name: ., upstreams: [192.0.2.53]}]\n"
                                 "views: [{name: children, clients: [192.0.2.0/24],"
                                 " forward-zones: [{name: ., upstreams: [192.0.2.54]}]}]\n";

static struct generation *new_with_a_view(void)
{
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_parse("f", with_views, sizeof(with_views) - 1, &config, &errors),
                     ERR_OK);
    buf_deinit(&errors);
    return generation_new(&all, &config, NULL, NULL, &no_settings);
}

static void test_each_generation_with_a_portal_has_new_spaces(void **state)
{
    (void)state;
    char why[RUNTIME_ZONE_WHY_MAX];
    struct runtime_zone portal;
    struct runtime_zones behind = {.portal = &portal};
    struct generation_settings settings = no_settings;
    struct generation *made[4] = {new_with_a_view()};
    settings.forwards = &behind;
    assert_int_equal(runtime_portal_read(&portal, generation_config(made[0]), "192.168.1.1", why),
                     ERR_OK);
    made[1] = generation_new_settings(made[0], &settings);
    made[2] = generation_new_settings(made[1], &settings);
    made[3] = generation_new_settings(made[2], &no_settings);
    for (size_t i = 0; i < ARRAY_LEN(made); i++) {
        const struct route_options *route = generation_route(made[i]);
        bool has_portal = i == 1 || i == 2;
        assert_non_null(made[i]);
        assert_int_equal(generation_has_portal(made[i]), has_portal);
        assert_int_equal(route->space, has_portal ? SPACE_PORTALS + (i - 1) * 2 : 0);
        assert_int_equal(route->views->spaces[0].number, has_portal ? route->space + 1 : 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(made); i++)
        generation_unref(made[i]);
    fake_loop_settle(loop);
}

static void test_no_space_of_a_portal_is_used_again(void **state)
{
    (void)state;
    char why[RUNTIME_ZONE_WHY_MAX];
    struct runtime_zone portal;
    struct runtime_zones behind = {.portal = &portal};
    struct generation_settings settings = no_settings;
    struct generation *first = new_with_a_view();
    settings.forwards = &behind;
    assert_int_equal(runtime_portal_read(&portal, generation_config(first), "192.168.1.1", why),
                     ERR_OK);
    all.portals = SPACE_NUMBERS - SPACE_PORTALS - 2; /* one number is left */
    struct generation *last = generation_new_settings(first, &settings);
    assert_int_equal(generation_route(last)->views->spaces[0].number, SPACE_NUMBERS - 1);
    assert_null(generation_new_settings(first, &settings));
    generation_unref(first);
    generation_unref(last);
    fake_loop_settle(loop);
}

int main(void)
{
#define WITH_ALL(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)
    const struct CMUnitTest tests[] = {
        WITH_ALL(test_main_frees_a_generation_after_its_last_release),
        WITH_ALL(test_generations_of_one_file_share_its_configuration),
        WITH_ALL(test_a_generation_frees_the_local_data_of_its_views),
        WITH_ALL(test_negative_anchors_belong_to_their_generation),
        WITH_ALL(test_equal_settings_keep_the_number_of_a_space),
        WITH_ALL(test_a_number_is_never_given_twice),
        WITH_ALL(test_a_configuration_is_refused_when_no_number_is_left),
        WITH_ALL(test_each_generation_with_a_portal_has_new_spaces),
        WITH_ALL(test_no_space_of_a_portal_is_used_again),
        WITH_ALL(test_configurations_and_generations_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
