/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CAPTURE_OPTION_H
#define NAILUP_BENCH_CAPTURE_OPTION_H

/* The options --pcap and --dnstap, which several commands have. */

#include "capture.h"

/* Load the file, or standard input for "-". A fault ends the process with exit code 2 and a line
 * that names the command, the file and the remedy. */
void option_pcap(const char *command, const char *path, struct capture *out);
void option_dnstap(const char *command, const char *path, struct capture *out);

#endif
