/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/denial_sample.h"

/* ---- RFC 4035 appendices A and B ---- */

static const char *const rfc_4035[][3] = {
    {"example", "a.example", "NS SOA MX RRSIG NSEC DNSKEY"},
    {"a.example", "ai.example", "NS DS RRSIG NSEC"},
    {"ai.example", "b.example", "A HINFO AAAA RRSIG NSEC"},
    {"b.example", "ns1.example", "NS RRSIG NSEC"},
    {"ns1.example", "ns2.example", "A RRSIG NSEC"},
    {"ns2.example", "*.w.example", "A RRSIG NSEC"},
    {"*.w.example", "x.w.example", "MX RRSIG NSEC"},
    {"x.w.example", "x.y.w.example", "MX RRSIG NSEC"},
    {"x.y.w.example", "xx.example", "MX RRSIG NSEC"},
    {"xx.example", "example", "A HINFO AAAA RRSIG NSEC"},
};

/* Begins a message with records of the zone. NULL ends the owners. */
static void begin_4035(struct sample *sample, const char *const owners[])
{
    sample_begin(sample, "example");
    for (; *owners; owners++) {
        size_t i = 0;
        while (strcmp(rfc_4035[i][0], *owners) != 0)
            assert_true(++i < ARRAY_LEN(rfc_4035));
        sample_nsec(sample, rfc_4035[i][0], rfc_4035[i][1], rfc_4035[i][2]);
    }
}

#define BEGIN_4035(sample, ...) begin_4035(sample, (const char *const[]){__VA_ARGS__, NULL})

static void test_rfc_4035_b_2_name_error(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_4035(&sample, "b.example", "example");
    ASSERT_NAME(&sample, "ml.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "a.b.c.ML.Example", DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "ml.example", A, DENIAL_UNPROVEN);
    BEGIN_4035(&sample, "b.example");
    ASSERT_NAME(&sample, "ml.example", DENIAL_UNPROVEN);
    BEGIN_4035(&sample, "example");
    ASSERT_NAME(&sample, "ml.example", DENIAL_UNPROVEN);
}

static void test_rfc_4035_b_3_no_data(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_4035(&sample, "ns1.example");
    ASSERT_TYPE(&sample, "ns1.example", MX, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "ns1.example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "ns2.example", MX, DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "ns1.example", DENIAL_UNPROVEN);
}

static void test_rfc_4035_b_4_signed_zone_has_a_ds(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_4035(&sample, "a.example");
    ASSERT_DS(&sample, "a.example", DENIAL_DS_UNPROVEN);
    ASSERT_TYPE(&sample, "a.example", DS, DENIAL_UNPROVEN);
}

static void test_rfc_4035_b_5_unsigned_zone(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_4035(&sample, "b.example");
    ASSERT_DS(&sample, "b.example", DENIAL_DS_INSECURE);
    ASSERT_TYPE(&sample, "b.example", DS, DENIAL_PROVEN);
}

static void test_rfc_4035_b_6_wildcard_expansion(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_4035(&sample, "x.y.w.example");
    ASSERT_NEXT_CLOSER(&sample, "a.z.w.example", 2, DENIAL_PROVEN);
    BEGIN_4035(&sample, "x.w.example");
    ASSERT_NEXT_CLOSER(&sample, "a.z.w.example", 2, DENIAL_UNPROVEN);
}

static void test_rfc_4035_b_7_wildcard_no_data(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_4035(&sample, "x.y.w.example", "*.w.example");
    ASSERT_TYPE(&sample, "a.z.w.example", AAAA, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "a.z.w.example", MX, DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "a.z.w.example", DENIAL_UNPROVEN);
    BEGIN_4035(&sample, "x.y.w.example");
    ASSERT_TYPE(&sample, "a.z.w.example", AAAA, DENIAL_UNPROVEN);
    BEGIN_4035(&sample, "*.w.example");
    ASSERT_TYPE(&sample, "a.z.w.example", AAAA, DENIAL_UNPROVEN);
}

static void test_rfc_4035_b_8_zone_does_not_deny_its_own_ds(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_4035(&sample, "example");
    ASSERT_TYPE(&sample, "example", DS, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "example", AAAA, DENIAL_PROVEN);
    ASSERT_DS(&sample, "example", DENIAL_DS_UNPROVEN);
}

/* ---- RFC 5155 appendices A and B ---- */

static const char *const rfc_5155[][3] = {
    {"0p9mhaveqvm6t7vbl5lop2u3t2rp3tom", "2t7b4g4vsa5smi47k61mv5bv1a22bojr",
     "MX DNSKEY NS SOA NSEC3PARAM RRSIG"}, /* example */
    {"2t7b4g4vsa5smi47k61mv5bv1a22bojr", "2vptu5timamqttgl4luu9kg21e0aor3s", "A RRSIG"}, /* ns1 */
    {"2vptu5timamqttgl4luu9kg21e0aor3s", "35mthgpgcu1qg68fab165klnsnk3dpvl",
     "MX RRSIG"}, /* x.y.w */
    {"35mthgpgcu1qg68fab165klnsnk3dpvl", "b4um86eghhds6nea196smvmlo4ors995", "NS DS RRSIG"}, /* a */
    {"b4um86eghhds6nea196smvmlo4ors995", "gjeqe526plbf1g8mklp59enfd789njgi", "MX RRSIG"}, /* x.w */
    {"gjeqe526plbf1g8mklp59enfd789njgi", "ji6neoaepv8b5o6k4ev33abha8ht9fgc",
     "HINFO A AAAA RRSIG"},                                                       /* ai */
    {"ji6neoaepv8b5o6k4ev33abha8ht9fgc", "k8udemvp1j2f7eg6jebps17vp3n8i58h", ""}, /* y.w */
    {"k8udemvp1j2f7eg6jebps17vp3n8i58h", "kohar7mbb8dc2ce8a9qvl8hon4k53uhi", ""}, /* w */
    {"kohar7mbb8dc2ce8a9qvl8hon4k53uhi", "q04jkcevqvmu85r014c7dkba38o0ji5r", "A RRSIG"},
    {"q04jkcevqvmu85r014c7dkba38o0ji5r", "r53bq7cc2uvmubfu5ocmm6pers9tk9en", "A RRSIG"},  /* ns2 */
    {"r53bq7cc2uvmubfu5ocmm6pers9tk9en", "t644ebqk9bibcna874givr6joj62mlhv", "MX RRSIG"}, /* *.w */
    {"t644ebqk9bibcna874givr6joj62mlhv", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom",
     "HINFO A AAAA RRSIG"}, /* xx */
};

/* Begins a message with the records whose owners begin with these letters. */
static void begin_5155(struct sample *sample, const char *const prefixes[], uint8_t flags)
{
    sample_begin(sample, "example");
    sample->salt = "aabbccdd";
    sample->iterations = 12;
    for (; *prefixes; prefixes++) {
        size_t i = 0;
        while (strncmp(rfc_5155[i][0], *prefixes, strlen(*prefixes)) != 0)
            assert_true(++i < ARRAY_LEN(rfc_5155));
        sample_nsec3(sample, rfc_5155[i][0], flags, rfc_5155[i][1], rfc_5155[i][2]);
    }
}

/* In the RFC's zone, every record has the flag opt-out. */
#define BEGIN_5155(sample, ...) begin_5155(sample, (const char *const[]){__VA_ARGS__, NULL}, 1)
#define BEGIN_5155_WITHOUT_OPT_OUT(sample, ...)                                                    \
    begin_5155(sample, (const char *const[]){__VA_ARGS__, NULL}, 0)

static void test_rfc_5155_b_1_name_error(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_5155(&sample, "0p9m", "b4um", "35mt");
    ASSERT_NAME(&sample, "a.c.x.w.example", DENIAL_OPT_OUT);
    BEGIN_5155_WITHOUT_OPT_OUT(&sample, "0p9m", "b4um", "35mt");
    ASSERT_NAME(&sample, "a.c.x.w.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "A.C.X.W.Example", DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "a.c.x.w.example", A, DENIAL_UNPROVEN);
    BEGIN_5155_WITHOUT_OPT_OUT(&sample, "0p9m", "b4um"); /* without the wildcard */
    ASSERT_NAME(&sample, "a.c.x.w.example", DENIAL_UNPROVEN);
    BEGIN_5155_WITHOUT_OPT_OUT(&sample, "0p9m", "35mt"); /* without the closest encloser */
    ASSERT_NAME(&sample, "a.c.x.w.example", DENIAL_UNPROVEN);
    BEGIN_5155_WITHOUT_OPT_OUT(&sample, "b4um", "35mt"); /* without the next closer name */
    ASSERT_NAME(&sample, "a.c.x.w.example", DENIAL_UNPROVEN);
}

static void test_rfc_5155_b_2_no_data(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_5155(&sample, "2t7b");
    ASSERT_TYPE(&sample, "ns1.example", MX, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "ns1.example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "ns2.example", MX, DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "ns1.example", DENIAL_UNPROVEN);
}

static void test_rfc_5155_b_2_1_no_data_for_an_empty_non_terminal(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_5155(&sample, "ji6n");
    ASSERT_TYPE(&sample, "y.w.example", A, DENIAL_PROVEN);
    ASSERT_DS(&sample, "y.w.example", DENIAL_DS_NO_CUT);
}

static void test_rfc_5155_b_3_unsigned_zone_in_an_opt_out_span(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_5155(&sample, "35mt", "0p9m");
    ASSERT_DS(&sample, "c.example", DENIAL_DS_INSECURE);
    ASSERT_TYPE(&sample, "c.example", DS, DENIAL_OPT_OUT);
    BEGIN_5155_WITHOUT_OPT_OUT(&sample, "35mt", "0p9m");
    ASSERT_DS(&sample, "c.example", DENIAL_DS_NO_NAME);
    BEGIN_5155(&sample, "35mt");
    ASSERT_DS(&sample, "c.example", DENIAL_DS_UNPROVEN);
}

static void test_rfc_5155_b_4_wildcard_expansion(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_5155(&sample, "q04j");
    ASSERT_NEXT_CLOSER(&sample, "a.z.w.example", 2, DENIAL_OPT_OUT);
    BEGIN_5155_WITHOUT_OPT_OUT(&sample, "q04j");
    ASSERT_NEXT_CLOSER(&sample, "a.z.w.example", 2, DENIAL_PROVEN);
    BEGIN_5155(&sample, "2t7b");
    ASSERT_NEXT_CLOSER(&sample, "a.z.w.example", 2, DENIAL_UNPROVEN);
}

static void test_rfc_5155_b_5_wildcard_no_data(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_5155(&sample, "k8ud", "q04j", "r53b");
    ASSERT_TYPE(&sample, "a.z.w.example", AAAA, DENIAL_OPT_OUT);
    ASSERT_TYPE(&sample, "a.z.w.example", MX, DENIAL_UNPROVEN);
    BEGIN_5155_WITHOUT_OPT_OUT(&sample, "k8ud", "q04j", "r53b");
    ASSERT_TYPE(&sample, "a.z.w.example", AAAA, DENIAL_PROVEN);
    ASSERT_NAME(&sample, "a.z.w.example", DENIAL_UNPROVEN);
    BEGIN_5155_WITHOUT_OPT_OUT(&sample, "k8ud", "q04j");
    ASSERT_TYPE(&sample, "a.z.w.example", AAAA, DENIAL_UNPROVEN);
    BEGIN_5155_WITHOUT_OPT_OUT(&sample, "q04j", "r53b");
    ASSERT_TYPE(&sample, "a.z.w.example", AAAA, DENIAL_UNPROVEN);
}

static void test_rfc_5155_b_6_zone_does_not_deny_its_own_ds(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_5155(&sample, "0p9m");
    ASSERT_TYPE(&sample, "example", DS, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "example", AAAA, DENIAL_PROVEN);
}

/* ---- RFC 7129 ---- */

static void test_rfc_7129_name_error_by_nsec(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example.org");
    sample_nsec(&sample, "a.example.org", "d.example.org", "A TXT RRSIG NSEC");
    sample_nsec(&sample, "example.org", "a.example.org", "NS SOA RRSIG NSEC DNSKEY");
    ASSERT_NAME(&sample, "b.example.org", DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "a.example.org", AAAA, DENIAL_PROVEN);
}

static void test_rfc_7129_name_error_by_nsec3(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example.org");
    sample.salt = "DEAD";
    sample.iterations = 2;
    sample_nsec3(&sample, "15bg9l6359f5ch23e34ddua6n1rihl9h", 0, "1AVVQN74SG75UKFVF25DGCETHGQ638EK",
                 "NS SOA RRSIG DNSKEY NSEC3PARAM");
    sample_nsec3(&sample, "1avvqn74sg75ukfvf25dgcethgq638ek", 0, "75B9ID679QQOV6LDFHD8OCSHSSSB6JVQ",
                 "");
    sample_nsec3(&sample, "75b9id679qqov6ldfhd8ocshsssb6jvq", 0, "8555T7QEGAU7PJTKSNBCHG4TD2M0JNPJ",
                 "TXT RRSIG");
    ASSERT_NAME(&sample, "x.2.example.org", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "2.example.org", DENIAL_PROVEN);
    sample.denial.count = 2; /* without the next closer name */
    ASSERT_NAME(&sample, "x.2.example.org", DENIAL_UNPROVEN);
}

static void test_rfc_7129_chain_of_wildcard_aliases(void **state)
{
    (void)state;
    struct sample sample; /* section 5.4: *.a and *.b are aliases */
    sample_begin(&sample, "example.org");
    sample_nsec(&sample, "*.a.example.org", "*.b.example.org", "CNAME RRSIG NSEC");
    sample_nsec(&sample, "*.b.example.org", "*.c.example.org", "CNAME RRSIG NSEC");
    sample_nsec(&sample, "*.c.example.org", "d.example.org", "A RRSIG NSEC");
    ASSERT_NEXT_CLOSER(&sample, "w.a.example.org", 3, DENIAL_PROVEN);
    ASSERT_NEXT_CLOSER(&sample, "w.b.example.org", 3, DENIAL_PROVEN);
    ASSERT_NEXT_CLOSER(&sample, "w.c.example.org", 3, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "w.c.example.org", AAAA, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "w.b.example.org", AAAA, DENIAL_UNPROVEN);
}

/* ---- NSEC: names ---- */

static void test_no_records_prove_nothing(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "a.example", 1, DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "a.example", DENIAL_DS_UNPROVEN);
}

static void test_name_outside_the_zone_is_not_denied(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "example", "example", "NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "example", DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "a.test", DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "aexample", DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, ".", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "test", A, DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "a.test", DENIAL_DS_UNPROVEN);
}

static void test_span_that_leaves_the_zone_proves_nothing(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "sub.example");
    sample_nsec(&sample, "sub.example", "test", "NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "a.sub.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "sub.example", A, DENIAL_UNPROVEN);
    sample_begin(&sample, "sub.example");
    sample_nsec(&sample, "example", "z.sub.example", "NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "a.sub.example", DENIAL_UNPROVEN);
}

static void test_name_equal_to_an_end_of_the_span_exists(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "example", "b.example", "NS SOA RRSIG NSEC");
    sample_nsec(&sample, "b.example", "d.example", "A RRSIG NSEC");
    ASSERT_NAME(&sample, "b.example", DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "c.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "d.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "d.example", A, DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "d.example", DENIAL_DS_UNPROVEN);
    ASSERT_DS(&sample, "c.example", DENIAL_DS_NO_NAME);
}

static void test_last_record_of_a_zone_denies_names_behind_it(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "x.example", "example", "A RRSIG NSEC");
    sample_nsec(&sample, "example", "x.example", "NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "z.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "a.x.example", DENIAL_PROVEN);
    sample.denial.count = 1;
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
}

static void test_zone_of_one_name_denies_all_others(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "example", "example", "A NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "*.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "z.z.z.example", DENIAL_PROVEN);
    ASSERT_DS(&sample, "a.example", DENIAL_DS_NO_NAME);
    ASSERT_TYPE(&sample, "example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "example", AAAA, DENIAL_PROVEN);
}

static void test_root_zone_denies_names_and_its_ds(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, ".");
    sample_nsec(&sample, ".", "aaa", "NS SOA RRSIG NSEC DNSKEY");
    sample_nsec(&sample, "lol", "london", "NS DS RRSIG NSEC");
    ASSERT_NAME(&sample, "lonely", DENIAL_UNPROVEN); /* the name comes after london */
    ASSERT_NAME(&sample, "lon", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "www.lon", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "www.lol", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, ".", DS, DENIAL_PROVEN);
    ASSERT_DS(&sample, ".", DENIAL_DS_UNPROVEN);
}

static void test_empty_non_terminal_exists_by_nsec(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "example", "a.b.c.example", "NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "c.example", DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "b.c.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "c.example", A, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "b.c.example", A, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "b.c.example", ANY, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "a.b.c.example", A, DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "b.c.example", DENIAL_DS_NO_CUT);
    ASSERT_NEXT_CLOSER(&sample, "x.c.example", 1, DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "b.example", DENIAL_PROVEN);
}

static void test_proof_that_a_name_exists_beats_a_span(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        struct sample sample; /* the records come from before and after a change */
        sample_begin(&sample, "example");
        sample_nsec(&sample, first ? "b.example" : "bb.example",
                    first ? "a.c.example" : "d.example", "A RRSIG NSEC");
        sample_nsec(&sample, first ? "bb.example" : "b.example",
                    first ? "d.example" : "a.c.example", "A RRSIG NSEC");
        sample_nsec(&sample, "example", "b.example", "NS SOA RRSIG NSEC");
        ASSERT_NAME(&sample, "c.example", DENIAL_UNPROVEN);
        ASSERT_TYPE(&sample, "c.example", A, DENIAL_PROVEN);
        ASSERT_NAME(&sample, "bb.example", DENIAL_UNPROVEN);
        ASSERT_TYPE(&sample, "bb.example", TXT, DENIAL_PROVEN);
    }
}

static void test_name_below_an_empty_non_terminal_is_denied_with_the_wildcard_below_it(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.b.example", "z.example", "A RRSIG NSEC");
    ASSERT_NAME(&sample, "c.b.example", DENIAL_UNPROVEN);
    sample_nsec(&sample, "example", "a.b.example", "NS SOA RRSIG NSEC");
    /* the wildcard is *.b.example and not *.example */
    ASSERT_NAME(&sample, "c.b.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "0.b.example", DENIAL_PROVEN);
}

static void test_wildcard_of_an_outer_encloser_does_not_matter(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "*.example", "a.b.example", "A RRSIG NSEC");
    sample_nsec(&sample, "a.b.example", "example", "A RRSIG NSEC");
    ASSERT_NAME(&sample, "c.b.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "c.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "c.example", AAAA, DENIAL_PROVEN);
}

/* ---- which record may speak ---- */

static void test_next_closer_name_must_be_absent(void **state)
{
    (void)state;
    struct sample sample; /* z.w.example exists, so *.w.example cannot answer below it */
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.z.w.example", "c.z.w.example", "A RRSIG NSEC");
    ASSERT_NEXT_CLOSER(&sample, "b.z.w.example", 2, DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "b.z.w.example", 3, DENIAL_PROVEN);
    sample_begin(&sample, "example");
    sample_cover(&sample, "b.z.w.example", 0);
    ASSERT_NEXT_CLOSER(&sample, "b.z.w.example", 2, DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "b.z.w.example", 3, DENIAL_PROVEN);
}

static void test_closest_encloser_is_in_the_zone_and_above_the_name(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "sub.example");
    sample_nsec(&sample, "sub.example", "sub.example", "NS SOA RRSIG NSEC");
    ASSERT_NEXT_CLOSER(&sample, "a.b.sub.example", 1, DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "a.b.sub.example", 2, DENIAL_PROVEN);
    ASSERT_NEXT_CLOSER(&sample, "a.b.sub.example", 3, DENIAL_PROVEN);
    ASSERT_NEXT_CLOSER(&sample, "a.b.sub.example", 4, DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "a.b.sub.example", 1000, DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "a.b.example", 1, DENIAL_UNPROVEN);
}

static void test_record_above_a_cut_says_nothing_below_it(void **state)
{
    (void)state;
    static const char *const cuts[] = {"NS RRSIG NSEC", "NS DS RRSIG NSEC"};
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
        struct sample sample;
        sample_begin(&sample, "example");
        sample_nsec(&sample, "b.example", "d.example", cuts[i]);
        sample_nsec(&sample, "example", "b.example", "NS SOA RRSIG NSEC");
        ASSERT_NAME(&sample, "a.b.example", DENIAL_UNPROVEN);
        ASSERT_NAME(&sample, "a.a.b.example", DENIAL_UNPROVEN);
        ASSERT_TYPE(&sample, "a.b.example", A, DENIAL_UNPROVEN);
        ASSERT_NEXT_CLOSER(&sample, "a.b.example", 2, DENIAL_UNPROVEN);
        ASSERT_DS(&sample, "a.b.example", DENIAL_DS_UNPROVEN);
        ASSERT_NAME(&sample, "c.example", DENIAL_PROVEN);
    }
}

static void test_record_above_a_cut_denies_only_ds_at_the_cut(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "b.example", "d.example", "NS RRSIG NSEC");
    ASSERT_TYPE(&sample, "b.example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", SOA, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", CNAME, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", ANY, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", DNSKEY, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", DS, DENIAL_PROVEN);
    sample_begin(&sample, "example");
    sample_match(&sample, "b.example", "NS RRSIG");
    ASSERT_TYPE(&sample, "b.example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", DS, DENIAL_PROVEN);
}

static void test_apex_of_a_child_does_not_deny_ds(void **state)
{
    (void)state;
    struct sample sample; /* a record of the child b.example, signed by example */
    sample_begin(&sample, "example");
    sample_nsec(&sample, "b.example", "d.example", "NS SOA RRSIG NSEC");
    ASSERT_DS(&sample, "b.example", DENIAL_DS_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", DS, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", A, DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "c.example", DENIAL_UNPROVEN);
    sample_begin(&sample, "example");
    sample_match(&sample, "b.example", "NS SOA RRSIG");
    sample_cover(&sample, "a.b.example", 0);
    sample_cover(&sample, "*.b.example", 0);
    ASSERT_DS(&sample, "b.example", DENIAL_DS_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", DS, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", A, DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "a.b.example", DENIAL_UNPROVEN);
}

static void test_nsec3_closest_encloser_is_no_cut(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_match(&sample, "b.example", "NS DS RRSIG");
    sample_cover(&sample, "a.b.example", 1);
    sample_cover(&sample, "*.b.example", 0);
    ASSERT_NAME(&sample, "a.b.example", DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "x.a.b.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "a.b.example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "a.b.example", DS, DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "a.b.example", DENIAL_DS_UNPROVEN);
}

static void test_record_with_a_dname_says_nothing_below_it(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "b.example", "d.example", "A DNAME RRSIG NSEC");
    sample_nsec(&sample, "example", "b.example", "NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "a.b.example", DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "z.a.b.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "a.b.example", A, DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "a.b.example", 2, DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "a.b.example", DENIAL_DS_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", AAAA, DENIAL_PROVEN); /* at the owner of the DNAME */
    ASSERT_DS(&sample, "b.example", DENIAL_DS_NO_CUT);
    ASSERT_NAME(&sample, "c.example", DENIAL_PROVEN);
}

static void test_dname_of_every_ancestor_counts(void **state)
{
    (void)state;
    struct sample sample; /* a.b.example is below a DNAME, and has a record nevertheless */
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.b.example", "d.example", "A RRSIG NSEC");
    ASSERT_NAME(&sample, "c.b.example", DENIAL_UNPROVEN); /* *.b.example */
    ASSERT_TYPE(&sample, "a.b.example", AAAA, DENIAL_PROVEN);
    sample_nsec(&sample, "b.example", "a.b.example", "DNAME RRSIG NSEC");
    ASSERT_NAME(&sample, "c.b.example", DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "c.b.example", 2, DENIAL_UNPROVEN);
    sample_begin(&sample, "example");
    sample_nsec(&sample, "b.example", "a.b.example", "DNAME RRSIG NSEC");
    sample_nsec(&sample, "a.b.example", "d.example", "A RRSIG NSEC");
    ASSERT_NAME(&sample, "x.a.b.example", DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "x.a.b.example", 3, DENIAL_UNPROVEN);
}

static void test_dname_at_the_apex_counts(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "example", "example", "NS SOA DNAME RRSIG NSEC");
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "example", A, DENIAL_PROVEN);
    sample_begin(&sample, "example");
    sample_match(&sample, "example", "NS SOA DNAME RRSIG");
    sample_cover(&sample, "a.example", 0);
    sample_cover(&sample, "*.example", 0);
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
}

static void test_dname_of_every_ancestor_counts_by_nsec3(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_match(&sample, "b.example", "RRSIG");
    sample_match(&sample, "a.b.example", "A RRSIG");
    sample_cover(&sample, "x.a.b.example", 0);
    sample_cover(&sample, "*.a.b.example", 0);
    ASSERT_NAME(&sample, "x.a.b.example", DENIAL_PROVEN);
    sample.denial.at[0].owner = NAME("b.example"); /* the owner is not a hash now */
    ASSERT_NAME(&sample, "x.a.b.example", DENIAL_PROVEN);
    sample_match(&sample, "b.example", "DNAME RRSIG");
    ASSERT_NAME(&sample, "x.a.b.example", DENIAL_UNPROVEN);
}

static void test_alias_has_no_nodata(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.example", "b.example", "CNAME RRSIG NSEC");
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "a.example", CNAME, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "a.example", DS, DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "a.example", DENIAL_DS_NO_CUT);
    sample_begin(&sample, "example");
    sample_match(&sample, "a.example", "CNAME RRSIG");
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "a.example", DENIAL_DS_NO_CUT);
}

static void test_nsec3_of_another_zone_proves_nothing(void **state)
{
    (void)state;
    struct sample sample, other;
    sample_begin(&other, "sub.example");
    sample_match(&other, "sub.example", "NS SOA RRSIG");
    sample_cover(&other, "a.sub.example", 0);
    sample_cover(&other, "*.sub.example", 0);
    ASSERT_NAME(&other, "a.sub.example", DENIAL_PROVEN);
    sample_begin(&sample, "example");
    for (size_t i = 0; i < 3; i++)
        sample.denial.at[i] = other.denial.at[i];
    sample.denial.count = 3;
    ASSERT_NAME(&sample, "a.sub.example", DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "sub.example", DENIAL_DS_UNPROVEN);
    other.denial.zone = NAME("test");
    ASSERT_NAME(&other, "a.sub.example", DENIAL_UNPROVEN);
}

static void test_only_nsec_and_nsec3_count(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "example", "example", "NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
    sample.denial.at[0].type = RRTYPE_TXT;
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    sample.denial.at[0].type = RRTYPE_NSEC3;
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
}

/* ---- types ---- */

static void test_question_for_any_is_denied_only_without_data(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.example", "b.example", "TXT RRSIG NSEC");
    sample_nsec(&sample, "b.example", "c.example", "RRSIG NSEC");
    ASSERT_TYPE(&sample, "a.example", ANY, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "a.example", MAILB, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", ANY, DENIAL_PROVEN);
}

static void test_types_of_higher_windows_are_seen(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.example", "b.example", "A RRSIG NSEC CAA TYPE65535");
    ASSERT_TYPE(&sample, "a.example", CAA, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "a.example", URI, DENIAL_PROVEN);
    assert_int_equal(denial_of_type(&sample.denial, NAME("a.example"), 65535), DENIAL_UNPROVEN);
    assert_int_equal(denial_of_type(&sample.denial, NAME("a.example"), 65534), DENIAL_PROVEN);
}

static void test_record_with_a_malformed_bitmap_proves_nothing(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "example", "example", "NS SOA RRSIG NSEC CAA");
    sample.denial.at[0].rdata.len--;
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "example", A, DENIAL_UNPROVEN);
}

/* RFC 5155 section 8.3 starts at the name and never asks whether the zone exists. */
static void test_span_with_the_hash_of_the_zone_does_not_disturb(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_cover(&sample, "example", 0);
    sample_match(&sample, "b.example", "RRSIG");
    sample_cover(&sample, "a.b.example", 0);
    ASSERT_NAME(&sample, "a.b.example", DENIAL_UNPROVEN); /* the wildcard may exist */
    sample_cover(&sample, "*.b.example", 0);
    ASSERT_NAME(&sample, "a.b.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "b.example", DENIAL_UNPROVEN);
    sample_begin(&sample, "example");
    sample_cover(&sample, "example", 0);
    sample_cover(&sample, "b.example", 0);
    sample_cover(&sample, "*.example", 0);
    ASSERT_NAME(&sample, "b.example", DENIAL_UNPROVEN); /* the records prove no encloser */
}

/* ---- wildcards ---- */

static void test_wildcard_without_the_type_answers_nodata(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "*.example", "b.example", "A RRSIG NSEC");
    ASSERT_TYPE(&sample, "a.example", AAAA, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "x.a.example", AAAA, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "*.example", AAAA, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "*.example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "c.example", AAAA, DENIAL_UNPROVEN); /* the name may exist */
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    sample_begin(&sample, "example");
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_cover(&sample, "a.example", 0);
    sample_match(&sample, "*.example", "A RRSIG");
    ASSERT_TYPE(&sample, "a.example", AAAA, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
}

static void test_wildcard_with_an_alias_or_a_cut_does_not_answer_nodata(void **state)
{
    (void)state;
    static const char *const types[] = {"CNAME", "NS", "NS DS", "NS SOA"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct sample sample;
        sample_begin(&sample, "example");
        sample_nsec(&sample, "*.example", "b.example", types[i]);
        ASSERT_TYPE(&sample, "a.example", A, DENIAL_UNPROVEN);
        sample_begin(&sample, "example");
        sample_match(&sample, "example", "NS SOA RRSIG");
        sample_cover(&sample, "a.example", 0);
        sample_match(&sample, "*.example", types[i]);
        ASSERT_TYPE(&sample, "a.example", A, DENIAL_UNPROVEN);
    }
}

static void test_wildcard_that_is_an_empty_non_terminal_answers_nodata(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "example", "x.*.example", "NS SOA RRSIG NSEC");
    sample_nsec(&sample, "x.*.example", "b.example", "A RRSIG NSEC");
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "*.example", A, DENIAL_PROVEN);
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
}

static void test_wildcard_of_another_encloser_does_not_answer(void **state)
{
    (void)state;
    struct sample sample; /* the closest encloser is b.example */
    sample_begin(&sample, "example");
    sample_nsec(&sample, "*.example", "a.b.example", "A RRSIG NSEC");
    sample_nsec(&sample, "a.b.example", "d.example", "A RRSIG NSEC");
    ASSERT_TYPE(&sample, "c.b.example", AAAA, DENIAL_UNPROVEN);
    sample_begin(&sample, "example");
    sample_match(&sample, "b.example", "A RRSIG");
    sample_cover(&sample, "c.b.example", 0);
    sample_match(&sample, "*.example", "A RRSIG");
    ASSERT_TYPE(&sample, "c.b.example", AAAA, DENIAL_UNPROVEN);
}

static void test_longest_name_has_room_for_its_wildcard(void **state)
{
    (void)state;
    char text[NAME_TEXT_MAX];
    memset(text, 'a', 63 * 4);
    text[63] = text[127] = text[191] = '.';
    strcpy(text + 253 - 8, ".example"); /* 255 bytes */
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "example", "example", "NS SOA RRSIG NSEC");
    assert_int_equal(NAME(text).len, 255);
    ASSERT_NAME(&sample, text, DENIAL_PROVEN);
    sample_begin(&sample, "example");
    sample_match(&sample, text + 2 * 64, "A RRSIG");
    sample_cover(&sample, text + 64, 0);
    char wildcard[NAME_TEXT_MAX];
    snprintf(wildcard, sizeof(wildcard), "*.%s", text + 2 * 64);
    sample_cover(&sample, wildcard, 0);
    ASSERT_NAME(&sample, text, DENIAL_PROVEN);
}

/* ---- NSEC3 ---- */

static void test_closest_encloser_must_match(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_cover(&sample, "a.b.example", 0);
    sample_cover(&sample, "*.b.example", 0);
    ASSERT_NAME(&sample, "a.b.example", DENIAL_UNPROVEN);
    /* this is not the parent of the absent name */
    sample_match(&sample, "example", "NS SOA RRSIG");
    ASSERT_NAME(&sample, "a.b.example", DENIAL_UNPROVEN);
    sample_match(&sample, "b.example", "A RRSIG");
    ASSERT_NAME(&sample, "a.b.example", DENIAL_PROVEN);
}

static void test_name_with_a_record_exists_by_nsec3(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_match(&sample, "a.example", "A RRSIG");
    sample_cover(&sample, "*.example", 0);
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    sample_cover(&sample, "x.a.example", 0);
    ASSERT_NAME(&sample, "x.a.example", DENIAL_UNPROVEN); /* *.a.example */
}

static void test_empty_non_terminal_exists_by_nsec3(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_match(&sample, "b.example", "");
    ASSERT_NAME(&sample, "b.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "b.example", A, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "b.example", ANY, DENIAL_PROVEN);
    ASSERT_DS(&sample, "b.example", DENIAL_DS_NO_CUT);
}

static void test_only_opt_out_of_the_next_closer_name_is_reported(void **state)
{
    (void)state;
    for (uint8_t flags = 0; flags < 4; flags++) {
        struct sample sample;
        sample_begin(&sample, "example");
        sample_match(&sample, "example", "NS SOA RRSIG");
        sample_cover(&sample, "a.example", flags & 1);
        sample_cover(&sample, "*.example", (uint8_t)(flags >> 1));
        ASSERT_NAME(&sample, "x.a.example", flags & 1 ? DENIAL_OPT_OUT : DENIAL_PROVEN);
        ASSERT_DS(&sample, "a.example", flags & 1 ? DENIAL_DS_INSECURE : DENIAL_DS_NO_NAME);
        ASSERT_DS(&sample, "x.a.example", flags & 1 ? DENIAL_DS_INSECURE : DENIAL_DS_NO_NAME);
        ASSERT_TYPE(&sample, "a.example", A, flags & 1 ? DENIAL_OPT_OUT : DENIAL_UNPROVEN);
    }
}

static void test_opt_out_of_a_matching_record_does_not_count(void **state)
{
    (void)state;
    struct sample sample;
    char owner[33], next[33];
    sample_begin(&sample, "example");
    sample_nsec3(&sample, sample_hash(&sample, "a.example", 0, owner), 1,
                 sample_hash(&sample, "a.example", 1, next), "A RRSIG");
    ASSERT_TYPE(&sample, "a.example", AAAA, DENIAL_PROVEN);
    ASSERT_DS(&sample, "a.example", DENIAL_DS_NO_CUT);
}

static void test_wildcard_at_an_opt_out_span_is_not_secure(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_cover(&sample, "a.example", 1);
    sample_match(&sample, "*.example", "A RRSIG");
    ASSERT_TYPE(&sample, "a.example", AAAA, DENIAL_OPT_OUT);
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "a.example", 1, DENIAL_OPT_OUT);
}

static void test_empty_salt_is_a_salt(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example"); /* the salt is empty */
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_cover(&sample, "a.example", 0);
    sample.salt = "00";
    sample_cover(&sample, "*.example", 0);
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
}

static void test_mixed_parameters_prove_nothing(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample.salt = "aabb";
    sample.iterations = 1;
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_cover(&sample, "a.example", 0);
    sample_cover(&sample, "*.example", 0);
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
    sample.iterations = 2;
    sample_match(&sample, "b.example", "A RRSIG");
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    sample.denial.count--;
    sample.iterations = 1;
    sample.salt = "aacc";
    sample_match(&sample, "b.example", "A RRSIG");
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    sample.denial.at[3].rdata.len = 0; /* ignored records do not count as mixed */
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
}

static void test_owners_are_compared_without_case(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_cover(&sample, "a.example", 0);
    sample_cover(&sample, "*.example", 0);
    for (size_t i = 0; i < 3; i++)
        for (size_t at = 1; at < 33; at++)
            if (sample.at[i].owner[at] >= 'a')
                sample.at[i].owner[at] &= 0xdf;
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "A.EXAMPLE", DENIAL_PROVEN);
}

static void test_iterations_above_50_make_the_zone_insecure(void **state)
{
    (void)state;
    for (uint16_t iterations = 50; iterations <= 51; iterations++) {
        bool is_high = iterations == 51;
        struct sample sample;
        sample_begin(&sample, "example");
        sample.iterations = iterations;
        sample_match(&sample, "example", "NS SOA RRSIG");
        sample_cover(&sample, "a.example", 0);
        sample_cover(&sample, "*.example", 0);
        sample.units = is_high ? 0 : 100;
        ASSERT_NAME(&sample, "a.example", is_high ? DENIAL_ITERATIONS : DENIAL_PROVEN);
        ASSERT_TYPE(&sample, "example", A, is_high ? DENIAL_ITERATIONS : DENIAL_PROVEN);
        ASSERT_NEXT_CLOSER(&sample, "a.example", 1, is_high ? DENIAL_ITERATIONS : DENIAL_PROVEN);
        ASSERT_DS(&sample, "a.example", is_high ? DENIAL_DS_ITERATIONS : DENIAL_DS_NO_NAME);
        ASSERT_NAME(&sample, "example", DENIAL_UNPROVEN); /* the zone exists */
        ASSERT_TYPE(&sample, "example", DS, DENIAL_UNPROVEN);
        ASSERT_DS(&sample, "example", DENIAL_DS_UNPROVEN);
        ASSERT_NAME(&sample, "a.test", DENIAL_UNPROVEN);
    }
}

static void test_nsec_proof_counts_beside_nsec3_records(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample.iterations = 51;
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_nsec(&sample, "example", "example", "NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
    sample_begin(&sample, "example");
    sample_nsec(&sample, "x.example", "example", "A RRSIG NSEC");
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_cover(&sample, "a.example", 0);
    sample_cover(&sample, "*.example", 0);
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
}

/* ---- cost ---- */

static void test_hashing_stops_before_the_units_are_below_0(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample.iterations = 50;
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_cover(&sample, "a.example", 0);
    sample_cover(&sample, "*.example", 0);
    for (unsigned units = 0; units < 5; units++) {
        bool suffices = units >= 3; /* three hashes with 51 blocks each */
        sample.units = units;
        ASSERT_NAME(&sample, "a.example", suffices ? DENIAL_PROVEN : DENIAL_SPENT);
        assert_int_equal(sample.units, suffices ? units - 3 : 0);
    }
    sample.units = 0;
    ASSERT_TYPE(&sample, "example", A, DENIAL_SPENT);
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_SPENT);
    ASSERT_NEXT_CLOSER(&sample, "a.example", 1, DENIAL_SPENT);
    ASSERT_DS(&sample, "a.example", DENIAL_DS_SPENT);
    sample.units = 2;
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_SPENT); /* the units end at the wildcard */
    sample.units = 1;
    ASSERT_DS(&sample, "a.example", DENIAL_DS_SPENT); /* the units end during the walk */
}

static void test_nsec_costs_no_units(void **state)
{
    (void)state;
    struct sample sample;
    BEGIN_4035(&sample, "b.example", "example");
    sample.units = 0;
    ASSERT_NAME(&sample, "ml.example", DENIAL_PROVEN);
}

static void test_long_name_costs_no_more_than_its_next_closer_name(void **state)
{
    (void)state;
    char text[NAME_TEXT_MAX] = "";
    for (unsigned i = 0; i < 100; i++)
        strcat(text, "a.");
    strcat(text, "example");
    struct sample sample;
    sample_begin(&sample, "example");
    sample.iterations = 50;
    sample_match(&sample, "example", "NS SOA RRSIG");
    sample_cover(&sample, "a.example", 0);
    sample_cover(&sample, "*.example", 0);
    sample.units = 3;
    ASSERT_NAME(&sample, text, DENIAL_PROVEN);
}

static void test_bound_on_hashes_is_reached(void **state)
{
    (void)state;
    char text[NAME_TEXT_MAX] = "";
    for (unsigned i = 0; i < 126; i++)
        strcat(text, "a.");
    strcat(text, "x");
    struct sample sample;
    sample_begin(&sample, "x");
    sample_match(&sample, "b.x", "A RRSIG"); /* proves nothing about these names */
    ASSERT_NAME(&sample, text, DENIAL_SPENT);
    ASSERT_TYPE(&sample, text, A, DENIAL_SPENT);
    ASSERT_DS(&sample, text, DENIAL_DS_SPENT);
    sample_begin(&sample, "x");
    sample_nsec(&sample, "b.x", "c.x", "A RRSIG NSEC");
    ASSERT_NAME(&sample, text, DENIAL_UNPROVEN);
}

static void test_zone_beside_the_name_ends_the_walk(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "a.b.c.d.e.f");
    sample_nsec(&sample, "a.b.c.d.e.f", "a.b.c.d.e.f", "NS SOA RRSIG NSEC");
    sample_match(&sample, "a.b.c.d.e.f", "NS SOA RRSIG");
    ASSERT_NAME(&sample, "f", DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "x.b.c.d.e.f", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "x.b.c.d.e.f", A, DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "x.b.c.d.e.f", DENIAL_DS_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "x.b.c.d.e.f", 1, DENIAL_UNPROVEN);
}

static void test_count_above_the_bound_reads_only_the_bound(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    for (unsigned i = 0; i < DENIAL_RECORDS_MAX - 1; i++)
        sample_nsec(&sample, "x.example", "y.example", "A RRSIG NSEC");
    sample_nsec(&sample, "example", "b.example", "NS SOA RRSIG NSEC");
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN); /* the eighth record */
    sample.denial.count = 1000;
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
}

/* ---- DS ---- */

static void test_ds_by_the_types_of_the_name(void **state)
{
    (void)state;
    static const struct {
        const char *types;
        enum denial_ds expected;
    } cases[] = {
        {"NS", DENIAL_DS_INSECURE},        {"NS DS", DENIAL_DS_UNPROVEN},
        {"NS SOA", DENIAL_DS_UNPROVEN},    {"SOA", DENIAL_DS_UNPROVEN},
        {"NS DS SOA", DENIAL_DS_UNPROVEN}, {"DS", DENIAL_DS_UNPROVEN},
        {"A", DENIAL_DS_NO_CUT},           {"", DENIAL_DS_NO_CUT},
        {"CNAME", DENIAL_DS_NO_CUT},       {"DNAME", DENIAL_DS_NO_CUT},
        {"NXNAME", DENIAL_DS_NO_NAME},     {"NXNAME NS", DENIAL_DS_INSECURE},
        {"NXNAME A", DENIAL_DS_NO_CUT},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sample sample;
        sample_begin(&sample, "example");
        sample_nsec(&sample, "b.example", "d.example", cases[i].types);
        ASSERT_DS(&sample, "b.example", cases[i].expected);
        sample_begin(&sample, "example");
        sample_match(&sample, "b.example", cases[i].types);
        ASSERT_DS(&sample, "b.example", cases[i].expected);
    }
}

static void test_wildcard_makes_no_zone_cut(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "*.example", "b.example", "A RRSIG NSEC");
    ASSERT_DS(&sample, "a.example", DENIAL_DS_NO_NAME);
    ASSERT_DS(&sample, "x.a.example", DENIAL_DS_NO_NAME);
    ASSERT_DS(&sample, "*.example", DENIAL_DS_NO_CUT);
}

/* ---- compact denial (RFC 9824) ---- */

static void test_compact_denial_stays_nodata(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.example", "\\000.a.example", "RRSIG NSEC NXNAME");
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "a.example", ANY, DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "b.example", A, DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "x.a.example", A, DENIAL_UNPROVEN);
}

static void test_compact_denial_denies_the_name_and_all_below_it(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.example", "\\000.a.example", "RRSIG NSEC NXNAME");
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "x.a.example", DENIAL_PROVEN);
    ASSERT_NAME(&sample, "b.example", DENIAL_UNPROVEN);
    ASSERT_DS(&sample, "x.a.example", DENIAL_DS_NO_NAME);
    sample_begin(&sample, "example");
    sample_match(&sample, "a.example", "RRSIG NXNAME");
    ASSERT_NAME(&sample, "a.example", DENIAL_PROVEN);
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_PROVEN);
}

static void test_compact_denial_with_data_denies_no_name(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.example", "\\000.a.example", "A RRSIG NSEC NXNAME");
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.example", "\\000.a.example", "RRSIG NSEC");
    ASSERT_NAME(&sample, "a.example", DENIAL_UNPROVEN);
    ASSERT_TYPE(&sample, "a.example", A, DENIAL_PROVEN);
    ASSERT_DS(&sample, "a.example", DENIAL_DS_NO_CUT);
}

static void test_compact_span_denies_no_other_name(void **state)
{
    (void)state;
    struct sample sample;
    sample_begin(&sample, "example");
    sample_nsec(&sample, "a.example", "\\000.a.example", "A RRSIG NSEC");
    ASSERT_NAME(&sample, "x.a.example", DENIAL_UNPROVEN);
    ASSERT_NEXT_CLOSER(&sample, "x.a.example", 2, DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "\\000.a.example", DENIAL_UNPROVEN);
    ASSERT_NAME(&sample, "b.example", DENIAL_UNPROVEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test(test_##name)
        T(rfc_4035_b_2_name_error),
        T(rfc_4035_b_3_no_data),
        T(rfc_4035_b_4_signed_zone_has_a_ds),
        T(rfc_4035_b_5_unsigned_zone),
        T(rfc_4035_b_6_wildcard_expansion),
        T(rfc_4035_b_7_wildcard_no_data),
        T(rfc_4035_b_8_zone_does_not_deny_its_own_ds),
        T(rfc_5155_b_1_name_error),
        T(rfc_5155_b_2_no_data),
        T(rfc_5155_b_2_1_no_data_for_an_empty_non_terminal),
        T(rfc_5155_b_3_unsigned_zone_in_an_opt_out_span),
        T(rfc_5155_b_4_wildcard_expansion),
        T(rfc_5155_b_5_wildcard_no_data),
        T(rfc_5155_b_6_zone_does_not_deny_its_own_ds),
        T(rfc_7129_name_error_by_nsec),
        T(rfc_7129_name_error_by_nsec3),
        T(rfc_7129_chain_of_wildcard_aliases),
        T(no_records_prove_nothing),
        T(name_outside_the_zone_is_not_denied),
        T(span_that_leaves_the_zone_proves_nothing),
        T(name_equal_to_an_end_of_the_span_exists),
        T(last_record_of_a_zone_denies_names_behind_it),
        T(zone_of_one_name_denies_all_others),
        T(root_zone_denies_names_and_its_ds),
        T(empty_non_terminal_exists_by_nsec),
        T(proof_that_a_name_exists_beats_a_span),
        T(name_below_an_empty_non_terminal_is_denied_with_the_wildcard_below_it),
        T(wildcard_of_an_outer_encloser_does_not_matter),
        T(next_closer_name_must_be_absent),
        T(closest_encloser_is_in_the_zone_and_above_the_name),
        T(record_above_a_cut_says_nothing_below_it),
        T(record_above_a_cut_denies_only_ds_at_the_cut),
        T(apex_of_a_child_does_not_deny_ds),
        T(nsec3_closest_encloser_is_no_cut),
        T(record_with_a_dname_says_nothing_below_it),
        T(dname_of_every_ancestor_counts),
        T(dname_at_the_apex_counts),
        T(dname_of_every_ancestor_counts_by_nsec3),
        T(alias_has_no_nodata),
        T(nsec3_of_another_zone_proves_nothing),
        T(only_nsec_and_nsec3_count),
        T(question_for_any_is_denied_only_without_data),
        T(types_of_higher_windows_are_seen),
        T(record_with_a_malformed_bitmap_proves_nothing),
        T(span_with_the_hash_of_the_zone_does_not_disturb),
        T(wildcard_without_the_type_answers_nodata),
        T(wildcard_with_an_alias_or_a_cut_does_not_answer_nodata),
        T(wildcard_that_is_an_empty_non_terminal_answers_nodata),
        T(wildcard_of_another_encloser_does_not_answer),
        T(longest_name_has_room_for_its_wildcard),
        T(closest_encloser_must_match),
        T(name_with_a_record_exists_by_nsec3),
        T(empty_non_terminal_exists_by_nsec3),
        T(only_opt_out_of_the_next_closer_name_is_reported),
        T(opt_out_of_a_matching_record_does_not_count),
        T(wildcard_at_an_opt_out_span_is_not_secure),
        T(empty_salt_is_a_salt),
        T(mixed_parameters_prove_nothing),
        T(owners_are_compared_without_case),
        T(iterations_above_50_make_the_zone_insecure),
        T(nsec_proof_counts_beside_nsec3_records),
        T(hashing_stops_before_the_units_are_below_0),
        T(nsec_costs_no_units),
        T(long_name_costs_no_more_than_its_next_closer_name),
        T(bound_on_hashes_is_reached),
        T(zone_beside_the_name_ends_the_walk),
        T(count_above_the_bound_reads_only_the_bound),
        T(ds_by_the_types_of_the_name),
        T(wildcard_makes_no_zone_cut),
        T(compact_denial_stays_nodata),
        T(compact_denial_denies_the_name_and_all_below_it),
        T(compact_denial_with_data_denies_no_name),
        T(compact_span_denies_no_other_name),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
