// expect: nothing
// The twin of system_bad.c: with a lock.
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
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile long sink;
int open_path(const char *path) {
    return chdir(path);
}

void fill(char *to) {
    for (int i = 0; i < 7; i++)
        to[i] = '8' - i;
}

void *writer(void *arg) {
    pthread_mutex_lock(&lock);
    row1[0] = '1';
    row2[0] = '1';
    row3[0] = '1';
    row4[0] = '1';
    row5[0] = '1';
    row6[0] = '1';
    row7[0] = '1';
    row8[0] = '1';
    row9[0] = '1';
    row10[0] = '1';
    row11[0] = '1';
    row12[0] = '1';
    row13[0] = '1';
    row14[0] = '1';
    row15[0] = '1';
    row16[0] = '1';
    row17[0] = '1';
    row18[0] = '1';
    row19[0] = '1';
    row20[0] = '1';
    row21[0] = '1';
    row22[0] = '1';
    row23[0] = '1';
    row24[0] = '1';
    row25[0] = '1';
    row26[0] = '1';
    row27[0] = '1';
    row28[0] = '1';
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    sink = getcwd(row1, 256) != 0;
    sink = readlink("/proc/self/exe", row2, 8);
    gettimeofday((struct timeval *)row3, 0);
    clock_gettime(CLOCK_REALTIME, (struct timespec *)row4);
    time((time_t *)row5);
    sink = stat("/", (struct stat *)row6);
    sink = fstat(0, (struct stat *)row7);
    localtime_r(&now, (struct tm *)row8);
    gmtime_r(&now, (struct tm *)row9);
    localtime_r((time_t *)row10, &other);
    sink = strftime(row11, 20, "%Y", &calendar);
    sink = strftime(text, 20, row12, &calendar);
    asctime_r(&calendar, row13);
    ctime_r(&now, row14);
    sink = gethostname(row15, 200);
    sink = inet_pton(AF_INET, "1.2.3.4", row16);
    sink = inet_ntop(AF_INET, row17, text, 100) != 0;
    sink = getentropy(row18, 8);
    sigaction(SIGUSR1, 0, (struct sigaction *)row19);
    sigprocmask(SIG_BLOCK, 0, (sigset_t *)row20);
    sigemptyset((sigset_t *)row21);
    sink = pthread_getname_np(pthread_self(), row22, 16);
    sink = getpwuid_r(0, (struct passwd *)row23, text, sizeof text, &found);
    sink = setenv("RADDLE_CORPUS", row24, 1);
    sink = getenv(row25) != 0;
    sink = rand_r((unsigned *)row26);
    sink = frexp(sink, (int *)row27) > 1;
    sink = open_path(row28);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
