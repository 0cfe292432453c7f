// expect: assertion
//@ bound: 1
// A ring for one sender and one receiver: the sender moves the index before it fills the slot.
// Fails when: the sender has moved the index and is preempted; the receiver reads the slot as it was.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SLOTS = 2, MESSAGES = 3, EMPTY = -1 };
atomic_int ring[SLOTS];
atomic_int sent, received;

void *sender(void *arg) {
    for (int i = 0; i < MESSAGES; i++) {
        if (atomic_load(&sent) - atomic_load(&received) == SLOTS) break; // full: give up
        int at = atomic_fetch_add(&sent, 1);
        atomic_store(&ring[at % SLOTS], i);
    }
    return arg;
}

void *receiver(void *arg) {
    for (int i = 0; i < MESSAGES; i++) {
        if (atomic_load(&received) == atomic_load(&sent)) break; // empty: give up
        int at = atomic_load(&received);
        assert(atomic_load(&ring[at % SLOTS]) == i);    // expect: assertion here
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
