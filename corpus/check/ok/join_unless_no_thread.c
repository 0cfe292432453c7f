// What is not joined is the value that stands for no thread. Which value that is, is unknown here,
// but it is not the handle of a thread that was started.
#include <pthread.h>
#include <stdlib.h>

extern pthread_t no_thread(void);

struct port {
    pthread_t thread;
    char *data;
};

static void *work(void *argument) {
    struct port *port = argument;
    port->data[0]++;
    return NULL;
}

static void port_free(struct port *port, pthread_t none) {
    if (!pthread_equal(port->thread, none)) {
        if (!pthread_equal(port->thread, pthread_self())) {
            pthread_cancel(port->thread);
            pthread_join(port->thread, NULL);
        } else {
            pthread_detach(port->thread);
        }
    }
    free(port->data);
    free(port);
}

int main(void) {
    struct port *port = calloc(1, sizeof *port);
    port->data = calloc(1, 1);
    pthread_create(&port->thread, NULL, work, port);
    port_free(port, no_thread());
    return 0;
}
