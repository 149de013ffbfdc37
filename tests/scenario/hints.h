/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_HINTS_H
#define NAILUP_TESTS_SCENARIO_HINTS_H

/* Root hints of a scenario: a file as long as the configuration is read. */

/* The configuration, from malloc(), with the path of a file in the place of TEST-HINTS: its text,
 * or with NULL one server, k.root-servers.net at 193.0.14.129. *path, from malloc(), is NULL when
 * there is no such place. */
char *hints_config(const char *yaml, const char *text, char **path);

/* Removes the file and frees the path; NULL is fine. */
void hints_remove(char *path);

#endif
