// expect: nothing
// Destructors run when a thread is cancelled, and a lock that one of them gives back can be taken again.
#include <cassert>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>

std::mutex mu;
sem_t never;
int destroyed;

struct Noted {
    ~Noted() { destroyed++; }
};

static void *waits(void *arg) {
    Noted noted;
    std::lock_guard<std::mutex> held(mu);
    sem_wait(&never);
    return arg;
}

int main() {
    sem_init(&never, 0, 0);
    pthread_t t;
    void *how;
    pthread_create(&t, nullptr, waits, nullptr);
    assert(pthread_cancel(t) == 0);
    assert(pthread_join(t, &how) == 0 && how == PTHREAD_CANCELED);
    std::lock_guard<std::mutex> held(mu);
    assert(destroyed <= 1);
    return 0;
}
