// Output: which values are printed, and what decides whether they are.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int written, total, seen, noise, level;
double share;
char buffer[32];

__attribute__((noinline)) void report(int n) { printf("report %d\n", n); } // ~ output: passed

__attribute__((noinline)) void print(FILE *log) {
    int w = written; // [written]
    int ignored = noise;
    printf("%d of %d\n", w, total); // [total] ~ output: written@1 total@1
    if (seen) // [seen]
        puts("seen"); // ~ output: seen@1 fails(seen=1) holds(seen=0)
    printf("%f\n", share); // [share] ~ output: share@1
    fprintf(log, "%d\n", w * 2); // ~ output: written@2
    if (level > 2) // [level]
        write(1, buffer, 4); // ~ output: level@1
    if (level > 5) // [higher]
        write(2, buffer, 4); // ~ error: higher@1 level?#2
    report(total); // [passed]
    noise = ignored + 1;
}

void *worker(void *p) {
    print(p);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, stdout);
    written = total = seen = level = 1;
    share = 0.5;
    pthread_join(t, 0);
    return 0;
}
