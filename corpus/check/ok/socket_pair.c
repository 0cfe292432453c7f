// An object goes to and fro with a byte in a pair of sockets; more threads than there is room for are started on the way.
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static long object;
static sem_t done;

static void *far(void *arg) {
    char token;
    for (int i = 0; i < 5; i++) {
        if (recv(ends[1], &token, 1, 0) != 1)
            return NULL;
        object++;
        send(ends[1], &token, 1, 0);
    }
    return NULL;
}

static void *short_lived(void *arg) {
    sem_post(&done);
    return NULL;
}

int main(void) {
    pthread_t t;
    char token = 0;
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    sem_init(&done, 0, 0);
    pthread_create(&t, NULL, far, NULL);
    for (int i = 0; i < 5; i++) {
        object++;
        send(ends[0], &token, 1, 0);
        if (recv(ends[0], &token, 1, 0) != 1)
            return 1;
    }
    for (int i = 0; i < 100; i++) {
        pthread_t other;
        pthread_create(&other, NULL, short_lived, NULL);
        pthread_detach(other);
        sem_wait(&done);
    }
    return 0;
}
