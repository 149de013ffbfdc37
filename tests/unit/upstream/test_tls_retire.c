/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* TLS of upstreams that come and go: siblings, contexts, and files that are read again. */

#include "unit/upstream/tls_fixture.h"

#include "base/log.h"
#include "tls/tls_contexts.h"

static struct upstream *want(struct world *world, const char *addr,
                             const struct upstream_options *options)
{
    struct addr at = fake_addr(addr);
    struct upstream *upstream = upstreams_want(world->upstreams, &at, options);
    assert_non_null(upstream);
    return upstream;
}

static void settle(struct world *world)
{
    upstreams_settle(world->upstreams, NULL, NULL);
}

static void give_up(struct world *world, struct upstream *upstream)
{
    upstreams_unwant(upstream);
    settle(world);
    upstreams_drop(upstream);
}

static size_t count(const struct world *world)
{
    return upstreams_count(world->upstreams);
}

/* ---- memory that options point to ---- */

static char *text(const char *from)
{
    char *copy = strdup(from);
    assert_non_null(copy);
    return copy;
}

/* Overwrites the text, then frees it. */
static void forget(char **from)
{
    memset(*from, 'x', strlen(*from));
    free(*from);
    *from = NULL;
}

static void test_tls_retire_an_upstream_owns_its_options(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict(), same;
    fixture_open_server(&f, NULL);
    struct tls_pins *pins = calloc(1, sizeof(*pins) + TLS_PIN_BYTES);
    pins->count = 1;
    memcpy(pins->sha256[0], world_tls()->cert->pin, TLS_PIN_BYTES);
    options.tls.auth_name = text("dns.test");
    options.tls.ca_bundle = text(world_tls()->ca_path);
    options.tls.groups = text("x25519");
    options.tls.pins = pins;
    options.max_requests = 1; /* each query needs a dial */
    f.upstream = want(&f.world, TLS_AT, &options);
    settle(&f.world);
    forget(&options.tls.auth_name);
    forget(&options.tls.ca_bundle);
    forget(&options.tls.groups);
    memset(pins, 0xff, sizeof(*pins) + TLS_PIN_BYTES);
    free(pins);
    for (int i = 0; i < 3; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        fake_loop_advance(f.world.loop, 100 * MS);
    }
    same = f.upstream->options;
    assert_ptr_equal(want(&f.world, TLS_AT, &same), f.upstream);
    fixture_close_strict(&f);
}

/* ---- siblings ---- */

static void test_tls_retire_a_sibling_goes_with_its_opportunistic_upstream(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = opportunistic();
    fixture_open_server(&f, NULL);
    world_peer(&f.world, PLAIN_AT, NULL, NULL);
    struct upstream *upstream = want(&f.world, TLS_AT, &options);
    struct upstream *plain = upstream->plain;
    settle(&f.world);
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(count(&f.world), 2);
    upstreams_unwant(upstream);
    settle(&f.world);
    assert_true(upstream->retiring && plain->retiring);
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(count(&f.world), 2); /* the holder keeps both */
    ask_and_wait(&asker, &f.world, "www.example", upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    upstreams_drop(upstream);
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(count(&f.world), 0);
    world_close(&f.world);
}

static void test_tls_retire_a_sibling_that_is_wanted_by_others_stays(void **state)
{
    (void)state;
    struct world world;
    struct upstream *upstreams[2], *plain;
    struct upstream_options options = opportunistic(), by_itself;
    world_open(&world);
    world_blackhole(&world, TLS_AT);
    upstreams[0] = want(&world, TLS_AT, &options);
    options.max_requests = 77; /* the sibling of this upstream equals the first one */
    by_itself = upstreams[0]->plain->options;
    upstreams[1] = want(&world, TLS_AT, &options);
    plain = want(&world, PLAIN_AT, &by_itself);
    assert_ptr_equal(plain, upstreams[0]->plain);
    settle(&world);
    fake_loop_advance(world.loop, 100 * MS);
    give_up(&world, upstreams[0]);
    assert_true(upstreams[0]->retiring && !plain->retiring);
    fake_loop_advance(world.loop, S);
    give_up(&world, upstreams[1]);
    assert_false(plain->retiring);
    fake_loop_advance(world.loop, S);
    assert_int_equal(count(&world), 1);
    give_up(&world, plain);
    fake_loop_advance(world.loop, S);
    assert_int_equal(count(&world), 0);
    world_close(&world);
}

/* The sibling existed before its opportunistic upstream. */
static void test_tls_retire_a_configured_sibling_goes_in_the_end(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options plain_options, options = opportunistic();
    world_open(&world);
    world_blackhole(&world, TLS_AT);
    struct upstream *first = want(&world, TLS_AT, &options);
    plain_options = first->plain->options;
    give_up(&world, first);
    fake_loop_advance(world.loop, S);
    assert_int_equal(count(&world), 0);
    struct upstream *plain = want(&world, PLAIN_AT, &plain_options);
    struct upstream *upstream = want(&world, TLS_AT, &options);
    assert_ptr_equal(upstream->plain, plain);
    upstreams_unwant(plain);
    settle(&world);
    assert_false(plain->retiring);
    upstreams_unwant(upstream);
    settle(&world);
    assert_true(plain->retiring);
    /* Both come back at once. */
    assert_ptr_equal(want(&world, TLS_AT, &options), upstream);
    assert_false(plain->retiring || upstream->retiring);
    settle(&world);
    assert_false(plain->retiring);
    give_up(&world, upstream);
    upstreams_drop(upstream);
    upstreams_drop(plain);
    fake_loop_advance(world.loop, S);
    assert_int_equal(count(&world), 0);
    world_close(&world);
}

/* ---- the handshake ---- */

static void test_tls_retire_gives_up_a_handshake(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.manner.trouble = FAKE_TLS_STALL;
    fixture_speak(&f);
    f.upstream = want(&f.world, TLS_AT, &options);
    settle(&f.world);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(f.world.stats.upstream_securing, 1);
    give_up(&f.world, f.upstream);
    assert_int_equal(f.world.stats.upstream_securing, 0);
    assert_int_equal(fake_net_open_sockets(f.world.net), 0);
    fake_loop_advance(f.world.loop, 10 * S);
    assert_int_equal(count(&f.world), 0);
    assert_int_equal(peer_dials(f.peer), 1);
    fixture_close_strict(&f);
}

static void test_tls_retire_a_query_in_early_data_has_its_answer(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    options.tls.early_data = true;
    options.nailed = false;
    options.idle_timeout_us = S;
    options.fallback = UPSTREAM_FALLBACK_NONE;
    fixture_open_server(&f, NULL);
    f.server.early = FAKE_EARLY_ACCEPT;
    fixture_speak(&f);
    f.upstream = want(&f.world, TLS_AT, &options);
    settle(&f.world);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 5 * S);
    assert_int_equal(f.world.stats.upstream_ready, 0);
    fake_server_set_latency(fake_peer_server(f.peer), 20 * MS);
    ask(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 45 * MS);
    assert_int_equal(f.world.stats.upstream_securing, 1);
    assert_int_equal(f.world.stats.upstream_in_flight, 1);
    upstreams_unwant(f.upstream);
    settle(&f.world);
    assert_int_equal(f.world.stats.upstream_securing, 1);
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(f.world.stats.upstream_early_data, 1);
    assert_int_equal(peer_dials(f.peer), 2);
    assert_int_equal(f.world.stats.upstream_ready, 0);
    upstreams_drop(f.upstream);
    fixture_close_strict(&f);
}

/* ---- contexts ---- */

/* Each setting has its own context, and the table has room for TLS_CONTEXTS_MAX. */
static void test_tls_retire_contexts_go_with_their_last_upstream(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    char path[TLS_CONTEXTS_MAX + 200];
    struct upstream *upstream = NULL;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    options.tls.ca_bundle = path;
    for (unsigned i = 0; i < TLS_CONTEXTS_MAX + 20; i++) {
        memset(path, '/', i);
        strcpy(path + i, world_tls()->ca_path);
        struct upstream *former = upstream;
        upstream = want(&f.world, TLS_AT, &options);
        if (former)
            give_up(&f.world, former);
        assert_non_null(upstream->secure.context);
        fake_loop_advance(f.world.loop, 20 * MS);
    }
    f.upstream = upstream;
    ask_and_wait(&asker, &f.world, "www.example", upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    fixture_close_strict(&f);
}

/* ---- files ---- */

struct files {
    struct tls_fixture f;
    struct tls_certs *other_ca;
};

static void write_file(const char *path, const char *pem)
{
    FILE *file = fopen(path, "w");
    assert_true(fputs(pem, file) >= 0 && fclose(file) == 0);
}

static void files_open(struct files *files, struct upstream_options *options)
{
    *options = strict();
    options->fallback = UPSTREAM_FALLBACK_NONE;
    options->tls.ca_bundle = tls_certs_file(tls_certs_pem(world_tls()->ca));
    files->other_ca = tls_certs_authority("Other CA");
    fixture_open(&files->f, NULL, options);
}

static void files_close(struct files *files, struct upstream_options *options)
{
    fixture_close_strict(&files->f);
    tls_certs_free(files->other_ca);
    unlink(options->tls.ca_bundle);
    free(options->tls.ca_bundle);
}

static void test_tls_retire_unchanged_files_change_nothing(void **state)
{
    (void)state;
    struct files files;
    struct upstream_options options;
    files_open(&files, &options);
    struct tls_context *context = files.f.upstream->secure.context;
    write_file(options.tls.ca_bundle, tls_certs_pem(world_tls()->ca));
    upstreams_read_files(files.f.world.upstreams);
    fake_loop_advance(files.f.world.loop, 10 * S);
    assert_ptr_equal(files.f.upstream->secure.context, context);
    assert_int_equal(peer_dials(files.f.peer), 1);
    files_close(&files, &options);
}

static void test_tls_retire_bad_files_change_nothing(void **state)
{
    (void)state;
    struct files files;
    struct asker asker;
    struct upstream_options options;
    files_open(&files, &options);
    write_file(options.tls.ca_bundle, "no certificate");
    for (int i = 0; i < 3; i++)
        upstreams_read_files(files.f.world.upstreams);
    unlink(options.tls.ca_bundle);
    upstreams_read_files(files.f.world.upstreams);
    assert_int_equal(peer_dials(files.f.peer), 1);
    fake_server_reset_all(fake_peer_server(files.f.peer)); /* the next dial uses the old files */
    fake_loop_advance(files.f.world.loop, 10 * S);
    assert_int_equal(peer_dials(files.f.peer), 2);
    ask_and_wait(&asker, &files.f.world, "www.example", files.f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    files_close(&files, &options);
}

static void test_tls_retire_changed_files_apply_to_the_next_connection(void **state)
{
    (void)state;
    struct files files;
    struct asker asker;
    struct upstream_options options;
    char both[8192];
    files_open(&files, &options);
    struct tls_rack *tickets = files.f.upstream->secure.tickets;
    snprintf(both, sizeof(both), "%s%s", tls_certs_pem(files.other_ca),
             tls_certs_pem(world_tls()->ca));
    write_file(options.tls.ca_bundle, both);
    upstreams_read_files(files.f.world.upstreams);
    assert_ptr_not_equal(files.f.upstream->secure.tickets, tickets);
    fake_loop_advance(files.f.world.loop, S); /* a new connection is made before the old one ends */
    assert_int_equal(peer_dials(files.f.peer), 2);
    assert_int_equal(files.f.world.stats.upstream_ready, 1);
    assert_int_equal(files.f.world.stats.upstream_closes_recycled, 1);
    assert_int_equal(files.f.world.stats.upstream_resumptions, 0);
    /* Without the authority that signed its certificate, the server is untrusted for every dial. */
    write_file(options.tls.ca_bundle, tls_certs_pem(files.other_ca));
    upstreams_read_files(files.f.world.upstreams);
    fake_loop_advance(files.f.world.loop, S);
    assert_true(files.f.world.stats.upstream_dials_tls_identity > 0);
    fake_server_reset_all(fake_peer_server(files.f.peer));
    fake_loop_advance(files.f.world.loop, S);
    ask_and_wait(&asker, &files.f.world, "www.example", files.f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    files_close(&files, &options);
}

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls_retire_an_upstream_owns_its_options),
        cmocka_unit_test(test_tls_retire_a_sibling_goes_with_its_opportunistic_upstream),
        cmocka_unit_test(test_tls_retire_a_sibling_that_is_wanted_by_others_stays),
        cmocka_unit_test(test_tls_retire_a_configured_sibling_goes_in_the_end),
        cmocka_unit_test(test_tls_retire_gives_up_a_handshake),
        cmocka_unit_test(test_tls_retire_a_query_in_early_data_has_its_answer),
        cmocka_unit_test(test_tls_retire_contexts_go_with_their_last_upstream),
        cmocka_unit_test(test_tls_retire_unchanged_files_change_nothing),
        cmocka_unit_test(test_tls_retire_bad_files_change_nothing),
        cmocka_unit_test(test_tls_retire_changed_files_apply_to_the_next_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
