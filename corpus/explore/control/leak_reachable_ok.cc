// expect: nothing
//@ monitors: leak
// Not given back, and not lost: in a global, in a thread-local of the first thread, behind a pointer into the middle, on the stack of a
// thread that still waits when the program ends.
#include <cstdlib>
#include <pthread.h>
#include <semaphore.h>
#include <thread>
#include <vector>

std::vector<int> *for_good;
static thread_local char *own;
char *middle;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;

static void *waits(void *) {
    char *mine = static_cast<char *>(malloc(16));
    while (sem_wait(&never) != 0) {}
    return mine;
}

int main() {
    sem_init(&never, 0, 0);
    pthread_t waiting;
    pthread_create(&waiting, nullptr, waits, nullptr);
    std::thread adds([] {
        pthread_mutex_lock(&mu);
        for_good = new std::vector<int>(100);
        middle = static_cast<char *>(malloc(64)) + 32;
        pthread_mutex_unlock(&mu);
    });
    own = static_cast<char *>(malloc(8));
    adds.join();
    return own ? 0 : 1;
}
