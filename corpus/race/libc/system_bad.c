// What the C library and the kernel tell is written to memory of the caller's.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

// One block for each call, with cache lines of its own: they are findings of their own.
_Alignas(64) char row1[256];
_Alignas(64) char row2[256];
_Alignas(64) char row3[256];
_Alignas(64) char row4[256];
_Alignas(64) char row5[256];
_Alignas(64) char row6[256];
_Alignas(64) char row7[256];
_Alignas(64) char row8[256];
_Alignas(64) char row9[256];
_Alignas(64) char row10[256];
_Alignas(64) char row11[256];
_Alignas(64) char row12[256];
_Alignas(64) char row13[256];
_Alignas(64) char row14[256];
_Alignas(64) char row15[256];
_Alignas(64) char row16[256];
_Alignas(64) char row17[256];
_Alignas(64) char row18[256];
_Alignas(64) char row19[256];
_Alignas(64) char row20[256];
_Alignas(64) char row21[256];
_Alignas(64) char row22[256];
_Alignas(64) char row23[256];
_Alignas(64) char row24[256];
_Alignas(64) char row25[256];
_Alignas(64) char row26[256];
_Alignas(64) char row27[256];
_Alignas(64) char row28[256];
atomic_int step;
volatile long sink;
int open_path(const char *path) {
    return chdir(path); // expect: data-race read #28
}

void fill(char *to) {
    for (int i = 0; i < 7; i++)
        to[i] = '8' - i;
}

void *writer(void *arg) {
    row1[0] = '1'; // expect: data-race write #1
    row2[0] = '1'; // expect: data-race write #2
    row3[0] = '1'; // expect: data-race write #3
    row4[0] = '1'; // expect: data-race write #4
    row5[0] = '1'; // expect: data-race write #5
    row6[0] = '1'; // expect: data-race write #6
    row7[0] = '1'; // expect: data-race write #7
    row8[0] = '1'; // expect: data-race write #8
    row9[0] = '1'; // expect: data-race write #9
    row10[0] = '1'; // expect: data-race write #10
    row11[0] = '1'; // expect: data-race write #11
    row12[0] = '1'; // expect: data-race write #12
    row13[0] = '1'; // expect: data-race write #13
    row14[0] = '1'; // expect: data-race write #14
    row15[0] = '1'; // expect: data-race write #15
    row16[0] = '1'; // expect: data-race write #16
    row17[0] = '1'; // expect: data-race write #17
    row18[0] = '1'; // expect: data-race write #18
    row19[0] = '1'; // expect: data-race write #19
    row20[0] = '1'; // expect: data-race write #20
    row21[0] = '1'; // expect: data-race write #21
    row22[0] = '1'; // expect: data-race write #22
    row23[0] = '1'; // expect: data-race write #23
    row24[0] = '1'; // expect: data-race write #24
    row25[0] = '1'; // expect: data-race write #25
    row26[0] = '1'; // expect: data-race write #26
    row27[0] = '1'; // expect: data-race write #27
    row28[0] = '1'; // expect: data-race write #28
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    fill(row1);
    fill(row2);
    fill(row3);
    fill(row4);
    fill(row5);
    fill(row6);
    fill(row7);
    fill(row8);
    fill(row9);
    fill(row10);
    fill(row11);
    fill(row12);
    fill(row13);
    fill(row14);
    fill(row15);
    fill(row16);
    fill(row17);
    fill(row18);
    fill(row19);
    fill(row20);
    fill(row21);
    fill(row22);
    fill(row23);
    fill(row24);
    fill(row25);
    fill(row26);
    fill(row27);
    fill(row28);
    time_t now = 0;
    struct tm calendar = {.tm_mday = 1, .tm_year = 99}, other;
    char text[400];
    struct passwd *found;
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {
    }
    sink = getcwd(row1, 256) != 0; // expect: data-race write #1
    sink = readlink("/proc/self/exe", row2, 8); // expect: data-race write #2
    gettimeofday((struct timeval *)row3, 0); // expect: data-race write #3
    clock_gettime(CLOCK_REALTIME, (struct timespec *)row4); // expect: data-race write #4
    time((time_t *)row5); // expect: data-race write #5
    sink = stat("/", (struct stat *)row6); // expect: data-race write #6
    sink = fstat(0, (struct stat *)row7); // expect: data-race write #7
    localtime_r(&now, (struct tm *)row8); // expect: data-race write #8
    gmtime_r(&now, (struct tm *)row9); // expect: data-race write #9
    localtime_r((time_t *)row10, &other); // expect: data-race read #10
    sink = strftime(row11, 20, "%Y", &calendar); // expect: data-race write #11
    sink = strftime(text, 20, row12, &calendar); // expect: data-race read #12
    asctime_r(&calendar, row13); // expect: data-race write #13
    ctime_r(&now, row14); // expect: data-race write #14
    sink = gethostname(row15, 200); // expect: data-race write #15
    sink = inet_pton(AF_INET, "1.2.3.4", row16); // expect: data-race write #16
    sink = inet_ntop(AF_INET, row17, text, 100) != 0; // expect: data-race read #17
    sink = getentropy(row18, 8); // expect: data-race write #18
    sigaction(SIGUSR1, 0, (struct sigaction *)row19); // expect: data-race write #19
    sigprocmask(SIG_BLOCK, 0, (sigset_t *)row20); // expect: data-race write #20
    sigemptyset((sigset_t *)row21); // expect: data-race write #21
    sink = pthread_getname_np(pthread_self(), row22, 16); // expect: data-race write #22
    sink = getpwuid_r(0, (struct passwd *)row23, text, sizeof text, &found); // expect: data-race write #23
    sink = setenv("RADDLE_CORPUS", row24, 1); // expect: data-race read #24
    sink = getenv(row25) != 0; // expect: data-race read #25
    sink = rand_r((unsigned *)row26); // expect: data-race read #26 | write #26
    sink = frexp(sink, (int *)row27) > 1; // expect: data-race write #27
    sink = open_path(row28);
    pthread_join(thread, 0);
    return 0;
}
