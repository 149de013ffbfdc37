/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/transfer/xfr_play.h"

#include "config/config.h"
#include "daemon/zone_notify.h"

#define NOW 1800000000U

static char no_file[] = "", some_file[] = "/z";

struct world {
    struct config config;
    struct config_auth_zone zone;
    struct xfr_primary servers[2];
    struct prefix other_hosts;
    struct tsig_key key;
    uint8_t query[PLAY_MESSAGE_MAX];
    size_t len;
};

/* The primary 192.0.2.1 has no key, and 192.0.2.2 has one. 192.0.2.128/25 may notify. */
static void world_begin(struct world *world)
{
    memset(world, 0, sizeof(*world));
    struct name zone = name_copy(NAME("example.com"), world->zone.wire);
    world->zone.name_len = zone.len;
    assert_int_equal(addr_parse(&world->servers[0].addr, "192.0.2.1", 53), ERR_OK);
    assert_int_equal(addr_parse(&world->servers[1].addr, "192.0.2.2", 53), ERR_OK);
    assert_int_equal(tsig_key_make(&world->key, NAME("k"), "hmac-sha256", BYTES("secret")), ERR_OK);
    assert_int_equal(prefix_parse(&world->other_hosts, "192.0.2.128/25"), ERR_OK);
    world->servers[1].key = &world->key;
    world->zone.file = no_file;
    world->zone.source.servers = world->servers;
    world->zone.source.primary_count = 2;
    world->zone.source.allow_notify.list = &world->other_hosts;
    world->zone.source.allow_notify.count = 1;
    world->config.auth_zones = &world->zone;
    world->config.auth_zone_count = 1;
    world->len = play_message(world->query, RRTYPE_SOA, "S5");
    header_set_flags(world->query, HEADER_AA);
    header_set_opcode(world->query, OPCODE_NOTIFY);
}

static void sign(struct world *world, const struct tsig_key *key, uint64_t now_s)
{
    struct tsig_exchange exchange;
    assert_int_equal(tsig_exchange_begin(&exchange, key), ERR_OK);
    world->len = tsig_sign_query(&exchange, world->query, world->len, sizeof(world->query), now_s);
    assert_true(world->len > 0);
    tsig_exchange_end(&exchange);
}

/* Returns the rcode of the reply, or -1 if there is no reply. */
static int judge(struct world *world, const char *from, bool *is_taken, bool *is_signed)
{
    struct addr addr;
    struct xfr_notify notify;
    uint8_t out[1024];
    assert_int_equal(addr_parse(&addr, from, 4321), ERR_OK);
    size_t len = zone_notify_judge(&world->config, span_of(world->query, world->len), &addr, NOW,
                                   &notify, is_taken, out, sizeof(out));
    if (len == 0)
        return -1;
    struct message message = sample_parse(span_of(out, len));
    assert_int_equal(message.id, PLAY_ID);
    *is_signed = message.has_tsig;
    return message_rcode(&message);
}

static void expect(struct world *world, const char *from, int rcode, bool wants_signature)
{
    bool is_taken, is_signed = false;
    assert_int_equal(judge(world, from, &is_taken, &is_signed), rcode);
    assert_int_equal(is_taken, rcode == RCODE_NOERROR);
    assert_int_equal(is_signed, wants_signature);
}

static void test_primaries_and_allowed_hosts_may_notify(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    expect(&world, "192.0.2.1", RCODE_NOERROR, false);
    expect(&world, "192.0.2.200", RCODE_NOERROR, false);
    expect(&world, "192.0.2.3", RCODE_REFUSED, false);
    expect(&world, "2001:db8::1", RCODE_REFUSED, false);
}

static void test_a_primary_with_a_key_must_sign(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    expect(&world, "192.0.2.2", RCODE_REFUSED, false);
    sign(&world, &world.key, NOW);
    expect(&world, "192.0.2.2", RCODE_NOERROR, true);
    expect(&world, "192.0.2.200", RCODE_NOERROR, true);
    /* nailup does not check a signature of an unlisted host */
    expect(&world, "192.0.2.3", RCODE_REFUSED, false);
    expect(&world, "192.0.2.1", RCODE_NOTAUTH, false); /* this primary has no such key */
}

static void test_wrong_signatures_are_refused(void **state)
{
    (void)state;
    struct tsig_key other;
    struct world world;
    assert_int_equal(tsig_key_make(&other, NAME("k"), "hmac-sha256", BYTES("other")), ERR_OK);
    world_begin(&world);
    sign(&world, &other, NOW);
    expect(&world, "192.0.2.2", RCODE_NOTAUTH, true);
    world_begin(&world);
    sign(&world, &world.key, NOW - TSIG_FUDGE_S - 1);
    expect(&world, "192.0.2.2", RCODE_NOTAUTH, true);
    assert_int_equal(tsig_key_make(&other, NAME("l"), "hmac-sha256", BYTES("secret")), ERR_OK);
    world_begin(&world);
    sign(&world, &other, NOW);
    expect(&world, "192.0.2.2", RCODE_NOTAUTH, false);
}

static void test_other_zones_and_zones_of_files_are_not_ours(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.zone.source.primary_count = 0;
    expect(&world, "192.0.2.1", RCODE_NOTAUTH, false);
    world_begin(&world);
    world.query[13] = 'f';
    expect(&world, "192.0.2.1", RCODE_NOTAUTH, false);
}

/* The keeper drops a NOTIFY of a zone that no catalog lists. */
static void test_primaries_of_a_catalog_may_notify_its_members(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    struct config_rpz_zone catalog = {
        .source = world.zone.source, .file = no_file, .catalog = true};
    struct name name = name_copy(NAME("cat.example"), catalog.options.wire);
    catalog.options.name_len = name.len;
    world.config.auth_zone_count = 0;
    world.config.rpz.zones = &catalog;
    world.config.rpz.count = 1;
    expect(&world, "192.0.2.1", RCODE_NOERROR, false);
    expect(&world, "192.0.2.129", RCODE_NOERROR, false);
    expect(&world, "192.0.2.3", RCODE_NOTAUTH, false);
    /* unsigned, although the primary has a key */
    expect(&world, "192.0.2.2", RCODE_REFUSED, false);
    catalog.catalog = false;
    expect(&world, "192.0.2.1", RCODE_NOTAUTH, false);
}

static void test_primaries_of_a_catalog_of_auth_zones_may_notify_its_members(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.zone.name_len = name_copy(NAME("cat.example"), world.zone.wire).len;
    expect(&world, "192.0.2.1", RCODE_NOTAUTH, false);
    world.zone.catalog = true;
    /* the catalog comes from the file, and its members from the primaries */
    world.zone.file = some_file;
    expect(&world, "192.0.2.1", RCODE_NOERROR, false);
    expect(&world, "192.0.2.3", RCODE_NOTAUTH, false);
    /* unsigned, although the primary has a key */
    expect(&world, "192.0.2.2", RCODE_REFUSED, false);
}

static void test_the_key_tells_two_catalogs_of_one_primary_apart(void **state)
{
    (void)state;
    struct world world;
    struct tsig_key second;
    struct xfr_primary server;
    world_begin(&world);
    assert_int_equal(tsig_key_make(&second, NAME("k2"), "hmac-sha256", BYTES("two")), ERR_OK);
    server = world.servers[1];
    server.key = &second;
    struct config_auth_zone zones[2] = {world.zone, world.zone};
    zones[0].name_len = name_copy(NAME("cat.example"), zones[0].wire).len;
    zones[1].name_len = name_copy(NAME("dog.example"), zones[1].wire).len;
    zones[0].catalog = zones[1].catalog = true;
    zones[1].source.servers = &server;
    zones[1].source.primary_count = 1;
    world.config.auth_zones = zones;
    world.config.auth_zone_count = 2;
    sign(&world, &second, NOW);
    expect(&world, "192.0.2.2", RCODE_NOERROR, true);
    zones[1].catalog = false;
    expect(&world, "192.0.2.2", RCODE_NOTAUTH, false);
}

static void test_a_catalog_from_a_file_has_no_primary_itself(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.zone.file = some_file;
    expect(&world, "192.0.2.1", RCODE_NOTAUTH, false);
}

static void test_other_messages_get_no_reply_here(void **state)
{
    (void)state;
    struct world world;
    bool is_taken, is_signed;
    world_begin(&world);
    header_set_opcode(world.query, OPCODE_UPDATE);
    assert_int_equal(judge(&world, "192.0.2.1", &is_taken, &is_signed), -1);
    assert_false(is_taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primaries_and_allowed_hosts_may_notify),
        cmocka_unit_test(test_a_primary_with_a_key_must_sign),
        cmocka_unit_test(test_wrong_signatures_are_refused),
        cmocka_unit_test(test_other_zones_and_zones_of_files_are_not_ours),
        cmocka_unit_test(test_primaries_of_a_catalog_may_notify_its_members),
        cmocka_unit_test(test_primaries_of_a_catalog_of_auth_zones_may_notify_its_members),
        cmocka_unit_test(test_the_key_tells_two_catalogs_of_one_primary_apart),
        cmocka_unit_test(test_a_catalog_from_a_file_has_no_primary_itself),
        cmocka_unit_test(test_other_messages_get_no_reply_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
