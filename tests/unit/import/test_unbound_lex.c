/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "import/unbound_lex.h"

static struct unbound_lex lex;

static void begin(const char *text)
{
    unbound_lex_init(&lex, span_of(text, strlen(text)));
}

static void expect(struct unbound_token token, const char *text)
{
    assert_int_equal(token.kind, UNBOUND_WORD);
    assert_int_equal(token.text.len, strlen(text));
    assert_memory_equal(token.text.data, text, token.text.len);
}

static void expect_error(struct unbound_token token, uint32_t line, uint32_t column)
{
    assert_int_equal(token.kind, UNBOUND_ERROR);
    assert_int_equal(token.line, line);
    assert_int_equal(token.column, column);
    assert_true(token.text.len > 10);
}

static void test_a_keyword_ends_in_a_colon(void **state)
{
    (void)state;
    begin("server: num-threads: 2");
    expect(unbound_lex_keyword(&lex), "server");
    expect(unbound_lex_keyword(&lex), "num-threads");
    expect(unbound_lex_value(&lex, false), "2");
    assert_int_equal(unbound_lex_keyword(&lex).kind, UNBOUND_END);
}

static void test_a_keyword_without_a_colon_is_an_error_with_its_place(void **state)
{
    (void)state;
    begin("server:\n  verbosity : 1");
    expect(unbound_lex_keyword(&lex), "server");
    expect_error(unbound_lex_keyword(&lex), 2, 3);
    begin("word");
    expect_error(unbound_lex_keyword(&lex), 1, 1);
    begin("\"server\": ");
    expect_error(unbound_lex_keyword(&lex), 1, 1);
}

static void test_comments_begin_where_a_word_could(void **state)
{
    (void)state;
    begin("# all of it\nforward-addr: 9.9.9.9@853#dns.quad9.net # here\n#end");
    expect(unbound_lex_keyword(&lex), "forward-addr");
    expect(unbound_lex_value(&lex, false), "9.9.9.9@853#dns.quad9.net");
    assert_int_equal(unbound_lex_keyword(&lex).kind, UNBOUND_END);
}

static void test_quotes_keep_blanks_and_the_other_quote(void **state)
{
    (void)state;
    begin("\"a 'b' # c\" 'x \"y\"' \"\" \"e\\\"f\"");
    expect(unbound_lex_value(&lex, false), "a 'b' # c");
    expect(unbound_lex_value(&lex, false), "x \"y\"");
    expect(unbound_lex_value(&lex, false), "");
    expect(unbound_lex_value(&lex, false), "e\\\"f");
}

static void test_an_open_quote_is_an_error(void **state)
{
    (void)state;
    begin(" \"abc\n\"");
    expect_error(unbound_lex_value(&lex, false), 1, 2);
    begin("'abc");
    expect_error(unbound_lex_value(&lex, false), 1, 1);
    begin("\"abc\\");
    expect_error(unbound_lex_value(&lex, false), 1, 1);
}

static void test_a_value_may_be_on_the_next_line_unless_the_line_ends_it(void **state)
{
    (void)state;
    begin("\n\t# no\r\n 53");
    struct unbound_token token = unbound_lex_value(&lex, false);
    expect(token, "53");
    assert_int_equal(token.line, 3);
    assert_int_equal(token.column, 2);
    begin(" \n53");
    assert_int_equal(unbound_lex_value(&lex, true).kind, UNBOUND_END);
}

static void test_bytes_of_all_kinds_are_words(void **state)
{
    (void)state;
    static const char text[] = "a\0\377b: \0c";
    unbound_lex_init(&lex, span_of(text, sizeof(text) - 1));
    assert_int_equal(unbound_lex_keyword(&lex).text.len, 4);
    assert_int_equal(unbound_lex_value(&lex, false).text.len, 2);
    assert_int_equal(unbound_lex_keyword(&lex).kind, UNBOUND_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_keyword_ends_in_a_colon),
        cmocka_unit_test(test_a_keyword_without_a_colon_is_an_error_with_its_place),
        cmocka_unit_test(test_comments_begin_where_a_word_could),
        cmocka_unit_test(test_quotes_keep_blanks_and_the_other_quote),
        cmocka_unit_test(test_an_open_quote_is_an_error),
        cmocka_unit_test(test_a_value_may_be_on_the_next_line_unless_the_line_ends_it),
        cmocka_unit_test(test_bytes_of_all_kinds_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
