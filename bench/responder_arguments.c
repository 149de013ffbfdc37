/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The command line of the responder. responder_options.c has the settings, which may also change at
 * run time.
 */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "responder.h"

static const char usage[] =
    "usage: nailup-bench responder [OPTION]...\n\n"
    "  --listen IP@PORT           serve there, UDP and TCP; may be repeated (127.0.0.1@5300);\n"
    "                             port 0: a free one\n"
    "  --listen-tls IP@PORT       speak TLS there and nothing else (port 853); may be repeated\n"
    "  --level root|tld|near|far  later addresses have that place in a hierarchy of\n"
    "                             made-up zones (IPv4); 'none' ends it\n"
    "  --delay MS                 round trip of every answer     --jitter MS  and up to MS more\n"
    "  --loss PERCENT             of UDP queries that are lost\n"
    "  --handshake on|off         a new connection costs one more delay (on)\n"
    "  --tcp-refuse               no TCP until the command 'tcp on'\n"
    "  --tcp-reset-after N        RST at a connection's Nth query\n"
    "  --tcp-close-after N        FIN after N answers\n"
    "  --tcp-stall-after N        silence after N queries\n"
    "  --tcp-idle MS              FIN after MS without a query\n"
    "  --tcp-silent               TCP queries are read and never answered\n"
    "  --one-shot-per-connection  only the first query of a connection is answered\n"
    "  --max-in-flight N          unanswered queries of a connection; then it is not read\n"
    "  --keepalive T              RFC 7828 timeout in units of 100 ms, 0 too (none)\n"
    "  --cookies on|off|required  RFC 7873 (off)\n"
    "  --dribble                  on connections each write has one byte\n"
    "  --ttl S (300)  --negative-ttl S (60)  --authoritative (AA)\n"
    "  --no-case                  the question returns in lower case\n"
    "TLS (the settings for TCP hold there too):\n"
    "  --tls-name NAME            of the certificate that it makes (responder.test)\n"
    "  --tls-ca-file FILE         write the certificate of its authority there\n"
    "  --tls-client-file FILE     write a client's certificate and key there\n"
    "  --tls-certificate FILE  --tls-key FILE   present that one instead\n"
    "  --tls-version both|1.2|1.3 (both)  --tls-tickets N (2; 0: none)\n"
    "  --tls-early-data off|on|reject (off)  --tls-alpn dot|none|wrong|refuse (dot)\n"
    "  --tls-identity good|expired|future|other-name|other-key|self-signed (good)\n"
    "  --tls-reply handshake|silent|half|garbage|alert|close|reset  to a client's first bytes\n"
    "  --tls-late-alert           refuse clients without a certificate, late with TLS 1.3\n"
    "  --tls-notify on|off        close_notify before FIN (on)\n"
    "at run time:\n"
    "  --control PATH             Unix socket for commands (nailup-bench control)\n"
    "  --stdin                    commands on standard input\n"
    "  --json                     the figures as JSON on standard output at the end\n\n"
    "Labels in a name ask for more: d250 ttl5 nx nodata servfail refused big cname tc silent\n"
    "silentudp silenttcp wrongid wrongname close reset stall half. See nailup-bench(1).\n";

static bool add_listener(struct responder *responder, const struct addr *addr, bool is_tls,
                         enum tree_level level)
{
    struct listener *listener = calloc(1, sizeof(*listener));
    if (!listener || responder->listener_count == LISTENERS_MAX)
        return free(listener), false;
    listener->responder = responder;
    listener->addr = *addr;
    listener->is_tls = is_tls;
    if (level != TREE_NONE && !tree_add(&responder->tree, level, addr, &listener->place))
        return free(listener), false;
    listener->last_alert = -1;
    listener->udp.fd = listener->tcp.fd = -1;
    list_init(&listener->conns);
    responder->listeners[responder->listener_count++] = listener;
    return true;
}

static const struct option long_options[] = {
    {"listen", required_argument, NULL, 'l'},
    {"listen-tls", required_argument, NULL, 'L'},
    {"level", required_argument, NULL, 'v'},
    {"tls-name", required_argument, NULL, 'n'},
    {"tls-ca-file", required_argument, NULL, 'a'},
    {"tls-client-file", required_argument, NULL, 'C'},
    {"tls-certificate", required_argument, NULL, 'e'},
    {"tls-key", required_argument, NULL, 'k'},
    {"tcp-refuse", no_argument, NULL, 'r'},
    {"control", required_argument, NULL, 'c'},
    {"stdin", no_argument, NULL, 'i'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    /* The other options are settings with the same names. A flag means "on". */
    {"one-shot-per-connection", no_argument, NULL, 's'},
    {"no-case", no_argument, NULL, 's'},
    {"tcp-silent", no_argument, NULL, 's'},
    {"authoritative", no_argument, NULL, 's'},
    {"delay", required_argument, NULL, 's'},
    {"jitter", required_argument, NULL, 's'},
    {"loss", required_argument, NULL, 's'},
    {"handshake", required_argument, NULL, 's'},
    {"tcp-reset-after", required_argument, NULL, 's'},
    {"tcp-close-after", required_argument, NULL, 's'},
    {"tcp-stall-after", required_argument, NULL, 's'},
    {"tcp-idle", required_argument, NULL, 's'},
    {"max-in-flight", required_argument, NULL, 's'},
    {"keepalive", required_argument, NULL, 's'},
    {"cookies", required_argument, NULL, 's'},
    {"ttl", required_argument, NULL, 's'},
    {"negative-ttl", required_argument, NULL, 's'},
    {"dribble", no_argument, NULL, 's'},
    {"tls-version", required_argument, NULL, 's'},
    {"tls-tickets", required_argument, NULL, 's'},
    {"tls-early-data", required_argument, NULL, 's'},
    {"tls-alpn", required_argument, NULL, 's'},
    {"tls-identity", required_argument, NULL, 's'},
    {"tls-reply", required_argument, NULL, 's'},
    {"tls-late-alert", no_argument, NULL, 's'},
    {"tls-notify", required_argument, NULL, 's'},
    {NULL, 0, NULL, 0},
};

static void responder_arguments_take_setting(struct responder *responder, const char *name,
                                             const char *value)
{
    char why[256];
    if (!responder_set(&responder->options, name, value ? value : "on", why))
        option_wrong("responder", "--%s", why);
}

static void take_listener(struct responder *responder, const char *name, const char *value,
                          bool is_tls, enum tree_level level)
{
    struct addr addr = option_addr_port("responder", name, value, is_tls ? 853 : 53);
    if (!add_listener(responder, &addr, is_tls, level))
        option_wrong("responder", "has room for %d addresses, for %d IPv4 ones at a level",
                     LISTENERS_MAX, TREE_SERVERS_MAX);
}

static enum tree_level responder_arguments_level_of(const char *text)
{
    enum tree_level level = tree_level_from_text(text);
    if (level == TREE_NONE && strcmp(text, "none") != 0)
        option_wrong("responder", "--level takes root, tld, near, far or none, not '%.40s'", text);
    return level;
}

static bool take_tls_file(struct responder_arguments *arguments, int option, const char *value)
{
    switch (option) {
    case 'n':
        arguments->tls_name = value;
        return true;
    case 'a':
        arguments->tls_ca_file = value;
        return true;
    case 'C':
        arguments->tls_client_file = value;
        return true;
    case 'e':
        arguments->tls_certificate = value;
        return true;
    case 'k':
        arguments->tls_key = value;
        return true;
    default:
        return false;
    }
}

void responder_arguments_take(struct responder *responder, struct responder_arguments *arguments,
                              int argc, char **argv)
{
    int option, index = 0;
    struct addr addr;
    enum tree_level level = TREE_NONE;
    while ((option = getopt_long(argc, argv, "", long_options, &index)) != -1) {
        if (take_tls_file(arguments, option, optarg))
            continue;
        if (option == 'l' || option == 'L') {
            take_listener(responder, long_options[index].name, optarg, option == 'L', level);
        } else if (option == 'v') {
            level = responder_arguments_level_of(optarg);
        } else if (option == 's') {
            responder_arguments_take_setting(responder, long_options[index].name, optarg);
        } else if (option == 'r') {
            responder->options.tcp = false;
        } else if (option == 'c') {
            arguments->control = optarg;
        } else if (option == 'i') {
            arguments->use_stdin = true;
        } else if (option == 'j') {
            arguments->json = true;
        } else if (option == 'h') {
            fputs(usage, stdout);
            exit(0);
        } else {
            option_wrong("responder", "there is no such option");
        }
    }
    if (optind < argc)
        option_wrong("responder", "takes no '%s'", argv[optind]);
    if (!arguments->tls_certificate != !arguments->tls_key)
        option_wrong("responder", "needs --tls-certificate and --tls-key, or neither");
    if (responder->listener_count == 0 && (addr_parse(&addr, "127.0.0.1@5300", 0) ||
                                           !add_listener(responder, &addr, false, TREE_NONE)))
        option_wrong("responder", "has no address to listen on");
    const char *missing = tree_is_whole(&responder->tree);
    if (missing)
        option_wrong("responder", "%s", missing);
}
