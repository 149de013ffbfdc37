/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_IDENTITY_H
#define NAILUP_DAEMON_IDENTITY_H

/* Who the daemon becomes, and whether that one can do what is left to do. */

struct config;
struct listen_sockets;

/*
 * Becomes server.user, where the file names one, while no other thread is there; else root is
 * warned. The sockets become the user's as well, so that a reload can add addresses beside them.
 * Of a file that a reload will not be able to read a warning is logged; one that workers read and
 * cannot is a refusal, as is a user who cannot be become: then the line is written and its exit
 * code returned. config_file is the configuration's name.
 */
int identity_take(const struct config *config, const char *config_file,
                  const struct listen_sockets *sockets);

#endif
