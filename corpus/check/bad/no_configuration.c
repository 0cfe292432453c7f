// A program that asks for no configuration is checked as it stands.
#include <pthread.h>
#ifdef HAVE_STDATOMIC_H
#include <stdatomic.h>
#define COUNTER atomic_uint
#define ADD(counter) atomic_fetch_add(&(counter), 1)
#else
#define COUNTER unsigned
#define ADD(counter) (counter)++
#endif

static COUNTER count;

static void *work(void *data) {
    ADD(count); // expect: data-race #1
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    ADD(count); // expect: data-race #1
    pthread_join(t, 0);
    return 0;
}
