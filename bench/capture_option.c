/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "capture_option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dnstap_file.h"
#include "options.h"
#include "pcap_file.h"

static FILE *capture_open(const char *command, const char *path)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!in)
        option_wrong(command, "%s: %s", path, strerror(errno));
    return in;
}

static void capture_close(FILE *in)
{
    if (in != stdin)
        fclose(in);
}

void option_pcap(const char *command, const char *path, struct capture *out)
{
    size_t packets;
    FILE *in = capture_open(command, path);
    enum pcap_fault fault = pcap_file_load(out, in, &packets);
    capture_close(in);
    if (fault)
        option_wrong(command, "%s: after %zu packets: %s", path, packets, pcap_fault_text(fault));
}

void option_dnstap(const char *command, const char *path, struct capture *out)
{
    size_t frames;
    FILE *in = capture_open(command, path);
    enum dnstap_fault fault = dnstap_file_load(out, in, &frames);
    capture_close(in);
    if (fault)
        option_wrong(command, "%s: after %zu frames: %s", path, frames, dnstap_fault_text(fault));
}
