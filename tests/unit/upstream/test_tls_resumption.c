/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Sessions of upstreams resume. A ticket serves once, and never across identities. */

#include "unit/upstream/tls_fixture.h"
#include "unit/upstream/source_list.h"

/* Replaces the newest connection by a new one, and returns the number of the new one. */
static size_t dial_again(struct tls_fixture *f)
{
    size_t dials = peer_dials(f->peer);
    fake_conn_close(peer_conn(f->peer, dials - 1));
    fake_loop_advance(f->world.loop, 50 * MS);
    struct asker asker;
    /* without a query, the pool would delay the dial after idle ends */
    ask_and_wait(&asker, &f->world, "www.example", f->upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(peer_dials(f->peer), dials + 1);
    return dials;
}

static void test_tls_resumption_follows_the_first_full_handshake(void **state)
{
    (void)state;
    static const enum fake_tls_version versions[] = {FAKE_TLS_1_2, FAKE_TLS_1_3};
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct tls_fixture f;
        struct upstream_options options = strict();
        fixture_open_server(&f, NULL);
        f.server.only = versions[i];
        fixture_speak(&f);
        fixture_dial(&f, &options);
        fake_loop_advance(f.world.loop, 100 * MS);
        assert_false(conn_facts(&f, 0)->offered_ticket);
        assert_false(conn_facts(&f, 0)->resumed);
        for (int j = 0; j < 10; j++)
            assert_true(conn_facts(&f, dial_again(&f))->resumed);
        assert_int_equal(f.world.stats.upstream_resumptions, 10);
        bool is_1_3 = versions[i] == FAKE_TLS_1_3;
        assert_int_equal(f.world.stats.upstream_tls12_full, !is_1_3);
        assert_int_equal(f.world.stats.upstream_tls12_resumed, is_1_3 ? 0 : 10);
        assert_int_equal(f.world.stats.upstream_tls13_full, is_1_3);
        assert_int_equal(f.world.stats.upstream_tls13_resumed, is_1_3 ? 10 : 0);
        assert_int_equal(f.world.stats.upstream_unauthenticated, 0);
        fixture_close_strict(&f);
    }
}

/* Recycling dials many connections, and all of them resume. */
static void test_tls_resumption_covers_the_dials_of_recycling(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    options.max_requests = 5;
    fixture_open(&f, NULL, &options);
    for (int i = 0; i < 100; i++)
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_true(peer_dials(f.peer) >= 20);
    for (size_t i = 1; i < peer_dials(f.peer); i++)
        assert_true(conn_facts(&f, i)->resumed || !conn_facts(&f, i)->finished);
    fixture_close_strict(&f);
}

/* The server gives one ticket, and the next dial spends it. */
static void test_tls_resumption_spends_its_ticket(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.only = FAKE_TLS_1_3;
    f.server.tickets = 1;
    fixture_speak(&f);
    fixture_dial(&f, &options);
    fake_loop_advance(f.world.loop, 100 * MS);
    f.server.manner = (struct fake_tls_manner){.trouble = FAKE_TLS_FIN, .after_bytes = 1};
    fixture_speak(&f);
    fake_conn_close(peer_conn(f.peer, 0));
    fake_loop_advance(f.world.loop, 10 * S);
    assert_true(peer_dials(f.peer) > 3);
    assert_true(conn_facts(&f, 1)->offered_ticket);
    for (size_t i = 2; i < peer_dials(f.peer); i++)
        assert_false(conn_facts(&f, i)->offered_ticket);
    fixture_close_strict(&f);
}

/* A dial that fails before TLS begins has not shown its ticket, which serves the next dial. */
static void test_tls_resumption_keeps_the_ticket_of_a_dial_that_failed(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.only = FAKE_TLS_1_3;
    f.server.tickets = 1;
    fixture_speak(&f);
    fixture_dial(&f, &options);
    fake_loop_advance(f.world.loop, 100 * MS);
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_REFUSE);
    fake_conn_close(peer_conn(f.peer, 0));
    fake_loop_advance(f.world.loop, 10 * S);
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_ACCEPT);
    fake_loop_advance(f.world.loop, 10 * S);
    assert_int_equal(f.world.stats.upstream_ready, 1);
    assert_true(conn_facts(&f, peer_dials(f.peer) - 1)->resumed);
    fixture_close_strict(&f);
}

/* Resets and alerts do not spoil tickets. */
static void test_tls_resumption_survives_a_reset(void **state)
{
    (void)state;
    for (int run = 0; run < 4; run++) {
        struct tls_fixture f;
        struct upstream_options options = strict();
        fixture_open_server(&f, NULL);
        f.server.only = run % 2 ? FAKE_TLS_1_2 : FAKE_TLS_1_3;
        fixture_speak(&f);
        fixture_dial(&f, &options);
        fake_loop_advance(f.world.loop, 100 * MS);
        if (run / 2)
            fake_conn_reset(peer_conn(f.peer, 0));
        else
            fake_conn_tls_alert(peer_conn(f.peer, 0));
        fake_loop_advance(f.world.loop, 10 * S);
        assert_true(peer_dials(f.peer) >= 2);
        assert_true(conn_facts(&f, 1)->resumed);
        fixture_close_strict(&f);
    }
}

/* A restarted server makes full handshakes. */
static void test_tls_resumption_forgotten_falls_back_to_full(void **state)
{
    (void)state;
    for (int v12 = 0; v12 < 2; v12++) {
        struct tls_fixture f;
        struct upstream_options options = strict();
        fixture_open_server(&f, NULL);
        f.server.only = v12 ? FAKE_TLS_1_2 : FAKE_TLS_1_3;
        f.server.forget_tickets = true;
        fixture_speak(&f);
        fixture_dial(&f, &options);
        fake_loop_advance(f.world.loop, 100 * MS);
        for (int i = 0; i < 10; i++) {
            fixture_speak(&f); /* the server forgets its tickets again */
            size_t number = dial_again(&f);
            assert_true(conn_facts(&f, number)->offered_ticket);
            assert_false(conn_facts(&f, number)->resumed);
        }
        assert_int_equal(f.world.stats.upstream_resumptions, 0);
        fixture_close_strict(&f);
    }
}

/* The server has another certificate. A full handshake shows it, and no ticket skips the check. */
static void test_tls_resumption_ends_with_a_check_of_the_certificate(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    struct tls_cert *other =
        tls_certs_make(&(struct tls_cert_wish){.ca = world_tls()->ca, .name = "other.test"});
    fixture_open(&f, NULL, &options);
    f.server.certificate = other->certificate;
    f.server.key = other->key;
    f.server.forget_tickets = true;
    fixture_speak(&f);
    fake_conn_close(peer_conn(f.peer, 0));
    fake_loop_advance(f.world.loop, S);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(asker.failure.error, ERR_TLS_NAME);
    assert_int_equal(fake_peer_queries(f.peer), 0);
    fixture_close_strict(&f);
    tls_certs_free_cert(other);
}

/* ---- across upstreams ---- */

/* Returns whether a second upstream with these options uses the tickets of the first one. */
static bool shares_with(const struct upstream_options *options, const char *addr)
{
    struct tls_fixture f;
    struct upstream_options first = strict();
    fixture_open(&f, NULL, &first);
    struct fake_peer *peer = f.peer;
    if (strcmp(addr, TLS_AT) != 0) {
        peer = world_peer(&f.world, addr, NULL, NULL);
        fake_peer_speak_tls(peer, &f.server);
    }
    size_t dials = peer_dials(peer);
    world_upstream(&f.world, addr, options);
    fake_loop_advance(f.world.loop, 30 * MS);
    assert_true(peer_dials(peer) > dials);
    bool offered = fake_conn_tls_facts(peer_conn(peer, dials))->offered_ticket;
    fixture_close_strict(&f);
    return offered;
}

static void test_tls_resumption_is_shared_by_the_same_identity(void **state)
{
    (void)state;
    struct upstream_options same = strict();
    same.max_requests = 77;
    assert_true(shares_with(&same, TLS_AT));
}

static void test_tls_resumption_is_never_shared_across_identities(void **state)
{
    (void)state;
    static char name[] = "other.test", groups[] = "P-256";
    struct upstream_options other = strict();
    struct sources *sources = source_list("10.9.9.9");
    char *ca_copy = tls_certs_file(tls_certs_pem(world_tls()->ca));
    struct tls_cert *ours = tls_certs_make(
        &(struct tls_cert_wish){.ca = world_tls()->ca, .name = "us.test", .client = true});
    struct {
        struct tls_pins pins;
        uint8_t room[TLS_PIN_BYTES];
    } pin = {.pins.count = 1};
    memcpy(pin.room, world_tls()->cert->pin, TLS_PIN_BYTES);

    assert_false(shares_with(&other, "10.1.1.1@8853"));
    assert_false(shares_with(&other, "10.1.1.2@853"));
    other.tls.auth_name = name;
    assert_false(shares_with(&other, TLS_AT));
    other = strict();
    other.tls.pins = &pin.pins;
    assert_false(shares_with(&other, TLS_AT));
    other = strict();
    other.tls.ca_bundle = ca_copy;
    assert_false(shares_with(&other, TLS_AT));
    other = opportunistic();
    assert_false(shares_with(&other, TLS_AT));
    other = strict();
    other.sources = sources;
    assert_false(shares_with(&other, TLS_AT));
    sources_unref(sources);
    other = strict();
    other.tls.groups = groups;
    assert_false(shares_with(&other, TLS_AT));
    other = strict();
    other.tls.certificate = other.tls.key = (char *)tls_certs_write(ours);
    assert_false(shares_with(&other, TLS_AT));
    tls_certs_free_cert(ours);
    unlink(ca_copy);
    free(ca_copy);
}

/* Two workers share one store. The first dial of the second worker uses a ticket of the first. */
static void test_tls_resumption_is_shared_by_workers(void **state)
{
    (void)state;
    struct tls_tickets *tickets = tls_tickets_new();
    struct upstream_options options = strict();
    for (int worker = 0; worker < 2; worker++) {
        struct tls_fixture f;
        struct asker asker;
        world_open_with(&f.world, tickets);
        f.server = world_tls_server();
        f.peer = world_peer(&f.world, TLS_AT, NULL, NULL);
        fixture_speak(&f);
        fixture_dial(&f, &options);
        fake_loop_advance(f.world.loop, 100 * MS);
        /* The server of the second loop does not know the ticket, so a full handshake follows. */
        assert_int_equal(conn_facts(&f, 0)->offered_ticket, worker == 1);
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        fixture_close_strict(&f);
    }
    tls_tickets_free(tickets);
}

static void test_tls_resumption_without_a_store_every_dial_is_full(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    upstreams_env(f.world.upstreams)->tickets = NULL;
    fixture_dial(&f, &options);
    fake_loop_advance(f.world.loop, 100 * MS);
    for (int i = 0; i < 3; i++)
        assert_false(conn_facts(&f, dial_again(&f))->offered_ticket);
    fixture_close_strict(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls_resumption_follows_the_first_full_handshake),
        cmocka_unit_test(test_tls_resumption_covers_the_dials_of_recycling),
        cmocka_unit_test(test_tls_resumption_spends_its_ticket),
        cmocka_unit_test(test_tls_resumption_keeps_the_ticket_of_a_dial_that_failed),
        cmocka_unit_test(test_tls_resumption_survives_a_reset),
        cmocka_unit_test(test_tls_resumption_forgotten_falls_back_to_full),
        cmocka_unit_test(test_tls_resumption_ends_with_a_check_of_the_certificate),
        cmocka_unit_test(test_tls_resumption_is_shared_by_the_same_identity),
        cmocka_unit_test(test_tls_resumption_is_never_shared_across_identities),
        cmocka_unit_test(test_tls_resumption_is_shared_by_workers),
        cmocka_unit_test(test_tls_resumption_without_a_store_every_dial_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
