// A pool of GLib with one thread runs its tasks one after the other.
#include <glib.h>

static int counter;

static void task(gpointer item, gpointer data) {
    counter++;
}

int main(void) {
    GThreadPool *pool = g_thread_pool_new(task, NULL, 1, TRUE, NULL);
    for (int i = 0; i < 3; i++)
        g_thread_pool_push(pool, "item", NULL);
    g_thread_pool_free(pool, FALSE, TRUE);
    return counter;
}
