/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Tickets belong to an identity. A difference in any part of it means another rack. */

#include "unit/upstream/tls_fixture.h"

#include "unit/upstream/source_list.h"

#include "tls/tls_contexts.h"
#include "tls/tls_tickets.h"
#include "upstream/secure.h"

struct racks {
    struct upstream_env env;
    struct addr addr;
};

static void racks_open(struct racks *racks)
{
    *racks = (struct racks){.addr = fake_addr(TLS_AT)};
    racks->env.tickets = tls_tickets_new();
}

static void racks_close(struct racks *racks)
{
    tls_contexts_free(racks->env.contexts);
    tls_tickets_free(racks->env.tickets);
}

static struct tls_rack *rack_of(struct racks *racks, const struct upstream_options *options)
{
    struct secure secure;
    secure_init(&secure, &racks->env, &racks->addr, options);
    return secure.tickets;
}

static struct tls_pins *pins_of(size_t count, uint8_t first)
{
    struct tls_pins *pins = calloc(1, sizeof(*pins) + count * TLS_PIN_BYTES);
    pins->count = count;
    for (size_t i = 0; i < count; i++)
        memset(pins->sha256[i], (int)(first + i), TLS_PIN_BYTES);
    return pins;
}

static void test_secure_the_same_identity_has_the_same_rack(void **state)
{
    (void)state;
    struct racks racks;
    struct upstream_options a = strict(), b = strict();
    char name[] = "dns.test", empty[] = "";
    racks_open(&racks);
    b.tls.auth_name = name; /* the same text, stored elsewhere */
    b.tls.certificate = empty;
    b.max_requests = 7; /* not part of the identity */
    b.tls.early_data = true;
    assert_non_null(rack_of(&racks, &a));
    assert_ptr_equal(rack_of(&racks, &a), rack_of(&racks, &b));
    racks_close(&racks);
}

enum { IDENTITIES = 17 };

/* Makes identities that all differ in at least one part. Some would look the same without
 * separators between the parts. */
static void make_identities(struct upstream_options all[IDENTITIES], struct tls_pins *pins[4],
                            struct sources *sources[2])
{
    static char other[] = "other.test", a[] = "a", b[] = "b", ab[] = "ab";
    for (int i = 0; i < IDENTITIES; i++)
        all[i] = strict();
    all[1].tls.auth_name = other;
    all[2].tls.auth_name = NULL;
    all[3].tls.profile = TLS_OPPORTUNISTIC;
    all[4].tls.ca_bundle = NULL;
    for (int i = 0; i < 4; i++)
        all[5 + i].tls.pins = pins[i];
    all[9].sources = sources[0];
    all[10].sources = sources[1];
    all[11].tls.certificate = ab;
    all[12].tls.certificate = a;
    all[12].tls.key = b;
    all[13].tls.key = ab;
    all[14].tls.ciphers = ab;
    all[15].tls.groups = ab;
    all[16].tls.ciphers = a;
    all[16].tls.groups = b;
}

static void test_secure_different_identities_have_different_racks(void **state)
{
    (void)state;
    struct racks racks;
    struct upstream_options all[IDENTITIES];
    struct tls_rack *found[IDENTITIES];
    struct sources *sources[2] = {source_list("10.9.9.9"), source_list("10.9.9.10 10.9.9.9")};
    struct tls_pins *pins[4] = {pins_of(1, 1), pins_of(1, 2), pins_of(2, 1), pins_of(16, 1)};
    racks_open(&racks);
    make_identities(all, pins, sources);
    for (int i = 0; i < IDENTITIES; i++) {
        found[i] = rack_of(&racks, &all[i]);
        assert_non_null(found[i]);
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(found[i], found[j]);
    }
    for (int i = 0; i < IDENTITIES; i++) /* the second search finds the same racks */
        assert_ptr_equal(found[i], rack_of(&racks, &all[i]));
    racks_close(&racks);
    for (int i = 0; i < 4; i++)
        free(pins[i]);
    for (int i = 0; i < 2; i++)
        sources_unref(sources[i]);
}

/* An old ticket must not outlive an authority that has gone from the file. */
static void test_secure_a_changed_file_has_another_rack(void **state)
{
    (void)state;
    struct racks racks;
    struct tls_rack *found[2];
    struct tls_certs *ca[2] = {tls_certs_authority("old"), tls_certs_authority("new")};
    struct upstream_options options = strict();
    racks_open(&racks);
    options.tls.ca_bundle = tls_certs_file(tls_certs_pem(ca[0]));
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(options.tls.ca_bundle, "w");
        assert_true(fputs(tls_certs_pem(ca[i]), file) >= 0 && fclose(file) == 0);
        tls_contexts_free(racks.env.contexts); /* as a restart does */
        racks.env.contexts = NULL;
        found[i] = rack_of(&racks, &options);
        assert_ptr_equal(found[i], rack_of(&racks, &options));
        tls_certs_free(ca[i]);
    }
    assert_ptr_not_equal(found[0], found[1]);
    unlink(options.tls.ca_bundle);
    free(options.tls.ca_bundle);
    racks_close(&racks);
}

static void test_secure_addresses_and_ports_have_different_racks(void **state)
{
    (void)state;
    static const char *const addrs[] = {TLS_AT, "10.1.1.1@8853", "10.1.1.2@853", "::1@853",
                                        "fe80::1%lo@853"};
    struct racks racks;
    struct tls_rack *found[ARRAY_LEN(addrs)];
    struct upstream_options options = strict();
    racks_open(&racks);
    for (size_t i = 0; i < ARRAY_LEN(addrs); i++) {
        if (addr_parse(&racks.addr, addrs[i], 853)) /* this machine does not have that interface */
            continue;
        found[i] = rack_of(&racks, &options);
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(found[i], found[j]);
    }
    racks_close(&racks);
}

/* A truncated key might equal another identity's. */
static void test_secure_a_key_that_is_too_long_means_no_tickets(void **state)
{
    (void)state;
    static char path[TLS_RACK_KEY_MAX + 2];
    struct racks racks;
    struct upstream_options options = strict();
    racks_open(&racks);
    options.tls.certificate = path;
    struct tls_rack *none = rack_of(&racks, &options);
    size_t whole = 0;
    for (size_t len = TLS_RACK_KEY_MAX - 300; len <= TLS_RACK_KEY_MAX + 1; len++) {
        memset(path, 'x', len);
        struct tls_rack *rack = rack_of(&racks, &options);
        assert_ptr_not_equal(rack, none);
        whole += rack != NULL;
        /* only other parts can exceed the bound */
        assert_true(rack != NULL || len > TLS_RACK_KEY_MAX - 200);
    }
    assert_true(whole > 50);
    assert_null(rack_of(&racks, &options));
    options.tls.groups = path; /* other parts are long, and none may be left out */
    options.tls.certificate = NULL;
    assert_null(rack_of(&racks, &options));
    racks_close(&racks);
}

static void test_secure_without_a_store_there_are_no_tickets(void **state)
{
    (void)state;
    struct racks racks = {.addr = fake_addr(TLS_AT)};
    struct upstream_options options = strict();
    assert_null(rack_of(&racks, &options));
    racks_close(&racks);
}

/* The log gives advice for each failure of TLS. */
static void test_secure_gives_advice_for_failures_that_an_operator_can_fix(void **state)
{
    (void)state;
    static const enum err mendable[] = {ERR_TLS_NOT_SPOKEN, ERR_TLS_CLOSED,  ERR_TLS_SILENT,
                                        ERR_TLS_ALERT,      ERR_TLS_EXPIRED, ERR_TLS_UNTRUSTED,
                                        ERR_TLS_NAME,       ERR_TLS_PIN,     ERR_TLS_ALPN};
    for (size_t i = 0; i < ARRAY_LEN(mendable); i++) {
        assert_true(secure_advice(mendable[i])[0] == ';');
        for (size_t j = 0; j < i; j++)
            if (mendable[i] != ERR_TLS_SILENT) /* this failure looks like a closed connection */
                assert_string_not_equal(secure_advice(mendable[i]), secure_advice(mendable[j]));
    }
    assert_string_equal(secure_advice(ERR_REFUSED), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secure_the_same_identity_has_the_same_rack),
        cmocka_unit_test(test_secure_different_identities_have_different_racks),
        cmocka_unit_test(test_secure_a_changed_file_has_another_rack),
        cmocka_unit_test(test_secure_addresses_and_ports_have_different_racks),
        cmocka_unit_test(test_secure_a_key_that_is_too_long_means_no_tickets),
        cmocka_unit_test(test_secure_without_a_store_there_are_no_tickets),
        cmocka_unit_test(test_secure_gives_advice_for_failures_that_an_operator_can_fix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
