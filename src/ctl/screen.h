/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_SCREEN_H
#define NAILUP_CTL_SCREEN_H

/*
 * Draws on a terminal repeatedly and restores it: its settings, its text, its cursor, also after
 * Ctrl-C, Ctrl-Z and SIGTERM. One per process, because signals belong to the process.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the standard output is a terminal that supports drawing. */
bool screen_is_available(void);

/* The columns of the terminal on the standard output; 0: it is not a terminal, or its size is
 * unknown. */
unsigned screen_width(void);

/* Takes over the terminal. Nothing else may be printed until screen_close(). */
void screen_open(void);
void screen_close(void);

/* Draws the title and, below it, as much of the text as the window has room for. */
void screen_draw(const char *title, const char *text);

enum screen_event {
    SCREEN_TIME,    /* the instant has come */
    SCREEN_RESIZED, /* the window has a new size or was suspended: draw again */
    SCREEN_QUIT,    /* the user pressed q or Q, or a signal asked to stop */
};

/* Waits until the instant, in us of CLOCK_MONOTONIC, or for an earlier event. */
enum screen_event screen_wait(uint64_t until_us);

/* Set when a signal asks to stop. Code that waits elsewhere checks it after EINTR. */
extern volatile sig_atomic_t screen_ending;

#endif
