// The elements of an array are different objects, also where a missing header has their type. The
// handle in the first one is not that in the second.
#include <pthread.h>
#include "platform.h"

struct pool {
    platform_handle threads[2];
};

static struct pool pool;
static int first, second;

static void *count_first(void *data) {
    first++;
    return data;
}

static void *count_second(void *data) {
    second++;
    return data;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, count_first, 0);
    pthread_create(&b, 0, count_second, 0);
    pool.threads[0] = a;
    pool.threads[1] = b;
    pthread_join(pool.threads[0], 0);
    first++;
    pthread_join(pool.threads[1], 0);
    second++;
    return first + second;
}
