// A pool of GLib with one thread runs its tasks one after the other, but not before who pushes them
// goes on; and with two threads it does not.
#include <glib.h>

static int counter, pushed;

static void task(gpointer item, gpointer data) {
    counter++; // expect: data-race #1
}

static void other(gpointer item, gpointer data) {
    pushed++; // expect: data-race #2
}

int main(void) {
    GThreadPool *pool = g_thread_pool_new(task, NULL, 2, TRUE, NULL);
    GThreadPool *single = g_thread_pool_new(other, NULL, 1, TRUE, NULL);
    for (int i = 0; i < 3; i++) {
        g_thread_pool_push(pool, "item", NULL);
        g_thread_pool_push(single, "item", NULL);
        pushed++; // expect: data-race #2
    }
    g_thread_pool_free(pool, FALSE, TRUE);
    g_thread_pool_free(single, FALSE, TRUE);
    return counter;
}
