// Whether a thread locks is decided anew each time, or the other way has accesses of its own.
#include <pthread.h>
#include <stddef.h>

extern int is_fast(void);
extern int wanted(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int last;

static void *work(void *data) {
    int fast = is_fast();
    if (!fast)
        pthread_mutex_lock(&lock);
    count++; // expect: data-race #1
    if (!fast)
        pthread_mutex_unlock(&lock);
    if (wanted() == 3) {
        pthread_mutex_lock(&lock);
        last = 3; // expect: data-race #2
    } else {
        last = 7; // expect: data-race #2
        return data;
    }
    pthread_mutex_unlock(&lock);
    return data;
}

void run(void) {
    pthread_t t, u;
    pthread_create(&t, NULL, work, NULL);
    pthread_create(&u, NULL, work, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
}
