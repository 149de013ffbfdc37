/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_HELP_H
#define NAILUP_CTL_HELP_H

/* What this nailupctl knows of the commands, without a daemon. */

#include <stdbool.h>
#include <stdio.h>

/* The default of control.socket, from options.def. */
const char *help_default_socket(void);

void help_print_usage(FILE *out);

/* How to call it, and every command with its sentence. */
void help_print(FILE *out);

/* The same as a reply, in the language of nailup/control.h. */
extern const char help_reply[];

/* Whether these words are a command; if not, stderr has been told what is wrong. */
bool help_check(int count, char *const words[]);

/* Whether a command may be watched, likewise. */
bool help_check_watch(const char *verb);

#endif
