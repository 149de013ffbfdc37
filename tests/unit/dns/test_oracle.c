/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * ldns is the oracle. It makes messages from random sound records, and we compare them record by
 * record after parsing. Then ldns reads the messages that we rebuild.
 */
#include "unit/dns/sample.h"

#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>

#include "dns/copy.h"
#include "dns/rrtype.h"

enum { ROUNDS = 3000, RRS_MAX = 12, LINE_MAX_BYTES = 4096 };

static uint64_t random_state;

/* Returns the next number of a fixed sequence, so that a failure can be repeated. */
static unsigned draw(unsigned bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % bound;
}

/* Draws from few labels, so that names share suffixes. Some names are long, some have odd labels.
 */
static const char *draw_name(char out[NAME_TEXT_MAX])
{
    static const char *const labels[] = {"a",      "www",   "example", "com",
                                         "mail-1", "x\\.y", "_tcp",    "\\007z",
                                         "net",    "c",     "n2",      "longer-label-here"};
    size_t len = 0;
    for (unsigned count = draw(draw(8) ? 5 : 13); count > 0; count--)
        len += (size_t)snprintf(out + len, NAME_TEXT_MAX - len, "%s.", labels[draw(12)]);
    snprintf(out + len, NAME_TEXT_MAX - len, len ? "org." : ".");
    return out;
}

static const char *draw_rdata(char out[LINE_MAX_BYTES])
{
    char a[NAME_TEXT_MAX], b[NAME_TEXT_MAX];
    draw_name(a);
    draw_name(b);
    switch (draw(15)) {
    case 0:
        snprintf(out, LINE_MAX_BYTES, "A 192.0.2.%u", draw(256));
        break;
    case 1:
        snprintf(out, LINE_MAX_BYTES, "AAAA 2001:db8::%x", draw(65536));
        break;
    case 2:
        snprintf(out, LINE_MAX_BYTES, "NS %s", a);
        break;
    case 3:
        snprintf(out, LINE_MAX_BYTES, "CNAME %s", a);
        break;
    case 4:
        snprintf(out, LINE_MAX_BYTES, "SOA %s %s %u 2 3 4 5", a, b, draw(1000));
        break;
    case 5:
        snprintf(out, LINE_MAX_BYTES, "MX %u %s", draw(65536), a);
        break;
    case 6:
        snprintf(out, LINE_MAX_BYTES, "TXT \"some text\" \"%u\"", draw(1000));
        break;
    case 7:
        snprintf(out, LINE_MAX_BYTES, "SRV 1 2 %u %s", draw(65536), a);
        break;
    case 8:
        snprintf(out, LINE_MAX_BYTES, "NAPTR 1 2 \"u\" \"E2U\" \"!a!b!\" %s", a);
        break;
    case 9:
        snprintf(out, LINE_MAX_BYTES, "DNAME %s", a);
        break;
    case 10:
        snprintf(out, LINE_MAX_BYTES, "RP %s %s", a, b);
        break;
    case 11:
        snprintf(out, LINE_MAX_BYTES, "DS %u 8 2 00112233445566778899aabbccddeeff", draw(65536));
        break;
    case 12:
        snprintf(out, LINE_MAX_BYTES, "NSEC %s A NS RRSIG NSEC", a);
        break;
    case 13:
        snprintf(out, LINE_MAX_BYTES, "RRSIG A 8 2 60 20300101000000 20200101000000 %u %s AAAA",
                 draw(65536), a);
        break;
    default:
        snprintf(out, LINE_MAX_BYTES, "TYPE%u \\# 3 c00c00", 60000 + draw(100));
        break;
    }
    return out;
}

static ldns_rr *draw_rr(void)
{
    char owner[NAME_TEXT_MAX], rdata[LINE_MAX_BYTES], line[3 * LINE_MAX_BYTES];
    ldns_rr *rr = NULL;
    snprintf(line, sizeof(line), "%s %u IN %s", draw_name(owner), draw(100000), draw_rdata(rdata));
    if (ldns_rr_new_frm_str(&rr, line, 60, NULL, NULL) != LDNS_STATUS_OK)
        fail_msg("ldns refuses %s", line);
    return rr;
}

static ldns_pkt *draw_packet(void)
{
    static const ldns_pkt_section sections[] = {LDNS_SECTION_ANSWER, LDNS_SECTION_AUTHORITY,
                                                LDNS_SECTION_ADDITIONAL};
    char text[NAME_TEXT_MAX];
    ldns_rdf *name = ldns_dname_new_frm_str(draw_name(text));
    ldns_pkt *packet = ldns_pkt_query_new(name, LDNS_RR_TYPE_A, LDNS_RR_CLASS_IN, LDNS_RD);
    ldns_pkt_set_id(packet, (uint16_t)draw(65536));
    ldns_pkt_set_qr(packet, true);
    ldns_pkt_set_rcode(packet, (uint8_t)draw(6));
    for (unsigned count = draw(RRS_MAX); count > 0; count--)
        ldns_pkt_push_rr(packet, sections[draw(3)], draw_rr());
    if (draw(2))
        ldns_pkt_set_edns_udp_size(packet, (uint16_t)(1000 + draw(1000)));
    return packet;
}

/* ---- comparing ---- */

static void assert_same_name(struct name name, const ldns_rdf *theirs)
{
    struct name other = {.wire = ldns_rdf_data(theirs), .len = (uint8_t)ldns_rdf_size(theirs)};
    assert_true(name_equal_exact(name, other));
}

static void assert_same_rrs(const struct message *message, enum section section,
                            const ldns_rr_list *list)
{
    struct rr_iter iter = message_rrs(message, section);
    size_t count = 0;
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rr.type == RRTYPE_OPT)
            continue;
        assert_true(count < ldns_rr_list_rr_count(list));
        const ldns_rr *theirs = ldns_rr_list_rr(list, count++);
        uint8_t wire[NAME_WIRE_MAX];
        struct name target;
        assert_same_name(message_owner(message, &rr, wire), ldns_rr_owner(theirs));
        assert_int_equal(rr.type, ldns_rr_get_type(theirs));
        assert_int_equal(rr.cls, ldns_rr_get_class(theirs));
        assert_int_equal(rr.ttl, ldns_rr_ttl(theirs));
        assert_true(message_check_rr(message, &rr));
        if (rr.type == RRTYPE_NS || rr.type == RRTYPE_CNAME || rr.type == RRTYPE_SOA) {
            assert_true(message_target(message, &rr, wire, &target));
            assert_same_name(target, ldns_rr_rdf(theirs, 0));
        }
    }
    assert_int_equal(count, ldns_rr_list_rr_count(list));
}

static void assert_same_packet(const struct message *message, const ldns_pkt *packet)
{
    assert_int_equal(message->id, ldns_pkt_id(packet));
    assert_int_equal(message_rcode(message), ldns_pkt_get_rcode(packet));
    assert_same_name(message->question.name,
                     ldns_rr_owner(ldns_rr_list_rr(ldns_pkt_question(packet), 0)));
    assert_same_rrs(message, SECTION_ANSWER, ldns_pkt_answer(packet));
    assert_same_rrs(message, SECTION_AUTHORITY, ldns_pkt_authority(packet));
    assert_same_rrs(message, SECTION_ADDITIONAL, ldns_pkt_additional(packet));
    assert_false(message->has_trailing);
    assert_int_equal(message->edns.present, ldns_pkt_edns(packet));
    if (message->edns.present)
        assert_int_equal(message->edns.udp_size, ldns_pkt_edns_udp_size(packet));
}

static size_t rebuild(const struct message *message, uint8_t *out, size_t size)
{
    struct build build;
    struct copy copy;
    build_init(&build, out, size);
    build_header(&build, message->id, message->flags);
    build_question(&build, &message->question);
    copy_init(&copy, &build, message);
    struct rr_iter iter = message_all_rrs(message);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        build_section(&build, rr.section);
        if (rr.type != RRTYPE_OPT)
            assert_true(copy_rr(&copy, &rr, rr.ttl));
    }
    if (message->edns.present) {
        build_opt_begin(&build, message->edns.udp_size, 0, 0, false);
        build_opt_end(&build);
    }
    return build_finish(&build);
}

static void assert_same_lists(const ldns_rr_list *a, const ldns_rr_list *b)
{
    assert_int_equal(ldns_rr_list_rr_count(a), ldns_rr_list_rr_count(b));
    for (size_t i = 0; i < ldns_rr_list_rr_count(a); i++)
        assert_int_equal(ldns_rr_compare(ldns_rr_list_rr(a, i), ldns_rr_list_rr(b, i)), 0);
}

static void test_messages_are_read_and_written_like_ldns(void **state)
{
    (void)state;
    static uint8_t out[65535];
    random_state = 20261120;
    for (int round = 0; round < ROUNDS; round++) {
        ldns_pkt *packet = draw_packet(), *again = NULL;
        uint8_t *wire = NULL;
        size_t len;
        assert_int_equal(ldns_pkt2wire(&wire, packet, &len), LDNS_STATUS_OK);
        struct message message = sample_parse(span_of(wire, len));
        assert_same_packet(&message, packet);

        size_t out_len = rebuild(&message, out, sizeof(out));
        assert_int_not_equal(out_len, 0);
        assert_int_equal(ldns_wire2pkt(&again, out, out_len), LDNS_STATUS_OK);
        struct message rebuilt = sample_parse(span_of(out, out_len));
        assert_same_packet(&rebuilt, again);
        assert_same_lists(ldns_pkt_answer(packet), ldns_pkt_answer(again));
        assert_same_lists(ldns_pkt_authority(packet), ldns_pkt_authority(again));
        assert_same_lists(ldns_pkt_additional(packet), ldns_pkt_additional(again));
        ldns_pkt_free(packet);
        ldns_pkt_free(again);
        LDNS_FREE(wire);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_are_read_and_written_like_ldns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
