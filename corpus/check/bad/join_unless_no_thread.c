// The value that stands for no thread is the one of the thread that runs, so it is not joined.
#include <pthread.h>
#include <stdlib.h>

struct port {
    pthread_t thread;
    char *data;
};

static void *work(void *argument) {
    struct port *port = argument;
    port->data[0]++; // expect: data-race #1
    return NULL;
}

static void port_free(struct port *port, pthread_t none) {
    if (!pthread_equal(port->thread, none))
        pthread_join(port->thread, NULL);
    port->data[0] = 0; // expect: data-race #1
}

int main(void) {
    struct port *port = calloc(1, sizeof *port);
    port->data = calloc(1, 1);
    pthread_create(&port->thread, NULL, work, port);
    port_free(port, port->thread);
    return 0;
}
