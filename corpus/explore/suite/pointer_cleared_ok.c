// expect: nothing
// A pointer is read once, tested and used; what it points to stays.
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
    struct session *now = atomic_load(&current);
    if (now) printed = now->id;
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
