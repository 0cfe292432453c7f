// How many records `run` is given nobody knows, nor how long a message is: an element past what is known of is not another
// object's.
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct record { int v; char url[64]; };
struct message { unsigned long length; char data[]; };

static void *worker(void *arg) {
    char in[8192];
    struct message *m = (struct message *)in;
    while (read(0, in, sizeof in) > 0) {
        unsigned long room = sizeof in - sizeof *m, n;
        char copy[m->length];
        if (m->length > room) n = room;
        else n = m->length;
        memcpy(copy, m->data, n);
    }
    for (int i = 0; i < 8192; i++) in[i] = 0;
    return arg;
}

void run(struct record *r, int n) {
    pthread_t t;
    for (int i = 0; i < n; i++) {
        pthread_create(&t, NULL, worker, NULL);
        r[i].v = 1;
    }
}
