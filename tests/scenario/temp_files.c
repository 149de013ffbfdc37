/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Writes temporary files without regard to their content. */
#include "scenario/temp_files.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "support/tls_certs.h"

static const char begin_word[] = "TEMPFILE_CONTENTS ", end_word[] = "TEMPFILE_END";
static const char name_word[] = "TEMPFILE_NAME ";

static void put(struct buf *buf, const char *text, size_t len)
{
    MUST(buf_append(buf, text, len) == ERR_OK);
}

/* Takes the word that begins at text and ends at a blank or at the end of the line. */
static void take_name(char name[64], const char *text)
{
    snprintf(name, 64, "%.*s", (int)strcspn(text, " \t\r\n"), text);
}

/* ---- contents ---- */

/* Writes the lines up to TEMPFILE_END, and moves *at behind it. */
static void write_file(struct temp_files *files, const char **at)
{
    const char *text = strchr(*at, '\n');
    const char *end = text ? strstr(text, end_word) : NULL;
    MUST(text && end && files->count < TEMP_FILES_MAX);
    char *contents = strndup(text + 1, (size_t)(end - text - 1));
    MUST(contents);
    take_name(files->name[files->count], *at + strlen(begin_word));
    files->path[files->count++] = tls_certs_file(contents);
    free(contents);
    *at = end + strlen(end_word);
}

/* Appends the configuration without the texts of files. Their lines become empty, so that line
 * numbers stay the same. */
static void cut_out(struct temp_files *files, struct buf *out, const char *config)
{
    for (const char *found; (found = strstr(config, begin_word));) {
        put(out, config, (size_t)(found - config));
        config = found;
        write_file(files, &config);
        for (; found < config; found++)
            if (*found == '\n')
                put(out, "\n", 1);
    }
    put(out, config, strlen(config) + 1);
}

/* ---- paths ---- */

static const char *path_of(const struct temp_files *files, const char *name)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->name[i], name) == 0)
            return files->path[i];
    return name;
}

static void put_paths(const struct temp_files *files, struct buf *out, const char *config)
{
    char name[64];
    for (const char *found; (found = strstr(config, name_word)); config = found + strlen(name)) {
        put(out, config, (size_t)(found - config));
        found += strlen(name_word);
        take_name(name, found);
        put(out, path_of(files, name), strlen(path_of(files, name)));
    }
    put(out, config, strlen(config) + 1);
}

char *temp_files_write(struct temp_files *files, const char *config)
{
    struct buf without, out;
    files->count = 0;
    buf_init(&without, SIZE_MAX / 2);
    buf_init(&out, SIZE_MAX / 2);
    cut_out(files, &without, config);
    put_paths(files, &out, (const char *)buf_span(&without).data);
    char *whole = strdup((const char *)buf_span(&out).data);
    MUST(whole);
    buf_deinit(&without);
    buf_deinit(&out);
    return whole;
}

void temp_files_remove(struct temp_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        unlink(files->path[i]);
        free(files->path[i]);
    }
    files->count = 0;
}
