// Hundreds of short threads link entries on their stacks into one list, under a mutex, and synchronise so often that the
// detector's slot numbers run out again and again while threads start and end.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>

struct entry {
    struct entry *next, *before;
    long a, b, c, d;
};
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
struct entry head = {&head, &head, 0, 0, 0, 0};
atomic_int tick[16];

void *work(void *arg) {
    for (int i = 0; i < 300; i++) {
        struct entry e;
        pthread_mutex_lock(&mu);
        e.a = e.b = e.c = e.d = 0;
        e.next = head.next;
        e.before = &head;
        head.next->before = &e;
        head.next = &e;
        for (struct entry *p = head.next; p != &head; p = p->next) {
            p->a++;
            p->b++;
            p->c++;
            p->d++;
        }
        pthread_mutex_unlock(&mu);
        for (int k = 0; k < 60; k++) atomic_store_explicit(&tick[(long)arg], k, memory_order_release);
        pthread_mutex_lock(&mu);
        e.before->next = e.next;
        e.next->before = e.before;
        pthread_mutex_unlock(&mu);
    }
    return 0;
}

int main(void) {
    for (int round = 0; round < 80; round++) {
        pthread_t t[16];
        for (long i = 0; i < 16; i++) pthread_create(&t[i], 0, work, (void *)i);
        for (int i = 0; i < 16; i++) pthread_join(t[i], 0);
    }
    return 0;
}
