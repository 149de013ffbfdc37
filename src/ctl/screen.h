/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_SCREEN_H
#define NAILUP_CTL_SCREEN_H

/*
 * A terminal that is drawn over and over, and left as it was found: its settings, its text, its
 * cursor, also by Ctrl-C, Ctrl-Z and SIGTERM. One of them a process, as signals are the process's.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the standard output is a terminal that can be drawn on. */
bool screen_is_there(void);

/* Takes the terminal; until screen_close() nothing else may be printed. */
void screen_open(void);
void screen_close(void);

/* Draws lines of text, as many and as much of them as the window has room for, below a title. */
void screen_draw(const char *title, const char *text);

enum screen_event {
    SCREEN_TIME,    /* it is time */
    SCREEN_RESIZED, /* the window has another size, or was given up meanwhile: draw again */
    SCREEN_QUIT,    /* q or Q was pressed, or a signal says so */
};

/* Waits until the instant, in us of CLOCK_MONOTONIC, or for what comes before it. */
enum screen_event screen_wait(uint64_t until_us);

/* Set when a signal says to end: who waits for anything else looks at it after EINTR. */
extern volatile sig_atomic_t screen_ending;

#endif
