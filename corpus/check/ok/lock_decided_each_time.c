// Whether a thread locks is decided anew each time, and without the lock it touches nothing.
#include <pthread.h>
#include <stddef.h>

extern int is_fast(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *data) {
    int fast = is_fast();
    if (!fast)
        pthread_mutex_lock(&lock);
    if (!fast) {
        count++;
        pthread_mutex_unlock(&lock);
    }
    return data;
}

void run(void) {
    pthread_t t, u;
    pthread_create(&t, NULL, work, NULL);
    pthread_create(&u, NULL, work, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
}
