/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/suggest.h"

static const char *best(const char *wanted, const char *const *words)
{
    struct suggestion suggestion;
    suggest_init(&suggestion, wanted);
    for (; *words; words++)
        suggest_offer(&suggestion, *words);
    return suggestion.word;
}

static const char *const words[] = {"listen", "max-clients", "max-age", "workers", "no", NULL};

static void test_the_most_similar_word_is_suggested(void **state)
{
    (void)state;
    assert_string_equal(best("lsiten", words), "listen");
    assert_string_equal(best("listens", words), "listen");
    assert_string_equal(best("max-client", words), "max-clients");
    assert_string_equal(best("max-agee", words), "max-age");
    assert_string_equal(best("worker", words), "workers");
}

static void test_case_and_underscores_cost_nothing(void **state)
{
    (void)state;
    assert_string_equal(best("MAX_CLIENTS", words), "max-clients");
    assert_string_equal(best("Listen", words), "listen");
}

static void test_a_dissimilar_word_gets_no_suggestion(void **state)
{
    (void)state;
    assert_null(best("", words));
    assert_null(best("zebra", words));
    assert_null(best("x", words));
}

static void test_overlong_words_get_no_suggestion(void **state)
{
    (void)state;
    char word[SUGGEST_WORD_MAX + 2];
    memset(word, 'a', sizeof(word));
    word[SUGGEST_WORD_MAX] = '\0';
    const char *const same[] = {word, NULL};
    assert_string_equal(best(word, same), word);
    word[SUGGEST_WORD_MAX] = 'a';
    word[SUGGEST_WORD_MAX + 1] = '\0';
    assert_null(best(word, same));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_most_similar_word_is_suggested),
        cmocka_unit_test(test_case_and_underscores_cost_nothing),
        cmocka_unit_test(test_a_dissimilar_word_gets_no_suggestion),
        cmocka_unit_test(test_overlong_words_get_no_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
