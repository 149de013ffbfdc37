/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A query and its expected answer in one line, which covers most scenarios of recursion.
 *
 *   ASK name type RCODE [rdata...] [rd=0] [do=1] [cd=1] [ad=0|1] [ede=N|none] [ttl=N] [ttl_most=N]
 *       [within=T] [tcp=1]
 *
 * The answer section has exactly these RDATA, in any order; aliases count, and signatures may be
 * left out. Without RDATA the section is empty.
 */
#include "scenario/play.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "dns/build.h"
#include "dns/edns.h"
#include "dns/message.h"
#include "dns/present.h"
#include "dns/rrtype.h"
#include "scenario/clients.h"
#include "scenario/match.h"

enum { WANTED_MAX = 64 };

struct ask {
    struct play *play;
    struct got *got;
    uint16_t id, type;
    char name[NAME_TEXT_MAX], type_text[32], rcode[32];
    char wanted[WANTED_MAX][SCRIPT_WORD_MAX];
    unsigned wanted_count;
};

/* ---- the line ---- */

static bool is_option(const char *word)
{
    static const char *const keys[] = {"rd",  "do",       "cd",     "ad", "ede",
                                       "ttl", "ttl_most", "within", "tcp"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (reader_value(word, keys[i]))
            return true;
    return false;
}

static bool read_ask(struct ask *ask)
{
    const char *at = ask->play->step->rest;
    char word[SCRIPT_WORD_MAX];
    reader_word(&at, ask->name, sizeof(ask->name), NULL);
    reader_word(&at, ask->type_text, sizeof(ask->type_text), NULL);
    reader_word(&at, ask->rcode, sizeof(ask->rcode), NULL);
    while (reader_word(&at, word, sizeof(word), NULL)) {
        if (strcmp(word, "ADDRESS") == 0)
            reader_word(&at, word, sizeof(word), NULL);
        else if (!is_option(word) && ask->wanted_count == WANTED_MAX)
            return play_fail(ask->play, "too many records");
        else if (!is_option(word))
            memcpy(ask->wanted[ask->wanted_count++], word, sizeof(word));
    }
    if (!ask->rcode[0] || rrtype_parse(&ask->type, ask->type_text) != ERR_OK)
        return play_fail(ask->play, "not name, type and rcode");
    return true;
}

/* ---- asking ---- */

static bool make_query(struct ask *ask, struct build *build)
{
    struct play *play = ask->play;
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = {.type = ask->type, .cls = RRCLASS_IN};
    if (name_parse(&question.name, wire, ask->name, strlen(ask->name)) != ERR_OK)
        return play_fail(play, "not a name: %s", ask->name);
    uint16_t flags = play_number(play, "rd", 1) ? HEADER_RD : 0;
    if (play_number(play, "cd", 0))
        flags |= HEADER_CD;
    if (play_arg(play, "ad")) /* the client understands AD (RFC 6840 section 5.7) */
        flags |= HEADER_AD;
    ask->id = ++play->world.last_id;
    build_header(build, ask->id, flags);
    build_question(build, &question);
    build_opt_begin(build, 4096, 0, 0, play_number(play, "do", 0));
    build_opt_end(build);
    return true;
}

static bool send_ask(struct ask *ask)
{
    struct play *play = ask->play;
    uint8_t bytes[2 + 512];
    struct build build;
    build_init(&build, bytes + 2, sizeof(bytes) - 2);
    if (!make_query(ask, &build))
        return false;
    size_t len = build_finish(&build);
    if (!play_number(play, "tcp", 0)) {
        clients_send_udp(&play->world, &play->step->addr, span_of(bytes + 2, len));
        return true;
    }
    struct client *client = clients_open(&play->world, "", &play->step->addr);
    if (!client)
        return play_fail(play, "no connection left");
    put_u16(bytes, (uint16_t)len);
    fake_conn_send(client->conn, span_of(bytes, len + 2));
    return true;
}

static bool has_come(void *context)
{
    struct ask *ask = context;
    LIST_EACH(node, &ask->play->world.gots)
    {
        struct got *got = LIST_ITEM(node, struct got, node);
        if (got->bytes.len >= HEADER_LEN && header_id(got->bytes.data) == ask->id)
            ask->got = got;
    }
    return ask->got;
}

/* ---- checking ---- */

/* Writes the RDATA of an answer's record: the last columns of its line. */
static void rdata_text(const struct message *message, const struct rr *rr, char *out, size_t size)
{
    char line[SCRIPT_WORD_MAX * 4];
    line[present_rr(message, rr, line, sizeof(line) - 1)] = '\0';
    char *at = line;
    for (unsigned i = 0; i < 4 && at; i++)
        at = strchr(at + (i > 0), '\t');
    snprintf(out, size, "%.*s", (int)size - 1, at ? at + 1 : line);
    out[strcspn(out, "\n")] = '\0';
}

static bool take_wanted(struct ask *ask, const char *text)
{
    for (unsigned i = 0; i < ask->wanted_count; i++) {
        if (strcasecmp(ask->wanted[i], text) != 0)
            continue;
        memcpy(ask->wanted[i], ask->wanted[--ask->wanted_count], SCRIPT_WORD_MAX);
        return true;
    }
    return false;
}

static bool check_records(struct ask *ask, const struct message *message, uint32_t *ttl)
{
    char text[SCRIPT_WORD_MAX];
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        *ttl = MIN(*ttl, rr.ttl);
        rdata_text(message, &rr, text, sizeof(text));
        bool may_come = rr.type == RRTYPE_RRSIG && ask->type != RRTYPE_RRSIG;
        if (!take_wanted(ask, text) && !may_come)
            return play_fail(ask->play, "not expected: %s, in\n%s", text,
                             match_text(message->bytes));
    }
    if (ask->wanted_count)
        return play_fail(ask->play, "%s is missing in\n%s", ask->wanted[0],
                         match_text(message->bytes));
    return true;
}

static bool ede_is(const struct message *message, const char *wanted)
{
    struct span rest = message->edns.options;
    bool any = false, same = false;
    for (struct edns_option option; edns_option_next(&rest, &option);) {
        bool is_ede = option.code == EDNS_EDE && option.data.len >= 2;
        any |= is_ede;
        same |= is_ede && get_u16(option.data.data) == atoi(wanted);
    }
    return strcmp(wanted, "none") == 0 ? !any : same;
}

static bool check(struct ask *ask, struct span bytes)
{
    struct play *play = ask->play;
    struct message message;
    char rcode[RRTYPE_TEXT_MAX];
    uint32_t ttl = UINT32_MAX;
    const char *ede = play_arg(play, "ede");
    if (message_parse(&message, bytes) != MESSAGE_OK)
        return play_fail(play, "a malformed answer");
    if (strcasecmp(rrtype_rcode_name(message_rcode(&message), rcode), ask->rcode) != 0)
        return play_fail(play, "another rcode:\n%s", match_text(bytes));
    if (!check_records(ask, &message, &ttl))
        return false;
    if (ede && !ede_is(&message, ede))
        return play_fail(play, "the extended error is not %s:\n%s", ede, match_text(bytes));
    if (play_arg(play, "ad") && play_number(play, "ad", 0) != !!(message.flags & HEADER_AD))
        return play_fail(play, "AD is wrong:\n%s", match_text(bytes));
    if (ttl != play_number(play, "ttl", ttl) || ttl > play_number(play, "ttl_most", ttl))
        return play_fail(play, "the TTL is %u", ttl);
    return true;
}

static bool do_ask(struct play *play)
{
    struct world *world = &play->world;
    struct ask *ask = calloc(1, sizeof(*ask));
    MUST(ask);
    ask->play = play;
    uint64_t began_at = loop_now(world->loop);
    bool fine = read_ask(ask) && send_ask(ask);
    if (fine && !world_wait(world, has_come, ask))
        fine = play_fail(play, "no answer came");
    uint64_t took_us = loop_now(world->loop) - began_at;
    if (fine && took_us > play_duration(play, "within", UINT64_MAX))
        fine = play_fail(play, "the answer took %llu us", (unsigned long long)took_us);
    if (fine) {
        list_remove(&ask->got->node);
        fine = check(ask, ask->got->bytes);
    }
    free(ask);
    return fine;
}

/* The step acts and also checks, so its own ranges apply. */
const struct play_verb play_ask_verbs[] = {
    {"ASK", do_ask, true},
    {NULL, NULL, false},
};
