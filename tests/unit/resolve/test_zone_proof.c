/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The NSEC3 records that prove an answer of a zone held here. System tests compare whole answers
 * with those of NSD. */
#include "unit/zone/zone_make.h"

#include "base/check.h"
#include "resolve/zone_proof.h"
#include "validate/nsec3.h"
#include "validate/verify.h"
#include "zone/zone_find.h"

/* The text of a zone, and records are added to its end. */
struct text {
    char bytes[8192];
    size_t len;
};

static void text_add(struct text *text, const char *line)
{
    size_t len = strlen(line);
    assert_true(text->len + len < sizeof(text->bytes));
    memcpy(text->bytes + text->len, line, len + 1);
    text->len += len;
}

/* Writes the owner of the NSEC3 record of a name. */
static struct name hashed(const char *name, unsigned iterations, uint8_t wire[NAME_WIRE_MAX])
{
    uint8_t hash[VERIFY_NSEC3_HASH];
    struct name plain = zone_make_name(name), owner;
    assert_true(verify_nsec3_hash(hash, span_of(plain.wire, plain.len), (struct span){0},
                                  (uint16_t)iterations));
    assert_true(nsec3_write_owner(wire, hash, zone_make_name("n"), &owner));
    return owner;
}

/* Adds an NSEC3 record for each name. The next owners do not matter to the server. */
static void text_add_chain(struct text *text, const char *const *names, size_t count,
                           unsigned iterations)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t wire[NAME_WIRE_MAX];
        char owner[NAME_TEXT_MAX], line[NAME_TEXT_MAX + 80];
        name_format(hashed(names[i], iterations, wire), owner);
        snprintf(line, sizeof(line), "%s NSEC3 1 1 %u - 00000000000000000000000000000000 A\n",
                 owner, iterations);
        text_add(text, line);
    }
}

static void prove(struct zone_proof *proof, const struct zone_data *zone, const char *name)
{
    struct zone_match match;
    unsigned units = 16;
    zone_find(zone, zone_make_name(name), RRTYPE_A, &match);
    zone_proof_find(proof, zone, zone_make_name(name), &match, &units);
    assert_int_equal(proof->type, RRTYPE_NSEC3);
}

static bool has_record_of(const struct zone_proof *proof, const struct zone_data *zone,
                          const char *name)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name owner = hashed(name, 0, wire);
    for (unsigned i = 0; i < proof->count; i++)
        if (name_equal(zone_find_owner(zone, proof->nodes[i]), owner))
            return true;
    return false;
}

static void assert_chain(const struct zone_proof *proof, const struct zone_data *zone,
                         unsigned iterations)
{
    for (unsigned i = 0; i < proof->count; i++) {
        struct zone_rrset rrset;
        struct span rdata;
        assert_true(zone_find_rrset(zone, proof->nodes[i], RRTYPE_NSEC3, &rrset));
        assert_true(zone_rrset_next(&rrset, &rdata));
        assert_int_equal(get_u16(rdata.data + 2), iterations);
    }
}

/* A signer adds the records of a new chain one after the other before it changes NSEC3PARAM. */
static void test_records_of_another_chain_prove_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"n", "a.n", "b.n", "c.n", "d.n", "e.n"};
    static const char *const params[] = {
        "@ NSEC3PARAM 1 0 0 -\n",
        "@ NSEC3PARAM 1 0 0 -\n@ NSEC3PARAM 1 0 9 -\n",
        "@ NSEC3PARAM 1 1 9 -\n@ NSEC3PARAM 2 0 9 -\n@ NSEC3PARAM 1 0 0 -\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        struct text text = {.len = 0};
        text_add(&text, "$TTL 1\n@ SOA . . 1 2 3 4 5\na A 192.0.2.1\n");
        text_add(&text, params[i]);
        text_add_chain(&text, names, ARRAY_LEN(names), 0);
        text_add_chain(&text, names, ARRAY_LEN(names), 9);
        struct zone_data *zone = zone_make("n", text.bytes);
        for (char c = 'f'; c <= 'z'; c++) {
            struct zone_proof proof;
            prove(&proof, zone, (const char[]){c, '.', 'n', 0});
            assert_true(has_record_of(&proof, zone, "n"));
            assert_chain(&proof, zone, 0);
        }
        zone_data_unref(zone);
    }
}

/* Opt-out leaves out the records of b.n and of d.b.n, because only an insecure cut is below them.
 */
static void test_a_name_below_one_without_record_has_a_provable_encloser(void **state)
{
    (void)state;
    static const char *const names[] = {"n",   "a.n", "f.n", "g.n", "h.n", "i.n", "j.n", "k.n",
                                        "l.n", "m.n", "o.n", "p.n", "q.n", "r.n", "s.n", "t.n"};
    static const char *const missing[] = {"c.b.n", "e.c.b.n", "c.d.b.n", "x.n"};
    struct text text = {.len = 0};
    text_add(&text, "$TTL 1\n@ SOA . . 1 2 3 4 5\n@ NSEC3PARAM 1 0 0 -\na A 192.0.2.1\n"
                    "a.d.b NS ns.elsewhere.\n");
    text_add_chain(&text, names, ARRAY_LEN(names), 0);
    struct zone_data *zone = zone_make("n", text.bytes);
    for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
        struct zone_proof proof;
        prove(&proof, zone, missing[i]);
        assert_true(has_record_of(&proof, zone, "n"));
    }
    zone_data_unref(zone);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_of_another_chain_prove_nothing),
        cmocka_unit_test(test_a_name_below_one_without_record_has_a_provable_encloser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
