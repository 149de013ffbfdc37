/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Prints the configuration as YAML, in the order of options.def. Invariant: the text loads back to
 * an equal configuration. Two rows differ from their default when they are not given; they are then
 * printed as comments.
 */
#include "config/config_print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "config/config_upstream.h"
#include "config/host_text.h"
#include "config/pin.h"

struct printer {
    const struct config *config;
    struct buf *out;
    enum err err;      /* the first error; nothing is printed after it */
    char section[128]; /* the open headings: "upstream.tcp-keepalive." */
};

static void put_format(struct printer *printer, const char *format, ...) PRINTF_LIKE(2, 3);

static void put_format(struct printer *printer, const char *format, ...)
{
    char text[KIND_TEXT_MAX + 256];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    MUST(len >= 0 && (size_t)len < sizeof(text));
    if (!printer->err)
        printer->err = buf_append(printer->out, text, (size_t)len);
}

static void put_quoted_if_v6(struct printer *printer, const char *text)
{
    put_format(printer, strchr(text, ':') ? "\"%s\"" : "%s", text);
}

/* ---- lists ---- */

static void put_addresses(struct printer *printer, const struct addr *list, size_t count)
{
    char text[ADDR_TEXT_MAX];
    put_format(printer, "[");
    for (size_t i = 0; i < count; i++) {
        put_format(printer, "%s", i ? ", " : "");
        put_quoted_if_v6(printer, addr_format(&list[i], text));
    }
    put_format(printer, "]");
}

static void put_ips(struct printer *printer, const struct addr *list, size_t count)
{
    char text[ADDR_TEXT_MAX];
    put_format(printer, "[");
    for (size_t i = 0; i < count; i++) {
        put_format(printer, "%s", i ? ", " : "");
        put_quoted_if_v6(printer, addr_format_ip(&list[i], text));
    }
    put_format(printer, "]");
}

/* Prints the ports in use, even if the file does not give them. */
static void put_pins(struct printer *printer, const struct tls_pins *pins)
{
    char text[PIN_TEXT_MAX];
    put_format(printer, "[");
    for (size_t i = 0; pins && i < pins->count; i++)
        put_format(printer, "%s%s", i ? ", " : "", pin_format(pins->sha256[i], text));
    put_format(printer, "]");
}

/* Formats where a server is: its name, or its address with the port in use. */
static void format_server(const struct config_upstream *server, const struct route_upstream *route,
                          char *out, size_t size)
{
    char port[8] = "";
    if (server->host && server->host_port)
        snprintf(port, sizeof(port), "@%u", server->host_port);
    if (server->host)
        snprintf(out, size, "%s%s%s", server->host, host_text_dot(server->host), port);
    else
        addr_format(&route->addr, out);
    size_t len = strlen(out);
    if (*server->auth_name)
        snprintf(out + len, size - len, "#%s", server->auth_name);
}

static void put_upstreams(struct printer *printer, const struct config_zone *zone,
                          const struct route_upstream *upstreams)
{
    char text[ADDR_TEXT_MAX + 2 * ADDR_NAME_MAX];
    put_format(printer, "[");
    for (size_t i = 0; i < config_zone_server_count(zone); i++) {
        const struct config_upstream *server = config_zone_server(zone, i);
        format_server(server, server->host ? NULL : &upstreams[i], text, sizeof(text));
        put_format(printer, "%s%s", i ? ", " : "", server->pins ? "{address: " : "");
        put_quoted_if_v6(printer, text);
        if (!server->pins)
            continue;
        put_format(printer, ", pin-sha256: ");
        put_pins(printer, server->pins);
        put_format(printer, "}");
    }
    put_format(printer, "]");
}

static void put_sources(struct printer *printer, const struct sources *sources)
{
    char text[PREFIX_TEXT_MAX];
    for (unsigned i = 0; sources && i < sources->count; i++) {
        put_format(printer, "%s", i ? ", " : "");
        put_quoted_if_v6(printer, prefix_format(&sources->list[i].prefix, text));
    }
}

static void put_outgoing(struct printer *printer)
{
    const struct config_outgoing *outgoing = &printer->config->outgoing;
    put_format(printer, "[");
    put_sources(printer, outgoing->v4);
    put_format(printer, "%s", outgoing->v4 && outgoing->v6 ? ", " : "");
    put_sources(printer, outgoing->v6);
    put_format(printer, "]\n");
}

static void put_access(struct printer *printer)
{
    static const char *const actions[] = {"allow", "refuse", "drop", "allow-snoop"};
    char text[KIND_TEXT_MAX];
    const struct config *config = printer->config;
    put_format(printer, config->access_count ? "\n" : " []\n");
    for (size_t i = 0; i < config->access_count; i++)
        put_format(printer, "    - {prefix: %s, action: %s}\n",
                   kind_format(KIND_PREFIX, &config->access[i].prefix, text),
                   actions[config->access[i].action]);
}

/* Prints the value of a row that is allowed in a layer. */
static void put_layered(struct printer *printer, const struct option *option,
                        const struct upstream_options *values)
{
    char text[KIND_TEXT_MAX];
    if (option->kind == KIND_PINS)
        put_pins(printer, values->tls.pins);
    else
        put_format(printer, "%s",
                   kind_format(option->kind, (const char *)values + option->offset, text));
}

/* Prints the keys of a layer, each after a comma; keys of a section are inside braces. */
static void put_layer(struct printer *printer, const struct config_layer *layer)
{
    char open[64] = "";
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (!option_in_layer(&rows[i], layer))
            continue;
        const char *key = strchr(rows[i].path, '.') + 1;
        int section = strchr(key, '.') ? (int)strcspn(key, ".") : 0;
        bool is_inside = section && strncmp(open, key, (size_t)section) == 0;
        if (*open && !is_inside) {
            put_format(printer, "}");
            *open = '\0';
        }
        put_format(printer, ", ");
        if (section && !is_inside) {
            snprintf(open, sizeof(open), "%.*s", section, key);
            put_format(printer, "%s: {", open);
        }
        put_format(printer, "%s: ", section ? key + section + 1 : key);
        put_layered(printer, &rows[i], &layer->values);
    }
    put_format(printer, "%s", *open ? "}" : "");
}

static bool is_empty_layer(const struct config_layer *layer)
{
    for (size_t i = 0; i < ARRAY_LEN(layer->set); i++)
        if (layer->set[i])
            return false;
    return true;
}

static void put_entries(struct printer *printer)
{
    char text[KIND_TEXT_MAX];
    const struct config *config = printer->config;
    put_format(printer, config->entry_count ? "\n" : " []\n");
    for (size_t i = 0; i < config->entry_count; i++) {
        const struct config_entry *entry = &config->entries[i];
        kind_format(KIND_PREFIX, &entry->prefix, text);
        if (is_empty_layer(&entry->layer)) {
            put_format(printer, "  - %s\n", text);
            continue;
        }
        put_format(printer, "  - {prefix: %s", text);
        put_layer(printer, &entry->layer);
        put_format(printer, "}\n");
    }
}

static void put_zone(struct printer *printer, const struct config_zone *zone,
                     const struct route_zone *route)
{
    char text[KIND_TEXT_MAX];
    put_format(printer,
               "  - {name: %s, upstreams: ", kind_format(KIND_ZONE_NAME, zone->wire, text));
    put_upstreams(printer, zone, route->upstreams);
    put_format(printer, ", first: %s", kind_format(KIND_BOOL, &zone->first, text));
    if (!zone->is_stub)
        put_format(printer, ", trust-ad: %s", kind_format(KIND_BOOL, &zone->trust_ad, text));
    put_format(printer, ", cache: %s", kind_format(KIND_BOOL, &zone->cache, text));
    put_format(printer, ", validate: %s", kind_format(KIND_BOOL, &zone->validate, text));
    put_format(printer, ", aggressive: %s", kind_format(KIND_BOOL, &zone->aggressive, text));
    put_layer(printer, &zone->layer);
    put_format(printer, "}\n");
}

static void put_zone_list(struct printer *printer, const struct config_zone *zones, size_t count,
                          const struct route_zone *routes)
{
    put_format(printer, count ? "\n" : " []\n");
    for (size_t i = 0; i < count; i++)
        put_zone(printer, &zones[i], &routes[i]);
}

static void put_prefix_items(struct printer *printer, const struct config_prefixes *prefixes)
{
    char text[KIND_TEXT_MAX];
    for (size_t i = 0; i < prefixes->count; i++)
        put_format(printer, "%s%s", i ? ", " : "",
                   kind_format(KIND_PREFIX, &prefixes->list[i], text));
}

static void put_prefixes(struct printer *printer, const struct config_prefixes *prefixes)
{
    put_format(printer, " [");
    put_prefix_items(printer, prefixes);
    put_format(printer, "]\n");
}

static void put_names(struct printer *printer, const struct config_names *names)
{
    char text[KIND_TEXT_MAX];
    put_format(printer, " [");
    for (size_t i = 0; i < names->count; i++)
        put_format(printer, "%s%s", i ? ", " : "",
                   kind_format(KIND_ZONE_NAME, names->list[i], text));
    put_format(printer, "]\n");
}

static void put_primaries(struct printer *printer, const struct config_source *source)
{
    char text[ADDR_TEXT_MAX + ADDR_NAME_MAX];
    for (size_t i = 0; i < source->primary_count; i++) {
        const struct config_upstream *primary = &source->primaries[i];
        const struct xfr_primary *server = &source->servers[i];
        put_format(printer, "%s{address: ", i ? ", " : "");
        put_quoted_if_v6(printer, addr_format(&server->addr, text));
        if (server->has_tls)
            put_format(printer, ", tls: yes");
        if (*primary->auth_name)
            put_format(printer, ", auth-name: %s", primary->auth_name);
        if (primary->pins) {
            put_format(printer, ", pin-sha256: ");
            put_pins(printer, primary->pins);
        }
        if (server->key)
            put_format(printer, ", tsig-key: %s", primary->tsig_key);
        put_format(printer, "}");
    }
}

/* Never prints a secret. */
static void put_tsig_keys(struct printer *printer)
{
    char name[KIND_TEXT_MAX], algorithm[KIND_TEXT_MAX], file[KIND_TEXT_MAX];
    const struct config *config = printer->config;
    put_format(printer, config->tsig_key_count ? "\n" : " []\n");
    for (size_t i = 0; i < config->tsig_key_count; i++) {
        const struct config_tsig_key *key = &config->tsig_keys[i];
        put_format(printer, "  - {name: %s, algorithm: %s, secret-file: %s}\n",
                   kind_format(KIND_ZONE_NAME, key->wire, name),
                   kind_format(KIND_TSIG_ALGORITHM, &key->algorithm, algorithm),
                   kind_format(KIND_PATH, &key->file, file));
    }
}

static void put_auth_zones(struct printer *printer)
{
    char name[KIND_TEXT_MAX], file[KIND_TEXT_MAX], use[KIND_TEXT_MAX], size[KIND_TEXT_MAX];
    char zonemd[KIND_TEXT_MAX];
    const struct config *config = printer->config;
    size_t count = config->auth_zone_count;
    if (count > 0 && config->auth_zones[count - 1].is_local_root)
        count--; /* local-root says it */
    put_format(printer, count ? "\n" : " []\n");
    for (size_t i = 0; i < count; i++) {
        const struct config_auth_zone *zone = &config->auth_zones[i];
        put_format(printer, "  - {name: %s, file: %s, primaries: [",
                   kind_format(KIND_ZONE_NAME, zone->wire, name),
                   kind_format(KIND_PATH, &zone->file, file));
        put_primaries(printer, &zone->source);
        put_format(printer, "], allow-notify: [");
        put_prefix_items(printer, &zone->source.allow_notify);
        put_format(printer, "], for: %s, fallback: %s, catalog: %s, zonemd: %s, max-size: %s}\n",
                   kind_format(KIND_ZONE_USE, &zone->use, use), zone->fallback ? "yes" : "no",
                   zone->catalog ? "yes" : "no", kind_format(KIND_ZONEMD, &zone->zonemd, zonemd),
                   kind_format(KIND_SIZE, &zone->max_bytes, size));
    }
}

static void put_local_zones(struct printer *printer)
{
    char name[KIND_TEXT_MAX], action[KIND_TEXT_MAX];
    const struct config *config = printer->config;
    put_format(printer, config->local_zone_count ? "\n" : " []\n");
    for (size_t i = 0; i < config->local_zone_count; i++)
        put_format(printer, "  - {name: %s, action: %s}\n",
                   kind_format(KIND_ZONE_NAME, config->local_zones[i].wire, name),
                   kind_format(KIND_LOCAL_ACTION, &config->local_zones[i].action, action));
}

static void put_records(struct printer *printer)
{
    char text[KIND_TEXT_MAX];
    const struct config *config = printer->config;
    put_format(printer, config->record_count ? "\n" : " []\n");
    for (size_t i = 0; i < config->record_count; i++)
        put_format(printer, "  - %s\n", kind_format(KIND_TEXT, &config->records[i].text, text));
}

static void put_anchors(struct printer *printer)
{
    char text[KIND_TEXT_MAX];
    const struct config *config = printer->config;
    put_format(printer, config->trust_anchor_count ? "\n" : " []\n");
    for (size_t i = 0; i < config->trust_anchor_count; i++)
        put_format(printer, "    - %s\n", kind_format(KIND_TEXT, &config->trust_anchors[i], text));
}

static void put_block_lists(struct printer *printer)
{
    char file[KIND_TEXT_MAX], action[KIND_TEXT_MAX];
    const struct config *config = printer->config;
    put_format(printer, config->block_list_count ? "\n" : " []\n");
    for (size_t i = 0; i < config->block_list_count; i++) {
        const struct config_block_list *list = &config->block_lists[i];
        put_format(printer, "  - {file: %s, action: %s, redirect-to: ",
                   kind_format(KIND_PATH, &list->file, file),
                   kind_format(KIND_LOCAL_ACTION, &list->action, action));
        put_ips(printer, list->redirect, list->redirect_count);
        put_format(printer, "}\n");
    }
}

static void put_rpz_zone(struct printer *printer, const struct config_rpz_zone *zone)
{
    char name[KIND_TEXT_MAX], file[KIND_TEXT_MAX], override[KIND_TEXT_MAX], cname[KIND_TEXT_MAX];
    char log[KIND_TEXT_MAX], log_name[KIND_TEXT_MAX], breaks[KIND_TEXT_MAX], ede[KIND_TEXT_MAX];
    char bytes[KIND_TEXT_MAX], is_default[KIND_TEXT_MAX];
    const struct rpz_zone_options *options = &zone->options;
    put_format(printer, "  - {name: %s, file: %s, primaries: [",
               kind_format(KIND_ZONE_NAME, options->wire, name),
               kind_format(KIND_PATH, &zone->file, file));
    put_primaries(printer, &zone->source);
    put_format(printer, "], allow-notify: [");
    put_prefix_items(printer, &zone->source.allow_notify);
    put_format(printer,
               "], action-override: %s, cname-override: %s, log: %s, log-name: %s, "
               "break-dnssec: %s, ede: %s, max-bytes: %s, catalog: %s, default: %s}\n",
               kind_format(KIND_RPZ_OVERRIDE, &options->override, override),
               kind_format(KIND_ZONE_NAME, options->cname, cname),
               kind_format(KIND_BOOL, &options->log, log),
               kind_format(KIND_LINE, &options->log_name, log_name),
               kind_format(KIND_BOOL, &options->break_dnssec, breaks),
               kind_format(KIND_RPZ_EDE, &options->ede, ede),
               kind_format(KIND_SIZE, &options->max_bytes, bytes), zone->catalog ? "yes" : "no",
               kind_format(KIND_BOOL, &options->is_default, is_default));
}

static void put_rpz(struct printer *printer)
{
    const struct config_rpz *rpz = &printer->config->rpz;
    put_format(printer, rpz->count ? "\n" : " []\n");
    for (size_t i = 0; i < rpz->count; i++)
        put_rpz_zone(printer, &rpz->zones[i]);
}

static void put_dnstap_messages(struct printer *printer)
{
    uint32_t messages = printer->config->dnstap.messages;
    const char *before = "";
    put_format(printer, " [");
    for (const char *word = DNSTAP_MESSAGE_WORDS; *word; word += strlen(word) + 1, messages >>= 1) {
        if (!(messages & 1))
            continue;
        put_format(printer, "%s%s", before, word);
        before = ", ";
    }
    put_format(printer, "]\n");
}

/* Prints a list that fits one line. */
static void put_list_in_line(struct printer *printer, const struct option *option)
{
    const struct config *config = printer->config;
    const struct server_options *server = &config->server;
    put_format(printer, " ");
    switch (option->kind) {
    case KIND_FILES: /* their contents are printed */
        put_format(printer, "[]");
        break;
    case KIND_LISTEN:
        put_addresses(printer, server->listen, server->listen_count);
        break;
    case KIND_LISTEN_HTTPS:
        put_addresses(printer, server->listen_https, server->listen_https_count);
        break;
    case KIND_LISTEN_TLS:
        put_addresses(printer, server->listen_tls, server->listen_tls_count);
        break;
    case KIND_SERVERS:
        put_addresses(printer, config->bootstrap.list, config->bootstrap.count);
        break;
    default:
        MUST(option->kind == KIND_PINS);
        put_pins(printer, config->upstream.tls.pins);
    }
    put_format(printer, "\n");
}

static void put_zones_of(struct printer *printer, const struct option *option)
{
    const struct config *config = printer->config;
    if (option->offset == offsetof(struct config, stub_zones))
        put_zone_list(printer, config->stub_zones, config->stub_count,
                      config->route.zones + config->zone_count);
    else
        put_zone_list(printer, config->zones, config->zone_count, config->route.zones);
}

/* Returns the row of the file whose format a key of a view shares. */
static const struct option *row_of_view(const char *key)
{
    static const struct {
        const char *key, *path;
    } others[] = {{"listen", "server.listen"},
                  {"access", "server.access"},
                  {"queries-per-second", "server.rate-limit.queries-per-second"},
                  {"validate", "dnssec.validate"},
                  {"clients", "recursion.do-not-query"}};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strcmp(others[i].key, key) == 0)
            return options_find(others[i].path);
    return options_find(key);
}

/* Prints the text as the value of a key of a view, four columns further in. */
static void put_indented(struct printer *printer, struct span text)
{
    for (size_t i = 0; i < text.len; i++) {
        put_format(printer, "%c", text.data[i]);
        if (text.data[i] == '\n' && i + 1 < text.len)
            put_format(printer, "    ");
    }
}

static void put_view(struct printer *printer, const struct config_view *view)
{
    static const char prefix[] = "views[].";
    size_t count;
    const struct option *rows = options_all(&count);
    struct buf text;
    put_format(printer, "  - name: %s\n", view->name);
    put_format(printer, "    clients:");
    put_prefixes(printer, &view->clients);
    put_format(printer, "    inherit-local: %s\n", view->inherit_local ? "yes" : "no");
    if (config_view_gives(view, "views[].rpz-zones")) {
        put_format(printer, "    rpz-zones:");
        put_names(printer, &view->policy_zones);
    }
    buf_init(&text, (size_t)4 * CONFIG_FILE_MAX);
    for (size_t i = 0; i < count && !printer->err; i++) {
        const char *key = rows[i].path + sizeof(prefix) - 1;
        bool is_of_view = strncmp(rows[i].path, prefix, sizeof(prefix) - 1) == 0;
        const struct option *row = is_of_view ? row_of_view(key) : NULL;
        if (!row || strcmp(key, "clients") == 0 || !config_view_gives(view, rows[i].path))
            continue;
        buf_clear(&text);
        put_format(printer, "    %s:", key);
        if (!printer->err)
            printer->err = config_print_value(&view->part, row, &text);
        put_indented(printer, buf_span(&text));
    }
    buf_deinit(&text);
}

static void put_views(struct printer *printer)
{
    const struct config *config = printer->config;
    put_format(printer, config->view_count ? "\n" : " []\n");
    for (size_t i = 0; i < config->view_count; i++)
        put_view(printer, &config->views[i]);
}

static void put_list_value(struct printer *printer, const struct option *option)
{
    /* Printing only reads: the cast avoids a second function for const. */
    const void *field =
        option_field(option, option_owner_of(option, (struct config *)printer->config));
    switch (option->kind) {
    case KIND_OUTGOING:
        put_format(printer, " ");
        put_outgoing(printer);
        break;
    case KIND_ACCESS:
        put_access(printer);
        break;
    case KIND_ENTRIES:
        put_entries(printer);
        break;
    case KIND_AUTH_ZONES:
        put_auth_zones(printer);
        break;
    case KIND_TSIG_KEYS:
        put_tsig_keys(printer);
        break;
    case KIND_LOCAL_ZONES:
        put_local_zones(printer);
        break;
    case KIND_RECORDS:
        put_records(printer);
        break;
    case KIND_ANCHORS:
        put_anchors(printer);
        break;
    case KIND_BLOCK_LISTS:
        put_block_lists(printer);
        break;
    case KIND_RPZ_ZONES:
        put_rpz(printer);
        break;
    case KIND_DNSTAP_MESSAGES:
        put_dnstap_messages(printer);
        break;
    case KIND_PREFIXES:
        put_prefixes(printer, field);
        break;
    case KIND_NAMES:
        put_names(printer, field);
        break;
    case KIND_VIEWS:
        put_views(printer);
        break;
    case KIND_ZONES:
        put_zones_of(printer, option);
        break;
    default:
        put_list_in_line(printer, option);
    }
}

/* ---- rows ---- */

/* Rows that leave the choice to another row if they are not given. */
static bool leaves_choice(const struct config *config, const struct option *option)
{
    return config->written[option_index(option)].line == 0 &&
           (strcmp(option->path, "upstream.fallback") == 0 ||
            strcmp(option->path, "tcp-upstream-keepalive-maxrequests") == 0);
}

/* Prints the headings of a path that are not open yet. Returns the last key of the path. */
static const char *put_headings(struct printer *printer, const char *path, int *indent)
{
    const char *key = path, *dot;
    *indent = 0;
    while ((dot = strchr(key, '.'))) {
        size_t len = (size_t)(dot - path) + 1;
        if (strncmp(printer->section, path, len) != 0) {
            put_format(printer, "%*s%.*s:\n", *indent, "", (int)(dot - key), key);
            snprintf(printer->section, sizeof(printer->section), "%.*s", (int)len, path);
        }
        key = dot + 1;
        *indent += 2;
    }
    if (*indent == 0)
        printer->section[0] = '\0';
    return key;
}

/* Prints the text after the colon. */
static void put_row_value(struct printer *printer, const struct option *option)
{
    char text[KIND_TEXT_MAX];
    if (kind_is_list(option->kind)) {
        put_list_value(printer, option);
        return;
    }
    /* Printing only reads: the cast avoids a second look-up for const. */
    void *owner = option_owner_of(option, (struct config *)printer->config);
    put_format(printer, " %s\n", kind_format(option->kind, option_field(option, owner), text));
}

static void put_row(struct printer *printer, const struct option *option)
{
    int indent;
    const char *key = put_headings(printer, option->path, &indent);
    const char *comment = leaves_choice(printer->config, option) ? "# " : "";
    put_format(printer, "%*s%s%s:", indent, "", comment, key);
    put_row_value(printer, option);
}

enum err config_print_value(const struct config *config, const struct option *option,
                            struct buf *out)
{
    struct printer printer = {.config = config, .out = out};
    if (leaves_choice(config, option))
        put_format(&printer, " not given\n");
    else
        put_row_value(&printer, option);
    return printer.err;
}

enum err config_print(const struct config *config, struct buf *out)
{
    struct printer printer = {.config = config, .out = out};
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++)
        if (!option_is_of_item(&rows[i]))
            put_row(&printer, &rows[i]);
    return printer.err;
}
