// expect: assertion
//@ bound: 1
// The C library and the loader free memory while they hold locks of their own.
// Between such calls threads are interleaved as ever.
// Fails when: B counts between A's two steps.
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *lines;
static int count;

static void add(void)
{
    pthread_mutex_lock(&lock);
    int seen = count;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    count = seen + 1;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    void *library = dlopen("libm.so.6", RTLD_NOW);
    dlclose(library);
    // Makes the buffer larger under the stream's lock.
    char *line = malloc(1);
    size_t room = 1;
    ssize_t length = getline(&line, &room, lines);
    free(line);
    add();
    return length < 0 ? lines : unused;
}

int main(void)
{
    lines = fopen("/proc/self/status", "r");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(count == 2);
    return 0;
}
