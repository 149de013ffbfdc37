/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_HELP_H
#define NAILUP_CTL_HELP_H

/* The commands that this nailupctl knows, without a daemon. */

#include <stdbool.h>
#include <stdio.h>

/* The default of control.socket, from options.def. */
const char *help_default_socket(void);

void help_print_usage(FILE *out);

/* Prints the usage, the options, and every command with its description. */
void help_print(FILE *out);

/* The list of commands as a reply in the protocol of nailup/control.h. */
extern const char help_reply[];

/* Whether these words are a command. If not, prints the reason on stderr. */
bool help_check(int count, char *const words[]);

/* Whether --watch supports the command. If not, prints the reason on stderr. */
bool help_check_watch(const char *verb);

#endif
