// Two members of a union are the same bytes.
#include <pthread.h>

static union { int number; char bytes[4]; } u;

static void *a_thread(void *arg) {
    u.number = 7; // expect: data-race write #1
    return NULL;
}

static void *b_thread(void *arg) {
    return (void *)(long)u.bytes[2]; // expect: data-race read #1
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, a_thread, NULL);
    pthread_create(&b, NULL, b_thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
