/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A round asks for the A and the AAAA records of one name. Its answers go to the book of the name
 * together, so that a name changes once.
 *
 * Invariants: a round is open until both questions have ended. A round of a former configuration
 * changes nothing. Exchanges end at once. An inquiry cannot be cancelled, so its round stays open
 * until the inquiry is back.
 */

#include "daemon/host_keeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/stats.h"
#include "config/config.h"
#include "control/call.h"
#include "control/view.h"
#include "daemon/host_book.h"
#include "daemon/host_file.h"
#include "daemon/host_store.h"
#include "daemon/inquiry.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/outgoing_ports.h"
#include "upstream/exchange.h"
#include "upstream/upstreams.h"

/* Between attempts while a worker has no room for the question. */
#define HOST_ROOM_US (1 * US_PER_S)

enum { BOOTSTRAP_MAX = 8 }; /* options.def has the same bound */

struct host_round;

/* One of the two questions of a round. */
struct host_query {
    struct host_round *round;
    struct question question; /* its name points into the round */
    struct host_answer answer;
    struct exchange exchange;
    struct inquiry inquiry;
};

struct host_round {
    struct host_keeper *keeper;
    struct host_book *book; /* NULL: the configuration has changed */
    unsigned open;          /* questions without an end; 0: the round is free */
    bool is_exchange;       /* the inquiry asks bootstrap servers; otherwise a worker */
    bool lacked_room;
    uint8_t wire[NAME_WIRE_MAX];
    struct host_query queries[HOST_BOTH];
};

struct host_keeper {
    struct inquirer home;
    struct timer tick;
    bool is_running;
    size_t count;
    struct host_book books[CONFIG_HOSTS_MAX];
    struct host_round rounds[HOST_ROUNDS_MAX];
    struct zone_hosts hosts; /* the addresses in the books */
    /* The file. */
    struct host_store store;
    struct host_file file; /* as it was last read or written */
    struct timer save;
    bool is_unsaved; /* the books know more than the file */
    uint64_t saved_at;
    /* For the bootstrap servers. */
    struct upstreams *upstreams; /* NULL: there are no bootstrap servers */
    struct stats stats;
    struct nail_quota quota; /* none */
    struct upstream *group[BOOTSTRAP_MAX];
    size_t group_len;
};

static void host_keeper_next(struct host_keeper *keeper);

/* ---- the file ---- */

static void host_keeper_save(struct host_keeper *keeper)
{
    struct host_file *file = &keeper->file;
    file->count = 0;
    for (size_t i = 0; i < keeper->count; i++) {
        const struct host_book *book = &keeper->books[i];
        if (book->count == 0)
            continue;
        struct host_saved *saved = &file->list[file->count++];
        *saved = (struct host_saved){.answered_s = book->answered_s, .count = book->count};
        memcpy(saved->name, book->name, sizeof(saved->name));
        memcpy(saved->addrs, book->addrs, sizeof(saved->addrs));
    }
    keeper->is_unsaved = false;
    keeper->saved_at = loop_now(keeper->home.loop);
    host_store_save(&keeper->store, file);
}

static void host_keeper_on_save(struct timer *timer)
{
    host_keeper_save(CONTAINER_OF(timer, struct host_keeper, save));
}

/* A name has answered. Even the same addresses are saved now and then, because the file's times
 * say how old they are. */
static void host_keeper_save_later(struct host_keeper *keeper, bool has_changed)
{
    uint64_t now = loop_now(keeper->home.loop), hourly = keeper->saved_at + HOST_SAVE_S * US_PER_S;
    if (!host_store_is_open(&keeper->store) || (keeper->is_unsaved && !has_changed))
        return;
    keeper->is_unsaved = true;
    timer_stop(&keeper->save);
    timer_start(keeper->home.loop, &keeper->save,
                has_changed ? now + HOST_SAVE_SOON_S * US_PER_S : MAX(now, hourly));
}

static bool host_is_too_old(const struct host_saved *saved, int64_t now_s)
{
    /* A machine without a clock starts in the past, so times in its future are accepted. */
    if (now_s <= saved->answered_s || now_s - saved->answered_s <= HOST_SAVED_AGE_MAX_S)
        return false;
    LOG(LOG_WARNING, "daemon",
        "upstream %s: its saved addresses are not used: they are %lld days old", saved->name,
        (long long)(now_s - saved->answered_s) / 86400);
    return true;
}

static void host_keeper_restore(struct host_keeper *keeper)
{
    int64_t now_s = loop_wall_s(keeper->home.loop);
    for (size_t i = 0; i < keeper->count; i++) {
        struct host_book *book = &keeper->books[i];
        const struct host_saved *saved = host_file_find(&keeper->file, book->name);
        if (saved && !host_is_too_old(saved, now_s))
            host_book_restore(book, saved->addrs, saved->count, saved->answered_s);
    }
}

/* ---- the result of a round ---- */

static void host_keeper_fill(struct host_keeper *keeper)
{
    keeper->hosts.count = keeper->count;
    keeper->home.view->hosts = (struct control_hosts){.names = keeper->count};
    for (size_t i = 0; i < keeper->count; i++) {
        struct zone_host *host = &keeper->hosts.list[i];
        const struct host_book *book = &keeper->books[i];
        memcpy(host->name, book->name, sizeof(host->name));
        memcpy(host->addrs, book->addrs, sizeof(host->addrs));
        host->addr_count = book->count;
        keeper->home.view->hosts.unknown += book->count == 0;
    }
}

static void host_log(const struct host_book *book, size_t before, bool has_changed)
{
    if (has_changed)
        LOG(LOG_NOTICE, "daemon", "upstream %s: %zu addresses, %zu before", book->name, book->count,
            before);
    else if (book->failures == 1)
        LOG(LOG_WARNING, "daemon", "upstream %s: %s; %s", book->name, book->error,
            book->count > 0 ? "its last addresses stay" : "its zones answer SERVFAIL until then");
}

static void host_round_end(struct host_round *round)
{
    struct host_keeper *keeper = round->keeper;
    struct host_book *book = round->book;
    const struct host_answer answers[HOST_BOTH] = {round->queries[0].answer,
                                                   round->queries[1].answer};
    uint64_t now = loop_now(keeper->home.loop);
    bool has_changed = false;

    round->book = NULL;
    if (book && round->lacked_room) {
        book->due_at = now + HOST_ROOM_US;
    } else if (book) {
        size_t before = book->count;
        has_changed = host_book_take(book, answers, now, loop_wall_s(keeper->home.loop));
        if (book->failures == 0)
            host_keeper_save_later(keeper, has_changed);
        host_log(book, before, has_changed);
    }
    if (has_changed)
        host_keeper_fill(keeper);
    host_keeper_next(keeper);
    if (has_changed)
        keeper->home.on_changed(keeper->home.context);
}

static void host_query_end(struct host_query *query)
{
    if (--query->round->open == 0)
        host_round_end(query->round);
}

/* ---- asking bootstrap servers ---- */

static enum exchange_verdict host_on_answer(void *owner, const struct exchange_answer *answer)
{
    struct host_query *query = owner;
    host_answer_read(&query->answer, answer->message, &query->question);
    if (query->answer.kind == HOST_FAILED)
        return EXCHANGE_ANOTHER;
    exchange_stop(&query->exchange); /* the end of a round may start it again */
    host_query_end(query);
    return EXCHANGE_TAKEN;
}

static void host_on_failed(void *owner, const struct exchange_failure *failure)
{
    struct host_query *query = owner;
    (void)failure;
    query->answer = (struct host_answer){.kind = HOST_FAILED};
    host_query_end(query);
}

static void host_ask_bootstrap(struct host_query *query)
{
    static const struct exchange_handler handler = {.on_answer = host_on_answer,
                                                    .on_failed = host_on_failed};
    const struct exchange_question question = {
        .question = query->question, .recursion_desired = true, .checking_disabled = true};
    struct host_keeper *keeper = query->round->keeper;
    exchange_init(&query->exchange, keeper->upstreams, &handler, query);
    exchange_start(&query->exchange, &question, keeper->group, keeper->group_len);
}

/* ---- asking a worker ---- */

static void host_on_back(struct inquiry *inquiry)
{
    struct host_query *query = CONTAINER_OF(inquiry, struct host_query, inquiry);
    struct message message;
    if (!inquiry->was_asked)
        query->round->lacked_room = true;
    if (message_parse(&message, inquiry_answer(inquiry)) == MESSAGE_OK)
        host_answer_read(&query->answer, &message, &query->question);
    inquiry_clear(inquiry);
    host_query_end(query);
}

static void host_ask_worker(struct host_query *query)
{
    const struct host_keeper *keeper = query->round->keeper;
    inquiry_send(&query->inquiry, keeper->home.loop, keeper->home.view->workers[0],
                 &query->question, "", false, host_on_back);
}

/* ---- the schedule of inquiries ---- */

static void host_round_begin(struct host_round *round, struct host_book *book)
{
    static const uint16_t types[HOST_BOTH] = {RRTYPE_A, RRTYPE_AAAA};
    struct host_keeper *keeper = round->keeper;
    struct name name;
    MUST(name_parse(&name, round->wire, book->name, strlen(book->name)) == ERR_OK);
    round->book = book;
    round->open = HOST_BOTH;
    round->lacked_room = false;
    round->is_exchange = keeper->group_len > 0;
    for (int i = 0; i < HOST_BOTH; i++) {
        struct host_query *query = &round->queries[i];
        query->round = round;
        query->answer = (struct host_answer){.kind = HOST_FAILED};
        query->question = (struct question){.name = name, .type = types[i], .cls = RRCLASS_IN};
        if (round->is_exchange)
            host_ask_bootstrap(query);
        else
            host_ask_worker(query);
    }
}

static struct host_round *host_keeper_free_round(struct host_keeper *keeper)
{
    for (int i = 0; i < HOST_ROUNDS_MAX; i++)
        if (keeper->rounds[i].open == 0)
            return &keeper->rounds[i];
    return NULL;
}

static bool host_is_asked(const struct host_keeper *keeper, const struct host_book *book)
{
    for (int i = 0; i < HOST_ROUNDS_MAX; i++)
        if (keeper->rounds[i].book == book)
            return true;
    return false;
}

/* The name that is due first and not asked for, or NULL. */
static struct host_book *host_keeper_first(struct host_keeper *keeper)
{
    struct host_book *first = NULL;
    for (size_t i = 0; i < keeper->count; i++) {
        struct host_book *book = &keeper->books[i];
        if (!host_is_asked(keeper, book) && (!first || book->due_at < first->due_at))
            first = book;
    }
    return first;
}

static void host_keeper_next(struct host_keeper *keeper)
{
    struct host_book *book;
    struct host_round *round;
    if (!keeper->is_running)
        return;
    timer_stop(&keeper->tick);
    while ((round = host_keeper_free_round(keeper)) && (book = host_keeper_first(keeper))) {
        if (book->due_at > loop_now(keeper->home.loop)) {
            timer_start(keeper->home.loop, &keeper->tick, book->due_at);
            return;
        }
        host_round_begin(round, book);
    }
}

static void host_keeper_on_tick(struct timer *timer)
{
    host_keeper_next(CONTAINER_OF(timer, struct host_keeper, tick));
}

/* ---- the configuration ---- */

/* Ends the exchanges. Inquiries come back later, and their rounds end without a book. */
static void host_keeper_stop_rounds(struct host_keeper *keeper)
{
    for (int i = 0; i < HOST_ROUNDS_MAX; i++) {
        struct host_round *round = &keeper->rounds[i];
        round->book = NULL;
        if (round->open == 0 || !round->is_exchange)
            continue;
        round->open = 0;
        for (int j = 0; j < HOST_BOTH; j++)
            exchange_stop(&round->queries[j].exchange);
    }
}

static void host_keeper_leave_bootstrap(struct host_keeper *keeper)
{
    for (size_t i = 0; i < keeper->group_len; i++) {
        upstreams_unwant(keeper->group[i]);
        upstreams_drop(keeper->group[i]);
    }
    keeper->group_len = 0;
}

static struct upstream_options bootstrap_options(const struct config *config, int family)
{
    struct upstream_options options = upstream_options_default;
    options.sources = family == AF_INET6 ? config->outgoing.v6 : config->outgoing.v4;
    return options;
}

static void host_keeper_use_bootstrap(struct host_keeper *keeper, const struct config *config)
{
    const struct config_servers *servers = &config->bootstrap;
    if (servers->count > 0 && !keeper->upstreams)
        keeper->upstreams = upstreams_new(keeper->home.loop, &keeper->stats, &keeper->quota);
    for (size_t i = 0; keeper->upstreams && i < servers->count; i++) {
        const struct addr *addr = &servers->list[i];
        struct upstream_options options = bootstrap_options(config, addr_family(addr));
        struct upstream *upstream = upstreams_want(keeper->upstreams, addr, &options);
        MUST(keeper->group_len < BOOTSTRAP_MAX);
        if (upstream)
            keeper->group[keeper->group_len++] = upstream;
    }
    if (keeper->upstreams)
        upstreams_settle(keeper->upstreams, NULL, NULL);
    if (servers->count > 0 && keeper->group_len == 0)
        LOG(LOG_ERROR, "daemon", "upstream.bootstrap is not used: out of memory");
}

static void host_keeper_use_names(struct host_keeper *keeper, const struct config *config)
{
    size_t kept = 0;
    for (size_t i = 0; i < keeper->count; i++) {
        bool is_wanted = false;
        for (size_t j = 0; j < config->host_count; j++)
            is_wanted |= strcmp(keeper->books[i].name, config->hosts[j]) == 0;
        if (is_wanted)
            keeper->books[kept++] = keeper->books[i];
    }
    keeper->count = kept;
    for (size_t j = 0; j < config->host_count; j++) {
        bool is_known = false;
        for (size_t i = 0; i < kept; i++)
            is_known |= strcmp(keeper->books[i].name, config->hosts[j]) == 0;
        if (!is_known)
            host_book_init(&keeper->books[keeper->count++], config->hosts[j]);
    }
}

void host_keeper_recall(struct host_keeper *keeper, const struct config *config)
{
    host_keeper_use_names(keeper, config);
    host_store_open(&keeper->store, config->host_file, &keeper->file);
    host_keeper_restore(keeper);
    host_keeper_fill(keeper);
}

void host_keeper_configure(struct host_keeper *keeper, const struct config *config,
                           const struct outgoing_ports *ports)
{
    host_keeper_stop_rounds(keeper);
    host_keeper_leave_bootstrap(keeper);
    host_keeper_use_names(keeper, config);
    host_keeper_fill(keeper);
    host_keeper_use_bootstrap(keeper, config);
    if (config->bootstrap.count > 0 && ports)
        outgoing_ports_use(keeper->home.loop, ports, &keeper->stats.upstream_port_fallbacks);
    host_keeper_next(keeper);
}

const struct zone_hosts *host_keeper_hosts(const struct host_keeper *keeper)
{
    return &keeper->hosts;
}

void host_keeper_network_changed(struct host_keeper *keeper)
{
    for (size_t i = 0; i < keeper->count; i++)
        host_book_retry(&keeper->books[i], loop_now(keeper->home.loop));
    if (keeper->upstreams)
        upstreams_network_changed(keeper->upstreams, NETWORK_CHANGED);
    host_keeper_next(keeper);
}

/* ---- the table for the control socket ---- */

static void host_put_addresses(struct reply *reply, const struct host_book *book)
{
    char text[CONTROL_CELL_MAX + 1] = "", addr[ADDR_TEXT_MAX];
    size_t len = 0;
    for (size_t i = 0; i < book->count && len < sizeof(text); i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
                                addr_format_ip(&book->addrs[i], addr));
    reply_text(reply, text);
}

void host_keeper_show(const struct host_keeper *keeper, struct call *call)
{
    struct reply *reply = &call->reply;
    uint64_t now = loop_now(keeper->home.loop);
    reply_table(reply, "hosts",
                "host:text\tresolved_by:text\tanswered:duration\tnext_question:duration\t"
                "error:text\taddresses:text");
    for (size_t i = 0; i < keeper->count; i++) {
        const struct host_book *book = &keeper->books[i];
        reply_row(reply);
        reply_text(reply, book->name);
        reply_text(reply, keeper->group_len > 0 ? "bootstrap" : "zones");
        if (book->answered_at > 0)
            reply_duration(reply, now - book->answered_at);
        else
            reply_unknown(reply);
        reply_duration(reply, book->due_at - MIN(now, book->due_at));
        reply_text(reply, book->error);
        host_put_addresses(reply, book);
        reply_row_end(reply);
    }
}

/* ---- life ---- */

struct host_keeper *host_keeper_new(const struct inquirer *home)
{
    struct host_keeper *keeper = calloc(1, sizeof(*keeper));
    if (!keeper)
        return NULL;
    keeper->home = *home;
    timer_init(&keeper->tick, host_keeper_on_tick);
    timer_init(&keeper->save, host_keeper_on_save);
    for (int i = 0; i < HOST_ROUNDS_MAX; i++)
        keeper->rounds[i].keeper = keeper;
    return keeper;
}

void host_keeper_begin(struct host_keeper *keeper)
{
    keeper->is_running = true;
    host_keeper_next(keeper);
}

void host_keeper_end(struct host_keeper *keeper)
{
    if (!keeper)
        return;
    keeper->is_running = false;
    timer_stop(&keeper->tick);
    timer_stop(&keeper->save);
    if (keeper->is_unsaved)
        host_keeper_save(keeper);
    host_keeper_stop_rounds(keeper);
    host_keeper_leave_bootstrap(keeper);
    if (keeper->upstreams)
        upstreams_free(keeper->upstreams);
    keeper->upstreams = NULL;
}

void host_keeper_free(struct host_keeper *keeper)
{
    if (!keeper)
        return;
    for (int i = 0; i < HOST_ROUNDS_MAX; i++)
        for (int j = 0; j < HOST_BOTH; j++)
            inquiry_clear(&keeper->rounds[i].queries[j].inquiry);
    host_store_deinit(&keeper->store);
    free(keeper);
}
