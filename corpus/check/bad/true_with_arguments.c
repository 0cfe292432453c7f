// A call of something that is named TRUE is a call, not the value 1, so the function goes on.
#include <pthread.h>

static int n;

static void *work(void *arg) {
    TRUE(arg);
    n++; // expect: data-race #1
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    n++; // expect: data-race #1
    pthread_join(t, 0);
    return n;
}
