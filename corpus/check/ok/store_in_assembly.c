// A queue of one place and a lock, whose words are loaded and stored by assembly.
#include <pthread.h>

static unsigned full, locked;
static int slot, count;

static inline void store(unsigned *to, unsigned value) {
    __asm__ __volatile__("movl %1, %0" : "=m"(*to) : "r"(value) : "memory");
}

static inline unsigned load(const unsigned *from) {
    unsigned value;
    __asm__ __volatile__("movl %1, %0" : "=r"(value) : "m"(*from) : "memory");
    return value;
}

static inline unsigned exchange(unsigned *to, unsigned value) {
    __asm__ __volatile__("xchgl %0, %1" : "+r"(value), "+m"(*to) : : "memory");
    return value;
}

static void add(void) {
    while (exchange(&locked, 1)) {}
    count++;
    store(&locked, 0);
}

static void *consumer(void *arg) {
    while (!load(&full)) {}
    slot++;
    add();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, consumer, NULL);
    slot = 1;
    store(&full, 1);
    add();
    pthread_join(t, NULL);
    return slot + count;
}
