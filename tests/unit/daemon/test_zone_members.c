/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The members of catalogs, without a thread or a primary: the versions of catalogs are text. */
#include "unit/zone/zone_make.h"

#include <stdlib.h>
#include <unistd.h>

#include "config/config.h"
#include "daemon/zone_members.h"
#include "daemon/zone_primaries.h"
#include "local/name_map.h"
#include "rpz/rpz_policy.h"
#include "transfer/zone_store.h"
#include "unit/config/config_text.h"

#define START "@ 60 SOA . . 1 60 60 60 60\n@ 60 NS invalid.\nversion 60 TXT 2\n"
#define CATALOG "auth-zones: [{name: cat.test, primaries: [192.0.2.1], catalog: yes}]\n"

/* The zones that a keeper has, and the facts about the configuration. */
struct world {
    struct kept_zones zones;
    struct name_map *names;
    size_t policy_zones;
};

/* Adds the members of all catalogs to the list. Zones that stay keep their state from before. */
static void take(struct world *world, struct kept_zones *next, struct kept_zones *before)
{
    const struct zone_members_names names = {world->names, name_map_new()};
    assert_non_null(names.taken);
    zone_members_add(next, before, &names, world->policy_zones);
    name_map_free(names.taken);
    kept_zones_trim(next);
}

/* Makes the list of configured zones, which keep their state from `before`. Stores their names and
 * the number of policy zones in the world. */
static struct kept_zones configured(struct world *world, const char *text,
                                    struct kept_zones *before)
{
    struct config *config = load_fine(text);
    struct zone_plans *plans = zone_plans_new(config);
    struct kept_zones zones;
    assert_non_null(plans);
    name_map_free(world->names);
    world->names = plans->names;
    world->policy_zones = config->rpz.count;
    plans->names = NULL;
    assert_int_equal(kept_zones_init(&zones, plans->count + ZONE_MEMBERS_MAX), ERR_OK);
    for (size_t i = 0; i < plans->count; i++)
        kept_zones_add(&zones, before, &plans->list[i]);
    zone_plans_free(plans);
    config_free(config);
    return zones;
}

static void world_begin(struct world *world, const char *text)
{
    struct kept_zones none = {0};
    *world = (struct world){0};
    world->zones = configured(world, text, &none);
}

static void world_end(struct world *world)
{
    kept_zones_deinit(&world->zones);
    name_map_free(world->names);
}

static void give(struct world *world, size_t catalog, const char *origin, const char *text)
{
    zone_data_unref(world->zones.list[catalog].data);
    world->zones.list[catalog].data = *text ? zone_make(origin, text) : NULL;
}

/* Replaces the first catalog's version and its members; "": the catalog has expired. */
static void change(struct world *world, const char *text)
{
    struct kept_zones next;
    give(world, 0, "cat.test", text);
    assert_int_equal(kept_zones_init(&next, world->zones.count + ZONE_MEMBERS_MAX), ERR_OK);
    for (size_t i = 0; i < world->zones.count; i++) {
        struct kept_zone *zone = &world->zones.list[i];
        if (zone->plan.node_len > 0)
            continue;
        next.list[next.count++] = *zone;
        *zone = (struct kept_zone){.plan.held.name_len = 1};
    }
    take(world, &next, &world->zones);
    kept_zones_deinit(&world->zones);
    world->zones = next;
}

/* Plays a reload with this configuration. */
static void reload(struct world *world, const char *text)
{
    struct kept_zones next = configured(world, text, &world->zones);
    take(world, &next, &world->zones);
    zone_members_drop_copies(&next, &world->zones);
    kept_zones_deinit(&world->zones);
    world->zones = next;
}

static struct kept_zone *find(struct world *world, const char *name)
{
    return kept_zones_find(&world->zones, zone_make_name(name), ZONE_OF_ANSWERS);
}

/* Lists the members in one line. */
static const char *members(const struct world *world)
{
    static char out[1024];
    char name[NAME_TEXT_MAX];
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < world->zones.count; i++)
        if (world->zones.list[i].plan.node_len > 0)
            len += (size_t)snprintf(out + len, sizeof(out) - len, "%s ",
                                    name_format(zone_plan_name(&world->zones.list[i].plan), name));
    return out;
}

static void test_members_have_the_settings_of_their_catalog(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, "auth-zones: [{name: cat.test, primaries: [192.0.2.1], catalog: yes, for: "
                        "clients, fallback: yes, zonemd: require, max-size: 1MiB}]\n");
    change(&world, START "b.zones 60 PTR Two.example.\na.zones 60 PTR one.example.\n");
    assert_string_equal(members(&world), "one.example. two.example. ");
    const struct zone_plan *plan = &find(&world, "two.example")->plan;
    assert_int_equal(plan->held.use, ZONE_FOR_CLIENTS);
    assert_true(plan->held.has_fallback && zone_plan_is_transferred(plan));
    assert_int_equal(plan->zonemd, ZONEMD_REQUIRE);
    assert_int_equal(plan->max_bytes, 1 << 20);
    assert_true(zone_primaries_equal(plan->primaries, world.zones.list[0].plan.primaries));
    world_end(&world);
}

static void test_a_catalog_from_a_file_has_members_from_primaries(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, "auth-zones: [{name: cat.test, file: /etc/cat, primaries: [192.0.2.1], "
                        "catalog: yes}]\n");
    assert_false(zone_plan_is_transferred(&world.zones.list[0].plan));
    change(&world, START "a.zones 60 PTR one.example.\n");
    assert_true(zone_plan_is_transferred(&find(&world, "one.example")->plan));
    world_end(&world);
}

static void test_configured_names_and_the_root_are_no_members(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, "auth-zones: [{name: cat.test, primaries: [192.0.2.1], catalog: yes},\n"
                        "             {name: own.test, file: /x}]\n"
                        "rpz: [{name: rules.test, primaries: [192.0.2.1]}]\n"
                        "forward-zones: [{name: forward.test, upstreams: [192.0.2.2]}]\n"
                        "stub-zones: [{name: stub.test, upstreams: [192.0.2.2]}]\n");
    change(&world, START "a.zones 60 PTR OWN.test.\nb.zones 60 PTR rules.test.\n"
                         "c.zones 60 PTR forward.test.\nd.zones 60 PTR stub.test.\n"
                         "e.zones 60 PTR cat.test.\nf.zones 60 PTR .\n"
                         "g.zones 60 PTR below.own.test.\n");
    assert_string_equal(members(&world), "below.own.test. ");
    assert_int_equal(find(&world, "own.test")->plan.node_len, 0);
    world_end(&world);
}

static void test_the_first_of_two_catalogs_has_a_member(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, "auth-zones: [{name: cat.test, primaries: [192.0.2.1], catalog: yes},\n"
                        "  {name: x.zones.cat.test, primaries: [192.0.2.2], catalog: yes}]\n");
    give(&world, 1, "x.zones.cat.test",
         START "a.zones 60 PTR both.test.\nb.zones 60 PTR second.test.\n");
    change(&world, START "a.zones 60 PTR both.test.\n");
    assert_string_equal(members(&world), "both.test. second.test. ");
    const struct zone_plan *first = &world.zones.list[0].plan, *second = &world.zones.list[1].plan;
    assert_true(zone_plan_is_member(&find(&world, "both.test")->plan, first));
    assert_true(zone_plan_is_member(&find(&world, "second.test")->plan, second));
    assert_false(zone_plan_is_member(&find(&world, "second.test")->plan, first));
    world_end(&world);
}

static void test_a_member_keeps_its_state_until_its_node_changes(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, CATALOG);
    change(&world, START "a.zones 60 PTR one.example.\n");
    find(&world, "one.example")->data = zone_make("one.example", "@ 60 SOA . . 7 1 1 1 1\n");
    change(&world, START "a.zones 60 PTR one.example.\nb.zones 60 PTR two.example.\n");
    assert_non_null(find(&world, "one.example")->data);
    assert_null(find(&world, "two.example")->data);
    change(&world, ""); /* the catalog has expired */
    assert_string_equal(members(&world), "one.example. two.example. ");
    assert_non_null(find(&world, "one.example")->data);
    change(&world, START "c.zones 60 PTR one.example.\n");
    assert_string_equal(members(&world), "one.example. ");
    assert_null(find(&world, "one.example")->data);
    change(&world, START);
    assert_string_equal(members(&world), "");
    world_end(&world);
}

static void store_copy(char path[ZONE_STORE_PATH_MAX], const char *folder, const char *zone)
{
    struct zone_data *version = zone_make(zone, "@ 60 SOA . . 7 1 1 1 1\n@ 60 NS .\n");
    assert_int_equal(zone_store_path(path, folder, zone_make_name(zone)), ERR_OK);
    assert_int_equal(zone_store_save(path, version), ERR_OK);
    zone_data_unref(version);
}

static void test_a_member_that_moves_into_the_file_keeps_its_version_and_its_copy(void **state)
{
    (void)state;
    char folder[] = "/tmp/nailup_members_XXXXXX", text[512], moved[ZONE_STORE_PATH_MAX],
         gone[ZONE_STORE_PATH_MAX];
    struct world world;
    assert_non_null(mkdtemp(folder));
    store_copy(moved, folder, "one.example");
    store_copy(gone, folder, "two.example");
    snprintf(text, sizeof(text), CATALOG "transfer-directory: %s\n", folder);
    world_begin(&world, text);
    change(&world, START "a.zones 60 PTR one.example.\nb.zones 60 PTR two.example.\n");
    find(&world, "one.example")->data = zone_make("one.example", "@ 60 SOA . . 7 1 1 1 1\n");
    snprintf(text, sizeof(text),
             "auth-zones: [{name: one.example, primaries: [192.0.2.1]}]\n"
             "transfer-directory: %s\n",
             folder);
    reload(&world, text);
    assert_non_null(find(&world, "one.example")->data);
    assert_int_equal(find(&world, "one.example")->plan.node_len, 0);
    assert_null(find(&world, "two.example"));
    assert_int_equal(unlink(moved), 0);
    assert_int_equal(unlink(gone), -1);
    world_end(&world);
    assert_int_equal(rmdir(folder), 0);
}

static void test_a_zone_that_moves_into_a_catalog_keeps_its_version(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, "auth-zones: [{name: cat.test, primaries: [192.0.2.1], catalog: yes},\n"
                        "             {name: own.test, primaries: [192.0.2.2]},\n"
                        "             {name: file.test, file: /x}]\n");
    find(&world, "own.test")->data = zone_make("own.test", START);
    find(&world, "file.test")->data = zone_make("file.test", START);
    change(&world, START "a.zones 60 PTR own.test.\nb.zones 60 PTR file.test.\n");
    assert_string_equal(members(&world), "");
    reload(&world, "auth-zones: [{name: cat.test, primaries: [192.0.2.1], catalog: yes}]\n");
    assert_string_equal(members(&world), "own.test. file.test. ");
    assert_non_null(find(&world, "own.test")->data);
    /* data from a file does not count as a version from a primary */
    assert_null(find(&world, "file.test")->data);
    change(&world, START "c.zones 60 PTR own.test.\n");
    assert_null(find(&world, "own.test")->data);
    world_end(&world);
}

static void test_members_above_the_bound_are_left_out(void **state)
{
    (void)state;
    enum { MEMBERS = ZONE_SET_MAX + 10, ROW = 64 };
    struct world world;
    char *text = malloc(sizeof(START) + (size_t)MEMBERS * ROW);
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, START);
    for (unsigned i = 0; i < MEMBERS; i++)
        len += (size_t)snprintf(text + len, ROW, "n%05u.zones 60 PTR m%u.test.\n", i, i);
    world_begin(&world, "auth-zones: [{name: cat.test, primaries: [192.0.2.1], catalog: yes},\n"
                        "             {name: own.test, file: /x}]\n");
    change(&world, text);
    /* the catalog itself is not in the set, so it does not count */
    assert_int_equal(world.zones.count, 1 + ZONE_SET_MAX);
    assert_non_null(find(&world, "m4094.test"));
    assert_null(find(&world, "m4095.test"));
    free(text);
    world_end(&world);
}

static void test_zones_of_rpz_have_their_own_bound(void **state)
{
    (void)state;
    char text[4096];
    struct world world;
    size_t len = (size_t)sprintf(text, START);
    for (unsigned i = 0; i < 40; i++)
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len, "n%u.zones 60 PTR m%u.test.\n", i, i);
    world_begin(&world, "rpz: [{name: cat.test, primaries: [192.0.2.1], catalog: yes}]\n");
    change(&world, text);
    assert_int_equal(world.zones.count, RPZ_ZONES_MAX);
    for (size_t i = 1; i < world.zones.count; i++)
        assert_int_equal(world.zones.list[i].plan.kind, ZONE_OF_POLICY);
    world_end(&world);
}

static void test_names_are_kept_for_catalogs_only(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, "auth-zones: [{name: own.test, primaries: [192.0.2.1]}]\n");
    assert_null(world.names);
    change(&world, "");
    assert_int_equal(world.zones.count, 1);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_have_the_settings_of_their_catalog),
        cmocka_unit_test(test_a_catalog_from_a_file_has_members_from_primaries),
        cmocka_unit_test(test_configured_names_and_the_root_are_no_members),
        cmocka_unit_test(test_the_first_of_two_catalogs_has_a_member),
        cmocka_unit_test(test_a_member_keeps_its_state_until_its_node_changes),
        cmocka_unit_test(test_a_member_that_moves_into_the_file_keeps_its_version_and_its_copy),
        cmocka_unit_test(test_a_zone_that_moves_into_a_catalog_keeps_its_version),
        cmocka_unit_test(test_members_above_the_bound_are_left_out),
        cmocka_unit_test(test_zones_of_rpz_have_their_own_bound),
        cmocka_unit_test(test_names_are_kept_for_catalogs_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
