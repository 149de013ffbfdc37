/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The command line of the cable, and its settings, which can change while it runs.
 */

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cable.h"
#include "json.h"
#include "options.h"

enum { DELAY_MAX_MS = 600000, QUEUE_DEFAULT = 4096 };

static const char usage[] =
    "usage: nailup-bench cable [OPTION]...\n\n"
    "Makes a network device with a distance behind it: packets to the far address arrive at\n"
    "the near one, on this machine, after half a round trip. Needs a network namespace of its own\n"
    "(unshare -rn), and CAP_NET_ADMIN there.\n\n"
    "  --name NAME          of the device (cable0)\n"
    "  --here IP            address of listeners (198.18.0.1)\n"
    "  --there IP           address that clients use (198.18.0.2)\n"
    "  --delay MS           round trip, half of it each way     --jitter MS  and up to MS more\n"
    "  --loss PERCENT       of packets, each way, of every protocol\n"
    "  --reorder            jitter lets packets overtake each other\n"
    "  --queue PACKETS      under way at once; more are dropped (4096)\n"
    "  --mtu BYTES          of the device (65535)\n"
    "  --stdin              commands on standard input: delay MS, jitter MS, loss PERCENT,\n"
    "                       reorder on|off, stats, reset-stats, settings, quit, help\n"
    "  --json               the figures as JSON on standard output at the end\n";

static const struct setting {
    const char *name;
    size_t offset;
    double max;
} settings[] = {
    {"delay", offsetof(struct cable_settings, delay_ms), DELAY_MAX_MS},
    {"jitter", offsetof(struct cable_settings, jitter_ms), DELAY_MAX_MS},
    {"loss", offsetof(struct cable_settings, loss_percent), 100},
};

bool cable_set(struct cable_settings *all, const char *name, const char *value,
               char why[CABLE_WHY_MAX])
{
    if (strcmp(name, "reorder") == 0)
        return parse_switch(value, &all->reorder) ||
               snprintf(why, CABLE_WHY_MAX, "reorder takes on or off, not '%.60s'", value) < 0;
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        double *field = (double *)((char *)all + settings[i].offset);
        if (strcmp(name, settings[i].name) == 0)
            return parse_number(value, 0, settings[i].max, field) ||
                   snprintf(why, CABLE_WHY_MAX, "%s takes a number from 0 to %.0f, not '%.60s'",
                            name, settings[i].max, value) < 0;
    }
    return snprintf(why, CABLE_WHY_MAX, "no such setting: '%.60s'", name) < 0;
}

void cable_settings_json(const struct cable_settings *all, FILE *out)
{
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        json_number(&json, settings[i].name,
                    *(const double *)((const char *)all + settings[i].offset));
    json_text(&json, "reorder", all->reorder ? "on" : "off");
    json_close(&json, '}');
}

/* Accepts an address that a machine can have: not 0/8, loopback, multicast or above. */
static uint32_t end_of(const char *name, const char *text)
{
    struct addr addr;
    if (strchr(text, '@') || addr_parse(&addr, text, 0) != ERR_OK || addr_family(&addr) != AF_INET)
        option_wrong("cable", "--%s takes an IPv4 address, not '%s'", name, text);
    uint32_t value = ntohl(addr.in.sin_addr.s_addr);
    if (value >> 24 == 0 || value >> 24 == 127 || value >> 28 >= 14)
        option_wrong("cable", "--%s takes an address of a machine, not '%s'", name, text);
    return addr.in.sin_addr.s_addr;
}

static const struct option long_options[] = {
    {"name", required_argument, NULL, 'n'},
    {"here", required_argument, NULL, 'H'},
    {"there", required_argument, NULL, 'T'},
    {"queue", required_argument, NULL, 'q'},
    {"mtu", required_argument, NULL, 'm'},
    {"stdin", no_argument, NULL, 'i'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    /* The other options are settings with the same names. A flag means "on". */
    {"delay", required_argument, NULL, 's'},
    {"jitter", required_argument, NULL, 's'},
    {"loss", required_argument, NULL, 's'},
    {"reorder", no_argument, NULL, 's'},
    {NULL, 0, NULL, 0},
};

static void take_name(struct cable *cable, const char *name)
{
    if (!cable_device_name_is_good(name))
        option_wrong("cable", "--name takes up to %d letters, digits, - and _, not '%s'",
                     IFNAMSIZ - 1, name);
    strcpy(cable->device.name, name);
}

static void cable_options_take_setting(struct cable *cable, const char *name)
{
    char why[CABLE_WHY_MAX];
    if (!cable_set(&cable->line.settings, name, optarg ? optarg : "on", why))
        option_wrong("cable", "--%s", why);
}

static void take(struct cable *cable, int option, const char *name)
{
    if (option == 'n')
        take_name(cable, optarg);
    else if (option == 'H')
        cable->device.ends.here = end_of(name, optarg);
    else if (option == 'T')
        cable->device.ends.there = end_of(name, optarg);
    else if (option == 'q')
        cable->device.queue_max = option_u64("cable", name, optarg, 1, CABLE_QUEUE_MAX);
    else if (option == 'm')
        cable->device.mtu = option_u64("cable", name, optarg, CABLE_MTU_MIN, CABLE_MTU_MAX);
    else if (option == 'i')
        cable->use_stdin = true;
    else if (option == 'j')
        cable->json = true;
    else if (option == 's')
        cable_options_take_setting(cable, name);
    else
        option_wrong("cable", "there is no such option");
}

void cable_options_parse(struct cable *cable, int argc, char **argv)
{
    int option, index = 0;
    cable->device = (struct cable_device_options){
        .name = "cable0",
        .ends = {end_of("here", "198.18.0.1"), end_of("there", "198.18.0.2")},
        .mtu = CABLE_MTU_MAX,
        .queue_max = QUEUE_DEFAULT,
    };
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", long_options, &index)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            exit(0);
        }
        take(cable, option, long_options[index].name);
    }
    if (optind < argc)
        option_wrong("cable", "takes no '%s'", argv[optind]);
    if (cable->device.ends.here == cable->device.ends.there)
        option_wrong("cable", "--here and --there are the same address");
    cable->line.ends = cable->device.ends;
    cable->line.mtu = cable->device.mtu;
    cable->line.queue_max = cable->device.queue_max;
}
