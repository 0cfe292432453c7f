// A pool of GLib that may have no threads runs no task until it may have some, and what comes after
// its end with a wait comes after all tasks.
#include <glib.h>

static int configured, done;
static GMutex lock;

static void task(gpointer item, gpointer data) {
    g_mutex_lock(&lock);
    done += configured;
    g_mutex_unlock(&lock);
}

int main(void) {
    GThreadPool *pool = g_thread_pool_new(task, NULL, 0, TRUE, NULL);
    for (int i = 0; i < 3; i++)
        g_thread_pool_push(pool, "item", NULL);
    configured = 1;
    g_thread_pool_set_max_threads(pool, 3, NULL);
    g_thread_pool_free(pool, FALSE, TRUE);
    configured = 2;
    return done;
}
