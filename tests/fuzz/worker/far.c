/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Builds each answer honestly. The mood then spoils it. */
#include "fuzz/worker/far.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "fuzz/worker/signing.h"
#include "fuzz/worker/stage.h"
#include "support/fake_tls.h"

enum {
    ANSWER_MAX = 16 * 1024,
    NEAR_US = 1000,
};

/* Returns whether the server is an anchor: the first of its zone over UDP, TCP or TLS. */
static bool is_anchor(unsigned number)
{
    static const uint8_t anchors[] = {0, 4, 8, 10, 12, 14, 17, 19, 22, 24};
    return memchr(anchors, (int)number, sizeof(anchors)) != NULL;
}

bool far_is_tls(const struct far *far)
{
    return far->number >= SERVER_FORWARDERS_TLS && far->number < SERVER_ROOT;
}

/* ---- checks of each query ---- */

struct far_conn {
    uint32_t count, max_requests;
    uint8_t ids[65536 / 8];
};

static struct far_conn *conn_of(struct far *far, size_t number)
{
    if (number >= far->conn_count) {
        size_t count = number + 16;
        far->conns = realloc(far->conns, count * sizeof(struct far_conn *));
        MUST(far->conns);
        memset(far->conns + far->conn_count, 0, (count - far->conn_count) * sizeof(*far->conns));
        far->conn_count = count;
    }
    if (!far->conns[number]) {
        far->conns[number] = calloc(1, sizeof(struct far_conn));
        MUST(far->conns[number]);
    }
    return far->conns[number];
}

/* Returns whether an earlier plan may have dialled the connection. */
static bool may_be_former(const struct far *far, const struct fake_conn *conn)
{
    return fake_conn_dialed_at(conn) < far->stage->plan_since + STAGE_FORMER_US;
}

static void check_stream(struct far *far, const struct fake_ask *ask, uint16_t id)
{
    struct stage *stage = far->stage;
    struct far_conn *conn = conn_of(far, ask->conn);
    if (conn->ids[id / 8] & 1 << id % 8)
        stage_fail(stage, "id %u twice on connection %zu of %s", id, ask->conn,
                   truth_servers[far->number].addr);
    conn->ids[id / 8] |= (uint8_t)(1 << id % 8);
    if (conn->count == 0)
        conn->max_requests = may_be_former(far, ask->stream)
                                 ? MAX(far->max_requests, far->former_max_requests)
                                 : far->max_requests;
    if (++conn->count > conn->max_requests)
        stage_fail(stage, "connection %zu of %s carries %u queries, allowed are %u", ask->conn,
                   truth_servers[far->number].addr, conn->count, conn->max_requests);
    if (ask->transport == FAKE_TLS && fake_conn_tls_facts(ask->stream)->plain_first)
        stage_fail(stage, "plain text on a TLS connection of %s", truth_servers[far->number].addr);
}

static void check_query(struct far *far, const struct fake_ask *ask, const struct message *query)
{
    struct stage *stage = far->stage;
    if (!query->has_question || message_is_answer(query) || message_opcode(query) != 0)
        stage_fail(stage, "a query to %s is none", truth_servers[far->number].addr);
    if (ask->transport != FAKE_UDP)
        check_stream(far, ask, query->id);
    bool is_former = stage_now(stage) < stage->plan_since + STAGE_FORMER_US;
    if (stage->plan->is_strict && !is_former && !far_is_tls(far) && far->number < SERVER_ROOT)
        stage_fail(stage, "a query to %s in plain text, where TLS is strict",
                   truth_servers[far->number].addr);
}

/* ---- the honest answer ---- */

static void put_option(struct writer *out, uint16_t code, struct span data)
{
    put_u16(out->data + out->len, code);
    put_u16(out->data + out->len + 2, (uint16_t)data.len);
    if (data.len > 0)
        memcpy(out->data + out->len + 4, data.data, data.len);
    out->len += 4 + data.len;
}

/* Adds the OPT record. Every second server sends cookies. */
static void put_edns(struct far *far, struct writer *out, const struct message *query,
                     unsigned ext_rcode, int keepalive)
{
    static const uint8_t fixed[11] = {0, 0, RRTYPE_OPT, 4, 208};
    struct edns_cookie cookie;
    if (!query->edns.present)
        return;
    memcpy(out->data + out->len, fixed, sizeof(fixed));
    out->data[out->len + 5] = (uint8_t)ext_rcode;
    out->len += sizeof(fixed);
    size_t begin = out->len;
    if (far->number % 2 && edns_find_cookie(&query->edns, &cookie) == EDNS_FOUND) {
        uint8_t both[16];
        memcpy(both, cookie.client.data, 8);
        memset(both + 8, (int)far->number, 8);
        put_option(out, EDNS_COOKIE, span_of(both, sizeof(both)));
    }
    if (keepalive >= 0) {
        uint8_t timeout[2];
        put_u16(timeout, (uint16_t)keepalive);
        put_option(out, EDNS_TCP_KEEPALIVE, span_of(timeout, 2));
    }
    put_u16(out->data + begin - 2, (uint16_t)(out->len - begin));
    header_set_count(out->data, SECTION_ADDITIONAL,
                     (uint16_t)(header_count(out->data, SECTION_ADDITIONAL) + 1));
}

static void truncate(struct writer *out, const struct message *query)
{
    uint16_t flags = header_flags(out->data);
    writer_begin(out, out->data, out->max, query,
                 (uint16_t)((flags & (HEADER_AA | HEADER_RA)) | HEADER_TC));
}

static size_t room(const struct fake_ask *ask, const struct message *query)
{
    if (ask->transport != FAKE_UDP)
        return ANSWER_MAX;
    return query->edns.present ? edns_udp_size(&query->edns) : MESSAGE_UDP_MAX;
}

/* ---- moods ---- */

/* Returns a zone for a name outside the zones of the server. */
static enum truth_zone foreign_zone(enum truth_zone zone)
{
    for (enum truth_zone at = zone; at != ZONE_ROOT; at = truth_parent(at))
        if (at == ZONE_T0)
            return ZONE_A_T1;
    return ZONE_A_T0;
}

/* Adds marked records for names outside the zone. A root server has all names, so it adds none. */
static void poison(struct far *far, struct writer *out, const struct message *query)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct truth asked = truth_of(query->question.name);
    uint16_t zones = truth_servers[far->number].zones;
    if (zones & 1 << ZONE_ROOT)
        return;
    struct name name =
        truth_leaf(foreign_zone(asked.zone), asked.number + 1 + far->param, false, wire);
    bool is_empty = !header_count(out->data, SECTION_ANSWER) &&
                    !header_count(out->data, SECTION_AUTHORITY) &&
                    /* sections must come in this order */
                    !header_count(out->data, SECTION_ADDITIONAL);
    truth_lie(out, is_empty ? SECTION_ANSWER : SECTION_ADDITIONAL, name, RRTYPE_A, TRUTH_TTL);
    name = truth_leaf(foreign_zone(asked.zone), asked.number + far->param, true, wire);
    truth_lie(out, SECTION_ADDITIONAL, name, RRTYPE_AAAA, TRUTH_TTL);
}

/* Makes an answer with marked data for the question of the message. */
static void lie(struct writer *out, const struct message *query)
{
    uint16_t type = query->question.type == RRTYPE_AAAA ? RRTYPE_AAAA : RRTYPE_A;
    uint8_t wire[NAME_WIRE_MAX];
    struct name name = name_copy(query->question.name, wire);
    writer_begin(out, out->data, out->max, query, HEADER_AA);
    truth_lie(out, SECTION_ANSWER, name, type, TRUTH_TTL);
}

static void lie_with_wrong_id(struct far *far, struct writer *out, const struct message *query)
{
    lie(out, query);
    header_set_id(out->data, (uint16_t)(query->id ^ (1 + far->param)));
}

/* Makes an answer for another name, and with that name in its question. */
static void lie_with_wrong_question(struct writer *out, const struct message *query)
{
    lie(out, query);
    uint8_t *label = out->data + HEADER_LEN;
    if (label[0] > 0)
        label[label[0]] ^= 1;
    else
        put_u16(label + 1, (uint16_t)(query->question.type + 1));
}

static void flip_case(struct writer *out)
{
    uint8_t *label = out->data + HEADER_LEN;
    if (label[0] > 0 && label[0] < 64 && name_fold_byte(label[1]) >= 'a' &&
        name_fold_byte(label[1]) <= 'z')
        label[1] ^= 0x20;
}

static void garbage(struct far *far, struct writer *out)
{
    out->len = 1 + far->param;
    for (size_t i = 0; i < out->len; i++)
        out->data[i] = (uint8_t)(i * 37 + far->param);
}

static void refer_anywhere(struct far *far, struct writer *out, const struct message *query)
{
    enum truth_zone asked = truth_of(query->question.name).zone;
    enum truth_zone hosts = far->param % ZONE_COUNT;
    enum truth_zone zone = far->param & 64 ? hosts : far->param & 32 ? truth_parent(asked) : asked;
    writer_begin(out, out->data, out->max, query, 0);
    truth_refer(out, zone, hosts);
}

static void rcode(struct far *far, struct writer *out, const struct message *query)
{
    writer_begin(out, out->data, out->max, query, far->param % 16);
}

static void deny(struct writer *out, const struct message *query)
{
    writer_begin(out, out->data, out->max, query, HEADER_AA | RCODE_NXDOMAIN);
    truth_deny(out, truth_of(query->question.name).zone);
}

/* Leaves out the additional records. */
static void drop_glue(struct writer *out, const struct message *query)
{
    struct message message;
    if (message_parse(&message, span_of(out->data, out->len)) != MESSAGE_OK)
        return;
    (void)query;
    out->len = message.offsets[SECTION_ADDITIONAL];
    header_set_count(out->data, SECTION_ADDITIONAL, 0);
}

/* Replaces the data by marked data, which the signatures do not cover. Only a worker that has
 * validated for a while must reject it, and it must validate from now on. Addresses of servers are
 * not validated, so a forged one costs the zone this server until its TTL ends. */
static void send_first(const struct fake_ask *ask, const struct writer *out)
{
    if (ask->stream)
        fake_conn_send_message(ask->stream, span_of(out->data, out->len));
    else
        fake_query_reply(ask->datagram, span_of(out->data, out->len), 0);
}

static void send_lies_first(struct far *far, const struct fake_ask *ask,
                            const struct message *query, enum mood mood)
{
    static uint8_t bytes[ANSWER_MAX];
    struct writer out = {.data = bytes, .max = sizeof(bytes)};
    if (mood == MOOD_WRONG_ID_FIRST || mood == MOOD_UNASKED)
        lie_with_wrong_id(far, &out, query);
    else
        lie_with_wrong_question(&out, query);
    if (mood != MOOD_UNASKED && ask->stream)
        return; /* only the server itself could send that, and an anchor never does */
    unsigned count = mood == MOOD_UNASKED ? 1 + far->param % 40 : 1;
    for (unsigned i = 0; i < count; i++)
        send_first(ask, &out);
}

/* Replaces the data by marked data, which the signatures do not cover. Only a worker that has
 * validated for a while gets such data. It must not believe them, and must validate from now on.
 * Addresses of servers are not validated: a forged one costs the zone this server until its TTL is
 * over. */
static void forge(struct far *far, struct writer *out, const struct message *query)
{
    struct stage *stage = far->stage;
    uint8_t kept[ANSWER_MAX], wire[NAME_WIRE_MAX], asked_wire[NAME_WIRE_MAX];
    struct message honest;
    struct name asked = name_copy(query->question.name, asked_wire);
    uint16_t type = query->question.type;
    memcpy(kept, out->data, out->len);
    if (message_parse(&honest, span_of(kept, out->len)) != MESSAGE_OK ||
        (type != RRTYPE_A && type != RRTYPE_AAAA) || !stage->plan->is_signed ||
        stage_now(stage) < stage->signed_since || signing_state_of(asked) == SIGNING_INSECURE ||
        (stage->is_hostile && plans_unchecked() >> truth_of(asked).zone & 1))
        return;
    stage->has_forged = true;
    writer_begin(out, out->data, out->max, query, HEADER_AA);
    truth_lie(out, SECTION_ANSWER, asked, type, LIE_TTL);
    struct rr_iter iter = message_rrs(&honest, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_RRSIG)
            writer_record(out, SECTION_ANSWER, message_owner(&honest, &rr, wire), rr.type, rr.ttl,
                          message_rdata(&honest, &rr));
}

/* ---- tricks ---- */

static bool is_about_keys(const struct message *query)
{
    return query->question.type == RRTYPE_DNSKEY || query->question.type == RRTYPE_DS;
}

/* Writes the denials at the zone cuts above the name. A denial of DS records has its own cut. */
static void put_genuine(struct far *far, struct writer *out, const struct message *query)
{
    struct truth truth = truth_of(query->question.name);
    enum truth_zone zone = truth.zone;
    if (query->question.type == RRTYPE_DS && truth.kind == TRUTH_APEX)
        zone = truth_parent(zone);
    for (; zone != ZONE_ROOT; zone = truth_parent(zone))
        signing_put_genuine(out, truth_zone_name(zone), truth_parent(zone),
                            loop_wall_s(far->stage->loop));
}

/* Writes false DS records for the cut of a referral. */
static void put_false_ds(struct far *far, struct writer *out, const struct message *honest)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct rr_iter iter = message_rrs(honest, SECTION_AUTHORITY);
    struct rr rr;
    if (honest->counts[SECTION_ANSWER] || !message_rr_next(&iter, &rr) || rr.type != RRTYPE_NS)
        return;
    struct truth cut = truth_of(message_owner(honest, &rr, wire));
    if (cut.kind == TRUTH_APEX && cut.zone != ZONE_ROOT)
        signing_put_false(out, SECTION_AUTHORITY, cut.zone, RRTYPE_DS,
                          loop_wall_s(far->stage->loop));
}

static void put_crowd(struct far *far, struct writer *out)
{
    for (unsigned i = 0; i < 34u + far->trick_param % 8; i++) {
        uint8_t wire[4] = {2, (uint8_t)('a' + i / 16), (uint8_t)('a' + i % 16), 0};
        truth_lie(out, SECTION_AUTHORITY, (struct name){wire, sizeof(wire)}, RRTYPE_A, LIE_TTL);
    }
}

/* Returns whether the tricks leave out this record. */
static bool is_left_out(uint8_t tricks, const struct message *query, enum section section,
                        const struct rr *rr)
{
    bool is_denial = rr->type == RRTYPE_NSEC || rr->type == RRTYPE_NSEC3 || rr->type == RRTYPE_DS ||
                     rr->type == RRTYPE_RRSIG;
    if ((tricks & TRICK_FALSE_DS) && section == SECTION_AUTHORITY && !is_about_keys(query) &&
        is_denial)
        return true;
    if ((tricks & TRICK_FALSE_KEYS) && query->question.type == RRTYPE_DNSKEY)
        return true;
    return (tricks & TRICK_UNSIGNED_KEYS) && is_about_keys(query) && rr->type == RRTYPE_RRSIG;
}

static void put_tricks(struct far *far, struct writer *out, const struct message *query,
                       const struct message *honest, enum section section)
{
    struct truth truth = truth_of(query->question.name);
    if (section == SECTION_ANSWER && (far->tricks & TRICK_FALSE_KEYS) &&
        query->question.type == RRTYPE_DNSKEY && truth.kind == TRUTH_APEX)
        signing_put_false(out, section, truth.zone, RRTYPE_DNSKEY, loop_wall_s(far->stage->loop));
    if (section != SECTION_AUTHORITY)
        return;
    if (far->tricks & TRICK_FALSE_DS)
        put_false_ds(far, out, honest);
    if (far->tricks & TRICK_GENUINE_LAST)
        put_genuine(far, out, query);
    if (far->tricks & TRICK_CROWDED)
        put_crowd(far, out);
}

/* Writes the answer again with the tricks of the server. */
static void play_tricks(struct far *far, struct writer *out, const struct message *query)
{
    static uint8_t kept[ANSWER_MAX];
    uint8_t wire[NAME_WIRE_MAX];
    struct message honest;
    if (!(far->tricks & ~(TRICK_LATE_DATA | TRICK_LATE_KEYS)) || !query->edns.dnssec_ok ||
        out->is_full)
        return;
    memcpy(kept, out->data, out->len);
    if (message_parse(&honest, span_of(kept, out->len)) != MESSAGE_OK || !honest.has_question)
        return;
    writer_begin(out, out->data, out->max, query,
                 honest.flags & (HEADER_AA | HEADER_RA | HEADER_RCODE_MASK));
    for (enum section section = SECTION_ANSWER; section < SECTION_COUNT; section++) {
        if (section == SECTION_AUTHORITY && (far->tricks & TRICK_GENUINE_FIRST))
            put_genuine(far, out, query);
        struct rr_iter iter = message_rrs(&honest, section);
        for (struct rr rr; message_rr_next(&iter, &rr);)
            if (!is_left_out(far->tricks, query, section, &rr))
                writer_record(out, section, message_owner(&honest, &rr, wire), rr.type, rr.ttl,
                              message_rdata(&honest, &rr));
        put_tricks(far, out, query, &honest, section);
    }
}

static void delay_by_trick(const struct far *far, const struct message *query,
                           struct fake_answer *answer)
{
    static const uint32_t late_ms[] = {11000, 13000, 16000, 25000};
    /* Recursion asks about other names on its way to keys. */
    bool is_data = !is_about_keys(query) && truth_of(query->question.name).kind == TRUTH_LEAF;
    if (is_data && (far->tricks & TRICK_LATE_DATA))
        answer->delay_us = late_ms[far->trick_param % ARRAY_LEN(late_ms)] * US_PER_MS;
    if (is_about_keys(query) && (far->tricks & TRICK_LATE_KEYS))
        answer->delay_us = (uint64_t)far->trick_param * 50 * US_PER_MS;
}

static enum signing_manner manner_of(enum mood mood)
{
    switch (mood) {
    case MOOD_SIG_WRONG:
        return SIGNING_WRONG;
    case MOOD_SIG_EXPIRED:
        return SIGNING_EXPIRED;
    case MOOD_SIG_FOREIGN:
        return SIGNING_FOREIGN;
    case MOOD_SIG_STRIPS:
        return SIGNING_STRIPS;
    default:
        return SIGNING_HONEST;
    }
}

/* Changes the message before its OPT record is added. */
static void spoil_records(struct far *far, enum mood mood, struct writer *out,
                          const struct message *query)
{
    switch (mood) {
    case MOOD_POISON:
        poison(far, out, query);
        break;
    case MOOD_GLUELESS:
        drop_glue(out, query);
        break;
    case MOOD_WRONG_ID:
        lie_with_wrong_id(far, out, query);
        break;
    case MOOD_WRONG_QUESTION:
        lie_with_wrong_question(out, query);
        break;
    case MOOD_TRUNCATED_ALWAYS:
        truncate(out, query);
        break;
    case MOOD_NO_EDNS:
        if (query->edns.present)
            writer_begin(out, out->data, out->max, query, RCODE_FORMERR);
        break;
    case MOOD_RCODE:
        rcode(far, out, query);
        break;
    case MOOD_DENIES:
        deny(out, query);
        break;
    case MOOD_EMPTY:
        writer_begin(out, out->data, out->max, query, HEADER_AA);
        break;
    case MOOD_REFERS_ANYWHERE:
        refer_anywhere(far, out, query);
        break;
    case MOOD_FORGED:
        forge(far, out, query);
        break;
    default:
        break;
    }
}

/* Changes the bytes of the finished message. */
static void spoil_bytes(struct far *far, enum mood mood, struct writer *out)
{
    switch (mood) {
    case MOOD_OTHER_CASE:
        flip_case(out);
        break;
    case MOOD_GARBAGE:
        garbage(far, out);
        break;
    case MOOD_FLIPPED:
        out->data[2 + far->param % 10] ^= (uint8_t)(1 << far->param / 32);
        break;
    case MOOD_CUT:
        out->len = out->len * far->param / 256;
        break;
    default:
        break;
    }
}

/* Decides how the bytes travel: in pieces, late, or several times. */
static void set_manner(struct far *far, enum mood mood, const struct fake_ask *ask,
                       const struct message *query, struct fake_answer *answer)
{
    static const uint32_t late_ms[] = {5, 30, 120, 450, 900, 2200, 4500, 9000, 31000};
    switch (mood) {
    case MOOD_DUPLICATE:
        answer->extra_copies = 1 + far->param % 3;
        break;
    case MOOD_PIECES:
        answer->piece_bytes = 1 + far->param % 64;
        answer->gap_us = far->param / 64 * 100;
        break;
    case MOOD_LATE:
        answer->delay_us = late_ms[far->param % ARRAY_LEN(late_ms)] * US_PER_MS;
        break;
    case MOOD_CLOSE_AFTER:
        answer->how = FAKE_CLOSE;
        break;
    case MOOD_RESET_AFTER:
        if (ask->stream && answer->len > 0)
            fake_conn_send_message(ask->stream, span_of(answer->data, answer->len));
        answer->how = FAKE_RESET;
        break;
    case MOOD_CLOSES:
        answer->how = FAKE_CLOSE;
        answer->len = 0;
        break;
    case MOOD_REFUSES:
        answer->how = FAKE_REFUSE;
        break;
    case MOOD_SILENT:
        answer->how = FAKE_SILENT;
        break;
    case MOOD_DROPS_EDNS:
        answer->how = query->edns.present ? FAKE_SILENT : FAKE_ANSWER;
        break;
    default:
        break;
    }
    if (mood == MOOD_CLOSE_AFTER && !ask->stream)
        answer->how = FAKE_ANSWER;
}

/* Notes until when clients may see the records of this answer. */
static void note_given(struct far *far, const struct fake_ask *ask,
                       const struct fake_answer *answer)
{
    struct stage *stage = far->stage;
    uint64_t pieces = answer->piece_bytes ? answer->len / answer->piece_bytes + 1 : 0;
    uint64_t at = stage_now(stage) + answer->delay_us + far->latency_us;
    struct message message;
    if (ask->stream) {
        at = MAX(at, far->stream_quiet_at) + pieces * answer->gap_us * (answer->extra_copies + 1);
        far->stream_quiet_at = at;
    }
    if (message_parse(&message, span_of(answer->data, answer->len)) != MESSAGE_OK)
        return;
    struct rr_iter iter = message_all_rrs(&message);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name owner = message_owner(&message, &rr, wire);
        uint32_t life_s = rr.ttl;
        if (stage->plan->is_signed && stage_now(stage) >= stage->signed_since &&
            signing_state_of(owner) == SIGNING_SECURE &&
            !(stage->is_hostile && plans_unchecked() >> truth_of(owner).zone & 1))
            life_s = MIN(life_s, signing_life_s(owner));
        ledger_note_given(&stage->ledger, owner, rr.type,
                          &(struct given){.until_at = at + life_s * US_PER_S,
                                          .until_unjudged_at = at + rr.ttl * US_PER_S});
    }
}

static enum mood take_mood(struct far *far, const struct fake_ask *ask)
{
    enum mood mood = far->mood;
    if (far->left > 0 && --far->left == 0)
        far->mood = MOOD_HONEST;
    if (mood == MOOD_TRUNCATED && ask->transport == FAKE_UDP)
        return MOOD_TRUNCATED_ALWAYS;
    return mood;
}

static void on_ask(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    struct far *far = owner;
    struct message query;
    if (message_parse(&query, ask->query) != MESSAGE_OK)
        stage_fail(far->stage, "a query to %s does not parse", truth_servers[far->number].addr);
    check_query(far, ask, &query);
    enum mood mood = take_mood(far, ask);
    char text[NAME_TEXT_MAX];
    STAGE_TRACE(far->stage, "  %s gets id %u over %d, %s type %u, mood %d",
                truth_servers[far->number].addr, query.id, ask->transport,
                name_format(query.question.name, text), query.question.type, mood);
    struct writer out;
    truth_answer(&out, answer->data, ANSWER_MAX, &query, truth_servers[far->number].zones);
    if (far->stage->plan->is_signed) {
        signing_seal(&out, &query, truth_servers[far->number].zones, loop_wall_s(far->stage->loop),
                     manner_of(mood));
        play_tricks(far, &out, &query);
    }
    spoil_records(far, mood, &out, &query);
    if (out.is_full || out.len + 64 > room(ask, &query))
        truncate(&out, &query);
    if (mood == MOOD_BAD_COOKIE)
        rcode(&(struct far){.param = RCODE_BADCOOKIE % 16}, &out, &query);
    if (mood != MOOD_NO_EDNS)
        put_edns(far, &out, &query, mood == MOOD_BAD_COOKIE ? RCODE_BADCOOKIE >> 4 : 0,
                 mood == MOOD_KEEPALIVE && ask->stream ? far->param : -1);
    spoil_bytes(far, mood, &out);
    answer->how = FAKE_ANSWER;
    answer->len = out.len;
    if (mood == MOOD_WRONG_ID_FIRST || mood == MOOD_WRONG_QUESTION_FIRST || mood == MOOD_UNASKED)
        send_lies_first(far, ask, &query, mood);
    set_manner(far, mood, ask, &query, answer);
    delay_by_trick(far, &query, answer);
    note_given(far, ask, answer);
}

/* ---- life ---- */

/* Returns the number of queries that the plan allows on a connection to this server. */
static uint32_t allowed_by(const struct far *far, const struct plan *plan)
{
    const struct config *config = plan_config(plan);
    const struct addr *addr = fake_server_addr(far->server);
    struct route_upstream met;
    for (size_t i = 0; i < config->route.zone_count; i++)
        for (size_t j = 0; j < config->route.zones[i].upstream_count; j++)
            if (addr_equal_ip(&config->route.zones[i].upstreams[j].addr, addr))
                return config->route.zones[i].upstreams[j].options.max_requests;
    return policy_choose(&config->policy, addr, &met) ? met.options.max_requests : 0;
}

void far_allow(struct far *far, const struct plan *plan)
{
    far->former_max_requests = MAX(far->former_max_requests, far->max_requests);
    far->max_requests = allowed_by(far, plan);
}

void far_speak_tls(struct far *far, unsigned how)
{
    static const enum fake_tls_trouble troubles[] = {
        FAKE_TLS_FINE,    FAKE_TLS_FINE,  FAKE_TLS_FINE,   FAKE_TLS_STALL, FAKE_TLS_FIN,
        FAKE_TLS_GARBAGE, FAKE_TLS_PLAIN, FAKE_TLS_REFUSE, FAKE_TLS_RST,
    };
    const struct tls_cert *good = plans_certificate(), *other = plans_other_certificate();
    bool is_other = how % ARRAY_LEN(troubles) == 1;
    struct fake_tls_options options = {
        .certificate = is_other ? other->certificate : good->certificate,
        .key = is_other ? other->key : good->key,
        .only = how % ARRAY_LEN(troubles) == 2 ? FAKE_TLS_1_2 : 0,
        .early = how & 16 ? FAKE_EARLY_REJECT : FAKE_EARLY_ACCEPT,
        .forget_tickets = how & 32,
        .manner = {.trouble = troubles[how % ARRAY_LEN(troubles)],
                   .after_flights = how & 64 ? 1 : 0},
    };
    fake_peer_speak_tls(far->peer, &options);
}

void far_set_latency(struct far *far, uint64_t us)
{
    far->latency_us = us;
    fake_server_set_latency(far->server, us);
}

void far_heal(struct far *far)
{
    far->mood = MOOD_HONEST;
    far->left = 0;
    far->tricks = 0;
    far_set_latency(far, NEAR_US);
    fake_server_set_dial(far->server, FAKE_DIAL_ACCEPT);
    fake_server_set_accept_delay(far->server, 0);
    fake_server_set_udp(far->server, FAKE_UDP_DELIVER);
    fake_server_lose_datagrams(far->server, 0);
}

void far_set_mood(struct far *far, enum mood mood, uint8_t param, unsigned left)
{
    const struct stage *stage = far->stage;
    enum mood last =
        far->is_anchor || stage->has_true_keys ? MOOD_BENIGN_LAST : MOOD_FIRST_FALSE - 1;
    if ((stage->is_live || stage->has_true_keys) && mood > last)
        return;
    /* A server without EDNS has no signatures, and a validation tries few servers. */
    if (stage->is_hostile && stage->is_live && (mood == MOOD_NO_EDNS || mood == MOOD_DROPS_EDNS))
        return;
    far->mood = mood;
    far->param = param;
    far->left = left;
}

void far_set_tricks(struct far *far, uint8_t tricks, uint8_t param)
{
    const struct stage *stage = far->stage;
    if (stage->is_live && far->is_anchor)
        tricks &= TRICKS_BENIGN;
    else if (stage->is_live || stage->has_true_keys)
        tricks &= TRICKS_TRUE;
    far->tricks = tricks;
    far->trick_param = param;
}

struct fake_conn *far_pick_conn(const struct far *far, unsigned choice)
{
    size_t dials = fake_server_dials(far->server), last = MIN(dials, (size_t)8);
    if (!dials)
        return NULL;
    struct fake_conn *conn = fake_server_conn(far->server, dials - 1 - choice % last);
    bool is_open = fake_conn_state(conn) == FAKE_CONN_OPEN && fake_conn_is_held(conn);
    return is_open ? conn : NULL;
}

void far_open(struct stage *stage, unsigned number)
{
    struct far *far = &stage->fars[number];
    struct addr addr = fake_addr(truth_servers[number].addr);
    *far = (struct far){.stage = stage, .number = number, .is_anchor = is_anchor(number)};
    far->peer = fake_peer_new(stage->net, &addr, on_ask, far);
    far->server = fake_peer_server(far->peer);
    far_heal(far);
    far_allow(far, stage->plan);
    if (far_is_tls(far) && stage->plan->is_tls)
        far_speak_tls(far, 0);
}

void far_close(struct far *far)
{
    for (size_t i = 0; i < far->conn_count; i++)
        free(far->conns[i]);
    free(far->conns);
}
