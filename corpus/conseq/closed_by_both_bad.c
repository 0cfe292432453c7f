// expect: use-after-free
// Both sides of a connection mark it as closed, in an atomic step. The owner does not look at what it
// found there, and frees the connection in any case. A worker that has just looked at `off` uses it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct connection {
    atomic_int is_closed;
    int sent;
};
static atomic_int off;

static void *work(void *argument) {
    struct connection *connection = argument;
    if (atomic_load(&off)) return 0;
    connection->sent++;
    atomic_exchange(&connection->is_closed, 1);
    return 0;
}

int main(void) {
    struct connection *connection = calloc(1, sizeof *connection);
    connection->sent = 3;
    pthread_t worker;
    pthread_create(&worker, 0, work, connection);
    atomic_store(&off, 1);
    atomic_exchange(&connection->is_closed, 1);
    free(connection);
    pthread_join(worker, 0);
    return 0;
}
