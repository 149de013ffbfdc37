/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Signals only set flags. They are let in while ppoll() or a system call of the client waits; all
 * other work happens in between. An alternate screen covers the window's own text meanwhile.
 */

#include "ctl/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "ctl/fit.h"

enum { WIDTH_DEFAULT = 80, HEIGHT_DEFAULT = 24, KEYS_MAX = 64 };

static const char enter_text[] = "\033[?1049h\033[?25l";
static const char leave_text[] = "\033[?25h\033[?1049l";

volatile sig_atomic_t screen_ending;
static volatile sig_atomic_t resized, suspended;

static struct {
    bool has_keys; /* the standard input is the terminal, with our settings */
    struct termios before;
    sigset_t waiting; /* the signal mask while we wait */
} screen;

bool screen_is_available(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* ---- signals ---- */

static void screen_on_end(int number)
{
    (void)number;
    screen_ending = 1;
}

static void screen_on_resize(int number)
{
    (void)number;
    resized = 1;
}

static void screen_on_suspend(int number)
{
    (void)number;
    suspended = 1;
}

static const struct {
    int number;
    void (*handler)(int);
} handled[] = {
    {SIGINT, screen_on_end},  {SIGTERM, screen_on_end},     {SIGHUP, screen_on_end},
    {SIGQUIT, screen_on_end}, {SIGWINCH, screen_on_resize}, {SIGTSTP, screen_on_suspend},
};

/* Installs handlers without SA_RESTART, so that a signal interrupts a waiting system call. */
static void screen_take_signals(void)
{
    sigset_t ours;

    sigemptyset(&ours);
    for (size_t i = 0; i < ARRAY_LEN(handled); i++) {
        struct sigaction action = {.sa_handler = handled[i].handler};
        sigemptyset(&action.sa_mask);
        sigaction(handled[i].number, &action, NULL);
        sigaddset(&ours, handled[i].number);
    }
    sigprocmask(SIG_SETMASK, NULL, &screen.waiting);
    for (size_t i = 0; i < ARRAY_LEN(handled); i++)
        sigdelset(&screen.waiting, handled[i].number);
}

/* ---- the terminal ---- */

static void screen_enter(void)
{
    screen.has_keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &screen.before) == 0;
    if (screen.has_keys) {
        struct termios ours = screen.before;
        ours.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        ours.c_cc[VMIN] = 0;
        ours.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &ours);
    }
    fputs(enter_text, stdout);
    fflush(stdout);
}

static void screen_leave(void)
{
    fputs(leave_text, stdout);
    fflush(stdout);
    if (screen.has_keys)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &screen.before);
}

void screen_open(void)
{
    screen_take_signals();
    screen_enter();
}

void screen_close(void)
{
    screen_leave();
}

/* Handles Ctrl-Z: gives the terminal back to the shell, and takes it again when the process
 * continues. */
static void screen_suspend(void)
{
    suspended = 0;
    screen_leave();
    raise(SIGSTOP);
    screen_enter();
}

unsigned screen_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static void screen_window_size(unsigned *width, unsigned *height)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;

    *width = known && size.ws_col ? size.ws_col : WIDTH_DEFAULT;
    *height = known && size.ws_row ? size.ws_row : HEIGHT_DEFAULT;
}

/* Clears each line before writing it, and the rest of the window after the last one, so nothing
 * flickers. Leaves the last column free, because after a full line the cursor stays on its last
 * character. The last line has no newline, which would scroll. */
void screen_draw(const char *title, const char *text)
{
    static const struct fit_frame frame = {"\033[K", "\r\n"};
    unsigned width, height;
    char *drawn = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&drawn, &len);

    if (!out)
        return;
    screen_window_size(&width, &height);
    width--;
    fputs("\033[H", out);
    fit_print(title, width, 1, &frame, out);
    fit_print(text, width, height - 1, &frame, out);
    if (fclose(out) == 0) {
        fwrite(drawn, 1, len - strlen(frame.end), stdout);
        fputs("\033[J", stdout);
        fflush(stdout);
    }
    free(drawn);
}

/* ---- waiting ---- */

static uint64_t screen_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Whether one of the keys is q. A lost terminal counts as q. */
static bool is_quit_pressed(void)
{
    char keys[KEYS_MAX];
    ssize_t got = read(STDIN_FILENO, keys, sizeof(keys));

    if (got < 0)
        return errno != EINTR && errno != EAGAIN;
    for (ssize_t i = 0; i < got; i++) {
        if (keys[i] == 'q' || keys[i] == 'Q')
            return true;
    }
    return false;
}

/* Only ppoll() lets signals in here, so that none comes between the check and the wait. */
static bool screen_wait_for_keys(uint64_t us)
{
    struct pollfd keys = {.fd = screen.has_keys ? STDIN_FILENO : -1, .events = POLLIN};
    struct timespec timeout = {.tv_sec = (time_t)(us / 1000000),
                               .tv_nsec = (long)(us % 1000000 * 1000)};
    int ready = 0;

    if (!screen_ending && !resized && !suspended)
        ready = ppoll(&keys, 1, &timeout, &screen.waiting);
    if (ready > 0 && (keys.revents & (POLLERR | POLLHUP)))
        return true;
    return ready > 0 && is_quit_pressed();
}

static enum screen_event screen_wait_blocked(uint64_t until_us)
{
    for (;;) {
        uint64_t now = screen_now_us();
        if (screen_wait_for_keys(until_us > now ? until_us - now : 0) || screen_ending)
            return SCREEN_QUIT;
        if (suspended)
            screen_suspend();
        else if (!resized && screen_now_us() < until_us)
            continue;
        if (!resized && screen_now_us() >= until_us)
            return SCREEN_TIME;
        resized = 0;
        return SCREEN_RESIZED;
    }
}

enum screen_event screen_wait(uint64_t until_us)
{
    sigset_t blocked, before;

    sigemptyset(&blocked);
    for (size_t i = 0; i < ARRAY_LEN(handled); i++)
        sigaddset(&blocked, handled[i].number);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    enum screen_event event = screen_wait_blocked(until_us);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return event;
}
