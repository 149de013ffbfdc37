/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * nailup-bench transports: one client, one query after the other, over each transport: the table of
 * the proposal of 2016. The transports take turns in rounds, so that a disturbance of the machine
 * affects all of them alike. transport_client.c sends the queries.
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "json.h"
#include "latency.h"
#include "options.h"
#include "transport_client.h"
#include "wire.h"

enum { TEMPLATE_MAX = 512, QUERIES_MAX = 10000000 };

static const char usage[] =
    "usage: nailup-bench transports --server IP@PORT [OPTION]...\n\n"
    "  --server IP@PORT      the server (port 53)\n"
    "  --queries N           queries over each transport (1000)\n"
    "  --rounds N            turns that the transports take (5)\n"
    "  --only LIST           some of udp,udp-kept,tcp,tcp-kept,dot12,dot13,dot12-resumed,\n"
    "                        dot13-resumed,dot13-early,dot-kept\n"
    "  --tls-server IP@PORT  the server over TLS (the same address, port 853)\n"
    "  --tls-ca-file FILE    verify its certificate with these authorities (else not at all)\n"
    "  --tls-name NAME       name in the certificate, and SNI (else the address)\n"
    "  --name-template NAME  %u becomes another number in each query (q%u.example)\n"
    "  --type TYPE (A)  --edns BYTES (1232; 0: none)  --timeout MS (2000)\n"
    "  --json                the table as JSON\n";

struct options {
    struct addr server, tls_server;
    bool has_server, has_tls_server, json;
    uint64_t queries, rounds, timeout_ms;
    uint16_t type;
    const char *template, *only;
    struct wire_style style;
    struct tls_client_options tls;
};

struct row {
    enum transport transport;
    struct transport_client client;
    struct latency latency; /* in ns, only of answered queries */
    uint64_t sent, failed, elapsed_ns;
    bool is_refused; /* no more queries are sent, and client.why has the reason */
};

/* Makes the name of query number n. Exits if the template gives no name. */
static size_t make_name(const struct options *options, uint64_t n, uint8_t *name)
{
    char text[TEMPLATE_MAX + 24];
    const char *mark = strstr(options->template, "%u");
    if (mark)
        snprintf(text, sizeof(text), "%.*s%llu%s", (int)(mark - options->template),
                 options->template, (unsigned long long)n, mark + 2);
    else
        snprintf(text, sizeof(text), "%s", options->template);
    size_t len = wire_name_from_text(name, text);
    if (len == 0)
        option_wrong("transports", "--name-template gives '%s', which is no name", text);
    return len;
}

static size_t make_query(const struct options *options, uint64_t number, uint8_t *query)
{
    uint8_t name[WIRE_NAME_MAX];
    size_t name_len = make_name(options, number, name);
    size_t len = wire_build_query(query, name, name_len, options->type, &options->style);
    put_u16(query, (uint16_t)number);
    return len;
}

static void ask_once(const struct options *options, struct row *row, uint64_t number)
{
    uint8_t query[WIRE_QUERY_MAX];
    size_t len = make_query(options, number, query);
    row->is_refused = !transport_client_prepare(&row->client, query, len);
    if (row->is_refused)
        return;
    uint64_t sent_at = clock_now_ns();
    bool ok = transport_client_ask(&row->client, query, len);
    uint64_t took_ns = clock_now_ns() - sent_at;
    row->sent++;
    row->elapsed_ns += took_ns;
    if (ok)
        latency_record(&row->latency, took_ns);
    else
        row->failed++;
    if (!ok && row->client.opened == 0 && row->client.why[0])
        /* no connection ever opened, so further attempts would only take time */
        row->is_refused = true;
}

static void run_rounds(const struct options *options, struct row *rows, size_t count)
{
    /* a new start for each run, because a cache may have earlier names */
    uint64_t number = clock_now_ns() % 1000000 * 1000;
    for (uint64_t round = 0; round < options->rounds; round++)
        for (size_t i = 0; i < count; i++) {
            uint64_t until = options->queries * (round + 1) / options->rounds;
            while (rows[i].sent < until && !rows[i].is_refused)
                ask_once(options, &rows[i], number++);
        }
}

static double per_second(const struct row *row)
{
    return row->elapsed_ns ? (double)row->latency.count * 1e9 / (double)row->elapsed_ns : 0;
}

/* Returns iterations per second as a share of those over UDP, or 0 if UDP was not measured. */
static double ratio_to_udp(const struct row *rows, const struct row *row)
{
    double udp = rows[0].transport == TRANSPORT_UDP ? per_second(&rows[0]) : 0;
    return udp > 0 ? per_second(row) / udp : 0;
}

static double percentile_ms(const struct row *row, double percent)
{
    return (double)latency_percentile(&row->latency, percent) / 1e6;
}

/* Says where a row does not fully measure its transport. */
static void print_doubts(const struct row *row)
{
    const struct transport_client *client = &row->client;
    bool resumes = row->transport == TRANSPORT_DOT12_RESUMED ||
                   row->transport == TRANSPORT_DOT13_RESUMED ||
                   row->transport == TRANSPORT_DOT13_EARLY;
    if (resumes && client->tls->full)
        printf("%30s %llu of these handshakes were full\n", "",
               (unsigned long long)client->tls->full);
    if (row->transport == TRANSPORT_DOT13_EARLY && client->early < row->sent)
        printf("%30s %llu of these queries were not taken as early data\n", "",
               (unsigned long long)(row->sent - client->early));
}

static void print_table(const struct row *rows, size_t count)
{
    printf("%-30s %8s %7s %6s %12s %9s %9s %9s %9s %7s\n", "transport", "queries", "failed",
           "opened", "iterations/s", "mean ms", "p50 ms", "p99 ms", "max ms", "to UDP");
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        if (row->is_refused) {
            printf("%-30s %s\n", transport_sentence(row->transport), row->client.why);
            continue;
        }
        printf("%-30s %8llu %7llu %6llu %12.1f %9.3f %9.3f %9.3f %9.3f %7.2f\n",
               transport_sentence(row->transport), (unsigned long long)row->sent,
               (unsigned long long)row->failed, (unsigned long long)row->client.opened,
               per_second(row), latency_mean(&row->latency) / 1e6, percentile_ms(row, 50),
               percentile_ms(row, 99), (double)row->latency.max / 1e6, ratio_to_udp(rows, row));
        print_doubts(row);
    }
}

static void transports_put_tls(struct json *json, const struct transport_client *client)
{
    json_u64(json, "handshakes_full", client->tls->full);
    json_u64(json, "handshakes_resumed", client->tls->resumed);
    json_u64(json, "early", client->early);
}

static void print_json(const struct options *options, const struct row *rows, size_t count)
{
    struct json json = {.out = stdout};
    char text[ADDR_TEXT_MAX];
    json_open(&json, NULL, '{');
    json_text(&json, "server", addr_format(&options->server, text));
    json_open(&json, "transports", '[');
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        json_open(&json, NULL, '{');
        json_text(&json, "transport", transport_name(row->transport));
        json_u64(&json, "queries", row->sent);
        json_u64(&json, "failed", row->failed);
        json_u64(&json, "opened", row->client.opened);
        if (row->is_refused)
            json_text(&json, "refused", row->client.why);
        if (row->client.tls)
            transports_put_tls(&json, &row->client);
        json_number(&json, "iterations_per_second", per_second(row));
        json_number(&json, "mean_ms", latency_mean(&row->latency) / 1e6);
        json_number(&json, "p50_ms", percentile_ms(row, 50));
        json_number(&json, "p99_ms", percentile_ms(row, 99));
        json_number(&json, "max_ms", (double)row->latency.max / 1e6);
        json_number(&json, "ratio_to_udp", ratio_to_udp(rows, row));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
}

/* Returns whether the comma-separated list contains the name. */
static bool is_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0'))
            return true;
    }
    return false;
}

static size_t choose_rows(const struct options *options, struct row *rows)
{
    size_t count = 0;
    for (int transport = 0; transport < TRANSPORT_COUNT; transport++) {
        if (options->only && !is_listed(options->only, transport_name(transport)))
            continue;
        struct row *row = &rows[count++];
        row->transport = transport;
        latency_init(&row->latency);
        bool is_tls = transport_is_tls(transport);
        transport_client_init(&row->client, transport,
                              is_tls ? &options->tls_server : &options->server,
                              (int)options->timeout_ms);
        if (is_tls && !transport_client_set_tls(&row->client, &options->tls))
            option_wrong("transports", "%s", row->client.why);
    }
    if (count == 0)
        option_wrong("transports", "--only takes some of udp,udp-kept,tcp,tcp-kept,dot12,dot13,"
                                   "dot12-resumed,dot13-resumed,dot13-early,dot-kept");
    return count;
}

static const struct option long_options[] = {
    {"server", required_argument, NULL, 's'},
    {"queries", required_argument, NULL, 'q'},
    {"rounds", required_argument, NULL, 'r'},
    {"only", required_argument, NULL, 'o'},
    {"tls-server", required_argument, NULL, 'S'},
    {"tls-ca-file", required_argument, NULL, 'A'},
    {"tls-name", required_argument, NULL, 'N'},
    {"name-template", required_argument, NULL, 'n'},
    {"type", required_argument, NULL, 't'},
    {"edns", required_argument, NULL, 'e'},
    {"timeout", required_argument, NULL, 'T'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void take_option(struct options *options, int option, const char *value)
{
    switch (option) {
    case 's':
        options->server = option_addr("transports", "server", value);
        options->has_server = true;
        break;
    case 'S':
        options->tls_server = option_addr_port("transports", "tls-server", value, 853);
        options->has_tls_server = true;
        break;
    case 'A':
        options->tls.ca_file = value;
        break;
    case 'N':
        options->tls.name = value;
        break;
    case 'q':
        options->queries = option_u64("transports", "queries", value, 1, QUERIES_MAX);
        break;
    case 'r':
        options->rounds = option_u64("transports", "rounds", value, 1, 1000);
        break;
    case 'o':
        options->only = value;
        break;
    case 'n':
        if (strlen(value) >= TEMPLATE_MAX)
            option_wrong("transports", "--name-template is too long");
        options->template = value;
        break;
    case 't':
        if (!wire_type_from_text(value, &options->type))
            option_wrong("transports", "--type does not know '%s'", value);
        break;
    case 'e':
        options->style.edns_bytes = (uint16_t)option_u64("transports", "edns", value, 0, 65535);
        break;
    case 'T':
        options->timeout_ms = option_u64("transports", "timeout", value, 1, 600000);
        break;
    case 'j':
        options->json = true;
        break;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        option_wrong("transports", "there is no such option");
    }
}

int transports_main(int argc, char **argv)
{
    static struct row rows[TRANSPORT_COUNT];
    struct options options = {.queries = 1000,
                              .rounds = 5,
                              .timeout_ms = 2000,
                              .type = WIRE_TYPE_A,
                              .template = "q%u.example",
                              .style = {.recursion_desired = true, .edns_bytes = 1232}};
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        take_option(&options, option, optarg);
    if (optind < argc)
        option_wrong("transports", "takes no '%s'", argv[optind]);
    if (!options.has_server)
        option_wrong("transports", "needs --server IP@PORT");
    if (!options.has_tls_server) {
        options.tls_server = options.server;
        addr_set_port(&options.tls_server, 853);
    }
    size_t count = choose_rows(&options, rows);
    run_rounds(&options, rows, count);
    if (options.json)
        print_json(&options, rows, count);
    else
        print_table(rows, count);
    uint64_t answered = 0;
    for (size_t i = 0; i < count; i++) {
        answered += rows[i].latency.count;
        transport_client_deinit(&rows[i].client);
    }
    if (answered == 0)
        fputs("nailup-bench transports: no query was answered\n", stderr);
    return answered == 0;
}
