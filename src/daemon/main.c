/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Reads nailupd's command line, loads the configuration and starts the supervisor. exit_code.h and
 * nailupd(8) explain the exit codes.
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/exit_code.h"
#include "daemon/file_table.h"
#include "daemon/readiness.h"
#include "daemon/report.h"
#include "daemon/signals.h"
#include "daemon/supervisor.h"
#include "import/import_unbound.h"
#include "nailup/version.h"
#include "tap/dnstap.h"
#include "validate/algorithm.h"

static const char default_file[] = "/etc/nailup/nailup.yaml";

enum action {
    ACTION_RUN,
    ACTION_TEST,
    ACTION_PRINT,
    ACTION_IMPORT,
    ACTION_VERSION,
    ACTION_HELP,
    ACTION_USAGE
};

struct command_line {
    enum action action;
    const char *file;
};

static const char usage[] =
    "usage: nailupd [-c FILE] [-t | --print-config]\n"
    "       nailupd --import-unbound FILE\n"
    "       nailupd -V | -h\n"
    "  -c, --config FILE  the configuration (default /etc/nailup/nailup.yaml)\n"
    "  -t, --test         check the configuration and print every error\n"
    "  --print-config     print the effective configuration as YAML\n"
    "  --import-unbound FILE\n"
    "                     print a configuration made from an unbound.conf\n"
    "  -V, --version      print the version\n"
    "  -h, --help         print this help\n"
    "Runs in the foreground until SIGTERM. See nailupd(8) and nailup.yaml(5).\n";

static struct command_line main_parse(int argc, char **argv)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"test", no_argument, NULL, 't'},
        {"print-config", no_argument, NULL, 'p'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {"import-unbound", required_argument, NULL, 'i'},
        {NULL, 0, NULL, 0},
    };
    struct command_line line = {.action = ACTION_RUN, .file = default_file};

    for (int option; (option = getopt_long(argc, argv, "c:tVh", options, NULL)) != -1;) {
        switch (option) {
        case 'c':
            line.file = optarg;
            break;
        case 't':
            line.action = ACTION_TEST;
            break;
        case 'p':
            line.action = ACTION_PRINT;
            break;
        case 'i':
            line.action = ACTION_IMPORT;
            line.file = optarg;
            break;
        case 'V':
            line.action = ACTION_VERSION;
            return line;
        case 'h':
            line.action = ACTION_HELP;
            return line;
        default:
            line.action = ACTION_USAGE;
            return line;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "nailupd: unexpected argument '%s'; name the file with -c\n", argv[optind]);
        line.action = ACTION_USAGE;
    }
    return line;
}

/* NULL: stderr has every error. */
static struct config *main_load(const char *file)
{
    struct config *config = NULL;
    struct buf errors;

    buf_init(&errors, CONFIG_ERRORS_BYTES);
    if (config_load(file, &config, &errors)) {
        struct span text = buf_span(&errors);
        fwrite(text.data, 1, text.len, stderr);
    }
    buf_deinit(&errors);
    return config;
}

/* Prints warnings about included files, such as hosts files, to the terminal that asked for a
 * check. */
static void show_warnings(const struct config *config)
{
    struct span text = buf_span(&config->warnings);
    if (text.len > 0)
        fwrite(text.data, 1, text.len, stderr);
}

static int print_config(const struct config *config)
{
    struct buf text;
    int code = EXIT_CANNOT_START;

    buf_init(&text, (size_t)4 * CONFIG_FILE_MAX);
    if (config_print(config, &text) == ERR_OK) {
        struct span all = buf_span(&text);
        if (fwrite(all.data, 1, all.len, stdout) == all.len && fflush(stdout) == 0)
            code = EXIT_STOPPED;
    }
    buf_deinit(&text);
    if (code)
        fputs("nailupd: cannot write the configuration to stdout\n", stderr);
    return code;
}

static bool main_write_all(FILE *stream, const struct buf *text)
{
    struct span all = buf_span(text);
    return (!all.len || fwrite(all.data, 1, all.len, stream) == all.len) && fflush(stream) == 0;
}

static int print_import(const char *file)
{
    struct buf text, messages;
    int code = EXIT_CONFIG;

    buf_init(&text, IMPORT_BYTES_MAX);
    buf_init(&messages, IMPORT_MESSAGES_BYTES);
    if (import_unbound(file, &text, &messages) == ERR_OK)
        code = main_write_all(stdout, &text) ? EXIT_STOPPED : EXIT_CANNOT_START;
    if (code == EXIT_CANNOT_START || !main_write_all(stderr, &messages))
        fputs("nailupd: cannot write the configuration to stdout\n", stderr);
    buf_deinit(&messages);
    buf_deinit(&text);
    return code;
}

/* Each client and each connection needs an open file. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        LOG(LOG_WARNING, "daemon", "the limit of open files stays at %llu",
            (unsigned long long)before);
}

/* Takes the configuration. */
static int serve(struct config **config, const char *file)
{
    log_set_level((*config)->log_level);
    log_set_format((*config)->log_format);
    report_warnings(*config);
    signals_block();
    raise_file_limit();
    file_table_enlarge();
    algorithm_probe();
    return supervisor_run(config, file);
}

static int with_config(enum action action, const char *file)
{
    int code = EXIT_STOPPED;

    if (action == ACTION_RUN)
        signals_block_reload(); /* large files take seconds */
    algorithm_probe();          /* before threads, and before warnings about trust anchors */
    struct config *config = main_load(file);
    if (!config)
        return EXIT_CONFIG;
    if (action != ACTION_RUN)
        show_warnings(config);
    if (action == ACTION_TEST)
        printf("%s: no errors\n", file);
    else if (action == ACTION_PRINT)
        code = print_config(config);
    else
        code = serve(&config, file);
    config_free(config);
    return code;
}

int main(int argc, char **argv)
{
    struct command_line line = main_parse(argc, argv);

    switch (line.action) {
    case ACTION_VERSION:
        puts("nailupd " NAILUP_VERSION);
        printf("%s: libsystemd\n", readiness_is_built() ? "with" : "without");
        printf("%s: dnstap\n", dnstap_is_built_in() ? "with" : "without");
        return EXIT_STOPPED;
    case ACTION_HELP:
        fputs(usage, stdout);
        return EXIT_STOPPED;
    case ACTION_USAGE:
        fputs(usage, stderr);
        return EXIT_USAGE;
    case ACTION_IMPORT:
        return print_import(line.file);
    default:
        return with_config(line.action, line.file);
    }
}
