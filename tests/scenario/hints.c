/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "scenario/hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"

static const char place[] = "TEST-HINTS";
static const char usual[] = ". 3600000 NS k.root-servers.net.\n"
                            "k.root-servers.net. 3600000 A 193.0.14.129\n";

static char *write_file(const char *text)
{
    const char *folder = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof(path), "%s/nailup-hints-XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(path);
    MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    char *copy = strdup(path);
    MUST(copy);
    return copy;
}

char *hints_config(const char *yaml, const char *text, char **path)
{
    const char *at = strstr(yaml, place);
    char *whole = NULL;
    *path = at ? write_file(text ? text : usual) : NULL;
    int len = at ? asprintf(&whole, "%.*s%s%s", (int)(at - yaml), yaml, *path, at + strlen(place))
                 : asprintf(&whole, "%s", yaml);
    MUST(len >= 0);
    return whole;
}

void hints_remove(char *path)
{
    if (path)
        unlink(path);
    free(path);
}
