/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "dns/build.h"

static uint8_t out[65535];
static struct build build;

static void start(const char *question_name)
{
    struct question question = {.name = NAME(question_name), .type = 1, .cls = 1};
    build_init(&build, out, sizeof(out));
    build_header(&build, 0, 0);
    build_question(&build, &question);
}

/* Writes the name, reads it back, and returns how many bytes it took. */
static size_t add(struct name name)
{
    size_t offset = build_len(&build);
    build_name_compressed(&build, name);
    assert_false(build.overflow);
    uint8_t wire[NAME_WIRE_MAX];
    struct name back;
    struct span written = span_of(out, build_len(&build));
    assert_int_equal(name_read(written, offset, wire, &back), written.len);
    assert_true(name_equal(back, name));
    return build_len(&build) - offset;
}

static void test_repeated_name_is_a_pointer(void **state)
{
    (void)state;
    start("www.example.com");
    assert_int_equal(add(NAME("www.example.com")), 2);
    assert_memory_equal(build.at - 2, "\xc0\x0c", 2);
    assert_int_equal(add(NAME("WWW.EXAMPLE.COM")), 2);
}

static void test_pointer_leads_to_the_longest_suffix(void **state)
{
    (void)state;
    start("www.example.com");
    assert_int_equal(add(NAME("mail.example.com")), 5 + 2);
    assert_int_equal(add(NAME("a.mail.example.com")), 2 + 2);
    assert_int_equal(add(NAME("example.com")), 2);
    assert_int_equal(add(NAME("other.com")), 6 + 2);
    assert_int_equal(add(NAME("org")), 5);
    assert_int_equal(add(NAME("example.org")), 8 + 2);
}

static unsigned slots_used(void)
{
    unsigned used = 0;
    for (unsigned i = 0; build.has_names && i < BUILD_SLOTS; i++)
        used += build.slots[i].offset != 0;
    return used;
}

/* Writes a name below `name` whose label finds a free slot. Returns false when there is no such
 * label. */
static bool add_below(uint8_t *wire, struct name *name)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        struct build before = build;
        unsigned used = slots_used();
        uint8_t longer[NAME_WIRE_MAX] = {1, (uint8_t)byte};
        memcpy(longer + 2, name->wire, name->len);
        build_name_compressed(&build, (struct name){longer, (uint8_t)(name->len + 2)});
        if (slots_used() > used) {
            *name = name_copy((struct name){longer, (uint8_t)(name->len + 2)}, wire);
            return true;
        }
        build = before;
    }
    return false;
}

/* Each name ends in a pointer to the previous one. The labels are chosen so that the table
 * remembers every name. */
static void test_names_with_the_longest_chain_of_pointers_read_back(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX], back_wire[NAME_WIRE_MAX];
    struct name name = name_copy(name_root(), wire), back;
    start(".");
    while (add_below(wire, &name))
        ;
    assert_int_equal(slots_used(), BUILD_SLOTS);
    size_t last = build_len(&build);
    uint8_t longer[NAME_WIRE_MAX] = {1, 'a'};
    memcpy(longer + 2, name.wire, name.len);
    add((struct name){longer, (uint8_t)(name.len + 2)});
    size_t bare = build_len(&build);
    build_pointer(&build, (uint16_t)last);
    assert_true(name_read(span_of(out, build_len(&build)), bare, back_wire, &back));
    assert_int_equal(name_label_count(back), BUILD_SLOTS + 1);
}

static void test_root_is_never_a_pointer(void **state)
{
    (void)state;
    start(".");
    assert_int_equal(add(name_root()), 1);
    assert_int_equal(add(NAME("a")), 3);
    assert_int_equal(add(NAME("a")), 2);
}

static void test_message_without_question_compresses_too(void **state)
{
    (void)state;
    build_init(&build, out, sizeof(out));
    build_header(&build, 0, 0);
    assert_int_equal(add(NAME("a.b")), 5);
    assert_int_equal(add(NAME("x.a.b")), 4);
}

static void test_plain_names_are_not_compressed(void **state)
{
    (void)state;
    start("www.example.com");
    size_t before = build_len(&build);
    build_name(&build, NAME("www.example.com"));
    assert_int_equal(build_len(&build) - before, 17);
}

static void test_names_beyond_the_reach_of_pointers_are_written_whole(void **state)
{
    (void)state;
    start("q");
    static const uint8_t zeros[0x4000];
    build_bytes(&build, zeros, 0x3fff - build_len(&build));
    assert_int_equal(add(NAME("at.limit")), 10);
    assert_int_equal(add(NAME("at.limit")), 2);
    assert_int_equal(add(NAME("behind.it")), 11);
    assert_int_equal(add(NAME("behind.it")), 11);
}

static void test_full_table_costs_only_compression(void **state)
{
    (void)state;
    start("www.example.com");
    for (int i = 0; i < 5000; i++) {
        char text[64];
        snprintf(text, sizeof(text), "n%d.x%d", i % 3000, i % 7);
        add(NAME(text));
    }
    assert_int_equal(add(NAME("www.example.com")), 2);
}

static void test_name_of_127_labels_is_written(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX] = {0};
    for (int i = 0; i < 254; i += 2) {
        wire[i] = 1;
        wire[i + 1] = (uint8_t)('a' + i % 20);
    }
    struct name name = {.wire = wire, .len = 255};
    start("q");
    assert_int_equal(add(name), 255);
    assert_int_equal(add(name), 2);
    assert_int_equal(add(name_strip(name, BUILD_SUFFIXES_MAX - 1)), 2);
    /* the table remembers no further suffixes */
    assert_int_equal(add(name_suffix(name, 1)), 3);
}

static void test_table_of_an_earlier_message_is_forgotten(void **state)
{
    (void)state;
    start("www.example.com");
    add(NAME("a.example.com"));
    start("q");
    assert_int_equal(add(NAME("a.example.com")), 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated_name_is_a_pointer),
        cmocka_unit_test(test_pointer_leads_to_the_longest_suffix),
        cmocka_unit_test(test_names_with_the_longest_chain_of_pointers_read_back),
        cmocka_unit_test(test_root_is_never_a_pointer),
        cmocka_unit_test(test_message_without_question_compresses_too),
        cmocka_unit_test(test_plain_names_are_not_compressed),
        cmocka_unit_test(test_names_beyond_the_reach_of_pointers_are_written_whole),
        cmocka_unit_test(test_full_table_costs_only_compression),
        cmocka_unit_test(test_name_of_127_labels_is_written),
        cmocka_unit_test(test_table_of_an_earlier_message_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
