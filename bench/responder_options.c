/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The settings of a responder. One table serves the command line and the command "set NAME VALUE",
 * so that each setting can also change at run time.
 */

#include <string.h>

#include "base/check.h"
#include "json.h"
#include "options.h"
#include "responder.h"

enum kind { KIND_U64, KIND_U32, KIND_INT, KIND_NUMBER, KIND_SWITCH, KIND_CHOICE };

/* The words have the order of their enumerations (tls_server.h, responder.h). NULL ends each list.
 */
static const char *const versions[] = {"both", "1.2", "1.3", NULL};
static const char *const early[] = {"off", "on", "reject", NULL};
static const char *const alpn[] = {"dot", "none", "wrong", "refuse", NULL};
static const char *const identities[] = {"good",      "expired",     "future", "other-name",
                                         "other-key", "self-signed", NULL};
static const char *const replies[] = {"handshake", "silent", "half",  "garbage",
                                      "alert",     "close",  "reset", NULL};

static const struct setting {
    const char *name;
    enum kind kind;
    size_t offset;
    double max;
    const char *const *words; /* for KIND_CHOICE */
} settings[] = {
#define AT(field) offsetof(struct responder_options, field)
    {"delay", KIND_NUMBER, AT(delay_ms), 600000, NULL},
    {"jitter", KIND_NUMBER, AT(jitter_ms), 600000, NULL},
    {"loss", KIND_NUMBER, AT(loss_percent), 100, NULL},
    {"tcp-reset-after", KIND_U64, AT(tcp_reset_after), 1e9, NULL},
    {"tcp-close-after", KIND_U64, AT(tcp_close_after), 1e9, NULL},
    {"tcp-stall-after", KIND_U64, AT(tcp_stall_after), 1e9, NULL},
    {"tcp-idle", KIND_U64, AT(tcp_idle_ms), 1e9, NULL},
    {"max-in-flight", KIND_U64, AT(max_in_flight), 65536, NULL},
    {"tcp-silent", KIND_SWITCH, AT(tcp_silent), 0, NULL},
    {"one-shot-per-connection", KIND_SWITCH, AT(one_shot), 0, NULL},
    {"handshake", KIND_SWITCH, AT(handshake), 0, NULL},
    {"ttl", KIND_U32, AT(style.ttl_s), 2147483647, NULL},
    {"negative-ttl", KIND_U32, AT(style.negative_ttl_s), 2147483647, NULL},
    {"keepalive", KIND_INT, AT(style.keepalive), 65535, NULL},
    {"no-case", KIND_SWITCH, AT(style.lower_case), 0, NULL},
    {"authoritative", KIND_SWITCH, AT(style.authoritative), 0, NULL},
    {"dribble", KIND_SWITCH, AT(dribble), 0, NULL},
    {"tls-version", KIND_CHOICE, AT(tls_server.versions), 0, versions},
    {"tls-tickets", KIND_U32, AT(tls_server.tickets), 16, NULL},
    {"tls-early-data", KIND_CHOICE, AT(tls_server.early), 0, early},
    {"tls-alpn", KIND_CHOICE, AT(tls_server.alpn), 0, alpn},
    {"tls-identity", KIND_CHOICE, AT(tls_server.identity), 0, identities},
    {"tls-reply", KIND_CHOICE, AT(tls_reply), 0, replies},
    {"tls-late-alert", KIND_SWITCH, AT(tls_server.late_alert), 0, NULL},
    {"tls-notify", KIND_SWITCH, AT(tls_notify), 0, NULL},
#undef AT
};

static bool set_cookies(struct responder_options *options, const char *value)
{
    bool on;
    if (strcmp(value, "required") == 0)
        options->style.cookies = ANSWER_COOKIES_REQUIRED;
    else if (parse_switch(value, &on))
        options->style.cookies = on ? ANSWER_COOKIES_ON : ANSWER_COOKIES_OFF;
    else
        return false;
    return true;
}

static bool set_integer(const struct setting *setting, void *field, const char *value)
{
    uint64_t number;
    if (setting->kind == KIND_INT && strcmp(value, "none") == 0) {
        *(int *)field = ANSWER_KEEPALIVE_NONE;
        return true;
    }
    if (!parse_u64(value, 0, (uint64_t)setting->max, &number))
        return false;
    if (setting->kind == KIND_U64)
        *(uint64_t *)field = number;
    else if (setting->kind == KIND_U32)
        *(uint32_t *)field = (uint32_t)number;
    else
        *(int *)field = (int)number;
    return true;
}

static bool set_choice(const struct setting *setting, int *field, const char *value)
{
    for (int i = 0; setting->words[i]; i++)
        if (strcmp(value, setting->words[i]) == 0) {
            *field = i;
            return true;
        }
    return false;
}

static void say_choices(const struct setting *setting, const char *value, char *why)
{
    size_t len = (size_t)snprintf(why, 256, "%s takes ", setting->name);
    for (int i = 0; setting->words[i]; i++)
        len += (size_t)snprintf(why + len, 256 - len, "%s%s", i ? ", " : "", setting->words[i]);
    snprintf(why + len, 256 - len, ", not '%.40s'", value);
}

static bool set_field(const struct setting *setting, void *field, const char *value)
{
    if (setting->kind == KIND_NUMBER)
        return parse_number(value, 0, setting->max, field);
    if (setting->kind == KIND_SWITCH)
        return parse_switch(value, field);
    if (setting->kind == KIND_CHOICE)
        return set_choice(setting, field, value);
    return set_integer(setting, field, value);
}

bool responder_set(struct responder_options *options, const char *name, const char *value,
                   char *why)
{
    if (strcmp(name, "cookies") == 0) {
        if (!set_cookies(options, value))
            return snprintf(why, 256, "cookies takes on, off or required, not '%.60s'", value) < 0;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        if (strcmp(name, settings[i].name) != 0)
            continue;
        if (set_field(&settings[i], (char *)options + settings[i].offset, value))
            return true;
        if (settings[i].kind == KIND_CHOICE)
            say_choices(&settings[i], value, why);
        else if (settings[i].kind == KIND_SWITCH)
            snprintf(why, 256, "%s takes on or off, not '%.60s'", name, value);
        else
            snprintf(why, 256, "%s takes a number from 0 to %.0f%s, not '%.60s'", name,
                     settings[i].max, settings[i].kind == KIND_INT ? ", or none" : "", value);
        return false;
    }
    snprintf(why, 256, "no such setting: '%.60s'", name);
    return false;
}

void responder_options_init(struct responder_options *options)
{
    *options = (struct responder_options){
        .handshake = true,
        .tcp = true,
        .udp = true,
        .tls = true,
        .tls_notify = true,
        .tls_server = {.tickets = 2},
        .style = {.ttl_s = 300, .negative_ttl_s = 60, .keepalive = ANSWER_KEEPALIVE_NONE},
    };
}

void responder_options_json(const struct responder_options *options, FILE *out)
{
    static const char *const cookies[] = {"off", "on", "required"};
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        const void *field = (const char *)options + settings[i].offset;
        const char *name = settings[i].name;
        if (settings[i].kind == KIND_NUMBER)
            json_number(&json, name, *(const double *)field);
        else if (settings[i].kind == KIND_SWITCH)
            json_text(&json, name, *(const bool *)field ? "on" : "off");
        else if (settings[i].kind == KIND_CHOICE)
            json_text(&json, name, settings[i].words[*(const int *)field]);
        else if (settings[i].kind == KIND_INT && *(const int *)field < 0)
            json_text(&json, name, "none");
        else if (settings[i].kind == KIND_U64)
            json_u64(&json, name, *(const uint64_t *)field);
        else
            json_u64(&json, name, *(const uint32_t *)field);
    }
    json_text(&json, "cookies", cookies[options->style.cookies]);
    json_text(&json, "udp", options->udp ? "on" : "off");
    json_text(&json, "tcp", options->tcp ? "on" : "off");
    json_text(&json, "tls", options->tls ? "on" : "off");
    json_close(&json, '}');
}
