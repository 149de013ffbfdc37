/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_HINTS_H
#define NAILUP_TESTS_SCENARIO_HINTS_H

/* Root hints of a scenario: a file that exists while the configuration is read. */

/* Returns the configuration, from malloc(), with the path of a file in place of TEST-HINTS. The
 * file has this text, or with NULL one server, k.root-servers.net at 193.0.14.129. *path, from
 * malloc(), is NULL without such a place. */
char *hints_config(const char *yaml, const char *text, char **path);

/* Removes the file and frees the path; NULL is fine. */
void hints_remove(char *path);

#endif
