/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Rings of nodes: order, removal while walking, splicing. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/list.h"

struct item {
    int value;
    struct list node;
};

static void fill(struct list *head, struct item *items, int count)
{
    list_init(head);
    for (int i = 0; i < count; i++) {
        items[i].value = i;
        list_append(head, &items[i].node);
    }
}

static void assert_values(const struct list *head, const int *values, size_t count)
{
    size_t at = 0;
    LIST_EACH(node, (struct list *)head)
    {
        assert_true(at < count);
        assert_int_equal(LIST_ITEM(node, struct item, node)->value, values[at++]);
    }
    assert_int_equal(at, count);
}

static void test_an_empty_list_has_no_first(void **state)
{
    (void)state;
    struct list head;
    list_init(&head);
    assert_true(list_is_empty(&head));
    assert_null(list_first(&head));
    assert_null(list_take_first(&head));
}

static void test_nodes_keep_their_order(void **state)
{
    (void)state;
    struct list head;
    struct item items[3], first = {.value = 9};
    fill(&head, items, 3);
    list_prepend(&head, &first.node);
    assert_values(&head, (int[]){9, 0, 1, 2}, 4);
    assert_ptr_equal(list_take_first(&head), &first.node);
    assert_false(list_is_linked(&first.node));
}

static void test_a_node_may_be_removed_twice(void **state)
{
    (void)state;
    struct list head;
    struct item items[3];
    fill(&head, items, 3);
    list_remove(&items[1].node);
    list_remove(&items[1].node);
    assert_values(&head, (int[]){0, 2}, 2);
}

static void test_the_current_node_may_be_removed_while_walking(void **state)
{
    (void)state;
    struct list head;
    struct item items[5];
    fill(&head, items, 5);
    LIST_EACH(node, &head)
    if (LIST_ITEM(node, struct item, node)->value % 2 == 0)
        list_remove(node);
    assert_values(&head, (int[]){1, 3}, 2);
}

static void test_splicing_moves_all_nodes(void **state)
{
    (void)state;
    struct list to, from, empty;
    struct item a[2], b[2];
    fill(&to, a, 2);
    fill(&from, b, 2);
    list_init(&empty);
    list_splice(&to, &from);
    list_splice(&to, &empty);
    assert_true(list_is_empty(&from));
    assert_values(&to, (int[]){0, 1, 0, 1}, 4);
    list_splice(&empty, &to);
    assert_true(list_is_empty(&to));
    assert_values(&empty, (int[]){0, 1, 0, 1}, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_list_has_no_first),
        cmocka_unit_test(test_nodes_keep_their_order),
        cmocka_unit_test(test_a_node_may_be_removed_twice),
        cmocka_unit_test(test_the_current_node_may_be_removed_while_walking),
        cmocka_unit_test(test_splicing_moves_all_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
