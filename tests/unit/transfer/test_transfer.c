/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A zone and its two primaries over days of virtual time. The zone's file is real. */
#include "unit/transfer/xfr_primary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tls/tls_contexts.h"
#include "transfer/transfer.h"
#include "transfer/zone_store.h"
#include "unit/transfer/zone_sample.h"
#include "zone/zone_data.h"

static char folder[] = "/tmp/nailup_transfer_XXXXXX";
static char path[ZONE_STORE_PATH_MAX];

struct world {
    struct loop *loop;
    struct tls_contexts *contexts;
    struct xfr_gate gate;
    struct play_primary play[2];
    struct xfr_primary primaries[2];
    struct transfer *transfer;
    unsigned versions, expiries, refusals, visits[4]; /* visits: by enum transfer_result */
    uint32_t serial; /* the serial that the receiver has; 0: none */
    enum err refusal;
    bool keeps_expired;
};

static enum err on_version(void *owner, struct zone_data *version)
{
    struct world *world = owner;
    if (world->refusal != ERR_OK) {
        world->refusals++;
        return world->refusal;
    }
    world->versions++;
    world->serial = zone_data_soa(version)->serial;
    return ERR_OK;
}

static void on_expired(void *owner, struct name zone)
{
    struct world *world = owner;
    assert_true(name_equal(zone, NAME("example.com")));
    world->expiries++;
    world->serial = 0;
}

static void on_visited(void *owner, struct name zone, enum transfer_result result, const char *why)
{
    struct world *world = owner;
    assert_true(name_equal(zone, NAME("example.com")));
    assert_int_equal(*why != '\0', result == TRANSFER_FAILED);
    assert_true(result != TRANSFER_FAILED || strstr(why, "192.0.2."));
    world->visits[result]++;
}

static const struct transfer_handler handler = {on_version, on_expired, on_visited};

static void world_open(struct world *world)
{
    struct transfer_options options = {.zone = NAME("example.com"),
                                       .gate = &world->gate,
                                       .primaries = world->primaries,
                                       .primary_count = 2,
                                       .max_bytes = 1 << 20,
                                       .folder = folder,
                                       .keeps_expired = world->keeps_expired};
    assert_int_equal(
        transfer_open(&world->transfer, world->loop, world->contexts, &options, &handler, world),
        ERR_OK);
}

static void world_begin(struct world *world)
{
    memset(world, 0, sizeof(*world));
    world->loop = loop_new();
    world->contexts = tls_contexts_new();
    xfr_gate_init(&world->gate, world->loop, XFR_GATE_VISITS_MAX);
    play_primary_begin(&world->play[0], world->loop, "192.0.2.1@53");
    play_primary_begin(&world->play[1], world->loop, "192.0.2.2@53");
    world->primaries[0].addr = fake_addr("192.0.2.1@53");
    world->primaries[1].addr = fake_addr("192.0.2.2@53");
    (void)unlink(path);
}

static void world_end(struct world *world)
{
    transfer_close(&world->transfer);
    xfr_gate_deinit(&world->gate);
    assert_int_equal(fake_net_open_sockets(fake_net_of(world->loop)), 0);
    tls_contexts_free(world->contexts);
    loop_free(world->loop);
}

static void serve(struct play_primary *primary, const char *soa, const char *axfr, const char *ixfr)
{
    primary->script = (struct play_script){.soa = soa, .axfr = axfr, .ixfr = ixfr};
}

static struct transfer_view look(const struct world *world)
{
    struct transfer_view view;
    transfer_look(world->transfer, &view);
    return view;
}

static void pass(struct world *world, uint64_t seconds)
{
    fake_loop_advance(world->loop, seconds * US_PER_S);
}

/* Begins with serial 5 from the first primary. */
static void world_begin_held(struct world *world)
{
    world_begin(world);
    serve(&world->play[0], "S5", "S5 a1 S5", NULL);
    world_open(world);
    pass(world, 1);
}

/* The intervals of xfr_play.h: refresh 3600, retry 600, expire 86400. */
static void test_a_zone_follows_its_primary(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    serve(&world.play[0], "S5", "S5 a1 S5", NULL);
    world_open(&world);
    assert_int_equal(world.versions, 0);
    pass(&world, 1);
    assert_int_equal(world.serial, 5);
    pass(&world, 3600);
    assert_int_equal(world.visits[TRANSFER_CURRENT], 1);
    serve(&world.play[0], "S6", NULL, "S6 S5 a1 S6 b1 S6");
    pass(&world, 3600);
    assert_int_equal(world.serial, 6);
    assert_int_equal(world.visits[TRANSFER_WHOLE], 1);
    assert_int_equal(world.visits[TRANSFER_CHANGES], 1);
    assert_int_equal(world.visits[TRANSFER_FAILED], 0);
    assert_int_equal(look(&world).serial, 6);
    world_end(&world);
}

static void test_the_second_primary_takes_over(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    fake_server_set_dial(fake_peer_server(world.play[0].peer), FAKE_DIAL_BLACKHOLE);
    serve(&world.play[1], "S5", "S5 a1 S5", NULL);
    world_open(&world);
    pass(&world, 12);
    assert_int_equal(world.serial, 5);
    assert_int_equal(world.visits[TRANSFER_FAILED], 1);
    world_end(&world);
}

static void test_a_notify_brings_the_new_version(void **state)
{
    (void)state;
    struct world world;
    uint32_t old = 5, new = 6;
    world_begin(&world);
    serve(&world.play[0], "S5", "S5 a1 S5", NULL);
    serve(&world.play[1], "S6", NULL, "S6 S5 S6 b1 S6");
    world_open(&world);
    pass(&world, 10);
    transfer_notify(world.transfer, &world.primaries[1].addr, &old);
    pass(&world, 10);
    assert_int_equal(world.play[1].queries[0], 0);
    transfer_notify(world.transfer, &world.primaries[1].addr, &new);
    pass(&world, 10);
    assert_int_equal(world.serial, 6);
    transfer_refresh(world.transfer);
    pass(&world, 10);
    assert_int_equal(world.visits[TRANSFER_CURRENT], 1);
    world_end(&world);
}

static void test_a_zone_expires_and_returns(void **state)
{
    (void)state;
    struct world world;
    world_begin_held(&world);
    serve(&world.play[0], NULL, NULL, NULL);
    pass(&world, 86000);
    assert_int_equal(world.expiries, 0);
    pass(&world, 1000);
    assert_int_equal(world.expiries, 1);
    assert_true(look(&world).is_expired);
    serve(&world.play[0], "S5", NULL, NULL);
    pass(&world, 3700);
    assert_int_equal(world.serial, 5); /* the same version is valid again */
    assert_int_equal(world.versions, 2);
    assert_false(look(&world).is_expired);
    world_end(&world);
}

/* A primary that was set up again may count from the beginning. */
static void test_an_expired_zone_takes_an_older_serial(void **state)
{
    (void)state;
    struct world world;
    uint32_t older = 3;
    world_begin_held(&world);
    serve(&world.play[0], "S3", "S3 b1 S3", NULL);
    pass(&world, 86000);
    assert_int_equal(world.serial, 5);
    serve(&world.play[0], NULL, NULL, NULL);
    pass(&world, 1000);
    assert_int_equal(world.expiries, 1);
    serve(&world.play[0], "S3", "S3 b1 S3", NULL);
    transfer_notify(world.transfer, &world.primaries[0].addr, &older);
    pass(&world, 60);
    assert_int_equal(world.serial, 3);
    assert_int_equal(world.visits[TRANSFER_WHOLE], 2);
    assert_false(look(&world).is_expired);
    world_end(&world);
}

static void age_file(int64_t seconds)
{
    struct timespec times[2] = {{.tv_sec = FAKE_LOOP_WALL_S - seconds},
                                {.tv_sec = FAKE_LOOP_WALL_S - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static time_t file_time(void)
{
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    return facts.st_mtim.tv_sec;
}

static void test_an_expired_version_that_is_refused_is_not_current(void **state)
{
    (void)state;
    struct world world;
    world_begin_held(&world);
    age_file(1000);
    time_t confirmed = file_time();
    serve(&world.play[0], NULL, NULL, NULL);
    pass(&world, 87000);
    assert_int_equal(world.expiries, 1);
    world.refusal = ERR_INVALID;
    serve(&world.play[0], "S5", NULL, NULL);
    pass(&world, 7300);
    assert_true(world.refusals > 0);
    assert_int_equal(world.visits[TRANSFER_CURRENT], 0);
    assert_true(look(&world).is_expired);
    assert_int_equal(file_time(), confirmed);
    world.refusal = ERR_OK;
    pass(&world, 7500); /* two rounds: one may request the whole zone in vain */
    assert_int_equal(world.serial, 5);
    world_end(&world);
}

/* The operator of the primary repairs the zone without a new serial. */
static void test_an_expired_version_that_is_refused_is_fetched_whole(void **state)
{
    (void)state;
    struct world world;
    world_begin_held(&world);
    serve(&world.play[0], NULL, NULL, NULL);
    pass(&world, 87000);
    world.refusal = ERR_INVALID;
    serve(&world.play[0], "S5", "S5 b1 S5", NULL);
    pass(&world, 7300);
    unsigned fetched = world.play[0].queries[1];
    assert_in_range(fetched, 2, 8); /* once per round */
    assert_int_equal(world.serial, 0);
    world.refusal = ERR_OK;
    pass(&world, 3700);
    assert_int_equal(world.serial, 5);
    assert_int_equal(world.play[0].queries[1], fetched + 1);
    assert_int_equal(world.visits[TRANSFER_WHOLE], 2);
    pass(&world, 3700);
    assert_int_equal(world.play[0].queries[1], fetched + 1);
    world_end(&world);
}

/* A version with the same serial may be better than the doubted one, which does not expire before
 * one comes. */
static void test_a_doubted_version_is_fetched_whole(void **state)
{
    (void)state;
    struct world world;
    world_begin_held(&world);
    transfer_doubt(world.transfer, true);
    serve(&world.play[0], "S5", "S5 a1 S5", NULL);
    serve(&world.play[1], "S5", NULL, NULL);
    world.refusal = ERR_INVALID;
    pass(&world, 90000);
    assert_in_range(world.play[0].queries[1], 20, 60);
    assert_int_equal(world.serial, 5);
    assert_int_equal(world.expiries, 0);
    assert_int_equal(world.visits[TRANSFER_CURRENT], 0);
    assert_in_range(look(&world).expires_in_s, 80000, 86400);
    world.refusal = ERR_OK;
    pass(&world, 3700);
    assert_int_equal(world.visits[TRANSFER_WHOLE], 2);
    assert_int_equal(world.versions, 2);
    pass(&world, 3700);
    assert_true(world.visits[TRANSFER_CURRENT] > 0);
    world_end(&world);
}

static void test_a_doubt_that_ends_costs_no_transfer(void **state)
{
    (void)state;
    struct world world;
    world_begin_held(&world);
    transfer_doubt(world.transfer, true);
    transfer_doubt(world.transfer, false);
    pass(&world, 3700);
    assert_int_equal(world.visits[TRANSFER_CURRENT], 1);
    assert_int_equal(world.play[0].queries[1], 1);
    world_end(&world);
}

static void test_a_partial_transfer_leaves_the_old_version(void **state)
{
    (void)state;
    struct world world;
    world_begin_held(&world);
    serve(&world.play[0], "S6", "S6 b1", "S6 S5 a1");
    world.play[0].script.closes = true;
    pass(&world, 4000);
    assert_int_equal(world.serial, 5);
    assert_true(world.visits[TRANSFER_FAILED] > 0);
    world_end(&world);
}

/* The receiver refuses a version whose digest is wrong. */
static void test_a_refused_version_changes_nothing(void **state)
{
    (void)state;
    struct world world;
    world_begin_held(&world);
    world.refusal = ERR_INVALID;
    serve(&world.play[0], "S6", "S6 b1 S6", "S6 S5 S6 b1 S6");
    pass(&world, 3700);
    assert_int_equal(world.serial, 5);
    assert_int_equal(look(&world).serial, 5);
    assert_true(world.refusals > 0);
    assert_true(world.visits[TRANSFER_FAILED] > 0);
    world.refusal = ERR_OK;
    pass(&world, 3700);
    assert_int_equal(world.serial, 6);
    world_end(&world);
}

/* The primary's changes may lead to a bad zone although the whole zone is good. */
static void test_a_whole_zone_is_asked_for_after_refused_changes(void **state)
{
    (void)state;
    struct world world;
    world_begin_held(&world);
    world.refusal = ERR_INVALID;
    serve(&world.play[0], "S6", "S6 b1 S6", "S6 S5 S6 b1 S6");
    pass(&world, 3650);
    assert_int_equal(world.play[0].queries[2], 1);
    world.refusal = ERR_OK;
    pass(&world, 1300);
    assert_int_equal(world.serial, 6);
    assert_int_equal(world.play[0].queries[2], 1);
    assert_int_equal(world.visits[TRANSFER_WHOLE], 2);
    serve(&world.play[0], "S7", NULL, "S7 S6 S7 c1 S7");
    pass(&world, 3700);
    assert_int_equal(world.serial, 7);
    assert_int_equal(world.visits[TRANSFER_CHANGES], 1);
    world_end(&world);
}

/* A reload gives the zone other primaries. */
static void test_a_given_version_is_held(void **state)
{
    (void)state;
    struct world world;
    struct zone_data *given = zone_sample(NAME("example.com"), 5, 3);
    struct transfer_options options = {.zone = NAME("example.com"),
                                       .max_bytes = 1 << 20,
                                       .primary_count = 1,
                                       .folder = folder,
                                       .held = given,
                                       .held_left_s = 100};
    world_begin(&world);
    options.primaries = world.primaries;
    options.gate = &world.gate;
    assert_int_equal(
        transfer_open(&world.transfer, world.loop, world.contexts, &options, &handler, &world),
        ERR_OK);
    zone_data_unref(given);
    assert_int_equal(world.versions, 0);
    assert_int_equal(look(&world).serial, 5);
    pass(&world, 99);
    assert_int_equal(world.expiries, 0);
    pass(&world, 2);
    assert_int_equal(world.expiries, 1);
    world_end(&world);
}

/* ---- the gate ---- */

/* Takes all visits that the first primary allows. */
static void take_visits(struct world *world, struct xfr_place *places,
                        void (*on_admitted)(struct xfr_place *place))
{
    for (int i = 0; i < XFR_GATE_PRIMARY_VISITS_MAX; i++) {
        xfr_place_init(&places[i], &world->gate, on_admitted);
        xfr_place_join(&places[i], &world->primaries[0].addr, false);
    }
    pass(world, 1);
    assert_int_equal(world->gate.visits, XFR_GATE_PRIMARY_VISITS_MAX);
}

static void on_other_admitted(struct xfr_place *place)
{
    assert_int_equal(place->state, XFR_PLACE_INSIDE);
}

static void test_a_zone_waits_while_its_primary_has_all_its_visits(void **state)
{
    (void)state;
    struct world world;
    struct xfr_place places[XFR_GATE_PRIMARY_VISITS_MAX];
    world_begin(&world);
    serve(&world.play[0], "S5", "S5 a1 S5", NULL);
    take_visits(&world, places, on_other_admitted);
    world_open(&world);
    pass(&world, 1000);
    assert_int_equal(world.play[0].queries[0], 0);
    assert_int_equal(look(&world).refresh_at, 0);
    xfr_place_leave(&places[0]);
    pass(&world, 1);
    assert_int_equal(world.serial, 5);
    for (int i = 1; i < XFR_GATE_PRIMARY_VISITS_MAX; i++)
        xfr_place_leave(&places[i]);
    world_end(&world);
}

/* The NOTIFY comes from the second primary, which still has a visit. */
static void test_a_notify_leads_a_zone_that_waits_to_its_sender(void **state)
{
    (void)state;
    struct world world;
    struct xfr_place places[XFR_GATE_PRIMARY_VISITS_MAX];
    world_begin(&world);
    serve(&world.play[1], "S5", "S5 a1 S5", NULL);
    take_visits(&world, places, on_other_admitted);
    world_open(&world);
    pass(&world, 1);
    transfer_notify(world.transfer, &world.primaries[1].addr, NULL);
    pass(&world, 1);
    assert_int_equal(world.serial, 5);
    for (int i = 0; i < XFR_GATE_PRIMARY_VISITS_MAX; i++)
        xfr_place_leave(&places[i]);
    world_end(&world);
}

static void test_a_zone_that_waits_expires_and_ends(void **state)
{
    (void)state;
    struct world world;
    struct xfr_place places[XFR_GATE_PRIMARY_VISITS_MAX];
    world_begin_held(&world);
    take_visits(&world, places, on_other_admitted);
    pass(&world, 90000);
    assert_int_equal(world.expiries, 1);
    assert_int_equal(world.versions, 1);
    assert_false(list_is_empty(&world.gate.urgent));
    transfer_close(&world.transfer);
    for (int i = 0; i < XFR_GATE_PRIMARY_VISITS_MAX; i++)
        xfr_place_leave(&places[i]);
    world_end(&world);
}

/* ---- restarts ---- */

/* Leaves a file with serial 5 that is age_s old. */
static void leave_file(int64_t age_s)
{
    struct world world;
    world_begin_held(&world);
    assert_int_equal(world.serial, 5);
    world_end(&world);
    age_file(age_s);
}

/* Restarts, with primaries that do not answer. */
static void world_restart_with(struct world *world, bool keeps_expired)
{
    char kept[ZONE_STORE_PATH_MAX + 8];
    snprintf(kept, sizeof(kept), "%s.kept", path);
    assert_int_equal(rename(path, kept), 0);
    world_begin(world);
    assert_int_equal(rename(kept, path), 0);
    world->keeps_expired = keeps_expired;
    world_open(world);
}

static void world_restart(struct world *world)
{
    world_restart_with(world, false);
}

static void test_a_version_survives_a_restart(void **state)
{
    (void)state;
    struct world world;
    leave_file(80000);
    world_restart(&world);
    assert_int_equal(world.serial, 5); /* before the first turn */
    assert_int_equal(look(&world).expires_in_s, 6400);
    pass(&world, 6300);
    assert_int_equal(world.expiries, 0);
    pass(&world, 200);
    assert_int_equal(world.expiries, 1);
    world_end(&world);
}

static void test_an_expired_file_waits_for_a_primary(void **state)
{
    (void)state;
    struct world world;
    leave_file(90000);
    world_restart(&world);
    assert_int_equal(world.versions, 0);
    assert_int_equal(world.expiries, 1);
    assert_true(look(&world).is_expired);
    serve(&world.play[0], "S5", NULL, NULL);
    pass(&world, 1);
    assert_int_equal(world.serial, 5);
    assert_int_equal(world.play[0].queries[1] + world.play[0].queries[2], 0);
    world_end(&world);
}

/* A catalog needs its expired file, so that its members stay. */
static void test_an_expired_file_may_be_wanted(void **state)
{
    (void)state;
    struct world world;
    leave_file(90000);
    world_restart_with(&world, true);
    assert_int_equal(world.versions, 1);
    assert_int_equal(world.expiries, 1);
    assert_true(look(&world).is_expired);
    serve(&world.play[0], "S5", NULL, NULL);
    pass(&world, 1);
    assert_int_equal(world.versions, 2); /* the version is confirmed */
    assert_int_equal(world.expiries, 1);
    assert_false(look(&world).is_expired);
    world_end(&world);
}

static void test_changes_lead_on_from_the_file(void **state)
{
    (void)state;
    struct world world;
    leave_file(10);
    world_restart(&world);
    serve(&world.play[0], "S6", NULL, "S6 S5 a1 S6 b1 S6");
    pass(&world, 1);
    assert_int_equal(world.serial, 6);
    assert_int_equal(world.visits[TRANSFER_CHANGES], 1);
    world_end(&world);
    world_restart(&world);
    assert_int_equal(world.serial, 6);
    world_end(&world);
}

static void test_a_damaged_file_costs_one_transfer(void **state)
{
    (void)state;
    struct world world;
    leave_file(10);
    assert_int_equal(truncate(path, 40), 0);
    world_restart(&world);
    assert_int_equal(world.versions, 0);
    serve(&world.play[0], "S5", "S5 a1 S5", NULL);
    pass(&world, 1);
    assert_int_equal(world.serial, 5);
    world_end(&world);
    world_restart(&world);
    assert_int_equal(world.serial, 5);
    world_end(&world);
}

static int folder_make(void **state)
{
    (void)state;
    return !mkdtemp(folder) || zone_store_path(path, folder, NAME("example.com")) != ERR_OK;
}

static int folder_remove(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_zone_follows_its_primary),
        cmocka_unit_test(test_the_second_primary_takes_over),
        cmocka_unit_test(test_a_notify_brings_the_new_version),
        cmocka_unit_test(test_a_zone_expires_and_returns),
        cmocka_unit_test(test_an_expired_zone_takes_an_older_serial),
        cmocka_unit_test(test_an_expired_version_that_is_refused_is_not_current),
        cmocka_unit_test(test_an_expired_version_that_is_refused_is_fetched_whole),
        cmocka_unit_test(test_a_doubted_version_is_fetched_whole),
        cmocka_unit_test(test_a_doubt_that_ends_costs_no_transfer),
        cmocka_unit_test(test_a_partial_transfer_leaves_the_old_version),
        cmocka_unit_test(test_a_refused_version_changes_nothing),
        cmocka_unit_test(test_a_whole_zone_is_asked_for_after_refused_changes),
        cmocka_unit_test(test_a_given_version_is_held),
        cmocka_unit_test(test_a_zone_waits_while_its_primary_has_all_its_visits),
        cmocka_unit_test(test_a_notify_leads_a_zone_that_waits_to_its_sender),
        cmocka_unit_test(test_a_zone_that_waits_expires_and_ends),
        cmocka_unit_test(test_a_version_survives_a_restart),
        cmocka_unit_test(test_an_expired_file_waits_for_a_primary),
        cmocka_unit_test(test_an_expired_file_may_be_wanted),
        cmocka_unit_test(test_changes_lead_on_from_the_file),
        cmocka_unit_test(test_a_damaged_file_costs_one_transfer),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
