// Tasks of a pool push further tasks, and a thread pushes while the limit of another pool is raised.
// Freeing a pool with `wait` waits for all of them.
#include <glib.h>
#include <pthread.h>

static GThreadPool *single, *waiting;
static int total;

static void counts(gpointer item, gpointer data) {
    total++;
    if (total < 4)
        g_thread_pool_push(single, item, NULL);
}

static void does_nothing(gpointer item, gpointer data) {}

static void *pushes(void *item) {
    g_thread_pool_push(waiting, item, NULL);
    return 0;
}

int main(void) {
    pthread_t thread;
    single = g_thread_pool_new(counts, NULL, 1, FALSE, NULL);
    g_thread_pool_push(single, &total, NULL);
    g_thread_pool_free(single, FALSE, TRUE);

    waiting = g_thread_pool_new(does_nothing, NULL, 0, FALSE, NULL);
    if (pthread_create(&thread, 0, pushes, &total))
        return 1;
    g_thread_pool_set_max_threads(waiting, 4, NULL);
    pthread_join(thread, 0);
    g_thread_pool_free(waiting, FALSE, TRUE);
    return total;
}
