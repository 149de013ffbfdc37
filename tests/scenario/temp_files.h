/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_TEMP_FILES_H
#define NAILUP_TESTS_SCENARIO_TEMP_FILES_H

/*
 * Files that a configuration names, with their text in the scenario itself, as in Unbound's: a line
 * "TEMPFILE_CONTENTS x", the lines of the file, and "TEMPFILE_END". The words "TEMPFILE_NAME x"
 * become its path.
 */

#include <stddef.h>

enum { TEMP_FILES_MAX = 8 };

struct temp_files {
    size_t count;
    char name[TEMP_FILES_MAX][64];
    char *path[TEMP_FILES_MAX];
};

/* Writes the files. Returns the configuration with their paths, from malloc(). Line numbers stay
 * the same. */
char *temp_files_write(struct temp_files *files, const char *config);

void temp_files_remove(struct temp_files *files);

#endif
