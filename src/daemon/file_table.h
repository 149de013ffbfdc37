/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_FILE_TABLE_H
#define NAILUP_DAEMON_FILE_TABLE_H

/*
 * The kernel's table of the files that this process has open. The kernel doubles a table that is
 * full. In a process with threads, the call that needs the larger table (socket(), accept()) then
 * waits until no CPU uses the old one. Workers answered nothing for 5 to 15 ms meanwhile.
 */

enum { FILE_TABLE_MAX = 16384 }; /* files; 128 KiB of the kernel's memory */

/* Enlarges the table to the soft limit of open files, or to FILE_TABLE_MAX if that is less. Call it
 * before the first thread starts: then it waits for nothing. A failure changes nothing. */
void file_table_enlarge(void);

#endif
