/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_IDENTITY_H
#define NAILUP_DAEMON_IDENTITY_H

/* Makes the daemon run as server.user from now on, and checks that this user can read the files
 * that the daemon reads later. Keeps only the capability CAP_NET_BIND_SERVICE, so that a reload can
 * add listeners. */

struct config;
struct listen_sockets;

/*
 * Becomes server.user, if the file names one; else warns when it runs as root. Capabilities belong
 * to a thread, and threads that it starts inherit them: main calls this while it is the only one.
 * Gives the sockets to the user too, so that a reload can add addresses beside them. Logs a warning
 * for each file that a reload will not be able to read. Refuses, with a line and the exit code, if
 * the process cannot become the user or a worker could not read a file of its TLS settings.
 * config_file is the name of the configuration.
 */
int identity_take(const struct config *config, const char *config_file,
                  const struct listen_sockets *sockets);

#endif
