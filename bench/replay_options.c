/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The command line of nailup-bench replay.
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture_option.h"
#include "options.h"
#include "replay.h"
#include "tls_option.h"

static const char usage[] =
    "usage: nailup-bench replay --server IP@PORT --pcap FILE | --dnstap FILE [OPTION]...\n\n"
    "capture:\n"
    "  --pcap FILE          the queries over UDP in a pcap or pcapng file ('-': standard input)\n"
    "  --dnstap FILE        the queries of clients in a dnstap file\n"
    "  --speed F            F times as fast as the capture (1)\n"
    "  --duration S         leave out what is due later (the whole capture)\n"
    "clients: each address of the capture is one, with its own socket or connection\n"
    "  --transport udp|tcp|tls (udp)\n"
    "  --idle-timeout S     a client closes its socket when it waits for nothing so long (10)\n"
    "  --timeout MS         an answer or a connection later than that is lost (2000)\n"
    "  --sources PREFIX     each client sends from its own address of the prefix: 127.0.0.0/8\n"
    "  --proxy              a PROXY header (version 2) has the address of the capture\n"
    "TLS (port 853):\n"
    "  --tls-version both|1.2|1.3 (both)\n"
    "  --tls-resume on|off  a client that connects again uses a ticket (on)\n"
    "  --tls-ca-file FILE   verify the certificate with these authorities (else not at all)\n"
    "  --tls-name NAME      name in the certificate, and SNI (else the address)\n"
    "report:\n"
    "  --pid PID            CPU time of that process per answer\n"
    "  --json\n"
    "  --progress           a line a second on stderr, as on a terminal; --quiet: none\n";

static const struct option long_options[] = {
    {"server", required_argument, NULL, 's'},
    {"pcap", required_argument, NULL, 'P'},
    {"dnstap", required_argument, NULL, 'C'},
    {"speed", required_argument, NULL, 'f'},
    {"duration", required_argument, NULL, 'd'},
    {"transport", required_argument, NULL, 't'},
    {"idle-timeout", required_argument, NULL, 'i'},
    {"timeout", required_argument, NULL, 'o'},
    {"sources", required_argument, NULL, 'S'},
    {"proxy", no_argument, NULL, 'x'},
    {"tls-version", required_argument, NULL, 'V'},
    {"tls-resume", required_argument, NULL, 'R'},
    {"tls-ca-file", required_argument, NULL, 'A'},
    {"tls-name", required_argument, NULL, 'H'},
    {"pid", required_argument, NULL, 'p'},
    {"json", no_argument, NULL, 'j'},
    {"progress", no_argument, NULL, 'g'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct replay_paths {
    const char *server, *pcap, *dnstap;
};

static bool take_path_option(struct replay_paths *paths, int option, const char *value)
{
    const char **place = option == 's'   ? &paths->server
                         : option == 'P' ? &paths->pcap
                         : option == 'C' ? &paths->dnstap
                                         : NULL;
    if (place)
        *place = value;
    return place != NULL;
}

static bool take_client_option(struct replay_options *options, int option, const char *value)
{
    switch (option) {
    case 'f':
        options->speed = option_number("replay", "speed", value, 0.001, 1e6);
        return true;
    case 'd':
        options->duration_s = option_number("replay", "duration", value, 0.001, 1e6);
        return true;
    case 't':
        options->is_tls = strcmp(value, "tls") == 0;
        options->is_stream = options->is_tls || strcmp(value, "tcp") == 0;
        if (!options->is_stream && strcmp(value, "udp") != 0)
            option_wrong("replay", "--transport takes udp, tcp or tls, not '%s'", value);
        return true;
    case 'i':
        options->idle_ms =
            (uint64_t)(option_number("replay", "idle-timeout", value, 0, 86400) * 1000);
        return true;
    case 'o':
        options->timeout_ms = option_u64("replay", "timeout", value, 1, 600000);
        return true;
    case 'S':
        options->has_sources = true;
        if (prefix_parse(&options->sources, value) || prefix_is_single(&options->sources))
            option_wrong("replay", "--sources takes IP/LENGTH, such as 127.0.0.0/8, not '%s'",
                         value);
        return true;
    case 'x':
        return options->proxy = true;
    default:
        return false;
    }
}

static void take_other_option(struct replay_options *options, int option, const char *value)
{
    switch (option) {
    case 'p':
        options->pid = (int)option_u64("replay", "pid", value, 1, 1 << 30);
        break;
    case 'j':
        options->json = true;
        break;
    case 'g':
    case 'q':
        options->progress = option == 'g';
        break;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        if (!option_tls("replay", option, value, &options->tls, &options->resume))
            option_wrong("replay", "there is no such option");
    }
}

void replay_options_parse(struct replay *replay, int argc, char **argv)
{
    struct replay_paths paths = {0};
    struct replay_options *options = &replay->options;
    *options = (struct replay_options){.speed = 1,
                                       .timeout_ms = 2000,
                                       .idle_ms = 10000,
                                       .resume = true,
                                       .progress = isatty(STDERR_FILENO)};
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!take_path_option(&paths, option, optarg) &&
            !take_client_option(options, option, optarg))
            take_other_option(options, option, optarg);
    if (optind < argc)
        option_wrong("replay", "takes no '%s'", argv[optind]);
    if (!paths.server)
        option_wrong("replay", "needs --server IP@PORT");
    if (!paths.pcap == !paths.dnstap)
        option_wrong("replay", "needs --pcap FILE or --dnstap FILE, and not both");
    options->server =
        option_addr_port("replay", "server", paths.server, options->is_tls ? 853 : 53);
    if (options->has_sources &&
        addr_family(&options->sources.addr) != addr_family(&options->server))
        option_wrong("replay", "--sources and --server are not of one family");
    if (paths.pcap)
        option_pcap("replay", paths.pcap, &replay->capture);
    else
        option_dnstap("replay", paths.dnstap, &replay->capture);
    if (replay->capture.lacks_times)
        option_wrong("replay", "%s: a query has no time: nailup-bench load sends it at a rate",
                     paths.pcap ? paths.pcap : paths.dnstap);
}
