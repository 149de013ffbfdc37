/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "fuzz/worker/ledger.h"

#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "fuzz/worker/rules.h"
#include "fuzz/worker/signing.h"
#include "fuzz/worker/stage.h"

/* Each part of an answer counts only whole seconds. */
enum { STALE_TTL_S = 30, ROUNDING_US = 3500 * 1000 };

void ledger_open(struct ledger *ledger)
{
    memset(ledger, 0, sizeof(*ledger));
}

static uint32_t after(uint32_t id)
{
    return (id + 1) % LEDGER_IDS;
}

static void end(struct ledger *ledger, struct asked *asked, enum asked_state state)
{
    if (asked->state == ASKED_WAITING)
        ledger->waiting--;
    asked->state = (uint8_t)state;
}

static void skip_ended(struct ledger *ledger)
{
    while (ledger->oldest != ledger->next && ledger->asked[ledger->oldest].state != ASKED_WAITING)
        ledger->oldest = after(ledger->oldest);
}

static void give_up(struct stage *stage, struct asked *asked)
{
    struct ledger *ledger = &stage->ledger;
    end(ledger, asked, ASKED_RELEASED);
    ledger->unanswered++;
    if (ledger->unanswered > rules_drops(stage))
        stage_fail(stage, "query %u of %llu us is lost: %llu without an answer, %llu are counted",
                   (unsigned)(asked - ledger->asked), (unsigned long long)asked->at_us,
                   (unsigned long long)ledger->unanswered, (unsigned long long)rules_drops(stage));
}

struct asked *ledger_ask(struct stage *stage, uint16_t *id)
{
    struct ledger *ledger = &stage->ledger;
    uint32_t at = ledger->next;
    ledger->next = after(at);
    if (ledger->next == ledger->oldest) { /* the ring is full, so the oldest query is given up */
        give_up(stage, &ledger->asked[ledger->oldest]);
        skip_ended(ledger);
    }
    ledger->asked[at] = (struct asked){
        .state = ASKED_WAITING, .at_us = stage_now(stage), .copies = 1, .udp_size = 512};
    ledger->waiting++;
    ledger->queries++;
    stage->turns_there = 0; /* the worker has something to do again */
    *id = (uint16_t)at;
    return &ledger->asked[at];
}

struct name ledger_name(const struct asked *asked, uint8_t out[NAME_WIRE_MAX])
{
    struct name name = truth_leaf(asked->zone, asked->number, asked->is_deep, out);
    for (size_t i = 1; asked->is_upper && i < 2; i++)
        out[i] = (uint8_t)(out[i] - 0x20);
    return name;
}

/* ---- an answer ---- */

static bool is_stale(const struct message *answer)
{
    struct span rest = answer->edns.options;
    struct edns_option option;
    if (!answer->edns.present)
        return true; /* there is no evidence against the answer */
    while (edns_option_next(&rest, &option))
        if (option.code == EDNS_EDE && option.data.len >= 2 &&
            (get_u16(option.data.data) == 3 || get_u16(option.data.data) == 19))
            return true;
    return false;
}

static size_t given_slot(struct name owner, uint16_t type)
{
    return name_hash(owner, type) % LEDGER_GIVEN;
}

void ledger_note_given(struct ledger *ledger, struct name owner, uint16_t type,
                       const struct given *until)
{
    struct given *given = &ledger->given[given_slot(owner, type)];
    given->until_at = MAX(given->until_at, until->until_at);
    given->until_unjudged_at = MAX(given->until_unjudged_at, until->until_unjudged_at);
}

static void check_ttl(struct stage *stage, const struct message *answer, const struct rr *rr,
                      struct name owner, uint64_t at_us)
{
    const struct given *given = &stage->ledger.given[given_slot(owner, rr->type)];
    uint64_t until = stage->plan->is_signed ? given->until_at : given->until_unjudged_at;
    if (at_us + rr->ttl * US_PER_S <= until + ROUNDING_US)
        return;
    if (rr->ttl <= STALE_TTL_S && is_stale(answer))
        return;
    if (rr->ttl == 0) /* the record expired while its validation waited for keys */
        return;
    char text[NAME_TEXT_MAX];
    stage_fail(stage, "%s type %u has a TTL of %u, but was given for %lld us from now at most",
               name_format(owner, text), rr->type, rr->ttl, (long long)(until - at_us));
}

/* Checks that each record of the message is true and not too old. */
static void check_records(struct stage *stage, const struct asked *asked,
                          const struct message *answer, uint64_t at_us)
{
    struct rr_iter iter = message_all_rrs(answer);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        uint8_t wire[NAME_WIRE_MAX];
        char text[NAME_TEXT_MAX];
        struct name owner = message_owner(answer, &rr, wire);
        if (rr.type == RRTYPE_OPT)
            continue;
        if (truth_is_marked(rr.type, message_rdata(answer, &rr)))
            stage_fail(stage, "a client is told a lie about %s", name_format(owner, text));
        bool is_dnssec =
            rr.type == RRTYPE_RRSIG || rr.type == RRTYPE_NSEC || rr.type == RRTYPE_NSEC3;
        if (!is_dnssec && !truth_holds(owner, rr.type, answer, &rr))
            stage_fail(stage, "a client is told what nobody said: %s type %u",
                       name_format(owner, text), rr.type);
        if (asked->is_calm)
            check_ttl(stage, answer, &rr, owner, at_us);
    }
}

/* Checks the answer section: the alias chain from the QNAME in order, and data at its end. */
static void check_chain(struct stage *stage, const struct asked *asked,
                        const struct message *answer)
{
    uint8_t wire[NAME_WIRE_MAX], next[NAME_WIRE_MAX], owner_wire[NAME_WIRE_MAX];
    struct name at = name_fold(ledger_name(asked, next), wire);
    struct rr_iter iter = message_rrs(answer, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        struct name owner = message_owner(answer, &rr, owner_wire), target;
        if (rr.type == RRTYPE_RRSIG)
            continue;
        if (!name_equal(owner, at))
            stage_fail(stage, "an answer has a record of another name");
        if (rr.type == RRTYPE_CNAME && asked->type != RRTYPE_CNAME &&
            truth_alias(at, next, &target))
            at = name_copy(target, wire);
        else if (rr.type != asked->type)
            stage_fail(stage, "an answer has a record of type %u, asked was %u", rr.type,
                       asked->type);
    }
}

static bool is_enforced(const struct stage *stage, const struct asked *asked)
{
    return stage->plan->is_signed && asked->at_us >= stage->signed_since;
}

/* Returns whether the answer of a signed name must have AD: no server can prevent its validation,
 * and the client wants to know the verdict. */
static bool keys_are_known(const struct stage *stage, const struct asked *asked)
{
    return stage->is_hostile && (stage->is_live || stage->has_true_keys) && asked->wants_dnssec &&
           is_enforced(stage, asked);
}

static bool has_data(const struct message *answer, uint16_t type)
{
    struct rr_iter iter = message_rrs(answer, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == type)
            return true;
    return false;
}

/* Checks the verdict that the client sees: AD only where each name of the chain is signed, no data
 * and no denial of a bogus name, and no false denial of a secure one. */
static void check_verdict(struct stage *stage, const struct asked *asked,
                          const struct message *answer)
{
    uint8_t wire[NAME_WIRE_MAX];
    char text[NAME_TEXT_MAX];
    struct name name = ledger_name(asked, wire);
    uint16_t unchecked = is_enforced(stage, asked) ? stage->plan->unchecked : 0;
    enum signing_state state = signing_state_of_chain(name, asked->type, unchecked);
    enum signing_state firm =
        signing_state_of_chain(name, asked->type, unchecked | stage->plan->yielding);
    bool is_secure = answer->flags & HEADER_AD;
    uint16_t rcode = message_rcode(answer);
    name_format(name, text);
    if (is_secure && state != SIGNING_SECURE)
        stage_fail(stage, "%s type %u has AD, and is not signed", text, asked->type);
    if (is_secure && rcode != RCODE_NOERROR && rcode != RCODE_NXDOMAIN)
        stage_fail(stage, "%s type %u has AD with rcode %u", text, asked->type, rcode);
    bool is_denied =
        rcode == RCODE_NXDOMAIN ||
        (rcode == RCODE_NOERROR && !(answer->flags & HEADER_TC) && !has_data(answer, asked->type));
    bool is_useful = is_denied || rcode == RCODE_NOERROR;
    if (is_enforced(stage, asked) && firm == SIGNING_BOGUS && is_useful &&
        !(answer->flags & HEADER_TC))
        stage_fail(stage, "%s type %u is bogus, and got rcode %u", text, asked->type, rcode);
    bool is_judged = is_secure || (is_enforced(stage, asked) && firm == SIGNING_SECURE);
    if (is_judged && rcode == RCODE_NXDOMAIN && truth_rcode(name) != RCODE_NXDOMAIN)
        stage_fail(stage, "%s type %u exists, and is denied", text, asked->type);
    if (is_judged && is_denied && asked->type != RRTYPE_CNAME && truth_has(name, asked->type))
        stage_fail(stage, "%s type %u has data, and is denied", text, asked->type);
    if (keys_are_known(stage, asked) && state == SIGNING_SECURE && is_useful && !is_secure &&
        !(answer->flags & HEADER_TC) && !is_stale(answer))
        stage_fail(stage, "%s type %u is signed, and lacks AD", text, asked->type);
}

static void check_live(struct stage *stage, const struct asked *asked, const struct message *answer)
{
    uint8_t wire[NAME_WIRE_MAX];
    char text[NAME_TEXT_MAX];
    struct name name = ledger_name(asked, wire);
    uint16_t right = truth_rcode(name), rcode = message_rcode(answer);
    const struct stats *stats = &stage->stats;
    bool is_full = stats->waiting_refused_all || stats->waiting_refused_client;
    bool is_former = asked->at_us < stage->signed_since;
    enum signing_state state = signing_state_of_chain(name, asked->type, stage->plan->unchecked);
    bool is_bogus = stage->plan->is_signed && (state == SIGNING_BOGUS || state == SIGNING_EITHER);
    if (right == RCODE_SERVFAIL || is_bogus || is_former || (answer->flags & HEADER_TC) ||
        (rcode != right && is_full))
        return;
    struct edns_ede ede = {0};
    if (rcode != right && answer->edns.present)
        (void)edns_find_ede(&answer->edns, &ede);
    if (rcode != right)
        stage_fail(stage, "%s type %u got rcode %u in place of %u, after %llu us: %u %.*s",
                   name_format(name, text), asked->type, rcode, right,
                   (unsigned long long)(stage_now(stage) - asked->at_us), ede.code,
                   (int)ede.text.len, (const char *)ede.text.data);
    if (truth_has(name, asked->type) && !answer->counts[SECTION_ANSWER])
        stage_fail(stage, "%s type %u got no records", name_format(name, text), asked->type);
}

static void check_question(struct stage *stage, const struct asked *asked,
                           const struct message *answer)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name = ledger_name(asked, wire);
    if (!answer->has_question || !name_equal_exact(answer->question.name, name) ||
        answer->question.type != asked->type || answer->question.cls != RRCLASS_IN)
        stage_fail(stage, "an answer has another question");
}

static void judge(struct stage *stage, struct asked *asked, const struct message *answer,
                  uint64_t at_us)
{
    if (!asked->conn && answer->bytes.len > asked->udp_size)
        stage_fail(stage, "an answer has %zu bytes, its client takes %u", answer->bytes.len,
                   asked->udp_size);
    check_question(stage, asked, answer);
    check_chain(stage, asked, answer);
    check_records(stage, asked, answer, at_us);
    check_verdict(stage, asked, answer);
    uint16_t rcode = message_rcode(answer);
    stage->ledger.secure += (answer->flags & HEADER_AD) != 0;
    stage->ledger.good += rcode == RCODE_NOERROR || rcode == RCODE_NXDOMAIN;
    if (stage->is_live)
        check_live(stage, asked, answer);
}

void ledger_take(struct stage *stage, struct span bytes, struct fake_conn *conn, uint16_t client,
                 uint64_t at_us)
{
    struct ledger *ledger = &stage->ledger;
    struct message answer;
    if (message_parse(&answer, bytes) != MESSAGE_OK || !message_is_answer(&answer))
        stage_fail(stage, "an answer of %zu bytes does not parse", bytes.len);
    if (answer.id >= LEDGER_IDS)
        return;
    struct asked *asked = &ledger->asked[answer.id];
    if (asked->state == ASKED_NOTHING || asked->conn != conn || (!conn && asked->client != client))
        stage_fail(stage, "an answer with id %u goes to a client that did not ask", answer.id);
    if (++asked->answers > asked->copies)
        stage_fail(stage, "query %u is answered %u times, it was sent %u times", answer.id,
                   asked->answers, asked->copies);
    STAGE_TRACE(stage, "  answer to %u, rcode %u%s", answer.id, message_rcode(&answer),
                answer.flags & HEADER_AD ? ", AD" : "");
    ledger->answers++;
    if (asked->is_plain)
        judge(stage, asked, &answer, at_us);
    if (asked->state == ASKED_WAITING)
        end(ledger, asked, ASKED_ANSWERED);
    skip_ended(ledger);
}

/* ---- missing answers ---- */

void ledger_release(struct stage *stage, const struct fake_conn *conn)
{
    struct ledger *ledger = &stage->ledger;
    for (uint32_t id = ledger->oldest; id != ledger->next; id = after(id))
        if (ledger->asked[id].conn == conn && ledger->asked[id].state == ASKED_WAITING)
            end(ledger, &ledger->asked[id], ASKED_RELEASED);
    skip_ended(ledger);
}

void ledger_disturb(struct stage *stage, const struct fake_conn *conn)
{
    struct ledger *ledger = &stage->ledger;
    for (uint32_t id = ledger->oldest; id != ledger->next; id = after(id))
        if (ledger->asked[id].conn == conn)
            ledger->asked[id].is_calm = false;
}

void ledger_check_patience(struct stage *stage)
{
    struct ledger *ledger = &stage->ledger;
    uint64_t patience_us =
        stage->plan->recurses ? LEDGER_PATIENCE_RECURSION_US : LEDGER_PATIENCE_US;
    while (stage->is_live && ledger->oldest != ledger->next) {
        struct asked *asked = &ledger->asked[ledger->oldest];
        if (stage_now(stage) <= asked->at_us + patience_us)
            return;
        if (asked->is_plain && asked->is_calm)
            give_up(stage, asked);
        else
            end(ledger, asked, ASKED_RELEASED);
        skip_ended(ledger);
    }
}

void ledger_settle(struct stage *stage)
{
    struct ledger *ledger = &stage->ledger;
    for (uint32_t id = ledger->oldest; id != ledger->next; id = after(id)) {
        struct asked *asked = &ledger->asked[id];
        if (asked->state == ASKED_WAITING && asked->is_calm)
            give_up(stage, asked);
        else if (asked->state == ASKED_WAITING)
            end(ledger, asked, ASKED_RELEASED);
    }
    skip_ended(ledger);
}
