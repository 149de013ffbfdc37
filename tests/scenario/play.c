/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The steps of Unbound's language: queries that reach servers, their replies, and time.
 * play_clients.c has the steps of clients, and play_streams.c the steps about connections.
 *
 * The effects of a step see the ranges of the next step, as in Unbound.
 */
#include "scenario/play.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "scenario/clients.h"
#include "scenario/match.h"
#include "scenario/servers.h"

bool play_fail(struct play *play, const char *format, ...)
{
    va_list args;
    int len = snprintf(play->why, sizeof(play->why), "step %d (line %d) %s: ", play->step->number,
                       play->step->line, play->step->verb);
    va_start(args, format);
    vsnprintf(play->why + len, sizeof(play->why) - (size_t)len, format, args);
    va_end(args);
    return false;
}

/* ---- words of the line ---- */

const char *play_arg(const struct play *play, const char *key)
{
    static char values[8][SCRIPT_WORD_MAX];
    static unsigned which;
    char *word = values[which++ % 8];
    const char *at = play->step->rest;
    while (reader_word(&at, word, SCRIPT_WORD_MAX, NULL)) {
        const char *value = reader_value(word, key);
        if (value)
            return value;
    }
    return NULL;
}

uint64_t play_number(const struct play *play, const char *key, uint64_t otherwise)
{
    const char *value = play_arg(play, key);
    return value ? strtoull(value, NULL, 0) : otherwise;
}

uint64_t play_duration(const struct play *play, const char *key, uint64_t otherwise)
{
    const char *value = play_arg(play, key);
    uint64_t us = otherwise;
    if (value)
        MUST(reader_duration(value, &us));
    return us;
}

bool play_has(const struct play *play, const char *wanted)
{
    char word[SCRIPT_WORD_MAX];
    const char *at = play->step->rest;
    while (reader_word(&at, word, sizeof(word), NULL))
        if (strcmp(word, wanted) == 0)
            return true;
    return false;
}

/* ---- servers ---- */

static bool some_waits(void *context)
{
    struct play *play = context;
    return servers_waiting(&play->world, &play->step->addr, NULL);
}

/* REPLY again: sends one more answer to the latest query, whether or not it is answered. */
static bool do_reply(struct play *play)
{
    const struct script_step *step = play->step;
    struct world *world = &play->world;
    if (!step->entry)
        return play_fail(play, "no entry");
    if (play_has(play, "again")) {
        if (list_is_empty(&world->outs))
            return play_fail(play, "no query was sent");
        servers_answer(world, LIST_ITEM(world->outs.prev, struct out, node), step->entry);
        return true;
    }
    world_wait(world, some_waits, play);
    struct out *out = servers_waiting(world, &step->addr, step->entry);
    if (!out)
        out = servers_waiting(world, &step->addr, NULL);
    if (!out)
        return play_fail(play, "no query waits for an answer");
    servers_answer(world, out, step->entry);
    return true;
}

static struct out *find_out(struct play *play)
{
    char why[MATCH_WHY_MAX];
    LIST_EACH(node, &play->world.outs)
    {
        struct out *out = LIST_ITEM(node, struct out, node);
        bool here = addr_family(&play->step->addr) == AF_UNSPEC ||
                    addr_equal_ip(&play->step->addr, &out->addr);
        if (!out->checked && here &&
            (!play->step->entry ||
             match_message(play->step->entry, out->bytes, out->over_tcp, why)))
            return out;
    }
    return NULL;
}

static bool out_is_there(void *play)
{
    return find_out(play);
}

static bool do_check_out_query(struct play *play)
{
    char why[MATCH_WHY_MAX] = "";
    world_wait(&play->world, out_is_there, play);
    struct out *out = find_out(play);
    if (out) {
        out->checked = true;
        return true;
    }
    LIST_EACH(node, &play->world.outs)
    {
        out = LIST_ITEM(node, struct out, node);
        if (out->checked || !play->step->entry)
            continue;
        match_message(play->step->entry, out->bytes, out->over_tcp, why);
        return play_fail(play, "differs in %s. Expected:\n%sSent:\n%s", why,
                         match_text(play->step->entry->packets->bytes), match_text(out->bytes));
    }
    return play_fail(play, "no query was sent");
}

/* ---- time ---- */

struct giving_up {
    struct play *play;
    struct out *out;
    size_t outs, gots;
};

static bool has_given_up(void *context)
{
    const struct giving_up *wait = context;
    const struct world *world = &wait->play->world;
    return world->out_count > wait->outs || world->got_count > wait->gots ||
           !servers_is_open(wait->out);
}

/* Leaves the query unanswered, and lets time pass until the resolver reacts: it repeats the query,
 * answers its client or gives up. */
static bool do_timeout(struct play *play)
{
    struct world *world = &play->world;
    struct out *out = servers_waiting(world, &play->step->addr, NULL);
    if (!out && !play->script->is_ours)
        return true; /* Unbound repeats queries more often than nailup */
    if (!out)
        return play_fail(play, "no query waits for an answer");
    struct giving_up wait = {play, out, world->out_count, world->got_count};
    out->answered = true;
    world_wait(world, has_given_up, &wait);
    return true;
}

static bool do_time_passes(struct play *play)
{
    char word[SCRIPT_WORD_MAX];
    const char *at = play->step->rest;
    uint64_t us;
    reader_word(&at, word, sizeof(word), NULL);
    if (strcmp(word, "ELAPSE") == 0)
        reader_word(&at, word, sizeof(word), NULL);
    if (!reader_duration(word, &us))
        return play_fail(play, "not a duration: %s", word);
    world_advance(&play->world, us);
    return true;
}

static bool do_nothing(struct play *play)
{
    (void)play;
    return true;
}

static bool do_reload(struct play *play)
{
    char why[WORLD_WHY_MAX] = "";
    if (!play->step->text)
        return play_fail(play, "no RELOAD_BEGIN");
    if (play_has(play, "zones"))
        return world_renew_zones(&play->world, play->step->text, why) || play_fail(play, "%s", why);
    if (!world_reload(&play->world, play->step->text, !play_has(play, "remembers"), why))
        return play_fail(play, "%s", why);
    return true;
}

static bool do_error(struct play *play)
{
    struct out *out = servers_waiting(&play->world, &play->step->addr, NULL);
    if (!out || out->over_tcp)
        return play_fail(play, "no query waits for an answer");
    out->answered = true;
    fake_query_icmp(&out->datagram, ERR_REFUSED, 0);
    return true;
}

static const struct play_verb verbs[] = {
    {"REPLY", do_reply, false},       {"CHECK_OUT_QUERY", do_check_out_query, true},
    {"TIMEOUT", do_timeout, false},   {"TIME_PASSES", do_time_passes, false},
    {"NOTHING", do_nothing, false},   {"TRAFFIC", do_nothing, false},
    {"INFRA_RTT", do_nothing, false}, {"ERROR", do_error, false},
    {"RELOAD", do_reload, false},     {NULL, NULL, false},
};

/* ---- the script ---- */

static const struct play_verb *find_verb(const char *name)
{
    const struct play_verb *const tables[] = {verbs, play_client_verbs, play_ask_verbs,
                                              play_stream_verbs};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct play_verb *verb = tables[i]; verb->name; verb++)
            if (strcmp(verb->name, name) == 0)
                return verb;
    return NULL;
}

static bool run_step(struct play *play)
{
    const struct script_step *step = play->step;
    const struct play_verb *verb = find_verb(step->verb);
    if (!verb) {
        play->lacks_verb = true;
        return play_fail(play, "the runner does not know this step");
    }
    bool looks = verb->looks || verb->run == do_time_passes;
    play->world.now = looks || !step->next ? step->number : step->next->number;
    if (play->verbose)
        fprintf(stderr, "  %llu.%06llu s: step %d %s %s\n",
                (unsigned long long)(loop_now(play->world.loop) / US_PER_S),
                (unsigned long long)(loop_now(play->world.loop) % US_PER_S), step->number,
                step->verb, step->rest);
    if (!verb->run(play))
        return false;
    if (step->next)
        play->world.now = step->next->number;
    world_settle(&play->world);
    servers_look_again(&play->world);
    world_settle(&play->world);
    return true;
}

static bool no_answer_is_left(struct play *play)
{
    if (list_is_empty(&play->world.gots))
        return true;
    const struct got *got = LIST_ITEM(play->world.gots.next, struct got, node);
    return play_fail(play, "at the end, an answer that nobody checked:\n%s",
                     match_text(got->bytes));
}

bool play_script(struct play *play, const struct script *script, const char *yaml)
{
    char why[WORLD_WHY_MAX] = "";
    play->script = script;
    play->lacks_verb = false;
    play->why[0] = '\0';
    bool fine = world_open(&play->world, script, yaml, play->seed, why);
    for (play->step = script->steps; fine && play->step; play->step = play->step->next) {
        fine = run_step(play);
        if (!play->step->next && fine)
            fine = no_answer_is_left(play);
    }
    bool clean = world_close(&play->world, why);
    if (why[0] && !play->why[0])
        snprintf(play->why, sizeof(play->why), "%s", why);
    return fine && clean;
}
