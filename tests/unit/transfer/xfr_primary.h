/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_TRANSFER_XFR_PRIMARY_H
#define NAILUP_TESTS_TRANSFER_XFR_PRIMARY_H

/* A primary in the simulated network that plays the transfers of xfr_play.h. */

#include "unit/transfer/xfr_play.h"

#include "base/units.h"
#include "loop/loop.h"
#include "support/fake_loop.h"
#include "support/fake_net.h"
#include "support/fake_peer.h"
#include "transfer/tsig.h"

enum { SCRIPT_DRIP = 20 };

/* The primary's answers, written as in xfr_play.h; NULL: no answer. */
struct play_script {
    const char *soa, *axfr, *ixfr;
    unsigned soa_rcode, axfr_rcode, ixfr_rcode;
    bool no_authority; /* clears AA */
    bool closes;       /* closes the connection after the last message */
    bool drips;        /* repeats the records of axfr every SCRIPT_DRIP seconds */
    const struct tsig_key *key;
    bool forgets_signature;
};

struct play_primary {
    struct loop *loop;
    struct fake_peer *peer;
    struct play_script script;
    bool is_signed; /* the queries must be signed */
    uint16_t last_id;
    unsigned queries[3]; /* counts the queries for SOA, AXFR and IXFR */
};

static inline void play_send(struct play_primary *primary, const struct fake_ask *ask,
                             uint8_t *bytes, size_t len)
{
    if (primary->script.key && !primary->script.forgets_signature) {
        struct tsig_exchange exchange;
        uint64_t now_s = (uint64_t)loop_wall_s(primary->loop);
        assert_int_equal(tsig_exchange_begin(&exchange, primary->script.key), ERR_OK);
        enum tsig_result result = tsig_check_query(&exchange, ask->query, now_s);
        len = tsig_sign_answer(&exchange, result, bytes, len, PLAY_MESSAGE_MAX, now_s);
        assert_true(len > 0);
        tsig_exchange_end(&exchange);
    }
    fake_conn_send_message(ask->stream, span_of(bytes, len));
}

static inline void play_answer(struct play_primary *primary, const struct fake_ask *ask,
                               const char *messages, uint16_t type, unsigned rcode)
{
    char text[512], *rest = text;
    uint8_t bytes[PLAY_MESSAGE_MAX];
    snprintf(text, sizeof(text), "%s", messages);
    for (char *part; (part = strsep(&rest, "|")); type = 0) {
        size_t len = play_message(bytes, type, part);
        header_set_id(bytes, header_id(ask->query.data));
        header_set_rcode(bytes, (uint8_t)rcode);
        header_put(bytes, HEADER_AA, !primary->script.no_authority);
        play_send(primary, ask, bytes, len);
    }
    for (unsigned i = 1; primary->script.drips && ask->index == 1 && i < 1000; i++) {
        size_t len = play_message(bytes, 0, "b1");
        header_set_id(bytes, header_id(ask->query.data));
        fake_conn_send_message_later(ask->stream, span_of(bytes, len),
                                     (uint64_t)i * SCRIPT_DRIP * US_PER_S);
    }
    if (primary->script.closes)
        fake_conn_close(ask->stream);
}

static inline void play_primary_answer(void *owner, const struct fake_ask *ask,
                                       struct fake_answer *answer)
{
    struct play_primary *primary = owner;
    struct message query = sample_parse(ask->query);
    uint16_t type = query.question.type;
    const struct play_script *script = &primary->script;
    answer->how = FAKE_SILENT;
    primary->last_id = query.id;
    assert_true(ask->transport != FAKE_UDP);
    assert_int_equal(query.has_tsig, primary->is_signed);
    primary->queries[type == RRTYPE_SOA ? 0 : type == RRTYPE_AXFR ? 1 : 2]++;
    if (type == RRTYPE_SOA && script->soa)
        play_answer(primary, ask, script->soa, type, script->soa_rcode);
    if (type == RRTYPE_AXFR && script->axfr)
        play_answer(primary, ask, script->axfr, type, script->axfr_rcode);
    if (type == RRTYPE_IXFR && script->ixfr)
        play_answer(primary, ask, script->ixfr, type, script->ixfr_rcode);
}

static inline void play_primary_begin(struct play_primary *primary, struct loop *loop,
                                      const char *address)
{
    struct addr addr = fake_addr(address);
    memset(primary, 0, sizeof(*primary));
    primary->loop = loop;
    primary->peer = fake_peer_new(fake_net_of(loop), &addr, play_primary_answer, primary);
}

#endif
