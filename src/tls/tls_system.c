/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Systems keep their authorities in one file, in a folder of one file each whose name is a hash of
 * its subject, or both. Reading the one file takes OpenSSL 3.0 50 ms and 760 KiB (144 authorities)
 * for each worker and kind of upstream; of the folder only those are read, once, that some chain
 * ends at. So a folder that holds all of them is preferred. A few are not all: somebody put their
 * own beside the system's file.
 */
#include "tls/tls_system.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_DIGITS = 8, ALL_MIN = 32 };

/* "5ed36f99.0" */
static bool is_hashed(const char *name)
{
    for (int i = 0; i < HASH_DIGITS; i++)
        if (!isxdigit((unsigned char)name[i]))
            return false;
    return strcmp(name + HASH_DIGITS, ".0") == 0;
}

static bool has_all(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int count = 0;

    if (!folder)
        return false;
    while (count < ALL_MIN && (entry = readdir(folder)))
        count += is_hashed(entry->d_name);
    closedir(folder);
    return count == ALL_MIN;
}

/* Who names a file or a folder gets what OpenSSL makes of it. */
static bool is_folder_enough(void)
{
    if (secure_getenv(X509_get_default_cert_file_env()) ||
        secure_getenv(X509_get_default_cert_dir_env()))
        return false;
    return has_all(X509_get_default_cert_dir());
}

bool tls_system_trust(SSL_CTX *ctx)
{
    if (is_folder_enough())
        return SSL_CTX_set_default_verify_dir(ctx) == 1;
    return SSL_CTX_set_default_verify_paths(ctx) == 1;
}
