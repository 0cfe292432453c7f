// expect: nothing
// A record of several words is replaced by one assignment, under the lock of its readers.
#include <assert.h>
#include <pthread.h>

struct record {
    int used;
    long data[30];
    int key;
};

static struct record record = { .used = 1, .key = 9 }, empty;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *use(void *arg) {
    pthread_mutex_lock(&lock);
    if (record.used)
        assert(record.key == 9);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *clear(void *arg) {
    pthread_mutex_lock(&lock);
    record = empty;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, clear, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
