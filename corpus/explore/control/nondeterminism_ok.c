// expect: nothing
// Time, random numbers, identities and addresses decide which way the program goes; without raddle's help a replay would diverge.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int counter;

static unsigned entropy(void) {
    unsigned word = 0;
    struct timespec now;
    struct timeval day;
    assert(getrandom(&word, sizeof word, 0) == sizeof word);
    clock_gettime(CLOCK_REALTIME, &now);
    gettimeofday(&day, 0);
    void *block = malloc(10);
    word ^= now.tv_nsec ^ day.tv_usec ^ time(0) ^ getpid() ^ gettid() ^ (uintptr_t)pthread_self() ^ (uintptr_t)block ^ rand();
    free(block);
    return word ^ word >> 16;
}

void *worker(void *arg) {
    int locks = entropy() % 4; // so many scheduling points
    for (int i = 0; i < locks; i++) {
        pthread_mutex_lock(&mu);
        counter++;
        pthread_mutex_unlock(&mu);
    }
    return (char *)arg + locks;
}

int main(void) {
    pthread_t a, b;
    void *x, *y;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, &x);
    pthread_join(b, &y);
    assert(counter == (int)((intptr_t)x + (intptr_t)y));
    return 0;
}
