// Prints the libraries of this process, and races.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

volatile int counter;

static void *bump(void *unused) {
    // Often, because two threads at the very same moment can hide from each other.
    for (int i = 0; i < 100; i++) counter++;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, bump, 0);
    pthread_create(&b, 0, bump, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    while (fgets(line, sizeof line, maps)) {
        if (strstr(line, ".so")) fputs(strchr(line, '/'), stdout);
    }
    return 0;
}
