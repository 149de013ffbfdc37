/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A BIO over memory that is another's: the bytes of a read are copied once, by OpenSSL. */
#include "tls/tls_bio.h"

#include <pthread.h>

#include "base/check.h"

static BIO_METHOD *method; /* for the process */

static int on_read(BIO *bio, char *out, size_t max, size_t *len)
{
    struct tls_pipe *pipe = BIO_get_data(bio);
    struct span part;

    BIO_clear_retry_flags(bio);
    *len = MIN(max, pipe->in.len);
    if (*len == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    MUST(span_take(&pipe->in, *len, &part));
    memcpy(out, part.data, part.len);
    return 1;
}

static int on_write(BIO *bio, const char *data, size_t len, size_t *written)
{
    struct tls_pipe *pipe = BIO_get_data(bio);
    enum err err = buf_append(&pipe->out, data, len);

    BIO_clear_retry_flags(bio);
    *written = err ? 0 : len;
    if (err)
        pipe->err = err;
    return !err;
}

static long on_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static void make_method(void)
{
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "nailup pipe");
    if (!method)
        return;
    BIO_meth_set_read_ex(method, on_read);
    BIO_meth_set_write_ex(method, on_write);
    BIO_meth_set_ctrl(method, on_control);
}

BIO *tls_bio_new(struct tls_pipe *pipe)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_method);
    BIO *bio = method ? BIO_new(method) : NULL;
    if (!bio)
        return NULL;
    BIO_set_data(bio, pipe);
    BIO_set_init(bio, 1);
    return bio;
}
