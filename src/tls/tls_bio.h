/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_BIO_H
#define NAILUP_TLS_TLS_BIO_H

/* Where OpenSSL reads and writes instead of a socket. One thread. */

#include <openssl/bio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

struct tls_pipe {
    struct span in; /* borrowed: read and taken from the front */
    struct buf out;
    enum err err; /* why a write failed: the bound of out, or memory */
};

/* Reads in, and says "try again" when it is empty: it never ends, as only who reads the socket
 * knows of an end. Appends to out. The pipe is borrowed. NULL out of memory. */
BIO *tls_bio_new(struct tls_pipe *pipe);

#endif
