// Two bytes in the pipe let two threads in at once.
#include <pthread.h>
#include <unistd.h>

static int fds[2];
static int counter;

static void *worker(void *arg) {
    char token;
    for (int i = 0; i < 3; i++) {
        if (read(fds[0], &token, 1) != 1)
            return NULL;
        counter++; // expect: data-race write #1, data-race read #1
        if (write(fds[1], &token, 1) != 1)
            return NULL;
    }
    return NULL;
}

int main(void) {
    pthread_t t[2];
    pipe(fds);
    write(fds[1], "xx", 2);
    pthread_create(&t[0], NULL, worker, NULL);
    pthread_create(&t[1], NULL, worker, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}
