/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The addresses of the root servers. dns/present reads zone files; a file is read twice, for the
 * servers and then for their addresses, because these may come in any order.
 */
#include "recurse/root_hints.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/present.h"
#include "dns/rrtype.h"

/* The addresses that IANA publishes; the last server to move was b, in November 2023. */
static const struct {
    char letter;
    const char *ipv4, *ipv6;
} builtin[] = {
    {'a', "198.41.0.4", "2001:503:ba3e::2:30"}, {'b', "170.247.170.2", "2801:1b8:10::b"},
    {'c', "192.33.4.12", "2001:500:2::c"},      {'d', "199.7.91.13", "2001:500:2d::d"},
    {'e', "192.203.230.10", "2001:500:a8::e"},  {'f', "192.5.5.241", "2001:500:2f::f"},
    {'g', "192.112.36.4", "2001:500:12::d0d"},  {'h', "198.97.190.53", "2001:500:1::53"},
    {'i', "192.36.148.17", "2001:7fe::53"},     {'j', "192.58.128.30", "2001:503:c27::2:30"},
    {'k', "193.0.14.129", "2001:7fd::1"},       {'l', "199.7.83.42", "2001:500:9f::42"},
    {'m', "202.12.27.33", "2001:dc3::35"},
};

static void root_hints_add_text(struct delegation *out, unsigned server, int family,
                                const char *text)
{
    uint8_t bytes[16];
    MUST(inet_pton(family, text, bytes) == 1);
    MUST(delegation_add_addr(out, server, span_of(bytes, family == AF_INET ? 4 : 16)));
}

void root_hints_builtin(struct delegation *out)
{
    delegation_init(out, name_root(), DELEGATION_HINTS, UINT64_MAX);
    for (size_t i = 0; i < ARRAY_LEN(builtin); i++) {
        char text[] = "?.root-servers.net";
        uint8_t wire[NAME_WIRE_MAX];
        struct name name;
        text[0] = builtin[i].letter;
        MUST(name_parse(&name, wire, text, strlen(text)) == ERR_OK);
        int server = delegation_add(out, name);
        MUST(server != DELEGATION_NONE);
        root_hints_add_text(out, (unsigned)server, AF_INET, builtin[i].ipv4);
        root_hints_add_text(out, (unsigned)server, AF_INET6, builtin[i].ipv6);
    }
}

/* ---- from a file ---- */

struct reading {
    struct delegation *out;
    bool (*take)(struct delegation *out, const struct message *message, const struct rr *rr);
    uint8_t bytes[HEADER_LEN + NAME_WIRE_MAX + 10 + NAME_WIRE_MAX];
};

/* Checks the record as a separate message, like one from a server. A longer record is not a name
 * or an address. */
static bool on_record(void *context, struct span record, size_t line)
{
    struct reading *reading = context;
    struct message message;
    (void)line;
    if (HEADER_LEN + record.len > sizeof(reading->bytes))
        return true;
    memset(reading->bytes, 0, HEADER_LEN);
    header_set_count(reading->bytes, SECTION_ANSWER, 1);
    memcpy(reading->bytes + HEADER_LEN, record.data, record.len);
    if (message_parse(&message, span_of(reading->bytes, HEADER_LEN + record.len)) != MESSAGE_OK)
        return true;
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    struct rr rr;
    if (!message_rr_next(&iter, &rr) || rr.cls != RRCLASS_IN || !message_check_rr(&message, &rr))
        return true;
    return reading->take(reading->out, &message, &rr);
}

static bool take_server(struct delegation *out, const struct message *message, const struct rr *rr)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name server;
    if (rr->type == RRTYPE_NS && message_owner_is(message, rr, name_root()) &&
        message_target(message, rr, wire, &server))
        (void)delegation_add(out, server);
    return true;
}

static bool take_addr(struct delegation *out, const struct message *message, const struct rr *rr)
{
    uint8_t wire[NAME_WIRE_MAX];
    int server = delegation_find(out, message_owner(message, rr, wire));
    if (server != DELEGATION_NONE && (rr->type == RRTYPE_A || rr->type == RRTYPE_AAAA))
        (void)delegation_add_addr(out, (unsigned)server, message_rdata(message, rr));
    return true;
}

static enum err root_hints_tell(struct root_hints_problem *problem, size_t line,
                                const char *sentence)
{
    *problem = (struct root_hints_problem){.line = line, .sentence = sentence};
    return ERR_INVALID;
}

enum err root_hints_parse(struct delegation *out, struct span text,
                          struct root_hints_problem *problem)
{
    struct reading reading = {.out = out, .take = take_server};
    size_t line;
    if (text.len > ROOT_HINTS_BYTES_MAX)
        return ERR_LIMIT;
    delegation_init(out, name_root(), DELEGATION_HINTS, UINT64_MAX);
    enum err err = present_zone(text, on_record, &reading, &line);
    reading.take = take_addr;
    if (err == ERR_OK)
        err = present_zone(text, on_record, &reading, &line);
    if (err == ERR_NO_MEMORY)
        return err;
    if (err != ERR_OK)
        return root_hints_tell(
            problem, line, "is not a record of a zone file, such as \". 3600000 NS a.example.\"");
    if (!out->server_count)
        return root_hints_tell(problem, 0,
                               "has no NS record of the root, such as \". 3600000 NS a.example.\"");
    if (!out->addr_count)
        return root_hints_tell(
            problem, 0, "has no address (A, AAAA) of a server that an NS record of the root names");
    return ERR_OK;
}
