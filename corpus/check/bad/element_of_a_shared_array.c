// Within its object an element is what it is: both use the one of the same number.
#include <pthread.h>

static int table[8];
extern int opt(void);

static void *worker(void *arg) {
    for (int i = 0; i < 8; i++) table[i] = 1; // expect: data-race write #1
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    for (int i = 0; i < opt(); i++) table[i] = 2; // expect: data-race write #1
    pthread_join(t, NULL);
    return 0;
}
