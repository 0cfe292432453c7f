// A pool of GLib runs its tasks from the moment on at which it may have threads, and an end without
// a wait leaves them running.
#include <glib.h>

static int configured, done;
static GMutex lock;

static void task(gpointer item, gpointer data) {
    g_mutex_lock(&lock);
    done += configured; // expect: data-race read #1, data-race #2
    g_mutex_unlock(&lock);
}

int main(void) {
    GThreadPool *pool = g_thread_pool_new(task, NULL, 0, TRUE, NULL);
    for (int i = 0; i < 3; i++)
        g_thread_pool_push(pool, "item", NULL);
    g_thread_pool_set_max_threads(pool, 3, NULL);
    configured = 1; // expect: data-race write #1
    g_thread_pool_free(pool, FALSE, FALSE);
    return done; // expect: data-race read #2
}
