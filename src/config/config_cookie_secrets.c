/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads the file of server.cookie-secret-file. serve/cookie_secrets.c parses its text. Invariant:
 * no secret is used that other users may read, or that comes from a file with an error.
 */
#include "config/config_cookie_secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/place.h"

static const struct place server = {.key = "server"};

static void report_cookie_secrets(struct loader *loader, const char *sentence)
{
    place_error(loader, &server, "cookie-secret-file", "%.200s: %s",
                loader->config->server.cookie_secret_file, sentence);
}

/* Returns NULL if the file may be used. */
static const char *find_fault(int file)
{
    struct stat status;
    if (fstat(file, &status))
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "not a regular file";
    if (status.st_mode & S_IRWXO)
        return "other users may read or write it; set its mode to 0640 or 0600";
    return status.st_size > COOKIE_SECRETS_FILE_MAX ? "too large" : NULL;
}

/* Returns the length, or -1. A signal may interrupt the read. */
static ssize_t read_secret_text(int file, char *text)
{
    ssize_t len = 0, part;
    while ((part = read(file, text + len, (size_t)(COOKIE_SECRETS_FILE_MAX - len))) > 0)
        len += part;
    return part < 0 ? -1 : len;
}

static void read_secrets(struct loader *loader, int file)
{
    struct server_options *options = &loader->config->server;
    char text[COOKIE_SECRETS_FILE_MAX], why[COOKIE_SECRETS_WHY_MAX];
    const char *fault = find_fault(file);
    if (fault) {
        report_cookie_secrets(loader, fault);
        return;
    }
    ssize_t len = read_secret_text(file, text);
    if (len < 0)
        report_cookie_secrets(loader, strerror(errno));
    else if (cookie_secrets_parse(&options->cookie_secrets, span_of(text, (size_t)len), why))
        place_error(loader, &server, "cookie-secret-file", "%.200s:%s", options->cookie_secret_file,
                    why);
}

void config_read_cookie_secrets(struct loader *loader)
{
    const struct server_options *options = &loader->config->server;
    if (!options->cookie_secret_file || !*options->cookie_secret_file)
        return;
    int file = open(options->cookie_secret_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        report_cookie_secrets(loader, strerror(errno));
        return;
    }
    read_secrets(loader, file);
    close(file);
}
