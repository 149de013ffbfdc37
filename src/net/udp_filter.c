/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The program of udp_filter.h, in the kernel's classic BPF, which needs no privilege. It copies the
 * words of the source address to the program's memory and compares them with one prefix after
 * another. udp_server.c attaches it.
 *
 * Invariant: each jump leads over at most one prefix, so it fits into its eight bits.
 */

#include "net/udp_filter.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/check.h"

enum { V4_SOURCE_AT = 12, V6_SOURCE_AT = 8 }; /* offsets in the IP header */

static const uint32_t keep_whole = INT32_MAX; /* bytes of the datagram */

struct program {
    struct sock_filter *steps;
    size_t count;
};

static void filter_put_step(struct program *program, uint16_t code, uint32_t value)
{
    program->steps[program->count++] = (struct sock_filter){.code = code, .k = value};
}

/* Skips a number of steps unless the accumulator equals the value. */
static void filter_put_unless_equal(struct program *program, uint32_t value, uint8_t over)
{
    program->steps[program->count++] =
        (struct sock_filter){.code = BPF_JMP | BPF_JEQ | BPF_K, .jf = over, .k = value};
}

static void filter_put_lottery(struct program *program, uint32_t keep)
{
    MUST(keep < UDP_THINNED_WHOLE);
    filter_put_step(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_RANDOM));
    program->steps[program->count++] =
        (struct sock_filter){.code = BPF_JMP | BPF_JGE | BPF_K,
                             .jt = 1,
                             .k = keep * (uint32_t)(UINT32_MAX / UDP_THINNED_WHOLE + 1)};
    filter_put_step(program, BPF_RET | BPF_K, keep_whole);
    filter_put_step(program, BPF_RET | BPF_K, 0);
}

static void filter_put_source(struct program *program, int family, unsigned words)
{
    uint32_t at = (uint32_t)(SKF_NET_OFF + (family == AF_INET ? V4_SOURCE_AT : V6_SOURCE_AT));
    for (unsigned word = 0; word < words; word++) {
        filter_put_step(program, BPF_LD | BPF_W | BPF_ABS, at + 4 * word);
        filter_put_step(program, BPF_ST, word);
    }
}

/* The first bits of a word that belong to a prefix. */
static uint32_t mask_of(unsigned bits, unsigned word)
{
    unsigned before = 32 * word;
    unsigned here = bits > before ? MIN(bits - before, 32) : 0;
    return here ? UINT32_MAX << (32 - here) : 0;
}

static void filter_put_thinned(struct program *program, const struct udp_thinned *thinned)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(&thinned->prefix, &len);
    unsigned words = (thinned->bits + 31u) / 32;
    MUST(words <= len / 4);
    for (unsigned word = 0; word < words; word++) {
        uint32_t mask = mask_of(thinned->bits, word), value;
        memcpy(&value, bytes + 4 * word, sizeof(value));
        filter_put_step(program, BPF_LD | BPF_MEM, word);
        filter_put_step(program, BPF_ALU | BPF_AND | BPF_K, mask);
        filter_put_unless_equal(program, ntohl(value) & mask,
                                (uint8_t)(3 * (words - word - 1) + 4));
    }
    filter_put_lottery(program, thinned->keep);
}

size_t udp_filter_build(struct sock_filter steps[UDP_FILTER_STEPS_MAX], int family,
                        const struct udp_thinned *thinned, unsigned count)
{
    struct program program = {.steps = steps};
    MUST(count <= UDP_THINNED_MAX);
    filter_put_source(&program, family, family == AF_INET ? 1 : UDP_FILTER_WORDS);
    for (unsigned i = 0; i < count; i++)
        filter_put_thinned(&program, &thinned[i]);
    filter_put_step(&program, BPF_RET | BPF_K, keep_whole);
    return program.count;
}
