// Two threads race on `counter`; the first argument says what happens then.
//
// The file `started` is there once main has run.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int counter, newer;

static void *bump(void *unused) {
    // Often, because two threads at the very same moment can hide from each other.
    for (int i = 0; i < 100; i++) counter++;
    return unused;
}

static void *bump_newer(void *unused) {
    for (int i = 0; i < 100; i++) newer++;
    return unused;
}

static void race(void *(*body)(void *)) {
    pthread_t a, b;
    pthread_create(&a, 0, body, 0);
    pthread_create(&b, 0, body, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

static void *die(void *unused) {
    kill(getpid(), SIGKILL);
    return unused;
}

int main(int argc, char **argv) {
    fclose(fopen("started", "w"));
    const char *then = argc > 1 ? argv[1] : "0";
    if (strcmp(then, "silent") == 0) return 5;
    if (strcmp(then, "silent-abort") == 0) abort();
    race(bump);
    if (strcmp(then, "newer") == 0) race(bump_newer);
    if (strcmp(then, "abort") == 0) abort();
    if (strcmp(then, "_exit") == 0) _exit(3);
    if (strcmp(then, "segv") == 0) *(volatile int *)8 = 1;
    if (strcmp(then, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(then, "kill-in-thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, 0, die, 0);
        for (;;) pause();
    }
    if (strcmp(then, "exec") == 0) execv(argv[2], argv + 2);
    if (strcmp(then, "wait") == 0) {
        fclose(fopen("ready", "w"));
        for (;;) pause();
    }
    return atoi(then);
}
