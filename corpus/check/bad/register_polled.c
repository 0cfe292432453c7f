// A driver waits for a bit that the device clears, and then races with a thread.
#include <pthread.h>

struct registers { volatile unsigned control, status; };

static int transfers;

static void *monitor(void *p) {
    transfers = 0; // expect: data-race #1
    return p;
}

void reset_device(struct registers *registers) {
    pthread_t t;
    pthread_create(&t, 0, monitor, 0);
    registers->control = 1;
    while (registers->control & 1) {
    }
    transfers++; // expect: data-race #1
    pthread_join(t, 0);
}
