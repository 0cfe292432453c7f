// Shared data that nobody writes any more; a switch, a do loop and a conditional on the way.
#include <pthread.h>
#include <string.h>

enum kind { PLUS, MINUS, TIMES };
struct op { enum kind kind; int n; };
static const struct op program[] = { { PLUS, 3 }, { TIMES, 2 }, { MINUS, 1 } };
static int limit;

static void *worker(void *arg) {
    int x = (int)(long)arg, i = 0;
    do {
        switch (program[i].kind) {
        case PLUS: x += program[i].n; break;
        case MINUS: x -= program[i].n; break;
        case TIMES: x *= program[i].n; break;
        default: return NULL;
        }
    } while (++i < (int)(sizeof program / sizeof program[0]));
    return (void *)(long)(x > limit ? limit : x);
}

int main(void) {
    pthread_t t[3];
    limit = (int)strlen("some text");
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
