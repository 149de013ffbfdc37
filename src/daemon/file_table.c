/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Enlarges the kernel's table of open files (file_table.h). The kernel never shrinks a table, so
 * one file with the highest number, open for a moment, is enough. */

#include "daemon/file_table.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/check.h"

void file_table_enlarge(void)
{
    struct rlimit limit;

    MUST(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlim_t files = MIN(limit.rlim_cur, (rlim_t)FILE_TABLE_MAX);
    if (files == 0)
        return;
    int last = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, (int)files - 1);
    if (last >= 0)
        close(last);
}
