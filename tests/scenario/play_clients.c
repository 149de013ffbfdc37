/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The steps of clients: their queries, the transport, and the answers that they must get. */
#include "scenario/play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "dns/build.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "scenario/clients.h"
#include "scenario/compose_message.h"
#include "scenario/match.h"

/* ---- asking ---- */

/* Sends the message over the connection of "ON name", over a new connection, or as a datagram. */
static bool send_query(struct play *play, struct span message, bool over_tcp)
{
    struct world *world = &play->world;
    const char *on = play_arg(play, "on");
    static uint8_t framed[2 + MESSAGE_MAX];
    if (!on && !over_tcp) {
        clients_send_udp(world, &play->step->addr, message);
        return true;
    }
    struct client *client =
        on ? clients_find(world, on) : clients_open(world, "", &play->step->addr);
    if (!client)
        return play_fail(play, "no connection %s", on ? on : "left");
    put_u16(framed, (uint16_t)message.len);
    memcpy(framed + 2, message.data, message.len);
    struct span bytes = span_of(framed, message.len + 2);
    uint64_t pieces = play_number(play, "pieces", 0);
    if (pieces)
        fake_conn_send_pieces(client->conn, bytes, pieces, play_duration(play, "gap", 0));
    else
        fake_conn_send(client->conn, bytes);
    return true;
}

static bool do_query(struct play *play)
{
    static uint8_t message[MESSAGE_MAX];
    const struct entry *entry = play->step->entry;
    if (!entry)
        return play_fail(play, "no entry");
    struct span bytes = entry->packets->bytes;
    memcpy(message, bytes.data, bytes.len);
    if (bytes.len >= HEADER_LEN && entry->id == 0)
        header_set_id(message, ++play->world.last_id);
    bool over_tcp = (entry->match & MATCH_TCP) || play_has(play, "TCP");
    return send_query(play, span_of(message, bytes.len), over_tcp);
}

/* QUERIES count=N name=TEXT [type=A] [first=0] [gap=]: "%" in the name is replaced by a number. */
static bool make_query(struct play *play, uint64_t number, uint8_t *out, size_t size, size_t *len)
{
    char name[SCRIPT_WORD_MAX], text[2 * SCRIPT_WORD_MAX];
    uint8_t wire[NAME_WIRE_MAX];
    const char *pattern = play_arg(play, "name"), *type = play_arg(play, "type");
    struct question question = {.type = RRTYPE_A, .cls = RRCLASS_IN};
    struct build build;
    if (!pattern || (type && rrtype_parse(&question.type, type) != ERR_OK))
        return play_fail(play, "no name or type");
    snprintf(name, sizeof(name), "%s", pattern);
    char *percent = strchr(name, '%');
    if (percent)
        *percent = '\0';
    snprintf(text, sizeof(text), percent ? "%s%llu%s" : "%s", name, (unsigned long long)number,
             percent ? percent + 1 : "");
    if (name_parse(&question.name, wire, text, strlen(text)) != ERR_OK)
        return play_fail(play, "not a name: %s", text);
    build_init(&build, out, size);
    build_header(&build, ++play->world.last_id, HEADER_RD);
    build_question(&build, &question);
    *len = build_finish(&build);
    return true;
}

static bool do_queries(struct play *play)
{
    uint64_t count = play_number(play, "count", 1), first = play_number(play, "first", 0);
    uint64_t gap_us = play_duration(play, "gap", 0);
    uint8_t message[512];
    size_t len = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!make_query(play, first + i, message, sizeof(message), &len) ||
            !send_query(play, span_of(message, len), play_has(play, "TCP")))
            return false;
        if (gap_us)
            world_advance(&play->world, gap_us);
    }
    return true;
}

/* ---- checking ---- */

static struct got *find_got(struct play *play, const char **why)
{
    static char reason[MATCH_WHY_MAX];
    *why = "";
    LIST_EACH(node, &play->world.gots)
    {
        struct got *got = LIST_ITEM(node, struct got, node);
        const struct addr *from = &play->step->addr;
        if (addr_family(from) != AF_UNSPEC && !addr_equal_ip(from, &got->client))
            continue;
        if (!play->step->entry ||
            match_message(play->step->entry, got->bytes, got->over_tcp, reason))
            return got;
        *why = reason;
    }
    return NULL;
}

static bool got_is_there(void *play)
{
    const char *why;
    return find_got(play, &why);
}

static bool do_check_answer(struct play *play)
{
    struct world *world = &play->world;
    const char *why;
    uint64_t began_at = loop_now(world->loop);
    world_wait(world, got_is_there, play);
    struct got *got = find_got(play, &why);
    if (got) {
        uint64_t within = play_duration(play, "within", UINT64_MAX);
        list_remove(&got->node);
        if (loop_now(world->loop) - began_at > within)
            return play_fail(play, "the answer took %llu us",
                             (unsigned long long)(loop_now(world->loop) - began_at));
        return true;
    }
    if (list_is_empty(&world->gots))
        return play_fail(play, "no answer came");
    got = LIST_ITEM(world->gots.next, struct got, node);
    return play_fail(play, "differs in %s. Expected:\n%sCame:\n%s", why,
                     play->step->entry ? match_text(play->step->entry->packets->bytes) : "",
                     match_text(got->bytes));
}

/* CHECK_ANSWERS count=N [rcode=NOERROR] [within=]: takes all answers, which must be N. */
static bool enough(void *context)
{
    struct play *play = context;
    size_t count = 0;
    LIST_EACH(node, &play->world.gots)
    count++;
    return count >= play_number(play, "count", 1);
}

static bool has_rcode(const struct got *got, const char *wanted)
{
    struct message message;
    char name[RRTYPE_TEXT_MAX];
    return message_parse(&message, got->bytes) == MESSAGE_OK &&
           (!wanted || strcasecmp(rrtype_rcode_name(message_rcode(&message), name), wanted) == 0);
}

static bool do_check_answers(struct play *play)
{
    struct world *world = &play->world;
    uint64_t began_at = loop_now(world->loop), count = 0;
    world_wait(world, enough, play);
    uint64_t took_us = loop_now(world->loop) - began_at;
    for (struct list *node; (node = list_take_first(&world->gots)); count++) {
        const struct got *got = LIST_ITEM(node, struct got, node);
        if (!has_rcode(got, play_arg(play, "rcode")))
            return play_fail(play, "answer %llu is\n%s", (unsigned long long)count,
                             match_text(got->bytes));
    }
    if (count != play_number(play, "count", 1))
        return play_fail(play, "%llu answers came", (unsigned long long)count);
    if (took_us > play_duration(play, "within", UINT64_MAX))
        return play_fail(play, "they took %llu us", (unsigned long long)took_us);
    return true;
}

/* CHECK_NO_ANSWER [within=]: no answer comes for that long. */
static bool do_check_no_answer(struct play *play)
{
    world_advance(&play->world, play_duration(play, "within", 0));
    if (list_is_empty(&play->world.gots))
        return true;
    const struct got *got = LIST_ITEM(play->world.gots.next, struct got, node);
    return play_fail(play, "came:\n%s", match_text(got->bytes));
}

/* ---- connections of clients ---- */

/* CLIENT name=N open|half_close|reset|stop_reading|start_reading. */
static bool do_client(struct play *play)
{
    struct world *world = &play->world;
    const char *name = play_arg(play, "name");
    if (play_has(play, "open"))
        return clients_open(world, name ? name : "", &play->step->addr) ||
               play_fail(play, "too many connections");
    struct client *client = clients_find(world, name ? name : "");
    if (!client)
        return play_fail(play, "no connection %s", name ? name : "");
    if (play_has(play, "half_close"))
        fake_conn_close(client->conn);
    else if (play_has(play, "reset"))
        fake_conn_reset(client->conn);
    else if (play_has(play, "stop_reading"))
        fake_conn_stop_reading(client->conn, play_number(play, "window", 0));
    else if (play_has(play, "start_reading"))
        fake_conn_start_reading(client->conn);
    else
        return play_fail(play, "unknown word: %s", play->step->rest);
    return true;
}

/* SEND_HEX on=NAME hex=...: sends the bytes unchanged. Without `on`, they form a datagram. */
static bool do_send_hex(struct play *play)
{
    const char *hex = play_arg(play, "hex"), *on = play_arg(play, "on");
    struct client *client = on ? clients_find(&play->world, on) : NULL;
    struct buf bytes;
    buf_init(&bytes, MESSAGE_MAX);
    bool fine = hex && (!on || client) && compose_message_hex(&bytes, hex);
    if (fine && client)
        fake_conn_send(client->conn, buf_span(&bytes));
    else if (fine)
        clients_send_udp(&play->world, &play->step->addr, buf_span(&bytes));
    buf_deinit(&bytes);
    return fine || play_fail(play, "no hex digits, or no connection");
}

/* CHECK_CLIENT name=N open|closed|refused */
static bool do_check_client(struct play *play)
{
    const char *name = play_arg(play, "name");
    struct client *client = clients_find(&play->world, name ? name : "");
    if (!client)
        return play_fail(play, "no connection %s", name ? name : "");
    bool closed = fake_conn_was_closed(client->conn) || !fake_conn_is_held(client->conn);
    if (play_has(play, "closed") != closed)
        return play_fail(play, "it is %s", closed ? "closed" : "open");
    return true;
}

const struct play_verb play_client_verbs[] = {
    {"QUERY", do_query, false},
    {"QUERIES", do_queries, false},
    {"CHECK_ANSWER", do_check_answer, true},
    {"CHECK_ANSWERS", do_check_answers, true},
    {"CHECK_NO_ANSWER", do_check_no_answer, true},
    {"CLIENT", do_client, false},
    {"SEND_HEX", do_send_hex, false},
    {"CHECK_CLIENT", do_check_client, true},
    {NULL, NULL, false},
};
