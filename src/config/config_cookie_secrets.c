/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads the file of server.cookie-secret-file. serve/cookie_secrets.c parses its text. Invariant:
 * no secret is used that other users may read, or that comes from a file with an error.
 */
#include "config/config_cookie_secrets.h"

#include "config/place.h"
#include "config/secret_file.h"

static const struct place server = {.key = "server"};

static void report_cookie_secrets(struct loader *loader, const char *sentence)
{
    place_error(loader, &server, "cookie-secret-file", "%.200s: %s",
                loader->config->server.cookie_secret_file, sentence);
}

void config_read_cookie_secrets(struct loader *loader)
{
    struct server_options *options = &loader->config->server;
    char text[COOKIE_SECRETS_FILE_MAX], why[COOKIE_SECRETS_WHY_MAX];
    const char *fault;
    if (!options->cookie_secret_file || !*options->cookie_secret_file)
        return;
    ssize_t len = secret_file_read(options->cookie_secret_file, text, sizeof(text), &fault);
    if (len < 0)
        report_cookie_secrets(loader, fault);
    else if (cookie_secrets_parse(&options->cookie_secrets, span_of(text, (size_t)len), why))
        place_error(loader, &server, "cookie-secret-file", "%.200s:%s", options->cookie_secret_file,
                    why);
}
