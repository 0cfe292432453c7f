// expect: crash
//@ bound: 1
// A pointer is tested and then used, while another thread clears it.
// Fails when: the printer has seen the pointer set; the closer clears it; the printer reads it again and follows a null pointer.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct session {
    int id;
};
struct session only = {7};
struct session *_Atomic current = &only;
int printed;

void *printer(void *arg) {
    if (atomic_load(&current)) printed = atomic_load(&current)->id; // expect: crash here
    return arg;
}

void *closer(void *arg) {
    atomic_store(&current, NULL);
    return arg;
}

int main(void) {
    pthread_t p, c;
    pthread_create(&p, 0, printer, 0);
    pthread_create(&c, 0, closer, 0);
    pthread_join(p, 0);
    pthread_join(c, 0);
    return printed != 0 && printed != 7;
}
