// expect: deadlock
// The function that writes for a stream waits for another thread, which uses the stream before it
// tells.
// Fails when: main writes first.
#define _GNU_SOURCE
#include <assert.h>
#include <semaphore.h>
#include <pthread.h>
#include <stdio.h>

sem_t told;
FILE *output;
int written;

ssize_t writes(void *cookie, const char *text, size_t n) {
    if (written++ == 0) sem_wait(&told);               // expect: deadlock here
    return n;
}

void *tells(void *arg) {
    fputs("tells\n", output);                           // expect: deadlock here
    sem_post(&told);
    return arg;
}

int main(void) {
    sem_init(&told, 0, 0);
    output = fopencookie(0, "w", (cookie_io_functions_t){.write = writes});
    assert(output && setvbuf(output, 0, _IONBF, 0) == 0);
    pthread_t t;
    pthread_create(&t, 0, tells, 0);
    fputs("begin\n", output);
    pthread_join(t, 0);
    fclose(output);
    return 0;
}
