/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/transfer/xfr_play.h"

#include "transfer/xfr_reader.h"

struct world {
    char heard[1024];
    const char *refused; /* the sink refuses this record */
    struct xfr_reader reader;
    enum xfr_result result;
};

static enum err hear(struct world *world, const char *word)
{
    size_t len = strlen(world->heard);
    if (world->refused && strcmp(word, world->refused) == 0)
        return ERR_LIMIT;
    snprintf(world->heard + len, sizeof(world->heard) - len, "%s%s", len ? " " : "", word);
    return ERR_OK;
}

static enum err on_begin(void *owner, bool is_whole)
{
    return hear(owner, is_whole ? "whole" : "changes");
}

static enum err hear_record(void *owner, char sign, struct name name, uint16_t type,
                            struct span rdata)
{
    char word[64];
    if (type == RRTYPE_SOA) {
        assert_true(name_equal(name, NAME("example.com")));
        /* the RDATA is uncompressed: two names of 13 bytes, and the numbers */
        assert_int_equal(rdata.len, 2 * 13 + 20);
        snprintf(word, sizeof(word), "%cS%u", sign, get_u32(rdata.data + 26));
    } else {
        assert_int_equal(rdata.len, type == RRTYPE_A ? 4 : 0);
        snprintf(word, sizeof(word), "%c%c%u", sign, name.wire[1],
                 type == RRTYPE_A ? rdata.data[3] : 0);
    }
    return hear(owner, word);
}

static enum err on_add(void *owner, struct name name, uint16_t type, uint32_t ttl,
                       struct span rdata)
{
    assert_int_equal(ttl, type == RRTYPE_SOA ? 3600 : 300);
    return hear_record(owner, '+', name, type, rdata);
}

static enum err on_remove(void *owner, struct name name, uint16_t type, struct span rdata)
{
    return hear_record(owner, '-', name, type, rdata);
}

static const struct xfr_sink sink = {on_begin, on_add, on_remove};

static void world_begin(struct world *world, uint16_t type, uint32_t held_serial)
{
    static const uint8_t zone[] = "\7example\3com";
    memset(world, 0, sizeof(*world));
    world->reader = (struct xfr_reader){.zone = {zone, sizeof(zone)},
                                        .type = type,
                                        .id = PLAY_ID,
                                        .held_serial = held_serial,
                                        .max_stream_bytes = 1 << 20,
                                        .sink = &sink,
                                        .sink_owner = world};
}

static void take(struct world *world, const uint8_t *bytes, size_t len)
{
    /* exact size, so that a sanitizer detects overruns */
    uint8_t *copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    assert_int_equal(world->result, XFR_MORE);
    world->result = xfr_reader_take(&world->reader, span_of(copy, len));
    free(copy);
}

/* Plays messages, which "|" separates. */
static void play(struct world *world, const char *messages)
{
    char text[512], *rest = text;
    snprintf(text, sizeof(text), "%s", messages);
    bool is_first = true;
    for (char *part; (part = strsep(&rest, "|")); is_first = false) {
        uint8_t bytes[PLAY_MESSAGE_MAX];
        take(world, bytes, play_message(bytes, is_first ? world->reader.type : 0, part));
    }
}

struct row {
    const char *messages;
    enum xfr_result result;
    const char *heard;
};

static void play_rows(const struct row *rows, size_t count, uint16_t type, uint32_t held_serial)
{
    for (size_t i = 0; i < count; i++) {
        struct world world;
        world_begin(&world, type, held_serial);
        play(&world, rows[i].messages);
        if (world.result != rows[i].result || strcmp(world.heard, rows[i].heard) != 0)
            fail_msg("%s: %s, heard %s", rows[i].messages, xfr_result_text(world.result),
                     world.heard);
    }
}

#define PLAY_ROWS(rows, type, held) play_rows(rows, sizeof(rows) / sizeof(*(rows)), type, held)

static void test_a_whole_zone_ends_with_its_soa(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"S5 a1 b2 S5", XFR_COMPLETE, "whole +S5 +a1 +b2"},
        {"S5|a1|b2|S5", XFR_COMPLETE, "whole +S5 +a1 +b2"},
        {"S5 a1|b2 S5", XFR_COMPLETE, "whole +S5 +a1 +b2"},
        {"S5 S5", XFR_BARE, "whole +S5"},
        {"S5|S5", XFR_BARE, "whole +S5"},
        {"S5 ~1 S5", XFR_BARE, "whole +S5"},
        {"S5 S6", XFR_DISORDER, "whole +S5"},
        {"S5 a1", XFR_MORE, "whole +S5 +a1"},
        {"S5 a1|", XFR_MORE, "whole +S5 +a1"},
        {"", XFR_EMPTY, ""},
        {"a1 S5 S5", XFR_EMPTY, ""},
        {"~1 S5 S5", XFR_EMPTY, ""},
        {"S5 a1 S6", XFR_DISORDER, "whole +S5 +a1"},
        {"S5 a1 S5 b1", XFR_EXTRA, "whole +S5 +a1"},
        {"S5 a1 S5 S5", XFR_EXTRA, "whole +S5 +a1"},
    };
    PLAY_ROWS(rows, RRTYPE_AXFR, 0);
}

static void test_changes_lead_from_version_to_version(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"S5 S4 a1 S5 b1 S5", XFR_COMPLETE, "changes -S4 -a1 +S5 +b1"},
        {"S5|S4|a1|S5|b1|S5", XFR_COMPLETE, "changes -S4 -a1 +S5 +b1"},
        {"S6 S4 a1 S5 b1 S5 b1 S6 c1 S6", XFR_COMPLETE, "changes -S4 -a1 +S5 +b1 -S5 -b1 +S6 +c1"},
        {"S9 S4 a1 S9 c1 S9", XFR_COMPLETE, "changes -S4 -a1 +S9 +c1"}, /* several changes in one */
        {"S5 S4 S5 S5", XFR_COMPLETE, "changes -S4 +S5"},
        {"S5 S4 a1", XFR_MORE, "changes -S4 -a1"},
        {"S5 S3 a1 S5 S5", XFR_DISORDER, ""},
        {"S6 S4 S5 S6", XFR_DISORDER, "changes -S4 +S5"},
        {"S6 S4 S5 S4", XFR_DISORDER, "changes -S4 +S5"},
        {"S6 S4 S3 a1", XFR_DISORDER, "changes -S4"},
        {"S6 S4 S4 a1", XFR_DISORDER, "changes -S4"},
        {"S5 S4 S5 S5 a1", XFR_EXTRA, "changes -S4 +S5"},
    };
    PLAY_ROWS(rows, RRTYPE_IXFR, 4);
}

static void test_serials_wrap_around(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"S3 S4294967295 a1 S3 b1 S3", XFR_COMPLETE, "changes -S4294967295 -a1 +S3 +b1"},
        {"S3", XFR_MORE, ""},
        {"S4294967294", XFR_OLDER, ""},
        {"S2147483647", XFR_OLDER, ""}, /* 2^31 apart is not newer */
    };
    PLAY_ROWS(rows, RRTYPE_IXFR, UINT32_MAX);
}

static void test_a_whole_zone_may_answer_ixfr(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"S5 a1 b2 S5", XFR_COMPLETE, "whole +S5 +a1 +b2"},
        {"S5|a1|S5", XFR_COMPLETE, "whole +S5 +a1"},
        {"S5 a1 S5 S5", XFR_EXTRA, "whole +S5 +a1"},
    };
    PLAY_ROWS(rows, RRTYPE_IXFR, 4);
}

/* Two equal SOA records, read as a whole zone, would leave the zone without names. */
static void test_the_soa_twice_is_no_empty_zone(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"S4 S4", XFR_CURRENT, ""}, {"S5 S5", XFR_DISORDER, ""},    {"S5|S5", XFR_DISORDER, ""},
        {"S3 S3", XFR_OLDER, ""},   {"S5 ~1 S5", XFR_DISORDER, ""},
    };
    PLAY_ROWS(rows, RRTYPE_IXFR, 4);
}

static void test_an_older_version_is_never_taken_for_changes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"S3 a1 S3", XFR_OLDER, ""},
        {"S4 a1 S4", XFR_CURRENT, ""},
        {"S3 S4 S2147483647 S2147483647 S3 S3", XFR_OLDER, ""}, /* across the wrap of serials */
    };
    PLAY_ROWS(rows, RRTYPE_IXFR, 4);
}

static void test_a_lone_soa_says_that_nothing_is_newer(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"S4", XFR_CURRENT, ""}, {"S3", XFR_OLDER, ""}, {"S5", XFR_MORE, ""}};
    PLAY_ROWS(rows, RRTYPE_IXFR, 4);
}

static void test_records_outside_the_zone_are_left_out(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, RRTYPE_AXFR, 0);
    play(&world, "S5 ~1 a1|~2 S5");
    assert_int_equal(world.result, XFR_COMPLETE);
    assert_string_equal(world.heard, "whole +S5 +a1");
    assert_int_equal(world.reader.out_of_zone, 2);
    assert_int_equal(world.reader.records, 5);
    assert_int_equal(world.reader.serial, 5);
}

static void test_the_sink_may_refuse(void **state)
{
    (void)state;
    static const char *const words[] = {"whole", "+S5", "+a1", "changes", "-S4", "-a1"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        struct world world;
        world_begin(&world, i < 3 ? RRTYPE_AXFR : RRTYPE_IXFR, 4);
        world.refused = words[i];
        play(&world, i < 3 ? "S5 a1 S5" : "S5 S4 a1 S5 b1 S5");
        assert_int_equal(world.result, XFR_REJECTED);
        assert_int_equal(world.reader.err, ERR_LIMIT);
    }
}

static void test_a_stream_has_a_bound(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, RRTYPE_AXFR, 0);
    uint8_t bytes[PLAY_MESSAGE_MAX];
    size_t first = play_message(bytes, RRTYPE_AXFR, "S5 a1");
    size_t second = play_message(bytes, 0, "b1");
    world.reader.max_stream_bytes = first + second;
    play(&world, "S5 a1|b1");
    assert_int_equal(world.result, XFR_MORE);
    play(&world, "S5");
    assert_int_equal(world.result, XFR_TOO_LARGE);
}

/* ---- headers ---- */

struct header_row {
    size_t offset;
    uint8_t byte;
    enum xfr_result result;
};

static void test_wrong_headers(void **state)
{
    (void)state;
    static const struct header_row rows[] = {
        {0, 0x13, XFR_UNRELATED}, /* id */
        {2, 0x04, XFR_UNRELATED}, /* no answer */
        {2, 0xa4, XFR_UNRELATED}, /* NOTIFY */
        {2, 0x86, XFR_TRUNCATED}, /* TC */
        {3, 5, XFR_RCODE},        /* REFUSED */
        {5, 0, XFR_MALFORMED},    /* no question: the records do not parse */
        {7, 200, XFR_MALFORMED},  /* too many records */
        {7, 1, XFR_MALFORMED},    /* trailing bytes */
        {13, 'f', XFR_UNRELATED}, /* QNAME */
        {26, 251, XFR_UNRELATED}, /* QTYPE */
        {28, 3, XFR_UNRELATED},   /* QCLASS */
        {13, 'E', XFR_COMPLETE},  /* case */
        {32, 3, XFR_MALFORMED},   /* class of the first record */
        {3, 0, XFR_COMPLETE},     /* unchanged */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct world world;
        uint8_t bytes[PLAY_MESSAGE_MAX];
        world_begin(&world, RRTYPE_AXFR, 0);
        size_t len = play_message(bytes, RRTYPE_AXFR, "S5 a1 S5");
        bytes[rows[i].offset == 32 ? 34 : rows[i].offset] = rows[i].byte;
        take(&world, bytes, len);
        if (world.result != rows[i].result)
            fail_msg("byte %zu: %s", rows[i].offset, xfr_result_text(world.result));
        assert_int_equal(world.reader.rcode, rows[i].result == XFR_RCODE ? RCODE_REFUSED : 0);
    }
}

static void test_a_later_message_may_repeat_the_question(void **state)
{
    (void)state;
    for (uint16_t type = RRTYPE_IXFR; type <= RRTYPE_AXFR; type++) {
        struct world world;
        uint8_t bytes[PLAY_MESSAGE_MAX];
        world_begin(&world, RRTYPE_AXFR, 0);
        play(&world, "S5 a1");
        take(&world, bytes, play_message(bytes, type, "S5"));
        assert_int_equal(world.result, type == RRTYPE_AXFR ? XFR_COMPLETE : XFR_UNRELATED);
    }
}

static void test_the_first_message_needs_its_question(void **state)
{
    (void)state;
    struct world world;
    uint8_t bytes[PLAY_MESSAGE_MAX];
    world_begin(&world, RRTYPE_AXFR, 0);
    take(&world, bytes, play_message(bytes, 0, "S5 S5"));
    assert_int_equal(world.result, XFR_UNRELATED);
}

/* A server that did not read the question refuses. */
static void test_a_refusal_may_lack_the_question(void **state)
{
    (void)state;
    struct world world;
    uint8_t bytes[PLAY_MESSAGE_MAX];
    world_begin(&world, RRTYPE_IXFR, 4);
    size_t len = play_message(bytes, 0, "");
    header_set_rcode(bytes, RCODE_NOTIMP);
    take(&world, bytes, len);
    assert_int_equal(world.result, XFR_RCODE);
    assert_int_equal(world.reader.rcode, RCODE_NOTIMP);
}

/* ---- records ---- */

/* Plays a message with four records: SOA, an address, a record of this type and RDATA, SOA. */
static enum xfr_result result_of_record(const char *owner, uint16_t type, struct span rdata)
{
    struct world world;
    struct build build;
    uint8_t bytes[PLAY_MESSAGE_MAX];
    struct question question = {NAME("example.com"), RRTYPE_AXFR, RRCLASS_IN};
    world_begin(&world, RRTYPE_AXFR, 0);
    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, PLAY_ID, HEADER_QR);
    build_question(&build, &question);
    build_section(&build, SECTION_ANSWER);
    play_soa(&build, NAME("example.com"), 5);
    play_address(&build, "a1");
    build_rr_begin(&build, NAME(owner), type, RRCLASS_IN, 300);
    build_bytes(&build, rdata.data, rdata.len);
    build_rr_end(&build);
    play_soa(&build, NAME("example.com"), 5);
    take(&world, bytes, build_finish(&build));
    return world.result;
}

static void test_malformed_records_end_the_transfer(void **state)
{
    (void)state;
    static const uint8_t address[] = {192, 0, 2, 1}, soa[22] = {0};
    const char *www = "www.example.com";
    assert_int_equal(result_of_record(www, RRTYPE_A, span_of(address, 4)), XFR_COMPLETE);
    assert_int_equal(result_of_record(www, RRTYPE_A, span_of(address, 3)), XFR_MALFORMED);
    assert_int_equal(result_of_record(www, RRTYPE_A, span_of(address, 0)), XFR_MALFORMED);
    assert_int_equal(result_of_record(www, RRTYPE_NS, span_of("\300\377", 2)), XFR_MALFORMED);
    assert_int_equal(result_of_record(www, RRTYPE_AXFR, span_of(address, 4)), XFR_MALFORMED);
    assert_int_equal(result_of_record(www, RRTYPE_ANY, span_of(address, 0)), XFR_MALFORMED);
    assert_int_equal(result_of_record(www, 65400, span_of(address, 0)), XFR_COMPLETE);
    assert_int_equal(result_of_record(www, RRTYPE_SOA, span_of(soa, 22)), XFR_MALFORMED);
    assert_int_equal(result_of_record("example.com", RRTYPE_SOA, span_of(soa, 21)), XFR_MALFORMED);
    assert_int_equal(result_of_record("example.net", RRTYPE_SOA, span_of(soa, 22)), XFR_COMPLETE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_zone_ends_with_its_soa),
        cmocka_unit_test(test_changes_lead_from_version_to_version),
        cmocka_unit_test(test_serials_wrap_around),
        cmocka_unit_test(test_a_whole_zone_may_answer_ixfr),
        cmocka_unit_test(test_the_soa_twice_is_no_empty_zone),
        cmocka_unit_test(test_an_older_version_is_never_taken_for_changes),
        cmocka_unit_test(test_a_lone_soa_says_that_nothing_is_newer),
        cmocka_unit_test(test_records_outside_the_zone_are_left_out),
        cmocka_unit_test(test_the_sink_may_refuse),
        cmocka_unit_test(test_a_stream_has_a_bound),
        cmocka_unit_test(test_wrong_headers),
        cmocka_unit_test(test_a_later_message_may_repeat_the_question),
        cmocka_unit_test(test_the_first_message_needs_its_question),
        cmocka_unit_test(test_a_refusal_may_lack_the_question),
        cmocka_unit_test(test_malformed_records_end_the_transfer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
