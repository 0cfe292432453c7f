// Without the header that a build writes, a choice is open. These names are not about thread-local
// variables: they stay undefined, and the rest of the file is that of a build without them.
#include "config.h"
#include <pthread.h>

#ifdef __APPLE__
static __thread int *own;
static int *get(void) {
    return own;
}
#else
static pthread_key_t key;
static int *get(void) {
    return pthread_getspecific(key);
}
#endif

#ifdef SINGLE_USER
static __thread int *user;
static int *get_user(void) {
    return user;
}
#else
static pthread_key_t user;
static int *get_user(void) {
    return pthread_getspecific(user);
}
#endif

static int first, second;

static void *work(void *data) {
    get();
    get_user();
#ifndef __APPLE__
    first++; // expect: data-race #1
#endif
#ifndef SINGLE_USER
    second++; // expect: data-race #2
#endif
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    first++; // expect: data-race #1
    second++; // expect: data-race #2
    pthread_join(t, 0);
    return 0;
}
