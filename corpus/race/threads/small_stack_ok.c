// Threads with stacks as small as they may be, of which they use a half: the runtime brings its own room along. The program's attributes stay what it made them.
// expect: nothing
#include <limits.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sums[100];

static void *half_of_16k(void *arg) {
    volatile char room[8 * 1024];
    memset((char *)room, 1, sizeof room);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 100; i++)
        sums[i] += room[i * 80];
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *most_of_64k(void *arg) {
    volatile char room[56 * 1024];
    memset((char *)room, 1, sizeof room);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 100; i++)
        sums[i] += room[i * 570];
    pthread_mutex_unlock(&lock);
    return arg;
}

static void two(size_t size, void *(*work)(void *)) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (pthread_attr_setstacksize(&attr, size) != 0)
        __builtin_abort();
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], &attr, work, 0) != 0)
            __builtin_abort();
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    size_t after = 0;
    if (pthread_attr_getstacksize(&attr, &after) != 0 || after != size)
        __builtin_abort();
    pthread_attr_destroy(&attr);
}

int main(void) {
    two(16 * 1024, half_of_16k);
    two(64 * 1024, most_of_64k);
    return sums[99] != 4;
}
