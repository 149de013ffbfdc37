/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The turns of a watch: ask, compare, show, wait. screen.c controls the terminal.
 *
 * Invariant: while the screen is open, all output goes through it.
 */

#include "ctl/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "ctl/print.h"
#include "ctl/rates.h"
#include "ctl/screen.h"

struct watch {
    struct ask ask;
    uint64_t period_us;
    bool on_screen;
    bool fits_screen;             /* lists fit the window, whose width may change */
    bool has_printed;             /* a block was printed, so an empty line separates the next one */
    struct parsed_reply previous; /* its tables are NULL before the first answer */
    uint64_t asked_at;            /* when the previous answer came */
    char *text;                   /* the text on the screen */
};

bool watch_parse_period(const char *text, uint64_t *us)
{
    char *end;
    double seconds = strtod(text, &end);
    double most = (double)WATCH_PERIOD_MAX_US / 1e6, least = (double)WATCH_PERIOD_MIN_US / 1e6;

    if (end == text || *end || !(seconds >= least && seconds <= most)) /* false for NaN */
        return false;
    *us = (uint64_t)(seconds * 1e6 + 0.5);
    return true;
}

static uint64_t watch_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- showing ---- */

/* Returns the printer's output, which the caller frees. NULL: out of memory. */
static char *watch_render(const struct ask *ask, const struct parsed_reply *answer)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return NULL;
    if (ask->json)
        print_json(answer, out);
    else
        print_text(answer, &ask->style, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void watch_draw(const struct watch *watch)
{
    char title[256], at[16] = "";
    time_t now = time(NULL);
    struct tm local;
    int len = 0;

    if (localtime_r(&now, &local))
        strftime(at, sizeof(at), "%H:%M:%S", &local);
    for (int i = 0; i < watch->ask.count && len < (int)sizeof(title); i++)
        len += snprintf(title + len, sizeof(title) - (size_t)len, "%s ", watch->ask.words[i]);
    if (len < (int)sizeof(title))
        snprintf(title + len, sizeof(title) - (size_t)len, " every %gs  %s  (q ends)",
                 (double)watch->period_us / 1e6, at);
    screen_draw(title, watch->text ? watch->text : "");
}

static void show_on_screen(struct watch *watch, char *text)
{
    free(watch->text);
    watch->text = text;
    watch_draw(watch);
}

/* Prints a document on one line. */
static int watch_print_line(const struct ask *ask, const struct parsed_reply *answer)
{
    char *text = watch_render(ask, answer);
    size_t len = text ? strlen(text) : 0;

    for (size_t i = 0; i + 1 < len; i++) {
        if (text[i] == '\n')
            text[i] = ' ';
    }
    fwrite(text ? text : "", 1, len, stdout);
    free(text);
    return ask_end_output();
}

/* The window may have another width than before. */
static char *watch_render_screen(struct watch *watch, const struct parsed_reply *answer)
{
    struct ask ask = watch->ask;
    if (watch->fits_screen && screen_width() > 1)
        ask.style.width = screen_width() - 1;
    return watch_render(&ask, answer);
}

static int watch_show(struct watch *watch, const struct parsed_reply *answer)
{
    if (watch->on_screen) {
        show_on_screen(watch, watch_render_screen(watch, answer));
        return EXIT_DONE;
    }
    if (watch->ask.json)
        return watch_print_line(&watch->ask, answer);
    if (watch->has_printed)
        putchar('\n');
    watch->has_printed = true;
    return ask_print(&watch->ask, answer);
}

static void watch_show_absence(struct watch *watch, const char *why)
{
    char text[ASK_WHY_MAX + 64];

    snprintf(text, sizeof(text), "nailupctl: %s; trying again every %gs", why,
             (double)watch->period_us / 1e6);
    if (watch->on_screen)
        show_on_screen(watch, strdup(text));
    else
        fprintf(stderr, "%s\n", text);
}

static void watch_end_with(struct watch *watch, const char *why)
{
    if (watch->on_screen)
        screen_close();
    watch->on_screen = false;
    fprintf(stderr, "nailupctl: %s\n", why);
}

/* ---- turns ---- */

static void watch_forget_previous(struct watch *watch)
{
    answer_deinit(&watch->previous);
}

/* Takes the answer. */
static int watch_take(struct watch *watch, struct parsed_reply *answer)
{
    uint64_t now = watch_now_us();
    const struct parsed_reply *previous = watch->previous.tables ? &watch->previous : NULL;

    char why[ASK_WHY_MAX];
    int code = EXIT_USAGE;

    shape_workers(&watch->ask.shape, answer);
    rates_add(answer, previous, now - watch->asked_at);
    if (shape_order(&watch->ask.shape, answer, why, sizeof(why)))
        code = watch_show(watch, answer);
    else
        watch_end_with(watch, why);
    watch_forget_previous(watch);
    watch->previous = *answer;
    watch->asked_at = now;
    return code;
}

/* Runs one turn. EXIT_DONE: the watch continues. */
static int watch_turn(struct watch *watch)
{
    struct parsed_reply answer;
    char why[ASK_WHY_MAX];
    bool is_text;
    int code = ask_once(&watch->ask, &answer, &is_text, why);

    if (code == EXIT_DONE)
        return is_text ? EXIT_DONE : watch_take(watch, &answer);
    if (code == EXIT_NO_DAEMON) {
        watch_forget_previous(watch);
        if (!screen_ending)
            watch_show_absence(watch, why);
        return EXIT_DONE;
    }
    if (watch->on_screen) {
        screen_close();
        watch->on_screen = false;
    }
    code = ask_print(&watch->ask, &answer);
    answer_deinit(&answer);
    return code;
}

static void wait_without_screen(uint64_t until_us)
{
    struct timespec until = {.tv_sec = (time_t)(until_us / 1000000),
                             .tv_nsec = (long)(until_us % 1000000 * 1000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* Waits for the next turn. False: the watch ends. */
static bool watch_wait(const struct watch *watch, uint64_t until_us)
{
    enum screen_event event = SCREEN_TIME;

    if (!watch->on_screen)
        wait_without_screen(until_us);
    while (watch->on_screen && (event = screen_wait(until_us)) == SCREEN_RESIZED)
        watch_draw(watch);
    return event == SCREEN_TIME;
}

int watch_run(const struct ask *ask, uint64_t period_us)
{
    struct watch watch = {.ask = *ask, .period_us = period_us};
    int code;

    watch.on_screen = !ask->json && screen_is_available();
    watch.fits_screen = ask->style.width > 0 && ask->style.width == screen_width();
    watch.ask.stop = &screen_ending;
    if (watch.on_screen)
        screen_open();
    for (uint64_t next = watch_now_us();; next = MAX(next, watch_now_us())) {
        code = watch_turn(&watch);
        next += period_us;
        if (code || !watch_wait(&watch, next))
            break;
    }
    if (watch.on_screen)
        screen_close();
    watch_forget_previous(&watch);
    free(watch.text);
    return code;
}
