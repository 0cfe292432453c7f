// Functions of a library that nobody has heard of; what they are given is not certain afterwards.
#include <pthread.h>
#include <somewhere/unknown.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *current;
static int requests;

static void *serve(void *arg) {
    connection_t *c = connection_open(arg);
    while (connection_next(c)) {
        pthread_mutex_lock(&lock);
        requests++;
        if (current && current->active)
            current->count++;
        pthread_mutex_unlock(&lock);
    }
    connection_close(c);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t t;
    while (1) {
        request_t *r = library_accept(argv[1]);
        if (!r)
            break;
        pthread_create(&t, NULL, serve, r);
        pthread_detach(t);
    }
    return 0;
}
