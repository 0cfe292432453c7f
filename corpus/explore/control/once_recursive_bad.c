// expect: deadlock
//@ bound: 0
//@ always
// The initialiser of a pthread_once starts a thread that needs the same once, and waits for it.
#include <pthread.h>

pthread_once_t once = PTHREAD_ONCE_INIT;
static void initialise(void);

void *user(void *arg) {
    pthread_once(&once, initialise);                    // expect: deadlock here
    return arg;
}

static void initialise(void) {
    pthread_t t;
    pthread_create(&t, 0, user, 0);
    pthread_join(t, 0);                                 // expect: deadlock here
}

int main(void) {
    pthread_once(&once, initialise);
    return 0;
}
