/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/zone/zone_make.h"

#include "base/check.h"
#include "zone/zone_find.h"

/* The zone of RFC 4592 section 2.2.1, extended with cuts, aliases and proofs. */
static const char text[] = "$TTL 60\n"
                           "@ SOA ns me 1 2 3 4 5\n"
                           "@ NS ns\n"
                           "@ NSEC *.example.net. NS SOA\n"
                           "* TXT \"wildcard\"\n"
                           "* MX 10 host1\n"
                           "* NSEC alias.example.net. TXT MX\n"
                           "sub.* TXT \"not a wildcard\"\n"
                           "alias CNAME host1\n"
                           "alias NSEC host1.example.net. CNAME\n"
                           "host1 A 192.0.2.1\n"
                           "host1 NSEC subdel.example.net. A\n"
                           "_ssh._tcp.host1 SRV 0 0 22 host1\n"
                           "*.ent.only TXT \"below\"\n"
                           "subdel NS ns.subdel\n"
                           "subdel NSEC example.net. NS\n"
                           "ns.subdel A 192.0.2.2\n"
                           "deep.ns.subdel NS elsewhere.\n"
                           "moved DNAME new\n"
                           "moved A 192.0.2.3\n";

static struct zone_data *data;

static int load(void **state)
{
    (void)state;
    data = zone_make("example.net", text);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    zone_data_unref(data);
    return 0;
}

static struct zone_match find(const char *name, uint16_t type)
{
    struct zone_match match;
    zone_find(data, zone_make_name(name), type, &match);
    return match;
}

static void assert_node(const struct zone_match *match, enum zone_found kind, const char *owner)
{
    assert_int_equal(match->kind, kind);
    if (owner)
        assert_true(name_equal(zone_find_owner(data, match->node), zone_make_name(owner)));
    else
        assert_int_equal(match->node, ZONE_NODE_NONE);
}

static void test_names_of_the_zone_are_found(void **state)
{
    (void)state;
    struct zone_match match = find("HOST1.example.net", RRTYPE_A);
    assert_node(&match, ZONE_FOUND_DATA, "host1.example.net");
    match = find("host1.example.net", RRTYPE_AAAA);
    assert_node(&match, ZONE_FOUND_NODATA, "host1.example.net");
    match = find("example.net", RRTYPE_NS);
    assert_node(&match, ZONE_FOUND_DATA, "example.net");
    match = find("example.net", RRTYPE_DS);
    assert_node(&match, ZONE_FOUND_NODATA, "example.net");
    match = find("alias.example.net", RRTYPE_A);
    assert_node(&match, ZONE_FOUND_ALIAS, "alias.example.net");
    match = find("alias.example.net", RRTYPE_CNAME);
    assert_node(&match, ZONE_FOUND_DATA, "alias.example.net");
    assert_false(match.is_wildcard);
}

static void test_wildcards_follow_rfc_4592(void **state)
{
    (void)state;
    struct zone_match match = find("host3.example.net", RRTYPE_MX);
    assert_node(&match, ZONE_FOUND_DATA, "*.example.net");
    assert_true(match.is_wildcard);
    assert_true(name_equal(match.encloser, zone_make_name("example.net")));
    match = find("host3.example.net", RRTYPE_A);
    assert_node(&match, ZONE_FOUND_NODATA, "*.example.net");
    assert_true(match.is_wildcard);
    match = find("foo.bar.example.net", RRTYPE_TXT);
    assert_node(&match, ZONE_FOUND_DATA, "*.example.net");
    match = find("host1.example.net", RRTYPE_MX);
    assert_node(&match, ZONE_FOUND_NODATA, "host1.example.net");
    match = find("sub.*.example.net", RRTYPE_MX);
    assert_node(&match, ZONE_FOUND_NODATA, "sub.*.example.net");
    match = find("*.example.net", RRTYPE_TXT);
    assert_node(&match, ZONE_FOUND_DATA, "*.example.net");
    assert_false(match.is_wildcard);
    match = find("_telnet._tcp.host1.example.net", RRTYPE_SRV);
    assert_node(&match, ZONE_FOUND_NXDOMAIN, NULL);
    assert_true(name_equal(match.encloser, zone_make_name("_tcp.host1.example.net")));
    match = find("ghost.*.example.net", RRTYPE_MX);
    assert_node(&match, ZONE_FOUND_NXDOMAIN, NULL);
    assert_true(name_equal(match.encloser, zone_make_name("*.example.net")));
}

static void test_names_with_only_names_below_exist(void **state)
{
    (void)state;
    struct zone_match match = find("_tcp.host1.example.net", RRTYPE_A);
    assert_node(&match, ZONE_FOUND_NODATA, NULL);
    assert_false(match.is_wildcard);
    match = find("only.example.net", RRTYPE_TXT);
    assert_node(&match, ZONE_FOUND_NODATA, NULL);
    match = find("x.ent.only.example.net", RRTYPE_TXT);
    assert_node(&match, ZONE_FOUND_DATA, "*.ent.only.example.net");
}

static void test_the_topmost_cut_covers_everything_below(void **state)
{
    (void)state;
    static const char *const names[] = {"subdel.example.net", "x.subdel.example.net",
                                        "ns.subdel.example.net", "a.deep.ns.subdel.example.net"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct zone_match match = find(names[i], RRTYPE_A);
        assert_node(&match, ZONE_FOUND_REFERRAL, "subdel.example.net");
    }
    struct zone_match match = find("subdel.example.net", RRTYPE_DS);
    assert_node(&match, ZONE_FOUND_NODATA, "subdel.example.net");
    match = find("x.subdel.example.net", RRTYPE_DS);
    assert_node(&match, ZONE_FOUND_REFERRAL, "subdel.example.net");
}

static void test_a_dname_moves_the_names_below_it_only(void **state)
{
    (void)state;
    struct zone_match match = find("a.b.moved.example.net", RRTYPE_A);
    assert_node(&match, ZONE_FOUND_DNAME, "moved.example.net");
    match = find("moved.example.net", RRTYPE_A);
    assert_node(&match, ZONE_FOUND_DATA, "moved.example.net");
    match = find("moved.example.net", RRTYPE_MX);
    assert_node(&match, ZONE_FOUND_NODATA, "moved.example.net");
}

static void test_the_nsec_record_before_a_name_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *name, *owner;
    } rows[] = {
        {"_telnet._tcp.host1.example.net", "host1.example.net"},
        {"zzz.subdel.example.net", "subdel.example.net"},
        {"zzz.example.net", "subdel.example.net"},
        {"ghost.*.example.net", "*.example.net"},
        {"!.example.net", "example.net"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct zone_match match = find(rows[i].name, RRTYPE_A);
        uint32_t node = zone_find_nsec(data, match.before);
        assert_true(name_equal(zone_find_owner(data, node), zone_make_name(rows[i].owner)));
    }
    uint32_t node = zone_find_wildcard_nsec(data, zone_make_name("_tcp.host1.example.net"));
    assert_true(name_equal(zone_find_owner(data, node), zone_make_name("host1.example.net")));
}

/* A signer that goes from NSEC to NSEC3 adds many owners of hashes before it changes NSEC3PARAM. */
static void test_the_nsec_record_is_found_behind_any_number_of_hashes(void **state)
{
    (void)state;
    char records[8192] = "$TTL 1\n@ SOA . . 1 2 3 4 5\n@ NSEC c A\nc NSEC z A\nz NSEC @ DNAME\n"
                         "z DNAME d\nbelow.z NSEC @ A\n";
    for (unsigned i = 0; i < 40; i++) {
        char line[80];
        snprintf(line, sizeof(line), "d%02u NSEC3 1 0 0 - 00000000000000000000000000000000 A\n", i);
        strcat(records, line);
    }
    struct zone_data *zone = zone_make("n", records);
    static const char *const rows[][2] = {
        {"a.n", "n"}, {"c.n", "c.n"}, {"dz.n", "c.n"}, {"d20.n", "c.n"}, {"q.below.z.n", "z.n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct zone_match match;
        zone_find(zone, zone_make_name(rows[i][0]), RRTYPE_A, &match);
        uint32_t node = zone_find_nsec(zone, match.before);
        assert_int_not_equal(node, ZONE_NODE_NONE);
        assert_true(name_equal(zone_find_owner(zone, node), zone_make_name(rows[i][1])));
    }
    zone_data_unref(zone);
}

static void test_unsigned_zones_have_no_proofs(void **state)
{
    (void)state;
    struct zone_data *plain = zone_make("n", "@ 1 SOA . . 1 2 3 4 5\nb A 192.0.2.1\n");
    bool is_match;
    assert_int_equal(zone_find_nsec(plain, 1), ZONE_NODE_NONE);
    assert_int_equal(zone_find_nsec3(plain, zone_make_name("x.n"), &is_match), ZONE_NODE_NONE);
    zone_data_unref(plain);
}

static void test_nsec3_records_form_a_ring(void **state)
{
    (void)state;
    struct zone_data *zone =
        zone_make("n", "$TTL 1\n@ SOA . . 1 2 3 4 5\n@ NSEC3PARAM 1 0 0 -\nmiddle A 192.0.2.1\n"
                       "c0 NSEC3 1 0 0 - 00000000000000000000000000000000 A\n"
                       "v0 NSEC3 1 0 0 - 00000000000000000000000000000000 A\n"
                       "x.deep NSEC3 1 0 0 - 00000000000000000000000000000000 A\n");
    static const struct {
        const char *name, *owner;
        bool is_match;
    } rows[] = {
        {"c0.n", "c0.n", true}, {"C0.n", "c0.n", true}, {"m.n", "c0.n", false},
        {"z.n", "v0.n", false}, {"a.n", "v0.n", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool is_match;
        uint32_t node = zone_find_nsec3(zone, zone_make_name(rows[i].name), &is_match);
        assert_true(name_equal(zone_find_owner(zone, node), zone_make_name(rows[i].owner)));
        assert_int_equal(is_match, rows[i].is_match);
    }
    zone_data_unref(zone);
}

static void test_the_owner_of_a_hash_is_no_name_of_the_zone(void **state)
{
    (void)state;
    static const uint16_t types[] = {RRTYPE_A, RRTYPE_NSEC3};
    struct zone_match match;
    struct zone_data *hashed =
        zone_make("n", "$TTL 1\n@ SOA . . 1 2 3 4 5\n@ NSEC3PARAM 1 0 0 -\n* TXT \"wildcard\"\n"
                       "c0 NSEC3 1 0 0 - 00000000000000000000000000000000 A\n"
                       "c0 RRSIG NSEC3 13 2 1 20400101000000 20200101000000 1 n. AAAA\n"
                       "v0 NSEC3 1 0 0 - 00000000000000000000000000000000 A\nv0 A 192.0.2.1\n");
    static const char *const names[] = {"c0.n", "below.c0.n"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t j = 0; j < ARRAY_LEN(types); j++) {
            zone_find(hashed, zone_make_name(names[i]), types[j], &match);
            assert_int_equal(match.kind, ZONE_FOUND_NODATA);
            assert_true(match.is_wildcard);
            assert_true(name_equal(match.encloser, zone_make_name("n")));
        }
    zone_find(hashed, zone_make_name("c0.n"), RRTYPE_TXT, &match);
    assert_int_equal(match.kind, ZONE_FOUND_DATA);
    assert_true(match.is_wildcard);
    zone_find(hashed, zone_make_name("v0.n"), RRTYPE_A, &match); /* this name has data */
    assert_int_equal(match.kind, ZONE_FOUND_DATA);
    assert_false(match.is_wildcard);
    zone_data_unref(hashed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_the_zone_are_found),
        cmocka_unit_test(test_wildcards_follow_rfc_4592),
        cmocka_unit_test(test_names_with_only_names_below_exist),
        cmocka_unit_test(test_the_topmost_cut_covers_everything_below),
        cmocka_unit_test(test_a_dname_moves_the_names_below_it_only),
        cmocka_unit_test(test_the_nsec_record_before_a_name_is_found),
        cmocka_unit_test(test_the_nsec_record_is_found_behind_any_number_of_hashes),
        cmocka_unit_test(test_unsigned_zones_have_no_proofs),
        cmocka_unit_test(test_nsec3_records_form_a_ring),
        cmocka_unit_test(test_the_owner_of_a_hash_is_no_name_of_the_zone),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
