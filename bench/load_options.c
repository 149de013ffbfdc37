/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The command line of nailup-bench load.
 */

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture_option.h"
#include "load.h"
#include "options.h"
#include "tls_option.h"

enum { SUFFIX_MAX = 230, NAMES_MAX = 1 << 28 };

static const char usage[] =
    "usage: nailup-bench load --server IP@PORT [OPTION]...\n\n"
    "amount:\n"
    "  --rate R             R queries a second, due at fixed instants whatever the server does;\n"
    "                       latency counts from those (1000)\n"
    "  --max                as fast as possible: each socket keeps --in-flight queries going\n"
    "  --duration S (10)  --warmup S (0): before it, not counted\n"
    "  --transport udp|tcp|tls (udp)  --connections C (8)\n"
    "  --in-flight K        unanswered queries per socket at most (16 with --max, else 4096)\n"
    "  --source IP          source of queries, in turn if several (the kernel chooses)\n"
    "  --timeout MS         an answer later than that is lost (2000)\n"
    "  --idle-connections N more connections that ask once and then idle; without --rate and\n"
    "                       --max nothing else happens for --duration\n"
    "TLS (port 853):\n"
    "  --tls-version both|1.2|1.3 (both)  --tls-resume on|off (on): tickets are used\n"
    "  --tls-ca-file FILE   verify the certificate with these authorities (else not at all)\n"
    "  --tls-name NAME      name in the certificate, and SNI (else the address)\n"
    "queries:\n"
    "  --queries FILE       in dnsperf's format, repeated in turn ('-': standard input)\n"
    "  --pcap FILE          the queries over UDP in a pcap or pcapng file, likewise\n"
    "  --dnstap FILE        the queries of clients in a dnstap file, likewise\n"
    "  --unique             names never asked before (the default)\n"
    "  --zipf S             names of Zipf popularity with exponent S, of --names N (10000);\n"
    "                       --unique-share PERCENT of them never asked before (0)\n"
    "  --suffix NAME        of made-up names (example)   --type TYPE (A)\n"
    "  --edns BYTES         0: without EDNS (1232)       --dnssec  sets DO\n"
    "report:\n"
    "  --pid PID            CPU time of that process per answer\n"
    "  --watch-cpu N        how long did that CPU stop, as a hypervisor makes it?\n"
    "  --json | --csv       --no-header: CSV without its first line\n"
    "  --progress           a line a second on stderr, as on a terminal; --quiet: none\n";

/* Options that only the construction of the source needs. */
struct source_options {
    const char *file, *pcap, *dnstap, *suffix, *server;
    bool has_server, has_rate, unique, has_zipf;
    double zipf, unique_share;
    uint64_t names;
    uint16_t type;
    struct wire_style style;
};

static const struct option long_options[] = {
    {"server", required_argument, NULL, 's'},
    {"rate", required_argument, NULL, 'r'},
    {"max", no_argument, NULL, 'm'},
    {"duration", required_argument, NULL, 'd'},
    {"warmup", required_argument, NULL, 'w'},
    {"transport", required_argument, NULL, 't'},
    {"connections", required_argument, NULL, 'c'},
    {"in-flight", required_argument, NULL, 'k'},
    {"timeout", required_argument, NULL, 'o'},
    {"source", required_argument, NULL, 'i'},
    {"idle-connections", required_argument, NULL, 'I'},
    {"tls-version", required_argument, NULL, 'V'},
    {"tls-resume", required_argument, NULL, 'R'},
    {"tls-ca-file", required_argument, NULL, 'A'},
    {"tls-name", required_argument, NULL, 'H'},
    {"pid", required_argument, NULL, 'p'},
    {"watch-cpu", required_argument, NULL, 'W'},
    {"json", no_argument, NULL, 'j'},
    {"csv", no_argument, NULL, 'v'},
    {"no-header", no_argument, NULL, 'n'},
    {"progress", no_argument, NULL, 'g'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"queries", required_argument, NULL, 'Q'},
    {"pcap", required_argument, NULL, 'P'},
    {"dnstap", required_argument, NULL, 'C'},
    {"unique", no_argument, NULL, 'U'},
    {"zipf", required_argument, NULL, 'Z'},
    {"names", required_argument, NULL, 'N'},
    {"unique-share", required_argument, NULL, 'S'},
    {"suffix", required_argument, NULL, 'X'},
    {"type", required_argument, NULL, 'T'},
    {"edns", required_argument, NULL, 'E'},
    {"dnssec", no_argument, NULL, 'D'},
    {NULL, 0, NULL, 0},
};

static bool take_transport(struct load_options *options, const char *value)
{
    options->is_tls = strcmp(value, "tls") == 0;
    options->is_stream = options->is_tls || strcmp(value, "tcp") == 0;
    return options->is_stream || strcmp(value, "udp") == 0;
}

static void add_source(struct load_options *options, const char *value)
{
    if (options->source_count == LOAD_SOURCES_MAX)
        option_wrong("load", "--source can be given %d times", LOAD_SOURCES_MAX);
    options->sources[options->source_count++] = option_addr_port("load", "source", value, 0);
}

/* Takes an option of the schedule, the sockets or the report. Returns false if the option is
 * another one. */
static bool take_load_option(struct load_options *options, int option, const char *value)
{
    switch (option) {
    case 'i':
        add_source(options, value);
        return true;
    case 'I':
        options->idle = option_u64("load", "idle-connections", value, 1, LOAD_IDLE_MAX);
        return true;
    case 'r':
        options->rate = option_number("load", "rate", value, 0.001, 1e8);
        return true;
    case 'm':
        return options->is_closed_loop = true;
    case 'd':
        options->duration_s = option_number("load", "duration", value, 0.01, 1e6);
        return true;
    case 'w':
        options->warmup_s = option_number("load", "warmup", value, 0, 1e6);
        return true;
    case 't':
        if (!take_transport(options, value))
            option_wrong("load", "--transport takes udp, tcp or tls, not '%s'", value);
        return true;
    case 'c':
        options->connections = option_u64("load", "connections", value, 1, LOAD_SOCKETS_MAX);
        return true;
    case 'k':
        options->in_flight = option_u64("load", "in-flight", value, 1, LOAD_IN_FLIGHT_MAX);
        return true;
    case 'o':
        options->timeout_ms = option_u64("load", "timeout", value, 1, 600000);
        return true;
    default:
        return false;
    }
}

static bool take_report_option(struct load_options *options, int option, const char *value)
{
    switch (option) {
    case 'p':
        options->pid = (int)option_u64("load", "pid", value, 1, 1 << 30);
        return true;
    case 'W':
        options->watched_cpu = (int)option_u64("load", "watch-cpu", value, 0, CPU_SETSIZE - 1);
        return true;
    case 'j':
        return options->json = true;
    case 'v':
        return options->csv = true;
    case 'n':
        options->csv_header = false;
        return true;
    case 'g':
        return options->progress = true;
    case 'q':
        options->progress = false;
        return true;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        return false;
    }
}

static void take_source_option(struct source_options *source, int option, const char *value)
{
    switch (option) {
    case 's':
        source->server = value;
        source->has_server = true;
        break;
    case 'Q':
        source->file = value;
        break;
    case 'P':
        source->pcap = value;
        break;
    case 'C':
        source->dnstap = value;
        break;
    case 'U':
        source->unique = true;
        break;
    case 'Z':
        source->zipf = option_number("load", "zipf", value, 0, 10);
        source->has_zipf = true;
        break;
    case 'N':
        source->names = option_u64("load", "names", value, 1, NAMES_MAX);
        break;
    case 'S':
        source->unique_share = option_number("load", "unique-share", value, 0, 100);
        break;
    case 'X':
        source->suffix = value;
        break;
    case 'T':
        if (!wire_type_from_text(value, &source->type))
            option_wrong("load", "--type does not know '%s'", value);
        break;
    case 'E':
        source->style.edns_bytes = (uint16_t)option_u64("load", "edns", value, 0, 65535);
        break;
    case 'D':
        source->style.dnssec_ok = true;
        break;
    default:
        option_wrong("load", "there is no such option");
    }
}

static void open_file(struct load *load, const struct source_options *options)
{
    struct query_file file;
    size_t line = 0;
    FILE *in = strcmp(options->file, "-") == 0 ? stdin : fopen(options->file, "r");
    if (!in)
        option_wrong("load", "%s: %s", options->file, strerror(errno));
    enum err err = query_file_load(&file, in, &options->style, &line);
    if (in != stdin)
        fclose(in);
    if (err == ERR_INVALID)
        option_wrong("load", "%s:%zu: not 'NAME TYPE'", options->file, line);
    if (err)
        option_wrong("load", "%s: no queries: %s", options->file, err_str(err));
    query_source_init_file(&load->source, &file);
}

/* Takes only the queries of a capture, because the load has its own times and clients. */
static void take_queries(struct load *load, struct capture *capture)
{
    struct query_file queries = capture->queries;
    capture->queries = (struct query_file){0};
    capture_deinit(capture);
    query_source_init_file(&load->source, &queries);
}

static void open_capture(struct load *load, const struct source_options *options)
{
    struct capture capture;
    if (options->pcap)
        option_pcap("load", options->pcap, &capture);
    else
        option_dnstap("load", options->dnstap, &capture);
    take_queries(load, &capture);
}

static void open_source(struct load *load, const struct source_options *options)
{
    uint8_t suffix[WIRE_NAME_MAX];
    if (options->file) {
        open_file(load, options);
        return;
    }
    if (options->pcap || options->dnstap) {
        open_capture(load, options);
        return;
    }
    size_t len = wire_name_from_text(suffix, options->suffix);
    if (len == 0 || len > SUFFIX_MAX)
        option_wrong("load", "--suffix takes a name, not '%s'", options->suffix);
    query_source_init_unique(&load->source, suffix, len, options->type, &options->style);
    if (options->has_zipf && query_source_init_zipf(&load->source, (uint32_t)options->names,
                                                    options->zipf, options->unique_share))
        option_wrong("load", "--names is more than memory holds");
}

static void check(const struct load_options *options, const struct source_options *source)
{
    if (!source->has_server)
        option_wrong("load", "needs --server IP@PORT");
    if (source->has_rate && options->is_closed_loop)
        option_wrong("load", "takes --rate or --max, not both");
    int kinds = (source->file != NULL) + (source->pcap != NULL) + (source->dnstap != NULL);
    if (kinds + source->unique + source->has_zipf > 1)
        option_wrong("load", "takes one of --queries, --pcap, --dnstap, --unique and --zipf");
    if (options->idle && !options->is_stream)
        option_wrong("load", "--idle-connections needs --transport tcp or tls");
    if (options->json && options->csv)
        option_wrong("load", "takes --json or --csv, not both");
}

void load_options_parse(struct load *load, int argc, char **argv)
{
    struct source_options source = {.suffix = "example",
                                    .names = 10000,
                                    .type = WIRE_TYPE_A,
                                    .style = {.recursion_desired = true, .edns_bytes = 1232}};
    load->options = (struct load_options){.rate = 1000,
                                          .duration_s = 10,
                                          .connections = 8,
                                          .timeout_ms = 2000,
                                          .watched_cpu = -1,
                                          .csv_header = true,
                                          .resume = true,
                                          .progress = isatty(STDERR_FILENO)};
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        source.has_rate |= option == 'r';
        if (!take_load_option(&load->options, option, optarg) &&
            !option_tls("load", option, optarg, &load->options.tls, &load->options.resume) &&
            !take_report_option(&load->options, option, optarg))
            take_source_option(&source, option, optarg);
    }
    if (optind < argc)
        option_wrong("load", "takes no '%s'", argv[optind]);
    check(&load->options, &source);
    load->options.server =
        option_addr_port("load", "server", source.server, load->options.is_tls ? 853 : 53);
    for (size_t i = 0; i < load->options.source_count; i++)
        if (addr_family(&load->options.sources[i]) != addr_family(&load->options.server))
            option_wrong("load", "--source and --server are not of one family");
    load->options.is_hold = load->options.idle && !source.has_rate && !load->options.is_closed_loop;
    if (load->options.is_hold)
        load->options.connections = 0;
    if (load->options.in_flight == 0)
        load->options.in_flight = load->options.is_closed_loop ? 16 : 4096;
    open_source(load, &source);
}
