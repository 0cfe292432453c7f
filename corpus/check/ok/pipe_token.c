// A byte in a pipe is a lock: who reads it may go on, and writes it back.
#include <pthread.h>
#include <unistd.h>

static int fds[2];
static int counter;

static void *worker(void *arg) {
    char token;
    for (int i = 0; i < 3; i++) {
        if (read(fds[0], &token, 1) != 1)
            return NULL;
        counter++;
        if (write(fds[1], &token, 1) != 1)
            return NULL;
    }
    return NULL;
}

int main(void) {
    pthread_t t[2];
    pipe(fds);
    write(fds[1], "x", 1);
    pthread_create(&t[0], NULL, worker, NULL);
    pthread_create(&t[1], NULL, worker, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return counter;
}
