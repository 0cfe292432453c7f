// expect: nothing
// A ring for one sender and one receiver: the slot is filled before the index moves.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SLOTS = 2, MESSAGES = 3, EMPTY = -1 };
atomic_int ring[SLOTS];
atomic_int sent, received;

void *sender(void *arg) {
    for (int i = 0; i < MESSAGES; i++) {
        int at = atomic_load(&sent);
        if (at - atomic_load(&received) == SLOTS) break; // full: give up
        atomic_store(&ring[at % SLOTS], i);
        atomic_store(&sent, at + 1);
    }
    return arg;
}

void *receiver(void *arg) {
    for (int i = 0; i < MESSAGES; i++) {
        int at = atomic_load(&received);
        if (at == atomic_load(&sent)) break; // empty: give up
        assert(atomic_load(&ring[at % SLOTS]) == i);
        atomic_store(&received, at + 1);
    }
    return arg;
}

int main(void) {
    for (int i = 0; i < SLOTS; i++) ring[i] = EMPTY;
    pthread_t s, r;
    pthread_create(&s, 0, sender, 0);
    pthread_create(&r, 0, receiver, 0);
    pthread_join(s, 0);
    pthread_join(r, 0);
    return 0;
}
