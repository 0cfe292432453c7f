// A driver waits for a bit that the device clears, with and without another thread.
#include <pthread.h>

struct registers { volatile unsigned control, status; };

static int transfers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *monitor(void *p) {
    pthread_mutex_lock(&lock);
    transfers = 0;
    pthread_mutex_unlock(&lock);
    return p;
}

void reset_device(struct registers *registers) {
    pthread_t t;
    pthread_create(&t, 0, monitor, 0);
    registers->control = 1;
    while (registers->control & 1) {
    }
    pthread_mutex_lock(&lock);
    transfers++;
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    registers->control = 1;
    while (registers->control & 1) {
    }
    transfers = 1;
}

struct mailbox {
    volatile int full;
    int letter;
    pthread_mutex_t lock;
};

static void *carrier(void *p) {
    struct mailbox *box = p;
    pthread_mutex_lock(&box->lock);
    box->letter = 5;
    box->full = 1;
    pthread_mutex_unlock(&box->lock);
    return 0;
}

// What another thread of the program sets is waited for.
int fetch_letter(struct mailbox *box) {
    pthread_t t;
    box->full = 0;
    pthread_mutex_init(&box->lock, 0);
    pthread_create(&t, 0, carrier, box);
    for (;;) {
        pthread_mutex_lock(&box->lock);
        int full = box->full;
        pthread_mutex_unlock(&box->lock);
        if (full)
            break;
    }
    int letter = box->letter;
    pthread_join(t, 0);
    return letter;
}
