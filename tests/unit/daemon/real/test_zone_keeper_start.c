/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* At the start, the keeper's thread (pthread) reads zones while main waits. Threads, loops and
 * files are real. No primary answers. */
#include "unit/transfer/zone_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/zone_keeper.h"
#include "loop/loop.h"
#include "rpz/rpz_policy.h"
#include "transfer/xfr_gate.h"
#include "transfer/zone_store.h"
#include "unit/config/config_text.h"
#include "zone/zone_set.h"

enum { ZONES = 8 }; /* how many zones of each kind */

static char folder[] = "/tmp/nailup_keeper_XXXXXX";

struct world {
    struct loop *loop;
    struct config *config;
    struct zone_keeper *keeper;
    struct zone_set *zones;
    struct rpz_policy *policy;
};

/* Makes the name of a zone: "a3.example" is an auth-zone, "r3.example" a response policy zone. */
static struct name zone_name(char kind, unsigned number, uint8_t wire[NAME_WIRE_MAX])
{
    char text[32];
    struct name name;
    snprintf(text, sizeof(text), "%c%u.example", kind, number);
    assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
    return name;
}

static void store_copy(char kind, unsigned number, bool is_wanted)
{
    char path[ZONE_STORE_PATH_MAX];
    uint8_t wire[NAME_WIRE_MAX];
    struct name name = zone_name(kind, number, wire);
    assert_int_equal(zone_store_path(path, folder, name), ERR_OK);
    (void)unlink(path);
    if (!is_wanted)
        return;
    struct zone_data *version = zone_sample(name, 5, 1000);
    assert_int_equal(zone_store_save(path, version), ERR_OK);
    zone_data_unref(version);
}

static void store_copies(bool is_wanted)
{
    for (unsigned i = 0; i < ZONES; i++) {
        store_copy('a', i, is_wanted);
        store_copy('r', i, is_wanted);
    }
}

static size_t list_zones(char *text, size_t size, const char *section, char kind)
{
    size_t len = (size_t)snprintf(text, size, "%s:\n", section);
    for (unsigned i = 0; i < ZONES; i++)
        len += (size_t)snprintf(text + len, size - len,
                                "  - {name: %c%u.example, primaries: [127.0.0.1@1]}\n", kind, i);
    return len;
}

static void world_begin(struct world *world)
{
    char text[4096];
    size_t len = (size_t)snprintf(text, sizeof(text), "%stransfer-directory: %s\n", ZONE, folder);
    len += list_zones(text + len, sizeof(text) - len, "auth-zones", 'a');
    (void)list_zones(text + len, sizeof(text) - len, "rpz", 'r');
    *world = (struct world){.loop = loop_new(), .config = load_fine(text)};
    world->keeper = zone_keeper_new(world->loop, NULL, XFR_GATE_VISITS_MAX);
    assert_int_equal(zone_keeper_configure(world->keeper, world->config), ERR_OK);
    zone_keeper_await(world->keeper, &world->zones, &world->policy);
}

static void world_end(struct world *world)
{
    zone_keeper_end(world->keeper);
    zone_keeper_join(world->keeper);
    loop_free(world->loop);
    zone_keeper_free(world->keeper);
    config_free(world->config);
}

static bool has_zone(const struct world *world, unsigned number)
{
    uint8_t wire[NAME_WIRE_MAX];
    const struct zone_held *zone = zone_set_find_exact(world->zones, zone_name('a', number, wire));
    assert_non_null(zone);
    return zone->data;
}

static void test_a_start_has_the_stored_copies_before_the_first_query(void **state)
{
    (void)state;
    struct world world;
    store_copies(true);
    world_begin(&world);
    assert_int_equal(rpz_policy_count(world.policy), ZONES);
    for (unsigned i = 0; i < ZONES; i++) {
        assert_non_null(rpz_policy_zone_rules(rpz_policy_at(world.policy, i)));
        assert_true(has_zone(&world, i));
    }
    world_end(&world);
    store_copies(false);
}

static void test_zones_without_a_copy_do_not_hold_up_the_start(void **state)
{
    (void)state;
    struct world world;
    store_copies(false);
    store_copy('r', 1, true);
    world_begin(&world);
    for (unsigned i = 0; i < ZONES; i++) {
        assert_int_equal(rpz_policy_zone_rules(rpz_policy_at(world.policy, i)) != NULL, i == 1);
        assert_false(has_zone(&world, i));
    }
    world_end(&world);
    store_copies(false);
}

static void test_a_keeper_without_zones_is_settled(void **state)
{
    (void)state;
    struct world world = {.loop = loop_new(), .config = load_fine(ZONE)};
    world.keeper = zone_keeper_new(world.loop, NULL, 1);
    assert_int_equal(zone_keeper_configure(world.keeper, world.config), ERR_OK);
    zone_keeper_await(world.keeper, &world.zones, &world.policy);
    assert_null(world.zones);
    assert_true(zone_keeper_settle(world.keeper, NULL, NULL));
    world_end(&world);
}

static int folder_make(void **state)
{
    (void)state;
    return !mkdtemp(folder);
}

static int folder_remove(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_start_has_the_stored_copies_before_the_first_query),
        cmocka_unit_test(test_zones_without_a_copy_do_not_hold_up_the_start),
        cmocka_unit_test(test_a_keeper_without_zones_is_settled),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
