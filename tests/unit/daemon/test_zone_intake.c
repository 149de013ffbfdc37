/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Zones from files on one loop in virtual time, without a thread: which versions are published, and
 * which stay. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/view.h"
#include "daemon/zone_intake.h"
#include "daemon/zone_plan.h"
#include "daemon/zone_publication.h"
#include "loop/loop.h"
#include "transfer/xfr_gate.h"
#include "unit/config/config_text.h"
#include "zone/zone_data.h"
#include "zone/zone_set.h"

enum { PUBLICATIONS_MAX = 8 };

static char folder[] = "/tmp/nailup_intake_XXXXXX";
static struct loop *loop;
static struct zone_intake *intake;
static struct control_transfers transfers;
static atomic_bool is_ending;
static struct zone_publication *published[PUBLICATIONS_MAX];
static size_t published_count, published_before_copies;
static unsigned trust_asked;

static void publish(void *context, struct zone_publication *publication)
{
    (void)context;
    assert_true(published_count < PUBLICATIONS_MAX);
    published[published_count++] = publication;
}

static struct zone_trust *take_trust(void *context)
{
    (void)context;
    trust_asked++;
    return NULL;
}

static void note_copies(void *context)
{
    (void)context;
    published_before_copies = published_count;
}

static void forget_publications(void)
{
    while (published_count > 0)
        zone_publication_free(published[--published_count]);
}

static int set_up(void **state)
{
    const struct zone_intake_host host = {.publish = publish,
                                          .take_trust = take_trust,
                                          .note_copies = note_copies,
                                          .transfers = &transfers,
                                          .is_ending = &is_ending};
    (void)state;
    atomic_store(&is_ending, false);
    published_before_copies = trust_asked = 0;
    loop = loop_new();
    intake = zone_intake_new(loop, &host, XFR_GATE_VISITS_MAX);
    assert_non_null(intake);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    zone_intake_free(intake);
    forget_publications();
    loop_free(loop);
    return 0;
}

static void path_of(char kind, char path[64])
{
    snprintf(path, 64, "%s/%c.zone", folder, kind);
}

/* The size of a file changes with the number of digits, so an intake sees that it is new. */
static void write_zone(char kind, const char *serial)
{
    char path[64];
    path_of(kind, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "@ 60 SOA ns. admin. %s 60 60 60 60\n@ 60 NS ns.\nwww 60 A 192.0.2.1\n", serial);
    assert_int_equal(fclose(file), 0);
}

static void remove_zone(char kind)
{
    char path[64];
    path_of(kind, path);
    unlink(path);
}

/* Plans a.example and b.example, from files. */
static void plan(void)
{
    char text[512];
    snprintf(text, sizeof(text),
             "%sauth-zones:\n"
             "  - {name: a.example, file: %s/a.zone}\n"
             "  - {name: b.example, file: %s/b.zone}\n",
             ZONE, folder, folder);
    struct config *config = load_fine(text);
    struct zone_plans *plans = zone_plans_new(config);
    struct rpz_policy *policy = NULL;
    assert_non_null(plans);
    assert_int_equal(zone_intake_plan(intake, plans, &policy), ERR_OK);
    zone_plans_free(plans);
    config_free(config);
}

/* Returns the row of a zone in a publication. */
static const struct control_zone *row(size_t publication, char kind)
{
    const struct zone_publication *all = published[publication];
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i].wire[1] == (uint8_t)kind)
            return &all->rows[i];
    fail_msg("no row");
    return NULL;
}

/* Returns the serial of a zone in the last publication; 0: it has no version. */
static uint32_t serial(char kind)
{
    const struct control_zone *zone = row(published_count - 1, kind);
    struct name name = {zone->wire, zone->name_len};
    const struct zone_held *held = zone_set_find_exact(published[published_count - 1]->set, name);
    assert_non_null(held);
    return held->data ? zone_data_soa(held->data)->serial : 0;
}

static void test_names_are_held_before_their_files_are_read(void **state)
{
    (void)state;
    write_zone('a', "1");
    write_zone('b', "2");
    plan();
    assert_int_equal(published_count, 2);
    assert_int_equal(row(0, 'a')->state, CONTROL_ZONE_LOADING);
    assert_int_equal(row(1, 'a')->state, CONTROL_ZONE_SERVED);
    assert_int_equal(serial('a'), 1);
    assert_int_equal(serial('b'), 2);
    assert_int_equal(published_before_copies, 2);
    assert_true(trust_asked > 0);
}

static void test_a_file_that_cannot_be_used_keeps_the_version_before(void **state)
{
    (void)state;
    write_zone('a', "1");
    write_zone('b', "2");
    plan();
    write_zone('a', "x");
    write_zone('b', "30");
    plan();
    assert_int_equal(serial('a'), 1);
    assert_int_equal(row(published_count - 1, 'a')->state, CONTROL_ZONE_KEPT);
    assert_int_equal(serial('b'), 30);
    assert_int_equal(row(published_count - 1, 'b')->state, CONTROL_ZONE_SERVED);
}

static void test_a_zone_without_a_usable_file_has_no_version(void **state)
{
    (void)state;
    write_zone('a', "x");
    remove_zone('b');
    plan();
    assert_int_equal(serial('a'), 0);
    assert_int_equal(row(published_count - 1, 'a')->state, CONTROL_ZONE_FAILED);
    assert_int_equal(row(published_count - 1, 'b')->state, CONTROL_ZONE_FAILED);
}

static void test_an_intake_that_ends_reads_no_more_files(void **state)
{
    (void)state;
    write_zone('a', "1");
    write_zone('b', "2");
    atomic_store(&is_ending, true);
    plan();
    assert_int_equal(serial('a'), 0);
    assert_int_equal(row(published_count - 1, 'a')->state, CONTROL_ZONE_LOADING);
}

static int folder_make(void **state)
{
    (void)state;
    return !mkdtemp(folder);
}

static int folder_remove(void **state)
{
    (void)state;
    remove_zone('a');
    remove_zone('b');
    return rmdir(folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_names_are_held_before_their_files_are_read),
        TEST(test_a_file_that_cannot_be_used_keeps_the_version_before),
        TEST(test_a_zone_without_a_usable_file_has_no_version),
        TEST(test_an_intake_that_ends_reads_no_more_files),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
