/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Tickets in a file: how they are saved and loaded, and every kind of faulty file. */

#include "tls_sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tls/tls_tickets.h"
#include "tls/tls_tickets_format.h"

struct place {
    struct tls_tickets *tickets;
    char folder[64];
    char path[96], beside[96], other[96];
};

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    strcpy(place->folder, "/tmp/nailup-test-XXXXXX");
    MUST(mkdtemp(place->folder));
    snprintf(place->path, sizeof(place->path), "%s/tickets", place->folder);
    snprintf(place->beside, sizeof(place->beside), "%s/tickets.new", place->folder);
    snprintf(place->other, sizeof(place->other), "%s/other", place->folder);
    place->tickets = tls_tickets_new();
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;

    tls_tickets_free(place->tickets);
    chmod(place->folder, 0700);
    unlink(place->path);
    unlink(place->beside);
    rmdir(place->beside);
    unlink(place->other);
    rmdir(place->folder);
    free(place);
    return 0;
}

static void put(struct tls_tickets *tickets, const char *key, int tag)
{
    tls_rack_put(tls_tickets_rack(tickets, text(key)), session_new(TLS1_3_VERSION, tag));
}

static int take_tag(struct tls_tickets *tickets, const char *key)
{
    SSL_SESSION *session = tls_rack_take(tls_tickets_rack(tickets, text(key)), now());
    int tag = session ? session_tag(session) : -1;

    SSL_SESSION_free(session);
    return tag;
}

static enum err save(struct place *place)
{
    return tls_tickets_save(place->tickets, place->path, now());
}

/* Loads the file into a separate store, and frees the store. */
static enum err load_alone(const char *path, size_t *count)
{
    struct tls_tickets *tickets = tls_tickets_new();
    enum err err = tls_tickets_load(tickets, path, now(), count);

    tls_tickets_free(tickets);
    return err;
}

static enum err load_error(const char *path)
{
    size_t count = 99;
    enum err err = load_alone(path, &count);

    assert_int_equal(count, 0);
    return err;
}

static void save_some(struct place *place)
{
    put(place->tickets, "one", 1);
    put(place->tickets, "one", 2);
    put(place->tickets, "two", 3);
    assert_int_equal(save(place), ERR_OK);
}

static size_t read_file(const char *path, uint8_t *out, size_t max)
{
    FILE *file = fopen(path, "rb");
    size_t len;

    assert_non_null(file);
    len = fread(out, 1, max, file);
    assert_true(len < max);
    fclose(file);
    return len;
}

static void write_file(const char *path, struct span bytes, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.data, bytes.len), (ssize_t)bytes.len);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static bool exists(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0;
}

/* ---------------------------------------------------------------- saving and loading */

static void test_tickets_come_back_in_their_order(void **state)
{
    struct place *place = *state;
    struct tls_tickets *later = tls_tickets_new();
    size_t count;

    save_some(place);
    assert_int_equal(tls_tickets_load(later, place->path, now(), &count), ERR_OK);
    assert_int_equal(count, 3);
    assert_int_equal(take_tag(later, "one"), 2);
    assert_int_equal(take_tag(later, "one"), 1);
    assert_int_equal(take_tag(later, "one"), -1);
    assert_int_equal(take_tag(later, "two"), 3);
    tls_tickets_free(later);
}

static void test_saving_takes_nothing_away(void **state)
{
    struct place *place = *state;

    save_some(place);
    assert_int_equal(take_tag(place->tickets, "one"), 2);
}

static void test_a_loaded_session_is_resumed(int version, struct place *place)
{
    struct tls_tickets *later = tls_tickets_new();
    SSL_SESSION *session;
    size_t count;

    tls_rack_put(tls_tickets_rack(place->tickets, text("real")),
                 session_of_handshake(version, NULL));
    assert_int_equal(save(place), ERR_OK);
    assert_int_equal(tls_tickets_load(later, place->path, now(), &count), ERR_OK);
    session = tls_rack_take(tls_tickets_rack(later, text("real")), now());
    assert_non_null(session);
    assert_true(handshake_resumes(session));
    SSL_SESSION_free(session);
    tls_tickets_free(later);
}

static void test_a_loaded_session_of_tls_1_2_is_resumed(void **state)
{
    test_a_loaded_session_is_resumed(TLS1_2_VERSION, *state);
}

static void test_a_loaded_session_of_tls_1_3_is_resumed(void **state)
{
    test_a_loaded_session_is_resumed(TLS1_3_VERSION, *state);
}

static void test_loaded_tickets_are_below_newer_ones(void **state)
{
    struct place *place = *state;
    struct tls_tickets *later = tls_tickets_new();
    size_t count;

    save_some(place);
    for (int i = 0; i < TLS_RACK_TICKETS_MAX - 1; i++)
        put(later, "one", 50 + i);
    assert_int_equal(tls_tickets_load(later, place->path, now(), &count), ERR_OK);
    assert_int_equal(count, 2); /* the oldest ticket of "one" did not fit */
    for (int i = TLS_RACK_TICKETS_MAX - 2; i >= 0; i--)
        assert_int_equal(take_tag(later, "one"), 50 + i);
    assert_int_equal(take_tag(later, "one"), 2);
    assert_int_equal(take_tag(later, "one"), -1);
    tls_tickets_free(later);
}

static void test_expired_tickets_are_not_saved_and_not_loaded(void **state)
{
    struct place *place = *state;
    size_t count;

    save_some(place);
    assert_int_equal(tls_tickets_load(place->tickets, place->path, now() + 8000, &count), ERR_OK);
    assert_int_equal(count, 0);
    assert_int_equal(tls_tickets_save(place->tickets, place->path, now() + 8000), ERR_OK);
    assert_int_equal(load_alone(place->path, &count), ERR_OK);
    assert_int_equal(count, 0);
}

static void test_an_empty_store_replaces_the_old_file(void **state)
{
    struct place *place = *state;
    size_t count = 99;

    save_some(place);
    while (take_tag(place->tickets, "one") >= 0 || take_tag(place->tickets, "two") >= 0)
        ;
    assert_int_equal(save(place), ERR_OK);
    assert_int_equal(load_alone(place->path, &count), ERR_OK);
    assert_int_equal(count, 0);
}

static void test_a_full_rack_with_the_longest_key_comes_back(void **state)
{
    struct place *place = *state;
    uint8_t key[TLS_RACK_KEY_MAX];
    struct tls_rack *rack;
    size_t count;

    memset(key, 0xa5, sizeof(key));
    rack = tls_tickets_rack(place->tickets, span_of(key, sizeof(key)));
    for (int i = 0; i < TLS_RACK_TICKETS_MAX; i++)
        tls_rack_put(rack, session_new(TLS1_2_VERSION, i));
    assert_int_equal(save(place), ERR_OK);
    assert_int_equal(load_alone(place->path, &count), ERR_OK);
    assert_int_equal(count, TLS_RACK_TICKETS_MAX);
}

/* The tickets exceed the bound on the file. */
static void test_tickets_beyond_the_file_size_are_left_out(void **state)
{
    enum { LARGE = TLS_TICKET_BYTES_MAX - 4096, TICKETS = TLS_TICKETS_FILE_MAX / LARGE + 1 };
    struct place *place = *state;
    static uint8_t data[LARGE];
    size_t count;
    struct stat found;

    for (uint32_t i = 0; i < TICKETS; i++) {
        uint32_t rack = i / TLS_RACK_TICKETS_MAX;
        SSL_SESSION *large = session_new(TLS1_3_VERSION, 1);
        assert_int_equal(SSL_SESSION_set1_ticket_appdata(large, data, sizeof(data)), 1);
        tls_rack_put(tls_tickets_rack(place->tickets, span_of(&rack, sizeof(rack))), large);
    }
    assert_int_equal(save(place), ERR_OK);
    assert_int_equal(stat(place->path, &found), 0);
    assert_in_range(found.st_size, TLS_TICKETS_FILE_MAX - TLS_TICKET_BYTES_MAX,
                    TLS_TICKETS_FILE_MAX);
    assert_int_equal(load_alone(place->path, &count), ERR_OK);
    assert_in_range(count, TICKETS / 2, TICKETS - 1);
}

static void test_racks_beyond_the_bound_are_not_made(void **state)
{
    struct place *place = *state;
    size_t count;

    save_some(place);
    for (uint32_t i = 0; i < TLS_RACKS_MAX; i++)
        (void)tls_tickets_rack(place->tickets, span_of(&i, sizeof(i)));
    put(place->tickets, "one", 4);
    assert_int_equal(save(place), ERR_OK);
    tls_tickets_free(place->tickets);
    place->tickets = tls_tickets_new();
    for (uint32_t i = 0; i < TLS_RACKS_MAX - 1; i++)
        (void)tls_tickets_rack(place->tickets, span_of(&i, sizeof(i)));
    assert_int_equal(tls_tickets_load(place->tickets, place->path, now(), &count), ERR_LIMIT);
    assert_in_range(count, 1, 3);
}

/* ---------------------------------------------------------------- access */

static void test_only_its_owner_can_read_the_file(void **state)
{
    struct place *place = *state;
    mode_t old = umask(0);
    struct stat found;

    save_some(place);
    umask(old);
    assert_int_equal(lstat(place->path, &found), 0);
    assert_true(S_ISREG(found.st_mode));
    assert_int_equal(found.st_mode & 07777, 0600);
    assert_int_equal(found.st_uid, geteuid());
    assert_false(exists(place->beside));
}

static void test_no_umask_makes_it_unreadable(void **state)
{
    struct place *place = *state;
    mode_t old = umask(0777);
    size_t count;

    save_some(place);
    umask(old);
    assert_int_equal(load_alone(place->path, &count), ERR_OK);
    assert_int_equal(count, 3);
}

static void test_a_file_that_others_may_access_is_refused(void **state)
{
    static const mode_t modes[] = {0640, 0620, 0604, 0602, 0610, 0601, 0644, 0666};
    struct place *place = *state;

    save_some(place);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        assert_int_equal(chmod(place->path, modes[i]), 0);
        assert_int_equal(load_error(place->path), ERR_PERMISSION);
    }
}

static void test_a_file_of_another_user_is_refused(void **state)
{
    struct place *place = *state;

    save_some(place);
    if (geteuid() != 0)
        assert_int_equal(load_error("/etc/passwd"), ERR_PERMISSION);
    else if (chown(place->path, 12345, 12345) == 0)
        assert_int_equal(load_error(place->path), ERR_PERMISSION);
    else
        skip(); /* this root user may not chown */
}

static void test_a_symbolic_link_is_not_followed(void **state)
{
    struct place *place = *state;

    save_some(place);
    assert_int_equal(rename(place->path, place->other), 0);
    assert_int_equal(symlink(place->other, place->path), 0);
    assert_int_equal(load_error(place->path), ERR_INVALID);
}

static void test_saving_replaces_a_symbolic_link_and_not_its_target(void **state)
{
    struct place *place = *state;
    uint8_t bytes[8];

    write_file(place->other, text("mine"), 0644);
    assert_int_equal(symlink(place->other, place->path), 0);
    assert_int_equal(symlink(place->other, place->beside), 0);
    save_some(place);
    assert_int_equal(read_file(place->other, bytes, sizeof(bytes)), 4);
    assert_memory_equal(bytes, "mine", 4);
    assert_int_equal(load_alone(place->path, &(size_t){0}), ERR_OK);
}

static void test_a_foreign_file_is_never_overwritten(void **state)
{
    struct place *place = *state;
    uint8_t bytes[16];

    write_file(place->path, text("mine"), 0600);
    assert_true(tls_tickets_is_foreign(place->path));
    put(place->tickets, "one", 1);
    assert_int_equal(save(place), ERR_FOREIGN);
    assert_int_equal(read_file(place->path, bytes, sizeof(bytes)), 4);
    assert_memory_equal(bytes, "mine", 4);
    assert_false(exists(place->beside));
    write_file(place->path, text("nailup-tls\n\0of version 9"), 0600);
    assert_true(tls_tickets_is_foreign(place->path)); /* text() stops at the NUL */
    unlink(place->path);
    save_some(place);
    assert_false(tls_tickets_is_foreign(place->path));
}

static void test_only_a_regular_file_is_read(void **state)
{
    struct place *place = *state;

    assert_int_equal(load_error(place->folder), ERR_INVALID);
    assert_int_equal(mkfifo(place->path, 0600), 0);
    assert_int_equal(load_error(place->path), ERR_INVALID);
    assert_int_equal(load_error("/dev/null"), ERR_INVALID);
}

static void test_a_missing_file_is_not_found(void **state)
{
    struct place *place = *state;
    assert_int_equal(load_error(place->path), ERR_NOT_FOUND);
}

/* ---------------------------------------------------------------- damaged files */

static void test_a_truncated_file_is_refused(void **state)
{
    struct place *place = *state;
    static uint8_t bytes[65536];
    size_t len;

    save_some(place);
    len = read_file(place->path, bytes, sizeof(bytes));
    for (size_t cut = 0; cut < len; cut++) {
        assert_int_equal(truncate(place->path, (off_t)(len - 1 - cut)), 0);
        assert_int_equal(load_error(place->path), ERR_INVALID);
    }
}

static void test_a_byte_too_many_is_refused(void **state)
{
    struct place *place = *state;
    static uint8_t bytes[65536];
    size_t len;

    save_some(place);
    len = read_file(place->path, bytes, sizeof(bytes) - 1);
    write_file(place->path, span_of(bytes, len + 1), 0600);
    assert_int_equal(load_error(place->path), ERR_INVALID);
}

static enum err load_bytes(struct span bytes)
{
    struct tls_tickets *tickets = tls_tickets_new();
    size_t count;
    enum err err = tls_tickets_load_bytes(tickets, bytes, now(), &count);

    tls_tickets_free(tickets);
    return err;
}

static void test_any_flipped_byte_is_noticed(void **state)
{
    struct place *place = *state;
    static uint8_t bytes[65536];
    size_t len;

    save_some(place);
    len = read_file(place->path, bytes, sizeof(bytes));
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(load_bytes(span_of(bytes, len)), ERR_INVALID);
        bytes[i] ^= (uint8_t)(1 << i % 8);
    }
    assert_int_equal(load_bytes(span_of(bytes, len)), ERR_OK);
}

/* The checksum is corrected, so only the parser can detect the damage. It reads nothing outside
 * (ASan) and takes no ticket from a refused file. */
static void test_flipped_bytes_under_a_right_checksum_do_no_harm(void **state)
{
    struct place *place = *state;
    static uint8_t bytes[65536];
    size_t len, refused = 0;

    save_some(place);
    len = read_file(place->path, bytes, sizeof(bytes));
    for (size_t i = 0; i + TLS_TICKETS_CHECKSUM_BYTES < len; i += i < 200 ? 1 : 5) {
        uint8_t was = bytes[i], *copy = malloc(len);
        bytes[i] ^= (uint8_t)(0x81 << i % 3);
        memcpy(copy, bytes, len);
        tls_tickets_seal(copy, len);
        refused += load_bytes(span_of(copy, len)) == ERR_INVALID;
        free(copy);
        bytes[i] = was;
    }
    assert_in_range(refused, 20, len);
}

/* Loads a file with one rack, one ticket and these numbers. */
static enum err load_numbers(uint32_t racks, uint16_t key_len, uint16_t count, uint32_t ticket_len)
{
    uint8_t bytes[24 + 4 + 1 + 4 + 1 + TLS_TICKETS_CHECKSUM_BYTES] = "nailup-tls\n";

    put_u32(bytes + 12, TLS_TICKETS_VERSION);
    put_u32(bytes + 20, racks);
    put_u16(bytes + 24, key_len);
    put_u16(bytes + 26, count);
    bytes[28] = 'k';
    put_u32(bytes + 29, ticket_len);
    tls_tickets_seal(bytes, sizeof(bytes));
    return load_bytes(span_of(bytes, sizeof(bytes)));
}

static void test_wrong_lengths_are_refused(void **state)
{
    (void)state;
    assert_int_equal(load_numbers(1, 1, 1, 1), ERR_INVALID); /* a ticket that is not a session */
    assert_int_equal(load_numbers(0, 1, 1, 1), ERR_INVALID); /* surplus bytes follow */
    assert_int_equal(load_numbers(2, 1, 1, 1), ERR_INVALID);
    assert_int_equal(load_numbers(UINT32_MAX, 1, 1, 1), ERR_INVALID);
    assert_int_equal(load_numbers(1, UINT16_MAX, 1, 1), ERR_INVALID);
    assert_int_equal(load_numbers(1, 1, 0, 1), ERR_INVALID);
    assert_int_equal(load_numbers(1, 1, 2, 1), ERR_INVALID);
    assert_int_equal(load_numbers(1, 1, UINT16_MAX, 1), ERR_INVALID);
    assert_int_equal(load_numbers(1, 1, 1, 0), ERR_INVALID);
    assert_int_equal(load_numbers(1, 1, 1, 2), ERR_INVALID);
    assert_int_equal(load_numbers(1, 1, 1, UINT32_MAX), ERR_INVALID);
}

static void test_another_version_is_refused(void **state)
{
    uint8_t bytes[24 + TLS_TICKETS_CHECKSUM_BYTES] = "nailup-tls\n";

    (void)state;
    put_u32(bytes + 12, TLS_TICKETS_VERSION);
    tls_tickets_seal(bytes, sizeof(bytes));
    assert_int_equal(load_bytes(span_of(bytes, sizeof(bytes))), ERR_OK);
    put_u32(bytes + 12, TLS_TICKETS_VERSION + 1);
    tls_tickets_seal(bytes, sizeof(bytes));
    assert_int_equal(load_bytes(span_of(bytes, sizeof(bytes))), ERR_INVALID);
}

/* A broken ticket discards the whole file, including the good tickets before it. */
static void test_one_broken_ticket_spoils_the_file(void **state)
{
    struct place *place = *state;
    static uint8_t bytes[65536];
    size_t len, count = 99;
    struct tls_tickets *later = tls_tickets_new();

    save_some(place);
    len = read_file(place->path, bytes, sizeof(bytes));
    memset(bytes + len - TLS_TICKETS_CHECKSUM_BYTES - 200, 0xff, 200);
    tls_tickets_seal(bytes, len);
    assert_int_equal(tls_tickets_load_bytes(later, span_of(bytes, len), now(), &count),
                     ERR_INVALID);
    assert_int_equal(count, 0);
    assert_int_equal(take_tag(later, "one"), -1);
    assert_int_equal(take_tag(later, "two"), -1);
    tls_tickets_free(later);
}

static void test_a_file_that_is_too_large_is_not_read(void **state)
{
    struct place *place = *state;

    write_file(place->path, text("x"), 0600);
    assert_int_equal(truncate(place->path, (off_t)TLS_TICKETS_FILE_MAX + 1), 0);
    assert_int_equal(load_error(place->path), ERR_INVALID);
}

/* ---------------------------------------------------------------- saving that fails */

static void test_a_full_disk_leaves_the_old_file(void **state)
{
    struct place *place = *state;
    struct rlimit limit, small;
    size_t count;
    enum err err;

    save_some(place);
    put(place->tickets, "three", 4);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 1000, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    err = save(place);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(err, ERR_IO);
    assert_false(exists(place->beside));
    assert_int_equal(load_alone(place->path, &count), ERR_OK);
    assert_int_equal(count, 3);
}

static void test_a_leftover_of_a_crash_is_replaced(void **state)
{
    struct place *place = *state;

    write_file(place->beside, text("half"), 0666);
    save_some(place);
    assert_false(exists(place->beside));
}

static void test_a_folder_in_the_way_is_an_error(void **state)
{
    struct place *place = *state;

    assert_int_equal(mkdir(place->beside, 0700), 0);
    assert_int_not_equal(save(place), ERR_OK);
    assert_false(exists(place->path));
}

static void test_a_missing_folder_is_not_found(void **state)
{
    struct place *place = *state;

    assert_int_equal(tls_tickets_save(place->tickets, "/nonexistent/tickets", now()),
                     ERR_NOT_FOUND);
}

/* ---------------------------------------------------------------- threads */

static void *keep_saving(void *owner)
{
    struct place *place = owner;
    uintptr_t failed = 0;

    for (int i = 0; i < 50; i++)
        failed += save(place) != ERR_OK;
    return (void *)failed;
}

static void test_saving_goes_on_beside_putting_and_taking(void **state)
{
    struct place *place = *state;
    struct tls_rack *rack = tls_tickets_rack(place->tickets, text("one"));
    pthread_t threads[2];
    void *failed;
    size_t count;

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_saving, place), 0);
    for (int i = 0; i < 2000; i++) {
        SSL_SESSION *session;
        put(place->tickets, i % 2 ? "one" : "two", i);
        session = tls_rack_take(rack, now());
        if (session)
            SSL_SESSION_set_time(session, 1); /* a handshake changes its session in the same way */
        SSL_SESSION_free(session);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(save(place), ERR_OK);
    assert_int_equal(load_alone(place->path, &count), ERR_OK);
    assert_in_range(count, TLS_RACK_TICKETS_MAX, 2 * TLS_RACK_TICKETS_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tickets_come_back_in_their_order),
        TEST(test_saving_takes_nothing_away),
        TEST(test_a_loaded_session_of_tls_1_2_is_resumed),
        TEST(test_a_loaded_session_of_tls_1_3_is_resumed),
        TEST(test_loaded_tickets_are_below_newer_ones),
        TEST(test_expired_tickets_are_not_saved_and_not_loaded),
        TEST(test_an_empty_store_replaces_the_old_file),
        TEST(test_a_full_rack_with_the_longest_key_comes_back),
        TEST(test_tickets_beyond_the_file_size_are_left_out),
        TEST(test_racks_beyond_the_bound_are_not_made),
        TEST(test_only_its_owner_can_read_the_file),
        TEST(test_no_umask_makes_it_unreadable),
        TEST(test_a_file_that_others_may_access_is_refused),
        TEST(test_a_file_of_another_user_is_refused),
        TEST(test_a_symbolic_link_is_not_followed),
        TEST(test_saving_replaces_a_symbolic_link_and_not_its_target),
        TEST(test_a_foreign_file_is_never_overwritten),
        TEST(test_only_a_regular_file_is_read),
        TEST(test_a_missing_file_is_not_found),
        TEST(test_a_truncated_file_is_refused),
        TEST(test_a_byte_too_many_is_refused),
        TEST(test_any_flipped_byte_is_noticed),
        TEST(test_flipped_bytes_under_a_right_checksum_do_no_harm),
        TEST(test_wrong_lengths_are_refused),
        TEST(test_another_version_is_refused),
        TEST(test_one_broken_ticket_spoils_the_file),
        TEST(test_a_file_that_is_too_large_is_not_read),
        TEST(test_a_full_disk_leaves_the_old_file),
        TEST(test_a_leftover_of_a_crash_is_replaced),
        TEST(test_a_folder_in_the_way_is_an_error),
        TEST(test_a_missing_folder_is_not_found),
        TEST(test_saving_goes_on_beside_putting_and_taking),
    };
    return cmocka_run_group_tests(tests, sessions_set_up, sessions_tear_down);
}
