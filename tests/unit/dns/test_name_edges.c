/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Names are read by words and blocks. The names here lie at the edge of readable memory, so a read
 * before or after them ends the test. */
#include "unit/dns/sample.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dns/case_bits.h"
#include "dns/name.h"
#include "dns/word.h"

/* Readable memory from begin to end, with unreadable pages on both sides. */
struct island {
    uint8_t *begin, *end;
};

static struct island one, other;

static struct island island_make(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *sea = mmap(NULL, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(sea != MAP_FAILED);
    assert_int_equal(mprotect(sea + size, size, PROT_READ | PROT_WRITE), 0);
    return (struct island){sea + size, sea + 2 * size};
}

/* Makes a name of len bytes with labels of at most 20 letters. A name of two bytes does not exist.
 */
static void write_name(uint8_t *out, size_t len)
{
    size_t at = 0;
    while (len - at > 1) {
        size_t left = len - at - 2, size = left > 20 ? 20 : left;
        if (left - size == 1) /* one byte more would be an empty label */
            size--;
        out[at++] = (uint8_t)size;
        for (size_t i = 0; i < size; i++, at++)
            out[at] = (uint8_t)((i % 2 ? 'a' : 'A') + at % 26);
    }
    out[at] = 0;
}

static bool is_length(size_t len)
{
    return len != 2;
}

/* Puts a name of len bytes at the start or the end of the island. */
static struct name name_at(const struct island *island, bool at_end, size_t len)
{
    uint8_t *wire = at_end ? island->end - len : island->begin;
    write_name(wire, len);
    return (struct name){wire, (uint8_t)len};
}

static void compare(struct name a, struct name b)
{
    uint8_t *wire = (uint8_t *)(uintptr_t)b.wire;
    assert_true(name_equal(a, b));
    assert_true(name_is_below(a, b));
    for (size_t i = 0; i < b.len; i++) {
        wire[i] ^= 0x20;
        bool is_letter = (uint8_t)((wire[i] | 0x20) - 'a') < 26;
        assert_int_equal(name_equal(a, b), is_letter);
        assert_int_equal(name_equal(b, a), is_letter);
        wire[i] ^= 0x21;
        assert_false(name_equal(a, b));
        wire[i] ^= 1;
    }
}

static void test_names_of_every_length_are_compared_within_their_bytes(void **state)
{
    (void)state;
    for (size_t len = 1; len <= NAME_WIRE_MAX; len++)
        for (unsigned edges = 0; is_length(len) && edges < 4; edges++)
            compare(name_at(&one, edges & 1, len), name_at(&other, edges & 2, len));
}

static void test_names_of_every_length_are_copied_within_their_bytes(void **state)
{
    (void)state;
    uint8_t bits[NAME_WIRE_MAX];
    memset(bits, 0xa5, sizeof(bits));
    for (size_t len = 1; len <= NAME_WIRE_MAX; len++)
        for (unsigned edges = 0; is_length(len) && edges < 4; edges++) {
            struct name from = name_at(&one, edges & 1, len);
            uint8_t *to = edges & 2 ? other.end - len : other.begin;
            word_copy(to, from.wire, len);
            assert_memory_equal(to, from.wire, len);
            case_randomise(to, (uint8_t)len, bits);
            struct name spelled = {to, (uint8_t)len};
            assert_true(name_equal(spelled, from));
            assert_true(name_hash(spelled, 7) == name_hash(from, 7));
        }
}

/* The message ends where the page ends: before, at, or after the end of the name. */
static void test_a_name_in_a_message_is_compared_within_the_message(void **state)
{
    (void)state;
    for (size_t len = 1; len <= NAME_WIRE_MAX; len++) {
        if (!is_length(len))
            continue;
        struct name name = name_at(&one, true, len);
        for (size_t there = 0; there <= len + 1; there++) {
            size_t size = HEADER_LEN + there;
            uint8_t *bytes = other.end - size;
            memset(bytes, 0, size);
            memcpy(bytes + HEADER_LEN, name.wire, there < len ? there : len);
            assert_int_equal(name_equal_in_message(span_of(bytes, size), HEADER_LEN, name),
                             there >= len);
        }
    }
}

/* Compares random labels and pointers at the end of a page with random names. */
static void test_no_bytes_of_a_message_lead_past_its_end(void **state)
{
    (void)state;
    static const uint8_t interesting[] = {0, 1, 7, 15, 16, 63, 64, 0x80, 0xc0, 12, 13, 0xff, 'a'};
    enum { COUNT = sizeof(interesting), LEN = 4 };
    for (size_t len = 1; len <= 40; len++) {
        struct name name = name_at(&one, true, is_length(len) ? len : 255);
        for (unsigned pick = 0; pick < COUNT * COUNT * COUNT * COUNT; pick += 3) {
            uint8_t *bytes = other.end - HEADER_LEN - LEN;
            unsigned rest = pick;
            memset(bytes, 0, HEADER_LEN);
            for (unsigned i = 0; i < LEN; i++, rest /= COUNT)
                bytes[HEADER_LEN + i] = interesting[rest % COUNT];
            for (size_t at = HEADER_LEN; at <= HEADER_LEN + LEN; at++) {
                uint8_t wire[NAME_WIRE_MAX];
                struct name read;
                struct span message = span_of(bytes, HEADER_LEN + LEN);
                bool is_equal = name_read(message, at, wire, &read) && name_equal(read, name);
                assert_int_equal(name_equal_in_message(message, at, name), is_equal);
            }
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    one = island_make();
    other = island_make();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_every_length_are_compared_within_their_bytes),
        cmocka_unit_test(test_names_of_every_length_are_copied_within_their_bytes),
        cmocka_unit_test(test_a_name_in_a_message_is_compared_within_the_message),
        cmocka_unit_test(test_no_bytes_of_a_message_lead_past_its_end),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
